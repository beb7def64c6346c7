/*
 * query_policies.cpp - which conditions count that a relation's owner, not the statement's author, has added to it.
 *
 * Policies and check options are left out of an abstraction: they show the reader nothing that the owner did not mean
 * to show. But a role may own a table, and a policy with a subquery on somebody else's relation makes a query of
 * every read of that table, and a yes-or-no answer of every write to it. And a policy's function may belong to somebody
 * else, who is handed what the policy gives it of each row.
 */
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/others_code.hpp"
#include "backend/query/query_build.hpp"
#include "backend/server/compat.hpp"

extern "C" {
#include "miscadmin.h"
}

namespace privacy_score {

namespace {

// Stops at a relation that has another owner than *context.
bool FindOthersRelation(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) return WalkQuery(reinterpret_cast<::Query*>(node), FindOthersRelation, context);
  if (!IsA(node, RangeTblEntry)) return WalkChildren(node, FindOthersRelation, context);
  auto* rte = reinterpret_cast<RangeTblEntry*>(node);
  if (rte->rtekind != RTE_RELATION) return false;
  const RelationEntry* relation = FindRelation(rte->relid);
  return relation != nullptr && relation->owner != *static_cast<Oid*>(context);
}

}  // namespace

bool PolicyCounts(const RelationEntry* relation, Node* conditions, bool rows_there) {
  Oid owner = relation->owner;
  if (!superuser_arg(owner) && FindOthersRelation(conditions, &owner)) return true;
  return rows_there && ProtectedEntry(relation) && RunsOthersCode(conditions, relation);
}

void AddCheckOptions(QueryScope* scope) {
  const RangeTblEntry* target =
      static_cast<RangeTblEntry*>(list_nth(scope->query->rtable, scope->query->resultRelation - 1));
  const RelationEntry* relation = FindRelation(target->relid);
  if (relation == nullptr) return;
  ListCell* cell;
  const bool rows_there = scope->query->commandType != CMD_INSERT || scope->query->onConflict != nullptr;
  foreach (cell, scope->query->withCheckOptions) {
    Node* condition = lfirst_node(WithCheckOption, cell)->qual;
    if (PolicyCounts(relation, condition, rows_there)) AddExpr(scope, &scope->result->having, condition);
  }
}

}  // namespace privacy_score

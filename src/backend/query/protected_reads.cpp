/*
 * protected_reads.cpp - see protected_reads.hpp.
 */
#include "backend/query/protected_reads.hpp"

#include "backend/catalog/catalog_heirs.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/side_effect_functions.hpp"
#include "backend/catalog/stand_ins.hpp"
#include "backend/query/described_columns.hpp"
#include "backend/server/compat.hpp"

extern "C" {
#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
}

namespace privacy_score {

namespace {

struct Search {
  bool tells;
  bool reads;
};

// Whether the rows of a range table entry are those of a protected relation, which it is, or whose changes it holds.
bool ReadsProtected(const RangeTblEntry* rte) {
  if (rte->rtekind != RTE_RELATION && rte->rtekind != RTE_NAMEDTUPLESTORE) return false;
  if (rte->relid < FirstNormalObjectId) return false;
  const RelationEntry* entry = FindRelation(rte->relid);
  return entry != nullptr && (ReadsChildren(rte, entry) ? ProtectedTree(entry) : ProtectedEntry(entry));
}

bool LookForProtected(Node* node, void* context) {
  if (node == nullptr) return false;
  auto* search = static_cast<Search*>(context);
  if (IsA(node, Query)) return WalkQuery(reinterpret_cast<::Query*>(node), LookForProtected, context);
  if (IsA(node, RangeTblEntry)) {
    const auto* rte = reinterpret_cast<RangeTblEntry*>(node);
    search->reads |= ReadsProtected(rte);
    return false;
  }
  if (IsA(node, OpExpr))
    search->tells |= OidIsValid(get_oprrest(reinterpret_cast<OpExpr*>(node)->opno)) && NodeTells(node);
  else if (IsA(node, ScalarArrayOpExpr))
    search->tells |= OidIsValid(get_oprrest(reinterpret_cast<ScalarArrayOpExpr*>(node)->opno)) && NodeTells(node);
  return WalkChildren(node, LookForProtected, context);
}

}  // namespace

bool PlanningShowsProtected(::Query* query) {
  ForgetStaleRelations();
  Search search = {};
  LookForProtected(reinterpret_cast<Node*>(query), &search);
  return search.tells && search.reads;
}

bool QueryReadsProtected(::Query* query) {
  ForgetStaleRelations();
  Search search = {};
  LookForProtected(reinterpret_cast<Node*>(query), &search);
  return search.reads;
}

bool RelationIsProtected(Oid relid) {
  ForgetStaleRelations();
  return ProtectedEntry(FindRelation(relid));
}

bool TreeIsProtected(Oid relid) {
  ForgetStaleRelations();
  return ProtectedTree(FindRelation(relid));
}

bool KeysAreProtected(Oid relid) {
  return get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE ? TreeIsProtected(relid) : RelationIsProtected(relid);
}

bool ReadsShardsOnly(const List* relations) {
  ListCell* cell;
  foreach (cell, relations) {
    const Oid relation = lfirst_oid(cell);
    const char* name = get_rel_name(relation);
    if (name == nullptr || DescribesColumns(relation)) return false;
    if (!OidIsValid(FindStandIn(name, get_rel_namespace(relation)).table) && TreeIsProtected(relation)) return false;
  }
  return true;
}

bool PlanReadsProtected(const PlannedStmt* plan) {
  ForgetStaleRelations();
  int index = 0;
  ListCell* cell;
  foreach (cell, plan->rtable) {
    const auto* rte = lfirst_node(RangeTblEntry, cell);
    ++index;
    if (rte->rtekind == RTE_NAMEDTUPLESTORE && ReadsProtected(rte)) return true;
    if (rte->rtekind != RTE_RELATION || !PlannedRead(plan, rte, list_member_int(plan->resultRelations, index)))
      continue;
    // Statistics are read through views that show what the current user may read; with a right on the catalog, all.
    if (DescribesColumns(rte->relid)) {
      if (DescribesProtected(!OidIsValid(PlannedCheckAsUser(plan, rte)))) return true;
    } else if (ReadsProtected(rte)) {
      return true;
    }
  }
  return false;
}

}  // namespace privacy_score

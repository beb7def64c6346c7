/*
 * compat_query.hpp - differences between PostgreSQL 14 and 18 for who changes a query before it is planned.
 */
#pragma once

#include "backend/server/compat.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/syscache.h"
}

namespace privacy_score {

// The range table entries that an expression of a query itself names.
inline Bitmapset* EntriesNamedBy(Node* expression) { return pull_varnos(nullptr, expression); }

// Makes one entry of another query's range table, with the rights that are asked for it, the only one of a query.
inline void TakeEntry(::Query* query, ::Query* other, int index) {
  auto* rte = static_cast<RangeTblEntry*>(copyObjectImpl(list_nth(other->rtable, index - 1)));
#if PG_VERSION_NUM >= 160000
  if (rte->perminfoindex != 0) {
    query->rteperminfos = list_make1(copyObjectImpl(getRTEPermissionInfo(other->rteperminfos, rte)));
    rte->perminfoindex = 1;
  }
#endif
  query->rtable = list_make1(rte);
}

// Makes an entry that FROM does not name any more one that reads nothing and asks for no rights; its place stays.
inline void LeaveOutEntry(::Query* query, int index) {
  auto* rte = static_cast<RangeTblEntry*>(list_nth(query->rtable, index - 1));
  auto* nothing = makeNode(RangeTblEntry);
  nothing->rtekind = RTE_RESULT;
  nothing->eref = rte->eref;
  lfirst(list_nth_cell(query->rtable, index - 1)) = nothing;
}

// Makes columns of an expression those of a query without outer joins.
inline bool ForgetOuterJoinsOf(Node* node, void*) {
  if (node == nullptr) return false;
#if PG_VERSION_NUM >= 160000
  if (IsA(node, Var)) castNode(Var, node)->varnullingrels = nullptr;
#endif
  return WalkChildren(node, ForgetOuterJoinsOf, nullptr);
}
inline void ForgetOuterJoins(Node* expression) { (void)ForgetOuterJoinsOf(expression, nullptr); }

// Puts what they stand for in the place of a query's columns that are aliases: of joins, and of groups.
inline void FlattenAliases(::Query* query) {
#if PG_VERSION_NUM >= 180000
  if (query->hasGroupRTE) {
    query->targetList =
        reinterpret_cast<List*>(flatten_group_exprs(nullptr, query, reinterpret_cast<Node*>(query->targetList)));
    query->havingQual = flatten_group_exprs(nullptr, query, query->havingQual);
  }
#endif
#if PG_VERSION_NUM >= 160000
  query->targetList =
      reinterpret_cast<List*>(flatten_join_alias_vars(nullptr, query, reinterpret_cast<Node*>(query->targetList)));
  query->havingQual = flatten_join_alias_vars(nullptr, query, query->havingQual);
#else
  query->targetList =
      reinterpret_cast<List*>(flatten_join_alias_vars(query, reinterpret_cast<Node*>(query->targetList)));
  query->havingQual = flatten_join_alias_vars(query, query->havingQual);
#endif
}

// The same of one expression of the query.
inline Node* WithoutAliases(::Query* query, Node* expression) {
#if PG_VERSION_NUM >= 160000
  return flatten_join_alias_vars(nullptr, query, expression);
#else
  return flatten_join_alias_vars(query, expression);
#endif
}

// Makes an outer join of a query an inner one.
inline void MakeJoinInner(::Query* query, JoinExpr* join) {
  join->jointype = JOIN_INNER;
  if (join->rtindex > 0) static_cast<RangeTblEntry*>(list_nth(query->rtable, join->rtindex - 1))->jointype = JOIN_INNER;
}

// Columns that such a join could make NULL, all over the query, are those of an inner one; before any is looked at.
inline void ForgetOuterJoin(::Query* query, int join) {
#if PG_VERSION_NUM >= 160000
  if (join > 0)
    *query = *reinterpret_cast<::Query*>(
        remove_nulling_relids(reinterpret_cast<Node*>(query), bms_make_singleton(join), nullptr));
#else
  (void)query;
  (void)join;
#endif
}

// Makes a query that groups nothing any more one without the range table entry of GROUP BY; its place stays.
inline void NeutralizeGroupEntry(::Query* query) {
#if PG_VERSION_NUM >= 180000
  if (!query->hasGroupRTE) return;
  query->hasGroupRTE = false;
  ListCell* cell;
  foreach (cell, query->rtable) {
    auto* rte = lfirst_node(RangeTblEntry, cell);
    if (rte->rtekind != RTE_GROUP) continue;
    rte->rtekind = RTE_RESULT;
    rte->groupexprs = NIL;
  }
#else
  (void)query;
#endif
}

// Raises unless who is to read what one entry of a query's range table names may.
inline void RequireRightsOfEntry(::Query* query, RangeTblEntry* rte) {
#if PG_VERSION_NUM >= 160000
  if (rte->perminfoindex == 0) return;
  RTEPermissionInfo* permissions = getRTEPermissionInfo(query->rteperminfos, rte);
  auto* alone = static_cast<RangeTblEntry*>(copyObjectImpl(rte));
  alone->perminfoindex = 1;
  (void)ExecCheckPermissions(list_make1(alone), list_make1(permissions), true);
#else
  (void)query;
  (void)ExecCheckRTPerms(list_make1(rte), true);
#endif
}

// Nothing in the query's range table is checked for rights of who runs it any more. Relations are read as their owners,
// since the planner wants a user for each from 16 on.
inline void ForgetRightsOfQuery(::Query* query) {
#if PG_VERSION_NUM >= 160000
  List* kept = NIL;
#endif
  ListCell* cell;
  foreach (cell, query->rtable) {
    auto* rte = lfirst_node(RangeTblEntry, cell);
#if PG_VERSION_NUM >= 160000
    if (rte->rtekind != RTE_RELATION || rte->perminfoindex == 0) {
      rte->perminfoindex = 0;
      continue;
    }
    RTEPermissionInfo* permissions = getRTEPermissionInfo(query->rteperminfos, rte);
    HeapTuple relation = SearchSysCache1(RELOID, ObjectIdGetDatum(rte->relid));
    if (!HeapTupleIsValid(relation)) elog(ERROR, "relation %u is gone", rte->relid);
    permissions->checkAsUser = reinterpret_cast<Form_pg_class>(GETSTRUCT(relation))->relowner;
    ReleaseSysCache(relation);
    permissions->requiredPerms = ACL_SELECT;
    permissions->selectedCols = permissions->insertedCols = permissions->updatedCols = nullptr;
    kept = lappend(kept, permissions);
    rte->perminfoindex = static_cast<Index>(list_length(kept));
#else
    rte->requiredPerms = 0;
    rte->selectedCols = rte->insertedCols = rte->updatedCols = nullptr;
#endif
  }
#if PG_VERSION_NUM >= 160000
  query->rteperminfos = kept;
#endif
}

}  // namespace privacy_score

/*
 * private_joins.cpp - see private_joins.hpp.
 */
#include "backend/private_sql/private_joins.hpp"

extern "C" {
#include "catalog/pg_inherits.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
}

#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

set_join_pathlist_hook_type prev_join_pathlist = nullptr;

constexpr Cost kAlwaysCheaper = 1e-12;
constexpr int kMostLevels = 20;  // of queries around an expression; those that are answered have fewer
List* streaming = NIL;

bool EntryHasPersons(const RangeTblEntry* rte) {
  if (rte == nullptr) return false;
  if (rte->rtekind == RTE_RELATION) return list_member_oid(streaming, rte->relid);
  if (rte->rtekind != RTE_SUBQUERY) return false;
  const ListCell* cell;
  foreach (cell, rte->subquery->rtable)
    if (EntryHasPersons(lfirst_node(RangeTblEntry, cell))) return true;
  return false;
}

bool HasPersons(PlannerInfo* root, const Bitmapset* relids) {
  // What is beyond the array is an outer join.
  for (int index = -1; (index = bms_next_member(relids, index)) >= 0;)
    if (index < root->simple_rel_array_size && EntryHasPersons(root->simple_rte_array[index])) return true;
  return false;
}

// Whether a path stores rows of persons but by hashing them for others of persons.
bool Stores(PlannerInfo* root, const Path* path) {
  if (!IsA(path, NestPath) && !IsA(path, HashPath) && !IsA(path, MergePath)) return false;
  const auto* join = reinterpret_cast<const JoinPath*>(path);
  const bool outer = HasPersons(root, join->outerjoinpath->parent->relids);
  if (HasPersons(root, join->innerjoinpath->parent->relids)) return !outer || !IsA(path, HashPath);
  return outer && IsA(path, MergePath);
}

void KeepStreaming(PlannerInfo* root, RelOptInfo* joined, RelOptInfo* outer, RelOptInfo* inner, JoinType type,
                   JoinPathExtraData* extra) {
  if (prev_join_pathlist != nullptr) prev_join_pathlist(root, joined, outer, inner, type, extra);
  if (streaming == NIL || !HasPersons(root, joined->relids)) return;
  const bool streams = HasPersons(root, outer->relids) && !HasPersons(root, inner->relids);
  List* kept = NIL;
  ListCell* cell;
  foreach (cell, joined->pathlist) {
    auto* path = static_cast<Path*>(lfirst(cell));
    if (Stores(root, path)) continue;
    // The same relations the other way round must not drive it out by being cheaper: none of their paths is kept.
    if (streams) {
      path->startup_cost *= kAlwaysCheaper;
      path->total_cost *= kAlwaysCheaper;
    }
    kept = lappend(kept, path);
  }
  joined->pathlist = kept;
  joined->partial_pathlist = NIL;
}

bool ReadsStreaming(const Plan* plan, const PlannedStmt* statement, const List* relations);

bool AnyReads(const List* plans, const PlannedStmt* statement, const List* relations) {
  const ListCell* cell;
  foreach (cell, plans)
    if (ReadsStreaming(static_cast<Plan*>(lfirst(cell)), statement, relations)) return true;
  return false;
}

// Whether rows of persons come out of a plan; raises when they are stored within it.
bool ReadsStreaming(const Plan* plan, const PlannedStmt* statement, const List* relations) {
  if (plan == nullptr) return false;
  const bool outer = ReadsStreaming(plan->lefttree, statement, relations);
  const bool inner = ReadsStreaming(plan->righttree, statement, relations);
  bool streams = false;
  switch (nodeTag(plan)) {
    case T_SeqScan:
    case T_IndexScan:
    case T_BitmapHeapScan:
    case T_TidScan: {
      const auto* rte = rt_fetch(reinterpret_cast<const Scan*>(plan)->scanrelid, statement->rtable);
      return rte->rtekind == RTE_RELATION && list_member_oid(relations, rte->relid);
    }
    case T_Append:
      return AnyReads(castNode(Append, const_cast<Plan*>(plan))->appendplans, statement, relations);
    case T_SubqueryScan:
      return ReadsStreaming(castNode(SubqueryScan, const_cast<Plan*>(plan))->subplan, statement, relations);
    case T_HashJoin:
      if (outer) return true;
      break;
    case T_Result:
    case T_NestLoop:
      streams = true;
      break;
    // The hash of another relation of persons, and what makes one row of several of a person.
    case T_Hash:
    case T_Agg:
    case T_Group:
    case T_Sort:
    case T_Unique:
      if (!inner) return outer;
      break;
    default:
      break;
  }
  if (inner || (outer && !streams)) elog(ERROR, "rows of persons are stored by a plan node of type %d", nodeTag(plan));
  return outer;
}

}  // namespace

List* StreamRelations(List* relations) {
  List* before = streaming;
  streaming = relations;
  return before;
}

namespace {

struct Counting {
  const List* relations;
  int count;
};

bool CountItems(Node* node, void* context) {
  auto* counting = static_cast<Counting*>(context);
  if (node == nullptr) return false;
  if (IsA(node, Query)) return WalkQuery(reinterpret_cast<::Query*>(node), CountItems, context);
  if (IsA(node, RangeTblEntry)) {
    const auto* rte = castNode(RangeTblEntry, node);
    if (rte->rtekind == RTE_RELATION && list_member_oid(counting->relations, rte->relid)) ++counting->count;
    return false;
  }
  return WalkChildren(node, CountItems, context);
}

}  // namespace

bool ReadsSeveral(::Query* query, List* relations) {
  Counting counting = {relations, 0};
  (void)WalkQuery(query, CountItems, &counting);
  return counting.count > 1;
}

namespace {

// Whether an expression is the same for all rows of its query.
bool NamesNoRow(Node* node) {
  for (int level = 0; level <= kMostLevels; ++level)
    if (contain_vars_of_level(node, level)) return false;
  return true;
}

// Hides from the planner that these conditions make a column a constant: it would leave out the conditions that make
// other columns equal to it, and no hash join is left where they are what makes persons equal.
void HideConstants(Node** quals) {
  List* conditions = make_ands_implicit(reinterpret_cast<::Expr*>(*quals));
  ListCell* cell;
  foreach (cell, conditions) {
    auto* condition = static_cast<Node*>(lfirst(cell));
    if (!IsA(condition, OpExpr) || list_length(castNode(OpExpr, condition)->args) != 2) continue;
    const List* sides = castNode(OpExpr, condition)->args;
    if (!NamesNoRow(static_cast<Node*>(linitial(sides))) && !NamesNoRow(static_cast<Node*>(lsecond(sides)))) continue;
    auto* test = makeNode(BooleanTest);
    test->arg = reinterpret_cast<::Expr*>(condition);
    test->booltesttype = IS_TRUE;
    test->location = -1;
    lfirst(cell) = test;
  }
  *quals = conditions == NIL ? nullptr : reinterpret_cast<Node*>(make_ands_explicit(conditions));
}

bool HideConstantsBelow(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) return WalkQuery(reinterpret_cast<::Query*>(node), HideConstantsBelow, context);
  if (IsA(node, RangeTblEntry)) return false;
  if (IsA(node, FromExpr)) HideConstants(&castNode(FromExpr, node)->quals);
  if (IsA(node, JoinExpr)) HideConstants(&castNode(JoinExpr, node)->quals);
  return WalkChildren(node, HideConstantsBelow, context);
}

}  // namespace

void KeepEqualPersons(::Query* query) { (void)HideConstantsBelow(reinterpret_cast<Node*>(query), nullptr); }

void RequireStreaming(const PlannedStmt* plan, const List* relations) {
  List* all = NIL;
  const ListCell* cell;
  foreach (cell, relations) all = list_concat_unique_oid(all, find_all_inheritors(lfirst_oid(cell), NoLock, nullptr));
  (void)ReadsStreaming(plan->planTree, plan, all);
  foreach (cell, plan->subplans)
    if (ReadsStreaming(static_cast<Plan*>(lfirst(cell)), plan, all))
      elog(ERROR, "rows of persons are read by a sub-plan");
}

void InstallJoinOrder() {
  prev_join_pathlist = set_join_pathlist_hook;
  set_join_pathlist_hook = KeepStreaming;
}

}  // namespace privacy_score

/*
 * private_multiplicity.cpp - see private_multiplicity.hpp.
 *
 * An item of FROM is determined when a unique key of it is equal to what other determined items, constants and rows
 * around the query say. One that is lateral has rows for each of those that it refers to: it determines nothing.
 * Relations that are looked at stay locked: their keys must hold when they are read.
 */
#include "backend/private_sql/private_multiplicity.hpp"

extern "C" {
#include "access/relation.h"
#include "access/stratnum.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"
}

#include "backend/catalog/unique_keys.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/server/compat_query.hpp"

namespace privacy_score {

namespace {

// A condition, and the items whose rows it chooses; null: all.
struct Condition {
  const Node* node;
  const Bitmapset* chosen;
};

void KeepConditions(Node* quals, const Bitmapset* chosen, List** conditions) {
  const ListCell* cell;
  foreach (cell, make_ands_implicit(reinterpret_cast<::Expr*>(quals))) {
    auto* condition = static_cast<Condition*>(palloc(sizeof(Condition)));
    *condition = {static_cast<const Node*>(lfirst(cell)), chosen};
    *conditions = lappend(*conditions, condition);
  }
}

// Collects the conditions and the items of a part of FROM; returns the items.
Bitmapset* CollectItems(Node* node, List** conditions) {
  Bitmapset* items = nullptr;
  if (node == nullptr) return items;
  if (IsA(node, FromExpr)) {
    const auto* from = castNode(FromExpr, node);
    const ListCell* cell;
    foreach (cell, from->fromlist)
      items = bms_add_members(items, CollectItems(static_cast<Node*>(lfirst(cell)), conditions));
    KeepConditions(from->quals, nullptr, conditions);
    return items;
  }
  if (IsA(node, JoinExpr)) {
    const auto* join = castNode(JoinExpr, node);
    Bitmapset* left = CollectItems(join->larg, conditions);
    Bitmapset* right = CollectItems(join->rarg, conditions);
    // An outer join keeps rows that its condition does not hold for.
    if (join->jointype == JOIN_INNER) KeepConditions(join->quals, nullptr, conditions);
    if (join->jointype == JOIN_LEFT) KeepConditions(join->quals, right, conditions);
    if (join->jointype == JOIN_RIGHT) KeepConditions(join->quals, left, conditions);
    return bms_union(left, right);
  }
  return bms_make_singleton(castNode(RangeTblRef, node)->rtindex);
}

// Whether an operator is the equality that unique keys of the type are made of. Two times without a zone may equal the
// same one with a zone, where clocks are put forward; what is hashed has no such pairs.
bool EqualsAsInKeys(Oid operator_oid, Oid type) {
  const TypeCacheEntry* entry = lookup_type_cache(getBaseType(type), TYPECACHE_BTREE_OPFAMILY);
  return OidIsValid(entry->btree_opf) &&
         get_op_opfamily_strategy(operator_oid, entry->btree_opf) == BTEqualStrategyNumber &&
         op_hashjoinable(operator_oid, getBaseType(type));
}

// The column of the item that a condition makes equal to what is determined; 0: none.
AttrNumber ColumnMadeEqual(const Condition* condition, int index, const Bitmapset* determined) {
  if (condition->chosen != nullptr && !bms_is_member(index, condition->chosen)) return 0;
  if (!IsA(condition->node, OpExpr)) return 0;
  const auto* call = castNode(OpExpr, const_cast<Node*>(condition->node));
  if (list_length(call->args) != 2) return 0;
  for (int side = 0; side < 2; ++side) {
    Node* own = static_cast<Node*>(list_nth(call->args, side));
    auto* other = static_cast<Node*>(list_nth(call->args, 1 - side));
    while (IsA(own, RelabelType)) own = reinterpret_cast<Node*>(castNode(RelabelType, own)->arg);
    if (!IsA(own, Var)) continue;
    const auto* column = castNode(Var, own);
    if (column->varlevelsup == 0 && column->varno == index && EqualsAsInKeys(call->opno, column->vartype) &&
        bms_is_subset(EntriesNamedBy(other), determined))
      return column->varattno;
  }
  return 0;
}

bool IsDetermined(const ::Query* query, int index, const List* conditions, const Bitmapset* determined) {
  const RangeTblEntry* rte = rt_fetch(index, query->rtable);
  if (rte->lateral) return false;
  if (rte->rtekind == RTE_RESULT) return true;
  if (rte->rtekind == RTE_VALUES) return list_length(rte->values_lists) == 1;
  if (rte->rtekind == RTE_SUBQUERY) return HasOneRowAtMost(rte->subquery);
  if (rte->rtekind != RTE_RELATION) return false;
  Bitmapset* equal_columns = nullptr;
  const ListCell* cell;
  foreach (cell, conditions) {
    const AttrNumber column = ColumnMadeEqual(static_cast<Condition*>(lfirst(cell)), index, determined);
    if (column > 0) equal_columns = bms_add_member(equal_columns, column);
  }
  if (equal_columns == nullptr) return false;
  ::Relation relation = relation_open(rte->relid, AccessShareLock);
  bool determines = false;
  foreach (cell, UniqueKeysOf(relation))
    determines = determines || bms_is_subset(static_cast<Bitmapset*>(lfirst(cell)), equal_columns);
  relation_close(relation, NoLock);
  return determines;
}

// Whether all items follow from those that are determined.
bool AllDetermined(const ::Query* query, Bitmapset* determined) {
  auto* flat = CopyTree(query);
  FlattenAliases(flat);
  List* conditions = NIL;
  const Bitmapset* items = CollectItems(reinterpret_cast<Node*>(flat->jointree), &conditions);
  for (bool more = true; more;) {
    more = false;
    for (int index = -1; (index = bms_next_member(items, index)) >= 0;) {
      if (bms_is_member(index, determined) || !IsDetermined(flat, index, conditions, determined)) continue;
      determined = bms_add_member(determined, index);
      more = true;
    }
  }
  return bms_is_subset(items, determined);
}

}  // namespace

bool KeepsRowsSingle(const ::Query* query, int index) {
  return !rt_fetch(index, query->rtable)->lateral && AllDetermined(query, bms_make_singleton(index));
}

bool HasOneRowAtMost(const ::Query* query) {
  if (query->setOperations != nullptr || query->hasTargetSRFs || query->groupingSets != NIL) return false;
  if (query->hasAggs && query->groupClause == NIL) return true;
  if (query->limitCount != nullptr && query->limitOption == LIMIT_OPTION_COUNT) {
    const Node* limit = eval_const_expressions(nullptr, CopyNode(query->limitCount));
    if (IsA(limit, Const) && !castNode(Const, const_cast<Node*>(limit))->constisnull &&
        DatumGetInt64(castNode(Const, const_cast<Node*>(limit))->constvalue) <= 1)
      return true;
  }
  return AllDetermined(query, nullptr);
}

}  // namespace privacy_score

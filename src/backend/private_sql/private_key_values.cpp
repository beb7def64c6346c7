/*
 * private_key_values.cpp - see private_key_values.hpp.
 *
 * A key is looked at from the top: where its own values are not known, but it depends on rows by one expression within
 * it whose values are, it is computed for each of these.
 */
#include "backend/private_sql/private_key_values.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
}

#include <string>
#include <unordered_set>

#include "backend/private_sql/private_column_lists.hpp"
#include "backend/private_sql/private_functions.hpp"
#include "backend/private_sql/private_key_ranges.hpp"
#include "backend/private_sql/private_keys.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/private_sql/private_values.hpp"
#include "backend/server/compat_query.hpp"
#include "backend/server/core_call.hpp"

namespace privacy_score {

namespace {

// --- values of public items ------------------------------------------------------------------------------------------

struct SeenValues {
  std::unordered_set<std::string> images;
};

struct ItemReceiver {
  DestReceiver receiver;  // first: the server calls by it
  List* expressions;
  SeenValues* seen;
  StringInfoData image;
  List* tuples;
  MemoryContext memory;
};

bool TakeItemRow(TupleTableSlot* slot, DestReceiver* receiver) {
  auto* taking = reinterpret_cast<ItemReceiver*>(receiver);
  slot_getallattrs(slot);
  MemoryContext before = MemoryContextSwitchTo(taking->memory);
  resetStringInfo(&taking->image);
  const int count = list_length(taking->expressions);
  for (int i = 0; i < count; ++i)
    AppendKeyImage(&taking->image, getBaseType(exprType(static_cast<Node*>(list_nth(taking->expressions, i)))),
                   slot->tts_values[i], slot->tts_isnull[i]);
  bool is_new = false;
  CallCoreOrRaise([&] {
    is_new = taking->seen->images.emplace(taking->image.data, static_cast<std::size_t>(taking->image.len)).second;
  });
  if (is_new) {
    List* tuple = NIL;
    for (int i = 0; i < count; ++i) {
      const auto* expression = static_cast<Node*>(list_nth(taking->expressions, i));
      const Oid type = exprType(expression);
      int16 length;
      bool by_value;
      get_typlenbyval(type, &length, &by_value);
      const bool is_null = slot->tts_isnull[i];
      const Datum value = is_null ? Datum(0) : datumCopy(slot->tts_values[i], by_value, length);
      tuple = lappend(tuple, makeConst(type, -1, exprCollation(expression), length, value, is_null, by_value));
    }
    taking->tuples = lappend(taking->tuples, tuple);
  }
  MemoryContextSwitchTo(before);
  return list_length(taking->tuples) <= kMostPublicGroups;
}

void BeginItemRows(DestReceiver*, int, TupleDesc) {}
void EndItemRows(DestReceiver*) {}

// A query of one item alone, with the rights that are asked for in the part.
::Query* QueryOfItem(::Query* part, int item, List* expressions) {
  ::Query* query = NewQuery();
  query->commandType = CMD_SELECT;
  query->canSetTag = true;
  query->hasRowSecurity = part->hasRowSecurity;
  query->hasSubLinks = part->hasSubLinks;
  TakeEntry(query, part, item);
  // Policies are on the entry itself.
  ChangeVarNodes(reinterpret_cast<Node*>(linitial_node(RangeTblEntry, query->rtable)->securityQuals), item, 1, 0);
  auto* reference = makeNode(RangeTblRef);
  reference->rtindex = 1;
  query->jointree = makeFromExpr(list_make1(reference), nullptr);
  const ListCell* cell;
  foreach (cell, expressions) {
    Node* expression = CopyNode(lfirst(cell));
    ChangeVarNodes(expression, item, 1, 0);
    ForgetOuterJoins(expression);
    const auto number = static_cast<AttrNumber>(list_length(query->targetList) + 1);
    query->targetList = lappend(query->targetList,
                                makeTargetEntry(reinterpret_cast<::Expr*>(expression), number, pstrdup("key"), false));
  }
  // As in the private part: NULL where it fails.
  return MutateQuery(query, GuardCalls, nullptr);
}

bool HasOuterJoin(Node* node, void*) {
  if (node == nullptr || IsA(node, Query)) return false;
  if (IsA(node, JoinExpr) && castNode(JoinExpr, node)->jointype != JOIN_INNER) return true;
  return WalkChildren(node, HasOuterJoin, nullptr);
}

List* NullTuple(const List* expressions) {
  List* tuple = NIL;
  const ListCell* cell;
  foreach (cell, expressions) {
    const auto* expression = static_cast<const Node*>(lfirst(cell));
    tuple = lappend(tuple, makeNullConst(exprType(expression), -1, exprCollation(expression)));
  }
  return tuple;
}

// --- values of other keys --------------------------------------------------------------------------------------------

List* ValuesOfEnum(Oid type) {
  List* values = NIL;
  CatCList* labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
  for (int i = 0; i < labels->n_members; ++i) {
    const auto* label = reinterpret_cast<Form_pg_enum>(GETSTRUCT(&labels->members[i]->tuple));
    values = lappend(values, ConstOf(type, ObjectIdGetDatum(label->oid)));
  }
  ReleaseSysCacheList(labels);
  return WithNull(values, type);
}

// CASE whose results are constants.
List* ValuesOfCase(const CaseExpr* choice) {
  List* values = NIL;
  const ListCell* cell;
  foreach (cell, choice->args) {
    auto* result = reinterpret_cast<Node*>(lfirst_node(CaseWhen, cell)->result);
    if (!IsA(result, Const)) return NIL;
    values = list_append_unique(values, result);
  }
  auto* otherwise = reinterpret_cast<Node*>(choice->defresult);
  if (otherwise == nullptr) return WithNull(values, choice->casetype);
  return IsA(otherwise, Const) ? list_append_unique(values, otherwise) : NIL;
}

List* ValuesOfList(const ::Query* part, const Node* expression) {
  const ListCell* cell;
  foreach (cell, make_ands_implicit(reinterpret_cast<::Expr*>(part->jointree->quals))) {
    List* values = ListedValues(static_cast<Node*>(lfirst(cell)), expression);
    if (values != NIL) return values;
  }
  return NIL;
}

// The values of an expression itself.
List* OwnValues(const PrivateLevel* level, ::Query* part, Node* expression) {
  const Oid type = getBaseType(exprType(expression));
  List* values = ValuesOfList(part, expression);
  if (values != NIL) return values;
  if (type == BOOLOID)
    return WithNull(list_make2(ConstOf(BOOLOID, BoolGetDatum(false)), ConstOf(BOOLOID, BoolGetDatum(true))), BOOLOID);
  if (type_is_enum(type)) return ValuesOfEnum(type);
  if (IsA(expression, CaseExpr)) return ValuesOfCase(castNode(CaseExpr, expression));
  if (IsA(expression, FuncExpr)) return ValuesOfCall(level, part, castNode(FuncExpr, expression));
  if (!IsA(expression, Var)) return NIL;
  values = ValuesBetween(level, part, expression);
  return values != NIL ? values : ValuesOfColumn(level, part, castNode(Var, expression));
}

// --- what is computed from an expression whose values are known ------------------------------------------------------

struct OnlyChild {
  Node* child;
  int count;
};

bool DependsOnRows(Node* node, void*) {
  if (node == nullptr) return false;
  if (IsA(node, Var) || IsA(node, SubLink)) return true;
  return WalkChildren(node, DependsOnRows, nullptr);
}

bool FindOnlyChild(Node* node, void* context) {
  auto* only = static_cast<OnlyChild*>(context);
  if (node == nullptr) return false;
  if (IsA(node, List)) return WalkChildren(node, FindOnlyChild, context);
  if (!DependsOnRows(node, nullptr)) return false;
  if (only->child == nullptr || !equal(only->child, node)) ++only->count;
  only->child = node;
  return false;
}

struct Substitution {
  Node* from;
  Node* to;
};

Node* Substitute(Node* node, void* context) {
  const auto* substitution = static_cast<Substitution*>(context);
  if (node == nullptr) return nullptr;
  if (equal(node, substitution->from)) return CopyNode(substitution->to);
  return MutateChildren(node, Substitute, context);
}

List* ComputedValues(const PrivateLevel* level, ::Query* part, Node* expression) {
  check_stack_depth();
  List* own = OwnValues(level, part, expression);
  if (own != NIL) return own;
  ::Query* within = nullptr;
  Node* target = TargetBehind(level, part, expression, &within);
  if (target != nullptr) return ComputedValues(level, within, target);
  // Days between two months are more than the days that months begin with.
  List* between = IsA(expression, Var) ? NIL : ValuesBetween(level, part, expression);
  OnlyChild only = {nullptr, 0};
  (void)WalkChildren(expression, FindOnlyChild, &only);
  if (only.count != 1 || IsA(only.child, SubLink)) return between;
  List* inner = ComputedValues(level, part, only.child);
  if (inner == NIL || (between != NIL && list_length(between) <= list_length(inner))) return between;
  List* values = NIL;
  const ListCell* cell;
  foreach (cell, inner) {
    Substitution substitution = {only.child, static_cast<Node*>(lfirst(cell))};
    Node* value = FoldForKeys(GuardCalls(Substitute(CopyNode(expression), &substitution), nullptr));
    if (!IsA(value, Const)) return between;
    values = lappend(values, value);
  }
  return values;
}

}  // namespace

bool HoldsPersons(const RangeTblEntry* rte, const PrivateLevel* level) {
  if (rte->rtekind == RTE_RELATION) return list_member_oid(level->relations, rte->relid);
  if (rte->rtekind != RTE_SUBQUERY) return false;
  const ListCell* cell;
  foreach (cell, rte->subquery->rtable)
    if (HoldsPersons(lfirst_node(RangeTblEntry, cell), level)) return true;
  return false;
}

int PublicItemOf(const PrivateLevel* level, const ::Query* part, Node* key) {
  int item = 0;
  if (!bms_get_singleton_member(EntriesNamedBy(key), &item) || checkExprHasSubLink(key)) return 0;
  const RangeTblEntry* rte = rt_fetch(item, part->rtable);
  if (rte->lateral || HoldsPersons(rte, level)) return 0;
  return rte->rtekind == RTE_RELATION || rte->rtekind == RTE_SUBQUERY || rte->rtekind == RTE_VALUES ? item : 0;
}

List* TuplesOfQuery(::Query* query, List* expressions) {
  auto* taking = static_cast<ItemReceiver*>(palloc0(sizeof(ItemReceiver)));
  taking->receiver = {TakeItemRow, BeginItemRows, EndItemRows, EndItemRows, DestNone};
  taking->expressions = expressions;
  taking->seen = NewCoreObject<SeenValues>();
  taking->memory = CurrentMemoryContext;
  initStringInfo(&taking->image);
  PlannedStmt* plan = pg_plan_query(query, "", 0, nullptr);
  QueryDesc* running =
      CreateQueryDesc(plan, "", GetActiveSnapshot(), InvalidSnapshot, &taking->receiver, nullptr, nullptr, 0);
  ExecutorStart(running, 0);
  RunToEnd(running);
  ExecutorFinish(running);
  ExecutorEnd(running);
  FreeQueryDesc(running);
  return taking->tuples;
}

List* TuplesOfItem(::Query* part, int item, List* expressions) {
  List* tuples = TuplesOfQuery(QueryOfItem(part, item, expressions), expressions);
  if (HasOuterJoin(reinterpret_cast<Node*>(part->jointree), nullptr)) {
    List* none = NullTuple(expressions);
    if (!list_member(tuples, none)) tuples = lappend(tuples, none);
  }
  return list_length(tuples) > kMostPublicGroups ? NIL : tuples;
}

List* ValuesOfKey(const PrivateLevel* level, ::Query* part, Node* key) {
  const List* values = ComputedValues(level, part, key);
  // Also what has no end is cut off there.
  if (list_length(values) > kMostPublicGroups) return NIL;
  auto* seen = NewCoreObject<SeenValues>();
  StringInfoData image;
  initStringInfo(&image);
  List* tuples = NIL;
  const ListCell* cell;
  foreach (cell, values) {
    auto* value = lfirst_node(Const, cell);
    resetStringInfo(&image);
    AppendKeyImage(&image, getBaseType(value->consttype), value->constvalue, value->constisnull);
    bool is_new = false;
    CallCoreOrRaise([&] { is_new = seen->images.emplace(image.data, static_cast<std::size_t>(image.len)).second; });
    if (is_new) tuples = lappend(tuples, list_make1(value));
  }
  if (tuples == NIL || !HasOuterJoin(reinterpret_cast<Node*>(part->jointree), nullptr)) return tuples;
  List* none = NullTuple(list_make1(key));
  return list_append_unique(tuples, none);
}

}  // namespace privacy_score

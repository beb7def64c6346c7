/*
 * private_column_lists.cpp - see private_column_lists.hpp.
 */
#include "backend/private_sql/private_column_lists.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_constraint.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/typcache.h"
}

#include <utility>

#include "backend/catalog/relation_access.hpp"
#include "backend/private_sql/private_domains.hpp"
#include "backend/private_sql/private_key_values.hpp"
#include "backend/private_sql/private_keys.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/server/compat_query.hpp"

namespace privacy_score {

namespace {

// varchar is compared as text.
Node* Bare(Node* node) {
  while (node != nullptr && IsA(node, RelabelType)) node = reinterpret_cast<Node*>(castNode(RelabelType, node)->arg);
  return node;
}

bool IsEquality(Oid operator_oid, Oid type) {
  const TypeCacheEntry* entry = lookup_type_cache(type, TYPECACHE_EQ_OPR);
  return operator_oid == entry->eq_opr;
}

// A constant as one of the expression's type; null when it is another.
Node* AsValueOf(const Node* expression, Node* constant) {
  constant = Bare(constant);
  if (!IsA(constant, Const) || castNode(Const, constant)->constisnull) return nullptr;
  const Oid own = getBaseType(exprType(expression));
  const Oid other = castNode(Const, constant)->consttype;
  const bool texts = (own == VARCHAROID || own == TEXTOID) && (other == TEXTOID || other == VARCHAROID);
  return own == other || texts ? constant : nullptr;
}

List* ListedInArray(const ScalarArrayOpExpr* test, const Node* expression) {
  auto* array = static_cast<Node*>(lsecond(test->args));
  if (!test->useOr || !equal(Bare(static_cast<Node*>(linitial(test->args))), Bare(const_cast<Node*>(expression))))
    return NIL;
  List* elements = NIL;
  if (IsA(array, ArrayExpr) && !castNode(ArrayExpr, array)->multidims) {
    elements = castNode(ArrayExpr, array)->elements;
  } else if (IsA(Bare(array), Const) && !castNode(Const, Bare(array))->constisnull) {
    ArrayType* values = DatumGetArrayTypeP(castNode(Const, Bare(array))->constvalue);
    int16 length;
    bool by_value;
    char alignment;
    get_typlenbyvalalign(ARR_ELEMTYPE(values), &length, &by_value, &alignment);
    Datum* datums;
    bool* nulls;
    int count;
    deconstruct_array(values, ARR_ELEMTYPE(values), length, by_value, alignment, &datums, &nulls, &count);
    for (int i = 0; i < count; ++i)
      if (!nulls[i])
        elements = lappend(elements, makeConst(ARR_ELEMTYPE(values), -1, get_typcollation(ARR_ELEMTYPE(values)), length,
                                               datums[i], false, by_value));
  }
  List* listed = NIL;
  const ListCell* cell;
  foreach (cell, elements) {
    Node* value = AsValueOf(expression, static_cast<Node*>(lfirst(cell)));
    if (value == nullptr) return NIL;
    listed = list_append_unique(listed, value);
  }
  return IsEquality(test->opno, exprType(static_cast<Node*>(linitial(test->args)))) ? listed : NIL;
}

// The base column that a column of a query is.
bool FindBaseColumn(const ::Query* query, const Var* column, Oid* relation, AttrNumber* number) {
  const RangeTblEntry* rte = rt_fetch(column->varno, query->rtable);
  if (column->varlevelsup != 0 || column->varattno <= 0) return false;
  if (rte->rtekind == RTE_JOIN) {
    auto* meant = static_cast<Node*>(list_nth(rte->joinaliasvars, column->varattno - 1));
    return meant != nullptr && IsA(meant, Var) && FindBaseColumn(query, castNode(Var, meant), relation, number);
  }
  if (rte->rtekind == RTE_RELATION) {
    *relation = rte->relid;
    *number = column->varattno;
    return true;
  }
  if (rte->rtekind != RTE_SUBQUERY || rte->subquery->setOperations != nullptr) return false;
  auto* target =
      reinterpret_cast<Node*>(list_nth_node(TargetEntry, rte->subquery->targetList, column->varattno - 1)->expr);
  return IsA(target, Var) && FindBaseColumn(rte->subquery, castNode(Var, target), relation, number);
}

// The list of a validated CHECK that is about the column alone.
List* ValuesOfCheck(Oid relation, AttrNumber number, const Var* column) {
  ::Relation opened = relation_open(relation, AccessShareLock);
  const TupleConstr* constraints = RelationGetDescr(opened)->constr;
  List* values = NIL;
  for (int i = 0; constraints != nullptr && values == NIL && i < constraints->num_check; ++i) {
    const ConstrCheck* check = &constraints->check[i];
    if (!check->ccvalid || check->ccnoinherit) continue;
    auto* own = makeVar(1, number, column->vartype, column->vartypmod, column->varcollid, 0);
    Node* condition = eval_const_expressions(nullptr, static_cast<Node*>(stringToNode(check->ccbin)));
    const ListCell* cell;
    foreach (cell, make_ands_implicit(reinterpret_cast<::Expr*>(condition)))
      if (values == NIL) values = ListedValues(static_cast<Node*>(lfirst(cell)), reinterpret_cast<Node*>(own));
  }
  const bool not_null = TupleDescAttr(RelationGetDescr(opened), number - 1)->attnotnull;
  relation_close(opened, NoLock);
  if (values == NIL || not_null) return values;
  return lappend(values, makeNullConst(column->vartype, -1, column->varcollid));
}

// The values of the column that a foreign key refers to.
List* ValuesOfReference(Oid relation, AttrNumber number, const Var* column) {
  ::Relation opened = relation_open(relation, AccessShareLock);
  List* values = NIL;
  const ListCell* cell;
  foreach (cell, RelationGetFKeyList(opened)) {
    const auto* key = static_cast<ForeignKeyCacheInfo*>(lfirst(cell));
    if (key->nkeys != 1 || key->conkey[0] != number || TreeIsProtected(key->confrelid)) continue;
    if (get_atttype(key->confrelid, key->confkey[0]) != column->vartype ||
        !RoleMaySelect(GetUserId(), key->confrelid, key->confkey[0]))
      continue;
    values = ValuesOfSql(psprintf("SELECT DISTINCT %s FROM %s LIMIT %d", QuotedColumn(key->confrelid, key->confkey[0]),
                                  QuotedRelation(key->confrelid), kMostPublicGroups + 1),
                         column->vartype, nullptr, nullptr);
  }
  const bool not_null = TupleDescAttr(RelationGetDescr(opened), number - 1)->attnotnull;
  relation_close(opened, NoLock);
  if (values == NIL || not_null) return values;
  return lappend(values, makeNullConst(column->vartype, -1, column->varcollid));
}

}  // namespace

List* ListedValues(Node* condition, const Node* expression) {
  if (condition == nullptr) return NIL;
  if (IsA(condition, ScalarArrayOpExpr)) return ListedInArray(castNode(ScalarArrayOpExpr, condition), expression);
  if (IsA(condition, BoolExpr) && castNode(BoolExpr, condition)->boolop == OR_EXPR) {
    List* all = NIL;
    const ListCell* cell;
    foreach (cell, castNode(BoolExpr, condition)->args) {
      List* listed = ListedValues(static_cast<Node*>(lfirst(cell)), expression);
      if (listed == NIL) return NIL;
      all = list_concat_unique(all, listed);
    }
    return all;
  }
  if (!IsA(condition, OpExpr) || list_length(castNode(OpExpr, condition)->args) != 2) return NIL;
  const auto* test = castNode(OpExpr, condition);
  auto* left = static_cast<Node*>(linitial(test->args));
  auto* right = static_cast<Node*>(lsecond(test->args));
  if (!IsEquality(test->opno, exprType(left))) return NIL;
  if (IsA(Bare(left), Const)) std::swap(left, right);
  if (!equal(Bare(left), Bare(const_cast<Node*>(expression)))) return NIL;
  Node* value = AsValueOf(expression, right);
  return value == nullptr ? NIL : list_make1(value);
}

List* ValuesOfColumn(const PrivateLevel* level, const ::Query* part, const Var* column) {
  Oid relation;
  AttrNumber number;
  if (!FindBaseColumn(part, column, &relation, &number) || !list_member_oid(level->relations, relation)) return NIL;
  const ColumnDomain* domain = DomainOf(relation, number);
  if (domain != nullptr && domain->values != NIL)
    return lappend(list_copy(domain->values), makeNullConst(column->vartype, -1, column->varcollid));
  List* values = ValuesOfCheck(relation, number, column);
  return values != NIL ? values : ValuesOfReference(relation, number, column);
}

const ColumnDomain* DomainOfColumn(const PrivateLevel* level, const ::Query* part, const Var* column) {
  Oid relation;
  AttrNumber number;
  if (!FindBaseColumn(part, column, &relation, &number) || !list_member_oid(level->relations, relation)) return nullptr;
  return DomainOf(relation, number);
}

Node* TargetBehind(const PrivateLevel* level, const ::Query* part, const Node* column, ::Query** within) {
  if (!IsA(column, Var)) return nullptr;
  const auto* var = castNode(Var, const_cast<Node*>(column));
  if (var->varlevelsup != 0 || var->varattno <= 0) return nullptr;
  RangeTblEntry* rte = rt_fetch(var->varno, part->rtable);
  if (rte->rtekind != RTE_SUBQUERY || rte->subquery->setOperations != nullptr || rte->subquery->groupClause != NIL ||
      rte->subquery->hasAggs || !HoldsPersons(rte, level))
    return nullptr;
  FlattenAliases(rte->subquery);
  *within = rte->subquery;
  return reinterpret_cast<Node*>(list_nth_node(TargetEntry, rte->subquery->targetList, var->varattno - 1)->expr);
}

List* ValuesOfSql(const char* sql, Oid type, const Const* first, const Const* second) {
  Oid types[] = {first == nullptr ? InvalidOid : first->consttype, second == nullptr ? InvalidOid : second->consttype};
  Datum arguments[] = {first == nullptr ? Datum(0) : first->constvalue,
                       second == nullptr ? Datum(0) : second->constvalue};
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  MemoryContext memory = CurrentMemoryContext;
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  if (SPI_execute_with_args(sql, first == nullptr ? 0 : 2, types, arguments, nullptr, true, 0) != SPI_OK_SELECT)
    elog(ERROR, "could not read the values of a key");
  List* values = NIL;
  MemoryContext before = MemoryContextSwitchTo(memory);
  for (uint64 row = 0; row < SPI_processed && SPI_processed <= static_cast<uint64>(kMostPublicGroups); ++row) {
    bool is_null = false;
    const Datum value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1, &is_null);
    if (is_null) continue;
    values = lappend(values, makeConst(type, -1, get_typcollation(type), length, datumCopy(value, by_value, length),
                                       false, by_value));
  }
  MemoryContextSwitchTo(before);
  SPI_finish();
  return values;
}

Node* FoldForKeys(Node* expression) {
  auto* root = makeNode(PlannerInfo);
  root->glob = makeNode(PlannerGlobal);
  return estimate_expression_value(root, expression);
}

}  // namespace privacy_score

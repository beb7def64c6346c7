/*
 * private_split.cpp - see private_split.hpp.
 *
 * Keys are the expressions of GROUP BY, or of DISTINCT where nothing is aggregated. Each key and each aggregate, also
 * those within sub-selects of the level's targets and of HAVING, becomes a column of the one item that is left in FROM;
 * HAVING becomes WHERE. Windows, DISTINCT, ORDER BY, LIMIT stay as they are.
 */
#include "backend/private_sql/private_split.hpp"

extern "C" {
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_type.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

#include "backend/private_sql/private_errors.hpp"
#include "backend/private_sql/private_persons.hpp"
#include "backend/private_sql/private_refusals.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/private_sql/private_values.hpp"
#include "backend/server/compat_query.hpp"

namespace privacy_score {

namespace {

// A level while it is split.
struct Splitting {
  ::Query* query;
  const PersonItem* item;
  List* keys;        // expressions of the level
  List* aggregates;  // Aggref of the level, each once
  List* values;      // expressions of the private part that aggregates are over, each once
  int depth;         // of sub-selects below the level
};

int PlaceOf(const List* list, const void* node) {
  int place = 0;
  const ListCell* cell;
  foreach (cell, list) {
    if (equal(lfirst(cell), node)) return place;
    ++place;
  }
  return -1;
}

// The column of the noisy rows, as seen from `depth` sub-selects below.
Var* NoisyColumn(int index, const Node* like, int depth) {
  return makeVar(1, static_cast<AttrNumber>(index + 1), exprType(like), exprTypmod(like), exprCollation(like),
                 static_cast<Index>(depth));
}

// An expression of the level as its sub-selects write it.
Node* SeenFrom(Node* expression, int depth) {
  if (depth == 0) return expression;
  auto* copy = CopyNode(expression);
  IncrementVarSublevelsUp(copy, depth, 0);
  return copy;
}

int KeyOf(const Splitting* splitting, const Node* node) {
  int place = 0;
  const ListCell* cell;
  foreach (cell, splitting->keys) {
    if (equal(SeenFrom(static_cast<Node*>(lfirst(cell)), splitting->depth), node)) return place;
    ++place;
  }
  return -1;
}

int AggregateOf(Splitting* splitting, const Node* node) {
  auto* own = CopyTree(castNode(Aggref, const_cast<Node*>(node)));
  if (splitting->depth > 0) IncrementVarSublevelsUp(reinterpret_cast<Node*>(own), -splitting->depth, splitting->depth);
  own->location = -1;
  const int place = PlaceOf(splitting->aggregates, own);
  if (place >= 0) return place;
  // The first one of its kind keeps its place in the text.
  own->location = reinterpret_cast<const Aggref*>(node)->location;
  splitting->aggregates = lappend(splitting->aggregates, own);
  return list_length(splitting->aggregates) - 1;
}

// The column for how far an aggregate may be off.
Node* ErrorColumn(Splitting* splitting, const FuncExpr* call) {
  const auto* argument = static_cast<const Node*>(linitial(call->args));
  if (!IsA(argument, Aggref) || castNode(Aggref, argument)->agglevelsup != static_cast<Index>(splitting->depth)) {
    if (splitting->depth == 0) RefuseErrorCall(call);
    return nullptr;  // of a sub-select's own
  }
  return reinterpret_cast<Node*>(NoisyColumn(list_length(splitting->keys) + 2 * AggregateOf(splitting, argument) + 1,
                                             reinterpret_cast<const Node*>(call), splitting->depth));
}

// Puts columns of the noisy rows for keys and aggregates.
Node* PutColumns(Node* node, void* context) {
  auto* splitting = static_cast<Splitting*>(context);
  if (node == nullptr) return nullptr;
  if (IsA(node, Query)) {
    ++splitting->depth;
    ::Query* result = MutateQuery(AsQuery(node), PutColumns, context);
    --splitting->depth;
    return reinterpret_cast<Node*>(result);
  }
  if (!IsA(node, Const)) {
    const int key = KeyOf(splitting, node);
    if (key >= 0)
      return reinterpret_cast<Node*>(
          NoisyColumn(key, static_cast<Node*>(list_nth(splitting->keys, key)), splitting->depth));
  }
  if (IsA(node, Aggref) && castNode(Aggref, node)->agglevelsup == static_cast<Index>(splitting->depth)) {
    const int place = list_length(splitting->keys) + 2 * AggregateOf(splitting, node);
    return reinterpret_cast<Node*>(NoisyColumn(place, node, splitting->depth));
  }
  if (IsErrorCall(node)) {
    Node* column = ErrorColumn(splitting, castNode(FuncExpr, node));
    if (column != nullptr) return column;
  }
  if (IsA(node, GroupingFunc) && castNode(GroupingFunc, node)->agglevelsup == static_cast<Index>(splitting->depth))
    return reinterpret_cast<Node*>(
        makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true));  // one grouping set
  if (IsA(node, Var) && castNode(Var, node)->varlevelsup == static_cast<Index>(splitting->depth))
    RefusePrivately(node, "a column outside of aggregates is no expression of GROUP BY",
                    "Write the column itself into GROUP BY, also where the primary key stands there.");
  return MutateChildren(node, PutColumns, context);
}

// A value of the private part, numbered from 1.
int ValuePlace(Splitting* splitting, Node* expression) {
  const int place = PlaceOf(splitting->values, expression);
  if (place >= 0) return place + 1;
  splitting->values = lappend(splitting->values, expression);
  return list_length(splitting->values);
}

// CASE WHEN filter THEN value END.
Node* Filtered(::Expr* filter, Node* value) {
  if (filter == nullptr) return value;
  auto* branch = makeNode(CaseWhen);
  branch->expr = filter;
  branch->result = reinterpret_cast<::Expr*>(value);
  branch->location = -1;
  auto* result = makeNode(CaseExpr);
  result->casetype = exprType(value);
  result->casecollid = exprCollation(value);
  result->args = list_make1(branch);
  result->defresult =
      reinterpret_cast<::Expr*>(makeNullConst(exprType(value), exprTypmod(value), exprCollation(value)));
  result->location = -1;
  return reinterpret_cast<Node*>(result);
}

Node* One() {
  return reinterpret_cast<Node*>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(1), false, true));
}

bool IsSum(Oid function) {
  switch (function) {
    case F_SUM_INT2:
    case F_SUM_INT4:
    case F_SUM_INT8:
    case F_SUM_NUMERIC:
    case F_SUM_FLOAT4:
    case F_SUM_FLOAT8:
      return true;
    default:
      return false;
  }
}

bool IsAverage(Oid function) {
  switch (function) {
    case F_AVG_INT2:
    case F_AVG_INT4:
    case F_AVG_INT8:
    case F_AVG_NUMERIC:
    case F_AVG_FLOAT4:
    case F_AVG_FLOAT8:
      return true;
    default:
      return false;
  }
}

[[noreturn]] void RefuseAggregate(const Aggref* aggregate) {
  const char* name = get_func_name(aggregate->aggfnoid);
  RefusePrivately(reinterpret_cast<const Node*>(aggregate),
                  psprintf("the aggregate %s%s is not answered privately", name == nullptr ? "?" : name,
                           aggregate->aggdistinct != NIL ? "(DISTINCT ...)" : "()"),
                  "Ask for count(*), count(x), sum(x), avg(x), or count(DISTINCT x) of the column that tells persons "
                  "apart, with FILTER where needed.");
}

// Whether an expression is the column that tells persons apart in one of these lists.
bool IsOneColumnOf(const List* lists, const Node* expression) {
  const ListCell* cell;
  foreach (cell, lists) {
    const auto* columns = static_cast<const List*>(lfirst(cell));
    if (list_length(columns) == 1 && IsColumn(expression, linitial_node(Var, columns))) return true;
  }
  return false;
}

PrivateMeasure MeasureOf(Splitting* splitting, const Aggref* aggregate) {
  PrivateMeasure measure = {PrivateAggregate::kCountRows, 0, aggregate->aggtype};
  Node* argument =
      aggregate->args == NIL ? nullptr : reinterpret_cast<Node*>(linitial_node(TargetEntry, aggregate->args)->expr);
  if (aggregate->aggdistinct != NIL) {
    const bool always = IsOneColumnOf(splitting->item->same, argument);
    if (aggregate->aggfnoid != F_COUNT_ANY || !(always || IsOneColumnOf(splitting->item->held, argument)))
      RefuseAggregate(aggregate);
    measure.aggregate = PrivateAggregate::kCountPersons;
    if (!always || aggregate->aggfilter != nullptr)
      measure.value = ValuePlace(splitting, Filtered(aggregate->aggfilter, always ? One() : argument));
    return measure;
  }
  if (aggregate->aggfnoid == F_COUNT_) {
    if (aggregate->aggfilter != nullptr) measure.value = ValuePlace(splitting, Filtered(aggregate->aggfilter, One()));
    return measure;
  }
  if (IsSum(aggregate->aggfnoid))
    measure.aggregate = PrivateAggregate::kSum;
  else if (IsAverage(aggregate->aggfnoid))
    measure.aggregate = PrivateAggregate::kAverage;
  else if (aggregate->aggfnoid != F_COUNT_ANY)
    RefuseAggregate(aggregate);
  const bool counts_all = measure.aggregate == PrivateAggregate::kCountRows && IsA(argument, Const) &&
                          !castNode(Const, argument)->constisnull;
  if (counts_all && aggregate->aggfilter == nullptr) return measure;  // count(1)
  measure.value = ValuePlace(splitting, Filtered(aggregate->aggfilter, counts_all ? One() : argument));
  return measure;
}

void AddTarget(::Query* part, Node* expression, const char* name) {
  const auto number = static_cast<AttrNumber>(list_length(part->targetList) + 1);
  part->targetList =
      lappend(part->targetList, makeTargetEntry(reinterpret_cast<::Expr*>(expression), number, pstrdup(name), false));
}

Node* IsNotNull(Node* expression) {
  auto* test = makeNode(NullTest);
  test->arg = reinterpret_cast<::Expr*>(expression);
  test->nulltesttype = IS_NOT_NULL;
  test->argisrow = false;
  test->location = -1;
  return reinterpret_cast<Node*>(test);
}

// What is grouped, filtered and shown of the rows is no part of what is read.
::Query* MakePart(const Splitting* splitting) {
  auto* part = CopyTree(splitting->query);
  part->targetList = NIL;
  part->groupClause = part->groupingSets = part->windowClause = part->distinctClause = part->sortClause = NIL;
  part->havingQual = part->limitCount = part->limitOffset = nullptr;
  part->limitOption = LIMIT_OPTION_COUNT;
  part->hasAggs = part->hasWindowFuncs = part->hasTargetSRFs = part->hasDistinctOn = part->groupDistinct = false;
  part->constraintDeps = NIL;
  NeutralizeGroupEntry(part);
  List* not_null = NIL;
  const ListCell* cell;
  foreach (cell, splitting->item->columns) {
    AddTarget(part, CopyNode(lfirst(cell)), "person");
    not_null = lappend(not_null, IsNotNull(CopyNode(lfirst(cell))));
  }
  foreach (cell, splitting->keys) AddTarget(part, CopyNode(lfirst(cell)), "key");
  foreach (cell, splitting->values) AddTarget(part, CopyNode(lfirst(cell)), "value");
  // Rows that are nobody's are not read.
  auto* own = make_ands_explicit(not_null);
  part->jointree->quals = make_and_qual(part->jointree->quals, reinterpret_cast<Node*>(own));
  return part;
}

void AddNoisyColumn(RangeTblFunction* function, Oid type, int32 modifier, Oid collation) {
  function->funccoltypes = lappend_oid(function->funccoltypes, type);
  function->funccoltypmods = lappend_int(function->funccoltypmods, modifier);
  function->funccolcollations = lappend_oid(function->funccolcollations, collation);
}

// The item of FROM that the noisy rows come from.
RangeTblEntry* MakePlaceholder(const PrivateLevel* level, const Splitting* splitting, int number) {
  auto* function = makeNode(RangeTblFunction);
  function->funcexpr = reinterpret_cast<Node*>(
      makeFuncExpr(PlaceholderFunction(), RECORDOID,
                   list_make1(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(number), false, true)),
                   InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
  castNode(FuncExpr, function->funcexpr)->funcretset = true;
  function->funccolnames = level->names;
  function->funccolcount = list_length(level->names);
  const ListCell* cell;
  foreach (cell, splitting->keys) {
    const Node* key = static_cast<Node*>(lfirst(cell));
    AddNoisyColumn(function, exprType(key), exprTypmod(key), exprCollation(key));
  }
  foreach (cell, splitting->aggregates) {
    const Node* aggregate = static_cast<Node*>(lfirst(cell));
    AddNoisyColumn(function, exprType(aggregate), exprTypmod(aggregate), exprCollation(aggregate));
    AddNoisyColumn(function, FLOAT8OID, -1, InvalidOid);
  }
  auto* rte = makeNode(RangeTblEntry);
  rte->rtekind = RTE_FUNCTION;
  rte->functions = list_make1(function);
  rte->alias = makeAlias("noisy_rows", NIL);
  rte->eref = makeAlias("noisy_rows", list_copy(level->names));
  rte->inFromCl = true;
  return rte;
}

void CollectKeys(Splitting* splitting) {
  const ListCell* cell;
  foreach (cell, GroupingTargets(splitting->query)) {
    auto* key = reinterpret_cast<Node*>(lfirst_node(TargetEntry, cell)->expr);
    if (!CanBeKey(getBaseType(exprType(key))))
      RefusePrivately(key, psprintf("groups cannot be made by type %s", format_type_be(exprType(key))),
                      "Group by a number, a text, a date or time, a boolean or an enum.");
    RequirePublicKey(splitting->item, key);
    // A constant groups nothing.
    if (!IsA(key, Const) && PlaceOf(splitting->keys, key) < 0) splitting->keys = lappend(splitting->keys, key);
  }
}

// What an aggregate is called in the answer, else its function's name.
const char* NameOfAggregate(const ::Query* query, const Aggref* aggregate) {
  const ListCell* cell;
  foreach (cell, query->targetList) {
    const auto* target = lfirst_node(TargetEntry, cell);
    if (!target->resjunk && target->resname != nullptr && equal(target->expr, aggregate)) return target->resname;
  }
  const char* name = get_func_name(aggregate->aggfnoid);
  return name == nullptr ? "aggregate" : name;
}

List* NamesOfRows(const Splitting* splitting) {
  List* names = NIL;
  const ListCell* cell;
  int key = 0;
  foreach (cell, GroupingTargets(splitting->query)) {
    const auto* target = lfirst_node(TargetEntry, cell);
    const int place = PlaceOf(splitting->keys, target->expr);
    if (place != key) continue;
    ++key;
    names = lappend(names, makeString(pstrdup(target->resname == nullptr ? psprintf("key%d", key) : target->resname)));
  }
  foreach (cell, splitting->aggregates) {
    const char* name = NameOfAggregate(splitting->query, lfirst_node(Aggref, cell));
    names = lappend(names, makeString(pstrdup(name)));
    names = lappend(names, makeString(psprintf("error of %s", name)));
  }
  return names;
}

}  // namespace

List* GroupingTargets(const ::Query* query) {
  List* targets = NIL;
  const ListCell* cell;
  foreach (cell, query->groupClause != NIL || query->hasAggs ? query->groupClause : query->distinctClause)
    targets = lappend(targets, get_sortgroupclause_tle(lfirst_node(SortGroupClause, cell), query->targetList));
  return targets;
}

bool Aggregates(const ::Query* query) {
  return query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL || query->havingQual != nullptr ||
         query->distinctClause != NIL;
}

PrivateLevel* SplitLevel(::Query* query, const PersonItem* item, int number) {
  if (query->groupingSets != NIL)
    RefusePrivately(static_cast<Node*>(linitial(query->groupingSets)),
                    "several grouping sets are not answered privately", "Ask for each of them in a query of its own.");
  if (query->rowMarks != NIL) RefusePrivately(nullptr, "rows of persons cannot be locked", "Leave FOR UPDATE away.");
  Splitting splitting = {query, item, NIL, NIL, NIL, 0};
  FlattenAliases(query);
  CollectKeys(&splitting);
  auto* targets = reinterpret_cast<List*>(PutColumns(reinterpret_cast<Node*>(query->targetList), &splitting));
  Node* having = PutColumns(query->havingQual, &splitting);
  auto* windows = reinterpret_cast<List*>(PutColumns(reinterpret_cast<Node*>(query->windowClause), &splitting));

  auto* level = static_cast<PrivateLevel*>(palloc0(sizeof(PrivateLevel)));
  level->measure_count = list_length(splitting.aggregates);
  level->measures =
      static_cast<PrivateMeasure*>(palloc0(sizeof(PrivateMeasure) * static_cast<Size>(level->measure_count + 1)));
  for (int i = 0; i < level->measure_count; ++i) {
    const auto* aggregate = list_nth_node(Aggref, splitting.aggregates, i);
    level->measures[i] = MeasureOf(&splitting, aggregate);
    const int value = level->measures[i].value;
    RequireNullWithout(item, aggregate, level->measures[i].aggregate,
                       value == 0 ? nullptr : static_cast<Node*>(list_nth(splitting.values, value - 1)));
  }
  level->home = item->home;
  level->part = MakePart(&splitting);
  level->person_count = list_length(item->columns);
  level->key_count = list_length(splitting.keys);
  level->value_count = list_length(splitting.values);
  level->one_row_a_person = item->one_row_a_person;
  level->relations = item->relations;
  level->null_side = item->null_side;
  level->names = NamesOfRows(&splitting);

  RangeTblEntry* rows = MakePlaceholder(level, &splitting, number);
  auto* reference = makeNode(RangeTblRef);
  reference->rtindex = 1;
  query->targetList = targets;
  query->windowClause = windows;
  query->rtable = list_make1(rows);
  ForgetRightsOfQuery(query);
  NeutralizeGroupEntry(query);
  query->jointree = makeFromExpr(list_make1(reference), having);
  query->havingQual = nullptr;
  query->groupClause = NIL;
  query->hasAggs = query->groupDistinct = query->hasRowSecurity = query->hasForUpdate = false;
  query->constraintDeps = NIL;
  return level;
}

Oid PlaceholderFunction() {
  const Oid schema = GetSysCacheOid1(NAMESPACENAME, Anum_pg_namespace_oid, CStringGetDatum("privacy_score"));
  const Oid types[] = {INT4OID};
  return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum("noisy_rows"),
                         PointerGetDatum(buildoidvector(types, 1)), ObjectIdGetDatum(schema));
}

int LevelOfPlaceholder(const RangeTblEntry* rte) {
  if (rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1) return -1;
  const Node* expression = linitial_node(RangeTblFunction, rte->functions)->funcexpr;
  if (expression == nullptr || !IsA(expression, FuncExpr)) return -1;
  const auto* call = castNode(FuncExpr, const_cast<Node*>(expression));
  if (call->funcid != PlaceholderFunction() || !IsA(linitial(call->args), Const)) return -1;
  return DatumGetInt32(linitial_node(Const, call->args)->constvalue);
}

}  // namespace privacy_score

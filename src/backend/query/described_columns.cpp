/*
 * described_columns.cpp - see described_columns.hpp.
 *
 * Candidates are relations, or indexes, which have statistics of their expressions. Each is tested against all that the
 * conditions say; nobody can hide a column by odd conditions, as what is not understood does not narrow.
 */
#include "backend/query/described_columns.hpp"

#include "backend/catalog/catalog_heirs.hpp"
#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_protection.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/query/described_relations.hpp"
#include "backend/query/query_build.hpp"
#include "backend/server/array_elements.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext_data.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

#include "backend/catalog/relation_access.hpp"

namespace privacy_score {

namespace ps = privacy_score;

namespace {

// What a column of the catalog, or of a view over it, names.
enum class Names { kNothing, kSchema, kTable, kColumn, kRelation, kNumber };

// One conjunct: the thing named is one of these values, as text.
struct Test {
  Names names;
  List* values;
};

// The columns of one range by attribute number - 1.
struct Mapping {
  int count;
  Names* names;
};

Mapping NewMapping(int count) {
  Mapping mapping = {count, static_cast<Names*>(palloc0(sizeof(Names) * static_cast<size_t>(Max(count, 1))))};
  return mapping;
}

Node* StripRelabel(Node* node) {
  while (node != nullptr && IsA(node, RelabelType)) node = reinterpret_cast<Node*>(castNode(RelabelType, node)->arg);
  return node;
}

// The server's own equality on names and numbers, under a collation in which equal is identical.
bool IsIdentity(Oid function, Oid collation) {
  switch (function) {
    case F_NAMEEQ:
    case F_NAMEEQTEXT:
    case F_TEXTEQNAME:
      return !OidIsValid(collation) || get_collation_isdeterministic(collation);
    case F_OIDEQ:
    case F_INT2EQ:
    case F_INT24EQ:
    case F_INT28EQ:
    case F_INT42EQ:
    case F_INT82EQ:
      return true;
    default:
      return false;
  }
}

// The text of a constant of a type that these functions compare; null when there is none.
const char* TextOfDatum(Datum value, Oid type) {
  switch (type) {
    case NAMEOID:
      return pstrdup(NameStr(*DatumGetName(value)));
    case TEXTOID:
    case VARCHAROID:
      return TextDatumGetCString(value);
    case OIDOID:
    case REGCLASSOID:
      return psprintf("%u", DatumGetObjectId(value));
    case INT2OID:
      return psprintf("%d", DatumGetInt16(value));
    case INT4OID:
      return psprintf("%u", static_cast<uint32>(DatumGetInt32(value)));
    case INT8OID:
      return psprintf(INT64_FORMAT, DatumGetInt64(value));
    default:
      return nullptr;
  }
}

const char* TextOfConstant(Node* node) {
  node = StripRelabel(node);
  if (node == nullptr || !IsA(node, Const)) return nullptr;
  const auto* constant = castNode(Const, node);
  return constant->constisnull ? nullptr : TextOfDatum(constant->constvalue, constant->consttype);
}

// The elements of an array of constants; NIL when one is not.
List* TextsOfArray(Node* node) {
  List* values = NIL;
  node = StripRelabel(node);
  if (node != nullptr && IsA(node, ArrayExpr)) {
    ListCell* cell;
    foreach (cell, castNode(ArrayExpr, node)->elements) {
      const char* value = TextOfConstant(static_cast<Node*>(lfirst(cell)));
      if (value == nullptr) return NIL;
      values = lappend(values, const_cast<char*>(value));
    }
    return values;
  }
  if (node == nullptr || !IsA(node, Const) || castNode(Const, node)->constisnull) return NIL;
  ArrayType* array = DatumGetArrayTypeP(castNode(Const, node)->constvalue);
  const ElementList elements = ElementsOf(array);
  for (int i = 0; i < elements.count; ++i) {
    const char* value = elements.nulls[i] ? nullptr : TextOfDatum(elements.values[i], ARR_ELEMTYPE(array));
    if (value == nullptr) return NIL;
    values = lappend(values, const_cast<char*>(value));
  }
  return values;
}

// What a column of the range names when `node` is one.
Names NamedBy(Node* node, int rtindex, const Mapping& mapping) {
  node = StripRelabel(node);
  if (node == nullptr || !IsA(node, Var)) return Names::kNothing;
  const auto* var = castNode(Var, node);
  if (static_cast<int>(var->varno) != rtindex || var->varlevelsup != 0 || var->varattno < 1 ||
      var->varattno > mapping.count)
    return Names::kNothing;
  return mapping.names[var->varattno - 1];
}

List* AddTest(List* tests, Names names, List* values) {
  if (names == Names::kNothing || values == NIL) return tests;
  auto* test = static_cast<Test*>(palloc(sizeof(Test)));
  *test = {names, values};
  return lappend(tests, test);
}

List* ValueList(Node* constant) {
  const char* value = TextOfConstant(constant);
  return value == nullptr ? NIL : list_make1(const_cast<char*>(value));
}

List* AddConjunct(List* tests, Node* node, int rtindex, const Mapping& mapping) {
  if (node == nullptr) return tests;
  check_stack_depth();
  ListCell* cell;
  switch (nodeTag(node)) {
    case T_List:
      foreach (cell, castNode(List, node))
        tests = AddConjunct(tests, static_cast<Node*>(lfirst(cell)), rtindex, mapping);
      return tests;
    case T_BoolExpr:
      if (castNode(BoolExpr, node)->boolop != AND_EXPR) return tests;
      return AddConjunct(tests, reinterpret_cast<Node*>(castNode(BoolExpr, node)->args), rtindex, mapping);
    case T_OpExpr: {
      const auto* op = castNode(OpExpr, node);
      if (list_length(op->args) != 2 || !IsIdentity(get_opcode(op->opno), op->inputcollid)) return tests;
      auto* left = static_cast<Node*>(linitial(op->args));
      auto* right = static_cast<Node*>(lsecond(op->args));
      tests = AddTest(tests, NamedBy(left, rtindex, mapping), ValueList(right));
      return AddTest(tests, NamedBy(right, rtindex, mapping), ValueList(left));
    }
    case T_ScalarArrayOpExpr: {
      const auto* op = castNode(ScalarArrayOpExpr, node);
      if (!op->useOr || !IsIdentity(get_opcode(op->opno), op->inputcollid)) return tests;
      return AddTest(tests, NamedBy(static_cast<Node*>(linitial(op->args)), rtindex, mapping),
                     TextsOfArray(static_cast<Node*>(lsecond(op->args))));
    }
    default:
      return tests;
  }
}

// The conditions that every row of a query meets: WHERE, and ON of inner joins.
List* AddConditionsOf(List* tests, Node* node, int rtindex, const Mapping& mapping) {
  if (node == nullptr) return tests;
  check_stack_depth();
  if (IsA(node, FromExpr)) {
    ListCell* cell;
    foreach (cell, castNode(FromExpr, node)->fromlist)
      tests = AddConditionsOf(tests, static_cast<Node*>(lfirst(cell)), rtindex, mapping);
    return AddConjunct(tests, castNode(FromExpr, node)->quals, rtindex, mapping);
  }
  if (!IsA(node, JoinExpr)) return tests;
  const auto* join = castNode(JoinExpr, node);
  tests = AddConditionsOf(tests, join->larg, rtindex, mapping);
  tests = AddConditionsOf(tests, join->rarg, rtindex, mapping);
  return join->jointype == JOIN_INNER ? AddConjunct(tests, join->quals, rtindex, mapping) : tests;
}

// True for a query whose rows go out one by one: what is said of them outside holds inside.
bool PassesRowsOn(const ::Query* query) {
  return query->commandType == CMD_SELECT && query->setOperations == nullptr && query->groupClause == NIL &&
         query->groupingSets == NIL && !query->hasAggs && !query->hasWindowFuncs && query->havingQual == nullptr &&
         query->distinctClause == NIL && query->limitCount == nullptr && query->limitOffset == nullptr &&
         !query->hasTargetSRFs;
}

// The view that a query in FROM stands for; InvalidOid when it is no view of the server's.
Oid SystemView(const QueryScope* scope) {
  if (scope->parent == nullptr || scope->place == 0) return InvalidOid;
  Oid view = rt_fetch(scope->place, scope->parent->query->rtable)->relid;
  if (!OidIsValid(view) && scope->query->rtable != NIL) {
    const auto* old = linitial_node(RangeTblEntry, scope->query->rtable);
    if (old->rtekind == RTE_RELATION && get_rel_relkind(old->relid) == RELKIND_VIEW) view = old->relid;
  }
  return OidIsValid(view) && view < FirstNormalObjectId && get_rel_namespace(view) == PG_CATALOG_NAMESPACE ? view
                                                                                                           : InvalidOid;
}

bool IsStatisticsView(Oid view) {
  const char* name = OidIsValid(view) ? get_rel_name(view) : nullptr;
  return name != nullptr && (strcmp(name, "pg_stats") == 0 || strcmp(name, "pg_stats_ext") == 0 ||
                             strcmp(name, "pg_stats_ext_exprs") == 0);
}

// What an output of a statistics view names.
Names NamedByOutput(const TargetEntry* target) {
  if (target->resname == nullptr) return Names::kNothing;
  if (strcmp(target->resname, "schemaname") == 0) return Names::kSchema;
  if (strcmp(target->resname, "tablename") == 0) return Names::kTable;
  if (strcmp(target->resname, "attname") == 0) return Names::kColumn;
  return Names::kNothing;
}

// What the outputs of a query name that passes on the range's columns.
Mapping MapOutputs(const ::Query* query, int rtindex, const Mapping& mapping, bool statistics_view) {
  Mapping outputs = NewMapping(list_length(query->targetList));
  ListCell* cell;
  foreach (cell, query->targetList) {
    const auto* target = lfirst_node(TargetEntry, cell);
    if (target->resjunk || target->resno > outputs.count) continue;
    outputs.names[target->resno - 1] = NamedBy(reinterpret_cast<Node*>(target->expr), rtindex, mapping);
    if (statistics_view) outputs.names[target->resno - 1] = NamedByOutput(target);
  }
  return outputs;
}

// All that the conditions around a range say of it.
List* CollectTests(const QueryScope* scope, int rtindex, Mapping mapping) {
  List* tests = NIL;
  for (;;) {
    tests = AddConditionsOf(tests, reinterpret_cast<Node*>(scope->query->jointree), rtindex, mapping);
    if (scope->parent == nullptr || scope->place == 0 || !PassesRowsOn(scope->query)) return tests;
    mapping = MapOutputs(scope->query, rtindex, mapping, IsStatisticsView(SystemView(scope)));
    rtindex = scope->place;
    scope = scope->parent;
  }
}

bool Passes(List* tests, Names names, const char* value) {
  ListCell* cell;
  foreach (cell, tests) {
    const auto* test = static_cast<Test*>(lfirst(cell));
    if (test->names != names) continue;
    bool found = false;
    ListCell* inner;
    foreach (inner, test->values) found = found || strcmp(static_cast<char*>(lfirst(inner)), value) == 0;
    if (!found) return false;
  }
  return true;
}

const Test* FindTest(List* tests, Names names) {
  ListCell* cell;
  foreach (cell, tests)
    if (static_cast<Test*>(lfirst(cell))->names == names) return static_cast<Test*>(lfirst(cell));
  return nullptr;
}

List* Candidates(List* tests) {
  if (const Test* test = FindTest(tests, Names::kRelation)) {
    List* relations = NIL;
    ListCell* cell;
    foreach (cell, test->values)
      relations = lappend_oid(relations, static_cast<Oid>(strtoul(static_cast<char*>(lfirst(cell)), nullptr, 10)));
    return DistinctRelations(relations);
  }
  if (const Test* test = FindTest(tests, Names::kTable)) return DistinctRelations(RelationsNamed(test->values));
  return AllCandidates();
}

// --- what is described -----------------------------------------------------------------------------------------------

bool ColumnPasses(Oid relid, AttrNumber number, List* tests) {
  const char* column = get_attname(relid, number, true);
  return column != nullptr && Passes(tests, Names::kColumn, column) &&
         Passes(tests, Names::kNumber, psprintf("%d", number));
}

bool AnyColumnPasses(Oid index, List* tests) {
  for (AttrNumber number = 1; number <= INDEX_MAX_KEYS; ++number)
    if (ColumnPasses(index, number, tests)) return true;
  return false;
}

// Adds the columns of one candidate that pass the tests. An index, and extended statistics, show all of the table's.
void AddCandidate(ps::Arena* arena, ps::ArenaList<ps::Origin>* list, Oid relid, List* tests, bool columns_known,
                  bool all) {
  const char* name = get_rel_name(relid);
  const char* schema = name == nullptr ? nullptr : get_namespace_name(get_rel_namespace(relid));
  if (schema == nullptr || !Passes(tests, Names::kTable, name) || !Passes(tests, Names::kSchema, schema) ||
      !Passes(tests, Names::kRelation, psprintf("%u", relid)))
    return;
  const char kind = get_rel_relkind(relid);
  const bool is_index = kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX;
  const Oid table = is_index ? IndexGetRelation(relid, true) : relid;
  const ResolvedRelation resolved = OidIsValid(table) ? ResolveRelation(table) : ResolvedRelation();
  if (resolved.self == nullptr || !(is_index ? ProtectedEntry(resolved.self) : ProtectedTree(resolved.self))) return;
  if (is_index && ((!all && !MaySelect(relid)) || (columns_known && !AnyColumnPasses(relid, tests)))) return;
  ps::Relation* relation = NewRelation(arena, resolved.root);
  // Statistics of a parent are made of the rows of all.
  if (!is_index) AddHeirs(arena, relation, resolved.self);
  const bool declared = DeclaredEntry(resolved.self);
  for (int i = 0; i < resolved.self->natts; ++i) {
    const auto number = static_cast<AttrNumber>(i + 1);
    if (resolved.self->live[i] < 0) continue;
    if (columns_known && !is_index && !ColumnPasses(table, number, tests)) continue;
    if (!is_index && !all && !MaySelect(table, number)) continue;
    AddDescribed(arena, list, relation, resolved.columns[i], declared);
  }
}

// True for the columns that only say what a row is about.
bool OnlyNames(std::string_view column) {
  return column == "starelid" || column == "staattnum" || column == "stainherit" || column == "stxoid" ||
         column == "stxdinherit";
}

void DescribeColumns(ps::Arena* arena, Oid catalog, ps::Relation* relation, List* tests, bool all) {
  ps::ArenaList<ps::Origin> described;
  ListCell* cell;
  foreach (cell, Candidates(tests))
    AddCandidate(arena, &described, lfirst_oid(cell), tests, catalog == StatisticRelationId, all);
  if (described.empty()) return;
  auto* lists = static_cast<ps::ArenaList<ps::Origin>*>(
      arena->Allocate(sizeof(described) * static_cast<size_t>(relation->columns.size)));
  int index = 0;
  for (const ps::Column* column : relation->columns)
    lists[index++] = OnlyNames(column->name) ? ps::ArenaList<ps::Origin>() : described;
  auto* origins = arena->New<ps::Origins>();
  origins->columns = lists;
  origins->describes = true;
  relation->origins = origins;
}

}  // namespace

bool DescribesColumns(Oid catalog) { return catalog == StatisticRelationId || catalog == StatisticExtDataRelationId; }

void DescribeRange(QueryScope* scope, int rtindex, ps::Relation* relation) {
  const Oid catalog = rt_fetch(rtindex, scope->query->rtable)->relid;
  Mapping mapping = NewMapping(relation->columns.size);
  if (catalog == StatisticRelationId) {
    mapping.names[Anum_pg_statistic_starelid - 1] = Names::kRelation;
    mapping.names[Anum_pg_statistic_staattnum - 1] = Names::kNumber;
  }
  // What a stored query will show depends on who runs it.
  const bool all = scope->definition != nullptr || !IsStatisticsView(SystemView(scope));
  DescribeColumns(scope->arena, catalog, relation, CollectTests(scope, rtindex, mapping), all);
}

void DescribeAll(ps::Arena* arena, Oid catalog, ps::Relation* relation, bool all) {
  DescribeColumns(arena, catalog, relation, NIL, all);
}

bool DescribesProtected(bool all) {
  ListCell* cell;
  foreach (cell, AllCandidates())
    if ((all || MaySelect(lfirst_oid(cell))) && ProtectedTree(FindRelation(lfirst_oid(cell)))) return true;
  return false;
}

}  // namespace privacy_score

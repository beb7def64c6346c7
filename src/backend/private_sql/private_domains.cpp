/*
 * private_domains.cpp - see private_domains.hpp.
 *
 * Where the column lies in a sub-select, the sub-select gets another target with the clamped value, and its own stays.
 */
#include "backend/private_sql/private_domains.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

#include "backend/dp/dp_columns.hpp"
#include "backend/private_sql/private_key_values.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/private_sql/private_values.hpp"
#include "backend/server/compat_query.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

namespace {

// --- declarations ----------------------------------------------------------------------------------------------------

// A declaration as it is stored.
struct DomainTexts {
  bool found;
  const char* low;
  const char* high;
  List* values;  // of char*
};

void TakeTexts(DomainTexts* texts, MemoryContext memory) {
  if (SPI_processed == 0) return;
  HeapTuple row = SPI_tuptable->vals[0];
  const TupleDesc columns = SPI_tuptable->tupdesc;
  const char* low = SPI_getvalue(row, columns, 1);
  const char* high = SPI_getvalue(row, columns, 2);
  bool is_null = false;
  const Datum array = SPI_getbinval(row, columns, 3, &is_null);
  Datum* elements = nullptr;
  bool* nulls = nullptr;
  int count = 0;
  if (!is_null)
    deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
  MemoryContext before = MemoryContextSwitchTo(memory);
  texts->found = true;
  texts->low = low == nullptr ? nullptr : pstrdup(low);
  texts->high = high == nullptr ? nullptr : pstrdup(high);
  for (int i = 0; i < count; ++i)
    if (!nulls[i]) texts->values = lappend(texts->values, TextDatumGetCString(elements[i]));
  MemoryContextSwitchTo(before);
}

DomainTexts ReadTexts(Oid relation, AttrNumber number) {
  DomainTexts texts = {false, nullptr, nullptr, NIL};
  Oid types[] = {OIDOID, INT2OID};
  Datum arguments[] = {ObjectIdGetDatum(relation), Int16GetDatum(number)};
  MemoryContext memory = CurrentMemoryContext;
  InternalScope scope;
  EnterInternal(&scope);
  if (SPI_execute_with_args("SELECT d.low, d.high, d.vals FROM privacy_score.domain_current d "
                            "WHERE d.relation = $1 AND d.number = $2 AND d.in_force",
                            2, types, arguments, nullptr, true, 1) != SPI_OK_SELECT)
    elog(ERROR, "could not read the domains of columns");
  TakeTexts(&texts, memory);
  LeaveInternal(&scope);
  return texts;
}

// An integer may have been declared for a wider type.
Datum ReadDeclared(Oid type, const char* text) {
  switch (type) {
    case INT2OID:
      return Int16GetDatum(static_cast<int16>(Max(Min(pg_strtoint64(text), INT16_MAX), INT16_MIN)));
    case INT4OID:
      return Int32GetDatum(static_cast<int32>(Max(Min(pg_strtoint64(text), INT32_MAX), INT32_MIN)));
    default:
      return ReadValue(type, text);
  }
}

Const* ConstOfText(Oid type, Oid collation, const char* text) {
  if (text == nullptr) return nullptr;
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  return makeConst(type, -1, collation, length, ReadDeclared(type, text), false, by_value);
}

// --- clamping --------------------------------------------------------------------------------------------------------

struct Clamping {
  const PrivateLevel* level;
  ::Query* query;
};

Node* Clamp(Node* node, void* context);

// text compares what varchar holds.
Node* AsOperand(Node* column) {
  const Oid type = getBaseType(exprType(column));
  const Oid operand = type == VARCHAROID ? Oid{TEXTOID} : type;
  if (exprType(column) == operand) return column;
  return reinterpret_cast<Node*>(
      makeRelabelType(reinterpret_cast<::Expr*>(column), operand, -1, exprCollation(column), COERCE_IMPLICIT_CAST));
}

Node* Compared(Oid operator_oid, Node* column, Const* value) {
  auto* comparison =
      castNode(OpExpr, make_opclause(operator_oid, BOOLOID, false, reinterpret_cast<::Expr*>(AsOperand(column)),
                                     reinterpret_cast<::Expr*>(value), InvalidOid, exprCollation(column)));
  set_opfuncid(comparison);
  return reinterpret_cast<Node*>(comparison);
}

Node* IsListed(Node* column, const ColumnDomain* domain) {
  auto* operand = AsOperand(column);
  const Oid type = exprType(operand);
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(type, &length, &by_value, &alignment);
  const int count = list_length(domain->values);
  auto* datums = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<Size>(count)));
  for (int i = 0; i < count; ++i) datums[i] = list_nth_node(Const, domain->values, i)->constvalue;
  ArrayType* array = construct_array(datums, count, type, length, by_value, alignment);
  auto* test = makeNode(ScalarArrayOpExpr);
  test->opno = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
  test->useOr = true;
  test->inputcollid = exprCollation(operand);
  test->args = list_make2(
      operand, makeConst(get_array_type(type), -1, exprCollation(operand), -1, PointerGetDatum(array), false, false));
  test->location = -1;
  set_sa_opfuncid(test);
  return reinterpret_cast<Node*>(test);
}

void AddBranch(CaseExpr* choice, Node* condition, Node* result) {
  auto* branch = makeNode(CaseWhen);
  branch->expr = reinterpret_cast<::Expr*>(condition);
  branch->result = reinterpret_cast<::Expr*>(result);
  branch->location = -1;
  choice->args = lappend(choice->args, branch);
}

// CASE WHEN column < low THEN low WHEN column > high THEN high ELSE column END, or CASE WHEN column = ANY (values) THEN
// column END. What is no number stays so.
Node* ClampedColumn(Node* column, const ColumnDomain* domain) {
  const Oid type = getBaseType(exprType(column));
  const TypeCacheEntry* entry = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR | TYPECACHE_EQ_OPR);
  auto* choice = makeNode(CaseExpr);
  choice->casetype = exprType(column);
  choice->casecollid = exprCollation(column);
  choice->location = -1;
  if (domain->values != NIL) {
    AddBranch(choice, IsListed(CopyNode(column), domain), CopyNode(column));
    choice->defresult = reinterpret_cast<::Expr*>(makeNullConst(exprType(column), -1, exprCollation(column)));
    return reinterpret_cast<Node*>(choice);
  }
  if (type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID)
    AddBranch(choice, Compared(entry->eq_opr, CopyNode(column), ConstOfText(type, InvalidOid, "NaN")),
              CopyNode(column));
  if (domain->low != nullptr)
    AddBranch(choice, Compared(entry->lt_opr, CopyNode(column), domain->low), CopyNode(domain->low));
  if (domain->high != nullptr)
    AddBranch(choice, Compared(entry->gt_opr, CopyNode(column), domain->high), CopyNode(domain->high));
  choice->defresult = reinterpret_cast<::Expr*>(CopyNode(column));
  return reinterpret_cast<Node*>(choice);
}

// The place of a target with that expression, which is added where there is none.
int TargetPlace(RangeTblEntry* rte, Node* expression) {
  List* targets = rte->subquery->targetList;
  for (int i = 0; i < list_length(targets); ++i)
    if (equal(list_nth_node(TargetEntry, targets, i)->expr, expression)) return i + 1;
  const int number = list_length(targets) + 1;
  rte->subquery->targetList =
      lappend(targets, makeTargetEntry(reinterpret_cast<::Expr*>(expression), static_cast<AttrNumber>(number),
                                       pstrdup("clamped"), false));
  while (list_length(rte->eref->colnames) < number)
    rte->eref->colnames = lappend(rte->eref->colnames, makeString(pstrdup("clamped")));
  return number;
}

Node* ClampedVar(const Clamping* clamping, Var* column) {
  if (column->varlevelsup != 0 || column->varattno <= 0) return reinterpret_cast<Node*>(column);
  RangeTblEntry* rte = rt_fetch(column->varno, clamping->query->rtable);
  if (!HoldsPersons(rte, clamping->level)) return reinterpret_cast<Node*>(column);
  if (rte->rtekind == RTE_RELATION) {
    const ColumnDomain* domain = DomainOf(rte->relid, column->varattno);
    return domain == nullptr ? reinterpret_cast<Node*>(column) : ClampedColumn(reinterpret_cast<Node*>(column), domain);
  }
  if (rte->subquery->setOperations != nullptr) return reinterpret_cast<Node*>(column);
  check_stack_depth();
  FlattenAliases(rte->subquery);
  Clamping within = {clamping->level, rte->subquery};
  auto* target =
      reinterpret_cast<Node*>(list_nth_node(TargetEntry, rte->subquery->targetList, column->varattno - 1)->expr);
  Node* clamped = Clamp(CopyNode(target), &within);
  if (equal(clamped, target)) return reinterpret_cast<Node*>(column);
  auto* other = CopyTree(column);
  other->varattno = static_cast<AttrNumber>(TargetPlace(rte, clamped));
  return reinterpret_cast<Node*>(other);
}

// Conditions see values as they are.
Node* ClampedCase(CaseExpr* choice, void* context) {
  auto* copy = CopyTree(choice);
  ListCell* cell;
  foreach (cell, copy->args) {
    auto* branch = lfirst_node(CaseWhen, cell);
    branch->result = reinterpret_cast<::Expr*>(Clamp(reinterpret_cast<Node*>(branch->result), context));
  }
  copy->defresult = reinterpret_cast<::Expr*>(Clamp(reinterpret_cast<Node*>(copy->defresult), context));
  return reinterpret_cast<Node*>(copy);
}

Node* Clamp(Node* node, void* context) {
  if (node == nullptr || IsA(node, SubLink)) return node;
  if (IsA(node, Var)) return ClampedVar(static_cast<Clamping*>(context), castNode(Var, node));
  if (IsA(node, CaseExpr)) return ClampedCase(castNode(CaseExpr, node), context);
  return MutateChildren(node, Clamp, context);
}

}  // namespace

const ColumnDomain* DomainOf(Oid relation, AttrNumber number) {
  const DomainTexts texts = ReadTexts(relation, number);
  if (!texts.found) return nullptr;
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(relation, number, &type, &modifier, &collation);
  type = getBaseType(type);
  auto* domain = static_cast<ColumnDomain*>(palloc0(sizeof(ColumnDomain)));
  *domain = {number, ConstOfText(type, collation, texts.low), ConstOfText(type, collation, texts.high), NIL};
  const ListCell* cell;
  foreach (cell, texts.values)
    domain->values = lappend(domain->values, ConstOfText(type, collation, static_cast<const char*>(lfirst(cell))));
  return domain;
}

bool CanHaveBounds(Oid type) {
  switch (type) {
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
    case DATEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
      return true;
    default:
      return false;
  }
}

bool CanHaveList(Oid type) { return CanBeKey(type) && type != BOOLOID && !type_is_enum(type); }

const char* TextOfDomainValue(Oid type, Datum value) {
  switch (type) {
    case DATEOID:
    case TIMEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID: {
      auto* text = static_cast<char*>(palloc(MAXDATELEN + 1));
      return JsonEncodeDateTime(text, value, type, nullptr);
    }
    case FLOAT4OID:
    case FLOAT8OID: {
      const double number = type == FLOAT8OID ? DatumGetFloat8(value) : static_cast<double>(DatumGetFloat4(value));
      const char* text = psprintf(type == FLOAT8OID ? "%.15g" : "%.6g", number);
      const bool exact =
          type == FLOAT8OID ? strtod(text, nullptr) == number : strtof(text, nullptr) == static_cast<float>(number);
      return exact ? text : psprintf(type == FLOAT8OID ? "%.17g" : "%.9g", number);
    }
    default:
      return TextOfValue(type, value);
  }
}

void ClampToDomains(const PrivateLevel* level, ::Query* part) {
  Clamping clamping = {level, part};
  for (int i = level->person_count; i < list_length(part->targetList); ++i) {
    auto* target = list_nth_node(TargetEntry, part->targetList, i);
    // Sub-selects get further targets on the way, the part itself does not.
    target->expr = reinterpret_cast<::Expr*>(Clamp(reinterpret_cast<Node*>(target->expr), &clamping));
  }
}

}  // namespace privacy_score

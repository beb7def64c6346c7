/*
 * private_key_ranges.cpp - see private_key_ranges.hpp.
 */
#include "backend/private_sql/private_key_ranges.hpp"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/typcache.h"
}

#include <cmath>

#include "backend/private_sql/private_column_lists.hpp"
#include "backend/private_sql/private_domains.hpp"
#include "backend/private_sql/private_functions.hpp"
#include "backend/private_sql/private_keys.hpp"
#include "backend/private_sql/private_trees.hpp"

namespace privacy_score {

namespace {

// The bounds of an expression, both among its values where its type says which is next. `nullable`: NULL may be among
// the values.
struct Bounds {
  const Const* low;
  const Const* high;
  bool nullable;
};

// A constant as one of the type that it is compared with, which may be another integer or time; null where it is none.
const Const* AsBoundOf(Oid type, Const* bound) {
  if (bound->constisnull) return nullptr;
  if (bound->consttype == type) return bound;
  Node* value = coerce_to_target_type(nullptr, CopyNode(bound), bound->consttype, type, -1, COERCION_ASSIGNMENT,
                                      COERCE_IMPLICIT_CAST, -1);
  if (value == nullptr) return nullptr;
  value = FoldForKeys(GuardCalls(value, nullptr));
  return IsA(value, Const) && !castNode(Const, value)->constisnull ? castNode(Const, value) : nullptr;
}

// The value next to a strict bound: whole numbers, days and microseconds have one. Of other types, of one that was
// compared as another, and at the ends of a type it is the bound itself, at which there may be no value.
const Const* NextTo(Oid type, Const* bound, int step) {
  const Const* own = AsBoundOf(type, bound);
  if (own == nullptr || own != bound) return own;
  int64 value;
  int64 end;  // has no next one
  switch (type) {
    case INT2OID:
      value = DatumGetInt16(own->constvalue);
      end = step < 0 ? PG_INT16_MIN : PG_INT16_MAX;
      break;
    case INT4OID:
      value = DatumGetInt32(own->constvalue);
      end = step < 0 ? PG_INT32_MIN : PG_INT32_MAX;
      break;
    case DATEOID:
      value = DatumGetDateADT(own->constvalue);
      end = step < 0 ? DATEVAL_NOBEGIN : DATEVAL_NOEND;
      break;
    case INT8OID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
      value = DatumGetInt64(own->constvalue);
      end = step < 0 ? PG_INT64_MIN : PG_INT64_MAX;
      break;
    default:
      return own;
  }
  // No step leads to infinity or away from it.
  if (value == end || value + step == end || (type == DATEOID && DATE_NOT_FINITE(value)) ||
      ((type == TIMESTAMPOID || type == TIMESTAMPTZOID) && TIMESTAMP_NOT_FINITE(value)))
    return own;
  auto* next = CopyTree(own);
  value += step;
  next->constvalue = type == INT2OID   ? Int16GetDatum(static_cast<int16>(value))
                     : type == INT4OID ? Int32GetDatum(static_cast<int32>(value))
                     : type == DATEOID ? DateADTGetDatum(static_cast<DateADT>(value))
                                       : Int64GetDatum(value);
  return next;
}

void TakeBound(Node* condition, const Node* expression, Bounds* bounds) {
  if (!IsA(condition, OpExpr)) return;
  const auto* comparison = castNode(OpExpr, condition);
  if (list_length(comparison->args) != 2) return;
  auto* left = static_cast<Node*>(linitial(comparison->args));
  auto* right = static_cast<Node*>(lsecond(comparison->args));
  Oid operator_oid = comparison->opno;
  if (IsA(left, Const)) {
    std::swap(left, right);
    operator_oid = get_commutator(operator_oid);
  }
  const Oid type = exprType(expression);
  if (!IsA(right, Const) || !equal(left, expression) || !OidIsValid(operator_oid)) return;
  const TypeCacheEntry* entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
  const int strategy = get_op_opfamily_strategy(operator_oid, entry->btree_opf);
  auto* bound = castNode(Const, right);
  if (strategy == BTLessStrategyNumber) bounds->high = NextTo(type, bound, -1);
  if (strategy == BTGreaterStrategyNumber) bounds->low = NextTo(type, bound, 1);
  if (strategy == BTLessEqualStrategyNumber || strategy == BTEqualStrategyNumber) bounds->high = AsBoundOf(type, bound);
  if (strategy == BTGreaterEqualStrategyNumber || strategy == BTEqualStrategyNumber)
    bounds->low = AsBoundOf(type, bound);
}

// Those that WHERE sets, and where it does not the declared ones.
bool OwnBounds(const PrivateLevel* level, const ::Query* part, Node* expression, Bounds* bounds) {
  *bounds = {};
  const ListCell* cell;
  foreach (cell, make_ands_implicit(reinterpret_cast<::Expr*>(part->jointree->quals)))
    TakeBound(static_cast<Node*>(lfirst(cell)), expression, bounds);
  const bool both = bounds->low != nullptr && bounds->high != nullptr;
  bounds->nullable = bounds->low == nullptr && bounds->high == nullptr;
  if (!both && IsA(expression, Var)) {
    const ColumnDomain* domain = DomainOfColumn(level, part, castNode(Var, expression));
    if (domain != nullptr && bounds->low == nullptr) bounds->low = domain->low;
    if (domain != nullptr && bounds->high == nullptr) bounds->high = domain->high;
  }
  return bounds->low != nullptr && bounds->high != nullptr;
}

bool IsAmong(const char* name, const char* const* names, int count) {
  for (int i = 0; i < count; ++i)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

// The constant text that a function has as its first argument; null when it has none.
const char* FirstText(const List* arguments) {
  auto* first = arguments == NIL ? nullptr : static_cast<Node*>(linitial(arguments));
  if (first == nullptr || !IsA(first, Const) || castNode(Const, first)->constisnull ||
      castNode(Const, first)->consttype != TEXTOID)
    return nullptr;
  const char* found = TextDatumGetCString(castNode(Const, first)->constvalue);
  return asc_tolower(found, strlen(found));
}

bool IsPartOfDate(const char* name) { return strcmp(name, "extract") == 0 || strcmp(name, "date_part") == 0; }

// Whether a function of the server keeps or turns the order of its argument in that place, with constants in the
// others.
bool IsMonotone(Oid function, const List* arguments, int place) {
  static const char* const kOfOne[] = {"int2",  "int4",      "int8",        "float4", "float8", "numeric", "date",
                                       "floor", "timestamp", "timestamptz", "ceil",   "round",  "trunc",   "ceiling"};
  static const char* const kOfTwo[] = {"int2pl",
                                       "int4pl",
                                       "int8pl",
                                       "int24pl",
                                       "int42pl",
                                       "int28pl",
                                       "int82pl",
                                       "int48pl",
                                       "int84pl",
                                       "int2mi",
                                       "int4mi",
                                       "int8mi",
                                       "int24mi",
                                       "int42mi",
                                       "int28mi",
                                       "int82mi",
                                       "int48mi",
                                       "int84mi",
                                       "int2mul",
                                       "int4mul",
                                       "int8mul",
                                       "int24mul",
                                       "int42mul",
                                       "int28mul",
                                       "int82mul",
                                       "int48mul",
                                       "int84mul",
                                       "float8pl",
                                       "float8mi",
                                       "float8mul",
                                       "float4pl",
                                       "float4mi",
                                       "float4mul",
                                       "float48pl",
                                       "float84pl",
                                       "float48mi",
                                       "float84mi",
                                       "float48mul",
                                       "float84mul",
                                       "numeric_add",
                                       "numeric_sub",
                                       "numeric_mul",
                                       "date_pli",
                                       "date_mii",
                                       "date_pl_interval",
                                       "date_mi_interval",
                                       "timestamp_pl_interval",
                                       "timestamp_mi_interval",
                                       "timestamptz_pl_interval",
                                       "timestamptz_mi_interval"};
  static const char* const kByConstant[] = {
      "int2div",  "int4div",     "int8div",   "int24div",  "int42div",   "int28div",   "int82div", "int48div",
      "int84div", "numeric_div", "float4div", "float8div", "float48div", "float84div", "round",    "trunc"};
  static const char* const kParts[] = {"year", "isoyear", "decade", "century", "epoch"};
  const char* name = get_func_name(function);
  if (name == nullptr || get_func_namespace(function) != PG_CATALOG_NAMESPACE) return false;
  const int count = list_length(arguments);
  if (count == 1) return IsAmong(name, kOfOne, lengthof(kOfOne));
  if (count == 2 && IsAmong(name, kOfTwo, lengthof(kOfTwo))) return true;
  if (count == 2 && place == 0) return IsAmong(name, kByConstant, lengthof(kByConstant));
  const char* text = count >= 2 && place == 1 ? FirstText(arguments) : nullptr;
  if (text == nullptr) return false;
  return IsPartOfDate(name) ? IsAmong(text, kParts, lengthof(kParts))
                            : strcmp(name, "date_trunc") == 0 || strcmp(name, "timezone") == 0;
}

// The arguments of a call, and its function; NIL when it is none.
List* ArgumentsOf(Node* expression, Oid* function) {
  if (IsA(expression, FuncExpr)) {
    *function = castNode(FuncExpr, expression)->funcid;
    return castNode(FuncExpr, expression)->args;
  }
  if (!IsA(expression, OpExpr)) return NIL;
  *function = get_opcode(castNode(OpExpr, expression)->opno);
  return castNode(OpExpr, expression)->args;
}

// A call with a constant in the place of one argument, computed; null when that is no value.
const Const* ComputedWith(Node* call, int place, const Const* argument) {
  auto* copy = CopyNode(call);
  Oid function;
  lfirst(list_nth_cell(ArgumentsOf(copy, &function), place)) = CopyNode(argument);
  Node* value = FoldForKeys(GuardCalls(copy, nullptr));
  return IsA(value, Const) && !castNode(Const, value)->constisnull ? castNode(Const, value) : nullptr;
}

bool FindKeyBounds(const PrivateLevel* level, const ::Query* part, Node* expression, Bounds* bounds) {
  check_stack_depth();
  if (OwnBounds(level, part, expression, bounds)) return true;
  ::Query* within = nullptr;
  Node* target = TargetBehind(level, part, expression, &within);
  if (target != nullptr) return FindKeyBounds(level, within, target, bounds);
  Oid function = InvalidOid;
  List* arguments = ArgumentsOf(expression, &function);
  int place = -1;
  for (int i = 0; i < list_length(arguments); ++i) {
    if (IsA(list_nth(arguments, i), Const)) continue;
    if (place >= 0) return false;
    place = i;
  }
  if (place < 0 || !IsMonotone(function, arguments, place) ||
      !FindKeyBounds(level, part, static_cast<Node*>(list_nth(arguments, place)), bounds))
    return false;
  const Const* first = ComputedWith(expression, place, bounds->low);
  const Const* second = ComputedWith(expression, place, bounds->high);
  if (first == nullptr || second == nullptr) return false;
  const TypeCacheEntry* entry = lookup_type_cache(first->consttype, TYPECACHE_CMP_PROC);
  if (!OidIsValid(entry->cmp_proc)) return false;
  const bool turned =
      DatumGetInt32(OidFunctionCall2Coll(entry->cmp_proc, InvalidOid, first->constvalue, second->constvalue)) > 0;
  *bounds = {turned ? second : first, turned ? first : second, true};
  return true;
}

// Whether all values of an expression are whole numbers of its type, or dates.
bool IsWhole(Node* expression) {
  static const char* const kRounds[] = {"floor", "ceil", "ceiling", "round", "trunc"};
  static const char* const kParts[] = {"year", "isoyear", "decade", "century"};
  switch (exprType(expression)) {
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case DATEOID:
      return true;
    case NUMERICOID:
    case FLOAT8OID:
      break;
    default:
      return false;
  }
  if (!IsA(expression, FuncExpr)) return false;
  const auto* call = castNode(FuncExpr, expression);
  const char* name = get_func_name(call->funcid);
  if (name == nullptr || get_func_namespace(call->funcid) != PG_CATALOG_NAMESPACE) return false;
  if (list_length(call->args) == 1) return IsAmong(name, kRounds, lengthof(kRounds));
  const char* part = IsPartOfDate(name) ? FirstText(call->args) : nullptr;
  return part != nullptr && IsAmong(part, kParts, lengthof(kParts));
}

// A bound as a whole number, the nearest within; false when it is beyond 2^53.
bool WholeOf(const Const* bound, bool up, int64* whole) {
  double number;
  switch (bound->consttype) {
    case INT2OID:
      *whole = DatumGetInt16(bound->constvalue);
      return true;
    case INT4OID:
      *whole = DatumGetInt32(bound->constvalue);
      return true;
    case INT8OID:
      *whole = DatumGetInt64(bound->constvalue);
      return true;
    case DATEOID:
      *whole = DatumGetDateADT(bound->constvalue);
      return !DATE_NOT_FINITE(*whole);
    case NUMERICOID:
      number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, bound->constvalue));
      break;
    default:
      number = DatumGetFloat8(bound->constvalue);
      break;
  }
  if (!(std::fabs(number) < 9007199254740992.0)) return false;
  *whole = static_cast<int64>(up ? std::ceil(number) : std::floor(number));
  return true;
}

Datum DatumOfWhole(Oid type, int64 value) {
  switch (type) {
    case INT2OID:
      return Int16GetDatum(static_cast<int16>(value));
    case INT8OID:
      return Int64GetDatum(value);
    case NUMERICOID:
      return NumericGetDatum(int64_to_numeric(value));
    case FLOAT8OID:
      return Float8GetDatum(static_cast<double>(value));
    default:
      return Int32GetDatum(static_cast<int32>(value));
  }
}

struct PartOfDate {
  const char* name;
  int first, last;
};

constexpr PartOfDate kPartsOfDates[] = {{"month", 1, 12}, {"quarter", 1, 4}, {"dow", 0, 6},   {"isodow", 1, 7},
                                        {"hour", 0, 23},  {"day", 1, 31},    {"week", 1, 53}, {"minute", 0, 59}};

List* ValuesOfExtract(const FuncExpr* call) {
  const char* field = FirstText(call->args);
  List* values = NIL;
  for (const PartOfDate& part : kPartsOfDates) {
    if (field == nullptr || strcmp(field, part.name) != 0) continue;
    for (int value = part.first; value <= part.last; ++value)
      values = lappend(values, ConstOf(call->funcresulttype, DatumOfWhole(call->funcresulttype, value)));
    return WithNull(values, call->funcresulttype);
  }
  return NIL;
}

// date_trunc(unit, time) where the time has bounds.
List* ValuesOfTruncation(const PrivateLevel* level, const ::Query* part, const FuncExpr* call) {
  static constexpr const char* kSteps[][2] = {{"minute", "1 minute"}, {"hour", "1 hour"},   {"day", "1 day"},
                                              {"week", "1 week"},     {"month", "1 month"}, {"quarter", "3 months"},
                                              {"year", "1 year"}};
  const char* unit = FirstText(call->args);
  const Oid type = call->funcresulttype;
  Bounds bounds;
  if (unit == nullptr || list_length(call->args) != 2 || (type != TIMESTAMPOID && type != TIMESTAMPTZOID) ||
      !FindKeyBounds(level, part, static_cast<Node*>(lsecond(call->args)), &bounds))
    return NIL;
  for (const auto& step : kSteps) {
    if (strcmp(step[0], unit) != 0) continue;
    const char* name = type == TIMESTAMPOID ? "timestamp" : "timestamptz";
    // Not in FROM, where all times are stored before LIMIT, and those up to infinity have no end.
    const char* sql = psprintf(
        "SELECT pg_catalog.date_trunc('%s', pg_catalog.generate_series(pg_catalog.date_trunc('%s', "
        "$1::pg_catalog.%s), $2::pg_catalog.%s, '%s'::pg_catalog.interval)) LIMIT %d",
        unit, unit, name, name, step[1], kMostPublicGroups + 1);
    List* values = ValuesOfSql(sql, type, bounds.low, bounds.high);
    return values != NIL && bounds.nullable ? WithNull(values, type) : values;
  }
  return NIL;
}

// width_bucket(value, low, high, count): 0 to count + 1.
List* ValuesOfBuckets(const FuncExpr* call) {
  if (list_length(call->args) != 4 || !IsA(lfourth(call->args), Const)) return NIL;
  const auto* count = lfourth_node(Const, call->args);
  if (count->constisnull || count->consttype != INT4OID) return NIL;
  const int32 buckets = DatumGetInt32(count->constvalue);
  if (buckets < 1 || buckets > kMostPublicGroups - 3) return NIL;
  List* values = NIL;
  for (int32 value = 0; value <= buckets + 1; ++value) values = lappend(values, ConstOf(INT4OID, Int32GetDatum(value)));
  return WithNull(values, INT4OID);
}

}  // namespace

List* ValuesBetween(const PrivateLevel* level, const ::Query* part, Node* expression) {
  const Oid type = exprType(expression);
  Bounds bounds;
  int64 low;
  int64 high;
  if (!IsWhole(expression) || !FindKeyBounds(level, part, expression, &bounds) || !WholeOf(bounds.low, true, &low) ||
      !WholeOf(bounds.high, false, &high))
    return NIL;
  if (high < low || static_cast<uint64>(high) - static_cast<uint64>(low) >= kMostPublicGroups) return NIL;
  List* values = NIL;
  for (int64 value = low; value <= high; ++value) values = lappend(values, ConstOf(type, DatumOfWhole(type, value)));
  return bounds.nullable ? WithNull(values, type) : values;
}

List* ValuesOfCall(const PrivateLevel* level, const ::Query* part, FuncExpr* call) {
  const char* name = get_func_name(call->funcid);
  if (name == nullptr || get_func_namespace(call->funcid) != PG_CATALOG_NAMESPACE) return NIL;
  if (IsPartOfDate(name)) return ValuesOfExtract(call);
  if (strcmp(name, "date_trunc") == 0) return ValuesOfTruncation(level, part, call);
  if (strcmp(name, "width_bucket") == 0) return ValuesOfBuckets(call);
  return NIL;
}

Const* ConstOf(Oid type, Datum value) {
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  return makeConst(type, -1, get_typcollation(type), length, value, false, by_value);
}

List* WithNull(List* values, Oid type) { return lappend(values, makeNullConst(type, -1, get_typcollation(type))); }

}  // namespace privacy_score

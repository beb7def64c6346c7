/*
 * private_domain_functions.cpp - dp_domain(): declaring what values a column has, and taking that back.
 *
 * Bounds and values are given as whatever type they are written in, and read as the column's.
 */
#include "backend/private_sql/private_domains.hpp"

extern "C" {
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
}

#include <cmath>

#include "backend/catalog/catalog_protection.hpp"
#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/dp/dp_columns.hpp"
#include "backend/private_sql/private_keys.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_dp_domain);
PG_FUNCTION_INFO_V1(ps_dp_withdraw_domain);
}

namespace {

constexpr Size kLongestValue = 10000;  // bytes, as of keys

[[noreturn]] void RaiseBadDomain(const char* message, const char* hint) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", message), errhint("%s", hint)));
}

// The text of an argument of any type; null for NULL.
const char* TextOfArgument(FunctionCallInfo fcinfo, int argument) {
  if (PG_ARGISNULL(argument)) return nullptr;
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, argument);
  if (type == UNKNOWNOID) return pstrdup(DatumGetCString(PG_GETARG_DATUM(argument)));
  Oid output;
  bool varlena;
  getTypeOutputInfo(type, &output, &varlena);
  return OidOutputFunctionCall(output, PG_GETARG_DATUM(argument));
}

bool IsFiniteValue(Oid type, Datum value) {
  switch (type) {
    case FLOAT4OID:
      return std::isfinite(DatumGetFloat4(value));
    case FLOAT8OID:
      return std::isfinite(DatumGetFloat8(value));
    case NUMERICOID:
      return !numeric_is_nan(DatumGetNumeric(value)) && !numeric_is_inf(DatumGetNumeric(value));
    case DATEOID:
      return !DATE_NOT_FINITE(DatumGetDateADT(value));
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
      return !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value));
    default:
      return true;
  }
}

// A bound or a value as it is stored.
struct DomainValue {
  const char* text;  // null: none
  Datum value;
};

DomainValue ReadDomainValue(Oid type, const char* text) {
  if (strlen(text) > kLongestValue)
    RaiseBadDomain("a value of a domain is longer than 10000 bytes", "Rows with such a key are in no group.");
  const Datum value = ReadValue(type, text);
  if (!IsFiniteValue(type, value))
    RaiseBadDomain(psprintf("a value of a domain is %s, which is not finite", text),
                   "Leave a bound away where there is none.");
  return {TextOfDomainValue(type, value), value};
}

DomainValue DomainBoundArgument(FunctionCallInfo fcinfo, int argument, Oid type) {
  const char* text = TextOfArgument(fcinfo, argument);
  return text == nullptr ? DomainValue{nullptr, 0} : ReadDomainValue(type, text);
}

// The array of an argument: of any type, or a literal of one.
ArrayType* ArrayArgument(FunctionCallInfo fcinfo, int argument) {
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, argument);
  if (type == UNKNOWNOID)
    return DatumGetArrayTypeP(
        OidInputFunctionCall(F_ARRAY_IN, DatumGetCString(PG_GETARG_DATUM(argument)), TEXTOID, -1));
  if (!OidIsValid(get_element_type(type)))
    RaiseBadDomain("vals is not an array", "List all values of the column, such as vals => '{Bern,Graz}'.");
  return DatumGetArrayTypeP(PG_GETARG_DATUM(argument));
}

// All values as the literal of a text[].
const char* ListArgument(FunctionCallInfo fcinfo, int argument, Oid type) {
  ArrayType* array = ArrayArgument(fcinfo, argument);
  RequireNoNulls(array, "vals", "NULL is always among the values; leave it away.");
  int16 length;
  bool by_value;
  char alignment;
  const Oid element = ARR_ELEMTYPE(array);
  get_typlenbyvalalign(element, &length, &by_value, &alignment);
  Datum* elements;
  bool* nulls;
  int count;
  deconstruct_array(array, element, length, by_value, alignment, &elements, &nulls, &count);
  if (count == 0 || count > kMostPublicGroups)
    RaiseBadDomain(psprintf("vals has %d values, and must have between 1 and %d", count, kMostPublicGroups),
                   "List all values of the column, or give bounds.");
  Oid output;
  bool varlena;
  getTypeOutputInfo(element, &output, &varlena);
  StringInfoData list;
  initStringInfo(&list);
  appendStringInfoChar(&list, '{');
  for (int i = 0; i < count; ++i)
    AppendArrayElement(&list, ReadDomainValue(type, OidOutputFunctionCall(output, elements[i])).text);
  appendStringInfoChar(&list, '}');
  return list.data;
}

void RequireLowBelowHigh(Oid type, const DomainValue* low, const DomainValue* high) {
  if (low->text == nullptr || high->text == nullptr) return;
  const TypeCacheEntry* entry = lookup_type_cache(type, TYPECACHE_CMP_PROC);
  if (DatumGetInt32(OidFunctionCall2Coll(entry->cmp_proc, InvalidOid, low->value, high->value)) > 0)
    RaiseBadDomain(psprintf("low must not be above high: %s, %s", low->text, high->text), "Exchange them.");
}

void RequireListable(const char* name, const BoundColumn* column) {
  if (!CanHaveList(column->type))
    RaiseBadDomain(
        psprintf("column \"%s\" of type %s cannot have a list of values", name, format_type_be(column->type)),
        "Groups by a boolean or an enum are public without it; those by types without a plain text are not "
        "made.");
  if (OidIsValid(column->collation) && !get_collation_isdeterministic(column->collation))
    RaiseBadDomain(psprintf("column \"%s\" has a nondeterministic collation", name),
                   "Groups by such a column are not made privately.");
}

struct DeclaredTexts {
  const char* low;
  const char* high;
  const char* values;
};

DeclaredTexts DeclaredArguments(FunctionCallInfo fcinfo, const char* name, const BoundColumn* column) {
  if (PG_ARGISNULL(2) && PG_ARGISNULL(3) && PG_ARGISNULL(4))
    RaiseBadDomain("a domain needs low, high or vals", "Take one back with privacy_score.dp_withdraw_domain().");
  if (!PG_ARGISNULL(4)) {
    if (!PG_ARGISNULL(2) || !PG_ARGISNULL(3))
      RaiseBadDomain("a domain has bounds or vals, not both", "Leave values beyond the bounds out of vals.");
    RequireListable(name, column);
    return {nullptr, nullptr, ListArgument(fcinfo, 4, column->type)};
  }
  if (!CanHaveBounds(column->type))
    RaiseBadDomain(psprintf("column \"%s\" of type %s cannot have bounds", name, format_type_be(column->type)),
                   "Numbers, dates and times can; list all values of others as vals.");
  const DomainValue low = DomainBoundArgument(fcinfo, 2, column->type);
  const DomainValue high = DomainBoundArgument(fcinfo, 3, column->type);
  RequireLowBelowHigh(column->type, &low, &high);
  return {low.text, high.text, nullptr};
}

}  // namespace

// dp_domain(relation, attribute, low, high, vals)
Datum ps_dp_domain(PG_FUNCTION_ARGS) {
  RequirePrimary("dp_domain");
  RequireArgument(fcinfo, 0, "relation");
  RequireArgument(fcinfo, 1, "attribute");
  const Oid relation = PG_GETARG_OID(0);
  const char* name = NameStr(*PG_GETARG_NAME(1));
  RequireOwner(relation);
  const AttrNumber number = RequireColumn(relation, name);
  if (!ReadDeclaration(relation, CanonicalRelationName(relation)).declared)
    RaiseBadDomain(psprintf("relation \"%s\" is not protected", get_rel_name(relation)),
                   "Groups by public relations are public without it; declare one that has rows of persons with "
                   "privacy_score.protect().");
  const BoundColumn column = BindColumn(relation, name);
  const DeclaredTexts texts = DeclaredArguments(fcinfo, name, &column);
  const char* args[] = {TextOfOid(relation),
                        name,
                        TextOfInteger(number),
                        texts.low,
                        texts.high,
                        texts.values,
                        GetUserNameFromId(GetUserId(), false)};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(
      "INSERT INTO privacy_score.column_domain AS d (relation, attribute, number, origin, type, low, high, vals, "
      "declared_by) SELECT a.attrelid, a.attname, a.attnum, privacy_score.database_identity(), "
      "n.nspname || '.' || t.typname, $4, $5, $6::text[], $7 FROM pg_catalog.pg_attribute a "
      "JOIN pg_catalog.pg_type t ON t.oid = a.atttypid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace "
      "WHERE a.attrelid = $1::pg_catalog.oid AND a.attname = $2::pg_catalog.name AND a.attnum = $3::pg_catalog.int2 "
      "ON CONFLICT (relation, attribute) DO UPDATE SET number = EXCLUDED.number, origin = EXCLUDED.origin, "
      "type = EXCLUDED.type, low = EXCLUDED.low, high = EXCLUDED.high, vals = EXCLUDED.vals, "
      "declared_by = EXCLUDED.declared_by, declared_at = EXCLUDED.declared_at",
      7, args);
  LeaveInternal(&scope);
  PG_RETURN_VOID();
}

// dp_withdraw_domain(relation, attribute)
Datum ps_dp_withdraw_domain(PG_FUNCTION_ARGS) {
  RequirePrimary("dp_withdraw_domain");
  const Oid relation = PG_GETARG_OID(0);
  const char* name = NameStr(*PG_GETARG_NAME(1));
  RequireOwner(relation);
  (void)RequireColumn(relation, name);
  const char* args[] = {TextOfOid(relation), name};
  InternalScope scope;
  EnterInternal(&scope);
  const uint64 removed = RunInternal(
      "DELETE FROM privacy_score.column_domain WHERE relation = $1::pg_catalog.oid AND attribute = $2::pg_catalog.name",
      2, args);
  LeaveInternal(&scope);
  if (removed == 0)
    RaiseBadDomain(psprintf("column \"%s\" of relation \"%s\" has no domain", name, get_rel_name(relation)),
                   "privacy_score.dp_domains lists the domains.");
  PG_RETURN_VOID();
}

}  // namespace privacy_score

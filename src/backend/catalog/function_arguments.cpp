/*
 * function_arguments.cpp - see function_arguments.hpp.
 */
#include "backend/catalog/function_arguments.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/typcache.h"
}

#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_lock.hpp"

void RaiseNullArgument(const char* parameter) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must not be NULL", parameter),
                  errhint("No default stands in for NULL.")));
}

void RequireArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
  if (PG_ARGISNULL(argument)) RaiseNullArgument(name);
}

Oid RelationArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
  RequireArgument(fcinfo, argument, name);
  const Oid relation = PG_GETARG_OID(argument);
  RequireRows(relation);
  // Only who may read it may hold up others with a lock.
  if (MaySelect(relation)) LockForReading(relation);
  // It may have gone before it was locked.
  RequireRows(relation);
  return relation;
}

AttrNumber ColumnArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation) {
  RequireArgument(fcinfo, argument, name);
  return RequireColumn(relation, NameStr(*PG_GETARG_NAME(argument)));
}

void RequireNoNulls(ArrayType* array, const char* name, const char* hint) {
  if (array_contains_nulls(array))
    ereport(ERROR,
            (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not contain NULL", name), errhint("%s", hint)));
}

ElementList ElementsArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
  RequireArgument(fcinfo, argument, name);
  ArrayType* array = PG_GETARG_ARRAYTYPE_P(argument);
  if (ARR_NDIM(array) > 1)
    ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("%s must have one dimension", name),
                    errhint("Write ARRAY['a', 'b'] or '{a,b}'.")));
  RequireNoNulls(array, name, "Leave out what is not known.");
  return ElementsOf(array);
}

ColumnList ColumnsArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation, const char* why) {
  const ElementList names = ElementsArgument(fcinfo, argument, name);
  if (names.count == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must name at least one column", name),
                    errhint("%s", why)));
  ColumnList columns = {0, static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * static_cast<Size>(names.count)))};
  for (int i = 0; i < names.count; ++i) {
    const char* column = NameStr(*DatumGetName(names.values[i]));
    const AttrNumber number = RequireColumn(relation, column);
    if (HasColumn(&columns, number))
      ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN), errmsg("%s names column \"%s\" more than once", name, column),
                      errhint("Name each column once.")));
    columns.numbers[columns.count++] = number;
  }
  return columns;
}

bool HasColumn(const ColumnList* columns, AttrNumber number) {
  for (int i = 0; i < columns->count; ++i)
    if (columns->numbers[i] == number) return true;
  return false;
}

Bitmapset* ColumnSetArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation) {
  const ElementList names = ElementsArgument(fcinfo, argument, name);
  Bitmapset* set = nullptr;
  for (int i = 0; i < names.count; ++i)
    set = bms_add_member(set, RequireColumn(relation, NameStr(*DatumGetName(names.values[i]))));
  return set;
}

const char* LiteralOfArray(Datum array) { return OidOutputFunctionCall(F_ARRAY_OUT, array); }

const char* NumericArgument(FunctionCallInfo fcinfo, int argument) {
  if (PG_ARGISNULL(argument)) return nullptr;
  return DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(argument)));
}

const char* DecimalArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
  RequireArgument(fcinfo, argument, name);
  return numeric_normalize(PG_GETARG_NUMERIC(argument));
}

Datum NumericOf(const char* text) {
  return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

void RequireDays(DateADT from_day, DateADT to_day) {
  if (from_day > to_day)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("from_day must not be after to_day"),
                    errhint("Both days are included.")));
}

void RequireOrder(Oid type, const char* column) {
  if (OidIsValid(lookup_type_cache(type, TYPECACHE_CMP_PROC)->cmp_proc)) return;
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                  errmsg("column \"%s\" is of type %s, whose values have no order", column, format_type_be(type)),
                  errhint("Leave it out, or read a view that casts it to a type that has one, such as text.")));
}

bool IsIntegerType(Oid type) { return type == INT2OID || type == INT4OID || type == INT8OID; }

bool IsNumberType(Oid type) {
  return IsIntegerType(type) || type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID;
}

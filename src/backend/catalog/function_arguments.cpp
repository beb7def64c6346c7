/*
 * function_arguments.cpp - see function_arguments.hpp.
 */
#include "backend/catalog/function_arguments.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"
}

namespace privacy_score {

void RaiseNullArgument(const char* parameter) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must not be NULL", parameter),
                  errhint("No default stands in for NULL.")));
}

void RequireArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
  if (PG_ARGISNULL(argument)) RaiseNullArgument(name);
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

}  // namespace privacy_score

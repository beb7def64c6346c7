/*
 * function_arguments.hpp - arguments of SQL functions: what is there, arrays, numbers, days.
 *
 * All functions say the same of an argument that is missing or wrong, with the same SQLSTATE and hint.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
#include "utils/date.h"
}

#include "backend/server/array_elements.hpp"

namespace privacy_score {

// Raises 22023.
[[noreturn]] void RaiseNullArgument(const char* parameter);

// Raises 22023 when the argument is NULL.
void RequireArgument(FunctionCallInfo fcinfo, int argument, const char* name);

// Raises 22004 when the array has a NULL.
void RequireNoNulls(ArrayType* array, const char* name, const char* hint);

// Elements of an array of one dimension at most. Raises 22023 for NULL, 22004 for NULL in it, 2202E.
ElementList ElementsArgument(FunctionCallInfo fcinfo, int argument, const char* name);

// The literal of an array argument.
const char* LiteralOfArray(Datum array);

// A number that a caller gave as numeric, as text, with the zeros at its end; null for NULL.
const char* NumericArgument(FunctionCallInfo fcinfo, int argument);

// The argument as the decimal that it prints, without zeros at its end; raises 22023 for NULL.
const char* DecimalArgument(FunctionCallInfo fcinfo, int argument, const char* name);

// The numeric of a text.
Datum NumericOf(const char* text);

// Raises 22023 when from_day is after to_day.
void RequireDays(DateADT from_day, DateADT to_day);

}  // namespace privacy_score

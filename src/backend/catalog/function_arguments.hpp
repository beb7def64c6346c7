/*
 * function_arguments.hpp - arguments of SQL functions: what is there, relations, columns, arrays, numbers.
 *
 * All functions say the same of an argument that is missing or wrong, with the same SQLSTATE and hint.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "fmgr.h"
#include "nodes/bitmapset.h"
#include "utils/date.h"
}

#include "backend/server/array_elements.hpp"

// Raises 22023.
[[noreturn]] void RaiseNullArgument(const char* parameter);

// Raises 22023 when the argument is NULL.
void RequireArgument(FunctionCallInfo fcinfo, int argument, const char* name);

// The relation of an argument, locked as by a SELECT for who may read it: its columns stay what they are. Raises 22023
// for NULL, 42P01, and 42809 when it has no rows.
Oid RelationArgument(FunctionCallInfo fcinfo, int argument, const char* name);

// The column that an argument names; raises 22023 for NULL and 42703.
AttrNumber ColumnArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation);

// Raises 22004 when the array has a NULL.
void RequireNoNulls(ArrayType* array, const char* name, const char* hint);

// Elements of an array of one dimension at most. Raises 22023 for NULL, 22004 for NULL in it, 2202E.
ElementList ElementsArgument(FunctionCallInfo fcinfo, int argument, const char* name);

// Numbers of the columns that an array names, in its order.
struct ColumnList {
  int count;
  AttrNumber* numbers;
};

// Raises 22023 for NULL and, with `why` as the hint, for no columns, 22004 for NULL in it, 42703, 42701 for one named
// twice.
ColumnList ColumnsArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation, const char* why);
bool HasColumn(const ColumnList* columns, AttrNumber number);

// The columns that an array names, as a set, which may be empty. Raises 22023 for NULL, 22004 for NULL in it, 42703.
Bitmapset* ColumnSetArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation);

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

// Raises 42883 unless the values of a type have an order; `column` is for the message.
void RequireOrder(Oid type, const char* column);

// Integers, numeric and floating point; domains are to be looked through before.
bool IsIntegerType(Oid type);
bool IsNumberType(Oid type);

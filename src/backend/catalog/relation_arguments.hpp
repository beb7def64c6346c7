/*
 * relation_arguments.hpp - arguments of SQL functions that name a relation or columns of one.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "fmgr.h"
#include "nodes/bitmapset.h"
}

namespace privacy_score {

// The relation of an argument, locked as by a SELECT for who may read it: its columns stay what they are. Raises 22023
// for NULL, 42P01, and 42809 when it has no rows.
Oid RelationArgument(FunctionCallInfo fcinfo, int argument, const char* name);

// The column that an argument names; raises 22023 for NULL and 42703.
AttrNumber ColumnArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation);

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

}  // namespace privacy_score

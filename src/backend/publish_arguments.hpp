/*
 * publish_arguments.hpp - arguments that the functions for releases share: columns, thresholds, names of tables.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/jsonb.h"
}

#include <vector>

#include "core/rational.hpp"
#include "noise_arguments.hpp"
#include "value_list.hpp"

// The relation of an argument; raises 22023 for NULL, 42P01, and 42809 when it has no rows.
Oid RelationArgument(FunctionCallInfo fcinfo, int argument, const char* name);

// Numbers of the columns that an array names, in its order.
struct ColumnList {
  int count;
  AttrNumber* numbers;
};

// Raises 22023 for NULL and for no columns, 22004 for NULL in it, 42703, 42701 for one named twice.
ColumnList ColumnsArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation);

// Raises 42883 unless the values of a type have an order; `column` is for the message.
void RequireOrder(Oid type, const char* column);

// Raises 42501 unless the current user may read a column.
void RequireSelect(Oid relation, AttrNumber column);
bool HasColumn(const ColumnList* columns, AttrNumber number);

// Elements of a one-dimensional array of a fixed-size type without NULLs; 22004, 2202E.
struct NumberList {
  int count;
  Datum* values;
};
NumberList NumbersArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid type);

// A rational that a caller gave as numeric, as text; null for NULL.
const char* NumericArgument(FunctionCallInfo fcinfo, int argument);

// One key of the thresholds, and its threshold, as text.
struct ListedThreshold {
  const char* key;
  const char* threshold;
  int64 number;  // of the value that it names, -1 when no record has it
};

// Which thresholds a caller asks for: by value, by frequency, or 1/l for all.
struct ThresholdRequest {
  enum Kind { kNone, kListed, kByFrequency, kDiversity } kind;
  int listed_count;
  ListedThreshold* listed;
  const char* theta;
  const char* floor;
  int l;
};

// Reads the arguments thresholds, theta, floor and l from `first` on. Raises 22023 unless exactly one of thresholds,
// theta and l is given (none only with `optional`), and for what is not of their form.
ThresholdRequest ThresholdArguments(FunctionCallInfo fcinfo, int first, bool optional);

// Finds the values that the keys of a request name among the first `count` of a list; warns of keys that name none. The
// key "null" names NULL and the text null.
void FindListedValues(ThresholdRequest* request, ValueList* values, int64 count);

// The thresholds of values with these counts, for use within CallCore. Throws Error 22023.
std::vector<privacy_score::Rational> ThresholdsOf(const ThresholdRequest& request,
                                                  const std::vector<std::int64_t>& counts);

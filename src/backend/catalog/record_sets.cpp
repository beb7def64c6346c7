/*
 * record_sets.cpp - see record_sets.hpp.
 */
#include "backend/catalog/record_sets.hpp"

extern "C" {
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/server/array_of_arrays.hpp"

namespace privacy_score {

namespace {

[[noreturn]] void RefuseShape(const char* name) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be an array of sets of records", name),
                  errhint("Each set lists the numbers of its records, as in [[1,2],[2,3]].")));
  pg_unreachable();
}

// The number of a record; what no record can have becomes 0.
int RecordNumber(const char* name, Numeric number) {
  char* text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(number)));
  int64 value = 0;
  for (const char* c = *text == '-' ? text + 1 : text; *c != '\0'; ++c) {
    if (*c < '0' || *c > '9')
      ereport(ERROR,
              (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must list whole numbers, not %s", name, text),
               errhint("Records are numbered from 1.")));
    if (value <= PG_INT32_MAX) value = value * 10 + (*c - '0');
  }
  if (*text == '-' || value > PG_INT32_MAX) value = 0;
  pfree(text);
  return static_cast<int>(value);
}

template <typename T>
void AppendNumber(T** items, int64* room, int64 count, T item) {
  if (count == *room) {
    *room *= 2;
    *items = static_cast<T*>(repalloc_huge(*items, sizeof(T) * static_cast<Size>(*room)));
  }
  (*items)[count] = item;
}

}  // namespace

RecordSetList RecordSetsArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
  RequireArgument(fcinfo, argument, name);
  Jsonb* sets = PG_GETARG_JSONB_P(argument);
  int64 start_room = 64, record_room = 1024, records = 0;
  RecordSetList list = {0, static_cast<int64*>(palloc(sizeof(int64) * start_room)),
                        static_cast<int*>(palloc(sizeof(int) * record_room))};
  list.starts[0] = 0;
  WalkArrays(
      sets, jbvNumeric,
      [&](const JsonbValue& value) {
        AppendNumber(&list.records, &record_room, records, RecordNumber(name, value.val.numeric));
        ++records;
      },
      [&] { AppendNumber(&list.starts, &start_room, ++list.sets, records); }, [&] { RefuseShape(name); });
  return list;
}

privacy_score::RecordSets SetsOf(const RecordSetList& list) {
  privacy_score::RecordSets sets;
  sets.starts.assign(list.starts, list.starts + list.sets + 1);
  sets.records.assign(list.records, list.records + list.starts[list.sets]);
  return sets;
}

}  // namespace privacy_score

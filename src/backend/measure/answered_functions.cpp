/*
 * answered_functions.cpp - SQL functions for what answered queries tell of single records.
 */
extern "C" {
#include "postgres.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
}

#include <optional>

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/measure_arguments.hpp"
#include "backend/catalog/record_sets.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/solver_module.hpp"
#include "backend/server/wire.hpp"
#include "core/inference/further_queries.hpp"
#include "core/inference/record_bounds.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_query_bounds);
PG_FUNCTION_INFO_V1(ps_disclosed_records);
PG_FUNCTION_INFO_V1(ps_further_queries);
}

namespace ps = privacy_score;

namespace {

// Memory for one search.
struct SearchWork {
  std::optional<ps::FurtherQueries> search;
};

// What a bound that is no decimal has more than the answers, before it is rounded outwards.
constexpr int kMorePlaces = 16;
constexpr int kRowsBetweenInterrupts = 4096;

// Memory for one call.
struct BoundsWork {
  std::optional<ps::RecordBounds> bounds;
};

// A limit of all records as text; null when it is open, which an infinity on that side says too.
const char* LimitArgument(FunctionCallInfo fcinfo, int argument, const char* infinity) {
  const char* text = NumericArgument(fcinfo, argument);
  return text == nullptr || strcmp(text, infinity) == 0 ? nullptr : text;
}

std::optional<ps::Decimal> ValueLimit(const char* name, const char* text) {
  if (text == nullptr) return std::nullopt;
  return ps::ParseDecimal(name, text);
}

// Computes the bounds of the arguments queries, answers, low, high and records.
const ps::RecordBounds& FindBounds(FunctionCallInfo fcinfo) {
  const RecordSetList queries = RecordSetsArgument(fcinfo, 0, "queries");
  const DecimalTexts answers = DecimalsArgument(fcinfo, 1, "answers");
  const char* low = LimitArgument(fcinfo, 2, "-Infinity");
  const char* high = LimitArgument(fcinfo, 3, "Infinity");
  RequireArgument(fcinfo, 4, "records");
  const int32 records = PG_GETARG_INT32(4);
  const PsLinearSolver& solver = LinearSolver();
  auto* work = NewCoreObject<BoundsWork>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    work->bounds.emplace(solver, ps::SumsOf(SetsOf(queries), DecimalsOf(answers, "answers"), ValueLimit("low", low),
                                            ValueLimit("high", high), records));
  });
  RunPausing([&](auto interrupted) { return work->bounds->Run(ControlOf(interrupted)); });
  return *work->bounds;
}

// Room for 36 digits before the point and as many, and more, behind it.
using BoundText = char[128];

// A side of a bound, of steps of 10^-decimals, as numeric's text. For use within CallCore.
void WriteBound(BoundText& text, const std::optional<ps::Rational>& side, int decimals, bool upper) {
  if (!side) {
    strlcpy(text, upper ? "Infinity" : "-Infinity", sizeof text);
    return;
  }
  const ps::Rational value = *side / ps::Rational(ps::PowerOfTen(decimals), 1);
  strlcpy(text, ps::DecimalTextOf(value, decimals + kMorePlaces, upper).c_str(), sizeof text);
}

// Puts one row: record, lower, upper and, where there is such a column, whether the answers alone determine it.
void PutRecordBounds(FunctionCallInfo fcinfo, MemoryContext row_context, const ps::RecordBounds& bounds, int record) {
  BoundText lower, upper;
  bool determined = false;
  CallCoreOrRaise([&] {
    const ps::RecordBound bound = bounds.Of(record);
    WriteBound(lower, bound.lower, bounds.sums().decimals, false);
    WriteBound(upper, bound.upper, bounds.sums().decimals, true);
    determined = bounds.Determined(record);
  });
  MemoryContext caller = MemoryContextSwitchTo(row_context);
  Datum values[4] = {Int32GetDatum(record), NumericOf(lower), NumericOf(upper), BoolGetDatum(determined)};
  bool nulls[4] = {};
  PutResultRow(fcinfo, values, nulls);
  MemoryContextSwitchTo(caller);
  MemoryContextReset(row_context);
  if (record % kRowsBetweenInterrupts == 0) CHECK_FOR_INTERRUPTS();
}

MemoryContext RowContext() {
  return AllocSetContextCreate(CurrentMemoryContext, "privacy_score bounds of a record", ALLOCSET_SMALL_SIZES);
}

}  // namespace

// query_bounds(queries, answers, low, high, records, asked)
Datum ps_query_bounds(PG_FUNCTION_ARGS) {
  ElementList asked = {};
  const bool all = PG_ARGISNULL(5);
  if (!all) asked = ElementsArgument(fcinfo, 5, "asked");
  InitMaterializedSRF(fcinfo, 0);
  const ps::RecordBounds& bounds = FindBounds(fcinfo);
  const int records = bounds.sums().records;
  for (int i = 0; i < asked.count; ++i) {
    const int record = DatumGetInt32(asked.values[i]);
    if (record < 1 || record > records)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("asked has the record %d", record),
                      errhint("Records are numbered from 1 to %d.", records)));
  }
  MemoryContext row_context = RowContext();
  const int rows = all ? records : asked.count;
  for (int i = 0; i < rows; ++i)
    PutRecordBounds(fcinfo, row_context, bounds, all ? i + 1 : DatumGetInt32(asked.values[i]));
  return Datum(0);
}

// disclosed_records(queries, answers, low, high, records, width)
Datum ps_disclosed_records(PG_FUNCTION_ARGS) {
  RequireArgument(fcinfo, 5, "width");
  const char* width_text = NumericArgument(fcinfo, 5);
  InitMaterializedSRF(fcinfo, 0);
  CallCoreOrRaise([&] {
    if (ps::ParseDecimal("width", width_text).digits < 0)
      throw ps::InvalidValue("width must be at least 0, not " + std::string(width_text),
                             "With 0 only records that are known exactly are shown.");
  });
  const ps::RecordBounds& bounds = FindBounds(fcinfo);
  MemoryContext row_context = RowContext();
  for (int record = 1; record <= bounds.sums().records; ++record) {
    bool disclosed = false;
    CallCoreOrRaise([&] {
      const ps::RecordBound bound = bounds.Of(record);
      if (!bound.lower || !bound.upper) return;
      const ps::Rational grid(ps::PowerOfTen(bounds.sums().decimals), 1);
      disclosed = *bound.upper - *bound.lower <= ps::ParseRational("width", width_text) * grid;
    });
    if (disclosed) PutRecordBounds(fcinfo, row_context, bounds, record);
    if (record % kRowsBetweenInterrupts == 0) CHECK_FOR_INTERRUPTS();
  }
  return Datum(0);
}

// further_queries(queries, allowed, records)
Datum ps_further_queries(PG_FUNCTION_ARGS) {
  const RecordSetList answered = RecordSetsArgument(fcinfo, 0, "queries");
  const RecordSetList allowed = RecordSetsArgument(fcinfo, 1, "allowed");
  RequireArgument(fcinfo, 2, "records");
  const int32 records = PG_GETARG_INT32(2);
  InitMaterializedSRF(fcinfo, 0);
  auto* work = NewCoreObject<SearchWork>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    ps::CheckRecordCount(records);
    const ps::RecordSets sets = SetsOf(answered), further = SetsOf(allowed);
    ps::CheckRecordSets("queries", sets, records);
    ps::CheckRecordSets("allowed", further, records);
    work->search.emplace(sets, further, records);
  });
  RunPausing([&](auto interrupted) { return work->search->Run(ControlOf(interrupted)); });
  if (work->search->record() == 0) return Datum(0);
  Datum values[3] = {Int32GetDatum(work->search->record())};
  bool nulls[3] = {false, true, true};
  const std::vector<std::size_t>& queries = work->search->queries();
  if (queries.empty()) PutResultRow(fcinfo, values, nulls);
  nulls[1] = nulls[2] = false;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const int64 start = allowed.starts[queries[i]];
    const int count = static_cast<int>(allowed.starts[queries[i] + 1] - start);
    auto* members = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<Size>(count)));
    for (int k = 0; k < count; ++k) members[k] = Int32GetDatum(allowed.records[start + k]);
    values[1] = Int32GetDatum(static_cast<int32>(queries[i]) + 1);
    values[2] = PointerGetDatum(construct_array(members, count, INT4OID, sizeof(int32), true, TYPALIGN_INT));
    PutResultRow(fcinfo, values, nulls);
  }
  return Datum(0);
}

}  // namespace privacy_score

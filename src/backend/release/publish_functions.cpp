/*
 * publish_functions.cpp - bucket settings by SQL: found, judged and compared, without publishing anything.
 */
extern "C" {
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
}

#include <algorithm>
#include <string>

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/release/bucket_methods.hpp"
#include "backend/release/release_report.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/progress.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_bucket_setting);
PG_FUNCTION_INFO_V1(ps_bucket_setting_valid);
PG_FUNCTION_INFO_V1(ps_mse);
PG_FUNCTION_INFO_V1(ps_suggest_thresholds);
}

namespace {

// Counts and thresholds of the first two arguments, as the work of one call below the current memory context.
BucketWork* ProblemArguments(FunctionCallInfo fcinfo) {
  const ElementList counts = ElementsArgument(fcinfo, 0, "counts");
  const ElementList thresholds = ElementsArgument(fcinfo, 1, "thresholds");
  const auto room = static_cast<Size>(thresholds.count);
  auto** texts = static_cast<char**>(palloc(sizeof(char*) * (room + 1)));
  for (Size i = 0; i < room; ++i) texts[i] = TextDatumGetCString(thresholds.values[i]);
  auto* work = NewCoreObject<BucketWork>();
  CallCoreOrRaise([&] {
    for (int i = 0; i < counts.count; ++i) work->counts.push_back(DatumGetInt64(counts.values[i]));
    for (Size i = 0; i < room; ++i) {
      const std::string name = "threshold " + std::to_string(i + 1);
      work->thresholds.push_back(privacy_score::ParseRational(name, texts[i]));
      privacy_score::CheckThreshold(name, work->thresholds.back());
    }
    if (work->counts.size() != work->thresholds.size())
      throw privacy_score::InvalidValue("there must be one threshold for each of the " +
                                            std::to_string(work->counts.size()) + " counts, not " +
                                            std::to_string(work->thresholds.size()),
                                        "Write thresholds as text: '{0.29,1/3}'.");
  });
  return work;
}

// The setting that two arguments list.
privacy_score::BucketSetting ListedSetting(const ElementList& sizes, const ElementList& buckets) {
  std::vector<std::int64_t> listed_sizes, listed_buckets;
  for (int i = 0; i < sizes.count; ++i) listed_sizes.push_back(DatumGetInt32(sizes.values[i]));
  for (int i = 0; i < buckets.count; ++i) listed_buckets.push_back(DatumGetInt64(buckets.values[i]));
  return privacy_score::MakeSetting(listed_sizes, listed_buckets);
}

// Called within RunCancellable.
bool SettingValid(const BucketWork* work, const privacy_score::BucketSetting& setting) {
  if (privacy_score::Records(setting) != privacy_score::TotalRows(work->counts)) return false;
  std::vector<int> sizes;
  for (const auto& part : setting) sizes.push_back(part.size);
  return privacy_score::PlanOf({work->counts, work->thresholds, sizes, StatementEnds}, setting).has_value();
}

// How often each value of a column occurs, in no order; SPI must be connected.
void CountColumnValues(Oid relation, AttrNumber column, BucketWork* work) {
  const char* name = QuotedColumn(relation, column);
  const char* sql = psprintf("SELECT pg_catalog.count(*) FROM %s GROUP BY %s", QuotedRelation(relation), name);
  if (SPI_execute(sql, true, 0) != SPI_OK_SELECT) elog(ERROR, "could not count the values of a column");
  for (uint64 row = 0; row < SPI_processed; ++row) {
    const int64 count = FieldNumber(row, 0);
    CallCoreOrRaise([&] { work->counts.push_back(count); });
  }
  SPI_freetuptable(SPI_tuptable);
}

// What [Wang, remark 3.8] asks of l-diversity: 1/l at most the least threshold; and whether any value is too frequent.
void NeededDiversity(const BucketWork* work, int64* l, bool* possible) {
  CallCoreOrRaise([&] {
    *l = 1;
    *possible = true;
    if (work->counts.empty()) return;
    *l = privacy_score::SmallestBucket({*std::min_element(work->thresholds.begin(), work->thresholds.end())});
    const privacy_score::Integer most = *std::max_element(work->counts.begin(), work->counts.end());
    *possible = most * *l <= privacy_score::TotalRows(work->counts);
  });
}

}  // namespace

// bucket_setting(counts, thresholds, method, min_bucket, max_bucket)
Datum ps_bucket_setting(PG_FUNCTION_ARGS) {
  BucketWork* work = ProblemArguments(fcinfo);
  RequireArgument(fcinfo, 2, "method");
  PlanRequest request = {};
  request.method = MethodOfName(text_to_cstring(PG_GETARG_TEXT_PP(2)));
  SizesArguments(fcinfo, 3, 4, &request);
  InitMaterializedSRF(fcinfo, 0);
  MakePlan(work, request);
  if (work->undecided) RaiseUndecided();
  if (!work->plan) return Datum(0);
  double gap = 0;
  const bool known = GapOf(work, &gap);
  for (std::size_t i = 0; i < work->plan->setting.size(); ++i) {
    const privacy_score::SizeBuckets part = work->plan->setting[i];
    Datum values[4] = {Int32GetDatum(part.size), Int64GetDatum(part.buckets),
                       NumericGetDatum(int64_to_numeric(part.buckets * privacy_score::BucketLoss(part.size))),
                       Float8GetDatum(gap)};
    bool nulls[4] = {false, false, false, !known};
    PutResultRow(fcinfo, values, nulls);
  }
  return Datum(0);
}

// bucket_setting_valid(counts, thresholds, sizes, buckets)
Datum ps_bucket_setting_valid(PG_FUNCTION_ARGS) {
  BucketWork* work = ProblemArguments(fcinfo);
  const ElementList sizes = ElementsArgument(fcinfo, 2, "sizes");
  const ElementList buckets = ElementsArgument(fcinfo, 3, "buckets");
  bool valid = false;
  RunCancellable([&] { valid = SettingValid(work, ListedSetting(sizes, buckets)); });
  PG_RETURN_BOOL(valid);
}

// mse(sizes, buckets)
Datum ps_mse(PG_FUNCTION_ARGS) {
  const ElementList sizes = ElementsArgument(fcinfo, 0, "sizes");
  const ElementList buckets = ElementsArgument(fcinfo, 1, "buckets");
  return NumericOfRational([&] { return privacy_score::MeanSquaredError(ListedSetting(sizes, buckets)); });
}

// suggest_thresholds(relation, sensitive, thetas, floor, max_bucket)
Datum ps_suggest_thresholds(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  const AttrNumber column = ColumnArgument(fcinfo, 1, "sensitive", relation);
  RequireSelect(relation, column);
  const ElementList thetas = ElementsArgument(fcinfo, 2, "thetas");
  RequireArgument(fcinfo, 3, "floor");
  const char* floor = NumericArgument(fcinfo, 3);
  PlanRequest request = {};
  request.method = BucketMethod::kOptimal;
  RequireArgument(fcinfo, 4, "max_bucket");
  request.max_bucket = PG_GETARG_INT32(4);
  InitMaterializedSRF(fcinfo, 0);
  auto* work = NewCoreObject<BucketWork>();
  BeginProgress("suggest_thresholds", relation, "counting values");
  ConnectSpi();
  CountColumnValues(relation, column, work);
  SPI_finish();
  SetProgressPhase("comparing thresholds");
  for (int i = 0; i < thetas.count; ++i) {
    SetProgress(static_cast<uint64>(i), static_cast<uint64>(thetas.count));
    const char* theta = DatumGetCString(DirectFunctionCall1(numeric_out, thetas.values[i]));
    CallCoreOrRaise([&] {
      work->thresholds = privacy_score::FrequencyThresholds(work->counts, privacy_score::ParseRational("theta", theta),
                                                            privacy_score::ParseRational("floor", floor));
    });
    MakePlan(work, request);
    int64 l;
    bool possible;
    NeededDiversity(work, &l, &possible);
    const bool feasible = work->plan.has_value();
    Datum values[8] = {thetas.values[i],      BoolGetDatum(feasible), 0, 0, 0, 0, Int32GetDatum(static_cast<int32>(l)),
                       BoolGetDatum(possible)};
    bool nulls[8] = {};
    const bool sized = feasible && !work->plan->setting.empty();
    nulls[1] = work->undecided;
    nulls[2] = nulls[3] = !sized;
    nulls[4] = nulls[5] = !feasible;
    if (sized) {
      values[2] = Int32GetDatum(work->plan->setting.front().size);
      values[3] = Int32GetDatum(work->plan->setting.back().size);
    }
    if (feasible) {
      values[4] = NumericGetDatum(int64_to_numeric(work->plan->loss));
      values[5] = MeanSquaredErrorOf(work);
    }
    PutResultRow(fcinfo, values, nulls);
  }
  EndProgress();
  return Datum(0);
}

}  // namespace privacy_score

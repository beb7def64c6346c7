/*
 * bucket_methods.cpp - see bucket_methods.hpp.
 */
#include "backend/release/bucket_methods.hpp"

extern "C" {
#include "fmgr.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
}

#include <algorithm>

#include "backend/catalog/function_arguments.hpp"
#include "backend/server/settings.hpp"

namespace privacy_score {

BucketMethod MethodOfName(const char* name) {
  if (strcmp(name, "optimal") == 0) return BucketMethod::kOptimal;
  if (strcmp(name, "two-size") == 0) return BucketMethod::kTwoSize;
  if (strcmp(name, "multi-size") == 0) return BucketMethod::kMultiSize;
  if (strcmp(name, "anatomy") == 0) return BucketMethod::kAnatomy;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown method \"%s\"", name),
                  errhint("Methods are optimal, multi-size, two-size and anatomy.")));
}

void SizesArguments(FunctionCallInfo fcinfo, int min_argument, int max_argument, PlanRequest* request) {
  RequireArgument(fcinfo, max_argument, "max_bucket");
  request->max_bucket = PG_GETARG_INT32(max_argument);
  request->min_bucket = PG_ARGISNULL(min_argument) ? 0 : PG_GETARG_INT32(min_argument);
  if (!PG_ARGISNULL(min_argument) && request->min_bucket < 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("min_bucket must be at least 1, not %d", request->min_bucket),
                    errhint("NULL stands for the least size that can hold a value.")));
}

namespace {

// Anatomy's l for thresholds of any kind: the least that keeps them all.
std::int64_t DiversityOf(const std::vector<privacy_score::Rational>& thresholds) {
  const privacy_score::Rational least = *std::min_element(thresholds.begin(), thresholds.end());
  return privacy_score::SmallestBucket({least});
}

// Called within RunCancellable. Leaves the search for the optimum to SearchPlan().
void PlanInCore(BucketWork* work, const PlanRequest& request) {
  work->search.reset();
  work->plan.reset();
  work->broken.clear();
  work->undecided = false;
  if (request.method == BucketMethod::kAnatomy) {
    const std::int64_t l = work->counts.empty() ? 1 : DiversityOf(work->thresholds);
    work->plan = privacy_score::AnatomyPlan(work->counts, l);
    if (!work->plan)
      work->broken = privacy_score::BrokenThresholds(work->counts,
                                                     std::vector<privacy_score::Rational>(work->counts.size(), {1, l}),
                                                     1, request.max_bucket, StatementEnds);
    return;
  }
  work->problem = std::make_unique<privacy_score::BucketProblem>(privacy_score::BucketProblem::WithSizes(
      work->counts, work->thresholds, request.min_bucket, request.max_bucket, StatementEnds));
  if (request.method == BucketMethod::kOptimal) {
    work->search = std::make_unique<privacy_score::OptimalBuckets>(*work->problem);
    return;
  }
  work->plan = request.method == BucketMethod::kTwoSize ? privacy_score::TwoSizePlan(*work->problem)
                                                        : privacy_score::MultiSizePlan(*work->problem);
}

// Searches for the optimum until it is known or the time is over, which begins when the methods that need no search
// have made their plan.
void SearchPlan(BucketWork* work) {
  instr_time started;
  INSTR_TIME_SET_ZERO(started);
  privacy_score::SearchOutcome outcome = privacy_score::SearchOutcome::kRunning;
  const auto expired = [&started] {
    instr_time now;
    INSTR_TIME_SET_CURRENT(now);
    if (INSTR_TIME_IS_ZERO(started)) started = now;
    INSTR_TIME_SUBTRACT(now, started);
    return INSTR_TIME_GET_MILLISEC(now) >= ps_settings.bucket_search_time;
  };
  RunPausing([&](auto interrupted) {
    const bool finished = privacy_score::Finishes([&] {
      if (!work->search) work->search = std::make_unique<privacy_score::OptimalBuckets>(*work->problem);
      outcome = work->search->Run({interrupted, expired});
    });
    if (!finished) work->search.reset();
    return finished && outcome != privacy_score::SearchOutcome::kRunning;
  });
  CallCoreOrRaise([&] {
    work->plan = work->search->plan();
    work->search.reset();
  });
  work->undecided = outcome == privacy_score::SearchOutcome::kUnknown;
}

}  // namespace

void MakePlan(BucketWork* work, const PlanRequest& request) {
  RunCancellable([&] { PlanInCore(work, request); });
  if (work->search) SearchPlan(work);
  if (work->plan || request.method == BucketMethod::kAnatomy) return;
  RunCancellable([&] {
    work->broken = privacy_score::BrokenThresholds(work->counts, work->thresholds, std::max(1, request.min_bucket),
                                                   request.max_bucket, StatementEnds);
  });
}

void RaiseUndecided() {
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("no buckets that keep all thresholds were found within %d ms", ps_settings.bucket_search_time),
                  errdetail("Whether there are any is not known."),
                  errhint("Raise privacy_score.bucket_search_time, max_bucket or some of the thresholds.")));
}

Datum QuotientOfTexts(const char* numerator, const char* denominator) {
  const Datum quotient = DirectFunctionCall2(numeric_div, NumericOf(numerator), NumericOf(denominator));
  return DirectFunctionCall1(numeric_trim_scale, quotient);
}

}  // namespace privacy_score

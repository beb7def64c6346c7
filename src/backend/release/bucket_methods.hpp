/*
 * bucket_methods.hpp - bucket plans by the name of the method; core's rationals as numeric.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
}

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/server/cancellable_call.hpp"
#include "backend/server/core_call.hpp"
#include "core/base/rational.hpp"
#include "core/buckets/bucket_plan.hpp"
#include "core/buckets/bucket_problem.hpp"
#include "core/buckets/bucket_thresholds.hpp"
#include "core/buckets/optimal_buckets.hpp"

namespace privacy_score {

enum class BucketMethod { kTwoSize, kMultiSize, kOptimal, kAnatomy };

// Raises 22023 for a name that is none.
BucketMethod MethodOfName(const char* name);

// What a plan is asked for.
struct PlanRequest {
  BucketMethod method;
  int min_bucket;  // 0: the least that can hold a value
  int max_bucket;
};

// Checks the sizes, which come as arguments of a function. min_bucket NULL is 0. Raises 22023.
void SizesArguments(FunctionCallInfo fcinfo, int min_argument, int max_argument, PlanRequest* request);

// What planning works with and gives, and what is told of it; lives in a CoreHolder.
struct BucketWork {
  std::vector<std::int64_t> counts;
  std::vector<privacy_score::Rational> thresholds;
  std::unique_ptr<privacy_score::BucketProblem> problem;
  std::unique_ptr<privacy_score::OptimalBuckets> search;  // refers to the problem
  std::optional<privacy_score::BucketPlan> plan;
  bool undecided = false;                              // no plan, but the time for the search was over
  std::vector<privacy_score::BrokenThreshold> broken;  // when there is no plan: values that have none by themselves
  std::vector<std::uint32_t> listed;                   // see release_report.cpp
  std::vector<double> thresholds_shown;
  std::string text;
};

// Makes the plan, or finds what is broken. The search for the optimum ends after privacy_score.bucket_search_time.
// Takes interrupts.
void MakePlan(BucketWork* work, const PlanRequest& request);

// Raises 54000 because the search ended without knowing whether there is a plan.
[[noreturn]] void RaiseUndecided();

// Numeric of a numerator and a denominator.
Datum QuotientOfTexts(const char* numerator, const char* denominator);

// The rational that `compute` returns, as numeric. `compute` runs within CallCore.
template <typename Compute>
Datum NumericOfRational(Compute compute) {
  constexpr Size kRoom = 4096;  // thousands of digits: losses and rows have some dozens
  char numerator[kRoom], denominator[kRoom];
  CallCoreOrRaise([&] {
    const privacy_score::Rational value = compute();
    strlcpy(numerator, value.numerator().str().c_str(), kRoom);
    strlcpy(denominator, value.denominator().str().c_str(), kRoom);
  });
  return QuotientOfTexts(numerator, denominator);
}

}  // namespace privacy_score

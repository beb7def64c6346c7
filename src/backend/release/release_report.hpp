/*
 * release_report.hpp - what callers are told of plans and releases: sizes, likelihoods, and why there is no plan.
 */
#pragma once

#include "backend/release/bucket_methods.hpp"
#include "backend/rows/value_list.hpp"
#include "core/buckets/release_check.hpp"

namespace privacy_score {

// Raises 22023 because there is no plan: names the values whose thresholds cannot hold, their shares, and the least
// thresholds that would do. 54000 when the time for the search was over.
[[noreturn]] void RaiseNoPlan(const BucketWork* work, const ValueList* values, int64 rows, const PlanRequest& request);

// {"6": 6, "14": 1}: buckets by size, palloc'd.
char* SizesJson(BucketWork* work);

// {"flu": {"probability": 0.25, "threshold": 0.5}, ...}: for each value the greatest share of a bucket that it has
// anywhere, palloc'd. Of more than kMaxListedValues those that come nearest to their thresholds.
constexpr int64 kMaxListedValues = 100000;
char* ProbabilitiesJson(BucketWork* work, const privacy_score::ReleaseFacts& facts, const ValueList* values);

// Mean squared error of a plan as numeric.
Datum MeanSquaredErrorOf(const BucketWork* work);

// How far a plan is from the optimum; false when nothing is proved.
bool GapOf(const BucketWork* work, double* gap);

}  // namespace privacy_score

/*
 * bucket_setting.hpp - how many buckets of which size, what that costs, and the settings that need no search: one size
 * and the best two sizes.
 *
 * Loss is the sum over the buckets of (size - 1)^2, and the mean squared error is loss/(rows - 1) [Wang,
 * definition 3.9].
 */
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/rational.hpp"
#include "core/buckets/bucket_problem.hpp"

namespace privacy_score {

struct SizeBuckets {
  int size;
  std::int64_t buckets;

  friend bool operator==(const SizeBuckets& a, const SizeBuckets& b) {
    return a.size == b.size && a.buckets == b.buckets;
  }
};

// Ascending sizes, each with at least one bucket.
using BucketSetting = std::vector<SizeBuckets>;

// A setting from lists that a user wrote: sorted, equal sizes added up, sizes without buckets left out. Throws Error
// 22023 for lists of different length, sizes below 1 and negative numbers of buckets.
BucketSetting MakeSetting(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& buckets);

// Loss, records and mean squared error, exact whatever the sizes. The error of at most one record is 0.
Integer Loss(const BucketSetting& setting);
Integer Records(const BucketSetting& setting);
Rational MeanSquaredError(const BucketSetting& setting);

// Loss of a bucket; of a setting that a search made, whose loss 64 bits hold (bucket_thresholds.hpp).
constexpr std::int64_t BucketLoss(int size) { return static_cast<std::int64_t>(size - 1) * (size - 1); }
std::int64_t SearchLoss(const BucketSetting& setting);

// Whether all rows can go into `buckets` buckets of the size at `place` [Wang, lemma 4.13].
bool OneSizeValid(const BucketProblem& problem, std::size_t place, std::int64_t buckets);

// The best setting of at most two sizes of the problem; none when no such setting is valid. An empty table has the
// empty setting. In closed form: independent of the number of rows.
std::optional<BucketSetting> BestTwoSizes(const BucketProblem& problem);

}  // namespace privacy_score

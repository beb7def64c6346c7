/*
 * bucket_thresholds.hpp - thresholds of sensitive values: made, checked, and what can be had with them.
 *
 * A threshold f' is the greatest share of a bucket that a value may have, 0 < f' <= 1, as an exact rational: 0.29 of
 * 100 records are 29, and 1/3 of 3 is 1 [Wang, definition 3.4]. Counts are occurrences; a value that does not occur has
 * none of its own to keep.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/paused.hpp"
#include "core/base/rational.hpp"

namespace privacy_score {

// Sum of the counts. Throws Error 22023 for a negative count and 22003 when the sum exceeds kMaxBucketRows.
std::int64_t TotalRows(const std::vector<std::int64_t>& counts);
constexpr std::int64_t kMaxBucketRows = 4'000'000'000'000'000;  // times the greatest size of a search: 64 bits hold it

// Throws Error 22023 that names `parameter` unless 0 < threshold <= 1.
void CheckThreshold(std::string_view parameter, const Rational& threshold);

// min(1, theta f + floor) for each value of frequency f. Throws Error 22023 unless theta >= 0, 0 <= floor <= 1 and one
// of them is greater than zero, and for a value whose threshold would be zero (it does not occur and floor is zero).
std::vector<Rational> FrequencyThresholds(const std::vector<std::int64_t>& counts, const Rational& theta,
                                          const Rational& floor);

// 1/l, the threshold of l-diversity. Throws Error 22023 unless l >= 1.
Rational DiversityThreshold(std::int64_t l);

// The least size of a bucket that can hold any value at all: min ceil(1/f'). Throws Error 22023 when there are no
// thresholds, and 22003 when it exceeds 2^31 - 1.
int SmallestBucket(const std::vector<Rational>& thresholds);

// A value that no setting can satisfy, whatever the other values do.
struct BrokenThreshold {
  std::size_t value;         // its place in the counts
  Rational share;            // its frequency in the table
  Rational threshold;        // what was asked
  Rational least_threshold;  // the least that would do for it with these sizes; at least `share`
};

// The values whose thresholds cannot hold with buckets of min_size..max_size records, in the order of the counts:
// f_i <= f'_i is needed, and a size S with floor(f'_i S)/S >= f_i. With max_size >= the number of rows, f_i <= f'_i for
// all is enough for a solution, one bucket; with smaller ones the values together may still have none. Throws Paused
// when `gives_up` says so.
std::vector<BrokenThreshold> BrokenThresholds(const std::vector<std::int64_t>& counts,
                                              const std::vector<Rational>& thresholds, int min_size, int max_size,
                                              GivesUp gives_up = nullptr);

}  // namespace privacy_score

/*
 * hall_cuts.hpp - linear conditions on the numbers of buckets that any valid setting satisfies, and which together make
 * it valid.
 *
 * b buckets of each size hold all records iff for every set V of values
 *     sum over S of d_V(S) b_S <= O(V),   d_V(S) = max(0, S - sum over i not in V of floor(f'_i S)),
 * O(V) = sum of o_i over i in V: what the other values cannot fill must be filled by V (maximum flow = minimum cut; the
 * extension of [Wang, theorem 4.17] to any number of sizes). There are too many V to list; those that some b breaks are
 * found when they are needed.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/buckets/bucket_problem.hpp"

namespace privacy_score {

// sum of coefficients[k] * buckets[k] <= limit, by place of the size.
struct BucketCut {
  std::vector<std::int32_t> coefficients;
  std::int64_t limit = 0;

  friend bool operator==(const BucketCut& a, const BucketCut& b) {
    return a.limit == b.limit && a.coefficients == b.coefficients;
  }
};

class HallCuts {
 public:
  // `problem` must outlive the object.
  explicit HallCuts(const BucketProblem& problem) : problem_(problem) {}

  // The cut of V = {}: sizes that all values together cannot fill have no buckets.
  BucketCut UsableSizes() const;

  // Cuts that the numbers whole + rest break by more than `tolerance`, none if they break no cut at all: all values but
  // one, for the values that are farthest from fitting, or else a minimum cut. Numbers must not be negative but for
  // rounding.
  std::vector<BucketCut> Broken(const std::vector<std::int64_t>& whole, const std::vector<double>& rest,
                                double tolerance) const;

  // Finds a cut that this setting breaks; false when it is valid. The sizes times buckets add up to the rows.
  bool FirstBroken(const std::vector<std::int64_t>& buckets, BucketCut& cut) const;

 private:
  BucketCut CutOf(const std::vector<char>& group_inside) const;

  const BucketProblem& problem_;
};

// By how much whole + rest stay below the limit; negative when they break it. What is whole counts exactly.
double SlackOf(const BucketCut& cut, const std::vector<std::int64_t>& whole, const std::vector<double>& rest);

}  // namespace privacy_score

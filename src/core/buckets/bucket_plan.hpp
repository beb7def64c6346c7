/*
 * bucket_plan.hpp - a bucket setting together with which records go where.
 *
 * Records of a value are equals here: a plan says how many of them go into the buckets of each size, and round robin
 * deals those out. Because the records of a value are neighbours in that order, no bucket gets more of them than
 * ceil(records / buckets), which is at most floor(f' S) [Wang, section 4.1].
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/random_source.hpp"
#include "core/buckets/bucket_problem.hpp"
#include "core/buckets/bucket_setting.hpp"

namespace privacy_score {

struct BucketPlan {
  BucketSetting setting;
  std::vector<std::int64_t> records;  // value by place in the setting: records of the value in buckets of that size
  std::int64_t loss = 0;
  std::optional<std::int64_t> bound;  // no valid setting has less loss; none when nothing is proved

  std::int64_t Records(std::size_t value, std::size_t place) const { return records[value * setting.size() + place]; }
};

// (loss - bound)/bound, rounded up: how far the loss can be from the optimum. None without a bound, and when the bound
// is 0 but the loss is not, which says nothing.
std::optional<double> Gap(const BucketPlan& plan);

// Which records go where in a setting, by an exact flow. None when no assignment is valid.
std::optional<BucketPlan> PlanOf(const BucketProblem& problem, const BucketSetting& setting);

std::optional<BucketPlan> TwoSizePlan(const BucketProblem& problem);

// Splits by the best two sizes as long as that lowers the loss, and recurs on both parts [Wang, section 5.3].
std::optional<BucketPlan> MultiSizePlan(const BucketProblem& problem);

// Anatomy: floor(rows / l) buckets of l distinct values, left-over records one each to different buckets that lack the
// value. The plan's values are those of the counts. None when a value has more than 1/l of the rows. [Anatomy]
std::optional<BucketPlan> AnatomyPlan(const std::vector<std::int64_t>& counts, std::int64_t l);

// Plans and round robin treat values that are equals by their order, and whoever knows how a release is made can tell
// something of that order from the buckets. Values are numbered as they first occur in a table, so both have to go by a
// random order instead.
std::vector<std::size_t> RandomOrder(std::size_t values, RandomSource& random);

// A plan for the values order[0], order[1], ... as one for the values 0, 1, ...
BucketPlan WithoutOrder(BucketPlan plan, const std::vector<std::size_t>& order);

// Deals out the records of a plan: which bucket has the n-th record of a value. Buckets are numbered from 0, by the
// order of the sizes; a release must not show these numbers, which tell the sizes.
class RoundRobin {
 public:
  // `order` has each value of the plan once.
  RoundRobin(const BucketPlan& plan, const std::vector<std::size_t>& order);

  std::int64_t buckets() const { return buckets_; }
  std::int64_t records(std::size_t value) const { return sizes_.empty() ? 0 : ends_[(value + 1) * sizes_.size() - 1]; }
  // 0 <= record < records(value).
  std::int64_t BucketOf(std::size_t value, std::int64_t record) const;

 private:
  struct SizeRange {
    int size;
    std::int64_t first_bucket;
    std::int64_t buckets;
  };
  std::vector<SizeRange> sizes_;
  std::vector<std::int64_t> starts_;  // value by size: where its records begin in the round of that size
  std::vector<std::int64_t> ends_;    // value by size: records of the value in the sizes up to this one
  std::int64_t buckets_ = 0;
};

}  // namespace privacy_score

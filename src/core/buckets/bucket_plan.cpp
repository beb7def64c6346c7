/*
 * bucket_plan.cpp - plans from settings, the paper's methods and Anatomy, and dealing out (see bucket_plan.hpp).
 */
#include "core/buckets/bucket_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/buckets/bucket_flow.hpp"
#include "core/buckets/bucket_thresholds.hpp"

namespace privacy_score {

namespace {

// The common flow of the members of a group, dealt out like cards that go on from size to size: each member gets the
// floor or the ceiling of its share in every size, which the capacity allows, and its count in total.
void DealGroup(const ValueGroup& group, std::size_t group_number, const BucketFlow& flow,
               const std::vector<std::size_t>& places, BucketPlan& plan) {
  const auto members = static_cast<std::int64_t>(group.members.size());
  std::int64_t first = 0;  // who gets the next record
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::int64_t records = flow.Flow(group_number, places[k]);
    for (std::int64_t member = 0; member < members; ++member) {
      const std::int64_t turn = (member - first + members) % members;
      plan.records[group.members[static_cast<std::size_t>(member)] * places.size() + k] =
          records / members + (turn < records % members ? 1 : 0);
    }
    first = (first + records) % members;
  }
}

// What the splits of the recursion end with: by size, its buckets and the records of each value.
struct Leaf {
  std::int64_t buckets = 0;
  std::vector<std::int64_t> counts;
};
using Leaves = std::map<int, Leaf>;

void AddLeaf(Leaves& leaves, SizeBuckets part, const std::vector<std::int64_t>& counts) {
  Leaf& leaf = leaves[part.size];
  leaf.buckets += part.buckets;
  leaf.counts.resize(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) leaf.counts[i] += counts[i];
}

// Record partition of a valid setting of two sizes: the first gets all it can hold of each value, and values give up to
// what the second can hold until the first is full exactly [Wang, section 4.2]. Returns the counts of the first.
std::vector<std::int64_t> FirstPart(const BucketProblem& problem, SizeBuckets first, SizeBuckets second) {
  const std::size_t place1 = problem.PlaceOf(first.size);
  const std::size_t place2 = problem.PlaceOf(second.size);
  std::vector<std::int64_t> part(problem.values());
  std::int64_t surplus = -first.buckets * first.size;
  for (std::size_t i = 0; i < part.size(); ++i) {
    part[i] = std::min(problem.count(i), problem.Capacity(i, place1) * first.buckets);
    surplus += part[i];
  }
  for (std::size_t i = 0; i < part.size() && surplus > 0; ++i) {
    const std::int64_t least =
        std::max<std::int64_t>(0, problem.count(i) - problem.Capacity(i, place2) * second.buckets);
    const std::int64_t moved = std::min(surplus, part[i] - least);
    part[i] -= moved;
    surplus -= moved;
  }
  return part;
}

void SplitBySizes(const BucketProblem& problem, const BucketSetting& setting, Leaves& leaves);

// A part that fits buckets of one size: split further when two sizes are better.
void SplitPart(const BucketProblem& problem, SizeBuckets one_size, const std::vector<std::int64_t>& counts,
               Leaves& leaves) {
  const BucketProblem part = problem.WithCounts(counts);
  const std::optional<BucketSetting> better = BestTwoSizes(part);
  if (better && SearchLoss(*better) < BucketLoss(one_size.size) * one_size.buckets) {
    SplitBySizes(part, *better, leaves);
  } else {
    AddLeaf(leaves, one_size, counts);
  }
}

void SplitBySizes(const BucketProblem& problem, const BucketSetting& setting, Leaves& leaves) {
  std::vector<std::int64_t> counts(problem.values());
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = problem.count(i);
  if (setting.size() == 1) {
    AddLeaf(leaves, setting[0], counts);
    return;
  }
  const std::vector<std::int64_t> first = FirstPart(problem, setting[0], setting[1]);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] -= first[i];
  SplitPart(problem, setting[0], first, leaves);
  SplitPart(problem, setting[1], counts, leaves);
}

}  // namespace

std::optional<double> Gap(const BucketPlan& plan) {
  if (!plan.bound) return std::nullopt;
  if (plan.loss <= *plan.bound) return 0.0;
  if (*plan.bound <= 0) return std::nullopt;
  // Three correct roundings of less than one unit in the last place each.
  const double gap = static_cast<double>(plan.loss - *plan.bound) / static_cast<double>(*plan.bound);
  return gap * (1 + 4 * std::numeric_limits<double>::epsilon());
}

std::optional<BucketPlan> PlanOf(const BucketProblem& problem, const BucketSetting& setting) {
  std::vector<std::int64_t> buckets(problem.sizes().size());
  std::vector<std::size_t> places;
  for (const SizeBuckets& part : setting) {
    const std::size_t place = problem.PlaceOf(part.size);
    if (place == buckets.size())
      throw InvalidValue("buckets of " + std::to_string(part.size) + " records are not among the sizes");
    buckets[place] = part.buckets;
    places.push_back(place);
  }
  if (Records(setting) != problem.rows()) return std::nullopt;
  BucketFlow flow(problem, buckets, 1);
  if (!flow.Solve()) return std::nullopt;
  BucketPlan plan;
  plan.setting = setting;
  plan.records.resize(problem.values() * setting.size());
  plan.loss = SearchLoss(setting);
  problem.Work(plan.records.size());
  for (std::size_t g = 0; g < problem.groups().size(); ++g) DealGroup(problem.groups()[g], g, flow, places, plan);
  return plan;
}

std::optional<BucketPlan> TwoSizePlan(const BucketProblem& problem) {
  const std::optional<BucketSetting> setting = BestTwoSizes(problem);
  return setting ? PlanOf(problem, *setting) : std::nullopt;
}

std::optional<BucketPlan> MultiSizePlan(const BucketProblem& problem) {
  const std::optional<BucketSetting> setting = BestTwoSizes(problem);
  if (!setting) return std::nullopt;
  Leaves leaves;
  if (!setting->empty()) SplitBySizes(problem, *setting, leaves);
  BucketPlan plan;
  plan.records.resize(problem.values() * leaves.size());
  std::size_t place = 0;
  for (const auto& [size, leaf] : leaves) {
    plan.setting.push_back({size, leaf.buckets});
    for (std::size_t i = 0; i < problem.values(); ++i) plan.records[i * leaves.size() + place] = leaf.counts[i];
    ++place;
  }
  plan.loss = SearchLoss(plan.setting);
  return plan;
}

// Round robin over the buckets makes them differ by at most one record and puts no value into one twice. With fewer
// than l buckets a bucket may get more than one left-over record.
std::optional<BucketPlan> AnatomyPlan(const std::vector<std::int64_t>& counts, std::int64_t l) {
  if (l < 1) throw InvalidValue("l must be at least 1, not " + std::to_string(l), "A value may be 1/l of a bucket.");
  const std::int64_t rows = TotalRows(counts);
  const std::int64_t buckets = rows / l;
  if (rows == 0) return BucketPlan{{}, {}, 0, std::nullopt};
  if (*std::max_element(counts.begin(), counts.end()) > buckets) return std::nullopt;
  // No bucket is larger than there are values: they are distinct in it.
  const auto size = static_cast<int>(rows / buckets);
  const std::int64_t large = rows % buckets;  // these buckets come first in the round
  BucketPlan plan;
  plan.setting.push_back({size, buckets - large});
  if (large > 0) plan.setting.push_back({size + 1, large});
  plan.records.resize(counts.size() * plan.setting.size());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t end = start + counts[i];  // the round may begin anew once
    const std::int64_t in_large = std::max<std::int64_t>(0, std::min(end, large) - start) +
                                  std::max<std::int64_t>(0, std::min(end - buckets, large));
    plan.records[i * plan.setting.size()] = counts[i] - in_large;
    if (large > 0) plan.records[i * plan.setting.size() + 1] = in_large;
    start = end % buckets;
  }
  plan.loss = SearchLoss(plan.setting);
  return plan;
}

std::vector<std::size_t> RandomOrder(std::size_t values, RandomSource& random) {
  std::vector<std::size_t> order(values);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = values; left > 1; --left) std::swap(order[left - 1], order[random.Below(left)]);
  return order;
}

BucketPlan WithoutOrder(BucketPlan plan, const std::vector<std::size_t>& order) {
  const std::vector<std::int64_t> records = plan.records;
  const auto width = static_cast<std::ptrdiff_t>(plan.setting.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = records.begin() + static_cast<std::ptrdiff_t>(i) * width;
    std::copy(from, from + width, plan.records.begin() + static_cast<std::ptrdiff_t>(order[i]) * width);
  }
  return plan;
}

RoundRobin::RoundRobin(const BucketPlan& plan, const std::vector<std::size_t>& order) {
  for (const SizeBuckets& part : plan.setting) {
    sizes_.push_back({part.size, buckets_, part.buckets});
    buckets_ += part.buckets;
  }
  std::vector<std::int64_t> start(sizes_.size());
  starts_.resize(plan.records.size());
  ends_.resize(plan.records.size());
  for (const std::size_t value : order) {
    std::int64_t end = 0;
    for (std::size_t k = 0; k < sizes_.size(); ++k) {
      const std::size_t i = value * sizes_.size() + k;
      starts_[i] = start[k];
      start[k] += plan.records[i];
      end += plan.records[i];
      ends_[i] = end;
    }
  }
}

std::int64_t RoundRobin::BucketOf(std::size_t value, std::int64_t record) const {
  const std::size_t row = value * sizes_.size();
  std::size_t k = 0;
  while (ends_[row + k] <= record) ++k;
  const std::int64_t before = k == 0 ? 0 : ends_[row + k - 1];
  return sizes_[k].first_bucket + (starts_[row + k] + record - before) % sizes_[k].buckets;
}

}  // namespace privacy_score

/*
 * bucket_problem.cpp - exact capacities, and values grouped by them (see bucket_problem.hpp).
 */
#include "core/buckets/bucket_problem.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>

#include "core/base/error.hpp"
#include "core/buckets/bucket_thresholds.hpp"

namespace privacy_score {

namespace {

std::uint64_t HashOf(const std::vector<std::int32_t>& capacities) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::int32_t capacity : capacities) hash = (hash ^ static_cast<std::uint32_t>(capacity)) * 0x100000001b3U;
  return hash;
}

// floor(threshold S) for each size.
void FillCapacities(const Rational& threshold, const std::vector<int>& sizes, std::vector<std::int32_t>& capacities) {
  capacities.clear();
  constexpr std::int64_t kWordMax = std::numeric_limits<std::int64_t>::max();
  if (threshold.denominator() <= kWordMax) {  // the numerator is no greater
    const auto numerator = static_cast<std::uint64_t>(threshold.numerator());
    const auto denominator = static_cast<std::uint64_t>(threshold.denominator());
    for (const int size : sizes) {
      capacities.push_back(static_cast<std::int32_t>(static_cast<unsigned __int128>(numerator) *
                                                     static_cast<unsigned>(size) / denominator));
    }
  } else {
    for (const int size : sizes)
      capacities.push_back(static_cast<std::int32_t>(threshold.numerator() * size / threshold.denominator()));
  }
}

}  // namespace

BucketProblem::BucketProblem(const std::vector<std::int64_t>& counts, const std::vector<Rational>& thresholds,
                             std::vector<int> sizes, GivesUp gives_up)
    : sizes_(std::move(sizes)), gives_up_(gives_up) {
  if (counts.size() != thresholds.size())
    throw InvalidValue("there must be one threshold for each of the " + std::to_string(counts.size()) +
                           " counts, not " + std::to_string(thresholds.size()),
                       "Give the thresholds in the order of the counts.");
  for (std::size_t k = 0; k < sizes_.size(); ++k) {
    if (sizes_[k] < 1 || (k > 0 && sizes_[k] <= sizes_[k - 1]))
      throw InvalidValue("bucket sizes must ascend from at least 1, unlike " + std::to_string(sizes_[k]),
                         "Give each size once, the smallest first.");
  }
  std::unordered_multimap<std::uint64_t, std::size_t> classes;  // by hash of their capacities
  class_of_value_.reserve(counts.size());
  std::vector<std::int32_t> capacities;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i > 0 && thresholds[i] == thresholds[i - 1]) {
      class_of_value_.push_back(class_of_value_.back());
      continue;
    }
    CheckThreshold("threshold", thresholds[i]);
    Work(4 * sizes_.size());
    FillCapacities(thresholds[i], sizes_, capacities);
    const std::uint64_t hash = HashOf(capacities);
    auto [known, end] = classes.equal_range(hash);
    while (known != end && !std::equal(capacities.begin(), capacities.end(), Capacities(known->second))) ++known;
    if (known == end) {
      known = classes.emplace(hash, classes.size());
      if (capacities_.size() + capacities.size() > kMaxCapacities)
        throw Error("54000",
                    "there are too many different thresholds for " + std::to_string(sizes_.size()) + " bucket sizes",
                    "Lower max_bucket, or give more values the same threshold.");
      capacities_.insert(capacities_.end(), capacities.begin(), capacities.end());
    }
    class_of_value_.push_back(known->second);
  }
  class_first_group_.assign(classes.size() + 1, 0);
  SetCounts(counts);
}

BucketProblem BucketProblem::WithSizes(const std::vector<std::int64_t>& counts, const std::vector<Rational>& thresholds,
                                       int min_size, int max_size, GivesUp gives_up) {
  if (min_size < 0)
    throw InvalidValue("min_bucket must not be negative, as " + std::to_string(min_size) + " is",
                       "It is the least number of records of a bucket.");
  if (max_size < 1 || max_size > kMaxSearchSize)
    throw InvalidValue(
        "max_bucket must be between 1 and " + std::to_string(kMaxSearchSize) + ", not " + std::to_string(max_size),
        "It is the greatest number of records of a bucket.");
  if (min_size > max_size)
    throw InvalidValue(
        "min_bucket must be at most max_bucket, " + std::to_string(max_size) + ", not " + std::to_string(min_size),
        "Both are numbers of records of a bucket.");
  const int first = std::max(min_size, thresholds.empty() ? 1 : SmallestBucket(thresholds));
  std::vector<int> sizes(static_cast<std::size_t>(std::max(0, max_size - first + 1)));
  std::iota(sizes.begin(), sizes.end(), first);
  return BucketProblem(counts, thresholds, std::move(sizes), gives_up);
}

BucketProblem BucketProblem::WithCounts(const std::vector<std::int64_t>& counts) const {
  BucketProblem problem;
  problem.sizes_ = sizes_;
  problem.capacities_ = capacities_;
  problem.class_of_value_ = class_of_value_;
  problem.class_first_group_.assign(class_first_group_.size(), 0);
  problem.gives_up_ = gives_up_;
  Work(capacities_.size() / 8 + counts.size());
  problem.SetCounts(counts);
  return problem;
}

void BucketProblem::Ask() const {
  work_ = 0;
  GiveUpIfAsked(gives_up_);
}

void BucketProblem::SetCounts(const std::vector<std::int64_t>& counts) {
  counts_ = counts;
  rows_ = TotalRows(counts);
  std::vector<std::size_t> order;
  order.reserve(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (class_of_value_[a] != class_of_value_[b]) return class_of_value_[a] < class_of_value_[b];
    return counts[a] != counts[b] ? counts[a] < counts[b] : a < b;
  });
  for (const std::size_t value : order) {
    const std::size_t capacity_class = class_of_value_[value];
    if (groups_.empty() || groups_.back().capacity_class != capacity_class || groups_.back().count != counts[value]) {
      groups_.push_back({counts[value], capacity_class, {}});
      ++class_first_group_[capacity_class + 1];
    }
    groups_.back().members.push_back(value);
  }
  std::partial_sum(class_first_group_.begin(), class_first_group_.end(), class_first_group_.begin());
}

std::size_t BucketProblem::PlaceOf(int size) const {
  const auto place = std::lower_bound(sizes_.begin(), sizes_.end(), size);
  return place != sizes_.end() && *place == size ? static_cast<std::size_t>(place - sizes_.begin()) : sizes_.size();
}

}  // namespace privacy_score

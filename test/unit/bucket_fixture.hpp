/*
 * bucket_fixture.hpp - thresholds and problems in short form, and bucket settings by brute force.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rational.hpp"
#include "core/buckets/bucket_plan.hpp"
#include "core/buckets/bucket_problem.hpp"
#include "core/buckets/bucket_setting.hpp"

#include "../support/geometric_counts.hpp"
#include "sanitizers.hpp"

namespace privacy_score::testing_support {

const int kSanitizerDivisor = kSanitized ? 20 : 1;

using Counts = std::vector<std::int64_t>;
using ::GeometricCounts;

inline std::vector<privacy_score::Rational> Thresholds(const std::vector<std::string>& texts) {
  std::vector<privacy_score::Rational> thresholds;
  for (const std::string& text : texts) thresholds.push_back(privacy_score::ParseRational("threshold", text));
  return thresholds;
}

// What is wrong with a plan, empty when it holds: every value has all its records somewhere, every size is
// filled exactly, no value exceeds its capacity, and the loss is the setting's.
inline std::string Fault(const privacy_score::BucketProblem& problem, const privacy_score::BucketPlan& plan) {
  std::int64_t loss = 0;
  for (std::size_t k = 0; k < plan.setting.size(); ++k) {
    const auto [size, buckets] = plan.setting[k];
    if (buckets <= 0) return "no buckets of size " + std::to_string(size);
    if (k > 0 && plan.setting[k - 1].size >= size) return "sizes do not ascend";
    loss += buckets * (size - 1) * (size - 1);
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < problem.values(); ++i) {
      filled += plan.Records(i, k);
      if (plan.Records(i, k) < 0 || plan.Records(i, k) > problem.Capacity(i, problem.PlaceOf(size)) * buckets)
        return "value " + std::to_string(i) + " in size " + std::to_string(size);
    }
    if (filled != size * buckets) return "size " + std::to_string(size) + " is not filled";
  }
  for (std::size_t i = 0; i < problem.values(); ++i) {
    std::int64_t records = 0;
    for (std::size_t k = 0; k < plan.setting.size(); ++k) records += plan.Records(i, k);
    if (records != problem.count(i)) return "records of value " + std::to_string(i);
  }
  if (loss != plan.loss) return "loss";
  if (plan.bound && *plan.bound > plan.loss) return "bound above the loss";
  return {};
}

// A small problem: some values, thresholds as fractions with small denominators, some sizes.
inline privacy_score::BucketProblem RandomProblem(std::mt19937_64& random, int most_rows, int most_values,
                                                  int most_size) {
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  Counts counts;
  std::vector<privacy_score::Rational> thresholds;
  const int values = draw(1, most_values);
  const int mean = std::max(1, draw(1, most_rows) / values);
  std::int64_t rows = 0;
  for (int i = 0; i < values; ++i) {
    counts.push_back(draw(0, 2 * mean));
    rows += counts.back();
  }
  const int style = draw(0, 2);
  for (int i = 0; i < values; ++i) {
    const int denominator = draw(1, 12);
    privacy_score::Rational threshold(draw(1, denominator), denominator);
    if (style == 1 && rows > 0) {  // above the frequency, so that more have a solution
      threshold = threshold + privacy_score::Rational(counts[i], rows);
      if (threshold > 1) threshold = 1;
    } else if (style == 2) {
      threshold = privacy_score::Rational(1, draw(1, values));
    }
    thresholds.push_back(threshold);
  }
  const int first = draw(1, most_size);
  std::vector<int> sizes;
  for (int size = first; size <= most_size; ++size)
    if (draw(0, 4) > 0 || sizes.empty()) sizes.push_back(size);
  return privacy_score::BucketProblem(counts, thresholds, sizes);
}

// All settings of the problem's sizes with at most `most_sizes` of them, valid or not.
inline void ForEachSetting(const privacy_score::BucketProblem& problem, std::size_t most_sizes,
                           const std::function<void(const privacy_score::BucketSetting&)>& visit) {
  privacy_score::BucketSetting setting;
  const std::function<void(std::size_t, std::int64_t)> extend = [&](std::size_t place, std::int64_t rows) {
    if (rows == 0) {
      visit(setting);
      return;
    }
    if (place == problem.sizes().size()) return;
    extend(place + 1, rows);
    if (setting.size() == most_sizes) return;
    const int size = problem.sizes()[place];
    for (std::int64_t buckets = 1; buckets * size <= rows; ++buckets) {
      setting.push_back({size, buckets});
      extend(place + 1, rows - buckets * size);
      setting.pop_back();
    }
  };
  extend(0, problem.rows());
}

// The condition of Hall's kind, by its definition: for every set V of values that occur, the records that must go to V
// are no more than there are. For few values.
inline bool HallHolds(const privacy_score::BucketProblem& problem, const privacy_score::BucketSetting& setting) {
  for (std::uint64_t set = 0; set < std::uint64_t{1} << problem.values(); ++set) {
    std::int64_t needed = 0;
    std::int64_t there = 0;
    for (std::size_t i = 0; i < problem.values(); ++i)
      if ((set >> i & 1) != 0) there += problem.count(i);
    for (const auto& [size, buckets] : setting) {
      std::int64_t others = 0;
      for (std::size_t i = 0; i < problem.values(); ++i)
        if ((set >> i & 1) == 0) others += problem.Capacity(i, problem.PlaceOf(size));
      needed += std::max<std::int64_t>(0, size - others) * buckets;
    }
    if (needed > there) return false;
  }
  return true;
}

}  // namespace privacy_score::testing_support

/*
 * bucket_instances.hpp - tables like those of the paper's experiments: values of the sensitive attribute with the
 * frequencies that the paper tells of CENSUS, and records with quasi-identifiers that go with it.
 *
 * Occupation has 50 values from 7.5 % to 0.18 % of the records, education 14 from 27.3 % to 0.44 %, both in a geometric
 * series, which adds up to 1 almost exactly. The CENSUS data themselves are not at hand.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "core/buckets/bucket_problem.hpp"
#include "core/buckets/bucket_thresholds.hpp"

#include "../test/support/geometric_counts.hpp"

namespace bucket_bench {

using Counts = std::vector<std::int64_t>;

struct Attribute {
  const char* name;
  int values;
  double greatest;
  double least;

  Counts CountsOf(std::int64_t rows) const { return GeometricCounts(values, greatest, least, rows); }
};

constexpr Attribute kOccupation{"OCC", 50, 0.075, 0.0018};
constexpr Attribute kEducation{"EDU", 14, 0.273, 0.0044};
constexpr std::array<int, 5> kThetas{2, 4, 8, 16, 32};
constexpr int kMostSize = 50;

// As many values as wanted, with the ratio of the most frequent to the least that occupation has.
inline Counts ManyValues(int values, std::int64_t rows) {
  return GeometricCounts(values, 3.75 / values, 0.09 / values, rows);
}

inline privacy_score::BucketProblem Problem(const Counts& counts, int theta, int most_size = kMostSize) {
  return privacy_score::BucketProblem::WithSizes(
      counts, privacy_score::FrequencyThresholds(counts, theta, privacy_score::Rational(1, 50)), 0, most_size);
}

// Records: seven quasi-identifiers with the domains of CENSUS, and the sensitive value, with exact counts. Values go to
// records along a noisy score of the quasi-identifiers, so that they depend on each other as in real data.
struct Table {
  static constexpr std::array<std::uint32_t, 7> kDomains{76, 2, 14, 6, 9, 10, 83};
  std::vector<std::array<std::uint32_t, 7>> codes;
  std::vector<std::uint32_t> values;
};

inline Table MakeTable(const Counts& counts, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::int64_t rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  Table records;
  std::vector<std::pair<double, std::uint32_t>> scores;
  std::normal_distribution<double> noise(0, 0.5);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::array<std::uint32_t, 7> codes{};
    double score = noise(random);
    for (std::size_t c = 0; c < codes.size(); ++c) {
      // The least of two draws: low codes are more frequent.
      const auto draw = [&] { return static_cast<std::uint32_t>(random() % Table::kDomains[c]); };
      codes[c] = std::min(draw(), draw());
      score += static_cast<double>(codes[c]) / Table::kDomains[c];
    }
    records.codes.push_back(codes);
    scores.emplace_back(score, static_cast<std::uint32_t>(i));
  }
  std::sort(scores.begin(), scores.end());
  std::vector<std::uint32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  records.values.resize(static_cast<std::size_t>(rows));
  std::size_t next = 0;
  for (const std::uint32_t value : order)
    for (std::int64_t n = 0; n < counts[value]; ++n) records.values[scores[next++].second] = value;
  return records;
}

}  // namespace bucket_bench

/*
 * geometric_counts.hpp - how often values occur whose frequencies go down evenly, for unit tests and benchmarks.
 */
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

// A geometric series from `greatest` to `least`, as counts that add up to `rows`.
inline std::vector<std::int64_t> GeometricCounts(int values, double greatest, double least, std::int64_t rows) {
  std::vector<double> shares;
  for (int i = 0; i < values; ++i)
    shares.push_back(greatest * std::pow(least / greatest, values > 1 ? static_cast<double>(i) / (values - 1) : 0.0));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::int64_t> counts;
  for (const double share : shares)
    counts.push_back(static_cast<std::int64_t>(std::floor(share / sum * static_cast<double>(rows))));
  std::int64_t left = rows - std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  for (std::size_t i = 0; left > 0; i = (i + 1) % counts.size(), --left) ++counts[i];
  return counts;
}

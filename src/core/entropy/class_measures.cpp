/*
 * class_measures.cpp - see class_measures.hpp.
 */
#include "core/entropy/class_measures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace privacy_score {

namespace {

std::int64_t Records(const std::vector<ClassValue>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0},
                         [](std::int64_t sum, const ClassValue& value) { return sum + value.count; });
}

}  // namespace

double EffectiveValues(const std::vector<ClassValue>& values) {
  const auto records = static_cast<double>(Records(values));
  if (records == 0) return 0;
  double entropy = 0;
  for (const ClassValue& value : values) {
    const double share = static_cast<double>(value.count) / records;
    entropy -= share * std::log2(share);
  }
  return std::exp2(entropy);
}

Closeness::Closeness(const std::vector<std::int64_t>& table) : sums_(1, 0.0) {
  const auto records = static_cast<double>(std::accumulate(table.begin(), table.end(), std::int64_t{0}));
  std::int64_t below = 0;
  for (const std::int64_t count : table) {
    below += count;
    share_.push_back(static_cast<double>(count) / records);
    cumulative_.push_back(static_cast<double>(below) / records);
    sums_.push_back(sums_.back() + cumulative_.back());
  }
}

// Values that the class does not have contribute their share in the table: 1 less the shares of those it has.
double Closeness::Variational(const std::vector<ClassValue>& values) const {
  const auto records = static_cast<double>(Records(values));
  double distance = 0;
  double met = 0;
  for (const ClassValue& value : values) {
    distance += std::abs(static_cast<double>(value.count) / records - share_[value.rank]);
    met += share_[value.rank];
  }
  return (distance + std::max(0.0, 1 - met)) / 2;
}

double Closeness::DistanceTo(double p, std::size_t begin, std::size_t end) const {
  if (begin >= end) return 0;
  const auto first = cumulative_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = cumulative_.begin() + static_cast<std::ptrdiff_t>(end);
  const auto above = static_cast<std::size_t>(std::upper_bound(first, last, p) - cumulative_.begin());
  const double lower = p * static_cast<double>(above - begin) - (sums_[above] - sums_[begin]);
  const double upper = (sums_[end] - sums_[above]) - p * static_cast<double>(end - above);
  return lower + upper;
}

// P is constant between the ranks that the class has.
double Closeness::OrderedEarthMovers(const std::vector<ClassValue>& values) const {
  const std::size_t ranks = cumulative_.size();
  if (ranks < 2) return 0;
  const auto records = static_cast<double>(Records(values));
  double distance = 0;
  std::int64_t below = 0;
  std::size_t begin = 0;
  for (const ClassValue& value : values) {
    distance += DistanceTo(static_cast<double>(below) / records, begin, std::min(value.rank, ranks - 1));
    below += value.count;
    begin = value.rank;
  }
  distance += DistanceTo(1, begin, ranks - 1);
  return distance / static_cast<double>(ranks - 1);
}

}  // namespace privacy_score

/*
 * entropy.cpp - entropy of a partition and the discrimination rate.
 *
 * Sums run over the sorted histogram in long double, so that two attribute sets that make the same partition get the
 * same rate to the last bit and their difference is exactly 0.
 */
#include "core/entropy/entropy.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

// Checks the histogram and returns it by ascending size, each size once.
ClassSizes Canonical(ClassSizes sizes) {
  for (const auto& entry : sizes) {
    if (entry.size < 1) throw InvalidValue("class size must be greater than zero, not " + std::to_string(entry.size));
    if (entry.count < 0)
      throw InvalidValue("number of classes must not be negative, not " + std::to_string(entry.count));
  }
  std::sort(sizes.begin(), sizes.end(), [](const SizeCount& a, const SizeCount& b) { return a.size < b.size; });
  ClassSizes merged;
  for (const auto& entry : sizes) {
    if (entry.count != 0) AddClasses(&merged, entry);
  }
  return merged;
}

}  // namespace

double Entropy(const ClassSizes& sizes) {
  const ClassSizes classes = Canonical(sizes);
  long double rows = 0;
  long double sum = 0;
  for (const auto& [size, count] : classes) {
    rows += static_cast<long double>(size) * static_cast<long double>(count);
    sum += static_cast<long double>(count) * static_cast<long double>(size) * std::log2(static_cast<long double>(size));
  }
  if (classes.empty() || (classes.size() == 1 && classes[0].count == 1)) return 0;  // one class: exactly nothing
  return static_cast<double>(std::max(0.0L, std::log2(rows) - sum / rows));
}

double DiscriminationRate(double entropy_x, double entropy_xy, double entropy_y) {
  if (!(entropy_x > 0)) return 0;
  return std::clamp(1 - (entropy_xy - entropy_y) / entropy_x, 0.0, 1.0);
}

}  // namespace privacy_score

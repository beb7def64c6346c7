/*
 * rate_bounds.cpp - see rate_bounds.hpp.
 */
#include "core/scoring/rate_bounds.hpp"

#include <algorithm>
#include <cmath>

namespace privacy_score {

namespace {

// n lg n.
double Weight(double n) { return n > 0 ? n * std::log2(n) : 0; }

}  // namespace

RateBounds AfterModifications(double rate, double subject_entropy, std::int64_t rows, std::int64_t modified) {
  if (modified <= 0) return {rate, rate};
  if (modified >= rows) return {0, 1};
  const auto before = static_cast<double>(rows);
  const auto changed = static_cast<double>(modified);
  const double fall = Weight(before) - Weight(before - changed);
  const double rise = Weight(before + changed) - Weight(before);
  const double subject = before * subject_entropy;
  const double rest = subject * (1 - rate);  // rows H(X|Y)
  const double least_subject = subject - fall;
  const double lower = least_subject > 0 ? 1 - (rest + rise) / least_subject : 0;
  const double upper = 1 - std::max(0.0, rest - fall) / (subject + rise);
  return {std::clamp(lower, 0.0, rate), std::clamp(upper, rate, 1.0)};
}

}  // namespace privacy_score

/*
 * sum_grid.cpp - choosing the grid of a sum (see sum_grid.hpp).
 */
#include "core/noise/sum_grid.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

namespace {

// Finer grids than this help nobody; coarser ones than its opposite are beyond what a parameter can be.
constexpr int kMostDecimals = 1000;

// Steps that make one.
Rational StepsOfOne(int decimals) {
  return decimals >= 0 ? Rational(PowerOfTen(decimals), 1) : Rational(1, PowerOfTen(-decimals));
}

// A value that is at most `magnitude` is rounded to at most so many steps.
Integer StepsOf(const Rational& magnitude, int decimals) {
  return -Floor(Rational(0) - magnitude * StepsOfOne(decimals));
}

Rational ScaleOf(const Rational& magnitude, std::int64_t rows, const Rational& epsilon, int decimals) {
  return Rational(StepsOf(magnitude, decimals) * rows, 1) / epsilon;
}

}  // namespace

SumGrid ChooseSumGrid(const Rational& magnitude, std::int64_t rows, const Rational& epsilon,
                      std::optional<int> most_decimals) {
  if (magnitude <= Rational(0))
    throw InvalidValue("bounds must not both be zero", "They are the least and the greatest value that counts.");
  if (rows < 1)
    throw InvalidValue("rows of a unit must be at least 1, not " + std::to_string(rows),
                       "It is how many rows one person can have.");
  if (epsilon <= Rational(0))
    throw InvalidValue("epsilon must be greater than zero, not " + TextOf(epsilon),
                       "The smaller it is, the more noise there is.");
  // The scale does not fall when decimals rise: search for the last that fits.
  int fits = -2 * kMostDecimals;
  int beyond = std::min(most_decimals.value_or(kMostDecimals), kMostDecimals) + 1;
  while (beyond - fits > 1) {
    const int middle = fits + (beyond - fits) / 2;
    (ScaleOf(magnitude, rows, epsilon, middle) <= Rational(kLargestNoiseScale) ? fits : beyond) = middle;
  }
  const SumGrid grid = {fits, ScaleOf(magnitude, rows, epsilon, fits)};
  const DiscreteLaplace law(grid.scale);  // or raises why there is none
  return grid;
}

std::string StepsText(std::int64_t steps, int decimals) {
  return std::to_string(steps) + "e" + std::to_string(-decimals);
}

}  // namespace privacy_score

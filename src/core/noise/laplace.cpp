/*
 * laplace.cpp - Laplace noise on a grid (see laplace.hpp).
 */
#include "core/noise/laplace.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/rational.hpp"
#include "core/base/rows.hpp"
#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

namespace {

constexpr double kLeastScale = 1e-290;
constexpr double kGreatestScale = 1e290;
constexpr int kStepsLog2 = 39;

// The exponent e of the grid's step 2^e: scale is at least half of 2^39 steps and below 2^39 steps.
int StepExponent(double scale) {
  if (!(scale >= kLeastScale && scale <= kGreatestScale))
    throw InvalidValue("scale must be between 1e-290 and 1e290, not " + TextOf(scale),
                       "The scale of Laplace noise is sensitivity/epsilon.");
  int exponent = 0;
  std::frexp(scale, &exponent);
  return exponent - kStepsLog2;
}

}  // namespace

double LaplaceStep(double scale) { return std::ldexp(1.0, StepExponent(scale)); }

double DrawLaplace(double scale, RandomSource& random) {
  const int exponent = StepExponent(scale);
  const DiscreteLaplace steps(RationalOf("scale", std::ldexp(scale, -exponent)));
  return std::ldexp(static_cast<double>(steps.Draw(random)), exponent);
}

}  // namespace privacy_score

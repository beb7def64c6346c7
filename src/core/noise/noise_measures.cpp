/*
 * noise_measures.cpp - formulas of noise_measures.hpp.
 */
#include "core/noise/noise_measures.hpp"

#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"

namespace privacy_score {

namespace {

void CheckFinite(const char* parameter, double value) {
  if (!std::isfinite(value))
    throw InvalidValue(std::string(parameter) + " must be a finite number, not " + TextOf(value),
                       "Give counts and epsilon as they are.");
}

void CheckEpsilon(double epsilon) {
  CheckFinite("epsilon", epsilon);
  if (!(epsilon > 0))
    throw InvalidValue("epsilon must be greater than zero, not " + TextOf(epsilon),
                       "A smaller epsilon protects more; common values are from 0.01 to 1.");
}

// x + exp(-x) - 1 for x > 0. Where that would cancel, the terms x^2/2 - x^3/6 + ...
double ExpRemainder(double x) {
  if (x > 0.5) return x + std::expm1(-x);
  double term = x * x / 2;
  double sum = term;
  for (int n = 3; std::abs(term) > 1e-17 * sum; ++n) {
    term *= -x / n;
    sum += term;
  }
  return sum;
}

}  // namespace

double NeighbourDivergence(double epsilon, std::string_view mechanism) {
  CheckEpsilon(epsilon);
  // (1-a)/(1+a) without cancellation.
  if (mechanism == "discrete") return epsilon * std::tanh(epsilon / 2);
  if (mechanism == "laplace") return ExpRemainder(epsilon);
  throw InvalidValue(
      "mechanism must be \"discrete\" or \"laplace\", not \"" + std::string(mechanism.substr(0, 60)) + "\"",
      "Counts have discrete noise; laplace is its counterpart on the reals.");
}

InferenceRatio InferNoisyRatio(double x, double y, double epsilon) {
  CheckFinite("x", x);
  CheckFinite("y", y);
  CheckEpsilon(epsilon);
  if (x == 0) throw InvalidValue("x must not be zero", "x is the count that the ratio is taken of.");
  const double ratio = y / x;
  const double noise = 2 / (x * epsilon) / (x * epsilon);
  return {ratio, ratio * (1 + noise), noise * (1 + ratio * ratio)};
}

}  // namespace privacy_score

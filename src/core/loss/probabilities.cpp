/*
 * probabilities.cpp - see probabilities.hpp.
 */
#include "core/loss/probabilities.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr double kTolerance = 1e-9;

// Without the digits that summing has spoilt.
std::string Shortened(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

}  // namespace

void CheckProbabilities(const char* what, const double* values, std::size_t count) {
  long double total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(values[i] >= 0 && values[i] <= 1 + kTolerance))
      throw InvalidValue(
          "probability " + std::to_string(i + 1) + " of " + what + " must be from 0 to 1, not " + Shortened(values[i]),
          "Probabilities are shares of one.");
    total += values[i];
  }
  if (std::abs(total - 1) > kTolerance)
    throw InvalidValue("the probabilities of " + std::string(what) + " must sum to one, not to " +
                           Shortened(static_cast<double>(total)),
                       "Divide them by their sum.");
}

double EntropyOf(const std::vector<double>& probabilities) {
  long double sum = 0;
  for (const double p : probabilities)
    if (p > 0) sum -= static_cast<long double>(p) * std::log2(p);
  return std::max(0.0, static_cast<double>(sum));
}

}  // namespace privacy_score

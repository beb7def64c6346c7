/*
 * value_law.hpp - values of a number and how probable each is: what an intruder believes.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/decimal_grid.hpp"

namespace privacy_score {

class ValueLaw {
 public:
  // Equal values are merged and those of probability 0 dropped; no probabilities: each listed value has the same.
  // Throws Error 22023 when there are no values, or not a law with a probability for each, and 22003 when they span
  // more than 2^62 steps of their grid.
  ValueLaw(const std::vector<Decimal>& values, const std::vector<double>* probabilities);

  int decimals() const { return decimals_; }
  // Ascending steps 10^-decimals from the least value on.
  const std::vector<std::int64_t>& steps() const { return steps_; }
  const std::vector<double>& probabilities() const { return probabilities_; }

 private:
  int decimals_;
  std::vector<std::int64_t> steps_;
  std::vector<double> probabilities_;
};

// The least width, in steps, of an interval that holds the value with a probability of at least `confidence`
// [Agrawal, Srikant]. Throws Error 22023 unless 0 < confidence <= 1.
std::int64_t IntervalPrivacy(const ValueLaw& law, double confidence);

// Half the integral of |f - f^| of two densities that are constant on cells of a width, from 0 to 1 [Agrawal,
// Aggarwal]. Throws Error 22023 unless both are densities on the same number of cells.
double InformationLoss(const std::vector<double>& original, const std::vector<double>& estimated, double width);

// 1/H of probabilities, H in bits; infinite for a certain value. Throws Error 22023 unless they are a law.
double ReciprocalRisk(const std::vector<double>& probabilities);

}  // namespace privacy_score

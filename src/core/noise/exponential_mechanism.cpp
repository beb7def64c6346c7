/*
 * exponential_mechanism.cpp - picking and keeping (see exponential_mechanism.hpp).
 */
#include "core/noise/exponential_mechanism.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"
#include "core/noise/exact_bernoulli.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kPicksBetweenQuestions = 256;

}  // namespace

std::size_t ChooseExponential(const std::vector<double>& utilities, const Rational& epsilon,
                              const Rational& sensitivity, RandomSource& random, GivesUp gives_up) {
  if (utilities.empty()) throw InvalidValue("options must not be empty", "There must be something to choose.");
  if (epsilon <= Rational(0))
    throw InvalidValue("epsilon must be greater than zero, not " + TextOf(epsilon),
                       "The smaller it is, the less depends on the utilities.");
  if (sensitivity <= Rational(0))
    throw InvalidValue("sensitivity must be greater than zero, not " + TextOf(sensitivity),
                       "It is how far one unit can move a utility.");
  for (const double utility : utilities)
    if (!std::isfinite(utility))
      throw InvalidValue("utility must be a finite number, not " + TextOf(utility), "Leave out what cannot be chosen.");
  const Rational best = RationalOf("utility", *std::max_element(utilities.begin(), utilities.end()));
  const Rational weight = epsilon / (Rational(2) * sensitivity);
  for (std::size_t picks = 1;; ++picks) {
    if (picks % kPicksBetweenQuestions == 0) GiveUpIfAsked(gives_up);
    const std::size_t place = random.Below(utilities.size());
    if (BernoulliExp((best - RationalOf("utility", utilities[place])) * weight, random)) return place;
  }
}

}  // namespace privacy_score

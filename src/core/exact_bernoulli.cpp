/*
 * exact_bernoulli.cpp - a coin for any rational exponent (see exact_bernoulli.hpp).
 */
#include "exact_bernoulli.hpp"

namespace privacy_score {

bool BernoulliExp(const Rational& gamma, RandomSource& random) {
  const Integer whole = Floor(gamma);
  for (Integer i = 0; i < whole; ++i)
    if (!BernoulliExpOne(random)) return false;
  const Integer rest = gamma.numerator() - whole * gamma.denominator();
  return BernoulliExpOfCoin([&] { return RandomBelow(gamma.denominator(), random) < rest; }, random);
}

}  // namespace privacy_score

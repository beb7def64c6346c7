/*
 * exact_bernoulli.cpp - a coin for any rational exponent (see exact_bernoulli.hpp).
 */
#include "core/noise/exact_bernoulli.hpp"

namespace privacy_score {

// The number is at least `digits` and less than digits + 1, in units of 2^-64.
bool IsBelow(std::uint64_t digits, const Rational& fraction, RandomSource& random) {
  const Integer& denominator = fraction.denominator();
  Integer rest = fraction.numerator();
  for (;; digits = random.Word()) {
    rest = (rest << 64U) - Integer(digits) * denominator;
    if (rest <= 0) return false;
    if (rest >= denominator) return true;
  }
}

bool BernoulliExp(const Rational& gamma, RandomSource& random) {
  const Integer whole = Floor(gamma);
  for (Integer i = 0; i < whole; ++i)
    if (!BernoulliExpOne(random)) return false;
  const Integer rest = gamma.numerator() - whole * gamma.denominator();
  return BernoulliExpOfCoin([&] { return RandomBelow(gamma.denominator(), random) < rest; }, random);
}

}  // namespace privacy_score

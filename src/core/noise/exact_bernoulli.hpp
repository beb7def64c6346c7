/*
 * exact_bernoulli.hpp - coins with probability exp(-gamma) for rational gamma, exactly.
 *
 * [Canonne, Kamath, Steinke 2020, algorithm 1]: integers and comparisons only, no double and no logarithm, so the
 * probability is exact and not merely close.
 */
#pragma once

#include <cstdint>

#include "core/base/random_source.hpp"
#include "core/base/rational.hpp"

namespace privacy_score {

// A uniform number below `bound`, which is greater than zero: as many bits as the bound has, until they are below it,
// which at least every second try is.
template <typename Number>
Number RandomBelow(const Number& bound, RandomSource& random) {
  const auto bits = static_cast<unsigned>(boost::multiprecision::msb(bound)) + 1;
  for (;;) {
    Number value = 0;
    for (unsigned drawn = 0; drawn < bits; drawn += 64) {
      const unsigned wanted = bits - drawn < 64 ? bits - drawn : 64;
      value <<= wanted;
      value |= random.Word() >> (64 - wanted);
    }
    if (value < bound) return value;
  }
}

// Whether a uniform number of [0, 1) whose first 64 binary digits are `digits` is below `fraction`, which is from 0 to
// below 1. Draws further digits only when these do not tell.
bool IsBelow(std::uint64_t digits, const Rational& fraction, RandomSource& random);

// Heads with a probability p from 0 to below 1, of which lower <= p 2^64 < lower + 2 is known. `exact()` is p as a
// Rational, and hardly ever called: 16 random digits tell nearly always, 64 all but always.
template <typename Exact>
bool TossFraction(std::uint64_t lower, Exact exact, RandomSource& random) {
  const std::uint64_t upper = lower + 1 == 0 ? lower : lower + 1;
  const std::uint64_t first = random.Quarter();
  if (first < lower >> 48U) return true;
  if (first > upper >> 48U) return false;
  const std::uint64_t digits = first << 48U | random.Word() >> 16U;
  if (digits < lower) return true;
  if (digits > upper) return false;
  return IsBelow(digits, exact(), random);
}

// Heads with probability exp(-gamma) for a gamma from 0 to 1 that is given as a coin: `heads()` shows heads with
// probability gamma, independently each time. The number of coins with probability gamma/k that show heads before the
// first that shows tails is even with probability exp(-gamma). Expects at most e tosses.
template <typename Coin>
bool BernoulliExpOfCoin(Coin heads, RandomSource& random) {
  for (std::uint64_t k = 1;; ++k) {
    const bool goes_on = (k == 1 || random.Below(k) == 0) && heads();
    if (!goes_on) return k % 2 == 1;
  }
}

// Heads with probability exp(-1).
inline bool BernoulliExpOne(RandomSource& random) {
  return BernoulliExpOfCoin([] { return true; }, random);
}

// Heads with probability exp(-gamma), for any gamma from 0: one coin with exp(-1) for each whole, until one shows
// tails.
bool BernoulliExp(const Rational& gamma, RandomSource& random);

}  // namespace privacy_score

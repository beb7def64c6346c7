/*
 * exp_bounds.cpp - fixed-point arithmetic with directed rounding (see exp_bounds.hpp).
 */
#include "core/noise/exp_bounds.hpp"

#include <algorithm>

namespace privacy_score {

namespace {

Integer CeilingOfShift(const Integer& value, unsigned bits) { return -((-value) >> bits); }

Integer CeilingOfQuotient(const Integer& dividend, const Integer& divisor) {
  return (dividend + divisor - 1) / divisor;
}

}  // namespace

// exp(-x) = (exp(-x/2^k))^(2^k) with x/2^k below 1/2, whose exponential is the reciprocal of a series of positive
// terms. Squaring a number up to 1 at most doubles its absolute error, which is that of the terms at the start: of 2^16
// units.
ExpBounds BoundExp(const Rational& x, unsigned bits) {
  const Integer whole = Floor(x);
  // exp(-x) < 2^-x.
  if (whole > bits) return {0, 1};
  const unsigned halvings = whole == 0 ? 1 : static_cast<unsigned>(boost::multiprecision::msb(whole)) + 2;
  const unsigned precision = bits + halvings + 16;
  const Integer one = PowerOfTwo(precision);
  const Integer divisor = x.denominator() << halvings;

  // Below 1/2 each term is less than half of the one before, so the rest of the series is less than the last term.
  Integer low_sum = one;
  Integer high_sum = one;
  Integer low_term = one;
  Integer high_term = one;
  for (int i = 1; high_term > 1; ++i) {
    low_term = low_term * x.numerator() / (divisor * i);
    high_term = CeilingOfQuotient(high_term * x.numerator(), divisor * i);
    low_sum += low_term;
    high_sum += high_term;
  }
  high_sum += high_term;

  const Integer square = one << precision;
  Integer lower = square / high_sum;
  Integer upper = CeilingOfQuotient(square, low_sum);
  for (unsigned i = 0; i < halvings; ++i) {
    lower = (lower * lower) >> precision;
    upper = CeilingOfShift(upper * upper, precision);
  }
  const unsigned spare = precision - bits;
  return {lower >> spare, CeilingOfShift(upper, spare)};
}

}  // namespace privacy_score

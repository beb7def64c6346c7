/*
 * median_integrals_test.cpp - medians of many records against sums over all counts in long double.
 */
#include "core/loss/median_integrals.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace privacy_score {
namespace {

// P(L = l, G = g) of `others` records below and above an interval.
long double Multinomial(std::int64_t others, std::int64_t l, std::int64_t g, long double less, long double equal,
                        long double greater) {
  const std::int64_t m = others - l - g;
  const auto power = [](long double p, std::int64_t count) { return count == 0 ? 0.0L : count * std::log(p); };
  return std::exp(std::lgamma(others + 1.0L) - std::lgamma(l + 1.0L) - std::lgamma(g + 1.0L) - std::lgamma(m + 1.0L) +
                  power(less, l) + power(equal, m) + power(greater, g));
}

struct Wanted {
  long double below = 0, at = 0, above = 0;
};

Wanted Summed(std::int64_t records, long double less, long double equal, long double greater) {
  const std::int64_t most = (records + 1) / 2 - 1;
  Wanted wanted;
  for (std::int64_t l = 0; l <= most; ++l) {
    for (std::int64_t g = 0; g <= most && l + g <= records - 1; ++g) {
      const long double p = Multinomial(records - 1, l, g, less, equal, greater);
      wanted.at += p;
      if (l < most) wanted.below += p;
      if (g < most) wanted.above += p;
    }
  }
  return wanted;
}

TEST(MedianIntegrals, WithinAnInterval) {
  const double laws[][2] = {{0.3, 0.4}, {0.49, 0.02}, {0.4999, 1e-6}, {0.1, 0.05}, {0.9, 0.1}, {0, 0.3}, {0.7, 0.001}};
  for (const std::int64_t records : {2, 3, 4, 7, 40, 41, 200, 301}) {
    for (const auto& [less, equal] : laws) {
      const double greater = 1 - less - equal > 1e-15 ? 1 - less - equal : 0;
      const Wanted wanted = Summed(records, less, equal, greater);
      const OrderWeights got = MedianWithin(records, {less, equal + greater, less + equal, greater, equal});
      ASSERT_GT(got.at_first, 0);
      EXPECT_NEAR(got.below / got.at_first, static_cast<double>(wanted.below / wanted.at), 1e-11)
          << records << " " << less << " " << equal;
      EXPECT_NEAR(got.above / got.at_first, static_cast<double>(wanted.above / wanted.at), 1e-11)
          << records << " " << less << " " << equal;
    }
  }
}

// Of a million records: a median in the upper one of two values is almost certain or almost impossible, and the
// conditional law of the others is that of a sum next to the middle.
TEST(MedianIntegrals, ManyRecords) {
  const OrderWeights likely = MedianWithin(1'000'001, {0.4, 0.6, 1, 0, 0.6});
  EXPECT_NEAR(likely.below / likely.at_first, 1, 1e-12);
  // P(X < m) = 0.6: the records below it are pressed to k - 1 of them, so a record lies below it with probability 1/2.
  const OrderWeights pressed = MedianWithin(1'000'001, {0.6, 0.4, 1, 0, 0.4});
  EXPECT_NEAR(0.6 * pressed.below / (0.6 * pressed.below + 0.4 * pressed.at_first), 0.5, 1e-5);
}

TEST(MedianIntegrals, BetweenTwoValues) {
  // Four records, values 1 to 4 with these shares, median between 2 and 3.
  const double p[] = {0.1, 0.2, 0.3, 0.4};
  const OrderWeights got = MedianBetween(4, {p[0], 0.9, 0.3, 0.7, p[1]}, {0.3, 0.7, 0.6, p[3], p[2]});
  // Three others: so many of them 2 and below, with a 2; the others 3 and above, with a 3.
  const double below = 3 * p[1] * (0.7 * 0.7 - p[3] * p[3]);
  const double at_first = 3 * 0.3 * (0.7 * 0.7 - p[3] * p[3]);
  const double at_last = 3 * (0.3 * 0.3 - p[0] * p[0]) * 0.7;
  const double above = 3 * (0.3 * 0.3 - p[0] * p[0]) * p[2];
  const double scale = at_first / got.at_first;
  EXPECT_NEAR(got.below * scale / below, 1, 1e-13);
  EXPECT_NEAR(got.at_last * scale / at_last, 1, 1e-13);
  EXPECT_NEAR(got.above * scale / above, 1, 1e-13);
}

}  // namespace
}  // namespace privacy_score

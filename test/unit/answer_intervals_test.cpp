/*
 * answer_intervals_test.cpp - intervals hold as often as they say, and no more often than they need to.
 *
 * Seeds are new in each run; a right program fails with a probability below 10^-8.
 */
#include "core/private_sql/answer_intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "random_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::SeededRandom;

const int kTries = testing_support::kSanitized ? 1000 : 20000;

class AnswerIntervals : public testing::Test {
 protected:
  AnswerIntervals() : seed_(std::random_device()()), random_(seed_) {}

  // A total in steps.
  Int128 Noisy(Int128 units, const ClipGrid& grid) {
    std::vector<Int128> totals = {grid.exponent < 0 ? units * (1 << -grid.exponent) : units >> grid.exponent};
    AddNoise(totals, grid, {}, random_);
    return totals[0];
  }

  std::uint64_t seed_;
  SeededRandom random_;
};

TEST(HalfWidths, AreThoseOfTheLaw) {
  // Scale 10: P(|noise| > 30) = 2 e^-3.1/(1 + e^-0.1) = 0.0473.
  EXPECT_EQ(HalfWidthOf(ChooseClipGrid(1, Rational(1, 10), true)), 30);
  // In 1024ths of a row the law is nearly continuous: 10 ln 20, and half a row for rounding.
  EXPECT_NEAR(HalfWidthOf(ChooseClipGrid(1, Rational(1, 10), false)), 10 * std::log(20) + 0.5, 0.002);
  // Coarse steps: 2^62/0.1 ln 20.
  EXPECT_NEAR(
      HalfWidthOf(ChooseClipGrid(kMostValueSteps, Rational(1, 10), false)) / (std::exp2(62) * 10 * std::log(20)), 1,
      1e-9);
}

TEST_F(AnswerIntervals, OfCountsHoldWith95Percent) {
  for (const bool proven : {false, true}) {
    const ClipGrid grid = ChooseClipGrid(1, Rational(1, 3), proven);
    const double half_width = HalfWidthOf(grid);
    int inside = 0;
    int narrower = 0;
    for (int i = 0; i < kTries; ++i) {
      const auto off = std::abs(static_cast<double>(WholeUnits(Noisy(50, grid), grid.exponent)) - 50);
      inside += off <= half_width ? 1 : 0;
      narrower += off <= half_width - 2 ? 1 : 0;
    }
    const double deviation = std::sqrt(0.95 * 0.05 * kTries);
    EXPECT_GT(inside, 0.95 * kTries - 6 * deviation) << "seed " << seed_;
    EXPECT_LT(narrower, 0.95 * kTries - (testing_support::kSanitized ? 0 : 6) * deviation)
        << "two rows less would do, seed " << seed_;
  }
}

TEST_F(AnswerIntervals, OfRatiosHoldWith95Percent) {
  const ClipGrid sums = ChooseClipGrid(1 << 12, Rational(1, 2), false);
  const ClipGrid counts = ChooseClipGrid(4, Rational(1, 2), false);
  const RatioIntervals intervals(sums, counts);
  for (const Int128 sum : {Int128{700000}, Int128{-700000}, Int128{1000}}) {
    const double truth = static_cast<double>(sum) / 1000;
    int inside = 0;
    double width = 0;
    for (int i = 0; i < kTries / 10; ++i) {
      const std::optional<NoisyRatio> ratio = intervals.Of(Noisy(sum, sums), Noisy(1000, counts));
      ASSERT_TRUE(ratio);
      inside += std::abs(ToDouble(ratio->value) - truth) <= ratio->half_width ? 1 : 0;
      width += ratio->half_width / (kTries / 10);
    }
    const double tries = kTries / 10;
    EXPECT_GT(inside, 0.95 * tries - 6 * std::sqrt(0.95 * 0.05 * tries)) << "seed " << seed_;
    // By hand: noise of 8192 ln 40 = 30,220 in the sum, of 8 ln 40 = 29.5 in the count.
    EXPECT_NEAR(width, 30.2 + std::abs(truth) * 0.03, 8) << "seed " << seed_;
  }
}

TEST_F(AnswerIntervals, OfRatiosAreCornersOfTheTwo) {
  const std::uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    const ClipGrid sums = ChooseClipGrid(std::int64_t{1} << random() % 20, Rational(1, 2), random() % 2 == 0);
    const ClipGrid counts = ChooseClipGrid(std::int64_t{1} << random() % 5, Rational(1, 2), false);
    const Int128 sum = static_cast<Int128>(random() % 2000000) - 1000000;
    const Int128 count = static_cast<Int128>(random() % 1000000);
    const std::optional<NoisyRatio> ratio = RatioIntervals(sums, counts).Of(sum, count);
    const double s = std::round(std::ldexp(static_cast<double>(sum), sums.exponent));
    const double n = std::round(std::ldexp(static_cast<double>(count), counts.exponent));
    ASSERT_EQ(ratio.has_value(), n >= 1);
    if (!ratio) continue;
    EXPECT_NEAR(ToDouble(ratio->value), s / n, 1e-9 * std::abs(s / n) + 1e-12);
    // By the continuous law, within a step, and half a unit for rounding.
    const double hs =
        ToDouble(sums.scale) * std::log(40) * std::ldexp(1.0, sums.exponent) + (sums.exponent < 0 ? 0.5 : 0);
    const double hn = ToDouble(counts.scale) * std::log(40) * std::ldexp(1.0, counts.exponent) + 0.5;
    if (n - hn < 1) continue;
    double worst = 0;
    for (const double a : {s - hs, s + hs})
      for (const double b : {n - hn, n + hn}) worst = std::max(worst, std::abs(a / b - s / n));
    EXPECT_NEAR(ratio->half_width, worst, 0.03 * worst + 2 / n) << "seed " << seed << ", round " << round;
  }
}

// Of what is given: with hardly any noise the rounding of the totals is what is left.
TEST(RatiosWithoutNoise, AreOfWhatIsGiven) {
  const ClipGrid fine = ChooseClipGrid(1, Rational(1000), false);
  const RatioIntervals intervals(fine, fine);
  // 100.4 / 3.6 is given as 100 / 4.
  const std::optional<NoisyRatio> ratio = intervals.Of(102810, 3686);
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->value, Rational(25));
  EXPECT_LE(25 - ratio->half_width, 100.4 / 3.6);
  EXPECT_GE(25 + ratio->half_width, 100.4 / 3.6);
  EXPECT_TRUE(intervals.Of(1024, 600)) << "0.6 is given as 1";
  EXPECT_FALSE(intervals.Of(1024, 500));
}

TEST(RatiosOfNothing, AreNone) {
  const ClipGrid grid = ChooseClipGrid(1, Rational(1), true);
  const RatioIntervals intervals(grid, grid);
  EXPECT_FALSE(intervals.Of(10, 0));
  EXPECT_FALSE(intervals.Of(10, -5));
  const std::optional<NoisyRatio> wide = intervals.Of(10, 1);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->value, Rational(10));
  EXPECT_TRUE(std::isinf(wide->half_width));
}

}  // namespace
}  // namespace privacy_score

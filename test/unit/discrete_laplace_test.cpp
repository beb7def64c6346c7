/*
 * discrete_laplace_test.cpp - parameters, quantiles and thresholds of the discrete Laplace law; saturation.
 *
 * That draws follow the law is shown in discrete_laplace_law_test.cpp.
 */
#include "core/noise/discrete_laplace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "error_fixture.hpp"
#include "random_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::ScriptedRandom;
using testing_support::SeededRandom;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Rational R(const char* text) { return ParseRational("r", text); }

TEST(DiscreteLaplace, SumsSaturate) {
  EXPECT_EQ(SaturatingAdd(40, 2), 42);
  EXPECT_EQ(SaturatingAdd(kMax, 1), kMax);
  EXPECT_EQ(SaturatingAdd(kMax - 1, 1), kMax);
  EXPECT_EQ(SaturatingAdd(kMin, -1), kMin);
  EXPECT_EQ(SaturatingAdd(kMax, kMin), -1);
  EXPECT_EQ(SaturatingAdd(0, kMin), kMin);
}

// A source that decides v of the algorithm: after the words that draw u (half the scale) and keep it come words of
// heads, and at last one that makes tails and a negative sign.
class LongRun : public RandomSource {
 public:
  LongRun(std::vector<std::uint64_t> first, std::uint64_t heads, std::uint64_t count, std::uint64_t tails)
      : first_(std::move(first)), heads_(heads), count_(count), tails_(tails) {}

 protected:
  void Fill(std::uint64_t* words, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i, ++position_) {
      const std::uint64_t later = position_ - first_.size();
      words[i] = position_ < first_.size() ? first_[position_] : later < count_ ? heads_ : tails_;
    }
  }

 private:
  std::vector<std::uint64_t> first_;
  std::uint64_t heads_;
  std::uint64_t count_;
  std::uint64_t tails_;
  std::uint64_t position_ = 0;
};

TEST(DiscreteLaplace, DrawsSaturate) {
  // Pieces of 16 bits, the last digits first: 0 of 2 and 2 of 3 end a coin of exp(-1) at the third step, with heads,
  // two to a word; 1 of 2 ends it with tails. The coins of wide numbers toss before each step: 0 is heads.
  constexpr std::uint64_t kWide = 0xffff000000000000U;
  const struct {
    DiscreteLaplace law;
    std::vector<std::uint64_t> first;
    std::uint64_t heads;
    int in_word;
    std::uint64_t tails;
  } cases[] = {{DiscreteLaplace(Rational(1000000000000)),
                {(1ULL << 63) + 1000, ~0ULL},
                0xffff0000ffff0000U,
                2,
                0x8000800080008000U},
               {DiscreteLaplace(R("999999999999.9999999999999999999999999999")),
                {1ULL << 63, kWide},
                kWide,
                1,
                0x8000800080000000U}};
  for (const auto& c : cases) {
    LongRun within(c.first, c.heads, 6 / c.in_word, c.tails);
    EXPECT_NEAR(static_cast<double>(c.law.Draw(within)), -6.5e12, 8);
    LongRun beyond(c.first, c.heads, 10000000 / c.in_word, c.tails);  // 10^7 times the scale
    EXPECT_EQ(c.law.Draw(beyond), -kMax);
  }
}

TEST(DiscreteLaplace, ScalesHaveLimits) {
  EXPECT_EQ(ErrorOf([] { DiscreteLaplace(Rational(1, 1001)); }),
            "22023 scale of noise must be between 0.001 and 1e12, not 1/1001");
  EXPECT_EQ(ErrorOf([] { DiscreteLaplace(Rational(1000000000001)); }),
            "22023 scale of noise must be between 0.001 and 1e12, not 1000000000001");
  EXPECT_EQ(ErrorOf([] { DiscreteLaplace(Rational(PowerOfTwo(230) + 1, PowerOfTwo(229))); }).substr(0, 60),
            "22023 scale of noise must be a fraction of numbers of at mos");
  EXPECT_EQ(ErrorOf([] { DiscreteLaplace(Rational(1, 1000)); }), "");
  EXPECT_EQ(ErrorOf([] { DiscreteLaplace(Rational(1000000000000)); }), "");
}

TEST(DiscreteLaplace, EpsilonHasLimits) {
  EXPECT_EQ(TextOf(ParseEpsilon("0.1")), "1/10");
  EXPECT_EQ(TextOf(ParseEpsilon("1000")), "1000");
  EXPECT_EQ(TextOf(ParseEpsilon("1e-12")), "1/1000000000000");
  EXPECT_EQ(ErrorOf([] { ParseEpsilon("0.100000000000000000000000000001"); }), "");
  EXPECT_EQ(ErrorOf([] { ParseEpsilon("0"); }), "22023 epsilon must be greater than zero, not 0");
  EXPECT_EQ(ErrorOf([] { ParseEpsilon("-0.1"); }), "22023 epsilon must be greater than zero, not -0.1");
  EXPECT_EQ(ErrorOf([] { ParseEpsilon("1000.1"); }), "22023 epsilon must be between 1e-12 and 1000, not 1000.1");
  EXPECT_EQ(ErrorOf([] { ParseEpsilon("1e-13"); }), "22023 epsilon must be between 1e-12 and 1000, not 1e-13");
  EXPECT_EQ(ErrorOf([] { ParseEpsilon("NaN"); }), "22023 epsilon must be a decimal number or a fraction, not \"NaN\"");
  EXPECT_EQ(ErrorOf([] { ParseEpsilon("0." + std::string(52, '0') + "1"); }).substr(0, 60),
            "22023 epsilon must be between 1e-12 and 1000, not 0.00000000");
  EXPECT_EQ(ErrorOf([] { ParseEpsilon("1." + std::string(52, '0') + "1"); }).substr(0, 60),
            "22023 epsilon must have at most 40 digits, not as many as 1.");
  EXPECT_EQ(ErrorOf([] { ParseScale("0.0009"); }), "22023 scale must be between 0.001 and 1e12, not 0.0009");
  EXPECT_EQ(TextOf(ParseScale("2.5")), "5/2");
}

// Every epsilon that is taken, with every sensitivity that goes with it, makes a law.
TEST(DiscreteLaplace, EveryEpsilonMakesALaw) {
  SeededRandom random(7);
  const std::string digits(39, '7');
  for (const std::string& epsilon : {"0." + digits, "0.00000000000" + digits, "999." + digits.substr(3)})
    for (const std::int64_t sensitivity : {std::int64_t{1}, std::int64_t{2147483647}}) {
      const Rational scale = Rational(sensitivity) / ParseEpsilon(epsilon);
      if (scale > Rational(1000000000000)) continue;
      EXPECT_EQ(ErrorOf([&] { DiscreteLaplace(scale).Draw(random); }), "") << epsilon << " " << sensitivity;
    }
}

// The law in long double, summed; right to about 15 digits, which decides all the cases below.
long double CoveredBy(std::int64_t half_width, long double scale) {
  const long double a = std::exp(-1 / scale);
  long double sum = (1 - a) / (1 + a);
  for (std::int64_t k = 1; k <= half_width; ++k)
    sum += 2 * (1 - a) / (1 + a) * std::pow(a, static_cast<long double>(k));
  return sum;
}

TEST(DiscreteLaplace, HalfWidthIsTheLeastThatCovers) {
  for (const char* scale : {"0.001", "1/7", "1/2", "1", "2", "10", "33.3", "250"})
    for (const char* confidence : {"0.01", "0.5", "0.9", "0.95", "0.99", "0.999999"}) {
      const auto b = static_cast<long double>(ToDouble(R(scale)));
      const auto c = static_cast<long double>(ToDouble(R(confidence)));
      const std::int64_t h = DiscreteLaplaceHalfWidth(R(scale), R(confidence));
      EXPECT_GE(CoveredBy(h, b), c) << scale << " " << confidence;
      if (h > 0) {
        EXPECT_LT(CoveredBy(h - 1, b), c) << scale << " " << confidence;
      }
    }
}

// Where doubles cannot tell neighbours apart: the closed form with 60 digits, to the last unit.
TEST(DiscreteLaplace, HalfWidthsOfLargeScalesAreExact) {
  const Rational scale = R("1000000000000");
  const std::int64_t h = DiscreteLaplaceHalfWidth(scale, R("0.95"));
  // -10^12 ln(0.05 (1 + exp(-10^-12))/2) - 1 = 2995732273553.49...
  EXPECT_EQ(h, 2995732273554);
  EXPECT_EQ(DiscreteLaplaceHalfWidth(R("10"), R("0.95")), 30);
}

// A confidence set exactly below and above what half-width 2 covers at scale 1: P(|k| <= 2) = 1 - 2a^3/(1+a).
TEST(DiscreteLaplace, HalfWidthTurnsExactlyAtTheCoverage) {
  // 60 digits of 1 - 2 e^-3/(1 + e^-1).
  const Rational covered = R("0.927205473129669017905367034021625476806648450574496944632088");
  const Rational tiny = R("1e-25");
  EXPECT_EQ(DiscreteLaplaceHalfWidth(Rational(1), covered - tiny), 2);
  EXPECT_EQ(DiscreteLaplaceHalfWidth(Rational(1), covered + tiny), 3);
}

TEST(DiscreteLaplace, UpperQuantileIsTheLeastThatIsRareEnough) {
  for (const char* scale : {"1/3", "1", "2.5", "77", "1048576"}) {
    for (const char* probability : {"0.05", "1e-6", "0.3", "0.9"}) {
      const std::int64_t z = DiscreteLaplaceUpperQuantile(R(scale), R(probability));
      const auto beyond = [&](std::int64_t from) {
        const long double b = ToDouble(R(scale));
        return std::exp(-static_cast<long double>(from) / b) / (1 + std::exp(-1 / b));
      };
      EXPECT_LE(beyond(z), ToDouble(R(probability)) * (1 + 1e-12L)) << scale << " " << probability;
      EXPECT_TRUE(z == 1 || beyond(z - 1) > ToDouble(R(probability))) << scale << " " << probability;
    }
  }
  EXPECT_EQ(ErrorOf([] { DiscreteLaplaceUpperQuantile(Rational(10), Rational(0)); }),
            "22023 probability must be between 0 and 1, not 0");
}

TEST(DiscreteLaplace, ConfidencesOfManyDigits) {
  const std::int64_t h = DiscreteLaplaceHalfWidth(R("10"), Rational(1) - R("1e-300"));
  EXPECT_NEAR(static_cast<double>(h), 10 * 300 * std::log(10), 10);
  EXPECT_EQ(ErrorOf([] { DiscreteLaplaceHalfWidth(Rational(10), Rational(1)); }),
            "22023 confidence must be between 0 and 1, not 1");
  EXPECT_EQ(ErrorOf([] { DiscreteLaplaceHalfWidth(Rational(10), Rational(0)); }),
            "22023 confidence must be between 0 and 1, not 0");
}

// P(k >= j) of the law, in long double.
long double TailFrom(std::int64_t j, long double scale) {
  const long double a = std::exp(-1 / scale);
  return j >= 1 ? std::pow(a, static_cast<long double>(j)) / (1 + a)
                : 1 - std::pow(a, static_cast<long double>(1 - j)) / (1 + a);
}

// The probability that some key of a unit is shown, for the worst of all ways to spread its rows over keys.
long double WorstLeak(std::int64_t threshold, std::int64_t rows, std::int64_t largest, long double scale) {
  if (rows == 0) return 0;
  long double worst = 0;
  for (std::int64_t n = std::min(rows, largest); n >= 1; --n)
    worst = std::max(worst, TailFrom(threshold - n, scale) + WorstLeak(threshold, rows - n, n, scale));
  return worst;
}

TEST(DiscreteLaplace, KeyThresholdHoldsForEveryWayToSpreadTheRows) {
  for (const char* scale : {"1/3", "1", "4", "10", "50"})
    for (const std::int64_t sensitivity : {1, 2, 3, 7})
      for (const char* delta : {"0.4", "0.01", "1e-6"}) {
        const auto b = static_cast<long double>(ToDouble(R(scale)));
        const auto d = static_cast<long double>(ToDouble(R(delta)));
        const std::int64_t t = KeyThreshold(R(scale), sensitivity, R(delta));
        EXPECT_LE(WorstLeak(t, sensitivity, sensitivity, b), d) << scale << " " << sensitivity << " " << delta;
        if (t > 1) {
          EXPECT_GT(WorstLeak(t - 1, sensitivity, sensitivity, b), d) << scale << " " << sensitivity << " " << delta;
        }
      }
}

// The formula for real-valued noise would say ceil(1 + ln(1/(2 delta))) = 5 for scale 1 and delta = 0.01, which leaks
// more.
TEST(DiscreteLaplace, KeyThresholdIsThatOfTheLawThatIsDrawn) {
  EXPECT_EQ(KeyThreshold(Rational(1), 1, R("0.01")), 6);
  EXPECT_GT(TailFrom(5 - 1, 1), 0.01L);
  // The table of docs/noisy_counts.md.
  EXPECT_EQ(KeyThreshold(Rational(100), 1, R("1e-6")), 1314);
  EXPECT_EQ(KeyThreshold(Rational(100), 1, R("1e-9")), 2005);
  EXPECT_EQ(KeyThreshold(Rational(10), 1, R("1e-6")), 133);
  EXPECT_EQ(KeyThreshold(Rational(10), 1, R("1e-9")), 202);
  EXPECT_EQ(KeyThreshold(Rational(1), 1, R("1e-6")), 15);
  EXPECT_EQ(KeyThreshold(Rational(1), 1, R("1e-9")), 22);
  EXPECT_EQ(ErrorOf([] { KeyThreshold(Rational(10), 1, R("0")); }),
            "22023 delta must be greater than 0 and less than 1/2, not 0");
  EXPECT_EQ(ErrorOf([] { KeyThreshold(Rational(10), 1, R("0.5")); }),
            "22023 delta must be greater than 0 and less than 1/2, not 1/2");
  EXPECT_EQ(ErrorOf([] { KeyThreshold(Rational(10), 0, R("0.1")); }),
            "22023 sensitivity must be between 1 and 1e15, not 0");
}

}  // namespace
}  // namespace privacy_score

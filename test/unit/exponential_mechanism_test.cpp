/*
 * exponential_mechanism_test.cpp - choices follow the law, whatever the utilities; worked case pub-041.
 */
#include "core/noise/exponential_mechanism.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "error_fixture.hpp"
#include "law_fit.hpp"
#include "random_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::ChiSquare;
using testing_support::ErrorOf;
using testing_support::SeededRandom;

const int kDraws = testing_support::kSanitized ? 20000 : 300000;

Rational R(const char* text) { return ParseRational("r", text); }

// The p-value of the choices made from `utilities` when their law should be `expected`.
double FitOf(const std::vector<double>& utilities, const Rational& epsilon, const Rational& sensitivity,
             const std::vector<long double>& expected, std::uint64_t seed) {
  SeededRandom random(seed);
  ChiSquare fit(expected);
  for (int i = 0; i < kDraws; ++i) fit.Count(ChooseExponential(utilities, epsilon, sensitivity, random));
  return fit.PValue();
}

// pub-041: probabilities to 12 digits. A right mechanism fails with probability 1e-9.
TEST(ExponentialMechanism, WorkedCase) {
  const std::uint64_t seed = std::random_device()();
  const std::vector<long double> expected = {0.199907752762L, 0.256686635539L, 0.5434056117L};
  EXPECT_GT(FitOf({1, 2, 5}, R("0.5"), Rational(1), expected, seed), 1e-9) << "seed " << seed;
  // Shifted and scaled with the sensitivity it is the same choice.
  EXPECT_GT(FitOf({-40, -30, 0}, R("0.5"), Rational(10), expected, seed), 1e-9) << "seed " << seed;
  // exp(epsilon u/sensitivity), without the 2, is another law.
  EXPECT_LT(FitOf({1, 2, 5}, Rational(1), Rational(1), expected, seed), 1e-9) << "seed " << seed;
}

TEST(ExponentialMechanism, FractionsAndTies) {
  const std::uint64_t seed = std::random_device()();
  const std::vector<double> utilities = {0.1, 0.1, -3.75, 1e-3, 2.5};
  std::vector<long double> expected;
  long double sum = 0;
  for (const double u : utilities) sum += std::exp(0.35L * static_cast<long double>(u));
  for (const double u : utilities) expected.push_back(std::exp(0.35L * static_cast<long double>(u)) / sum);
  EXPECT_GT(FitOf(utilities, R("0.7"), Rational(1), expected, seed), 1e-9) << "seed " << seed;
}

// Differences that doubles would round to nothing, and such as have no exponential in any double.
TEST(ExponentialMechanism, ExtremeUtilities) {
  SeededRandom random(1);
  int second = 0;
  for (int i = 0; i < 2000; ++i) {
    EXPECT_EQ(ChooseExponential({-1e308, 1e308}, R("0.1"), Rational(1), random), 1U);
    second += static_cast<int>(ChooseExponential({1e308, 1e308}, Rational(1), Rational(1), random));
  }
  EXPECT_NEAR(second, 1000, 6.5 * std::sqrt(500));
  EXPECT_EQ(ChooseExponential({5}, Rational(1), Rational(1), random), 0U);
  EXPECT_LT(ChooseExponential({0, 5e-324}, Rational(1), Rational(1), random), 2U);
}

// One good option among many that are never kept: about as many picks as options.
TEST(ExponentialMechanism, ManyOptions) {
  SeededRandom random(2);
  std::vector<double> utilities(5000, 0.0);
  utilities[4321] = 1e6;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ChooseExponential(utilities, Rational(1), Rational(1), random), 4321U);
  EXPECT_FALSE(Finishes([&] {
    for (;;) ChooseExponential(utilities, Rational(1), Rational(1), random, [] { return true; });
  }));
}

TEST(ExponentialMechanism, Refusals) {
  SeededRandom random(3);
  const auto choose = [&](const std::vector<double>& utilities, const Rational& epsilon, const Rational& sensitivity) {
    return ErrorOf([&] { ChooseExponential(utilities, epsilon, sensitivity, random); });
  };
  EXPECT_EQ(choose({}, Rational(1), Rational(1)), "22023 options must not be empty");
  EXPECT_EQ(choose({1}, Rational(0), Rational(1)), "22023 epsilon must be greater than zero, not 0");
  EXPECT_EQ(choose({1}, Rational(1), Rational(-1)), "22023 sensitivity must be greater than zero, not -1");
  EXPECT_EQ(choose({1, std::nan("")}, Rational(1), Rational(1)), "22023 utility must be a finite number, not nan");
  EXPECT_EQ(choose({1, INFINITY}, Rational(1), Rational(1)), "22023 utility must be a finite number, not inf");
}

}  // namespace
}  // namespace privacy_score

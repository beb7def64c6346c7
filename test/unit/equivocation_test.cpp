/*
 * equivocation_test.cpp - curves against the published recurrence at every difference of values; worked cases pub-021
 * to pub-025.
 */
#include "core/loss/equivocation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "../support/equivocation_recurrence.hpp"
#include "error_fixture.hpp"
#include "loss_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::Decimals;

ValueLaw LawOf(const std::vector<const char*>& values, const std::vector<double>& probabilities) {
  return ValueLaw(Decimals(values), &probabilities);
}

EquivocationCurve CurveOf(const ValueLaw& law) {
  EquivocationCurve curve(law);
  EXPECT_TRUE(curve.Run({}));
  return curve;
}

TEST(Equivocation, WorkedCases) {
  const ValueLaw law = LawOf({"1", "3", "8", "9"}, {0.15, 0.1, 0.7, 0.05});
  const double wanted[] = {1.31903527434,  1.05401577307,  0.811278124459,
                           0.811278124459, 0.811278124459, 0.811278124459,
                           0.609840304716, 0.286396957116, 0.0};
  const EquivocationCurve curve = CurveOf(law);
  for (std::int64_t epsilon = 0; epsilon <= 8; ++epsilon) {
    EXPECT_NEAR(curve.EntropyAt(epsilon), wanted[epsilon], 1e-11) << epsilon;
    EXPECT_NEAR(EquivocationAt(law, epsilon, {}), wanted[epsilon], 1e-11) << epsilon;
  }
  EXPECT_EQ(curve.steps().size(), 6U);
  EXPECT_NEAR(curve.Area(0), 6.51440080708, 1e-10);
  EXPECT_NEAR(CurveOf(LawOf({"50", "107"}, {0.5, 0.5})).Area(0), 57, 1e-12);
  EXPECT_NEAR(CurveOf(LawOf({"77", "80"}, {0.5, 0.5})).Area(0), 3, 1e-12);
  const ValueLaw decimals = LawOf({"0", "0.5", "2.25"}, {0.25, 0.25, 0.5});
  EXPECT_NEAR(CurveOf(decimals).Area(decimals.decimals()), 2.40563906223, 1e-11);
}

TEST(Equivocation, EpsilonsBetweenGridSteps) {
  const ValueLaw law = LawOf({"0", "0.5", "2.25"}, {0.25, 0.25, 0.5});
  EXPECT_EQ(EpsilonSteps(law, ParseDecimal("e", "0.4999")), 49);
  EXPECT_EQ(EpsilonSteps(law, ParseDecimal("e", "0.5")), 50);
  EXPECT_EQ(EpsilonSteps(law, ParseDecimal("e", "2")), 200);
  EXPECT_EQ(EpsilonSteps(law, ParseDecimal("e", "999999999999999999999999999999999999")), 225);
  EXPECT_EQ(testing_support::ErrorOf([&] { EpsilonSteps(law, ParseDecimal("e", "-0.5")); }),
            "22023 epsilon must be at least 0, not -0.5");
}

TEST(Equivocation, OneValue) {
  const EquivocationCurve curve = CurveOf(LawOf({"3", "3"}, {0.5, 0.5}));
  ASSERT_EQ(curve.steps().size(), 1U);
  EXPECT_EQ(curve.steps()[0].epsilon, 0);
  EXPECT_EQ(curve.steps()[0].entropy, 0);
  EXPECT_EQ(curve.Area(0), 0);
}

// Grids, sparse integers, reals and skewed laws; some long enough for chunks.
TEST(Equivocation, AgreesWithTheRecurrence) {
  std::mt19937_64 random(11);
  for (int round = 0; round < testing_support::Instances(1200); ++round) {
    const bool large = round % 60 == 0;
    const auto n = static_cast<std::size_t>(large ? 140 + random() % 250 : 2 + random() % 40);
    const int kind = static_cast<int>(random() % 4);
    std::vector<Decimal> values;
    std::vector<double> p;
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto real = static_cast<std::int64_t>(random() % 1'000'000'000'000);
      const std::int64_t value = kind == 0   ? static_cast<std::int64_t>(i)
                                 : kind == 1 ? static_cast<std::int64_t>(random() % (4 * n)) - 50
                                 : kind == 2 ? real - 500'000'000'000
                                             : static_cast<std::int64_t>(std::exp(static_cast<double>(real) * 2.5e-11));
      values.push_back({value, 0});
      const double weight = static_cast<double>(1 + random() % 100);
      p.push_back(kind == 3 ? weight * std::pow(10.0, -static_cast<double>(random() % 6)) : weight);
      total += p.back();
    }
    for (double& share : p) share /= total;
    const ValueLaw law(values, &p);
    const EquivocationCurve curve = CurveOf(law);
    const std::vector<EquivocationStep>& steps = curve.steps();
    for (std::size_t i = 1; i < steps.size(); ++i) {
      ASSERT_LT(steps[i].epsilon, steps[i - 1].epsilon);
      ASSERT_GT(steps[i].entropy, steps[i - 1].entropy);
    }
    ASSERT_EQ(steps.back().epsilon, 0);
    std::vector<std::int64_t> epsilons;
    for (std::size_t a = 0; a < law.steps().size(); ++a)
      for (std::size_t b = a; b < law.steps().size(); ++b) epsilons.push_back(law.steps()[b] - law.steps()[a]);
    std::sort(epsilons.begin(), epsilons.end());
    epsilons.erase(std::unique(epsilons.begin(), epsilons.end()), epsilons.end());
    if (large) {
      // The recurrence is slow: around the steps, and some others.
      std::vector<std::int64_t> some;
      for (int i = 0; i < 150; ++i) {
        const std::int64_t step = steps[random() % steps.size()].epsilon;
        some.push_back(step);
        some.push_back(std::max<std::int64_t>(0, step - 1));
        some.push_back(epsilons[random() % epsilons.size()]);
      }
      epsilons = some;
    }
    for (const std::int64_t epsilon : epsilons)
      ASSERT_NEAR(curve.EntropyAt(epsilon), EquivocationByRecurrence(law, epsilon), 1e-10)
          << "round " << round << " epsilon " << epsilon;
    if (large) continue;
    double area = 0;
    for (std::size_t i = 1; i < epsilons.size(); ++i)
      area += EquivocationByRecurrence(law, epsilons[i - 1]) * static_cast<double>(epsilons[i] - epsilons[i - 1]);
    EXPECT_NEAR(curve.Area(0), area, 1e-9 * std::max(1.0, area)) << "round " << round;
  }
}

// Goes on after interrupts, to the same curve.
TEST(Equivocation, PausesAndGoesOn) {
  static int questions;
  questions = 0;
  std::mt19937_64 random(12);
  std::vector<Decimal> values;
  for (int i = 0; i < 400; ++i) values.push_back({static_cast<std::int64_t>(random() % 1'000'000), 3});
  const ValueLaw law(values, nullptr);
  const EquivocationCurve whole = CurveOf(law);
  WorkControl control;
  control.interrupted = [] { return ++questions % 3 == 0; };
  EquivocationCurve curve(law);
  int pauses = 0;
  while (!curve.Run(control)) ++pauses;
  EXPECT_GT(pauses, 3);
  ASSERT_EQ(curve.steps().size(), whole.steps().size());
  for (std::size_t i = 0; i < whole.steps().size(); ++i) {
    EXPECT_EQ(curve.steps()[i].epsilon, whole.steps()[i].epsilon);
    EXPECT_NEAR(curve.steps()[i].entropy, whole.steps()[i].entropy, 1e-12);
  }
}

}  // namespace
}  // namespace privacy_score

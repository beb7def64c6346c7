/*
 * value_law_test.cpp - laws of values, and the background measures on them.
 */
#include "core/loss/value_law.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "error_fixture.hpp"
#include "loss_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Decimals;
using testing_support::ErrorOf;

ValueLaw LawOf(const std::vector<const char*>& values, const std::vector<double>& probabilities) {
  return ValueLaw(Decimals(values), &probabilities);
}

TEST(ValueLaw, MergesSortsAndDrops) {
  const ValueLaw law = LawOf({"2.25", "-1", "7", "2.250"}, {0.25, 0.5, 0, 0.25});
  EXPECT_EQ(law.decimals(), 2);
  EXPECT_EQ(law.steps(), (std::vector<std::int64_t>{0, 325}));
  EXPECT_EQ(law.probabilities(), (std::vector<double>{0.5, 0.5}));
  const ValueLaw equal(Decimals({"1", "1", "2", "3"}), nullptr);
  EXPECT_EQ(equal.probabilities(), (std::vector<double>{0.5, 0.25, 0.25}));
}

TEST(ValueLaw, Refusals) {
  EXPECT_EQ(ErrorOf([] { LawOf({}, {}); }), "22023 vals must not be empty");
  EXPECT_EQ(ErrorOf([] {
              LawOf({"1"}, {0.5, 0.5});
            }),
            "22023 there must be one probability for each of the 1 values, not 2");
  EXPECT_EQ(ErrorOf([] {
              LawOf({"1", "2"}, {0.5, 0.4});
            }),
            "22023 the probabilities of vals must sum to one, not to 0.9");
  EXPECT_EQ(ErrorOf([] {
              LawOf({"0", "99999999999999999999"}, {0.5, 0.5});
            }),
            "22003 vals span too many steps of their common grid");
}

// Uniform noise of width 2: width 1 at 50 %, 2 at 100 %; two clusters are one cluster at 50 %.
TEST(ValueLaw, IntervalPrivacy) {
  const ValueLaw law = LawOf({"0", "1", "4", "5"}, {0.25, 0.25, 0.25, 0.25});
  EXPECT_EQ(IntervalPrivacy(law, 0.25), 0);
  EXPECT_EQ(IntervalPrivacy(law, 0.5), 1);
  EXPECT_EQ(IntervalPrivacy(law, 0.51), 4);
  EXPECT_EQ(IntervalPrivacy(law, 0.75), 4);
  EXPECT_EQ(IntervalPrivacy(law, 1), 5);
  EXPECT_EQ(IntervalPrivacy(LawOf({"0", "10", "11", "12"}, {0.7, 0.1, 0.1, 0.1}), 0.7), 0);
  EXPECT_EQ(ErrorOf([&] { IntervalPrivacy(law, 0); }), "22023 confidence must be greater than 0 and at most 1, not 0");
}

TEST(ValueLaw, InformationLoss) {
  EXPECT_EQ(InformationLoss({0.5, 0.5, 0}, {0.5, 0.5, 0}, 1), 0);
  EXPECT_EQ(InformationLoss({0.5, 0.5, 0}, {0, 0, 1}, 1), 1);
  EXPECT_NEAR(InformationLoss({2, 2, 0, 0}, {1, 1, 1, 1}, 0.25), 0.5, 1e-15);
  EXPECT_EQ(ErrorOf([] {
              InformationLoss({0.5, 0.5}, {1, 1}, 1);
            }),
            "22023 the probabilities of estimated must sum to one, not to 2");
  EXPECT_EQ(ErrorOf([] {
              InformationLoss({1}, {0.5, 0.5}, 1);
            }),
            "22023 estimated must have one density for each of the 1 cells, not 2");
}

TEST(ValueLaw, ReciprocalRisk) {
  EXPECT_EQ(ReciprocalRisk({0.5, 0.5}), 1);
  EXPECT_NEAR(ReciprocalRisk({0.25, 0.25, 0.25, 0.25}), 0.5, 1e-15);
  EXPECT_TRUE(std::isinf(ReciprocalRisk({1, 0})));
}

}  // namespace
}  // namespace privacy_score

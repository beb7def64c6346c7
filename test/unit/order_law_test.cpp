/*
 * order_law_test.cpp - records of one group against the same records in several groups, which are counted differently.
 */
#include "core/loss/order_law.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

const std::vector<double> kLaw = {0.001, 0.299, 0.2, 0.05, 0.4, 0.05};

void ExpectProportional(const OrderWeights& a, const OrderWeights& b) {
  const double scale = a.at_first / b.at_first;
  EXPECT_NEAR(a.below, b.below * scale, 1e-11 * a.at_first);
  EXPECT_NEAR(a.at_last, b.at_last * scale, 1e-11 * a.at_last);
  EXPECT_NEAR(a.above, b.above * scale, 1e-11 * a.at_first);
}

TEST(OrderLaw, GroupsOfOneLaw) {
  for (const OrderStatistic statistic : {OrderStatistic::kMinimum, OrderStatistic::kMaximum, OrderStatistic::kMedian}) {
    for (const std::int64_t records : {2, 5, 40, 61}) {
      const OrderLaw one(statistic, {{kLaw, records}});
      const OrderLaw two(statistic, {{kLaw, records / 2}, {kLaw, records - records / 2}});
      const bool pairs = statistic == OrderStatistic::kMedian && records % 2 == 0;
      for (std::size_t first = 0; first < kLaw.size(); ++first) {
        for (std::size_t last = first; last < (pairs ? kLaw.size() : first + 1); ++last) {
          const auto a = one.WeightsOf(first, last, {});
          const auto b = two.WeightsOf(first, last, {});
          ASSERT_EQ(a.size(), 1U);
          ASSERT_EQ(b.size(), 2U);
          ExpectProportional(a[0], b[0]);
          ExpectProportional(a[0], b[1]);
          // All outcomes have the same scale: the ratio of two is right, too.
          const double ratio = b[0].log_scale + std::log(b[0].at_first) - a[0].log_scale - std::log(a[0].at_first);
          const auto a0 = one.WeightsOf(1, 1, {});
          const auto b0 = two.WeightsOf(1, 1, {});
          EXPECT_NEAR(ratio, b0[0].log_scale + std::log(b0[0].at_first) - a0[0].log_scale - std::log(a0[0].at_first),
                      1e-9);
        }
      }
    }
  }
}

// A minimum that a single improbable record reaches among many.
TEST(OrderLaw, NothingCancels) {
  const OrderLaw law(OrderStatistic::kMinimum, {{{1e-20, 1 - 1e-20}, 1000}, {{1e-30, 1}, 1}});
  const auto weights = law.WeightsOf(0, 0, {});
  EXPECT_NEAR(weights[0].above / (999e-20 + 1e-30), 1, 1e-13);
  EXPECT_NEAR(weights[1].above / 1e-17, 1, 1e-13);
}

TEST(OrderLaw, Impossible) {
  const OrderLaw law(OrderStatistic::kMinimum, {{{0.5, 0.5, 0}, 2}, {{1, 0, 0}, 1}});
  EXPECT_TRUE(law.WeightsOf(1, 1, {}).empty());
  EXPECT_FALSE(law.WeightsOf(0, 0, {}).empty());
  EXPECT_TRUE(OrderLaw(OrderStatistic::kMedian, {{{0.5, 0, 0.5}, 3}}).WeightsOf(1, 1, {}).empty());
}

TEST(OrderLaw, TooManyDifferentPriors) {
  const OrderLaw law(OrderStatistic::kMedian, {{{0.5, 0.5}, 100'000}, {{0.4, 0.6}, 1}});
  EXPECT_EQ(ErrorOf([&] { law.WeightsOf(0, 0, {}); }),
            "54000 the median of 100001 records with different priors takes too long");
}

}  // namespace
}  // namespace privacy_score

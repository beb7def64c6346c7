/*
 * tail_test.cpp - tails: numbers by hand, against counting, never rising, few points of many values.
 */
#include "core/detection/tail.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

std::vector<double> Repeated(double value, std::size_t times) { return std::vector<double>(times, value); }

TEST(Quantiles, CountWhatIsThere) {
  const Quantiles quantiles({5, 1, 1, 2, 9, 2, 2, 1, 1, 1});
  EXPECT_EQ(quantiles.count(), 10);
  EXPECT_EQ(quantiles.ShareFrom(-1), 1);
  EXPECT_EQ(quantiles.ShareFrom(1), 1);
  EXPECT_EQ(quantiles.ShareFrom(1.5), .5);
  EXPECT_EQ(quantiles.ShareFrom(2), .5);
  EXPECT_EQ(quantiles.ShareFrom(3), .2);
  EXPECT_EQ(quantiles.ShareFrom(9), .1);
  EXPECT_EQ(quantiles.ShareFrom(9.5), 0);
  EXPECT_EQ(quantiles.Exceeded(0), 9);
  EXPECT_EQ(quantiles.Exceeded(.1), 5);
  EXPECT_EQ(quantiles.Exceeded(.2), 2);
  EXPECT_EQ(quantiles.Exceeded(.5), 1);
  EXPECT_EQ(quantiles.Exceeded(1), 1);
  const Quantiles none;
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.ShareFrom(0), 0);
  EXPECT_EQ(none.Exceeded(.5), 0);
}

// 0.1 of 30 values are 3, though the product in doubles may be less or more.
TEST(Quantiles, SharesOfWholeNumbersAreWhole) {
  for (int count = 10; count <= 3000; count += 10) {
    std::vector<double> values(static_cast<std::size_t>(count), 0.0);
    for (int i = 0; i < count / 10; ++i) values[static_cast<std::size_t>(i)] = 1;
    EXPECT_EQ(Quantiles(values).Exceeded(.1), 0) << count;
    values[static_cast<std::size_t>(count / 10)] = 1;
    EXPECT_EQ(Quantiles(values).Exceeded(.1), 1) << count;
  }
}

TEST(Quantiles, KeepFewPointsOfMany) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> draw(.5);
  std::vector<double> values(200000);
  for (double& value : values) value = draw(random);
  const Quantiles quantiles(values);
  EXPECT_LE(quantiles.points().size(), 1000U);
  EXPECT_EQ(quantiles.count(), 200000);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(quantiles.points().front().value, values.front());
  EXPECT_EQ(quantiles.points().back().value, values.back());
  double before = 1;
  for (double x = 0; x < values.back() + 1; x += .01) {
    const auto from = static_cast<double>(values.end() - std::lower_bound(values.begin(), values.end(), x)) / 200000;
    const double share = quantiles.ShareFrom(x);
    ASSERT_GE(share, from) << x;
    ASSERT_LE(share, from * 1.02) << x;
    ASSERT_LE(share, before);
    before = share;
  }
  for (const double share : {.5, .1, .01, .001, .0001}) {
    const double point = quantiles.Exceeded(share);
    const auto above =
        static_cast<double>(values.end() - std::upper_bound(values.begin(), values.end(), point)) / 200000;
    EXPECT_LE(above, share);
    EXPECT_GE(above, share / 1.03);
  }
}

TEST(Quantiles, RefuseDamagedPoints) {
  const auto read = [](std::vector<Quantiles::Point> points) {
    return ErrorOf([&] { Quantiles quantiles(std::move(points)); });
  };
  const std::string damaged = "XX001 could not read internal data: points of a distribution";
  EXPECT_EQ(read({}), "");
  EXPECT_EQ(read({{1, 3, 2}, {2, 2, 0}}), "");
  EXPECT_EQ(read({{1, 3, 2}, {2, 1, 0}}), "");
  EXPECT_EQ(read({{1, 3, 2}}), damaged);
  EXPECT_EQ(read({{1, 3, 3}, {2, 2, 0}}), damaged);
  EXPECT_EQ(read({{1, 3, 2}, {2, 3, 0}}), damaged);
  EXPECT_EQ(read({{1, 3, 2}, {1, 2, 0}}), damaged);
  EXPECT_EQ(read({{2, 3, 2}, {1, 2, 0}}), damaged);
  EXPECT_EQ(read({{1, 3, -1}}), damaged);
  EXPECT_EQ(read({{1, 0, 0}}), damaged);
  EXPECT_EQ(read({{std::nan(""), 1, 0}}), damaged);
  EXPECT_EQ(read({{HUGE_VAL, 1, 0}}), damaged);
  EXPECT_EQ(read({{1, std::numeric_limits<std::int64_t>::max(), 0}}), damaged);
}

// Twenty values 0, 17 of 1, 3 more: q = 1, P(> q) = 3/40, beta = (1 + 2 + 6)/3.
TEST(Tail, WorkedByHand) {
  std::vector<double> values = Repeated(0, 20);
  for (const double value : Repeated(1, 17)) values.push_back(value);
  values.insert(values.end(), {2, 3, 7});
  const Tail tail(values);
  EXPECT_EQ(tail.excess().from, 1);
  EXPECT_EQ(tail.excess().rate, 3.0 / 40);
  EXPECT_EQ(tail.excess().mean, 3);
  EXPECT_EQ(tail.Unusual(0), 0);
  EXPECT_NEAR(tail.Unusual(.5), std::log10(2), 1e-12);
  EXPECT_NEAR(tail.Unusual(1), std::log10(2), 1e-12);
  EXPECT_NEAR(tail.Unusual(7), -std::log10(3.0 / 40 * std::exp(-2)), 1e-12);
  EXPECT_NEAR(tail.Unusual(1.0000001), -std::log10(3.0 / 40), 1e-7);
  EXPECT_EQ(tail.seen().Exceeded(.05), 2);

  // A role of 20: 18 of 5, 6 and 8: q = 5, two excesses of 1 and 3.
  std::vector<double> own = Repeated(5, 18);
  own.insert(own.end(), {6, 8});
  const Tail of_role(own, tail);
  EXPECT_EQ(of_role.excess().from, 5);
  EXPECT_NEAR(of_role.excess().rate, 7 / (20 + 5 / (3.0 / 40)), 1e-15);
  EXPECT_NEAR(of_role.excess().mean, (4 + 5 * 3.0) / 7, 1e-12);
  EXPECT_EQ(of_role.Unusual(5), 0);
}

TEST(Tail, OfNothingFindsNothingUnusual) {
  for (const Tail& tail : {Tail(), Tail(std::vector<double>()), Tail(std::vector<double>(), Tail({1, 2, 3}))}) {
    EXPECT_EQ(tail.Unusual(0), 0);
    EXPECT_EQ(tail.Unusual(1e300), 0);
    EXPECT_EQ(tail.seen().count(), 0);
  }
}

TEST(Tail, OfEqualValuesIsOfOneInOneMore) {
  const Tail tail(Repeated(4, 99));
  EXPECT_EQ(tail.Unusual(4), 0);
  EXPECT_EQ(tail.Unusual(3), 0);
  EXPECT_NEAR(tail.Unusual(5), 2 + 1 / std::log(10), 1e-12);
  EXPECT_NEAR(tail.Unusual(14), 2 + 10 / std::log(10), 1e-12);
  const Tail of_role(Repeated(2, 40), tail);
  EXPECT_EQ(of_role.excess().from, 2);
  EXPECT_NEAR(of_role.excess().rate, 5 / (40 + 500.0), 1e-15);
  EXPECT_EQ(of_role.excess().mean, 1);
}

TEST(Tail, NeverRisesAndIsNeverNaN) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 400; ++round) {
    const auto draw = [&](std::size_t most) {
      std::vector<double> values(1 + random() % most);
      for (double& value : values) {
        value = static_cast<double>(random() % (round % 3 == 0 ? 3 : 50));
        if (round % 5 == 0) value = std::exp(value);
        if (round % 7 == 0) value *= 1e-300;
      }
      return values;
    };
    const Tail all(draw(200));
    std::vector<double> own = draw(static_cast<std::size_t>(all.seen().count()));
    for (const Tail& tail : {all, Tail(own, all)}) {
      double before = 0;
      std::vector<double> at = {0, 1e-310, 1e-300, 2e-299, 1e-298, 1e-290, 1e20, 1e30, 1e300};
      for (double x = 0; x < 60; x += .25) at.push_back(x);
      std::sort(at.begin(), at.end());
      for (const double x : at) {
        const double unusual = tail.Unusual(x);
        ASSERT_TRUE(std::isfinite(unusual)) << x;
        ASSERT_GE(unusual, before) << x;
        before = unusual;
      }
      // What is read back may be refused for nothing that can be written.
      EXPECT_EQ(ErrorOf([&] { Tail(tail.seen(), tail.excess()); }), "");
    }
  }
}

TEST(Tail, RefusesDamage) {
  const Quantiles seen({1, 2, 3});
  const auto read = [&](const Excess& excess) { return ErrorOf([&] { Tail(seen, excess); }); };
  EXPECT_EQ(read({3, .25, 1}), "");
  const double nan = std::nan("");
  for (const Excess& wrong :
       {Excess{nan, .2, 1}, Excess{3, nan, 1}, Excess{3, .2, nan}, Excess{3, 0, 1}, Excess{3, .2, 0}, Excess{3, .2, -1},
        Excess{3, .2, HUGE_VAL}, Excess{3, .34, 1}, Excess{2, 1.1, 1}, Excess{4, .1, 1}})
    EXPECT_EQ(read(wrong), "XX001 could not read internal data: a tail");
}

}  // namespace
}  // namespace privacy_score

/*
 * rate_bounds_test.cpp - how far a rate can move, against rates of tables that were really modified.
 */
#include "core/scoring/rate_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/entropy/entropy.hpp"
#include "sanitizers.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::TestTable;

// A table of columns x, y, z, and the rate of y, z against x.
struct Measured {
  double rate;
  double subject_entropy;
};
Measured Measure(const TestTable& table) {
  const double h_x = Entropy(table.SizesBy({0}));
  return {DiscriminationRate(h_x, Entropy(table.SizesBy({0, 1, 2})), Entropy(table.SizesBy({1, 2}))), h_x};
}

TEST(RateBounds, ExactWithoutModifications) {
  const RateBounds bounds = AfterModifications(.3, 8, 256, 0);
  EXPECT_EQ(bounds.lower, .3);
  EXPECT_EQ(bounds.upper, .3);
}

TEST(RateBounds, NothingIsKnownWhenAllMayHaveChanged) {
  for (const std::int64_t rows : {0, 1, 40}) {
    const RateBounds bounds = AfterModifications(.3, 5, rows, std::max<std::int64_t>(1, rows));
    EXPECT_EQ(bounds.lower, 0);
    EXPECT_EQ(bounds.upper, 1);
  }
}

// 2^20 rows, X = the row, a tenth modified: with f(n) = n lg n by the formula of the header,
// and within .15 of what it was.
TEST(RateBounds, OfALargeTableByHand) {
  const std::int64_t rows = 1 << 20;
  const RateBounds bounds = AfterModifications(.5, 20, rows, rows / 10);
  const auto f = [](double n) { return n * std::log2(n); };
  const double n = static_cast<double>(rows);
  const auto m = static_cast<double>(rows / 10);
  EXPECT_NEAR(bounds.upper, 1 - (n * 10 - (f(n) - f(n - m))) / f(n + m), 1e-12);
  EXPECT_NEAR(bounds.lower, 1 - (n * 10 + f(n + m) - f(n)) / f(n - m), 1e-12);
  EXPECT_LT(bounds.upper, .65);
  EXPECT_GT(bounds.lower, .3);
}

// Random tables, of which random rows are deleted, changed or added: the rate never leaves the bounds.
TEST(RateBounds, HoldWhateverIsModified) {
  std::mt19937 random(20261121);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int tight = 0;
  for (int round = 0; round < testing_support::Instances(4000); ++round) {
    TestTable table{"public.t", {"x", "y", "z"}, {}};
    const int domain[] = {1 + below(round % 2 == 0 ? 400 : 12), 1 + below(20), 1 + below(6)};
    const auto row = [&] { return std::vector<int>{below(domain[0]), below(domain[1]), below(domain[2])}; };
    const int rows = 1 + below(300);
    for (int i = 0; i < rows; ++i) table.rows.push_back(row());
    const Measured before = Measure(table);
    const int modified = below(1 + rows / (1 + below(20)));
    // Not only at random: new rows that all are new values, or all one.
    const int kind = below(3);
    for (int i = 0; i < modified; ++i) {
      const std::vector<int> fresh = kind == 0   ? row()
                                     : kind == 1 ? std::vector<int>{1000 + i, 1000 + i, 0}
                                                 : std::vector<int>{1000 + i, 0, 0};
      const int what = below(3);
      if (what == 0 || table.rows.empty()) {
        table.rows.push_back(fresh);
      } else if (what == 1) {
        table.rows[static_cast<std::size_t>(below(static_cast<int>(table.rows.size())))] = fresh;
      } else {
        table.rows.erase(table.rows.begin() + below(static_cast<int>(table.rows.size())));
      }
    }
    const Measured after = Measure(table);
    const RateBounds bounds = AfterModifications(before.rate, before.subject_entropy, rows, modified);
    ASSERT_LE(bounds.lower, after.rate + 1e-12) << "round " << round;
    ASSERT_GE(bounds.upper, after.rate - 1e-12) << "round " << round;
    ASSERT_LE(bounds.lower, before.rate);
    ASSERT_GE(bounds.upper, before.rate);
    if (modified > 0 && bounds.upper < 1 && bounds.lower > 0) ++tight;
  }
  EXPECT_GT(tight, testing_support::Instances(100));  // they say something
}

}  // namespace
}  // namespace privacy_score

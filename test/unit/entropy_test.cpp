/*
 * entropy_test.cpp - the table of docs/scoring.md, section 2, and worked cases pub-013 to pub-020.
 */
#include "core/entropy/entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ExampleTable;
using testing_support::TestTable;

enum Column : std::size_t { kFirst, kLast, kGender, kDepartment, kCity, kHead };

double RateFor(const TestTable& table, const std::vector<std::size_t>& target, const std::vector<std::size_t>& by) {
  std::vector<std::size_t> both = target;
  both.insert(both.end(), by.begin(), by.end());
  return DiscriminationRate(Entropy(table.SizesBy(target)), Entropy(table.SizesBy(both)), Entropy(table.SizesBy(by)));
}

TEST(Entropy, TableOfTheExample) {
  const TestTable table = ExampleTable();
  const struct {
    std::vector<std::size_t> by;
    double row;
    double last_name;
  } cases[] = {
      {{kFirst}, .6555, .5838},
      {{kLast}, .8277, 1},
      {{kGender}, .3109, .3756},
      {{kDepartment}, .4182, .2971},
      {{kHead}, .4182, .2971},
      {{kDepartment, kHead}, .4182, .2971},
      {{kCity}, 0, 0},
      {{kGender, kDepartment}, .6555, .5838},
      {{kFirst, kLast}, 1, 1},
      {{kFirst, kDepartment}, 1, 1},
      {{kLast, kDepartment}, 1, 1},
  };
  for (const auto& c : cases) {
    EXPECT_NEAR(table.Rate(c.by), c.row, 5e-5);
    EXPECT_NEAR(RateFor(table, {kLast}, c.by), c.last_name, 5e-5);
  }
}

TEST(Entropy, WorkedCases) {
  const TestTable table = ExampleTable();
  EXPECT_NEAR(table.Rate({kFirst}), 0.655458753541, 1e-11);
  EXPECT_EQ(table.Rate({kCity}), 0);
  EXPECT_EQ(table.Rate({kLast, kGender, kCity, kFirst}), 1);
  EXPECT_EQ(table.Rate({kLast, kGender, kDepartment}), 1);
  EXPECT_EQ(table.Rate({kLast, kDepartment, kFirst}), 1);
  EXPECT_NEAR(Entropy(table.SizesBy({kDepartment})), 0.970950594455, 1e-11);
  EXPECT_EQ(RateFor(table, {kDepartment}, {kHead}), 1);
  EXPECT_EQ(RateFor(table, {kCity}, {kGender}), 0);
  EXPECT_NEAR(Entropy({{1, 5}}), 2.32192809489, 1e-10);
  EXPECT_NEAR(DiscriminationRate(0.954434002925, 0.795565997075 + 0.954434002925, 0.954434002925), 0.166452583796,
              1e-10);
}

TEST(Entropy, ExactAtTheEnds) {
  const auto row_rate = [](std::int64_t rows, const ClassSizes& sizes) {
    const double entropy = Entropy({{1, rows}});
    return DiscriminationRate(entropy, entropy, Entropy(sizes));
  };
  for (std::int64_t n = 1; n < 3000; n += 7) {
    EXPECT_EQ(Entropy({{n, 1}}), 0);
    EXPECT_EQ(row_rate(n, {{n, 1}}), 0);
    EXPECT_EQ(row_rate(n, {{1, n}}), n > 1 ? 1 : 0);
  }
  EXPECT_EQ(Entropy({}), 0);
}

TEST(Entropy, OrderAndSplitOfTheHistogramDoNotMatter) {
  const double entropy = Entropy({{3, 5}, {7, 2}, {1, 9}});
  EXPECT_EQ(entropy, Entropy({{1, 4}, {7, 2}, {1, 5}, {3, 5}, {8, 0}}));
}

TEST(Entropy, LargeTables) {
  const std::int64_t size = std::int64_t{1} << 40;
  EXPECT_NEAR(Entropy({{size, 1 << 20}}), 20, 1e-12);
}

TEST(Entropy, RefusesBadHistograms) {
  EXPECT_THROW(Entropy({{0, 1}}), Error);
  EXPECT_THROW(Entropy({{-2, 1}}), Error);
  EXPECT_THROW(Entropy({{2, -1}}), Error);
}

TEST(DiscriminationRate, IsClamped) {
  EXPECT_EQ(DiscriminationRate(0, 0, 0), 0);
  EXPECT_EQ(DiscriminationRate(1, 3, 1), 0);
  EXPECT_EQ(DiscriminationRate(1, 1, 3), 1);
}

}  // namespace
}  // namespace privacy_score

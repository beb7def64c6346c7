/*
 * class_measures_test.cpp - diversity and closeness of equivalence classes: by hand, and by definition on random
 * tables.
 */
#include "core/entropy/class_measures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace privacy_score;

namespace {

TEST(ClassMeasures, EffectiveValues) {
  EXPECT_DOUBLE_EQ(EffectiveValues({{0, 3}}), 1);
  EXPECT_DOUBLE_EQ(EffectiveValues({{0, 2}, {1, 2}}), 2);
  EXPECT_NEAR(EffectiveValues({{0, 3}, {1, 1}}), std::exp2(0.811278124459133), 1e-12);
  EXPECT_DOUBLE_EQ(EffectiveValues({}), 0);
}

// The table of [Li and others, table 3]: salaries 3k to 11k, one record each. {3,4,5} is 0.375 from it, {6,8,11} 0.167.
TEST(ClassMeasures, SalariesOfThePaper) {
  const Closeness closeness(std::vector<std::int64_t>(9, 1));
  EXPECT_NEAR(closeness.OrderedEarthMovers({{0, 1}, {1, 1}, {2, 1}}), 0.375, 1e-12);
  EXPECT_NEAR(closeness.OrderedEarthMovers({{3, 1}, {5, 1}, {8, 1}}), 1.0 / 6, 1e-12);
  EXPECT_NEAR(closeness.Variational({{0, 1}, {1, 1}, {2, 1}}), 2.0 / 3, 1e-12);
}

TEST(ClassMeasures, OneValueAndTheWholeTable) {
  const Closeness one({7});
  EXPECT_EQ(one.OrderedEarthMovers({{0, 3}}), 0);
  EXPECT_EQ(one.Variational({{0, 3}}), 0);
  const Closeness table({2, 4, 6});
  EXPECT_NEAR(table.OrderedEarthMovers({{0, 1}, {1, 2}, {2, 3}}), 0, 1e-15);
  EXPECT_NEAR(table.Variational({{0, 1}, {1, 2}, {2, 3}}), 0, 1e-15);
  EXPECT_NEAR(table.OrderedEarthMovers({{2, 5}}), (2.0 / 12 + 6.0 / 12) / 2, 1e-15);
}

TEST(ClassMeasures, EqualTheirDefinitions) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) {
    const std::size_t ranks = 1 + random() % 12;
    std::vector<std::int64_t> table(ranks), in_class(ranks);
    std::vector<ClassValue> values;
    for (std::size_t k = 0; k < ranks; ++k) {
      in_class[k] = static_cast<std::int64_t>(random() % 4);
      table[k] = in_class[k] + 1 + static_cast<std::int64_t>(random() % 5);
      if (in_class[k] > 0) values.push_back({k, in_class[k]});
    }
    if (values.empty()) continue;
    double all = 0, own = 0;
    for (std::size_t k = 0; k < ranks; ++k)
      all += static_cast<double>(table[k]), own += static_cast<double>(in_class[k]);
    double variational = 0, movers = 0, difference = 0;
    for (std::size_t k = 0; k < ranks; ++k) {
      const double p = static_cast<double>(in_class[k]) / own - static_cast<double>(table[k]) / all;
      variational += std::abs(p) / 2;
      difference += p;
      movers += std::abs(difference);
    }
    const Closeness closeness(table);
    EXPECT_NEAR(closeness.Variational(values), variational, 1e-12);
    EXPECT_NEAR(closeness.OrderedEarthMovers(values), ranks > 1 ? movers / static_cast<double>(ranks - 1) : 0, 1e-12);
  }
}

}  // namespace

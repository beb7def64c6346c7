/*
 * row_span_test.cpp - combinations of rows: what they make, what they contradict.
 */
#include "core/inference/row_span.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/base/paused.hpp"

namespace privacy_score {
namespace {

using Added = RowSpan::Added;

TEST(RowSpan, FindsUnitsAndTheirValues) {
  RowSpan span;
  EXPECT_EQ(span.Add(RowOfOnes({0, 1}, 5)), Added::kNew);
  EXPECT_EQ(span.Add(RowOfOnes({1, 2}, 7)), Added::kNew);
  EXPECT_FALSE(span.MakesUnit(0));
  EXPECT_EQ(span.Add(RowOfOnes({0, 2}, 3)), Added::kNew);
  Rational value;
  ASSERT_TRUE(span.MakesUnit(0, &value));
  EXPECT_EQ(value, Rational(1, 2));
  ASSERT_TRUE(span.MakesUnit(1, &value));
  EXPECT_EQ(value, Rational(9, 2));
  ASSERT_TRUE(span.MakesUnit(2, &value));
  EXPECT_EQ(value, Rational(5, 2));
  EXPECT_EQ(span.Add(RowOfOnes({0, 1, 2}, 7)), Added::kContradiction);
  EXPECT_EQ(span.Add(RowOfOnes({0}, 1)), Added::kContradiction);
}

TEST(RowSpan, KnowsWhatItHas) {
  RowSpan span;
  EXPECT_EQ(span.Add(RowOfOnes({0, 1, 2, 3}, 10)), Added::kNew);
  EXPECT_EQ(span.Add(RowOfOnes({2, 3}, 4)), Added::kNew);
  EXPECT_EQ(span.Add(RowOfOnes({0, 1}, 6)), Added::kCombined);
  EXPECT_EQ(span.Add(RowOfOnes({0, 1}, 7)), Added::kContradiction);
  EXPECT_TRUE(span.Reduced(RowOfOnes({0, 1})).entries.empty());
  EXPECT_FALSE(span.Reduced(RowOfOnes({0, 2})).entries.empty());
}

TEST(RowSpan, PausesWithoutLosingARow) {
  RowSpan span;
  span.Add(RowOfOnes({0, 1}, 5));
  WorkControl control;
  control.interrupted = [] { return true; };
  EXPECT_THROW(span.Add(RowOfOnes({0, 2}, 3), control), Paused);
  EXPECT_EQ(span.rows().size(), 1u);
  EXPECT_EQ(span.Add(RowOfOnes({0, 2}, 3)), Added::kNew);
}

// Random equations with a solution that is known: every unit that can be made has the solution's value, and a unit can
// be made exactly when adding it tells nothing new.
TEST(RowSpan, AgreesWithASolution) {
  std::mt19937 random(3);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  int made = 0;
  for (int round = 0; round < 1000; ++round) {
    const int places = pick(1, 9);
    std::vector<int> solution;
    for (int j = 0; j < places; ++j) solution.push_back(pick(-20, 20));
    RowSpan span;
    for (int i = pick(0, places + 1); i > 0; --i) {
      std::vector<int> row;
      Integer side = 0;
      for (int j = 0; j < places; ++j)
        if (pick(0, 1) == 1) {
          row.push_back(j);
          side += solution[static_cast<std::size_t>(j)];
        }
      EXPECT_NE(span.Add(RowOfOnes(row, side)), Added::kContradiction);
    }
    for (int j = 0; j < places; ++j) {
      Rational value;
      const bool makes = span.MakesUnit(j, &value);
      if (makes) {
        ++made;
        EXPECT_EQ(value, Rational(solution[static_cast<std::size_t>(j)]));
      }
      RowSpan more = span;
      EXPECT_EQ(more.Add(RowOfOnes({j}, solution[static_cast<std::size_t>(j)])) == Added::kCombined, makes);
      more = span;
      EXPECT_EQ(more.Add(RowOfOnes({j}, solution[static_cast<std::size_t>(j)] + 1)) == Added::kContradiction, makes);
    }
  }
  EXPECT_GT(made, 1000);
}

}  // namespace
}  // namespace privacy_score

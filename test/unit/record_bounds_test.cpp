/*
 * record_bounds_test.cpp - bounds of records against corners that are enumerated with exact fractions.
 */
#include "core/inference/record_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/error.hpp"
#include "record_sets_fixture.hpp"
#include "sanitizers.hpp"
#include "solver_fixture.hpp"

namespace privacy_score {
namespace {

using Sets = std::vector<std::vector<int>>;
using Limit = std::optional<std::int64_t>;

std::optional<Decimal> Whole(const Limit& limit) {
  if (!limit) return std::nullopt;
  return Decimal{*limit, 0};
}

std::string Text(const std::optional<Rational>& value) { return value ? TextOf(*value) : "open"; }

// "lower..upper" of each record, or what went wrong.
std::vector<std::string> BoundsOf(const Sets& sets, const std::vector<std::int64_t>& answers, const Limit& low,
                                  const Limit& high, int records) {
  std::vector<Decimal> decimals;
  for (const std::int64_t answer : answers) decimals.push_back({answer, 0});
  try {
    RecordBounds bounds(*ps_linear_solver(), SumsOf(SetsOf(sets), decimals, Whole(low), Whole(high), records));
    EXPECT_TRUE(bounds.Run({}));
    std::vector<std::string> texts;
    for (int record = 1; record <= records; ++record) {
      const RecordBound bound = bounds.Of(record);
      texts.push_back(Text(bound.lower) + ".." + Text(bound.upper));
    }
    return texts;
  } catch (const Error& error) {
    return {error.sqlstate(), error.what(), error.hint()};
  }
}

using Texts = std::vector<std::string>;

TEST(RecordBounds, OneSum) {
  EXPECT_EQ(BoundsOf({{1, 2}}, {157}, 40, 120, 2), (Texts{"40..117", "40..117"}));
  EXPECT_EQ(BoundsOf({{1, 2, 3}}, {9}, 1, 5, 4), (Texts{"1..5", "1..5", "1..5", "1..5"}));
  EXPECT_EQ(BoundsOf({{1, 2, 3}}, {14}, 1, 5, 3), (Texts{"4..5", "4..5", "4..5"}));
}

TEST(RecordBounds, SumsThatDetermineARecord) {
  EXPECT_EQ(BoundsOf({{1, 2, 3}, {2, 3}}, {9, 5}, 0, 10, 3), (Texts{"4..4", "0..5", "0..5"}));
  EXPECT_EQ(BoundsOf({{1, 2}, {2, 3}, {1, 3}}, {5, 7, 3}, 0, 10, 3), (Texts{"1/2..1/2", "9/2..9/2", "5/2..5/2"}));
  // by the limits only
  EXPECT_EQ(BoundsOf({{1, 2, 3}}, {0}, 0, 10, 3), (Texts{"0..0", "0..0", "0..0"}));
}

TEST(RecordBounds, OpenLimits) {
  EXPECT_EQ(BoundsOf({{1, 2}, {2}}, {7, 3}, {}, {}, 3), (Texts{"4..4", "3..3", "open..open"}));
  EXPECT_EQ(BoundsOf({{1, 2}, {2, 3}}, {7, 3}, 0, {}, 4), (Texts{"4..7", "0..3", "0..3", "0..open"}));
  EXPECT_EQ(BoundsOf({{1, 2}, {2, 3}}, {-7, -3}, {}, 0, 4), (Texts{"-7..-4", "-3..0", "-3..0", "open..0"}));
  EXPECT_EQ(BoundsOf({{1, 2}}, {-7}, {}, {}, 2), (Texts{"open..open", "open..open"}));
}

TEST(RecordBounds, RefusesContradictions) {
  const std::string message = "the answers contradict each other, or the limits of the records";
  EXPECT_EQ(
      BoundsOf({{1, 2}, {2, 3}}, {9, 4}, 1, 5, 3),
      (Texts{"22023", message, "No values give the answers of queries 1, 2, counted from 1, within low and high."}));
  EXPECT_EQ(BoundsOf({{1, 2}, {3}, {1, 2}}, {9, 2, 8}, 1, 5, 3)[2],
            "No values give the answers of queries 1, 3, counted from 1, within low and high.");
  EXPECT_EQ(BoundsOf({{1, 2}}, {-1}, 0, 5, 2)[2],
            "No values give the answer of query 1, counted from 1, within low and high.");
  EXPECT_EQ(BoundsOf({{1, 2}, {1, 2}}, {1, 2}, {}, {}, 2)[1], "the answers contradict each other");
  EXPECT_EQ(BoundsOf({{1}, {1}}, {1, 2}, 0, {}, 2)[1], message);
}

TEST(RecordBounds, RefusesBadArguments) {
  EXPECT_EQ(BoundsOf({{1}}, {1, 2}, 0, 5, 2)[1], "there are 1 queries and 2 answers");
  EXPECT_EQ(BoundsOf({}, {}, 0, 5, -1)[1], "records must be at least 0, not -1");
  EXPECT_EQ(BoundsOf({}, {}, 6, 5, 1)[1], "low must not be greater than high");
}

// A difference far below what floating point sees, between sums that no limit separates.
TEST(RecordBounds, ContradictionsOfTinySize) {
  const auto sums = [](const char* last) {
    return SumsOf(SetsOf({{1, 2}, {3, 4}, {1, 2, 3, 4}}),
                  {ParseDecimal("answers", "10"), ParseDecimal("answers", "10"), ParseDecimal("answers", last)},
                  Decimal{0, 0}, Decimal{10, 0}, 4);
  };
  RecordBounds sound(*ps_linear_solver(), sums("20.000000000000000"));
  EXPECT_TRUE(sound.Run({}));
  RecordBounds contradictory(*ps_linear_solver(), sums("20.000000000000001"));
  EXPECT_THROW(contradictory.Run({}), Error);
}

// All corners of { A x = b, low <= x <= high }: at a corner the columns of the variables that are at no limit are
// independent. Least and greatest values are taken at corners.
class Corners {
 public:
  Corners(const Sets& sets, const std::vector<std::int64_t>& answers, const Limit& low, const Limit& high, int records)
      : sets_(sets), answers_(answers), low_(low), high_(high), values_(static_cast<std::size_t>(records)) {
    free_.assign(values_.size(), false);
    least_.resize(values_.size());
    greatest_.resize(values_.size());
    Visit(0);
  }

  bool any() const { return any_; }
  std::string Of(std::size_t record) const { return TextOf(least_[record]) + ".." + TextOf(greatest_[record]); }

 private:
  void Visit(std::size_t record) {
    if (record == values_.size()) {
      Solve();
      return;
    }
    for (const Limit* limit : {&low_, &high_}) {
      if (!*limit) continue;
      values_[record] = Rational(**limit);
      Visit(record + 1);
    }
    free_[record] = true;
    Visit(record + 1);
    free_[record] = false;
  }

  void Solve() {
    std::vector<std::size_t> unknown;
    for (std::size_t j = 0; j < values_.size(); ++j)
      if (free_[j]) unknown.push_back(j);
    std::vector<std::vector<Rational>> rows;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      std::vector<Rational> row(unknown.size() + 1);
      row.back() = Rational(answers_[i]);
      for (const int record : sets_[i]) {
        const auto j = static_cast<std::size_t>(record - 1);
        const auto found = std::find(unknown.begin(), unknown.end(), j);
        if (found == unknown.end()) {
          row.back() = row.back() - values_[j];
        } else {
          row[static_cast<std::size_t>(found - unknown.begin())] = Rational(1);
        }
      }
      rows.push_back(row);
    }
    std::size_t rank = 0;
    for (std::size_t k = 0; k < unknown.size(); ++k) {
      std::size_t pivot = rank;
      while (pivot < rows.size() && rows[pivot][k] == Rational(0)) ++pivot;
      if (pivot == rows.size()) return;  // not independent
      std::swap(rows[rank], rows[pivot]);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i == rank || rows[i][k] == Rational(0)) continue;
        const Rational factor = rows[i][k] / rows[rank][k];
        for (std::size_t j = 0; j < rows[i].size(); ++j) rows[i][j] = rows[i][j] - factor * rows[rank][j];
      }
      ++rank;
    }
    for (std::size_t i = rank; i < rows.size(); ++i)
      if (rows[i].back() != Rational(0)) return;
    std::vector<Rational> corner = values_;
    for (std::size_t k = 0; k < unknown.size(); ++k) corner[unknown[k]] = rows[k].back() / rows[k][k];
    for (const Rational& value : corner)
      if ((low_ && value < Rational(*low_)) || (high_ && value > Rational(*high_))) return;
    for (std::size_t j = 0; j < corner.size(); ++j) {
      if (!any_ || corner[j] < least_[j]) least_[j] = corner[j];
      if (!any_ || corner[j] > greatest_[j]) greatest_[j] = corner[j];
    }
    any_ = true;
  }

  const Sets& sets_;
  const std::vector<std::int64_t>& answers_;
  const Limit low_, high_;
  std::vector<Rational> values_, least_, greatest_;
  std::vector<bool> free_;
  bool any_ = false;
};

TEST(RecordBounds, AgreesWithCornersOfRandomSystems) {
  std::mt19937 random(5);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  int answered = 0, refused = 0;
  for (int round = 0; round < testing_support::Instances(1500); ++round) {
    const int records = pick(1, 6);
    const int form = round % 5;
    const Limit low = form == 3 ? Limit() : Limit(pick(-3, 1));
    const Limit high = form == 4 ? Limit() : Limit(low.value_or(-2) + pick(0, 6));
    Sets sets;
    std::vector<std::int64_t> answers, truth;
    for (int j = 0; j < records; ++j)
      truth.push_back(pick(low ? static_cast<int>(*low) : -9, high ? static_cast<int>(*high) : 9));
    for (int i = pick(0, 5); i > 0; --i) {
      std::vector<int> set;
      std::int64_t sum = 0;
      for (int j = 1; j <= records; ++j)
        if (pick(0, 1) == 1) {
          set.push_back(j);
          sum += truth[static_cast<std::size_t>(j - 1)];
        }
      if (set.empty()) continue;
      sets.push_back(set);
      answers.push_back(sum + (pick(0, 19) == 0 ? 1 : 0));
    }
    const Texts found = BoundsOf(sets, answers, low, high, records);
    const Corners corners(sets, answers, low, high, records);
    if (!corners.any()) {
      ++refused;
      ASSERT_EQ(found[0], "22023") << round;
      continue;
    }
    ++answered;
    ASSERT_EQ(found.size(), static_cast<std::size_t>(records)) << round << ' ' << found[0] << ' ' << found[1];
    for (int j = 1; j <= records; ++j) {
      const bool asked = std::any_of(sets.begin(), sets.end(), [&](const std::vector<int>& set) {
        return std::find(set.begin(), set.end(), j) != set.end();
      });
      std::string expected = corners.Of(static_cast<std::size_t>(j - 1));
      if (!asked && !low) expected = "open.." + std::to_string(*high);
      if (!asked && !high) expected = std::to_string(*low) + "..open";
      EXPECT_EQ(found[static_cast<std::size_t>(j - 1)], expected) << round << " record " << j;
    }
  }
  EXPECT_GT(answered, testing_support::Instances(1200));
  EXPECT_GT(refused, testing_support::Instances(50));
}

// Larger systems, where only properties are known: the truth lies within, and bounds are attained up to rounding.
TEST(RecordBounds, HoldsTheTruthOfLargerSystems) {
  std::mt19937 random(9);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  for (int round = 0; round < 20; ++round) {
    const int records = pick(30, 60);
    std::vector<std::int64_t> truth;
    for (int j = 0; j < records; ++j) truth.push_back(pick(0, 1000000));
    Sets sets;
    std::vector<std::int64_t> answers;
    for (int i = 0; i < records / 2; ++i) {
      std::vector<int> set;
      std::int64_t sum = 0;
      for (int j = 1; j <= records; ++j)
        if (pick(0, 4) == 0) {
          set.push_back(j);
          sum += truth[static_cast<std::size_t>(j - 1)];
        }
      if (set.empty()) continue;
      sets.push_back(set);
      answers.push_back(sum);
    }
    std::vector<Decimal> decimals;
    for (const std::int64_t answer : answers) decimals.push_back({answer, 2});
    RecordBounds bounds(*ps_linear_solver(), SumsOf(SetsOf(sets), decimals, Decimal{0, 0}, Decimal{10000, 0}, records));
    ASSERT_TRUE(bounds.Run({}));
    for (int j = 1; j <= records; ++j) {
      const RecordBound bound = bounds.Of(j);
      EXPECT_LE(*bound.lower, Rational(truth[static_cast<std::size_t>(j - 1)]));
      EXPECT_GE(*bound.upper, Rational(truth[static_cast<std::size_t>(j - 1)]));
    }
  }
}

int questions;
TEST(RecordBounds, PausesAndGoesOn) {
  RecordSets sets;
  std::vector<Decimal> answers;
  for (int first = 1; first + 7 <= 60; first += 4) {
    int sum = 0;
    for (int j = 0; j < 8; ++j) {
      sets.records.push_back(first + j);
      sum += (first + j) * 7 % 11;
    }
    sets.starts.push_back(static_cast<std::int64_t>(sets.records.size()));
    answers.push_back({sum, 0});
  }
  const AnsweredSums sums = SumsOf(sets, answers, Decimal{0, 0}, Decimal{10, 0}, 60);
  RecordBounds at_once(*ps_linear_solver(), sums), paused(*ps_linear_solver(), sums);
  EXPECT_TRUE(at_once.Run({}));
  WorkControl control;
  control.interrupted = [] { return ++questions % 20 == 0; };
  int pauses = 0;
  while (!paused.Run(control)) ++pauses;
  EXPECT_GT(pauses, 2);
  for (int record = 1; record <= 60; ++record) {
    EXPECT_EQ(Text(paused.Of(record).lower), Text(at_once.Of(record).lower));
    EXPECT_EQ(Text(paused.Of(record).upper), Text(at_once.Of(record).upper));
  }
}

}  // namespace
}  // namespace privacy_score

/*
 * further_queries_test.cpp - fewest further queries, against all subsets of random systems.
 */
#include "core/inference/further_queries.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

#include "record_sets_fixture.hpp"

namespace privacy_score {
namespace {

using Sets = std::vector<std::vector<int>>;

// "record: numbers of queries", or "none".
std::string Fewest(const Sets& answered, const Sets& allowed, int records, const WorkControl& control = {}) {
  FurtherQueries search(SetsOf(answered), SetsOf(allowed), records);
  while (!search.Run(control)) {
  }
  if (search.record() == 0) return "none";
  std::string text = std::to_string(search.record()) + ":";
  for (const std::size_t query : search.queries()) text += " " + std::to_string(query + 1);
  return text;
}

TEST(FurtherQueries, KnowsWhatIsGivenAwayAlready) {
  EXPECT_EQ(Fewest({{1, 2}, {2}}, {{3}}, 3), "1:");
  EXPECT_EQ(Fewest({{1, 2}, {2, 3}, {1, 3}}, {}, 3), "1:");
}

TEST(FurtherQueries, FindsDifferencesAndTrackers) {
  EXPECT_EQ(Fewest({{1, 2, 3}}, {{1, 2}, {2, 3}}, 3), "3: 1");
  EXPECT_EQ(Fewest({}, {{1, 2}, {2, 3}, {3, 4}, {1, 3}}, 4), "1: 1 2 4");
  // all but record 5 by the complement of a padded query
  EXPECT_EQ(Fewest({{1, 2, 3, 4, 5, 6}}, {{1, 2, 5}, {3, 4, 5, 6}, {1, 2, 6}}, 6), "5: 1 2");
}

TEST(FurtherQueries, KnowsWhenNoneExists) {
  EXPECT_EQ(Fewest({{1, 2}}, {{3, 4}, {1, 2, 3, 4}}, 4), "none");
  EXPECT_EQ(Fewest({}, {{1, 2}, {2, 3}, {3, 4}, {4, 1}}, 4), "none");
  EXPECT_EQ(Fewest({}, {}, 3), "none");
  EXPECT_EQ(Fewest({}, {}, 0), "none");
}

// Whether sets give some record away, by elimination with fractions of its own.
bool GivesAway(const Sets& sets, int records) {
  std::vector<std::vector<Rational>> rows;
  for (const std::vector<int>& set : sets) {
    std::vector<Rational> row(static_cast<std::size_t>(records));
    for (const int record : set) row[static_cast<std::size_t>(record - 1)] = Rational(1);
    rows.push_back(row);
  }
  std::size_t rank = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(records); ++k) {
    std::size_t pivot = rank;
    while (pivot < rows.size() && rows[pivot][k] == Rational(0)) ++pivot;
    if (pivot == rows.size()) continue;
    std::swap(rows[rank], rows[pivot]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == rank || rows[i][k] == Rational(0)) continue;
      const Rational factor = rows[i][k] / rows[rank][k];
      for (std::size_t j = 0; j < rows[i].size(); ++j) rows[i][j] = rows[i][j] - factor * rows[rank][j];
    }
    ++rank;
  }
  for (const auto& row : rows) {
    int entries = 0;
    for (const Rational& entry : row) entries += entry == Rational(0) ? 0 : 1;
    if (entries == 1) return true;
  }
  return false;
}

int questions;

TEST(FurtherQueries, AgreesWithAllSubsets) {
  std::mt19937 random(13);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  const auto sets_of = [&](int count, int records) {
    Sets sets;
    for (int i = 0; i < count; ++i) {
      std::vector<int> set;
      for (int j = 1; j <= records; ++j)
        if (pick(0, 1) == 1) set.push_back(j);
      if (set.size() > 1) sets.push_back(set);
    }
    return sets;
  };
  WorkControl pausing;
  pausing.interrupted = [] { return ++questions % 200 == 0; };
  int numbers[8] = {}, none = 0;
  for (int round = 0; round < 1000; ++round) {
    const int records = pick(2, 7);
    const Sets answered = sets_of(pick(0, 3), records), allowed = sets_of(pick(0, 6), records);
    std::size_t fewest = 99;
    for (unsigned subset = 0; subset < 1u << allowed.size(); ++subset) {
      Sets all = answered;
      for (std::size_t i = 0; i < allowed.size(); ++i)
        if ((subset >> i & 1) != 0) all.push_back(allowed[i]);
      if (all.size() - answered.size() < fewest && GivesAway(all, records)) fewest = all.size() - answered.size();
    }
    FurtherQueries search(SetsOf(answered), SetsOf(allowed), records);
    while (!search.Run(pausing)) {
    }
    if (search.record() == 0) {
      ++none;
      EXPECT_EQ(fewest, 99u) << round;
      continue;
    }
    ASSERT_EQ(search.queries().size(), fewest) << round;
    ++numbers[fewest];
    Sets all = answered;
    for (const std::size_t query : search.queries()) all.push_back(allowed[query]);
    EXPECT_TRUE(GivesAway(all, records)) << round;
  }
  EXPECT_GT(none, 100);
  for (int count = 0; count <= 4; ++count) EXPECT_GT(numbers[count], 5) << count;
}

}  // namespace
}  // namespace privacy_score

/*
 * subset_entropies_test.cpp - entropies of sets of columns against plain grouping, on random tables.
 */
#include "core/entropy/subset_entropies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "coded_rows_fixture.hpp"
#include "core/base/error.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

constexpr std::size_t kPlenty = std::size_t{1} << 30;

// Equal to the last bit: both go through Entropy() of the same class sizes.
void ExpectFacts(const SubsetFacts& actual, const SubsetFacts& expected) {
  EXPECT_EQ(actual.rows, expected.rows);
  EXPECT_EQ(actual.classes, expected.classes);
  EXPECT_EQ(actual.uniques, expected.uniques);
  EXPECT_EQ(actual.entropy, expected.entropy);
}

void ExpectGrouping(const CodedTable& table, const ColumnSets& sets, std::size_t block = 1024,
                    const WorkControl& control = {}) {
  CodedRows rows(table.columns.size(), kPlenty);
  ASSERT_TRUE(table.AppendTo(&rows, block));
  SubsetEntropies entropies(rows, sets);
  while (!entropies.Run(control)) continue;
  ASSERT_EQ(entropies.facts().size(), sets.size());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::string name = "set";
    for (const std::size_t column : sets[i]) name += " " + std::to_string(column);
    SCOPED_TRACE(name);
    ExpectFacts(entropies.facts()[i], table.Grouped(sets[i]));
    if (testing::Test::HasFailure()) return;
  }
}

// A shape with columns of all widths, few and many rows, with and without repeated rows and weights.
TableShape RandomShape(std::mt19937_64* random, std::size_t max_columns, int max_bits) {
  TableShape shape;
  shape.rows = std::size_t{1} << (*random)() % 12;
  shape.rows += (*random)() % shape.rows;
  shape.domains.resize(1 + (*random)() % max_columns);
  for (auto& domain : shape.domains) {
    const int bits = static_cast<int>((*random)() % static_cast<unsigned>(max_bits + 1));
    domain = bits == 32 ? std::numeric_limits<std::uint32_t>::max() : 1 + (*random)() % (std::uint64_t{1} << bits);
  }
  shape.repeats = (*random)() % 2 == 0 ? 0 : 0.9;
  shape.skew = 1 + static_cast<double>((*random)() % 3);
  shape.max_weight = (*random)() % 3 == 0 ? std::int64_t{1} << (*random)() % 36 : 1;
  return shape;
}

TEST(SubsetEntropies, AllSubsetsOfRandomTables) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    const CodedTable table = RandomTable(RandomShape(&random, 6, 12), &random);
    ExpectGrouping(table, AllSubsets(table.columns.size()), 1 + random() % 2000);
  }
}

TEST(SubsetEntropies, AllSubsetsOfWideTables) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    const CodedTable table = RandomTable(RandomShape(&random, 7, 32), &random);
    ExpectGrouping(table, AllSubsets(table.columns.size()), 1 + random() % 2000);
  }
}

TEST(SubsetEntropies, SomeSetsOfManyColumns) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    const CodedTable table = RandomTable(RandomShape(&random, 40, 8), &random);
    ColumnSets sets(1 + random() % 20);
    for (auto& set : sets)
      for (std::size_t column = 0; column < table.columns.size(); ++column)
        if (random() % 3 == 0) set.push_back(column);
    sets.push_back(sets[0]);
    ExpectGrouping(table, sets);
  }
}

TEST(SubsetEntropies, OneSetOfAThousandColumns) {
  std::mt19937_64 random(4);
  TableShape shape;
  shape.rows = 500;
  shape.domains.assign(1600, 2);
  shape.skew = 1;
  shape.repeats = 0.5;
  const CodedTable table = RandomTable(shape, &random);
  std::vector<std::size_t> all(1600);
  for (std::size_t column = 0; column < all.size(); ++column) all[column] = column;
  ExpectGrouping(table, {all, {3}, {1599, 0}});
}

TEST(SubsetEntropies, NoRowsAndOneRow) {
  CodedTable table;
  table.columns.resize(3);
  ExpectGrouping(table, AllSubsets(3));
  for (auto& column : table.columns) column.push_back(7);
  table.weights.push_back(1);
  ExpectGrouping(table, AllSubsets(3));
  table.weights[0] = std::int64_t{1} << 40;
  ExpectGrouping(table, AllSubsets(3));
}

TEST(SubsetEntropies, RowsWithoutColumns) {
  CodedRows rows(0, kPlenty);
  ASSERT_TRUE(rows.Append(nullptr, 5));
  SubsetEntropies entropies(rows, {{}});
  ASSERT_TRUE(entropies.Run({}));
  ExpectFacts(entropies.facts()[0], {0, 5, 1, 0});
}

TEST(SubsetEntropies, NoSets) {
  CodedRows rows(2, kPlenty);
  SubsetEntropies entropies(rows, {});
  EXPECT_TRUE(entropies.Run({}));
  EXPECT_TRUE(entropies.facts().empty());
}

TEST(SubsetEntropies, OrderOfRowsAndOfColumnsInASetDoesNotMatter) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 10; ++round) {
    CodedTable table = RandomTable(RandomShape(&random, 5, 6), &random);
    CodedTable shuffled = table;
    std::vector<std::size_t> order(table.size());
    for (std::size_t row = 0; row < order.size(); ++row) order[row] = row;
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t row = 0; row < order.size(); ++row) {
      for (std::size_t column = 0; column < table.columns.size(); ++column)
        shuffled.columns[column][row] = table.columns[column][order[row]];
      shuffled.weights[row] = table.weights[order[row]];
    }
    ColumnSets sets = AllSubsets(table.columns.size());
    CodedRows one(table.columns.size(), kPlenty);
    CodedRows other(table.columns.size(), kPlenty);
    ASSERT_TRUE(table.AppendTo(&one, 1024));
    ASSERT_TRUE(shuffled.AppendTo(&other, 333));
    SubsetEntropies first(one, sets);
    for (auto& set : sets) {
      std::reverse(set.begin(), set.end());
      if (!set.empty()) set.push_back(set[0]);
    }
    SubsetEntropies second(other, sets);
    ASSERT_TRUE(first.Run({}));
    ASSERT_TRUE(second.Run({}));
    for (std::size_t i = 0; i < sets.size(); ++i) ExpectFacts(first.facts()[i], second.facts()[i]);
  }
}

// The interrupt comes at every n-th question; the work goes on where it was and ends with the same numbers.
int questions = 0;
int interrupt_every = 0;
bool EveryNth() { return ++questions % interrupt_every == 0; }

TEST(SubsetEntropies, GoesOnAfterInterrupts) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    const CodedTable table = RandomTable(RandomShape(&random, 6, round % 2 == 0 ? 10 : 32), &random);
    interrupt_every = 2 + static_cast<int>(random() % 7);
    questions = 0;
    volatile std::int64_t done = -1;
    volatile std::int64_t total = -1;
    ExpectGrouping(table, AllSubsets(table.columns.size()), 1024, {EveryNth, &done, &total, 1 + random() % 1000});
    EXPECT_GT(total, 0);
    EXPECT_EQ(done, total);
  }
}

TEST(SubsetEntropies, AsksForInterruptsBeforeAnyWork) {
  CodedTable table;
  table.columns = {{0, 1, 0}};
  table.weights = {1, 1, 1};
  CodedRows rows(1, kPlenty);
  ASSERT_TRUE(table.AppendTo(&rows, 1024));
  SubsetEntropies entropies(rows, {{0}});
  WorkControl control;
  control.interrupted = [] { return true; };
  EXPECT_FALSE(entropies.Run(control));
  control.interrupted = [] { return false; };
  EXPECT_TRUE(entropies.Run(control));
  ExpectFacts(entropies.facts()[0], table.Grouped({0}));
}

TEST(SubsetEntropies, RefusesColumnsThatDoNotExist) {
  CodedRows rows(3, kPlenty);
  try {
    SubsetEntropies entropies(rows, {{0, 3}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.sqlstate(), "22023");
    EXPECT_STREQ(error.what(), "column must be below 3, not 3");
  }
}

}  // namespace
}  // namespace privacy_score

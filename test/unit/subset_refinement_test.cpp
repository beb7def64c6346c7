/*
 * subset_refinement_test.cpp - sets of columns whose codes fill more than a word.
 */
#include "core/entropy/subset_refinement.hpp"

#include <gtest/gtest.h>

#include <string>

#include "coded_rows_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

int questions = 0;
bool EverySecond() { return ++questions % 2 == 0; }

void ExpectGrouping(const CodedTable& table, const ColumnSets& wanted) {
  const std::size_t columns = table.columns.size();
  WideRows rows(columns);
  std::vector<const std::uint32_t*> codes;
  for (const auto& column : table.columns) codes.push_back(column.data());
  rows.Append(codes.data(), table.size(), table.weights.data());
  rows.Freeze();
  std::vector<PackedColumn> packed;
  std::vector<std::size_t> places;
  for (std::size_t column = 0; column < columns; ++column) {
    const std::uint64_t domain = std::max<std::uint64_t>(2, rows.domain(column));
    packed.push_back({domain, BitsOf(domain), 0});
    places.push_back(column);
  }
  std::vector<ClassHistogram> classes(wanted.size(), ClassHistogram(8));
  std::vector<CubeSet> sets;
  for (const auto& set : wanted) sets.push_back({{set.begin(), set.end()}, &classes[sets.size()]});
  CubeSets cube_sets(packed, sets, {4096, 4096});
  std::int64_t total = 0;
  for (const std::int64_t weight : table.weights) total += weight;
  SubsetRefinement refinement(rows, places, total, &cube_sets);
  volatile std::int64_t done = 0;
  volatile std::int64_t all = static_cast<std::int64_t>(wanted.size());
  WorkControl control;
  control.interrupted = EverySecond;
  control.done = &done;
  control.total = &all;
  control.work_between_questions = 100;
  while (!refinement.Run(control)) {
    EXPECT_GE(done, 0);
    EXPECT_LE(done, all);
  }
  cube_sets.AddLone();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::string name = "set";
    for (const std::size_t column : wanted[i]) name += " " + std::to_string(column);
    SCOPED_TRACE(name);
    const SubsetFacts expected = table.Grouped(wanted[i]);
    const ClassSizes sizes = classes[i].Sizes();
    EXPECT_EQ(RowsOf(sizes), expected.rows);
    EXPECT_EQ(Entropy(sizes), expected.entropy);
    if (testing::Test::HasFailure()) return;
  }
}

// A table of few rows has small dictionaries; here codes are as wide as in a table of billions of values.
CodedTable WideTable(std::size_t rows, std::size_t columns, double repeats, std::int64_t max_weight,
                     std::mt19937_64* random) {
  TableShape shape;
  shape.rows = rows;
  shape.domains.assign(columns, 0xFFFFFFFF);
  shape.max_weight = max_weight;
  shape.repeats = repeats;
  CodedTable table = RandomTable(shape, random);
  // Values come back in single columns too, so that classes last over several refinements.
  for (auto& codes : table.columns)
    for (std::size_t row = 0; row < rows; ++row)
      if ((*random)() % 4 != 0) codes[row] = codes[(*random)() % (1 + row / 20)];
  return table;
}

TEST(SubsetRefinement, AllSubsetsOfVeryWideColumns) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    const std::size_t columns = 1 + random() % 7;
    const CodedTable table = WideTable(1 + random() % 3000, columns, round % 2 == 0 ? 0.5 : 0,
                                       round % 3 == 0 ? std::int64_t{1} << 33 : 1, &random);
    ExpectGrouping(table, AllSubsets(columns));
  }
}

TEST(SubsetRefinement, SetsOfManyWideColumns) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 10 && !HasFailure(); ++round) {
    const CodedTable table = WideTable(2000, 30, 0.9, 1, &random);
    ColumnSets sets;
    for (int i = 0; i < 8; ++i) {
      sets.emplace_back();
      for (std::size_t column = 0; column < 30; ++column)
        if (random() % 8 != 0) sets.back().push_back(column);
    }
    ExpectGrouping(table, sets);
  }
}

TEST(SubsetRefinement, NoRowsAndOneRow) {
  CodedTable table;
  table.columns.resize(5);
  ExpectGrouping(table, AllSubsets(5));
  for (auto& codes : table.columns) codes.push_back(0xFFFFFFFF);
  table.weights.push_back(12);
  ExpectGrouping(table, AllSubsets(5));
}

}  // namespace
}  // namespace privacy_score

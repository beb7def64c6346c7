/*
 * subset_cube_test.cpp - counting over packed words with caches of all sizes, against plain grouping.
 */
#include "core/entropy/subset_cube.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "coded_rows_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

// Words of the rows of a table, weights below 2^24, columns from the top down in the order given.
template <typename Word>
std::vector<Word> WordsOf(const CodedTable& table, const std::vector<PackedColumn>& columns) {
  std::vector<Word> words;
  for (std::size_t row = 0; row < table.size(); ++row) {
    Word word = static_cast<Word>(table.weights[row]);
    for (std::size_t column = 0; column < columns.size(); ++column)
      word |= static_cast<Word>(table.columns[column][row]) << columns[column].shift;
    words.push_back(word);
  }
  return words;
}

int questions = 0;
bool EverySecond() { return ++questions % 2 == 0; }

template <typename Word>
void ExpectGrouping(const CodedTable& table, const ColumnSets& wanted, const CubeLimits& limits) {
  std::vector<PackedColumn> columns;
  unsigned top = 8 * sizeof(Word);
  for (const auto& codes : table.columns) {
    const std::uint64_t domain = std::max<std::uint64_t>(2, *std::max_element(codes.begin(), codes.end()) + 1);
    top -= BitsOf(domain);
    columns.push_back({domain, BitsOf(domain), top});
  }
  std::vector<ClassHistogram> classes(wanted.size(), ClassHistogram(limits.cache_cells % 2 == 0 ? 4 : 1024));
  std::vector<CubeSet> sets;
  for (const auto& set : wanted) sets.push_back({{set.begin(), set.end()}, &classes[sets.size()]});
  CubeSets cube_sets(columns, sets, limits);
  std::vector<Word> words = WordsOf<Word>(table, columns);
  SubsetCube<Word> cube(&cube_sets, words.data(), words.size(), 24);
  WorkControl control;
  control.interrupted = EverySecond;
  control.work_between_questions = 100;
  while (!cube.Run(control)) continue;
  cube_sets.AddLone();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::string name = "set";
    for (const std::size_t column : wanted[i]) name += " " + std::to_string(column);
    SCOPED_TRACE(name);
    const SubsetFacts expected = table.Grouped(wanted[i]);
    const ClassSizes sizes = classes[i].Sizes();
    EXPECT_EQ(RowsOf(sizes), expected.rows);
    EXPECT_EQ(Entropy(sizes), expected.entropy);
    std::int64_t count = 0;
    for (const SizeCount& entry : sizes) count += entry.count;
    EXPECT_EQ(count, expected.classes);
    if (testing::Test::HasFailure()) return;
  }
}

template <typename Word>
void RandomCubes(std::uint64_t seed, unsigned max_bits) {
  std::mt19937_64 random(seed);
  for (int round = 0; round < 80 && !testing::Test::HasFailure(); ++round) {
    TableShape shape;
    shape.rows = 2 + random() % (std::size_t{1} << random() % 13);
    unsigned bits = 0;
    while (shape.domains.size() < 7) {
      const unsigned column_bits = 1 + static_cast<unsigned>(random() % 12);
      if ((bits += column_bits) > max_bits) break;
      shape.domains.push_back(2 + static_cast<std::uint32_t>(random() % ((std::uint64_t{1} << column_bits) - 1)));
    }
    if (shape.domains.empty()) continue;
    shape.repeats = round % 3 == 0 ? 0.8 : 0;
    shape.skew = 1 + static_cast<double>(random() % 3);
    shape.max_weight = round % 4 == 0 ? 5000 : round % 4 == 1 ? 3 : 1;
    const CodedTable table = RandomTable(shape, &random);
    ColumnSets wanted;
    const bool all = round % 2 == 0;
    for (const auto& set : AllSubsets(shape.domains.size()))
      if (all || random() % 8 == 0) wanted.push_back(set);
    const std::size_t cache = std::size_t{1} << random() % 21;
    ExpectGrouping<Word>(table, wanted, {cache + random() % 2, cache << random() % 5});
  }
}

TEST(SubsetCube, RandomTablesInNarrowWords) { RandomCubes<NarrowWord>(1, testing_support::Instances(40)); }
TEST(SubsetCube, RandomTablesInWideWords) { RandomCubes<WideWord>(2, testing_support::Instances(100)); }

// More rows than a 16-bit cell counts, and than a 32-bit cell.
TEST(SubsetCube, HeavyRows) {
  std::mt19937_64 random(3);
  for (const std::int64_t weight : {std::int64_t{1} << 15, std::int64_t{1} << 23}) {
    TableShape shape;
    shape.rows = weight == 1 << 15 ? 100 : 2000;
    shape.domains = {5, 4, 3};
    CodedTable table = RandomTable(shape, &random);
    for (auto& row_weight : table.weights) row_weight = weight + static_cast<std::int64_t>(random() % 1000);
    for (const std::size_t cache : {4U, 60U, 1U << 20})
      ExpectGrouping<NarrowWord>(table, AllSubsets(3), {cache, cache});
  }
}

// The array of a set of its own has a byte a cell, of which some overflow, once and often.
TEST(SubsetCube, ArraysBeyondTheCache) {
  std::mt19937_64 random(4);
  for (const std::int64_t weight : {1, 3, 20000}) {
    TableShape shape;
    shape.rows = 6000;
    shape.domains = {60, 40};
    shape.skew = 4;
    CodedTable table = RandomTable(shape, &random);
    table.weights[17] = weight;
    table.weights[18] = weight;
    for (auto& codes : table.columns) codes[18] = codes[17];
    const CubeLimits limits = {256, 1 << 16};
    const auto plan = MakeCubePlan({{60, 6, 58}, {40, 6, 52}}, {{{0, 1}, nullptr}}, limits, table.size());
    ASSERT_NE(plan, nullptr);
    EXPECT_TRUE(plan->steps[0].alone);
    ExpectGrouping<NarrowWord>(table, {{0, 1}}, limits);
  }
}

TEST(SubsetCube, NoWords) {
  ClassHistogram classes(8);
  CubeSets sets({{2, 1, 63}}, {{{0}, &classes}}, {16, 16});
  SubsetCube<NarrowWord> cube(&sets, nullptr, 0, 24);
  EXPECT_TRUE(cube.Run({}));
  EXPECT_TRUE(classes.empty());
}

}  // namespace
}  // namespace privacy_score

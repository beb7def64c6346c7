/*
 * narrow_rows_test.cpp - rows in 64-bit words: what comes back, when they are refused.
 */
#include "core/entropy/narrow_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "coded_rows_fixture.hpp"
#include "core/base/word_sort.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;
using Outcome = NarrowRows::Outcome;
using Grouped = std::map<std::vector<std::uint32_t>, std::int64_t>;

Outcome AppendAll(const CodedTable& table, std::size_t block, NarrowRows* rows) {
  std::int64_t total = 0;
  for (std::size_t start = 0; start < table.size(); start += block) {
    const std::size_t count = std::min(block, table.size() - start);
    std::vector<const std::uint32_t*> codes;
    for (const auto& column : table.columns) codes.push_back(column.data() + start);
    for (std::size_t i = 0; i < count; ++i) total += table.weights[start + i];
    const Outcome outcome = rows->Append(codes.data(), count, table.weights.data() + start, total);
    if (outcome != Outcome::kTaken) return outcome;
  }
  return Outcome::kTaken;
}

Grouped TuplesOf(const NarrowRows& rows) {
  Grouped tuples;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::uint32_t> tuple;
    for (const PackedColumn& column : rows.columns())
      tuple.push_back(static_cast<std::uint32_t>(column.CodeOf(rows.words()[i])));
    tuples[tuple] += static_cast<std::int64_t>(rows.words()[i] & word_sort::BitsBelow<NarrowWord>(rows.weight_bits()));
  }
  return tuples;
}

Grouped TuplesOf(const CodedTable& table) {
  Grouped tuples;
  for (std::size_t row = 0; row < table.size(); ++row) {
    std::vector<std::uint32_t> tuple;
    for (const auto& column : table.columns) tuple.push_back(column[row]);
    tuples[tuple] += table.weights[row];
  }
  return tuples;
}

TEST(NarrowRows, KeepsTuplesWhileColumnsWidenAndMemoryIsShort) {
  std::mt19937_64 random(1);
  for (int round = 0; round < testing_support::Instances(60); ++round) {
    TableShape shape;
    shape.rows = 1 + random() % 20000;
    shape.domains.resize(1 + random() % 6);
    for (auto& domain : shape.domains) domain = static_cast<std::uint32_t>(1 + ((random() & 511) >> random() % 9));
    shape.max_weight = round % 2 == 0 ? 1 : std::int64_t{1} << random() % 20;
    const CodedTable table = RandomTable(shape, &random);
    const Grouped expected = TuplesOf(table);
    NarrowRows rows(table.columns.size(), round % 3 == 0 ? 2 * expected.size() + 4096 : 1U << 20);
    ASSERT_EQ(AppendAll(table, 1 + random() % 2000, &rows), Outcome::kTaken);
    EXPECT_EQ(TuplesOf(rows), expected);
  }
}

TEST(NarrowRows, CollapsesWhenFull) {
  std::mt19937_64 random(2);
  TableShape shape;
  shape.rows = 50000;
  shape.domains = {10, 10, 10};
  const CodedTable table = RandomTable(shape, &random);
  NarrowRows rows(3, 4096);
  ASSERT_EQ(AppendAll(table, 1000, &rows), Outcome::kTaken);
  EXPECT_LE(rows.size(), 4096U);
  EXPECT_EQ(TuplesOf(rows), TuplesOf(table));
}

TEST(NarrowRows, CollapsesManyDuplicatesBeforeItGrows) {
  TableShape shape;
  shape.rows = testing_support::Instances(1500000);
  shape.domains = {50, 40, 3};
  std::mt19937_64 random(3);
  const CodedTable table = RandomTable(shape, &random);
  NarrowRows rows(3, std::size_t{1} << 30);
  ASSERT_EQ(AppendAll(table, 1024, &rows), Outcome::kTaken);
  EXPECT_LT(rows.memory(), std::size_t{16} << 20);
  EXPECT_EQ(TuplesOf(rows), TuplesOf(table));
}

TEST(NarrowRows, SaysThatTuplesAreTooMany) {
  std::mt19937_64 random(4);
  TableShape shape;
  shape.rows = 20000;
  shape.domains = {1000, 1000};
  const CodedTable table = RandomTable(shape, &random);
  NarrowRows rows(2, 4096);
  EXPECT_EQ(AppendAll(table, 1000, &rows), Outcome::kTooMany);
  NarrowRows none(2, 0);
  EXPECT_EQ(AppendAll(table, 1000, &none), Outcome::kTooMany);
}

TEST(NarrowRows, TakesNothingOfABlockThatIsTooWide) {
  NarrowRows rows(2, 1000);
  const std::uint32_t first[] = {0, 1, (1U << 28) - 1};
  const std::uint32_t second[] = {0, 3, (1U << 28) - 1};
  const std::uint32_t wider[] = {5, 6, 1U << 28};
  const std::uint32_t* fits[] = {first, second};
  const std::uint32_t* too_wide[] = {first, wider};
  ASSERT_EQ(rows.Append(fits, 3, nullptr, 3), Outcome::kTaken);
  const Grouped before = TuplesOf(rows);
  EXPECT_EQ(rows.Append(too_wide, 3, nullptr, 6), Outcome::kTooWide);
  EXPECT_EQ(TuplesOf(rows), before);
  EXPECT_EQ(rows.Append(fits, 3, nullptr, 6), Outcome::kTaken);
  EXPECT_EQ(TuplesOf(rows).size(), before.size());
}

// Of 56 bits of codes 8 are left for a weight of up to 255: greater ones take several words, and far greater ones none.
TEST(NarrowRows, SpreadsWeightsOverWords) {
  NarrowRows rows(2, 100000);
  const std::uint32_t first[] = {(1U << 28) - 1, 0};
  const std::uint32_t* codes[] = {first, first};
  const std::int64_t weights[] = {1000, 255};
  ASSERT_EQ(rows.Append(codes, 2, weights, 1255), Outcome::kTaken);
  EXPECT_EQ(rows.size(), 5U);
  EXPECT_EQ(TuplesOf(rows)[std::vector<std::uint32_t>(2, (1U << 28) - 1)], 1000);
  const std::int64_t heavy[] = {std::int64_t{1} << 30, 1};
  EXPECT_EQ(rows.Append(codes, 2, heavy, (std::int64_t{1} << 30) + 1256), Outcome::kTooWide);
}

TEST(NarrowRows, SpreadsOldWeightsWhenColumnsWiden) {
  NarrowRows rows(2, 100000);
  const std::uint32_t small[] = {1};
  const std::uint32_t large[] = {(1U << 28) - 1};
  const std::uint32_t* narrow[] = {small, small};
  const std::uint32_t* wide[] = {large, large};
  const std::int64_t weight[] = {100000};
  ASSERT_EQ(rows.Append(narrow, 1, weight, 100000), Outcome::kTaken);
  EXPECT_EQ(rows.size(), 1U);
  ASSERT_EQ(rows.Append(wide, 1, nullptr, 100001), Outcome::kTaken);
  EXPECT_EQ(rows.size(), 394U);
  EXPECT_EQ(TuplesOf(rows)[std::vector<std::uint32_t>(2, 1)], 100000);
}

}  // namespace
}  // namespace privacy_score

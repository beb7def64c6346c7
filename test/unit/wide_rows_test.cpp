/*
 * wide_rows_test.cpp - rows of any width: what comes back, and rows whose hashes collide.
 */
#include "core/entropy/wide_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "coded_rows_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;
using Grouped = std::map<std::vector<std::uint32_t>, std::int64_t>;

Grouped TuplesOf(const WideRows& rows, std::size_t columns) {
  std::vector<std::uint32_t> all(rows.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::vector<std::uint32_t>> tuples(rows.size());
  std::vector<std::uint32_t> codes(rows.size());
  for (std::size_t column = 0; column < columns; ++column) {
    rows.CodesOf(column, all.data(), all.size(), codes.data());
    for (std::size_t i = 0; i < all.size(); ++i) tuples[i].push_back(codes[i]);
  }
  Grouped grouped;
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    EXPECT_EQ(grouped.count(tuples[i]), 0U);
    grouped[tuples[i]] = rows.weights()[i];
  }
  return grouped;
}

TEST(WideRows, DistinctTuplesWithWeights) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 40; ++round) {
    TableShape shape;
    shape.rows = 1 + random() % 5000;
    shape.domains.resize(random() % 8);
    for (auto& domain : shape.domains) domain = 1 + static_cast<std::uint32_t>(random()) / (1U << random() % 31);
    shape.repeats = round % 2 == 0 ? 0.7 : 0;
    shape.max_weight = round % 3 == 0 ? std::int64_t{1} << 40 : 1;
    const CodedTable table = RandomTable(shape, &random);
    WideRows rows(table.columns.size());
    Grouped expected;
    const std::size_t block = 1 + random() % 1500;
    for (std::size_t start = 0; start < table.size(); start += block) {
      std::vector<const std::uint32_t*> codes;
      for (const auto& column : table.columns) codes.push_back(column.data() + start);
      const std::size_t count = std::min(block, table.size() - start);
      rows.Append(codes.data(), count, shape.max_weight > 1 ? table.weights.data() + start : nullptr);
      for (std::size_t i = start; i < start + count; ++i) {
        std::vector<std::uint32_t> tuple;
        for (const auto& column : table.columns) tuple.push_back(column[i]);
        expected[tuple] += table.weights[i];
      }
    }
    EXPECT_EQ(TuplesOf(rows, table.columns.size()), expected);
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      EXPECT_EQ(rows.domain(column),
                *std::max_element(table.columns[column].begin(), table.columns[column].end()) + std::uint64_t{1});
  }
}

std::uint64_t HashOf(const std::vector<std::uint32_t>& tuple) {
  std::uint64_t hash = 0;
  for (const std::uint32_t code : tuple) hash = WideRows::AddToHash(hash, code);
  return hash;
}

// Different rows with one hash: two codes are drawn until the hashes of two such pairs agree but for the bits that a
// third code moves.
TEST(WideRows, RowsWithOneHashStayApart) {
  std::mt19937_64 random(2);
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_high_bits;
  std::vector<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> pairs;
  while (pairs.size() < 5) {
    std::vector<std::uint32_t> tuple = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
    const std::uint64_t hash = HashOf(tuple);
    const auto [place, added] = by_high_bits.emplace(hash >> 32, tuple);
    if (added) continue;
    std::vector<std::uint32_t> other = place->second;
    tuple.push_back(7);
    other.push_back(7 ^ static_cast<std::uint32_t>(hash ^ HashOf(other)));
    ASSERT_EQ(HashOf(tuple), HashOf(other));
    pairs.emplace_back(tuple, other);
  }
  WideRows rows(3);
  Grouped expected;
  for (int round = 0; round < 3; ++round) {
    for (const auto& [first, second] : pairs) {
      // Both in one block, one after the other, and alone.
      std::uint32_t codes[3][3];
      const std::uint32_t* block[3];
      const std::uint32_t* alone[3];
      for (std::size_t column = 0; column < 3; ++column) {
        codes[column][0] = codes[column][2] = first[column];
        codes[column][1] = second[column];
        block[column] = codes[column];
        alone[column] = codes[column] + 1;
      }
      rows.Append(block, 3, nullptr);
      rows.Append(alone, 1, nullptr);
      expected[first] += 2;
      expected[second] += 2;
    }
  }
  EXPECT_EQ(TuplesOf(rows, 3), expected);
}

TEST(WideRows, MemoryCountsCodesWeightsAndTable) {
  WideRows rows(3);
  std::vector<std::uint32_t> codes(100000);
  std::iota(codes.begin(), codes.end(), 0U);
  const std::uint32_t* columns[] = {codes.data(), codes.data(), codes.data()};
  rows.Append(columns, codes.size(), nullptr);
  const std::size_t least = codes.size() * (3 * 4 + 8);
  EXPECT_GE(rows.memory(), least + codes.size() * 16);
  EXPECT_LE(rows.memory(), 2 * least + codes.size() * 96);
  const std::size_t before = rows.memory();
  rows.Freeze();
  EXPECT_LE(rows.memory(), before - codes.size() * 16);
}

}  // namespace
}  // namespace privacy_score

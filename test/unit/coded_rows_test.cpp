/*
 * coded_rows_test.cpp - collapsing rows: counts, refusals, the memory limit.
 */
#include "core/entropy/coded_rows.hpp"

#include <gtest/gtest.h>

#include "coded_rows_fixture.hpp"
#include "core/base/error.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

TEST(CodedRows, CountsRowsByWeight) {
  CodedRows rows(2, kMegabyte);
  EXPECT_EQ(rows.rows(), 0);
  const std::uint32_t first[] = {0, 1, 1};
  const std::uint32_t second[] = {0, 0, 0};
  const std::uint32_t* codes[] = {first, second};
  const std::int64_t weights[] = {5, 1, std::int64_t{1} << 40};
  ASSERT_TRUE(rows.Append(codes, 3));
  EXPECT_EQ(rows.rows(), 3);
  ASSERT_TRUE(rows.Append(codes, 3, weights));
  EXPECT_EQ(rows.rows(), 9 + (std::int64_t{1} << 40));
  ASSERT_TRUE(rows.Append(codes, 0));
  EXPECT_EQ(rows.rows(), 9 + (std::int64_t{1} << 40));
  EXPECT_EQ(rows.columns(), 2U);
}

TEST(CodedRows, RefusesWeightsBelowOne) {
  CodedRows rows(1, kMegabyte);
  const std::uint32_t code = 0;
  const std::uint32_t* codes[] = {&code};
  const std::int64_t zero = 0;
  try {
    (void)rows.Append(codes, 1, &zero);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.sqlstate(), "22023");
    EXPECT_STREQ(error.what(), "weight of a row must be greater than zero, not 0");
  }
}

TEST(CodedRows, RepeatedRowsFitInLittleMemory) {
  std::mt19937_64 random(1);
  TableShape shape;
  shape.rows = 300000;
  shape.domains = {30, 20, 10};
  CodedRows rows(3, 2 * kMegabyte);
  EXPECT_TRUE(RandomTable(shape, &random).AppendTo(&rows, 1024));
  EXPECT_LE(rows.memory(), 2 * kMegabyte);
}

TEST(CodedRows, SaysWhenDistinctRowsDoNotFit) {
  std::mt19937_64 random(2);
  for (const std::uint32_t domain : {1U << 10, 1U << 20, 1U << 31}) {
    TableShape shape;
    shape.rows = 200000;
    shape.domains = {domain, domain, domain};
    const CodedTable table = RandomTable(shape, &random);
    CodedRows narrow(3, kMegabyte);
    EXPECT_FALSE(table.AppendTo(&narrow, 1024));
    CodedRows ample(3, 64 * kMegabyte);
    EXPECT_TRUE(table.AppendTo(&ample, 1024));
    EXPECT_LE(ample.memory(), 64 * kMegabyte);
  }
}

}  // namespace
}  // namespace privacy_score

/*
 * csv_fields_test.cpp - fields with and without quotes, and what is no record.
 */
#include "core/logs/csv_fields.hpp"

#include <gtest/gtest.h>

namespace privacy_score {
namespace {

using Fields = std::vector<std::string>;

Fields Split(std::string_view record, std::size_t most = 64) {
  Fields fields;
  return SplitCsv(record, &fields, most) ? fields : Fields{"?"};
}

TEST(CsvFields, Split) {
  EXPECT_EQ(Split("a,b"), (Fields{"a", "b"}));
  EXPECT_EQ(Split(",,"), (Fields{"", "", ""}));
  EXPECT_EQ(Split(""), (Fields{""}));
  EXPECT_EQ(Split("\"a,\"\"b\n\",c"), (Fields{"a,\"b\n", "c"}));
  EXPECT_EQ(Split("\"\",\"x\""), (Fields{"", "x"}));
  EXPECT_EQ(Split("a,b,c,\"d", 2), (Fields{"a", "b"}));
}

TEST(CsvFields, WhatIsNone) {
  EXPECT_EQ(Split("\"a"), (Fields{"?"}));
  EXPECT_EQ(Split("\"a\"b"), (Fields{"?"}));
  EXPECT_EQ(Split("a\"b"), (Fields{"?"}));
  EXPECT_EQ(Split("\""), (Fields{"?"}));
}

}  // namespace
}  // namespace privacy_score

/*
 * rows_test.cpp - the tables of text that cross the wall.
 */
#include "core/base/rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.hpp"
#include "core/base/wire_section.hpp"

namespace privacy_score {
namespace {

WIRE_SECTION(TriedSection, kId, kSubjectColumns, kT);

// Whether a query with these columns yields the section.
bool Yields(std::vector<std::string_view> columns) {
  std::string_view rest = TriedSection::kNames;
  for (const std::string_view column : columns)
    if (!TakeColumnNamed(&rest, column)) return false;
  return rest.empty();
}

TEST(Wire, ASectionIsWhatItsColumnsAreCalled) {
  EXPECT_EQ(TriedSection::kColumns, 3u);
  EXPECT_TRUE(Yields({"id", "subject_columns", "t"}));
  EXPECT_FALSE(Yields({"id", "subject_columns"}));
  EXPECT_FALSE(Yields({"id", "subject_columns", "t", "u"}));
  EXPECT_FALSE(Yields({"subject_columns", "id", "t"}));
  for (const char* other : {"subject", "subject_column", "subject_columnss", "subjectcolumns", "subject_", "",
                            "?column?", "_subject_columns", "Subject_columns", "subject__columns"})
    EXPECT_FALSE(Yields({"id", other, "t"})) << other;
}

TEST(Wire, ReadsWhatWasWritten) {
  WireWriter writer;
  writer.Section(2, {{"a", std::nullopt}, {"", std::string("b\0c", 3)}});
  writer.Section(1, {});
  WireReader reader(writer.bytes());
  const auto rows = reader.Section(2);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(*rows[0][0], "a");
  EXPECT_FALSE(rows[0][1].has_value());
  EXPECT_EQ(*rows[1][0], "");
  EXPECT_EQ(*rows[1][1], std::string_view("b\0c", 3));
  EXPECT_TRUE(reader.Section(1).empty());
  EXPECT_TRUE(reader.AtEnd());
}

TEST(Wire, ReadsRowByRowWhatASectionHolds) {
  WireWriter writer;
  writer.Section(2, {{"a", std::nullopt}, {std::nullopt, "bc"}, {"", "d"}});
  writer.Section(1, {{"e"}});
  const auto rows = WireReader(writer.bytes()).Section(2);
  std::vector<Row> seen;
  WireReader reader(writer.bytes());
  reader.EachRow(2, [&](const Row& row) { seen.push_back(row); });
  EXPECT_EQ(seen, rows);
  EXPECT_EQ(reader.Section(1).size(), 1u);
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_THROW(WireReader(writer.bytes()).EachRow(3, [](const Row&) {}), Error);
}

TEST(Wire, RefusesAnotherNumberOfColumns) {
  WireWriter writer;
  writer.Section(2, {{"a", "b"}});
  WireReader reader(writer.bytes());
  EXPECT_THROW(reader.Section(3), Error);
  EXPECT_THROW(writer.Section(2, {{"a"}}), Error);
}

TEST(Wire, RefusesEveryCutBuffer) {
  WireWriter writer;
  writer.Section(2, {{"abc", std::nullopt}, {"", "de"}});
  for (std::size_t length = 0; length < writer.bytes().size(); ++length) {
    WireReader reader(std::string_view(writer.bytes()).substr(0, length));
    EXPECT_THROW(reader.Section(2), Error) << length;
    EXPECT_THROW(WireReader(std::string_view(writer.bytes()).substr(0, length)).EachRow(2, [](const Row&) {}), Error)
        << length;
  }
}

// It is refused, and no memory is asked for billions of rows.
TEST(Wire, RefusesADamagedNumberOfRows) {
  WireWriter writer;
  writer.Section(2, {{"a", "b"}});
  std::string bytes = writer.bytes();
  bytes.replace(sizeof(std::uint32_t), sizeof(std::uint32_t), sizeof(std::uint32_t), '\xff');
  WireReader reader(bytes);
  EXPECT_THROW(reader.Section(2), Error);
}

TEST(Wire, NumbersReadBackAsThemselves) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) {
    const auto integer = static_cast<std::int64_t>(random());
    EXPECT_EQ(ParseInteger(TextOf(integer)), integer);
    const double number = std::ldexp(static_cast<double>(integer), static_cast<int>(random() % 200) - 100);
    EXPECT_EQ(ParseDouble(TextOf(number)), number);
  }
  EXPECT_EQ(ParseInteger("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(ParseBool("t"));
  EXPECT_FALSE(ParseBool("f"));
}

TEST(Wire, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "x", "1x", "9223372036854775808", "1,2"}) EXPECT_THROW(ParseInteger(text), Error);
  for (const char* text : {"", "x", "1.5.2"}) EXPECT_THROW(ParseDouble(text), Error);
  EXPECT_THROW(ParseBool("yes"), Error);
}

TEST(Wire, ArraysAreLiteralsOfTheServer) {
  EXPECT_EQ(ArrayText(std::vector<std::string>{}), "{}");
  EXPECT_EQ(ArrayText(std::vector<std::string>{"a", "b\"c", "d\\e", "", "NULL"}),
            "{\"a\",\"b\\\"c\",\"d\\\\e\",\"\",\"NULL\"}");
  EXPECT_EQ(ArrayText(std::vector<std::int64_t>{1, -2}), "{1,-2}");
  EXPECT_EQ(ArrayText(std::vector<double>{0.5, 1}), "{0.5,1}");
}

TEST(Wire, ReadsArraysOfIntegers) {
  EXPECT_TRUE(ParseIntegers("{}").empty());
  EXPECT_EQ(ParseIntegers("{1,-2,3}"), (std::vector<std::int64_t>{1, -2, 3}));
  for (const char* text : {"", "{", "1,2", "{1,x}", "{1;2}"}) EXPECT_THROW(ParseIntegers(text), Error) << text;
}

}  // namespace
}  // namespace privacy_score

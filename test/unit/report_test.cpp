/*
 * report_test.cpp - well-formed and free of foreign markup, whatever the database holds.
 */
#include "core/report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rows.hpp"
#include "error_fixture.hpp"
#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::Misnested;

using Texts = std::vector<std::optional<std::string>>;

// The sections of a report; every field of text is `text`. Further roles bear numbers, the higher the worse.
std::string Sections(const std::string& text, int rows, int roles = 1) {
  WireWriter writer;
  writer.Section(8, {{text, text, text, text, "2026-11-01", "2026-11-30", std::nullopt, text}});
  std::vector<Texts> days;
  for (int role = 0; role < roles; ++role)
    for (int i = 0; i < rows; ++i)
      days.push_back({role == 0 ? text : text + std::to_string(1000 + role), std::to_string(9800 + i), "3", "1",
                      std::to_string(0.5 + role), "4000", "0.5"});
  writer.Section(7, days);
  const auto section = [&](std::uint32_t columns, std::size_t numeric_from = 99) {
    std::vector<Texts> list;
    for (int i = 0; i < rows; ++i) {
      Texts row;
      for (std::size_t c = 0; c < columns; ++c) row.emplace_back(c >= numeric_from ? "0.25" : text);
      list.push_back(row);
    }
    writer.Section(columns, list);
  };
  writer.Section(3, {{"1", text, "t"}});
  for (const std::uint32_t columns : {4U, 9U, 7U, 9U, 6U, 7U}) section(columns);
  std::vector<Texts> charts;
  for (int i = 0; i < rows; ++i) charts.push_back({text, "<svg class=\"ps\"></svg>"});
  writer.Section(2, charts);
  for (const std::uint32_t columns : {8U, 7U, 8U, 2U}) section(columns);
  return writer.bytes();
}

TEST(Report, IsWellFormedWhateverTheDatabaseHolds) {
  for (const char* text : {"plain", "<script>alert(1)</script>", "a\"b' onload=x", "]]>--><", "", "\n\n", "\xFF\xFE"}) {
    for (const int rows : {0, 1, 3}) {
      const std::string page = ReportPage(Sections(text, rows));
      EXPECT_EQ(Misnested(page), "") << text;
      EXPECT_EQ(page.find("<script"), std::string::npos);
      EXPECT_EQ(page.find(" onload=x\""), std::string::npos);
      EXPECT_TRUE(std::all_of(page.begin(), page.end(), [](unsigned char c) { return c < 0x7F; }));
      EXPECT_EQ(page.find("http://") == std::string::npos, rows == 0);  // the name space of SVG only
      EXPECT_EQ(page.find("https://"), std::string::npos);
    }
  }
}

std::size_t Times(std::string_view text, std::string_view part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

TEST(Report, ShowsTheWorstRolesAndCountsTheOthers) {
  const std::string few = ReportPage(Sections("role", 2, 24));
  EXPECT_EQ(few.find("other"), std::string::npos);
  EXPECT_EQ(Times(few, "Privacy score of role"), 2 * 24U);  // what it shows, and its title
  const std::string page = ReportPage(Sections("role", 12, 450));
  EXPECT_EQ(Misnested(page), "");
  EXPECT_EQ(Times(page, "Privacy score of role"), 2 * 24U);
  EXPECT_NE(page.find("Privacy score of role1449,"), std::string::npos);
  EXPECT_NE(page.find("Privacy score of role1426,"), std::string::npos);
  EXPECT_NE(page.find("Charts are of the 24 roles with the highest scores of a day; 426 others had new n-grams"),
            std::string::npos);
  EXPECT_NE(page.find("And 50 others,"), std::string::npos);
  EXPECT_NE(page.find(">role1050<"), std::string::npos);
  EXPECT_EQ(page.find(">role1049<"), std::string::npos);
  EXPECT_LT(page.size(), 1000000U);
}

TEST(Report, RefusesOtherSections) {
  const std::string sections = Sections("x", 1);
  EXPECT_EQ(ErrorOf([&] { ReportPage(std::string_view(sections).substr(0, sections.size() / 2)); }).substr(0, 5),
            "XX001");
  WireWriter writer;
  writer.Section(9, {});
  EXPECT_EQ(ErrorOf([&] { ReportPage(writer.bytes()); }).substr(0, 5), "XX001");
}

}  // namespace
}  // namespace privacy_score

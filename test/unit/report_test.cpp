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
#include "core/report/alert_list.hpp"
#include "core/report/report_sections.hpp"
#include "error_fixture.hpp"
#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::Misnested;

using Texts = std::vector<std::optional<std::string>>;

// The sections of a report; every field of text is `text`. Further roles bear numbers, the higher the worse.
std::string Sections(const std::string& text, int rows, int roles = 1,
                     const std::optional<std::string>& end_user = {}) {
  WireWriter writer;
  writer.Section(8, {{text, text, text, text, "2026-11-01", "2026-11-30", std::nullopt, std::nullopt}});
  std::vector<Texts> days, people;
  for (int role = 0; role < roles; ++role) {
    const std::string name = role == 0 ? text : text + std::to_string(1000 + role);
    for (int i = 0; i < rows; ++i)
      days.push_back({name, std::to_string(9800 + i), "3", "1", std::to_string(0.5 + role), "4000", "0.5", end_user});
    people.push_back({name, text, std::nullopt, "1.5", "-1", "2", "9800", "9801"});
  }
  writer.Section(8, days);
  const auto section = [&](std::uint32_t columns) {
    writer.Section(columns, std::vector<Texts>(static_cast<std::size_t>(rows), Texts(columns, text)));
  };
  writer.Section(3, {{"1", text, "t"}});
  writer.Section(4, {{std::to_string(rows), "1", "0", "2"}});
  writer.Section(8, people);
  writer.Section(8,
                 std::vector<Texts>(end_user ? 1 : 0, {text, end_user, "7", std::nullopt, "1", "9800", "9801", text}));
  for (const std::uint32_t columns :
       {std::uint32_t{WorstSessionSection::kColumns}, std::uint32_t{WorstNGramSection::kColumns}})
    section(columns);
  Texts alert(kAlertFields, text);
  alert[12] = std::nullopt;
  writer.Section(kAlertFields, std::vector<Texts>(static_cast<std::size_t>(rows), alert));
  section(7);
  for (const std::uint32_t columns : {6U, 7U}) section(columns);
  writer.Section(2, std::vector<Texts>(static_cast<std::size_t>(rows), Texts{text, "<svg class=\"ps\"></svg>"}));
  for (const std::uint32_t columns : {8U, 7U, 8U, 2U, 4U}) section(columns);
  return writer.bytes();
}

std::size_t Times(std::string_view text, std::string_view part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

TEST(Report, IsWellFormedWhateverTheDatabaseHolds) {
  for (const char* text : {"plain", "<script>alert(1)</script>", "a\"b' onload=x", "]]>--><", "", "\n\n", "\xFF\xFE"}) {
    for (const int rows : {0, 1, 3}) {
      const std::string page = ReportPage(Sections(text, rows));
      EXPECT_EQ(Misnested(page), "") << text;
      EXPECT_EQ(Times(page, "<script"), 1U);            // the page's own
      EXPECT_EQ(page.find("a\"b"), std::string::npos);  // no attribute ends where a name has a quote
      EXPECT_TRUE(std::all_of(page.begin(), page.end(), [](unsigned char c) { return c < 0x7F; }));
      EXPECT_EQ(page.find("http://") == std::string::npos, rows == 0);  // the name space of SVG only
      EXPECT_EQ(page.find("https://"), std::string::npos);
    }
  }
}

TEST(Report, BeginsWithOpenAlerts) {
  const std::string page = ReportPage(Sections("role", 1));
  EXPECT_LT(page.find("<section id=\"alerts\">"), page.find("<section id=\"people\">"));
  EXPECT_NE(page.find("2 alerts of before this time are open, too"), std::string::npos);
}

TEST(Report, TellsTheModesOfRoles) {
  const std::string page = ReportPage(Sections("enforce", 1, 3));
  EXPECT_NE(page.find("Modes of the roles: 3 enforce."), std::string::npos);
}

TEST(Report, TellsEndUsersApart) {
  const std::string page = ReportPage(Sections("app", 2, 1, "<eve>"));
  EXPECT_EQ(Misnested(page), "");
  EXPECT_EQ(page.find("<eve>"), std::string::npos);
  EXPECT_NE(page.find("data-role=\"app / &#60;eve&#62;\""), std::string::npos);
  EXPECT_NE(page.find("end user at work"), std::string::npos);
  EXPECT_NE(page.find("One line a role and end user,"), std::string::npos);
  EXPECT_NE(page.find("Modes of the roles: 1 app."), std::string::npos);
  EXPECT_EQ(ReportPage(Sections("app", 2)).find("end user at work"), std::string::npos);
}

TEST(Report, ShowsWhatPeersMakeOfASession) {
  EXPECT_NE(ReportPage(Sections("app", 1)).find(">by peers</a>"), std::string::npos);
  EXPECT_EQ(ReportPage(Sections("app", 0)).find(">by peers</a>"), std::string::npos);
}

TEST(Report, SaysWhatIsEmpty) {
  const std::string page = ReportPage(Sections("role", 0));
  for (const char* said :
       {"No alert of this time is open.", "No work is recorded in this time.", "No session has a score above 0.",
        "No table is protected", "No budgets that you may see.", "None that you may read.", "Nothing is watched"})
    EXPECT_NE(page.find(said), std::string::npos) << said;
  EXPECT_EQ(page.find("<tbody>\n</tbody>"), std::string::npos);
}

TEST(Report, ShowsTheWorstRolesAndCountsTheOthers) {
  const std::string few = ReportPage(Sections("role", 2, 24));
  EXPECT_EQ(few.find("Charts are of"), std::string::npos);
  EXPECT_EQ(few.find("whose days scored no higher"), std::string::npos);
  EXPECT_EQ(Times(few, "<figure class=\"card\""), 24U);
  const std::string page = ReportPage(Sections("role", 12, 450));
  EXPECT_EQ(Misnested(page), "");
  EXPECT_EQ(Times(page, "<figure class=\"card\""), 24U);
  EXPECT_NE(page.find("Charts are of the 24 roles with the highest scores of a day; 426 others had new n-grams"),
            std::string::npos);
  EXPECT_NE(page.find("And 50 others,"), std::string::npos);
  EXPECT_NE(page.find("data-v=\"role1050\""), std::string::npos);
  EXPECT_EQ(page.find("data-v=\"role1049\""), std::string::npos);
  EXPECT_LT(page.size(), 1000000U);
}

TEST(Report, ListsWhatIsAccepted) {
  EXPECT_EQ(Times(ReportPage(Sections("app", 3)), "Accepted: what raises no alarm any more"), 1U);
  EXPECT_EQ(Times(ReportPage(Sections("app", 0)), "Accepted: what raises no alarm any more"), 0U);
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

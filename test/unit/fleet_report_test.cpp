/*
 * fleet_report_test.cpp - well-formed and free of foreign markup, whatever members show.
 */
#include "core/report/fleet_report.hpp"

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

// The sections of a report; every field that members have shown as text is `text`.
std::string Sections(const std::string& text, int rows, bool sees_all = true) {
  const auto count = static_cast<std::size_t>(rows);
  WireWriter writer;
  const auto section = [&](const Texts& row) {
    writer.Section(static_cast<std::uint32_t>(row.size()), std::vector<Texts>(count, row));
  };
  writer.Section(FleetFactSection::kColumns,
                 {{"hub", text, "0.2", "now", "2026-11-01", "2026-11-30", std::nullopt, sees_all ? "t" : "f"}});
  writer.Section(FleetMemberSection::kColumns,
                 sees_all ? std::vector<Texts>{{"north", "reachable", std::nullopt, text, text, text, text, "0"},
                                               {text, "not reachable", text, text, text, text, text, "1"}}
                          : std::vector<Texts>{});
  section(Texts(8, text));
  std::vector<Texts> days;
  for (int i = 0; i < rows; ++i) {
    days.push_back({text, std::to_string(9800 + i), "3", "1", std::to_string(i), "0", "0.5", std::nullopt});
  }
  if (rows > 0) days.push_back({text, "9800", "4", "2", "7.5", "0", "7.5", text});
  writer.Section(ScoredDaySection::kColumns, days);
  section({text, "far, " + text, std::nullopt, std::nullopt, std::nullopt, "2", "9800", "9801"});
  section({text, text, std::nullopt, std::nullopt, "1", std::nullopt, std::nullopt, std::nullopt});
  writer.Section(TileSection::kColumns, {{"3", "sessions open", "f"}});
  writer.Section(AlertTotalSection::kColumns, {{std::to_string(rows), "1", "0", "0"}});
  Texts alert(kAlertFields, text);
  alert[12] = std::nullopt;
  section(alert);
  section(Texts(7, text));
  writer.Section(FleetDaySection::kColumns,
                 rows > 0 ? std::vector<Texts>{{"9801", "2", "3"}, {"9800", "3", "7"}} : std::vector<Texts>{});
  section(Texts(WorstNGramSection::kColumns, text));
  section(Texts(7, text));
  return writer.bytes();
}

TEST(FleetReport, IsWellFormedWhateverMembersShow) {
  for (const char* text : {"plain", "<script>alert(1)</script>", "a\"b' onload=x", "]]>--><", "", "\n\n", "\xFF\xFE"}) {
    for (const int rows : {0, 2, 3}) {
      const std::string page = FleetReportPage(Sections(text, rows));
      EXPECT_EQ(Misnested(page), "") << text;
      EXPECT_EQ(page.find("<script>alert"), std::string::npos);
      EXPECT_EQ(page.find("a\"b"), std::string::npos);  // no attribute ends where a name has a quote
      EXPECT_TRUE(std::all_of(page.begin(), page.end(), [](unsigned char c) { return c < 0x7F; }));
    }
  }
}

TEST(FleetReport, TellsMembersAndDays) {
  const std::string page = FleetReportPage(Sections("far", 2));
  for (const char* part : {"Privacy report of the fleet of hub", "<b>1 of 2</b><span>members reachable", "<b>7.5</b>",
                           "highest score of a day, all together", "sessions open", "2026-10-31",
                           "Orders that have not arrived", "on far, far", "acknowledgement is pending"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  // Of the day on which two were at work the higher score, and whose it is.
  EXPECT_NE(page.find("data-l=\"highest\">7.5</td><td class=\"short day\" data-l=\"whose\">far / far</td>"),
            std::string::npos);
}

TEST(FleetReport, SaysWhatIsEmptyAndWhatIsKept) {
  const std::string empty = FleetReportPage(Sections("x", 0));
  for (const char* said : {"No alert of this time is open.", "No work is recorded in this time.", "None in this time.",
                           "every member has done what it was told"})
    EXPECT_NE(empty.find(said), std::string::npos) << said;
  const std::string own = FleetReportPage(Sections("x", 0, false));
  EXPECT_NE(own.find("Members are shown to members of pg_read_all_stats."), std::string::npos);
  EXPECT_EQ(own.find("members reachable"), std::string::npos);
}

TEST(FleetReport, RefusesOtherSections) {
  const std::string sections = Sections("x", 1);
  EXPECT_EQ(ErrorOf([&] { FleetReportPage(std::string_view(sections).substr(0, sections.size() / 2)); }).substr(0, 5),
            "XX001");
  WireWriter writer;
  writer.Section(9, {});
  EXPECT_EQ(ErrorOf([&] { FleetReportPage(writer.bytes()); }).substr(0, 5), "XX001");
}

}  // namespace
}  // namespace privacy_score

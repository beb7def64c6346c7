/*
 * people_test.cpp - roles with their days, modes and limits.
 */
#include "core/report/people.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

const std::vector<Row> kDays = {{"anna", "9800", "3", "0", "0", "9", "0", Field()},
                                {"anna", "9801", "4", "1", "0.5", "9", "0.5", Field()},
                                {"<bert>", "9801", "5", "2", "2.5", "9", "2.5", Field()}};

std::vector<Row> Roles() {
  return {{"<bert>", "enforce", Field(), "1e1", "2", "1", Field(), Field()},
          {"anna", "observe", "exempt", "x", "-1", "0", "9700", "9800"},
          {"gone", "off", Field(), Field(), Field(), "0", Field(), Field()}};
}

TEST(People, HaveTheirOwnModesAndLimits) {
  const std::vector<Person> people = PeopleOf(kDays, Roles(), {});
  ASSERT_EQ(people.size(), 2U);
  EXPECT_EQ(people[0].role, "<bert>");  // the worst first
  EXPECT_EQ(people[0].mode, "enforce");
  EXPECT_EQ(people[0].session_limit, 10.0);
  EXPECT_EQ(people[0].daily_limit, 2.0);
  EXPECT_TRUE(people[0].IsAboveLimit());
  EXPECT_EQ(people[0].open_alerts, 1);
  EXPECT_EQ(people[1].standing, "exempt");
  EXPECT_FALSE(people[1].session_limit);
  EXPECT_FALSE(people[1].daily_limit);
  EXPECT_EQ(people[1].queries, 7);
  EXPECT_EQ(people[1].baseline_from, 9700);
}

TEST(People, OfAFleetWorkOnServers) {
  HtmlPage page("t");
  page.Section("people", "People");
  const std::vector<Row> roles = {{"anna", "far, <north>", Field(), Field(), Field(), "0", "9700", "9800"}};
  WritePeople(page, PeopleOf({kDays[0], kDays[1]}, roles, {}), PeopleOn::kFleet);
  const std::string html = page.Finish("");
  EXPECT_EQ(testing_support::Misnested(html), "");
  EXPECT_NE(html.find("data-l=\"servers\" data-v=\"far, &#60;north&#62;\">far, &#60;north&#62;</td>"),
            std::string::npos);
  EXPECT_NE(html.find("; on far, &#60;north&#62;</span>"), std::string::npos);
  const std::size_t begin = html.find("<main>");
  const std::string people = html.substr(begin, html.find("<section id=\"glossary\"") - begin);
  for (const char* of_a_server : {"class=\"chip", "daily limit", "above the limit", "data-l=\"limits\""})
    EXPECT_EQ(people.find(of_a_server), std::string::npos) << of_a_server;
}

// As one that goes on for ever has, in a report that does, too.
TEST(People, HaveNoBaselineWithoutAnEnd) {
  const std::vector<Row> roles = {{"anna", "warn", Field(), Field(), Field(), "0", "9700", Field()}};
  EXPECT_FALSE(PeopleOf(kDays, roles, {})[1].baseline_from);
}

// Limits hold for each of them by herself: what they have done together passes none.
TEST(People, BehindOneRoleAreApart) {
  const std::vector<Row> days = {{"app", "9801", "1", "0", "0", "9", "0", Field()},
                                 {"app", "9801", "5", "2", "1.5", "9", "1.5", "eve"},
                                 {"app", "9802", "5", "2", "1.2", "9", "2.5", "eve"},
                                 {"app", "9801", "7", "2", "1.9", "9", "1.9", "zoe"},
                                 {"app / eve", "9801", "7", "2", "0.1", "9", "0.1", Field()}};
  const std::vector<Row> roles = {{"app", "warn", Field(), "3", "2", "4", "9700", "9800"},
                                  {"app / eve", "off", "exempt", Field(), Field(), "0", Field(), Field()}};
  const std::vector<Row> end_users = {{"app", "eve", Field(), "1.4", "2", "9750", "9760", Field()},
                                      {"app", "gone", "9", "9", "9", Field(), Field(), Field()},
                                      {"app / eve", "eve", "9", "9", "9", Field(), Field(), Field()},
                                      {"app", "zoe", Field(), Field(), "0", Field(), Field(), "dp only"}};
  const std::vector<Person> people = PeopleOf(days, roles, end_users);
  ASSERT_EQ(people.size(), 4U);
  EXPECT_TRUE(HasEndUsers(people));
  EXPECT_EQ(people[0].role, "app / zoe");
  EXPECT_FALSE(people[0].IsAboveLimit());
  EXPECT_EQ(people[0].daily_limit, 2.0);
  EXPECT_EQ(people[0].standing, "dp only");
  EXPECT_EQ(people[0].ModeOfRole(), "warn");
  EXPECT_EQ(people[0].baseline_from, 9700);
  EXPECT_EQ(people[0].open_alerts, 0);
  EXPECT_EQ(people[1].role, "app / eve");
  EXPECT_TRUE(people[1].IsAboveLimit());
  EXPECT_EQ(people[1].daily_limit, 1.4);
  EXPECT_EQ(people[1].session_limit, 3.0);
  EXPECT_EQ(people[1].queries, 10);
  EXPECT_EQ(people[1].days.size(), 2U);
  EXPECT_EQ(people[1].open_alerts, 2);
  EXPECT_EQ(people[1].baseline_to, 9760);
  // A role that bears such a name is another.
  EXPECT_EQ(people[2].of_role, "app / eve");
  EXPECT_EQ(people[2].standing, "exempt");
  EXPECT_FALSE(people[2].daily_limit);
  EXPECT_EQ(people[3].role, "app");
  EXPECT_EQ(people[3].open_alerts, 4);
}

TEST(People, AreWrittenWithLinksAndEscaped) {
  const std::vector<Person> people = PeopleOf(kDays, Roles(), {});
  HtmlPage page("t");
  page.Section("people", "People");
  WritePeople(page, people);
  const std::string text = page.Finish("");
  EXPECT_EQ(testing_support::Misnested(text), "");
  EXPECT_NE(text.find("<tr id=\"p0\" data-role=\"&#60;bert&#62;\" data-flags=\"alert limit new \">"),
            std::string::npos);
  EXPECT_EQ(text.find("<bert>"), std::string::npos);
  EXPECT_EQ(PlaceOf(people, "anna"), "p1");
  EXPECT_EQ(PlaceOf(people, "nobody"), "");
}

}  // namespace
}  // namespace privacy_score

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

const std::vector<Row> kDays = {{"anna", "9800", "3", "0", "0", "9", "0"},
                                {"anna", "9801", "4", "1", "0.5", "9", "0.5"},
                                {"<bert>", "9801", "5", "2", "2.5", "9", "2.5"}};

std::vector<Row> Roles() {
  return {{"<bert>", "enforce", Field(), "1e1", "2", "1", Field(), Field()},
          {"anna", "observe", "exempt", "x", "-1", "0", "9700", "9800"},
          {"gone", "off", Field(), Field(), Field(), "0", Field(), Field()}};
}

TEST(People, HaveTheirOwnModesAndLimits) {
  const std::vector<Person> people = PeopleOf(kDays, Roles());
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

TEST(People, AreWrittenWithLinksAndEscaped) {
  const std::vector<Person> people = PeopleOf(kDays, Roles());
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

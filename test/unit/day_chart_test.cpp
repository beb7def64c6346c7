/*
 * day_chart_test.cpp - one scale for all roles, and drawings of it.
 */
#include "core/report/day_chart.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

DaysOfRole Role(const std::string& name, std::int64_t first, const std::vector<double>& scores) {
  DaysOfRole role;
  role.role = name;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    DayOfScore day;
    day.day = first + static_cast<std::int64_t>(i);
    day.queries = 7;
    day.score = scores[i];
    role.days.push_back(day);
  }
  return role;
}

TEST(DayScale, HasClassesThatDouble) {
  DayScale scale;
  scale.greatest = 6.7;
  EXPECT_DOUBLE_EQ(scale.ClassEnd(kHeatClasses), 8);
  EXPECT_DOUBLE_EQ(scale.ClassEnd(1), 0.5);
  EXPECT_EQ(scale.ClassOf(0), 0);
  EXPECT_EQ(scale.ClassOf(0.01), 1);
  EXPECT_EQ(scale.ClassOf(0.5), 1);
  EXPECT_EQ(scale.ClassOf(0.51), 2);
  EXPECT_EQ(scale.ClassOf(6.7), 5);
  for (const double greatest : {0.0, 1e-9, 0.1, 1.0, 9.9, 1e12}) {
    scale.greatest = greatest;
    EXPECT_GE(scale.ClassEnd(kHeatClasses), greatest * (1 - 1e-9));
    EXPECT_LE(scale.ClassOf(greatest), kHeatClasses);
  }
}

TEST(DayScale, CoversAllRolesAndNearLimits) {
  DaysOfRole one = Role("one", 100, {1, 2});
  DaysOfRole two = Role("two", 98, {4});
  one.daily_limit = 6;
  two.session_limit = 50;
  const DaysOfRole none = Role("none", 0, {});
  const DayScale scale = ScaleOf({&one, &two, &none});
  EXPECT_EQ(scale.first, 98);
  EXPECT_EQ(scale.last, 101);
  EXPECT_DOUBLE_EQ(scale.greatest, 4);
  EXPECT_DOUBLE_EQ(scale.axis, 6);
  EXPECT_TRUE(IsOnScale(6, scale));
  EXPECT_FALSE(IsOnScale(50, scale));
}

TEST(DayStrip, TellsDaysLimitsAndBaseline) {
  DaysOfRole role = Role("anna", 9800, {0, 0.2, 3});
  role.daily_limit = 1;
  role.baseline_from = 9700;
  role.baseline_to = 9800;
  const DayScale scale = ScaleOf({&role});
  const std::string svg = DayStrip(role, scale, true);
  EXPECT_EQ(testing_support::Misnested(svg), "");
  for (const char* part : {"class=\"base\"", "class=\"h0\"", "class=\"over\"", "above the limit 1", "; in the baseline",
                           "3 days with work, the highest score 3 on"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  EXPECT_EQ(DayStrip(role, scale, false).find("<title>"), std::string::npos);
}

TEST(DayChart, IsWellFormedWhateverTheDaysAre) {
  const std::string hostile = "r\"o<script>le'&";
  for (const std::size_t days : {0U, 1U, 9U, 400U}) {
    DaysOfRole role = Role(hostile, 9000, std::vector<double>(days, days == 9 ? 0 : 1.5));
    role.daily_limit = 2;
    role.session_limit = 100;
    const DayScale scale = ScaleOf({&role});
    for (const std::string& svg : {DayChart(role, scale, true), DayStrip(role, scale, true)}) {
      EXPECT_EQ(testing_support::Misnested(svg), "");
      EXPECT_EQ(svg.find("<script"), std::string::npos);
      EXPECT_EQ(svg.find("nan"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace privacy_score

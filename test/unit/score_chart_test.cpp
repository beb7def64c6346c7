/*
 * score_chart_test.cpp - days on an axis, numbers in words, nothing of a role's name as markup.
 */
#include "core/report/score_chart.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Misnested;

TEST(Dates, CountFromTheYear2000) {
  EXPECT_EQ(DateText(0), "2000-01-01");
  EXPECT_EQ(DateText(59), "2000-02-29");
  EXPECT_EQ(DateText(-1), "1999-12-31");
  EXPECT_EQ(DateText(9821), "2026-11-21");
}

DayOfScore Day(std::int64_t day, double score, double most, double cumulative) {
  DayOfScore result;
  result.day = day;
  result.queries = 10;
  result.mismatched = 1;
  result.score = score;
  result.max_score = most;
  result.cumulative = cumulative;
  return result;
}

TEST(ScoreChart, IsWellFormedAndSaysWhatItShows) {
  const std::string hostile = "r\"o<script>le'&";
  for (int days : {0, 1, 9, 400}) {
    std::vector<DayOfScore> list;
    for (int i = 0; i < days; ++i) list.push_back(Day(9000 + i, i % 5 == 0 ? 1.5 : 0, 20, i));
    for (const Placement placement : {Placement::kAlone, Placement::kInPage}) {
      const std::string svg = ScoreChart(hostile, list, placement);
      EXPECT_EQ(Misnested(svg), "");
      EXPECT_EQ(svg.find("<script"), std::string::npos);
      EXPECT_EQ(svg.find("nan"), std::string::npos);
      EXPECT_NE(svg.find("aria-label=\""), std::string::npos);
    }
  }
  const std::string svg = ScoreChart("anna", {Day(9821, 6.71, 44, 7.08)}, Placement::kAlone);
  EXPECT_NE(svg.find("the highest score 6.71 on 2026-11-21 of at most 44, cumulative 7.08"), std::string::npos);
}

}  // namespace
}  // namespace privacy_score

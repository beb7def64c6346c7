/*
 * step_chart_test.cpp - any step function within its drawing; many steps take no more room than can be seen.
 */
#include "core/report/step_chart.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Misnested;

TEST(StepChart, SaysWhatItShows) {
  const std::string svg = EquivocationChart({{0, 2}, {1, 1.5}, {3, 0}}, Placement::kAlone);
  EXPECT_EQ(Misnested(svg), "");
  EXPECT_NE(
      svg.find("Equivocation: 2 bits are left to guess when a value is to be exact, 0 when it may be 3 wide; the area "
               "below the curve is 5."),
      std::string::npos);
}

TEST(StepChart, OfNothingIsADrawing) {
  for (const std::vector<ChartStep>& steps : {std::vector<ChartStep>{}, {{0, 0}}, {{0, 1e-300}}, {{0, 1}, {1e-9, 0}}}) {
    const std::string svg = EquivocationChart(steps, Placement::kAlone);
    EXPECT_EQ(Misnested(svg), "");
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
  }
}

TEST(StepChart, ManyStepsStaySmall) {
  std::vector<ChartStep> steps;
  for (int i = 0; i < 200000; ++i) steps.push_back({i * 0.01, 17.0 * (1 - i / 200000.0)});
  const std::string svg = EquivocationChart(steps, Placement::kAlone);
  EXPECT_EQ(Misnested(svg), "");
  EXPECT_LT(svg.size(), 60000U);
}

}  // namespace
}  // namespace privacy_score

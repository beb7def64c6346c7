/*
 * svg_test.cpp - axes cover what they show with round steps; shapes and text are well-formed.
 */
#include "core/report/svg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Misnested;

TEST(Axis, CoversTheGreatestValueWithRoundSteps) {
  for (double greatest = 0.0007; greatest < 1e7; greatest *= 1.37) {
    const AxisScale scale = ScaleTo(greatest, 5);
    EXPECT_GE(scale.top, greatest * (1 - 1e-9));
    const double steps = scale.top / scale.step;
    EXPECT_NEAR(steps, std::round(steps), 1e-6);
    EXPECT_LE(steps, 5.001);
    EXPECT_LT(scale.top - scale.step, greatest);  // no empty step on top
    const double leading = scale.step / std::pow(10, std::floor(std::log10(scale.step) + 1e-9));
    EXPECT_TRUE(std::abs(leading - 1) < 1e-6 || std::abs(leading - 2) < 1e-6 || std::abs(leading - 5) < 1e-6)
        << leading;
  }
  EXPECT_EQ(ScaleTo(0, 5).top, 1);
  EXPECT_EQ(ScaleTo(std::numeric_limits<double>::infinity(), 5).top, 1);
}

TEST(Svg, HoldsNothingOfItsTexts) {
  const std::string hostile = "\"><script>&'";
  const std::string svg = Svg(10, 10, hostile, Placement::kAlone)
                              .Rectangle(0, 0, 1, 1, "score", hostile)
                              .Line(0, 0, 1, 1, "grid")
                              .Circle(1, 1, 1, "point")
                              .RoundedBox(0, 0, 1, 1, 1, "node")
                              .Text(0, 0, hostile, "title", Svg::Anchor::kEnd)
                              .TextUpward(0, 0, hostile, "label")
                              .Finish();
  EXPECT_EQ(Misnested(svg), "");
  EXPECT_EQ(svg.find("<script"), std::string::npos);
}

TEST(Svg, StyleAsksForNothingFromElsewhere) {
  const std::string style = kChartStyle;
  EXPECT_EQ(style.find("url("), std::string::npos);
  EXPECT_EQ(style.find("@import"), std::string::npos);
}

}  // namespace
}  // namespace privacy_score

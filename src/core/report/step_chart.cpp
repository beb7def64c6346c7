/*
 * step_chart.cpp - see step_chart.hpp.
 */
#include "core/report/step_chart.hpp"

#include <algorithm>
#include <cmath>

#include "core/report/markup.hpp"
#include "core/report/report_sections.hpp"

namespace privacy_score {

namespace {

constexpr double kStepWidth = 640;
constexpr double kStepHeight = 340;
constexpr double kVisible = 0.5;  // units of the drawing

double AreaOf(const std::vector<ChartStep>& steps) {
  double area = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) area += steps[i - 1].y * (steps[i].x - steps[i - 1].x);
  return area;
}

std::string Summary(const std::vector<ChartStep>& steps) {
  if (steps.empty()) return "Equivocation of no values.";
  return "Equivocation: " + Shown(steps.front().y, 3) + " bits are left to guess when a value is to be exact, " +
         Shown(steps.back().y, 3) + " when it may be " + ShownShort(steps.back().x) +
         " wide; the area below the curve is " + ShownShort(AreaOf(steps)) + ".";
}

}  // namespace

std::vector<ChartStep> StepsOf(const std::vector<Row>& rows) {
  std::vector<ChartStep> steps;
  for (const Row& row : rows)
    steps.push_back({ParseDouble(*row[StepSection::kEpsilon]), ParseDouble(*row[StepSection::kEntropy])});
  return steps;
}

std::string EquivocationChart(const std::vector<ChartStep>& steps, Placement placement) {
  Svg svg(kStepWidth, kStepHeight, Summary(steps), placement);
  double greatest = 0;
  for (const ChartStep& step : steps) greatest = std::max(greatest, step.y);
  const Panel panel{58, kStepWidth - 20, 42, kStepHeight - 56, ScaleTo(greatest, 6)};
  const double last = steps.empty() ? 0 : steps.back().x;
  const AxisScale across = ScaleTo(last * 1.04, 8);
  const auto place = [&](double x) { return panel.left + (panel.right - panel.left) * x / across.top; };
  const auto height = [&](double y) { return panel.bottom - panel.Height(y); };
  svg.Text(panel.left, 22, "What is left to guess of a value", "title");
  if (!steps.empty()) {
    std::string line = "M" + Coordinate(place(steps.front().x)) + " " + Coordinate(height(steps.front().y));
    ChartStep drawn = steps.front();
    for (const ChartStep& step : steps) {
      const bool visible = place(step.x) - place(drawn.x) >= kVisible || height(step.y) - height(drawn.y) >= kVisible;
      if (!visible && &step != &steps.back()) continue;
      line += "H" + Coordinate(place(step.x)) + "V" + Coordinate(height(step.y));
      drawn = step;
    }
    line += "H" + Coordinate(panel.right);
    svg.Path(line + "V" + Coordinate(panel.bottom) + "H" + Coordinate(panel.left) + "z", "area");
    DrawAxis(svg, panel, "entropy, bits");
    svg.Path(line, "cumulative");
  } else {
    DrawAxis(svg, panel, "entropy, bits");
  }
  const auto ticks = std::lround(across.top / across.step);
  for (long i = 0; i <= ticks; ++i) {
    const double x = place(across.step * static_cast<double>(i));
    svg.Line(x, panel.bottom, x, panel.bottom + 4, "axis");
    svg.Text(x, panel.bottom + 17, ShownShort(across.step * static_cast<double>(i)), "tick", Svg::Anchor::kMiddle);
  }
  svg.Text((panel.left + panel.right) / 2, kStepHeight - 14, "epsilon: the width within which a value counts as known",
           "label", Svg::Anchor::kMiddle);
  return svg.Finish();
}

}  // namespace privacy_score

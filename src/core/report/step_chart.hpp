/*
 * step_chart.hpp - a falling step function, as a drawing: how much is left to guess when a little inexactness is
 * allowed.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/rows.hpp"
#include "core/report/svg.hpp"

namespace privacy_score {

// From x on, up to the next step.
struct ChartStep {
  double x = 0;
  double y = 0;
};

// Rows of epsilon and entropy, ascending.
std::vector<ChartStep> StepsOf(const std::vector<Row>& rows);

// The curve of an equivocation [Alfalayleh], with the area below it. `steps` ascend from 0; the last one ends at y = 0
// or goes on. Steps that are narrower than what can be seen are drawn as one.
std::string EquivocationChart(const std::vector<ChartStep>& steps, Placement placement);

}  // namespace privacy_score

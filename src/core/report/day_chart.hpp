/*
 * day_chart.hpp - the days of many roles on one common scale: a strip of coloured days, and bars, a small chart a role.
 *
 * Both are drawn for the width that the page gives them. Their colours are classes of the page's style; days without
 * work are empty, usual ones pale, and what passes a limit has a mark of its own, for those who see no colours.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/report/score_chart.hpp"

namespace privacy_score {

constexpr int kHeatClasses = 5;

// What all roles have in common: the days, and the greatest score.
struct DayScale {
  std::int64_t first = 0;
  std::int64_t last = 0;
  double greatest = 0;
  double axis = 0;  // the greatest that is drawn: of the scores, and of the limits that are not far above them
  // Upper ends of the classes of colours: each twice the one before, the last a round number above `greatest`.
  double ClassEnd(int index) const;
  // 1 to kHeatClasses; 0 for a score of 0.
  int ClassOf(double score) const;
};

// The days of one role, sorted, and what is drawn with them.
struct DaysOfRole {
  std::string role;
  std::vector<DayOfScore> days;
  std::optional<std::int64_t> baseline_from;
  std::optional<std::int64_t> baseline_to;
  std::optional<double> session_limit;
  std::optional<double> daily_limit;
  double Worst() const;
};

// One line of days. `with_hints` gives each day the numbers behind it.
std::string DayStrip(const DaysOfRole& role, const DayScale& scale, bool with_hints);

// Bars of the days, from 0 to the scale's greatest score, the limits as lines, where they are not far above.
std::string DayChart(const DaysOfRole& role, const DayScale& scale, bool with_hints);

// The scale of all of them.
DayScale ScaleOf(const std::vector<const DaysOfRole*>& roles);

// Whether a limit is drawn in a chart of this scale.
bool IsOnScale(double limit, const DayScale& scale);

}  // namespace privacy_score

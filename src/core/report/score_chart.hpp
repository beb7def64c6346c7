/*
 * score_chart.hpp - the score of a role day by day, as a drawing [Khan, figure 7]: score, maximum, cumulative score.
 *
 * The published figure has all three on one axis; since a maximum is often ten times the score, it has a panel of its
 * own here, below.
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/rows.hpp"
#include "core/report/svg.hpp"

namespace privacy_score {

struct DayOfScore {
  std::int64_t day = 0;  // since 2000-01-01
  std::int64_t queries = 0;
  std::int64_t mismatched = 0;  // n-grams
  double score = 0;
  double max_score = 0;
  double cumulative = 0;
};

// From a row of role, day since 2000-01-01, queries, mismatched n-grams, score, maximum, cumulative score.
DayOfScore DayOf(const Row& row);

// Days are sorted; days that are not in the list have no work recorded. `with_hints` gives each day the numbers behind
// it.
std::string ScoreChart(const std::string& role, const std::vector<DayOfScore>& days, Placement placement,
                       bool with_hints = true);

// 2000-01-01 plus `day` days as YYYY-MM-DD.
std::string DateText(std::int64_t day);

}  // namespace privacy_score

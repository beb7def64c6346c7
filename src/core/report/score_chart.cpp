/*
 * score_chart.cpp - see score_chart.hpp.
 */
#include "core/report/score_chart.hpp"

#include <algorithm>
#include <boost/date_time/gregorian/gregorian_types.hpp>
#include <cmath>

#include "core/report/markup.hpp"
#include "core/report/report_sections.hpp"

namespace privacy_score {

namespace {

constexpr double kScoreWidth = 760;
constexpr double kScoreHeight = 316;
constexpr double kScoreLeft = 58;
constexpr double kScoreRight = kScoreWidth - 14;
constexpr int kMostDayLabels = 10;
constexpr int kMostValues = 31;  // bars beyond which only the greatest has its value beside it

// Where days are on the horizontal axis.
struct Days {
  std::int64_t first;
  std::int64_t last;
  double Width() const { return (kScoreRight - kScoreLeft) / static_cast<double>(last - first + 1); }
  double Middle(std::int64_t day) const { return kScoreLeft + (static_cast<double>(day - first) + 0.5) * Width(); }
};

std::string Summary(const std::string& role, const std::vector<DayOfScore>& days) {
  if (days.empty()) return "No work of " + role + " is recorded.";
  const auto worst = std::max_element(days.begin(), days.end(),
                                      [](const DayOfScore& a, const DayOfScore& b) { return a.score < b.score; });
  return "Privacy score of " + role + " from " + DateText(days.front().day) + " to " + DateText(days.back().day) +
         ": " + std::to_string(days.size()) + (days.size() == 1 ? " day" : " days") + " with work, the highest score " +
         Shown(worst->score, 2) + " on " + DateText(worst->day) + " of at most " + Shown(worst->max_score, 0) +
         ", cumulative " + Shown(days.back().cumulative, 2) + ".";
}

std::string Hint(const DayOfScore& day) {
  return DateText(day.day) + ": score " + Shown(day.score, 2) + " of at most " + Shown(day.max_score, 0) +
         ", cumulative " + Shown(day.cumulative, 2) + "; " + std::to_string(day.mismatched) + " new n-grams in " +
         std::to_string(day.queries) + " statements";
}

std::string Bar(double x, double bottom, double width, double height) {
  return "M" + Coordinate(x) + " " + Coordinate(bottom) + "v" + Coordinate(-height) + "h" + Coordinate(width) + "v" +
         Coordinate(height) + "z";
}

void DrawLegend(Svg& svg) {
  double x = kScoreRight - 316;
  svg.Rectangle(x, 12, 12, 12, "score").Text(x + 17, 22, "score", "label");
  x += 68;
  svg.Line(x, 18, x + 22, 18, "cumulative").Circle(x + 11, 18, 3, "point").Text(x + 28, 22, "cumulative", "label");
  x += 116;
  svg.Rectangle(x, 12, 12, 12, "maximum").Text(x + 17, 22, "maximum of a day", "label");
}

void DrawDayLabels(Svg& svg, const Days& days, double y) {
  std::int64_t step = 1;
  for (const std::int64_t candidate : {1, 2, 7, 14, 28, 91, 182, 364}) {
    step = candidate;
    if ((days.last - days.first) / step < kMostDayLabels) break;
  }
  while ((days.last - days.first) / step >= kMostDayLabels) step *= 2;
  for (std::int64_t day = days.first; day <= days.last; day += step) {
    const std::string date = DateText(day);
    svg.Line(days.Middle(day), y, days.Middle(day), y + 4, "axis");
    svg.Text(days.Middle(day), y + 17, date.substr(5), "tick", Svg::Anchor::kMiddle);
    if (day == days.first || DateText(day - step).substr(0, 4) != date.substr(0, 4))
      svg.Text(days.Middle(day), y + 31, date.substr(0, 4), "tick", Svg::Anchor::kMiddle);
  }
}

}  // namespace

std::string DateText(std::int64_t day) {
  const boost::gregorian::date date =
      boost::gregorian::date(2000, 1, 1) + boost::gregorian::days(static_cast<long>(day));
  const auto parts = date.year_month_day();
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d", static_cast<int>(parts.year),
                static_cast<int>(parts.month.as_number()), static_cast<int>(parts.day));
  return text;
}

DayOfScore DayOf(const Row& row) {
  DayOfScore day;
  using Column = ScoredDaySection;
  day.day = ParseInteger(*row[Column::kDay]);
  day.queries = ParseInteger(*row[Column::kQueries]);
  day.mismatched = ParseInteger(*row[Column::kMismatched]);
  day.score = ParseDouble(*row[Column::kScore]);
  day.max_score = ParseDouble(*row[Column::kMaxScore]);
  day.cumulative = ParseDouble(*row[Column::kCumulative]);
  return day;
}

std::string ScoreChart(const std::string& role, const std::vector<DayOfScore>& list, Placement placement,
                       bool with_hints) {
  Svg svg(kScoreWidth, kScoreHeight, Summary(role, list), placement);
  svg.Text(kScoreLeft, 22, "Privacy score of " + role + ", day by day", "title");
  double greatest = 0;
  double most = 0;
  const DayOfScore* worst = nullptr;
  for (const DayOfScore& day : list) {
    greatest = std::max({greatest, day.score, day.cumulative});
    most = std::max(most, day.max_score);
    if (worst == nullptr || day.score > worst->score) worst = &day;
  }
  const Panel above{kScoreLeft, kScoreRight, 42, 186, ScaleTo(greatest, 5)};
  const Panel below{kScoreLeft, kScoreRight, 206, 268, ScaleTo(most, 2)};
  if (list.empty()) {
    DrawAxis(svg, above, "score");
    svg.Text((kScoreLeft + kScoreRight) / 2, (above.top + above.bottom) / 2, "no work recorded", "label",
             Svg::Anchor::kMiddle);
    return svg.Finish();
  }
  DrawLegend(svg);
  DrawAxis(svg, above, "score");
  DrawAxis(svg, below, "maximum");
  const Days days{list.front().day, list.back().day};
  const double width = std::min(34.0, std::max(0.6, 0.66 * days.Width()));
  std::string scores, maxima, parts, line;
  for (const DayOfScore& day : list) {
    const double x = days.Middle(day.day) - width / 2;
    if (day.score > 0) scores += Bar(x, above.bottom, width, above.Height(day.score));
    maxima += Bar(x, below.bottom, width, below.Height(day.max_score));
    parts += Bar(x, below.bottom, width, below.Height(day.score));
    line += (line.empty() ? "M" : "L") + Coordinate(days.Middle(day.day)) + " " +
            Coordinate(above.bottom - above.Height(day.cumulative));
  }
  svg.Path(scores, "score").Path(maxima, "maximum").Path(parts, "score").Path(line, "cumulative");
  const bool few = list.size() <= kMostValues;
  for (const DayOfScore& day : list) {
    const double x = days.Middle(day.day);
    const double top = above.bottom - above.Height(day.score);
    const double sum = above.bottom - above.Height(day.cumulative);
    if (few) svg.Circle(x, sum, 3, "point");
    if ((few && day.score >= 0.005) || (&day == worst && day.score > 0)) {
      // Above the bar, or in it where the line would run through the number.
      const bool is_free = sum > top || top - sum > 16;
      if (is_free || (few && above.bottom - top > 24))
        svg.Text(x, is_free ? top - 4 : top + 15, Shown(day.score, 2), is_free ? "value" : "value inside",
                 Svg::Anchor::kMiddle);
    }
    if (with_hints)
      svg.Rectangle(x - days.Width() / 2, above.top, days.Width(), below.bottom - above.top, "hint", Hint(day));
  }
  DrawDayLabels(svg, days, below.bottom);
  return svg.Finish();
}

}  // namespace privacy_score

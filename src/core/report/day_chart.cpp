/*
 * day_chart.cpp - see day_chart.hpp.
 */
#include "core/report/day_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/report/markup.hpp"
#include "core/report/svg.hpp"

namespace privacy_score {

namespace {

constexpr double kStripHeight = 20;
constexpr double kDayWidth = 320;
constexpr double kDayHeight = 128;
constexpr double kDayLeft = 34;
constexpr double kDayRight = kDayWidth - 8;
constexpr double kDayTop = 16;
constexpr double kDayBottom = kDayHeight - 22;
// How far above the greatest score a limit may be to be drawn.
constexpr double kLimitRoom = 1.6;

std::string Summary(const DaysOfRole& role) {
  if (role.days.empty()) return role.role + ": no work is recorded.";
  const auto worst = std::max_element(role.days.begin(), role.days.end(),
                                      [](const DayOfScore& a, const DayOfScore& b) { return a.score < b.score; });
  std::string text = "Scores of " + role.role + ": " + std::to_string(role.days.size()) +
                     (role.days.size() == 1 ? " day" : " days") + " with work, the highest score " +
                     Shown(worst->score, 2) + " on " + DateText(worst->day);
  if (role.daily_limit) text += ", daily limit " + ShownShort(*role.daily_limit);
  return text + ".";
}

std::string Hint(const DayOfScore& day, const DaysOfRole& role) {
  std::string text = DateText(day.day) + ": score " + Shown(day.score, 2);
  if (role.daily_limit && day.score > *role.daily_limit) text += ", above the limit " + ShownShort(*role.daily_limit);
  text += "; " + std::to_string(day.mismatched) + " new n-grams, " + std::to_string(day.queries) + " statements";
  if (role.baseline_from && day.day >= *role.baseline_from && day.day <= *role.baseline_to) text += "; in the baseline";
  return text;
}

std::string Box(double x, double y, double width, double height) {
  return "M" + Shown(x, 2) + " " + Coordinate(y) + "h" + Shown(width, 2) + "v" + Coordinate(height) + "h" +
         Shown(-width, 2) + "z";
}

// The part of the baseline that is among the days of the scale, as its first day and the number of days; 0 for none.
std::pair<std::int64_t, std::int64_t> BaselineWithin(const DaysOfRole& role, const DayScale& scale) {
  if (!role.baseline_from) return {0, 0};
  const std::int64_t from = std::max(*role.baseline_from, scale.first);
  return {from, std::max<std::int64_t>(0, std::min(*role.baseline_to, scale.last) - from + 1)};
}

}  // namespace

double DayScale::ClassEnd(int index) const {
  double top = 1;
  if (std::isfinite(greatest) && greatest > 0) {
    const double power = std::pow(10.0, std::floor(std::log10(greatest)));
    for (const double factor : {1.0, 2.0, 4.0, 8.0, 10.0}) {
      top = factor * power;
      if (top >= greatest) break;
    }
  }
  return std::ldexp(top, index - kHeatClasses);
}

int DayScale::ClassOf(double score) const {
  if (!(score > 0)) return 0;
  for (int index = 1; index < kHeatClasses; ++index)
    if (score <= ClassEnd(index)) return index;
  return kHeatClasses;
}

double DaysOfRole::Worst() const {
  double worst = 0;
  for (const DayOfScore& day : days) worst = std::max(worst, day.score);
  return worst;
}

bool IsOnScale(double limit, const DayScale& scale) { return limit <= kLimitRoom * scale.greatest; }

DayScale ScaleOf(const std::vector<const DaysOfRole*>& roles) {
  DayScale scale;
  bool is_first = true;
  for (const DaysOfRole* role : roles) {
    if (role->days.empty()) continue;
    scale.first = is_first ? role->days.front().day : std::min(scale.first, role->days.front().day);
    scale.last = is_first ? role->days.back().day : std::max(scale.last, role->days.back().day);
    scale.greatest = std::max(scale.greatest, role->Worst());
    is_first = false;
  }
  scale.axis = scale.greatest;
  for (const DaysOfRole* role : roles)
    for (const std::optional<double>& limit : {role->session_limit, role->daily_limit})
      if (limit && IsOnScale(*limit, scale)) scale.axis = std::max(scale.axis, *limit);
  return scale;
}

std::string DayStrip(const DaysOfRole& role, const DayScale& scale, bool with_hints) {
  const auto days = static_cast<double>(scale.last - scale.first + 1);
  const double gap = days <= 120 ? 0.12 : 0;
  std::array<std::string, kHeatClasses + 1> cells;
  std::string over, hints;
  for (const DayOfScore& day : role.days) {
    const auto x = static_cast<double>(day.day - scale.first);
    const int index = scale.ClassOf(day.score);
    cells[static_cast<std::size_t>(index)] +=
        index == 0 ? Box(x + gap / 2, 10, 1 - gap, 4) : Box(x + gap / 2, 4, 1 - gap, kStripHeight - 4);
    if (role.daily_limit && day.score > *role.daily_limit) over += Box(x + gap / 2, 0, 1 - gap, 3);
    if (with_hints)
      hints += "<rect class=\"hint\" x=\"" + Shown(x, 0) + "\" width=\"1\" height=\"" + Coordinate(kStripHeight) +
               "\"><title>" + Escaped(Hint(day, role)) + "</title></rect>";
  }
  std::string html = "<svg class=\"strip\" viewBox=\"0 0 " + Shown(days, 0) + " " + Coordinate(kStripHeight) +
                     "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"" + Escaped(Summary(role)) + "\">";
  const auto [from, length] = BaselineWithin(role, scale);
  if (length > 0)
    html += "<path class=\"base\" d=\"" +
            Box(static_cast<double>(from - scale.first), 0, static_cast<double>(length), kStripHeight) + "\"/>";
  for (std::size_t index = 0; index < cells.size(); ++index)
    if (!cells[index].empty()) html += "<path class=\"h" + std::to_string(index) + "\" d=\"" + cells[index] + "\"/>";
  if (!over.empty()) html += "<path class=\"over\" d=\"" + over + "\"/>";
  return html + hints + "</svg>";
}

std::string DayChart(const DaysOfRole& role, const DayScale& scale, bool with_hints) {
  Svg svg(kDayWidth, kDayHeight, Summary(role), Placement::kInPage);
  const Panel panel{kDayLeft, kDayRight, kDayTop, kDayBottom, ScaleTo(scale.axis, 4)};
  const double width = (kDayRight - kDayLeft) / static_cast<double>(scale.last - scale.first + 1);
  const auto left_of = [&](std::int64_t day) { return kDayLeft + static_cast<double>(day - scale.first) * width; };
  const auto [from, length] = BaselineWithin(role, scale);
  if (length > 0)
    svg.Rectangle(left_of(from), kDayTop, static_cast<double>(length) * width, kDayBottom - kDayTop, "base");
  const auto ticks = std::lround(panel.scale.top / panel.scale.step);
  for (long i = 0; i <= ticks; ++i) {
    const double value = panel.scale.step * static_cast<double>(i);
    const double y = kDayBottom - panel.Height(value);
    svg.Line(kDayLeft, y, kDayRight, y, i == 0 ? "axis" : "grid");
    svg.Text(kDayLeft - 5, y + 4, ShownShort(value), "tick", Svg::Anchor::kEnd);
  }
  const double bar = std::clamp(0.72 * width, 0.6, 26.0);
  std::string bars;
  const DayOfScore* worst = nullptr;
  for (const DayOfScore& day : role.days) {
    if (worst == nullptr || day.score > worst->score) worst = &day;
    if (day.score > 0)
      bars += Box(left_of(day.day) + (width - bar) / 2, kDayBottom, bar, -std::max(1.0, panel.Height(day.score)));
  }
  if (!bars.empty()) svg.Path(bars, "score");
  const auto draw_limit = [&](const std::optional<double>& limit, const char* kind) {
    if (!limit || !IsOnScale(*limit, scale)) return;
    const double y = kDayBottom - panel.Height(*limit);
    svg.Line(kDayLeft, y, kDayRight, y, kind);
  };
  draw_limit(role.session_limit, "limit session");
  draw_limit(role.daily_limit, "limit");
  if (worst != nullptr && worst->score > 0)
    svg.Text(std::clamp(left_of(worst->day) + width / 2, kDayLeft + 14, kDayRight - 12),
             kDayBottom - panel.Height(worst->score) - 4, Shown(worst->score, 2), "value", Svg::Anchor::kMiddle);
  if (with_hints)
    for (const DayOfScore& day : role.days)
      svg.Rectangle(left_of(day.day), kDayTop, width, kDayBottom - kDayTop, "hint", Hint(day, role));
  svg.Text(kDayLeft, kDayHeight - 6, DateText(scale.first), "tick");
  if (scale.last > scale.first) svg.Text(kDayRight, kDayHeight - 6, DateText(scale.last), "tick", Svg::Anchor::kEnd);
  return svg.Finish();
}

}  // namespace privacy_score

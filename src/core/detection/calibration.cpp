/*
 * calibration.cpp - see calibration.hpp.
 */
#include "core/detection/calibration.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"

namespace privacy_score {

namespace {

constexpr double kMostUnusual = 8;
constexpr double kMostNew = 3;  // that one session adds to a new drip
// A share of sessions is shown by those that were calibrated on when so many of them are above it.
constexpr double kFewestAbove = 3;

}  // namespace

Judgement JudgeBy(const Tails& tails, const SessionFigures& figures) {
  Judgement judgement;
  double most = 0;
  for (const Figure figure : kFigures) {
    if (!figures[figure]) continue;
    const auto i = static_cast<std::size_t>(figure);
    const double unusual = tails[i]->Unusual(*figures[figure]);
    judgement.unusual[i] = std::min(unusual, kMostUnusual);
    if (figure == Figure::kNewRuns || figure == Figure::kNewRepeats)
      judgement.new_number = std::max(judgement.new_number, std::min(unusual, kMostNew));
    if (unusual <= most) continue;
    most = unusual;
    judgement.reason = figure;
    judgement.combined = judgement.unusual[i];
  }
  return judgement;
}

AlarmThreshold AlarmLaw::Threshold(double alarm_rate) const {
  if (!(alarm_rate > 0 && alarm_rate < 1))
    throw InvalidValue("alarm_rate must be above 0 and below 1, not " + TextOf(alarm_rate));
  AlarmThreshold threshold;
  threshold.calibrated_on = sessions;
  if (sessions == 0) {
    // What that many figures exceed together that each exceed by chance alone.
    threshold.value = std::log10(static_cast<double>(kFigureCount) / alarm_rate);
    return threshold;
  }
  const double shown = std::min(1.0, kFewestAbove / static_cast<double>(sessions));
  threshold.extrapolated = alarm_rate < shown;
  threshold.value = threshold.extrapolated ? combined.Exceeded(shown) + mean_excess * std::log(shown / alarm_rate)
                                           : combined.Exceeded(alarm_rate);
  return threshold;
}

double DripLaw::After(double before, double number) const { return std::max(0.0, before + (number - from)); }

double AlarmLaw::DripLimit(double alarm_rate) const {
  return std::max(drip.reached, Threshold(alarm_rate).value - drip.from);
}

double AlarmLaw::NewDripLimit(double alarm_rate) const {
  return std::max(new_drip.reached, std::min(kMostNew, Threshold(alarm_rate).value) - new_drip.from);
}

Judgement RoleCalibration::Judge(const SessionFigures& figures) const {
  Tails of_role{};
  std::transform(tails.begin(), tails.end(), of_role.begin(), [](const Tail& tail) { return &tail; });
  return JudgeBy(of_role, figures);
}

const Calibration::Role* Calibration::Find(std::string_view role) const {
  const auto found = std::lower_bound(roles.begin(), roles.end(), role,
                                      [](const Role& other, std::string_view name) { return other.name < name; });
  return found != roles.end() && found->name == role ? &*found : nullptr;
}

RoleCalibration Calibration::Of(const Role& role) const {
  RoleCalibration of_role;
  of_role.role = role.name;
  of_role.tokens.sessions = {role.sessions, sessions};
  of_role.tokens.usual_distinct = role.usual_distinct;
  std::vector<std::int64_t> own(tokens.size(), 0);
  for (const RoleToken& token : role.tokens) own[token.token] = token.sessions;
  of_role.tokens.with_token.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i)
    of_role.tokens.with_token.emplace(tokens[i].text, SessionCounts{own[i], tokens[i].sessions});
  for (std::size_t i = 0; i < kFigureCount; ++i) {
    of_role.is_of_all[i] = !role.tails[i];
    of_role.tails[i] = role.tails[i] ? *role.tails[i] : tails[i];
  }
  of_role.alarm = alarm;
  return of_role;
}

}  // namespace privacy_score

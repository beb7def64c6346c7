/*
 * calibration.hpp - from the figures of a session to one number with a known rate of false alarms.
 *
 * A calibration is made from the sessions of all roles' baselines (calibrator.hpp) and kept with them, as bytes
 * (calibration_bytes.hpp). What one role's sessions are held against is its RoleCalibration.
 *
 *   u of a figure = -log10 of its tail (tail.hpp), at most 8
 *   combined = the greatest u of the session's figures
 *   alarm when combined > Threshold(alarm_rate)
 *   drip of a principal: C := max(0, C + combined - from) after each session, told when C passes its limit
 *   new drip: the same with the greater u of new_runs and new_repeats, at most 3, in place of combined
 */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/detection/figures.hpp"
#include "core/detection/novelty.hpp"
#include "core/detection/tail.hpp"

namespace privacy_score {

// How unusual a session is.
struct Judgement {
  double combined = 0;           // the greatest of `unusual`
  std::optional<Figure> reason;  // the figure that is most unusual, also beyond what u is limited to; none when none is
  std::array<double, kFigureCount> unusual{};  // u
  double new_number = 0;                       // what adds up to a new drip
};

// The tail of each figure.
using Tails = std::array<const Tail*, kFigureCount>;

// Figures that are unknown, and those of whose tail nothing is known, are not unusual. `combined` never falls when
// figures rise.
Judgement JudgeBy(const Tails& tails, const SessionFigures& figures);

struct AlarmThreshold {
  double value = 0;
  std::int64_t calibrated_on = 0;  // sessions that it rests on
  bool extrapolated = true;        // fewer than three of them are above it
};

// How a principal's numbers add up. More is said of what a principal of the baselines has reached in calibrator.cpp.
struct DripLaw {
  double from = 0;     // of this and less nothing is added up
  double reached = 0;  // C that no principal of the baselines comes to speak of
  // C after one more session.
  double After(double before, double number) const;
};

// The combined numbers of the sessions that were calibrated on.
struct AlarmLaw {
  std::int64_t sessions = 0;
  bool complete = false;   // each with all figures; else some were unknown, and the numbers may be too low
  Quantiles combined;      // over sessions and repetitions
  double mean_excess = 0;  // of combined over drip.from, drawn by five excesses to that of what is exactly calibrated
  DripLaw drip;            // from the 90th percentile of combined; the greatest C of a principal of the baselines
  DripLaw new_drip;        // from the 85th percentile of what is new; four fifths of the greatest C

  // The combined number that a share `alarm_rate` of sessions exceeds. Beyond what the sessions can show it is taken
  // from an exponential tail. Throws Error 22023 unless alarm_rate is above 0 and below 1.
  AlarmThreshold Threshold(double alarm_rate) const;
  // What C is to exceed: what the baselines have reached, and never less than one session brings that just raises no
  // alarm by itself.
  double DripLimit(double alarm_rate) const;
  double NewDripLimit(double alarm_rate) const;
};

// What the sessions of one role are held against.
struct RoleCalibration {
  std::string role;
  RoleTokens tokens;  // for NoveltyProfile
  std::array<Tail, kFigureCount> tails;
  std::array<bool, kFigureCount> is_of_all{};  // the tail is that of all roles together
  AlarmLaw alarm;

  Judgement Judge(const SessionFigures& figures) const;
};

// What is learnt of all roles' baselines.
struct Calibration {
  struct Token {
    std::string text;
    std::int64_t sessions = 0;  // of all roles, with it
  };
  struct RoleToken {
    std::uint32_t token = 0;    // its place in Calibration::tokens
    std::int64_t sessions = 0;  // of the role, with it
  };
  struct Role {
    std::string name;
    std::int64_t sessions = 0;
    double usual_distinct = 1;
    std::vector<RoleToken> tokens;                        // by place
    std::array<std::optional<Tail>, kFigureCount> tails;  // its own; where it has none, that of all holds
  };

  std::int64_t sessions = 0;
  std::vector<Token> tokens;  // sorted by text
  std::array<Tail, kFigureCount> tails;
  AlarmLaw alarm;
  std::vector<Role> roles;  // sorted by name

  // Null when the role has no baseline among them.
  const Role* Find(std::string_view role) const;
  RoleCalibration Of(const Role& role) const;
};

}  // namespace privacy_score

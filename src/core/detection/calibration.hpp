/*
 * calibration.hpp - from the figures of a session to one number with a known rate of false alarms.
 *
 * A calibration is made from the sessions of all roles' baselines (calibrator.hpp) and kept with them, as bytes
 * (calibration_bytes.hpp). What one role's sessions are held against is its RoleCalibration.
 *
 *   u of a figure = -log10 of its tail (tail.hpp), at most 8
 *   combined = the greatest u of the session's figures
 *   alarm when combined > Threshold(alarm_rate)
 *   drip of a principal: C := max(0, C + combined - drip_from) after each session, told when C > DripLimit(alarm_rate)
 */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/detection/figures.hpp"
#include "core/detection/novelty.hpp"
#include "core/detection/tail.hpp"

namespace privacy_score {

// How unusual a session is.
struct Judgement {
  double combined = 0;
  std::optional<Figure> reason;  // the figure that is most unusual; none when nothing is
  std::array<double, kFigureCount> unusual{};
};

struct AlarmThreshold {
  double value = 0;
  std::int64_t calibrated_on = 0;  // sessions that it rests on
  bool extrapolated = true;        // fewer than three of them are expected above it
};

// The combined numbers of the sessions that were calibrated on.
struct AlarmLaw {
  std::int64_t sessions = 0;
  bool complete = false;    // each with all figures; else some figures were unknown, and the numbers may be too low
  Quantiles combined;       // over sessions and repetitions
  double drip_from = 0;     // the 90th percentile of them
  double drip_reached = 0;  // the greatest C of a principal of a baseline

  // The combined number that a share `alarm_rate`, in (0,1), of sessions exceeds. Beyond what the sessions can show it
  // is taken from an exponential tail.
  AlarmThreshold Threshold(double alarm_rate) const;
  // What C is to exceed: what a baseline has reached, and never less than one session that just raises no alarm brings.
  double DripLimit(double alarm_rate) const;
  // C after one more session.
  double Drip(double before, double combined) const;
};

// What the sessions of one role are held against.
struct RoleCalibration {
  std::string role;
  RoleTokens tokens;  // for NoveltyProfile
  std::array<Tail, kFigureCount> tails;
  std::array<bool, kFigureCount> tail_is_of_all{};  // of all roles, not of this one
  AlarmLaw alarm;

  // Figures that are unknown, or whose tail is, are not unusual. Never falls when figures rise.
  Judgement Judge(const SessionFigures& figures) const;
};

// Of all roles.
class Calibration {
 public:
  struct Role {
    std::int64_t sessions = 0;
    double usual_distinct = 1;
    // By number of the token in Calibration::tokens.
    std::vector<std::pair<std::uint32_t, std::int64_t>> with_token;
    // Of reach and the figures after it; none where the role has too few sessions.
    std::array<std::optional<Tail>, kFigureCount> tails;
  };

  // Null when it has no baseline among those that were calibrated.
  std::optional<RoleCalibration> OfRole(std::string_view role) const;

  std::int64_t sessions = 0;                                 // of all roles' baselines
  std::vector<std::pair<std::string, std::int64_t>> tokens;  // sorted; sessions with it
  std::array<Tail, kFigureCount> tails;                      // of all roles together
  AlarmLaw alarm;
  std::vector<std::pair<std::string, Role>> roles;  // sorted by name
};

}  // namespace privacy_score

/*
 * role_alarm.hpp - what sessions of one role are judged by, and a session that is judged as it goes on.
 *
 * A session that is recorded is judged in the same way, part by part, so what is said of it later is what was said when
 * it ran, as long as the calibration and the baseline are the same.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/rows.hpp"
#include "core/detection/accepted.hpp"
#include "core/detection/calibration.hpp"
#include "core/detection/figures.hpp"
#include "core/detection/novelty.hpp"
#include "core/scoring/model.hpp"

namespace privacy_score {

// The figures that are stored with a session, where known.
struct StoredFigures {
  std::optional<std::int64_t> addressed, person, most_rows, known, differ;
};

class RoleAlarm {
 public:
  // The baseline of the role comes as a section (id, token), one row a token.
  RoleAlarm(RoleCalibration calibration, WireReader& baseline);
  RoleAlarm(const RoleAlarm&) = delete;
  RoleAlarm& operator=(const RoleAlarm&) = delete;

  const RoleCalibration& calibration() const { return calibration_; }
  NoveltyProfile& profile() { return *profile_; }
  // Abstractions of the baseline: each takes some hundred bytes.
  std::size_t size() const { return size_; }

 private:
  RoleCalibration calibration_;
  std::unique_ptr<NoveltyProfile> profile_;
  std::size_t size_ = 0;
};

class JudgedSession {
 public:
  // `alarm` must outlive it, and so must what is accepted of its role or principal (null: nothing).
  explicit JudgedSession(RoleAlarm& alarm, const Accepted* accepted = nullptr)
      : alarm_(alarm), accepted_(accepted), novelty_(alarm.profile(), accepted) {}

  // Whether the tokens of an abstraction are needed to take it in: the baseline lacks it and the session has not had
  // it.
  bool Wants(AbstractionId id);
  // Takes in so many executions of an abstraction; `tokens` may be null where they are not wanted, and then it does not
  // matter whether another role's baseline has it.
  void Take(AbstractionId id, std::int64_t executions, const Tokens* tokens, bool is_of_others = false);
  void Take(const StoredFigures& stored) { stored_ = stored; }

  // Distinct abstractions: each takes some hundred bytes.
  std::size_t size() const { return executions_.size(); }

  SessionFigures Figures() const;
  // By what of the figures is not accepted.
  Judgement Judge() const;

 private:
  RoleAlarm& alarm_;
  const Accepted* accepted_;
  SessionNovelty novelty_;
  std::unordered_map<AbstractionId, std::int64_t> executions_;
  std::int64_t repeats_ = 0;
  StoredFigures stored_;
};

// JSON of an alert: version, cause, figure, reason (in words), figures, combined, threshold, calibrated_on (sessions),
// extrapolated.
std::string UnusualJson(const JudgedSession& session, const RoleCalibration& calibration,
                        const AlarmThreshold& threshold);
// How a principal's sessions have added up.
enum class DripKind { kUnusual, kNew };
// Of a slow drip: version, cause (drip, new_drip), reason, drip, limit, and the figures of the last session.
std::string DripJson(const JudgedSession& session, DripKind kind, double drip, double limit);

}  // namespace privacy_score

/*
 * calibrator.hpp - how unusual normal sessions are: each session of a baseline is held against the other days.
 *
 * Each is so four times. Each time a share `expected_novelty` of each role's abstractions is withheld, which stands for
 * the new work of days to come: the profile that a session is held against lacks them, and all that only the session's
 * own day has. The counts of tokens are as if neither had been there. Which abstractions are withheld follows from
 * role, abstraction and repetition, so that the result is the same wherever it is computed.
 *
 * A role all of whose sessions are of one day is held against its other sessions; the only session of a role is held
 * against nothing, and says nothing of novelty.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/work_control.hpp"
#include "core/detection/calibration.hpp"
#include "core/detection/figures.hpp"
#include "core/scoring/model.hpp"

namespace privacy_score {

// A session of a baseline.
struct BaselineSession {
  std::string role;
  std::string principal;                    // whose it is, told apart from all others of all roles
  std::int64_t begin = 0;                   // in any unit: the order of a principal's sessions
  std::int32_t day = 0;                     // a number of the calendar day
  std::vector<AbstractionId> abstractions;  // in any order; the empty one does not count
  std::vector<std::int64_t> executions;     // of each; none: each was executed once
  SessionFigures figures;                   // addressed and those after it, where known; the others are not looked at
};

class Calibrator {
 public:
  // `tokens` has those of all abstractions; it need not outlive the call. Throws Error 22023 unless expected_novelty is
  // at least 0 and below 1, and XX001 when tokens are missing or a figure is not a finite number of at least 0.
  Calibrator(std::vector<BaselineSession> sessions, const TokenMap& tokens, double expected_novelty);
  ~Calibrator();

  // Works until the calibration is made (true) or `control` interrupts it (false); the next call goes on from there. It
  // asks with each day of a role, and in a long one now and then.
  [[nodiscard]] bool Run(const WorkControl& control);

  // Complete after Run() has returned true.
  const Calibration& calibration() const { return calibration_; }

 private:
  class Work;

  std::unique_ptr<Work> work_;
  Calibration calibration_;
};

}  // namespace privacy_score

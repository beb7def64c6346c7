/*
 * calibrator.hpp - how unusual normal sessions are: each baseline session is held against the other days.
 *
 * Four times, a share expected_novelty of each role's abstractions is withheld, which stands for the new
 * work of days to come: to the profile that a session is held against they are unknown, and so is all of the session's
 * own day. The counts of tokens are as if neither had been there. Which abstractions are withheld follows from role,
 * abstraction and repetition, so that the result is the same wherever it is computed.
 *
 * A role all of whose sessions are of one day is held against its other sessions; the only session of a role is held
 * against nothing and says nothing of novelty.
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
  std::string principal;   // who it belongs to, told apart from all others of all roles
  std::int64_t begin = 0;  // in any unit; principals' sessions follow each other by it
  std::int32_t day = 0;
  std::vector<AbstractionId> abstractions;  // distinct ones, in any order
  SessionFigures figures;                   // reach and those after it, where known; the others are not looked at
};

class Calibrator {
 public:
  // `tokens` has those of all abstractions of the sessions. Throws Error 22023 unless expected_novelty is in [0,1),
  // and XX001 when an abstraction has no tokens or a figure is not a finite number of at least 0.
  Calibrator(std::vector<BaselineSession> sessions, const TokenMap& tokens, double expected_novelty);
  ~Calibrator();

  // Works until the calibration is made (true) or `control` interrupts it (false); the next call goes on from there, at
  // most one day of one role before. Progress is counted in sessions of all repetitions.
  [[nodiscard]] bool Run(const WorkControl& control);

  // The calibration, after Run() has returned true.
  const Calibration& calibration() const { return calibration_; }

 private:
  class Work;

  std::unique_ptr<Work> work_;
  Calibration calibration_;
};

}  // namespace privacy_score

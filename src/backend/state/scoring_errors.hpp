/*
 * scoring_errors.hpp - faults of scoring, which never fail the statement that is scored.
 */
#pragma once

#include "backend/server/core_call.hpp"

namespace privacy_score {

// Counts a fault and logs the first of this backend. Never raises.
void CountScoringError(const char* what);

// Runs a step of core; false when it failed, which is counted.
template <typename Step>
bool Counted(Step step) {
  CoreError error;
  if (CallCore(&error, step)) return true;
  CountScoringError(error.message);
  return false;
}

}  // namespace privacy_score

/*
 * scoring_errors.hpp - faults of scoring, which never fail the statement that is scored.
 */
#pragma once

// Counts a fault and logs the first of this backend. Never raises.
void CountScoringError(const char* what);

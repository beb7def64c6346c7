/*
 * baseline_alerts.hpp - looking at a baseline that has just been put in force (core/scoring/baseline_check.hpp).
 *
 * What is found becomes an alert about the role and a WARNING to the caller; the baseline stays in force.
 */
#pragma once

// Checks the active baseline of the role, whatever this command has written included. `with_days`: it was made of the
// sessions recorded on its days, so that these can be compared. Rates that cannot be computed leave bounds behind,
// never an error.
void CheckBaselineInForce(const char* role, bool with_days);

/*
 * baseline_alerts.hpp - looking at a baseline that has just been put in force (core/scoring/baseline_check.hpp).
 *
 * Days that stand out and few sessions become an alert about the role and a WARNING to the caller; all that is found
 * stays with the version. The baseline stays in force, and alerts about the role's other versions end.
 */
#pragma once

namespace privacy_score {

// Checks the active baseline of the role, or of an end user of it (null: none), whatever this command has written
// included. `with_days`: it was made of the sessions recorded on its days, so that these can be compared. Rates that
// cannot be computed leave bounds behind, never an error.
void CheckBaselineInForce(const char* role, const char* end_user, bool with_days);

}  // namespace privacy_score

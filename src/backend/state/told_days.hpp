/*
 * told_days.hpp - what sessions tell the worker of the day of their principal (core/scoring/day_reach.hpp).
 *
 * Only constants that are new in the session are told, as keyed hashes. What has no room in shared memory for now waits
 * in this process for the next statement; of what has no room there either the figures of the day say nothing.
 */
#pragma once

#include "backend/state/shared_state.hpp"

namespace privacy_score {

// Hands over what the session's scorer has written since. `last`: nothing follows, so more of it goes at once.
void SendTold(LiveSession* session, bool last = false);

}  // namespace privacy_score

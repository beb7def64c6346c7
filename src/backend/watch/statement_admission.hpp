/*
 * statement_admission.hpp - mode enforce: whether a statement keeps the limits, before it counts.
 */
#pragma once

#include "backend/state/shared_state.hpp"

namespace privacy_score {

// Lets the other sessions of the role know what is about to be let pass, so that no two of them pass a limit of the day
// at once; 0: nothing.
void ReserveRise(LiveSession* session, double rise);

// Counts a statement that mode enforce lets pass; false when there is no room, however long it waits for the worker to
// make some. What others do meanwhile may change whether it passes.
bool AppendAdmitted(DatabaseSlot* slot, LiveSession* session, int64 id, bool defined, uint64 change);

}  // namespace privacy_score

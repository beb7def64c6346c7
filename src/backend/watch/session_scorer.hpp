/*
 * session_scorer.hpp - the session of who asks now, and the scorer that this backend keeps for it.
 *
 * The scorer is a C++ object that lives as long as the process; it is touched only inside CallCore. The session lives
 * in shared memory (shared_state.hpp) and belongs to this backend until it is closed.
 */
#pragma once

#include "backend/state/end_user.hpp"
#include "backend/state/shared_state.hpp"

namespace privacy_score {

// The session of the principal at this moment, opened when there is none; null when there is no room.
LiveSession* CurrentSession(TimestampTz now, EndUserFault* fault);

// Loads the model in force into the scorer when there is a newer one.
void RefreshModel(DatabaseSlot* slot, const LiveSession* session);

// Hands the rates that the scorer missed to the worker. What has no room is asked for again when the next model has
// been loaded.
void SendMissingRates(DatabaseSlot* slot);

// The newest of the changes up to a number, the last one that is announced, that concerns a statement of the session;
// 0 when the scorer's model reflects all of them.
uint64 ChangeToWaitFor(DatabaseSlot* slot, const LiveSession* session, int64 id, uint64 changes);

// Whether the scorer has a model that reflects a change.
bool ModelReflects(uint64 change);

// Gives the scorer the tokens of an abstraction that it does not know yet.
bool DefineInScorer(int64 id);

}  // namespace privacy_score

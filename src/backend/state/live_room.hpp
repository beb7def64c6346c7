/*
 * live_room.hpp - recording what there may be no room for.
 *
 * A session has a share of shared memory and may take some of the pool (shared_blocks.hpp); with a worker that is busy,
 * and statements that are large or many, it uses both up. Then nothing is left out: what cannot be recorded as what it
 * is counts, here and in history, as `unparsed`, which needs no room (PendingHistory::uncounted), and an alert says so.
 * In mode enforce the session waits a while for the worker, and then the statement is refused.
 */
#pragma once

#include "backend/state/shared_state.hpp"

namespace privacy_score {

// What stands for a statement that could not be abstracted, or not recorded.
constexpr const char* kUnparsed = "unparsed";
int64 UnparsedId();
// Whether this is its id.
bool IsUnparsed(int64 id);

// Sends the tokens of an abstraction with the first event of the session that has it; false when there is no room.
bool SendTokens(LiveSession* session, int64 id);

// Waits a moment for the worker to make room.
void WaitForRoom(DatabaseSlot* slot);

// Records one execution that has no room as what it is; returns the id that it counts as, 0 for none.
int64 AppendUnparsed(LiveSession* session);

// Raises the alert that a session has no room left, once a session.
void AnnounceNoRoom(LiveSession* session);

// Adds rows to an execution that other events have followed.
void RecordLateRows(LiveSession* session, int64 id, int64 rows);

}  // namespace privacy_score

/*
 * worker_standby_file.hpp - what ran on a hot standby, kept in files (backend/state/standby_file.hpp).
 */
#pragma once

#include "backend/state/shared_state.hpp"

namespace privacy_score {

// Appends what a session has gathered, as `copy` has its figures and `sealed` what it has run; false when there is no
// room for it. Raises nothing.
bool FileSession(LiveSession* session, const LiveSession* copy, const PendingHistory* sealed);

// Removes files that are older than history_retention.
void RemoveOldStandbyFiles(int32 today);

// After a promotion: writes what the files have to the tables, and removes them. Twice changes nothing.
void RecordStandbyFiles();

}  // namespace privacy_score

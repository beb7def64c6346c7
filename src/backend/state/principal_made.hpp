/*
 * principal_made.hpp - what a session of a principal is made of (principal_session.hpp).
 */
#pragma once

#include <cstdint>
#include <vector>

#include "backend/state/principal_session.hpp"
#include "backend/state/stored_principal.hpp"

namespace privacy_score {

// Makes a session for a principal, to which this backend is attached, in what room there is; null when there is none.
// `stored`: the one that it goes on with, or null. `known`: the end user has been here before.
LiveSession* MakePrincipal(Oid role, const char* end_user, TimestampTz now, const StoredPrincipal* stored, bool known);
// Takes it back: nobody else has seen it.
void UnmakePrincipal(LiveSession* session);

// Appends words to the journal of a session; false when there is no room.
bool AppendToJournal(LiveSession* session, const std::vector<std::uint64_t>& words);

}  // namespace privacy_score

/*
 * principal_attachment.hpp - how many backends are at a session of a principal, and that it cannot be freed meanwhile.
 *
 * Each transaction of a person attaches to her session and leaves it again, over whichever connection it comes. A
 * backend that knows the session must not take a lock for that which everybody takes. But all that it knows may be gone
 * by now, and something else may stand in its place: so the count is not in the session but in a word beside the
 * blocks, one for each, which is never anything else. It holds the count, and above it bits of the serial number of the
 * session that may be attached to; 0: none. Who frees a session refuses first that anybody comes, which succeeds only
 * where nobody is.
 */
#pragma once

#include "backend/state/shared_state.hpp"

namespace privacy_score {

// Makes a new session, which has its serial number, one that this backend is attached to.
void OpenForAttaching(const LiveSession* session);

// Attaches to the session with this serial number, if it still stands in this place. After that it stays until
// Detach(), though it may be closed.
bool AttachTo(const LiveSession* session, uint64 serial);
void Detach(const LiveSession* session);
bool IsAttachedTo(const LiveSession* session);

// From here on nobody attaches; false when somebody is attached. True also of a session that has it so already.
bool RefuseAttaching(const LiveSession* session);
// Takes that back.
void AllowAttaching(const LiveSession* session);
// The session is freed.
void EndAttaching(const LiveSession* session);

}  // namespace privacy_score

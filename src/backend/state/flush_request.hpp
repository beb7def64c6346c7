/*
 * flush_request.hpp - waiting until the worker has written what sessions have gathered.
 */
#pragma once

#include "backend/state/shared_state.hpp"

namespace privacy_score {

// Asks the worker, starting one if need be, to write all that has been gathered and to take in what has changed, and
// waits until it has; at most a minute. Raises 55000 when it has not by then, when the extension's objects are not of
// this version, and in a transaction that has written history itself: each would wait for the other.
void AwaitFlush(DatabaseSlot* slot);

}  // namespace privacy_score

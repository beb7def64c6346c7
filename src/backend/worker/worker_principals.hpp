/*
 * worker_principals.hpp - sessions of principals on their way out of memory (backend/state/stored_principal.hpp).
 */
#pragma once

#include "backend/worker/worker.hpp"
#include "core/scoring/ngram.hpp"

namespace privacy_score {

// Within the transaction that writes a part of a session's history: what lets it go on, where it is one over all
// connections; or takes that away when it was closed. `session` is a copy; `follows`: as of the moment of that.
void KeepPrincipal(const LiveSession* session, int64 row_id, const NGram& follows);

// Where the pool of shared memory is scarce: stores those sessions that nobody has gone on with for longest, and then
// frees them, until there is room. In transactions of its own.
void PutOutPrincipals(DatabaseSlot* slot);

// Within a transaction: forgets what sessions of earlier days have left.
void TidyPrincipals();

}  // namespace privacy_score

/*
 * prepared_changes.hpp - changes that a prepared transaction has made, announced when somebody commits it.
 *
 * PREPARE TRANSACTION ends what the session knows of the transaction; COMMIT PREPARED comes from any session, after a
 * restart or on a promoted standby as well. What is to be announced then goes with the transaction, as a row of
 * privacy_score.prepared_change that it inserts and deletes at once: nobody sees the row by the rules of visibility,
 * COMMIT PREPARED reads it as long as the transaction is in progress, and once the transaction has ended, however it
 * has, the row is dead and VACUUM takes it away. So nothing is left to be cleaned up, and between the commit and its
 * announcement nothing is done that can fail.
 */
#pragma once

#include "backend/state/watching.hpp"

namespace privacy_score {

// Before PREPARE TRANSACTION: writes down what this transaction has to announce. Raises 0A000 where it cannot be.
void KeepChangesForPrepared(const char* gid);

// Before COMMIT PREPARED: what that transaction has to announce; everything where its note cannot be read at once.
KeptChanges ChangesOfPrepared(const char* gid);

}  // namespace privacy_score

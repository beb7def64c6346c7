/*
 * relation_lock.hpp - locking a relation whose rows are about to be read.
 *
 * A snapshot that is older than a rewriting of the relation (ALTER TABLE ... TYPE, TRUNCATE and the like; not VACUUM or
 * CLUSTER) sees none of its rows. The server takes the snapshot of a statement after its locks; functions get the one
 * of the statement that calls them, and may have waited for the lock since.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
}

namespace privacy_score {

// Locks a relation, and what inherits from it, against changes until the transaction ends, and returns the OIDs of all
// of these. Raises 42P01 when it has gone, and 40001 when one was rewritten so that the active snapshot does not see
// its rows any more.
List* LockForReading(Oid relation);

// Raises 42703 when columns, found before the relation was locked, were dropped meanwhile.
void RequireLiveColumns(Oid relation, const Bitmapset* columns);

}  // namespace privacy_score

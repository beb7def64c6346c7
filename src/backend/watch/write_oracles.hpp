/*
 * write_oracles.hpp - what a statement that writes tells of rows of protected relations by whether it may, and by how
 * many rows it writes.
 *
 * A duplicate key, a key that is absent from another table, `INSERT 0 0` under ON CONFLICT: each says whether a value
 * is there, and one does not need the right to read for it. A role that is labelled `dp only` may write where nothing
 * of this can happen. Asked when the statement runs: keys may be younger than its plan. May raise.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
}

namespace privacy_score {

// Whether running a plan can tell.
bool PlanTellsByWriting(const PlannedStmt* plan);

// Whether a utility statement can: COPY FROM, and ALTER TABLE where it checks foreign keys. Locks what it judges.
bool UtilityTellsByWriting(const Node* statement);

}  // namespace privacy_score

/*
 * shown_by_errors.hpp - what a statement that failed on a constraint has shown of a protected relation, as an event.
 *
 * NOT NULL, CHECK, check options and partitions print the row, as it would have become: of an UPDATE it is a row that
 * was there. Unique, exclusion and foreign keys say whether a value is there: the event filters by the key's columns,
 * and the value that was tried counts in reach.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/plannodes.h"
}

// Counts it; to be called in PG_CATCH with a copy of the error, when the error itself was flushed. `plan` is that of
// the statement. Refuses nothing, and raises nothing: a fault is counted.
void RecordShownByError(const ErrorData* error, Oid relation, const PlannedStmt* plan);

/*
 * shown_by_errors.hpp - what a statement that failed has shown of a protected relation, as an event.
 *
 * NOT NULL, CHECK, check options and partitions print the row, as it would have become: of an UPDATE it is a row that
 * was there. Unique, exclusion and foreign keys say whether a value is there: the event filters by the key's columns,
 * and the value that was tried counts in reach. What a statement that builds an index or rewrites a table meets are
 * rows that were there. Any other error may print a value in its message or detail: of all columns that the plan reads,
 * as the message does not say which.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/plannodes.h"
}

namespace privacy_score {

struct ShowingError {
  const ErrorData* error;   // a copy
  Oid named;                // the relation that it names
  const PlannedStmt* plan;  // of the statement; null: a utility statement
  const Node* utility;      // null: nobody knows any more of which statement it is
  Oid handled;              // the relation whose rows that handles by itself
  bool may_hold_values;     // its message or detail may print some that no constraint is about
};

// The relation that an error names; InvalidOid when it names none.
Oid NamedRelation(const ErrorData* error);

// Counts it; to be called in PG_CATCH, when the error itself was flushed. Refuses nothing, and raises nothing: a fault
// is counted.
void RecordShownByError(const ShowingError& shown);

}  // namespace privacy_score

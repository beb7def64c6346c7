/*
 * broken_waits.hpp - a key that is there, told by a statement that waited for it and was broken off.
 *
 * Who writes a key that a transaction which has not ended has inserted or deleted waits for its end. A lock_timeout, a
 * deadlock, a cancel or a statement_timeout while it waits tell that the key is there, as a duplicate key would. So the
 * keys of protected relations that the statement writes count as tried, as an event after the statement's; of a check
 * of a foreign key the columns that it looks by. Only an error whose context says that it met a statement which waited
 * for an index, a constraint or a foreign key counts: who is cancelled otherwise, or while it waits for a row that its
 * own condition has found, has tried no key. ON CONFLICT that waits for a row about to be inserted says nothing in its
 * context, but its keys count anyway.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/params.h"
#include "nodes/plannodes.h"
}

struct BrokenStatement {
  const PlannedStmt* plan;  // null: a utility statement
  ParamListInfo parameters;
  Oid copied;            // the relation that COPY FROM writes to
  bool integrity_check;  // a query that a foreign key runs
};

// Whether an error with that SQLSTATE may have broken off a wait.
bool MayBreakWait(int code);

// Whether it broke off a wait that tells of a key.
bool BrokeWait(const ErrorData* error, bool integrity_check);

// Counts the keys; to be called in PG_CATCH, when the error itself was flushed. Refuses and raises nothing: a fault is
// counted.
void RecordBrokenWait(const BrokenStatement& broken);

/*
 * broken_waits.hpp - a key that is there, told by a statement that waited for it and was broken off.
 *
 * Who writes a key that a transaction which has not ended has inserted or deleted waits for its end. A lock_timeout, a
 * deadlock, a cancel or a statement_timeout while it waits tell that the key is there, as a duplicate key would. So the
 * keys of protected relations that the statement writes count as tried, as an event after the statement's; of a check
 * of a foreign key the columns that it looks by. Only an error whose context says that it met a statement which waited
 * for an index, a constraint or a foreign key counts: who is cancelled otherwise, or while it waits for a row that its
 * own condition has found, has tried no key. Where no statement is left that could say which keys it wrote, as of a
 * constraint that waits when the transaction ends, or of a session that is terminated while it waits, the context names
 * the relation. A check of a foreign key that cannot see what has become of its row since the transaction began (40001)
 * tells the same. ON CONFLICT that waits for a row about to be inserted says nothing in its
 * context, but its keys count anyway.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/params.h"
#include "nodes/plannodes.h"
}

namespace privacy_score {

struct BrokenStatement {
  const PlannedStmt* plan;  // null: a utility statement
  ParamListInfo parameters;
  const ErrorData* error;
  Oid copied;            // the relation that COPY FROM writes to
  bool integrity_check;  // a query that a foreign key runs
};

// Whether an error with that SQLSTATE may have broken off a wait.
bool MayBreakWait(int code);

// Whether it broke off a wait that tells of a key.
bool BrokeWait(const ErrorData* error, bool integrity_check);

// The same of an error that no statement will look at, where it passes on its way to the client.
bool BrokeWaitUnseen(const ErrorData* error, bool integrity_check);

// Counts the keys that an error tells of which nobody but its context knows; in a transaction, once it is over.
void RecordWaitByContext(const ErrorData* error);

// Counts the keys; to be called in PG_CATCH, when the error itself was flushed. Refuses and raises nothing: a fault is
// counted.
void RecordBrokenWait(const BrokenStatement& broken);

}  // namespace privacy_score

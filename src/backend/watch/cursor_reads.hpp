/*
 * cursor_reads.hpp - cursors that somebody else fetches from than who declared them.
 *
 * A cursor's statement and the rows that are fetched go to the account of who declared it; a cursor WITH HOLD is read
 * to its end when its transaction ends, and these rows count then. One connection may speak for many, though: where the
 * application has named another end user since, or set another role, what is fetched goes to that one, to whom the
 * cursor's statement counts as one of theirs, once, and the rows that are fetched, also those of a cursor WITH HOLD. A
 * FETCH that names nobody fetches for who declared the cursor.
 *
 * Rows of a cursor WITH HOLD can also be had by the protocol's Execute, and by code that fetches without a statement:
 * no hook is called then. What has been fetched so shows in the position of the cursor, which is looked at before
 * whatever may name somebody else: the next statement, and the end of the transaction. It cannot be refused any more.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
}

#include "backend/state/watching.hpp"

namespace privacy_score {

extern bool ps_has_cursors;

// Notes who declares a cursor, after DECLARE has run.
void NoteCursor(const DeclareCursorStmt* declare);

// Counts what has been fetched of cursors WITH HOLD unseen; in a transaction.
void CountUnseenFetches();
inline void CountFetchedBefore() {
  if (__builtin_expect(static_cast<long>(ps_has_cursors), 0) != 0) CountUnseenFetches();
}
// A FETCH has run, or a MOVE: what it has moved over was seen.
void NoteFetched(const FetchStmt* fetch);

// Judges by the label who has the rows of a plan from now on, whoever has begun it.
void JudgeRows(const PlannedStmt* plan, const Watch& watch);

// Counts the statement of a cursor for who is about to fetch from it, unless that is who declared it or it was counted.
// Judges what is read by the label, and in mode enforce by the limits, of who fetches. Returns the abstraction that the
// rows go with when the server holds them, which no execution will count; else 0.
int64 CountFetch(const FetchStmt* fetch);
// The same of a cursor whose plan is about to run, by whatever means.
void CountFetchFromRunning();

}  // namespace privacy_score

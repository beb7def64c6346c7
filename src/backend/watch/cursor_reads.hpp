/*
 * cursor_reads.hpp - cursors that somebody else fetches from than who declared them.
 *
 * A cursor's statement and the rows that are fetched go to the account of who declared it; a cursor WITH HOLD is read
 * to its end when its transaction ends, and these rows count then. One connection may speak for many, though: where the
 * application has named another end user since, or set another role, what is fetched goes to that one, to whom the
 * cursor's statement counts as one of theirs, once, and the rows that are fetched, also those of a cursor WITH HOLD. A
 * FETCH that names nobody fetches for who declared the cursor.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
}

#include "backend/state/watching.hpp"

// Notes who declares a cursor, after DECLARE has run.
void NoteCursor(const DeclareCursorStmt* declare);

// Judges by the label who has the rows of a plan from now on, whoever has begun it.
void JudgeRows(const PlannedStmt* plan, const Watch& watch);

// Counts the statement of a cursor for who is about to fetch from it, unless that is who declared it or it was counted.
// Judges what is read by the label, and in mode enforce by the limits, of who fetches. Returns the abstraction that the
// rows go with when the server holds them, which no execution will count; else 0.
int64 CountFetch(const FetchStmt* fetch);

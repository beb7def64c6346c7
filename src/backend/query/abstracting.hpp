/*
 * abstracting.hpp - the abstraction of what is about to be planned, copied or executed, whatever goes wrong.
 *
 * What the server raises while a statement is translated, but for a cancel, must not break the user's statement: it is
 * counted, and the statement is abstracted as unparsed.
 */
#pragma once

#include "backend/query/constants.hpp"
#include "backend/query/plan_mark.hpp"
#include "backend/query/query_statement.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace privacy_score {

// The mark for the plan of an analysed and rewritten query, in the current memory context, which says whether libraries
// may plan pieces of it here, and where it has the answer of an aggregate. `planning_shows`: whether
// planning it hands protected values to somebody's function (protected_reads.hpp); this may raise.
PlanMark* AbstractQuery(::Query* query, bool* planning_shows);

// The abstraction of COPY relation TO with that list of columns.
int64 AbstractCopy(Oid relation, List* columns);

// The abstraction of what a statement hands on of a relation: columns by a list of their names; NIL: whole rows.
int64 AbstractRows(Oid relation, CmdType command, List* columns = NIL);

// The abstraction of trying a key. `vector`: what tells it from other tries (core/statement/comparisons.hpp).
// `constants`: what it is tried with, in the current memory context.
int64 AbstractKey(const TriedKey& key, CmdType command, uint64 vector, privacy_score::BoundConstants* constants);

// The abstraction of reading every column of every protected relation.
int64 AbstractEverything();

// The abstraction of what a plan tells to whoever sees it and does not run it.
int64 AbstractEstimates(const PlannedStmt* plan);

// The abstraction of a plan that was made unwatched: the columns that it marks as read are an upper bound.
int64 AbstractPlan(const PlannedStmt* plan);

}  // namespace privacy_score

/*
 * pieces.hpp - which statements may have pieces: queries that a library plans and runs by itself for a plan of its own,
 * as those do that distribute a statement over servers.
 *
 * Pieces do not count, so what may pass for one must be the library's. Libraries also have functions that plan a text
 * which they are given, and nothing tells such a query from a piece; a function of anybody may call them, unseen when
 * it is inlined. So pieces are believed only of a SELECT that calls none but the server's own functions.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

namespace privacy_score {

// Whether a library may plan or run pieces of a plan here, as far as hooks tell. Loading this one calls the first
// before it sets hooks of its own, and the second when it has.
void NoteOthersPlanners();
void NoteOwnPlanners();
bool LibrariesPlan();

// Of a query as the planner is given it: a walk over all of it.
bool MayHavePieces(::Query* query);

// Whether the query calls a function in SQL, whose relations become the query's own when it is inlined.
bool MayInline(::Query* query);

}  // namespace privacy_score

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

bool MayHavePieces(::Query* query);

// Whether the query calls a function in SQL, whose relations become the query's own when it is inlined.
bool MayInline(::Query* query);

}  // namespace privacy_score

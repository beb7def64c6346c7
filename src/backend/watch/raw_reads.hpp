/*
 * raw_reads.hpp - functions that show relations without naming them: changes decoded from the WAL, blocks, files.
 *
 * Running one counts as reading every column of every protected relation of the database, as an event of its own
 * before the statement's, and is refused where reading is. The server tells each time that it is about to run a
 * function, wherever the call stands: in what the planner has folded in, in an expression of a procedural language, in
 * a function call of the protocol. So no query is searched for them.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// Called before a function runs whose EXECUTE the current user has. May raise.
void FunctionStarts(Oid function);

}  // namespace privacy_score

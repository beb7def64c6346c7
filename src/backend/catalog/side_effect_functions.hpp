/*
 * side_effect_functions.hpp - functions that may show their arguments by other ways than their value.
 *
 * A function can raise a notice, write a table, notify, lock. Those of the server and of libraries that are not
 * VOLATILE do not, but for a list of them; of a function in any other language nobody knows, whatever volatility its
 * author has claimed.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

namespace privacy_score {

bool FunctionTells(Oid function);

// Whether a function came with the server, and neither is VOLATILE nor in that list: calling it does nothing but give
// its value. Of those in SQL the statements are the server's own.
bool FunctionIsPlain(Oid function);

// Whether evaluating this node, its children left out, runs such a function on values that the children give.
bool NodeTells(Node* node);

// The same of all that is below it, but not of subqueries: it may give another value for equal rows.
bool ExpressionTells(Node* node);

// Whether a function in FROM does, or making the columns that are listed after it.
bool ItemTells(const RangeTblFunction* item);

// Whether comparing what a clause sorts, groups or makes distinct runs such a function.
bool ClauseTells(const SortGroupClause* clause, Node* sorted);

}  // namespace privacy_score

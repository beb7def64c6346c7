/*
 * owned_functions.hpp - whose code a query runs.
 *
 * A noisy answer is read with the rights of the relation's owner, and so run the functions that a view calls, whoever
 * asks. Elsewhere in the server they run with the rights of who reads: the owner of such a function, who may replace it
 * any time, could otherwise let his code run as somebody else by asking.
 *
 * Not only what a query says runs: the planner evaluates constant parts of what belongs to a relation.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "executor/spi.h"
}

// Raises 42501 when a prepared query calls a function, or checks a domain, of somebody without the rights of `owner`,
// or reads a relation of which that is so. What functions call in turn is up to their owners. Raises 40001 when a
// relation was rewritten after the active snapshot was taken.
void RequireOwnFunctions(SPIPlanPtr plan, Oid owner);

// Whether reading a relation runs functions of nobody without the rights of `owner`: those in expressions of indexes,
// statistics, partition keys and checks, of itself and of what inherits from it, which it locks.
bool RunsOwnFunctions(Oid relation, Oid owner);

/*
 * owned_functions.hpp - whose code may run.
 *
 * A noisy answer is read with the rights of the relation's owner, and so run the functions that a view calls, whoever
 * asks. Elsewhere in the server they run with the rights of who reads: the owner of such a function, who may replace it
 * any time, could otherwise let his code run as somebody else by asking. So it is with views below a view: the server's
 * own functions that they may call run any statement, with the rights of who reads.
 *
 * Not only what a query says runs: the planner evaluates constant parts of what belongs to a relation, and what is
 * written has triggers. Nor does a function always mean the same: by names that it looks up it may find temporary
 * objects of who asks.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "executor/spi.h"
}

// While this is not InvalidOid, a function of somebody without that role's rights raises 42501 in place of running, be
// it called by the query itself or within another function; so does a statement that reads such a view or writes to
// such a relation, and a function that may be misled by temporary objects. What is found out beforehand, as below,
// makes for an early answer; but what belongs to relations may change until it is used. Domains and types that a
// function names in its body are not looked at.
extern Oid ps_runs_functions_of;

// Begins to look at functions that are about to run; before that ps_runs_functions_of has no effect.
void WatchFunctions();

// Runs `work` with that restriction.
template <typename Work>
void WithFunctionsOf(Oid owner, Work work) {
  WatchFunctions();
  const Oid before = ps_runs_functions_of;
  ps_runs_functions_of = owner;
  PG_TRY()
    ;
    { work(); }
    PG_FINALLY();
    { ps_runs_functions_of = before; }
  PG_END_TRY();
}

// Raises 42501 when a prepared query calls a function, checks a domain or reads a view of somebody without the rights
// of `owner`, or reads a relation of which that is so.
void RequireOwnFunctions(SPIPlanPtr plan, Oid owner);

// Whether it does neither.
bool RunsOwnFunctions(SPIPlanPtr plan, Oid owner);

// Whether it calls any function but the server's own and those of shared libraries, or checks a domain.
bool CallsFunctions(SPIPlanPtr plan);

// Whether reading a relation runs functions of nobody without the rights of `owner`: those in expressions of indexes,
// statistics, partition keys and checks, of itself and of what inherits from it, which it locks; or a view's.
bool RunsOwnFunctions(Oid relation, Oid owner);

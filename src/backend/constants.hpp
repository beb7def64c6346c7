/*
 * constants.hpp - the constants of a statement, from the planner to its executions, as keyed hashes only.
 *
 * When a statement is planned, its constants are hashed and what core finds of comparisons (core/comparisons.hpp) is
 * tied to the plan as words of 32 bits; the plan cache copies them with the plan. When it is executed, the values of
 * its parameters are added. The key lives in shared memory, is made at start and shown to nobody.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/params.h"
#include "nodes/plannodes.h"
}

#include "core/comparisons.hpp"

// The hash of a value that is not NULL: of its text, so that 5, 5::bigint and '5' are the same; an array's is that of
// its bytes. Raises nothing but a cancel: what has no text gets one hash for all.
uint64 HashOfDatum(Oid type, Datum value);

// Hashes of the elements of an array that are not NULL, at most kMostComparedValues, palloc'd; null for another type.
uint64* HashesOfElements(Oid type, Datum value, int* count);

// Words of core/comparisons.hpp; none when the constants are not known.
struct PlanConstants {
  const uint32* words;
  int count;
};

// The constants of an analysed query, allocated in `context`. `statement` is its translation.
PlanConstants ConstantsOfQuery(Query* query, const privacy_score::Statement& statement, MemoryContext context);

// Ties the constants to the plan.
void MarkConstants(PlannedStmt* plan, PlanConstants constants);

// The constants of one execution: those of the plan, and the parameters that they ask for.
struct EventConstants {
  PlanConstants plan;
  const privacy_score::ParameterValue* parameters;
  int parameter_count;
};

// Palloc'd. A plan that was made unwatched is known by its parameters alone. Raises nothing but a cancel: a parameter
// that cannot be read is not given.
EventConstants ConstantsOfExecution(const PlannedStmt* plan, ParamListInfo given);

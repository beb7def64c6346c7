/*
 * empty_results.hpp - statements that are certain to return no row, before they run.
 *
 * Clients ask for the columns of a result by `SELECT ... LIMIT 0` or `WHERE false`. Such an execution shows nothing of
 * the rows and is no event. What would make that uncertain counts as usual: a limit that is known only when the
 * statement runs, a plan for certain parameters, row locks, writing WITH queries, subqueries around a false condition.
 * The plan shows estimates, so EXPLAIN is not excused, and what is evaluated while the statement is planned counts by
 * itself.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
}

namespace privacy_score {

struct PlanMark;

// Whether a query, as the planner receives it, reads under LIMIT 0, written as a constant. The planner writes into it,
// so it is asked before.
bool IsLimitedToNothing(const ::Query* query);

// Whether a plan reads and returns nothing. `limited`: what the former has said of its query.
bool PlanReturnsNothing(const PlannedStmt* plan, bool limited);

// Notes in the mark of such a plan that executing it is no event; its explanation stays one. Nothing is noted where the
// abstraction is not known any more.
void ExcuseExecutions(PlanMark* mark);

// Whether the executions of a plan, marked or not, are no event and no read.
bool IsExcused(const PlannedStmt* plan);

}  // namespace privacy_score

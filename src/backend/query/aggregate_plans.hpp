/*
 * aggregate_plans.hpp - what of a plan is asked for by an aggregate: which column of the one row is the answer, and its
 * constants (core/scoring/differences.hpp).
 *
 * The mark of such a plan has the sums of the literals behind its words. It is found once, when the query is planned;
 * of queries without an aggregate nothing is looked at again when they come again (known_queries.hpp).
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
}

#include "backend/query/plan_mark.hpp"
#include "core/scoring/differences.hpp"
#include "core/statement/comparisons.hpp"

namespace privacy_score {

// Which column of a query is the answer, from 1; 0 for one without aggregates, or without such a column. It follows
// from the query's form, not from its constants.
int AnswerColumn(::Query* query);

// The mark of a query that has one, with its place and the literals: another one than is given. Raises nothing but a
// cancel.
PlanMark* WithAnswer(PlanMark* mark, ::Query* query, int column);

// The constants of one execution of such a plan: its literals and parameters, those of arrays one by one.
ConstantSums ConstantsOfAggregate(const PlanMark* mark, const BoundConstants& constants);

}  // namespace privacy_score

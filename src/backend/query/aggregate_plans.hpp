/*
 * aggregate_plans.hpp - what of a plan is asked for by an aggregate: which column of the one row is the answer, and its
 * constants (core/scoring/differences.hpp).
 *
 * The mark of such a plan has the sums of the literals behind its words. It is found once, when the query is planned;
 * queries without an aggregate pay one test.
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

// Whether a query may aggregate at all.
inline bool MayAggregate(const ::Query* query) {
  // One relation and nothing else is what most queries have.
  return query->commandType == CMD_SELECT &&
         (query->hasAggs || query->hasSubLinks || query->cteList != NIL || list_length(query->rtable) != 1 ||
          linitial_node(RangeTblEntry, query->rtable)->rtekind != RTE_RELATION);
}

// The mark of a query that may, with the place of the answer and the literals where it has one: another one than is
// given. Raises nothing but a cancel.
PlanMark* WithAnswer(PlanMark* mark, ::Query* query);

// The constants of one execution of such a plan: its literals and parameters, those of arrays one by one.
ConstantSums ConstantsOfAggregate(const PlanMark* mark, const BoundConstants& constants);

}  // namespace privacy_score

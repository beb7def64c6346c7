/*
 * answers.hpp - what aggregates answer, caught on its way to the client.
 *
 * The executor hands its rows to a DestReceiver; between the two stands ours while a plan runs that is marked as an
 * aggregate's (aggregate_plans.hpp). It hands on each row as it is, and looks at one number of the first. Where there
 * was one row, the number is compared with those of the session (core/scoring/differences.hpp). It stays in the memory
 * of the session, and is never written.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "executor/execdesc.h"
#include "tcop/dest.h"
}

#include "backend/query/plan_mark.hpp"
#include "core/statement/comparisons.hpp"

namespace privacy_score {

// Lives as long as the executor runs.
struct AnswerCatcher {
  DestReceiver receiver;  // first: the server knows it by this
  DestReceiver* next;
  int column;
  int64 rows;
  bool is_number;
  double answer;
};

// The mark of a plan whose rows somebody gets, when it is an aggregate's; else null.
inline const PlanMark* MarkOfAggregate(const QueryDesc* query) {
  const PlanMark* mark = MarkOfPlan(query->plannedstmt);
  return mark == nullptr || mark->answer_column == 0 || query->dest == nullptr || query->dest->mydest == DestNone
             ? nullptr
             : mark;
}

// Puts the catcher before the receiver of the query's rows; takes it away. Raise nothing.
void BeginCatching(AnswerCatcher* catcher, const PlanMark* mark, QueryDesc* query);
void EndCatching(const AnswerCatcher& catcher, QueryDesc* query);

// Whether it has seen one row with a number.
inline bool HasAnswer(const AnswerCatcher& catcher) { return catcher.rows == 1 && catcher.is_number; }

// Compares that answer, of an execution with these constants, with those of the session in which it was counted.
void RecordAnswer(const PlanMark* mark, double answer, const BoundConstants& constants);

}  // namespace privacy_score

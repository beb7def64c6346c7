/*
 * noisy_answer_reads.hpp - which statements read for a noisy answer.
 *
 * What is read for a noisy answer is no read by the caller: it is not in the caller's history, and a label of that role
 * does not forbid it. That holds where noise and budget protect, which is where they were given by whom the data
 * belongs to, and not by the caller to the caller: who may read a table could else make a view of it with a budget
 * without bound for that, and read all of it unseen.
 *
 * It is kept in a setting, because parallel workers take over their leader's settings.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "executor/spi.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
}

#include "backend/server/settings.hpp"

namespace privacy_score {

// Rows are read from here on for a budget that `owner` has given, to the end of the caller's GUC nest level.
void BeginAnswering(Oid owner);

// The OIDs of the relations that a query, or a prepared one, names or, through views, reads.
List* RelationsOf(const ::Query* query);
List* RelationsOf(SPIPlanPtr plan);

// Whether a statement reads for a noisy answer: rows are read for one, and the owner of the budget, who is not the
// session's role, has the rights of the owners of all protected relations that the statement names.
bool QueryAnswers(const ::Query* query);
bool RelationsAnswer(const List* relations);
inline bool PlanAnswers(const PlannedStmt* plan) {
  return ps_settings.answering != 0 && RelationsAnswer(plan->relationOids);
}

}  // namespace privacy_score

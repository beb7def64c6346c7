/*
 * worker_day_scores.hpp - the score of a principal's day that goes on, by what is recorded of it.
 *
 * Who has a daily limit is scored anew with each cycle. What has been scored is kept in memory (core's day_scorer.hpp),
 * so a cycle reads what sessions have written since the one before, however long the day is; all of it after another
 * model, and where history has become another one, as by an import.
 */
#pragma once

#include "backend/server/core_call.hpp"
#include "backend/state/shared_state.hpp"
#include "core/scoring/day_scorer.hpp"

namespace privacy_score {

// The score of the session's principal and day with the session's settings, in the current memory context; null when
// core has failed, which is counted. Within the worker, outside of transactions.
CoreHolder<DayScore>* ScoreRecordedDay(DatabaseSlot* slot, const LiveSession* session);

// Forgets all that is kept, with the model and the baselines that it rests on: another model takes their place.
void ForgetDayScores();

}  // namespace privacy_score

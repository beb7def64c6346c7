/*
 * kept_scores.hpp - scores of days that are over, which are computed once and kept (core/scoring/kept_days.hpp).
 *
 * Only the worker keeps (backend/worker/worker_keep.cpp), so that nobody who reads waits for somebody else. What is
 * kept holds while `scored_under` is what it was made under, and while the history of the day is the same. Who changes
 * the history of days that may be over locks what is kept first (LockKept), until the transaction ends, and says which
 * days change (NoteChangedDay): the worker keeps nothing meanwhile. A day that is scored anew takes the rates that it
 * was scored with before, and those of now only for what they lack.
 */
#pragma once

#include <string>
#include <vector>

#include "backend/rates/model_wire.hpp"
#include "backend/server/core_call.hpp"
#include "core/scoring/kept_days.hpp"

namespace privacy_score {

// Kept rates as the query of the section of rates takes them; `id` is a parameter. Those just computed come before.
#define SQL_KEPT_RATES(id)                                                                                        \
  "SELECT u.relation_name, u.attributes, u.rate, u.rows, u.entropy, NULL, 0 FROM privacy_score.kept_rates k, "    \
  "ROWS FROM (pg_catalog.unnest(k.relation_names), pg_catalog.unnest(k.attributes), pg_catalog.unnest(k.rates), " \
  "pg_catalog.unnest(k.rows), pg_catalog.unnest(k.subject_entropies)) u(relation_name, attributes, rate, rows, "  \
  "entropy) WHERE k.id = " id "::pg_catalog.int8"

// What scores rest on beside history and rates, as hashes, palloc'd. `declared`: of the declarations of subjects alone,
// without which no rate says anything. Inside an internal scope.
struct ScoredUnder {
  const char* all;
  const char* declared;
};
ScoredUnder ScoresUnder(const ScoreSettings& settings);

// Appends the section of a role's kept days in a range that hold under these. Inside an internal scope.
void AppendKeptDays(StringInfo wire, const ScoredUnder& under, const char* role, const char* from_day,
                    const char* to_day);

// Days that are scored with the same kept rates.
struct DayGroup {
  DayGroup* next;
  const char* days;        // a literal of date[]
  const char* kept_rates;  // null: none
  bool kept;               // scores of these days are kept that hold, so that these rates are all that they rest on
};
// The days of a role in a range that have history, but for those of `known` (a literal of date[]), by the kept rates
// that they were scored with before, and by whether what is kept of them holds. Inside an internal scope.
DayGroup* DayGroups(const ScoredUnder& under, const char* role, const char* from_day, const char* to_day,
                    const char* known);

// Inside an internal scope, by who changes the history of days that may be over; see above.
void LockKept();
void NoteChangedDay(const char* role, const char* day);
// For the worker, without waiting: whether nobody changes such history. Holds until the transaction ends.
bool TryLockKept();

}  // namespace privacy_score

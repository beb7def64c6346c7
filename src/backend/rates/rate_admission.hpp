/*
 * rate_admission.hpp - which of the stored rates the model has, where more are stored than max_rates.
 *
 * The worker then counts in periods. Each begins with the rates of single columns, which bound all others. Rates that
 * sessions ask for get room round by round as they ask, and are marked with the period. When some find
 * none, and the period is some seconds old, the next one begins, and sessions ask again for what they still need.
 * Nothing is put out before, so that who asks for much does not drive out what others need without end.
 *
 * Where there is room for all there are no periods. On a standby, which cannot mark a rate, there are none either: the
 * worker keeps what it has computed there (worker_standby.cpp).
 */
#pragma once

#include <vector>

#include "backend/rates/stored_rates.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/shared_state.hpp"

namespace privacy_score {

// Begins a period, or ends the counting, when that is due. In the worker, inside an internal scope.
void FollowPeriods(DatabaseSlot* slot);

// Whether there are periods, rates wait for room, and the period is old enough for the next one.
bool PeriodIsOver(const DatabaseSlot* slot);

// Gives room to stored rates that were asked for, named by two text[] literals; returns how many found none. Inside an
// internal scope.
int64 GiveRoom(TimestampTz period, const char* relations, const char* attributes);

// Appends the stored rates among those that core misses, but for those that are out of date. Inside an internal scope.
void AppendStored(ComputedRates* known, const std::vector<privacy_score::MissingRate>* missing);

// The rates of a model, as a condition on rate_state or rate: `period` is a parameter, 0 where there are none.
#define SQL_AT_HAND(period_of_rate, attributes, period) \
  "(" period " = '0' OR pg_catalog.cardinality(" attributes ") = 1 OR " period_of_rate " = " SQL_MOMENT(period) ")"

}  // namespace privacy_score

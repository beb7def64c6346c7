/*
 * worker_months.cpp - the tables of this month and the next, made ahead.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "utils/timestamp.h"
}

#include "backend/state/history_months.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

void KeepMonths() {
  static int64 made_for = 0;
  static TimestampTz tried_at = 0;
  const TimestampTz now = GetCurrentTimestamp();
  const int64 month = MonthOfDay(DayOf(now));
  if (month == made_for || (now >= tried_at && now - tried_at < USECS_PER_MINUTE)) return;
  tried_at = now;
  WorkTransaction work;
  BeginWork(&work);
  // A restore makes the tables that it brings before it has any row: until something is protected they are left to it.
  const bool all = InternalValue("SELECT true FROM privacy_score.protected_relation LIMIT 1") != nullptr &&
                   MakeMonths(month, month + 1);
  EndWork(&work);
  if (all) made_for = month;
}

}  // namespace privacy_score

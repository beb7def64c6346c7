/*
 * worker_months.cpp - the tables of this month and the next, made ahead; those that a restore has brought, settled.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "utils/timestamp.h"
}

#include "backend/server/settings.hpp"
#include "backend/state/history_months.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

void KeepMonths() {
  static TimestampTz looked_at = 0;
  static int left = 0;  // in a row that left something, which is logged: each waits longer
  constexpr int kMostLonger = 6;
  const TimestampTz now = GetCurrentTimestamp();
  const TimestampTz pause = int64{ps_settings.month_check_interval} * 1000 << Min(left, kMostLonger);
  if (now >= looked_at && now - looked_at < pause) return;
  looked_at = now;
  const int64 month = MonthOfDay(DayOf(now));
  bool all = true;
  WorkTransaction work;
  BeginWork(&work);
  // A restore makes the tables that it brings before it has any row: until something is protected they are left to it.
  if (InternalValue("SELECT true FROM privacy_score.protected_relation LIMIT 1") != nullptr) {
    all = MakeMonths(month, month + 1);
    all &= SettleMonths();
  }
  EndWork(&work);
  left = all ? 0 : left + 1;
}

}  // namespace privacy_score

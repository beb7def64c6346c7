/*
 * worker_retention.cpp - history that is older than history_retention goes: months as a whole, days, abstractions.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "postmaster/interrupt.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

#include "backend/server/settings.hpp"
#include "backend/state/history_months.hpp"
#include "backend/state/import_lock.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/live_session.hpp"
#include "backend/worker/worker_principals.hpp"

namespace privacy_score {

namespace {

// Removes the abstractions to which no session and no version of a baseline refers any more, and that none can be about
// to: a session hands in those of its statements once, within its day, and writing them moves last_seen on. Who makes a
// baseline keeps abstractions by a lock (KeepAbstractions); an import locks the table. Nobody is waited for: the next
// hour will do. False when somebody held the lock.
bool RemoveAbstractions(const char* days) {
  const Oid table = get_relname_relid("abstraction", get_namespace_oid("privacy_score", false));
  if (!ConditionalLockRelationOid(table, ExclusiveLock)) return false;
  RunInternal(
      "DELETE FROM privacy_score.abstraction a "
      "WHERE a.last_seen < (privacy_score.today() - $1::pg_catalog.int4 - 1)::pg_catalog.timestamptz "
      "AND a.id NOT IN (SELECT pg_catalog.unnest(p.ids) FROM privacy_score.session_part p "
      "UNION SELECT pg_catalog.unnest(s.ids) FROM privacy_score.baseline_session s "
      "UNION SELECT pg_catalog.unnest(n.ngram) FROM privacy_score.baseline_ngram n "
      "UNION SELECT pg_catalog.unnest(g.ngram) FROM privacy_score.acceptance_ngram g)",
      1, &days);
  return true;
}

// Months that are over go one by one, each in a transaction of its own: dropping one keeps everybody from the history
// until that ends. Returns how many; false in `all` when some are read by somebody, or cannot be dropped. After a few
// of these it goes on with those behind them the next time.
int DropMonths(DateADT day, bool* all) {
  static int64 done_with = 0;
  constexpr int kMostFailures = 3;
  int dropped = 0;
  int failures = 0;
  *all = done_with == 0;
  for (int64 month = done_with; failures < kMostFailures && !ShutdownRequestPending;) {
    WorkTransaction work;
    BeginWork(&work);
    done_with = month = NextMonthBefore(day, month);
    const bool gone = month != 0 && DropMonth(month);
    EndWork(&work);
    if (month == 0) break;
    dropped += gone ? 1 : 0;
    failures += gone ? 0 : 1;
  }
  *all = *all && failures == 0 && done_with == 0;
  return dropped;
}

// Removes what is older than so many days: of the month that goes on the days that are over, what has no month, and
// with `months` the rows of months that could not be dropped. Returns the number of sessions' parts.
uint64 RemoveRows(const char* days, bool months) {
  RemoveDays(days);
  RemoveKept(days);
  const char* args[] = {days, months ? "t" : "f"};
  return RunInternal(
      "WITH old AS (DELETE FROM privacy_score.session WHERE day < privacy_score.today() - $1::pg_catalog.int4 "
      "AND ($2::pg_catalog.bool OR " SQL_ID_OF_DAY("id", "(privacy_score.today() - $1::pg_catalog.int4)") ") "
      "RETURNING id) DELETE FROM privacy_score.session_part p USING old WHERE p.session_id = old.id AND "
      "($2::pg_catalog.bool OR " SQL_ID_OF_DAY("p.session_id", "(privacy_score.today() - $1::pg_catalog.int4)") ")",
      lengthof(args), args);
}

// A month that cannot be dropped is tried again, each time after longer; from the third time on its rows are removed.
constexpr int kMostDrops = 3;
constexpr int kMostLongerPauses = 8;
TimestampTz PauseAfterDrop(int failed) {
  return Min((int64{ps_settings.month_check_interval} * 1000 / 6) << Min(failed, kMostLongerPauses), USECS_PER_HOUR);
}

}  // namespace

void ApplyRetention() {
  static TimestampTz applied_at = 0;
  static TimestampTz pause = 0;
  static bool abstractions_left = true;  // since the start, or since sessions were removed
  static int applied = -1;
  static int failed = 0;  // times in a row that a month could not be dropped
  const TimestampTz now = GetCurrentTimestamp();
  if (now >= applied_at && now - applied_at < pause && applied == ps_settings.history_retention) return;
  applied_at = now;
  applied = ps_settings.history_retention;
  // After an error too.
  pause = int64{ps_settings.month_check_interval} * 1000;
  const char* days = psprintf("%d", ps_settings.history_retention);
  WorkTransaction work;
  BeginWork(&work);
  (void)InternalValue("SELECT privacy_score.tidy_copies()");
  (void)InternalValue("SELECT privacy_score.tidy_domains()");
  TidyDays();
  TidyPrincipals();
  TidyKeptRates();
  // An import can take long: it is asked again whether it is over.
  const bool may_remove = ps_settings.history_retention > 0 && TryLockImports();
  if (may_remove && RemoveRows(days, failed >= kMostDrops) > 0) abstractions_left = true;
  EndWork(&work);
  bool all = true;
  if (may_remove && DropMonths(DayOf(now) - ps_settings.history_retention, &all) > 0) abstractions_left = true;
  failed = all ? 0 : failed + 1;
  if (!all)
    pause = PauseAfterDrop(failed - 1);
  else if (may_remove || ps_settings.history_retention == 0)
    pause = USECS_PER_HOUR;
  if (!may_remove || !abstractions_left) return;
  BeginWork(&work);
  if (TryLockImports()) abstractions_left = !RemoveAbstractions(days);
  EndWork(&work);
}

}  // namespace privacy_score

/*
 * worker_retention.cpp - history that is older than history_retention goes: months as a whole, days, abstractions.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "catalog/namespace.h"
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

}  // namespace

void ApplyRetention() {
  static TimestampTz applied_at = 0;
  static bool abstractions_left = true;  // since the start, or since sessions were removed
  static int applied = -1;
  const TimestampTz now = GetCurrentTimestamp();
  if (now - applied_at < USECS_PER_HOUR && applied == ps_settings.history_retention) return;
  applied_at = now;
  applied = ps_settings.history_retention;
  WorkTransaction work;
  BeginWork(&work);
  (void)InternalValue("SELECT privacy_score.tidy_copies()");
  (void)InternalValue("SELECT privacy_score.tidy_domains()");
  const char* args[] = {psprintf("%d", ps_settings.history_retention)};
  TidyDays();
  TidyPrincipals();
  TidyKeptRates();
  // An import can take long: it is asked again in a minute whether it is over.
  const bool may_remove = ps_settings.history_retention > 0 && TryLockImports();
  if (ps_settings.history_retention > 0 && !may_remove) applied_at = now - USECS_PER_HOUR + USECS_PER_MINUTE;
  if (may_remove) {
    bool all_dropped;
    const int dropped = DropMonthsBefore(DayOf(now) - ps_settings.history_retention, &all_dropped);
    if (!all_dropped) applied_at = now - USECS_PER_HOUR + 10 * USECS_PER_SEC;
    RemoveDays(args[0]);
    RemoveKept(args[0]);
    // Of the month that goes on the days that are over, and what has no month.
    const uint64 removed = RunInternal(
        "WITH old AS (DELETE FROM privacy_score.session WHERE day < privacy_score.today() - $1::pg_catalog.int4 "
        "AND " SQL_ID_OF_DAY("id", "(privacy_score.today() - $1::pg_catalog.int4)") " RETURNING id) "
        "DELETE FROM privacy_score.session_part p USING old WHERE p.session_id = old.id "
        "AND " SQL_ID_OF_DAY("p.session_id", "(privacy_score.today() - $1::pg_catalog.int4)"),
        1, args);
    abstractions_left = (abstractions_left || dropped > 0 || removed > 0) && !RemoveAbstractions(args[0]);
  }
  EndWork(&work);
}

}  // namespace privacy_score

/*
 * worker_old_days.cpp - what of days and subjects (worker_days.cpp) is not kept any longer, and the key of the hashes
 * of subjects, with which all of them go.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "utils/timestamp.h"
}

#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "core/scoring/day_reach.hpp"

namespace privacy_score {

void RemoveDays(const char* retention) {
  RunInternal("DELETE FROM privacy_score.principal_day WHERE day < privacy_score.today() - $1::pg_catalog.int4", 1,
              &retention);
  RunInternal("DELETE FROM privacy_score.principal_subjects WHERE day < privacy_score.today() - $1::pg_catalog.int4", 1,
              &retention);
}

void TidyDays() {
  const char* most = TextOfInteger(static_cast<int64>(privacy_score::kMostStoredSubjects));
  RunInternal(
      "DELETE FROM privacy_score.principal_subjects p USING (SELECT role, end_user, day, pg_catalog.sum("
      "pg_catalog.sum(pg_catalog.octet_length(subjects) / 10)) OVER (PARTITION BY role, end_user ORDER BY day DESC) AS "
      "kept FROM privacy_score.principal_subjects WHERE part >= 0 GROUP BY role, end_user, day) d WHERE d.role = "
      "p.role "
      "AND d.end_user = p.end_user AND d.day = p.day AND d.day < privacy_score.today() "
      "AND d.kept > $1::pg_catalog.int8",
      1, &most);
  // Sketches serve a day while it goes on; sessions that began on it may tell of it for a while.
  RunInternal("DELETE FROM privacy_score.principal_subjects WHERE part < 0 AND day < privacy_score.today() - 1");
}

bool KeepSubjectKey(DatabaseSlot* slot) {
  static TimestampTz looked_at = 0;
  static int applied = -1;
  const TimestampTz now = GetCurrentTimestamp();
  if (now - looked_at < USECS_PER_HOUR && applied == ps_settings.subject_key_period) return false;
  WorkTransaction work;
  BeginWork(&work);
  const char* args[] = {psprintf("%d", ps_settings.subject_key_period)};
  bool changed =
      RunInternal(
          "DELETE FROM privacy_score.subject_key WHERE $1::pg_catalog.int4 = 0 OR made_at < pg_catalog.now() "
          "- pg_catalog.make_interval(days => $1::pg_catalog.int4)",
          1, args) > 0;
  if (ps_settings.subject_key_period > 0)
    changed |= RunInternal("INSERT INTO privacy_score.subject_key DEFAULT VALUES ON CONFLICT DO NOTHING") > 0;
  // Hashes under another key say nothing any more.
  if (changed) RunInternal("DELETE FROM privacy_score.principal_subjects");
  EndWork(&work);
  looked_at = now;
  applied = ps_settings.subject_key_period;
  if (changed) {
    ForgetDays();
    DropSavedDays(slot);
  }
  return changed;
}

}  // namespace privacy_score

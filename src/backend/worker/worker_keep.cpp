/*
 * worker_keep.cpp - days that are over are scored for good (backend/rates/kept_scores.hpp).
 *
 * A pass goes from role to role and scores what is not kept, or not under what is in force, some hundred thousand
 * statements at a time, each time in a transaction of its own, so that history does not wait. The rates of these days
 * are stored first and scored with alone, so that whoever scores the same days with them comes to the same figures.
 * What misses a rate is not kept: the rate is asked for, and the role's turn comes again with the next pass.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "access/xlog.h"
#include "postmaster/interrupt.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"
}

#include "backend/rates/kept_scores.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/live_session.hpp"
#include "core/scoring/history.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

namespace {

constexpr TimestampTz kLook = 60 * USECS_PER_SEC;       // from one look whether a day is over to the next
constexpr TimestampTz kPause = 10 * kLook;              // between passes, unless something has changed
constexpr TimestampTz kFirstPause = USECS_PER_SEC / 2;  // after one that missed rates
constexpr const char* kMostStatements = "200000";       // of one transaction, of more than one day

// The pass that goes on.
struct Pass {
  bool goes_on = false;
  bool is_locked_out = false;  // by who changes what is kept, or vacuums it; it goes on with the next cycle
  bool is_role_done = true;
  bool misses_rates = false;
  bool has_left = false;  // something, for no reason that a change would end
  NameData role = {};     // the last one that is done with
  TimestampTz begun_at = 0;
  TimestampTz looked_at = 0;  // whether a day is over
  int32 closed = 0;           // the last day that was over
  uint64 version = 0;         // of the model
  ScoreSettings settings;
  uint64 flush = 0;    // the last request to flush that it has seen
  uint64 changed = 0;  // kept_changed
};
Pass pass;
// The last day of which anything may be kept; NOBEGIN: nobody has asked yet (MayBeKept).
int32 kept_through = DATEVAL_NOBEGIN;
// Passes in a row that rates were missing of: each waits longer, and who has failed for good is not waited for.
int passes_missed = 0;
constexpr int kMostMissed = 6;

bool WaitsForRates() { return pass.misses_rates && passes_missed < kMostMissed; }

// The last day that is over: nothing that was done on it can still be cut into a session or waits to be written.
int32 LastClosedDay(DatabaseSlot* slot) {
  int32 last = DayOf(GetCurrentTimestamp() - int64{ps_settings.idle_gap} * USECS_PER_SEC) - 1;
  for (LiveSession* session = FirstSession(slot); session != nullptr; session = session->next) {
    LiveSession now;
    CopySession(session, &now);
    const bool whole =
        now.row_id != 0 && now.flushed_queries == now.summary.queries && now.refused == now.flushed_refused;
    if (!whole) last = Min(last, now.day - 1);
  }
  return last;
}

// The next role of which something is not kept; false when there is none.
bool NextRole(const ScoredUnder& under, const char* closed) {
  const char* args[] = {under.all, closed, NameStr(pass.role)};
  const char* role = InternalValue(
      "SELECT pg_catalog.min(r.role::text COLLATE \"C\") FROM (SELECT x.role FROM privacy_score.recorded_role x UNION "
      "SELECT b.role FROM privacy_score.baseline b WHERE b.active) r LEFT JOIN privacy_score.kept_role k ON k.role = "
      "r.role AND k.made_under = $1 WHERE r.role::text COLLATE \"C\" > $3 AND (k.role IS NULL OR EXISTS (SELECT FROM "
      "privacy_score.session s WHERE s.role = r.role AND s.day > k.through AND s.day <= " SQL_DAY("$2") "))",
      lengthof(args), args);
  if (role == nullptr) return false;
  namestrcpy(&pass.role, role);
  return true;
}

// Writes what stat_roles shows of the role's days that are over.
void KeepRole(const ScoredUnder& under, const char* closed) {
  const char* args[] = {NameStr(pass.role), under.all, closed};
  RunInternal("DELETE FROM privacy_score.kept_role WHERE role = $1::pg_catalog.name", 1, args);
  RunInternal(
      "INSERT INTO privacy_score.kept_role (role, made_under, through, baseline_ngrams, cumulative, blocked) "
      "SELECT $1::pg_catalog.name, $2, " SQL_DAY("$3") ", COALESCE((SELECT v.ngrams FROM privacy_score.baselines v "
      "WHERE v.id = b.id), 0), (SELECT pg_catalog.sum(c.cumulative ORDER BY c.end_user) FROM (SELECT s.end_user, "
      "pg_catalog.max(s.cumulative) AS cumulative FROM privacy_score.score($1::pg_catalog.name, COALESCE(b.to_day + 1, "
      "'-infinity'), GREATEST(COALESCE(b.to_day + 1, '-infinity'), " SQL_DAY("$3") ")) s GROUP BY s.end_user) c), "
      "COALESCE((SELECT pg_catalog.sum(x.refused) FROM privacy_score.session x WHERE x.role = $1::pg_catalog.name AND "
      "x.day <= " SQL_DAY("$3") "), 0) FROM (SELECT) one LEFT JOIN privacy_score.baseline b ON b.role = "
      "$1::pg_catalog.name AND b.end_user IS NULL AND b.active",
      lengthof(args), args);
}

// Of days to be kept those that one transaction scores, and the kept rates that they had; false when all are kept.
bool NextDays(const ScoredUnder& under, const char* closed, const char** days, const char** before) {
  const char* args[] = {NameStr(pass.role), under.all, closed, under.declared, kMostStatements};
  StringInfoData found;
  initStringInfo(&found);
  *days = InternalValue(
      "WITH d AS MATERIALIZED (SELECT s.day, pg_catalog.sum(s.queries) AS queries, (SELECT r.id FROM "
      "privacy_score.kept_day k JOIN privacy_score.kept_rates r ON r.id = k.rates WHERE k.role = $1::pg_catalog.name "
      "AND k.day = s.day AND r.declared = $4 ORDER BY r.id DESC LIMIT 1) AS rates FROM privacy_score.session s WHERE "
      "s.role = $1::pg_catalog.name AND s.day <= " SQL_DAY("$3") " AND EXISTS (SELECT FROM privacy_score.session_part p "
      "WHERE p.session_id = s.id) AND NOT EXISTS (SELECT FROM privacy_score.kept_day "
      "k WHERE k.role = $1::pg_catalog.name AND k.day = s.day AND k.made_under = $2) GROUP BY s.day), "
      "f AS (SELECT rates FROM d ORDER BY day LIMIT 1), "
      "g AS (SELECT d.day, d.rates, pg_catalog.sum(d.queries) OVER (ORDER BY d.day) - d.queries AS earlier FROM d, f "
      "WHERE d.rates IS NOT DISTINCT FROM f.rates) "
      "SELECT COALESCE(pg_catalog.min(g.rates)::text, '') || ' ' || pg_catalog.array_agg(pg_catalog.to_char(g.day, "
      "'YYYY-MM-DD') ORDER BY g.day)::text FROM g WHERE g.earlier < $5::pg_catalog.int8 HAVING pg_catalog.count(*) > 0",
      lengthof(args), args);
  if (*days == nullptr) return false;
  char* blank = strchr(const_cast<char*>(*days), ' ');
  *blank = '\0';
  *before = **days == '\0' ? nullptr : *days;
  *days = blank + 1;
  return true;
}

// Stores the rates in force, of which those of `before` stay; returns their id.
const char* KeepRates(const ScoredUnder& under, const char* before) {
  const char* args[] = {under.declared, before};
  return InternalValue(
      "WITH u AS (SELECT DISTINCT ON (x.relation_name, x.attributes) x.* FROM (SELECT r.relation_name, "
      "pg_catalog.array_to_string(r.attributes, pg_catalog.chr(1)) AS attributes, r.rate, r.rows, r.subject_entropy, "
      "NULL::pg_catalog.int8 AS modified, 1 AS source FROM privacy_score.rate_state r WHERE NOT r.stale UNION ALL "
      SQL_KEPT_RATES("$2") ") x ORDER BY x.relation_name, x.attributes, x.source), "
      "a AS (SELECT COALESCE(pg_catalog.array_agg(u.relation_name ORDER BY u.relation_name, u.attributes), '{}') AS n, "
      "COALESCE(pg_catalog.array_agg(u.attributes ORDER BY u.relation_name, u.attributes), '{}') AS s, "
      "COALESCE(pg_catalog.array_agg(u.rate ORDER BY u.relation_name, u.attributes), '{}') AS r, "
      "COALESCE(pg_catalog.array_agg(u.rows ORDER BY u.relation_name, u.attributes), '{}') AS c, "
      "COALESCE(pg_catalog.array_agg(u.subject_entropy ORDER BY u.relation_name, u.attributes), '{}') AS e FROM u), "
      "w AS (SELECT a.*, pg_catalog.md5(ROW($1, a.n, a.s, a.r, a.c, a.e)::text) AS digest FROM a), "
      "i AS (INSERT INTO privacy_score.kept_rates (digest, declared, relation_names, attributes, rates, rows, "
      "subject_entropies) SELECT w.digest, $1, w.n, w.s, w.r, w.c, w.e FROM w ON CONFLICT (digest) DO NOTHING "
      "RETURNING id) "
      "SELECT i.id FROM i UNION ALL SELECT k.id FROM privacy_score.kept_rates k JOIN w ON w.digest = k.digest LIMIT 1",
      lengthof(args), args);
}

// The rows to be kept as text, on the C++ heap.
struct Kept {
  EachDayResult scored;
  ResultTable rows;
};

void KeepScoredDays(const ScoredUnder& under, const char* days, const char* rates, const CoreHolder<Kept>* kept) {
  const char* of_days[] = {NameStr(pass.role), days};
  RunInternal(
      "DELETE FROM privacy_score.kept_day WHERE role = $1::pg_catalog.name AND day = ANY ($2::pg_catalog.date[])", 2,
      of_days);
  const auto& rows = kept->object->rows.rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    constexpr int kFixed = 2;
    const char* args[kFixed + KeptDaySection::kColumns] = {under.all, rates};
    for (std::size_t column = 0; column < KeptDaySection::kColumns; ++column)
      args[kFixed + column] = rows[i][column] ? rows[i][column]->c_str() : nullptr;
    RunInternal(
        "INSERT INTO privacy_score.kept_day (made_under, rates, role, end_user, day, queries, ngrams, mismatched, "
        "score, max_score, tight_max, normalised, statement_score, rows, enforced, peer_score, ids, counts, scores) "
        "VALUES ($1, $2::pg_catalog.int8, $3::pg_catalog.name, COALESCE($4, ''), $5::pg_catalog.date, "
        "$6::pg_catalog.int8, $7::pg_catalog.int8, $8::pg_catalog.int8, $9::pg_catalog.float8, "
        "$10::pg_catalog.float8, $11::pg_catalog.float8, $12::pg_catalog.float8, $13::pg_catalog.float8, "
        "$14::pg_catalog.int8, $15::pg_catalog.float8, $16::pg_catalog.float8, $17::pg_catalog.int8[], "
        "$18::pg_catalog.int8[], $19::pg_catalog.float8[])",
        lengthof(args), args);
  }
}

enum class Keeping { kDone, kMissesRates, kNothing };

// Scores some days of the role and keeps them.
Keeping KeepDays(DatabaseSlot* slot, const ScoredUnder& under, const char* days, const char* before) {
  const char* rates = KeepRates(under, before);
  StringInfoData wire;
  initStringInfo(&wire);
  AppendHistory(&wire, nullptr, ScoreSettingsInForce(),
                {NameStr(pass.role), "-infinity", "infinity", days, rates, true});
  // What has changed since may be read already, and be changed back.
  if (strcmp(ScoresUnder(ScoreSettingsInForce()).all, under.all) != 0) return Keeping::kNothing;
  CoreHolder<Kept>* kept = NewCoreHolder<Kept>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    kept->Reset(new Kept());
    kept->object->scored = ScoreEachDay(WireBytes(&wire));
    kept->object->rows = KeptRows(kept->object->scored.days);
  });
  pfree(wire.data);
  auto done = Keeping::kDone;
  if (!kept->object->scored.missing.empty()) {
    AddMissing(slot, &kept->object->scored.missing);
    done = Keeping::kMissesRates;
  } else if (kept->object->rows.rows.empty()) {
    done = Keeping::kNothing;
  } else {
    KeepScoredDays(under, days, rates, kept);
  }
  kept->Reset(nullptr);
  return done;
}

// One transaction of the pass. After an error the next role has its turn, or where none was begun the next pass.
void KeepSome(DatabaseSlot* slot) {
  const int32 last_closed = LastClosedDay(slot);
  const char* closed = TextOfInteger(last_closed);
  bool is_role_done = pass.is_role_done;
  pass.goes_on = !is_role_done;
  pass.is_role_done = true;
  WorkTransaction work;
  BeginWork(&work);
  pass.is_locked_out = !TryLockKept();
  const ScoredUnder under = pass.is_locked_out ? ScoredUnder() : ScoresUnder(ScoreSettingsInForce());
  pass.goes_on = !pass.is_locked_out && (!is_role_done || NextRole(under, closed));
  if (pass.goes_on) {
    const char *days, *before;
    is_role_done = !NextDays(under, closed, &days, &before);
    if (is_role_done) {
      KeepRole(under, closed);
    } else {
      // A role that gets nowhere has its turn with the next pass.
      const Keeping keeping = KeepDays(slot, under, days, before);
      is_role_done = keeping != Keeping::kDone;
      pass.misses_rates = pass.misses_rates || keeping == Keeping::kMissesRates;
      pass.has_left = pass.has_left || keeping != Keeping::kDone;
    }
  }
  EndWork(&work);
  pass.is_role_done = is_role_done;
  if (kept_through != DATEVAL_NOBEGIN) kept_through = Max(kept_through, last_closed);
}

// Whether another pass is to begin though nobody has said so: something was left, a day is over, or it was long ago.
bool IsPassDue(DatabaseSlot* slot, TimestampTz now) {
  const TimestampTz passed = now - pass.begun_at;
  if (passed < 0) return true;
  if (WaitsForRates()) return passed >= kFirstPause << passes_missed;
  if (passed < kLook || (now >= pass.looked_at && now - pass.looked_at < kLook)) return false;
  pass.looked_at = now;
  return pass.has_left || passed >= kPause || LastClosedDay(slot) != pass.closed;
}

}  // namespace

bool KeepingGoesOn() { return pass.goes_on; }

bool KeepingIsDue() { return pass.goes_on || pass.is_locked_out || WaitsForRates(); }

void KeepScores(DatabaseSlot* slot) {
  if (RecoveryInProgress()) return;
  constexpr TimestampTz kMost = USECS_PER_SEC / 5;
  const TimestampTz now = GetCurrentTimestamp();
  const uint64 version = pg_atomic_read_u64(&slot->model_version);
  const uint64 flush = pg_atomic_read_u64(&slot->flush_wanted);
  const uint64 kept_changed = pg_atomic_read_u64(&slot->kept_changed);
  if (!pass.goes_on) {
    const ScoreSettings settings = ScoreSettingsInForce();
    const bool changed =
        !(settings == pass.settings) || version != pass.version || flush != pass.flush || kept_changed != pass.changed;
    if (changed || !pass.is_locked_out) {
      if (!changed && !IsPassDue(slot, now)) return;
      passes_missed = pass.misses_rates && !changed ? passes_missed + 1 : 0;
      pass = Pass();
      pass.begun_at = now;
      pass.closed = LastClosedDay(slot);
      pass.version = version;
      pass.settings = settings;
      pass.flush = flush;
      pass.changed = kept_changed;
    }
    pass.goes_on = true;
  }
  while (pass.goes_on && !ShutdownRequestPending && GetCurrentTimestamp() - now < kMost) KeepSome(slot);
}

void KeepAgain() { pass.has_left = true; }

bool MayBeKept(int32 day) {
  if (kept_through == DATEVAL_NOBEGIN) {
    const char* kept = InternalValue(
        "SELECT GREATEST((SELECT pg_catalog.max(d.day) FROM privacy_score.kept_day d), (SELECT "
        "pg_catalog.max(r.through) FROM privacy_score.kept_role r)) - pg_catalog.to_date('2000-01-01', 'YYYY-MM-DD')");
    kept_through = kept == nullptr ? DATEVAL_NOBEGIN + 1 : static_cast<int32>(strtol(kept, nullptr, 10));
  }
  return day <= kept_through;
}

void RemoveKept(const char* retention) {
  RunInternal("DELETE FROM privacy_score.kept_day WHERE day < privacy_score.today() - $1::pg_catalog.int4", 1,
              &retention);
  // What was refused counts there also of days that have no scores.
  RunInternal(
      "DELETE FROM privacy_score.kept_role r WHERE EXISTS (SELECT FROM privacy_score.session s WHERE s.role = r.role "
      "AND s.day < privacy_score.today() - $1::pg_catalog.int4)",
      1, &retention);
}

void TidyKeptRates() {
  RunInternal(
      "DELETE FROM privacy_score.kept_rates r WHERE NOT EXISTS (SELECT FROM privacy_score.kept_day k WHERE k.rates = "
      "r.id)");
}

}  // namespace privacy_score

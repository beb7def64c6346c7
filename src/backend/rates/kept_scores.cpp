/*
 * kept_scores.cpp - see kept_scores.hpp.
 */
#include "backend/rates/kept_scores.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
}

#include "backend/rates/read_once.hpp"
#include "backend/server/kept_plans.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/shared_state.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

namespace {

// Raised when the same history, rates and settings come to have other scores.
constexpr int kScoringVersion = 1;

// Names tell groups of relations apart, which have other numbers elsewhere. Baselines do not change but for what no
// score rests on. Views of views are looked at once: planning them takes longer than reading what they show.
const char* const kUnder =
    "WITH model_relation AS MATERIALIZED (SELECT * FROM privacy_score.model_relation), "
    "model_attribute AS MATERIALIZED (SELECT * FROM privacy_score.model_attribute), "
    "relation AS (SELECT pg_catalog.string_agg(ROW(x.name, x.leader, x.is_row_subject, x.joint_home)::text, ',' "
    "ORDER BY x.name COLLATE \"C\") AS t FROM (SELECT m.name, m.is_row_subject, m.joint_home, pg_catalog.min(m.name "
    "COLLATE \"C\") OVER (PARTITION BY m.subject_group) AS leader FROM model_relation m) x), "
    "attribute AS (SELECT pg_catalog.string_agg(ROW(a.name, a.label, a.identifier)::text, ',' ORDER BY a.name COLLATE "
    "\"C\") AS t, pg_catalog.string_agg(ROW(a.name, a.subject_position)::text, ',' ORDER BY a.name COLLATE \"C\") "
    "FILTER (WHERE a.subject_position IS NOT NULL) AS subjects FROM model_attribute a), "
    "dependency AS (SELECT pg_catalog.string_agg(ROW(a.name, b.name)::text, ',' ORDER BY a.name COLLATE \"C\", b.name "
    "COLLATE \"C\") AS t FROM privacy_score.dependency d JOIN model_attribute a ON a.relation_name = d.relation_name "
    "AND a.attname = d.determinant JOIN model_attribute b ON b.relation_name = d.relation_name AND b.attname = "
    "d.dependent), "
    "baseline AS (SELECT pg_catalog.string_agg(ROW(b.id, b.role, b.end_user, b.sessions, b.cells)::text, ',' ORDER BY "
    "b.id) AS t FROM privacy_score.baseline b WHERE b.active), "
    "accepted AS (SELECT pg_catalog.string_agg(ROW(f.id, f.role, f.end_user)::text, ',' ORDER BY f.id) AS t FROM "
    "privacy_score.acceptance_in_force f) "
    "SELECT pg_catalog.md5(pg_catalog.concat_ws('|', r.t, a.subjects)) || pg_catalog.md5(ROW($1, r.t, a.t, a.subjects, "
    "d.t, b.t, c.t)::text) FROM relation r, attribute a, dependency d, baseline b, accepted c";
constexpr int kDigestLength = 32;

// The oid of kept_day, which stands for all that is kept.
Oid KeptRelation() { return get_relname_relid("kept_day", get_namespace_oid("privacy_score", false)); }

}  // namespace

ScoredUnder ScoresUnder(const ScoreSettings& settings) {
  const char* args[] = {psprintf(
      "%d %d %d %d %.17g %d %d %d %d", kScoringVersion, settings.ngram_length, static_cast<int>(settings.counting),
      static_cast<int>(settings.compare), settings.alpha, static_cast<int>(settings.where_counts),
      static_cast<int>(settings.pad), static_cast<int>(settings.identifiers_count), settings.aggregate_least)};
  const char* read = psprintf("%s with %s", kUnder, args[0]);
  const StringInfoData* before = ReadBefore(read);
  const char* both = before != nullptr ? pstrdup(before->data) : KeptInternalValue(kUnder, 1, args);
  if (before == nullptr) RememberRead(read, both, static_cast<int>(strlen(both)));
  return {both + kDigestLength, pnstrdup(both, kDigestLength)};
}

void AppendKeptDays(StringInfo wire, const ScoredUnder& under, const char* role, const char* from_day,
                    const char* to_day) {
  const char* args[] = {role, from_day, to_day, under.all};
  AppendKeptSection<KeptDaySection>(
      wire,
      "SELECT k.role, NULLIF(k.end_user, '') AS end_user, pg_catalog.to_char(k.day, 'YYYY-MM-DD') AS day, k.queries, "
      "k.ngrams, k.mismatched, k.score, k.max_score, k.tight_max, k.normalised, k.statement_score, k.rows, k.enforced, "
      "k.peer_score, k.ids, k.counts, k.scores FROM privacy_score.kept_day k WHERE k.role = $1::pg_catalog.name "
      "AND k.day BETWEEN $2::pg_catalog.date AND $3::pg_catalog.date AND k.made_under = $4",
      lengthof(args), args);
}

DayGroup* DayGroups(const ScoredUnder& under, const char* role, const char* from_day, const char* to_day,
                    const char* known) {
  static const char* const kGroups =
      "SELECT x.rates, pg_catalog.array_agg(pg_catalog.to_char(x.day, 'YYYY-MM-DD') ORDER BY x.day), x.kept FROM ("
      "SELECT s.day, EXISTS (SELECT FROM privacy_score.kept_day k WHERE k.role = $1::pg_catalog.name AND k.day = s.day "
      "AND k.made_under = $6) AS kept, (SELECT r.id FROM privacy_score.kept_day k JOIN privacy_score.kept_rates r ON "
      "r.id = k.rates "
      "WHERE k.role = $1::pg_catalog.name AND k.day = s.day AND r.declared = $5 ORDER BY r.id DESC LIMIT 1) AS rates "
      "FROM (SELECT DISTINCT h.day FROM privacy_score.session h WHERE h.role = $1::pg_catalog.name AND h.day BETWEEN "
      "$2::pg_catalog.date AND $3::pg_catalog.date AND h.day <> ALL ($4::pg_catalog.date[])) s) x GROUP BY x.rates, "
      "x.kept ORDER BY x.rates, x.kept";
  const char* args[] = {role, from_day, to_day, known, under.declared, under.all};
  TextArguments arguments;
  FillTextArguments(&arguments, lengthof(args), args);
  if (SPI_execute_plan(KeptPlan(kGroups, lengthof(args)), arguments.values, arguments.nulls, true, 0) != SPI_OK_SELECT)
    elog(ERROR, "unexpected result of an internal query");
  DayGroup* groups = nullptr;
  for (uint64 row = SPI_processed; row > 0; --row) {
    auto* group = static_cast<DayGroup*>(SPI_palloc(sizeof(DayGroup)));
    *group = {groups, FieldText(row - 1, 1), FieldText(row - 1, 0), FieldText(row - 1, 2)[0] == 't'};
    groups = group;
  }
  SPI_freetuptable(SPI_tuptable);
  return groups;
}

// The worker that is told now tries until the lock is free.
void LockKept() {
  LockRelationOid(KeptRelation(), RowExclusiveLock);
  DatabaseSlot* slot = ps_shared == nullptr ? nullptr : SlotOfDatabase(false);
  if (slot != nullptr) pg_atomic_fetch_add_u64(&slot->kept_changed, 1);
}

bool TryLockKept() { return ConditionalLockRelationOid(KeptRelation(), ShareRowExclusiveLock); }

// Rows that another transaction is about to remove are gone, or the next to know of the change.
void NoteChangedDay(const char* role, const char* day) {
  const char* args[] = {role, day};
  RunInternal("UPDATE privacy_score.kept_day SET made_under = NULL WHERE role = $1::pg_catalog.name AND day = " SQL_DAY(
                  "$2") " AND made_under IS NOT NULL",
              2, args);
  RunInternal("DELETE FROM privacy_score.kept_role WHERE role = $1::pg_catalog.name", 1, args);
}

}  // namespace privacy_score

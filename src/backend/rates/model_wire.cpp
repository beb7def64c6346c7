/*
 * model_wire.cpp - see model_wire.hpp.
 */
#include "backend/rates/model_wire.hpp"

#include "backend/rates/rate_admission.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/internal.hpp"

namespace {

const char* const kModelSections[] = {
    "SELECT name, subject_group, is_row_subject, joint_home FROM privacy_score.model_relation ORDER BY name",
    "SELECT name, relation_name, label, identifier, subject_position FROM privacy_score.model_attribute ORDER BY name",
    "SELECT determinant, dependent FROM privacy_score.model_dependency ORDER BY 1, 2"};

// Of baselines in force, and of what is accepted beside them.
#define SQL_IDS_OF_BASELINES                                                      \
  "SELECT pg_catalog.unnest(s.ids) FROM privacy_score.baseline_session s "        \
  "JOIN privacy_score.baseline b ON b.id = s.baseline_id AND b.active UNION ALL " \
  "SELECT pg_catalog.unnest(g.ngram) FROM privacy_score.acceptance_ngram g "      \
  "JOIN privacy_score.acceptance_in_force f ON f.id = g.acceptance_id"
// The sessions of a role, $1 (NULL: all), in a range of days, from $2 to $3, of an end user, $4 (NULL: all).
#define SQL_SESSIONS                                                                                                  \
  "FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id "                            \
  "WHERE ($1 IS NULL OR s.role = $1::pg_catalog.name) AND s.day BETWEEN $2::pg_catalog.date AND $3::pg_catalog.date " \
  "AND ($4 IS NULL OR COALESCE(s.end_user, '') = $4)"

#define SQL_IDS_OF_SESSIONS "SELECT pg_catalog.unnest(p.ids) " SQL_SESSIONS

const char* const kAllAbstractions = SQL_TOKENS("");
// For what looks at few of them: finding out which those are takes longer than to read a small table.
const char* const kFewAbstractions = "SELECT pg_catalog.pg_table_size('privacy_score.abstraction') < 1048576";
// In order: whether a live model is another one is seen by its bytes.
const char* const kBaselineAbstractions = SQL_TOKENS("WHERE a.id IN (" SQL_IDS_OF_BASELINES ") ORDER BY a.id, t");
const char* const kSessionAbstractions =
    SQL_TOKENS("WHERE a.id IN (" SQL_IDS_OF_BASELINES " UNION ALL " SQL_IDS_OF_SESSIONS ")");

const char* const kBaselines =
    "SELECT id, role, sessions, reach, subjects, subject_columns, cells, day_reach, day_subjects, day_subject_columns, "
    "end_user "
    "FROM privacy_score.baseline WHERE active ORDER BY id";
const char* const kBaselineNGrams =
    "SELECT n.baseline_id, n.ngram, n.count FROM privacy_score.baseline_ngram n "
    "JOIN privacy_score.baseline b ON b.id = n.baseline_id AND b.active "
    "WHERE $1 IS NULL OR b.role = $1::pg_catalog.name ORDER BY n.baseline_id, n.ngram";
const char* const kBaselineSessions =
    "SELECT s.baseline_id, s.count, s.ids FROM privacy_score.baseline_session s "
    "JOIN privacy_score.baseline b ON b.id = s.baseline_id AND b.active ORDER BY s.baseline_id, s.ids";

const char* const kAccepted =
    "SELECT f.role, f.end_user, g.ngram, NULL, NULL FROM privacy_score.acceptance_in_force f "
    "JOIN privacy_score.acceptance_ngram g ON g.acceptance_id = f.id UNION ALL "
    "SELECT f.role, f.end_user, NULL, h.figure, h.height::pg_catalog.int8 FROM privacy_score.acceptance_in_force f "
    "JOIN privacy_score.acceptance_figure h ON h.acceptance_id = f.id "
    "WHERE h.figure ~ '^(day_)?(reach|subjects|subject_columns)$' ORDER BY 1, 2, 3, 4, 5";
const char* const kEndUserLimits =
    "SELECT role, end_user, session_limit, daily_limit FROM privacy_score.end_user_limit ORDER BY role, end_user";

// $4: at most so many of the stored ones; $5: their period. A rate just computed goes before a stored one.
const char* const kRates =
    "SELECT DISTINCT ON (1, 2) relation_name, attributes, rate, rows, subject_entropy, modified FROM ("
    "(SELECT r.relation_name, pg_catalog.array_to_string(r.attributes, pg_catalog.chr(1)) AS attributes, r.rate, "
    "r.rows, r.subject_entropy, "
    "CASE WHEN r.stale THEN COALESCE(r.modified, -1) END AS modified, 1 AS source FROM privacy_score.rate_state r "
    "WHERE " SQL_AT_HAND("r.period", "r.attributes", "$5") " ORDER BY pg_catalog.cardinality(r.attributes) > 1, "
    "r.computed_at DESC, r.relation_name, r.attributes LIMIT $4::pg_catalog.int8) "
    "UNION ALL SELECT c.relation_name, c.attributes, c.rate, NULL, c.entropy, NULL, 0 FROM ROWS FROM ("
    "pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::pg_catalog.float8[]), "
    "pg_catalog.unnest($6::pg_catalog.float8[])) c(relation_name, attributes, rate, entropy)) x ORDER BY 1, 2, source";

// The sections of a model with the abstractions that a query finds. `most_rates`: of the stored ones (null: all).
int AppendSections(StringInfo wire, const char* abstractions, int nargs, const char* const* args,
                   const ComputedRates* computed, const char* role, const char* most_rates, TimestampTz period) {
  for (const char* sql : kModelSections) AppendQuery(wire, sql);
  AppendLongQuery(wire, abstractions, nargs, args);
  AppendQuery(wire, kBaselines);
  AppendQuery(wire, kBaselineNGrams, 1, &role);
  AppendQuery(wire, kBaselineSessions);
  AppendQuery(wire, kEndUserLimits);
  AppendQuery(wire, kAccepted);
  const char* rates[] = {"{}", "{}", "{}", most_rates, TextOfInteger(period), "{}"};
  if (computed != nullptr) {
    rates[0] = psprintf("%s}", computed->relations.data);
    rates[1] = psprintf("%s}", computed->attributes.data);
    rates[2] = psprintf("%s}", computed->rates.data);
    rates[5] = psprintf("%s}", computed->entropies.data);
  }
  const int rates_at = wire->len;
  AppendLongQuery(wire, kRates, lengthof(rates), rates);
  return rates_at;
}

bool FewAbstractions() { return strcmp(InternalValue(kFewAbstractions), "t") == 0; }

}  // namespace

int AppendModel(StringInfo wire, ModelScope scope, const ComputedRates* computed, const char* role,
                TimestampTz period) {
  const bool all = scope == ModelScope::kAll || (scope == ModelScope::kBaselines && FewAbstractions());
  const char* most_rates = scope == ModelScope::kLive ? TextOfInteger(ps_settings.max_rates) : nullptr;
  return AppendSections(wire, all ? kAllAbstractions : kBaselineAbstractions, 0, nullptr, computed, role, most_rates,
                        period);
}

void AppendHistory(StringInfo wire, const ComputedRates* computed, const privacy_score::ScoreSettings& settings,
                   const char* role, const char* from_day, const char* to_day) {
  const char* args[] = {role, from_day, to_day, nullptr};
  if (FewAbstractions())
    AppendSections(wire, kAllAbstractions, 0, nullptr, computed, role, nullptr, 0);
  else
    AppendSections(wire, kSessionAbstractions, lengthof(args), args, computed, role, nullptr, 0);
  AppendSettings(wire, settings);
  AppendSessions(wire, role, from_day, to_day);
}

void ForEachTokens(const char* role, const char* end_user, const char* day, void (*visit)(void*, StringInfo),
                   void* context) {
  const char* args[] = {role, day, day, end_user};
  ForEachBatch(SQL_TOKENS("WHERE a.id IN (" SQL_IDS_OF_SESSIONS ") ORDER BY a.id"), lengthof(args), args, visit,
               context);
}

void AppendSessions(StringInfo wire, const char* role, const char* from_day, const char* to_day, const char* end_user) {
  const char* args[] = {role, from_day, to_day, end_user};
  AppendLongQuery(
      wire,
      "SELECT s.id, s.role, pg_catalog.to_char(s.day, 'YYYY-MM-DD'), s.session, p.ids, p.runs, p.rows, s.reach, "
      "s.subjects, s.subject_columns, s.end_user " SQL_SESSIONS " ORDER BY s.role, s.day, s.started, s.id, p.part",
      lengthof(args), args);
}

void AppendAcceptedOf(StringInfo wire, const char* role) {
  AppendQuery(wire,
              "SELECT f.end_user, h.figure, pg_catalog.max(h.height) FROM privacy_score.acceptance_in_force f "
              "JOIN privacy_score.acceptance_figure h ON h.acceptance_id = f.id WHERE f.role = $1::pg_catalog.name "
              "AND h.figure !~ '^(day_)?(reach|subjects|subject_columns)$' GROUP BY 1, 2",
              1, &role);
  AppendLongQuery(wire,
                  "SELECT DISTINCT f.end_user, a.id, t FROM privacy_score.acceptance_in_force f "
                  "JOIN privacy_score.abstraction a ON a.id = ANY (f.ids), pg_catalog.unnest(a.tokens) t "
                  "WHERE f.role = $1::pg_catalog.name",
                  1, &role);
}

void AppendSettings(StringInfo wire, const privacy_score::ScoreSettings& settings) {
  using privacy_score::ScoreSettings;
  const char* fields[] = {psprintf("%d", settings.ngram_length),
                          settings.counting == ScoreSettings::kSet ? "set" : "multiset",
                          settings.compare == ScoreSettings::kPositionwise ? "positionwise" : "union",
                          psprintf("%.17g", settings.alpha),
                          settings.where_counts ? "t" : "f",
                          settings.pad ? "t" : "f",
                          settings.identifiers_count ? "t" : "f",
                          psprintf("%d", settings.aggregate_least)};
  AppendRow(wire, lengthof(fields), fields);
}

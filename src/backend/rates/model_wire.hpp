/*
 * model_wire.hpp - the tables of the extension as the byte sections that core reads (core/scoring/model.hpp,
 * core/scoring/history.hpp).
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "datatype/timestamp.h"
}

#include "backend/rates/stored_rates.hpp"
#include "backend/server/wire.hpp"
#include "core/scoring/score_settings.hpp"

namespace privacy_score {

// What the model carries. kBaselines: all of baselines, with their abstractions, or all abstractions where these are
// few, and all rates. kAll: all abstractions, all rates. For recorded sessions there is AppendHistory; for sessions
// that go on AppendDefinitions.
enum class ModelScope { kBaselines, kAll };

// Appends all sections of the model. Inside an internal scope. `computed` adds rates that are not in the table (null:
// none). `role`: whose n-grams are enough, as they are to score one role; the sessions of baselines, which say what is
// usual among peers, are those of all (null: n-grams of all).
void AppendModel(StringInfo wire, ModelScope scope, const ComputedRates* computed, const char* role = nullptr);

// Appends the sections of a model before the last one without what baselines hold, which lies beside it
// (core/scoring/packed_baseline.hpp): declarations, the heads of baselines, what is accepted, with its abstractions.
// Inside an internal scope.
void AppendDefinitions(StringInfo wire);
// Appends the last one, with the rates at hand in a period (rate_admission.hpp), at most max_rates of those that are
// stored: what it lacks sessions ask for. Inside an internal scope.
void AppendRatesAtHand(StringInfo wire, const ComputedRates* computed, TimestampTz period);

// The query of the section of abstractions (id, token), of those that the condition `where` takes.
#define SQL_TOKENS(where) \
  "SELECT a.id, t AS token FROM privacy_score.abstraction a, pg_catalog.unnest(a.tokens) t " where
// The same of the abstractions of the baseline in force of a role, $1.
#define SQL_TOKENS_OF_BASELINE                                                                                  \
  SQL_TOKENS(                                                                                                   \
      "WHERE a.id IN (SELECT pg_catalog.unnest(s.ids) FROM privacy_score.baseline_session s "                   \
      "JOIN privacy_score.baseline b ON b.id = s.baseline_id AND b.active AND b.end_user IS NULL AND b.role = " \
      "$1::pg_catalog.name)")
// The abstractions of the baselines in force of all roles.
#define SQL_IDS_OF_ROLES                                                                                          \
  "SELECT pg_catalog.unnest(s.ids) AS id FROM privacy_score.baseline_session s JOIN privacy_score.baseline b ON " \
  "b.id = s.baseline_id AND b.active AND b.end_user IS NULL"

// Appends what is accepted of the sessions of a role, as core/detection/accepted.hpp reads it. Inside an internal
// scope.
void AppendAcceptedOf(StringInfo wire, const char* role);

// Appends the section of settings.
void AppendSettings(StringInfo wire, const privacy_score::ScoreSettings& settings);

// Which recorded days are read, and with which rates. `days`: of the range only these (a literal of date[]; null: all).
// `kept_rates`: the id of kept rates, which go before stored ones (null: none); `only_kept`: no stored ones beside
// them. `of_standby`: what ran on this standby, which its files have, in the place of what its tables have.
struct HistoryRange {
  const char* role;  // null: all
  const char* from_day;
  const char* to_day;
  const char* days = nullptr;
  const char* kept_rates = nullptr;
  bool only_kept = false;
  bool of_standby = false;
};

// Appends all that core/scoring/history.hpp reads of recorded sessions: the model with their abstractions, those of
// active baselines and all rates, the settings, the sessions. Inside an internal scope.
void AppendHistory(StringInfo wire, const ComputedRates* computed, const privacy_score::ScoreSettings& settings,
                   const HistoryRange& range);

// Appends the section of recorded sessions of a role (null: all) in a range of days: (session row, role, day, session,
// ids, runs, rows, reach, subjects, subject_columns, end_user), a row a part; of an end user (empty: none; null: all).
// Inside an internal scope.
void AppendSessions(StringInfo wire, const char* role, const char* from_day, const char* to_day,
                    const char* end_user = nullptr);

}  // namespace privacy_score

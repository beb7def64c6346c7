/*
 * model_wire.cpp - see model_wire.hpp.
 */
#include "backend/rates/model_wire.hpp"

#include "backend/rates/kept_scores.hpp"
#include "backend/rates/rate_admission.hpp"
#include "backend/rates/read_once.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "core/detection/detection_sections.hpp"
#include "core/scoring/model_sections.hpp"
#include "core/scoring/ngram_table.hpp"

namespace privacy_score {

namespace {

const char* const kRelations =
    "SELECT name, subject_group, is_row_subject, joint_home FROM privacy_score.model_relation ORDER BY name";
const char* const kAttributes =
    "SELECT name, relation_name, label, identifier, subject_position FROM privacy_score.model_attribute ORDER BY name";
const char* const kDependencies = "SELECT determinant, dependent FROM privacy_score.model_dependency ORDER BY 1, 2";

// Of what is accepted beside baselines; with those of baselines in force.
#define SQL_IDS_OF_ACCEPTED                                                  \
  "SELECT pg_catalog.unnest(g.ngram) FROM privacy_score.acceptance_ngram g " \
  "JOIN privacy_score.acceptance_in_force f ON f.id = g.acceptance_id"
#define SQL_IDS_OF_BASELINES                                               \
  "SELECT pg_catalog.unnest(s.ids) FROM privacy_score.baseline_session s " \
  "JOIN privacy_score.baseline b ON b.id = s.baseline_id AND b.active UNION ALL " SQL_IDS_OF_ACCEPTED
// The sessions of a role, $1, or of all, in a range of days, from $2 to $3, of an end user, $4 (NULL: all), on certain
// days, $5 (NULL: all).
#define SQL_OF_ROLE "s.role = $1::pg_catalog.name "
#define SQL_OF_ALL "$1 IS NULL "
#define SQL_SESSIONS(whose)                                                                \
  "FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id " \
  "WHERE " whose                                                                           \
  "AND s.day BETWEEN $2::pg_catalog.date AND $3::pg_catalog.date "                         \
  "AND ($4 IS NULL OR COALESCE(s.end_user, '') = $4) AND ($5 IS NULL OR s.day = ANY ($5::pg_catalog.date[]))"

#define SQL_IDS_OF_SESSIONS(whose) "SELECT pg_catalog.unnest(p.ids) " SQL_SESSIONS(whose)

#define SQL_SESSION_ROWS(whose)                                                                                      \
  "SELECT s.id, s.role, pg_catalog.to_char(s.day, 'YYYY-MM-DD') AS day, s.session, p.ids, p.runs, p.rows, s.reach, " \
  "s.subjects, s.subject_columns, s.end_user " SQL_SESSIONS(whose) " ORDER BY s.role, s.day, s.started, s.id, p.part"

const char* const kSessionsOfRole = SQL_SESSION_ROWS(SQL_OF_ROLE);
const char* const kSessionsOfAll = SQL_SESSION_ROWS(SQL_OF_ALL);

const char* const kAllAbstractions = SQL_TOKENS("");
// For what looks at few of them: finding out which those are takes longer than to read a small table.
const char* const kFewAbstractions = "SELECT pg_catalog.pg_table_size('privacy_score.abstraction') < 1048576";
// In order: whether the model that sessions have is another one is seen by its bytes.
const char* const kAcceptedAbstractions = SQL_TOKENS("WHERE a.id IN (" SQL_IDS_OF_ACCEPTED ") ORDER BY a.id, t");
const char* const kBaselineAbstractions = SQL_TOKENS("WHERE a.id IN (" SQL_IDS_OF_BASELINES ")");
#define SQL_ABSTRACTIONS_OF_SESSIONS(whose) \
  SQL_TOKENS("WHERE a.id IN (" SQL_IDS_OF_BASELINES " UNION ALL " SQL_IDS_OF_SESSIONS(whose) ")")
const char* const kAbstractionsOfRole = SQL_ABSTRACTIONS_OF_SESSIONS(SQL_OF_ROLE);
const char* const kAbstractionsOfAll = SQL_ABSTRACTIONS_OF_SESSIONS(SQL_OF_ALL);

// What ran on this standby, of a role, $1 (NULL: of all), in a range of days.
#define SQL_OF_STANDBY                                                                                          \
  "FROM privacy_score.standby_parts($2::pg_catalog.date, $3::pg_catalog.date) p WHERE ($1 IS NULL OR p.role = " \
  "$1::pg_catalog.name) "
const char* const kSessionsOfStandby =
    "SELECT p.session_key AS id, p.role, pg_catalog.to_char(" SQL_DAY("p.day") ", 'YYYY-MM-DD') AS day, p.session, "
    "p.ids, p.runs, p.rows, p.reach, p.subjects, p.subject_columns, p.end_user " SQL_OF_STANDBY
    "ORDER BY p.role, p.day, p.started, p.session_key, p.part";
const char* const kAbstractionsOfStandby =
    SQL_TOKENS("WHERE a.id IN (" SQL_IDS_OF_BASELINES " UNION ALL SELECT pg_catalog.unnest(p.ids) " SQL_OF_STANDBY ")")
    " UNION ALL SELECT k.id, t FROM privacy_score.standby_tokens($2::pg_catalog.date, $3::pg_catalog.date) k, "
    "pg_catalog.unnest(k.tokens) t WHERE NOT EXISTS (SELECT FROM privacy_score.abstraction o WHERE o.id = k.id)";

const char* const kBaselines =
    "SELECT id, role, sessions, reach, subjects, subject_columns, cells, day_reach, day_subjects, day_subject_columns, "
    "end_user "
    "FROM privacy_score.baseline WHERE active ORDER BY id";
#define SQL_NGRAMS(whose)                                                       \
  "SELECT n.baseline_id, n.ngram, n.count FROM privacy_score.baseline_ngram n " \
  "JOIN privacy_score.baseline b ON b.id = n.baseline_id AND b.active " whose "ORDER BY n.baseline_id, n.ngram"
const char* const kNGramsOfRole = SQL_NGRAMS("WHERE b.role = $1::pg_catalog.name ");
const char* const kNGramsOfAll = SQL_NGRAMS("");
const char* const kBaselineSessions =
    "SELECT s.baseline_id, s.count, s.ids FROM privacy_score.baseline_session s "
    "JOIN privacy_score.baseline b ON b.id = s.baseline_id AND b.active ORDER BY s.baseline_id, s.ids";

const char* const kAccepted =
    "SELECT f.role, f.end_user, g.ngram, NULL AS figure, NULL AS height FROM privacy_score.acceptance_in_force f "
    "JOIN privacy_score.acceptance_ngram g ON g.acceptance_id = f.id UNION ALL "
    "SELECT f.role, f.end_user, NULL, h.figure, h.height::pg_catalog.int8 FROM privacy_score.acceptance_in_force f "
    "JOIN privacy_score.acceptance_figure h ON h.acceptance_id = f.id "
    "WHERE h.figure ~ '^(day_)?(reach|subjects|subject_columns)$' ORDER BY 1, 2, 3, 4, 5";
const char* const kEndUserLimits =
    "SELECT role, end_user, session_limit, daily_limit FROM privacy_score.end_user_limit ORDER BY role, end_user";

// $4: at most so many of the stored ones; $5: their period; $7: kept rates; $8: no stored ones. A rate just computed
// goes before a kept one, and that before a stored one.
const char* const kRates =
    "SELECT DISTINCT ON (1, 2) relation_name, attributes, rate, rows, subject_entropy, modified FROM ("
    "(SELECT r.relation_name, pg_catalog.array_to_string(r.attributes, pg_catalog.chr(1)) AS attributes, r.rate, "
    "r.rows, r.subject_entropy, "
    "CASE WHEN r.stale THEN COALESCE(r.modified, -1) END AS modified, 1 AS source FROM privacy_score.rate_state r "
    "WHERE $8 IS NULL AND " SQL_AT_HAND("r.period", "r.attributes", "$5") " ORDER BY pg_catalog.cardinality(r.attributes) > 1, "
    "r.computed_at DESC, r.relation_name, r.attributes LIMIT $4::pg_catalog.int8) "
    "UNION ALL SELECT c.relation_name, c.attributes, c.rate, NULL, c.entropy, NULL, -1 FROM ROWS FROM ("
    "pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::pg_catalog.float8[]), "
    "pg_catalog.unnest($6::pg_catalog.float8[])) c(relation_name, attributes, rate, entropy) "
    "UNION ALL " SQL_KEPT_RATES("$7") ") x ORDER BY 1, 2, source";

// The n-grams of the baselines of a role (null: of all).
void AppendPackedNGrams(StringInfo wire, const char* role) {
  StringInfoData rows;
  initStringInfo(&rows);
  if (role == nullptr)
    AppendKeptSection<BaselineNGramSection>(&rows, kNGramsOfAll);
  else
    AppendKeptSection<BaselineNGramSection>(&rows, kNGramsOfRole, 1, &role);
  auto* packed = NewCoreObject<std::string>();
  CallCoreOrRaise([&] { *packed = PackNGrams(WireBytes(&rows)); });
  pfree(rows.data);
  appendBinaryStringInfo(wire, packed->data(), static_cast<int>(packed->size()));
  CallCoreOrRaise([&] { *packed = std::string(); });
}

// Which stored rates a model has. `most`: so many of them (null: all), those of a period; `kept`: the id of kept rates,
// which go before stored ones (null: none); `only_kept`: no stored ones beside them.
struct WhichRates {
  const char* most = nullptr;
  TimestampTz period = 0;
  const char* kept = nullptr;
  bool only_kept = false;
};

void AppendRateSection(StringInfo wire, const ComputedRates* computed, const WhichRates& which) {
  const char* rates[] = {
      "{}", "{}", "{}", which.most, TextOfInteger(which.period), "{}", which.kept, which.only_kept ? "t" : nullptr};
  if (computed != nullptr) {
    rates[0] = psprintf("%s}", computed->relations.data);
    rates[1] = psprintf("%s}", computed->attributes.data);
    rates[2] = psprintf("%s}", computed->rates.data);
    rates[5] = psprintf("%s}", computed->entropies.data);
  }
  AppendKeptSection<RateSection>(wire, kRates, lengthof(rates), rates);
}

void AppendDeclarations(StringInfo wire) {
  AppendOnce<RelationSection>(wire, kRelations);
  AppendOnce<AttributeSection>(wire, kAttributes);
  AppendOnce<DependencySection>(wire, kDependencies);
}

// The sections of a model with the abstractions that a query finds.
void AppendModelSections(StringInfo wire, const char* abstractions, int nargs, const char* const* args,
                         const ComputedRates* computed, const char* role, const WhichRates& rates) {
  AppendDeclarations(wire);
  if (nargs == 0) {
    AppendOnce<TokenSection>(wire, abstractions);
  } else {
    AppendKeptSection<TokenSection>(wire, abstractions, nargs, args);
  }
  AppendOnce<BaselineSection>(wire, kBaselines);
  AppendOnceAs(wire, psprintf("%s\n%s", kNGramsOfRole, role == nullptr ? "" : role),
               [role](StringInfo into) { AppendPackedNGrams(into, role); });
  AppendOnce<BaselineSessionSection>(wire, kBaselineSessions);
  AppendOnce<LimitSection>(wire, kEndUserLimits);
  AppendOnce<AcceptedSection>(wire, kAccepted);
  AppendRateSection(wire, computed, rates);
}

// The section of the sessions that SQL_SESSIONS names.
void AppendSessionsOf(StringInfo wire, int nargs, const char* const* args) {
  AppendKeptSection<SessionSection>(wire, args[0] == nullptr ? kSessionsOfAll : kSessionsOfRole, nargs, args);
}

bool FewAbstractions() { return strcmp(KeptInternalValue(kFewAbstractions, 0, nullptr), "t") == 0; }

}  // namespace

void AppendModel(StringInfo wire, ModelScope scope, const ComputedRates* computed, const char* role) {
  const bool all = scope == ModelScope::kAll || FewAbstractions();
  AppendModelSections(wire, all ? kAllAbstractions : kBaselineAbstractions, 0, nullptr, computed, role, {});
}

void AppendDefinitions(StringInfo wire) {
  AppendDeclarations(wire);
  AppendOnce<TokenSection>(wire, kAcceptedAbstractions);
  AppendOnce<BaselineSection>(wire, kBaselines);
  AppendSectionHead(wire, PackedNGramSection::kColumns, 0);
  AppendSectionHead(wire, BaselineSessionSection::kColumns, 0);
  AppendOnce<LimitSection>(wire, kEndUserLimits);
  AppendOnce<AcceptedSection>(wire, kAccepted);
}

void AppendRatesAtHand(StringInfo wire, const ComputedRates* computed, TimestampTz period) {
  AppendRateSection(wire, computed, {TextOfInteger(ps_settings.max_rates), period});
}

void AppendHistory(StringInfo wire, const ComputedRates* computed, const privacy_score::ScoreSettings& settings,
                   const HistoryRange& range) {
  const char* args[] = {range.role, range.from_day, range.to_day, nullptr, range.days};
  const bool few = !range.of_standby && FewAbstractions();
  AppendModelSections(wire,
                      range.of_standby        ? kAbstractionsOfStandby
                      : few                   ? kAllAbstractions
                      : range.role == nullptr ? kAbstractionsOfAll
                                              : kAbstractionsOfRole,
                      few ? 0 : lengthof(args), args, computed, range.role,
                      {nullptr, 0, range.kept_rates, range.only_kept});
  AppendSettings(wire, settings);
  if (range.of_standby)
    AppendKeptSection<SessionSection>(wire, kSessionsOfStandby, lengthof(args), args);
  else
    AppendSessionsOf(wire, lengthof(args), args);
}

void AppendSessions(StringInfo wire, const char* role, const char* from_day, const char* to_day, const char* end_user) {
  const char* args[] = {role, from_day, to_day, end_user, nullptr};
  AppendSessionsOf(wire, lengthof(args), args);
}

void AppendAcceptedOf(StringInfo wire, const char* role) {
  AppendSection<AcceptedFigureSection>(
      wire,
      "SELECT f.end_user, h.figure, pg_catalog.max(h.height) AS height FROM privacy_score.acceptance_in_force f "
      "JOIN privacy_score.acceptance_figure h ON h.acceptance_id = f.id WHERE f.role = $1::pg_catalog.name "
      "AND h.figure !~ '^(day_)?(reach|subjects|subject_columns)$' GROUP BY 1, 2",
      1, &role);
  AppendLongSection<AcceptedTokenSection>(
      wire,
      "SELECT DISTINCT f.end_user, a.id, t AS token FROM privacy_score.acceptance_in_force f "
      "JOIN privacy_score.abstraction a ON a.id = ANY (f.ids), pg_catalog.unnest(a.tokens) t "
      "WHERE f.role = $1::pg_catalog.name",
      1, &role);
}

void AppendSettings(StringInfo wire, const privacy_score::ScoreSettings& settings) {
  using privacy_score::ScoreSettings;
  using Column = SettingsSection;
  const char* fields[Column::kColumns] = {};
  fields[Column::kNgramLength] = psprintf("%d", settings.ngram_length);
  fields[Column::kCounting] = settings.counting == ScoreSettings::kSet ? "set" : "multiset";
  fields[Column::kCompare] = settings.compare == ScoreSettings::kPositionwise ? "positionwise" : "union";
  fields[Column::kAlpha] = psprintf("%.17g", settings.alpha);
  fields[Column::kWhereCounts] = settings.where_counts ? "t" : "f";
  fields[Column::kPad] = settings.pad ? "t" : "f";
  fields[Column::kIdentifiersCount] = settings.identifiers_count ? "t" : "f";
  fields[Column::kAggregateLeast] = psprintf("%d", settings.aggregate_least);
  AppendRow(wire, lengthof(fields), fields);
}

}  // namespace privacy_score

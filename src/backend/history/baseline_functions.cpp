/*
 * baseline_functions.cpp - making, dropping and moving baselines. Baselines never learn by themselves.
 */
#include "backend/catalog/function_arguments.hpp"
#include "backend/history/baseline_alerts.hpp"
#include "backend/history/end_user_argument.hpp"
#include "backend/rates/model_wire.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/watching.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/jsonb.h"
}

#include <map>
#include <set>

#include "backend/server/core_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/role_access.hpp"
#include "core/scoring/history.hpp"
#include "core/scoring/model_sections.hpp"
#include "core/scoring/ngram.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_set_baseline);
PG_FUNCTION_INFO_V1(ps_activate_baseline);
PG_FUNCTION_INFO_V1(ps_drop_baseline);
PG_FUNCTION_INFO_V1(ps_import_baseline);
}

static_assert(privacy_score::kMostCounted >= 1'000'000'000'000'000, "what import_baseline() lets in can be read");
static_assert(privacy_score::kRecordedLength == 6, "import_baseline() and sql/50_history.sql, 60_watching.sql have it");

namespace {

// The rows of a baseline as array literals for unnest.
struct BaselineText {
  std::string ngrams, ngram_counts, sets, set_counts;
  std::int64_t sessions = 0;
  std::int64_t distinct = 0;  // n-grams at the length in force
};

// Fills `text` from the sections of sessions.
void Summarise(std::string_view sessions_wire, const privacy_score::ScoreSettings& settings, BaselineText* text) {
  const privacy_score::BaselineRows rows = privacy_score::BaselineOfHistory(sessions_wire);
  std::vector<std::string> ngrams, ngram_counts, sets, set_counts;
  std::set<privacy_score::NGram> distinct;
  for (const auto& row : rows.ngrams.rows) {
    ngrams.push_back(*row[NGramRow::kNgram]);
    ngram_counts.push_back(*row[NGramRow::kCount]);
    const privacy_score::NGram ngram = privacy_score::ParseNGram(ngrams.back());
    if (settings.pad || !privacy_score::HasPadding(ngram, settings.ngram_length))
      distinct.insert(privacy_score::Suffix(ngram, settings.ngram_length));
  }
  for (const auto& row : rows.session_sets.rows) {
    set_counts.push_back(*row[SessionSetRow::kCount]);
    sets.push_back(*row[SessionSetRow::kIds]);
  }
  text->ngrams = privacy_score::ArrayText(ngrams);
  text->ngram_counts = privacy_score::ArrayText(ngram_counts);
  text->sets = privacy_score::ArrayText(sets);
  text->set_counts = privacy_score::ArrayText(set_counts);
  text->sessions = rows.sessions;
  text->distinct = static_cast<std::int64_t>(distinct.size());
}

// Puts the baseline of a role, or of an end user of it (null: none), out of force; returns whether there was one. In an
// internal scope.
bool PutOutOfForce(const char* role, const char* end_user) {
  const char* args[] = {role, end_user};
  return RunInternal(
             "UPDATE privacy_score.baseline SET active = false WHERE role = $1::pg_catalog.name "
             "AND end_user IS NOT DISTINCT FROM $2 AND active",
             2, args) > 0;
}

// Puts the older version out of force and returns the id of a new one. In an internal scope.
char* NewBaseline(const char* role, const char* end_user, const char* from_day, const char* to_day,
                  const char* sessions, const char* made_by) {
  PutOutOfForce(role, end_user);
  const char* args[] = {role, from_day, to_day, sessions, made_by, end_user};
  return InternalValue(
      "INSERT INTO privacy_score.baseline (role, from_day, to_day, sessions, made_by, end_user) VALUES "
      "($1::pg_catalog.name, $2::pg_catalog.date, $3::pg_catalog.date, $4::pg_catalog.int8, $5::pg_catalog.name, $6) "
      "RETURNING id",
      6, args);
}

// Whether $1 is a baseline: every part has its type and range, nothing stands twice, and what is referred to is there.
// CASE keeps the order, and strict does not look into lists for a text, so that no part is taken for what it is not;
// numbers are digits, for a cast would raise an error of its own. Counts are at most kMostCounted, added up too, and
// sessions with a set no more than sessions: their shares are probabilities.
const char* const kIsBaseline =
    "WITH x AS (SELECT $1::pg_catalog.jsonb AS j), shape AS (SELECT j, "
    "j @@ 'strict ($.version == 1 || $.version == 2) && $.role like_regex \"^.{1,63}$\" flag \"s\" "
    "&& $.from_day like_regex \"^([0-9]{4,7}-[0-9]{2}-[0-9]{2}( BC)?|-?infinity)$\" "
    "&& $.to_day like_regex \"^([0-9]{4,7}-[0-9]{2}-[0-9]{2}( BC)?|-?infinity)$\" "
    "&& $.sessions.type() == \"number\" && $.ngrams.type() == \"array\" && $.session_sets.type() == \"array\" "
    "&& $.abstractions.type() == \"array\"' AS parts FROM x), rows AS ("
    "SELECT 'n' AS kind, e->'ngram' AS list, e->>'count' AS number, '{0}'::text[] AS known FROM shape, "
    "pg_catalog.jsonb_array_elements(CASE WHEN parts THEN j->'ngrams' ELSE '[]' END) e "
    "UNION ALL SELECT 's', e->'ids', e->>'count', '{}' FROM shape, "
    "pg_catalog.jsonb_array_elements(CASE WHEN parts THEN j->'session_sets' ELSE '[]' END) e "
    "UNION ALL SELECT 'a', e->'tokens', e->>'id', '{}' FROM shape, "
    "pg_catalog.jsonb_array_elements(CASE WHEN parts THEN j->'abstractions' ELSE '[]' END) e), "
    "lists AS (SELECT r.*, CASE WHEN pg_catalog.jsonb_typeof(list) = 'array' THEN list END AS elements FROM rows r) "
    "SELECT CASE WHEN parts THEN (j->>'sessions') ~ '^[1-9][0-9]{0,14}$' "
    "AND pg_catalog.octet_length(j->>'role') < 64 "
    "AND (j->'version' = '2') = (j ? 'end_user') "
    "AND COALESCE(pg_catalog.jsonb_typeof(j->'end_user'), 'string') = 'string' "
    "AND (j->>'from_day')::pg_catalog.date <= (j->>'to_day')::pg_catalog.date "
    "AND NOT EXISTS (SELECT FROM lists l WHERE elements IS NULL OR number IS NULL "
    "OR number !~ CASE kind WHEN 'a' THEN '^-?[1-9][0-9]{0,18}$' ELSE '^[1-9][0-9]{0,14}$' END "
    "OR (kind = 'n' AND pg_catalog.jsonb_array_length(elements) <> 6) "
    "OR (kind <> 'n' AND pg_catalog.jsonb_array_length(elements) = 0) "
    "OR EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(elements) e "
    "WHERE pg_catalog.jsonb_typeof(e) <> CASE kind WHEN 'a' THEN 'string' ELSE 'number' END "
    "OR (kind <> 'a' AND e::text <> ALL (known) AND e::text NOT IN "
    "(SELECT a.number FROM rows a WHERE a.kind = 'a' AND a.number IS NOT NULL)))) "
    "AND NOT EXISTS (SELECT FROM rows WHERE kind IN ('n', 'a') GROUP BY kind, CASE kind WHEN 'n' THEN list::text ELSE "
    "number END HAVING pg_catalog.count(*) > 1) "
    "AND NOT EXISTS (SELECT FROM rows WHERE kind <> 'a' GROUP BY kind HAVING pg_catalog.sum(CASE WHEN number ~ "
    "'^[0-9]{1,15}$' THEN number::pg_catalog.numeric END) > CASE WHEN kind = 's' AND (j->>'sessions') ~ "
    "'^[0-9]{1,15}$' THEN (j->>'sessions')::pg_catalog.numeric ELSE 1e15 END) "
    "AND NOT EXISTS (SELECT FROM (VALUES ('reach'), ('subjects'), ('subject_columns'), ('day_reach'), "
    "('day_subjects'), ('day_subject_columns')) f(name) "
    "WHERE (j->>name) !~ '^[0-9]{1,9}$') "
    "AND COALESCE(j->>'cells', 'true') IN ('true', 'false') "
    "ELSE false END FROM shape";

// Whether a row is about the end user whose the baseline `b` is, if it is one's.
#define SQL_OF_END_USER(row) "(b.end_user IS NULL OR " row ".end_user = b.end_user)"

// Sets the greatest figures of reach over a baseline's sessions and days, from them or from $1 of import_baseline(). A
// day of which only a part was added up reaches at least as far as its sessions do.
const char* const kReachOfSessions =
    "UPDATE privacy_score.baseline b SET (reach, subjects, subject_columns, cells) = (SELECT pg_catalog.max(s.reach), "
    "pg_catalog.max(s.subjects), pg_catalog.max(s.subject_columns), pg_catalog.bool_and(s.cells) "
    "FROM privacy_score.session s "
    "WHERE s.role = b.role AND " SQL_OF_END_USER("s") " AND s.day BETWEEN b.from_day AND b.to_day), (day_reach, day_subjects, day_subject_columns) "
    "= (SELECT CASE WHEN d.known THEN GREATEST(d.reach, s.reach) END, "
    "CASE WHEN d.known THEN GREATEST(d.subjects, s.subjects) END, "
    "CASE WHEN d.known THEN GREATEST(d.subject_columns, s.subject_columns) END FROM "
    "(SELECT pg_catalog.count(*) > 0 AS known, pg_catalog.max(x.reach) AS reach, pg_catalog.max(x.subjects) AS "
    "subjects, "
    "pg_catalog.max(x.subject_columns) AS subject_columns FROM privacy_score.principal_day x "
    "WHERE x.role = b.role AND " SQL_OF_END_USER("x") " AND x.day BETWEEN b.from_day AND b.to_day) d, "
    "(SELECT pg_catalog.max(y.reach) AS reach, pg_catalog.max(y.subjects) AS subjects, "
    "pg_catalog.max(y.subject_columns) AS subject_columns FROM privacy_score.session y "
    "WHERE y.role = b.role AND " SQL_OF_END_USER("y") " AND y.day BETWEEN b.from_day AND b.to_day) s) "
    "WHERE b.id = $1::pg_catalog.int8";
// The networks, programs and hours of its sessions, as far as they are known; so many of the first two at most.
const char* const kContextsOfSessions =
    "WITH s AS MATERIALIZED (SELECT s.* FROM privacy_score.session s JOIN privacy_score.baseline b ON s.role = b.role "
    "AND " SQL_OF_END_USER("s") " AND s.day BETWEEN b.from_day AND b.to_day WHERE b.id = $1::pg_catalog.int8 AND s.tls IS NOT NULL) "
    "UPDATE privacy_score.baseline b SET contexts = pg_catalog.jsonb_build_object("
    "'networks', (SELECT pg_catalog.jsonb_agg(n.v) FROM (SELECT DISTINCT privacy_score.context_network(s.client_addr) "
    "FROM s ORDER BY 1 LIMIT 1000) n(v)), "
    "'programs', (SELECT pg_catalog.jsonb_agg(p.v) FROM (SELECT DISTINCT COALESCE(s.application_name, '') FROM s "
    "ORDER BY 1 LIMIT 1000) p(v)), "
    "'hours', (SELECT pg_catalog.jsonb_agg(h.v) FROM (SELECT DISTINCT privacy_score.context_hour(g.at) FROM s, "
    "pg_catalog.generate_series(s.started, s.last_at + pg_catalog.make_interval(hours => 1), "
    "pg_catalog.make_interval(hours => 1)) g(at) WHERE g.at = s.started OR "
    "pg_catalog.date_trunc('hour', g.at) <= s.last_at ORDER BY 1) h(v))) "
    "WHERE b.id = $1::pg_catalog.int8 AND EXISTS (SELECT FROM s)";
const char* const kReachOfJson =
    "UPDATE privacy_score.baseline SET reach = ($1::pg_catalog.jsonb->>'reach')::pg_catalog.int8, "
    "subjects = ($1::pg_catalog.jsonb->>'subjects')::pg_catalog.int8, "
    "subject_columns = ($1::pg_catalog.jsonb->>'subject_columns')::pg_catalog.int4, "
    "day_reach = ($1::pg_catalog.jsonb->>'day_reach')::pg_catalog.int8, "
    "day_subjects = ($1::pg_catalog.jsonb->>'day_subjects')::pg_catalog.int8, "
    "day_subject_columns = ($1::pg_catalog.jsonb->>'day_subject_columns')::pg_catalog.int4, "
    "cells = COALESCE(($1::pg_catalog.jsonb->>'cells')::pg_catalog.bool, false), "
    "contexts = CASE WHEN pg_catalog.jsonb_typeof($1::pg_catalog.jsonb->'contexts') = 'object' THEN "
    "$1::pg_catalog.jsonb->'contexts' END WHERE id = $2::pg_catalog.int8";

// Whether the id of each abstraction is the fingerprint of its tokens; else a baseline could bring false tokens in.
bool IdsFitTokens(const char* baseline) {
  StringInfoData wire;
  initStringInfo(&wire);
  const char* args[] = {baseline};
  AppendSection<TokenSection>(
      &wire,
      "SELECT a.e->>'id' AS id, t.token FROM pg_catalog.jsonb_array_elements($1::pg_catalog.jsonb->'abstractions') "
      "WITH ORDINALITY a(e, n), pg_catalog.jsonb_array_elements_text(a.e->'tokens') WITH ORDINALITY t(token, n) "
      "ORDER BY a.n, t.n",
      1, args);
  bool fit = true;
  CallCoreOrRaise([&] {
    std::map<std::string, privacy_score::Tokens> abstractions;
    privacy_score::WireReader reader(WireBytes(&wire));
    for (const Row& row : reader.Section(TokenSection::kColumns))
      abstractions[std::string(*row[TokenSection::kId])].emplace_back(*row[TokenSection::kToken]);
    for (const auto& [id, tokens] : abstractions) fit &= id == std::to_string(privacy_score::Fingerprint(tokens));
  });
  return fit;
}

constexpr int kUsualDays = 30;

struct DayRange {
  DateADT from, to;
};

// The days that set_baseline() is given: up to yesterday, and thirty of them.
DayRange DaysOf(FunctionCallInfo fcinfo) {
  const DateADT to = PG_ARGISNULL(2) ? DayOf(GetCurrentTimestamp()) - 1 : PG_GETARG_DATEADT(2);
  if (!PG_ARGISNULL(1)) return {PG_GETARG_DATEADT(1), to};
  return {DATE_NOT_FINITE(to) ? DATEVAL_NOBEGIN : to - (kUsualDays - 1), to};
}

constexpr const char* kWithoutEndUser = "Without an end user it is the baseline of all who work under the role.";

// The argument that names an end user; null for none.
const char* EndUserArgument(FunctionCallInfo fcinfo, int argument) {
  if (PG_NARGS() <= argument) RequireCurrentExtension();  // declared by an older version
  if (PG_ARGISNULL(argument)) return nullptr;
  const char* end_user = text_to_cstring(PG_GETARG_TEXT_PP(argument));
  RequirePerson(end_user, kWithoutEndUser);
  return end_user;
}

// Sees to it that a baseline that was put in force, or out of it, is noticed.
void AnnounceBaseline(const char* role) {
  ConcernBaseline(role);
  NoteDeclaration();
}

void RefuseWithoutSessions(const char* role, const char* end_user, const char* from_day, const char* to_day) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("%s has no recorded sessions from %s to %s", PrincipalText(role, end_user), from_day, to_day),
                  errhint("privacy_score.stat_days shows which days have been recorded; flush() writes the last "
                          "second. The default is the thirty days that end yesterday.")));
}

}  // namespace

// set_baseline(role, from_day, to_day, end_user)
Datum ps_set_baseline(PG_FUNCTION_ARGS) {
  RequirePrimary("set_baseline");
  RequireArgument(fcinfo, 0, "role");
  const char* role = NameStr(*PG_GETARG_NAME(0));
  const char* end_user = EndUserArgument(fcinfo, 3);
  const DayRange days = DaysOf(fcinfo);
  RequireDays(days.from, days.to);
  const char* from_day = TextOfDay(days.from);
  const char* to_day = TextOfDay(days.to);
  const char* made_by = GetUserNameFromId(GetUserId(), false);
  auto* text = NewCoreObject<BaselineText>();
  const privacy_score::ScoreSettings settings = ScoreSettingsInForce();
  StringInfoData wire;
  initStringInfo(&wire);
  InternalScope scope;
  EnterInternal(&scope);
  KeepAbstractions();
  AppendSessions(&wire, role, from_day, to_day, end_user);
  CallCoreOrRaise([&] { Summarise(WireBytes(&wire), settings, text); });
  const Oid role_id = get_role_oid(role, true);
  const bool exists = OidIsValid(role_id);
  if (text->sessions == 0) {
    if (end_user == nullptr) RequireKnownRole(role, role_id);
    RefuseWithoutSessions(role, end_user, from_day, to_day);
  }
  const char* id = NewBaseline(role, end_user, from_day, to_day, TextOfInteger(text->sessions), made_by);
  const char* id_args[] = {id};
  RunInternal(kReachOfSessions, 1, id_args);
  RunInternal(kContextsOfSessions, 1, id_args);
  const char* ngrams[] = {id, text->ngrams.c_str(), text->ngram_counts.c_str()};
  RunInternal(
      "INSERT INTO privacy_score.baseline_ngram (baseline_id, ngram, count) SELECT $1::pg_catalog.int8, "
      "u.n::pg_catalog.int8[], u.c FROM ROWS FROM (pg_catalog.unnest($2::text[]), "
      "pg_catalog.unnest($3::pg_catalog.int8[])) u(n, c)",
      3, ngrams);
  const char* sets[] = {id, text->sets.c_str(), text->set_counts.c_str()};
  RunInternal(
      "INSERT INTO privacy_score.baseline_session (baseline_id, ids, count) SELECT $1::pg_catalog.int8, "
      "u.n::pg_catalog.int8[], u.c FROM ROWS FROM (pg_catalog.unnest($2::text[]), "
      "pg_catalog.unnest($3::pg_catalog.int8[])) u(n, c)",
      3, sets);
  LeaveInternal(&scope);
  AnnounceBaseline(role);
  if (!exists)
    ereport(NOTICE, (errmsg("there is no role \"%s\" in this server", role),
                     errdetail("Its recorded sessions are of a role that was dropped, or come from elsewhere.")));
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
    ereport(NOTICE, (errmsg("the baseline of %s is made of the sessions from %s to %s", PrincipalText(role, end_user),
                            from_day, to_day)));
  WarnUnlessPreloaded();
  CheckBaselineInForce(role, end_user, true);
  PG_RETURN_INT64(text->distinct);
}

// activate_baseline(id): an earlier version back in force.
Datum ps_activate_baseline(PG_FUNCTION_ARGS) {
  RequirePrimary("activate_baseline");
  const char* args[] = {TextOfInteger(PG_GETARG_INT64(0))};
  InternalScope scope;
  EnterInternal(&scope);
  const char* role = InternalValue("SELECT role FROM privacy_score.baseline WHERE id = $1::pg_catalog.int8", 1, args);
  if (role == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("baseline %s does not exist", args[0]),
                    errhint("privacy_score.baselines lists the versions.")));
  const char* end_user =
      InternalValue("SELECT end_user FROM privacy_score.baseline WHERE id = $1::pg_catalog.int8", 1, args);
  const char* active =
      InternalValue("SELECT active FROM privacy_score.baseline WHERE id = $1::pg_catalog.int8", 1, args);
  if (strcmp(active, "t") != 0) {
    PutOutOfForce(role, end_user);
    RunInternal("UPDATE privacy_score.baseline SET active = true WHERE id = $1::pg_catalog.int8", 1, args);
  }
  LeaveInternal(&scope);
  AnnounceBaseline(role);
  CheckBaselineInForce(role, end_user, false);
  PG_RETURN_VOID();
}

// drop_baseline(role, end_user)
Datum ps_drop_baseline(PG_FUNCTION_ARGS) {
  RequirePrimary("drop_baseline");
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const char* role = NameStr(*PG_GETARG_NAME(0));
  const char* end_user = EndUserArgument(fcinfo, 1);
  InternalScope scope;
  EnterInternal(&scope);
  const bool dropped = PutOutOfForce(role, end_user);
  LeaveInternal(&scope);
  if (!dropped)
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("%s has no baseline", PrincipalText(role, end_user)),
             end_user == nullptr ? errhint("privacy_score.stat_roles shows the baselines.")
                                 : errhint("privacy_score.baselines shows those of end users, beside the roles'.")));
  AnnounceBaseline(role);
  PG_RETURN_VOID();
}

// import_baseline(baseline)
Datum ps_import_baseline(PG_FUNCTION_ARGS) {
  RequirePrimary("import_baseline");
  const char* text = JsonbToCString(nullptr, &PG_GETARG_JSONB_P(0)->root, VARSIZE(PG_GETARG_JSONB_P(0)));
  const char* made_by = GetUserNameFromId(GetUserId(), false);
  const char* args[] = {text};
  InternalScope scope;
  EnterInternal(&scope);
  KeepAbstractions();
  const char* valid = InternalValue(kIsBaseline, 1, args);
  if (valid == nullptr || strcmp(valid, "t") != 0 || !IdsFitTokens(text))
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("baseline is not of the form of export_baseline()"),
             errhint("Version 1 has role, from_day, to_day, sessions, ngrams, session_sets and abstractions; "
                     "version 2, of an end user, has end_user as well.")));
  const char* role = InternalValue("SELECT $1::pg_catalog.jsonb->>'role'", 1, args);
  const char* from_day = InternalValue("SELECT $1::pg_catalog.jsonb->>'from_day'", 1, args);
  const char* to_day = InternalValue("SELECT $1::pg_catalog.jsonb->>'to_day'", 1, args);
  const char* sessions = InternalValue("SELECT $1::pg_catalog.jsonb->>'sessions'", 1, args);
  const char* end_user = InternalValue("SELECT $1::pg_catalog.jsonb->>'end_user'", 1, args);
  if (end_user != nullptr) RequirePerson(end_user, kWithoutEndUser);
  const char* id = NewBaseline(role, end_user, from_day, to_day, sessions, made_by);
  const char* rows[] = {text, id};
  RunInternal(kReachOfJson, 2, rows);
  RunInternal(
      "INSERT INTO privacy_score.abstraction (id, tokens, first_seen, last_seen) "
      "SELECT (a->>'id')::pg_catalog.int8, ARRAY(SELECT t FROM pg_catalog.jsonb_array_elements_text(a->'tokens') "
      "WITH ORDINALITY x(t, n) ORDER BY n), pg_catalog.now(), pg_catalog.now() "
      "FROM pg_catalog.jsonb_array_elements($1::pg_catalog.jsonb->'abstractions') a ON CONFLICT DO NOTHING",
      1, rows);
  RunInternal(
      "INSERT INTO privacy_score.baseline_session (baseline_id, count, ids) "
      "SELECT $2::pg_catalog.int8, (s->>'count')::pg_catalog.int8, ARRAY(SELECT i::pg_catalog.int8 FROM "
      "pg_catalog.jsonb_array_elements_text(s->'ids') i) "
      "FROM pg_catalog.jsonb_array_elements($1::pg_catalog.jsonb->'session_sets') s",
      2, rows);
  const uint64 ngrams = RunInternal(
      "INSERT INTO privacy_score.baseline_ngram (baseline_id, ngram, count) "
      "SELECT $2::pg_catalog.int8, ARRAY(SELECT i::pg_catalog.int8 FROM "
      "pg_catalog.jsonb_array_elements_text(n->'ngram') WITH ORDINALITY x(i, o) ORDER BY o), "
      "(n->>'count')::pg_catalog.int8 FROM pg_catalog.jsonb_array_elements($1::pg_catalog.jsonb->'ngrams') n",
      2, rows);
  RunInternal("SELECT privacy_score.requote_history()", 0, nullptr);
  LeaveInternal(&scope);
  AnnounceBaseline(role);
  CheckBaselineInForce(role, end_user, false);
  PG_RETURN_INT64(static_cast<int64>(ngrams));
}

}  // namespace privacy_score

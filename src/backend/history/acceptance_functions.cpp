/*
 * acceptance_functions.cpp - accepting what raised an alert, confirming and withdrawing that.
 *
 * Who accepts is who has logged in: neither SET ROLE nor SET SESSION AUTHORIZATION makes two people of one. What raised
 * the alert is accepted as its session is recorded by now: an alarm is raised while a loop runs, and the loop is meant.
 * A NOTICE says how much that is. It is kept beside the baselines and read with them (model_wire.cpp).
 */
#include "backend/catalog/function_arguments.hpp"
#include "backend/history/end_user_argument.hpp"
#include "backend/rates/model_wire.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/flush_request.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/watching.hpp"
#include "backend/worker/worker_alarms.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
}

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/server/core_call.hpp"
#include "backend/server/one_of.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/installed_extension.hpp"
#include "core/detection/calibration_bytes.hpp"
#include "core/detection/detection_sections.hpp"
#include "core/detection/raised_by.hpp"
#include "core/scoring/history.hpp"
#include "core/scoring/model_sections.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_accept_alert);
PG_FUNCTION_INFO_V1(ps_confirm_acceptance);
PG_FUNCTION_INFO_V1(ps_withdraw_acceptance);
}

namespace {

// What is known of the alert, as text.
struct Alert {
  const char* id;
  const char *role, *end_user, *session, *kind, *at;  // end_user: null for none
  bool blocked;
  // Of the detail; null: none. `statement`: the last of its n-gram, as a line of tokens.
  const char *figure, *cause, *statement, *threshold, *scope, *value;
};

// What is accepted, as array literals.
struct Taken {
  std::string ngrams = "{}", ids = "{}";
  std::string figures = "{}", heights = "{}";
  std::string tokens;  // of a statement that was refused and so is not recorded, an array; empty: none
};

// Who has logged in.
const char* Login() { return GetUserNameFromId(GetAuthenticatedUserId(), false); }

// Raises 42501 for whose alert it is: whoever has logged in as the role or has become it, and, where statements count
// for the current user, whoever may become it.
void RequireAnother(const char* role, const char* what) {
  const Oid id = get_role_oid(role, true);
  const bool may_become = ps_settings.principal == static_cast<int>(Principal::kCurrentUser) && OidIsValid(id) &&
                          is_member_of_role_nosuper(GetAuthenticatedUserId(), id);
  if (strcmp(Login(), role) != 0 &&
      (!OidIsValid(id) || (id != GetSessionUserId() && id != GetUserId() && id != GetOuterUserId())) && !may_become)
    return;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("%s is of role \"%s\", who cannot accept it", what, role),
           errhint("Somebody else has to, logged in as another role.")));
}

// A field of the row that was read last, kept beyond SPI; null for NULL.
const char* AlertField(int number) {
  const char* text = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number);
  if (text == nullptr) return nullptr;
  const Size size = strlen(text) + 1;
  return static_cast<const char*>(memcpy(SPI_palloc(size), text, size));
}

// Reads the alert and keeps it locked. Inside an internal scope.
Alert ReadAlert(const char* id) {
  Oid types[] = {TEXTOID};
  Datum values[] = {CStringGetTextDatum(id)};
  const int result = SPI_execute_with_args(
      "SELECT a.role, a.end_user, a.session, a.kind, (EXTRACT(epoch FROM a.at - '2000-01-01 "
      "00:00:00+00'::pg_catalog.timestamptz) * 1000000)::pg_catalog.int8, a.blocked, a.detail->>'figure', "
      "a.detail->>'cause', a.detail->'ngram'->>-1, a.detail->>'threshold', a.detail->>'scope', a.detail->>'value' "
      "FROM privacy_score.alert a WHERE a.id = $1::pg_catalog.int8 FOR UPDATE",
      lengthof(types), types, values, nullptr, false, 1);
  if (result != SPI_OK_SELECT) elog(ERROR, "could not read an alert");
  if (SPI_processed == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("alert %s does not exist", id),
                    errhint("privacy_score.alerts lists the alerts.")));
  return {id,
          AlertField(1),
          AlertField(2),
          AlertField(3),
          AlertField(4),
          AlertField(5),
          strcmp(AlertField(6), "t") == 0,
          AlertField(7),
          AlertField(8),
          AlertField(9),
          AlertField(10),
          AlertField(11),
          AlertField(12)};
}

void RequireAcceptable(const Alert* alert) {
  if (!IsOneOf(alert->kind, {"unusual", "drip", "session", "daily", "normalised", "ngram", "reach"}))
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("alerts of kind %s cannot be accepted", alert->kind),
             errhint("What can be are kinds unusual, drip, session, daily, normalised, ngram and reach; "
                     "acknowledge_alert() marks others as seen.")));
  if (strcmp(alert->kind, "unusual") == 0 && alert->figure == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("alert %s only says that a statement was refused", alert->id),
                    errhint("Accept the alarm that came before it.")));
  const char* args[] = {alert->id, alert->role, alert->end_user};
  const char* before = InternalValue(
      "SELECT a.id FROM privacy_score.acceptance a WHERE a.alert_id = $1::pg_catalog.int8 AND a.ended_at IS NULL "
      "AND (a.expires IS NULL OR a.expires > pg_catalog.clock_timestamp()) AND a.role = $2::pg_catalog.name",
      2, args);
  if (before != nullptr)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("alert %s is accepted already", alert->id),
             errhint("It is acceptance %s; withdraw_acceptance() ends it.", before)));
  const char* baseline = InternalValue(
      "SELECT b.id FROM privacy_score.baseline b WHERE b.role = $1::pg_catalog.name AND b.active "
      "AND (b.end_user IS NULL OR b.end_user = $2) LIMIT 1",
      2, args + 1);
  if (baseline == nullptr)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s has no baseline", PrincipalText(alert->role, alert->end_user)),
                    errhint("Everything is new then; set_baseline() makes one.")));
}

#define SQL_OF_PRINCIPAL "s.role = $1::pg_catalog.name AND s.end_user IS NOT DISTINCT FROM $2"
// The session of the alert that is raised by role $1, end user $2, in session $3 at the moment $4.
#define SQL_OF_ALERT                                                                    \
  "(SELECT s.id, s.day, s.last_at FROM privacy_score.session s WHERE " SQL_OF_PRINCIPAL \
  " AND s.session = $3 AND s.started <= " SQL_MOMENT("$4") " ORDER BY s.started DESC, s.id DESC LIMIT 1)"

// The rows of the sessions that an alert tells of: its own; the principal's of that day; those since when what a drip
// adds up to was last nothing.
const char* SessionsOf(const Alert* alert) {
  const char* args[] = {alert->role, alert->end_user, alert->session, alert->at};
  if (strcmp(alert->kind, "daily") == 0)
    return InternalValue("SELECT pg_catalog.array_agg(s.id) FROM privacy_score.session s, " SQL_OF_ALERT
                         " o WHERE " SQL_OF_PRINCIPAL " AND s.day = o.day",
                         lengthof(args), args);
  if (strcmp(alert->kind, "drip") == 0) {
    const char* sum = alert->cause != nullptr && strcmp(alert->cause, "new_drip") == 0 ? "new_drip" : "drip";
    return InternalValue(
        psprintf("SELECT pg_catalog.array_agg(x.id) FROM (SELECT s.id, pg_catalog.min(s.%s) OVER (ORDER BY s.last_at "
                 "DESC, s.id DESC) AS least FROM privacy_score.session s, " SQL_OF_ALERT " o WHERE " SQL_OF_PRINCIPAL
                 " AND s.last_at <= o.last_at AND s.%s IS NOT NULL) x WHERE x.least > 0",
                 sum, sum),
        lengthof(args), args);
  }
  return InternalValue("SELECT pg_catalog.array_agg(o.id) FROM " SQL_OF_ALERT " o", lengthof(args), args);
}

// The n-grams of these sessions. Inside an internal scope.
void TakeStatements(const char* sessions, Taken* taken) {
  const char* args[] = {sessions};
  StringInfoData wire;
  initStringInfo(&wire);
  AppendLongSection<SessionSection>(
      &wire,
      "SELECT s.id, s.role, pg_catalog.to_char(s.day, 'YYYY-MM-DD') AS day, s.session, p.ids, p.runs, p.rows, s.reach, "
      "s.subjects, s.subject_columns, s.end_user FROM privacy_score.session s JOIN privacy_score.session_part p "
      "ON p.session_id = s.id WHERE s.id = ANY ($1::pg_catalog.int8[]) ORDER BY s.role, s.day, s.started, s.id, p.part",
      lengthof(args), args);
  CallCoreOrRaise([&] {
    const privacy_score::BaselineRows rows = privacy_score::BaselineOfHistory(WireBytes(&wire));
    std::vector<std::string> ngrams;
    for (const auto& row : rows.ngrams.rows) ngrams.push_back(*row[NGramRow::kNgram]);
    taken->ngrams = privacy_score::ArrayText(ngrams);
  });
}

// The statement that was refused, which is not recorded.
void TakeRefused(const Alert* alert, Taken* taken) {
  if (alert->statement == nullptr) return;
  CallCoreOrRaise([&] {
    const Tokens tokens = TokensOfLine(alert->statement);
    NGram ngram{};
    ngram.back() = Fingerprint(tokens);
    taken->ngrams = ArrayText(std::vector<std::string>{TextOf(ngram)});
    taken->tokens = ArrayText(tokens);
  });
}

#define SQL_OF_SESSIONS "FROM privacy_score.session s WHERE s.id = ANY ($1::pg_catalog.int8[])"

// How far the sessions of an alarm went by what made them unusual; returns whether statements did.
bool TakeFigures(const Alert* alert, const char* sessions, Taken* taken) {
  StringInfoData wire;
  initStringInfo(&wire);
  const char* args[] = {sessions, alert->id};
  AppendSection<ExtentSection>(
      &wire,
      "SELECT pg_catalog.max(s.addressed) AS addressed, pg_catalog.max(s.person) AS person, "
      "pg_catalog.max(s.most_rows) AS most_rows, "
      "(SELECT pg_catalog.max(y.run)::pg_catalog.int8 FROM (SELECT pg_catalog.sum(r.run) AS run FROM "
      "privacy_score.session_part p, ROWS FROM (pg_catalog.unnest(p.ids), pg_catalog.unnest(p.runs)) r(id, "
      "run) WHERE p.session_id = ANY ($1::pg_catalog.int8[]) AND r.run > 0 AND r.id <> 0 GROUP BY "
      "p.session_id, r.id) y) AS repeats, pg_catalog.max(s.known) AS known, pg_catalog.max(s.differ) AS "
      "differ " SQL_OF_SESSIONS,
      1, args);
  AppendSection<ReasonSection>(
      &wire,
      "SELECT s.unusual_figure AS figure " SQL_OF_SESSIONS
      " AND s.unusual_figure IS NOT NULL UNION "
      "SELECT a.detail->>'figure' FROM privacy_score.alert a WHERE a.id = $2::pg_catalog.int8 AND "
      "a.detail->>'figure' IS NOT NULL",
      2, args);
  AppendSection<AlertFigureSection>(
      &wire,
      "SELECT f.key AS figure, f.value FROM privacy_score.alert a, pg_catalog.jsonb_each_text(a.detail->'figures') f "
      "WHERE a.id = $1::pg_catalog.int8 AND f.value IS NOT NULL",
      1, args + 1);
  const bool drip = strcmp(alert->kind, "drip") == 0;
  const bytea* calibration = CalibrationInForce();
  bool statements = drip;
  CallCoreOrRaise([&] {
    SessionFigures figures;
    WireReader reader(WireBytes(&wire));
    for (const Row& row : reader.Section(ExtentSection::kColumns)) {
      figures[Figure::kAddressed] = CountIn(row[ExtentSection::kAddressed]);
      figures[Figure::kPerson] = CountIn(row[ExtentSection::kPerson]);
      if (const Field& rows = row[ExtentSection::kMostRows]) figures[Figure::kVolume] = VolumeOf(ParseInteger(*rows));
      figures[Figure::kRepeats] = CountIn(row[ExtentSection::kRepeats]);
      figures[Figure::kKnown] = CountIn(row[ExtentSection::kKnown]);
      figures[Figure::kDiffer] = CountIn(row[ExtentSection::kDiffer]);
    }
    std::vector<Figure> reasons;
    for (const Row& row : reader.Section(ReasonSection::kColumns))
      if (const auto figure = FigureNamed(*row[ReasonSection::kFigure])) reasons.push_back(*figure);
    for (const Row& row : reader.Section(AlertFigureSection::kColumns)) {
      const std::optional<Figure> figure = FigureNamed(*row[AlertFigureSection::kFigure]);
      if (figure && !figures[*figure]) figures[*figure] = ParseDouble(*row[AlertFigureSection::kValue]);
    }
    std::optional<RoleCalibration> of_role;
    if (calibration != nullptr)
      of_role = ReadRoleCalibration(
          {VARDATA_ANY(calibration), static_cast<std::size_t>(VARSIZE_ANY_EXHDR(calibration))}, alert->role);
    double above = alert->threshold == nullptr ? 0 : ParseDouble(alert->threshold);
    if (drip && of_role) above = of_role->alarm.drip.from;
    const RaisedBy raised = FindRaisedBy(of_role ? &*of_role : nullptr, figures, above, reasons);
    statements = statements || raised.statements;
    std::vector<std::string> names, heights;
    for (const Figure figure : raised.heights) {
      names.emplace_back(NameOf(figure));
      heights.push_back(TextOf(*figures[figure]));
    }
    taken->figures = ArrayText(names);
    taken->heights = ArrayText(heights);
  });
  return statements;
}

// Of reach: what it came to.
void TakeReach(const Alert* alert, Taken* taken) {
  if (alert->figure == nullptr || alert->value == nullptr) return;
  const bool of_day = alert->scope != nullptr && strcmp(alert->scope, "day") == 0;
  CallCoreOrRaise([&] {
    taken->figures = ArrayText(std::vector<std::string>{std::string(of_day ? "day_" : "") + alert->figure});
    taken->heights = ArrayText(std::vector<std::string>{alert->value});
  });
}

// What the alert was raised by. Inside an internal scope.
void TakeRaisedBy(const Alert* alert, Taken* taken) {
  if (strcmp(alert->kind, "reach") == 0) return TakeReach(alert, taken);
  if (alert->blocked) return TakeRefused(alert, taken);
  const char* sessions = SessionsOf(alert);
  if (sessions == nullptr)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the session of alert %s is not recorded any more", alert->id),
                    errhint("\"privacy_score.history_retention\" says how long sessions are kept.")));
  if (IsOneOf(alert->kind, {"unusual", "drip"}) && !TakeFigures(alert, sessions, taken)) return;
  TakeStatements(sessions, taken);
}

// Writes what is accepted and returns its id; null when the baselines lack nothing of it.
char* Write(const Alert* alert, const char* for_end_user, const Taken* taken, const char* note, const char* expires) {
  if (!taken->tokens.empty()) {
    const char* args[] = {taken->ngrams.c_str(), taken->tokens.c_str()};
    RunInternal(
        "INSERT INTO privacy_score.abstraction (id, tokens, first_seen, last_seen) SELECT n.ngram[6], $2::text[], "
        "pg_catalog.now(), pg_catalog.now() FROM (SELECT pg_catalog.unnest($1::text[])::pg_catalog.int8[]) n(ngram) "
        "ON CONFLICT DO NOTHING",
        2, args);
  }
  const char* args[] = {alert->id,
                        alert->role,
                        for_end_user,
                        alert->kind,
                        note,
                        Login(),
                        expires,
                        ps_settings.four_eyes ? "t" : "f",
                        taken->ngrams.c_str(),
                        taken->figures.c_str(),
                        taken->heights.c_str(),
                        alert->end_user};
  // What each baseline that the principal is held against has is nothing to accept.
  return InternalValue(
      "WITH b AS MATERIALIZED (SELECT b.id FROM privacy_score.baseline b WHERE b.role = $2::pg_catalog.name AND "
      "b.active AND (b.end_user IS NULL OR b.end_user = $12)), "
      "n AS MATERIALIZED (SELECT x.ngram FROM (SELECT pg_catalog.unnest($9::text[])::pg_catalog.int8[]) x(ngram) "
      "WHERE (SELECT pg_catalog.count(*) FROM b JOIN privacy_score.baseline_ngram g ON g.baseline_id = b.id AND "
      "g.ngram = x.ngram) < (SELECT pg_catalog.count(*) FROM b)), "
      "k AS MATERIALIZED (SELECT u.id FROM (SELECT DISTINCT b.id AS b, u.id FROM b JOIN privacy_score.baseline_session s "
      "ON s.baseline_id = b.id, pg_catalog.unnest(s.ids) u(id)) u GROUP BY u.id HAVING pg_catalog.count(*) = (SELECT "
      "pg_catalog.count(*) FROM b)), "
      "i AS MATERIALIZED (SELECT DISTINCT u.id FROM n, pg_catalog.unnest(n.ngram) u(id) WHERE u.id <> 0 AND u.id NOT IN "
      "(SELECT k.id FROM k)), "
      "f AS MATERIALIZED (SELECT * FROM ROWS FROM (pg_catalog.unnest($10::text[]), "
      "pg_catalog.unnest($11::pg_catalog.float8[])) f(figure, height)), "
      "a AS (INSERT INTO privacy_score.acceptance (role, end_user, alert_id, kind, ids, note, accepted_by, accepted_at, "
      "expires, needs_second) SELECT $2::pg_catalog.name, $3, $1::pg_catalog.int8, $4, ARRAY(SELECT i.id FROM i ORDER "
      "BY 1), $5, $6::pg_catalog.name, pg_catalog.clock_timestamp(), CASE WHEN $7 IS NOT NULL THEN " SQL_MOMENT("$7") " END, $8::pg_catalog.bool "
      "WHERE EXISTS (SELECT FROM n) OR EXISTS (SELECT FROM f) RETURNING id), "
      "wn AS (INSERT INTO privacy_score.acceptance_ngram SELECT a.id, n.ngram FROM a, n), "
      "wf AS (INSERT INTO privacy_score.acceptance_figure SELECT a.id, f.figure, f.height FROM a, f) "
      "SELECT a.id FROM a",
      lengthof(args), args);
}

// Has the change noticed, as that of a baseline.
void AnnounceAcceptance(const char* role) {
  ConcernBaseline(role);
  NoteDeclaration();
}

// The role that an acceptance is of, which is kept locked. Inside an internal scope.
const char* RoleOfAcceptance(const char* id) {
  RunInternal("SELECT FROM privacy_score.acceptance a WHERE a.id = $1::pg_catalog.int8 FOR UPDATE", 1, &id);
  const char* role =
      InternalValue("SELECT a.role FROM privacy_score.acceptance a WHERE a.id = $1::pg_catalog.int8", 1, &id);
  if (role == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("acceptance %s does not exist", id),
                    errhint("privacy_score.accepted lists what is accepted.")));
  const char* ended = InternalValue(
      "SELECT 1 FROM privacy_score.acceptance a WHERE a.id = $1::pg_catalog.int8 AND (a.ended_at IS NOT NULL OR "
      "a.expires <= pg_catalog.clock_timestamp())",
      1, &id);
  if (ended != nullptr)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("acceptance %s has ended", id),
                    errhint("accept_alert() accepts an alert anew.")));
  return role;
}

const char* NoteArgument(FunctionCallInfo fcinfo) {
  RequireArgument(fcinfo, 1, "note");
  const char* note = text_to_cstring(PG_GETARG_TEXT_PP(1));
  if (strspn(note, " \t\r\n") == strlen(note))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("note must not be empty"),
                    errhint("It says why the alert is right to be ignored.")));
  return note;
}

// The moment of an argument, as text that no DateStyle can misread; null for none.
const char* ExpiresArgument(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(2)) return nullptr;
  const TimestampTz expires = PG_GETARG_TIMESTAMPTZ(2);
  if (TIMESTAMP_IS_NOEND(expires)) return nullptr;
  if (TIMESTAMP_NOT_FINITE(expires) || expires <= GetCurrentTimestamp())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("expires must be in the future"),
                    errhint("NULL: until it is withdrawn.")));
  return TextOfInteger(expires);
}

// Whether it is for all of the role.
bool ScopeArgument(FunctionCallInfo fcinfo) {
  RequireArgument(fcinfo, 3, "scope");
  const char* scope = text_to_cstring(PG_GETARG_TEXT_PP(3));
  const bool role = strcmp(scope, "role") == 0;
  if (!role && strcmp(scope, "principal") != 0)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("scope must be principal or role, not \"%s\"", scope),
             errhint("principal: the end user of the alert, or the role where it has none; role: all who work "
                     "under it.")));
  return role;
}

}  // namespace

// accept_alert(id, note, expires, scope)
Datum ps_accept_alert(PG_FUNCTION_ARGS) {
  RequirePrimary("accept_alert");
  RequireArgument(fcinfo, 0, "id");
  const char* id = TextOfInteger(PG_GETARG_INT64(0));
  const char* note = NoteArgument(fcinfo);
  const char* moment = ExpiresArgument(fcinfo);
  const bool for_role = ScopeArgument(fcinfo);
  auto* taken = NewCoreObject<Taken>();
  // What the session has done by now, and not what was written of it.
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot != nullptr) AwaitFlush(slot);
  InternalScope scope;
  EnterInternal(&scope);
  const Alert alert = ReadAlert(id);
  LeaveInternal(&scope);
  RequireAnother(alert.role, psprintf("alert %s", id));
  EnterInternal(&scope);
  KeepAbstractions();
  RequireAcceptable(&alert);
  TakeRaisedBy(&alert, taken);
  const char* accepted = Write(&alert, for_role ? nullptr : alert.end_user, taken, note, moment);
  if (accepted == nullptr)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("nothing of alert %s is left to accept", id),
             errhint("The baseline in force has all that its session did.")));
  const char* args[] = {id, Login()};
  RunInternal(
      "UPDATE privacy_score.alert SET acknowledged_at = pg_catalog.now(), acknowledged_by = $2::pg_catalog.name "
      "WHERE id = $1::pg_catalog.int8 AND acknowledged_at IS NULL",
      2, args);
  const char* what =
      InternalValue("SELECT a.what FROM privacy_score.accepted a WHERE a.id = $1::pg_catalog.int8", 1, &accepted);
  LeaveInternal(&scope);
  ereport(NOTICE,
          (errmsg("accepted for %s: %s", PrincipalText(alert.role, for_role ? nullptr : alert.end_user), what)));
  if (ps_settings.four_eyes)
    ereport(NOTICE, (errmsg("acceptance %s waits for a second person", accepted),
                     errhint("Somebody else puts it in force with privacy_score.confirm_acceptance(%s).", accepted)));
  else
    AnnounceAcceptance(alert.role);
  PG_RETURN_INT64(strtoll(accepted, nullptr, 10));
}

// confirm_acceptance(id)
Datum ps_confirm_acceptance(PG_FUNCTION_ARGS) {
  RequirePrimary("confirm_acceptance");
  const char* args[] = {TextOfInteger(PG_GETARG_INT64(0)), Login()};
  InternalScope scope;
  EnterInternal(&scope);
  const char* role = RoleOfAcceptance(args[0]);
  const char* by = InternalValue(
      "SELECT a.accepted_by FROM privacy_score.acceptance a WHERE a.id = $1::pg_catalog.int8 AND a.needs_second AND "
      "a.confirmed_at IS NULL",
      1, args);
  LeaveInternal(&scope);
  if (by == nullptr)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("acceptance %s waits for nobody", args[0]),
             errhint("It is in force. privacy_score.accepted shows which wait.")));
  if (strcmp(by, args[1]) == 0 || strcmp(by, GetUserNameFromId(GetSessionUserId(), false)) == 0)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("acceptance %s was accepted by \"%s\", who cannot confirm it", args[0], by),
                    errhint("A second person has to, logged in as another role.")));
  RequireAnother(role, psprintf("acceptance %s", args[0]));
  EnterInternal(&scope);
  RunInternal(
      "UPDATE privacy_score.acceptance SET confirmed_by = $2::pg_catalog.name, confirmed_at = "
      "pg_catalog.clock_timestamp() WHERE id = $1::pg_catalog.int8",
      2, args);
  LeaveInternal(&scope);
  AnnounceAcceptance(role);
  PG_RETURN_VOID();
}

// withdraw_acceptance(id)
Datum ps_withdraw_acceptance(PG_FUNCTION_ARGS) {
  RequirePrimary("withdraw_acceptance");
  const char* args[] = {TextOfInteger(PG_GETARG_INT64(0)), Login()};
  InternalScope scope;
  EnterInternal(&scope);
  const char* role = RoleOfAcceptance(args[0]);
  RunInternal(
      "UPDATE privacy_score.acceptance SET withdrawn_by = $2::pg_catalog.name, ended_at = pg_catalog.clock_timestamp() "
      "WHERE id = $1::pg_catalog.int8",
      2, args);
  LeaveInternal(&scope);
  AnnounceAcceptance(role);
  PG_RETURN_VOID();
}

}  // namespace privacy_score

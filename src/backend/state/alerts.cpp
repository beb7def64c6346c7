/*
 * alerts.cpp - see alerts.hpp.
 */
#include "backend/state/alerts.hpp"

extern "C" {
#include "access/xact.h"
#include "commands/dbcommands.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
}

#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/alert_line.hpp"
#include "backend/state/alert_signature.hpp"
#include "backend/state/connection_context.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/role_access.hpp"

namespace privacy_score {

namespace {

constexpr const char* kChannel = "privacy_score_alert";
char database_name[NAMEDATALEN];

// The arguments of the statements below, as text.
struct AlertText {
  const char* at;      // microseconds since 2000, which no DateStyle can misread
  const char* window;  // seconds
  const char* score;
  const char* limit;
  const char* blocked;
  const char* severity;
  const char* detail;
  const char* end_user;
  // Null where there is no connection.
  const char *address, *program, *tls, *authentication;
};

// Those of the baseline that somebody is judged by, if any (Model::BaselineFor).
#define SQL_CONTEXTS_OF(role_sql, end_user_sql)                              \
  "SELECT b.contexts FROM privacy_score.baseline b WHERE b.role = " role_sql \
  " AND b.active AND (b.end_user IS NULL OR b.end_user = " end_user_sql ") ORDER BY b.end_user NULLS LAST LIMIT 1"

// Raises the open alert of the same cause: first and last time, occurrences, severity; what belongs to the greatest
// score is kept together. Returns its id, null when there is none; `escalated` when its severity rose. One that
// somebody is just acknowledging counts as acknowledged.
char* RaiseOpenAlert(const AlertRecord* alert, const AlertText* text, bool* escalated) {
  const char* args[] = {text->at,       alert->role,   alert->session, alert->kind,  text->score,
                        text->limit,    text->blocked, text->severity, text->detail, text->window,
                        text->end_user, text->address, text->program,  text->tls,    text->authentication};
  char* raised =
      InternalValue("WITH g AS (SELECT " SQL_MOMENT("$1")
                    " AS at, $5::pg_catalog.float8 AS score, $9::pg_catalog.jsonb AS detail), "
                    "o AS (SELECT a.id, a.severity FROM privacy_score.alert a, g WHERE a.role = $2::pg_catalog.name "
                    "AND a.end_user IS NOT DISTINCT FROM NULLIF($11, '') AND a.kind = $4 "
                    "AND a.blocked = $7::pg_catalog.bool AND a.acknowledged_at IS NULL "
                    "AND a.cause = COALESCE(g.detail->>'cause', g.detail->>'ngram', '') "
                    "AND a.at > g.at - pg_catalog.make_interval(secs => $10::pg_catalog.float8) "
                    "ORDER BY a.at DESC LIMIT 1 FOR UPDATE OF a SKIP LOCKED) "
                    "UPDATE privacy_score.alert a SET occurrences = a.occurrences + 1, at = LEAST(a.at, g.at), "
                    "last_at = GREATEST(a.last_at, g.at), "
                    "severity = CASE WHEN a.severity = 'critical' OR $8 = 'info' THEN a.severity ELSE $8 END, "
                    "score = CASE WHEN g.score > a.score THEN g.score ELSE a.score END, "
                    "alert_limit = CASE WHEN g.score > a.score THEN $6::pg_catalog.float8 ELSE a.alert_limit END, "
                    "session = CASE WHEN g.score > a.score THEN $3 ELSE a.session END, "
                    "(client_addr, application_name, tls, auth_method, new_context) = "
                    "(SELECT c.* FROM (SELECT a.client_addr, a.application_name, a.tls, a.auth_method, a.new_context "
                    "WHERE NOT g.score > a.score UNION ALL SELECT $12::pg_catalog.inet, $13, $14::pg_catalog.bool, $15, "
                    "privacy_score.new_context((" SQL_CONTEXTS_OF("a.role", "a.end_user") "), g.at, $12::pg_catalog.inet, $13) WHERE g.score > a.score) c), "
                    "detail = CASE WHEN g.score > a.score THEN g.detail ELSE a.detail END "
                    "FROM o, g WHERE a.id = o.id "
                    "RETURNING a.id::text || CASE WHEN a.severity <> o.severity THEN '+' ELSE '' END",
                    15, args);
  if (raised == nullptr) return nullptr;
  char* mark = strchr(raised, '+');
  *escalated = mark != nullptr;
  if (mark != nullptr) *mark = '\0';
  return raised;
}

// Whether the role has so many open alerts of the kind that further causes share one.
bool TooManyCauses(const AlertRecord* alert, const AlertText* text) {
  const char* args[] = {
      text->at, alert->role, alert->kind, text->blocked, text->window, psprintf("%d", kMostCauses), text->end_user};
  const char* many = InternalValue(
      "SELECT pg_catalog.count(*) >= $6::pg_catalog.int8 FROM privacy_score.alert a WHERE a.role = $2::pg_catalog.name "
      "AND a.end_user IS NOT DISTINCT FROM NULLIF($7, '') AND a.kind = $3 AND a.blocked = $4::pg_catalog.bool AND "
      "a.acknowledged_at IS NULL "
      "AND a.at > " SQL_MOMENT("$1") " - pg_catalog.make_interval(secs => $5::pg_catalog.float8)",
      7, args);
  return many != nullptr && strcmp(many, "t") == 0;
}

char* WithCauseOthers(const char* detail) {
  const char* args[] = {detail};
  return InternalValue("SELECT $1::pg_catalog.jsonb || '{\"cause\": \"others\"}'::pg_catalog.jsonb", 1, args);
}

char* InsertAlert(const AlertRecord* alert, const AlertText* text) {
  const char* args[] = {text->at,      alert->role,   alert->session, alert->kind,         text->score,
                        text->limit,   text->blocked, text->severity, text->detail,        text->end_user,
                        text->address, text->program, text->tls,      text->authentication};
  return InternalValue(
      "INSERT INTO privacy_score.alert (end_user, at, last_at, role, session, kind, score, alert_limit, blocked, "
      "severity, "
      "detail, cause, client_addr, application_name, tls, auth_method, new_context) SELECT NULLIF($10, ''), j.at, "
      "j.at, $2::pg_catalog.name, $3, $4, $5::pg_catalog.float8, "
      "$6::pg_catalog.float8, "
      "$7::pg_catalog.bool, $8, j.detail, "
      "COALESCE(j.detail->>'cause', j.detail->>'ngram', ''), $11::pg_catalog.inet, $12, $13::pg_catalog.bool, $14, "
      "privacy_score.new_context(CASE WHEN $13 IS NOT NULL THEN (" SQL_CONTEXTS_OF("$2::pg_catalog.name", "$10") ") END, j.at, $11::pg_catalog.inet, $12) "
      "FROM (SELECT " SQL_MOMENT("$1") " AS at, $9::pg_catalog.jsonb AS detail) j RETURNING id",
      14, args);
}

// A payload that would be longer than NOTIFY allows with its signature goes without its detail.
void Notify(const char* id) {
  const char* args[] = {id};
  const char* payload = InternalValue(
      "WITH j AS (SELECT pg_catalog.jsonb_build_object('version', 1, 'id', a.id, 'at', a.at, 'role', a.role, "
      "'session', a.session, 'kind', a.kind, 'score', a.score, 'alert_limit', a.alert_limit, 'blocked', a.blocked, "
      "'severity', a.severity, 'occurrences', a.occurrences) || CASE WHEN a.end_user IS NULL THEN "
      "'{}'::pg_catalog.jsonb "
      "ELSE pg_catalog.jsonb_build_object('end_user', a.end_user) END || pg_catalog.jsonb_strip_nulls("
      "pg_catalog.jsonb_build_object('client_addr', a.client_addr, 'application_name', a.application_name, 'tls', "
      "a.tls, "
      "'auth_method', a.auth_method, 'new_context', a.new_context)) AS brief, a.detail "
      "FROM privacy_score.alert a WHERE a.id = $1::pg_catalog.int8) "
      "SELECT CASE WHEN pg_catalog.octet_length("
      "(j.brief || pg_catalog.jsonb_build_object('detail', j.detail))::text) < 7900 "
      "THEN (j.brief || pg_catalog.jsonb_build_object('detail', j.detail))::text ELSE j.brief::text END FROM j",
      1, args);
  if (payload == nullptr) return;
  const char* notification[] = {kChannel, SignAlert(payload)};
  RunInternal("SELECT pg_catalog.pg_notify($1, $2)", 2, notification);
}

}  // namespace

const char* AlertSeverity(const AlertRecord* alert) {
  if (alert->blocked) return "critical";
  if (strcmp(alert->kind, "baseline_small") == 0) return "info";
  if (strncmp(alert->kind, "baseline_", strlen("baseline_")) == 0) return "warning";
  return alert->score > 2 * alert->limit ? "critical" : "warning";
}

void NoteDatabaseName() {
  const char* name = get_database_name(MyDatabaseId);
  if (name != nullptr) strlcpy(database_name, name, sizeof database_name);
}

void LogAlert(const AlertRecord* alert) {
  if (database_name[0] == '\0' && IsTransactionState()) NoteDatabaseName();
  const char* line = AlertLine(alert, AlertSeverity(alert), database_name);
  ereport(LOG, (errmsg("privacy_score alert: %s", line), errhidestmt(true), errhidecontext(true)));
  pfree(const_cast<char*>(line));
}

void WriteAlert(const AlertRecord* alert) {
  AlertText text = {TextOfInteger(alert->at),
                    psprintf("%d", ps_settings.alert_window),
                    psprintf("%.17g", alert->score),
                    psprintf("%.17g", alert->limit),
                    alert->blocked ? "t" : "f",
                    AlertSeverity(alert),
                    alert->detail,
                    alert->end_user,
                    nullptr,
                    nullptr,
                    nullptr,
                    nullptr};
  if (const ConnectionContext* context = alert->context; context != nullptr && context->known) {
    text.address = context->address[0] == '\0' ? nullptr : context->address;
    text.program = context->program;
    text.tls = context->tls ? "t" : "f";
    const char* method = AuthenticationName(*context);
    text.authentication = method[0] == '\0' ? nullptr : method;
  }
  const char* id = nullptr;
  bool tell = false;
  if (ps_settings.alert_window > 0) {
    id = RaiseOpenAlert(alert, &text, &tell);
    if (id == nullptr && TooManyCauses(alert, &text)) {
      text.detail = WithCauseOthers(alert->detail);
      id = RaiseOpenAlert(alert, &text, &tell);
    }
  }
  if (id == nullptr) {
    id = InsertAlert(alert, &text);
    tell = true;
  }
  if (tell) Notify(id);
}

void CheckListening(const Node* statement) {
  if (!IsA(statement, ListenStmt) || strcmp(castNode(ListenStmt, statement)->conditionname, kChannel) != 0) return;
  if (MayReadRole(InvalidOid)) return;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to listen on channel \"%s\"", kChannel),
           errhint("Alerts tell about all roles: members of pg_read_all_stats may listen.")));
}

}  // namespace privacy_score

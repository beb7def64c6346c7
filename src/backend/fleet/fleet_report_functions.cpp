/*
 * fleet_report_functions.cpp - the report of a fleet as a page.
 *
 * It asks the views fleet_*, which read the hub's own tables, with the caller's rights: no member is waited for, and
 * each role's report holds what that role may see. What members have shown is not trusted: long texts are cut, and core
 * writes all of it as text (core/report/fleet_report.hpp).
 */
#include "backend/history/report_page.hpp"
#include "backend/history/report_queries.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/role_access.hpp"
#include "core/report/fleet_report.hpp"
#include "core/report/report_sections.hpp"

extern "C" {
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/guc.h"
}

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_fleet_report);
}

namespace {

// $1 and $2 are the days, $3 the role that was asked for, null for all. Of what is counted from tables of the hub the
// caller sees what the views show.
#define OF_THOSE_DAYS(row) row ".day BETWEEN $1::date AND $2::date AND ($3 IS NULL OR " row ".role = $3::name)"
#define MINUTE(moment) "pg_catalog.to_char(" moment ", 'YYYY-MM-DD HH24:MI')"
// A member may show texts of any length.
#define SHORT(text) "pg_catalog.left(" text ", 10000)"
// The first of many names.
#define FEW_OF(names)                                                                             \
  "pg_catalog.array_to_string((" names ")[1:4], ', ') || CASE WHEN pg_catalog.cardinality(" names \
  ") > 4 THEN pg_catalog.format(' and %s more', pg_catalog.cardinality(" names ") - 4) ELSE '' END"

const char* const kReportFacts =
    "SELECT pg_catalog.current_database() AS database, CURRENT_USER AS \"user\", "
    "(SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'privacy_score') AS version, "
    "pg_catalog.to_char(pg_catalog.statement_timestamp(), 'YYYY-MM-DD HH24:MI TZ') AS made_at, $1 AS from_day, "
    "$2 AS to_day, $3 AS of_role, pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE') AS sees_all";

const char* const kReportMembers =
    "SELECT i.server, CASE WHEN i.reachable THEN 'reachable' ELSE 'not reachable' END AS state, "
    "CASE WHEN NOT i.reachable THEN " SHORT("COALESCE(i.error, 'it has not been asked')") " END AS error, "
    "COALESCE(pg_catalog.to_char(i.seen_at, 'YYYY-MM-DD HH24:MI:SS'), 'never') AS seen_at, "
    "CASE WHEN i.in_recovery THEN 'standby' WHEN NOT i.in_recovery THEN 'primary' END AS kind, "
    SHORT("i.version") " AS version, " SHORT("i.server_version") " AS server_version, i.orders "
    "FROM privacy_score.fleet_info i ORDER BY i.reachable, i.server";

const char* const kReportFigures =
    "SELECT i.server, " SHORT("i.watching") ", i.events, i.dropped, i.scoring_errors, i.flush_errors, "
    "pg_catalog.pg_size_pretty(i.memory_used) || ' of ' || pg_catalog.pg_size_pretty(i.memory_limit), "
    MINUTE("i.last_flush") " FROM privacy_score.fleet_info i WHERE i.watching IS NOT NULL OR i.events IS NOT NULL "
    "ORDER BY i.reachable, i.server";

// What fleet_score() says of each role: of all servers together. What it could have scored at most is each member's
// own.
const char* const kReportScores =
    "SELECT r.role, s.day - date '2000-01-01' AS day, s.queries, s.mismatched, s.score, 0 AS max_score, s.cumulative, "
    "s.end_user FROM (SELECT DISTINCT d.role FROM privacy_score.fleet_days d WHERE " OF_THOSE_DAYS("d") ") r, "
    "LATERAL privacy_score.fleet_score(r.role, $1::date, $2::date) s ORDER BY r.role, s.end_user NULLS FIRST, s.day";

// In the place of the mode: where it has worked. The baseline is what all members' baselines cover together.
const char* const kReportPlacesOfRoles =
    "WITH w AS (SELECT d.role, pg_catalog.array_agg(DISTINCT d.server ORDER BY d.server) AS servers "
    "FROM privacy_score.fleet_days d WHERE " OF_THOSE_DAYS("d") " GROUP BY d.role), "
    "b AS (SELECT f.role, pg_catalog.min(f.baseline_from) AS from_day, pg_catalog.max(f.baseline_to) AS to_day "
    "FROM privacy_score.fleet_roles f WHERE f.baseline_ngrams > 0 GROUP BY f.role), "
    "a AS (SELECT x.role, pg_catalog.count(*) AS open FROM privacy_score.fleet_alerts x WHERE x.acknowledged_at IS "
    "NULL AND x.end_user IS NULL AND " DAY_OF("x.at") " BETWEEN $1::date AND $2::date GROUP BY x.role) "
    "SELECT w.role, " FEW_OF("w.servers") " AS mode, NULL AS standing, NULL AS session_limit, NULL AS daily_limit, "
    "COALESCE(a.open, 0) AS open_alerts, " DAY_NUMBER("b.from_day", "$1") " AS from_day, "
    DAY_NUMBER("b.to_day", "$2") " AS to_day FROM w LEFT JOIN b ON b.role = w.role "
    "LEFT JOIN a ON a.role = w.role ORDER BY w.role";

const char* const kReportAlertsOfEndUsers =
    "SELECT x.role, x.end_user, NULL AS session_limit, NULL AS daily_limit, pg_catalog.count(*) AS open_alerts, "
    "NULL AS from_day, NULL AS to_day, NULL AS label FROM privacy_score.fleet_alerts x "
    "WHERE x.acknowledged_at IS NULL AND x.end_user IS NOT NULL AND ($3 IS NULL OR x.role = $3::name) AND " DAY_OF(
        "x.at") " BETWEEN $1::date AND $2::date GROUP BY x.role, x.end_user ORDER BY 1, 2";

const char* const kReportTiles =
    "SELECT (SELECT pg_catalog.count(*) FROM privacy_score.fleet_sessions s WHERE $3 IS NULL OR s.role = $3::name) AS "
    "value, 'sessions open' AS meaning, false AS alarming UNION ALL "
    "SELECT pg_catalog.count(*), 'orders waiting', pg_catalog.count(o.failed_at) > 0 FROM privacy_score.fleet_orders o "
    "HAVING pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE')";

const char* const kReportAlertTotals =
    "SELECT pg_catalog.count(*) FILTER (WHERE a.acknowledged_at IS NULL AND a.day >= $1::date) AS open, "
    "pg_catalog.count(*) FILTER (WHERE a.acknowledged_at IS NULL AND a.day >= $1::date AND a.severity = 'critical') "
    "AS critical, pg_catalog.count(*) FILTER (WHERE a.acknowledged_at IS NOT NULL AND a.day >= $1::date) AS seen, "
    "pg_catalog.count(*) FILTER (WHERE a.acknowledged_at IS NULL AND a.day < $1::date) AS older "
    "FROM (SELECT x.*, " DAY_OF("x.at") " AS day FROM privacy_score.fleet_alerts x) a WHERE a.day <= $2::date AND ($3 "
    "IS NULL OR a.role = $3::name)";

// As those of one server (report_queries.hpp), of all members.
const char* const kReportAlerts =
    "SELECT x.id, " MINUTE("x.at") ", " MINUTE("x.last_at") ", " SHORT("pg_catalog.concat_ws(' / ', x.role, x.end_user)")
    ", " SHORT("x.kind") ", " SHORT("x.severity") ", pg_catalog.round(x.score::numeric, 2), "
    "pg_catalog.round(x.alert_limit::numeric, 2), x.occurrences, CASE WHEN x.blocked THEN 'refused' END, "
    SHORT("x.session") ", x.acknowledged_by, " MINUTE("x.acknowledged_at") ", " SHORT(TEXTS_OF("ngram")) ", "
    SHORT(TEXTS_OF("nearest")) ", " SHORT(TEXTS_OF("attributes")) ", " SHORT("x.detail->>'cause'") ", "
    SHORT("pg_catalog.concat_ws(', ', pg_catalog.host(x.client_addr), NULLIF(x.application_name, ''))")
    ", NULL, " SHORT("x.detail->>'reason'") ", x.server, CASE WHEN x.pending THEN 'pending' END "
    "FROM (SELECT a.*, pg_catalog.row_number() OVER (PARTITION BY a.acknowledged_at IS NULL ORDER BY "
    ALERT_ORDER ", a.server) AS place FROM privacy_score.fleet_alerts a WHERE " DAY_OF("a.at")
    " BETWEEN $1::date AND $2::date AND ($3 IS NULL OR a.role = $3::name)) x WHERE x.place <= 100 "
    "ORDER BY x.acknowledged_at IS NULL DESC, x.place";

const char* const kReportPlaces =
    "SELECT " SHORT("pg_catalog.concat_ws(' / ', d.role, d.end_user)") ", d.server, pg_catalog.count(*), "
    "pg_catalog.sum(d.queries), pg_catalog.sum(d.mismatched), pg_catalog.round(pg_catalog.max(d.score)::numeric, 2), "
    "CASE WHEN f.baseline_ngrams > 0 THEN pg_catalog.format('%s n-grams', f.baseline_ngrams) ELSE 'none' END "
    "FROM privacy_score.fleet_days d LEFT JOIN privacy_score.fleet_roles f ON f.server = d.server AND f.role = d.role "
    "WHERE " OF_THOSE_DAYS("d") " GROUP BY d.role, d.end_user, d.server, f.baseline_ngrams "
    "ORDER BY pg_catalog.max(d.score) DESC, 1, 2 LIMIT 400";

const char* const kReportDays =
    "SELECT d.day - date '2000-01-01' AS day, pg_catalog.count(DISTINCT d.server) AS servers, "
    "pg_catalog.sum(d.queries) AS queries FROM privacy_score.fleet_days d WHERE " OF_THOSE_DAYS(
        "d") " GROUP BY d.day ORDER BY d.day DESC LIMIT 400";

// Each once, at the greatest score that a member gave it.
const char* const kReportMismatches =
    "SELECT m.day, " SHORT("pg_catalog.concat_ws(' / ', m.role, m.end_user)") " AS who, "
    "pg_catalog.round(pg_catalog.max(m.score)::numeric, 2) AS score, pg_catalog.sum(m.count) AS count, "
    SHORT("(pg_catalog.array_agg(pg_catalog.array_to_string(m.ngram, E'\\n', '(start)') ORDER BY m.score DESC, "
          "m.server))[1]") " AS ngram, "
    SHORT("(pg_catalog.array_agg(pg_catalog.array_to_string(m.nearest, E'\\n', '(start)') ORDER BY m.score DESC, "
          "m.server))[1]") " AS nearest, "
    "NULL AS attributes, " FEW_OF("pg_catalog.array_agg(DISTINCT m.server ORDER BY m.server)") " AS servers "
    "FROM privacy_score.fleet_mismatches m WHERE " OF_THOSE_DAYS("m") " AND m.score > 0 "
    "GROUP BY m.role, m.end_user, m.day, m.ngram_id ORDER BY pg_catalog.max(m.score) DESC, m.day DESC, m.role, "
    "m.ngram_id LIMIT 60";

const char* const kReportOrders =
    "SELECT o.server, o.kind, CASE WHEN o.kind = 'acknowledge' THEN 'alert ' || (o.detail->>'id') ELSE "
    "pg_catalog.concat_ws(' / ', o.detail->>'role', o.detail->>'end_user') END, o.asked_by, " MINUTE("o.asked_at") ", "
    MINUTE("o.failed_at") ", " SHORT("o.error") " FROM privacy_score.fleet_orders o ORDER BY o.id LIMIT 400";

#undef OF_THOSE_DAYS
#undef MINUTE
#undef SHORT
#undef FEW_OF

// All sections, in the order in which the page reads them.
void AppendFleetSections(StringInfo wire, const char* const* args) {
  const auto append = [&](const char* sql, const char* names = nullptr) { AppendQuery(wire, sql, 3, args, names); };
  append(kReportFacts, FleetFactSection::kNames);
  append(kReportMembers, FleetMemberSection::kNames);
  append(kReportFigures);
  append(kReportScores, ScoredDaySection::kNames);
  append(kReportPlacesOfRoles, RoleSection::kNames);
  append(kReportAlertsOfEndUsers, EndUserSection::kNames);
  append(kReportTiles, TileSection::kNames);
  append(kReportAlertTotals, AlertTotalSection::kNames);
  append(kReportAlerts);
  append(kReportPlaces);
  append(kReportDays, FleetDaySection::kNames);
  append(kReportMismatches, WorstNGramSection::kNames);
  append(kReportOrders);
}

}  // namespace

// fleet_report(role, from_day, to_day): by default all roles and the last thirty days.
Datum ps_fleet_report(PG_FUNCTION_ARGS) {
  const char* role = PG_ARGISNULL(0) ? nullptr : NameStr(*PG_GETARG_NAME(0));
  if (role != nullptr) ReadableRole(role);
  StringInfoData wire;
  initStringInfo(&wire);
  const int nest_level = SetForReport();
  ConnectSpi();
  const ReportDays days = DaysOfReport(fcinfo);
  const char* args[] = {days.from, days.to, role};
  AppendFleetSections(&wire, args);
  SPI_finish();
  AtEOXact_GUC(false, nest_level);
  PG_RETURN_DATUM(PageOfSections(&wire, FleetReportPage));
}

}  // namespace privacy_score

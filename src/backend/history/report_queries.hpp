/*
 * report_queries.hpp - what a report asks: of views that everybody may ask, with the caller's rights.
 *
 * Parameters are those of ReportScope (report_functions.cpp). core/report/report.cpp reads the columns in this order.
 */
#pragma once

#include "backend/release/release_tables.hpp"

namespace privacy_score {

// The texts of an array in an alert's detail, on lines of their own.
#define TEXTS_OF(key)                                                                             \
  "CASE WHEN pg_catalog.jsonb_typeof(x.detail->'" key                                             \
  "') = 'array' THEN (SELECT pg_catalog.string_agg(COALESCE(e.text, '(start)'), E'\\n' ORDER BY " \
  "e.place) FROM pg_catalog.jsonb_array_elements_text(x.detail->'" key "') WITH ORDINALITY e(text, place)) END"

// The day of a moment, as days are counted, whatever the time zone of who reads.
#define DAY_OF(moment) "pg_catalog.timezone(pg_catalog.current_setting('log_timezone'), " moment ")::date"
// The days of a baseline as numbers; of one without a beginning or an end those of the report, where it has any.
#define DAY_NUMBER(day, other)                                                                              \
  "CASE WHEN pg_catalog.isfinite(" day ") THEN " day " - date '2000-01-01' WHEN pg_catalog.isfinite(" other \
  "::date) AND " day " IS NOT NULL THEN " other "::date - date '2000-01-01' END"
#define DAYS_OF_BASELINE DAY_NUMBER("b.from_day", "$2") " AS from_day, " DAY_NUMBER("b.to_day", "$3") " AS to_day"
#define ALERT_ORDER "a.kind LIKE 'baseline%', a.severity <> 'critical', a.at DESC, a.id DESC"

namespace report_queries {

const char* const kFacts =
    "SELECT pg_catalog.current_database(), CURRENT_USER, "
    "(SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'privacy_score'), "
    "pg_catalog.to_char(pg_catalog.statement_timestamp(), 'YYYY-MM-DD HH24:MI TZ'), $2, $3, $4, "
    "CASE WHEN $7 IS NULL THEN 'the library is not preloaded' END";

// Of the page: a row a principal and day.
const char* const kPeopleDays =
    "SELECT r.role, s.day - date '2000-01-01' AS day, s.queries, s.mismatched, s.score, s.max_score, s.cumulative, "
    "s.end_user "
    "FROM pg_catalog.unnest($1::name[]) r(role), LATERAL privacy_score.score(r.role, $2::date, $3::date) s "
    "ORDER BY r.role, s.end_user NULLS FIRST, s.day";

// Of a role's chart: those of its end users together.
const char* const kDays =
    "WITH s AS MATERIALIZED (SELECT r.role, s.* FROM pg_catalog.unnest($1::name[]) r(role), "
    "LATERAL privacy_score.score(r.role, $2::date, $3::date) s) "
    "SELECT s.role, s.day - date '2000-01-01' AS day, pg_catalog.sum(s.queries) AS queries, "
    "pg_catalog.sum(s.mismatched) AS mismatched, pg_catalog.sum(s.score) AS score, "
    "pg_catalog.sum(s.max_score) AS max_score, (SELECT pg_catalog.sum(c.cumulative) FROM ("
    "SELECT DISTINCT ON (b.end_user) b.cumulative FROM s b WHERE b.role = s.role AND b.day <= s.day "
    "ORDER BY b.end_user, b.day DESC) c) AS cumulative, NULL AS end_user FROM s GROUP BY s.role, s.day ORDER BY "
    "s.role, s.day";

const char* const kTiles =
    "SELECT $6::bigint AS value, 'statements refused' AS meaning, $6::bigint > 0 AS alarming "
    "UNION ALL SELECT pg_catalog.count(*), 'protected tables', false FROM privacy_score.protected_relations";

// Alerts of the time that nobody has acknowledged, those of them that are critical, those that somebody has seen, and
// open ones of before the time.
const char* const kAlertTotals =
    "SELECT pg_catalog.count(*) FILTER (WHERE a.acknowledged_at IS NULL AND a.at::date >= $2::date) AS open, "
    "pg_catalog.count(*) FILTER (WHERE a.acknowledged_at IS NULL AND a.at::date >= $2::date AND a.severity = "
    "'critical') AS critical, "
    "pg_catalog.count(*) FILTER (WHERE a.acknowledged_at IS NOT NULL AND a.at::date >= $2::date) AS seen, "
    "pg_catalog.count(*) FILTER (WHERE a.acknowledged_at IS NULL AND a.at::date < $2::date) AS older "
    "FROM privacy_score.alerts a WHERE a.at::date <= $3::date AND ($4 IS NULL OR a.role = $4)";

// What holds for a new session of each role in this database, as the server would look it up: mode and limits; why a
// role is not simply watched; alerts about no end user of it; the baseline.
const char* const kRoles =
    "WITH label AS (SELECT s.objoid AS role, s.label FROM pg_catalog.pg_shseclabel s WHERE s.provider = "
    "'privacy_score' AND s.classoid = 'pg_catalog.pg_authid'::pg_catalog.regclass) "
    "SELECT r.role, CASE WHEN $7 IS NOT NULL THEN v.mode END AS mode, "
    "CASE WHEN g.rolsuper THEN 'superuser' WHEN l.label IN ('exempt', 'dp only') THEN l.label "
    "WHEN l.label IS NULL AND EXISTS (SELECT FROM label w WHERE w.label = 'watched') THEN 'not watched' END AS standing, "
    "v.session_limit, v.daily_limit, COALESCE(a.open, 0) AS open_alerts, " DAYS_OF_BASELINE " FROM pg_catalog.unnest($1::name[]) r(role) "
    "LEFT JOIN pg_catalog.pg_roles g ON g.rolname = r.role LEFT JOIN label l ON l.role = g.oid "
    "LEFT JOIN privacy_score.baselines b ON b.role = r.role AND b.end_user IS NULL AND b.active "
    "LEFT JOIN (SELECT x.role, pg_catalog.count(*) AS open FROM privacy_score.alerts x WHERE x.acknowledged_at IS NULL "
    "AND x.end_user IS NULL AND " DAY_OF("x.at") " BETWEEN $2::date AND $3::date GROUP BY x.role) a ON a.role = r.role, "
    "LATERAL (SELECT pg_catalog.max(s.value) FILTER (WHERE n.name = 'privacy_score.mode') AS mode, "
    "pg_catalog.max(s.value) FILTER (WHERE n.name = 'privacy_score.session_limit') AS session_limit, "
    "pg_catalog.max(s.value) FILTER (WHERE n.name = 'privacy_score.daily_limit') AS daily_limit "
    "FROM pg_catalog.jsonb_each_text($7::jsonb) n(name, value), LATERAL (SELECT COALESCE((SELECT "
    "pg_catalog.substr(c, pg_catalog.length(n.name) + 2) "
    "FROM pg_catalog.pg_db_role_setting d, pg_catalog.unnest(d.setconfig) c "
    "WHERE d.setrole IN (0, g.oid) AND d.setdatabase IN (0, (SELECT y.oid FROM pg_catalog.pg_database y WHERE "
    "y.datname "
    "= pg_catalog.current_database())) AND pg_catalog.starts_with(c, n.name || '=') "
    "ORDER BY d.setrole <> 0 DESC, d.setdatabase <> 0 DESC LIMIT 1), n.value) AS value) s) v ORDER BY r.role";

// What holds for an end user in place of what holds for the role, and what is open about her.
const char* const kEndUsers =
    "SELECT u.role, u.end_user, l.session_limit, l.daily_limit, pg_catalog.count(a.id) AS open_alerts, "
    DAYS_OF_BASELINE ", n.label FROM ("
    "SELECT x.role, x.end_user FROM privacy_score.end_user_limits x "
    "UNION SELECT x.role, x.end_user FROM privacy_score.end_user_labels x "
    "UNION SELECT x.role, x.end_user FROM privacy_score.baselines x WHERE x.active "
    "UNION SELECT x.role, x.end_user FROM privacy_score.alerts x WHERE x.acknowledged_at IS NULL) u "
    "LEFT JOIN privacy_score.end_user_limits l ON l.role = u.role AND l.end_user = u.end_user "
    "LEFT JOIN privacy_score.end_user_labels n ON n.role = u.role AND n.end_user = u.end_user "
    "LEFT JOIN privacy_score.baselines b ON b.role = u.role AND b.end_user = u.end_user AND b.active "
    "LEFT JOIN privacy_score.alerts a ON a.role = u.role AND a.end_user = u.end_user AND a.acknowledged_at IS NULL "
    "AND " DAY_OF("a.at") " BETWEEN $2::date AND $3::date "
    "WHERE u.end_user IS NOT NULL AND u.role = ANY ($1::name[]) "
    "GROUP BY u.role, u.end_user, l.session_limit, l.daily_limit, b.from_day, b.to_day, n.label ORDER BY 1, 2";

// What the server has in its files for these settings: what this session began with, unless its role or database has
// some of its own.
const char* const kServerSettings =
    "SELECT pg_catalog.jsonb_object_agg(s.name, CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_db_role_setting d, "
    "pg_catalog.unnest(d.setconfig) c WHERE d.setrole IN (0, (SELECT g.oid FROM pg_catalog.pg_roles g WHERE g.rolname "
    "= "
    "SESSION_USER)) AND pg_catalog.starts_with(c, s.name || '=')) "
    "THEN COALESCE((SELECT f.setting FROM pg_catalog.pg_file_settings f WHERE f.name = s.name AND f.applied ORDER BY "
    "f.seqno DESC LIMIT 1), s.boot_val) ELSE s.reset_val END) FROM pg_catalog.pg_settings s "
    "WHERE s.name IN ('privacy_score.mode', 'privacy_score.session_limit', 'privacy_score.daily_limit')";

// $1 and $2: days, as numbers, and roles.
const char* const kSessions =
    "SELECT pg_catalog.round(s.score::numeric, 2) AS score, s.day, pg_catalog.concat_ws(' / ', r.role, s.end_user) AS "
    "who, s.session, pg_catalog.round(s.max_score::numeric) AS max_score, "
    // A log has no rows as a rule, which are then 0.
    "s.queries, s.mismatched, NULLIF(s.rows, 0) AS rows, s.subjects, pg_catalog.round(s.peer_score::numeric, 2) AS "
    "peer_score, r.role, s.end_user, s.score AS exact_score "
    "FROM ROWS FROM (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::name[])) r(day, role), "
    "LATERAL privacy_score.score_sessions(r.role, date '2000-01-01' + r.day, date '2000-01-01' + r.day) s "
    "WHERE s.score > 0 ORDER BY s.score DESC, s.day, r.role, s.session LIMIT 20";

// $1 to $3: the days, roles and end users (empty: none) of the sessions above, the worst first.
const char* const kNGrams =
    "SELECT d.day, pg_catalog.concat_ws(' / ', d.role, NULLIF(d.end_user, '')) AS who, "
    "pg_catalog.round(x.score::numeric, 2) AS score, "
    "x.count, "
    "pg_catalog.array_to_string(x.ngram, E'\\n', '(start)') AS ngram, "
    "pg_catalog.array_to_string(x.nearest, E'\\n', '(start)') AS nearest, "
    "pg_catalog.array_to_string(x.attributes, E'\\n') AS attributes, NULL AS servers "
    "FROM ROWS FROM (pg_catalog.unnest($1::date[]), pg_catalog.unnest($2::name[]), pg_catalog.unnest($3::text[])) "
    "WITH ORDINALITY d(day, role, end_user, place), "
    "LATERAL (SELECT * FROM privacy_score.score_ngrams(d.role, d.day, d.day) n WHERE n.score > 0 "
    "AND COALESCE(n.end_user, '') = d.end_user "
    "ORDER BY n.score DESC, n.ngram LIMIT 3) x ORDER BY d.place, x.score DESC, x.ngram";

// Open ones first, the worst first; what is about a baseline last.
const char* const kAlerts =
    "SELECT x.id, pg_catalog.to_char(x.at, 'YYYY-MM-DD HH24:MI'), pg_catalog.to_char(x.last_at, 'YYYY-MM-DD HH24:MI'), "
    "pg_catalog.concat_ws(' / ', x.role, x.end_user), x.kind, x.severity, pg_catalog.round(x.score::numeric, 2), "
    // Nobody has set those of alarms.
    "CASE WHEN x.kind IN ('unusual', 'drip') THEN pg_catalog.round(x.alert_limit::numeric, 2)::text ELSE x.alert_limit::text END, x.occurrences, "
    "CASE WHEN x.blocked THEN 'refused' END, x.session, x.acknowledged_by, "
    "pg_catalog.to_char(x.acknowledged_at, 'YYYY-MM-DD HH24:MI'), " TEXTS_OF("ngram") ", " TEXTS_OF("nearest") ", "
    TEXTS_OF("attributes") ", x.detail->>'cause', CASE WHEN x.tls IS NOT NULL THEN pg_catalog.concat_ws(', ', "
    "COALESCE(pg_catalog.host(x.client_addr), 'a unix socket'), NULLIF(x.application_name, ''), CASE WHEN x.tls THEN "
    "'TLS' ELSE 'no TLS' END, x.auth_method) END, pg_catalog.array_to_string(x.new_context, ', '), x.detail->>'reason', NULL, NULL FROM (SELECT a.*, pg_catalog.row_number() OVER (PARTITION BY "
    "a.acknowledged_at IS NULL ORDER BY " ALERT_ORDER ") AS place FROM privacy_score.alerts a "
    "WHERE " DAY_OF("a.at") " BETWEEN $2::date AND $3::date AND ($4 IS NULL OR a.role = $4)) x WHERE x.place <= 100 "
    "ORDER BY x.acknowledged_at IS NULL DESC, x.place";

// What was in force, or waited for a second person, at some time of these days.
const char* const kAccepted =
    "SELECT pg_catalog.concat_ws(' / ', a.role, a.end_user), a.state, a.what, a.note, pg_catalog.concat_ws(', ', "
    "a.accepted_by, a.second), pg_catalog.to_char(a.accepted_at, 'YYYY-MM-DD HH24:MI'), "
    "pg_catalog.to_char(COALESCE(a.ended_at, a.expires), 'YYYY-MM-DD HH24:MI') FROM privacy_score.accepted a "
    "WHERE " DAY_OF("a.accepted_at") " <= $3::date AND (a.ended_at IS NULL OR " DAY_OF("a.ended_at") " >= $2::date) "
    "AND ($4 IS NULL OR a.role = $4) ORDER BY a.state IN ('in force', 'waiting') DESC, a.accepted_at DESC, a.id LIMIT 100";

// Protected tables that a report can read: those the caller may read as a whole. How large they are, and what runs with
// that role's rights there, is looked at apart.
const char* const kReadable =
    "SELECT p.relation::pg_catalog.oid FROM privacy_score.protected_relations p JOIN pg_catalog.pg_class c ON c.oid = "
    "p.relation WHERE pg_catalog.has_table_privilege(p.relation, 'SELECT') AND NOT "
    "pg_catalog.row_security_active(p.relation) AND c.relkind IN ('r', 'p', 'm')";

// Whether a relation, $1, with its partitions is not so large that one would wait for it. Asked with the rights of the
// extension's owner: sizes may be kept from everybody.
const char* const kIsSmall =
    "SELECT COALESCE((SELECT pg_catalog.sum(pg_catalog.pg_relation_size(t.relid)) FROM "
    "pg_catalog.pg_partition_tree($1::pg_catalog.oid::pg_catalog.regclass) t), "
    "pg_catalog.pg_relation_size($1::pg_catalog.oid::pg_catalog.regclass)) <= 268435456";

const char* const kRelations =
    "SELECT p.relation, CASE WHEN pg_catalog.cardinality(p.subject) = 0 THEN 'a row' "
    "ELSE pg_catalog.array_to_string(p.subject, ', ') END, p.attributes, p.labelled, "
    "pg_catalog.to_char(p.statistics_at, 'YYYY-MM-DD HH24:MI'), "
    "pg_catalog.concat_ws('; ', "
    "CASE WHEN p.relation = ANY ($5::oid[]) THEN CASE WHEN p.stale THEN 'statistics are about to be computed' END "
    "WHEN pg_catalog.has_table_privilege(p.relation, 'SELECT') THEN 'not read for a report' "
    "ELSE 'you may not read it' END, "
    "(SELECT 'TRIGGER granted to ' || pg_catalog.string_agg(COALESCE(g.grantee, 'public') || "
    "CASE WHEN g.relation = p.relation THEN '' ELSE ' on ' || g.relation END, ', ' ORDER BY g.relation, g.grantee) "
    "FROM privacy_score.trigger_grants g WHERE g.protected = p.relation)) "
    "FROM privacy_score.protected_relations p ORDER BY p.relation::text";

const char* const kRisks =
    "WITH p AS MATERIALIZED (SELECT p.relation FROM privacy_score.protected_relations p WHERE p.relation = ANY "
    "($5::oid[])) "
    "SELECT p.relation, a.attribute, a.label, a.distinct_values, pg_catalog.round(a.entropy::numeric, 3), "
    "pg_catalog.round(a.discrimination_rate::numeric, 4), a.uniques "
    "FROM p, LATERAL privacy_score.attribute_risk(p.relation) a "
    "UNION ALL SELECT s.relation, s.attributes[1], NULL, NULL, NULL, pg_catalog.round(s.rate::numeric, 4), NULL "
    "FROM privacy_score.stat_cdr s WHERE pg_catalog.cardinality(s.attributes) = 1 AND NOT EXISTS (SELECT FROM p WHERE "
    "p.relation = s.relation) "
    "ORDER BY 1, 6 DESC, 2";

const char* const kCharts =
    "WITH p AS MATERIALIZED (SELECT p.relation FROM privacy_score.protected_relations p WHERE p.relation = ANY "
    "($5::oid[])) "
    "SELECT p.relation, privacy_score.relationship_chart(p.relation) AS chart FROM p";

const char* const kBudgets =
    "SELECT b.role, b.relation, pg_catalog.round(b.spent / b.epsilon, 3), b.epsilon, b.\"left\", b.period, "
    "pg_catalog.to_char(b.period_ends, 'YYYY-MM-DD HH24:MI'), "
    "CASE WHEN b.unit IS NULL THEN 'a row' ELSE pg_catalog.format('%s, up to %s rows', b.unit, b.max_rows_per_unit) "
    "END "
    "FROM privacy_score.dp_budget b WHERE $4 IS NULL OR b.role = $4 ORDER BY b.relation::text, b.role";

const char* const kAnswers =
    "SELECT pg_catalog.to_char(r.at, 'YYYY-MM-DD HH24:MI'), r.role, r.relation_name, r.kind, CASE WHEN r.repeated THEN "
    "0 ELSE r.epsilon END, r.times, r.predicate_shape "
    "FROM privacy_score.dp_releases r WHERE " DAY_OF("r.at") " BETWEEN $2::date AND $3::date AND ($4 IS NULL OR r.role = $4) "
    "ORDER BY r.at DESC LIMIT 20";

// Not preloaded there is nothing to tell.
const char* const kNoState = "SELECT NULL, NULL WHERE false";

const char* const kState =
    "SELECT x.what, x.now FROM privacy_score.stat_info i, LATERAL (VALUES "
    "(1, 'version', i.version), (2, 'statements counted', i.events::text), (3, 'statements lost for lack of memory', "
    "i.dropped::text), "
    "(4, 'memory, bytes', pg_catalog.format('%s of %s', i.memory_used, i.memory_limit)), "
    "(5, 'faults of scoring', i.scoring_errors::text), (6, 'rates still to be computed', i.pending_cdr::text), "
    "(7, 'process id of the worker', i.worker_pid::text), "
    "(8, 'last written', pg_catalog.to_char(i.last_flush, 'YYYY-MM-DD HH24:MI:SS TZ'))) x(place, what, now) "
    "UNION ALL SELECT s.name, s.setting || COALESCE(' ' || s.unit, '') FROM pg_catalog.pg_settings s "
    "WHERE s.name LIKE 'privacy\\_score.%' AND s.setting <> s.boot_val";

// The newest months first; what has no month at the end.
const char* const kHistory =
    "SELECT COALESCE(pg_catalog.to_char(h.month, 'YYYY-MM'), 'of no month'), h.sessions, pg_catalog.pg_size_pretty("
    "h.bytes), h.removed_on FROM privacy_score.stat_history h ORDER BY h.month DESC NULLS LAST LIMIT 36";

// Second tables of releases are known by their comment. Values are counted, none is shown.
const char* const kReleaseTables =
    "SELECT c.oid::pg_catalog.regclass::text, pg_catalog.quote_ident(v.attname), w.attname IS NOT NULL, d.description, "
    "c.oid FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass "
    "AND d.objsubid = 0 AND pg_catalog.starts_with(d.description, '" RELEASE_COMMENT SENSITIVE_VALUES_OF
    "') "
    "JOIN pg_catalog.pg_attribute b ON b.attrelid = c.oid AND b.attname = 'bid' AND NOT b.attisdropped "
    "JOIN pg_catalog.pg_attribute v ON v.attrelid = c.oid AND v.attnum > 0 AND v.attname NOT IN ('bid', 'count') AND "
    "NOT v.attisdropped "
    "LEFT JOIN pg_catalog.pg_attribute w ON w.attrelid = c.oid AND w.attname = 'count' AND NOT w.attisdropped "
    "WHERE c.relkind = 'r' AND pg_catalog.has_table_privilege(c.oid, 'SELECT') AND NOT "
    "pg_catalog.row_security_active(c.oid) ORDER BY c.oid::pg_catalog.regclass::text";

}  // namespace report_queries

}  // namespace privacy_score

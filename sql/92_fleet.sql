-- Many servers, one view. A member shows what a hub collects by the views export_*, and takes orders by hub_orders. A hub
-- reads them as foreign tables of postgres_fdw, one process a member, keeps copies, and answers from these alone.
-- What is empty in a key is '' here, so that rows can be told apart; the views of the hub show it as NULL.

-- --- what a member shows ------------------------------------------------------------------------------------------------
CREATE VIEW privacy_score.export_sessions WITH (security_barrier) AS
  SELECT s.role, COALESCE(s.end_user, '') AS end_user, s.session, s.started, s.pid, s.queries, s.ngrams, s.mismatched, s.score, s.max_score,
         s.normalised, s.estimated, s.last_query_at, s.last_abstraction, s.statement_score, s.rows, s.reach, s.subjects, s.subject_columns,
         s.enforced, s.client_addr, s.application_name, s.unusual, s.unusual_figure
    FROM privacy_score.stat_sessions s;
COMMENT ON VIEW privacy_score.export_sessions IS 'For a hub: stat_sessions of this server, with an empty end_user for none.';

-- What ran on a hot standby is in files of its own until it is promoted and the worker has recorded it; what its tables
-- have ran on the primary, which shows it itself. Until then it shows the one, and from then on the other.
CREATE FUNCTION privacy_score.standby_shows() RETURNS boolean
  AS 'MODULE_PATHNAME', 'ps_standby_shows' LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.standby_shows() IS 'Internal: whether a hub sees what ran on this server while it was a standby.';

-- Moments are microseconds and days numbers, from 2000-01-01 on.
CREATE FUNCTION privacy_score.standby_parts(from_day date, to_day date)
  RETURNS TABLE (session_key bigint, role name, end_user text, day int, session text, started bigint, last_at bigint, queries bigint,
                 refused bigint, reach bigint, subjects bigint, subject_columns int, enforced float8, client_addr inet, application_name text,
                 tls boolean, auth_method text, addressed bigint, person bigint, most_rows bigint, differ bigint, part int, ids bigint[],
                 runs bigint[], rows bigint[])
  AS 'MODULE_PATHNAME', 'ps_standby_parts' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.standby_parts(date, date) IS
  'Internal: what sessions have run on this standby on these days, a part of a session each, as session_part has it. Own sessions, or all for pg_read_all_stats.';

CREATE FUNCTION privacy_score.standby_tokens(from_day date, to_day date) RETURNS TABLE (id bigint, tokens text[])
  AS 'MODULE_PATHNAME', 'ps_standby_tokens' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.standby_tokens(date, date) IS 'Internal: the abstractions of what standby_parts() returns.';

CREATE FUNCTION privacy_score.standby_alerts(from_day date, to_day date)
  RETURNS TABLE (id bigint, role name, end_user text, day int, session text, alerted_at bigint, kind text, score float8, alert_limit float8,
                 blocked boolean, severity text, detail jsonb, client_addr inet, application_name text)
  AS 'MODULE_PATHNAME', 'ps_standby_alerts' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.standby_alerts(date, date) IS
  'Internal: alerts of sessions of this standby, as its log has them. Own ones, or all for pg_read_all_stats.';

CREATE FUNCTION privacy_score.standby_days(from_day date, to_day date)
  RETURNS TABLE (role name, day date, queries bigint, ngrams bigint, mismatched bigint, score float8, max_score float8, tight_max float8,
                 normalised float8, cumulative float8, statement_score float8, rows bigint, enforced float8, end_user text, peer_score float8)
  AS 'MODULE_PATHNAME', 'ps_standby_days' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.standby_days(date, date) IS
  'Internal: score() of what ran on this standby, of all roles that the caller may see. 22023 when from_day is after to_day.';

CREATE FUNCTION privacy_score.standby_ngrams(from_day date, to_day date)
  RETURNS TABLE (day date, ngram text[], count bigint, nearest text[], score float8, deltas float8[], attributes text[], rows bigint, role name,
                 end_user text, peer_score float8)
  AS 'MODULE_PATHNAME', 'ps_standby_ngrams' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.standby_ngrams(date, date) IS
  'Internal: score_ngrams() of what ran on this standby, of all roles that the caller may see. 22023 when from_day is after to_day.';

-- One a cause and day.
CREATE VIEW privacy_score.standby_alert WITH (security_barrier) AS
  SELECT g.id, g.at, g.last_at, a.role, a.end_user, a.session, a.kind, a.score, a.alert_limit, a.blocked, a.detail, g.severity, g.occurrences,
         a.client_addr, a.application_name
    FROM (SELECT pg_catalog.max(x.id) AS id, pg_catalog.min(x.at) AS at, pg_catalog.max(x.at) AS last_at, pg_catalog.count(*) AS occurrences,
                 CASE WHEN pg_catalog.bool_or(x.severity = 'critical') THEN 'critical' ELSE pg_catalog.max(x.severity) END AS severity,
                 (pg_catalog.array_agg(x.id ORDER BY x.score DESC, x.id DESC))[1] AS greatest
            FROM (SELECT s.*, '2000-01-01 00:00:00+00'::timestamptz + s.alerted_at * '1 microsecond'::interval AS at
                    FROM privacy_score.standby_alerts('-infinity', 'infinity') s) x
           GROUP BY x.role, x.end_user, x.day, x.kind, x.blocked, COALESCE(x.detail->>'cause', x.detail->>'ngram', '')) g
    JOIN privacy_score.standby_alerts('-infinity', 'infinity') a ON a.id = g.greatest;
COMMENT ON VIEW privacy_score.standby_alert IS 'Internal: alerts of this standby, one a cause and day; what belongs to the greatest score is kept together.';

-- The baselines of a standby are its primary's; the rest is of what ran on it, since the first day that it has kept.
CREATE VIEW privacy_score.export_roles WITH (security_barrier) AS
  SELECT r.role, r.baseline_ngrams, r.baseline_from, r.baseline_to, r.today, r.cumulative, r.alerts, r.blocked
    FROM privacy_score.stat_roles r
   WHERE NOT privacy_score.standby_shows()
  UNION ALL
  SELECT COALESCE(o.role, b.role), COALESCE(b.ngrams, 0), b.from_day, b.to_day, o.today, o.cumulative,
         (SELECT pg_catalog.count(*) FROM privacy_score.standby_alert a WHERE a.role = COALESCE(o.role, b.role)),
         COALESCE((SELECT pg_catalog.sum(p.refused)
                     FROM (SELECT pg_catalog.max(x.refused) AS refused FROM privacy_score.standby_parts('-infinity', 'infinity') x
                            WHERE x.role = COALESCE(o.role, b.role) GROUP BY x.session_key) p), 0)::bigint
    FROM (SELECT c.role, pg_catalog.sum(c.today ORDER BY c.end_user) AS today, pg_catalog.sum(c.cumulative ORDER BY c.end_user) AS cumulative
            FROM (SELECT s.role, s.end_user, pg_catalog.max(s.cumulative) AS cumulative,
                         pg_catalog.max(s.score) FILTER (WHERE s.day = privacy_score.today()) AS today
                    FROM privacy_score.standby_days('-infinity', 'infinity') s
                   GROUP BY s.role, s.end_user) c
           GROUP BY c.role) o
    FULL JOIN (SELECT v.role, v.ngrams, v.from_day, v.to_day FROM privacy_score.baselines v WHERE v.active AND v.end_user IS NULL) b ON b.role = o.role
   WHERE privacy_score.standby_shows();
COMMENT ON VIEW privacy_score.export_roles IS 'For a hub: stat_roles of this server; of a standby of what ran on it.';

-- A hub reads what is recent often and the rest seldom; the condition on `recent` leaves one of the two out.
CREATE VIEW privacy_score.exported_role AS
  SELECT false AS recent, r.role, '-infinity'::date AS from_day, privacy_score.today() - 2 AS to_day
    FROM privacy_score.recorded_role r
   WHERE privacy_score.may_read(r.role) AND NOT privacy_score.standby_shows()
  UNION ALL
  SELECT true, r.role, privacy_score.today() - 1, 'infinity'
    FROM privacy_score.recorded_role r
   WHERE privacy_score.may_read(r.role) AND NOT privacy_score.standby_shows()
     AND EXISTS (SELECT FROM privacy_score.session x WHERE x.role = r.role AND x.day >= privacy_score.today() - 1);
COMMENT ON VIEW privacy_score.exported_role IS 'Internal: of which roles and days a hub reads scores; recent: yesterday and today.';

CREATE VIEW privacy_score.exported_time AS
  SELECT false AS recent, '-infinity'::date AS from_day, privacy_score.today() - 2 AS to_day
  UNION ALL
  SELECT true, privacy_score.today() - 1, 'infinity';
COMMENT ON VIEW privacy_score.exported_time IS 'Internal: the same of what ran on a standby.';

CREATE VIEW privacy_score.export_days WITH (security_barrier) AS
  SELECT e.recent, e.role, COALESCE(s.end_user, '') AS end_user, s.day, s.queries, s.ngrams, s.mismatched, s.score, s.max_score, s.tight_max,
         s.normalised, s.statement_score, s.rows, s.enforced, s.peer_score
    FROM privacy_score.exported_role e
   CROSS JOIN LATERAL privacy_score.score(e.role, e.from_day, e.to_day) s
  UNION ALL
  SELECT e.recent, s.role, COALESCE(s.end_user, ''), s.day, s.queries, s.ngrams, s.mismatched, s.score, s.max_score, s.tight_max, s.normalised,
         s.statement_score, s.rows, s.enforced, s.peer_score
    FROM privacy_score.exported_time e
   CROSS JOIN LATERAL privacy_score.standby_days(e.from_day, e.to_day) s
   WHERE privacy_score.standby_shows();
COMMENT ON VIEW privacy_score.export_days IS 'For a hub: score() of every day; recent: yesterday and today. Of a standby what ran on it.';

CREATE VIEW privacy_score.export_ngrams WITH (security_barrier) AS
  SELECT e.recent, e.role, COALESCE(s.end_user, '') AS end_user, s.day,
         pg_catalog.md5(pg_catalog.convert_to(s.ngram::text, 'UTF8')) AS ngram_id, s.ngram, s.count, s.nearest, s.score, s.rows, s.peer_score
    FROM privacy_score.exported_role e
   CROSS JOIN LATERAL privacy_score.score_ngrams(e.role, e.from_day, e.to_day) s
  UNION ALL
  SELECT e.recent, s.role, COALESCE(s.end_user, ''), s.day, pg_catalog.md5(pg_catalog.convert_to(s.ngram::text, 'UTF8')), s.ngram, s.count,
         s.nearest, s.score, s.rows, s.peer_score
    FROM privacy_score.exported_time e
   CROSS JOIN LATERAL privacy_score.standby_ngrams(e.from_day, e.to_day) s
   WHERE privacy_score.standby_shows();
COMMENT ON VIEW privacy_score.export_ngrams IS 'For a hub: score_ngrams() of every day; of a standby of what ran on it; recent: yesterday and today; ngram_id: a hash of the n-gram, the same on every server.';

CREATE VIEW privacy_score.export_alerts WITH (security_barrier) AS
  SELECT a.id, GREATEST(a.at, a.last_at, a.acknowledged_at) AS changed_at, a.at, a.role, a.session, a.kind, a.score, a.alert_limit, a.blocked,
         a.detail, a.acknowledged_at, a.acknowledged_by, a.severity, a.occurrences, a.last_at, a.end_user, a.client_addr, a.application_name
    FROM privacy_score.alerts a
   WHERE NOT privacy_score.standby_shows()
  UNION ALL
  SELECT a.id, a.last_at, a.at, a.role, a.session, a.kind, a.score, a.alert_limit, a.blocked,
         CASE WHEN pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE') THEN a.detail
              ELSE a.detail - '{rates,combined_rate,combined_rate_exact}'::text[] END,
         NULL, NULL, a.severity, a.occurrences, a.last_at, a.end_user, a.client_addr, a.application_name
    FROM privacy_score.standby_alert a
   WHERE privacy_score.standby_shows();
COMMENT ON VIEW privacy_score.export_alerts IS
  'For a hub: alerts; changed_at: when a row was last written. Of a standby those of what ran on it, with numbers below zero: it cannot mark them as seen.';

CREATE VIEW privacy_score.export_info WITH (security_barrier) AS
  SELECT pg_catalog.now() AS member_now, privacy_score.today() AS today, i.version, pg_catalog.current_setting('server_version') AS server_version,
         pg_catalog.pg_is_in_recovery() AS in_recovery, i.watching, i.events, i.dropped, i.scoring_errors, i.flush_errors, i.memory_used,
         i.memory_limit, i.last_flush,
         privacy_score.scored_under() || CASE WHEN privacy_score.standby_shows() THEN ' standby' ELSE '' END AS scored_under,
         (SELECT pg_catalog.concat_ws(' ', pg_catalog.count(*), pg_catalog.max(a.id), EXTRACT(epoch FROM pg_catalog.min(a.at))) FROM privacy_score.export_alerts a) AS alerts
    FROM privacy_score.stat_info i
   WHERE pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE');
COMMENT ON VIEW privacy_score.export_info IS
  'For a hub: the state of this server and its clock; scored_under: a hash of settings, declarations and baselines, after whose change all days are collected anew; alerts: how many there are, the last id and the first time, by which it is seen that some have gone or come late. For pg_read_all_stats.';

-- With the conditions on role and day that a hub has, only what they are true of is read.
CREATE VIEW privacy_score.export_parts WITH (security_barrier) AS
  SELECT s.role, s.end_user, s.day, s.session, s.started, s.last_at, s.queries, s.refused, s.reach, s.subjects, s.subject_columns, s.enforced, s.cells,
         s.client_addr, s.application_name, s.tls, s.auth_method, s.addressed, s.person, s.most_rows, s.known, s.differ,
         p.part, p.ids, p.runs, p.rows,
         (SELECT pg_catalog.jsonb_object_agg(a.id, pg_catalog.to_jsonb(a.tokens)) FROM privacy_score.abstraction a WHERE a.id = ANY (p.ids)) AS tokens
    FROM privacy_score.session s
    JOIN privacy_score.session_part p ON p.session_id = s.id
   WHERE pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE') AND NOT privacy_score.standby_shows()
  UNION ALL
  SELECT p.role, p.end_user, '2000-01-01'::date + p.day, p.session, '2000-01-01 00:00:00+00'::timestamptz + p.started * '1 microsecond'::interval,
         '2000-01-01 00:00:00+00'::timestamptz + p.last_at * '1 microsecond'::interval, p.queries, p.refused, p.reach, p.subjects, p.subject_columns,
         p.enforced, true, p.client_addr, p.application_name, p.tls, p.auth_method, p.addressed, p.person, p.most_rows, NULL, p.differ,
         p.part, p.ids, p.runs, p.rows, t.tokens
    FROM privacy_score.standby_parts('-infinity', 'infinity') p
   CROSS JOIN LATERAL (
      SELECT pg_catalog.jsonb_object_agg(k.id, pg_catalog.to_jsonb(k.tokens)) AS tokens
        FROM (SELECT a.id, a.tokens FROM privacy_score.abstraction a WHERE a.id = ANY (p.ids)
              UNION SELECT x.id, x.tokens FROM privacy_score.standby_tokens('-infinity', 'infinity') x WHERE x.id = ANY (p.ids)) k) t
   WHERE pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE') AND privacy_score.standby_shows();
COMMENT ON VIEW privacy_score.export_parts IS
  'For a hub, and for whoever takes history elsewhere: recorded sessions with their parts: the ids of abstractions run-length encoded (runs of -1: what the next one follows; of 0: rows of an earlier one), and their tokens by id. Of a standby what ran on it. For pg_read_all_stats.';

CREATE VIEW privacy_score.hub_orders WITH (security_barrier) AS
  SELECT NULL::text AS kind, NULL::jsonb AS detail WHERE false;
COMMENT ON VIEW privacy_score.hub_orders IS
  'What a hub orders, row by row, with the rights of its login: kind acknowledge with {"id": ...} calls acknowledge_alert(), kind baseline with a baseline calls import_baseline(). Always empty.';

CREATE FUNCTION privacy_score.carry_out_order() RETURNS trigger
  AS 'MODULE_PATHNAME', 'ps_carry_out_order' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.carry_out_order() IS 'Internal: does what is inserted into hub_orders, with the rights of who inserts.';
REVOKE ALL ON FUNCTION privacy_score.carry_out_order() FROM PUBLIC;
CREATE TRIGGER carry_out_order INSTEAD OF INSERT ON privacy_score.hub_orders FOR EACH ROW EXECUTE FUNCTION privacy_score.carry_out_order();
COMMENT ON TRIGGER carry_out_order ON privacy_score.hub_orders IS 'Each row is done at once, or is an error.';

CREATE FUNCTION privacy_score.export_history(from_day date DEFAULT '-infinity', to_day date DEFAULT 'infinity')
  RETURNS TABLE (role name, end_user text, day date, session text, started timestamptz, last_at timestamptz, part int, ids bigint[],
                 runs bigint[], rows bigint[], tokens jsonb)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT p.role, p.end_user, p.day, p.session, p.started, p.last_at, p.part, p.ids, p.runs, p.rows, p.tokens
      FROM privacy_score.export_parts p
     WHERE p.day BETWEEN from_day AND to_day
     ORDER BY p.day, p.started, p.session, p.part;
  END;
COMMENT ON FUNCTION privacy_score.export_history(date, date) IS
  'Recorded history of some days as rows, a part of a session each, in the order of time: see export_parts. For pg_read_all_stats; others get no row.';

-- --- what a hub keeps ---------------------------------------------------------------------------------------------------
-- The columns of a copy, but for `member`, are those of the view of the same name that it is a copy of. Constraints keep
-- out what a member shows that is broken: it is said of that member, and what is asked of the others goes on.
CREATE FUNCTION privacy_score.is_count(bigint) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN $1 BETWEEN 0 AND 1000000000000;
COMMENT ON FUNCTION privacy_score.is_count(bigint) IS 'Internal: whether a number may be one of statements or n-grams, so that sums of them have room.';
CREATE FUNCTION privacy_score.is_sum(float8) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN $1 >= 0 AND $1 < 'Infinity';
COMMENT ON FUNCTION privacy_score.is_sum(float8) IS 'Internal: whether a number may be a sum of scores.';
CREATE TABLE privacy_score.fleet_member (
  id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  server name NOT NULL,
  added_by name NOT NULL,
  added_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
COMMENT ON TABLE privacy_score.fleet_member IS 'Members of the fleet from fleet_add(), with the foreign server that each is reached by.';
SELECT pg_catalog.pg_extension_config_dump('privacy_score.fleet_member', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.fleet_member_id_seq', '');

CREATE TABLE privacy_score.fleet_order (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  member int NOT NULL,
  kind text NOT NULL,
  detail jsonb NOT NULL,
  asked_by name NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
  failed_at timestamptz,
  error text
);
COMMENT ON TABLE privacy_score.fleet_order IS
  'What members are to do and have not done yet; error: why the last try failed. Of kind seen: alerts of standbys that were acknowledged here.';
SELECT pg_catalog.pg_extension_config_dump('privacy_score.fleet_order', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.fleet_order_id_seq', '');

CREATE TABLE privacy_score.fleet_state (
  member int PRIMARY KEY,
  tried_at timestamptz NOT NULL,
  seen_at timestamptz,
  error text
);
COMMENT ON TABLE privacy_score.fleet_state IS 'When a member was last asked and when it last answered; error: why it did not; not dumped, as the copies below.';

CREATE TABLE privacy_score.fleet_session (
  member int NOT NULL, role name NOT NULL, end_user text NOT NULL, session text NOT NULL, started timestamptz NOT NULL,
  pid int, queries bigint, ngrams bigint, mismatched bigint, score float8, max_score float8, normalised float8, estimated boolean,
  last_query_at timestamptz, last_abstraction text[], statement_score float8, rows bigint, reach bigint, subjects bigint, subject_columns int,
  enforced float8, client_addr inet, application_name text, unusual float8, unusual_figure text,
  PRIMARY KEY (member, role, end_user, session, started),
  CHECK (privacy_score.is_count(queries) AND privacy_score.is_sum(score))
);
COMMENT ON TABLE privacy_score.fleet_session IS 'Copies of export_sessions of the members.';

CREATE TABLE privacy_score.fleet_role (
  member int NOT NULL, role name NOT NULL, baseline_ngrams bigint, baseline_from date, baseline_to date, today float8, cumulative float8,
  alerts bigint, blocked bigint,
  PRIMARY KEY (member, role),
  CHECK (privacy_score.is_sum(today) AND privacy_score.is_sum(cumulative))
);
COMMENT ON TABLE privacy_score.fleet_role IS 'Copies of export_roles of the members.';

CREATE TABLE privacy_score.fleet_day (
  member int NOT NULL, role name NOT NULL, end_user text NOT NULL, day date NOT NULL, queries bigint, ngrams bigint, mismatched bigint,
  score float8, max_score float8, tight_max float8, normalised float8, statement_score float8, rows bigint, enforced float8, peer_score float8,
  PRIMARY KEY (member, role, end_user, day),
  CHECK (privacy_score.is_count(queries) AND privacy_score.is_sum(score) AND pg_catalog.isfinite(day))
);
COMMENT ON TABLE privacy_score.fleet_day IS 'Copies of export_days of the members.';

CREATE TABLE privacy_score.fleet_ngram (
  member int NOT NULL, role name NOT NULL, end_user text NOT NULL, day date NOT NULL, ngram_id text NOT NULL, ngram text[], count bigint,
  nearest text[], score float8 NOT NULL, rows bigint, peer_score float8,
  PRIMARY KEY (member, role, end_user, day, ngram_id),
  CHECK (privacy_score.is_count(count) AND score BETWEEN 0 AND 6 AND pg_catalog.isfinite(day))
);
COMMENT ON TABLE privacy_score.fleet_ngram IS 'Copies of export_ngrams of the members.';

CREATE TABLE privacy_score.fleet_alert (
  member int NOT NULL, id bigint NOT NULL, changed_at timestamptz, at timestamptz, role name NOT NULL, session text, kind text, score float8,
  alert_limit float8, blocked boolean, detail jsonb, acknowledged_at timestamptz, acknowledged_by name, severity text, occurrences bigint,
  last_at timestamptz, end_user text, client_addr inet, application_name text,
  PRIMARY KEY (member, id),
  CHECK (pg_catalog.jsonb_typeof(detail) = 'object')
);
COMMENT ON TABLE privacy_score.fleet_alert IS 'Copies of export_alerts of the members.';

CREATE TABLE privacy_score.fleet_condition (
  member int PRIMARY KEY,
  member_now timestamptz NOT NULL CHECK (member_now > '2000-01-02 00:00+00' AND pg_catalog.isfinite(member_now)),
  today date NOT NULL CHECK (today > '2000-01-02' AND pg_catalog.isfinite(today)),
  version text, server_version text, in_recovery boolean, watching text, events bigint, dropped bigint,
  scoring_errors bigint, flush_errors bigint, memory_used bigint, memory_limit bigint, last_flush timestamptz, scored_under text, alerts text
);
COMMENT ON TABLE privacy_score.fleet_condition IS 'Copies of export_info of the members.';

CREATE FUNCTION privacy_score.fleet_add(name text, foreign_server name) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_fleet_add' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.fleet_add(text, name) IS
  'Makes a server a member of the fleet that this database is the hub of. A process of the database that privacy_score.fleet_database names collects from it every fleet_interval, as the owner of the extension, whose user mapping of the foreign server (postgres_fdw) says how to log in.';
REVOKE ALL ON FUNCTION privacy_score.fleet_add(text, name) FROM PUBLIC;

CREATE FUNCTION privacy_score.fleet_remove(name text) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_fleet_remove' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.fleet_remove(text) IS 'Ends the membership of a server: its copies and orders are thrown away. Nothing changes on the server itself.';
REVOKE ALL ON FUNCTION privacy_score.fleet_remove(text) FROM PUBLIC;

CREATE FUNCTION privacy_score.fleet_acknowledge(server text, id bigint) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_fleet_acknowledge' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.fleet_acknowledge(text, bigint) IS
  'Has a member mark an alert as seen, by the login of the hub there. Until it has, fleet_alerts shows it as pending and fleet_orders why. An alert of a standby, which can mark nothing, is marked here.';
REVOKE ALL ON FUNCTION privacy_score.fleet_acknowledge(text, bigint) FROM PUBLIC;

CREATE FUNCTION privacy_score.fleet_set_baseline(role name, from_day date DEFAULT NULL, to_day date DEFAULT NULL, end_user text DEFAULT NULL)
  RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_fleet_set_baseline' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.fleet_set_baseline(name, date, date, text) IS
  'Makes one baseline, as set_baseline() does, of the sessions that all members have recorded of a role, or of one of its end users, on these days (both included; NULL: from the first, up to the last), and orders each member to put it in force. Returns the number of sessions. All members must answer.';
REVOKE ALL ON FUNCTION privacy_score.fleet_set_baseline(name, date, date, text) FROM PUBLIC;

CREATE FUNCTION privacy_score.fleet_interval() RETURNS interval
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN COALESCE(pg_catalog.current_setting('privacy_score.fleet_interval', true), '2s')::interval;
COMMENT ON FUNCTION privacy_score.fleet_interval() IS 'Internal: the setting of this name.';

-- A member that has not answered for three intervals, and at least five seconds, cannot be reached, or nobody asks it.
CREATE VIEW privacy_score.fleet_seen AS
  SELECT m.id AS member, m.name AS server, m.server AS foreign_server, s.tried_at, s.seen_at, s.error,
         COALESCE(s.error IS NULL AND s.seen_at >= pg_catalog.clock_timestamp() - GREATEST(3 * privacy_score.fleet_interval(), '5s'), false) AS reachable
    FROM privacy_score.fleet_member m
    LEFT JOIN privacy_score.fleet_state s ON s.member = m.id;
COMMENT ON VIEW privacy_score.fleet_seen IS 'Internal: which members answer.';

CREATE VIEW privacy_score.fleet_sessions WITH (security_barrier) AS
  SELECT f.server, c.role, NULLIF(c.end_user, '') AS end_user, c.session, c.started, c.pid, c.queries, c.ngrams, c.mismatched, c.score, c.max_score,
         c.normalised, c.estimated, c.last_query_at, c.last_abstraction, c.statement_score, c.rows, c.reach, c.subjects, c.subject_columns,
         c.enforced, c.client_addr, c.application_name, c.unusual, c.unusual_figure, f.seen_at, f.reachable
    FROM privacy_score.fleet_seen f
    JOIN privacy_score.fleet_session c ON c.member = f.member
   WHERE privacy_score.may_read(c.role);
COMMENT ON VIEW privacy_score.fleet_sessions IS 'stat_sessions of all members as of seen_at; where a member is not reachable, as they were when it last was.';

CREATE VIEW privacy_score.fleet_roles WITH (security_barrier) AS
  SELECT f.server, c.role, c.baseline_ngrams, c.baseline_from, c.baseline_to, c.today, c.cumulative, c.alerts, c.blocked, f.seen_at, f.reachable
    FROM privacy_score.fleet_seen f
    JOIN privacy_score.fleet_role c ON c.member = f.member
   WHERE privacy_score.may_read(c.role);
COMMENT ON VIEW privacy_score.fleet_roles IS 'stat_roles of all members. What a role did on all of them together is in fleet_score().';

CREATE VIEW privacy_score.fleet_days WITH (security_barrier) AS
  SELECT f.server, c.role, NULLIF(c.end_user, '') AS end_user, c.day, c.queries, c.ngrams, c.mismatched, c.score, c.max_score, c.tight_max,
         c.normalised, c.statement_score, c.rows, c.enforced, c.peer_score, f.seen_at, f.reachable
    FROM privacy_score.fleet_seen f
    JOIN privacy_score.fleet_day c ON c.member = f.member
   WHERE privacy_score.may_read(c.role);
COMMENT ON VIEW privacy_score.fleet_days IS 'score() of every day, role and end user on each member.';

CREATE VIEW privacy_score.fleet_mismatches WITH (security_barrier) AS
  SELECT f.server, c.role, NULLIF(c.end_user, '') AS end_user, c.day, c.ngram_id, c.ngram, c.count, c.nearest, c.score, c.rows, c.peer_score,
         f.seen_at, f.reachable
    FROM privacy_score.fleet_seen f
    JOIN privacy_score.fleet_ngram c ON c.member = f.member
   WHERE privacy_score.may_read(c.role);
COMMENT ON VIEW privacy_score.fleet_mismatches IS 'score_ngrams() of every day, role and end user on each member: what fleet_score() adds up.';

CREATE VIEW privacy_score.fleet_alerts WITH (security_barrier) AS
  SELECT f.server, c.id, c.at, c.role, c.session, c.kind, c.score, c.alert_limit, c.blocked,
         CASE WHEN pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE') THEN c.detail
              ELSE c.detail - '{rates,combined_rate,combined_rate_exact}'::text[] END AS detail,
         COALESCE(c.acknowledged_at, k.asked_at) AS acknowledged_at, COALESCE(c.acknowledged_by, k.asked_by) AS acknowledged_by,
         EXISTS (SELECT FROM privacy_score.fleet_order o
                  WHERE o.member = c.member AND o.kind = 'acknowledge' AND (o.detail->>'id')::bigint = c.id) AS pending,
         c.severity, c.occurrences, c.last_at, c.end_user, c.client_addr, c.application_name, f.seen_at, f.reachable
    FROM privacy_score.fleet_seen f
    JOIN privacy_score.fleet_alert c ON c.member = f.member
    LEFT JOIN LATERAL (SELECT o.asked_at, o.asked_by FROM privacy_score.fleet_order o
                        WHERE c.id < 0 AND o.member = c.member AND o.kind = 'seen' AND (o.detail->>'id')::bigint = c.id
                        ORDER BY o.id LIMIT 1) k ON true
   WHERE privacy_score.may_read(c.role)
     AND (c.kind !~ '^baseline_' OR pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE'));
COMMENT ON VIEW privacy_score.fleet_alerts IS 'alerts of all members; pending: fleet_acknowledge() was called, and the member has not heard of it yet.';

CREATE VIEW privacy_score.fleet_orders WITH (security_barrier) AS
  SELECT o.id, f.server, o.kind, o.detail, o.asked_by, o.asked_at, o.failed_at, o.error
    FROM privacy_score.fleet_order o
    JOIN privacy_score.fleet_seen f ON f.member = o.member
   WHERE o.kind <> 'seen' AND pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE');
COMMENT ON VIEW privacy_score.fleet_orders IS 'What members are to do and have not done yet; error: why the last try failed, which is repeated every minute. For pg_read_all_stats.';

CREATE VIEW privacy_score.fleet_info WITH (security_barrier) AS
  SELECT f.server, f.foreign_server, f.seen_at, f.reachable, f.tried_at, f.error, c.version, c.server_version, c.in_recovery, c.watching, c.events,
         c.dropped, c.scoring_errors, c.flush_errors, c.memory_used, c.memory_limit, c.last_flush,
         (SELECT pg_catalog.count(*) FROM privacy_score.fleet_order o WHERE o.member = f.member AND o.kind <> 'seen') AS orders
    FROM privacy_score.fleet_seen f
    LEFT JOIN privacy_score.fleet_condition c ON c.member = f.member
   WHERE pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE');
COMMENT ON VIEW privacy_score.fleet_info IS
  'The members: when each was last asked (tried_at) and last answered (seen_at), why it did not (error), stat_info of it, and how many orders wait for it. For pg_read_all_stats.';

CREATE FUNCTION privacy_score.score_sum(scores float8[], times bigint[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_score_sum' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.score_sum(float8[], bigint[]) IS
  'Internal: the sum of scores, each so many times, as scores are added up everywhere: the same in whatever order.';

CREATE FUNCTION privacy_score.running_score_sums(places int[], scores float8[], times bigint[]) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'ps_running_score_sums' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.running_score_sums(int[], float8[], bigint[]) IS
  'Internal: for each place from 1 to the greatest the sum of the scores that stand at it or before it, each so many times; times below zero take back.';

CREATE FUNCTION privacy_score.fleet_score(role name, from_day date, to_day date)
  RETURNS TABLE (day date, end_user text, servers bigint, queries bigint, mismatched bigint, score float8, cumulative float8)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    WITH counting AS (SELECT COALESCE(pg_catalog.current_setting('privacy_score.counting', true), 'set') = 'set' AS once),
    new AS MATERIALIZED (
      SELECT m.day, COALESCE(m.end_user, '') AS end_user, m.ngram_id, pg_catalog.max(m.score) AS score,
             CASE WHEN c.once THEN 1 ELSE pg_catalog.sum(m.count)::bigint END AS times
        FROM privacy_score.fleet_mismatches m, counting c
       WHERE m.role = fleet_score.role AND m.day BETWEEN from_day AND to_day
       GROUP BY m.day, m.end_user, m.ngram_id, c.once),
    worked AS MATERIALIZED (
      SELECT d.day, COALESCE(d.end_user, '') AS end_user, pg_catalog.count(*) AS servers, pg_catalog.sum(d.queries)::bigint AS queries,
             pg_catalog.row_number() OVER (PARTITION BY COALESCE(d.end_user, '') ORDER BY d.day) AS place
        FROM privacy_score.fleet_days d
       WHERE d.role = fleet_score.role AND d.day BETWEEN from_day AND to_day
       GROUP BY d.day, COALESCE(d.end_user, '')),
    of_day AS (
      SELECT n.day, n.end_user, pg_catalog.sum(n.times)::bigint AS mismatched,
             privacy_score.score_sum(pg_catalog.array_agg(n.score), pg_catalog.array_agg(n.times)) AS score
        FROM new n
       GROUP BY n.day, n.end_user),
    days AS (
      SELECT w.end_user, pg_catalog.array_agg(w.day ORDER BY w.day) AS days
        FROM worked w
       GROUP BY w.end_user),
    -- What each n-gram has come to by each day that it occurred on: its greatest score, so many times.
    risen AS (
      SELECT n.end_user, n.ngram_id, n.day, pg_catalog.max(n.score) OVER of_ngram AS score,
             CASE WHEN c.once THEN 1 ELSE (pg_catalog.sum(n.times) OVER of_ngram)::bigint END AS times
        FROM new n, counting c
      WINDOW of_ngram AS (PARTITION BY n.end_user, n.ngram_id ORDER BY n.day)),
    -- That comes to the sum on that day, and what it was before goes.
    change AS (
      SELECT r.end_user, pg_catalog.width_bucket(r.day - 1, d.days) + 1 AS place, v.score, v.times
        FROM (SELECT r.*, pg_catalog.lag(r.score) OVER of_ngram AS score_before, pg_catalog.lag(r.times) OVER of_ngram AS times_before
                FROM risen r
              WINDOW of_ngram AS (PARTITION BY r.end_user, r.ngram_id ORDER BY r.day)) r
        JOIN days d ON d.end_user = r.end_user
        CROSS JOIN LATERAL (VALUES (r.score, r.times), (r.score_before, -r.times_before)) v(score, times)
       WHERE (r.score, r.times) IS DISTINCT FROM (r.score_before, r.times_before)),
    running AS MATERIALIZED (
      SELECT g.end_user, privacy_score.running_score_sums(pg_catalog.array_agg(g.place), pg_catalog.array_agg(g.score), pg_catalog.array_agg(g.times)) AS sums
        FROM change g
       GROUP BY g.end_user)
    SELECT w.day, NULLIF(w.end_user, ''), w.servers, w.queries, COALESCE(o.mismatched, 0), COALESCE(o.score, 0),
           COALESCE(r.sums[LEAST(w.place::int, pg_catalog.cardinality(r.sums))], 0)
      FROM worked w
      LEFT JOIN of_day o ON o.day = w.day AND o.end_user = w.end_user
      LEFT JOIN running r ON r.end_user = w.end_user
     ORDER BY w.end_user, w.day;
  END;
COMMENT ON FUNCTION privacy_score.fleet_score(name, date, date) IS
  'What a role, or each of its end users, did on all members together, a day each: each n-gram that the baselines do not know counts once (counting = multiset: as often as it occurred), with the greatest of the scores that members gave it by their own rates and baselines. cumulative: since from_day. Where these are the same everywhere it equals score() of one server on which all was done, to the last bit. A role reads its own; pg_read_all_stats reads all.';

CREATE FUNCTION privacy_score.fleet_report(role name DEFAULT NULL, from_day date DEFAULT NULL, to_day date DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME', 'ps_fleet_report' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.fleet_report(name, date, date) IS
  'A page as report() makes one, of all members as this hub knows them: members and why one does not answer, open alerts and acknowledgements that are pending, roles by their fleet_score(), server by server, days, the dearest new n-grams and on which servers, orders that have not arrived. role NULL: all; days NULL: the last thirty. Reads tables of the hub only. 42501 for a role whose rows the caller may not see, 22023 when from_day is after to_day.';

-- Views for watching. A role sees its own rows; pg_read_all_stats sees all.

CREATE FUNCTION privacy_score.may_read(role name) RETURNS boolean
  AS 'MODULE_PATHNAME', 'ps_may_read' LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.may_read(name) IS 'Whether the current user may see rows of this role.';

CREATE FUNCTION privacy_score.live_sessions()
  RETURNS TABLE (pid int, role name, session text, started timestamptz, queries bigint, ngrams bigint,
                 mismatched bigint, score float8, max_score float8, normalised float8, estimated boolean,
                 last_query_at timestamptz, last_id bigint, last_abstraction text[], statement_score float8,
                 rows bigint, reach bigint, subjects bigint, subject_columns int, enforced float8, end_user text,
                 client_addr inet, application_name text, tls boolean, auth_method text, peer_score float8,
                 addressed bigint, person bigint, differ bigint, unverified boolean)
  AS 'MODULE_PATHNAME', 'ps_live_sessions' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.live_sessions() IS 'Internal: open sessions of this database that the current user may see.';

CREATE FUNCTION privacy_score.identifications() RETURNS TABLE (id bigint, identification float8)
  AS 'MODULE_PATHNAME', 'ps_identifications' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.identifications() IS 'Internal: DRSQL of stored abstractions from the rates computed so far, NULL where one is missing.';

CREATE FUNCTION privacy_score.today() RETURNS date
  AS 'MODULE_PATHNAME', 'ps_today' LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.today() IS 'The current day in log_timezone, in which days are counted.';

CREATE FUNCTION privacy_score.shared_info()
  RETURNS TABLE (memory_used bigint, memory_limit bigint, evictions bigint, events bigint, dropped bigint,
                 scoring_errors bigint, pending_cdr bigint, worker_pid int, last_flush timestamptz, stats_reset timestamptz,
                 flush_errors bigint, session_share bigint, pool_used bigint, pool_size bigint, baselines_left_out bigint)
  AS 'MODULE_PATHNAME', 'ps_shared_info' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.shared_info() IS 'Internal: counters of the shared state.';

CREATE VIEW privacy_score.stat_sessions WITH (security_barrier) AS
  SELECT l.pid, l.role, pg_catalog.current_database() AS database, l.session, l.started, l.queries, l.ngrams,
         l.mismatched, l.score, l.max_score, l.normalised, l.estimated, l.last_query_at,
         COALESCE(l.last_abstraction, a.tokens) AS last_abstraction, l.statement_score, l.rows,
         l.reach, l.subjects, l.subject_columns, l.enforced, l.end_user, l.client_addr, l.application_name, l.tls, l.auth_method,
         l.peer_score, l.addressed, l.person, l.differ, s.unusual, s.unusual_figure, l.unverified
    FROM privacy_score.live_sessions() l
    LEFT JOIN privacy_score.abstraction a ON a.id = l.last_id
    LEFT JOIN privacy_score.session s ON s.role = l.role AND s.session = l.session AND s.started = l.started;
COMMENT ON VIEW privacy_score.stat_sessions IS
  'Open sessions of this database with their score so far, of a connection or, with an end user, of all (session_scope; pid: of the one that is at it); estimated: some rates are still upper bounds, or the model is out of date; enforced: the sum that mode enforce compares with session_limit; peer_score: of an end user with a baseline of her own the score against the role''s; addressed: most subjects of one statement; person: most columns asked about one subject; differ: aggregates that differ from an earlier one by one record; unusual, unusual_figure: how unusual it is and by which figure, as of the last flush, NULL where alarms are not calibrated; client_addr (NULL: a unix socket), application_name, tls, auth_method: of the connection that began it; unverified: that connection calls itself one of another node of Citus, and no node has confirmed it, so that its statements count here too.';

CREATE VIEW privacy_score.stat_contexts WITH (security_barrier) AS
  SELECT s.role, s.end_user, s.day, s.session, s.started, s.client_addr, s.application_name, s.tls, s.auth_method,
         privacy_score.new_context(CASE WHEN o.id IS NULL THEN b.contexts ELSE o.contexts END, s.started, s.client_addr, s.application_name) AS new_context
    FROM privacy_score.session s
    LEFT JOIN privacy_score.baseline b ON b.role = s.role AND b.end_user IS NULL AND b.active
    LEFT JOIN privacy_score.baseline o ON o.role = s.role AND o.end_user = s.end_user AND o.active
   WHERE s.tls IS NOT NULL AND privacy_score.may_read(s.role);
COMMENT ON VIEW privacy_score.stat_contexts IS
  'Recorded sessions with the connection that began each: client_addr (NULL: a unix socket), application_name, tls, auth_method; new_context: what of network, program and hour of the week the role''s baseline has never had, NULL where that is not known.';

CREATE FUNCTION privacy_score.recorded_roles() RETURNS SETOF name
  AS 'MODULE_PATHNAME', 'ps_recorded_roles' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION privacy_score.recorded_roles() IS
  'Internal: roles that have recorded sessions, those that the current user may read of: found one by one in the indexes, for there may be very many sessions.';

CREATE FUNCTION privacy_score.refused_since(role name, day date) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_refused_since' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.refused_since(name, date) IS
  'Internal: statements refused in the sessions of a role after a day; NULL where there is no such session, and for whoever may not read of the role.';

CREATE VIEW privacy_score.recorded_role AS
  SELECT r.role FROM privacy_score.recorded_roles() r(role);
COMMENT ON VIEW privacy_score.recorded_role IS 'Internal: roles that have recorded sessions.';

CREATE VIEW privacy_score.stat_days WITH (security_barrier) AS
  SELECT r.role, s.*, d.reach, d.subjects, d.subject_columns
    FROM (SELECT x.role FROM privacy_score.recorded_role x WHERE privacy_score.may_read(x.role)) r
         CROSS JOIN LATERAL privacy_score.score(r.role, '-infinity', 'infinity') s
         LEFT JOIN privacy_score.principal_day d ON d.role = r.role AND d.end_user = COALESCE(s.end_user, '') AND d.day = s.day;
COMMENT ON VIEW privacy_score.stat_days IS
  'score() of every recorded day, role and end user; reach, subjects, subject_columns: of all sessions of the day together, NULL where they are not known.';

CREATE VIEW privacy_score.baselines WITH (security_barrier) AS
  SELECT b.id, b.role, b.from_day, b.to_day, b.sessions,
         (SELECT pg_catalog.count(DISTINCT n.ngram[7 - x.length : 6])
            FROM privacy_score.baseline_ngram n,
                 (SELECT COALESCE(pg_catalog.current_setting('privacy_score.ngram_length', true), '2')::int AS length,
                         COALESCE(pg_catalog.current_setting('privacy_score.pad', true), 'on') = 'on' AS pad) x
           WHERE n.baseline_id = b.id AND (x.pad OR n.ngram[7 - x.length] <> 0)) AS ngrams,
         b.made_by, b.made_at, b.active,
         CASE WHEN pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE') THEN (b.checked->>'combined_rate')::float8 END AS combined_rate,
         pg_catalog.jsonb_array_length(b.checked->'days') AS outlier_days,
         (b.checked->>'fence')::float8 AS usual_day,
         CASE WHEN pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE') THEN b.checked->'relation_rates' END AS relation_rates,
         b.end_user
    FROM privacy_score.baseline b
   WHERE privacy_score.may_read(b.role);
COMMENT ON VIEW privacy_score.baselines IS
  'All versions of baselines, of roles and of single end users: from which days, by whom and when they were made, and which is in force; ngrams at the ngram_length in force. As found when it was last put in force: combined_rate of all columns in it and relation_rates of those of each relation (for pg_read_all_stats), days that stand out, and up to what score a day is usual against the others.';

CREATE VIEW privacy_score.stat_roles WITH (security_barrier) AS
  WITH state AS MATERIALIZED (SELECT privacy_score.scored_under() AS under, privacy_score.today() AS today),
       alerted AS MATERIALIZED (SELECT a.role, pg_catalog.count(*) AS alerts FROM privacy_score.alert a WHERE a.kind !~ '^baseline_' GROUP BY a.role)
  SELECT r.role,
         COALESCE(k.baseline_ngrams, (SELECT v.ngrams FROM privacy_score.baselines v WHERE v.id = b.id), 0) AS baseline_ngrams,
         b.from_day AS baseline_from,
         b.to_day AS baseline_to,
         CASE WHEN privacy_score.refused_since(r.role, t.today - 1) IS NOT NULL
              THEN (SELECT pg_catalog.sum(s.score ORDER BY s.end_user) FROM privacy_score.score(r.role, t.today, t.today) s) END AS today,
         CASE WHEN k.role IS NOT NULL AND n.refused IS NULL
              THEN k.cumulative
              ELSE (SELECT pg_catalog.sum(c.cumulative ORDER BY c.end_user)
                      FROM (SELECT s.end_user, pg_catalog.max(s.cumulative) AS cumulative
                              FROM privacy_score.score(r.role, COALESCE(b.to_day + 1, '-infinity'), 'infinity') s
                             GROUP BY s.end_user) c) END AS cumulative,
         COALESCE(a.alerts, 0) AS alerts,
         (COALESCE(k.blocked, 0) + COALESCE(n.refused, 0))::bigint AS blocked
    FROM state t
   CROSS JOIN (SELECT x.role FROM privacy_score.recorded_role x UNION SELECT y.role FROM privacy_score.baseline y WHERE y.active) r
    LEFT JOIN privacy_score.baseline b ON b.role = r.role AND b.end_user IS NULL AND b.active
    LEFT JOIN privacy_score.kept_role k ON k.role = r.role AND k.made_under = t.under
    LEFT JOIN alerted a ON a.role = r.role
   CROSS JOIN LATERAL (SELECT privacy_score.refused_since(r.role, COALESCE(k.through, '-infinity')) AS refused OFFSET 0) n
   WHERE privacy_score.may_read(r.role);
COMMENT ON VIEW privacy_score.stat_roles IS
  'Roles with their active baseline, the score of today and the cumulative score since the baseline ended; of a role with end users the sum of theirs.';

CREATE VIEW privacy_score.stat_end_users WITH (security_barrier) AS
  SELECT r.role, d.end_user, d.today, d.cumulative, d.sessions, d.last_at,
         (SELECT pg_catalog.count(*) FROM privacy_score.alert a WHERE a.role = r.role AND a.end_user = d.end_user) AS alerts,
         d.blocked, d.peer_today, EXISTS (SELECT FROM privacy_score.baseline o WHERE o.role = r.role AND o.end_user = d.end_user AND o.active) AS own_baseline
    FROM (SELECT DISTINCT x.role FROM privacy_score.session x WHERE x.end_user IS NOT NULL AND privacy_score.may_read(x.role)) r
    LEFT JOIN privacy_score.baseline b ON b.role = r.role AND b.end_user IS NULL AND b.active,
         LATERAL (SELECT x.end_user, pg_catalog.count(*) AS sessions, pg_catalog.max(x.last_at) AS last_at,
                         COALESCE(pg_catalog.sum(x.refused), 0)::bigint AS blocked,
                         pg_catalog.max(s.score) FILTER (WHERE s.day = privacy_score.today()) AS today,
                         pg_catalog.max(s.peer_score) FILTER (WHERE s.day = privacy_score.today()) AS peer_today,
                         pg_catalog.max(s.cumulative) AS cumulative
                    FROM privacy_score.session x
                    LEFT JOIN privacy_score.score(r.role, COALESCE(b.to_day + 1, '-infinity'), 'infinity') s
                      ON s.end_user = x.end_user AND s.day = x.day
                   WHERE x.role = r.role AND x.end_user IS NOT NULL
                   GROUP BY x.end_user) d;
COMMENT ON VIEW privacy_score.stat_end_users IS
  'End users that a role has spoken for: the score of today, and the cumulative score since the role''s baseline ended; of one with a baseline of her own against that, and peer_today against the role''s.';

CREATE VIEW privacy_score.stat_abstractions WITH (security_barrier) AS
  SELECT a.id, a.tokens, i.identification, c.calls, c.rows, c.first_seen, c.last_seen
    FROM (SELECT x.id, x.calls, x.rows, x.first_seen, x.last_seen
            FROM privacy_score.abstraction x
           WHERE pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE')
          UNION ALL
          SELECT r.id, pg_catalog.sum(r.run)::bigint, COALESCE(pg_catalog.sum(r.returned), 0)::bigint, pg_catalog.min(s.started), pg_catalog.max(s.last_at)
            FROM privacy_score.session s
            JOIN privacy_score.session_part p ON p.session_id = s.id,
                 ROWS FROM (pg_catalog.unnest(p.ids), pg_catalog.unnest(p.runs), pg_catalog.unnest(p.rows)) r(id, run, returned)
           WHERE r.run >= 0 AND s.role = CURRENT_USER AND NOT pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE')
           GROUP BY r.id) c
    JOIN privacy_score.abstraction a ON a.id = c.id
    LEFT JOIN privacy_score.identifications() i ON i.id = a.id;
COMMENT ON VIEW privacy_score.stat_abstractions IS
  'Abstractions met so far with their identification (DRSQL from the rates computed so far, NULL when one is missing) and executions; a role without pg_read_all_stats sees its own executions only.';

CREATE VIEW privacy_score.stat_mismatches WITH (security_barrier) AS
  SELECT r.role, s.day, s.ngram, s.count, s.nearest, s.score, s.attributes, s.rows, s.end_user, s.peer_score
    FROM (SELECT DISTINCT x.role FROM privacy_score.session x WHERE privacy_score.may_read(x.role)) r,
         LATERAL privacy_score.score_ngrams(r.role, '-infinity', 'infinity') s;
COMMENT ON VIEW privacy_score.stat_mismatches IS 'score_ngrams() of every recorded day, role and end user.';

CREATE VIEW privacy_score.alerts WITH (security_barrier) AS
  SELECT a.id, a.at, a.role, a.session, a.kind, a.score, a.alert_limit, a.blocked,
         CASE WHEN pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE') THEN a.detail
              ELSE a.detail - '{rates,combined_rate,combined_rate_exact}'::text[] END AS detail,
         a.acknowledged_at, a.acknowledged_by, a.severity, a.occurrences, a.last_at, a.end_user,
         a.client_addr, a.application_name, a.tls, a.auth_method, a.new_context
    FROM privacy_score.alert a
   WHERE privacy_score.may_read(a.role)
     AND (a.kind !~ '^baseline_' OR pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE'));
COMMENT ON VIEW privacy_score.alerts IS
  'Alerts with their reason, one a cause and alert_window, and the connection they came over; new_context: what of it the role''s baseline has never had. Only pg_read_all_stats sees alerts about baselines, and rates in the detail, for these tell about the rows of tables.';

-- Columns are found out once, not for every rate: that costs a look at all columns of the database.
CREATE VIEW privacy_score.stat_cdr WITH (security_barrier) AS
  WITH attribute AS MATERIALIZED (SELECT m.name, m.relation, m.attname FROM privacy_score.model_attribute m)
  SELECT pg_catalog.to_regclass(r.relation_name) AS relation,
         c.attributes,
         ARRAY(SELECT a.attname FROM pg_catalog.pg_attribute a
                WHERE a.attrelid = pg_catalog.to_regclass(r.relation_name)
                  AND a.attnum = ANY (CASE WHEN pg_catalog.cardinality(r.sources) = 1
                                           THEN privacy_score.subject_attributes(pg_catalog.to_regclass(r.relation_name))
                                           ELSE (SELECT p.columns FROM privacy_score.subject_path(pg_catalog.to_regclass(r.sources[2])) p) END)
                ORDER BY a.attnum) AS target,
         r.rate, r.rows, r.computed_at, r.stale, c.relations
    FROM privacy_score.rate_state r,
         LATERAL (SELECT COALESCE(pg_catalog.array_agg(a.attname ORDER BY n.name), '{}'::name[]) AS attributes,
                         COALESCE(pg_catalog.array_agg(a.relation::pg_catalog.regclass ORDER BY n.name), '{}'::pg_catalog.regclass[]) AS relations
                    FROM pg_catalog.unnest(r.attributes) n(name)
                    JOIN attribute a ON a.name = n.name) c
   WHERE pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE');
COMMENT ON VIEW privacy_score.stat_cdr IS
  'Combined discrimination rates that scoring has computed, from 0 to 1; relations: of which each attribute is; of several about the same subjects, relation is where these are at home; stale: about to be computed again, because many rows were modified since. For pg_read_all_stats.';

CREATE VIEW privacy_score.stat_info WITH (security_barrier) AS
  SELECT (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'privacy_score') AS version, i.*,
         CASE WHEN i.memory_limit IS NULL THEN 'no: the library is not preloaded'
              WHEN pg_catalog.current_setting('privacy_score.mode', true) = 'off' THEN 'no: privacy_score.mode is off'
              ELSE 'yes' END AS watching
    FROM privacy_score.shared_info() i;
COMMENT ON VIEW privacy_score.stat_info IS
  'State of the watcher: memory in bytes, events counted and dropped, faults of scoring, rates still to be computed, the worker.';

CREATE FUNCTION privacy_score.warn_unless_preloaded() RETURNS void
  AS 'MODULE_PATHNAME', 'ps_warn_unless_preloaded' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.warn_unless_preloaded() IS 'Internal: CREATE EXTENSION says that nothing is watched where the library is not preloaded.';
SELECT privacy_score.warn_unless_preloaded();

CREATE FUNCTION privacy_score.long_work()
  RETURNS TABLE (pid int, command text, relation oid, phase text, done bigint, total bigint, started timestamptz)
  AS 'MODULE_PATHNAME', 'ps_long_work' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.long_work() IS 'Internal: long work in this database that the current user may see.';

CREATE VIEW privacy_score.progress WITH (security_barrier) AS
  SELECT l.pid, l.command, l.relation::pg_catalog.regclass AS relation, l.phase, l.done, l.total, l.started
    FROM privacy_score.long_work() l;
COMMENT ON VIEW privacy_score.progress IS
  'Long work that runs now in this database: what was called, the table it is at, the phase, and how much of that is done (total NULL: not known). Own work; pg_read_all_stats sees all. Empty without preload before PostgreSQL 17.';

CREATE FUNCTION privacy_score.flush() RETURNS void
  AS 'MODULE_PATHNAME', 'ps_flush' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.flush() IS
  'Has the worker write the counters, compute pending rates and reload the model, and waits until it has.';
REVOKE ALL ON FUNCTION privacy_score.flush() FROM PUBLIC;

CREATE FUNCTION privacy_score.set_limit(role name, end_user text, session_limit float8 DEFAULT NULL, daily_limit float8 DEFAULT NULL)
  RETURNS void
  AS 'MODULE_PATHNAME', 'ps_set_limit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.set_limit(name, text, float8, float8) IS
  'Gives one end user of a role limits of its own, in place of the settings that hold for all of the role; NULL: these hold, both NULL: it has none of its own.';
REVOKE ALL ON FUNCTION privacy_score.set_limit(name, text, float8, float8) FROM PUBLIC;

CREATE VIEW privacy_score.end_user_limits WITH (security_barrier) AS
  SELECT l.role, l.end_user, l.session_limit, l.daily_limit FROM privacy_score.end_user_limit l WHERE privacy_score.may_read(l.role);
COMMENT ON VIEW privacy_score.end_user_limits IS 'Limits from set_limit(); NULL: that of the role holds.';

CREATE FUNCTION privacy_score.end_user_labels_changed() RETURNS trigger
  AS 'MODULE_PATHNAME', 'ps_end_user_labels_changed' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.end_user_labels_changed() IS 'Internal: tells every backend that what it remembers of labels of end users is out of date.';
REVOKE EXECUTE ON FUNCTION privacy_score.end_user_labels_changed() FROM PUBLIC;

CREATE TRIGGER end_user_labels_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON privacy_score.end_user_label
  FOR EACH STATEMENT EXECUTE FUNCTION privacy_score.end_user_labels_changed();
COMMENT ON TRIGGER end_user_labels_changed ON privacy_score.end_user_label IS 'Labels take effect at once in every session, however they came.';

CREATE FUNCTION privacy_score.label_end_user(role name, end_user text, label text) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_label_end_user' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.label_end_user(name, text, text) IS
  'Labels one end user of a role: dp only may not read protected relations, exempt is not watched. NULL takes the label away.';
REVOKE ALL ON FUNCTION privacy_score.label_end_user(name, text, text) FROM PUBLIC;

CREATE VIEW privacy_score.end_user_labels WITH (security_barrier) AS
  SELECT l.role, l.end_user, l.label FROM privacy_score.end_user_label l WHERE privacy_score.may_read(l.role);
COMMENT ON VIEW privacy_score.end_user_labels IS 'Labels from label_end_user().';

CREATE FUNCTION privacy_score.forget_end_user(role name, end_user text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_forget_end_user' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.forget_end_user(name, text) IS
  'Removes what was recorded of an end user: sessions, those that go on too, alerts, and baselines of her own. Those of roles stay. Returns the number of recorded sessions.';
REVOKE ALL ON FUNCTION privacy_score.forget_end_user(name, text) FROM PUBLIC;

CREATE FUNCTION privacy_score.reset_stats() RETURNS timestamptz
  AS 'MODULE_PATHNAME', 'ps_reset_stats' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.reset_stats() IS
  'Sets the counters of stat_info and stat_abstractions to zero. History, baselines, alerts and budgets stay. Returns the moment.';
REVOKE ALL ON FUNCTION privacy_score.reset_stats() FROM PUBLIC;

CREATE FUNCTION privacy_score.acknowledge_alert(id bigint) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_acknowledge_alert' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.acknowledge_alert(bigint) IS 'Marks an alert as seen by the current user.';
REVOKE ALL ON FUNCTION privacy_score.acknowledge_alert(bigint) FROM PUBLIC;

CREATE FUNCTION privacy_score.verify_alert(payload text) RETURNS boolean
  AS 'MODULE_PATHNAME', 'ps_verify_alert' LANGUAGE C STRICT STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.verify_alert(text) IS
  'Whether a notification on channel privacy_score_alert with this payload was sent by the extension in this database: anybody may send one. An old payload stays true: compare id and at with what was seen before.';

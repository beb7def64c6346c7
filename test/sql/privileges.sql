-- Who sees and may do what: a role its own rows, members of pg_read_all_stats all; only the owner changes anything.
SET client_min_messages = warning;
SET privacy_score.baseline_min_sessions = 0;
CREATE ROLE regress_privileges_one LOGIN;
CREATE ROLE regress_privileges_two LOGIN;
CREATE ROLE regress_privileges_stats LOGIN IN ROLE pg_read_all_stats;
CREATE ROLE regress_privileges_monitor LOGIN IN ROLE pg_monitor;
-- Their own statements are watched only where that is meant.
ALTER ROLE regress_privileges_one SET privacy_score.mode = 'off';
ALTER ROLE regress_privileges_two SET privacy_score.mode = 'off';
ALTER ROLE regress_privileges_stats SET privacy_score.mode = 'off';
ALTER ROLE regress_privileges_monitor SET privacy_score.mode = 'off';
CREATE SCHEMA privileges;
GRANT USAGE, CREATE ON SCHEMA privileges TO PUBLIC;
CREATE TABLE privileges.patients (id int PRIMARY KEY, name text, city text);
INSERT INTO privileges.patients VALUES (1, 'Ann', 'Cork'), (2, 'Bob', 'Cork'), (3, 'Cid', 'Bray'), (4, 'Dan', 'Bray');
GRANT SELECT ON privileges.patients TO PUBLIC;
SELECT privacy_score.protect('privileges.patients');
SELECT privacy_score.import_statements($$
  SELECT 'of ' || r, r, at::timestamptz, s
    FROM (VALUES ('regress_privileges_one'::name, '2026-01-01 12:00+00', 'SELECT name FROM privileges.patients'),
                 ('regress_privileges_one', '2026-01-02 12:00+00', 'SELECT name, id FROM privileges.patients'),
                 ('regress_privileges_two', '2026-01-01 12:00+00', 'SELECT city FROM privileges.patients'),
                 ('regress_privileges_two', '2026-01-02 12:00+00', 'SELECT city, name FROM privileges.patients')) v(r, at, s)$$);
SELECT privacy_score.set_baseline(r, '2026-01-01', '2026-01-01') FROM (VALUES ('regress_privileges_one'), ('regress_privileges_two')) v(r);
INSERT INTO privacy_score.alert (at, role, session, kind, score, alert_limit, detail)
  SELECT now(), r, 'of ' || r, 'session', 2, 1, '{}' FROM (VALUES ('regress_privileges_one'::name), ('regress_privileges_two')) v(r);
SELECT privacy_score.analyze_relation('privileges.patients') > 0 AS analyzed;
-- What each reader sees, and what another role's name yields.
CREATE FUNCTION privileges.attempt(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
  EXECUTE sql INTO answer;
  RETURN coalesce(answer, 'NULL');
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE VIEW privileges.readings AS
  SELECT * FROM (VALUES
    (1, 'stat_days', $$SELECT string_agg(DISTINCT role, ' ' ORDER BY role) FROM privacy_score.stat_days WHERE role LIKE 'regress_privileges%'$$),
    (2, 'stat_roles', $$SELECT string_agg(DISTINCT role, ' ' ORDER BY role) FROM privacy_score.stat_roles WHERE role LIKE 'regress_privileges%'$$),
    (3, 'stat_mismatches', $$SELECT string_agg(DISTINCT role, ' ' ORDER BY role) FROM privacy_score.stat_mismatches WHERE role LIKE 'regress_privileges%'$$),
    (4, 'alerts', $$SELECT string_agg(DISTINCT role, ' ' ORDER BY role) FROM privacy_score.alerts WHERE role LIKE 'regress_privileges%'$$),
    (5, 'stat_abstractions', $$SELECT string_agg(array_to_string(tokens[2:3], ' '), ', ' ORDER BY tokens) FROM privacy_score.stat_abstractions WHERE 't:privileges.patients' = ANY (tokens)$$),
    (6, 'stat_cdr', $$SELECT count(*) > 0 FROM privacy_score.stat_cdr WHERE relation = 'privileges.patients'::regclass$$),
    (7, 'protected_relations', $$SELECT count(*) FROM privacy_score.protected_relations WHERE relation = 'privileges.patients'::regclass$$),
    (11, 'score own', $$SELECT count(*) FROM privacy_score.score(session_user, '-infinity', 'infinity')$$),
    (12, 'score', $$SELECT count(*) FROM privacy_score.score('regress_privileges_two', '-infinity', 'infinity')$$),
    (13, 'score_sessions', $$SELECT count(*) FROM privacy_score.score_sessions('regress_privileges_two', '-infinity', 'infinity')$$),
    (14, 'score_ngrams', $$SELECT count(*) FROM privacy_score.score_ngrams('regress_privileges_two', '-infinity', 'infinity')$$),
    (15, 'choose_ngram_length', $$SELECT count(*) FROM privacy_score.choose_ngram_length('regress_privileges_two', '-infinity', 'infinity')$$),
    (16, 'explain_query', $$SELECT privacy_score.explain_query('SELECT 1', 'regress_privileges_two')->>'role'$$),
    (17, 'role_status', $$SELECT count(*) > 1 FROM privacy_score.role_status('regress_privileges_two')$$),
    (18, 'score of nobody', $$SELECT count(*) FROM privacy_score.score('nosuch', '-infinity', 'infinity')$$)) v(n, name, sql);
GRANT SELECT ON privileges.readings TO PUBLIC;
\c - regress_privileges_one
SELECT name, privileges.attempt(sql) FROM privileges.readings ORDER BY n;
\c - regress_privileges_two
SELECT name, privileges.attempt(sql) FROM privileges.readings ORDER BY n;
\c - regress_privileges_stats
SELECT name, privileges.attempt(sql) FROM privileges.readings ORDER BY n;
\c - regress_privileges_monitor
SELECT name, privileges.attempt(sql) FROM privileges.readings WHERE n IN (1, 4, 6, 12) ORDER BY n;

-- Open sessions: of the current user only, or all.
\c - postgres
GRANT regress_privileges_two, pg_read_all_stats TO regress_privileges_one;
ALTER ROLE regress_privileges_one NOINHERIT;
ALTER ROLE regress_privileges_one SET privacy_score.mode = 'observe';
\c - regress_privileges_one
SELECT name FROM privileges.patients \g /dev/null
SELECT count(*) FILTER (WHERE pid = pg_backend_pid()) AS own, count(*) FILTER (WHERE role <> current_user) AS of_others FROM privacy_score.stat_sessions;
SET ROLE regress_privileges_two;
SELECT count(*) AS of_session_user FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid();
SET ROLE pg_read_all_stats;
SELECT count(*) AS of_all FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid();
\c - postgres
REVOKE regress_privileges_two, pg_read_all_stats FROM regress_privileges_one;
ALTER ROLE regress_privileges_one INHERIT;
ALTER ROLE regress_privileges_one SET privacy_score.mode = 'off';
SELECT privacy_score.flush();
DELETE FROM privacy_score.session WHERE role = 'regress_privileges_one' AND source = 'live';

-- A cheap, leaky function in WHERE meets no row that its caller may not see.
CREATE TABLE privileges.leaked (role name, what text);
GRANT SELECT, INSERT ON privileges.leaked TO PUBLIC;
\c - regress_privileges_one
CREATE FUNCTION privileges.leak(role name, what text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN INSERT INTO privileges.leaked VALUES (role, what); RETURN true; END $$;
SELECT count(*) FROM privacy_score.alerts WHERE privileges.leak(role, 'alert');
SELECT count(*) FROM privacy_score.stat_days WHERE privileges.leak(role, 'day');
SELECT count(*) FROM privacy_score.stat_roles WHERE privileges.leak(role, 'score');
SELECT count(*) FROM privacy_score.stat_mismatches WHERE privileges.leak(role, 'mismatch');
SELECT count(*) FROM privacy_score.stat_abstractions WHERE privileges.leak(current_user, array_to_string(tokens[2:3], ' '));
SELECT count(*) FROM privacy_score.stat_cdr WHERE privileges.leak(current_user, 'rate');
SELECT count(*) FROM privacy_score.stat_sessions WHERE role <> current_user AND privileges.leak(role, 'session');
SELECT role, what, count(*) FROM privileges.leaked GROUP BY role, what ORDER BY role, what;
\c - postgres

-- What only the owner of the extension may do; neither pg_read_all_stats nor pg_monitor give it.
CREATE VIEW privileges.doings AS
  SELECT * FROM (VALUES
    (1, $$SELECT privacy_score.flush()$$), (2, $$SELECT privacy_score.reset_stats()$$), (3, $$SELECT privacy_score.acknowledge_alert(1)$$),
    (4, $$SELECT privacy_score.set_baseline(session_user, '2026-01-01', '2026-01-02')$$), (5, $$SELECT privacy_score.drop_baseline(session_user)$$),
    (6, $$SELECT privacy_score.export_baseline(session_user)$$), (7, $$SELECT privacy_score.import_baseline('{}')$$),
    (8, $$SELECT privacy_score.import_statements('SELECT 1')$$), (9, $$SELECT privacy_score.protect('privileges.patients')$$),
    (10, $$SELECT privacy_score.unprotect('privileges.patients')$$), (11, $$SELECT privacy_score.confirm_dependency('privileges.patients', 'name', 'city')$$),
    (12, $$SELECT privacy_score.analyze_relation('privileges.patients')$$),
    (13, $$SELECT privacy_score.explain_query('SELECT id FROM privileges.vault')->>'role'$$),
    (14, $$SELECT privacy_score.explain_query('SELECT id FROM privileges.vault WHERE code = 1')->>'role'$$),
    (15, $$SELECT privacy_score.set_limit(session_user, 'alice', 1)$$), (16, $$SELECT privacy_score.label_end_user(session_user, 'alice', 'exempt')$$),
    (17, $$SELECT privacy_score.forget_end_user(session_user, 'alice')$$), (18, $$SELECT privacy_score.accept_alert(1, 'mine')$$),
    (19, $$SELECT privacy_score.confirm_acceptance(1)$$), (20, $$SELECT privacy_score.withdraw_acceptance(1)$$),
    (21, $$SECURITY LABEL FOR privacy_score ON ROLE regress_privileges_one IS 'exempt'$$),
    (22, $$SECURITY LABEL FOR privacy_score ON COLUMN privileges.patients.name IS 'public'$$)) v(n, sql);
GRANT SELECT ON privileges.doings TO PUBLIC;
-- Who explains a statement must be allowed to read the columns that it reveals.
CREATE TABLE privileges.vault (id int PRIMARY KEY, code int);
GRANT SELECT (id) ON privileges.vault TO PUBLIC;
\c - regress_privileges_one
-- Why a role may not be labelled is worded by the server.
SELECT sql, CASE n WHEN 21 THEN left(privileges.attempt(sql), 5) ELSE privileges.attempt(sql) END AS attempt FROM privileges.doings ORDER BY n;
-- Settings are the administrator's, one line a setting, so that a new one changes no other line; but for those that only
-- change how long one's own work takes.
\pset format unaligned
\pset footer off
SELECT name, context, left(privileges.attempt(format('SET %s = %L', name, setting)), 5) AS attempt, left(privileges.attempt(format('ALTER ROLE regress_privileges_one SET %s = %L', name, setting)), 5) AS for_later
  FROM pg_settings WHERE name LIKE 'privacy\_score.%' AND context <> 'user' ORDER BY name;
SELECT name, context FROM pg_settings WHERE name LIKE 'privacy\_score.%' AND context = 'user' ORDER BY name;
\pset format aligned
\pset footer on
SET privacy_score.nosuch = 1;
-- The tables and internal views are closed; writing through views is not possible.
SELECT DISTINCT c.relkind, regexp_replace(c.relname, '_\d{4}_\d\d$', '_month') AS relname, has_table_privilege(c.oid, 'SELECT') AS may_read, has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') AS may_write
  FROM pg_class c WHERE c.relnamespace = 'privacy_score'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S') ORDER BY c.relkind, relname;
SELECT has_schema_privilege('privacy_score', 'USAGE') AS usage, has_schema_privilege('privacy_score', 'CREATE') AS create;
SELECT * FROM privacy_score.session;
SELECT * FROM privacy_score.model_attribute;
UPDATE privacy_score.alerts SET acknowledged_by = 'nobody';
\c - regress_privileges_stats
SELECT sql, privileges.attempt(sql) FROM privileges.doings WHERE n < 9 ORDER BY n;

-- The search_path of a caller decides no name within the extension's own queries.
\c - regress_privileges_one
CREATE FUNCTION privileges.count(anyelement) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called as %', current_user; END $$;
CREATE FUNCTION privileges.pg_has_role(name, text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE TEMP TABLE pg_class AS SELECT 1 AS oid;
SET search_path = privileges, pg_temp, pg_catalog;
SELECT round(privacy_score.discrimination_rate('privileges.patients', 'city')::pg_catalog.numeric, 4) AS rate;
SELECT string_agg(DISTINCT role, ' ') AS seen FROM privacy_score.stat_days;
SELECT count(*) AS own FROM privacy_score.score(session_user, '2026-01-01', '2026-01-02');
RESET search_path;
\c - postgres

-- What is granted can be done: a delegate may set a setting and import.
GRANT SET ON PARAMETER privacy_score.alpha TO regress_privileges_two;
GRANT EXECUTE ON FUNCTION privacy_score.import_statements(text), privacy_score.flush() TO regress_privileges_two;
\c - regress_privileges_two
SET privacy_score.alpha = 1;
SHOW privacy_score.alpha;
SELECT privacy_score.flush();
SELECT privacy_score.import_statements($$VALUES ('more', 'regress_privileges_two'::name, '2026-01-03 12:00+00'::timestamptz, 'SELECT id FROM privileges.patients')$$);
SELECT privacy_score.import_statements('SELECT session, role, started, session FROM privacy_score.session');
SELECT day, session, queries FROM privacy_score.score_sessions(session_user, '2026-01-03', '2026-01-03');
\c - postgres
SET client_min_messages = warning;
REVOKE SET ON PARAMETER privacy_score.alpha FROM regress_privileges_two;
REVOKE EXECUTE ON FUNCTION privacy_score.import_statements(text), privacy_score.flush() FROM regress_privileges_two;

SELECT privacy_score.flush();
SELECT privacy_score.drop_baseline(role) FROM privacy_score.baseline WHERE active AND role LIKE 'regress_privileges%' ORDER BY role;
DELETE FROM privacy_score.session WHERE role LIKE 'regress_privileges%';
DELETE FROM privacy_score.baseline WHERE role LIKE 'regress_privileges%';
DELETE FROM privacy_score.alert WHERE role LIKE 'regress_privileges%';
SELECT privacy_score.unprotect(relation) FROM privacy_score.protected_relations ORDER BY relation::text;
DROP SCHEMA privileges CASCADE;
DROP OWNED BY regress_privileges_one;
DROP ROLE regress_privileges_one, regress_privileges_two, regress_privileges_stats, regress_privileges_monitor;

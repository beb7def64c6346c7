-- Statements of a watched role: what counts, what is shown of the session, alerts, history.
SET client_min_messages = warning;
SET privacy_score.baseline_min_sessions = 0;
-- The surprise of a column depends on all baselines: none of another test may be in force.
DO $$ BEGIN PERFORM privacy_score.drop_baseline(role, end_user) FROM privacy_score.baseline WHERE active; END $$;
SELECT privacy_score.reset_stats() <= now() + interval '1 minute' AS reset;
CREATE ROLE regress_live LOGIN;
CREATE ROLE regress_live_owner LOGIN;
CREATE SCHEMA live AUTHORIZATION regress_live_owner;
GRANT USAGE, CREATE ON SCHEMA live TO regress_live;
CREATE TABLE live.patients (id int PRIMARY KEY, name text, city text, age int);
INSERT INTO live.patients VALUES (1, 'Ann', 'Cork', 30), (2, 'Bob', 'Cork', 30), (3, 'Cid', 'Bray', 30), (4, 'Dan', 'Bray', 40);
CREATE TABLE live.hidden (id int PRIMARY KEY, word text);
ALTER TABLE live.patients OWNER TO regress_live_owner;
GRANT SELECT, UPDATE ON live.patients TO regress_live;
SELECT privacy_score.protect('live.patients'), privacy_score.protect('live.hidden');
ALTER ROLE regress_live SET search_path = live, public;
-- In a simple expression of plpgsql flush() is no statement that counts. With a worker at work and the model up to date,
-- scores and alerts come at once, else when the worker has seen to it.
GRANT EXECUTE ON FUNCTION privacy_score.flush() TO regress_live;
\set settle 'DO $$ BEGIN IF privacy_score.flush() IS NULL THEN END IF; END $$;'
ALTER ROLE regress_live SET client_min_messages = warning;

-- What the sessions of regress_live after the one numbered `last` have left in history, repetitions added up.
CREATE FUNCTION live.since(last bigint) RETURNS TABLE (abstraction text, times numeric) LANGUAGE sql AS $$
  SELECT array_to_string(a.tokens, ' '), r.times
    FROM (SELECT e.id, sum(e.run) AS times, min(e.place) AS place
            FROM (SELECT s.id AS session, u.id, u.run, row_number() OVER w AS place, row_number() OVER w - row_number() OVER (PARTITION BY s.id, u.id ORDER BY p.part, u.n) AS island
                    FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
                         ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY u(id, run, n)
                   WHERE s.role = 'regress_live' AND s.id > last AND u.run > 0 WINDOW w AS (ORDER BY s.started, s.id, p.part, u.n)) e
           GROUP BY e.session, e.id, e.island) r
    JOIN privacy_score.abstraction a ON a.id = r.id
   ORDER BY r.place $$;
\set mark 'SELECT coalesce(max(id), 0) AS last FROM privacy_score.session \\gset'
\set show 'SELECT privacy_score.flush() \\g /dev/null \\\\ SELECT * FROM live.since(:last);'

SELECT privacy_score.import_statements($$VALUES
  ('base', 'regress_live'::name, '2026-01-01 12:00+00'::timestamptz, 'SELECT city FROM live.patients'),
  ('base', 'regress_live', '2026-01-01 12:01+00', 'SELECT city, age FROM live.patients')$$);
SELECT privacy_score.set_baseline('regress_live', '2026-01-01', '2026-01-01');
-- The rates that the statements below need.
SELECT privacy_score.analyze_relation('live.patients') > 0 AS single_columns;
SELECT privacy_score.analyze_relation('live.patients', v.columns)
  FROM (VALUES ('{city,age}'::name[]), ('{name,city}'), ('{name,age}'), ('{name,city,age}')) v(columns);
SELECT privacy_score.flush();

-- Each execution counts, of every kind of statement; the abstraction is that of the text.
:mark
\c - regress_live
SELECT city FROM patients ORDER BY id;
SELECT city FROM patients WHERE id = 3;
PREPARE by_id(int) AS SELECT name FROM patients WHERE id = $1;
EXECUTE by_id(1);
EXECUTE by_id(2);
EXECUTE by_id(3);
BEGIN;
DECLARE c CURSOR FOR SELECT age FROM patients ORDER BY id;
FETCH 1 FROM c;
FETCH ALL FROM c;
COMMIT;
COPY patients TO STDOUT;
COPY patients (city, age) TO STDOUT;
COPY (SELECT city FROM patients WHERE age > 30) TO STDOUT;
CREATE TABLE copied AS SELECT name, city FROM patients;
CREATE TABLE not_filled AS SELECT name FROM patients WITH NO DATA;
EXPLAIN (COSTS OFF) SELECT name FROM patients;
EXPLAIN (ANALYZE) SELECT count(*) FROM patients \g /dev/null
UPDATE patients SET age = age WHERE id = 1;
SELECT 1;
SHOW search_path;
\c - postgres
:show

-- What is within functions and DO blocks counts with track = all; with top only what the client sends.
CREATE FUNCTION live.name_of(wanted int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text; BEGIN SELECT name INTO answer FROM live.patients WHERE id = wanted; RETURN answer; END $$;
CREATE FUNCTION live.in_sql(wanted int) RETURNS SETOF text LANGUAGE sql VOLATILE AS 'SELECT city FROM live.patients WHERE id = wanted';
CREATE PROCEDURE live.act() LANGUAGE plpgsql AS $$ BEGIN PERFORM age FROM live.patients; END $$;
:mark
\c - regress_live
SELECT name_of(1);
DO $$ BEGIN PERFORM city FROM live.patients; EXECUTE 'SELECT city, age FROM live.patients'; END $$;
CALL act();
SELECT city, name_of(id) FROM patients WHERE id < 3 ORDER BY id;
\c - postgres
:show
ALTER ROLE regress_live SET privacy_score.track = 'top';
:mark
\c - regress_live
SELECT name_of(1);
DO $$ BEGIN PERFORM city FROM live.patients; END $$;
CALL act();
PREPARE p AS SELECT age FROM patients;
EXECUTE p \g /dev/null
SELECT city FROM patients WHERE id = 1;
\c - postgres
:show
ALTER ROLE regress_live RESET privacy_score.track;

-- What is refused has read nothing; what fails on its way has read; catalogs do not count.
:mark
\c - regress_live
SELECT word FROM hidden;
COPY hidden TO STDOUT;
SELECT nosuch FROM patients;
SELECT name, 1 / (age - 30) FROM patients;
BEGIN;
SELECT city FROM patients WHERE id = 2;
ROLLBACK;
SELECT count(*) > 0 AS catalogs FROM pg_class;
SELECT count(*) > 0 AS catalogs FROM information_schema.columns;
SELECT count(*) AS own_alerts FROM privacy_score.alerts;
\c - postgres
:show

-- Who is not watched: superusers, the exempt, all others when one is labelled watched; nobody when the mode is off.
:mark
SELECT city FROM live.patients WHERE id = 1;
SECURITY LABEL FOR privacy_score ON ROLE regress_live IS 'exempt';
\c - regress_live
SELECT city FROM patients WHERE id = 1;
\c - postgres
SECURITY LABEL FOR privacy_score ON ROLE regress_live IS NULL;
SECURITY LABEL FOR privacy_score ON ROLE regress_live_owner IS 'watched';
\c - regress_live
SELECT city FROM patients WHERE id = 1;
\c - postgres
SECURITY LABEL FOR privacy_score ON ROLE regress_live_owner IS NULL;
ALTER ROLE regress_live SET privacy_score.mode = 'off';
\c - regress_live
SELECT city FROM patients WHERE id = 1;
\c - postgres
ALTER ROLE regress_live RESET privacy_score.mode;
SELECT privacy_score.flush();
SELECT count(*) AS sessions FROM privacy_score.session WHERE id > :last;
-- SET ROLE does not change who is charged; principal = current_user does. One statement of each.
GRANT regress_live TO regress_live_owner;
\c - regress_live_owner
SET ROLE regress_live;
SELECT age FROM live.patients WHERE id = 1;
\c - postgres
ALTER ROLE regress_live_owner SET privacy_score.principal = 'current_user';
\c - regress_live_owner
SET ROLE regress_live;
SELECT city FROM live.patients WHERE id = 1;
\c - postgres
ALTER ROLE regress_live_owner RESET privacy_score.principal;
SELECT privacy_score.flush();
SELECT role, queries FROM privacy_score.session WHERE id > :last ORDER BY id;

-- The score of the open session is that of history, exactly. Padded n-grams: (-,c) and (c,ca) of the baseline; then
-- (ca,n) and (n,c).
\c - regress_live
SELECT city FROM patients \g /dev/null
SELECT city, age FROM patients \g /dev/null
SELECT name FROM patients \g /dev/null
SELECT city FROM patients \g /dev/null
:settle
SELECT role, database = current_database() AS here, session <> '' AS has_session, started <= last_query_at AS in_order,
       queries, ngrams, mismatched, round(score::numeric, 4) AS score, max_score, round(normalised::numeric, 4) AS normalised, estimated,
       last_abstraction, round(statement_score::numeric, 4) AS statement_score
  FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid();
SELECT session, queries, ngrams, mismatched, score, max_score, normalised, statement_score
  FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid() \gset live_
\c - postgres
SELECT privacy_score.flush();
SELECT queries = :live_queries AND ngrams = :live_ngrams AND mismatched = :live_mismatched AND score = :live_score AND max_score = :live_max_score
       AND normalised = :live_normalised AND statement_score = :live_statement_score AS live_equals_history
  FROM privacy_score.score_sessions('regress_live', '2026-01-02', 'infinity') WHERE session = :'live_session';
-- By hand, alpha 0.5, one baseline session, p = 0.51 of city and age, 0.01 of name. Rates of the row: city .5, city and
-- age .75, name 1, age .4056. (ca,n) is nearest to (c,ca): 0 + (1 - .75)/2 + .99/2 beside what ca adds to c.
SELECT round((least(((.75 - .5) + .49 + (1 - .75) + .99), (.75 + (1 - .51 * .51) + (1 - .5) + .99)) / 2
            + least(((1 - .5) + .99 + 0), (1 + .99 + 0)) / 2)::numeric, 4) AS score_by_hand;

-- Limits: a warning in mode warn, an alert in every mode, once a session.
ALTER ROLE regress_live SET privacy_score.mode = 'warn';
ALTER ROLE regress_live SET privacy_score.session_limit = 0.1;
\c - regress_live
SELECT city FROM patients \g /dev/null
:settle
SELECT name FROM patients \g /dev/null
SELECT name, age FROM patients \g /dev/null
\c - postgres
ALTER ROLE regress_live SET privacy_score.mode = 'observe';
ALTER ROLE regress_live RESET privacy_score.session_limit;
ALTER ROLE regress_live SET privacy_score.alert_level = 0.2;
ALTER ROLE regress_live SET privacy_score.normalised_limit = 0.1;
\c - regress_live
SELECT name FROM patients \g /dev/null
\c - postgres
ALTER ROLE regress_live RESET privacy_score.mode;
ALTER ROLE regress_live RESET privacy_score.alert_level;
ALTER ROLE regress_live RESET privacy_score.normalised_limit;
SELECT privacy_score.flush();
SELECT role, kind, round(score::numeric, 4) AS score, alert_limit, blocked, session <> '' AS has_session, at <= now() AS in_order,
       detail->'known' AS known, detail->'ngram' AS ngram, acknowledged_at, acknowledged_by
  FROM privacy_score.alerts WHERE role = 'regress_live' ORDER BY kind, score;
SELECT min(id) AS alert FROM privacy_score.alerts WHERE role = 'regress_live' AND kind = 'session' \gset
SELECT privacy_score.verify_alert(p) FROM unnest(ARRAY[NULL, '', '{}', '{"id": 1}', '{"id": 1, "hmac": "' || repeat('0', 64) || '"}']) p;
SELECT privacy_score.acknowledge_alert(:alert);
SELECT kind, acknowledged_at IS NOT NULL AS acknowledged, acknowledged_by FROM privacy_score.alerts WHERE role = 'regress_live' ORDER BY kind;
SELECT acknowledged_at AS first FROM privacy_score.alerts WHERE id = :alert \gset
SELECT privacy_score.acknowledge_alert(:alert);
SELECT acknowledged_at = :'first' AS first_one_stands FROM privacy_score.alerts WHERE id = :alert;
SELECT role, alerts, blocked, baseline_ngrams, baseline_from, baseline_to, today = cumulative AS one_day
  FROM privacy_score.stat_roles WHERE role LIKE 'regress_live%' ORDER BY role;

-- History of today, in all views.
SELECT role, day = privacy_score.today() AS today, sum(queries) AS queries FROM privacy_score.stat_days WHERE role LIKE 'regress_live%' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT array_to_string(tokens, ' ') AS abstraction, calls, round(identification::numeric, 4) AS identification, first_seen <= last_seen AS in_order
  FROM privacy_score.stat_abstractions WHERE 't:live.patients' = ANY (tokens) ORDER BY 1;
SELECT DISTINCT role, attributes FROM privacy_score.stat_mismatches WHERE role = 'regress_live' ORDER BY 1, 2;
SELECT version, memory_used > 0 AS memory, memory_limit > memory_used AS within, events > 0 AS events, dropped, scoring_errors, pending_cdr, last_flush <= now() AS flushed
  FROM privacy_score.stat_info;
SELECT privacy_score.reset_stats() <= now() + interval '1 minute' AS reset;
SELECT events, dropped, evictions, scoring_errors FROM privacy_score.stat_info;
SELECT sum(calls) AS calls FROM privacy_score.stat_abstractions WHERE 't:live.patients' = ANY (tokens);
SELECT count(*) AS alerts_stay FROM privacy_score.alerts WHERE role = 'regress_live';

SELECT privacy_score.drop_baseline('regress_live');
DELETE FROM privacy_score.session WHERE role LIKE 'regress_live%';
DELETE FROM privacy_score.baseline WHERE role LIKE 'regress_live%';
DELETE FROM privacy_score.alert WHERE role LIKE 'regress_live%';
SELECT privacy_score.unprotect(relation) FROM privacy_score.protected_relations ORDER BY relation::text;
SET client_min_messages = warning;
REVOKE EXECUTE ON FUNCTION privacy_score.flush() FROM regress_live;
DROP SCHEMA live CASCADE;
DROP ROLE regress_live, regress_live_owner;

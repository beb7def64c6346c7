-- Versions of baselines and their hygiene: days that stand out, columns that identify almost fully, few sessions.
SET client_min_messages = warning;
SET privacy_score.baseline_min_sessions = 10;
-- The surprise of a column depends on all baselines: none of another test may be in force.
DO $$ BEGIN PERFORM privacy_score.drop_baseline(role, end_user) FROM privacy_score.baseline WHERE active; END $$;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA baselines;
SET search_path = baselines, public;
CREATE ROLE regress_baselines LOGIN;

CREATE TABLE patients (id int PRIMARY KEY, first_name text, last_name text, gender text, city text, diagnosis text);
INSERT INTO patients SELECT i, 'f' || i % 5, 'l' || i % 11, CASE WHEN i % 2 = 0 THEN 'm' ELSE 'f' END, 'c' || i % 3, 'd' || i % 7
  FROM generate_series(1, 60) i;
SELECT privacy_score.protect('patients');

CREATE TABLE statement (name text PRIMARY KEY, sql text);
INSERT INTO statement VALUES
  ('g', 'SELECT gender FROM patients'),
  ('gc', 'SELECT gender, city FROM patients'),
  ('cd', 'SELECT city, diagnosis FROM patients'),
  ('names', 'SELECT first_name, last_name FROM patients'),
  ('all', 'SELECT first_name, last_name, city, diagnosis FROM patients');
CREATE TABLE log (role name, session text, day date, statements text);
CREATE VIEW statements AS
  SELECT l.session, l.role, (l.day + time '12:00' + w.n * interval '1 minute')::timestamptz AS at, s.sql
    FROM log l, LATERAL regexp_split_to_table(l.statements, ' ') WITH ORDINALITY w(word, n), statement s WHERE s.name = w.word;
-- Six days of two sessions each; on the last but one somebody takes the names.
INSERT INTO log SELECT 'regress_baselines', 'a' || d, date '2026-01-01' + d, 'g gc g' FROM generate_series(0, 5) d;
INSERT INTO log SELECT 'regress_baselines', 'b' || d, date '2026-01-01' + d, CASE d WHEN 4 THEN 'g names all' ELSE 'g gc' END FROM generate_series(0, 5) d;
-- The same without that day, and that day alone, for a role of its own.
INSERT INTO log SELECT 'regress_baselines_others', 'others' || session, day, statements FROM log WHERE day <> '2026-01-05';
INSERT INTO log SELECT 'regress_baselines_others', 'others' || session, day, statements FROM log
 WHERE day = '2026-01-05' AND role = 'regress_baselines';
SELECT privacy_score.import_statements('SELECT session, role, at, sql FROM baselines.statements');
CREATE VIEW found AS
  SELECT id, role, kind, severity, round(score::numeric, 4) AS score, round(alert_limit::numeric, 4) AS alert_limit, occurrences, session = '' AS no_session,
         blocked, acknowledged_at IS NOT NULL AS acknowledged
    FROM privacy_score.alerts WHERE role LIKE 'regress_baselines%';

-- A day that stands out: the published form, in which other baselines do not matter.
SET privacy_score.alpha = 1;
SET privacy_score.identifiers_count = on;
SELECT privacy_score.set_baseline('regress_baselines', '2026-01-01', '2026-01-06') AS ngrams;
SELECT role, kind, severity, score, alert_limit, occurrences, no_session, blocked, acknowledged FROM found ORDER BY id;
SELECT a.detail->'from_day' AS from_day, a.detail->'to_day' AS to_day, a.detail->'cause' AS cause, d->'day' AS day, d->'estimated' AS estimated,
       a.detail->'fence' AS fence, a.detail->'days_compared' AS days_compared
  FROM privacy_score.alerts a, jsonb_array_elements(a.detail->'days') d WHERE a.role = 'regress_baselines' AND a.kind = 'baseline_outlier';
-- The score is that of the day against the baseline of the other days.
SELECT privacy_score.set_baseline('regress_baselines_others', '2026-01-01', '2026-01-04') AS ngrams;
SELECT abs(a.score - s.score) < 1e-12 AS as_by_hand FROM privacy_score.alerts a, privacy_score.score('regress_baselines_others', '2026-01-05', '2026-01-05') s
 WHERE a.role = 'regress_baselines' AND a.kind = 'baseline_outlier';
-- Other days, other alerts: those of the version before end with it, and the same days again are told anew.
SELECT privacy_score.set_baseline('regress_baselines', '2026-01-01', '2026-01-04') AS without_it;
SELECT privacy_score.set_baseline('regress_baselines', '2026-01-01', '2026-01-06') AS ngrams;
SELECT privacy_score.set_baseline('regress_baselines', '2026-01-02', '2026-01-05') AS four_days;
SELECT role, kind, severity, score, alert_limit, occurrences, no_session, blocked, acknowledged FROM found ORDER BY id;
-- Once acknowledged it is told anew, too.
SELECT privacy_score.acknowledge_alert(min(id)) FROM found WHERE role = 'regress_baselines' AND kind = 'baseline_outlier';
SELECT privacy_score.set_baseline('regress_baselines', '2026-01-01', '2026-01-06') AS ngrams;
SELECT kind, occurrences, acknowledged FROM found WHERE role = 'regress_baselines' AND kind = 'baseline_outlier' ORDER BY id;

-- How much the columns of a baseline identify: names, city and diagnosis together tell everybody apart. That is no alert.
SELECT privacy_score.combined_discrimination_rate('patients', '{city,diagnosis,first_name,gender,last_name}') > 0.95 AS almost_fully;
SELECT checked->'columns' AS columns, combined_rate, checked->'combined_rate_exact' AS exact,
       (SELECT bool_and(abs((r.value)::float8 - privacy_score.discrimination_rate('patients', split_part(r.key, '.', 3))) < 1e-12)
          FROM jsonb_each(checked->'rates') r) AS rates, outlier_days, round(usual_day::numeric, 4) AS usual_day
  FROM privacy_score.baselines v JOIN privacy_score.baseline USING (id) WHERE v.role = 'regress_baselines' AND v.active;
-- Identifiers do not count unless they are to.
SET privacy_score.identifiers_count = off;
SECURITY LABEL FOR privacy_score ON COLUMN patients.last_name IS 'identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.first_name IS 'identifier';
SET privacy_score.baseline_min_sessions = 0;
SELECT privacy_score.set_baseline('regress_baselines_others', '2026-01-05', '2026-01-05') AS no_warning;
SECURITY LABEL FOR privacy_score ON COLUMN patients.last_name IS NULL;
SECURITY LABEL FOR privacy_score ON COLUMN patients.first_name IS NULL;
SET privacy_score.identifiers_count = on;

-- A rate that cannot be computed is an estimate, and the baseline is made nevertheless.
CREATE EXTENSION IF NOT EXISTS file_fdw;
CREATE SERVER nowhere FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE away (a text, b text) SERVER nowhere OPTIONS (filename '/nonexistent/file');
SELECT privacy_score.protect('away', '{a}');
INSERT INTO statement VALUES ('away', 'SELECT b FROM away');
INSERT INTO log VALUES ('regress_baselines_away', 'away', '2026-01-01', 'away');
SELECT privacy_score.import_statements('SELECT session, role, at, sql FROM baselines.statements WHERE role = ''regress_baselines_away''');
SELECT privacy_score.set_baseline('regress_baselines_away', '2026-01-01', '2026-01-01') AS made;
SELECT combined_rate, relation_rates, checked->'rates' AS rates, checked->'combined_rate_exact' AS exact FROM privacy_score.baselines v JOIN privacy_score.baseline USING (id)
 WHERE v.role = 'regress_baselines_away' AND v.active;
SELECT privacy_score.drop_baseline('regress_baselines_away');
DROP FOREIGN TABLE away;
DROP SERVER nowhere;
DROP EXTENSION file_fdw;
SET privacy_score.baseline_min_sessions = 10;

-- An imported baseline has no days to compare.
CREATE TABLE moved AS SELECT privacy_score.export_baseline('regress_baselines_others') AS baseline;
SELECT privacy_score.import_baseline(jsonb_set(baseline, '{role}', '"regress_baselines_moved"')) AS ngrams FROM moved;
SELECT kind, severity, score, alert_limit, detail - 'version' AS detail FROM privacy_score.alerts WHERE role = 'regress_baselines_moved' AND kind = 'baseline_small';
SET privacy_score.baseline_min_sessions = 2;
SELECT privacy_score.import_baseline(jsonb_set(baseline, '{role}', '"regress_baselines_moved"')) AS ngrams FROM moved;

-- Versions: who made which, when, from which days; one is in force.
SELECT row_number() OVER (ORDER BY id) AS version, role, from_day, to_day, sessions, ngrams, made_by = current_user AS by_me, made_at <= now() AS at, active
  FROM privacy_score.baselines WHERE role = 'regress_baselines' ORDER BY id;
SELECT b.ngrams = r.baseline_ngrams AS same FROM privacy_score.baselines b JOIN privacy_score.stat_roles r USING (role)
 WHERE role = 'regress_baselines' AND active;
SELECT min(id) AS first, max(id) AS last FROM privacy_score.baselines WHERE role = 'regress_baselines' \gset
CREATE FUNCTION against_baseline() RETURNS TABLE (day date, mismatched bigint) LANGUAGE sql
  BEGIN ATOMIC SELECT s.day, s.mismatched FROM privacy_score.score('regress_baselines', '2026-01-04', '2026-01-05') s ORDER BY day; END;
SELECT id AS calm FROM privacy_score.baselines WHERE role = 'regress_baselines' AND to_day = '2026-01-04' \gset
SELECT * FROM against_baseline() ORDER BY day;
SELECT privacy_score.activate_baseline(:calm);
SELECT * FROM against_baseline() ORDER BY day;
SELECT id = :calm AS the_older_one FROM privacy_score.baselines WHERE role = 'regress_baselines' AND active;
SELECT privacy_score.activate_baseline(:calm);
SELECT count(*) FROM privacy_score.baselines WHERE role = 'regress_baselines' AND active;
SELECT privacy_score.activate_baseline(-1);

-- A baseline never learns by itself: further days change nothing, neither do imports for other roles.
SELECT md5(privacy_score.export_baseline('regress_baselines')::text) AS before \gset
INSERT INTO log SELECT 'regress_baselines', 'later' || d, date '2026-02-01' + d, 'cd all names' FROM generate_series(0, 3) d;
SELECT privacy_score.import_statements('SELECT session, role, at, sql FROM baselines.statements WHERE session LIKE ''later%''');
SELECT md5(privacy_score.export_baseline('regress_baselines')::text) = :'before' AS unchanged;
SELECT count(DISTINCT mismatched) AS each_day_as_new_as_the_first, min(mismatched) > 0 AS new FROM privacy_score.score('regress_baselines', '2026-02-01', '2026-02-04');

-- The days are in their order whatever DateStyle says.
CREATE VIEW running AS SELECT round(cumulative::numeric, 6) AS cumulative FROM privacy_score.score('regress_baselines', '2026-01-01', '2026-02-04') ORDER BY day;
SELECT array_agg(cumulative) AS in_order FROM running \gset
SET datestyle = 'German';
SELECT array_agg(cumulative) = :'in_order' AS same, array_agg(cumulative) = (SELECT array_agg(cumulative ORDER BY cumulative) FROM running) AS rising FROM running;
SET privacy_score.baseline_min_sessions = 100;
SELECT privacy_score.set_baseline('regress_baselines', '01.01.2026', '04.01.2026') AS ngrams;
SELECT detail->'cause' AS cause FROM privacy_score.alerts WHERE role = 'regress_baselines' AND kind = 'baseline_small' ORDER BY id;
SET datestyle = 'ISO';

-- A session may have any number of different statements.
SELECT privacy_score.import_statements($$SELECT 'long', 'regress_baselines_long'::name, timestamptz '2026-03-01 08:00' + i * interval '1 second', 'SELECT c FROM t' || i
  FROM generate_series(1, 3000) i$$) AS statements;
SET privacy_score.baseline_min_sessions = 0;
SELECT privacy_score.set_baseline('regress_baselines_long', '2026-03-01', '2026-03-01') > 2500 AS each_its_own;
SELECT privacy_score.drop_baseline('regress_baselines_long');
SET privacy_score.baseline_min_sessions = 100;

-- A role sees its baselines, and no alert about them; the functions are not its own.
SELECT count(*) > 1 AS rows, count(DISTINCT role) > 1 AS several_roles FROM privacy_score.baselines;
\c - regress_baselines
SELECT count(*) > 1 AS rows, count(DISTINCT role) AS roles FROM privacy_score.baselines;
SELECT count(*) AS alerts FROM privacy_score.alerts;
SELECT privacy_score.activate_baseline(1);
SET privacy_score.baseline_min_sessions = 0;
\c - postgres
SET client_min_messages = warning;
SELECT alerts FROM privacy_score.stat_roles WHERE role = 'regress_baselines';

SELECT count(privacy_score.drop_baseline(role)) AS dropped FROM privacy_score.baseline WHERE active;
DELETE FROM privacy_score.baseline WHERE role LIKE 'regress_baselines%';
DELETE FROM privacy_score.session WHERE role LIKE 'regress_baselines%';
DELETE FROM privacy_score.alert WHERE role LIKE 'regress_baselines%';
SELECT privacy_score.unprotect('baselines.patients');
DROP SCHEMA baselines CASCADE;
DROP ROLE regress_baselines;

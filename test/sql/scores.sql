-- Scores of recorded history: the worked numbers of docs/scoring.md, section 5, settings as what-if, baselines.
SET client_min_messages = warning;
SET privacy_score.baseline_min_sessions = 0;
-- The surprise of a column depends on all baselines: none of another test may be in force.
DO $$ BEGIN PERFORM privacy_score.drop_baseline(role, end_user) FROM privacy_score.baseline WHERE active; END $$;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA scores;
SET search_path = scores, public;

CREATE TABLE hospital (firstname text, lastname text, gender text, department text, city text, departmenthead text);
INSERT INTO hospital VALUES
  ('John', 'Smith', 'Male', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Bob', 'Lopez', 'Male', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Alice', 'Miller', 'Female', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Bob', 'Smith', 'Male', 'Cardiology', 'Vancouver', 'Dr.Albert'),
  ('John', 'Wilson', 'Male', 'Cardiology', 'Vancouver', 'Dr.Albert');
SELECT privacy_score.protect('hospital');

-- The statements of the example by their names, and the logs of the baseline and of three days.
CREATE TABLE statement (name text PRIMARY KEY, sql text);
INSERT INTO statement VALUES
  ('g', 'SELECT gender FROM hospital'),
  ('gd', 'SELECT gender, department FROM hospital'),
  ('gh', 'SELECT gender, departmenthead FROM hospital'),
  ('lg', 'SELECT lastname, gender FROM hospital'),
  ('lgd', 'SELECT lastname, gender, department FROM hospital'),
  ('gwl', 'SELECT gender FROM hospital WHERE lastname = ''Smith''');
CREATE TABLE log (role name, session text, day date, statements text);
INSERT INTO log VALUES
  ('regress_scores', 'base', '2026-01-01', 'g gd g gd'),
  ('regress_scores', 'first', '2026-01-02', 'g gh g'),
  ('regress_scores', 'second', '2026-01-03', 'g gd lgd'),
  ('regress_scores', 'third', '2026-01-04', 'lg lgd gd');
CREATE VIEW statements AS
  SELECT l.session, l.role, (l.day + time '12:00' + w.n * interval '1 minute')::timestamptz AS at, s.sql
    FROM log l, LATERAL regexp_split_to_table(l.statements, ' ') WITH ORDINALITY w(word, n), statement s WHERE s.name = w.word;
SELECT privacy_score.import_statements('SELECT session, role, at, sql FROM scores.statements');

-- The published form.
SET privacy_score.ngram_length = 2;
SET privacy_score.pad = off;
SET privacy_score.alpha = 1;
SET privacy_score.identifiers_count = on;
CREATE FUNCTION r4(value float8) RETURNS numeric LANGUAGE sql RETURN round(value::numeric, 4);
CREATE FUNCTION cdr(VARIADIC attributes name[]) RETURNS float8 LANGUAGE sql
  RETURN privacy_score.combined_discrimination_rate('scores.hospital', attributes);
CREATE VIEW r AS SELECT cdr('gender') AS g, cdr('gender', 'department') AS gd, cdr('lastname', 'gender') AS lg;
CREATE VIEW figures AS
  SELECT day, queries, ngrams, mismatched, r4(score) AS p, r4(max_score) AS m, r4(tight_max) AS tight, r4(normalised) AS normalised,
         r4(cumulative) AS cumulative, r4(statement_score) AS statements
    FROM privacy_score.score('regress_scores', '2026-01-02', '2026-01-04');

-- Without a baseline the score is its tight maximum.
SELECT day, score = tight_max AS all_of_it, ngrams = mismatched AS all_mismatched
  FROM privacy_score.score('regress_scores', '2026-01-02', '2026-01-04') ORDER BY day;

SELECT privacy_score.set_baseline('regress_scores', '2026-01-01', '2026-01-01') AS distinct_ngrams;
SELECT * FROM figures ORDER BY day;
-- The same exactly: section 4 written out in rates.
SELECT s.day, abs(s.score - e.score) < 1e-12 AS score, abs(s.tight_max - e.tight) < 1e-12 AS tight, s.max_score = 4 AS most,
       abs(s.cumulative - e.cumulative) < 1e-12 AS cumulative, abs(s.statement_score - e.statements) < 1e-12 AS statements,
       abs(s.normalised - e.score / 4) < 1e-12 AS normalised
  FROM privacy_score.score('regress_scores', '2026-01-02', '2026-01-04') s
  JOIN (SELECT '2026-01-02'::date AS day, 0 AS score, 2 * (g + gd) AS tight, 0 AS cumulative, 0 AS statements FROM r
        UNION ALL SELECT '2026-01-03', 1 - g, (g + gd) + (gd + 1), 1 - g, 1 - gd FROM r
        UNION ALL SELECT '2026-01-04', ((lg - g) + (1 - gd)) + (1 - g), (lg + 1) + (1 + gd),
                         (1 - g) + ((lg - g) + (1 - gd)) + (1 - g), 2 * (1 - gd) FROM r) e USING (day) ORDER BY s.day;
-- A day against itself costs nothing; each new n-gram is paid once: max P <= Delta <= sum P.
SELECT r4(score) AS itself, mismatched FROM privacy_score.score('regress_scores', '2026-01-01', '2026-01-01') ORDER BY day;
SELECT max(score) <= max(cumulative) AND max(cumulative) <= sum(score) + 1e-12 AS bounded
  FROM privacy_score.score('regress_scores', '2026-01-01', '2026-01-04');
-- Delta starts at the first day that is asked for.
SELECT day, r4(cumulative) AS cumulative FROM privacy_score.score('regress_scores', '2026-01-04', 'infinity') ORDER BY day;
SELECT count(*) AS nothing FROM privacy_score.score('regress_scores', '2025-01-01', '2025-12-31');

-- By session, and what each mismatched n-gram adds to the nearest one.
SELECT day, session, queries, ngrams, mismatched, r4(score) AS p, r4(max_score) AS m, r4(tight_max) AS tight,
       r4(normalised) AS normalised, r4(statement_score) AS statements
  FROM privacy_score.score_sessions('regress_scores', '-infinity', 'infinity') ORDER BY day, session;
\pset expanded on
SELECT day, ngram, count, nearest, r4(score) AS score, ARRAY(SELECT r4(d) FROM unnest(deltas) WITH ORDINALITY x(d, n) ORDER BY n) AS deltas, attributes
  FROM privacy_score.score_ngrams('regress_scores', '2026-01-02', '2026-01-04') ORDER BY day, ngram;
\pset expanded off

-- What if ...: the same history under other settings.
SET privacy_score.compare = 'union';
SELECT day, p, m, tight, cumulative, statements FROM figures ORDER BY day;
RESET privacy_score.compare;
SET privacy_score.ngram_length = 1;
SELECT day, ngrams, mismatched, p, m, tight, cumulative, statements FROM figures ORDER BY day;
SET privacy_score.ngram_length = 3;
SELECT day, ngrams, mismatched, p, m, tight, cumulative, statements FROM figures ORDER BY day;
SET privacy_score.ngram_length = 2;
SET privacy_score.pad = on;
SELECT day, ngrams, mismatched, p, m, cumulative, statements FROM figures ORDER BY day;
SET privacy_score.pad = off;

-- alpha: the rest is surprise. One baseline session, and no other baseline: a column that it revealed has
-- p = (1 + 0.02)/2 = 0.51, another 0.02/2 = 0.01.
SET privacy_score.alpha = 0;
SELECT day, p, tight FROM figures ORDER BY day;
SELECT * FROM (VALUES (date '2026-01-02', 2 * (1 - .01), 2 * ((1 - .51) + (1 - .51 * .01))),
                      ('2026-01-03', 1 - .51 * .01, (1 - .51) + 2 * (1 - .51 * .51) + (1 - .01 * .51 * .51)),
                      ('2026-01-04', 2 * .99 + (1 - .01 * .51), (1 - .01 * .51) + 2 * (1 - .01 * .51 * .51) + (1 - .51 * .51)))
  by_hand(day, p, tight) ORDER BY day;
SET privacy_score.alpha = 0.5;
SELECT day, p FROM figures ORDER BY day;
SELECT * FROM (SELECT date '2026-01-02' AS day, r4(1 - .01) AS by_hand
               UNION ALL SELECT '2026-01-03', r4(.5 * (1 - g) + .5 * (1 - .51 * .01)) FROM r
               UNION ALL SELECT '2026-01-04', r4(.5 * (1 - gd + lg - g) + .5 * 2 * .99 + .5 * (1 - g) + .5 * (1 - .51 * .01)) FROM r) e ORDER BY day;
-- Labels weigh a column, confirmed dependencies make it known.
SET privacy_score.alpha = 0;
SECURITY LABEL FOR privacy_score ON COLUMN hospital.lastname IS 'sensitive';
SELECT p, r4(1 - .51 * .01 * .01) AS sensitive FROM figures WHERE day = '2026-01-03';
SECURITY LABEL FOR privacy_score ON COLUMN hospital.lastname IS 'quasi-identifier';
SELECT p, r4(1 - .51 * .01) AS quasi_identifier FROM figures WHERE day = '2026-01-03';
SECURITY LABEL FOR privacy_score ON COLUMN hospital.lastname IS 'public';
SELECT p, r4(1 - .51) AS public FROM figures WHERE day = '2026-01-03';
SECURITY LABEL FOR privacy_score ON COLUMN hospital.lastname IS 'identifier';
SELECT p, r4(1 - .51 * .01 * .01) AS identifier FROM figures WHERE day = '2026-01-03';
SELECT p AS not_yet FROM figures WHERE day = '2026-01-02';
SELECT privacy_score.confirm_dependency('hospital', 'department', 'departmenthead');
SELECT p AS known FROM figures WHERE day = '2026-01-02';
SELECT privacy_score.withdraw_dependency('hospital', 'department', 'departmenthead');
SELECT privacy_score.confirm_dependency('hospital', 'departmenthead', 'department');
SELECT p AS other_direction FROM figures WHERE day = '2026-01-02';
SELECT privacy_score.withdraw_dependency('hospital', 'departmenthead', 'department');
-- identifiers_count = off: identifiers take no part in rates.
SET privacy_score.alpha = 1;
SET privacy_score.identifiers_count = off;
SELECT day, p, tight, statements FROM figures ORDER BY day;
SELECT '2026-01-04' AS day, r4(g + 3 * gd) AS tight_by_hand FROM r;
SET privacy_score.identifiers_count = on;
SECURITY LABEL FOR privacy_score ON COLUMN hospital.lastname IS NULL;

-- counting: an n-gram that occurs twice is paid once, or twice. where_counts: filters reveal, or do not.
INSERT INTO log VALUES
  ('regress_scores_twice', 'base of twice', '2026-01-01', 'g gd g gd'),
  ('regress_scores_twice', 'twice', '2026-01-02', 'lgd lgd lgd'),
  ('regress_scores_where', 'base of where', '2026-01-01', 'g gd g gd'),
  ('regress_scores_where', 'where', '2026-01-02', 'gwl lgd gd');
SELECT privacy_score.import_statements($$SELECT session, role, at, sql FROM scores.statements WHERE role <> 'regress_scores'$$);
SELECT privacy_score.set_baseline(role, '2026-01-01', '2026-01-01') FROM (VALUES ('regress_scores_twice'), ('regress_scores_where')) v(role) ORDER BY role;
CREATE VIEW twice AS
  SELECT ngrams, mismatched, r4(score) AS p, r4(max_score) AS m, r4(tight_max) AS tight, r4(normalised) AS normalised, r4(statement_score) AS statements
    FROM privacy_score.score('regress_scores_twice', '2026-01-02', '2026-01-02');
SELECT * FROM twice;
SET privacy_score.counting = 'multiset';
SELECT * FROM twice;
SELECT 'set' AS counting, r4(1 - gd + 1 - g) AS p_by_hand, r4(1 - gd) AS statements FROM r
 UNION ALL SELECT 'multiset', r4(2 * (1 - gd + 1 - g)), r4(3 * (1 - gd)) FROM r ORDER BY counting DESC;
RESET privacy_score.counting;
SELECT r4(score) AS p, r4(tight_max) AS tight FROM privacy_score.score('regress_scores_where', '2026-01-02', '2026-01-02');
SET privacy_score.where_counts = off;
SELECT r4(score) AS p, r4(1 - gd + 1 - g) AS by_hand, r4(tight_max) AS tight, r4(g + 1 + 1 + gd) AS tight_by_hand
  FROM privacy_score.score('regress_scores_where', '2026-01-02', '2026-01-02'), r;
RESET privacy_score.where_counts;
SELECT privacy_score.drop_baseline(role) FROM (VALUES ('regress_scores_twice'), ('regress_scores_where')) v(role) ORDER BY role;

-- A baseline can be moved: exported, dropped, imported.
CREATE TABLE moved AS SELECT privacy_score.export_baseline('regress_scores') AS baseline;
SELECT baseline->'version' AS version, baseline->>'role' AS role, baseline->>'from_day' AS from_day, baseline->>'to_day' AS to_day,
       baseline->'sessions' AS sessions, jsonb_array_length(baseline->'ngrams') AS ngrams,
       jsonb_array_length(baseline->'session_sets') AS session_sets, jsonb_array_length(baseline->'abstractions') AS abstractions
  FROM moved;
CREATE TABLE before AS SELECT * FROM figures;
SELECT privacy_score.drop_baseline('regress_scores');
SELECT privacy_score.export_baseline('regress_scores') IS NULL AS nothing_to_export;
SELECT day, p = tight AS all_is_new FROM figures ORDER BY day;
SELECT privacy_score.import_baseline(baseline) AS recorded_ngrams FROM moved;
SELECT count(*) AS different FROM ((TABLE before EXCEPT TABLE figures) UNION ALL (TABLE figures EXCEPT TABLE before)) d;
SELECT privacy_score.export_baseline('regress_scores') = baseline AS same_export FROM moved;
-- Days of long ago, and without end.
SELECT privacy_score.import_baseline(baseline || '{"role": "regress_scores_ever", "from_day": "0044-03-15 BC", "to_day": "infinity"}') > 0 AS ever FROM moved;
SELECT from_day, to_day FROM privacy_score.baselines WHERE role = 'regress_scores_ever';
SELECT privacy_score.drop_baseline('regress_scores_ever');
-- A new version replaces the one in force; earlier versions are kept.
SELECT privacy_score.set_baseline('regress_scores', '2026-01-01', '2026-01-03') AS distinct_ngrams;
SELECT from_day, to_day, sessions, active FROM privacy_score.baseline WHERE role = 'regress_scores' ORDER BY id;
SELECT day, p, mismatched FROM figures ORDER BY day;
SET privacy_score.pad = on;
SELECT privacy_score.set_baseline('regress_scores', '2026-01-01', '2026-01-01') AS with_padding;
SET privacy_score.pad = off;

-- The views show the same, for all roles.
SELECT v.role, count(*) AS days, bool_and(v.score = s.score AND v.cumulative >= s.score) AS same
  FROM privacy_score.stat_days v, LATERAL privacy_score.score(v.role, v.day, v.day) s
 WHERE v.role LIKE 'regress\_scores%' GROUP BY v.role ORDER BY v.role;
SELECT role, baseline_ngrams, baseline_from, baseline_to, today, r4(cumulative) AS cumulative, alerts, blocked
  FROM privacy_score.stat_roles WHERE role LIKE 'regress\_scores%' ORDER BY role;
SELECT role, day, count(*), r4(sum(score)) AS p FROM privacy_score.stat_mismatches WHERE role LIKE 'regress\_scores%' GROUP BY role, day ORDER BY role, day;
SELECT tokens, calls FROM privacy_score.stat_abstractions WHERE 't:scores.hospital' = ANY (tokens) ORDER BY tokens;

-- Importing the same log again changes nothing.
SELECT privacy_score.import_statements('SELECT session, role, at, sql FROM scores.statements');
SELECT tokens, calls FROM privacy_score.stat_abstractions WHERE 't:scores.hospital' = ANY (tokens) ORDER BY tokens;
SELECT count(*) AS sessions, sum(queries) AS queries FROM privacy_score.session WHERE role LIKE 'regress\_scores%';

-- The length of n-grams. Mismatch by hand, days 1 to 4, no padding: n = 1: 0, 1/3, 0, 1/3; n = 2: 1/3, 1, 1/2, 1; n = 3:
-- all; n = 4: the one n-gram of the first day; longer ones do not exist and are never chosen.
SELECT ngram_length, CASE WHEN ngram_length <= 4 THEN r4(mismatch_rate) END AS mismatch_rate, chosen
  FROM privacy_score.choose_ngram_length('regress_scores', '2026-01-01', '2026-01-04') ORDER BY ngram_length;
SELECT ngram_length, r4(mismatch_rate) AS mismatch_rate, chosen
  FROM privacy_score.choose_ngram_length('regress_scores', '2026-01-01', '2026-01-04', 2) ORDER BY ngram_length;
-- Padded: n = 2: (-,g) of three days, so 1/4, 2/3, 1/3, 1.
SET privacy_score.pad = on;
SELECT ngram_length, r4(mismatch_rate) AS mismatch_rate, chosen
  FROM privacy_score.choose_ngram_length('regress_scores', '2026-01-01', '2026-01-04', 2) ORDER BY ngram_length;

-- Sessions are cut after idle_gap and at midnight; statements count in order of time; each role has its own.
CREATE TABLE raw (session text, role name, at timestamptz, sql text);
INSERT INTO raw SELECT v.session, v.role, v.at, s.sql FROM statement s
  JOIN (VALUES ('long', 'regress_scores_cut', '2026-02-01 10:10+00'::timestamptz, 'gd'), ('long', 'regress_scores_cut', '2026-02-01 10:00+00', 'g'),
               ('long', 'regress_scores_cut', '2026-02-01 10:40+00', 'lg'), ('long', 'regress_scores_cut', '2026-02-01 11:10:01+00', 'g'),
               ('night', 'regress_scores_cut', timestamp '2026-02-01 23:59' AT TIME ZONE current_setting('log_timezone'), 'g'),
               ('night', 'regress_scores_cut', timestamp '2026-02-02 00:01' AT TIME ZONE current_setting('log_timezone'), 'gd'),
               ('long', 'regress_scores_too', '2026-02-01 10:05+00', 'lg')) v(session, role, at, name) ON s.name = v.name;
INSERT INTO raw VALUES ('long', 'regress_scores_cut', '2026-02-01 10:05+00', 'SET work_mem = 64'), ('none', 'regress_scores_cut', '2026-02-01 10:05+00', '');
SELECT privacy_score.import_statements('TABLE scores.raw') AS with_an_abstraction;
SELECT role, day, session, queries FROM privacy_score.session WHERE role IN ('regress_scores_cut', 'regress_scores_too') ORDER BY role, started;
SELECT day, session, queries, ngrams FROM privacy_score.score_sessions('regress_scores_cut', '-infinity', 'infinity') ORDER BY day, session;
-- Cut anew by another idle_gap, the old pieces are replaced.
SET privacy_score.idle_gap = '1h';
SELECT privacy_score.import_statements('TABLE scores.raw') AS with_an_abstraction;
SELECT role, day, session, queries FROM privacy_score.session WHERE role IN ('regress_scores_cut', 'regress_scores_too') ORDER BY role, started;
RESET privacy_score.idle_gap;

-- Why the published form is not the default: a key that everyone filters by identifies fully.
SELECT privacy_score.drop_baseline('regress_scores');
CREATE TABLE keyed (id int PRIMARY KEY, a text, b text);
INSERT INTO keyed VALUES (1, 'x', 'p'), (2, 'x', 'q'), (3, 'y', 'p'), (4, 'y', 'q');
SELECT privacy_score.protect('keyed');
SELECT privacy_score.import_statements($$VALUES
  ('base', 'regress_scores_key'::name, '2026-01-01 12:00+00'::timestamptz, 'SELECT a FROM scores.keyed WHERE id = 1'),
  ('day', 'regress_scores_key', '2026-01-02 12:00+00', 'SELECT a, b FROM scores.keyed WHERE id = 1')$$);
SELECT privacy_score.set_baseline('regress_scores_key', '2026-01-01', '2026-01-01');
SELECT r4(score) AS published, r4(tight_max) AS tight FROM privacy_score.score('regress_scores_key', '2026-01-02', '2026-01-02');
RESET privacy_score.alpha;
RESET privacy_score.identifiers_count;
RESET privacy_score.pad;
RESET privacy_score.ngram_length;
SELECT r4(score) AS ours, r4(.5 * .5 + .5 * .99) AS by_hand, max_score, r4(tight_max) AS tight, r4(.5 + .5 * (1 - .51 * .51 * .01)) AS tight_by_hand
  FROM privacy_score.score('regress_scores_key', '2026-01-02', '2026-01-02');
SELECT privacy_score.drop_baseline('regress_scores_key');

DELETE FROM privacy_score.session WHERE role LIKE 'regress\_scores%';
DELETE FROM privacy_score.baseline WHERE role LIKE 'regress\_scores%';
SELECT privacy_score.unprotect('hospital');
SELECT privacy_score.unprotect('keyed');
DROP SCHEMA scores CASCADE;

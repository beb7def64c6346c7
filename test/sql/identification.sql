-- What a statement as text reveals: the published form, its identification, comparison of two statements, explanation.
SET client_min_messages = warning;
SET privacy_score.baseline_min_sessions = 0;
-- The surprise of a column depends on all baselines: none of another test may be in force.
DO $$ BEGIN PERFORM privacy_score.drop_baseline(role, end_user) FROM privacy_score.baseline WHERE active; END $$;
CREATE SCHEMA identification;
SET search_path = identification, public;
CREATE TABLE hospitaldb (firstName text, lastName text, gender text, department text, city text, departmentHead text);
INSERT INTO hospitaldb VALUES
  ('John', 'Smith', 'Male', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Bob', 'Lopez', 'Male', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Alice', 'Miller', 'Female', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Bob', 'Smith', 'Male', 'Cardiology', 'Vancouver', 'Dr.Albert'),
  ('John', 'Wilson', 'Male', 'Cardiology', 'Vancouver', 'Dr.Albert');
CREATE TABLE published (n int PRIMARY KEY, sql text);
INSERT INTO published VALUES
  (1, 'SELECT lastName, gender, city FROM hospitaldb WHERE firstName = ''Bob'''),
  (2, 'SELECT lastName, gender FROM hospitaldb WHERE firstName = ''Bob'''),
  (3, 'SELECT lastName, gender, department FROM hospitaldb'),
  (4, 'SELECT lastName, department FROM hospitaldb WHERE firstName = ''Alice''');
CREATE FUNCTION r4(value float8) RETURNS numeric LANGUAGE sql RETURN round(value::numeric, 4);

-- The published form and the canonical tokens; literals, order and aliases do not matter for the tokens.
SELECT n, privacy_score.abstract_query_poster(sql) FROM published ORDER BY n;
SELECT n, privacy_score.abstract_query(sql) FROM published ORDER BY n;
SELECT privacy_score.abstract_query('select h.gender AS g, h.lastname from identification.hospitaldb h where ''Eve'' = h.firstname')
       = privacy_score.abstract_query(sql) AS same FROM published WHERE n = 2;
SELECT privacy_score.abstract_query('SELECT firstname FROM') AS unparsed, privacy_score.abstract_query('') AS nothing,
       privacy_score.abstract_query('SELECT 1') AS no_relation, privacy_score.abstract_query('SELECT x FROM nosuch') AS unresolved;

-- DRSQL is the combined rate of what is revealed; the relation need not be declared.
SELECT p.n, r4(privacy_score.query_identification(p.sql)) AS identification, r4(privacy_score.combined_discrimination_rate('hospitaldb', v.columns)) AS of_the_columns
  FROM published p JOIN (VALUES (1, '{lastname,gender,city,firstname}'::name[]), (2, '{lastname,gender,firstname}'),
       (3, '{lastname,gender,department}'), (4, '{lastname,department,firstname}')) v(n, columns) USING (n) ORDER BY p.n;
SELECT v.sql, r4(privacy_score.query_identification(v.sql)) AS identification, v.by_hand
  FROM (VALUES ('SELECT gender FROM hospitaldb', .3109), ('SELECT count(*) FROM hospitaldb', 0), ('SELECT city FROM hospitaldb', 0),
               ('SELECT avg(length(lastname)) FROM hospitaldb', 0), ('SELECT max(lastname) FROM hospitaldb', .8277),
               ('SELECT gender, count(*) FROM hospitaldb GROUP BY gender, department', .6555),
               ('SELECT gender FROM hospitaldb ORDER BY department LIMIT 1', .6555), ('SELECT gender FROM hospitaldb ORDER BY department', .3109),
               ('SELECT count(*) FROM hospitaldb WHERE gender = ''Male'' AND department = ''Oncology''', .6555),
               ('UPDATE hospitaldb SET city = ''Cork'' WHERE gender = ''Male''', .3109), ('SELECT 1', 0), ('', 0),
               ('SELECT relname FROM pg_class', 0), ('SELECT x FROM nosuch', 0),
               ('SELECT gender FROM hospitaldb; SELECT department FROM hospitaldb', .6555)) v(sql, by_hand) ORDER BY v.sql;
SET privacy_score.where_counts = off;
SELECT n, r4(privacy_score.query_identification(sql)) AS without_filters FROM published ORDER BY n;
RESET privacy_score.where_counts;
\set VERBOSITY terse
SELECT privacy_score.query_identification('SELECT gender FROM');
\set VERBOSITY default

-- The declared subject decides.
SELECT privacy_score.protect('hospitaldb', '{lastname}');
SELECT r4(privacy_score.query_identification('SELECT gender FROM hospitaldb')) AS x_lastname, .3756 AS by_hand;
SELECT privacy_score.protect('hospitaldb');

-- Several relations: the rates add up where a foreign key says that the subject is the same, else the greatest counts.
CREATE TABLE person (id int PRIMARY KEY, gender text);
CREATE TABLE diet (person_id int PRIMARY KEY REFERENCES person, food text);
CREATE TABLE other (id int PRIMARY KEY, shape text, size text);
INSERT INTO person SELECT n, n % 2 FROM generate_series(1, 8) n;
INSERT INTO diet SELECT n, CASE WHEN n <= 4 THEN 'a' ELSE 'b' END FROM generate_series(1, 8) n;
INSERT INTO other SELECT n, n % 4, n / 8 FROM generate_series(1, 16) n;
SELECT privacy_score.protect('person'), privacy_score.protect('diet'), privacy_score.protect('other');
SELECT v.sql, r4(privacy_score.query_identification(v.sql)) AS identification, v.by_hand
  FROM (VALUES ('SELECT gender FROM person', .3333), ('SELECT food FROM diet', .3333), ('SELECT shape FROM other', .5000),
               ('SELECT gender, food FROM person, diet', .6667), ('SELECT gender, shape FROM person, other', .5000),
               ('SELECT gender, food, shape FROM person, diet, other', .6667), ('SELECT p.*, d.* FROM person p, diet d', 1)) v(sql, by_hand)
 ORDER BY v.sql;
SELECT privacy_score.protect('diet', '{food}');
SELECT r4(privacy_score.query_identification('SELECT gender, food FROM person, diet WHERE food <> ''''')) AS other_subject, 1 AS by_hand;

-- Which of two statements reveals more. firstName determines gender, city is nothing: the first two are equivalent.
SELECT a.n AS first, b.n AS second, c.relation, r4(c.rate1) AS rate1, r4(c.rate2) AS rate2, r4(c.combined_rate) AS combined_rate
  FROM published a, published b, privacy_score.compare_queries(a.sql, b.sql) c WHERE a.n < b.n ORDER BY 1, 2;
SELECT v.columns1, v.columns2, c.relation, r4(c.rate1) AS rate1, r4(c.rate2) AS rate2, r4(c.combined_rate) AS combined_rate
  FROM (VALUES ('firstname', 'gender, department'), ('department', 'departmenthead'), ('department', 'department, departmenthead'),
               ('city', 'count(*)'), ('firstname', 'firstname, gender'), ('gender', 'firstname'), ('lastname, department', 'firstname'),
               ('gender', 'department'), ('firstname, lastname', 'lastname, department'), ('gender', 'gender')) v(columns1, columns2),
       privacy_score.compare_queries('SELECT ' || columns1 || ' FROM hospitaldb', 'SELECT ' || columns2 || ' FROM hospitaldb') c
 ORDER BY 1, 2;
\set VERBOSITY terse
SELECT * FROM privacy_score.compare_queries('SELECT 1', 'SELEC 2');
\set VERBOSITY default

-- An explanation in JSON.
SELECT jsonb_object_keys(e) AS key FROM privacy_score.explain_query((SELECT sql FROM published WHERE n = 1)) e ORDER BY 1;
SELECT e->'version' AS version, e->'role' = to_jsonb(session_user) AS own, e->'baseline' AS baseline, e->'known' AS known, e->'estimated' AS estimated
  FROM privacy_score.explain_query((SELECT sql FROM published WHERE n = 1)) e;
SELECT privacy_score.import_statements($$VALUES
  ('s', 'regress_identification'::name, '2026-01-01 12:00+00'::timestamptz, 'SELECT gender, department FROM hospitaldb')$$);
SELECT privacy_score.set_baseline('regress_identification', '2026-01-01', '2026-01-01');
\pset expanded on
SELECT e->'abstraction' AS abstraction, e->'revealed_columns' AS revealed_columns, e->'scored_columns' AS scored_columns,
       r4((e->'identification')::float8) AS identification, e->'nearest' AS nearest, r4((e->'delta')::float8) AS delta,
       r4((e->'tau')::float8) AS tau, jsonb_path_query_array(e, '$.new_columns[*].column') AS new_columns,
       r4((e#>'{new_columns,0,probability}')::float8) AS probability, e->'attributes' AS attributes, r4((e->'score')::float8) AS score, e->'known' AS known
  FROM privacy_score.explain_query('SELECT lastname, gender FROM hospitaldb', 'regress_identification') e;
\pset expanded off
-- By hand: delta 1 - .6555 = .3445, tau 1 - 0.01, score (delta + tau)/2; a known statement scores nothing.
SELECT r4((.3445 + .99) / 2) AS about, e->'score' AS known_score, e->'known' AS known
  FROM privacy_score.explain_query('SELECT department, gender FROM hospitaldb', 'regress_identification') e;
SELECT e->'abstraction' AS abstraction, e->'revealed_columns' AS revealed, e->'score' AS score FROM privacy_score.explain_query('SELEC') e;
SELECT e->'revealed_columns' AS revealed, e->'identification' AS identification FROM privacy_score.explain_query('') e;
SELECT privacy_score.explain_query(NULL) IS NULL AS null_in_null_out;

SELECT privacy_score.drop_baseline('regress_identification');
DELETE FROM privacy_score.session WHERE role = 'regress_identification';
DELETE FROM privacy_score.baseline WHERE role = 'regress_identification';
SELECT privacy_score.unprotect(relation) FROM privacy_score.protected_relations ORDER BY relation::text;
DROP SCHEMA identification CASCADE;

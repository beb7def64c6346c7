-- Counts under set-size control.
CREATE SCHEMA loss_techniques;
SET search_path = loss_techniques, public;
SET client_min_messages = warning;
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
CREATE TABLE patient (id int PRIMARY KEY, age int, ward text);
INSERT INTO patient SELECT i, CASE WHEN i % 10 <> 0 THEN 20 + i END, CASE WHEN i <= 3 THEN 'burns' ELSE 'general' END FROM generate_series(1, 20) i;
-- 20 records, 18 with an age; a set of 3, its complement, sets of 4 and 16 with a minimum of 4, and of all records
SELECT p, privacy_score.restricted_count('patient', p, 4) AS answer
  FROM unnest(ARRAY['ward = ''burns''', 'ward <> ''burns''', 'id <= 4', 'id > 4', 'id > 0', 'id < 0', 'age > 30', 'NOT age > 30', 'age IS NULL', 'id <= 10']) p;
SELECT m, privacy_score.restricted_count('patient', 'ward = ''burns''', m) AS answer FROM generate_series(1, 4) m;
-- the owner's function for those who may not read the table
CREATE ROLE technique_reader;
GRANT USAGE ON SCHEMA loss_techniques TO technique_reader;
CREATE FUNCTION patients(predicate text) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  RETURN privacy_score.restricted_count('loss_techniques.patient', predicate, 5);
SET ROLE technique_reader;
SELECT patients('id <= 10') AS answer, patients('id <= 4') AS refused;
SELECT attempt($$SELECT privacy_score.restricted_count('patient', 'id <= 10', 5)$$);
RESET ROLE;
-- errors
CREATE TABLE attempts (n int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO attempts (call) VALUES
  ('restricted_count(NULL, ''id > 3'', 5)'),
  ('restricted_count(''patient'', NULL, 5)'),
  ('restricted_count(''patient'', ''id > 3'', NULL)'),
  ('restricted_count(''patient'', ''id > 3'', 0)'),
  ('restricted_count(''patient'', ''nosuch > 3'', 5)'),
  ('restricted_count(''patient'', ''id > 3; DROP TABLE patient'', 5)'),
  ('restricted_count(''patient'', ''1 / (id - 1) > 0'', 5)'),
  ('restricted_count(''patient'', ''id IN (SELECT 1)'', 5)');
SELECT n, call, attempt('SELECT privacy_score.' || call) FROM attempts ORDER BY n;
DROP SCHEMA loss_techniques CASCADE;
DROP ROLE technique_reader;

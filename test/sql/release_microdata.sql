-- Samples and records with noise, published as tables: exact sizes, the laws of what is drawn, refusals, and that nothing is left behind.
-- Statistical checks are within 6 standard deviations: each calls a good release bad with a probability below 1e-8.
CREATE SCHEMA microdata;
SET search_path = microdata, public;
SET client_min_messages = error;
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
CREATE DOMAIN grade AS smallint CHECK (VALUE BETWEEN 1 AND 5);
CREATE TABLE person (id int PRIMARY KEY, age smallint, salary numeric(6,2), weight real, height float8, name text COLLATE "C", born date, grade grade, note text);
INSERT INTO person SELECT i, 20 + i % 25, 10 + i % 41 * 0.5, i % 3 + 0.25, i % 7 / 10.0, 'n' || i % 5, date '2000-01-01' + i % 9, 1 + i % 5, CASE WHEN i % 4 = 0 THEN NULL ELSE repeat('x', i % 50) END
  FROM generate_series(1, 5000) i;
ALTER TABLE person DROP COLUMN born, ADD COLUMN born date DEFAULT '2000-01-01';

-- A sample has exactly the size asked for, each record once, as it was; names and types are those of the relation.
SELECT privacy_score.release_sample('person', 'none', 0.00009) AS none, privacy_score.release_sample('person', 'one', 0.0001) AS one, privacy_score.release_sample('person', 'part', 0.12345) AS part, privacy_score.release_sample('person', 'everyone', 1) AS everyone;
SELECT (SELECT count(*) FROM none) AS none, (SELECT count(DISTINCT id) FROM one) AS one, (SELECT count(DISTINCT id) FROM part) AS part, (SELECT count(DISTINCT id) FROM everyone) AS everyone,
       NOT EXISTS (TABLE part EXCEPT TABLE person) AND NOT EXISTS (TABLE person EXCEPT TABLE everyone) AS as_they_were;
SELECT attname, format_type(atttypid, atttypmod) AS type, attnotnull FROM pg_attribute WHERE attrelid = 'part'::regclass AND attnum > 0 ORDER BY attnum;
SELECT obj_description('part'::regclass);
SET client_min_messages = warning;
SELECT privacy_score.release_sample('person', 'part', 0.001, true);
SET client_min_messages = error;
SELECT obj_description('part'::regclass);
-- Every pair of five records is as likely as any other, and so is each order of it: 20 cases of 50 of 1000 draws.
CREATE TABLE five AS SELECT i AS id FROM generate_series(1, 5) i;
CREATE TABLE drawn (first int, second int);
DO $$BEGIN FOR n IN 1..1000 LOOP
  PERFORM privacy_score.release_sample('five', 'two', 0.4, n > 1);
  INSERT INTO drawn SELECT ids[1], ids[2] FROM (SELECT array_agg(id ORDER BY ctid) AS ids FROM two) t;
END LOOP; END$$;
SELECT count(*) AS cases, min(n) > 8 AND max(n) < 92 AS alike FROM (SELECT count(*) AS n FROM drawn GROUP BY first, second) d;
-- The same from disk: half of 60000 records, in an order that goes with nothing.
CREATE TABLE many AS SELECT i AS id, repeat('x', 40) AS note FROM generate_series(1, 60000) i;
SET maintenance_work_mem = '1MB';
SELECT privacy_score.release_sample('many', 'half', 0.5);
SELECT privacy_score.release_perturbed('many', 'all_of_it', '{note}', 50) AS rows;
RESET maintenance_work_mem;
SELECT count(*), count(DISTINCT id), abs(avg(id) - 30000.5) < 6 * 17320 / sqrt(60000) AS from_all_over, abs(corr(id, n)) < 6 / sqrt(30000) AS in_any_order,
       count(*) FILTER (WHERE id % 2 = 0) BETWEEN 14480 AND 15520 AS even FROM (SELECT id, row_number() OVER () AS n FROM half) h;
SELECT count(DISTINCT id), abs(corr(id, n)) < 6 / sqrt(60000) AS in_any_order FROM (SELECT id, row_number() OVER () AS n FROM all_of_it) h;

-- Noise: 25 ages, 20 percent: M = 4. The other columns stay, so each record can be found by its key.
SELECT privacy_score.release_perturbed('person', 'noisy', '{age,salary,name}', 20);
SELECT attname, format_type(atttypid, atttypmod) AS type, col_description('noisy'::regclass, attnum) AS comment FROM pg_attribute
 WHERE attrelid = 'noisy'::regclass AND attname IN ('id', 'age', 'salary', 'name') ORDER BY attnum;
SELECT obj_description('noisy'::regclass);
SELECT count(*) AS records, count(*) FILTER (WHERE (n.weight, n.height, n.grade, n.born, n.note) IS NOT DISTINCT FROM (p.weight, p.height, p.grade, p.born, p.note)) AS others_as_they_were
  FROM noisy n JOIN person p USING (id);
SELECT noise, abs(records - 5000 * law) < 6 * sqrt(5000 * law * (1 - law)) AS as_binomial
  FROM (SELECT n.age - p.age AS noise, count(*) AS records FROM noisy n JOIN person p USING (id) GROUP BY 1) d FULL JOIN (VALUES (-2, 0.0625), (-1, 0.25), (0, 0.375), (1, 0.25), (2, 0.0625)) l(noise, law) USING (noise) ORDER BY 1;
-- 41 salaries in steps of 0.5, M = 8: up to 2 beyond both ends. Five names by number, M = 0 (0.8 to the nearest even number).
SELECT min(n.salary) BETWEEN 8 AND 9.5 AS below, max(n.salary) BETWEEN 30.5 AND 32 AS above, max(abs(n.salary - p.salary)) AS most, count(*) FILTER (WHERE n.salary % 0.5 <> 0) AS off_grid,
       variance(n.salary - p.salary) BETWEEN 0.44 AND 0.56 AS half_a_unit, count(*) FILTER (WHERE n.name <> substr(p.name, 2)::int + 1) AS names_moved FROM noisy n JOIN person p USING (id);
-- What is released in one column tells nothing of the noise in another.
SELECT abs(corr(n.age - p.age, n.salary - p.salary)) < 6 / sqrt(5000) AS independent FROM noisy n JOIN person p USING (id);
-- All columns, NULL among them; what the noise leads to is a number or, of other types, the number of the value.
SELECT privacy_score.release_perturbed('person', 'noisy', NULL, 100, true);
SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = 'noisy'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*) AS records, count(*) FILTER (WHERE note IS NULL) AS without, min(weight) >= -0.75 AND max(weight) <= 3.25 AS weights, min(height::numeric) >= -0.3 AND max(height::numeric) <= 0.9 AS heights,
       min(name) >= -1 AND max(name) <= 7 AS names, min(grade) >= -1 AND max(grade) <= 7 AS grades, min(born) = 1 AND max(born) = 1 AS born, count(*) FILTER (WHERE weight::numeric % 1 NOT IN (0.25, -0.75)) AS off_grid FROM noisy;
-- Unequal steps go on by their median; no noise gives the values back.
CREATE TABLE uneven AS SELECT * FROM (VALUES (1, -5), (2, 0), (3, 1), (4, 2), (5, 100)) v(id, x);
CREATE TABLE seen (x bigint);
DO $$BEGIN FOR n IN 1..300 LOOP
  PERFORM privacy_score.release_perturbed('uneven', 'moved', '{x}', 100, n > 1);
  INSERT INTO seen SELECT x FROM moved;
END LOOP; END$$;
SELECT array_agg(DISTINCT x ORDER BY x) FROM seen;
SELECT privacy_score.release_perturbed('uneven', 'moved', '{x}', 0, true);
SELECT count(*) FROM moved JOIN uneven USING (id, x);
-- What the measures say of it: the posterior of what was released is that of noise_posterior().
SELECT privacy_score.noise_posterior(5, array_agg(n::int), 4) IS NOT NULL AS possible FROM (SELECT CASE WHEN x < -5 THEN (x + 6) WHEN x > 100 THEN x - 95 ELSE array_position('{-5,0,1,2,100}', x::int) END AS n FROM (SELECT x FROM seen LIMIT 20) s) n;
-- No records, one value, only NULL, no columns.
CREATE TABLE nobody (id int, name text);
SELECT privacy_score.release_sample('nobody', 'n1', 0.5), privacy_score.release_perturbed('nobody', 'n2', NULL, 50);
INSERT INTO nobody VALUES (7, NULL), (7, NULL);
SELECT privacy_score.release_perturbed('nobody', 'n3', NULL, 1000);
TABLE n3;
CREATE TABLE bare ();
INSERT INTO bare DEFAULT VALUES;
SELECT privacy_score.release_sample('bare', 'n4', 1);
SELECT count(*) FROM n4;
-- A column that has to be fetched from elsewhere, from a view and a partitioned table.
CREATE TABLE wide (id int, body text) PARTITION BY RANGE (id);
CREATE TABLE wide_1 PARTITION OF wide DEFAULT;
ALTER TABLE wide_1 ALTER body SET STORAGE EXTERNAL;
INSERT INTO wide SELECT i, repeat(md5(i::text), 200) FROM generate_series(1, 40) i;
CREATE VIEW wide_view AS SELECT id * 2 AS twice, body FROM wide;
SELECT privacy_score.release_sample('wide', 'w1', 0.5), privacy_score.release_sample('wide_view', 'w2', 1);
SELECT (SELECT count(*) FROM w1 JOIN wide USING (id, body)), (SELECT count(*) FROM w2 JOIN wide_view USING (twice, body));

-- Refusals; nothing is left behind.
CREATE TABLE odd (id int, place point, x float8, big bigint, plain json);
INSERT INTO odd VALUES (1, '(1,1)', 'NaN', 9223372036854775807, '{}'), (2, '(2,2)', 1, 1, '{}'), (3, '(2,2)', 2, 9000000000000000000, '{}');
CREATE TABLE mine (id int);
CREATE TABLE attempts (n int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO attempts (call) VALUES
  ('release_sample(NULL, ''t'', 0.5)'),
  ('release_sample(''person'', NULL, 0.5)'),
  ('release_sample(''person'', ''t'', NULL)'),
  ('release_sample(''person'', ''t'', 0)'),
  ('release_sample(''person'', ''t'', 1.5)'),
  ('release_sample(''person'', ''t'', -1)'),
  ('release_sample(''person'', ''t'', ''NaN'')'),
  ('release_sample(''person'', ''t'', 0.5, NULL)'),
  ('release_sample(''person'', ''nosuch.t'', 0.5)'),
  ('release_sample(''person'', ''two words'', 0.5)'),
  ('release_sample(''person'', ''mine'', 0.5)'),
  ('release_sample(''person'', ''mine'', 0.5, true)'),
  ('release_sample(''part'', ''part'', 0.5, true)'),
  ('release_sample(''person_pkey'', ''t'', 0.5)'),
  ('release_perturbed(''person'', ''t'', ''{}'', 20)'),
  ('release_perturbed(''person'', ''t'', ''{age,NULL}'', 20)'),
  ('release_perturbed(''person'', ''t'', ''{age,age}'', 20)'),
  ('release_perturbed(''person'', ''t'', ''{nosuch}'', 20)'),
  ('release_perturbed(''person'', ''t'', ''{age}'', NULL)'),
  ('release_perturbed(''person'', ''t'', ''{age}'', -1)'),
  ('release_perturbed(''person'', ''t'', ''{age}'', 1001)'),
  ('release_perturbed(''person'', ''t'', ''{age}'', ''NaN'')'),
  ('release_perturbed(''odd'', ''t'', ''{place}'', 20)'),
  ('release_perturbed(''odd'', ''t'', NULL, 20)'),
  ('release_perturbed(''odd'', ''t'', ''{x}'', 20)'),
  ('release_perturbed(''odd'', ''t'', ''{big}'', 100)');
SELECT n, call, attempt('SELECT privacy_score.' || call) FROM attempts ORDER BY n;
SELECT to_regclass('t') IS NULL AS nothing_left, (SELECT count(*) FROM mine) AS mine;
-- With the caller's rights: every column must be readable, rows are those that a policy lets through, and the table is the caller's alone.
CREATE ROLE microdata_alice;
CREATE ROLE microdata_eve;
GRANT USAGE, CREATE ON SCHEMA microdata TO microdata_alice;
GRANT USAGE ON SCHEMA microdata TO microdata_eve;
GRANT SELECT (id, age) ON person TO microdata_alice;
SET ROLE microdata_alice;
SELECT attempt($$SELECT privacy_score.release_sample('person', 'hers', 0.5)$$);
RESET ROLE;
GRANT SELECT ON person TO microdata_alice, microdata_eve;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY young ON person TO microdata_alice USING (age < 30);
ALTER DEFAULT PRIVILEGES FOR ROLE microdata_alice IN SCHEMA microdata GRANT SELECT ON TABLES TO PUBLIC;
SET ROLE microdata_alice;
SELECT privacy_score.release_sample('person', 'hers', 0.5), privacy_score.release_perturbed('person', 'hers_too', '{age}', 0);
SELECT max(age) FROM hers;
SELECT max(age), count(*) FROM hers_too;
SET ROLE microdata_eve;
SELECT attempt('SELECT count(*) FROM hers'), attempt('SELECT count(*) FROM hers_too'), attempt($$SELECT privacy_score.release_sample('five', 'eves', 0.5)$$), attempt($$SELECT privacy_score.release_sample('person', 'eves', 0.5)$$);
RESET ROLE;
-- In the caller's transaction.
BEGIN;
SELECT privacy_score.release_sample('person', 'part', 0.5, true);
ROLLBACK;
SELECT count(*) FROM part;
BEGIN READ ONLY;
SELECT privacy_score.release_sample('person', 't', 0.5);
ROLLBACK;
-- Where it is when the time is over differs.
\set SHOW_CONTEXT never
SET statement_timeout = '40ms';
SELECT privacy_score.release_perturbed('many', 't', '{id}', 1000);
RESET statement_timeout;
\set SHOW_CONTEXT errors
SELECT to_regclass('t') IS NULL AS nothing_left, privacy_score.release_sample('five', 't', 1) AS goes_on;
DROP SCHEMA microdata CASCADE;
DROP ROLE microdata_alice, microdata_eve;

-- Whether a statement reads a protected relation, by plan.
SET client_min_messages = warning;
CREATE SCHEMA reads;
SET search_path = reads, public;
CREATE TABLE patients (id int PRIMARY KEY, name text, city text);
CREATE TABLE cities (city text PRIMARY KEY, country text);
CREATE TABLE log (entry text);
CREATE TABLE visits (id int, patient int, at date) PARTITION BY RANGE (at);
CREATE TABLE visits_2025 PARTITION OF visits FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE children () INHERITS (patients);
CREATE VIEW names AS SELECT name FROM patients;
CREATE VIEW no_names AS SELECT city FROM cities;
CREATE FUNCTION names_of(wanted text) RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT name FROM reads.patients WHERE city = wanted';
CREATE VIEW answers AS SELECT n, q, privacy_score.reads_protected(q) AS reads FROM (VALUES
  (1, 'SELECT name FROM patients'), (2, 'SELECT count(*) FROM patients'), (3, 'SELECT * FROM names'), (4, 'SELECT * FROM names_of(''Cork'')'),
  (5, 'SELECT country FROM cities WHERE city IN (SELECT city FROM patients)'), (6, 'WITH p AS MATERIALIZED (SELECT * FROM patients) SELECT 1 FROM p'),
  (7, 'INSERT INTO log SELECT name FROM patients'), (8, 'UPDATE patients SET name = upper(name)'), (9, 'DELETE FROM patients WHERE id = 1'),
  (10, 'INSERT INTO patients VALUES (1) RETURNING id'), (11, 'COPY patients TO STDOUT'), (12, 'COPY (TABLE patients) TO STDOUT'),
  (13, 'CREATE TABLE x AS TABLE patients'), (14, 'EXPLAIN SELECT name FROM patients'), (15, 'SELECT * FROM visits'), (16, 'SELECT * FROM visits_2025'),
  (17, 'SELECT * FROM children'), (18, 'SELECT name FROM patients; SELECT 1'), (19, 'SELECT most_common_vals FROM pg_stats'),
  (20, 'MERGE INTO log USING patients ON entry = name WHEN MATCHED THEN DELETE'), (21, 'SELECT 1 FROM patients FOR SHARE'),
  (50, 'SELECT 1'), (51, 'SELECT * FROM cities'), (52, 'SELECT * FROM no_names'), (53, 'INSERT INTO patients VALUES (1, ''Ann'')'),
  (54, 'UPDATE patients SET city = ''Cork'''), (55, 'DELETE FROM patients'), (56, 'COPY patients FROM STDIN'), (57, 'COPY cities TO STDOUT'),
  (58, 'SELECT relname FROM pg_class'), (59, 'TRUNCATE patients'), (60, 'CREATE INDEX ON patients (name)'), (61, 'SELECT * FROM log')) v(n, q);
SELECT bool_or(reads) AS before_protect FROM answers;
SELECT privacy_score.protect('patients'), privacy_score.protect('visits');
SELECT n, q, reads FROM answers ORDER BY n;

-- Takes effect at once, also in a plan that is kept; a roll back takes it back.
SELECT privacy_score.unprotect('visits');
SELECT privacy_score.reads_protected('TABLE visits_2025');
BEGIN;
SELECT privacy_score.protect('visits');
SELECT privacy_score.reads_protected('TABLE visits_2025');
ROLLBACK;
SELECT privacy_score.reads_protected('TABLE visits_2025');
-- Attached and detached.
SELECT privacy_score.protect('visits');
ALTER TABLE visits DETACH PARTITION visits_2025;
SELECT privacy_score.reads_protected('TABLE visits_2025');
ALTER TABLE visits ATTACH PARTITION visits_2025 FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
SELECT privacy_score.reads_protected('TABLE visits_2025');
-- Reading the parent of a protected child reads the child.
CREATE TABLE people (id int);
ALTER TABLE cities ADD id int;
ALTER TABLE cities INHERIT people;
SELECT privacy_score.protect('cities');
SELECT privacy_score.reads_protected('TABLE people'), privacy_score.reads_protected('TABLE ONLY people') AS only_parent;

-- Renamed it stays protected. One made anew under its old name is another, until the first is gone.
ALTER TABLE cities RENAME TO towns;
SELECT privacy_score.reads_protected('TABLE towns');
CREATE TABLE cities (city text);
SELECT privacy_score.reads_protected('TABLE cities');
DROP TABLE towns CASCADE;
SELECT privacy_score.reads_protected('TABLE cities');
DROP TABLE cities;
CREATE TABLE cities (town text);
SELECT privacy_score.reads_protected('TABLE cities');
ALTER SCHEMA reads RENAME TO reads2;
SELECT privacy_score.reads_protected('TABLE reads2.cities') AS another_name, privacy_score.reads_protected('TABLE reads2.visits') AS same_relation;
ALTER SCHEMA reads2 RENAME TO reads;
SELECT privacy_score.reads_protected('TABLE cities');

-- A role's own statistics show nothing of what it may not read.
CREATE ROLE regress_reads;
GRANT USAGE ON SCHEMA reads TO regress_reads;
SET ROLE regress_reads;
SELECT privacy_score.reads_protected('SELECT histogram_bounds FROM pg_stats');
RESET ROLE;
GRANT SELECT (city) ON patients TO regress_reads;
SET ROLE regress_reads;
SELECT privacy_score.reads_protected('SELECT histogram_bounds FROM pg_stats');
SELECT privacy_score.reads_protected('SELECT nosuch FROM patients');
SELECT privacy_score.reads_protected('no SQL');
SELECT privacy_score.protection_changed();
RESET ROLE;

SELECT privacy_score.unprotect(relation) FROM privacy_score.protected_relations ORDER BY relation::text;
SELECT privacy_score.reads_protected('TABLE patients; TABLE cities; TABLE visits');
DROP SCHEMA reads CASCADE;
DROP ROLE regress_reads;

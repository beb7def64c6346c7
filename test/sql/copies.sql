-- Tables made from protected ones keep the class of their columns: reading the copy counts as reading the origin.
SET client_min_messages = warning;
CREATE ROLE regress_copies;
CREATE ROLE regress_copies_owner;
CREATE SCHEMA copies AUTHORIZATION regress_copies_owner;
GRANT USAGE, CREATE ON SCHEMA copies TO regress_copies;
SET search_path = copies, public;
SET ROLE regress_copies_owner;
CREATE TABLE patients (id int PRIMARY KEY, name text, city text, born date);
CREATE TABLE visits (patient int, at date, reason text);
CREATE TABLE cities (city text PRIMARY KEY, country text);
INSERT INTO patients VALUES (1, 'Ann', 'Cork', '1990-01-01'), (2, 'Bob', 'Bray', '1980-01-01');
GRANT SELECT ON patients, visits, cities TO regress_copies;
SELECT privacy_score.protect('patients'), privacy_score.protect('visits');
RESET ROLE;
CREATE FUNCTION tokens(sql text) RETURNS text LANGUAGE sql AS 'SELECT replace(array_to_string(privacy_score.abstract_query_analyzed(sql), '' ''), ''copies.'', '''')';
CREATE FUNCTION recorded(copy text) RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS
  'SELECT format(''%s <- %s.%s'', attribute, origin_name, origin_attribute) FROM privacy_score.copied_column WHERE relation = copy::regclass ORDER BY number, origin_name, origin_attribute';

-- Every way to make a table out of a query, by any role.
SET ROLE regress_copies;
CREATE TABLE plain AS SELECT city, id + 1 AS next, 'x' AS nothing, born FROM patients;
SELECT tokens('SELECT city FROM plain');
SELECT tokens('SELECT * FROM plain WHERE next > 1 ORDER BY nothing');
SELECT tokens('SELECT nothing FROM plain');
SELECT tokens('SELECT count(*) FROM plain');
SELECT tokens('SELECT p FROM plain p');
SELECT tokens('COPY plain TO STDOUT'), tokens('COPY plain (born, nothing) TO STDOUT') AS some;
SELECT * FROM recorded('plain');
SELECT name, city INTO into_it FROM patients;
CREATE TEMP TABLE for_now AS TABLE visits;
PREPARE filling(int) AS SELECT name AS who FROM patients WHERE id = $1;
CREATE TABLE executed AS EXECUTE filling(1);
DO $$ BEGIN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) CREATE TABLE explained AS SELECT born FROM copies.patients'; END $$;
EXPLAIN (COSTS OFF) CREATE TABLE never_made AS SELECT born FROM patients;
DO $$ BEGIN CREATE TABLE in_do AS SELECT reason FROM copies.visits; END $$;
CREATE TABLE without_data AS SELECT city FROM patients WITH NO DATA;
CREATE TABLE IF NOT EXISTS there_first AS SELECT country FROM cities;
CREATE TABLE IF NOT EXISTS there_first AS SELECT city AS country FROM patients;
SELECT tokens('TABLE into_it') AS into_it, tokens('TABLE for_now') AS for_now, tokens('TABLE executed') AS executed;
SELECT tokens('TABLE explained') AS explained, tokens('TABLE in_do') AS in_do, tokens('TABLE without_data') AS without_data, tokens('TABLE there_first') AS there_first;
BEGIN;
CREATE TABLE undone AS SELECT city FROM patients;
SELECT tokens('TABLE undone');
ROLLBACK;
SELECT count(*) AS undone FROM recorded('plain') WHERE recorded LIKE '%undone%';

-- What an output is made of: joins, unions, subqueries, aggregates, views, functions that are looked into.
CREATE VIEW seen AS SELECT name AS called, city FROM patients;
CREATE FUNCTION names_in(wanted text) RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT name FROM copies.patients WHERE city = wanted';
CREATE TABLE mixed AS
  SELECT p.name || v.reason AS pair, c.country, (SELECT max(born) FROM patients) AS eldest, count(*) OVER () AS heads, c.city
    FROM patients p JOIN visits v ON v.patient = p.id LEFT JOIN cities c ON c.city = p.city
  UNION ALL SELECT called, city, NULL, 1, 'x' FROM seen;
SELECT * FROM recorded('mixed');
SELECT tokens('SELECT pair FROM mixed') AS one_column, tokens('SELECT heads FROM mixed') AS own_column;
CREATE TABLE counts AS SELECT city, count(*) AS heads, avg(id) AS mean FROM patients GROUP BY city;
SELECT tokens('SELECT heads, mean FROM counts') AS hidden, tokens('SELECT city, sum(heads) FROM counts GROUP BY city') AS grouped;
CREATE TABLE from_function AS SELECT * FROM names_in('Cork') AS f(name);
SELECT tokens('TABLE from_function');
CREATE TABLE from_statement AS WITH w AS (SELECT born FROM patients) SELECT * FROM w;
SELECT tokens('TABLE from_statement');

-- A copy of a copy; joins, grouping by the key of the origin, writes.
CREATE TABLE again AS SELECT city AS town, nothing FROM plain;
SELECT tokens('SELECT town, nothing FROM again');
CREATE TABLE keyed AS SELECT id, born, city FROM patients;
SELECT tokens('SELECT id, max(born), avg(id) FROM keyed GROUP BY id') AS by_key, tokens('SELECT city, avg(id) FROM keyed GROUP BY city') AS by_city;
SELECT tokens('SELECT 1 FROM keyed k JOIN patients p ON k.id = p.id') AS joined_by_owner;
SELECT tokens('INSERT INTO plain (city) VALUES (''x'')') AS inserted, tokens('UPDATE plain SET city = ''x'' WHERE next = 1') AS updated;
SELECT tokens('DELETE FROM plain RETURNING city') AS deleted, tokens('UPDATE plain SET nothing = city') AS moved;
SELECT tokens('MERGE INTO again USING plain ON town = city WHEN MATCHED THEN UPDATE SET town = plain.nothing') AS merged;

-- SQL text is told the same.
SELECT q, privacy_score.abstract_query(q) = privacy_score.abstract_query_analyzed(q) AS same FROM (VALUES
  (1, 'SELECT city FROM plain'), (2, 'SELECT * FROM plain WHERE next > 1 ORDER BY nothing'), (3, 'SELECT count(*) FROM plain'),
  (4, 'SELECT p FROM plain p'), (5, 'COPY plain TO STDOUT'), (6, 'SELECT pair, heads FROM mixed'), (7, 'TABLE for_now'), (8, 'SELECT town, a.nothing FROM again a JOIN plain p ON a.town = p.city'),
  (9, 'INSERT INTO plain (city) VALUES (''x'')'), (10, 'UPDATE plain SET city = ''x'' WHERE next = 1 RETURNING born'), (11, 'SELECT city FROM copies.plain UNION SELECT who FROM executed'),
  (12, 'WITH w AS (SELECT * FROM keyed) SELECT max(born) FROM w GROUP BY city')) v(n, q) ORDER BY n;
SELECT privacy_score.abstract_query_poster('SELECT city FROM plain');

-- Renamed, dropped and added columns; a renamed copy; a copy that becomes part of a table.
ALTER TABLE plain RENAME city TO harmless;
ALTER TABLE plain RENAME nothing TO city;
ALTER TABLE plain RENAME TO renamed;
SELECT tokens('SELECT harmless FROM renamed') AS class_kept, tokens('SELECT city FROM renamed') AS never_had_one;
SELECT * FROM recorded('renamed');
ALTER TABLE renamed DROP harmless;
ALTER TABLE renamed ADD harmless text;
SELECT tokens('SELECT harmless FROM renamed') AS another_column;
CREATE TABLE whole (name text, city text) PARTITION BY LIST (city);
ALTER TABLE whole ATTACH PARTITION into_it DEFAULT;
SELECT tokens('SELECT name FROM whole') AS whole, tokens('SELECT name FROM into_it') AS part;
CREATE TABLE parent (who text);
ALTER TABLE executed INHERIT parent;
SELECT tokens('SELECT who FROM parent') AS parent, tokens('SELECT who FROM executed') AS child;
RESET ROLE;
-- The origin renamed, dropped.
ALTER TABLE visits RENAME reason TO cause;
ALTER TABLE visits RENAME TO stays;
SELECT tokens('SELECT reason FROM in_do') AS renamed;
DROP TABLE stays;
SELECT tokens('SELECT reason FROM in_do') AS dropped, privacy_score.reads_protected('TABLE in_do');
-- Protected no more, and again.
SELECT privacy_score.unprotect('patients');
SELECT tokens('SELECT town FROM again') AS unprotected, privacy_score.reads_protected('TABLE again');
SELECT privacy_score.protect('patients');
SELECT tokens('SELECT town FROM again') AS protected, privacy_score.reads_protected('TABLE again');

-- Published by the owner of the origin, not by the one who copied.
SET ROLE regress_copies;
SECURITY LABEL FOR privacy_score ON COLUMN again.town IS 'public';
SECURITY LABEL FOR privacy_score ON COLUMN again.nothing IS 'public';
SECURITY LABEL FOR privacy_score ON COLUMN again.town IS 'sensitive';
SELECT tokens('SELECT town FROM again') AS still;
SELECT privacy_score.protect('again');
SELECT tokens('SELECT town FROM again') AS protected_by_itself;
RESET ROLE;
SECURITY LABEL FOR privacy_score ON COLUMN again.town IS 'public';
SELECT tokens('SELECT town FROM again') AS published, privacy_score.reads_protected('TABLE again');
SET ROLE regress_copies;
SELECT privacy_score.unprotect('again');
SELECT tokens('SELECT town FROM again') AS published, privacy_score.reads_protected('TABLE again');
SECURITY LABEL FOR privacy_score ON COLUMN again.town IS NULL;
SELECT tokens('SELECT town FROM again') AS taken_back;
RESET ROLE;
SET ROLE regress_copies_owner;
CREATE TABLE own_copy AS SELECT id, city FROM patients;
SELECT tokens('SELECT city FROM own_copy') AS a_copy;
SELECT privacy_score.protect('own_copy');
SELECT tokens('SELECT city FROM own_copy') AS in_its_own_right, privacy_score.reads_protected('TABLE own_copy');
RESET ROLE;

-- Materialized views: by what they were made from, and by their definition.
SET ROLE regress_copies;
CREATE MATERIALIZED VIEW kept AS SELECT called, city, count(*) AS heads FROM seen GROUP BY called, city;
SELECT tokens('SELECT called FROM kept') AS kept, tokens('SELECT heads FROM kept') AS heads, privacy_score.reads_protected('TABLE kept');
CREATE MATERIALIZED VIEW kept_again AS SELECT called FROM kept;
SELECT tokens('TABLE kept_again');
REFRESH MATERIALIZED VIEW kept_again;
SELECT tokens('TABLE kept_again'), tokens('REFRESH MATERIALIZED VIEW kept_again') AS refresh;
CREATE OR REPLACE VIEW seen AS SELECT 'x'::text AS called, country AS city FROM cities;
SELECT tokens('SELECT called, city FROM kept') AS what_it_still_holds;
REFRESH MATERIALIZED VIEW kept;
SELECT tokens('SELECT called, city FROM kept') AS what_it_holds_now;
CREATE MATERIALIZED VIEW unfilled AS SELECT name FROM patients WITH NO DATA;
SELECT tokens('SELECT name FROM unfilled'), (SELECT count(*) FROM recorded('unfilled')) AS recorded;
CREATE OR REPLACE VIEW seen AS SELECT name AS called, city FROM patients;
SELECT tokens('SELECT city FROM kept') AS by_definition;
-- A view that leads back to the materialized view.
CREATE VIEW round AS SELECT name FROM patients;
CREATE MATERIALIZED VIEW circle AS SELECT name FROM round;
CREATE OR REPLACE VIEW round AS SELECT name FROM circle;
SELECT tokens('SELECT name FROM circle'), tokens('SELECT name FROM round') AS round;
SECURITY LABEL FOR privacy_score ON COLUMN kept.city IS 'public';
RESET ROLE;
SECURITY LABEL FOR privacy_score ON COLUMN kept.city IS 'public';
SELECT tokens('SELECT called, city FROM kept') AS published;

-- Records of what is gone, and of what was restored: names instead of numbers.
DROP TABLE counts;
SELECT privacy_score.tidy_copies();
SELECT count(*) AS records_of_dropped FROM privacy_score.copied_column c WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = c.relation);
SELECT DISTINCT origin, origin_name FROM privacy_score.copied_column WHERE relation = 'in_do'::regclass;
UPDATE privacy_score.copied_column SET relation_oid = 1, number = 77, origin_number = 77 WHERE relation = 'keyed'::regclass;
SELECT tokens('TABLE keyed');
SELECT privacy_score.tidy_copies();
SELECT attribute, number, origin_attribute, origin_number FROM privacy_score.copied_column WHERE relation = 'keyed'::regclass AND relation_oid = relation ORDER BY number;
SELECT tokens('TABLE keyed');
SET ROLE regress_copies;
SELECT privacy_score.tidy_copies();
SELECT privacy_score.rename_copies();
SELECT privacy_score.spread_copies();
SELECT count(*) FROM privacy_score.copied_column;
DELETE FROM privacy_score.copied_column;
RESET ROLE;

SELECT privacy_score.unprotect(relation) FROM privacy_score.protected_relations ORDER BY relation::text;
DROP SCHEMA copies CASCADE;
DROP TABLE for_now;
DROP ROLE regress_copies, regress_copies_owner;
SELECT privacy_score.tidy_copies();
SELECT count(*) FROM privacy_score.copied_column;

-- Statistics show values: reading pg_stats is reading the columns that it describes.
SET client_min_messages = warning;
CREATE ROLE regress_statistics;
CREATE SCHEMA statistics;
GRANT USAGE, CREATE ON SCHEMA statistics TO regress_statistics;
SET search_path = statistics, public;
CREATE TABLE patients (id int PRIMARY KEY, city text, diagnosis text);
CREATE TABLE staff (id int PRIMARY KEY, name text);
CREATE TABLE hidden (id int PRIMARY KEY, word text);
CREATE TABLE open_data (city text, country text);
CREATE TABLE stays (at date, ward text) PARTITION BY RANGE (at);
CREATE TABLE stays_2025 PARTITION OF stays FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
GRANT SELECT ON patients, open_data, stays_2025 TO regress_statistics;
GRANT SELECT (name) ON staff TO regress_statistics;
CREATE STATISTICS patients_together (mcv) ON city, diagnosis FROM patients;
SELECT privacy_score.protect(v::regclass) FROM (VALUES ('patients'), ('staff'), ('hidden'), ('stays')) v(v);
CREATE FUNCTION tokens(sql text) RETURNS text LANGUAGE sql AS 'SELECT replace(array_to_string(privacy_score.abstract_query_analyzed(sql), '' ''), ''statistics.'', '''')';

SET ROLE regress_statistics;
CREATE VIEW own_view AS SELECT tablename AS relation, attname, most_common_vals::text AS vals FROM pg_stats WHERE schemaname = 'statistics';
CREATE TABLE a_copy AS SELECT diagnosis AS d, 1 AS n FROM patients;
CREATE INDEX by_expression ON a_copy (lower(d));
CREATE VIEW answers AS SELECT n, q, tokens(q) AS tokens FROM (VALUES
  (1, $$SELECT most_common_vals FROM pg_stats WHERE tablename = 'patients' AND attname = 'diagnosis'$$),
  (2, $$SELECT * FROM pg_stats WHERE tablename = 'patients'$$),
  (3, $$SELECT histogram_bounds FROM pg_stats WHERE tablename IN ('staff', 'open_data')$$),
  (4, $$SELECT histogram_bounds FROM pg_stats WHERE tablename = ANY ('{staff,hidden}')$$),
  (5, $$SELECT n_distinct FROM pg_catalog.pg_stats s WHERE 'statistics' = s.schemaname AND attname = 'city'$$),
  (6, $$SELECT vals FROM own_view WHERE relation = 'patients' AND attname = 'city'$$),
  (7, $$SELECT 1 FROM pg_stats WHERE most_common_vals::text LIKE '%x%' AND tablename = 'patients' AND attname = 'city'$$),
  (8, $$SELECT avg(n_distinct) FROM pg_stats WHERE tablename = 'patients' AND attname = 'city'$$),
  (9, $$SELECT x.vals FROM (SELECT attname, most_common_vals AS vals FROM pg_stats WHERE tablename = 'patients') x WHERE x.attname = 'city'$$),
  (10, $$SELECT most_common_vals FROM pg_stats_ext WHERE tablename = 'patients'$$),
  (11, $$SELECT most_common_vals FROM pg_stats_ext_exprs WHERE tablename = 'staff'$$),
  (12, $$SELECT most_common_vals FROM pg_stats WHERE tablename = 'stays_2025' AND attname = 'ward'$$),
  (13, $$SELECT most_common_vals FROM pg_stats WHERE tablename = 'a_copy'$$),
  (14, $$SELECT most_common_vals FROM pg_stats WHERE tablename = 'by_expression'$$),
  (15, $$SELECT s.most_common_vals FROM pg_stats s JOIN open_data o ON s.tablename = 'staff' AND o.city = s.attname$$),
  (16, $$WITH s AS (SELECT * FROM pg_stats WHERE tablename = 'staff') SELECT histogram_bounds FROM s$$),
  (17, $$CREATE TABLE x AS SELECT most_common_vals::text FROM pg_stats WHERE tablename = 'staff'$$),
  (18, $$SELECT most_common_vals FROM pg_stats WHERE tablename = 'staff' UNION ALL SELECT NULL$$),
  (30, $$SELECT tablename, attname, schemaname, inherited FROM pg_stats$$),
  (31, $$SELECT count(*) FROM pg_stats WHERE tablename = 'patients'$$),
  (32, $$SELECT most_common_vals FROM pg_stats WHERE tablename = 'open_data'$$),
  (33, $$SELECT most_common_vals FROM pg_stats WHERE tablename = 'hidden'$$),
  (34, $$SELECT most_common_vals FROM pg_stats WHERE tablename = 'patients' AND tablename = 'open_data'$$),
  (35, $$SELECT most_common_vals FROM pg_stats WHERE tablename = 'patients' AND schemaname = 'public'$$),
  (36, $$SELECT relname FROM pg_class$$)) v(n, q);
SELECT n, q, tokens FROM answers ORDER BY n;
-- SQL text is read alike, but for what the view itself aggregates.
SELECT n, array_remove(privacy_score.abstract_query(q), 'f:array_agg()') AS text, tokens FROM answers
 WHERE privacy_score.abstract_query(q) <> array_remove(privacy_score.abstract_query_analyzed(q), 'f:array_agg()') ORDER BY n;

-- What is not certain does not narrow: every column that the role may read, of relations and copies.
SELECT tokens('SELECT most_common_vals FROM pg_stats') AS everything;
SELECT n, q, privacy_score.abstract_query_analyzed(q) @> privacy_score.abstract_query_analyzed('SELECT most_common_vals FROM pg_stats') AS everything,
       privacy_score.abstract_query(q) @> privacy_score.abstract_query('SELECT most_common_vals FROM pg_stats') AS text_too FROM (VALUES
  (1, $$SELECT most_common_vals FROM pg_stats WHERE tablename = 'open_data' OR true$$),
  (2, $$SELECT most_common_vals FROM pg_stats WHERE NOT tablename = 'patients'$$),
  (3, $$SELECT most_common_vals FROM pg_stats WHERE tablename = $1$$),
  (4, $$SELECT most_common_vals FROM pg_stats WHERE tablename <> 'patients'$$),
  (5, $$SELECT most_common_vals FROM pg_stats WHERE tablename LIKE 'open%'$$),
  (6, $$SELECT most_common_vals FROM pg_stats WHERE tablename = NULL$$),
  (7, $$SELECT most_common_vals FROM pg_stats WHERE (tablename = 'open_data') IS NOT NULL$$),
  (8, $$SELECT most_common_vals FROM pg_stats s LEFT JOIN open_data ON tablename = 'open_data'$$),
  (9, $$SELECT v FROM (SELECT tablename, first_value(most_common_vals::text) OVER () AS v FROM pg_stats) s WHERE tablename = 'open_data'$$),
  (10, $$SELECT v FROM (SELECT max(tablename) AS tablename, max(most_common_vals::text) AS v FROM pg_stats) s WHERE tablename = 'open_data'$$),
  (11, $$SELECT most_common_vals FROM (SELECT 'open_data'::name AS tablename, most_common_vals FROM pg_stats) s WHERE tablename = 'open_data'$$),
  (12, $$SELECT most_common_vals FROM (SELECT * FROM pg_stats ORDER BY 1, 2, 3 LIMIT 1) s WHERE tablename = 'open_data'$$),
  (13, $$WITH s AS (SELECT * FROM pg_stats) SELECT most_common_vals FROM s WHERE tablename = 'open_data'$$),
  (14, $$SELECT (SELECT most_common_vals FROM pg_stats s WHERE o.tablename = 'open_data' LIMIT 1) FROM pg_stats o WHERE o.tablename = 'open_data'$$),
  (15, $$SELECT most_common_vals FROM pg_stats WHERE tablename NOT IN ('patients', 'staff')$$),
  (16, $$SELECT most_common_vals FROM pg_stats WHERE tablename = ANY (ARRAY['open_data', upper('x')])$$),
  (17, $$SELECT most_common_vals FROM pg_stats WHERE tablename = lower('OPEN_DATA')$$)) v(n, q) ORDER BY n;
CREATE FUNCTION always(name, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR = (FUNCTION = always, LEFTARG = name, RIGHTARG = text);
SELECT tokens($$SELECT most_common_vals FROM pg_stats WHERE tablename OPERATOR(statistics.=) 'open_data'::text$$) = tokens('SELECT most_common_vals FROM pg_stats') AS everything;
SELECT privacy_score.abstract_query($$SELECT most_common_vals FROM pg_stats WHERE tablename OPERATOR(statistics.=) 'open_data'::text$$)
  = privacy_score.abstract_query('SELECT most_common_vals FROM pg_stats') AS everything;
DROP OPERATOR statistics.= (name, text);
RESET ROLE;
DO $$ BEGIN CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
EXCEPTION WHEN feature_not_supported THEN CREATE COLLATION any_case FROM "C"; END $$;
SELECT tokens($$SELECT most_common_vals FROM pg_stats WHERE tablename = 'OPEN_DATA'::text COLLATE any_case$$) LIKE '%p:patients.diagnosis%'
       OR (SELECT collisdeterministic FROM pg_collation WHERE collname = 'any_case') AS everything;

-- The catalogs themselves, for who has a right on them; the plan alone says as much.
GRANT SELECT ON pg_statistic, pg_statistic_ext_data TO regress_statistics;
SET ROLE regress_statistics;
SELECT tokens('SELECT stavalues1 FROM pg_statistic WHERE starelid = ''statistics.hidden''::regclass AND staattnum = 2') AS one_column;
SELECT tokens('SELECT starelid, staattnum FROM pg_statistic') AS names_only;
SELECT tokens('SELECT stavalues1 FROM pg_statistic') AS everything;
SELECT tokens('SELECT stxdmcv FROM pg_statistic_ext_data') = tokens('SELECT stavalues1 FROM pg_statistic') AS the_same;
SELECT bool_and(privacy_score.abstract_query(q) = privacy_score.abstract_query_analyzed(q)) AS alike FROM (VALUES
  ('SELECT stavalues1 FROM pg_statistic WHERE starelid = ''statistics.hidden''::regclass AND staattnum = 2'), ('SELECT starelid, staattnum FROM pg_statistic'),
  ('SELECT stavalues1 FROM pg_statistic'), ('SELECT stxdmcv FROM pg_statistic_ext_data'), ('SELECT stavalues1 FROM pg_statistic WHERE starelid = ' || 'hidden'::regclass::oid)) v(q);
SELECT privacy_score.reads_protected('SELECT stavalues1 FROM pg_statistic');
RESET ROLE;
REVOKE SELECT ON pg_statistic, pg_statistic_ext_data FROM regress_statistics;

-- A copy that was dropped is in nobody's way.
DROP TABLE a_copy CASCADE;
SELECT tokens('SELECT most_common_vals FROM pg_stats') LIKE '%p:patients.diagnosis%' AS everything_but_the_copy;

SELECT privacy_score.unprotect(relation) FROM privacy_score.protected_relations ORDER BY relation::text;
SELECT tokens('SELECT most_common_vals FROM pg_stats') AS nothing_protected;
DROP SCHEMA statistics CASCADE;
DROP ROLE regress_statistics;

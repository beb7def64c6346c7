-- Noisy histograms, distinct values, sums and averages. Noise of epsilon 1000 differs from 0 with probability below 1e-40
-- where the scale is at most 1/100, so such answers are printed. Other noise is compared with its law, 6.5 deviations.
CREATE ROLE regress_columns_owner;
CREATE ROLE regress_columns_analyst;
CREATE SCHEMA regress_columns AUTHORIZATION regress_columns_owner;
GRANT USAGE ON SCHEMA regress_columns TO regress_columns_analyst;
SET SESSION AUTHORIZATION regress_columns_owner;
SET search_path = regress_columns;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small AS int CHECK (VALUE < 1000);
CREATE TABLE t (person int, dept text, v varchar(9), c char(4), flag boolean, m mood, s small, d date, n numeric(8,2), free numeric, f float8, r real,
  big bigint, arr int[], js json, ci text, empty int);
INSERT INTO t SELECT k % 40, CASE WHEN k % 10 > 0 THEN (ARRAY['north', 'south', 'east'])[k % 3 + 1] END, 'v' || k % 3, 'c' || k % 2, k % 4 = 0,
  (ARRAY['sad', 'ok', 'happy'])[k % 3 + 1]::mood, k % 5, date '2024-01-01' + k % 3, (k % 21 - 10) / 4.0, k % 7 / 3.0, CASE k % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' ELSE k % 11 / 8.0 END,
  k % 5 / 4.0, k * 10000000000, ARRAY[k % 2], '{}', (ARRAY['a', 'A'])[k % 2 + 1], NULL
  FROM generate_series(1, 200) k;
CREATE TABLE nothing (dept text, n int);
SELECT privacy_score.dp_grant('regress_columns_analyst', 't', 1000000);
SELECT privacy_score.dp_grant('regress_columns_analyst', 'nothing', 1000000);
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
-- the plain counts that the noisy ones are compared with
CREATE TABLE plain AS SELECT 'dept' AS attribute, dept AS key, count(*) AS n FROM t GROUP BY 2 UNION ALL SELECT 'v', v, count(*) FROM t GROUP BY 2
  UNION ALL SELECT 'c', c::text, count(*) FROM t GROUP BY 2 UNION ALL SELECT 'flag', flag::text, count(*) FROM t GROUP BY 2 UNION ALL SELECT 'm', m::text, count(*) FROM t GROUP BY 2
  UNION ALL SELECT 's', s::text, count(*) FROM t GROUP BY 2 UNION ALL SELECT 'd', d::text, count(*) FROM t GROUP BY 2 UNION ALL SELECT 'n', n::text, count(*) FROM t GROUP BY 2
  UNION ALL SELECT 'free', free::text, count(*) FROM t GROUP BY 2 UNION ALL SELECT 'f', f::text, count(*) FROM t GROUP BY 2 UNION ALL SELECT 'arr', arr::text, count(*) FROM t GROUP BY 2
  UNION ALL SELECT 'ci', ci, count(*) FROM t GROUP BY 2 UNION ALL SELECT 'empty', empty::text, count(*) FROM t GROUP BY 2 UNION ALL SELECT 'big', big::text, count(*) FROM t GROUP BY 2;
GRANT SELECT ON plain TO regress_columns_analyst;
SET SESSION AUTHORIZATION regress_columns_analyst;
SET search_path = regress_columns;

-- given keys: in their order, also those that do not occur, NULL too
SELECT * FROM privacy_score.dp_histogram('t', 'dept', 1000, '{west,south,north,NULL,east,""}');
SELECT * FROM privacy_score.dp_histogram('t', 'dept', 1000, '{south,north}', predicate => 'flag AND n > 0');
SELECT * FROM privacy_score.dp_histogram('nothing', 'dept', 1000, '{a,b}');
SELECT * FROM privacy_score.dp_histogram('nothing', 'n', 1000, '{1,NULL}');
-- every type, by its keys and with a threshold: nothing is missing, nothing is wrong
SELECT attribute FROM (SELECT DISTINCT attribute FROM plain) a
 WHERE attribute <> 'arr' AND EXISTS (
   SELECT key, n FROM plain p WHERE p.attribute = a.attribute
   EXCEPT SELECT key, noisy_count FROM privacy_score.dp_histogram('t', a.attribute, 1000, ARRAY(SELECT key FROM plain p WHERE p.attribute = a.attribute)));
SELECT attribute, (SELECT count(*) FROM plain p WHERE p.attribute = a.attribute) AS keys,
       (SELECT count(*) FROM privacy_score.dp_histogram('t', a.attribute, 1000, delta => 0.01)) AS shown,
       ARRAY(SELECT (key, noisy_count)::text FROM privacy_score.dp_histogram('t', a.attribute, 1000, delta => 0.01)
             EXCEPT SELECT (rtrim(key), n)::text FROM plain p WHERE p.attribute = a.attribute) AS wrong
  FROM (SELECT DISTINCT attribute FROM plain) a ORDER BY attribute;
SELECT * FROM privacy_score.dp_histogram('t', 'dept', 1000, delta => 1e-30);
SELECT * FROM privacy_score.dp_histogram('nothing', 'dept', 0.1, delta => 1e-30);
SET array_nulls = off;
SELECT count(*), count(key) FROM privacy_score.dp_histogram('t', 'dept', 1000, delta => 1e-30);
RESET array_nulls;
-- a key of one row is not shown: the threshold for epsilon 1 and delta 1e-12 is 29
SELECT count(*) FROM privacy_score.dp_histogram('t', 'big', 1, delta => 1e-12);
-- equal values of different looks are one value; as text they are two
SELECT * FROM privacy_score.dp_histogram('t', 's', 1000, '{ 1,02,+3}');
SELECT count(DISTINCT noisy_count), min(noisy_count) FROM privacy_score.dp_histogram('t', 'c', 1000, '{"c1  ",c0}');
-- the order of keys and the way they are written make no other question; other keys do
SELECT count(*) FROM privacy_score.dp_histogram('t', 'dept', 0.01, '{north,south}');
SELECT bool_and(noisy_count = n) AS repeated FROM (SELECT key, noisy_count FROM privacy_score.dp_histogram('t', 's', 0.01, '{1,2,3}')) a
  JOIN (SELECT trim(key, ' 0') AS key, noisy_count AS n FROM privacy_score.dp_histogram('t', 's', 0.01, '{03, 1,2 }')) b USING (key);
SELECT kind, epsilon, repeated, predicate_shape, delta, times FROM privacy_score.dp_releases WHERE epsilon IN (0.01, 1) ORDER BY at, repeated;
-- one epsilon for all groups; the law of their noise
SELECT spent AS before FROM privacy_score.dp_budget WHERE relation = 't'::regclass \gset
SELECT count(*), abs(avg(noisy_count * noisy_count) - 7.835) < 3 AS variance,
       abs(count(*) FILTER (WHERE noisy_count = 0) - 4000 * 0.244918662404) < 6.5 * sqrt(4000 * 0.245 * 0.755) AS zero
  FROM privacy_score.dp_histogram('t', 'dept', 0.5, ARRAY(SELECT 'k' || i FROM generate_series(1, 4000) i));
SELECT spent - :before AS spent FROM privacy_score.dp_budget WHERE relation = 't'::regclass;

-- neighbouring tables, 20,000 pairs of them: each key has three rows in the one and four in the other. No answer is more
-- than e^0.5 times as likely for one of them, 7 standard deviations of the logarithm allowed; less than that would not do.
SET SESSION AUTHORIZATION regress_columns_owner;
CREATE TABLE three AS SELECT k FROM generate_series(1, 20000) k, generate_series(1, 3);
CREATE TABLE four AS SELECT k FROM generate_series(1, 20000) k, generate_series(1, 4);
SELECT privacy_score.dp_grant('regress_columns_analyst', 'three', 1), privacy_score.dp_grant('regress_columns_analyst', 'four', 1);
SET SESSION AUTHORIZATION regress_columns_analyst;
WITH keys AS (SELECT ARRAY(SELECT k::text FROM generate_series(1, 20000) k) AS keys),
  a AS (SELECT noisy_count, count(*) AS n FROM keys, privacy_score.dp_histogram('three', 'k', 0.5, keys) GROUP BY 1),
  b AS (SELECT noisy_count, count(*) AS n FROM keys, privacy_score.dp_histogram('four', 'k', 0.5, keys) GROUP BY 1),
  ratios AS (SELECT abs(ln(a.n::float8 / b.n)) AS ratio, 7 * sqrt(1.0 / a.n + 1.0 / b.n) AS error FROM a JOIN b USING (noisy_count) WHERE a.n > 300 AND b.n > 300)
SELECT count(*) > 8 AS answers, bool_and(ratio < 0.5 + error) AS within, bool_and(ratio < 0.25 + error) AS within_half FROM ratios;

-- distinct values
SELECT privacy_score.dp_count_distinct('t', 'dept', 1000), privacy_score.dp_count_distinct('t', 'm', 1000, 'flag'), privacy_score.dp_count_distinct('t', 'empty', 1000),
       privacy_score.dp_count_distinct('t', 'f', 1000), privacy_score.dp_count_distinct('t', 'arr', 1000), privacy_score.dp_count_distinct('nothing', 'n', 1000);

-- sums: clamped; 10/1000 is the greatest scale here
SELECT privacy_score.dp_sum('t', 's', 0, 10, 1000) AS s, privacy_score.dp_sum('t', 's', 2, 3, 1000) AS clamped, privacy_score.dp_sum('t', 's', -7, -7, 1000) AS constant,
       privacy_score.dp_sum('t', 's', 0, 10, 1000, 's = 4 OR flag') AS some, privacy_score.dp_sum('t', 'empty', 0, 10, 1000) AS empty, privacy_score.dp_sum('nothing', 'n', 0, 10, 1000) AS nothing,
       privacy_score.dp_sum('t', 'big', 0, 1, 1000) AS big;
RESET SESSION AUTHORIZATION;
SELECT sum(s) AS s, sum(greatest(least(s, 3), 2)) AS clamped, count(*) * -7 AS constant, sum(s) FILTER (WHERE s = 4 OR flag) AS some, count(*) AS big,
       sum(greatest(least(n, 0.05), -0.05)) AS n FROM regress_columns.t;
SET SESSION AUTHORIZATION regress_columns_analyst;
-- two decimals in the column are kept: scale 5 steps of 0.01 for epsilon 1, and exactly so
SELECT scale(privacy_score.dp_sum('t', 'n', -0.05, 0.05, 1000)) AS decimals, privacy_score.dp_sum('t', 'n', -0.05, 0.05, 1000) AS n;
-- no decimals are known: as fine as the sampler goes, with noise of scale 2/epsilon
RESET SESSION AUTHORIZATION;
SELECT sum(greatest(least(free, 2), 0)) AS free, sum(greatest(least(f, 1), -1)) AS f, sum(least(r, 1)) AS r, avg(greatest(least(n, 2), -1)) AS avg_n, avg(s) AS avg_s,
       avg(greatest(least(f, 1), -1)) AS avg_f FROM regress_columns.t \gset
SET SESSION AUTHORIZATION regress_columns_analyst;
SELECT abs(privacy_score.dp_sum('t', 'free', 0, 2, 1000) - :free) < 30 * 2 / 1000.0 AS free, abs(privacy_score.dp_sum('t', 'f', -1, 1, 1000) - :f) < 30 / 1000.0 AS f,
       abs(privacy_score.dp_sum('t', 'r', 0, 1, 1000) - :r) < 30 / 1000.0 AS r;
-- averages: 30 scales of the noise of sum and count together
SELECT abs(privacy_score.dp_avg('t', 'n', -1, 2, 100) - :avg_n) < 30 * (1.5 + 1.5) / 50 / 200 AS n, abs(privacy_score.dp_avg('t', 's', 0, 4, 100) - :avg_s) < 30 * (2 + 2) / 50.0 / 200 AS s,
       abs(privacy_score.dp_avg('t', 'f', -1, 1, 100) - :avg_f) < 30 * 2 / 50.0 / 200 AS f;
SELECT privacy_score.dp_avg('nothing', 'n', 3, 9, 0.001) BETWEEN 3 AND 9 AS nothing, privacy_score.dp_avg('t', 'empty', -1e30, 1e30, 1) BETWEEN -1e30 AND 1e30 AS empty;
-- a repeated question has the same answer
SELECT count(DISTINCT (privacy_score.dp_sum('t', 's', 0, 10, 0.001), privacy_score.dp_avg('t', 's', 0, 10, 0.001), privacy_score.dp_count_distinct('t', 's', 0.001))) FROM generate_series(1, 5);
SELECT count(DISTINCT privacy_score.dp_sum('t', 's', 0, 10, 0.001, fresh => true)) FROM generate_series(1, 5);
SELECT privacy_score.dp_sum('t', 's', 0, 10.0, 0.001) = privacy_score.dp_sum('t', 's', 0.00, 10, 0.0010) AS same, privacy_score.dp_sum('t', 's', 0, 10, 0.001) = privacy_score.dp_sum('t', 's', 0, 11, 0.001) AS other_bounds;

-- units: forty persons with five rows each, of which two count
SET SESSION AUTHORIZATION regress_columns_owner;
CREATE TABLE visits (person int, ward text, days int);
INSERT INTO visits SELECT k % 40, 'w' || k / 40, 1 FROM generate_series(0, 199) k;
INSERT INTO visits VALUES (NULL, 'w0', 1), (NULL, 'w1', 1), (99, 'w0', 1);
SELECT privacy_score.dp_grant('regress_columns_analyst', 'visits', 1000000, unit => 'person', max_rows_per_unit => 2);
SET SESSION AUTHORIZATION regress_columns_analyst;
SELECT sum(noisy_count) AS rows, count(*) AS keys, min(noisy_count) > 2 AS all_wards FROM privacy_score.dp_histogram('visits', 'ward', 1000, '{w0,w1,w2,w3,w4}');
SELECT sum(noisy_count) AS rows FROM privacy_score.dp_histogram('visits', 'ward', 1000, delta => 0.001);
-- rows of other keys do not take the place of those that are asked for
SELECT * FROM privacy_score.dp_histogram('visits', 'ward', 1000, '{w3}');
SELECT privacy_score.dp_sum('visits', 'days', 0, 1, 1000) AS days, privacy_score.dp_count_distinct('visits', 'ward', 1000) AS wards, privacy_score.dp_count('visits', NULL, 1000) AS rows;
-- the noise is that of two rows
SELECT abs(count(*) FILTER (WHERE noisy_count = 0) - 4000 * 0.124353) < 6.5 * sqrt(4000 * 0.1243 * 0.8757) AS zero
  FROM privacy_score.dp_histogram('visits', 'ward', 0.5, ARRAY(SELECT 'k' || i FROM generate_series(1, 4000) i));
-- which rows count does not follow from a seed that the caller sets, nor from one call to the next
CREATE TEMP TABLE seeded (h bigint[]);
DO $$ BEGIN FOR i IN 1 .. 6 LOOP PERFORM setseed(0.5);
  INSERT INTO seeded SELECT array_agg(noisy_count) FROM privacy_score.dp_histogram('visits', 'ward', 1000, '{w0,w1,w2,w3,w4}', fresh => true); END LOOP; END $$;
SELECT count(DISTINCT h) > 1 AS differ FROM seeded;

-- values that the column's collation takes for one are one key: answered twice, a row would count twice
RESET SESSION AUTHORIZATION;
SET search_path = regress_columns;
SET SESSION AUTHORIZATION regress_columns_owner;
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE names (name text COLLATE loose);
INSERT INTO names SELECT (ARRAY['ann', 'ANN', 'Bob'])[k % 3 + 1] FROM generate_series(1, 90) k;
SELECT privacy_score.dp_grant('regress_columns_analyst', 'names', 1000000);
-- nor does a cast that the owner of a type has made run on the values
CREATE FUNCTION telling(mood) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called with %', $1; END $$;
CREATE CAST (mood AS text) WITH FUNCTION telling(mood);
SET SESSION AUTHORIZATION regress_columns_analyst;
SELECT * FROM privacy_score.dp_histogram('names', 'name', 1000, '{bob,Ann}');
SELECT attempt('SELECT count(*) FROM privacy_score.dp_histogram(''names'', ''name'', 1000, ''{ann,ANN}'')');
SELECT * FROM privacy_score.dp_histogram('names', 'name', 1000, delta => 0.001);
SELECT privacy_score.dp_count_distinct('names', 'name', 1000);
SELECT * FROM privacy_score.dp_histogram('t', 'm', 1000, delta => 0.002);

-- errors; none depends on data
RESET SESSION AUTHORIZATION;
SET search_path = regress_columns;
\pset format unaligned
\pset tuples_only on
SET SESSION AUTHORIZATION regress_columns_analyst;
SELECT sql || E'\n   ' || attempt('SELECT (' || replace(sql, 'dp_', 'privacy_score.dp_') || ')::text') FROM unnest(ARRAY[
  'SELECT count(*) FROM dp_histogram(''t'', ''dept'')', 'SELECT count(*) FROM dp_histogram(''t'', ''dept'', keys => ''{a}'', delta => 0.1)',
  'SELECT count(*) FROM dp_histogram(''t'', ''dept'', keys => ''{}'')', 'SELECT count(*) FROM dp_histogram(''t'', ''dept'', keys => ''{{a,b},{c,d}}'')',
  'SELECT count(*) FROM dp_histogram(''t'', ''dept'', keys => ''{a,b,a}'')', 'SELECT count(*) FROM dp_histogram(''t'', ''s'', keys => ''{1,01}'')',
  'SELECT count(*) FROM dp_histogram(''t'', ''s'', keys => ''{NULL,NULL}'')', 'SELECT count(*) FROM dp_histogram(''t'', ''s'', keys => ''{x}'')',
  'SELECT count(*) FROM dp_histogram(''t'', ''m'', keys => ''{angry}'')', 'SELECT count(*) FROM dp_histogram(''t'', ''arr'', keys => ''{{1}}'')',
  'SELECT count(*) FROM dp_histogram(''t'', ''js'', delta => 0.1)', 'SELECT count(*) FROM dp_histogram(''t'', ''js'', keys => ''{1}'')',
  'SELECT count(*) FROM dp_histogram(''t'', ''dept'', delta => 0)', 'SELECT count(*) FROM dp_histogram(''t'', ''dept'', delta => 0.5)',
  'SELECT count(*) FROM dp_histogram(''t'', ''dept'', delta => -1)', 'SELECT count(*) FROM dp_histogram(''t'', ''dept'', delta => ''NaN'')',
  'SELECT count(*) FROM dp_histogram(''t'', ''nosuch'', delta => 0.1)', 'SELECT count(*) FROM dp_histogram(''t'', ''ctid'', delta => 0.1)',
  'SELECT count(*) FROM dp_histogram(''t'', NULL, delta => 0.1)', 'SELECT count(*) FROM dp_histogram(NULL, ''dept'', delta => 0.1)',
  'SELECT count(*) FROM dp_histogram(''t'', ''dept'', 0, delta => 0.1)', 'SELECT count(*) FROM dp_histogram(''t'', ''dept'', 1001, delta => 0.1)',
  'SELECT count(*) FROM dp_histogram(''t'', ''dept'', NULL, delta => 0.1)', 'SELECT count(*) FROM dp_histogram(''t'', ''dept'', 1e-13, ''{a}'')',
  'SELECT count(*) FROM dp_histogram(''t'', ''dept'', 1, ''{a}'', predicate => ''1/s = 1'')', 'SELECT count(*) FROM dp_histogram(''plain'', ''key'', 1, ''{a}'')',
  'SELECT count(*) FROM dp_histogram(''t'', ''dept'', 1, ''{a}'', fresh => NULL)', 'SELECT count(*) FROM dp_histogram(''t'', ''dept'', 999999, ''{a}'')',
  'dp_count_distinct(''t'', ''js'')', 'dp_count_distinct(''t'', ''nosuch'')', 'dp_count_distinct(''t'', ''s'', -1)',
  'dp_sum(''t'', ''s'')', 'dp_sum(''t'', ''s'', 0)', 'dp_sum(''t'', ''s'', upper => 5)', 'dp_sum(''t'', ''s'', 5, 1)', 'dp_sum(''t'', ''s'', 0, 0)',
  'dp_sum(''t'', ''s'', 0, ''NaN'')', 'dp_sum(''t'', ''s'', ''-Infinity'', 1)', 'dp_sum(''t'', ''dept'', 0, 1)', 'dp_sum(''t'', ''d'', 0, 1)', 'dp_sum(''t'', ''s'', 0, 1, 0)',
  'dp_sum(''t'', ''s'', 0, 1, predicate => ''s::text = 1'')', 'dp_avg(''t'', ''s'')', 'dp_avg(''t'', ''s'', 3, 3)', 'dp_avg(''t'', ''s'', 5, 1)', 'dp_avg(''t'', ''s'', 0, 1, 1e-13)',
  'dp_avg(''plain'', ''n'', 0, 1)']) sql;
\pset format aligned
\pset tuples_only off
RESET SESSION AUTHORIZATION;
DROP SCHEMA regress_columns CASCADE;
DROP ROLE regress_columns_owner;
DROP ROLE regress_columns_analyst;

-- Noise outside the budget: draws, choices, formulas, the aggregates noisy_count. What is random is never printed: it is
-- compared with its law, allowing 6.5 standard deviations, which a right answer leaves with probability 8e-11.
CREATE SCHEMA noise;
SET search_path = noise, public;
SET client_min_messages = warning;
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
-- Whether a share of draws agrees with its probability.
CREATE FUNCTION agrees(hits bigint, draws bigint, probability float8) RETURNS boolean LANGUAGE sql
  RETURN abs(hits - draws * probability) <= 6.5 * sqrt(draws * probability * (1 - probability)) + 1e-9;

-- Nothing random passes for a constant, and nothing random runs in parallel.
SELECT p.oid::regprocedure AS function, p.provolatile, p.proparallel
  FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension e ON d.refobjid = e.oid AND e.extname = 'privacy_score'
 WHERE p.proname ~ '^(discrete_laplace|laplace_|noisy_count|dp_choose|dp_kl|dp_inference)' ORDER BY 1::text COLLATE "C";

-- draws
CREATE TABLE draws AS SELECT privacy_score.discrete_laplace(2) AS k FROM generate_series(1, 100000);
SELECT agrees(count(*) FILTER (WHERE k = -2), 100000, 0.0901005406575) AS minus_two,
       agrees(count(*) FILTER (WHERE k = 0), 100000, 0.244918662404) AS zero,
       agrees(count(*) FILTER (WHERE k = 3), 100000, 0.0546487403655) AS three,
       agrees(count(*) FILTER (WHERE k < 0), 100000, (1 - 0.244918662404) / 2) AS negative,
       abs(avg(k * k) - 7.83539617807) < 0.6 AS variance, count(DISTINCT k) > 20 AS spread FROM draws;
-- 30 digits, and both ends of the range
SELECT agrees(count(*) FILTER (WHERE k = 0), 50000, 0.244918662404) AS zero
  FROM (SELECT privacy_score.discrete_laplace(2.00000000000000000000000000001) AS k FROM generate_series(1, 50000)) t;
SELECT sum(abs(privacy_score.discrete_laplace(0.001))) FROM generate_series(1, 1000);
SELECT count(*) FILTER (WHERE abs(k) > 1000000) > 990 AS large, count(DISTINCT k) > 990 AS different
  FROM (SELECT privacy_score.discrete_laplace(1000000000000) AS k FROM generate_series(1, 1000)) t;
-- a scale that changes from row to row
SELECT s, agrees(count(*) FILTER (WHERE k = 0), 20000, tanh(1 / (2 * s::float8))) AS zero
  FROM (SELECT s, privacy_score.discrete_laplace(s) AS k FROM generate_series(1, 20000), unnest('{0.5,2,10}'::numeric[]) s) t
 GROUP BY s ORDER BY s;
-- one draw a row, not one a statement; two in a row differ
SELECT count(*) < 200 AS drawn_anew FROM generate_series(1, 1000) WHERE privacy_score.discrete_laplace(10) = privacy_score.discrete_laplace(10);
SELECT privacy_score.laplace_step(10) = 2 ^ -35 AS step,
       bool_and(x = floor(x / 2 ^ -35) * 2 ^ -35) AS on_grid, agrees(count(*) FILTER (WHERE x <= 15), 50000, 0.888434919926) AS law,
       agrees(count(*) FILTER (WHERE x <= -10), 50000, 0.183939720586) AS law_below, count(DISTINCT x) > 49990 AS different
  FROM (SELECT privacy_score.laplace_noise(10) AS x FROM generate_series(1, 50000)) t;

-- choices
SELECT c, agrees(count(*), 50000, CASE c WHEN 'a' THEN 0.199907752762 WHEN 'b' THEN 0.256686635539 ELSE 0.5434056117 END) AS law
  FROM (SELECT privacy_score.dp_choose('{a,b,c}', '{1,2,5}', 0.5) AS c FROM generate_series(1, 50000)) t GROUP BY c ORDER BY c;
SELECT privacy_score.dp_choose('{no,yes,"",no}', '{-1e300,0,-1e300,-7e5}', 0.1, 2.5) AS certain;
SELECT count(DISTINCT privacy_score.dp_choose('{a,b}', '{3,3}', 0.1)) AS ties FROM generate_series(1, 100);

-- formulas
SELECT e, round(privacy_score.dp_kl_divergence(e, 'laplace')::numeric, 14) AS laplace, round(privacy_score.dp_kl_divergence(e)::numeric, 14) AS discrete
  FROM unnest('{0.01,0.1,0.5,1}'::float8[]) e ORDER BY e;
SELECT round(true_ratio::numeric, 10) AS true_ratio, round(expected_ratio::numeric, 10) AS expected_ratio, round(variance::numeric, 10) AS variance
  FROM (VALUES (100, 90), (1000, 900)) v(x, y), privacy_score.dp_inference_ratio(x, y, 0.1) ORDER BY x;

-- noisy_count: at epsilon 1000 the noise is 0 but for a chance of 1e-434, which shows what is counted
CREATE TABLE t (g int, v text);
INSERT INTO t SELECT i % 4, CASE WHEN i % 3 = 0 THEN 'x' || i % 5 END FROM generate_series(1, 120) i;
SELECT g, privacy_score.noisy_count(1000) AS rows, privacy_score.noisy_count(v, 1000) AS not_null, privacy_score.noisy_count(DISTINCT v, 1000) AS different,
       privacy_score.noisy_count(1000) FILTER (WHERE v = 'x0') AS filtered
  FROM t GROUP BY g ORDER BY g;
SELECT g, v, privacy_score.noisy_count(1000) FROM t WHERE g < 2 AND v < 'x2' GROUP BY ROLLUP (g, v) ORDER BY g, v;
SELECT privacy_score.noisy_count(1000), privacy_score.noisy_count(NULL, 1000), privacy_score.noisy_count(v, 1000) FROM t WHERE false;
SELECT count(*) FROM (SELECT privacy_score.noisy_count(1000) FROM t WHERE false GROUP BY g) s;
SELECT g FROM t GROUP BY g HAVING privacy_score.noisy_count(1000) = 30 ORDER BY g;
-- a group without rows knows epsilon from the call: a constant or a parameter
PREPARE nothing(numeric) AS SELECT privacy_score.noisy_count($1) FROM t WHERE false;
SET plan_cache_mode = force_generic_plan;
EXECUTE nothing(1000);
RESET plan_cache_mode;
SELECT attempt('SELECT privacy_score.noisy_count(g + 1000) FROM t WHERE false');
SELECT attempt('SELECT privacy_score.noisy_count((SELECT max(x.g) FROM t x WHERE x.g < t.g)) FROM t WHERE false');
-- the law of the noise, and that groups have noises of their own
CREATE TABLE groups AS SELECT i AS g FROM generate_series(1, 50000) i;
SELECT agrees(count(*) FILTER (WHERE n = 1), 50000, 0.244918662404) AS zero, agrees(count(*) FILTER (WHERE n = 4), 50000, 0.0546487403655) AS three
  FROM (SELECT privacy_score.noisy_count(0.5) AS n FROM groups GROUP BY g) s;
SELECT agrees(count(*) FILTER (WHERE n = 0), 50000, 0.244918662404) AS zero_without_rows
  FROM (SELECT privacy_score.noisy_count(0.5) FILTER (WHERE false) AS n FROM groups GROUP BY g) s;
-- equal calls are not one call
SELECT count(*) FILTER (WHERE a = b) < 40 AS differ
  FROM (SELECT privacy_score.noisy_count(0.1) AS a, privacy_score.noisy_count(0.1) AS b FROM groups WHERE g <= 200 GROUP BY g) s;
-- the noise of a group stays when the executor reads it again: the inner side of a nested loop, rescanned twenty times
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_sort = off;
-- Version 16 may sort for an aggregate's DISTINCT.
DO $$ BEGIN PERFORM set_config(name, 'off', false) FROM pg_settings WHERE name = 'enable_presorted_aggregate'; END $$;
CREATE FUNCTION plan_of(sql text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || sql LOOP
    -- Version 18 says what is disabled.
    IF line NOT LIKE '%Disabled: true' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
SELECT plan_of($$SELECT g, count(DISTINCT n), count(DISTINCT f)
  FROM generate_series(1, 20) i LEFT JOIN (SELECT g, privacy_score.noisy_count(0.0001) AS n, privacy_score.noisy_count(0.0001) FILTER (WHERE v = 'none') AS f FROM t GROUP BY g) s ON s.g < i + 9
 GROUP BY g$$);
SELECT g, count(*) AS rows, count(DISTINCT n) AS noises, count(DISTINCT f) AS noises_of_nothing
  FROM generate_series(1, 20) i LEFT JOIN (SELECT g, privacy_score.noisy_count(0.0001) AS n, privacy_score.noisy_count(0.0001) FILTER (WHERE v = 'none') AS f FROM t GROUP BY g) s ON s.g < i + 9
 GROUP BY g ORDER BY g;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
DO $$ BEGIN PERFORM set_config(name, 'on', false) FROM pg_settings WHERE name = 'enable_presorted_aggregate'; END $$;
RESET enable_sort;
-- a subquery is evaluated once, also when its answer is used twice, compared outside or folded into the query
SELECT count(*) AS rows, count(DISTINCT n) AS noises FROM (SELECT (SELECT privacy_score.noisy_count(0.0001) FROM t) AS n FROM generate_series(1, 50)) s;
WITH c AS NOT MATERIALIZED (SELECT g, privacy_score.noisy_count(0.0001) AS n FROM t GROUP BY g)
SELECT count(*) FROM c a JOIN c b USING (g) WHERE a.n <> b.n;
SELECT count(*) FROM (SELECT g, privacy_score.noisy_count(0.0001) AS n FROM t GROUP BY g) s WHERE n < 30 AND n > 30;
-- a scrolled cursor
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT g, privacy_score.noisy_count(0.0001) AS n FROM t GROUP BY g ORDER BY g;
CREATE FUNCTION fetched(text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE c refcursor := 'c'; r record; seen text := ''; BEGIN
  IF $1 = 'backward' THEN MOVE FORWARD ALL FROM c; ELSE MOVE BACKWARD ALL FROM c; END IF;
  LOOP IF $1 = 'backward' THEN FETCH BACKWARD FROM c INTO r; ELSE FETCH FORWARD FROM c INTO r; END IF; EXIT WHEN NOT FOUND;
    seen := CASE WHEN $1 = 'backward' THEN r.n || ' ' || seen ELSE seen || r.n || ' ' END; END LOOP; RETURN seen; END $$;
SELECT fetched('forward') = fetched('backward') AS same, fetched('forward') = fetched('forward') AS again;
COMMIT;
-- window functions would average the noise away
SELECT attempt('SELECT privacy_score.noisy_count(0.1) OVER () FROM t');
SELECT attempt('SELECT privacy_score.noisy_count(v, 0.1) OVER (PARTITION BY g) FROM t');
SELECT attempt('SELECT privacy_score.noisy_count(v, 0.1) OVER (ORDER BY g ROWS 3 PRECEDING) FROM t');
-- epsilon is one for all rows, but 0.1 and 0.10 are one
SELECT attempt('SELECT privacy_score.noisy_count(0.1 * g) FROM t WHERE g > 0');
SELECT privacy_score.noisy_count(CASE g WHEN 1 THEN 1000.00 ELSE 1000 END) FROM t;
SELECT g, privacy_score.noisy_count(998.0 + g) FROM t WHERE g < 3 GROUP BY g ORDER BY g;
-- a parallel plan counts in the leader
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE groups SET (parallel_workers = 2);
SELECT privacy_score.noisy_count(1000) FROM groups WHERE g > 10;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- bad input
\pset format unaligned
\pset tuples_only on
SELECT sql || E'\n   ' || attempt('SELECT ' || sql) FROM (VALUES
  (1, 'privacy_score.discrete_laplace(NULL)'), (2, 'privacy_score.discrete_laplace(0)'), (3, 'privacy_score.discrete_laplace(-1)'),
  (4, 'privacy_score.discrete_laplace(0.0009)'), (5, 'privacy_score.discrete_laplace(1000000000001)'),
  (6, 'privacy_score.discrete_laplace(''NaN'')'), (7, 'privacy_score.discrete_laplace(''Infinity'')'),
  (8, 'privacy_score.discrete_laplace(1e131071)'), (9, 'privacy_score.discrete_laplace(1.' || repeat('0', 60) || '1)'),
  (10, 'privacy_score.laplace_noise(NULL)'), (11, 'privacy_score.laplace_noise(0)'), (12, 'privacy_score.laplace_noise(-2)'),
  (13, 'privacy_score.laplace_noise(''NaN'')'), (14, 'privacy_score.laplace_noise(''Infinity'')'), (15, 'privacy_score.laplace_step(1e300)'),
  (20, '(SELECT privacy_score.noisy_count(0) FROM noise.t)'), (21, '(SELECT privacy_score.noisy_count(-0.1) FROM noise.t)'),
  (22, '(SELECT privacy_score.noisy_count(NULL) FROM noise.t)'), (23, '(SELECT privacy_score.noisy_count(''NaN''::numeric) FROM noise.t)'),
  (24, '(SELECT privacy_score.noisy_count(''Infinity''::numeric) FROM noise.t)'), (25, '(SELECT privacy_score.noisy_count(1001) FROM noise.t)'),
  (26, '(SELECT privacy_score.noisy_count(1e-13) FROM noise.t)'), (27, '(SELECT privacy_score.noisy_count(1e400) FROM noise.t)'),
  (28, '(SELECT privacy_score.noisy_count(v, NULL) FROM noise.t)'), (29, '(SELECT privacy_score.noisy_count(NULL::numeric) FROM noise.t WHERE false)'),
  (30, '(SELECT privacy_score.noisy_count(0) FROM noise.t WHERE false)'),
  (31, '(SELECT privacy_score.noisy_count(999.123456789012345678901234567) FROM noise.t)'),
  (32, '(SELECT privacy_score.noisy_count(0.1' || repeat('3', 50) || ') FROM noise.t)'), (33, '(SELECT privacy_score.noisy_count(0.1::float8) FROM noise.t)'),
  (40, 'privacy_score.dp_choose(NULL, ''{1}'', 1)'), (41, 'privacy_score.dp_choose(''{a}'', NULL, 1)'), (42, 'privacy_score.dp_choose(''{a}'', ''{1}'', NULL)'),
  (43, 'privacy_score.dp_choose(''{a}'', ''{1}'', 1, NULL)'), (44, 'privacy_score.dp_choose(''{}'', ''{}'', 1)'), (45, 'privacy_score.dp_choose(''{a,b}'', ''{1}'', 1)'),
  (46, 'privacy_score.dp_choose(''{a,NULL}'', ''{1,2}'', 1)'), (47, 'privacy_score.dp_choose(''{a,b}'', ''{1,NULL}'', 1)'),
  (48, 'privacy_score.dp_choose(''{a,b}'', ''{1,NaN}'', 1)'), (49, 'privacy_score.dp_choose(''{a,b}'', ''{1,Infinity}'', 1)'),
  (50, 'privacy_score.dp_choose(''{{a,b}}'', ''{1,2}'', 1)'), (51, 'privacy_score.dp_choose(''{a}'', ''{1}'', 0)'),
  (52, 'privacy_score.dp_choose(''{a}'', ''{1}'', 1, 0)'), (53, 'privacy_score.dp_choose(''{a}'', ''{1}'', 1, -3)'), (54, 'privacy_score.dp_choose(''{a}'', ''{1}'', ''NaN'')'),
  (60, 'privacy_score.dp_kl_divergence(0)'), (61, 'privacy_score.dp_kl_divergence(-1, ''laplace'')'), (62, 'privacy_score.dp_kl_divergence(''NaN'')'),
  (63, 'privacy_score.dp_kl_divergence(1, ''gauss'')'), (64, 'privacy_score.dp_kl_divergence(NULL)'),
  (65, '(SELECT variance FROM privacy_score.dp_inference_ratio(0, 1, 1))'), (66, '(SELECT variance FROM privacy_score.dp_inference_ratio(1, 1, 0))'),
  (67, '(SELECT variance FROM privacy_score.dp_inference_ratio(''NaN'', 1, 1))'), (68, '(SELECT variance FROM privacy_score.dp_inference_ratio(1, ''-Infinity'', 1))'),
  -- the parts of the aggregate are no functions for themselves, and believe nothing
  (70, 'privacy_score.noisy_count_final(''\x00'')'), (71, 'privacy_score.noisy_count_transition(''\x00'', 0.1)')) v(n, sql) ORDER BY n;
CREATE AGGREGATE forged(numeric) (SFUNC = privacy_score.noisy_count_transition, STYPE = bytea, INITCOND = '\x00', FINALFUNC = privacy_score.noisy_count_final);
SELECT attempt('SELECT noise.forged(0.1) FROM noise.t');
CREATE AGGREGATE forged_more(numeric) (SFUNC = privacy_score.noisy_count_transition, STYPE = bytea, FINALFUNC = privacy_score.noisy_count_final);
SELECT attempt('SELECT noise.forged_more(0.1) FROM noise.t');
SELECT format('CREATE AGGREGATE noise.forged_long(numeric) (SFUNC = privacy_score.noisy_count_transition, STYPE = bytea, INITCOND = %L, FINALFUNC = privacy_score.noisy_count_final)', '\x00' || repeat('41', 83)) \gexec
SELECT attempt('SELECT noise.forged_long(0.1) FROM noise.t');
SELECT attempt('SELECT noise.forged_long(0.1) FROM noise.t WHERE false');
-- and are not everybody's; the aggregates are
CREATE ROLE regress_noise;
GRANT USAGE ON SCHEMA noise TO regress_noise;
GRANT SELECT ON t TO regress_noise;
SET ROLE regress_noise;
SELECT privacy_score.noisy_count(1000) FROM noise.t;
SELECT noise.attempt('SELECT privacy_score.noisy_count(1000) FROM noise.groups');
SELECT noise.attempt('SELECT privacy_score.noisy_count_final(NULL)');
SELECT noise.attempt('CREATE AGGREGATE pg_temp.mine(numeric) (SFUNC = privacy_score.noisy_count_transition, STYPE = bytea)');
SELECT abs(privacy_score.discrete_laplace(0.001)) + abs(privacy_score.laplace_noise(1e-290)) < 1 AS allowed, privacy_score.dp_choose('{a}', '{0}', 1);
RESET ROLE;
DROP SCHEMA noise CASCADE;
DROP ROLE regress_noise;

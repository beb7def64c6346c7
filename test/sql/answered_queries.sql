-- Bounds of records from answered queries.
CREATE SCHEMA answered;
SET search_path = answered, public;
SET client_min_messages = warning;
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
-- two blood pressures of 40 to 120 with the sum 157
SELECT * FROM privacy_score.query_bounds('[[1,2]]', '{157}', 40, 120, 2);
-- no five-point ratings have these sums
SELECT attempt($$SELECT record FROM privacy_score.query_bounds('[[1,2],[2,3]]', '{9,4}', 1, 5, 3)$$);
-- an odd cycle gives all away; thirds are rounded outwards
SELECT * FROM privacy_score.query_bounds('[[1,2],[2,3],[1,3]]', '{5.5,7,3}', 0, 10, 4);
SELECT * FROM privacy_score.query_bounds('[[1,2,3],[1,4],[2,4],[3,4]]', '{1,1,1,1}', 0, 1, 4);
SELECT * FROM privacy_score.disclosed_records('[[1,2,3],[1,4],[2,4],[3,4]]', '{1,1,1,1}', 0, 1, 4);
-- a sum of alike records, counts, and records that nobody asked about
SELECT * FROM privacy_score.query_bounds('[[1,2,3]]', '{2.5}', 0, 1, 4);
SELECT * FROM privacy_score.query_bounds('[[1,2,3],[3,4,5]]', '{3,1}', 0, 1, 6);
-- open limits
SELECT * FROM privacy_score.query_bounds('[[1,2],[2,3]]', '{7,3}', 0, NULL, 4);
SELECT * FROM privacy_score.query_bounds('[[1,2],[2,3]]', '{-7,-3}', '-Infinity', 0, 4);
SELECT * FROM privacy_score.query_bounds('[[1,2],[2],[3,4]]', '{7,3,5}', NULL, NULL, 5);
-- negative values, decimals, huge numbers
SELECT * FROM privacy_score.query_bounds('[[1,2]]', '{-1.25}', -1, 0.50, 2);
SELECT * FROM privacy_score.query_bounds('[[1,2],[1,3]]', '{1000000000000000000000000000.01,1000000000000000000000000000.02}', 0, 1000000000000000000000000000, 3);
-- only what is asked, in its order; nothing at all
SELECT * FROM privacy_score.query_bounds('[[1,2],[2,3]]', '{7,3}', 0, 10, 3, '{3,1,3}');
SELECT * FROM privacy_score.query_bounds('[]', '{}', 0, 10, 2);
SELECT count(*) FROM privacy_score.query_bounds('[]', '{}', 0, 10, 0);
-- the sums of shifted ranges, of which evaluate_query_restriction() knows the bounds in closed form
WITH records AS (SELECT i, (i * 37) % 23 AS value FROM generate_series(1, 40) i),
     asked AS (SELECT k, array_agg(i ORDER BY i) AS members, sum(value) AS answer
                 FROM generate_series(0, 8) k JOIN records ON i > 4 * k AND i <= 4 * k + 8 GROUP BY k),
     blocks AS (SELECT (i - 1) / 4 AS block, sum(value) AS total FROM records GROUP BY 1),
     -- the block sums are known but for one number, which block j has with the sign (-1)^j: it moves as far as each block lets it
     room AS (SELECT max(CASE WHEN block % 2 = 0 THEN -total ELSE total - 88 END) AS least,
                     min(CASE WHEN block % 2 = 0 THEN 88 - total ELSE total END) AS most FROM blocks),
     closed AS (SELECT i, greatest(0, total + CASE WHEN block % 2 = 0 THEN least ELSE -most END - 66) AS lower,
                       least(22, total + CASE WHEN block % 2 = 0 THEN most ELSE -least END) AS upper
                  FROM records JOIN blocks ON block = (i - 1) / 4, room)
SELECT count(*), count(*) FILTER (WHERE closed.lower = found.lower AND closed.upper = found.upper) AS equal
  FROM closed JOIN privacy_score.query_bounds((SELECT jsonb_agg(to_jsonb(members) ORDER BY k) FROM asked),
                     (SELECT array_agg(answer::numeric ORDER BY k) FROM asked), 0, 22, 40) found ON found.record = closed.i;
-- the audit
SELECT * FROM privacy_score.disclosed_records('[[1,2,3],[2,3],[4,5]]', '{9,5,19.5}', 0, 10, 6);
SELECT * FROM privacy_score.disclosed_records('[[1,2,3],[2,3],[4,5]]', '{9,5,19.5}', 0, 10, 6, 0.5);
SELECT * FROM privacy_score.disclosed_records('[[1,2,3],[2,3],[4,5]]', '{9,5,19.5}', NULL, NULL, 6, 100);
SELECT * FROM privacy_score.disclosed_records('[[1,2,3]]', '{0}', 0, 10, 4);
-- the fewest further queries that would give a record away: a difference, an odd cycle, none needed, none there is
SELECT * FROM privacy_score.further_queries('[[1,2,3,4]]', '[[1,2],[3,4],[1,2,4]]', 4);
SELECT * FROM privacy_score.further_queries('[]', '[[1,2],[2,3],[3,4],[1,3]]', 4);
SELECT * FROM privacy_score.further_queries('[[1,2],[2]]', '[[3]]', 3);
SELECT * FROM privacy_score.further_queries('[[1,2]]', '[[3,4],[1,2,3,4],[2,1]]', 4);
-- sums of 13 or 15 consecutive ones of 40 records, of which the tens have been answered: three are needed
SELECT number, query[1] AS first, query[array_length(query, 1)] AS last, record
  FROM privacy_score.further_queries((SELECT jsonb_agg(s) FROM (SELECT jsonb_agg(i) FROM generate_series(1, 40) i GROUP BY (i - 1) / 10) g(s)),
         (SELECT jsonb_agg(to_jsonb(ARRAY(SELECT generate_series(a, b))) ORDER BY a, b) FROM generate_series(1, 40) a, generate_series(1, 40) b
           WHERE b - a BETWEEN 11 AND 15 AND (a + b) % 2 = 0), 40);
-- many records
CREATE TABLE many AS SELECT jsonb_build_array(jsonb_agg(i), jsonb_agg(i) FILTER (WHERE i > 1)) AS queries FROM generate_series(1, 1000000) i;
SELECT d.* FROM many, privacy_score.disclosed_records(queries, '{500000,499999.5}', 0, 1, 1000000) d;
SELECT count(*), min(lower), max(upper) FROM many, privacy_score.query_bounds(queries, '{500000,499999.5}', 0, 1, 1000000);
-- errors
CREATE TABLE attempts (n int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO attempts (call) VALUES
  ('query_bounds(NULL, ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[[1]]'', NULL, 0, 1, 2)'),
  ('query_bounds(''[[1]]'', ''{1}'', 0, 1, NULL)'),
  ('query_bounds(''{"a":1}'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''7'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[1,2]'', ''{1,2}'', 0, 1, 2)'),
  ('query_bounds(''[[[1]]]'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[[1,null]]'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[["1"]]'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[[{"a":1}]]'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[[1.5]]'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[[1e20]]'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[[-1]]'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[[3]]'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[[1],[]]'', ''{1,0}'', 0, 1, 2)'),
  ('query_bounds(''[[1,2,1]]'', ''{1}'', 0, 1, 2)'),
  ('query_bounds(''[[1]]'', ''{1,2}'', 0, 1, 2)'),
  ('query_bounds(''[[1]]'', ''{NaN}'', 0, 1, 2)'),
  ('query_bounds(''[[1]]'', ''{Infinity}'', 0, 1, 2)'),
  ('query_bounds(''[[1]]'', ''{NULL}'', 0, 1, 2)'),
  ('query_bounds(''[[1]]'', ''{{1}}'', 0, 1, 2)'),
  ('query_bounds(''[[1]]'', ''{1}'', ''NaN'', 1, 2)'),
  ('query_bounds(''[[1]]'', ''{1}'', ''Infinity'', NULL, 2)'),
  ('query_bounds(''[[1]]'', ''{1}'', 1, 0, 2)'),
  ('query_bounds(''[[1]]'', ''{1}'', 0, 1, -1)'),
  ('query_bounds(''[[1]]'', ''{1}'', 0, 1, 2, ''{0}'')'),
  ('query_bounds(''[[1]]'', ''{1}'', 0, 1, 2, ''{3}'')'),
  ('query_bounds(''[[1]]'', ''{1}'', 0, 1, 2, ''{NULL}'')'),
  ('query_bounds(''[[1]]'', ''{0.1234567890123456789012345678901234567}'', 0, 1, 2)'),
  ('query_bounds(''[[1]]'', ''{2}'', 0, 1, 2)'),
  ('query_bounds(''[[1,2],[3,4],[1,2,3,4]]'', ''{10,10,20.000000000000001}'', 0, 10, 4)'),
  ('further_queries(NULL, ''[]'', 2)'),
  ('further_queries(''[]'', NULL, 2)'),
  ('further_queries(''[]'', ''[]'', NULL)'),
  ('further_queries(''[]'', ''[]'', -1)'),
  ('further_queries(''[[3]]'', ''[]'', 2)'),
  ('further_queries(''[]'', ''[[2],[3]]'', 2)'),
  ('further_queries(''[]'', ''[1]'', 2)'),
  ('disclosed_records(''[[1]]'', ''{1}'', 0, 1, 2, -1)'),
  ('disclosed_records(''[[1]]'', ''{1}'', 0, 1, 2, NULL)'),
  ('disclosed_records(''[[1]]'', ''{1}'', 0, 1, 2, ''NaN'')');
SELECT n, call, attempt('SELECT record FROM privacy_score.' || call) FROM attempts ORDER BY n;
-- the backend has one thread, and goes on
SELECT substring(pg_read_file('/proc/self/status') FROM 'Threads:\s+(\d+)') AS threads;
DROP SCHEMA answered CASCADE;

-- Two-way tables with suppressed cells: known ones, sums that give nothing away, NULL, rights, and every error.
CREATE SCHEMA two_way;
SET search_path = two_way, public;
SET client_min_messages = warning;
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
CREATE TABLE case_list (ward text, disease text, age int);
INSERT INTO case_list SELECT w, d, 40 + n % 3 FROM (VALUES ('A', 'flu', 2), ('A', 'gout', 30), ('A', 'mumps', 9), ('B', 'flu', 40), ('B', 'gout', 50), ('B', 'mumps', 60), ('C', 'flu', 8), ('C', 'gout', 70), ('C', 'mumps', 7)) v(w, d, n), generate_series(1, n);

-- One small cell takes three with it; nobody can tell it from 0 and from 3.
SELECT * FROM privacy_score.release_table('case_list', 'ward', 'disease', 5);
SELECT count(*) FILTER (WHERE suppressed) AS nothing_small FROM privacy_score.release_table('case_list', 'ward', 'disease', 2);
-- More protection takes more, or larger, cells.
SELECT protection, count(*) FILTER (WHERE suppressed) AS suppressed, count(*) FILTER (WHERE suppressed AND (row_margin OR column_margin)) AS margins
  FROM unnest('{0,0.1,0.5,1}'::float8[]) protection, privacy_score.release_table('case_list', 'ward', 'disease', 10, protection) GROUP BY 1 ORDER BY 1;
-- NULL is a value, and not a margin; numbers stand in their order; 7.0 and 7.00 are one. A margin below the minimum is suppressed as well.
CREATE TABLE gaps (size numeric, kind text);
INSERT INTO gaps SELECT s, k FROM (VALUES (7.0, 'x', 20), (7.00, NULL, 11), (10, 'x', 31), (10, NULL, 22), (NULL, 'x', 3)) v(s, k, n), generate_series(1, n);
SELECT * FROM privacy_score.release_table('gaps', 'size', 'kind', 5);
SELECT * FROM privacy_score.release_table('gaps', 'size', 'kind', 1000);

-- Random tables of 2 to 12 rows and columns: what is shown are the counts, what is below the minimum is not, and no sum
-- of a row or column has just one cell missing.
CREATE TABLE random_case (n int, a int, b int);
INSERT INTO random_case SELECT n, (random() * (n % 11)) ::int + (random() * 2)::int, (random() * random() * (n / 3 % 12))::int FROM generate_series(1, 60) n, generate_series(1, 30 * n);
CREATE VIEW one_case AS SELECT a, b FROM random_case WHERE n = current_setting('two_way.n')::int;
CREATE TABLE outcome (n int, wrong bigint, small_shown bigint, lonely bigint, suppressed bigint);
DO $$BEGIN FOR n IN 1..60 LOOP
  PERFORM set_config('two_way.n', n::text, false);
  INSERT INTO outcome WITH t AS MATERIALIZED (SELECT * FROM privacy_score.release_table('one_case', 'a', 'b', 5)),
    counts AS (SELECT a::text AS row_value, b::text AS column_value, count(*) AS cell FROM one_case GROUP BY CUBE (a, b))
  SELECT n, count(*) FILTER (WHERE t.cell <> coalesce(c.cell, 0)), count(*) FILTER (WHERE NOT suppressed AND coalesce(c.cell, 0) < 5 OR suppressed AND t.cell IS NOT NULL OR complementary AND c.cell < 5),
         (SELECT count(*) FROM (SELECT row_value FROM t GROUP BY row_value HAVING count(*) FILTER (WHERE suppressed) = 1 UNION ALL SELECT column_value FROM t GROUP BY column_value HAVING count(*) FILTER (WHERE suppressed) = 1) l),
         count(*) FILTER (WHERE suppressed)
    FROM t LEFT JOIN counts c ON t.row_value IS NOT DISTINCT FROM c.row_value AND t.column_value IS NOT DISTINCT FROM c.column_value;
END LOOP; END$$;
SELECT count(*), sum(wrong) AS wrong, sum(small_shown) AS small_shown, sum(lonely) AS lonely, sum(suppressed) > 500 AS much_is_suppressed FROM outcome;

-- With the caller's rights, and row security.
CREATE ROLE table_reader;
GRANT USAGE ON SCHEMA two_way TO table_reader;
GRANT SELECT (ward, disease) ON case_list TO table_reader;
ALTER TABLE case_list ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_ward ON case_list TO table_reader USING (ward <> 'B');
SET ROLE table_reader;
SELECT row_value, column_value, cell FROM privacy_score.release_table('case_list', 'ward', 'disease', 1) WHERE row_margin OR column_margin;
SELECT attempt($$SELECT cell FROM privacy_score.release_table('case_list', 'ward', 'age', 1)$$);
RESET ROLE;

-- errors
CREATE TABLE odd (p point, j json, k int, many int);
INSERT INTO odd SELECT '(1,1)', '{}', i, i FROM generate_series(1, 1000) i;
CREATE TABLE attempts (n int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO attempts (call) VALUES
  ('release_table(NULL, ''ward'', ''disease'', 5)'),
  ('release_table(''case_list'', NULL, ''disease'', 5)'),
  ('release_table(''case_list'', ''ward'', NULL, 5)'),
  ('release_table(''case_list'', ''ward'', ''disease'', NULL)'),
  ('release_table(''case_list'', ''ward'', ''disease'', 5, NULL)'),
  ('release_table(''case_list'', ''ward'', ''nosuch'', 5)'),
  ('release_table(''case_list'', ''ward'', ''ward'', 5)'),
  ('release_table(''case_list'', ''ward'', ''disease'', 0)'),
  ('release_table(''case_list'', ''ward'', ''disease'', 5, -0.1)'),
  ('release_table(''case_list'', ''ward'', ''disease'', 5, 1.1)'),
  ('release_table(''case_list'', ''ward'', ''disease'', 5, ''NaN'')'),
  ('release_table(''odd'', ''k'', ''p'', 5)'),
  ('release_table(''odd'', ''k'', ''many'', 5)');
SELECT n, call, attempt('SELECT privacy_score.' || call) FROM attempts ORDER BY n;
CREATE TABLE empty (a int, b int);
SELECT count(*) FROM privacy_score.release_table('empty', 'a', 'b', 5);
-- A long computation ends when it is told to, and the session goes on.
CREATE TABLE pairs AS SELECT i % 900 AS a, (i / 900 * 37 + i::bigint * i) % 900 AS b FROM generate_series(1, 400000) i;
\set VERBOSITY terse
SET statement_timeout = '1s';
SELECT count(*) FROM privacy_score.release_table('pairs', 'a', 'b', 2);
RESET statement_timeout;
\set VERBOSITY default
SELECT count(*) FROM privacy_score.release_table('case_list', 'ward', 'disease', 5);
DROP SCHEMA two_way CASCADE;
DROP ROLE table_reader;

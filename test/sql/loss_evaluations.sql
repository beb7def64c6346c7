-- Techniques compared on a table: what can be told by hand, repeatability, rights and every error.
CREATE SCHEMA loss_evaluations;
SET search_path = loss_evaluations, public;
SET client_min_messages = warning;
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
CREATE FUNCTION r(x float8) RETURNS numeric LANGUAGE sql RETURN round(x::numeric, 9);
CREATE TABLE staff (id int PRIMARY KEY, salary numeric, age int, sex text, place point);
INSERT INTO staff VALUES (1, 10, 30, 'f'), (2, 40.0, 30, 'f'), (3, 20, 30, 'm'), (4, 20, 41, 'm'), (5, 10, 41, NULL), (6, 40, NULL, NULL), (7, NULL, 30, 'f');

-- Everything is released: the laws are the shares of the values among records that agree in what is known; NULL is a value.
SELECT strength, known_attributes, r(initial_entropy) AS entropy, r(area) AS area, samples
  FROM privacy_score.evaluate_sampling('staff', 'salary', '{age,sex}', '{1}', 2) ORDER BY 1, 2;
SELECT strength, known_attributes, r(initial_entropy) AS entropy, r(area) AS area, samples
  FROM privacy_score.evaluate_noise('staff', 'salary', '{age,sex}', '{0}', 1) ORDER BY 1, 2;
-- Sums over more records than there are tell nothing: lg 3 bits. A sample of no record (0.01 of 6) tells nothing, either.
SELECT strength, known_attributes, r(initial_entropy) AS entropy, samples
  FROM privacy_score.evaluate_query_restriction('staff', 'salary', '{age,sex}', '{8}', 3) ORDER BY 1, 2;
SELECT count(DISTINCT r(initial_entropy)) AS one, min(r(initial_entropy)) AS entropy FROM privacy_score.evaluate_sampling('staff', 'salary', '{age,sex}', '{0.01}', 2);

-- A table like that of the paper. A seed repeats a run; more of a technique leaves more, more knowledge leaves less.
CREATE TABLE pums AS SELECT 10 + 10 * (i * 7919 % 25) AS salary, 16 + i * 104729 % 69 AS age, 1 + i % 2 AS sex, 1 + i * 31 % 16 AS education
  FROM generate_series(1, 600) i;
SELECT (SELECT array_agg(e ORDER BY e) FROM privacy_score.evaluate_sampling('pums', 'salary', '{age,sex,education}', '{0.2}', 3, 7) e) =
       (SELECT array_agg(e ORDER BY e) FROM privacy_score.evaluate_sampling('pums', 'salary', '{age,sex,education}', '{0.2}', 3, 7) e) AS repeated,
       (SELECT array_agg(e ORDER BY e) FROM privacy_score.evaluate_sampling('pums', 'salary', '{age,sex,education}', '{0.2}', 3, 7) e) <>
       (SELECT array_agg(e ORDER BY e) FROM privacy_score.evaluate_sampling('pums', 'salary', '{age,sex,education}', '{0.2}', 3, 8) e) AS another_seed;
SELECT 'sampling' AS technique, count(*) AS rows, bool_and(initial_entropy >= before) AS less_released_leaves_more
  FROM (SELECT initial_entropy, lag(initial_entropy, 1, 0::float8) OVER (PARTITION BY known_attributes ORDER BY strength DESC) AS before
          FROM privacy_score.evaluate_sampling('pums', 'salary', '{age,sex,education}', repetitions => 3)) s
UNION ALL
SELECT 'query restriction', count(*), bool_and(initial_entropy >= before)
  FROM (SELECT initial_entropy, lag(initial_entropy, 1, 0::float8) OVER (PARTITION BY known_attributes ORDER BY strength) AS before
          FROM privacy_score.evaluate_query_restriction('pums', 'salary', '{age,sex,education}', repetitions => 3)) q
UNION ALL
SELECT 'noise', count(*), bool_and(initial_entropy >= before)
  FROM (SELECT initial_entropy, lag(initial_entropy, 1, 0::float8) OVER (PARTITION BY known_attributes ORDER BY strength) AS before
          FROM privacy_score.evaluate_noise('pums', 'salary', '{age,sex,education}', '{0,20,50,100}', 3)) n;

-- with the caller's rights, and no more
CREATE ROLE evaluation_reader;
GRANT USAGE ON SCHEMA loss_evaluations TO evaluation_reader;
GRANT SELECT (salary, age) ON staff TO evaluation_reader;
SET ROLE evaluation_reader;
SELECT known_attributes, samples FROM privacy_score.evaluate_sampling('staff', 'salary', '{age}', '{1}', 1);
SELECT attempt($$SELECT samples FROM privacy_score.evaluate_sampling('staff', 'salary', '{age,sex}', '{1}', 1)$$);
RESET ROLE;

-- errors
CREATE TABLE empty (v int, k int);
CREATE TABLE attempts (n int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO attempts (call) VALUES
  ('evaluate_sampling(NULL, ''salary'', ''{age}'')'),
  ('evaluate_sampling(''staff'', NULL, ''{age}'')'),
  ('evaluate_sampling(''staff'', ''salary'', NULL)'),
  ('evaluate_sampling(''staff'', ''salary'', ''{}'')'),
  ('evaluate_sampling(''staff'', ''salary'', ''{age,age}'')'),
  ('evaluate_sampling(''staff'', ''salary'', ''{age,salary}'')'),
  ('evaluate_sampling(''staff'', ''salary'', ''{nosuch}'')'),
  ('evaluate_sampling(''staff'', ''sex'', ''{age}'')'),
  ('evaluate_sampling(''staff'', ''salary'', ''{place}'')'),
  ('evaluate_sampling(''staff'', ''salary'', ''{age}'', ''{}'')'),
  ('evaluate_sampling(''staff'', ''salary'', ''{age}'', ''{0}'')'),
  ('evaluate_sampling(''staff'', ''salary'', ''{age}'', ''{1.5}'')'),
  ('evaluate_sampling(''staff'', ''salary'', ''{age}'', ''{0.5,NULL}'')'),
  ('evaluate_sampling(''staff'', ''salary'', ''{age}'', ''{0.5}'', 0)'),
  ('evaluate_sampling(''staff'', ''salary'', ''{age}'', ''{0.5}'', 1, NULL)'),
  ('evaluate_sampling(''empty'', ''v'', ''{k}'')'),
  ('evaluate_query_restriction(''staff'', ''salary'', ''{age}'', ''{3}'')'),
  ('evaluate_query_restriction(''staff'', ''salary'', ''{age}'', ''{0}'')'),
  ('evaluate_noise(''staff'', ''salary'', ''{age}'', ''{-1}'')'),
  ('evaluate_noise(''staff'', ''salary'', ''{age}'', ''{NaN}'')');
SELECT n, call, attempt('SELECT privacy_score.' || call) FROM attempts ORDER BY n;
-- A long computation ends when it is told to, and the session goes on.
SET statement_timeout = '500ms';
SELECT count(*) FROM privacy_score.evaluate_noise('pums', 'age', '{salary,sex,education}', repetitions => 100000);
RESET statement_timeout;
SELECT samples FROM privacy_score.evaluate_noise('staff', 'salary', '{sex}', '{50}', 1);
DROP SCHEMA loss_evaluations CASCADE;
DROP ROLE evaluation_reader;

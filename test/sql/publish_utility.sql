-- How far counts from a release are from those of its source: bounds that hold but for one run in a million, refusals, rights.
CREATE SCHEMA utility;
SET search_path = utility, public;
CREATE TABLE source AS SELECT i AS id, i % 40 AS age, CASE WHEN i % 17 <> 5 THEN 'z' || i % 17 END AS zip, (i * 7 % 3 = 0) AS smoker, CASE WHEN i % 40 >= 8 THEN 'd' || i % 40 / 8 END AS disease
  FROM generate_series(1, 4000) i;
-- Buckets of one tell everything, so every count is exact.
SELECT rows FROM privacy_score.bucketize('source', '{age,zip,smoker}', 'disease', 'exact_q', 'exact_s', l => 1);
SELECT dimensions, queries BETWEEN 20 AND 34 AS asked, abs(mean_relative_error) < 1e-9 AS exact, abs(median_relative_error) < 1e-9 AS median_exact
  FROM privacy_score.release_utility('exact_q', 'exact_s', 'source', 100, 0.05);
-- Small buckets lose less than large ones, ten standard deviations apart, since the disease goes with the age; both forms of the second table, and fakes.
SELECT rows FROM privacy_score.bucketize('source', '{age,zip,smoker}', 'disease', 'small_q', 'small_s', l => 2);
SELECT rows FROM privacy_score.bucketize('source', '{age,zip,smoker}', 'disease', 'large_q', 'large_s', l => 5, min_bucket => 40, st_form => 'counts');
SELECT rows, fake FROM privacy_score.bucketize('source', '{zip,smoker}', 'disease', 'fake_q', 'fake_s', l => 4, fake_values => 1);
CREATE TABLE comparison AS SELECT r.kind, u.* FROM (VALUES ('small'), ('large'), ('fake')) r(kind),
  LATERAL privacy_score.release_utility((kind || '_q')::regclass, (kind || '_s')::regclass, 'source', 3000, 0.05) u;
SELECT kind, sum(queries) BETWEEN 2000 AND 3000 AS asked, max(dimensions) AS dimensions, bool_and(mean_relative_error > 0 AND mean_relative_error < 3) AS mean, bool_and(median_relative_error BETWEEN 0 AND 3) AS median
  FROM comparison GROUP BY 1 ORDER BY 1;
SELECT (SELECT sum(mean_relative_error) FROM comparison WHERE kind = 'small') < (SELECT sum(mean_relative_error) FROM comparison WHERE kind = 'large') AS smaller_is_better;
-- A release of other records is far off; columns are found by name and compared as the release has them.
CREATE TABLE other AS SELECT 'd' || i % 4 AS disease, i % 2 = 0 AS smoker, 'z' || i % 17 AS zip, (i % 40)::text AS age FROM generate_series(1, 100) i;
SELECT count(*), bool_and(mean_relative_error > 1) AS far FROM privacy_score.release_utility('small_q', 'small_s', 'other', 300);
-- No records; queries that select everything.
CREATE TABLE nobody (LIKE source);
SELECT rows FROM privacy_score.bucketize('nobody', '{age,zip}', 'disease', 'no_q', 'no_s', l => 2);
SELECT * FROM privacy_score.release_utility('no_q', 'no_s', 'nobody');
SELECT dimensions, queries FROM privacy_score.release_utility('small_q', 'small_s', 'source', 3, 1);
-- Rows without a bucket or a count are in none; a value may be shown 0 times.
CREATE TABLE mq (a int, bid int);
CREATE TABLE ms (bid int, v text, count int);
CREATE TABLE msource AS SELECT 1 AS a, 'x' AS v;
INSERT INTO mq VALUES (1, 1), (1, NULL);
INSERT INTO ms VALUES (1, 'x', 1), (NULL, 'x', 7), (1, 'y', NULL), (1, 'y', 0), (1, 'y', -3);
SELECT * FROM privacy_score.release_utility('mq', 'ms', 'msource', 10);

-- Refusals.
SELECT * FROM privacy_score.release_utility('small_q', 'small_s', 'source', 0);
SELECT * FROM privacy_score.release_utility('small_q', 'small_s', 'source', 10, 0);
SELECT * FROM privacy_score.release_utility('small_q', 'small_s', 'source', 10, 'NaN');
SELECT * FROM privacy_score.release_utility('small_q', 'small_s', 'source', NULL);
SELECT * FROM privacy_score.release_utility('small_q', 'small_s', NULL);
SELECT * FROM privacy_score.release_utility('small_q', 'small_s', 'msource');
SELECT * FROM privacy_score.release_utility('source', 'small_s', 'source');
SELECT * FROM privacy_score.release_utility('ms', 'source', 'source');
CREATE TABLE bare (bid int);
SELECT * FROM privacy_score.release_utility('bare', 'small_s', 'source');
CREATE ROLE utility_reader;
GRANT USAGE ON SCHEMA utility TO utility_reader;
GRANT SELECT ON small_q, small_s TO utility_reader;
GRANT SELECT (age, zip, smoker) ON source TO utility_reader;
SET ROLE utility_reader;
SELECT * FROM privacy_score.release_utility('small_q', 'small_s', 'source');
RESET ROLE;
GRANT SELECT (disease) ON source TO utility_reader;
SET ROLE utility_reader;
SELECT count(*) FROM privacy_score.release_utility('small_q', 'small_s', 'source', 6);
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA utility CASCADE;
DROP ROLE utility_reader;

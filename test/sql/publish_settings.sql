-- Bucket settings by SQL: the cases of the paper, exact thresholds, boundaries, refusals; which thresholds to choose.
CREATE SCHEMA settings;
SET search_path = settings, public;

-- Example 4.20: 50 records; a valid setting of 4 buckets of 9 and 1 of 14, the least loss of two sizes is 319.
CREATE FUNCTION counts() RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$SELECT array_fill(1::bigint, '{8}') || array_fill(3::bigint, '{6}') || array_fill(6::bigint, '{4}')$$;
CREATE FUNCTION thresholds() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$SELECT array_fill('9/100'::text, '{8}') || array_fill('0.17'::text, '{6}') || array_fill('29/100'::text, '{4}')$$;
SELECT privacy_score.bucket_setting_valid(counts(), thresholds(), '{9,14}', '{4,1}') AS valid, round(privacy_score.mse('{9,14}', '{4,1}') * 49, 6) AS loss;
SELECT bucket_size, buckets, loss FROM privacy_score.bucket_setting(counts(), thresholds(), 'two-size');
SELECT sum(loss) <= 319 AS no_worse FROM privacy_score.bucket_setting(counts(), thresholds(), 'multi-size');
-- Of any number of sizes, which is the default.
SELECT * FROM privacy_score.bucket_setting(counts(), thresholds());
-- Lemma 4.13: three thirds do not fit into two buckets of three when a value occurs three times.
SELECT privacy_score.bucket_setting_valid('{3,2,1}', '{1/3,1/3,1/3}', '{3}', '{2}'), privacy_score.bucket_setting_valid('{2,2,2}', '{1/3,1/3,1/3}', '{3}', '{2}');
-- Example 5.32: the conditions of two sizes hold for three, and there is no assignment.
SELECT privacy_score.bucket_setting_valid('{5,5,5,5,5,5,5,5,5,5,20}', '{1/6,1/6,1/6,1/6,1/6,1/6,1/6,1/6,1/6,1/6,1}', '{4,5,30}', '{5,4,1}');
-- The optimum of [4,3,2,1] with 1/2, 1/2, 1/3, 1/5 is one bucket each of 2, 3 and 5.
SELECT privacy_score.bucket_setting_valid('{4,3,2,1}', '{1/2,1/2,1/3,1/5}', '{2,3,5}', '{1,1,1}') AS valid, round(privacy_score.mse('{2,3,5}', '{1,1,1}') * 9, 6) AS loss,
       (SELECT sum(loss) FROM privacy_score.bucket_setting('{4,3,2,1}', '{1/2,1/2,1/3,1/5}', 'two-size', max_bucket => 10)) AS two_size;
SELECT * FROM privacy_score.bucket_setting('{4,3,2,1}', '{1/2,1/2,1/3,1/5}');
-- Exact: floor(f' S) is 1 for 1/3 and 3, 29 for 0.29 and 100, 0 for 0.333 and 3.
SELECT privacy_score.bucket_setting_valid('{1,1,1}', '{1/3,1/3,1/3}', '{3}', '{1}') AS third, privacy_score.bucket_setting_valid('{1,1,1}', '{0.333,1,1}', '{3}', '{1}') AS less,
       privacy_score.bucket_setting_valid('{29,71}', '{0.29,1}', '{100}', '{1}') AS exact, privacy_score.bucket_setting_valid('{30,70}', '{0.29,1}', '{100}', '{1}') AS more;
-- Settings that are written in parts, and what does not add up.
SELECT privacy_score.bucket_setting_valid('{2,2,2}', '{1/3,1/3,1/3}', '{3,3,5}', '{1,1,0}'), privacy_score.bucket_setting_valid('{2,2,2}', '{1/3,1/3,1/3}', '{3}', '{1}'),
       privacy_score.bucket_setting_valid('{}', '{}', '{}', '{}'), privacy_score.bucket_setting_valid('{0,0}', '{0.1,0.1}', '{}', '{}');

-- One value, values that differ all, one row, no row, rows that are a prime number, one size only, thresholds that cannot be kept.
SELECT method, n, s.bucket_size, s.buckets, s.loss, s.gap FROM (VALUES ('multi-size'), ('optimal')) m(method), (VALUES (1, '{7}'::bigint[], '{1}'::text[], NULL::int, 50), (2, '{1,1,1,1,1}', '{1/5,1/5,1/5,1/5,1/5}', NULL, 50),
    (3, '{1}', '{1}', NULL, 50), (4, '{}', '{}', NULL, 50), (5, '{5,4,4}', '{1/2,1/2,1/2}', NULL, 50), (6, '{2,2,2}', '{1/2,1/2,1/2}', 2, 2), (7, '{3,1}', '{1/2,1}', NULL, 50),
    (8, '{6,0,6}', '{1/2,1/100,1/2}', NULL, 50), (9, '{6,6}', '{1/2,1/2}', 5, 7), (10, '{4,3}', '{0.6,0.6}', NULL, 50), (11, '{2,2,2}', '{1/3,1/3,1/3}', NULL, 50)) c(n, counts, thresholds, least, most)
  LEFT JOIN LATERAL privacy_score.bucket_setting(c.counts, c.thresholds, m.method, c.least, c.most) s ON true ORDER BY method, n, bucket_size;
SELECT m AS method, sum(s.size * s.n), sum(s.loss) FROM unnest('{two-size,multi-size,optimal,anatomy}'::text[]) m,
    LATERAL privacy_score.bucket_setting('{30,20,20,15,10,5}', '{1/3,1/3,1/3,1/3,1/3,1/3}', m) s(size, n, loss, gap) GROUP BY 1 ORDER BY 1;
-- As many rows as 64 bits hold; 100,000 values.
SELECT bucket_size, buckets FROM privacy_score.bucket_setting('{1000000000000000,1000000000000000}', '{1/2,1/2}', 'two-size');
SELECT bucket_size, buckets FROM privacy_score.bucket_setting(array_fill(10::bigint, '{100000}'), array_fill('1/20'::text, '{100000}'), 'two-size');

SELECT * FROM privacy_score.bucket_setting(array_fill(10::bigint, '{100000}'), array_fill('1/20'::text, '{100000}'));

-- The occupations of 500,000 records, 7.5 % to 0.18 %: the optimum, proved; never worse than multi-size, which is all there is without time.
CREATE TABLE occupation AS SELECT array_agg(n ORDER BY i) AS counts, array_agg(least(1, 4.0 * n / 500000 + 0.02)::text ORDER BY i) AS thresholds
  FROM (SELECT i, floor(37500 * power(0.024, i / 49.0))::bigint + CASE i WHEN 0 THEN 500000 - (SELECT sum(floor(37500 * power(0.024, j / 49.0))) FROM generate_series(0, 49) j)::bigint ELSE 0 END AS n
          FROM generate_series(0, 49) i) o;
SELECT sum(bucket_size * buckets), sum(loss), max(gap) FROM occupation, privacy_score.bucket_setting(counts, thresholds);
SELECT privacy_score.bucket_setting_valid(counts, thresholds, sizes, buckets) FROM occupation,
  LATERAL (SELECT array_agg(bucket_size) AS sizes, array_agg(buckets) AS buckets FROM privacy_score.bucket_setting(counts, thresholds)) s;
SET privacy_score.bucket_search_time = 0;
SELECT (SELECT sum(loss) FROM privacy_score.bucket_setting(counts, thresholds)) = (SELECT sum(loss) FROM privacy_score.bucket_setting(counts, thresholds, 'multi-size')) AS equal,
       (SELECT count(gap) FROM privacy_score.bucket_setting(counts, thresholds)) AS gaps FROM occupation;
-- Where two sizes do not do it is not known without time whether others would; with time it is.
SELECT * FROM privacy_score.bucket_setting('{4,3}', '{1,1}', min_bucket => 4, max_bucket => 5);
CREATE TABLE seven AS SELECT i, i % 2 AS v FROM generate_series(1, 7) i;
SELECT * FROM privacy_score.bucketize('seven', '{i}', 'v', 'q', 's', thresholds => '{}', min_bucket => 4, max_bucket => 5);
SELECT feasible, loss FROM privacy_score.suggest_thresholds('seven', 'v', '{1}', 0, 6);
RESET privacy_score.bucket_search_time;
SELECT * FROM privacy_score.bucket_setting('{4,3}', '{1,1}', min_bucket => 4, max_bucket => 5);
SELECT feasible, loss FROM privacy_score.suggest_thresholds('seven', 'v', '{1}', 0, 6);

-- What would take seconds and more ends with the statement: building the problem, pairs of sizes, the recursion, the search, saying what is broken.
CREATE TABLE hard AS SELECT array_agg(n) AS counts, array_agg((0.02 + 4 * n / total)::numeric(20, 15)::text) AS thresholds
  FROM (SELECT n, sum(n) OVER () AS total FROM (SELECT 1 + (20000 * power(7919 * i % 20011 / 20011.0, 3))::bigint AS n FROM generate_series(1, 50000) i) i) i;
CREATE TABLE harder AS SELECT array_fill(10::bigint, '{200000}') AS counts, array_agg((999000000 + i) || '/1000000000000') AS thresholds FROM generate_series(1, 200000) i;
SELECT clock_timestamp() AS begun \gset
SET statement_timeout = '20ms';
SELECT count(*) FROM hard, privacy_score.bucket_setting(counts, thresholds, 'two-size', max_bucket => 1000);
SET statement_timeout = '200ms';
SELECT count(*) FROM hard, privacy_score.bucket_setting(counts, thresholds, 'multi-size', max_bucket => 1000);
SELECT count(*) FROM hard, privacy_score.bucket_setting(counts, thresholds, max_bucket => 1000);
SELECT count(*) FROM harder, privacy_score.bucket_setting(counts, thresholds, 'multi-size', max_bucket => 1000);
RESET statement_timeout;
SELECT clock_timestamp() - :'begun' < '40 s' AS promptly;
-- Capacities of so many kinds of values for so many sizes would not fit.
SELECT count(*) FROM privacy_score.bucket_setting(array_fill(1::bigint, '{130000}'), (SELECT array_agg((1000000 + 7 * i) || '/2000003') FROM generate_series(1, 130000) i), max_bucket => 1000);

SELECT privacy_score.mse('{1}', '{6}') AS rows_alone, privacy_score.mse('{6}', '{1}') AS one_bucket, privacy_score.mse('{}', '{}') AS none, privacy_score.mse('{1}', '{1}') AS one_row,
       privacy_score.mse('{2147483647}', '{9223372036854775807}') >= 2147483645 AS huge;

-- Refusals.
SELECT * FROM privacy_score.bucket_setting(NULL, '{1}');
SELECT * FROM privacy_score.bucket_setting('{1,NULL}', '{1,1}');
SELECT * FROM privacy_score.bucket_setting('{1,2}', '{1}');
SELECT * FROM privacy_score.bucket_setting('{1,-2}', '{1,1}');
SELECT * FROM privacy_score.bucket_setting('{1}', '{0}');
SELECT * FROM privacy_score.bucket_setting('{1}', '{x}');
SELECT * FROM privacy_score.bucket_setting('{{1}}', '{1}');
SELECT * FROM privacy_score.bucket_setting('{1}', '{1}', 'slow');
SELECT * FROM privacy_score.bucket_setting('{1}', '{1}', NULL);
SELECT * FROM privacy_score.bucket_setting('{9223372036854775807,1}', '{1,1}');
SELECT privacy_score.bucket_setting_valid('{1}', '{1}', '{1,2}', '{1}');
SELECT privacy_score.bucket_setting_valid('{1}', '{1}', '{0}', '{1}');
SELECT privacy_score.bucket_setting_valid('{1}', '{1}', '{1}', '{-1}');
SELECT privacy_score.mse('{2}', NULL);
SELECT privacy_score.mse('{2}', '{1,1}');

-- Thresholds side by side; the l that would promise as much is 1/(least threshold), and may not exist [Wang, remark 3.8].
CREATE TABLE job AS SELECT i, CASE WHEN i < 40 THEN 'rare' WHEN i < 300 THEN 'common' ELSE 'job' || i % 20 END AS occupation FROM generate_series(0, 1999) i;
SELECT theta, feasible, smallest_bucket, largest_bucket, loss, round(mse, 4) AS mse, l_needed, l_possible FROM privacy_score.suggest_thresholds('job', 'occupation');
SELECT theta, feasible, smallest_bucket, l_needed, l_possible FROM privacy_score.suggest_thresholds('job', 'occupation', '{0.5,1,1.5,50}', 0.001, 20);
CREATE TABLE empty (a int);
SELECT * FROM privacy_score.suggest_thresholds('empty', 'a', '{2}');
SELECT count(*) FROM privacy_score.suggest_thresholds('job', 'occupation', '{}');
SELECT * FROM privacy_score.suggest_thresholds('job', 'nosuch');
SELECT * FROM privacy_score.suggest_thresholds('job', 'occupation', '{-1}');
SELECT * FROM privacy_score.suggest_thresholds('job', 'occupation', max_bucket => 0);
SELECT * FROM privacy_score.suggest_thresholds('job', 'occupation', floor => NULL);
CREATE ROLE settings_reader;
GRANT USAGE ON SCHEMA settings TO settings_reader;
GRANT SELECT (i) ON job TO settings_reader;
SET ROLE settings_reader;
SELECT * FROM privacy_score.suggest_thresholds('job', 'occupation');
SELECT count(*) FROM privacy_score.suggest_thresholds('job', 'i', max_bucket => 1000);
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA settings CASCADE;
DROP ROLE settings_reader;

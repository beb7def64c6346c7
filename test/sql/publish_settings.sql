-- Bucket settings by SQL: the cases of the paper, exact thresholds, boundaries, refusals; which thresholds to choose.
CREATE SCHEMA settings;
SET search_path = settings, public;

-- Example 4.20: 50 records; a valid setting of 4 buckets of 9 and 1 of 14, the least loss of two sizes is 319.
CREATE FUNCTION counts() RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$SELECT array_fill(1::bigint, '{8}') || array_fill(3::bigint, '{6}') || array_fill(6::bigint, '{4}')$$;
CREATE FUNCTION thresholds() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$SELECT array_fill('9/100'::text, '{8}') || array_fill('0.17'::text, '{6}') || array_fill('29/100'::text, '{4}')$$;
SELECT privacy_score.bucket_setting_valid(counts(), thresholds(), '{9,14}', '{4,1}') AS valid, round(privacy_score.mse('{9,14}', '{4,1}') * 49, 6) AS loss;
SELECT bucket_size, buckets, loss FROM privacy_score.bucket_setting(counts(), thresholds(), 'two-size');
SELECT sum(loss) <= 319 AS no_worse FROM privacy_score.bucket_setting(counts(), thresholds(), 'multi-size');
-- Lemma 4.13: three thirds do not fit into two buckets of three when a value occurs three times.
SELECT privacy_score.bucket_setting_valid('{3,2,1}', '{1/3,1/3,1/3}', '{3}', '{2}'), privacy_score.bucket_setting_valid('{2,2,2}', '{1/3,1/3,1/3}', '{3}', '{2}');
-- Example 5.32: the conditions of two sizes hold for three, and there is no assignment.
SELECT privacy_score.bucket_setting_valid('{5,5,5,5,5,5,5,5,5,5,20}', '{1/6,1/6,1/6,1/6,1/6,1/6,1/6,1/6,1/6,1/6,1}', '{4,5,30}', '{5,4,1}');
-- The optimum of [4,3,2,1] with 1/2, 1/2, 1/3, 1/5 is one bucket each of 2, 3 and 5.
SELECT privacy_score.bucket_setting_valid('{4,3,2,1}', '{1/2,1/2,1/3,1/5}', '{2,3,5}', '{1,1,1}') AS valid, round(privacy_score.mse('{2,3,5}', '{1,1,1}') * 9, 6) AS loss,
       (SELECT sum(loss) FROM privacy_score.bucket_setting('{4,3,2,1}', '{1/2,1/2,1/3,1/5}', 'two-size', max_bucket => 10)) AS two_size;
-- Exact: floor(f' S) is 1 for 1/3 and 3, 29 for 0.29 and 100, 0 for 0.333 and 3.
SELECT privacy_score.bucket_setting_valid('{1,1,1}', '{1/3,1/3,1/3}', '{3}', '{1}') AS third, privacy_score.bucket_setting_valid('{1,1,1}', '{0.333,1,1}', '{3}', '{1}') AS less,
       privacy_score.bucket_setting_valid('{29,71}', '{0.29,1}', '{100}', '{1}') AS exact, privacy_score.bucket_setting_valid('{30,70}', '{0.29,1}', '{100}', '{1}') AS more;
-- Settings that are written in parts, and what does not add up.
SELECT privacy_score.bucket_setting_valid('{2,2,2}', '{1/3,1/3,1/3}', '{3,3,5}', '{1,1,0}'), privacy_score.bucket_setting_valid('{2,2,2}', '{1/3,1/3,1/3}', '{3}', '{1}'),
       privacy_score.bucket_setting_valid('{}', '{}', '{}', '{}'), privacy_score.bucket_setting_valid('{0,0}', '{0.1,0.1}', '{}', '{}');

-- One value, values that differ all, one row, no row, rows that are a prime number, one size only, thresholds that cannot be kept.
SELECT n, s.bucket_size, s.buckets, s.loss FROM (VALUES (1, '{7}'::bigint[], '{1}'::text[], NULL::int, 50), (2, '{1,1,1,1,1}', '{1/5,1/5,1/5,1/5,1/5}', NULL, 50),
    (3, '{1}', '{1}', NULL, 50), (4, '{}', '{}', NULL, 50), (5, '{5,4,4}', '{1/2,1/2,1/2}', NULL, 50), (6, '{2,2,2}', '{1/2,1/2,1/2}', 2, 2), (7, '{3,1}', '{1/2,1}', NULL, 50),
    (8, '{6,0,6}', '{1/2,1/100,1/2}', NULL, 50), (9, '{6,6}', '{1/2,1/2}', 5, 7)) c(n, counts, thresholds, least, most)
  LEFT JOIN LATERAL privacy_score.bucket_setting(c.counts, c.thresholds, 'multi-size', c.least, c.most) s ON true ORDER BY n, bucket_size;
SELECT m AS method, sum(s.size * s.n), sum(s.loss) FROM unnest('{two-size,multi-size,anatomy}'::text[]) m,
    LATERAL privacy_score.bucket_setting('{30,20,20,15,10,5}', '{1/3,1/3,1/3,1/3,1/3,1/3}', m) s(size, n, loss, gap) GROUP BY 1 ORDER BY 1;
-- As many rows as 64 bits hold; 100,000 values.
SELECT bucket_size, buckets FROM privacy_score.bucket_setting('{1000000000000000,1000000000000000}', '{1/2,1/2}', 'two-size');
SELECT bucket_size, buckets FROM privacy_score.bucket_setting(array_fill(10::bigint, '{100000}'), array_fill('1/20'::text, '{100000}'), 'two-size');

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

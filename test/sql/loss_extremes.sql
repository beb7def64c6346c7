-- Measures of loss at the ends of what they take: one value, a million values, more databases than can be counted, unordered and equal values, NULL within.
CREATE SCHEMA loss_extremes;
SET search_path = loss_extremes, public;
SET client_min_messages = warning;
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
-- One value: nothing to lose, nothing to guess.
SELECT s, privacy_score.privacy_loss('{7}', 3, s, r) AS loss, privacy_score.expected_privacy_loss('{7}', 3, s) AS expected
  FROM (VALUES ('sum', 21), ('average', 7), ('count', 3), ('minimum', 7), ('maximum', 7), ('median', 7)) v(s, r) ORDER BY s;
SELECT privacy_score.privacy_loss('{7}', 3, 'sum', 20) AS impossible, privacy_score.privacy_loss('{7}', 1, 'sum', 7, '{1}') AS one_record,
       privacy_score.equivocation('{7}', '{1}', 0) AS equivocation, privacy_score.equivocation_area('{7}') AS area, privacy_score.disclosure_risk('{1}') AS risk,
       privacy_score.information_loss('{1}', '{1}') AS information, privacy_score.interval_privacy('{7}', '{1}', 1) AS width,
       privacy_score.sampling_probabilities('{7}', '{7,7}', 5) AS sampling, privacy_score.noise_posterior(1, '{1,2}', 4) AS noise;
-- Order and repetition of values are of no account: equal values share what was given for each.
SELECT s, abs(a - b) < 1e-12 AS same FROM (VALUES ('sum', 12), ('average', 3), ('count', 3), ('minimum', 1), ('maximum', 5), ('median', 2)) v(s, r),
  LATERAL (SELECT privacy_score.privacy_loss('{5,0,2,1,2}', 4, s, r, '{0.1,0.2,0.3,0.25,0.15}') AS a, privacy_score.privacy_loss('{0,1,2,5}', 4, s, r, '{0.2,0.25,0.45,0.1}') AS b) l ORDER BY s;
SELECT abs(privacy_score.equivocation_area('{5,0,2,1,2.00}', '{0.1,0.2,0.3,0.25,0.15}') - privacy_score.equivocation_area('{0,1,2,5}', '{0.2,0.25,0.45,0.1}')) < 1e-12 AS area,
       privacy_score.interval_privacy('{5,0,2,1,2}', '{0.1,0.2,0.3,0.25,0.15}', 0.7) AS width;
-- As many databases as there are: 10^7 and more, up to 2^2147483647, of the sum and of what orders records.
SELECT round(privacy_score.privacy_loss(array(SELECT generate_series(0, 9)), 7, 'sum', 31)::numeric, 9) AS ten_million,
       abs(privacy_score.privacy_loss('{0,1}', 2147483647, 'sum', 1000000000) / privacy_score.binary_privacy_loss(2147483647, 1000000000) - 1) < 1e-9 AS all_records,
       abs(privacy_score.privacy_loss('{0,1}', 2147483647, 'count', 2147483647) - 1) < 1e-12 AS all_ones,
       privacy_score.binary_privacy_loss(9223372036854775807, 1) > 0.99 AS most_records, abs(privacy_score.binary_privacy_loss(9223372036854775807, 4611686018427387903)) < 1e-15 AS half_of_them;
SELECT s, round(privacy_score.privacy_loss('{1,2,3}', 2147483647, s, r)::numeric, 9) AS loss FROM (VALUES ('minimum', 1), ('minimum', 2), ('maximum', 3), ('maximum', 1), ('median', 2)) v(s, r) ORDER BY s, r;
SELECT round((privacy_score.expected_binary_privacy_loss(1000000000000) * 2e12 * ln(2))::numeric, 4) AS falls_as_one_over_n;
-- Values at the ends of what a number can hold.
SELECT privacy_score.privacy_loss('{0,1e17}', 2, 'sum', 1e17) AS wide, abs(privacy_score.equivocation_area('{0,1e17}') / 1e17 - 1) < 1e-12 AS area, abs(privacy_score.equivocation_area('{0,1e-17}') / 1e-17 - 1) < 1e-12 AS narrow, privacy_score.privacy_loss('{-1e-20,1e-20}', 3, 'sum', 1e-20) < 0.1 AS tiny;
-- A million values, of which some are equal.
CREATE TABLE million AS SELECT array_agg(i % 1000 ORDER BY i)::numeric[] AS vals, array_agg(1e-6::float8) AS p FROM generate_series(1, 1000000) i;
SELECT abs(privacy_score.equivocation(vals, p, 0) - 3 / log(2)) < 1e-8 AS equivocation, privacy_score.interval_privacy(vals, p, 0.5) AS width, abs(privacy_score.disclosure_risk(p) - log(2) / 6) < 1e-9 AS risk,
       privacy_score.information_loss(p, p) AS information, abs(privacy_score.privacy_loss(vals, 1, 'maximum', 999, p) - 3 / log(2)) < 1e-8 AS maximum,
       abs(privacy_score.privacy_loss(vals, 2, 'sum', 0, p) - 3 / log(2)) < 1e-8 AS sum, (privacy_score.sampling_probabilities('{0,1}', array_fill(1::numeric, '{1000000}'), 2000000))[2] AS sampling FROM million;
SELECT abs(privacy_score.equivocation(array_agg(i * 0.01), NULL, 0) - 6 / log(2)) < 1e-8 AS entropy FROM generate_series(1, 1000000) i;
SELECT round(sum(x)::numeric, 9) AS one, count(*) FROM unnest(privacy_score.noise_posterior(1000000, array(SELECT 500000 + i % 10 FROM generate_series(1, 1000) i), 100)) x;
-- Sums that are one but for rounding are taken, others named.
CREATE TABLE attempts (n int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO attempts (call) VALUES
  ('privacy_loss(''{1,2,3}'', 2, ''minimum'', 1, ''{0.1,0.2,0.7000000001}'') IS NOT NULL'),
  ('privacy_loss(''{1,2,3}'', 2, ''minimum'', 1, ''{0.1,0.2,0.70001}'')'),
  ('expected_privacy_loss(''{1,2}'', 2, ''sum'', ''{0.5,0.4}'')'),
  ('expected_privacy_loss(''{1,2}'', 0, ''sum'')'),
  ('expected_privacy_loss(''{}'', 2, ''sum'')'),
  ('expected_privacy_loss(''{1,NULL}'', 2, ''sum'')'),
  ('expected_privacy_loss(''{1,2}'', 2, ''sum'', ''{NULL,1}'')'),
  ('expected_privacy_loss(''{1,2}'', 2, ''sum'', ''{-0.5,1.5}'')'),
  ('expected_privacy_loss(''{1,2}'', 2, ''sum'', ''{NaN,0.5}'')'),
  ('expected_privacy_loss(''{1,2}'', 2, ''sum'', ''{Infinity,0.5}'')'),
  ('privacy_loss_detail(''{1,2}'', 0, ''sum'', 1)'),
  ('privacy_loss_detail(''{1,2}'', 2, ''sum'', 3, ''{0.9,0.2}'')'),
  ('equivocation_curve(''{1,NULL}'')'),
  ('equivocation_curve(''{1,2}'', ''{0.9,0.2}'')'),
  ('equivocation_area(''{}'')'),
  ('equivocation_area(''{1,2}'', ''{NaN,0.5}'')'),
  ('disclosure_risk(''{0.5,NULL}'')'),
  ('disclosure_risk(''{-0.5,1.5}'')'),
  ('disclosure_risk(''{NaN,0.5}'')'),
  ('disclosure_risk(''{{0.5,0.5}}'')'),
  ('information_loss(NULL, ''{1}'')'),
  ('information_loss(''{0.5,NULL}'', ''{0.5,0.5}'')'),
  ('information_loss(''{-0.5,1.5}'', ''{0.5,0.5}'')'),
  ('information_loss(''{0.5,0.5}'', ''{NaN,0.5}'')'),
  ('information_loss(''{1}'', ''{1}'', NULL)'),
  ('information_loss(''{1}'', ''{1}'', ''NaN'')'),
  ('interval_privacy(''{}'', NULL, 0.5)'),
  ('interval_privacy(''{1,2}'', ''{0.9,0.2}'', 0.5)'),
  ('interval_privacy(''{1,2}'', ''{NULL,1}'', 0.5)'),
  ('interval_privacy(''{1,2}'', NULL, ''NaN'')'),
  ('sampling_probabilities(''{1,NULL}'', ''{1}'', 5)'),
  ('sampling_probabilities(''{1,2}'', ''{1,NULL}'', 5)'),
  ('sampling_probabilities(''{1,2}'', NULL, 5)'),
  ('sampling_probabilities(''{1,2}'', ''{1}'', NULL)'),
  ('noise_posterior(5, ''{1,NULL}'', 2)'),
  ('noise_posterior(NULL, ''{1}'', 2)'),
  ('noise_posterior(5, NULL, 2)'),
  ('noise_posterior(5, ''{1}'', NULL)'),
  ('noise_posterior(5, ''{1}'', -2)'),
  ('noise_posterior(2000000000, ''{1}'', 2)'),
  ('privacy_loss(''{1,2,3}'', 2147483647, ''median'', 2, (SELECT array_agg(ARRAY[0.2,0.3,0.5]) FROM generate_series(1, 3)))'),
  ('privacy_loss(array(SELECT generate_series(1, 1000000)), 1000000, ''sum'', 500000000000)');
SELECT n, call, attempt('SELECT privacy_score.' || call) FROM attempts ORDER BY n;
DROP SCHEMA loss_extremes CASCADE;

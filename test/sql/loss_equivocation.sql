-- Equivocation, and the measures beside it: the worked numbers and every error.
CREATE SCHEMA loss_equivocation;
SET search_path = loss_equivocation, public;
SET client_min_messages = warning;
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
CREATE FUNCTION r(x float8) RETURNS numeric LANGUAGE sql RETURN round(x::numeric, 11);
CREATE FUNCTION r(x float8[]) RETURNS numeric[] LANGUAGE sql RETURN (SELECT array_agg(round(v::numeric, 11) ORDER BY n) FROM unnest(x) WITH ORDINALITY u(v, n));

-- worked numbers
SELECT epsilon, r(entropy) AS entropy FROM privacy_score.equivocation_curve('{1,3,8,9}', '{0.15,0.1,0.7,0.05}', 1) ORDER BY epsilon;
SELECT epsilon, r(entropy) AS entropy FROM privacy_score.equivocation_curve('{1,3,8,9}', '{0.15,0.1,0.7,0.05}') ORDER BY epsilon;
SELECT e, r(privacy_score.equivocation('{9,3,1,8}', '{0.05,0.1,0.15,0.7}', e)) AS entropy FROM unnest('{0,0.999,1,5.5,6,7,8,1e30}'::numeric[]) e;
SELECT r(privacy_score.equivocation_area('{1,3,8,9}', '{0.15,0.1,0.7,0.05}')) AS area, r(privacy_score.equivocation_area('{50,107}')) AS a57,
       r(privacy_score.equivocation_area('{77,80}', '{0.5,0.5}')) AS a3, r(privacy_score.equivocation_area('{0,0.5,2.25}', '{0.25,0.25,0.5}')) AS decimals,
       privacy_score.equivocation_area('{5,5.0}') AS one_value;
-- decimals and negative values, in any order; shifted and mirrored it is the same curve
SELECT epsilon, r(entropy) AS entropy FROM privacy_score.equivocation_curve('{-0.25,2,-2.5,0.125}') ORDER BY epsilon;
SELECT bool_and(a.entropy = b.entropy) AND count(*) = 4 AS same
  FROM privacy_score.equivocation_curve('{-0.25,2,-2.5,0.125}') a JOIN privacy_score.equivocation_curve('{10.25,8,12.5,9.875}') b USING (epsilon);
SELECT epsilon, entropy FROM privacy_score.equivocation_curve('{3}');
-- The curve is what equivocation() says at each of its steps and right before the next, and the area is the area below it.
CREATE TABLE law AS SELECT array_agg(i * i % 1009 / 4.0 ORDER BY i) AS vals, array_agg((1 + i % 7)::float8 / 2002 ORDER BY i) AS p
  FROM generate_series(1, 500) i;
UPDATE law SET p = (SELECT array_agg(x / total ORDER BY n) FROM unnest(p) WITH ORDINALITY u(x, n), (SELECT sum(x) AS total FROM unnest(p) x) t);
WITH curve AS (SELECT epsilon, entropy, lead(epsilon) OVER (ORDER BY epsilon) AS next FROM law, privacy_score.equivocation_curve(vals, p))
SELECT count(*) > 400 AS steps, bool_and(abs(privacy_score.equivocation(vals, p, epsilon) - entropy) < 1e-10) AS at,
       bool_and(abs(privacy_score.equivocation(vals, p, coalesce(next - 0.01, epsilon)) - entropy) < 1e-10) AS before,
       abs(sum(entropy * (next - epsilon)::float8) / (SELECT privacy_score.equivocation_area(vals, p) FROM law) - 1) < 1e-12 AS area
  FROM curve, law;
-- 10^6 values
SELECT abs(privacy_score.equivocation(array_agg(i), NULL, 0) - 6 / log(2)) < 1e-8 AS million FROM generate_series(1, 1000000) i;

-- beside it
SELECT privacy_score.disclosure_risk('{0.5,0.5}') AS one_bit, privacy_score.disclosure_risk('{1,0}') AS certain, r(privacy_score.disclosure_risk('{0.9,0.1}')) AS skewed;
SELECT privacy_score.information_loss('{0.5,0.5,0}', '{0,0.5,0.5}') AS half, privacy_score.information_loss('{1,1,0,0}', '{0,0,1,1}', 0.5) AS all,
       privacy_score.information_loss('{0.25,0.75}', '{0.25,0.75}') AS none;
SELECT c, privacy_score.interval_privacy('{0,1,4,5}', NULL, c) AS width FROM unnest('{0.2,0.5,0.6,1}'::float8[]) c;
SELECT privacy_score.interval_privacy('{-1.5,0.25,10}', '{0.1,0.2,0.7}', 0.3) AS certain_value, privacy_score.interval_privacy('{-1.5,0.25,10}', '{0.4,0.4,0.2}', 0.8) AS decimals;
SELECT r(privacy_score.sampling_probabilities('{10,20,30,40,50}', '{10,30,10,10.0,30}', 20)) AS seen, r(privacy_score.sampling_probabilities('{1,2,3,4}', '{}', 7)) AS unseen;
SELECT r(privacy_score.noise_posterior(10, '{4,9}', 4)) AS posterior, privacy_score.noise_posterior(3, '{2}', 0) AS no_noise;

-- errors
CREATE TABLE attempts (n int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO attempts (call) VALUES
  ('equivocation(NULL, NULL, 1)'),
  ('equivocation(''{}'', ''{}'', 1)'),
  ('equivocation(''{1,NULL}'', NULL, 1)'),
  ('equivocation(''{1,NaN}'', NULL, 1)'),
  ('equivocation(''{1,2}'', ''{0.5}'', 1)'),
  ('equivocation(''{1,2}'', ''{0.5,0.4}'', 1)'),
  ('equivocation(''{1,2}'', ''{1.5,-0.5}'', 1)'),
  ('equivocation(''{1,2}'', ''{NaN,1}'', 1)'),
  ('equivocation(''{1,2}'', ''{0.5,NULL}'', 1)'),
  ('equivocation(''{1,2}'', ''{{0.5,0.5}}'', 1)'),
  ('equivocation(''{1,2}'', NULL, NULL)'),
  ('equivocation(''{1,2}'', NULL, -0.5)'),
  ('equivocation(''{1,2}'', NULL, ''NaN'')'),
  ('equivocation(''{0,99999999999999999999}'', NULL, 1)'),
  ('equivocation_curve(''{1,2}'', NULL, 0)'),
  ('equivocation_curve(''{1,2}'', NULL, -1)'),
  ('equivocation_curve(''{1,1000000}'', NULL, 0.01)'),
  ('equivocation_area(''{1,2}'', ''{0.2,0.2}'')'),
  ('disclosure_risk(NULL)'),
  ('disclosure_risk(''{}'')'),
  ('disclosure_risk(''{0.5,0.6}'')'),
  ('information_loss(''{1}'', ''{0.5,0.5}'')'),
  ('information_loss(''{}'', ''{}'')'),
  ('information_loss(''{1}'', ''{2}'')'),
  ('information_loss(''{1}'', ''{1}'', 0)'),
  ('interval_privacy(''{1,2}'', NULL, 0)'),
  ('interval_privacy(''{1,2}'', NULL, 1.5)'),
  ('interval_privacy(''{1,2}'', NULL, NULL)'),
  ('sampling_probabilities(''{1,2}'', ''{3}'', 5)'),
  ('sampling_probabilities(''{1,2}'', ''{1.5}'', 5)'),
  ('sampling_probabilities(''{1,1.0}'', ''{1}'', 5)'),
  ('sampling_probabilities(''{}'', ''{}'', 5)'),
  ('sampling_probabilities(''{1,2}'', ''{1,1}'', 1)'),
  ('sampling_probabilities(''{1,2}'', ''{}'', 0)'),
  ('noise_posterior(0, ''{1}'', 2)'),
  ('noise_posterior(5, ''{}'', 2)'),
  ('noise_posterior(5, ''{1}'', 3)'),
  ('noise_posterior(5, ''{8}'', 4)');
SELECT n, call, attempt('SELECT privacy_score.' || call) FROM attempts ORDER BY n;
-- A long computation ends when it is told to, and the session goes on.
SET statement_timeout = '300ms';
SELECT privacy_score.equivocation_area(array(SELECT i * i % 1000003 FROM generate_series(1, 20000) i));
SELECT privacy_score.noise_posterior(10000000, array_fill(5000000, ARRAY[100000]), 10000000);
RESET statement_timeout;
SELECT r(privacy_score.equivocation('{1,2}', NULL, 0));
DROP SCHEMA loss_equivocation CASCADE;

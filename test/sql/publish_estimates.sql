-- Counts from a release: the example of the paper, all kinds of conditions against plain SQL over pairs, refusals, rights.
CREATE SCHEMA estimates;
SET search_path = estimates, public;
\set SHOW_CONTEXT never
-- [Wang, table 2]: one of the two in the bucket has HIV, so half a woman in 61434 is expected to.
CREATE TABLE qit (gender text, zipcode text, bid int);
CREATE TABLE st (bid int, disease text);
INSERT INTO qit VALUES ('M', '54321', 1), ('M', '54322', 1), ('F', '61234', 2), ('F', '61434', 2);
INSERT INTO st VALUES (1, 'Brain Tumor'), (1, 'Indigestion'), (2, 'Cancer'), (2, 'HIV');
SELECT privacy_score.estimate_count('qit', 'st', $$gender = 'F' AND zipcode = '61434' AND disease = 'HIV'$$) AS hiv,
       privacy_score.estimate_count('qit', 'st', $$disease IN ('HIV', 'Cancer')$$) AS sick, privacy_score.estimate_count('qit', 'st', $$gender = 'M'$$) AS men,
       privacy_score.estimate_count('qit', 'st', $$gender = 'F' AND disease = 'Indigestion'$$) AS none, privacy_score.estimate_count('qit', 'st', $$gender = 'M' OR disease = 'HIV'$$) AS either;

CREATE TABLE source AS SELECT i AS id, i % 60 AS age, 'z' || i % 17 AS zip, nullif('d' || i * i % 13, 'd4') AS disease, date '2000-01-01' + i % 900 AS day FROM generate_series(1, 3000) i;
SELECT rows FROM privacy_score.bucketize('source', '{age,zip,day}', 'disease', 'q', 's', 'two-size', l => 5);
SELECT rows FROM privacy_score.bucketize('source', '{age,zip,day}', 'disease', 'qc', 'sc', 'two-size', l => 5, st_form => 'counts');
SELECT rows FROM privacy_score.bucketize('source', '{age,zip,day}', 'disease', 'qf', 'sf', 'two-size', l => 5, fake_values => 2);
-- The same by definition: pairs that satisfy the condition, by the values of the bucket.
CREATE FUNCTION by_pairs(qit text, st text, weight text, predicate text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE answer float8;
BEGIN
  EXECUTE format('SELECT coalesce(sum(%3$s / t.n), 0) FROM %1$s q JOIN %2$s s USING (bid) JOIN (SELECT bid, sum(%3$s) AS n FROM %2$s s GROUP BY 1) t USING (bid) WHERE %4$s', qit, st, weight, predicate) INTO answer;
  RETURN answer;
END $$;
SELECT p AS predicate, abs(privacy_score.estimate_count('q', 's', p) - by_pairs('q', 's', '1.0', p)) < 1e-6 AS rows,
       abs(privacy_score.estimate_count('qc', 'sc', p) - by_pairs('qc', 'sc', 's.count', p)) < 1e-6 AS counts,
       abs(privacy_score.estimate_count('qf', 'sf', p) - by_pairs('qf', 'sf', '1.0', p)) < 1e-6 AS fakes
  FROM unnest(ARRAY[$$age < 30 AND disease = 'd1'$$, $$zip IN ('z1', 'z2') AND disease IS NULL$$, $$disease <> 'd0' OR age BETWEEN 10 AND 20$$,
                    $$NOT (zip LIKE 'z1%' AND disease IN ('d1', 'd3'))$$, $$day >= '2001-01-01' AND disease LIKE 'd1_'$$, $$true$$, $$age = -1$$]) WITH ORDINALITY x(p, n) ORDER BY n;
-- All records count when nothing is asked of the value; and the whole table is the sum of its parts.
SELECT round(privacy_score.estimate_count('q', 's', 'age < 30')::numeric, 6) = (SELECT count(*) FROM source WHERE age < 30) AS quasi_identifiers_are_exact,
       round(privacy_score.estimate_count('q', 's', $$disease = 'd1'$$)::numeric, 6) = (SELECT count(*) FROM source WHERE disease = 'd1') AS values_are_exact,
       abs(privacy_score.estimate_count('q', 's', $$age < 30 AND disease IS NOT NULL$$) + privacy_score.estimate_count('q', 's', $$age < 30 AND disease IS NULL$$)
           - privacy_score.estimate_count('q', 's', 'age < 30')) < 1e-6 AS parts;

-- Refusals: what is not on the list, unknown columns, no release.
SELECT privacy_score.estimate_count('q', 's', 'length(zip) = 2');
SELECT privacy_score.estimate_count('q', 's', 'age = 1; DROP TABLE source');
SELECT privacy_score.estimate_count('q', 's', 'nosuch = 1');
SELECT privacy_score.estimate_count('q', 's', 'age = (SELECT 1)');
SELECT privacy_score.estimate_count('q', 's', 'ctid IS NULL');
SELECT privacy_score.estimate_count('q', 's', NULL);
SELECT privacy_score.estimate_count('source', 's', 'age = 1');
-- Rights: of the columns that are asked about, and bid.
CREATE ROLE estimates_reader;
GRANT USAGE ON SCHEMA estimates TO estimates_reader;
GRANT SELECT (bid, age) ON q TO estimates_reader;
SET ROLE estimates_reader;
SELECT privacy_score.estimate_count('q', 's', 'age < 30');
RESET ROLE;
GRANT SELECT ON s TO estimates_reader;
SET ROLE estimates_reader;
SELECT round(privacy_score.estimate_count('q', 's', 'age < 30')) AS count;
SELECT privacy_score.estimate_count('q', 's', $$zip = 'z1'$$);
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA estimates CASCADE;
DROP ROLE estimates_reader;

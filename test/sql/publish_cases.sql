-- Worked cases of the papers on buckets, through SQL; what bucket_setting() and bucket_setting_valid() say of them is in publish_settings.
SET client_min_messages = warning;
CREATE SCHEMA cases;
SET search_path = cases, public;
-- [Wang, example 3.5]: four persons, two buckets of two; nobody is told with more than 1/2, the mean squared error is 2/3.
CREATE TABLE four_q AS SELECT i AS id, i / 2 AS bid FROM generate_series(0, 3) i;
CREATE TABLE four_s AS SELECT i / 2 AS bid, 'v' || i AS value FROM generate_series(0, 3) i;
SELECT check_name, holds, detail FROM privacy_score.verify_release('four_q', 'four_s', l => 2) WHERE check_name IN ('thresholds', 'sizes') ORDER BY 1;
SELECT check_name, holds FROM privacy_score.verify_release('four_q', 'four_s', l => 3) WHERE check_name = 'thresholds';
SELECT round(privacy_score.mse('{2}', '{2}'), 12) AS mse;
-- [Wang, lemma 4.13]: floor(f' S) is exact: 7 of 100 for 0.07, no more.
SELECT privacy_score.bucket_setting_valid('{7,93}', '{0.07,1}', '{100}', '{1}') AS seven, privacy_score.bucket_setting_valid('{8,92}', '{0.07,1}', '{100}', '{1}') AS eight;
-- [Wang, example 5.23]: all pairs of numbers of buckets of 2 and 4 that hold 28 records.
SELECT string_agg(format('(%s,%s)', b2, b4), ' ' ORDER BY b4) FROM generate_series(0, 14) b2, generate_series(0, 7) b4
 WHERE privacy_score.bucket_setting_valid('{28}', '{1}', '{2,4}', ARRAY[b2, b4]::bigint[]);
-- [Wang, section 7.1]: with 7.5 % for the most frequent value l can be 13 at most.
SELECT l, count(*) > 0 AS possible FROM unnest('{13,14}'::int[]) l
  LEFT JOIN LATERAL privacy_score.bucket_setting(array_fill(75::bigint, '{13}') || '{25}', array_fill('1/' || l, '{14}'), 'anatomy', max_bucket => 50) s ON true
 WHERE s.bucket_size IS NOT NULL GROUP BY 1 ORDER BY 1;
-- With f' = 16 f + 0.02 and 32 f + 0.02 a value of 0.18 % would need l = 21 and 13.
CREATE TABLE rare AS SELECT CASE WHEN i <= 18 THEN 'rare' ELSE 'v' || i % 40 END AS value FROM generate_series(1, 10000) i;
SELECT theta, l_needed FROM privacy_score.suggest_thresholds('rare', 'value', '{16,32}');
-- [Wang, section 4.1]: 5, 3 and 1 records in three buckets of three: at most 2, 1, 1 and at least 1, 1, 0 of each.
CREATE TABLE nine AS SELECT i AS id, CASE WHEN i <= 5 THEN 'a' WHEN i <= 8 THEN 'b' ELSE 'c' END AS value FROM generate_series(1, 9) i;
SELECT sizes FROM privacy_score.bucketize('nine', '{id}', 'value', 'nine_q', 'nine_s', thresholds => '{"a": "2/3", "b": "1/3", "c": "1/3"}', min_bucket => 3, max_bucket => 3);
SELECT value, min(n), max(n) FROM (SELECT v.value, b.bid, count(s.value) AS n FROM unnest('{a,b,c}'::text[]) v(value) CROSS JOIN (SELECT DISTINCT bid FROM nine_q) b
  LEFT JOIN nine_s s ON (s.bid, s.value) = (b.bid, v.value) GROUP BY 1, 2) n GROUP BY 1 ORDER BY 1;
-- [Wang, section 6]: buckets of 5 records and 2 fakes; when 4 records are found out, 2 of the 3 values that are left are fake.
CREATE TABLE twenty AS SELECT i AS id, 'v' || i % 10 AS value FROM generate_series(1, 20) i;
SELECT sizes, fake FROM privacy_score.bucketize('twenty', '{id}', 'value', 'twenty_q', 'twenty_s', l => 5, fake_values => 2);
SELECT DISTINCT shown - 4 AS left_over, round(2.0 / (shown - 4), 12) AS fake_share FROM (SELECT count(DISTINCT value) AS shown FROM twenty_s GROUP BY bid) b;

-- Sources of every kind that may come along: generated and dropped columns, partitions with columns in another order, domains, enums, ranges, composite and toasted values, more than fits into memory.
CREATE DOMAIN percent AS int CHECK (value BETWEEN 0 AND 100);
CREATE TYPE mood AS ENUM ('good', 'bad', 'so so');
CREATE TYPE pair AS (a int, b text);
CREATE TABLE anything (gone int, id int, twice int GENERATED ALWAYS AS (id * 2) STORED, share percent, span int4range, both_of pair, blob text, feeling mood) PARTITION BY RANGE (id);
ALTER TABLE anything DROP gone;
CREATE TABLE anything_low (feeling mood, blob text, id int, extra int, both_of pair, twice int GENERATED ALWAYS AS (id * 2) STORED, span int4range, share percent);
ALTER TABLE anything_low DROP extra;
ALTER TABLE anything ATTACH PARTITION anything_low FOR VALUES FROM (0) TO (1000);
CREATE TABLE anything_high PARTITION OF anything FOR VALUES FROM (1000) TO (10000);
ALTER TABLE anything_low ALTER blob SET STORAGE EXTERNAL;
INSERT INTO anything (id, share, span, both_of, blob, feeling)
SELECT i, i % 101, int4range(i, i + i % 7), (i, repeat('p', i % 30))::pair, CASE WHEN i % 4 = 0 THEN (SELECT string_agg(md5(i::text || j), '') FROM generate_series(1, 100) j) ELSE repeat('c', 5000) END,
       (ARRAY['good', 'bad', 'so so'])[1 + i % 3]::mood
  FROM generate_series(1, 1998) i;
SET maintenance_work_mem = '1MB';
SELECT rows, sizes FROM privacy_score.bucketize('anything', '{blob,both_of,id,share,span,twice}', 'feeling', 'any_q', 'any_s', l => 3, max_bucket => 5);
RESET maintenance_work_mem;
SELECT attname, format_type(atttypid, atttypmod), attgenerated = '' AS plain FROM pg_attribute WHERE attrelid = 'any_q'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*) AS same FROM any_q q JOIN anything a USING (id) WHERE (q.blob, q.share, q.span, q.twice, q.both_of) = (a.blob, a.share, a.span, a.twice, a.both_of);
SELECT check_name, holds FROM privacy_score.verify_release('any_q', 'any_s', l => 3, source => 'anything') WHERE NOT holds;
-- The values stay when the source goes.
DROP TABLE anything;
SELECT count(*), sum(length(blob)) FROM any_q;
-- Functions of the source that change the tables meanwhile.
CREATE FUNCTION meddle(n int, act text) RETURNS int LANGUAGE plpgsql AS $$BEGIN IF n = 5 THEN EXECUTE act; END IF; RETURN n; END$$;
CREATE VIEW indexing AS SELECT meddle(id, 'CREATE INDEX ON meddled_q (bid)') AS id, value FROM nine;
CREATE VIEW dropping AS SELECT meddle(id, 'DROP TABLE meddled_s') AS id, value FROM nine;
CREATE VIEW filling AS SELECT meddle(id, 'INSERT INTO meddled_q (bid) VALUES (1)') AS id, value FROM nine;
\set VERBOSITY terse
SELECT rows FROM privacy_score.bucketize('indexing', '{id}', 'value', 'meddled_q', 'meddled_s', theta => 2);
SELECT rows FROM privacy_score.bucketize('dropping', '{id}', 'value', 'meddled_q', 'meddled_s', theta => 2);
SELECT rows FROM privacy_score.bucketize('filling', '{id}', 'value', 'meddled_q', 'meddled_s', theta => 2);
SELECT to_regclass('meddled_q'), to_regclass('meddled_s');
SET client_min_messages = error;
DROP SCHEMA cases CASCADE;

-- Judging releases: those of bucketize() hold, each fault of tables made elsewhere is found, and nothing else with it.
SET client_min_messages = warning;
CREATE SCHEMA verify;
SET search_path = verify, public;
\set SHOW_CONTEXT never
CREATE TABLE source AS SELECT i AS age, 'z' || i % 50 AS zip, 'v' || i % 7 AS value FROM generate_series(1, 1400) i;
INSERT INTO source SELECT age, zip, value FROM source WHERE age <= 70;

-- Faults: the check, and whether it holds; NULL for what is not judged. Nothing when all holds.
CREATE FUNCTION faults(VARIADIC arguments text[]) RETURNS TABLE (check_name text, holds boolean, detail text) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT * FROM privacy_score.verify_release(' || array_to_string(arguments, ', ') || ') v WHERE v.holds IS NOT TRUE';
END $$;

SELECT buckets, rows FROM privacy_score.bucketize('source', '{age,zip}', 'value', 'q', 's', 'multi-size', theta => 2);
SELECT check_name, holds FROM privacy_score.verify_release('q', 's', theta => 2, source => 'source');
SELECT * FROM privacy_score.verify_release('q', 's');
SELECT buckets, rows FROM privacy_score.bucketize('source', '{age,zip}', 'value', 'qc', 'sc', 'multi-size', l => 5, st_form => 'counts');
SELECT * FROM faults('''qc''', '''sc''', 'l => 5', 'source => ''source''');
SELECT buckets, rows, fake FROM privacy_score.bucketize('source', '{age,zip}', 'value', 'qf', 'sf', 'multi-size', l => 5, fake_values => 2);
SELECT * FROM faults('''qf''', '''sf''', 'l => 5', 'source => ''source''');

-- Each fault by itself. The tables are changed and put back.
BEGIN;
UPDATE s SET bid = 100000 WHERE bid = 1;
SELECT check_name, holds, detail LIKE '1 buckets have records only, 1 values only, such as bucket 1%' AS told FROM faults('''q''', '''s''', 'source => ''source''') WHERE NOT holds AND check_name <> 'order of values';
ROLLBACK;
BEGIN;
ALTER TABLE q ALTER bid DROP NOT NULL;
UPDATE q SET bid = NULL WHERE bid = 1;
SELECT check_name, detail FROM faults('''q''', '''s''') WHERE NOT holds;
ROLLBACK;
BEGIN;
DELETE FROM s WHERE ctid = (SELECT min(ctid) FROM s WHERE bid = 1);
SELECT check_name, detail ~ '^bucket \d+ has 0 more values than records, bucket 1 -1$' AS told FROM faults('''q''', '''s''') WHERE NOT holds;
ROLLBACK;
-- A value twice where once was allowed, in place of another.
BEGIN;
UPDATE sc SET count = count + 1 WHERE (bid, value) = (SELECT bid, min(value) FROM sc GROUP BY bid ORDER BY bid LIMIT 1);
DELETE FROM sc WHERE (bid, value) = (SELECT bid, max(value) FROM sc GROUP BY bid ORDER BY bid LIMIT 1);
SELECT check_name, regexp_replace(detail, '"v\d+"', 'v') AS detail FROM faults('''qc''', '''sc''', 'l => 5') WHERE NOT holds;
ROLLBACK;
SELECT check_name, holds FROM faults('''q''', '''s''', 'thresholds => ''{"v0": "1/1000"}''') WHERE NOT holds;
-- A threshold that equals the share holds; a little less does not.
SELECT count(*) AS faults FROM faults('''qc''', '''sc''', 'thresholds => ''{"v0": "1/5", "v1": 0.2}''') WHERE NOT holds;
SELECT count(*) AS faults FROM faults('''qc''', '''sc''', 'thresholds => ''{"v0": "199999999999999999999/1000000000000000000000"}''') WHERE NOT holds;
-- Counts that mean nothing; such as would turn negative when they are added up.
BEGIN;
ALTER TABLE sc ALTER count DROP NOT NULL;
UPDATE sc SET count = CASE WHEN count > 1 THEN 0 END WHERE bid <= 2;
SELECT check_name, detail ~ '^\d+ rows have a count of less than 1, or none$' AS told FROM faults('''qc''', '''sc''', 'l => 5') WHERE NOT holds AND check_name = 'sizes';
ROLLBACK;
BEGIN;
UPDATE sc SET count = 9223372036854775807 WHERE bid = 1;
SELECT * FROM faults('''qc''', '''sc''', 'l => 5');
ROLLBACK;
BEGIN;
UPDATE q SET age = -1 WHERE age = 1000;
SELECT check_name, detail FROM faults('''q''', '''s''', 'source => ''source''') WHERE NOT holds;
ROLLBACK;
BEGIN;
UPDATE q SET age = 71, zip = 'z21' WHERE ctid = (SELECT min(ctid) FROM q WHERE age = 70);
SELECT check_name, detail FROM faults('''q''', '''s''', 'source => ''source''') WHERE NOT holds;
ROLLBACK;
BEGIN;
UPDATE s SET value = 'v1' WHERE ctid = (SELECT min(ctid) FROM s WHERE value = 'v0');
SELECT check_name, detail FROM faults('''q''', '''s''', 'source => ''source''') WHERE NOT holds;
ROLLBACK;
-- Fakes that are no secret: a value twice in a bucket, and one that no record of its bucket could have.
BEGIN;
UPDATE sf SET value = (SELECT min(value) FROM sf WHERE bid = 1) WHERE bid = 1 AND value = (SELECT max(value) FROM sf WHERE bid = 1);
SELECT check_name, detail FROM faults('''qf''', '''sf''') WHERE NOT holds;
ROLLBACK;
CREATE TABLE sexes AS SELECT i AS id, CASE WHEN i % 5 = 4 THEN 'f' ELSE 'm' END AS sex, CASE WHEN i % 5 = 4 THEN 4 + i / 5 % 4 ELSE i % 5 END AS value FROM generate_series(0, 99) i;
CREATE TABLE numbered AS SELECT sex, value, (row_number() OVER (ORDER BY sex DESC, id) - 1) / 4 AS bid FROM sexes;
CREATE TABLE qg AS SELECT sex, bid FROM numbered ORDER BY random();
CREATE TABLE sg AS SELECT bid, value FROM numbered UNION ALL SELECT DISTINCT bid, CASE WHEN sex = 'm' THEN 4 ELSE 0 END FROM numbered ORDER BY 1, 2;
SELECT check_name, detail FROM faults('''qg''', '''sg''', 'source => ''sexes''') WHERE check_name = 'fakes';

-- Orders that tell: the same in both tables, that of the source, buckets numbered as records come.
CREATE TABLE q1 AS SELECT age, zip, bid FROM (SELECT *, (row_number() OVER (ORDER BY md5(age::text), age)) / 5 AS bid FROM source) x ORDER BY bid, age;
CREATE TABLE s1 AS SELECT bid, value FROM (SELECT *, (row_number() OVER (ORDER BY md5(age::text), age)) / 5 AS bid FROM source) x ORDER BY bid, age;
SELECT check_name, holds FROM faults('''q1''', '''s1''', 'source => ''source''');
CREATE TABLE q2 AS SELECT age, zip, (hashint4(age) & 255) AS bid FROM source;
CREATE TABLE s2 AS SELECT (hashint4(age) & 255) AS bid, value FROM source ORDER BY md5(age::text);
SELECT check_name, holds FROM faults('''q2''', '''s2''', 'source => ''source''');
CREATE TABLE q3 AS SELECT age, zip, age / 5 AS bid FROM source ORDER BY md5(age::text);
CREATE TABLE s3 AS SELECT age / 5 AS bid, value FROM source ORDER BY md5(age::text || 'x');
SELECT check_name, holds FROM faults('''q3''', '''s3''', 'source => ''source''');
-- Other types than the source has, and buckets that are named.
CREATE TABLE q4 AS SELECT age::bigint AS age, zip::varchar(10) AS zip, 'b' || bid AS bid FROM q ORDER BY md5(age::text);
CREATE VIEW s4 AS SELECT 'b' || bid AS bid, value::varchar AS value FROM s;
SELECT check_name, holds FROM faults('''q4''', '''s4''', 'theta => 2', 'source => ''source''');

-- What is no release, and what may not be read.
SELECT * FROM privacy_score.verify_release('source', 's');
SELECT * FROM privacy_score.verify_release('q', 'source');
SELECT * FROM privacy_score.verify_release('q', 'q');
SELECT * FROM privacy_score.verify_release('q', NULL);
SELECT * FROM privacy_score.verify_release('q', 's', l => 2, theta => 2);
SELECT * FROM privacy_score.verify_release('q', 's', source => 'sexes');
CREATE ROLE verify_reader;
GRANT USAGE ON SCHEMA verify TO verify_reader;
GRANT SELECT ON q TO verify_reader;
GRANT SELECT (bid) ON s TO verify_reader;
SET ROLE verify_reader;
SELECT * FROM privacy_score.verify_release('q', 's');
RESET ROLE;
GRANT SELECT ON s TO verify_reader;
SET ROLE verify_reader;
SELECT count(*) FROM privacy_score.verify_release('q', 's');
SELECT * FROM privacy_score.verify_release('q', 's', source => 'source');
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA verify CASCADE;
DROP ROLE verify_reader;

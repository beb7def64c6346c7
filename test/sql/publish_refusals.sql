-- What bucketize() refuses: arguments, thresholds that cannot be kept, names, rights. Nothing is left behind.
SET client_min_messages = warning;
CREATE SCHEMA refusals;
SET search_path = refusals, public;
\set VERBOSITY default
CREATE TABLE t (a int, b text, s text, bid int, count int, plain json, place point);
INSERT INTO t SELECT i, 'b' || i % 3, 's' || i % 4, i, i, '{}', '(1,1)' FROM generate_series(1, 40) i;
INSERT INTO t SELECT i, 'b', 's0' FROM generate_series(41, 60) i;

-- SQLSTATE, message, detail and hint of an error.
CREATE FUNCTION refusal(arguments text) RETURNS TABLE (code text, message text, detail text, hint text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'SELECT rows FROM privacy_score.bucketize(' || arguments || ')';
  message := 'not refused';
  RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN NEXT;
END $$;
\x
SELECT n, r.* FROM (VALUES
  (1, $$NULL, '{a}', 's', 'q', 'v', l => 2$$),
  (2, $$'t', NULL, 's', 'q', 'v', l => 2$$),
  (3, $$'t', '{}', 's', 'q', 'v', l => 2$$),
  (4, $$'t', '{a,NULL}', 's', 'q', 'v', l => 2$$),
  (5, $$'t', '{{a,b}}', 's', 'q', 'v', l => 2$$),
  (6, $$'t', '{a,nosuch}', 's', 'q', 'v', l => 2$$),
  (7, $$'t', '{a,b,a}', 's', 'q', 'v', l => 2$$),
  (8, $$'t', '{ctid}', 's', 'q', 'v', l => 2$$),
  (9, $$'t', '{a,s}', 's', 'q', 'v', l => 2$$),
  (10, $$'t', '{a}', NULL, 'q', 'v', l => 2$$),
  (11, $$'t', '{a}', 'S', 'q', 'v', l => 2$$),
  (12, $$'t', '{bid}', 's', 'q', 'v', l => 2$$),
  (13, $$'t', '{a}', 'bid', 'q', 'v', l => 2$$),
  (14, $$'t', '{a}', 'count', 'q', 'v', st_form => 'counts', l => 2$$),
  (15, $$'t', '{a}', 'plain', 'q', 'v', l => 2$$),
  (16, $$'t', '{a}', 'place', 'q', 'v', l => 2$$),
  (17, $$'t', '{a}', 's', NULL, 'v', l => 2$$),
  (18, $$'t', '{a}', 's', 'q', 'q', l => 2$$),
  (19, $$'t', '{a}', 's', 'q', 'nosuch.v', l => 2$$),
  (20, $$'t', '{a}', 's', 'q', 'two words', l => 2$$),
  (21, $$'t', '{a}', 's', 'q', '', l => 2$$),
  (22, $$'t', '{a}', 's', 't', 'v', l => 2$$),
  (23, $$'t', '{a}', 's', 't', 'v', l => 2, replace => true$$),
  (24, $$'t', '{a}', 's', 'q', 'v', 'best', l => 2$$),
  (25, $$'t', '{a}', 's', 'q', 'v'$$),
  (26, $$'t', '{a}', 's', 'q', 'v', l => 2, theta => 2$$),
  (27, $$'t', '{a}', 's', 'q', 'v', l => 2, floor => 0.1$$),
  (28, $$'t', '{a}', 's', 'q', 'v', l => 0$$),
  (29, $$'t', '{a}', 's', 'q', 'v', theta => -1$$),
  (30, $$'t', '{a}', 's', 'q', 'v', theta => 'NaN'$$),
  (31, $$'t', '{a}', 's', 'q', 'v', theta => 0, floor => 0$$),
  (32, $$'t', '{a}', 's', 'q', 'v', theta => 2, floor => 1.5$$),
  (33, $$'t', '{a}', 's', 'q', 'v', thresholds => '[0.5]'$$),
  (34, $$'t', '{a}', 's', 'q', 'v', thresholds => '{"s0": null}'$$),
  (35, $$'t', '{a}', 's', 'q', 'v', thresholds => '{"s0": "half"}'$$),
  (36, $$'t', '{a}', 's', 'q', 'v', thresholds => '{"s0": 0}'$$),
  (37, $$'t', '{a}', 's', 'q', 'v', thresholds => '{"s0": "3/2"}'$$),
  (38, $$'t', '{a}', 's', 'q', 'v', thresholds => '{"s0": "1/0"}'$$),
  (39, $$'t', '{b}', 'a', 'q', 'v', thresholds => '{"one": 0.5}'$$),
  (40, $$'t', '{a}', 's', 'q', 'v', l => 2, min_bucket => 0$$),
  (41, $$'t', '{a}', 's', 'q', 'v', l => 2, min_bucket => 9, max_bucket => 8$$),
  (42, $$'t', '{a}', 's', 'q', 'v', l => 2, max_bucket => NULL$$),
  (43, $$'t', '{a}', 's', 'q', 'v', l => 2, max_bucket => 1001$$),
  (44, $$'t', '{a}', 's', 'q', 'v', l => 2, fake_values => -1$$),
  (45, $$'t', '{a}', 's', 'q', 'v', l => 2, fake_values => 4$$),
  (46, $$'t', '{a}', 's', 'q', 'v', theta => 2, fake_values => 1$$),
  (47, $$'t', '{a}', 's', 'q', 'v', l => 2, st_form => 'columns'$$),
  (48, $$'t', '{a}', 's', 'q', 'v', l => 2, replace => NULL$$),
  (49, $$'pg_class_oid_index', '{oid}', 'oid', 'q', 'v', l => 2$$),
-- Thresholds that cannot be kept: named, with the share and what would do.
  (50, $$'t', '{a}', 's', 'q', 'v', l => 3$$),
  (51, $$'t', '{a}', 's', 'q', 'v', 'anatomy', l => 3$$),
  (52, $$'t', '{a}', 's', 'q', 'v', thresholds => '{"s0": "49/100", "s1": "1/10"}'$$),
  (53, $$'t', '{a}', 's', 'q', 'v', thresholds => '{"s0": 0.5}', max_bucket => 1$$),
  (54, $$'t', '{a}', 's', 'q', 'v', thresholds => '{"s0": 0.51, "s1": 0.2, "s2": 0.2, "s3": 0.2}', max_bucket => 5$$)
  ) c(n, arguments), LATERAL refusal(arguments) r ORDER BY n;
\x
SELECT relname FROM pg_class WHERE relnamespace = 'refusals'::regnamespace ORDER BY 1;

-- A key that no record has is refused, since it may be misspelt.
SELECT rows FROM privacy_score.bucketize('t', '{a}', 's', 'q', 'v', thresholds => '{"s0": 0.6, "S1": 0.1, "s9": 0.1}');
SELECT rows FROM privacy_score.bucketize('t', '{a}', 's', 'q', 'v', thresholds => '{"nosuch": 0.1}');
SELECT rows FROM privacy_score.bucketize('t', '{a}', 's', 'q', 'v', thresholds => '{"s0": 0.6}', values_without_threshold => 'maybe');
SELECT rows FROM privacy_score.bucketize('t', '{a}', 's', 'q', 'v', thresholds => '{"s0": 0.6, "S1": 0.1, "s9": 0.1}', values_without_threshold => 'allow');
-- What replace takes: the tables of a release that one owns, whole.
CREATE VIEW uses AS SELECT * FROM q;
SELECT rows FROM privacy_score.bucketize('t', '{a}', 's', 'q', 'v', l => 2, replace => true);
DROP VIEW uses;
COMMENT ON TABLE v IS 'mine';
SELECT rows FROM privacy_score.bucketize('t', '{a}', 's', 'q', 'v', l => 2, replace => true);
SELECT rows FROM privacy_score.bucketize('q', '{a}', 'bid', 'q', 'w', l => 1, replace => true);
SELECT rows FROM privacy_score.bucketize('t', '{a}', 's', 'q', 'w', l => 2, replace => true);
SELECT count(*) FROM w;
DROP TABLE q, v, w;

-- A read-only transaction.
BEGIN READ ONLY;
SELECT rows FROM privacy_score.bucketize('t', '{a}', 's', 'q', 'v', l => 2);
ROLLBACK;
-- In a function, a savepoint, a DO block; rolled back, nothing is left.
BEGIN;
SELECT rows FROM privacy_score.bucketize('t', '{a}', 's', 'q', 'v', l => 2);
SAVEPOINT one;
SELECT rows FROM privacy_score.bucketize('t', '{b}', 's', 'q', 'v', l => 2, replace => true);
ROLLBACK TO one;
SELECT attname FROM pg_attribute WHERE attrelid = 'q'::regclass AND attnum = 1;
ROLLBACK;
DO $$BEGIN PERFORM privacy_score.bucketize('t', '{a}', 's', 'q', 'v', l => 2); END$$;
SELECT count(*) FROM q;
SET client_min_messages = error;
DROP SCHEMA refusals CASCADE;

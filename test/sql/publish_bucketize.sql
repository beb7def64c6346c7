-- Publishing by buckets: what comes out is judged here by plain SQL, not by the functions of the extension.
SET client_min_messages = warning;
CREATE SCHEMA publish;
SET search_path = publish, public;

-- 1200 records: age and zip tell a person, of 12 diseases the n-th has about 20 n records. Some of each are NULL.
CREATE TABLE patient (name text, age int, zip text COLLATE "C", birthday date, disease varchar(20));
INSERT INTO patient
SELECT 'p' || i, nullif(i % 90, 13), 'z' || i % 37, date '1950-01-01' + i % 20000,
       nullif('d' || floor((sqrt(1 + 8.0 * (i % 78)) - 1) / 2), 'd4')
  FROM generate_series(0, 1199) i;
SELECT count(*), count(DISTINCT disease), min(n), max(n)
  FROM (SELECT disease, count(*) OVER (PARTITION BY disease) AS n FROM patient) s;

-- Worst share of a bucket for each value, by SQL.
CREATE FUNCTION shares(qit text, st text) RETURNS TABLE (value text, worst numeric) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT coalesce(v.disease::text, ''null''), max(v.n / q.n) FROM (SELECT bid, disease, count(*)::numeric AS n FROM %s GROUP BY 1, 2) v
       JOIN (SELECT bid, count(*) AS n FROM %s GROUP BY 1) q USING (bid) GROUP BY 1', st, qit);
END $$;
-- What must hold of any release without fakes.
CREATE FUNCTION holds(qit text, st text) RETURNS TABLE (sizes_agree boolean, records_kept boolean, values_kept boolean) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT (SELECT count(*) = 0 FROM (SELECT bid, count(*) AS n FROM %1$s GROUP BY 1) q
               FULL JOIN (SELECT bid, count(*) AS n FROM %2$s GROUP BY 1) v USING (bid) WHERE q.n IS DISTINCT FROM v.n),
            NOT EXISTS ((SELECT age, zip, birthday FROM patient EXCEPT ALL SELECT age, zip, birthday FROM %1$s)
                        UNION ALL (SELECT age, zip, birthday FROM %1$s EXCEPT ALL SELECT age, zip, birthday FROM patient)),
            NOT EXISTS ((SELECT disease FROM patient EXCEPT ALL SELECT disease FROM %2$s)
                        UNION ALL (SELECT disease FROM %2$s EXCEPT ALL SELECT disease FROM patient))', qit, st);
END $$;

-- Each method, thresholds of each kind. The bucket setting is determined; who is where is not.
SELECT method, r.buckets, r.rows, r.fake, r.sizes, r.loss, round(r.mse, 6) AS mse
  FROM unnest('{two-size,multi-size,anatomy}'::text[]) WITH ORDINALITY m(method, n),
       LATERAL privacy_score.bucketize('patient', '{age,zip,birthday}', 'disease', 'q' || n, 's' || n, method, l => 5) r ORDER BY n;
SELECT n, h.*, (SELECT count(*) AS broken FROM shares('q' || n, 's' || n) WHERE worst > 1 / 5.0)
  FROM generate_series(1, 3) n, LATERAL holds('q' || n, 's' || n) h ORDER BY n;
DROP TABLE q1, s1, q2, s2, q3, s3;

SELECT buckets, rows, sizes, loss FROM privacy_score.bucketize('patient', '{age,zip,birthday}', 'disease', 'q', 's', 'multi-size', theta => 2);
SELECT h.*, (SELECT count(*) AS broken FROM shares('q', 's') x
               JOIN (SELECT coalesce(disease, 'null') AS value, count(*) / 1200.0 AS f FROM patient GROUP BY 1) p USING (value)
              WHERE x.worst > least(1, 2 * f + 0.02)) FROM holds('q', 's') h;
DROP TABLE q, s;

-- Thresholds by value: numbers or fractions as text, NULL has the key null, and what is not listed may be anything.
SELECT sizes, max_probability->'null' AS of_null, max_probability->'d0' AS of_d0
  FROM privacy_score.bucketize('patient', '{age,zip,birthday}', 'disease', 'q', 's', 'multi-size',
                               thresholds => '{"d0": "1/20", "d1": 0.05, "null": "1/3", "d11": "0.5"}');
SELECT h.*, x.* FROM holds('q', 's') h,
       (SELECT bool_and(worst <= CASE value WHEN 'd0' THEN 0.05 WHEN 'd1' THEN 0.05 WHEN 'null' THEN 1 / 3.0 + 1e-15
                                            WHEN 'd11' THEN 0.5 ELSE 1 END) AS kept FROM shares('q', 's')) x;

-- The tables: types and collations are kept, bid is never null, comments say what they are, nobody but the owner has rights.
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod), collname, attnotnull
  FROM pg_attribute LEFT JOIN pg_collation c ON c.oid = attcollation
 WHERE attrelid IN ('q'::regclass, 's'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum;
SELECT obj_description('q'::regclass) ~ '^privacy_score release: quasi-identifiers of 1200 records in \d+ buckets of \d+ to \d+ records \(method multi-size\)$' AS q,
       obj_description('s'::regclass) ~ '^privacy_score release: sensitive values of 1200 records in' AS s,
       col_description('q'::regclass, 4) AS bid, (SELECT bool_and(relacl IS NULL) FROM pg_class WHERE oid IN ('q'::regclass, 's'::regclass)) AS private;
DROP TABLE q, s;

-- Counts in place of rows.
SELECT rows, fake FROM privacy_score.bucketize('patient', '{age,zip,birthday}', 'disease', 'q', 's', 'multi-size', l => 4, st_form => 'counts');
SELECT sum(count) FROM s;
SELECT bool_and(n = 1) AS one_row_a_value FROM (SELECT count(*) AS n FROM s GROUP BY bid, disease) x;
SELECT NOT EXISTS (SELECT disease, sum(count) FROM s GROUP BY 1 EXCEPT SELECT disease, count(*) FROM patient GROUP BY 1) AS values_kept;
DROP TABLE q, s;

-- Fakes: two in each bucket, different from its values; never a value that nobody in the bucket could have.
ALTER TABLE patient ADD sex text;
UPDATE patient SET sex = CASE WHEN disease = 'd11' THEN 'f' ELSE CASE WHEN age % 2 = 0 THEN 'f' ELSE 'm' END END;
SELECT r.rows, r.fake = 2 * r.buckets AS two_each, r.sizes
  FROM privacy_score.bucketize('patient', '{sex}', 'disease', 'q', 's', 'multi-size', l => 5, fake_values => 2) r;
SELECT bool_and(v.n = q.n + 2) AS two_more, bool_and(v.d = v.n) AS all_different, count(*) FILTER (WHERE v.women_only AND NOT q.women) AS given_away
  FROM (SELECT bid, count(*) AS n, count(DISTINCT coalesce(disease, '')) AS d, bool_or(disease = 'd11') AS women_only FROM s GROUP BY 1) v
  JOIN (SELECT bid, count(*) AS n, bool_or(sex = 'f') AS women FROM q GROUP BY 1) q USING (bid);
DROP TABLE q, s;

-- Boundaries: an empty table, one row, one value, all values different, rows that are a prime number, sizes that are one.
CREATE TABLE few (a int, s int);
SELECT * FROM (SELECT buckets, rows, fake, sizes, loss, mse, max_probability FROM privacy_score.bucketize('few', '{a}', 's', 'q', 's', 'multi-size', l => 3)) r;
INSERT INTO few VALUES (1, 7);
SELECT buckets, rows, fake, sizes, loss, mse, max_probability FROM privacy_score.bucketize('few', '{a}', 's', 'q', 's', 'multi-size', l => 1, replace => true);
SELECT * FROM q, s;
INSERT INTO few SELECT i, 7 FROM generate_series(2, 7) i;
SELECT buckets, rows, sizes, loss, mse, max_probability FROM privacy_score.bucketize('few', '{a}', 's', 'q', 's', 'multi-size', thresholds => '{}', replace => true);
UPDATE few SET s = a;
SELECT buckets, rows, sizes, loss FROM privacy_score.bucketize('few', '{a}', 's', 'q', 's', 'multi-size', l => 3, replace => true);
SELECT buckets, rows, sizes, loss FROM privacy_score.bucketize('few', '{a}', 's', 'q', 's', 'two-size', l => 7, min_bucket => 7, max_bucket => 7, replace => true);
SELECT buckets, sizes FROM privacy_score.bucketize('few', '{a}', 's', 'q', 's', 'two-size', thresholds => '{"1": "1/3", "2": "1/3", "3": "1/3"}', min_bucket => 3, replace => true);
DROP TABLE q, s;

-- 100,000 different values in 200,000 rows; and columns of many types, also such as cannot be compared.
CREATE TABLE wide AS SELECT i, ARRAY[i, i + 1] AS list, jsonb_build_object('k', i) AS object, json_build_object('k', i) AS plain, point(i, i) AS place,
       repeat('x', 3000 * (i % 50 / 49)) AS long, i % 100000 AS value, (i % 3)::bit(4) AS bits FROM generate_series(1, 200000) i;
SELECT buckets, rows, sizes FROM privacy_score.bucketize('wide', '{i,list,object,plain,place,long}', 'value', 'q', 's', 'two-size', l => 10);
SELECT count(*) AS same FROM q JOIN wide w USING (i) WHERE q.list = w.list AND q.object = w.object AND q.plain::text = w.plain::text AND q.place ~= w.place AND q.long = w.long;
SELECT count(*), max(n) FROM (SELECT count(*) AS n FROM s GROUP BY bid, value) x;
DROP TABLE q, s;
-- Types that have an order only; values that are equal and look different; text equal by collation.
SELECT buckets, sizes FROM privacy_score.bucketize('wide', '{i}', 'bits', 'q', 's', 'two-size', l => 2);
DROP TABLE q, s;
CREATE TABLE looks (i int, n numeric);
INSERT INTO looks VALUES (1, 1.0), (2, 1.00), (3, 2), (4, 3);
SELECT sizes, max_probability FROM privacy_score.bucketize('looks', '{i}', 'n', 'q', 's', 'two-size', thresholds => '{"1": 0.5, "2": 1}');
DROP TABLE q, s, looks;

-- Text that is equal by its collation is one value; and so are NULL and a text null where thresholds are concerned.
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE looks (i int, t text COLLATE nocase);
INSERT INTO looks VALUES (1, 'Flu'), (2, 'flu'), (3, 'null'), (4, NULL);
SELECT sizes, max_probability FROM privacy_score.bucketize('looks', '{i}', 't', 'q', 's', 'two-size', thresholds => '{"FLU": 0.5, "null": 0.5}');
SELECT bool_and(n <= 1) AS kept FROM (SELECT count(*) AS n FROM s GROUP BY bid, t) x;
DROP TABLE q, s, looks;

-- Plans with parallel workers bring rows in another order than they stand in: for what is read back that would not do.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT rows FROM privacy_score.bucketize('wide', '{i,long}', 'value', 'q', 's', 'two-size', l => 10);
SELECT count(*) FROM privacy_score.verify_release('q', 's', l => 10, source => 'wide') WHERE holds;
DROP TABLE q, s;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- Views, partitioned tables and names that need quotes.
CREATE VIEW adults AS SELECT age, zip, birthday, disease FROM patient WHERE age >= 18;
SELECT rows FROM privacy_score.bucketize('adults', '{age,zip}', 'disease', 'q', 's', 'multi-size', l => 3);
DROP TABLE q, s;
CREATE SCHEMA "Odd ""Schema";
CREATE TABLE "Odd ""Schema"."a table, yes" ("Q I" int, "se""ns" text, "select" int) PARTITION BY LIST ("select");
CREATE TABLE "Odd ""Schema".p1 PARTITION OF "Odd ""Schema"."a table, yes" DEFAULT;
INSERT INTO "Odd ""Schema"."a table, yes" SELECT i, 'v' || i % 4, i % 2 FROM generate_series(1, 40) i;
SELECT rows, sizes FROM privacy_score.bucketize('"Odd ""Schema"."a table, yes"', '{Q I,select}', 'se"ns', '"Odd ""Schema"."Q; DROP TABLE patient"', '"Odd ""Schema".st', 'multi-size', l => 2);
SELECT count(*), count(DISTINCT bid) FROM "Odd ""Schema"."Q; DROP TABLE patient";
SELECT count(*), count(DISTINCT "se""ns") FROM "Odd ""Schema".st;
CREATE TEMP TABLE t AS SELECT * FROM patient;
SELECT rows FROM privacy_score.bucketize('t', '{age}', 'disease', 'pg_temp.q', 'pg_temp.s', 'multi-size', l => 3);
SELECT relpersistence, relname FROM pg_class WHERE oid IN ('pg_temp.q'::regclass, 'pg_temp.s'::regclass) ORDER BY relname;
SET client_min_messages = error;
DROP SCHEMA publish, "Odd ""Schema" CASCADE;

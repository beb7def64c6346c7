-- Noisy counts: what predicates mean, what they must not contain, units of protection, kinds of relations. Noise of
-- epsilon 50 differs from 0 with probability 4e-22, so counts at that price are printed and compared.
CREATE ROLE regress_owner;
CREATE ROLE regress_alice;
CREATE SCHEMA regress_dp AUTHORIZATION regress_owner;
GRANT USAGE ON SCHEMA regress_dp TO regress_alice;
SET SESSION AUTHORIZATION regress_owner;
CREATE TYPE regress_dp.mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN regress_dp.small AS int CHECK (VALUE < 1000);
CREATE TYPE regress_dp.pair AS (a int, b int);
CREATE TABLE regress_dp.t (
  i int, big bigint, little smallint, n numeric, f float8, r real, txt text, v varchar(20), c char(4), nm name, flag boolean,
  d date, ts timestamp, tz timestamptz, iv interval, u uuid, m regress_dp.mood, s regress_dp.small, arr int[], js jsonb, net inet,
  rng int4range, bits bit(3), bin bytea, money_spent money, "Odd ""Name" int, other int, xm xml, pt point, row_col regress_dp.pair,
  moods regress_dp.mood[], folded text COLLATE "C");
INSERT INTO regress_dp.t
  SELECT CASE WHEN k % 11 > 0 THEN k % 10 END, k * 10000000000, k % 7, (k % 30) / 10.0, CASE k % 9 WHEN 0 THEN 'NaN' ELSE k % 5 / 4.0 END, k % 3 / 8.0,
         CASE WHEN k % 13 > 0 THEN (ARRAY['a', 'B', 'ä', 'a%', 'a_b', 'a\b', ''])[k % 7 + 1] END, 'v' || k % 4, 'c' || k % 3, 'n' || k % 3,
         (ARRAY[true, false, NULL])[k % 3 + 1], '2024-01-01'::date + k % 40, '2024-01-01 12:00'::timestamp + k % 40 * interval '1 hour',
         '2024-01-01 12:00+00'::timestamptz + k % 40 * interval '1 hour', k % 5 * interval '1 day', md5((k % 4)::text)::uuid,
         (ARRAY['sad', 'ok', 'happy'])[k % 3 + 1]::regress_dp.mood, k % 6, ARRAY[k % 2, 1], jsonb_build_object('k', k % 2), ('10.0.0.' || k % 4)::inet,
         int4range(k % 4, 10), (k % 8)::bit(3), decode(lpad(to_hex(k % 16), 2, '0'), 'hex'), (k % 4)::numeric::money, k % 2, k % 10,
         '<a/>', point(k, k), ROW(k, k)::regress_dp.pair, ARRAY['ok']::regress_dp.mood[], 'x'
    FROM generate_series(1, 500) k;
SELECT privacy_score.dp_grant('regress_owner', 'regress_dp.t', 1000000);

-- The noisy count of each predicate is that of a plain query with it; none is trivial.
CREATE FUNCTION regress_dp.compare(predicates text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  predicate text;
  plain bigint;
  noisy bigint;
BEGIN
  FOREACH predicate IN ARRAY predicates LOOP
    EXECUTE 'SELECT count(*) FROM regress_dp.t WHERE ' || predicate INTO plain;
    noisy := privacy_score.dp_count('regress_dp.t', predicate, 50);
    IF plain IS DISTINCT FROM noisy OR plain IN (0, 500) THEN RETURN NEXT format('%s: %s, noisy %s', predicate, plain, noisy); END IF;
  END LOOP;
END $$;
SELECT regress_dp.compare(ARRAY[
  'i = 3', 'i <> 3', 'i < 3', 'i <= 3', 'i > 3', 'i >= 3', '3 < i', 'i IS NULL', 'i IS NOT NULL', 'NOT i = 3', 'i IN (1, 2, NULL)', 'i NOT IN (1, 2)',
  'i BETWEEN 2 AND 4', 'i NOT BETWEEN 2 AND 4', 'i BETWEEN SYMMETRIC 4 AND 2', 'i IS DISTINCT FROM 3', 'i IS NOT DISTINCT FROM 3', 'i IS DISTINCT FROM other',
  'i = other', 'i <> other OR i IS NULL', 'NOT (i < other OR i > 3)', 'i IS NOT DISTINCT FROM NULL', 'i = 1 OR i IN (2, 3) OR txt = ''a''',
  'i <> 1 AND i NOT IN (2, 3) AND NOT (txt = ''a'' AND flag)', 'i > -1 AND i < +5', 'i = ''3''', 'i = 3::int8', 'i = CAST(''3'' AS int)', 't.i = 3',
  'big > 2000000000000', 'big IN (10000000000, 20000000000)', 'little < 3', 'n = 1.0', 'n = 1', 'n IN (0.5, 1.50)', 'n >= 1e0', 'f = 0.25', 'f = ''NaN''', 'f < 1', 'NOT f < 1',
  'r = 0.125', 'txt = ''a''', 'txt < ''b''', 'txt LIKE ''a%''', 'txt NOT LIKE ''a%''', 'txt LIKE ''a\%''', 'txt LIKE ''a#_b'' ESCAPE ''#''', 'txt LIKE ''a\\b''', 'txt LIKE ''_''',
  'txt = ''ä''', 'txt = ''''', 'txt = E''a\\b''', 'txt IN (''a'', ''B'')', 'NOT txt IN (''a'', ''B'')', 'v = ''v1''', 'v LIKE ''%1''', 'v IN (''v1'', ''v2'')', 'c = ''c1''', 'c = ''c1  ''', 'c LIKE ''c1%''',
  'nm = ''n1''', 'nm LIKE ''n_'' AND nm <> ''n1''', 'flag', 'NOT flag', 'flag = true', 'flag IS TRUE', 'flag IS NOT TRUE', 'flag IS FALSE', 'flag IS NOT FALSE', 'flag IS NULL', 'flag <> false',
  'd = ''2024-01-05''', 'd >= DATE ''2024-01-20''', 'd < TIMESTAMP ''2024-01-20 00:00''', 'ts < ''2024-01-02''', 'ts > DATE ''2024-01-02''', 'tz = ''2024-01-01 13:00+01''', 'tz BETWEEN ''2024-01-02'' AND ''2024-01-02 03:00''',
  'iv > interval ''36 hours''', 'iv = ''1 day''', 'u = ''cfcd2084-95d5-65ef-66e7-dff9f98764da''', 'm = ''ok''', 'm > ''sad''', 'm IN (''sad'', ''happy'')', 's = 3', 's IN (1, 2)', 'arr = ''{0,1}''', 'arr < ''{1}''', 'arr IN (''{0,1}'', ''{9}'')',
  'js = ''{"k": 1}''', 'net = ''10.0.0.1''', 'net > ''10.0.0.1''', 'rng = ''[1,10)''', 'bits = B''101''', 'bin = ''\x05''', 'bin IN (''\x05'', ''\x06'')', 'money_spent = ''$2.00''',
  '"Odd ""Name" = 1', 'xm IS NOT NULL AND pt IS NOT NULL AND row_col IS NOT NULL AND i = 3', 'moods = ''{ok}'' AND i = 3', '(i = 3 AND (txt = ''a'' OR NOT (flag OR d > ''2024-01-10'')))',
  'i = 3 OR NULL', 'true AND i = 3', 'false OR i = 3', 'NOT (i = 3 AND NULL)']);
SELECT privacy_score.dp_count('regress_dp.t', p, 50) FROM unnest(ARRAY['i = NULL', 'false', 'NULL', 'i NOT IN (1, NULL)', 'txt LIKE NULL', 'i > 3 AND false']) p;
-- values that are the same in the column's type are one question
SELECT predicate, (SELECT repeated FROM privacy_score.dp_count_detail('regress_dp.t', predicate, 50)) AS repeated
  FROM unnest(ARRAY['i = 3.0', 'n = 1.00', 'i = 3e0', 'd = ''05.01.2024''', 'd = ''January 5, 2024''', 'c = ''c1 ''', 'tz = ''2024-01-01 12:00+00''', 'm IN (''happy'', ''sad'')', 'i = ''03''']) WITH ORDINALITY p(predicate, n), set_config('datestyle', 'ISO, DMY', true) ORDER BY n;
-- a setting of the session does not make it another one
SET timezone = 'Asia/Tokyo';
SELECT repeated FROM privacy_score.dp_count_detail('regress_dp.t', 'tz = ''2024-01-01 21:00''', 50);
RESET timezone;

-- what a predicate must not contain; parsing has its own tests
\set VERBOSITY terse
SELECT privacy_score.dp_count('regress_dp.t', 'lower(txt) = ''a''', 50);
SELECT privacy_score.dp_count('regress_dp.t', '1/i = 1', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'i = (SELECT 1)', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'txt::int = 1', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'txt ~ ''(''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'arr[1000000000] = 1', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'txt LIKE ''a\''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'nothing = 1', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'regress_dp.t.i = 1', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'ctid = ''(0,1)''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'xm = ''<a/>''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'pt = ''(1,1)''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'row_col = ''(1,1)''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'i = 1 AND (row_col).a = 1', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'i = txt', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'txt = folded', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'txt = 5', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'i = true', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'i', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'flag = 1', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'i LIKE ''1''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'd = TIMESTAMP ''2024-01-05 12:00''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'm = ''ok''::regress_dp.mood', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'i = ''1''::regclass', 50);
SELECT privacy_score.dp_count('regress_dp.t', '', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'i = 1; DROP TABLE t', 50);
-- constants that the column's type cannot read
SELECT privacy_score.dp_count('regress_dp.t', 'i = ''x''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'i = 1.5', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'i = 2147483648', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'd = ''2024-02-30''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'm = ''furious''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'n = 1e200000', 50);
\set VERBOSITY default
SELECT privacy_score.dp_count('regress_dp.t', 'lower(txt) = ''a''', 50);
\set VERBOSITY sqlstate
SELECT privacy_score.dp_count('regress_dp.t', 'lower(txt) = ''a''', 50);
SELECT privacy_score.dp_count('regress_dp.t', 'nothing = 1', 50);
\set VERBOSITY default
-- the CHECK of a domain is not asked: a constant beyond it is just in no row
SELECT privacy_score.dp_count('regress_dp.t', 's = 5000', 50);

-- LIKE where equal is not the same
RESET SESSION AUTHORIZATION;
CREATE COLLATION regress_dp.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE regress_dp.loose_text (a text COLLATE regress_dp.loose);
INSERT INTO regress_dp.loose_text VALUES ('x'), ('X'), ('y');
SELECT privacy_score.dp_grant('postgres', 'regress_dp.loose_text', 1000);
SELECT privacy_score.dp_count('regress_dp.loose_text', 'a = ''x''', 50);
SELECT privacy_score.dp_count('regress_dp.loose_text', 'a LIKE ''x''', 50);

-- units: of each person at most 2 rows count, those without a person not at all
SET SESSION AUTHORIZATION regress_owner;
CREATE TABLE regress_dp.visits (person text, ward text);
INSERT INTO regress_dp.visits VALUES ('a', 'x'), ('a', 'x'), ('a', 'x'), ('a', 'y'), ('b', 'x'), ('b', 'y'), ('c', 'y'), (NULL, 'x'), (NULL, 'x');
SELECT privacy_score.dp_grant('regress_owner', 'regress_dp.visits', 10000, unit => 'person', max_rows_per_unit => 2);
SELECT noisy_count, noise_scale FROM privacy_score.dp_count_detail('regress_dp.visits', epsilon => 100);
SELECT noisy_count, noise_scale FROM privacy_score.dp_count_detail('regress_dp.visits', 'ward = ''x''', epsilon => 100);
SELECT privacy_score.dp_count('regress_dp.visits', 'ward = ''z''', epsilon => 100);
SELECT privacy_score.dp_count('regress_dp.visits', 'person = ''a''', epsilon => 100);
-- with another sensitivity it is another question
SELECT privacy_score.dp_grant('regress_owner', 'regress_dp.visits', 10000, unit => 'person', max_rows_per_unit => 3);
SELECT noisy_count, noise_scale, repeated FROM privacy_score.dp_count_detail('regress_dp.visits', epsilon => 100);
SELECT unit, max_rows_per_unit FROM privacy_score.dp_budget WHERE relation = 'regress_dp.visits'::regclass;
-- no noise can be that wide
SELECT privacy_score.dp_grant('regress_owner', 'regress_dp.visits', 10000, unit => 'person', max_rows_per_unit => 1000000);
SELECT privacy_score.dp_count('regress_dp.visits', epsilon => 0.0000001);
ALTER TABLE regress_dp.visits DROP COLUMN person;
SELECT privacy_score.dp_count('regress_dp.visits', epsilon => 100);

-- relations of other kinds
CREATE TABLE regress_dp.parted (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE regress_dp.part_1 PARTITION OF regress_dp.parted FOR VALUES FROM (0) TO (100);
CREATE TABLE regress_dp.part_2 PARTITION OF regress_dp.parted FOR VALUES FROM (100) TO (200);
INSERT INTO regress_dp.parted SELECT k, k FROM generate_series(0, 199) k;
CREATE VIEW regress_dp.seen AS SELECT k, v || '!' AS w FROM regress_dp.parted WHERE k > 9;
CREATE MATERIALIZED VIEW regress_dp.kept AS SELECT k FROM regress_dp.parted WHERE k > 19;
CREATE TABLE regress_dp.below (x int) INHERITS (regress_dp.visits);
INSERT INTO regress_dp.below VALUES ('w', 1);
CREATE TABLE regress_dp.empty_one (a int);
CREATE TABLE regress_dp.nulls (a int);
INSERT INTO regress_dp.nulls SELECT NULL FROM generate_series(1, 7);
SELECT privacy_score.dp_grant('regress_alice', r, 10000) FROM unnest('{regress_dp.parted,regress_dp.part_1,regress_dp.seen,regress_dp.kept,regress_dp.visits,regress_dp.empty_one,regress_dp.nulls}'::regclass[]) r;
SET SESSION AUTHORIZATION regress_alice;
SELECT privacy_score.dp_count('regress_dp.parted', epsilon => 50), privacy_score.dp_count('regress_dp.parted', 'k BETWEEN 90 AND 109', epsilon => 50),
  privacy_score.dp_count('regress_dp.part_1', epsilon => 50), privacy_score.dp_count('regress_dp.seen', epsilon => 50), privacy_score.dp_count('regress_dp.seen', 'w = ''50!''', epsilon => 50),
  privacy_score.dp_count('regress_dp.kept', 'k < 30', epsilon => 50), privacy_score.dp_count('regress_dp.visits', epsilon => 50);
SELECT privacy_score.dp_count('regress_dp.empty_one', epsilon => 50), privacy_score.dp_count('regress_dp.empty_one', 'a = 1', epsilon => 50), privacy_score.dp_count('regress_dp.nulls', epsilon => 50),
  privacy_score.dp_count('regress_dp.nulls', 'a = 1', epsilon => 50), privacy_score.dp_count('regress_dp.nulls', 'NOT a = 1', epsilon => 50), privacy_score.dp_count('regress_dp.nulls', 'a IS NULL', epsilon => 50);

-- all rows count, whoever asks; where the owner does not see them, none do
SET SESSION AUTHORIZATION regress_owner;
ALTER TABLE regress_dp.part_1 ENABLE ROW LEVEL SECURITY;
ALTER TABLE regress_dp.nulls ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SET SESSION AUTHORIZATION regress_alice;
SET row_security = off;
SELECT privacy_score.dp_count('regress_dp.part_1', 'k >= 0', epsilon => 50);
RESET row_security;
SELECT privacy_score.dp_count('regress_dp.part_1', 'k >= 1', epsilon => 50);
SELECT privacy_score.dp_count('regress_dp.nulls', 'a = 2', epsilon => 50);
-- a column that the owner may not read
SET SESSION AUTHORIZATION regress_owner;
REVOKE SELECT ON regress_dp.parted FROM regress_owner;
GRANT SELECT (k) ON regress_dp.parted TO regress_owner;
SET SESSION AUTHORIZATION regress_alice;
SELECT privacy_score.dp_count('regress_dp.parted', 'k = 1', epsilon => 50);
SELECT privacy_score.dp_count('regress_dp.parted', 'v = ''1''', epsilon => 50);

-- a view that fails on a row does not tell which, and is charged; a function that might do anything does not run
SET SESSION AUTHORIZATION regress_owner;
CREATE FUNCTION regress_dp.tells(a int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'row %', a; RETURN 1 / (a - 5); END $$;
CREATE VIEW regress_dp.fails AS SELECT a, 1 / (a - 5) AS b FROM generate_series(1, 10) a;
CREATE VIEW regress_dp.told AS SELECT a, regress_dp.tells(a) AS b FROM generate_series(1, 10) a;
CREATE FUNCTION regress_dp.who(a int) RETURNS text LANGUAGE sql STABLE RETURN current_user || ' ' || current_setting('search_path');
CREATE VIEW regress_dp.asked AS SELECT a, regress_dp.who(a) AS w FROM generate_series(1, 10) a;
SELECT privacy_score.dp_grant('regress_alice', r, 10000) FROM unnest('{regress_dp.fails,regress_dp.told,regress_dp.asked}'::regclass[]) r;
SET SESSION AUTHORIZATION regress_alice;
SELECT privacy_score.dp_count('regress_dp.fails', 'b > 0', epsilon => 50);
SELECT privacy_score.dp_count('regress_dp.told', 'b > 0', epsilon => 50);
SELECT spent FROM privacy_score.dp_budget WHERE relation IN ('regress_dp.fails'::regclass, 'regress_dp.told'::regclass) ORDER BY 1;
-- it runs as the owner
SELECT privacy_score.dp_count('regress_dp.asked', 'w = ''regress_owner pg_catalog, pg_temp''', epsilon => 50);

-- names and operators of the caller are not looked at
CREATE TEMP TABLE t (i int);
CREATE FUNCTION pg_temp.eq(int, int) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
CREATE OPERATOR pg_temp.= (LEFTARG = int, RIGHTARG = int, FUNCTION = pg_temp.eq);
SET search_path = pg_temp, regress_dp, pg_catalog;
SELECT privacy_score.dp_count('regress_dp.visits', 'ward = ''y''', epsilon => 50);
SELECT privacy_score.dp_count('regress_dp.kept', 'k = 30', epsilon => 50);
SELECT privacy_score.dp_count('kept', 'k OPERATOR(pg_temp.=) 30', epsilon => 50);
RESET search_path;

-- dropped meanwhile
SET SESSION AUTHORIZATION regress_owner;
DROP VIEW regress_dp.asked;
SET SESSION AUTHORIZATION regress_alice;
SELECT count(*) FROM privacy_score.dp_budget WHERE relation::text LIKE '%asked%' OR relation IS NULL;
SELECT privacy_score.dp_count('regress_dp.asked');

RESET SESSION AUTHORIZATION;
DROP SCHEMA regress_dp CASCADE;
DROP OWNED BY regress_alice, regress_owner;
DROP ROLE regress_alice, regress_owner;

-- Partitions of rows in memory: what is one value, for every kind of type, is what GROUP BY says; so are entropies,
-- classes and uniques of sets of columns, however the rows are stored and whether or not they fit into memory.
SET client_min_messages = warning;
CREATE SCHEMA partitions;
SET search_path = partitions, public;
CREATE EXTENSION citext;

CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION german (provider = icu, locale = 'de');
CREATE DOMAIN word AS text COLLATE ignore_case CHECK (VALUE <> '');
CREATE DOMAIN amount AS numeric;
CREATE TYPE level AS ENUM ('low', 'middle', 'high');
CREATE TYPE pair AS (a numeric, b text);
CREATE TYPE odd_pair AS (a int, b json);

-- Entropy in bits, rows, classes and classes of one row, by SQL alone.
CREATE FUNCTION by_hand(relation text, expressions text, OUT entropy float8, OUT rows bigint, OUT classes bigint, OUT uniques bigint)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT coalesce(-sum(c / n * ln(c / n)) / ln(2), 0), coalesce(sum(c), 0)::bigint, count(*), count(*) FILTER (WHERE c = 1)
                    FROM (SELECT count(*)::float8 AS c, sum(count(*)) OVER ()::float8 AS n FROM %s t GROUP BY %s) s', relation, expressions)
    INTO entropy, rows, classes, uniques;
END $$;
-- What GROUP BY takes for a column.
CREATE FUNCTION expression(relation regclass, attribute name) RETURNS text LANGUAGE sql RETURN (
  SELECT CASE WHEN format_type(atttypid, NULL) IN ('json', 'json[]', 'xml', 'point', 'odd_pair')
              THEN format('%I::text', attname) ELSE quote_ident(attname) END
    FROM pg_attribute WHERE attrelid = relation AND attname = attribute);

-- A value of each type from a number: few values, written in all the ways that are equal and in some that are not.
CREATE TABLE kinds AS
SELECT n % 7 AS small, (n % 11)::int2 AS int2, n % 13 - 5 AS int4,
       CASE n % 6 WHEN 0 THEN '-9223372036854775808' WHEN 1 THEN 9223372036854775807 ELSE n % 5 * 4000000000 END AS int8,
       (n * 7919 % 1000003)::int8 AS scattered, n + 1000000 AS serial,
       (ARRAY['NaN', -'NaN'::float8, '-0', '0', 'Infinity', '4.9e-324', '-4.9e-324', '0.1', '0.2'])[1 + n % 9]::float8 AS float8,
       (ARRAY['NaN', -'NaN'::float4, '-0', '0', '1e-45', '0.1'])[1 + n % 6]::float4 AS float4,
       CASE n % 9 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' ELSE (n % 4)::text || '.' || repeat('0', 1 + n % 3) END::numeric AS numeric,
       ((n % 5)::text || '.' || repeat('0', 1 + n % 4))::amount AS amount,
       (ARRAY['a', 'A', 'b', '', 'a ', 'ä', 'a' || chr(776)])[1 + n % 7] COLLATE "C" AS text_c,
       (ARRAY['a', 'A', 'b', '', 'a ', 'ä', 'a' || chr(776)])[1 + n % 7] COLLATE german AS text_icu,
       (ARRAY['a', 'A', 'b', '', 'a ', 'ä', 'a' || chr(776)])[1 + n % 7] COLLATE ignore_case AS text_loose,
       (ARRAY['a', 'A', 'b', '', 'a ', 'ä', 'a' || chr(776)])[1 + n % 7] AS text_default,
       (ARRAY['a', 'A', 'b', 'ab', 'a '])[1 + n % 5]::word AS word,
       (ARRAY['a', 'A', 'b', 'ab', 'a '])[1 + n % 5]::varchar(3) AS varchar,
       (ARRAY['a', 'A', 'a  ', '', ' '])[1 + n % 5]::char(4) AS padded, ('a' || repeat(' ', n % 3))::bpchar AS any_length,
       (ARRAY['a', 'A', 'a  ', '', ' '])[1 + n % 5]::char(4) COLLATE ignore_case AS padded_loose,
       (ARRAY['a', 'A', 'b', ''])[1 + n % 4]::name AS name,
       (ARRAY['a', 'A', 'b', ''])[1 + n % 4]::citext AS citext,
       n % 3 = 0 AS bool, chr(97 + n % 5)::"char" AS "char", (n % 5)::oid AS oid, (n % 5)::money AS money,
       '2024-02-29'::date + n % 400 AS date, CASE n % 3 WHEN 0 THEN 'infinity' ELSE '2024-01-01'::timestamp + n % 4 * interval '1 s' END AS timestamp,
       ('2024-01-01 00:00:00+0' || n % 3)::timestamptz AS timestamptz, ('1:00'::time + n % 7 * interval '1 us')::time AS time,
       ('12:00+0' || n % 3)::timetz AS timetz, (ARRAY['1 mon', '30 days', '720:00', '31 days'])[1 + n % 4]::interval AS interval,
       (ARRAY[B'00101', B'10100', B'00100'])[1 + n % 3] AS bit, (ARRAY[B'1', B'01', B'', B'10'])[1 + n % 4]::varbit AS varbit,
       (ARRAY['\x', '\x00', '\x0000', '\x01'])[1 + n % 4]::bytea AS bytea, md5((n % 17)::text)::uuid AS uuid,
       (ARRAY['10.0.0.1', '10.0.0.1/24', '10.0.0.0/24', '::1', '::ffff:10.0.0.1'])[1 + n % 5]::inet AS inet,
       ('10.0.' || n % 5 || '.0/24')::cidr AS cidr, ('08:00:2b:01:02:0' || n % 6)::macaddr AS macaddr, ('08:00:2b:01:02:03:04:0' || n % 6)::macaddr8 AS macaddr8,
       ('0/' || n % 6)::pg_lsn AS pg_lsn, (enum_range(NULL::level))[1 + n % 3] AS level,
       (ARRAY['[1,3)', '[1,2]', 'empty', '[1,1)', '[,3)'])[1 + n % 5]::int4range AS range,
       (ARRAY['{[1.0,2)}', '{[1,2.00)}', '{}', '{[1,2],[5,6]}'])[1 + n % 4]::nummultirange AS multirange,
       ARRAY[n % 2, NULLIF(n % 3, 0)] AS int_array, ARRAY[(ARRAY['a', 'A', 'b'])[1 + n % 3]] COLLATE ignore_case AS loose_array,
       (ARRAY['{1.0,2}', '{1,2.00}', '[2:3]={1,2}', '{{1,2}}', '{}'])[1 + n % 5]::numeric[] AS numeric_array,
       (ARRAY['{"a":1}', '{"a":1.0}', '{"a" : 1, "b":null}', '{"b":null,"a":1}', '[1]', '1'])[1 + n % 6]::jsonb AS jsonb,
       (ARRAY['{"a":1}', '{"a":1.0}', '{"a": 1}'])[1 + n % 3]::json AS json, ARRAY[(ARRAY['{"a":1}', '{"a": 1}'])[1 + n % 2]::json] AS json_array,
       (ARRAY['<a/>', '<a></a>', '<b/>'])[1 + n % 3]::xml AS xml, point(n % 3, -0.0) AS point,
       (ARRAY['(1,x)', '(1.0,x)', '(1.00,)', '(,)'])[1 + n % 4]::pair AS pair, (ARRAY['(1,"{}")', '(1,"[]")'])[1 + n % 2]::odd_pair AS odd_pair,
       (ARRAY['a b', 'b a', 'b'])[1 + n % 3]::tsvector AS tsvector, (ARRAY['a&b', 'b & a', 'b'])[1 + n % 3]::tsquery AS tsquery,
       (n % 2)::text AS dropped, repeat((ARRAY['x', 'y', 'z'])[1 + n % 3], 100000) AS compressed,
       (SELECT string_agg(md5((n % 4 + i)::text), '') FROM generate_series(1, 300) i) AS toasted
  FROM generate_series(1, 700) n;
ALTER TABLE kinds ALTER toasted SET STORAGE EXTERNAL, DROP COLUMN dropped, ADD COLUMN added int DEFAULT 5, ADD COLUMN added_text text DEFAULT 'all of the old rows';
INSERT INTO kinds (small, added, added_text) SELECT n % 4, n % 2 + 5, NULL FROM generate_series(1, 60) n;
INSERT INTO kinds SELECT * FROM kinds LIMIT 40;
UPDATE kinds SET toasted = toasted || 'x' WHERE small = 1 AND int2 = 1;

-- Each column: a row here is a difference from SQL.
SELECT r.attribute, r.distinct_values, h.classes, r.uniques, h.uniques AS uniques_by_hand, r.entropy, h.entropy AS entropy_by_hand
  FROM privacy_score.attribute_risk('kinds') r, LATERAL by_hand('kinds', expression('kinds', r.attribute)) h
 WHERE r.distinct_values <> h.classes OR r.uniques <> h.uniques OR abs(r.entropy - h.entropy) > 1e-12
    OR abs(r.discrimination_rate - r.entropy / (ln(h.rows) / ln(2))) > 1e-12;
SELECT count(*) AS columns, sum(distinct_values) AS values, min(distinct_values) AS fewest FROM privacy_score.attribute_risk('kinds');
-- Some pairs and triples, with each column in several of them.
WITH columns AS (
  SELECT attname, row_number() OVER (ORDER BY attnum) AS n, count(*) OVER () AS all FROM pg_attribute
   WHERE attrelid = 'kinds'::regclass AND attnum > 0 AND NOT attisdropped),
sets AS (
  SELECT ARRAY[a.attname, b.attname] AS attributes FROM columns a, columns b WHERE b.n IN ((a.n + 4) % a.all + 1, (a.n + 24) % a.all + 1)
  UNION ALL
  SELECT ARRAY[a.attname, b.attname, c.attname] FROM columns a, columns b, columns c WHERE b.n = (a.n + 6) % a.all + 1 AND c.n = (a.n + 18) % a.all + 1)
SELECT count(*) AS sets, count(*) FILTER (WHERE abs(rate - h.entropy / (ln(h.rows) / ln(2))) > 1e-12) AS differ,
       count(*) FILTER (WHERE abs(of_small - (1 - (joint.entropy - h.entropy) / small.entropy)) > 1e-12) AS differ_of_small
  FROM sets s, LATERAL (SELECT string_agg(expression('kinds', a), ', ') AS list FROM unnest(s.attributes) a) e,
       LATERAL privacy_score.combined_discrimination_rate('kinds', s.attributes) rate,
       LATERAL privacy_score.combined_discrimination_rate('kinds', s.attributes, '{small}') of_small,
       LATERAL by_hand('kinds', e.list) h, LATERAL by_hand('kinds', e.list || ', small') joint, LATERAL by_hand('kinds', 'small') small;

-- Integers that come far apart and then close together, downwards and to both ends of their range.
CREATE TABLE gaps AS
  SELECT CASE WHEN n IN (2, 39990) THEN 100000 WHEN n IN (3, 39991) THEN -100000 ELSE n END AS up, CASE WHEN n % 20000 = 1 THEN 300000 ELSE 40000 - n END AS down,
         CASE n % 4 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 WHEN 2 THEN n / 8 ELSE -n / 8 END AS ends
    FROM generate_series(1, 40000) n ORDER BY n;
SELECT r.attribute, r.distinct_values, r.distinct_values = h.classes AND r.uniques = h.uniques AND abs(r.entropy - h.entropy) < 1e-9 AS as_sql
  FROM privacy_score.attribute_risk('gaps') r, LATERAL by_hand('gaps', quote_ident(r.attribute)) h ORDER BY 1;

-- A type of somebody's own: as text without equality, by a hash operator class alone, by an ordering alone, and by the
-- right to execute its equality.
CREATE TYPE parity;
CREATE FUNCTION parity_in(cstring) RETURNS parity LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION parity_out(parity) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE parity (INPUT = parity_in, OUTPUT = parity_out, LIKE = int4);
CREATE CAST (parity AS int) WITHOUT FUNCTION;
CREATE CAST (int AS parity) WITHOUT FUNCTION;
CREATE FUNCTION same(parity, parity) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN $1::int % 2 = $2::int % 2;
CREATE FUNCTION less(parity, parity) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN $1::int % 2 < $2::int % 2;
CREATE FUNCTION compare(parity, parity) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1::int % 2 - $2::int % 2;
CREATE FUNCTION hash(parity) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1::int % 2;
CREATE OPERATOR === (LEFTARG = parity, RIGHTARG = parity, FUNCTION = same, MERGES, HASHES, COMMUTATOR = ===);
CREATE OPERATOR <<< (LEFTARG = parity, RIGHTARG = parity, FUNCTION = less);
CREATE TABLE parities AS SELECT n::parity AS n, n % 3 = 1 AS third FROM generate_series(1, 12) n;
SELECT attribute, distinct_values, round(entropy::numeric, 6) AS entropy FROM privacy_score.attribute_risk('parities') ORDER BY 1;
CREATE OPERATOR CLASS parity_ops DEFAULT FOR TYPE parity USING hash AS OPERATOR 1 ===, FUNCTION 1 hash(parity);
SELECT attribute, distinct_values, round(entropy::numeric, 6) AS entropy FROM privacy_score.attribute_risk('parities') ORDER BY 1;
SELECT * FROM by_hand('parities', 'n');
DROP OPERATOR FAMILY parity_ops USING hash;
CREATE OPERATOR CLASS parity_order DEFAULT FOR TYPE parity USING btree AS OPERATOR 1 <<<, OPERATOR 3 ===, FUNCTION 1 compare(parity, parity);
SELECT attribute, distinct_values, round(entropy::numeric, 6) AS entropy FROM privacy_score.attribute_risk('parities') ORDER BY 1;
SELECT * FROM by_hand('parities', 'n');
CREATE ROLE regress_partitions;
GRANT USAGE ON SCHEMA partitions TO regress_partitions;
GRANT SELECT ON parities TO regress_partitions;
REVOKE EXECUTE ON FUNCTION same(parity, parity) FROM PUBLIC;
SET ROLE regress_partitions;
SELECT count(*) FROM parities GROUP BY n;
SELECT privacy_score.discrimination_rate('parities', 'n', '{third}');
RESET ROLE;

-- The same rows in every kind of relation: a heap, partitions and children with their columns in another order, a
-- materialized view, a view, a temporary table.
CREATE TABLE heap AS
  SELECT n % 76 AS a, n % 2 AS b, n / 7 % 14 AS c, NULLIF(n % 6, 0)::text COLLATE ignore_case AS d, (n % 9 / 3.0)::numeric(5, 2) AS e, n AS id
    FROM generate_series(1, 5000) n;
CREATE TABLE parts (a int, b int, c int, d text COLLATE ignore_case, e numeric, id int) PARTITION BY RANGE (a);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (30);
CREATE TABLE parts_high (id int, e numeric, gone int, d text COLLATE ignore_case, c int, b int, a int) PARTITION BY LIST (b);
ALTER TABLE parts_high DROP COLUMN gone;
CREATE TABLE parts_high_odd (e numeric, d text COLLATE ignore_case, a int, c int, id int, b int);
CREATE TABLE parts_high_even (LIKE parts INCLUDING ALL);
ALTER TABLE parts_high ATTACH PARTITION parts_high_odd FOR VALUES IN (1);
ALTER TABLE parts_high ATTACH PARTITION parts_high_even DEFAULT;
ALTER TABLE parts ATTACH PARTITION parts_high FOR VALUES FROM (30) TO (100);
INSERT INTO parts SELECT * FROM heap;
CREATE TABLE parent (LIKE heap);
CREATE TABLE child (more text, id int, e numeric(5, 2), d text COLLATE ignore_case, c int, b int, a int);
ALTER TABLE child INHERIT parent;
CREATE TABLE grandchild () INHERITS (child);
INSERT INTO parent SELECT * FROM heap WHERE id % 3 = 0;
INSERT INTO child (a, b, c, d, e, id) SELECT * FROM heap WHERE id % 3 = 1;
INSERT INTO grandchild (a, b, c, d, e, id) SELECT * FROM heap WHERE id % 3 = 2;
CREATE MATERIALIZED VIEW kept AS SELECT * FROM heap;
CREATE VIEW seen AS SELECT * FROM heap;
CREATE TEMP TABLE passing AS SELECT * FROM heap;
ANALYZE heap, parts, parent, child, grandchild, kept, passing;
CREATE FUNCTION all_sets() RETURNS SETOF name[] LANGUAGE sql AS
  $$ SELECT (SELECT array_agg(c ORDER BY c) FROM unnest('{a,b,c,d,e,id}'::name[]) WITH ORDINALITY AS u(c, i) WHERE n >> (i::int - 1) & 1 = 1) FROM generate_series(1, 63) n $$;
CREATE TABLE wanted AS SELECT s AS attributes, h.* FROM all_sets() s, LATERAL by_hand('heap', array_to_string(s, ', ')) h;
-- Asked one by one.
SELECT r.relation, count(*) AS sets, count(*) FILTER (WHERE abs(rate - w.entropy / (ln(5000) / ln(2))) > 1e-12) AS differ
  FROM (VALUES ('heap'::regclass), ('parts'), ('parent'), ('kept'), ('seen'), ('passing')) r(relation), wanted w,
       LATERAL privacy_score.combined_discrimination_rate(r.relation, w.attributes) rate
 GROUP BY r.relation ORDER BY r.relation::text;
-- Asked together: singles with their classes, and pairs.
CREATE FUNCTION differences(relation regclass, OUT singles bigint, OUT pairs bigint, OUT differ bigint) LANGUAGE sql RETURN (
  SELECT ROW(
    (SELECT count(*) FROM privacy_score.attribute_risk(relation)),
    (SELECT count(*) FROM privacy_score.attribute_relationships(relation, 1000)),
    (SELECT count(*) FROM privacy_score.attribute_risk(relation) r, wanted w
      WHERE w.attributes = ARRAY[r.attribute] AND (abs(r.entropy - w.entropy) > 1e-12 OR r.distinct_values <> w.classes OR r.uniques <> w.uniques)) +
    (SELECT count(*) FROM privacy_score.attribute_relationships(relation, 1000) r, wanted w
      WHERE w.attributes = (SELECT array_agg(n ORDER BY n) FROM unnest(ARRAY[r.determinant, r.dependent]) n)
        AND abs(r.combined_rate - w.entropy / (ln(5000) / ln(2))) > 1e-12)));
SELECT r.relation, d.* FROM (VALUES ('heap'::regclass), ('parts'), ('parent'), ('kept'), ('seen'), ('passing')) r(relation), LATERAL differences(r.relation) d
 ORDER BY r.relation::text;

SELECT r.relation, count(*) AS sets, count(*) FILTER (WHERE w.attributes IS NULL OR abs(s.entropy - w.entropy) > 1e-12 OR s.distinct_values <> w.classes OR s.uniques <> w.uniques
                                               OR abs(s.discrimination_rate - w.entropy / (ln(5000) / ln(2))) > 1e-12) AS differ
  FROM (VALUES ('heap'::regclass), ('parts'), ('parent'), ('kept'), ('seen'), ('passing')) r(relation),
       LATERAL privacy_score.attribute_set_risk(r.relation, (SELECT jsonb_agg(attributes) FROM wanted)) s
  LEFT JOIN wanted w ON w.attributes = s.attributes GROUP BY r.relation ORDER BY r.relation::text;
-- In the order asked for, each as often; against a target; no sets and no columns.
SELECT attributes, distinct_values, round(entropy::numeric, 6) AS entropy, round(discrimination_rate::numeric, 6) AS rate, uniques,
       round(privacy_score.combined_discrimination_rate('heap', attributes, '{c}')::numeric, 6) AS alone
  FROM privacy_score.attribute_set_risk('heap', '[["b", "a"], [], ["c"], ["a", "b", "a"], ["d", "e"], ["c"]]', '{c}');
SELECT * FROM privacy_score.attribute_set_risk('heap', '[]');

-- One pass, however many sets there are.
CREATE FUNCTION passes(relation regclass, query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE before bigint := pg_stat_get_xact_numscans(relation);
BEGIN
  EXECUTE query;
  RETURN pg_stat_get_xact_numscans(relation) - before;
END $$;
SELECT passes('heap', $$SELECT privacy_score.attribute_relationships('heap', 1000)$$) AS pairs,
       passes('heap', $$SELECT privacy_score.attribute_risk('heap')$$) AS singles,
       passes('heap', $$SELECT privacy_score.attribute_set_risk('heap', (SELECT jsonb_agg(attributes) FROM wanted), '{b}')$$) AS all_sets,
       passes('heap', $$SELECT privacy_score.combined_discrimination_rate('heap', '{a,b}', '{c,d}')$$) AS one_of_target;

-- Columns of a unique key tell every row apart without being read: by the key alone, and in any set that holds it.
CREATE FUNCTION against_sql(relation regclass, expressions text) RETURNS boolean LANGUAGE sql RETURN (
  SELECT abs(privacy_score.combined_discrimination_rate(relation, string_to_array(expressions, ',')::name[], NULL)
             - CASE WHEN h.rows < 2 THEN 0 ELSE h.entropy / (ln(h.rows) / ln(2)) END) < 1e-12 FROM by_hand(relation::text, expressions) h);
ALTER TABLE heap ADD PRIMARY KEY (id);
SELECT differences('heap'), privacy_score.combined_discrimination_rate('heap', '{id,a}') AS with_key, against_sql('heap', 'a,b');
-- What looks like a key and is none: NULL, some rows only, an equality of its own, children.
CREATE TABLE keys (nullable int, part int, loose text COLLATE ignore_case, expression int, whole int NOT NULL, later int);
INSERT INTO keys VALUES (NULL, 1, 'a', 1, 1, 1), (NULL, 1, 'A', -2, 2, 2), (3, 2, 'b', 3, 3, 3), (4, 3, 'c', 4, 4, 4);
ALTER TABLE keys ALTER part SET NOT NULL, ALTER loose SET NOT NULL, ALTER expression SET NOT NULL, ALTER later SET NOT NULL;
CREATE UNIQUE INDEX ON keys (nullable);
CREATE UNIQUE INDEX ON keys (part) WHERE part > 1;
CREATE UNIQUE INDEX ON keys (loose COLLATE "C");
CREATE UNIQUE INDEX ON keys ((part * 10 + whole), part);
CREATE UNIQUE INDEX ON keys (whole) INCLUDE (expression);
ALTER TABLE keys ADD UNIQUE (later) DEFERRABLE INITIALLY DEFERRED;
SELECT a.attribute, against_sql('keys', a.attribute) AS as_sql, r.distinct_values, r.uniques
  FROM (VALUES ('nullable'), ('part'), ('loose'), ('expression'), ('whole'), ('later'), ('nullable,part'), ('whole,part')) a(attribute)
  LEFT JOIN privacy_score.attribute_risk('keys') r USING (attribute) ORDER BY 1;
BEGIN;
UPDATE keys SET later = 1;
SELECT against_sql('keys', 'later'), distinct_values FROM privacy_score.attribute_risk('keys') WHERE attribute = 'later';
ROLLBACK;
CREATE TABLE keys_child () INHERITS (keys);
INSERT INTO keys_child SELECT * FROM keys;
SELECT against_sql('keys', 'whole'), distinct_values FROM privacy_score.attribute_risk('keys') WHERE attribute = 'whole';
-- Made in this transaction it is not believed, and not wrong either.
BEGIN;
CREATE TABLE fresh (id int PRIMARY KEY, a int);
INSERT INTO fresh SELECT n, n % 3 FROM generate_series(1, 10) n;
SELECT against_sql('fresh', 'id'), against_sql('fresh', 'a'), against_sql('fresh', 'id,a');
COMMIT;
-- The right to read its columns is needed all the same, and the columns that are not asked for are not.
GRANT SELECT (id, a) ON heap TO regress_partitions;
SET ROLE regress_partitions;
SELECT privacy_score.combined_discrimination_rate('heap', '{id,b}');
SELECT privacy_score.combined_discrimination_rate('heap', '{a}', '{b}');
SELECT privacy_score.discrimination_rate('heap', 'id') AS granted_key, privacy_score.discrimination_rate('heap', 'a') > 0 AS granted;
SELECT privacy_score.attribute_risk('heap');
RESET ROLE;
REVOKE SELECT (id) ON heap FROM regress_partitions;
SET ROLE regress_partitions;
SELECT privacy_score.discrimination_rate('heap', 'a');
SELECT privacy_score.discrimination_rate('heap', 'a', '{a}') AS own_target;
SELECT privacy_score.discrimination_rate('heap', 'id');
RESET ROLE;
-- Row security: the rows that the caller may see.
GRANT SELECT ON heap TO regress_partitions;
ALTER TABLE heap ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON heap USING (a < 10);
SET ROLE regress_partitions;
SELECT against_sql('heap', 'a'), against_sql('heap', 'id'), against_sql('heap', 'a,b,c') FROM (SELECT count(*) FROM heap) s WHERE count < 5000;
RESET ROLE;
SELECT against_sql('heap', 'a'), against_sql('heap', 'id');
ALTER TABLE heap DISABLE ROW LEVEL SECURITY;

-- Without room in memory: several passes and grouping by the server, the same numbers.
CREATE TABLE large AS
  SELECT md5(n::text) AS own, md5((n % 20000)::text) AS half, n % 76 AS a, n % 2 AS b, n * 31 % 83 AS c, n * 7 % 5003 AS d FROM generate_series(1, 40000) n;
CREATE TABLE large_parts (LIKE large) PARTITION BY HASH (own);
CREATE TABLE large_parts_0 PARTITION OF large_parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE large_parts_1 PARTITION OF large_parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO large_parts SELECT * FROM large;
CREATE TABLE with_room AS SELECT * FROM privacy_score.attribute_relationships('large', 1000);
CREATE TABLE singles_with_room AS SELECT * FROM privacy_score.attribute_risk('large');
SET maintenance_work_mem = '1MB';
SELECT r.relation, count(*) AS pairs, count(*) FILTER (WHERE abs(p.combined_rate - w.combined_rate) < 1e-12 AND abs(p.conditional_entropy - w.conditional_entropy) < 1e-11) AS same
  FROM (VALUES ('large'::regclass), ('large_parts')) r(relation), LATERAL privacy_score.attribute_relationships(r.relation, 1000) p
  JOIN with_room w USING (determinant, dependent) GROUP BY r.relation ORDER BY r.relation::text;
SELECT r.relation, count(*) AS columns, count(*) FILTER (WHERE abs(p.entropy - w.entropy) < 1e-12 AND p.distinct_values = w.distinct_values AND p.uniques = w.uniques) AS same
  FROM (VALUES ('large'::regclass), ('large_parts')) r(relation), LATERAL privacy_score.attribute_risk(r.relation) p
  JOIN singles_with_room w USING (attribute) GROUP BY r.relation ORDER BY r.relation::text;
SELECT count(*) AS sets, count(*) FILTER (WHERE abs(rate - h.entropy / (ln(40000) / ln(2))) > 1e-10) AS differ
  FROM (VALUES ('{own,half,a,b,c,d}'::name[]), ('{a,b,c,d}'), ('{half,d}'), ('{a,b,c}'), ('{own}')) s(attributes),
       LATERAL privacy_score.combined_discrimination_rate('large', s.attributes) rate, LATERAL by_hand('large', array_to_string(s.attributes, ', ')) h;
RESET maintenance_work_mem;

-- Nothing to read: no rows, no columns, only dropped ones.
CREATE TABLE no_rows (a int, b text);
CREATE TABLE no_columns ();
INSERT INTO no_columns SELECT FROM generate_series(1, 4);
CREATE TABLE lost (a int);
INSERT INTO lost VALUES (1), (2);
ALTER TABLE lost DROP COLUMN a;
SELECT r.relation, privacy_score.combined_discrimination_rate(r.relation, '{}') AS rate,
       (SELECT count(*) FROM privacy_score.attribute_risk(r.relation)) AS columns, (SELECT count(*) FROM privacy_score.attribute_relationships(r.relation)) AS pairs
  FROM (VALUES ('no_rows'::regclass), ('no_columns'), ('lost')) r(relation) ORDER BY r.relation::text;
SELECT * FROM privacy_score.attribute_risk('no_rows') ORDER BY attribute;

DROP SCHEMA partitions CASCADE;
DROP ROLE regress_partitions;

-- What may be computed on persons' rows: the table of core against the functions of this server.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
CREATE SCHEMA private_expressions;
SET search_path = private_expressions, public;
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE FUNCTION own(int) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1;

-- What is asked for by name.
SELECT function, e.* FROM unnest(ARRAY[
    'pg_catalog.int4eq(int,int)', 'pg_catalog.int4pl(int,int)', 'pg_catalog.lower(text)', 'pg_catalog.lower(anyrange)',
    'pg_catalog.texticlike(text,text)', 'pg_catalog.date_trunc(text,timestamptz,text)', 'pg_catalog.extract(text,date)',
    'pg_catalog.jsonb_object_field_text(jsonb,text)', 'pg_catalog.substring(text,int,int)', 'pg_catalog.substring(text,text)',
    'pg_catalog.sqrt(float8)', 'pg_catalog.sqrt(numeric)', 'pg_catalog.textregexeq(text,text)', 'pg_catalog.regexp_replace(text,text,text)',
    'pg_catalog.repeat(text,int)', 'pg_catalog.random()', 'pg_catalog.pg_sleep(float8)', 'pg_catalog.generate_series(int,int)',
    'pg_catalog.sum(int)', 'pg_catalog.row_number()', 'pg_catalog.jsonb_path_query(jsonb,jsonpath,jsonb,bool)',
    'pg_catalog.age(timestamptz)', 'pg_catalog.age(timestamptz,timestamptz)', 'pg_catalog.point_distance(point,point)',
    'private_expressions.own(int)', 'privacy_score.laplace_step(float8)']::regprocedure[]) WITH ORDINALITY f(function, n),
  privacy_score.dp_expression(function) e ORDER BY n;
SELECT privacy_score.dp_expression(NULL) IS NULL AS unknown;
SELECT privacy_score.dp_expression(4000000000::oid);

-- Nothing that is allowed is somebody's own, volatile, or gives several values; what is stable depends on settings.
SELECT e.function FROM privacy_score.dp_expressions e JOIN pg_proc p ON p.oid = e.function
 WHERE p.provolatile = 'v' OR p.proretset OR p.prokind <> 'f' OR p.pronamespace <> 'pg_catalog'::regnamespace OR p.oid >= 10000 OR p.prosecdef
 ORDER BY 1;
SELECT DISTINCT p.proname FROM privacy_score.dp_expressions e JOIN pg_proc p ON p.oid = e.function
 WHERE p.provolatile = 's' AND NOT 'timestamptz'::regtype = ANY (p.proargtypes) AND p.prorettype <> 'timestamptz'::regtype ORDER BY 1;
-- Nothing whose time or size an argument decides.
SELECT function FROM privacy_score.dp_expressions
 WHERE function::text ~ 'regex|similar|repeat|pad\(|format|replace|generate|xml|xpath|path_|tsvector|tsquery|pg_|random|sleep|current' ORDER BY 1;
-- Of the usual operators and casts between types of columns those that are missing, by design.
SELECT o.oprname, o.oprcode FROM pg_operator o CROSS JOIN LATERAL privacy_score.dp_expression(o.oprcode) e
 WHERE e.use = 'refused' AND o.oid < 10000
   AND o.oprleft = ANY ('{bool,int2,int4,int8,float4,float8,numeric,text,bpchar,date,time,timestamp,timestamptz,interval,uuid}'::regtype[])
   AND o.oprright = ANY ('{bool,int2,int4,int8,float4,float8,numeric,text,bpchar,date,time,timestamp,timestamptz,interval,uuid}'::regtype[])
 ORDER BY 1, 2::text COLLATE "C";
SELECT c.castsource::regtype, c.casttarget::regtype FROM pg_cast c CROSS JOIN LATERAL privacy_score.dp_expression(c.castfunc) e
 WHERE e.use = 'refused' AND c.castfunc <> 0 AND c.oid < 12000
   AND c.castsource = ANY ('{bool,int2,int4,int8,float4,float8,numeric,text,bpchar,date,time,timestamp,timestamptz,interval,jsonb}'::regtype[])
   AND c.casttarget = ANY ('{bool,int2,int4,int8,float4,float8,numeric,text,bpchar,date,time,timestamp,timestamptz,interval,jsonb}'::regtype[])
 ORDER BY 1, 2;

-- Values at the ends of their types, with which everything is tried that is allowed.
CREATE TABLE sample (type text, value text);
INSERT INTO sample VALUES ('bool', 'true'), ('bool', 'false'), ('char', 'a'), ('char', ''), ('name', 'x'), ('name', ''), ('oid', '0'), ('oid', '4294967295'),
  ('int2', '-32768'), ('int2', '0'), ('int2', '32767'), ('int4', '-2147483648'), ('int4', '-1'), ('int4', '0'), ('int4', '2147483647'),
  ('int8', '-9223372036854775808'), ('int8', '-1'), ('int8', '0'), ('int8', '9223372036854775807'),
  ('float4', 'NaN'), ('float4', '-Infinity'), ('float4', '3.4e38'), ('float4', '0'), ('float8', 'NaN'), ('float8', '-Infinity'), ('float8', '1e-308'),
  ('float8', '1.7e308'), ('float8', '0'), ('numeric', 'NaN'), ('numeric', 'Infinity'), ('numeric', '-1e1000'), ('numeric', '1e-1000'), ('numeric', '0'),
  ('text', ''), ('text', 'abc'), ('text', 'x%_\'), ('text', U&'\00e4\20ac'), ('bpchar', 'a  '), ('bpchar', ''), ('bytea', '\x'), ('bytea', '\x00ff'),
  ('date', '-infinity'), ('date', '4713-01-01 BC'), ('date', '5874897-12-31'), ('date', '2024-02-29'), ('time', '00:00'), ('time', '24:00'),
  ('timetz', '00:00+15'), ('timetz', '24:00-15'), ('timestamp', 'infinity'), ('timestamp', '4713-01-01 BC'), ('timestamp', '294276-12-31'),
  ('timestamptz', '-infinity'), ('timestamptz', '4713-01-02 BC'), ('timestamptz', '294276-12-30'), ('interval', '178000000 years'),
  ('interval', '-178000000 years'), ('interval', '0'), ('interval', '2147483647 days'), ('uuid', '00000000-0000-0000-0000-000000000000'),
  ('money', '92233720368547758.07'), ('money', '0'), ('bit', '1'), ('bit', '0'), ('varbit', ''), ('varbit', '101'), ('inet', '0.0.0.0/0'), ('inet', '::1'),
  ('macaddr', '00:00:00:00:00:00'), ('macaddr8', 'ff:ff:ff:ff:ff:ff:ff:ff'), ('anyenum', 'low'), ('anyenum', 'high'), ('jsonb', '{"a": [1, null]}'),
  ('jsonb', '3'), ('jsonb', '[]'), ('json', '{"a": 1}'), ('json', '[1]'), ('anyrange', 'empty'), ('anyrange', '[1,5)'), ('anyrange', '(,)'),
  ('int4range', '[1,5)'), ('anymultirange', '{}'), ('anymultirange', '{[1,5),[7,9)}'), ('anyarray', '{}'), ('anyarray', '{1,2,NULL}'),
  ('anyarray', '{{1},{2}}'), ('anyelement', '1'), ('anycompatible', '1'), ('anycompatiblearray', '{1,2}'), ('_text', '{a}'), ('varchar', 'v'), ('varchar', '');
CREATE FUNCTION literal(type text, value text) RETURNS text LANGUAGE sql AS $$
  SELECT format('%L::%s', value, CASE type WHEN 'char' THEN '"char"' WHEN 'anyenum' THEN 'private_expressions.mood' WHEN 'anyrange' THEN 'int4range'
    WHEN 'anymultirange' THEN 'int4multirange' WHEN 'anyelement' THEN 'int' WHEN 'anycompatible' THEN 'int' WHEN 'anyarray' THEN 'int[]'
    WHEN 'anycompatiblearray' THEN 'int[]' ELSE type END) $$;
-- The errors of a function over all samples of its argument types; no more than 4 arguments.
CREATE FUNCTION errors_of(called regprocedure) RETURNS TABLE (state text, tried bigint) LANGUAGE plpgsql AS $$
DECLARE
  call text;
  types text[] := (SELECT array_agg(t.typname ORDER BY n) FROM pg_proc p, unnest(p.proargtypes) WITH ORDINALITY u(type, n) JOIN pg_type t ON t.oid = u.type WHERE p.oid = called);
  spreads boolean := (SELECT provariadic <> 0 FROM pg_proc WHERE oid = called);
  states jsonb := '{}';
BEGIN
  FOR call IN
    WITH RECURSIVE calls AS (
      SELECT 0 AS n, ''::text AS arguments
      UNION ALL
      SELECT n + 1, concat_ws(', ', nullif(arguments, ''), CASE WHEN spreads AND n + 1 = cardinality(types) THEN 'VARIADIC ' ELSE '' END || literal(s.type, s.value))
        FROM calls JOIN sample s ON s.type = types[n + 1])
    SELECT format('SELECT pg_catalog.%I(%s)', (SELECT proname FROM pg_proc WHERE oid = called), arguments) FROM calls WHERE n = cardinality(types)
  LOOP
    BEGIN
      EXECUTE call;
      states := jsonb_set(states, '{00000}', to_jsonb(coalesce((states ->> '00000')::int, 0) + 1));
    EXCEPTION WHEN OTHERS THEN
      states := jsonb_set(states, ARRAY[SQLSTATE::text], to_jsonb(coalesce((states ->> SQLSTATE::text)::int, 0) + 1));
    END;
  END LOOP;
  RETURN QUERY SELECT key, value::bigint FROM jsonb_each_text(states);
END $$;
CREATE TABLE outcome AS
  SELECT e.function, e.use, e.constant_arguments, o.state, o.tried FROM privacy_score.dp_expressions e, errors_of(e.function) o;
-- What is safe fails on none of them, and nearly all of it was tried.
SELECT function, state FROM outcome WHERE use = 'safe' AND state <> '00000' ORDER BY 1, 2;
SELECT e.function FROM privacy_score.dp_expressions e WHERE NOT EXISTS (SELECT FROM outcome o WHERE o.function = e.function) ORDER BY 1;
-- What is guarded fails with errors of data: these are what a guard has to take for NULL (0A000: NaN has no integer). Only
-- wrong constants fail with others.
SELECT function, state FROM outcome WHERE use = 'guarded' AND constant_arguments IS NULL AND left(state, 2) NOT IN ('00', '0A', '22', '54') ORDER BY 1, 2;
SELECT DISTINCT left(state, 2) AS class FROM outcome WHERE use = 'guarded' AND left(state, 2) IN ('22', '54') ORDER BY 1;
DROP SCHEMA private_expressions CASCADE;

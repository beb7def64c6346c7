-- 201 Metabase: the version
SELECT version();
-- 202 Metabase: which columns a question has
SELECT * FROM (SELECT "public"."patients"."patient_id", "public"."patients"."city" FROM "public"."patients") AS "source" WHERE 1 <> 1 LIMIT 0;
-- 203 Superset: columns of a dataset
SELECT * FROM (SELECT * FROM visits) AS virtual_table LIMIT 0;
-- 204 Superset: whether the connection lives
SELECT 1;
-- 205 Grafana: tables for its editor
SELECT quote_ident(table_name) AS "table" FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1;
-- 206 Grafana: columns of a table
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns WHERE table_name = 'visits';
-- 207 Tableau: columns of a table
SELECT "visits"."visit_id", "visits"."patient_id" FROM "public"."visits" "visits" LIMIT 0;
-- 208 Tableau: schemas
SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname NOT LIKE 'pg_%' ORDER BY 1;
-- 209 Django: introspection
SELECT c.relname, CASE WHEN c.relispartition THEN 'p' WHEN c.relkind IN ('m', 'v') THEN 'v' ELSE 't' END FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('f', 'm', 'p', 'r', 'v') AND n.nspname NOT IN ('pg_catalog', 'pg_toast') AND pg_catalog.pg_table_is_visible(c.oid);
-- 210 SQLAlchemy: settings
SHOW standard_conforming_strings;
-- 211 SQLAlchemy: the current schema
SELECT current_schema();
-- 212 Hibernate: the isolation level
SHOW TRANSACTION ISOLATION LEVEL;
-- 213 ActiveRecord: types
SELECT t.oid, t.typname, t.typelem, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype FROM pg_type AS t LEFT JOIN pg_range AS r ON t.oid = r.rngtypid WHERE t.typname IN ('int2', 'int4', 'int8', 'text');
-- 214 ActiveRecord: primary keys
SELECT a.attname FROM (SELECT indrelid, indkey, generate_subscripts(indkey, 1) idx FROM pg_index WHERE indrelid = '"patients"'::regclass AND indisprimary) i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[i.idx] ORDER BY i.idx;
-- 215 psycopg: a transaction and its settings
BEGIN; SET LOCAL statement_timeout = '10s'; SELECT set_config('application_name', 'dashboard', false); COMMIT;

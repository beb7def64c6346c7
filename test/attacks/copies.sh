#!/bin/bash
# copies.sh - reading later what was copied once: tables made from protected ones, materialized views, and the values that
# statistics show. Reading the copy counts as reading the origin, however it is dressed up.
. "$(dirname "$0")/../attack.sh"
start_hospital

query="SELECT diagnosis FROM patients"
copy="cmd:select p:h.patients.diagnosis t:h.c t:h.patients"
temp="cmd:select p:h.patients.diagnosis t:h.patients t:pg_temp.*"

# --- tables ---------------------------------------------------------------------------------------------------------------
path "CREATE TABLE AS" "$read; $copy" "CREATE TABLE c AS $query" "TABLE c"
path "in another session" "$copy x2" "TABLE c" "SELECT diagnosis FROM c"
path "COPY" "cmd:copy p:h.patients.diagnosis t:h.c t:h.patients" "COPY c TO STDOUT"
path "a prepared statement, custom and generic plans" "$copy x3" "PREPARE p AS TABLE c" "EXECUTE p" "SET plan_cache_mode = force_generic_plan" "EXECUTE p" "EXECUTE p"
path "a cursor" "$copy" "BEGIN" "DECLARE x CURSOR FOR TABLE c" "FETCH 2 FROM x" "FETCH ALL FROM x" "COMMIT"
path "a view of a copy" "$copy" "CREATE TEMP VIEW v AS TABLE c" "TABLE v"
path "in a function" "$copy" "DO \$\$ BEGIN PERFORM diagnosis FROM c; END \$\$" "SELECT 1"
path "RETURNING" "cmd:delete p:h.patients.diagnosis t:h.c t:h.patients" "BEGIN" "DELETE FROM c RETURNING *" "ROLLBACK"
path "SET (column) = itself, RETURNING" "cmd:update p:h.patients.diagnosis s:h.c.diagnosis t:h.c t:h.patients" "BEGIN" "UPDATE c SET diagnosis = diagnosis RETURNING diagnosis" "ROLLBACK"
path "a renamed column" "$copy" "ALTER TABLE c RENAME diagnosis TO harmless" "SELECT harmless FROM c"
path "another column computed from it" "cmd:select p:h.patients.diagnosis p:h.patients.id t:h.patients; cmd:select p:h.patients.diagnosis p:h.patients.id t:h.mixed t:h.patients" \
  "CREATE TABLE mixed AS SELECT diagnosis, id, 'x'::text AS nothing FROM patients" "ALTER TABLE mixed ALTER nothing TYPE text USING nothing || diagnosis" "SELECT nothing FROM mixed"
path "a generated column" "cmd:select p:h.patients.diagnosis p:h.patients.id t:h.mixed t:h.patients" \
  "ALTER TABLE mixed ADD made text GENERATED ALWAYS AS (upper(diagnosis)) STORED, ADD plain text" "SELECT made FROM mixed"
path "a new column" "cmd:select p:h.mixed.plain t:h.mixed t:h.patients" "SELECT plain FROM mixed"
path "a changed type" "$copy" "ALTER TABLE c ALTER harmless TYPE varchar(100)" "SELECT harmless FROM c"
path "a renamed table in another schema" "cmd:select p:h.patients.diagnosis t:h.patients t:own.d" \
  "CREATE SCHEMA own" "ALTER TABLE c SET SCHEMA own" "ALTER TABLE own.c RENAME TO d" "TABLE own.d"
path "a copy of a copy" "cmd:select p:h.patients.diagnosis t:h.patients t:own.d; $temp" "CREATE TEMP TABLE t AS SELECT harmless || '' AS x FROM own.d" "TABLE t"
path "SELECT INTO" "$read; $temp" "SELECT diagnosis INTO TEMP t FROM patients" "SELECT diagnosis FROM t"
path "CREATE TABLE AS EXECUTE" "$by_id; $temp" "PREPARE p(int) AS SELECT diagnosis FROM patients WHERE id = \$1" "CREATE TEMP TABLE t AS EXECUTE p(1)" "TABLE t"
path "EXPLAIN ANALYZE CREATE TABLE AS" "$read; $temp" "EXPLAIN ANALYZE CREATE TEMP TABLE t AS $query" "TABLE t"
path "ON COMMIT DROP" "$read; $temp" "BEGIN" "CREATE TEMP TABLE t ON COMMIT DROP AS $query" "TABLE t" "COMMIT"
path "as a partition" "$read; cmd:select p:h.patients.diagnosis t:h.patients t:h.whole" "CREATE TABLE part AS $query" \
  "CREATE TABLE whole (diagnosis text) PARTITION BY LIST (diagnosis)" "ALTER TABLE whole ATTACH PARTITION part DEFAULT" "TABLE whole"
path "detached again" "cmd:select p:h.patients.diagnosis t:h.part t:h.patients" "ALTER TABLE whole DETACH PARTITION part" "TABLE part"
path "as a child" "$read; cmd:select p:h.patients.diagnosis t:h.parent t:h.patients" "CREATE TABLE parent (diagnosis text)" "CREATE TABLE child AS $query" "ALTER TABLE child INHERIT parent" "TABLE parent"
path "a composite column" "$read; cmd:select p:h.patients.diagnosis p:h.patients.id t:h.patients; cmd:select p:h.patients.diagnosis p:h.patients.id t:h.patients t:pg_temp.*" \
  "CREATE TYPE pair AS (i int, d text)" "SELECT diagnosis FROM patients" "CREATE TEMP TABLE t AS SELECT (id, diagnosis)::pair AS x FROM patients" "SELECT (x).d FROM t"
path "the search_path changed on the way" "$read; cmd:select p:h.patients.diagnosis t:h.e t:h.patients" "CREATE SCHEMA other" \
  "CREATE TABLE e AS SELECT diagnosis, set_config('search_path', 'other', false) AS s FROM h.patients" "SELECT diagnosis FROM h.e"
as_mallory "CREATE FUNCTION renames() RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN IF to_regclass('h.f') IS NOT NULL THEN ALTER TABLE h.f RENAME TO g; END IF; RETURN ''; END \$\$" >/dev/null
path "the new table renamed on the way" "~cmd:select p:h.patients.diagnosis t:h.g t:h.patients$" "CREATE TABLE f AS SELECT diagnosis, renames() AS r FROM h.patients" "SELECT diagnosis FROM h.g"
path "another table made on the way" "~cmd:select p:h.patients.diagnosis t:h.k t:h.patients$" \
  "CREATE FUNCTION makes() RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN CREATE TABLE IF NOT EXISTS h.bait (i int); RETURN 1; END \$\$" \
  "CREATE TABLE k AS SELECT diagnosis, makes() AS m FROM patients" "SELECT diagnosis FROM k"
path "undone and made again" "$read x2; $temp" "BEGIN" "SAVEPOINT a" "CREATE TEMP TABLE t AS $query" "ROLLBACK TO a" "CREATE TEMP TABLE t AS $query" "COMMIT" "TABLE t"
path "an innocent table of its name" "$read; cmd:select p:pg_temp.*.1 t:pg_temp.*" "CREATE TEMP TABLE t AS $query" "DROP TABLE t" "CREATE TEMP TABLE t (diagnosis text)" "TABLE t"
export PGAPPNAME=
as alice q "CREATE TABLE h.lent AS SELECT diagnosis FROM h.patients" "GRANT SELECT ON h.lent TO mallory" >/dev/null
path "a copy that somebody else made" "cmd:select p:h.patients.diagnosis t:h.lent t:h.patients" "TABLE lent"
q "CREATE TABLE h.official AS SELECT id, diagnosis FROM h.patients" "GRANT SELECT ON h.official TO mallory" >/dev/null
path "a copy that a superuser made" "cmd:select p:h.patients.diagnosis t:h.official t:h.patients" "SELECT diagnosis FROM official"

# --- laundering -------------------------------------------------------------------------------------------------------------
refused "a label public of a copy" 42501 "SECURITY LABEL FOR privacy_score ON COLUMN own.d.harmless IS 'public'"
refused "of a copy of a copy" 42501 "CREATE TABLE h.e2 AS SELECT diagnosis AS x FROM h.e" "SECURITY LABEL FOR privacy_score ON COLUMN h.e2.x IS 'public'"
refused "of a materialized view" 42501 "CREATE MATERIALIZED VIEW h.m0 AS SELECT diagnosis FROM h.patients" "SECURITY LABEL FOR privacy_score ON COLUMN h.m0.diagnosis IS 'public'"
refused "the records" 42501 "DELETE FROM privacy_score.copied_column"
refused "the functions that keep them" 42501 "SELECT privacy_score.tidy_copies()"
path "protecting one's own copy" "$outer; cmd:select p:h.patients.diagnosis t:h.e t:h.patients" "SELECT privacy_score.protect('e')" "SELECT diagnosis FROM e"
q "ALTER TABLE h.patients RENAME TO people" >/dev/null
path "the origin renamed" "cmd:select p:h.people.diagnosis t:h.people t:own.d" "TABLE own.d"
q "ALTER TABLE h.people RENAME TO patients" >/dev/null
q "SECURITY LABEL FOR privacy_score ON COLUMN h.lent.diagnosis IS 'public'" >/dev/null
path "published by who may" "cmd:select p:h.lent.diagnosis t:h.lent" "TABLE lent"

# --- materialized views -----------------------------------------------------------------------------------------------------
view="cmd:select p:h.patients.diagnosis t:h.m t:h.patients"
path "a materialized view" "$read; $view" "CREATE MATERIALIZED VIEW m AS $query" "TABLE m"
path "COPY of one" "cmd:select p:h.patients.diagnosis t:h.m t:h.patients" "COPY (TABLE m) TO STDOUT"
path "its view replaced by an innocent one" "$read; cmd:select p:h.patients.diagnosis t:h.m2 t:h.patients" "CREATE VIEW w AS $query" \
  "CREATE MATERIALIZED VIEW m2 AS TABLE w" "CREATE OR REPLACE VIEW w AS SELECT 'x'::text AS diagnosis" "TABLE m2"
path "a view in a circle" "$read; cmd:select p:h.patients.diagnosis t:h.m3 t:h.patients" "CREATE VIEW w3 AS $query" \
  "CREATE MATERIALIZED VIEW m3 AS TABLE w3" "CREATE OR REPLACE VIEW w3 AS TABLE m3" "TABLE m3"
check "no function of others is run for a definition" "$(as_mallory \
  "CREATE TABLE ran (who text)" "GRANT INSERT ON ran TO PUBLIC" \
  "CREATE FUNCTION trap() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT ''x''::text'" \
  "CREATE FUNCTION note() RETURNS void LANGUAGE sql AS 'INSERT INTO h.ran VALUES (current_user)'" \
  "CREATE FUNCTION bait() RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN PERFORM note(); RETURN 1; END \$\$" \
  "CREATE MATERIALIZED VIEW m4 AS SELECT diagnosis FROM patients WHERE bait() = 2 WITH NO DATA"; q "CREATE TEMP TABLE x AS SELECT 1 FROM h.patients" \
  "SELECT cardinality(privacy_score.abstract_query_analyzed('TABLE h.m4'))" "SELECT count(*) FROM h.ran")" "$(printf '4\n0')"

# --- statistics -------------------------------------------------------------------------------------------------------------
stats="SELECT most_common_vals FROM pg_stats"
path "pg_stats of a column" "$read" "$stats WHERE tablename = 'patients' AND attname = 'diagnosis' AND schemaname = 'h'"
path "pg_stats of an own table shows nothing protected" "" "CREATE TABLE plain (i int)" "$stats WHERE tablename = 'plain'"
path "pg_stats, names only" "" "SELECT tablename, attname FROM pg_stats WHERE tablename = 'patients'"
path "pg_stats of a copy" "$read" "ANALYZE own.d" "$stats WHERE schemaname = 'own' AND tablename = 'd'"
path "pg_stats in a prepared statement, whose parameters are not known" "$whole" \
  "PREPARE p(name) AS $stats WHERE schemaname = 'h' AND tablename = 'patients' AND attname = \$1" "EXECUTE p('id')"
path "pg_stats of everything" "~^cmd:select .*p:h.patients.city p:h.patients.diagnosis .*p:h.visits.ward t:.* t:h.visits$" "$stats"
path "pg_stats in a table" "$read; $temp" "CREATE TEMP TABLE t AS SELECT most_common_vals::text FROM pg_stats WHERE tablename = 'patients' AND attname = 'diagnosis' AND schemaname = 'h'" "TABLE t"

verify_paths
check "nothing went wrong" "$(q "SELECT scoring_errors FROM privacy_score.stat_info")" 0
done_testing

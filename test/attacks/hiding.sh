#!/bin/bash
# hiding.sh - a watched role tries to read without its statements being known for what they are: names that shadow
# others, names in its own schema, traps in the search_path, tables and columns that are renamed, statements that look
# like the server's own.
. "$(dirname "$0")/../attack.sh"
start_hospital
query="SELECT diagnosis FROM patients"
as mallory q_script >/dev/null <<'SQL' || bail_out "the traps cannot be made"
CREATE SCHEMA evil;
CREATE FUNCTION evil.get_relation_name(oid) RETURNS text LANGUAGE sql AS 'SELECT ''x''';
CREATE FUNCTION evil.unnest(anyarray) RETURNS SETOF anyelement LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END';
CREATE FUNCTION evil.pg_has_role(name, text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION evil.eq(name, name) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR evil.= (LEFTARG = name, RIGHTARG = name, FUNCTION = evil.eq);
CREATE TABLE evil.patients (diagnosis text);
CREATE TABLE evil.session (role name);
CREATE TABLE evil.pg_class (oid oid, relname name);
CREATE TABLE evil."patients.x" (d text);
CREATE TABLE h.mine (d text);
CREATE VIEW evil.visits AS SELECT id, diagnosis AS ward FROM h.patients;
SQL

# --- names ----------------------------------------------------------------------------------------------------------------
path "a search_path of traps" "$read" "SET search_path = evil, pg_catalog, h" "SELECT diagnosis FROM h.patients"
path "pg_catalog last" "$read" "SET search_path = evil, h, pg_catalog" "SELECT diagnosis FROM h.patients"
path "an empty search_path" "$read" "SET search_path = ''" "SELECT diagnosis FROM h.patients"
path "another table of the same name is another table" "cmd:select p:evil.patients.diagnosis t:evil.patients" "SET search_path = evil, h" "$query"
path "a table that is named pg_class is none of the server's" "cmd:select p:evil.pg_class.relname t:evil.pg_class" "SET search_path = evil, pg_catalog" "SELECT relname FROM evil.pg_class"
path "a table in a schema that is named pg_toast_x" "" "SET search_path = evil" "SELECT 1 FROM pg_catalog.pg_class"
path "a view that is named like another table" "cmd:select p:h.patients.diagnosis t:h.patients" "SET search_path = evil, h" "SELECT ward FROM visits"
path "a name with a dot" "cmd:select p:evil.\"patients.x\".d t:evil.\"patients.x\"" "SELECT d FROM evil.\"patients.x\""
path "aliases" "$read" "SELECT v.ward AS cost FROM (SELECT p.diagnosis AS id FROM patients AS p (id, city, first_name, diagnosis)) AS v (ward) WHERE false UNION ALL SELECT diagnosis FROM patients" 
path "a temporary table that shadows" "cmd:select p:pg_temp.*.1 t:pg_temp.*; $read" "CREATE TEMP TABLE patients (city text)" "SELECT city FROM patients" "SELECT diagnosis FROM h.patients"
path "a temporary table that is named like a catalog" "cmd:insert p:h.patients.diagnosis s:pg_temp.*.1 t:h.patients t:pg_temp.*" "CREATE TEMP TABLE pg_class (relname text)" "INSERT INTO pg_temp.pg_class SELECT diagnosis FROM patients"
path "a WITH query that is named like a table" "$read" "WITH patients AS (SELECT diagnosis FROM h.patients) SELECT diagnosis FROM patients" "WITH patients AS (SELECT 1 AS diagnosis) SELECT diagnosis FROM patients"
path "upper case, quotes, unicode" "$read x3" "SELECT DIAGNOSIS FROM H.PATIENTS" "SELECT \"diagnosis\" FROM \"h\".\"patients\"" "SELECT U&\"\\0064iagnosis\" FROM patients"
path "an own table that is renamed to the victim's name" "cmd:select p:h.mine.d t:h.mine; cmd:select p:evil.victims.diagnosis t:evil.victims" "SELECT d FROM mine" "BEGIN" \
  "ALTER TABLE mine RENAME TO victims" "ALTER TABLE victims RENAME d TO diagnosis" "ALTER TABLE victims SET SCHEMA evil" "SELECT diagnosis FROM evil.victims" "ROLLBACK"

# --- statements that look like the server's own -----------------------------------------------------------------------------
path "the text of a referential-integrity check" "cmd:select t:h.patients w:h.patients.id" "SELECT 1 FROM ONLY \"h\".\"patients\" x WHERE \"id\" OPERATOR(pg_catalog.=) 1"
path "the text of the worker's statements" "$read" "/* privacy_score worker */ SELECT diagnosis FROM h.patients -- SET privacy_score.mode = off"
path "PREPARE with the name of another" "$read; cmd:select p:h.patients.city t:h.patients" "PREPARE p AS $query" "EXECUTE p" "DEALLOCATE p" "PREPARE p AS SELECT city FROM patients" "EXECUTE p"
path "two statements with one text" "$read; cmd:select p:evil.patients.diagnosis t:evil.patients; $read" "$query" "SET search_path = evil" "$query" "SET search_path = h" "$query"

# --- statements in pieces ---------------------------------------------------------------------------------------------------
path "a column at a time" "cmd:select p:h.patients.id t:h.patients; cmd:select p:h.patients.first_name t:h.patients; $read" "SELECT id FROM patients" "SELECT first_name FROM patients" "$query"
path "through a temporary table" "cmd:insert p:h.patients.id s:pg_temp.*.1 t:h.patients t:pg_temp.*; cmd:update p:h.patients.diagnosis s:pg_temp.*.2 t:h.patients t:pg_temp.* w:h.patients.id w:pg_temp.*.1" \
  "CREATE TEMP TABLE t (i int, d text)" "INSERT INTO t (i) SELECT id FROM patients" "UPDATE t SET d = diagnosis FROM patients WHERE id = i"
path "through a setting" "$outer; $by_id" "SELECT set_config('my.d', 'x', false)" "SELECT current_setting('my.d')" "SELECT diagnosis FROM patients WHERE id = 1"
path "through a large object" "$read" "SELECT lo_from_bytea(0, diagnosis::bytea) FROM patients"
path "through advisory locks" "$read" "SELECT pg_advisory_lock(hashtext(diagnosis)) FROM patients"
path "through an error" "cmd:select p:h.patients.diagnosis t:h.patients x2" "DO \$\$BEGIN PERFORM diagnosis::int FROM h.patients; EXCEPTION WHEN OTHERS THEN NULL; END\$\$"
path "through a sequence" "cmd:select p:h.patients.id t:h.patients" "CREATE TEMP SEQUENCE s" "SELECT setval('s', id) FROM patients"
path "through time" "cmd:select p:h.patients.diagnosis t:h.patients w:h.patients.id" "SELECT pg_sleep(length(diagnosis) * 0.001) FROM patients WHERE id = 1"
verify_paths
done_testing

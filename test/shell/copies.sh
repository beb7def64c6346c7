#!/bin/bash
# copies.sh - the record of copies: dump and restore into a cluster with other OIDs and attribute numbers, dropped copies
# and origins, what happens without the library, faults while recording.
. "$(dirname "$0")/../lib.sh"

# tokens SQL: what a statement reveals by the server's own analysis.
tokens() { q "SELECT array_to_string(privacy_score.abstract_query_analyzed('$1'), ' ')"; }

start_server "privacy_score.flush_interval = '100ms'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" \
  "CREATE TABLE patients (id int PRIMARY KEY, gone text, city text, diagnosis text)" "ALTER TABLE patients DROP gone" \
  "CREATE TABLE visits (id int PRIMARY KEY, reason text)" "GRANT SELECT ON patients, visits TO alice" \
  "GRANT CREATE ON SCHEMA public TO alice" "SELECT privacy_score.protect('patients')" "SELECT privacy_score.protect('visits')" >/dev/null
as alice q "CREATE TABLE copy AS SELECT 1 AS first, city, diagnosis FROM patients" "ALTER TABLE copy DROP first" \
  "ALTER TABLE copy RENAME city TO town" "ALTER TABLE copy RENAME diagnosis TO city" \
  "CREATE TABLE orphan AS SELECT reason FROM visits" "CREATE MATERIALIZED VIEW kept AS SELECT diagnosis FROM patients" \
  "CREATE TABLE published AS SELECT city FROM patients" >/dev/null
q "SECURITY LABEL FOR privacy_score ON COLUMN published.city IS 'public'" "DROP TABLE visits" \
  "CREATE TEMP TABLE for_now AS TABLE patients" "SELECT pg_sleep(0)" >/dev/null
copies="TABLE copy; TABLE orphan; TABLE kept; TABLE published"
expected="cmd:select p:public.patients.city p:public.patients.diagnosis p:public.published.city p:public.visits.reason t:public.copy t:public.kept t:public.orphan t:public.patients t:public.published t:public.visits"
check "copies before the dump" "$(tokens "$copies")" "$expected"
check "a renamed column of a copy" "$(tokens "SELECT town FROM copy")" "cmd:select p:public.patients.city t:public.copy t:public.patients"
orphan=$(q "SELECT origin::oid FROM privacy_score.copied_column WHERE relation = 'orphan'::regclass")
# The OID of an origin that is gone is in the dump as it is; where that is restored it is some other relation's, or will be.
q "UPDATE privacy_score.copied_column SET origin = 'pg_catalog.pg_class'::regclass WHERE relation = 'orphan'::regclass" >/dev/null
check_true "pg_dump works" "$PS_BINDIR/pg_dump" -Fc -f "$PS_TMP/dump" postgres

# --- another cluster, without the library: nothing is recorded there but what the dump brings --------------------------------
use_server other
start_server
q "SELECT lo_unlink(lo_create(0)) FROM generate_series(1, 1000)" >/dev/null
q "CREATE ROLE alice LOGIN" "CREATE DATABASE restored TEMPLATE template0" >/dev/null
export PGDATABASE=restored
check "pg_restore reports nothing" "$("$PS_BINDIR/pg_restore" -d restored "$PS_TMP/dump" 2>&1)" ""
check_true "OIDs are other ones" test "$(q "SELECT 'copy'::regclass::oid")" != "$(use_server main; PGDATABASE=postgres q "SELECT 'copy'::regclass::oid")"
check "attribute numbers are other ones" "$(q "SELECT attnum FROM pg_attribute WHERE attrelid = 'copy'::regclass AND attname = 'town'")" 1
check "copies after the restore" "$(tokens "$copies")" "$expected"
check "renamed columns are still told apart" "$(tokens "SELECT town FROM copy")" "cmd:select p:public.patients.city t:public.copy t:public.patients"
check "temporary copies are not dumped" "$(q "SELECT count(*) FROM privacy_score.copied_column WHERE relation::oid NOT IN (SELECT oid FROM pg_class)")" 0
check "numbers are those of this server" "$(q "SELECT bool_and(c.relation_oid = c.relation AND a.attname = c.attribute) FROM privacy_score.copied_column c
  LEFT JOIN pg_attribute a ON a.attrelid = c.relation AND a.attnum = c.number")" t
# A record from a dump whose OID is this server's by chance, and one of a column that is not there.
q "CREATE TABLE same (a int, town text)" "INSERT INTO privacy_score.copied_column VALUES
  ('same', 'same'::regclass, 'town', 1, 'patients', 'public.patients', 'city', 1),
  ('same', 'same'::regclass, 'gone', 1, 'patients', 'public.patients', 'id', 1)" >/dev/null
check "names hold where OIDs agree by chance" "$(tokens "SELECT a, town FROM same")" \
  "cmd:select p:public.patients.city p:public.same.a t:public.patients t:public.same"
q "DROP TABLE same" "SELECT privacy_score.tidy_copies()" "ALTER TABLE copy RENAME town TO place" >/dev/null
check "and renamed again" "$(tokens "SELECT place FROM copy")" "cmd:select p:public.patients.city t:public.copy t:public.patients"
q "SELECT privacy_score.tidy_copies()" >/dev/null
check "the worker changes nothing" "$(tokens "$copies")" "$expected"
check_match "an origin that is gone has no OID any more" "$(q "SELECT DISTINCT origin FROM privacy_score.copied_column WHERE relation = 'orphan'::regclass")" "^-$"

# --- dropped copies --------------------------------------------------------------------------------------------------------
q "DROP TABLE copy" "DROP MATERIALIZED VIEW kept" "SELECT privacy_score.tidy_copies()" >/dev/null
check "records of dropped copies go" "$(q "SELECT count(*) FROM privacy_score.copied_column WHERE relation::oid NOT IN (SELECT oid FROM pg_class)")" 0

# --- faults while recording --------------------------------------------------------------------------------------------------
q "ALTER TABLE privacy_score.copied_column ADD CHECK (origin_attribute <> 'diagnosis')" >/dev/null
check "in observe a copy is made nevertheless" "$(q "CREATE TABLE faulty AS SELECT diagnosis FROM patients" "SELECT count(*) FROM faulty")" 0
check "the fault is counted" "$(q "SELECT scoring_errors > 0 FROM privacy_score.stat_info")" t
check "in enforce it is refused" "$(PGOPTIONS='-c privacy_score.mode=enforce' q_state "CREATE TABLE faulty2 AS SELECT diagnosis FROM patients")" 23514
q "DROP TABLE faulty" >/dev/null

# --- loaded, but not in this database; in it, but not loaded -------------------------------------------------------------------
check "without the extension" "$(on postgres q "CREATE TABLE p (i int)" "CREATE TABLE c AS TABLE p" "ALTER TABLE c RENAME i TO j" "SELECT count(*) FROM c")" 0
q "DROP EXTENSION privacy_score" "CREATE TABLE c AS TABLE patients" "ALTER TABLE c RENAME city TO d" >/dev/null
check "after DROP EXTENSION" "$(q "SELECT count(d) FROM c")" 0
done_testing

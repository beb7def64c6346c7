#!/bin/bash
# dump.sh - pg_dump and restore into a cluster with other OIDs; a protected table that was dropped before; DROP EXTENSION
# and CREATE EXTENSION again while sessions run.
. "$(dirname "$0")/../lib.sh"

recorded="SELECT COALESCE(sum(queries), 0) FROM privacy_score.session"
# What must be equal in both clusters; nothing in it is an OID.
durable="SELECT (SELECT string_agg(s::text, E'\n' ORDER BY s.id) FROM privacy_score.session s)
  || (SELECT string_agg(p::text, E'\n' ORDER BY p.session_id, p.part) FROM privacy_score.session_part p)
  || (SELECT string_agg(a::text, E'\n' ORDER BY a.id) FROM privacy_score.abstraction a)
  || (SELECT string_agg(b::text, E'\n' ORDER BY b.id) FROM privacy_score.baseline b)
  || (SELECT string_agg(n::text, E'\n' ORDER BY n.baseline_id, n.ngram) FROM privacy_score.baseline_ngram n)
  || (SELECT string_agg(n::text, E'\n' ORDER BY n.baseline_id, n.ids) FROM privacy_score.baseline_session n)
  || (SELECT string_agg(a::text, E'\n' ORDER BY a.id) FROM privacy_score.alert a)
  || (SELECT string_agg(d::text, E'\n' ORDER BY d::text) FROM privacy_score.dependency d)
  || (SELECT string_agg(p.relation || ' ' || p.subject::text || p.attributes || p.labelled, E'\n' ORDER BY p.relation::text) FROM privacy_score.protected_relations p)
  || (SELECT string_agg(l.objname || l.label, ',' ORDER BY l.objname) FROM pg_seclabels l WHERE l.provider = 'privacy_score')"
scores="SELECT string_agg(s::text, E'\n' ORDER BY s::text) FROM privacy_score.score_sessions('alice', '-infinity', 'infinity') s"

start_server
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" \
  "CREATE TABLE patients (id int PRIMARY KEY, first_name text, city text, region text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'f' || i % 17, 'c' || i % 13, 'r' || i % 13 % 4, 'd' || i % 7 FROM generate_series(1, 200) i" \
  "CREATE TABLE \"Odd Name\" (\"Key\" int, \"a.b\" text)" "INSERT INTO \"Odd Name\" VALUES (1, 'x'), (2, 'y')" \
  "CREATE TABLE gone (id int PRIMARY KEY, secret text)" \
  "GRANT SELECT ON patients, \"Odd Name\" TO alice" \
  "SELECT privacy_score.protect('patients')" "SELECT privacy_score.protect('\"Odd Name\"', '{Key}')" "SELECT privacy_score.protect('gone')" \
  "SELECT privacy_score.confirm_dependency('patients', 'city', 'region')" \
  "SECURITY LABEL FOR privacy_score ON COLUMN patients.diagnosis IS 'sensitive'" \
  "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'watched'" >/dev/null
as alice q "SELECT city FROM patients" "SELECT region FROM patients" >/dev/null
wait_for "$recorded" 2
q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" "SELECT privacy_score.flush()" \
  "ALTER ROLE alice SET privacy_score.session_limit = 0" >/dev/null
as alice q "SELECT first_name, diagnosis FROM patients" "SELECT \"a.b\" FROM \"Odd Name\"" "SELECT pg_sleep(0.5)" >/dev/null
wait_for "$recorded" 5
check_true "there is an alert to dump" wait_for "SELECT count(*) FROM privacy_score.alert" 1
gone=$(q "SELECT 'gone'::regclass::oid")
q "ALTER TABLE patients RENAME TO people" "DROP TABLE gone" >/dev/null
scores_before=$(q "$scores")
before=$(q "$durable")
check_match "there is something to dump" "$before" "p:public.patients.diagnosis.*watched|sensitive"

check_true "pg_dump works, a protected table having been dropped" "$PS_BINDIR/pg_dump" -Fc -f "$PS_TMP/dump" postgres
check_true "pg_dumpall --globals-only works" "$PS_BINDIR/pg_dumpall" -g -f "$PS_TMP/globals.sql"

# --- the other cluster: other OIDs, and an innocent table that has the OID of the dropped one ------------------------------
use_server other
start_server
for _ in $(seq 20); do q "CREATE TABLE filler (id int)" "DROP TABLE filler" >/dev/null; done
"$PS_BINDIR/psql" -Xq -f "$PS_TMP/globals.sql" >/dev/null 2>&1
q "CREATE DATABASE restored TEMPLATE template0" >/dev/null
export PGDATABASE=restored
restore_errors=$("$PS_BINDIR/pg_restore" -d restored "$PS_TMP/dump" 2>&1)
check "pg_restore reports nothing" "$restore_errors" ""
check "history, baselines, alerts, declarations, labels are equal" "$(q "$durable")" "$before"
check "scores are equal" "$(q "$scores")" "$scores_before"
q "CREATE DATABASE parallel TEMPLATE template0" >/dev/null
check "a parallel pg_restore reports nothing" "$("$PS_BINDIR/pg_restore" -j 4 -d parallel "$PS_TMP/dump" 2>&1)" ""
check "and brings the same" "$(on parallel q "$durable")" "$before"
check_true "OIDs are other ones" test "$(q "SELECT 'people'::regclass::oid")" != "$(use_server main; PGDATABASE=postgres q "SELECT 'people'::regclass::oid")"
check "a dropped table protects nothing else in the other cluster" \
  "$(q "SELECT count(*) FROM privacy_score.protected_relation WHERE relation::oid = $gone")" 0
check "ids go on where they were" "$(q "SELECT nextval('privacy_score.session_id_seq') > max(id & 1099511627775) FROM privacy_score.session")" t
as alice q "SELECT first_name, diagnosis FROM people" "SELECT city FROM people" "SELECT pg_sleep(0.5)" >/dev/null
check_true "the restored database records on" wait_for "$recorded" 8
check_true "and alerts" wait_for "SELECT count(*) FROM privacy_score.alert" 2
check_true "a second dump is like the first" bash -c "$PS_BINDIR/pg_dump -Fc -f $PS_TMP/again restored && $PS_BINDIR/pg_dump --schema-only restored >/dev/null"

# --- DROP EXTENSION while a session runs ----------------------------------------------------------------------------------
mkfifo "$PS_TMP/alice"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >"$PS_TMP/alice.out" 2>&1 &
exec 3>"$PS_TMP/alice"
says() {
  for _ in $(seq 3000); do grep -qx "$1" "$PS_TMP/alice.out" && return; sleep 0.1; done
  return 1
}
echo "PREPARE p AS SELECT count(city) FROM people; EXECUTE p; SELECT 'first';" >&3
says first
check "DROP EXTENSION works while a watched session runs" "$(q "DROP EXTENSION privacy_score")" ""
check "the schema is gone, nothing is left" \
  "$(q "SELECT count(*) FROM pg_namespace WHERE nspname = 'privacy_score' UNION ALL
        SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND refobjid NOT IN (SELECT oid FROM pg_extension) UNION ALL
        SELECT count(*) FROM pg_proc WHERE probin LIKE '%privacy_score%'")" "0
0
0"
echo "EXECUTE p; SELECT count(diagnosis) FROM people; SELECT 'second';" >&3
check_true "the session goes on" says second
check "without error" "$(grep -cE 'ERROR|WARNING|FATAL' "$PS_TMP/alice.out")" 0
check "CREATE EXTENSION works again" "$(q "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('people')")" ""
echo "EXECUTE p; SELECT count(diagnosis) FROM people; SELECT 'third';" >&3
check_true "the session goes on" says third
check_true "and is watched at once" wait_for "SELECT sum(queries) >= 2 FROM privacy_score.session" t
check "all its abstractions are defined" \
  "$(q "SELECT count(*) FROM privacy_score.session_part p, unnest(p.ids) i WHERE NOT EXISTS (SELECT FROM privacy_score.abstraction a WHERE a.id = i)")" 0
check "its history can be scored" "$(q_state "SELECT * FROM privacy_score.score('alice', '-infinity', 'infinity')")" 00000
q "BEGIN" "DROP EXTENSION privacy_score" "SELECT pg_sleep(1.5)" "COMMIT" "CREATE EXTENSION privacy_score" >/dev/null &
dropping=$!
wait_for "SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname = 'protected_relation' AND l.mode = 'AccessExclusiveLock' AND l.granted" 1
check "DROP EXTENSION while a session begins that asks its tables" "$(as alice q_state "SELECT count(*) FROM people")" 00000
wait $dropping
for _ in 1 2 3 4 5; do
  q "DROP EXTENSION privacy_score" "CREATE EXTENSION privacy_score" >>"$PS_TMP/again.out"
  echo "EXECUTE p; SELECT count(city) FROM people;" >&3
done
check "DROP EXTENSION does not fall into a deadlock with the worker" "$(cat "$PS_TMP/again.out")" ""
sleep 0.5
echo "EXECUTE p; SELECT 'fourth';" >&3
check_true "dropped and created in quick succession it keeps up" says fourth
q "SELECT privacy_score.flush()" >/dev/null
check "and all abstractions are defined" \
  "$(q "SELECT count(*) FROM privacy_score.session_part p, unnest(p.ids) i WHERE NOT EXISTS (SELECT FROM privacy_score.abstraction a WHERE a.id = i)")" 0
q "BEGIN" "DROP EXTENSION privacy_score" "ROLLBACK" >/dev/null
before=$(q "$recorded")
echo "EXECUTE p; SELECT 'fifth';" >&3
says fifth
check_true "a DROP that is rolled back changes nothing" wait_for "SELECT ($recorded) > $before" t
exec 3>&-
check "the session saw no error" "$(grep -cE 'ERROR|WARNING|FATAL' "$PS_TMP/alice.out")" 0
# The worker may be at work when the extension goes; it says so, leaves and comes back.
check "nor did the server" "$(grep -E 'ERROR|PANIC|terminated by signal' "$ps_log" | grep -vE 'role "postgres" already exists|"?privacy_score.* does not exist')" ""

done_testing

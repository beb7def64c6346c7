#!/bin/bash
# churn.sh - whoever declares, labels, renames, copies and asks for rates of own tables all the time stops nobody
# else: statements of others are neither refused nor kept waiting, and alerts are raised. Changes of what a statement
# touches are waited for.
. "$(dirname "$0")/../attack.sh"

start_hospital "log_min_messages = debug1"
q "CREATE ROLE bob LOGIN" "CREATE ROLE ann LOGIN" "CREATE ROLE eve LOGIN" "GRANT USAGE ON SCHEMA h TO bob, ann" \
  "GRANT SELECT ON h.patients TO bob, ann" "GRANT CREATE ON DATABASE postgres TO eve" \
  "SECURITY LABEL FOR privacy_score ON ROLE bob IS 'watched'" "SECURITY LABEL FOR privacy_score ON ROLE ann IS 'watched'" \
  "SECURITY LABEL FOR privacy_score ON ROLE eve IS 'watched'" >/dev/null
as bob q "SELECT count(*) FROM h.patients" "SELECT city FROM h.patients LIMIT 1" >/dev/null
as ann q "SELECT count(*) FROM h.patients" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline(r, privacy_score.today(), privacy_score.today()) FROM unnest('{bob,ann}'::name[]) r" \
  "ALTER ROLE bob SET privacy_score.mode = enforce" "ALTER ROLE bob SET privacy_score.session_limit = 0.7" \
  "ALTER ROLE ann SET privacy_score.mode = warn" "ALTER ROLE ann SET privacy_score.session_limit = 0.2" >/dev/null
as eve q "CREATE SCHEMA m" "CREATE SCHEMA n" "CREATE TABLE n.a (a int, b int)" \
  "CREATE TABLE m.own (a int, b int, c int, d int)" "INSERT INTO m.own SELECT i, i % 7, i % 3, i % 5 FROM generate_series(1, 10) i" \
  "CREATE TABLE m.labelled AS TABLE m.own" "CREATE TABLE m.dependent AS TABLE m.own" "CREATE TABLE m.renamed AS TABLE m.own" \
  "CREATE TABLE m.analysed AS TABLE m.own" "CREATE TABLE m.family (a int)" "CREATE TABLE m.child () INHERITS (m.family)" \
  "SELECT privacy_score.protect(t::regclass, '{a}') FROM unnest('{m.labelled,m.dependent,m.renamed,m.analysed}'::text[]) t" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null

# --- what a statement touches is waited for, and nothing else ---------------------------------------------------------
# Every model lists what is accepted, so the worker cannot build one while the lock is held.
rm -f "$PS_TMP/locker"
mkfifo "$PS_TMP/locker"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/locker" >/dev/null 2>&1 &
exec 5>"$PS_TMP/locker"
bob_waits="SELECT count(*) FROM pg_stat_activity WHERE usename = 'bob' AND wait_event_type = 'Extension'"
while_locked() {
  echo "BEGIN; LOCK TABLE privacy_score.acceptance_ngram IN ACCESS EXCLUSIVE MODE;" >&5
  wait_for "SELECT count(*) FROM pg_locks WHERE relation = 'privacy_score.acceptance_ngram'::regclass AND mode = 'AccessExclusiveLock' AND granted" 1
}
unlock() {
  echo "COMMIT;" >&5
  wait_for "SELECT count(*) FROM pg_locks WHERE relation = 'privacy_score.acceptance_ngram'::regclass AND mode = 'AccessExclusiveLock'" 0
  q "SELECT privacy_score.flush()" >/dev/null
}
# waits|passes WHAT WHO STATEMENT...: bob's statement, after somebody's while no model can be built, waits until one can be; it then passes.
waits() {
  local said=$PS_TMP/bob.said
  while_locked
  as "$2" q "${@:3}" >/dev/null
  as bob q "SELECT count(*) FROM h.patients" >"$said" 2>/dev/null &
  wait_for "$bob_waits" 1 || fail "$1 makes it wait"
  unlock
  wait $!
  check "$1 is waited for" "$(cat "$said")" 100
}
passes() {
  while_locked
  as "$2" q "${@:3}" >/dev/null
  check "$1 is not waited for" "$(as bob q "SELECT count(*) FROM h.patients")" 100
  unlock
}
waits "a label of a relation that is read" postgres "SECURITY LABEL FOR privacy_score ON COLUMN h.patients.city IS 'quasi-identifier'"
waits "its declaration" postgres "SELECT privacy_score.unprotect('h.patients')"
waits "its being protected again" postgres "SELECT privacy_score.protect('h.patients')"
waits "a dependency of it" postgres "SELECT privacy_score.confirm_dependency('h.patients', 'id', 'city')"
waits "the new name of its schema" postgres "ALTER SCHEMA h RENAME TO g" "ALTER SCHEMA g RENAME TO h"
waits "that its column had another name" postgres "ALTER TABLE h.patients RENAME city TO town" "ALTER TABLE h.patients RENAME town TO city"
passes "another relation's declaration" eve "SELECT privacy_score.protect('m.own', '{a}')"
passes "another relation's label" eve "SECURITY LABEL FOR privacy_score ON COLUMN m.labelled.b IS 'sensitive'"
passes "another schema's name" eve "ALTER SCHEMA n RENAME TO n2" "ALTER SCHEMA n2 RENAME TO n"
passes "another role's baseline" postgres "SELECT privacy_score.drop_baseline('ann')"
q "SELECT privacy_score.activate_baseline(id) FROM privacy_score.baseline WHERE role = 'ann'" >/dev/null
# A model that comes while a statement waits may know less than the one before: not what the statement needs.
while_locked
q "SELECT privacy_score.drop_baseline('bob')" >/dev/null
as bob q "SELECT count(*) FROM h.patients" >"$PS_TMP/bob.said" 2>/dev/null &
check_true "the role's own baseline is waited for" wait_for "$bob_waits" 1
unlock
wait $!
check "a statement that only a dropped baseline had is scored" "$(cat "$PS_TMP/bob.said")" 100
q "SELECT privacy_score.activate_baseline(id) FROM privacy_score.baseline WHERE role = 'bob'" >/dev/null
waits "what is inherited by a relation that is read" postgres "CREATE TABLE h.parent (id int)" "ALTER TABLE h.patients INHERIT h.parent" \
  "SELECT privacy_score.protect('h.parent')" "SELECT privacy_score.unprotect('h.parent')"
q "ALTER TABLE h.patients NO INHERIT h.parent" "DROP TABLE h.parent" "SELECT privacy_score.flush()" >/dev/null
echo "\\q" >&5
exec 5>&-

# --- many at once -------------------------------------------------------------------------------------------------------
number=$(by_length 60 500)
many() { as eve q "DO \$\$BEGIN FOR i IN 1 .. $number LOOP EXECUTE format('$1', i); $2 END LOOP; END\$\$"; }
many "CREATE TABLE m.many%s (a int, b int)" "PERFORM privacy_score.protect(format('m.many%s', i));"
known="as bob q 'SELECT count(*) FROM h.patients' 'SELECT city FROM h.patients LIMIT 1'"
check "$number declarations in one transaction stop nobody" "$(eval "$known")" "100
c1"
many "DROP TABLE m.many%s" ""

# --- all at once, without end ---------------------------------------------------------------------------------------------
q "SELECT privacy_score.analyze_relation('h.patients')" "SELECT privacy_score.analyze_relation('h.patients', '{diagnosis,first_name}')" \
  "SELECT privacy_score.flush()" >/dev/null
churners=()
# churn NAME "STATEMENTS": eve runs them again and again in one session, each a transaction, and counts the rounds.
churn() {
  as eve q "CREATE SEQUENCE m.$1" >/dev/null
  PGOPTIONS="-c client_min_messages=warning" as eve "$PS_BINDIR/psql" -XAtq -c "DO \$\$BEGIN LOOP ${2//;/; COMMIT;} PERFORM nextval('m.$1'); END LOOP; END\$\$" \
    </dev/null >"$PS_TMP/$1.said" 2>&1 &
  churners+=("$1")
}
churn declaring "PERFORM privacy_score.protect('m.own', '{a}'); PERFORM privacy_score.unprotect('m.own');"
churn labelling "SECURITY LABEL FOR privacy_score ON COLUMN m.labelled.c IS 'sensitive'; SECURITY LABEL FOR privacy_score ON COLUMN m.labelled.c IS NULL;"
churn confirming "PERFORM privacy_score.confirm_dependency('m.dependent', 'a', 'b'); PERFORM privacy_score.withdraw_dependency('m.dependent', 'a', 'b');"
churn renaming "ALTER TABLE m.renamed RENAME TO other; ALTER TABLE m.other RENAME a TO z; ALTER TABLE m.other RENAME z TO a; ALTER TABLE m.other RENAME TO renamed;
  ALTER SCHEMA n RENAME TO n2; ALTER SCHEMA n2 RENAME TO n;"
churn making "CREATE TABLE m.fresh (a int PRIMARY KEY); PERFORM privacy_score.protect('m.fresh'); CREATE TABLE m.copy AS TABLE m.labelled;
  PERFORM privacy_score.protect('m.copy'); DROP TABLE m.fresh, m.copy;"
churn asking "DELETE FROM m.analysed WHERE a = 1; INSERT INTO m.analysed VALUES (1, 1, 1, 1); PERFORM privacy_score.analyze_relation('m.analysed');
  PERFORM a, b FROM m.analysed LIMIT 0 + 0; PERFORM b, c, d FROM m.labelled LIMIT 0 + 0;"
churn inheriting "PERFORM privacy_score.protect('m.family'); ALTER TABLE m.child NO INHERIT m.family; ALTER TABLE m.child INHERIT m.family;
  PERFORM privacy_score.unprotect('m.family');"
for name in "${churners[@]}"; do wait_for "SELECT last_value > 1 FROM m.$name" t; done
rounds() { for name in "${churners[@]}"; do q "SELECT last_value FROM m.$name"; done; }
mapfile -t before < <(rounds)
answers=$(for _ in $(seq 3); do as bob q "SELECT count(*) FROM h.patients" "SELECT city FROM h.patients LIMIT 1" "SELECT count(*) FROM h.patients"; done | sort | uniq -c | tr -s ' \n' ' ')
check "no known statement is refused" "$answers" " 6 100 3 c1 "
check_match "in mode warn the client is warned" "$(as ann q_all "SELECT diagnosis, first_name FROM h.patients LIMIT 1")" "WARNING:  session privacy score"
check_true "and the alert is written" wait_for "SELECT count(*) FROM privacy_score.alerts WHERE role = 'ann' AND kind = 'session'" 1
check "what is above the limit is refused by its score" "$(as bob q "SELECT id, diagnosis, first_name FROM h.patients WHERE id = 3" | sed 's/score would.*//')" "ERROR: statement refused: its session privacy "
check "flush() answers" "$(q_state "SET statement_timeout = '20s'" "SELECT privacy_score.flush()")" 00000
mapfile -t after < <(rounds)
for i in "${!churners[@]}"; do
  check "${churners[i]} went on all the while" "$((after[i] > before[i])) $(cat "$PS_TMP/${churners[i]}.said")" "1 "
done
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'eve'" >/dev/null
wait

# --- rates that take long --------------------------------------------------------------------------------------------
# Of few rows: of one table the bytes are many, of the other only when they are unpacked.
# Filled by somebody who is not watched: nobody's session asks for rates of the one before those of the other are there.
as eve q "CREATE TABLE m.fat (a int, b text)" "CREATE TABLE m.packed (a int, b text)" >/dev/null
q "INSERT INTO m.packed SELECT i, repeat('x', 900000) || i FROM generate_series(1, 1000) i" \
  "ALTER TABLE m.fat ALTER b SET STORAGE EXTERNAL" "INSERT INTO m.fat SELECT i, repeat('y', 300000) || i FROM generate_series(1, 60) i" \
  "ALTER TABLE m.fat ALTER b SET STORAGE EXTENDED" "INSERT INTO m.fat SELECT p.* FROM m.packed p, generate_series(1, 2)" >/dev/null
as eve q "SELECT privacy_score.protect('m.fat', '{a}'), privacy_score.protect('m.packed', '{a}')" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
apart="SELECT pid FROM pg_stat_activity WHERE backend_type = 'privacy_score rates'"
# The log tells of a process that may have ended by now.
begun() { grep -c 'starting background worker process "privacy_score rates' "$ps_log"; }
another_has_begun() { [ "$(begun)" -gt "$earlier" ]; }
# No machine unpacks the second one in so short a time.
conf "privacy_score.rate_patience = '50ms'"
reload_server
for table in fat packed; do
  # One that is still at work would take the next table's rates along.
  q "SELECT privacy_score.flush()" >/dev/null
  wait_for "SELECT count(*) FROM ($apart) x" 0
  earlier=$(begun)
  as eve q "SELECT b FROM m.$table LIMIT 0 + 0" >/dev/null
  check_true "a process of its own computes rates of m.$table" wait_until another_has_begun
  if [ $table = fat ]; then
    # Of twice the bytes that take a second, so that it is met at work.
    wait_for "SELECT count(*) FROM ($apart) x" 1
    pid=$(q "$apart")
    kill -STOP "$pid"
    as eve q "SELECT 1" >/dev/null
    q "SECURITY LABEL FOR privacy_score ON COLUMN h.patients.city IS NULL" >/dev/null
    check "meanwhile changes are taken in" "$(as bob q "SELECT count(*) FROM h.patients")" 100
    check "and flush() answers" "$(q_state "SET statement_timeout = '30s'" "SELECT privacy_score.flush()")|$(q "$apart")" "00000|$pid"
    kill -CONT "$pid"
  fi
  check_true "and they come" wait_for "SELECT count(*) > 0 FROM privacy_score.rate WHERE relation_name = 'm.$table'" t
done
check "there was no fault" "$(q "SELECT count(*) FROM privacy_score.alerts WHERE kind = 'fault'")" 0
check_scored
done_testing

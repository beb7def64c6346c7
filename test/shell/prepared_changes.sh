#!/bin/bash
# prepared_changes.sh - labels, declarations and baselines that a prepared transaction changes hold from COMMIT PREPARED on, in
# every open session, whoever commits it, after a restart, a crash and a promotion as well; ROLLBACK PREPARED leaves nothing.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.worker_stays = '1h'" "max_prepared_transactions = 10" "privacy_score.mode = 'enforce'" "privacy_score.session_limit = 0.5" \
  "privacy_score.end_user_source = 'setting app.user'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE ROLE app LOGIN" "CREATE ROLE deputy LOGIN SUPERUSER" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text)" "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 5 FROM generate_series(1, 100) i" \
  "CREATE TABLE others (id int PRIMARY KEY, name text)" "INSERT INTO others SELECT i, 'o' || i FROM generate_series(1, 100) i" \
  "GRANT SELECT ON patients, others TO alice, app" "ANALYZE" "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" "SELECT privacy_score.flush()" >/dev/null || bail_out "the tables cannot be made"

# states ROLE STATEMENT...: runs them in one session of that role and prints what each ends with. "ELSEWHERE SQL; SQL" runs
# in a session of a superuser meanwhile.
states() {
  local role=$1 statement
  shift
  for statement in "$@"; do
    case $statement in
      "ELSEWHERE "*) printf '\\! %s/psql -XAtq -U postgres -c "%s" 2>&1\n' "$PS_BINDIR" "${statement#ELSEWHERE }" | sed 's/; /" -c "/g' ;;
      *) printf '%s;\n\\echo sqlstate :SQLSTATE\n' "$statement" ;;
    esac
  done | PGUSER=$role "$PS_BINDIR/psql" -XAtq 2>/dev/null | sed -n 's/^sqlstate //p' | paste -sd ' '
}
prepare() { q "BEGIN" "$1" "PREPARE TRANSACTION 'change'" >/dev/null || echo "not prepared: $1"; }
ask="SELECT name FROM patients WHERE id = 7"
label="SECURITY LABEL FOR privacy_score ON ROLE alice IS"

# --- what has been changed holds from COMMIT PREPARED on ---------------------------------------------------------------------
check "a label of a role, in a session that is open, and for a plan that it has kept" \
  "$(states alice "PREPARE p AS $ask" "EXECUTE p" "ELSEWHERE BEGIN; $label 'dp only'; PREPARE TRANSACTION 'change'" "EXECUTE p" "SELECT 1" "EXECUTE p" \
    "ELSEWHERE COMMIT PREPARED 'change'" "EXECUTE p")" "00000 00000 00000 00000 00000 00000"
q "SELECT privacy_score.protect('patients', 'id')" >/dev/null
check "refused where the relation is protected" "$(states alice "$ask")" PS001
prepare "$label NULL"
check "the old label holds as long as it is prepared, and the new one from then on" "$(states alice "$ask" "ELSEWHERE COMMIT PREPARED 'change'" "SELECT 1")" "PS001 00000"
check "by a label of a role no more" "$(q "SELECT count(*) FROM pg_seclabels WHERE provider = 'privacy_score' AND objname = 'alice'")" 0
prepare "$label 'dp only'"
check "ROLLBACK PREPARED leaves nothing of it" "$(states alice "ELSEWHERE ROLLBACK PREPARED 'change'" "SELECT count(city) FROM patients")" 00000
check "a name of a transaction is used again, and what was rolled back under it is not announced" \
  "$(prepare "$label 'exempt'"; states alice "SELECT count(city) FROM patients" "ELSEWHERE COMMIT PREPARED 'change'" "$ask" "SELECT * FROM patients")" "00000 00000 00000"
q "$label NULL" >/dev/null

check "the label of an end user" \
  "$(states app "SET app.\"user\" = 'carl'" "SELECT count(city) FROM patients" "ELSEWHERE BEGIN; SELECT privacy_score.label_end_user('app', 'carl', 'dp only'); PREPARE TRANSACTION 'change'" \
    "SELECT count(city) FROM patients" "ELSEWHERE COMMIT PREPARED 'change'" "SELECT count(city) FROM patients")" "00000 00000 00000 PS001"
check "a declaration: what is new is scored once the relation is protected, and refused" \
  "$(states alice "SELECT name FROM others" "ELSEWHERE BEGIN; SELECT privacy_score.protect('others', 'id'); PREPARE TRANSACTION 'change'" "SELECT id, name FROM others" \
    "ELSEWHERE COMMIT PREPARED 'change'; SELECT privacy_score.flush()" "SELECT * FROM others ORDER BY name")" "00000 00000 PS001"
check "and no more once it is not" \
  "$(states alice "SELECT * FROM others ORDER BY name" "ELSEWHERE BEGIN; SELECT privacy_score.unprotect('others'); PREPARE TRANSACTION 'change'" "SELECT * FROM others ORDER BY name" \
    "ELSEWHERE COMMIT PREPARED 'change'; SELECT privacy_score.flush()" "SELECT * FROM others ORDER BY id")" "PS001 PS001 00000"

# --- baselines -----------------------------------------------------------------------------------------------------------------
q "ALTER SYSTEM SET privacy_score.mode = 'observe'" "SELECT pg_reload_conf()" >/dev/null
wait_for "SHOW privacy_score.mode" observe
as alice q "$ask" "SELECT city FROM patients" >/dev/null
q "SELECT privacy_score.flush()" "ALTER SYSTEM RESET privacy_score.mode" "SELECT pg_reload_conf()" >/dev/null
wait_for "SHOW privacy_score.mode" enforce
usual="SELECT city FROM patients"
check "a baseline: what was refused is known from its commit on" \
  "$(states alice "SELECT name, city FROM patients" "$ask" "ELSEWHERE BEGIN; SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today()); PREPARE TRANSACTION 'change'" \
    "$ask" "ELSEWHERE COMMIT PREPARED 'change'; SELECT privacy_score.flush()" "$ask" "$usual")" "PS001 PS001 PS001 00000 00000"
check "a baseline that is dropped is not" \
  "$(states alice "$usual" "ELSEWHERE BEGIN; SELECT privacy_score.drop_baseline('alice'); PREPARE TRANSACTION 'change'" "$usual" \
    "ELSEWHERE COMMIT PREPARED 'change'; SELECT privacy_score.flush()" "$ask")" "00000 00000 PS001"

# --- within the transaction ----------------------------------------------------------------------------------------------------
q "BEGIN" "SAVEPOINT s" "SELECT privacy_score.protect('others', 'id')" "RELEASE s" "SAVEPOINT t" "$label 'dp only'" "ROLLBACK TO t" "PREPARE TRANSACTION 'change'" >/dev/null
check "savepoints: what was released is announced" "$(states alice "SELECT 1" "ELSEWHERE COMMIT PREPARED 'change'; SELECT privacy_score.flush()" "SELECT * FROM others")" "00000 PS001"
q "SELECT privacy_score.unprotect('others')" "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM privacy_score.protect('others', 'id'); RETURN NULL; END \$\$" \
  "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON others DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()" >/dev/null
check "what a deferred trigger declares cannot be prepared" "$(q_state "BEGIN" "INSERT INTO others VALUES (101, 'new')" "PREPARE TRANSACTION 'change'")" 0A000
check "and is not: nothing is prepared" "$(q "SELECT count(*) FROM pg_prepared_xacts")$(q "SELECT count(*) FROM others WHERE id = 101")" 00
q "DROP TRIGGER late ON others" >/dev/null
check "an error before leaves a transaction that is rolled back" "$(q_state "BEGIN" "SELECT privacy_score.protect('others', 'id')" "SELECT 1 / 0" "PREPARE TRANSACTION 'change'" "COMMIT PREPARED 'change'")" 42704
check "in a database without the extension a label of a role cannot be prepared" \
  "$(q "CREATE DATABASE bare" >/dev/null; on bare q_state "BEGIN" "$label 'exempt'" "PREPARE TRANSACTION 'change'")" 0A000
check "nor in one that has made the extension: who commits it does not see its tables" \
  "$(on bare q_state "BEGIN" "CREATE EXTENSION privacy_score" "$label 'exempt'" "PREPARE TRANSACTION 'change'")" 0A000
check "one that has become read-only can be prepared" \
  "$(states alice "SELECT count(city) FROM patients" "ELSEWHERE BEGIN; $label 'dp only'; SET TRANSACTION READ ONLY; PREPARE TRANSACTION 'change'" "ELSEWHERE COMMIT PREPARED 'change'" "SELECT count(city) FROM patients")" "00000 PS001"
q "$label NULL" "CREATE PUBLICATION everything FOR ALL TABLES" >/dev/null
check "where all tables are published, too" \
  "$(states alice "SELECT count(city) FROM patients" "ELSEWHERE BEGIN; $label 'dp only'; PREPARE TRANSACTION 'change'" "ELSEWHERE COMMIT PREPARED 'change'" "SELECT count(city) FROM patients")" "00000 PS001"
q "$label NULL" "DROP PUBLICATION everything" >/dev/null
check "serializable ones do not exclude each other" \
  "$(for role in alice app; do q_state "BEGIN ISOLATION LEVEL SERIALIZABLE" "SELECT count(*) FROM others" "${label/alice/$role} 'watched'" "PREPARE TRANSACTION '$role'"; done; q "ROLLBACK PREPARED 'alice'" "ROLLBACK PREPARED 'app'")" "00000
00000"
check "in no view, dump or table is anything of it" \
  "$(prepare "SELECT privacy_score.protect('others', 'id')"; q "SELECT count(*) FROM privacy_score.prepared_change"; "$PS_BINDIR/pg_dump" | grep -c prepared_change; q "ROLLBACK PREPARED 'change'")" "0
0"
check "nobody but the owner of the extension reads it" "$(as alice q_state "SELECT * FROM privacy_score.prepared_change")" 42501
q "$label 'dp only'" >/dev/null
for name in a b; do q "BEGIN" "SELECT privacy_score.protect('$([ $name = a ] && echo others || echo patients)', 'id')" "PREPARE TRANSACTION '$name'" >/dev/null; done
check "several are kept apart" "$(q "ROLLBACK PREPARED 'b'" "COMMIT PREPARED 'a'" "SELECT privacy_score.flush()" >/dev/null; states alice "SELECT * FROM others")" PS001
q "SELECT privacy_score.unprotect('others')" "$label NULL" >/dev/null

# Until its triggers have run, another one may stand for the same name.
q "CREATE TABLE late (a int)" "CREATE FUNCTION fails_late() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM pg_advisory_xact_lock(5); PERFORM 1 / 0; RETURN NULL; END \$\$" \
  "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fails_late()" >/dev/null
prepare "SELECT privacy_score.protect('others', 'id')"
q "SELECT pg_advisory_lock(5)" "SELECT pg_sleep(600)" >/dev/null &
advisory="FROM pg_locks WHERE locktype = 'advisory'"
wait_for "SELECT count(*) $advisory" 1
q "BEGIN" "INSERT INTO late VALUES (1)" "SELECT privacy_score.protect('late', 'a')" "PREPARE TRANSACTION 'change'" >/dev/null &
wait_for "SELECT count(*) $advisory" 2
check "what another one that is to fail has under its name takes nothing from it" "$(states alice "SELECT name FROM others WHERE id = 3" "ELSEWHERE COMMIT PREPARED 'change'" "SELECT * FROM others")" "00000 PS001"
q "SELECT pg_terminate_backend(pid) $advisory AND granted" >/dev/null
wait
q "SELECT privacy_score.unprotect('others')" "DROP TABLE late" >/dev/null

# --- who waits for the transaction ------------------------------------------------------------------------------------------------
prepare "$label 'dp only'"
q "BEGIN" "LOCK TABLE privacy_score.prepared_change IN ACCESS EXCLUSIVE MODE" >/dev/null &
waiting=$!
wait_for "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'privacy_score.prepared_change'::regclass" 1
check "COMMIT PREPARED does not wait for who waits for it, and announces" "$(states alice "SELECT 1" "ELSEWHERE COMMIT PREPARED 'change'" "SELECT count(city) FROM patients")" "00000 PS001"
wait $waiting
q "$label NULL" >/dev/null

# --- a restart, a crash, a promotion ------------------------------------------------------------------------------------------------
prepare "$label 'dp only'"
restart_server fast
check "after a restart" "$(states alice "SELECT count(city) FROM patients" "ELSEWHERE COMMIT PREPARED 'change'" "SELECT count(city) FROM patients")" "00000 PS001"
prepare "$label NULL"
kill9_server
resume_server
check "after a crash" "$(states alice "SELECT count(city) FROM patients" "ELSEWHERE COMMIT PREPARED 'change'" "SELECT count(city) FROM patients")" "PS001 00000"
q "SELECT privacy_score.protect('others', 'id')" >/dev/null
prepare "SELECT privacy_score.unprotect('others')"
restart_server immediate
check "a declaration after a crash, by another superuser" \
  "$(states alice "SELECT * FROM others" "ELSEWHERE SET SESSION AUTHORIZATION deputy; COMMIT PREPARED 'change'; SELECT privacy_score.flush()" "SELECT * FROM others")" "PS001 00000"
prepare "$label 'dp only'"
start_standby second
wait_for "SELECT count(*) FROM pg_prepared_xacts" 0
"$PS_BINDIR/pg_ctl" promote -s -w -D "$PGDATA"
check "on a promoted standby" "$(states alice "SELECT count(city) FROM patients" "ELSEWHERE COMMIT PREPARED 'change'" "SELECT count(city) FROM patients")" "00000 PS001"
use_server main
q "ROLLBACK PREPARED 'change'" >/dev/null
done_testing

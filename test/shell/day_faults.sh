#!/bin/bash
# day_faults.sh - figures of a principal's day where something is against them: damaged rows, rows that somebody holds,
# statements that are meant to crowd out what a session tells, workers that follow each other, a promotion, a new key.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.end_user_source = 'privacy_score.end_user'" "wal_level = replica" "max_wal_senders = 5" "hot_standby = on"
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, c1 text, c2 text, c3 text)" \
  "INSERT INTO patients SELECT i, 'a', 'b', 'c' FROM generate_series(1, 300) i" \
  "SELECT privacy_score.protect('patients')" \
  "CREATE ROLE analyst LOGIN" "CREATE ROLE other LOGIN" "CREATE ROLE app LOGIN" "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" \
  "GRANT SELECT ON patients TO analyst, other, app" "SELECT privacy_score.flush()" >/dev/null
export PGUSER=postgres

# look_up ROLE COLUMN FROM TO: each on a connection of its own.
look_up() { local i; for ((i = $3; i <= $4; i++)); do as "$1" q "SELECT $2 FROM patients WHERE id = $i" >/dev/null; done; }
# end_user_asks NAME ID
end_user_asks() { as app q "SET privacy_score.end_user = '$1'" "SELECT c1 FROM patients WHERE id = $2" >/dev/null; }
flush() { q "SELECT privacy_score.flush()" >/dev/null; }
day_of() { q "SELECT reach, subjects, subject_columns FROM privacy_score.stat_days WHERE role = '$1' AND end_user IS NOT DISTINCT FROM NULLIF('${2:-}', '')"; }
errors_are() { q "SELECT scoring_errors, dropped, flush_errors FROM privacy_score.stat_info"; }
worker_pid() { q "SELECT max(pid) FROM pg_stat_activity WHERE backend_type LIKE 'privacy_score%' AND datname = current_database()"; }
no_worker() { [ -z "$(worker_pid)" ]; }

# --- crowding out -----------------------------------------------------------------------------------------------------
# One statement with so many constants that it alone is more than may wait; what follows is told all the same.
as analyst q_script <<<"SELECT c1 FROM patients WHERE c2 IN ($(seq -s, 1 40000 | sed "s/[0-9][0-9]*/'&'/g"));
SELECT c1 FROM patients WHERE id = 1; SELECT c1 FROM patients WHERE id = 2; SELECT c1 FROM patients WHERE id = 3;" >/dev/null
flush
check "what follows a statement with very many constants is told" "$(day_of analyst)" "3|3|1"

# --- workers that follow each other -----------------------------------------------------------------------------------
look_up analyst c1 4 6
check_true "the worker leaves" wait_until no_worker
look_up other c1 1 1
check_true "the next one leaves, too" wait_until no_worker
look_up analyst c1 7 9
flush
check "who was not heard of in between is remembered" "$(day_of analyst)" "9|9|1"

# --- rows that somebody holds -------------------------------------------------------------------------------------------
end_user_asks ann 1
flush
( q "BEGIN" "SELECT privacy_score.forget_end_user('app', 'ann')" "SELECT pg_sleep(30)" >/dev/null 2>&1 & echo $! >"$PS_TMP/holder" )
check_true "somebody forgets her and does not commit" wait_for "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'" t
end_user_asks ann 2
look_up other c2 1 1
flush
check "everybody's history is written all the same" "$(q "SELECT count(*) FROM privacy_score.session WHERE role = 'other'") $(errors_are)" "2 0|0|0"
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'" >/dev/null
end_user_asks ann 3
flush
check "and she is where she was" "$(day_of app ann)" "3|3|1"

# --- damaged rows -----------------------------------------------------------------------------------------------------
q "UPDATE privacy_score.principal_subjects SET sets = ARRAY[NULL]::text[] WHERE role = 'other'" >/dev/null
restart_server
flush
look_up other c1 2 2
flush
check "a set that is NULL is an error of scoring" "$(q "SELECT count(*), sum(queries) FROM privacy_score.session WHERE role = 'other'") $(errors_are)" "3|3 1|0|0"
check "the day goes on, and the damage is gone" "$(day_of other) $(q "SELECT count(*) FROM privacy_score.principal_subjects WHERE role = 'other' AND sets = ARRAY[NULL]::text[]")" "1|1|2 0"

# --- a standby, and its promotion -----------------------------------------------------------------------------------------
start_standby second
exec 4> >(as other "$PS_BINDIR/psql" -XAtq >/dev/null 2>&1)
echo "SELECT c1 FROM patients WHERE id = 3;" >&4
check_true "a session of the standby" wait_for "SELECT queries FROM privacy_score.stat_sessions WHERE role = 'other'" 1
use_server main
look_up other c1 101 112
flush
check "meanwhile the primary goes on" "$(day_of other)" "13|13|2"
( q "BEGIN" "LOCK TABLE privacy_score.principal_day" "SELECT pg_sleep(60)" >/dev/null 2>&1 & )
check_true "somebody holds a table" wait_for "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'" t
q "SELECT pg_switch_wal()" >/dev/null
lsn=$(q "SELECT pg_current_wal_lsn()")
use_server second
check_true "which the standby replays" wait_for "SELECT pg_last_wal_replay_lsn() >= '$lsn' AND count(*) > 0 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'privacy_score.principal_day'::regclass" t
# The last subject is one that the primary has been asked for: under its key it is known.
for i in {201..205} 101; do echo "SELECT c1 FROM patients WHERE id = $i;"; done >&4
end_user_asks zoe 1
check_true "its worker gets nowhere" wait_until log_has "canceling statement due to lock timeout"
use_server main
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'" >/dev/null
use_server second
check_true "and goes on when it is given back" wait_until log_has "worker goes on after"
"$PS_BINDIR/pg_ctl" promote -s -w -D "$PGDATA"
echo "SELECT c1 FROM patients WHERE id = 300;" >&4
check_true "promoted, it records" wait_for "SELECT count(*) > 0 FROM privacy_score.session WHERE role = 'other' AND queries = 1 AND started > (SELECT max(last_at) FROM privacy_score.session WHERE queries > 1)" t
exec 4>&-
flush
check "no figure is less than the primary's, and nothing was lost of what either was told" "$(day_of other)" "20|20|2"
stop_server
use_server main
stop_server
done_testing

#!/bin/bash
# standby.sh - a streaming standby scores live from replicated baselines, shows it, puts alerts into its log, and writes
# no table; what writes says so; after a promotion it records. What a hub sees of it: fleet_standby.sh.
. "$(dirname "$0")/../lib.sh"

session="SELECT queries, mismatched, round(score::numeric, 9), estimated FROM privacy_score.stat_sessions WHERE role = 'alice'"
recorded="SELECT COALESCE(sum(queries), 0) FROM privacy_score.session"

# A session of alice that reads statements from file descriptor 3.
open_session() {
  rm -f "$PS_TMP/alice"
  mkfifo "$PS_TMP/alice"
  as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >"$PS_TMP/alice.out" 2>&1 &
  alice=$!
  exec 3>"$PS_TMP/alice"
}
close_session() {
  exec 3>&-
  wait "$alice"
}

# --- a primary with a baseline ----------------------------------------------------------------------------------------
start_server
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, first_name text, last_name text, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'f' || i % 17, 'l' || i % 97, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 300) i" \
  "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "GRANT SELECT ON patients TO alice, bob" \
  "SELECT privacy_score.protect('patients')" >/dev/null
as alice q "SELECT city FROM patients WHERE id = 1" "SELECT count(*) FROM patients" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" \
  "ALTER ROLE alice SET privacy_score.mode = 'warn'" "ALTER ROLE alice SET privacy_score.session_limit = 0.2" >/dev/null
rates=$(q "SELECT count(*) FROM privacy_score.rate")
start_standby second
check "it is a standby" "$(q "SELECT pg_is_in_recovery()")" t

# --- live scores ------------------------------------------------------------------------------------------------------
open_session
echo "SELECT city FROM patients WHERE id = 1;" >&3
check_true "a statement of the baseline scores nothing" wait_for "$session" "1|0|0.000000000|f"
echo "SELECT last_name, diagnosis FROM patients WHERE id = 7;" >&3
check_true "the worker computes the rates that nobody has stored: the score becomes exact" \
  wait_for "SELECT queries, mismatched, estimated, score > 0 FROM privacy_score.stat_sessions" "2|1|f|t"
standby_score=$(q "$session")
check "none is pending" "$(q "SELECT pending_cdr FROM privacy_score.stat_info")" 0
check_true "the last abstraction is shown, though it is stored nowhere" \
  test "$(q "SELECT 'p:public.patients.diagnosis' = ANY (last_abstraction) FROM privacy_score.stat_sessions")" = t
check_true "the alert is in the standby's log" log_has 'privacy_score alert: kind=session .*role="alice"'
echo "SELECT city FROM patients WHERE id = 1;" >&3
wait_for_line "$PS_TMP/alice.out" 'WARNING:  session privacy score'
check_match "and the client is warned" "$(cat "$PS_TMP/alice.out")" "WARNING:  session privacy score"
check "it is not in the table of alerts" "$(q "SELECT count(*) FROM privacy_score.alerts")" 0
check "nothing was dropped, nothing failed" "$(q "SELECT events, dropped, scoring_errors, evictions FROM privacy_score.stat_info")" "3|0|0|0"
check "history is the primary's" "$(q "$recorded")" 2
check "no rate is stored" "$(q "SELECT count(*) - $rates FROM privacy_score.rate")" 0
check_true "nothing tries to write" eval '! log_has "read-only transaction|during recovery"'

# the same on the primary gives the same score
use_server main
mkfifo "$PS_TMP/there"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/there" >/dev/null 2>&1 &
exec 5>"$PS_TMP/there"
echo "SELECT city FROM patients WHERE id = 1; SELECT last_name, diagnosis FROM patients WHERE id = 7;" >&5
check_true "the primary gives the same score" wait_for "$session" "$standby_score"
exec 5>&-
check_true "and records its own alert" wait_for "SELECT count(*) FROM privacy_score.alerts" 1
q "SELECT privacy_score.flush()" >/dev/null

# --- history, declarations, labels follow the primary ------------------------------------------------------------------
scores="SELECT string_agg(s::text, E'\n' ORDER BY s::text) FROM privacy_score.score_sessions('alice', '-infinity', 'infinity') s"
scores_of_primary=$(q "$scores")
sent=$(q "SELECT pg_current_wal_lsn()")
use_server second
wait_for "SELECT pg_last_wal_replay_lsn() >= '$sent'" t
check "scores of replicated history are the primary's" "$(q "$scores")" "$scores_of_primary"
check "so is the view of alerts" "$(q "SELECT kind, role FROM privacy_score.alerts")" "session|alice"
check "explain_query works" "$(q "SELECT privacy_score.explain_query('SELECT first_name FROM patients', 'alice') IS NOT NULL")" t
check "stat_days works" "$(q "SELECT count(*) FROM privacy_score.stat_days")" 1
use_server main
q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" >/dev/null
use_server second
check_true "a new baseline of the primary scores the standby's open session again" \
  wait_for "SELECT queries, mismatched, estimated FROM privacy_score.stat_sessions" "3|1|f"
as bob q "SELECT city FROM patients" >/dev/null
open_bob() { # a second connection, of bob
  rm -f "$PS_TMP/bob"
  mkfifo "$PS_TMP/bob"
  as bob "$PS_BINDIR/psql" -XAtq <"$PS_TMP/bob" >/dev/null 2>&1 &
  exec 4>"$PS_TMP/bob"
}
open_bob
echo "SELECT city FROM patients;" >&4
check_true "everybody is watched" wait_for "SELECT count(*) FROM privacy_score.stat_sessions WHERE role = 'bob'" 1
use_server main
q "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'watched'" >/dev/null
sent=$(q "SELECT pg_current_wal_lsn()")
use_server second
wait_for "SELECT pg_last_wal_replay_lsn() >= '$sent'" t
sleep 2.5
before=$(q "SELECT queries FROM privacy_score.stat_sessions WHERE role = 'bob'")
echo "SELECT city FROM patients; SELECT city FROM patients;" >&4
sleep 0.5
check "a label of a role that the primary sets holds for open sessions" "$(q "SELECT queries - $before FROM privacy_score.stat_sessions WHERE role = 'bob'")" 0
exec 4>&-

# --- the score of the day ---------------------------------------------------------------------------------------------
use_server main
q "ALTER ROLE alice SET privacy_score.daily_limit = 0.5" "ALTER ROLE alice RESET privacy_score.session_limit" >/dev/null
sent=$(q "SELECT pg_current_wal_lsn()")
use_server second
wait_for "SELECT pg_last_wal_replay_lsn() >= '$sent'" t
for column in first_name last_name "first_name, last_name" "first_name, diagnosis" "last_name, city, diagnosis"; do
  as alice q "SELECT $column FROM patients" >/dev/null
  sleep 0.3
done
check_true "many short sessions reach the limit of the day" eval 'for i in {1..300}; do log_has "kind=daily .*role=\"alice\"" && break; as alice q "SELECT first_name, city FROM patients" >/dev/null; sleep 0.5; done; log_has "kind=daily .*role=\"alice\""'

# --- what writes refuses ----------------------------------------------------------------------------------------------
for call in "label_end_user('alice', 'anna', 'dp only')" "flush()" "reset_stats()" "acknowledge_alert(1)" "set_baseline('alice', current_date, current_date)" "drop_baseline('alice')" \
  "import_baseline('{}')" "protect('patients')" "unprotect('patients')" "confirm_dependency('patients', 'city', 'id')" \
  "withdraw_dependency('patients', 'city', 'id')" "analyze_relation('patients')" "import_statements('SELECT')"; do
  check "${call%%(*}() is for the primary" "$(q_state "SELECT privacy_score.$call")" 25006
done
check_match "and says so" "$(q_all "SELECT privacy_score.flush()")" "cannot execute flush\(\) on a standby.*HINT:  Run it on the primary"
check "counters are not reset by the attempt" "$(q "SELECT events > 0 FROM privacy_score.stat_info")" t

# --- the extension comes and goes ---------------------------------------------------------------------------------------
use_server main
q "DROP TABLE patients" "CREATE TABLE patients (id int PRIMARY KEY, first_name text, last_name text, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'f', 'l' || i, 'c', 'd' FROM generate_series(1, 10) i" "GRANT SELECT ON patients TO alice" >/dev/null
q "CREATE DATABASE other" >/dev/null
on other q "CREATE EXTENSION privacy_score" "CREATE TABLE t (a int)" "GRANT SELECT ON t TO alice" >/dev/null
sent=$(q "SELECT pg_current_wal_lsn()")
use_server second
wait_for "SELECT pg_last_wal_replay_lsn() >= '$sent'" t
on other as alice q "SELECT a FROM t" >/dev/null
check_true "another database has its own worker" eval 'on other wait_for "SELECT last_query_at IS NULL FROM privacy_score.stat_sessions RIGHT JOIN (SELECT 1) x ON true" t'
use_server main
q "DROP DATABASE other" >/dev/null
sent=$(q "SELECT pg_current_wal_lsn()")
use_server second
check_true "a database that the primary drops goes away under the standby's worker" wait_for "SELECT pg_last_wal_replay_lsn() >= '$sent'" t

# --- promotion --------------------------------------------------------------------------------------------------------
echo "SELECT city FROM patients WHERE id = 2;" >&3
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'alice' AND state = 'idle' AND query LIKE '%id = 2%'" 1
history=$(q "$recorded")
before=$(grep -cE '^[cf]$' "$PS_TMP/alice.out")
q "SELECT pg_promote()" >/dev/null
check "it is promoted" "$(q "SELECT pg_is_in_recovery()")" f
# No rate of first_name is in the memory of the standby's worker.
echo "SELECT city FROM patients WHERE id = 3; SELECT first_name FROM patients WHERE id = 3;" >&3
check_true "after the promotion the worker writes" wait_for "SELECT queries FROM privacy_score.session WHERE session LIKE '%/2'" 2
check_true "what ran before it, too" wait_for "SELECT ($recorded) - $history > 10, (SELECT count(*) > 0 FROM privacy_score.session WHERE role = 'bob')" "t|t"
check "it is recorded as a new piece, with definitions" \
  "$(q "SELECT s.session LIKE '%/2', count(DISTINCT i) FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id, unnest(p.ids) i
          JOIN privacy_score.abstraction a ON a.id = i WHERE s.session LIKE '%/2' GROUP BY 1")" "t|2"
close_session
check "the session that was open goes on" "$(($(grep -cE '^[cf]$' "$PS_TMP/alice.out") - before))" 2
q "SELECT privacy_score.flush()" >/dev/null
check "nothing of the standby's time is left in memory" "$(q "SELECT count(*) FROM privacy_score.live_sessions()")" 0
check_match "set_baseline works now" "$(q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())")" "^[0-9]+$"
check "no fault was counted" "$(q "SELECT dropped, scoring_errors FROM privacy_score.stat_info")" "0|0"
done_testing

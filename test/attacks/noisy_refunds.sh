#!/bin/bash
# noisy_refunds.sh - every attempt to get an answer and keep the budget: undoing, breaking off, crashing, racing, turning
# back the clock, asking again. Noise of epsilon 50 differs from 0 with probability 4e-22.
. "$(dirname "$0")/../attack.sh"
start_hospital "max_connections = 260" "max_prepared_transactions = 5"
export PGAPPNAME=
q "REVOKE ALL ON h.patients FROM mallory" "SELECT privacy_score.dp_grant('mallory', 'h.patients', 100000)" \
  "CREATE VIEW h.slow AS SELECT p.* FROM h.patients p WHERE pg_sleep(0.1) IS NOT NULL" "SELECT privacy_score.dp_grant('mallory', 'h.slow', 100000)" >/dev/null

next=0
spent() { q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'mallory' AND relation = 'h.patients'::regclass"; }
# $ask: a question that has not been asked before. $truth: its answer.
new_question() {
  next=$((next + 1))
  truth=$((next % 100))
  ask="SELECT privacy_score.dp_count('patients', 'id <= $truth AND id > -$next', 50)"
}
# What was spent since `before`.
since() { q "SELECT trim_scale($(spent) - $before)"; }

# refund "description" STATEMENT...: mallory runs the statements, in which @ stands for a new question. It is answered
# and paid for once.
refund() {
  local description=$1 before answer statements=()
  shift
  before=$(spent)
  new_question
  for statement in "$@"; do statements+=("${statement//@/$ask}"); done
  answer=$(as mallory q_all "${statements[@]}" | tr '\n' ' ')
  check_match "answered: $description" "$answer" "(^|[^0-9])$truth([^0-9]|$)"
  check "paid for: $description" "$(since)" 50
}

# --- undoing ------------------------------------------------------------------------------------------------------------
refund "ROLLBACK" "BEGIN" "@" "ROLLBACK"
refund "ROLLBACK TO SAVEPOINT" "BEGIN" "SAVEPOINT a" "@" "ROLLBACK TO a" "COMMIT"
refund "nested savepoints" "BEGIN" "SAVEPOINT a" "SAVEPOINT b" "@" "RELEASE b" "ROLLBACK TO a" "SELECT 1 WHERE false" "ROLLBACK"
refund "an exception block" "DO \$\$ DECLARE n bigint; BEGIN BEGIN n := (@); RAISE NOTICE '%', n; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END; END \$\$"
refund "an error that the client sees" "\\set ON_ERROR_STOP off" "DO \$\$ BEGIN RAISE NOTICE '%', (@); PERFORM 1/0; END \$\$"
refund "an error in the same statement" "SELECT 1/(n - n) FROM (@) x(n) WHERE false UNION ALL (@)"
refund "ROLLBACK PREPARED" "BEGIN" "@" "PREPARE TRANSACTION 'x'" "ROLLBACK PREPARED 'x'"
refund "a read-only transaction" "BEGIN READ ONLY" "@" "ROLLBACK"
refund "a serializable one" "BEGIN ISOLATION LEVEL SERIALIZABLE" "@" "ROLLBACK"
refund "a procedure that rolls back" "CREATE PROCEDURE pg_temp.p() LANGUAGE plpgsql AS \$\$ BEGIN RAISE NOTICE '%', (@); ROLLBACK; END \$\$" "CALL pg_temp.p()"
refund "a cursor that is closed" "BEGIN" "DECLARE c CURSOR FOR @" "FETCH c" "CLOSE c" "ROLLBACK"
refund "a scrolled cursor" "BEGIN" "DECLARE c SCROLL CURSOR FOR @" "FETCH c" "MOVE BACKWARD ALL IN c" "FETCH c" "ROLLBACK"
refund "COPY" "COPY (@) TO STDOUT"
refund "CREATE TABLE AS that is rolled back" "BEGIN" "CREATE TEMP TABLE x AS @" "TABLE x" "ROLLBACK"
refund "a prepared statement" "PREPARE p AS @" "EXECUTE p" "EXECUTE p" "DEALLOCATE p"
refund "DISCARD ALL" "@" "DISCARD ALL"
refund "a rule" "CREATE TEMP TABLE x (n bigint)" "CREATE RULE r AS ON INSERT TO x DO INSTEAD @" "INSERT INTO x VALUES (1)"
refund "a view of one's own" "CREATE TEMP VIEW v AS @" "TABLE v" "TABLE v"
refund "a default" "BEGIN" "CREATE FUNCTION pg_temp.ask() RETURNS bigint LANGUAGE sql AS \$\$ @ \$\$" "CREATE TEMP TABLE x (i int, n bigint DEFAULT pg_temp.ask())" "INSERT INTO x (i) VALUES (1) RETURNING n" "ROLLBACK"

# --- breaking off -------------------------------------------------------------------------------------------------------
before=$(spent)
check "a cancel while rows are counted gives no answer" "$(as mallory q "SET statement_timeout = '500ms'" "SELECT privacy_score.dp_count('slow', epsilon => 50)")" "ERROR: canceling statement due to statement timeout"
check "and cannot be caught for one" "$(as mallory q_all "SET statement_timeout = '500ms'" "DO \$\$ DECLARE n bigint; BEGIN BEGIN n := privacy_score.dp_count('slow', epsilon => 50); EXCEPTION WHEN query_canceled THEN NULL; END; RAISE NOTICE 'n is %', n; END \$\$")" "NOTICE:  n is <NULL>"
check "both are charged" "$(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'mallory' AND relation = 'h.slow'::regclass")" 100
# Clients that ask in a loop and write down what they get are broken off at random; each answer must be in the ledger.
loop() { # FILE FIRST: questions from number FIRST on
  local i
  for ((i = $2; i < $2 + 400; i++)); do
    echo "SELECT 'answer ' || privacy_score.dp_count('patients', 'id > -$i', 0.01);"
  done | as mallory "$PS_BINDIR/psql" -XAt -f - >"$1" 2>/dev/null
}
answers() { cat "$@" | grep -c '^answer '; }
ledger() { q "SELECT count(*) FROM privacy_score.dp_releases WHERE role = 'mallory' AND epsilon = 0.01"; }
charged() { q "SELECT coalesce(sum(epsilon), 0) = (SELECT spent FROM privacy_score.dp_budget WHERE role = 'mallory' AND relation = 'h.patients'::regclass) FROM privacy_score.dp_releases WHERE role = 'mallory' AND NOT repeated AND relation = 'h.patients'::regclass"; }
for client in 1 2 3 4; do loop "$PS_TMP/cancelled.$client" $((client * 1000000)) & done
for ((i = 0; i < 60; i++)); do
  q "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'mallory'" >/dev/null
  sleep 0.03
done
wait
got=$(answers "$PS_TMP"/cancelled.*)
check_true "cancelled again and again, some are answered" test "$got" -gt 0
check_true "each of $got answers is in the ledger" test "$(ledger)" -ge "$got"
check "and what is in the ledger is charged" "$(charged)" t
for client in 1 2 3 4; do loop "$PS_TMP/terminated.$client" $((10000000 + client * 1000000)) & done
wait_for_line "$PS_TMP/terminated.4" '^answer '
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'mallory'" >/dev/null
wait
got=$(answers "$PS_TMP"/cancelled.* "$PS_TMP"/terminated.*)
check_true "terminated: each of $got answers is in the ledger" test "$(ledger)" -ge "$got"
for client in 1 2 3 4; do loop "$PS_TMP/killed.$client" $((20000000 + client * 1000000)) & done
wait_for_line "$PS_TMP/killed.4" '^answer '
kill -9 "$(q "SELECT pid FROM pg_stat_activity WHERE usename = 'mallory' LIMIT 1")"
wait
wait_for "SELECT 1" 1
got=$(answers "$PS_TMP"/cancelled.* "$PS_TMP"/terminated.* "$PS_TMP"/killed.*)
check_true "a backend killed: each of $got answers is in the ledger" test "$(ledger)" -ge "$got"
for client in 1 2 3 4; do loop "$PS_TMP/accountant.$client" $((30000000 + client * 1000000)) & done
wait_for_line "$PS_TMP/accountant.4" '^answer '
kill -9 "$(q "SELECT pid FROM pg_stat_activity WHERE backend_type = 'privacy_score accountant'")"
wait
wait_for "SELECT 1" 1
got=$(answers "$PS_TMP"/cancelled.* "$PS_TMP"/terminated.* "$PS_TMP"/killed.* "$PS_TMP"/accountant.*)
check_true "the accountant killed: each of $got answers is in the ledger" test "$(ledger)" -ge "$got"
for round in 1 2 3; do
  for client in 1 2 3 4; do loop "$PS_TMP/crashed.$round.$client" $((40000000 + round * 10000000 + client * 1000000)) & done
  wait_for_line "$PS_TMP/crashed.$round.4" '^answer '
  kill9_server
  wait
  resume_server
  got=$(answers "$PS_TMP"/cancelled.* "$PS_TMP"/terminated.* "$PS_TMP"/killed.* "$PS_TMP"/accountant.* "$PS_TMP"/crashed.*)
  check_true "the server killed: each of $got answers is in the ledger" test "$(ledger)" -ge "$got"
done
check "and what is in the ledger is charged" "$(charged)" t
new_question
before=$(spent)
mkfifo "$PS_TMP/kill9"
as mallory "$PS_BINDIR/psql" -XAt <"$PS_TMP/kill9" >"$PS_TMP/kill9.out" 2>/dev/null &
exec 3>"$PS_TMP/kill9"
echo "BEGIN; $ask;" >&3
wait_for_line "$PS_TMP/kill9.out" "^$truth\$"
kill9_server
exec 3>&-
wait
resume_server
check "killed right after the answer, it is paid for" "$(since)" 50
refund "and goes on" "@"

# --- racing -------------------------------------------------------------------------------------------------------------
q "CREATE ROLE racer LOGIN" "GRANT USAGE ON SCHEMA h TO racer" "SELECT privacy_score.dp_grant('racer', 'h.patients', 1.05)" >/dev/null
PGOPTIONS="" "$PS_BINDIR/psql" -XAtq <"$PS_TMP/kill9" >/dev/null 2>&1 &
exec 3>"$PS_TMP/kill9"
echo "SELECT pg_advisory_lock(1);" >&3
wait_for "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted" 1
for ((i = 0; i < 200; i++)); do
  as racer q_all "SELECT pg_advisory_lock_shared(1)" "SELECT 'answer ' || privacy_score.dp_count('h.patients', 'id > -$i', 0.1)" >"$PS_TMP/race.$i" &
done
check_true "two hundred sessions are ready" wait_for "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted" 200
echo "SELECT pg_advisory_unlock(1);" >&3
exec 3>&-
wait
check "ten of them are answered" "$(answers "$PS_TMP"/race.*)" 10
check "all others are told that the budget is exhausted" "$(cat "$PS_TMP"/race.* | grep -c 'privacy budget exhausted')" 190
check "it is not overspent" "$(q "SELECT spent, \"left\" FROM privacy_score.dp_budget WHERE role = 'racer'")" "1|0.05"
q "SELECT privacy_score.dp_grant('racer', 'h.patients', 1.5)" >/dev/null
for ((i = 0; i < 30; i++)); do as racer q "SELECT noisy_count, repeated FROM privacy_score.dp_count_detail('h.patients', 'city = ''c1''', 0.1)" >"$PS_TMP/same.$i" & done
wait
check "thirty that ask the same at once get the same answer" "$(cut -d'|' -f1 "$PS_TMP"/same.* | sort -u | wc -l)" 1
check "and one pays" "$(cat "$PS_TMP"/same.* | grep -c '|f')/$(cat "$PS_TMP"/same.* | grep -c '|t') $(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'racer'")" "1/29 1.1"
for ((i = 0; i < 30; i++)); do as racer q "SELECT privacy_score.dp_count('h.patients', 'city = ''c2''', 0.1, fresh => true)" >"$PS_TMP/fresh.$i" & done
wait
check "all pay who want a fresh one" "$(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'racer'") $(cat "$PS_TMP"/fresh.* | grep -c 'exhausted')" "1.5 26"

# --- the clock: moving all that is stored by as much as the clock would move the other way ------------------------------------
turn_clock() { q "UPDATE privacy_score.budget SET period_anchor = period_anchor - interval '$1', latest = latest - interval '$1' WHERE role = 'timed'" >/dev/null; }
state() { q "SELECT spent, \"left\", spent_ever FROM privacy_score.dp_budget WHERE role = 'timed'"; }
timed() { as timed q "SELECT epsilon_spent FROM privacy_score.dp_count_detail('h.patients', 'id > -$1', 0.5)" | sed 's/:.*//'; }
q "CREATE ROLE timed LOGIN" "GRANT USAGE ON SCHEMA h TO timed" "SELECT privacy_score.dp_grant('timed', 'h.patients', 1, period => '1 day')" >/dev/null
check "the first period" "$(timed 1) $(timed 2) $(timed 3) $(state)" "0.5 0.5 ERROR 1|0|1"
turn_clock "23 hours"
check "before it ends" "$(timed 3) $(state)" "ERROR 1|0|1"
turn_clock "1 hour"
check "the second" "$(timed 3) $(state)" "0.5 0.5|0.5|1.5"
turn_clock "-3 days"
check "set back, the clock gives nothing" "$(timed 4) $(timed 5) $(state)" "0.5 ERROR 1|0|2"
turn_clock "2 days 12 hours"
check "nor when it comes near again" "$(timed 5) $(state)" "ERROR 1|0|2"
turn_clock "-30 days"
turn_clock "30 days 11 hours"
check "nor to and fro" "$(timed 5) $(state)" "ERROR 1|0|2"
turn_clock "1 day 2 hours"
check "only when it passes the end of the latest period" "$(timed 5) $(timed 6) $(timed 7) $(state)" "0.5 0.5 ERROR 1|0|3"
turn_clock "30 days"
check "what was not used up is not carried over" "$(state | cut -d'|' -f1,2) $(timed 7) $(timed 8) $(timed 9)" "0|1 0.5 0.5 ERROR"
check "answers of earlier periods stay free" "$(as timed q "SELECT epsilon_spent, repeated FROM privacy_score.dp_count_detail('h.patients', 'id > -1', 0.5)")" "0|t"
check "a session's time zone changes nothing" "$(PGTZ=Pacific/Kiritimati timed 9) $(PGTZ=Pacific/Pago_Pago timed 9)" "ERROR ERROR"
q "SELECT privacy_score.dp_grant('timed', 'h.patients', 1, period => '2 seconds')" >/dev/null
check "a new length takes along what is spent" "$(state | cut -d'|' -f1,2)" "1|0"
check_true "and really ends" eval 'sleep 2.1; [ "$(timed 10)" = 0.5 ]'

# --- asking again -----------------------------------------------------------------------------------------------------------
before=$(spent)
check "ten thousand repeats have one answer" "$(as mallory q "SELECT count(*), count(DISTINCT n) FROM (SELECT privacy_score.dp_count('patients', CASE i % 4 WHEN 0 THEN 'id <= 50' WHEN 1 THEN 'NOT 50 < id' WHEN 2 THEN '((id<=50))' ELSE 'id <= 50 AND (id <= 50 OR false)' END, 0.1) AS n FROM generate_series(1, 10000) i) x")" "10000|1"
check "for the price of one" "$(since)" 0.1
check "and make two rows of the ledger" "$(q "SELECT count(*), sum(times) FROM privacy_score.dp_releases WHERE role = 'mallory' AND epsilon = 0.1")" "2|10000"
check "another epsilon is another question" "$(as mallory q "SELECT epsilon_spent FROM privacy_score.dp_count_detail('patients', 'id <= 50', 0.11)")" 0.11
# Differencing: the two answers of each pair differ by one person. Each has noise of scale 10: that all 40 differences are
# the true one has a probability below 1e-50, that their mean is off by more than 20 one below 1e-12.
check "differences of near questions are noise" \
  "$(as mallory q "SELECT count(DISTINCT d) > 5, abs(avg(d) - 1) < 20 FROM (SELECT privacy_score.dp_count('patients', 'id <= ' || i, 0.1) - privacy_score.dp_count('patients', 'id <= ' || i || ' AND id <> ' || i, 0.1) AS d FROM generate_series(1, 40) i) x")" "t|t"
check "and each is paid for" "$(since)" 8.21

check "what is in the ledger is what was charged" "$(charged)" t
check_scored scoring_errors
check "nor in the server" "$(grep -cE 'PANIC|TRAP|Assert' "$ps_log")" 0
done_testing

#!/bin/bash
# recreated.sh - DROP and CREATE EXTENSION, and baselines that come and go, while clients run known statements in mode
# enforce: whatever model a statement meets while it waits, its abstraction is known. The worker is held up at moments of
# no choice, so that statements wait for it at each of theirs. The limit is one that no day reaches: while there is no
# baseline, each session adds to the sum. PS_ROUNDS (4, in the long form 40) repeats it for longer.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.mode = enforce" "privacy_score.flush_interval = '50ms'" "privacy_score.daily_limit = 1000000"
q "CREATE EXTENSION privacy_score" "CREATE TABLE patients (id int PRIMARY KEY, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i" "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" \
  "ALTER ROLE bob SET privacy_score.mode = observe" "GRANT SELECT ON patients TO alice, bob" "SELECT privacy_score.protect('patients')" >/dev/null

# --- one statement that is on its way meanwhile ----------------------------------------------------------------------------
mkfifo "$PS_TMP/to_bob"
as bob "$PS_BINDIR/psql" -XAtq <"$PS_TMP/to_bob" >"$PS_TMP/bob.out" 2>&1 &
exec 4>"$PS_TMP/to_bob"
slow="SELECT city FROM patients WHERE id = 1 AND pg_sleep(:seconds) IS NOT NULL;"
echo "\\set seconds 0" "$slow SELECT 'once';" | sed 's/0 SELECT/0\nSELECT/' >&4
wait_for_line "$PS_TMP/bob.out" once
q "SELECT privacy_score.flush()" >/dev/null
echo "\\set seconds 3" "$slow SELECT 'twice';" | sed 's/3 SELECT/3\nSELECT/' >&4
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'bob' AND wait_event = 'PgSleep'" 1
q "BEGIN" "DROP EXTENSION privacy_score" "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('patients')" "COMMIT" >/dev/null
wait_for_line "$PS_TMP/bob.out" twice
exec 4>&-
wait
q "SELECT privacy_score.flush()" >/dev/null
lost="SELECT count(*) FROM privacy_score.session_part p, unnest(p.ids) i(id) WHERE id <> 0 AND id NOT IN (SELECT a.id FROM privacy_score.abstraction a)"
check "what is written afterwards has its tokens" "$(q "$lost")" 0

# --- many --------------------------------------------------------------------------------------------------------------------
touch "$PS_TMP/running"
for n in 1 2 3; do
  printf 'SELECT city FROM patients LIMIT 1;\nSELECT count(*) FROM patients;\nSELECT diagnosis FROM patients WHERE id = %s;\n' 1 2 3 4 5 >"$PS_TMP/statements"
  (
    for _ in $(seq 10000); do
      [ -e "$PS_TMP/running" ] && as alice "$PS_BINDIR/psql" -XAtq -f "$PS_TMP/statements" >/dev/null 2>>"$PS_TMP/errors.$n"
      [ $? -le 1 ] && [ -e "$PS_TMP/running" ] || break
    done
  ) </dev/null &
done
worker() { q "SELECT pid FROM pg_stat_activity WHERE backend_type = 'privacy_score worker' LIMIT 1" 2>/dev/null; }
(
  while [ -e "$PS_TMP/running" ]; do
    pid=$(worker)
    if [ -z "$pid" ] || ! kill -STOP "$pid" 2>/dev/null; then continue; fi
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill -CONT "$pid"
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
  done
) </dev/null &
for _ in $(seq "${PS_ROUNDS:-$(by_length 4 40)}"); do
  check_true "history is written" wait_for "SELECT count(*) > 2 FROM privacy_score.session" t
  q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" "SELECT privacy_score.flush()" >/dev/null
  q "SELECT privacy_score.drop_baseline('alice')" >/dev/null
  q "SELECT privacy_score.activate_baseline(max(id)) FROM privacy_score.baseline" "SELECT privacy_score.flush()" >/dev/null
  check_true "it can be made anew" q "BEGIN" "DROP EXTENSION privacy_score" "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('patients')" "COMMIT"
done
check_true "history is written afterwards" wait_for "SELECT count(*) > 2 FROM privacy_score.session" t
rm "$PS_TMP/running"
wait
q "SELECT privacy_score.flush()" >/dev/null
check "every statement of the history has its tokens" "$(q "$lost")" 0
check "every abstraction was known" "$(grep -c "is not known" "$ps_log")" 0
check "no fault of scoring is logged" "$(grep "could not score" "$ps_log" | head -n 1)" ""
check "no process has crashed" "$(grep -c "was terminated by signal" "$ps_log")" 0
check "nothing else was refused than what the worker was too late for" \
  "$(grep -h "^psql.*ERROR" "$PS_TMP"/errors.* | grep -v "privacy score cannot be told" | sed 's/.*ERROR/ERROR/' | sort | uniq -c | head -n 3)" ""
done_testing

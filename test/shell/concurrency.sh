#!/bin/bash
# concurrency.sh - twenty clients at once: every execution is counted once, in memory and in history; memory is bounded
# and comes back; statements succeed when it is full; reading the views meanwhile does no harm.
. "$(dirname "$0")/../lib.sh"

clients=20
seconds=3
clinic=("CREATE EXTENSION privacy_score"
  "CREATE TABLE patients (id int PRIMARY KEY, city text, diagnosis text, street text)"
  "INSERT INTO patients SELECT i, 'c' || i % 13, 'd' || i % 7, 's' || i FROM generate_series(1, 1000) i"
  "CREATE TABLE visits (patient int, ward text)"
  "INSERT INTO visits SELECT i, 'w' || i % 5 FROM generate_series(1, 1000) i"
  "CREATE ROLE nurse LOGIN" "CREATE ROLE clerk LOGIN"
  "GRANT SELECT ON patients, visits TO nurse, clerk"
  "SELECT privacy_score.protect('patients')")
recorded="SELECT COALESCE(sum(queries), 0) FROM privacy_score.session"
parts="SELECT COALESCE(sum(r), 0) FROM privacy_score.session_part p, unnest(p.runs) r"
calls="SELECT COALESCE(sum(calls), 0) FROM privacy_score.abstraction"

# The load: five statements a transaction.
cat >"$PS_TMP/load.sql" <<'LOAD'
\set id random(1, 1000)
SELECT city FROM patients WHERE id = :id;
BEGIN;
SELECT diagnosis, city FROM patients WHERE id = :id;
SELECT count(*) FROM visits WHERE patient = :id;
END;
SELECT p.city, v.ward FROM patients p JOIN visits v ON v.patient = p.id WHERE p.id = :id;
SELECT ward FROM visits WHERE patient = :id;
LOAD

# Runs pgbench with more arguments and prints the transactions that it did.
load() {
  "$PS_BINDIR/pgbench" -n -j 2 -c "$clients" -T "$seconds" -f "$PS_TMP/load.sql" "$@" 2>>"$PS_TMP/pgbench.err" |
    sed -nE 's/^number of transactions actually processed: ([0-9]+).*/\1/p'
}

# Reads the views as fast as it can until the file is gone.
reader() {
  while [ -e "$PS_TMP/reading" ]; do
    q "SELECT count(last_abstraction) FROM privacy_score.stat_sessions" "SELECT * FROM privacy_score.stat_info" >/dev/null ||
      echo failed >>"$PS_TMP/reader.failed"
  done
}

start_server "max_connections = 60" "privacy_score.flush_interval = '50ms'" "privacy_score.subject_key_period = 0"
q "${clinic[@]}" >/dev/null
touch "$PS_TMP/reading"
reader 2>/dev/null &
sent=0
for protocol in simple extended prepared; do
  done_now=$(as nurse load -M $protocol)
  check_true "protocol $protocol does work" test "${done_now:-0}" -gt 0
  sent=$((sent + done_now * 5))
  q "SELECT privacy_score.flush()" >/dev/null
  check "protocol $protocol: events, history, parts and calls are what was sent" \
    "$(q "SELECT events, ($recorded), ($parts), ($calls), dropped, scoring_errors FROM privacy_score.stat_info")" \
    "$sent|$sent|$sent|$sent|0|0"
done
done_now=$(as clerk load -C)
sent=$((sent + done_now * 5))
q "SELECT privacy_score.flush()" >/dev/null
check "a connection a transaction: nothing is lost" \
  "$(q "SELECT events, ($recorded), ($parts), ($calls), dropped, scoring_errors FROM privacy_score.stat_info")" \
  "$sent|$sent|$sent|$sent|0|0"
check "and each is a session of its own" \
  "$(q "SELECT count(*), count(DISTINCT session), min(queries), max(queries) FROM privacy_score.session WHERE role = 'clerk'")" \
  "$done_now|$done_now|5|5"
rm "$PS_TMP/reading"
wait
check_true "reading the views meanwhile succeeds" test ! -e "$PS_TMP/reader.failed"
check "there are five abstractions" "$(q "SELECT count(*) FROM privacy_score.abstraction")" 5
check_true "afterwards nobody is open" wait_for "SELECT count(*) FROM privacy_score.live_sessions()" 0
check_true "and memory is what changes are noted in, and a few kilobytes" test "$(q "SELECT memory_used - 65536 FROM privacy_score.stat_info")" -lt 20000
check_true "no error, deadlock or crash in the log" eval '! log_has "(ERROR|FATAL|PANIC|deadlock|terminated by signal)"'
check "pgbench saw no error" "$(cat "$PS_TMP/pgbench.err" 2>/dev/null)" ""

# --- administrators work meanwhile ------------------------------------------------------------------------------------
touch "$PS_TMP/reading"
{
  while [ -e "$PS_TMP/reading" ]; do
    q "SELECT privacy_score.set_baseline('nurse', privacy_score.today(), privacy_score.today())" \
      "SELECT privacy_score.protect('visits')" "SELECT privacy_score.analyze_relation('patients', '{city}')" \
      "SELECT privacy_score.flush()" "SELECT privacy_score.unprotect('visits')" \
      "ALTER TABLE patients ADD COLUMN extra int" "ALTER TABLE patients DROP COLUMN extra" \
      "SECURITY LABEL FOR privacy_score ON ROLE nurse IS 'watched'" >/dev/null || echo failed >>"$PS_TMP/admin.failed"
  done
} 2>"$PS_TMP/admin.err" &
admin=$!
# Not prepared: a thread of pgbench waits for a statement to be parsed while other clients of it are within transactions,
# and when that waits for ALTER TABLE, which waits for these, all wait for ever.
done_now=$(as nurse load -M extended)
rm "$PS_TMP/reading"
wait $admin
sent=$((sent + done_now * 5))
q "SELECT privacy_score.flush()" >/dev/null
check "changes of declarations meanwhile lose nothing" \
  "$(q "SELECT events, ($recorded), ($parts), ($calls), dropped, scoring_errors FROM privacy_score.stat_info")" \
  "$sent|$sent|$sent|$sent|0|0"
check "and none fails" "$(cat "$PS_TMP/admin.failed" 2>/dev/null; grep -E 'ERROR|FATAL' "$PS_TMP/admin.err")" ""
check "nor does the worker" "$(grep -E 'ERROR|PANIC|terminated by signal' "$ps_log")" ""

# --- memory runs out --------------------------------------------------------------------------------------------------
start_server "max_connections = 60" "privacy_score.max_memory = '2MB'" "privacy_score.flush_interval = '1h'"
q "${clinic[@]}" >/dev/null
columns=$(seq -s ' ' 1 120)
q "CREATE TABLE wide (id int PRIMARY KEY, $(for i in $columns; do printf 'a_rather_long_column_name_%s int,' "$i"; done) last int)" \
  "GRANT SELECT ON wide TO nurse" "SELECT privacy_score.protect('wide')" >/dev/null
# Each statement has an abstraction of its own, of some kilobytes.
awk -v seed=1 'BEGIN { srand(seed); for (n = 0; n < 400; n++) { s = ""; for (i = 1; i <= 120; i++) if (rand() < 0.7) s = s ", a_rather_long_column_name_" i; print "SELECT id" s " FROM wide;" } }' >"$PS_TMP/wide.sql"
failures=0
for _ in 1 2 3 4 5 6; do
  as nurse "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -f "$PS_TMP/wide.sql" >/dev/null 2>>"$PS_TMP/wide.err" &
  sessions+=($!)
done
for session in "${sessions[@]}"; do wait "$session" || failures=$((failures + 1)); done
check "with memory full every statement succeeds" "$failures$(cat "$PS_TMP/wide.err")" 0
check_match "what does not fit is counted" "$(q "SELECT events, dropped > 0, memory_used <= memory_limit, memory_limit < 2 * 1024 * 1024 FROM privacy_score.stat_info")" "^2400\|t\|t\|t$"
q "SELECT privacy_score.flush()" >/dev/null
check "all is written, what did not fit as \`unparsed\`" "$(q "SELECT events - ($recorded), ($recorded) - ($parts), dropped - (SELECT calls FROM privacy_score.abstraction WHERE tokens = '{unparsed}') FROM privacy_score.stat_info")" "0|0|0"
# What is left is the model with the rates of the wide sets; it goes with the declaration, and from the worker as it leaves.
q "SELECT privacy_score.unprotect('wide')" "SELECT privacy_score.flush()" >/dev/null
check_true "memory comes back" wait_for "SELECT memory_used < 100000 FROM privacy_score.stat_info" t
dropped=$(q "SELECT dropped FROM privacy_score.stat_info")
as nurse q "SELECT city FROM patients WHERE id = 1" >/dev/null
check_true "and the next session is recorded in full" wait_for "SELECT count(*) FROM privacy_score.session WHERE queries = 1" 1
check "without further loss" "$(q "SELECT dropped FROM privacy_score.stat_info")" "$dropped"
check_true "the server stayed up" eval '! log_has "(PANIC|terminated by signal)"'

done_testing

#!/bin/bash
# preload.sh - created but not loaded, loaded but not created, created in several databases, dropped databases.
. "$(dirname "$0")/../lib.sh"

clinic=("CREATE TABLE patients (id int PRIMARY KEY, city text, diagnosis text)"
  "INSERT INTO patients SELECT i, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i"
  "GRANT SELECT ON patients TO PUBLIC")
recorded="SELECT COALESCE(sum(queries), 0) FROM privacy_score.session"

# --- created but not loaded -------------------------------------------------------------------------------------------
start_server "shared_preload_libraries = ''"
check "CREATE EXTENSION works without preload, and says that nothing is watched" "$(q_all "CREATE EXTENSION privacy_score")" \
  "WARNING:  nothing is watched: the library privacy_score is not preloaded
HINT:  Add privacy_score to shared_preload_libraries and restart the server: ALTER SYSTEM SET shared_preload_libraries = 'privacy_score';"
q "${clinic[@]}" "CREATE ROLE alice LOGIN" >/dev/null
check_match "protect() works without preload, and says so too" "$(q_all "SELECT privacy_score.protect('patients')")" \
  "^WARNING:  nothing is watched: the library privacy_score is not preloaded"
check "role_status() says so" \
  "$(q "SELECT value, reason FROM privacy_score.role_status('alice') WHERE setting = 'watched'")" "no|the library is not preloaded"
check "stat_info says so" "$(q "SELECT version IS NOT NULL, watching, events FROM privacy_score.stat_info")" \
  "t|no: the library is not preloaded|"
check "labels work once the library is in the session" \
  "$(q "LOAD 'privacy_score'" "SECURITY LABEL FOR privacy_score ON COLUMN patients.diagnosis IS 'sensitive'")" ""
check "rates work without preload" "$(q "SELECT privacy_score.discrimination_rate('patients', 'id')")" 1
check "noise works without preload" \
  "$(q "SELECT privacy_score.noisy_count(1000), privacy_score.discrete_laplace(0.001), privacy_score.dp_choose('{a}', '{1}', 1) FROM patients")" "$(q "SELECT count(*), 0, 'a' FROM patients")"
check "a baseline of nothing works without preload" \
  "$(q "SELECT count(*) FROM privacy_score.score('alice', '-infinity', 'infinity')")" 0
check "the report says that nothing is watched" "$(q "SELECT privacy_score.report() LIKE '%Nothing is watched%'")" t
for call in "SELECT privacy_score.flush()" "SELECT privacy_score.reset_stats()" "SELECT * FROM privacy_score.stat_sessions"; do
  check "$call needs preload" "$(q "$call" 2>/dev/null)" \
    'ERROR: privacy_score must be loaded via "shared_preload_libraries"'
  check "$call has its SQLSTATE" "$(q_state "$call")" 55000
done
check_match "the hint says what to do" "$(q_all "SELECT privacy_score.flush()")" \
  "HINT: +Add privacy_score to shared_preload_libraries and restart the server."
check "nothing is recorded without preload" \
  "$(as alice q "SELECT count(city) FROM patients"; q "$recorded")" "100
0"
check "a role cannot prepare a setting for the day the library is loaded" \
  "$(as alice q_state "ALTER ROLE alice SET privacy_score.mode = 'off'")" 42501
check_true "the session survives the errors" test "$(q_state "SELECT privacy_score.flush()" "SELECT 1")" = 00000
check "DROP EXTENSION works without preload" "$(q "DROP EXTENSION privacy_score")" ""

# --- loaded but not created -------------------------------------------------------------------------------------------
start_server "max_worker_processes = 12"
q "${clinic[@]}" "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" >/dev/null
check "loaded but not created, statements run" "$(as alice q "SELECT count(city) FROM patients")" 100
check "loaded but not created, the settings exist" "$(q "SHOW privacy_score.mode")" observe
check "loaded but not created, there is no worker" \
  "$(q "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'privacy_score worker'")" 0
check_true "and nothing in the log" eval '! log_has "(ERROR|FATAL|PANIC|could not score)"'
q "CREATE EXTENSION privacy_score" "DROP EXTENSION privacy_score" >/dev/null
check "an ordinary schema named privacy_score is an error for CREATE EXTENSION" \
  "$(q "CREATE SCHEMA privacy_score" "CREATE EXTENSION privacy_score" 2>/dev/null)" 'ERROR: schema "privacy_score" already exists'

# --- several databases ------------------------------------------------------------------------------------------------
for database in one two; do
  q "CREATE DATABASE $database" >/dev/null
  on $database q "CREATE EXTENSION privacy_score" "${clinic[@]}" "SELECT privacy_score.protect('patients')" >/dev/null
done
mkfifo "$PS_TMP/one" "$PS_TMP/two"
as alice on one "$PS_BINDIR/psql" -XAtq <"$PS_TMP/one" >/dev/null 2>&1 &
as bob on two "$PS_BINDIR/psql" -XAtq <"$PS_TMP/two" >/dev/null 2>&1 &
exec 3>"$PS_TMP/one" 4>"$PS_TMP/two"
echo "SELECT city FROM patients;" >&3
echo "SELECT city FROM patients; SELECT diagnosis FROM patients;" >&4
check_true "the first database records its session" on one wait_for "$recorded" 1
check_true "the second database records its session" on two wait_for "$recorded" 2
check "sessions of the first database" "$(on one q "SELECT role, database, queries FROM privacy_score.stat_sessions")" "alice|one|1"
check "sessions of the second database" "$(on two q "SELECT role, database, queries FROM privacy_score.stat_sessions")" "bob|two|2"
check "each database has a worker of its own" \
  "$(q "SELECT datname, count(*) FROM pg_stat_activity WHERE backend_type = 'privacy_score worker' GROUP BY 1 ORDER BY 1")" "one|1
two|1"
check "a database with an open session cannot be dropped" "$(q_state "DROP DATABASE one")" 55006
exec 3>&-
check_true "DROP DATABASE works when its session has just ended" q "DROP DATABASE one"
exec 4>&-
check_true "CREATE DATABASE from a template whose session has just ended" q "CREATE DATABASE three TEMPLATE two"
check "the copy has the history" "$(on three q "$recorded")" 2
check "the copy has the protected relation" "$(on three q "SELECT relation, subject FROM privacy_score.protected_relations")" "patients|{id}"
as alice on three q "SELECT diagnosis FROM patients" >/dev/null
check_true "the copy records for itself" on three wait_for "$recorded" 3
check "and not for its template" "$(on two q "$recorded")" 2
check_true "workers leave when their database is idle" \
  wait_for "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'privacy_score worker'" 0
q "ALTER DATABASE three RENAME TO four" >/dev/null
as alice on four q "SELECT diagnosis FROM patients" >/dev/null
check_true "a renamed database goes on recording" on four wait_for "$recorded" 4
q "DROP DATABASE two" "DROP DATABASE four" >/dev/null

# --- databases come and go --------------------------------------------------------------------------------------------
q "CREATE DATABASE first" >/dev/null
on first q "CREATE EXTENSION privacy_score" "${clinic[@]}" "SELECT privacy_score.protect('patients')" >/dev/null
on first q "SELECT privacy_score.flush()" >/dev/null
used=$(on first q "SELECT memory_used FROM privacy_score.stat_info")
for database in second third fourth; do
  q "CREATE DATABASE $database TEMPLATE first" >/dev/null
  on $database q "SELECT privacy_score.flush()" >/dev/null
  q "DROP DATABASE $database" >/dev/null
done
# Sessions that cannot be written, of a database that is dropped with its worker.
q "CREATE DATABASE broken TEMPLATE first" >/dev/null
on broken q "ALTER TABLE privacy_score.session ADD CHECK (false) NOT VALID" >/dev/null
for i in 1 2 3; do on broken as alice q "SELECT city FROM patients WHERE id = $i" >/dev/null; done
check_true "what cannot be written stays in memory" on first wait_for "SELECT flush_errors > 0 AND memory_used > $used FROM privacy_score.stat_info" t
q "DROP DATABASE broken WITH (FORCE)" >/dev/null
# A worker that starts takes their places.
wait_for "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'privacy_score worker'" 0
on first q "SELECT privacy_score.flush()" >/dev/null
check_true "dropped databases leave no memory behind" test "$(on first q "SELECT memory_used FROM privacy_score.stat_info")" -le "$used"

done_testing

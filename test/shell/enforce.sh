#!/bin/bash
# enforce.sh - limits refuse before a statement runs; refusals are recorded; labels dp only and exempt; break_glass.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.mode = enforce"
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'name ' || i, 'city ' || i % 13, 'diagnosis ' || i % 7 FROM generate_series(1, 200) i" \
  "CREATE TABLE visits (id int PRIMARY KEY, patient_id int REFERENCES patients, at date)" \
  "CREATE TABLE log (line text)" \
  "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE ROLE dora LOGIN" "CREATE ROLE eve LOGIN" \
  "GRANT SELECT ON patients TO alice, bob, dora, eve" "GRANT SELECT, INSERT ON visits TO dora" \
  "GRANT ALL ON log TO alice, bob, dora, eve" \
  "SELECT privacy_score.protect('patients')" >/dev/null
# Runs statements in one session, whatever fails.
all() { printf '%s;\n' "$@" | "$PS_BINDIR/psql" -XAtq 2>/dev/null; }
flush() { q "SELECT privacy_score.flush()" >/dev/null; }

# --- without a limit enforce refuses nothing ---------------------------------------------------------------------------
check "without a limit nothing is refused" "$(as alice q "SELECT count(DISTINCT name) FROM (SELECT name FROM patients) p")" 200
flush
as alice q "SELECT count(*) FROM patients" "SELECT city FROM patients LIMIT 1" >/dev/null
flush
q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" \
  "ALTER ROLE alice SET privacy_score.session_limit = 0.2" >/dev/null

# --- the session limit --------------------------------------------------------------------------------------------------
refused="SELECT diagnosis, city, name FROM patients WHERE id = 17"
check "what the baseline knows passes" "$(as alice q "SELECT count(*) FROM patients" "SELECT city FROM patients LIMIT 1")" "200
city 1"
check "a statement above the limit is refused" "$(as alice q_state "$refused")" PS001
flush
check "the refusal is an alert" \
  "$(q "SELECT role, kind, blocked, score > alert_limit, alert_limit FROM privacy_score.alerts WHERE blocked")" \
  "alice|session|t|t|0.2"
check "and names the n-gram but no value" \
  "$(q "SELECT detail::text LIKE '%public.patients.diagnosis%', detail::text LIKE '%17%' FROM privacy_score.alerts WHERE blocked")" "t|f"
check "it is counted" "$(q "SELECT blocked FROM privacy_score.stat_roles WHERE role = 'alice'")" 1
check "but is not in the history as executed" \
  "$(q "SELECT count(*) FROM privacy_score.abstraction WHERE 'p:public.patients.diagnosis' = ANY (tokens) AND calls > 0")" 0
message=$(as alice "$PS_BINDIR/psql" -XAtq -c "$refused" 2>&1)
check_match "the message tells score and limit" "$message" "ERROR:  statement refused: its session privacy score would be [0-9.]+, above the limit 0.2"
check_match "and whom to ask" "$message" "HINT:  Ask role \"[a-z]+\", who administers privacy_score"
check "and no value and no other role's data" "$(grep -c -E "name 17|bob|17" <<<"$message")" 0
check "a refused transaction goes on after its savepoint" "$(as alice all "BEGIN" "SAVEPOINT a" "$refused" "ROLLBACK TO a" "INSERT INTO log VALUES ('x')" "COMMIT"; as alice q "SELECT count(*) FROM log")" 1
before=$(q "SELECT count(*) FROM privacy_score.alerts WHERE blocked")
as alice all "$refused" "$refused" "$refused" "$refused" "$refused" >/dev/null
flush
check "the like are refused again" "$(q "SELECT blocked FROM privacy_score.stat_roles WHERE role = 'alice'")" 8
check "and the report counts them all" "$(q "SELECT substring(privacy_score.report() FROM '<b>([0-9]+)</b><span>statements refused')")" 8
check "harmless statements of the same session still run" \
  "$(as alice all "$refused" "SELECT count(*) FROM patients" | tail -1)" 200
for path in "PREPARE s AS $refused; EXECUTE s" "DECLARE c CURSOR WITH HOLD FOR $refused" "COPY ($refused) TO STDOUT" \
  "COPY patients TO STDOUT" "CREATE TEMP TABLE t AS $refused" "INSERT INTO log SELECT diagnosis || city || name FROM patients" \
  "DO \$\$BEGIN PERFORM diagnosis, city, name FROM patients; END\$\$" "EXPLAIN ANALYZE $refused" "TABLE patients" \
  "SELECT query_to_xml('$refused', true, true, '')" "WITH x AS (INSERT INTO log VALUES ('y') RETURNING line) SELECT p.* FROM patients p, x"; do
  check "refused: $path" "$(as alice q_state "$path")" PS001
done
check "nothing of these is left" "$(q "SELECT count(*) FROM log")" 1
check "plain EXPLAIN is refused, too: estimates tell what the statistics say" "$(as alice q_state "EXPLAIN $refused")" PS001
check "another role is not touched" "$(as bob q "SELECT count(*) FROM ($refused) r")" 1

# --- the daily limit: many short sessions, and sessions side by side ------------------------------------------------------
q "ALTER ROLE alice RESET privacy_score.session_limit" "ALTER ROLE alice SET privacy_score.daily_limit = 1" >/dev/null
passed=0
for column in diagnosis name "name, diagnosis" "city, diagnosis" "id, name" "id, diagnosis" "id, city" "id, name, city, diagnosis"; do
  [ "$(as alice q_state "SELECT $column FROM patients LIMIT 1")" = 00000 ] && passed=$((passed + 1))
done
check_true "many short sessions reach the daily limit" test "$passed" -lt 8
flush
check "the day stays below its limit" "$(q "SELECT enforced <= 1 FROM privacy_score.score('alice', privacy_score.today(), privacy_score.today())")" t
check_true "the refusal says so" test "$(q "SELECT count(*) FROM privacy_score.alerts WHERE blocked AND kind = 'daily'")" -gt 0

# --- break_glass -----------------------------------------------------------------------------------------------------------
check "a role cannot break the glass itself" "$(as alice q_state "SET privacy_score.break_glass = on")" 42501
q "ALTER ROLE alice SET privacy_score.break_glass = on" >/dev/null
check "with broken glass the statement passes" "$(as alice q "SELECT count(*) FROM (SELECT id, name, city, diagnosis FROM patients) p; SELECT id, name, city, diagnosis FROM patients WHERE id = 1" | tail -1)" "1|name 1|city 1|diagnosis 1"
flush
check "and an alert says so" "$(q "SELECT count(*) > 0, bool_or(blocked) FROM privacy_score.alerts WHERE kind = 'break_glass'")" "t|f"
q "ALTER ROLE alice RESET ALL" >/dev/null

# --- normalised limit --------------------------------------------------------------------------------------------------------
q "ALTER ROLE alice SET privacy_score.normalised_limit = 0.05" >/dev/null
check "the normalised limit refuses nothing" "$(as alice q_state "$refused")" 00000
check_true "and alerts" wait_for "SELECT count(*) FROM privacy_score.alerts WHERE role = 'alice' AND kind = 'normalised' AND NOT blocked" 1
q "ALTER ROLE alice RESET ALL" >/dev/null

# --- dp only ------------------------------------------------------------------------------------------------------------------
q "SECURITY LABEL FOR privacy_score ON ROLE dora IS 'dp only'" >/dev/null
for path in "SELECT count(*) FROM patients" "SELECT 1 FROM patients LIMIT 1" "COPY patients TO STDOUT" "EXPLAIN SELECT * FROM patients" \
  "DO \$\$BEGIN PERFORM 1 FROM patients; END\$\$" "WITH p AS (TABLE patients) SELECT 1 FROM p"; do
  check "dp only refuses: $path" "$(as dora q_state "$path")" PS001
done
for call in "privacy_score.discrimination_rate('patients', 'city')" "privacy_score.attribute_risk('patients')" "privacy_score.attribute_set_risk('patients', '[[\"city\"]]')" \
  "privacy_score.query_identification('SELECT city FROM patients')" "privacy_score.attribute_relationships('patients')"; do
  check "dp only refuses: $call" "$(as dora q_state "SELECT * FROM $call")" PS001
done
check "dp only: other tables can be read" "$(as dora q "SELECT count(*) FROM log")" 1
check "dp only refuses a write of which a foreign key tells" "$(as dora q_state "INSERT INTO visits VALUES (1, 17, now())")" PS001
flush
check "dp only: refusals are alerts" "$(q "SELECT count(*) > 0, bool_and(blocked) FROM privacy_score.alerts WHERE kind = 'dp_only' AND role = 'dora'")" "t|t"

# --- exempt -------------------------------------------------------------------------------------------------------------------
q "SECURITY LABEL FOR privacy_score ON ROLE eve IS 'exempt'" "ALTER ROLE eve SET privacy_score.session_limit = 0" >/dev/null
check "exempt: nothing is refused" "$(as eve all "SELECT count(*) FROM log" "TABLE patients" "TABLE patients" | grep -c name)" 400
flush
check "exempt: reading is announced once a session" "$(q "SELECT count(*) FROM privacy_score.alerts WHERE kind = 'exempt' AND role = 'eve'")" "1"

# --- a flood of refusals ---------------------------------------------------------------------------------------------------------
q "ALTER ROLE bob SET privacy_score.session_limit = 0" "SELECT privacy_score.reset_stats()" >/dev/null
as bob "$PS_BINDIR/psql" -XAtq <<'SQL' >/dev/null 2>&1
SELECT format('SELECT %s FROM patients', string_agg(c, ' || ')) FROM (SELECT i, unnest(CASE WHEN i & 1 = 1 THEN '{id}'::text[] ELSE '{}' END
  || CASE WHEN i & 2 = 2 THEN '{name}'::text[] ELSE '{}' END || CASE WHEN i & 4 = 4 THEN '{city}'::text[] ELSE '{}' END
  || CASE WHEN i & 8 = 8 THEN '{diagnosis}'::text[] ELSE '{}' END) AS c FROM generate_series(1, 300) g(i)) x GROUP BY i \gexec
SQL
flush
check_true "a flood of refused statements is counted" test "$(q "SELECT blocked FROM privacy_score.stat_roles WHERE role = 'bob'")" -ge 280
check_true "and is few alerts" test "$(q "SELECT count(*) FROM privacy_score.alerts WHERE role = 'bob' AND blocked")" -le 21

# --- faults ---------------------------------------------------------------------------------------------------------------------
q "ALTER ROLE bob SET privacy_score.session_limit = 100" >/dev/null
conf "max_worker_processes = 0" "max_parallel_workers = 0"
restart_server
check "without a worker a statement under a limit is refused" "$(as bob q_state "SELECT city FROM patients")" PS001
check_match "and the message says why" "$(as bob "$PS_BINDIR/psql" -XAtq -c "SELECT city FROM patients" 2>&1)" "its privacy score cannot be told.*background worker has not answered"
q "ALTER ROLE bob SET privacy_score.mode = observe" >/dev/null
check "in observe mode it runs" "$(as bob q "SELECT count(city) FROM patients")" 200
check "the server has not crashed" "$(grep -c "was terminated by signal" "$ps_log")" 0
done_testing

#!/bin/bash
# What queries in plain SQL are charged for and what not: plans that cannot be made, levels of one statement, standbys.
. "$(dirname "$0")/../lib.sh"
start_server "TimeZone = 'UTC'"
q "CREATE EXTENSION privacy_score" >/dev/null
psql -qX <<'SQL' >/dev/null
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, smoker boolean);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, department_id int NOT NULL, cost int);
INSERT INTO departments SELECT i, 'D' || i FROM generate_series(1, 5) i;
INSERT INTO patients SELECT i, 'City ' || i % 7, i % 3 = 0 FROM generate_series(1, 1000) i;
INSERT INTO visits SELECT i, 1 + i % 1000, 1 + i % 5, 64 FROM generate_series(1, 4000) i;
ANALYZE;
SELECT privacy_score.protect('patients');
SELECT privacy_score.protect('visits', '{patient_id}');
CREATE ROLE ana LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
GRANT SELECT ON departments TO ana;
SELECT privacy_score.dp_grant_person('ana', 'patients', 1.2, delta => 0.01);
SQL
ana() { as ana q "$@"; }
said() { as ana q "\\set VERBOSITY verbose" "$@" 2>/dev/null | sed -n 's/^ERROR: *//p'; }
spent() { q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'ana'"; }

# --- a plan that cannot be made
check "what cannot be planned says so" \
  "$(said "SELECT count(*) FROM visits v, (SELECT 1 FROM departments a FULL JOIN departments b ON a.department_id < b.department_id) x")" \
  "0A000: FULL JOIN is only supported with merge-joinable or hash-joinable join conditions"
check "and costs nothing" "$(spent)" "0"
# Statistics are of rows: what follows from them is found out only once it is paid.
q "SET allow_system_table_mods = on" "CREATE TABLE kept AS SELECT starelid, staattnum, stanumbers1 FROM pg_statistic WHERE starelid = 'patients'::regclass" \
  "UPDATE pg_statistic SET stanumbers1 = '{{1,2}}' WHERE starelid = 'patients'::regclass" >/dev/null
check "what cannot be planned because of statistics is charged" "$(as ana q_state "SELECT count(*) FROM patients WHERE smoker")" "PS004"
check "and paid" "$(spent)" "0.1"
q "SET allow_system_table_mods = on" "UPDATE pg_statistic s SET stanumbers1 = k.stanumbers1 FROM kept k WHERE k.starelid = s.starelid AND k.staattnum = s.staattnum" >/dev/null

# --- a transaction that is read only
check "read only" "$(ana "BEGIN READ ONLY" "SELECT count(*) IS NOT NULL FROM patients" COMMIT)" "t"
check "is charged" "$(spent)" "0.2"

# --- levels of one statement are paid together
two() { echo "SELECT (SELECT count(*) FROM patients WHERE patient_id > $1) IS NULL, (SELECT count(*) FROM visits WHERE cost > $1) IS NULL"; }
check "two levels, and a histogram for one of them" "$(ana "$(two 1)")" "f|f"
check "cost what they cost alone" "$(spent)" "0.45"
check "the same level twice costs once" "$(ana "SELECT (SELECT count(*) FROM patients WHERE patient_id < 9) = (SELECT count(*) FROM patients WHERE patient_id < 9)")" "t"
check "as its budget says" "$(spent)" "0.55"
check "and as is told" "$(as ana q_all "SET privacy_score.dp_notice = cost" "SELECT (SELECT count(*) FROM patients WHERE patient_id < 8) = (SELECT count(*) FROM patients WHERE patient_id < 8)" |
  grep -oE 'NOTICE:  an answer (has cost epsilon 0.1|is repeated for nothing)' | tr '\n' ' ')" "NOTICE:  an answer has cost epsilon 0.1 NOTICE:  an answer is repeated for nothing "
check "what is held is not paid again" "$(ana "SELECT (SELECT count(*) FROM patients WHERE patient_id < 9) IS NULL, (SELECT count(*) FROM patients WHERE patient_id < 7) IS NULL")" "f|f"
check "beside what is" "$(spent)" "0.75"
three="SELECT (SELECT count(*) FROM patients WHERE patient_id > 2), (SELECT count(*) FROM visits WHERE cost > 2), (SELECT count(*) FROM visits WHERE cost > 3),
  (SELECT sum(cost) FROM visits), (SELECT count(*) FROM patients WHERE patient_id > 3)"
said=$(as ana q_all "$three")
check_match "more than is left is refused" "$said" "^ERROR:  privacy budget exhausted: epsilon 0.55 is asked for, 0.45 is left"
check_match "with all that was asked for" "$said" \
  "DETAIL:  The statement asks for 0.1 for count of patients \\(sql\\), 0.1 for count of visits \\(sql\\), 0.1 for count of visits \\(sql\\), 0.1 for sum of visits \\(sql\\), 0.05 for sum of visits \\(norms\\), 0.1 for count of patients \\(sql\\)."
check "and nothing is charged" "$(spent)" "0.75"
# What the accountant finds too much is charged in no part: somebody lowers the limit while it is asked.
mkfifo "$PS_TMP/owner"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/owner" >/dev/null 2>&1 &
exec 5>"$PS_TMP/owner"
echo "BEGIN; SELECT privacy_score.dp_grant_person('ana', 'patients', 0.9, delta => 0.01);" >&5
wait_for "SELECT state FROM pg_stat_activity WHERE usename = 'postgres' AND pid <> pg_backend_pid() AND backend_type = 'client backend'" "idle in transaction"
as ana q_all "$(two 4)" >"$PS_TMP/raced" 2>&1 &
asking=$!
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'ana' AND state = 'active' AND wait_event_type = 'Extension'" 1
echo "COMMIT;" >&5
exec 5>&-
wait $asking || true
check_match "what came meanwhile refuses all" "$(cat "$PS_TMP/raced")" "^ERROR:  privacy budget exhausted: epsilon 0.2 is asked for, 0.15 is left"
check "and charges none" "$(spent)" "0.75"
q "SELECT privacy_score.dp_grant_person('ana', 'patients', 1.3, delta => 0.01)" >/dev/null
# What fails on reading is charged, by one order for all.
q "SET allow_system_table_mods = on" "UPDATE pg_statistic SET stanumbers1 = '{{1,2}}' WHERE starelid = 'patients'::regclass" >/dev/null
check "a level that fails" "$(as ana q_state "SELECT (SELECT count(*) FROM patients WHERE NOT smoker), (SELECT count(*) FROM visits WHERE cost > 5)")" "PS004"
check "is charged with the others" "$(spent)" "0.95"
check "in one transaction" "$(q "SELECT count(*), count(DISTINCT xmin::text) FROM privacy_score.release WHERE answer IS NULL AND repeat_of IS NULL AND id > (SELECT min(id) FROM privacy_score.release WHERE answer IS NULL AND repeat_of IS NULL)")" "2|1"
q "SET allow_system_table_mods = on" "UPDATE pg_statistic s SET stanumbers1 = k.stanumbers1 FROM kept k WHERE k.starelid = s.starelid AND k.staattnum = s.staattnum" >/dev/null

# --- a standby
start_standby second
check "on a standby nothing is answered" "$(as ana q_state "SELECT count(*) FROM visits")" "25006"
check_match "and the error says where" "$(as ana q_all "SELECT count(*) FROM visits" | tr '\n' ' ')" \
  "^ERROR:  rows of persons are not answered about on a standby DETAIL:  An answer is charged before it is given, which only the primary can do. HINT:  Send the query to the primary"
check "not even what is held" "$(as ana q_state "SELECT count(*) FROM patients")" "25006"
check_match "EXPLAIN tells the price" "$(ana "EXPLAIN SELECT sum(cost) FROM visits" | tr '\n' ' ')" "Epsilon: 0.1 +Epsilon Once: 0.05 +Epsilon Left: 0.2"
check "so does dp_price()" "$(ana "SELECT epsilon, epsilon_once, epsilon_left FROM privacy_score.dp_price('SELECT sum(cost) FROM visits')")" "0.1|0.05|0.2"
check "what reads no persons runs" "$(ana "SELECT count(*) FROM departments")" "5"
use_server main
check "nothing was charged for it" "$(spent)" "0.95"
check "the server did not end" "$(grep -cE 'was terminated|PANIC|XX000' "$ps_log")" "0"
done_testing

#!/bin/bash
# alarms.sh - sessions held against those of the baselines: what normal work raises no alarm for, what each figure
# raises one for, what follows it, and that what is said live is what history says.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.alert_window = 0" "privacy_score.reach_factor = 1000"
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, phone text, hiv boolean, born int)" \
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 13, '0' || i, i % 9 = 0, 1930 + i % 90 FROM generate_series(1, 2000) i" \
  "CREATE TABLE visits (id int PRIMARY KEY, patient int REFERENCES patients, ward text, cost int)" \
  "INSERT INTO visits SELECT i, 1 + i % 2000, 'w' || i % 7, i % 300 FROM generate_series(1, 6000) i" "ANALYZE" \
  "SELECT privacy_score.protect('patients'), privacy_score.protect('visits', '{patient}')" \
  "CREATE ROLE clerk LOGIN" "CREATE ROLE nurse LOGIN" "CREATE ROLE stranger LOGIN" "GRANT SELECT ON patients, visits TO clerk, nurse, stranger" >/dev/null
flush="\\! PGUSER=postgres '$PS_BINDIR/psql' -XAtqc 'SELECT privacy_score.flush()' >/dev/null"
RANDOM=${PS_SEED:-7}

# normal ROLE: the statements of a normal session: a few patients, some statements about each.
normal() {
  local left patient
  for ((left = 1 + RANDOM % 5; left > 0; left--)); do
    patient=$((1 + RANDOM % 2000))
    echo "SELECT name, city FROM patients WHERE id = $patient;"
    if [ $((RANDOM % 2)) = 0 ]; then echo "SELECT ward, cost FROM visits WHERE patient = $patient;"; fi
    if [ "$1" = nurse ] && [ $((RANDOM % 2)) = 0 ]; then echo "SELECT phone FROM patients WHERE id = $patient;"; fi
  done
  if [ $((RANDOM % 3)) = 0 ]; then echo "SELECT count(*) FROM visits WHERE ward = 'w$((RANDOM % 7))';"; fi
}
# sessions ROLE NUMBER
sessions() { local i; for ((i = 0; i < $2; i++)); do normal "$1" >"$PS_TMP/normal"; as "$1" q_script <"$PS_TMP/normal" >/dev/null; done; }
flush() { q "SELECT privacy_score.flush()" >/dev/null; }
# The alerts of the last session of a role: kind and figure.
alarms() { flush; q "SELECT string_agg(a.kind || ' ' || COALESCE(a.detail->>'figure', a.detail->>'cause'), ',' ORDER BY a.id) FROM privacy_score.alerts a JOIN
  (SELECT session FROM privacy_score.session WHERE role = '$1' ORDER BY id DESC LIMIT 1) s ON s.session = a.session"; }
reason() { q "SELECT detail->>'reason' FROM privacy_score.alerts WHERE kind = 'unusual' ORDER BY id DESC LIMIT 1"; }

check "without a baseline nothing is calibrated" "$(q "SELECT count(*) FROM privacy_score.calibration")" 0
check "and a figure is not told" "$(q_all "SELECT * FROM privacy_score.session_figures('clerk', '-infinity', 'infinity')" | head -n 1)" \
  "NOTICE:  alarms are not calibrated yet"

# --- calibration --------------------------------------------------------------------------------------------------------
sessions clerk 40
sessions nurse 40
flush
# The baselines are of yesterday: what comes today is told apart.
q "UPDATE privacy_score.session SET day = day - 1, started = started - '1 day'::interval, last_at = last_at - '1 day'::interval" >/dev/null
yesterday="privacy_score.today() - 1"
q "SELECT privacy_score.set_baseline(r, $yesterday, $yesterday) FROM unnest('{clerk,nurse}'::name[]) r" >/dev/null
wait_for "SELECT count(*) FROM privacy_score.calibration" 1
check "it rests on the sessions of both baselines" "$(q "SELECT sessions, expected_novelty FROM privacy_score.calibration")" "80|0.1"
check "each of them has its figures" "$(q "SELECT count(*), bool_and(tokens = 0 AND unknown = 0 AND addressed BETWEEN 1 AND 5 AND person >= 2 AND repeats >= 1 AND volume = 0 AND differ = 0)
  FROM privacy_score.session_figures('clerk', '-infinity', 'infinity')")" "40|t"
check "so few are not enough for one alarm in a hundred, which is said" "$(q "SELECT DISTINCT calibrated_on BETWEEN 40 AND 80, extrapolated FROM privacy_score.session_figures('clerk', '-infinity', 'infinity')")" "t|t"
check_true "a lower rate asks for more" test "$(q "SELECT (SELECT max(threshold) FROM privacy_score.session_figures('clerk', '-infinity', 'infinity', 0.001))
  > (SELECT max(threshold) FROM privacy_score.session_figures('clerk', '-infinity', 'infinity', 0.1))")" = t
before=$(q "SELECT id FROM privacy_score.calibration")
conf "privacy_score.expected_novelty = 0.2"
reload_server
flush
wait_for "SELECT expected_novelty FROM privacy_score.calibration" 0.2
conf "privacy_score.expected_novelty = 0.12"
reload_server
flush
wait_for "SELECT expected_novelty FROM privacy_score.calibration" 0.12
check_true "with another expected_novelty it is made anew" test "$(q "SELECT id FROM privacy_score.calibration")" -gt "$before"

# --- what is normal and what is not -------------------------------------------------------------------------------------
sessions clerk 10
check "normal sessions raise no alarm" "$(flush; q "SELECT count(*) FROM privacy_score.alerts WHERE kind IN ('unusual', 'drip')")" 0
for ((i = 100; i < 140; i++)); do echo "SELECT name, city FROM patients WHERE id = $i;"; done | as clerk q_script >/dev/null
# While it goes on the repetitions may be told first.
check_true "forty patients, one after the other" grep -qE "^unusual (addressed|repeats)$" <<<"$(alarms clerk)"
check_true "for which it says the reason" grep -qE "^(addressed [0-9]+ subjects by one statement|ran one statement [0-9]+ times); 99 % of this role's sessions at most 5$" <<<"$(reason)"
echo "SELECT name, city FROM patients WHERE id IN ($(seq -s , 1 60));" | as clerk q_script >/dev/null
check_true "sixty at once" grep -q "unusual" <<<"$(alarms clerk)"
check_true "with what they address" grep -q "^addressed 60 subjects" <<<"$(q "SELECT reason FROM privacy_score.alarm_preview('clerk') WHERE session = (SELECT session FROM privacy_score.session ORDER BY id DESC LIMIT 1) OR figure = 'addressed' ORDER BY unusual DESC, reason DESC LIMIT 1")"
for i in $(seq 60); do echo "SELECT count(*) FROM visits WHERE ward = 'w1';"; done | as clerk q_script >/dev/null
check "the same statement again and again" "$(alarms clerk)" "unusual repeats"
echo "SELECT hiv, born, phone FROM patients WHERE city = 'c1'; SELECT avg(born) FROM patients WHERE hiv;" | as clerk q_script >/dev/null
check_true "what the role has never asked for" grep -qE "^unusual (tokens|tokens_max|unknown)$" <<<"$(alarms clerk)"
{ echo "SELECT name, city FROM patients WHERE id = 5;"; for c in phone hiv born "phone, hiv" "hiv, born" "city, hiv, born" "name, phone, hiv, born"; do echo "SELECT $c FROM patients WHERE id = 5;"; done; } | as nurse q_script >/dev/null
# While it goes on its first new columns may be told first.
check_true "all about one patient" grep -qE "^unusual " <<<"$(alarms nurse)"
check_true "which the whole session is told by" grep -qE "^(person|tokens)$" <<<"$(q "SELECT figure FROM privacy_score.alarm_preview('nurse') ORDER BY unusual DESC LIMIT 1")"
# The nurses' statement, three times, and two of her own by a condition and of a column that nobody has.
{ for i in 1 2 3; do echo "SELECT phone FROM patients WHERE id = $i;"; done; echo "SELECT name FROM patients WHERE born = 1950; SELECT hiv, city FROM patients WHERE id = 4;"; } | as clerk q_script >/dev/null
flush
of_clerk="privacy_score.session_figures('clerk', '-infinity', 'infinity') WHERE session = (SELECT session FROM privacy_score.session WHERE role = 'clerk' ORDER BY id DESC LIMIT 1)"
check "what is new is counted by other roles, columns, executions and repetitions" "$(q "SELECT other_roles, new_columns, new_runs, new_repeats, filters > 5 FROM $of_clerk")" "1|2|5|3|t"
echo "SELECT name, city FROM patients; SELECT ward, cost FROM visits;" | as clerk q_script >/dev/null
flush
check "that a table is read under no condition is new by itself" "$(q "SELECT other_roles, new_columns, new_runs, new_repeats, filters > 10, tokens >= filters FROM $of_clerk")" "0|0|2|1|t|t"
# What is known of a patient adds up over sessions, and over days that have passed.
known() { q "SELECT known FROM privacy_score.session_figures('clerk', '-infinity', 'infinity') WHERE session = (SELECT session FROM privacy_score.session WHERE role = 'clerk' ORDER BY id DESC LIMIT 1)"; }
echo "SELECT city FROM patients WHERE id = 5001; SELECT name FROM patients WHERE id = 5002;" | as clerk q_script >/dev/null
check "a session knows what it asked of a patient" "$(flush; known)" 1
echo "SELECT phone FROM patients WHERE id = 5001;" | as clerk q_script >/dev/null
check "the next one what has been asked before as well" "$(flush; known)" 2
echo "SELECT phone FROM patients WHERE id = 5001; SELECT count(*) FROM visits WHERE ward = 'w1';" | as clerk q_script >/dev/null
check "where it learns nothing there is nothing to tell" "$(flush; known)" 0
q "UPDATE privacy_score.principal_subjects SET day = day - 4" "UPDATE privacy_score.principal_day SET day = day - 4" \
  "SELECT pg_terminate_backend(worker_pid) FROM privacy_score.stat_info" >/dev/null
echo "SELECT hiv FROM patients WHERE id = 5001;" | as clerk q_script >/dev/null
check "four days are remembered" "$(flush; known)" 3
q "UPDATE privacy_score.principal_subjects SET day = day - 1" "UPDATE privacy_score.principal_day SET day = day - 1" \
  "SELECT pg_terminate_backend(worker_pid) FROM privacy_score.stat_info" >/dev/null
echo "SELECT born FROM patients WHERE id = 5001;" | as clerk q_script >/dev/null
check "of five days each column counts that is not too old" "$(flush; known)" 2
check "a session that was recorded before has none" \
  "$(q "UPDATE privacy_score.session SET known = NULL WHERE id = (SELECT max(id) FROM privacy_score.session WHERE role = 'clerk')"; known)" ""
q "UPDATE privacy_score.session SET known = 2 WHERE id = (SELECT max(id) FROM privacy_score.session WHERE role = 'clerk')" >/dev/null
check "a role without a baseline has no alarms" "$(as stranger q "SELECT * FROM patients" >/dev/null; alarms stranger)" ""
first="(SELECT s FROM privacy_score.session s WHERE role = 'clerk' ORDER BY id LIMIT 1)"
check "imported or recorded by an earlier release, a session has no such figures" \
  "$(q "UPDATE privacy_score.session SET addressed = NULL, person = NULL, most_rows = NULL WHERE id = ($first).id" \
    "SELECT addressed IS NULL AND person IS NULL AND volume IS NULL AND unusual IS NOT NULL FROM privacy_score.session_figures('clerk', '-infinity', 'infinity') WHERE (day, session) = (($first).day, ($first).session)")" t

# --- differences --------------------------------------------------------------------------------------------------------
last_nurse="WHERE session = (SELECT session FROM privacy_score.session WHERE role = 'nurse' ORDER BY id DESC LIMIT 1)"
# differ STATEMENT...: the figure of a session of the nurse's with these.
differ() { printf '%s;\n' "$@" | as nurse q_script >/dev/null; flush; q "SELECT differ FROM privacy_score.session_figures('nurse', '-infinity', 'infinity') $last_nurse"; }
one=$(q "SELECT patient FROM visits WHERE ward = 'w1' AND cost = 7 LIMIT 1")
some="SELECT count(*) FROM visits WHERE ward = 'w1' AND cost = 7"
check "a condition more that leaves out one record" "$(differ "$some" "$some AND patient <> $one")" 1
check "in the other order" "$(differ "$some AND patient <> $one" "$some")" 1
check "neither the same again, nor what differs by more" \
  "$(differ "$some" "$some" "SELECT count(*) FROM visits WHERE ward = 'w1'" "SELECT count(*) FROM visits WHERE ward = 'w2'" "SELECT count(*) FROM visits WHERE ward = 'w1' AND cost <> 7")" 0
check "nor what three conditions more leave out" "$(differ "$some" "$some AND patient <> $one AND patient <> 1 AND patient <> 2")" 0
check "each other one counts, once" "$(differ "$some" "$some AND patient <> $one" "$some AND patient <> 1999" "$some AND patient <> $one")" 2
list=$(seq -s , 1 300)
check "an element less of a long list" "$(differ "SELECT count(*) FROM patients WHERE id IN ($list)" "SELECT count(*) FROM patients WHERE id IN (${list%,*})")" 1
check "of an array, of a parameter" "$(differ "PREPARE p(int[]) AS SELECT count(*) FROM patients WHERE id = ANY (\$1)" "EXECUTE p('{$list}')" "EXECUTE p('{${list%,*}}')" \
  "SELECT count(*) FROM patients WHERE id = ANY ('{${list#*,}}')")" 2
check "a condition without a constant" "$(differ "SELECT count(*) FROM patients WHERE id < 10" "SELECT count(*) FROM patients WHERE id < 10 AND NOT hiv")" 1
check "an average beside its number" "$(differ "SELECT avg(cost), count(*) FROM visits WHERE ward = 'w1'" "SELECT avg(cost), count(*) FROM visits WHERE ward = 'w1' AND patient <> $one")" 1
check "in a subquery, of one group, by a cursor and in PL/pgSQL" "$(differ \
  "SELECT n FROM (SELECT count(*) AS n FROM patients WHERE city = 'c1') x" "SELECT n FROM (SELECT count(*) AS n FROM patients WHERE city = 'c1' AND id <> 1) x" \
  "SELECT ward, count(*) FROM visits WHERE ward = 'w3' GROUP BY ward" "SELECT ward, count(*) FROM visits WHERE ward = 'w3' AND patient <> 4 GROUP BY ward" \
  "BEGIN" "DECLARE c CURSOR FOR SELECT count(*) FROM patients WHERE city = 'c2'" "FETCH c" "DECLARE d CURSOR FOR SELECT count(*) FROM patients WHERE city = 'c2' AND id <> 2" "FETCH d" "COMMIT" \
  "DO \$\$ DECLARE n int; BEGIN SELECT count(*) INTO n FROM patients WHERE city = 'c3'; SELECT count(*) INTO n FROM patients WHERE city = 'c3' AND id <> 3; END \$\$")" 4
union=$(q "SELECT count(*) FILTER (WHERE a), count(*) FILTER (WHERE b), count(*) FILTER (WHERE a AND b) FROM (SELECT ward = 'w1' AS a, patient = $one AS b FROM visits) x")
check "a union of two that share one record" "$(differ "SELECT count(*) FROM visits WHERE ward = 'w1'" "SELECT count(*) FROM visits WHERE patient = $one" "SELECT count(*) FROM visits WHERE ward = 'w1' OR patient = $one") ${union##*|}" "1 1"
check "and not of parts that share none" "$(differ "SELECT count(*) FROM visits WHERE ward = 'w1'" "SELECT count(*) FROM visits WHERE ward = 'w2'" "SELECT count(*) FROM visits WHERE ward IN ('w1', 'w2')")" 0
q "CREATE TABLE beds (id int, ward text)" "INSERT INTO beds SELECT i, 'w' || i % 3 FROM generate_series(1, 30) i" "GRANT SELECT ON beds TO nurse" >/dev/null
check "what is not protected is nobody's business" "$(differ "SELECT count(*) FROM beds WHERE ward = 'w1'" "SELECT count(*) FROM beds WHERE ward = 'w1' AND id <> 1")" 0
check "of who asks for rows nothing" "$(differ "SELECT cost FROM visits WHERE id = 1" "SELECT cost FROM visits WHERE id = 1 AND ward <> 'w9'")" 0
check "it is stored as it was live" "$({ printf '%s;\n' "$some" "$some AND patient <> $one"; echo "\\! PGUSER=postgres '$PS_BINDIR/psql' -XAtqc \"SELECT differ FROM privacy_score.stat_sessions WHERE role = 'nurse'\""; } | as nurse q_script | tail -n 1; flush; q "SELECT differ FROM privacy_score.session $last_nurse")" "1
1"
for i in 1 2 3 4; do differ "$some" "$some AND patient <> $one" "$some AND patient <> $i" "$some AND patient <> $i AND patient <> $one" >/dev/null; done
check_true "which no session of the role did is a reason" test "$(q "SELECT count(*) FROM privacy_score.session_figures('nurse', '-infinity', 'infinity') WHERE differ > 0 AND unusual > threshold")" -gt 0
check "with the imported and the recorded ones of before it is not known" "$(q "UPDATE privacy_score.session SET differ = NULL $last_nurse" "SELECT differ FROM privacy_score.session_figures('nurse', '-infinity', 'infinity') $last_nurse")" ""
q "UPDATE privacy_score.session SET differ = 4 $last_nurse" >/dev/null

# --- live and from history ----------------------------------------------------------------------------------------------
flush
differ="SELECT count(*) FILTER (WHERE f.unusual IS DISTINCT FROM s.unusual OR f.figure IS DISTINCT FROM s.unusual_figure), count(*) > 12
  FROM privacy_score.session s JOIN LATERAL privacy_score.session_figures(s.role, s.day, s.day) f ON f.session = s.session WHERE s.day = privacy_score.today() AND s.role <> 'stranger'"
check "what was said live is what history says" "$(q "$differ")" "0|t"
# A worker that comes in the middle of a session takes it up.
mkfifo "$PS_TMP/stay"
as clerk "$PS_BINDIR/psql" -XAtq <"$PS_TMP/stay" >/dev/null 2>&1 &
stays=$!
exec 3>"$PS_TMP/stay"
session="SELECT queries FROM privacy_score.session WHERE role = 'clerk' ORDER BY id DESC LIMIT 1"
for ((i = 1; i <= 30; i++)); do echo "SELECT name, city FROM patients WHERE id = $i; SELECT born FROM patients WHERE id = $i;"; done >&3
wait_for "$session" 60
check "an open session shows them" "$(q "SELECT addressed, person > 1, unusual > 2, unusual_figure IN ('tokens', 'tokens_max', 'addressed', 'repeats', 'unknown') FROM privacy_score.stat_sessions WHERE role = 'clerk'")" "30|t|t|t"
q "SELECT pg_terminate_backend(worker_pid) FROM privacy_score.stat_info" >/dev/null
echo "SELECT name FROM patients WHERE id = 900; SELECT city FROM patients WHERE id = 901;" >&3
wait_for "$session" 62
exec 3>&-
wait $stays
flush
check "after a worker has ended in the middle of a session, too" "$(q "$differ")" "0|t"
restart_server immediate
sessions clerk 1
check "and after a crash" "$(flush; q "$differ")" "0|t"

# --- slow drips ---------------------------------------------------------------------------------------------------------
q "UPDATE privacy_score.session SET drip = 0 WHERE role = 'nurse'" "SELECT privacy_score.acknowledge_alert(id) FROM privacy_score.alerts WHERE acknowledged_at IS NULL" >/dev/null
# One patient more than any session of the baseline, which is rare, and not rare enough.
conf "privacy_score.alarm_rate = 0.0001"
restart_server
for ((i = 0; i < 40; i++)); do
  for ((k = 1; k <= 6; k++)); do echo "SELECT name, city FROM patients WHERE id = $((6 * i + k));"; done | as nurse q_script >/dev/null
  flush
  if [ "$(q "SELECT count(*) FROM privacy_score.alerts WHERE kind = 'drip'")" = 1 ]; then break; fi
done
check_true "a little more each session is told when it has added up" test "$i" -gt 0 -a "$i" -lt 40
check "of the role that did it" "$(q "SELECT role, detail->>'cause' FROM privacy_score.alerts WHERE kind = 'drip'")" "nurse|drip"
check "once, not with each session that follows" "$(sessions nurse 3; flush; q "SELECT count(*) FROM privacy_score.alerts WHERE kind = 'drip'")" 1

# One new statement, a few times a session: each of them is usual enough.
q "UPDATE privacy_score.session SET drip = 0, new_drip = NULL WHERE role = 'nurse'" "SELECT privacy_score.acknowledge_alert(id) FROM privacy_score.alerts WHERE acknowledged_at IS NULL" >/dev/null
restart_server
new_drips="SELECT count(*) FROM privacy_score.alerts WHERE detail->>'cause' = 'new_drip'"
for ((i = 0; i < 40; i++)); do
  for ((k = 1; k <= 4; k++)); do echo "SELECT name, born FROM patients WHERE id = $((4 * i + k));"; done | as nurse q_script >/dev/null
  flush
  if [ "$(q "$new_drips")" = 1 ]; then break; fi
done
check_true "a new statement run a few times a session is told when it has added up" test "$i" -gt 0 -a "$i" -lt 40
check "above its limit" "$(q "SELECT DISTINCT kind, role, a.score > a.alert_limit AND a.score = s.new_drip FROM privacy_score.alerts a JOIN privacy_score.session s USING (session, role) WHERE detail->>'cause' = 'new_drip'")" "drip|nurse|t"
check "and it not again either" "$(sessions nurse 3; flush; q "$new_drips")" 1

conf "privacy_score.alarm_rate = 0.01"
restart_server

# --- what follows an alarm ----------------------------------------------------------------------------------------------
q "ALTER ROLE clerk SET privacy_score.alarm_action = 'warn'" >/dev/null
unusual="SELECT hiv, born, phone FROM patients WHERE city = 'c1'"
said=$({ echo "$unusual \\g /dev/null"; echo "$flush"; echo "SELECT name, city FROM patients WHERE id = 1;"; } | as clerk q_script)
check_true "the client hears of it" grep -q "WARNING:  what this session does is unusual for its role" <<<"$said"
q "ALTER ROLE clerk SET privacy_score.alarm_action = 'refuse'" >/dev/null
said=$({ echo "$unusual \\g /dev/null"; echo "$flush"; echo "SELECT name, city FROM patients WHERE id = 1;"; echo "\\echo :SQLSTATE"; echo "SELECT born, phone FROM patients;"; } | as clerk q_script)
check "what is known goes on" "$(grep -vE "WARNING|HINT" <<<"$said" | sed -n 1,2p)" "n1|c1
00000"
check_true "what is new is refused" grep -q "ERROR:  statement refused: what this session does is unusual for its role" <<<"$said"
said=$({ for ((i = 1; i <= 40; i++)); do echo "SELECT name, city FROM patients WHERE id = $i \\g /dev/null"; done; echo "$flush"; echo "SELECT 1;"; echo "SELECT name, city FROM patients WHERE id = 1;"; } |
  as clerk "$PS_BINDIR/psql" -XAtq -f - 2>&1)
check_true "a loop comes to its end" grep -q "ERROR:  statement refused" <<<"$said"
check "other work does not" "$(grep -c '^1$' <<<"$said")" 1
check "a refusal is an alert" "$(flush; q "SELECT DISTINCT kind, blocked, severity FROM privacy_score.alerts WHERE blocked")" "unusual|t|critical"
check "its SQLSTATE is that of refusals" "$(grep -c PS001 <<<"$({ echo "\\set VERBOSITY verbose"; echo "$unusual \\g /dev/null"; echo "$flush"; echo "SELECT born FROM patients;"; } | as clerk "$PS_BINDIR/psql" -XAtq -f - 2>&1)")" 1
q "ALTER ROLE clerk SET privacy_score.break_glass = on" >/dev/null
said=$({ echo "$unusual \\g /dev/null"; echo "$flush"; echo "SELECT count(*) FROM (SELECT born, phone FROM patients) x;"; } | as clerk q_script)
check_true "unless the glass is broken" grep -q "^2000$" <<<"$said"
check "the role cannot switch that off" "$(as clerk q_state "SET privacy_score.alarm_action = 'alert'")" 42501
conf "privacy_score.alarm_rate = 0"
restart_server
q "ALTER ROLE clerk RESET ALL" "DELETE FROM privacy_score.alert" >/dev/null
echo "$unusual;" | as clerk q_script >/dev/null
check "alarm_rate 0 raises none" "$(alarms clerk)" ""

# --- who may see it -----------------------------------------------------------------------------------------------------
check_true "a role sees its own figures" test "$(as clerk q "SELECT count(*) > 40 FROM privacy_score.session_figures('clerk', '-infinity', 'infinity')")" = t
check "and no other's" "$(as clerk q_state "SELECT * FROM privacy_score.session_figures('nurse', '-infinity', 'infinity')")" 42501
check "nor by alarm_preview" "$(as clerk q_state "SELECT * FROM privacy_score.alarm_preview('nurse')")" 42501
check "nor the calibration" "$(as clerk q_state "SELECT * FROM privacy_score.calibration")" 42501
check "a rate is a share" "$(q_state "SELECT * FROM privacy_score.alarm_preview('clerk', 1)") $(q_state "SELECT * FROM privacy_score.alarm_preview('clerk', 'NaN')")" "22023 22023"
check "without a baseline in force the calibration goes" "$(q "ALTER SYSTEM SET privacy_score.alarm_rate = 0.01" "SELECT pg_reload_conf()" "UPDATE privacy_score.baseline SET active = false" >/dev/null
  q "SELECT privacy_score.set_baseline('stranger', privacy_score.today(), privacy_score.today())" >/dev/null; wait_for "SELECT sessions FROM privacy_score.calibration" 1 && echo yes)" yes
check "nothing went wrong while scoring" "$(q "SELECT scoring_errors, flush_errors FROM privacy_score.stat_info")" "0|0"
done_testing

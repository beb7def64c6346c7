#!/bin/bash
# warn.sh - limits in modes observe and warn: the client's warning, the log line, the alert's row, the notification, one
# alert per cause and session; estimated scores raise their alert once they are exact.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, first_name text, last_name text, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'f' || i % 17, 'l' || i % 97, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 300) i" \
  "SELECT privacy_score.protect('patients')" >/dev/null
for role in learner observed warned daily normalised level brief quick free short; do
  q "CREATE ROLE $role LOGIN" "GRANT SELECT ON patients TO $role" >/dev/null
done
recorded() { echo "SELECT COALESCE(sum(queries), 0) FROM privacy_score.session WHERE role = '$1'"; }
alerts() { q "SELECT kind FROM privacy_score.alert WHERE role = '$1' ORDER BY kind"; }

# A baseline of one usual statement for everyone; rates of what the sessions will do.
as learner q "SELECT city FROM patients" >/dev/null
check_true "the usual statement is recorded" wait_for "$(recorded learner)" 1
q "SELECT privacy_score.set_baseline('learner', privacy_score.today(), privacy_score.today())" >/dev/null
for role in observed warned daily normalised level brief quick free short; do
  q "SELECT privacy_score.import_baseline(jsonb_set(privacy_score.export_baseline('learner'), '{role}', '\"$role\"'))" >/dev/null
done
q "SELECT privacy_score.analyze_relation('patients', '{city,first_name,last_name}')" \
  "SELECT privacy_score.analyze_relation('patients', '{city,diagnosis}')" \
  "SELECT privacy_score.analyze_relation('patients', '{city}')" \
  "SELECT privacy_score.analyze_relation('patients', '{first_name,last_name}')" \
  "SELECT privacy_score.analyze_relation('patients', '{diagnosis}')" \
  "SELECT privacy_score.analyze_relation('patients', '{first_name,last_name,diagnosis}')" \
  "SELECT privacy_score.flush()" >/dev/null

q "ALTER ROLE observed SET privacy_score.session_limit = 0.01" \
  "ALTER ROLE warned SET privacy_score.mode = 'warn'" "ALTER ROLE warned SET privacy_score.session_limit = 0.01" \
  "ALTER ROLE daily SET privacy_score.mode = 'warn'" "ALTER ROLE daily SET privacy_score.daily_limit = 1.0" \
  "ALTER ROLE normalised SET privacy_score.mode = 'warn'" "ALTER ROLE normalised SET privacy_score.normalised_limit = 0.05" \
  "ALTER ROLE level SET privacy_score.mode = 'warn'" "ALTER ROLE level SET privacy_score.alert_level = 0.01" \
  "ALTER ROLE free SET privacy_score.mode = 'warn'" "ALTER ROLE free SET privacy_score.session_limit = 1000" >/dev/null

usual="SELECT city FROM patients LIMIT 0 + 0"
unusual="SELECT first_name, last_name FROM patients LIMIT 0 + 0"
other="SELECT diagnosis FROM patients LIMIT 0 + 0"

# --- observe, warn ----------------------------------------------------------------------------------------------------
check "usual work raises nothing" "$(as warned q_all "$usual")" ""
check "observe: the client sees nothing" "$(as observed q_all "$usual" "$unusual" "$other")" ""
check_true "observe: the alert is written" wait_for "SELECT kind, blocked, score > alert_limit, alert_limit, acknowledged_at IS NULL
  FROM privacy_score.alert WHERE role = 'observed'" "session|f|t|0.01|t"
mkfifo "$PS_TMP/listener"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/listener" >"$PS_TMP/heard" 2>&1 &
exec 3>"$PS_TMP/listener"
echo "LISTEN privacy_score_alert; SELECT 'listening';" >&3
check_true "somebody listens" wait_for_line "$PS_TMP/heard" 'listening'
warning=$(as warned q_all "$usual" "$unusual" "$other" "$unusual")
check_match "warn: the client is warned" "$warning" "WARNING:  session privacy score [0-9.]+ is above the limit 0.01"
check_match "warn: the hint says what to do" "$warning" "HINT:  Ask the administrator"
check "warn: once a session" "$(grep -c WARNING <<<"$warning")" 1
check_true "warn: one alert a session" wait_for "SELECT count(*) FROM privacy_score.alert WHERE role = 'warned'" 1
check "one line in the log a session" "$(grep -c 'privacy_score alert: kind=session .*role="warned"' "$ps_log")" 1
check_match "the line has the numbers" "$(grep -A 1 'role="warned"' "$ps_log")" \
  'LOG:  privacy_score alert: kind=session severity=critical role="warned" session="[0-9a-f]+\.[0-9a-f]+" score=[0-9.]+ limit=0.01 blocked=false database="postgres"'
check_true "the line has no statement" eval "! grep -A 1 'privacy_score alert' '$ps_log' | grep -q STATEMENT"
as warned q_all "$usual" "$unusual" >/dev/null
check_true "the next session is counted on the same alert" \
  wait_for "SELECT count(*), sum(occurrences) FROM privacy_score.alert WHERE role = 'warned'" "1|2"
check "a limit that is not passed raises nothing" "$(as free q_all "$usual" "$unusual" "$other"; alerts free)" ""

# --- the notification -------------------------------------------------------------------------------------------------
for _ in $(seq 50); do
  echo "SELECT 1;" >&3
  sleep 0.1
  if grep -q '^Asynchronous notification' "$PS_TMP/heard"; then break; fi
done
exec 3>&-
payload=$(sed -nE 's/^Asynchronous notification "privacy_score_alert" with payload "(.*)" received from.*/\1/p' "$PS_TMP/heard" | head -n 1)
check_match "a listener gets the alert" "$payload" '^\{.*"warned".*\}$'
check "the payload has the documented keys" "$(q "SELECT string_agg(k, ',' ORDER BY k) FROM jsonb_object_keys('${payload//\'/\'\'}'::jsonb) k")" \
  "alert_limit,application_name,at,auth_method,blocked,detail,hmac,id,kind,new_context,occurrences,role,score,session,severity,tls,version"
check "the payload is the row of the alert" "$(q "SELECT p.at = a.at, p.role = a.role, p.session = a.session, p.kind = a.kind, p.score = a.score, p.detail = a.detail
   FROM jsonb_populate_record(NULL::privacy_score.alert, '${payload//\'/\'\'}'::jsonb) p JOIN privacy_score.alerts a USING (id)")" "t|t|t|t|t|t"
check_match "the detail names columns and holds no value" "$(q "SELECT detail FROM privacy_score.alerts WHERE role = 'warned' LIMIT 1")" \
  "patients.(first_name|last_name)"

# --- other limits -----------------------------------------------------------------------------------------------------
check_match "normalised_limit warns" "$(as normalised q_all "$usual" "$unusual")" "WARNING:  normalised privacy score"
check_match "alert_level warns" "$(as level q_all "$usual" "$unusual")" "WARNING:  ngram privacy score"
check_true "their alerts have their kinds" wait_for "SELECT string_agg(DISTINCT kind, ',') FROM privacy_score.alert WHERE role IN ('normalised', 'level')" "ngram,normalised"
for session in 1 2 3; do
  as daily q_all "$usual" "$unusual" "SELECT pg_sleep(0.5)" "$other" >>"$PS_TMP/daily"
  wait_for "$(recorded daily)" $((4 * session))
done
check_true "daily_limit raises an alert" wait_for "SELECT count(*) > 0 FROM privacy_score.alert WHERE role = 'daily'" t
check "of its kind" "$(q "SELECT DISTINCT kind, score > alert_limit FROM privacy_score.alert WHERE role = 'daily'")" "daily|t"
check "with the score of the day" "$(q "SELECT max(a.score) <= (SELECT s.score + 1e-9 FROM privacy_score.score('daily', privacy_score.today(), privacy_score.today()) s) FROM privacy_score.alert a WHERE role = 'daily'")" t

# Sessions of one statement, whose process knows no score of the day but its own.
q "ALTER ROLE short SET privacy_score.daily_limit = 1.5" >/dev/null
for statement in "$unusual" "$other" "SELECT city, diagnosis FROM patients LIMIT 0 + 0" "$unusual" "$usual"; do as short q "$statement" >/dev/null; done
check_true "short sessions reach daily_limit together" wait_for "SELECT count(*) > 0 FROM privacy_score.alert WHERE role = 'short' AND kind = 'daily'" t
check "though each is below it" "$(q "SELECT max(score) < 1.5 FROM privacy_score.score_sessions('short', '-infinity', 'infinity')")" t
check "and its detail says for which day" \
  "$(q "SELECT bool_or(detail = jsonb_build_object('version', 1, 'cause', 'day', 'day', privacy_score.today())) FROM privacy_score.alerts WHERE role = 'short' AND kind = 'daily'")" t

# --- settings cannot be loosened from within ----------------------------------------------------------------------------
check "a watched role cannot lift its limit" "$(as warned q_state "SET privacy_score.session_limit = -1")" 42501
check_match "SET ROLE does not change the limits" "$(q "GRANT free TO warned" >/dev/null; as warned q_all "SET ROLE free" "$usual" "$unusual")" "WARNING"

# --- estimated scores -------------------------------------------------------------------------------------------------
q "ALTER ROLE brief SET privacy_score.session_limit = 0.01" "ALTER ROLE quick SET privacy_score.alert_level = 0.01" >/dev/null
q "INSERT INTO patients SELECT i, 'x' || i, 'y' || i, 'c' || i % 13, 'd' FROM generate_series(1001, 1100) i" \
  "DELETE FROM privacy_score.rate" "SELECT privacy_score.flush()" >/dev/null
q "ALTER TABLE patients ADD COLUMN street text" "UPDATE patients SET street = 's' || id" "SELECT privacy_score.flush()" >/dev/null
as brief q_all "SELECT street, diagnosis FROM patients LIMIT 0 + 0" >/dev/null
check_true "a session that ends before its score is exact raises its alert" \
  wait_for "SELECT kind FROM privacy_score.alert WHERE role = 'brief'" session
q "ALTER TABLE patients ADD COLUMN email text" "UPDATE patients SET email = 'e' || id" "SELECT privacy_score.flush()" >/dev/null
# While the session goes on: after its end alert_level is asked no more.
as quick q_script >/dev/null <<'SQL'
SELECT email FROM patients LIMIT 0 + 0;
\! until [ "$(psql -XAt -U postgres -c "SELECT count(*) > 0 FROM privacy_score.stat_sessions WHERE role = 'quick' AND NOT estimated")" = t ]; do sleep 0.1; done
SELECT 1;
SQL
check_true "alert_level is asked of the corrected score too" \
  wait_for "SELECT kind FROM privacy_score.alert WHERE role = 'quick'" ngram
check "an alert of an estimated score carries the exact one" \
  "$(q "SELECT bool_and(abs(a.score - s.score) < 1e-9) FROM privacy_score.alert a
         JOIN privacy_score.score_sessions('brief', '-infinity', 'infinity') s USING (session) WHERE a.role = 'brief'")" t

# --- acknowledging ----------------------------------------------------------------------------------------------------
id=$(q "SELECT min(id) FROM privacy_score.alerts WHERE role = 'warned'")
check "a watched role cannot acknowledge" "$(as warned q_state "SELECT privacy_score.acknowledge_alert($id)")" 42501
q "SELECT privacy_score.acknowledge_alert($id)" >/dev/null
check "an alert is acknowledged" "$(q "SELECT acknowledged_at IS NOT NULL, acknowledged_by FROM privacy_score.alerts WHERE id = $id")" "t|postgres"
check "a role sees its own alerts only" "$(as warned q "SELECT DISTINCT role FROM privacy_score.alerts")" warned

done_testing

#!/bin/bash
# acceptance.sh - alarms that are right to be ignored: what is accepted raises no alarm, no mismatch and no refusal, for
# whom it was accepted and as long; by somebody else than whose alarm it is, and with four_eyes by two.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.alert_window = 0" "privacy_score.end_user_source = 'privacy_score.end_user'" "privacy_score.session_scope = 'connection'"
q "CREATE EXTENSION privacy_score" || bail_out "no extension"
q \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, phone text, hiv boolean, born int)" \
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 13, '0' || i, i % 9 = 0, 1930 + i % 90 FROM generate_series(1, 2000) i" "ANALYZE" \
  "SELECT privacy_score.protect('patients', '{id}')" \
  "CREATE ROLE app LOGIN" "CREATE ROLE clerk LOGIN" "CREATE ROLE chief LOGIN" "CREATE ROLE deputy LOGIN" "CREATE ROLE officers NOLOGIN" \
  "GRANT officers TO chief, deputy, clerk" "GRANT pg_read_all_stats TO officers" "GRANT SELECT ON patients TO app, clerk" "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" \
  "GRANT USAGE ON SCHEMA privacy_score TO officers" \
  "GRANT EXECUTE ON FUNCTION privacy_score.accept_alert, privacy_score.confirm_acceptance, privacy_score.withdraw_acceptance, privacy_score.flush TO officers" >/dev/null
RANDOM=${PS_SEED:-7}

# of PERSON: psql of somebody behind the gateway app; the role clerk has no end users.
of() { local person=$1; shift; if [ "$person" = clerk ]; then PGUSER=clerk "$@"; else PGUSER=app PGOPTIONS="-c privacy_score.end_user=$person" "$@"; fi; }
normal() {
  local left patient
  for ((left = 1 + RANDOM % 5; left > 0; left--)); do
    patient=$((1 + RANDOM % 2000))
    echo "SELECT name, city FROM patients WHERE id = $patient;"
    if [ $((RANDOM % 2)) = 0 ]; then echo "SELECT phone FROM patients WHERE id = $patient;"; fi
  done
}
# sessions PERSON NUMBER
sessions() { local i; for ((i = 0; i < $2; i++)); do normal >"$PS_TMP/normal"; of "$1" q_script <"$PS_TMP/normal" >/dev/null; done; }
flush() { q "SELECT privacy_score.flush()" >/dev/null; }
# run PERSON STATEMENTS: one session; prints its alerts.
run() {
  echo "$2" | of "$1" q_script >/dev/null
  flush
  q "SELECT COALESCE(string_agg(a.kind || COALESCE(' ' || (a.detail->>'figure'), ''), ',' ORDER BY a.id), 'none') FROM
    (SELECT session FROM privacy_score.session ORDER BY id DESC LIMIT 1) s LEFT JOIN privacy_score.alerts a ON a.session = s.session AND a.kind IN ('unusual', 'drip')"
}
last_alert() { q "SELECT max(id) FROM privacy_score.alerts WHERE kind = 'unusual' AND NOT blocked"; }
loop() { local i; for ((i = 1; i <= $1; i++)); do echo "SELECT name, city FROM patients WHERE id = $((i + ${2:-0}));"; done; }
new="SELECT hiv, born FROM patients WHERE city = 'c1'; SELECT avg(born) FROM patients WHERE hiv;"
# What the last session adds to the role's baseline, live or from history: n-grams that mismatch and their score.
mismatched() { q "SELECT mismatched, score FROM privacy_score.score_sessions('app', privacy_score.today(), privacy_score.today()) WHERE session = (SELECT session FROM privacy_score.session ORDER BY id DESC LIMIT 1)"; }
# In how many of today's sessions since the row $1 the stored number is not that of history.
differs() { q "SELECT count(*) FILTER (WHERE f.unusual IS DISTINCT FROM s.unusual OR f.figure IS DISTINCT FROM s.unusual_figure), count(*) > 0 FROM privacy_score.session s
  JOIN LATERAL privacy_score.session_figures(s.role, s.day, s.day) f ON f.session = s.session WHERE s.id > $1 AND s.day = privacy_score.today()"; }
latest() { q "SELECT COALESCE(max(id), 0) FROM privacy_score.session"; }

for person in ann bob cat; do sessions $person 15; done
sessions clerk 40
flush
q "UPDATE privacy_score.session SET day = day - 1, started = started - '1 day'::interval, last_at = last_at - '1 day'::interval" >/dev/null
q "SELECT privacy_score.set_baseline(r, privacy_score.today() - 1, privacy_score.today() - 1) FROM unnest('{app,clerk}'::name[]) r" >/dev/null
wait_for "SELECT count(*) FROM privacy_score.calibration" 1
flush
exported=$(q "SELECT md5(privacy_score.export_baseline('app')::text)")

# --- statements ---------------------------------------------------------------------------------------------------------
check_true "new work raises an alarm" grep -qE "^unusual (tokens|tokens_max|unknown)" <<<"$(run ann "$new")"
before=$(mismatched)
check_true "and does not match" test "${before%%|*}" -gt 0
alert=$(last_alert)
accepted=$(as chief q "SET ROLE officers" "SELECT privacy_score.accept_alert($alert, 'a study of ours')")
check "it is accepted" "$(q "SELECT role, end_user, alert, kind, state, what ~ '^2 statements', note, accepted_by, expires IS NULL FROM privacy_score.accepted WHERE id = $accepted")" \
  "app|ann|$alert|unusual|in force|t|a study of ours|chief|t"
check "with the statements" "$(q "SELECT cardinality(statements), array_to_string(statements, ' ') LIKE '%patients.hiv%' FROM privacy_score.accepted WHERE id = $accepted")" "2|t"
check "and seen" "$(q "SELECT acknowledged_by FROM privacy_score.alerts WHERE id = $alert")" chief
flush
from=$(latest)
check "then it raises none" "$(run ann "$new")" none
check "matches" "$(mismatched)" "0|0"
check "and is not told by alarm_preview()" "$(q "SELECT count(*) FROM privacy_score.alarm_preview('app')")" 0
check "what was said live is what history says" "$(differs "$from")" "0|t"
check_true "of somebody else it does" grep -q "^unusual" <<<"$(run bob "$new")"
check_true "who does not match" test "$(mismatched | cut -d '|' -f 1)" -gt 0
check_true "more than that is unusual of her, too" grep -q "^unusual" <<<"$(run ann "$new SELECT id, born, hiv, phone, name, city FROM patients WHERE born > 1980; SELECT hiv, phone, city FROM patients WHERE name LIKE 'n1%';")"
check "an open session is judged by it" "$(flush; q "SELECT count(*) FROM privacy_score.stat_sessions WHERE estimated")" 0
check "the baseline stays as it is" "$(q "SELECT md5(privacy_score.export_baseline('app')::text)")" "$exported"
check "explain_query() knows it" "$(q "SELECT e->>'known' FROM (VALUES ('ann'), ('bob')) u(u), privacy_score.explain_query('SELECT hiv, born FROM patients WHERE city = ''c3''', 'app', u) e ORDER BY u" | paste -sd ' ')" "true false"

# --- enforce ------------------------------------------------------------------------------------------------------------
q "ALTER ROLE app SET privacy_score.mode = 'enforce'" "ALTER ROLE app SET privacy_score.session_limit = 0" >/dev/null
said=$(echo "SELECT hiv, born FROM patients WHERE city = 'c7' LIMIT 1 \\g /dev/null" | of ann q_script 2>&1; echo "SELECT hiv, born FROM patients WHERE city = 'c7' LIMIT 1 \\g /dev/null" | of cat "$PS_BINDIR/psql" -XAtq 2>&1)
check "it is not refused; of others it is" "$(grep -c "statement refused" <<<"$said")" 1
flush
refused=$(q "SELECT max(id) FROM privacy_score.alerts WHERE blocked AND end_user = 'cat'")
as chief q "SET ROLE officers" "SELECT privacy_score.accept_alert($refused, 'cat takes part')" >/dev/null
flush
check "a refusal can be accepted" "$(echo "SELECT count(*) > 0 FROM (SELECT hiv, born FROM patients WHERE city = 'c7' LIMIT 1) x; SELECT hiv, born FROM patients WHERE city = 'c7' LIMIT 1 \\g /dev/null
\\echo :SQLSTATE" | of cat "$PS_BINDIR/psql" -XAtq 2>/dev/null | tail -n 1)" 00000
q "ALTER ROLE app RESET ALL" >/dev/null

# --- heights ------------------------------------------------------------------------------------------------------------
check_true "thirty patients, one after the other" grep -qE "^unusual (addressed|repeats)" <<<"$(run bob "$(loop 30)")"
alert=$(last_alert)
heights=$(as chief q "SET ROLE officers" "SELECT privacy_score.accept_alert($alert, 'calls a ward')")
check "how high that is, is accepted" "$(q "SELECT what ~ 'addressed up to 30' AND what ~ 'repeats up to 30' FROM privacy_score.accepted WHERE id = $heights")" t
from=$(latest)
check "as many are no alarm any more" "$(run bob "$(loop 30 100)")" none
check "which history says, too" "$(differs "$from")" "0|t"
check_true "more are" grep -qE "^unusual (addressed|repeats)" <<<"$(run bob "$(loop 60 100)")"
check_true "of others as many" grep -qE "^unusual (addressed|repeats)" <<<"$(run cat "$(loop 30 100)")"
alert=$(last_alert)
as chief q "SET ROLE officers" "SELECT privacy_score.accept_alert($alert, 'the whole ward', NULL, 'role')" >/dev/null
check "for the role: all who work under it" "$(run cat "$(loop 30)") $(run ann "$(loop 30)")" "none none"
check "a role without end users is its own" "$(run clerk "$(loop 40)" | grep -c unusual)" 1
alert=$(last_alert)
check "it is accepted as the role" "$(as chief q "SET ROLE officers" "SELECT privacy_score.accept_alert($alert, 'inventory')" "SELECT end_user IS NULL, role FROM privacy_score.accepted WHERE alert = $alert" | tail -n 1)" "t|clerk"
check "and raises none" "$(run clerk "$(loop 40 7)")" none

# --- a session that goes on ---------------------------------------------------------------------------------------------
q "ALTER ROLE clerk SET privacy_score.alarm_action = 'refuse'" >/dev/null
mkfifo "$PS_TMP/stay"
PGUSER=clerk "$PS_BINDIR/psql" -XAtq <"$PS_TMP/stay" >"$PS_TMP/stayed" 2>&1 &
stays=$!
exec 3>"$PS_TMP/stay"
# One more statement that is new: of the session so many are counted, so many refused.
one_more="SELECT born FROM patients WHERE id = 5;"
so_far() { q "SELECT queries, refused FROM privacy_score.session WHERE role = 'clerk' ORDER BY id DESC LIMIT 1"; }
echo "$new" >&3
wait_for "SELECT count(*) FROM privacy_score.alerts WHERE kind = 'unusual' AND NOT blocked AND role = 'clerk' AND acknowledged_at IS NULL" 1
alert=$(last_alert)
is_refused() { echo "$one_more" >&3; flush; test "$(so_far | cut -d '|' -f 2)" -gt 0; }
wait_until is_refused
counted=$(so_far | cut -d '|' -f 1)
as chief q "SET ROLE officers" "SELECT privacy_score.accept_alert($alert, 'for the inventory')" >/dev/null
goes_on() { echo "$one_more" >&3; flush; test "$(so_far | cut -d '|' -f 1)" -gt "$counted"; }
wait_until goes_on
check_true "what was refused goes on when its alarm is accepted" test "$(so_far | cut -d '|' -f 1)" -gt "$counted"
exec 3>&-
wait $stays
as chief q "SET ROLE officers" "SELECT privacy_score.withdraw_acceptance(id) FROM privacy_score.accepted WHERE alert = $alert" >/dev/null
q "ALTER ROLE clerk RESET ALL" >/dev/null
flush

# --- until when ---------------------------------------------------------------------------------------------------------
scores="SELECT * FROM privacy_score.score_sessions('app', privacy_score.today(), privacy_score.today()) ORDER BY session"
with=$(q "$scores" | md5sum)
as chief q "SET ROLE officers" "SELECT privacy_score.withdraw_acceptance($accepted)" >/dev/null
without=$(q "$scores" | md5sum)
check_true "withdrawn, scores are others" test "$with" != "$without"
check "its record is kept" "$(q "SELECT state, withdrawn_by, ended_at IS NOT NULL FROM privacy_score.accepted WHERE id = $accepted")" "withdrawn|chief|t"
flush
check_true "and the alarm is back" grep -q "^unusual" <<<"$(run ann "$new")"
without=$(q "$scores" | md5sum)
alert=$(last_alert)
as chief q "SET ROLE officers" "SELECT privacy_score.accept_alert($alert, 'for a moment', clock_timestamp() + '8 seconds')" >/dev/null
check_true "accepted for a moment" test "$(q "$scores" | md5sum)" != "$without"
# A worker that has nothing to do leaves; the next one sees to it.
has_ended() { flush; test "$(q "SELECT count(*) FROM privacy_score.acceptance WHERE alert_id = $alert AND ended_at = expires")" = 1; }
wait_until has_ended
check "it expires by itself, which the worker says" "$(q "SELECT state FROM privacy_score.accepted WHERE alert = $alert"; log_has "privacy_score: 1 of the accepted alerts have expired" && echo said)" "expired
said"
check "all is as before" "$(q "$scores" | md5sum)" "$without"
flush
check_true "live, too" grep -q "^unusual" <<<"$(run ann "$new")"
check_true "who works on has not lost what she had" test "$(run bob "$(loop 30 300)")" = none

# --- by whom ------------------------------------------------------------------------------------------------------------
run clerk "$new" >/dev/null
own=$(last_alert)
check "nobody accepts an alarm of her own" "$(as clerk q_state "SET ROLE officers; SELECT privacy_score.accept_alert($own, 'mine')")" 42501
check_true "which says who can" grep -q "Somebody else has to, logged in as another role" <<<"$(as clerk q_all "SET ROLE officers" "SELECT privacy_score.accept_alert($own, 'mine')")"
conf "privacy_score.four_eyes = on"
reload_server
wait_for "SHOW privacy_score.four_eyes" on
check "with four_eyes it waits" "$(as chief q_all "SET ROLE officers" "SELECT privacy_score.accept_alert($own, 'the study')" | grep -c "waits for a second person")" 1
waiting=$(q "SELECT id FROM privacy_score.accepted WHERE state = 'waiting'")
check_true "until then it has no effect" grep -q "^unusual" <<<"$(flush; run clerk "$new")"
check "the same person cannot confirm it" "$(as chief q_state "SET ROLE officers; SELECT privacy_score.confirm_acceptance($waiting)")" 42501
check "nor as another, whom a superuser makes of her" "$(q "ALTER ROLE chief SUPERUSER" >/dev/null; as chief q_state "SET SESSION AUTHORIZATION deputy; SELECT privacy_score.confirm_acceptance($waiting)")" 42501
q "ALTER ROLE chief NOSUPERUSER" >/dev/null
check "nor without four_eyes, which no session switches off" "$(as chief q_state "SET privacy_score.four_eyes = off") $(q_state "SET privacy_score.four_eyes = off")" "55P02 55P02"
check "nor whose alarm it is" "$(as clerk q_state "SET ROLE officers; SELECT privacy_score.confirm_acceptance($waiting)")" 42501
check "a second one does" "$(as deputy q "SET ROLE officers" "SELECT privacy_score.confirm_acceptance($waiting)" "SELECT state, accepted_by, second FROM privacy_score.accepted WHERE id = $waiting" | tail -n 1)" "in force|chief|deputy"
flush
check "then it is in force" "$(run clerk "$new")" none
check "once" "$(as deputy q_state "SET ROLE officers; SELECT privacy_score.confirm_acceptance($waiting)")" 55000

# --- it stays -----------------------------------------------------------------------------------------------------------
restart_server immediate
check "after a crash it holds" "$(run clerk "$new")" none
q "SELECT privacy_score.set_baseline('clerk', privacy_score.today() - 1, privacy_score.today() - 1)" >/dev/null
wait_for "SELECT count(*) FROM privacy_score.calibration" 1
flush
check "and with another baseline" "$(run clerk "$new")" none
"$PS_BINDIR/pg_dump" -Fc -f "$PS_TMP/dump" postgres
q "CREATE DATABASE restored" >/dev/null
"$PS_BINDIR/pg_restore" -d restored "$PS_TMP/dump" 2>/dev/null
kept="SELECT id, role, end_user, state, what, statements, note, accepted_by, second FROM privacy_score.accepted ORDER BY id"
check "a dump has it" "$(PGDATABASE=restored q "$kept")" "$(q "$kept")"
check "and what history says by it" "$(PGDATABASE=restored q "$scores" | md5sum)" "$(q "$scores" | md5sum)"
check "forgotten with the end user" "$(q "SELECT privacy_score.forget_end_user('app', 'bob') > 0" "SELECT count(*) FROM privacy_score.accepted WHERE end_user = 'bob'" \
  "SELECT count(*) FROM privacy_score.acceptance_figure f WHERE f.acceptance_id NOT IN (SELECT id FROM privacy_score.acceptance)" | paste -sd ' ')" "t 0 0"
check "nothing went wrong while scoring" "$(q "SELECT scoring_errors, flush_errors FROM privacy_score.stat_info")" "0|0"
done_testing

#!/bin/bash
# day_reach.sh - how far the sessions of a principal's day reach together: many connections with one look-up each are a
# loop, over a restart too; the key of the hashes of subjects, and what becomes of it.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.end_user_source = 'privacy_score.end_user'"
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, c1 text, c2 text, c3 text)" \
  "INSERT INTO patients SELECT i, 'a', 'b', 'c' FROM generate_series(1, 300) i" \
  "SELECT privacy_score.protect('patients')" \
  "CREATE ROLE analyst LOGIN" "CREATE ROLE other LOGIN" "CREATE ROLE early LOGIN" "CREATE TABLE unprotected (id int, name text)" "CREATE ROLE steady LOGIN" "CREATE ROLE crashed LOGIN" "CREATE ROLE app LOGIN" "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" \
  "GRANT SELECT ON patients TO analyst, other, app, steady, crashed, early" "GRANT SELECT ON unprotected TO early" "SELECT privacy_score.flush()" >/dev/null
export PGUSER=postgres

# look_up ROLE COLUMN FROM TO: each on a connection of its own.
look_up() { local i; for ((i = $3; i <= $4; i++)); do as "$1" q "SELECT $2 FROM patients WHERE id = $i" >/dev/null; done; }
flush() { q "SELECT privacy_score.flush()" >/dev/null; }
day_of() { q "SELECT reach, subjects, subject_columns FROM privacy_score.stat_days WHERE role = '$1' AND end_user IS NOT DISTINCT FROM NULLIF('${2:-}', '')"; }

# --- figures ----------------------------------------------------------------------------------------------------------
look_up analyst c1 1 5
flush
check "five connections reach as far as five look-ups" "$(day_of analyst)" "5|5|1"
check "each of them alone does not" "$(q "SELECT DISTINCT reach, subjects, subject_columns FROM privacy_score.session WHERE role = 'analyst'")" "1|1|1"
look_up analyst c1 3 5
flush
check "the same again is nothing new" "$(day_of analyst)" "5|5|1"
look_up analyst c2 5 5
look_up analyst c3 5 5
flush
check "columns of one subject add up" "$(day_of analyst)" "5|5|3"
as analyst q "PREPARE p(int) AS SELECT c1 FROM patients WHERE id = \$1" "EXECUTE p(5)" "EXECUTE p(6)" \
  "SELECT c1 FROM patients WHERE id IN (7, 8)" >/dev/null
flush
check "parameters and lists are the same subjects" "$(day_of analyst)" "7|8|3"
check "others have a day of their own" "$(day_of other)" ""
as app q "SET privacy_score.end_user = 'ann'" "SELECT c1 FROM patients WHERE id = 1" "SET privacy_score.end_user = 'bob'" "SELECT c1 FROM patients WHERE id = 2" \
  "SELECT c1 FROM patients WHERE id = 3" >/dev/null
flush
check "so do end users" "$(day_of app ann) $(day_of app bob)" "1|1|1 2|2|1"

# --- alerts -----------------------------------------------------------------------------------------------------------
check "a baseline has the greatest of its days" \
  "$(q "SELECT privacy_score.set_baseline('analyst', privacy_score.today(), privacy_score.today()) > 0" \
    "SELECT reach, subjects, day_reach, day_subjects, day_subject_columns FROM privacy_score.baseline WHERE active AND role = 'analyst'")" \
  $'t\n3|4|7|8|3'
q "SELECT privacy_score.import_baseline(jsonb_set(privacy_score.export_baseline('analyst'), '{role}', '\"other\"'))" "SELECT privacy_score.flush()" >/dev/null
check "which travel with it" "$(q "SELECT day_reach, day_subjects, day_subject_columns FROM privacy_score.baseline WHERE active AND role = 'other'")" "7|8|3"
check "a bad one is refused" "$(q_state "SELECT privacy_score.import_baseline(privacy_score.export_baseline('other') || '{\"day_reach\": \"-1\"}')")" 22023
alerts="SELECT kind, detail->>'figure', detail->>'scope', score > alert_limit, alert_limit, blocked FROM privacy_score.alerts WHERE role = '%s' ORDER BY 2"
alerts_of() { q "$(printf "$alerts" "$1")"; }
look_up other c1 1 12
flush
check "twelve connections are within twice the greatest" "$(alerts_of other)" ""
look_up other c1 13 16
flush
flush
check "more are an alert of the day, once" "$(alerts_of other)" "reach|reach|day|t|14|f"
look_up other c1 17 40
flush
flush
check "of each figure" "$(alerts_of other)" $'reach|reach|day|t|14|f\nreach|subjects|day|t|16|f'
check "the detail names the day" "$(q "SELECT detail - 'value' FROM privacy_score.alert WHERE role = 'other' AND detail->>'figure' = 'reach'")" \
  '{"cause": "reach", "scope": "day", "factor": 2, "figure": "reach", "baseline": 7}'
as other q "$(for ((i = 1; i <= 60; i++)); do echo "SELECT c2 FROM patients WHERE id = $i;"; done)" >/dev/null
flush
check "one session that goes as far is the same alert" "$(q "SELECT detail->>'figure', occurrences FROM privacy_score.alert WHERE role = 'other' ORDER BY 1")" \
  $'reach|2\nsubjects|2'
check "there is no room for nothing: all was taken in" "$(q "SELECT scoring_errors, dropped, flush_errors FROM privacy_score.stat_info")" "0|0|0"

# --- over a restart ---------------------------------------------------------------------------------------------------
check "subjects are stored as hashes, with the columns revealed of them" \
  "$(q "SELECT count(*) > 0, bool_and(octet_length(subjects) % 10 = 0), count(*) FILTER (WHERE sets::text LIKE '%patients.c1%') > 0 FROM privacy_score.principal_subjects")" "t|t|t"
before=$(day_of analyst)
kill9_server
resume_server
flush
check "a crash loses nothing of it" "$(day_of analyst)" "$before"
look_up analyst c1 5 8
look_up analyst c2 20 20
flush
check "the day goes on: known subjects are known, and what asked by them alone" "$(day_of analyst)" "8|9|3"
restart_server
flush
look_up analyst c1 20 22
flush
check "after a restart, too" "$(day_of analyst)" "11|11|3"
check "and nobody hears of it twice" "$(q "SELECT detail->>'figure', occurrences FROM privacy_score.alert WHERE role = 'other' ORDER BY 1")" \
  $'reach|2\nsubjects|2'

# --- thousands of subjects, and crashes -------------------------------------------------------------------------------
# ask ROLE FROM TO: in one session.
ask() { as "$1" q "DO 'BEGIN FOR i IN $2..$3 LOOP PERFORM c1 FROM patients WHERE id = i; END LOOP; END'" >/dev/null; flush; }
for part in 1 2001 4001 3001; do ask steady "$part" $((part + 2999)); done
for part in 1 2001; do ask crashed "$part" $((part + 2999)); done
sketch_of() { q "SELECT md5(subjects), octet_length(subjects) FROM privacy_score.principal_subjects WHERE role = '$1' AND part = -1"; }
kill9_server
resume_server
flush
ask crashed 4001 7000
kill9_server
resume_server
flush
ask crashed 3001 6000
check "over two crashes the subjects are those of a day without, to the last one" \
  "$(q "SELECT c.subjects = s.subjects FROM privacy_score.stat_days c, privacy_score.stat_days s WHERE c.role = 'crashed' AND s.role = 'steady'")" t
check "as is the sketch that is stored" "$(sketch_of crashed)" "$(sketch_of steady)"
check "which is of its size" "$(sketch_of steady | cut -d '|' -f 2)" 49152
check "both figures are within two in a hundred" \
  "$(q "SELECT abs(reach / 7000.0 - 1) < 0.02, abs(subjects / 7000.0 - 1) < 0.02, subject_columns FROM privacy_score.stat_days WHERE role = 'steady'")" "t|t|1"
check "what is kept of subjects is bounded" \
  "$(q "SELECT sum(octet_length(subjects)) FROM privacy_score.principal_subjects WHERE role = 'steady' AND part >= 0")" 40960
ask steady 1 3000
check "and nothing new is nothing new" "$(sketch_of steady)" "$(sketch_of crashed)"
check "none of this was an error" "$(q "SELECT scoring_errors, dropped, flush_errors FROM privacy_score.stat_info")" "0|0|0"

# --- before the first model -------------------------------------------------------------------------------------------
# The first statement after a start has the worker started, which makes the model.
restart_server
as early q "SELECT c1 FROM patients WHERE id IN (1, 2, 3)" >/dev/null
as early q "SELECT c1 FROM patients WHERE id = 4" >/dev/null
flush
check "what is asked before the model is there counts for the day" "$(day_of early)" "2|4|1"
check "and for its session, which has ended by then" "$(q "SELECT reach, subjects, subject_columns, addressed, person FROM privacy_score.session WHERE role = 'early' ORDER BY started")" $'1|3|1|3|1\n1|1|1|1|1'
as early q "SELECT name FROM unprotected WHERE id = 5" >/dev/null
kill9_server
resume_server
as early q "SELECT name FROM unprotected WHERE id = 6" "SELECT c1 FROM patients WHERE id = 7" \
  "DO 'BEGIN WHILE (SELECT reach IS NULL FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()) LOOP PERFORM pg_sleep(0.01); PERFORM c1 FROM patients WHERE id = 7; END LOOP; END'" "SELECT c2 FROM patients WHERE id = 7" >/dev/null
flush
check "but not of relations that are not protected; a session that goes on tells nothing twice" "$(day_of early)" "2|5|2"
check "and has its figures itself" "$(q "SELECT reach, subjects, subject_columns FROM privacy_score.session WHERE role = 'early' ORDER BY started DESC LIMIT 1")" "1|1|2"

# --- the key ----------------------------------------------------------------------------------------------------------
check "nobody reads key and hashes" "$(as analyst q_state "SELECT * FROM privacy_score.subject_key") $(as analyst q_state "SELECT * FROM privacy_score.principal_subjects")" "42501 42501"
check "nor is either in a dump" "$("$PS_BINDIR/pg_dump" --data-only | grep -cE 'COPY privacy_score.(subject_key|principal_subjects) ')" 0
check "the figures are" "$("$PS_BINDIR/pg_dump" --data-only | grep -cE 'COPY privacy_score.principal_day ')" 1
# A worker that has work to do looks after the key; one that has not read a new setting yet does so the next time.
keys_are() { look_up other c3 1 1; [ "$(q "SELECT count(*) FROM privacy_score.subject_key")" = "$1" ]; }
days_are() { look_up other c3 1 1; [ "$(q "SELECT count(*) FROM privacy_score.principal_subjects WHERE role = 'analyst' AND day < privacy_score.today()")" = "$1" ]; }
key=$(q "SELECT key FROM privacy_score.subject_key")
q "UPDATE privacy_score.subject_key SET made_at = now() - interval '91 days'" >/dev/null
restart_server
look_up other c3 1 1
check_true "after subject_key_period there is another one" wait_for "SELECT key <> '$key' AND made_at > now() - interval '1 hour' FROM privacy_score.subject_key" t
flush
check "what was known across sessions is gone" "$(q "SELECT count(*) FROM privacy_score.principal_subjects WHERE role = 'analyst'")" 0
check "the figures stay" "$(day_of analyst)" "11|11|3"
look_up analyst c1 1 12
flush
check "and are never less than they were" "$(day_of analyst)" "12|12|3"
conf "privacy_score.subject_key_period = 0"
reload_server
check_true "0: no key" wait_until keys_are 0
flush
before=$(day_of analyst)
look_up analyst c1 100 140
flush
check "and no figures" "$(day_of analyst) $(q "SELECT count(*) FROM privacy_score.principal_subjects")" "$before 0"
check "a session still has its own" "$(as analyst q "SELECT c1 FROM patients WHERE id = 1" "SELECT c1 FROM patients WHERE id = 2" "SELECT reach, subjects FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()" | tail -n 1)" "2|2"
conf "privacy_score.subject_key_period = 90"
reload_server
check_true "and back" wait_until keys_are 1

# A plan that is kept has its constants as hashes, too.
mkfifo "$PS_TMP/kept"
PGUSER=app "$PS_BINDIR/psql" -XAtq <"$PS_TMP/kept" >/dev/null 2>&1 &
exec 4>"$PS_TMP/kept"
echo "SET privacy_score.end_user = 'eve'; PREPARE p AS SELECT c1 FROM patients WHERE id = 7; EXECUTE p; EXECUTE p;" >&4
key=$(q "SELECT key FROM privacy_score.subject_key")
another_key() { look_up other c3 1 1; [ "$(q "SELECT key <> '$key' FROM privacy_score.subject_key")" = t ]; }
check_true "a session with a plan is open" wait_for "SELECT queries FROM privacy_score.stat_sessions WHERE end_user = 'eve'" 2
q "UPDATE privacy_score.subject_key SET made_at = now() - interval '91 days'" >/dev/null
conf "privacy_score.subject_key_period = 80"
reload_server
check_true "the key is another" wait_until another_key
flush
echo "SET privacy_score.end_user = 'trent'; SELECT c1 FROM patients WHERE id = 8; SET privacy_score.end_user = 'mallory'; EXECUTE p; SELECT c2 FROM patients WHERE id = 7; EXECUTE p;" >&4
check_true "and the plan knows the same subject again" wait_for "SELECT queries, subjects, subject_columns FROM privacy_score.stat_sessions WHERE end_user = 'mallory'" "3|1|2"
exec 4>&-

# --- how much is kept -----------------------------------------------------------------------------------------------
q "INSERT INTO privacy_score.principal_subjects SELECT 'analyst', '', privacy_score.today() - d, 0, decode(repeat('00', 20000), 'hex'), '{}' FROM generate_series(1, 5) d" \
  "INSERT INTO privacy_score.principal_subjects SELECT 'analyst', '', privacy_score.today() - d, -1, decode(repeat('00', 49152), 'hex'), '{}' FROM generate_series(1, 5) d" >/dev/null
restart_server
check_true "of earlier days no more subjects than one may have, and the sketch of yesterday" wait_until days_are 3
# --- forgetting -------------------------------------------------------------------------------------------------------
as app q "SET privacy_score.end_user = 'ann'" "SELECT c1 FROM patients WHERE id = 4" "SELECT c1 FROM patients WHERE id = 5" >/dev/null
flush
check "an end user's day" "$(day_of app ann)" "2|2|1"
q "SELECT privacy_score.forget_end_user('app', 'ann')" >/dev/null
check "forget_end_user() takes it" "$(q "SELECT count(*) FROM privacy_score.principal_day WHERE end_user = 'ann'" "SELECT count(*) FROM privacy_score.principal_subjects WHERE end_user = 'ann'")" $'0\n0'
as app q "SET privacy_score.end_user = 'ann'" "SELECT c1 FROM patients WHERE id = 4" >/dev/null
flush
check "also from memory" "$(day_of app ann)" "1|1|1"
check "no error came up" "$(q "SELECT scoring_errors, dropped, flush_errors FROM privacy_score.stat_info")" "0|0|0"
stop_server

done_testing

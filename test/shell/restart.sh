#!/bin/bash
# restart.sh - what is durable survives fast and immediate stops, kill -9 of the postmaster and of one backend; tokens
# and ids are the same afterwards; a session after a restart is scored as history is.
. "$(dirname "$0")/../lib.sh"

make_clinic() {
  q "CREATE EXTENSION privacy_score" \
    "CREATE TABLE patients (id int PRIMARY KEY, first_name text, last_name text, city text, diagnosis text)" \
    "INSERT INTO patients SELECT i, 'f' || i % 17, 'l' || i % 97, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 300) i" \
    "CREATE ROLE alice LOGIN" "GRANT SELECT ON patients TO alice" \
    "SELECT privacy_score.protect('patients')" \
    "SECURITY LABEL FOR privacy_score ON COLUMN patients.diagnosis IS 'sensitive'" \
    "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'watched'" >/dev/null
}

# All that must survive, as one text; rates are compared by value, not by the moment they were computed at.
durable="SELECT (SELECT string_agg(s::text, E'\n' ORDER BY s.id) FROM privacy_score.session s)
  || (SELECT string_agg(p::text, E'\n' ORDER BY p.session_id, p.part) FROM privacy_score.session_part p)
  || (SELECT string_agg(a::text, E'\n' ORDER BY a.id) FROM privacy_score.abstraction a)
  || (SELECT string_agg(b::text, E'\n' ORDER BY b.id) FROM privacy_score.baseline b)
  || (SELECT string_agg(n::text, E'\n' ORDER BY n.baseline_id, n.ngram) FROM privacy_score.baseline_ngram n)
  || (SELECT string_agg(n::text, E'\n' ORDER BY n.baseline_id, n.ids) FROM privacy_score.baseline_session n)
  || (SELECT string_agg(a::text, E'\n' ORDER BY a.id) FROM privacy_score.alert a)
  || (SELECT string_agg(r::text, E'\n' ORDER BY r.name) FROM privacy_score.protected_relation r)
  || (SELECT string_agg(l.label, ',' ORDER BY l.label) FROM pg_seclabels l WHERE l.provider = 'privacy_score')"
scores="SELECT string_agg(s::text, E'\n' ORDER BY s::text) FROM privacy_score.score_sessions('alice', '-infinity', 'infinity') s"
recorded="SELECT COALESCE(sum(queries), 0) FROM privacy_score.session"

start_server
make_clinic
as alice q "SELECT city FROM patients WHERE id = 1" "SELECT count(*) FROM patients" >/dev/null
wait_for "$recorded" 2
baseline_ngrams=$(q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())")
check "the baseline has the two n-grams of the session" "$baseline_ngrams" 2
# The rates first, so that the session is exact and its alert is raised.
q "ALTER ROLE alice SET privacy_score.session_limit = 0" \
  "SELECT privacy_score.analyze_relation('patients', '{first_name,last_name,city}')" \
  "SELECT privacy_score.analyze_relation('patients', '{first_name,last_name,city,diagnosis}')" >/dev/null
as alice q "SELECT first_name, last_name, city FROM patients" "SELECT diagnosis FROM patients" "SELECT pg_sleep(1)" >/dev/null
wait_for "$recorded" 5
check_true "an alert is written" wait_for "SELECT count(*) FROM privacy_score.alert" 1
q "SELECT * FROM $(echo "privacy_score.score_sessions('alice', '-infinity', 'infinity')")" >/dev/null
before=$(q "$durable")
scores_before=$(q "$scores")
ids_before=$(q "SELECT string_agg(id || ' ' || tokens::text, E'\n' ORDER BY id) FROM privacy_score.abstraction")
check_match "there is something to survive" "$before" "p:public.patients.diagnosis.*sensitive,watched"

for how in fast immediate; do
  restart_server $how
  check "history, baselines, alerts, labels survive a stop $how" "$(q "$durable")" "$before"
  check "scores of history are the same after a stop $how" "$(q "$scores")" "$scores_before"
done
kill9_server
resume_server
check "history, baselines, alerts, labels survive kill -9" "$(q "$durable")" "$before"
check "scores of history are the same after kill -9" "$(q "$scores")" "$scores_before"

# --- after the restart ------------------------------------------------------------------------------------------------
check "no worker runs before there is something to do" "$(q "SELECT worker_pid IS NULL FROM privacy_score.stat_info")" t
live=$(as alice q "SELECT first_name, last_name, city FROM patients LIMIT 0 + 0" "SELECT diagnosis FROM patients LIMIT 0 + 0" \
  "SELECT pg_sleep(2)" \
  "SELECT queries, ngrams, mismatched, round(score::numeric, 9), round(max_score::numeric, 9), round(normalised::numeric, 9), estimated
     FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()" | tail -n 1)
q "SELECT privacy_score.flush()" >/dev/null
check "a new session's live score equals the score of its history" "$live" \
  "$(q "SELECT queries, ngrams, mismatched, round(score::numeric, 9), round(max_score::numeric, 9), round(normalised::numeric, 9), false
          FROM privacy_score.score_sessions('alice', '-infinity', 'infinity')
         WHERE session = (SELECT s.session FROM privacy_score.session s ORDER BY s.id DESC LIMIT 1)")"
check "statements have the ids and tokens that they had before" \
  "$(q "SELECT string_agg(id || ' ' || tokens::text, E'\n' ORDER BY id) FROM privacy_score.abstraction
         WHERE tokens::text NOT LIKE '%stat_sessions%'")" "$ids_before"

# --- DROP TABLE, CREATE TABLE -----------------------------------------------------------------------------------------
q "ALTER TABLE patients RENAME TO old_patients" "CREATE TABLE patients AS SELECT * FROM old_patients" \
  "DROP TABLE old_patients" "ALTER TABLE patients ADD PRIMARY KEY (id)" "GRANT SELECT ON patients TO alice" >/dev/null
as alice q "SELECT first_name, last_name, city FROM patients LIMIT 0 + 0" "SELECT diagnosis FROM patients LIMIT 0 + 0" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check "a table dropped and created again gives the same ids" \
  "$(q "SELECT string_agg(id || ' ' || tokens::text, E'\n' ORDER BY id) FROM privacy_score.abstraction
         WHERE tokens::text NOT LIKE '%stat_sessions%'")" "$ids_before"
check "it is still protected, by its name" "$(q "SELECT relation, subject FROM privacy_score.protected_relations")" "patients|{id}"

# --- at most one flush interval is missing ----------------------------------------------------------------------------
conf "privacy_score.flush_interval = '1s'"
restart_server fast
total=$(q "$recorded")
as alice q "SELECT city FROM patients WHERE id = 1" "SELECT pg_sleep(2.5)" >/dev/null
check "what is older than the flush interval is written" "$(q "SELECT $total - ($recorded)")" -2
mkfifo "$PS_TMP/pipe"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/pipe" >/dev/null 2>&1 &
exec 3>"$PS_TMP/pipe"
echo "SELECT city FROM patients WHERE id = 2;" >&3
wait_for "SELECT $total - ($recorded)" -3
kill9_server
exec 3>&-
resume_server
check "kill -9 loses nothing that is older than the flush interval" "$(q "SELECT $total - ($recorded)")" -3

conf "privacy_score.flush_interval = '1h'"
restart_server fast
total=$(q "$recorded")
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/pipe" >/dev/null 2>&1 &
exec 3>"$PS_TMP/pipe"
echo "SELECT city FROM patients WHERE id = 3; SELECT pg_sleep(1.5); SELECT city FROM patients WHERE id = 4;" >&3
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'alice' AND state = 'idle' AND query LIKE '%id = 4%'" 1
restart_server fast
exec 3>&-
check "an orderly stop loses nothing, however long the flush interval" "$(q "SELECT $total - ($recorded)")" -3

# --- a crash of one backend -------------------------------------------------------------------------------------------
conf "privacy_score.flush_interval = '100ms'"
restart_server fast
total=$(q "$recorded")
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/pipe" >/dev/null 2>&1 &
exec 3>"$PS_TMP/pipe"
echo "SELECT city FROM patients WHERE id = 5;" >&3
wait_for "SELECT ($recorded) - $total" 1
kill -9 "$(q "SELECT pid FROM pg_stat_activity WHERE usename = 'alice'")"
exec 3>&-
sleep 0.5
check_true "the server recovers from the crash of a watched backend" wait_for "SELECT ($recorded) - $total" 1
as alice q "SELECT city FROM patients WHERE id = 6" >/dev/null
check_true "and the next session is recorded" wait_for "SELECT ($recorded) - $total" 2
check_true "its memory is free again" wait_for "SELECT (SELECT count(*) FROM privacy_score.live_sessions()), worker_pid IS NULL FROM privacy_score.stat_info" "0|t"

done_testing

#!/bin/bash
# own_baselines.sh - people behind one role who have baselines of their own: live and from history, limits, reach, where they come
# from, on a standby, after a crash, in a dump.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.worker_stays = '1h'" "max_connections = 60" "privacy_score.end_user_source = 'setting app.login'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE app LOGIN" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, hiv bool)" \
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 5, i % 7 = 0 FROM generate_series(1, 1000) i" "ANALYZE" \
  "GRANT SELECT ON patients TO app" "SELECT privacy_score.protect('patients', 'id')" \
  "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" >/dev/null || bail_out "the tables cannot be made"
begin_anew() { q "DROP EXTENSION privacy_score" "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('patients', 'id')" "SELECT privacy_score.flush()" >/dev/null; }
# baseline_of [NAME...]: that of the role, or of each of these, of all that is recorded.
baseline_of() {
  local name
  q "SELECT privacy_score.flush()" >/dev/null
  for name in "${@:-}"; do q "SELECT privacy_score.set_baseline('app', '-infinity', 'infinity', NULLIF('$name', ''))" >/dev/null; done
  q "SELECT privacy_score.flush()" >/dev/null
}
# ask NAME STATEMENT...: what somebody asks, over a connection that ends.
ask() { as app q "SET app.login = '$1'" "${@:2}" >/dev/null; }
figures="end_user, queries, ngrams, mismatched, score, max_score, normalised, statement_score, enforced, reach, subjects, subject_columns, peer_score"
live() { q "SELECT $figures FROM privacy_score.stat_sessions WHERE end_user IS NOT NULL ORDER BY 1, 2, 5"; }
history() { q "SELECT $figures FROM privacy_score.score_sessions('app', '-infinity', 'infinity') WHERE end_user IS NOT NULL ORDER BY 1, 2, 5"; }

# --- live and from history -------------------------------------------------------------------------------------------------------
# Six people over ever new connections. Baselines of the role and of three of them are made while their sessions go on.
cat >"$PS_TMP/people.sql" <<'SQL'
\set k random(1, 7)
\set id random(1, 1000)
BEGIN;
SET LOCAL app.login = 'user :client_id';
\if :k = 1
SELECT name FROM patients WHERE id = :id;
\elif :k = 2
SELECT city FROM patients WHERE id = :id;
\elif :k = 3
SELECT count(*) FROM patients WHERE city = 'c1';
\elif :k = 4
SELECT name, city FROM patients WHERE id = :id;
SELECT hiv, city FROM patients WHERE id = :id;
\elif :k = 5
SELECT id FROM patients WHERE name = 'n5';
SELECT city FROM patients WHERE id = :id;
\elif :k = 6
SELECT hiv FROM patients WHERE name = 'n6';
\else
SELECT name, city FROM patients WHERE id = :id;
\endif
COMMIT;
SQL
work() { PGUSER=app "$PS_BINDIR/pgbench" -n -C -c 6 -j 2 -t "$1" --random-seed="$2" -f "$PS_TMP/people.sql" postgres >/dev/null 2>&1 || fail "pgbench"; }
for counting in set multiset; do
  begin_anew
  q "ALTER ROLE app SET privacy_score.counting = '$counting'" "ALTER DATABASE postgres SET privacy_score.counting = '$counting'" >/dev/null
  work 2 7
  baseline_of "" "user 0" "user 1"
  work "$(by_length 15 300)" 8
  q "SELECT privacy_score.set_baseline('app', '-infinity', 'infinity', 'user 2'), privacy_score.drop_baseline('app', 'user 1')" >/dev/null
  work "$(by_length 15 300)" 9
  q "SELECT privacy_score.flush()" "SELECT privacy_score.flush()" >/dev/null
  over_all=$(live)
  check "$counting: history has the same scores to the last bit" "$(history)" "$over_all"
  check "$counting: who has a baseline has peers" "$(q "SELECT end_user FROM privacy_score.stat_sessions WHERE peer_score IS NOT NULL ORDER BY 1" | paste -sd ',')" "user 0,user 2"
  check "$counting: and another score than they give" "$(q "SELECT count(*) FROM privacy_score.stat_sessions WHERE peer_score <> score")" 2
  check "$counting: nothing is left estimated" "$(q "SELECT count(*) FROM privacy_score.stat_sessions WHERE estimated")" 0
  q "SELECT privacy_score.drop_baseline('app', 'user 0'), privacy_score.drop_baseline('app', 'user 2')" "SELECT privacy_score.flush()" >/dev/null
  work 1 10
  q "SELECT privacy_score.flush()" >/dev/null
  check "$counting: without them all are compared with the role's again" "$(live)" "$(history)"
  check "$counting: and nobody has peers" "$(q "SELECT count(peer_score) FROM privacy_score.stat_sessions")" 0
done
q "ALTER ROLE app RESET privacy_score.counting" "ALTER DATABASE postgres RESET privacy_score.counting" >/dev/null

# The same where each connection is a session.
begin_anew
q "ALTER ROLE app SET privacy_score.session_scope = 'connection'" >/dev/null
ask ann "SELECT name FROM patients WHERE id = 1" "SELECT name FROM patients WHERE id = 2"
ask bob "SELECT city FROM patients WHERE id = 1" "SELECT city FROM patients WHERE id = 2"
baseline_of "" ann
# A connection that serves one after the other, held open while it is looked at.
rm -f "$PS_TMP/turns"
mkfifo "$PS_TMP/turns"
as app "$PS_BINDIR/psql" -XAtq <"$PS_TMP/turns" >"$PS_TMP/turns.out" 2>&1 &
exec 4>"$PS_TMP/turns"
for name in bob ann bob ann; do printf '%s;\n' "SET app.login = '$name'" "SELECT city FROM patients WHERE id = 3" "SELECT hiv FROM patients WHERE id = 3" "SELECT 'turn $name'" >&4; done
printf '%s;\n' "SELECT 'turns end'" >&4
wait_for_line "$PS_TMP/turns.out" "turns end"
q "SELECT privacy_score.flush()" >/dev/null
check "on a connection that serves one after the other too" "$(q "SELECT s.end_user, s.score = h.score, s.peer_score = h.peer_score, s.score > s.peer_score FROM privacy_score.stat_sessions s JOIN privacy_score.score_sessions('app', '-infinity', 'infinity') h USING (session, end_user, queries) WHERE s.end_user = 'ann'" | sort -u)" "ann|t|t|t"
check "each is against her own" "$(q "SELECT end_user, mismatched, peer_score IS NOT NULL FROM privacy_score.score_sessions('app', '-infinity', 'infinity') WHERE mismatched > 0 ORDER BY 1")" "ann|2|t
ann|2|t
bob|1|f
bob|1|f"
# The view adds up what came after the role's baseline.
q "UPDATE privacy_score.baseline SET to_day = privacy_score.today() - 1" >/dev/null
check "the view of end users shows both scores" "$(q "SELECT end_user, own_baseline, today > peer_today, peer_today > 0 FROM privacy_score.stat_end_users ORDER BY 1")" "ann|t|t|t
bob|f||"
exec 4>&-
q "ALTER ROLE app RESET privacy_score.session_scope" >/dev/null

# --- limits ------------------------------------------------------------------------------------------------------------------------
begin_anew
for id in 1 2; do
  ask ann "SELECT name FROM patients WHERE id = $id"
  ask bob "SELECT city, hiv FROM patients WHERE id = $id"
done
baseline_of "" ann
q "ALTER ROLE app SET privacy_score.mode = 'enforce'" "ALTER ROLE app SET privacy_score.session_limit = 0.3" >/dev/null
states() { as app q_state "SET app.login = '$1'" "${@:2}"; }
check "what her peers do all the time is new for her, and refused" "$(states ann "SELECT city, hiv FROM patients WHERE id = 5")" PS001
check "and not for them" "$(states bob "SELECT city, hiv FROM patients WHERE id = 5")" 00000
check "what she does all the time goes on" "$(states ann "SELECT name FROM patients WHERE id = 5")" 00000
q "SELECT privacy_score.flush()" >/dev/null
check "the alert is hers" "$(q "SELECT DISTINCT end_user FROM privacy_score.alerts WHERE blocked")" ann
# From one limit to the other at once: statements that follow the change wait for it.
q "SELECT privacy_score.drop_baseline('app', 'ann')" >/dev/null
check "without her own it is the role's that limits go by, at once" "$(states ann "SELECT city, hiv FROM patients WHERE id = 5")" 00000
q "ALTER ROLE app SET privacy_score.session_limit = -1" "ALTER ROLE app SET privacy_score.daily_limit = 0.3" "SELECT privacy_score.set_baseline('app', '-infinity', 'infinity', 'bob')" >/dev/null
check "the day's limit goes by it, too" "$(states bob "SELECT name FROM patients WHERE id = 5") $(states ann "SELECT name FROM patients WHERE id = 6")" "PS001 00000"
q "ALTER ROLE app RESET privacy_score.mode" "ALTER ROLE app RESET privacy_score.daily_limit" "ALTER ROLE app RESET privacy_score.session_limit" >/dev/null

# --- reach and contexts --------------------------------------------------------------------------------------------------------------
begin_anew
lookups() { local name=$1; shift; ask "$name" $(printf 'SELECT\x01name\x01FROM\x01patients\x01WHERE\x01id=%s ' "$@" | tr '\001' '\t'); }
# A session of many look-ups by bob and one of few by ann.
IFS=$' \n'
lookups bob $(seq 1 40)
PGAPPNAME=desk lookups ann 1 2
baseline_of "" ann
check "how far she goes is in her baseline" "$(q "SELECT end_user, reach, subjects, day_reach, day_subjects FROM privacy_score.baseline WHERE active ORDER BY 1")" "ann|2|2|2|2
|40|40|40|40"
lookups ann $(seq 100 130)
lookups bob $(seq 100 130)
q "SELECT privacy_score.flush()" >/dev/null
wait_for "SELECT count(*) > 0 FROM privacy_score.alerts WHERE kind = 'reach'" t
check "she goes too far by her own, the others do not by the role's" "$(q "SELECT DISTINCT end_user FROM privacy_score.alerts WHERE kind = 'reach'")" ann
check "and comes from where she never did, though others do" "$(q "SELECT DISTINCT array_to_string(new_context, ';') FROM privacy_score.alerts WHERE kind = 'reach'")" "program psql"
check "her sessions tell the same" "$(q "SELECT end_user, application_name, array_to_string(new_context, ';') FROM privacy_score.stat_contexts WHERE application_name IN ('psql', 'desk') ORDER BY 1, 2")" "ann|desk|
bob|psql|"
unset IFS

# --- a crash, a standby, a dump --------------------------------------------------------------------------------------------------------
begin_anew
ask 'o"neil' "SELECT name FROM patients WHERE id = 1" "SELECT city FROM patients WHERE id = 1"
ask bob "SELECT city FROM patients WHERE id = 1"
baseline_of "" 'o"neil'
stolen() { ask 'o"neil' "SELECT hiv FROM patients WHERE id = 3" "SELECT city FROM patients WHERE id = 3" "SELECT name FROM patients WHERE id = 3"; }
kill9_server
resume_server
# What is stored of her session is not a standby's.
q "DELETE FROM privacy_score.principal_session" >/dev/null
stolen
q "SELECT privacy_score.flush()" >/dev/null
check "after a crash her own counts" "$(q "SELECT score = peer_score, peer_score > 0, score > 0 FROM privacy_score.stat_sessions WHERE end_user IS NOT NULL")" "f|t|t"
check "the page says what the peers make of it" "$(q "SELECT privacy_score.report('app') ~ '>by peers</a>', privacy_score.report('app', '-infinity', 'infinity') ~ '>by peers</a>'")" "t|t"
of_session=$(q "SELECT score, peer_score, statement_score FROM privacy_score.stat_sessions WHERE end_user IS NOT NULL")
days="SELECT day, end_user, score, peer_score, cumulative FROM privacy_score.score('app', '-infinity', 'infinity') ORDER BY 1, 2"
of_days=$(q "$days")
start_standby second
stolen
wait_for "SELECT count(*) FROM privacy_score.stat_sessions WHERE end_user IS NOT NULL AND NOT estimated" 1
check "a standby goes by it" "$(q "SELECT score, peer_score, statement_score FROM privacy_score.stat_sessions WHERE end_user IS NOT NULL")" "$of_session"
stop_server
use_server main
"$PS_BINDIR/createdb" restored
"$PS_BINDIR/pg_dump" -Fc -f "$PS_TMP/own.dump" postgres && "$PS_BINDIR/pg_restore" -d restored "$PS_TMP/own.dump"
check "a dump has it" "$(on restored q "$days")" "$of_days"
check "as a version of hers" "$(on restored q "SELECT end_user, active FROM privacy_score.baselines ORDER BY id")" "|t
o\"neil|t"
check "of which there is one in force at most" "$(on restored q_state "INSERT INTO privacy_score.baseline (role, end_user, from_day, to_day, sessions, made_by) SELECT role, end_user, from_day, to_day, sessions, made_by FROM privacy_score.baseline WHERE end_user IS NOT NULL")" 23505
q "DROP DATABASE restored WITH (FORCE)" >/dev/null
q "SELECT privacy_score.forget_end_user('app', 'o\"neil')" "SELECT privacy_score.flush()" >/dev/null
stolen
q "SELECT privacy_score.flush()" >/dev/null
check "who was forgotten is as the others" "$(q "SELECT count(*), count(peer_score) FROM privacy_score.stat_sessions WHERE end_user IS NOT NULL" "SELECT count(*) FROM privacy_score.baselines" | paste -sd ' ')" "1|0 1"
check_scored
done_testing

#!/bin/bash
# overflow.sh - more new names than there is room for: they are one end user (overflow), which is an alert, and mode enforce lets it
# do what the role is used to. Who was here before finds room all the same, and nothing that anybody asked is lost.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.worker_stays = '1h'" "max_connections = 20" "privacy_score.max_memory = '8MB'" "privacy_score.room_patience = '1ms'" "privacy_score.subject_key_period = 0" "privacy_score.end_user_source = 'setting app.user'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE app LOGIN" "CREATE TABLE patients (id int PRIMARY KEY, name text, hiv bool)" \
  "INSERT INTO patients SELECT i, 'n' || i, i % 7 = 0 FROM generate_series(1, 1000) i" "ANALYZE" \
  "GRANT SELECT ON patients TO app" "SELECT privacy_score.protect('patients', 'id')" \
  "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" >/dev/null || bail_out "the tables cannot be made"
usual="SELECT name FROM patients WHERE id = 1"
unusual="SELECT hiv FROM patients WHERE id = 1"
be() { echo "SET app.\"user\" = '$1'"; }
for name in habit based recent ancient; do as app q "$(be $name)" "$usual" "$usual" >/dev/null; done
q "SELECT privacy_score.flush()" "SET client_min_messages = error" "SELECT privacy_score.set_baseline('app', '-infinity', 'infinity')" \
  "SELECT privacy_score.set_baseline('app', '-infinity', 'infinity', end_user => 'based')" "SELECT privacy_score.flush()" >/dev/null
# The session of habit goes on. Those of the others have ended: 29 days ago, the others' longer.
q "DELETE FROM privacy_score.principal_session WHERE end_user <> 'habit'" \
  "UPDATE privacy_score.session SET day = day - CASE end_user WHEN 'recent' THEN 29 ELSE 31 END WHERE end_user <> 'habit'" >/dev/null
# Nobody is in memory after a start.
restart_server
as app q "$usual" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null

# The worker, which makes room, is held up.
worker=$(q "SELECT worker_pid FROM privacy_score.stat_info")
kill -STOP "$worker"
shown() { q "SELECT count(*), sum(queries) FROM privacy_score.stat_sessions WHERE $1"; }
cat >"$PS_TMP/names.sql" <<'SQL'
\set n :n + 1
BEGIN;
SELECT set_config('app.user', 'made up ' || :n, true);
SELECT name FROM patients WHERE id = 1;
COMMIT;
SQL
names=0
# Five names more; true when there was no room for one of them.
# While the worker is held up whoever raises an alert waits a second for it, so few of them come at once.
come() {
  PGUSER=app timeout 60 "$PS_BINDIR/pgbench" -n -c 1 -t 5 -D n=$names -f "$PS_TMP/names.sql" postgres >"$PS_TMP/names.log" 2>&1 || fail "the names are let in" "$(tail -n 3 "$PS_TMP/names.log")"
  names=$((names + 5))
  [ "$(shown "end_user = '(overflow)'" | cut -d '|' -f 1)" = 1 ] || [ $names -ge 5000 ]
}
until come; do :; done
told_apart=$(shown "end_user LIKE 'made up %'" | cut -d '|' -f 1)
check "some of the names have sessions of their own, the others are one" "$((told_apart > 20)) $(shown "end_user = '(overflow)'")" "1 1|$((names - told_apart))"
check "memory is bounded" "$(q "SELECT memory_used <= memory_limit FROM privacy_score.stat_info")" t

q "ALTER ROLE app SET privacy_score.mode = 'enforce'" "ALTER ROLE app SET privacy_score.session_limit = 1000" >/dev/null
check "another new name may do what the role is used to" "$(as app q_state "$(be late)" "$usual")" 00000
check_match "and nothing else" "$(as app q_all "$(be late)" "$unusual")" 'there is no room to record it.*DETAIL:  There are more end users than shared memory has room to tell apart, and the statement is new'
of_overflow=$(shown "end_user = '(overflow)'" | cut -d '|' -f 2)
for name in based recent; do
  check "who is known has room: $name" "$(as app q_state "$(be $name)" "$unusual") $(shown "end_user = '$name'")" "00000 1|1"
done
check "nobody else" "$(as app q_state "$(be ancient)" "$usual") $(shown "end_user = '(overflow)'")" "00000 1|$((of_overflow + 1))"
check "who was here before goes on where she was" "$(as app q_state "$(be habit)" "$usual" "$unusual") $(shown "end_user = 'habit'")" "00000 1|4"
check "and so does who has a session" "$(as app q_state "$(be 'made up 7')" "$unusual") $(shown "end_user = 'made up 7'")" "00000 1|2"

kill -CONT "$worker"
q "SELECT privacy_score.flush()" >/dev/null
check "the overflow is an alert" "$(q "SELECT end_user, detail->>'cause' FROM privacy_score.alerts WHERE kind = 'end_user'")" "(overflow)|overflow"
check "so is the refusal" "$(q "SELECT DISTINCT end_user, blocked FROM privacy_score.alerts WHERE kind = 'memory'")" "(overflow)|t"
told_apart_now() { as app q "$(be later)" "$unusual" >/dev/null 2>&1; [ "$(shown "end_user = 'later'" | cut -d '|' -f 1)" = 1 ]; }
check_true "when the worker has made room a new name is told apart again" wait_until told_apart_now
q "SELECT privacy_score.flush()" >/dev/null
check "nothing that ran is lost" "$(q "SELECT count(DISTINCT end_user) FILTER (WHERE end_user LIKE 'made up %'), sum(queries) FILTER (WHERE end_user LIKE 'made up %' OR end_user = '(overflow)') FROM privacy_score.session")" "$told_apart|$((names + 3))"
check_scored
done_testing

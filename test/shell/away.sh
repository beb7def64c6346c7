#!/bin/bash
# away.sh - more people than memory holds: who is put out of memory, and who was there when the server crashed, goes on as she was.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.worker_stays = '1h'" "max_connections = 60" "privacy_score.max_memory = '16MB'" "privacy_score.room_patience = '5min'" "privacy_score.end_user_source = 'setting app.user'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE app LOGIN" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, hiv bool)" \
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 5, i % 7 = 0 FROM generate_series(1, 1000) i" "ANALYZE" \
  "GRANT SELECT ON patients TO app" "SELECT privacy_score.protect('patients', 'id')" \
  "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" >/dev/null || bail_out "the tables cannot be made"

begin_anew() {
  q "DROP EXTENSION privacy_score" "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('patients', 'id')" "SELECT privacy_score.flush()" >/dev/null
  as app q "SET app.\"user\" = 'habit'" "SELECT name FROM patients WHERE id = 1" "SELECT city FROM patients WHERE id = 1" "SELECT name FROM patients WHERE id = 2" >/dev/null
  q "SELECT privacy_score.flush()" "SET client_min_messages = error" "SELECT privacy_score.set_baseline('app', '-infinity', 'infinity')" "SELECT privacy_score.flush()" >/dev/null
}
# People who come once each, named by a letter.
people=$(by_length 500 20000)
cat >"$PS_TMP/crowd.sql" <<'SQL'
\set n :n + 1
BEGIN;
SELECT set_config('app.user', ':letter' || :n, true);
SELECT name FROM patients WHERE id = 1 + :n % 1000;
COMMIT;
SQL
crowd() {
  sed "s/:letter/$1/" "$PS_TMP/crowd.sql" >"$PS_TMP/crowd.$1.sql"
  PGUSER=app "$PS_BINDIR/pgbench" -n -c 1 -t "$people" -D n=0 -f "$PS_TMP/crowd.$1.sql" postgres >"$PS_TMP/crowd.$1.log" 2>&1 || fail "the crowd $1 is let in" "$(tail -n 3 "$PS_TMP/crowd.$1.log")"
}
# Alice comes three times: each of her statements on a connection of its own.
alice() { local statement; for statement in "$@"; do as app q "SET app.\"user\" = 'alice'" "$statement" >/dev/null; done; }
visit1() { alice "SELECT name FROM patients WHERE id = 1" "SELECT hiv FROM patients WHERE id = 1"; for id in $(seq 1 15); do alice "SELECT city FROM patients WHERE id = $id"; done; }
visit2() { alice "SELECT name, city FROM patients WHERE id = 3"; for id in $(seq 10 25); do alice "SELECT city FROM patients WHERE id = $id"; done; alice "SELECT name FROM patients WHERE city = 'c1'"; }
visit3() { alice "SELECT hiv FROM patients WHERE id IN (4, 5, 6)" "SELECT name FROM patients WHERE id = 1" "SELECT count(*) FROM patients WHERE city = 'c2'"; }
figures="queries, ngrams, mismatched, score, max_score, normalised, statement_score, rows, reach, subjects, subject_columns"
live() { q "SELECT privacy_score.flush()" "SELECT $figures FROM privacy_score.stat_sessions WHERE end_user = 'alice'" | sed '/^$/d'; }
recorded() { q "SELECT $figures FROM privacy_score.score_sessions('app', '-infinity', 'infinity') WHERE end_user = 'alice'"; }
more="SELECT addressed, person, most_rows, known, differ, enforced FROM privacy_score.session WHERE end_user = 'alice'"
in_memory() { q "SELECT count(*) FROM privacy_score.stat_sessions WHERE end_user = '$1'"; }

# --- as if nobody else were there -------------------------------------------------------------------------------------------------
begin_anew
visit1
first=$(live)
visit2
second=$(live)
visit3
third=$(live)
stored=$(q "$more")
check "she reaches farther with each visit" "$(cut -d '|' -f 1,9,10 <<<"$first"$'\n'"$second"$'\n'"$third" | paste -sd ' ')" "17|15|15 35|25|25 38|25|25"

# --- with a crowd in between ------------------------------------------------------------------------------------------------------
begin_anew
visit1
check "the first visit" "$(live)" "$first"
crowd b
check "the crowd has put her out of memory" "$(in_memory alice)" 0
check "memory stays bounded" "$(q "SELECT memory_used < 16 * 1024 * 1024, (SELECT count(*) < $people FROM privacy_score.stat_sessions) FROM privacy_score.stat_info")" "t|t"
check "everybody in it has a session of her own" "$(q "SELECT privacy_score.flush()" "SELECT count(DISTINCT end_user), count(*), sum(queries) FROM privacy_score.session WHERE end_user LIKE 'b%'" | tail -n 1)" "$people|$people|$people"
visit2
check "she goes on with her score, what came before, and her reach, to the last bit" "$(live)" "$second"
crowd c
check "she is put out of memory again" "$(in_memory alice)" 0
visit3
check "and goes on again" "$(live)" "$third"
check "in history it is one session with the same figures" "$(recorded)" "$third"
check "all of them" "$(q "$more")" "$stored"
check "who of the crowd comes back goes on, too" "$(as app q "SET app.\"user\" = 'b7'" "SELECT name FROM patients WHERE id = 500" >/dev/null; q "SELECT privacy_score.flush()" "SELECT count(*), sum(queries), max(subjects) FROM privacy_score.session WHERE end_user = 'b7'" | tail -n 1)" "1|2|2"
check "nobody was taken for an overflow" "$(q "SELECT count(*) FROM privacy_score.alerts WHERE kind = 'end_user'")" 0
check "nobody reads what is kept" "$(as app q_state "SELECT * FROM privacy_score.principal_session") $("$PS_BINDIR/pg_dump" --data-only | grep -c 'COPY privacy_score.principal_session ')" "42501 0"

# --- enforce ----------------------------------------------------------------------------------------------------------------------
begin_anew
visit1
limit=$(q "SELECT privacy_score.flush()" "SELECT statement_score + 0.01 FROM privacy_score.stat_sessions WHERE end_user = 'alice'" | tail -n 1)
q "ALTER ROLE app SET privacy_score.mode = 'enforce'" "ALTER ROLE app SET privacy_score.session_limit = $limit" >/dev/null
crowd d
check "she is out of memory" "$(in_memory alice)" 0
check "what she had done before is counted before the next statement is let pass" "$(as app q_state "SET app.\"user\" = 'alice'" "SELECT name, city, hiv FROM patients WHERE id = 5")" PS001
check "another one may do that" "$(as app q_state "SET app.\"user\" = 'beth'" "SELECT name, city, hiv FROM patients WHERE id = 5")" 00000
check "what she has always done she may go on with" "$(as app q_state "SET app.\"user\" = 'alice'" "SELECT city FROM patients WHERE id = 40")" 00000
q "ALTER ROLE app RESET privacy_score.mode" "ALTER ROLE app RESET privacy_score.session_limit" >/dev/null

# --- many who come and go at once -----------------------------------------------------------------------------------------------------
begin_anew
cat >"$PS_TMP/coming.sql" <<'SQL'
\set who random(1, :people)
\set id random(1, 1000)
BEGIN;
SELECT set_config('app.user', 'h' || :who, true);
SELECT city FROM patients WHERE id = :id;
COMMIT;
SQL
visits=$(by_length 500 20000)
PGUSER=app "$PS_BINDIR/pgbench" -n -c 4 -j 2 -t "$visits" --random-seed=7 -D people=$((people * 5 / 4)) -f "$PS_TMP/coming.sql" postgres >"$PS_TMP/coming.log" 2>&1 || fail "they are let in" "$(tail -n 3 "$PS_TMP/coming.log")"
q "SELECT privacy_score.flush()" >/dev/null
check "each has one session, and none of their statements is lost" \
  "$(q "SELECT count(*) = count(DISTINCT end_user), sum(queries) FROM privacy_score.session WHERE end_user LIKE 'h%' AND end_user <> 'habit'")" "t|$((4 * visits))"
check "their reach is that of all their look-ups" "$(q "SELECT count(*) FROM privacy_score.session WHERE end_user LIKE 'h%' AND end_user <> 'habit' AND (reach <> subjects OR reach NOT BETWEEN 1 AND queries)")" 0
check "what is in memory is what history has" "$(q "SELECT count(*) FROM privacy_score.stat_sessions l JOIN privacy_score.score_sessions('app', '-infinity', 'infinity') h ON h.end_user = l.end_user AND h.session = l.session
  WHERE l.end_user LIKE 'h%' AND (l.queries, l.ngrams, l.score, l.rows, l.reach) IS DISTINCT FROM (h.queries, h.ngrams, h.score, h.rows, h.reach)")" 0

# --- a crash ------------------------------------------------------------------------------------------------------------------------
begin_anew
visit1
q "SELECT privacy_score.flush()" >/dev/null
kill9_server
resume_server
visit2
# Which constants she had is not known any more: reach goes on from the figures that were written.
score_of() { cut -d '|' -f 1-8 <<<"$1"; }
check "after a crash she goes on as far as it was written" "$(score_of "$(live)")" "$(score_of "$second")"
check "her reach is never below what it was" "$(live | awk -F '|' '{ print ($9 >= 16), ($10 >= 16) }')" "1 1"
check "in history it is one session" "$(q "SELECT count(*), sum(queries) FROM privacy_score.session WHERE end_user = 'alice'")" "1|35"
crowd e
kill9_server
resume_server
visit3
check "and so does who was out of memory" "$(score_of "$(live)")" "$(score_of "$third")"

# --- what ends ----------------------------------------------------------------------------------------------------------------------
begin_anew
visit1
q "SELECT privacy_score.flush()" >/dev/null
q "SELECT privacy_score.forget_end_user('app', 'alice')" >/dev/null
visit1
check "who was forgotten begins anew" "$(live)" "$first"
conf "privacy_score.idle_gap = '1s'"
reload_server
people=20
crowd g
wait_for "SELECT count(*) FROM privacy_score.stat_sessions" 0
q "SELECT privacy_score.flush()" >/dev/null
check "of those that were in memory nothing is kept when they end" "$(q "SELECT count(*) FROM privacy_score.principal_session p JOIN privacy_score.session s ON s.id = p.session_id WHERE s.end_user = 'g$people'")" 0
alice "SELECT name FROM patients WHERE id = 1"
check "after a pause it is another session" "$(q "SELECT privacy_score.flush()" "SELECT count(*) FROM privacy_score.session WHERE end_user = 'alice'" | tail -n 1)" 2
check_scored
done_testing

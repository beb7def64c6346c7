#!/bin/bash
# end_users.sh - many people behind one role: where their names are read, whom they are believed of, and that a person's session
# goes on over all connections with the scores that it would have on a connection of her own.
. "$(dirname "$0")/../lib.sh"

# A backslash stands twice in the file.
start_server "privacy_score.worker_stays = '1h'" "max_connections = 60" \
  "privacy_score.end_user_source = 'setting app.user, setting request.claims ->> sub, comment user, comment /^ Metabase:: userID: (\\\\d+)/, privacy_score.end_user'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE app LOGIN" "CREATE ROLE plain LOGIN" "CREATE ROLE web_anon" "GRANT web_anon TO app" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, hiv bool)" \
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 5, i % 7 = 0 FROM generate_series(1, 1000) i" "ANALYZE" \
  "GRANT SELECT ON patients TO app, plain, web_anon" "SELECT privacy_score.protect('patients', 'id')" \
  "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" >/dev/null || bail_out "the tables cannot be made"

# Throws away what was recorded, with the sessions that go on.
begin_anew() { q "DROP EXTENSION privacy_score" "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('patients', 'id')" "SELECT privacy_score.flush()" >/dev/null; }
# Who asked, and how often, as recorded: "NAME COUNT" a line; (none) without an end user.
askers() { q "SELECT privacy_score.flush()" "SELECT COALESCE(end_user, '(none)') || ' ' || sum(queries) FROM privacy_score.session WHERE role = '${1:-app}' GROUP BY end_user ORDER BY end_user" | sed '/^$/d' | paste -sd ';'; }
ask="SELECT name FROM patients WHERE id = 7"

# --- where names are read ---------------------------------------------------------------------------------------------------
as app q "BEGIN" "SET LOCAL app.\"user\" = 'alice'" "$ask" "SELECT city FROM patients WHERE id = 8" "COMMIT" "$ask" >/dev/null
check "a setting of the transaction" "$(askers)" "alice 2;(none) 1"
begin_anew
as app q "SELECT set_config('request.claims', '{\"role\": \"web\", \"sub\": \"b\\u00f6b\"}', false)" "$ask" >/dev/null
check "a key of a setting" "$(askers | tr ';' '\n' | grep -v none)" "böb 1"
begin_anew
as app q "/*route='x%2Fy',user='car%20ol'*/ $ask" "$ask /*user='dave'*/" "$ask -- user='nobody'
" "SELECT '/*user=''eve''*/' FROM patients WHERE id = 1" "-- Metabase:: userID: 7 queryType: native queryHash: ab
$ask" >/dev/null
check "comments" "$(askers)" "7 1;car ol 1;dave 1;nobody 1;(none) 1"
begin_anew
as app q "SET privacy_score.end_user = ' frank '" "$ask" "SET app.\"user\" = 'gina'" "$ask" "RESET app.\"user\"" "$ask" >/dev/null
check "the first source that says something counts, the setting of ours is one" "$(askers)" "frank 2;gina 1"
q "CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0" >/dev/null
on latin q "CREATE EXTENSION privacy_score" "CREATE TABLE t (id int PRIMARY KEY)" "GRANT SELECT ON t TO app" "SELECT privacy_score.protect('t')" >/dev/null
PGCLIENTENCODING=UTF8 PGUSER=app on latin q "SET app.\"user\" = ' zoë '" "SELECT * FROM t" "SET app.\"user\" = 'zoë'" "SELECT * FROM t" >/dev/null
check "in another encoding the space around a name is not of it either" "$(PGCLIENTENCODING=UTF8 on latin askers)" "zoë 2"
q "DROP DATABASE latin WITH (FORCE)" >/dev/null
begin_anew
as app q "BEGIN" "SET LOCAL app.\"user\" = 'alice'" "SAVEPOINT s" "SET LOCAL app.\"user\" = 'bob'" "$ask" "ROLLBACK TO s" "$ask" "RESET app.\"user\"" "$ask" "COMMIT" >/dev/null
check "savepoints and RESET mean what they say" "$(askers)" "alice 1;bob 1;(none) 1"
begin_anew
as app q "/*user='alice'*/ PREPARE p AS $ask" "EXECUTE p" "EXECUTE p /*user='bob'*/" "SET app.\"user\" = 'carol'" "EXECUTE p" >/dev/null
check "a prepared statement has the comment of its PREPARE, and settings of now" "$(askers)" "alice 2;carol 1"
begin_anew
as app q "SET app.\"user\" = '$(printf 'x%.0s' $(seq 300))'" "$ask" "SET app.\"user\" = E'a\\x01b'" "$ask" "SET app.\"user\" = '(overflow)'" "$ask" "SET app.\"user\" = 'ok'" "$ask" >/dev/null
check "a name that is too long, or none, or another's, is invalid" "$(askers)" "(invalid) 3;ok 1"
check "and one alert says so" "$(q "SELECT end_user, kind, detail->>'cause', occurrences FROM privacy_score.alerts")" "(invalid)|end_user|invalid|1"
check_match "a source that cannot be read is refused" "$(q_all "SET privacy_score.end_user_source = 'comment /a(b)(c)/'")" 'invalid value for parameter'
check_match "also one that is no regular expression" "$(q_all "SET privacy_score.end_user_source = 'comment /a(b/'")" 'invalid value for parameter'

# --- whom they are believed of ------------------------------------------------------------------------------------------------
begin_anew
ignored=$(as plain q_all "SET app.\"user\" = 'alice'" "$ask" "$ask")
check_match "who does not speak for others is told" "$ignored" 'the name of an end user is ignored: role "plain" does not speak for others'
check "once" "$(grep -c WARNING <<<"$ignored")" 1
check "and counts for the role" "$(askers plain)" "(none) 2"
check "and is an alert" "$(q "SELECT role, kind, detail->>'cause' FROM privacy_score.alerts")" "plain|end_user|ignored"
check "only superusers label a role gateway" "$(as app q_state "SECURITY LABEL FOR privacy_score ON ROLE plain IS 'gateway'")" 42501
check "or say where names stand" "$(as app q_state "SET privacy_score.end_user_source = 'application_name'")" 42501
begin_anew
q "ALTER ROLE app SET privacy_score.principal = 'current_user'" >/dev/null
as app q "BEGIN" "SET LOCAL ROLE web_anon" "SET LOCAL request.claims = '{\"sub\": \"alice\"}'" "$ask" "COMMIT" "BEGIN" "SET LOCAL ROLE web_anon" "SET LOCAL request.claims = '{\"sub\": \"bob\"}'" "$ask" "$ask" "COMMIT" >/dev/null
check "the session's user is believed, the role that is set is the principal's" "$(askers web_anon)" "alice 1;bob 2"
q "ALTER ROLE app RESET privacy_score.principal" >/dev/null

# --- a session of a principal, over all connections -----------------------------------------------------------------------------
# The same statements of eight people: each transaction on a connection of its own, and each person on a connection of her own.
cat >"$PS_TMP/people.sql" <<'SQL'
\set k random(1, 9)
\set id random(1, 1000)
BEGIN;
SET LOCAL app."user" = 'user :client_id';
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
SELECT name FROM patients WHERE id = :id;
SELECT city FROM patients WHERE id = :id;
\else
SELECT name, city FROM patients WHERE id = :id;
\endif
COMMIT;
SQL
sed 's/SET LOCAL/SET/' "$PS_TMP/people.sql" >"$PS_TMP/alone.sql"
people=8
each=$(by_length 30 500)
bench() { PGUSER=app "$PS_BINDIR/pgbench" -n -c $people -j 2 -t "$each" --random-seed=42 "$@" postgres >/dev/null 2>&1 || fail "pgbench $*"; }
figures="end_user, queries, ngrams, mismatched, score, max_score, normalised, statement_score, rows, reach, subjects, subject_columns"
live() { q "SELECT $figures FROM privacy_score.stat_sessions WHERE end_user IS NOT NULL ORDER BY 1"; }
history() { q "SELECT $figures FROM privacy_score.score_sessions('app', '-infinity', 'infinity') WHERE end_user IS NOT NULL ORDER BY 1"; }
begin_anew
bench -C -f "$PS_TMP/people.sql"
q "SELECT privacy_score.flush()" >/dev/null
over_all=$(live)
check "people have one session each over all connections" "$(cut -d '|' -f 1 <<<"$over_all" | paste -sd ',')" "user 0,user 1,user 2,user 3,user 4,user 5,user 6,user 7"
check "history has the same scores to the last bit" "$(history)" "$over_all"
begin_anew
bench -f "$PS_TMP/alone.sql"
q "SELECT privacy_score.flush()" >/dev/null
check "and so has each on a connection of her own" "$(history)" "$over_all"
begin_anew
q "SELECT privacy_score.flush()" >/dev/null
number="SELECT count(*) FROM patients WHERE city = 'c1'"
as app q "SET app.\"user\" = 'alice'" "$number" >/dev/null
as app q "SET app.\"user\" = 'bob'" "$number AND id <> 1" >/dev/null
as app q "SET app.\"user\" = 'alice'" "$number AND id <> 1" >/dev/null
check "answers on several connections are compared with each other, those of one person only" \
  "$(q "SELECT differ FROM privacy_score.stat_sessions WHERE end_user IN ('alice', 'bob') ORDER BY end_user" | paste -sd ' '; q "SELECT privacy_score.flush()" "SELECT differ FROM privacy_score.session WHERE end_user IN ('alice', 'bob') ORDER BY end_user" | sed '/^$/d' | paste -sd ' ')" "1 0
1 0"
as app q "SET app.\"user\" = 'alice'" "SELECT avg(id), count(*) FROM patients WHERE id <= 100" >/dev/null
for i in $(seq 70); do as app q "SET app.\"user\" = 'alice'" "SELECT avg(id), count(*) FROM patients WHERE id <= 100 AND id <> $i" >/dev/null; done
check "many are, and the oldest forgotten" "$(q "SELECT differ FROM privacy_score.stat_sessions WHERE end_user = 'alice'"; as app q "SET app.\"user\" = 'alice'" "$number AND id <> 6" >/dev/null; q "SELECT differ FROM privacy_score.stat_sessions WHERE end_user = 'alice'")" "55
55"
begin_anew
q "ALTER ROLE app SET privacy_score.session_scope = 'connection'" >/dev/null
as app q "SET app.\"user\" = 'alice'" "$ask" >/dev/null
as app q "SET app.\"user\" = 'alice'" "$ask" "SET app.\"user\" = 'bob'" "$ask" "DISCARD ALL" "$ask" >/dev/null
check "session_scope = connection keeps connections apart" "$(q "SELECT privacy_score.flush()" "SELECT count(*) FROM privacy_score.session WHERE end_user = 'alice'" | tail -n 1)" 2
check "and cuts where the end user changes" "$(askers)" "alice 2;bob 1;(none) 1"
q "ALTER ROLE app RESET privacy_score.session_scope" >/dev/null

# In the long form 200 people over ten connections of PgBouncer.
if [ -n "${PS_LONG:-}" ] && ! command -v pgbouncer >/dev/null; then skip "PgBouncer: there is none"; fi
if [ -n "${PS_LONG:-}" ] && command -v pgbouncer >/dev/null; then
  people=200
  start_pooler() {
    printf '%s\n' "[databases]" "postgres = host=$PGHOST port=$PGPORT" "[pgbouncer]" "listen_addr =" "unix_socket_dir = $PS_TMP" "listen_port = 6432" "auth_type = trust" \
      "auth_file = $PS_TMP/users" "pool_mode = transaction" "default_pool_size = 10" "max_client_conn = 1000" "logfile = $PS_TMP/pooler.log" "pidfile = $PS_TMP/pooler.pid" >"$PS_TMP/pooler.ini"
    echo '"app" ""' >"$PS_TMP/users"
    pgbouncer -q "$PS_TMP/pooler.ini" &
    pooler=$!
    wait_until test -S "$PS_TMP/.s.PGSQL.6432"
  }
  begin_anew
  start_pooler
  PGHOST=$PS_TMP PGPORT=6432 bench -f "$PS_TMP/people.sql"
  kill $pooler
  q "SELECT privacy_score.flush()" >/dev/null
  # Not all of them are in memory.
  over_all=$(history)
  check "200 people over ten connections of PgBouncer are told apart" "$(wc -l <<<"$over_all")" $people
  check "those in memory show the scores of history to the last bit" "$(live | grep -vxF "$over_all")" ""
  conf "max_connections = 250" "privacy_score.max_memory = '256MB'"
  restart_server
  begin_anew
  bench -f "$PS_TMP/alone.sql"
  q "SELECT privacy_score.flush()" >/dev/null
  check "and so has each on a connection of her own" "$(history)" "$over_all"
  people=8
fi

# Requests of one person that run side by side, in whatever order they end, make no new pairs. All of a page have begun before the
# first ends; the next page begins when all have ended.
side_by_side=20
before=$(by_length 10 50)
pages=$(by_length 60 1000)
q "ALTER ROLE app SET privacy_score.track = 'top'" "CREATE SEQUENCE begun" "CREATE SEQUENCE ended" "GRANT USAGE, SELECT ON SEQUENCE begun, ended TO app" >/dev/null
cat >"$PS_TMP/page.sql" <<SQL
\set r :r + 1
BEGIN;
SET LOCAL app."user" = 'alice';
SELECT name AS c:client_id FROM patients WHERE id = :client_id AND city = 'c1' LIMIT 1 + :client_id;
DO 'BEGIN PERFORM nextval(''begun''); WHILE (SELECT last_value < $side_by_side * :r FROM begun) LOOP PERFORM pg_sleep(0.0005); END LOOP; END';
COMMIT;
DO 'BEGIN PERFORM nextval(''ended''); WHILE (SELECT last_value < $side_by_side * :r FROM ended) LOOP PERFORM pg_sleep(0.0005); END LOOP; END';
SQL
# Each client has a statement of its own.
for client in $(seq 0 $((side_by_side - 1))); do
  columns=$(awk -v n="$client" 'BEGIN { split("name city hiv id", c); s = ""; for (i = 0; i < 4; ++i) if (int((n % 15 + 1) / 2 ^ i) % 2) s = s (s == "" ? "" : ", ") c[i + 1]; print s }')
  sed "s/SELECT name AS c:client_id FROM patients WHERE id = :client_id AND city = 'c1' LIMIT 1 + :client_id/SELECT $columns FROM patients WHERE $([ "$client" -ge 15 ] && echo "name = 'n1'" || echo "id = 1")/" "$PS_TMP/page.sql" >"$PS_TMP/page$client.sql"
done
turn_pages() {
  local client pids=()
  q "ALTER SEQUENCE begun RESTART" "ALTER SEQUENCE ended RESTART" "SELECT setval('begun', 1, false), setval('ended', 1, false)" >/dev/null
  for client in $(seq 0 $((side_by_side - 1))); do
    PGUSER=app "$PS_BINDIR/pgbench" -n -c 1 -t "$1" -D r=0 -f "$PS_TMP/page$client.sql" postgres >"$PS_TMP/page.$client.log" 2>&1 &
    pids+=($!)
  done
  wait "${pids[@]}"
}
begin_anew
turn_pages "$before"
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('app', '-infinity', 'infinity')" >/dev/null
turn_pages "$pages"
q "SELECT privacy_score.flush()" >/dev/null
check "$side_by_side requests side by side make no new pairs" \
  "$(q "SELECT sum(queries), sum(mismatched) FROM privacy_score.score_sessions('app', '-infinity', 'infinity') WHERE end_user = 'alice'")" "$((side_by_side * (before + pages)))|0"
check "what the live session shows, too" "$(live)" "$(history)"
q "ALTER ROLE app RESET privacy_score.track" >/dev/null

# A role that speaks for nobody: forty connections with one look-up each are as forty look-ups on one.
begin_anew
as plain q "$ask" "SELECT city FROM patients WHERE id = 3" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('plain', '-infinity', 'infinity')" "SELECT privacy_score.flush()" "ALTER ROLE plain SET privacy_score.session_scope = 'principal'" >/dev/null
for id in $(seq 1 40); do as plain q "SELECT name FROM patients WHERE id = $id" >/dev/null; done
q "SELECT privacy_score.flush()" >/dev/null
check "forty reconnects reach as far as forty look-ups" "$(q "SELECT queries, reach, subjects, end_user FROM privacy_score.stat_sessions WHERE role = 'plain'")" "40|40|40|"
check "and raise the same alerts" "$(q "SELECT string_agg(DISTINCT detail->>'cause', ' ') FROM privacy_score.alerts WHERE role = 'plain' AND kind = 'reach'")" "reach subjects"
# Two transactions of hers side by side, which repeat by turns what they have begun with: each statement follows its own.
begin_anew
mkfifo "$PS_TMP/beside"
as plain "$PS_BINDIR/psql" -Xqt <"$PS_TMP/beside" >/dev/null &
exec 4>"$PS_TMP/beside"
echo "BEGIN;" >&4
{
  echo "BEGIN;"
  for turn in $(seq 12); do
    yes "SELECT name FROM patients WHERE id = 1;" | head -n 12
    # Goes on when the other one has repeated its own as often.
    echo "\\! { yes 'SELECT city FROM patients WHERE id = 2;' | head -n 12; echo '\\! touch $PS_TMP/turn.$turn'; } >&4"
    echo "\\! timeout 100 sh -c 'until [ -e $PS_TMP/turn.$turn ]; do sleep 0.01; done'"
  done
  echo "COMMIT;"
} | as plain "$PS_BINDIR/psql" -Xqt >/dev/null
echo "COMMIT;" >&4
exec 4>&-
wait
q "SELECT privacy_score.flush()" >/dev/null
check "repeats of two transactions side by side are all there, and history knows what each follows" \
  "$(q "SELECT queries, ngrams FROM privacy_score.stat_sessions WHERE role = 'plain'" "SELECT queries, ngrams FROM privacy_score.score_sessions('plain', '-infinity', 'infinity')" \
    "SELECT count(*) FROM privacy_score.score_ngrams('plain', '-infinity', 'infinity') WHERE cardinality(ARRAY(SELECT DISTINCT unnest(ngram) EXCEPT SELECT '')) > 1")" "$(printf '288|4\n288|4\n0')"
q "ALTER ROLE plain RESET privacy_score.session_scope" >/dev/null

# --- enforce --------------------------------------------------------------------------------------------------------------------
begin_anew
as app q "SET app.\"user\" = 'before'" "$ask" "SELECT city FROM patients WHERE id = 3" "$ask" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('app', '-infinity', 'infinity')" "SELECT privacy_score.flush()" >/dev/null
q "ALTER ROLE app SET privacy_score.mode = 'enforce'" "ALTER ROLE app SET privacy_score.session_limit = 0.9" >/dev/null
mkfifo "$PS_TMP/listener"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/listener" >"$PS_TMP/heard" 2>&1 &
exec 5>"$PS_TMP/listener"
echo "LISTEN privacy_score_alert; SELECT 'listening';" >&5
check_true "somebody listens" wait_for_line "$PS_TMP/heard" listening
stolen=
for column in hiv "hiv, city" "hiv, name" "hiv, name, city" "name, city"; do
  stolen+="$(as app q_state "SET app.\"user\" = 'thief'" "SELECT $column FROM patients WHERE id = 5") "
done
check_match "a person who steals over many connections is refused" "$stolen" '^00000 PS001 PS001 PS001 '
check "others go on" "$(as app q_state "SET app.\"user\" = 'alice'" "$ask" "SELECT city FROM patients WHERE id = 3" "$ask")" 00000
q "SELECT privacy_score.flush()" >/dev/null
check "the alert names the person" "$(q "SELECT DISTINCT end_user, blocked FROM privacy_score.alerts WHERE kind = 'session' AND blocked")" "thief|t"
check_match "so does the line in the log" "$(grep -m 1 'blocked=true' "$ps_log")" 'role="app" end_user="thief"'
heard() { echo "SELECT 1;" >&5; grep -q '^Asynchronous notification "privacy_score_alert".*"blocked": true.*"end_user": "thief"' "$PS_TMP/heard"; }
check_true "so does the notification" wait_until heard
exec 5>&-
check "and the report" "$(q "SELECT count(*) FROM regexp_matches(privacy_score.report(), 'thief')" | sed 's/^[1-9].*/some/')" some
check "and the view of end users" "$(q "SELECT end_user, blocked > 0 FROM privacy_score.stat_end_users ORDER BY 1")" "alice|f
before|f
thief|t"

q "ALTER ROLE app SET privacy_score.session_limit = 50" "SELECT privacy_score.set_limit('app', 'intern', 0.0)" "SELECT privacy_score.set_limit('app', 'chief', daily_limit => 60)" >/dev/null
check "an end user has limits of her own" "$(as app q_state "SET app.\"user\" = 'intern'" "SELECT hiv FROM patients WHERE id = 5")" PS001
check "which are not those of others" "$(as app q_state "SET app.\"user\" = 'chief'" "SELECT hiv FROM patients WHERE id = 5")" 00000
check "they end at once" "$(q "SELECT privacy_score.set_limit('app', 'intern')" >/dev/null; as app q_state "SET app.\"user\" = 'intern'" "SELECT hiv FROM patients WHERE id = 5")" 00000
check "the view shows them" "$(q "TABLE privacy_score.end_user_limits")" "app|chief||60"
q "ALTER ROLE app SET privacy_score.session_limit = 0.9" >/dev/null

# --- imported -------------------------------------------------------------------------------------------------------------------
q "CREATE TABLE logged (session text, role name, at timestamptz, sql text, end_user text)" \
  "INSERT INTO logged SELECT 'c' || i, 'app', '2026-01-05 10:00:00+00'::timestamptz + i * interval '1 second', CASE i % 3 WHEN 0 THEN 'SELECT name FROM patients WHERE id = 1' WHEN 1 THEN 'SELECT city FROM patients' ELSE 'SELECT hiv FROM patients' END, CASE WHEN i < 6 THEN 'ann' WHEN i < 8 THEN NULL ELSE E'be\\x01n' END FROM generate_series(0, 8) i" >/dev/null
check "an import with end users" "$(q "SELECT privacy_score.import_statements('SELECT session, role, at, sql, end_user FROM logged')")" 9
imported() { q "SELECT session, end_user, queries FROM privacy_score.session WHERE day = '2026-01-05' ORDER BY started"; }
check "makes one session of the statements of one, over all connections" "$(imported)" "end user ann|ann|6
c6||1
c7||1
end user (invalid)|(invalid)|1"
q "SELECT privacy_score.import_statements('SELECT session, role, at, sql, end_user FROM logged')" >/dev/null
check "again, nothing is there twice" "$(imported | wc -l)" 4
check "its score is by end user" "$(q "SELECT end_user, queries FROM privacy_score.score('app', '2026-01-05', '2026-01-05') ORDER BY 1")" "(invalid)|1
ann|6
|2"

# On one connection the statements of two people overlap in time; neither takes the other's away.
q "UPDATE logged SET session = 'c', at = at + interval '1 day', end_user = CASE WHEN extract(second FROM at)::int % 2 = 0 THEN 'ann' ELSE 'bob' END" "SET privacy_score.session_scope = 'connection'" \
  "SELECT privacy_score.import_statements('SELECT session, role, at, sql, end_user FROM logged')" >/dev/null
check "two people on one connection" "$(q "SELECT end_user, sum(queries) FROM privacy_score.session WHERE day = '2026-01-06' GROUP BY 1 ORDER BY 1")" "ann|5
bob|4"

# --- what ends ------------------------------------------------------------------------------------------------------------------
q "ALTER ROLE app RESET ALL" >/dev/null
begin_anew
as app q "SET app.\"user\" = 'alice'" "$ask" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
kill9_server
resume_server
as app q "SET app.\"user\" = 'alice'" "$ask" >/dev/null
check "after a crash nothing that was written is lost, and no name mixed up" "$(askers)" "alice 2"
restart_server
as app q "SET app.\"user\" = 'bob'" "$ask" >/dev/null
check "after a shutdown neither" "$(askers)" "alice 2;bob 1"
q "SELECT privacy_score.set_limit('app', 'alice', 3)" "CREATE DATABASE restored" >/dev/null
"$PS_BINDIR/pg_dump" -Fc -f "$PS_TMP/end_users.dump" postgres && "$PS_BINDIR/pg_restore" -d restored "$PS_TMP/end_users.dump"
kept="SELECT role, end_user, sum(queries) FROM privacy_score.session GROUP BY 1, 2 ORDER BY 1, 2"
check "a dump has sessions and limits of end users" "$(on restored q "$kept" "TABLE privacy_score.end_user_limits")" "$(q "$kept" "TABLE privacy_score.end_user_limits")"
check "a policy carries the limits" "$(q "DELETE FROM privacy_score.end_user_limit" >/dev/null; on restored q "SELECT privacy_score.export_policy()" >"$PS_TMP/policy.json"; q "SELECT state FROM privacy_score.import_policy('$(sed "s/'/''/g" "$PS_TMP/policy.json")', false) WHERE statement LIKE '%set_limit%'" "TABLE privacy_score.end_user_limits")" "$(printf 'done\napp|alice|3|')"
check "whose scores are those of before" "$(on restored q "SELECT $figures FROM privacy_score.score_sessions('app', '-infinity', 'infinity') ORDER BY 1, 2")" \
  "$(q "SELECT $figures FROM privacy_score.score_sessions('app', '-infinity', 'infinity') ORDER BY 1, 2")"
q "DROP DATABASE restored" "SELECT privacy_score.set_limit('app', 'alice')" >/dev/null
conf "privacy_score.worker_stays = 0"
reload_server
q "CREATE DATABASE other" >/dev/null
on other q "CREATE EXTENSION privacy_score" "CREATE TABLE t (id int PRIMARY KEY)" "GRANT SELECT ON t TO app" "SELECT privacy_score.protect('t')" >/dev/null
PGUSER=app on other q "SET app.\"user\" = 'alice'" "SELECT * FROM t" >/dev/null
check "a session without a connection does not keep a database from being dropped" "$(wait_until q "DROP DATABASE other" 2>/dev/null; q "SELECT count(*) FROM pg_database WHERE datname = 'other'")" 0
check "one person's history is not forgotten by a snapshot that need not have all of it" "$(q_state "BEGIN ISOLATION LEVEL REPEATABLE READ" "SELECT privacy_score.forget_end_user('app', 'alice')")" 25000
check "one person's history is forgotten" "$(as app q "SET app.\"user\" = 'alice'" "$ask" >/dev/null; q "SELECT privacy_score.forget_end_user('app', 'alice') > 0")" t
check "also what had not been written" "$(askers)" "bob 1"
as app q "SET app.\"user\" = 'alice'" "$ask" >/dev/null
check "and she may come again" "$(askers)" "alice 1;bob 1"
check_scored

# --- two people and one cursor -----------------------------------------------------------------------------------------------------
# Statements of each and the rows that they were given: "NAME STATEMENTS ROWS" a line.
given() {
  q "SELECT privacy_score.flush()" "SELECT COALESCE(s.end_user, '(none)') || ' ' || sum(GREATEST(x.run, 0)) || ' ' || sum(x.rows) FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
      ROWS FROM (unnest(p.ids), unnest(p.runs), unnest(p.rows)) x(id, run, rows) WHERE s.role = '${1:-app}' AND x.run >= 0 GROUP BY s.end_user ORDER BY s.end_user" | sed '/^$/d' | paste -sd ';'
}
alice="SET app.\"user\" = 'alice'"
bob="SET app.\"user\" = 'bob'"
cursor="CURSOR FOR SELECT name FROM patients WHERE id <= 100"
held="CURSOR WITH HOLD FOR SELECT name FROM patients WHERE id <= 100"
begin_anew
as app q "BEGIN" "$alice" "DECLARE c $cursor" "FETCH 10 FROM c" "$bob" "FETCH 20 FROM c" "$alice" "FETCH 1 FROM c" "$bob" "FETCH 2 FROM c" "COMMIT" >/dev/null
check "rows of a cursor go to who fetches them, and its statement once to each" "$(given)" "alice 1 11;bob 1 22"
begin_anew
as app q "BEGIN" "$alice" "DECLARE c $held" "COMMIT" "FETCH 10 FROM c" "$bob" "FETCH 20 FROM c" "$alice" "FETCH 1 FROM c" "$bob" "FETCH 2 FROM c" "RESET app.\"user\"" "FETCH 5 FROM c" >/dev/null
check "a cursor that is held is read to its end for who declared it, and fetched by another, too" "$(given)" "alice 1 100;bob 1 22"
check "which is a statement of that one like any other" "$(q "SELECT count(DISTINCT p.ids[1]), count(DISTINCT s.end_user) FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id WHERE s.end_user IN ('alice', 'bob') AND p.ids[1] <> 0")" "1|2"
begin_anew
as app q "BEGIN" "$alice" "DECLARE c $held" "COMMIT" "CLOSE c" "BEGIN" "$bob" "DECLARE c $held" "COMMIT" "FETCH 3 FROM c" "$alice" "FETCH 4 FROM c" >/dev/null
check "a later cursor of its name is another's" "$(given)" "alice 2 104;bob 1 100"
begin_anew
as plain q "BEGIN" "DECLARE c $held" "COMMIT" "FETCH 10 FROM c" >/dev/null
check "a role that speaks for nobody is asked nothing" "$(given plain)" "(none) 1 100"
begin_anew
q "ALTER ROLE app SET privacy_score.principal = 'current_user'" >/dev/null
as app q "BEGIN" "DECLARE c $held" "COMMIT" "SET ROLE web_anon" "FETCH 10 FROM c" "RESET ROLE" "FETCH 10 FROM c" >/dev/null
check "nor who, where another role is set that counts by itself" "$(given app) / $(given web_anon)" "(none) 1 100 / (none) 1 10"
q "ALTER ROLE app RESET privacy_score.principal" "SELECT privacy_score.set_limit('app', 'bob', session_limit => 0)" "ALTER ROLE app SET privacy_score.mode = 'enforce'" >/dev/null
begin_anew
q "SELECT privacy_score.set_limit('app', 'bob', session_limit => 0)" "SET client_min_messages = error" "SELECT privacy_score.flush()" >/dev/null
check "whom a limit refuses does not fetch from another's cursor" "$(as app q_state "BEGIN" "$alice" "DECLARE c $held" "COMMIT" "$bob" "FETCH 10 FROM c" | tail -n 1)" PS001
q "ALTER ROLE app RESET privacy_score.mode" >/dev/null

# Rows that are fetched by the protocol's Execute, which is no statement. portal STEP...: what came, in one line.
portal() { perl "$(dirname "$0")/../support/portal.pl" "$PGHOST/.s.PGSQL.$PGPORT" "${who:-app}" postgres "$@" | paste -sd ' '; }
alice_holds=(query="BEGIN" query="$alice" query="DECLARE c $held" query="COMMIT")
begin_anew
came=$(portal "${alice_holds[@]}" execute=c,10 query="$bob" execute=c,20 execute=c,3 query="$alice" execute=c,1 query="FETCH 2 FROM c" query="$bob" query="FETCH 5 FROM c" execute=c,4)
check "the protocol's Execute gives rows of a cursor that is held" "$came" "0 0 0 0 10 0 20 3 0 1 2 0 5 4"
check "which are of who is named then, each row once" "$(given)" "alice 1 100;bob 1 32"
begin_anew
came=$(portal "${alice_holds[@]}" query="$bob" then=c,7,"SET app.\"user\" = 'carol'" query="BEGIN" query="SET LOCAL app.\"user\" = 'bob'" execute=c,5 query="SET LOCAL app.\"user\" = 'carol'" execute=c,6 query="COMMIT")
check "also where another is named at once" "$came / $(given)" "0 0 0 0 0 7 0 0 5 0 6 0 / alice 1 100;bob 1 12;carol 1 6"
begin_anew
came=$(portal "${alice_holds[@]}" query="$bob" then=c,7,"SELECT 1 / 0" query="BEGIN" query="SET LOCAL app.\"user\" = 'carol'" then=c,6,"SELECT 1 / 0" query="ROLLBACK" query="SELECT 1" query="SET app.\"user\" = 'carol'" query="SELECT 1")
check "and where the transaction fails, as soon as the same one speaks again" "$came / $(given)" "0 0 0 0 0 7 22012 0 0 6 22012 0 1 0 1 / alice 1 100;bob 1 7;carol 1 6"
begin_anew
came=$(portal "${alice_holds[@]}" query="$bob" query="DO 'DECLARE c refcursor := ''c''; r record; BEGIN FOR i IN 1..9 LOOP FETCH c INTO r; END LOOP; END'" query="MOVE 5 FROM c" execute=c,2)
check "so do rows that code fetches without a statement, but none that are moved over" "$came / $(given)" "0 0 0 0 0 0 0 2 / alice 1 100;bob 1 11"
begin_anew
came=$(portal query="BEGIN" query="$alice" query="DECLARE c $cursor" execute=c,10 query="$bob" execute=c,20 query="COMMIT")
check "of a cursor that is not held each has what she fetches" "$came / $(given)" "0 0 0 10 0 20 0 / alice 1 10;bob 1 20"
begin_anew
came=$(who=plain portal query="BEGIN" query="DECLARE c $held" query="COMMIT" execute=c,10)
check "a role that speaks for nobody has had them all when they were kept" "$came / $(given plain)" "0 0 0 10 / (none) 1 100"
q "CREATE ROLE closed" "SECURITY LABEL FOR privacy_score ON ROLE closed IS 'dp only'" "GRANT closed TO plain" >/dev/null
came=$(who=plain portal query="BEGIN" query="DECLARE c $held" query="COMMIT" query="SET ROLE closed" execute=c,10 query="RESET ROLE" execute=c,10)
check "a dp only role that is set is told with the first rows, which cannot be called back" "$came" "0 0 0 0 10 PS001 0 10"

# --- a standby ------------------------------------------------------------------------------------------------------------------
start_standby standby
wait_for "SELECT count(*) FROM patients" 1000
for id in 1 2 3; do as app q "SET app.\"user\" = 'dora'" "SELECT name FROM patients WHERE id = $id" >/dev/null; done
check "on a standby a person has one session, too" "$(q "SELECT role, end_user, queries FROM privacy_score.stat_sessions")" "app|dora|3"
"$PS_BINDIR/pg_ctl" promote -s -w -D "$PGDATA" >/dev/null
as app q "SET app.\"user\" = 'dora'" "$ask" >/dev/null
of_dora="SELECT string_agg(queries::text, ' ' ORDER BY started, queries DESC) FROM privacy_score.session WHERE end_user = 'dora'"
check_true "which ends with the promotion and is recorded beside the next one" wait_for "$of_dora" "3 1"
check_scored
done_testing

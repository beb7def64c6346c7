#!/bin/bash
# temporary.sh - temporary tables whose names programs make up, watched and read from texts; abstractions that nobody needs any
# more.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.worker_stays = '1h'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE app LOGIN" "CREATE ROLE log LOGIN" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text)" "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 5 FROM generate_series(1, 1000) i" \
  "GRANT SELECT ON patients TO app, log" "SELECT privacy_score.protect('patients', 'id')" "SELECT privacy_score.flush()" >/dev/null ||
  bail_out "the tables cannot be made"
# What a role did, in order of the tokens: "CALLS TOKENS" a line.
done_by() {
  q "SELECT privacy_score.flush()" "SELECT sum(x.run) || ' ' || array_to_string(a.tokens, ' ') FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
       ROWS FROM (unnest(p.ids), unnest(p.runs)) x(id, run) JOIN privacy_score.abstraction a ON a.id = x.id
      WHERE s.role = '$1' GROUP BY a.id ORDER BY array_to_string(a.tokens, ' ') COLLATE \"C\"" | sed '/^$/d'
}

# --- a hundred bulk look-ups, each with a table of its own ----------------------------------------------------------------
bulk() {
  local i name
  for ((i = 1; i <= 100; ++i)); do
    name="tmp_$(printf '%s' "$i" | md5sum | cut -c1-12)"
    [ $((i % 10)) -ne 0 ] || name="\"Tmp $name\""
    printf '%s\n' "CREATE TEMP TABLE $name (id int PRIMARY KEY, at int)" "INSERT INTO $name SELECT g, 0 FROM generate_series($i, $i + 3) g" \
      "SELECT p.name, p.city FROM patients p JOIN $name t ON t.id = p.id" \
      "CREATE TEMP TABLE c_$i AS SELECT p.name AS n, t.at FROM patients p JOIN $name t USING (id)" "SELECT n, at FROM c_$i ORDER BY at" \
      "SELECT a.id FROM $name a JOIN c_$i b ON a.at = b.at" "UPDATE $name SET at = 1 WHERE id = 7"
    [ $((i % 3)) -ne 0 ] || printf '%s\n' "DROP TABLE $name"
  done
}
bulk | sed 's/$/;/' >"$PS_TMP/bulk.sql"
as app q_script <"$PS_TMP/bulk.sql" >/dev/null
copied="p:public.patients.name"
look_up="t:pg_temp.* t:public.patients w:pg_temp.*.1 w:public.patients.id"
expected="100 cmd:insert s:pg_temp.*.1 s:pg_temp.*.2 t:pg_temp.*
100 cmd:select o:pg_temp.*.2 p:pg_temp.*.2 $copied t:pg_temp.* t:public.patients
100 cmd:select p:pg_temp.*.1 t:pg_temp.* t:pg_temp.*2 t:public.patients w:pg_temp.*.2 w:pg_temp.*2.2
100 cmd:select p:pg_temp.*.2 $copied $look_up
100 cmd:select p:public.patients.city $copied $look_up
100 cmd:update s:pg_temp.*.2 t:pg_temp.* w:pg_temp.*.1"
check "a hundred bulk look-ups with a hundred names are one" "$(done_by app)" "$expected"
check "what is stored has none of the names" "$(q "SELECT count(*) FROM privacy_score.abstraction WHERE tokens::text ~ 'tmp_|c_1'")" 0

# The same from texts, of which other sessions' come in between.
q "CREATE TABLE texts (n int GENERATED ALWAYS AS IDENTITY, session text, sql text)" >/dev/null
{
  echo "COPY texts (session, sql) FROM STDIN;"
  bulk | sed 's/^/one\t/'
  echo '\.'
  echo "COPY texts (session, sql) FROM STDIN;"
  bulk | sed 's/^/two\t/'
  echo '\.'
} | q_script >/dev/null
import="SELECT privacy_score.import_statements(\$\$ SELECT session, 'log'::name, timestamptz '2024-01-01 00:00' + n * interval '1 ms', sql FROM texts ORDER BY row_number() OVER (PARTITION BY session ORDER BY n), session \$\$)"
check "texts of two sessions that make tables of the same names" "$(q "$import")" 1200
check "are read as they would have been live" "$(done_by log)" "${expected//100 /200 }"
q "INSERT INTO texts (session, sql) VALUES ('three', 'SELECT n FROM c_1'), ('three', 'SELECT id FROM patients_of_nobody')" >/dev/null
q "DELETE FROM texts WHERE session <> 'three'" "$import" >/dev/null
check "a session that has made none is told nothing of others' tables" "$(done_by log | grep -c 'p:c_1.n t:c_1')" 1

check "what is asked about the own temporary table" \
  "$(q "CREATE TEMP TABLE mine (a int, b text)" "SELECT privacy_score.abstract_query('SELECT b FROM mine')" "SELECT privacy_score.explain_query('SELECT b FROM mine', 'app')->'problems'")" \
  "{cmd:select,p:pg_temp.*.2,t:pg_temp.*}
[]"

# --- abstractions that nobody refers to ---------------------------------------------------------------------------------------
# Four: of a session that goes, of one that stays, of a baseline that is not in force, and of nothing since yesterday.
as app q "SELECT count(id) FROM patients" "SELECT id FROM patients" >/dev/null
as log q "SELECT min(city) FROM patients" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
q "UPDATE privacy_score.session SET day = day - 20, started = started - interval '20 days' WHERE role = 'log' AND source = 'live'" \
  "SET client_min_messages = error" "SELECT privacy_score.set_baseline('log', privacy_score.today() - 20, privacy_score.today() - 20)" "SELECT privacy_score.drop_baseline('log')" \
  "UPDATE privacy_score.session SET day = day - 20 WHERE source = 'import'" \
  "UPDATE privacy_score.abstraction SET last_seen = last_seen - interval '20 days'" \
  "INSERT INTO privacy_score.abstraction (id, tokens, first_seen, last_seen) VALUES (1, '{a}', now() - interval '20 days', now() - interval '20 days'), (2, '{b}', now(), now() - interval '1 day')" >/dev/null
# Some that a session refers to which goes on.
open_app() {
  coproc APP { "$PS_BINDIR/psql" -XAtq -U app 2>&1; }
  printf '%s\n' "SELECT city FROM patients WHERE id = 1;" "\\echo ready" >&"${APP[1]}"
  while read -r line <&"${APP[0]}"; do [ "$line" != ready ] || break; done
}
conf "privacy_score.history_retention = 5"
restart_server
open_app
q "SELECT privacy_score.flush()" >/dev/null
left="SELECT count(*) FILTER (WHERE tokens = '{a}'), count(*) FILTER (WHERE tokens = '{b}'), count(*) FILTER (WHERE tokens @> '{p:public.patients.id}'),
  count(*) FILTER (WHERE tokens::text ~ 'min'), count(*) FILTER (WHERE tokens::text ~ 'p:c_1.n'), count(*) FILTER (WHERE tokens @> '{w:public.patients.id,cmd:select,p:public.patients.city}' AND cardinality(tokens) = 4) FROM privacy_score.abstraction"
check "what is old and of nobody goes; a day's grace, sessions, baselines in force or not, and what goes on keep theirs" "$(q "$left")" "0|1|1|1|0|1"
refers="SELECT count(*) FROM (SELECT unnest(ids) FROM privacy_score.session_part UNION SELECT unnest(ids) FROM privacy_score.baseline_session UNION SELECT unnest(ngram) FROM privacy_score.baseline_ngram) u(id)
  WHERE id <> 0 AND id NOT IN (SELECT a.id FROM privacy_score.abstraction a)"
check "nothing refers to what is gone" "$(q "$refers")" 0

# One that is gone comes back with the next session that needs it; one that is old is kept by the session that names it.
q "INSERT INTO privacy_score.session (role, session, day, started, last_at, source) VALUES ('log', 'x', '2020-01-01', '2020-01-01', '2020-01-01', 'import')" \
  "UPDATE privacy_score.abstraction SET last_seen = '2020-01-01' WHERE tokens @> '{w:public.patients.id}'" >/dev/null
printf '%s\n' "SELECT n FROM (SELECT name AS n FROM patients) x;" "SELECT city FROM patients WHERE id = 2;" "\\echo ready" >&"${APP[1]}"
while read -r line <&"${APP[0]}"; do [ "$line" != ready ] || break; done
# Who is about to refer to some holds the worker off, and is not waited for.
holding="BEGIN; SET client_min_messages = error; SELECT privacy_score.set_baseline('app', privacy_score.today(), privacy_score.today()); SELECT 'held', 1;"
coproc HOLDER { "$PS_BINDIR/psql" -XAtq 2>&1; }
# The shell forgets the variable when it has ended.
holder=$HOLDER_PID
printf '%s\n' "SELECT privacy_score.flush();" "$holding" >&"${HOLDER[1]}"
while read -r line <&"${HOLDER[0]}"; do [[ "$line" != held* ]] || break; done
check "the lock of who makes a baseline" "$(q "SELECT mode FROM pg_locks WHERE relation = 'privacy_score.abstraction'::regclass AND mode = 'RowShareLock'")" RowShareLock
worker=$(q "SELECT worker_pid FROM privacy_score.stat_info")
q "SELECT pg_terminate_backend($worker, 60000)" "SELECT privacy_score.flush()" >/dev/null
check_true "the worker goes on beside it" wait_for "SELECT count(*) FROM privacy_score.session WHERE day = '2020-01-01'" 0
printf '%s\n' "COMMIT;" "\\q" >&"${HOLDER[1]}"
wait "$holder" 2>/dev/null
q "INSERT INTO privacy_score.abstraction (id, tokens, first_seen, last_seen) VALUES (1, '{a}', now() - interval '20 days', now() - interval '20 days')" >/dev/null
restart_server
q "SELECT privacy_score.flush()" >/dev/null
check "and removes what it may the next time" "$(q "SELECT count(*) FROM privacy_score.abstraction WHERE id = 1")" 0
check "nothing refers to what is gone, afterwards" "$(q "$refers")" 0

done_testing

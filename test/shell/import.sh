#!/bin/bash
# import.sh - import_statements from the server's own csvlog through file_fdw.
. "$(dirname "$0")/../lib.sh"

start_server "logging_collector = on" "log_destination = 'csvlog'" "log_directory = '$PS_TMP/logs'" "log_filename = 'server.log'" \
  "log_statement = 'all'"
q "CREATE EXTENSION privacy_score" "CREATE EXTENSION file_fdw" \
  "CREATE TABLE patients (id int PRIMARY KEY, first_name text, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'f' || i % 17, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i" \
  "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "GRANT SELECT ON patients TO alice, bob" \
  "SELECT privacy_score.protect('patients')" \
  "ALTER ROLE alice SET privacy_score.mode = 'off'" "ALTER ROLE bob SET privacy_score.mode = 'off'" \
  "CREATE SERVER logs FOREIGN DATA WRAPPER file_fdw" \
  "CREATE FOREIGN TABLE log (log_time timestamptz(3), user_name text, database_name text, process_id int, connection_from text,
     session_id text, session_line_num bigint, command_tag text, session_start_time timestamptz, virtual_transaction_id text,
     transaction_id bigint, error_severity text, sql_state_code text, message text, detail text, hint text, internal_query text,
     internal_query_pos int, context text, query text, query_pos int, location text, application_name text, backend_type text,
     leader_pid int, query_id bigint) SERVER logs OPTIONS (filename '$PS_TMP/logs/server.csv', format 'csv')" >/dev/null

as alice q "SELECT city FROM patients WHERE id = 7" "SELECT first_name, diagnosis FROM patients WHERE city = 'c1'" \
  "SELECT city FROM patients WHERE id = 8" >/dev/null
as alice q "SELECT count(*) FROM patients" >/dev/null
as bob q "SELECT diagnosis FROM patients ORDER BY first_name" >/dev/null
as bob q "SELEC diagnosis FROM patients" >/dev/null 2>&1
{
  echo "\\bind_nothing"
  printf "SELECT city\n  FROM patients -- a comment, with \"quotes\"\n WHERE first_name = 'it''s; not two' ;\n"
} | as bob "$PS_BINDIR/psql" -XAtq >/dev/null 2>&1

statements="SELECT session_id, user_name::name, log_time::timestamptz, regexp_replace(COALESCE(NULLIF(query, ''), message), '^(statement|execute [^:]*): ', '')
              FROM log WHERE user_name IN ('alice', 'bob')
               AND (message LIKE 'statement: %' OR message LIKE 'execute %: %' OR sql_state_code = '42601')
               AND message NOT LIKE 'statement: SELEC %'
             ORDER BY session_id, session_line_num"
import="SELECT privacy_score.import_statements(\$import\$$statements\$import\$)"
history="SELECT s.role, s.source, s.queries, string_agg(array_to_string(a.tokens, ' '), ' / ' ORDER BY o.n)
           FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
                unnest(p.ids) WITH ORDINALITY o(id, n) JOIN privacy_score.abstraction a ON a.id = o.id
          GROUP BY s.id, s.role, s.source, s.queries, s.started ORDER BY s.role, s.started"

check "the log's statements are counted" "$(q "$import")" 7
check "sessions are those of the log, statements are abstracted, what does not parse is unparsed" "$(q "$history")" \
  "alice|import|3|cmd:select p:public.patients.city t:public.patients w:public.patients.id / cmd:select p:public.patients.diagnosis p:public.patients.first_name t:public.patients w:public.patients.city / cmd:select p:public.patients.city t:public.patients w:public.patients.id
alice|import|1|cmd:select f:count(*) t:public.patients
bob|import|1|cmd:select o:public.patients.first_name p:public.patients.diagnosis t:public.patients
bob|import|1|unparsed
bob|import|1|cmd:select p:public.patients.city t:public.patients w:public.patients.first_name"
before=$(q "SELECT count(*), sum(queries), (SELECT count(*) FROM privacy_score.session_part), (SELECT count(*) FROM privacy_score.abstraction) FROM privacy_score.session")
calls=$(q "SELECT sum(calls) FROM privacy_score.abstraction")
check "a second import counts the same" "$(q "$import")" 7
check "and replaces the first" \
  "$(q "SELECT count(*), sum(queries), (SELECT count(*) FROM privacy_score.session_part), (SELECT count(*) FROM privacy_score.abstraction) FROM privacy_score.session")" "$before"
check "calls are not doubled" "$(q "SELECT sum(calls) FROM privacy_score.abstraction")" "$calls"
check "no literal is kept" "$(q "SELECT count(*) FROM privacy_score.abstraction WHERE tokens::text ~ 'not two|c1'")" 0

# --- the same statements live have the same ids -------------------------------------------------------------------------
q "ALTER ROLE alice RESET privacy_score.mode" >/dev/null
as alice q "SELECT city FROM patients WHERE id = 9" "SELECT first_name, diagnosis FROM patients WHERE city = 'c2'" \
  "SELECT city FROM patients WHERE id = 10" "SELECT count(*) FROM patients" >/dev/null
check_true "the live session is recorded" wait_for "SELECT queries FROM privacy_score.session WHERE source = 'live'" 4
check "live statements find the abstractions of the import" \
  "$(q "SELECT count(*) FROM privacy_score.abstraction")" "$(cut -d'|' -f4 <<<"$before")"
check "a baseline of the import holds the live session's statements" \
  "$(q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today()) > 0" \
    "SELECT mismatched, score FROM privacy_score.score_sessions('alice', '-infinity', 'infinity') ORDER BY session DESC LIMIT 1")" "t
0|0"

# --- cutting --------------------------------------------------------------------------------------------------------------
rows() { q "SELECT privacy_score.import_statements(\$i\$SELECT s, r::name, t::timestamptz, q FROM (VALUES $1) v(s, r, t, q)\$i\$)"; }
read="'SELECT city FROM patients'"
rows "('a', 'carol', '2026-03-01 10:00', $read), ('a', 'carol', '2026-03-01 10:29', $read), ('a', 'carol', '2026-03-01 11:30', $read),
      ('a', 'carol', '2026-03-01 23:55', $read), ('a', 'carol', '2026-03-02 00:05', $read), ('b', 'carol', '2026-03-01 10:10', $read)" >/dev/null
check "sessions are cut at idle_gap and midnight" \
  "$(q "SELECT session, day, queries FROM privacy_score.session WHERE role = 'carol' ORDER BY split_part(session, '/', 1), started")" \
  "$(q "SELECT session, day, queries FROM (VALUES ('a', '2026-03-01'::date, 2), ('a/2', '2026-03-01', 1), ('a/3', '2026-03-01', 1), ('a/4', '2026-03-02', 1), ('b', '2026-03-01', 1)) v(session, day, queries)")"
rows "('c', 'dora', '2026-03-01 10:02', 'SELECT first_name FROM patients'), ('c', 'dora', '2026-03-01 10:00', $read)" >/dev/null
check "rows may come in any order" \
  "$(q "SELECT a.tokens[2] FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id, unnest(p.ids) WITH ORDINALITY o(id, n)
          JOIN privacy_score.abstraction a ON a.id = o.id WHERE s.role = 'dora' ORDER BY s.started, o.n")" "p:public.patients.city
p:public.patients.first_name"

# --- more than memory holds -------------------------------------------------------------------------------------------------
# Statements of 300 connections, of which one never pauses, in the order of time. `many ORDER` are their rows.
many() {
  echo "SELECT CASE WHEN g % 7 = 0 THEN 'always' ELSE 'c' || g / 200 || '-' || g % 3 END, CASE WHEN g % 5 = 0 THEN 'gina' ELSE 'hugo' END::name,
      '2026-04-01 08:00Z'::timestamptz + g * interval '11 s', 'SELECT city FROM patients WHERE id = ' || CASE WHEN g % 2 = 0 THEN '\$1' ELSE (g % 60)::text END,
      ARRAY[(g % 90)::text] AS parameters, (g % 4)::bigint AS rows FROM generate_series(1, 40000) g ${1:-}"
}
of_many="FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id WHERE role IN ('gina', 'hugo')"
left="SELECT count(*), sum(queries), md5(string_agg((s.role, session, day, started, last_at, queries, reach, subjects, subject_columns, addressed, person, most_rows, ids, runs, p.rows)::text, '' ORDER BY s.role, started, session)) $of_many"
within() { q "SET maintenance_work_mem = '$1'" "SELECT privacy_score.import_statements(\$i\$$(many "${2:-}")\$i\$)" "$left" "SELECT sum(calls), sum(rows) FROM privacy_score.abstraction"; }
whole=$(within 64MB)
check_match "a log that memory holds" "$whole" "^40000"
check "one that it does not hold leaves the same, though written while it is read" "$(within 1MB)" "$whole"
check "so does one that comes a connection after the other" "$(within 1MB "ORDER BY 1, 2, 3" | sed 2d)" "$(sed 2d <<<"$whole")"
check "and one in no order at all" "$(within 1MB "ORDER BY hashint4(g)")" "$whole"
late="$(many) UNION ALL SELECT 'c0-1', 'hugo', '2026-04-01 08:05Z', 'SELECT city FROM patients', NULL, NULL"
check "what comes after its session was written is part of it all the same" \
  "$(q "SET maintenance_work_mem = '1MB'" "SELECT privacy_score.import_statements(\$i\$$late\$i\$)" "$left")" \
  "$(q "SET maintenance_work_mem = '64MB'" "SELECT privacy_score.import_statements(\$i\$$late\$i\$)" "$left")"
check "no session is there twice" "$(q "SELECT count(*) FROM privacy_score.session a JOIN privacy_score.session b USING (role, session) WHERE a.id < b.id AND a.started <= b.last_at AND b.started <= a.last_at")" 0
long="SELECT 's' || g / 100, 'ivan'::name, '2026-05-01 08:00Z'::timestamptz + g * interval '20 s', 'SELECT city FROM patients WHERE id = ANY (\$1)', ARRAY[(SELECT array_agg(i)::text FROM generate_series(1, 1000) i)] AS parameters FROM generate_series(1, 2000) g"
check "long parameters are as many bytes" "$(for room in 1MB 64MB; do q "SET maintenance_work_mem = '$room'" "SELECT privacy_score.import_statements(\$i\$$long\$i\$)" "SELECT count(*), sum(queries), max(subjects) FROM privacy_score.session WHERE role = 'ivan'"; done | sort -u)" "2000
21|2000|1000"

# Two at once: one waits for the other, and replaces what it has written.
stretch() { echo "SELECT privacy_score.import_statements(\$i\$SELECT 'w' || g % 10, 'kim'::name, '2026-06-01 08:00Z'::timestamptz + g * interval '1 s', 'SELECT city FROM patients' FROM generate_series($1, $2) g\$i\$)"; }
q "BEGIN" "$(stretch 101 200)" "DO \$\$BEGIN FOR i IN 1..3000 LOOP EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'object'); PERFORM pg_sleep(0.05); END LOOP; END\$\$" "COMMIT" >/dev/null &
wait_for "SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND objsubid = 1 AND granted" 1
q "$(stretch 51 250)" >/dev/null
wait
check "two imports at once do not double what both have" "$(q "SELECT count(*), sum(queries) FROM privacy_score.session WHERE role = 'kim'")" "10|200"

# --- what is refused ------------------------------------------------------------------------------------------------------
check "columns of other types" "$(q_state "SELECT privacy_score.import_statements('SELECT 1, 2, 3, 4')")" 42804
check "too few columns" "$(q_state "SELECT privacy_score.import_statements('SELECT ''a''::text')")" 42804
check "NULL" "$(q_state "SELECT privacy_score.import_statements('SELECT ''a''::text, ''b''::name, NULL::timestamptz, ''c''::text')")" 22004
check "an infinite time" "$(q_state "SELECT privacy_score.import_statements('SELECT ''a''::text, ''b''::name, ''infinity''::timestamptz, ''c''::text')")" 22008
check "a statement that writes" "$(q_state "SELECT privacy_score.import_statements('DELETE FROM patients')")" 42P11
check "an error of the query is the caller's" "$(q_state "SELECT privacy_score.import_statements('SELECT 1/0')")" 22012
check "others" "$(as alice q_state "SELECT privacy_score.import_statements('SELECT 1')")" 42501
check "a failed import leaves nothing" "$(rows "('x', 'erin', '2026-03-01 10:00Z', $read), ('x', 'erin', 'infinity', $read)" >/dev/null 2>&1; q "SELECT count(*) FROM privacy_score.session WHERE role = 'erin'")" 0
check "a large import can be cancelled" "$(q_state "SET statement_timeout = '50ms'" \
  "SELECT privacy_score.import_statements(\$i\$SELECT 's' || g % 1000, 'frank'::name, '2026-03-01'::timestamptz + g * interval '1 s', 'SELECT city FROM patients WHERE id = ' || g FROM generate_series(1, 500000) g\$i\$)")" 57014
# Each of so many names is looked for among as many tables, which takes longer than a test may.
check "so can the analysis of one text" "$(q_state "SET privacy_score.text_limit = '100MB'" "SET work_mem = '1GB'" "SET statement_timeout = '200ms'" \
  "SELECT privacy_score.abstract_query('SELECT ' || string_agg('t' || i || '.x', ',') || ' FROM ' || string_agg('t' || i, ','))
     FROM generate_series(1, 200000) i")" 57014

done_testing

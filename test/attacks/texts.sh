#!/bin/bash
# texts.sh - texts that are meant to hurt who reads them: what is abstracted as text takes bounded memory and heeds cancel,
# nothing of it ends the process, and what could not be read scores the most that a statement can.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" "CREATE ROLE mallory LOGIN" "CREATE TABLE t (a int, b int, c int, d int)" "INSERT INTO t SELECT i, i, i, i FROM generate_series(1, 9) i" \
  "SELECT privacy_score.protect('t')" "SELECT privacy_score.dp_grant('postgres', 't', 1)" >/dev/null

# read_text TEXT: what mallory gets for a text, given as SQL; then the session's greatest memory in MB.
read_text() {
  printf '%s\n' "SELECT pg_backend_pid() AS pid \\gset" "\\setenv PID :pid" "SET statement_timeout = '20s';" \
    "SELECT left(array_to_string(privacy_score.abstract_query($1), ' '), 60);" "SELECT 'goes on';" \
    "\\! awk '/VmHWM/ { print int(\$2 / 1024) }' /proc/\$PID/status" | as mallory "$PS_BINDIR/psql" -XAtq 2>&1
}

# bounded "what" TEXT EXPECTED: that is the answer, and memory stays in bounds.
bounded() {
  local answer
  answer=$(read_text "$2")
  check "$1" "$(sed -n 1,2p <<<"$answer")" "$3
goes on"
  check_true "in bounded memory: $1" test "$(sed -n 3p <<<"$answer")" -lt 350
}

bounded "half a million statements" "repeat('SELECT a,b,c,d FROM t; ', 500000)" unparsed
bounded "a million statements" "repeat('SELECT a,b,c,d FROM t; ', 1000000)" unparsed
bounded "as many as the limit lets through" "repeat('SELECT a,b,c,d FROM t; ', 45000)" unparsed
bounded "some statements" "repeat('SELECT a FROM t; ', 2000)" "cmd:select p:public.t.a t:public.t"
bounded "a long IN list" "'SELECT a FROM t WHERE b IN (0' || repeat(',1', 100000) || ')'" "cmd:select p:public.t.a t:public.t w:public.t.b"
bounded "a longer one" "'SELECT a FROM t WHERE b IN (0' || repeat(',1', 500000) || ')'" unparsed
bounded "many columns" "'SELECT a' || repeat(',b', 500000) || ' FROM t'" unparsed
bounded "brackets" "'SELECT ' || repeat('(', 50000) || 'a' || repeat(')', 50000) || ' FROM t'" unparsed
bounded "half of them" "'SELECT ' || repeat('(', 100000)" unparsed
bounded "a chain of operators" "'SELECT 1' || repeat(' + a', 100000) || ' FROM t'" unparsed
bounded "subqueries" "repeat('SELECT (', 50000) || 'SELECT a FROM t' || repeat(')', 50000)" unparsed
bounded "a long identifier" "'SELECT ' || repeat('x', 1000000) || ' FROM t'" "cmd:select p:$(printf 'x%.0s' {1..47})"
bounded "a comment" "'SELECT a /* ' || repeat('x', 1000000) || ' */ FROM t'" "cmd:select p:public.t.a t:public.t"
bounded "nested comments" "repeat('/*', 500000) || 'SELECT a FROM t'" unparsed
bounded "signs" "'SELECT ' || repeat('+', 900000) || 'a FROM t'" unparsed
bounded "a frame of a comment" "'/*' || repeat('*', 500) || E'*/\n' || repeat('-', 2000) || E'\nSELECT a FROM t'" "cmd:select p:public.t.a t:public.t"
bounded "dollar quotes" "'SELECT a, \$x\$' || repeat('\$y\$', 300000) || '\$x\$ FROM t'" "cmd:select p:public.t.a t:public.t"
bounded "an open string" "'SELECT a FROM t WHERE b = ''' || repeat('x', 1000000)" unparsed
bounded "escapes of no character" "'SELECT U&''\\0000'' FROM t'" unparsed
bounded "set operations" "'SELECT a FROM t' || repeat(' UNION SELECT b FROM t', 40000)" unparsed
bounded "joins" "'SELECT 1 FROM t' || repeat(' CROSS JOIN t', 50000)" unparsed
bounded "statements that do not end" "repeat(';', 1000000)" ""

# --- as deep as the server ------------------------------------------------------------------------------------------------
# nested MOST OPENS WITHIN CLOSES: a text that is nested that deep, which a server runs that has 2 MB of stack, is read as
# if it were nested once. Whether this server runs it depends on what its compiler made of it; it does half of that.
nested() {
  local text="'SELECT ' || repeat('$2', n) || '$3' || repeat('$4', n) || ' FROM t'"
  check "$1 times $2$3$4" "$(q "SELECT privacy_score.abstract_query($text) FROM (VALUES (1), ($1)) x (n)")" "{cmd:select,p:public.t.a,t:public.t}
{cmd:select,p:public.t.a,t:public.t}"
  check "the server runs that" "$(q_state "DO \$\$ DECLARE n int = $1 / 2; BEGIN EXECUTE $text; END \$\$")" 00000
}
nested 4073 "a+" a ""
nested 4073 "a+" "a" "+1"
nested 4073 "- " a ""
nested 4073 "abs(" a ")"
nested 13035 "" a "::int"
nested 13035 "" a "::double precision"
nested 2047 "(SELECT " a ")"
nested 9919 "(" a ")"
nested 3294 "a+(" a ")"
nested 1969 "CASE WHEN true THEN " a " END"
check "on whichever stack" "$(q "SELECT DISTINCT privacy_score.abstract_query('SELECT ' || repeat('a+', n) || 'a FROM t') FROM generate_series(1000, 3000, 25) n")" "{cmd:select,p:public.t.a,t:public.t}"
check "3,000 joins" "$(q "SELECT privacy_score.abstract_query('SELECT x0.a FROM t x0' || string_agg(' CROSS JOIN t x' || i, '' ORDER BY i)) FROM generate_series(1, 3000) i")" "{cmd:select,p:public.t.a,t:public.t}"
bounded "casts that are deeper" "'SELECT a' || repeat('::int', 50000) || ' FROM t'" unparsed
bounded "operators just beyond" "'SELECT a' || repeat('+a', 20010) || ' FROM t'" unparsed
bounded "and just within" "'SELECT a' || repeat('+a', 19990) || ' FROM t'" "cmd:select p:public.t.a t:public.t"
bounded "large and deep" "'SELECT ' || repeat('- ', 9000) || '''' || repeat('x', 1000000) || ''', a FROM t'" "cmd:select p:public.t.a t:public.t"
# However much of the server's stack is taken.
q "CREATE FUNCTION deep(n int, x text) RETURNS text[] LANGUAGE plpgsql AS \$\$BEGIN IF n > 0 THEN RETURN deep(n - 1, x); END IF; RETURN privacy_score.abstract_query(x); END\$\$" >/dev/null
deepest=$(q "SET max_stack_depth = '7MB'" "DO \$\$DECLARE n int = 0; BEGIN LOOP PERFORM deep(n + 50, 'SELECT 1'); n = n + 50; END LOOP; EXCEPTION WHEN statement_too_complex THEN PERFORM set_config('my.n', n::text, false); END\$\$" "SELECT current_setting('my.n')")
check "read by who has taken 7 MB of stack" "$(q "SET max_stack_depth = '7MB'" "SELECT deep(n, 'SELECT a' || repeat('+a', 1500) || ' FROM t') FROM (VALUES (1), ($deepest)) x (n)")" "{cmd:select,p:public.t.a,t:public.t}
{cmd:select,p:public.t.a,t:public.t}"

# --- cancel ---------------------------------------------------------------------------------------------------------------
large="SET privacy_score.text_limit = '1GB'; SET work_mem = '1GB'; SET statement_timeout = '100ms';"
for call in "abstract_query(x)" "abstract_query_poster(x)" "explain_query(x)" "query_identification(x)" "compare_queries(x, x)"; do
  check "$call is cancelled" "$(q_state "$large WITH y AS MATERIALIZED (SELECT repeat('SELECT a,b,c,d FROM t; ', 300000) x) SELECT privacy_score.$call IS NULL FROM y")" 57014
done
deep="SET privacy_score.text_limit = '1GB'; SET work_mem = '1GB'; SET statement_timeout = '100ms';"
check "a text that is deep and long is cancelled" "$(q_state "$deep WITH y AS MATERIALIZED (SELECT 'SELECT ' || string_agg(x, ',') || ' FROM t' x FROM (SELECT 'a' || repeat('+a', 15000) x FROM generate_series(1, 40)) z) SELECT privacy_score.abstract_query(x) IS NULL FROM y")" 57014
check "so are joins" "$(q_state "$deep SELECT privacy_score.abstract_query('SELECT a FROM t' || repeat(' NATURAL JOIN t', 4000)) IS NULL")" 57014
check "so is an import" "$(q_state "$large SELECT privacy_score.import_statements(\$\$SELECT 's', 'mallory'::name, now(), repeat('SELECT a,b,c,d FROM t; ', 300000)\$\$)")" 57014
check "the limit is not the reader's to set" "$(as mallory q_state "SET privacy_score.text_limit = '1GB'")" 42501
check "all functions know the limit" "$(q "SET privacy_score.text_limit = '1kB'" "SELECT privacy_score.abstract_query(x), privacy_score.abstract_query_poster(x), privacy_score.explain_query(x) -> 'score' FROM (SELECT rpad('SELECT 1', 1025)) y (x)")" "{unparsed}|{UNPARSED}|1"
check "to the byte" "$(q "SET privacy_score.text_limit = '1kB'" "SELECT privacy_score.abstract_query(rpad('SELECT 1', 1024))")" "{}"
check "where a text must be read" "$(q_state "SET privacy_score.text_limit = '1kB'; SELECT privacy_score.query_identification(rpad('SELECT 1', 1025))")" 42601
check_match "a predicate that takes too much is an error" "$(q_all "SELECT privacy_score.dp_count('t', 'a IN (1' || repeat(',1', 400000) || ')', 0.1)")" "^ERROR:  predicate cannot be read: statement takes too much memory or time.*HINT:  Ask for fewer conditions at a time"

# --- what could not be read scores the most ---------------------------------------------------------------------------------
day="current_date - 40"
q "SELECT privacy_score.import_statements(\$\$SELECT 's', 'mallory'::name, (($day) + time '12:00')::timestamptz + i * interval '1 s', 'SELECT a, b, c, d FROM t' FROM generate_series(1, 3) i\$\$)" \
  "SELECT privacy_score.set_baseline('mallory', $day, $day)" \
  "SELECT privacy_score.import_statements(\$\$SELECT 's', 'mallory'::name, (($day) + 1 + time '12:00')::timestamptz + i * interval '1 s', 'SELECT 1' || repeat(' + a', 100000) || ' FROM t' FROM generate_series(1, 1) i\$\$)" \
  "SELECT privacy_score.flush()" >/dev/null 2>&1
check "a text that is too deep" "$(q "SELECT statement_score FROM privacy_score.score_sessions('mallory', $day + 1, $day + 1)")" 1
done_testing

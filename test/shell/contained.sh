#!/bin/bash
# contained.sh - a fault while a statement is abstracted or its constants are hashed is not the statement's, and leaves
# nothing behind; what a process remembers of abstractions is bounded.
. "$(dirname "$0")/../lib.sh"

# The worker may be slower than a session that sends ever new statements: there is room for all of them at once.
start_server "privacy_score.max_memory = '256MB'"
q "CREATE EXTENSION privacy_score" "CREATE TABLE people (id int PRIMARY KEY, name text, age int)" "SELECT privacy_score.protect('people')" \
  "INSERT INTO people SELECT i, 'n' || i, i FROM generate_series(1, 100) i" "ANALYZE people" \
  "CREATE ROLE reader LOGIN" "GRANT SELECT ON people TO reader" >/dev/null
faults="SELECT scoring_errors FROM privacy_score.stat_info"
before=$(q "$faults")

# --- a lock that is not to be had ---------------------------------------------------------------------------------------
# What pg_stats shows depends on what is protected: that is looked up while the statement is abstracted.
mkfifo "$PS_TMP/locker"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/locker" >/dev/null 2>&1 &
exec 4>"$PS_TMP/locker"
echo "BEGIN; LOCK TABLE privacy_score.protected_relation IN ACCESS EXCLUSIVE MODE;" >&4
wait_for "SELECT count(*) FROM pg_locks WHERE relation = 'privacy_score.protected_relation'::regclass AND mode = 'AccessExclusiveLock' AND granted" 1
own_waits="SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND NOT granted"
{
  echo "$own_waits;"
  echo "BEGIN; SET LOCAL lock_timeout = '100ms';"
  echo "SELECT count(most_common_vals) >= 0 FROM pg_stats WHERE tablename = 'people';"
  echo "$own_waits;"
  echo "LOCK TABLE people IN ACCESS SHARE MODE; COMMIT;"
  echo "SELECT 'goes on';"
} >"$PS_TMP/waiting.sql"
check "a statement whose abstraction waits for a lock too long goes on, and waits for nothing" \
  "$(as reader q_script <"$PS_TMP/waiting.sql")" "0
t
0
goes on"
echo "COMMIT;" >&4
exec 4>&-
wait
check "it was a fault of scoring" "$(($(q "$faults") - before))" 1
check "the lock can be had" "$(q "SET lock_timeout = '1s'" "BEGIN" "LOCK TABLE privacy_score.protected_relation IN ACCESS EXCLUSIVE MODE" "COMMIT" "SELECT 'had'")" had

# --- an error in the middle of a scan -----------------------------------------------------------------------------------
# A relation that is gone is looked for by its name, which here is none.
before=$(q "$faults")
q "SET session_replication_role = replica" "INSERT INTO privacy_score.protected_relation (relation, name, declared_by) VALUES (1, 'a.b.c.d', 'postgres')" >/dev/null
check "a statement goes on when what is protected cannot be read" \
  "$(as reader q "SELECT count(most_common_vals) >= 0 FROM pg_stats" "SELECT 'goes on'")" "t
goes on"
check_true "that is a fault of scoring" test "$(q "$faults")" -gt "$before"
check_true "an alert says so" wait_for "SELECT count(*) > 0, bool_or(blocked) FROM privacy_score.alerts WHERE kind = 'fault' AND role = 'reader'" "t|f"
q "SET session_replication_role = replica" "DELETE FROM privacy_score.protected_relation WHERE relation = 1" >/dev/null
check "nothing that was open is left" "$(grep -cE "leak|WARNING" "$ps_log")" 0

# --- a value that cannot be shown ---------------------------------------------------------------------------------------
q "CREATE TYPE hidden" "CREATE FUNCTION hidden_in(cstring) RETURNS hidden LANGUAGE internal IMMUTABLE STRICT AS 'textin'" \
  "CREATE FUNCTION hidden_out(hidden) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'shell_out'" \
  "CREATE TYPE hidden (INPUT = hidden_in, OUTPUT = hidden_out)" "CREATE DOMAIN hidden_many AS hidden[]" "CREATE TYPE hidden_row AS (a int, b hidden)" \
  "GRANT USAGE ON TYPE hidden, hidden_many, hidden_row TO reader" >/dev/null
check "a parameter and a constant of a type whose output fails" \
  "$(as reader q "PREPARE p(hidden, hidden[]) AS SELECT count(*) FROM people WHERE \$1 IS NOT NULL AND \$2 IS NOT NULL" "EXECUTE p('x', NULL)" "EXECUTE p('x', '{y}')" \
    "SELECT count(*) FROM people WHERE 'x'::hidden IS NOT NULL" \
    "PREPARE within(hidden_many, hidden_row, hidden_row[]) AS SELECT count(*) FROM people WHERE \$1 IS NOT NULL AND \$2 IS NOT NULL AND \$3 IS NOT NULL" \
    "EXECUTE within('{x}', '(1,x)', '{\"(1,x)\"}')")" "0
100
100
100"

# --- a value whose output function runs statements ------------------------------------------------------------------------
# They have keys of their own, and make the process forget the queries that it knows.
compile_support telling
q "CREATE TYPE telling" "CREATE FUNCTION telling_in(cstring) RETURNS telling LANGUAGE c IMMUTABLE STRICT AS '$module'" \
  "CREATE FUNCTION telling_out(telling) RETURNS cstring LANGUAGE c IMMUTABLE STRICT AS '$module'" \
  "CREATE TYPE telling (INPUT = telling_in, OUTPUT = telling_out)" "GRANT USAGE ON TYPE telling TO reader" "CREATE ROLE asker LOGIN" \
  "GRANT SELECT ON people TO asker" "GRANT TEMPORARY ON DATABASE postgres TO asker" >/dev/null
asked=()
for i in {1..9} 4 5 6; do asked+=("SELECT name FROM people WHERE 'x'::telling IS NOT NULL AND id = $i AND 'y'::telling IS NOT NULL AND name <> 'z'"); done
faults_before=$(q "$faults")
check "constants of a type whose output plans other statements" "$(as asker q "${asked[@]}" | tr '\n' ' ')" "n1 n2 n3 n4 n5 n6 n7 n8 n9 n4 n5 n6 "
q "SELECT privacy_score.flush()" >/dev/null
check "no other statement's constants are taken for theirs" \
  "$(q "SELECT subjects FROM privacy_score.score_sessions('asker', '-infinity', 'infinity')")" 10
check "and nothing is a fault" "$(q "$faults")" "$faults_before"

# --- a parameter that is still being read when the statement is cancelled ---------------------------------------------------
# The executor of one statement chooses partitions by a function; a statement in that function never gets past reading its
# parameter, and the function catches the cancel. Its type's output takes as many seconds as its value says.
q "CREATE TYPE slow" "CREATE FUNCTION slow_in(cstring) RETURNS slow LANGUAGE internal IMMUTABLE STRICT AS 'float8in'" \
  "CREATE FUNCTION slow_out(slow) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'pg_sleep'" \
  "CREATE TYPE slow (INPUT = slow_in, OUTPUT = slow_out, LIKE = float8)" "GRANT USAGE ON TYPE slow TO public" \
  "CREATE TABLE parted (id int, name text) PARTITION BY LIST (id)" "CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1)" \
  "CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2)" "INSERT INTO parted VALUES (1, 'n1'), (2, 'n2')" \
  "SELECT privacy_score.protect('parted')" \
  "CREATE FUNCTION chosen() RETURNS int LANGUAGE plpgsql STABLE AS \$\$
   DECLARE caught text;
   BEGIN
     IF current_setting('test.slow', true) = '60' THEN
       EXECUTE 'SELECT count(*) FROM people WHERE \$1 IS NOT NULL' USING current_setting('test.slow')::slow;
     END IF;
     RETURN CASE current_setting('test.slow', true) WHEN 'caught' THEN 2 ELSE 1 END;
   EXCEPTION WHEN query_canceled THEN
     caught := set_config('test.slow', 'caught', false);  -- no statement, whose reading would mend what is at hand
     RETURN 2;
   END \$\$" >/dev/null
{
  echo "PREPARE choosing(int, text) AS SELECT t.name FROM parted t, people p WHERE t.id = chosen() AND p.id = \$1 AND p.name <> \$2;"
  echo "SET plan_cache_mode = force_generic_plan;"
  for _ in 1 2 3; do echo "EXECUTE choosing(5, 'y');"; done
  echo "SET test.slow = '60'; SET statement_timeout = '300ms';"
  echo "EXECUTE choosing(77, 'y');"
  echo "SET test.slow = 'no'; SET statement_timeout = 0;"
  echo "EXECUTE choosing(5, 'y');"
} >"$PS_TMP/slow.sql"
q "CREATE ROLE chooser LOGIN" "GRANT SELECT ON people, parted TO chooser" >/dev/null
check "a statement goes on whose function has caught that" "$(as chooser q_script <"$PS_TMP/slow.sql" | tr '\n' ' ')" "n1 n1 n1 n2 n1 "
q "SELECT privacy_score.flush()" >/dev/null
check "and is counted with its own parameters" \
  "$(q "SELECT queries, subjects FROM privacy_score.score_sessions('chooser', '-infinity', 'infinity')")" "5|2"

# --- where nothing can be contained -------------------------------------------------------------------------------------
# A plan that runs in parallel, in which a function runs statements of its own that nobody has met.
q "CREATE FUNCTION within(hidden hidden DEFAULT 'x') RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS \$\$
   DECLARE answer bigint; BEGIN SELECT count(name) INTO answer FROM people WHERE age > 10 AND hidden IS NOT NULL; RETURN answer; END \$\$" >/dev/null
check "statements within a parallel plan" "$(as reader q "SET $forced_parallel = on" "SELECT within()" "SET $forced_parallel = off" "SELECT within()")" "90
90"

# --- memory of abstractions ---------------------------------------------------------------------------------------------
# Each statement has tokens of more than ten thousand bytes.
long=$(printf 'long%.0s' {1..14})
q "CREATE SCHEMA s_$long" "DO \$\$ BEGIN EXECUTE 'CREATE TABLE s_$long.t_$long (' || (SELECT string_agg('c' || i || '_$long int', ', ') FROM generate_series(1, 70) i) || ')'; END \$\$" \
  "SELECT privacy_score.protect('s_$long.t_$long')" "GRANT USAGE ON SCHEMA s_$long TO reader" "GRANT SELECT ON s_$long.t_$long TO reader" >/dev/null
{
  echo "SET plan_cache_mode = force_generic_plan; PREPARE kept(int) AS SELECT name FROM people WHERE id = \$1;"
  echo "SELECT EXISTS (SELECT FROM people WHERE age = 5); EXECUTE kept(1); EXECUTE kept(2);"
  echo "SET client_min_messages = debug1;"
  echo "SELECT 'SELECT ' || string_agg('c' || c || '_$long', ', ') || ' FROM s_$long.t_$long' FROM generate_series(1, 1800) i, generate_series(1, 70) c
         WHERE c > 11 OR (i >> (c - 1)) & 1 = 1 GROUP BY i ORDER BY i \\gexec"
  echo "SET client_min_messages = warning; EXECUTE kept(3); SELECT EXISTS (SELECT FROM people WHERE age = 7);"
} >"$PS_TMP/many.sql"
dropped=$(q "SELECT dropped FROM privacy_score.stat_info")
as reader "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -f "$PS_TMP/many.sql" >"$PS_TMP/many.out" 2>"$PS_TMP/many.err"
check_true "what a process has met is forgotten when it takes too much room" test "$(grep -c "has forgotten the abstractions" "$PS_TMP/many.err")" -ge 1
q "SELECT privacy_score.flush()" >/dev/null
check "no execution is lost by that" "$(q "SELECT dropped - $dropped FROM privacy_score.stat_info")" 0
connection="SELECT split_part(session, '/', 1) FROM privacy_score.session WHERE role = 'reader' ORDER BY id DESC LIMIT 1"
check_true "and a session with so much goes on as another one" test "$(q "SELECT count(*) FROM privacy_score.session WHERE split_part(session, '/', 1) = ($connection)")" -gt 1
runs="SELECT sum(e.run) FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id, ROWS FROM (unnest(p.ids), unnest(p.runs)) e(id, run)
  JOIN privacy_score.abstraction a USING (id) WHERE split_part(s.session, '/', 1) = ($connection) AND a.tokens"
check "a statement that was prepared before is what it was" "$(q "$runs @> '{p:public.people.name,w:public.people.id}'")" 3
check "one that comes again too" "$(q "$runs @> '{w:public.people.age}' AND NOT a.tokens @> '{p:public.people.name}'")" 2
check "all of them are recorded" "$(q "$runs @> '{t:s_$long.t_$long}'")" 1800
done_testing

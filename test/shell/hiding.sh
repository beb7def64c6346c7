#!/bin/bash
# hiding.sh - an unprivileged watched role tries to read without being counted, to switch the watching off, and to learn
# about others through the extension. Each way is counted or refused.
. "$(dirname "$0")/../lib.sh"

start_server "track_functions = 'none'"
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, first_name text, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'f' || i % 17, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i" \
  "CREATE TABLE secrets (id int PRIMARY KEY, code text)" "INSERT INTO secrets VALUES (1, 'x')" \
  "CREATE ROLE mallory LOGIN" "CREATE ROLE alice LOGIN" "CREATE ROLE clerk" "GRANT clerk TO mallory" \
  "GRANT SELECT ON patients TO mallory, alice, clerk" "GRANT CREATE ON SCHEMA public TO mallory" \
  "GRANT CREATE, TEMPORARY ON DATABASE postgres TO mallory" \
  "SELECT privacy_score.protect('patients')" "SELECT privacy_score.protect('secrets')" \
  "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'watched'" \
  "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'watched'" \
  "SECURITY LABEL FOR privacy_score ON ROLE clerk IS 'exempt'" >/dev/null

as_mallory() { as mallory q "$@" 2>/dev/null; }

# How often history has a token; zero when it has not. Everything is written first.
seen() {
  q "SELECT privacy_score.flush()" \
    "SELECT COALESCE(sum(x.run), 0) FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
       ROWS FROM (unnest(p.ids), unnest(p.runs)) x(id, run) JOIN privacy_score.abstraction a ON a.id = x.id
      WHERE s.role = 'mallory' AND '$1' = ANY (a.tokens)" | tail -n 1
}

# counted "description" TIMES STATEMENT...: the statements, in one session, read diagnosis that often in mallory's name.
counted() {
  local description=$1 times=$2 before after
  shift 2
  before=$(seen p:public.patients.diagnosis)
  as_mallory "$@" >"$PS_TMP/answer"
  after=$(seen p:public.patients.diagnosis)
  check "counted: $description" "$((after - before))" "$times"
  if [ $((after - before)) -ne "$times" ]; then head -n 3 "$PS_TMP/answer"; fi
}

# refused "description" SQLSTATE STATEMENT...
refused() {
  local description=$1 state=$2
  shift 2
  check "refused: $description" "$(as mallory q_state "$@")" "$state"
}

read="SELECT diagnosis FROM patients"

# --- the switches -----------------------------------------------------------------------------------------------------
refused "SET mode" 42501 "SET privacy_score.mode = off"
refused "SET LOCAL mode" 42501 "BEGIN" "SET LOCAL privacy_score.mode = off"
refused "set_config" 42501 "SELECT set_config('privacy_score.track', 'top', false)"
refused "SET SESSION CHARACTERISTICS of limits" 42501 "SET privacy_score.session_limit = -1"
refused "SET principal" 42501 "SET privacy_score.principal = 'current_user'"
refused "an invented setting" 42602 "SET privacy_score.\"no such\" = 1"
refused "UPDATE pg_settings" 42501 "UPDATE pg_settings SET setting = 'off' WHERE name = 'privacy_score.mode'"
refused "ALTER ROLE of itself" 42501 "ALTER ROLE mallory SET privacy_score.mode = 'off'"
refused "ALTER ROLE ... IN DATABASE" 42501 "ALTER ROLE mallory IN DATABASE postgres SET privacy_score.mode = 'off'"
refused "ALTER DATABASE" 42501 "ALTER DATABASE postgres SET privacy_score.mode = 'off'"
refused "a function with SET" 42501 "CREATE FUNCTION quiet() RETURNS SETOF text LANGUAGE sql SET privacy_score.mode = 'off' AS 'SELECT diagnosis FROM patients'"
check_match "refused: PGOPTIONS" "$(PGOPTIONS='-c privacy_score.mode=off' as mallory q_all "SELECT 1")" 'permission denied to set parameter "privacy_score.mode"'
refused "SECURITY LABEL of itself" 42501 "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'exempt'"
refused "SECURITY LABEL NULL" 42501 "SECURITY LABEL FOR privacy_score ON ROLE mallory IS NULL"
refused "DROP EXTENSION" 42501 "DROP EXTENSION privacy_score"
refused "unprotect" 42501 "SELECT privacy_score.unprotect('patients')"
refused "labels of columns of others" 42501 "SECURITY LABEL FOR privacy_score ON COLUMN patients.diagnosis IS 'public'"
for call in "flush()" "reset_stats()" "set_baseline('mallory', '2000-01-01', '2100-01-01')" "drop_baseline('mallory')" \
  "import_baseline('{}')" "export_baseline('alice')" "acknowledge_alert(1)" "import_statements('SELECT 1')"; do
  refused "$call" 42501 "SELECT privacy_score.$call"
done
for table in session session_part abstraction baseline baseline_ngram baseline_session alert rate protected_relation dependency; do
  refused "reading $table" 42501 "SELECT * FROM privacy_score.$table"
done
refused "writing to session" 42501 "DELETE FROM privacy_score.session"
refused "terminating the worker" 42501 "SELECT 1; SELECT pg_sleep(0.3)" "SELECT pg_terminate_backend(worker_pid) FROM privacy_score.stat_info"
refused "CREATE in the schema" 42501 "CREATE TABLE privacy_score.session2 (id int)"

# --- who it is --------------------------------------------------------------------------------------------------------
counted "a plain read" 1 "$read"
counted "RESET ALL" 1 "RESET ALL" "$read"
counted "SET ROLE to an exempt role" 1 "SET ROLE clerk" "$read"
counted "SET SESSION AUTHORIZATION DEFAULT" 1 "SET SESSION AUTHORIZATION DEFAULT" "$read"
refused "SET SESSION AUTHORIZATION" 42501 "SET SESSION AUTHORIZATION clerk"
counted "application_name" 1 "SET application_name = 'privacy_score worker'" "$read"
counted "DISCARD ALL" 2 "$read" "DISCARD ALL" "$read"
counted "a transaction that is rolled back" 1 "BEGIN" "$read" "ROLLBACK"
counted "a savepoint that is rolled back" 1 "BEGIN" "SAVEPOINT a" "$read" "ROLLBACK TO a" "COMMIT"
refused "session_replication_role" 42501 "SET session_replication_role = replica"

# --- plans, cursors, functions ----------------------------------------------------------------------------------------
counted "prepared, custom and generic plans" 8 "PREPARE p(int) AS SELECT diagnosis FROM patients WHERE id = \$1" \
  "EXECUTE p(1)" "EXECUTE p(2)" "EXECUTE p(3)" "EXECUTE p(4)" "EXECUTE p(5)" "EXECUTE p(6)" "EXECUTE p(7)" \
  "SET plan_cache_mode = force_generic_plan" "EXECUTE p(8)"
counted "a cursor, fetched twice" 1 "BEGIN" "DECLARE c CURSOR FOR $read" "FETCH 10 FROM c" "FETCH ALL FROM c" "COMMIT"
counted "a cursor WITH HOLD" 1 "DECLARE c CURSOR WITH HOLD FOR $read" "FETCH 1 FROM c"
counted "DO" 1 "DO \$\$BEGIN PERFORM diagnosis FROM patients; END\$\$"
counted "dynamic SQL" 1 "DO \$\$BEGIN EXECUTE 'SELECT diag' || 'nosis FROM patients'; END\$\$"
counted "EXPLAIN ANALYZE" 1 "EXPLAIN ANALYZE $read"
counted "EXPLAIN alone reads nothing" 0 "EXPLAIN $read"
counted "COPY table" 1 "COPY patients TO STDOUT"
counted "COPY of a column" 1 "COPY patients (diagnosis) TO STDOUT"
counted "COPY of a query" 1 "COPY ($read) TO STDOUT"
counted "CREATE TABLE AS" 1 "CREATE TEMP TABLE t AS $read" "SELECT * FROM t"
counted "SELECT INTO" 1 "SELECT diagnosis INTO TEMP t FROM patients"
counted "INSERT ... SELECT" 1 "CREATE TEMP TABLE t (d text)" "INSERT INTO t $read"
counted "a temporary view" 1 "CREATE TEMP VIEW v AS $read" "SELECT * FROM v"
counted "a materialized view" 1 "CREATE MATERIALIZED VIEW m AS $read" "SELECT * FROM m" "DROP MATERIALIZED VIEW m"
counted "a CTE" 1 "WITH a AS MATERIALIZED ($read) SELECT * FROM a"
counted "a whole row" 1 "SELECT patients FROM patients"
counted "to_json of a row" 1 "SELECT to_jsonb(p) FROM patients p"
counted "TABLE" 1 "TABLE patients"
counted "query_to_xml" 1 "SELECT query_to_xml('$read', true, false, '')"
counted "table_to_xml" 1 "SELECT table_to_xml('patients', true, false, '')"
counted "ts_stat" 1 "SELECT * FROM ts_stat('SELECT to_tsvector(diagnosis) FROM patients')"
counted "an SQL function with arguments and a LATERAL call" 1 \
  "CREATE FUNCTION f(low int, high int DEFAULT 50) RETURNS TABLE (i int, d text) STABLE LANGUAGE sql AS 'SELECT id, diagnosis FROM public.patients WHERE id BETWEEN \$1 AND \$2'" \
  "SELECT g, f.d FROM generate_series(1, 2) g, LATERAL f(g) WHERE f.i = g" "DROP FUNCTION f"
counted "an SQL function within an SQL function" 1 \
  "CREATE FUNCTION f() RETURNS SETOF text STABLE LANGUAGE sql AS 'SELECT diagnosis FROM public.patients'" \
  "CREATE FUNCTION g() RETURNS SETOF text STABLE LANGUAGE sql AS 'SELECT * FROM public.f()'" "SELECT * FROM g()" "DROP FUNCTION g" "DROP FUNCTION f"
counted "an SQL function that is inlined" 1 "CREATE FUNCTION pg_temp.f() RETURNS SETOF text STABLE LANGUAGE sql AS '$read'" "SELECT * FROM pg_temp.f()"
counted "a security definer function" 1 "CREATE FUNCTION f() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql AS '$read'" "SELECT * FROM f()" "DROP FUNCTION f()"
counted "an immutable function, while a statement is planned" 1 \
  "CREATE FUNCTION f() RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN string_agg(diagnosis, '','') FROM patients; END'" "EXPLAIN (VERBOSE) SELECT f()" "DROP FUNCTION f()"
counted "a function in a parallel worker" 1 \
  "CREATE FUNCTION f() RETURNS text PARALLEL SAFE VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN string_agg(diagnosis, '','') FROM patients; END'" \
  "SET force_parallel_mode = on" "SET parallel_leader_participation = off" "SELECT f()" "DROP FUNCTION f()"
counted "a parallel plan counts once" 1 "SET force_parallel_mode = on" "$read"
counted "a trigger within a cascade" 1 \
  "CREATE TEMP TABLE parent (id int PRIMARY KEY)" "CREATE TEMP TABLE child (id int REFERENCES parent ON DELETE CASCADE)" \
  "CREATE TEMP TABLE loot (d text)" "INSERT INTO parent VALUES (1)" "INSERT INTO child VALUES (1)" \
  "CREATE FUNCTION pg_temp.g() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO loot SELECT diagnosis FROM patients; RETURN OLD; END'" \
  "CREATE TRIGGER t BEFORE DELETE ON child FOR EACH ROW EXECUTE FUNCTION pg_temp.g()" "DELETE FROM parent"
counted "a deferred trigger" 1 "CREATE TEMP TABLE t (id int)" "CREATE TEMP TABLE loot (d text)" \
  "CREATE FUNCTION pg_temp.g() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO loot SELECT diagnosis FROM patients; RETURN NULL; END'" \
  "CREATE CONSTRAINT TRIGGER t AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.g()" "INSERT INTO t VALUES (1)"
counted "an index expression, during ANALYZE" 1 "CREATE TABLE bait (id int)" "INSERT INTO bait VALUES (1)" \
  "CREATE FUNCTION f(int) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT string_agg(diagnosis, '','') FROM public.patients); END'" \
  "CREATE INDEX ON bait (f(id))" "DROP TABLE bait" "DROP FUNCTION f(int)"
counted "a default, a check, a generated column" 2 \
  "CREATE FUNCTION f() RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT max(diagnosis) FROM public.patients); END'" \
  "CREATE TEMP TABLE t (a int, b text DEFAULT public.f(), CHECK (a IS NOT NULL AND public.f() IS NOT NULL))" "INSERT INTO t VALUES (1)" "DROP TABLE t" "DROP FUNCTION f()"
counted "MERGE" 1 "CREATE TEMP TABLE t (id int, d text)" "MERGE INTO t USING patients p ON t.id = p.id WHEN NOT MATCHED THEN INSERT VALUES (p.id, p.diagnosis)"
# A copy counts when it is made, with the columns that it takes; reading the copy afterwards counts as the copy's columns.
as_mallory "CREATE TABLE copy AS $read" "SELECT diagnosis FROM copy" "DROP TABLE copy" >/dev/null
check_true "counted: a copy's own columns" test "$(seen p:public.copy.diagnosis)" -gt 0
before=$(seen w:public.patients.diagnosis)
as_mallory "SELECT 1 WHERE EXISTS (SELECT FROM patients WHERE diagnosis LIKE 'd%')" \
  "SELECT count(*) FROM patients WHERE (SELECT diagnosis) = 'd1'" >/dev/null
check_true "counted: guesses through conditions" test "$(seen w:public.patients.diagnosis)" -gt "$before"

# --- plans made while nobody watched, then watched ----------------------------------------------------------------------
mkfifo "$PS_TMP/mallory"
as mallory "$PS_BINDIR/psql" -XAtq <"$PS_TMP/mallory" >"$PS_TMP/mallory.out" 2>&1 &
exec 3>"$PS_TMP/mallory"
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'exempt'" >/dev/null
echo "SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT diagnosis FROM patients; EXECUTE p; EXECUTE p; \\echo ready" >&3
for _ in $(seq 50); do grep -q ready "$PS_TMP/mallory.out" && break; sleep 0.1; done
before=$(seen p:public.patients.diagnosis)
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'watched'" >/dev/null
echo "EXECUTE p; EXECUTE p; EXECUTE p; \\echo again" >&3
for _ in $(seq 50); do grep -q again "$PS_TMP/mallory.out" && break; sleep 0.1; done
check "counted: plans that were made while exempt" "$(($(seen p:public.patients.diagnosis) - before))" 3
exec 3>&-

# --- names like ours ----------------------------------------------------------------------------------------------------
before=$(seen p:public.patients.diagnosis)
as_mallory "CREATE SCHEMA evil" >/dev/null
as_mallory "CREATE FUNCTION evil.get_relation_name(oid) RETURNS text LANGUAGE sql AS 'SELECT ''x'''" \
  "CREATE FUNCTION evil.unnest(anyarray) RETURNS SETOF anyelement LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END'" \
  "CREATE FUNCTION evil.pg_has_role(name, text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'" \
  "CREATE FUNCTION evil.eq(name, name) RETURNS boolean LANGUAGE sql AS 'SELECT true'" \
  "CREATE OPERATOR evil.= (LEFTARG = name, RIGHTARG = name, FUNCTION = evil.eq)" \
  "CREATE TABLE evil.patients (diagnosis text)" "CREATE TABLE evil.session (role name)" \
  "CREATE TABLE evil.pg_class (oid oid, relname name)" >/dev/null
as_mallory "SET search_path = evil, pg_catalog, public" "SELECT diagnosis FROM public.patients" >/dev/null
check "counted: with a search_path of traps" "$(($(seen p:public.patients.diagnosis) - before))" 1
as_mallory "SET search_path = evil, pg_catalog, public" "$read" >/dev/null
check_true "counted: another table of the same name, as itself" test "$(seen p:evil.patients.diagnosis)" -gt 0
as alice q "SELECT city FROM patients" "SELECT first_name FROM patients" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
own="SELECT COALESCE(string_agg(DISTINCT role::text, ','), '') FROM"
for view in stat_sessions stat_days stat_roles stat_mismatches alerts; do
  check "with a search_path of traps $view shows own rows only" \
    "$(as_mallory "SET search_path = evil, pg_catalog, public" "$own privacy_score.$view WHERE role OPERATOR(pg_catalog.<>) 'mallory'")" ""
done

# --- what others do ------------------------------------------------------------------------------------------------------
mkfifo "$PS_TMP/alice"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >/dev/null 2>&1 &
exec 3>"$PS_TMP/alice"
echo "SELECT first_name, city FROM patients;" >&3
wait_for "SELECT count(*) FROM privacy_score.stat_sessions WHERE role = 'alice'" 1
check "live_sessions() shows own sessions only" "$(as_mallory "SELECT count(*) FROM privacy_score.live_sessions() WHERE role <> 'mallory'")" 0
check "a role given by SET ROLE shows that role only" "$(as_mallory "SET ROLE clerk" "SELECT count(*) FROM privacy_score.live_sessions()")" 0
check "identifications() tells of own abstractions only" \
  "$(as_mallory "SELECT count(*) FROM privacy_score.identifications()")" "$(as_mallory "SELECT count(*) FROM privacy_score.stat_abstractions")"
check "stat_abstractions shows nothing of others" \
  "$(as_mallory "SELECT count(*) FROM privacy_score.stat_abstractions WHERE 'p:public.patients.first_name' = ANY (tokens) AND NOT 'p:public.patients.diagnosis' = ANY (tokens)")" 0
as_mallory "SELECT city FROM patients" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
calls=$(as_mallory "SELECT calls FROM privacy_score.stat_abstractions WHERE tokens = '{cmd:select,p:public.patients.city,t:public.patients}'")
as alice q "SELECT city FROM patients" "SELECT city FROM patients" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check "nor how often others run the same" \
  "$(as_mallory "SELECT calls FROM privacy_score.stat_abstractions WHERE tokens = '{cmd:select,p:public.patients.city,t:public.patients}'")" "$calls"
check "stat_cdr shows nothing" "$(as_mallory "SELECT count(*) FROM privacy_score.stat_cdr")" 0
for call in "score('alice', '2000-01-01', '2100-01-01')" "score_sessions('alice', '2000-01-01', '2100-01-01')" \
  "score_ngrams('alice', '2000-01-01', '2100-01-01')" "choose_ngram_length('alice', '2000-01-01', '2100-01-01')" \
  "role_status('alice')" "role_watching('alice')" "explain_query('SELECT city FROM patients', 'alice')"; do
  refused "$call" 42501 "SELECT * FROM privacy_score.$call"
done
check "a role that is not there looks like one that is" \
  "$(as_mallory "SELECT * FROM privacy_score.role_status('nobody')")" 'ERROR: permission denied for the history of role "nobody"'
for call in "discrimination_rate('secrets', 'code')" "combined_discrimination_rate('secrets', '{code}')" "attribute_risk('secrets')" \
  "attribute_relationships('secrets')" "attribute_relationships_dot('secrets')" "analyze_relation('secrets')" \
  "query_identification('SELECT code FROM secrets')" "explain_query('SELECT code FROM secrets')" \
  "compare_queries('SELECT code FROM secrets', 'SELECT id FROM secrets')"; do
  refused "$call" 42501 "SELECT * FROM privacy_score.$call"
done
before=$(q "SELECT count(*) FROM privacy_score.rate")
refused "COPY of a table of others" 42501 "COPY secrets TO STDOUT"
check "a refused COPY has read nothing" "$(seen p:public.secrets.code)" 0
refused "a table of others" 42501 "SELECT code FROM secrets"
check "a refused statement has read nothing" "$(seen p:public.secrets.code)" 0
as_mallory "CREATE FUNCTION leak(anyelement) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS 'BEGIN RAISE NOTICE ''leak %'', \$1; RETURN true; END'" >/dev/null
for view in stat_sessions stat_days stat_roles stat_mismatches alerts protected_relations stat_info; do
  leaked=$(as mallory q_all "SELECT * FROM privacy_score.$view v WHERE leak(v::text)")
  check "a leaky function finds nobody else in $view" "$(grep -c alice <<<"$leaked")" 0
done
leaked=$(as mallory q_all "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM privacy_score.stat_roles" "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM privacy_score.alerts")
check "EXPLAIN of the views names nobody else" "$(grep -c alice <<<"$leaked")" 0
check "errors name nobody else" "$(as mallory q_all "SELECT 1 / (role = 'alice')::int FROM privacy_score.stat_roles" | grep -c alice)" 0
exec 3>&-

# --- a schema of the same name in another database ------------------------------------------------------------------------
q "CREATE DATABASE other" "GRANT CREATE ON DATABASE other TO mallory" >/dev/null
check "an own schema privacy_score elsewhere does no harm" \
  "$(as mallory on other q "CREATE SCHEMA privacy_score" "CREATE TABLE privacy_score.session (id int)" "SELECT count(*) FROM privacy_score.session")" 0
check_true "nobody works in its name" wait_for "SELECT count(*) FROM pg_stat_activity WHERE datname = 'other'" 0

check "nothing went wrong while scoring" "$(q "SELECT scoring_errors, dropped FROM privacy_score.stat_info")" "0|0"
done_testing

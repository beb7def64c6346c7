#!/bin/bash
# reading.sh - the ways in which a client can have a query run: protocols, prepared statements, cursors, EXPLAIN, COPY,
# copies into tables, parallel plans. Every execution counts once, as what it reads.
. "$(dirname "$0")/../attack.sh"
start_hospital

query="SELECT diagnosis FROM patients"
as_mallory "CREATE TABLE loot (d text)" "INSERT INTO loot VALUES ('x')" >/dev/null

# --- protocols --------------------------------------------------------------------------------------------------------
path "a simple query" "$read" "$query"
path "several statements in one string" "$read x2; cmd:select p:h.patients.city t:h.patients" "$query; $query; SELECT city FROM patients"
path "a comment in the way" "$read" "SELECT/**/diagnosis --x
  FROM/* FROM secrets */patients"
path "nothing at all" "" ";" "-- SELECT diagnosis FROM patients" "/* SELECT diagnosis FROM patients */"
printf 'SELECT diagnosis FROM patients WHERE id = :id;\n' >"$PS_TMP/bench.sql"
for mode in simple extended prepared; do
  path_of "pgbench -M $mode" "$by_id x12" pgbench -n -M $mode -t 12 -D id=7 -f "$PS_TMP/bench.sql"
done
printf '\\startpipeline\nSELECT diagnosis FROM patients WHERE id = :id;\nSELECT diagnosis FROM patients;\n\\endpipeline\n' >"$PS_TMP/pipe.sql"
path_of "a pipeline" "$by_id; $read; $by_id; $read" pgbench -n -M extended -t 2 -D id=7 -f "$PS_TMP/pipe.sql"
path_of "psql with FETCH_COUNT" "$read" psql -XAtq -v FETCH_COUNT=10 -c "$query"
path_of "a single-row \\gset" "$by_id" bash -c 'echo "SELECT diagnosis FROM h.patients WHERE id = 3 \gset" | psql -XAtq -v ON_ERROR_STOP=1'
path_of "\\gexec of what was read" "$by_id" \
  bash -c 'echo "SELECT format(\$\$SELECT %L\$\$, diagnosis) FROM h.patients WHERE id = 3 \gexec" | psql -XAtq -v ON_ERROR_STOP=1'
path_of "\\crosstabview" "cmd:select f:count(*) g:h.patients.city g:h.patients.diagnosis p:h.patients.city p:h.patients.diagnosis t:h.patients" \
  bash -c 'echo "SELECT city, diagnosis, count(*) FROM h.patients GROUP BY 1, 2 \crosstabview" | psql -XAtq -v ON_ERROR_STOP=1'
path_of "\\gdesc describes and does not run" "" bash -c 'echo "SELECT diagnosis FROM h.patients \gdesc" | psql -XAtq -v ON_ERROR_STOP=1'

# --- prepared statements ------------------------------------------------------------------------------------------------
executes=()
for i in 1 2 3 4 5 6 7 8 9 10; do executes+=("EXECUTE p($i)"); done
prepare="PREPARE p(int) AS SELECT diagnosis FROM patients WHERE id = \$1"
path "PREPARE alone" "" "$prepare" "DEALLOCATE p"
path "EXECUTE, custom and then generic plans" "$by_id x10" "$prepare" "${executes[@]}"
path "EXECUTE, generic plans" "$by_id x10" "SET plan_cache_mode = force_generic_plan" "$prepare" "${executes[@]}"
path "EXECUTE, custom plans" "$by_id x10" "SET plan_cache_mode = force_custom_plan" "$prepare" "${executes[@]}"
path "EXECUTE without parameters, before and after the plan is invalid" "$read x4" "PREPARE p AS $query" "EXECUTE p" "EXECUTE p" \
  "DISCARD PLANS" "EXECUTE p" "SET enable_seqscan = off" "EXECUTE p"
path "EXECUTE after another search_path" "$read; cmd:select p:pg_temp.*.1 t:pg_temp.*" "PREPARE p AS $query" "EXECUTE p" \
  "CREATE TEMP TABLE patients (diagnosis text)" "EXECUTE p"
path "CREATE TABLE AS EXECUTE" "$by_id" "$prepare" "CREATE TEMP TABLE t AS EXECUTE p(1)"
path "EXPLAIN ANALYZE EXECUTE" "$by_id" "$prepare" "EXPLAIN ANALYZE EXECUTE p(1)"
path "EXPLAIN EXECUTE" "cmd:explain t:h.patients w:h.patients.id x2" "$prepare" "EXPLAIN EXECUTE p(1)" "EXPLAIN EXECUTE p(2)"
path "a prepared statement with a parameter that is a subquery's constant" "$by_id x2" "$prepare" \
  "EXECUTE p(1 + 1)" "EXECUTE p(length('abc'))"

# --- cursors --------------------------------------------------------------------------------------------------------------
path "a cursor, fetched in pieces" "$read" "BEGIN" "DECLARE c CURSOR FOR $query" "FETCH 1 FROM c" "FETCH 10 FROM c" "MOVE 5 FROM c" "FETCH ALL FROM c" "COMMIT"
path "a cursor that nobody fetches from" "$read" "BEGIN" "DECLARE c CURSOR FOR $query" "COMMIT"
path "a scrollable cursor" "$read" "BEGIN" "DECLARE c SCROLL CURSOR FOR $query" "FETCH LAST FROM c" "FETCH BACKWARD ALL FROM c" "FETCH ABSOLUTE 3 FROM c" "COMMIT"
path "a cursor WITH HOLD" "$read" "DECLARE c CURSOR WITH HOLD FOR $query" "FETCH 1 FROM c" "FETCH 20 FROM c" "CLOSE c"
path "a cursor WITH HOLD, held by COMMIT" "$read" "BEGIN" "DECLARE c SCROLL CURSOR WITH HOLD FOR $query" "FETCH 1 FROM c" "COMMIT" "FETCH ALL FROM c" "FETCH FIRST FROM c"
path "WHERE CURRENT OF" "cmd:select p:h.loot.d t:h.loot; cmd:update p:h.loot.d s:h.loot.d t:h.loot" \
  "BEGIN" "DECLARE c CURSOR FOR SELECT d FROM loot" "FETCH 1 FROM c" "UPDATE loot SET d = d || '.' WHERE CURRENT OF c RETURNING d" "ROLLBACK"

# --- EXPLAIN --------------------------------------------------------------------------------------------------------------
path "EXPLAIN" "cmd:explain t:h.patients x4" "EXPLAIN $query" "EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) $query" "EXPLAIN CREATE TEMP TABLE t AS $query" \
  "EXPLAIN DECLARE c CURSOR FOR $query"
path "EXPLAIN ANALYZE" "$read x3" "EXPLAIN ANALYZE $query" "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, WAL, SETTINGS) $query" \
  "EXPLAIN ANALYZE CREATE TEMP TABLE t AS $query"

# --- COPY -----------------------------------------------------------------------------------------------------------------
path "COPY table TO" "cmd:copy p:h.patients.city p:h.patients.diagnosis p:h.patients.first_name p:h.patients.id t:h.patients" "COPY patients TO STDOUT"
path "COPY table (columns) TO" "cmd:copy p:h.patients.city p:h.patients.diagnosis t:h.patients" "COPY patients (diagnosis, city) TO STDOUT (FORMAT csv, HEADER)"
path "COPY (query) TO" "$read" "COPY ($query) TO STDOUT (FORMAT binary)"
path "COPY (query) TO, from psql" "$read" "COPY (WITH x AS MATERIALIZED ($query) SELECT * FROM x) TO STDOUT"
path_of "psql's \\copy" "cmd:copy p:h.patients.diagnosis t:h.patients; $read" \
  bash -c 'printf "%s\n" "\copy h.patients (diagnosis) to /dev/null" "\copy (SELECT diagnosis FROM h.patients) to /dev/null" | psql -XAtq -v ON_ERROR_STOP=1'
path_of "pg_dump by a role that may read" \
  "~^(cmd:select( x[0-9]+)?; )?cmd:copy p:h.visits.cost p:h.visits.id p:h.visits.patient p:h.visits.ward t:h.visits$" pg_dump -a -t h.visits
failing_path "COPY TO PROGRAM" "" "to COPY to or from an external program" "COPY patients TO PROGRAM 'cat'"
failing_path "COPY TO a file" "" "to COPY to a file" "COPY patients TO '/tmp/x'"
failing_path "COPY of a relation that mallory may not read" "" "permission denied for table secrets" "COPY secrets TO STDOUT"
failing_path "COPY of a column that is not there" "" "does not exist" "COPY patients (diagnosis, nosuch) TO STDOUT"
failing_path "COPY of a column twice" "" "specified more than once" "COPY patients (diagnosis, diagnosis) TO STDOUT"
failing_path "COPY of a view" "" "cannot copy from view" "CREATE TEMP VIEW v AS $query" "COPY v TO STDOUT"

# --- copies ---------------------------------------------------------------------------------------------------------------
path "CREATE TABLE AS" "$read" "CREATE TEMP TABLE t AS $query"
path "CREATE TABLE AS ... WITH NO DATA" "" "CREATE TEMP TABLE t AS $query WITH NO DATA"
path "SELECT INTO" "$read" "SELECT diagnosis INTO TEMP t FROM patients"
path "CREATE MATERIALIZED VIEW" "$read" "CREATE MATERIALIZED VIEW m AS $query" "DROP MATERIALIZED VIEW m"

# --- parallel plans -------------------------------------------------------------------------------------------------------
parallel=("SET parallel_setup_cost = 0" "SET parallel_tuple_cost = 0" "SET min_parallel_table_scan_size = 0" "SET max_parallel_workers_per_gather = 2")
path "a parallel plan" "$read" "${parallel[@]}" "$query"
path "a forced parallel plan" "$read" "SET $forced_parallel = on" "SET parallel_leader_participation = off" "$query"
path "a parallel aggregate" "cmd:select f:count(*) g:h.patients.diagnosis p:h.patients.diagnosis t:h.patients" "${parallel[@]}" \
  "SELECT diagnosis, count(*) FROM patients GROUP BY 1"
path "a parallel plan, prepared" "$by_id x3" "SET $forced_parallel = on" "SET plan_cache_mode = force_generic_plan" "$prepare" "EXECUTE p(1)" "EXECUTE p(2)" "EXECUTE p(3)"
path "a parallel plan in a cursor" "$read" "SET $forced_parallel = on" "BEGIN" "DECLARE c CURSOR FOR $query" "FETCH 10 FROM c" "COMMIT"
path "EXPLAIN ANALYZE of a parallel plan" "$read" "${parallel[@]}" "EXPLAIN (ANALYZE, VERBOSE) $query"

# --- what fails, what is rolled back --------------------------------------------------------------------------------------
failing_path "a statement that fails half-way has read" "cmd:select p:h.patients.id t:h.patients" "division by zero" "SELECT 1 / (id - 50) FROM patients"
failing_path "a statement that is cancelled has read" "$read x2" "statement timeout" \
  "$query" "SET statement_timeout = '50ms'" "SELECT diagnosis, pg_sleep(1) FROM patients"
failing_path "a statement that is denied has not" "" "permission denied for table secrets" "SELECT code FROM secrets"
failing_path "a statement that is wrong has not" "" "does not exist" "SELECT nosuch FROM patients"
path "a transaction that is rolled back" "$read x2" "BEGIN" "$query" "SAVEPOINT a" "$query" "ROLLBACK TO a" "ROLLBACK"
path "a prepared transaction" "$read" "BEGIN" "$query" "PREPARE TRANSACTION 'x'" "ROLLBACK PREPARED 'x'"
path "a read-only serializable transaction" "$read" "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE" "$query" "COMMIT"

verify_paths
done_testing

#!/bin/bash
# solver.sh - the solver's module in a backend: cancelled in the middle, stopped by a time limit, missing, of another
# version; the backend keeps one thread, and parallel workers do not load it.
. "$(dirname "$0")/../lib.sh"

start_server "shared_preload_libraries = ''"
q "CREATE EXTENSION privacy_score" >/dev/null

# Sums of the rows and columns of a square of numbers: one kind of records a cell, so more linear programs than anybody
# waits for.
margins() {
  cat <<SQL
SELECT count(*) FROM (
  SELECT jsonb_agg(cells ORDER BY line) AS queries, array_agg(total ORDER BY line) AS answers FROM (
    SELECT 'r' || (cell - 1) / $1 AS line, jsonb_agg(cell) AS cells, sum(cell * 7919 % 1009)::numeric AS total FROM generate_series(1, $1 * $1) cell GROUP BY 1
    UNION ALL
    SELECT 'c' || (cell - 1) % $1, jsonb_agg(cell), sum(cell * 7919 % 1009)::numeric FROM generate_series(1, $1 * $1) cell GROUP BY 1) lines) asked,
  privacy_score.query_bounds(queries, answers, 0, 1008, $1 * $1)
SQL
}
check "margins of a table give bounds" "$(q "$(margins 6)")" 36

threads="SELECT substring(pg_read_file('/proc/self/status') FROM 'Threads:\s+(\d+)')"
loaded="SELECT count(*) > 0 FROM string_to_table(pg_read_file('/proc/self/maps'), E'\n') line WHERE line LIKE '%libClp%'"
check "a session that asks for no bounds does not load the solver" "$(q "SELECT privacy_score.disclosure_risk('{0.5,0.5}')" "$loaded" | tail -n 1)" f
check "one that does loads it and keeps one thread" "$(q "$(margins 3)" "$loaded" "$threads" | tail -n 2 | paste -sd ' ')" "t 1"

# the work is in the solver when its library is there; the session goes on afterwards
big=$(margins 120)
PGAPPNAME=work "$PS_BINDIR/psql" -XAtq -c "$big" -c "SELECT 'goes on'" >"$ps_home/cancelled" 2>&1 </dev/null &
work=$!
wait_for "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'work' AND state = 'active'" 1
pid=$(q "SELECT pid FROM pg_stat_activity WHERE application_name = 'work'")
for _ in $(seq 600); do
  if grep -q libClp "/proc/$pid/maps"; then break; fi
  sleep 0.1
done
check_true "the work has loaded the solver" grep -q libClp "/proc/$pid/maps"
check "it is cancelled in the middle" "$(q "SELECT pg_cancel_backend($pid)")" t
wait $work
check "the statement ends and the session goes on" "$(cat "$ps_home/cancelled")" "ERROR:  canceling statement due to user request
goes on"
check "a time limit holds" "$(q_state "SET statement_timeout = '2s'" "$big")" 57014
check "and what it left does no harm" "$(q_state "SET statement_timeout = '300ms'" "$big" "RESET statement_timeout" "$(margins 4)")" 00000

# Parallel workers load what their leader has loaded, but not the solver.
check "parallel workers do without" "$(q "$(margins 3)" "SET $forced_parallel = on" "$loaded" | tail -n 1)" f

# --- without the module -----------------------------------------------------------------------------------------------
# A copy of the library looks for the solver beside itself.
library=$(q "SELECT setting || '/privacy_score.so' FROM pg_config() WHERE name = 'PKGLIBDIR'")
mkdir "$ps_home/alone"
cp "$library" "$ps_home/alone/privacy_score.so"
q "CREATE FUNCTION alone(queries jsonb, answers numeric[], low numeric, high numeric, records int, asked int[] DEFAULT NULL)
     RETURNS TABLE (record int, lower numeric, upper numeric) AS '$ps_home/alone/privacy_score', 'ps_query_bounds' LANGUAGE C" >/dev/null
ask="SELECT lower, upper FROM alone('[[1]]', '{1}', 0, 2, 1)"
missing="ERROR:  could not load the solver of linear programs
HINT:  Install the package coinor-libclp1 and the file privacy_score_solver.so that belongs to privacy_score."
check "a missing module is an error with a hint" "$(q_all "$ask")" "$missing"
check "its state says that a file is missing" "$(q_state "$ask")" 58P01
check_true "the log says what was not found" log_has "alone/privacy_score_solver.so: cannot open shared object file"
echo "no library" >"$ps_home/alone/privacy_score_solver.so"
check "a module that does not load is the same" "$(q_all "$ask")" "$missing"
check "the session goes on after that" "$(q_state "$ask" "SELECT 1")" 00000
echo 'extern "C" const int* ps_linear_solver() { static const int version = 0; return &version; }' |
  g++ -shared -fPIC -x c++ -o "$ps_home/alone/privacy_score_solver.so" -
check "a module of another version is refused" "$(q_all "$ask" | head -n 1)" \
  "ERROR:  the solver of linear programs belongs to another version of privacy_score"
cp "$(dirname "$library")/privacy_score_solver.so" "$ps_home/alone/privacy_score_solver.so"
check "and with the right one it works" "$(q "$ask")" "1|1"
done_testing

#!/bin/bash
# estimates.sh - what plans tell before anything runs: numbers of rows are estimated from the statistics that pg_stats
# would be counted for, and the greatest key is read from the index. Showing a plan counts as filtering and grouping.
. "$(dirname "$0")/../attack.sh"
start_hospital
q "CREATE TABLE h.parts (id int, kind text, tags text[]) PARTITION BY RANGE (id)" \
  "CREATE TABLE h.parts_low PARTITION OF h.parts FOR VALUES FROM (0) TO (100)" "CREATE TABLE h.parts_high PARTITION OF h.parts FOR VALUES FROM (100) TO (200)" \
  "INSERT INTO h.parts SELECT i, 'k' || i % 3, ARRAY['t' || i % 5] FROM generate_series(1, 150) i" "ANALYZE h.parts" \
  "GRANT SELECT ON h.parts TO mallory" "GRANT UPDATE, DELETE, INSERT ON h.patients TO mallory, alice" "SELECT privacy_score.protect('h.parts')" \
  "CREATE VIEW h.sick AS SELECT id, diagnosis FROM h.patients WHERE city = 'c1'" "GRANT SELECT ON h.sick, h.visits TO mallory, alice" \
  "CREATE FUNCTION h.those(c text) RETURNS SETOF text STABLE LANGUAGE sql AS 'SELECT diagnosis FROM h.patients WHERE city = c'" >/dev/null

explained="cmd:explain t:h.patients"
grouped="cmd:explain g:h.patients.diagnosis t:h.patients"
by_diagnosis="$explained w:h.patients.diagnosis"
est="CREATE FUNCTION pg_temp.est(q text) RETURNS int LANGUAGE plpgsql AS 'DECLARE r text; BEGIN FOR r IN EXECUTE ''EXPLAIN '' || q LOOP RETURN substring(r FROM ''rows=([0-9]+)'')::int; END LOOP; END'"
frequencies="SELECT v, pg_temp.est(format('SELECT 1 FROM h.patients WHERE diagnosis = %L', v)) AS patients FROM unnest('{d1,d2,plague}'::text[]) v"
ages="SELECT 'id=' || a, pg_temp.est(format('SELECT 1 FROM h.patients WHERE id > %s', a)) FROM generate_series(98, 102) a"

# --- numbers of rows ------------------------------------------------------------------------------------------------------
path "frequencies of values, in a function" "$outer; $by_diagnosis x3" "$est" "$frequencies"
path "the greatest key, which the planner reads from the index" "$outer; $explained w:h.patients.id x5" "$est" "$ages"
path "repeated ones" "$by_diagnosis x4" "EXPLAIN SELECT first_name FROM patients WHERE diagnosis = 'd1'" "EXPLAIN SELECT 1 FROM patients WHERE diagnosis = 'd1'" \
  "EXPLAIN SELECT city FROM patients WHERE diagnosis = 'd2'" "EXPLAIN (SUMMARY off) SELECT count(*) FROM patients WHERE diagnosis = 'd3'"
path "its forms" "$by_diagnosis x5" "EXPLAIN (FORMAT JSON) SELECT city FROM patients WHERE diagnosis = 'd1'" \
  "EXPLAIN (VERBOSE, COSTS off) SELECT city FROM patients WHERE diagnosis = 'd1'" "EXPLAIN (ANALYZE off) SELECT city FROM patients WHERE diagnosis = 'd1'" \
  "EXPLAIN CREATE TEMP TABLE t AS SELECT city FROM patients WHERE diagnosis = 'd1'" "EXPLAIN DECLARE c CURSOR FOR SELECT city FROM patients WHERE diagnosis = 'd1'"
path "columns that are only projected" "$explained x2" "EXPLAIN SELECT diagnosis FROM patients" "EXPLAIN TABLE patients"
path "joins" "cmd:explain j:h.patients.id j:h.visits.patient t:h.patients t:h.visits w:h.visits.ward" \
  "EXPLAIN SELECT diagnosis FROM patients p JOIN visits v ON p.id = v.patient WHERE ward = 'w1'"
path "a join with values, and a membership" "$by_diagnosis x2" "EXPLAIN SELECT 1 FROM patients JOIN (VALUES ('d1')) v (d) ON d = diagnosis" \
  "EXPLAIN SELECT 1 FROM patients WHERE diagnosis = ANY ('{d1,d2}')"
path "changes" "$by_diagnosis x2; cmd:explain t:h.patients" "EXPLAIN DELETE FROM patients WHERE diagnosis = 'd1'" \
  "EXPLAIN UPDATE patients SET city = first_name WHERE diagnosis = 'd1' RETURNING first_name" "EXPLAIN INSERT INTO patients SELECT id, city FROM patients"
path "a subquery among the outputs" "$by_diagnosis" "EXPLAIN SELECT (SELECT count(*) FROM patients WHERE diagnosis = 'd1')"
path "a view, and a function that is folded into the caller" "cmd:explain t:h.patients w:h.patients.city w:h.patients.diagnosis; cmd:explain t:h.patients w:h.patients.city" \
  "EXPLAIN SELECT 1 FROM sick WHERE diagnosis = 'd1'" "EXPLAIN SELECT * FROM h.those('c1')"
path "partitions" "cmd:explain t:h.parts w:h.parts.id; cmd:explain t:h.parts w:h.parts.kind" "EXPLAIN SELECT kind FROM parts WHERE id = 120" \
  "EXPLAIN SELECT 1 FROM h.parts WHERE kind = 'k1'"

# --- numbers of distinct values -------------------------------------------------------------------------------------------
path "GROUP BY, DISTINCT, ORDER BY, windows" "$grouped x5" "EXPLAIN SELECT diagnosis, count(*) OVER (PARTITION BY diagnosis ORDER BY diagnosis) FROM patients" \
  "EXPLAIN SELECT count(*), sum(id) FROM patients GROUP BY diagnosis" "EXPLAIN SELECT DISTINCT diagnosis FROM patients" "EXPLAIN SELECT DISTINCT ON (diagnosis) id FROM patients" \
  "EXPLAIN SELECT id FROM patients ORDER BY diagnosis LIMIT 1"
path "set operations" "$grouped x3; $explained" "EXPLAIN SELECT diagnosis FROM patients UNION SELECT diagnosis FROM patients" \
  "EXPLAIN SELECT diagnosis FROM patients EXCEPT ALL SELECT 'd1'" "EXPLAIN SELECT 'd1' INTERSECT SELECT diagnosis FROM patients" "EXPLAIN SELECT diagnosis FROM patients UNION ALL SELECT 'd1'"
path "DISTINCT where nobody uses the values" "$grouped" "EXPLAIN SELECT count(*) FROM (SELECT DISTINCT diagnosis FROM patients) s"
path "least and greatest" "cmd:explain g:h.patients.id t:h.patients; cmd:explain g:h.patients.id t:h.patients w:h.patients.id" "EXPLAIN SELECT max(id) FROM patients" "EXPLAIN SELECT 1 FROM patients HAVING min(id) IS NULL AND max(id) IS NULL"
path "elements of arrays" "cmd:explain t:h.parts w:h.parts.tags; cmd:explain g:h.parts.tags t:h.parts" "EXPLAIN SELECT 1 FROM h.parts, unnest(tags)" "EXPLAIN SELECT unnest(tags) FROM h.parts"

# --- plans that are there -------------------------------------------------------------------------------------------------
prepare="PREPARE p (text) AS SELECT DISTINCT city FROM patients WHERE diagnosis = \$1"
executed="cmd:select p:h.patients.city t:h.patients w:h.patients.diagnosis"
estimated="cmd:explain g:h.patients.city t:h.patients w:h.patients.diagnosis"
for plans in generic custom; do
  path "EXPLAIN EXECUTE, $plans plans" "$estimated x2; $executed; $estimated; $executed" "SET plan_cache_mode = force_${plans}_plan" "$prepare" "EXPLAIN EXECUTE p('d1')" \
    "EXPLAIN EXECUTE p('d2')" "EXECUTE p('d1')" "EXPLAIN EXECUTE p('d3')" "EXECUTE p('d1')"
done
path "EXPLAIN ANALYZE runs" "$executed x2" "$prepare" "EXPLAIN (ANALYZE) EXECUTE p('d1')" "EXPLAIN ANALYZE SELECT DISTINCT city FROM patients WHERE diagnosis = 'd1'"
path "what reads no relation" "" "EXPLAIN SELECT 1" "EXPLAIN SELECT * FROM pg_class WHERE relname = 'patients'" "EXPLAIN SELECT count(*) FROM generate_series(1, 3)"
path "a statement within an argument runs" "$by_id; $estimated" "SET plan_cache_mode = force_custom_plan" "$prepare" \
  "CREATE FUNCTION pg_temp.one() RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT diagnosis FROM h.patients WHERE id = 1); END'" "SELECT 1" "EXPLAIN EXECUTE p(pg_temp.one())"

# --- the server prints plans to the client --------------------------------------------------------------------------------
printed=("SET debug_print_plan = on" "SET client_min_messages = log")
path "debug_print_plan" "$by_diagnosis; cmd:select p:h.patients.city t:h.patients w:h.patients.diagnosis" "${printed[@]}" "SELECT city FROM patients WHERE diagnosis = 'd1'"
path "debug_print_plan in the server log alone" "cmd:select p:h.patients.city t:h.patients w:h.patients.diagnosis" "SET debug_print_plan = on" "SELECT city FROM patients WHERE diagnosis = 'd1'"
failing_path "debug_print_plan of a table without rights, whose plan is printed before rights are checked" "cmd:explain t:h.secrets w:h.secrets.code" \
  "permission denied for table secrets" "${printed[@]}" "SELECT 1 FROM secrets WHERE code = 'x'"
failing_path "EXPLAIN of a table without rights" "" "permission denied for table secrets" "EXPLAIN SELECT 1 FROM secrets WHERE code = 'x'"
verify_paths

# --- imported from a log it is the same event; as a text it is the query within ------------------------------------------------
q "SELECT privacy_score.import_statements(\$\$SELECT 'log', 'mallory'::name, now() - interval '40 days', sql FROM unnest(ARRAY[
  'EXPLAIN SELECT DISTINCT city FROM h.patients WHERE diagnosis = ''d1''', 'EXPLAIN (ANALYZE 0, VERBOSE) SELECT max(id), 1 FROM h.patients ORDER BY max(id)',
  'EXPLAIN (ANALYZE) SELECT city FROM h.patients', 'EXPLAIN (ANALYZE OFF) SELECT city FROM h.patients UNION SELECT ''x''', 'EXPLAIN SELECT 1']) sql\$\$)" >/dev/null
check "a log's EXPLAIN is the same event" "$(q "SELECT array_to_string(a.tokens, ' ') FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
  ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place) JOIN privacy_score.abstraction a ON a.id = e.id
  WHERE s.session LIKE 'log%' AND e.run > 0 ORDER BY e.place")" "$estimated
cmd:explain g:h.patients.id t:h.patients
cmd:select p:h.patients.city t:h.patients
cmd:explain g:h.patients.city t:h.patients"
check "as a text it is the query within" "$(q "SELECT array_to_string(privacy_score.abstract_query('EXPLAIN SELECT city FROM h.patients WHERE diagnosis = ''d1'''), ' ')")" "$executed"

# --- refused --------------------------------------------------------------------------------------------------------------
as alice q "SELECT count(*) FROM patients" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('alice', current_date, current_date)" "ALTER ROLE alice SET privacy_score.mode = enforce" \
  "ALTER ROLE alice SET privacy_score.session_limit = 0" "SELECT privacy_score.flush()" >/dev/null
check_match "refused: the frequencies" "$(as alice q_all "$est" "$frequencies" | tail -n 4 | tr '\n' ' ')" "^ERROR:  statement refused: its session privacy score would be [0-9.e-]+, above the limit 0 .*PL/pgSQL function pg_temp"
check "and nothing is printed" "$(as alice q_all "$est" "$frequencies" "$ages" | grep -cE "^(d1|d2|plague|id=[0-9]+)")" 0
for statement in "EXPLAIN SELECT 1 FROM patients WHERE diagnosis = 'd1'" "EXPLAIN SELECT DISTINCT diagnosis FROM patients" "EXPLAIN SELECT count(*) FROM patients GROUP BY city" \
  "PREPARE p AS SELECT 1 FROM patients WHERE city = 'c1'; EXPLAIN EXECUTE p" "EXPLAIN (FORMAT JSON) DELETE FROM patients WHERE city = 'c1'" \
  "SET debug_print_plan = on; SET client_min_messages = log; SELECT count(*) FROM patients WHERE city = 'c1'"; do
  check "refused: $statement" "$(as alice q_state "$statement")" PS001
done
check "a refused statement's plan is not printed" "$(as alice q_all "SET debug_print_plan = on" "SET client_min_messages = log" "SELECT count(*) FROM patients WHERE city = 'c1'" | grep -c ":plan_rows")" 0
check "what the baseline has is explained" "$(as alice q_state "EXPLAIN SELECT count(*) FROM patients")" 00000
q "ALTER ROLE alice SET privacy_score.session_limit = -1" "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'dp only'" "SELECT privacy_score.flush()" >/dev/null
for statement in "EXPLAIN SELECT 1 FROM patients WHERE diagnosis = 'd1'" "EXPLAIN SELECT count(*) FROM patients" "EXPLAIN SELECT 1 FROM sick" "EXPLAIN SELECT 1 FROM visits WHERE ward = 'w1'" \
  "SET debug_print_plan = on; SET client_min_messages = log; SELECT count(*) FROM patients WHERE city = 'c1'"; do
  check "dp only: $statement" "$(as alice q_state "$statement")" PS001
done
check "nor is that of a dp only role" "$(as alice q_all "SET debug_print_plan = on" "SET client_min_messages = log" "SELECT count(*) FROM patients WHERE city = 'c1'" | grep -c ":plan_rows")" 0
done_testing

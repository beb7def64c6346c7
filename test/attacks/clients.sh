#!/bin/bash
# clients.sh - what clients send all the time is no event: asking for the columns of a result, keepalives, looking into
# catalogs. What somebody would hide behind that counts, and so does a label of a role that SET ROLE reaches.
. "$(dirname "$0")/../attack.sh"
start_hospital "$forced_parallel = off"
q "GRANT UPDATE ON h.patients TO mallory" "CREATE ROLE nurse" "CREATE ROLE porter" "GRANT nurse, porter TO mallory" "GRANT nurse TO alice" \
  "GRANT USAGE ON SCHEMA h TO nurse, porter" "GRANT SELECT, UPDATE ON h.patients TO nurse, porter" \
  "SECURITY LABEL FOR privacy_score ON ROLE nurse IS 'dp only'" >/dev/null || bail_out "the roles cannot be made"
as mallory q_script >/dev/null <<'SQL' || bail_out "the functions cannot be made"
CREATE TABLE h.loot (d text);
INSERT INTO h.loot VALUES ('d1');
CREATE VIEW h.two AS WITH m AS MATERIALIZED (SELECT max(id) AS id FROM h.patients) SELECT p.diagnosis, (SELECT count(*) FROM h.visits) AS n FROM h.patients p, m WHERE p.id < m.id;
CREATE FUNCTION h.spy() RETURNS text VOLATILE LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT diagnosis FROM h.patients WHERE id = 1); END$$;
CREATE FUNCTION h.constant() RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT diagnosis FROM h.patients WHERE id = 1); END$$;
CREATE FUNCTION h.probing() RETURNS int LANGUAGE plpgsql AS $$DECLARE c CURSOR FOR SELECT * FROM h.patients LIMIT 0; r record; BEGIN PERFORM FROM h.patients WHERE false; OPEN c; FETCH c INTO r; RETURN 1; END$$;
CREATE FUNCTION h.definer() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql AS 'SELECT diagnosis FROM h.patients';
CREATE FUNCTION h.as_porter() RETURNS SETOF text SET role = porter LANGUAGE sql AS 'SELECT diagnosis FROM h.patients';
CREATE FUNCTION h.same(text, text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1 = $2; END';
CREATE OPERATOR h.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = h.same, RESTRICT = matchingsel);
SQL
q "ALTER FUNCTION h.definer() OWNER TO postgres" >/dev/null

all_visits="cmd:select p:h.visits.cost p:h.visits.id p:h.visits.patient p:h.visits.ward t:h.visits"

# --- asking for the columns alone -----------------------------------------------------------------------------------------
for statement in "SELECT * FROM patients LIMIT 0" "SELECT * FROM patients LIMIT '0'" "SELECT * FROM patients LIMIT 0 OFFSET 3" "SELECT * FROM patients FETCH FIRST 0 ROWS ONLY" \
  "SELECT * FROM patients WHERE false" "SELECT * FROM patients WHERE 1 <> 1" "SELECT * FROM patients WHERE 1 = 0 AND city = 'c1'" "SELECT * FROM patients WHERE NULL" \
  "SELECT * FROM (SELECT p.*, v.ward FROM patients p JOIN visits v ON v.patient = p.id WHERE v.cost > 3 ORDER BY p.city) q LIMIT 0" \
  "SELECT DISTINCT city FROM patients WHERE false ORDER BY city" "SELECT city, count(*) FROM patients WHERE false GROUP BY city" "SELECT diagnosis, rank() OVER (ORDER BY id) FROM patients WHERE false LIMIT 3" \
  "SELECT city FROM patients WHERE false UNION ALL SELECT diagnosis FROM patients WHERE 1 <> 1" "SELECT p.diagnosis FROM patients p JOIN visits v ON false" \
  "SELECT count(*) FROM patients LIMIT 0" "SELECT city FROM patients UNION SELECT diagnosis FROM patients LIMIT 0" "SELECT * FROM two LIMIT 0" \
  "WITH p AS MATERIALIZED (SELECT * FROM patients) SELECT * FROM p LIMIT 0" "SELECT (SELECT max(diagnosis) FROM patients), h.spy() FROM visits LIMIT 0" \
  "COPY (SELECT * FROM patients LIMIT 0) TO STDOUT" "SELECT (SELECT h.spy()) FROM patients LIMIT 0" "WITH s AS MATERIALIZED (SELECT h.spy()) SELECT * FROM s LIMIT 0" \
  "SELECT * FROM patients WHERE id = (SELECT length(h.spy())) LIMIT 0" "SELECT * FROM h.spy() LIMIT 0" "SELECT h.spy() LIMIT 0"; do
  path "returns nothing: $statement" "" "$statement"
done
path "prepared, with plans that are kept" "" "PREPARE p AS SELECT * FROM patients WHERE city = 'c1' LIMIT 0" "EXECUTE p" "EXECUTE p" "EXECUTE p" "EXECUTE p" "EXECUTE p" "EXECUTE p" "EXECUTE p"
path "of the same shape" "$read" "SELECT diagnosis FROM patients LIMIT 0" "SELECT diagnosis FROM patients LIMIT 1" "SELECT diagnosis FROM patients LIMIT 0"
path "cursors" "" "BEGIN" "DECLARE c CURSOR FOR SELECT * FROM patients LIMIT 0" "FETCH ALL FROM c" "DECLARE d SCROLL CURSOR FOR SELECT * FROM patients LIMIT 0" "FETCH ALL FROM d" "FETCH LAST FROM d" \
  "DECLARE e SCROLL CURSOR WITH HOLD FOR SELECT diagnosis || 'x' FROM patients WHERE false" "COMMIT" "FETCH ALL FROM e"
path "in a function" "$outer" "SELECT h.probing()"
path "parallel plans" "" "SET $forced_parallel = on" "SET parallel_setup_cost = 0" "SET parallel_tuple_cost = 0" "SET min_parallel_table_scan_size = 0" "SELECT * FROM patients LIMIT 0"
path "an empty copy is read like what it was made from" "cmd:select p:h.patients.diagnosis t:h.empty_copy t:h.patients" "CREATE TABLE h.empty_copy AS SELECT diagnosis FROM patients LIMIT 0" "SELECT diagnosis FROM h.empty_copy" "DROP TABLE h.empty_copy"

# --- what is not certain to return nothing ----------------------------------------------------------------------------------
path "FOR UPDATE locks" "$whole x2" "SELECT * FROM patients LIMIT 0 FOR UPDATE" "SELECT * FROM patients WHERE false FOR SHARE"
path "LIMIT (SELECT 0)" "$whole" "SELECT * FROM patients LIMIT (SELECT 0)"
path "a limit that is a parameter" "$whole x3" "SET plan_cache_mode = force_custom_plan" "PREPARE p(int) AS SELECT * FROM patients LIMIT \$1" "EXECUTE p(0)" "EXECUTE p(0)" \
  "SET plan_cache_mode = force_generic_plan" "EXECUTE p(0)"
path "a condition that a parameter makes false" "$by_id x2" "SET plan_cache_mode = force_custom_plan" "PREPARE p(int) AS SELECT diagnosis FROM patients WHERE id = \$1" "EXECUTE p(NULL)" "EXECUTE p(NULL)"
path "an offset that reads" "cmd:select f:count(*) p:h.patients.diagnosis t:h.patients t:h.visits" "SELECT diagnosis FROM patients LIMIT 0 OFFSET (SELECT count(*) FROM visits)"
path "LIMIT 0 in an arm" "$read" "(SELECT diagnosis FROM patients LIMIT 0) UNION ALL SELECT diagnosis FROM patients"
path "LIMIT 0 below a join" "cmd:select j:h.patients.id j:h.visits.patient p:h.patients.diagnosis t:h.patients t:h.visits" \
  "SELECT p.diagnosis FROM patients p LEFT JOIN (SELECT * FROM visits LIMIT 0) v ON v.patient = p.id"
path "LIMIT 0 in a subquery" "cmd:select p:h.patients.diagnosis t:h.patients t:h.visits w:h.visits.id" "SELECT diagnosis FROM patients WHERE NOT EXISTS (SELECT FROM visits WHERE id > 0 LIMIT 0)"
path "false or true" "$whole" "SELECT * FROM patients WHERE false OR true"
path "aggregates of nothing" "cmd:select f:count(*) t:h.patients; cmd:select f:max(h.patients.diagnosis) p:h.patients.diagnosis t:h.patients" "SELECT count(*) FROM patients WHERE false" \
  "SELECT max(diagnosis) FROM patients WHERE false"
path "a WITH query that deletes" "cmd:select p:h.loot.d t:h.loot t:h.patients w:h.loot.d w:h.patients.diagnosis" \
  "WITH d AS (DELETE FROM loot USING patients WHERE d = diagnosis RETURNING d) SELECT * FROM d LIMIT 0"
path "a false condition beside a subquery" "cmd:select f:count(*) p:h.patients.diagnosis t:h.patients t:h.visits" "SELECT diagnosis FROM patients WHERE false LIMIT (SELECT count(*) FROM visits)"
path "functions that run queries" "$outer; $read; $outer; $read" "SELECT query_to_xml('SELECT diagnosis FROM h.patients', true, false, '')" \
  "SELECT * FROM ts_stat('SELECT diagnosis::tsvector FROM h.patients')"
path "table_to_xml()" "$outer; $whole" "SELECT table_to_xml('h.patients', true, false, '')"
path "schema_to_xml()" "~; $whole; .*; $all_visits\$" "SELECT schema_to_xml('h', true, false, '')"
path "cursor_to_xml()" "$read; $outer" "BEGIN" "DECLARE c CURSOR FOR SELECT diagnosis FROM patients" "SELECT cursor_to_xml('c', 10, true, false, '')"
path "ts_rewrite()" "$outer; cmd:select t:h.patients w:h.patients.diagnosis" "SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery FROM h.patients WHERE diagnosis = ''d1''')"
path "evaluated while it is planned" "$by_id; $all_visits" "SELECT * FROM patients WHERE h.constant() = 'x' AND false" \
  "SELECT * FROM patients WHERE diagnosis = table_to_xml('h.visits', true, false, '')::text LIMIT 0"
path "an operator of one's own sees the most common values" "cmd:select p:h.patients.diagnosis p:h.patients.id t:h.patients w:h.patients.diagnosis x2" "SELECT id FROM patients WHERE diagnosis OPERATOR(h.===) 'd1' LIMIT 0"

# --- the plan of what returns nothing ---------------------------------------------------------------------------------------
estimated="cmd:explain t:h.patients w:h.patients.city"
path "EXPLAIN" "$estimated x3; cmd:explain t:h.patients" "EXPLAIN SELECT * FROM patients WHERE city = 'c1' LIMIT 0" "PREPARE p AS SELECT * FROM patients WHERE city = 'c1' LIMIT 0" "EXPLAIN EXECUTE p" "EXECUTE p" \
  "EXPLAIN EXECUTE p" "EXPLAIN SELECT * FROM patients WHERE false"
path "EXPLAIN ANALYZE" "$estimated" "EXPLAIN (ANALYZE, TIMING off) SELECT * FROM patients WHERE city = 'c1' LIMIT 0"
path "where the client reads the log" "$estimated" "SET client_min_messages = log" "SELECT * FROM patients WHERE city = 'c1' LIMIT 0"
path "debug_print_plan" "$estimated x2" "SET debug_print_plan = on" "SET client_min_messages = log" "SELECT * FROM patients WHERE city = 'c1' LIMIT 0"

# --- keepalives and catalogs ------------------------------------------------------------------------------------------------
path "keepalives" "$read x2" "SELECT diagnosis FROM patients" "SELECT 1" "SELECT now(), version(), current_user" "SELECT" "VALUES (1)" "SELECT count(*) FROM generate_series(1, 3)" "SELECT diagnosis FROM patients"
path "what runs code of somebody" "$outer; $by_id; $outer x2" "SELECT h.spy()" "SELECT set_config('a.b', 'c', false)" "SELECT random()"
path "information_schema" "" "SELECT * FROM information_schema.columns" "SELECT * FROM information_schema.key_column_usage" "SELECT * FROM pg_tables"
path "a catalog with a function that reads" "$by_id" "SELECT relname, h.spy() FROM pg_class WHERE relname = 'patients'"
path "statistics" "~^cmd:select p:h.patients.city .*t:h.patients" "SELECT most_common_vals FROM pg_stats WHERE tablename = 'patients' AND attname = 'city'"
verify_paths

# --- the label of a role that SET ROLE reaches --------------------------------------------------------------------------------
reading="SELECT diagnosis FROM h.patients"
refused "SET ROLE" PS001 "SET ROLE nurse" "$reading"
refused "SET LOCAL ROLE" PS001 "BEGIN" "SET LOCAL ROLE nurse" "$reading"
refused "set_config()" PS001 "SELECT set_config('role', 'nurse', false)" "$reading"
refused "a plan from before" PS001 "PREPARE p AS $reading" "EXECUTE p" "SET ROLE nurse" "EXECUTE p"
refused "a definer's function" PS001 "SET ROLE nurse" "SELECT * FROM h.definer()"
refused "CALL of a definer's procedure" PS001 "SET ROLE porter" "DO 'BEGIN PERFORM h.definer(); END'" "SET ROLE nurse" "DO 'BEGIN PERFORM h.definer(); END'"
refused "EXPLAIN" PS001 "SET ROLE nurse" "EXPLAIN $reading"
refused "EXPLAIN ANALYZE" PS001 "SET ROLE nurse" "EXPLAIN ANALYZE $reading LIMIT 0"
refused "COPY" PS001 "SET ROLE nurse" "COPY h.patients TO STDOUT"
check "reset again it reads" "$(as mallory q_state "SET ROLE nurse" "RESET ROLE" "$reading")" 00000
check "another role reads" "$(as mallory q_state "SET ROLE porter" "$reading")" 00000
check "a definer's function reads" "$(as mallory q_state "SET ROLE porter" "SELECT * FROM h.definer()")" 00000
for statement in "SELECT * FROM h.patients LIMIT 0" "SELECT * FROM h.patients WHERE 1 <> 1"; do
  check "the columns are shown: $statement" "$(as mallory q_state "SET ROLE nurse" "$statement")" 00000
done
refused "LIMIT of a subquery" PS001 "SET ROLE nurse" "SELECT * FROM h.patients LIMIT (SELECT 0)"
refused "FOR UPDATE" PS001 "SET ROLE nurse" "SELECT * FROM h.patients WHERE false FOR KEY SHARE"
refused "a limit that is a parameter" PS001 "SET ROLE nurse" "PREPARE p(int) AS SELECT * FROM h.patients LIMIT \$1" "EXECUTE p(0)"
# Who is watched only by the role.
q "CREATE ROLE bob LOGIN" "GRANT nurse, porter TO bob" "GRANT USAGE ON SCHEMA h TO bob" >/dev/null
check "a role without label sets one that may read nothing" "$(as bob q_state "SET ROLE nurse" "$reading")" PS001
check "and one that may read" "$(as bob q_state "SET ROLE porter" "$reading")" 00000
# Only porter is watched: whoever has set it is, and only while it is set.
q "GRANT SELECT ON h.patients TO bob" "SECURITY LABEL FOR privacy_score ON ROLE porter IS 'watched'" "SELECT privacy_score.flush()" "DELETE FROM privacy_score.session_part" "DELETE FROM privacy_score.session" >/dev/null
counted() { q "SELECT privacy_score.flush()" "SELECT string_agg(role || ' ' || queries, ';' ORDER BY role) FROM privacy_score.session" | tail -n 1; }
as bob q "$reading" "SET ROLE nurse" "RESET ROLE" "$reading" >/dev/null
q "SET ROLE porter" "$reading" >/dev/null
check "nobody is watched without it, nor are superusers with it" "$(counted)" ""
as bob q "$reading" "BEGIN" "SET LOCAL ROLE porter" "$reading" "SELECT city FROM h.patients" "COMMIT" "$reading" "SET ROLE porter" "$reading" >/dev/null
check "who sets a watched role is watched while it is set" "$(counted)" "bob 3"
check_scored
done_testing

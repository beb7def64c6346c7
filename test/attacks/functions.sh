#!/bin/bash
# functions.sh - code that runs within statements: SQL functions that the planner folds in or not, plpgsql, DO, CALL,
# triggers, rules, policies, security definer functions, expressions of indexes, constraints and defaults.
. "$(dirname "$0")/../attack.sh"
start_hospital

query="SELECT diagnosis FROM h.patients"
read_all="cmd:select f:string_agg(h.patients.diagnosis) p:h.patients.diagnosis t:h.patients"
insert="cmd:insert s:h.loot.d t:h.loot"
steal="cmd:insert p:h.patients.diagnosis s:h.loot.d t:h.loot t:h.patients"

q "GRANT EXECUTE ON FUNCTION privacy_score.flush() TO mallory" >/dev/null
as mallory q_script >/dev/null <<'SQL' || bail_out "the functions cannot be made"
CREATE TABLE h.loot (d text);
CREATE TABLE h.bait (id int PRIMARY KEY);
CREATE TABLE h.late (id int);
INSERT INTO h.bait VALUES (1), (2), (3);
CREATE TABLE h.parent (id int PRIMARY KEY);
CREATE TABLE h.child (id int REFERENCES h.parent ON DELETE CASCADE);
INSERT INTO h.parent VALUES (1);
INSERT INTO h.child VALUES (1);
-- SQL
CREATE FUNCTION h.inlined_scalar(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT upper($1)';
CREATE FUNCTION h.scalar(int) RETURNS text STABLE LANGUAGE sql AS 'SELECT diagnosis FROM h.patients WHERE id = $1';
CREATE FUNCTION h.scalar_volatile(int) RETURNS text VOLATILE LANGUAGE sql AS 'SELECT diagnosis FROM h.patients WHERE id = $1';
CREATE FUNCTION h.inlined_set() RETURNS SETOF text STABLE LANGUAGE sql AS 'SELECT diagnosis FROM h.patients';
CREATE FUNCTION h.inlined_table(low int) RETURNS TABLE (i int, d text) STABLE LANGUAGE sql AS 'SELECT id, diagnosis FROM h.patients WHERE id > low';
CREATE FUNCTION h.volatile_set() RETURNS SETOF text VOLATILE LANGUAGE sql AS 'SELECT diagnosis FROM h.patients';
CREATE FUNCTION h.nested_set() RETURNS SETOF text STABLE LANGUAGE sql AS 'SELECT * FROM h.inlined_set()';
CREATE FUNCTION h.two_statements() RETURNS SETOF text STABLE LANGUAGE sql AS 'SELECT city FROM h.patients; SELECT diagnosis FROM h.patients';
CREATE FUNCTION h.standard_body(wanted int) RETURNS text STABLE BEGIN ATOMIC SELECT diagnosis FROM h.patients WHERE id = wanted; END;
CREATE FUNCTION h.standard_return(wanted int) RETURNS text STABLE RETURN (SELECT diagnosis FROM h.patients WHERE id = wanted);
CREATE FUNCTION h.polymorphic(anyelement) RETURNS SETOF anyelement STABLE LANGUAGE sql AS 'SELECT $1 FROM h.patients WHERE diagnosis = $1::text';
CREATE FUNCTION h.with_set() RETURNS SETOF text STABLE SET work_mem = '1MB' LANGUAGE sql AS 'SELECT diagnosis FROM h.patients';
CREATE FUNCTION h.definer() RETURNS SETOF text STABLE SECURITY DEFINER LANGUAGE sql AS 'SELECT diagnosis FROM h.patients';
CREATE FUNCTION h.strict_set(int) RETURNS SETOF text STABLE STRICT LANGUAGE sql AS 'SELECT diagnosis FROM h.patients WHERE id = $1';
-- plpgsql
CREATE FUNCTION h.static() RETURNS text LANGUAGE plpgsql AS $$DECLARE r text; BEGIN SELECT diagnosis INTO r FROM h.patients WHERE id = 1; RETURN r; END$$;
CREATE FUNCTION h.assigned() RETURNS text LANGUAGE plpgsql AS $$DECLARE r text := (SELECT diagnosis FROM h.patients WHERE id = 1); BEGIN r := (SELECT diagnosis FROM h.patients WHERE id = 1); RETURN r; END$$;
CREATE FUNCTION h.dynamic(int) RETURNS text LANGUAGE plpgsql AS $$DECLARE r text; BEGIN EXECUTE 'SELECT diag' || 'nosis FROM h.patients WHERE id = $1' INTO r USING $1; RETURN r; END$$;
CREATE FUNCTION h.looping() RETURNS text LANGUAGE plpgsql AS $$DECLARE r record; a text = ''; BEGIN FOR r IN SELECT diagnosis FROM h.patients LOOP a := a || r.diagnosis; END LOOP; RETURN a; END$$;
CREATE FUNCTION h.looping_dynamic() RETURNS text LANGUAGE plpgsql AS $$DECLARE r record; a text = ''; BEGIN FOR r IN EXECUTE 'SELECT diagnosis FROM h.patients' LOOP a := a || r.diagnosis; END LOOP; RETURN a; END$$;
CREATE FUNCTION h.repeated(times int) RETURNS void LANGUAGE plpgsql AS $$BEGIN FOR i IN 1 .. times LOOP PERFORM diagnosis FROM h.patients WHERE id = i; END LOOP; END$$;
CREATE FUNCTION h.returning_query() RETURNS SETOF text LANGUAGE plpgsql AS $$BEGIN RETURN QUERY SELECT diagnosis FROM h.patients; RETURN QUERY EXECUTE 'SELECT diagnosis FROM h.patients'; END$$;
CREATE FUNCTION h.condition() RETURNS int LANGUAGE plpgsql AS $$BEGIN IF EXISTS (SELECT 1 FROM h.patients WHERE diagnosis = 'd1') THEN RETURN 1; END IF; RETURN 0; END$$;
CREATE FUNCTION h.cursor_of() RETURNS refcursor LANGUAGE plpgsql AS $$DECLARE c refcursor := 'mine'; BEGIN OPEN c FOR SELECT diagnosis FROM h.patients; RETURN c; END$$;
CREATE FUNCTION h.cursor_loop() RETURNS int LANGUAGE plpgsql AS $$DECLARE c CURSOR FOR SELECT diagnosis FROM h.patients; n int = 0; BEGIN FOR r IN c LOOP n := n + 1; END LOOP; RETURN n; END$$;
CREATE FUNCTION h.swallowed() RETURNS int LANGUAGE plpgsql AS $$BEGIN PERFORM 1 / (id - 50) FROM h.patients; RETURN 1; EXCEPTION WHEN division_by_zero THEN RETURN 0; END$$;
CREATE FUNCTION h.recursive(n int) RETURNS text LANGUAGE plpgsql AS $$BEGIN PERFORM diagnosis FROM h.patients WHERE id = n; IF n > 1 THEN PERFORM h.recursive(n - 1); END IF; RETURN ''; END$$;
CREATE FUNCTION h.constant() RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT string_agg(diagnosis, ',') FROM h.patients); END$$;
CREATE FUNCTION h.in_worker() RETURNS text PARALLEL SAFE LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT string_agg(city, ',') FROM h.patients); END$$;
CREATE PROCEDURE h.committing() LANGUAGE plpgsql AS $$BEGIN PERFORM diagnosis FROM h.patients; COMMIT; PERFORM diagnosis FROM h.patients; ROLLBACK; PERFORM diagnosis FROM h.patients; END$$;
CREATE PROCEDURE h.cursor_over_commit() LANGUAGE plpgsql AS $$DECLARE r record; BEGIN FOR r IN SELECT diagnosis FROM h.patients WHERE id < 4 LOOP COMMIT; END LOOP; END$$;
CREATE PROCEDURE h.in_sql() LANGUAGE sql AS 'SELECT diagnosis FROM h.patients; SELECT diagnosis FROM h.patients';
CREATE PROCEDURE h.argument(INOUT a text) LANGUAGE plpgsql AS 'BEGIN a := a || 1; END';
-- triggers
CREATE FUNCTION h.stealing() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO h.loot SELECT diagnosis FROM h.patients; RETURN NULL; END$$;
CREATE FUNCTION h.comparing() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM p.diagnosis FROM news n, h.patients p WHERE p.id = n.id; RETURN NULL; END$$;
SQL

# --- SQL functions ------------------------------------------------------------------------------------------------------
path "a scalar function that is folded in" "$read" "SELECT h.inlined_scalar(diagnosis) FROM patients"
path "a scalar function with a query" "$outer; $by_id" "SELECT h.scalar(1)"
path "a scalar function with a query, for three rows" "cmd:select p:h.bait.id t:h.bait; $by_id x3" "SELECT h.scalar_volatile(id) FROM bait"
path "a set-returning function that is folded in" "$read" "SELECT * FROM h.inlined_set()"
path "of its columns those that are used" "cmd:select p:h.patients.diagnosis t:h.patients w:h.patients.id" "SELECT d FROM h.inlined_table(5)"
path "in a generic plan" "cmd:select p:h.patients.diagnosis t:h.patients w:h.patients.id x8" "PREPARE p(int) AS SELECT d FROM h.inlined_table(\$1)" \
  "EXECUTE p(1)" "EXECUTE p(2)" "EXECUTE p(3)" "EXECUTE p(4)" "EXECUTE p(5)" "EXECUTE p(6)" "EXECUTE p(7)" "EXECUTE p(8)"
path "LATERAL" "cmd:select p:h.bait.id p:h.patients.diagnosis t:h.bait t:h.patients w:h.bait.id w:h.patients.id" "SELECT b.id, d FROM bait b, LATERAL h.inlined_table(b.id)"
path "a function within a function" "$read" "SELECT * FROM h.nested_set()"
path "a set-returning function that is not folded in" "$outer; $read" "SELECT * FROM h.volatile_set()"
path "in the list of outputs" "$outer; $read" "SELECT h.inlined_set()"
path "WITH ORDINALITY" "$outer; $read" "SELECT * FROM h.inlined_set() WITH ORDINALITY"
path "ROWS FROM" "$outer; $read x2" "SELECT * FROM ROWS FROM (h.inlined_set(), h.inlined_set())"
path "with SET" "$outer; $read" "SELECT * FROM h.with_set()"
path "STRICT" "$outer; $by_id" "SELECT * FROM h.strict_set(1)"
path "security definer" "$outer; $read" "SELECT * FROM h.definer()"
path "two statements" "$outer; cmd:select p:h.patients.city t:h.patients; $read" "SELECT * FROM h.two_statements()"
path "an SQL-standard body" "$outer; $by_id" "SELECT h.standard_body(1)"
path "an SQL-standard RETURN" "$outer; $by_id" "SELECT h.standard_return(1)"
path "polymorphic" "cmd:select t:h.patients w:h.patients.diagnosis" "SELECT * FROM h.polymorphic('d1'::text)"
path "a function in WHERE" "cmd:select t:h.bait; $by_id x3" "SELECT 1 FROM bait WHERE h.scalar_volatile(1) = 'x'"
path "a function while a statement is planned" "$read_all" "EXPLAIN (VERBOSE) SELECT h.constant()"
path "a function in LIMIT" "$outer; $by_id" "SELECT 1 LIMIT length(h.scalar_volatile(1))"
path "a function as argument of EXECUTE" "$by_id" "PREPARE p(text) AS SELECT \$1" "EXECUTE p(h.scalar_volatile(1))"
path "a function in SET of a savepoint's name, set_config" "$outer; $by_id" "SELECT set_config('my.diagnosis', h.scalar_volatile(1), false)"

# --- plpgsql --------------------------------------------------------------------------------------------------------------
path "a static statement" "$outer; $by_id" "SELECT h.static()"
path "expressions with a query" "$outer; $by_id x2" "SELECT h.assigned()"
path "dynamic SQL" "$outer; $by_id" "SELECT h.dynamic(1)"
path "FOR" "$outer; $read" "SELECT h.looping()"
path "FOR ... EXECUTE" "$outer; $read" "SELECT h.looping_dynamic()"
path "ten executions of one plan" "$outer; $by_id x10" "SELECT h.repeated(10)"
path "RETURN QUERY and RETURN QUERY EXECUTE" "$outer; $read x2" "SELECT * FROM h.returning_query()"
path "IF EXISTS" "$outer; cmd:select t:h.patients w:h.patients.diagnosis" "SELECT h.condition()"
path "a cursor given out" "$outer; $read" "BEGIN" "SELECT h.cursor_of()" "FETCH 5 FROM mine" "FETCH ALL FROM mine" "COMMIT"
path "a loop over a cursor" "$outer; $read" "SELECT h.cursor_loop()"
path "an exception that is caught" "$outer; cmd:select p:h.patients.id t:h.patients" "SELECT h.swallowed()"
path "recursion" "$outer; $by_id; $outer; $by_id; $outer; $by_id" "SELECT h.recursive(3)"
path "DO" "$read" "DO \$\$BEGIN PERFORM diagnosis FROM h.patients; END\$\$"
path "DO with dynamic SQL in pieces" "$read" "DO \$\$BEGIN EXECUTE format('SEL%s %I FROM %I.%I', 'ECT', 'diagnosis', 'h', 'patients'); END\$\$"
path "DO in DO" "$read" "DO \$\$BEGIN EXECUTE 'DO \$x\$BEGIN PERFORM diagnosis FROM h.patients; END\$x\$'; END\$\$"
path "a function twice in a session" "$outer; $by_id; $outer; $by_id" "SELECT h.static()" "SELECT h.static()"
# A parallel worker's reads are a session of their own, in the name of the same role.
path "a function in a parallel worker" "$outer" "SET $forced_parallel = on" "SET parallel_leader_participation = off" "SELECT h.in_worker()"
check_true "counted: what the function in the parallel worker reads" wait_for "SELECT count(*) FROM privacy_score.session s
  JOIN privacy_score.session_part p ON p.session_id = s.id WHERE s.role = 'mallory'
   AND (SELECT array_agg(array_to_string(a.tokens, ' ')) FROM privacy_score.abstraction a WHERE a.id = ANY (p.ids)) = '{cmd:select f:string_agg(h.patients.city) p:h.patients.city t:h.patients}' AND p.runs = '{1}'" 1

# --- procedures -----------------------------------------------------------------------------------------------------------
path "CALL, with COMMIT and ROLLBACK inside" "$read x3" "CALL h.committing()"
path "CALL, with COMMIT in a loop" "$by_id" "CALL h.cursor_over_commit()"
path "CALL of an SQL procedure" "$read x2" "CALL h.in_sql()"
path "CALL with an argument that reads" "$by_id" "CALL h.argument(h.scalar_volatile(1))"
path "CALL in DO" "$read x3" "DO \$\$BEGIN CALL h.committing(); END\$\$"

# --- triggers ---------------------------------------------------------------------------------------------------------------
on_bait() { echo "CREATE TRIGGER t $1 EXECUTE FUNCTION h.$2()"; }
path "a row trigger" "cmd:insert s:h.bait.id t:h.bait; $steal x2" "BEGIN" "$(on_bait 'AFTER INSERT ON bait FOR EACH ROW' stealing)" "INSERT INTO bait VALUES (10), (11)" "ROLLBACK"
path "a BEFORE trigger that forbids the row" "cmd:insert s:h.bait.id t:h.bait; $steal" "BEGIN" "$(on_bait 'BEFORE INSERT ON bait FOR EACH ROW' stealing)" "INSERT INTO bait VALUES (10)" "ROLLBACK"
path "a statement trigger" "cmd:insert s:h.bait.id t:h.bait; $steal" "BEGIN" "$(on_bait 'AFTER INSERT ON bait' stealing)" "INSERT INTO bait VALUES (10), (11)" "ROLLBACK"
path "a transition table" "cmd:insert s:h.bait.id t:h.bait; cmd:select p:h.patients.diagnosis t:h.bait t:h.patients w:h.bait.id w:h.patients.id" "BEGIN" \
  "CREATE TRIGGER t AFTER INSERT ON bait REFERENCING NEW TABLE AS news EXECUTE FUNCTION h.comparing()" "INSERT INTO bait VALUES (10)" "ROLLBACK"
path "a deferred trigger" "cmd:insert s:h.late.id t:h.late; $steal" \
  "CREATE CONSTRAINT TRIGGER t AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION h.stealing()" "INSERT INTO late VALUES (10)"
path "a trigger on TRUNCATE" "$steal" "BEGIN" "$(on_bait 'BEFORE TRUNCATE ON bait' stealing)" "TRUNCATE bait" "ROLLBACK"
path "a trigger fired by COPY FROM" "$steal" "BEGIN" "$(on_bait 'AFTER INSERT ON bait' stealing)" "COPY bait FROM STDIN" "ROLLBACK"
path "a trigger's WHEN with a function" "cmd:insert s:h.bait.id t:h.bait; $by_id; $steal" "BEGIN" \
  "CREATE TRIGGER t AFTER INSERT ON bait FOR EACH ROW WHEN (h.scalar_volatile(NEW.id) IS NULL) EXECUTE FUNCTION h.stealing()" "INSERT INTO bait VALUES (101)" "ROLLBACK"
path "an INSTEAD OF trigger" "cmd:insert s:pg_temp.*.1 t:pg_temp.*; $steal" "CREATE TEMP VIEW v AS SELECT d FROM loot" \
  "CREATE TRIGGER t INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION h.stealing()" "INSERT INTO v VALUES ('x')"
path "a trigger within a cascade" "cmd:delete t:h.parent; $steal" "BEGIN" "CREATE TRIGGER t BEFORE DELETE ON child FOR EACH ROW EXECUTE FUNCTION h.stealing()" \
  "DELETE FROM parent" "ROLLBACK"
refused "an event trigger" 42501 "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION h.stealing()"

q "CREATE FUNCTION h.on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM diagnosis FROM h.patients; END'" \
  "CREATE EVENT TRIGGER e ON ddl_command_end WHEN TAG IN ('CREATE SEQUENCE') EXECUTE FUNCTION h.on_ddl()" >/dev/null
path "an event trigger of somebody else" "$read" "CREATE TEMP SEQUENCE x"
q "DROP EVENT TRIGGER e" >/dev/null

# --- expressions that are stored ----------------------------------------------------------------------------------------------
index_function="CREATE FUNCTION h.indexed(int) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT diagnosis FROM h.patients WHERE id = \$1); END'"
as_mallory "$index_function" >/dev/null
path "an index expression" "$by_id x3" "BEGIN" "CREATE INDEX ON bait (h.indexed(id))" "ROLLBACK"
path "an index expression, for a new row" "cmd:insert s:pg_temp.*.1 t:pg_temp.*; $by_id" "CREATE TEMP TABLE t (id int)" "CREATE INDEX ON t (h.indexed(id))" "INSERT INTO t VALUES (1)"
path "a CHECK constraint" "cmd:insert s:pg_temp.*.1 t:pg_temp.*; $by_id" "CREATE TEMP TABLE t (id int CHECK (h.indexed(id) IS NOT NULL))" "INSERT INTO t VALUES (1)"
path "a CHECK constraint that is validated" "$by_id x3" "BEGIN" "ALTER TABLE bait ADD CHECK (h.indexed(id) <> '')" "ROLLBACK"
path "a DEFAULT, folded by the planner" "$by_id; cmd:insert s:pg_temp.*.1 t:pg_temp.*" "CREATE TEMP TABLE t (id int, d text DEFAULT h.indexed(1))" "INSERT INTO t (id) VALUES (1)"
path "a generated column" "cmd:insert s:pg_temp.*.1 t:pg_temp.*; $by_id" "CREATE TEMP TABLE t (id int, d text GENERATED ALWAYS AS (h.indexed(id)) STORED)" "INSERT INTO t (id) VALUES (1)"
path "a column that is added with a DEFAULT" "$by_id x3" "BEGIN" "ALTER TABLE bait ADD d text DEFAULT h.scalar_volatile(1)" "ROLLBACK"
path "ALTER TYPE ... USING" "$by_id x3" "BEGIN" "ALTER TABLE bait ALTER id TYPE text USING id || h.indexed(id)" "ROLLBACK"
path "a domain" "$by_id" "BEGIN" "CREATE DOMAIN pg_temp.d AS int CHECK (h.indexed(VALUE) IS NOT NULL)" "SELECT 1::pg_temp.d" "ROLLBACK"
path "a partition key" "cmd:insert s:pg_temp.*.1 t:pg_temp.*; $by_id x2" "CREATE TEMP TABLE r (id int) PARTITION BY LIST (h.indexed(id))" \
  "CREATE TEMP TABLE l PARTITION OF r DEFAULT" "INSERT INTO r VALUES (1), (2)"
path "a policy of one's own" "cmd:select p:h.bait.id t:h.bait; $by_id x3" "BEGIN" "ALTER TABLE bait ENABLE ROW LEVEL SECURITY" "ALTER TABLE bait FORCE ROW LEVEL SECURITY" \
  "CREATE POLICY p ON bait USING (h.scalar_volatile(id) IS NOT NULL)" "SELECT id FROM bait" "ROLLBACK"
path "statistics on an expression, during ANALYZE" "~^$by_id x[0-9]+$" "CREATE STATISTICS h.s ON (h.indexed(id)), (id + 1) FROM bait" "ANALYZE bait" "DROP STATISTICS h.s"

# --- operators, casts and aggregates of one's own -----------------------------------------------------------------------------
as mallory q_script >/dev/null <<'SQL' || bail_out "the operators cannot be made"
CREATE FUNCTION h.same(text, int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN true; END';
CREATE OPERATOR h.= (LEFTARG = text, RIGHTARG = int, FUNCTION = h.same);
CREATE TYPE h.mine AS (x text);
CREATE FUNCTION h.to_mine(text) RETURNS h.mine LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN ROW($1); END';
CREATE FUNCTION h.same_mine(h.mine, h.mine) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN $1.x = $2.x; END';
CREATE OPERATOR h.= (LEFTARG = h.mine, RIGHTARG = h.mine, FUNCTION = h.same_mine);
CREATE CAST (text AS h.mine) WITH FUNCTION h.to_mine(text) AS IMPLICIT;
CREATE FUNCTION h.next(int, text) RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $2; RETURN $1 + 1; END';
CREATE AGGREGATE h.count(text) (SFUNC = h.next, STYPE = int, INITCOND = '0');
CREATE FUNCTION h.told(text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN $1; END';
CREATE DOMAIN h.telling AS text CHECK (h.told(VALUE) IS NOT NULL);
CREATE DOMAIN h.quiet AS text CHECK (VALUE <> '');
CREATE FUNCTION h.folded(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT upper($1)';
SQL
counted="cmd:select f:count(h.patients.diagnosis) p:h.patients.diagnosis t:h.patients"
path "an operator = of one's own is no join" "cmd:select p:h.patients.diagnosis p:h.visits.id t:h.patients t:h.visits w:h.patients.diagnosis w:h.visits.id" "SELECT 1 FROM patients p JOIN visits v ON p.diagnosis OPERATOR(h.=) v.id"
path "a join over an implicit cast of one's own" "cmd:select p:h.patients.city p:h.patients.diagnosis t:h.patients w:h.patients.city w:h.patients.diagnosis" \
  "SELECT 1 FROM patients p JOIN patients q ON p.diagnosis::h.mine OPERATOR(h.=) q.city::h.mine"
path "a cast of one's own" "$read" "SELECT diagnosis::h.mine FROM patients"
path "an aggregate of one's own that is named count" "cmd:select f:h.count(h.patients.diagnosis) p:h.patients.diagnosis t:h.patients" "SELECT h.count(diagnosis) FROM patients"
path "the server's functions under an aggregate tell nothing" "cmd:select f:count(h.patients.diagnosis) t:h.patients x2" "SELECT pg_catalog.count(upper(diagnosis)) FROM patients" "SELECT pg_catalog.count(diagnosis::h.quiet) FROM patients"
path "a function that tells, under an aggregate" "$counted" "SELECT pg_catalog.count(h.told(diagnosis)) FROM patients"
path "pg_notify under an aggregate" "$counted" "SELECT pg_catalog.count(pg_notify('x', diagnosis)) FROM patients"
path "a cast of one's own under an aggregate" "$counted" "SELECT pg_catalog.count(diagnosis::h.mine) FROM patients"
path "a cast of one's own of an array" "$counted" "SELECT pg_catalog.count(ARRAY[diagnosis]::h.mine[]) FROM patients"
path "an operator of one's own in CASE" "cmd:select e:h.patients.diagnosis f:count(h.patients.diagnosis) p:h.patients.diagnosis t:h.patients" "SET search_path = h, pg_catalog" "SELECT pg_catalog.count(CASE diagnosis WHEN 1 THEN 2 END) FROM patients"
path "a domain that tells" "$counted" "SELECT pg_catalog.count(diagnosis::h.telling) FROM patients"
path "a function in SQL, whatever it is" "$counted" "SELECT pg_catalog.count(h.folded(diagnosis)) FROM patients"
path "a function that tells, in ORDER BY" "cmd:select o:h.patients.diagnosis p:h.patients.city p:h.patients.diagnosis t:h.patients" "SELECT city FROM patients ORDER BY h.told(diagnosis)"
path "a function that tells, in WHERE" "cmd:select p:h.patients.diagnosis t:h.patients w:h.patients.diagnosis" "SELECT 1 FROM patients WHERE h.told(diagnosis) IS NULL"
path "a function that tells, in an output that nobody uses" "cmd:select f:count(*) p:h.patients.diagnosis t:h.patients" "SELECT count(*) FROM (SELECT h.told(diagnosis) FROM patients OFFSET 0) x"
path "a function that tells, in FROM" "cmd:select f:count(*) p:h.patients.diagnosis t:h.patients" "SELECT count(*) FROM patients, LATERAL h.told(diagnosis)"
path "a function that tells, in FROM, under an aggregate" "$counted" "SELECT pg_catalog.count(x) FROM patients, LATERAL h.told(diagnosis) x"
path "a function that tells, of what is written" "cmd:update p:h.loot.d s:h.loot.d t:h.loot" "UPDATE loot SET d = h.told(d)"
path "a function that tells a count" "cmd:select f:count(h.patients.diagnosis) t:h.patients" "SELECT h.told(pg_catalog.count(diagnosis)::text) FROM patients"

verify_paths
done_testing

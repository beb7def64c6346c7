#!/bin/bash
# What an analyst tries with joins within rows of persons: a join or a sub-select that fails only when a certain row
# reaches it, persons that are counted more than once, a row that is taken for one and comes several times, rows of
# others that public rows stand in for, plans that the server cannot make.
. "$(dirname "$0")/../lib.sh"
start_server "privacy_score.dp_max_epsilon = 1000" "privacy_score.dp_epsilon = 1000"
q "CREATE EXTENSION privacy_score" >/dev/null
# From 18 on a foreign key has the collation of what it refers to, where equal texts of that differ in bytes.
if [ "$ps_major" -ge 18 ]; then other=either_case; else other=C; fi
psql -qX -v other=$other <<'SQL' >/dev/null
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, smoker boolean NOT NULL, department_id int NOT NULL REFERENCES departments, seen timestamptz NOT NULL);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, department_id int NOT NULL REFERENCES departments, cost int NOT NULL);
CREATE TABLE stays (stay int PRIMARY KEY, patient_id int UNIQUE REFERENCES patients, cost int);
CREATE TABLE places (hospital int, bed int, PRIMARY KEY (hospital, bed));
CREATE TABLE uses (use_id int PRIMARY KEY, a int, b int, FOREIGN KEY (b, a) REFERENCES places (hospital, bed));
CREATE TABLE spans (span interval PRIMARY KEY);
CREATE TABLE span_uses (use_id int PRIMARY KEY, span interval REFERENCES spans);
CREATE TABLE moments (moment timestamptz PRIMARY KEY);
CREATE TABLE moment_uses (use_id int PRIMARY KEY, moment timestamp REFERENCES moments);
CREATE TABLE objects (id jsonb PRIMARY KEY);
CREATE COLLATION either_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE names (name text COLLATE either_case PRIMARY KEY);
CREATE TABLE name_uses (use_id int PRIMARY KEY, name text COLLATE :"other" REFERENCES names);
INSERT INTO departments SELECT i, 'D' || i FROM generate_series(1, 6) i;
INSERT INTO patients SELECT i, 'City ' || i % 7, i % 3 = 0, 1 + i % 6, timestamptz '2024-03-31 01:00+00' + i % 60 * interval '1 minute' FROM generate_series(1, 600) i;
INSERT INTO visits SELECT i, 1 + i % 600, 1 + i % 5, i % 90 FROM generate_series(1, 1800) i;
INSERT INTO stays SELECT i, i, i FROM generate_series(1, 300) i;
INSERT INTO places SELECT i % 10, i / 10 FROM generate_series(0, 99) i;
INSERT INTO uses SELECT i, i % 100 / 10, i % 10 FROM generate_series(0, 299) i;
INSERT INTO names VALUES ('ann');
INSERT INTO name_uses VALUES (1, 'ann'), (2, 'Ann'), (3, 'ANN');
SELECT privacy_score.protect(r, CASE r WHEN 'uses' THEN '{a,b}'::text[] WHEN 'span_uses' THEN '{span}' WHEN 'moment_uses' THEN '{moment}' WHEN 'name_uses' THEN '{name}' WHEN 'visits' THEN '{patient_id}' WHEN 'stays' THEN '{patient_id}' END)
  FROM unnest('{visits,stays,uses,span_uses,moment_uses,name_uses}'::text[]) r;
SELECT privacy_score.protect(r) FROM unnest('{patients,places,spans,moments,objects,names}'::text[]) r;
CREATE TABLE secrets (id int PRIMARY KEY, secret text NOT NULL);
CREATE ROLE ana LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
GRANT CREATE ON SCHEMA public TO ana;
GRANT SELECT ON departments TO ana;
SELECT privacy_score.dp_grant_person('ana', r::regclass, 10000000, delta => 0.01) FROM unnest('{patients,places,spans,moments,objects,names}'::text[]) r;
SQL
ana() { as ana q "$@"; }
said() { as ana q "\\set VERBOSITY verbose" "SET TimeZone = 'Europe/Berlin'" "$@" 2>/dev/null | sed -n 's/^ERROR: *//p'; }
check_said() { check "$1" "$(said "${@:3}")" "$2"; }
same() { check "$1" "$(ana "$2")" "$(q "$2")"; }
spent() { q "SELECT sum(spent) FROM privacy_score.dp_budget WHERE role = 'ana'"; }
psql -qX -U ana <<'SQL' >/dev/null
CREATE TABLE mixed (a text COLLATE "C", b text COLLATE "POSIX");
INSERT INTO mixed VALUES ('x', 'y');
-- On that night 02:30 and 03:30 are the same moment in Berlin.
CREATE TABLE clocks (at timestamp PRIMARY KEY);
INSERT INTO clocks SELECT timestamp '2024-03-31 02:00' + i * interval '1 minute' FROM generate_series(0, 119) i;
CREATE VIEW of_secrets AS SELECT * FROM secrets;
SQL

# --- one row is reached or not: what fails there is refused before, for all rows
before=$(spent)
reached="p.patient_id = 6 AND p.smoker"
collations="PS003: texts of several collations meet in one expression"
for expression in "m.a = m.b" "m.a IN (m.b, 'x')" "NULLIF(m.a, m.b) IS NULL" "m.a IS DISTINCT FROM m.b" "upper(m.a || m.b) = 'XY'" "greatest(m.a, m.b) = 'y'" \
  "position(m.a IN m.b) > 0" "m.a = ANY (ARRAY[m.b])" "m.a IN (SELECT b FROM mixed)" "(SELECT max(a || b) FROM mixed) = 'x'" "CASE m.a WHEN m.b THEN true END"; do
  check_said "two collations: $expression" "$collations" "SELECT count(*) FROM patients p, mixed m WHERE CASE WHEN $reached THEN $expression END"
done
check_said "a collation that functions do not take" "PS003: a nondeterministic collation is not allowed on rows of persons" \
  "SELECT count(*) FROM patients p WHERE CASE WHEN $reached THEN strpos(p.city COLLATE either_case, 'x') > 0 END"
several="PS003: a sub-select as a value may have several rows"
for value in "SELECT d.department_id FROM departments d, LATERAL (SELECT d.department_id AS k) x WHERE d.department_id = x.k" \
  "SELECT d.department_id FROM departments d, LATERAL (VALUES (d.department_id)) x(k) WHERE d.department_id = x.k" \
  "SELECT d.department_id FROM departments d, LATERAL (SELECT max(e.department_id) AS k FROM departments e WHERE e.department_id = d.department_id) x WHERE d.department_id = x.k" \
  "SELECT 1 FROM clocks c WHERE c.at = p.seen" "SELECT 1 FROM clocks c WHERE c.at = p.seen AND c.at::date = current_date"; do
  check_said "several rows as a value: $value" "$several" "SELECT count(*) FROM patients p WHERE CASE WHEN $reached THEN ($value) END IS NULL"
done
check "none of these is charged" "$(spent)" "$before"
same "a unique key is one row still" "SELECT count(*) FROM patients p WHERE (SELECT d.name FROM departments d WHERE d.department_id = p.department_id) = 'D2'"
same "texts of one collation meet" "SELECT count(*) FROM patients p JOIN mixed m ON greatest(p.city, m.a) > 'City 3' AND m.a COLLATE \"C\" < m.b COLLATE \"C\""
# A cursor keeps its plan when the key that it relies on is gone.
check "a value that has several rows since the query was planned" "$(as ana q_state "CREATE TABLE own (id int PRIMARY KEY, x int NOT NULL)" "INSERT INTO own VALUES (1, 1)" "BEGIN" \
  "DECLARE c CURSOR FOR SELECT count(*) FROM patients p WHERE CASE WHEN $reached THEN (SELECT o.x FROM own o WHERE o.id = 1) END IS NULL" \
  "ALTER TABLE own DROP CONSTRAINT own_pkey" "INSERT INTO own VALUES (1, 2)" "FETCH c")" "PS003"

# --- a row that comes several times is not taken for one
once() { ana "EXPLAIN (COSTS OFF) $1" | grep -c 'Epsilon Once'; }
for from in "departments d, LATERAL (SELECT patient_id, d.department_id AS k FROM patients) x WHERE d.department_id = x.k" \
  "patients p, departments d, LATERAL (SELECT d.department_id AS k) x WHERE d.department_id = x.k" \
  "patients p, departments d, LATERAL (VALUES (d.department_id)) x(k) WHERE d.department_id = x.k"; do
  check "measured: $from" "$(once "SELECT count(*) FROM $from")" "1"
  same "and counted: $from" "SELECT count(*) FROM $from"
done
check "so are times with a zone that several without are equal to" "$(once "SELECT count(*) FROM patients p JOIN clocks c ON c.at = p.seen")" "1"
check "but not a key" "$(once "SELECT count(*) FROM patients p JOIN departments d USING (department_id) WHERE p.city > 'City 2'")" "0"

# --- one person is one, however she is written
check_said "months and days" "PS003: persons of \"spans\" cannot be told apart by type interval" "SELECT count(*) FROM span_uses"
check_said "objects of numbers" "PS003: persons of \"objects\" cannot be told apart by type jsonb" "SELECT count(*) FROM objects"
check_said "a text that is equal in any case" "PS003: persons of \"names\" cannot be told apart by type text" "SELECT count(*) FROM names"
check_said "and one that refers to it" "PS003: persons of \"names\" cannot be told apart by type text" "SELECT count(DISTINCT name) FROM name_uses"
check_said "a time without the zone that it has at home" "PS003: persons of \"moments\" cannot be told apart by type timestamp without time zone" "SELECT count(*) FROM moment_uses"
same "persons of two columns are joined in the order that they have at home" "SELECT count(*) FROM uses u JOIN places p ON u.b = p.hospital AND u.a = p.bed"
check_said "not in another" "PS003: a query level joins rows of different persons" "SELECT count(*) FROM uses u JOIN places p ON u.a = p.hospital AND u.b = p.bed"

# --- public rows that stay: what is joined to a missing row is missing
lost="PS003: an outer join keeps rows that are no person's beside rows of persons"
stay="departments d LEFT JOIN visits v ON v.department_id = d.department_id"
for on in "e.department_id = 1 AND v.visit_id IS NULL" "e.department_id = coalesce(v.visit_id, 1)" "e.department_id = 1 AND (v.cost > 5) IS NOT TRUE" "CASE WHEN v.cost > 5 THEN false ELSE e.department_id = 1 END"; do
  check_said "joined where none is there: $on" "$lost" "SELECT d.name, count(e.department_id) FROM $stay LEFT JOIN departments e ON $on GROUP BY 1"
done
same "joined to what is there" "SELECT d.name, count(e.name) FROM $stay LEFT JOIN departments e ON e.department_id = v.visit_id GROUP BY 1 ORDER BY 1"
same "joined to public rows" "SELECT d.name, e.name, count(v.visit_id) FROM $stay LEFT JOIN departments e ON e.department_id = d.department_id + 1 GROUP BY 1, 2 ORDER BY 1, 2"
same "to public rows that are joined without an equality" "SELECT d.name, count(v.visit_id) FROM ($stay) LEFT JOIN departments e ON e.department_id > d.department_id GROUP BY 1 ORDER BY 1"

# --- plans: conditions that tie persons stay where a constant makes them look idle
# How many rows of a person count is said: of one person, or of six, a histogram does not tell.
bounded() { check "$1" "$(ana "SET privacy_score.dp_max_rows = 4" "$2")" "$(q "$2")"; }
bounded "one person, by a constant" "SELECT count(*) FROM patients p JOIN visits v USING (patient_id) WHERE p.patient_id = 5"
bounded "in three relations" "SELECT count(*) FROM patients p JOIN visits v USING (patient_id) LEFT JOIN stays s USING (patient_id) WHERE v.patient_id = 5 AND s.patient_id = 5"
bounded "by a sub-select" "SELECT count(*) FROM patients p JOIN visits v USING (patient_id) WHERE p.patient_id = (SELECT max(department_id) FROM departments)"
bounded "by a public row" "SELECT count(*) FROM patients p JOIN visits v USING (patient_id) JOIN departments d ON d.department_id = p.patient_id WHERE d.department_id = 3"
same "within what groups her rows" "SELECT count(*), count(*) FILTER (WHERE n = 3) FROM (SELECT patient_id, count(*) AS n FROM visits WHERE patient_id = 5 GROUP BY 1) v JOIN patients USING (patient_id)"
prepared="PREPARE a(int, text) AS SELECT count(*) FROM patients p JOIN visits v USING (patient_id) WHERE p.patient_id = \$1 AND p.city = \$2"
check "by parameters of a generic plan" "$(ana "SET plan_cache_mode = force_generic_plan" "$prepared" "EXECUTE a(5, 'City 5')" "EXECUTE a(6, 'City 6')" "EXECUTE a(6, 'City 5')" "EXECUTE a(NULL, NULL)" | paste -sd'|')" "3|3|0|0"
before=$(spent)
for from in "departments d, LATERAL (SELECT v.patient_id, count(*) FROM visits v WHERE v.department_id = d.department_id GROUP BY 1) x" \
  "patients p JOIN LATERAL (SELECT DISTINCT v.patient_id FROM visits v WHERE v.patient_id = p.patient_id) x USING (patient_id)"; do
  check_said "what cannot be hashed: $from" "PS003: rows of persons cannot be joined with these others as they come" "SELECT count(*) FROM $from"
done
check "costs nothing" "$(spent)" "$before"

# --- one person less changes what she had, and no more
queries=("SELECT count(*) FROM patients p LEFT JOIN visits v USING (patient_id)" "SELECT count(*) FROM patients p LEFT JOIN stays s USING (patient_id) WHERE s.stay IS NULL"
  "SELECT n, count(*) FROM (SELECT p.patient_id, count(v.visit_id) AS n FROM patients p LEFT JOIN visits v USING (patient_id) GROUP BY 1) x WHERE n BETWEEN 0 AND 4 GROUP BY 1 ORDER BY 1"
  "SELECT d.name, count(v.visit_id), count(DISTINCT v.patient_id) FROM $stay LEFT JOIN stays s ON s.patient_id = v.patient_id GROUP BY 1 ORDER BY 1"
  "WITH a AS (SELECT patient_id, count(*) AS n FROM visits GROUP BY 1) SELECT count(*) FROM a x JOIN a y USING (patient_id) WHERE x.n = y.n"
  "SELECT count(*) FROM (SELECT patient_id FROM visits GROUP BY 1, visit_id % 7 HAVING max(cost) > (SELECT max(department_id) FROM departments)) x")
for query in "${queries[@]}"; do check "with her: $query" "$(ana "SET privacy_score.dp_epsilon = 900" "$query")" "$(q "$query")"; done
q "DELETE FROM stays WHERE patient_id = 5" "DELETE FROM visits WHERE patient_id = 5" "DELETE FROM patients WHERE patient_id = 5"
for query in "${queries[@]}"; do
  check "without her: $query" "$(ana "$query")" "$(q "$query")" # a larger epsilon: it is asked anew
done

# --- rights: what is public is read as who asks, wherever it stands
denied="42501: permission denied for table secrets"
for query in "SELECT count(*) FROM (SELECT patient_id, max(s.secret) AS m FROM patients p JOIN secrets s ON s.id = p.department_id GROUP BY 1) x" \
  "SELECT s.id, count(v.visit_id) FROM of_secrets s LEFT JOIN visits v ON s.id = v.department_id GROUP BY 1" \
  "SELECT EXISTS (SELECT FROM secrets s WHERE s.id = d.department_id), count(v.visit_id) FROM departments d LEFT JOIN visits v USING (department_id) GROUP BY 1" \
  "SELECT d.name, count(v.visit_id) FROM departments d LEFT JOIN visits v ON v.department_id = d.department_id AND EXISTS (SELECT FROM secrets) GROUP BY 1" \
  "SELECT count(*) FROM (SELECT patient_id FROM visits GROUP BY 1 HAVING count(*) > (SELECT max(id) FROM of_secrets)) x" \
  "WITH s AS (SELECT id FROM secrets) SELECT count(*) FROM patients p WHERE department_id IN (TABLE s)"; do
  check_said "$query" "$denied" "$query"
done
check "the server did not end" "$(grep -cE 'was terminated|PANIC|XX000' "$ps_log")" "0"
done_testing

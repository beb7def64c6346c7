#!/bin/bash
# What an analyst tries who may send plain SQL: to end the server, to read what she may not, to learn of one person from
# errors, statistics and plans, and to have more of a person within a budget than it pays for.
. "$(dirname "$0")/../lib.sh"
start_server "privacy_score.dp_max_epsilon = 1000" "privacy_score.dp_epsilon = 1000"
q "CREATE EXTENSION privacy_score" >/dev/null
psql -qX <<'SQL' >/dev/null
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE secrets (department_id int PRIMARY KEY, secret text NOT NULL);
CREATE VIEW hidden AS SELECT department_id FROM departments;
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, smoker boolean, height float8);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, department_id int NOT NULL);
INSERT INTO departments SELECT i, 'D' || i FROM generate_series(1, 5) i;
INSERT INTO secrets SELECT i, 'S' || i FROM generate_series(1, 5) i;
INSERT INTO patients SELECT i, 'City ' || i % 7, i % 3 = 0, CASE i % 4 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' ELSE 'Infinity' END::float8
  FROM generate_series(1, 2000) i;
INSERT INTO visits SELECT i, 1 + i % 2000, 1 + i % 5 FROM generate_series(1, 6000) i;
SELECT privacy_score.protect('patients');
SELECT privacy_score.protect('visits', '{patient_id}');
CREATE ROLE ana LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
GRANT CREATE ON SCHEMA public TO ana;
CREATE TABLE policed (id int PRIMARY KEY, k text NOT NULL);
INSERT INTO policed SELECT i, 'k' || i FROM generate_series(1, 5) i;
ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON policed FOR SELECT USING (id IN (SELECT department_id FROM departments WHERE department_id < 3));
GRANT SELECT ON departments, policed TO ana;
SELECT privacy_score.dp_grant_person('ana', 'patients', 10000000, delta => 0.01);
SQL
# Two rows for each of the first 1,999 patients, more rows than there are patients; and values on which things fail.
PGUSER=ana psql -qX <<'SQL' >/dev/null
CREATE TABLE own (id int, x int);
INSERT INTO own SELECT i, i FROM generate_series(1, 1999) i, generate_series(1, 2);
CREATE TABLE two (v int, f float8, a point[]);
INSERT INTO two VALUES (1, 1e308, ARRAY['(1,1)'::point]), (1, 1e308, ARRAY['(1,2)'::point]);
CREATE FUNCTION forged() RETURNS TABLE (x text) LANGUAGE sql STABLE AS 'SELECT x FROM privacy_score.noisy_rows(0) AS (x text)';
CREATE FUNCTION harmless(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN true; END';
CREATE OPERATOR ### (PROCEDURE = harmless, RIGHTARG = int);
CREATE DOMAIN seen AS int CHECK (harmless(VALUE));
ANALYZE;
SQL
ana() { as ana q "$@"; }
# SQLSTATE and message.
said() { as ana q "\\set VERBOSITY verbose" "$@" 2>/dev/null | sed -n 's/^ERROR: *//p'; }
spent() { q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'ana'"; }
check_said() { check "$1" "$(said "${@:3}")" "$2"; }
same() { check "$1" "$(ana "$2")" "$(q "$2")"; }

# --- the server goes on
check_said "a function that the planner puts in place cannot name the placeholder with columns of its own" \
  "42501: permission denied for function noisy_rows" "SELECT n, x FROM (SELECT count(*) FROM patients) a(n), forged()"
same "a sub-select in LIMIT of an answer" "SELECT count(*) FROM visits LIMIT (SELECT count(*) FROM departments)"
same "a public relation that is larger than that of persons" "SELECT count(*) FROM patients JOIN own ON id = patient_id"
same "and one that is not equal to it" "SELECT count(*) FROM visits v LEFT JOIN own o ON o.id = v.patient_id AND o.x > 1000"
same "a sub-select with IN" "SELECT count(*) FROM visits WHERE department_id IN (SELECT department_id FROM departments WHERE name < 'D3')"
same "a value that a unique key tells" \
  "SELECT (SELECT name FROM departments d WHERE d.department_id = v.department_id) AS name, count(*) FROM visits v GROUP BY 1 ORDER BY 1"
same "sums of what is no number" "SELECT count(height), count(*) FILTER (WHERE height = 'NaN') FROM patients"
check "groups by a table with policies" "$(ana "SELECT k, count(*) FROM visits JOIN policed ON id = department_id GROUP BY 1 ORDER BY 1" | tr '\n' ' ')" \
  "k1|1200 k2|1200 "
same "many values of a key" "SELECT patient_id % 2, count(*) FROM patients WHERE patient_id BETWEEN 1 AND 99999 GROUP BY 1 ORDER BY 1"
check_said "a set in GROUP BY" "PS003: a set-returning function is not allowed on rows of persons" \
  "SELECT generate_series(1, 3), count(*) FROM patients GROUP BY 1"
check_said "WITH that writes" "PS003: a statement that writes or locks is not allowed on rows of persons" \
  "WITH w AS (INSERT INTO own VALUES (1) RETURNING 1) SELECT count(*) FROM patients"
check "a cursor that goes back" "$(ana BEGIN "DECLARE c SCROLL CURSOR FOR SELECT city, count(*) FROM patients GROUP BY 1 ORDER BY 1" \
  "FETCH 2 FROM c" "FETCH BACKWARD 1 FROM c" COMMIT | cut -d '|' -f 1 | tr '\n' ' ')" "City 0 City 1 City 0 "
check "a parameter that is NULL" "$(ana "PREPARE p(int) AS SELECT count(*) FROM patients WHERE patient_id < \$1" "EXECUTE p(NULL)")" "0"
check_said "a column that changes under an open cursor" \
  "55000: a relation has changed since the query was planned" BEGIN \
  "DECLARE c CURSOR FOR SELECT count(*) FROM patients JOIN own ON id = patient_id WHERE smoker AND x > 1" \
  "ALTER TABLE own ALTER x TYPE bigint" "FETCH 1 FROM c"

# --- no rights but her own
for query in "SELECT (SELECT secret FROM secrets LIMIT 1), count(*) FROM patients" \
  "SELECT (SELECT secret FROM secrets s WHERE s.department_id = v.department_id), count(*) FROM visits v GROUP BY 1" \
  "SELECT count(*) FROM visits v WHERE EXISTS (SELECT FROM departments d WHERE EXISTS (SELECT FROM secrets s WHERE s.department_id = v.department_id))" \
  "SELECT count(*) FROM visits JOIN (SELECT department_id FROM (SELECT * FROM secrets) x) s USING (department_id)" \
  "WITH s AS (SELECT * FROM secrets) SELECT count(*) FROM visits WHERE department_id IN (SELECT department_id FROM s)" \
  "SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM secrets s WHERE s.department_id = v.department_id)) FROM visits v" \
  "SELECT count(*) FROM visits HAVING count(*) > (SELECT count(*) FROM secrets)" \
  "SELECT count(*) FROM visits ORDER BY (SELECT count(*) FROM secrets)" \
  "SELECT count(*) FROM visits LIMIT (SELECT count(*) FROM secrets)" \
  "SELECT count(*) FROM visits v, (VALUES ((SELECT max(secret) FROM secrets))) x(y)" \
  "SELECT count(*) FROM visits v, LATERAL (SELECT FROM secrets s WHERE s.department_id = v.department_id) x"; do
  check_said "no rows without SELECT: $query" "42501: permission denied for table secrets" "$query"
done
for query in "SELECT count(*) FROM visits JOIN hidden USING (department_id)" "WITH h AS (TABLE hidden) SELECT count(*) FROM visits, h" \
  "SELECT count(*) FROM visits WHERE department_id IN (TABLE hidden)"; do
  check_said "nor of a view: $query" "42501: permission denied for view hidden" "$query"
done

# --- nothing fails because of a row: patient 3 smokes, patient 4 does not
before=$(spent)
several="PS003: a sub-select as a value may have several rows"
for person in 3 4; do
  row="patient_id = $person AND smoker"
  check_said "a sub-select with several rows, person $person" "$several" "SELECT count(*) FROM patients WHERE $row AND (SELECT v FROM two) = 1"
  check_said "of that row, person $person" "$several" "SELECT count(*) FROM patients WHERE (SELECT 1 FROM two WHERE $row) = 1"
  check_said "LIMIT below zero, person $person" "PS003: a LIMIT that depends on a row is not allowed on rows of persons" \
    "SELECT count(*) FROM patients WHERE EXISTS (SELECT FROM two LIMIT CASE WHEN $row THEN -1 ELSE 1 END)"
  check_said "also as a constant, person $person" "PS003: a LIMIT below zero is not allowed on rows of persons" \
    "SELECT count(*) FROM patients WHERE $row AND EXISTS (SELECT FROM two LIMIT -1)"
  check_said "a sum that overflows, person $person" "PS003: the function sum() is not allowed on rows of persons: it may fail when a row reaches it" \
    "SELECT count(*) FROM patients WHERE (SELECT sum(f) FROM two WHERE $row) > 1"
  check_said "a series without a step, person $person" \
    "PS003: the function generate_series() is not allowed on rows of persons: it returns more than one value for a row" \
    "SELECT count(*) FROM patients WHERE $row AND EXISTS (SELECT FROM generate_series(1, 10, 0))"
  check_said "arrays of arrays, person $person" "PS003: an array of arrays is not allowed on rows of persons" \
    "SELECT count(*) FROM patients WHERE $row AND EXISTS (SELECT FROM two WHERE ARRAY[a, a] IS NULL)"
  check_said "a function of her own, person $person" "PS003: the function harmless() is not allowed on rows of persons: it is not one of the server's own" \
    "SELECT count(*) FROM patients WHERE $row AND harmless(patient_id)"
  check_said "an operator, person $person" "PS003: the function harmless() is not allowed on rows of persons: it is not one of the server's own" \
    "SELECT count(*) FROM patients WHERE $row AND ### patient_id"
  check_said "a domain, person $person" "PS003: this kind of expression is not allowed on rows of persons" \
    "SELECT count(*) FROM patients WHERE $row AND patient_id::seen = $person"
done
check "nothing was charged for these" "$(spent)" "$before"
for person in 3 4; do
  check "arrays of what has no order are NULL, person $person" \
    "$(ana "SELECT count(*) FROM patients WHERE patient_id = $person AND smoker AND (SELECT count(*) FROM two s, two t WHERE s.a < t.a) > 0")" "0"
done

# --- nothing else tells of a row
# What the statistics of this session and EXPLAIN say of a scan of her own table that only rows of smokers lead to.
told() {
  ana BEGIN "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM patients p WHERE patient_id = $1 AND smoker AND EXISTS (SELECT FROM own o WHERE o.id = p.patient_id + $2)" \
    "SELECT seq_scan, seq_tup_read, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'own'" COMMIT | grep -v Epsilon
}
told 3 0 >/dev/null
# Whatever any session changes in a catalog meanwhile, autovacuum does too, makes this one read some blocks of it again. What a
# row made different would be different each time.
for _ in 1 2 3 4 5; do
  of_one=$(told 3 1) of_other=$(told 4 1)
  if [ "$of_one" = "$of_other" ]; then break; fi
done
check "blocks, counters and plans" "$of_one" "$of_other"
check "rows that a group has alone are not shown" "$(ana "SET privacy_score.dp_epsilon = 1" "SELECT patient_id % 1999 AS id FROM patients GROUP BY 1" | wc -l)" "0"

# --- no more of a person than is paid for
check "a join that repeats a person is measured" \
  "$(ana "EXPLAIN (COSTS OFF) SELECT count(*) FROM patients JOIN own ON id = patient_id WHERE x > 1" | grep -c 'Epsilon Once: 0.05')" "1"
check "and one that cannot needs no measure" \
  "$(ana "EXPLAIN (COSTS OFF) SELECT count(*) FROM patients JOIN departments ON department_id = patient_id" | grep -c 'Epsilon Once')" "0"
same "rows that a series repeats" "SELECT count(*) FROM patients, generate_series(1, 2)"
check "the server did not end" "$(grep -cE 'was terminated|PANIC|XX000' "$ps_log")" "0"
done_testing

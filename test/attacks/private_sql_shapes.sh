#!/bin/bash
# What an analyst tries with declared values, outer joins, several relations of persons and levels of one person: to see
# more than is declared, to tie rows of different persons, to learn of one person from an error or a group.
. "$(dirname "$0")/../lib.sh"
start_server "privacy_score.dp_max_epsilon = 1000" "privacy_score.dp_epsilon = 1000"
q "CREATE EXTENSION privacy_score" >/dev/null
psql -qX <<'SQL' >/dev/null
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, smoker boolean, age int NOT NULL);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, department_id int NOT NULL REFERENCES departments, cost numeric(8,2));
CREATE TABLE staff (staff_id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE shifts (shift_id int PRIMARY KEY, staff_id int NOT NULL REFERENCES staff, patient_id int);
INSERT INTO departments SELECT i, 'D' || i FROM generate_series(1, 6) i;
INSERT INTO patients SELECT i, 'City ' || i % 7, i % 3 = 0, i % 100 FROM generate_series(1, 2000) i;
INSERT INTO visits SELECT i, 1 + i % 2000, 1 + i % 5, i % 90 FROM generate_series(1, 6000) i;
INSERT INTO staff SELECT i, 'S' || i FROM generate_series(1, 50) i;
INSERT INTO shifts SELECT i, 1 + i % 50, 1 + i % 2000 FROM generate_series(1, 3000) i;
CREATE VIEW adults WITH (security_barrier) AS SELECT * FROM patients WHERE age >= 18;
CREATE VIEW adults_again AS SELECT * FROM (SELECT * FROM patients) p WHERE age >= 18;
SELECT privacy_score.protect('patients');
SELECT privacy_score.protect('visits', '{patient_id}');
SELECT privacy_score.protect('staff');
SELECT privacy_score.protect('shifts', '{staff_id}');
CREATE TABLE secrets (id int PRIMARY KEY, secret text NOT NULL);
INSERT INTO secrets SELECT i, 'S' || i FROM generate_series(1, 5) i;
CREATE ROLE ana LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
GRANT CREATE ON SCHEMA public TO ana;
GRANT SELECT ON departments, adults, adults_again TO ana;
SELECT privacy_score.dp_grant_person('ana', 'patients', 10000000, delta => 0.01);
SELECT privacy_score.dp_grant_person('ana', 'staff', 10000000, delta => 0.01);
SQL
ana() { as ana q "$@"; }
said() { as ana q "\\set VERBOSITY verbose" "$@" 2>/dev/null | sed -n 's/^ERROR: *//p'; }
check_said() { check "$1" "$(said "${@:3}")" "$2"; }
same() { check "$1" "$(ana "$2")" "$(q "$2")"; }
spent() { q "SELECT sum(spent) FROM privacy_score.dp_budget WHERE role = 'ana'"; }

# --- declared values
check_said "nobody declares for others" "42501: must be owner of table patients" "SELECT privacy_score.dp_domain('patients', 'age', 0, 1)"
check_said "nor takes back" "42501: must be owner of table patients" "SELECT privacy_score.dp_withdraw_domain('patients', 'age')"
check_said "the table of declarations is nobody's" "42501: permission denied for table column_domain" "SELECT * FROM privacy_score.column_domain"
q "SELECT privacy_score.dp_domain('patients', 'age', 18, 90)" >/dev/null
check "no view lets others in since values are declared" "$(ana "SELECT count(*) FROM adults")|$(ana "SELECT count(*) FROM adults_again")" \
  "$(q "SELECT count(*), count(*) FROM patients WHERE age >= 18")"
check "nor does a sub-select of one's own" "$(ana "SELECT count(*) FROM (SELECT age AS a FROM adults) x WHERE a < 30")" \
  "$(q "SELECT count(*) FROM patients WHERE age BETWEEN 18 AND 29")"
check "no group says that somebody is beyond the bounds" "$(ana "SELECT min(age), max(age) FROM (SELECT age, count(*) FROM patients GROUP BY 1) a")" "18|90"
# --- rows of different persons: none of these depends on one person's rows only
different="PS003: a query level joins rows of different persons"
for from in "patients, visits" "patients p JOIN visits v ON v.visit_id = p.patient_id" "patients p JOIN visits v ON v.patient_id >= p.patient_id" \
  "patients p JOIN visits v ON v.patient_id = p.patient_id OR true" "patients p JOIN visits v ON NOT v.patient_id <> p.patient_id" \
  "patients p JOIN visits v ON v.patient_id = abs(p.patient_id)" "patients p LEFT JOIN visits v ON v.department_id = p.age" \
  "patients p LEFT JOIN (visits v JOIN visits w ON w.department_id = v.department_id) ON v.patient_id = p.patient_id" \
  "(patients p CROSS JOIN visits v) LEFT JOIN visits w ON w.patient_id = p.patient_id AND w.patient_id = v.patient_id" \
  "patients p LEFT JOIN visits v ON v.patient_id = p.patient_id, visits w LEFT JOIN patients q ON q.patient_id = w.patient_id" \
  "patients p JOIN (SELECT patient_id AS id, department_id AS patient_id FROM visits) v USING (patient_id)" \
  "patients p LEFT JOIN departments d ON d.department_id = p.patient_id LEFT JOIN visits v ON v.patient_id = d.department_id"; do
  check_said "FROM $from" "$different" "SELECT count(*) FROM $from"
done
check_said "persons of two kinds" 'PS003: a query level reads persons of two kinds: of "staff" and of "patients"' \
  "SELECT count(*) FROM shifts JOIN patients USING (patient_id)"
lost="PS003: an outer join keeps rows that are no person's beside rows of persons"
# That a public row stays alone says that nobody is there: so it must not choose rows of somebody else.
for from in "patients p LEFT JOIN (departments d LEFT JOIN visits v ON v.department_id = d.department_id) ON d.department_id = p.age" \
  "patients p LEFT JOIN (departments d LEFT JOIN visits v ON v.department_id = d.department_id) ON v.patient_id = p.patient_id" \
  "departments d FULL JOIN visits v USING (department_id)" "visits v FULL JOIN patients p USING (patient_id)" \
  "departments d LEFT JOIN visits v ON v.department_id = d.department_id, LATERAL (SELECT v.cost AS c) x"; do
  check_said "FROM $from" "$lost" "SELECT count(v.visit_id) FROM $from"
done
check_said "public rows that stay, within a sub-select" "$lost" \
  "SELECT count(*) FROM (SELECT d.name, v.patient_id FROM departments d LEFT JOIN visits v USING (department_id)) x WHERE patient_id IS NULL"
check_said "and as groups of one" "$lost" \
  "SELECT count(*) FROM (SELECT v.patient_id, count(*) FROM departments d LEFT JOIN visits v USING (department_id) GROUP BY 1) x"
check_said "groups of one and of nobody" "PS003: GROUP BY makes a group of each person, and one of nobody's rows" \
  "SELECT count(*) FROM (SELECT v.patient_id FROM patients p LEFT JOIN visits v USING (patient_id) GROUP BY 1) x"
check_said "her own rows that public ones stay without are read with her rights" "42501: permission denied for table secrets" \
  "SELECT s.id, count(v.visit_id) FROM secrets s LEFT JOIN visits v ON v.department_id = s.id GROUP BY 1"

# --- nothing fails because of a row
q "INSERT INTO visits VALUES (7001, 3, 1, 0)" >/dev/null
check "a public value on which a key fails, whoever is joined" \
  "$(ana "SELECT 1 / (d.department_id - 6), count(v.visit_id) FROM departments d LEFT JOIN visits v USING (department_id) WHERE d.department_id > 5 GROUP BY 1")" "|0"
check "sums of one person do not overflow" "$(ana "SELECT count(*) FROM (SELECT patient_id, sum(1e308::float8 * cost::float8 / cost::float8) AS s FROM visits GROUP BY 1) x WHERE s IS NULL" | tail -n 1)" "2000"

# --- no more of a person than is paid for: her rows in several relations are bounded together
check "a join that repeats her is measured" "$(ana "EXPLAIN (COSTS OFF) SELECT count(*) FROM patients p JOIN visits v USING (patient_id)" | grep -c 'Epsilon Once: 0.05')" "1"
ana "SET privacy_score.dp_epsilon = 0.5" "SELECT count(*) FROM patients p, visits v WHERE p.patient_id = v.patient_id AND v.cost > 1" >/dev/null
check "its reference is that of the join, not of all pairs" \
  "$(ana "SELECT abs(n - $(q "SELECT count(*) FROM visits WHERE cost > 1")) < 2000 FROM (SELECT count(*) AS n FROM patients p, visits v WHERE p.patient_id = v.patient_id AND v.cost > 1) x")" "t"
check "the server did not end" "$(grep -cE 'was terminated|PANIC|XX000' "$ps_log")" "0"
done_testing

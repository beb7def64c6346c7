#!/bin/bash
# Plain SQL of a role labelled `dp only`: declared values of columns, outer joins from public relations, several relations
# of persons, levels of one person within others, grouping sets.
#
# Answers are compared with the plain ones at an epsilon at which noise is below a half with probability above 1 - 1e-9
# where a person has one row, and below that of the columns that are compared elsewhere.
. "$(dirname "$0")/../lib.sh"
start_server "privacy_score.dp_max_epsilon = 1000" "privacy_score.dp_epsilon = 1000"
q "CREATE EXTENSION privacy_score" >/dev/null
psql -qX <<'SQL' >/dev/null
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL, building text NOT NULL);
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, born date NOT NULL, smoker boolean);
CREATE TABLE stays (stay int PRIMARY KEY, patient_id int NOT NULL UNIQUE REFERENCES patients, department_id int REFERENCES departments,
  cost numeric(10,2), at timestamp NOT NULL, floor int, score float8);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, department_id int NOT NULL REFERENCES departments,
  cost numeric(10,2), day date NOT NULL);
INSERT INTO departments SELECT i, 'D' || i, 'B' || i % 3 FROM generate_series(1, 8) i;
INSERT INTO patients SELECT i, 'City ' || i % 7, date '1950-01-01' + i, CASE WHEN i % 5 > 0 THEN i % 3 = 0 END FROM generate_series(1, 4000) i;
INSERT INTO stays SELECT i, i, 1 + i % 4, CASE WHEN i % 4 = 0 THEN 9000 ELSE i % 100 END, timestamp '2024-01-01' + i * interval '2 hours', i % 20 - 3,
  CASE WHEN i % 3 = 0 THEN 'NaN'::float8 ELSE i END FROM generate_series(1, 3000) i;
INSERT INTO visits SELECT i, 1 + i % 4000, 1 + i % 4, i % 50, date '2024-01-01' + i % 365 FROM generate_series(1, 12000) i;
CREATE VIEW cheap AS SELECT * FROM stays WHERE cost < 1000;
SELECT privacy_score.protect('patients');
SELECT privacy_score.protect('stays', '{patient_id}');
SELECT privacy_score.protect('visits', '{patient_id}');
CREATE ROLE pia LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE pia IS 'dp only';
GRANT SELECT ON departments, cheap TO pia;
SELECT privacy_score.dp_grant_person('pia', 'patients', 10000000, delta => 0);
SQL
pia() { as pia q "$@"; }
refused() { as pia q "\\set VERBOSITY verbose" "$@" 2>/dev/null | sed -n 's/^ERROR: *//p'; }
spent() { q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'pia'"; }
same() { check "$1" "$(pia "$2")" "$(q "$2")"; }
# is NAME SQL PLAIN: answered as plain SQL answers another query.
is() { check "$1" "$(pia "$2")" "$(q "$3")"; }
check_refused() { check "$1" "$(refused "$2")" "$3"; }

# --- declared values of columns: groups without delta
check "a text that nobody has declared needs delta" "$(as pia q_state "SELECT city, count(*) FROM patients GROUP BY 1")" "PS002"
q "SELECT privacy_score.dp_domain('patients', 'city', vals => '{City 1,City 2,City 3,City 9}')
   FROM (SELECT privacy_score.dp_domain('stays', 'cost', 0, 1000), privacy_score.dp_domain('stays', 'floor', 0, 10),
     privacy_score.dp_domain('stays', 'at', '2024-01-01', '2024-12-31'), privacy_score.dp_domain('stays', 'score', 10, 2000),
     privacy_score.dp_domain('patients', 'born', '1950-01-01', '1965-12-31')) x" >/dev/null
declared="SELECT CASE WHEN city IN ('City 1', 'City 2', 'City 3') THEN city END, count(*) FROM patients GROUP BY 1 ORDER BY 1"
is "a declared list" "SELECT city, count(*) FROM patients GROUP BY 1 ORDER BY 1" "$declared"
is "what is computed from it" "SELECT right(city, 1), count(*) FROM patients GROUP BY 1 HAVING right(city, 1) IS NOT NULL ORDER BY 1" \
  "SELECT right(city, 1), count(*) FROM patients WHERE city IN ('City 1', 'City 2', 'City 3') GROUP BY 1 ORDER BY 1"
is "within a sub-select" "SELECT town, count(*) FROM (SELECT city AS town, smoker FROM patients) p WHERE smoker GROUP BY 1 ORDER BY 1" \
  "SELECT CASE WHEN city IN ('City 1', 'City 2', 'City 3') THEN city END, count(*) FROM patients WHERE smoker GROUP BY 1 ORDER BY 1"
is "computed within a sub-select" "SELECT town, count(*) FROM (SELECT lower(city) AS town, city FROM patients) p WHERE city <> 'City 2' GROUP BY 1 ORDER BY 1" \
  "SELECT CASE WHEN city IN ('City 1', 'City 3') THEN lower(city) END, count(*) FROM patients WHERE city <> 'City 2' GROUP BY 1 ORDER BY 1"
same "bounds in the WHERE of a sub-select" "SELECT date_trunc('week', t), count(*) FROM (SELECT at AS t FROM stays WHERE at >= '2024-02-01' AND at < '2024-03-01') s GROUP BY 1 ORDER BY 1"
is "bounds of an integer" "SELECT floor, count(*) FROM stays GROUP BY 1 ORDER BY 1" "SELECT LEAST(GREATEST(floor, 0), 10), count(*) FROM stays GROUP BY 1 ORDER BY 1"
same "bins of a number with bounds" "SELECT (floor((cost - 0.5) / 25.0) * 25 + 0.5)::int, count(*) FROM stays WHERE cost < 1000 GROUP BY 1 ORDER BY 1"
same "months of a time with bounds" "SELECT date_trunc('month', at), count(*) FROM stays GROUP BY 1 ORDER BY 1"
same "years of a time with bounds" "SELECT extract(year FROM at)::int, extract(quarter FROM at)::int, count(*) FROM stays GROUP BY 1, 2 ORDER BY 1, 2"
same "years of a date with bounds" "SELECT extract(year FROM born), count(*) FROM patients GROUP BY 1 ORDER BY 1"
same "bounds that WHERE makes narrower" "SELECT date_trunc('month', at), count(*) FROM stays WHERE at >= '2024-06-01' GROUP BY 1 ORDER BY 1"
same "bounds of another type" "SELECT date_trunc('month', at), (stay::bigint - 1) / 500, count(*) FROM stays WHERE at >= date '2024-02-01' AND at < timestamptz '2024-04-01' AND stay::bigint BETWEEN 100 AND 2000::smallint GROUP BY 1, 2 ORDER BY 1, 2"
# A group of the bound itself would be shown one time in twenty: of sixty questions none may have it.
groups_of() { for n in $(seq 20); do pia "SET privacy_score.dp_epsilon = 1" "SELECT $1, count(*) FROM stays WHERE at >= '2024-02-01' AND at < '2024-04-01' AND stay > $n GROUP BY 1"; done | cut -d'|' -f1 | sort -u | tr '\n' ' '; }
check "a strict bound is no group, nor are days between months" "$(groups_of "date_trunc('month', at)::date")" "2024-02-01 2024-03-01 "
check "nor is it in months" "$(groups_of "date_trunc('month', at)")" "2024-02-01 00:00:00 2024-03-01 00:00:00 "
check "nor among whole numbers" "$(for n in $(seq 20); do pia "SET privacy_score.dp_epsilon = 1" "SELECT floor, count(*) FROM stays WHERE floor > 0 AND floor < 4 AND stay > $n GROUP BY 1"; done | cut -d'|' -f1 | sort -u | tr '\n' ' ')" "1 2 3 "
same "width_bucket" "SELECT width_bucket(stay, 0, 3000, 5), count(*) FROM stays GROUP BY 1 ORDER BY 1"

# --- and what is beyond them counts as the bound, but in conditions
is "a sum" "SELECT round(sum(cost) / 10000) FROM stays" "SELECT round(sum(LEAST(cost, 1000)) / 10000) FROM stays"
is "an average" "SELECT round(avg(cost) / 10) FROM stays" "SELECT round(avg(LEAST(cost, 1000)) / 10) FROM stays"
is "what is no number stays so" "SELECT round(sum(score) / 10000) FROM stays" \
  "SELECT round(sum(LEAST(GREATEST(score, 10), 2000)) FILTER (WHERE score <> 'NaN') / 10000) FROM stays"
same "WHERE sees what is there" "SELECT count(*) FROM stays WHERE cost > 1000"
same "so do FILTER and CASE" "SELECT count(*) FILTER (WHERE cost > 1000), sum(CASE WHEN cost > 1000 THEN 1 END) FROM stays"
same "and the conditions of a view" "SELECT count(*), sum(stay) / 10000 FROM cheap"
check "NULL is no bound" "$(q "UPDATE stays SET floor = NULL WHERE stay <= 300"; pia "SELECT floor IS NULL, count(*) FILTER (WHERE floor IS NULL) FROM stays GROUP BY floor ORDER BY floor DESC LIMIT 1")" "t|300"
q "UPDATE stays SET floor = stay % 20 - 3 WHERE stay <= 300"
before=$(spent)
pia "SELECT floor, count(*) FROM stays GROUP BY 1 ORDER BY 1" >/dev/null
check "the same question is free" "$(spent)" "$before"
q "SELECT privacy_score.dp_domain('stays', 'floor', 0, 12)" >/dev/null
is "after another declaration it is another question" "SELECT floor, count(*) FROM stays GROUP BY 1 ORDER BY 1" \
  "SELECT LEAST(GREATEST(floor, 0), 12), count(*) FROM stays GROUP BY 1 ORDER BY 1"
check_true "which is paid" test "$(spent)" != "$before"
q "SELECT privacy_score.dp_withdraw_domain('stays', 'floor')" >/dev/null
check "one that was taken back makes no groups" "$(as pia q_state "SELECT floor, sum(stay) FROM stays GROUP BY 1")" "PS002"
"$PS_BINDIR/pg_dump" -Fc -f "$PS_TMP/shapes.dump" postgres
q "CREATE DATABASE restored TEMPLATE template0" "ALTER TABLE patients RENAME city TO town" >/dev/null
"$PS_BINDIR/pg_restore" -d restored "$PS_TMP/shapes.dump"
domains="SELECT relation, attribute, low, high, vals, in_force FROM privacy_score.dp_domains ORDER BY relation::text, 2"
check "declarations outlive a dump, and their columns' names" "$(on restored q "ALTER TABLE patients RENAME city TO town" "$domains")" "$(q "$domains")"
q "ALTER TABLE patients RENAME town TO city"

# --- what can fail on a public value is NULL, as on rows of persons
is "a key of a public relation" "SELECT 100 / (d.department_id - 3), count(*) FROM stays JOIN departments d USING (department_id) GROUP BY 1 ORDER BY 1" \
  "SELECT 100 / NULLIF(d.department_id - 3, 0), count(*) FROM stays JOIN departments d USING (department_id) GROUP BY 1 ORDER BY 1"
is "within a public sub-select" "SELECT k, count(*) FROM stays JOIN (SELECT 6 / (department_id - 3) AS k, department_id FROM departments) d USING (department_id) GROUP BY 1 ORDER BY 1" \
  "SELECT k, count(*) FROM stays JOIN (SELECT 6 / NULLIF(department_id - 3, 0) AS k, department_id FROM departments) d USING (department_id) GROUP BY 1 ORDER BY 1"
is "a key that a list makes public" "SELECT 100 / (department_id - 3), count(*) FROM stays WHERE department_id IN (1, 2, 3) GROUP BY 1 ORDER BY 1" \
  "SELECT 100 / NULLIF(department_id - 3, 0), count(*) FROM stays WHERE department_id IN (1, 2, 3) GROUP BY 1 ORDER BY 1"
# --- public rows that stay without rows of persons: all groups are shown
outer="FROM departments d LEFT JOIN stays s ON s.department_id = d.department_id"
same "a count of what is joined" "SELECT d.name, count(s.stay) $outer GROUP BY 1 ORDER BY 1"
same "with conditions in ON and on public rows" "SELECT d.name, count(s.stay) $outer AND s.stay < 100 WHERE d.building <> 'B0' GROUP BY 1 ORDER BY 1"
same "RIGHT JOIN, persons, FILTER" "SELECT d.department_id, count(DISTINCT s.patient_id), count(*) FILTER (WHERE s.stay > 2000) FROM stays s RIGHT JOIN departments d USING (department_id) GROUP BY 1 ORDER BY 1"
same "no groups" "SELECT count(s.stay) $outer"
same "no public row" "SELECT d.name, count(s.stay) $outer WHERE d.department_id > 100 GROUP BY 1"
same "several public relations" "SELECT d.building, b.building, count(s.stay) FROM departments d JOIN departments b ON b.department_id = d.department_id % 3 LEFT JOIN stays s ON s.department_id = d.department_id GROUP BY 1, 2 ORDER BY 1, 2"
same "others after it" "SELECT d.name, count(s.stay), count(b.name) $outer LEFT JOIN departments b ON b.department_id = s.stay GROUP BY 1 ORDER BY 1"
same "sums of nothing are nothing" "SELECT d.name, coalesce(round(sum(coalesce(s.stay, 0)) / 100000), 0) $outer GROUP BY 1 ORDER BY 1"
same "an average of nothing is none" "SELECT d.name, round(avg(s.stay) / 100) $outer GROUP BY 1 ORDER BY 1"
same "a condition that rows of persons alone meet makes it an inner join" "SELECT d.name, count(*) $outer WHERE s.stay > 5 GROUP BY 1 ORDER BY 1"
inner="SELECT d.name, count(s.stay) FROM departments d JOIN stays s ON s.department_id = d.department_id GROUP BY 1 ORDER BY 1"
check "the inner join is another question" "$(pia "$inner" | wc -l)|$(pia "SELECT d.name, count(s.stay) $outer GROUP BY 1 ORDER BY 1" | wc -l)" "4|8"
check "at a small epsilon all groups are shown, too" "$(pia "SET privacy_score.dp_epsilon = 0.01" "SELECT d.name, count(s.stay) $outer AND s.stay < 3 GROUP BY 1" | wc -l)" "8"
check_refused "count(*) counts public rows" "SELECT d.name, count(*) $outer GROUP BY 1" "PS003: an outer join keeps public rows, which this aggregate counts, too"
check_refused "so does what is not NULL there" "SELECT d.name, count(coalesce(s.stay, 0)) $outer GROUP BY 1" "PS003: an outer join keeps public rows, which this aggregate counts, too"
check_refused "an average of it" "SELECT d.name, avg(coalesce(s.stay, 0)) $outer GROUP BY 1" "PS003: an outer join keeps public rows, which this aggregate counts, too"
check_refused "groups by rows of persons" "SELECT s.floor, count(s.stay) $outer GROUP BY 1" "PS003: an outer join keeps public rows, and groups are made by rows of persons"
lost="PS003: an outer join keeps rows that are no person's beside rows of persons"
check_refused "a condition that keeps rows without" "SELECT d.name, count(s.stay) $outer WHERE s.stay IS NULL GROUP BY 1" "$lost"
check_refused "rows that are not aggregated yet" "SELECT count(stay) FROM (SELECT s.stay $outer) x" "$lost"
check_refused "FULL JOIN" "SELECT d.name, count(s.stay) FROM departments d FULL JOIN stays s USING (department_id) GROUP BY 1" "$lost"

# --- several relations of persons
same "two, joined on the person" "SELECT count(*) FROM patients JOIN stays USING (patient_id) WHERE smoker AND cost > 50"
same "with commas, in another order" "SELECT count(*) FROM stays s, departments d, patients p WHERE p.smoker AND d.department_id = s.department_id AND s.patient_id = p.patient_id AND d.building = 'B1'"
same "three, and groups by a public one" "SELECT d.name, count(*), count(DISTINCT v.patient_id) FROM patients p JOIN stays s USING (patient_id) JOIN visits v ON v.patient_id = s.patient_id JOIN departments d ON d.department_id = v.department_id GROUP BY 1 ORDER BY 1"
same "a relation with itself" "SELECT count(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.day < b.day"
same "LEFT JOIN from persons to persons" "SELECT p.smoker, count(*), count(s.stay), count(DISTINCT s.patient_id) FROM patients p LEFT JOIN stays s ON s.patient_id = p.patient_id GROUP BY 1 ORDER BY 1"
same "RIGHT JOIN" "SELECT p.smoker, count(*), count(s.stay) FROM stays s RIGHT JOIN patients p USING (patient_id) GROUP BY 1 ORDER BY 1"
same "who has none" "SELECT count(*) FROM patients p LEFT JOIN stays s USING (patient_id) WHERE s.stay IS NULL"
same "sub-selects" "SELECT count(*) FROM (SELECT * FROM patients WHERE smoker) p JOIN (SELECT patient_id AS id, cost FROM stays) s ON s.id = p.patient_id WHERE s.cost > 10"
same "from public rows to both" "SELECT d.name, count(s.stay), count(p.smoker) $outer LEFT JOIN patients p ON p.patient_id = s.patient_id AND p.smoker GROUP BY 1 ORDER BY 1"
check "one row a person stays one" "$(pia "EXPLAIN (COSTS OFF) SELECT count(*) FROM patients p JOIN stays s USING (patient_id) WHERE stay > 3" | grep -c 'Epsilon Once')" "0"
check "and a join that repeats them is measured" "$(pia "EXPLAIN (COSTS OFF) SELECT count(*) FROM patients p JOIN visits v USING (patient_id) WHERE cost > 3" | grep -c 'Epsilon Once')" "1"
different="PS003: a query level joins rows of different persons"
check_refused "joined on something else" "SELECT count(*) FROM patients p JOIN stays s ON s.stay = p.patient_id" "$different"
check_refused "joined on nothing" "SELECT count(*) FROM patients, stays" "$different"
check_refused "joined to the next one" "SELECT count(*) FROM patients p JOIN stays s ON s.patient_id = p.patient_id + 1" "$different"

# --- levels of one person
same "how many have how many" "SELECT n % 2, count(*) FROM (SELECT patient_id, count(*) AS n FROM visits GROUP BY 1) v WHERE n BETWEEN 1 AND 5 GROUP BY 1 ORDER BY 1"
same "WITH" "WITH v AS (SELECT patient_id, sum(cost) AS total, max(day) AS last FROM visits GROUP BY patient_id) SELECT count(*) FROM v WHERE total > 60 AND last > '2024-06-01'"
same "HAVING" "SELECT count(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING count(DISTINCT department_id) > 2) v"
same "DISTINCT" "SELECT count(*) FROM (SELECT DISTINCT patient_id FROM visits WHERE department_id = 3) v"
same "joined with others" "SELECT p.smoker, count(*), round(avg(v.n) * 10) FROM patients p JOIN (SELECT patient_id, count(*) AS n FROM visits GROUP BY 1) v USING (patient_id) GROUP BY 1 ORDER BY 1"
same "by a column of hers, too" "SELECT count(*) FROM (SELECT p.patient_id, p.city, avg(v.cost::float8) AS a FROM patients p JOIN visits v USING (patient_id) GROUP BY p.patient_id, p.city) x WHERE a > 20"
check "which makes one row of her" "$(pia "EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT p.patient_id, p.city, count(*) AS n FROM patients p JOIN visits v USING (patient_id) GROUP BY p.patient_id, p.city) x WHERE n > 1" | grep -c 'Epsilon Once')" "0"
check "but several of her and something else" "$(pia "EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT patient_id, department_id FROM visits GROUP BY 1, 2) x" | grep -c 'Epsilon Once')" "1"
same "which are counted all the same" "SELECT count(*) FROM (SELECT patient_id, department_id FROM visits GROUP BY 1, 2) x"
same "declared values hold there, too" "SELECT count(*) FROM (SELECT patient_id, max(cost) AS most FROM stays WHERE cost < 1000 GROUP BY 1) x WHERE most > 10"
is "and cut them" "SELECT round(avg(most) / 10) FROM (SELECT patient_id, max(cost) AS most FROM stays GROUP BY 1) x" "SELECT round(avg(LEAST(cost, 1000)) / 10) FROM stays"
check_refused "at the end they are groups of one" "SELECT patient_id, count(*) FROM visits GROUP BY 1" "PS003: GROUP BY makes a group of each person"
check_refused "a window over them" "SELECT count(*) FROM (SELECT patient_id, rank() OVER (ORDER BY count(*)) FROM visits GROUP BY 1) v" "PS003: a window function reads rows of several persons"
check_refused "LIMIT of them" "SELECT count(*) FROM (SELECT patient_id FROM visits GROUP BY 1 ORDER BY count(*) DESC LIMIT 1) v" "PS003: LIMIT chooses among rows of persons"
check_refused "an aggregate that makes values of any size" "SELECT count(*) FROM (SELECT patient_id, string_agg('x', '') AS t FROM visits GROUP BY 1) v WHERE t = 'xx'" \
  "PS003: the function string_agg() is not allowed on rows of persons: it may fail when a row reaches it"
check "the server did not end" "$(grep -cE 'was terminated|PANIC|XX000' "$ps_log")" "0"
# --- rows that are taken as they are stored, or are not
q "ALTER TABLE stays ADD COLUMN nights int DEFAULT 2" >/dev/null
same "a column that stored rows do not have" "SELECT count(*), sum(nights) FROM stays WHERE nights > 1"
q "ALTER TABLE stays DROP COLUMN score, ADD COLUMN beds int" "UPDATE stays SET beds = stay % 3" >/dev/null
same "columns behind one that was dropped" "SELECT nights, count(*), sum(beds) FROM stays WHERE nights BETWEEN 1 AND 3 GROUP BY 1"
q "ALTER TABLE visits ADD COLUMN half numeric GENERATED ALWAYS AS (cost / 2) STORED" >/dev/null
same "a column that is generated" "SELECT count(*) FROM patients p WHERE patient_id < 3000"
check "its sum" "$(pia "SELECT abs(sum(half) - 147000) < 500 FROM visits")" t
done_testing

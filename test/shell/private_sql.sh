#!/bin/bash
# Plain SQL of a role labelled `dp only` with a budget for persons: what is answered, what it costs, what is refused.
#
# Answers are compared with the plain ones at an epsilon at which noise is below a half with probability above 1 - 1e-9.
. "$(dirname "$0")/../lib.sh"
start_server "privacy_score.dp_max_epsilon = 1000" "privacy_score.dp_epsilon = 1000"
q "CREATE EXTENSION privacy_score" >/dev/null
psql -qX <<'SQL' >/dev/null
CREATE TYPE sex AS ENUM ('f', 'm');
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, sex sex, birth date, smoker boolean);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients,
  department_id int NOT NULL REFERENCES departments, cost numeric(10,2), at timestamptz);
INSERT INTO departments SELECT i, 'D' || i FROM generate_series(1, 5) i;
INSERT INTO patients SELECT i, 'City ' || i % 7, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END::sex, date '1950-01-01' + i, i % 3 = 0
  FROM generate_series(1, 4000) i;
INSERT INTO visits SELECT i, 1 + i % 4000, 1 + i % 5, 64, timestamptz '2024-01-01 UTC' + i * interval '1 hour'
  FROM generate_series(1, 16000) i;
CREATE TABLE readings (reading_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, n numeric, f float8, doc jsonb,
  tags text[], span int4range, note text);
INSERT INTO readings SELECT i, 1 + i % 4000, CASE WHEN i % 4 = 0 THEN 'NaN'::numeric ELSE i END, CASE WHEN i % 4 = 1 THEN -1 ELSE i END,
    jsonb_build_object('a', i % 3, 'b', jsonb_build_array(i)), ARRAY['t' || i % 5], int4range(i % 10, 20), CASE WHEN i % 2 = 0 THEN 'x\' ELSE 'y' || i END
  FROM generate_series(1, 8000) i;
CREATE VIEW open_visits AS SELECT * FROM visits WHERE visit_id % 2 = 0;
SELECT privacy_score.protect('patients');
SELECT privacy_score.protect('visits', '{patient_id}');
SELECT privacy_score.protect('readings', '{patient_id}');
CREATE ROLE ana LOGIN;
CREATE ROLE eve LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
SECURITY LABEL FOR privacy_score ON ROLE eve IS 'dp only';
GRANT SELECT ON departments, open_visits TO ana;
SELECT privacy_score.dp_grant_person('ana', 'patients', 1000000, delta => 0.01);
SQL
ana() { as ana q "$@"; }
# Its SQLSTATE and message.
refused() { as ana q "\\set VERBOSITY verbose" "$1" 2>/dev/null | sed -n 's/^ERROR: *//p'; }
spent() { q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'ana'"; }

# --- what is answered is what plain SQL says
same() { check "$1" "$(ana "$2")" "$(q "$2")"; }
same "a count" "SELECT count(*) FROM patients"
same "a count with a condition" "SELECT count(*) FROM patients WHERE smoker AND city LIKE 'City 3%'"
same "a count of a relation with several rows a person" "SELECT count(*) FROM visits"
same "a count of persons" "SELECT count(DISTINCT patient_id) FROM visits WHERE department_id = 3"
same "groups" "SELECT city, count(*) FROM patients GROUP BY city ORDER BY city"
same "groups by position, HAVING, LIMIT" "SELECT city, count(*) FROM patients GROUP BY 1 HAVING count(*) > 571 ORDER BY 1 LIMIT 2"
same "a join with a public relation" \
  "SELECT d.name, count(*), round(sum(cost) / 1000), round(avg(cost)) FROM visits v JOIN departments d USING (department_id) GROUP BY d.name ORDER BY 1"
same "a sub-select, as tools write it" 'SELECT COUNT(*) AS count FROM (SELECT * FROM visits) AS virtual_table LIMIT 50000'
same "persons of a sub-select" "SELECT count(DISTINCT patient_id) FROM (SELECT * FROM visits WHERE department_id < 3) AS virtual_table"
same "WITH, and a window over the answer" \
  "WITH m AS (SELECT city, count(*) AS n FROM patients GROUP BY 1) SELECT city, n - lag(n) OVER (ORDER BY city) FROM m ORDER BY 1"
same "a view" "SELECT count(*) FROM open_visits"
same "FILTER" "SELECT count(*) FILTER (WHERE smoker), count(*) FILTER (WHERE NOT smoker) FROM patients"
same "an expression that can fail" "SELECT count(*) FROM visits WHERE cost / NULLIF(visit_id % 2, 0) > 1"
same "several levels" "SELECT (SELECT count(*) FROM patients), (SELECT count(*) FROM visits)"
same "UNION ALL of answers" "SELECT 'v', count(*) FROM visits UNION ALL SELECT 'p', count(*) FROM patients"
same "DISTINCT" "SELECT DISTINCT sex FROM patients ORDER BY 1"
same "no columns" "SELECT FROM patients HAVING count(*) > 3"
same "nothing but a row" "SELECT 1 FROM patients HAVING true"
same "no rows" "SELECT count(*) FROM patients WHERE patient_id < 0"
same "months" "SELECT date_trunc('month', at), count(*) FROM visits GROUP BY 1 ORDER BY 1"
same "jsonb, arrays, ranges" \
  "SELECT count(*) FROM readings WHERE doc ->> 'a' = '1' AND tags @> '{t1}' AND span @> 15 AND tags = ARRAY['t1']"
same "text" "SELECT count(*) FROM readings WHERE concat(note, '-', reading_id) LIKE 'y%' AND upper(substring(note, 1, 1)) = 'Y'"
same "dates" "SELECT to_char(at, 'YYYY'), count(*) FROM visits WHERE extract(dow FROM at) = 1 GROUP BY 1 ORDER BY 1"
same "an array of constants" "SELECT count(*) FROM patients WHERE city = ANY ('{City 1,City 2}') OR birth IS DISTINCT FROM '1950-01-02'"
# What fails on a row is NULL there.
check "NaN as an integer" "$(ana "SELECT count(*) FROM readings WHERE n::int > 0")" "6000"
check "the root of what is below zero" "$(ana "SELECT count(*) FROM readings WHERE sqrt(f) > 0")" "6000"
check "a pattern that ends within an escape" "$(ana "SELECT count(*) FROM readings WHERE note LIKE 'x\\'")" "0"
check "a field that dates have not" "$(ana "SELECT count(*) FROM patients WHERE extract(timezone FROM birth) > 0")" "0"
check "a parameter, in a generic plan" \
  "$(ana "SET plan_cache_mode = force_generic_plan" "PREPARE p(int) AS SELECT count(*) FROM visits WHERE department_id = \$1" "EXECUTE p(2)" | tail -n 1)" "3200"
check "a cursor" "$(ana "BEGIN" "DECLARE c CURSOR FOR SELECT city, count(*) FROM patients GROUP BY 1 ORDER BY 1" "FETCH 1 FROM c" "COMMIT" | grep City)" "City 0|571"
check "COPY" "$(ana "COPY (SELECT count(*) FROM patients) TO STDOUT")" "4000"
check "a table made of answers is an ordinary one" \
  "$(ana "CREATE TEMP TABLE a AS SELECT city, count(*) AS n FROM patients GROUP BY 1" "SELECT count(*), sum(n) FROM a" | tail -n 1)" "7|4000"
check "PL/pgSQL" "$(ana "DO \$\$ DECLARE n bigint; BEGIN SELECT count(*) INTO n FROM patients; RAISE NOTICE 'n=%', n; END \$\$" 2>&1 | grep -o 'n=4000')" "n=4000"

# --- what it costs
before=$(spent)
ana "SELECT count(*) FROM visits WHERE cost > 1 AND department_id = 1" >/dev/null
after=$(spent)
check "a query costs epsilon, and the first of its shape the references" "$(q "SELECT $after - $before - 1000 IN (0, 0.05)")" "t"
ana "SELECT count(*) + 1 AS x FROM visits w WHERE department_id = 1 AND cost > 1 HAVING count(*) > 0" >/dev/null
check "the same question in other words is free" "$(spent)" "$after"
ana "EXPLAIN SELECT count(*) FROM visits WHERE cost > 2" >/dev/null
check "EXPLAIN is free" "$(spent)" "$after"
check "EXPLAIN tells the price" "$(ana "EXPLAIN (COSTS OFF) SELECT count(*) FROM visits WHERE cost > 2" | grep -c 'Epsilon: 1000')" "1"
check "so does dp_price()" "$(ana "SELECT relations, epsilon, epsilon_once, delta, repeated FROM privacy_score.dp_price('SELECT (SELECT count(*) FROM patients), (SELECT sum(cost) FROM visits WHERE cost > 7)')")" \
  $'patients|0|0|0|t\nvisits|1000|0.05|0|f'
check "and charges nothing" "$(spent)" "$after"
ana BEGIN "SELECT count(*) FROM visits WHERE cost > 3" ROLLBACK >/dev/null
check "ROLLBACK refunds nothing" "$(q "SELECT $(spent) - $after >= 1000")" "t"
after=$(spent)
check "what is asked of the columns only is free" "$(ana "SELECT * FROM patients LIMIT 0")$(ana "SELECT city FROM patients WHERE 1 <> 1")" ""
check "and so is it" "$(spent)" "$after"

# --- what is refused, with nothing charged
check_refused() { check "$1" "$(refused "$2")" "$3"; }
check_refused "rows" "SELECT * FROM patients" "PS003: the query would return rows of persons"
check_refused "rows under LIMIT" "SELECT city FROM patients LIMIT 1" "PS003: LIMIT chooses among rows of persons"
check_refused "max" "SELECT max(cost) FROM visits" "PS003: the aggregate max() is not answered privately"
check_refused "string_agg" "SELECT string_agg(city, ',') FROM patients" "PS003: the aggregate string_agg() is not answered privately"
check_refused "groups of one person" "SELECT patient_id, count(*) FROM visits GROUP BY 1" "PS003: GROUP BY makes a group of each person"
check_refused "a volatile function" "SELECT count(*) FROM patients WHERE pg_sleep(0) IS NULL" "PS003: the function pg_sleep() is not allowed on rows of persons: it gives another value each time"
check_refused "a regular expression" "SELECT count(*) FROM patients WHERE city ~ '1'" "PS003: the function textregexeq() is not allowed on rows of persons: regular expressions may take any time"
check_refused "a pattern that is a column" "SELECT count(*) FROM readings WHERE note LIKE tags[1]" "PS003: the function textlike() needs a constant as argument 2"
check_refused "a format that is a column" "SELECT count(*) FROM readings WHERE to_char(n, note) = '1'" \
  "PS003: the function to_char() needs a constant as argument 2"
check_refused "a whole row" "SELECT count(*) FROM patients p WHERE p IS NOT NULL" "PS003: a whole row is not allowed on rows of persons"
check_refused "a system column" "SELECT count(*) FROM patients WHERE ctid IS NULL" "PS003: a system column is not allowed on rows of persons"
check_refused "TABLESAMPLE" "SELECT count(*) FROM patients TABLESAMPLE SYSTEM (1)" "PS003: rows of persons are not sampled"
check_refused "FOR UPDATE" "SELECT city FROM patients FOR UPDATE" "PS003: rows of persons cannot be locked"
check_refused "a window over rows" "SELECT count(*) OVER () FROM patients" "PS003: a window function reads rows of several persons"
check_refused "rows of different persons" "SELECT count(*) FROM patients, visits" "PS003: a query level joins rows of different persons"
check_refused "EXISTS over rows" "SELECT EXISTS (SELECT FROM patients WHERE patient_id = 7)" "PS003: a sub-select in an expression returns rows of persons"
check_refused "a catalog within" "SELECT count(*) FROM patients, pg_class" 'PS003: system catalog "pg_class" is joined with rows of persons'
check_refused "the placeholder" "SELECT count(*) FROM patients, privacy_score.noisy_rows(0) AS (x int)" "PS003: noisy_rows() is no function to be called"
check_refused "INSERT of rows" "CREATE TEMP TABLE t (c text); INSERT INTO t SELECT city FROM patients" "PS003: the statement would write rows of persons"
check "a refusal shows its place" "$(as ana q_all "SELECT max(cost) FROM visits" | sed -n 2,3p)" $'LINE 1: SELECT max(cost) FROM visits\n               ^'
check "refusals cost nothing" "$(spent)" "$after"
check "more than dp_max_delta" "$(as ana q_state "SET privacy_score.dp_delta = 0.01" "SELECT birth, count(*) FROM patients GROUP BY 1")" "22023"
check "a role sets its own epsilon" "$(ana "SET privacy_score.dp_epsilon = 0.1" "SHOW privacy_score.dp_epsilon" | tail -n 1)" "0.1"
check "a role without a budget is refused as ever" "$(as eve q_state "SELECT count(*) FROM patients")" "42501"
check "a right that is missing on a public relation" \
  "$(q "REVOKE SELECT ON departments FROM ana" >/dev/null; ana "SELECT count(*) FROM visits JOIN departments USING (department_id)" 2>/dev/null)" \
  "ERROR: permission denied for table departments"
check "the right of a view is asked of who asks" \
  "$(q "REVOKE SELECT ON open_visits FROM ana" >/dev/null; ana "SELECT count(*) FROM open_visits" 2>/dev/null)" \
  "ERROR: permission denied for view open_visits"
check "nothing was charged for them" "$(spent)" "$after"

# --- groups that are public: a budget without delta
psql -qX <<'SQL' >/dev/null
CREATE TABLE stays (stay int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, department_id int REFERENCES departments,
  kind varchar(10) NOT NULL CHECK (kind IN ('day', 'night', 'long')), paid boolean, at timestamptz NOT NULL, day date NOT NULL);
INSERT INTO stays SELECT i, i, 1 + i % 4, (ARRAY['day', 'night'])[1 + i % 2], i % 5 = 0, timestamptz '2024-01-01 UTC' + i * interval '2 hours',
  date '2024-01-01' + i % 300 FROM generate_series(1, 4000) i;
CREATE VIEW stays_seen AS SELECT stay, kind, department_id, patient_id FROM stays;
SELECT privacy_score.protect('stays', '{patient_id}');
CREATE ROLE pia LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE pia IS 'dp only';
GRANT SELECT ON departments, stays_seen TO pia;
SELECT privacy_score.dp_grant_person('pia', 'patients', 1000000, delta => 0);
ALTER ROLE pia SET "TimeZone" = 'UTC';
SQL
public() { check "$1" "$(as pia q "$2")" "$(q "SET TimeZone = 'UTC'" "$2")"; }
public "a boolean" "SELECT paid, count(*) FROM stays GROUP BY 1 ORDER BY 1"
public "an enum" "SELECT sex, count(*) FROM patients GROUP BY 1 ORDER BY 1"
public "a CHECK with a list" "SELECT kind, count(*) FROM stays GROUP BY 1 ORDER BY 1"
public "the same through a view" "SELECT kind, count(*) FROM stays_seen GROUP BY 1 ORDER BY 1"
public "a foreign key to a public relation" "SELECT department_id, count(*) FROM stays GROUP BY 1 ORDER BY 1"
public "columns of a public relation" "SELECT d.name, upper(d.name), count(*) FROM stays JOIN departments d USING (department_id) GROUP BY 1, 2 ORDER BY 1"
public "several keys" "SELECT kind, paid, count(*) FROM stays GROUP BY 1, 2 ORDER BY 1, 2"
public "months between bounds" \
  "SELECT date_trunc('month', at), count(*) FROM stays WHERE at >= '2024-02-01' AND at < '2024-06-01' GROUP BY 1 ORDER BY 1"
public "what is computed from them" \
  "SELECT to_char(date_trunc('month', at), 'YYYY-MM'), count(*) FROM stays WHERE at >= '2024-02-01' AND at < '2024-06-01' GROUP BY 1 ORDER BY 1"
public "days between bounds" "SELECT day, count(*) FROM stays WHERE day BETWEEN '2024-03-01' AND '2024-03-05' GROUP BY 1 ORDER BY 1"
public "a part of a date" "SELECT extract(month FROM at)::int, count(*) FROM stays GROUP BY 1 ORDER BY 1"
public "bins" "SELECT stay / 500 * 500, count(*) FROM stays WHERE stay BETWEEN 1 AND 2999 GROUP BY 1 ORDER BY 1"
public "a list in WHERE" "SELECT city, count(*) FROM patients WHERE city IN ('City 1', 'City 2') GROUP BY 1 ORDER BY 1"
public "a CASE of constants" "SELECT CASE WHEN stay < 100 THEN 'few' ELSE 'rest' END, count(*) FROM stays GROUP BY 1 ORDER BY 1"
check "a parameter in the list" \
  "$(as pia q "PREPARE p(text, text) AS SELECT city, count(*) FROM patients WHERE city IN (\$1, \$2) GROUP BY 1 ORDER BY 1" "EXECUTE p('City 3', 'City 4')")" $'City 3|572\nCity 4|571'
check "other groups need delta" "$(as pia q_state "SELECT city, count(*) FROM patients GROUP BY 1")" "PS002"
check "so does a foreign key to what one may not read" \
  "$(q "REVOKE SELECT ON departments FROM pia"; as pia q_state "SELECT department_id, sum(stay) FROM stays GROUP BY 1")" "PS002"
check "and a CHECK that is not validated" "$(q "ALTER TABLE stays DROP CONSTRAINT stays_kind_check; ALTER TABLE stays ADD CHECK (kind IN ('day', 'night')) NOT VALID"
  as pia q_state "SELECT kind, sum(stay) FROM stays GROUP BY 1")" "PS002"

# --- budgets of persons
check "one budget for a person: no other below" "$(q_state "SELECT privacy_score.dp_grant('ana', 'visits', 1)")" "55000"
q "CREATE ROLE bob LOGIN; SELECT privacy_score.dp_grant('bob', 'visits', 5, unit => 'patient_id', max_rows_per_unit => 4)" >/dev/null
check "nor one above" "$(q_state "SELECT privacy_score.dp_grant_person('bob', 'patients', 10)")" "55000"
as bob q "SELECT privacy_score.dp_count('visits', epsilon => 2)" >/dev/null
q "SELECT privacy_score.dp_grant_person('bob', 'patients', 10, absorb => true)" >/dev/null
check "absorb takes over what was spent" "$(q "SELECT relation, scope, epsilon, spent FROM privacy_score.dp_budget WHERE role = 'bob'")" "patients|person|10|2"
check "the dp functions draw from it" "$(as bob q "SELECT privacy_score.dp_count('patients', epsilon => 1) BETWEEN 3900 AND 4100")" "t"
check "and charge it" "$(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'bob'")" "3"
check "where a person has several rows they say what to do" "$(as bob q_state "SELECT privacy_score.dp_count('visits')")" "PS003"
q "CREATE ROLE roy LOGIN; SELECT privacy_score.dp_grant('roy', 'visits', 5)" >/dev/null
check "a budget that protects rows is not absorbed" "$(q_state "SELECT privacy_score.dp_grant_person('roy', 'patients', 10, absorb => true)")" "55000"
check "a home is needed" "$(q_state "SELECT privacy_score.dp_grant_person('roy', 'visits', 10)")" "55000"
q "SELECT privacy_score.dp_revoke_person('bob', 'patients')" >/dev/null
check "revoked" "$(q "SELECT count(*) FROM privacy_score.dp_budget WHERE role = 'bob'")" "0"
q "SELECT privacy_score.dp_grant_person('bob', 'patients', 10)" >/dev/null
check "what was spent stays spent" "$(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'bob'")" "3"
q "SECURITY LABEL FOR privacy_score ON ROLE bob IS 'dp only'; ALTER ROLE bob SET privacy_score.dp_epsilon = 6" >/dev/null
as bob q "SELECT count(*) FROM patients WHERE city = 'City 1'" >/dev/null
check "exhausted" "$(as bob q_state "SELECT count(*) FROM patients WHERE city = 'City 2'")" "PS002"
check "the ledger says what for" "$(q "SELECT kind, predicate_shape, epsilon FROM privacy_score.dp_releases WHERE role = 'bob' AND kind = 'sql'")" "sql|count of patients|6"
done_testing

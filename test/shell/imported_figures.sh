#!/bin/bash
# imported_figures.sh - how far sessions reach that are read from a log: as the same sessions do that were watched.
. "$(dirname "$0")/../lib.sh"

start_server "logging_collector = on" "log_destination = 'csvlog'" "log_directory = 'log'" "log_filename = 'a.log'" \
  "log_statement = 'all'" "log_rotation_age = 0" "log_rotation_size = 0" "privacy_score.worker_stays = '1h'"
log=$PGDATA/log
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE SCHEMA work AUTHORIZATION alice" \
  "CREATE TABLE patients (id int PRIMARY KEY, first_name text, city text, born date, weight float8, flags bool)" \
  "CREATE TABLE visits (visit bigint PRIMARY KEY, patient_id int REFERENCES patients, ward text, price numeric(10,2))" \
  "INSERT INTO patients SELECT i, 'f' || i % 17, 'c' || i % 13, date '1950-01-01' + i, i / 4.0, i % 2 = 0 FROM generate_series(1, 200) i" \
  "INSERT INTO visits SELECT i, i % 200 + 1, 'w' || i % 5, i / 8.0 FROM generate_series(1, 400) i" \
  "CREATE VIEW old AS SELECT * FROM patients WHERE id IN (1, 2, 3)" "GRANT SELECT ON patients, visits, old TO alice" \
  "SELECT privacy_score.protect('patients', '{id}'), privacy_score.protect('visits', '{patient_id}')" \
  "SELECT privacy_score.flush()" "CREATE TABLE watched (n int, reach bigint, subjects bigint, subject_columns int, addressed bigint, person bigint)" >/dev/null

# One session a line, its statements separated by tabs.
cat >"$PS_TMP/sessions" <<'SQL'
SELECT city FROM patients WHERE id = 7
SELECT city FROM patients WHERE id = 7	SELECT city FROM patients WHERE id = 7	SELECT city FROM patients WHERE id = 8
SELECT city FROM patients WHERE id = '7'	SELECT city FROM patients WHERE id = 7::bigint	SELECT city FROM patients WHERE 7 = id	SELECT city FROM patients WHERE id = -7
SELECT city FROM patients WHERE id IN (1, 2, 3)	SELECT city FROM patients WHERE id IN (3, 4, 5, NULL)
SELECT city FROM patients WHERE id NOT IN (1, 2)	SELECT city FROM patients WHERE id <> 3	SELECT city FROM patients WHERE NOT id = 4
SELECT city FROM patients WHERE id = ANY (ARRAY[1, 2, 3])	SELECT city FROM patients WHERE id = ANY ('{4, 5}')	SELECT city FROM patients WHERE id = ANY ('{6,NULL}'::int[])
SELECT city FROM patients WHERE id <> ALL (ARRAY[1, 2])	SELECT city FROM patients WHERE id < ANY (ARRAY[7, 8])
SELECT city, CASE id WHEN 5 THEN 'a' WHEN 6 THEN 'b' END FROM patients	SELECT CASE WHEN id = 7 THEN city END FROM patients
SELECT city FROM patients WHERE id IS DISTINCT FROM 5	SELECT city FROM patients WHERE id IS NOT DISTINCT FROM 6	SELECT nullif(id, 7), city FROM patients
SELECT city FROM patients WHERE (id, city) = (1, 'c1')	SELECT first_name FROM patients WHERE (id, city) IN ((1, 'c1'), (2, 'c2'))
SELECT first_name FROM patients WHERE (city, id) IN (('c1', 1), ('c2', 2), ('c3', 3))	SELECT first_name FROM patients WHERE (city, id) NOT IN (('c1', 4))
SELECT city FROM patients WHERE id IN (VALUES (1), (2))	SELECT p.city FROM patients p JOIN (VALUES (3, 'x'), (4, 'y')) v(id, n) ON v.id = p.id
SELECT p.city FROM patients p, unnest(ARRAY[1, 2, 3]) u WHERE p.id = u	SELECT p.city FROM patients p JOIN unnest('{4,5}'::int[]) u(k) ON p.id = u.k
SELECT p.city FROM patients p JOIN visits v ON v.patient_id = p.id WHERE p.id = 3	SELECT ward FROM visits WHERE patient_id = 4
SELECT p.city FROM patients p JOIN visits v ON v.patient_id = p.id WHERE v.patient_id = 3	SELECT v.ward, w.ward FROM visits v, visits w WHERE v.patient_id = w.patient_id AND w.patient_id IN (5, 6)
SELECT city FROM (SELECT id, city, 5 AS five FROM patients) s WHERE s.id = s.five	SELECT city FROM old WHERE id = 3	SELECT city FROM old
WITH w AS (SELECT 9 AS k) SELECT city FROM patients, w WHERE id = k	WITH w AS (SELECT id, city FROM patients) SELECT city FROM w WHERE id IN (10, 11)
SELECT city FROM patients WHERE id = (SELECT 12)	SELECT city FROM patients WHERE id = 5 + 2	SELECT city FROM patients WHERE id = 5 + 3
SELECT city FROM patients WHERE id = 1 OR id = 2 OR id = 3	SELECT city FROM patients WHERE id = 1 AND city = 'c1'
SELECT first_name FROM patients WHERE born = '1950-01-08'	SELECT first_name FROM patients WHERE born = date '1950-01-09'	SELECT first_name FROM patients WHERE born = '1950-01-08'
SELECT first_name FROM patients WHERE weight = 1.25	SELECT first_name FROM patients WHERE flags = true	SELECT first_name FROM patients WHERE flags	SELECT first_name FROM patients WHERE flags = false
SELECT first_name FROM patients WHERE city = 'it''s'	SELECT first_name FROM patients WHERE city = E'a\nb'	SELECT first_name FROM patients WHERE city = $$c1$$
SELECT count(*) FROM patients WHERE city = 'c1'	SELECT count(*) FROM patients WHERE city = 'c2'	SELECT count(*) FROM patients WHERE city = 'c1'
SELECT count(*) FROM patients WHERE id = 17	SELECT avg(weight) FROM patients WHERE id <> 18
SELECT city FROM patients LIMIT 5	SELECT city FROM patients LIMIT 6	SELECT city FROM patients WHERE id > 6 LIMIT 5
PREPARE p(int) AS SELECT city FROM patients WHERE id = $1	EXECUTE p(1)	EXECUTE p(2)	EXECUTE p('3')	EXECUTE p(NULL)
PREPARE p(int[]) AS SELECT city, first_name FROM patients WHERE id = ANY ($1)	EXECUTE p('{1,2,3}')	EXECUTE p('{3,4}')
PREPARE p(int, text) AS SELECT first_name FROM patients WHERE id IN ($1, 9) AND city = $2	EXECUTE p(1, 'c1')	EXECUTE p(2, 'c2')
CREATE TEMP TABLE ids AS SELECT 1 AS id	SELECT p.city FROM patients p JOIN ids USING (id) WHERE p.id = 5
BEGIN	SELECT city FROM patients WHERE id = 1	SELECT born, weight FROM patients WHERE id = 1	SELECT flags FROM patients WHERE id = 2	COMMIT
SELECT 1	SELECT now()	SELECT id FROM visits WHERE false
EXPLAIN SELECT city FROM patients WHERE id = 5	EXPLAIN ANALYZE SELECT city FROM patients WHERE id = 6
SELECT city FROM patients WHERE id = lower('7')::int	SELECT city FROM patients WHERE id = lower('8')::int
SELECT city FROM patients WHERE id IN (SELECT patient_id FROM visits WHERE visit = 5)	SELECT ward FROM visits WHERE visit = 6 AND patient_id = 7
SELECT city FROM patients WHERE id = 1; SELECT first_name FROM patients WHERE id = 2
SQL
number=0
while IFS= read -r line; do
  number=$((number + 1))
  IFS=$'\t' read -ra statements <<<"$line"
  printf '%s;\n' "${statements[@]}" >"$PS_TMP/session.sql"
  PGAPPNAME="n$number" as alice "$PS_BINDIR/psql" -XAtq -o /dev/null -f "$PS_TMP/session.sql" </dev/null >>"$PS_TMP/out" 2>&1
done <"$PS_TMP/sessions"
# Drivers send parameters by themselves.
cat >"$PS_TMP/driver.sql" <<'SQL'
\set id random(1, 200)
SELECT city FROM patients WHERE id = :id;
SELECT weight, flags FROM patients WHERE id = :id AND city <> 'it''s';
SQL
for mode in extended prepared; do
  number=$((number + 1))
  PGAPPNAME="n$number" PGUSER=alice "$PS_BINDIR/pgbench" -n -c 1 -t 30 --random-seed=7 -M $mode -f "$PS_TMP/driver.sql" postgres >>"$PS_TMP/out" 2>&1
done
q "SELECT 'the end'" "SELECT privacy_score.flush()" >/dev/null
check_true "the log is written" wait_for_line "$log/a.csv" 'the end'
figures="reach, subjects, subject_columns, addressed, person"
q "INSERT INTO watched SELECT substr(application_name, 2)::int, $figures FROM privacy_score.session WHERE role = 'alice'" >/dev/null
check "sessions that name protected columns were watched, with these extremes" "$(q "SELECT count(*), count(addressed), max(reach), max(subjects), max(addressed), max(person) FROM watched")" "36|36|29|29|29|4"

# The same from the log.
q "DELETE FROM privacy_score.session" "DELETE FROM privacy_score.session_part" >/dev/null
check "none is left out" "$(q "SELECT not_understood FROM privacy_score.import_log('a.csv')")" 0
names() { q "CREATE TABLE IF NOT EXISTS named AS SELECT m.parts[1]::text AS session, m.parts[2]::int AS n FROM (SELECT regexp_matches(line, ',([0-9a-f]+\.[0-9a-f]+),.*,\"n([0-9]+)\",\"client backend\"') AS parts FROM regexp_split_to_table(pg_read_file('log/a.csv'), E'\n') line) m GROUP BY 1, 2" >/dev/null; }
names
check "sessions of the log with other figures than when they were watched" "$(q "SELECT w.*, '/', s.reach, s.subjects, s.subject_columns, s.addressed, s.person FROM watched w JOIN named USING (n) LEFT JOIN privacy_score.session s ON s.session = named.session
  WHERE (w.reach, w.subjects, w.subject_columns, w.addressed, w.person) IS DISTINCT FROM (s.reach, s.subjects, s.subject_columns, s.addressed, s.person) ORDER BY n")" ""
check "all of them" "$(q "SELECT count(*) FROM watched JOIN named USING (n) JOIN privacy_score.session s ON s.session = named.session")" 36

# --- rows and parameters of another source -------------------------------------------------------------------------------------------
# import "ROWS OF THE QUERY", a column alias list
import() { q "DELETE FROM privacy_score.session" "SELECT privacy_score.import_statements(\$\$ SELECT 'c1', 'alice'::name, x.* FROM (VALUES $1) x($2) \$\$)" "SELECT most_rows, $figures, privacy_score.flush() FROM privacy_score.session" 2>&1; }
by_id="'SELECT city FROM patients WHERE id = \$1'"
check "parameters" "$(import "(now(), $by_id, '{7}'::text[]), (now(), $by_id, '{8}')" "at, sql, parameters")" "2
|2|2|1|2|1|"
check "in any order behind the end user, with rows" "$(import "(now(), $by_id, 'mary', 5::bigint, '{7}'::text[]), (now(), $by_id, 'mary', 0, '{NULL}')" "at, sql, who, rows, parameters")" "2
5|2|1|1|1|1|"
check "nothing is known of a session with a parameter that is not given" "$(import "(now(), $by_id, '{7}'::text[]), (now(), $by_id, NULL)" "at, sql, parameters")" "2
||||||"
check "nor of one with a text that does not parse" "$(import "(now(), 'SELECT city FROM patients WHERE id = 7', 3::bigint), (now(), 'SELEC 1', 0)" "at, sql, rows")" "2
3||||||"
check "rows of some only are none" "$(import "(now(), 'SELECT city FROM patients', 3::bigint), (now(), 'SELECT 1', NULL), (now(), 'SELECT city FROM patients', NULL)" "at, sql, rows")" "2
|1|0|0|0|0|"
check "stored as they are of a session that is watched" "$(import "(now(), 'SELECT city FROM patients', 3::bigint), (now(), 'SELECT city FROM patients', 4)" "at, sql, rows" | tail -n 1; q "SELECT p.rows FROM privacy_score.session_part p JOIN privacy_score.session s ON s.id = p.session_id")" "4|1|0|0|0|0|
{3,4}"
rows_of() { q "SELECT calls, rows FROM privacy_score.abstraction WHERE tokens = '{cmd:select,p:public.patients.city,t:public.patients}'"; }
before=$(rows_of)
again() { q "SELECT privacy_score.import_statements(\$\$ SELECT 'again', 'alice'::name, timestamptz 'yesterday', 'SELECT city FROM patients', $1::bigint AS rows FROM generate_series(1, 2) \$\$)" >/dev/null; }
again 50; again 10
check "what is imported again replaces its rows" "$(q "SELECT calls - ${before%|*}, rows - ${before#*|} FROM privacy_score.abstraction WHERE tokens = '{cmd:select,p:public.patients.city,t:public.patients}'")" "2|20"
check_match "rows below none" "$(import "(now(), 'SELECT 1', -1::bigint)" "at, sql, rows")" 'rows of a statement must be 0 to'
check_match "a column that has no place" "$(import "(now(), 'SELECT 1', 'mary', 'x')" "at, sql, end_user, note")" 'the query must yield'
check_match "a column twice" "$(import "(now(), 'SELECT 1', 1::bigint, 2::bigint)" 'at, sql, rows, "rows "')" 'the query must yield'

# --- alarms learn from them -----------------------------------------------------------------------------------------------------------
# Thirty days of two look-ups a session; then one that asks about forty patients, which is no news to scores.
q "DELETE FROM privacy_score.session" "DELETE FROM privacy_score.session_part" >/dev/null
q "SELECT privacy_score.import_statements(\$\$ SELECT 's' || d || '.' || s, 'alice'::name, now() - d * interval '1 day' + s * interval '1 hour' + k * interval '1 s' - interval '12 hours',
     'SELECT city FROM patients WHERE id = ' || d * 7 + s + k, 1::bigint AS rows FROM generate_series(2, 31) d, generate_series(1, 4) s, generate_series(0, d % 3) k \$\$)" >/dev/null
q "SELECT privacy_score.set_baseline('alice', current_date - 40, current_date - 2)" "SELECT privacy_score.flush()" >/dev/null
q "SELECT privacy_score.import_statements(\$\$ SELECT 'loop', 'alice'::name, now() - interval '1 hour' + k * interval '1 s', 'SELECT city FROM patients WHERE id = ' || k, 1::bigint AS rows FROM generate_series(1, 40) k \$\$)" >/dev/null
check_match "a loop in an imported log is an alarm by what it addresses" "$(q "SELECT unusual > threshold, reason FROM privacy_score.session_figures('alice', current_date - 1, current_date) WHERE session = 'loop'")" '^t\|.*addressed 40 '
check "the server is well" "$(grep -cE 'PANIC|terminated by signal' "$log/a.log")" 0
done_testing

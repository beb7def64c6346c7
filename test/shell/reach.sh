#!/bin/bash
# reach.sh - how far a session reaches: distinct constants, subjects and columns of one subject, by every way that
# constants come, and the alert when that is too far for the role's baseline.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, c1 text, c2 text, c3 text, c4 text, c5 text, c6 text, c7 text, c8 text)" \
  "CREATE TABLE visits (id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, ward text, cost numeric)" \
  "CREATE TABLE stays (a int, b text, ward text, PRIMARY KEY (a, b))" \
  "CREATE TABLE parts (pb text, pa int, note text, FOREIGN KEY (pb, pa) REFERENCES stays (b, a))" \
  "CREATE TABLE wards (ward text, floor int)" \
  "INSERT INTO patients SELECT i, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' FROM generate_series(1, 300) i" \
  "INSERT INTO visits SELECT i, i, 'w', i FROM generate_series(1, 300) i" \
  "CREATE VIEW seen AS SELECT id AS who, c1, c2 FROM patients WHERE c3 = 'c'" \
  "CREATE MATERIALIZED VIEW copied AS SELECT id AS who, c1 FROM patients" \
  "CREATE FUNCTION one_sql(p int) RETURNS text LANGUAGE sql AS 'SELECT c1 FROM patients WHERE id = p'" \
  "CREATE FUNCTION all_sql(p int) RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT c1 FROM patients WHERE id = p'" \
  "CREATE FUNCTION loop_plpgsql(n int) RETURNS int LANGUAGE plpgsql AS 'DECLARE t text; BEGIN
     FOR i IN 1..n LOOP SELECT c1 INTO t FROM patients WHERE id = i; END LOOP; RETURN n; END'" \
  "CREATE PROCEDURE loop_record(n int) LANGUAGE plpgsql AS 'DECLARE r record; t text; BEGIN
     FOR r IN SELECT i AS x FROM generate_series(1, n) i LOOP SELECT c1 INTO t FROM patients WHERE id = r.x; END LOOP; END'" \
  "SELECT privacy_score.protect('patients'), privacy_score.protect('visits', '{patient_id}'), privacy_score.protect('stays'),
          privacy_score.protect('parts', '{pb,pa}')" >/dev/null
q "CREATE TABLE patients_too AS SELECT * FROM patients" >/dev/null
q "CREATE ROLE analyst LOGIN" "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO analyst" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
export PGUSER=postgres

figures="SELECT reach, subjects, subject_columns FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()"

# reaches "description" "reach|subjects|subject_columns" STATEMENT...: in one session of its own.
reaches() {
  local description=$1 expected=$2
  shift 2
  check "$description" "$(as analyst q "$@" "$figures" | tail -n 1)" "$expected"
}
# One statement that asks about 20,000.
reaches_many() {
  local description=$1
  shift
  check "$description" "$(as analyst q "$@" "SELECT reach, subjects BETWEEN 19600 AND 20400, subject_columns FROM (${figures%;}) f(reach, subjects, subject_columns)" | tail -n 1)" "1|t|1"
}
# The statements of a range of patients: each "FORMAT" with %d.
for_each() { local i; for ((i = $2; i <= $3; i++)); do printf "$1;\n" "$i"; done; }

# --- the worked examples ----------------------------------------------------------------------------------------------
reaches "a loop over 30 patients" "30|30|1" "$(for_each 'SELECT c1 FROM patients WHERE id = %d' 1 30)"
reaches "a dossier on one patient" "1|1|8" "$(for ((c = 1; c <= 8; c++)); do echo "SELECT c$c FROM patients WHERE id = 7;"; done)"
reaches "a dossier in two statements, one of them of all columns" "1|1|8" "SELECT c1 FROM patients WHERE id = 7" "SELECT * FROM patients WHERE id = 7"
reaches "the same constants again are nothing new" "2|2|1" "$(for i in 1 2 3; do for_each 'SELECT c1 FROM patients WHERE id = %d' 1 2; done)"
reaches "without constants there is one vector and no subject" "1|0|0" "SELECT c1 FROM patients" "SELECT c1 FROM patients"

reaches "all but one, again and again" "5|5|1" "$(for_each 'SELECT c1 FROM patients WHERE id <> %d' 1 5)"
reaches "with NOT before it, or NOT IN" "2|3|1" "SELECT c1 FROM patients WHERE NOT id = 1" "SELECT c1 FROM patients WHERE id NOT IN (2, 3)"
reaches "<> ALL with a parameter" "2|3|1" "PREPARE p(int[]) AS SELECT c1 FROM patients WHERE id <> ALL (\$1)" "EXECUTE p('{1,2}')" "EXECUTE p('{3}')"
reaches "two columns that differ are no subject" "1|0|0" "SELECT a.c1 FROM patients a, visits b WHERE a.id <> b.cost"

# --- parameters -------------------------------------------------------------------------------------------------------
reaches "EXECUTE, custom plans" "5|5|1" "PREPARE p(int) AS SELECT c1 FROM patients WHERE id = \$1" "$(for_each 'EXECUTE p(%d)' 1 5)"
reaches "EXECUTE, generic plans from the first" "30|30|1" "SET plan_cache_mode = force_generic_plan" \
  "PREPARE p(int) AS SELECT c1 FROM patients WHERE id = \$1" "$(for_each 'EXECUTE p(%d)' 1 30)"
reaches "a generic plan after five custom ones" "12|12|1" "PREPARE p(int) AS SELECT c1 FROM patients WHERE id = \$1" "$(for_each 'EXECUTE p(%d)' 1 12)"
reaches "a parameter and the constant of the same text are one subject" "2|2|2" "PREPARE p(bigint) AS SELECT c1 FROM patients WHERE id = \$1" \
  "EXECUTE p(7)" "EXECUTE p(8)" "SELECT c2 FROM patients WHERE id = 7" "SELECT c2 FROM patients WHERE id = '8'::int"
reaches "NULL is a constant and no subject" "2|1|1" "PREPARE p(int) AS SELECT c1 FROM patients WHERE id = \$1" "EXECUTE p(NULL)" "EXECUTE p(1)" "EXECUTE p(NULL)"
reaches "an array parameter" "2|6|1" "PREPARE p(int[]) AS SELECT c1 FROM patients WHERE id = ANY (\$1)" "EXECUTE p('{1,2,3,NULL}')" "EXECUTE p('{4,5,6}')"
reaches "a cursor with a parameter" "3|3|1" "PREPARE p(int) AS SELECT c1 FROM patients WHERE id = \$1" \
  "BEGIN; DECLARE a CURSOR FOR SELECT c1 FROM patients WHERE id = 1; FETCH a; FETCH ALL a; CLOSE a; COMMIT" "EXECUTE p(2)" "EXECUTE p(3)"
reaches "PL/pgSQL, a loop variable" "30|30|1" "SELECT loop_plpgsql(30)"
reaches "PL/pgSQL, a field of a record" "30|30|1" "CALL loop_record(30)"
reaches "DO" "30|30|1" "DO 'DECLARE t text; BEGIN FOR i IN 1..30 LOOP SELECT c1 INTO t FROM patients WHERE id = i; END LOOP; END'"
reaches "DO with dynamic text" "20|20|1" "DO 'DECLARE t text; BEGIN FOR i IN 1..20 LOOP EXECUTE format(''SELECT c1 FROM patients WHERE id = %s'', i) INTO t; END LOOP; END'"
reaches "DO with dynamic text and USING" "20|20|1" "DO 'DECLARE t text; BEGIN FOR i IN 1..20 LOOP EXECUTE ''SELECT c1 FROM patients WHERE id = \$1'' INTO t USING i; END LOOP; END'"
reaches "PL/pgSQL cursors" "10|10|1" "DO 'DECLARE k CURSOR (p int) FOR SELECT c1 FROM patients WHERE id = p; t text; BEGIN FOR i IN 1..10 LOOP OPEN k(i); FETCH k INTO t; CLOSE k; END LOOP; END'"
reaches "a function in SQL" "3|3|1" "SELECT one_sql(1)" "SELECT one_sql(2)" "SELECT one_sql(3)"
reaches "a function in SQL that the planner folds in" "3|3|1" "$(for_each 'SELECT * FROM all_sql(%d)' 1 3)"

# The extended protocol, with prepared statements on the client's side.
printf '\\set i random(1, 300)\nSELECT c1 FROM patients WHERE id = :i;\n' >"$PS_TMP/bench.sql"
for mode in extended prepared; do
  as analyst "$PS_BINDIR/pgbench" -n -M $mode -t 400 --random-seed=5 -f "$PS_TMP/bench.sql" postgres >/dev/null 2>&1
done
check_true "pgbench with parameters is recorded" wait_for "SELECT count(*) FROM privacy_score.session WHERE queries = 400" 2
check "its sessions reach as far as their parameters differ" "$(q "SELECT bool_and(reach BETWEEN 180 AND 260 AND subjects = reach AND subject_columns = 1), count(DISTINCT reach)
  FROM privacy_score.session WHERE queries = 400")" "t|1"

# --- where constants stand --------------------------------------------------------------------------------------------
reaches "an IN list" "1|4|1" "SELECT c1 FROM patients WHERE id IN (1, 2, 3, 4)"
reaches "an array" "2|5|1" "SELECT c1 FROM patients WHERE id = ANY ('{1,2,3}')" "SELECT c1 FROM patients WHERE id = ANY (ARRAY[3, 4, 5])"
reaches "VALUES and unnest" "4|8|1" "SELECT c1 FROM patients p JOIN (VALUES (1), (2), (3)) v(x) ON v.x = p.id" \
  "SELECT c1 FROM patients p, unnest('{4,5}'::int[]) u(x) WHERE u.x = p.id" \
  "SELECT c1 FROM patients p WHERE id IN (SELECT unnest(ARRAY[6, 7]))" "WITH w AS (SELECT 8 AS x) SELECT c1 FROM patients, w WHERE id = w.x"
reaches "OR, NOT, CASE, FILTER" "2|6|1" "SELECT c1 FROM patients WHERE id = 1 OR id = 2" "SELECT c2 FROM patients WHERE NOT id = 3" \
  "SELECT max(CASE WHEN id = 4 THEN c2 END), max(CASE id WHEN 5 THEN c2 END) FROM patients" \
  "SELECT max(c2) FILTER (WHERE id = 6) FROM patients" "SELECT c1 FROM patients WHERE id IS NOT DISTINCT FROM 1"
reaches "casts of the column" "2|2|1" "SELECT c1 FROM patients WHERE id::text = '1'" "SELECT c1 FROM patients WHERE CAST(id AS numeric) = 2"
reaches "an expression of constants is one subject" "3|3|1" "SELECT c1 FROM patients WHERE id = 1 + 1" "SELECT c1 FROM patients WHERE id = 1 + 2" "SELECT c1 FROM patients WHERE id = 1 + 3"
reaches "a view" "2|2|3" "SELECT c1 FROM seen WHERE who = 1" "SELECT c1 FROM seen WHERE who = 2" "SELECT c2 FROM seen WHERE who = 2"
reaches "a copy" "1|2|2" "SELECT c1 FROM copied WHERE who = 1" "SELECT c2 FROM patients WHERE id = 1" "SELECT c2 FROM patients_too WHERE id = 2"
reaches "a subquery, a WITH query, a set operation" "3|3|1" "SELECT c1 FROM (SELECT * FROM patients) s WHERE s.id = 1" \
  "WITH w AS (SELECT * FROM patients) SELECT c1 FROM w WHERE id = 2" \
  "SELECT c1 FROM (SELECT id, c1 FROM patients UNION ALL SELECT id, c1 FROM patients) s WHERE id = 3"
reaches "equated columns" "2|2|3" "SELECT c1, ward FROM patients p JOIN visits v ON v.patient_id = p.id WHERE v.patient_id = 5" \
  "SELECT c1, ward FROM patients p JOIN visits v ON v.patient_id = p.id WHERE v.patient_id = 6" \
  "SELECT cost FROM visits WHERE patient_id = 5"
reaches "relations that share the subject" "1|1|4" "SELECT c1, c2 FROM patients WHERE id = 5" "SELECT ward, cost FROM visits WHERE patient_id = 5"
reaches "another column is no subject" "3|0|0" "$(for_each 'SELECT c1 FROM visits JOIN patients ON patients.id = patient_id WHERE visits.id = %d' 1 3)"
reaches "a subject of two columns" "3|3|1" "SELECT ward FROM stays WHERE a = 1 AND b = 'x'" "SELECT ward FROM stays WHERE (a, b) IN ((1, 'x'), (2, 'y'))" \
  "SELECT ward FROM stays WHERE (a, b) IN ((1, 'x'), (3, 'z'))" "SELECT ward FROM stays WHERE a = 9"
reaches "shared by a foreign key in another order" "1|1|2" "SELECT ward FROM stays WHERE a = 1 AND b = 'x'" "SELECT note FROM parts WHERE pa = 1 AND pb = 'x'"
reaches "what writes" "3|3|1" "UPDATE patients SET c8 = c8 WHERE id = 1" "UPDATE patients SET c8 = c8 WHERE id = 2" "UPDATE patients SET c8 = c8 WHERE id = 3" \
  "DELETE FROM patients WHERE id = 1 AND c1 = 'none'"
reaches "what is not protected does not count" "1|0|0" "$(for_each 'SELECT floor FROM wards WHERE floor = %d' 1 20)" "SELECT c1 FROM patients" \
  "$(for_each "INSERT INTO wards VALUES ('w', %d)" 1 20)"
reaches "COPY has no constants" "1|0|0" "COPY patients (c1) TO STDOUT" "COPY patients (c1) TO STDOUT"
reaches "COPY of a query has them" "2|2|1" "COPY (SELECT c1 FROM patients WHERE id = 1) TO STDOUT" "COPY (SELECT c1 FROM patients WHERE id = 2) TO STDOUT"
reaches "plain EXPLAIN asks about its constants, too" "1|2|1" "EXPLAIN SELECT c1 FROM patients WHERE id = 1" "EXPLAIN (ANALYZE) SELECT c1 FROM patients WHERE id = 2"
list=$(seq -s, 1 20000)
# More than 4,096 are estimated: off by more than 2 % in fewer than one of a million.
reaches_many "a large list" "SELECT c1 FROM patients WHERE id IN ($list)"
reaches_many "a large list that is prepared" "SET plan_cache_mode = force_generic_plan" "PREPARE p AS SELECT c1 FROM patients WHERE id IN ($list)" "EXECUTE p" "EXECUTE p"
check "no scoring error came up" "$(q "SELECT scoring_errors, dropped FROM privacy_score.stat_info")" "0|0"

# --- history, baselines, alerts ---------------------------------------------------------------------------------------
check_true "the last session is recorded" wait_for "SELECT count(*) FROM privacy_score.stat_sessions WHERE role = 'analyst'" 0
# A session that has ended is shown no more before it is written.
q "SELECT privacy_score.flush()" "DELETE FROM privacy_score.session" "SELECT privacy_score.flush()" >/dev/null
as analyst q "$(for_each 'SELECT c1 FROM patients WHERE id = %d' 1 5)" "SELECT c2, c3 FROM patients WHERE id = 5" >/dev/null
as analyst q "$(for_each 'SELECT c1 FROM patients WHERE id = %d' 1 4)" >/dev/null
check_true "sessions are recorded with their reach" wait_for "SELECT string_agg(concat_ws(',', reach, subjects, subject_columns), ' ' ORDER BY reach) FROM privacy_score.session" "4,4,1 5,5,3"
check "score_sessions shows it" "$(as analyst q "SELECT rows, reach, subjects, subject_columns FROM privacy_score.score_sessions('analyst', '-infinity', 'infinity') ORDER BY reach")" \
  $'4|4|4|1\n6|5|5|3'
q "SELECT privacy_score.set_baseline('analyst', privacy_score.today(), privacy_score.today())" >/dev/null
check "the baseline keeps the greatest" "$(q "SELECT reach, subjects, subject_columns FROM privacy_score.baseline WHERE active")" "5|5|3"
q "CREATE ROLE peer LOGIN" "CREATE ROLE unknown LOGIN" "GRANT SELECT ON ALL TABLES IN SCHEMA public TO peer, unknown" \
  "SELECT privacy_score.import_baseline(jsonb_set(privacy_score.export_baseline('analyst'), '{role}', '\"peer\"'))" \
  "SELECT privacy_score.import_baseline(jsonb_set(privacy_score.export_baseline('analyst'), '{role}', '\"unknown\"') - 'reach' - 'subjects' - 'subject_columns')" \
  "ALTER ROLE peer SET privacy_score.mode = 'warn'" "SELECT privacy_score.flush()" >/dev/null
check "a baseline travels with its reach" "$(q "SELECT role, reach, subjects, subject_columns FROM privacy_score.baseline WHERE active ORDER BY role")" \
  $'analyst|5|5|3\npeer|5|5|3\nunknown|||'
check "a bad figure is refused" "$(q_state "SELECT privacy_score.import_baseline(privacy_score.export_baseline('peer') || '{\"reach\": -1}')")" 22023
alerts="SELECT kind, detail->>'figure', score, alert_limit, blocked FROM privacy_score.alerts WHERE role = '%s' ORDER BY 2"
alerts_of() { q "$(printf "$alerts" "$1")"; }

as analyst q "$(for_each 'SELECT c1 FROM patients WHERE id = %d' 1 10)" >/dev/null
as unknown q "$(for_each 'SELECT c1 FROM patients WHERE id = %d' 1 60)" >/dev/null
warning=$(as peer q_all "$(for_each 'SELECT c1 FROM patients WHERE id = %d' 1 40)" "SELECT pg_sleep(0.2)")
check_true "out of reach: an alert a figure" wait_for "SELECT count(*) FROM privacy_score.alert WHERE role = 'peer'" 2
check "of kind reach, at the first value beyond the factor" "$(alerts_of peer)" $'reach|reach|11|10|f\nreach|subjects|11|10|f'
check "the detail has value, baseline and factor" "$(q "SELECT detail FROM privacy_score.alert WHERE role = 'peer' ORDER BY detail->>'figure' LIMIT 1")" \
  '{"cause": "reach", "value": 11, "factor": 2, "figure": "reach", "baseline": 5}'
check_match "warn: the client is told" "$warning" "WARNING:  distinct subjects asked about of this session, 11, are above the limit 10"
check "once a figure" "$(grep -c WARNING <<<"$warning")" 2
check "twice the baseline is not beyond the factor" "$(alerts_of analyst)" ""
check "nothing is said where the baseline is not known" "$(alerts_of unknown)" ""
q "ALTER ROLE analyst SET privacy_score.reach_factor = 1.5" >/dev/null
as analyst q "$(for_each 'SELECT c1 FROM patients WHERE id = %d' 1 9)" >/dev/null
as analyst q "$(for_each 'SELECT c1 FROM patients WHERE id = %d' 1 10)" >/dev/null
check_true "below 10 nothing is said; the factor can be set" wait_for "SELECT string_agg(detail->>'figure' || score, ' ' ORDER BY 1) FROM (SELECT detail, score FROM privacy_score.alert WHERE role = 'analyst' ORDER BY detail->>'figure') a" "reach10 subjects10"
check "a watched role cannot set it" "$(as analyst q_state "SET privacy_score.reach_factor = 100")" 42501

# --- what stays hidden ------------------------------------------------------------------------------------------------
check "other roles' figures are not seen" "$(as analyst q "SELECT count(*) FROM privacy_score.stat_sessions WHERE role <> 'analyst'")" 0
marker=7310592846
as analyst q "SELECT c1 FROM patients WHERE id::bigint = $marker" "SELECT c1 FROM patients WHERE c1 = 'secret$marker'" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check "no constant is stored" "$(q "SELECT count(*) FROM privacy_score.abstraction WHERE tokens::text LIKE '%$marker%'" "SELECT count(*) FROM privacy_score.alert WHERE detail::text LIKE '%$marker%'")" $'0\n0'
stop_server
check "nor written anywhere" "$(grep -rlF "$marker" "$PGDATA" | wc -l)" 0

done_testing

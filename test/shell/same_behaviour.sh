#!/bin/bash
# same_behaviour.sh - PostgreSQL behaves as before: what a watched role sees with the library loaded in mode observe is,
# byte for byte, what it sees without it. Two servers with the same data get the same statements; results, plans, errors
# with code and position, notices, row counts, cursors, prepared statements and the state of transactions are compared.
. "$(dirname "$0")/../lib.sh"

setup() {
  q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
CREATE ROLE watched LOGIN;
CREATE SCHEMA h;
GRANT USAGE ON SCHEMA h TO watched;
GRANT CREATE ON SCHEMA h TO watched;
CREATE TABLE h.patients (id int PRIMARY KEY, name text, city text, age int, ward int);
INSERT INTO h.patients SELECT i, 'n' || i, 'c' || i % 7, i % 90, i % 5 FROM generate_series(1, 500) i;
CREATE TABLE h.wards (id int PRIMARY KEY, title text);
INSERT INTO h.wards SELECT i, 'w' || i FROM generate_series(0, 4) i;
CREATE TABLE h.parts (id int, kind text) PARTITION BY LIST (kind);
CREATE TABLE h.part_a PARTITION OF h.parts FOR VALUES IN ('a');
CREATE TABLE h.part_b PARTITION OF h.parts FOR VALUES IN ('b');
INSERT INTO h.parts SELECT i, chr(97 + i % 2) FROM generate_series(1, 20) i;
CREATE TABLE h.secrets (code text);
CREATE VIEW h.of_city AS SELECT city, count(*) AS n FROM h.patients GROUP BY city;
CREATE VIEW h.barrier WITH (security_barrier) AS SELECT name, age FROM h.patients WHERE ward = 1;
CREATE TABLE h.policed (id int, word text);
INSERT INTO h.policed SELECT i, 'w' || i FROM generate_series(1, 10) i;
ALTER TABLE h.policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON h.policed USING (id % 2 = 0);
CREATE FUNCTION h.inlined(low int) RETURNS TABLE (i int, n text) STABLE LANGUAGE sql AS 'SELECT id, name FROM h.patients WHERE id > low';
CREATE FUNCTION h.looked_up(int) RETURNS text LANGUAGE plpgsql AS $$DECLARE n text; BEGIN SELECT name INTO STRICT n FROM h.patients WHERE id = $1; RAISE NOTICE 'found %', n; RETURN n; END$$;
CREATE FUNCTION h.fails(int) RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT 1 / (age - 3) FROM h.patients WHERE id = $1); END$$;
CREATE PROCEDURE h.commits() LANGUAGE plpgsql AS $$BEGIN FOR i IN 1 .. 3 LOOP INSERT INTO h.mine VALUES (i); IF i = 2 THEN ROLLBACK; ELSE COMMIT; END IF; END LOOP; END$$;
GRANT SELECT ON h.patients, h.wards, h.parts, h.of_city, h.barrier, h.policed TO watched;
GRANT UPDATE (age) ON h.patients TO watched;
ALTER ROLE watched SET search_path = h, public;
VACUUM ANALYZE;
SQL
}

echo "\\set forced_parallel $forced_parallel" >"$PS_TMP/corpus.sql"
cat >>"$PS_TMP/corpus.sql" <<'SQL'
\set VERBOSITY verbose
\set SHOW_ALL_RESULTS on
\timing off
-- results and row counts
SELECT * FROM patients WHERE id < 5 ORDER BY id;
SELECT city, count(*), min(age) FROM patients GROUP BY city ORDER BY city;
SELECT p.name, w.title FROM patients p JOIN wards w ON w.id = p.ward WHERE p.id BETWEEN 10 AND 14 ORDER BY 1;
TABLE of_city ORDER BY 1;
SELECT * FROM barrier ORDER BY 1 LIMIT 3;
SELECT * FROM policed ORDER BY id;
SELECT * FROM inlined(495) ORDER BY i;
SELECT looked_up(3), looked_up(4);
SELECT row_to_json(w) FROM wards w ORDER BY id;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r;
SELECT id, lag(name) OVER (ORDER BY id) FROM patients ORDER BY id LIMIT 3;
SELECT 1 \; SELECT 2 AS two \; SELECT name FROM patients WHERE id = 1;
;
-- plans
EXPLAIN (COSTS OFF) SELECT * FROM patients WHERE id = 1;
EXPLAIN (COSTS OFF, VERBOSE) SELECT p.name, w.title FROM patients p JOIN wards w ON w.id = p.ward WHERE p.id < 10;
EXPLAIN (VERBOSE) SELECT * FROM patients WHERE age > 30;
EXPLAIN (COSTS OFF, VERBOSE, FORMAT JSON) SELECT city FROM patients WHERE id = 1;
EXPLAIN (COSTS OFF, VERBOSE) SELECT * FROM barrier;
EXPLAIN (COSTS OFF) SELECT * FROM policed;
EXPLAIN (COSTS OFF, VERBOSE) SELECT n FROM inlined(5);
EXPLAIN (COSTS OFF) SELECT * FROM parts WHERE kind = 'a';
EXPLAIN (ANALYZE, COSTS OFF, BUFFERS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM patients WHERE ward = 1;
EXPLAIN (ANALYZE, COSTS OFF, BUFFERS OFF, TIMING OFF, SUMMARY OFF, FORMAT XML) SELECT 1;
EXPLAIN (COSTS OFF) UPDATE patients SET age = age + 1;
EXPLAIN (COSTS OFF) DECLARE c CURSOR FOR SELECT * FROM patients;
EXPLAIN (COSTS OFF, SETTINGS) SELECT 1;
PREPARE e(int) AS SELECT name FROM patients WHERE id = $1;
EXPLAIN (COSTS OFF) EXECUTE e(1);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE e(1);
RESET plan_cache_mode;
SET :forced_parallel = on;
EXPLAIN (COSTS OFF) SELECT count(*) FROM patients;
SELECT count(*) FROM patients;
RESET :forced_parallel;
-- errors: code, position, context, hint; and what follows them
SELECT nosuch FROM patients;
SELECT naem FROM patients;
SELECT * FROM nosuch;
SELEC 1;
SELECT * FROM secrets;
COPY secrets TO STDOUT;
COPY of_city TO STDOUT;
COPY patients (nosuch) TO STDOUT;
COPY patients TO '/tmp/never';
UPDATE patients SET name = 'x';
DELETE FROM patients;
SELECT 1 / (age - 3) FROM patients;
SELECT fails(3);
SELECT looked_up(-1);
SELECT name::int FROM patients WHERE id = 7;
SELECT count(*) FROM patients GROUP BY;
SELECT nosuch(1);
EXECUTE nosuch;
EXECUTE e;
EXECUTE e(1, 2);
EXECUTE e('x');
PREPARE e AS SELECT 1;
SELECT * FROM patients FOR UPDATE;
SELECT sum(name) FROM patients;
DO $$BEGIN PERFORM 1 / 0; END$$;
DO $$BEGIN RAISE EXCEPTION 'mine' USING ERRCODE = 'AB123', HINT = 'none', DETAIL = 'some'; END$$;
DO $$BEGIN BEGIN PERFORM 1 / (age - 3) FROM patients; EXCEPTION WHEN division_by_zero THEN RAISE NOTICE 'caught %', SQLSTATE; END; END$$;
SELECT 1 LIMIT -1;
SET work_mem = 'nonsense';
SET no.such = 1;
SHOW no.such;
SHOW no.such2;
-- notices, warnings
DROP TABLE IF EXISTS nosuch;
COMMIT;
BEGIN;
BEGIN;
ROLLBACK;
CREATE TABLE mine (i int PRIMARY KEY);
CREATE TABLE IF NOT EXISTS mine (i int);
-- writing, row counts, RETURNING, constraints
INSERT INTO mine SELECT i FROM generate_series(10, 15) i;
INSERT INTO mine VALUES (10);
INSERT INTO mine VALUES (10), (20) ON CONFLICT DO NOTHING RETURNING i;
UPDATE mine SET i = i + 100 WHERE i > 13 RETURNING *;
DELETE FROM mine WHERE i > 100;
UPDATE patients SET age = age WHERE id = 1;
MERGE INTO mine USING generate_series(10, 12) g ON g = i WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (g);
WITH x AS (INSERT INTO mine SELECT id + 1000 FROM patients WHERE id < 3 RETURNING i) SELECT * FROM x ORDER BY i;
CREATE TABLE copied AS SELECT name FROM patients WHERE id < 4;
SELECT name INTO copied2 FROM patients WHERE id < 3;
CREATE MATERIALIZED VIEW kept AS SELECT id, name FROM patients WHERE id < 4;
CREATE UNIQUE INDEX ON kept (id);
REFRESH MATERIALIZED VIEW kept;
REFRESH MATERIALIZED VIEW CONCURRENTLY kept;
COPY patients (id, name) TO STDOUT (FORMAT csv, HEADER);
COPY (SELECT name FROM patients WHERE id < 4 ORDER BY id) TO STDOUT;
COPY mine FROM STDIN;
77
78
\.
TRUNCATE mine;
CALL commits();
SELECT * FROM mine ORDER BY i;
BEGIN;
CALL commits();
ROLLBACK;
-- prepared statements
PREPARE p(int) AS SELECT name FROM patients WHERE id = $1;
EXECUTE p(1);
EXECUTE p(2);
EXECUTE p(3);
EXECUTE p(4);
EXECUTE p(5);
EXECUTE p(6);
EXECUTE p(7);
SELECT name, parameter_types, generic_plans, custom_plans FROM pg_prepared_statements ORDER BY name;
ALTER TABLE copied ADD extra int;
PREPARE changing AS SELECT * FROM copied ORDER BY 1;
EXECUTE changing;
ALTER TABLE copied ADD more int;
EXECUTE changing;
DEALLOCATE ALL;
-- cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, name FROM patients ORDER BY id;
FETCH 1 FROM c;
FETCH FORWARD 5 FROM c;
MOVE 10 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ABSOLUTE 100 FROM c;
FETCH RELATIVE -1 FROM c;
FETCH LAST FROM c;
FETCH NEXT FROM c;
FETCH FIRST FROM c;
FETCH 0 FROM c;
SELECT name, is_scrollable, is_holdable, statement FROM pg_cursors;
CLOSE c;
DECLARE n NO SCROLL CURSOR FOR SELECT id FROM patients;
FETCH 3 FROM n;
FETCH BACKWARD 1 FROM n;
ROLLBACK;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT id FROM patients ORDER BY id DESC;
FETCH 2 FROM held;
COMMIT;
FETCH 2 FROM held;
CLOSE held;
FETCH 1 FROM held;
BEGIN;
DECLARE u CURSOR FOR SELECT i FROM mine ORDER BY i FOR UPDATE;
FETCH 1 FROM u;
UPDATE mine SET i = i + 50 WHERE CURRENT OF u;
COMMIT;
SELECT * FROM mine ORDER BY i;
\set FETCH_COUNT 3
SELECT id, name FROM patients WHERE id < 9 ORDER BY id;
SELECT 1 / (5 - id) FROM patients WHERE id < 9 ORDER BY id;
\unset FETCH_COUNT
-- transactions
BEGIN;
SELECT name FROM patients WHERE id = 1;
SELECT nosuch FROM patients;
SELECT 1;
COMMIT;
BEGIN;
INSERT INTO mine VALUES (500);
SAVEPOINT a;
INSERT INTO mine VALUES (500);
ROLLBACK TO a;
INSERT INTO mine VALUES (501);
RELEASE a;
SELECT count(*) FROM mine WHERE i >= 500;
COMMIT;
BEGIN READ ONLY;
INSERT INTO mine VALUES (600);
SELECT count(*) FROM patients;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM patients;
COMMIT;
\set ON_ERROR_ROLLBACK on
BEGIN;
SELECT 1 / 0;
SELECT 2;
COMMIT;
\set ON_ERROR_ROLLBACK off
SET statement_timeout = '50ms';
SELECT name, pg_sleep(1) FROM patients;
SHOW statement_timeout;
RESET statement_timeout;
SET lock_timeout = '50ms';
RESET lock_timeout;
-- descriptions, sessions
SELECT id, name, NULL::numeric(5, 2) AS n FROM patients \gdesc
SELECT name FROM patients WHERE id = 3 \gset got_
\echo :got_name :ROW_COUNT :SQLSTATE
SET ROLE nosuch;
SHOW search_path;
SHOW compute_query_id;
DISCARD ALL;
SHOW search_path;
SELECT pg_typeof(ctid), count(*) FROM h.patients GROUP BY 1;
SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'h.patients'::regclass;
SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid();
SELECT schemaname, relname FROM pg_statio_user_tables WHERE relname = 'patients';
SELECT current_user, session_user, current_setting('is_superuser');
\d h.patients
SQL

# Runs everything against the current server; the answers go to NAME.*
run_all() {
  as watched psql -X -a -f "$PS_TMP/corpus.sql" >"$PS_TMP/$1.psql" 2>&1
  printf 'SELECT name FROM h.patients WHERE id = :id \\gset\nSELECT count(*) FROM h.patients WHERE age < :id \\gset c_\n' >"$PS_TMP/bench.sql"
  printf '\\if 1\nSELECT 1 / (:id - 7);\n\\endif\n' >"$PS_TMP/bad.sql"
  for mode in simple extended prepared; do
    as watched pgbench -n -M $mode -t 20 -D id=7 -f "$PS_TMP/bench.sql" 2>&1 | grep -vE 'latency|tps|connection time|^pgbench \('
    as watched pgbench -n -M $mode -t 1 -D id=7 -f "$PS_TMP/bad.sql" 2>&1 | grep -vE 'latency|tps|connection time|^pgbench \('
  done >"$PS_TMP/$1.bench"
  as watched pg_dump -t h.patients 2>&1 | grep -v '^\\\(un\)\?restrict' >"$PS_TMP/$1.dump"
}

use_server without
start_server "shared_preload_libraries = ''"
setup
run_all without
stop_server

use_server with
start_server "privacy_score.mode = 'observe'"
setup
q "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('h.patients')" "SELECT privacy_score.flush()" >/dev/null
run_all with
q "SELECT privacy_score.flush()" >/dev/null
check_true "the role is watched" test "$(q "SELECT sum(queries) FROM privacy_score.session WHERE role = 'watched'")" -gt 150
check_scored

for part in psql bench dump; do
  check "the same: $part" "$(diff "$PS_TMP/without.$part" "$PS_TMP/with.$part" | head -n 20)" ""
done
for word in 'ERROR:  42703' 'LINE 1: SELECT nosuch' 'CONTEXT:  PL/pgSQL function' 'NOTICE:  00000: found n3' 'UPDATE 1' 'ERROR:  57014' 'Index Scan using patients_pkey' 'ERROR:  25P02' 'WARNING:  25P01'; do
  check_true "the corpus has: $word" grep -qF "$word" "$PS_TMP/with.psql"
done
check_true "pgbench has its transactions" grep -q 'number of transactions actually processed: 20/20' "$PS_TMP/with.bench"
done_testing

#!/bin/bash
# awaited_keys.sh - who writes a key that an open transaction has inserted or deleted waits for it. A statement that is
# broken off meanwhile tells that the key is there: it counts as tried, also when it waits at the end of the transaction,
# and when the session is terminated. One that waits for a row, or for nothing, does not.
. "$(dirname "$0")/../attack.sh"
start_hospital
q "CREATE EXTENSION btree_gist" "GRANT SELECT, INSERT, UPDATE, DELETE, REFERENCES ON h.patients, h.visits TO mallory, alice" >/dev/null
q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
SET search_path = h, public;
CREATE TABLE h.stays (room int, during int4range, name text, UNIQUE (name), EXCLUDE USING gist (room WITH =, during WITH &&));
CREATE TABLE h.people (id int PRIMARY KEY, name text UNIQUE, age int);
INSERT INTO h.people VALUES (1, 'n1', 1), (2, 'n2', 2);
CREATE TABLE h.wards (ward int PRIMARY KEY, floor int);
INSERT INTO h.wards VALUES (1, 1), (2, 2);
CREATE TABLE h.beds (id int, ward int REFERENCES h.wards);
INSERT INTO h.beds VALUES (1, 1);
CREATE TABLE h.years (id int, year int, PRIMARY KEY (id, year)) PARTITION BY RANGE (year);
CREATE TABLE h.year1 PARTITION OF h.years FOR VALUES FROM (1) TO (2);
CREATE UNIQUE INDEX only_here ON h.year1 (id);
CREATE TABLE h.slots (id int PRIMARY KEY, person int UNIQUE DEFERRABLE INITIALLY DEFERRED, room int, EXCLUDE USING gist (room WITH =) DEFERRABLE INITIALLY DEFERRED,
  patient int REFERENCES h.patients DEFERRABLE INITIALLY DEFERRED);
INSERT INTO h.slots SELECT i, i, i FROM generate_series(1, 10) i;
SELECT privacy_score.protect(r) FROM unnest('{h.stays,h.people,h.beds,h.years,h.slots}'::text[]) r;
GRANT SELECT, INSERT, UPDATE, DELETE ON h.stays, h.people, h.wards, h.beds, h.years, h.year1, h.slots TO mallory, alice;
SET ROLE mallory;
CREATE TABLE h.own (id int PRIMARY KEY);
CREATE TABLE h.refers (patient int REFERENCES h.patients);
CREATE PROCEDURE h.commits() LANGUAGE plpgsql AS $$BEGIN UPDATE h.slots SET person = 107 WHERE id = 8; COMMIT; END$$;
CREATE TABLE h.own_late (id int UNIQUE DEFERRABLE INITIALLY DEFERRED);
SQL
# What an open transaction has done.
q "BEGIN" "INSERT INTO h.patients (id) VALUES (1007), (1008)" "DELETE FROM h.patients WHERE id = 1008" "DELETE FROM h.people WHERE id = 2" "INSERT INTO h.people VALUES (7, 'n7', 7)" \
  "INSERT INTO h.stays VALUES (7, '[1,9)', 'n7')" "DELETE FROM h.beds" "INSERT INTO h.years VALUES (1, 1)" "INSERT INTO h.own VALUES (1)" "INSERT INTO h.wards VALUES (3)" \
  "INSERT INTO h.slots VALUES (107, 107, 107)" "INSERT INTO h.own_late VALUES (1)" \
  "PREPARE TRANSACTION 'open'" >/dev/null || bail_out "no transaction is open"
q "BEGIN" "DELETE FROM h.visits WHERE patient = 30" "DELETE FROM h.patients WHERE id = 30" "PREPARE TRANSACTION 'gone'" >/dev/null || bail_out "no row is being deleted"
wait="SET lock_timeout = '100ms'"
tried="cmd:insert t:h.patients w:h.patients.id"
inserted="cmd:insert s:h.patients.id t:h.patients"
people="cmd:insert t:h.people w:h.people.id; cmd:insert t:h.people w:h.people.name"

# --- what waited for a key ----------------------------------------------------------------------------------------------------
failing_path "lock_timeout" "$inserted; $tried" "lock timeout" "$wait" "INSERT INTO patients (id) VALUES (1007)"
failing_path "a key that is being deleted" "cmd:insert s:h.people.id s:h.people.name t:h.people; $people" "lock timeout" "$wait" "INSERT INTO people VALUES (2, 'x')"
failing_path "the second key" "cmd:insert s:h.people.id s:h.people.name t:h.people; $people" "lock timeout" "$wait" "INSERT INTO people VALUES (1000, 'n7')"
failing_path "statement_timeout" "$inserted; $tried" "statement timeout" "SET statement_timeout = '3s'" "INSERT INTO patients (id) VALUES (1007)"
failing_path "an exclusion constraint" "cmd:insert s:h.stays.during s:h.stays.room t:h.stays; cmd:insert t:h.stays w:h.stays.name; cmd:insert t:h.stays w:h.stays.during w:h.stays.room" \
  "lock timeout" "$wait" "INSERT INTO stays VALUES (7, '[3,4)')"
years="cmd:insert t:h.years w:h.years.id w:h.years.year; cmd:insert t:h.years w:h.years.id"
failing_path "a partition, by its root" "cmd:insert s:h.years.id s:h.years.year t:h.years; $years" "lock timeout" "$wait" "INSERT INTO years VALUES (1, 1)"
failing_path "UPDATE: the keys that change" "cmd:update s:h.people.name t:h.people w:h.people.id; cmd:insert t:h.people w:h.people.name" "lock timeout" "$wait" "UPDATE people SET name = 'n7' WHERE id = 1"
failing_path "MERGE" "~; $people\$" "lock timeout" "$wait" "MERGE INTO people USING (VALUES (7)) v(i) ON false WHEN NOT MATCHED THEN INSERT VALUES (i, 'x')"
failing_path "INSERT ... SELECT" "$inserted; $tried" "lock timeout" "$wait" "INSERT INTO patients (id) SELECT 1000 + generate_series(6, 7)"
failing_path "COPY" "$tried" "lock timeout" "$wait" "\\copy patients (id) from program 'echo 1007'"
failing_path "a WITH query" "cmd:select s:h.patients.id t:h.patients; $tried" "lock timeout" "$wait" "WITH i AS (INSERT INTO patients (id) VALUES (1007)) SELECT 1"
path "caught" "$inserted; $tried" "$wait" "DO \$\$BEGIN INSERT INTO patients (id) VALUES (1007); EXCEPTION WHEN lock_not_available THEN PERFORM 1; END\$\$"
failing_path "a foreign key to a row that is being deleted" "cmd:insert s:h.refers.patient t:h.refers; cmd:select t:h.patients w:h.patients.id" "lock timeout" "$wait" "INSERT INTO refers VALUES (30)"
failing_path "a row that is referred to by one that is being deleted" "cmd:delete t:h.wards w:h.wards.ward; cmd:select t:h.beds w:h.beds.ward" "lock timeout" "$wait" "DELETE FROM wards WHERE ward = 1"

failing_path "a foreign key to a row that has changed since the transaction began" "~; cmd:insert s:h.refers.patient t:h.refers; cmd:select t:h.patients w:h.patients.id\$" "concurrent" "BEGIN ISOLATION LEVEL REPEATABLE READ" \
  "SELECT 1 FROM h.own LIMIT 1" "\\! PGUSER=postgres PGAPPNAME= $PS_BINDIR/psql -XAtqc 'DELETE FROM h.visits WHERE patient = 31' -c 'DELETE FROM h.patients WHERE id = 31'" "INSERT INTO refers VALUES (31)"

# --- what waits when the transaction ends -------------------------------------------------------------------------------------
changed="cmd:update s:h.slots.person t:h.slots w:h.slots.id"
later="cmd:insert t:h.slots w:h.slots.person"
update="UPDATE slots SET person = 107 WHERE id = 8"
failing_path "COMMIT" "$changed; $later" "lock timeout" "$wait" BEGIN "$update" COMMIT
failing_path "SET CONSTRAINTS" "$changed; $later" "lock timeout" "$wait" BEGIN "$update" "SET CONSTRAINTS ALL IMMEDIATE"
failing_path "PREPARE TRANSACTION" "$changed; $later" "lock timeout" "$wait" BEGIN "$update" "PREPARE TRANSACTION 'x'"
failing_path "a statement that commits by itself" "$changed; $later" "lock timeout" "$wait" "$update"
failing_path "an anonymous block" "~; $later\$" "lock timeout" "$wait" "DO \$\$BEGIN UPDATE h.slots SET person = 107 WHERE id = 8; END\$\$"
failing_path "a procedure that commits" "~; $later\$" "lock timeout" "$wait" "CALL h.commits()"
failing_path "COPY that commits" "$later" "lock timeout" "$wait" "\\copy slots (id, person) from program 'printf \"70\\t107\"'"
path_of "with the next statement" "$changed; $later; cmd:select p:h.own.id t:h.own" psql -XAtq -c "$wait" -c "$update" -c "SELECT id FROM h.own LIMIT 1"
failing_path "an exclusion constraint" "cmd:update s:h.slots.room t:h.slots w:h.slots.id; cmd:insert t:h.slots w:h.slots.person; cmd:insert t:h.slots w:h.slots.room" "lock timeout" "$wait" "UPDATE slots SET room = 107 WHERE id = 8"
failing_path "a foreign key" "~^cmd:update s:h.slots.patient t:h.slots w:h.slots.id; cmd:select t:h.patients w:h.patients.id\$" "lock timeout" "$wait" "UPDATE slots SET patient = 30 WHERE id = 8"
failing_path "a table of one's own" "cmd:insert s:h.own_late.id t:h.own_late" "lock timeout" "$wait" "INSERT INTO own_late VALUES (1)"

# --- a session that ends while it waits ---------------------------------------------------------------------------------------
# ended "what" "expected events" STATEMENT: it waits, and is terminated by another session of the same role.
ended() {
  local pid
  begin_path "$1" "$2"
  as_mallory "$3" >/dev/null &
  pid=$!
  PGAPPNAME='' wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'mallory' AND wait_event_type IN ('Lock', 'Timeout')" 1
  PGAPPNAME='' as mallory q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'path ${#ps_paths[@]}'" >/dev/null
  wait "$pid"
}
ended "terminated: a key" "$inserted; $tried" "INSERT INTO patients (id) VALUES (1007)"
ended "terminated: at the end of the transaction" "$changed; $later" "$update"
ended "terminated: a foreign key" "cmd:insert s:h.refers.patient t:h.refers; $tried" "INSERT INTO refers VALUES (30)"
ended "terminated: COPY" "$tried" "\\copy patients (id) from program 'echo 1007'"
ended "terminated: what waits for a row" "cmd:update s:h.people.age t:h.people w:h.people.id" "UPDATE people SET age = 1 WHERE id = 2"
ended "terminated: what waits for nobody" "cmd:select p:h.people.id t:h.people" "SELECT id, pg_sleep(1000) FROM people"

# --- what did not -------------------------------------------------------------------------------------------------------------
failing_path "a row that its own condition has found" "cmd:update s:h.people.age t:h.people w:h.people.id" "lock timeout" "$wait" "UPDATE people SET age = 1 WHERE id = 2"
# It is cancelled once it has written something: its time is the machine's affair.
{
  wait_for "SELECT pg_relation_size('h.people') > 100000" t
  as mallory q "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'path $((${#ps_paths[@]} + 1))'"
} >/dev/null &
canceller=$!
failing_path "a cancel of what does not wait" "cmd:insert s:h.people.id t:h.people" "user request" "INSERT INTO people (id) SELECT generate_series(1000, 1000000000)"
wait "$canceller"
failing_path "a table of one's own" "cmd:insert s:h.own.id t:h.own" "lock timeout" "$wait" "INSERT INTO own VALUES (1)"
failing_path "a table that is not protected" "cmd:insert s:h.wards.ward t:h.wards" "lock timeout" "$wait" "INSERT INTO wards VALUES (3)"
failing_path "LOCK TABLE" "" "lock timeout" "$wait" BEGIN "LOCK TABLE patients IN ROW SHARE MODE" "LOCK TABLE patients IN SHARE MODE"
path "COPY ... WHERE that lets nothing in" "" "\\copy patients (id) from program 'echo 7' where id > 7"
failing_path "COPY ... WHERE" "cmd:insert t:h.patients w:h.patients.id" "duplicate key" "\\copy patients (id) from program 'echo 7' where id = 7"
verify_paths

# --- in reach -----------------------------------------------------------------------------------------------------------------
figures="SELECT reach, subjects FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()"
check "keys reach, one row or a list" "$(as mallory psql -XAtq -c "SET lock_timeout = '50ms'" -c "INSERT INTO h.patients (id) VALUES (1007)" -c "INSERT INTO h.patients (id) VALUES (2000), (1007)" -c "$figures" 2>/dev/null)" "2|2"

# --- a deadlock ---------------------------------------------------------------------------------------------------------------
q "ALTER ROLE mallory SET deadlock_timeout = '20ms'" "ALTER ROLE alice SET deadlock_timeout = '1h'" >/dev/null
# until_there NUMBER CONDITION: a statement that waits for it, but not for ever, and holds an advisory lock meanwhile: the one
# before it is over.
until_there() { echo "DO \$\$BEGIN PERFORM pg_advisory_xact_lock($1); FOR i IN 1..6000 LOOP EXIT WHEN EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE $2); PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP; END\$\$"; }
as alice q "BEGIN" "INSERT INTO h.patients (id) VALUES (2001)" "$(until_there 1 "usename = 'mallory' AND locktype = 'advisory'")" "INSERT INTO h.patients (id) VALUES (2002)" "ROLLBACK" >/dev/null 2>&1 &
alice=$!
wait_for "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity USING (pid) WHERE usename = 'alice' AND locktype = 'advisory'" 1
# Where it has to wait for alice, sleeping is a statement of its own.
failing_path "deadlock" "~$inserted( x2|; cmd:select( x[0-9]+)?; $inserted); $tried\$" "deadlock" "BEGIN" "INSERT INTO patients (id) VALUES (2002)" \
  "$(until_there 2 "usename = 'alice' AND locktype = 'transactionid' AND NOT granted")" "INSERT INTO patients (id) VALUES (2001)"
wait "$alice"
verify_paths
q "ROLLBACK PREPARED 'open'" "ROLLBACK PREPARED 'gone'" >/dev/null
done_testing

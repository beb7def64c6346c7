#!/bin/bash
# failing_statements.sh - what statements show by failing, and that it counts where nothing takes it out of their errors:
# values that cannot be cast, keys and rows that utility statements and the end of a transaction meet.
. "$(dirname "$0")/../attack.sh"
start_hospital
q "CREATE EXTENSION btree_gist" >/dev/null
q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
SET search_path = h, public;
CREATE TABLE h.people (id int PRIMARY KEY, name text, age int, gender text);
INSERT INTO h.people SELECT i, 'n' || i, 20 + i, CASE WHEN i % 2 = 0 THEN 'f' END FROM generate_series(1, 100) i;
CREATE TABLE h.slots (id int PRIMARY KEY, person int UNIQUE DEFERRABLE, patient int REFERENCES h.patients DEFERRABLE,
  room int, during int4range, EXCLUDE USING gist (room WITH =, during WITH &&) DEFERRABLE);
INSERT INTO h.slots SELECT i, i, i, i, int4range(i, 2000) FROM generate_series(1, 10) i;
CREATE TABLE h.rooms (room int PRIMARY KEY);
INSERT INTO h.rooms VALUES (1), (2);
CREATE TABLE h.beds (id int PRIMARY KEY, room int REFERENCES h.rooms ON DELETE RESTRICT);
INSERT INTO h.beds VALUES (1, 1);
CREATE VIEW h.old AS SELECT id, age FROM h.people WHERE age > 30 WITH CHECK OPTION;
CREATE VIEW h.names AS SELECT id, name FROM h.people;
SELECT privacy_score.protect(r) FROM unnest('{h.people,h.slots,h.beds}'::text[]) r;
GRANT SELECT, INSERT, UPDATE, DELETE, REFERENCES ON h.people, h.slots, h.rooms, h.beds, h.old, h.names, h.patients TO mallory, alice;
SET ROLE mallory;
CREATE TABLE h.copied AS SELECT * FROM h.people;
CREATE MATERIALIZED VIEW h.shown AS SELECT gender, 1 AS one FROM h.people WHERE id IN (2, 4);
CREATE TABLE h.own (id int PRIMARY KEY, note text);
INSERT INTO h.own VALUES (7, 'x'), (1005, 'y');
CREATE MATERIALIZED VIEW h.merged AS SELECT gender FROM h.people WHERE id = 2 OR (id = 4 AND EXISTS (SELECT FROM h.own WHERE id = 9));
CREATE UNIQUE INDEX ON h.merged (gender);
CREATE TABLE h.refers (patient int REFERENCES h.patients);
CREATE FUNCTION h.catch(statement text) RETURNS text LANGUAGE plpgsql AS $$BEGIN EXECUTE statement; RETURN 'no error'; EXCEPTION WHEN OTHERS THEN RETURN SQLERRM; END$$;
SQL
people="p:h.people.age p:h.people.gender p:h.people.id p:h.people.name t:h.people"
cast="cmd:select p:h.people.id p:h.people.name t:h.people"

# --- values in messages -------------------------------------------------------------------------------------------------------
failing_path "a cast in WHERE" "cmd:select p:h.people.id t:h.people w:h.people.name; $cast" '"n1"' "SELECT id FROM people WHERE name::int = 1"
failing_path "a cast under an aggregate" "cmd:select f:sum(h.people.name) t:h.people; cmd:select p:h.people.name t:h.people" '"n1"' "SELECT sum(name::int) FROM people"
failing_path "a date" "~; cmd:select p:h.people.name t:h.people$" 'n1' "SELECT max(to_date(name, 'YYYY')) FROM people"
failing_path "out of range" "~; cmd:select p:h.people.id t:h.people$" "out of range" "SELECT count(*) FROM people WHERE (id * 100000000::bigint)::int = 1"
failing_path "a name that is none" "~; cmd:select p:h.people.id p:h.people.name t:h.people$" '"n7" does not exist' "SELECT count(*) FROM people WHERE id = 7 AND name::regclass = 1"
failing_path "a view" "~; $cast$" '"n1"' "SELECT count(*) FROM names WHERE name::int = id"
failing_path "written elsewhere" "cmd:insert p:h.people.name s:h.own.id t:h.own t:h.people x2" '"n1"' "INSERT INTO own (id) SELECT name::int FROM people"
failing_path "an UPDATE" "cmd:update p:h.people.name s:h.people.age t:h.people x2" '"n1"' "UPDATE people SET age = name::int"
path "caught" "~; cmd:select p:h.people.name t:h.people$" "SELECT h.catch('SELECT sum(name::int) FROM h.people')"
failing_path "in a parallel worker" "~; cmd:select p:h.people.name t:h.people$" '"n[0-9]+"' "SET min_parallel_table_scan_size = 0" "SET parallel_setup_cost = 0" "SET parallel_tuple_cost = 0" \
  "SELECT sum(name::int) FROM people"
failing_path "a cursor" "cmd:select p:h.people.id t:h.people w:h.people.name; $cast" '"n1"' BEGIN "DECLARE c CURSOR FOR SELECT id FROM people WHERE name::int = 1" "FETCH c"
failing_path "a message without values" "cmd:select p:h.people.age t:h.people" "division by zero" "SELECT 1 / (age - 21) FROM people"
failing_path "values of nobody" "cmd:select p:h.own.note t:h.own" '"x"' "SELECT note::int FROM own"

# --- utility statements -------------------------------------------------------------------------------------------------------
twice="INSERT INTO own VALUES (9)"
copy="t:h.copied t:h.people"
rows="cmd:select p:h.people.age p:h.people.gender p:h.people.id p:h.people.name $copy"
failing_path "ALTER TYPE USING" "$rows" '"n1"' "ALTER TABLE copied ALTER name TYPE int USING name::int"
failing_path "an index on an expression" "$rows" '"n1"' "CREATE INDEX ON copied ((name::int))"
failing_path "a unique index" "cmd:select p:h.people.gender $copy w:h.people.gender" "could not create unique index" "CREATE UNIQUE INDEX ON copied (gender)"
failing_path "a unique constraint" "cmd:select p:h.people.gender $copy w:h.people.gender" "could not create unique index" "ALTER TABLE copied ADD UNIQUE (gender)"
failing_path "a unique index on an expression" "cmd:select p:h.people.gender $copy w:h.people.gender" "could not create unique index" "CREATE UNIQUE INDEX ON copied (lower(gender))"
failing_path "an exclusion constraint" "cmd:select p:h.people.gender $copy w:h.people.gender" "could not create exclusion constraint" "ALTER TABLE copied ADD EXCLUDE USING gist (gender WITH =)"
failing_path "SET NOT NULL" "cmd:select $copy w:h.people.gender" "contains null values" "ALTER TABLE copied ALTER gender SET NOT NULL"
failing_path "ADD CHECK" "cmd:select $copy w:h.people.id w:h.people.name" "violated by some row" "ALTER TABLE copied ADD CHECK (id <> 7 OR name <> 'n7')"
failing_path "VALIDATE CONSTRAINT" "cmd:select $copy w:h.people.age" "violated by some row" "ALTER TABLE copied ADD CONSTRAINT c CHECK (age <> 27) NOT VALID" "ALTER TABLE copied VALIDATE CONSTRAINT c"
failing_path "a foreign key that is added" "cmd:select p:h.own.id t:h.own t:h.patients w:h.own.id w:h.patients.id; cmd:select t:h.patients w:h.patients.id" "violates foreign key" "ALTER TABLE own ADD FOREIGN KEY (id) REFERENCES patients"
failing_path "a foreign key of a copy" "cmd:select p:h.people.age t:h.copied t:h.own t:h.people w:h.own.id w:h.people.age; cmd:select p:h.people.age $copy w:h.people.age" "violates foreign key" "ALTER TABLE copied ADD FOREIGN KEY (age) REFERENCES own"
failing_path "a unique index on a materialized view" "cmd:select p:h.people.gender t:h.people t:h.shown w:h.people.gender" "could not create unique index" "CREATE UNIQUE INDEX ON shown (gender)"
failing_path "REFRESH with a unique index" "~; cmd:select p:h.people.gender t:h.merged t:h.people w:h.people.gender$" "could not create unique index" BEGIN "$twice" "REFRESH MATERIALIZED VIEW merged"
failing_path "REFRESH CONCURRENTLY" "~; cmd:select p:h.people.gender t:h.merged t:h.people$" "contains duplicate rows" BEGIN "$twice" "REFRESH MATERIALIZED VIEW CONCURRENTLY merged"
failing_path "COPY: a unique key" "cmd:insert t:h.people w:h.people.id" "duplicate key" "\\copy people (id) from program 'echo 7'"
failing_path "COPY: another row's key" "cmd:insert p:h.slots.during p:h.slots.room t:h.slots w:h.slots.during w:h.slots.room" "conflicting key" "\\copy slots (id, room, during) from program 'printf \"70\\t7\\t[1,3000)\"'"
failing_path "COPY: a key that is absent" "cmd:insert t:h.patients w:h.patients.id" "violates foreign key" "\\copy refers from program 'echo 1005'"
failing_path "COPY prints what one has sent" "" "invalid input syntax" "\\copy people (id) from program 'echo x'"
failing_path "what the server does not take has read nothing" "" "must be owner" "ALTER TABLE people ALTER name TYPE int USING name::int"
failing_path "nor has a column that is not there" "" "does not exist" "ALTER TABLE copied DROP COLUMN nothing"
failing_path "nor an index on such a column" "" "does not exist" "CREATE INDEX ON copied (nothing)"
failing_path "a table of one's own" "cmd:insert s:h.own.id s:h.own.note t:h.own" "could not create unique index" "INSERT INTO own VALUES (8, 'x')" "CREATE UNIQUE INDEX ON own (note)"

# --- later --------------------------------------------------------------------------------------------------------------------
later=(BEGIN "SET CONSTRAINTS ALL DEFERRED" "UPDATE slots SET person = 7 WHERE id = 8")
changed="cmd:update s:h.slots.person t:h.slots w:h.slots.id"
failing_path "COMMIT" "$changed; cmd:select t:h.slots w:h.slots.person" "duplicate key" "${later[@]}" COMMIT
failing_path "SET CONSTRAINTS" "$changed; cmd:select t:h.slots w:h.slots.person" "duplicate key" "${later[@]}" "SET CONSTRAINTS ALL IMMEDIATE"
failing_path "PREPARE TRANSACTION" "$changed; cmd:select t:h.slots w:h.slots.person" "duplicate key" "${later[@]}" "PREPARE TRANSACTION 'x'"
failing_path "COMMIT: a key that is absent" "cmd:update s:h.slots.patient t:h.slots w:h.slots.id; cmd:select t:h.patients w:h.patients.id; cmd:select t:h.slots w:h.slots.patient" "violates foreign key" \
  BEGIN "SET CONSTRAINTS ALL DEFERRED" "UPDATE slots SET patient = 1005 WHERE id = 8" COMMIT
failing_path "COMMIT: another row's key" "cmd:insert s:h.slots.during s:h.slots.id s:h.slots.room t:h.slots; cmd:select p:h.slots.during p:h.slots.room t:h.slots w:h.slots.during w:h.slots.room" \
  "conflicting key" BEGIN "SET CONSTRAINTS ALL DEFERRED" "INSERT INTO slots (id, room, during) VALUES (70, 7, '(,)')" COMMIT
failing_path "RESTRICT" "cmd:delete t:h.rooms w:h.rooms.room; cmd:delete t:h.beds w:h.beds.room" "foreign key" "DELETE FROM rooms WHERE room = 1"
failing_path "WITH CHECK OPTION" "~; cmd:update $people$" "check option" "UPDATE old SET age = 20 WHERE id = 77"
# What commits by itself is met on its way to the client, and counts with the next statement or when the session ends.
q "ALTER TABLE h.slots ALTER CONSTRAINT slots_patient_fkey INITIALLY DEFERRED" "ALTER TABLE h.slots DROP CONSTRAINT slots_person_key, ADD CONSTRAINT slots_person_key UNIQUE (person) DEFERRABLE INITIALLY DEFERRED" >/dev/null
late="cmd:select t:h.slots w:h.slots.person"
failing_path "a statement that commits by itself" "$changed; $late" "duplicate key" "UPDATE slots SET person = 7 WHERE id = 8"
failing_path "a key that is absent, so" "cmd:update s:h.slots.patient t:h.slots w:h.slots.id; cmd:select t:h.patients w:h.patients.id; cmd:select t:h.slots w:h.slots.patient" "violates foreign key" "UPDATE slots SET patient = 1005 WHERE id = 8"
begin_path "several statements at once" "$changed x2; $late"
check_match "several statements at once: fail" "$(as mallory psql -XAtqc "UPDATE slots SET person = 7 WHERE id = 8; UPDATE slots SET person = 9 WHERE id = 9" 2>&1)" "duplicate key"
failing_path "an anonymous block" "~; $late\$" "duplicate key" "DO \$\$BEGIN UPDATE h.slots SET person = 7 WHERE id = 8; END\$\$"
failing_path "COPY" "$late" "duplicate key" "\\copy slots (id, person) from program 'printf \"70\\t7\"'"
failing_path "a procedure that commits" "~; $late\$" "duplicate key" "CREATE PROCEDURE h.commits() LANGUAGE plpgsql AS \$\$BEGIN UPDATE h.slots SET person = 7 WHERE id = 8; COMMIT; END\$\$" "CALL h.commits()"
path_of "with the next statement" "$changed; $late; cmd:select p:h.own.id t:h.own" psql -XAtq -c "UPDATE h.slots SET person = 7 WHERE id = 8" -c "SELECT id FROM h.own LIMIT 1"
path_of "what is mended before the end shows nothing" "$changed x2" psql -XAtqc "UPDATE slots SET person = 7 WHERE id = 8; UPDATE slots SET person = 8 WHERE id = 8"
verify_paths

figures="SELECT reach, subjects FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()"
check "keys that COPY tries reach" "$(for i in {1..20}; do printf '%s\n' "\\copy h.people (id) from program 'echo $i'"; done | cat - <(echo "$figures") | as mallory "$PS_BINDIR/psql" -XAtq 2>/dev/null)" "20|20"
done_testing

#!/bin/bash
# constraint_oracles.sh - rows that one may not read, asked for by writing: a key is there or not, a row fails a
# constraint, a statement writes so many rows. `dp only` roles may write where nothing is told.
. "$(dirname "$0")/../attack.sh"
start_hospital
q "CREATE EXTENSION btree_gist" "GRANT SELECT, INSERT, UPDATE, DELETE, REFERENCES ON h.patients, h.visits TO mallory" >/dev/null
q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
SET search_path = h, public;
CREATE TABLE h.stays (room int, during tstzrange, name text UNIQUE, EXCLUDE USING gist (room WITH =, during WITH &&));
INSERT INTO h.stays SELECT i, tstzrange('2020-01-01Z'::timestamptz + i * interval '37 hours', '2020-01-01Z'::timestamptz + i * interval '37 hours' + interval '3 days'), 'n' || i
  FROM generate_series(1, 50) i;
CREATE TABLE h.notes (id int, note text CHECK (note <> 'zz'));
INSERT INTO h.notes VALUES (1, 'a');
CREATE TABLE h.wards (ward int PRIMARY KEY, floor int);
INSERT INTO h.wards VALUES (1, 1), (2, 2);
CREATE TABLE h.beds (id int, ward int REFERENCES h.wards);
INSERT INTO h.beds VALUES (1, 1);
CREATE TABLE h.years (id int, year int) PARTITION BY RANGE (year);
CREATE TABLE h.year1 PARTITION OF h.years FOR VALUES FROM (1) TO (2);
CREATE VIEW h.seen AS SELECT id, first_name FROM h.patients;
SELECT privacy_score.protect(r::regclass) FROM unnest('{h.stays,h.notes,h.beds,h.years}'::text[]) r;
GRANT SELECT, INSERT, UPDATE, DELETE ON h.stays, h.notes, h.wards, h.beds, h.years, h.year1, h.seen TO mallory;
SET ROLE mallory;
CREATE TABLE h.fk (id int REFERENCES h.patients, other int, sum int GENERATED ALWAYS AS (other + 1) STORED);
INSERT INTO h.fk VALUES (5, 1);
CREATE TABLE h.fk_child () INHERITS (h.fk);
CREATE TABLE h.follows (id int REFERENCES h.patients, other int);
INSERT INTO h.follows VALUES (5, 1);
CREATE TABLE h.plain (id int, other int);
INSERT INTO h.plain VALUES (7, 1), (1005, 1);
CREATE TABLE h.computed (base int, id int GENERATED ALWAYS AS (base) STORED REFERENCES h.patients);
INSERT INTO h.computed VALUES (5);
CREATE TABLE h.triggered (id int REFERENCES h.patients, other int);
INSERT INTO h.triggered VALUES (5, 1);
CREATE FUNCTION h.change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := NEW.other; RETURN NEW; END $$;
CREATE TRIGGER change BEFORE UPDATE ON h.triggered FOR EACH ROW EXECUTE FUNCTION h.change();
CREATE TABLE h.parts (id int, k int) PARTITION BY RANGE (k);
CREATE TABLE h.part1 PARTITION OF h.parts FOR VALUES FROM (0) TO (10);
CREATE TABLE h.part2 PARTITION OF h.parts FOR VALUES FROM (10) TO (20);
ALTER TABLE h.part2 ADD FOREIGN KEY (id) REFERENCES h.patients;
CREATE TABLE h.late (id int, other int);
INSERT INTO h.late VALUES (7), (1005);
ALTER TABLE h.late ADD CONSTRAINT late_key FOREIGN KEY (id) REFERENCES h.patients NOT VALID;
CREATE TABLE h.full_parent (id int REFERENCES h.patients, k int) PARTITION BY RANGE (k);
CREATE TABLE h.filled (id int, k int);
INSERT INTO h.filled VALUES (7, 1);
CREATE TABLE h.own_wards (ward int PRIMARY KEY, floor int);
CREATE TABLE h.own_beds (ward int REFERENCES h.own_wards ON UPDATE CASCADE);
CREATE TABLE h.chain (id int PRIMARY KEY, other int);
INSERT INTO h.chain VALUES (5, 1);
CREATE TABLE h.link (id int REFERENCES h.patients REFERENCES h.chain ON UPDATE CASCADE);
INSERT INTO h.link VALUES (5);
SQL

# --- watched: what a failing statement shows counts ---------------------------------------------------------------------------
people="p:h.patients.city p:h.patients.diagnosis p:h.patients.first_name p:h.patients.id t:h.patients"
failing_path "NOT NULL" "cmd:update s:h.patients.id t:h.patients w:h.patients.id; cmd:update $people" "null value" "UPDATE patients SET id = NULL WHERE id = 7"
failing_path "CHECK" "cmd:update s:h.notes.note t:h.notes; cmd:update p:h.notes.id p:h.notes.note t:h.notes" "violates check" "UPDATE notes SET note = 'zz'"
failing_path "CHECK, caught" "~^cmd:update s:h.notes.note t:h.notes; cmd:update p:h.notes.id p:h.notes.note t:h.notes$" "again" \
  "DO \$\$BEGIN BEGIN UPDATE h.notes SET note = 'zz'; EXCEPTION WHEN check_violation THEN NULL; END; RAISE 'again'; END\$\$"
failing_path "MERGE" "~; cmd:merge p:h.notes.id p:h.notes.note t:h.notes$" "violates check" "MERGE INTO notes USING (VALUES (1)) v(i) ON id = i WHEN MATCHED THEN UPDATE SET note = 'zz'"
failing_path "an INSERT prints what one has sent" "cmd:insert s:h.notes.id s:h.notes.note t:h.notes" "violates check" "INSERT INTO notes VALUES (1, 'zz')"
failing_path "another row's key" "cmd:insert s:h.stays.during s:h.stays.name s:h.stays.room t:h.stays; cmd:insert p:h.stays.during p:h.stays.room t:h.stays w:h.stays.during w:h.stays.room" \
  "conflicting key" "INSERT INTO stays VALUES (7, '(,)', 'zzz')"
failing_path "a unique key" "cmd:insert s:h.patients.id t:h.patients; cmd:insert t:h.patients w:h.patients.id" "duplicate key" "INSERT INTO patients (id) VALUES (7)"
failing_path "a key that is absent" "cmd:insert s:h.fk.id t:h.fk; cmd:insert t:h.patients w:h.patients.id" "foreign key" "INSERT INTO fk (id) VALUES (1005)"
failing_path "a row that is referred to" "cmd:delete t:h.wards w:h.wards.ward; cmd:delete t:h.beds w:h.beds.ward" "foreign key" "DELETE FROM wards WHERE ward = 1"
verify_paths
tried="$(as mallory q "DO \$\$BEGIN FOR i IN 1..40 LOOP BEGIN INSERT INTO h.patients (id) VALUES (i); EXCEPTION WHEN unique_violation THEN NULL; END; END LOOP; END\$\$" \
  "SELECT reach, subjects FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()" | tail -n 1)"
check "tried keys are reach and subjects" "$tried" "40|40"
figures="SELECT reach, subjects FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()"
check "a load reaches nobody: INSERT" "$(as mallory q "INSERT INTO h.notes SELECT i, 'x' FROM generate_series(1, 100000) i" "$figures" | tail -n 1)" "0|0"
check "a load reaches nobody: COPY" "$(seq 100000 | as mallory "$PS_BINDIR/psql" -XAtq -c "SELECT 1 FROM h.notes" -c "COPY h.notes (id) FROM STDIN" -c "$figures" | tail -n 1)" "0|0"

# --- "dp only" -----------------------------------------------------------------------------------------------------------
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" "ALTER ROLE mallory SET privacy_score.mode = enforce" >/dev/null

# A4: constraints of protected relations.
for statement in "INSERT INTO h.stays VALUES (7, '(,)', 'zzz')" "INSERT INTO h.stays VALUES (1000, 'empty', 'n7') ON CONFLICT DO NOTHING" \
  "INSERT INTO h.stays VALUES (1000, 'empty', 'n99') ON CONFLICT DO NOTHING" "UPDATE h.patients SET id = NULL" "UPDATE h.notes SET note = 'zz'" "DELETE FROM h.notes" \
  "INSERT INTO h.patients (id) VALUES (7)" "INSERT INTO h.patients (id) VALUES (7) ON CONFLICT (id) DO UPDATE SET city = 'x'" \
  "INSERT INTO h.notes VALUES (1, 'x') ON CONFLICT DO NOTHING" "MERGE INTO h.notes USING (VALUES (1)) v(i) ON false WHEN NOT MATCHED THEN INSERT VALUES (1, 'x')" \
  "INSERT INTO h.seen VALUES (7, 'x')" "WITH i AS (INSERT INTO h.patients (id) VALUES (7)) SELECT 1" "INSERT INTO h.years VALUES (1, 1)" "UPDATE h.year1 SET id = 1" \
  "PREPARE p AS INSERT INTO h.patients (id) VALUES (\$1); EXECUTE p(7)" "EXPLAIN ANALYZE INSERT INTO h.patients (id) VALUES (7)" \
  "DO \$\$BEGIN INSERT INTO h.patients (id) VALUES (7); END\$\$"; do
  refused "$statement" PS001 "$statement"
done

check "a refusal says why" "$(as mallory q_all "INSERT INTO h.patients (id) VALUES (7)")" 'ERROR:  statement refused: whether it succeeds, or how many rows it writes, would tell of protected relations
DETAIL:  The security label of the role is "dp only".
HINT:  Write to tables that neither are protected nor refer to protected ones, or ask role "postgres", who administers privacy_score.'

# A5: foreign keys that refer to protected relations.
for statement in "INSERT INTO h.fk VALUES (7)" "INSERT INTO h.fk VALUES (1005)" "INSERT INTO h.fk SELECT 1005 WHERE false" "UPDATE h.fk SET id = 7" \
  "UPDATE h.computed SET base = 7" "UPDATE h.triggered SET other = 7" "UPDATE h.fk SET other = 7" "MERGE INTO h.follows USING (VALUES (7)) v(i) ON id = i WHEN NOT MATCHED THEN INSERT VALUES (i)" \
  "INSERT INTO h.parts VALUES (7, 11)" "UPDATE h.parts SET k = 11" "INSERT INTO h.part2 VALUES (7, 11)" "ALTER TABLE h.plain ADD FOREIGN KEY (id) REFERENCES h.patients" \
  "ALTER TABLE h.plain ADD FOREIGN KEY (id) REFERENCES h.patients NOT VALID" "ALTER TABLE h.plain ADD COLUMN x int DEFAULT 7 REFERENCES h.patients" \
  "ALTER TABLE h.fk ALTER id TYPE int USING 7" "ALTER TABLE h.late VALIDATE CONSTRAINT late_key" \
  "ALTER TABLE h.full_parent ATTACH PARTITION h.filled FOR VALUES FROM (0) TO (10)" "ALTER TABLE h.late ADD COLUMN y int, ALTER id TYPE bigint" \
  "CREATE TABLE h.new (id int REFERENCES h.patients); INSERT INTO h.new VALUES (7)"; do
  refused "$statement" PS001 "$statement"
done
for relation in patients fk years; do
  check "refused: COPY $relation FROM" "$(as mallory "$PS_BINDIR/psql" -XAt -v VERBOSITY=sqlstate -c "COPY h.$relation FROM STDIN" 2>&1 </dev/null)" "ERROR:  PS001"
done
check "a loop over keys learns nothing" "$(as mallory q "SET client_min_messages = notice" "DO \$\$ DECLARE n int := 0; hit int[] := '{}'; BEGIN FOR i IN 95..105 LOOP BEGIN INSERT INTO h.fk VALUES (i); hit := hit || i;
  EXCEPTION WHEN foreign_key_violation THEN n := n + 1; WHEN OTHERS THEN NULL; END; END LOOP; RAISE NOTICE 'present %, absent %', hit, n; END \$\$" 2>&1 | grep -o "present.*")" "present {}, absent 0"

# Rows that protected ones refer to; what a foreign key starts.
for statement in "DELETE FROM h.wards WHERE ward = 1" "DELETE FROM h.wards WHERE ward = 2" "UPDATE h.wards SET ward = 3 WHERE ward = 2" "DELETE FROM h.patients WHERE id = 7" \
  "MERGE INTO h.wards USING (VALUES (2)) v(i) ON ward = i WHEN MATCHED THEN DELETE" "INSERT INTO h.wards VALUES (1) ON CONFLICT (ward) DO UPDATE SET ward = 9" "UPDATE h.chain SET id = 7"; do
  refused "$statement" PS001 "$statement"
done

# What tells nothing.
for statement in "INSERT INTO h.notes VALUES (1, 'x')" "INSERT INTO h.beds VALUES (1, 1)" "INSERT INTO h.plain VALUES (1)" "UPDATE h.plain SET id = 2" "DELETE FROM h.plain" "UPDATE h.follows SET other = 2" \
  "INSERT INTO h.wards VALUES (3)" "UPDATE h.wards SET floor = 3" "DELETE FROM h.fk" "INSERT INTO h.own_wards VALUES (1)" "DELETE FROM h.own_wards" \
  "INSERT INTO h.own_wards VALUES (1) ON CONFLICT DO NOTHING" "ALTER TABLE h.plain ADD COLUMN x int DEFAULT 7" "ALTER TABLE h.fk ALTER other SET DEFAULT 7" "ALTER TABLE h.late DROP COLUMN other" \
  "ALTER TABLE h.own_beds ALTER ward TYPE bigint" "EXPLAIN INSERT INTO h.notes VALUES (1, 'x')" "CREATE TABLE h.new2 (id int REFERENCES h.patients, b int REFERENCES h.patients)" "ALTER TABLE h.fk DROP CONSTRAINT fk_id_fkey"; do
  check "runs: $statement" "$(as mallory q_state BEGIN "$statement")" 00000
done
check "COPY FROM into a relation without keys runs" "$(printf '2\ty\n' | as mallory "$PS_BINDIR/psql" -XAt -c "COPY h.notes FROM STDIN" 2>&1)" "COPY 1"
check "break_glass lets pass" "$(q "BEGIN" "SET LOCAL privacy_score.break_glass = on" "SET LOCAL SESSION AUTHORIZATION mallory" "INSERT INTO h.patients (id) VALUES (5000)" "SELECT 'passed'" "ROLLBACK" | tail -n 1)" "passed"
done_testing

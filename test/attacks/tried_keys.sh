#!/bin/bash
# tried_keys.sh - INSERT with ON CONFLICT succeeds whether a key is there or not, and tells by how many rows it writes or
# returns. The keys that it tries are an event of their own, and count in reach; a load is no attack.
. "$(dirname "$0")/../attack.sh"
start_hospital
q "CREATE EXTENSION btree_gist" "GRANT SELECT, INSERT, UPDATE, REFERENCES ON h.patients, h.visits TO mallory" >/dev/null
q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
SET search_path = h, public;
CREATE TABLE h.stays (room int, during int4range, name text UNIQUE, EXCLUDE USING gist (room WITH =, during WITH &&));
INSERT INTO h.stays SELECT i, int4range(i, 2000), 'n' || i FROM generate_series(1, 50) i;
CREATE TABLE h.people (id int PRIMARY KEY, name text, born date, visits int, UNIQUE (name, born));
CREATE UNIQUE INDEX ON h.people (lower(name), visits);
INSERT INTO h.people SELECT i, 'n' || i, '2000-01-01', i FROM generate_series(1, 100) i;
CREATE TABLE h.years (id int, year int, PRIMARY KEY (id, year)) PARTITION BY RANGE (year);
CREATE TABLE h.year1 PARTITION OF h.years FOR VALUES FROM (1) TO (2);
CREATE TABLE h.root (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
CREATE TABLE h.part (note text, id int NOT NULL);
CREATE TABLE h.halves (id int, name text, half int) PARTITION BY LIST (half);
CREATE TABLE h.half1 PARTITION OF h.halves FOR VALUES IN (1);
CREATE TABLE h.half2 (half int, name text, extra int, id int);
ALTER TABLE h.half2 DROP extra;
ALTER TABLE h.halves ATTACH PARTITION h.half2 FOR VALUES IN (2);
CREATE UNIQUE INDEX ON h.half1 (name);
CREATE UNIQUE INDEX ON h.half2 (name, half);
ALTER TABLE h.half2 ADD EXCLUDE (id WITH =);
CREATE VIEW h.seen_root AS SELECT id FROM h.root;
CREATE TABLE h.parent (id int PRIMARY KEY);
CREATE TABLE h.child () INHERITS (h.parent);
CREATE VIEW h.seen AS SELECT id, city FROM h.patients;
SELECT privacy_score.protect(r) FROM unnest('{h.stays,h.people,h.years,h.part,h.child,h.halves}'::text[]) r;
ALTER TABLE h.root ATTACH PARTITION h.part FOR VALUES FROM (0) TO (100);
CREATE TABLE h.rest PARTITION OF h.root DEFAULT;
INSERT INTO h.root SELECT i, 'x' FROM generate_series(1, 120) i;
GRANT SELECT, INSERT, UPDATE ON h.stays, h.people, h.years, h.year1, h.seen, h.root, h.seen_root, h.parent, h.halves TO mallory, alice;
GRANT REFERENCES ON h.root TO mallory;
SET ROLE mallory;
CREATE TABLE h.own (id int PRIMARY KEY, other int UNIQUE);
CREATE TABLE h.refers (own int PRIMARY KEY, patient int REFERENCES h.patients);
CREATE TABLE h.refers_root (own int PRIMARY KEY, root int REFERENCES h.root);
SQL
tried="cmd:insert t:h.patients w:h.patients.id"
inserted="cmd:insert s:h.patients.id t:h.patients"

# --- an event of its own ------------------------------------------------------------------------------------------------------
path "a key that is there" "$tried; $inserted" "INSERT INTO patients (id) VALUES (7) ON CONFLICT DO NOTHING"
path "a key that is absent" "$tried; $inserted" BEGIN "INSERT INTO patients (id) VALUES (1007) ON CONFLICT (id) DO NOTHING" ROLLBACK
path "DO UPDATE" "$tried; cmd:insert s:h.patients.city s:h.patients.id t:h.patients" BEGIN "INSERT INTO patients (id) VALUES (7) ON CONFLICT (id) DO UPDATE SET city = 'c'" ROLLBACK
path "a constraint by name" "$tried; $inserted" "INSERT INTO patients (id) VALUES (7) ON CONFLICT ON CONSTRAINT patients_pkey DO NOTHING"
path "RETURNING" "$tried; cmd:insert p:h.patients.city s:h.patients.id t:h.patients" "INSERT INTO patients (id) VALUES (7) ON CONFLICT DO NOTHING RETURNING city"
path "any key" "cmd:insert t:h.stays w:h.stays.name; cmd:insert t:h.stays w:h.stays.during w:h.stays.room; cmd:insert s:h.stays.name t:h.stays" \
  "INSERT INTO stays (name) VALUES ('n7') ON CONFLICT DO NOTHING"
path "a key of two columns" "cmd:insert t:h.people w:h.people.born w:h.people.name; cmd:insert s:h.people.born s:h.people.id s:h.people.name t:h.people" \
  "INSERT INTO people VALUES (1007, 'n7', '2000-01-01') ON CONFLICT (name, born) DO NOTHING"
path "an expression" "cmd:insert t:h.people w:h.people.name w:h.people.visits; cmd:insert s:h.people.id s:h.people.name s:h.people.visits t:h.people" \
  "INSERT INTO people (id, name, visits) VALUES (1007, 'N7', 7) ON CONFLICT (lower(name), visits) DO NOTHING"
path "a partitioned table" "cmd:insert t:h.years w:h.years.id w:h.years.year; cmd:insert s:h.years.id s:h.years.year t:h.years" "INSERT INTO years VALUES (1, 1) ON CONFLICT DO NOTHING"
path "a partition" "cmd:insert t:h.years w:h.years.id w:h.years.year; cmd:insert s:h.years.id s:h.years.year t:h.years" "INSERT INTO year1 VALUES (1, 1) ON CONFLICT DO NOTHING"
parts="cmd:insert t:h.part t:h.root w:h.part.id w:h.root.id"
path "a partitioned table of which a partition is protected" "$parts; cmd:insert s:h.root.id t:h.root" "INSERT INTO root (id) VALUES (7) ON CONFLICT (id) DO NOTHING"
path "any key of it" "$parts; cmd:insert s:h.root.id t:h.root" "INSERT INTO root (id) VALUES (7) ON CONFLICT DO NOTHING"
path "a view of it" "$parts; cmd:insert s:h.root.id t:h.root" "INSERT INTO seen_root (id) VALUES (7) ON CONFLICT DO NOTHING"
path "a table of one's own that refers to it" "cmd:insert t:h.part w:h.part.id; cmd:insert s:h.refers_root.own s:h.refers_root.root t:h.refers_root" "INSERT INTO refers_root VALUES (1, 7) ON CONFLICT DO NOTHING"
failing_path "a key that it does not have" "cmd:insert s:h.refers_root.own s:h.refers_root.root t:h.refers_root; $parts" "foreign key" "INSERT INTO refers_root VALUES (2, -7)"
failing_path "a key that its partition has" "cmd:insert s:h.root.id t:h.root; cmd:insert t:h.part w:h.part.id" "duplicate key" "INSERT INTO root (id) VALUES (7)"
halves="cmd:insert t:h.halves w:h.halves.name; cmd:insert t:h.halves w:h.halves.half w:h.halves.name; cmd:insert t:h.halves w:h.halves.id"
path "keys that only partitions have" "$halves; cmd:insert s:h.halves.half s:h.halves.name t:h.halves" "INSERT INTO halves (name, half) VALUES ('n7', 1) ON CONFLICT DO NOTHING"
path "the parent of a protected child, which no row is inserted to" "cmd:insert s:h.parent.id t:h.parent" "INSERT INTO parent VALUES (7) ON CONFLICT DO NOTHING"
path "a view" "~^$tried; cmd:insert s:h.patients.id t:h.patients" "INSERT INTO seen (id) VALUES (7) ON CONFLICT DO NOTHING"
path "a WITH query" "$tried; cmd:select s:h.patients.id t:h.patients" "WITH i AS (INSERT INTO patients (id) VALUES (7) ON CONFLICT DO NOTHING) SELECT 1"
path "EXECUTE" "$tried; $inserted; $tried; $inserted" "PREPARE p AS INSERT INTO patients (id) VALUES (\$1) ON CONFLICT DO NOTHING" "EXECUTE p(7)" "EXECUTE p(8)"
path "EXPLAIN ANALYZE" "$tried; $inserted" "EXPLAIN ANALYZE INSERT INTO patients (id) VALUES (7) ON CONFLICT DO NOTHING"
path "a table of one's own that refers to protected rows" "$tried; cmd:insert s:h.refers.own s:h.refers.patient t:h.refers" "INSERT INTO refers VALUES (1, 7) ON CONFLICT DO NOTHING"
path "a table of one's own" "cmd:insert s:h.own.id t:h.own" "INSERT INTO own (id) VALUES (7) ON CONFLICT DO NOTHING"
path "without ON CONFLICT" "$inserted" BEGIN "INSERT INTO patients (id) VALUES (1007)" ROLLBACK
verify_paths

# --- reach --------------------------------------------------------------------------------------------------------------------
figures="SELECT reach, subjects FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()"
# reaches "description" "reach|subjects" STATEMENT...: in one session, whose writes are undone.
reaches() {
  local description=$1 expected=$2
  shift 2
  check "$description" "$(as mallory q BEGIN "$@" "$figures" ROLLBACK | tail -n 1)" "$expected"
}
loop() { echo "DO \$\$BEGIN FOR i IN 1..40 LOOP $1; END LOOP; END\$\$"; }
into="INSERT INTO h.patients (id)"
reaches "a loop over keys" "40|40" "$(loop "$into VALUES (i) ON CONFLICT DO NOTHING")"
reaches "DO UPDATE" "40|40" "$(loop "$into VALUES (i) ON CONFLICT (id) DO UPDATE SET city = 'c'")"
reaches "other columns make no other key" "1|1" "INSERT INTO patients (id, city) VALUES (7, 'a') ON CONFLICT DO NOTHING"
reaches "literals" "2|2" "$into VALUES (7) ON CONFLICT DO NOTHING" "$into VALUES (8) ON CONFLICT DO NOTHING" "$into VALUES (7) ON CONFLICT DO NOTHING"
reaches "a key that was tried and one that was asked for are one subject" "1|1" "$into VALUES (7) ON CONFLICT DO NOTHING" "SELECT city FROM patients WHERE id = 7"
reaches "a few rows" "1|3" "$into VALUES (7), (8), (1000) ON CONFLICT DO NOTHING"
reaches "rows that come back say which" "1|30" "$into VALUES $(seq -s, 1 30 | sed 's/[0-9]*/(&)/g') ON CONFLICT DO NOTHING RETURNING id"
reaches "keys that are hidden among others" "40|0" "$(loop "$into SELECT i UNION ALL SELECT generate_series(2000, 2020) ON CONFLICT DO NOTHING")"
reaches "foreign keys from a table of one's own" "40|40" "$(loop "INSERT INTO h.refers VALUES (i, i) ON CONFLICT DO NOTHING")"
reaches "keys that only partitions have" "40|0" "$(loop "INSERT INTO h.halves (name, half) VALUES ('n' || i, 1) ON CONFLICT DO NOTHING")"
reaches "a key of two columns is one value" "40|0" "$(loop "INSERT INTO h.people VALUES (1007, 'n' || i, '2000-01-01') ON CONFLICT (name, born) DO NOTHING")"
reaches "a load reaches nobody: INSERT ... SELECT" "1|0" "$into SELECT generate_series(1, 100000) ON CONFLICT DO NOTHING"
reaches "a load reaches nobody: INSERT ... VALUES" "1|0" "$(seq 1 100000 | sed 's/.*/(&)/' | paste -sd, | sed "s/.*/$into VALUES & ON CONFLICT (id) DO UPDATE SET city = 'c'/" >"$PS_TMP/load.sql"; echo "\\i $PS_TMP/load.sql")"

reaches "a partitioned table of which a partition is protected" "40|40" "$(loop "INSERT INTO h.root (id) VALUES (i) ON CONFLICT DO NOTHING")"

# What is remembered of a key holds as long as its relation is declared so.
caught() { echo "DO \$\$BEGIN FOR i IN $1..$2 LOOP BEGIN INSERT INTO h.people (id) VALUES (i); EXCEPTION WHEN unique_violation THEN NULL; END; END LOOP; END\$\$"; }
declares() { echo "\\! PGUSER=postgres $PS_BINDIR/psql -XAtqc \"SELECT privacy_score.protect('h.people', '{$1}')\" -c \"SELECT privacy_score.flush()\""; }
check "keys that errors show, one after the other" "$(as mallory q "$(caught 1 20)" "$figures")" "20|20"
check "the same key, once the subject is another, and the same again" "$(as mallory q "$(caught 1 5)" "$(declares name)" "$(caught 6 10)" "$figures" "$(declares id)" "$(caught 11 12)" "$figures" | grep "|" | tr "\n" " ")" \
  "10|0 12|12 "

# --- alerts -------------------------------------------------------------------------------------------------------------------
q "GRANT INSERT, UPDATE ON h.patients TO alice" "SELECT privacy_score.flush()" >/dev/null
as alice q BEGIN "$into VALUES (1), (2), (3), (4), (5) ON CONFLICT DO NOTHING" "$into VALUES (1) ON CONFLICT DO NOTHING" ROLLBACK >/dev/null
as alice q "INSERT INTO h.patients (id) VALUES (1)" >/dev/null 2>&1
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'alice'" 0
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" "SELECT privacy_score.flush()" >/dev/null
alerts="SELECT string_agg((detail->>'figure') || ' ' || score || ' of ' || alert_limit, ', ' ORDER BY detail->>'figure') FROM privacy_score.alerts WHERE role = 'alice' AND kind = 'reach'"
as alice q BEGIN "$into SELECT generate_series(1, 100000) ON CONFLICT DO NOTHING" ROLLBACK >/dev/null
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'alice'" 0
q "SELECT privacy_score.flush()" >/dev/null
check "a load is no alert" "$(q "$alerts")" ""
as alice q "$(loop "$into VALUES (i) ON CONFLICT DO NOTHING")" >/dev/null
check_true "a loop over keys is one" wait_for "$alerts" "reach 10 of 4, subjects 11 of 10"
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" >/dev/null
refused "a key of a protected partition, by its root" PS001 "INSERT INTO root (id) VALUES (7) ON CONFLICT DO NOTHING"
refused "by a foreign key to its root" PS001 "INSERT INTO refers_root VALUES (3, 7)"
refused "by a new foreign key" PS001 "CREATE TABLE late AS SELECT 7 AS i" "ALTER TABLE late ADD FOREIGN KEY (i) REFERENCES root"
done_testing

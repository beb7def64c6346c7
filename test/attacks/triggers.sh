#!/bin/bash
# triggers.sh - rows that reach somebody's function because a statement writes: triggers by TRIGGER, their conditions,
# transition tables, views, partitions, foreign keys, copies. They count as read; what the owner has put there does not.
. "$(dirname "$0")/../attack.sh"
start_hospital

q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
CREATE ROLE holder LOGIN;
GRANT USAGE, CREATE ON SCHEMA h TO holder;
SET ROLE holder;
CREATE TABLE h.cases (id int PRIMARY KEY, name text, city text);
INSERT INTO h.cases SELECT i, 'n' || i, 'c' || i % 5 FROM generate_series(1, 50) i;
CREATE TABLE h.stays (id int, patient int REFERENCES h.cases ON DELETE CASCADE ON UPDATE CASCADE, ward text);
INSERT INTO h.stays SELECT i, i, 'w' || i FROM generate_series(1, 20) i;
CREATE TABLE h.wards (id int PRIMARY KEY);
INSERT INTO h.wards VALUES (1), (2);
CREATE TABLE h.beds (ward int REFERENCES h.wards ON DELETE SET NULL, patient text);
INSERT INTO h.beds VALUES (1, 'p1'), (2, 'p2');
CREATE TABLE h.years (id int, year int, note text, PRIMARY KEY (id, year)) PARTITION BY LIST (year);
CREATE TABLE h.year1 PARTITION OF h.years FOR VALUES IN (1);
CREATE TABLE h.year2 PARTITION OF h.years FOR VALUES IN (2);
INSERT INTO h.years VALUES (1, 1, 'secret'), (2, 2, 'secret');
CREATE TABLE h.root (id int);
CREATE TABLE h.leaf (code text) INHERITS (h.root);
INSERT INTO h.leaf VALUES (1, 'secret');
CREATE TABLE h.ruled (id int, note text);
INSERT INTO h.ruled VALUES (1, 'secret');
CREATE TABLE h.log (note text);
CREATE RULE r AS ON DELETE TO h.ruled DO ALSO INSERT INTO h.log VALUES (OLD.note);
CREATE TABLE h.audited (id int, note text);
INSERT INTO h.audited VALUES (1, 'secret');
CREATE FUNCTION h.audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN COALESCE(NEW, OLD); END $$;
CREATE TRIGGER a BEFORE UPDATE OR DELETE ON h.audited FOR EACH ROW EXECUTE FUNCTION h.audit();
SELECT privacy_score.protect(r::regclass) FROM unnest('{h.cases,h.stays,h.beds,h.years,h.leaf,h.ruled,h.audited}'::text[]) r;
GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON h.cases, h.stays, h.wards, h.beds, h.years, h.year1, h.root, h.leaf, h.ruled, h.audited TO mallory;
GRANT INSERT ON h.log TO mallory;
SQL
as mallory q_script >/dev/null <<'SQL' || bail_out "mallory's functions cannot be made"
CREATE FUNCTION h.tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', OLD; RETURN NULL; END $$;
CREATE FUNCTION h.tell_all() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', (SELECT string_agg(o::text, ' ') FROM o); RETURN NULL; END $$;
CREATE FUNCTION h.sees(anyelement) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', $1; RETURN false; END $$;
SQL
cases="p:h.cases.city p:h.cases.id p:h.cases.name t:h.cases"
trigger() { echo "CREATE TRIGGER z $1 FOR EACH ROW EXECUTE FUNCTION ${2:-h.tell()}"; }
# handed "description" "events" STATEMENT...: within a transaction that is rolled back.
handed() {
  local description=$1 events=$2
  shift 2
  path "$description" "$events" "BEGIN" "$@" "ROLLBACK"
}

# --- row triggers -----------------------------------------------------------------------------------------------------------------
handed "BEFORE DELETE" "cmd:delete $cases; cmd:delete t:h.cases" "$(trigger "BEFORE DELETE ON h.cases")" "DELETE FROM cases"
handed "AFTER UPDATE, of which nothing is changed" "cmd:update $cases; cmd:update s:h.cases.city t:h.cases w:h.cases.id" "$(trigger "AFTER UPDATE ON h.cases")" "UPDATE cases SET city = city WHERE id = 7"
handed "ON CONFLICT DO UPDATE" "cmd:insert $cases; cmd:insert t:h.cases w:h.cases.id; cmd:insert s:h.cases.city s:h.cases.id t:h.cases" "$(trigger "BEFORE UPDATE ON h.cases")" \
  "INSERT INTO cases (id) VALUES (7) ON CONFLICT (id) DO UPDATE SET city = 'x'"
handed "MERGE" "~^cmd:merge $cases; cmd:merge " "$(trigger "BEFORE DELETE ON h.cases")" "MERGE INTO cases USING (VALUES (7)) v(i) ON id = i WHEN MATCHED THEN DELETE"
handed "a WITH query" "cmd:select $cases; cmd:select t:h.cases" "$(trigger "BEFORE DELETE ON h.cases")" "WITH x AS (DELETE FROM cases) SELECT 1"
handed "a constraint trigger that waits for the end" "cmd:delete $cases; cmd:delete t:h.cases w:h.cases.id" \
  "CREATE CONSTRAINT TRIGGER z AFTER DELETE ON h.cases DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION h.tell()" "DELETE FROM cases WHERE id = 7" "SET CONSTRAINTS ALL IMMEDIATE"
handed "a condition, with a function of the server" "cmd:update $cases; cmd:update s:h.cases.city t:h.cases" \
  "CREATE TRIGGER z BEFORE UPDATE ON h.cases FOR EACH ROW WHEN (h.sees(OLD)) EXECUTE FUNCTION suppress_redundant_updates_trigger()" "UPDATE cases SET city = 'x'"
handed "a plan that is older than the trigger" "cmd:delete t:h.cases w:h.cases.id; cmd:delete $cases; cmd:delete t:h.cases w:h.cases.id" "SET plan_cache_mode = force_generic_plan" \
  "PREPARE p(int) AS DELETE FROM cases WHERE id = \$1" "EXECUTE p(1)" "$(trigger "BEFORE DELETE ON h.cases")" "EXECUTE p(2)"
handed "COPY FROM and INSERT hand over what one has" "cmd:insert s:h.cases.id t:h.cases" "$(trigger "BEFORE INSERT ON h.cases")" "INSERT INTO cases (id) VALUES (1000)"
handed "another event, a trigger that is switched off" "cmd:delete t:h.cases; cmd:update s:h.wards.id t:h.wards" "$(trigger "BEFORE UPDATE ON h.cases")" "DELETE FROM cases" "UPDATE wards SET id = id"
handed "a plain function of the server" "cmd:update s:h.cases.city t:h.cases" "$(trigger "BEFORE UPDATE ON h.cases" "suppress_redundant_updates_trigger()")" "UPDATE cases SET city = 'x'"
handed "the owner's trigger" "cmd:update s:h.audited.note t:h.audited; cmd:delete t:h.audited" "UPDATE audited SET note = 'x'" "DELETE FROM audited"

# --- transition tables, rules, views ------------------------------------------------------------------------------------------------
handed "a transition table" "cmd:update $cases; cmd:update s:h.cases.city t:h.cases; cmd:select f:string_agg(h.cases.city,h.cases.id,h.cases.name) $cases" \
  "CREATE TRIGGER z AFTER UPDATE ON h.cases REFERENCING OLD TABLE AS o FOR EACH STATEMENT EXECUTE FUNCTION h.tell_all()" "UPDATE cases SET city = 'x'"
handed "a statement trigger without one" "cmd:update s:h.cases.city t:h.cases" "CREATE TRIGGER z AFTER UPDATE ON h.cases FOR EACH STATEMENT EXECUTE FUNCTION h.tell()" "UPDATE cases SET city = 'x'"
handed "a rule of the owner's" "cmd:insert p:h.ruled.note s:h.log.note t:h.log t:h.ruled; cmd:delete t:h.ruled" "DELETE FROM ruled"
handed "INSTEAD OF" "cmd:delete p:h.cases.id p:h.cases.name t:h.cases; cmd:delete t:h.cases t:h.v" "CREATE VIEW v AS SELECT id, name FROM cases" "$(trigger "INSTEAD OF DELETE ON v")" "DELETE FROM v"

# --- partitions, children, foreign keys, copies ---------------------------------------------------------------------------------------
years="p:h.years.id p:h.years.note p:h.years.year t:h.years"
handed "a partition, by its root" "cmd:delete $years; cmd:delete t:h.years" "$(trigger "BEFORE DELETE ON h.year1")" "DELETE FROM years"
handed "a row that moves" "cmd:update $years; cmd:update s:h.years.year t:h.years w:h.years.id" "$(trigger "BEFORE INSERT ON h.year1")" "UPDATE years SET year = 1 WHERE id = 2"
handed "a child, by its parent" "cmd:delete p:h.leaf.code p:h.leaf.id t:h.leaf; cmd:delete t:h.root" "$(trigger "BEFORE DELETE ON h.leaf")" "DELETE FROM root"
handed "the parent of a protected child" "cmd:delete t:h.root" "$(trigger "BEFORE DELETE ON h.root")" "DELETE FROM root"
handed "ON DELETE CASCADE" "cmd:delete t:h.cases w:h.cases.id; cmd:delete p:h.stays.id p:h.stays.patient p:h.stays.ward t:h.stays" "$(trigger "BEFORE DELETE ON h.stays")" "DELETE FROM cases WHERE id = 3"
handed "ON UPDATE CASCADE" "cmd:update s:h.cases.id t:h.cases w:h.cases.id; cmd:update p:h.stays.id p:h.stays.patient p:h.stays.ward t:h.stays" "$(trigger "AFTER UPDATE ON h.stays")" "UPDATE cases SET id = 1003 WHERE id = 3"
handed "ON DELETE SET NULL, from a table that is not protected" "cmd:delete t:h.wards; cmd:update p:h.beds.patient p:h.beds.ward t:h.beds x2" "$(trigger "BEFORE UPDATE ON h.beds")" "DELETE FROM wards"
handed "a copy of one's own" "cmd:select p:h.cases.id p:h.cases.name t:h.cases; cmd:delete p:h.cases.id p:h.cases.name t:h.cases t:h.mine; cmd:delete t:h.mine" "CREATE TABLE mine AS SELECT id, name FROM cases" "$(trigger "BEFORE DELETE ON mine")" "DELETE FROM mine"
handed "a table of one's own" "cmd:insert s:h.own.i t:h.own; cmd:delete t:h.own" "CREATE TABLE own (i int)" "INSERT INTO own VALUES (1)" "$(trigger "BEFORE DELETE ON own")" "DELETE FROM own"
# Whose function it is, is asked each time.
as mallory q "$(trigger "BEFORE DELETE ON h.cases")" >/dev/null
q "ALTER FUNCTION h.tell() OWNER TO holder" >/dev/null
handed "a function that the owner has taken over" "cmd:delete t:h.cases" "DELETE FROM cases"
q "ALTER FUNCTION h.tell() OWNER TO mallory" "ALTER TABLE h.cases DISABLE TRIGGER z" >/dev/null
handed "a trigger that is switched off" "cmd:delete t:h.cases" "DELETE FROM cases"
q "ALTER TABLE h.cases ENABLE TRIGGER z" "ALTER FUNCTION h.tell_all() OWNER TO mallory" >/dev/null
verify_paths

# --- who may have a trigger -----------------------------------------------------------------------------------------------------------
check "role_status names the right" "$(q "SELECT value, reason FROM privacy_score.role_status('mallory') WHERE setting = 'TRIGGER' ORDER BY 1 LIMIT 2")" \
  "h.audited|granted to mallory
h.beds|granted to mallory"
q "GRANT TRIGGER ON h.secrets TO PUBLIC" "GRANT TRIGGER ON h.year2 TO clerk" >/dev/null
check "to everybody, to a role that it is a member of, on a partition" "$(q "SELECT value, reason FROM privacy_score.role_status('mallory') WHERE setting = 'TRIGGER' AND reason NOT LIKE '%mallory' ORDER BY 1")" \
  "h.secrets|granted to public
h.year2|granted to clerk"
check "the report names the right" "$(q "SELECT privacy_score.report()" | grep -c "TRIGGER granted to mallory")" 7

# --- "dp only" --------------------------------------------------------------------------------------------------------------------------
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" >/dev/null
refused "DELETE, with a trigger" PS001 "DELETE FROM h.cases"
check "no row was shown" "$(as mallory psql -XAtq -c "DELETE FROM h.cases" 2>&1 | grep -c NOTICE)" 0
refused "a cascade" PS001 "BEGIN" "$(trigger "BEFORE DELETE ON h.stays")" "DELETE FROM h.cases WHERE id IN (3)"
refused "a transition table" PS001 "BEGIN" "DROP TRIGGER IF EXISTS z ON h.beds" "CREATE TRIGGER z AFTER UPDATE ON h.beds REFERENCING OLD TABLE AS o FOR EACH STATEMENT EXECUTE FUNCTION h.tell_all()" "UPDATE h.beds SET patient = 'x'"
refused "of the root" PS001 "BEGIN" "$(trigger "BEFORE DELETE ON h.year1")" "DELETE FROM h.years"
refused "by a set null" PS001 "BEGIN" "$(trigger "BEFORE UPDATE ON h.beds")" "DELETE FROM h.wards"
refused "a view" PS001 "BEGIN" "CREATE VIEW h.v AS SELECT id, name FROM h.cases" "$(trigger "INSTEAD OF DELETE ON h.v")" "DELETE FROM h.v"
check "what hands over nothing runs" "$(as mallory q_state "EXPLAIN DELETE FROM h.audited" "BEGIN" "INSERT INTO h.audited VALUES (2)" "ROLLBACK")" 00000
done_testing

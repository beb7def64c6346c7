#!/bin/bash
# row_code.sh - rows that reach somebody's function because their relation evaluates it on each row that is written or
# read: checks, generated columns, indexes, partition keys, domains, policies. They count as read; the owner's own do not.
. "$(dirname "$0")/../attack.sh"
start_hospital

as mallory q_script >/dev/null <<'SQL' || bail_out "mallory's functions cannot be made"
CREATE FUNCTION h.sees(anyelement) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$;
CREATE FUNCTION h.keeps(anyelement) RETURNS anyelement LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE '%', $1; RETURN $1; END $$;
CREATE DOMAIN h.watched_text AS text CHECK (h.sees(VALUE));
SQL
q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
CREATE ROLE holder LOGIN;
GRANT USAGE, CREATE ON SCHEMA h TO holder;
SET ROLE holder;
CREATE FUNCTION h.fine(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$;
CREATE DOMAIN h.lent AS text CHECK (h.sees(VALUE));
CREATE TABLE h.checked (id int PRIMARY KEY, note text, CHECK (h.sees(note)));
CREATE TABLE h.indexed (id int PRIMARY KEY, note text);
CREATE INDEX ON h.indexed ((h.keeps(note)));
CREATE TABLE h.partial (id int PRIMARY KEY, note text);
CREATE INDEX ON h.partial (id) WHERE h.sees(note);
CREATE TABLE h.generated (id int PRIMARY KEY, note text, seen boolean GENERATED ALWAYS AS (h.sees(note)) STORED);
CREATE TABLE h.casts (id int PRIMARY KEY, note text, seen text GENERATED ALWAYS AS (note::h.watched_text) STORED);
CREATE TABLE h.casts2 (id int PRIMARY KEY, note text, seen text GENERATED ALWAYS AS (note::h.lent) STORED);
CREATE TABLE h.years (id int, note text) PARTITION BY LIST (h.keeps(note));
CREATE TABLE h.year1 PARTITION OF h.years FOR VALUES IN ('a');
CREATE TABLE h.year2 PARTITION OF h.years DEFAULT;
CREATE TABLE h.root (id int, note text);
CREATE TABLE h.leaf (CHECK (h.sees(note))) INHERITS (h.root);
CREATE TABLE h.fine_one (id int PRIMARY KEY, note text DEFAULT h.keeps('x'::text), age int GENERATED ALWAYS AS (id + 1) STORED, CHECK (h.fine(note)));
CREATE INDEX ON h.fine_one (lower(note)) WHERE h.fine(note);
CREATE TABLE h.typed (id int PRIMARY KEY, note h.watched_text);
CREATE TABLE h.follows (checked int REFERENCES h.checked ON UPDATE CASCADE, note text, CHECK (h.sees(note)));
CREATE TABLE h.policed (id int PRIMARY KEY, note text);
ALTER TABLE h.policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON h.policed USING (h.sees(note));
CREATE TABLE h.policed2 (id int PRIMARY KEY, note text);
ALTER TABLE h.policed2 ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON h.policed2 USING (h.fine(note));
CREATE TABLE h.policed3 (id int PRIMARY KEY, note text);
ALTER TABLE h.policed3 ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON h.policed3 USING (EXISTS (SELECT FROM h.checked c WHERE c.id = policed3.id AND h.sees(policed3.note)));
CREATE TABLE h.ruled (id int, note text);
CREATE TABLE h.log (seen boolean);
CREATE RULE r AS ON DELETE TO h.ruled DO ALSO INSERT INTO h.log VALUES (h.sees(OLD.note));
CREATE TABLE h.plain (id int, note text, CHECK (h.sees(note)));
SELECT privacy_score.protect(r::regclass) FROM unnest('{h.checked,h.indexed,h.partial,h.generated,h.casts,h.casts2,h.years,h.leaf,h.fine_one,h.typed,h.follows,h.policed,h.policed2,h.policed3,h.ruled}'::text[]) r;
RESET ROLE;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA h TO mallory;
INSERT INTO h.checked VALUES (1, 'a');
INSERT INTO h.indexed VALUES (1, 'a');
INSERT INTO h.partial VALUES (1, 'a');
INSERT INTO h.generated VALUES (1, 'a');
INSERT INTO h.casts VALUES (1, 'a');
INSERT INTO h.casts2 VALUES (1, 'a');
INSERT INTO h.years VALUES (1, 'a');
INSERT INTO h.leaf VALUES (1, 'a');
INSERT INTO h.fine_one VALUES (1, 'a');
INSERT INTO h.typed VALUES (1, 'a');
INSERT INTO h.follows VALUES (1, 'a');
INSERT INTO h.policed VALUES (1, 'a');
INSERT INTO h.ruled VALUES (1, 'a');
INSERT INTO h.plain VALUES (1, 'a');
SQL
# handed "description" RELATION "event of an UPDATE" [COLUMN...]: an UPDATE of a column that the code is not about.
handed() {
  path "$1" "$3; cmd:update s:$2.id t:$2" "BEGIN" "UPDATE $2 SET id = id" "ROLLBACK"
}
rows() { echo "cmd:${2:-update} p:$1.id p:$1.note t:$1"; }

# --- UPDATE and its like ----------------------------------------------------------------------------------------------------------
for relation in checked indexed partial casts2; do
  extra=
  if [ $relation = casts2 ]; then extra=" p:h.casts2.seen"; fi
  handed "$relation" h.$relation "cmd:update p:h.$relation.id p:h.$relation.note$extra t:h.$relation"
done
handed "a generated column" h.generated "cmd:update p:h.generated.id p:h.generated.note p:h.generated.seen t:h.generated"
handed "somebody's domain" h.casts "cmd:update p:h.casts.id p:h.casts.note p:h.casts.seen t:h.casts"
handed "a partition key" h.years "$(rows h.years)"
path "a partition" "$(rows h.years); cmd:update s:h.years.id t:h.years" BEGIN "UPDATE year1 SET id = id" ROLLBACK
path "a child, by its parent" "$(rows h.leaf); cmd:update s:h.root.id t:h.root" BEGIN "UPDATE root SET id = id" ROLLBACK
path "ON UPDATE CASCADE" "$(rows h.checked); cmd:update s:h.checked.id t:h.checked; cmd:update p:h.follows.checked p:h.follows.note t:h.follows" \
  BEGIN "UPDATE checked SET id = 7" ROLLBACK
path "ON CONFLICT DO UPDATE" "$(rows h.checked insert); cmd:insert t:h.checked w:h.checked.id; cmd:insert s:h.checked.id s:h.checked.note t:h.checked" \
  BEGIN "INSERT INTO checked (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET note = 'x'" ROLLBACK
path "MERGE" "~^$(rows h.checked merge); cmd:merge " BEGIN "MERGE INTO checked USING (VALUES (1)) v(i) ON id = i WHEN MATCHED THEN UPDATE SET id = 7" ROLLBACK
path "a WITH query" "$(rows h.checked select); cmd:select s:h.checked.note t:h.checked" BEGIN "WITH x AS (UPDATE checked SET note = 'x') SELECT 1" ROLLBACK
path "INSERT hands over what one has" "cmd:insert s:h.checked.id s:h.checked.note t:h.checked" BEGIN "INSERT INTO checked VALUES (7, 'x')" ROLLBACK
path "DELETE evaluates nothing" "cmd:delete t:h.follows; cmd:delete t:h.checked; cmd:delete t:h.indexed" BEGIN "DELETE FROM follows" "DELETE FROM checked" "DELETE FROM indexed" ROLLBACK
handed_not() { path "$1" "cmd:update s:$2.id t:$2" BEGIN "UPDATE $2 SET id = id" ROLLBACK; }
handed_not "the owner's functions, a default of somebody's" h.fine_one
handed_not "a type of somebody's, whose values stay as they are" h.typed
handed_not "a table that is not protected" h.plain
path "a value becomes one of somebody's domain" "~p:h.typed.note" BEGIN "UPDATE typed SET note = note || 'x'" ROLLBACK
verify_paths

# --- policies and rules -----------------------------------------------------------------------------------------------------------
path "a policy" "cmd:select p:h.policed.id p:h.policed.note t:h.policed w:h.policed.note" "SELECT id FROM policed"
path "a sub-select of a policy" "~p:h.policed3.note" "SELECT id FROM policed3"
path "a policy, count" "~p:h.policed.note" "SELECT count(*) FROM policed"
path "a policy, UPDATE" "~p:h.policed.note" BEGIN "UPDATE policed SET id = id" ROLLBACK
path "a policy, ON CONFLICT DO UPDATE" "~p:h.policed.note" BEGIN "INSERT INTO policed VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET id = 7" ROLLBACK
path "a policy, INSERT" "cmd:insert s:h.policed.id s:h.policed.note t:h.policed" BEGIN "INSERT INTO policed VALUES (7, 'x')" ROLLBACK
path "the owner's policy" "cmd:select p:h.policed2.id t:h.policed2" "SELECT id FROM policed2"
path "a rule" "~p:h.ruled.note" BEGIN "DELETE FROM ruled" ROLLBACK
verify_paths

# --- copies: what defines and maintains them ----------------------------------------------------------------------------------------
as mallory q "CREATE TABLE h.copied AS SELECT id, city FROM h.patients" "CREATE TABLE h.mine (id int, city text)" "CREATE TABLE h.owned AS SELECT 1 AS id, 'x'::text AS city" \
  "CREATE FUNCTION h.sees_text(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN RETURN true; END \$\$" \
  "CREATE OPERATOR h.%% (rightarg = text, procedure = h.sees_text)" >/dev/null 2>&1
copied="cmd:select p:h.patients.city p:h.patients.id t:h.copied t:h.patients"
undone() {
  local description=$1 events=$2
  shift 2
  path "$description" "$events" BEGIN "$@" ROLLBACK
}
undone "a check" "$copied" "ALTER TABLE copied ADD CHECK (h.sees(city))"
undone "a check that is validated" "$copied x2" "ALTER TABLE copied ADD CONSTRAINT c CHECK (h.sees(city)) NOT VALID" "ALTER TABLE copied VALIDATE CONSTRAINT c"
undone "an operator" "$copied" "ALTER TABLE copied ADD CHECK (OPERATOR(h.%%) city)"
undone "a domain" "$copied" "ALTER TABLE copied ADD CHECK (city::h.watched_text IS NOT NULL)"
undone "an index" "$copied" "CREATE INDEX ON copied ((h.keeps(city)))"
undone "its predicate" "$copied" "CREATE INDEX ON copied (id) WHERE h.sees(city)"
undone "a function of the row" "$copied" "CREATE INDEX ON copied ((copied.sees))"
undone "a new type" "$copied" "ALTER TABLE copied ALTER city TYPE text USING h.keeps(city)"
undone "a generated column" "$copied" "ALTER TABLE copied ADD COLUMN g boolean GENERATED ALWAYS AS (h.sees(city)) STORED"
undone "statistics" "$copied" "CREATE STATISTICS s ON (h.keeps(city)), id FROM copied"
undone "REINDEX, CLUSTER, ANALYZE" "$copied x4" "CREATE INDEX i ON copied ((h.keeps(city)))" "REINDEX TABLE copied" "CLUSTER copied USING i" "ANALYZE copied"
undone "an attached partition" "$copied" "CREATE TABLE above (id int, city text) PARTITION BY LIST (h.keeps(city))" "ALTER TABLE above ATTACH PARTITION copied DEFAULT"
undone "code of the server" "" "CREATE INDEX ON copied (lower(city)) WHERE city || 'x' > 'c'" "ALTER TABLE copied ADD CHECK (city IS NOT NULL), ALTER id TYPE bigint USING id::bigint" "ANALYZE copied" "REINDEX TABLE copied"
undone "a default" "" "ALTER TABLE copied ADD COLUMN d text DEFAULT h.keeps('x'::text)"
undone "what is no copy" "" "CREATE INDEX ON owned ((h.keeps(city)))" "ALTER TABLE owned ADD CHECK (h.sees(city))"
verify_paths

# --- whose code it is, is asked each time ---------------------------------------------------------------------------------------------
path "what comes later, and goes again" "cmd:update s:h.secrets.id t:h.secrets; cmd:update p:h.secrets.code p:h.secrets.id t:h.secrets; cmd:update s:h.secrets.id t:h.secrets x2" \
  "UPDATE secrets SET id = id" "\\! psql -XAtqc 'ALTER TABLE h.secrets ADD CONSTRAINT c CHECK (h.sees(code)) NOT VALID' -U postgres" "UPDATE secrets SET id = id" \
  "\\! psql -XAtqc 'ALTER TABLE h.secrets DROP CONSTRAINT c' -U postgres" "UPDATE secrets SET id = id"
q "ALTER FUNCTION h.sees(anyelement) OWNER TO holder" >/dev/null
handed_not "a function that the owner has taken over" h.checked
q "ALTER FUNCTION h.sees(anyelement) OWNER TO mallory" >/dev/null
handed "and given back" h.checked "$(rows h.checked)"
verify_paths

# --- "dp only" --------------------------------------------------------------------------------------------------------------------
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" >/dev/null
for relation in checked indexed years policed; do refused "UPDATE $relation" PS001 "UPDATE h.$relation SET id = id"; done
refused "SELECT, with a policy" PS001 "SELECT id FROM h.policed"
refused "an index on a copy" PS001 "CREATE INDEX ON h.copied ((h.keeps(city)))"
refused "a check of a copy" PS001 "ALTER TABLE h.copied ADD CHECK (h.sees(city))"
check "code of the server runs" "$(as mallory q_state "CREATE INDEX ON h.copied (lower(city))")" 00000
check "no row was shown" "$(as mallory psql -XAtq -c "UPDATE h.checked SET id = id" 2>&1 | grep -c NOTICE)" 0
done_testing

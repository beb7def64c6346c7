#!/bin/bash
# domains.sh - who owns the type of a column has its values handed to a function: by a constraint that is added to a
# domain, validated, or tightened. It counts as reading the columns, and owners of tables are warned of such types.
. "$(dirname "$0")/../attack.sh"
start_hospital

as mallory q_script >/dev/null <<'SQL' || bail_out "mallory's types cannot be made"
CREATE DOMAIN h.dom AS text;
CREATE DOMAIN h.over AS h.dom;
CREATE DOMAIN h.others AS text;
CREATE DOMAIN h.element AS text;
CREATE DOMAIN h.bound AS int;
CREATE DOMAIN h.shown AS text;
CREATE TYPE h.pair AS (a int, b h.element);
CREATE TYPE h.colour AS ENUM ('red');
CREATE FUNCTION h.tells(text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% seen by %', $1, current_user; RETURN true; END $$;
SQL
q_script >"$PS_TMP/warnings" <<'SQL' || bail_out "the tables cannot be made"
CREATE ROLE holder LOGIN;
GRANT USAGE, CREATE ON SCHEMA h TO holder;
SET ROLE holder;
CREATE DOMAIN h.plain AS text CHECK (VALUE <> '');
CREATE TABLE h.notes (id int PRIMARY KEY, note h.dom, other h.over, free h.others, plain h.plain);
INSERT INTO h.notes SELECT i, 'secret-' || i, 'other-' || i, 'x', 'y' FROM generate_series(1, 20) i;
CREATE TABLE h.tree (id int, note h.dom) PARTITION BY LIST (id);
CREATE TABLE h.tree1 PARTITION OF h.tree FOR VALUES IN (1);
INSERT INTO h.tree VALUES (1, 'secret');
CREATE TABLE h.open (note h.dom);
INSERT INTO h.open VALUES ('x');
CREATE TABLE h.source (shown h.shown);
INSERT INTO h.source VALUES ('secret');
CREATE MATERIALIZED VIEW h.kept AS SELECT shown FROM h.source;
SELECT privacy_score.protect('h.source');
CREATE TABLE h.lists (many h.element[], ranges int4range, duo h.pair, one h.colour);
INSERT INTO h.lists VALUES ('{x}', '[1,2)', (1, 'x'), 'red');
\echo protect notes
SELECT privacy_score.protect('h.notes');
\echo protect tree
SELECT privacy_score.protect('h.tree', '{id}');
\echo protect lists
SELECT privacy_score.protect('h.lists');
\echo grant
SELECT privacy_score.dp_grant('alice', 'h.notes', 1);
\echo end
SQL
warned() { sed -n "/^$1\$/,/^$2\$/p" "$PS_TMP/warnings" | sed -n 's/.*WARNING:  //p'; }
check "protect() warns of types of others" "$(warned "protect notes" "protect tree")" 'type h.dom of column "note" belongs to role "mallory"
type h.over of column "other" belongs to role "mallory"
type h.others of column "free" belongs to role "mallory"'
check "of a partitioned table" "$(warned "protect tree" "protect lists")" 'type h.dom of column "note" belongs to role "mallory"'
check "of arrays, of composite types, of enums" "$(warned "protect lists" "grant")" 'type h.element[] of column "many" belongs to role "mallory"
type h.pair of column "duo" belongs to role "mallory"
type h.colour of column "one" belongs to role "mallory"'
check "dp_grant() warns as well" "$(warned "grant" "end" | wc -l)" 3

notes="cmd:select p:h.notes.note p:h.notes.other t:h.notes"
tree="cmd:select p:h.tree.note t:h.tree"
path "ADD CHECK" "~^($notes; $tree|$tree; $notes)$" "ALTER DOMAIN dom ADD CHECK (tells(VALUE))"
path "ADD CHECK of a domain over it" "cmd:select p:h.notes.other t:h.notes" "ALTER DOMAIN over ADD CONSTRAINT o CHECK (VALUE > '')"
path "a materialized view" "~^cmd:select p:h.source.shown t:h.(source|kept t:h.source); cmd:select p:h.source.shown t:h.(source|kept t:h.source)$" "ALTER DOMAIN shown ADD CHECK (tells(VALUE))"
path "NOT VALID reads nothing, VALIDATE does" "cmd:select p:h.notes.free t:h.notes" "ALTER DOMAIN others ADD CONSTRAINT c CHECK (tells(VALUE)) NOT VALID" "ALTER DOMAIN others VALIDATE CONSTRAINT c"
path "SET NOT NULL" "cmd:select p:h.notes.free t:h.notes" "ALTER DOMAIN others SET NOT NULL"
path "what reads nothing" "" "ALTER DOMAIN others DROP NOT NULL" "ALTER DOMAIN others SET DEFAULT 'x'" "ALTER DOMAIN others DROP CONSTRAINT c" "ALTER DOMAIN bound ADD CHECK (VALUE > 0)" "ALTER DOMAIN others RENAME TO others2" "ALTER DOMAIN others2 RENAME TO others"
path "in a DO block" "cmd:select p:h.notes.free t:h.notes" "DO \$\$ BEGIN EXECUTE 'ALTER DOMAIN h.others ADD CHECK (h.tells(VALUE))'; END \$\$"
failing_path "a constraint that a value fails" "cmd:select p:h.notes.free t:h.notes" "ERROR" "ALTER DOMAIN others ADD CHECK (VALUE <> 'x')"
failing_path "elements of arrays, which the server does not read" "" "cannot alter type" "ALTER DOMAIN element ADD CHECK (tells(VALUE))"
failing_path "somebody else's domain" "" "must be owner" "ALTER DOMAIN plain ADD CHECK (tells(VALUE))"
failing_path "no domain" "" "does not exist" "ALTER DOMAIN nosuch ADD CHECK (tells(VALUE))"
q "GRANT SELECT ON h.notes TO mallory" >/dev/null
path "a copy of one's own" "~^cmd:select p:h.notes.free t:h.notes( x2; cmd:select p:h.notes.free t:h.c t:h.notes|; cmd:select p:h.notes.free t:h.c t:h.notes; cmd:select p:h.notes.free t:h.notes)$" \
  "BEGIN" "CREATE TABLE c AS SELECT free FROM notes" "ALTER DOMAIN others ADD CHECK (VALUE > '')" "ROLLBACK"
verify_paths

q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" >/dev/null
refused "ADD CHECK" PS001 "ALTER DOMAIN h.dom ADD CHECK (h.tells(VALUE))"
refused "VALIDATE" PS001 "ALTER DOMAIN h.others ADD CONSTRAINT d CHECK (h.tells(VALUE)) NOT VALID" "ALTER DOMAIN h.others VALIDATE CONSTRAINT d"
refused "SET NOT NULL" PS001 "ALTER DOMAIN h.over SET NOT NULL"
refused "in a function" PS001 "DO \$\$ BEGIN EXECUTE 'ALTER DOMAIN h.dom ADD CHECK (h.tells(VALUE))'; END \$\$"
check "no value was shown" "$(as mallory psql -XAtq -c "ALTER DOMAIN h.dom ADD CHECK (h.tells(VALUE))" 2>&1 | grep -c seen)" 0
check "what reads nothing protected runs" "$(as mallory q_state "ALTER DOMAIN h.bound ADD CHECK (VALUE > -1)" "ALTER DOMAIN h.dom SET DEFAULT 'x'")" 00000
done_testing

#!/bin/bash
# shards.sh - tables that hold the rows of a distributed one, by the catalog of Citus, count as that table; and pieces of a
# statement that a library plans and runs by itself are no statements, while what functions run meanwhile is. Neither
# needs Citus: the catalog is made here, and the library is test/support/pieces.c. With Citus: test/shell/citus.sh.
. "$(dirname "$0")/../attack.sh"
compile_support pieces
start_hospital "shared_preload_libraries = '$module,privacy_score'" "allow_system_table_mods = on"

# --- shards ---------------------------------------------------------------------------------------------------------------
q_script >/dev/null <<'SQL' || bail_out "the shards cannot be made"
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint NOT NULL, shardstorage "char" NOT NULL);
CREATE UNIQUE INDEX pg_dist_shard_shardid_index ON pg_catalog.pg_dist_shard (shardid);
CREATE TABLE h.patients_102009 (LIKE h.patients INCLUDING ALL);
INSERT INTO h.patients_102009 SELECT * FROM h.patients;
INSERT INTO pg_dist_shard VALUES ('h.patients', 102009, 't');
-- A distributed table in partitions, of which one is protected by itself: a shard of it is a partition of a shard.
CREATE TABLE h.letters (id int, body text) PARTITION BY RANGE (id);
CREATE TABLE h.letters_old PARTITION OF h.letters FOR VALUES FROM (0) TO (100);
CREATE TABLE h.letters_102020 (id int, body text) PARTITION BY RANGE (id);
CREATE TABLE h.letters_old_102021 PARTITION OF h.letters_102020 FOR VALUES FROM (0) TO (100);
INSERT INTO pg_dist_shard VALUES ('h.letters', 102020, 't'), ('h.letters_old', 102021, 't');
-- Of a relation that is not protected: shards of the same number in another schema, of another name, copied by somebody.
CREATE TABLE h.cities (id int, diagnosis text);
INSERT INTO pg_dist_shard VALUES ('h.cities', 102040, 't'), ('h.cities', 102041, 't');
CREATE TABLE h.stays (id int, diagnosis text) PARTITION BY RANGE (id);
CREATE TABLE h.stays_102040 PARTITION OF h.stays FOR VALUES FROM (0) TO (100);
CREATE SCHEMA own AUTHORIZATION mallory;
-- Each a shard of the other, by its name.
CREATE TABLE h.round (id int, diagnosis text);
CREATE TABLE h.round_102050 (id int, diagnosis text);
INSERT INTO pg_dist_shard VALUES ('h.round', 102050, 't'), ('h.round_102050', 102051, 't');
CREATE TABLE h.round_102050_102051 (id int, diagnosis text);
-- Names that Citus cuts.
CREATE TABLE h.a_table_with_a_name_as_long_as_names_may_be_in_this_server_0001 (id int, diagnosis text);
CREATE TABLE h.a_table_with_a_name_as_long_as_names_may_be_in__0a1b2c3d_102060 (id int, diagnosis text);
INSERT INTO pg_dist_shard VALUES ('h.a_table_with_a_name_as_long_as_names_may_be_in_this_server_0001', 102060, 't');
-- One that bears such a name and is none; one that was made before it became one.
CREATE TABLE h.year_2024 (id int, first_name text);
CREATE TABLE h.patients_102030 (LIKE h.patients);
GRANT SELECT ON ALL TABLES IN SCHEMA h TO mallory, alice;
REVOKE SELECT ON h.secrets FROM mallory, alice;
GRANT INSERT, UPDATE ON h.patients_102009 TO mallory;
SECURITY LABEL FOR privacy_score ON ROLE alice IS 'dp only';
SQL
q "SELECT privacy_score.protect('h.letters', '{id}')" "SELECT privacy_score.protect('h.stays', '{id}')" \
  "SELECT privacy_score.protect('h.round', '{id}')" "SELECT privacy_score.protect('h.a_table_with_a_name_as_long_as_names_may_be_in_this_server_0001', '{id}')" "SELECT privacy_score.flush()" >/dev/null

path "a shard" "$read" "SELECT diagnosis FROM patients_102009"
path "a shard by its key" "$by_id" "SELECT diagnosis FROM patients_102009 WHERE id = 7"
path "COPY of one" "cmd:copy ${whole#cmd:select }" "COPY patients_102009 TO STDOUT"
path "a view of one" "$read" "CREATE VIEW mine AS SELECT diagnosis FROM patients_102009" "SELECT * FROM mine"
path "a copy of one" "$read; cmd:select p:h.patients.diagnosis t:h.copied t:h.patients" "CREATE TABLE copied AS SELECT diagnosis FROM patients_102009" "SELECT * FROM copied"
path "what a failing statement shows" "cmd:update s:h.patients.id t:h.patients w:h.patients.id; cmd:update ${whole#cmd:select }" \
  "DO \$\$BEGIN UPDATE patients_102009 SET id = NULL WHERE id = 7; EXCEPTION WHEN OTHERS THEN NULL; END\$\$"
path "in a function" "$outer; $read" "CREATE FUNCTION shown() RETURNS SETOF text LANGUAGE sql STABLE STRICT AS 'SELECT diagnosis FROM patients_102009 OFFSET 0'" "SELECT count(*) FROM (SELECT shown()) s"
path "a partition of a shard, a shard of a partition" "cmd:select p:h.letters.body t:h.letters x3" "SELECT body FROM letters_102020" "SELECT body FROM letters_old_102021" "SELECT body FROM letters_old"
path "a partition whose number is another's" "cmd:select p:h.stays.diagnosis t:h.stays" "SELECT diagnosis FROM stays_102040"
path "a copy with the number of a shard" "$read; cmd:select p:h.patients.diagnosis t:h.loot_102040 t:h.patients" "CREATE TABLE loot_102040 AS SELECT diagnosis FROM patients" "SELECT diagnosis FROM loot_102040"
path "a copy that is called as a shard" "$read; cmd:select p:h.patients.diagnosis t:h.cities_102040 t:h.patients" "CREATE TABLE cities_102040 AS SELECT diagnosis FROM patients" "SELECT diagnosis FROM cities_102040"
path "in another schema" "$read; cmd:select p:h.patients.diagnosis t:h.patients t:own.cities_102041" "CREATE TABLE own.cities_102041 AS SELECT diagnosis FROM patients" "SELECT diagnosis FROM own.cities_102041"
path "a shard of a shard there is not" "cmd:select p:h.round.diagnosis t:h.round; cmd:select p:h.round_102050_102051.diagnosis t:h.round_102050_102051" "SELECT diagnosis FROM round_102050" "SELECT diagnosis FROM round_102050_102051"
long=a_table_with_a_name_as_long_as_names_may_be_in_this_server_0001
path "a name that is cut" "cmd:select p:h.$long.diagnosis t:h.$long" "SELECT diagnosis FROM a_table_with_a_name_as_long_as_names_may_be_in__0a1b2c3d_102060"
path "no shard" "cmd:select p:h.year_2024.first_name t:h.year_2024" "SELECT first_name FROM year_2024"
check "its text, too" "$(q "SELECT privacy_score.abstract_query('SELECT diagnosis FROM h.patients_102009')")" "{cmd:select,p:h.patients.diagnosis,t:h.patients}"

export PGAPPNAME=
# Somebody has read it before it is a shard, in a connection that goes on.
exec 4> >(as mallory "$PS_BINDIR/psql" -XAtq >"$PS_TMP/mallory.out" 2>&1)
echo "SELECT count(diagnosis) FROM h.patients_102030; SELECT 'before';" >&4
wait_for_line "$PS_TMP/mallory.out" before
# Citus tells of a new shard that its table has changed; so does this.
q "INSERT INTO pg_dist_shard VALUES ('h.patients', 102030, 't')" "ALTER TABLE h.patients SET (fillfactor = 90)" >/dev/null
echo "SELECT diagnosis FROM h.patients_102030; SELECT 'after';" >&4
wait_for_line "$PS_TMP/mallory.out" after
exec 4>&-
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'mallory'" 0
q "SELECT privacy_score.flush()" >/dev/null
check "what becomes a shard counts as its table from then on" "$(q "SELECT string_agg(array_to_string(a.tokens, ' '), '; ' ORDER BY e.place)
    FROM privacy_score.session_part p, ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place), privacy_score.abstraction a
   WHERE a.id = e.id AND p.session_id = (SELECT max(id) FROM privacy_score.session) AND a.tokens <> '{cmd:select}'")" \
  "cmd:select f:count(h.patients_102030.diagnosis) t:h.patients_102030; $read"
check "dp only: a shard" "$(as alice q_state "SELECT diagnosis FROM h.patients_102009")" "PS001"
check "dp only: no shard" "$(as alice q_state "SELECT first_name FROM h.year_2024")" "00000"

# --- pieces of a plan -----------------------------------------------------------------------------------------------------
q_script >/dev/null <<'SQL' || bail_out "the functions cannot be made"
ALTER ROLE mallory SET pieces.planned = on;
ALTER ROLE alice SET pieces.planned = on;
CREATE FUNCTION h.folded() RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT diagnosis FROM h.patients WHERE id = 1';
CREATE FUNCTION h.folded_too() RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT diagnosis FROM h.patients WHERE id = 1); END';
CREATE FUNCTION h.running(int) RETURNS text VOLATILE LANGUAGE sql AS 'SELECT diagnosis FROM h.patients WHERE id = $1';
CREATE FUNCTION h.running_too(int) RETURNS text VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN (WITH w AS MATERIALIZED (SELECT diagnosis FROM h.patients WHERE id = $1) SELECT diagnosis FROM w); END';
SQL
path "pieces" "$read" "WITH w AS MATERIALIZED (SELECT diagnosis FROM patients) SELECT * FROM w"
path "two of them, with a parameter" "cmd:select p:h.patients.diagnosis p:h.visits.ward t:h.patients t:h.visits w:h.patients.id x2" \
  "PREPARE p(int) AS WITH w AS MATERIALIZED (SELECT diagnosis FROM patients WHERE id = \$1), v AS MATERIALIZED (SELECT ward FROM visits) SELECT * FROM w, v" "EXECUTE p(1)" "EXECUTE p(2)"
path "what is folded within a piece" "$by_id x4; $outer x2; $by_id x2; $outer" "WITH w AS MATERIALIZED (SELECT folded(), folded_too()) SELECT count(*) FROM w"
path "what runs within a piece" "$outer; $by_id; $outer; $by_id" "WITH w AS MATERIALIZED (SELECT running(2)) SELECT * FROM w"
path "pieces within a function" "$outer; $by_id" "SELECT running_too(3)"
path "in a cursor" "$read" "BEGIN" "DECLARE c CURSOR FOR WITH w AS MATERIALIZED (SELECT diagnosis FROM patients) SELECT * FROM w" "FETCH ALL FROM c" "COMMIT"
path "what is explained" "cmd:explain t:h.patients w:h.patients.diagnosis" "EXPLAIN WITH w AS MATERIALIZED (SELECT diagnosis FROM patients WHERE diagnosis = 'd1') SELECT count(*) FROM w"
# Functions of libraries that plan a text, which nothing tells from a piece: called, inlined, folded, or called by what is
# evaluated of a table. With functions of anybody's in a statement its pieces count, too.
q "CREATE FUNCTION h.reads(text) RETURNS int VOLATILE STRICT LANGUAGE c AS '$module', 'pieces_read'" "CREATE FUNCTION h.reads_early(text) RETURNS int IMMUTABLE STRICT LANGUAGE c AS '$module', 'pieces_read'" >/dev/null
text="'SELECT diagnosis FROM h.patients'"
path "a text that is planned" "$outer; $read" "SELECT reads($text)"
path "in FROM" "$outer; $read" "SELECT * FROM reads($text)"
path "while it is planned" "$read; $outer" "SELECT reads_early($text)"
path "in a function that is inlined" "$outer; $read" "CREATE FUNCTION hides() RETURNS int VOLATILE LANGUAGE sql AS \$\$SELECT h.reads($text)\$\$" "SELECT hides()"
path "in a function" "$outer x2; $read" "CREATE FUNCTION runs() RETURNS int VOLATILE LANGUAGE plpgsql AS \$\$BEGIN RETURN (SELECT h.reads($text)); END\$\$" "SELECT runs()"
path "in a check" "~cmd:insert.*; $read" "CREATE TABLE checks (id int CHECK (h.reads($text) > 0))" "INSERT INTO checks VALUES (1)"
path "in a default" "~cmd:insert.*; $read" "CREATE TABLE defaults (id int, x int DEFAULT h.reads($text))" "INSERT INTO defaults VALUES (1)"
path "in a domain" "$read" "CREATE DOMAIN checked AS int CHECK (h.reads($text) > 0)" "SELECT 1::checked"
path "in a view" "$outer; $read" "CREATE VIEW reading AS SELECT h.reads($text) AS x" "SELECT x FROM reading"
path "beside pieces" "$by_id x3; $read" "WITH w AS MATERIALIZED (SELECT diagnosis FROM patients WHERE id = 1) SELECT *, reads($text) FROM w"
# A statement that begins when its cursor is fetched from: no context of an error tells it from the plan around.
opens() { echo "DO \$\$DECLARE c refcursor := 'p'; BEGIN OPEN c FOR EXECUTE '${1//\'/\'\'}'; END\$\$"; }
fetched="SELECT length(cursor_to_xml('p', 100000, false, true, '')::text) > 100"
path "EXECUTE in a cursor as XML" "$outer; $read x2" "PREPARE r AS SELECT diagnosis FROM patients" "BEGIN" "$(opens "EXECUTE r")" "$fetched" "COMMIT" "EXECUTE r"
path "EXPLAIN in one" "~t:h.patients w:h.patients.diagnosis" "BEGIN" "$(opens "EXPLAIN ANALYZE SELECT 1 FROM h.patients WHERE diagnosis = 'd1'")" "$fetched" "COMMIT"
path "a copy in one" "~cmd:select p:h.patients.diagnosis t:h.patients" "BEGIN" "$(opens "EXPLAIN ANALYZE CREATE TABLE h.by_cursor AS SELECT diagnosis FROM h.patients")" "$fetched" "COMMIT"
path "a modifying WITH in one" "~cmd:select p:h.patients.diagnosis.* t:h.patients" "CREATE TABLE mine_too (id int)" "BEGIN" \
  "$(opens "WITH i AS (INSERT INTO h.mine_too VALUES (1)) SELECT diagnosis FROM h.patients")" "$fetched" "COMMIT"
verify_paths
for asked in "EXECUTE r" "EXPLAIN ANALYZE SELECT 1 FROM h.patients WHERE diagnosis = 'd1'" "EXPLAIN ANALYZE CREATE TABLE pg_temp.loot AS SELECT * FROM h.patients"; do
  for track in all top; do
    q "ALTER ROLE alice SET privacy_score.track = '$track'" >/dev/null
    check "dp only, track $track: $asked in a cursor as XML" "$(as alice q_state "PREPARE r AS SELECT diagnosis FROM h.patients" "BEGIN" "$(opens "$asked")" "$fetched")" "PS001"
  done
done
check "dp only, track top: a modifying WITH" "$(as alice q_state "CREATE TEMP TABLE mine (id int)" "BEGIN" "$(opens "WITH i AS (INSERT INTO mine VALUES (1)) SELECT diagnosis FROM h.patients")" "$fetched")" "PS001"
q "ALTER ROLE alice RESET privacy_score.track" >/dev/null
check "dp only: what was planned so" "$(as alice q_state "PREPARE r AS SELECT diagnosis FROM h.patients" "BEGIN" "$(opens "EXECUTE r")" "SAVEPOINT s" "$fetched" "ROLLBACK TO s" "EXECUTE r")" "PS001"
check "dp only: a piece" "$(as alice q_state "WITH w AS MATERIALIZED (SELECT diagnosis FROM h.patients) SELECT 1 FROM w")" "PS001"
check "dp only: what runs within one" "$(as alice q_state "WITH w AS MATERIALIZED (SELECT h.running(2)) SELECT * FROM w")" "PS001"
done_testing

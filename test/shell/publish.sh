#!/bin/bash
# publish.sh - bucketize() among others: rights and row security of the caller, default privileges, event triggers, cancel,
# faults, concurrency, what watching makes of it, and that nothing is left behind.
. "$(dirname "$0")/../lib.sh"
start_server "maintenance_work_mem = '4MB'"

# publish ROLE ARGUMENTS: rows published, or the error.
publish() { as "$1" q "SELECT rows FROM privacy_score.bucketize($2)"; }
# code ROLE ARGUMENTS: the SQLSTATE.
code() {
  as "$1" q "DO \$d\$ BEGIN PERFORM privacy_score.bucketize($2); RAISE NOTICE 'none'; EXCEPTION WHEN OTHERS THEN RAISE EXCEPTION '%', SQLSTATE; END \$d\$" |
    sed -n 's/^ERROR: *//p' | head -n 1
}
# Tables of the schema shop.
left() { q "SELECT coalesce(string_agg(relname, ' ' ORDER BY relname), '') FROM pg_class WHERE relnamespace = 'shop'::regnamespace"; }

q "CREATE EXTENSION privacy_score" "CREATE ROLE owner LOGIN" "CREATE ROLE alice LOGIN" "CREATE ROLE eve LOGIN" "CREATE ROLE reader LOGIN" \
  "CREATE SCHEMA data AUTHORIZATION owner" "CREATE SCHEMA shop" "GRANT USAGE ON SCHEMA data TO PUBLIC" "GRANT CREATE, USAGE ON SCHEMA shop TO alice" \
  "GRANT USAGE ON SCHEMA shop TO eve, reader" >/dev/null
as owner q "CREATE TABLE data.patient (name text, age int, zip text, ward int, disease text)" \
  "INSERT INTO data.patient SELECT 'n' || i, i % 80, 'z' || i % 90, i % 4, 'd' || i % 9 FROM generate_series(1, 3600) i" \
  "GRANT SELECT (age, zip, ward, disease) ON data.patient TO alice" "GRANT SELECT (age, zip) ON data.patient TO eve" >/dev/null

# --- rights -----------------------------------------------------------------------------------------------------------
usual="'data.patient', '{age,zip}', 'disease', 'shop.q', 'shop.s', 'two-size', l => 4"
check "without SELECT" "$(publish reader "$usual")" "ERROR: permission denied for table patient"
check "is 42501" "$(code reader "$usual")" 42501
check "without SELECT on the sensitive column" "$(code eve "$usual")" 42501
check "with it, without CREATE on the schema" "$(q "GRANT USAGE ON SCHEMA shop TO owner" >/dev/null; code owner "$usual")" 42501
check "nothing is left" "$(left)" ""
check "a column without the right to it" "$(code alice "'data.patient', '{age,name}', 'disease', 'shop.q', 'shop.s', 'two-size', l => 4")" 42501
check "the rights to the columns are enough" "$(publish alice "$usual")" 3600
check "the caller owns both tables" "$(q "SELECT string_agg(DISTINCT pg_get_userbyid(relowner), ' ') FROM pg_class WHERE relname IN ('q', 's')")" alice
check "somebody else may not read them" "$(as eve q "SELECT count(*) FROM shop.s")" "ERROR: permission denied for table s"
check "nor replace them" "$(q "GRANT CREATE ON SCHEMA shop TO eve" "GRANT SELECT (disease) ON data.patient TO eve" >/dev/null; code eve "$usual, replace => true")" 42501
check "nor judge them" "$(as eve q "SELECT count(*) FROM privacy_score.verify_release('shop.q', 'shop.s')")" "ERROR: permission denied for table q"
as alice q "DROP TABLE shop.q, shop.s" >/dev/null

# A function of somebody else runs with that one's rights, and what it publishes belongs there.
as owner q "CREATE FUNCTION data.publish(q text, s text) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS \$\$SELECT rows FROM privacy_score.bucketize('data.patient', '{age}', 'disease', q, s, 'two-size', l => 2)\$\$" >/dev/null
q "GRANT CREATE, USAGE ON SCHEMA shop TO owner" >/dev/null
check "a security definer function publishes with its owner's rights" "$(as reader q "SELECT data.publish('shop.q', 'shop.s')")" 3600
check "and its caller cannot read it" "$(as reader q "TABLE shop.q")" "ERROR: permission denied for table q"
as owner q "DROP TABLE shop.q, shop.s" >/dev/null
check "a search_path of the caller's changes nothing" "$(as alice q "SET search_path = shop, pg_temp, pg_catalog" \
  "CREATE FUNCTION shop.eq(text, text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''called''; END'" \
  "CREATE OPERATOR shop.= (LEFTARG = text, RIGHTARG = text, FUNCTION = shop.eq)" "CREATE FUNCTION shop.count(bigint) RETURNS int LANGUAGE sql AS 'SELECT 1/0'" \
  "SELECT count(*) FROM privacy_score.bucketize($usual)" "SELECT bool_and(holds) FROM privacy_score.verify_release('q', 's', source => 'data.patient')" | tr '\n' ' ')" "1 t "
as alice q "DROP TABLE shop.q, shop.s" "DROP OPERATOR shop.= (text, text)" "DROP FUNCTION shop.eq(text, text), shop.count(bigint)" >/dev/null

# --- row security -----------------------------------------------------------------------------------------------------
as owner q "ALTER TABLE data.patient ENABLE ROW LEVEL SECURITY" "CREATE POLICY ward ON data.patient TO alice USING (ward = 1)" >/dev/null
check "only rows that a policy lets through are published" "$(publish alice "$usual")" 900
check "and none of the others" "$(as alice q "SELECT count(*) FROM shop.q")" 900
as alice q "DROP TABLE shop.q, shop.s" >/dev/null
check "row_security = off is an error" "$(as alice q "SET row_security = off" "SELECT rows FROM privacy_score.bucketize($usual)")" \
  "ERROR: query would be affected by row-level security policy for table \"patient\""
as owner q "ALTER TABLE data.patient DISABLE ROW LEVEL SECURITY" >/dev/null

# --- who may read what is published -----------------------------------------------------------------------------------
as alice q "ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT ON TABLES TO reader, PUBLIC" >/dev/null
publish alice "$usual" >/dev/null
check "default privileges are taken back" "$(as reader q "SELECT count(*) FROM shop.q")" "ERROR: permission denied for table q"
check "of nobody but the owner" "$(q "SELECT count(*) FROM pg_class c, aclexplode(c.relacl) a WHERE relname IN ('q', 's') AND a.grantee <> c.relowner")" 0
check "the owner has all" "$(as alice q "SELECT count(*) FROM shop.q" "DELETE FROM shop.s" "GRANT SELECT ON shop.q TO reader" >/dev/null; as reader q "SELECT count(*) FROM shop.q")" 3600
as alice q "ALTER DEFAULT PRIVILEGES IN SCHEMA shop REVOKE SELECT ON TABLES FROM reader, PUBLIC" "DROP TABLE shop.q, shop.s" >/dev/null

# --- event triggers ---------------------------------------------------------------------------------------------------
# with_trigger "what" BODY "expected": an event trigger with that body at the end of CREATE TABLE.
with_trigger() {
  q "CREATE FUNCTION hinder() RETURNS event_trigger LANGUAGE plpgsql AS \$f\$ DECLARE c record; BEGIN
       FOR c IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE object_type = 'table' LOOP $2 END LOOP; END \$f\$" \
    "CREATE EVENT TRIGGER hinder ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION hinder()" >/dev/null
  check_match "$1" "$(publish alice "$usual")" "$3"
  q "DROP EVENT TRIGGER hinder" "DROP FUNCTION hinder()" >/dev/null
  check "$1: nothing is left" "$(left)" ""
}
not_as_created='is not as it was created: it'
with_trigger "an event trigger that fails" "RAISE EXCEPTION 'not here';" "^ERROR: not here"
with_trigger "one that adds a column" "EXECUTE format('ALTER TABLE %s ADD made_at timestamptz DEFAULT now()', c.object_identity);" "$not_as_created has other columns"
with_trigger "one that adds a trigger" "EXECUTE format('CREATE TRIGGER t BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()', c.object_identity);" "$not_as_created has triggers"
with_trigger "one that adds a constraint" "EXECUTE format('ALTER TABLE %s ADD CHECK (bid < 3)', c.object_identity);" "$not_as_created has indexes or constraints"
with_trigger "one that adds an index" "EXECUTE format('CREATE INDEX ON %s (bid)', c.object_identity);" "$not_as_created has indexes or constraints"
with_trigger "one that adds a rule" "EXECUTE format('CREATE RULE r AS ON INSERT TO %s DO INSTEAD NOTHING', c.object_identity);" "$not_as_created has rules"
with_trigger "one that forces row security" "EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', c.object_identity);" "$not_as_created has row security"
with_trigger "one that inserts a row" "EXECUTE format('INSERT INTO %s (bid) VALUES (1)', c.object_identity);" "$not_as_created has rows"
with_trigger "one that renames" "EXECUTE format('ALTER TABLE %s RENAME TO other', c.object_identity);" "$not_as_created is gone"
q "CREATE FUNCTION notes() RETURNS event_trigger LANGUAGE plpgsql AS \$f\$ BEGIN RAISE NOTICE 'created'; END \$f\$" \
  "CREATE EVENT TRIGGER notes ON ddl_command_end EXECUTE FUNCTION notes()" >/dev/null
check "one that only looks is no hindrance" "$(publish alice "$usual")" 3600
q "DROP EVENT TRIGGER notes" "DROP TABLE shop.q, shop.s" >/dev/null

# --- cancel, kill, faults ---------------------------------------------------------------------------------------------
as owner q "CREATE TABLE data.many AS SELECT i AS id, i % 90 AS age, 'd' || i % 40 AS disease, repeat('x', 100) AS note FROM generate_series(1, 400000) i" "GRANT SELECT ON data.many TO alice" >/dev/null
many="'data.many', '{id,age,note}', 'disease', 'shop.q', 'shop.s', 'two-size', l => 20"
# in_phase SIGNAL PHASE [COMMAND]: cancels or terminates bucketize when it is in that phase, and prints its process. One
# statement does both: on a busy machine a phase is over before the next connection.
q "CREATE FUNCTION in_phase(signal text, awaited text, working text, OUT process int) LANGUAGE plpgsql AS \$f\$ BEGIN
  FOR i IN 1 .. 60000 LOOP
    SELECT pid INTO process FROM privacy_score.progress WHERE command = working AND phase = awaited;
    EXIT WHEN process IS NOT NULL;
    PERFORM pg_sleep(0.001);
  END LOOP;
  EXECUTE format('SELECT pg_%s_backend(%s)', signal, process);
END \$f\$" >/dev/null
in_phase() { q "SELECT in_phase('$1', '$2', '${3:-bucketize}')"; }
for phase in "reading rows" "drawing buckets" "writing tables" "verifying"; do
  publish alice "$many" >"$PS_TMP/cancelled" &
  client=$!
  check_match "progress shows: $phase" "$(in_phase cancel "$phase")" "^[0-9]+$"
  wait $client
  check "cancelled while $phase" "$(cat "$PS_TMP/cancelled")" "ERROR: canceling statement due to user request"
  check "nothing is left of it" "$(left)$(q "SELECT count(*) FROM privacy_score.progress")" "0"
done
# cancelled PHASE COMMAND ARGUMENTS: another way to publish, cancelled in that phase.
cancelled() {
  as alice q "SELECT privacy_score.$2($3)" >"$PS_TMP/cancelled" &
  local client=$!
  check_match "progress shows of $2: $1" "$(in_phase cancel "$1" "$2")" "^[0-9]+$"
  wait $client
  check "$2 cancelled while $1" "$(cat "$PS_TMP/cancelled")" "ERROR: canceling statement due to user request"
  check "nothing is left of that" "$(left)$(q "SELECT count(*) FROM privacy_score.progress")" "0"
}
cancelled "reading rows" release_sample "'data.many', 'shop.t', 0.9"
cancelled "choosing rows" release_sample "'data.many', 'shop.t', 0.9"
cancelled "writing rows" release_perturbed "'data.many', 'shop.t', '{age,disease}', 50"
check "no temporary files are left" "$(find "$PGDATA/base/pgsql_tmp" -type f 2>/dev/null | wc -l)" 0
check "spilling to disk gives the same" "$(publish alice "$many"; as alice q "SELECT count(*) FROM privacy_score.verify_release('shop.q', 'shop.s', l => 20, source => 'data.many') WHERE holds" | tr '\n' ' ')" "400000
10 "
as alice q "DROP TABLE shop.q, shop.s" >/dev/null
check_match "temporary files beyond their limit" "$(q "ALTER ROLE alice SET temp_file_limit = '1MB'" >/dev/null; publish alice "$many"; q "ALTER ROLE alice RESET temp_file_limit" >/dev/null)" "^ERROR: temporary file size exceeds \"?temp_file_limit\"? \(1024kB\)$"
publish alice "$many" >"$PS_TMP/ended" &
client=$!
in_phase terminate "writing tables" >/dev/null
wait $client
check_match "a session that is ended while writing" "$(cat "$PS_TMP/ended")" "terminating connection due to administrator command"
check_true "leaves no temporary files" wait_for "SELECT count(*) FROM pg_ls_tmpdir()" 0
check "and no tables" "$(left)" ""
check "a timeout" "$(as alice q "SET statement_timeout = '10ms'" "SELECT rows FROM privacy_score.bucketize($many)")" "ERROR: canceling statement due to statement timeout"
check "values that do not fit into memory" "$(as alice q "SET maintenance_work_mem = '1MB'" "SELECT rows FROM privacy_score.bucketize('data.many', '{age}', 'id', 'shop.q', 'shop.s', 'two-size', l => 20)")" \
  "ERROR: the distinct values of a column do not fit into maintenance_work_mem"
check "a view that fails half-way" "$(as alice q "CREATE VIEW shop.fails AS SELECT id, age, disease, 1 / (id - 300000) AS x FROM data.many" "SELECT rows FROM privacy_score.bucketize('shop.fails', '{age,x}', 'disease', 'shop.q', 'shop.s', 'two-size', l => 2)")" "ERROR: division by zero"
check "a session survives all that" "$(as alice q "DROP VIEW shop.fails" "SELECT rows FROM privacy_score.bucketize($usual)")" 3600
as alice q "DROP TABLE shop.q, shop.s" >/dev/null
check "nothing is left of any of it" "$(left)" ""

# --- at the same time -------------------------------------------------------------------------------------------------
publish alice "$many" >"$PS_TMP/first" &
first=$!
publish alice "$many" >"$PS_TMP/second" &
second=$!
wait $first $second
check "of two that publish under one name one wins" "$(sort "$PS_TMP/first" "$PS_TMP/second" | cut -c1-29 | tr '\n' ' ')" "400000 ERROR: duplicate key value vi "
check "and its tables are whole" "$(as alice q "SELECT (SELECT count(*) FROM shop.q), (SELECT count(*) FROM shop.s)")" "400000|400000"
check "rows that come meanwhile are all there or not at all" "$(as owner q "BEGIN" "INSERT INTO data.many SELECT -i, 1, 'd1', '' FROM generate_series(1, 1000) i" \
  "COMMIT" >/dev/null & as alice q "SELECT rows IN (400000, 401000) FROM privacy_score.bucketize($many, replace => true)"; wait)" t
check "a reader sees the release before it is replaced, whole" "$(as alice q "BEGIN" "SELECT count(*) FROM shop.q" "COMMIT" | head -n 1 | grep -cE '^40[01]000$')" 1
as alice q "DROP TABLE shop.q, shop.s" >/dev/null

# --- order of the input -----------------------------------------------------------------------------------------------
as alice q "SELECT rows FROM privacy_score.bucketize('data.many', '{id}', 'disease', 'shop.q', 'shop.s', 'two-size', l => 20)" >/dev/null
check "neither places nor numbers of buckets go with the order of the source" \
  "$(as alice q "SELECT abs(corr(id, bid)) < 0.01, abs(corr(id, n)) < 0.01 FROM (SELECT id, bid, row_number() OVER () AS n FROM shop.q) x")" "t|t"
check "no two releases are alike" "$(as alice q "SELECT rows FROM privacy_score.bucketize('data.many', '{id}', 'disease', 'shop.q2', 'shop.s2', 'two-size', l => 20)" \
  "SELECT count(*) < 1000 FROM shop.q JOIN shop.q2 USING (id, bid)" | tail -n 1)" t
as alice q "DROP TABLE shop.q, shop.s, shop.q2, shop.s2" >/dev/null

# --- from elsewhere ---------------------------------------------------------------------------------------------------
if [ -n "$(q "SELECT 1 FROM pg_available_extensions WHERE name = 'postgres_fdw'")" ]; then
  q "CREATE EXTENSION postgres_fdw" "CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', port '$PGPORT', dbname 'postgres')" \
    "CREATE USER MAPPING FOR alice SERVER here OPTIONS (user 'alice', password_required 'false')" "GRANT USAGE ON FOREIGN SERVER here TO alice" >/dev/null
  as alice q "CREATE FOREIGN TABLE shop.far (age int, zip text, ward int, disease text) SERVER here OPTIONS (schema_name 'data', table_name 'patient')" >/dev/null
  check "a foreign table is published" "$(as alice q "SELECT rows, gap FROM privacy_score.bucketize('shop.far', '{age,zip,ward}', 'disease', 'shop.q', 'shop.s', l => 4)")" "3600|0"
  check "as it is where it lies" "$(as alice q "SELECT count(*) FROM privacy_score.verify_release('shop.q', 'shop.s', l => 4, source => 'data.patient') WHERE holds")" 10
  check "and can be compared there" "$(as alice q "SELECT count(*) FROM privacy_score.release_utility('shop.q', 'shop.s', 'shop.far', 30) WHERE queries > 0")" 3
  as owner q "REVOKE SELECT (disease) ON data.patient FROM alice" >/dev/null
  check "a right that is missing there" "$(code alice "'shop.far', '{age}', 'disease', 'shop.q2', 'shop.s2', l => 4")" 42501
  as owner q "GRANT SELECT (disease) ON data.patient TO alice" >/dev/null
  as alice q "DROP TABLE shop.q, shop.s" "DROP FOREIGN TABLE shop.far" >/dev/null
fi

# --- watching ---------------------------------------------------------------------------------------------------------
as owner q "SELECT privacy_score.protect('data.patient')" "SELECT privacy_score.protect('data.many')" >/dev/null
check "so does a sample" "$(as alice q "SELECT privacy_score.release_sample('data.many', 'shop.t', 0.01)" "DROP TABLE shop.t" >/dev/null; q "SELECT privacy_score.flush()" >/dev/null
  q "SELECT count(*) > 0 FROM privacy_score.stat_abstractions WHERE tokens @> '{p:data.many.id,p:data.many.age,p:data.many.disease,p:data.many.note}'")" t
check "publishing counts as reading" "$(as alice q "SELECT rows FROM privacy_score.bucketize($usual)" >/dev/null; q "SELECT privacy_score.flush()" >/dev/null
  q "SELECT count(*) > 0 FROM privacy_score.stat_abstractions WHERE tokens @> '{p:data.patient.age,p:data.patient.zip,p:data.patient.disease}'")" t
check "what is published is no copy" "$(q "SELECT count(*) FROM privacy_score.copied_column")" 0
check "reading it is not reading the origin" "$(q "SELECT privacy_score.abstract_query_analyzed('SELECT * FROM shop.q JOIN shop.s USING (bid)')::text ~ 'patient'")" f
q "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'dp only'" >/dev/null
check "who may ask for noisy counts only may not publish" "$(code alice "'data.patient', '{age,zip}', 'disease', 'shop.q2', 'shop.s2', 'two-size', l => 4")" PS001
check "nor leave something" "$(left)" "q s"
check "but read what is published" "$(as alice q "SELECT count(*) FROM shop.s")" 3600
done_testing

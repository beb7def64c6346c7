#!/bin/bash
# nodes.sh - what is asked of other nodes of Citus, without Citus: its catalogs, and its function that runs a statement on
# each of some nodes, are made here; that one runs it on this server, for the nodes that are up.
. "$(dirname "$0")/../lib.sh"
start_server "allow_system_table_mods = on" "privacy_score.node_timeout = '5min'" "privacy_score.rate_check_interval = '100ms'"
check "without Citus there are no nodes" "$(q "CREATE EXTENSION privacy_score" "SELECT * FROM privacy_score.propagate_declarations()")" "ERROR: Citus is not in this database"
q_script >/dev/null <<'SQL' || bail_out "the nodes cannot be made"
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass PRIMARY KEY);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint PRIMARY KEY);
CREATE TABLE pg_catalog.pg_dist_shard_placement (shardid bigint, nodename text, nodeport bigint);
CREATE TABLE pg_catalog.pg_dist_node (groupid int, nodename text, nodeport int, isactive boolean, noderole text);
CREATE TABLE pg_catalog.pg_dist_local_group (groupid int);
INSERT INTO pg_dist_local_group VALUES (0);
INSERT INTO pg_dist_node VALUES (0, 'here', 1, true, 'primary'), (1, 'east', 1, true, 'primary'), (2, 'west', 1, true, 'primary'),
                                (2, 'copy', 1, true, 'secondary'), (3, 'gone', 1, false, 'primary');
CREATE TABLE public.down (node text);
CREATE FUNCTION pg_catalog.shard_name(relation regclass, shard bigint) RETURNS text LANGUAGE sql AS $$SELECT format('%s_%s', relation, shard)$$;
CREATE FUNCTION pg_catalog.master_run_on_worker(worker_name text[], port int[], command text[], parallel boolean,
                                                OUT node_name text, OUT node_port int, OUT success boolean, OUT result text)
  RETURNS SETOF record STABLE LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
  FOR i IN 1 .. cardinality(worker_name) LOOP
    node_name := worker_name[i]; node_port := port[i];
    PERFORM pg_sleep(3600) FROM public.down d WHERE d.node = 'all hang';
    success := NOT EXISTS (SELECT FROM public.down d WHERE d.node = node_name);
    IF success THEN EXECUTE command[i] INTO result; ELSE result := 'no connection'; END IF;
    RETURN NEXT;
  END LOOP;
END$$;
CREATE ROLE alice LOGIN;
CREATE TABLE patients (id int PRIMARY KEY, city text);
CREATE TABLE patients_1 (LIKE patients INCLUDING ALL);
CREATE TABLE "patients_2" (LIKE patients INCLUDING ALL);
CREATE TABLE wards (id int PRIMARY KEY, name text);
CREATE TABLE wards_3 (LIKE wards INCLUDING ALL);
GRANT SELECT ON patients, wards TO alice;
INSERT INTO pg_dist_partition VALUES ('patients'), ('wards');
INSERT INTO pg_dist_shard VALUES ('patients', 1), ('patients', 2), ('wards', 3);
INSERT INTO pg_dist_shard_placement VALUES (1, 'east', 1), (2, 'west', 1), (3, 'east', 1), (3, 'west', 1), (3, 'here', 1);
INSERT INTO patients SELECT i, 'c' || i % 5 FROM generate_series(1, 100) i;
INSERT INTO wards SELECT i, 'w' || i FROM generate_series(1, 30) i;
INSERT INTO wards_3 SELECT i, 'w' || i FROM generate_series(1, 30) i;
SQL
# The rows stand in the relation itself, so that rates have some; whether they are out of date the shards tell.
counter() { echo "SELECT rows, modifications FROM privacy_score.shard_counter WHERE relation = '$1'::regclass"; }
known() { echo "SELECT DISTINCT modifications FROM privacy_score.rate WHERE relation_name = 'public.$1'"; }
stale="SELECT count(*) FROM privacy_score.stat_cdr WHERE stale"
q "SELECT privacy_score.protect('patients')" "SELECT privacy_score.protect('wards')" "SELECT privacy_score.analyze_relation('patients')" \
  "SELECT privacy_score.analyze_relation('wards')" >/dev/null
mkfifo "$PS_TMP/alice"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >/dev/null 2>&1 &
exec 4>"$PS_TMP/alice"
echo "SELECT city FROM patients LIMIT 0 + 0;" >&4
check_true "the worker counts the shards" wait_for "$(counter patients)" "0|0"
check_true "those on several nodes once" wait_for "$(counter wards)" "30|30"
check_true "and rates are up to date by them" wait_for "$stale" 0
check "of the other relation, too" "$(q "$(known wards)")" "{30}"
q "INSERT INTO patients_1 SELECT i, 'x' FROM generate_series(1, 40) i" "INSERT INTO patients_2 SELECT i, 'x' FROM generate_series(1, 40) i" >/dev/null
check_true "modifications of all shards add up" wait_for "$(counter patients)" "80|80"
check_true "and make rates be computed anew" wait_for "$(known patients)" "{80}"
# What the worker has begun to count before is over when it has answered.
q "INSERT INTO down VALUES ('west')" "SELECT privacy_score.flush()" "INSERT INTO patients_1 SELECT i, 'x' FROM generate_series(41, 900) i" "INSERT INTO wards_3 SELECT i, 'x' FROM generate_series(31, 40) i" >/dev/null
check_true "a node that is down: the shards of others are counted" wait_for "$(counter wards)" "40|40"
check "a relation with a shard there stays as it was" "$(q "$(counter patients)" "$stale")" "80|80
0"
q "DELETE FROM down" >/dev/null
check_true "when it is back, it is counted" wait_for "$(counter patients)" "940|940"
conf "privacy_score.node_timeout = '1s'"
reload_server
q "INSERT INTO down VALUES ('all hang')" "INSERT INTO patients_1 SELECT i, 'x' FROM generate_series(901, 950) i" >/dev/null
check_true "a node that takes the question and does not answer is passed over" wait_until grep -q 'a node does not answer' "$ps_log"
check "and the worker goes on" "$(q_state "SET statement_timeout = '60s'" "SELECT privacy_score.flush()")" 00000
q "DELETE FROM down" >/dev/null
check_true "when it answers, it is counted" wait_for "$(counter patients)" "990|990"
q "DELETE FROM pg_dist_shard WHERE logicalrelid = 'wards'::regclass" "DELETE FROM pg_dist_partition WHERE logicalrelid = 'wards'::regclass" >/dev/null
check_true "a relation that is distributed no more is forgotten" wait_for "SELECT count(*) FROM privacy_score.shard_counter" 1
q "INSERT INTO pg_dist_partition VALUES ('wards')" >/dev/null
exec 4>&-

# --- declarations -------------------------------------------------------------------------------------------------------------
q "CREATE TABLE own (id int)" "SELECT privacy_score.protect('own')" "SELECT privacy_score.confirm_dependency('patients', 'id', 'city')" >/dev/null
check "each other active node is asked" "$(q "INSERT INTO down VALUES ('west')" "SELECT * FROM privacy_score.propagate_declarations()")" "east:1|t|
west:1|f|no connection"
check "not for everybody" "$(as alice q_state "SELECT * FROM privacy_score.propagate_declarations()")" 42501
check "nor where nothing of it is protected" "$(q "BEGIN" "SELECT privacy_score.unprotect(relation) FROM privacy_score.protected_relation" "SELECT * FROM privacy_score.propagate_declarations()" | tail -n 1)" "ERROR: no distributed relation is protected on this node"
declarations=$(q "SELECT declarations FROM privacy_score.declarations")
taken="SELECT string_agg(name || COALESCE(subject::text, ''), ' ' ORDER BY name) FROM privacy_score.protected_current"
take="SELECT privacy_score.take_declarations('$declarations', '{public.patients,public.wards,public.old}')"
q "CREATE DATABASE node" >/dev/null
PGDATABASE=node
q "CREATE EXTENSION privacy_score" "CREATE TABLE patients (id int, city text, extra text)" "CREATE TABLE own (id int PRIMARY KEY)" "CREATE TABLE old (id int)" \
  "CREATE TABLE elsewhere (id int)" "SELECT privacy_score.protect('old')" "SELECT privacy_score.protect('elsewhere')" "SELECT privacy_score.protect('patients', '{city}')" \
  "SELECT privacy_score.confirm_dependency('patients', 'city', 'extra')" >/dev/null
check "what is not here is told" "$(q "$take")" "public.wards"
check "declarations of distributed relations are taken, those of others stay" "$(q "$taken" "SELECT relation_name, determinant, dependent FROM privacy_score.dependency")" \
  "public.elsewhere public.patients
public.patients|id|city"
generation=$(q "SELECT xmin FROM privacy_score.protected_relation WHERE name = 'public.patients'")
check "taken again they change nothing" "$(q "$take" "SELECT xmin FROM privacy_score.protected_relation WHERE name = 'public.patients'")" "public.wards
$generation"
done_testing

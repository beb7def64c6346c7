#!/bin/bash
# citus.sh - a coordinator and two workers of Citus, with PS_CITUS=1 where Citus is installed: labels and declarations,
# shards, statements that count once on the node that they are sent to, rates and their age. What of it needs no Citus:
# test/attacks/shards.sh, test/shell/nodes.sh, test/shell/prepared_changes.sh.
. "$(dirname "$0")/../lib.sh"

if [ -z "${PS_CITUS:-}" ]; then
  skip "PS_CITUS=1 asks for it, where Citus is installed"
  done_testing
  exit
fi
nodes="main east west"
for node in $nodes; do
  use_server "$node"
  start_server "shared_preload_libraries = 'citus,privacy_score'" "max_prepared_transactions = 50" "max_connections = 60" "wal_level = logical" \
    "max_worker_processes = 20" "citus.node_conninfo = 'sslmode=disable'" "citus.local_hostname = '$ps_home'" "citus.show_shards_for_app_name_prefixes = '*'" \
    "privacy_score.rate_check_interval = '200ms'" "privacy_score.node_timeout = '1min'"
  q "CREATE EXTENSION citus" "CREATE EXTENSION privacy_score" >/dev/null || bail_out "Citus is not installed"
  declare "home_$node=$PGHOST"
done
use_server main
q "SELECT citus_set_coordinator_host('$home_main', $PGPORT)" "SELECT citus_add_node('$home_east', $PGPORT)" >/dev/null || bail_out "no node can be added"
q "SET citus.shard_count = 4" "CREATE TABLE patients (id int PRIMARY KEY, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 1000) i" \
  "CREATE TABLE wards (id int PRIMARY KEY, name text)" "INSERT INTO wards SELECT i, 'w' || i % 3 FROM generate_series(1, 10) i" \
  "CREATE TABLE doctors (id int PRIMARY KEY REFERENCES wards, name text)" "INSERT INTO doctors SELECT i, 'd' || i FROM generate_series(1, 10) i" \
  "CREATE ROLE alice LOGIN" "CREATE ROLE dora LOGIN" >/dev/null

# --- labels and declarations ----------------------------------------------------------------------------------------------
check "a role is labelled" "$(q "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'watched'" "SECURITY LABEL FOR privacy_score ON ROLE dora IS 'dp only'")" ""
q "SELECT privacy_score.protect('patients')" "SECURITY LABEL FOR privacy_score ON COLUMN patients.city IS 'sensitive'" >/dev/null
check_true "a table that is protected and labelled can be distributed" q "SELECT create_distributed_table('patients', 'id')"
check_true "a reference table, one that Citus keeps on the coordinator" q "SELECT create_reference_table('wards')" "SELECT privacy_score.protect('wards')" \
  "SELECT privacy_score.protect('doctors')"
check_true "a node is added" q "SELECT citus_add_node('$home_west', $PGPORT)" "SELECT rebalance_table_shards('patients', shard_transfer_mode => 'block_writes')"
for table in patients wards doctors; do
  q "SET citus.multi_shard_modify_mode = 'sequential'" "GRANT SELECT ON $table TO alice, dora" >/dev/null
done
check "a column of a distributed table" "$(q "SECURITY LABEL FOR privacy_score ON COLUMN patients.diagnosis IS 'sensitive'")" ""
q "SELECT privacy_score.confirm_dependency('patients', 'id', 'city')" >/dev/null
check "declarations go to all nodes" "$(q "SELECT done, problem FROM privacy_score.propagate_declarations()")" "t|
t|"
for node in east west; do
  use_server $node
  check "$node: they are there" "$(q "SELECT string_agg(relation::text, ',' ORDER BY relation::text) FROM privacy_score.protected_relation" \
    "SELECT relation_name, determinant, dependent FROM privacy_score.dependency")" "doctors,patients,wards
public.patients|id|city"
  check "$node: labels of roles" "$(q "SELECT string_agg(label, ',' ORDER BY label) FROM pg_shseclabel WHERE provider = 'privacy_score'")" "dp only,watched"
done
use_server main

# --- statements -------------------------------------------------------------------------------------------------------------
history="SELECT string_agg(array_to_string(a.tokens, ' '), E'\n' ORDER BY s.id, p.part, e.place)
  FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
       ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place) JOIN privacy_score.abstraction a ON a.id = e.id
 WHERE s.role = 'alice' AND e.run > 0"
as alice q "SELECT city FROM patients WHERE id = 1" "SELECT city FROM patients" "SELECT name FROM wards" "SELECT name FROM doctors" \
  "WITH w AS MATERIALIZED (SELECT diagnosis FROM patients) SELECT city, diagnosis FROM patients JOIN w USING (diagnosis) LIMIT 3" \
  "SELECT count(*) FROM (SELECT city FROM patients ORDER BY id LIMIT 5) s" "SELECT p.city, w.name FROM patients p JOIN wards w USING (id)" \
  "SELECT w.name, d.name FROM wards w JOIN doctors d USING (id)" "COPY patients (city) TO STDOUT" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check "each counts once where it was sent" "$(q "$history")" "cmd:select p:public.patients.city t:public.patients w:public.patients.id
cmd:select p:public.patients.city t:public.patients
cmd:select p:public.wards.name t:public.wards
cmd:select p:public.doctors.name t:public.doctors
cmd:select j:public.patients.diagnosis p:public.patients.city p:public.patients.diagnosis t:public.patients
cmd:select f:count(*) l:public.patients.id o:public.patients.id t:public.patients
cmd:select j:public.patients.id j:public.wards.id p:public.patients.city p:public.wards.name t:public.patients t:public.wards
cmd:select j:public.doctors.id j:public.wards.id p:public.doctors.name p:public.wards.name t:public.doctors t:public.wards
cmd:copy p:public.patients.city t:public.patients"
for node in east west; do
  use_server $node
  q "SELECT privacy_score.flush()" >/dev/null
  check "$node: pieces that the coordinator sends count there only" "$(q "$history")" ""
done
use_server main
as alice q "SELECT * FROM run_command_on_workers(\$\$SELECT string_agg(city, ',') FROM patients\$\$)" \
  "SELECT * FROM run_command_on_shards('patients', \$\$SELECT string_agg(diagnosis, ',') FROM %s\$\$)" >/dev/null
use_server west
q "SELECT privacy_score.flush()" >/dev/null
check_match "a node: what users have sent word by word counts" "$(q "$history")" "p:public.patients.city.*p:public.patients.diagnosis"
use_server main
before=$(q "SELECT privacy_score.flush()" "$history" | grep -c "^cmd:select p:public.patients.diagnosis t:public.patients$")
as alice q "BEGIN" "SELECT create_intermediate_result('r', 'SELECT diagnosis FROM patients')" "SELECT count(*) FROM read_intermediate_result('r', 'binary') AS r(x text)" "COMMIT" >/dev/null
check "a text that a function of Citus plans counts" "$(q "SELECT privacy_score.flush()" "$history" | grep -c "^cmd:select p:public.patients.diagnosis t:public.patients$")" $((before + 1))
check "dp only: a distributed table" "$(as dora q_state "SELECT city FROM patients")" "PS001"
check "dp only: a reference table" "$(as dora q_state "SELECT name FROM wards")" "PS001"
use_server west
shard=$(q "SELECT relname FROM pg_class WHERE relname ~ '^patients_[0-9]+$' LIMIT 1")
check "a node: dp only on a shard" "$(as dora q_state "SELECT city FROM $shard")" "PS001"
check "a node: dp only on the table" "$(as dora q_state "SELECT city FROM patients")" "PS001"
before=$(q "SELECT privacy_score.flush()" "$history" | grep -c "p:public.patients.diagnosis t:public.patients$")
as alice q "SELECT diagnosis FROM $shard" >/dev/null
check "a node: a shard counts as its table" "$(q "SELECT privacy_score.flush()" "$history" | grep -c "p:public.patients.diagnosis t:public.patients$")" $((before + 1))
check_scored

# --- rates --------------------------------------------------------------------------------------------------------------------
use_server main
check "rates of each kind of table" "$(for table in patients wards doctors; do q "SELECT privacy_score.analyze_relation('$table') > 0"; done | tr '\n' ' ')" "t t t "
# Of many rows each set is grouped on the nodes by itself; of few all in one pass. The numbers are those of a table here.
q "CREATE TABLE here AS SELECT i AS id, i % 4001 AS patient, 'n' || i * 7919 % 90001 AS name, NULLIF(i % 13, 0) AS kind, i * 31 % 997 AS cost FROM generate_series(1, 120000) i" \
  "CREATE TABLE stays (LIKE here)" "SELECT create_distributed_table('stays', 'patient')" "INSERT INTO stays SELECT * FROM here" \
  "CREATE TABLE few (LIKE here)" "SELECT create_distributed_table('few', 'patient')" "INSERT INTO few SELECT * FROM here WHERE id <= 5000" \
  "SELECT privacy_score.protect(t, '{patient}') FROM unnest('{here,stays,few}'::regclass[]) t" >/dev/null
for table in stays few; do
  if [ $table = few ]; then q "DELETE FROM here WHERE id > 5000" >/dev/null; fi
  check "attribute_risk() of $table" "$(q "SELECT count(*), count(*) FILTER (WHERE (r.distinct_values, r.uniques) = (h.distinct_values, h.uniques)
       AND abs(r.entropy - h.entropy) < 1e-11 AND abs(r.discrimination_rate - h.discrimination_rate) < 1e-12)
       FROM privacy_score.attribute_risk('$table') r JOIN privacy_score.attribute_risk('here') h USING (attribute)")" "5|5"
done
q "DROP TABLE here, stays, few" >/dev/null
check_match "a report" "$(q "SELECT length(privacy_score.report()) > 1000")" "t"
stale="SELECT string_agg(DISTINCT relation::text, ',' ORDER BY relation::text) FROM privacy_score.stat_cdr WHERE stale"
rows_of="SELECT max(rows) FROM privacy_score.stat_cdr WHERE relation = "
check "they are not out of date" "$(q "$stale")" ""
q "ALTER ROLE alice SET privacy_score.mode = enforce" "ALTER ROLE alice SET privacy_score.session_limit = 100" >/dev/null
check "mode enforce lets pass what keeps the limit" "$(as alice q "SELECT count(name) FROM (SELECT name FROM wards ORDER BY id LIMIT 10) w" "SELECT count(*) FROM doctors" "SELECT count(city) FROM patients")" "10
10
1000"
# As alice reads on, the worker stays, and computes what is out of date.
mkfifo "$PS_TMP/alice"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >/dev/null 2>&1 &
exec 4>"$PS_TMP/alice"
echo "SELECT city FROM patients LIMIT 0 + 0;" >&4
q "INSERT INTO patients SELECT i, 'x' || i, 'd' FROM generate_series(1001, 1600) i" "INSERT INTO wards SELECT i, 'n' || i FROM generate_series(100, 300) i" >/dev/null
check_true "those of a distributed table go out of date by its shards" wait_for "$rows_of'patients'::regclass" 1600
check_true "and of a reference table" wait_for "$rows_of'wards'::regclass" 211
exec 4>&-
use_server west
stop_server immediate
use_server main
check "while a node is away, rates are as they were" "$(q "$stale" "$rows_of'patients'::regclass")" "
1600"
check_match "and declarations say so" "$(q "SELECT count(*) FILTER (WHERE done), count(*) FILTER (WHERE NOT done) FROM privacy_score.propagate_declarations()")" '^1\|1$'
check_scored
done_testing

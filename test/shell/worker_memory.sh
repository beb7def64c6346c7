#!/bin/bash
# worker_memory.sh - the worker of a database lives long: it keeps no memory of a cycle that fails again and again, nor of
# what it does meanwhile when rates take long to compute, and does go on meanwhile; what it was asked for in a database
# that is dropped is not asked for in the next one.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE DATABASE clinic" >/dev/null
PGDATABASE=clinic
# A model of more than half a megabyte, so that one copy that is kept shows.
q "CREATE EXTENSION privacy_score" "CREATE EXTENSION postgres_fdw" "CREATE ROLE alice LOGIN" "CREATE TABLE patients (id int PRIMARY KEY, city text)" \
  "INSERT INTO patients SELECT i, 'c' || i % 5 FROM generate_series(1, 50) i" \
  "DO \$\$ DECLARE names text := (SELECT string_agg(format('a_column_with_a_long_name_%s int', i), ', ') FROM generate_series(1, 150) i);
   BEGIN FOR i IN 1..30 LOOP EXECUTE format('CREATE TABLE wide_table_%s (%s)', i, names);
     PERFORM privacy_score.protect(format('wide_table_%s', i)::regclass); END LOOP; END \$\$" \
  "SELECT privacy_score.protect('patients')" "GRANT SELECT ON ALL TABLES IN SCHEMA public TO alice" "ALTER ROLE alice SET privacy_score.daily_limit = 1000" >/dev/null

rm -f "$PS_TMP/alice"
mkfifo "$PS_TMP/alice"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >"$PS_TMP/alice.out" 2>&1 &
exec 3>"$PS_TMP/alice"
echo "SELECT city FROM patients;" >&3
check_true "the worker has written" wait_for "SELECT queries FROM privacy_score.session" 1

# What one memory context of the worker has, in kilobytes, as the worker says itself.
context_of_worker() {
  local said
  said=$(grep -c 'Grand total: ' "$ps_log")
  q "SELECT pg_log_backend_memory_contexts(worker_pid) FROM privacy_score.stat_info" >/dev/null
  for _ in $(seq 3000); do
    if [ "$(grep -c 'Grand total: ' "$ps_log")" -gt "$said" ]; then break; fi
    sleep 0.1
  done
  sed -nE "s/.*level: [0-9]+; $1: ([0-9]+) total in .*/\1/p" "$ps_log" | tail -n 1 | awk '{ print int($1 / 1024) }'
}
failures="SELECT flush_errors FROM privacy_score.stat_info"

# --- a cycle that fails ---------------------------------------------------------------------------------------------------
q "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN RAISE SQLSTATE '53100' USING MESSAGE = 'could not extend file'; END\$\$" \
  "CREATE TRIGGER refuse BEFORE INSERT ON privacy_score.session_part FOR EACH ROW EXECUTE FUNCTION refuse()" >/dev/null
echo "SELECT id FROM patients;" >&3
check_true "writing fails" wait_for "SELECT flush_errors > 0 FROM privacy_score.stat_info" t
before=$(context_of_worker TopMemoryContext)
seen=$(q "$failures")
# Who waits for the worker lets it try once a second.
q "SELECT privacy_score.flush()" >/dev/null &
waiting=$!
check_true "again and again" wait_for "SELECT flush_errors >= $seen + 3 FROM privacy_score.stat_info" t
check_true "and leaves no memory behind: $before kB, then $(context_of_worker TopMemoryContext) kB" test "$(context_of_worker TopMemoryContext)" -lt $((before + 400))
q "DROP TRIGGER refuse ON privacy_score.session_part" >/dev/null
wait $waiting

# --- rates that take long ---------------------------------------------------------------------------------------------------
q "CREATE VIEW slow AS SELECT i, CASE WHEN pg_sleep(0.1)::text IS NOT NULL THEN 'c' || i % 5 END AS city FROM generate_series(1, 6000) i" \
  "CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', port '$PGPORT', dbname 'clinic')" \
  "CREATE USER MAPPING FOR PUBLIC SERVER here OPTIONS (user 'postgres', password_required 'false')" \
  "CREATE FOREIGN TABLE far (i int, city text) SERVER here OPTIONS (schema_name 'public', table_name 'slow')" \
  "SELECT privacy_score.protect('far')" "GRANT SELECT ON far TO alice" "SELECT privacy_score.flush()" >/dev/null
echo "SELECT city FROM far LIMIT 0 + 0;" >&3
computing="SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'privacy_score rates'"
check_true "a process of its own computes" wait_for "$computing" 1
before=$(context_of_worker "privacy_score cycle")
# Each time it writes it also corrects, with a copy of the model, and scores the day, which a limit asks for.
for queries in 4 5 6 7 8 9; do
  echo "SELECT id FROM patients;" >&3
  wait_for "SELECT max(queries) FROM privacy_score.session" "$queries" || break
done
check "the worker writes meanwhile" "$(q "SELECT max(queries) FROM privacy_score.session")" 9
check "the process still computes" "$(q "$computing")" 1
check_true "and the worker's memory stays: $before kB, then $(context_of_worker "privacy_score cycle") kB" test "$(context_of_worker "privacy_score cycle")" -lt $((before + 400))

# --- the database is dropped -------------------------------------------------------------------------------------------------
PGDATABASE=postgres
check "rates are asked for" "$(on clinic q "SELECT pending_cdr > 0 FROM privacy_score.stat_info")" t
# The server waits five seconds for others to leave, and a worker writes what it has first.
dropped() { [ -z "$(q "DROP DATABASE clinic WITH (FORCE)")" ]; }
check_true "the worker leaves it" wait_until dropped
q "CREATE DATABASE second" "CREATE DATABASE third" >/dev/null
exec 3>&-
on second q "CREATE EXTENSION privacy_score" >/dev/null
as alice on second q "SELECT 1" >/dev/null
on second q "SELECT privacy_score.flush()" >/dev/null
on third q "CREATE EXTENSION privacy_score" >/dev/null
check "none of them is asked for in another database" "$(on third q "SELECT pending_cdr FROM privacy_score.stat_info")" 0
done_testing

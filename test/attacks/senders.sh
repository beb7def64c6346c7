#!/bin/bash
# senders.sh - a connection that calls itself one of another node of Citus is believed only where a node confirms that it is
# its own, of a session whose statements count; then pieces of statements that it sends do not count a second time.
# Without Citus: its catalogs, and its function that runs a statement on each of some nodes, are made here. The node that
# sends is this server, whose sessions open connections to it with dblink. With Citus: test/shell/citus.sh.
. "$(dirname "$0")/../attack.sh"
start_hospital "allow_system_table_mods = on" "privacy_score.node_timeout = '5min'" "listen_addresses = '127.0.0.1'"
q_script >/dev/null <<SQL || bail_out "the nodes cannot be made"
CREATE EXTENSION dblink;
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint NOT NULL);
CREATE UNIQUE INDEX pg_dist_shard_shardid_index ON pg_catalog.pg_dist_shard (shardid);
CREATE TABLE pg_catalog.pg_dist_node (nodeid int, nodename text, nodeport int, isactive boolean);
INSERT INTO pg_dist_node VALUES (1, '$ps_home', $PGPORT, true), (2, '$ps_home', $PGPORT, false), (3, '127.0.0.1', $PGPORT, true), (4, '127.0.0.2', $PGPORT, true);
-- What stands in nap makes a node take so long to answer.
CREATE TABLE public.other_node (is_it bool);
CREATE TABLE public.nap (seconds float8);
CREATE TABLE public.asked (port int, command text);
CREATE FUNCTION pg_catalog.master_run_on_worker(worker_name text[], port int[], command text[], parallel boolean,
                                                OUT node_name text, OUT node_port int, OUT success boolean, OUT result text)
  RETURNS SETOF record VOLATILE LANGUAGE plpgsql SET search_path = public AS \$\$
BEGIN
  FOR i IN 1 .. cardinality(worker_name) LOOP
    PERFORM pg_sleep(seconds) FROM public.nap;
    INSERT INTO public.asked VALUES (port[i], command[i]);
    node_name := worker_name[i]; node_port := port[i]; success := true;
    IF EXISTS (SELECT FROM public.other_node) THEN result := public.elsewhere(command[i]); ELSE EXECUTE command[i] INTO result; END IF;
    RETURN NEXT;
  END LOOP;
END\$\$;
CREATE TABLE h.patients_102009 (LIKE h.patients INCLUDING ALL);
INSERT INTO h.patients_102009 SELECT * FROM h.patients;
INSERT INTO pg_dist_shard VALUES ('h.patients', 102009);
CREATE VIEW h.seen AS SELECT diagnosis FROM h.patients;
CREATE FUNCTION h.within() RETURNS text VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT diagnosis FROM h.patients_102009 WHERE id = 3); END';
CREATE FUNCTION h.within(text) RETURNS text VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN \$1 || (SELECT diagnosis FROM h.patients_102009 WHERE id = 3); END';
-- Functions that the planner inlines: what they read was not in the query.
CREATE FUNCTION h.inlined() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT diagnosis FROM h.patients_102009';
CREATE FUNCTION h.inlined(int) RETURNS SETOF text LANGUAGE sql STABLE BEGIN ATOMIC SELECT diagnosis FROM h.patients_102009 WHERE id = \$1; END;
CREATE FUNCTION h.inlined_table() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT diagnosis FROM h.patients';
CREATE FUNCTION h.inlined_twice() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT * FROM h.inlined_table()';
GRANT SELECT ON ALL TABLES IN SCHEMA h TO mallory, alice;
GRANT EXECUTE ON FUNCTION dblink_connect_u(text, text) TO mallory, alice, clerk;
GRANT INSERT, UPDATE ON h.patients_102009 TO mallory;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass PRIMARY KEY);
INSERT INTO pg_dist_partition VALUES ('h.patients');
GRANT pg_write_server_files TO mallory;
SQL
q "SELECT privacy_score.flush()" >/dev/null
port=$PGPORT

# node NUMBER ADDRESS: what connects a session of mallory, in a statement of hers, as node NUMBER does.
node() { echo "SELECT public.dblink_connect_u('node', 'host=$2 port=$port dbname=postgres user=${as_user:-${who:-mallory}} application_name=''citus_internal gpid=' || $1 * 10000000000 + pg_backend_pid() || '''')"; }
sends() { echo "SELECT count(*) FROM public.dblink('node', '${1//\'/\'\'}') r(x text)"; }
runs() { echo "SELECT public.dblink_exec('node', '${1//\'/\'\'}')"; }
# sent STATEMENT...: mallory's session, whose statements count, opens a connection as $number, from $from, to send these.
# Answers with what is counted of the connection.
number=1 from=$ps_home
counted_of="SELECT COALESCE(string_agg(array_to_string(a.tokens, ' ') || CASE WHEN e.run > 1 THEN ' x' || e.run ELSE '' END, '; ' ORDER BY s.id, p.part, e.place), 'nothing')
  FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
       ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place) JOIN privacy_score.abstraction a ON a.id = e.id
 WHERE s.application_name ~ '^(citus|other)' AND e.run > 0 AND s.id > "
sent() {
  local before statements=() statement
  before=$(q "SELECT COALESCE(max(id), 0) FROM privacy_score.session")
  for statement; do
    case $statement in
      SELECT* | WITH* | EXECUTE* | UPDATE*RETURNING* | EXPLAIN*) statements+=("$(sends "$statement")") ;;
      *) statements+=("$(runs "$statement")") ;;
    esac
  done
  as "${who:-mallory}" q "${first:-SELECT count(*) FROM h.patients}" "$(node $number "$from")" "${statements[@]}" >"$PS_TMP/sent" 2>&1 ||
    [ -n "${fails:-}" ] || fail "what is sent runs: $*" "$(tail -n 3 "$PS_TMP/sent")"
  wait_for "SELECT count(*) FROM pg_stat_activity WHERE application_name ~ '^(citus|other)' OR usename IN ('clerk', 'mallory')" 0
  q "SELECT privacy_score.flush()" >/dev/null
  q "$counted_of $before"
}
piece="SELECT diagnosis FROM h.patients_102009"
reads=$read

# --- what a node sends ---------------------------------------------------------------------------------------------------
check "pieces of a node do not count" "$(sent "$piece" "SELECT 'x' WHERE 1 = 1" "SELECT city FROM h.patients_102009 WHERE id = 7")" nothing
check "nor what it has prepared" "$(sent "PREPARE p AS $piece" "EXECUTE p" "EXECUTE p")" nothing
check "nor a copy of a shard" "$(sent "COPY h.patients_102009 TO '/dev/null'" "COPY (SELECT city FROM h.patients_102009) TO '/dev/null'")" nothing
check "nor an explained one" "$(sent "EXPLAIN $piece" "EXPLAIN ANALYZE $piece")" nothing
check "nor a write" "$(sent "UPDATE h.patients_102009 SET city = city WHERE id = -1 RETURNING diagnosis")" nothing
check "the table by its name counts" "$(sent "SELECT diagnosis FROM h.patients" "$piece")" "$reads"
check "and by a view" "$(sent "SELECT * FROM h.seen")" "$reads"
check "and beside a shard" "$(sent "SELECT p.diagnosis FROM h.patients p JOIN h.patients_102009 q USING (id)")" "cmd:select j:h.patients.id p:h.patients.diagnosis t:h.patients"
check "and what functions run" "$(sent "SELECT h.within()" "SELECT h.within(city) FROM h.patients_102009 WHERE id = 3")" "$by_id; $by_id"
check "and what a cursor within a function runs" "$(sent "DO \$\$DECLARE x text; BEGIN FOR x IN $piece LOOP NULL; END LOOP; END\$\$")" "$reads"
check "and what the planner inlines" "$(sent "SELECT * FROM h.inlined()" "SELECT d FROM h.patients_102009 p, LATERAL h.inlined(p.id) d")" \
  "$reads; cmd:select j:h.patients.id p:h.patients.diagnosis t:h.patients"
check "and inlined within it" "$(sent "SELECT * FROM h.inlined_twice()")" "$reads"
check_match "and keys that are tried" "$(sent "INSERT INTO h.patients_102009 VALUES (5, 'x') ON CONFLICT DO NOTHING")" "cmd:insert t:h.patients w:h.patients.id"
check "and statistics" "$(sent "SELECT most_common_vals FROM pg_stats WHERE tablename = 'patients_102009' AND attname = 'diagnosis'")" \
  "$(sent "SET application_name = 'other'" "SELECT most_common_vals FROM pg_stats WHERE tablename = 'patients_102009' AND attname = 'diagnosis'")"
asked=$(q "SELECT count(*) FROM asked")
sent "$piece" "$piece" "SELECT city FROM h.patients_102009" >/dev/null
check "a node is asked once a connection" "$(q "SELECT count(*) FROM asked")" $((asked + 1))
from=127.0.0.1 number=3
check "over TCP" "$(sent "$piece" "SELECT city FROM h.patients_102009 WHERE id = 7")" nothing
check "and the table by its name" "$(sent "SELECT diagnosis FROM h.patients")" "$reads"

# --- what says so and is not ---------------------------------------------------------------------------------------------
asked=$(q "SELECT count(*) FROM asked")
number=4
check "from the address of another node" "$(sent "$piece")" "$reads"
number=1
check "over TCP, of a node with a unix socket" "$(sent "$piece")" "$reads"
number=3 from=$ps_home
check "over a unix socket, of a node with an address" "$(sent "$piece")" "$reads"
number=2
check "of a node that is not active" "$(sent "$piece")" "$reads"
number=5
check "of a node that there is not" "$(sent "$piece")" "$reads"
check "nobody is asked about those" "$(q "SELECT count(*) FROM asked")" "$asked"
number=1
# A session of mallory's goes on, and another program than its own server process names it.
mkfifo "$PS_TMP/open"
as mallory "$PS_BINDIR/psql" -XAtq <"$PS_TMP/open" >"$PS_TMP/open.pid" 2>&1 &
exec 4>"$PS_TMP/open"
echo "SELECT count(*) FROM h.patients WHERE id = 1; SELECT pg_backend_pid();" >&4
wait_until test -s "$PS_TMP/open.pid" && wait_until grep -qE '^[0-9]{2,}$' "$PS_TMP/open.pid"
pid=$(tail -n 1 "$PS_TMP/open.pid")
# claims HOST NODE: mallory's own program, with the name of that session's process.
claims() {
  local before
  before=$(q "SELECT COALESCE(max(id), 0) FROM privacy_score.session")
  PGAPPNAME="citus_internal gpid=$(($2 * 10000000000 + pid))" PGHOST=$1 as mallory q "$piece" >/dev/null
  wait_for "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'citus_internal%'" 0
  q "SELECT privacy_score.flush()" >/dev/null
  q "$counted_of $before"
}
check "a program of somebody's own" "$(claims "$ps_home" 1)" "$reads"
check "and over TCP" "$(claims 127.0.0.1 3)" "$reads"
exec 4>&-
mkfifo "$PS_TMP/claim"
PGAPPNAME="citus_internal gpid=10000000001" as mallory "$PS_BINDIR/psql" -XAtq <"$PS_TMP/claim" >/dev/null 2>&1 &
exec 4>"$PS_TMP/claim"
echo "$piece LIMIT 1;" >&4
check_true "such a session shows" wait_for "SELECT unverified FROM privacy_score.stat_sessions WHERE application_name LIKE 'citus_internal%'" t
exec 4>&-
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'mallory'" 0
check "no other one does" "$(q "SELECT count(*) FROM privacy_score.stat_sessions WHERE unverified")" 0

# --- what is said word by word --------------------------------------------------------------------------------------------
# Citus takes another name for what users have it send.
check "another name ends it" "$(sent "$piece" "SET application_name = 'citus_run_command gpid=1'" "$piece")" "$reads"
check "also when the first one comes back" "$(sent "SET application_name = 'other'" "RESET application_name" "$piece" "$piece")" "$reads; $reads"
check "and by set_config()" "$(sent "$piece" "SELECT set_config('application_name', 'other', false)" "$piece")" "$reads"
check "and within one transaction" "$(sent "BEGIN" "SET LOCAL application_name = 'other'" "ROLLBACK" "$piece")" "$reads"
check "also of what was prepared before" "$(sent "PREPARE p AS $piece" "SET application_name = 'other'" "EXECUTE p")" "$reads"

# --- whose statements do not count where they are sent from -----------------------------------------------------------------
q "GRANT SELECT ON ALL TABLES IN SCHEMA h TO clerk" >/dev/null
who=clerk as_user=mallory
check "a session that is exempt sends as somebody who is watched" "$(sent "$piece")" "$reads"
q "SECURITY LABEL FOR privacy_score ON ROLE clerk IS 'watched'" >/dev/null
check "one that counts" "$(sent "$piece")" nothing
unset as_user
who=mallory
first="SELECT 1"
check "one whose first statement this is" "$(sent "$piece")" nothing
unset first who

# --- what the node that sends does not protect ----------------------------------------------------------------------------
# This node is both: here it asks another database, where the same is not declared.
q "CREATE DATABASE undeclared" >/dev/null
on undeclared q "CREATE EXTENSION privacy_score" "CREATE TABLE x (id int)" >/dev/null
q "CREATE FUNCTION public.elsewhere(command text) RETURNS text LANGUAGE sql AS \$\$SELECT x FROM dblink('host=$ps_home port=$port dbname=undeclared user=postgres', regexp_replace(command, 'privacy_score.confirm_sender\([^)]*\)', 'true')) r(x text)\$\$" >/dev/null
check "what the other node does not protect counts here" "$(q "INSERT INTO other_node VALUES (true)" >/dev/null; sent "$piece"; q "DELETE FROM other_node" >/dev/null)" "$reads"
check "once it is protected there it does not" "$(on undeclared q "CREATE SCHEMA h" "CREATE TABLE h.patients (id int)" "SELECT privacy_score.protect('h.patients')" >/dev/null 2>&1
  q "INSERT INTO other_node VALUES (true)" >/dev/null; sent "$piece"; q "DELETE FROM other_node" >/dev/null)" nothing

# --- modes ------------------------------------------------------------------------------------------------------------------
q "SELECT privacy_score.set_baseline('mallory', privacy_score.today(), privacy_score.today())" "ALTER ROLE mallory SET privacy_score.mode = enforce" \
  "ALTER ROLE mallory SET privacy_score.session_limit = 0" "SELECT privacy_score.flush()" >/dev/null
new="SELECT first_name FROM h.patients_102009 WHERE city = 'c1'"
check "enforce: a piece is let pass" "$(sent "$new"; tail -n 1 "$PS_TMP/sent")" "nothing
8"
check "enforce: others are not" "$(PGAPPNAME="citus_internal gpid=10000000001" as mallory q_state "$new")" PS001
q "ALTER ROLE mallory RESET privacy_score.mode" "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" >/dev/null
first="SELECT 1" fails=1
sent "$piece" >/dev/null
check_match "dp only: refused" "$(grep ERROR "$PS_TMP/sent")" "may not read protected relations"
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'watched'" "SECURITY LABEL FOR privacy_score ON ROLE clerk IS 'dp only'" >/dev/null
sent "PREPARE p AS $piece" "SET ROLE clerk" "EXECUTE p" >/dev/null
check_match "dp only: also what was prepared before" "$(grep ERROR "$PS_TMP/sent")" "may not read protected relations"
unset first fails
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'watched'" >/dev/null

answers_again() { [ "$(sent "$piece")" = nothing ]; }
# --- a node that does not answer --------------------------------------------------------------------------------------------
conf "privacy_score.node_timeout = '1s'"
reload_server
# The node is left alone for 10 seconds after the one for which it was waited: what comes later on a busy machine says
# nothing, and is tried again.
for _ in 1 2 3 4 5; do
  q "INSERT INTO nap VALUES (3600)" >/dev/null
  began=$SECONDS
  hung=$(sent "$piece")
  flushed=$(q_state "SET statement_timeout = '60s'" "SELECT privacy_score.flush()")
  q "DELETE FROM nap" >/dev/null
  meanwhile=$(sent "$piece")
  [ $((SECONDS - began)) -gt 10 ] || break
  wait_until answers_again
done
check "a node that hangs: it counts" "$hung" "$reads"
check "and the worker goes on" "$flushed" 00000
check "other connections are not asked for a while" "$meanwhile" "$reads"
check_true "and then they are" wait_until answers_again
q "DROP FUNCTION pg_catalog.master_run_on_worker" >/dev/null
check "without the function of Citus" "$(sent "$piece")" "$reads"
check "there was no fault" "$(q "SELECT count(*) FROM privacy_score.alerts WHERE kind = 'fault'")" 0
check "only a superuser asks" "$(as mallory q_state "SELECT privacy_score.confirm_sender(1, now(), '', 0, '', 0)")" 42501
check_scored
done_testing

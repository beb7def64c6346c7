#!/bin/bash
# fleet.sh - a hub over members: databases of this server and one of another. Copies, rights, the score of all together
# held against one server that has seen everything, orders that wait, members that die, come back and go.
. "$(dirname "$0")/../lib.sh"

clinic=("CREATE EXTENSION privacy_score"
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, birth_year int, diagnosis text)"
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 13, 1940 + i % 60, 'd' || i % 7 FROM generate_series(1, 300) i"
  "SELECT privacy_score.protect('patients')" "ANALYZE" "GRANT SELECT ON patients TO alice, bob"
  "GRANT EXECUTE ON FUNCTION privacy_score.acknowledge_alert, privacy_score.import_baseline TO collector" "GRANT INSERT ON privacy_score.hub_orders TO collector")
roles=("CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE ROLE collector LOGIN IN ROLE pg_read_all_stats" "SECURITY LABEL FOR privacy_score ON ROLE collector IS 'exempt'"
  "ALTER ROLE bob SET privacy_score.mode = warn" "ALTER ROLE bob SET privacy_score.session_limit = 0.01")

use_server other
start_server
q "${roles[@]}" "CREATE DATABASE clinic" >/dev/null
on clinic q "${clinic[@]}" >/dev/null
other=$PGHOST
use_server main
start_server "privacy_score.fleet_database = 'hub'" "privacy_score.fleet_interval = '250ms'" "max_worker_processes = 24"
q "${roles[@]}" >/dev/null
for database in hub north south one; do q "CREATE DATABASE $database" >/dev/null; done
for database in north south one; do on "$database" q "${clinic[@]}" >/dev/null; done

export PGDATABASE=hub
q "CREATE EXTENSION privacy_score" "CREATE EXTENSION postgres_fdw" >/dev/null
# member NAME HOST DATABASE
member() {
  q "CREATE SERVER $1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$2', port '$PGPORT', dbname '$3', connect_timeout '2')" \
    "CREATE USER MAPPING FOR postgres SERVER $1 OPTIONS (user 'collector')" "SELECT privacy_score.fleet_add('$1', '$1')" >/dev/null
}
answers="SELECT count(*) FROM privacy_score.fleet_info WHERE reachable"

# --- members ------------------------------------------------------------------------------------------------------------
check "a hub without members has none" "$(q "SELECT count(*) FROM privacy_score.fleet_info")" 0
member north "$PGHOST" north
check_true "a member is collected from" wait_for "$answers" 1
member south "$PGHOST" south
member far "$other" clinic
check_true "so are three" wait_for "$answers" 3
check "each says what it is" "$(q "SELECT count(*) FROM privacy_score.fleet_info WHERE watching = 'yes' AND NOT in_recovery AND version = '0.2' AND server_version = current_setting('server_version')")" 3
check "a name is given once" "$(q_state "SELECT privacy_score.fleet_add('north', 'south')")" 42710
check "a server that is not there is no member" "$(q_state "SELECT privacy_score.fleet_add('west', 'west')")" 42704
check "nor is one that is none of postgres_fdw" "$(q "CREATE FOREIGN DATA WRAPPER nothing" "CREATE SERVER idle FOREIGN DATA WRAPPER nothing" >/dev/null; q_state "SELECT privacy_score.fleet_add('idle', 'idle')")" 42809
check "a server without an end of waiting is refused" "$(q "CREATE SERVER endless FOREIGN DATA WRAPPER postgres_fdw" >/dev/null; q_state "SELECT privacy_score.fleet_add('endless', 'endless')")" 22023
check "a name is not empty" "$(q_state "SELECT privacy_score.fleet_add('', 'north')")" 22023
check "what is no member cannot be removed" "$(q_state "SELECT privacy_score.fleet_remove('west')")" 42704
check_match "elsewhere nothing is collected, and that is said" \
  "$(on one q_all "CREATE EXTENSION postgres_fdw" "CREATE SERVER x FOREIGN DATA WRAPPER postgres_fdw OPTIONS (connect_timeout '2')" "SELECT privacy_score.fleet_add('x', 'x')")" \
  "WARNING:  nothing is collected in this database.*fleet_database = 'one'"
on one q "SELECT privacy_score.fleet_remove('x')" "DROP SERVER x" >/dev/null
check_match "the server of a member cannot be dropped while it is collected from" "$(q_state "DROP SERVER north")" "^(2BP01|40P01)$"

# --- processes ----------------------------------------------------------------------------------------------------------
collecting="SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'privacy_score collector'"
hub_pid="SELECT pid FROM pg_stat_activity WHERE backend_type = 'privacy_score hub'"
before=$(q "$hub_pid")
q "SELECT pg_terminate_backend($before)" >/dev/null
check_true "with the hub's process those end that collect" wait_for "$collecting" 0
check_true "the next one" wait_for "SELECT count(*) FROM ($hub_pid) x WHERE pid <> $before" 1
check_true "starts as many" wait_for "$collecting" 3
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privacy_score collector'" >/dev/null
check_true "who ends them ends nothing for good" wait_for "$answers" 3

# --- a member that is broken --------------------------------------------------------------------------------------------
# It shows tables of its own in the place of the views.
q "CREATE DATABASE broken" >/dev/null
on broken q "CREATE SCHEMA privacy_score" "GRANT USAGE ON SCHEMA privacy_score TO collector" >/dev/null
member broken "$PGHOST" broken
problem="SELECT error FROM privacy_score.fleet_info WHERE server = 'broken' AND NOT reachable AND error"
check_true "who shows nothing is not reachable" wait_for "SELECT count(*) FROM ($problem ~ 'does not exist') x" 1
for view in sessions roles days ngrams alerts info; do
  q "SELECT pg_catalog.format('CREATE TABLE privacy_score.export_$view AS SELECT NULL::boolean AS recent, x.* FROM (SELECT %s LIMIT 0) x',
    (SELECT string_agg(format('NULL::%s AS %I', format_type(atttypid, atttypmod), attname), ', ' ORDER BY attnum) FROM pg_attribute
     WHERE attrelid = 'privacy_score.export_$view'::regclass AND attnum > 0 AND attname <> 'recent'))"
done | while IFS= read -r line; do on broken q "$line" "GRANT SELECT ON ALL TABLES IN SCHEMA privacy_score TO collector"; done >/dev/null
check_true "nor who shows no state" wait_for "SELECT count(*) FROM ($problem ~ 'shows nothing of itself') x" 1
shows() { # shows VIEW COLUMNS VALUES: one row
  on broken q "TRUNCATE privacy_score.export_$1" "INSERT INTO privacy_score.export_$1 ($2) VALUES ($3)" >/dev/null
}
well() { check_true "mended: $1" wait_for "SELECT reachable FROM privacy_score.fleet_info WHERE server = 'broken'" t; }
info="member_now, today, version, server_version, scored_under"
shows info "$info" "now(), current_date, '1', '2', 'x'"
well "its state"
for wrong in "'infinity', current_date" "'4714-11-24 00:00+00 BC', current_date" "now(), '-infinity'" "now(), NULL"; do
  shows info "$info" "$wrong, '1', '2', 'x'"
  check_true "a state with $wrong is none" wait_for "SELECT count(*) FROM ($problem ~ 'constraint') x" 1
  shows info "$info" "now(), current_date, '1', '2', 'x'"
  well "a state with $wrong"
done
for wrong in "-1" "9223372036854775807"; do
  shows days "recent, role, end_user, day, queries, score" "true, 'alice', '', current_date, $wrong, 1"
  check_true "nor are $wrong statements" wait_for "SELECT count(*) FROM ($problem ~ 'constraint') x" 1
  on broken q "TRUNCATE privacy_score.export_days" >/dev/null
  well "$wrong statements"
done
for wrong in NaN Infinity -1 7; do
  shows ngrams "recent, role, end_user, day, ngram_id, count, score" "true, 'alice', '', current_date, 'x', 1, '$wrong'"
  check_true "nor is a score of $wrong" wait_for "SELECT count(*) FROM ($problem ~ 'constraint') x" 1
  on broken q "TRUNCATE privacy_score.export_ngrams" >/dev/null
  well "a score of $wrong"
done
shows alerts "id, changed_at, role, kind, detail" "1, now(), 'alice', 'session', '5'"
check_true "nor is an alert without detail" wait_for "SELECT count(*) FROM ($problem ~ 'constraint') x" 1
check "the others are reachable all the while" "$(q "$answers")" 3
check "and what is asked of all has an answer" "$(q_state "SELECT * FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')" "SELECT * FROM privacy_score.fleet_alerts")" 00000
q "SELECT privacy_score.fleet_remove('broken')" >/dev/null

# --- what is seen of sessions -------------------------------------------------------------------------------------------
# session ROLE DATABASE STATEMENT...: a session there, which the reference has likewise.
session() {
  local role=$1 at=$2
  shift 2
  on "$at" as "$role" q "$@" >/dev/null 2>&1
  on one as "$role" q "$@" >/dev/null 2>&1
}
session_far() {
  local role=$1
  shift
  PGHOST=$other on clinic as "$role" q "$@" >/dev/null 2>&1
  on one as "$role" q "$@" >/dev/null 2>&1
}
flush_all() {
  local database
  for database in north south one; do on "$database" q "SELECT privacy_score.flush()" >/dev/null; done
  PGHOST=$other on clinic q "SELECT privacy_score.flush()" >/dev/null
}
mkfifo "$PS_TMP/alice"
PGHOST=$other PGDATABASE=clinic PGUSER=alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >/dev/null 2>&1 &
exec 3>"$PS_TMP/alice"
echo "SELECT city FROM patients WHERE id = 1;" >&3
check_true "an open session shows in the hub" wait_for "SELECT count(*) FROM privacy_score.fleet_sessions WHERE server = 'far' AND role = 'alice' AND queries = 1" 1
echo "SELECT name FROM patients WHERE id = 2;" >&3
check_true "and goes on there" wait_for "SELECT queries FROM privacy_score.fleet_sessions WHERE server = 'far' AND role = 'alice'" 2
exec 3>&-
wait $!
on one as alice q "SELECT city FROM patients WHERE id = 1" "SELECT name FROM patients WHERE id = 2" >/dev/null
check_true "until it is over" wait_for "SELECT count(*) FROM privacy_score.fleet_sessions WHERE server = 'far' AND role = 'alice'" 0

# --- together as on one server ------------------------------------------------------------------------------------------
for at in north south; do session alice $at "SELECT city FROM patients" "SELECT count(*) FROM patients WHERE city = 'c1'"; done
session_far alice "SELECT city FROM patients" "SELECT birth_year FROM patients WHERE city = 'c2'"
flush_all
# One baseline for all: that of the reference.
baseline=$(on one q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" "SELECT privacy_score.export_baseline('alice')" | tail -n 1)
for database in north south; do on "$database" q "SELECT privacy_score.import_baseline('$baseline')" >/dev/null; done
PGHOST=$other on clinic q "SELECT privacy_score.import_baseline('$baseline')" >/dev/null
session alice north "SELECT name, diagnosis FROM patients WHERE city = 'c1'" "SELECT city FROM patients"
session alice south "SELECT name, diagnosis FROM patients WHERE city = 'c1'" "SELECT birth_year, name FROM patients"
session_far alice "SELECT birth_year, name FROM patients" "SELECT diagnosis FROM patients WHERE name = 'n1'" "SELECT birth_year, name FROM patients"
flush_all
score="day, end_user, mismatched, score, cumulative"
alone=$(on one q "SELECT $score FROM privacy_score.score('alice', '-infinity', 'infinity')")
check_match "on one server it scores" "$(on one q "SELECT score > 0 AND mismatched > 3 FROM privacy_score.score('alice', '-infinity', 'infinity')")" "^t$"
check_true "what was done on three together scores as on one, to the last bit" wait_for "SELECT $score FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')" "$alone"
check "on how many, and how many statements, is said" "$(q "SELECT servers, queries FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')")" \
  "3|$(on one q "SELECT queries FROM privacy_score.score('alice', '-infinity', 'infinity')")"
check "each by itself has less" "$(q "SELECT bool_and(d.score < f.score) FROM privacy_score.fleet_days d, privacy_score.fleet_score('alice', '-infinity', 'infinity') f WHERE d.role = 'alice'")" t
# Each n-gram on days of its own: the sum of each day is that of all of them until then, by the definition.
q "CREATE SERVER made FOREIGN DATA WRAPPER postgres_fdw OPTIONS (connect_timeout '2')" >/dev/null
check "sums that go on are those added up anew, of random days, in both ways of counting" "$(q "BEGIN" "INSERT INTO privacy_score.fleet_member (id, name, server, added_by) SELECT i, 'made' || i, 'made', 'postgres' FROM generate_series(1001, 1003) i" \
  "SELECT setseed(0.$((${PS_SEED:-4} % 10)))" \
  "INSERT INTO privacy_score.fleet_ngram (member, role, end_user, day, ngram_id, ngram, count, score) SELECT 1001 + i % 3, 'alice', 'u' || i % 2, date '2020-01-01' + (random() * 40)::int, 'n' || (random() * 30)::int, '{}', 1 + i % 4, (random() * 6)::numeric(9, 6) FROM generate_series(1, 900) i ON CONFLICT DO NOTHING" \
  "INSERT INTO privacy_score.fleet_day (member, role, end_user, day, queries, score) SELECT DISTINCT member, role, end_user, day, 1, 1 FROM privacy_score.fleet_ngram WHERE member > 1000 AND day <> '2020-01-20'" \
  "$(for counting in set multiset; do echo "SET LOCAL privacy_score.counting = $counting;
    SELECT count(*) FILTER (WHERE f.cumulative IS DISTINCT FROM (SELECT privacy_score.score_sum(array_agg(x.score), array_agg(x.times)) FROM (
      SELECT max(n.score) AS score, CASE WHEN '$counting' = 'set' THEN 1 ELSE sum(n.count)::bigint END AS times FROM privacy_score.fleet_ngram n WHERE n.member > 1000 AND n.end_user = f.end_user AND n.day <= f.day GROUP BY n.ngram_id) x)), count(*) > 70
      FROM privacy_score.fleet_score('alice', '2020-01-01', '2020-03-01') f;"; done)" "ROLLBACK" | grep '|')" "0|t
0|t"
check "an empty range has no score" "$(q "SELECT count(*) FROM privacy_score.fleet_score('alice', '2000-01-01', '2000-01-02')")" 0
check "roles are those of all" "$(q "SELECT string_agg(server, ' ' ORDER BY server) FROM privacy_score.fleet_roles WHERE role = 'alice' AND baseline_ngrams > 0")" "far north south"

# --- who may read -------------------------------------------------------------------------------------------------------
check "a role reads its own" "$(as alice q "SELECT count(*) > 0, bool_and(role = 'alice') FROM privacy_score.fleet_days")" "t|t"
check "and its own score of all" "$(as alice q "SELECT $score FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')")" "$alone"
check "not that of others" "$(as bob q "SELECT count(*) FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')")" 0
check "nor about the servers" "$(as alice q "SELECT (SELECT count(*) FROM privacy_score.fleet_info) + (SELECT count(*) FROM privacy_score.fleet_orders)")" 0
for sql in "SELECT privacy_score.fleet_add('a', 'north')" "SELECT privacy_score.fleet_remove('north')" "SELECT privacy_score.fleet_acknowledge('north', 1)" \
  "SELECT * FROM privacy_score.fleet_session" "SELECT * FROM privacy_score.fleet_member" \
  "INSERT INTO privacy_score.hub_orders VALUES ('acknowledge', '{\"id\": 1}')"; do
  check "not for everybody: $sql" "$(as alice q_state "$sql")" 42501
done

check "nor history of others" "$(on north as alice q "SELECT (SELECT count(*) FROM privacy_score.export_history()) + (SELECT count(*) FROM privacy_score.export_parts) + (SELECT count(*) FROM privacy_score.export_days WHERE role <> 'alice')")" 0

# --- alerts and orders --------------------------------------------------------------------------------------------------
PGHOST=$other on clinic as bob q "SELECT name, diagnosis FROM patients" >/dev/null 2>&1
check_true "an alert arrives" wait_for "SELECT count(*) > 0 FROM privacy_score.fleet_alerts WHERE server = 'far' AND role = 'bob' AND kind = 'session'" t
alert=$(q "SELECT id FROM privacy_score.fleet_alerts WHERE server = 'far' AND role = 'bob' AND kind = 'session'")
q "SELECT privacy_score.fleet_acknowledge('far', $alert)" >/dev/null
check_true "it is acknowledged there and here" wait_for "SELECT acknowledged_by, pending FROM privacy_score.fleet_alerts WHERE server = 'far' AND id = $alert" "collector|f"
check "on the member, too" "$(PGHOST=$other on clinic q "SELECT acknowledged_at IS NOT NULL FROM privacy_score.alert WHERE id = $alert")" t
check "what is not known here cannot be" "$(q_state "SELECT privacy_score.fleet_acknowledge('far', 999999)")" 22023
PGHOST=$other on clinic q "REVOKE INSERT ON privacy_score.hub_orders FROM collector" "SELECT privacy_score.flush()" >/dev/null
# A cause of its own, so that it is another alert.
PGHOST=$other on clinic as alice q "SET privacy_score.end_user = ''" "SELECT 1" >/dev/null 2>&1
PGHOST=$other on clinic q "UPDATE privacy_score.alert SET acknowledged_at = NULL, acknowledged_by = NULL, last_at = now()" >/dev/null
check_true "what changes on the member changes here" wait_for "SELECT acknowledged_at IS NULL FROM privacy_score.fleet_alerts WHERE server = 'far' AND id = $alert" t
q "SELECT privacy_score.fleet_acknowledge('far', $alert)" >/dev/null
check_true "an order that fails waits, and says why" wait_for "SELECT error ~ 'permission denied' AND kind = 'acknowledge' FROM privacy_score.fleet_orders WHERE server = 'far'" t
check "the alert is pending meanwhile" "$(q "SELECT pending FROM privacy_score.fleet_alerts WHERE server = 'far' AND id = $alert")" t
check "and its member is reachable" "$(q "SELECT reachable, orders FROM privacy_score.fleet_info WHERE server = 'far'")" "t|1"
q "UPDATE privacy_score.fleet_order SET failed_at = failed_at - interval '61 s'" >/dev/null
check_true "a minute later it is tried again by itself" wait_for "SELECT failed_at > clock_timestamp() - interval '50 s' FROM privacy_score.fleet_orders WHERE server = 'far'" t
PGHOST=$other on clinic q "GRANT INSERT ON privacy_score.hub_orders TO collector" >/dev/null
q "SELECT privacy_score.fleet_acknowledge('far', $alert)" >/dev/null
check_true "asked again it is tried again" wait_for "SELECT pending, acknowledged_by FROM privacy_score.fleet_alerts WHERE server = 'far' AND id = $alert" "f|collector"
check "nor is one without what it is about" "$(PGHOST=$other on clinic as collector q_state "INSERT INTO privacy_score.hub_orders VALUES ('acknowledge', '{\"ID\": 1}')")" 22023
check "an order that is none is an error" "$(PGHOST=$other on clinic as collector q_state "INSERT INTO privacy_score.hub_orders VALUES ('drop', '{}')")" 22023
check "orders are done with the rights of who gives them" \
  "$(PGHOST=$other on clinic q "REVOKE EXECUTE ON FUNCTION privacy_score.acknowledge_alert FROM collector" >/dev/null; PGHOST=$other on clinic as collector q_state "INSERT INTO privacy_score.hub_orders VALUES ('acknowledge', '{\"id\": $alert}')")" 42501

# --- history by a foreign table -----------------------------------------------------------------------------------------
q "CREATE FOREIGN TABLE parts (role text, day date, ids bigint[]) SERVER north OPTIONS (schema_name 'privacy_score', table_name 'export_parts')" >/dev/null
check "conditions on role and day are carried out on the member" \
  "$(q "EXPLAIN (VERBOSE, COSTS off) SELECT ids FROM parts WHERE role = 'alice' AND day = '2026-11-02'" | grep -o 'WHERE .*')" \
  "WHERE ((role = 'alice')) AND ((day = '2026-11-02'))"
check "and find what is there" "$(q "SELECT count(*) > 0 AND count(*) = count(*) FILTER (WHERE role = 'alice') FROM parts WHERE role = 'alice'")" t
q "DROP FOREIGN TABLE parts" >/dev/null

# --- one baseline for all -----------------------------------------------------------------------------------------------
sorted="SELECT (SELECT md5(string_agg(x::text, ' ' ORDER BY x::text)) FROM jsonb_array_elements(b->'ngrams') x), (SELECT md5(string_agg(x::text, ' ' ORDER BY x::text)) FROM jsonb_array_elements(b->'session_sets') x), b->>'sessions', b->>'from_day' FROM privacy_score.export_baseline('alice') b"
on one q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" >/dev/null
wanted=$(on one q "$sorted")
before=$(q "SELECT (SELECT count(*) FROM privacy_score.session), (SELECT count(*) FROM privacy_score.abstraction), (SELECT count(*) FROM privacy_score.baseline)")
check "a baseline is made of the sessions of all" "$(q "SELECT privacy_score.fleet_set_baseline('alice')")" "$(echo "$wanted" | cut -d '|' -f 3)"
for database in north south; do check_true "member $database has it" on "$database" wait_for "$sorted" "$wanted"; done
PGHOST=$other check_true "so has the one on the other server" on clinic wait_for "$sorted" "$wanted"
check_true "then no order is left" wait_for "SELECT count(*) FROM privacy_score.fleet_orders" 0
check "the hub has kept nothing of it" "$(q "SELECT (SELECT count(*) FROM privacy_score.session), (SELECT count(*) FROM privacy_score.abstraction), (SELECT count(*) FROM privacy_score.baseline)")" "$before"
check_true "what all have done is known to all then" wait_for "SELECT max(score) FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')" 0
check "who has done nothing has no baseline" "$(q_state "SELECT privacy_score.fleet_set_baseline('nobody')")" 22023
check "nor are there days that never come" "$(q_state "SELECT privacy_score.fleet_set_baseline('alice', 'infinity', '-infinity')")" 22023
check "nor are there days before the first" "$(q_state "SELECT privacy_score.fleet_set_baseline('alice', '2000-01-01', '2000-01-02')")" 22023
check "it is not for everybody" "$(as alice q_state "SELECT privacy_score.fleet_set_baseline('alice')")" 42501
# For what follows: as it was.
for database in north south one; do on "$database" q "SELECT privacy_score.import_baseline('$baseline')" >/dev/null; done
PGHOST=$other on clinic q "SELECT privacy_score.import_baseline('$baseline')" >/dev/null
check_true "another baseline shows in the score of all" wait_for "SELECT $score FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')" "$alone"

# --- a member dies ------------------------------------------------------------------------------------------------------
use_server other
kill9_server
use_server main
tables="SELECT string_agg(c.oid::text, ' ' ORDER BY c.oid) FROM pg_class c JOIN pg_foreign_table t ON t.ftrelid = c.oid JOIN pg_foreign_server s ON s.oid = t.ftserver WHERE s.srvname = 'far'"
before=$(q "$tables")
check_true "a member that was killed is not reachable" wait_for "SELECT reachable, error IS NOT NULL FROM privacy_score.fleet_info WHERE server = 'far'" "f|t"
check "what is known of it stays" "$(q "SELECT count(*) > 0 FROM privacy_score.fleet_days WHERE server = 'far'")" t
check "with the score of all" "$(q "SELECT $score FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')")" "$alone"
session alice north "SELECT city FROM patients"
check "the others are" "$(q "SELECT string_agg(server, ' ' ORDER BY server) FROM privacy_score.fleet_info WHERE reachable")" "north south"
q "SELECT privacy_score.fleet_acknowledge('far', $alert)" >/dev/null
check "an order to it waits" "$(q "SELECT count(*) FROM privacy_score.fleet_orders WHERE server = 'far'")" 1
use_server other
resume_server
use_server main
check_true "it comes back by itself" wait_for "$answers" 3
check "with the tables of before" "$(q "$tables")" "$before"
check "the log has both, once" "$(grep -c "could not collect from member 3 " "$ps_log") $(grep -c "member 3 of the fleet answers again" "$ps_log")" "1 1"

# --- the hub ends and begins --------------------------------------------------------------------------------------------
restart_server immediate
check_true "after a crash the hub collects again" wait_for "$answers" 3
"$PS_BINDIR/pg_dump" -Fc -f "$PS_TMP/hub.dump" hub
check "foreign tables of members are not dumped" "$("$PS_BINDIR/pg_restore" -l "$PS_TMP/hub.dump" | grep -c "FOREIGN TABLE")" 0
PGDATABASE=postgres q "DROP DATABASE hub WITH (FORCE)" "CREATE DATABASE hub" >/dev/null
"$PS_BINDIR/pg_restore" -d hub "$PS_TMP/hub.dump" >/dev/null 2>&1
check_true "after a restore, too" wait_for "$answers" 3
check_true "with what members show" wait_for "SELECT $score FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')" "$(on one q "SELECT $score FROM privacy_score.score('alice', '-infinity', 'infinity')")"

# --- members go ---------------------------------------------------------------------------------------------------------
q "SELECT privacy_score.fleet_remove('south')" >/dev/null
check "who is removed leaves no copies" "$(q "SELECT count(*) FROM privacy_score.fleet_days WHERE server = 'south'")" 0
check_true "and its collector ends" wait_for "$collecting" 2
check_true "with all that was made for it" wait_for "SELECT count(*) FROM pg_foreign_table t JOIN pg_foreign_server s ON s.oid = t.ftserver WHERE s.srvname = 'south'" 0
check "its server can be dropped" "$(q_state "DROP SERVER south CASCADE")" 00000
check "the server of one that is not removed takes nothing else with it" "$(q "DROP SERVER north CASCADE" "SELECT count(*) FROM pg_extension WHERE extname = 'privacy_score'" "SELECT count(*) > 0 FROM privacy_score.fleet_days WHERE server = 'north'" | grep .)" "1
t"
check_true "what is wrong then is said" wait_for "SELECT reachable, error ~ 'server \"north\" does not exist' FROM privacy_score.fleet_info WHERE server = 'north'" "f|t"
q "CREATE SERVER north FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', port '$PGPORT', dbname 'north', connect_timeout '2')" "CREATE USER MAPPING FOR postgres SERVER north OPTIONS (user 'collector')" >/dev/null
check_true "made again, it is collected from again" wait_for "SELECT reachable FROM privacy_score.fleet_info WHERE server = 'north'" t
check "history is exported as rows" \
  "$(on north q "SELECT bool_and(tokens ?& (SELECT array_agg(i::text) FROM unnest(ids) i WHERE i <> 0)), sum((SELECT sum(r) FROM unnest(runs) r WHERE r > 0)) = (SELECT sum(queries) FROM privacy_score.session) FROM privacy_score.export_history()")" "t|t"
check "the extension can be dropped with members" "$(q_state "DROP EXTENSION privacy_score")" 00000
check_true "collectors end" wait_for "$collecting" 0
# The hub's process must not end with the extension: nobody would start it again.
for round in 1 2 3; do q "CREATE EXTENSION privacy_score" "DROP EXTENSION privacy_score"; done >/dev/null
check_true "made anew, it is a hub again" eval 'q "CREATE EXTENSION privacy_score" "SELECT privacy_score.fleet_add('"'north', 'north'"')" >/dev/null && wait_for "$answers" 1'
check "nothing went wrong that was not meant to" "$(grep -E "PANIC|TRAP|terminated by signal" "$ps_log" | grep -v "signal 9" | head -n 3)" ""
done_testing

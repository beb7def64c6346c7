#!/bin/bash
# fleet_standby.sh - a standby as a member of a fleet: what ran on it is in the hub when its sessions are over, and the
# score over primary and standby is that of one server; it survives kill -9, a torn file and the promotion.
. "$(dirname "$0")/../lib.sh"

clinic=("CREATE EXTENSION privacy_score"
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, birth_year int, diagnosis text)"
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 13, 1940 + i % 60, 'd' || i % 7 FROM generate_series(1, 300) i"
  "SELECT privacy_score.protect('patients')" "ANALYZE" "GRANT SELECT ON patients TO alice, bob"
  "GRANT EXECUTE ON FUNCTION privacy_score.acknowledge_alert, privacy_score.import_baseline TO collector" "GRANT INSERT ON privacy_score.hub_orders TO collector")
roles=("CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE ROLE collector LOGIN IN ROLE pg_read_all_stats" "SECURITY LABEL FOR privacy_score ON ROLE collector IS 'exempt'"
  "ALTER ROLE bob SET privacy_score.session_limit = 0.01")
export PGDATABASE=clinic

use_server primary
PGDATABASE=postgres start_server
PGDATABASE=postgres q "${roles[@]}" "CREATE DATABASE clinic" >/dev/null
q "${clinic[@]}" >/dev/null
primary=$PGHOST
start_standby second
second=$PGHOST
use_server main
PGDATABASE=postgres start_server "privacy_score.fleet_database = 'hub'" "privacy_score.fleet_interval = '250ms'" "max_worker_processes = 24"
main=$PGHOST
PGDATABASE=postgres q "${roles[@]}" "CREATE DATABASE hub" "CREATE DATABASE clinic" >/dev/null
q "${clinic[@]}" >/dev/null

hub() { PGHOST=$main PGDATABASE=hub "$@"; }
hub q "CREATE EXTENSION privacy_score" "CREATE EXTENSION postgres_fdw" >/dev/null
# member NAME HOST
member() {
  hub q "CREATE SERVER $1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$2', port '$PGPORT', dbname 'clinic', connect_timeout '2')" \
    "CREATE USER MAPPING FOR postgres SERVER $1 OPTIONS (user 'collector')" "SELECT privacy_score.fleet_add('$1', '$1')" >/dev/null
}
member first "$primary"
member second "$second"
check_true "a primary and its standby are members" hub wait_for "SELECT string_agg(server || ' ' || in_recovery, ', ' ORDER BY server) FROM privacy_score.fleet_info WHERE reachable" "first false, second true"

# session HOST ROLE STATEMENT...: a session there, which the reference has likewise.
session() {
  local host=$1 role=$2
  shift 2
  PGHOST=$host as "$role" q "$@" >/dev/null 2>&1
  PGHOST=$main as "$role" q "$@" >/dev/null 2>&1
}
flush() { for host in "$primary" "$main"; do PGHOST=$host q "SELECT privacy_score.flush()" >/dev/null; done; }
replayed() { # waits until the standby has what the primary has
  local sent
  sent=$(PGHOST=$primary q "SELECT pg_current_wal_lsn()")
  PGHOST=$second wait_for "SELECT pg_last_wal_replay_lsn() >= '$sent'" t
}

# --- the same statements on two servers and on one ------------------------------------------------------------------------
session "$primary" alice "SELECT city FROM patients" "SELECT count(*) FROM patients WHERE city = 'c1'"
session "$primary" bob "SELECT city FROM patients"
flush
for role in alice bob; do
  PGHOST=$main q "SELECT privacy_score.set_baseline('$role', privacy_score.today(), privacy_score.today())" >/dev/null
  baseline=$(PGHOST=$main q "SELECT privacy_score.export_baseline('$role')")
  PGHOST=$primary q "SELECT privacy_score.import_baseline('$baseline')" >/dev/null
done
check_true "the standby has the baselines" replayed
session "$primary" alice "SELECT name, diagnosis FROM patients WHERE city = 'c1'" "SELECT city FROM patients"
session "$second" alice "SELECT name, diagnosis FROM patients WHERE city = 'c1'" "SELECT birth_year, name FROM patients" "SELECT city FROM patients" "SELECT city FROM patients"
session "$second" alice "SELECT birth_year, name FROM patients" "SELECT diagnosis FROM patients WHERE name = 'n1'" "SELECT birth_year, name FROM patients"
session "$second" bob "SELECT name FROM patients"
flush
score="day, end_user, mismatched, score, cumulative, queries"
of_one() { PGHOST=$main q "${2:-SELECT 1}" "SELECT $score FROM privacy_score.score('$1', '-infinity', 'infinity')" | tail -n 1; }
of_fleet="SELECT $score FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')"
alone=$(of_one alice)
check_true "over primary and standby the score is that of one server, to the last bit, with all statements" hub wait_for "$of_fleet" "$alone"
check "so it is where n-grams count as often as they occur" "$(hub q "SET privacy_score.counting = multiset" "$of_fleet")" "$(of_one alice "SET privacy_score.counting = multiset")"
check "the standby has had a part in it" "$(hub q "SELECT sum(queries), sum(score) > 0 FROM privacy_score.fleet_days WHERE server = 'second' AND role = 'alice'")" "7|t"
check "its tables have nothing of it" "$(PGHOST=$second q "SELECT sum(queries) FROM privacy_score.stat_days WHERE role = 'alice'")" 4
check_true "no session is open any more" hub wait_for "SELECT count(*) FROM privacy_score.fleet_sessions" 0
check "the role is there with what it did on the standby" \
  "$(hub q "SELECT r.baseline_ngrams, r.today = d.score, r.today = r.cumulative FROM privacy_score.fleet_roles r JOIN privacy_score.fleet_days d USING (server, role) WHERE r.server = 'second' AND r.role = 'alice'")" "2|t|t"
check_match "each new n-gram of it, too" "$(hub q "SELECT count(*) FROM privacy_score.fleet_mismatches WHERE server = 'second' AND role = 'alice'")" "^[3-9]$"
check "a role of the standby sees its own there, and no more" \
  "$(PGHOST=$second as alice q "SELECT (SELECT count(DISTINCT role) FROM privacy_score.export_days), (SELECT count(*) FROM privacy_score.export_alerts), (SELECT count(*) FROM privacy_score.export_parts), (SELECT count(DISTINCT role) FROM privacy_score.standby_parts('-infinity', 'infinity')), (SELECT count(*) FROM privacy_score.standby_alerts('-infinity', 'infinity'))")" "1|0|0|1|0"

# --- open sessions and alerts -------------------------------------------------------------------------------------------
mkfifo "$PS_TMP/alice"
PGHOST=$second PGUSER=alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >/dev/null 2>&1 &
exec 3>"$PS_TMP/alice"
echo "SELECT city FROM patients;" >&3
check_true "an open session of the standby shows in the hub" hub wait_for "SELECT server, queries FROM privacy_score.fleet_sessions WHERE role = 'alice'" "second|1"
check_true "and its day before it is over" hub wait_for "SELECT sum(queries) FROM privacy_score.fleet_days WHERE server = 'second' AND role = 'alice'" 8
exec 3>&-
wait $!
PGHOST=$main as alice q "SELECT city FROM patients" >/dev/null
PGHOST=$main q "SELECT privacy_score.flush()" >/dev/null
alone=$(of_one alice)
alert="SELECT kind, severity, occurrences, acknowledged_by, pending FROM privacy_score.fleet_alerts WHERE server = 'second' AND role = 'bob'"
check_true "an alert of the standby is in the hub" hub wait_for "$alert" "session|critical|1||f"
id=$(hub q "SELECT id FROM privacy_score.fleet_alerts WHERE server = 'second'")
check "acknowledged, it is at once" "$(hub q "SELECT privacy_score.fleet_acknowledge('second', $id)" "SELECT privacy_score.fleet_acknowledge('second', $id)" "$alert" | grep .)" "session|critical|1|postgres|f"
check "the standby is not asked to" "$(hub q "SELECT (SELECT count(*) FROM privacy_score.fleet_orders), orders FROM privacy_score.fleet_info WHERE server = 'second'")" "0|0"
check_true "the report says where who has worked" grep -q 'data-l="servers" data-v="first, second">first, second</td>' <<<"$(hub q "SELECT privacy_score.fleet_report('alice')")"

# --- history ------------------------------------------------------------------------------------------------------------
history="SELECT count(DISTINCT (session, started)), bool_and(tokens ?& (SELECT array_agg(i::text) FROM unnest(ids) i WHERE i <> 0)), sum((SELECT sum(r) FROM unnest(runs) r WHERE r > 0)) FROM privacy_score.export_history()"
check "history of the standby is what ran there" "$(PGHOST=$second q "$history")" "4|t|9"
check "that of others is not shown" "$(PGHOST=$second as alice q "SELECT count(*) FROM privacy_score.export_history()")" 0
# That was a statement of hers, too.
PGHOST=$main as alice q "SELECT count(*) FROM privacy_score.export_history()" >/dev/null
PGHOST=$main q "SELECT privacy_score.flush()" >/dev/null
alone=$(of_one alice)

# --- kill -9 ------------------------------------------------------------------------------------------------------------
check_true "all of it is collected" hub wait_for "$of_fleet" "$alone"
use_server second
kill9_server
check_true "a standby that was killed is not reachable" hub wait_for "SELECT reachable FROM privacy_score.fleet_info WHERE server = 'second'" f
check "what the hub has stays" "$(hub q "$of_fleet")" "$alone"
# As when the end of a record was being written.
file=$(echo "$PGDATA"/pg_stat_tmp/privacy_score.standby.*)
check_true "there is a file of the day" test -s "$file"
head -c 100 "$file" >>"$file"
resume_server
check_true "it answers again" hub wait_for "SELECT reachable FROM privacy_score.fleet_info WHERE server = 'second'" t
session "$second" alice "SELECT id, birth_year FROM patients"
PGHOST=$main q "SELECT privacy_score.flush()" >/dev/null
alone=$(of_one alice)
check_true "what ran before and after it is there" hub wait_for "$of_fleet" "$alone"
check "with what was acknowledged" "$(hub q "$alert")" "session|critical|1|postgres|f"

# --- one baseline for all -----------------------------------------------------------------------------------------------
sorted="SELECT (SELECT md5(string_agg(x::text, ' ' ORDER BY x::text)) FROM jsonb_array_elements(b->'ngrams') x), (SELECT md5(string_agg(x::text, ' ' ORDER BY x::text)) FROM jsonb_array_elements(b->'session_sets') x), b->>'sessions' FROM privacy_score.export_baseline('alice') b"
PGHOST=$main q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" >/dev/null
wanted=$(PGHOST=$main q "$sorted")
check "a baseline is made of what ran on both" "$(hub q "SELECT privacy_score.fleet_set_baseline('alice')")" "${wanted##*|}"
PGHOST=$primary check_true "and has it" wait_for "$sorted" "$wanted"
check_true "the standby gets it from there, without an order" hub wait_for "SELECT count(*) FROM privacy_score.fleet_order WHERE kind = 'baseline'" 0
PGHOST=$second check_true "and has it, too" wait_for "$sorted" "$wanted"
check_true "what ran on both is known then" hub wait_for "SELECT max(score) FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')" 0
PGHOST=$primary q "SELECT privacy_score.import_baseline('$(PGHOST=$main q "SELECT privacy_score.export_baseline('bob')")')" >/dev/null

# --- somebody is forgotten ----------------------------------------------------------------------------------------------
PGHOST=$primary q "CREATE ROLE app LOGIN" "GRANT SELECT ON patients TO app" "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" >/dev/null
replayed
use_server second
conf "privacy_score.end_user_source = 'setting app.user'"
reload_server
file=$(echo "$PGDATA"/pg_stat_tmp/privacy_score.standby.*)
as app q "SET app.\"user\" = 'eve'" "SELECT name FROM patients" >/dev/null
check_true "what she did there reaches the hub" hub wait_for "SELECT count(*) FROM privacy_score.fleet_days WHERE end_user = 'eve'" 1
check_true "and stands in a file" grep -qa eve "$file"
check "she can be forgotten on the standby" "$(q "SELECT privacy_score.forget_end_user('app', 'eve')" "SELECT privacy_score.forget_end_user('app', 'eve')")" "1
0"
check_true "the file has nothing of her" eval '! grep -qa eve "$file"'
check_true "nor has the hub then" hub wait_for "SELECT count(*) FROM privacy_score.fleet_days WHERE end_user = 'eve'" 0
check "what others did is there" "$(q "SELECT count(DISTINCT role) FROM privacy_score.export_parts WHERE role IN ('alice', 'bob')")" 2

# --- promotion ----------------------------------------------------------------------------------------------------------
of_bob="SELECT $score FROM privacy_score.fleet_score('bob', '-infinity', 'infinity')"
alone=$(of_one bob)
check_true "of bob the score is that of one server" hub wait_for "$of_bob" "$alone"
use_server primary
stop_server fast
use_server second
q "SELECT pg_promote()" >/dev/null
check_true "promoted, it writes what ran on it" wait_for "SELECT sum(queries) FROM privacy_score.session" "$(PGHOST=$main q "SELECT sum(queries) FROM privacy_score.session")"
check "and the alert, beside that of the primary" "$(q "SELECT count(*), count(DISTINCT session), min(role), bool_and(id > 0) FROM privacy_score.alerts WHERE kind = 'session'")" "2|2|bob|t"
check_true "the file is gone" eval '! ls "$PGDATA"/pg_stat_tmp/privacy_score.standby.* >/dev/null 2>&1'
check "its own scores are those of one server now" "$(q "SELECT $score FROM privacy_score.score('bob', '-infinity', 'infinity')")" "$alone"
check "in the log, too, that is said" "$(grep -c "has recorded what ran while this server was a standby" "$ps_log")" 1
hub q "SELECT privacy_score.fleet_remove('first')" >/dev/null
check_true "without the old primary the fleet has the same" hub wait_for "$of_bob" "$alone"
check_true "alerts have numbers of the server's own" hub wait_for "SELECT min(id) > 0, count(*) FROM privacy_score.fleet_alerts WHERE role = 'bob'" "t|2"
check "nothing is left of what was acknowledged of others" "$(hub q "SELECT count(*) FROM privacy_score.fleet_order")" 0
session "$second" alice "SELECT city FROM patients"
PGHOST=$second q "SELECT privacy_score.flush()" >/dev/null
check "and it goes on" "$(PGHOST=$second q "SELECT max(session) <> '' FROM privacy_score.session WHERE role = 'alice' AND queries = 1")" t
for server in primary second main; do
  use_server $server
  check "nothing went wrong on $server that was not meant to" "$(grep -E "PANIC|TRAP|terminated by signal" "$ps_log" | grep -v "signal 9" | head -n 3)" ""
done
done_testing

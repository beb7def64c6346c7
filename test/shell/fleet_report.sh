#!/bin/bash
# fleet_report.sh - the report of a fleet: what it says of members, of roles on all of them, of alerts and orders; who
# may read what of it; names that are markup; a member that is stopped holds up nobody.
. "$(dirname "$0")/../lib.sh"

clinic=("CREATE EXTENSION privacy_score"
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, diagnosis text)"
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 300) i"
  "SELECT privacy_score.protect('patients')" "ANALYZE" "GRANT SELECT ON patients TO alice, bob"
  "GRANT EXECUTE ON FUNCTION privacy_score.acknowledge_alert TO collector")
roles=("CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE ROLE collector LOGIN IN ROLE pg_read_all_stats" "SECURITY LABEL FOR privacy_score ON ROLE collector IS 'exempt'"
  "ALTER ROLE bob SET privacy_score.mode = warn" "ALTER ROLE bob SET privacy_score.session_limit = 0.01")

use_server other
start_server
q "${roles[@]}" "CREATE DATABASE clinic" >/dev/null
on clinic q "${clinic[@]}" >/dev/null
other=$PGHOST
use_server main
start_server "privacy_score.fleet_database = 'hub'" "privacy_score.fleet_interval = '250ms'" "privacy_score.fleet_timeout = '5s'" "max_worker_processes = 24"
q "${roles[@]}" "CREATE ROLE stats LOGIN IN ROLE pg_read_all_stats" "CREATE DATABASE hub" "CREATE DATABASE north" >/dev/null
on north q "${clinic[@]}" >/dev/null
export PGDATABASE=hub
q "CREATE EXTENSION privacy_score" "CREATE EXTENSION postgres_fdw" >/dev/null

# report [ARGUMENTS]: the page, of the current role.
report() { q "SET statement_timeout = '60s'" "SELECT privacy_score.fleet_report(${1:-})"; }
has() { grep -qF -- "$2" <<<"$1"; }

page=$(report)
check_true "a hub without members has a page that says so" has "$page" "The fleet has no member"
check_true "and no work" has "$page" "No work is recorded in this time."

# --- two members --------------------------------------------------------------------------------------------------------
member() {
  q "CREATE SERVER $1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$2', port '$PGPORT', dbname '$3', connect_timeout '2')" \
    "CREATE USER MAPPING FOR postgres SERVER $1 OPTIONS (user 'collector')" "SELECT privacy_score.fleet_add('$1', '$1')" >/dev/null
}
member north "$PGHOST" north
member far "$other" clinic
check_true "both are reachable" wait_for "SELECT count(*) FROM privacy_score.fleet_info WHERE reachable" 2
for role in alice bob; do on north as "$role" q "SELECT city FROM patients" "SELECT count(*) FROM patients WHERE city = 'c1'" >/dev/null 2>&1; done
on north q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline(r, privacy_score.today(), privacy_score.today()) FROM unnest('{alice, bob}'::name[]) r" >/dev/null
for role in alice bob; do
  baseline=$(on north q "SELECT privacy_score.export_baseline('$role')")
  PGHOST=$other on clinic q "SELECT privacy_score.import_baseline('$baseline')" >/dev/null
done
on north as alice q "SELECT name, diagnosis FROM patients WHERE city = 'c1'" "SELECT id, name FROM patients" >/dev/null
PGHOST=$other on clinic as alice q "SELECT name, diagnosis FROM patients WHERE city = 'c1'" "SELECT diagnosis FROM patients WHERE name = 'n1'" >/dev/null
PGHOST=$other on clinic as bob q "SELECT name FROM patients" "SELECT 1" >/dev/null 2>&1
on north q "SELECT privacy_score.flush()" >/dev/null
PGHOST=$other on clinic q "SELECT privacy_score.flush()" >/dev/null
check_true "all is collected" wait_for "SELECT (SELECT count(*) FROM privacy_score.fleet_days WHERE score > 0), (SELECT count(*) > 0 FROM privacy_score.fleet_alerts WHERE server = 'far' AND role = 'bob' AND kind = 'session')" "3|t"
alert=$(q "SELECT min(id) FROM privacy_score.fleet_alerts WHERE server = 'far' AND role = 'bob' AND kind = 'session'")
# The member does not let the hub acknowledge.
q "SELECT privacy_score.fleet_acknowledge('far', $alert)" >/dev/null
check_true "an order waits" wait_for "SELECT count(*) FROM privacy_score.fleet_orders WHERE error ~ 'permission denied'" 1

page=$(report)
together=$(q "SELECT round(max(score)::numeric, 2)::float8 FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')")
alone=$(q "SELECT round(max(score)::numeric, 2)::float8 FROM privacy_score.fleet_days WHERE role = 'alice'")
check_match "together more than each" "$(q "SELECT $together > $alone")" "^t$"
check_true "a role has the score of all servers together" has "$page" "<th scope=\"row\" data-v=\"alice\">alice</th><td class=\"number\" data-l=\"highest\" data-v=\"$(q "SELECT round(max(score)::numeric, 6)::float8 FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')")\">$together</td>"
check_true "and where it has worked" has "$page" 'data-l="servers" data-v="far, north">far, north</td>'
check_true "the members are listed, with their version" has "$page" "data-l=\"PostgreSQL\">$(q "SHOW server_version" | sed 's/&/\&amp;/')"
check_true "and how many answer" has "$page" "<b>2 of 2</b><span>members reachable</span>"
check_true "an alert says of which member it is" has "$page" "Alert $alert of far"
check_true "one that is acknowledged here is pending" has "$page" "acknowledgement is pending"
check_true "the order says why it has not arrived" has "$page" "permission denied"
check_true "a new n-gram is there once, with all servers that have it" has "$page" "<span>on far, north</span>"
check_true "a day has what both have done" has "$page" "<td class=\"number\" data-l=\"servers\">2</td>"
check "the page asks nobody" "$(grep -cE '(src|href)="?(https?:)?//' <<<"$page")" 0

# --- who may read what --------------------------------------------------------------------------------------------------
own=$(as alice report)
check_true "a role sees its own" has "$own" 'data-v="alice"'
check "not that of others" "$(grep -c 'bob' <<<"$own")" 0
check_true "nor the members" has "$own" "Members are shown to members of pg_read_all_stats."
check_true "nor their orders" has "$own" "Orders are shown to members of pg_read_all_stats."
check "nor by name" "$(as alice q_state "SELECT privacy_score.fleet_report('bob')")" 42501
check "nor is it told who is there" "$(as alice q_state "SELECT privacy_score.fleet_report('nobody')")" 42501
check "pg_read_all_stats sees all" "$(as stats report | sed 's/<header>.*<\/header>//' | grep -c 'data-v="bob"')" "$(report | grep -c 'data-v="bob"')"
check "one role is asked for" "$(report "'bob'" | grep -c 'data-v="alice"')" 0
check "days are in order" "$(q_state "SELECT privacy_score.fleet_report(NULL, '2026-01-02', '2026-01-01')")" 22023
check "a time without work has none" "$(report "NULL, '2000-01-01', '2000-01-31'" | grep -c 'No work is recorded in this time.')" 3
check_true "all of the time is one, too" has "$(report "NULL, '-infinity', 'infinity'")" 'data-v="alice"'

# --- what members show is not trusted -----------------------------------------------------------------------------------
# A member whose copies hold what none of ours would write.
evil='<script>alert(1)</script>"'"''"'&<b>'
q "CREATE SERVER evil FOREIGN DATA WRAPPER postgres_fdw OPTIONS (connect_timeout '2')" "SELECT privacy_score.fleet_add('$evil', 'evil')" >/dev/null
q "INSERT INTO privacy_score.fleet_day (member, role, end_user, day, queries, ngrams, mismatched, score, max_score) SELECT id, '$evil', '$evil', privacy_score.today(), 1, -1, -9223372036854775808, 9, 'NaN' FROM privacy_score.fleet_member WHERE name LIKE '%script%'" \
  "INSERT INTO privacy_score.fleet_role (member, role, baseline_ngrams, baseline_from, today, cumulative) SELECT id, '$evil', 1, '2026-01-01', 0, 0 FROM privacy_score.fleet_member WHERE name LIKE '%script%'" \
  "INSERT INTO privacy_score.fleet_ngram (member, role, end_user, day, ngram_id, ngram, count, score) SELECT id, '$evil', '$evil', privacy_score.today(), 'x', ARRAY['$evil', 'p:$evil', NULL], 1, 6 FROM privacy_score.fleet_member WHERE name LIKE '%script%'" \
  "INSERT INTO privacy_score.fleet_ngram (member, role, end_user, day, ngram_id, ngram, count, score) SELECT id, '$evil', '$evil', privacy_score.today(), 'x', '{}', 1, 5 FROM privacy_score.fleet_member WHERE name = 'far'" \
  "INSERT INTO privacy_score.fleet_alert (member, id, at, role, session, kind, score, alert_limit, severity, detail, end_user, application_name) SELECT id, -1, now(), '$evil', '$evil', '$evil', 'NaN', 'Infinity', '$evil', jsonb_build_object('ngram', '$evil'::text, 'nearest', jsonb_build_array('$evil'::text, NULL, '{}'::jsonb), 'attributes', jsonb_build_array(repeat('$evil', 10000)), 'cause', '{}'::jsonb, 'reason', '$evil'::text), '$evil', '$evil' FROM privacy_score.fleet_member WHERE name LIKE '%script%'" >/dev/null
page=$(report)
check_true "such a name is shown" has "$page" "&#60;script&#62;alert(1)"
check "never as markup" "$(grep -c '<script>alert\|<b>&\|&<b>' <<<"$page")" 0
check "the page has one script" "$(grep -o '<script' <<<"$page" | wc -l)" 1
check_true "long texts are cut" test "${#page}" -lt 600000
check_true "that member is not reachable" has "$page" "<b>2 of 3</b><span>members reachable</span>"
q "DELETE FROM privacy_score.fleet_ngram WHERE ngram_id = 'x'" "SELECT privacy_score.fleet_remove('$evil')" >/dev/null

# --- a member that is stopped -------------------------------------------------------------------------------------------
use_server other
kill9_server
use_server main
# The first who asks may be told that the connection has broken off.
check_true "a member that was killed is not reachable" \
  wait_for "SELECT NOT reachable AND error ~ 'could not connect to server' FROM privacy_score.fleet_info WHERE server = 'far'" t
page=$(report)
check_true "the page says so" has "$page" "<b>1 of 2</b><span>members reachable</span>"
check_true "and why" has "$page" "could not connect to server"
check_true "what it has done is there" has "$page" "data-v=\"far, north\""
q "SELECT privacy_score.fleet_acknowledge('far', id) FROM privacy_score.fleet_alerts WHERE server = 'far' AND acknowledged_at IS NULL" >/dev/null
check_true "orders to it are listed" has "$(report)" ">acknowledge</td>"
# Nobody else's lock on the copies is waited for: a collector that hangs holds one.
check "a collector that writes holds nobody up" "$("$PS_BINDIR/psql" -XAtq -d hub -c "BEGIN" -c "LOCK TABLE privacy_score.fleet_day, privacy_score.fleet_ngram, privacy_score.fleet_alert, privacy_score.fleet_state IN ROW EXCLUSIVE MODE" \
  -c "\! psql -XAtq -d hub -c \"SET lock_timeout = '5s'\" -c \"SELECT length(privacy_score.fleet_report()) > 1000\"" -c "COMMIT" | tail -n 1)" t
done_testing

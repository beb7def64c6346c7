#!/bin/bash
# mixed_fleet.sh - a hub of this version over members of this and older ones (their programs in PS_OLD_BINDIRS, with the
# extension installed): the score of all together is that of one server to the last bit; one that is killed loses no
# more than what its worker had not written, and the hub answers within a second all the while.
# scripts/test_mixed_fleet.sh runs it.
. "$(dirname "$0")/../lib.sh"

own_bindir=$PS_BINDIR
read -ra older <<<"${PS_OLD_BINDIRS:?the programs of the older versions}"
clinic=("CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE ROLE collector LOGIN IN ROLE pg_read_all_stats"
  "SECURITY LABEL FOR privacy_score ON ROLE collector IS 'exempt'"
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, birth_year int, diagnosis text)"
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 13, 1940 + i % 60, 'd' || i % 7 FROM generate_series(1, 300) i"
  "SELECT privacy_score.protect('patients')" "ANALYZE" "GRANT SELECT ON patients TO alice"
  "GRANT EXECUTE ON FUNCTION privacy_score.acknowledge_alert, privacy_score.import_baseline TO collector"
  "GRANT INSERT ON privacy_score.hub_orders TO collector")

# server NAME BINDIR [SETTING...]: starts one of that version with the data of all.
server() {
  PS_BINDIR=$2
  ps_template=$PS_TMP/template.$1
  use_server "$1"
  start_server "${@:3}"
  q "${clinic[@]}" >/dev/null
}
declare -A major
members=()
for bindir in "${older[@]}" "$own_bindir"; do
  name=m$("$bindir/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
  major[$name]=$bindir
  members+=("$name")
  server "$name" "$bindir"
done
first=${members[0]}
server one "$own_bindir"
server hub "$own_bindir" "privacy_score.fleet_database = 'postgres'" "privacy_score.fleet_interval = '200ms'" "max_worker_processes = 24"
hub=$PGHOST
at() {
  local -x PGHOST=$PS_TMP/$ps_test.$1
  shift
  "$@"
}
q "CREATE EXTENSION postgres_fdw" >/dev/null
for name in "${members[@]}"; do
  q "CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PS_TMP/$ps_test.$name', port '$PGPORT', dbname 'postgres', connect_timeout '2')" \
    "CREATE USER MAPPING FOR postgres SERVER $name OPTIONS (user 'collector')" "SELECT privacy_score.fleet_add('$name', '$name')" >/dev/null
done
check_true "${#members[@]} members of as many versions are collected from: ${members[*]}" \
  wait_for "SELECT count(*), count(DISTINCT split_part(server_version, '.', 1)) FROM privacy_score.fleet_info WHERE reachable" "${#members[@]}|${#members[@]}"

# --- together as on one server ------------------------------------------------------------------------------------------
flush_all() { for name in "${members[@]}" one; do at "$name" q "SELECT privacy_score.flush()" >/dev/null; done; }
# session MEMBER STATEMENT...: a session there, which the reference has likewise.
session() {
  at "$1" as alice q "${@:2}" >/dev/null
  at one as alice q "${@:2}" >/dev/null
}
for name in "${members[@]}"; do session "$name" "SELECT city FROM patients" "SELECT count(*) FROM patients WHERE city = 'c1'"; done
flush_all
baseline=$(at one q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" "SELECT privacy_score.export_baseline('alice')" | tail -n 1)
for name in "${members[@]}"; do at "$name" q "SELECT privacy_score.import_baseline('$baseline')" >/dev/null; done
statements=("SELECT name, diagnosis FROM patients WHERE city = 'c1'" "SELECT birth_year, name FROM patients" "SELECT city FROM patients"
  "SELECT diagnosis FROM patients WHERE name = 'n1'" "SELECT sum(birth_year) FROM patients GROUP BY city" "SELECT * FROM patients WHERE id BETWEEN 3 AND 9"
  "SELECT count(*) FROM patients p JOIN patients r ON p.city = r.city WHERE r.name = 'n4'" "SELECT upper(name) FROM patients ORDER BY birth_year")
RANDOM=${PS_SEED:-15}
for ((i = 0; i < $(by_length 20 100); ++i)); do
  session "${members[RANDOM % ${#members[@]}]}" "${statements[RANDOM % ${#statements[@]}]}" "${statements[RANDOM % ${#statements[@]}]}" "${statements[RANDOM % ${#statements[@]}]}"
done
flush_all
score="SELECT day, end_user, mismatched, score, cumulative FROM privacy_score"
alone=$(at one q "$score.score('alice', '-infinity', 'infinity')")
check "on one server it scores" "$(at one q "SELECT score > 0 AND mismatched > 10 FROM privacy_score.score('alice', '-infinity', 'infinity')")" t
check_true "what was done on all versions together scores as on one, to the last bit" wait_for "$score.fleet_score('alice', '-infinity', 'infinity')" "$alone"
check_true "a baseline of all is in force on each" eval "[ \"\$(q \"SELECT privacy_score.fleet_set_baseline('alice')\")\" -gt 0 ] && wait_for \"SELECT max(score) FROM privacy_score.fleet_score('alice', '-infinity', 'infinity')\" 0"
for name in "${members[@]}"; do at "$name" q "SELECT privacy_score.import_baseline('$baseline')" >/dev/null; done
check_true "and the one before, made again from its file" wait_for "$score.fleet_score('alice', '-infinity', 'infinity')" "$alone"

# --- one is killed ------------------------------------------------------------------------------------------------------
# Meanwhile the hub is asked all the time.
asks() {
  while [ ! -e "$PS_TMP/enough" ]; do
    printf '%s\n' '\timing on' "SELECT count(*) FROM privacy_score.fleet_sessions;" "SELECT count(*) FROM privacy_score.fleet_roles;" \
      "SELECT count(*) FROM privacy_score.fleet_alerts;" "SELECT count(*) FROM privacy_score.fleet_info;" "$score.fleet_score('alice', '-infinity', 'infinity');" |
      PGHOST=$hub "$own_bindir/psql" -XAtq 2>&1
  done
}
asks >"$PS_TMP/answers" &
asking=$!
use_server "$first"
PS_BINDIR=${major[$first]}
queries="SELECT sum(queries) FROM privacy_score.session"
before=$(q "$queries")
as alice q "SELECT city FROM patients" "SELECT city FROM patients" "SELECT city FROM patients" >/dev/null
# Nobody asks for it to be written.
check_true "what was done is written within a flush interval, by itself" wait_for "$queries" $((before + 3))
as alice q "SELECT city FROM patients" >/dev/null
kill9_server
use_server hub
PS_BINDIR=$own_bindir
check_true "the hub sees that $first is gone" wait_for "SELECT reachable FROM privacy_score.fleet_info WHERE server = '$first'" f
check "and keeps what it had of it" "$(q "SELECT count(*) > 0 FROM privacy_score.fleet_days WHERE server = '$first'")" t
use_server "$first"
PS_BINDIR=${major[$first]}
resume_server
check_true "it has lost no more than the last statement" test "$(q "$queries")" -ge $((before + 3))
use_server hub
PS_BINDIR=$own_bindir
check_true "the hub collects from it again" wait_for "SELECT count(*) FROM privacy_score.fleet_info WHERE reachable" "${#members[@]}"
touch "$PS_TMP/enough"
wait $asking
check "no question has failed" "$(grep -c ERROR "$PS_TMP/answers")" 0
slowest=$(sed -nE 's/^Time: ([0-9]+)\..* ms.*/\1/p' "$PS_TMP/answers" | sort -n | tail -n 1)
check_true "of $(grep -c '^Time' "$PS_TMP/answers") answers of the hub meanwhile none took a second: $slowest ms" test "${slowest:-1000}" -lt 1000
done_testing

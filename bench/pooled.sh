#!/bin/bash
# pooled.sh - what a statement of one of many people behind a pooler costs, beside one of a connection's own session.
#
#   scripts/sandbox.sh bench/pooled.sh
#
# Prints a section in Markdown. One server; 200 clients, each of which is a person, over ten connections of PgBouncer in
# transaction mode. A transaction names the person and runs one look-up. In "own" the name stands where nobody looks, so
# that the statement counts for the role and the connection; "off" watches nothing. The times are CPU times of the ten
# backends, a transaction; the three take turns, in each round in another order, on connections that have warmed up.
. "$(dirname "$0")/lib.sh"
command -v pgbouncer >/dev/null || bail_out "there is no pgbouncer"

rounds=$(rounds_of 15)
people=200
each=$(if quick; then echo 5; else echo 50; fi)
start_server "max_connections = 60" "shared_buffers = '128MB'" "privacy_score.flush_interval = '1s'"
q "CREATE EXTENSION privacy_score" "CREATE TABLE patients (id int PRIMARY KEY, name text, city text)" \
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 50 FROM generate_series(1, 10000) i" "ANALYZE" >/dev/null
for role in pooled own off; do q "CREATE ROLE $role LOGIN" "GRANT SELECT ON patients TO $role" "SECURITY LABEL FOR privacy_score ON ROLE $role IS 'gateway'" "ALTER ROLE $role SET privacy_score.end_user_source = 'setting app.login'" >/dev/null; done
q "ALTER ROLE own RESET privacy_score.end_user_source" "ALTER ROLE off SET privacy_score.mode = 'off'" "SELECT privacy_score.protect('patients')" >/dev/null
cat >"$PS_TMP/pooler.ini" <<INI
[databases]
postgres = host=$PGHOST port=$PGPORT
[pgbouncer]
listen_addr =
unix_socket_dir = $PS_TMP
listen_port = 6432
auth_type = trust
auth_file = $PS_TMP/users
pool_mode = transaction
default_pool_size = 10
max_client_conn = 1000
logfile = $PS_TMP/pooler.log
pidfile = $PS_TMP/pooler.pid
INI
printf '"%s" ""\n' pooled own off >"$PS_TMP/users"
pgbouncer -q "$PS_TMP/pooler.ini" &
pooler=$!
trap 'kill $pooler; ps_at_exit' EXIT
wait_until test -S "$PS_TMP/.s.PGSQL.6432"
cat >"$PS_TMP/pooled.sql" <<'SQL'
\set id random(1, 10000)
BEGIN;
SET LOCAL app.login = 'person :client_id';
SELECT name FROM patients WHERE id = :id;
COMMIT;
SQL
turn() { PGHOST=$PS_TMP PGPORT=6432 PGUSER=$1 "$PS_BINDIR/pgbench" -n -c $people -j 2 -t "$each" -f "$PS_TMP/pooled.sql" postgres >/dev/null 2>&1; }
# Nanoseconds on a processor of all backends of a role.
used() { q "SELECT pid FROM pg_stat_activity WHERE usename = '$1'" | while read -r pid; do cut -d' ' -f1 "/proc/$pid/schedstat"; done | awk '{ sum += $1 } END { printf "%.0f", sum }'; }
cost() {
  local before
  before=$(used "$1")
  turn "$1"
  echo "$(($(used "$1") - before)) $((people * each))" | awk '{ printf "%.2f\n", $1 / $2 / 1000 }'
}
for role in pooled own off; do turn $role; done
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('pooled', '-infinity', 'infinity')" "SELECT privacy_score.set_baseline('own', '-infinity', 'infinity')" >/dev/null
for role in pooled own off; do turn $role; done
orders=("pooled own off" "own off pooled" "off pooled own")
for ((round = 0; round < rounds; ++round)); do
  for role in ${orders[round % 3]}; do cost $role >>"$PS_TMP/cost.$role"; done
done
p=$(median <"$PS_TMP/cost.pooled")
o=$(median <"$PS_TMP/cost.own")
f=$(median <"$PS_TMP/cost.off")
told=$(q "SELECT privacy_score.flush()" "SELECT count(DISTINCT end_user) FROM privacy_score.session WHERE role = 'pooled'" | tail -n 1)
[ "$told" = $people ] || bail_out "$told people instead of $people"
echo "## Many people behind a pooler"
echo
echo "CPU time of the server's backends for a transaction of BEGIN, SET LOCAL, a look-up by key and COMMIT: $people people over"
echo "ten connections of $(pgbouncer --version | head -n 1) in transaction mode; medians of $rounds rounds of $((people * each)) transactions."
echo
echo "| | microseconds | beside a connection's own session |"
echo "|---|---|---|"
echo "| nothing is watched | $f | $(ratio "$f" "$o") |"
echo "| a session of each connection | $o | 1.00 |"
echo "| a session of each person, over all connections | $p | $(ratio "$p" "$o") |"
echo
target_header
target "a pooled transaction beside one of a connection's own session" "$(ratio "$p" "$o" 3)" at-most 1.5
part_done

#!/bin/bash
# run.sh - the demonstration: a hospital, ten days of habit, a normal one, three with attacks, a live watch, noisy counts, a
# release. Runs below scripts/sandbox.sh ("make demo"); prints what it finds and leaves the same in demo/report.txt.
#
# Its last three lines say what was found, where the page is, and what to do next.
#
# It makes its own server with CSV logging below PS_TMP, lets six analysts do their work through real connections, turns
# the server's log into history on faked days, and measures. Everything is drawn from fixed keys: two runs print the same
# scores. A statement of an analyst that fails is a fault of the demonstration and ends it.
set -euo pipefail
cd "$(dirname "$0")"
: "${PS_TMP:?run this through make demo}" "${PS_BINDIR:?}"

home=$PS_TMP/demo
export PGHOST=$home PGPORT=5432 PGUSER=postgres PGDATABASE=hospital PGOPTIONS='' PSQL_PAGER=''
analysts=(nurse_anna physician_bert billing_carla lab_dora research_emil admissions_finn)
began=$(date +%s)

sql() { "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 "$@"; }
table() { "$PS_BINDIR/psql" -Xq -v ON_ERROR_STOP=1 -P footer=off "$@"; }
step() { printf '[%3d s] %s\n' $(($(date +%s) - began)) "$*"; }
heading() { printf '\n%s\n%s\n' "$*" "${*//?/=}"; }

start_server() {
  mkdir -p "$home"
  "$PS_BINDIR/initdb" -D "$home/data" -U postgres -A trust -N -E UTF8 --locale=C.UTF-8 >"$home/initdb.log"
  cat >>"$home/data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$home'
fsync = off
shared_buffers = '64MB'
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
logging_collector = on
log_destination = 'csvlog'
log_directory = '$home'
log_filename = 'server.log'
log_rotation_age = 0
log_rotation_size = 0
log_statement = 'all'
shared_preload_libraries = 'privacy_score'
privacy_score.flush_interval = '200ms'
CONF
  "$PS_BINDIR/pg_ctl" start -s -w -t 60 -D "$home/data" -l "$home/start.log" </dev/null >/dev/null
}

# in_halves COMMAND...: runs it with 0 and with 1 behind it, at the same time.
in_halves() {
  local other
  "$@" 0 &
  other=$!
  "$@" 1
  wait $other
}

# Runs every session of the generator as its role on a connection of its own. A session begins with what clients send
# unasked (SET, catalog queries); that has no abstraction and drops out later.
replay() {
  mkdir "$home/sessions"
  sql -c "
      SELECT line FROM (
        SELECT s.session_id, 0 AS seq, concat_ws(' ', '--', s.session_id, s.role, s.day, demo.date_of(s.day) + s.at) AS line FROM demo.session s
        UNION ALL SELECT s.session_id, 0, 'SET statement_timeout = ''60s'';' FROM demo.session s
        UNION ALL SELECT s.session_id, 0, '\dt' FROM demo.session s WHERE s.session_id % 5 = 0
        UNION ALL SELECT t.session_id, t.seq, t.sql || E';\n\\\\echo ' || t.session_id || ' ' || t.seq || ' :ROW_COUNT' FROM demo.statement t) x
      ORDER BY session_id, seq, line NOT LIKE '-- %', line" |
    awk -v dir="$home/sessions" '$1 == "--" { close(file); file = sprintf("%s/%05d", dir, $2) } { print > file }'
  in_halves replay_half
  # How many rows each statement returned, as its client has seen it: the log does not say.
  sql -c "CREATE TABLE demo.returned (session_id int, seq int, rows bigint, PRIMARY KEY (session_id, seq))"
  cat "$home"/returned.[01] | sql -c "COPY demo.returned FROM STDIN (DELIMITER ' ')"
}

# replay_half 0|1: every other session.
replay_half() {
  local script role when scripts=("$home"/sessions/*)
  local -i number
  for ((number = $1; number < ${#scripts[@]}; number += 2)); do
    script=${scripts[number]}
    read -r _ _ role when <"$script"
    PGUSER=$role PGAPPNAME="replay $when" sql -o /dev/null -f "$script" >>"$home/returned.$1" || { echo "a statement failed in $script" >&2; return 1; }
  done
}

# Waits until the log's collector has written everything, then imports it.
import() {
  local wanted tries=100
  sql -v log="$home/server.csv" -f import.sql
  wanted=$(sql -c "SELECT count(*) FROM demo.statement")
  while [ "$(sql -c "SELECT count(*) FROM demo.logged_statement l WHERE l.sql IN (SELECT t.sql || ';' FROM demo.statement t)")" -lt "$wanted" ]; do
    if [ $((tries -= 1)) -le 0 ]; then echo "the server's log is incomplete" >&2; exit 1; fi
    sleep 0.1
  done
  sql -F ' ' -c "
    SELECT 'logged statements:', count(*), 'of which with an abstraction:',
           privacy_score.import_statements('SELECT * FROM demo.logged_statement ORDER BY role, at')
      FROM demo.logged_statement"
}

# measure_half FROM_DAY TO_DAY HELD_OUT HALF
measure_half() { sql -o /dev/null -c "SELECT demo.measure_half($4, $1, $2, $3)"; }

# Days 6 to 10 against those before them, then the others against all ten.
measure() {
  local day
  sql -1 -o /dev/null -f measure.sql
  for day in 6 7 8 9 10; do
    in_halves measure_half $day $day true
    sql -o /dev/null -c "SELECT demo.set_baselines($day)"
  done
  in_halves measure_half 11 14 false
  sql -1 -o /dev/null -f culprits.sql
}

main() {
  local role
  step "a throw-away server with CSV logging"
  start_server
  sql -d postgres -c "CREATE DATABASE hospital"
  step "the hospital: 6,000 patients, 240 staff, six analysts"
  sql -1 -f schema.sql -f data.sql
  sql -1 -o /dev/null -f protect.sql
  step "fourteen days of work, drawn from fixed keys"
  sql -1 -o /dev/null -f workload.sql -f attacks.sql
  # Replayed statements must not count for today as well: they become history through the log.
  for role in "${analysts[@]}"; do sql -c "ALTER ROLE $role SET privacy_score.mode = 'off'"; done
  step "$(sql -F ' ' -c "SELECT count(DISTINCT session_id), 'sessions,', count(*), 'statements through real connections' FROM demo.statement")"
  replay
  for role in "${analysts[@]}"; do sql -c "ALTER ROLE $role RESET privacy_score.mode"; done
  step "the server's log becomes history on faked days"
  import
  step "baselines and scores"
  measure
  table -f poster.sql -f report.sql -f alarms.sql
  heading "9. Live: a limit for nurse_anna, in warn mode"
  . ./live.sh
  heading "10. Counts for somebody who may not read a row"
  . ./counts.sh
  table -f release.sql
  sql -c "SELECT privacy_score.report(NULL, demo.date_of(1), privacy_score.today())" >report.html
  sql -c "SELECT privacy_score.score_chart('nurse_anna', demo.date_of(1), privacy_score.today())" >report.svg
  step "done"
  echo
  echo "found: $(sql -f found.sql)"
  echo "page:  demo/report.html is for a browser; demo/report.txt is this text, demo/report.svg nurse_anna's chart"
  echo 'next:  your own server: "Start in 60 seconds" in README.md; what each section above says: demo/README.md'
}

main 2>&1 | tee report.txt

# lib.sh - what a shell test needs: throw-away servers, short queries, checks. Sourced by test/shell/*.sh and test/attack.sh.
#
#   #!/bin/bash
#   . "$(dirname "$0")/../lib.sh"
#   start_server                                    # or: start_server "privacy_score.mode = 'warn'" ...
#   check "it answers" "$(q "SELECT 1")" "1"
#   done_testing
#
# Runs below scripts/sandbox.sh ("make shell T=name"). A server listens on a unix socket only; its superuser is
# "postgres", its database "postgres", the extension is preloaded but not created. All servers stop when the script
# ends. A script that ends without done_testing counts as one failure.
#
# What a script waits for it waits for by asking, never by the clock: an end, such as wait_for's, is for a server that hangs.
# PS_LONG=1 ("make test-long") asks for the long form of a script that has two.

# shellcheck shell=bash
set -u -o pipefail

: "${PS_TMP:?run this through make shell}" "${PS_BINDIR:?}"
ps_test=$(basename "${0%.sh}")
ps_passed=0
ps_failed=0
ps_finished=
ps_servers=()
export PGUSER=postgres PGDATABASE=postgres PGPORT=5432 PGHOST PGDATA PGOPTIONS=

# Which server it is, and what differs by that in more than one test: the setting that makes plans use workers.
ps_major=$("$PS_BINDIR/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
if [ "$ps_major" -ge 16 ]; then forced_parallel=debug_parallel_query; else forced_parallel=force_parallel_mode; fi

# by_length SHORT LONG: prints which of them is asked for.
by_length() { if [ -n "${PS_LONG:-}" ]; then echo "$2"; else echo "$1"; fi; }

# --- servers ----------------------------------------------------------------------------------------------------------

# Directs everything that follows to the server of that name (the first one is "main").
use_server() {
  ps_home=$PS_TMP/$ps_test.$1
  PGDATA=$ps_home/data
  PGHOST=$ps_home
  ps_log=$ps_home/log
}

# Makes the cluster that all others are copies of, unless it is there: scripts that run side by side share it.
ps_template=${PS_TEMPLATE:-$PS_TMP/template}
make_template() {
  [ -d "$ps_template" ] ||
    "$PS_BINDIR/initdb" -D "$ps_template" -U postgres -A trust -N -E UTF8 --locale=C.UTF-8 >"$ps_template.log" 2>&1
}

# The time zone of the servers. Days, sessions and baselines end at midnight in it: when that is near in UTC it is another
# one, in which it is over, so that none comes while a script runs.
ps_zone=UTC
if [ "$(date -u +%H)" -ge 22 ]; then ps_zone='<+03>-3'; fi

# Makes a fresh cluster with the given configuration lines and starts it. A second call makes it anew.
start_server() {
  if [ -d "$ps_home" ]; then
    stop_server immediate
    rm -rf "$ps_home"
  fi
  mkdir -p "$ps_home"
  make_template || bail_out "initdb failed: $(tail -n 3 "$ps_template.log")"
  cp -a "$ps_template" "$PGDATA"
  conf "listen_addresses = ''" "unix_socket_directories = '$ps_home'" "fsync = off" "max_connections = 40" \
    "shared_buffers = '32MB'" "timezone = '$ps_zone'" "log_timezone = '$ps_zone'" \
    "lc_messages = 'C'" "log_line_prefix = '%m [%p] %q%u@%d '" \
    "shared_preload_libraries = 'privacy_score'" "privacy_score.flush_interval = '100ms'" \
    "privacy_score.baseline_min_sessions = 0" "$@"
  resume_server
}

# Starts the current server again on the data it has.
resume_server() {
  "$PS_BINDIR/pg_ctl" start -s -w -t 60 -D "$PGDATA" -l "$ps_log" </dev/null >/dev/null 2>&1 ||
    bail_out "the server did not start: $(tail -n 5 "$ps_log")"
  case " ${ps_servers[*]:-} " in *" $PGDATA "*) ;; *) ps_servers+=("$PGDATA") ;; esac
}

# stop_server [fast|immediate|smart]
stop_server() {
  if [ -f "$PGDATA/postmaster.pid" ]; then
    "$PS_BINDIR/pg_ctl" stop -s -w -m "${1:-fast}" -D "$PGDATA" </dev/null >/dev/null 2>&1
  fi
}

# restart_server [fast|immediate|smart]
restart_server() {
  stop_server "${1:-fast}"
  resume_server
}

# kill9_backend PID: of one process, and waits until the server has ended all others: until then they may go on.
kill9_backend() {
  local before
  before=$(crashes)
  kill -9 "$1"
  wait_until has_crashed_since "$before"
}
crashes() { grep -c 'all server processes terminated' "$ps_log"; }
has_crashed_since() { [ "$(crashes)" -gt "$1" ]; }

# Kills the postmaster with SIGKILL and waits until its children are gone, as after a crash. One that ended with a lock of
# its own may leave others waiting for it who do not look after the postmaster: an administrator would end those, too.
kill9_server() {
  local pid child children tries=400
  pid=$(head -n 1 "$PGDATA/postmaster.pid")
  children=$(cat "/proc/$pid/task/$pid/children")
  kill -9 "$pid"
  for child in $pid $children; do
    while grep -qsE '^State:[[:space:]]+[^ZX[:space:]]' "/proc/$child/status"; do
      if [ $((tries -= 1)) -le 0 ]; then kill -9 "$child" 2>/dev/null; fi
      sleep 0.05
    done
  done
  # Until somebody has waited for the postmaster, the next one takes it for running.
  for ((tries = 200; tries > 0; --tries)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
}

# Makes a hot standby NAME of the current server and switches to it.
start_standby() {
  local primary=$PGHOST
  use_server "$1"
  mkdir -p "$ps_home"
  "$PS_BINDIR/pg_basebackup" -h "$primary" -D "$PGDATA" -c fast -R -X stream >>"$ps_home/log" 2>&1 ||
    bail_out "pg_basebackup failed: $(tail -n 3 "$ps_home/log")"
  conf "unix_socket_directories = '$ps_home'" "primary_conninfo = 'host=$primary port=$PGPORT user=postgres'"
  resume_server
}

# Appends lines to the server's configuration; restart_server or reload_server puts them in force.
conf() { printf '%s\n' "$@" >>"$PGDATA/postgresql.conf"; }
reload_server() { "$PS_BINDIR/pg_ctl" reload -s -D "$PGDATA"; }

# Succeeds when the server's log has a line that matches the extended regular expression.
log_has() { grep -qE -- "$1" "$ps_log"; }

# compile_support NAME: sets `module` to a library made of test/support/NAME.c.
compile_support() {
  module=$PS_TMP/$1.so
  ${CC:-cc} -O2 -shared -fPIC -I "$PS_HEADERS" -o "$module" "$(dirname "${BASH_SOURCE[0]}")/support/$1.c" -ldl || bail_out "$1.c does not compile"
}

# --- queries ----------------------------------------------------------------------------------------------------------

# Runs statements in one session and prints the rows, fields separated by |. Stops at the first error and prints it as
# "ERROR: message", so that a check shows it. Notices go to the script's log.
q() {
  local statement line arguments=() errors status=0
  for statement in "$@"; do arguments+=(-c "$statement"); done
  # A test asks hundreds of times, so this starts psql and nothing else.
  { errors=$("$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 "${arguments[@]}" </dev/null 2>&1 >&3 3>&-) || status=$?; } 3>&1
  if [ -n "$errors" ]; then
    if [ $status -ne 0 ]; then
      while IFS= read -r line; do
        case $line in
          "ERROR:  "* | "FATAL:  "*) echo "${line%%:*}: ${line#*:  }" ;;
          "psql: error: "*) echo "$line" ;;
        esac
      done <<<"$errors"
    fi
    printf '%s\n' "$errors" >&2
  fi
  return $status
}

# Like q, and prints notices, warnings, details and hints too.
q_all() {
  local statement arguments=()
  for statement in "$@"; do arguments+=(-c "$statement"); done
  "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 "${arguments[@]}" </dev/null 2>&1
}

# Prints the SQLSTATE that the statements end with: 00000 when they succeed.
q_state() {
  local statement
  {
    for statement in "$@"; do printf '%s;\n' "$statement"; done
    printf '\\echo sqlstate :SQLSTATE\n'
  } | "$PS_BINDIR/psql" -XAtq 2>/dev/null | sed -n 's/^sqlstate //p'
}

# Runs a psql script from standard input.
q_script() { "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -f - 2>&1; }

# as ROLE COMMAND...: runs a command of these as that role. on DATABASE COMMAND...: in that database.
as() { local -x PGUSER=$1; shift; "$@"; }
on() { local -x PGDATABASE=$1; shift; "$@"; }

# wait_for "SQL" "expected" [seconds]: asks until the answer is as expected; gives up after minutes, which only a hang takes.
wait_for() {
  local tries=0 end=$((SECONDS + ${3:-300}))
  while [ "$(q "$1" 2>/dev/null)" != "$2" ]; do
    if [ $SECONDS -ge $end ]; then echo "waited in vain: $1" >&2; return 1; fi
    if [ $((tries += 1)) -lt 20 ]; then sleep 0.05; else sleep 0.2; fi
  done
}

# wait_until COMMAND...: the same of a command that succeeds; wait_for_line FILE REGEX: of a file that has such a line.
wait_until() {
  local tries=0
  until "$@"; do
    if [ $((tries += 1)) -gt 4000 ]; then echo "waited in vain: $*" >&2; return 1; fi
    sleep 0.05
  done
}
wait_for_line() { wait_until grep -qsE -- "$2" "$1"; }

# --- checks -----------------------------------------------------------------------------------------------------------

pass() {
  ps_passed=$((ps_passed + 1))
  echo "ok      $ps_test: $1"
}

# fail "description" [line...]
fail() {
  ps_failed=$((ps_failed + 1))
  echo "FAILED  $ps_test: $1"
  shift
  if [ $# -gt 0 ]; then printf '          %s\n' "$@"; fi
}

# skip "what": says at the end of the whole run that this was left out.
skip() { echo "skipped: $ps_test: $1"; }

# check "description" "actual" "expected"
check() {
  if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got:      $2" "expected: $3"; fi
}

# check_match "description" "actual" "extended regular expression"
check_match() {
  if [[ $2 =~ $3 ]]; then pass "$1"; else fail "$1" "got:           $2" "should match:  $3"; fi
}

# check_true "description" COMMAND...: the command succeeds.
check_true() {
  local description=$1
  shift
  if "$@"; then pass "$description"; else fail "$description" "not so: $*"; fi
}

# No statement and no rate failed to be scored, and no record was lost; the server's log says what did. With a reason to
# expect losses, check_scored "scoring_errors".
check_scored() {
  local wrong
  wrong=$(q "SELECT ${1:-scoring_errors + dropped} FROM privacy_score.stat_info")
  if [ "$wrong" = 0 ]; then pass "nothing went wrong while scoring"; return; fi
  fail "nothing went wrong while scoring" "faults: $wrong" "$(grep -E 'could not (score|compute)' "$ps_log" | head -n 5)"
}

# Gives up: one failure, and the rest of the script is not run.
bail_out() {
  fail "$1"
  ps_finished=yes
  exit 1
}

done_testing() {
  ps_finished=yes
  exit 0
}

ps_at_exit() {
  local data
  trap '' INT TERM HUP PIPE
  if [ -z "$ps_finished" ]; then fail "the script reaches its end"; fi
  for data in ${ps_servers[@]+"${ps_servers[@]}"}; do
    PGDATA=$data stop_server "${PS_STOP:-immediate}"
  done
  echo "passed $ps_passed failed $ps_failed"
}
trap ps_at_exit EXIT
trap 'exit 130' INT TERM HUP PIPE

use_server main

#!/bin/bash
# drivers.sh - drivers of applications behind PgBouncer: the same tokens from each, every statement counted once, for the right
# end user, also where it was prepared for another. The short form asks those of Python; the long one node-postgres, postgres.js
# and JDBC, too.
. "$(dirname "$0")/../lib.sh"

support=$(cd "$(dirname "${BASH_SOURCE[0]}")/../support/drivers" && pwd)
for pgbouncer in pgbouncer /usr/sbin/pgbouncer; do command -v "$pgbouncer" >/dev/null && break; done
if ! command -v "$pgbouncer" >/dev/null; then skip "drivers behind PgBouncer: there is none"; fi

start_server "privacy_score.worker_stays = '1h'" "privacy_score.end_user_source = 'setting app.login'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE app LOGIN" "CREATE TABLE patients (id int PRIMARY KEY, name text, city text)" \
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 5 FROM generate_series(1, 100) i" "GRANT SELECT ON patients TO app" \
  "SELECT privacy_score.protect('patients', 'id')" "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" >/dev/null || bail_out "the tables cannot be made"
begin_anew() { q "DROP EXTENSION privacy_score" "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('patients', 'id')" "SELECT privacy_score.flush()" >/dev/null; }

# start_pooler MODE: one connection to the server for all clients.
pooler_port=$((30000 + $$ % 20000))
start_pooler() {
  printf '%s\n' "[databases]" "postgres = host=$PGHOST port=$PGPORT" "[pgbouncer]" "listen_addr = 127.0.0.1" "unix_socket_dir = $PS_TMP" "listen_port = $pooler_port" "auth_type = trust" \
    "auth_file = $PS_TMP/users" "pool_mode = $1" "default_pool_size = 1" "server_reset_query = DISCARD ALL" "ignore_startup_parameters = extra_float_digits" \
    "logfile = $PS_TMP/pooler.log" "pidfile = $PS_TMP/pooler.pid" >"$PS_TMP/pooler.ini"
  echo '"app" ""' >"$PS_TMP/users"
  "$pgbouncer" -q "$PS_TMP/pooler.ini" &
  pooler=$!
  wait_until test -S "$PS_TMP/.s.PGSQL.$pooler_port"
}
stop_pooler() {
  kill "$pooler"
  wait "$pooler" 2>/dev/null
}
# What is recorded: "NAME EXECUTIONS TOKENS" a line.
recorded() {
  q "SELECT privacy_score.flush()" "SELECT COALESCE(s.end_user, '(none)') || ' ' || sum(x.run) || ' ' || array_to_string(a.tokens, ' ') FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
      ROWS FROM (unnest(p.ids), unnest(p.runs)) x(id, run) JOIN privacy_score.abstraction a ON a.id = x.id WHERE x.run > 0 GROUP BY s.end_user, a.id ORDER BY 1" | sed '/^$/d'
}
# The statement that names the person runs before there is a name, and reads nothing.
look_ups="(none) 20 cmd:select
alice 10 cmd:select p:public.patients.city t:public.patients w:public.patients.id
bob 10 cmd:select p:public.patients.city t:public.patients w:public.patients.id"
with_cursor="alice 1 cmd:select p:public.patients.name t:public.patients w:public.patients.id
${look_ups/20/21}"

# driver NAME EXPECTED COMMAND...: in transaction mode with statements that have no name, in session mode with such that do.
driver() {
  local name=$1 expected mode form
  expected=$(LC_ALL=C sort <<<"$2")
  shift 2
  for mode in transaction session; do
    if [ $mode = session ]; then form=named; else form=plain; fi
    begin_anew
    start_pooler $mode
    if ! PGHOST=$PS_TMP PGPORT=$pooler_port timeout 60 "$@" $form >"$PS_TMP/driver.out" 2>&1; then cat "$PS_TMP/driver.out" >&2; fi
    stop_pooler
    check "$name in $mode mode, statements $form" "$(recorded | LC_ALL=C sort)" "$expected"
  done
}

# install NAME...: packages of npm, in a folder of the test's. Node does not look at the certificates that the system trusts.
modules=$PS_TMP/modules
install() {
  local -x HOME=$modules NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
  mkdir -p "$modules"
  timeout 120 npm install --prefix "$modules" --no-audit --no-fund --fetch-retries=0 "$@" >"$PS_TMP/npm.out" 2>&1
}

if command -v "$pgbouncer" >/dev/null; then
  for name in psycopg2 psycopg3; do
    module=${name/psycopg3/psycopg}
    if /usr/bin/python3 -c "import $module" 2>/dev/null; then
      driver "$name" "$with_cursor" /usr/bin/python3 -P "$support/$name.py"
    else
      skip "$name: Debian's python3-$module is not there"
    fi
  done
  if [ -n "${PS_LONG:-}" ]; then
    for name in node_postgres postgres_js; do
      package=pg
      expected=$look_ups
      if [ $name = postgres_js ]; then package=postgres expected=$with_cursor; fi
      if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        skip "$name: there is no node or no npm"
      elif ! install $package; then
        skip "$name: npm cannot install it: $(grep -m 1 -E 'reason|error' "$PS_TMP/npm.out")"
      else
        NODE_PATH=$modules/node_modules driver $name "$expected" node "$support/$name.js"
      fi
    done
    jar=/usr/share/java/postgresql.jar
    if [ ! -e $jar ] || ! command -v javac >/dev/null; then
      skip "JDBC: there is no $jar or no Java compiler"
    else
      driver JDBC "$with_cursor" java -cp $jar "$support/Jdbc.java"
    fi
  fi
fi

check "nobody else is told apart" "$(q "SELECT count(*) FROM privacy_score.session WHERE role = 'app' AND end_user NOT IN ('alice', 'bob')")" 0
done_testing

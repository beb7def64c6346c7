# servers.sh - the servers that are compared: one for each library, with the same data. Sourced after lib.sh.
# shellcheck shell=bash

client=$programs/statements

# Makes the data once, on a server without any library, which is stopped.
prepare_data() {
  use_server data
  start_server "shared_preload_libraries = ''" "autovacuum = off" "shared_buffers = '64MB'"
  "$PS_BINDIR/pgbench" -i -q -s 1 >/dev/null 2>&1
  q_script >/dev/null <<'SQL' || bail_out "the data cannot be made"
CREATE SCHEMA clinic;
CREATE TABLE clinic.patients (id int PRIMARY KEY, name text, city text, birth date);
CREATE TABLE clinic.doctors (id int PRIMARY KEY, title text);
CREATE TABLE clinic.wards (id int PRIMARY KEY, name text, floor int);
CREATE TABLE clinic.visits (id int PRIMARY KEY, patient_id int REFERENCES clinic.patients, doctor_id int, ward_id int, at timestamp, cost int);
CREATE TABLE clinic.diagnoses (visit_id int REFERENCES clinic.visits, code text);
CREATE TABLE clinic.medications (visit_id int REFERENCES clinic.visits, dose int);
CREATE TABLE clinic.wide (id int PRIMARY KEY, c1 int, c2 int, c3 int, c4 int, c5 int, c6 int, c7 int, c8 int, c9 int, c10 int, c11 int, c12 int);
INSERT INTO clinic.patients SELECT i, 'name ' || i, 'city ' || i % 50, date '1940-01-01' + i FROM generate_series(1, 2000) i;
INSERT INTO clinic.doctors SELECT i, 'title ' || i % 5 FROM generate_series(1, 100) i;
INSERT INTO clinic.wards SELECT i, 'ward ' || i, i % 9 FROM generate_series(1, 40) i;
INSERT INTO clinic.visits SELECT i, i % 2000 + 1, i % 100 + 1, i % 40 + 1, timestamp '2024-01-01' + i * interval '1 minute', i % 997 FROM generate_series(1, 10000) i;
INSERT INTO clinic.diagnoses SELECT i, 'c' || i % 700 FROM generate_series(1, 10000) i;
INSERT INTO clinic.medications SELECT i, i % 2000 FROM generate_series(1, 10000) i;
INSERT INTO clinic.wide SELECT i, i % 2, i % 3, i % 5, i % 7, i % 11, i % 13, i % 17, i % 19, i % 23, i % 29, i % 31, i % 37 FROM generate_series(1, 200) i;
CREATE INDEX ON clinic.visits (patient_id);
CREATE INDEX ON clinic.diagnoses (visit_id);
CREATE INDEX ON clinic.medications (visit_id);
CREATE ROLE analyst LOGIN;
CREATE ROLE other LOGIN;
GRANT USAGE ON SCHEMA clinic TO analyst;
GRANT SELECT ON ALL TABLES IN SCHEMA public, clinic TO analyst;
VACUUM (FREEZE, ANALYZE);
SQL
  stop_server
}

# The library of a kind of server; none for the one that the others are compared with, and for its twin.
library_of() {
  case $1 in
    none | again) ;;
    auto_explain | pg_qualstats | pg_stat_statements | pgaudit) echo "$1" ;;
    *) echo privacy_score ;;
  esac
}

# Whether its library is installed.
has_library() {
  local library
  library=$(library_of "$1")
  [ -z "$library" ] || [ -e "$(pg_config --pkglibdir)/$library.so" ] || [ -e "${PS_BINDIR%/bin}/lib/$library.so" ]
}

# How each library is configured: so that it does for every statement what it is there for.
configuration_of() {
  echo "shared_preload_libraries = '$(library_of "$1")'"
  case $1 in
    pgaudit) printf '%s\n' "pgaudit.log = 'read'" "pgaudit.log_catalog = off" ;;
    pg_qualstats) echo "pg_qualstats.sample_rate = 1" ;;
    auto_explain) echo "auto_explain.log_min_duration = '1min'" ;;
    watched | unwatched) echo "privacy_score.flush_interval = '1s'" ;;
  esac
}

# What a library needs besides: its extension, what is protected, who is watched.
set_up() {
  case $1 in
    pg_stat_statements | pgaudit | pg_qualstats) q "CREATE EXTENSION $1" >/dev/null ;;
    watched | unwatched)
      q "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('pgbench_accounts'), privacy_score.protect('clinic.patients'), privacy_score.protect('clinic.wide')" \
        "SECURITY LABEL FOR privacy_score ON ROLE $([ "$1" = watched ] && echo analyst || echo other) IS 'watched'" >/dev/null
      q "SELECT privacy_score.flush()" >/dev/null
      ;;
  esac
}

# bench_server KIND: makes the server of a kind and starts it.
bench_server() {
  use_server "$1"
  mkdir -p "$ps_home"
  cp -a "$PS_TMP/$ps_test.data/data" "$PGDATA"
  mapfile -t lines < <(configuration_of "$1")
  conf "unix_socket_directories = '$ps_home'" "max_connections = 100" "${lines[@]}"
  resume_server
  set_up "$1"
}

# warm_up KIND: reads into the current server's memory what pgbench -S asks for, and has a session ask for the model, which
# the background makes after a start.
warm_up() {
  q "SELECT sum(abalance) FROM pgbench_accounts" "SET enable_seqscan = off" "SELECT count(aid) FROM pgbench_accounts" >/dev/null
  if [ "$(library_of "$1")" != privacy_score ]; then return; fi
  "$client" run point simple 20 "x=$(conninfo)" >/dev/null
  await_rates
}

# Starts the current server, which has been stopped, below callgrind; each process leaves its counts in callgrind.PID.
# Caches are simulated: 32 and 48 KB next to the processor, 2 MB behind them.
resume_below_callgrind() {
  local tries=1200
  valgrind --tool=callgrind --cache-sim=yes --I1=32768,8,64 --D1=49152,12,64 --LL=2097152,16,64 \
    --callgrind-out-file="$ps_home/callgrind.%p" --log-file=/dev/null \
    "$PS_BINDIR/postgres" -D "$PGDATA" >>"$ps_log" 2>&1 </dev/null &
  until "$PS_BINDIR/pg_isready" -q; do
    if [ $((tries -= 1)) -le 0 ]; then bail_out "the server does not start below callgrind"; fi
    sleep 0.1
  done
}

# conninfo KIND [ROLE]: of the current server.
conninfo() { echo "host=$PGHOST port=$PGPORT dbname=postgres user=${1:-analyst}"; }

# Lets the rates be computed that sessions on the current server have asked for: each that arrives makes them load all.
await_rates() {
  local before=-1 now
  for _ in $(seq 100); do
    q "SELECT privacy_score.flush()" >/dev/null
    now=$(q "SELECT count(*) FROM privacy_score.stat_cdr")
    if [ "$now" = "$before" ]; then return; fi
    before=$now
    sleep 1
  done
}

# Gives the role analyst a baseline of 10,100 n-grams on the current server, and lets the rates be computed that
# comparing the workload "pair" with it needs.
make_baseline() {
  "$client" run baseline simple 10201 "x=$(conninfo)" >/dev/null
  q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('analyst', privacy_score.today(), privacy_score.today())" >/dev/null
  "$client" run pair simple 4000 "x=$(conninfo)" >/dev/null
  await_rates
}

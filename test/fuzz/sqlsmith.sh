#!/bin/bash
# sqlsmith.sh - random statements against a server that watches: nothing crashes, nothing leaks, no fault is ours.
#
#   make sqlsmith [SECONDS=600]
#
# Three databases with the same tables get the same statements, each by one long connection: of a role that is watched in
# mode observe, of one in mode enforce with a limit, and of one that is not watched, which tells what memory the server
# itself takes for them. They ask for more rates than max_rates has room for. Every ten seconds the private memory of the three
# backends and of the workers is written down (results/sqlsmith_memory.txt, in kB). The server's log is left in
# results/sqlsmith_log.txt. Nothing is compiled: what LLVM keeps of that, tens of megabytes in each backend, would hide
# what we keep.
. "$(dirname "$0")/../lib.sh"

seconds=${PS_FUZZ_SECONDS:-600}
seed=${PS_FUZZ_SEED:-7}
mkdir -p results

start_server "log_error_verbosity = verbose" "log_min_error_statement = panic" "statement_timeout = 0" "max_connections = 60" \
  "max_worker_processes = 16" "privacy_score.flush_interval = '1s'" "autovacuum_naptime = '10s'" "jit = off" "privacy_score.max_rates = 1000"

# make_database NAME ROLE MODE: tables of every kind, protected, and a baseline of plain work. sqlsmith quotes no names.
make_database() {
  local role=$2
  q "CREATE DATABASE $1" "CREATE ROLE $role LOGIN" >/dev/null || bail_out "database $1 cannot be made"
  on "$1" q_script >/dev/null <<SQL || bail_out "the tables of $1 cannot be made"
CREATE EXTENSION privacy_score;
CREATE TABLE departments (id int PRIMARY KEY, name text, building text);
CREATE TABLE patients (id int PRIMARY KEY, mrn text UNIQUE, name text, city text, zip char(5), born date, weight numeric(5,1),
  tags text[], details jsonb, insured boolean, seen timestamptz, department int REFERENCES departments);
CREATE TABLE visits (id bigint PRIMARY KEY, patient int REFERENCES patients, at timestamptz, cost numeric, note text);
CREATE TABLE measurements (patient int, day date, value float8) PARTITION BY RANGE (day);
CREATE TABLE measurements_old PARTITION OF measurements FOR VALUES FROM (MINVALUE) TO ('2026-01-01');
CREATE TABLE measurements_new PARTITION OF measurements FOR VALUES FROM ('2026-01-01') TO (MAXVALUE);
CREATE TABLE salaries (staff name, pay money, since daterange);
INSERT INTO departments SELECT i, 'department ' || i, chr(64 + i) FROM generate_series(1, 9) i;
INSERT INTO patients SELECT i, 'm' || i, 'name ' || i % 37, 'city ' || i % 11, lpad((i % 50)::text, 5, '0'), date '1940-01-01' + i * 61,
  40 + i % 60, ARRAY['t' || i % 3, 't' || i % 5], jsonb_build_object('blood', i % 4, 'smokes', i % 2 = 0), i % 3 > 0,
  timestamptz '2026-01-01' + i * interval '1 hour', 1 + i % 9 FROM generate_series(1, 300) i;
INSERT INTO visits SELECT i, 1 + i % 300, timestamptz '2026-02-01' + i * interval '1 minute', i % 97, 'note ' || i FROM generate_series(1, 900) i;
INSERT INTO measurements SELECT 1 + i % 300, date '2025-07-01' + i % 365, i / 7.0 FROM generate_series(1, 600) i;
INSERT INTO salaries SELECT 'staff' || i, i, daterange(date '2020-01-01' + i, NULL) FROM generate_series(1, 20) i;
ALTER TABLE salaries ENABLE ROW LEVEL SECURITY;
CREATE POLICY cheap ON salaries USING (pay < 10::money);
CREATE VIEW insured AS SELECT id, name, city, born FROM patients WHERE insured;
CREATE VIEW costs WITH (security_barrier) AS SELECT p.city, sum(v.cost) AS cost, count(*) AS n FROM patients p JOIN visits v ON v.patient = p.id GROUP BY p.city;
CREATE MATERIALIZED VIEW towns AS SELECT DISTINCT city, zip FROM patients;
CREATE FUNCTION names_in(text) RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT name FROM patients WHERE city = \$1';
CREATE FUNCTION heaviest(int) RETURNS numeric LANGUAGE plpgsql STABLE AS 'BEGIN RETURN (SELECT max(weight) FROM patients WHERE department = \$1); END';
SELECT privacy_score.protect('patients'), privacy_score.protect('visits', '{patient}'), privacy_score.protect('measurements', '{patient}'),
  privacy_score.protect('salaries', '{staff}');
SECURITY LABEL FOR privacy_score ON COLUMN patients.name IS 'identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.city IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN visits.note IS 'sensitive';
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO $role;
GRANT USAGE ON SCHEMA privacy_score TO $role;
SELECT privacy_score.dp_grant('$role', 'patients', 1000);
SELECT privacy_score.analyze_relation('patients'), privacy_score.analyze_relation('visits');
SQL
  for statement in "SELECT city, count(*) FROM patients GROUP BY city" "SELECT name FROM patients WHERE id = 7" "TABLE costs" "SELECT at FROM visits"; do
    on "$1" as "$role" q "$statement" "SELECT count(*) FROM visits" >/dev/null || bail_out "$role cannot read"
  done
  on "$1" q "SELECT privacy_score.flush()" >/dev/null
  if [ "$3" != off ]; then
    on "$1" q "SELECT privacy_score.set_baseline('$role', privacy_score.today(), privacy_score.today())" >/dev/null || bail_out "no baseline for $role"
  fi
  q "ALTER ROLE $role SET privacy_score.mode = $3" >/dev/null
}
make_database observing watched observe
make_database enforcing limited enforce
make_database plain unwatched off
q "ALTER ROLE limited SET privacy_score.session_limit = 60" "ALTER ROLE watched SET privacy_score.daily_limit = 5" >/dev/null

# --- statements, and memory meanwhile ---------------------------------------------------------------------------------
# Their transactions are rolled back. A fault of sqlsmith's own, or of the server, begins a new connection.
smith() {
  local left=$((seconds - SECONDS + started)) round=0
  while [ $left -gt 0 ]; do
    timeout "$left" sqlsmith --target="host=$PGHOST port=$PGPORT user=$2 dbname=$1" --seed=$((seed + round)) --exclude-catalog --verbose \
      >>"$PS_TMP/$1.out" 2>&1
    echo "connection of $1 ended after $((SECONDS - started)) s" >>"$PS_TMP/connections"
    round=$((round + 1))
    left=$((seconds - SECONDS + started))
  done
}
# Private memory in kB.
private() { awk '/^Private_/ { sum += $2 } END { print sum + 0 }' "/proc/$1/smaps_rollup" 2>/dev/null; }
sample() {
  local role pid
  q "SELECT CASE WHEN backend_type = 'client backend' THEN usename::text ELSE 'worker of ' || datname END, pid FROM pg_stat_activity
     WHERE usename IN ('watched', 'limited', 'unwatched') OR backend_type LIKE 'privacy_score worker%' ORDER BY 1" |
    while IFS='|' read -r role pid; do echo "$((SECONDS - started)) ${role// /_} $pid $(private "$pid")"; done
}

started=$SECONDS
# A session's memory goes up and down by megabytes, since it is cut when it has become long: its least is found by many samples.
pause=$((seconds < 160 ? seconds / 16 + 1 : 10))
smith observing watched &
smith enforcing limited &
smith plain unwatched &
echo "seconds process pid private_kB" >results/sqlsmith_memory.txt
sleep 5
looked=-60
while [ $((SECONDS - started)) -lt $((seconds - 10)) ]; do
  sample >>results/sqlsmith_memory.txt
  # Looked at each minute as administrators do, meanwhile.
  if [ $((SECONDS - looked)) -ge 60 ]; then
    looked=$SECONDS
    for database in observing enforcing; do
      on $database q "SELECT count(*) FROM privacy_score.stat_sessions, privacy_score.stat_roles" "SELECT count(*) FROM privacy_score.alerts" \
        >/dev/null || fail "the views of $database can be read"
    done
  fi
  left=$((seconds - 10 - SECONDS + started))
  if [ $left -gt 0 ]; then sleep $((left < pause ? left : pause)); fi
done
sample >>results/sqlsmith_memory.txt
executed() { q "SELECT xact_rollback FROM pg_stat_database WHERE datname = '$1'"; }
wait
# A client that is told to end leaves its backend without one.
faults=$(grep -E "terminated by signal|PANIC:|FATAL:" "$ps_log" | grep -v "FATAL:  08006" | head -n 20)

# --- what is to hold ----------------------------------------------------------------------------------------------------
for database in observing enforcing plain; do echo "transactions in $database: $(executed $database)"; done
# From history: sessions have ended by now, on a busy machine before anybody could look at them.
counted() { on "$1" q "SELECT coalesce(sum(queries), 0) FROM privacy_score.session WHERE role = '$2'"; }
for database in observing enforcing; do
  on $database q "SELECT privacy_score.flush()" >/dev/null || fail "$database can be written"
  echo "$database: $(on $database q "SELECT 'events ' || events || ', faults ' || scoring_errors || ', dropped ' || dropped || ', evictions ' || evictions || ', memory ' || memory_used FROM privacy_score.stat_info")"
  echo "$database: $(on $database q "SELECT string_agg(kind || (CASE WHEN blocked THEN ' blocked ' ELSE ' ' END) || n, ', ') FROM (SELECT kind, blocked, count(*) AS n FROM privacy_score.alerts GROUP BY 1, 2) a")"
  on $database check_scored
done
echo "statements counted: watched $(counted observing watched), limited $(counted enforcing limited)"
check_true "statements of the watched role are counted" test "$(counted observing watched)" -gt 10
check_true "statements of the limited role are counted" test "$(counted enforcing limited)" -gt 10
check_true "statements were refused" test "$(on enforcing q "SELECT count(*) FROM privacy_score.alerts WHERE blocked")" -gt 0
check_true "the watched role has an alert" test "$(on observing q "SELECT count(*) FROM privacy_score.alerts")" -gt 0
check "no process ended by a fault" "$faults" ""
# Lines of a process follow one another, with those of others between.
internal=$(awk '{ match($0, /\[[0-9]+\]/); process = substr($0, RSTART, RLENGTH) }
  /(ERROR|WARNING|LOG):  XX/ { fault[process] = $0 }
  /LOCATION:/ { if (fault[process] && /\.[ch]pp:/) print fault[process], $0; fault[process] = "" }' "$ps_log" | head -n 20)
check "no internal error is of this module" "$internal" ""
echo "internal errors of the server itself: $(grep -cE "ERROR:  XX000" "$ps_log")"
check "each statement's connection lasted" "$(sort "$PS_TMP/connections" | awk -v s="$seconds" '$6 < s - 5')" ""

# growth PROCESS: kB from the third quarter of the time to the last, each at its least: caches are full by then, and a
# worker that scores a long session anew needs memory for a moment. sqlsmith has a second connection, which does nothing;
# a worker that found nothing to do has ended, and another goes on.
growth() {
  awk -v p="$1" -v s="$seconds" '$2 == p && $4 > 0 { value[$3, $1] = $4; if ($4 > most) { most = $4; process = $3 } }
    END {
      for (sample in value) {
        split(sample, key, SUBSEP)
        quarter = int(4 * key[2] / s)
        if ((key[1] == process || p ~ /^worker/) && (!(quarter in least) || value[sample] < least[quarter])) least[quarter] = value[sample]
      }
      print (2 in least) && (3 in least) ? least[3] - least[2] : "unknown"
    }' results/sqlsmith_memory.txt
}
for process in watched limited unwatched worker_of_observing worker_of_enforcing; do
  echo "$process: $(growth $process) kB more in the last quarter than in the third"
  if [ "$seconds" -ge 600 ]; then check_match "memory of $process was seen in both" "$(growth $process)" '^-?[0-9]+$'; fi
done
if [ "$seconds" -ge 1800 ]; then
  for process in watched limited; do
    check_true "memory of role $process grows no faster than without watching" \
      test "$(growth $process)" -le $(($(growth unwatched) + 8192))
  done
fi
if [ "$seconds" -ge 600 ]; then
  for process in worker_of_observing worker_of_enforcing; do
    check_true "memory of the $process is flat" test "$(growth $process)" -le 8192
  done
fi
cp "$ps_log" results/sqlsmith_log.txt
tail -n 3 "$PS_TMP"/*.out | tail -n 40 >results/sqlsmith_out.txt
done_testing

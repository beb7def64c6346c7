#!/bin/bash
# noisy_elsewhere.sh - noisy counts where rows, clock or server are not the usual ones: foreign tables, foreign
# partitions and views of them; a clock that is really set; a server that pg_upgrade has made.
. "$(dirname "$0")/../lib.sh"

# --- foreign tables and views -----------------------------------------------------------------------------------------
start_server "max_connections = 100"
q "CREATE DATABASE shard" "CREATE EXTENSION privacy_score" "CREATE EXTENSION postgres_fdw" "CREATE ROLE owner LOGIN SUPERUSER" "CREATE ROLE alice LOGIN" "CREATE ROLE remote LOGIN" >/dev/null
on shard q "CREATE TABLE stays (id int, ward text, days int)" "INSERT INTO stays SELECT i, 'w' || i % 4, i % 10 FROM generate_series(1, 1000) i" \
  "CREATE VIEW failing AS SELECT id, 1 / (id - 7) AS x FROM stays" "GRANT SELECT ON stays, failing TO remote" >/dev/null
as owner q "CREATE SERVER shard FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', port '$PGPORT', dbname 'shard')" \
  "CREATE USER MAPPING FOR owner SERVER shard OPTIONS (user 'remote', password_required 'false')" "CREATE FOREIGN TABLE far (id int, ward text, days int) SERVER shard OPTIONS (table_name 'stays')" \
  "CREATE FOREIGN TABLE failing (id int, x int) SERVER shard OPTIONS (table_name 'failing')" "CREATE TABLE mixed (id int, ward text, days int) PARTITION BY RANGE (id)" \
  "CREATE FOREIGN TABLE mixed_far PARTITION OF mixed FOR VALUES FROM (1) TO (1001) SERVER shard OPTIONS (table_name 'stays')" "CREATE TABLE mixed_here PARTITION OF mixed FOR VALUES FROM (1001) TO (2001)" \
  "INSERT INTO mixed_here SELECT i, 'w' || i % 4, i % 10 FROM generate_series(1001, 1500) i" "CREATE VIEW seen AS SELECT f.ward, f.days, m.id FROM far f JOIN mixed m USING (id)" >/dev/null
for relation in far mixed seen failing; do as owner q "SELECT privacy_score.dp_grant('alice', '$relation', 100000)" >/dev/null; done
check "alice cannot read the foreign table" "$(as alice q_state "SELECT count(*) FROM far")" 42501
ask() { as alice q "SELECT privacy_score.$1"; }
check "a foreign table is counted" "$(ask "dp_count('far', 'ward = ''w1'' AND days < 5', 50)")" 100
check "all of it" "$(ask "dp_count('far', epsilon => 50)")" 1000
check "LIKE, IN, NULL and NOT" "$(ask "dp_count('far', 'ward LIKE ''w_'' AND NOT days IN (1, 2) AND ward IS NOT NULL', 50)")" 800
check "a partitioned table with a foreign partition" "$(ask "dp_count('mixed', 'ward = ''w1''', 50)")" 375
check "a view of both" "$(ask "dp_count('seen', 'ward = ''w1'' AND id <= 40', 50)")" 10
check "a histogram of it" "$(as alice q "SELECT * FROM privacy_score.dp_histogram('mixed', 'ward', 50, '{w0,w9}')")" "w0|375
w9|0"
check "a sum" "$(ask "dp_sum('far', 'days', 0, 9, 1000)")" 4500
check "distinct values" "$(ask "dp_count_distinct('seen', 'ward', 50)")" 4
check "paid for" "$(q "SELECT sum(spent) FROM privacy_score.dp_budget")" 1350
check "repeated without asking the other server" "$(as owner q "ALTER SERVER shard OPTIONS (SET dbname 'nosuch')" >/dev/null; ask "dp_count('far', 'days < 5 AND ward = ''w1''', 50)")" 100
check_match "an other server that does not answer is an error" "$(as alice q_all "SELECT privacy_score.dp_count('far', 'id = 1', 50)")" "^ERROR:  could not read relation \"far\""
as owner q "ALTER SERVER shard OPTIONS (SET dbname 'shard')" >/dev/null
check_match "a row that fails there does not tell which" "$(as alice q_all "SELECT privacy_score.dp_count('failing', 'x > 0', 50)")" "^ERROR:  could not read relation \"failing\" for a noisy answer.DETAIL:  The question is charged: rows may have been read..HINT:  The server log says what went wrong.$"
check "both are charged: rows may have been read" "$(q "SELECT sum(spent) FROM privacy_score.dp_budget")" 1450
check "a unit over both servers" "$(as owner q "SELECT privacy_score.dp_grant('alice', 'mixed', 100000, unit => 'ward', max_rows_per_unit => 100)" >/dev/null; ask "dp_count('mixed', 'days < 5', 1000)")" 400
q "SELECT privacy_score.protect('far')" "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'dp only'" >/dev/null
check "a role labelled dp only asks" "$(ask "dp_count('far', 'id <= 3', 50)") $(ask "dp_count('seen', 'id <= 3', 50)")" "3 3"
check "but reads nothing else" "$(q "GRANT SELECT ON far TO alice" "CREATE USER MAPPING FOR alice SERVER shard OPTIONS (user 'remote', password_required 'false')" >/dev/null; as alice q_state "SELECT count(*) FROM far")" PS001
q "SECURITY LABEL FOR privacy_score ON ROLE alice IS NULL" >/dev/null

# --- pg_upgrade -------------------------------------------------------------------------------------------------------
q "DROP DATABASE shard" "DROP SERVER shard CASCADE" "CREATE TABLE local AS SELECT i AS id FROM generate_series(1, 100) i" "SELECT privacy_score.dp_grant('alice', 'local', 1000, '10 years', delta => 0.001)" >/dev/null
as alice q "SELECT privacy_score.dp_count('local', 'id <= 10', 50)" "SELECT count(*) FROM privacy_score.dp_histogram('local', 'id', 1, delta => 0.0004)" >/dev/null
budgets="SELECT string_agg((b.role, b.relation, b.epsilon, b.spent, b.left, b.delta, b.delta_left, b.period_ends)::text, E'\n' ORDER BY b::text) FROM privacy_score.dp_budget b"
ledger="SELECT count(*), sum(epsilon), sum(delta), max(at) FROM privacy_score.release"
budgets_before=$(q "$budgets")
ledger_before=$(q "$ledger")
stop_server
old=$PGDATA
use_server upgraded
mkdir -p "$ps_home"
cp -a "$ps_template" "$PGDATA"
conf "unix_socket_directories = '$ps_home'" "listen_addresses = ''" "fsync = off" "timezone = '$ps_zone'" "shared_preload_libraries = 'privacy_score'" "privacy_score.flush_interval = '100ms'"
(cd "$ps_home" && env -u PGHOST -u PGDATA -u PGPORT "$PS_BINDIR/pg_upgrade" -b "$PS_BINDIR" -B "$PS_BINDIR" -d "$old" -D "$PGDATA" -U postgres -s "$ps_home") >"$PS_TMP/upgrade.out" 2>&1
check "pg_upgrade goes through" "$(grep -c 'Upgrade Complete' "$PS_TMP/upgrade.out")" 1
resume_server
check "spent stays spent" "$(q "$budgets")" "$budgets_before"
check "the ledger is whole" "$(q "$ledger")" "$ledger_before"
check "a question that was answered is repeated" "$(as alice q "SELECT noisy_count, repeated FROM privacy_score.dp_count_detail('local', 'NOT id > 10', 50)")" "10|t"
check "another is charged to the same budget" "$(as alice q "SELECT noisy_count, epsilon_left FROM privacy_score.dp_count_detail('local', 'id <= 11', 50)")" "11|899"
check "granting again does not forget" "$(q "SELECT privacy_score.dp_grant('alice', 'local', 100, '10 years', delta => 0.001)" "SELECT spent, delta_left FROM privacy_score.dp_budget WHERE relation = 'local'::regclass" | tail -n 1)" "101|0.0006"

# --- a clock that is really set -----------------------------------------------------------------------------------------
# The server reads the time by gettimeofday(); a library that is loaded before the C library adds the seconds that a file
# says. Timeouts do not follow: they are the kernel's. While another file is there, the
# accountant cannot attach to shared memory.
cat >"$PS_TMP/clock.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
int gettimeofday(struct timeval *tv, void *zone) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = (int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(tv, zone);
  char text[32] = "";
  int file = open(CLOCK_FILE, O_RDONLY);
  if (file >= 0 && read(file, text, sizeof text - 1) > 0) tv->tv_sec += atoll(text);
  if (file >= 0) close(file);
  return result;
}
int shm_open(const char *name, int flags, mode_t mode) {
  static int (*real)(const char *, int, mode_t);
  if (!real) real = (int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, "shm_open");
  char title[256] = "";
  int file = flags & O_CREAT || access(CLOCK_FILE ".full", F_OK) != 0 ? -1 : open("/proc/self/cmdline", O_RDONLY);
  if (file >= 0 && read(file, title, sizeof title - 1) < 0) title[0] = 0;
  if (file >= 0) close(file);
  if (!strstr(title, "accountant")) return real(name, flags, mode);
  errno = EMFILE;
  return -1;
}
C
if gcc -shared -fPIC -DCLOCK_FILE="\"$PS_TMP/clock\"" -o "$PS_TMP/clock.so" "$PS_TMP/clock.c" -ldl 2>"$PS_TMP/clock.err"; then
  set_clock() { echo "$1" >"$PS_TMP/clock.new" && mv "$PS_TMP/clock.new" "$PS_TMP/clock"; }
  set_clock 0
  stop_server
  LD_PRELOAD=$PS_TMP/clock.so resume_server
  hour=3600
  q "SELECT privacy_score.dp_grant('alice', 'local', 101.5, '1 day', delta => 0.001)" >/dev/null
  state() { q "SELECT spent, \"left\", delta_left, spent_ever FROM privacy_score.dp_budget WHERE relation = 'local'::regclass"; }
  timed() { as alice q "SELECT epsilon_spent FROM privacy_score.dp_count_detail('local', 'id > -$1', ${2:-0.5})" | sed 's/:.*//'; }
  check "the clock can be set" "$(set_clock $((48 * hour)); q "SELECT (clock_timestamp() - '$(date -u +'%F %T')+00'::timestamptz) BETWEEN '47:59' AND '48:01'"; set_clock 0)" t
  check "a new length of period takes along what is spent" "$(state)" "101|0.5|0.0006|101"
  check "the rest of the first day" "$(timed 1) $(timed 2) $(state)" "0.5 ERROR 101.5|0|0.0006|101.5"
  set_clock $((23 * hour))
  check "an hour before its end" "$(timed 2) $(state)" "ERROR 101.5|0|0.0006|101.5"
  set_clock $((25 * hour))
  check "on the second day there is all of it" "$(state)" "0|101.5|0.001|101.5"
  check "and it is spent" "$(timed 2 101) $(timed 3) $(timed 4) $(state)" "101 0.5 ERROR 101.5|0|0.001|203"
  set_clock 0
  check "set back, nothing comes back" "$(timed 4) $(state)" "ERROR 101.5|0|0.001|203"
  set_clock $((-8760 * hour))
  check "a year back neither" "$(timed 4) $(state)" "ERROR 101.5|0|0.001|203"
  set_clock 0 # pg_ctl does not believe in a server of last year
  stop_server
  LD_PRELOAD=$PS_TMP/clock.so resume_server
  set_clock $((-8760 * hour))
  check "also when the server has been started again" "$(timed 4) $(state)" "ERROR 101.5|0|0.001|203"
  check "nor by granting again then" "$(q "SELECT privacy_score.dp_grant('alice', 'local', 101.5, '1 day', delta => 0.001)" >/dev/null; timed 4; state)" "ERROR
101.5|0|0.001|203"
  check "nor with another length of period" "$(q "SELECT privacy_score.dp_grant('alice', 'local', 101.5, '1 hour', delta => 0.001)" >/dev/null; timed 4; state)" "ERROR
101.5|0|0.001|203"
  set_clock $((25 * hour))
  check "which begins when it was latest" "$(q "SELECT period_ends > '$(date -u -d '+25 hours' +'%F %T')+00' FROM privacy_score.dp_budget WHERE relation = 'local'::regclass") $(timed 4) $(state)" "t ERROR 101.5|0|0.001|203"
  q "SELECT privacy_score.dp_grant('alice', 'local', 101.5, '1 day', delta => 0.001)" >/dev/null
  set_clock $((47 * hour))
  check "nor before a day has passed" "$(timed 4) $(state)" "ERROR 101.5|0|0.001|203"
  set_clock $((50 * hour))
  check "on the next day there is all of it again" "$(timed 4) $(state)" "0.5 0.5|101|0.001|203.5"
  check "answers of other days are free at any time" "$(set_clock $((-100 * hour)); as alice q "SELECT epsilon_spent, repeated FROM privacy_score.dp_count_detail('local', 'id > -3', 0.5)")" "0|t"
  set_clock 0
  timed 90 0.001 >/dev/null # the accountant runs
  touch "$PS_TMP/clock.full"
  for i in 1 2 3; do timed $((90 + i)) 0.001 >"$PS_TMP/waits.$i" & done
  check_true "the accountant cannot open orders" wait_until log_has "could not open shared memory segment"
  check "nobody is answered" "$(cat "$PS_TMP"/waits.*)" ""
  rm "$PS_TMP/clock.full"
  wait
  check "when it can, everybody is, and once" "$(cat "$PS_TMP"/waits.* | tr '\n' ' ')$(state | cut -d'|' -f4)" "0.001 0.001 0.001 203.504"
else
  fail "a clock can be built" "$(cat "$PS_TMP/clock.err")"
fi
check "no server has crashed" "$(cat "$PS_TMP"/noisy_elsewhere.*/log | grep -cE 'PANIC|terminated by signal')" 0
done_testing

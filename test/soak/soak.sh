#!/bin/bash
# soak.sh SECONDS - a mixed load for that long on a throw-away server; "make soak SECONDS=7200".
#
# What is watched is exact and takes no memory that grows: at the end the clients' own counts (clients.sh, load/) are
# compared with what the extension has recorded, memory of long-lived backends, of the worker and of the shared state in the
# last quarter with that in the second, and every error in the server's log must be one that is listed below. The load is
# limited by rates, so that it takes a part of one processor only; times are not measured. Runs below scripts/sandbox.sh.
. "$(dirname "$0")/../lib.sh"
load=$(cd "$(dirname "$0")" && pwd)
. "$load/clients.sh"

duration=${1:-60}
soak=$PS_TMP/soak
mkdir -p "$soak/catalog_cache" "$soak/counts" "$soak/errors" "$soak/pgbench"
touch "$soak/unexpected" "$soak/samples"
exec 5>"$soak/lock"

# Memory grows by no more than the greater of these from the second quarter to the last. Short runs are still warming up.
kGrowthPercent=5
kGrowthKilobytes=512
kJudgedFrom=600

# Messages that the load brings about, in the server's log. Everything else of these levels is a finding.
expected_errors=(
  'ERROR:  statement refused: its (session|normalised) privacy score would be'       # guard, visitor: above their limit
  'ERROR:  statement refused: its privacy score cannot be told'                      # the same, when the worker takes more than 3 s on a busy machine
  'ERROR:  privacy budget exhausted: '                                          # spender: asks for more than it has
  'ERROR:  canceling statement due to user request'                             # sleeper
  'ERROR:  canceling statement due to statement timeout'                        # hurrier
  'ERROR:  relation "(records|archive)" does not exist at character'            # traveller: while the table has its other name
  'ERROR:  the privacy_score worker did not answer within [0-9]+ seconds'             # flush() of this script on a busy machine; it is tried again
  'WARNING:  the columns in the baseline of role "alumna" have a combined'       # changer, when the rates of a table it has just altered are not there yet
  'WARNING:  session privacy score [0-9.]+ is above the limit 20'                # guard: what was let through weighs more once changer has labelled a column
  'FATAL:  terminating background worker "privacy_score worker" due to administrator command' # of the database annex, every minute
)

# --- what is there --------------------------------------------------------------------------------------------------------

start_server "max_connections = 60" "max_worker_processes = 16" "privacy_score.flush_interval = '1s'" "dynamic_shared_memory_type = mmap"
clinic=("CREATE EXTENSION privacy_score"
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, birth_year int, ward int, diagnosis text, spare int)"
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 13, 1940 + i % 60, i % 9 + 1, 'd' || i % 7, 0 FROM generate_series(1, 2000) i"
  "CREATE TABLE visits (id int PRIMARY KEY, patient_id int REFERENCES patients, day date, cost int)"
  "INSERT INTO visits SELECT i, i % 2000 + 1, date '2024-01-01' + i % 300, i % 997 FROM generate_series(1, 4000) i"
  "CREATE TABLE notes (id int PRIMARY KEY, line text)"
  "INSERT INTO notes SELECT i, '' FROM generate_series(1, 20) i"
  "CREATE FUNCTION people_of(w int) RETURNS bigint LANGUAGE plpgsql AS 'DECLARE n bigint; BEGIN SELECT count(*) INTO n FROM patients WHERE ward = w; RETURN n; END'"
  "GRANT SELECT ON patients, visits TO PUBLIC" "GRANT SELECT, UPDATE ON notes TO PUBLIC"
  "SELECT privacy_score.protect('patients'), privacy_score.protect('visits')"
  "SECURITY LABEL FOR privacy_score ON COLUMN patients.diagnosis IS 'sensitive'" "ANALYZE")
roles=(nurse clerk surgeon porter analyst guard visitor traveller publisher auditor sleeper spender hurrier alumna)
q "$(printf 'CREATE ROLE %s LOGIN;' "${roles[@]}")" "CREATE DATABASE annex" \
  "ALTER ROLE guard SET privacy_score.mode = enforce" "ALTER ROLE guard SET privacy_score.session_limit = 20" \
  "ALTER ROLE visitor SET privacy_score.mode = enforce" "ALTER ROLE visitor SET privacy_score.session_limit = 4" \
  "GRANT pg_read_all_stats TO auditor, publisher" "ALTER ROLE auditor SET privacy_score.track = top" >/dev/null || bail_out "the roles cannot be made"
q "${clinic[@]}" "CREATE SCHEMA pub AUTHORIZATION publisher" "SELECT privacy_score.dp_grant('analyst', 'patients', 1000000), privacy_score.dp_grant('analyst', 'visits', 1000000),
  privacy_score.dp_grant('spender', 'patients', 0.05, '10 seconds'), privacy_score.dp_grant('hurrier', 'patients', 1000000)" >/dev/null || bail_out "the tables cannot be made"
on annex q "${clinic[@]}" >/dev/null || bail_out "the other database cannot be made"

# Baselines of what the nurse and the surgeon usually do; everything else of theirs is a mismatch.
usual=("SELECT city FROM patients WHERE id = 1" "SELECT p.city, v.cost FROM visits v JOIN patients p ON p.id = v.patient_id WHERE v.id = 1"
  "SELECT diagnosis, count(*) FROM patients WHERE ward = 1 GROUP BY diagnosis")
as nurse q "${usual[@]}" >/dev/null
on annex as surgeon q "${usual[@]}" >/dev/null
day=privacy_score.today
q "SELECT privacy_score.import_statements(\$\$SELECT 's' || i % 5, 'alumna'::name, now(), 'SELECT city FROM patients WHERE ward = ' || i FROM generate_series(1, 20) i\$\$)" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('nurse', $day(), $day())" >/dev/null
on annex q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('surgeon', $day(), $day())" >/dev/null
databases=(postgres annex)

# everywhere "SQL": the sum of what it yields in both databases.
everywhere() {
  local database total=0
  for database in "${databases[@]}"; do total=$((total + $(on "$database" q "$1"))); done
  echo "$total"
}

# What one turn of the publisher counts as: the statements that it sends, and those with which bucketize() reads.
published() { q "SELECT COALESCE(sum(queries), 0) FROM privacy_score.session WHERE role = 'publisher'"; }
(name=publisher; PGUSER=publisher open_chat publisher postgres; publish; write_counts)
q "SELECT privacy_score.flush()" >/dev/null
events_of_release=$(published)

for database in "${databases[@]}"; do on "$database" q "SELECT privacy_score.flush()" "SELECT privacy_score.reset_stats()" >/dev/null; done
recorded_before=$(everywhere "SELECT COALESCE(sum(queries), 0) FROM privacy_score.session")
declare -A before
for role in "${roles[@]}"; do before[$role]=$(everywhere "SELECT COALESCE(sum(queries), 0) FROM privacy_score.session WHERE role = '$role'"); done

# --- the load -------------------------------------------------------------------------------------------------------------

# bench ROLE DATABASE CLIENTS RATE OPTIONS... -- SCRIPT@WEIGHT...: statements of load/ for the whole time.
bench_pids=()
bench() {
  local role=$1 database=$2 clients=$3 rate=$4 options=() scripts=()
  shift 4
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  while [ $# -gt 0 ]; do scripts+=(-f "$load/load/${1%@*}.sql@${1#*@}"); shift; done
  PGUSER=$role PGDATABASE=$database PGAPPNAME="soak $role" "$PS_BINDIR/pgbench" -n -c "$clients" -j 1 -R "$rate" -T "$duration" "${options[@]}" "${scripts[@]}" \
    >"$soak/pgbench/$role" 2>"$soak/errors/$role" &
  bench_pids+=($!)
}

# Long sessions keep what they have had: each n-gram and, up to a bound, each constant. So that what grows is a finding, these
# clients have few orders of statements, and ask for few subjects.
bench nurse postgres 2 1.4 -M prepared -- round@3 desk@1
bench clerk postgres 2 1.2 -M simple -- round@3 desk@1
bench surgeon annex 1 4 -M prepared -- point@4 join@2 wide@1 nested@1
bench porter annex 1 0.4 -M extended -C -- point@1 group@1
bench analyst postgres 1 0.5 -M prepared -- noisy@1
clients=(guard visitor traveller changer personnel publisher auditor reporter sleeper spender hurrier)
client_pids=()
for name in "${clients[@]}"; do
  (trap - EXIT; ps_finished=yes; "$name") 2>>"$soak/errors/$name" &
  client_pids+=($!)
done

# --- resting, resetting ---------------------------------------------------------------------------------------------------

# Lets all clients end what they do, writes, and takes the counters; they count anew.
counted=0
called=0
faults=0
resets=0
take_counters() {
  touch "$soak/rest"
  kill -STOP "${bench_pids[@]}" 2>/dev/null
  flock -x 5
  wait_for "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'soak%' AND state = 'active'" 0 600 || fail "the clients come to rest"
  local database
  for database in "${databases[@]}"; do until on "$database" q "SELECT privacy_score.flush()" >/dev/null; do sleep 1; done; done
  counted=$((counted + $(q "SELECT events FROM privacy_score.stat_info")))
  called=$((called + $(everywhere "SELECT COALESCE(sum(calls), 0) FROM privacy_score.stat_abstractions")))
  # reset_stats() takes these to zero as well.
  faults=$((faults + $(q "SELECT dropped + scoring_errors + flush_errors FROM privacy_score.stat_info")))
  for database in "${databases[@]}"; do on "$database" q "SELECT privacy_score.reset_stats()" >/dev/null; done
  resets=$((resets + 1))
  flock -u 5
  kill -CONT "${bench_pids[@]}" 2>/dev/null
  rm "$soak/rest"
}

# --- samples --------------------------------------------------------------------------------------------------------------

# Kilobytes of anonymous memory of a process: what is its own, without what it shares.
own_memory() { awk '$1 == "RssAnon:" { print $2 }' "/proc/$1/status" 2>/dev/null; }

# sample SECOND: one line "SECOND NAME KILOBYTES" for each process that is watched and for shared memory.
sample() {
  local pid who
  while IFS='|' read -r pid who; do
    echo "$1 $who $(own_memory "$pid")"
  done < <(q "SELECT pid, CASE WHEN backend_type = 'client backend' THEN split_part(application_name, ' ', 2) ELSE split_part(backend_type, ' ', 2) END
                FROM pg_stat_activity
               WHERE backend_type = 'client backend' AND application_name LIKE 'soak %' AND usename NOT IN ('porter', 'visitor') AND application_name NOT IN ('soak personnel', 'soak reporter')
                  OR datname = 'postgres' AND backend_type IN ('privacy_score worker', 'privacy_score accountant')
               ORDER BY 2, 1") | awk 'NF == 3 { second = $1; sum[$2] += $3 } END { for (who in sum) print second, who, sum[who] }' >>"$soak/samples"
  for who in changer publisher; do
    if [ -e "$soak/catalog_cache/$who" ]; then echo "$1 ${who}_catalogs $(cat "$soak/catalog_cache/$who")"; fi
  done >>"$soak/samples"
  q "SELECT format(E'%s shared_state %s\n%s sessions %s', $1, memory_used / 1024, $1, (SELECT count(*) FROM privacy_score.session)) FROM privacy_score.stat_info" >>"$soak/samples"
  echo "$1 dynamic_shared $(du -sk "$PGDATA/pg_dynshmem" | cut -f 1)" >>"$soak/samples"
  echo "$1 server_files $(find /proc/"$(head -n 1 "$PGDATA/postmaster.pid")"/fd 2>/dev/null | wc -l)" >>"$soak/samples"
}

# The table of samples: a line a moment, a column a series.
print_samples() {
  awk '
    { if (!($1 in seen)) { seen[$1] = 1; moment[++moments] = $1 } if (!($2 in known)) { known[$2] = 1; series[++names] = $2 } value[$1, $2] = $3 }
    END {
      printf "%7s", "second"; for (n = 1; n <= names; n++) printf " %14s", series[n]; print ""
      for (m = 1; m <= moments; m++) {
        printf "%7d", moment[m]; for (n = 1; n <= names; n++) printf " %14s", value[moment[m], series[n]]; print ""
      }
    }' "$soak/samples"
}

# growth SERIES: "LEAST-OF-THE-SECOND-QUARTER GROWTH", in kilobytes, without the server's own cache of catalogs for the
# clients that tell it (clients.sh says why). That grows by doubling. The growth is the least or the most of the last
# quarter above that of the second, whichever grew less: a backend that stands now with a megabyte for its statement and now
# without has means as chance will have it, and what is lost for good raises both.
growth() {
  awk -v who="$1" -v all="$duration" '
    FNR == NR { if ($2 == who "_catalogs") { cache[$1] = $3; tells = 1 } next }
    $2 == who && (!tells || $1 in cache) && $1 >= all / 4 {
      quarter = $1 < all / 2 ? 2 : $1 < all * 3 / 4 ? 3 : 4
      kilobytes = $3 - cache[$1]
      if (!(quarter in least) || kilobytes < least[quarter]) least[quarter] = kilobytes
      if (!(quarter in most) || kilobytes > most[quarter]) most[quarter] = kilobytes
    }
    END {
      low = least[4] - least[2]; high = most[4] - most[2]
      print (2 in least && 4 in least) ? least[2] : 0, low < high ? low : high
    }' "$soak/samples" "$soak/samples"
}

judge_memory() {
  local who early grown allowed
  for who in nurse clerk surgeon analyst guard traveller changer publisher auditor sleeper spender hurrier worker shared_state dynamic_shared; do
    read -r early grown < <(growth "$who")
    allowed=$((early * kGrowthPercent / 100 > kGrowthKilobytes ? early * kGrowthPercent / 100 : kGrowthKilobytes))
    if [ "$duration" -lt $kJudgedFrom ]; then
      echo "note    $who: $early kB in the second quarter, $grown kB more in the last; too short to judge"
    else
      check_true "memory of $who is flat: $early kB in the second quarter, $grown kB more in the last, at most $allowed kB more" \
        test "$early" -gt 0 -a "$grown" -le $allowed
    fi
  done
}

# --- the time ---------------------------------------------------------------------------------------------------------------

echo "soak of $duration seconds, begun $(date -u '+%F %T') UTC, $(q "SHOW server_version"), privacy_score $(q "SELECT version FROM privacy_score.stat_info")"
sample_every=$((duration / 24 < 60 ? (duration / 24 > 0 ? duration / 24 : 1) : 60))
reset_every=$((duration / 12 > 15 ? duration / 12 : 15))
end_every=60
if [ "$duration" -lt 240 ]; then end_every=15; fi
ended_workers=0
began=$SECONDS
next_sample=0 next_reset=$reset_every next_end=$end_every
while now=$((SECONDS - began)) && [ "$now" -lt "$duration" ]; do
  if [ "$now" -ge "$next_sample" ]; then
    sample "$now"
    next_sample=$((now / sample_every * sample_every + sample_every))
  fi
  if [ "$now" -ge "$next_end" ]; then
    # The worker of the other database is ended, again and again; it comes back with the next statement.
    if [ "$(on annex q "SELECT pg_terminate_backend(worker_pid) FROM privacy_score.stat_info WHERE worker_pid IS NOT NULL")" = t ]; then
      ended_workers=$((ended_workers + 1))
    fi
    next_end=$((now + end_every))
  fi
  if [ "$now" -ge "$next_reset" ]; then
    take_counters
    next_reset=$((now + reset_every))
  fi
  sleep 0.5
done
wait "${bench_pids[@]}"
touch "$soak/stop"
wait "${client_pids[@]}"
take_counters

# --- the reckoning --------------------------------------------------------------------------------------------------------

# did NAME KEY: what a client has counted.
did() { awk -v key="$2" '$1 == key { n = $2 } END { print n + 0 }' "$soak/counts/$1" 2>/dev/null; }

# transactions ROLE: "SCRIPT TRANSACTIONS" of each script that pgbench ran.
transactions() {
  awk '/^transaction type: .*\.sql/ { sub(/.*\//, ""); sub(/\.sql.*/, ""); script = $0 }
       /^SQL script [0-9]+: / { sub(/.*\//, ""); sub(/\.sql.*/, ""); script = $0; many = 1 }
       /^number of transactions actually processed: / { total = $NF }
       /^ - [0-9]+ transactions/ { print script, $2 }
       END { if (!many) print script, total }' "$soak/pgbench/$1"
}
benched() {
  local script n total=0
  while read -r script n; do
    total=$((total + n * $(sed -nE '1s/^-- events ([0-9]+):.*/\1/p' "$load/load/$script.sql")))
  done < <(transactions "$1")
  echo $total
}

# recorded ROLE [COLUMN]: what the extension has recorded of a role since the load began.
recorded() { echo $(($(everywhere "SELECT COALESCE(sum(${2:-queries}), 0) FROM privacy_score.session WHERE role = '$1'") - $([ "${2:-queries}" = queries ] && echo "${before[$1]}" || echo 0))); }

print_samples
echo
echo "the clients: $(for role in nurse clerk surgeon porter analyst; do echo -n "$role $(benched "$role") statements, "; done)"
for name in "${clients[@]}"; do echo "  $name: $(tr '\n' ' ' <"$soak/counts/$name")"; done
echo "  $resets resets, $ended_workers times a worker was ended; the server has used $(awk '{ printf "%d", ($14 + $15 + $16 + $17) / 100 }' "/proc/$(head -n 1 "$PGDATA/postmaster.pid")/stat") s of processor time by processes that have ended"
echo

for role in nurse clerk surgeon porter analyst; do
  check_match "pgbench of $role had no failed transaction" "$(cat "$soak/pgbench/$role" "$soak/errors/$role")" "number of failed transactions: 0 "
  check "statements of $role" "$(recorded "$role")" "$(benched "$role")"
done
for role in guard visitor traveller auditor sleeper spender; do check "statements of $role" "$(recorded "$role")" "$(did "$role" events)"; done
check "statements of publisher" "$(recorded publisher)" $(($(did publisher releases) * events_of_release))
check "all releases were verified" "$(did publisher verified)" "$(did publisher releases)"
check "statements of roles that were dropped" \
  "$(q "SELECT COALESCE(sum(queries), 0) FROM privacy_score.session WHERE role LIKE 'temporary%'")" "$(did personnel events)"
check_true "statements of hurrier: those of which it saw the end, and some that it broke off" \
  test "$(recorded hurrier)" -ge "$(did hurrier charges)" -a "$(recorded hurrier)" -le "$(did hurrier asked)"
for role in guard visitor; do check "refusals of $role" "$(recorded "$role" refused)" "$(did "$role" refused)"; done
all=$(($(everywhere "SELECT COALESCE(sum(queries), 0) FROM privacy_score.session") - recorded_before))
refusals=$(($(did guard refused) + $(did visitor refused)))
check "events in shared memory, over all resets, are the statements recorded and those refused" "$counted" $((all + refusals))
check "calls of abstractions, over all resets, are the statements recorded" "$called" "$all"
check "and so are the statements in the history's parts" \
  "$(everywhere "SELECT COALESCE(sum(r), 0) FROM privacy_score.session_part p, unnest(p.runs) r")" $((all + recorded_before))
check "nothing was dropped, no scoring and no flush failed" "$faults" 0

# ledger ROLE RELATION: "SPENT CHARGES REPEATS"
ledger() {
  q "SELECT format('%s %s %s', trim_scale(b.spent), count(*) FILTER (WHERE r.repeat_of IS NULL), COALESCE(sum(r.times) FILTER (WHERE r.repeat_of IS NOT NULL), 0))
       FROM privacy_score.budget b LEFT JOIN privacy_score.release r ON r.budget_id = b.id
      WHERE b.role = '$1' AND b.relation_name = 'public.$2' GROUP BY b.id"
}
thousandths() { q "SELECT trim_scale($1 * $2)"; }
read -r _ rounds < <(transactions analyst)
check "charges and repeats of analyst for patients" "$(ledger analyst patients)" "$(thousandths $((rounds + 1)) 0.001) $((rounds + 1)) $((rounds - 1))"
check "charges of analyst for visits" "$(ledger analyst visits)" "$(thousandths "$rounds" 0.001) $rounds 0"
charges=$(did spender charges)
check "charges of spender" "$(ledger spender patients)" "$(thousandths "$charges" 0.01) $charges 0"
check_true "no more than the budget in any period" test "$charges" -le $(((duration / 10 + 12) * 5))
check_true "and it was exhausted" test "$(did spender exhausted)" -gt 0
read -r spent paid _ < <(ledger hurrier patients)
check_true "hurrier paid for what it was told, and perhaps for what it did not wait for" \
  test "$paid" -ge "$(did hurrier charges)" -a "$paid" -le "$(did hurrier asked)"
check "and its budget is what the ledger says" "$spent" "$(thousandths "$paid" 0.001)"

for role in guard visitor; do check_true "$role was let through and refused" test "$(did $role events)" -gt 5 -a "$(did $role refused)" -gt 5; done
check_true "a worker was ended and came back" test "$ended_workers" -ge 1
check "no client had an error that it does not expect" "$(sort "$soak/unexpected" | uniq -c | sort -rn | head -n 20)" ""
pattern=$(IFS='|'; echo "${expected_errors[*]}")
check "the server's log has no error but those that are listed" \
  "$(grep -E ' (WARNING|ERROR|FATAL|PANIC):|was terminated by signal|could not (score|compute)' "$ps_log" | grep -vE "$pattern" | head -n 20)" ""
echo "errors in the log, all of them listed:"
grep -oE "$pattern" "$ps_log" | sort | uniq -c | sort -rn | sed 's/^/        /'
judge_memory
check "temporary files are gone" "$(find "$PGDATA/base" -path '*pgsql_tmp/*' | wc -l)" 0
echo "ended $(date -u '+%F %T') UTC"
done_testing

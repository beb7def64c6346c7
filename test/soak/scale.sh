#!/bin/bash
# scale.sh [STATEMENTS [CONNECTIONS [RATE]]] - five million statements on five hundred connections, by default, with 64 MB of
# shared memory: all are counted, none is dropped, and the memory of all processes is flat and no more than the documentation
# says. So many statements a second of watched roles that the processors have time left: where five hundred backends leave
# none, the worker comes too seldom to write what they have.
#
# Nine of ten connections belong to watched roles with baselines, one of ten to a role that is exempt, which asks the same:
# what a watched backend has more than one of these is what watching takes. Runs below scripts/sandbox.sh.
. "$(dirname "$0")/../lib.sh"

statements=${1:-5000000}
connections=${2:-500}
rate=${3:-1500}
roles=10
each=$((connections / roles))
# What docs/benchmarks.md says of a backend: an n-gram of the baseline (bytes), a statement that it knows, and what it has at
# all (kB), with some room for how the C library lays things out.
kNGram=50 kStatement=4.6 kSession=128
# From the second quarter to the last a kind of process may have so much more each.
kGrowthPercent=5 kGrowthKilobytes=64
kJudgedFrom=1000000

start_server "max_connections = $((connections + 20))" "privacy_score.max_memory = '64MB'" "privacy_score.flush_interval = '1s'" \
  "shared_buffers = '128MB'"
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, ward int, born int, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 100, i % 20, 1940 + i % 70, 'd' || i % 9 FROM generate_series(1, 10000) i" \
  "CREATE INDEX ON patients (city)" "ANALYZE" "GRANT SELECT ON patients TO PUBLIC" "SELECT privacy_score.protect('patients')" >/dev/null ||
  bail_out "the tables cannot be made"
for role in $(seq 0 $((roles - 1))); do q "CREATE ROLE app_$role LOGIN"; done >/dev/null
control=app_$((roles - 1))
q "SECURITY LABEL FOR privacy_score ON ROLE $control IS 'exempt'" >/dev/null

# Thirty statements: columns of one person, of one ward, and counts.
mkdir "$PS_TMP/load"
scripts=()
columns=(name city ward born diagnosis)
for n in $(seq 0 29); do
  one=${columns[n % 5]} other=${columns[(n / 5 + n + 1) % 5]}
  case $((n / 10)) in
    0) ask="SELECT $one, $other FROM patients WHERE id = :id" ;;
    1) ask="SELECT $one, $other FROM patients WHERE id BETWEEN :id AND :id + 2 AND ward < $((n + 1))" ;;
    *) ask="SELECT count(DISTINCT $one) FROM patients WHERE city = 'c7' AND $other IS NOT NULL" ;;
  esac
  printf '\\set id random(1, 10000)\n%s;\n' "$ask" >"$PS_TMP/load/$n.sql"
  scripts+=(-f "$PS_TMP/load/$n.sql")
done
# load ROLE CONNECTIONS STATEMENTS
load() { PGUSER=app_$1 "$PS_BINDIR/pgbench" -n -M prepared -c "$2" -j 1 -t $(($3 / $2)) -R $((rate / (roles - 1))) --random-seed="$1" "${scripts[@]}" postgres >"$PS_TMP/load/$1.log" 2>&1; }

# Sessions of before, of which the baselines are made.
for role in $(seq 0 $((roles - 2))); do load "$role" 5 1500; done
q "SELECT privacy_score.flush()" >/dev/null
check "baselines of nine roles" "$(q "SELECT count(privacy_score.set_baseline('app_' || n, '-infinity', 'infinity')) FROM generate_series(0, $((roles - 2))) n" 2>/dev/null)" $((roles - 1))
q "SELECT privacy_score.flush()" >/dev/null
before=$(q "SELECT sum(queries) FROM privacy_score.session")
ngrams=$(q "SELECT max(n) FROM (SELECT count(*) AS n FROM privacy_score.baseline_ngram GROUP BY baseline_id) b")

# sample: a line "KIND PROCESSES kB EACH" for backends of watched roles, of the one that is exempt, and each other process; and
# what is taken of the shared memory. A process that has ended meanwhile is left out.
sample() {
  q "SELECT pid, CASE WHEN backend_type <> 'client backend' THEN replace(backend_type, ' ', '_') WHEN usename = '$control' THEN 'exempt' ELSE 'watched' END
       FROM pg_stat_activity WHERE backend_type <> 'client backend' OR usename LIKE 'app%'" >"$PS_TMP/processes"
  awk -F '|' '{ kind[$1] = $2 }
    END {
      for (pid in kind) {
        file = "/proc/" pid "/smaps_rollup"
        own = 0
        while ((getline line <file) > 0) if (line ~ /^Private_/) { split(line, part, /[ \t]+/); own += part[2] }
        close(file)
        if (own > 0) { n[kind[pid]]++; sum[kind[pid]] += own }
      }
      for (k in n) printf "%s %d %d\n", k, n[k], sum[k] / n[k]
    }' "$PS_TMP/processes"
  echo "shared 1 $(($(q "SELECT memory_used FROM privacy_score.stat_info") / 1024))"
}

began=$SECONDS
pids=()
for role in $(seq 0 $((roles - 2))); do
  load "$role" "$each" $((statements / (roles - 1))) &
  pids+=($!)
done
# To compare with until the last: ended then.
PGUSER=$control "$PS_BINDIR/pgbench" -n -M prepared -c "$each" -j 1 -T 100000 -R $((rate / (roles - 1))) "${scripts[@]}" postgres >"$PS_TMP/load/control.log" 2>&1 &
control_pid=$!
running() { local pid; for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || return 1; done; }
round=0
are_connected() { [ "$(q "SELECT count(*) FROM pg_stat_activity WHERE usename LIKE 'app%'")" -ge $((each * roles)) ]; }
wait_until are_connected
while running; do
  round=$((round + 1))
  sample | sed "s/^/$round /" >>"$PS_TMP/samples"
  sleep $((statements >= kJudgedFrom ? 15 : 1))
done
wait "${pids[@]}"
kill $control_pid
seconds=$((SECONDS - began))
q "SELECT privacy_score.flush()" >/dev/null

done_of() { awk '/^number of transactions actually processed: / { split($NF, n, "/"); print n[1] + 0 }' "$PS_TMP/load/$1.log"; }
total=0
for role in $(seq 0 $((roles - 2))); do
  check_match "no statement of app_$role has failed" "$(cat "$PS_TMP/load/$role.log")" "number of failed transactions: 0 "
  total=$((total + $(done_of "$role")))
done
check "all statements of watched roles are recorded" "$(($(q "SELECT sum(queries) FROM privacy_score.session") - before))" "$total"
check "and in the history's parts" "$(($(q "SELECT sum(r) FROM privacy_score.session_part p, unnest(p.runs) r") - before))" "$total"
check "nothing was dropped, no scoring and no flush failed" "$(q "SELECT dropped, scoring_errors, flush_errors FROM privacy_score.stat_info")" "0|0|0"
check "live and recorded scores are equal to the last bit" \
  "$(q "SELECT count(*) FROM privacy_score.stat_sessions l JOIN privacy_score.score_sessions(l.role, '-infinity', 'infinity') h ON h.session = l.session WHERE l.score <> h.score")" 0

# of KIND QUARTER: the mean of the samples of a quarter, of which there are four.
of() { awk -v kind="$1" -v quarter="$2" -v rounds=$round '$2 == kind && $1 > rounds * (quarter - 1) / 4 && $1 <= rounds * quarter / 4 { n++; sum += $4 } END { printf "%d", n ? sum / n : 0 }' "$PS_TMP/samples"; }
echo "$total statements of watched roles on $((each * (roles - 1))) connections, beside an exempt one on $each, in $seconds s, $round samples; baselines of $ngrams n-grams"
printf '%-32s %10s %12s %12s\n' "kB of its own, each" processes "2nd quarter" "last quarter"
awk '{ print $2 }' "$PS_TMP/samples" | sort -u | while read -r kind; do
  printf '%-32s %10s %12s %12s\n' "$kind" "$(awk -v kind="$kind" '$2 == kind && $3 > n { n = $3 } END { print n }' "$PS_TMP/samples")" "$(of "$kind" 2)" "$(of "$kind" 4)"
done
for kind in watched exempt privacy_score_worker shared; do
  early=$(of "$kind" 2) late=$(of "$kind" 4)
  allowed=$((early * kGrowthPercent / 100 > kGrowthKilobytes ? early * kGrowthPercent / 100 : kGrowthKilobytes))
  if [ "$statements" -lt $kJudgedFrom ]; then
    echo "note    $kind: $early kB in the second quarter, $late kB in the last; too short to judge"
  else
    check_true "memory of $kind is flat: $early kB in the second quarter, $late kB in the last" test "$early" -gt 0 -a $((late - early)) -le $allowed
  fi
done
most=$(awk -v g=$kNGram -v n="$ngrams" -v s=$kStatement -v b=$kSession 'BEGIN { printf "%d", b + g * n / 1024 + s * 30 }')
watching=$(($(of watched 4) - $(of exempt 4)))
check_true "watching takes $watching kB of a backend, at most $most" test "$watching" -le "$most"
check "the server's log has no error" "$(grep -E ' (WARNING|ERROR|FATAL|PANIC):|was terminated by signal' "$ps_log" | grep -v 'the columns in the baseline' | head -n 5)" ""
done_testing

#!/bin/bash
# noise.sh - what exact noise costs: draws a second in C++ (noise.cpp) and in SQL, and noisy_count against count.
#
# Runs below scripts/sandbox.sh as a part of "make bench", or alone: scripts/sandbox.sh bench/noise.sh. Prints a Markdown
# section and leaves it in bench/results_noise.md. Only what needs a compiler is left out where there is none.
. "$(dirname "$0")/../test/lib.sh"

rounds=${PS_BENCH_ROUNDS:-9}
rows=1000000

median() { sort -n | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }

# The milliseconds that a query takes in the server.
time_of() { "$PS_BINDIR/psql" -XAtq -c '\timing on' -c "$1" | sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p'; }

start_server "max_parallel_workers_per_gather = 0"
q "CREATE EXTENSION privacy_score" "CREATE TABLE t AS SELECT i % 10 AS g FROM generate_series(1, $rows) i" "VACUUM ANALYZE t" >/dev/null
queries=(
  "SELECT sum(i) FROM generate_series(1, $rows) i"
  "SELECT sum(privacy_score.discrete_laplace(10)) FROM generate_series(1, $rows) i"
  "SELECT sum(floor(-10 * ln(random())) * sign(random() - 0.5)) FROM generate_series(1, $rows) i"
  "SELECT count(*) FROM t"
  "SELECT privacy_score.noisy_count(0.1) FROM t"
  "SELECT privacy_score.noisy_count(g, 0.1) FROM t"
  "SELECT count(*) FROM (SELECT privacy_score.noisy_count(0.1) FROM t GROUP BY g) s"
)
times=()
for round in $(seq "$rounds"); do
  for i in "${!queries[@]}"; do times[i]+="$(time_of "${queries[i]}") "; done
done

{
  echo "## Noise"
  echo
  if command -v g++ >/dev/null; then
    g++ -std=c++17 -O2 -Isrc -o "$PS_TMP/noise" bench/noise.cpp \
      src/core/{discrete_laplace,exact_bernoulli,exp_bounds,random_source,rational}.cpp && "$PS_TMP/noise"
    echo
  fi
  echo "In SQL, $rows rows, median of $rounds interleaved rounds:"
  echo
  echo "| query | milliseconds |"
  echo "|---|---|"
  for i in "${!queries[@]}"; do
    printf '| `%s` | %.0f |\n' "${queries[i]}" "$(tr ' ' '\n' <<<"${times[i]}" | grep . | median)"
  done
} | tee bench/results_noise.md
ps_finished=yes

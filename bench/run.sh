#!/bin/bash
# run.sh - what watching costs: pgbench -S with the library absent, loaded but off, and observing, side by side.
#
# Runs below scripts/sandbox.sh ("make bench"). Three servers with the same data run at the same time, of which one at
# a time is loaded; the rounds are interleaved, so a noisy neighbour meets all alike. Prints the median of the rounds and
# the ratio to the server without the library, and leaves the same table in bench/results.md. Then comes noise.sh.
. "$(dirname "$0")/../test/lib.sh"

rounds=${PS_BENCH_ROUNDS:-9}
seconds=${PS_BENCH_SECONDS:-2}
kinds=(absent off observe)

median() { sort -n | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }

for kind in "${kinds[@]}"; do
  use_server "$kind"
  case $kind in
    absent) start_server "shared_preload_libraries = ''" ;;
    *) start_server "privacy_score.mode = '$kind'" "privacy_score.flush_interval = '1s'" ;;
  esac
  "$PS_BINDIR/pgbench" -i -q -s 5 >/dev/null 2>&1
  if [ "$kind" != absent ]; then q "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('pgbench_accounts')" >/dev/null; fi
  q "CREATE ROLE analyst LOGIN" "GRANT SELECT ON ALL TABLES IN SCHEMA public TO analyst"
done

declare -A tps
for protocol in simple prepared; do
  for round in $(seq "$rounds"); do
    for kind in "${kinds[@]}"; do
      use_server "$kind"
      value=$(PGUSER=analyst "$PS_BINDIR/pgbench" -n -S -M $protocol -c 1 -T "$seconds" 2>/dev/null |
        sed -nE 's/^tps = ([0-9.]+) .*/\1/p')
      tps[$protocol.$kind]+="$value "
    done
    printf '%s round %s of %s\n' "$protocol" "$round" "$rounds" >&2
  done
done

{
  echo "pgbench -S, scale 5, 1 client, $rounds interleaved rounds of $seconds s; median transactions per second."
  echo "$(q "SELECT version()")"
  echo "$(grep -m1 'model name' /proc/cpuinfo | sed 's/.*: //'), $(nproc) cores"
  echo
  echo "| protocol | library | tps | microseconds a statement | added to no library |"
  echo "|---|---|---|---|---|"
  for protocol in simple prepared; do
    base=$(tr ' ' '\n' <<<"${tps[$protocol.absent]}" | grep . | median)
    for kind in "${kinds[@]}"; do
      value=$(tr ' ' '\n' <<<"${tps[$protocol.$kind]}" | grep . | median)
      awk -v p="$protocol" -v k="$kind" -v v="$value" -v b="$base" \
        'BEGIN {printf "| %s | %s | %.0f | %.2f | %+.2f us, %+.1f %% |\n", p, k, v, 1e6 / v, 1e6 / v - 1e6 / b, 100 * (b / v - 1)}'
    done
  done
} | tee bench/results.md
"$(dirname "$0")/noise.sh"
ps_finished=yes

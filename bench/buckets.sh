#!/bin/bash
# buckets.sh - publishing by buckets: what settings cost in loss and time, and bucketize() against copying the table.
#
#   scripts/sandbox.sh bench/buckets.sh [-r ROUNDS] [ROWS...]                 (3, 100000 500000 1000000 10000000)
#
# Prints a section in Markdown and leaves it, with charts of the paper's figures 3 to 7, in bench/results_buckets/. The
# first part needs a compiler and no server (buckets.cpp). The second reads a table like CENSUS, with 50 occupations, in a
# server: CREATE TABLE AS SELECT of all its columns and bucketize() take turns; medians of the rounds, of one round from
# 5 million rows on. A judge of the optimum is the program cbc (package coinor-cbc), where it is installed.
. "$(dirname "$0")/../test/lib.sh"

rounds=3
while getopts r: option; do
  case $option in
    r) rounds=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
sizes=("$@")
if [ ${#sizes[@]} -eq 0 ]; then sizes=(100000 500000 1000000 10000000); fi
folder=bench/results_buckets
rm -rf "$folder"
mkdir -p "$folder"

median() { sort -n | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
# The milliseconds that a statement takes, as the client sees it.
time_of() { "$PS_BINDIR/psql" -XAtq -c '\timing on' -c "$1" 2>/dev/null | sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p'; }

core_part() {
  if ! command -v g++ >/dev/null; then
    echo "Without a compiler what needs no server is left out."
    return
  fi
  mkdir -p "$PS_TMP/buckets"
  local sources=(bench/buckets.cpp src/core/{bucket_*,optimal_buckets,corner_relaxation,dual_simplex,finite_group,hall_cuts,rational,random_source,release_utility}.cpp)
  printf '%s\n' "${sources[@]}" |
    xargs -P 2 -I{} sh -c 'g++ -std=c++17 -O2 -Isrc -Ibench -c "$1" -o "$2/$(basename "$1" .cpp).o"' sh {} "$PS_TMP/buckets" &&
    g++ -o "$PS_TMP/buckets/run" "$PS_TMP"/buckets/*.o && "$PS_TMP/buckets/run" "$folder" "$rounds"
}

# A table with the columns of CENSUS; occupations from 7.5 % to 0.18 %.
make_table() {
  q "CREATE TABLE census AS SELECT floor(random() * 76)::int2 AS age, floor(random() * 2)::int2 AS gender,
       floor(random() * 14)::int2 AS education, floor(random() * 6)::int2 AS marital, floor(random() * 9)::int2 AS race,
       floor(random() * 10)::int2 AS work_class, floor(random() * 83)::int2 AS country,
       least(49, floor(ln(1 - random() * (1 - 0.0018 / 0.075)) / ln(0.0018 / 0.075) * 50))::int2 AS occupation
     FROM generate_series(1, $1)" "VACUUM ANALYZE census" >/dev/null
}
columns="'{age,gender,education,marital,race,work_class,country}'"

server_part() {
  start_server "shared_buffers = '512MB'" "maintenance_work_mem = '1GB'" "max_wal_size = '8GB'" "autovacuum = off" \
    "max_parallel_workers_per_gather = 0" "jit = off"
  q "CREATE EXTENSION privacy_score" >/dev/null
  echo "### bucketize() against CREATE TABLE AS SELECT (optimal, theta 4, seven quasi-identifiers)"
  echo
  echo "| rows | CREATE TABLE AS ms | bucketize ms | ratio | microseconds a row | buckets | gap |"
  echo "|---|---|---|---|---|---|---|"
  local rows round copies releases times
  for rows in "${sizes[@]}"; do
    make_table "$rows"
    copies='' releases='' times=$rounds
    if [ "$rows" -ge 5000000 ]; then times=1; fi
    for round in $(seq "$times"); do
      copies+="$(time_of "CREATE TABLE copy AS SELECT * FROM census") "
      releases+="$(time_of "CREATE TABLE report AS SELECT * FROM privacy_score.bucketize('census', $columns, 'occupation', 'qit', 'st', theta => 4)") "
      if [ "$round" -lt "$times" ]; then q "DROP TABLE copy, qit, st, report" >/dev/null; fi
    done
    awk -v n="$rows" -v c="$(tr ' ' '\n' <<<"$copies" | grep . | median)" -v b="$(tr ' ' '\n' <<<"$releases" | grep . | median)" \
      -v r="$(q "SELECT buckets || ' | ' || gap FROM report")" \
      'BEGIN {printf "| %d | %.0f | %.0f | %.2f | %.2f | %s |\n", n, c, b, b / c, 1000 * b / n, r}'
    q "DROP TABLE copy, qit, st, report, census" >/dev/null
  done
}

{
  echo "## Publishing by buckets"
  echo
  echo "$(grep -m1 'model name' /proc/cpuinfo | sed 's/.*: //'), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg) at the start; $("$PS_BINDIR/postgres" --version), $(g++ --version 2>/dev/null | head -n 1), cbc $(command -v cbc >/dev/null && cbc -stop 2>/dev/null | sed -nE 's/^Version: //p' || echo 'not installed'). $rounds interleaved rounds, medians. Data: stand-ins for CENSUS with the frequencies that the paper tells."
  echo
  core_part
  server_part
} | tee "$folder/results.md"
ps_finished=yes

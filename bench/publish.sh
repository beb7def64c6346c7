#!/bin/bash
# publish.sh - what publishing by buckets costs: bucketize() against a copy of the same table.
#
#   scripts/sandbox.sh bench/publish.sh           9 rounds of 500,000 rows, 3 of 2 and 10 million
#
# Prints a section in Markdown. Eight columns with 76, 2, 14, 6, 9, 10, 83 and 50 values, the last one sensitive, its
# values between 0.18 % and 7.5 % of the rows. The copy is CREATE TABLE AS SELECT of all columns, what bucketize() writes is
# two logged tables. maintenance_work_mem is what a server has that nobody has configured, so that records of the larger
# tables go through temporary files.
. "$(dirname "$0")/lib.sh"

sizes=(500000 2000000 10000000)
if quick; then sizes=(20000 100000); fi
start_server "shared_buffers = '1GB'" "work_mem = '256MB'" "max_wal_size = '16GB'" "autovacuum = off" "jit = off" \
  "max_parallel_workers_per_gather = 0"
# Values as likely as the steps of a geometric sequence from 7.5 to 0.18.
q "CREATE EXTENSION privacy_score" "SELECT setseed(0.4)" \
  "CREATE FUNCTION census(rows int) RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN EXECUTE format('CREATE TABLE census AS SELECT
     (random() * 76)::int2 AS age, (random() * 1)::int2 AS gender, (random() * 13)::int2 AS education, (random() * 5)::int2 AS marital,
     (random() * 8)::int2 AS race, (random() * 9)::int2 AS work_class, (random() * 82)::int2 AS country,
     width_bucket(random(), (SELECT array_agg(s ORDER BY s) FROM (SELECT sum(w) OVER (ORDER BY k) / sum(w) OVER () AS s
       FROM (SELECT k, 7.5 * exp(k * ln(0.18 / 7.5) / 49) AS w FROM generate_series(0, 49) k) z) y))::int2 AS occupation
   FROM generate_series(1, %s)', rows); END \$\$" >/dev/null
own="'census', '{age,gender,education,marital,race,work_class,country}', 'occupation', 'census_qit', 'census_st', theta => 4, replace => true"

declare -A times
ratios=
for rows in "${sizes[@]}"; do
  turns=$rounds
  first=0  # a round that warms up
  if [ "$rows" -gt "${sizes[0]}" ]; then turns=3 first=1; fi
  q "DROP TABLE IF EXISTS census" "SELECT census($rows)" "VACUUM (FREEZE, ANALYZE) census" >/dev/null
  for round in $(seq "$first" "$turns"); do
    q "DROP TABLE IF EXISTS census_copy" "CHECKPOINT" >/dev/null
    copy=$(time_of "CREATE TABLE census_copy AS SELECT * FROM census")
    publish=$(time_of "SELECT * FROM privacy_score.bucketize($own)")
    if [ -z "$publish" ] || [ -z "$copy" ]; then bail_out "bucketize fails at $rows rows"; fi
    if [ "$round" -eq 0 ]; then continue; fi
    times[copy.$rows]+="$copy "
    times[publish.$rows]+="$publish "
    if [ "$rows" -eq "${sizes[0]}" ]; then ratios+="$(ratio "$publish" "$copy" 4) "; fi
  done
  echo "$rows rows done" >&2
done

least=${sizes[0]} most=${sizes[-1]}
of() { median <<<"${times[$1]}"; }
echo "## Publishing"
echo
target_header
target "\`bucketize()\` of $least rows / \`CREATE TABLE AS\`" "$(median <<<"$ratios")" at-most 3
target "time a row at $most rows / at $least rows" "$(awk -v a="$(of "publish.$most")" -v b="$(of "publish.$least")" -v x="$most" -v y="$least" 'BEGIN { print a / x / (b / y) }')" at-most 1.2
echo
echo "Milliseconds; medians of $rounds interleaved rounds at $least rows, of 3 at more. Thresholds by \`theta => 4\`, the default method, no fake values; \`verify_release\`'s checks,"
echo "which \`bucketize()\` makes in the same transaction, included. No parallel workers; data in shared buffers as far as it fits (1 GB);"
echo "\`maintenance_work_mem\` 64 MB, so that from 2 million rows on records go through temporary files."
echo
echo "| rows | \`CREATE TABLE AS\` | \`bucketize()\` | ratio | microseconds a row |"
echo "|---|---|---|---|---|"
for rows in "${sizes[@]}"; do
  awk -v n="$rows" -v a="$(of "copy.$rows")" -v b="$(of "publish.$rows")" 'BEGIN { printf "| %d | %.0f | %.0f | %.2f | %.2f |\n", n, a, b, b / a, b / n * 1000 }'
done
part_done

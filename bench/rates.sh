#!/bin/bash
# rates.sh - what rates cost: sets of the columns of a table in memory, against count(*) and against plain SQL.
#
#   scripts/sandbox.sh bench/rates.sh [ROWS...]        (1000000 10000000)
#
# Prints a section in Markdown. Eight smallint columns with domains of 76, 2, 14, 6, 9, 10, 83 and 50 values: uniform and
# independent (the worst case), Zipf and independent, and rows that repeat (a twentieth of them distinct, drawn by Zipf).
# One process each, no parallel workers, everything cached, memory for everything. The rounds are interleaved: each
# measures everything once, so a noisy neighbour meets all alike; medians of the rounds. What plain SQL takes minutes for
# is measured in fewer rounds.
. "$(dirname "$0")/lib.sh"

sizes=("$@")
if [ ${#sizes[@]} -eq 0 ]; then
  sizes=(1000000 10000000)
  if quick; then sizes=(50000 100000); fi
fi
most=${sizes[-1]}
# Rounds of plain SQL: of single sets, and of many.
single_rounds() { if [ "$1" -gt 1000000 ]; then echo 3; else echo "$rounds"; fi; }
many_rounds() { if [ "$1" -gt 1000000 ]; then echo 1; else echo 3; fi; }

start_server "shared_buffers = '2GB'" "maintenance_work_mem = '2GB'" "work_mem = '2GB'" "jit = off" \
  "max_parallel_workers_per_gather = 0" "max_wal_size = '8GB'" "autovacuum = off" "bgwriter_lru_maxpages = 0"
q "CREATE EXTENSION privacy_score" >/dev/null
names=(a b c d e f g h)
domains=(76 2 14 6 9 10 83 50)

# --- data -------------------------------------------------------------------------------------------------------------

list() { local IFS=,; echo "$*"; }
uniform_columns() { for i in "${!names[@]}"; do echo "floor(random() * ${domains[i]})::int2 AS ${names[i]}"; done | paste -sd,; }
# The share of value k is 1/k of that of the first.
zipf_columns() {
  for i in "${!names[@]}"; do
    echo "width_bucket(random(), (SELECT array_agg(s ORDER BY s) FROM (SELECT sum(1.0::float8 / k) OVER (ORDER BY k) / sum(1.0::float8 / k) OVER () AS s FROM generate_series(1, ${domains[i]}) k) z))::int2 AS ${names[i]}"
  done | paste -sd,
}
make_table() {
  local kind=$1 rows=$2
  case $kind in
    uniform) q "SELECT setseed(0.1)" "CREATE UNLOGGED TABLE uniform AS SELECT $(uniform_columns) FROM generate_series(1, $rows)" ;;
    zipf) q "SELECT setseed(0.2)" "CREATE UNLOGGED TABLE zipf AS SELECT $(zipf_columns) FROM generate_series(1, $rows)" ;;
    repeated) q "SELECT setseed(0.3)" "CREATE TEMP TABLE pool AS SELECT i, $(zipf_columns) FROM generate_series(1, $rows / 20) i" \
      "CREATE UNLOGGED TABLE repeated AS SELECT $(list "${names[@]}") FROM (SELECT floor(exp(random() * ln($rows / 20 + 1)))::int AS i FROM generate_series(1, $rows) OFFSET 0) s JOIN pool USING (i)" ;;
  esac >/dev/null
  q "VACUUM (FREEZE, ANALYZE) $kind" >/dev/null
}

# --- what is measured -------------------------------------------------------------------------------------------------

# The set whose columns are the bits of a number, as a list for GROUP BY.
set_of() { for i in "${!names[@]}"; do if (($1 >> i & 1)); then echo "${names[i]}"; fi; done | paste -sd,; }
json_of() { for n in "$@"; do echo "[\"$(set_of "$n" | sed 's/,/","/g')\"]"; done | paste -sd, | sed 's/.*/[&]/'; }
three=$((1 + 4 + 128)) four=$((1 + 4 + 32 + 64)) eight=255
singles=(1 2 4 8 16 32 64 128)
mapfile -t fifty < <(for i in $(seq 0 49); do echo $((i * 51 / 10 + 1)); done)
mapfile -t ten < <(for i in $(seq 0 5 49); do echo "${fifty[i]}"; done)  # by plain SQL, which takes long
mapfile -t all < <(seq 1 255)
declare -A ours=([three]="$(json_of $three)" [four]="$(json_of $four)" [eight]="$(json_of $eight)" [singles]="$(json_of "${singles[@]}")"
  [fifty]="$(json_of "${fifty[@]}")" [all]="$(json_of "${all[@]}")")
sql_of() { echo "SELECT sum(c * ln(c::float8)) FROM (SELECT count(*) AS c FROM $1 GROUP BY $(set_of "$2")) s;"; }
grouping_sets() {
  local sets=() n table=$1
  shift
  for n in "$@"; do sets+=("($(set_of "$n"))"); done
  echo "SELECT g, sum(c * ln(c::float8)) FROM (SELECT grouping($(list "${names[@]}")) AS g, count(*) AS c FROM $table GROUP BY GROUPING SETS ($(list "${sets[@]}"))) s GROUP BY g;"
}

declare -A times
# timed KEY SQL...: runs the statements in a session of their own and notes milliseconds: of all, and of ours also those
# of the pass and of what comes after it.
timed() {
  local key=$1 out
  shift
  out=$(printf '%s\n' "SET client_min_messages = debug1;" "\\timing on" "$@" | "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 2>&1) || { echo "$out" >&2; exit 1; }
  times[$key]+="$(awk '$1 == "Time:" { t += $2 } END { print t }' <<<"$out") "
  times[$key.pass]+="$(sed -nE 's/.*read [0-9]+ columns in ([0-9.]+) ms, counted.*/\1/p' <<<"$out" | awk '{ t += $1 } END { print t + 0 }') "
  times[$key.after]+="$(sed -nE 's/.*, counted [0-9]+ sets in ([0-9.]+) ms.*/\1/p' <<<"$out" | awk '{ t += $1 } END { print t + 0 }') "
}
of() { median <<<"${times[$1]}"; }

one_round() {
  local table=$1 rows=$2 round=$3 n statements
  timed count "SELECT count(*) FROM $table;"
  for n in three four eight singles fifty all; do timed $n "SELECT count(*) FROM privacy_score.attribute_set_risk('$table', '${ours[$n]}');"; done
  if [ "$round" -le "$(single_rounds "$rows")" ]; then
    timed sql.three "$(sql_of "$table" $three)"
    timed sql.four "$(sql_of "$table" $four)"
    timed sql.eight "$(sql_of "$table" $eight)"
    timed grouping.singles "$(grouping_sets "$table" "${singles[@]}")"
  fi
  if [ "$round" -le "$(many_rounds "$rows")" ]; then
    mapfile -t statements < <(for n in "${singles[@]}"; do sql_of "$table" "$n"; done)
    timed sql.singles "${statements[@]}"
    mapfile -t statements < <(for n in "${ten[@]}"; do sql_of "$table" "$n"; done)
    timed sql.ten "${statements[@]}"
  fi
}

# The most memory of its own that a session has while it runs a statement, in megabytes.
memory_of() {
  local out=$PS_TMP/pid most=0 now pid
  printf '%s\n' "SELECT pg_backend_pid();" "\\g $out" "$1" | "$PS_BINDIR/psql" -XAtq >/dev/null 2>&1 &
  local client=$!
  while ! [ -s "$out" ] && kill -0 $client 2>/dev/null; do sleep 0.01; done
  pid=$(cat "$out")
  while now=$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$now" ]; do
    if [ "$now" -gt $most ]; then most=$now; fi
    sleep 0.02
  done
  wait $client
  rm -f "$out"
  echo $((most / 1024))
}

# --- the section ------------------------------------------------------------------------------------------------------

# row LABEL KEY SQL_KEY [FACTOR NOTE]: one line of the table; times in seconds and as multiples of count(*).
row() {
  local base sql=
  base=$(of "count")
  if [ -n "${times[$3]:-}" ]; then sql=$(of "$3"); fi
  awk -v label="$1" -v t="$(of "$2")" -v pass="$(of "$2.pass")" -v after="$(of "$2.after")" \
    -v base="$base" -v sql="$sql" -v factor="${4:-1}" -v note="${5:-}" 'BEGIN {
      printf "| %s | %.3f | %.2f | %.2f | %.2f | ", label, t / 1000, t / base, pass / base, after / base
      if (sql == "") print "| | |"; else printf "%.2f%s | %.1f | %.1f |\n", sql * factor / 1000, note, sql * factor / base, sql * factor / t }'
}

# Multiples of the time that count(*) takes, or another.
multiple() { ratio "$(of "$1")" "$(of "${2:-count}")" 4; }
declare -A most_after=([uniform]=30 [zipf]=14 [repeated]=4)
targets_of() {
  target "$1: the pass for all 255 sets / \`count(*)\`" "$(multiple all.pass)" at-most 4
  target "$1: all 255 sets after the pass / \`count(*)\`" "$(multiple all.after)" at-most "${most_after[$1]}"
  target "$1: one set of 4 columns after the pass / \`count(*)\`" "$(multiple four.after)" at-most 0.2
  target "$1: one set of 4 columns after the pass / the same by plain SQL" "$(multiple four.after sql.four)" at-most 0.2
}

tables=$PS_TMP/tables targets=$PS_TMP/targets
: >"$tables"
: >"$targets"
for rows in "${sizes[@]}"; do
  for kind in uniform zipf repeated; do
    make_table $kind "$rows"
    times=()
    for round in $(seq "$rounds"); do
      one_round $kind "$rows" "$round"
      printf '%s rows, %s: round %s of %s\n' "$rows" $kind "$round" "$rounds" >&2
    done
    memory=$(memory_of "SELECT count(*) FROM privacy_score.attribute_set_risk('$kind', '${ours[all]}');")
    without=$(memory_of "SELECT count(*) FROM privacy_score.attribute_set_risk('$kind', '[]');")
    distinct=$(q "SELECT distinct_values FROM privacy_score.attribute_set_risk('$kind', '${ours[eight]}')")
    {
      echo
      echo "### $kind, $rows rows, $distinct distinct"
      echo
      echo "\`count(*)\`: $(of count) ms. Memory for all 255 sets: $((memory - without)) MB, $(((memory - without) * 1048576 / rows)) bytes a row."
      echo
      echo "| sets | seconds | x count(*) | pass x | after x | plain SQL: seconds | x count(*) | plain SQL / ours |"
      echo "|---|---|---|---|---|---|---|---|"
      row "1 of 3 columns (a, c, h)" three sql.three
      row "1 of 4 columns (a, c, f, g)" four sql.four
      row "1 of all 8 columns" eight sql.eight
      row "8 single columns" singles sql.singles
      row "8 single columns (plain SQL: GROUPING SETS)" singles grouping.singles
      row "50 sets" fifty sql.ten 5 " (estimate)"
      row "all 255 sets" all sql.ten 25.5 " (estimate)"
    } >>"$tables"
    if [ "$rows" = "$most" ]; then targets_of $kind >>"$targets"; fi
    q "DROP TABLE $kind" >/dev/null
  done
done

echo "## Rates of attribute sets"
echo
echo "At $most rows:"
echo
target_header
cat "$targets"
echo
echo "Medians of $rounds interleaved rounds; of plain SQL at $most rows $(single_rounds "$most") for one set and GROUPING SETS, $(many_rounds "$most") for many sets (at fewer rows 3). Times in seconds; multiples are of \`count(*)\` on the same table. *Pass*: reading the columns that the sets have"
echo "and collapsing rows to distinct tuples. *After*: counting the sets. Plain SQL: a statement a set,"
echo "\`SELECT sum(c * ln(c)) FROM (SELECT count(*) AS c FROM t GROUP BY ...)\`. What it takes for 50 and 255 sets is estimated from ten"
echo "of them, spread evenly in the order of their bit patterns. *Repeated*: a twentieth as many different rows as rows, drawn by Zipf. One process, \`work_mem\` and"
echo "\`maintenance_work_mem\` 2 GB, JIT off, unlogged tables of 8 smallint columns after VACUUM FREEZE, all in shared buffers."
cat "$tables"
part_done

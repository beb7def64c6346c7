#!/bin/bash
# noise.sh - what exact noise costs: draws a second, dp_count against count(*), many analysts at once, noisy_count.
#
#   scripts/sandbox.sh bench/noise.sh           9 rounds; 31 of dp_count against count(*)
#
# Prints a section in Markdown. The server writes its WAL to disk as it does by default, for each answer waits for that.
# "One commit" is a transaction of the same server, in the same rounds, that inserts one row.
. "$(dirname "$0")/lib.sh"

rows=1000000
if quick; then rows=100000; fi
analysts=32

start_server "max_parallel_workers_per_gather = 0" "fsync = on" "shared_buffers = '256MB'" "max_connections = 100"
q "CREATE EXTENSION privacy_score" "CREATE TABLE t AS SELECT i AS id, i % 10 AS g FROM generate_series(1, $rows) i" \
  "CREATE TABLE small AS SELECT i AS id, i % 10 AS g FROM generate_series(1, 100) i" "CREATE TABLE one (i int)" >/dev/null
q "VACUUM (FREEZE, ANALYZE)" >/dev/null
for i in $(seq 0 $((analysts - 1))); do
  printf '%s\n' "CREATE ROLE a$i LOGIN; GRANT SELECT ON t, small TO a$i; GRANT INSERT ON one TO a$i;" \
    "SELECT privacy_score.dp_grant('a$i', 't', 1000000), privacy_score.dp_grant('a$i', 'small', 1000000);"
done | q_script >/dev/null
q "CREATE TABLE indexed AS TABLE t" "CREATE INDEX ON indexed (id)" "VACUUM (FREEZE, ANALYZE) indexed" "GRANT SELECT ON indexed TO a0" "CREATE TABLE trusting AS TABLE t" "CREATE INDEX ON trusting (id)" \
  "VACUUM (FREEZE, ANALYZE) trusting" "SELECT privacy_score.dp_grant('a0', 'indexed', 1000000), privacy_score.dp_grant('a0', 'trusting', 1000000, constant_work => false)" >/dev/null

# --- one analyst ------------------------------------------------------------------------------------------------------

# in_turns ROUNDS STATEMENT...: runs the statements in turns in one session; prints the milliseconds of each round on a
# line, parted by spaces. Two rounds before that only warm up.
in_turns() {
  local turns=$1 statement i
  shift
  {
    echo "\\timing on"
    for i in $(seq $((turns + 2))); do
      for statement in "$@"; do printf '%s;\n' "$statement"; done
    done
  } | PGUSER=a0 "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 | sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p' |
    awk -v n=$# '{ printf "%s%s", $1, NR % n == 0 ? "\n" : " " }' | tail -n +3
}

turns=$(rounds_of 31)
times=$PS_TMP/times
in_turns "$turns" "SELECT count(*) FROM t" "SELECT privacy_score.dp_count('t', NULL, 0.1, true)" "SELECT count(*) FROM t WHERE g < 5 AND id > 100" \
  "SELECT privacy_score.dp_count('t', 'g < 5 AND id > 100', 0.1, true)" "INSERT INTO one VALUES (1)" "SELECT privacy_score.dp_count('t', 'g < 5', 0.1)" \
  "SELECT privacy_score.dp_count('small', 'g < 5', 0.1, true)" "SELECT count(*) FROM indexed WHERE id = 7" "SELECT privacy_score.dp_count('indexed', 'id = 7', 0.1, true)" \
  "SELECT privacy_score.dp_count('trusting', 'id = 7', 0.1, true)" >"$times"
if [ "$(wc -l <"$times")" -ne "$turns" ]; then bail_out "dp_count fails"; fi
column() { cut -d' ' -f"$1" "$times" | median; }
commit=$(column 5)
# Median of the rounds' own ratios, the commit taken off.
costs() { awk -v a="$1" -v b="$2" '{ print ($b - $5) / $a }' "$times" | median; }

# --- many at once -----------------------------------------------------------------------------------------------------

script() {
  echo "SET SESSION AUTHORIZATION a:client_id;"
  echo "$1;"
}
script "SELECT count(*) FROM t WHERE g < 5" >"$PS_TMP/count.sql"
script "SELECT privacy_score.dp_count('t', 'g < 5', 0.1, true)" >"$PS_TMP/dp_count.sql"
script "INSERT INTO one VALUES (1)" >"$PS_TMP/commit.sql"
script "SELECT privacy_score.dp_count('small', 'g < 5', 0.1, true)" >"$PS_TMP/charge.sql"
declare -A rates
# at_once SCRIPT CLIENTS TRANSACTIONS: notes transactions a second.
at_once() {
  rates[$1.$2]+="$("$PS_BINDIR/pgbench" -n -f "$PS_TMP/$1.sql" -c "$2" -j 2 -t "$3" 2>/dev/null | sed -nE 's/^tps = ([0-9.]+) .*/\1/p') "
}
for round in $(seq "$rounds"); do
  at_once count 1 16
  at_once dp_count 1 16
  at_once count $analysts 1
  at_once dp_count $analysts 1
  at_once commit 1 200
  at_once charge 1 200
  at_once commit $analysts 20
  at_once charge $analysts 20
  printf 'many at once: round %s of %s\n' "$round" "$rounds" >&2
done
rate() { tr ' ' '\n' <<<"${rates[$1]}" | median; }
spent=$(q "SELECT count(DISTINCT role) FROM privacy_score.dp_releases WHERE relation = 't'::regclass" 2>/dev/null)

# --- the aggregates ---------------------------------------------------------------------------------------------------

queries=(
  "SELECT sum(i) FROM generate_series(1, $rows) i"
  "SELECT sum(privacy_score.discrete_laplace(10)) FROM generate_series(1, $rows) i"
  "SELECT sum(floor(-10 * ln(random())) * sign(random() - 0.5)) FROM generate_series(1, $rows) i"
  "SELECT count(*) FROM t"
  "SELECT privacy_score.noisy_count(0.1) FROM t"
  "SELECT privacy_score.noisy_count(g, 0.1) FROM t"
  "SELECT count(*) FROM (SELECT privacy_score.noisy_count(0.1) FROM t GROUP BY g) s"
)
totals=()
for round in $(seq "$rounds"); do
  for i in "${!queries[@]}"; do totals[i]+="$(time_of "${queries[i]}") "; done
done
sampler=$("$programs/noise") || bail_out "the sampler fails"

# --- the section ------------------------------------------------------------------------------------------------------

echo "## Noisy counts"
echo
target_header
target "\`dp_count\` of all rows, without one commit / \`count(*)\`" "$(costs 1 2)" at-most 1.05
target "\`dp_count\` with a predicate, without one commit / \`count(*)\` with it" "$(costs 3 4)" at-most 1.05
target "draws a second at epsilon 0.1 / those of a sampler in doubles" "$(awk -F'|' '$2 + 0 == 0.1 && $2 !~ /0.10/ { print $6 + 0; exit }' <<<"$sampler")" at-least 0.2
echo
echo "A table of $rows rows and 2 columns, all in shared buffers; no parallel workers. In one warm session, median of"
echo "$turns interleaved rounds; the targets are the medians of the rounds' own ratios. A commit"
echo "(\`INSERT\` of one row, fsync on): $(column 5) ms."
echo
echo "| question | milliseconds | | milliseconds |"
echo "|---|---|---|---|"
echo "| \`count(*)\` | $(column 1) | \`dp_count\`, paid | $(column 2) |"
echo "| \`count(*) WHERE g < 5 AND id > 100\` | $(column 3) | \`dp_count\` with it, paid | $(column 4) |"
echo "| | | \`dp_count\`, the same question again, free | $(column 6) |"
echo "| | | \`dp_count\` of 100 rows, paid | $(column 7) |"
echo "| \`count(*) WHERE id = 7\` by an index | $(column 8) | \`dp_count\` with it, of all rows, paid | $(column 9) |"
echo "| | | the same with \`constant_work => false\`, by the index, paid | $(column 10) |"
echo
echo "Analysts at once, each a role with a budget of its own (${spent:-?} roles have paid); answers a second, median of"
echo "$rounds interleaved rounds:"
echo
echo "| | 1 analyst | $analysts analysts |"
echo "|---|---|---|"
echo "| \`count(*) WHERE g < 5\`, $rows rows | $(rate count.1) | $(rate count.$analysts) |"
echo "| \`dp_count\` of the same | $(rate dp_count.1) | $(rate dp_count.$analysts) |"
echo "| \`dp_count\` of 100 rows | $(rate charge.1) | $(rate charge.$analysts) |"
echo "| commits of one row | $(rate commit.1) | $(rate commit.$analysts) |"
echo
echo "$sampler"
echo
echo "In SQL, $rows rows, median of $rounds interleaved rounds:"
echo
echo "| query | milliseconds |"
echo "|---|---|"
for i in "${!queries[@]}"; do
  printf '| `%s` | %.0f |\n' "${queries[i]}" "$(median <<<"${totals[i]}")"
done
part_done

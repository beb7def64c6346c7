#!/bin/bash
# optimal_judge.sh - optimal bucket settings against another solver: the full integer program of random tables, solved by
# the program cbc (package coinor-cbc), has the same least loss, or no solution either.
. "$(dirname "$0")/../lib.sh"
if ! command -v cbc >/dev/null; then
  echo "cbc is not installed (package coinor-cbc): optimal settings are not judged by it"
  done_testing
  exit
fi
start_server
q "CREATE EXTENSION privacy_score" >/dev/null

# Tables of 2 to 9 values and up to some hundred records or a million, thresholds by frequency or at random, sizes up to 12.
q "SELECT setseed(0.25)" "CREATE TABLE instance AS SELECT n, (SELECT array_agg(greatest(1, floor(power(10, 1 + 4 * random() * (n % 2) + random()))::bigint) ORDER BY g) FROM generate_series(1, 2 + n % 8) g) AS counts FROM generate_series(1, 40) n" \
  "ALTER TABLE instance ADD thresholds text[]" \
  "UPDATE instance i SET thresholds = (SELECT array_agg(CASE WHEN n % 3 = 0 THEN (1 + floor(random() * 3))::text || '/' || (3 + floor(random() * 2)) ELSE least(1, round((1 + n % 4) * c / s + 0.1, 4))::text END ORDER BY place)
     FROM unnest(counts) WITH ORDINALITY u(c, place), (SELECT sum(c) AS s FROM unnest(counts) c) t)" \
  "CREATE VIEW capacity AS SELECT n, place, c, s, floor(s * split_part(t || '/1', '/', 1)::numeric / split_part(t || '/1', '/', 2)::numeric)::bigint AS room
     FROM instance, unnest(counts, thresholds) WITH ORDINALITY u(c, t, place), generate_series(1, 12) s" >/dev/null
# The program in the format that cbc reads.
program() {
  q "SELECT 'Minimize' || chr(10) || ' obj: ' || string_agg(format('+ %s b%s', (s - 1) * (s - 1), s), ' ') FROM generate_series(1, 12) s" "SELECT 'Subject To'" \
    "SELECT format(' v%s: %s = %s', place, string_agg(format('+ y%s_%s', place, s), ' '), c) FROM capacity WHERE n = $1 GROUP BY place, c" \
    "SELECT format(' s%s: %s - %s b%s = 0', s, string_agg(format('+ y%s_%s', place, s), ' '), s, s) FROM capacity WHERE n = $1 GROUP BY s" \
    "SELECT format(' c%s_%s: y%s_%s - %s b%s <= 0', place, s, place, s, room, s) FROM capacity WHERE n = $1" \
    "SELECT 'Generals'" "SELECT string_agg(format('y%s_%s', place, s), ' ') FROM capacity WHERE n = $1 GROUP BY place" "SELECT string_agg('b' || s, ' ') FROM generate_series(1, 12) s" "SELECT 'End'"
}
same=0 impossible=0 unproved=0 differ=''
for n in $(seq 40); do
  program "$n" >"$PS_TMP/program.lp"
  rm -f "$PS_TMP/solution"
  cbc "$PS_TMP/program.lp" -sec 20 -ratioGap 0 -allowableGap 0 -solve -solu "$PS_TMP/solution" >"$PS_TMP/cbc.log" 2>&1
  theirs=$(sed -nE '1s/^Optimal - objective value +([0-9.]+).*/\1/p' "$PS_TMP/solution" 2>/dev/null)
  if ! [ "$theirs" ] && grep -qE 'infeasible' "$PS_TMP/cbc.log"; then theirs=none; fi
  ours=$(q "SELECT coalesce(sum(loss)::text || CASE max(gap) WHEN 0 THEN '' ELSE ' unproved' END, 'none') FROM instance, privacy_score.bucket_setting(counts, thresholds, max_bucket => 12) WHERE n = $n")
  case "$ours|${theirs%%.*}" in
    none\|none) impossible=$((impossible + 1)) ;;
    *\|) unproved=$((unproved + 1)) ;;  # its time was over
    "${theirs%%.*}|$ours") same=$((same + 1)) ;;
    *) differ+="$n: $ours, cbc $theirs; " ;;
  esac
done
check "cbc finds the same least loss, or none either" "$differ" ""
check_true "for most of the tables ($same the same, $impossible without a setting, $unproved not solved by cbc)" test $((same + impossible)) -ge 30
check_true "with solutions and without" test "$same" -ge 15 -a "$impossible" -ge 1
done_testing

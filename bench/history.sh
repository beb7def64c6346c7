#!/bin/bash
# history.sh - what scoring costs: a new n-gram against 10,000 of the baseline, and a month of a million statements.
#
#   scripts/sandbox.sh bench/history.sh           9 rounds
#
# Prints a section in Markdown.
. "$(dirname "$0")/lib.sh"

events=1000000
if quick; then events=50000; fi

new_ngrams=$("$programs/score" 105 300 1000) || bail_out "the scorer fails"

# Statements are pairs of columns and a filter of one table: 110 of them. A month of few sessions is the baseline, in
# which about 10,000 of their 12,100 pairs stand side by side; then comes the month that is scored.
start_server "maintenance_work_mem = '256MB'" "shared_buffers = '256MB'"
q "CREATE EXTENSION privacy_score" "CREATE TABLE wide ($(for i in $(seq 11); do printf 'c%s int, ' "$i"; done)id int PRIMARY KEY)" \
  "INSERT INTO wide SELECT $(for i in $(seq 11); do printf 'i %% %s, ' $((i + 3)); done)i FROM generate_series(1, 5000) i" "ANALYZE wide" \
  "SELECT privacy_score.protect('wide')" "CREATE ROLE analyst" >/dev/null
# imported FROM_DAY EVENTS SESSIONS_A_DAY: statements of 30 days as rows to be imported.
imported() {
  echo "SELECT format('s%s', i / ($2 / (30 * $3))), 'analyst'::name,
    timestamptz '$1 08:00' + (i / ($2 / (30 * $3)) / $3) * interval '1 day' + i % ($2 / (30 * $3)) * interval '1 second',
    format('SELECT c%s FROM wide WHERE c%s = 1', x / 10 + 1, (x / 10 + x % 10 + 1) % 11 + 1)
    FROM (SELECT i, (hashint8extended(i, 7) & 2147483647)::int % 110 AS x FROM generate_series(0, $2 - 1) i) e"
}
import_ms=$(time_of "SELECT privacy_score.import_statements(\$\$$(imported 2024-05-01 21000 2)\$\$)")
baseline_ms=$(time_of "SELECT privacy_score.set_baseline('analyst', '2024-05-01', '2024-05-31')")
month_ms=$(time_of "SELECT privacy_score.import_statements(\$\$$(imported 2024-06-01 "$events" 60)\$\$)")
q "SELECT privacy_score.flush()" >/dev/null

sessions=$(q "SELECT count(*) FROM privacy_score.session WHERE day >= '2024-06-01'")
statements=$(q "SELECT sum(queries) FROM privacy_score.session WHERE day >= '2024-06-01'")
ngrams=$(q "SELECT count(DISTINCT ngram) FROM (SELECT ids[i:i+1] AS ngram FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
  generate_series(1, array_length(ids, 1) - 1) i WHERE day < '2024-06-01') x")
if [ "$statements" != "$events" ]; then bail_out "a month of $statements statements was imported, not of $events"; fi

calls=(score score_sessions score_ngrams)
arguments="'analyst', '2024-06-01', '2024-06-30'"
declare -A first times
for call in "${calls[@]}"; do first[$call]=$(time_of "SELECT count(*) FROM privacy_score.$call($arguments)"); done
for round in $(seq "$rounds"); do
  for call in "${calls[@]}"; do
    # This one takes long: it tells each n-gram's nearest.
    if [ "$call" = score_ngrams ] && [ "$round" -gt 1 ]; then continue; fi
    times[$call]+="$(time_of "SELECT count(*) FROM privacy_score.$call($arguments)") "
  done
  echo "round $round of $rounds" >&2
done

echo "## Scoring"
echo
target_header
target "a new n-gram against 10,000 of the baseline, slowest median of the cases" "$(awk -F'|' '$4 + 0 > most { most = $4 + 0 } END { print most }' <<<"$new_ngrams")" at-most 200 us
echo
echo "An n-gram that a baseline of 10,000 does not have, when it is met: microseconds of processor time, 400 n-grams a case, from the scorer that the backend uses,"
echo "without a server. Four relations of 24 columns; statements reveal one to nine columns. *New order*: both statements are the baseline's. *A new"
echo "statement*: one that neither the baseline nor the session has, with exact rates for whatever is asked, or with bounds for what no worker has computed."
echo
echo "$new_ngrams"
echo
echo "A month of $statements statements in $sessions sessions, against a baseline of $ngrams n-grams of length 2 over 110 distinct statements. Milliseconds; medians of"
echo "$rounds interleaved rounds but for what can be done once, and \`score_ngrams()\`, of one."
echo "The first call also computes the rates that nobody has asked for before."
echo
echo "| | milliseconds | statements a second |"
echo "|---|---|---|"
line() { awk -v what="$1" -v t="$2" -v n="$3" 'BEGIN { printf "| %s | %.0f | %s |\n", what, t, (n > 0 ? sprintf("%.0f", n / t * 1000) : "") }'; }
line "\`import_statements()\` of the month" "$month_ms" "$events"
line "\`import_statements()\` of the baseline, 21000 statements" "$import_ms" 21000
line "\`set_baseline()\`" "$baseline_ms" 0
for call in "${calls[@]}"; do
  line "\`$call()\`, the first call" "${first[$call]}" 0
  line "\`$call()\`" "$(median <<<"${times[$call]}")" "$events"
done
part_done

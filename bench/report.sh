#!/bin/bash
# report.sh - the report of many roles: 200 roles, 90 days, a million statements, beside its own queries run by hand.
#
#   scripts/sandbox.sh bench/report.sh            3 rounds
#
# Prints a section in Markdown.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/long_history.sh"

roles=200 days=90
if quick; then roles=20 days=30; fi
rounds=3

start_server "maintenance_work_mem = '256MB'" "shared_buffers = '256MB'"
write_history $roles $days 56 $((days / 3))
days_asked="current_date - $days, current_date"
# What a report asks, as one would by hand; the first time also computes rates, for whoever comes first.
queries=(
  "SELECT r.role, s.* FROM (SELECT DISTINCT role FROM privacy_score.session) r, LATERAL privacy_score.score(r.role, $days_asked) s"
  "SELECT r.role, s.* FROM (SELECT DISTINCT role FROM privacy_score.session) r, LATERAL privacy_score.score_sessions(r.role, $days_asked) s WHERE s.score > 0 ORDER BY s.score DESC LIMIT 20"
  "SELECT n.* FROM (SELECT role, day FROM worst) w, LATERAL privacy_score.score_ngrams(w.role, w.day, w.day) n"
  "SELECT * FROM privacy_score.protected_relations, LATERAL privacy_score.attribute_risk(relation)"
  "SELECT privacy_score.relationship_chart('wide')"
  "SELECT * FROM privacy_score.alerts"
)
q "CREATE TABLE worst AS SELECT DISTINCT r.role, s.day FROM (SELECT role, day, score FROM (SELECT DISTINCT role FROM privacy_score.session) r,
   LATERAL privacy_score.score_sessions(r.role, $days_asked) s WHERE s.score > 0 ORDER BY s.score DESC LIMIT 20) s JOIN privacy_score.session r USING (role, day)" >/dev/null
declare -A times
for round in $(seq "$rounds"); do
  times[report]+="$(time_of "SELECT privacy_score.report(NULL, $days_asked)") "
  bytes=$(wc -c <"$PS_TMP/answer")
  for i in "${!queries[@]}"; do times[$i]+="$(time_of "${queries[$i]}") "; done
  echo "round $round of $rounds" >&2
done
by_hand=0
for i in "${!queries[@]}"; do by_hand=$(awk -v a="$by_hand" -v b="$(median <<<"${times[$i]}")" 'BEGIN { print a + b }'); done
report_ms=$(median <<<"${times[report]}")

echo "## The report of many roles"
echo
target_header
target "report() of $roles roles and $days days, against its queries by hand" "$(ratio "$report_ms" "$by_hand")" at-most 2 times
target "size of that page" "$(awk -v b="$bytes" 'BEGIN { printf "%.2f", b / 1e6 }')" at-most 5 MB
echo
echo "$statements statements of $roles roles in $days days, one session a role and day; each role has a habit of twelve of 110 statements, of which now and"
echo "then one is another. Baselines of the first third of the days; the page is about all of them. Milliseconds, medians of $rounds rounds in turns."
echo
echo "| | milliseconds |"
echo "|---|---|"
line() { awk -v what="$1" -v t="$2" 'BEGIN { printf "| %s | %.0f |\n", what, t }'; }
line "$roles times \`set_baseline()\`, once" "$baselines_ms"
line "\`report()\`" "$report_ms"
line "by hand: \`score()\` of each role" "$(median <<<"${times[0]}")"
line "by hand: \`score_sessions()\` of each role, the worst twenty" "$(median <<<"${times[1]}")"
line "by hand: \`score_ngrams()\` of their days" "$(median <<<"${times[2]}")"
line "by hand: \`attribute_risk()\`, \`relationship_chart()\`, \`alerts\`" "$(median <<<"${times[3]}" | awk -v b="$(median <<<"${times[4]}")" -v c="$(median <<<"${times[5]}")" '{ print $1 + b + c }')"
part_done

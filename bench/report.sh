#!/bin/bash
# report.sh - the report of many roles: 200 roles, 90 days, a million statements, beside its own queries run by hand.
#
#   scripts/sandbox.sh bench/report.sh            3 rounds
#
# Prints a section in Markdown.
. "$(dirname "$0")/lib.sh"

roles=200 days=90
if quick; then roles=20 days=30; fi
rounds=3

# Statements are pairs of columns and a filter of one table: 110 of them, of which each role has the habit of twelve. The
# history is written into its tables as the worker writes it: importing it would be measured by bench/history.sh.
start_server "maintenance_work_mem = '256MB'" "shared_buffers = '256MB'"
q "CREATE EXTENSION privacy_score" "CREATE TABLE wide ($(for i in $(seq 11); do printf 'c%s int, ' "$i"; done)id int PRIMARY KEY)" \
  "INSERT INTO wide SELECT $(for i in $(seq 11); do printf 'i %% %s, ' $((i + 3)); done)i FROM generate_series(1, 5000) i" "ANALYZE wide" \
  "SELECT privacy_score.protect('wide')" >/dev/null
q_script >&2 <<SQL || bail_out "the history cannot be made"
SELECT format('CREATE ROLE role_%s', to_char(r, 'FM000')) FROM generate_series(1, $roles) r \gexec
SELECT privacy_score.import_statements(\$\$ SELECT 'seed', 'seed'::name, timestamptz '2024-01-01' + x * interval '1 second',
  format('SELECT c%s FROM wide WHERE c%s = 1', x / 10 + 1, (x / 10 + x % 10 + 1) % 11 + 1) FROM generate_series(0, 109) x \$\$);
CREATE TEMP TABLE statement AS SELECT row_number() OVER (ORDER BY id) - 1 AS n, id FROM privacy_score.abstraction;
DELETE FROM privacy_score.session;
DELETE FROM privacy_score.session_part;
INSERT INTO privacy_score.session (role, session, day, started, last_at, source, queries)
  SELECT 'role_' || to_char(r, 'FM000'), 'day ' || d, d, d + time '09:00', d + time '16:00', 'import', 56
    FROM generate_series(1, $roles) r, (SELECT current_date - n AS d FROM generate_series(1, $days) n) x;
INSERT INTO privacy_score.session_part (session_id, part, ids, runs, rows)
  SELECT s.id, 1, array_agg(t.id ORDER BY i), array_agg(1::bigint), array_agg(3::bigint)
    FROM privacy_score.session s CROSS JOIN generate_series(1, 56) i CROSS JOIN LATERAL (SELECT hashint8extended(i, s.id) & 2147483647 AS x) h
    JOIN statement t ON t.n = (CASE WHEN h.x % 1000 < CASE WHEN s.day > current_date - $days * 2 / 3 THEN 4 ELSE 1 END THEN h.x / 1000
                                    ELSE right(s.role, 3)::int * 7 + (h.x / 1000) % 12 END) % 110
   GROUP BY s.id;
ANALYZE;
SQL
statements=$(q "SELECT sum(queries) FROM privacy_score.session")
baselines_ms=$(PGOPTIONS="-c client_min_messages=error" time_of "SELECT sum(privacy_score.set_baseline(role, current_date - $days, current_date - $days * 2 / 3)) FROM (SELECT DISTINCT role FROM privacy_score.session) r")
if [ "$(q "SELECT count(*) FROM privacy_score.baselines WHERE active")" != $roles ]; then bail_out "not every role has a baseline"; fi
q "SELECT privacy_score.flush()" >/dev/null
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

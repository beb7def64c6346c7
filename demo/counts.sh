# counts.sh - noisy counts: the health office has a budget for the diagnoses and may not read a row. Sourced by run.sh.
#
# The noise is drawn anew in each run, so these numbers are the only ones of the report that differ between runs.
# shellcheck shell=bash

office() { PGUSER=health_office table "$@"; }
# What the office is told instead of an answer.
refused() { office -v VERBOSITY=verbose 2>&1 <<<"$1;" | sed -nE '/^(ERROR|DETAIL|HINT)/s/^/  /p' || true; }

sql -c "CREATE ROLE health_office LOGIN"
echo "health_office may read nothing here:"
refused "SELECT count(*) FROM diagnoses"
echo
echo "The owner gives a budget: epsilon 1 in all, and what is hidden are patients, each with at most 3 of the diagnoses."
echo "SELECT privacy_score.dp_grant('health_office', 'diagnoses', epsilon => 1, unit => 'patient_id', max_rows_per_unit => 3);"
sql -o /dev/null -c "SET ROLE hospital" \
  -c "SELECT privacy_score.dp_grant('health_office', 'diagnoses', epsilon => 1, unit => 'patient_id', max_rows_per_unit => 3)"

ask() {
  local answer truth
  answer=$(PGUSER=health_office sql -F ' | ' -v predicate="$1" -v epsilon="$2" <<<"
      SELECT lpad(noisy_count::text, 6), lpad(lower::text, 6), lpad(upper::text, 6), rpad(epsilon_spent::text, 5),
             rpad(epsilon_left::text, 4), rpad(CASE WHEN repeated THEN 'yes' ELSE '' END, 8)
        FROM privacy_score.dp_count_detail('diagnoses', :'predicate', :epsilon)")
  # The owner knows better: of each patient three at most are counted.
  truth=$(sql -c "SELECT sum(least(n, 3)) FROM (SELECT count(*) AS n FROM diagnoses WHERE $1 GROUP BY patient_id) x")
  printf ' %6s | %s | %s\n' "$truth" "$answer" "$1"
}
echo
echo "Its questions (dp_count_detail), beside the true counts, which it does not see. The interval holds with 95 % confidence:"
echo "  truth |  noisy |  lower |  upper | spent | left | repeated | question"
echo " -------+--------+--------+--------+-------+------+----------+----------"
ask "severity >= 3" 0.2
ask "severity >= 3 AND diagnosed_on >= '2025-01-01'" 0.2
ask "diagnosed_on >= DATE '2025-01-01' AND NOT severity < 3" 0.2
ask "icd_code LIKE 'I%'" 0.2
echo "(The third is the second in other words: the answer comes again, and costs nothing.)"
echo
echo "All severities together cost as much as one question:"
office -c "SELECT key AS severity, noisy_count FROM privacy_score.dp_histogram('diagnoses', 'severity', 0.2, keys => '{1,2,3,4}')"
echo "What would single out one person, asked for what is left, drowns in noise:"
ask "patient_id = 42" 0.2
echo "Then the budget is spent:"
refused "SELECT privacy_score.dp_count('diagnoses', 'patient_id = 43', 0.2)"
echo
echo "The ledger, as the owner reads it (privacy_score.dp_releases):"
table -c "SET ROLE hospital" -c "
  SELECT role, kind, epsilon, repeated, times, predicate_shape FROM privacy_score.dp_releases ORDER BY at, repeated"

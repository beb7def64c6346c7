#!/bin/bash
# private_sql.sh - aggregates answered privately: how far off they are, what persons' sums cost, and what a question takes
# beside the same SQL without privacy.
#
#   scripts/sandbox.sh bench/private_sql.sh     9 rounds
#
# Prints a section in Markdown.
. "$(dirname "$0")/lib.sh"

arguments=()
if quick; then arguments=(quick); fi
tables=$PS_TMP/tables
"$programs/private_sql" ${arguments[@]+"${arguments[@]}"} >"$tables" || bail_out "bench/programs/private_sql fails"

# cell ROW COLUMN: of the row whose first cell that is.
cell() { awk -F ' *[|] *' -v row="$1" -v column="$2" '$2 == row { print $column; exit }' "$tables"; }

# Limits are a fifth above the errors that the mechanism had when it was chosen, on people drawn likewise.
echo "## Private aggregates"
echo
echo "Made-up persons, answered as the product answers; no bound on the rows of a person is declared, the norm histogram finds"
echo "one. Columns of epsilon are median errors; beside them the error that 95 % of the runs stay below."
echo
target_header
target "count, Pareto 1.2, epsilon 0.1" "$(cell 'Pareto 1.2' 3)" at-most 18 %
target "count, Pareto 1.2, epsilon 1" "$(cell 'Pareto 1.2' 5)" at-most 10.2 %
target "count, log-normal, epsilon 0.1" "$(cell 'log-normal' 3)" at-most 0.58 %
target "count, log-normal, epsilon 1" "$(cell 'log-normal' 5)" at-most 0.065 %
target "count, one row each, epsilon 0.1" "$(cell 'all 1' 3)" at-most 0.012 %
target "count, one row each, epsilon 1" "$(cell 'all 1' 5)" at-most 0.0012 %
target "count, Poisson 40, epsilon 0.1" "$(cell 'Poisson 40' 3)" at-most 0.0192 %
target "count, Poisson 40, epsilon 1" "$(cell 'Poisson 40' 5)" at-most 0.00204 %
target "50 counts, log-normal, epsilon 1" "$(cell 'log-normal, 50 groups' 5)" at-most 1.44 %
target "50 counts, Poisson 40, epsilon 1" "$(cell 'Poisson 40, 50 groups' 5)" at-most 0.54 %
target "20 persons of 20 rows, with a reference, epsilon 1" "$(cell 'with one' 5)" at-most 9 %
for people in "Pareto 1.2" log-normal "all 1" "Poisson 40" "one of 10^6, others 3"; do
  target "count, $people, epsilon 1, as a share of R2T's error" "$(ratio "$(cell "$people" 5)" "$(cell "$people, R2T" 5)")" at-most 1
done
echo
cat "$tables"
# --- what a question takes, beside the same text without privacy --------------------------------------------------------

rows=1000000
if quick; then rows=100000; fi
start_server "max_parallel_workers_per_gather = 0" "fsync = on" "shared_buffers = '512MB'" "jit = off" "privacy_score.dp_max_epsilon = 1000" "autovacuum = off"
q_script >/dev/null <<SQL || bail_out "the tables cannot be made"
CREATE EXTENSION privacy_score;
CREATE TYPE kind AS ENUM ('inpatient', 'outpatient', 'emergency', 'other');
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL, building text NOT NULL);
CREATE TABLE physicians (physician_id int PRIMARY KEY, specialty text NOT NULL);
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, smoker boolean NOT NULL);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, department_id int NOT NULL REFERENCES departments,
  physician_id int NOT NULL REFERENCES physicians, kind kind NOT NULL, code text NOT NULL, at timestamp NOT NULL, cost numeric(10, 2) NOT NULL, minutes int);
CREATE TABLE one (i int);
INSERT INTO departments SELECT i, 'Department ' || i, chr(65 + i % 4) FROM generate_series(1, 12) i;
INSERT INTO physicians SELECT i, 'Specialty ' || i % 20 FROM generate_series(1, 500) i;
INSERT INTO patients SELECT i, 'City ' || i % 40, i % 3 = 0 FROM generate_series(1, $rows / 10) i;
SELECT setseed(0.5);
INSERT INTO visits SELECT i, 1 + floor(random() * $rows / 10)::int, 1 + floor(random() * 12)::int, 1 + floor(random() * 500)::int,
  (enum_range(NULL::kind))[1 + floor(random() * 4)::int], 'C' || floor(random() * 150)::int, timestamp '2024-01-01' + random() * interval '730 days',
  round((20 + 1000 * random() ^ 3)::numeric, 2), CASE WHEN i % 20 > 0 THEN (random() * 500)::int END FROM generate_series(1, $rows) i;
CREATE INDEX ON visits (at);
VACUUM (FREEZE, ANALYZE);
SELECT privacy_score.protect('patients'), privacy_score.protect('visits', '{patient_id}');
CREATE ROLE ana LOGIN;
CREATE ROLE bob LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
GRANT SELECT ON departments, physicians TO ana, bob;
GRANT SELECT ON visits, patients TO bob;
GRANT INSERT ON one TO bob;
SELECT privacy_score.dp_grant_person('ana', 'patients', 1000000, delta => 0.1);
SQL

# LIMIT|STATEMENT; without a limit the ratio is only printed.
asked=(
  "2.5|SELECT count(*) FROM visits"
  "1.2|SELECT count(*) FROM visits WHERE minutes < 300"
  "1.2|SELECT count(*) FROM visits WHERE cost > 120.5 AND kind = 'inpatient'"
  "1.2|SELECT sum(cost) FROM visits WHERE minutes > 100"
  "1.2|SELECT count(*) FROM visits WHERE at >= '2024-03-01' AND at < '2024-03-03'"
  "1.2|SELECT count(*) FROM visits JOIN departments USING (department_id) WHERE building = 'A'"
  "1.2|SELECT d.name, count(*), avg(v.cost) FROM visits v JOIN departments d USING (department_id) GROUP BY 1"
  "1.2|SELECT d.name, date_trunc('month', v.at) AS month, count(*) FROM visits v JOIN departments d USING (department_id) JOIN physicians p USING (physician_id) WHERE v.at >= '2024-01-01' AND v.at < '2026-01-01' AND p.specialty <> 'Specialty 3' GROUP BY 1, 2"
  "1.4|SELECT kind, count(*) FROM visits GROUP BY kind"
  "1.4|SELECT kind, count(*), avg(cost) FROM visits GROUP BY kind"
  "1.4|SELECT kind, count(*), count(minutes), sum(cost), avg(minutes), avg(cost) FROM visits GROUP BY kind"
  "1.4|SELECT code, count(*) FROM visits GROUP BY code"
  "1.4|SELECT department_id, count(DISTINCT patient_id) FROM visits GROUP BY 1"
  "|SELECT city, count(*) FROM patients GROUP BY city"
)
# Each round asks each statement three times: privately (a new epsilon makes it a new question), as who may read the
# rows by sequential scans, and as the planner likes. Two rounds before only warm up, and pay what a shape costs once.
times=$PS_TMP/cost
{
  for round in $(seq $((rounds + 2))); do
    printf '%s\n' "SET SESSION AUTHORIZATION bob;" '\timing on' "INSERT INTO one VALUES (1);" '\timing off'
    for statement in "${asked[@]}"; do
      printf '%s\n' "SET SESSION AUTHORIZATION ana; SET privacy_score.dp_epsilon = 0.5$(printf '%04d' "$round");" '\timing on' "${statement#*|};" '\timing off' \
        "SET SESSION AUTHORIZATION bob; SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;" '\timing on' "${statement#*|};" '\timing off' \
        "RESET enable_indexscan; RESET enable_indexonlyscan; RESET enable_bitmapscan;" '\timing on' "${statement#*|};" '\timing off'
    done
  done
} | "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 2>"$PS_TMP/cost.errors" | sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p' |
  awk -v n=$((1 + 3 * ${#asked[@]})) '{ printf "%s%s", $1, NR % n == 0 ? "\n" : " " }' | tail -n +3 >"$times"
if [ "$(wc -l <"$times")" -ne "$rounds" ]; then bail_out "a statement fails: $(cat "$PS_TMP/cost.errors")"; fi
paid=$(q "SELECT count(*) FROM privacy_score.dp_releases WHERE kind = 'sql' AND NOT repeated AND role = 'ana'")
if [ "$paid" -lt $((rounds * ${#asked[@]})) ]; then bail_out "answers were repeated: $paid were paid"; fi
# Medians: of milliseconds, and of the rounds' own ratios, with the commit and without.
column() { cut -d' ' -f"$1" "$times" | median; }
costs() { awk -v a="$1" -v b="$2" -v commit="$3" '{ print ($a - commit * $1) / $b }' "$times" | median; }

echo
echo "### What it takes"
echo
target_header
for i in "${!asked[@]}"; do
  if [ -n "${asked[i]%%|*}" ]; then
    target "\`$(sed 's/|/\\|/g' <<<"${asked[i]#*|}")\`, without one commit / by sequential scan without privacy" "$(costs $((2 + 3 * i)) $((3 + 3 * i)) 1)" at-most "${asked[i]%%|*}"
  fi
done
echo
echo "$rows rows of $((rows / 10)) persons in shared buffers, one process each; the medians of $rounds interleaved rounds, and the"
echo "medians of the rounds' own ratios. Each question is new and paid for."
echo
echo "A commit (\`INSERT\` of one row, fsync on): $(column 1) ms."
echo
echo "| statement | without privacy, ms | privately, ms | ratio | without one commit | to the planner's own plan |"
echo "|---|---:|---:|---:|---:|---:|"
for i in "${!asked[@]}"; do
  private=$((2 + 3 * i)) plain=$((3 + 3 * i)) own=$((4 + 3 * i))
  printf '| `%s` | %.1f | %.1f | %.2f | %.2f | %.2f |\n' "${asked[i]#*|}" "$(column $plain)" "$(column $private)" "$(costs $private $plain 0)" "$(costs $private $plain 1)" "$(costs $private $own 0)"
done
part_done

#!/bin/bash
# What a session is told of answers in plain SQL: how far each number may be off, what it has cost, how old it is.
. "$(dirname "$0")/../lib.sh"
start_server "privacy_score.dp_max_epsilon = 1000" "TimeZone = 'UTC'" "IntervalStyle = 'postgres'"
q "CREATE EXTENSION privacy_score" >/dev/null
psql -qX <<'SQL' >/dev/null
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, smoker boolean);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients,
  department_id int NOT NULL REFERENCES departments, cost numeric(10,2), days int, weight float8);
INSERT INTO departments SELECT i, 'D' || i FROM generate_series(1, 5) i;
INSERT INTO patients SELECT i, 'City ' || i % 7, i % 3 = 0 FROM generate_series(1, 4000) i;
INSERT INTO visits SELECT i, 1 + i % 4000, 1 + i % 5, 64, 2, 0.5 FROM generate_series(1, 16000) i;
SELECT privacy_score.protect('patients');
SELECT privacy_score.protect('visits', '{patient_id}');
CREATE ROLE ana LOGIN;
CREATE ROLE bea LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
SECURITY LABEL FOR privacy_score ON ROLE bea IS 'dp only';
GRANT SELECT ON departments TO ana, bea;
ALTER ROLE ana SET search_path = public, privacy_score;
SELECT privacy_score.dp_grant_person('ana', 'patients', 1000000, delta => 0.01);
SELECT privacy_score.dp_grant_person('bea', 'patients', 1, delta => 0.01);
SQL
ana() { as ana q "$@"; }
refused() { as ana q "\\set VERBOSITY verbose" "$1" 2>/dev/null | sed -n 's/^ERROR: *//p'; }
spent() { q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'ana'"; }
last() { as ana q "$1" "SELECT \"column\", epsilon, repeated, t, left_out, half_width FROM dp_last_answer" | tail -n "${2:-1}"; }

# --- half-widths are those of the noise
# Scale 10: P(|noise| > 30) = 0.0473 and P(|noise| > 29) = 0.052, so 30 is the least that holds with 95 %.
check "of a count" "$(last "SELECT count(*) AS n FROM patients")" "n|0.1|f|1|0|30"
check "beside it" "$(ana "SELECT dp_error(count(*)) FROM patients")" "30"
# Each of 400 answers is within 30 with probability 0.9527: fewer than 356, or all, with one below 10^-8.
inside=$(ana "CREATE TEMP TABLE off AS SELECT 0::bigint AS n" "DO \$\$ BEGIN FOR i IN 1..400 LOOP
  EXECUTE format('INSERT INTO off SELECT count(*) - 3999 FROM patients WHERE patient_id <> %s', i); END LOOP; END \$\$" \
  "SELECT count(*) FILTER (WHERE abs(n) <= 30) FROM off WHERE ctid <> '(0,1)'" | tail -n 1)
check_true "as often as they say, $inside of 400" test "$inside" -ge 356 -a "$inside" -lt 400
# The true average is 64, whatever rows are chosen; noise in sum and count takes most of them off by more than a cent.
# Fewer than 82 are within with probability below 10^-6. A bin of the histogram that noise alone fills makes the bound and
# the half-width large once in some hundred questions: more than ten times of 100 below 10^-12.
inside=$(ana "CREATE TEMP TABLE off AS SELECT 0::numeric AS n, 0::float8 AS e" "DO \$\$ BEGIN FOR i IN 1..100 LOOP
  EXECUTE format('INSERT INTO off SELECT avg(cost) - 64, dp_error(avg(cost)) FROM visits WHERE visit_id <> %s', i); END LOOP; END \$\$" \
  "SELECT count(*) FILTER (WHERE abs(n) <= e), count(*) FILTER (WHERE abs(n) > 0.01) > 50, count(*) FILTER (WHERE e < 64) >= 90 FROM off WHERE ctid <> '(0,1)'" | tail -n 1)
check_match "averages too, $inside of 100" "$inside" "^(8[2-9]|9[0-9]|100)\\|t\\|t$"
# At that epsilon noise fills a bin with probability below 10^-5. Costs are summed in hundredths.
check "a sum in its own units" \
  "$(ana "SET privacy_score.dp_epsilon = 100" "SELECT dp_error(sum(cost)) / dp_error(sum(days)) BETWEEN 16 AND 64 FROM visits")" "t"
check "types" "$(ana "SELECT dp_error(sum(days)) > 0, dp_error(sum(cost)) > 0, dp_error(sum(weight)) > 0, dp_error(avg(days)) > 0,
  dp_error(avg(weight)) > 0, dp_error(count(DISTINCT patient_id)) > 0, pg_typeof(dp_error(count(*))) FROM visits")" "t|t|t|t|t|t|double precision"
check "in HAVING and ORDER BY, with windows" "$(ana "SELECT name, max(dp_error(avg(cost))) OVER () >= dp_error(avg(cost))
  FROM visits JOIN departments USING (department_id) GROUP BY name HAVING dp_error(count(*)) < 1e9 ORDER BY dp_error(count(*)), 1" | tr '\n' ' ')" \
  "D1|t D2|t D3|t D4|t D5|t "
check "an average of nobody is NULL, and so is its error" \
  "$(ana "SET privacy_score.dp_epsilon = 1000" "SELECT avg(cost), dp_error(avg(cost)) FROM visits WHERE visit_id < 0")" "|"

# --- outside of what is answered it is 0, of what is made of answers it is nothing
check "in no query of persons" "$(ana "SELECT dp_error(count(*)), dp_error('x'::text), dp_error(NULL::int) FROM departments")" "0|0|0"
check "beside an answer" "$(ana "SELECT 1, dp_error(count(*)) FROM patients UNION ALL SELECT 2, dp_error(count(*)) FROM departments ORDER BY 1" | tr '\n' ' ')" "1|30 2|0 "
check "in a sub-select" "$(ana "SELECT dp_error(count(*)), (SELECT dp_error(count(*)) FROM departments) FROM patients")" "30|0"
before=$(spent)
no_aggregate="PS003: dp_error() is not beside an aggregate of the same query level"
for query in "SELECT dp_error(count(*) + 1) FROM patients" "SELECT dp_error(city), count(*) FROM patients GROUP BY city" \
  "SELECT dp_error(1), count(*) FROM patients" "SELECT dp_error(n) FROM (SELECT count(*) n FROM patients) x" \
  "WITH m AS (SELECT count(*) n FROM patients) SELECT * FROM (SELECT dp_error(n) FROM m) x" \
  "SELECT dp_error(sum(n)) FROM (SELECT count(*) n FROM patients GROUP BY smoker) x" \
  "SELECT (SELECT dp_error(x.n)) FROM (SELECT count(*) n FROM patients) x" \
  "SELECT dp_error((SELECT count(*) FROM patients))" "SELECT dp_error(sum(count(*)) OVER ()) FROM patients GROUP BY smoker"; do
  check "refused: $query" "$(refused "$query")" "$no_aggregate"
done
check "with its place" "$(as ana q_all "SELECT 1, dp_error(count(*) * 2) FROM patients" | sed -n 2,3p)" \
  $'LINE 1: SELECT 1, dp_error(count(*) * 2) FROM patients\n                  ^'
check "dp_price() says so, too" "$(as ana q_state "SELECT * FROM dp_price('SELECT dp_error(n) FROM (SELECT count(*) n FROM patients) x')")" "PS003"
check "for nothing" "$(spent)" "$before"

# --- the last answer
two="SELECT (SELECT count(*) AS rows FROM visits), avg(cost), sum(cost) AS costs FROM visits WHERE department_id = 1"
first=$(last "$two" 3)
check "levels, columns" "$(ana "$two" "SELECT level, \"column\", epsilon, repeated FROM dp_last_answer ORDER BY 1, 2" | tail -n 3 | tr '\n' ' ')" \
  "1|rows|0.075|t 2|avg|0.065625|t 2|costs|0.028125|t "
check "a repeated answer is as sure as it was" "$(last "$two" 3)" "${first//|f|/|t|}"
check "and as old" "$(ana "SELECT count(*) FROM patients" "SELECT answered_at IN (SELECT at FROM dp_releases WHERE NOT repeated) FROM dp_last_answer" | tail -n 1)" "t"
check "what fails leaves it" "$(ana "SELECT count(*) AS a FROM patients" "DO \$\$ BEGIN PERFORM max(city) FROM patients; EXCEPTION WHEN SQLSTATE 'PS003' THEN NULL; END \$\$" "SELECT \"column\" FROM dp_last_answer" | tail -n 1)" "a"
check "so does ROLLBACK" "$(ana BEGIN "SELECT count(*) AS b FROM patients" ROLLBACK "SELECT \"column\" FROM dp_last_answer" | tail -n 1)" "b"
check "nobody has one before asking" "$(ana "SELECT count(*) FROM dp_last_answer")" "0"
check "nor somebody else's" "$(q "SET SESSION AUTHORIZATION ana" "SELECT count(*) FROM patients" "SET SESSION AUTHORIZATION bea" "SELECT count(*) FROM privacy_score.dp_last_answer" | tail -n 1)" "0"
check "groups without aggregates have none" "$(ana "SELECT DISTINCT smoker FROM patients" "SELECT count(*) FROM dp_last_answer" | tail -n 1)" "0"

# --- notices
notice() { as ana q_all "SET privacy_score.dp_notice = $1" "$2" | grep -E '^(NOTICE|DETAIL|[a-z]+:)'; }
check_match "what it cost" "$(notice cost "SELECT count(*) FROM patients WHERE patient_id > 7")" \
  '^NOTICE:  an answer has cost epsilon 0.1; [0-9.]+ is left for persons of "patients"$'
check_match "what it cost once, and delta" "$(notice cost "SELECT cost, count(*) FROM visits GROUP BY 1")" \
  '^NOTICE:  an answer has cost epsilon 0.1 and delta 0.000001, and 0.05 once for queries of its shape; [0-9.]+ is left for persons of "patients"$'
check_match "that it is repeated" "$(notice cost "SELECT count(*) FROM patients")" \
  '^NOTICE:  an answer is repeated for nothing, as of 20[0-9: .-]+[+]00; [0-9.]+ is left for persons of "patients"$'
check "how sure it is" "$(notice full "SELECT count(*), count(*) FILTER (WHERE smoker) AS smokers FROM patients" | tail -n 2)" \
  $'DETAIL:  count: within 60 with 95 % confidence\nsmokers: within 60 with 95 % confidence'
check "off: nothing" "$(notice off "SELECT count(*) FROM patients WHERE patient_id > 8")" ""

# --- how many rows of a person count
check "said by who asks" "$(last "SET privacy_score.dp_max_rows = 4; SELECT count(*) AS n FROM visits" | cut -d '|' -f 1-5)" "n|0.1|f|4|"
check "it is a question of its own" "$(last "SET privacy_score.dp_max_rows = 8; SELECT count(*) AS n FROM visits" | cut -d '|' -f 3,4)" "f|8"
check "no histogram is paid" "$(ana "SET privacy_score.dp_max_rows = 3" "EXPLAIN SELECT count(*) FROM visits WHERE days > 1" | grep -c Once)" "0"
check "what is beyond does not count" "$(ana "SET privacy_score.dp_max_rows = 2" "SET privacy_score.dp_epsilon = 1000" "SELECT count(*) FROM visits")" "8000"
check_match "as one is told" "$(notice full "SET privacy_score.dp_max_rows = 2; SELECT count(*) FROM visits" | tail -n 1)" \
  '^DETAIL:  count: within 60.42 with 95 % confidence, beside what persons with more than 2 have beyond that$'
check "one row a person is not asked for more" "$(last "SET privacy_score.dp_max_rows = 2; SELECT count(*) AS n FROM patients")" "n|0.1|t|1|0|30"
check "sums have a bound of their own" "$(ana "SET privacy_score.dp_max_rows = 1" "EXPLAIN SELECT sum(days) FROM visits" | grep -c Once)" "1"

# --- answers that are too old
asked="SELECT count(*) AS n FROM patients WHERE patient_id > 9"
ana "$asked" >/dev/null
check "a young one is held" "$(last "SET privacy_score.dp_refresh_after = '30min'; $asked")" "n|0.1|t|1|0|30"
q "UPDATE privacy_score.release SET at = at - interval '1 hour'" >/dev/null
check "an old one, too" "$(last "$asked")" "n|0.1|t|1|0|30"
before=$(spent)
check "unless it is to be new" "$(last "SET privacy_score.dp_refresh_after = '30min'; $asked")" "n|0.1|f|1|0|30"
check "which is paid" "$(q "SELECT $(spent) - $before")" "0.1"
check "and is held then" "$(last "SET privacy_score.dp_refresh_after = '30min'; $asked")" "n|0.1|t|1|0|30"
check "references stay" "$(ana "SET privacy_score.dp_refresh_after = '30min'" "EXPLAIN SELECT count(*) FROM visits WHERE department_id = 2" | grep -c Once)" "0"

# --- EXPLAIN
explained() { ana "EXPLAIN (COSTS OFF$1) $2" | sed 's/^ *//' | grep -E "^(Keys|Epsilon|Delta|Shares|Held)"; }
check "EXPLAIN: public keys, shares" "$(explained "" "SELECT department_id, count(*) AS n, avg(cost) AS mean FROM visits WHERE days > 3 GROUP BY 1" | grep -E 'Keys|Shares')" \
  $'Keys: public, 5 groups\nShares: n: 0.025, mean: 0.04375'
check "unknown keys" "$(explained "" "SELECT city, count(*) FROM patients GROUP BY 1" | grep -vE 'Left')" \
  $'Keys: unknown\nEpsilon: 0.1\nDelta: 0.000001\nShares: count: 0.1'
check_match "no keys, held" "$(explained "" "SELECT count(*) FROM patients" | grep -v Left | tr '\n' ' ')" \
  '^Keys: none Epsilon: 0 Shares: count: 0.1 Held Since: 20[0-9 :.-]+[+]00 $'
check "ANALYZE shows what was paid" "$(explained ", ANALYZE, TIMING OFF, SUMMARY OFF" "SELECT count(*) FROM patients WHERE patient_id > 11" | grep -v Left | tr '\n' ' ')" \
  "Keys: none Epsilon: 0.1 Shares: count: 0.1 "

# --- in a transaction that is read only answers are given: the accountant writes
check "read only" "$(ana "BEGIN READ ONLY" "SELECT dp_error(count(*)) FROM patients WHERE patient_id > 12" COMMIT)" "30"
check "the server did not end" "$(grep -cE 'was terminated|PANIC|XX000' "$ps_log")" "0"
done_testing

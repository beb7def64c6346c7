#!/bin/bash
# Random queries of the shapes that private SQL answers (test/support/private_truth.pl), against plain SQL: without noise
# all answers are equal, at the highest epsilon all are within what noise exceeds with a probability of 1e-9 a number.
#
# PS_SEED asks the same queries again; PS_QUERIES says how many.
. "$(dirname "$0")/../lib.sh"
truth=$PWD/test/support/private_truth.pl
seed=${PS_SEED:-$RANDOM}
count=${PS_QUERIES:-$(by_length 100 1000)}
changed=$("$PS_BINDIR/pg_config" --pkglibdir)/privacy_score_changed_noise.so
[ -e "$changed" ] || bail_out "there is no module without noise: make test-module"
# Programs of its own, for the module lies beside them.
cp -a "$PS_ROOT" "$PS_TMP/silent" && mv -f "$PS_TMP/silent${changed#"$PS_ROOT"}" "$PS_TMP/silent$(dirname "${changed#"$PS_ROOT"}")/privacy_score.so" || bail_out "the programs cannot be copied"

# ask NOISE: makes the tables, and asks all queries privately and plainly into files.
ask() {
  start_server "privacy_score.dp_max_epsilon = 1000" "privacy_score.dp_epsilon = 1000" "max_parallel_workers_per_gather = 0"
  q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
CREATE EXTENSION privacy_score;
CREATE TYPE kind AS ENUM ('inpatient', 'outpatient', 'emergency');
CREATE TYPE sex AS ENUM ('f', 'm', 'd');
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL, building text NOT NULL, beds int NOT NULL);
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, sex sex, smoker boolean, birth date NOT NULL, height int, weight numeric(5, 1));
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, department_id int REFERENCES departments, kind kind NOT NULL,
  code text NOT NULL, urgent boolean, cost numeric(10, 2), minutes int, day date NOT NULL, note text);
INSERT INTO departments SELECT i, 'Department ' || i, 'B' || i % 3, 6 * i FROM generate_series(1, 8) i;
SELECT setseed(0.25);
INSERT INTO patients SELECT i, 'City ' || floor(random() * 7), CASE WHEN random() < 0.95 THEN (enum_range(NULL::sex))[1 + floor(random() * 3)::int] END,
  CASE WHEN random() < 0.9 THEN random() < 0.3 END, date '1940-01-01' + floor(random() * 25000)::int, CASE WHEN random() < 0.9 THEN 130 + floor(random() * 70)::int END,
  CASE WHEN random() < 0.9 THEN round((40 + random() * 80)::numeric, 1) END FROM generate_series(1, 3000) i;
INSERT INTO visits SELECT row_number() OVER (), p.patient_id, CASE WHEN random() < 0.95 THEN 1 + floor(random() * 8)::int END, (enum_range(NULL::kind))[1 + floor(random() * 3)::int],
  chr(65 + floor(random() * 3)::int) || floor(random() * 4)::int, CASE WHEN random() < 0.9 THEN random() < 0.4 END, CASE WHEN random() < 0.95 THEN round((1000 * random())::numeric, 2) END,
  CASE WHEN random() < 0.9 THEN floor(random() * 90)::int END, date '2024-01-01' + floor(random() * 366)::int, CASE WHEN random() < 0.5 THEN 'n' || floor(random() * 5) END
  FROM patients p, LATERAL (SELECT FROM generate_series(1, 1 + floor(random() * 8)::int + 0 * p.patient_id)) g;
ANALYZE;
SELECT privacy_score.protect('patients'), privacy_score.protect('visits', '{patient_id}');
CREATE ROLE ana LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
GRANT SELECT ON departments TO ana;
SELECT privacy_score.dp_grant_person('ana', 'patients', 100000000, delta => 0.4);
SQL
  q "SELECT 'seed $seed: ' || count(*) || ' visits' FROM visits"
  for side in plain most; do perl "$truth" script $side "$queries" | psql -XAtq -f - >"$PS_TMP/$1.$side" 2>&1; done
  perl "$truth" script private "$queries" | psql -XAtq -U ana -f - >"$PS_TMP/$1.private" 2>"$PS_TMP/$1.errors"
  sort "$PS_TMP/$1.errors" | sed 's/^psql:<stdin>:[0-9]*: //' | uniq -c | sort -rn | head -n 5
}
queries=$PS_TMP/truth.queries
perl "$truth" make "$seed" "$count" >"$queries"

# verdict WHAT NOISE NAME: all are answered, and as they should be.
verdict() {
  perl "$truth" compare "$2" "$queries" "$PS_TMP/$3.plain" "$PS_TMP/$3.private" "$PS_TMP/$3.most" >"$PS_TMP/$3.verdict"
  check "$1 (seed $seed)" "$(sed '$d' "$PS_TMP/$3.verdict" | head -n 10)" ""
  check_match "$count queries were compared (seed $seed)" "$(tail -n 1 "$PS_TMP/$3.verdict")" "^compared $count answered $count groups [1-9]"
}
ask noisy
verdict "at the highest epsilon answers are near plain SQL's" 1000 noisy
check_true "and not all of them equal" grep -q . <(diff "$PS_TMP/noisy.plain" "$PS_TMP/noisy.private")
stop_server
export PS_CHANGED_NOISE=none PS_BINDIR="$PS_TMP/silent${PS_BINDIR#"$PS_ROOT"}"
ask silent
verdict "without noise answers are plain SQL's" none silent
done_testing

#!/bin/bash
# Neighbours end to end: the same questions to two databases that differ in one person, whose answers, with all that lies
# between a scan and a row (shares, bounds, noise), must be as likely as epsilon and delta say; and what is charged is what
# was declared. A false alarm has a probability of 10^-7 for each mechanism (test/support/neighbour_scores.pl). A module that
# draws no noise is caught by the same test, so that it can fail. What 1.1 spent for 1 looks like takes 100,000 draws, which
# the long form has: of this module by questions, and of each mechanism in unit tests, from persons' sums that are kept.
. "$(dirname "$0")/../lib.sh"
draws=$(by_length 150 1000)
changed=$("$PS_BINDIR/pg_config" --pkglibdir)/privacy_score_changed_noise.so
[ -e "$changed" ] || bail_out "there is no module without noise: make test-module"
neighbours=$PWD/test/support/neighbour_scores.pl

# make_tables: each of 100 persons has a row; in the first database one more has 64 rows, and a code of her own.
make_tables() {
  local database
  for database in larger smaller; do
    q "CREATE DATABASE $database" >/dev/null || bail_out "there is no database $database"
    on $database q_script >/dev/null <<SQL || bail_out "the tables cannot be made"
CREATE EXTENSION privacy_score;
CREATE TABLE patients (patient_id int PRIMARY KEY);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, code text NOT NULL, cost int NOT NULL);
INSERT INTO patients SELECT i FROM generate_series(1, 101) i WHERE i <= 100 OR '$database' = 'larger';
INSERT INTO visits SELECT i, i, 'common', 5 FROM generate_series(1, 100) i;
INSERT INTO visits SELECT 100 + i, 101, CASE WHEN i > 32 THEN 'rare' ELSE 'common' END, 50 FROM generate_series(1, 64) i WHERE '$database' = 'larger';
SELECT privacy_score.protect('patients'), privacy_score.protect('visits', '{patient_id}');
SELECT privacy_score.dp_grant_person('ana', 'patients', 10000000, delta => 0.4);
SQL
    q "ALTER DATABASE $database SET privacy_score.dp_epsilon = 1" "ALTER DATABASE $database SET privacy_score.dp_delta = '1e-5'" >/dev/null
  done
}
declare -A questions=(
  [persons]="SELECT count(*) FROM patients WHERE patient_id > -"
  [rows]="SELECT count(*) FROM visits WHERE visit_id > -"
  [sum]="SELECT sum(cost) FROM visits WHERE visit_id > -"
  [keys]="SELECT count(*) FROM (SELECT code, count(*) FROM visits WHERE visit_id > -"
)
next=1
# scores MECHANISM DATABASE PLACE: as many new questions as there are draws.
scores() {
  local end=
  if [ "$1" = keys ]; then end=" GROUP BY code) g"; fi
  seq -f "${questions[$1]}%.0f$end;" $(((next + $3) * 100000 + 1)) $(((next + $3) * 100000 + draws)) |
    PGDATABASE=$2 PGUSER=ana "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -f - >"$PS_TMP/score.$3" 2>"$PS_TMP/errors.$3"
}
# same_reference MECHANISM: asks the first question of each database. What that draws once for all questions of its kind,
# the histogram of persons' norms, is then that of the larger one in both: by it each answer of either is drawn by itself,
# and how likely these are may be counted.
same_reference() {
  local database end= norms="SELECT answer FROM privacy_score.release WHERE kind = 'norms' ORDER BY id DESC LIMIT 1"
  if [ "$1" = keys ]; then end=" GROUP BY code) g"; fi
  for database in larger smaller; do on $database as ana q "${questions[$1]}1$end" >/dev/null || bail_out "a question of $1 fails"; done
  on smaller q "UPDATE privacy_score.release SET answer = '$(on larger q "$norms")' WHERE id = (SELECT max(id) FROM privacy_score.release WHERE kind = 'norms')" >/dev/null
}
verdict() { # MECHANISM
  local first
  # Of the two databases at the same time.
  for first in 0 2; do
    scores "$1" larger $first &
    scores "$1" smaller $((first + 1)) || true
    wait
  done
  if [ "$(cat "$PS_TMP"/score.[0-3] | wc -l)" != $((4 * draws)) ]; then bail_out "a question of $1 fails: $(cat "$PS_TMP"/errors.[0-3] | head -n 2)"; fi
  next=$((next + 4))
  perl "$neighbours" 1 1e-5 "$PS_TMP"/score.[0-3]
}
start() {
  start_server "max_connections = 30" "privacy_score.dp_max_delta = 0.01"
  q "CREATE ROLE ana LOGIN" >/dev/null
  q "CREATE EXTENSION privacy_score" "SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only'" >/dev/null
  make_tables
}
start
spent() { on larger q "SELECT trim_scale(spent) FROM privacy_score.dp_budget"; }
for mechanism in persons rows sum keys; do
  same_reference $mechanism
  before=$(spent)
  said=$(verdict $mechanism)
  echo "$mechanism: $said"
  check_match "$mechanism: answers about neighbours are as likely as epsilon says" "$said" "^private: "
  check "$mechanism: each of $draws answers, twice, is charged as declared" "$(q "SELECT trim_scale($(spent) - $before)")" "$((2 * draws))"
done
check "a person's own group is not shown" "$(sort -n "$PS_TMP/score.0" | tail -n 1 | grep -cE '^[01]$')" "1"
stop_server

cp -a "$PS_ROOT" "$PS_TMP/silent" && mv -f "$PS_TMP/silent${changed#"$PS_ROOT"}" "$PS_TMP/silent$(dirname "${changed#"$PS_ROOT"}")/privacy_score.so" || bail_out "the programs cannot be copied"
export PS_CHANGED_NOISE=none PS_BINDIR="$PS_TMP/silent${PS_BINDIR#"$PS_ROOT"}"
start
for mechanism in persons rows sum; do
  same_reference $mechanism
  said=$(verdict $mechanism)
  check_match "$mechanism: answers without noise are caught" "$said" "^broken: "
done
stop_server

if [ "$(by_length short long)" = long ]; then
  draws=100000
  export PS_CHANGED_NOISE=more
  start
  same_reference persons
  said=$(verdict persons)
  echo "1.1 for 1: $said"
  check_match "1.1 spent for 1 is caught" "$said" "^broken: "
  stop_server
  unset PS_CHANGED_NOISE
  start
  same_reference persons
  said=$(verdict persons)
  echo "1 for 1: $said"
  check_match "by as many draws 1 for 1 is not" "$said" "^private: "
fi
done_testing

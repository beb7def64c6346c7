#!/bin/bash
# private_sqlsmith.sh - random statements of a role labelled `dp only`: each is answered privately or refused.
#
#   PS_FUZZ_SECONDS=3600 make sqlsmith-private
#
# sqlsmith finds relations in information_schema, which shows those that a role may read: the role may read all of them,
# and being `dp only` is what keeps it from rows. Public relations make statements that join. The server's log says what
# became of them, and is left in results/sqlsmith_private_log.txt.
. "$(dirname "$0")/../lib.sh"

seconds=${PS_FUZZ_SECONDS:-600}
seed=${PS_FUZZ_SEED:-7}
mkdir -p results
start_server "log_error_verbosity = verbose" "log_statement = all" "statement_timeout = 20s" "max_connections = 30" "jit = off" \
  "log_min_error_statement = panic" "privacy_score.dp_max_epsilon = 1" "privacy_score.dp_epsilon = 0.1"
q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
CREATE EXTENSION privacy_score;
CREATE TYPE kind AS ENUM ('inpatient', 'outpatient', 'emergency');
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL, beds int, opened date);
CREATE TABLE tariffs (tariff_id int PRIMARY KEY, department_id int REFERENCES departments, price numeric(8, 2), valid daterange, notes jsonb);
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, birth date NOT NULL, smoker boolean, weight float8, tags text[]);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, department_id int NOT NULL REFERENCES departments,
  kind kind NOT NULL, cost numeric(10, 2), minutes int, at timestamptz NOT NULL, doc jsonb);
INSERT INTO departments SELECT i, 'D' || i, 10 * i, date '2000-01-01' + i * 100 FROM generate_series(1, 8) i;
INSERT INTO tariffs SELECT i, 1 + i % 8, i * 3.5, daterange(date '2024-01-01' + i, NULL), jsonb_build_object('a', i) FROM generate_series(1, 20) i;
INSERT INTO patients SELECT i, 'City ' || i % 9, date '1940-01-01' + i * 10, i % 3 = 0, 40 + i % 60, ARRAY['t' || i % 4] FROM generate_series(1, 2000) i;
INSERT INTO visits SELECT i, 1 + i % 2000, 1 + i % 8, (enum_range(NULL::kind))[1 + i % 3], i % 500, i % 90, timestamptz '2024-01-01' + i * interval '1 hour',
  jsonb_build_object('a', i % 3) FROM generate_series(1, 6000) i;
CREATE VIEW open_visits AS SELECT visit_id, patient_id, minutes, cost FROM visits WHERE minutes < 45;
SELECT privacy_score.protect('patients'), privacy_score.protect('visits', '{patient_id}');
CREATE ROLE ana LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
GRANT SELECT ON departments, tariffs, patients, visits, open_visits TO ana;
SELECT privacy_score.dp_grant_person('ana', 'patients', 10000000, delta => 0.1);
ANALYZE;
SQL

started=$SECONDS
while [ $((SECONDS - started)) -lt "$seconds" ]; do
  timeout $((seconds - SECONDS + started)) sqlsmith --target="host=$PGHOST port=$PGPORT user=ana dbname=$PGDATABASE" --seed=$((seed++)) --exclude-catalog --verbose \
    >>"$PS_TMP/sqlsmith.out" 2>&1
  # It ends with a connection that was lost.
  sleep 1
done
cp "$ps_log" results/sqlsmith_private_log.txt

# Of statements that name a relation of persons: whether they were planned as noisy rows is not in the log, but what
# became of them is.
asked=$(grep -aE 'ana@.*LOG: .*(statement|execute)' "$ps_log" | wc -l)
of_persons=$(grep -aE 'public\.(patients|visits|open_visits)' "$ps_log" | wc -l)
echo "statements: $asked; lines of them that name relations of persons: $of_persons"
grep -aoE 'ana@.*ERROR:  [0-9A-Z]{5}' "$ps_log" | sed -E 's/.*ERROR:  //' | sort | uniq -c | sort -rn | awk '{ printf "refused with %s: %s\n", $2, $1 }'
grep -aoE 'ERROR:  PS003: .{0,60}' "$ps_log" | sed -E 's/"[^"]*"/"..."/g; s/[a-z_0-9]+\(\)/f()/g' | sort | uniq -c | sort -rn | head -n 25
echo "answers paid: $(q "SELECT count(*) FROM privacy_score.dp_releases WHERE NOT repeated")"
check_true "statements over relations of persons were sent" test "$of_persons" -gt $((seconds / 10))
check_true "some were refused as private SQL is" test "$(grep -acE 'ERROR:  PS003' "$ps_log")" -gt 10
check "no process ended by a fault" "$(grep -aE 'terminated by signal|PANIC:' "$ps_log" | head -n 5)" ""
# Lines of a process follow one another, with those of others between.
internal=$(awk '{ match($0, /\[[0-9]+\]/); process = substr($0, RSTART, RLENGTH) }
  /(ERROR|WARNING|LOG):  XX/ { fault[process] = $0 }
  /LOCATION:/ { if (fault[process] && /\.[ch]pp:/) print fault[process], $0; fault[process] = "" }' "$ps_log" | head -n 20)
check "no internal error is of this module" "$internal" ""
echo "internal errors of the server itself: $(grep -aoE 'ERROR:  XX000: .*' "$ps_log" | sort | uniq -c | sort -rn | head -n 5 | tr '\n' ';')"
# Its last line has no end.
tail -n 3 "$PS_TMP/sqlsmith.out" | tail -c 400
echo
done_testing

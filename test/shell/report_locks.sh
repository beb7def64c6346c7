#!/bin/bash
# report_locks.sh - a report scores for as long as the history asks for; meanwhile the tables that it is about can be altered.
. "$(dirname "$0")/../lib.sh"

# Rates that are out of date are computed with the scores, and lock what they read.
start_server "privacy_score.rate_refresh_threshold = 1000000"
q "CREATE EXTENSION privacy_score" "CREATE TABLE patients (id int PRIMARY KEY, city text)" "CREATE ROLE nurse" \
  "INSERT INTO patients SELECT i, 'city ' || i % 7 FROM generate_series(1, 100) i" "SELECT privacy_score.protect('patients')" \
  "SELECT privacy_score.import_statements(\$\$SELECT 's'::text, 'nurse'::name, now(), 'SELECT city FROM patients'\$\$)" \
  "SELECT length(privacy_score.report())" >/dev/null

# The tiles of alerts come after the scores of days: who holds the alerts stops the report in between.
mkfifo "$PS_TMP/holder"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/holder" >"$PS_TMP/holder.out" 2>&1 &
exec 3>"$PS_TMP/holder"
echo "BEGIN; LOCK TABLE privacy_score.alert; SELECT 'held';" >&3
until grep -qs held "$PS_TMP/holder.out"; do sleep 0.05; done
PGAPPNAME=reporter q "SELECT privacy_score.report() LIKE '%postcode%'" >"$PS_TMP/report.out" 2>&1 &
reporter=$!
check_true "a report waits after it has scored" wait_for "SELECT wait_event_type FROM pg_stat_activity WHERE application_name = 'reporter'" Lock
check "it has no lock on what it is to read" "$(q "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'reporter' AND l.relation = 'patients'::regclass")" 0
check "so the table can be altered, and rewritten" \
  "$(q "SET lock_timeout = '20s'" "ALTER TABLE patients ADD postcode text" "ALTER TABLE patients ALTER id TYPE bigint" "SELECT 'altered'")" altered
echo "COMMIT;" >&3
exec 3>&-
wait $reporter
check "and the report shows it as it is then" "$(cat "$PS_TMP/report.out")" t
wait

done_testing

#!/bin/bash
# uninstall.sh - leaving: what prepare_uninstall() takes out and lists is enough for a dump to restore where the library
# never was, and for the server to start without it.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.daily_limit = 5"
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" \
  "CREATE TABLE patients (id int PRIMARY KEY, \"Last Name\" text)" "INSERT INTO patients VALUES (1, 'x')" \
  "SELECT privacy_score.protect('patients')" \
  "SECURITY LABEL FOR privacy_score ON COLUMN patients.\"Last Name\" IS 'quasi-identifier'" \
  "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'exempt'" \
  "ALTER ROLE alice SET privacy_score.mode = 'warn'" "ALTER DATABASE postgres SET privacy_score.session_limit = 3" \
  "ALTER ROLE bob IN DATABASE postgres SET privacy_score.alert_level = 0.5" \
  "ALTER ROLE ALL SET privacy_score.session_limit = 4" \
  "GRANT SET ON PARAMETER privacy_score.mode TO bob" \
  "GRANT SET ON PARAMETER privacy_score.daily_limit TO alice WITH GRANT OPTION" \
  "SET ROLE alice" "GRANT SET ON PARAMETER privacy_score.daily_limit TO bob" "RESET ROLE" \
  "ALTER SYSTEM SET privacy_score.mode = 'warn'" "ALTER SYSTEM SET shared_preload_libraries = 'auto_explain', 'privacy_score'" \
  "ALTER ROLE alice SET work_mem = '8MB'" 2>/dev/null >/dev/null
restart_server

# Everything that is listed as a statement is run, in its order; lines that begin with -- are for hands.
q "SELECT statement FROM privacy_score.prepare_uninstall()" >"$PS_TMP/steps" 2>/dev/null
check_match "the file to change by hand is named" "$(cat "$PS_TMP/steps")" "take privacy_score.daily_limit out of .*/postgresql.conf, line [0-9]+"
check_match "other libraries stay" "$(cat "$PS_TMP/steps")" "ALTER SYSTEM SET shared_preload_libraries = 'auto_explain';"
check "no label is left on a column" "$(q "SELECT count(*) FROM pg_seclabel")" 0
while IFS= read -r statement; do
  case $statement in --*) ;; *) check "it runs: $statement" "$(q "$statement" 2>&1)" "" ;; esac
done <"$PS_TMP/steps"
check "what is not ours stays" "$(q "SELECT setconfig FROM pg_db_role_setting")" "{work_mem=8MB}"
check "nothing of ours is left in the catalogs" "$(q "SELECT (SELECT count(*) FROM pg_shseclabel) + (SELECT count(*) FROM pg_seclabel)
  + (SELECT count(*) FROM pg_parameter_acl WHERE parname LIKE 'privacy%') + (SELECT count(*) FROM pg_namespace WHERE nspname = 'privacy_score')")" 0
check_true "pg_dump works" "$PS_BINDIR/pg_dump" -f "$PS_TMP/left.sql" postgres
check_true "pg_dumpall works" "$PS_BINDIR/pg_dumpall" -g -f "$PS_TMP/left_globals.sql"
check "neither names the extension" "$(cat "$PS_TMP/left.sql" "$PS_TMP/left_globals.sql" | grep -c privacy_score)" 0

# The server itself, without the lines that were named and without the library.
stop_server
sed -i '/privacy_score/d' "$PGDATA/postgresql.conf"
resume_server
check "it starts, with the other library only" "$(q "SHOW shared_preload_libraries")" "auto_explain"

# A server that never had it.
use_server other
start_server "shared_preload_libraries = ''"
check_match "the dump restores" "$("$PS_BINDIR/psql" -XqAt -v ON_ERROR_STOP=1 -f "$PS_TMP/left.sql" 2>&1; echo "status $?")" "status 0"
check "with its rows" "$(q "SELECT * FROM patients")" "1|x"

done_testing

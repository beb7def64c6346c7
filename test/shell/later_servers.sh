#!/bin/bash
# later_servers.sh - what the extension uses of a server that has it, and what it does where there is none: names of what it
# waits for (17), shared memory made on first use (17), names and versions of modules (18). The option of EXPLAIN has a
# test of its own.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE TABLE people (id int PRIMARY KEY, zip text)" \
  "INSERT INTO people SELECT i, i / 4 FROM generate_series(1, 16) i" "GRANT SELECT ON people TO alice" \
  "SELECT privacy_score.protect('people')" >/dev/null

# named NAME: that name, on a server that shows names.
named() { if [ "$ps_major" -ge 17 ]; then echo "$1"; else echo Extension; fi; }

# --- waits --------------------------------------------------------------------------------------------------------------
# A session that is counted keeps the worker.
mkfifo "$PS_TMP/alice"
PGUSER=alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >/dev/null &
session=$!
exec 5>"$PS_TMP/alice"
echo "SELECT zip FROM people;" >&5
waits="SELECT DISTINCT wait_event_type || ' ' || wait_event FROM pg_stat_activity WHERE backend_type ="
check_true "the worker waits by its name" wait_for "$waits 'privacy_score worker'" "Extension $(named PrivacyScoreWorkerMain)"

# A stopped worker answers nobody, so whoever waits for it is seen.
worker=$(q "SELECT pid FROM pg_stat_activity WHERE backend_type = 'privacy_score worker'")
kill -STOP "$worker"
PGAPPNAME=flush q "SELECT privacy_score.flush()" >/dev/null &
flush=$!
check_true "so does a session that waits for it" wait_for \
  "SELECT wait_event_type || ' ' || wait_event FROM pg_stat_activity WHERE application_name = 'flush'" "Extension $(named PrivacyScoreFlush)"
kill -CONT "$worker"
wait $flush
exec 5>&-
wait $session

# seen "PREPARATION" "CONDITION": what pg_stat_activity has at some moment, looked at from within the server, after each time that the
# statements before it have run.
seen() {
  q "DO \$\$BEGIN
       FOR i IN 1..1000 LOOP
         $1
         PERFORM pg_stat_clear_snapshot();
         IF EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Extension' AND $2) THEN RETURN; END IF;
         PERFORM pg_sleep(0.02);
       END LOOP;
       RAISE 'not seen';
     END\$\$"
}

# A session, while somebody changes its budget; the accountant, in the second before it leaves.
q "GRANT pg_read_all_stats TO alice" "SELECT privacy_score.dp_grant('alice', 'people', 1000000)" >/dev/null
mkfifo "$PS_TMP/admin"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/admin" >/dev/null &
admin=$!
exec 5>"$PS_TMP/admin"
echo "BEGIN; SELECT privacy_score.dp_grant('alice', 'people', 2000000);" >&5
wait_for "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'" 1
PGAPPNAME=asks as alice q "SELECT privacy_score.dp_count('people', 'id > 3', 1)" >/dev/null 2>&1 &
asks=$!
check "a session that waits for a budget is seen" "$(seen "" "application_name = 'asks' AND wait_event = '$(named PrivacyScoreBudget)'")" ""
exec 5>&-
wait $admin
wait $asks
check "the accountant waits by its name" "$(as alice seen "PERFORM privacy_score.dp_count('people', 'id > ' || i, 1);" \
  "backend_type = 'privacy_score accountant' AND wait_event = '$(named PrivacyScoreAccountantMain)'")" ""

if [ "$ps_major" -ge 17 ]; then
  check "the server lists the names that were needed" \
    "$(q "SELECT DISTINCT type FROM pg_wait_events WHERE name LIKE 'PrivacyScore%'" "SELECT count(*) >= 4 FROM pg_wait_events WHERE name IN ('PrivacyScoreWorkerMain', 'PrivacyScoreFlush', 'PrivacyScoreBudget', 'PrivacyScoreAccountantMain')")" "Extension
t"
fi

# --- shared memory ------------------------------------------------------------------------------------------------------
spare="SELECT count(*) FROM pg_shmem_allocations WHERE name = 'privacy_score accountants'"
check "what the accountant shares is in the memory that the server keeps spare only where there is no other" "$(q "$spare")" \
  "$([ "$ps_major" -ge 17 ] && echo 0 || echo 1)"

# --- modules ------------------------------------------------------------------------------------------------------------
loads=("LOAD 'privacy_score'" "LOAD 'privacy_score_solver'")
check "the server takes both modules" "$(q_state "${loads[@]}")" 00000
if [ "$ps_major" -ge 18 ]; then
  installed=$(q "SELECT extversion FROM pg_extension WHERE extname = 'privacy_score'")
  check "and shows name and version of both" \
    "$(q "${loads[@]}" "SELECT module_name, version FROM pg_get_loaded_modules() WHERE file_name LIKE 'privacy_score%' ORDER BY 1")" \
    "privacy_score|$installed
privacy_score_solver|$installed"
fi

done_testing

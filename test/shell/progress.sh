#!/bin/bash
# progress.sh - the view progress: what it shows of long work, to whom, and that nothing stays when the work fails, is
# cancelled, terminated or killed.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE ROLE eve LOGIN IN ROLE pg_read_all_stats" \
  "CREATE TABLE patients (id int PRIMARY KEY, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i" \
  "ALTER TABLE patients OWNER TO alice" >/dev/null
as alice q "SELECT privacy_score.protect('patients')" >/dev/null

check "nothing is shown when nothing runs" "$(q "SELECT count(*) FROM privacy_score.progress")" 0

# begin_work [SQL...]: alice runs statements that compute rates of a table which somebody holds locked until end_lock, so
# that she is seen at it.
analyze="SELECT privacy_score.analyze_relation('patients')"
begin_work() {
  if [ $# -eq 0 ]; then set -- "$analyze"; fi
  rm -f "$PS_TMP/lock"
  mkfifo "$PS_TMP/lock"
  "$PS_BINDIR/psql" -XAtq <"$PS_TMP/lock" >/dev/null &
  locker=$!
  exec 5>"$PS_TMP/lock"
  echo "BEGIN; LOCK TABLE patients;" >&5
  wait_for "SELECT count(*) FROM pg_locks WHERE relation = 'patients'::regclass AND mode = 'AccessExclusiveLock' AND granted" 1
  PGAPPNAME=work as alice q_state "$@" >"$PS_TMP/work.out" 5>&- &
  work=$!
  wait_for "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'work' AND wait_event_type = 'Lock'" 1
}
end_lock() {
  exec 5>&-
  wait "$locker"
  wait "$work"
}
shown="SELECT p.command, p.relation, p.pid = a.pid, p.started BETWEEN a.query_start AND clock_timestamp(), p.done < p.total OR p.total IS NULL
         FROM privacy_score.progress p, pg_stat_activity a WHERE a.application_name = 'work'"
count="SELECT count(*) FROM privacy_score.progress"

begin_work
check "work is shown with its process, table and start" "$(q "$shown")" "analyze_relation|patients|t|t|t"
check "its own role sees it" "$(as alice q "$count")" 1
check "other roles do not" "$(as bob q "$count")" 0
check "pg_read_all_stats does" "$(as eve q "$count")" 1
q "CREATE DATABASE other" >/dev/null
on other q "CREATE EXTENSION privacy_score" >/dev/null
check "another database does not show it" "$(on other q "$count")" 0
end_lock
check "the work succeeds" "$(cat "$PS_TMP/work.out")" 00000
check "and is gone from the view" "$(q "$count")" 0

begin_work
q "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'work'" >/dev/null
wait "$work"
check "cancelled work says so" "$(cat "$PS_TMP/work.out")" 57014
check "and is gone from the view" "$(q "$count")" 0
end_lock

begin_work "SET lock_timeout = '1s'" "$analyze"
wait "$work"
check "failed work says so" "$(cat "$PS_TMP/work.out")" 55P03
check "and is gone from the view" "$(q "$count")" 0
end_lock

begin_work
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'work'" >/dev/null
check_true "terminated work is gone from the view" wait_for "$count" 0
end_lock

# Within a subtransaction that fails, in a transaction that goes on.
begin_work "DO \$\$BEGIN BEGIN SET LOCAL lock_timeout = '1s'; PERFORM privacy_score.analyze_relation('patients');
              EXCEPTION WHEN lock_not_available THEN NULL; END; PERFORM set_config('my.count', (SELECT count(*)::text FROM privacy_score.progress), false);
            END\$\$" "SELECT 1 / current_setting('my.count')::int"
wait "$work"
check "work that failed within a subtransaction is gone after it" "$(cat "$PS_TMP/work.out")" 22012
end_lock

begin_work
kill -9 "$(q "SELECT pid FROM pg_stat_activity WHERE application_name = 'work'")"
check_true "the server comes back after a kill -9" wait_for "SELECT 1" 1
check_true "and the work is gone from the view" wait_for "$count" 0
end_lock

# The worker shows the calibration of alarms, which is of so many sessions that one who looks all the time sees it.
q "SET statement_timeout = '300s'" "DO \$\$BEGIN WHILE NOT EXISTS (SELECT FROM privacy_score.progress WHERE command = 'worker' AND phase = 'calibrating' AND done BETWEEN 0 AND total AND total = 20000)
   LOOP PERFORM pg_sleep(0.002); END LOOP; END\$\$" >"$PS_TMP/seen" &
looks=$!
q "INSERT INTO privacy_score.abstraction SELECT i, ARRAY['cmd:select', 'p:public.patients.c' || i, 't:public.patients'], 0, 0, now(), now() FROM generate_series(1, 1000) i" \
  "WITH s AS (INSERT INTO privacy_score.session (role, session, day, started, last_at, source, queries)
     SELECT 'bob', 'c' || i, current_date - 1 - i % 100, current_date - 1 - i % 100 + i * interval '1 second', current_date - 1 - i % 100 + i * interval '1 second', 'live', 30 FROM generate_series(1, 20000) i RETURNING id)
   INSERT INTO privacy_score.session_part (session_id, part, ids, runs) SELECT s.id, 0, ARRAY(SELECT 1 + (s.id * 7919 + g * g * 31) % 1000 FROM generate_series(1, 30) g), array_fill(1::bigint, ARRAY[30]) FROM s" \
  "SET client_min_messages = error" "SELECT privacy_score.set_baseline('bob', current_date - 200, current_date - 1)" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check_true "until the calibration of alarms is made" wait_for "SELECT sessions FROM privacy_score.calibration" 20000
wait $looks
check "the worker is seen at it" "$(cat "$PS_TMP/seen")" ""
check_true "and then no more" wait_for "$count" 0
wait

# An import tells how many rows it has read.
importing="SELECT done, total FROM privacy_score.progress WHERE command = 'import_statements' AND phase = 'reading rows'"
q "SELECT privacy_score.import_statements('SELECT ''s'', ''carol''::name, now(), ''TABLE patients'' FROM generate_series(1, 9000) g WHERE g <> 2500 OR pg_sleep(1000) IS NULL')" >/dev/null 2>&1 &
check_true "an import tells how many rows it has read" wait_for "$importing" "2000|"
q "SELECT pg_cancel_backend(pid) FROM privacy_score.progress WHERE command = 'import_statements'" >/dev/null
wait
check "until it is cancelled" "$(q "$count")" 0

# Without preload the slots are made on first use, by servers that have room for that (17 and later).
conf "shared_preload_libraries = ''"
restart_server
check "without preload nothing is shown when nothing runs" "$(q "$count")" 0
begin_work
if [ "$ps_major" -ge 17 ]; then
  check "without preload work is shown" "$(q "$shown")" "analyze_relation|patients|t|t|t"
  check "to the same people" "$(as alice q "$count")$(as bob q "$count")$(as eve q "$count")$(on other q "$count")" 1010
else
  check "without preload the view is empty" "$(q "$count")" 0
fi
end_lock
check "and work runs all the same" "$(cat "$PS_TMP/work.out")" 00000
check "it is gone from the view" "$(q "$count")" 0

done_testing

#!/bin/bash
# months_changed.sh - what administrators do to the tables of months, and clocks to days: nothing is lost, counted twice or
# read from another table, nobody waits for retention, and what cannot be dropped is emptied.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.flush_interval = 100" "privacy_score.month_check_interval = '200ms'" "privacy_score.worker_stays = '1h'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE TABLE patients (id int PRIMARY KEY, city text, job text)" \
  "INSERT INTO patients SELECT i, 'c' || i % 7, 'j' || i % 5 FROM generate_series(1, 100) i" "GRANT SELECT ON patients TO PUBLIC" "SELECT privacy_score.protect('patients')" >/dev/null
month=$(q "SELECT to_char(privacy_score.today(), 'YYYY_MM')")
this_month="FOR VALUES FROM ($(q "SELECT privacy_score.first_session_id(privacy_score.today())")) TO ($(q "SELECT privacy_score.first_session_id(privacy_score.today()) + 1099511627776"))"
flush() { q "SELECT privacy_score.flush()" >/dev/null; }
ask() { as "$1" q "SELECT city FROM patients WHERE id = 1" >/dev/null; }
import() { q "SELECT privacy_score.import_statements(\$\$SELECT 's$2'::text AS session, '$1'::name AS role, timestamptz '$2 09:00+00' AS at, 'SELECT city, job FROM patients'::text AS sql\$\$)" >/dev/null; }
sessions_of() { q "SELECT count(*) FROM privacy_score.session WHERE role = '$1'"; }
errors() { q "SELECT flush_errors FROM privacy_score.stat_info"; }
has() { q "SELECT count(*) FROM pg_class WHERE relname = '$1'"; }
begin() { # begin FILE STATEMENT...: a session that stays in a transaction, on descriptor 3
  mkfifo "$PS_TMP/$1"
  "$PS_BINDIR/psql" -XAtq <"$PS_TMP/$1" >"$PS_TMP/$1.out" 2>&1 &
  exec 3>"$PS_TMP/$1"
  printf '%s;\n' "BEGIN" "${@:2}" "SELECT 'begun'" >&3
  wait_until grep -qs begun "$PS_TMP/$1.out"
}
end() { exec 3>&-; wait $!; }
ask alice
flush
wait_until eval '[ "$(has "session_part_$month")" = 1 ]'
ask alice
ask bob
flush
check "each is recorded" "$(sessions_of alice) $(sessions_of bob)" "2 1"

# --- kept under another name -----------------------------------------------------------------------------------------------
q "ALTER TABLE privacy_score.session DETACH PARTITION privacy_score.session_$month" "ALTER TABLE privacy_score.session_part DETACH PARTITION privacy_score.session_part_$month" \
  "ALTER TABLE privacy_score.session_$month RENAME TO kept" "ALTER TABLE privacy_score.session_part_$month RENAME TO kept_part" >/dev/null
ask bob
flush
wait_until eval '[ "$(has "session_part_$month")" = 1 ]'
check "the month is made again, whose indexes have other names" "$(q "SELECT count(*) FROM pg_index WHERE indrelid = 'privacy_score.session_$month'::regclass AND indexrelid::regclass::text = 'privacy_score.session_${month}_pkey'")" 0
ask bob
ask alice
flush
check "roles are found by its indexes, not by those of the other" "$(q "SELECT string_agg(role, ' ' ORDER BY role) FROM privacy_score.recorded_role")" "alice bob"
check "all views agree" "$(q "SELECT count(*) FROM privacy_score.session" "SELECT sum(queries) FROM privacy_score.stat_days")" "4
4"
restart_server
ask bob
flush
check "without an error" "$(errors)$(grep -c 'could not read block' "$ps_log")" 00
q "DROP TABLE privacy_score.kept, privacy_score.kept_part" >/dev/null

# --- one of the two detached --------------------------------------------------------------------------------------------------
mkfifo "$PS_TMP/alice"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >"$PS_TMP/alice.out" 2>&1 &
exec 4>"$PS_TMP/alice"
echo "SELECT city FROM patients WHERE id = 2; SELECT 'one';" >&4
wait_until grep -qs one "$PS_TMP/alice.out"
flush
before=$(sessions_of bob)
q "ALTER TABLE privacy_score.session_part DETACH PARTITION privacy_score.session_part_$month" >/dev/null
echo "SELECT job FROM patients WHERE id = 2; SELECT 'two';" >&4
wait_until grep -qs two "$PS_TMP/alice.out"
ask bob
flush
check "where one of a month is detached, all are recorded all the same" "$(($(sessions_of bob) - before)) $(errors)" "1 0"
exec 4>&-
q "ALTER TABLE privacy_score.session_part ATTACH PARTITION privacy_score.session_part_$month $this_month" >/dev/null
check "attached again no statement is lost or there twice" "$(flush; q "SELECT sum(x) FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id, unnest(p.runs) x WHERE s.role = 'alice' AND p.ids[1] IN
  (SELECT id FROM privacy_score.abstraction WHERE 'p:public.patients.job' = ANY (tokens))")" 1

# --- dropped and made again under one worker ---------------------------------------------------------------------------------
q "BEGIN" "DROP EXTENSION privacy_score" "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('patients')" "COMMIT" >/dev/null
check_true "the extension made anew has months" wait_until eval 'ask bob; flush; [ "$(has "session_part_$month")" = 1 ]'
ask bob
flush
check "and its sessions go there" "$(q "SELECT tableoid::regclass FROM privacy_score.session ORDER BY started DESC LIMIT 1")" "privacy_score.session_$month"
q "CREATE DATABASE another" >/dev/null
on another q "CREATE EXTENSION privacy_score" >/dev/null
check "ids of two databases begin far from each other" "$(q "SELECT abs(nextval('privacy_score.session_id_seq') - $(on another q "SELECT nextval('privacy_score.session_id_seq')")) > 100")" t

# --- what goes, and does not ---------------------------------------------------------------------------------------------------
for day in 2024-01-05 2024-02-05 2024-03-05 2024-04-05 2024-05-05; do import bob $day; done
q "CREATE VIEW audit AS SELECT * FROM privacy_score.session_2024_02" \
  "ALTER TABLE privacy_score.session_part DETACH PARTITION privacy_score.session_part_2024_03" \
  "ALTER TABLE privacy_score.session DETACH PARTITION privacy_score.session_2024_04" >/dev/null
import bob "$(q "SELECT privacy_score.today() - 31")"
begin lock "SELECT FROM privacy_score.session WHERE day = privacy_score.today() - 31 FOR UPDATE"
conf "privacy_score.history_retention = 30"
reload_server
ask bob
wait_for "SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'privacy_score worker' AND wait_event_type = 'Lock'" t
check "while retention waits for a row, nobody waits for retention" "$(q_state "SET lock_timeout = '2s'" "SELECT count(*) FROM privacy_score.stat_sessions")" 00000
end
check "what may be dropped goes" "$(wait_for "SELECT count(*) FROM pg_class WHERE relname ~ '^session_(part_)?2024_0[15]'" 0)" ""
check "of a month whose parts alone are detached the rest goes" "$(wait_for "SELECT count(*) FROM pg_class WHERE relname = 'session_2024_03'" 0)$(has session_part_2024_03)" 1
check "and whose sessions alone are detached" "$(wait_for "SELECT count(*) FROM pg_class WHERE relname = 'session_part_2024_04'" 0)$(has session_2024_04)" 1
check "a month that a view needs is emptied" "$(wait_for "SELECT count(*) FROM audit" 0)$(has session_2024_02)" 1
q "DROP VIEW audit" "DROP TABLE privacy_score.session_part_2024_03, privacy_score.session_2024_04" >/dev/null
check "and dropped when none does" "$(wait_until eval 'ask bob; [ "$(has session_2024_02)" = 0 ]')" ""

# --- a day that comes again ------------------------------------------------------------------------------------------------------
# In one of these zones it is a later day than in the other, at whatever hour.
conf "log_timezone = 'Etc/GMT-14'" "privacy_score.history_retention = 0"
reload_server
today=$(q "SELECT privacy_score.today()")
conf "log_timezone = 'Etc/GMT+12'"
reload_server
wait_for "SELECT privacy_score.today() < '$today'" t
earlier=$(q "SELECT privacy_score.today()")
ask bob
flush
conf "log_timezone = 'Etc/GMT-14'"
reload_server
check "a day that is over is kept" "$(wait_until eval 'flush; [ "$(q "SELECT count(*) FROM privacy_score.kept_day WHERE day = '"'$earlier'"'")" = 1 ]')" ""
conf "log_timezone = 'Etc/GMT+12'"
restart_server
ask bob
ask bob
flush
conf "log_timezone = 'Etc/GMT-14'"
reload_server
wait_for "SELECT privacy_score.today() = '$today'" t
of_day="SELECT string_agg(d::text, ' ') FROM privacy_score"
check "what is done when it comes again counts" "$(q "$of_day.score('bob', '$earlier', '$earlier') d")" "$(q "$of_day.score_anew('bob', '$earlier', '$earlier') d")"
flush
check "also when it is kept again" "$(q "$of_day.score('bob', '$earlier', '$earlier') d")" "$(q "$of_day.score_anew('bob', '$earlier', '$earlier') d")"
check "of all its statements" "$(q "SELECT sum(queries) FROM privacy_score.score('bob', '$earlier', '$earlier')")" "$(q "SELECT sum(queries) FROM privacy_score.session WHERE role = 'bob' AND day = '$earlier'")"
check "no server has crashed" "$(grep -cE 'was terminated by signal|PANIC' "$ps_log")" 0
done_testing

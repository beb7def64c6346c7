#!/bin/bash
# months.sh - recorded sessions by months: who makes their tables, what goes there, how they go, and what happens where a
# table cannot be made; dumped, restored, dropped.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.flush_interval = 200"
q "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC" "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE ROLE bob" \
  "CREATE TABLE patients (id int PRIMARY KEY, city text, job text)" "INSERT INTO patients SELECT i, 'c' || i % 7, 'j' || i % 5 FROM generate_series(1, 100) i" \
  "GRANT SELECT ON patients TO alice" "SELECT privacy_score.protect('patients')" "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'watched'" >/dev/null
month=$(q "SELECT to_char(privacy_score.today(), 'YYYY_MM')")
next=$(q "SELECT to_char(date_trunc('month', privacy_score.today()) + interval '1 month', 'YYYY_MM')")
# The partitions of a table, without its name before them.
months() { q "SELECT string_agg(substr(c.relname, length('$1') + 2), ' ' ORDER BY c.relname) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'privacy_score.$1'::regclass"; }
# import ROLE DAY [STATEMENT]: a session of three statements.
import() {
  q "SELECT privacy_score.import_statements(\$\$SELECT 's$2'::text AS session, '$1'::name AS role, timestamptz '$2 09:00+00' + n * interval '1 minute' AS at,
    '${3:-SELECT city, job FROM patients}'::text AS sql FROM generate_series(1, 3) n\$\$)"
}
ask() { as alice q "SELECT city FROM patients WHERE id = $1" >/dev/null; }
where() { q "SELECT string_agg(s.tableoid::regclass::text || ' ' || p.tableoid::regclass::text, ', ' ORDER BY s.started) FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id AND p.part = 0 WHERE $1"; }
flush() { q "SELECT privacy_score.flush()" >/dev/null; }
of_no_month="privacy_score.session_before privacy_score.session_part_before"
of_month() { echo "privacy_score.session_$1 privacy_score.session_part_$1"; }

# --- made ahead -----------------------------------------------------------------------------------------------------------
flush
check "as long as nothing is recorded there are none" "$(months session)" "before"
ask 1
flush
check_true "this month and the next have tables once something is recorded" wait_until eval '[ "$(months session_part)" = "$month $next before" ]'
check "so have their sessions" "$(months session)" "$month $next before"
check "what came before is of no month" "$(where "s.role = 'alice'")" "$of_no_month"
ask 2
flush
check "what comes after is of its month" "$(where "s.role = 'alice'")" "$of_no_month, $(of_month "$month")"
check "they are no members of the extension" \
  "$(q "SELECT count(*) FROM pg_depend d JOIN pg_class c ON c.oid = d.objid WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'e' AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'")" 0
check "they belong to the owner of the extension, and nobody else has rights" \
  "$(q "SELECT DISTINCT c.relowner = x.extowner, (SELECT count(*) FROM aclexplode(c.relacl) a WHERE a.grantee <> c.relowner) FROM pg_class c, pg_extension x WHERE c.relname ~ '^session_.*[0-9]{4}_[0-9]{2}$' AND c.relkind = 'r' AND x.extname = 'privacy_score'")" "t|0"
check "they have the keys of the others" "$(q "SELECT count(DISTINCT x) FROM (SELECT string_agg(replace(pg_get_indexdef(i.indexrelid), c.relname, ''), ';' ORDER BY pg_get_indexdef(i.indexrelid)) AS x
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'privacy_score.session'::regclass) GROUP BY c.oid) y")" 1
of_day="x.day = privacy_score.today() AND (x.id < 1099511627776 OR x.id >= privacy_score.first_session_id(privacy_score.today()))"
check "whoever asks for today looks at no month before" "$(q "SELECT privacy_score.make_months('2026-01-01', privacy_score.today())" \
  "EXPLAIN (COSTS OFF) SELECT FROM privacy_score.session x WHERE $of_day" | grep -oE "on session_[a-z0-9_]+ |Subplans Removed" | sort -u | sed 's/^on //; s/ $//' | paste -sd' ')" \
  "Subplans Removed session_$month session_$next session_before"
q "DO \$\$ DECLARE m date; BEGIN FOR m IN SELECT month FROM privacy_score.stat_history WHERE month < date_trunc('month', privacy_score.today()) LOOP
  EXECUTE format('DROP TABLE privacy_score.session_%1\$s, privacy_score.session_part_%1\$s', to_char(m, 'YYYY_MM')); END LOOP; END \$\$" >/dev/null
check "first ids rise by month, and days without one have none" \
  "$(q "SELECT string_agg((privacy_score.first_session_id(d) >> 40)::text, ' ') FROM unnest('{-infinity,1999-12-31,2000-01-31,2000-02-01,2000-02-29,2026-12-31,2027-01-01,infinity}'::date[]) d")" "0 0 0 1 1 323 324 95999"

# --- imported ----------------------------------------------------------------------------------------------------------------
check "an import makes the months that it brings" "$(import bob 2024-02-29 >/dev/null; import bob 2025-07-01 >/dev/null; months session)" "2024_02 2025_07 $month $next before"
check "and its sessions are there" "$(where "s.role = 'bob'")" "$(of_month 2024_02), $(of_month 2025_07)"
check "imported again they are replaced" "$(import bob 2024-02-29 >/dev/null; where "s.role = 'bob'")" "$(of_month 2024_02), $(of_month 2025_07)"
import bob 1999-05-05 >/dev/null
import bob 2031-05-05 >/dev/null
check "what is too old to be true, or to come, is of no month" "$(where "s.day IN ('1999-05-05', '2031-05-05')") $(months session)" "$of_no_month, $of_no_month 2024_02 2025_07 $month $next before"
scores() { q "SELECT md5(string_agg(s::text, '|')), count(*) FROM privacy_score.score_anew('bob', '-infinity', 'infinity') s"; }
in_months=$(scores)
psql -XAtq -c "BEGIN" -c "CREATE TABLE moved AS SELECT s.*, p.ids, p.runs, p.rows FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id WHERE s.role = 'bob'" \
  -c "DELETE FROM privacy_score.session_part p USING moved m WHERE p.session_id = m.id" -c "DELETE FROM privacy_score.session s USING moved m WHERE s.id = m.id" \
  -c "UPDATE moved SET id = id & 1099511627775" \
  -c "INSERT INTO privacy_score.session (id, role, session, day, started, last_at, source, queries) SELECT id, role, session, day, started, last_at, source, queries FROM moved" \
  -c "INSERT INTO privacy_score.session_part SELECT id, 0, ids, runs, rows FROM moved" -c "COMMIT" >/dev/null
check "scores do not depend on the table" "$(scores)" "$in_months"
check "which they are not in now" "$(where "s.day = '2024-02-29'")" "$of_no_month"
check "what is imported once more leaves where it was" "$(import bob 2024-02-29 >/dev/null; where "s.day = '2024-02-29'")" "$(of_month 2024_02)"

# --- tables that cannot be made ---------------------------------------------------------------------------------------------
mkfifo "$PS_TMP/beside"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/beside" >/dev/null 2>&1 &
exec 3>"$PS_TMP/beside"
echo "BEGIN; LOCK TABLE privacy_score.session IN SHARE UPDATE EXCLUSIVE MODE;" >&3
wait_for "SELECT count(*) FROM pg_locks WHERE relation = 'privacy_score.session'::regclass AND mode = 'ShareUpdateExclusiveLock'" 1
check "an import does not wait for whoever holds a lock" "$(import bob 2023-03-03)" 3
check "its sessions are of no month" "$(where "s.day = '2023-03-03'")" "$of_no_month"
echo "COMMIT;" >&3
exec 3>&-
wait
check "imported again they have one" "$(import bob 2023-03-03 >/dev/null; where "s.day = '2023-03-03'")" "$(of_month 2023_03)"
q "CREATE TABLE privacy_score.session_2022_02 (a int)" >/dev/null
check "a name that somebody else has taken stays theirs" "$(import bob 2022-02-02 >/dev/null; where "s.day = '2022-02-02'"; q "SELECT count(*) FROM privacy_score.session_2022_02")" "$of_no_month
0"
q "DROP TABLE privacy_score.session_2022_02" "ALTER TABLE privacy_score.session DETACH PARTITION privacy_score.session_$month" >/dev/null
ask 3
flush
check "where one of a month is detached, rows have none" "$(where "s.role = 'alice'")" "$of_no_month, $of_no_month"
q "ALTER TABLE privacy_score.session ATTACH PARTITION privacy_score.session_$month FOR VALUES FROM ($(q "SELECT privacy_score.first_session_id(privacy_score.today())")) TO ($(q "SELECT privacy_score.first_session_id(privacy_score.today()) + 1099511627776"))" >/dev/null
ask 4
flush
check "attached again it has its rows, and those to come" "$(where "s.role = 'alice'")" "$of_no_month, $(of_month "$month"), $of_no_month, $(of_month "$month")"
check "the view shows months and what has none" "$(q "ANALYZE privacy_score.session" "SELECT to_char(month, 'YYYY_MM'), sessions, bytes > 0, removed_on FROM privacy_score.stat_history ORDER BY month")" \
  "2023_03|1|t|
2024_02|1|t|
2025_07|0|t|
$month|2|t|
$next|0|t|
|6|t|"
check "but nobody who may not know of all" "$(as alice q "SELECT count(*) FROM privacy_score.stat_history")" 0
check_true "the report shows them" grep -q "Recorded history" <<<"$(q "SELECT privacy_score.report()")"
check "not to others" "$(as alice q "SELECT privacy_score.report()" | grep -c "Recorded history")" 0

# --- dumped ---------------------------------------------------------------------------------------------------------------
rows="SELECT md5(string_agg(x, '|' ORDER BY x)), count(*) FROM (SELECT s.tableoid::regclass || s::text AS x FROM privacy_score.session s UNION ALL SELECT p.tableoid::regclass || p::text FROM privacy_score.session_part p) y"
before=$(q "$rows")
for format in plain custom; do
  "$PS_BINDIR/pg_dump" -F "$format" -f "$PS_TMP/dump.$format" postgres
  q "CREATE DATABASE restored_$format" >/dev/null
  export PGDATABASE=restored_$format
  if [ "$format" = plain ]; then
    faults=$("$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -f "$PS_TMP/dump.plain" 2>&1 >/dev/null)
  else
    faults=$("$PS_BINDIR/pg_restore" --exit-on-error -j 2 -d "$PGDATABASE" "$PS_TMP/dump.custom" 2>&1)
  fi
  check "a dump is restored without a fault: $format" "$faults" ""
  check "with each row in its table: $format" "$(q "$rows")" "$before"
  check "and each index once: $format" "$(q "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relname = 'session_$month'") $(q "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relname = 'session_part_$month'")" "4 1"
  ask 5
  flush
  check "what is asked there is recorded there: $format" "$(where "s.id = (SELECT id FROM privacy_score.session WHERE role = 'alice' ORDER BY started DESC LIMIT 1)")" "$(of_month "$month")"
  check "DROP EXTENSION takes all away: $format" "$(q "DROP EXTENSION privacy_score" "SELECT count(*) FROM pg_class WHERE relname ~ '^session_'")" 0
  export PGDATABASE=postgres
done

# --- restored while people are at work ---------------------------------------------------------------------------------------
q "CREATE DATABASE busy" >/dev/null
touch "$PS_TMP/at_work"
while [ -e "$PS_TMP/at_work" ]; do PGDATABASE=busy as alice "$PS_BINDIR/psql" -XAtq -c "SELECT 1" -c "SELECT city FROM patients WHERE id = 8" -c "SELECT privacy_score.flush()"; done >/dev/null 2>&1 &
faults=$("$PS_BINDIR/pg_restore" --exit-on-error -d busy "$PS_TMP/dump.custom" 2>&1)
check "a dump is restored without a fault while people are at work" "$faults" ""
check_true "they are recorded there" on busy wait_for "SELECT count(*) > 0 FROM privacy_score.session WHERE started > now() - interval '1 minute' AND tableoid = 'privacy_score.session_$month'::regclass" t
rm "$PS_TMP/at_work"
wait
check "what was restored is there" "$(on busy q "SELECT count(*) FROM privacy_score.session WHERE role = 'bob'")" "$(q "SELECT count(*) FROM privacy_score.session WHERE role = 'bob'")"

# --- removed --------------------------------------------------------------------------------------------------------------
import bob "$(q "SELECT privacy_score.today() - 40")" >/dev/null
import bob "$(q "SELECT privacy_score.today() - 29")" >/dev/null
import bob "$(q "SELECT privacy_score.today() - 31")" >/dev/null
conf "privacy_score.history_retention = 30"
reload_server
ask 5
check_true "months that are over are dropped" wait_until eval '! months session | grep -q 202[345]_0'
check_true "with their parts" wait_until eval '! months session_part | grep -q 202[345]_0'
check_true "days of a month that goes on are removed as rows" wait_for "SELECT count(*) FROM privacy_score.session WHERE day < privacy_score.today() - 30" 0
check "what is younger stays" "$(q "SELECT count(*) FROM privacy_score.session WHERE role = 'bob' AND day < privacy_score.today()")" 1
check "no part is left without a session, nor one without parts" "$(q "SELECT count(*) FROM privacy_score.session s FULL JOIN privacy_score.session_part p ON p.session_id = s.id WHERE s.id IS NULL OR p.session_id IS NULL")" 0
check "the view tells when the next goes" "$(q "SELECT removed_on FROM privacy_score.stat_history WHERE to_char(month, 'YYYY_MM') = '$month'")" \
  "$(q "SELECT (date_trunc('month', privacy_score.today()) + interval '1 month')::date + 30")"

# Somebody reads while the worker wants to drop: neither waits for the other.
conf "privacy_score.history_retention = 0"
reload_server
import bob 2025-05-05 >/dev/null
flush
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/beside" >"$PS_TMP/read" 2>&1 &
reader=$!
exec 3>"$PS_TMP/beside"
echo "BEGIN; SELECT count(*) FROM privacy_score.session_2025_05;" >&3
wait_until test -s "$PS_TMP/read"
conf "privacy_score.history_retention = 30"
reload_server
ask 6
check_true "a month that is read is left" wait_for_line "$ps_log" "could not drop a table of a month of history"
flush
check "the worker goes on with its work meanwhile" "$(q "SELECT count(*) > 0 FROM privacy_score.session WHERE role = 'alice' AND last_at > now() - interval '1 minute'")" t
check "and who reads with reading" "$(q "SELECT count(*) FROM privacy_score.session WHERE day = '2025-05-05'")" 1
echo "COMMIT;" >&3
exec 3>&-
wait "$reader"
# A worker leaves when nobody is at work; the next begins with this.
check_true "it goes once nobody reads it" wait_until eval 'ask 7; ! months session | grep -q 2025_05'
check "no server has crashed" "$(grep -cE 'was terminated by signal|PANIC' "$ps_log")" 0
done_testing

#!/bin/bash
# import_log.sh - import_log() from what a server really writes: csvlog, jsonlog, lines with Debian's prefix, rotated files,
# pgaudit; the three formats of one log bring the same history.
. "$(dirname "$0")/../lib.sh"

libraries=privacy_score
if [ -e "$("$PS_BINDIR/pg_config" --pkglibdir)/pgaudit.so" ]; then libraries=privacy_score,pgaudit; fi
start_server "logging_collector = on" "log_destination = 'csvlog,jsonlog,stderr'" "log_directory = 'log'" \
  "log_filename = 'postgresql-%Y-%m-%d_%H%M%S.log'" "log_statement = 'all'" "log_timezone = 'Europe/Berlin'" \
  "shared_preload_libraries = '$libraries'" "log_min_duration_statement = -1"
log=$PGDATA/log
q "CREATE EXTENSION privacy_score" "CREATE DATABASE elsewhere" \
  "CREATE TABLE patients (id int PRIMARY KEY, first_name text, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'f' || i % 17, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i" \
  "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE ROLE robot LOGIN" "GRANT SELECT ON patients TO alice, bob, robot" \
  "SELECT privacy_score.protect('patients')" "SECURITY LABEL FOR privacy_score ON ROLE robot IS 'exempt'" \
  "ALTER ROLE alice SET privacy_score.mode = 'off'" "ALTER ROLE bob SET privacy_score.mode = 'off'" >/dev/null

as alice q "SELECT city FROM patients WHERE id = 7" "SELECT first_name, diagnosis
	FROM patients -- of two lines, with \"quotes\" and 'it''s; not two'
 WHERE city = 'c1'" "PREPARE p AS SELECT diagnosis FROM patients WHERE id = \$1" "EXECUTE p(7)" "EXECUTE p(8)" "BEGIN" "COMMIT" >/dev/null
as bob q "SELECT count(*) FROM patients" >/dev/null
as bob q "SELEC diagnosis FROM patients" >/dev/null 2>&1
as robot q "SELECT * FROM patients" >/dev/null
as bob on elsewhere q "SELECT 1" "SELECT 2" >/dev/null
check_true "the log is written" wait_for_line "$log/"*.csv 'SELECT 2'
check_true "in lines, too" wait_for_line "$log/"*.log 'SELECT 2'

history="SELECT s.role, s.queries, string_agg(array_to_string(a.tokens, ' '), ' / ' ORDER BY o.n)
           FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
                unnest(p.ids) WITH ORDINALITY o(id, n) JOIN privacy_score.abstraction a ON a.id = o.id
          WHERE s.role <> 'postgres' GROUP BY s.id, s.role, s.source, s.queries, s.started ORDER BY s.role, s.started"
expected="alice|4|cmd:select p:public.patients.city t:public.patients w:public.patients.id / cmd:select p:public.patients.diagnosis p:public.patients.first_name t:public.patients w:public.patients.city / cmd:select p:public.patients.diagnosis t:public.patients w:public.patients.id
bob|1|cmd:select f:count(*) t:public.patients"

# import FORMAT NAME [PREFIX]: the counts, without the file's name.
import() { q "SELECT statements - unwatched, imported, elsewhere, unwatched > 0, not_understood, first_not_understood FROM privacy_score.import_log('$1'${2:+, '$2'})" 2>&1; }
clear_history() { q "DELETE FROM privacy_score.session" "DELETE FROM privacy_score.session_part" "DELETE FROM privacy_score.abstraction" >/dev/null; }

check "csvlog: statements, those of others, those of the unwatched" "$(import 'postgresql-*.csv')" "9|5|2|t|0|"
check "with their sessions and abstractions" "$(q "$history")" "$expected"
sessions="SELECT string_agg(session || started || last_at, ' ' ORDER BY started) FROM privacy_score.session"
of_csv=$(q "$sessions")
check "a second time nothing is new" "$(import 'postgresql-*.csv'; q "$history")" "9|5|2|t|0|
$expected"
if [ "$ps_major" -ge 15 ]; then
  clear_history
  check "jsonlog tells the same" "$(import 'postgresql-*.json')" "9|5|2|t|0|"
  check "to the moment" "$(q "$history" "$sessions")" "$expected
$of_csv"
fi
clear_history
check "lines tell the same" "$(import 'postgresql-*.log')" "9|5|2|t|0|"
check "but for the names of sessions" "$(q "$history")" "$expected"
check "by an absolute path and format, too" "$(import "$log/postgresql-*.log" stderr)" "9|5|2|t|0|"

# Rotated files, and one that ends within a record.
clear_history
mkdir "$log/old"
first=$(ls "$log/"*.csv)
head -c 100 "$first" >"$log/old/x-3.csv"
cat "$first" >"$log/old/x-1.csv"
printf '2026-11-27 07:00:00.000 CET,"alice","postgres",1,,"6b0.1",1,"SELECT",2026-11-27 07:00:00 CET,1/1,0,LOG,00000,"statement: SELECT city FROM patients",,,,,,,,,"","client backend",,0\n' >"$log/old/x-2.csv"
printf 'nonsense\n2026-13-27 07:00:00.000 CET,"alice","postgres",1,,"6b0.1",1,"SELECT",,1/1,0,LOG,00000,"statement: SELECT city FROM patients",,,,,,,,,"","client backend",,0\n' >>"$log/old/x-2.csv"
printf '2026-11-27 07:00:00.000 XYZT,"alice","postgres",1,,"6b0.1",1,"SELECT",,1/1,0,LOG,00000,"statement: SELECT city FROM patients",,,,,,,,,"","client backend",,0\n' >>"$log/old/x-2.csv"
printf '2026-11-27 07:00:00.000 CET,"alice","postgres",1,,"6b0.1",1,"SELECT",,1/1,0,LOG,00000,"statement: SELECT \xff FROM patients",,,,,,,,,"","client backend",,0\n' >>"$log/old/x-2.csv"
check "files in their order; what is none is counted" \
  "$(q "SELECT right(file, 7), imported, not_understood, first_not_understood FROM privacy_score.import_log('old/x-*.csv')" 2>&1)" \
  "x-1.csv|5|0|
x-2.csv|1|4|2
x-3.csv|0|0|"

# Errors that name the way out.
check_match "no file" "$(q "SELECT * FROM privacy_score.import_log('none-*.csv')" 2>&1)" 'there is no file .*/log/none-\*\.csv'
check_match "no format" "$(q "SELECT * FROM privacy_score.import_log('old/x-1.csv', 'xml')" 2>&1)" 'there is no log format "xml"'
check_match "a prefix that does not tell" "$(q "SELECT * FROM privacy_score.import_log('old/x-1.csv', 'stderr', '%m ')" 2>&1)" 'do not tell who, when'
q "GRANT EXECUTE ON FUNCTION privacy_score.import_log TO alice" >/dev/null
check_match "who may not read files" "$(as alice q "SELECT * FROM privacy_score.import_log('old/x-1.csv')" 2>&1)" "permission denied to read the server's files"
q "GRANT pg_read_server_files TO alice" >/dev/null
check "who may" "$(as alice q "SELECT imported FROM privacy_score.import_log('old/x-2.csv')")" 1
gzip -c "$log/old/x-1.csv" >"$log/old/x-1.csv.gz"
check_match "a compressed file is left out" "$(q_all "SELECT records FROM privacy_score.import_log('old/x-1.csv*')")" 'left out file .*x-1.csv.gz.*which is compressed'

# pgaudit, which tells of statements by itself, and beside log_statement not twice.
if [ "$libraries" != privacy_score ]; then
  clear_history
  q "ALTER SYSTEM SET pgaudit.log = 'read'" "ALTER SYSTEM SET log_destination = 'csvlog'" "SELECT pg_reload_conf()" "SELECT pg_rotate_logfile()" >/dev/null
  wait_for "SHOW pgaudit.log" read
  as alice q "SELECT city FROM patients WHERE id = 7" "SELECT first_name, \"city\" FROM patients, (SELECT 1) x" >/dev/null
  q "ALTER ROLE alice SET log_statement = 'none'" >/dev/null
  as alice q "SELECT city FROM patients WHERE id = 8" "SELECT '<AUDIT>' || diagnosis FROM patients" >/dev/null
  check_true "pgaudit has logged" wait_until grep -q '<AUDIT>' "$log/"*.csv
  import 'postgresql-*.csv' >/dev/null
  check "each statement once" "$(q "SELECT queries, min(s.started)::date = current_date FROM privacy_score.session s WHERE role = 'alice' GROUP BY s.id, s.queries, s.started ORDER BY s.started" | tail -n 2)" "2|t
2|t"
fi
# What is no file is left out at once: opening a pipe would wait for whoever writes to it, and nothing would end that.
mkdir -p "$log/strange.csv/x" && mkfifo "$log/pipe.csv"
check "a pipe is left out" "$(q "SET statement_timeout = '60s'" "SELECT records, imported FROM privacy_score.import_log('pipe.csv')")" "0|0"
check_match "with a warning that says why" "$(q_all "SELECT records FROM privacy_score.import_log('pipe.csv')")" \
  'WARNING:  left out ".*pipe.csv", which is no ordinary file'
check "so is a directory, and what is beside it is read" "$(q "SELECT count(*), bool_or(statements > 0) FROM privacy_score.import_log('*.csv')")" \
  "$(find "$log" -maxdepth 1 -name '*.csv' | wc -l)|t"
strange='2026-11-02 09:00:02%s UTC,"alice","postgres",7,"[local]",6b0.%s,1,"SELECT",2026-11-02 09:00:00 UTC,3/1,0,LOG,00000,"statement: SELECT city FROM patients",,,,,,,,,"psql","client backend",,0\n'
# shellcheck disable=SC2059
for moment in .5 .1e300 .nan .-1 .; do printf "$strange" "$moment" "${#moment}"; done >"$log/old/moments.csv"
check "a moment that is none is not understood" "$(import old/moments.csv)" "5|2|0|f|3|2"
# A role chooses the name of its program.
q "DELETE FROM privacy_score.session WHERE role = 'bob'" >/dev/null
echo "2026-11-02 09:00:00 UTC [7] x bob@postgres LOG:  statement: TABLE patients -- alice@postgres LOG:  statement: SELECT 1" >"$log/old/forged.log"
check "a program's name speaks for nobody" \
  "$(q "SELECT statements, imported, not_understood FROM privacy_score.import_log('old/forged.log', 'stderr', '%t [%p] %a %u@%d ')" "SELECT count(*) FROM privacy_score.session WHERE role = 'bob'")" \
  "0|0|1
0"

check "the server is well" "$(grep -cE 'PANIC|terminated by signal' "$log/"*.log | tail -n 1 | sed 's/.*://')" 0

done_testing

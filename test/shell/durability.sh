#!/bin/bash
# durability.sh - databases that come and go, the extension dropped and made again, renamed tables, columns and roles, a
# disk that is full, max_memory reached, a worker that is ended while it computes.
. "$(dirname "$0")/../lib.sh"

recorded="SELECT COALESCE(sum(queries), 0) FROM privacy_score.session"
clinic=("CREATE EXTENSION privacy_score"
  "CREATE TABLE patients (id int PRIMARY KEY, person int, city text, diagnosis text)"
  "INSERT INTO patients SELECT i, i / 2, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i"
  "GRANT SELECT ON patients TO alice" "SELECT privacy_score.protect('patients', '{person}')")

# open_session DATABASE: a session of alice that reads statements from file descriptor 3.
open_session() {
  rm -f "$PS_TMP/alice"
  mkfifo "$PS_TMP/alice"
  on "$1" as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >"$PS_TMP/alice.out" 2>&1 &
  alice=$!
  exec 3>"$PS_TMP/alice"
}
close_session() {
  exec 3>&-
  wait "$alice"
}

start_server "privacy_score.max_memory = '2MB'" "max_prepared_transactions = 2"
q "CREATE ROLE alice LOGIN" >/dev/null

# --- databases come and go ----------------------------------------------------------------------------------------------
q "CREATE DATABASE ward" >/dev/null
on ward q "${clinic[@]}" >/dev/null
on ward as alice q "SELECT city FROM patients" >/dev/null
check_true "a database that was made while the server runs is recorded" on ward wait_for "$recorded" 1
check_true "it can be renamed at once: the worker leaves with the last session" \
  eval 'for i in {1..300}; do q "ALTER DATABASE ward RENAME TO unit" >/dev/null && break; sleep 0.2; done; test "$(q "SELECT count(*) FROM pg_database WHERE datname = '"'unit'"'")" = 1'
on unit as alice q "SELECT diagnosis FROM patients" >/dev/null
check_true "under the new name recording goes on" on unit wait_for "$recorded" 2
open_session unit
echo "SELECT city FROM patients;" >&3
on unit wait_for "$recorded" 3
check_match "with an open session it cannot be dropped" "$(q_state "DROP DATABASE unit")" "^55006$"
check "by force it can, worker and all" "$(q "DROP DATABASE unit WITH (FORCE)" "SELECT count(*) FROM pg_database WHERE datname = 'unit'")" 0
close_session
for _ in 1 2 3; do
  q "CREATE DATABASE brief" >/dev/null
  on brief q "${clinic[@]}" >/dev/null
  on brief as alice q "SELECT city FROM patients" >/dev/null
  sleep 0.3
  q "DROP DATABASE brief" >/dev/null || q "DROP DATABASE brief WITH (FORCE)" >/dev/null
done
check "databases that are made and dropped again leave nothing behind" "$(q "SELECT count(*) FROM pg_database WHERE datname = 'brief'")" 0

# --- the extension comes and goes -----------------------------------------------------------------------------------------
q "${clinic[@]}" >/dev/null
open_session postgres
echo "SELECT city FROM patients;" >&3
check_true "a session is recorded" wait_for "$recorded" 1
check "the extension can be dropped while it runs" "$(q "DROP EXTENSION privacy_score CASCADE" "SELECT 'gone'")" gone
printf '%s\n' "SELECT city FROM patients;" "\\echo without" >&3
wait_for_line "$PS_TMP/alice.out" without
q "BEGIN" "CREATE EXTENSION privacy_score" "SELECT privacy_score.protect('patients', '{person}')" "SELECT pg_sleep(3)" "COMMIT" >/dev/null &
wait_for "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'" 1
echo "SELECT diagnosis FROM patients;" >&3
wait $!
echo "SELECT city, diagnosis FROM patients; SELECT city FROM patients;" >&3
check_true "made again, it records from then on" wait_for "$recorded" 2
check "with the tokens of all that is recorded" \
  "$(q "SELECT count(*) FROM privacy_score.session_part p, unnest(p.ids) i LEFT JOIN privacy_score.abstraction a ON a.id = i WHERE a.id IS NULL")" 0
close_session

# --- names change -----------------------------------------------------------------------------------------------------------
subject="SELECT relation, subject FROM privacy_score.protected_relations ORDER BY relation::text"
q "SELECT privacy_score.confirm_dependency('patients', 'person', 'city')" "SELECT privacy_score.analyze_relation('patients')" >/dev/null
q "ALTER TABLE patients RENAME COLUMN person TO subject_no" >/dev/null
check "a renamed column stays the subject" "$(q "$subject")" "patients|{subject_no}"
check "and keeps its dependencies" "$(q "SELECT relation_name, determinant, dependent FROM privacy_score.dependency")" "public.patients|subject_no|city"
check "no rate is kept that was against a column of another name" "$(q "SELECT count(*) FROM privacy_score.rate WHERE subject = 'person'")" 0
q "CREATE SCHEMA archive" "ALTER TABLE patients SET SCHEMA archive" "ALTER TABLE archive.patients RENAME TO people" \
  "ALTER SCHEMA archive RENAME TO store" >/dev/null
check "a table keeps them under another name and schema" \
  "$(q "SELECT p.relation, p.subject, d.relation_name FROM privacy_score.protected_relations p, privacy_score.dependency d")" "store.people|{subject_no}|store.people"
q "SET quote_all_identifiers = on" "ALTER SCHEMA store RENAME TO archive" "ALTER TABLE archive.people RENAME TO patients" "ALTER TABLE archive.patients SET SCHEMA public" \
  "CREATE TABLE others (id int PRIMARY KEY, city text)" "SELECT privacy_score.protect('others')" "SELECT privacy_score.analyze_relation('others')" >/dev/null
q "BEGIN" "ALTER TABLE patients RENAME TO swap" "ALTER TABLE others RENAME TO patients" "ALTER TABLE swap RENAME TO others" "COMMIT" >/dev/null
check "two tables can change names" "$(q "$subject")" "others|{subject_no}
patients|{id}"
check "and dependencies go with their table" "$(q "SELECT relation_name FROM privacy_score.dependency")" public.others
check "no rate of the one is taken for the other's" "$(q "SELECT count(*) FROM privacy_score.rate")" 0
q "BEGIN" "ALTER TABLE others RENAME TO swap" "ROLLBACK" >/dev/null
check "a renaming that is rolled back changes nothing" "$(q "SELECT relation_name FROM privacy_score.dependency")" public.others
q "DROP TABLE patients" "ALTER TABLE others RENAME TO patients" >/dev/null
check "a name that a dropped protected table has left is free" "$(q "$subject")" "patients|{subject_no}"
q "ALTER ROLE alice RENAME TO alicia" >/dev/null
before=$(q "$recorded")
PGUSER=alicia q "SELECT city FROM patients" >/dev/null
check_true "a renamed role is recorded under its new name" wait_for "SELECT count(*) FROM privacy_score.session WHERE role = 'alicia'" 1
q "ALTER ROLE alicia RENAME TO alice" "SELECT privacy_score.flush()" >/dev/null

# --- what sessions are judged by does not change behind their backs ----------------------------------------------------------
q "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" >/dev/null
for change in "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'exempt'" "SELECT privacy_score.unprotect('patients')" "SELECT privacy_score.protect('patients', '{subject_no}')" \
  "SELECT privacy_score.confirm_dependency('patients', 'city', 'diagnosis')" "SECURITY LABEL FOR privacy_score ON COLUMN patients.city IS 'public'" \
  "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" "SELECT privacy_score.drop_baseline('alice')"; do
  check "prepared and taken back: $change" "$(q_state "BEGIN" "$change" "PREPARE TRANSACTION 'change'" "ROLLBACK PREPARED 'change'")" 00000
done
check "what only reads is prepared" \
  "$(q "BEGIN" "SELECT count(*) FROM privacy_score.score('alice', '-infinity', 'infinity')" "PREPARE TRANSACTION 'reading'" >/dev/null; q_state "COMMIT PREPARED 'reading'")" 00000

q "CREATE SCHEMA ward" "GRANT USAGE ON SCHEMA ward TO alice" "CREATE TABLE ward.beds (id int PRIMARY KEY, patient text)" "INSERT INTO ward.beds SELECT i, 'p' || i FROM generate_series(1, 50) i" \
  "GRANT SELECT ON ward.beds TO alice" "SELECT privacy_score.protect('ward.beds')" "SELECT privacy_score.flush()" >/dev/null
q "BEGIN" "ALTER SCHEMA ward RENAME TO unit" "PREPARE TRANSACTION 'rename'" "COMMIT PREPARED 'rename'" >/dev/null
open_session postgres
echo "SELECT patient FROM unit.beds;" >&3
check_true "a schema that is renamed in a prepared transaction is scored under its new name" \
  wait_for "SELECT score > 0 AND NOT estimated FROM privacy_score.stat_sessions WHERE role = 'alice'" t
close_session
q "CREATE ROLE head_nurse" "SECURITY LABEL FOR privacy_score ON ROLE head_nurse IS 'watched'" >/dev/null
open_session postgres
echo "SELECT patient FROM unit.beds;" >&3
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'alice' AND state = 'idle' AND query LIKE 'SELECT patient%'" 1
check "who is not labelled is not watched while somebody is" "$(q "SELECT count(*) FROM privacy_score.stat_sessions WHERE role = 'alice'")" 0
q "DROP ROLE head_nurse" >/dev/null
echo "SELECT patient FROM unit.beds;" >&3
check_true "an open session is when that role is dropped" wait_for "SELECT count(*) FROM privacy_score.stat_sessions WHERE role = 'alice'" 1
close_session

# --- writing fails ------------------------------------------------------------------------------------------------------------
q "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN RAISE SQLSTATE '53100' USING MESSAGE = 'could not extend file'; END\$\$" \
  "CREATE TRIGGER refuse BEFORE INSERT ON privacy_score.session_part FOR EACH ROW EXECUTE FUNCTION refuse()" >/dev/null
before=$(q "$recorded")
open_session postgres
# Not all at once, so that the worker meets the fault with some of them at hand and more to come.
for _ in 1 2 3 4 5 6; do
  echo "SELECT city FROM patients LIMIT 1;" >&3
  sleep 0.5
done
check_true "a full disk is counted, also when it is tried again" wait_for "SELECT flush_errors >= 2 FROM privacy_score.stat_info" t
pid=$(q "SELECT worker_pid FROM privacy_score.stat_info")
check "the worker does not end" "$(q "SELECT worker_pid = ${pid:-0} FROM privacy_score.stat_info")" t
check "the log is not flooded" "$(grep -c 'ERROR:  could not extend file' "$ps_log")" 1
check "nothing is half written" "$(q "SELECT ($recorded) - $before")" 0
q "DROP TRIGGER refuse ON privacy_score.session_part" "SELECT privacy_score.flush()" >/dev/null
check "afterwards all is written" "$(q "SELECT s.queries, i.dropped FROM privacy_score.session s, privacy_score.stat_info i WHERE s.role = 'alice' ORDER BY s.started DESC LIMIT 1")" "6|0"
check_true "and the log says that it goes on" log_has "goes on after [0-9]+ failed tries"
close_session

# --- max_memory ---------------------------------------------------------------------------------------------------------------
q "CREATE TRIGGER refuse BEFORE INSERT ON privacy_score.session_part FOR EACH ROW EXECUTE FUNCTION refuse()" "SELECT privacy_score.reset_stats()" >/dev/null
q "SELECT 'CREATE TABLE wide (id int PRIMARY KEY, ' || string_agg('column_with_quite_a_long_name_number_' || i || ' int', ', ') || ')' FROM generate_series(1, 150) i" |
  "$PS_BINDIR/psql" -Xq >/dev/null
# As many as take just less than what a session may have before it is cut.
q "GRANT SELECT ON wide TO alice" "SELECT privacy_score.protect('wide')" >/dev/null
q "SELECT format('SELECT %s FROM wide LIMIT 0 + 0;', string_agg('column_with_quite_a_long_name_number_' || i, ', ')) FROM generate_series(1, 350) n, generate_series(1, 150) i
     WHERE hashint4(i * 1000 + n) % 3 <> 0 GROUP BY n" >"$PS_TMP/wide.sql"
# The worker follows the declaration although it cannot write, but not at once after failures. What a session has done
# stays in memory meanwhile, so that one session waits for that.
open_session postgres
for _ in $(seq 300); do
  echo "SELECT column_with_quite_a_long_name_number_1 FROM wide LIMIT 0 + 0; SELECT score > 0 FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid();" >&3
  sleep 0.1
  [ "$(tail -n 1 "$PS_TMP/alice.out")" = t ] && break
done
check "a declaration is followed although nothing can be stored" "$(tail -n 1 "$PS_TMP/alice.out")" t
close_session
# The last line of what the session prints is the score while nothing can be stored.
as alice "$PS_BINDIR/psql" -XAtq -f "$PS_TMP/wide.sql" -c "SELECT queries, score > 0 FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()" \
  </dev/null >"$PS_TMP/wide.out" 2>&1
check "with memory full, statements run and are scored" "$(tail -n 1 "$PS_TMP/wide.out")" "350|t"
check "what does not fit is counted" "$(q "SELECT dropped > 0, memory_used <= memory_limit FROM privacy_score.stat_info")" "t|t"
q "DROP TRIGGER refuse ON privacy_score.session_part" "SELECT privacy_score.flush()" >/dev/null
check_true "memory is free again" wait_for "SELECT memory_used < memory_limit / 2 FROM privacy_score.stat_info" t
before=$(q "SELECT dropped FROM privacy_score.stat_info")
as alice q "SELECT city FROM patients" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check "then nothing is dropped" "$(q "SELECT dropped - $before FROM privacy_score.stat_info")" 0

# --- the worker is ended while it computes -------------------------------------------------------------------------------------
q "CREATE TABLE large AS SELECT i AS id, 'a' || i % 100003 AS a, 'b' || i % 70001 AS b FROM generate_series(1, 400000) i" \
  "SELECT privacy_score.protect('large')" "GRANT SELECT ON large TO alice" >/dev/null
before=$(q "$recorded")
open_session postgres
echo "SELECT a, b FROM large LIMIT 0 + 0; SELECT b FROM large LIMIT 0 + 0; SELECT pg_backend_pid() FROM (SELECT random()) r;" >&3
wait_for_line "$PS_TMP/alice.out" '^[0-9]+$'
wait_for "SELECT worker_pid IS NOT NULL FROM privacy_score.stat_info" t
q "SELECT pg_terminate_backend(worker_pid) FROM privacy_score.stat_info WHERE worker_pid IS NOT NULL" >/dev/null
echo "SELECT a FROM large LIMIT 0 + 0;" >&3
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'alice' AND state = 'idle' AND query LIKE 'SELECT a FROM large%'" 1
stop_server fast
close_session
resume_server
check "what was done by then is written, although it was computing at an orderly stop" "$(q "SELECT ($recorded) - $before")" 4

# --- flush() in a transaction that has written ------------------------------------------------------------------------------------
check_match "flush() says at once that it cannot wait for its own transaction" \
  "$(q_all "BEGIN" "SELECT privacy_score.import_statements(\$\$SELECT 's', 'alice'::name, now(), 'SELECT city FROM patients'\$\$)" "SELECT privacy_score.flush()")" \
  "ERROR:  cannot flush in a transaction that has itself written history"
done_testing

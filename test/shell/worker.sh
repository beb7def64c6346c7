#!/bin/bash
# worker.sh - the worker dies, is terminated, cannot start, cannot write; cancelling what waits or computes; sessions cut
# at idle_gap; history_retention; names.
. "$(dirname "$0")/../lib.sh"

recorded="SELECT COALESCE(sum(queries), 0) FROM privacy_score.session"
parts="SELECT COALESCE(sum(r), 0) FROM privacy_score.session_part p, unnest(p.runs) r"
calls="SELECT COALESCE(sum(calls), 0) FROM privacy_score.abstraction"
worker="SELECT worker_pid FROM privacy_score.stat_info"
clinic=("CREATE EXTENSION privacy_score"
  "CREATE TABLE patients (id int PRIMARY KEY, city text, diagnosis text)"
  "INSERT INTO patients SELECT i, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i"
  "CREATE ROLE alice LOGIN" "GRANT SELECT ON patients TO alice" "SELECT privacy_score.protect('patients')")

# A session of alice, or of a role, that reads statements from file descriptor 3.
open_session() {
  rm -f "$PS_TMP/alice"
  mkfifo "$PS_TMP/alice"
  as "${1:-alice}" "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >"$PS_TMP/alice.out" 2>&1 &
  alice=$!
  exec 3>"$PS_TMP/alice"
}
close_session() {
  exec 3>&-
  wait "$alice"
}

# --- no worker can start: on a server of its own, whose flush() gives up while the other tests run ---------------------
use_server starved
start_server "max_worker_processes = 0" "max_parallel_workers = 0"
q "${clinic[@]}" >/dev/null
as alice q "SELECT city FROM patients" "SELECT diagnosis FROM patients" >/dev/null
check "without a worker statements run and are counted" "$(q "SELECT events, dropped, worker_pid IS NULL FROM privacy_score.stat_info")" "2|0|t"
check "without a worker flush() can be cancelled" "$(q_state "SET statement_timeout = '1s'" "SELECT privacy_score.flush()")" 57014
{ time q_all "SELECT privacy_score.flush()"; } >"$PS_TMP/starved.flush" 2>&1 &
starved=$!
use_server main

# --- termination ------------------------------------------------------------------------------------------------------
start_server "max_worker_processes = 10"
q "${clinic[@]}" >/dev/null
open_session
echo "SELECT city FROM patients;" >&3
check_true "the worker starts with the first event" wait_for "$recorded" 1
first=$(q "$worker")
q "SELECT pg_terminate_backend($first)" >/dev/null
check_true "it is gone after pg_terminate_backend" wait_for "SELECT count(*) FROM pg_stat_activity WHERE pid = $first" 0
sleep 1.1
echo "SELECT diagnosis FROM patients;" >&3
check_true "the next event brings it back" wait_for "$recorded" 2
check_true "as another process" test "$(q "$worker")" != "$first"
for _ in 1 2 3 4 5 6 7 8; do
  echo "SELECT city FROM patients; SELECT diagnosis FROM patients;" >&3
  q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privacy_score worker'" >/dev/null
  sleep 0.2
done
q "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privacy_score worker'" >/dev/null
close_session
q "SELECT privacy_score.flush()" >/dev/null
check "nothing is lost or doubled, however often it is terminated" "$(q "SELECT ($recorded), ($parts), ($calls), dropped FROM privacy_score.stat_info")" "18|18|18|0"
check_true "the worker leaves when nobody is watched" wait_for "SELECT worker_pid IS NULL FROM privacy_score.stat_info" t
check "flush() brings a worker that writes and leaves" "$(q "SELECT privacy_score.flush()"; wait_for "SELECT worker_pid IS NULL FROM privacy_score.stat_info" t && echo gone)" "
gone"

# --- writing fails ----------------------------------------------------------------------------------------------------
q "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN RAISE 'the disk is full'; END\$\$" \
  "CREATE TRIGGER refuse BEFORE INSERT ON privacy_score.session_part FOR EACH ROW EXECUTE FUNCTION refuse()" >/dev/null
open_session
echo "SELECT city FROM patients; SELECT city FROM patients;" >&3
wait_for "SELECT flush_errors > 0 FROM privacy_score.stat_info" t
echo "SELECT diagnosis FROM patients;" >&3
alice_has() { [ "$(wc -l <"$PS_TMP/alice.out")" -ge "$1" ]; }
wait_until alice_has 300
check "while writing fails, statements run" "$(wc -l <"$PS_TMP/alice.out")" 300
check "and nothing half is written" "$(q "SELECT ($recorded), ($parts), ($calls)")" "18|18|18"
check_true "the log says why" log_has "ERROR:  the disk is full"
check "flush() can be cancelled meanwhile" "$(q_state "SET statement_timeout = '1s'" "SELECT privacy_score.flush()")" 57014
q "DROP TRIGGER refuse ON privacy_score.session_part" "SELECT privacy_score.flush()" >/dev/null
check "afterwards all is written, once" "$(q "SELECT ($recorded), ($parts), ($calls)")" "21|21|21"
close_session

# --- settings of the server and locks of others do not stop it -----------------------------------------------------------
q "ALTER DATABASE postgres SET default_transaction_read_only = on" >/dev/null
as alice q "SELECT city FROM patients" >/dev/null
check_true "it writes in a database that is read-only by default" wait_for "$recorded" 22
q "SET default_transaction_read_only = off" "ALTER DATABASE postgres RESET default_transaction_read_only" >/dev/null
q "DELETE FROM privacy_score.rate" "SELECT privacy_score.flush()" >/dev/null
open_session
# Who wants to lock the relation waits for alice, and the worker waits behind.
echo "BEGIN; SELECT id FROM patients LIMIT 0 + 0;" >&3
wait_for "$recorded" 23
q "BEGIN" "LOCK TABLE patients" "COMMIT" >/dev/null &
locker=$!
wait_for "SELECT count(*) FROM pg_locks WHERE NOT granted" 1
echo "SELECT city, diagnosis FROM patients; SELECT random() AS one;" >&3
sleep 1
echo "SELECT random() AS two;" >&3
check_true "it goes on writing while a protected relation is locked" wait_for "$recorded" 26
check "and does not wait for that lock" "$(grep -c 'lock timeout' "$ps_log")" 0
echo "COMMIT;" >&3
wait $locker
close_session
q "SELECT privacy_score.flush()" >/dev/null
check "rates that waited for a lock are computed in the end" "$(q "SELECT pending_cdr FROM privacy_score.stat_info")" 0

# --- rates of a large relation are computed apart -------------------------------------------------------------------------
q "CREATE TABLE huge AS SELECT i AS id, md5(i::text) AS a, md5((i % 100003)::text) AS b, md5((i % 70001)::text) AS c FROM generate_series(1, 400000) i" \
  "ANALYZE huge" "SELECT privacy_score.protect('huge', '{id}')" "GRANT SELECT ON huge TO alice" "SELECT privacy_score.flush()" >/dev/null
had=$(q "$recorded")
open_session
echo "SELECT a, b, c FROM huge LIMIT 0 + 0; SELECT b, c FROM huge LIMIT 0 + 0;" >&3
apart="SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'privacy_score rates'"
check_true "a process of its own computes rates of a large relation" wait_for "$apart" t
echo "SELECT city FROM patients;" >&3
check_true "history goes on being written meanwhile" wait_for "SELECT ($recorded), $(printf '%s' "(${apart})")" "$((had + 3))|t"
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privacy_score rates'" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
echo "SELECT b, c FROM huge LIMIT 0 + 0;" >&3
wait_for "$recorded" "$((had + 4))"
close_session
check_true "ended early, it is started again" wait_for "SELECT count(*) > 0 FROM privacy_score.rate WHERE relation_name = 'public.huge'" t
q "DROP TABLE huge" >/dev/null

# --- cancelling -------------------------------------------------------------------------------------------------------
q "CREATE TABLE large AS SELECT i AS id, 'a' || i % 100003 AS a, 'b' || i % 70001 AS b, 'c' || i AS c FROM generate_series(1, 300000) i" \
  "SELECT privacy_score.protect('large')" "GRANT SELECT ON large TO alice" >/dev/null
before=$(q "SELECT count(*) FROM privacy_score.rate")
check "analyze_relation obeys statement_timeout" "$(q_state "SET statement_timeout = '20ms'" "SELECT privacy_score.analyze_relation('large')")" 57014
check "and leaves nothing behind" "$(q "SELECT count(*) - $before FROM privacy_score.rate WHERE relation_name = 'public.large' OR true")" 0
check "discrimination_rate obeys statement_timeout" \
  "$(q_state "SET statement_timeout = '10ms'" "SELECT privacy_score.combined_discrimination_rate('large', '{a,b,c}')")" 57014
as alice q "SELECT count(city) FROM patients" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('alice', privacy_score.today(), privacy_score.today())" >/dev/null
as alice q "SELECT a, b, c FROM large LIMIT 0 + 0" >/dev/null
sleep 0.3
check_match "score() obeys statement_timeout" "$(q_state "DELETE FROM privacy_score.rate" "SET statement_timeout = '10ms'" "SELECT * FROM privacy_score.score('alice', '-infinity', 'infinity')")" "^57014$"
check "afterwards the session works" "$(q_state "SET statement_timeout = '50ms'" "SELECT privacy_score.combined_discrimination_rate('large', '{a,b,c}')" "SET statement_timeout = 0" "SELECT count(*) FROM privacy_score.score('alice', '-infinity', 'infinity')")" 00000
check_true "the worker can be terminated while it computes" eval 'as alice q "SELECT b, c FROM large LIMIT 0 + 0" >/dev/null; q "DELETE FROM privacy_score.rate" >/dev/null; q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = '"'privacy_score worker'"'" >/dev/null; true'
q "SELECT privacy_score.flush()" >/dev/null
check "no rate is pending for ever" "$(q "SELECT pending_cdr FROM privacy_score.stat_info")" 0

# --- sessions are cut -------------------------------------------------------------------------------------------------
q "ALTER ROLE alice SET privacy_score.idle_gap = '1s'" >/dev/null
open_session
echo "SELECT city FROM patients; SELECT city FROM patients;" >&3
sleep 2.2
echo "SELECT diagnosis FROM patients;" >&3
q "SELECT privacy_score.flush()" >/dev/null
cut="SELECT string_agg(queries::text, ',' ORDER BY id), count(DISTINCT split_part(session, '/', 1)),
            string_agg(split_part(session, '/', 2), ',' ORDER BY id)
       FROM (SELECT * FROM privacy_score.session ORDER BY id DESC LIMIT 2) s"
check_true "a session is cut after idle_gap" wait_for "$cut" "2,1|1|,2"
check "only its last piece is open" "$(q "SELECT queries, session LIKE '%/2' FROM privacy_score.stat_sessions")" "1|t"
close_session

q "ALTER ROLE alice RESET privacy_score.idle_gap" "ALTER ROLE alice SET privacy_score.ngram_length = 6" >/dev/null
# From PostgreSQL 17 on a key that is tested for NULL is certain to return nothing, and no event.
as alice q "DO \$\$
  BEGIN
    FOR i IN 1 .. 70000 LOOP
      EXECUTE format('SELECT %s FROM patients WHERE %s IS NULL', ('{id,city,diagnosis,\"id,city\",\"id,diagnosis\",\"city,diagnosis\"}'::text[])[1 + abs(hashint4(i)) % 6],
                     ('{id + 0,city,diagnosis}'::text[])[1 + abs(hashint4(-i)) % 3]);
    END LOOP;
  END \$\$" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check "and when it has more different n-grams than a backend should keep" \
  "$(q "SELECT sum(queries), min(queries) FILTER (WHERE session NOT LIKE '%/%') >= 65536, string_agg(split_part(session, '/', 2), ',' ORDER BY id)
          FROM (SELECT * FROM privacy_score.session ORDER BY id DESC LIMIT 2) s")" "70000|t|,2"
q "ALTER ROLE alice RESET privacy_score.ngram_length" >/dev/null

# --- a role is dropped or renamed while its session runs ----------------------------------------------------------------
q "CREATE ROLE carol LOGIN" "GRANT SELECT ON patients TO PUBLIC" "ALTER ROLE carol SET privacy_score.idle_gap = '1s'" >/dev/null
rm -f "$PS_TMP/carol"
mkfifo "$PS_TMP/carol"
as carol "$PS_BINDIR/psql" -XAtq <"$PS_TMP/carol" >"$PS_TMP/carol.out" 2>&1 &
exec 4>"$PS_TMP/carol"
echo "SELECT count(city) FROM patients;" >&4
wait_for "SELECT count(*) FROM privacy_score.session WHERE role = 'carol'" 1
q "DROP ROLE carol" >/dev/null
sleep 2.2
echo "SELECT count(city) FROM patients;" >&4
sleep 0.3
exec 4>&-
check "a dropped role's session goes on" "$(cat "$PS_TMP/carol.out")" "100
100"
check_true "nothing is left of it in memory" wait_for "SELECT count(*) FROM privacy_score.live_sessions()" 0

# --- retention --------------------------------------------------------------------------------------------------------
q "UPDATE privacy_score.session SET day = privacy_score.today() - 10 WHERE id = (SELECT min(id) FROM privacy_score.session)" >/dev/null
kept=$(q "SELECT count(*) - 1 FROM privacy_score.session")
baselines=$(q "SELECT count(*), (SELECT count(*) FROM privacy_score.baseline_ngram) FROM privacy_score.baseline")
conf "privacy_score.history_retention = 5"
restart_server
q "SELECT privacy_score.flush()" >/dev/null
check "history older than history_retention is deleted" "$(q "SELECT count(*), count(*) FILTER (WHERE day < privacy_score.today() - 5) FROM privacy_score.session")" "$kept|0"
check "baselines are not" "$(q "SELECT count(*), (SELECT count(*) FROM privacy_score.baseline_ngram) FROM privacy_score.baseline")" "$baselines"

# --- the server quotes all names ----------------------------------------------------------------------------------------
conf "quote_all_identifiers = on"
restart_server
q "CREATE ROLE dave LOGIN" >/dev/null
open_session dave
echo "SELECT city, diagnosis FROM patients;" >&3
check_true "what is declared is scored also where the server quotes all names" \
  wait_for "SELECT score > 0 AND NOT estimated FROM privacy_score.stat_sessions WHERE role = 'dave'" t
close_session

# --- settings that are read again while it runs ---------------------------------------------------------------------------
conf "privacy_score.flush_interval = '1h'"
restart_server
open_session
echo "SELECT city FROM patients;" >&3
wait_for "SELECT worker_pid IS NOT NULL FROM privacy_score.stat_info" t
q "SELECT privacy_score.flush()" >/dev/null
before=$(q "$recorded")
first=$(q "$worker")
echo "SELECT city FROM patients;" >&3
wait_for "SELECT queries FROM privacy_score.stat_sessions" 2
conf "privacy_score.flush_interval = '100ms'"
reload_server
check_true "a reload changes how often a running worker writes" wait_for "SELECT ($recorded) - $before" 1
check "it is the same process" "$(q "$worker")" "$first"
close_session

# --- what became of the server without workers --------------------------------------------------------------------------
wait $starved
use_server starved
check_match "without a worker flush() gives up and says why" "$(cat "$PS_TMP/starved.flush")" \
  "ERROR:  the privacy_score worker did not answer within [0-9]+ seconds.*HINT:  Look into the server log, and check max_worker_processes"
check "statements still run" "$(as alice q "SELECT count(city) FROM patients")" 100
conf "max_worker_processes = 4"
restart_server
as alice q "SELECT city FROM patients" >/dev/null
check_true "with workers allowed, history is written" wait_for "$recorded" 1

# --- how long it stays ------------------------------------------------------------------------------------------------
conf "privacy_score.worker_stays = '1h'"
reload_server
pids() { local i; for i in 1 2 3; do as alice q "SELECT city FROM patients WHERE id = $i" >/dev/null; wait_for "SELECT worker_pid IS NOT NULL FROM privacy_score.stat_info" t; q "SELECT privacy_score.flush()" "$worker"; done | sort -u | grep -c .; }
check "short sessions that follow each other have one worker" "$(pids)" 1
conf "privacy_score.worker_stays = '200ms'" "privacy_score.flush_interval = '1h'"
reload_server
check_true "it stays no longer, however seldom it writes" wait_for "SELECT worker_pid IS NULL FROM privacy_score.stat_info" t

# --- what its queries cost --------------------------------------------------------------------------------------------
conf "privacy_score.flush_interval = '100ms'" "privacy_score.worker_stays = '1h'" "jit = on" "jit_above_cost = 0"
reload_server
before=$(q "$recorded")
as alice q "SELECT city FROM patients" >/dev/null
check_true "where each query is compiled history is written" wait_for "SELECT ($recorded) - $before" 1
check "the worker compiles none of its own" "$(grep -c llvmjit "/proc/$(q "$worker")/maps")" 0

done_testing

#!/bin/bash
# noisy.sh - noisy counts on a server that does not preload the library: the accountant comes when it is needed and goes,
# charges are durable, locks and missing processes end in a clear error, nothing stays behind; standby, dump and restore,
# copies of the database.
. "$(dirname "$0")/../lib.sh"

accountants="SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'privacy_score accountant'"
spent="SELECT spent FROM privacy_score.dp_budget"
ask() { echo "SELECT privacy_score.dp_count('t', '$1', ${2:-50})"; }

start_plain() {
  start_server "$@"
  sed -i '/^privacy_score\./d; /^shared_preload_libraries/d' "$PGDATA/postgresql.conf"
  restart_server
}

start_plain "max_connections = 100"
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE TABLE t (id int, city text)" \
  "INSERT INTO t SELECT i, 'c' || i % 10 FROM generate_series(1, 1000) i" "SELECT privacy_score.dp_grant('alice', 't', 10000)" >/dev/null

# --- the accountant -----------------------------------------------------------------------------------------------------
# Asks once more and looks at once: an accountant that nobody needs for a second leaves.
asked=0 most=0
looks() {
  asked=$((asked + 1))
  as alice q "$(ask "id <= $((100 + asked))")" >/dev/null
  shown=$(q "SELECT datname, application_name FROM pg_stat_activity WHERE backend_type = 'privacy_score accountant'")
  local running
  running=$(grep -c . <<<"$shown")
  if [ "$running" -gt "$most" ]; then most=$running; fi
  [ "$running" -gt 0 ]
}
check "it does not run before it is needed" "$(q "$accountants")" 0
check "a noisy count" "$(as alice q "$(ask 'id <= 10')")" 10
check_true "it runs" wait_until looks
check "it answers many" "$(for i in 1 2 3 4 5; do as alice q "$(ask "id <= $i")" & done | sort -n | tr '\n' ' ')" "1 2 3 4 5 "
check_true "and runs" wait_until looks
check "one for many" "$most" 1
check_true "and leaves when nobody needs it" wait_for "$accountants" 0
check "it comes again" "$(as alice q "$(ask 'id <= 11')")" 11
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privacy_score accountant'" >/dev/null
check "ended by the administrator, it comes again" "$(as alice q "$(ask 'id <= 12')")" 12
q "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privacy_score accountant'" >/dev/null
check "a cancel does nothing to it" "$(as alice q "$(ask 'id <= 13')")" 13
check "all was charged" "$(as alice q "$spent")" $((450 + 50 * asked))
for i in 1 2 3 4 5 6 7 8; do
  (for k in 1 2 3 4 5; do as alice q "$(ask "id <= 2$i$k")"; done) &
done >"$PS_TMP/answers"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privacy_score accountant'" >/dev/null
  sleep 0.05
done
wait
check "ended again and again while forty ask, all are answered" "$(sort -n "$PS_TMP/answers" | uniq | tr '\n' ' ')" "$(for i in 1 2 3 4 5 6 7 8; do for k in 1 2 3 4 5; do echo "2$i$k"; done; done | sort -n | tr '\n' ' ')"
check "and each is charged once" "$(as alice q "$spent")" $((2450 + 50 * asked))
check_true "it runs again" wait_until looks
check "its name and database are shown" "$shown" "postgres|privacy_score accountant"

# --- databases ----------------------------------------------------------------------------------------------------------
q "CREATE DATABASE other" >/dev/null
on other q "CREATE EXTENSION privacy_score" "CREATE TABLE t (id int)" "SELECT privacy_score.dp_grant('alice', 't', 100)" >/dev/null
check "another database has its own" "$(on other as alice q "$(ask 'id = 1')")" 0
check "it does not keep that from being dropped" "$(q "DROP DATABASE other")" ""
check "nor this one from being copied" "$(as alice q "$(ask 'id <= 15')"; on template1 q "CREATE DATABASE copy TEMPLATE postgres")" 15
check "in the copy the budget is found by names, and spent stays spent" "$(on copy as alice q "$spent")" "$(as alice q "$spent")"
check "what was answered is repeated there" "$(on copy as alice q "SELECT noisy_count, repeated FROM privacy_score.dp_count_detail('t', 'id <= 10', 50)")" "10|t"
check "and questions are charged" "$(on copy as alice q "$(ask 'id <= 16')")" 16
on copy q "ALTER TABLE t RENAME TO u" >/dev/null
check "it is taken over: names may change" "$(on copy as alice q "SELECT relation FROM privacy_score.dp_budget")" u

# --- locks --------------------------------------------------------------------------------------------------------------
before=$(as alice q "$spent")
check "a grant that is not committed pays nothing, whoever asks" \
  "$(q "BEGIN" "SELECT privacy_score.dp_grant('postgres', 't', 100)" "$(ask 'id = 1')" | tail -n 1)" \
  "ERROR: role \"postgres\" has no privacy budget for relation \"t\""
mkfifo "$PS_TMP/holder"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/holder" >"$PS_TMP/holder.out" 2>&1 &
exec 3>"$PS_TMP/holder"
hold() { # runs statements in a session that stays open, and waits until they are done
  : >"$PS_TMP/holder.out"
  printf '%s;\n' "$@" "SELECT 'held'" >&3
  wait_for_line "$PS_TMP/holder.out" 'held'
}
q "SELECT privacy_score.dp_grant('bob', 't', 10000)" >/dev/null
hold "BEGIN" "SELECT privacy_score.dp_grant('alice', 't', 20000)"
check_match "while the owner changes a budget, it waits and gives up" "$(as alice q_all "$(ask 'id <= 17')")" "being changed by another transaction.*maybe your own"
check "and can be cancelled" "$(as alice q "SET statement_timeout = '300ms'" "$(ask 'id <= 17')")" "ERROR: canceling statement due to statement timeout"
check "others are not kept waiting" "$(as bob q "SET statement_timeout = '1s'" "$(ask 'id <= 18')")" 18
(sleep 1; echo "COMMIT;" >&3) &
check "when that is done, it goes on" "$(as alice q "$(ask 'id <= 17')")" 17
wait $!
hold "BEGIN" "LOCK TABLE privacy_score.release"
check_match "with the ledger locked there is no answer" "$(as alice q "SET lock_timeout = '1s'" "$(ask 'id <= 19')")" "ERROR: .*lock timeout"
hold "ROLLBACK" "BEGIN" "LOCK TABLE privacy_score.release IN EXCLUSIVE MODE"
check_match "nor when the accountant has to wait" "$(as alice q "$(ask 'id <= 19')")" "ERROR: could not charge the privacy budget: canceling statement due to lock timeout"
check_match "also of the session's own lock" "$(q "BEGIN" "LOCK TABLE privacy_score.budget IN EXCLUSIVE MODE" "SET SESSION AUTHORIZATION alice" "$(ask 'id <= 19')")" "ERROR: could not charge .*lock timeout"
hold "ROLLBACK" "BEGIN" "LOCK TABLE t"
check "the relation's lock is waited for like any other" "$(as alice q "SET lock_timeout = '300ms'" "$(ask 'id <= 19')")" "ERROR: canceling statement due to lock timeout"
hold "ROLLBACK"
check "none of this was charged" "$(as alice q "$spent")" "$(as alice q "SELECT $before + 50")"
hold "BEGIN" "DROP EXTENSION privacy_score"
check_match "nor while the extension is being dropped" "$(as alice q "SET lock_timeout = '1s'" "$(ask 'id <= 19')")" "ERROR: .*lock timeout"
hold "ROLLBACK"
exec 3>&-
check "and back again" "$(as alice q "$(ask 'id <= 19')")" 19

# --- no process -----------------------------------------------------------------------------------------------------------
conf "max_worker_processes = 0"
restart_server
check_match "without a process there is no answer, and the error says what to do" "$(as alice q_all "$(ask 'id <= 20')")" \
  "could not start the background process.*raise max_worker_processes"
check "with its SQLSTATE" "$(as alice q_state "$(ask 'id <= 20')")" 53400
check "nothing is charged" "$(as alice q "SELECT epsilon_spent, repeated FROM privacy_score.dp_cost('t', 'id <= 20', 50)")" "50|f"
sed -i '/^max_worker_processes/d' "$PGDATA/postgresql.conf"
conf "max_worker_processes = 1" "max_logical_replication_workers = 0" "max_parallel_workers_per_gather = 1" "min_parallel_table_scan_size = 0" "parallel_setup_cost = 0" "parallel_tuple_cost = 0"
restart_server
check "one that parallel queries want too is enough" "$(for i in 21 22 23 24 25 26; do as alice q "$(ask "id <= $i")" & done | sort -n | tr '\n' ' ')" "21 22 23 24 25 26 "
sed -i '/^max_worker_processes/d' "$PGDATA/postgresql.conf"
restart_server
check "a parallel count" "$(as alice q "$(ask 'id <= 27')")" 27

# --- long predicates, and what comes in between ------------------------------------------------------------------------------
{
  printf "SELECT privacy_score.dp_count('t', 'id IN (1"
  for ((i = 2; i < 140000; i++)); do printf ',%d' "$i"; done
  printf ")', 50);\n"
} >"$PS_TMP/long.sql"
check "a predicate of nearly 1 MB" "$(PGUSER=alice q_script <"$PS_TMP/long.sql")" 1000
check_match "one above it is refused" "$(as alice q "SELECT privacy_score.dp_count('t', repeat(' ', 1048571) || 'id = 1', 50)")" "ERROR: predicate is longer than 1048576 bytes"
check_match "so is one of 200,000 comparisons" "$(as alice q "SELECT privacy_score.dp_count('t', 'id=1' || repeat(' OR id<5', 100000), 50)")" "ERROR: predicate (has more than 1000 comparisons|cannot be read: .*)"
check "500 levels" "$(as alice q "SELECT privacy_score.dp_count('t', repeat('NOT (', 500) || 'id <= 28' || repeat(')', 500), 50)")" 28
check_match "100,000 levels" "$(as alice q "SELECT privacy_score.dp_count('t', repeat('(', 100000) || 'id = 1' || repeat(')', 100000), 50)")" "ERROR: predicate cannot be read: .*"
check "a thousand parts" "$(as alice q "SELECT privacy_score.dp_count('t', (SELECT string_agg('(id < ' || -i || ' AND city > ''x' || i || ''')', ' OR ') FROM generate_series(1, 499) i) || ' OR id <= 29', 50)")" 29
check "a session survives each kind of error" "$(as alice q_script <<'SQL' | grep -vE '^(psql|ERROR|DETAIL|HINT|LINE| *\^)'
\set ON_ERROR_STOP off
SELECT privacy_score.dp_count('t', 'lower(city) = ''x''', 50);
SELECT privacy_score.dp_count('t', 'a = (', 50);
SELECT privacy_score.dp_count('t', 'nothing = 1', 50);
SELECT privacy_score.dp_count('t', 'id = ''x''', 50);
SELECT privacy_score.dp_count('t', 'id = 1', 0);
SELECT privacy_score.dp_count('t', 'id = 1', 1e-300);
SELECT privacy_score.dp_count(0);
SELECT privacy_score.dp_count('t', 'id <= 30', 50);
SQL
)" 30

# --- a standby --------------------------------------------------------------------------------------------------------------
start_standby second
check "on a standby nothing is charged" "$(as alice q_state "$(ask 'id <= 31')")" 25006
check "also what was answered before" "$(as alice q_state "$(ask 'id <= 10')")" 25006
check_match "and the error says why" "$(as alice q_all "$(ask 'id <= 31')")" "cannot execute dp_count\(\) on a standby.*Run it on the primary"
check "nor granted" "$(q_state "SELECT privacy_score.dp_grant('alice', 't', 1)")$(q_state "SELECT privacy_score.dp_revoke('alice', 't')")" 2500625006
use_server main
here=$(as alice q "$spent")
sent=$(q "SELECT pg_current_wal_lsn()")
use_server second
wait_for "SELECT pg_last_wal_replay_lsn() >= '$sent'" t
check "what is spent can be seen" "$(as alice q "$spent")" "$here"
check "and what a question would cost" "$(as alice q "SELECT repeated FROM privacy_score.dp_cost('t', 'id <= 10', 50)")" t
q "SELECT pg_promote()" >/dev/null
check "promoted, it charges" "$(as alice q "$(ask 'id <= 31')")" 31
stop_server
use_server main

# --- synchronous replication ---------------------------------------------------------------------------------------------------
q "ALTER SYSTEM SET synchronous_standby_names = 'nosuch'" "SELECT pg_reload_conf()" >/dev/null
before=$(as alice q "$spent")
check "a standby that the administrator has commits wait for is waited for" "$(as alice q "SET statement_timeout = '2s'" "$(ask 'id <= 32')")" "ERROR: canceling statement due to statement timeout"
as alice "$PS_BINDIR/psql" -XAtqc "$(ask 'id <= 33')" >"$PS_TMP/waits" 2>&1 &
wait_for "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'" t
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privacy_score accountant'" >/dev/null
q "ALTER SYSTEM RESET synchronous_standby_names" "SELECT pg_reload_conf()" >/dev/null
wait $!
check_true "what did not reach it is charged" wait_for "SELECT spent >= $before + 50 FROM privacy_score.dp_budget WHERE role = 'alice'" t

# --- dump and restore -----------------------------------------------------------------------------------------------------------
q "CREATE TABLE gone (a int)" "SELECT privacy_score.dp_grant('alice', 'gone', 60)" "CREATE TABLE \"Odd Name\" (a int)" "SELECT privacy_score.dp_grant('alice', '\"Odd Name\"', 60)" "ALTER TABLE t RENAME TO renamed" >/dev/null
as alice q "SELECT privacy_score.dp_count('gone', epsilon => 50)" "SELECT privacy_score.dp_count('\"Odd Name\"', epsilon => 50)" >/dev/null
q "DROP TABLE gone" >/dev/null
as alice q "SELECT privacy_score.dp_count('renamed', 'id <= 34', 50)" >/dev/null
wait_for "$accountants" 0
as alice q "SELECT privacy_score.dp_count('renamed', 'id <= 34', 50)" >/dev/null
ledger="SELECT string_agg(l::text, E'\n' ORDER BY l.at, l.epsilon) FROM privacy_score.dp_releases l WHERE relation IS NOT NULL"
budgets="SELECT string_agg((b.role, b.relation, b.epsilon, b.spent, b.left)::text, E'\n' ORDER BY b::text) FROM privacy_score.dp_budget b"
ledger_here=$(q "$ledger")
budgets_here=$(q "$budgets")
rows_here=$(q "SELECT count(*) FROM privacy_score.release")
wait_for "$accountants" 0
"$PS_BINDIR/pg_dumpall" >"$PS_TMP/dump.sql"
"$PS_BINDIR/pg_dump" -Fc >"$PS_TMP/dump.custom"
use_server restored
start_plain
q "CREATE TABLE shift (a int)" "CREATE ROLE shift" "DROP TABLE shift" "DROP ROLE shift" >/dev/null # other OIDs
"$PS_BINDIR/psql" -Xq -f "$PS_TMP/dump.sql" >"$PS_TMP/restore.out" 2>&1
check "the dump restores" "$(grep ERROR "$PS_TMP/restore.out" | grep -v 'role "postgres" already exists')" ""
check "spent stays spent" "$(q "$budgets")" "$budgets_here"
check "the ledger is the same" "$(q "$ledger")" "$ledger_here"
check "all of it" "$(q "SELECT count(*) FROM privacy_score.release")" "$rows_here"
check "a question that was answered is repeated" "$(as alice q "SELECT noisy_count, epsilon_spent, repeated FROM privacy_score.dp_count_detail('renamed', 'id <= 10', 50)")" "10|0|t"
check "another is charged" "$(as alice q "SELECT noisy_count, repeated FROM privacy_score.dp_count_detail('renamed', 'id <= 35', 50)")" "35|f"
check "budgets do not follow a table that took the name of a dropped one" "$(q "CREATE TABLE gone (a int)"; as alice q_state "SELECT privacy_score.dp_count('gone', epsilon => 50)")" 42501
check "when it is granted one, what was spent under the name counts" "$(q "SELECT privacy_score.dp_grant('alice', 'gone', 60)" "SELECT spent FROM privacy_score.dp_budget WHERE relation = 'gone'::regclass" | tail -n 1)" 50
q "CREATE DATABASE early" >/dev/null
on early q "CREATE ROLE carol LOGIN" >/dev/null
"$PS_BINDIR/pg_restore" -d early "$PS_TMP/dump.custom" >"$PS_TMP/restore.out" 2>&1
check "beside the one it came from it restores too" "$(grep -c ERROR "$PS_TMP/restore.out")" 0
check "with a budget of its own" "$(on early as alice q "SELECT noisy_count, repeated FROM privacy_score.dp_count_detail('renamed', 'id <= 35', 50)")" "35|f"
use_server alone
start_plain
"$PS_BINDIR/pg_restore" -d postgres "$PS_TMP/dump.custom" >"$PS_TMP/restore.out" 2>&1
check "where the roles are missing, what was spent is kept" "$(q "SELECT count(*) > 0, sum(role_oid::int8) FROM privacy_score.budget WHERE role = 'alice'")" "t|0"
q "CREATE ROLE alice LOGIN" >/dev/null
check "a role of that name has no budget of its own accord" "$(as alice q_state "SELECT privacy_score.dp_count('renamed', epsilon => 50)")" 42501
q "SELECT privacy_score.dp_grant('alice', 'renamed', 20000)" >/dev/null
check "granted one, it goes on with what was spent" "$(as alice q "$spent")" "$(use_server main; q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'alice' AND relation = 'renamed'::regclass")"

# --- the end ------------------------------------------------------------------------------------------------------------------
use_server main
check "DROP EXTENSION takes it all away" "$(q "DROP EXTENSION privacy_score" "SELECT count(*) FROM pg_class WHERE relname IN ('budget', 'release', 'ledger_key')" | tail -n 1)" 0
check_true "and the accountant leaves" wait_for "$accountants" 0
check "no server has crashed" "$(cat "$PS_TMP"/noisy.*/log | grep -cE 'PANIC|terminated by signal')" 0
done_testing

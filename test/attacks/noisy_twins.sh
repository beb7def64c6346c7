#!/bin/bash
# noisy_twins.sh - twin databases under fixed noise: what a question changes in anything that the asker can see, besides
# the noisy value, must be the same in both. In one pair a row has other values of equal width, so that predicates match
# it in one and not in the other; in the second pair one has a row more.
#
# PS_TWINS (scripts/sandbox.sh): how many questions, 200 without it. Temporary files are
# compared by the server's log, which has the size of each: more than the asker sees. How much is written to the WAL is
# compared by transactions and by the widths of the ledger's rows: records leave out what a row has in common with the one
# before, so their lengths depend on the clock.
. "$(dirname "$0")/../attack.sh"
questions=$PS_TWINS
export PGAPPNAME=
compile_support fixed_random
export LD_PRELOAD=$module
start_hospital "shared_preload_libraries = 'privacy_score'" "autovacuum = off" "wal_level = minimal" "max_wal_senders = 0" "checkpoint_timeout = '1d'" "max_wal_size = '8GB'" \
  "bgwriter_lru_maxpages = 0" "log_temp_files = 0" "privacy_score.flush_interval = '1h'" "max_prepared_transactions = 0"
unset LD_PRELOAD
check "random bytes are the same in every process" "$(q "SELECT gen_random_uuid()")" "$(q "SELECT gen_random_uuid()")"
q "CREATE ROLE owner LOGIN" "GRANT USAGE, CREATE ON SCHEMA h TO owner" >/dev/null
as owner q "CREATE TABLE h.people (id int PRIMARY KEY, name text, city text, age int, cost numeric(8, 2), person text)" \
  "INSERT INTO h.people SELECT i, 'n' || lpad(i::text, 4, '0'), 'c' || i % 9, 20 + i % 50, i % 90 + 10, 'p' || lpad((i / 3)::text, 4, '0') FROM generate_series(1, 3000) i" \
  "CREATE INDEX ON h.people (name)" "CREATE TABLE h.units AS SELECT * FROM h.people" "CREATE TABLE h.notes (id int, name text, note text)" "ALTER TABLE h.notes ALTER note SET STORAGE EXTERNAL" \
  "INSERT INTO h.notes SELECT i, 'n' || lpad(i::text, 4, '0'), CASE WHEN i % 10 = 7 THEN repeat(md5(i::text), 100) ELSE 'short' END FROM generate_series(1, 1000) i" \
  "CREATE VIEW h.seen AS SELECT p.id, p.name, 1000 / (p.age - 15) AS ratio FROM h.people p" "CREATE VIEW h.failing AS SELECT p.id, p.name, 1000 / (p.id - 5) AS ratio FROM h.people p" \
  "SET privacy_score.dp_work_mem = '64kB'" "SET max_parallel_workers_per_gather = 0" \
  "SELECT privacy_score.dp_grant('mallory', r, 100000, unit => CASE WHEN r = 'h.units'::regclass THEN 'person' END, max_rows_per_unit => CASE WHEN r = 'h.units'::regclass THEN 2 ELSE 1 END) FROM unnest('{h.people,h.units,h.notes,h.seen,h.failing}'::regclass[]) r" >/dev/null
as mallory q "CREATE PROCEDURE h.settle(target bigint) LANGUAGE plpgsql AS \$\$ DECLARE since timestamptz := clock_timestamp(); BEGIN
  WHILE pg_snapshot_xmin(pg_current_snapshot())::text::bigint < target LOOP IF clock_timestamp() > since + interval '3 s' THEN RAISE 'not settled'; END IF; PERFORM pg_sleep(0.0005); END LOOP; END \$\$" \
  "CREATE VIEW h.shown AS SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS xids, pg_tablespace_size('pg_default') AS space, pg_database_size(current_database()) AS size,
     (SELECT sum(pg_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'privacy_score' AND relkind IN ('r', 'i', 't')) AS ledger,
     (SELECT sum(spent) FROM privacy_score.dp_budget) AS spent, (SELECT count(*) FROM privacy_score.dp_releases) AS releases,
     (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype <> 'virtualxid') AS locks" >/dev/null
q "VACUUM (FREEZE, ANALYZE)" "CHECKPOINT" >/dev/null
stop_server fast

# The questions, a line each: transactions of the accountant, and the statement. Each is new: it names its own number.
ask_all() {
  local i p matches=("name = 'bob__'" "name = 'bob__' AND age = 30" "age = 30 AND name LIKE 'b%'" "name IN ('bob__', 'n0001', 'n0002')" "id <= @ OR name = 'bob__'" "NOT (name <> 'bob__' OR age <> 30)" "city = 'aa' OR id <= @"
    "cost = 55.55" "name > 'bo' AND name < 'bp'" "person = 'p0001' AND name = 'bob__'" "id = 777 AND age < 31")
  for ((i = 1; i <= questions; i++)); do
    p=${matches[i * 7 % 11]//@/$((i * 37 % 3000))}
    p="\$p\$($p) AND id <> -$i\$p\$"
    case $((i % 16)) in
      0) echo "2 SELECT count(*) FROM privacy_score.dp_count_detail('h.people', $p, 0.01)" ;;
      1) echo "2 SELECT privacy_score.dp_count('h.people', $p, 0.01) IS NULL" ;;
      2) echo "2 SELECT privacy_score.dp_count('h.units', $p, 0.01) IS NULL" ;;
      3) echo "2 SELECT privacy_score.dp_sum('h.units', 'cost', 0, $((i % 100 + 1)), 0.01, $p) IS NULL" ;;
      4) echo "2 SELECT privacy_score.dp_avg('h.people', 'cost', 0, $((i % 100 + 1)), 0.01, $p) IS NULL" ;;
      5) echo "2 SELECT count(*) FROM privacy_score.dp_histogram('h.people', 'city', 0.01, '{aa,bb,c1,x$i}', NULL, $p)" ;;
      6) echo "2 SELECT count(*) FROM privacy_score.dp_histogram('h.units', 'city', 0.01, '{aa,bb,c1,x$i}', NULL, $p)" ;;
      7) echo "2 SELECT count(*) FROM privacy_score.dp_histogram('h.units', 'name', 0.01, NULL, 0.000001, $p)" ;;
      8) echo "2 SELECT count(*) FROM privacy_score.dp_histogram('h.people', 'name', 0.01, NULL, 0.000001, $p)" ;;
      9) echo "2 SELECT privacy_score.dp_count_distinct('h.people', 'name', 0.01, $p) IS NULL" ;;
      10) echo "2 SELECT privacy_score.dp_count_distinct('h.units', 'city', 0.01, $p) IS NULL" ;;
      11) echo "2 SELECT privacy_score.dp_count('h.seen', \$p\$name = 'bob__' AND ratio > 1 AND id <> -$i\$p\$, 0.01) IS NULL" ;;
      12) echo "2 SELECT privacy_score.dp_count('h.notes', \$p\$name = 'bob__' AND note LIKE '%secret%' AND id <> -$i\$p\$, 0.01) IS NULL" ;;
      13) echo "1 SELECT privacy_score.dp_count('h.failing', \$p\$name = 'bob__' AND ratio > 1 AND id <> -$i\$p\$, 0.01) IS NULL" ;;
      14) echo "2 EXPLAIN (ANALYZE, VERBOSE, WAL, TIMING off, SUMMARY off, COSTS off) SELECT privacy_score.dp_count('h.units', $p, 0.01)" ;;
      15) echo "0 SELECT privacy_score.dp_count('h.people', $p, 0.0001)" ;;
    esac
  done
}
ask_all >"$PS_TMP/questions"

# ask NAME SERVER: asks all of a server; what each question changes goes to NAME.shown, a line each.
show="SELECT xids, space, size, ledger, spent, releases, locks FROM h.shown \\gset"
ask() {
  local number=0 transactions statement
  {
    echo "SET search_path = pg_catalog;"
    for _ in 1 2 3; do echo "SELECT privacy_score.dp_count('h.people', 'id = -$_', 0.01) IS NULL; $show before_"; done
    echo "SELECT pg_sleep(0.2);"
    while read -r transactions statement; do
      number=$((number + 1))
      printf '%s before_\n' "$show"
      echo "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint + $transactions AS target \\gset"
      echo "$statement;"
      echo "\\echo $number :SQLSTATE"
      echo "CALL h.settle(:target);"
      printf '%s after_\n' "$show"
      echo "SELECT $number, :after_xids - :before_xids AS xids, :after_space - :before_space AS space, :after_size - :before_size AS size, :after_ledger - :before_ledger AS ledger, :after_spent - :before_spent AS spent, :after_releases - :before_releases AS releases, :after_locks - :before_locks AS locks;"
    done <"$PS_TMP/questions"
  } | as mallory "$PS_BINDIR/psql" -XAtq -f - 2>&1 | sed -E 's/psql:<stdin>:[0-9]+: //' >"$PS_TMP/$1.shown"
  # Statistics are told when processes have been idle for a second, or end.
  wait_for "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'privacy_score accountant' OR usename = 'mallory'" 0
  as mallory q "SELECT relname, n_tup_ins, n_tup_upd, n_tup_del, CASE schemaname WHEN 'h' THEN seq_scan END, CASE schemaname WHEN 'h' THEN seq_tup_read END FROM pg_stat_all_tables WHERE schemaname IN ('h', 'privacy_score') ORDER BY 1" \
    "SELECT indexrelname, idx_tup_read > 0 FROM pg_stat_all_indexes WHERE schemaname = 'h' ORDER BY 1" \
    "SELECT relname, heap_blks_read + heap_blks_hit, toast_blks_read + toast_blks_hit, tidx_blks_hit + tidx_blks_read FROM pg_statio_all_tables WHERE schemaname = 'h' ORDER BY 1" \
    "SELECT 'database', temp_files, temp_bytes, deadlocks, conflicts, tup_updated, tup_deleted, xact_rollback FROM pg_stat_database WHERE datname = current_database()" >"$PS_TMP/$1.statistics"
  q "SELECT pg_column_size(r.*), length(r.answer), pg_column_size(r.question) FROM privacy_score.release r ORDER BY id" >"$PS_TMP/$1.ledger"
  grep -oE 'temporary file: path .*, size [0-9]+' "$ps_log" | sed -E 's/.*size //' >"$PS_TMP/$1.files"
}
# twin NAME STATEMENT...: asks a copy of the server in which the statements were run.
template=$PGDATA
twin() {
  local name=$1
  shift
  use_server "$name"
  mkdir -p "$ps_home"
  cp -a "$template" "$PGDATA"
  sed -i '/^privacy_score\./d; /^shared_preload_libraries/d' "$PGDATA/postgresql.conf"
  conf "unix_socket_directories = '$ps_home'"
  LD_PRELOAD=$module resume_server
  q "$@" "VACUUM (FREEZE)" "CHECKPOINT" >/dev/null
  ask "$name"
  stop_server fast
}
values() { # NAME CITY AGE COST PERSON NOTE
  for table in people units; do echo "UPDATE h.$table SET name = '$1', city = '$2', age = $3, cost = $4, person = '$5' WHERE id = 777"; done
  echo "UPDATE h.notes SET name = '$1', note = repeat('$6', 100) WHERE id = 777"
}
mapfile -t matches < <(values bob__ aa 30 55.55 p0001 "$(printf 'a secret %.0s' {1..4})")
mapfile -t other < <(values tom__ bb 31 66.66 p0002 "$(printf 'a rabbit %.0s' {1..4})")
for name in left right more; do ps_servers+=("$PS_TMP/$ps_test.$name/data"); done
twin left "${matches[@]}" &
twin right "${other[@]}" &
twin more "${other[@]}" "INSERT INTO h.people VALUES (0, 'bob__', 'aa', 30, 55.55, 'p0001')" "INSERT INTO h.units VALUES (0, 'bob__', 'aa', 30, 55.55, 'p0001')" "INSERT INTO h.notes VALUES (0, 'bob__', 'short')" &
wait

check "$questions questions of sixteen shapes are asked" "$(grep -cE '^[0-9]+ [0-9A-Z]{5}$' "$PS_TMP/left.shown")" "$questions"
check "that are answered, fail after the charge, and are refused" "$(grep -oE '^[0-9]+ [0-9A-Z]{5}$' "$PS_TMP/left.shown" | cut -d' ' -f2 | sort -u | tr '\n' ' ')" "00000 22023 PS004 "
check_true "they sort in temporary files" test "$(wc -l <"$PS_TMP/left.files")" -gt "$((questions / 4))"
differences() { diff "$PS_TMP/$1" "$PS_TMP/$2" | head -n 6; }
check "other values: errors, transactions, sizes, ledger, locks, plans change alike" "$(differences left.shown right.shown)" ""
check "so do statistics" "$(differences left.statistics right.statistics)" ""
check "and the widths of what is written to the ledger" "$(differences left.ledger right.ledger)$(differences right.ledger more.ledger)" ""
check "and temporary files" "$(differences left.files right.files)" ""
check "a row more: errors, transactions, sizes, ledger, locks, plans change alike" "$(differences right.shown more.shown)" ""
check "statistics differ by the row alone, where they count those of its tables" "$(diff "$PS_TMP/right.statistics" "$PS_TMP/more.statistics" | grep '^[<>]' | grep -vE '^. (people|units|notes)')" ""
# A row of at most 64 bytes in a sort is one block more of a file at the most, of each file of the sort.
check "temporary files differ by what one row takes" "$(paste "$PS_TMP/right.files" "$PS_TMP/more.files" | awk '{ d = $2 - $1; if (d < -8192 || d > 16384) ++bad } END { print (NR > 0), bad + 0 }')" "1 0"
check "no server has crashed" "$(cat "$PS_TMP"/noisy_twins.*/log | grep -cE 'PANIC|TRAP|terminated by signal')" 0
done_testing

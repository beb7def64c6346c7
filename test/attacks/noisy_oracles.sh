#!/bin/bash
# noisy_oracles.sh - every attempt to learn of rows by anything but the noisy answer: errors, plans, buffers, statistics,
# messages, locks. Two tables are equal but for one row; mallory must see the same of both.
. "$(dirname "$0")/../attack.sh"
start_hospital "shared_preload_libraries = 'pg_stat_statements, privacy_score'" "pg_stat_statements.track = all" "track_io_timing = on" \
  "track_functions = all" "logging_collector = off" "autovacuum = off"
export PGAPPNAME=
q "CREATE EXTENSION pg_stat_statements" "CREATE ROLE owner LOGIN" "GRANT USAGE, CREATE ON SCHEMA h TO owner" >/dev/null
for table in with without; do
  as owner q "CREATE TABLE h.people_$table (id int PRIMARY KEY, name text, age int, note text, num numeric, arr int[])" \
    "ALTER TABLE h.people_$table ALTER note SET STORAGE EXTERNAL" \
    "INSERT INTO h.people_$table SELECT i, 'n' || i, 20 + i % 50, repeat(md5(i::text), 120), i, ARRAY[i] FROM generate_series(1, 3000) i" \
    "INSERT INTO h.people_$table VALUES (0, CASE '$table' WHEN 'with' THEN 'bob' ELSE 'tom' END, 30, repeat('secret', 500), 0, '{}')" \
    "CREATE INDEX ON h.people_$table (name)" "CREATE INDEX ON h.people_$table (age)" "ANALYZE h.people_$table" \
    "SELECT privacy_score.dp_grant('mallory', 'h.people_$table', 1000000)" >/dev/null
done
q "SELECT privacy_score.protect('h.people_with')" "SELECT privacy_score.protect('h.people_without')" "VACUUM FREEZE h.people_with, h.people_without" >/dev/null
spent() { q "SELECT sum(spent) FROM privacy_score.dp_budget WHERE role = 'mallory'"; }
bob="name = ''bob''"

# --- errors ---------------------------------------------------------------------------------------------------------------
# same "description" PREDICATE: refused alike for both tables, before anything is spent.
same() {
  local with without
  with=$(as mallory q_all "SELECT privacy_score.dp_count('people_with', \$p\$$2\$p\$, 0.1)" | sed 's/people_with/people/g')
  without=$(as mallory q_all "SELECT privacy_score.dp_count('people_without', \$p\$$2\$p\$, 0.1)" | sed 's/people_without/people/g')
  check "no oracle: $1" "$with" "$without"
  check_match "an error: $1" "$with" "^(psql.*)?ERROR:"
}
before=$(spent)
same "division" "name = 'bob' AND 1 / id = 1"
same "division by a column" "name = 'bob' AND num / num = 1"
same "a cast of a column" "name::int = 1"
same "a cast with CAST" "CAST(name AS int) = 1 AND name = 'bob'"
same "overflow" "name = 'bob' AND age * 1000000000 > 1"
same "overflow of a constant" "name = 'bob' AND age = 99999999999999999999"
same "an invalid constant" "name = 'bob' AND age = 'x'"
same "an invalid regular expression" "name ~ '(' AND name = 'bob'"
same "a regular expression" "name ~ 'bob'"
same "SIMILAR TO" "name SIMILAR TO '('"
same "array bounds" "arr[999999999999] = 1 AND name = 'bob'"
same "a slice" "arr[1:2] = '{1}'"
same "a function" "pg_sleep(1) IS NOT NULL AND name = 'bob'"
same "a function that is safe" "lower(name) = 'bob'"
same "an operator of pg_catalog" "name || 'x' = 'bobx'"
same "a subquery" "EXISTS (SELECT FROM people_with WHERE name = 'bob')"
same "a subquery with a division" "id = (SELECT 1 / (age - 30) FROM people_with WHERE name = 'bob')"
same "LIKE with a bad escape" "name LIKE 'bob\\'"
same "LIKE with a bad escape at the end of a match" "name LIKE '%b%\\'"
same "LIKE with an empty rest" "name LIKE 'bo_\\'"
same "ESCAPE of two characters" "name LIKE 'bob' ESCAPE 'xy'"
same "LIKE with a column" "name LIKE note"
same "a whole row" "h IS NULL"
same "a star" "people_with.* = ROW(1)"
same "system columns" "ctid = '(0,1)'"
same "tableoid" "tableoid = 1"
same "a collation" "name COLLATE \"de-x-icu\" = 'bob'"
same "CASE" "CASE WHEN name = 'bob' THEN 1 / 0 ELSE 1 END = 1"
same "COALESCE" "COALESCE(name, 'x') = 'bob'"
same "XML" "xmlparse(content name) IS NULL"
same "a parameter" "age = \$1"
same "a second statement" "id = 1; SELECT 1/0"
same "UNION" "id = 1 UNION SELECT 1/0"
same "a closed bracket" "id = 1) OR (1/0 = 1"
same "current_user" "name = current_user"
same "a cast to a type of one's own" "age = '1'::pg_temp.evil"
same "money" "num = '1'::money"
# What mallory may create: operators, casts, domains, search_path, temporary objects of the same names.
as mallory q "CREATE SCHEMA evil" "CREATE FUNCTION evil.eq(int, int) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN RAISE NOTICE 'saw % as %', \$1, current_user; RETURN true; END \$\$" \
  "CREATE FUNCTION evil.eq(text, text) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN RAISE NOTICE 'saw % as %', \$1, current_user; RETURN true; END \$\$" \
  "CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.eq)" "CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.eq)" \
  "CREATE OPERATOR evil.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.eq)" "CREATE OPERATOR evil.~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.eq)" \
  "CREATE FUNCTION evil.count() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'" "CREATE FUNCTION evil.sum(numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 1::numeric'" \
  "CREATE DOMAIN evil.int4 AS pg_catalog.int4 CHECK (evil.eq(VALUE, 1))" "CREATE DOMAIN evil.text AS pg_catalog.text CHECK (evil.eq(VALUE, 'x'))" >/dev/null
same "an operator of one's own" "name OPERATOR(evil.=) 'bob'"
check "operators, types and functions in the search_path are not looked at" \
  "$(as mallory q_all "SET search_path = evil, pg_temp, h, pg_catalog" "SELECT privacy_score.dp_count('people_with', 'name = ''bob'' AND age = 30 AND name <> ''x'' AND name LIKE ''b%''', 50)")" 1
check "nor temporary tables of the name" "$(as mallory q_all "CREATE TEMP TABLE people_with (name text)" "SELECT privacy_score.dp_count('h.people_with', 'name = ''bob'' OR name = ''nobody''', 50)")" 1
as owner q "CREATE FUNCTION h.tells(int) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN RAISE NOTICE 'checks %', \$1; RETURN \$1 < 100; END \$\$" "CREATE DOMAIN h.checked AS int CHECK (h.tells(VALUE))" \
  "CREATE TABLE h.domains (v h.checked)" "INSERT INTO h.domains VALUES (1), (2)" "SELECT privacy_score.dp_grant('mallory', 'h.domains', 1000)" >/dev/null 2>&1
check "the CHECK of a domain is not run" "$(as mallory q_all "SELECT privacy_score.dp_count('h.domains', 'v = 1 OR v = 5000', 50)")" 1
check "of all this only answers were paid for" "$(q "SELECT trim_scale($(spent) - $before)")" 150

# --- what EXPLAIN shows -----------------------------------------------------------------------------------------------------
# The table has 3,000 rows on more than 30 blocks, and 3,000 notes of two blocks outside; the ledger takes a few blocks.
explained() { as mallory q_all "SELECT privacy_score.dp_count('people_$1', 'id = -1', 0.1)" "EXPLAIN (ANALYZE, BUFFERS, VERBOSE, WAL, TIMING off, SUMMARY off, COSTS off) SELECT privacy_score.dp_count('people_$1', '$2', 0.1)"; }
hits() { sed -nE 's/.*shared hit=([0-9]+).*/\1/p' <<<"$1" | sort -n | tail -n 1; }
plan=$(explained with "note LIKE ''%secret%'' AND id > -2")
check_match "EXPLAIN ANALYZE shows no plan of the count" "$(tail -n +2 <<<"$plan" | head -n 2)" "^Result \(actual rows=1(\.00)? loops=1\).*Output: privacy_score.dp_count"
check_true "nor the blocks that it reads, here more than 3,000" test "$(hits "$plan")" -lt 500
check "nor WAL" "$(grep -c WAL <<<"$plan")" 0
for predicate in "$bob" "$bob AND note LIKE ''%secret%''" "name <> ''bob'' OR note LIKE ''%x%''" "age = 30 AND $bob" "note = repeat"; do
  with=$(explained with "$predicate" | grep -c .)
  without=$(explained without "$predicate" | grep -c .)
  check "EXPLAIN ANALYZE is of the same form: ${predicate//\'\'/\'}" "$with" "$without"
done
check "EXPLAIN without ANALYZE spends nothing and shows nothing" "$(as mallory q "EXPLAIN (VERBOSE, COSTS off) SELECT privacy_score.dp_count('people_with', '$bob', 50)" | grep -v 'Query Identifier')" "Result
  Output: privacy_score.dp_count('people_with'::regclass, 'name = ''bob'''::text, '50'::numeric, false)"
check "messages of the planner and executor do not reach the client" \
  "$(as mallory q_all "SET client_min_messages = log" "SET debug_print_plan = on" "SET debug_print_parse = on" "SET debug_print_rewritten = on" "SET trace_sort = on" \
    "SELECT privacy_score.dp_count('people_with', 'name = ''bob'' AND id > -3', 50)" | grep -cE ":relid $(q "SELECT 'h.people_with'::regclass::oid") ")" 0

# --- statistics ---------------------------------------------------------------------------------------------------------------
figures="SELECT string_agg(x::text, E'\n' ORDER BY x::text) FROM (
  SELECT s.relname, s.seq_scan, s.seq_tup_read, s.idx_scan, s.idx_tup_fetch, b.heap_blks_read, b.heap_blks_hit, b.idx_blks_hit, b.toast_blks_hit, b.tidx_blks_hit
    FROM pg_stat_all_tables s JOIN pg_statio_all_tables b USING (relid) WHERE s.relname LIKE 'people%' OR relid IN (SELECT reltoastrelid FROM pg_class WHERE relname LIKE 'people%')
  UNION ALL SELECT indexrelname, idx_scan, idx_tup_read, idx_tup_fetch, 0, 0, 0, 0, 0, 0 FROM pg_stat_all_indexes WHERE relname LIKE 'people%') x"
q "SELECT pg_stat_force_next_flush()" >/dev/null
sleep 1
before=$(as mallory q "$figures")
as mallory q "SELECT privacy_score.dp_count('people_with', '$bob AND id > -4', 50)" "SELECT privacy_score.dp_count('people_with', 'age = 30 AND note LIKE ''%secret%''', 50)" \
  "SELECT pg_stat_force_next_flush()" "SELECT 1" >/dev/null
sleep 1
check "the statistics of tables, which everybody may read, do not move" "$(as mallory q "$figures")" "$before"
check "nor those of the transaction" "$(as mallory q "BEGIN" "SELECT privacy_score.dp_count('people_with', '$bob AND id > -5', 50)" \
  "SELECT seq_scan, seq_tup_read, idx_scan FROM pg_stat_xact_all_tables WHERE relname = 'people_with'" "COMMIT" | tail -n 1)" "0|0|0"
check "they count again afterwards" "$(q "BEGIN" "SELECT privacy_score.dp_grant('postgres', 'h.people_with', 1)" "SELECT count(*) FROM h.people_with" "SELECT seq_tup_read FROM pg_stat_xact_all_tables WHERE relname = 'people_with'" | tail -n 1)" 3001
check "temporary files of a count by units are not told" "$(
  as owner q "SELECT privacy_score.dp_grant('mallory', 'h.people_with', 1000000, unit => 'note', max_rows_per_unit => 2)" >/dev/null
  files="SELECT temp_files, temp_bytes FROM pg_stat_database WHERE datname = 'postgres'"
  before=$(q "$files")
  as mallory q "SET work_mem = '64kB'" "SET enable_hashagg = off" "SELECT privacy_score.dp_count('people_with', 'id > -6', 50)" "SELECT pg_stat_force_next_flush()" >/dev/null
  sleep 1
  after=$(q "$files")
  [ "$before" = "$after" ] && echo unchanged)" unchanged
as owner q "SELECT privacy_score.dp_grant('mallory', 'h.people_with', 1000000)" >/dev/null

# --- pg_stat_statements ----------------------------------------------------------------------------------------------------------
q "SELECT pg_stat_statements_reset()" >/dev/null
as mallory q "SELECT privacy_score.dp_count('people_with', 'name = ''bob'' AND id > -7', 50)" "SELECT privacy_score.dp_count('people_with', 'note = ''nobody at all'' OR note LIKE ''%x%''', 50)" >/dev/null
check "the query that counts is not in pg_stat_statements" "$(q "SELECT count(*) FROM pg_stat_statements WHERE query ILIKE '%people_with%'")" 0
check "constants are in no text there" "$(q "SELECT count(*) FROM pg_stat_statements WHERE query ~ 'bob|nobody at all'")" 0
# A session that begins reads some thousand blocks of catalogs; the notes are more than 3,000 of two blocks.
check_true "and the blocks are not those of the table" test "$(as mallory q "SELECT max(shared_blks_hit + shared_blks_read) FROM pg_stat_statements WHERE query LIKE '%dp_count%'")" -lt 3000
check "rows are those of the answer" "$(as mallory q "SELECT calls, rows FROM pg_stat_statements WHERE query LIKE '%dp_count(%' AND userid = 'mallory'::regrole")" "2|2"

# --- locks -------------------------------------------------------------------------------------------------------------------------
check "a serializable transaction locks the table, not rows" "$(as mallory q "BEGIN ISOLATION LEVEL SERIALIZABLE" "SELECT privacy_score.dp_count('people_with', '$bob AND id > -8', 50)" \
  "SELECT DISTINCT locktype FROM pg_locks WHERE mode = 'SIReadLock' AND relation::regclass::text LIKE '%people%'" "COMMIT" | tail -n 1)" relation
mkfifo "$PS_TMP/holder"
as owner "$PS_BINDIR/psql" -XAtq <"$PS_TMP/holder" >/dev/null 2>&1 &
exec 3>"$PS_TMP/holder"
echo "BEGIN; LOCK TABLE h.people_with;" >&3
wait_for "SELECT count(*) FROM pg_locks WHERE relation = 'h.people_with'::regclass AND mode = 'AccessExclusiveLock'" 1
check "who has no budget does not even wait for the table's lock" "$(as alice q_state "SET statement_timeout = '5s'" "SELECT privacy_score.dp_count('h.people_with')")" 42501
exec 3>&-
wait

# --- the ledger -----------------------------------------------------------------------------------------------------------------------
check "the ledger has no constants" "$(q "SELECT count(*) FROM privacy_score.release r WHERE r::text ~ 'bob|secret|nobody'")" 0
check "nor has the write-ahead log" "$(q "SELECT pg_switch_wal()" >/dev/null; as mallory q "SELECT privacy_score.dp_count('people_with', 'name = ''a very particular constant''', 50)" >/dev/null; grep -lac 'a very particular constant' "$PGDATA"/pg_wal/* | wc -l)" 0
check "the same question to another table has another hash, and to another server too" "$(q "SELECT count(*) FROM (SELECT question FROM privacy_score.release WHERE repeat_of IS NULL GROUP BY question HAVING count(DISTINCT budget_id) > 1 AND bool_or(shape IS NULL)) x")" 0

# --- history ----------------------------------------------------------------------------------------------------------------------------
path "a noisy count is not a read of the table" "cmd:select" "SELECT privacy_score.dp_count('people_with', '$bob AND id > -9', 50)"
path "of a view neither" "cmd:select" "SELECT privacy_score.dp_count('people_without', '$bob AND id > -9', 50)"
verify_paths
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" "GRANT SELECT ON h.people_with TO mallory" >/dev/null
check "a role labelled dp only asks" "$(as mallory q "SELECT privacy_score.dp_count('people_with', '$bob', 50)")" 1
as owner q "SET min_parallel_table_scan_size = 0" "SELECT privacy_score.dp_grant('mallory', 'h.people_with', 1000000)" >/dev/null
check "also in parallel" "$(as mallory q "SELECT privacy_score.dp_count('people_with', '$bob AND id > -10', 50)")" 1
check "but reads nothing else" "$(as mallory q_state "SELECT count(*) FROM people_with")" PS001
check "not even together with a question" "$(as mallory q_state "SELECT privacy_score.dp_count('people_with', '$bob', 50), count(*) FROM people_with")" PS001
check "nor after one that failed" "$(as mallory q_state "DO \$\$ BEGIN BEGIN PERFORM privacy_score.dp_count('people_with', '1/0 = 1'); EXCEPTION WHEN OTHERS THEN NULL; END; PERFORM count(*) FROM people_with; END \$\$")" PS001
check_scored scoring_errors
done_testing

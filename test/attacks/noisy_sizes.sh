#!/bin/bash
# noisy_sizes.sh - every attempt to learn of rows by how much work an answer is: temporary files, their limit, memory,
# blocks, partitions, workers, and by settings that shape the plan. The work is what auto_explain writes to the server's
# log, block by block: more than anybody can see of tablespaces.
. "$(dirname "$0")/../attack.sh"
start_hospital "log_temp_files = 0" "track_io_timing = on"
export PGAPPNAME=
q "CREATE ROLE owner LOGIN" "GRANT USAGE, CREATE ON SCHEMA h TO owner" "GRANT SET ON PARAMETER temp_file_limit TO owner" >/dev/null
as owner q "CREATE TABLE h.big (id int, name text, city text, cost numeric, note text)" "ALTER TABLE h.big ALTER note SET STORAGE EXTERNAL" \
  "INSERT INTO h.big SELECT i, 'name' || i, 'c' || i % 10, i % 1000, CASE WHEN i % 100 = 0 THEN repeat(md5(i::text), 100) ELSE 'short' END FROM generate_series(1, 20000) i" \
  "CREATE INDEX ON h.big (name)" "CREATE INDEX ON h.big (id)" "ANALYZE h.big" \
  "CREATE TABLE h.parts (id int, name text, v int) PARTITION BY RANGE (id)" \
  "CREATE TABLE h.parts_1 PARTITION OF h.parts FOR VALUES FROM (0) TO (1000)" "CREATE TABLE h.parts_2 PARTITION OF h.parts FOR VALUES FROM (1000) TO (2000)" \
  "INSERT INTO h.parts SELECT i, 'name' || i, i % 9 FROM generate_series(0, 1999) i" \
  "CREATE VIEW h.seen AS SELECT b.id, b.name, b.city, 100 / (b.id - 15000) AS ratio FROM h.big b" "ANALYZE" >/dev/null 2>&1
q "ALTER ROLE mallory SET session_preload_libraries = 'auto_explain'" "ALTER ROLE mallory SET auto_explain.log_min_duration = 0" "ALTER ROLE mallory SET auto_explain.log_nested_statements = on" \
  "ALTER ROLE mallory SET auto_explain.log_analyze = on" "ALTER ROLE mallory SET auto_explain.log_buffers = on" "ALTER ROLE mallory SET auto_explain.log_timing = off" >/dev/null
# grant [DETAILS [SETTING...]]: gives mallory budgets anew.
grant() {
  local details=${1:-} relation
  shift
  for relation in big parts seen; do
    as owner q "SET privacy_score.dp_work_mem = '64kB'" "SET max_parallel_workers_per_gather = 0" "$@" "SELECT privacy_score.dp_grant('mallory', 'h.$relation', 1e9$details)" >/dev/null
  done
}
spent() { q "SELECT sum(spent) FROM privacy_score.dp_budget WHERE role = 'mallory'"; }

# work QUESTION [SETTING...]: the blocks of shared buffers and of temporary files that the plan of the question touches,
# and what it reads.
work() {
  local question=$1 before
  shift
  before=$(wc -l <"$ps_log")
  as mallory q "$@" "SELECT count(*) FROM (SELECT privacy_score.$question) x" >/dev/null 2>&1
  tail -n +"$((before + 1))" "$ps_log" | awk '
    /Query Text: (SELECT|WITH) .*(h\.big|h\.parts|h\.seen)/ && !/privacy_score.dp_/ { inside = 1; shared = temp = ""; scans = 0; next }
    inside && /Buffers:/ && shared == "" {
      n = 0; for (i = 1; i <= NF; ++i) { if ($i ~ /^(hit|read)=/ && where != "temp") { split($i, p, "="); n += p[2] } if ($i == "shared") where = "shared"; if ($i == "temp") where = "temp"; if (where == "temp" && $i ~ /=/) temp = temp " " $i }
      shared = n; where = ""
    }
    inside && /(Seq|Index|Index Only|Bitmap Heap) Scan/ { ++scans; if (/Index|Bitmap/) index_scan = 1 }
    inside && /^[0-9-]+ [0-9:.]+ / { inside = 0 }
    END { print "shared " shared, "temp" temp, "scans " scans, index_scan ? "by index" : "" }'
}
# same "description" QUESTION...: all are the same work.
same() {
  local description=$1 first other
  shift
  first=$(work "$1")
  check_match "work is seen: $description" "$first" "^shared [1-9][0-9]* temp.* scans [1-9]"
  shift
  for other in "$@"; do check "as much work: $description: ${other:0:110}" "$(work "$other")" "$first"; done
}
n=0
# Predicates of which none has been asked, that few, one more and all rows satisfy, and that rest on settings of statistics.
predicates() { # FORMAT: %s stands for the predicate
  local predicate
  for predicate in "id = -1" "id <= 9000" "id <= 9000 OR name = ''name15000''" "id <= 9000 OR name = ''nobody''" "id > -1" "name = ''name7''" "city IN (''c1'', ''c2'') AND cost < 3"; do
    n=$((n + 1))
    printf "${1//%s/$predicate AND id <> -1$n}\n"
  done
}
grant ", unit => 'name', max_rows_per_unit => 2"
before=$(spent)
mapfile -t questions < <(predicates "dp_count('big', '%s', 0.01)")
same "a count by units" "${questions[@]}"
check_match "and goes to disk" "$(work "dp_count('big', 'id > -10', 0.01)")" "temp read=[1-9][0-9]* written=[1-9]"
mapfile -t questions < <(predicates "dp_sum('big', 'cost', 0, 100, 0.01, '%s')")
same "a sum by units" "${questions[@]}" "dp_sum('big', 'cost', 0, 1, 0.01)" "dp_sum('big', 'cost', 99999, 100000, 0.01)" "dp_avg('big', 'cost', -5, 1000000, 0.01)"
mapfile -t questions < <(predicates "dp_histogram('big', 'city', 0.01, '{c1,c5,c77}', NULL, '%s')")
same "a histogram by units" "${questions[@]}"
same "its keys" "dp_histogram('big', 'city', 0.01, '{c1,c2,c3}')" "dp_histogram('big', 'city', 0.01, '{x1,x2,x3}')" "dp_histogram('big', 'city', 0.01, '{x1,x2,c3}')"
mapfile -t questions < <(predicates "dp_histogram('big', 'name', 0.01, NULL, 0.0000001, '%s')")
same "a histogram of unknown keys by units" "${questions[@]}"
mapfile -t questions < <(predicates "dp_count_distinct('big', 'city', 0.01, '%s')")
same "distinct values by units" "${questions[@]}"
for setting in "SET work_mem = '100MB'" "SET work_mem = '64kB'" "SET enable_hashagg = off" "SET enable_sort = off" "SET hash_mem_multiplier = 100" "SET enable_seqscan = off" "SET random_page_cost = 0" \
  "SET max_parallel_workers_per_gather = 8" "SET $forced_parallel = on" "SET enable_partition_pruning = on" "SET jit_above_cost = 0" "SET plan_cache_mode = force_generic_plan" "SET cpu_tuple_cost = 1000" "SET temp_tablespaces = ''" "SET privacy_score.dp_work_mem = '1GB'"; do
  n=$((n + 1))
  check "a setting of who asks changes nothing: $setting" "$(work "dp_count('big', 'id <> -2$n', 0.01)" "$setting" "SET min_parallel_table_scan_size = 0")" "$(work "dp_count('big', 'id <> -3$n', 0.01)")"
done
check "all of these were paid for" "$(q "SELECT $(spent) - $before = (SELECT sum(epsilon) FROM privacy_score.dp_releases WHERE role = 'mallory' AND NOT repeated)")" t

grant
mapfile -t questions < <(predicates "dp_count('big', '%s', 0.01)")
same "a count of rows" "${questions[@]}"
same "values out of line, behind AND" "dp_count('big', 'id = 100 AND note LIKE ''%x%''', 0.01)" "dp_count('big', 'id = -1 AND note LIKE ''%y%''', 0.01)" "dp_count('big', 'id > -1 AND note LIKE ''%z%''', 0.01)"
same "comparing values out of line, by their length" "dp_count('big', 'id > -2 AND note = ''x''', 0.01)" "dp_count('big', 'id > -2 AND note = ''shore''', 0.01)" "dp_count('big', 'id > -2 AND note = ''$(printf 'y%.0s' {1..3200})''', 0.01)"
same "sums" "dp_sum('big', 'cost', 0, 9, 0.01, 'id = 7')" "dp_sum('big', 'cost', 0, 9, 0.01, 'id <= 20000')"
mapfile -t questions < <(predicates "dp_histogram('big', 'city', 0.01, '{c1,c5,c77}', NULL, '%s')")
same "a histogram" "${questions[@]}"
mapfile -t questions < <(predicates "dp_histogram('big', 'name', 0.01, NULL, 0.0000001, '%s')")
same "a histogram of unknown keys" "${questions[@]}"
mapfile -t questions < <(predicates "dp_count_distinct('big', 'name', 0.01, '%s')")
same "distinct values" "${questions[@]}"
same "partitions are not ruled out" "dp_count('parts', 'id < 1000', 0.01)" "dp_count('parts', 'id < 0', 0.01)" "dp_count('parts', 'id >= 0', 0.01)" "dp_count('parts', 'id = 5 AND v = 5', 0.01)"
check_match "all are read" "$(work "dp_count('parts', 'id < 1', 0.01)")" "scans 2 $"
check "a view that fails on a row fails for every question about its column, and each is charged" \
  "$(before=$(spent); for p in "id = 1 AND ratio > 0" "id = 15000 AND ratio > 0" "id = -1 AND ratio = 5"; do as mallory q_state "SELECT privacy_score.dp_count('seen', '$p', 0.01)"; done | uniq; q "SELECT trim_scale($(spent) - $before)")" "PS004
0.03"
same "a view" "dp_count('seen', 'id = 1', 0.01)" "dp_count('seen', 'id = 15000 AND name = ''name15000''', 0.01)" "dp_count('seen', 'id > -5', 0.01)"

# --- the limit of temporary files: of who asks it is not looked at; of who grants it is the same for every question -----------
grant ", unit => 'name'"
q "ALTER ROLE mallory SET temp_file_limit = '256kB'" >/dev/null
check "a limit of temporary files for who asks does not tell" "$(for p in "id = -1" "id <= 15000" "id <= 20000"; do as mallory q_state "SELECT privacy_score.dp_count('big', '$p', 0.02)"; done | uniq)" 00000
grant ", unit => 'name'" "SET temp_file_limit = '64kB'"
before=$(spent)
check "one of the grant fails alike for all, and all are charged" \
  "$(for p in "id = -1" "id <= 15000" "id <= 20000"; do as mallory q_all "SELECT privacy_score.dp_count('big', '$p', 0.03)"; done | sort -u; q "SELECT trim_scale($(spent) - $before)")" \
  "DETAIL:  The question is charged: rows may have been read.
ERROR:  could not read relation \"big\" for a noisy answer
HINT:  The server log says what went wrong.
0.09"
grant ", unit => 'name'"
q "ALTER ROLE mallory RESET temp_file_limit" >/dev/null

# --- what is said of them -----------------------------------------------------------------------------------------------------
check "temporary files are not told to the client" "$(as mallory q_all "SET client_min_messages = debug1" "SET trace_sort = on" "SELECT privacy_score.dp_count('big', 'id > -11', 0.01) IS NOT NULL" | grep -E 'temporary|external|Disk|workMem = 64,|h\.big ')" ""
check "they are in no statistics" "$(q "SELECT pg_stat_force_next_flush()" "SELECT temp_files, temp_bytes FROM pg_stat_database WHERE datname = 'postgres'" | tail -n 1)" "0|0"
check "nor in those of tables" "$(q "SELECT seq_scan, idx_scan, seq_tup_read FROM pg_stat_all_tables WHERE relname = 'big'")" "$(q "SELECT seq_scan, idx_scan, seq_tup_read FROM pg_stat_all_tables WHERE relname = 'big'")"
check "EXPLAIN of a question shows none" "$(as mallory q "EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off, SUMMARY off) SELECT privacy_score.dp_count('big', 'id > -12', 0.01)" | grep -cE 'temp|Sort')" 0
check "nor are waits for them longer with more rows: settings of a cancel tell nothing but time, which is paid for" \
  "$(before=$(spent); as mallory q_state "SET statement_timeout = '1ms'" "SELECT privacy_score.dp_count('big', 'id > -13', 0.01)"; q "SELECT $(spent) - $before IN (0, 0.01)")" "57014
t"

# --- the least price --------------------------------------------------------------------------------------------------------------
rows=$(q "SELECT count(*) FROM privacy_score.release")
before=$(spent)
check "nobody asks for next to nothing" "$(as mallory q_all "SELECT privacy_score.dp_count('big', 'id = 1', 0.000000001)")" "ERROR:  epsilon must be at least 0.001 for relation \"big\", not 0.000000001
HINT:  The owner of the relation changes that with the setting privacy_score.dp_least_epsilon and another privacy_score.dp_grant()."
for question in "dp_sum('big', 'cost', 0, 9, 0.0009)" "dp_avg('big', 'cost', 0, 9, 0.0009)" "dp_count_distinct('big', 'city', 0.0009)" "count(*) FROM privacy_score.dp_histogram('big', 'city', 0.0009, '{c1}')" "count(*) FROM privacy_score.dp_cost('big', 'id = 2', 0.0009)" \
  "count(*) FROM privacy_score.dp_count_detail('big', 'id = 1', 0.0009, true)"; do
  check "nor otherwise: ${question:0:40}" "$(as mallory q_state "SELECT ${question/#dp_/privacy_score.dp_}")$(as mallory q_state "SET privacy_score.dp_least_epsilon = 0" "SELECT ${question/#dp_/privacy_score.dp_}")" 2202322023
done
check "that costs nothing, and no row of the ledger" "$(spent) $(q "SELECT count(*) FROM privacy_score.release")" "$before $rows"
grant "" "SET privacy_score.dp_least_epsilon = 0.00001"
check "the owner says what the least is" "$(as mallory q_state "SELECT privacy_score.dp_count('big', 'id = 1', 0.00001)")$(as mallory q_state "SELECT privacy_score.dp_count('big', 'id = 1', 0.000009)")" 0000022023
grant
check "an answer that was paid for is repeated whatever it cost" "$(as mallory q "SELECT repeated FROM privacy_score.dp_count_detail('big', 'id = 1', 0.00001)")" t

# --- the width of answers ------------------------------------------------------------------------------------------------------------
check "answers of a kind have one width" "$(q "SELECT kind, count(DISTINCT length(answer)) FROM privacy_score.release WHERE answer IS NOT NULL AND kind <> 'histogram' GROUP BY 1 ORDER BY 1")" "avg|1
count|1
count_distinct|1
sum|1"
as mallory q "SELECT count(*) FROM privacy_score.dp_histogram('big', 'city', 0.001, '{c1,c2,c3,c4}')" "SELECT count(*) FROM privacy_score.dp_histogram('big', 'city', 900, '{x1,x2,x3,x4}')" >/dev/null
check "also of histograms with as many keys" "$(q "SELECT count(DISTINCT length(answer)) FROM privacy_score.release WHERE kind = 'histogram' AND epsilon IN (0.001, 900)")" 1
check "they are not compressed" "$(q "SELECT attstorage FROM pg_attribute WHERE attrelid = 'privacy_score.release'::regclass AND attname = 'answer'")" e

# --- who wants indexes ------------------------------------------------------------------------------------------------------------------
grant ", constant_work => false"
check_match "the owner may let indexes be used" "$(work "dp_count('big', 'name = ''name7'' AND id = 7', 0.01)")" "^shared [1-9] temp scans [12] by index$"
check "answers are the same" "$(as mallory q "SELECT privacy_score.dp_count('big', 'name = ''name7''', 50), privacy_score.dp_count('parts', 'id < 1000', 50), privacy_score.dp_count('seen', 'id < 100', 50), privacy_score.dp_count_distinct('big', 'city', 50, 'id < 5')")" "1|1000|99|4"
check "it is shown" "$(as mallory q "SELECT DISTINCT constant_work FROM privacy_score.dp_budget")" f
check_scored scoring_errors
check "nothing went wrong in the server" "$(grep -cE 'PANIC|TRAP|terminated by signal' "$ps_log")" 0
done_testing

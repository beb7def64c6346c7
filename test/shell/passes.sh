#!/bin/bash
# Reading a table for rates: parallel workers where rows are in partitions, cancel, memory given back, progress, rows
# that other sessions delete meanwhile, and keys that are younger than the snapshot.
. "$(dirname "$0")/../lib.sh"

rows=$(by_length 200000 500000)
start_server "shared_preload_libraries = 'privacy_score, auto_explain'" "maintenance_work_mem = '256MB'"
q "CREATE EXTENSION privacy_score" >/dev/null
q "CREATE UNLOGGED TABLE wide AS SELECT md5(n::text) AS own, n % 76 AS a, n % 2 AS b, n / 7 % 14 AS c, n % 6 AS d, n % 9 AS e, n / 13 % 83 AS f FROM generate_series(1, $rows) n" \
  "ALTER TABLE wide ADD COLUMN g numeric" "UPDATE wide SET g = a / 7.0" "VACUUM ANALYZE wide"
entropy="SELECT -sum(c / $rows.0::float8 * ln(c / $rows.0::float8)) / ln(2) FROM (SELECT count(*) AS c FROM wide GROUP BY"
expected=$(q "SELECT ($entropy a, b, c) s) / (ln($rows) / ln(2))")

# Parallel workers.
q "CREATE TABLE parts (LIKE wide) PARTITION BY LIST (b)" "CREATE UNLOGGED TABLE parts_0 PARTITION OF parts FOR VALUES IN (0)" \
  "CREATE UNLOGGED TABLE parts_1 PARTITION OF parts FOR VALUES IN (1)" "INSERT INTO parts SELECT * FROM wide" "ANALYZE parts"
export PGOPTIONS="-c auto_explain.log_min_duration=0 -c auto_explain.log_nested_statements=on -c auto_explain.log_analyze=on
  -c max_parallel_workers_per_gather=2 -c min_parallel_table_scan_size=0 -c parallel_setup_cost=0"
check "partitions give the same rate" "$(q "SELECT abs(privacy_score.combined_discrimination_rate('parts', '{a,b,c}') - $expected) < 1e-12")" "t"
check_true "and are grouped by parallel workers" log_has "Workers Launched: [1-9]"
few='[["b"], ["c"], ["b", "c"], ["d", "e", "b"], []]'
check "so are many sets of few groups, once for all" "$(q "SELECT 'few'" "SELECT count(*) FROM privacy_score.attribute_set_risk('parts', '$few') p
  JOIN privacy_score.attribute_set_risk('wide', '$few') w USING (attributes, distinct_values, uniques) WHERE abs(p.entropy - w.entropy) < 1e-12" | tail -n 1)" "5"
check "in one statement" "$(sed -n "/SELECT 'few'/,\$p" "$ps_log" | grep -cE "Query Text: SELECT .* FROM public.parts")|$(sed -n "/SELECT 'few'/,\$p" "$ps_log" |
  grep -cE "Workers Launched: [1-9]")" "1|1"
q "SELECT 'many'" "SELECT count(*) FROM privacy_score.attribute_relationships('parts', 1000)" >/dev/null
check "and rows are read where there are as many groups" "$(sed -n "/SELECT 'many'/,\$p" "$ps_log" | grep -cE "Query Text: SELECT own AS k1, a AS k2.* AS k8 FROM public.parts$")" "1"
PGOPTIONS=

# Cancelled anywhere in reading and counting, the session goes on and nothing is left.
outcomes=$(for timeout in 1 5 10 20 40 80 120 160 240 320 480 640; do
  printf "SET statement_timeout = %s;\nSELECT count(*) FROM privacy_score.attribute_relationships('wide', 1000);\n" $timeout
done | "$PS_BINDIR/psql" -XAtq 2>&1 | grep -v "^CONTEXT" | sort -u)
# A limit that comes as a statement ends is said to be a user's by the server.
check "cancelled or complete, never wrong" "$(grep -vxE "56|ERROR:  canceling statement due to user request" <<<"$outcomes")" \
  "ERROR:  canceling statement due to statement timeout"
check "and memory is given back" "$(printf '%s\n' "SET statement_timeout = 10;" '\o /dev/null' "SELECT privacy_score.attribute_risk('wide');" '\o' '\echo :LAST_ERROR_SQLSTATE' "RESET statement_timeout;" \
  "SELECT count(*), count(*) FILTER (WHERE name LIKE 'privacy_score%pass') FROM pg_backend_memory_contexts WHERE name ~ '^privacy_score (pass|dictionaries|values)';" \
  "SELECT abs(privacy_score.combined_discrimination_rate('wide', '{a,b,c}') - $expected) < 1e-12;" | "$PS_BINDIR/psql" -XAtq 2>/dev/null)" "$(printf '57014\n0|0\nt')"

# Progress: what another session sees meanwhile.
seen=
saw_rows() { grep -q "^discrimination rates|wide|reading rows|t$" <<<"$seen"; }
# Until one is met at reading.
for _ in $(seq 100); do
  q "SELECT count(*) FROM privacy_score.attribute_relationships('wide', 1000)" >/dev/null &
  running=$!
  while kill -0 $running 2>/dev/null; do
    seen+=$(q "SELECT string_agg(format('%s|%s|%s|%s', command, relation, phase, done > 0 AND total >= done), ',') FROM privacy_score.progress WHERE done > 0")$'\n'
  done
  wait $running
  if saw_rows; then break; fi
done
check_true "progress shows the rows that are read" saw_rows
check "and nothing afterwards" "$(q "SELECT count(*) FROM privacy_score.progress")" "0"

# Memory: what does not fit is read and grouped otherwise, and stays below the bound.
measure="SELECT sum(entropy)::numeric(20, 9), sum(distinct_values), sum(uniques) FROM privacy_score.attribute_risk('wide')"
check "with little memory the numbers are the same" "$(q "SET maintenance_work_mem = '2MB'" "$measure")" "$(q "$measure")"

# Rows that go while a snapshot still sees them.
q "CREATE TABLE moving AS SELECT n % 10 AS a, n % 3 AS b, CASE WHEN n > 90 THEN NULL ELSE n % 60 END AS id FROM generate_series(1, 100) n"
seen=$(printf '%s\n' "BEGIN ISOLATION LEVEL REPEATABLE READ;" "SELECT 100;" \
  "\\! $PS_BINDIR/psql -Xq -c 'DELETE FROM moving WHERE id IS NULL OR ctid NOT IN (SELECT min(ctid) FROM moving GROUP BY id)' -c 'ALTER TABLE moving ALTER id SET NOT NULL' -c 'CREATE UNIQUE INDEX ON moving (id)' -c 'VACUUM moving'" \
  "SELECT distinct_values, uniques, round(entropy::numeric, 9) FROM privacy_score.attribute_risk('moving') ORDER BY attribute;" \
  "SELECT count(*), count(*) FILTER (WHERE c = 1), round((-sum(c / 100.0 * ln(c / 100.0)) / ln(2))::numeric, 9) FROM (SELECT count(*)::numeric AS c FROM moving GROUP BY id) s;" \
  "COMMIT;" "SELECT distinct_values, uniques FROM privacy_score.attribute_risk('moving') WHERE attribute = 'id';" | "$PS_BINDIR/psql" -XAtq 2>&1)
check "an old snapshot sees all rows" "$(sed -n 2p <<<"$seen")" "10|0|3.321928095"
check "and is not told by a younger key" "$(sed -n 4p <<<"$seen")" "$(sed -n 5p <<<"$seen")"
check "a new one sees what is left" "$(tail -n 1 <<<"$seen")" "60|60"

# What changes while the lock is waited for: a column that goes, of which what names it fails and what is of all columns
# is of those that are left; and a file in whose place comes another, of whose rows the older snapshot sees none.
q "CREATE TABLE rewritten AS SELECT i AS a, i AS b FROM generate_series(1, 100) i" "CREATE VIEW above AS SELECT b FROM rewritten" \
  "SELECT privacy_score.dp_grant('postgres', 'rewritten', 1)" "SELECT privacy_score.dp_grant('postgres', 'above', 1)" >/dev/null
mkfifo "$PS_TMP/changes"
"$PS_BINDIR/psql" -Xq <"$PS_TMP/changes" &
exec 3>"$PS_TMP/changes"
# meanwhile table "change" "question": the answer to a question that is asked before the change is committed.
meanwhile() {
  local asks waiting="SELECT count(*) > 0 FROM pg_locks WHERE relation = '$1'::regclass AND granted ="
  echo "BEGIN; ALTER TABLE $1 $2;" >&3
  wait_for "$waiting true" t
  q "$3" >"$PS_TMP/meanwhile" 2>/dev/null &
  asks=$!
  wait_for "$waiting false" t
  echo "COMMIT;" >&3
  wait $asks
  cat "$PS_TMP/meanwhile"
}
check "a column that is dropped meanwhile: a question about it" "$(meanwhile moving "DROP b" "SELECT privacy_score.query_identification('SELECT a, b FROM moving')")" \
  "ERROR: a column of relation \"moving\" does not exist any more"
check "one about all columns" "$(meanwhile moving "DROP a" "SELECT string_agg(attribute, ' ') FROM privacy_score.attribute_risk('moving')")" "id"
for question in "sum(distinct_values) FROM privacy_score.attribute_risk('rewritten')" "privacy_score.dp_count('rewritten', NULL, 0.5)" \
  "privacy_score.dp_count('above', NULL, 0.5)"; do
  check "rewritten meanwhile: $question" "$(meanwhile rewritten "ALTER a TYPE int USING a + 0" "SELECT $question")" \
    "ERROR: relation \"rewritten\" was rewritten after this statement began"
done
check "nothing was spent" "$(q "SELECT sum(spent) FROM privacy_score.dp_budget")" 0
exec 3>&-
wait

# Other kinds of rewriting leave old snapshots what they see; a child that has come since is not theirs.
q "CREATE TABLE growing (a int, b int) PARTITION BY LIST (b)" "CREATE TABLE growing_1 PARTITION OF growing FOR VALUES IN (1)" \
  "INSERT INTO growing SELECT i, 1 FROM generate_series(1, 50) i"
check "after VACUUM FULL, and with a new partition, an old snapshot goes on" "$(printf '%s\n' "BEGIN ISOLATION LEVEL REPEATABLE READ;" "SELECT 1;" \
  "\! $PS_BINDIR/psql -Xq -c 'VACUUM FULL growing_1' -c 'CREATE TABLE growing_2 PARTITION OF growing FOR VALUES IN (2)' -c 'INSERT INTO growing SELECT i, 2 FROM generate_series(51, 90) i'" \
  "SELECT distinct_values FROM privacy_score.attribute_risk('growing') WHERE attribute = 'a';" "COMMIT;" | "$PS_BINDIR/psql" -XAtq 2>&1 | paste -sd ' ')" "1 50"

done_testing

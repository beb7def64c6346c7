#!/bin/bash
# Rates of relations whose rows are on other servers: the grouping goes where the rows are, once for many sets, and the
# numbers are those of the same rows in a table.
. "$(dirname "$0")/../lib.sh"

start_server "shared_preload_libraries = 'privacy_score, auto_explain'"
q "CREATE DATABASE shard1" "CREATE DATABASE shard2" "ALTER DATABASE shard1 SET log_statement = 'all'" "ALTER DATABASE shard2 SET log_statement = 'all'" "CREATE EXTENSION privacy_score" "CREATE EXTENSION postgres_fdw" >/dev/null

# The same 6000 rows in a table, in one foreign table, and spread over two foreign partitions and one here.
rows="SELECT n % 76 AS a, NULLIF(n % 5, 0)::text AS b, (n % 9 / 3.0)::numeric(5, 2) AS c, n % 100 / 7.0::float8 AS d, n AS id FROM generate_series(1, 6000) n"
q "CREATE TABLE here AS $rows" "ANALYZE here"
on shard1 q "CREATE TABLE everything (id int, d float8, c numeric(5, 2), b text, a int)" "INSERT INTO everything SELECT id, d, c, b, a FROM ($rows) s" \
  "CREATE TABLE part AS SELECT c, a, id, b, d FROM everything WHERE a < 20" "ANALYZE"
on shard2 q "CREATE TABLE part AS SELECT * FROM ($rows) s WHERE a >= 20 AND a < 60" "ANALYZE"
for shard in shard1 shard2; do
  q "CREATE SERVER $shard FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', port '$PGPORT', dbname '$shard')" \
    "CREATE USER MAPPING FOR PUBLIC SERVER $shard OPTIONS (user 'postgres', password_required 'false')"
done
columns="a int, b text, c numeric(5, 2), d float8, id int"
q "CREATE FOREIGN TABLE remote ($columns) SERVER shard1 OPTIONS (table_name 'everything')" \
  "CREATE TABLE sharded ($columns) PARTITION BY RANGE (a)" \
  "CREATE FOREIGN TABLE shard_low PARTITION OF sharded FOR VALUES FROM (0) TO (20) SERVER shard1 OPTIONS (table_name 'part')" \
  "CREATE FOREIGN TABLE shard_middle PARTITION OF sharded FOR VALUES FROM (20) TO (60) SERVER shard2 OPTIONS (table_name 'part')" \
  "CREATE TABLE shard_high PARTITION OF sharded FOR VALUES FROM (60) TO (100)" \
  "INSERT INTO shard_high SELECT * FROM here WHERE a >= 60" "ANALYZE"
check "the foreign tables have the rows" "$(q "SELECT (SELECT count(*) FROM remote), (SELECT count(*) FROM sharded)")" "6000|6000"

# Differences from the table: of all singles and pairs asked together, and of single sets with a target.
for relation in remote sharded; do
  check "all columns and pairs of $relation" "$(q "SELECT count(*), count(*) FILTER (WHERE abs(r.combined_rate - h.combined_rate) < 1e-12 AND abs(r.conditional_entropy - h.conditional_entropy) < 1e-11)
      FROM privacy_score.attribute_relationships('$relation', 1000) r JOIN privacy_score.attribute_relationships('here', 1000) h USING (determinant, dependent)")" "20|20"
  check "classes and uniques of $relation" "$(q "SELECT count(*), count(*) FILTER (WHERE abs(r.entropy - h.entropy) < 1e-12 AND r.distinct_values = h.distinct_values AND r.uniques = h.uniques)
      FROM privacy_score.attribute_risk('$relation') r JOIN privacy_score.attribute_risk('here') h USING (attribute)")" "5|5"
  check "sets one by one of $relation" "$(q "SELECT count(*) FILTER (WHERE abs(privacy_score.combined_discrimination_rate('$relation', s) - privacy_score.combined_discrimination_rate('here', s)) < 1e-12),
      count(*) FILTER (WHERE abs(privacy_score.combined_discrimination_rate('$relation', s, '{b,d}') - privacy_score.combined_discrimination_rate('here', s, '{b,d}')) < 1e-12)
      FROM (VALUES ('{a}'::name[]), ('{b}'), ('{c,d}'), ('{a,b,c}'), ('{id}'), ('{}'), ('{a,b,c,d,id}')) v(s)")" "7|7"
done

# Plans and statements of what follows go into the log.
export PGOPTIONS="-c log_statement=all -c auto_explain.log_min_duration=0 -c auto_explain.log_nested_statements=on -c auto_explain.log_verbose=on"
# lines_after MARK PATTERN: how many lines of the log after that statement match.
lines_after() { awk -v mark="$1" 'index($0, mark) { seen = 1; count = 0 } seen && $0 ~ pattern { ++count } END { print count + 0 }' pattern="$2" "$ps_log"; }

# What other servers are asked: the planner's "Relations: Aggregate on", and their statements.
q "SELECT 'one set'" "SELECT privacy_score.combined_discrimination_rate('remote', '{a,b}')" >/dev/null
check "one set is grouped by the other server" "$(lines_after "one set" "Relations: Aggregate on \\(public.remote\\)")" "1"
check "in one statement" "$(lines_after "one set" "DECLARE c[0-9]+ CURSOR FOR")" "1"
q "SELECT 'many sets'" "SELECT count(*) FROM privacy_score.attribute_relationships('remote', 1000)" >/dev/null
check "many sets are grouped by the other server" "$(lines_after "many sets" "Relations: Aggregate on \\(public.remote\\)")" "1"
check "once for all" "$(lines_after "many sets" "DECLARE c[0-9]+ CURSOR FOR")" "1"
q "SELECT 'one set of shards'" "SELECT privacy_score.combined_discrimination_rate('sharded', '{b}')" >/dev/null
check "each shard groups its own rows of one set" "$(lines_after "one set of shards" "Relations: Aggregate on \\(public.shard_(low|middle)\\)")" "2"
q "SELECT 'many sets of shards'" "SELECT count(*) FROM privacy_score.attribute_risk('sharded')" >/dev/null
check "each shard groups its own rows of many sets" "$(lines_after "many sets of shards" "Relations: Aggregate on \\(public.shard_(low|middle)\\)")" "2"
check "once for all shards" "$(lines_after "many sets of shards" "DECLARE c[0-9]+ CURSOR FOR")" "2"

# Of many rows that all columns tell apart, few sets are grouped one by one: nothing else fetches less than all rows.
q "CREATE TABLE many AS SELECT n AS id, n * 7919 % 90001 AS name, n % 13 AS kind FROM generate_series(1, 120000) n" "ANALYZE many" >/dev/null
on shard1 q "CREATE TABLE many AS SELECT n AS id, n * 7919 % 90001 AS name, n % 13 AS kind FROM generate_series(1, 120000) n" >/dev/null
q "CREATE FOREIGN TABLE far_many (id int, name int, kind int) SERVER shard1 OPTIONS (table_name 'many')" "ANALYZE far_many" >/dev/null
check "many rows: the numbers are the same" "$(q "SELECT 'many rows'" "SELECT count(*) FROM privacy_score.attribute_risk('far_many') r JOIN privacy_score.attribute_risk('many') m USING (attribute, distinct_values, uniques)
  WHERE abs(r.entropy - m.entropy) < 1e-11")" "many rows
3"
check "many rows: each set is a statement" "$(lines_after "many rows" "DECLARE c[0-9]+ CURSOR FOR")" "3"

# What does not fit into memory is grouped set by set.
PGOPTIONS=
check "without room the numbers are the same" "$(q "SET maintenance_work_mem = '1MB'" "CREATE TABLE wide AS SELECT md5(n::text) || md5((-n)::text) AS a, n % 7 AS b FROM generate_series(1, 30000) n" \
  "CREATE FOREIGN TABLE far (a text, b int) SERVER shard1 OPTIONS (table_name 'wide')" 2>&1)" ""
on shard1 q "CREATE TABLE wide AS SELECT md5(n::text) || md5((-n)::text) AS a, n % 7 AS b FROM generate_series(1, 30000) n"
check "far away too" "$(q "SET maintenance_work_mem = '1MB'" "SELECT count(*) FILTER (WHERE abs(f.entropy - w.entropy) < 1e-12 AND f.distinct_values = w.distinct_values), count(*)
  FROM privacy_score.attribute_risk('far') f JOIN privacy_score.attribute_risk('wide') w USING (attribute)")" "2|2"

# Rights: who may read the whole and not its parts gets the same numbers; who may read nothing gets nothing.
q "CREATE ROLE somebody LOGIN" "CREATE ROLE nobody LOGIN" "GRANT SELECT ON sharded, here TO somebody"
check "rights to the whole are enough" "$(as somebody q "SELECT abs(privacy_score.combined_discrimination_rate('sharded', '{b,c}') - privacy_score.combined_discrimination_rate('here', '{b,c}')) < 1e-12,
  (SELECT count(*) FROM privacy_score.attribute_risk('sharded') r JOIN privacy_score.attribute_risk('here') h USING (attribute, distinct_values, uniques))")" "t|5"
check "and needed" "$(as nobody q "SELECT privacy_score.combined_discrimination_rate('sharded', '{b,c}')")" "ERROR: permission denied for table sharded"
q "GRANT SELECT ON shard_low, shard_middle, shard_high TO nobody"
check "rights to the parts are not the right to the whole" "$(as nobody q "SELECT privacy_score.combined_discrimination_rate('sharded', '{b,c}')")" "ERROR: permission denied for table sharded"
q "GRANT SELECT (a) ON sharded TO nobody"
check "nor is the right to a column" "$(as nobody q "SELECT privacy_score.combined_discrimination_rate('sharded', '{b,c}')")" "ERROR: permission denied for table sharded"
check "which is enough for that column" "$(as nobody q "SELECT round(privacy_score.discrimination_rate('sharded', 'a', '{a}')::numeric, 3)")" "1.000"

done_testing

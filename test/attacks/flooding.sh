#!/bin/bash
# flooding.sh - a watched role tries to drown the watching: thousands of distinct statements, deep nesting, giant
# statements, many prepared statements, many sessions. Nothing breaks, nothing is lost, memory stays within its bound.
. "$(dirname "$0")/../attack.sh"
start_hospital "max_connections = 80"
columns=12
q "CREATE TABLE h.wide ($(for i in $(seq $columns); do printf 'c%s int, ' "$i"; done)id int PRIMARY KEY)" "INSERT INTO h.wide (id) SELECT generate_series(1, 10)" \
  "GRANT SELECT ON h.wide TO mallory" "SELECT privacy_score.protect('h.wide')" >/dev/null
query="SELECT diagnosis FROM patients"
memory="SELECT memory_used <= memory_limit, dropped, scoring_errors FROM privacy_score.stat_info"
queries_of_mallory="SELECT COALESCE(sum(queries), 0) FROM privacy_score.session WHERE role = 'mallory'"

# --- many different statements --------------------------------------------------------------------------------------------
# One statement for each non-empty set of columns, projected and filtered by turns: all have abstractions of their own.
statements() {
  awk -v from="$1" -v to="$2" -v n=$columns 'BEGIN {
    for (i = from; i <= to; i++) {
      set = ""; x = i
      for (c = 1; c <= n; c++) { if (x % 2) set = set (set == "" ? "" : ", ") "c" c; x = int(x / 2) }
      if (i < 2 ^ n) print "SELECT " set " FROM h.wide LIMIT 0 + 0;"
      else print "SELECT id" (set == "" ? "" : ", " set) " FROM h.wide WHERE c" (1 + int(i / 2 ^ n) % n) " = 1 LIMIT 0 + 0;"
    }
  }'
}
statements 1 10000 >"$PS_TMP/flood.sql"
check "the statements are many" "$(sort -u "$PS_TMP/flood.sql" | wc -l)" 10000
as mallory psql -XAtq -f "$PS_TMP/flood.sql" >/dev/null 2>"$PS_TMP/flood.err"
check "10,000 distinct statements run" "$(head -n 3 "$PS_TMP/flood.err")" ""
as_mallory "$query" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check "10,000 distinct statements: each is counted, memory is bounded" "$(q "$queries_of_mallory" "$memory")" "10001
t|0|0"
check "10,000 distinct statements: each has its abstraction" "$(q "SELECT count(*) FROM privacy_score.abstraction WHERE 't:h.wide' = ANY (tokens)")" 10000
check "what came after the flood is counted" "$(q "SELECT calls FROM privacy_score.abstraction WHERE tokens = '{$(tr ' ' , <<<"$read")}'")" 1

# --- deep and giant statements ----------------------------------------------------------------------------------------------
repeat() { awk -v s="$1" -v n="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", s }'; }
send() { as mallory psql -XAtq -v ON_ERROR_STOP=1 -f - 2>&1 >/dev/null | grep -oE 'ERROR:  .*' | head -n 1; }
# Whatever the server takes, it takes with the library, too, and it is counted; what is too deep is refused by the server.
parentheses="SELECT $(repeat '(' 1000)diagnosis$(repeat ')' 1000) FROM h.patients LIMIT 0 + 0;"
check "1,000 parentheses" "$(send <<<"$parentheses")" ""
sum="SELECT $(repeat 'length(diagnosis) + ' 3000)0 FROM h.patients LIMIT 0 + 0;"
check "an expression of 3,000 terms" "$(send <<<"$sum")" ""
nested="$(repeat 'SELECT * FROM (' 200)SELECT diagnosis FROM h.patients$(repeat ') x' 200) LIMIT 0 + 0;"
check "200 levels of subqueries" "$(send <<<"$nested")" ""
unions="SELECT diagnosis FROM h.patients$(repeat ' UNION ALL SELECT diagnosis FROM h.patients' 300) LIMIT 0 + 0;"
check "300 arms of a union" "$(send <<<"$unions")" ""
conditions="SELECT diagnosis FROM h.patients WHERE id = 1$(repeat ' OR id = 2' 3000);"
check "3,000 conditions" "$(send <<<"$conditions")" ""
list="SELECT diagnosis FROM h.patients WHERE id IN (1$(repeat ', 1234567' 100000));"
check "a list of 100,000" "$(send <<<"$list")" ""
check "a literal of 10 MB" "$({ printf "SELECT diagnosis FROM h.patients WHERE diagnosis = '"; repeat x 10000000; echo "';"; } | send)" ""
check "a comment of 10 MB" "$({ printf "SELECT /* "; repeat x 10000000; echo " */ diagnosis FROM h.patients LIMIT 0 + 0;"; } | send)" ""
joins="SELECT p.diagnosis FROM h.patients p $(for i in $(seq 60); do printf 'JOIN h.patients p%s USING (id) ' "$i"; done) LIMIT 0 + 0;"
check "60 joins" "$({ echo "SET join_collapse_limit = 1;"; echo "$joins"; } | send)" ""
wide="SELECT $(repeat 'diagnosis, ' 1600)id FROM h.patients LIMIT 0 + 0;"
check "1,600 outputs" "$(send <<<"$wide")" ""
too_deep="SELECT $(repeat 'abs(' 30000)id$(repeat ')' 30000) FROM h.patients;"
check_match "too deep is the server's error" "$(send <<<"$too_deep")" "stack depth limit exceeded|memory exhausted"
views=""
for i in $(seq 60); do views+="CREATE TEMP VIEW v$i AS SELECT a.diagnosis FROM $([ "$i" = 1 ] && echo h.patients || echo "v$((i - 1))") a; "; done
check "60 views on top of one another" "$(send <<<"$views SELECT diagnosis FROM v60 LIMIT 0 + 0;")" ""
doubling=""
for i in $(seq 8); do
  below=$([ "$i" = 1 ] && echo h.patients || echo "d$((i - 1))")
  doubling+="CREATE TEMP VIEW d$i AS SELECT a.diagnosis FROM $below a, $below b; "
done
check "views that use one another twice" "$(send <<<"$doubling EXPLAIN SELECT diagnosis FROM d8;")" ""
recursion="CREATE FUNCTION pg_temp.down(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM diagnosis FROM h.patients WHERE id = n; RETURN CASE WHEN n > 0 THEN pg_temp.down(n - 1) END; END'; SELECT pg_temp.down(150);"
check "a function that calls itself 150 times" "$(send <<<"$recursion")" ""
endless="CREATE FUNCTION pg_temp.down(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM diagnosis FROM h.patients WHERE id = n; RETURN pg_temp.down(n - 1); END'; SELECT pg_temp.down(1);"
check_match "a function that never stops calling itself" "$(send <<<"$endless")" "stack depth limit exceeded"
q "SELECT privacy_score.flush()" >/dev/null
check "all of these were taken" "$(q "SELECT count(*) > 0 FROM privacy_score.abstraction WHERE 'unparsed' = ANY (tokens)" "$memory")" "f
t|0|0"

# --- prepared statements, transactions, sessions ----------------------------------------------------------------------------
before=$(q "$queries_of_mallory")
{
  for i in $(seq 2000); do echo "PREPARE p$i AS SELECT diagnosis FROM h.patients LIMIT 0 + 0;"; done
  for i in $(seq 2000); do echo "EXECUTE p$i;"; done
} >"$PS_TMP/prepared.sql"
as mallory psql -XAtq -f "$PS_TMP/prepared.sql" >/dev/null 2>&1
q "SELECT privacy_score.flush()" >/dev/null
check "2,000 prepared statements" "$(($(q "$queries_of_mallory") - before))" 2000
before=$(q "$queries_of_mallory")
as_mallory "DO \$\$BEGIN FOR i IN 1 .. 20000 LOOP PERFORM diagnosis FROM h.patients WHERE id = i; END LOOP; END\$\$" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check "20,000 executions in a loop" "$(($(q "$queries_of_mallory") - before))" 20000
before=$(q "$queries_of_mallory")
printf 'BEGIN;\nSELECT diagnosis FROM h.patients WHERE id = 1;\nSAVEPOINT a;\nSELECT city FROM h.patients WHERE id = 1;\nROLLBACK TO a;\nROLLBACK;\n' >"$PS_TMP/many.sql"
as mallory pgbench -n -c 20 -j 2 -t 25 -f "$PS_TMP/many.sql" >/dev/null 2>&1
as mallory pgbench -n -C -c 5 -j 2 -t 20 -f "$PS_TMP/many.sql" >/dev/null 2>&1
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'mallory'" 0
q "SELECT privacy_score.flush()" >/dev/null
check "many sessions at once, and a connection for each transaction" "$(($(q "$queries_of_mallory") - before))" $((20 * 25 * 2 + 5 * 20 * 2))
check "nothing was lost, memory is bounded" "$(q "$memory")" "t|0|0"
check_true "no process of the server has crashed" eval "! log_has 'was terminated by signal|TRAP|PANIC'"
done_testing

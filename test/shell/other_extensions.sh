#!/bin/bash
# other_extensions.sh - pg_stat_statements, auto_explain, pgaudit and plpgsql_check loaded before and after this library,
# one by one and all together: what they report is what they report without it, what is counted is exact, and nothing
# falls over. One whose package is not installed is left out, with a note.
. "$(dirname "$0")/../lib.sh"

library_dir=$(pg_config --pkglibdir)
others=()
for other in pg_stat_statements auto_explain pgaudit plpgsql_check; do
  if [ -e "$library_dir/$other.so" ] || [ -e "${PS_BINDIR%/bin}/lib/$other.so" ]; then
    others+=("$other")
  else
    skip "$other is not installed"
  fi
done
has() { [[ " ${others[*]} " == *" $1 "* ]]; }
check_true "contrib is there" eval "has pg_stat_statements && has auto_explain"

# Everything that the watched role does: all kinds of plans and utilities that those extensions hook into.
echo "\\set forced_parallel $forced_parallel" >"$PS_TMP/work.sql"
cat >>"$PS_TMP/work.sql" <<'SQL'
SELECT diagnosis FROM h.patients WHERE id = 1;
SELECT diagnosis FROM h.patients WHERE id = 2;
PREPARE p(int) AS SELECT city FROM h.patients WHERE id = $1;
EXECUTE p(1);
EXECUTE p(2);
SET plan_cache_mode = force_generic_plan;
EXECUTE p(3);
EXECUTE p(4);
BEGIN;
DECLARE c CURSOR FOR SELECT first_name FROM h.patients ORDER BY id;
FETCH 3 FROM c;
FETCH 3 FROM c;
COMMIT;
SELECT h.looked_up(5);
SELECT h.looked_up(6);
DO $$BEGIN PERFORM diagnosis FROM h.patients; END$$;
CALL h.committing();
COPY h.patients (city) TO STDOUT;
COPY (SELECT city FROM h.patients) TO STDOUT;
CREATE TEMP TABLE t AS SELECT city FROM h.patients;
INSERT INTO t SELECT diagnosis FROM h.patients;
EXPLAIN (COSTS OFF) SELECT city FROM h.patients;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT city FROM h.patients;
SET :forced_parallel = on;
SELECT count(*) FROM h.patients;
SET :forced_parallel = off;
SELECT 1 / (id - 50) FROM h.patients;
SELECT nosuch FROM h.patients;
SELECT code FROM h.secrets;
SQL

# What history has of the role, equal entries that follow one another added up.
events="SELECT string_agg(tokens || ' x' || times, '; ' ORDER BY place) FROM (
  SELECT tokens, sum(run) AS times, min(place) AS place FROM (
    SELECT *, place - row_number() OVER (PARTITION BY tokens ORDER BY place) AS island FROM (
      SELECT array_to_string(a.tokens, ' ') AS tokens, e.run, row_number() OVER (ORDER BY s.started, s.id, p.part, e.place) AS place
        FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
             ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place), privacy_score.abstraction a
       WHERE a.id = e.id AND e.run > 0 AND s.role = 'worker_bee') x) y GROUP BY tokens, island) z"
p="t:h.patients"
read="cmd:select p:h.patients.diagnosis $p"
expected="cmd:select p:h.patients.diagnosis $p w:h.patients.id x2; cmd:select p:h.patients.city $p w:h.patients.id x4"
expected+="; cmd:select o:h.patients.id p:h.patients.first_name $p x1"
expected+="; cmd:select x1; cmd:select p:h.patients.diagnosis $p w:h.patients.id x1; cmd:select x1; cmd:select p:h.patients.diagnosis $p w:h.patients.id x1"
expected+="; $read x3; cmd:copy p:h.patients.city $p x1; cmd:select p:h.patients.city $p x2"
expected+="; cmd:insert p:h.patients.diagnosis s:pg_temp.*.1 $p t:pg_temp.* x1; cmd:explain $p x1; cmd:select p:h.patients.city $p x1"
expected+="; cmd:select f:count(*) $p x1; cmd:select p:h.patients.id $p x1"

# run LIBRARIES [CONFIGURATION...]: a server with these libraries; leaves its answers, calls, plans and audit in files.
run() {
  local name=${1//[, ]/_}
  start_server "shared_preload_libraries = '$1'" "auto_explain.log_min_duration = 0" "auto_explain.log_nested_statements = on" \
    "auto_explain.log_analyze = on" "auto_explain.log_timing = off" "pgaudit.log = 'read, write, ddl'" "pgaudit.log_parameter = on" \
    "pg_stat_statements.track = 'all'" "plpgsql_check.mode = 'every_start'" "log_line_prefix = '[%u] '" "${@:2}"
  {
    case $1 in *pg_stat_statements*) echo "CREATE EXTENSION pg_stat_statements;" ;; esac
    case $1 in *pgaudit*) echo "CREATE EXTENSION pgaudit;" ;; esac
    case $1 in *plpgsql_check*) echo "CREATE EXTENSION plpgsql_check;" ;; esac
    case $1 in *privacy_score*) echo "CREATE EXTENSION privacy_score;" ;; esac
    cat <<'SQL'
CREATE ROLE worker_bee LOGIN;
CREATE SCHEMA h;
GRANT USAGE ON SCHEMA h TO worker_bee;
CREATE TABLE h.patients (id int PRIMARY KEY, first_name text, city text, diagnosis text);
INSERT INTO h.patients SELECT i, 'f' || i, 'c' || i % 7, 'd' || i % 5 FROM generate_series(1, 100) i;
CREATE TABLE h.secrets (code text);
GRANT SELECT ON h.patients TO worker_bee;
CREATE FUNCTION h.looked_up(int) RETURNS text LANGUAGE plpgsql AS 'DECLARE d text; BEGIN SELECT diagnosis INTO d FROM h.patients WHERE id = $1; RETURN d; END';
CREATE PROCEDURE h.committing() LANGUAGE plpgsql AS 'BEGIN PERFORM diagnosis FROM h.patients; COMMIT; PERFORM diagnosis FROM h.patients; END';
ANALYZE;
SQL
    case $1 in *privacy_score*) echo "SELECT privacy_score.protect('h.patients');" ;; esac
    case $1 in *pg_stat_statements*) echo "SELECT FROM pg_stat_statements_reset();" ;; esac
  } | q_script >"$PS_TMP/setup.out" || bail_out "$1: the tables cannot be made: $(tail -n 3 "$PS_TMP/setup.out")"
  as worker_bee psql -XAtq <"$PS_TMP/work.sql" >"$PS_TMP/$name.answers" 2>&1
  case $1 in
    *pg_stat_statements*)
      q "SELECT s.calls, s.rows, s.toplevel, s.query FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid
          WHERE r.rolname = 'worker_bee' ORDER BY s.query COLLATE \"C\", s.toplevel, s.calls" >"$PS_TMP/$name.calls"
      ;;
  esac
  grep -E '^\[worker_bee\] LOG:  AUDIT' "$ps_log" >"$PS_TMP/$name.audit"
  # Lines of one entry begin with a tab but for the first; durations differ. This extension's own statements, such as the
  # one that notes what a new table is a copy of, are in the log, too.
  awk 'function finish() { if (entry !~ /privacy_score\./) printf "%s", entry; entry = "" }
       /^\[/ { finish(); mine = /^\[worker_bee\] LOG:  duration:/; sub(/duration: [0-9.]+ ms/, "") }
       mine { entry = entry $0 "\n" }
       END { finish() }' "$ps_log" >"$PS_TMP/$name.plans"
  case $1 in
    *privacy_score*)
      q "SELECT privacy_score.flush()" >/dev/null
      # The event trigger of pgaudit asks for the objects that CREATE TABLE AS has made.
      check "$1: what is counted is exact" "$(q "$events" | case $1 in *pgaudit*) sed 's/ cmd:select x1; cmd:insert/ cmd:insert/' ;; *) cat ;; esac)" "$expected"
      check "$1: no fault" "$(q "SELECT scoring_errors, dropped FROM privacy_score.stat_info")" "0|0"
      ;;
  esac
  check_true "$1: no process of the server ends in a crash" eval "! log_has 'was terminated by signal|TRAP|PANIC'"
  stop_server fast
}

# same "description" EXTENSION-OF-FILES NAME-WITHOUT NAME-WITH
same() {
  local difference
  difference=$(diff "$PS_TMP/$3.$2" "$PS_TMP/$4.$2" | head -n 6)
  check "$1" "$difference" ""
}

# compare LIBRARIES-WITHOUT LIBRARIES-WITH...
compare() {
  local without=${1//[, ]/_} libraries name
  run "$1"
  shift
  for libraries in "$@"; do
    name=${libraries//[, ]/_}
    run "$libraries"
    same "$libraries: the client sees the same" answers "$without" "$name"
    case $libraries in *pg_stat_statements*) same "$libraries: pg_stat_statements has the same calls" calls "$without" "$name" ;; esac
    case $libraries in *auto_explain*) same "$libraries: auto_explain logs the same plans" plans "$without" "$name" ;; esac
    case $libraries in *pgaudit*) same "$libraries: pgaudit logs the same" audit "$without" "$name" ;; esac
  done
}

for other in "${others[@]}"; do
  compare "$other" "$other,privacy_score" "privacy_score,$other"
done
all=$(IFS=,; echo "${others[*]}")
compare "$all" "$all,privacy_score" "privacy_score,$all"
if has pg_stat_statements; then check_true "pg_stat_statements has calls to compare" test -s "$PS_TMP/pg_stat_statements.calls"; fi
check_true "auto_explain has plans to compare" grep -q 'Seq Scan on patients' "$PS_TMP/auto_explain.plans"
if has pgaudit; then check_true "pgaudit has lines to compare" grep -q 'AUDIT: SESSION' "$PS_TMP/pgaudit.audit"; fi

# plpgsql_check reads the plans of a function's statements without running them.
if has plpgsql_check; then
  start_server "shared_preload_libraries = 'privacy_score,plpgsql,plpgsql_check'"
  q "CREATE EXTENSION privacy_score" "CREATE EXTENSION plpgsql_check" "CREATE ROLE worker_bee LOGIN" "CREATE SCHEMA h" "GRANT USAGE ON SCHEMA h TO worker_bee" \
    "CREATE TABLE h.patients (id int, diagnosis text)" "GRANT SELECT ON h.patients TO worker_bee" \
    "CREATE FUNCTION h.wrong() RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM diagnosis FROM h.patients; PERFORM nosuch FROM h.patients; END'" >/dev/null
  check_match "plpgsql_check finds what is wrong" "$(as worker_bee q "SELECT * FROM plpgsql_check_function('h.wrong()')")" 'column "nosuch" does not exist'
  q "SELECT privacy_score.flush()" >/dev/null
  check "what it looks at is not read" "$(q "SELECT count(*) FROM privacy_score.abstraction WHERE 't:h.patients' = ANY (tokens)")" 0
fi

# A library that asks a table of its own about each statement does so within those that read for a rate as well.
compile_support hinting
for libraries in "$module,privacy_score" "privacy_score,$module"; do
  start_server "shared_preload_libraries = '$libraries'"
  q "CREATE EXTENSION privacy_score" "CREATE ROLE worker_bee LOGIN" "CREATE SCHEMA h" "GRANT USAGE ON SCHEMA h TO worker_bee" \
    "CREATE TABLE h.patients (id int PRIMARY KEY, city text)" "INSERT INTO h.patients SELECT i, 'c' || i % 7 FROM generate_series(1, 100) i" \
    "GRANT SELECT ON h.patients TO worker_bee" "SELECT privacy_score.protect('h.patients')" "CREATE SCHEMA hints" "GRANT USAGE ON SCHEMA hints TO PUBLIC" \
    "CREATE TABLE hints.hint (statement text, hint text)" "GRANT SELECT ON hints.hint TO PUBLIC" >/dev/null
  order=${libraries/$PS_TMP\//}
  check "$order: a rate" "$(as worker_bee q "SELECT privacy_score.discrimination_rate('h.patients', 'city') > 0.4")" t
  check "$order: a report" "$(q "SELECT length(privacy_score.report()) > 1000")" t
  # What a session has asked for is computed while one goes on.
  asks_and_gets() {
    as worker_bee q "SELECT city FROM h.patients WHERE id = 1" >/dev/null
    [ "$(q "SELECT count(*) > 0 FROM privacy_score.stat_cdr")" = t ]
  }
  check_true "$order: the worker computes rates" wait_until asks_and_gets
  check_scored scoring_errors
done

# Without query ids the plans are tied to their abstractions all the same: run() checks what is counted.
run "privacy_score" "compute_query_id = off"
done_testing

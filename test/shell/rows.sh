#!/bin/bash
# rows.sh - the rows that statements return: by abstraction, session, day and n-gram, live and from history.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" \
  "CREATE TABLE patients (id int PRIMARY KEY, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i" \
  "CREATE TABLE notes (id int, line text)" "GRANT ALL ON notes TO alice" "GRANT SELECT ON patients TO alice" \
  "CREATE FUNCTION cities() RETURNS SETOF text LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT city FROM patients WHERE id <= 9; END'" \
  "SELECT privacy_score.protect('patients')" >/dev/null
flush() { q "SELECT privacy_score.flush()" >/dev/null; }

# Rows of the abstraction with exactly these tokens.
rows_of() {
  flush
  q "SELECT COALESCE(sum(rows), 0) FROM privacy_score.stat_abstractions WHERE tokens = '{$1}'"
}
reset() { q "SELECT privacy_score.reset_stats()" >/dev/null; }

# counts "what" "tokens" expected-rows statement...: alice runs the statements in one session.
counts() {
  local what=$1 tokens=$2 expected=$3
  shift 3
  reset
  printf '%s;\n' "$@" | as alice "$PS_BINDIR/psql" -XAtq >/dev/null 2>&1
  check "$what" "$(rows_of "$tokens")" "$expected"
}

city=cmd:select,p:public.patients.city,t:public.patients
counts "a query" "$city" 100 "SELECT city FROM patients"
counts "no row" "$city" 0 "SELECT city FROM patients LIMIT 0 + 0"
counts "repeated" "$city" 30 "SELECT city FROM patients LIMIT 10" "SELECT city FROM patients LIMIT 10" "SELECT city FROM patients LIMIT 10"
counts "prepared, generic plan" "cmd:select,p:public.patients.city,t:public.patients,w:public.patients.id" 12 "SET plan_cache_mode = force_generic_plan" \
  "PREPARE s(int) AS SELECT city FROM patients WHERE id <= \$1" "EXECUTE s(5)" "EXECUTE s(7)"
counts "a cursor, in pieces, others in between" "$city" 25 "BEGIN" "DECLARE c CURSOR FOR SELECT city FROM patients" "FETCH 10 FROM c" \
  "SELECT diagnosis FROM patients" "FETCH 15 FROM c" "COMMIT"
counts "a cursor that is held" "$city" 100 "BEGIN" "DECLARE c CURSOR WITH HOLD FOR SELECT city FROM patients" "COMMIT" "FETCH 10 FROM c"
counts "what was returned before an error" "cmd:select,p:public.patients.city,p:public.patients.id,t:public.patients" 41 \
  "SELECT city, 1 / (42 - id) FROM patients"
counts "within a function" "cmd:select,p:public.patients.city,t:public.patients,w:public.patients.id" 9 "SELECT count(*) FROM cities()"
counts "COPY of a table" "cmd:copy,p:public.patients.city,t:public.patients" 100 "COPY patients (city) TO STDOUT"
counts "COPY of a query" "$city" 3 "COPY (SELECT city FROM patients LIMIT 3) TO STDOUT"
counts "CREATE TABLE AS" "$city" 100 "CREATE TEMP TABLE t AS SELECT city FROM patients"
counts "INSERT ... SELECT returns none" "cmd:insert,p:public.patients.city,s:public.notes.line,t:public.notes,t:public.patients" 0 \
  "INSERT INTO notes (line) SELECT city FROM patients"
counts "RETURNING" "cmd:insert,p:public.notes.line,s:public.notes.line,t:public.notes" 2 \
  "INSERT INTO notes (line) VALUES ('a'), ('b') RETURNING line"
counts "EXPLAIN ANALYZE sends none of them, and has read them" "$city" 100 "EXPLAIN (ANALYZE, COSTS off) SELECT city FROM patients"
counts "EXPLAIN" "$city" 0 "EXPLAIN SELECT city FROM patients"

# --- sessions, days, n-grams ------------------------------------------------------------------------------------------------
q "DELETE FROM privacy_score.session" "DELETE FROM privacy_score.session_part" >/dev/null
as alice q "SELECT count(*) FROM patients" "SELECT city FROM patients" "SELECT diagnosis FROM patients LIMIT 4" >/dev/null
flush
check "of a day" "$(q "SELECT queries, rows FROM privacy_score.score('alice', privacy_score.today(), privacy_score.today())")" "3|105"
check "of a session" "$(q "SELECT rows FROM privacy_score.score_sessions('alice', privacy_score.today(), privacy_score.today())")" 105
check "of n-grams: those of the last statement" \
  "$(q "SELECT split_part(ngram[2], ' ', 2), rows FROM privacy_score.score_ngrams('alice', privacy_score.today(), privacy_score.today()) ORDER BY rows")" \
  "f:count(*)|1
p:public.patients.diagnosis|4
p:public.patients.city|100"
check "a role sees its own" "$(as alice q "SELECT sum(rows) FROM privacy_score.stat_abstractions")" 105
rm -f "$PS_TMP/alice"
mkfifo "$PS_TMP/alice"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >"$PS_TMP/alice.out" 2>&1 &
exec 3>"$PS_TMP/alice"
echo "SELECT city FROM patients; SELECT id FROM patients LIMIT 5;" >&3
check_true "live" wait_for "SELECT rows FROM privacy_score.stat_sessions" 105
exec 3>&-
wait
done_testing

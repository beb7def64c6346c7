#!/bin/bash
# repeated.sh - a statement that a session has met before is recorded as at first sight: the same abstraction, for every
# statement of the corpus, also right after all others; and the one of this moment after whatever it depends on changed.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" >/dev/null

# --- the corpus ---------------------------------------------------------------------------------------------------------
# The tables of the regression test of both front ends, up to where that loads its corpus.
sed -n '/^SET search_path/,$p' test/sql/front_ends.sql | sed '/corpus/,$d' >"$PS_TMP/setup.sql"
{
  echo "CREATE ROLE regress_front_ends; CREATE SCHEMA front; CREATE SCHEMA \"Other Schema\";"
  cat "$PS_TMP/setup.sql"
} | "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -f - >/dev/null || bail_out "the tables of the corpus cannot be made"
q "CREATE ROLE reader LOGIN" "GRANT USAGE ON SCHEMA front, \"Other Schema\" TO reader" "GRANT ALL ON ALL TABLES IN SCHEMA front, \"Other Schema\" TO reader" \
  "GRANT ALL ON ALL SEQUENCES IN SCHEMA front TO reader" "ALTER ROLE reader SET search_path = front, public" \
  "CREATE TABLE front.mark ()" "GRANT SELECT ON front.mark TO reader" >/dev/null
# Each statement in a transaction of its own that is rolled back, after a mark.
grep -vE '^(--|$)' test/corpus/front_ends.txt >"$PS_TMP/corpus"
{
  for _ in 1 2 3; do
    while IFS= read -r statement; do printf 'SELECT FROM mark;\nBEGIN;\n%s\n;\nROLLBACK;\n' "$statement"; done <"$PS_TMP/corpus"
    echo "SELECT FROM mark;"
  done
} >"$PS_TMP/thrice.sql"
as reader "$PS_BINDIR/psql" -XAtq -f "$PS_TMP/thrice.sql" >/dev/null 2>&1
q "SELECT privacy_score.flush()" >/dev/null
# What was recorded between two marks, per pass and statement.
q "CREATE TABLE recorded AS
   WITH e AS (SELECT e.id, row_number() OVER (ORDER BY p.part, e.place) AS at
                FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
                     ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place), generate_series(1, e.run)
               WHERE s.role = 'reader'),
        m AS (SELECT e.id, at, a.tokens = '{cmd:select,t:front.mark}' AS mark FROM e JOIN privacy_score.abstraction a USING (id)),
        g AS (SELECT *, count(*) FILTER (WHERE mark) OVER (ORDER BY at) AS segment FROM m)
   SELECT segment, array_agg(id ORDER BY at) FILTER (WHERE NOT mark) AS ids FROM g GROUP BY segment" >/dev/null
lines=$(wc -l <"$PS_TMP/corpus")
check "every statement has its place" "$(q "SELECT count(*) FROM recorded")" $((3 * (lines + 1)))
check_true "most statements of the corpus run" test "$(q "SELECT count(ids) FROM recorded WHERE segment <= $lines")" -gt $((lines * 3 / 4))
check "the second and the third time are as the first" \
  "$(q "SELECT count(*) FROM recorded a JOIN recorded b ON b.segment IN (a.segment + $lines + 1, a.segment + 2 * ($lines + 1)) WHERE a.ids IS DISTINCT FROM b.ids")" 0
# What the text of each gives without anything remembered, by the same role. A line of several statements has one text, and
# EXPLAIN is an event of its own.
awk '!/;|^EXPLAIN/ { gsub(/\047/, "\047\047")
       printf "SELECT format(\047INSERT INTO expected VALUES (%d, %%L);\047, privacy_score.abstract_query_analyzed(\047%s\047));\n", NR, $0 }' \
  "$PS_TMP/corpus" >"$PS_TMP/tokens.sql"
as reader "$PS_BINDIR/psql" -XAtq -f "$PS_TMP/tokens.sql" >"$PS_TMP/tokens.out" 2>/dev/null
q "CREATE TABLE expected (segment int, tokens text[])" >/dev/null
"$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -f "$PS_TMP/tokens.out" >/dev/null
check_true "the text of most has tokens" test "$(q "SELECT count(*) FROM expected")" -gt $((lines * 3 / 4))
check "each is recorded as what its text says" \
  "$(q "SELECT count(*) FROM expected e JOIN recorded r USING (segment) JOIN privacy_score.abstraction a ON a.tokens = e.tokens
        WHERE r.ids IS NOT NULL AND e.tokens <> '{}' AND NOT a.id = ANY (r.ids)")" 0

# --- changes ------------------------------------------------------------------------------------------------------------
q "CREATE TABLE people (id int PRIMARY KEY, name text, city text)" "CREATE SCHEMA other" "CREATE TABLE other.people (id int, name text)" \
  "CREATE VIEW seen AS SELECT id, name FROM people" "CREATE VIEW elsewhere AS SELECT name FROM other.people" \
  "CREATE FUNCTION public.plain(text) RETURNS text LANGUAGE internal IMMUTABLE STRICT AS 'lower'" \
  "CREATE TABLE owned (id int, note text)" "GRANT SELECT ON people, seen, elsewhere, owned TO reader" \
  "ALTER ROLE reader RESET search_path" >/dev/null
rm -f "$PS_TMP/in"
mkfifo "$PS_TMP/in"
as reader "$PS_BINDIR/psql" -XAtq <"$PS_TMP/in" >"$PS_TMP/out" 2>&1 &
exec 3>"$PS_TMP/in"
steps=0
# Runs statements in the session that goes on, and waits for them.
go_on() {
  local statement
  for statement in "$@"; do echo "$statement;" >&3; done
  steps=$((steps + 1))
  echo "\\echo step $steps" >&3
  for _ in $(seq 100); do
    if grep -qx "step $steps" "$PS_TMP/out"; then return; fi
    sleep 0.1
  done
  fail "the session answers"
}
# as_now "what changed" "SQL of the change" "statement": the session has met the statement; after the change, what it
# records is what its text says now, and differs from before.
last="SELECT array_to_string(a.tokens, ' ') FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id, privacy_score.abstraction a
  WHERE s.session LIKE '%.' || to_hex((SELECT pid FROM pg_stat_activity WHERE usename = 'reader')) AND a.id = p.ids[array_length(p.ids, 1)] ORDER BY p.part DESC LIMIT 1"
as_now() {
  local before after
  go_on "$3" "$3" "$3"
  q "SELECT privacy_score.flush()" >/dev/null
  before=$(q "$last")
  q "$2" >/dev/null
  go_on "$3"
  q "SELECT privacy_score.flush()" >/dev/null
  after=$(q "$last")
  check "$1" "$after" "$(as reader q "SELECT array_to_string(privacy_score.abstract_query_analyzed(\$\$$3\$\$), ' ')")"
  check_true "$1: it differs" test "$before" != "$after"
}
as_now "a column has another name" "ALTER TABLE people RENAME COLUMN city TO town" "SELECT p.* FROM people p WHERE id = 1"
as_now "a view has another query" "CREATE OR REPLACE VIEW seen AS SELECT id, town AS name FROM people" "SELECT name FROM seen"
as_now "a table has another name" "ALTER TABLE owned RENAME TO owned_now; CREATE VIEW owned AS SELECT * FROM owned_now; GRANT SELECT ON owned TO reader" "SELECT note FROM owned"
as_now "a schema has another name" "ALTER SCHEMA other RENAME TO others" "SELECT name FROM elsewhere"
as_now "a function may show its argument" "ALTER FUNCTION plain(text) VOLATILE" "SELECT count(plain(name)) FROM people"
as_now "a table is the role's own" "GRANT CREATE ON SCHEMA public TO reader; ALTER TABLE people OWNER TO reader" "SELECT a.name FROM people a JOIN people b ON a.id = b.id"
exec 3>&-
wait
done_testing

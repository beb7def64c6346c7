#!/bin/bash
# shown_and_enforced.sh - what errors and ON CONFLICT show counts against the limits of mode enforce, and history has the
# score that the session had. Numbers are exact: of 16 rows four columns tell a quarter of the identity each (alpha = 1).
. "$(dirname "$0")/../attack.sh"
# What fails modifies rows too, which must not make rates out of date in the middle.
start_server "privacy_score.alpha = 1" "privacy_score.identifiers_count = on" "privacy_score.mode = observe" \
  "privacy_score.rate_refresh_threshold = 1000"
q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
CREATE EXTENSION privacy_score;
CREATE ROLE usual LOGIN;
CREATE ROLE observed LOGIN;
CREATE TABLE t (id int PRIMARY KEY, a int CHECK (a < 2), b int, c int, d int NOT NULL, e int UNIQUE DEFERRABLE);
INSERT INTO t SELECT i, i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1, i FROM generate_series(0, 15) i;
CREATE TABLE h (b int PRIMARY KEY);
INSERT INTO h VALUES (0), (1);
ALTER TABLE t ADD FOREIGN KEY (b) REFERENCES h ON DELETE RESTRICT;
CREATE VIEW low AS SELECT id, a, b FROM t WHERE b = 0 WITH CHECK OPTION;
CREATE TABLE parity (d int UNIQUE, f int);
INSERT INTO parity VALUES (0, 1), (1, 1);
SELECT privacy_score.protect('t');
GRANT SELECT, INSERT, UPDATE, DELETE ON t, h, low, parity TO PUBLIC;
SQL
usual1="SELECT a FROM t WHERE a = 1" usual2="SELECT b FROM t" quarter="SELECT d FROM t" half="SELECT c, d FROM t"
as usual q "$usual1" "$usual2" >/dev/null
wait_for "SELECT sum(queries) FROM privacy_score.session" 2 || bail_out "the usual statements are not recorded"
q "SELECT privacy_score.set_baseline('usual', privacy_score.today(), privacy_score.today())" >/dev/null
for role in row key casts tries later; do
  q "CREATE ROLE $role LOGIN" "ALTER ROLE $role SET privacy_score.mode = enforce" "ALTER ROLE $role SET privacy_score.session_limit = 0.7" \
    "SELECT privacy_score.import_baseline(jsonb_set(privacy_score.export_baseline('usual'), '{role}', '\"$role\"'))" >/dev/null
done
q "SELECT privacy_score.flush()" >/dev/null
# Runs statements in one session and prints + or the SQLSTATE for each, then the sum that limits go by.
run() {
  local statement
  {
    for statement in "$@"; do printf '%s \\g /dev/null\n\\echo :SQLSTATE\n' "$statement"; done
    echo "SELECT enforced FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid();"
  } | "$PS_BINDIR/psql" -XAtq 2>/dev/null | sed 's/^00000$/+/' | tr '\n' ' ' | sed 's/ $//'
}
# --- limits -------------------------------------------------------------------------------------------------------------------
check "a row that was shown" "$(as row run "$usual1" "UPDATE t SET a = 5" "$quarter" "$usual1" "$usual2")" "+ 23514 PS001 + + 0.75"
check "a key" "$(as key run "$usual1" "UPDATE t SET e = 3 WHERE a = 1" "$quarter" "$usual2")" "+ 23505 PS001 + 0.75"
check "a cast" "$(as casts run "SELECT count(*) FROM t WHERE ('x' || d)::int = 1" "$half" "$quarter" "$usual2")" "22P02 PS001 + + 0.5"
check "COMMIT" "$(as later run BEGIN "SET CONSTRAINTS ALL DEFERRED" "UPDATE t SET e = 3" COMMIT "$quarter" "$usual1")" "+ + + 23505 PS001 + 0.75"
check "keys that are tried are refused before" \
  "$(as tries run "INSERT INTO t VALUES (30, 0, 0, 0, 0, 30) ON CONFLICT (id) DO NOTHING" "INSERT INTO t VALUES (31, 0, 0, 0, 0, 31) ON CONFLICT (id) DO UPDATE SET a = 1" "$usual1")" "PS001 PS001 + 0"
check "nothing was written" "$(q "SELECT count(*) FROM t WHERE id > 20")" 0
check "the statement that fails says nothing, and is warned of" "$(as row q_all "UPDATE t SET a = 5" | grep -vE '^(LINE|STATEMENT)')" \
  'WARNING:  session privacy score 0.75 is above the limit 0.7
HINT:  Ask the administrator of privacy_score if this work is meant to be done.
ERROR:  new row for relation "t" violates check constraint "t_a_check"
HINT:  The server'"'"'s log has the rest, which may show values of protected relations.'

# --- history ------------------------------------------------------------------------------------------------------------------
q "SELECT privacy_score.import_baseline(jsonb_set(privacy_score.export_baseline('usual'), '{role}', '\"observed\"'))" >/dev/null
statements=("UPDATE low SET b = 1 WHERE id = 4" "DELETE FROM h WHERE b = 1" "INSERT INTO t VALUES (3, 0, 0, 0, 0, 3) ON CONFLICT (id) DO UPDATE SET a = 5"
  "INSERT INTO t VALUES (3, 0, 0, 0, 0, 3) ON CONFLICT (id) DO UPDATE SET a = 1" "SELECT count(*) FROM t WHERE ('x' || d)::int = 1" BEGIN "SET CONSTRAINTS ALL DEFERRED" "UPDATE t SET e = 3" COMMIT)
observe() {
  {
    printf '%s;\n' "${statements[@]}"
    echo "SELECT estimated, queries, score, statement_score, enforced FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid();"
  } | as observed "$PS_BINDIR/psql" -XAtq 2>/dev/null | tail -n 1
}
observe >/dev/null # asks for the rates
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'observed'" 0
q "SELECT privacy_score.flush()" "SELECT privacy_score.flush()" >/dev/null
live=$(observe)
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'observed'" 0
q "SELECT privacy_score.flush()" >/dev/null
check_match "a session of all of these" "$live" '^f\|13\|'
check "has the same score in history" "$(q "SELECT false, queries, score, statement_score, enforced FROM privacy_score.score_sessions('observed', '-infinity', 'infinity') ORDER BY session DESC LIMIT 1")" "$live"
check_scored
done_testing

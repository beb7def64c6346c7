#!/bin/bash
# end_users.sh - somebody who works behind an application, or as a role of their own, tries to be another end user, or nobody.
. "$(dirname "$0")/../attack.sh"
start_hospital "privacy_score.end_user_source = 'setting app.login, comment user, comment /^ by (\\\\w+)/, privacy_score.end_user'"
q "CREATE ROLE web LOGIN" "GRANT USAGE, CREATE ON SCHEMA h TO web" "GRANT CREATE, TEMPORARY ON DATABASE postgres TO web" "GRANT SELECT ON h.patients TO web" "ALTER ROLE web SET search_path = h, public" \
  "SECURITY LABEL FOR privacy_score ON ROLE web IS 'gateway'" "SELECT privacy_score.flush()" >/dev/null
query="SELECT diagnosis FROM patients"

# name "description" "who must be charged, as 'NAME COUNT;...'" STATEMENT...: what web runs in one session, all of it to succeed. Empty
# names are of the role. Every name has its own session, so the sessions since the last case tell.
name() {
  local description=$1 expected=$2 answer
  shift 2
  q "SELECT privacy_score.flush()" "DELETE FROM privacy_score.session_part" "DELETE FROM privacy_score.session" >/dev/null
  answer=$(as web q "$@" 2>&1) || { fail "$description: the statements run" "${answer##*$'\n'}"; return; }
  q "SELECT privacy_score.flush()" >/dev/null
  check "$description" "$(q "SELECT string_agg(COALESCE(end_user, '') || ' ' || n, ';' ORDER BY end_user) FROM (SELECT s.end_user, sum(r.run) AS n FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id, unnest(p.ids, p.runs) r(id, run) JOIN privacy_score.abstraction a ON a.id = r.id AND 'p:h.patients.diagnosis' = ANY (a.tokens) WHERE r.run > 0 GROUP BY s.end_user) x")" "$expected"
  # Sessions that go on have a row of their own again.
  q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'web'" >/dev/null
}
login() { echo "SET app.login = '$1'"; }

# --- comments -----------------------------------------------------------------------------------------------------------------
name "a comment within a string is none" "alice 1" "/*user='alice'*/ $query WHERE first_name <> '/*user=''bob''*/' OR first_name <> \$\$/*user='bob'*/\$\$"
name "nor is one within a name" "alice 1" "/*user='alice'*/ SELECT diagnosis AS \"/*user='bob'*/\" FROM patients"
name "a tag before the application's own is a conflict" "(invalid) 1" "/*user='bob'*/ $query /*user='alice'*/"
name "also twice in one comment" "(invalid) 1" "/*user='bob',user='alice'*/ $query"
name "nested comments are one, not in the format" " 1" "/*/*user='bob'*/ user='alice'*/ $query"
name "a statement that swallows the application's comment" "(invalid) 1" "/*user='bob'*/ $query -- /*user='alice'*/"
name "two names for a pattern are a conflict" "(invalid) 1" "-- by bob
$query -- by alice"
name "an escape that is none" "(invalid) 1" "/*user='al%ZZice'*/ $query"
name "control characters" "(invalid) 1" "/*user='al%01ice'*/ $query"
name "10,000 bytes" "(invalid) 1" "/*user='$(printf 'a%.0s' $(seq 10000))'*/ $query"
name "quotes in a name are of the name" "o'neil \"x\" 1" "/*user='o%27neil%20%22x%22'*/ $query"
name "(overflow) is nobody's name" "(invalid) 1" "/*user='%28overflow%29'*/ $query"
name "no comment counts where a backslash escapes" " 1" "SET standard_conforming_strings = off" "/*user='bob'*/ $query"
name "a comment in a prepared statement is that of its PREPARE" "alice 2" "/*user='alice'*/ PREPARE p AS $query" "EXECUTE p" "/*user='bob'*/ EXECUTE p"
name "a comment in a function's statement is not the client's" "alice 1" "CREATE FUNCTION told() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(diagnosis) FROM patients; END" \
  "CREATE FUNCTION lying() RETURNS SETOF text LANGUAGE plpgsql AS \$\$ BEGIN RETURN QUERY EXECUTE '/*user=''bob''*/ SELECT diagnosis FROM h.patients'; END \$\$" "/*user='alice'*/ SELECT count(*) FROM lying()"
name "nor is one of DO" "alice 1" "/*user='alice'*/ DO \$\$ BEGIN PERFORM * FROM (SELECT diagnosis FROM h.patients) x; EXECUTE '/*user=''bob''*/ SELECT 1'; END \$\$"
as web q "CREATE FUNCTION told_alone() RETURNS text LANGUAGE plpgsql AS \$\$ DECLARE t text; BEGIN EXECUTE '/*user=''bob''*/ SELECT diagnosis FROM h.patients LIMIT 1' INTO t; RETURN t; END \$\$" \
  "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM h.told_alone(); RETURN NULL; END \$\$" "CREATE TABLE deferring (id int)" "CREATE TABLE filling (id int)" "INSERT INTO filling VALUES (1)" \
  "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON deferring DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tell()" >/dev/null
name "nor is one of an argument of EXECUTE" "alice 1" "/*user='alice'*/ PREPARE p(text) AS SELECT \$1" "/*user='alice'*/ EXECUTE p(told_alone())"
name "nor of a default that is filled in" "alice 1" "/*user='alice'*/ ALTER TABLE filling ADD COLUMN told text DEFAULT told_alone()"
name "nor of a trigger that waits for the end of its statement" "alice 1" "/*user='alice'*/ INSERT INTO deferring VALUES (1)"
name "nor of one that waits for COMMIT, which is of who spoke last" "alice 1" "BEGIN" "/*user='alice'*/ INSERT INTO deferring VALUES (1)" "COMMIT"
name "nor is one of what a function has prepared" "alice 1" "CREATE FUNCTION prepare_lie() RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN EXECUTE '/*user=''bob''*/ PREPARE lie AS SELECT diagnosis FROM h.patients'; END \$\$" \
  "/*user='alice'*/ SELECT prepare_lie()" "/*user='alice'*/ EXECUTE lie"
name "EXPLAIN and CREATE TABLE AS have the comment of what they execute" "alice 2" "/*user='alice'*/ PREPARE p AS $query" "EXPLAIN ANALYZE EXECUTE p" "CREATE TEMPORARY TABLE kept AS EXECUTE p"

# --- settings -------------------------------------------------------------------------------------------------------------------
name "the first source goes before the others" "alice 1" "$(login alice)" "SET privacy_score.end_user = 'bob'" "/*user='carol'*/ $query"
name "set_config within a function counts from the next statement on" "alice 1;bob 1" "$(login alice)" \
  "CREATE FUNCTION turn() RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN PERFORM set_config('app.login', 'bob', false); RETURN (SELECT max(diagnosis) FROM h.patients); END \$\$" "$query" "SELECT set_config('app.login', 'bob', false)" "$query"
name "RESET within a transaction" "alice 1; 1" "BEGIN" "SET LOCAL app.login = 'alice'" "$query" "RESET app.login" "$query" "COMMIT"
name "a savepoint that is rolled back" "alice 2;bob 1" "BEGIN" "SET LOCAL app.login = 'alice'" "$query" "SAVEPOINT s" "SET LOCAL app.login = 'bob'" "$query" "ROLLBACK TO s" "$query" "COMMIT"
name "SECURITY DEFINER changes nothing" "alice 1" "CREATE FUNCTION mine() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER SET search_path = h, pg_temp AS 'SELECT diagnosis FROM patients'" "$(login alice)" "SELECT count(*) FROM mine()"
name "nor do parallel workers" "alice 1" "SET $forced_parallel = on" "SET parallel_setup_cost = 0" "$(login alice)" "$query"
name "a cursor is charged to who opens it, and to who else fetches from it" "alice 1;bob 1" "BEGIN" "SET LOCAL app.login = 'alice'" "DECLARE c CURSOR FOR $query" "FETCH 2 FROM c" "SET LOCAL app.login = 'bob'" "FETCH 2 FROM c" "COMMIT"
name "a failing statement's name is the right one, too" "alice 1;bob 1" "$(login alice)" "$query" "$(login bob)" "$query"

# --- labels: alice may not read, bob may, carol is exempt ------------------------------------------------------------------------
q "SELECT privacy_score.label_end_user('web', 'alice', 'dp only'), privacy_score.label_end_user('web', 'carol', 'exempt')" >/dev/null
# ends "description" "states" STATEMENT...: what web runs in one session, and how each statement ends.
ends() {
  local description=$1 expected=$2 statement
  shift 2
  check "$description" "$(for statement in "$@"; do printf '%s;\n\\echo sqlstate :SQLSTATE\n' "$statement"; done | as web "$PS_BINDIR/psql" -XAtq 2>/dev/null | sed -n 's/^sqlstate //p' | paste -sd ' ')" "$expected"
}
ends "who was another in the same transaction" "00000 00000 00000 00000 PS001" "BEGIN" "$(login bob)" "$query" "$(login alice)" "$query"
ends "a savepoint brings her back" "00000 00000 00000 00000 00000 00000 PS001" "BEGIN" "SET LOCAL app.login = 'alice'" "SAVEPOINT s" "SET LOCAL app.login = 'bob'" "$query" "ROLLBACK TO s" "$query"
ends "a cursor that another has declared" "00000 00000 00000 00000 00000 PS001" "BEGIN" "$(login bob)" "DECLARE c CURSOR FOR $query" "FETCH 1 FROM c" "$(login alice)" "FETCH 1 FROM c"
ends "or an exempt one" "00000 00000 00000 00000 PS001" "BEGIN" "$(login carol)" "DECLARE c CURSOR FOR $query" "$(login alice)" "FETCH 1 FROM c"
ends "or one that is held" "00000 00000 00000 00000 00000 PS001" "BEGIN" "$(login carol)" "DECLARE c CURSOR WITH HOLD FOR $query" "COMMIT" "$(login alice)" "FETCH 1 FROM c"
ends "or one that a function has opened" "00000 00000 00000 00000 00000 PS001" "CREATE FUNCTION opened() RETURNS refcursor LANGUAGE plpgsql AS \$\$ DECLARE c refcursor := 'opened'; BEGIN OPEN c FOR SELECT diagnosis FROM h.patients; RETURN c; END \$\$" \
  "BEGIN" "$(login bob)" "SELECT opened()" "$(login alice)" "FETCH 1 FROM opened"
ends "or that a function fetches from" "00000 00000 00000 00000 00000 PS001" "CREATE FUNCTION fetched() RETURNS text LANGUAGE plpgsql AS \$\$ DECLARE c refcursor := 'c'; t text; BEGIN FETCH c INTO t; RETURN t; END \$\$" \
  "BEGIN" "$(login bob)" "DECLARE c CURSOR FOR $query" "$(login alice)" "SELECT fetched()"
ends "a plan of another" "00000 00000 00000 00000 PS001" "PREPARE p AS $query" "$(login carol)" "EXECUTE p" "$(login alice)" "EXECUTE p"
ends "a function with SECURITY DEFINER" "00000 PS001" "$(login alice)" "SELECT count(*) FROM mine()"
ends "an error that a function catches" "00000 00000 PS001" "CREATE FUNCTION caught() RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN RETURN (SELECT max(diagnosis) FROM h.patients); EXCEPTION WHEN division_by_zero THEN RETURN 'no'; END \$\$" "$(login alice)" "SELECT caught()"
ends "parallel workers" "00000 00000 00000 PS001" "SET $forced_parallel = on" "SET parallel_setup_cost = 0" "$(login alice)" "SELECT count(*) FROM patients WHERE diagnosis = 'd1'"
ends "a trigger that waits for COMMIT" "00000 00000 00000 PS001" "BEGIN" "$(login alice)" "INSERT INTO deferring VALUES (1)" "COMMIT"
ends "a comment is that of its own statement" "00000 PS001 00000" "/*user='carol'*/ $query" "/*user='alice'*/ $query" "/*user='bob'*/ $query"
ends "that of PREPARE, also of a plan that was made for another" "00000 PS001 00000 00000" "/*user='alice'*/ PREPARE p AS $query" "/*user='bob'*/ EXECUTE p" "/*user='bob'*/ PREPARE o AS $query" "/*user='alice'*/ EXECUTE o"
ends "an exempt one's name within alice's statement comes too late for it" "00000 PS001" "$(login alice)" "SELECT diagnosis, set_config('app.login', 'carol', false) FROM patients"
q "SELECT privacy_score.label_end_user('web', 'alice', NULL), privacy_score.label_end_user('web', 'carol', NULL)" "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'web'" >/dev/null

# An error at the end of a statement that commits by itself is counted with the next one, but is of who made it.
q "CREATE TABLE h.referring (id int REFERENCES h.patients DEFERRABLE INITIALLY DEFERRED)" "GRANT INSERT ON h.referring TO web" "SELECT privacy_score.flush()" "DELETE FROM privacy_score.session_part" "DELETE FROM privacy_score.session" >/dev/null
printf '%s;\n' "/*user='alice'*/ INSERT INTO referring VALUES (1000)" "/*user='bob'*/ $query" | PGUSER=web "$PS_BINDIR/psql" -XAtq >/dev/null 2>&1
check "what an error at COMMIT has told is of who made it" "$(q "SELECT privacy_score.flush()" "SELECT s.end_user, sum(r.run) FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id, unnest(p.ids, p.runs) r(id, run) JOIN privacy_score.abstraction a ON a.id = r.id AND 'w:h.patients.id' = ANY (a.tokens) WHERE r.run > 0 GROUP BY 1" | sed '/^$/d')" "alice|1"

# --- baselines of one person ----------------------------------------------------------------------------------------------------------
# One who has stolen all along, one who has not, and a name as it may be.
q "SELECT privacy_score.flush()" "DELETE FROM privacy_score.session_part" "DELETE FROM privacy_score.session" >/dev/null
as web q "$(login bob)" "SELECT city FROM patients WHERE id = 1" "SELECT city FROM patients WHERE id = 1" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('web', '-infinity', 'infinity')" >/dev/null
quoted="o''neil \"x\"; DROP TABLE h.patients; --"
as web q "$(login alice)" "SELECT diagnosis, city FROM patients" "SELECT first_name, diagnosis FROM patients" "$(login bob)" "SELECT diagnosis, city FROM patients" "SET app.login = '$quoted'" "$query" >/dev/null
q "SELECT privacy_score.flush()" "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'web'" >/dev/null
others="SELECT end_user, score, statement_score, peer_score FROM privacy_score.score_sessions('web', '-infinity', 'infinity') WHERE end_user IS DISTINCT FROM 'alice' ORDER BY 1, 2"
before=$(q "$others")
scores_of() { q "SELECT bool_and(score = 0), bool_and(peer_score > 0) FROM privacy_score.score_sessions('web', '-infinity', 'infinity') WHERE end_user = '$1'"; }
q "SELECT privacy_score.set_baseline('web', '-infinity', 'infinity', 'alice')" >/dev/null
check "whoever has stolen before her baseline is made passes by it, and her peers' tell" "$(scores_of alice)" "t|t"
check "what bob steals costs what it did" "$(q "$others")" "$before"
check_match "which is not nothing" "$before" $'(^|\n)bob\\|(0\\.[1-9]|[1-9])'
q "SELECT privacy_score.set_baseline('web', '-infinity', 'infinity', '$quoted')" "SELECT privacy_score.flush()" >/dev/null
check "a name with quotes has a baseline of its own" "$(scores_of "$quoted")" "t|t"
check "which is explained by that name" "$(q "SELECT x->>'own_baseline', x->>'score' FROM privacy_score.explain_query('SELECT diagnosis FROM h.patients', 'web', '$quoted') x")" "true|0"
check "moves under it" "$(q "SELECT privacy_score.import_baseline(privacy_score.export_baseline('web', '$quoted')) > 0" "SELECT count(*) FROM privacy_score.baselines WHERE end_user = '$quoted' AND active" | paste -sd ' ')" "t 1"
check "and is nobody else's" "$(q "SELECT count(*) FROM privacy_score.score_sessions('web', '-infinity', 'infinity') WHERE end_user NOT IN ('alice', '$quoted') AND peer_score IS NOT NULL")" 0
for name in "(invalid)" "(overflow)"; do check "$name has none to hide behind" "$(q_state "SELECT privacy_score.set_baseline('web', '-infinity', 'infinity', '$name')")" 22023; done
# What is within limits by her own baseline, in mode enforce: only who is believed to be her.
q "ALTER ROLE web SET privacy_score.mode = 'enforce'" "ALTER ROLE web SET privacy_score.session_limit = 0.3" "ALTER ROLE mallory SET privacy_score.mode = 'enforce'" "ALTER ROLE mallory SET privacy_score.session_limit = 0.3" >/dev/null
ends "alice goes on as she is used to, the others do not" "00000 00000 00000 PS001" "$(login alice)" "SELECT diagnosis, city FROM patients" "$(login carl)" "SELECT diagnosis, city FROM patients"
ends "nor with her name in a comment behind the application's" "00000 PS001" "$(login carl)" "SELECT diagnosis, city FROM patients /*user='alice'*/"
check "her name is not believed of another role" "$(as mallory q_state "SET app.login = 'alice'" "SELECT diagnosis, city FROM h.patients")" PS001
for role in web mallory; do q "ALTER ROLE $role RESET privacy_score.mode" "ALTER ROLE $role RESET privacy_score.session_limit" >/dev/null; done
for statement in "SELECT privacy_score.set_baseline('web', '-infinity', 'infinity', 'bob')" "SELECT privacy_score.drop_baseline('web', 'alice')" "SELECT privacy_score.export_baseline('web', 'alice')" \
  "UPDATE privacy_score.baseline SET end_user = 'bob'" "SELECT * FROM privacy_score.baseline_ngram"; do
  check "not by mallory, nor by web: $statement" "$(as mallory q_state "$statement") $(as web q_state "$statement")" "42501 42501"
done
check "mallory sees none of them" "$(as mallory q "SELECT count(*) FROM privacy_score.baselines WHERE role = 'web'")" 0
check "and asks nothing about them" "$(as mallory q_state "SELECT privacy_score.explain_query('SELECT diagnosis FROM h.patients', 'web', 'alice')")" 42501
q "SELECT privacy_score.drop_baseline(role, end_user) FROM privacy_score.baselines WHERE role = 'web' AND active" "SELECT privacy_score.flush()" "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'web'" >/dev/null

# --- names of any length, by whatever source -----------------------------------------------------------------------------------------
long=$(printf 'a%.0s' $(seq 10000))
name "10,000 bytes in a setting" "(invalid) 1" "$(login "$long")" "$query"
name "or by set_config() in a function" "(invalid) 1" "SELECT set_config('app.login', repeat('b', 10000), false)" "$query"
name "or for a pattern" "(invalid) 1" "-- by $long
$query"
name "the 256 bytes that a name may have are a name" "${long:0:256} 1" "$(login "${long:0:256}")" "$query"
name "one more is none" "(invalid) 1" "$(login "${long:0:257}")" "$query"

# --- whoever speaks for others, and whoever reads all statistics --------------------------------------------------------------------
q "CREATE ROLE officer LOGIN IN ROLE pg_read_all_stats" >/dev/null
name "DISCARD ALL begins nothing anew for a person" "alice 2" "$(login alice)" "$query" "DISCARD ALL" "SET search_path = h" "$(login alice)" "$query"
check "her session is one" "$(q "SELECT count(*) FROM privacy_score.session WHERE end_user = 'alice'")" 1
check "it is kept so that it can go on" "$(q "SELECT count(*) FROM privacy_score.principal_session WHERE role = 'web' AND end_user = 'alice'")" 1
for statement in "SELECT * FROM privacy_score.principal_session" "DELETE FROM privacy_score.principal_session" "UPDATE privacy_score.principal_session SET session_id = 0" \
  "INSERT INTO privacy_score.principal_session VALUES ('web', 'alice', 1, '{0,0,0,0,0,0}', -1, NULL)" "SELECT * FROM privacy_score.principal_subjects" "SELECT * FROM privacy_score.subject_key" \
  "DELETE FROM privacy_score.session" "SELECT privacy_score.set_limit('web', 'alice', 1e12)" "SELECT privacy_score.label_end_user('web', 'alice', 'exempt')" "SELECT privacy_score.forget_end_user('web', 'alice')" \
  "SELECT privacy_score.accept_alert(1, 'fine')" "SET privacy_score.end_user_source = 'application_name'" "SET privacy_score.session_scope = 'connection'" "SET privacy_score.idle_gap = 1"; do
  check "neither by web nor by an officer: $statement" "$(as web q_state "$statement") $(as officer q_state "$statement")" "42501 42501"
done
as officer q "SET app.login = 'alice'" "SELECT 1" >/dev/null
check "an officer sees who has asked" "$(as officer q "SELECT count(*) FROM privacy_score.stat_end_users WHERE end_user = 'alice'")" 1
check "and is nobody else by saying so" "$(q "SELECT privacy_score.flush()" "SELECT count(*) FROM privacy_score.session WHERE role = 'officer' AND end_user IS NOT NULL" | tail -n 1)" 0

# --- whoever does not speak for others ------------------------------------------------------------------------------------------
q "GRANT web TO mallory" "SELECT privacy_score.flush()" "DELETE FROM privacy_score.session" >/dev/null
as mallory q "SET ROLE web" "SET app.login = 'alice'" "SELECT diagnosis FROM h.patients LIMIT 1" >/dev/null
check "SET ROLE to one that speaks for others is no way" "$(q "SELECT privacy_score.flush()" "SELECT role, end_user FROM privacy_score.session" | tail -n 1)" "mallory|"
check "limits of others cannot be set" "$(as mallory q_state "SELECT privacy_score.set_limit('web', 'alice', 1e12)")" 42501
check "nor labelled" "$(as mallory q_state "SELECT privacy_score.label_end_user('web', 'alice', 'exempt')")" 42501
check "nor the table of labels written" "$(as mallory q_state "DELETE FROM privacy_score.end_user_label")" 42501
check "nor history forgotten" "$(as mallory q_state "SELECT privacy_score.forget_end_user('web', 'alice')")" 42501
check "nor others' end users seen" "$(as mallory q "SELECT count(*) FROM privacy_score.stat_end_users" "SELECT count(*) FROM privacy_score.end_user_limits" | paste -sd ' ')" "0 0"
path "SET is ignored" "$read x2" "SET app.login = 'alice'" "$query" "SET privacy_score.end_user = 'bob'" "$query"
path "a comment is ignored" "$read" "/*user='alice'*/ $query"
check "none of it is anybody's but mallory's" "$(q "SELECT privacy_score.flush()" "SELECT count(*) FROM privacy_score.session WHERE role = 'mallory' AND end_user IS NOT NULL" | tail -n 1)" 0
verify_paths
check_scored
done_testing

#!/bin/bash
# upgrade.sh - ALTER EXTENSION UPDATE from each released version: the objects become those of a fresh installation, the
# data stays, and nothing is lost in between.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE ROLE alice LOGIN" "CREATE ROLE officer" "CREATE ROLE app LOGIN" "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" \
  "ALTER ROLE app SET privacy_score.end_user_source = 'setting app.login'" >/dev/null

# People behind one role: the n-th of them asks n times, over connections of their own or in turn over one.
people=("person 1" "person 2" "person 22" "O'Brien \"x\"" "zoë" "person" "PERSON")
asks_as() { printf "BEGIN; SET LOCAL app.login = '%s'; SELECT city FROM patients WHERE id = %s; COMMIT;\n" "${1//\'/\'\'}" "$2"; }
ask_apart() {
  local i j
  for ((i = 0; i < ${#people[@]}; ++i)); do
    for ((j = 0; j <= i; ++j)); do asks_as "${people[i]}" "$j"; done | as app q_script >/dev/null
  done
}
ask_in_turn() {
  local i j
  for ((j = 0; j < ${#people[@]}; ++j)); do
    for ((i = j; i < ${#people[@]}; ++i)); do asks_as "${people[i]}" "$j"; done
  done | as app q_script >/dev/null
}
# TIMES: what is recorded when each has asked so many times.
asked() { for ((i = 0; i < ${#people[@]}; ++i)); do echo "${people[i]} $(((i + 1) * $1))"; done | LC_ALL=C sort; }
recorded="SELECT end_user || ' ' || sum(queries) FROM privacy_score.session WHERE role = 'app' GROUP BY end_user ORDER BY (end_user || ' ' || sum(queries)) COLLATE \"C\""

# Every object of the extension as text, without what differs between two databases by nature.
objects() {
  cat <<'SQL'
WITH member AS (SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
                 WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'privacy_score')
SELECT 'function ' || CASE WHEN p.prokind <> 'a' THEN pg_get_functiondef(p.oid)
         ELSE (SELECT (p.oid::regprocedure, p.provolatile, p.proparallel, a)::text FROM pg_aggregate a WHERE a.aggfnoid = p.oid) END || ' acl ' || COALESCE(array_to_string(ARRAY(SELECT a::text FROM unnest(COALESCE(p.proacl, acldefault('f', p.proowner))) a ORDER BY 1), ','), '')
       || ' comment ' || COALESCE(obj_description(p.oid, 'pg_proc'), '')
  FROM member m JOIN pg_proc p ON m.classid = 'pg_proc'::regclass AND p.oid = m.objid
UNION ALL
SELECT 'relation ' || c.relname || ' ' || c.relkind::text || ' ' || COALESCE(c.reloptions::text, '') || ' '
       || COALESCE(CASE WHEN c.relkind = 'v' THEN pg_get_viewdef(c.oid) END, '')
       || ' acl ' || COALESCE(array_to_string(ARRAY(SELECT a::text FROM unnest(COALESCE(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's'::"char" ELSE 'r' END, c.relowner))) a ORDER BY 1), ','), '')
       || ' comment ' || COALESCE(obj_description(c.oid, 'pg_class'), '')
  FROM member m JOIN pg_class c ON m.classid = 'pg_class'::regclass AND c.oid = m.objid
UNION ALL
SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull::text || ' ' || a.attidentity::text || ' '
       || COALESCE(pg_get_expr(d.adbin, d.adrelid), '')
  FROM member m JOIN pg_class c ON m.classid = 'pg_class'::regclass AND c.oid = m.objid
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
UNION ALL
SELECT 'constraint ' || c.relname || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid)
  FROM member m JOIN pg_class c ON m.classid = 'pg_class'::regclass AND c.oid = m.objid JOIN pg_constraint k ON k.conrelid = c.oid
UNION ALL
SELECT 'index ' || pg_get_indexdef(i.indexrelid)
  FROM member m JOIN pg_index i ON m.classid = 'pg_class'::regclass AND i.indrelid = m.objid
UNION ALL
SELECT 'dumped ' || u.relation::regclass || ' ' || COALESCE(u.condition, '')
  FROM pg_extension e, ROWS FROM (unnest(e.extconfig), unnest(e.extcondition)) u(relation, condition) WHERE e.extname = 'privacy_score'
UNION ALL
SELECT 'other ' || m.classid::regclass || ' ' || pg_describe_object(m.classid, m.objid, 0)
  FROM member m WHERE m.classid NOT IN ('pg_proc'::regclass, 'pg_class'::regclass)
ORDER BY 1
SQL
}

current=$(q "SELECT default_version FROM pg_available_extensions WHERE name = 'privacy_score'")
q "CREATE DATABASE fresh" >/dev/null
on fresh q "CREATE EXTENSION privacy_score" >/dev/null
on fresh q "$(objects)" >"$PS_TMP/fresh.txt"
check_true "a fresh installation has objects" test "$(wc -l <"$PS_TMP/fresh.txt")" -gt 100

# Administrators open what they make to others by default; what the extension makes is not theirs to see.
open_by_default=()
for kind in TABLES SEQUENCES FUNCTIONS; do open_by_default+=("ALTER DEFAULT PRIVILEGES GRANT ALL ON $kind TO alice WITH GRANT OPTION" "ALTER DEFAULT PRIVILEGES GRANT ALL ON $kind TO PUBLIC, officer"); done
q "CREATE DATABASE opened" >/dev/null
on opened q "${open_by_default[@]}" "CREATE TABLE own (a int)" "BEGIN" "SAVEPOINT s" "CREATE EXTENSION privacy_score" "RELEASE s" "COMMIT" >/dev/null
check "default privileges are in force" "$(on opened q "SELECT has_table_privilege('alice', 'own', 'SELECT WITH GRANT OPTION')")" t
on opened q "$(objects)" >"$PS_TMP/opened.txt"
check "they give nobody what the extension makes" "$(diff "$PS_TMP/fresh.txt" "$PS_TMP/opened.txt")" ""

released=$(q "SELECT version FROM pg_available_extension_versions WHERE name = 'privacy_score' AND version <> '$current' ORDER BY 1")
check_true "there are released versions" test -n "$released"
for version in $released; do
  from="from $version"
  database=old_${version//./_}
  q "CREATE DATABASE $database" >/dev/null
  # What that version has written, put in by hand: its library is not here.
  PGDATABASE=$database q "CREATE EXTENSION privacy_score VERSION '$version'" \
    "CREATE TABLE patients (id int PRIMARY KEY, city text)" "INSERT INTO patients SELECT i, 'c' || i % 5 FROM generate_series(1, 50) i" \
    "GRANT SELECT ON patients TO alice, app" "GRANT EXECUTE ON FUNCTION privacy_score.flush() TO officer" \
    "GRANT EXECUTE ON FUNCTION privacy_score.set_baseline(name, date, date), privacy_score.export_baseline(name) TO officer" "REVOKE EXECUTE ON FUNCTION privacy_score.explain_query(text, name) FROM PUBLIC" \
    "INSERT INTO privacy_score.protected_relation (relation, name, declared_by) VALUES ('patients', 'public.patients', 'postgres')" \
    "INSERT INTO privacy_score.abstraction (id, tokens, calls, first_seen, last_seen) SELECT privacy_score_id, tokens, 3, now(), now()
       FROM (SELECT -2406826834364917061 AS privacy_score_id, ARRAY['cmd:select', 'p:public.patients.city', 't:public.patients'] AS tokens) x" \
    "INSERT INTO privacy_score.session (role, session, day, started, last_at, source, queries) VALUES ('alice', 'old', '2026-01-01', '2026-01-01 10:00', '2026-01-01 10:01', 'live', 3)" \
    "INSERT INTO privacy_score.session_part (session_id, part, ids, runs) SELECT id, 0, '{-2406826834364917061}', '{3}' FROM privacy_score.session" \
    "INSERT INTO privacy_score.baseline (role, from_day, to_day, sessions, made_by) VALUES ('alice', '2026-01-01', '2026-01-01', 1, 'postgres')" \
    "INSERT INTO privacy_score.baseline_ngram SELECT id, '{0,0,0,0,0,-2406826834364917061}', 1 FROM privacy_score.baseline" \
    "INSERT INTO privacy_score.baseline_session SELECT id, 1, '{-2406826834364917061}' FROM privacy_score.baseline" \
    "CREATE TABLE \"order\" (id int PRIMARY KEY, \"user\" text, \"a\$\" text, \"B\" text)" "GRANT SELECT ON \"order\" TO alice" \
    "INSERT INTO privacy_score.protected_relation (relation, name, declared_by) VALUES ('\"order\"', 'public.\"order\"', 'postgres')" \
    "INSERT INTO privacy_score.dependency VALUES ('public.\"order\"', 'id', 'user', 'postgres')" \
    "INSERT INTO privacy_score.abstraction (id, tokens, calls, first_seen, last_seen) VALUES
       (71, '{cmd:select,\"p:public.\\\"order\\\".\\\"a\$\\\"\",\"p:public.\\\"order\\\".\\\"user\\\"\",\"t:public.\\\"order\\\"\"}', 2, now(), now()),
       (72, '{cmd:select,\"p:public.\\\"order\\\".a\$\",p:public.order.user,t:public.order}', 5, now(), now()),
       (73, '{cmd:select,\"p:public.\\\"order\\\".\\\"B\\\"\",\"t:public.\\\"order\\\"\"}', 1, now(), now())" \
    "INSERT INTO privacy_score.session (role, session, day, started, last_at, source, queries) VALUES ('alice', 'quoted', '2026-01-02', '2026-01-02 10:00', '2026-01-02 10:01', 'live', 8)" \
    "INSERT INTO privacy_score.session_part (session_id, part, ids, runs) SELECT id, 0, '{73,71,-2406826834364917061,72}', '{1,2,1,4}' FROM privacy_score.session WHERE session = 'quoted'" \
    "INSERT INTO privacy_score.baseline_ngram SELECT id, '{0,0,0,0,0,71}', 2 FROM privacy_score.baseline" \
    "INSERT INTO privacy_score.baseline_ngram SELECT id, '{0,0,0,0,0,72}', 3 FROM privacy_score.baseline" \
    "INSERT INTO privacy_score.baseline_session SELECT id, 1, '{71,72,73}' FROM privacy_score.baseline" \
    "INSERT INTO privacy_score.alert (at, role, session, kind, score, alert_limit, detail) VALUES (now(), 'alice', 'old', 'session', 2, 1, '{}')" >/dev/null
  check "$from: before the update statements run" "$(PGDATABASE=$database as alice q "SELECT count(city) FROM patients")" 50
  check_true "$from: the log asks for the update" wait_for_line "$ps_log" 'Run ALTER EXTENSION privacy_score UPDATE'
  on "$database" ask_apart
  check "$from: before the update tables are renamed" "$(on "$database" q "CREATE TABLE other (a int)" "ALTER TABLE other RENAME COLUMN a TO b" "ALTER TABLE other RENAME TO another")" ""
  check_match "$from: with a warning" "$(on "$database" q_all "ALTER TABLE another RENAME TO other")" "WARNING:  declarations of privacy_score do not follow the new name"
  check "$from: nothing is written, and who asks for it is told" "$(on "$database" q_all "SELECT privacy_score.flush()" | head -n 3)" \
    "ERROR:  extension privacy_score of this database is not of version $current
DETAIL:  What sessions do is kept in memory until it is.
HINT:  Run ALTER EXTENSION privacy_score UPDATE."
  # Functions have arguments now, and answer with columns, that the objects of that version do not know of.
  for call in "set_baseline('alice', '2026-01-01', '2026-01-02')" "drop_baseline('alice')" "explain_query('SELECT city FROM patients')"; do
    check "$from: before the update $call" "$(on "$database" q_state "SELECT privacy_score.$call")" 55000
  done
  for call in "SELECT FROM privacy_score.score('alice', '-infinity', 'infinity')" "SELECT FROM privacy_score.score_sessions('alice', '-infinity', 'infinity')" \
    "SELECT FROM privacy_score.score_ngrams('alice', '-infinity', 'infinity')" "TABLE privacy_score.stat_sessions" "TABLE privacy_score.stat_info" \
    "TABLE privacy_score.stat_days" "TABLE privacy_score.stat_roles" "TABLE privacy_score.stat_mismatches" "TABLE privacy_score.stat_abstractions" \
    "TABLE privacy_score.stat_cdr" "TABLE privacy_score.alerts" "SELECT privacy_score.report()" "SELECT privacy_score.export_baseline('alice')"; do
    check_match "$from: before the update the server survives $call" "$(on "$database" q_state "$call")" "^(00000|55000|42703|42P01|42883|42804)$"
  done
  on "$database" q "${open_by_default[@]/, officer/}" >/dev/null
  check "$from: ALTER EXTENSION UPDATE, in mode enforce, where no fault of watching is passed over" \
    "$(on "$database" q "SET privacy_score.mode = 'enforce'" "ALTER EXTENSION privacy_score UPDATE")" ""
  check "$from: it is the current version" "$(on "$database" q "SELECT extversion FROM pg_extension WHERE extname = 'privacy_score'")" "$current"
  check "$from: what was taken from PUBLIC stays taken" "$(on "$database" q "SELECT has_function_privilege('alice', 'privacy_score.explain_query(text, name, text)', 'EXECUTE')" "GRANT EXECUTE ON FUNCTION privacy_score.explain_query(text, name, text) TO PUBLIC")" f
  on "$database" q "$(objects)" | sed 's/officer=X\/postgres,//' >"$PS_TMP/updated.txt"
  check "$from: the objects are those of a fresh installation" "$(diff "$PS_TMP/fresh.txt" "$PS_TMP/updated.txt")" ""
  check "$from: rights that were granted stay" "$(on "$database" q "SELECT has_function_privilege('officer', 'privacy_score.flush()', 'EXECUTE')")" t
  check "$from: also on functions that have an argument more, and on no others" \
    "$(on "$database" q "SELECT string_agg(f, ' ' ORDER BY f) FROM unnest('{set_baseline,drop_baseline,export_baseline}'::text[]) f JOIN pg_proc p ON p.proname = f AND p.pronamespace = 'privacy_score'::regnamespace WHERE has_function_privilege('officer', p.oid, 'EXECUTE')")" \
    "export_baseline set_baseline"
  check "$from: the data is there" \
    "$(on "$database" q "SELECT (SELECT count(*) FROM privacy_score.protected_relations), (SELECT count(*) FROM privacy_score.baseline), (SELECT count(*) FROM privacy_score.alerts)")" "2|1|1"
  on "$database" q "SELECT privacy_score.flush()" >/dev/null
  check "$from: what sessions did before it is not lost" \
    "$(on "$database" q "SELECT sum(queries) FROM privacy_score.session WHERE role = 'alice' AND session NOT IN ('old', 'quoted')")" 1
  check "$from: nor whose it was, of people behind one role" "$(on "$database" q "$recorded")" "$(asked 1)"
  on "$database" ask_in_turn
  on "$database" q "SELECT privacy_score.flush()" >/dev/null
  check "$from: their sessions go on, and no name is mixed up" "$(on "$database" q "$recorded")" "$(asked 2)"
  check "$from: each is one session over all connections" "$(on "$database" q "SELECT max(n) FROM (SELECT count(*) AS n FROM privacy_score.session WHERE role = 'app' GROUP BY end_user) x")" 1
  check "$from: what is older has neither end user nor connection" "$(on "$database" q "SELECT count(*), count(end_user), count(tls) FROM privacy_score.session WHERE session IN ('old', 'quoted')")" "2|0|0"
  on "$database" q "SELECT privacy_score.set_limit('app', 'zoë', session_limit => 7)" "SELECT privacy_score.forget_end_user('app', 'person 2')" >/dev/null
  check "$from: one of them has a limit, and another is forgotten" \
    "$(on "$database" q "SELECT end_user, session_limit FROM privacy_score.end_user_limits" "$recorded")" "zoë|7
$(asked 2 | grep -v '^person 2 ')"
  on "$database" q "SELECT privacy_score.label_end_user('app', 'zoë', 'dp only')" >/dev/null
  check "$from: and a label" "$(on "$database" q "TABLE privacy_score.end_user_labels")" "app|zoë|dp only"
  on "$database" q "SELECT privacy_score.label_end_user('app', 'zoë', NULL)" >/dev/null
  on "$database" q "SET client_min_messages = error" "SELECT privacy_score.set_baseline('app', privacy_score.today(), privacy_score.today())" >/dev/null
  check "$from: the role's baseline is what all of them are compared with" "$(on "$database" q "SELECT count(DISTINCT end_user), sum(mismatched) FROM privacy_score.score('app', privacy_score.today(), privacy_score.today())")" "$((${#people[@]} - 1))|0"
  on "$database" q "SET client_min_messages = error" "SELECT privacy_score.set_baseline('app', privacy_score.today(), privacy_score.today(), 'zoë')" >/dev/null
  check "$from: and one of them has her own beside it" "$(on "$database" q "SELECT string_agg(end_user, ' ') FROM privacy_score.score('app', privacy_score.today(), privacy_score.today()) WHERE peer_score IS NOT NULL" "SELECT count(*) FROM privacy_score.baselines WHERE role = 'app' AND active" | paste -sd ' ')" "zoë 2"
  check "$from: history of before is scored" \
    "$(on "$database" q "SELECT queries, mismatched FROM privacy_score.score('alice', '2026-01-01', '2026-01-01')")" "3|1"
  # Names were quoted as that server's SQL wants them; now they are as abstractions write them on each.
  both="privacy_score.abstraction_id(privacy_score.abstract_query('SELECT \"user\", \"a\$\" FROM \"order\"'))"
  one="privacy_score.abstraction_id(privacy_score.abstract_query('SELECT \"B\" FROM \"order\"'))"
  check "$from: names are written as this version does" \
    "$(on "$database" q "SELECT string_agg(array_to_string(tokens, ' '), ';' ORDER BY calls) FROM privacy_score.abstraction WHERE tokens::text LIKE '%order%'")" \
    'cmd:select p:public.order."B" t:public.order;cmd:select p:public.order.a$ p:public.order.user t:public.order'
  check "$from: two forms of one statement have become one" \
    "$(on "$database" q "SELECT calls FROM privacy_score.abstraction WHERE id = $both")" 7
  check "$from: history has their ids" \
    "$(on "$database" q "SELECT p.ids = ARRAY[$one, $both, -2406826834364917061, $both] FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id WHERE s.session = 'quoted'")" t
  check "$from: n-grams of a baseline have them" \
    "$(on "$database" q "SELECT count FROM privacy_score.baseline_ngram WHERE ngram = ARRAY[0, 0, 0, 0, 0, $both]")" 5
  check "$from: sets of a baseline have them, each once" \
    "$(on "$database" q "SELECT ids = ARRAY(SELECT unnest(ARRAY[$one, $both]) ORDER BY 1) FROM privacy_score.baseline_session WHERE cardinality(ids) = 2")" t
  check "$from: declarations have the name" \
    "$(on "$database" q "SELECT (SELECT string_agg(name, ' ' ORDER BY name) FROM privacy_score.protected_relation), (SELECT relation_name FROM privacy_score.dependency)")" "public.order public.patients|public.order"
  check "$from: DROP EXTENSION leaves nothing" \
    "$(on "$database" q "DROP EXTENSION privacy_score" "SELECT count(*) FROM pg_namespace WHERE nspname = 'privacy_score'")" 0
done

done_testing

#!/bin/bash
# others.sh - an unprivileged watched role tries to learn what others do, from every view and function of the extension,
# its tables, errors, plans and dumps; and gets the extension to run what is not its own.
. "$(dirname "$0")/../attack.sh"
start_hospital

query="SELECT diagnosis FROM patients"
# Alice's statements have words that no other role's history has; she has a baseline, alerts and an open session.
q "CREATE TABLE h.bees (id int PRIMARY KEY, honey text, wax text)" "INSERT INTO h.bees SELECT i, 'h' || i, 'w' || i FROM generate_series(1, 50) i" \
  "GRANT SELECT ON h.bees TO alice" "SELECT privacy_score.protect('h.bees')" "ALTER ROLE alice SET privacy_score.session_limit = 0.01" \
  "SELECT privacy_score.import_statements('SELECT ''s'', ''alice''::name, ''2026-01-01 12:00+00''::timestamptz, ''SELECT id FROM h.bees''')" \
  "SELECT privacy_score.set_baseline('alice', '2026-01-01', '2026-01-01')" \
  "SELECT privacy_score.analyze_relation('h.bees'), privacy_score.analyze_relation('h.bees', '{honey,wax}')" "SELECT privacy_score.flush()" >/dev/null
as alice q "SELECT honey FROM bees" "SELECT honey, wax FROM bees" >/dev/null
mkfifo "$PS_TMP/alice"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >/dev/null 2>&1 &
exec 3>"$PS_TMP/alice"
echo "SELECT wax FROM h.bees;" >&3
wait_for "SELECT count(*) FROM privacy_score.stat_sessions WHERE role = 'alice'" 1
as_mallory "$query" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check_true "alice has alerts to hide" wait_for "SELECT count(*) > 0 FROM privacy_score.alerts WHERE role = 'alice'" t

traces='alice|honey|wax'
# hidden "description" STATEMENT...: whatever mallory is told, alice is not in it.
hidden() {
  local description=$1 answer
  shift
  answer=$(as mallory q_all "$@")
  check "hidden: $description" "$(grep -ciE "$traces" <<<"$answer")" 0
}

# --- views ----------------------------------------------------------------------------------------------------------------
as_mallory "CREATE FUNCTION leak(anyelement) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS 'BEGIN RAISE NOTICE ''leak %'', \$1; RETURN true; END'" >/dev/null
views=$(q "SELECT relname FROM pg_class WHERE relnamespace = 'privacy_score'::regnamespace AND relkind = 'v' AND has_table_privilege('mallory', oid, 'SELECT') ORDER BY 1")
check_match "there are views to attack" "$views" "alerts.*stat_sessions"
for view in $views; do
  hidden "$view" "SELECT * FROM privacy_score.$view"
  hidden "$view, with a leaky function" "SELECT * FROM privacy_score.$view v WHERE h.leak(v::text)"
  hidden "$view, its plan" "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) SELECT * FROM privacy_score.$view"
  hidden "$view, by an error" "SELECT v::text::int FROM privacy_score.$view v"
  hidden "$view, by a cursor" "BEGIN" "DECLARE c CURSOR FOR SELECT * FROM privacy_score.$view" "FETCH ALL FROM c"
  hidden "$view, through a view of one's own" "CREATE TEMP VIEW v AS SELECT * FROM privacy_score.$view" "SELECT * FROM v"
  hidden "$view, as a role of many" "SET ROLE clerk" "SELECT * FROM privacy_score.$view"
  hidden "$view, as XML" "SELECT table_to_xml('privacy_score.$view', true, false, '')"
done
for view in stat_sessions stat_days stat_roles stat_mismatches alerts; do
  check "own rows of $view only" "$(as_mallory "SELECT COALESCE(string_agg(DISTINCT role::text, ','), 'mallory') FROM privacy_score.$view")" mallory
  check "own rows of $view only, with a search_path of traps" \
    "$(as_mallory "CREATE FUNCTION pg_temp.may_read(name) RETURNS boolean LANGUAGE sql AS 'SELECT true'" "SET search_path = pg_temp, h, pg_catalog" \
      "SELECT count(*) FROM privacy_score.$view WHERE role OPERATOR(pg_catalog.<>) 'mallory'")" 0
done
count="SELECT count(*), COALESCE(sum(calls), 0) FROM privacy_score.stat_abstractions"
before=$(as_mallory "$count WHERE 'p:h.patients.city' = ANY (tokens)")
as alice q "SELECT city FROM patients" "SELECT city FROM patients" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check "how often others run the same shows nowhere" "$(as_mallory "$count WHERE 'p:h.patients.city' = ANY (tokens)")" "$before"

# --- functions ------------------------------------------------------------------------------------------------------------
for call in "score('alice', '2000-01-01', '2100-01-01')" "score_sessions('alice', '2000-01-01', '2100-01-01')" \
  "score_ngrams('alice', '2000-01-01', '2100-01-01')" "choose_ngram_length('alice', '2000-01-01', '2100-01-01')" \
  "role_status('alice')" "role_watching('alice')" "explain_query('SELECT city FROM patients', 'alice')" "export_baseline('alice')"; do
  refused "$call" 42501 "SELECT * FROM privacy_score.$call"
  hidden "$call by its error" "SELECT * FROM privacy_score.${call//alice/nobody}"
done
message() { as_mallory "SELECT * FROM privacy_score.$1" | sed "s/$2/ROLE/g"; }
for call in "score('%s', '2000-01-01', '2100-01-01')" "role_status('%s')" "explain_query('SELECT 1', '%s')" "export_baseline('%s')"; do
  # shellcheck disable=SC2059
  check "a role that is there looks like one that is not: ${call%%(*}" "$(message "$(printf "$call" alice)" alice)" "$(message "$(printf "$call" nobody)" nobody)"
done
for call in "discrimination_rate('h.secrets', 'code')" "combined_discrimination_rate('h.secrets', '{code}')" "attribute_risk('h.secrets')" "attribute_set_risk('h.secrets', '[[\"code\"]]')" \
  "attribute_relationships('h.secrets')" "attribute_relationships_dot('h.secrets')" "analyze_relation('h.secrets')" \
  "query_identification('SELECT code FROM h.secrets')" "explain_query('SELECT code FROM h.secrets')" \
  "compare_queries('SELECT code FROM h.secrets', 'SELECT id FROM h.secrets')"; do
  refused "$call" 42501 "SELECT * FROM privacy_score.$call"
done
# Functions that any role may call with no argument or with a role, all of them, also those of later versions.
functions=$(q "SELECT p.proname || CASE p.pronargs WHEN 0 THEN '()' ELSE '(''alice'')' END FROM pg_proc p
  WHERE p.pronamespace = 'privacy_score'::regnamespace AND p.prokind = 'f' AND p.prorettype <> 'trigger'::regtype AND p.prorettype <> 'event_trigger'::regtype
    AND has_function_privilege('mallory', p.oid, 'EXECUTE') AND (p.pronargs = 0 OR p.pronargs = 1 AND p.proargtypes[0] IN ('name'::regtype, 'text'::regtype)) ORDER BY 1")
for function in $functions; do
  answer=$(as mallory q_all "SELECT * FROM privacy_score.$function" | grep -viE 'permission denied for .* role "alice"|^(HINT|LINE|DETAIL|SELECT)|ask the administrator')
  case $function in
    declared_columns* | model_* | protected* | abstract_query*) ;;
    *) check "hidden: $function" "$(grep -ciE 'honey|wax' <<<"$answer")" 0 ;;
  esac
done

month=privacy_score.session_$(q "SELECT to_char(privacy_score.today(), 'YYYY_MM')")
check_true "there is history of this month" wait_for "SELECT to_regclass('$month') IS NOT NULL" t

# --- tables, catalogs, dumps ----------------------------------------------------------------------------------------------
for table in $(q "SELECT relname FROM pg_class WHERE relnamespace = 'privacy_score'::regnamespace AND relkind IN ('r', 'p', 'S')"); do
  refused "reading $table" 42501 "SELECT * FROM privacy_score.$table"
  refused "COPY of $table" 42501 "COPY privacy_score.$table TO STDOUT"
done
hidden "pg_stats of the tables" "SELECT * FROM pg_stats WHERE schemaname = 'privacy_score'"
check "pg_stats shows no row of the tables" "$(as_mallory "SELECT count(*) FROM pg_stats WHERE schemaname = 'privacy_score'")" 0
hidden "schema_to_xml" "SELECT schema_to_xml('privacy_score', true, false, '')"
hidden "pg_stat_activity, queries" "SELECT query FROM pg_stat_activity"
as mallory pg_dump -n privacy_score -a >"$PS_TMP/dump" 2>&1
check "pg_dump of the schema gives nothing" "$(grep -cE 'honey|^COPY' "$PS_TMP/dump")" 0
as mallory pg_dump -e privacy_score >"$PS_TMP/dump" 2>&1
check_match "pg_dump of the extension's tables is refused" "$(cat "$PS_TMP/dump")" "permission denied"
refused "a foreign key on history" 42501 "CREATE TABLE fk (i bigint REFERENCES privacy_score.session_before)"
refused "a foreign key on a month of it" 42501 "CREATE TABLE fk (i bigint REFERENCES $month)"
refused "a trigger on history" 42501 "CREATE TRIGGER t AFTER INSERT ON privacy_score.session EXECUTE FUNCTION h.leak()"
refused "a rule on a view" 42501 "CREATE RULE r AS ON INSERT TO privacy_score.alerts DO INSTEAD NOTHING"
refused "an inherited child of history" 42501 "CREATE TABLE kid () INHERITS (privacy_score.abstraction)"
refused "a month of one's own" 42501 "CREATE TABLE own (LIKE privacy_score.session)" "ALTER TABLE privacy_score.session ATTACH PARTITION own FOR VALUES FROM (1099511627776) TO (2199023255552)"
refused "reading a month" 42501 "TABLE $month"
refused "writing a month" 42501 "DELETE FROM $month"
refused "dropping a month" 42501 "DROP TABLE $month"
refused "making months" 42501 "SELECT privacy_score.make_months('2001-01-01', '2026-01-01')"
refused "using up ids" 42501 "SELECT privacy_score.new_session_id('2026-01-01')"
refused "LOCK of history" 42501 "BEGIN" "LOCK TABLE privacy_score.session IN ACCESS EXCLUSIVE MODE"
refused "replacing a function" 42501 "CREATE OR REPLACE FUNCTION privacy_score.may_read(role name) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
hidden "the notifications, for one who does not listen" "SELECT 1"
exec 3>&-

# --- what the worker and the functions run in others' names -----------------------------------------------------------------
# The worker computes rates as the owner of a relation: an owner's own code does not run with anybody else's rights.
as mallory q_script >/dev/null <<'SQL'
CREATE TABLE h.trap (id int PRIMARY KEY, a text, b text);
INSERT INTO h.trap SELECT i, 'a' || i, 'b' || i FROM generate_series(1, 20) i;
CREATE TABLE h.caught (who text, session text);
GRANT INSERT ON h.caught TO PUBLIC;
CREATE FUNCTION h.spring(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN INSERT INTO h.caught VALUES (current_user, session_user); RETURN true; EXCEPTION WHEN OTHERS THEN RETURN true; END$$;
CREATE FUNCTION h.equal(text, text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN INSERT INTO h.caught VALUES (current_user, session_user); RETURN true; EXCEPTION WHEN OTHERS THEN RETURN true; END$$;
CREATE OPERATOR h.= (LEFTARG = text, RIGHTARG = text, FUNCTION = h.equal);
ALTER TABLE h.trap ENABLE ROW LEVEL SECURITY;
ALTER TABLE h.trap FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON h.trap USING (h.spring(a));
SELECT privacy_score.protect('h.trap');
SQL
as_mallory "SELECT a, b FROM trap" "SELECT b FROM trap" >/dev/null
q "SELECT privacy_score.flush()" "SELECT * FROM privacy_score.stat_roles" "SELECT * FROM privacy_score.stat_abstractions" >/dev/null
check_true "forced row security does not keep rates from being of all rows" \
  wait_for "SELECT max(rate) FROM privacy_score.rate WHERE relation_name = 'h.trap' AND attributes = '{h.trap.a,h.trap.b}'" 1
check "an owner's policy runs in the owner's own session only" \
  "$(q "SELECT COALESCE(string_agg(DISTINCT who || ' in a session of ' || session, ','), 'nowhere') FROM h.caught")" "mallory in a session of mallory"

# --- a schema of the same name in another database ------------------------------------------------------------------------
q "CREATE DATABASE other" "GRANT CREATE ON DATABASE other TO mallory" >/dev/null
check "an own schema privacy_score elsewhere does no harm" \
  "$(as mallory on other q "CREATE SCHEMA privacy_score" "CREATE TABLE privacy_score.session (id int)" "SELECT count(*) FROM privacy_score.session")" 0
check_true "nobody works in its name" wait_for "SELECT count(*) FROM pg_stat_activity WHERE datname = 'other'" 0
check_scored
done_testing

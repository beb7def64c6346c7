#!/bin/bash
# end_user_labels.sh - labels of people behind one role: what `dp only` refuses and `exempt` lets pass, that both hold from the
# commit of label_end_user() on in every session, and how they go with the label of the role.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.worker_stays = '1h'" "privacy_score.end_user_source = 'setting app.user, comment user'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE app LOGIN" "CREATE ROLE other LOGIN" "CREATE ROLE web_anon" "CREATE ROLE boss SUPERUSER" "GRANT web_anon, boss TO app" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text)" "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 5 FROM generate_series(1, 100) i" \
  "CREATE TABLE streets (name text)" "INSERT INTO streets VALUES ('a')" "ANALYZE" "GRANT SELECT ON patients, streets TO app, other, web_anon" "GRANT CREATE ON SCHEMA public TO app" \
  "SELECT privacy_score.protect('patients', 'id')" "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" "SECURITY LABEL FOR privacy_score ON ROLE other IS 'gateway'" \
  "SELECT privacy_score.flush()" >/dev/null || bail_out "the tables cannot be made"

ask="SELECT name FROM patients WHERE id = 7"
# states STATEMENT...: runs them in one session and prints what each ends with. "LABEL ARGUMENTS" labels meanwhile,
# in another session; "ELSEWHERE STATEMENT" runs there.
states() {
  local statement
  for statement in "$@"; do
    case $statement in
      "LABEL "*) echo "\\! $PS_BINDIR/psql -XAtq -U postgres -c \"SELECT privacy_score.label_end_user(${statement#LABEL })\"" ;;
      "ELSEWHERE "*) echo "\\! $PS_BINDIR/psql -XAtq -U postgres -c \"${statement#ELSEWHERE }\"" ;;
      *) printf '%s;\n\\echo sqlstate :SQLSTATE\n' "$statement" ;;
    esac
  done | "$PS_BINDIR/psql" -XAtq 2>/dev/null | sed -n 's/^sqlstate //p' | paste -sd ' '
}
label() { q "SELECT privacy_score.label_end_user($1)" >/dev/null; }
be() { echo "SET app.\"user\" = '$1'"; }
asked() { q "SELECT privacy_score.flush()" "SELECT COALESCE(end_user, '(none)') || ' ' || sum(queries) FROM privacy_score.session WHERE role = 'app' GROUP BY end_user HAVING sum(queries) > 0 ORDER BY end_user" | sed '/^$/d' | paste -sd ';'; }
alerts() { q "SELECT privacy_score.flush()" "SELECT end_user, kind, blocked, occurrences FROM privacy_score.alerts WHERE kind = '$1' ORDER BY end_user" | sed '/^$/d' | paste -sd ';'; }

# --- from the commit on, in sessions that are open ----------------------------------------------------------------------------------
check "a label holds for an open session and its prepared plan, without the worker having done anything" \
  "$(as app states "$(be alice)" "PREPARE p AS $ask" "EXECUTE p" "LABEL 'app', 'alice', 'dp only'" "EXECUTE p" "$ask" "LABEL 'app', 'alice', NULL" "EXECUTE p")" "00000 00000 00000 PS001 PS001 00000"
check "for a function's plan as well" \
  "$(as app states "CREATE FUNCTION look() RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN RETURN (SELECT max(name) FROM patients); END \$\$" "$(be alice)" "SELECT look()" "LABEL 'app', 'alice', 'dp only'" "SELECT look()" "LABEL 'app', 'alice', NULL" "SELECT look()")" \
  "00000 00000 00000 PS001 00000"
check "it waits for COMMIT, and ROLLBACK leaves nothing of it" \
  "$(q "GRANT EXECUTE ON FUNCTION privacy_score.label_end_user TO app" "GRANT USAGE ON SCHEMA privacy_score TO app" >/dev/null
  as app states "$(be alice)" "BEGIN" "SELECT privacy_score.label_end_user('app', 'alice', 'dp only')" "SAVEPOINT s" "$ask" "ROLLBACK" "$ask" "BEGIN" "SELECT privacy_score.label_end_user('app', 'alice', 'dp only')" "COMMIT" "$ask" "SELECT privacy_score.label_end_user('app', 'alice', NULL)" "$ask")" \
  "00000 00000 00000 00000 PS001 00000 00000 00000 00000 00000 PS001 00000 00000"
check "rows that come by themselves hold, too" "$(as app states "$(be alice)" "$ask" "ELSEWHERE INSERT INTO privacy_score.end_user_label VALUES ('app', 'alice', 'dp only')" "$ask" "ELSEWHERE TRUNCATE privacy_score.end_user_label" "$ask")" \
  "00000 00000 PS001 00000"

q "SELECT privacy_score.label_end_user('app', 'alice', NULL)" >/dev/null
check "for the comment of what was prepared and planned before, whatever EXECUTE says" \
  "$(as app states "/*user='alice'*/ PREPARE p AS $ask" "EXECUTE p" "LABEL 'app', 'alice', 'dp only'" "/*user='bob'*/ EXECUTE p" "/*user='bob'*/ $ask")" "00000 00000 PS001 00000"

# --- dp only ----------------------------------------------------------------------------------------------------------------------
label "'app', 'alice', 'dp only'"
refused() { # refused "what" STATEMENT...: the last is refused for alice, and for bob it is not
  local what=$1
  shift
  check "alice: $what" "$(as app states "$(be alice)" "$@" | grep -o '[^ ]*$')" PS001
  check "bob: $what" "$(as app states "$(be bob)" "$@" | grep -o '[^ ]*$')" 00000
}
refused "a read" "$ask"
refused "COPY" "COPY patients TO STDOUT"
refused "COPY of a query" "COPY (SELECT name FROM patients) TO STDOUT"
refused "EXPLAIN" "EXPLAIN $ask"
refused "EXPLAIN ANALYZE" "EXPLAIN ANALYZE $ask"
refused "a cursor" "BEGIN" "DECLARE c CURSOR FOR $ask"
refused "a function" "SELECT look()"
refused "DO" "DO \$\$ BEGIN PERFORM name FROM patients; END \$\$"
refused "a table made of it" "CREATE TEMPORARY TABLE kept AS $ask"
check "what is not protected may be read" "$(as app states "$(be alice)" "SELECT name FROM streets" "SELECT name FROM patients LIMIT 0")" "00000 00000 00000"
check "a comment names her for its own statement" "$(as app states "/*user='alice'*/ $ask" "/*user='bob'*/ $ask" "/*user='alice'*/ COPY patients TO STDOUT" "/*user='alice'*/ $ask" "$ask")" "PS001 00000 PS001 PS001 00000"
told=$(as app q_all "$(be alice)" "$ask")
check_match "the message says who" "$told" "statement refused: this end user may not read protected relations.*DETAIL:  The label of end user \"alice\" is \"dp only\".*HINT:  Use the dp functions"
check_match "also of what tells by writing" "$(q "CREATE TABLE visits (id int REFERENCES patients)" "GRANT INSERT ON visits TO app" >/dev/null; as app q_all "$(be alice)" "INSERT INTO visits VALUES (7)")" "would tell of protected relations.*The label of end user \"alice\""
check_match "the alerts are hers" "$(alerts dp_only)" '^alice\|dp_only\|t\|[0-9]+$'
check "for the same name of another role it does not hold" "$(as other states "$(be alice)" "$ask")" "00000 00000"
check "whoever does not speak for others has no end user" "$(q "SECURITY LABEL FOR privacy_score ON ROLE other IS NULL" >/dev/null; as other states "$(be alice)" "$ask")" "00000 00000"
check "break_glass lets pass, as roles" "$(q "ALTER ROLE app SET privacy_score.break_glass = on" >/dev/null; as app states "$(be alice)" "$ask"; q "ALTER ROLE app RESET privacy_score.break_glass" >/dev/null)" "00000 00000"

# --- with the label of the role -----------------------------------------------------------------------------------------------------
check "the user of the session decides also where a role is set" "$(as app states "$(be alice)" "SET ROLE web_anon" "$ask")" "00000 00000 PS001"
q "ALTER ROLE app SET privacy_score.principal = 'current_user'" >/dev/null
check "and where that role is the principal" "$(as app states "$(be alice)" "SET ROLE web_anon" "$ask" "$(be bob)" "$ask")" "00000 00000 PS001 00000 00000"
label "'web_anon', 'bob', 'dp only'"
check "the role that is set may have labels of its own" "$(as app states "$(be bob)" "$ask" "SET ROLE web_anon" "$ask")" "00000 00000 00000 PS001"
q "SECURITY LABEL FOR privacy_score ON ROLE web_anon IS 'exempt'" >/dev/null
check "dp only is stricter than an exempt role" "$(as app states "$(be bob)" "SET ROLE web_anon" "$ask")" "00000 00000 PS001"
q "SECURITY LABEL FOR privacy_score ON ROLE web_anon IS 'dp only'" "SELECT privacy_score.label_end_user('web_anon', 'carol', 'exempt')" >/dev/null
check "exempt does not open what the role may not read" "$(as app states "$(be carol)" "SET ROLE web_anon" "$ask")" "00000 00000 PS001"
q "SECURITY LABEL FOR privacy_score ON ROLE web_anon IS NULL" "SECURITY LABEL FOR privacy_score ON ROLE other IS 'watched'" >/dev/null
check "dp only holds where the role is not watched" "$(as app states "$(be bob)" "SET ROLE web_anon" "$ask" "$(be dave)" "$ask")" "00000 00000 PS001 00000 00000"
q "SECURITY LABEL FOR privacy_score ON ROLE other IS NULL" "ALTER ROLE app RESET privacy_score.principal" "SELECT privacy_score.label_end_user('web_anon', 'bob', NULL), privacy_score.label_end_user('web_anon', 'carol', NULL)" >/dev/null

# --- exempt ----------------------------------------------------------------------------------------------------------------------------
q "SELECT privacy_score.flush()" "DELETE FROM privacy_score.alert" >/dev/null
restart_server
q "DELETE FROM privacy_score.session_part" "DELETE FROM privacy_score.session" "SELECT privacy_score.label_end_user('app', 'carol', 'exempt'), privacy_score.label_end_user('app', 'dave', 'exempt')" >/dev/null
check "exempt reads" "$(as app states "$(be carol)" "$ask" "$ask" "$(be dave)" "$ask" "$(be carol)" "COPY patients TO STDOUT" "$(be erin)" "$ask" "$(be carol)" "$ask")" "00000 00000 00000 00000 00000 00000 00000 00000 00000 00000 00000"
as app states "$(be carol)" "$ask" >/dev/null
check "and is not counted; others on the same connection are" "$(asked)" "erin 1"
check "it is announced once a session, which is over all connections, for each of them" "$(alerts exempt)" "carol|exempt|f|1;dave|exempt|f|1"
check "a cursor of an exempt one counts for who fetches from it" "$(as app states "BEGIN" "$(be carol)" "DECLARE c CURSOR FOR SELECT name FROM patients" "FETCH 1 FROM c" "$(be frank)" "FETCH 2 FROM c" "COMMIT"; asked)" "00000 00000 00000 00000 00000 00000 00000
erin 1;frank 1"

# --- where labels are kept -----------------------------------------------------------------------------------------------------------
check "the view shows them" "$(q "TABLE privacy_score.end_user_labels ORDER BY 1, 2")" "app|alice|dp only
app|carol|exempt
app|dave|exempt"
check "to others those of their own role" "$(as app q "SELECT count(*) FROM privacy_score.end_user_labels"; as other q "SELECT count(*) FROM privacy_score.end_user_labels")" "3
0"
"$PS_BINDIR/createdb" restored
"$PS_BINDIR/pg_dump" -Fc -f "$PS_TMP/labels.dump" postgres && "$PS_BINDIR/pg_restore" -d restored "$PS_TMP/labels.dump"
check "a dump has them" "$(on restored q "TABLE privacy_score.end_user_labels ORDER BY 1, 2")" "$(q "TABLE privacy_score.end_user_labels ORDER BY 1, 2")"
check "where they hold" "$(PGUSER=app on restored states "$(be alice)" "$ask" "$(be bob)" "$ask")" "00000 PS001 00000 00000"
on restored q "SELECT privacy_score.export_policy()" >"$PS_TMP/policy.json"
policy=$(sed "s/'/''/g" "$PS_TMP/policy.json")
check "a policy names what is so already" "$(q "SELECT state, count(*) FROM privacy_score.import_policy('$policy') WHERE statement LIKE '%label_end_user%' GROUP BY 1")" "already so|3"
q "TRUNCATE privacy_score.end_user_label" >/dev/null
check "and brings what is not" "$(q "SELECT state FROM privacy_score.import_policy('$policy', false) WHERE statement LIKE '%label_end_user%'" "SELECT count(*) FROM privacy_score.end_user_labels" | paste -sd ' ')" "done done done 3"
q "DROP DATABASE restored WITH (FORCE)" >/dev/null
check "who is forgotten has none" "$(q "SELECT privacy_score.forget_end_user('app', 'alice')" >/dev/null; as app states "$(be alice)" "$ask"; q "SELECT count(*) FROM privacy_score.end_user_labels")" "00000 00000
2"
label "'app', '(invalid)', 'dp only'"
check "names that are none can be dp only" "$(as app states "SET app.\"user\" = E'a\\x01b'" "$ask")" "00000 PS001"

# --- on a standby, where nothing is announced -------------------------------------------------------------------------------------------
start_standby second
label_on_main() { use_server main; label "$1"; sent=$(q "SELECT pg_current_wal_lsn()"); use_server second; wait_for "SELECT pg_last_wal_replay_lsn() >= '$sent'" t; }
standing() { as app states "$(be grace)" "$ask" | grep -o '[^ ]*$'; }
check "nobody of that name is labelled yet" "$(standing)" 00000
rm -f "$PS_TMP/grace"
mkfifo "$PS_TMP/grace"
as app "$PS_BINDIR/psql" -XAtq <"$PS_TMP/grace" >/dev/null 2>"$PS_TMP/grace.err" &
exec 4>"$PS_TMP/grace"
printf '%s;\n' "$(be grace)" "$ask" >&4
label_on_main "'app', 'grace', 'dp only'"
check "it holds for a new session" "$(standing)" PS001
ask_again() { echo "$ask;" >&4; sleep 0.2; grep -q "this end user may not read" "$PS_TMP/grace.err"; }
check_true "and for one that was open, after a moment" wait_until ask_again
exec 4>&-
label_on_main "'app', 'grace', NULL"
check "until it is taken away" "$(standing)" 00000
stop_server
use_server main

# --- without a worker ------------------------------------------------------------------------------------------------------------------
label "'app', 'alice', 'dp only'"
conf "max_worker_processes = 0"
restart_server
check "labels hold where no worker can run" "$(as app states "$(be alice)" "$ask" "$(be carol)" "$ask" "LABEL 'app', 'alice', NULL" "$(be alice)" "$ask" "LABEL 'app', 'alice', 'dp only'" "$ask")" "00000 PS001 00000 00000 00000 00000 PS001"
done_testing

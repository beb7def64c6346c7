#!/bin/bash
# switching_off.sh - a watched role tries to switch the watching off, to loosen it, to be somebody else, to reset what was
# recorded. Each attempt is refused, or makes no difference to what is counted.
. "$(dirname "$0")/../attack.sh"
start_hospital
query="SELECT diagnosis FROM patients"

q "GRANT CREATE ON SCHEMA h TO clerk" >/dev/null
as clerk q "CREATE FUNCTION h.of_clerk() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql AS 'SELECT diagnosis FROM h.patients'" >/dev/null

# --- settings -------------------------------------------------------------------------------------------------------------
settings=$(q "SELECT name FROM pg_settings WHERE name LIKE 'privacy\\_score.%' ORDER BY 1")
# What a session may choose for itself: how long its own releases are searched for, since the least loss is no promise; and
# what counts for the budgets that it gives itself, as the owner; what it spends of a budget that it was given, up to
# dp_max_epsilon, dp_max_delta and the budget's delta, how many rows of a person it has counted, and what it is told. Whom it speaks for is its own, too: nobody believes it.
free=$(q "SELECT string_agg(name, ' ' ORDER BY name) FROM pg_settings WHERE name LIKE 'privacy\\_score.%' AND context = 'user'")
check "no setting that weakens anything is the user's" "$free" "privacy_score.bucket_search_time privacy_score.dp_delta privacy_score.dp_epsilon privacy_score.dp_least_epsilon privacy_score.dp_max_rows privacy_score.dp_notice privacy_score.dp_refresh_after privacy_score.dp_work_mem privacy_score.end_user"
for name in $settings; do
  value=$(q "SELECT quote_literal(setting) FROM pg_settings WHERE name = '$name'")
  case $(q "SELECT context FROM pg_settings WHERE name = '$name'") in
    user) continue ;;
    superuser) state=42501 ;;
    *) state=55P02 ;;
  esac
  refused "SET $name" $state "SET $name = $value"
done
refused "RESET of a setting" 42501 "RESET privacy_score.mode"
refused "SET LOCAL" 42501 "BEGIN" "SET LOCAL privacy_score.mode = off"
refused "set_config" 42501 "SELECT set_config('privacy_score.track', 'top', false)"
refused "set_config in a function" 42501 "DO \$\$BEGIN PERFORM set_config('privacy_score.mode', 'off', true); END\$\$"
refused "UPDATE pg_settings" 42501 "UPDATE pg_settings SET setting = 'off' WHERE name = 'privacy_score.mode'"
refused "an invented setting" 42602 "SET privacy_score.\"no such\" = 1"
refused "a function with SET" 42501 "CREATE FUNCTION quiet() RETURNS SETOF text LANGUAGE sql SET privacy_score.mode = 'off' AS 'SELECT diagnosis FROM h.patients'"
refused "ALTER FUNCTION ... SET" 42501 "CREATE FUNCTION pg_temp.quiet() RETURNS int LANGUAGE sql AS 'SELECT 1'" "ALTER FUNCTION pg_temp.quiet() SET privacy_score.mode = 'off'"
refused "ALTER ROLE of itself" 42501 "ALTER ROLE mallory SET privacy_score.mode = 'off'"
refused "ALTER ROLE ... IN DATABASE" 42501 "ALTER ROLE mallory IN DATABASE postgres SET privacy_score.mode = 'off'"
refused "ALTER DATABASE" 42501 "ALTER DATABASE postgres SET privacy_score.mode = 'off'"
refused "ALTER SYSTEM" 42501 "ALTER SYSTEM SET privacy_score.mode = 'off'"
refused "pg_reload_conf" 42501 "SELECT pg_reload_conf()"
refused "session_preload_libraries" 42501 "SET session_preload_libraries = ''"
refused "LOAD" 42501 "LOAD 'privacy_score'"
refused "LOAD of another library" 42501 "LOAD 'auto_explain'"
refused "session_replication_role" 42501 "SET session_replication_role = replica"
refused "compute_query_id" 42501 "SET compute_query_id = off"
refused "SECURITY LABEL of itself" 42501 "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'exempt'"
refused "SECURITY LABEL NULL" 42501 "SECURITY LABEL FOR privacy_score ON ROLE mallory IS NULL"
refused "labels of somebody else's columns" 42501 "SECURITY LABEL FOR privacy_score ON COLUMN h.patients.diagnosis IS 'public'"
refused "unprotect" 42501 "SELECT privacy_score.unprotect('h.patients')"
refused "DROP EXTENSION" 42501 "DROP EXTENSION privacy_score"
refused "ALTER EXTENSION" 42501 "ALTER EXTENSION privacy_score DROP VIEW privacy_score.alerts"
refused "DROP SCHEMA" 42501 "DROP SCHEMA privacy_score CASCADE"
refused "CREATE in the schema" 42501 "CREATE TABLE privacy_score.session2 (id int)"
refused "terminating the worker" 42501 "$query" "SELECT pg_sleep(0.5)" "SELECT pg_terminate_backend(worker_pid) FROM privacy_score.stat_info"
refused "terminating the worker by pg_stat_activity" 42501 "$query" "SELECT pg_sleep(0.3)" "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
for call in "flush()" "reset_stats()" "set_baseline('mallory', '2000-01-01', '2100-01-01')" "drop_baseline('mallory')" \
  "import_baseline('{}')" "acknowledge_alert(1)" "accept_alert(1, 'mine')" "confirm_acceptance(1)" "withdraw_acceptance(1)" "import_statements('SELECT 1')"; do
  refused "$call" 42501 "SELECT privacy_score.$call"
done
for table in $(q "SELECT relname FROM pg_class WHERE relnamespace = 'privacy_score'::regnamespace AND relkind = 'r'"); do
  refused "writing to $table" 42501 "DELETE FROM privacy_score.$table"
done
check_match "refused: PGOPTIONS" "$(PGOPTIONS='-c privacy_score.mode=off' as mallory q_all "$query")" 'permission denied to set parameter "privacy_score.mode"'
check_match "refused: options in the connection string" "$(as mallory psql -XAt "options=-cprivacy_score.principal=current_user" -c "$query" 2>&1)" \
  'permission denied to set parameter "privacy_score.principal"'

# --- what is left as it was -----------------------------------------------------------------------------------------------
path "RESET ALL" "$read" "RESET ALL" "SET search_path = h" "$query"
path "DISCARD ALL" "$read x2" "$query" "DISCARD ALL" "SET search_path = h" "$query"
path "DISCARD PLANS, SEQUENCES, TEMP" "$read x3" "$query" "DISCARD PLANS" "$query" "DISCARD TEMP" "$query"
path "SET ROLE to an exempt role" "$read" "SET ROLE clerk" "SELECT diagnosis FROM h.patients"
path "SET LOCAL ROLE" "$read" "BEGIN" "SET LOCAL ROLE clerk" "SELECT diagnosis FROM h.patients" "COMMIT"
path "SET SESSION AUTHORIZATION DEFAULT" "$read" "SET SESSION AUTHORIZATION DEFAULT" "SET search_path = h" "$query"
path "a security definer function of an exempt role" "cmd:select; $read" "SELECT * FROM h.of_clerk()"
refused "SET SESSION AUTHORIZATION" 42501 "SET SESSION AUTHORIZATION clerk"
refused "SET ROLE to a superuser" 42501 "SET ROLE postgres"
refused "ALTER ROLE ... SUPERUSER" 42501 "ALTER ROLE mallory SUPERUSER"
begin_path "application_name" "$read"
as mallory q "SET application_name = 'privacy_score worker'" "SET search_path = h" "$query" >/dev/null
path "GUCs that change plans" "$read x3" "SET enable_seqscan = off" "$query" "SET jit = on" "SET jit_above_cost = 0" "$query" "SET from_collapse_limit = 1" "SET geqo_threshold = 2" "$query"
path "quote_all_identifiers" "$read" "SET quote_all_identifiers = on" "$query"
path "standard_conforming_strings, client_encoding, lc_messages" "$read" "SET standard_conforming_strings = off" "SET client_encoding = 'latin1'" "SET DateStyle = 'SQL'" "$query"
path "many short sessions" "$read" "$query"
path "many short sessions, the next" "$read" "$query"
verify_paths

# --- plans made while nobody watched, then watched ----------------------------------------------------------------------
seen() {
  q "SELECT privacy_score.flush()" \
    "SELECT COALESCE(sum(x.run), 0) FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
       ROWS FROM (unnest(p.ids), unnest(p.runs)) x(id, run) JOIN privacy_score.abstraction a ON a.id = x.id
      WHERE s.role = 'mallory' AND 'p:h.patients.diagnosis' = ANY (a.tokens)" | tail -n 1
}
mkfifo "$PS_TMP/mallory"
as mallory "$PS_BINDIR/psql" -XAtq <"$PS_TMP/mallory" >"$PS_TMP/mallory.out" 2>&1 &
exec 3>"$PS_TMP/mallory"
heard() { for _ in $(seq 3000); do grep -q "$1" "$PS_TMP/mallory.out" && return; sleep 0.1; done; return 1; }
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'exempt'" >/dev/null
before=$(seen)
echo "SET plan_cache_mode = force_generic_plan; PREPARE p AS $query; EXECUTE p; EXECUTE p; \\echo ready" >&3
check_true "an exempt session runs" heard ready
check "an exempt session is not counted" "$(seen)" "$before"
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'watched'" >/dev/null
echo "EXECUTE p; EXECUTE p; EXECUTE p; \\echo again" >&3
check_true "the session goes on" heard again
check "counted: plans that were made while exempt" "$(($(seen) - before))" 3
exec 3>&-
done_testing

#!/bin/bash
# restored_months.sh - the tables of months of history are no members of the extension: who gets one into their hands, by a restore
# or by what they set, has no code run by the worker, reads nobody's history and takes none away.
. "$(dirname "$0")/../attack.sh"
start_hospital "privacy_score.flush_interval = '100ms'" "privacy_score.month_check_interval = '200ms'"

month=$(q "SELECT to_char(privacy_score.today(), 'YYYY_MM')")
flush() { q "SELECT privacy_score.flush()" >/dev/null; }
ask() { as alice q "SELECT diagnosis FROM h.patients WHERE id = $1" >/dev/null; }
in_month() { q "SELECT count(*) FROM privacy_score.session_$month"; }
is_taken="SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
  WHERE p.oid IN ('privacy_score.session'::regclass, 'privacy_score.session_part'::regclass)
    AND (c.relowner <> p.relowner OR EXISTS (SELECT FROM aclexplode(c.relacl) a WHERE a.grantee <> c.relowner))"
ask 1
flush
wait_for "SELECT count(*) FROM pg_class WHERE relname = 'session_part_$month'" 1
ask 2
flush
check "there is a session of this month" "$(in_month)" 1

# --- a dump whose tables belong to somebody who is nobody now ----------------------------------------------------------------
q "CREATE ROLE dba LOGIN" "ALTER TABLE privacy_score.session_$month OWNER TO dba" "ALTER TABLE privacy_score.session_part_$month OWNER TO dba" \
  "GRANT CREATE ON SCHEMA public TO dba" >/dev/null
"$PS_BINDIR/pg_dump" -F custom -f "$PS_TMP/dump" postgres
q "ALTER TABLE privacy_score.session_$month OWNER TO postgres" "ALTER TABLE privacy_score.session_part_$month OWNER TO postgres" >/dev/null
# restore DATABASE: as its month belongs to dba.
restore() {
  q "CREATE DATABASE $1" "ALTER DATABASE $1 SET search_path = h, public" >/dev/null
  "$PS_BINDIR/pg_restore" --exit-on-error -d "$1" "$PS_TMP/dump" 2>&1
}
check "it is restored" "$(restore left_alone)$(restore with_trigger)$(restore with_rule)$(restore with_index)$(restore with_check)" ""
on left_alone ask 3
on left_alone flush
check "a month of somebody's is given to whom the extension belongs to" "$(on left_alone wait_for "$is_taken" 0)" ""
check "he reads nothing" "$(as dba on left_alone q_state "SELECT count(*) FROM privacy_score.session_$month")" 42501
check "nor takes it away with what he owns" "$(on left_alone q "DROP OWNED BY dba" "SELECT count(*) FROM privacy_score.session_$month")" 1
on left_alone ask 4
on left_alone flush
check "sessions go there again" "$(on left_alone in_month)" 2

own="CREATE FUNCTION public.own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN EXECUTE ''ALTER ROLE dba SUPERUSER''; RETURN NEW; END'"
check_own="CREATE FUNCTION public.owns(name) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN EXECUTE ''ALTER ROLE dba SUPERUSER''; RETURN true; END'"
# stays_nobody DATABASE DESCRIPTION STATEMENT...: he puts code of his own on the table before anybody has settled it.
stays_nobody() {
  local database=$1 description=$2
  shift 2
  as dba on "$database" q "$@" >/dev/null 2>&1
  on "$database" ask 5
  on "$database" flush
  on "$database" ask 6
  on "$database" flush
  check "$description: none of his code runs" "$(q "SELECT rolsuper FROM pg_roles WHERE rolname = 'dba'")" f
  check "$description: what is done is recorded, elsewhere" "$(on "$database" q "SELECT count(*) FROM privacy_score.session_before WHERE started > (SELECT max(started) FROM privacy_score.session_$month)")" 2
  check_true "$description: the log tells" grep -q "could not settle a table of a month of history" "$ps_log"
}
stays_nobody with_trigger "a trigger" "$own" "CREATE TRIGGER t BEFORE INSERT OR UPDATE ON privacy_score.session_$month FOR EACH ROW EXECUTE FUNCTION public.own()"
stays_nobody with_rule "a rule" "CREATE TABLE public.seen (a bigint)" "CREATE RULE r AS ON INSERT TO privacy_score.session_$month DO ALSO INSERT INTO public.seen VALUES (1)"
# Who may make none in the schema had one while he could.
as dba on with_index q "$check_own" >/dev/null
on with_index q "CREATE INDEX ON privacy_score.session_$month ((public.owns(role))) WHERE id < 0" >/dev/null
stays_nobody with_index "an index" "SELECT"
stays_nobody with_check "a check" "$check_own" "ALTER TABLE privacy_score.session_$month ADD CHECK (public.owns(role)) NOT VALID"
q "REVOKE CREATE ON SCHEMA public FROM dba" >/dev/null

# --- default privileges --------------------------------------------------------------------------------------------------------
"$PS_BINDIR/pg_dump" -F custom -f "$PS_TMP/dump" postgres
q "CREATE DATABASE open_handed" >/dev/null
on open_handed q "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC" >/dev/null
check "it is restored where everybody gets all rights" "$("$PS_BINDIR/pg_restore" --exit-on-error -d open_handed "$PS_TMP/dump" 2>&1)" ""
check_true "whose tables of months are theirs, too" test "$(on open_handed q "$is_taken")" -gt 0
on open_handed ask 7
on open_handed flush
check "until somebody is at work" "$(on open_handed wait_for "$is_taken" 0)" ""
check "mallory reads nothing" "$(as mallory on open_handed q_state "SELECT count(*) FROM privacy_score.session_$month")" 42501

# --- where tables lie ------------------------------------------------------------------------------------------------------------
mkdir "$PS_TMP/elsewhere"
q "CREATE TABLESPACE elsewhere LOCATION '$PS_TMP/elsewhere'" "CREATE ROLE importer LOGIN" \
  "GRANT EXECUTE ON FUNCTION privacy_score.import_statements(text) TO importer" >/dev/null 2>&1
as importer q "SET default_tablespace = elsewhere" \
  "SELECT privacy_score.import_statements(\$\$SELECT 's'::text AS session, 'alice'::name AS role, timestamptz '2024-03-03 09:00' AS at, 'SELECT diagnosis FROM h.patients'::text AS sql\$\$)" 
check "who imports does not choose where" "$(q "SELECT count(*), coalesce(sum(reltablespace::int), 0) FROM pg_class WHERE relname ~ '^session(_part)?_2024_03'")" \
  "$(q "SELECT count(*), 0 FROM pg_class WHERE relname ~ '^session(_part)?_$month'")"
check "days without end have no months" "$(q_state "SELECT privacy_score.make_months('2024-01-01', 'infinity')")" 22023

# --- old history held alive ------------------------------------------------------------------------------------------------------
q "SELECT privacy_score.import_statements(\$\$SELECT 's'::text AS session, 'alice'::name AS role, timestamptz '2024-05-05 09:00' AS at, 'SELECT diagnosis FROM h.patients'::text AS sql\$\$)" >/dev/null
mkfifo "$PS_TMP/held"
as mallory "$PS_BINDIR/psql" -XAtq <"$PS_TMP/held" >"$PS_TMP/read" 2>&1 &
exec 3>"$PS_TMP/held"
echo "BEGIN; SELECT 'held', count(*) FROM privacy_score.stat_contexts;" >&3
wait_until grep -qs held "$PS_TMP/read"
conf "privacy_score.history_retention = 30"
reload_server
ask 8
check_true "a month that is read is left at first" wait_for_line "$ps_log" "could not drop a table of a month of history"
check "who holds a month open keeps none of its rows" "$(wait_for "SELECT count(*) FROM privacy_score.session WHERE day < privacy_score.today() - 30" 0)" ""
check "nor their parts" "$(q "SELECT count(*) FROM privacy_score.session_part p WHERE NOT EXISTS (SELECT FROM privacy_score.session s WHERE s.id = p.session_id)")" 0
check_true "the log says so some times, not all the time" test "$(grep -c 'could not drop a table of a month of history' "$ps_log")" -lt 12
echo "COMMIT;" >&3
exec 3>&-
wait
check_true "the tables go when she has left" wait_until eval 'ask 9; [ "$(q "SELECT count(*) FROM pg_class WHERE relname ~ '"'^session(_part)?_2024_0[35]\$'"'")" = 0 ]'
check "no server has crashed" "$(grep -cE 'was terminated by signal|PANIC' "$ps_log")" 0
done_testing

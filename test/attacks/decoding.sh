#!/bin/bash
# decoding.sh - functions that show relations without naming them: decoded changes, files, blocks. Running one counts as
# reading every column of every protected relation, wherever the call stands.
. "$(dirname "$0")/../attack.sh"
start_hospital "wal_level = logical"
echo "nothing" >"$PGDATA/any"

q_script >/dev/null <<'SQL' || bail_out "the slot and the functions cannot be made"
SELECT privacy_score.unprotect('h.visits');
ALTER ROLE mallory REPLICATION;
SELECT pg_create_logical_replication_slot('slot', 'test_decoding');
INSERT INTO h.secrets VALUES (2, 'y');
GRANT EXECUTE ON FUNCTION pg_read_file(text), pg_read_binary_file(text) TO mallory, alice;
CREATE EXTENSION pageinspect;
CREATE FUNCTION h.page() RETURNS bytea SECURITY DEFINER LANGUAGE sql AS $$ SELECT public.get_raw_page('h.secrets', 0) $$;
SQL
as mallory q_script >/dev/null <<'SQL' || bail_out "mallory's functions cannot be made"
CREATE FUNCTION h.folded() RETURNS SETOF text STABLE LANGUAGE sql AS $$ SELECT data FROM pg_logical_slot_peek_changes('slot', NULL, NULL) $$;
CREATE FUNCTION h.folded_file() RETURNS text LANGUAGE sql AS $$ SELECT pg_read_file('any') $$;
CREATE FUNCTION h.expression() RETURNS text LANGUAGE plpgsql AS $$ DECLARE x text; BEGIN x := pg_read_file('any'); RETURN x; END $$;
CREATE FUNCTION h.aggregated(text, text) RETURNS text LANGUAGE sql AS $$ SELECT $1 || pg_read_file($2) $$;
CREATE AGGREGATE h.files(text) (SFUNC = h.aggregated, STYPE = text, INITCOND = '');
CREATE DOMAIN h.read AS text CHECK (pg_read_file('any') <> VALUE);
CREATE TABLE h.mine (t text DEFAULT pg_read_file('any'));
SQL
all="cmd:select p:h.patients.city p:h.patients.diagnosis p:h.patients.first_name p:h.patients.id p:h.secrets.code p:h.secrets.id t:h.patients t:h.secrets"

# --- decoding -----------------------------------------------------------------------------------------------------------------------
for function in pg_logical_slot_peek_changes pg_logical_slot_peek_binary_changes pg_logical_slot_get_changes pg_logical_slot_get_binary_changes; do
  plugin=""
  case $function in *binary*) plugin=", 'force-binary', 'on'" ;; esac
  path "$function" "$all; $outer" "SELECT data FROM $function('slot', NULL, 1$plugin)"
done
path "in the target list" "$all; $outer" "SELECT pg_logical_slot_peek_changes('slot', NULL, 1)"
path "below LATERAL" "$all; $outer" "SELECT x.data FROM (VALUES (1)) v(n), LATERAL pg_logical_slot_peek_changes('slot', NULL, n) x"
path "folded in by the planner" "~^$all; (cmd:select; )*$outer" "SELECT * FROM h.folded()"
path "a plan that is used again" "$all; $outer; $all; $outer" "SET plan_cache_mode = force_generic_plan" "PREPARE p AS SELECT data FROM pg_logical_slot_peek_changes('slot', NULL, 1)" "EXECUTE p" "EXECUTE p"
path "a cursor that nobody reads" "$all; $outer" "BEGIN" "DECLARE c CURSOR FOR SELECT data FROM pg_logical_slot_peek_changes('slot', NULL, 1)" "COMMIT"

# --- files and blocks -----------------------------------------------------------------------------------------------------------------
path "pg_read_file" "$all; $outer" "SELECT pg_read_file('any')"
path "pg_read_binary_file, of which nothing is shown" "$all; $outer" "SELECT count(pg_read_binary_file('any'))"
path "folded in as an expression" "~^$all; ($outer; )*$outer" "SELECT h.folded_file()"
path "an expression of plpgsql" "~$all" "SELECT h.expression()"
path "a CALL, a DO block" "~$all" "DO \$\$ DECLARE x text := pg_read_file('any'); BEGIN END \$\$"
path "a default" "~^$all; cmd:insert t:h.mine" "INSERT INTO h.mine DEFAULT VALUES"
path "a domain" "~$all" "SELECT 'x'::h.read"
path "below an aggregate" "~$all" "SELECT h.files('any') FROM (VALUES (1)) v"
path "a block, by a function of a superuser's" "~$all" "SELECT h.page()"
path "what shows nothing of relations" "$outer" "SELECT pg_logical_emit_message(false, 'x', 'y'), pg_relation_size('h.secrets')"
failing_path "what the server refuses" "" "permission denied" "SELECT 1" "SELECT pg_read_file('any', 0, 1)"
call() { perl "$(dirname "$0")/../support/fastpath.pl" "$PGHOST/.s.PGSQL.$PGPORT" "$1" postgres "$(PGAPPNAME='' q "SELECT 'pg_read_file(text)'::regprocedure::oid")" any; }
check "the protocol's function call runs" "$(call alice)" "result"
verify_paths
check "who may not decode is refused by the server" "$(as alice q_state "SELECT pg_logical_slot_peek_changes('slot', NULL, 1)")" 42501
q "SELECT privacy_score.flush()" >/dev/null
check "the protocol's function call counts; who may not decode has read nothing" "$(q "SELECT DISTINCT array_to_string(a.tokens, ' ') AS t
  FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id JOIN privacy_score.abstraction a ON a.id = ANY (p.ids) WHERE s.role = 'alice' ORDER BY t")" "$outer
$all"

# --- "dp only" --------------------------------------------------------------------------------------------------------------------------
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'dp only'" "ALTER ROLE alice REPLICATION" >/dev/null
for statement in "SELECT pg_logical_slot_peek_changes('slot', NULL, 1)" "SELECT * FROM pg_logical_slot_get_changes('slot', NULL, 1)" "SELECT * FROM h.folded()" "SELECT pg_read_file('any')" "SELECT h.expression()" \
  "INSERT INTO h.mine DEFAULT VALUES" "SELECT h.page()" "SELECT 1 WHERE EXISTS (SELECT FROM pg_logical_slot_peek_binary_changes('slot', NULL, 1, 'force-binary', 'on'))"; do
  refused "$statement" PS001 "$statement"
done
check "the protocol's function call is refused" "$(call alice)" "ERROR PS001"
q "SELECT privacy_score.unprotect('h.patients')" "SELECT privacy_score.unprotect('h.secrets')" >/dev/null
check "where nothing is protected all is as ever" "$(as mallory q_state "SELECT pg_read_file('any')")" 00000
done_testing

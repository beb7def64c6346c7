#!/bin/bash
# noisy_others.sh - every attempt to spend what is not one's own, to read what others were told, to multiply a budget or
# to forge the ledger: SET ROLE, groups, SECURITY DEFINER, other people's code, dropping and making again. Noise of
# epsilon 50 differs from 0 with probability 4e-22.
. "$(dirname "$0")/../attack.sh"
start_hospital
export PGAPPNAME=
q "REVOKE ALL ON h.patients FROM mallory, alice, clerk" "CREATE ROLE owner LOGIN" "GRANT USAGE, CREATE ON SCHEMA h TO owner" \
  "ALTER TABLE h.patients OWNER TO owner" "CREATE ROLE team" "CREATE ROLE squad" "GRANT USAGE ON SCHEMA h TO team, squad" >/dev/null
count() { echo "SELECT privacy_score.dp_count('h.patients', '$1', ${2:-50})"; }
left() { q "SELECT string_agg(role || ' ' || \"left\", ', ' ORDER BY role) FROM privacy_score.dp_budget WHERE relation = 'h.patients'::regclass"; }

# --- SET ROLE and groups ------------------------------------------------------------------------------------------------
as owner q "SELECT privacy_score.dp_grant('clerk', 'h.patients', 1000)" >/dev/null
check "a member of a group asks on its budget" "$(as mallory q "$(count 'id = 1')")" 1
check "SET ROLE does not change who pays" "$(as mallory q "SET ROLE clerk" "$(count 'id = 2')"; left)" "1
clerk 900"
as owner q "SELECT privacy_score.dp_grant('mallory', 'h.patients', 100)" >/dev/null
check "an own budget pays first" "$(as mallory q "$(count 'id = 3')"; left)" "1
clerk 900, mallory 50"
check "also after SET ROLE to the group" "$(as mallory q "SET ROLE clerk" "$(count 'id = 4')"; left)" "1
clerk 900, mallory 0"
check "when it is exhausted the group's does not help out" "$(as mallory q_state "$(count 'id = 5')")" PS002
check "nor after SET ROLE" "$(as mallory q_state "SET ROLE clerk" "$(count 'id = 5')")" PS002
check "nor with a setting" "$(as mallory q_state "SET privacy_score.principal = 'current_user'" "SET ROLE clerk" "$(count 'id = 5')")" PS002
check "SET SESSION AUTHORIZATION is not allowed" "$(as mallory q_state "SET SESSION AUTHORIZATION alice")" 42501
q "GRANT team, squad TO alice" >/dev/null
as owner q "SELECT privacy_score.dp_grant('team', 'h.patients', 100)" "SELECT privacy_score.dp_grant('squad', 'h.patients', 100)" >/dev/null
check "of two groups the one that was granted first pays" "$(as alice q "$(count 'id = 1')" "$(count 'id = 2')"; left)" "1
1
clerk 900, mallory 0, squad 100, team 0"
check "and no other" "$(as alice q_state "$(count 'id = 3')")$(as alice q_state "SET ROLE squad" "$(count 'id = 3')")" PS002PS002
q "REVOKE team FROM alice" >/dev/null
check "who leaves a group has lost its answers" "$(as alice q "SELECT repeated FROM privacy_score.dp_cost('h.patients', 'id = 1', 50)")" f
q "REVOKE squad FROM alice" >/dev/null
check "and its budget" "$(as alice q_state "$(count 'id = 1')")" 42501
check "members without inheritance are members" "$(q "CREATE ROLE quiet LOGIN NOINHERIT" "GRANT USAGE ON SCHEMA h TO quiet" "GRANT squad TO quiet" >/dev/null; as quiet q "$(count 'id = 6')"; left)" "1
clerk 900, mallory 0, squad 50, team 0"

# --- other people's code ------------------------------------------------------------------------------------------------
as owner q "SELECT privacy_score.dp_grant('alice', 'h.patients', 1000)" >/dev/null
as alice q "CREATE FUNCTION h.lend(p text) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS \$\$ SELECT privacy_score.dp_count('h.patients', p, 50) \$\$" >/dev/null
check "a SECURITY DEFINER function does not lend its owner's budget" "$(as mallory q_state "SELECT h.lend('id = 7')")" PS002
check "it spends that of who calls it" "$(as quiet q "SELECT h.lend('id = 7')"; left)" "1
alice 1000, clerk 900, mallory 0, squad 0, team 0"
as mallory q "CREATE TABLE h.bait (i int)" "CREATE FUNCTION h.steal(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN PERFORM privacy_score.dp_count('h.patients', 'id = 8', 50); RETURN 1; END \$\$" \
  "INSERT INTO h.bait VALUES (1)" "GRANT ALL ON h.bait TO alice" >/dev/null
before=$(left)
check "an index on a function: with the session of an administrator" "$(as mallory q_state "CREATE INDEX ON h.bait (h.steal(i))")" 42501
as mallory q "CREATE FUNCTION h.quiet_steal(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN BEGIN PERFORM privacy_score.dp_count('h.patients', 'id = 8', 50); EXCEPTION WHEN OTHERS THEN NULL; END; RETURN 1; END \$\$" \
  "CREATE INDEX ON h.bait (h.quiet_steal(i))" "CREATE MATERIALIZED VIEW h.trap AS SELECT h.quiet_steal(i) FROM h.bait" >/dev/null
q "SELECT privacy_score.dp_grant('postgres', 'h.patients', 1000)" "ANALYZE h.bait" "REINDEX TABLE h.bait" "REFRESH MATERIALIZED VIEW h.trap" "VACUUM FULL h.bait" >/dev/null
check "maintenance by a superuser spends nothing" "$(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'postgres'")" 0
q "SELECT privacy_score.dp_revoke('postgres', 'h.patients')" >/dev/null
check "nor of anybody" "$(left)" "$before"
as owner q "CREATE VIEW h.asks AS SELECT p.id, privacy_score.dp_count('h.patients', 'id = 9', 50) AS n FROM h.patients p" "SELECT privacy_score.dp_grant('mallory', 'h.asks', 1000)" >/dev/null
check "a view that asks cannot be asked about" "$(as mallory q_state "SELECT privacy_score.dp_count('h.asks', 'n > 0', 50)")" PS004

# --- what others were told -----------------------------------------------------------------------------------------------
as alice q "$(count "city = ''c1''")" >/dev/null
check "a question that somebody else has asked is not repeated to me" "$(as clerk q "SELECT epsilon_spent, repeated FROM privacy_score.dp_cost('h.patients', 'city = ''c1''', 50)")" "50|f"
for table in budget release ledger_key budget_now; do
  check "privacy_score.$table is closed to readers" "$(as mallory q_state "TABLE privacy_score.$table")" 42501
  # A view that nobody could write to is refused as such.
  check_match "privacy_score.$table is closed to writers" "$(as mallory q_state "DELETE FROM privacy_score.$table")" "^(42501|55000)$"
  check "also to the owner of the relation" "$(as owner q_state "TABLE privacy_score.$table")" 42501
done
check "the ledger's sequences too" "$(as mallory q_state "SELECT setval('privacy_score.release_id_seq', 1)")" 42501
check "statistics of the ledger show nothing" "$(q "ANALYZE privacy_score.release, privacy_score.ledger_key"; as mallory q "SELECT count(*) FROM pg_stats WHERE schemaname = 'privacy_score'")" 0
check "members of pg_read_all_stats see the ledger, not the answers" "$(q "CREATE ROLE auditor LOGIN" "GRANT pg_read_all_stats TO auditor"; as auditor q "SELECT count(*) > 5 FROM privacy_score.dp_releases"; as auditor q_state "SELECT answer FROM privacy_score.release")" "t
42501"
check "mallory sees what was asked by mallory" "$(as mallory q "SELECT DISTINCT role FROM privacy_score.dp_releases")" mallory
check "and budgets that are mallory's or a group's" "$(as mallory q "SELECT string_agg(DISTINCT role, ' ' ORDER BY role) FROM privacy_score.dp_budget")" "clerk mallory"
check "a function in a view's condition sees no more" "$(as mallory q_all "CREATE FUNCTION pg_temp.peek(name) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS \$\$ BEGIN RAISE NOTICE 'saw %', \$1; RETURN true; END \$\$" \
  "SELECT count(*) FROM privacy_score.dp_budget WHERE pg_temp.peek(role)" "SELECT count(*) FROM privacy_score.dp_releases WHERE pg_temp.peek(role)" | grep -cE 'saw (alice|team|squad|quiet)')" 0
check "the owner of the relation sees who asked" "$(as owner q "SELECT string_agg(DISTINCT role, ' ' ORDER BY role) FROM privacy_score.dp_releases")" "alice mallory quiet"
check "the internal functions cannot be used" "$(as mallory q_state "SELECT privacy_score.tidy_budgets()")$(as mallory q_state "SELECT privacy_score.budget_restored()")" 4250142501

# --- granting to oneself ---------------------------------------------------------------------------------------------------
check "only the owner grants" "$(as mallory q_state "SELECT privacy_score.dp_grant('mallory', 'h.patients', 1000)")" 42501
check "and revokes" "$(as mallory q_state "SELECT privacy_score.dp_revoke('alice', 'h.patients')")" 42501
as mallory q "CREATE VIEW h.mine AS SELECT * FROM h.patients" "SELECT privacy_score.dp_grant('mallory', 'h.mine', 1000)" >/dev/null
check "a view of one's own over the table reads with one's own rights" "$(as mallory q_state "SELECT privacy_score.dp_count('h.mine', epsilon => 50)")" 42501
as mallory q "CREATE TABLE h.parent (id int, first_name text, city text, diagnosis text)" "SELECT privacy_score.dp_grant('mallory', 'h.parent', 1000)" >/dev/null
check "nor can the table be made a child of one's own" "$(as mallory q_state "ALTER TABLE h.patients INHERIT h.parent")" 42501

# --- dropping and making again ---------------------------------------------------------------------------------------------
before=$(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'mallory' AND relation = 'h.patients'::regclass")
as owner q "ALTER TABLE h.patients RENAME TO patients_old" "CREATE TABLE h.patients (id int, first_name text, city text, diagnosis text)" >/dev/null
check "a table that takes the name of a renamed one has no budgets" "$(as mallory q_state "$(count 'id = 1')")" 42501
check "the renamed one has" "$(as mallory q_state "SELECT privacy_score.dp_count('h.patients_old', 'id = 10', 50)")" PS002
as owner q "DROP TABLE h.patients" "ALTER TABLE h.patients_old RENAME TO patients" >/dev/null
for again in 1 2 3; do
  q "DROP TABLE h.patients CASCADE" "CREATE TABLE h.patients (id int, first_name text, city text, diagnosis text)" "ALTER TABLE h.patients OWNER TO owner" >/dev/null
  as owner q "SELECT privacy_score.dp_grant('mallory', 'h.patients', 100)" >/dev/null
done
check "dropped and made again three times, with a new grant each: spent stays spent" "$(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'mallory' AND relation = 'h.patients'::regclass")" "$before"
check "and there is nothing left" "$(as mallory q_state "$(count 'id = 1')")" PS002
for again in 1 2 3; do as owner q "SELECT privacy_score.dp_revoke('mallory', 'h.patients')" "SELECT privacy_score.dp_grant('mallory', 'h.patients', 100, period => '${again}00 days')" >/dev/null; done
check "revoked and granted again, with other periods" "$(as mallory q_state "$(count 'id = 1')")" PS002
check "all of it in one transaction that is rolled back" "$(as owner q "BEGIN" "SELECT privacy_score.dp_revoke('mallory', 'h.patients')" "SELECT privacy_score.dp_grant('mallory', 'h.patients', 1000)" "ROLLBACK" >/dev/null; as mallory q_state "$(count 'id = 1')")" PS002

check "nothing went wrong in the server" "$(grep -cE 'PANIC|terminated by signal' "$ps_log")" 0
done_testing

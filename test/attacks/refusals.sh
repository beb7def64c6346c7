#!/bin/bash
# refusals.sh - a role that is labelled "dp only" in mode enforce tries every detour to a protected relation. Each is
# refused with PS001 before a row is read, and nothing of it is left; what reads no protected relation still runs.
. "$(dirname "$0")/../attack.sh"
start_hospital "privacy_score.mode = enforce"
as mallory q_script >/dev/null <<'SQL' || bail_out "the detours cannot be made"
CREATE TABLE h.loot (d text);
CREATE TABLE h.guarded (id int);
INSERT INTO h.guarded VALUES (1);
CREATE VIEW h.one AS SELECT diagnosis FROM h.patients;
CREATE VIEW h.two AS SELECT diagnosis FROM h.one;
CREATE MATERIALIZED VIEW h.empty AS SELECT diagnosis FROM h.patients WITH NO DATA;
CREATE FUNCTION h.inlined() RETURNS SETOF text STABLE LANGUAGE sql AS 'SELECT diagnosis FROM h.patients';
CREATE FUNCTION h.scalar() RETURNS text LANGUAGE sql AS 'SELECT diagnosis FROM h.patients WHERE id = 1';
CREATE FUNCTION h.definer() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql AS 'SELECT diagnosis FROM h.patients';
CREATE FUNCTION h.dynamic() RETURNS text LANGUAGE plpgsql AS $$DECLARE d text; BEGIN EXECUTE 'SELECT diag' || 'nosis FROM h.patients WHERE id = 1' INTO d; RETURN d; END$$;
CREATE FUNCTION h.swallowing() RETURNS text LANGUAGE plpgsql AS $$BEGIN RETURN h.dynamic(); EXCEPTION WHEN OTHERS THEN RETURN 'caught ' || SQLSTATE; END$$;
CREATE FUNCTION h.folded() RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT diagnosis FROM h.patients WHERE id = 1); END$$;
CREATE FUNCTION h.stealing() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO h.loot SELECT diagnosis FROM h.patients; RETURN NEW; END$$;
CREATE TRIGGER t BEFORE INSERT ON h.guarded FOR EACH ROW EXECUTE FUNCTION h.stealing();
CREATE RULE r AS ON DELETE TO h.guarded DO INSTEAD SELECT diagnosis FROM h.patients;
CREATE PROCEDURE h.call() LANGUAGE plpgsql AS $$BEGIN COMMIT; PERFORM diagnosis FROM h.patients; END$$;
SQL
# Plans and cursors that are older than the label.
mkfifo "$PS_TMP/mallory"
as mallory "$PS_BINDIR/psql" -XAtq <"$PS_TMP/mallory" >"$PS_TMP/mallory.out" 2>&1 &
exec 3>"$PS_TMP/mallory"
heard() { for _ in $(seq 3000); do grep -q "$1" "$PS_TMP/mallory.out" && return; sleep 0.1; done; return 1; }
echo "SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT diagnosis FROM patients; EXECUTE p; SELECT h.dynamic(); \\echo ready" >&3
check_true "before the label it reads" heard ready
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" "SELECT privacy_score.flush()" >/dev/null
# One statement after the other, so that each meets the label by itself.
printf '%s\n' "\\echo refusing" "EXECUTE p;" "\\echo first :SQLSTATE" "SELECT h.dynamic();" "\\echo second :SQLSTATE" "SELECT 1;" "\\echo third :SQLSTATE" >&3
check_true "the open session answers" heard third
check "a generic plan and a function's plan that are older than the label are refused" "$(grep -E '^(first|second|third) ' "$PS_TMP/mallory.out" | tr '\n' ' ')" \
  "first PS001 second PS001 third 00000 "
check "and give no row" "$(sed -n '/^refusing/,$p' "$PS_TMP/mallory.out" | grep -cE '^d[0-9]')" 0
exec 3>&-

query="SELECT diagnosis FROM patients"
for statement in "$query" "SELECT count(*) FROM patients" "TABLE patients" "SELECT 1 WHERE EXISTS (SELECT FROM patients WHERE diagnosis = 'd1')" \
  "SELECT * FROM two" "REFRESH MATERIALIZED VIEW empty" "SELECT * FROM h.inlined()" "SELECT h.inlined()" "SELECT h.scalar()" "SELECT * FROM h.definer()" \
  "SELECT h.dynamic()" "SELECT h.folded()" "EXPLAIN SELECT h.folded()" "INSERT INTO guarded VALUES (2)" "DELETE FROM guarded" "CALL h.call()" \
  "COPY patients TO STDOUT" "COPY patients (diagnosis) TO STDOUT" "COPY ($query) TO STDOUT" "CREATE TABLE stolen AS $query" "SELECT diagnosis INTO stolen FROM patients" \
  "INSERT INTO loot $query" "UPDATE loot SET d = (SELECT diagnosis FROM patients WHERE id = 1)" "DECLARE c CURSOR WITH HOLD FOR $query" \
  "EXPLAIN $query" "EXPLAIN ANALYZE $query" "SELECT query_to_xml('$query', true, false, '')" "SELECT table_to_xml('patients', true, false, '')" \
  "SELECT * FROM ts_stat('SELECT to_tsvector(diagnosis) FROM h.patients')" "WITH x AS ($query) SELECT * FROM x" "WITH x AS (INSERT INTO loot $query RETURNING d) SELECT 1" \
  "DO \$\$BEGIN PERFORM diagnosis FROM h.patients; END\$\$" "SET ROLE clerk; SELECT diagnosis FROM h.patients" "DISCARD ALL; SELECT diagnosis FROM h.patients" \
  "SET $forced_parallel = on; $query" "SELECT ctid FROM patients" "SELECT tableoid FROM patients" "CREATE INDEX ON loot (h.folded())" \
  "BEGIN; SAVEPOINT a; $query"; do
  refused "$statement" PS001 "$statement"
done
check "an error that is caught gives nothing but its code" "$(as_mallory "SELECT h.swallowing()")" "caught PS001"
check "nothing was taken" "$(q "SELECT count(*) FROM h.loot" "SELECT to_regclass('h.stolen') IS NULL")" "0
t"
message=$(as mallory psql -XAt -c "$query" 2>&1)
check "the message has no value" "$(grep -cE "d[0-9]|alice" <<<"$message")" 0
check "what reads nothing protected runs" "$(as mallory q_state "SELECT * FROM guarded, pg_class LIMIT 1")" 00000
q "SELECT privacy_score.flush()" >/dev/null
check_true "refusals are recorded" wait_for "SELECT count(*) > 0, bool_and(blocked) FROM privacy_score.alerts WHERE role = 'mallory' AND kind = 'dp_only'" "t|t"
check_scored
done_testing

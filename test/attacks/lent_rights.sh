#!/bin/bash
# lent_rights.sh - code that is made of the server's own functions, such as a view, runs with the rights of who reads:
# of the owner of a relation for a noisy answer, of a superuser for his report. The attacker's must not run there.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" "CREATE ROLE owner LOGIN" "CREATE ROLE mallory LOGIN" "CREATE ROLE partner" "GRANT partner TO owner" \
  "CREATE SCHEMA o AUTHORIZATION owner" "CREATE SCHEMA m AUTHORIZATION mallory" "CREATE SCHEMA p AUTHORIZATION partner" >/dev/null
as owner q "GRANT USAGE ON SCHEMA o TO PUBLIC" "CREATE TABLE o.secret (v text)" "INSERT INTO o.secret VALUES ('TOPSECRET')" \
  "CREATE TABLE o.t (id int, city text)" "INSERT INTO o.t SELECT i, 'c' FROM generate_series(1, 100) i" >/dev/null
as mallory q "GRANT USAGE ON SCHEMA m TO PUBLIC" >/dev/null

# No function but the server's own: it sends what o.secret holds, and whose rights it had, to who listens.
leak="pg_notify('leak', current_user || ' says ' || query_to_xml('SELECT v FROM o.secret', true, false, '')::text)"
cities="SELECT 'c'::text AS city, 'x'::text AS region"
leaking="$cities FROM (SELECT $leak AS n OFFSET 0) s WHERE s.n::text = ''"

# asks "what" "answer" statement...: mallory's statements in one session print the answer at last, and nothing leaks.
asks() {
  local what=$1 answer=$2 said
  shift 2
  said=$(printf '%s;\n' "LISTEN leak" "$@" "SELECT 'end'" | as mallory "$PS_BINDIR/psql" -XAtq 2>&1)
  check "nothing comes out: $what" "$(grep -cE 'TOPSECRET|says' <<<"$said")" 0
  check_match "$what" "$(grep -vE '^(DETAIL|HINT|end)' <<<"$said" | tail -n 1)" "$answer"
}

# The leak works where mallory's code runs with the owner's rights by the owner's own doing: the checks could fail.
as mallory q "CREATE VIEW m.proof AS $leaking" "GRANT SELECT ON m.proof TO PUBLIC" >/dev/null
check_match "an owner who reads such a view himself tells" "$(as owner q "LISTEN leak" "SELECT count(*) FROM m.proof")" "owner says .*TOPSECRET"

# --- views below a view -----------------------------------------------------------------------------------------------------------
as mallory q "CREATE VIEW m.cities AS $cities" "GRANT SELECT ON m.cities TO PUBLIC" >/dev/null
q "CREATE VIEW p.cities AS $cities" "ALTER VIEW p.cities OWNER TO partner" "GRANT SELECT ON p.cities TO PUBLIC" >/dev/null
q "CREATE VIEW public.cities AS $cities" "GRANT SELECT ON public.cities TO PUBLIC" >/dev/null
for from in m p public; do
  as owner q "CREATE VIEW o.v_$from AS SELECT t.id, t.city, c.region FROM o.t JOIN $from.cities c USING (city)" "SELECT privacy_score.dp_grant('mallory', 'o.v_$from', 1000)" >/dev/null
done
stops="^ERROR:  view cities, which belongs to role \"mallory\", cannot run here"
question="region = ''x''', 10)"
asks "a view over one of a role whose rights the owner has" "^100$" "SELECT privacy_score.dp_count('o.v_public', '$question"
as owner q "GRANT SELECT ON o.t TO partner" >/dev/null
q "ALTER VIEW o.v_p OWNER TO partner" "GRANT USAGE, CREATE ON SCHEMA o TO partner" >/dev/null
asks "a view over one of the same owner's" "^100$" "SELECT privacy_score.dp_count('o.v_p', '$question"
asks "a view over one of the asker's" "$stops" "SELECT privacy_score.dp_count('o.v_m', '$question"
as mallory q "CREATE OR REPLACE VIEW m.cities AS $leaking" >/dev/null
asks "once it does something" "$stops" "SELECT privacy_score.dp_count('o.v_m', '$question"
as owner q "CREATE FUNCTION o.region(text) RETURNS text LANGUAGE plpgsql STABLE AS 'BEGIN RETURN (SELECT region FROM m.cities WHERE city = \$1); END'" \
  "CREATE VIEW o.called AS SELECT id, o.region(city) AS region FROM o.t" "SELECT privacy_score.dp_grant('mallory', 'o.called', 1000)" >/dev/null
asks "read by a function" "$stops" "SELECT privacy_score.dp_count('o.called', '$question"
if [ "$ps_major" -lt 16 ]; then
  as mallory q "CREATE TABLE m.places (city text, region text)" "GRANT SELECT ON m.places TO PUBLIC" >/dev/null
  q "CREATE VIEW o.placed AS SELECT t.id, c.region FROM o.t JOIN m.places c USING (city)" "SELECT privacy_score.dp_grant('mallory', 'o.placed', 1000)" >/dev/null
  asks "a view over a table of the asker's" "^0$" "SELECT privacy_score.dp_count('o.placed', '$question"
  asks "which becomes a view" "^ERROR:  view places, which belongs to role \"mallory\"" "CREATE RULE \"_RETURN\" AS ON SELECT TO m.places DO INSTEAD $leaking" \
    "SELECT privacy_score.dp_count('o.placed', 'region = ''x''', 11)"
fi

# --- temporary objects of the asker's, found by names that a function looks up --------------------------------------------------------
as owner q "CREATE TABLE o.labels (id int, label text)" "INSERT INTO o.labels SELECT i, 'x' FROM generate_series(1, 100) i" "CREATE TABLE o.audit (id int)" "CREATE DOMAIN o.status AS text" \
  "CREATE FUNCTION o.label(int) RETURNS text LANGUAGE plpgsql STABLE SET search_path = o AS 'BEGIN RETURN (SELECT label FROM labels l WHERE l.id = \$1); END'" \
  "CREATE FUNCTION o.safe(int) RETURNS text LANGUAGE plpgsql STABLE SET search_path = o, pg_temp AS 'BEGIN RETURN (SELECT label FROM labels l WHERE l.id = \$1); END'" \
  "CREATE FUNCTION o.state(int) RETURNS text LANGUAGE plpgsql STABLE SET search_path = o AS 'DECLARE s status := ''x''; BEGIN RETURN s; END'" \
  "CREATE FUNCTION o.logs(int) RETURNS text LANGUAGE plpgsql SET search_path = o AS 'BEGIN INSERT INTO audit VALUES (\$1); RETURN ''x''; END'" \
  "CREATE FUNCTION o.hides(int) RETURNS text LANGUAGE plpgsql STABLE AS 'BEGIN RETURN o.label(\$1); END'" \
  "CREATE FUNCTION o.wanders(int) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM set_config(''search_path'', ''o'', true); RETURN (SELECT label FROM labels l WHERE l.id = \$1); END'" \
  "CREATE FUNCTION o.writes(int) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM set_config(''search_path'', ''o'', true); INSERT INTO audit VALUES (\$1); RETURN ''x''; END'" >/dev/null
for name in label safe state logs hides wanders writes; do
  as owner q "CREATE VIEW o.by_$name AS SELECT id, o.$name(id) AS region FROM o.t" "SELECT privacy_score.dp_grant('mallory', 'o.by_$name', 1000)" >/dev/null
  asks "a function, $name" "^100$" "SELECT privacy_score.dp_count('o.by_$name', '$question"
done
as mallory q "CREATE FUNCTION m.trg() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM $(sed "s/'/''/g" <<<"$leak"); RETURN new; END'" >/dev/null
view="CREATE TEMP VIEW labels AS SELECT 1 AS id, region AS label FROM ($leaking) z; GRANT SELECT ON labels TO PUBLIC"
table="CREATE TEMP TABLE audit (id int DEFAULT 1); GRANT INSERT ON audit TO PUBLIC; CREATE TRIGGER t BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION m.trg()"
rule="CREATE TEMP TABLE audit (id int); GRANT INSERT ON audit TO PUBLIC; CREATE RULE r AS ON INSERT TO audit DO ALSO SELECT $leak"
domain="CREATE DOMAIN pg_temp.status AS text CHECK ($leak IS NOT NULL)"
misled() { printf '%s' "^ERROR:  function o.$1\\(integer\\) cannot run here while the session has temporary objects"; }
question="region = ''x''', 9)"
asks "a temporary view" "$(misled label)" "$view" "SELECT privacy_score.dp_count('o.by_label', '$question"
asks "for a function within a function" "$(misled label)" "$view" "SELECT privacy_score.dp_count('o.by_hides', '$question"
asks "for one that looks there last" "^100$" "$view" "SELECT privacy_score.dp_count('o.by_safe', '$question"
asks "for one that sets its path itself" "^ERROR:  view labels, which belongs to role \"mallory\"" "$view" "SELECT privacy_score.dp_count('o.by_wanders', '$question"
asks "a temporary domain" "$(misled state)" "$domain" "SELECT privacy_score.dp_count('o.by_state', '$question"
asks "a temporary table with a trigger" "$(misled logs)" "$table" "SELECT privacy_score.dp_count('o.by_logs', '$question"
asks "for one that sets its path itself, a trigger" "^ERROR:  writing to relation audit, which belongs to role \"mallory\"" "$table" "SELECT privacy_score.dp_count('o.by_writes', '$question"
asks "and a rule" "^ERROR:  writing to relation audit, which belongs to role \"mallory\"" "$rule" "SELECT privacy_score.dp_count('o.by_writes', '$question"
asks "temporary objects that have gone" "^100$" "$view" "DISCARD TEMP" "SELECT privacy_score.dp_count('o.by_label', 'region = ''x''', 8)"
check "the owner's own temporary objects stop nothing" "$(as owner q "SELECT privacy_score.dp_grant('owner', 'o.by_label', 100)" "CREATE TEMP TABLE other (id int)" "SELECT privacy_score.dp_count('o.by_label', 'region = ''x''', 10)" | tail -n 1)" 100

# --- functions that no expression calls: of a trigger, of a type --------------------------------------------------------------------
as owner q "CREATE TABLE o.log (id int)" "CREATE FUNCTION o.noted(int) RETURNS text LANGUAGE plpgsql AS 'BEGIN INSERT INTO o.log VALUES (\$1); RETURN ''x''; END'" \
  "CREATE VIEW o.noting AS SELECT id, o.noted(id) AS region FROM o.t" "SELECT privacy_score.dp_grant('mallory', 'o.noting', 1000)" "GRANT TRIGGER ON o.log TO mallory" >/dev/null
asks "a table that the owner's function writes" "^100$" "SELECT privacy_score.dp_count('o.noting', 'region = ''x''', 10)"
asks "its trigger of the asker's" "^ERROR:  function m.trg\\(\\), which belongs to role \"mallory\", cannot run here" \
  "CREATE TRIGGER t BEFORE INSERT ON o.log FOR EACH ROW EXECUTE FUNCTION m.trg()" "SELECT privacy_score.dp_count('o.noting', 'region = ''x''', 9)"
as mallory q "CREATE FUNCTION m.diff(int, int) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN \$1 - \$2; END'" "CREATE TYPE m.rng AS RANGE (subtype = int4, subtype_diff = m.diff)" >/dev/null
as owner q "CREATE TABLE o.ranges (id int, r m.rng)" "INSERT INTO o.ranges SELECT i, m.rng(i, i + 10) FROM generate_series(1, 1000) i" "ANALYZE o.ranges" \
  "CREATE VIEW o.ranged AS SELECT id FROM o.ranges WHERE r && '[1,50)'::m.rng" "SELECT privacy_score.dp_grant('mallory', 'o.ranged', 1000)" >/dev/null
as mallory q "CREATE OR REPLACE FUNCTION m.diff(int, int) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN PERFORM $(sed "s/'/''/g" <<<"$leak"); RETURN \$1 - \$2; END'" >/dev/null
asks "what the planner asks of a type of the asker's" "^ERROR:  function m.diff\\(integer,integer\\), which belongs to role \"mallory\", cannot run here" "SELECT privacy_score.dp_count('o.ranged', 'id > 0', 10)"

# --- a superuser's report -------------------------------------------------------------------------------------------------------------
session() { # NAME DESCRIPTOR
  mkfifo "$PS_TMP/$1"
  as mallory "$PS_BINDIR/psql" -XAtq <"$PS_TMP/$1" >"$PS_TMP/$1.out" 2>&1 &
  eval "exec $2>$PS_TMP/$1"
}
session listener 5
echo "LISTEN leak;" >&5
# swapped "what" "change": while a report waits for m.r2, m.r1, which comes before, is changed.
swapped() {
  session "holder$3" 3
  session "changer$3" 4
  echo "BEGIN; LOCK m.r2 IN ACCESS EXCLUSIVE MODE;" >&3
  wait_for "SELECT count(*) FROM pg_locks WHERE relation = 'm.r2'::regclass AND mode = 'AccessExclusiveLock' AND granted" 1
  q_all "SELECT length(privacy_score.report()) > 1000" >"$PS_TMP/report" 2>&1 &
  local report=$!
  wait_for "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'm.r2'::regclass AND NOT granted" t
  echo "BEGIN; $2; SELECT 'changed';" >&4
  wait_for "SELECT count(*) > 0 FROM pg_stat_activity WHERE query ~ 'changed' AND pid <> pg_backend_pid() AND (state = 'idle in transaction' OR wait_event_type = 'Lock')" t
  echo "COMMIT;" >&3
  exec 3>&-
  sleep 1
  echo "COMMIT;" >&4
  exec 4>&-
  wait "$report"
  check "a report goes on: $1" "$(cat "$PS_TMP/report")" t
}
for r in r1 r2; do
  as mallory q "CREATE TABLE m.$r (bid int, v text)" "INSERT INTO m.$r VALUES (1, 'a')" "COMMENT ON TABLE m.$r IS 'privacy_score release: sensitive values of x'" >/dev/null
done
released="SELECT 1 AS bid, n::text AS v FROM (SELECT $leak AS n OFFSET 0) s"
swapped "a release that becomes a view" "DROP TABLE m.r1; CREATE VIEW m.r1 AS $released; GRANT SELECT ON m.r1 TO PUBLIC" 1
as mallory q "DROP VIEW m.r1" "CREATE TABLE m.r1 (bid int, v text)" "COMMENT ON TABLE m.r2 IS NULL" "SELECT privacy_score.protect('m.r1', '{bid}')" "SELECT privacy_score.protect('m.r2', '{bid}')" >/dev/null
[ "$ps_major" -ge 16 ] || swapped "a protected table that becomes a view" "CREATE RULE \"_RETURN\" AS ON SELECT TO m.r1 DO INSTEAD $released" 2
echo "SELECT 1;" >&5
sleep 0.5
echo "SELECT 'heard';" >&5
exec 5>&-
wait
check "nothing comes out of a report" "$(grep -cE 'TOPSECRET|says' "$PS_TMP/listener.out") $(tail -n 1 "$PS_TMP/listener.out")" "0 heard"
check "the server has not crashed" "$(grep -c "was terminated by signal" "$ps_log")" 0
done_testing

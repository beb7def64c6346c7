#!/bin/bash
# detours.sh - code of the attacker's own that the server runs on the way: while planning, in foreign key actions, in
# maintenance by somebody else, in the rate functions. The attacker is "dp only": nothing protected may come out.
. "$(dirname "$0")/../lib.sh"

start_server "autovacuum = off"
q "CREATE EXTENSION privacy_score" "CREATE ROLE ana LOGIN" "CREATE SCHEMA ana AUTHORIZATION ana" \
  "CREATE TABLE person (id int PRIMARY KEY, ssn text)" "INSERT INTO person SELECT i, 'secret-' || i % 20 FROM generate_series(1, 2000) i" \
  "ANALYZE person" "GRANT SELECT ON person TO ana" "SELECT privacy_score.protect('person')" \
  "SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only'" >/dev/null

# taken "what" statement...: ana runs the statements in one session; nothing of what they print is a secret.
taken() {
  local what=$1
  shift
  check "nothing comes out: $what" "$(printf '%s;\n' "$@" | as ana "$PS_BINDIR/psql" -XAtq 2>&1 | grep -c 'secret-')" 0
}

as ana q "CREATE FUNCTION ana.tell(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', \$1; RETURN \$1; END'" \
  "CREATE FUNCTION ana.leak() RETURNS int IMMUTABLE LANGUAGE plpgsql AS
     'DECLARE s text; BEGIN FOR s IN SELECT ssn FROM public.person LOOP RAISE NOTICE ''%'', s; END LOOP; RETURN 1; END'" \
  "CREATE FUNCTION ana.same(text, text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', \$1; RETURN \$1 = \$2; END'" \
  "CREATE OPERATOR ana.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = ana.same, RESTRICT = matchingsel)" \
  "CREATE VIEW ana.v AS SELECT id, ana.tell(ssn) AS x FROM public.person" \
  "CREATE VIEW ana.w AS SELECT i AS id, ana.leak() AS x FROM generate_series(1, 2) i" \
  "CREATE TABLE ana.pk (x int PRIMARY KEY)" "INSERT INTO ana.pk VALUES (1), (7)" \
  "CREATE TABLE ana.fk (x int DEFAULT ana.leak() REFERENCES ana.pk ON DELETE SET DEFAULT)" "INSERT INTO ana.fk VALUES (7)" \
  "CREATE TABLE ana.own (a int, b text)" "INSERT INTO ana.own SELECT i, i FROM generate_series(1, 50) i" \
  "ALTER TABLE ana.own ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY" "CREATE POLICY p ON ana.own USING (ana.leak() = 1)" \
  "CREATE TYPE ana.pair AS (a text)" "CREATE FUNCTION ana.show(ana.pair) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM ana.leak(); RETURN ''''; END'" \
  "CREATE CAST (ana.pair AS text) WITH FUNCTION ana.show(ana.pair)" "CREATE TABLE ana.cast_own (id int, j json, p ana.pair)" \
  "INSERT INTO ana.cast_own VALUES (1, '{}', ROW('x'))" \
  "CREATE TABLE ana.parted (k int) PARTITION BY LIST (k)" "CREATE TABLE ana.part1 PARTITION OF ana.parted FOR VALUES IN (1)" \
  "CREATE FUNCTION ana.prune() RETURNS int STABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN ana.leak(); END'" >/dev/null

taken "statistics handed to an operator of one's own" "SET search_path = ana, public" "EXPLAIN SELECT 1 FROM person WHERE ssn === 'x'"
taken "its negative in a subquery" "SET search_path = ana, public" "EXPLAIN SELECT 1 WHERE EXISTS (SELECT FROM person WHERE NOT ssn === 'x')"
taken "a view in a rate function" "SELECT privacy_score.discrimination_rate('ana.v', 'x', '{id}')" "SELECT * FROM privacy_score.attribute_risk('ana.v')"
taken "a function behind a view in a rate function" "SELECT privacy_score.discrimination_rate('ana.w', 'x', '{id}')"
taken "a policy in a rate function" "SELECT privacy_score.discrimination_rate('ana.own', 'b', '{a}')" "SELECT privacy_score.protect('ana.own', '{a}')" \
  "SELECT privacy_score.analyze_relation('ana.own')"
taken "a cast in a rate function" "SELECT privacy_score.discrimination_rate('ana.cast_own', 'p', '{id}')" "SELECT privacy_score.discrimination_rate('ana.cast_own', 'j', '{id}')"
taken "a foreign key action" "DELETE FROM ana.pk WHERE x = 7"
taken "pruning in a parallel worker" "SET $forced_parallel = on" "SELECT * FROM ana.parted WHERE k = ana.prune()"

# --- expressions of indexes and statistics: the planner evaluates what is constant in them ------------------------------------------
# becomes "body": from now on that is what the function does.
becomes() {
  as ana q "CREATE OR REPLACE FUNCTION ana.k(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN $1; RETURN \$1; END'" >/dev/null
}

becomes NULL
as ana q "CREATE TABLE ana.folded (a int, b int)" "INSERT INTO ana.folded SELECT i, i % 7 FROM generate_series(1, 50) i" \
  "CREATE INDEX ON ana.folded ((a + ana.k(1)))" "CREATE STATISTICS ana.s ON (a + ana.k(2)) FROM ana.folded" "CREATE TABLE ana.loot (s text)" \
  "CREATE FUNCTION ana.note() RETURNS void LANGUAGE sql AS 'INSERT INTO ana.loot VALUES (current_user)'" \
  "SELECT privacy_score.protect('ana.folded', '{a}')" >/dev/null
becomes "PERFORM ana.leak()"
measure="SELECT privacy_score.discrimination_rate('ana.folded', 'b')"
taken "an expression in a rate function" "$measure"
check_match "what it reads is judged" "$(as ana q_all "$measure")" "^ERROR:  statement refused: this role may not read protected relations"
measure="SELECT privacy_score.analyze_relation('ana.folded')"
taken "an expression in stored rates" "$measure"
check_match "for these it does not run" "$(as ana q_all "$measure")" "function ana.k\(integer\), which belongs to role \"ana\", cannot run here"
becomes "PERFORM ana.note()"
as ana q "CREATE TYPE ana.small AS ENUM ('x')" "CREATE FUNCTION ana.counts(ana.small) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN PERFORM ana.note(); RETURN 1; END'" \
  "CREATE CAST (ana.small AS bigint) WITH FUNCTION ana.counts(ana.small) AS IMPLICIT" "CREATE TABLE ana.bait (bid int, v text, count ana.small)" \
  "INSERT INTO ana.bait VALUES (1, 'v', 'x')" "CREATE TABLE ana.broken (bid int, v json, count text)" \
  "COMMENT ON TABLE ana.bait IS 'privacy_score release: sensitive values of it'" "COMMENT ON TABLE ana.broken IS 'privacy_score release: sensitive values of it'" >/dev/null
check_true "a superuser's report" [ "$(q "SELECT length(privacy_score.report()) > 1000")" = t ]
check "runs nobody's code" "$(q "TABLE ana.loot")" ""
check "a superuser who reads the table does" "$(q "SELECT count(*) FROM ana.folded" "TABLE ana.loot" | sort -u | paste -sd ' ')" "50 postgres"
becomes NULL

# --- maintenance by somebody else ---------------------------------------------------------------------------------------------
as ana q "TRUNCATE ana.loot" "CREATE FUNCTION ana.rob() RETURNS void LANGUAGE sql AS 'INSERT INTO ana.loot SELECT ssn FROM public.person'" \
  "CREATE FUNCTION ana.f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM ana.rob(); RETURN \$1; EXCEPTION WHEN OTHERS THEN RETURN \$1; END'" \
  "CREATE TABLE ana.t (a int)" "INSERT INTO ana.t SELECT generate_series(1, 100)" "CREATE INDEX ON ana.t (ana.f(a))" >/dev/null
q "ANALYZE ana.t" "REINDEX TABLE ana.t" >/dev/null
check "nothing comes out: an index function in maintenance by a superuser" "$(q "SELECT count(*) FROM ana.loot")" 0

# --- COPY of a name that passes to another relation -----------------------------------------------------------------------------
as ana q "CREATE TABLE ana.person (id int)" >/dev/null
q "GRANT ana TO postgres" >/dev/null
q "BEGIN" "LOCK TABLE ana.person" "SELECT pg_sleep(1.5)" "DROP TABLE ana.person" "COMMIT" >/dev/null &
locker=$!
wait_for "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'ana.person'::regclass AND mode = 'AccessExclusiveLock' AND granted" t
taken "COPY that waits" "SET search_path = ana, public" "COPY person TO STDOUT"
wait $locker

# --- a policy that comes while the lock is waited for --------------------------------------------------------------------------------
as ana q "CREATE TABLE ana.late (a int)" "INSERT INTO ana.late SELECT generate_series(1, 50)" >/dev/null
as ana q "BEGIN" "ALTER TABLE ana.late ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY" "CREATE POLICY p ON ana.late USING (ana.leak() = 1)" \
  "SELECT pg_sleep(1.5)" "COMMIT" >/dev/null &
locker=$!
wait_for "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'ana.late'::regclass AND mode = 'AccessExclusiveLock' AND granted" t
taken "a policy that comes while a rate function waits" "SELECT privacy_score.query_identification('SELECT a FROM ana.late')"
wait $locker

# --- a name that passes to a view while the planner waits for a lock on an index ------------------------------------------------------
q "GRANT CREATE ON DATABASE postgres TO ana" >/dev/null
as ana q "CREATE SCHEMA here" "CREATE TABLE here.t (a int, b int) PARTITION BY LIST (b)" "CREATE TABLE here.t1 PARTITION OF here.t FOR VALUES IN (1)" \
  "INSERT INTO here.t SELECT i, 1 FROM generate_series(1, 50) i" "CREATE INDEX t1_a ON here.t1 (a)" \
  "CREATE SCHEMA there" "CREATE VIEW there.t AS SELECT id AS a, ana.leak() AS b FROM public.person" >/dev/null
mkfifo "$PS_TMP/renamer"
as ana "$PS_BINDIR/psql" -Xq <"$PS_TMP/renamer" >/dev/null &
exec 4>"$PS_TMP/renamer"
echo "BEGIN; REINDEX INDEX here.t1_a;" >&4
locks="SELECT count(*) FROM pg_locks WHERE relation = 'here.t1_a'::regclass AND granted ="
wait_for "$locks true" 1
as ana q_all "SELECT * FROM privacy_score.attribute_risk('here.t')" >"$PS_TMP/risk" 2>&1 &
asking=$!
wait_for "$locks false" 1
echo "ALTER SCHEMA here RENAME TO gone; ALTER SCHEMA there RENAME TO here; COMMIT;" >&4
wait $asking
exec 4>&-
check_match "nothing comes out: a name that passes to a view" "$(cat "$PS_TMP/risk")" "^ERROR:  a relation was renamed after this statement began"

# --- the worker outlives code of others -----------------------------------------------------------------------------------------
q "SECURITY LABEL FOR privacy_score ON ROLE ana IS 'watched'" >/dev/null
as ana q "CREATE TABLE ana.trap (a int, b int)" "INSERT INTO ana.trap SELECT i, i FROM generate_series(1, 50) i" \
  "ALTER TABLE ana.trap ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY" \
  "CREATE FUNCTION ana.stop() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3600); RAISE USING ERRCODE = ''57014''; END'" \
  "CREATE POLICY p ON ana.trap USING (CASE WHEN pg_backend_pid() = 0 THEN true ELSE (SELECT backend_type = 'client backend' OR ana.stop() FROM pg_stat_activity WHERE pid = pg_backend_pid()) END)" \
  "SELECT privacy_score.protect('ana.trap', '{a}')" >/dev/null
as ana q "SELECT b FROM ana.trap WHERE a = 1" >/dev/null
check_true "a policy of somebody's own does not stop the worker" timeout 20 "$PS_BINDIR/psql" -XAtqc "SELECT privacy_score.flush()"
becomes "IF session_user <> ''ana'' THEN PERFORM pg_sleep(3600); END IF"
as ana q "SELECT b FROM ana.folded WHERE a = 1" >/dev/null
check_true "nor does an expression" timeout 20 "$PS_BINDIR/psql" -XAtqc "SELECT privacy_score.flush()"
scores=$(q_all "SELECT bool_and(score > 0 AND score < max_score) FROM privacy_score.score('ana', current_date - 1, current_date + 1)")
check "scores of it are bounds, and say so" "$(grep -c '^WARNING:  could not compute a discrimination rate of relation ana.folded: function ana.k' <<<"$scores") $(tail -n 1 <<<"$scores")" "1 t"
check_true "which does not run" log_has "could not compute a discrimination rate of relation ana.folded: function ana.k"
as ana q "CREATE TABLE ana.stated (a int, b int)" "CREATE TABLE ana.checked (a int, b int)" "INSERT INTO ana.stated SELECT i, i % 7 FROM generate_series(1, 50) i" \
  "SELECT privacy_score.protect('ana.stated', '{a}')" "SELECT privacy_score.protect('ana.checked', '{a}')" "SELECT privacy_score.analyze_relation('ana.stated')" >/dev/null
unread() { q "SELECT privacy_score.report() ~ '$1[^\n]*not read for a report'"; }
check "tables that a report reads" "$(unread ana.stated) $(unread ana.checked)" "f f"
as ana q "CREATE STATISTICS ana.stated_s ON (a + ana.k(2)) FROM ana.stated" "ALTER TABLE ana.checked ADD CHECK (a > ana.k(3))" >/dev/null
check "tables that it does not read, for statistics and a check of theirs" "$(unread ana.stated) $(unread ana.checked)" "t t"
stored="SELECT count(*) FROM privacy_score.stat_cdr WHERE relation = 'ana.stated'::regclass"
check_true "a rate that is stored" test "$(q "$stored")" -gt 0
# The worker looks after rates as long as there is a session.
as ana q "SELECT pg_sleep(120)" >/dev/null 2>&1 &
session=$!
as ana q "INSERT INTO ana.stated SELECT i, i % 7 FROM generate_series(1, 5000) i" >/dev/null
check_true "goes when it is out of date and cannot be computed" wait_for "$stored" 0
as ana q "CREATE TABLE ana.slow (a int, b int)" "INSERT INTO ana.slow SELECT i, i % 7 FROM generate_series(1, 50) i" "SELECT privacy_score.protect('ana.slow', '{a}')" \
  "SELECT privacy_score.analyze_relation('ana.slow')" >/dev/null
# From now on planning takes for ever, and the stored rates are out of date.
as ana q "CREATE STATISTICS ana.slow_s ON (a + length(substring(repeat('a', 2001) from '^(a*)(a*)(a*)(a*)\1\2\3\4\$'))) FROM ana.slow" \
  "INSERT INTO ana.slow SELECT i, i % 7 FROM generate_series(1, 5000) i" >/dev/null
check_true "an expression that takes for ever is left to a process of its own" \
  wait_for "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'privacy_score rates' AND clock_timestamp() - backend_start > interval '2 s'" 1
as ana q "CREATE TABLE ana.fresh (a int)" "SELECT count(a) FROM ana.fresh" >/dev/null
check_true "while the worker records" wait_for "SELECT count(*) > 0 FROM privacy_score.abstraction WHERE 't:ana.fresh' = ANY (tokens)" t
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ana'" >/dev/null
wait $session
check_true "and history goes on" wait_for "SELECT count(*) > 0 FROM privacy_score.session WHERE role = 'ana' AND queries > 0" t
check "the server has not crashed" "$(grep -c "was terminated by signal" "$ps_log")" 0
done_testing

#!/bin/bash
# refresh.sh - rates in the background: all sets of a relation from one pass, one set's fault does not take the others
# down, rates that are out of date are computed again and bound from above meanwhile, relations that go while rates are
# wanted.
. "$(dirname "$0")/../lib.sh"

stored() { q "SELECT count(*) FROM privacy_score.rate WHERE relation_name = 'public.$1'"; }
pending="SELECT pending_cdr FROM privacy_score.stat_info"
rate_of() { q "SELECT round(rate::numeric, 4) FROM privacy_score.stat_cdr WHERE relation = '$1'::regclass AND attributes = '{$2}'"; }
# stop_worker: the worker takes in nothing until go_on.
stop_worker() {
  worker=$(q "SELECT worker_pid FROM privacy_score.stat_info")
  kill -STOP "$worker"
}
go_on() { kill -CONT "$worker"; }

start_server "max_worker_processes = 10" "privacy_score.rate_refresh_threshold = 20" "privacy_score.rate_refresh_scale_factor = 0.05" \
  "privacy_score.rate_check_interval = '200ms'"
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" \
  "CREATE TABLE patients (id int PRIMARY KEY, city text, gender text, diagnosis text, born int, ward int)" \
  "INSERT INTO patients SELECT i, 'c' || i % 13, i % 2, 'd' || i % 7, i % 50, i % 3 FROM generate_series(1, 400) i" \
  "SELECT privacy_score.protect('patients')" "GRANT SELECT ON patients TO alice" "SELECT privacy_score.flush()" >/dev/null

# A session of alice that reads statements from file descriptor 3 and keeps the worker running.
rm -f "$PS_TMP/alice"
mkfifo "$PS_TMP/alice"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >"$PS_TMP/alice.out" 2>&1 &
alice=$!
exec 3>"$PS_TMP/alice"
all_said() { [ "$(grep -c said "$PS_TMP/alice.out")" -ge "$said" ]; }
# say STATEMENT...: alice runs them; returns when she has.
say() {
  printf '%s;\n' "$@" "\\echo said" >&3
  said=$((${said:-0} + 1))
  wait_until all_said
}
estimated="SELECT estimated FROM privacy_score.stat_sessions WHERE role = 'alice'"
score="SELECT round(score::numeric, 4) FROM privacy_score.stat_sessions WHERE role = 'alice'"

# --- one pass for all sets ----------------------------------------------------------------------------------------------
say "SELECT ward FROM patients LIMIT 0 + 0"
wait_for "$estimated" f
scans="SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'patients'"
stop_worker
say "SELECT city FROM patients LIMIT 0 + 0" "SELECT gender FROM patients LIMIT 0 + 0" "SELECT born, ward FROM patients LIMIT 0 + 0" \
  "SELECT diagnosis, ward, city FROM patients LIMIT 0 + 0" "SELECT gender, city FROM patients LIMIT 0 + 0" \
  "SELECT born, city FROM patients LIMIT 0 + 0" "SELECT ward, gender, born FROM patients LIMIT 0 + 0"
check "rates that are asked for are counted, and the score is an upper bound" "$(q "$pending" "$estimated")" "7
t"
go_on
check_true "the worker corrects the score" wait_for "$estimated" f
sets=$(stored patients)
check_true "all of them are stored" test "$sets" -ge 8
check "nothing is pending" "$(q "$pending")" 0
# One for the first statement, one for those asked for together, each with one more for what the corrected score asks for.
check_true "they came from few passes over the table" wait_for "SELECT ($scans) BETWEEN 2 AND 4" t
check "and they are right" "$(rate_of patients born,city)" \
  "$(q "SELECT round(privacy_score.combined_discrimination_rate('patients', '{born,city}')::numeric, 4)")"

# --- out of date --------------------------------------------------------------------------------------------------------
check "few modified rows change nothing" "$(q "UPDATE patients SET city = 'c1' WHERE id <= 5" "SELECT pg_sleep(2)" \
  "SELECT count(*) FROM privacy_score.stat_cdr WHERE stale")" "
0"
old=$(rate_of patients city)
# Somebody holds the rates, so the worker cannot store new ones yet.
rm -f "$PS_TMP/holder"
mkfifo "$PS_TMP/holder"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/holder" >/dev/null 3>&- &
holder=$!
exec 5>"$PS_TMP/holder"
echo "BEGIN; SELECT count(*) FROM (SELECT 1 FROM privacy_score.rate FOR UPDATE) r;" >&5
q "UPDATE patients SET city = 'u' || id WHERE id <= 60" >/dev/null
check_true "many make rates out of date" wait_for "SELECT count(*) FROM privacy_score.stat_cdr WHERE stale" "$sets"
check_true "which counts as pending" wait_for "$pending" "$sets"
check "protected_relations says so" "$(q "SELECT stale FROM privacy_score.protected_relations")" t
say "SELECT count(*) FROM patients WHERE city = 'c1'"
check "a score that needs one is an estimate" "$(q "$estimated")" t
bound=$(q "$score")
sleep 1
check "for as long as it cannot be computed" "$(q "$estimated" "SELECT count(*) FROM privacy_score.stat_cdr WHERE stale")" "t
$sets"
exec 5>&-
wait $holder
check_true "then the worker computes them by itself" wait_for "SELECT count(*) FROM privacy_score.stat_cdr WHERE stale" 0
check_true "the score is corrected" wait_for "$estimated" f
check "nothing is pending" "$(q "$pending")" 0
new=$(rate_of patients city)
check "the rate is that of the rows as they are" "$new|$(q "SELECT $new > $old")" \
  "$(q "SELECT round(privacy_score.discrimination_rate('patients', 'city')::numeric, 4)")|t"
check "the estimate was not too low" "$(q "SELECT $bound >= ($score)")" t

# --- a table that was emptied, or is another one of the same name -------------------------------------------------------
q "TRUNCATE patients" "INSERT INTO patients SELECT i, 'c', i % 2, 'd', i, i FROM generate_series(1, 10) i" >/dev/null
check_true "TRUNCATE makes rates out of date" wait_for "SELECT rate, rows FROM privacy_score.stat_cdr WHERE attributes = '{city}'" "0|10"
q "DROP TABLE patients" "CREATE TABLE patients (id int PRIMARY KEY, city text, gender text, diagnosis text, born int, ward int)" \
  "GRANT SELECT ON patients TO alice" >/dev/null
check_true "so does another table of the name" wait_for "SELECT rate, rows FROM privacy_score.stat_cdr WHERE attributes = '{city}'" "0|0"
# Fewer rows than rate_refresh_threshold, and more than there were.
q "INSERT INTO patients SELECT i, i, 'g', 'd', i % 3, i FROM generate_series(1, 10) i" >/dev/null
check_true "the first rows of a table make its rates out of date" wait_for "SELECT rate, rows FROM privacy_score.stat_cdr WHERE attributes = '{city}'" "1|10"

# --- several relations about the same subjects --------------------------------------------------------------------------
q "CREATE TABLE client (id int PRIMARY KEY, zip text)" "CREATE TABLE visit (client int REFERENCES client, ward text)" \
  "INSERT INTO client SELECT i, 'z' || i % 4 FROM generate_series(1, 64) i" "INSERT INTO visit SELECT i, 'w' || (i / 4) % 2 FROM generate_series(1, 64) i" \
  "SELECT privacy_score.protect('client'), privacy_score.protect('visit', '{client}')" "GRANT SELECT ON client, visit TO alice" "SELECT privacy_score.flush()" >/dev/null
joint="SELECT relation, attributes, relations, target, round(rate::numeric, 4), rows FROM privacy_score.stat_cdr WHERE relations @> '{client,visit}'::regclass[]"
stop_worker
say "SELECT zip, ward FROM client JOIN visit ON id = client LIMIT 0 + 0"
check "without a joint rate the score is an upper bound" "$(q "$estimated")" t
go_on
# Four zips and two wards, independent: 3 of 6 bits.
check_true "the worker computes what they say together" wait_for "$joint" "client|{zip,ward}|{client,visit}|{id}|0.5000|64"
check_true "and corrects the score" wait_for "$estimated" f
q "UPDATE visit SET ward = 'w' || client" >/dev/null
check_true "it is out of date with each of them" wait_for "$joint" "client|{zip,ward}|{client,visit}|{id}|1.0000|64"
q "CREATE ROLE other" "ALTER TABLE visit OWNER TO other" "SELECT privacy_score.flush()" >/dev/null
say "SELECT ward, zip, 1 AS one FROM client JOIN visit ON id = client LIMIT 0 + 0"
check_true "of other owners they are not joined" wait_for "$estimated" f
check "and nothing is asked for in vain" "$(q "$pending")" 0
q "DROP TABLE visit" >/dev/null
check_true "none is left of a relation that was dropped" wait_for "SELECT count(*) FROM privacy_score.rate WHERE 'public.visit' = ANY (sources)" 0

# --- one set at fault ---------------------------------------------------------------------------------------------------
stopped="function public.odd_less(public.odd,public.odd), which belongs to role \"postgres\", cannot run here"
q_script >/dev/null <<'SQL'
CREATE TYPE odd;
CREATE FUNCTION odd_in(cstring) RETURNS odd LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION odd_out(odd) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE odd (INPUT = odd_in, OUTPUT = odd_out, LIKE = int4);
CREATE FUNCTION odd_compare(odd, odd) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS $$BEGIN RAISE 'this runs nowhere'; END$$;
CREATE FUNCTION odd_less(odd, odd) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT AS $$BEGIN RAISE 'this runs nowhere'; END$$;
CREATE OPERATOR < (LEFTARG = odd, RIGHTARG = odd, FUNCTION = odd_less);
CREATE OPERATOR <= (LEFTARG = odd, RIGHTARG = odd, FUNCTION = odd_less);
CREATE OPERATOR = (LEFTARG = odd, RIGHTARG = odd, FUNCTION = odd_less);
CREATE OPERATOR >= (LEFTARG = odd, RIGHTARG = odd, FUNCTION = odd_less);
CREATE OPERATOR > (LEFTARG = odd, RIGHTARG = odd, FUNCTION = odd_less);
CREATE OPERATOR CLASS odd_ops DEFAULT FOR TYPE odd USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 odd_compare(odd, odd);
CREATE TABLE samples (id int, a int, b int, c odd);
INSERT INTO samples SELECT i, i % 3, i % 5, i::text::odd FROM generate_series(1, 30) i;
SELECT privacy_score.protect('samples');
GRANT SELECT ON samples TO alice;
SELECT privacy_score.flush();
SQL
stop_worker
say "SELECT a FROM samples LIMIT 0 + 0" "SELECT a, c FROM samples LIMIT 0 + 0" "SELECT b FROM samples LIMIT 0 + 0" "SELECT b, c FROM samples LIMIT 0 + 0" \
  "SELECT a, b FROM samples LIMIT 0 + 0" "SELECT id, a, b FROM samples LIMIT 0 + 0"
go_on
check_true "a set that cannot be computed leaves the others of the pass alone" wait_for "SELECT count(*) FROM privacy_score.rate WHERE relation_name = 'public.samples'" 4
check_true "and is not pending" wait_for "$pending" 0
check "rates beside it are right" "$(rate_of samples a,b)" "$(q "SELECT round(privacy_score.combined_discrimination_rate('samples', '{a,b}')::numeric, 4)")"
check_true "the log says what is at fault" log_has "could not compute a discrimination rate of relation public.samples: ${stopped%%(*}"
check "analyze_relation warns of it and computes the rest" \
  "$(q_all "SELECT privacy_score.analyze_relation('samples')" | sort -u | sed -n '1p;$p')" \
  "5
WARNING:  could not compute a discrimination rate of relation public.samples: $stopped"
check "asked for by itself it is an error" "$(q "SELECT privacy_score.analyze_relation('samples', '{a,c}')")" "ERROR: $stopped"

# --- relations that go in between ---------------------------------------------------------------------------------------
q "CREATE TABLE brief AS SELECT i AS id, i % 3 AS a FROM generate_series(1, 30) i" "SELECT privacy_score.protect('brief')" \
  "GRANT SELECT ON brief TO alice" "SELECT privacy_score.flush()" >/dev/null
stop_worker
say "SELECT a FROM brief LIMIT 0 + 0" "SELECT a, id FROM brief LIMIT 0 + 0" "SELECT ward, born FROM patients LIMIT 0 + 0"
q "DROP TABLE brief" >/dev/null
go_on
check_true "sets of a relation that was dropped are not wanted any more" wait_for "$pending" 0
check "others are computed" "$(q "SELECT count(*) > 0 FROM privacy_score.rate WHERE relation_name = 'public.patients' AND attributes = '{public.patients.born,public.patients.ward}'")" t
check "no rate of it is left" "$(stored brief)" 0

# --- analyze_relation ---------------------------------------------------------------------------------------------------
exec 3>&-
wait $alice
q "SELECT privacy_score.flush()" >/dev/null
check "analyze_relation computes each column and what statements have revealed" \
  "$(q "DELETE FROM privacy_score.rate" "SELECT privacy_score.analyze_relation('patients')" "SELECT count(*) FROM privacy_score.stat_cdr WHERE relation = 'patients'::regclass")" "11
11"
q "UPDATE patients SET city = 'x'" "INSERT INTO patients SELECT 100 + i, 'x', i, i, i, i FROM generate_series(1, 90) i" >/dev/null
check "what is out of date is computed anew" \
  "$(q "SELECT count(*) FROM privacy_score.stat_cdr WHERE stale AND relation = 'patients'::regclass" "SELECT privacy_score.analyze_relation('patients')" \
    "SELECT count(*) FILTER (WHERE stale), max(rate) FILTER (WHERE attributes = '{city}') FROM privacy_score.stat_cdr WHERE relation = 'patients'::regclass")" "11
11
0|0"
check "one set is one rate" "$(q "SELECT privacy_score.analyze_relation('patients', '{ward,city}')")" 1

# --- the process that computes rates of large tables --------------------------------------------------------------------
q "CREATE TABLE huge AS SELECT i AS id, md5(i::text) AS a, md5((i % 100003)::text) AS b, md5((i % 70001)::text) AS c FROM generate_series(1, 300000) i" \
  "ANALYZE huge" "SELECT privacy_score.protect('huge', '{id}')" "GRANT SELECT ON huge TO alice" "SELECT privacy_score.flush()" >/dev/null
as alice q "SELECT a, b FROM huge LIMIT 0 + 0" "SELECT b, c FROM huge LIMIT 0 + 0" "SELECT pg_sleep(3600)" >/dev/null &
client=$!
process="SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'privacy_score rates'"
check_true "it runs" wait_for "$process" t
check_true "and is in the view progress" wait_for "SELECT count(*) > 0 FROM privacy_score.progress WHERE command = 'worker' AND relation = 'huge'::regclass" t
q "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'privacy_score rates'" >/dev/null
check_true "cancelled, it is started again and computes all" wait_for "SELECT count(*) FROM privacy_score.rate WHERE attributes IN ('{public.huge.a,public.huge.b}', '{public.huge.b,public.huge.c}')" 2
check_true "nothing is pending" wait_for "$pending" 0
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'alice'" >/dev/null
wait $client

# --- many rates -----------------------------------------------------------------------------------------------------------
# The view looks for the columns of protected relations once and not for each rate, which took seconds and was enough for
# the server's just-in-time compiler: some 12 MB more in every backend that read the view.
q "CREATE TABLE wide (id int PRIMARY KEY, $(seq -f 'c%g int' -s ', ' 40))" "SELECT privacy_score.protect('wide')" \
  "INSERT INTO privacy_score.rate SELECT 'public.wide', ARRAY['public.wide.c' || i, 'public.wide.c' || j], 'wide', 0.5, 1, 1, '{public.wide}', '{1}', '{0}', '{0}'
     FROM generate_series(1, 40) i, generate_series(1, 40) j WHERE i < j" "ANALYZE" >/dev/null
check "all of them are shown" "$(q "SELECT count(*), sum(cardinality(attributes)) FROM privacy_score.stat_cdr WHERE relation = 'wide'::regclass")" "780|1560"
check "at an estimated cost that is not worth compiling" "$(q "EXPLAIN SELECT * FROM privacy_score.stat_cdr" |
  awk -F'[.][.]| rows=' -v most="$(q "SHOW jit_above_cost")" 'NR == 1 { print $2 < most }')" 1
q "DROP TABLE wide" >/dev/null

# --- the day of a role whose rates cannot be computed --------------------------------------------------------------------
# After a while, a minute on other servers, a rate at fault may be tried again, for which nobody asks before the model
# changes. Another session keeps the worker, which remembers what it has asked for.
conf "privacy_score.rate_fault_pause = '1s'"
reload_server
q "CREATE ROLE eve LOGIN" "GRANT SELECT ON samples TO eve" "ALTER ROLE eve SET privacy_score.mode = 'enforce'" \
  "ALTER ROLE eve SET privacy_score.daily_limit = 1000" "SELECT privacy_score.flush()" >/dev/null
as alice q "SELECT a FROM samples LIMIT 0 + 0" "SELECT pg_sleep(3600)" >/dev/null &
client=$!
check "it is judged by bounds" "$(as eve q_state "SELECT c FROM samples LIMIT 0 + 0" "SELECT c, b FROM samples LIMIT 0 + 0")" 00000
q "SELECT privacy_score.flush()" >/dev/null
sleep 2
check "and still so when the fault is old" "$(as eve q_state "SELECT a FROM samples LIMIT 0 + 0")" 00000
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'alice'" >/dev/null
wait $client

done_testing

#!/bin/bash
# noisy_columns.sh - histograms, distinct values, sums and averages: attempts to undo what they cost, to overspend, to
# learn of rows by errors, plans, statistics or settings, and to have other people's types, casts and objects take part.
# Two tables are equal but for one row. Noise of epsilon 50 differs from 0 with probability 4e-22.
. "$(dirname "$0")/../attack.sh"
start_hospital "max_connections = 260" "track_functions = all" "log_line_prefix = '%m [%p] %c %q%u@%d '"
export PGAPPNAME=
q "CREATE ROLE owner LOGIN" "GRANT USAGE, CREATE ON SCHEMA h TO owner" "CREATE ROLE racer LOGIN" "GRANT USAGE ON SCHEMA h TO racer" >/dev/null
as mallory q "CREATE TYPE h.mood AS ENUM ('sad', 'glad')" "CREATE TYPE h.cast_mood AS ENUM ('sad', 'glad')" "CREATE DOMAIN h.note AS text" "GRANT USAGE ON TYPE h.mood, h.cast_mood, h.note TO owner" >/dev/null
for table in with without; do
  as owner q "CREATE TABLE h.people_$table (id int, name text, age int, cost numeric, note h.note, mood h.mood, other h.cast_mood, moods h.cast_mood[])" \
    "INSERT INTO h.people_$table SELECT i, 'n' || i % 20, 20 + i % 50, i % 7, repeat(md5(i::text), 100), 'sad', 'sad', '{sad}' FROM generate_series(1, 3000) i" \
    "INSERT INTO h.people_$table VALUES (0, CASE '$table' WHEN 'with' THEN 'bob' ELSE 'tom' END, 30, 'NaN', repeat('secret', 500), 'glad', 'glad', '{glad}')" \
    "SELECT privacy_score.dp_grant('mallory', 'h.people_$table', 1000000)" "ANALYZE h.people_$table" >/dev/null
done
spent() { q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'mallory' AND relation = 'h.people_with'::regclass"; }
since() { q "SELECT trim_scale($(spent) - $before)"; }

# --- undoing ----------------------------------------------------------------------------------------------------------------
# refund "description" "answer" QUESTION [STATEMENT...]: @ stands for the question, which is answered and paid for once.
refund() {
  local description=$1 truth=$2 ask=$3 statement statements=()
  shift 3
  before=$(spent)
  for statement in "$@"; do statements+=("${statement//@/$ask}"); done
  check_match "answered: $description" "$(as mallory q_all "${statements[@]}" | tr '\n' ' ')" "(^|[^0-9.])$truth([^0-9]|$)"
  check "paid for: $description" "$(since)" 50
}
histogram() { echo "SELECT noisy_count FROM privacy_score.dp_histogram('people_with', 'name', 50, '{n3}', predicate => 'id > -$1')"; }
refund "a histogram that is rolled back" 150 "$(histogram 1)" "BEGIN" "@" "ROLLBACK"
refund "a cursor that is not read to its end" 150 "$(histogram 2)" "BEGIN" "DECLARE c CURSOR FOR @ UNION ALL @" "FETCH 1 FROM c" "CLOSE c" "ROLLBACK"
refund "LIMIT 0 after an answer" 150 "$(histogram 3)" "@" "SELECT * FROM (@) x LIMIT 0" "ROLLBACK"
refund "a sum in an exception block" 3000 "SELECT privacy_score.dp_sum('people_with', 'age', 1, 1, 50, 'id > 0')" \
  "DO \$\$ DECLARE n numeric; BEGIN BEGIN n := (@); RAISE NOTICE '%', n; PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END; END \$\$"
refund "distinct values behind a savepoint" 21 "SELECT privacy_score.dp_count_distinct('people_with', 'name', 50)" "BEGIN" "SAVEPOINT a" "@" "ROLLBACK TO a" "COMMIT"
refund "an average in a read-only, serializable transaction" "1\\.00000[0-9]*" "SELECT privacy_score.dp_avg('people_with', 'age', 1, 1.0000000001, 50)" "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY" "@" "ROLLBACK"
before=$(spent)
check "a function that is declared PARALLEL SAFE gets no answer" "$(as mallory q_state "SET $forced_parallel = on" \
  "CREATE FUNCTION h.parallel_ask() RETURNS numeric LANGUAGE plpgsql PARALLEL SAFE AS \$\$ BEGIN RETURN privacy_score.dp_sum('h.people_with', 'age', 0, 1, 50, 'id > -4'); END \$\$" "SELECT h.parallel_ask()")" 25000
check "and costs nothing" "$(since)" 0
check "ten thousand repeats in other words are one answer" "$(as mallory q "SELECT count(*), count(DISTINCT n) FROM (SELECT privacy_score.dp_sum('people_with', 'age', CASE i % 2 WHEN 0 THEN 0 ELSE 0.00 END, 60, CASE i % 3 WHEN 0 THEN 0.1 ELSE 0.10 END, CASE i % 2 WHEN 0 THEN 'age < 60' ELSE 'NOT 60 <= age' END) AS n FROM generate_series(1, 10000) i) x")" "10000|1"
check "also where the session quotes all names" "$(as mallory q "SET quote_all_identifiers = on" "SELECT repeated FROM privacy_score.dp_cost('people_with', 'id > 0', 0.1)" "SELECT privacy_score.dp_sum('people_with', 'age', 0, 60, 0.1, 'age < 60') IS NOT NULL")" "f
t"
check "for the price of one" "$(since)" 0.1

# --- racing -----------------------------------------------------------------------------------------------------------------
as owner q "SELECT privacy_score.dp_grant('racer', 'h.people_with', 1.05, delta => 0.00035)" >/dev/null
mkfifo "$PS_TMP/holder"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/holder" >/dev/null 2>&1 &
exec 3>"$PS_TMP/holder"
echo "SELECT pg_advisory_lock(1);" >&3
wait_for "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted" 1
racers=$(by_length 60 200)
for ((i = 0; i < racers; i++)); do
  case $((i % 4)) in
    0) ask="privacy_score.dp_sum('h.people_with', 'age', 0, $i + 1, 0.1)" ;;
    1) ask="privacy_score.dp_avg('h.people_with', 'age', 0, $i, 0.1)" ;;
    2) ask="privacy_score.dp_count_distinct('h.people_with', 'name', 0.1, 'id > -$i')" ;;
    3) ask="(SELECT sum(noisy_count) FROM privacy_score.dp_histogram('h.people_with', 'name', 0.1, '{n1,n2}', predicate => 'id > -$i'))" ;;
  esac
  as racer q_all "SELECT pg_advisory_lock_shared(1)" "SELECT 'answer ' || $ask" >"$PS_TMP/race.$i" &
done
check_true "$racers sessions are ready" wait_for "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted" "$racers"
echo "SELECT pg_advisory_unlock(1);" >&3
exec 3>&-
wait
check "ten of them are answered" "$(cat "$PS_TMP"/race.* | grep -c '^answer ')" 10
check "all others are told that the budget is exhausted" "$(cat "$PS_TMP"/race.* | grep -c 'privacy budget exhausted: epsilon')" $((racers - 10))
check "it is not overspent" "$(q "SELECT spent, \"left\" FROM privacy_score.dp_budget WHERE role = 'racer'")" "1|0.05"
as owner q "SELECT privacy_score.dp_grant('racer', 'h.people_with', 1000, delta => 0.00035)" >/dev/null
for ((i = 0; i < 40; i++)); do
  as racer q_all "SELECT 'answer ' || count(*) FROM privacy_score.dp_histogram('h.people_with', 'name', 0.1, delta => 0.0001, predicate => 'id > -$i')" >"$PS_TMP/delta.$i" &
done
wait
check "of forty histograms of unknown keys three are answered" "$(cat "$PS_TMP"/delta.* | grep -c '^answer ')" 3
check "the others are told that delta is exhausted" "$(cat "$PS_TMP"/delta.* | grep -c 'privacy budget exhausted: delta')" 37
check "delta is not overspent" "$(q "SELECT delta, delta_spent, delta_left FROM privacy_score.dp_budget WHERE role = 'racer'")" "0.00035|0.0003|0.00005"

# --- errors -----------------------------------------------------------------------------------------------------------------
# same "description" QUESTION: with @ for the table refused alike for both tables.
same() {
  local with without
  with=$(as mallory q_all "SELECT ${2//@/people_with}" | sed 's/people_with/people/g')
  without=$(as mallory q_all "SELECT ${2//@/people_without}" | sed 's/people_without/people/g')
  check "no oracle: $1" "$with" "$without"
  check_match "an error: $1" "$with" "^(psql.*)?ERROR:"
}
before=$(spent)
same "a sum over what divides" "privacy_score.dp_sum('@', 'age', 0, 1, 1, '1 / id = 1')"
same "a sum of text" "privacy_score.dp_sum('@', 'name', 0, 1, 1)"
same "a sum without bounds, over NaN" "privacy_score.dp_sum('@', 'cost', epsilon => 1)"
same "bounds of 100,000 digits" "privacy_score.dp_sum('@', 'age', -1e100000, 1e100000, 1)"
same "bounds that differ in the 16,000th decimal" "privacy_score.dp_avg('@', 'age', 0, 1e-16000, 1)"
same "an epsilon of zero" "privacy_score.dp_avg('@', 'age', 0, 1, 0)"
same "a huge epsilon" "privacy_score.dp_count_distinct('@', 'age', 1e30)"
same "NaN for epsilon" "privacy_score.dp_sum('@', 'age', 0, 1, 'NaN')"
same "a NULL for fresh" "privacy_score.dp_count_distinct('@', 'age', 1, NULL, NULL)"
same "keys that the type cannot read" "count(*) FROM privacy_score.dp_histogram('@', 'age', 1, '{x}')"
same "an enum's key that is none" "count(*) FROM privacy_score.dp_histogram('@', 'mood', 1, '{furious}')"
same "keys that are equal" "count(*) FROM privacy_score.dp_histogram('@', 'cost', 1, '{1,1.0}')"
same "a delta of one half" "count(*) FROM privacy_score.dp_histogram('@', 'name', 1, delta => 0.5)"
same "a column that is none" "privacy_score.dp_count_distinct('@', 'name, note')"
same "a system column" "count(*) FROM privacy_score.dp_histogram('@', 'ctid', 1, delta => 0.1)"
check "of all this nothing was paid for" "$(since)" 0

# --- what mallory may make ------------------------------------------------------------------------------------------------------
# mallory owns the types of two columns: casts, functions and operators of them must not meet a value.
as mallory q "CREATE FUNCTION h.tells(h.cast_mood) RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'value %', h.shows(\$1) USING ERRCODE = '42P99'; END \$\$" \
  "CREATE FUNCTION h.shows(h.cast_mood) RETURNS text LANGUAGE sql AS \$\$ SELECT enum_range(\$1)::text \$\$" "CREATE CAST (h.cast_mood AS text) WITH FUNCTION h.tells(h.cast_mood) AS IMPLICIT" \
  "CREATE FUNCTION h.tells(h.cast_mood[]) RETURNS text LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'value %', \$1[1]::int USING ERRCODE = '42P99'; END \$\$" "CREATE CAST (h.cast_mood[] AS text) WITH FUNCTION h.tells(h.cast_mood[]) AS IMPLICIT" \
  "CREATE FUNCTION h.equal(h.mood, h.mood) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'value % %', \$1, \$2 USING ERRCODE = '42P99'; END \$\$" "CREATE OPERATOR h.= (LEFTARG = h.mood, RIGHTARG = h.mood, FUNCTION = h.equal)" >/dev/null
for predicate in "other = ''sad''" "other IN (''sad'', ''glad'')" "other < ''glad''" "moods = ''{sad}''" "other IS DISTINCT FROM ''sad''"; do
  check_match "values that an implicit cast could meet are not compared: ${predicate//\'\'/\'}" "$(as mallory q_all "SELECT privacy_score.dp_count('people_with', '$predicate', 50)")" "predicate must not compare column"
done
check "nor counted by it" "$(as mallory q_state "SELECT privacy_score.dp_count_distinct('people_with', 'other', 50)")$(as mallory q_state "SELECT * FROM privacy_score.dp_histogram('people_with', 'moods', 50, delta => 0.1)")" 4280442804
check "operators in the search_path do not meet values" "$(as mallory q_all "SELECT privacy_score.dp_count('people_with', 'mood = ''glad''', 50)" "SELECT * FROM privacy_score.dp_histogram('people_with', 'mood', 50, '{glad,sad}')")" "1
glad|1
sad|3000"
as mallory q "ALTER DOMAIN h.note ADD CONSTRAINT c CHECK (VALUE <> 'x') NOT VALID" >/dev/null
check "a constraint that a domain gets later is not run" "$(as mallory q_all "SELECT * FROM privacy_score.dp_histogram('people_with', 'note', 50, '{x}')")" "x|0"
check "a type that cannot be compared cannot be a unit" "$(as owner q_state "ALTER TABLE h.people_without ADD j json" "SELECT privacy_score.dp_grant('mallory', 'h.people_without', 1, unit => 'j')")" 42809
# A function of mallory's in a view of the owner's would run as the owner when mallory asks.
as mallory q "CREATE FUNCTION h.taken(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'" "CREATE FUNCTION h.joined(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'" "CREATE AGGREGATE h.gathered(int) (SFUNC = h.joined, STYPE = int)" \
  "CREATE DOMAIN h.small AS int CHECK (h.taken(VALUE) > 0)" "GRANT USAGE ON TYPE h.small TO owner" "CREATE OPERATOR h.<~> (LEFTARG = int, RIGHTARG = int, FUNCTION = h.joined)" >/dev/null
number=0
for expression in "h.taken(id)" "(SELECT h.gathered(x) FROM generate_series(1, id) x)" "id::h.small" "id OPERATOR(h.<~>) age" "(SELECT max(x) FROM generate_series(1, h.taken(id)) x)" "CASE WHEN EXISTS (SELECT FROM h.people_with p WHERE h.taken(p.id) = q.id) THEN 1 END" "other::text"; do
  number=$((number + 1))
  as owner q "CREATE VIEW h.taken_$number AS SELECT id, $expression AS x FROM h.people_with q" "SELECT privacy_score.dp_grant('mallory', 'h.taken_$number', 1000)" >/dev/null
  check_match "nobody's function runs as somebody else: $expression" "$(as mallory q_all "SELECT privacy_score.dp_count('taken_$number', 'id = 1', 50)")" "^ERROR:  (function|domain) [^ ]+(\(.*\))?, which belongs to role \"mallory\", cannot run"
done
as owner q "CREATE FUNCTION h.own(int) RETURNS int LANGUAGE sql IMMUTABLE RETURN CASE WHEN \$1 >= 0 THEN 1 END" "CREATE VIEW h.own_view AS SELECT id, h.own(id) AS x FROM h.people_with" "SELECT privacy_score.dp_grant('mallory', 'h.own_view', 1000)" >/dev/null
check "the owner's expressions do" "$(as mallory q "SELECT privacy_score.dp_count('own_view', 'x = 1 AND id < 5', 50)")" 5
check "and a superuser's" "$(q "ALTER FUNCTION h.own(int) OWNER TO postgres" >/dev/null; as mallory q "SELECT privacy_score.dp_count('own_view', 'x = 1 AND id < 4', 50)")" 4
check_match "not mallory's" "$(q "ALTER FUNCTION h.own(int) OWNER TO mallory" >/dev/null; as mallory q_all "SELECT privacy_score.dp_count('own_view', 'x = 1 AND id < 3', 50)")" "ERROR:  function h.own\\(integer\\), which belongs to role \"mallory\", cannot run"
# What they call must not be mallory's either: planned anew or inlined, or in workers. A text may mean anything.
as mallory q "CREATE FUNCTION h.seen(int) RETURNS int LANGUAGE sql AS 'SELECT 1'" >/dev/null
as owner q "CREATE FUNCTION h.calls_return(int) RETURNS int LANGUAGE sql STABLE PARALLEL SAFE RETURN h.seen(\$1)" "CREATE FUNCTION h.calls_sql(int) RETURNS int LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT 1'" \
  "CREATE FUNCTION h.calls_table(int) RETURNS int LANGUAGE sql STABLE PARALLEL SAFE RETURN (SELECT 1 FROM h.people_with p WHERE p.id = \$1 LIMIT 1)" \
  "CREATE FUNCTION h.calls_plpgsql(int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN 1; END'" >/dev/null
for body in return sql table plpgsql; do
  as owner q "CREATE VIEW h.calls_$body AS SELECT id, h.calls_$body(id) AS x FROM h.people_with" "SELECT privacy_score.dp_grant('mallory', 'h.calls_$body', 1000)" >/dev/null
  check_match "nor another function of the owner's: $body" "$(as mallory q_all "SELECT privacy_score.dp_count('calls_$body', 'x = 1', 50)")" \
    "ERROR:  function h.calls_$body\\(integer\\), which belongs to role \"owner\", cannot run"
done
for parameter in "session_replication_role = replica" "zero_damaged_pages = on" "log_statement = 'all'" "log_min_messages = debug5" "track_functions = none" "session_preload_libraries = 'x'" \
  "privacy_score.answering = 10" "privacy_score.mode = off" "log_executor_stats = on" "temp_file_limit = 1" "lc_messages = 'C'"; do
  check "mallory may not SET ${parameter%% *}" "$(as mallory q_state "SET $parameter")" 42501
done
check "nobody says that rows are read for an answer" "$(q_state "SET privacy_score.answering = 10")$(q_state "ALTER ROLE mallory SET privacy_score.answering = 10")$(q_state "SELECT set_config('privacy_score.answering', '10', true)")" 220232202322023
check "own settings change no answer" "$(as mallory q_all "SET row_security = on" "SET role = clerk" "SET default_transaction_read_only = on" "SET array_nulls = off" "SET DateStyle = 'German'" "SET extra_float_digits = -15" \
  "SET work_mem = '64kB'" "SET enable_seqscan = off" "SET enable_hashagg = off" "SET jit = on" "SET jit_above_cost = 0" "SET transform_null_equals = on" "SET standard_conforming_strings = off" "SET backslash_quote = on" \
  "SELECT * FROM privacy_score.dp_histogram('h.people_with', 'name', 50, '{bob,tom,n1}')")" "bob|1
tom|0
n1|150"

# --- what shows ------------------------------------------------------------------------------------------------------------------
explained() { as mallory q_all "SELECT count(*) FROM privacy_score.dp_histogram('people_with', 'id', 0.1, '{-1}')" "EXPLAIN (ANALYZE, BUFFERS, VERBOSE, WAL, TIMING off, SUMMARY off, COSTS off) SELECT $1"; }
check_true "EXPLAIN shows none of the blocks of a histogram, here more than 700" test \
  "$(explained "count(*) FROM privacy_score.dp_histogram('people_with', 'note', 0.1, delta => 0.01)" | sed -nE 's/.*shared hit=([0-9]+).*/\1/p' | sort -n | tail -n 1)" -lt 500
# Each of the 3001 values is answered with probability delta: a false alarm in 3e-9 of all runs.
check "nor more rows than were answered" "$(explained "* FROM privacy_score.dp_histogram('people_with', 'id', 0.1, delta => 0.000000000001)" | sed -nE 's/.*Function Scan.*rows=([0-9]+)(\.00)? .*/\1/p')" 0
# Whether workers are started must not follow from how many rows the planner expects, with prices that mallory sets.
as owner q "SET min_parallel_table_scan_size = 0" "SELECT privacy_score.dp_grant('mallory', 'h.people_with', 1000000, unit => 'id', max_rows_per_unit => 2)" >/dev/null
q "ALTER ROLE mallory SET session_preload_libraries = 'auto_explain'" "ALTER ROLE mallory SET auto_explain.log_min_duration = 0" "ALTER ROLE mallory SET auto_explain.log_nested_statements = on" >/dev/null
workers() { # PREDICATE
  local before
  before=$(wc -l <"$ps_log")
  as mallory q "SET min_parallel_table_scan_size = 0" "SET parallel_setup_cost = 0" "SET parallel_tuple_cost = $price" "SELECT privacy_score.dp_sum('people_with', 'age', 0, 9, 0.1, '$1', true)" >/dev/null
  tail -n +"$before" "$ps_log" | grep -c 'Workers Planned'
}
price=0
check_true "workers are started" test "$(workers "name = ''n2''")" -gt 0
for price in 0 0.1 0.5 1 3 100; do
  check "workers for many rows and for none, at a price of $price for a tuple" "$(workers "name = ''n1''")" "$(workers "name = ''nobody''")"
done
q "ALTER ROLE mallory RESET ALL" "ALTER ROLE mallory SET search_path = h, public" >/dev/null
as owner q "SELECT privacy_score.dp_grant('mallory', 'h.people_with', 1000000)" >/dev/null
# --- who may not read, and who may -------------------------------------------------------------------------------------------------
q "SELECT privacy_score.protect('h.people_with')" "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" >/dev/null
parallel=("SET $forced_parallel = on" "SET parallel_setup_cost = 0" "SET parallel_tuple_cost = 0" "SET min_parallel_table_scan_size = 0")
check "a role labelled dp only asks about a protected table" "$(as mallory q "SELECT privacy_score.dp_count('people_with', 'id < 100', 50)")" 100
as owner q "${parallel[@]}" "SELECT privacy_score.dp_grant('mallory', 'h.people_with', 1000000)" >/dev/null
check "in parallel too" "$(as mallory q "SELECT privacy_score.dp_count('people_with', 'id < 200', 50)")" 200
# mallory and alice may read h.patients, which is not theirs to give away.
for who in mallory alice; do
  as "$who" q "${parallel[@]}" "CREATE VIEW h.lends_$who AS SELECT id, diagnosis FROM h.patients UNION ALL SELECT id, diagnosis FROM h.patients" "CREATE TABLE h.bait_$who AS SELECT i FROM generate_series(1, 100) i" \
    "CREATE VIEW h.hides_$who AS SELECT i, (SELECT p.diagnosis FROM h.patients p WHERE p.id = i) AS diagnosis FROM h.bait_$who" "SELECT privacy_score.dp_grant('mallory', 'h.lends_$who', 1e30)" "SELECT privacy_score.dp_grant('mallory', 'h.hides_$who', 1e30)" >/dev/null
done
check "dp only: a budget that mallory grants for an own view opens nothing" "$(as mallory q_state "SELECT privacy_score.dp_count('h.lends_mallory', 'id = 1', 1000)")$(as mallory q_state "SELECT * FROM privacy_score.dp_histogram('h.lends_mallory', 'diagnosis', 1000, delta => 0.49)")" PS001PS001
check "nor does one that somebody gives who may only read" "$(as mallory q_state "SELECT privacy_score.dp_sum('h.lends_alice', 'id', 0, 100, 1000, 'id = 1')")" PS001
check "nor a subquery in a view" "$(as mallory q_state "SELECT privacy_score.dp_count('h.hides_mallory', 'diagnosis = ''d1''', 1000)")$(as mallory q_state "SELECT privacy_score.dp_count('h.hides_alice', 'diagnosis = ''d1''', 1000)")" PS001PS001
check "in parallel" "$(as mallory q_state "SELECT privacy_score.dp_count('h.hides_alice', 'diagnosis = ''d1''', 1000)")" PS001
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'watched'" >/dev/null
path "watched: such a count is a read" "cmd:select; cmd:select f:count(*) p:h.patients.id t:h.patients w:h.patients.id" "SELECT privacy_score.dp_count('h.lends_mallory', 'id = 1', 1000, true)"
path "such a histogram too" "~^cmd:select; cmd:select f:count\\(\\*\\) .*p:h.patients.diagnosis t:h.patients$" "SELECT count(*) FROM privacy_score.dp_histogram('h.lends_alice', 'diagnosis', 1000, delta => 0.49, fresh => true)"
path "a sum for which the owner gave the budget is none" "cmd:select" "SELECT privacy_score.dp_sum('people_with', 'age', 0, 1, 50, 'id > -20')"
verify_paths
export PGAPPNAME=

# --- changes in between --------------------------------------------------------------------------------------------------------------
as mallory q "SELECT privacy_score.dp_sum('people_without', 'age', 0, 1, 50)" >/dev/null
before=$(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'mallory' AND relation = 'h.people_without'::regclass")
as owner q "ALTER TABLE h.people_without ALTER age TYPE bigint" "ALTER TABLE h.people_without RENAME name TO label" "ALTER TABLE h.people_without RENAME TO people_later" >/dev/null
check "a column of another type is another question, of the same budget" "$(as mallory q "SELECT privacy_score.dp_sum('people_later', 'age', 0, 1, 50)"; q "SELECT spent - $before FROM privacy_score.dp_budget WHERE relation = 'h.people_later'::regclass AND role = 'mallory'")" "3001
50"
check "a renamed column is not there" "$(as mallory q_state "SELECT privacy_score.dp_count_distinct('people_later', 'name', 50)")" 42703
check "a unit that is renamed must be named again" "$(as owner q "SELECT privacy_score.dp_grant('mallory', 'h.people_later', 1000000, unit => 'label')" "ALTER TABLE h.people_later RENAME label TO name" >/dev/null; as mallory q_state "SELECT privacy_score.dp_sum('people_later', 'age', 0, 1, 50, 'id > -1')")" 42703
check "a unit that is dropped too" "$(as owner q "SELECT privacy_score.dp_grant('mallory', 'h.people_later', 1000000, unit => 'name')" "ALTER TABLE h.people_later DROP name" >/dev/null; as mallory q_state "SELECT privacy_score.dp_count('people_later', 'id > -2', 50)")" 42703
as owner q "CREATE TABLE h.brief (id int, v int)" "SELECT privacy_score.dp_grant('mallory', 'h.brief', 1000)" >/dev/null
as owner "$PS_BINDIR/psql" -XAtq <"$PS_TMP/holder" >/dev/null 2>&1 &
holder=$!
exec 3>"$PS_TMP/holder"
echo "BEGIN; DROP TABLE h.brief;" >&3
wait_for "SELECT count(*) FROM pg_locks WHERE relation = 'h.brief'::regclass AND mode = 'AccessExclusiveLock'" 1
as mallory q_state "SELECT privacy_score.dp_sum('brief', 'v', 0, 1, 50)" >"$PS_TMP/brief" &
wait_for "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessShareLock'" 1
echo "COMMIT;" >&3
exec 3>&-
wait $! "$holder"
check "a table that is dropped while a question waits for it" "$(cat "$PS_TMP/brief") $(q "SELECT spent FROM privacy_score.budget WHERE relation_name = 'h.brief'")" "42P01 0"
check "a table that is dropped behind a prepared question" "$(as owner q "CREATE TABLE h.brief (id int, v int)" "SELECT privacy_score.dp_grant('mallory', 'h.brief', 1000)" >/dev/null
  as mallory q_state "PREPARE p AS SELECT privacy_score.dp_sum('brief', 'v', 0, 1, 50)" "EXECUTE p" "\\! $PS_BINDIR/psql -XAtq -U owner -c 'DROP TABLE h.brief'" "EXECUTE p")" 42P01
as owner q "CREATE TABLE h.parts (id int, v int) PARTITION BY LIST (id)" "CREATE TABLE h.part_1 PARTITION OF h.parts FOR VALUES IN (1)" "INSERT INTO h.parts VALUES (1, 5)" "SELECT privacy_score.dp_grant('mallory', 'h.parts', 100000)" >/dev/null
as mallory q "SELECT privacy_score.dp_sum('parts', 'v', 0, 10, 1000)" >/dev/null
as owner q "CREATE TABLE h.part_2 (v int, id int)" "INSERT INTO h.part_2 VALUES (7, 2)" "ALTER TABLE h.parts ATTACH PARTITION h.part_2 FOR VALUES IN (2)" >/dev/null
check "a partition that comes later is counted, and the old answer stays the answer" "$(as mallory q "SELECT privacy_score.dp_sum('parts', 'v', 0, 10, 1000)" "SELECT privacy_score.dp_sum('parts', 'v', 0, 10, 1000, fresh => true)")" "5
12"
check "a partition alone has no budget" "$(as mallory q_state "SELECT privacy_score.dp_sum('part_2', 'v', 0, 10, 50)")" 42501
check "another table of mallory's cannot become one" "$(as mallory q_state "CREATE TABLE h.part_3 PARTITION OF h.parts FOR VALUES IN (3)")" 42501
as owner q "SET quote_all_identifiers = on" "SELECT privacy_score.dp_grant('mallory', 'h.parts', 100)" >/dev/null
check "a budget that a session which quotes all names has touched is found again" "$(as owner q "DROP TABLE h.parts" "CREATE TABLE h.parts (id int, v int)" "SELECT privacy_score.dp_grant('mallory', 'h.parts', 100)" "SELECT spent FROM privacy_score.dp_budget WHERE relation = 'h.parts'::regclass" | tail -n 1)" 2000
as mallory q "CREATE TEMP TABLE parts (id int, v int)" >/dev/null
check "a temporary table of that name is another one" "$(as mallory q_state "CREATE TEMP TABLE parts (id int, v int)" "SELECT privacy_score.dp_sum('parts', 'v', 0, 10, 1000)")" 42501

# --- the ledger ------------------------------------------------------------------------------------------------------------------------
for attempt in "CREATE TRIGGER t BEFORE INSERT ON privacy_score.release FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()" "CREATE RULE r AS ON INSERT TO privacy_score.release DO INSTEAD NOTHING" \
  "CREATE PUBLICATION p FOR TABLE privacy_score.release" "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION h.shows()" "ALTER EXTENSION privacy_score DROP TABLE privacy_score.release" \
  "COMMENT ON EXTENSION privacy_score IS 'x'" "CREATE STATISTICS s ON id, budget_id FROM privacy_score.release" "CREATE TABLE h.heir () INHERITS (privacy_score.release)" "CREATE TABLE h.twin (LIKE privacy_score.release INCLUDING ALL)" \
  "CREATE TABLE h.refers (id bigint REFERENCES privacy_score.release (id))" "CREATE INDEX ON privacy_score.release (answer)" "SELECT pg_create_logical_replication_slot('s', 'test_decoding')" "ALTER TABLE privacy_score.budget DISABLE TRIGGER ALL" \
  "TRUNCATE privacy_score.release" "GRANT SELECT ON privacy_score.release TO mallory" "SELECT nextval('privacy_score.budget_id_seq')"; do
  check_match "closed: ${attempt:0:60}" "$(as mallory q_state "$attempt")" "^(42501|55000|42809)$"
done
check "and no lock on it" "$(as mallory q_state "BEGIN" "LOCK TABLE privacy_score.budget IN ACCESS SHARE MODE")" 42501
check "what is in the ledger is what was charged" "$(q "SELECT bool_and(b.spent = r.epsilon AND b.delta_spent = r.delta) FROM privacy_score.budget b JOIN (SELECT budget_id, sum(epsilon) FILTER (WHERE repeat_of IS NULL) AS epsilon, coalesce(sum(delta) FILTER (WHERE repeat_of IS NULL), 0) AS delta FROM privacy_score.release GROUP BY 1) r ON r.budget_id = b.id")" t
check "the ledger has no constants" "$(q "SELECT count(*) FROM privacy_score.release r WHERE shape ~ 'bob|secret|glad|n3|n1'")" 0
check_scored scoring_errors
check "nor in the server" "$(grep -cE 'PANIC|TRAP|terminated by signal' "$ps_log")" 0
done_testing

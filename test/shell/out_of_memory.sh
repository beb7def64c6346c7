#!/bin/bash
# out_of_memory.sh - memory that runs out at any moment of a statement, a function or the worker's cycle is an error, and
# nothing else: no process ends, nothing is left open, and what is asked next is answered as always.
#
# failing_memory.c makes the nth allocation of a process fail, and the n is gone through: each of the first, then ever
# wider steps; in the short form a third of them, at random: PS_SEED repeats the choice.
. "$(dirname "$0")/../lib.sh"

compile_support failing_memory
export FAILING_MEMORY=$PS_TMP/failing_memory
# PL/pgSQL is loaded as each session begins: where it has no memory to define its settings, the server ends the session.
LD_PRELOAD=$module start_server "jit = off" "autovacuum = off" "session_preload_libraries = plpgsql" "log_error_verbosity = verbose" "privacy_score.alert_window = 0"
q "CREATE EXTENSION privacy_score" "CREATE FUNCTION fail_memory(int, text, bigint, bigint) RETURNS void LANGUAGE c AS '$module'" \
  "CREATE FUNCTION memory_failed() RETURNS bigint LANGUAGE c AS '$module'" \
  "CREATE TABLE people (id int PRIMARY KEY, name text, city text, birth_year int, diagnosis text)" \
  "INSERT INTO people SELECT i, 'n' || i, 'c' || i % 13, 1940 + i % 60, 'd' || i % 7 FROM generate_series(1, 300) i" \
  "CREATE TABLE visits (id int PRIMARY KEY, person int REFERENCES people, cost int)" "INSERT INTO visits SELECT i, i % 300 + 1, i % 97 FROM generate_series(1, 500) i" \
  "SELECT privacy_score.protect('people'), privacy_score.protect('visits', '{person}')" "ANALYZE" "CREATE ROLE reader LOGIN" "CREATE ROLE guarded LOGIN" "CREATE ROLE warned LOGIN" \
  "GRANT SELECT ON people, visits TO reader, guarded, warned" "ALTER ROLE guarded SET privacy_score.mode = enforce" "ALTER ROLE guarded SET privacy_score.session_limit = 1000" \
  "ALTER ROLE warned SET privacy_score.mode = warn" "ALTER ROLE warned SET privacy_score.session_limit = 0.01" "ALTER ROLE warned SET privacy_score.reach_factor = 1" \
  "SELECT privacy_score.dp_grant('reader', 'people', 1000000)" >/dev/null

seed=${PS_SEED:-$((SRANDOM % 32768))}
RANDOM=$seed
echo "# PS_SEED=$seed"
every=$(by_length 6 1)
# one_of_each NUMBER...: of each six that follow one another, or as many as said, one by chance, in `chosen`.
one_of_each() {
  chosen=()
  while [ $# -gt 0 ]; do
    local of=$((every < $# ? every : $#))
    chosen+=("${@:1 + RANDOM % of:1}")
    shift $of
  done
}
all_moments=()
for ((n = 1; n < 20000; n += n < 24 ? 1 : n / 4)); do all_moments+=("$n"); done
moments=()

# What went otherwise than it may; how often memory of a kind ran out.
odd=$PS_TMP/odd
: >"$odd"
declare -A met=([new]=0 [any]=0)

# PostgreSQL 18 itself crashes at the next use of its cache of types when memory runs out while it sets the cache up.
begin="SELECT 1 WHERE false ORDER BY 1"

# through ROLE "KIND COUNT"... fresh|same STATEMENT: the statement with a failure of each kind at each moment, on a fresh
# connection each time or all on the same, and once without in the end. `said` has a line "SQLSTATE FAILURES" a moment.
through() {
  local role=$1 kinds=() kind connection statement at n state expected said=$PS_TMP/said
  shift
  chosen=("${all_moments[@]}")
  # So that alerts of each kind are raised, whichever are chosen.
  if [ "$role ${*: -2:1}" != "warned same" ]; then one_of_each "${all_moments[@]}"; fi
  moments=("${chosen[@]}")
  while [ $# -gt 2 ]; do kinds+=("$1"); shift; done
  connection=$1 statement=$2
  expected=$(as "$role" q "$statement")
  for kind in "${kinds[@]}"; do
    : >"$said"
    for ((at = 0; at < ${#moments[@]}; at = $(wc -l <"$said"))); do
      for n in "${moments[@]:at}"; do
        echo "SELECT fail_memory(pg_backend_pid(), '${kind% *}', $n, ${kind#* }) \\g /dev/null"
        printf '%s \\g /dev/null\n\\set state :SQLSTATE\n\\set failed 0\n' "$statement"
        printf 'SELECT memory_failed() AS failed \\gset\n\\echo :state :failed\n'
        if [ "$connection" = fresh ]; then break; fi
      done | as "$role" "$PS_BINDIR/psql" -XAtq -c "$begin" -f - >>"$said" 2>/dev/null || how_it_ended >>"$said"
    done
    met[${kind% *}]=$((met[${kind% *}] + $(awk '$2 > 0 { ++n } END { print n + 0 }' "$said")))
    for state in $(awk '{ print $1 }' "$said" | sort -u); do
      case $role:$kind:$state:$statement in
        *:00000:* | *:53200:* | guarded:*:PS001:* | *:PS004:*dp_*) ;;
        # The server itself: a regular expression or a setting that was not compiled; values that do not fit; the solver's
        # module, which the dynamic loader had no memory to load; OpenSSL, as the verdict looks up in the log.
        *:any*:2201B:* | *:any*:22023:* | *:any*:XX000:* | *:any*:54000:*released* | *:any*:54000:*evaluate_* | *:any*:58P01:*released* | *:any*:58P01:*query_bounds*) ;;
        *) echo "$role: $kind: $state: $statement" >>"$odd" ;;
      esac
    done
    if [ "$(as "$role" q "$statement")" != "$expected" ]; then echo "$role: $kind: another answer than before: $statement" >>"$odd"; fi
  done
}

# How often the server has ended a session itself: it had no memory to read the SET clause of a function, or, from
# PostgreSQL 17 on, to begin a subtransaction; or it had none for a reference to statistics, whose place it then takes for
# a reference, and frees when the session ends.
ended_by_server() {
  awk '/ DETAIL:  .*"PgStat Shared Ref"/ { damaged[$4] = 1 } /FATAL:  XX000: pfree called with invalid pointer/ { n += $4 in damaged }
       /FATAL:  53200: out of memory/ { fatal = 1; context = "" } / DETAIL:  .*"CurTransactionContext"/ { context = "subtransaction" }
       / LOCATION:  / { if (fatal && (context != "" || / guc_(malloc|strdup),/)) ++n; fatal = 0 } END { print n + 0 }' "$ps_log"
}

# What has ended a connection, as a line of `said`.
seen=0
how_it_ended() {
  local now
  now=$(ended_by_server)
  if [ "$now" -gt "$seen" ]; then echo "53200 1"; else echo "ended 1"; fi
  seen=$now
}

# verdict WHAT: nothing was otherwise than it may be. A background process that the server has ended itself exits with 1;
# a session does so without a line.
verdict() {
  local by_server
  by_server=$(ended_by_server)
  check "$1: out of memory is an error and nothing else" "$(sort "$odd" | uniq -c | head -n 20)" ""
  check "$1: an internal error is OpenSSL's" "$(grep "ERROR:  XX000: " "$ps_log" | grep -vE "XX000: could not (compute (MD5|SHA256|a keyed) hash|generate random values)" | head -n 5)" ""
  check "$1: no process has ended" "$(grep -E "PANIC:|was terminated|exited with" "$ps_log" | grep -v "exited with exit code 1$" | head -n 5)
other FATAL: $(($(grep -c FATAL: "$ps_log") - by_server))" "
other FATAL: 0"
  check_true "$1: no background process has ended" test "$(grep -c "exited with exit code 1$" "$ps_log")" -le "$by_server"
  check "$1: nothing is left open" "$(grep -E "leak|WARNING:" "$ps_log" | grep -vE "(is|are) above the limit|there is no room to record|AbortSubTransaction while in START state" | head -n 5)" ""
  : >"$odd"
}

# --- statements that are watched ----------------------------------------------------------------------------------------
# In mode enforce what cannot be scored is refused.
for role in reader guarded; do
  for connection in fresh same; do
    through $role "new 1" "new 1000000" "any 1" $connection "SELECT p.name, sum(v.cost) FROM people p JOIN visits v ON v.person = p.id WHERE p.city IN ('c1', 'c2') AND p.birth_year < 1950 GROUP BY p.name HAVING count(*) > 1 ORDER BY 1"
  done
done
verdict "watched statements"
# Each connection passes a limit and asks about more subjects than its baseline's sessions did, and both are explained.
q "SELECT privacy_score.flush()" >/dev/null
as warned q "SELECT city FROM people WHERE id = 1" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('warned', privacy_score.today(), privacy_score.today())" \
  "SELECT privacy_score.analyze_relation('people', '{name,diagnosis}')" "SELECT privacy_score.flush()" >/dev/null
for connection in fresh same; do
  through warned "new 1" "new 1000000" "any 1" $connection "SELECT name, diagnosis FROM people WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)"
done
verdict "alerts"
check "alerts: they were raised" "$(q "SELECT string_agg(DISTINCT kind, ' ') FROM privacy_score.alert WHERE role = 'warned'")" "fault memory reach session"

# --- functions ----------------------------------------------------------------------------------------------------------
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('reader', privacy_score.today(), privacy_score.today())" >/dev/null
q "CREATE FUNCTION released() RETURNS text LANGUAGE plpgsql AS \$\$ DECLARE wrong bigint; BEGIN
     PERFORM privacy_score.bucketize('people', '{city,birth_year}', 'diagnosis', 'out_qit', 'out_st', l => 3);
     SELECT count(*) INTO wrong FROM privacy_score.verify_release('out_qit', 'out_st', l => 3, source => 'people') WHERE NOT holds;
     PERFORM privacy_score.release_sample('people', 'out_sample', 0.5); PERFORM privacy_score.release_perturbed('people', 'out_noise', '{birth_year}', 10);
     DROP TABLE out_qit, out_st, out_sample, out_noise; RETURN wrong; END \$\$" >/dev/null
today="privacy_score.today(), privacy_score.today()"
numbers="'{1,2,4,8}', '{0.1,0.2,0.3,0.4}'"
functions=("privacy_score.analyze_relation('people')" "privacy_score.combined_discrimination_rate('people', '{city,birth_year}')"
  "string_agg(r::text, ' ') FROM privacy_score.attribute_risk('people') r" "count(*) FROM privacy_score.attribute_relationships('people')"
  "privacy_score.abstract_query('SELECT name FROM people WHERE id IN (SELECT person FROM visits)')"
  "string_agg(r::text, ' ') FROM privacy_score.compare_queries('SELECT name FROM people', 'SELECT city FROM people') r"
  "privacy_score.query_identification('SELECT p.city, v.cost FROM people p JOIN visits v ON v.person = p.id')"
  "privacy_score.explain_query('SELECT name, diagnosis FROM people', 'reader') IS NOT NULL" "length(privacy_score.report()) > 1000"
  "count(*) > 0 FROM privacy_score.score('reader', $today)" "count(*) >= 0 FROM privacy_score.score_ngrams('reader', $today)"
  "privacy_score.set_baseline('reader', $today) >= 0" "privacy_score.import_baseline(privacy_score.export_baseline('reader')) >= 0"
  "privacy_score.import_statements(\$\$SELECT 's' || i % 3, 'old'::name, '2026-01-01'::timestamptz + i * interval '1 s', 'SELECT city FROM people WHERE id = ' || i FROM generate_series(1, 9) i\$\$)"
  "privacy_score.bucket_setting_valid('{20,10,5}', '{0.5,0.5,0.5}', '{2,3}', '{10,5}')" "released()"
  "count(*) FROM privacy_score.bucket_setting('{30,20,10,5}', '{0.5,0.6,0.3,0.2}')" "count(*) FROM privacy_score.suggest_thresholds('people', 'diagnosis')"
  "privacy_score.t_closeness('people', '{city}', 'diagnosis')" "count(*) FROM privacy_score.release_table('people', 'city', 'diagnosis', 4)"
  "privacy_score.privacy_loss('{0,1,2,3}', 5, 'sum', 7)" "privacy_score.expected_privacy_loss('{0,1,2}', 4, 'median')" "privacy_score.equivocation_area($numbers)"
  "length(privacy_score.equivocation_chart($numbers)) > 100" "count(*) FROM privacy_score.evaluate_noise('people', 'birth_year', '{city}', repetitions => 2, seed => 7)"
  "count(*) FROM privacy_score.query_bounds('[[1,2],[2,3]]', '{7,9}', 0, 10, 3)" "privacy_score.dp_kl_divergence(0.1)")
for function in "${functions[@]}"; do through postgres "new 1" "any 1" same "SELECT $function"; done
verdict "functions"
noisy=("privacy_score.dp_count('people', 'birth_year > 1950', 0.01, true)" "privacy_score.dp_sum('people', 'birth_year', 1900, 2000, 0.01, NULL, true)"
  "count(*) FROM privacy_score.dp_histogram('people', 'city', 0.01, '{c1,c2}')")
for function in "${noisy[@]}"; do through reader "new 1" "any 1" same "SELECT (SELECT $function) IS NOT NULL"; done
verdict "noisy answers"
check_true "it ran out often: ${met[new]} times for C++, ${met[any]} for anything" test "${met[new]}" -gt $((700 / every)) -a "${met[any]}" -gt $((700 / every))

# --- the worker ---------------------------------------------------------------------------------------------------------
recorded="SELECT sum(queries) FROM privacy_score.session WHERE role = 'reader'"
q "SELECT privacy_score.flush()" >/dev/null
before=$(q "$recorded")
asked=1
mkfifo "$PS_TMP/stay"
as reader "$PS_BINDIR/psql" -XAtq <"$PS_TMP/stay" >/dev/null 2>&1 &
exec 3>"$PS_TMP/stay"
echo "SELECT city FROM people WHERE id = 1;" >&3
wait_for "$recorded" $((before + asked))
columns=(name city birth_year diagnosis)
for kind in new any; do
  failed=0 least=$([ "$kind" = new ] && by_length 1 2 || by_length 3 8)
  # After a failure it waits for a second.
  # The least are there always: a cycle may have few allocations.
  one_of_each {3..12} 16 24 36 54 80 120 180
  for n in 1 2 "${chosen[@]}"; do
    wait_for "SELECT worker_pid IS NOT NULL FROM privacy_score.stat_info" t || bail_out "there is no worker"
    q "SELECT fail_memory(worker_pid, '$kind', $n, 1) FROM privacy_score.stat_info" >/dev/null
    echo "SELECT ${columns[n % 4]} FROM people WHERE ${columns[n / 4 % 4]} IS NOT NULL AND id = $n;" >&3
    asked=$((asked + 1))
    # A label changes every score, so that there is one to compute whatever rates are known by now.
    q "SECURITY LABEL FOR privacy_score ON COLUMN people.birth_year IS $([ $((asked % 2)) = 0 ] && echo NULL || echo "'sensitive'")" >/dev/null
    until q "SELECT privacy_score.flush()" >/dev/null; do sleep 0.1; done
    failed=$((failed + $(q "SELECT memory_failed()")))
  done
  check_true "the worker: it met that $failed times ($kind)" test "$failed" -ge "$least"
done
exec 3>&-
wait
wait_for "$recorded" $((before + asked))
check "the worker: nothing that sessions did is lost" "$(q "$recorded")" $((before + asked))
verdict "the worker"
done_testing

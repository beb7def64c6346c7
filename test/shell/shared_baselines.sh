#!/bin/bash
# shared_baselines.sh - what baselines hold in shared memory: taken in whoever has written it, freed when nobody has it any more,
# and left out where there is no room.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.max_memory = '9MB'" "privacy_score.rate_check_interval = '200ms'" "privacy_score.worker_stays = '1h'" "max_connections = 40"
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, sex text, hiv bool)" \
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 5, i % 2, i % 7 = 0 FROM generate_series(1, 1000) i" "ANALYZE" \
  "GRANT SELECT ON patients TO alice, bob" "SELECT privacy_score.protect('patients', 'id')" >/dev/null || bail_out "the tables cannot be made"

# open NAME ROLE: a session that goes on; ask NAME STATEMENT...: it runs these; leave NAME.
open() {
  mkfifo "$PS_TMP/$1"
  as "$2" "$PS_BINDIR/psql" -XAtq <"$PS_TMP/$1" >"$PS_TMP/$1.out" 2>&1 &
  declare -g "pid_$1=$!"
  exec {fd}>"$PS_TMP/$1"
  declare -g "fd_$1=$fd"
}
ask() {
  local name="fd_$1" end="end $RANDOM$RANDOM"
  printf '%s;\n' "${@:2}" "SELECT '$end'" >&"${!name}"
  wait_for_line "$PS_TMP/$1.out" "$end" || fail "$1 gets no answer"
}
leave() {
  local name="fd_$1" pid="pid_$1"
  # Those that were opened later have its other end, too.
  (
    trap '' PIPE
    echo '\q' >&"${!name}"
  ) 2>/dev/null
  eval "exec ${!name}>&-"
  wait "${!pid}" 2>/dev/null
  rm -f "$PS_TMP/$1"
}
usual=("SELECT name FROM patients WHERE id = 1" "SELECT city FROM patients WHERE id = 1" "SELECT sex FROM patients WHERE id = 1"
  "SELECT count(*) FROM patients" "SELECT city FROM patients" "SELECT sex FROM patients" "SELECT sex, city FROM patients" "SELECT count(city) FROM patients")
figures="queries, ngrams, mismatched, score, max_score, normalised, statement_score, enforced"
live() { q "SELECT $figures FROM privacy_score.stat_sessions WHERE role = '$1' ORDER BY started DESC LIMIT 1"; }
# Of the same session.
history() {
  q "SELECT $figures FROM privacy_score.score_sessions('$1', '-infinity', 'infinity') WHERE session =
    (SELECT session FROM privacy_score.stat_sessions WHERE role = '$1' ORDER BY started DESC LIMIT 1)"
}
used() { q "SELECT memory_used FROM privacy_score.stat_info"; }
left_out="SELECT baselines_left_out FROM privacy_score.stat_info"
estimated() { echo "SELECT estimated FROM privacy_score.stat_sessions WHERE role = '$1' ORDER BY started DESC LIMIT 1"; }
# all_orders ROLE COUNT: gives the role's baseline so many n-grams of its statements, which takes 32 bytes of each.
all_orders() {
  q "WITH b AS (SELECT b.id, array_agg(DISTINCT u) a FROM privacy_score.baseline b JOIN privacy_score.baseline_session s ON s.baseline_id = b.id,
       unnest(s.ids) u WHERE b.role = '$1' AND b.active GROUP BY b.id)
     INSERT INTO privacy_score.baseline_ngram SELECT b.id, ARRAY(SELECT b.a[1 + i / (8 ^ k)::bigint % 8] FROM generate_series(5, 0, -1) k), 1
       FROM b, generate_series(0, $2 - 1) i ON CONFLICT DO NOTHING" >/dev/null
}
for role in alice bob; do as $role q "${usual[@]}" >/dev/null; done
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline(r, privacy_score.today(), privacy_score.today()) FROM unnest('{alice,bob}'::name[]) r" "SELECT privacy_score.flush()" >/dev/null

# --- written by whomever ------------------------------------------------------------------------------------------------------
open first alice
ask first "${usual[0]}" "${usual[4]}" "${usual[2]}"
q "SELECT privacy_score.flush()" >/dev/null
check "another order is not known" "$(live alice | cut -d '|' -f 3)" 2
check "as in history" "$(history alice)" "$(live alice)"
before=$(used)
all_orders alice 40000
check_true "n-grams that a superuser writes are taken in" wait_for "SELECT mismatched FROM privacy_score.stat_sessions WHERE role = 'alice'" 0
check "as in history" "$(history alice)" "$(live alice)"
ask first "${usual[1]}"
check "and by the session itself" "$(live alice | cut -d '|' -f 1,3)" "4|0"
after=$(used)
check_true "of 40,000 n-grams each takes 32 bytes: $(((after - before) / 40000))" test $(((after - before) / 40000)) -le 32
check "nothing is left out" "$(q "$left_out")" 0

# --- freed by the last one --------------------------------------------------------------------------------------------------
# The session is idle, and its model is that of before.
q "UPDATE privacy_score.baseline_ngram SET count = count + 1" "SELECT privacy_score.flush()" >/dev/null
check_true "what an idle session has stays" wait_for "SELECT memory_used > $after + 1000000 FROM privacy_score.stat_info" t
q "UPDATE privacy_score.baseline_ngram SET count = count + 1" "SELECT privacy_score.flush()" >/dev/null
check_true "but not what nobody has" wait_for "SELECT memory_used < $after + 1500000 FROM privacy_score.stat_info" t
# The worker hears of rows written when the server has counted them.
gone_with_the_next() {
  ask first "${usual[3]}"
  [ "$(used)" -lt $((after + 100000)) ]
}
check_true "with its next statement it goes" wait_until gone_with_the_next
q "UPDATE privacy_score.baseline_ngram SET count = count + 1" "SELECT privacy_score.flush()" >/dev/null
check_true "a session that is terminated" wait_for "SELECT memory_used > $after + 1000000 FROM privacy_score.stat_info" t
q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'alice'" >/dev/null
check_true "leaves it, too" wait_for "SELECT memory_used < $after + 100000 FROM privacy_score.stat_info" t
leave first

# --- no room ------------------------------------------------------------------------------------------------------------------
all_orders alice 70000
open second alice
ask second "${usual[0]}" "${usual[1]}"
# Only with them, and once nobody has those of before, it is clear for whom there is no room.
has_them_alone() {
  ask second "${usual[0]}"
  local rise=$(($(used) - after))
  [ $rise -gt 800000 ] && [ $rise -lt 1300000 ]
}
check_true "a session of hers has them, and nothing older" wait_until has_them_alone
all_orders bob 60000
check_true "of a role without a session n-grams are left out" wait_for "$left_out" 1
check "the model fits" "$(grep -c 'does not fit into shared memory' "$ps_log")" 0
open third bob
ask third "${usual[0]}" "${usual[5]}" "${usual[1]}"
check "and of one that comes while others need the room" "$(q "$left_out")" 1
q "SELECT privacy_score.flush()" "SELECT privacy_score.flush()" >/dev/null
check_true "its figures are corrected by the tables" wait_for "$(estimated bob)" f
check "and are those of history" "$(live bob)" "$(history bob)"
check "all is known" "$(live bob | cut -d '|' -f 1,3,4)" "3|0|0"
ask third "SELECT hiv FROM patients WHERE id = 2"
check_true "so are those of a new statement" wait_for "$(estimated bob)" f
check "which are those of history" "$(live bob)" "$(history bob)"
check_true "and more than nothing" test "$(live bob | cut -d '|' -f 4)" != 0
q "ALTER ROLE bob SET privacy_score.mode = 'enforce'" "ALTER ROLE bob SET privacy_score.session_limit = 0.01" "SELECT privacy_score.flush()" >/dev/null
check_match "in mode enforce what is known is answered, in whatever order" "$(as bob q "${usual[5]}" "${usual[0]}" "${usual[3]}" "${usual[5]}" | tail -n 1)" '^[01]$'
check_match "and what is new is refused" "$(as bob q_state "SELECT hiv FROM patients WHERE id = 2")" '^(42501|PS[0-9]+)'
q "ALTER ROLE bob RESET privacy_score.mode" "ALTER ROLE bob SET privacy_score.mode = 'observe'" >/dev/null
open fourth bob
ask fourth "SELECT hiv FROM patients WHERE id = 2"
check_true "a limit that is passed raises its alert" wait_for "SELECT count(*) > 0 FROM privacy_score.alerts WHERE role = 'bob' AND kind = 'session' AND NOT blocked" t
leave fourth
ask second "${usual[2]}"
leave second
check_true "when the others have left, the room is its" wait_for "SELECT count(*) FROM privacy_score.stat_sessions WHERE role = 'alice'" 0
ask third "${usual[5]}"
# is_whole NAME ROLE: with its next statement a session is scored with all n-grams.
is_whole() {
  ask "$1" "${usual[5]}"
  [ "$(q "$(estimated "$2")")" = f ]
}
check_true "and nothing is estimated any more" wait_until is_whole third bob
q "SELECT privacy_score.flush()" >/dev/null
check "live is history" "$(live bob)" "$(history bob)"
check "now those of the others are left out" "$(q "$left_out")" 1
before=$(used)
# What an idle session was scored with is not free.
has_it_again() {
  ask third "${usual[0]}"
  is_whole fifth alice
}
for turn in first second; do
  open fifth alice
  check_true "the $turn time that the others come, they have it again" wait_until has_it_again
  leave fifth
  check_true "and when they leave, it has" wait_until is_whole third bob
done
check_true "nothing is left behind by that: $before bytes, then $(used)" wait_for "SELECT memory_used < $before + 20000 FROM privacy_score.stat_info" t
leave third
check "nothing failed" "$(q "SELECT scoring_errors, flush_errors, dropped FROM privacy_score.stat_info")" "0|0|0"
done_testing

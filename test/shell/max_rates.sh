#!/bin/bash
# max_rates.sh - of all rates that a database ever computed, backends have those of single columns and those that sessions
# asked for lately. What a session wants and does not find comes back, exact as before; limits and history know all.
. "$(dirname "$0")/../lib.sh"

start_server "jit = off" "autovacuum = off" "privacy_score.max_rates = 100" "privacy_score.ngram_length = 1"
columns=$(seq -f 'c%g int' -s ', ' 1 16)
values=$(seq -f 'i %% (%g + 1)' -s ', ' 1 16)
q "CREATE EXTENSION privacy_score" "CREATE TABLE people (id int PRIMARY KEY, $columns)" \
  "INSERT INTO people SELECT i, $values FROM generate_series(1, 200) i" "SELECT privacy_score.protect('people')" \
  "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE ROLE carol LOGIN" "CREATE ROLE dora LOGIN" "CREATE ROLE erin LOGIN" \
  "ALTER ROLE carol SET privacy_score.session_limit = 0.01" "ALTER ROLE dora SET privacy_score.session_limit = 0.01" \
  "ALTER ROLE erin SET privacy_score.session_limit = 0.01" "GRANT SELECT ON people TO alice, bob, carol, dora, erin" >/dev/null

# A connection that stays open: say WHO STATEMENT... has answered when it returns.
open_client() {
  mkfifo "$PS_TMP/$1.in"
  as "$1" "$PS_BINDIR/psql" -XAtq <"$PS_TMP/$1.in" >"$PS_TMP/$1.out" 2>&1 &
  exec {client}>"$PS_TMP/$1.in"
  eval "client_$1=$client"
}
say() {
  local who=$1 client="client_$1" answer="answered $((++said))"
  shift
  printf '%s;\n' "$@" "SELECT '$answer'" >&"${!client}"
  until grep -qs "^$answer$" "$PS_TMP/$who.out"; do sleep 0.02; done
}
said=0
flush() { q "SELECT privacy_score.flush()" >/dev/null; }
# How the open session of a role is scored, and how by the functions over history.
estimated() { q "SELECT estimated FROM privacy_score.stat_sessions WHERE role = '$1'"; }
same_score() {
  q "SELECT l.score = h.score FROM privacy_score.stat_sessions l
     JOIN privacy_score.score_sessions('$1', privacy_score.today(), privacy_score.today()) h USING (session) WHERE l.role = '$1'"
}
evictions() { q "SELECT evictions > 0 FROM privacy_score.stat_info"; }

# --- what is wanted comes back --------------------------------------------------------------------------------------------
open_client alice
open_client bob
say bob "SELECT c1, c2 FROM people"
flush
check "a session whose rates are at hand has its exact score" "$(estimated bob) $(same_score bob)" "f t"
check "where there is room for all there are no periods" "$(q "SELECT count(period) FROM privacy_score.rate")" 0
# 105 pairs and 14 single columns.
mapfile -t pairs < <(for a in $(seq 3 16); do for b in $(seq 2 $((a - 1))); do echo "SELECT c$b, c$a FROM people"; done; done)
say alice "${pairs[@]}"
flush
say alice "SELECT c2, c3 FROM people"
flush
check "all that were computed are stored" "$(q "SELECT count(*) > 105 FROM privacy_score.rate")" t
at_hand="SELECT count(*) FILTER (WHERE cardinality(attributes) = 1) + count(*) FILTER (WHERE cardinality(attributes) > 1 AND period = (SELECT max(period) FROM privacy_score.rate)) FROM privacy_score.rate"
check_true "what a session asks for fills the room that there is" wait_for "$at_hand" 100
check "and no more" "$(evictions)" t
check "the worker looks up what has found none: the score is exact" "$(estimated alice) $(same_score alice)" "f t"
pair="FROM privacy_score.rate WHERE attributes = '{public.people.c1,public.people.c2}'"
check "what is not asked for is put out by the next period only" "$(q "SELECT period IS NULL $pair")" t
computed=$(q "SELECT computed_at $pair")
# A period lasts ten seconds, when somebody waits.
for _ in $(seq 300); do
  say bob "SELECT c1, c2 FROM people"
  if [ "$(q "SELECT period = (SELECT max(period) FROM privacy_score.rate) $pair")" = t ]; then break; fi
  sleep 1
done
check "what waits for room gets it in the next period" "$(q "SELECT period = (SELECT max(period) FROM privacy_score.rate) $pair")" t
check_true "with the score that it had" wait_for "SELECT NOT estimated FROM privacy_score.stat_sessions WHERE role = 'bob'" t
check "for who asked for it" "$(same_score bob)" t
check "without being computed anew" "$(q "SELECT computed_at $pair")" "$computed"

# --- limits ---------------------------------------------------------------------------------------------------------------
# Nobody gets past them by what others have filled the room with, or they themselves, who never stop for a moment.
# A period that has just begun, and is full at once.
last=$(q "SELECT max(period) FROM privacy_score.rate")
for _ in $(seq 600); do
  say alice "SELECT c2, c3 FROM people"
  flush
  if [ "$(q "SELECT max(period) FROM privacy_score.rate")" != "$last" ]; then break; fi
  sleep 0.5
done
check_true "the room is full in a new period" wait_for "$at_hand" 100
pairs_left_out="SELECT array_to_string(ARRAY(SELECT split_part(a, '.', 3) FROM unnest(attributes) a), ', ') FROM privacy_score.rate
  WHERE cardinality(attributes) = 2 AND period IS DISTINCT FROM (SELECT max(period) FROM privacy_score.rate) AND attributes <> '{public.people.c1,public.people.c2}'
  ORDER BY attributes"
{ read -r left_out; read -r other_left_out; } <<<"$(q "$pairs_left_out")"
check_match "there are pairs that wait" "$left_out" '^c[0-9]+, c[0-9]+$'
alert="SELECT kind, score > alert_limit FROM privacy_score.alerts WHERE role ="
as carol q "SELECT $left_out FROM people" >/dev/null
check_true "who passes a limit by one is told of" wait_for "$alert 'carol'" "session|t"
{
  echo "SELECT $left_out FROM people LIMIT 1;"
  yes "SELECT c1 FROM people LIMIT 1;" | head -n 400000
} >"$PS_TMP/busy.sql"
PGUSER=dora "$PS_BINDIR/psql" -XAtq -f "$PS_TMP/busy.sql" >/dev/null 2>&1 &  # not by as(): it is psql that is to be killed
busy=$!
check_true "and who does not stop" wait_for "$alert 'dora'" "session|t"
check_true "while it goes on" kill "$busy"
# Whoever has the rate first says it, her session or the worker; of one whose statement goes on it is the worker.
as erin q "SELECT $other_left_out, pg_sleep(1000) FROM people LIMIT 1" >/dev/null 2>&1 &
check_true "and whose statement does not end" wait_for "$alert 'erin'" "session|t"
check_true "by the worker" log_has "\\[[0-9]+\\] LOG:  privacy_score alert: .*role=\"erin\""
check "while it runs" "$(q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'erin'")" t
exec {client_alice}>&- {client_bob}>&-
wait

# --- memory is bounded ----------------------------------------------------------------------------------------------------
# Sets of all combinations of the columns, as if statements of years had revealed each.
q "DELETE FROM privacy_score.rate WHERE cardinality(attributes) > 2" \
  "INSERT INTO privacy_score.rate (relation_name, attributes, subject, rate, rows, subject_entropy, sources, source_rows, modifications, identities)
   SELECT r.relation_name, s.attributes, r.subject, 0.5, r.rows, r.subject_entropy, r.sources, r.source_rows, r.modifications, r.identities
     FROM (SELECT * FROM privacy_score.rate WHERE cardinality(attributes) = 1 LIMIT 1) r, generate_series(0, 65535) n,
          LATERAL (SELECT array_agg('public.people.c' || i + 1 ORDER BY ('public.people.c' || i + 1) COLLATE \"C\") FROM generate_series(0, 15) i WHERE n >> i & 1 = 1) s(attributes)
    WHERE cardinality(s.attributes) > 2" >/dev/null
check "of the sets there are tens of thousands" "$(q "SELECT count(*) > 65000 FROM privacy_score.rate")" t
# own ROLE: kB of the backend of an open client that are not of a file, nor of shared memory.
own() { awk '/^Anonymous:/ { print $2 }' "/proc/$(q "SELECT pid FROM pg_stat_activity WHERE usename = '$1'")/smaps_rollup"; }
# memory_with MAX_RATES: kB of shared memory that are in use, and by which a backend has grown with its model.
memory_with() {
  local before
  conf "privacy_score.max_rates = $1"
  restart_server
  rm -f "$PS_TMP"/alice.*
  open_client alice
  say alice "SELECT 1"
  before=$(own alice)
  say alice "SELECT c5 FROM people"
  flush
  say alice "SELECT c5, c6 FROM people"
  flush
  say alice "SELECT c7 FROM people"
  shared=$(($(q "SELECT memory_used FROM privacy_score.stat_info") / 1024))
  backend=$(($(own alice) - before))
  exec {client_alice}>&-
  wait
}
memory_with 1000000
check_true "all of them take more than 2 MB of shared memory, and of each backend: $shared kB, $backend kB" test "$shared" -gt 2048 -a "$backend" -gt 2048
memory_with 100
check_true "a hundred less than one, and of each backend: $shared kB, $backend kB" test "$shared" -lt 1024 -a "$backend" -lt 1024
done_testing

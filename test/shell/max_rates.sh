#!/bin/bash
# max_rates.sh - of all rates that a database ever computed, sessions are scored with those of single columns and those that
# were needed last. What a session wants and does not find comes back, exact as before; functions over history have all.
. "$(dirname "$0")/../lib.sh"

start_server "jit = off" "autovacuum = off" "privacy_score.max_rates = 100" "privacy_score.ngram_length = 1"
columns=$(seq -f 'c%g int' -s ', ' 1 16)
values=$(seq -f 'i %% (%g + 1)' -s ', ' 1 16)
q "CREATE EXTENSION privacy_score" "CREATE TABLE people (id int PRIMARY KEY, $columns)" \
  "INSERT INTO people SELECT i, $values FROM generate_series(1, 200) i" "SELECT privacy_score.protect('people')" \
  "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "GRANT SELECT ON people TO alice, bob" >/dev/null

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
aged() { q "UPDATE privacy_score.rate SET needed_at = needed_at - interval '1 hour'" >/dev/null; }

# --- what is wanted comes back --------------------------------------------------------------------------------------------
open_client alice
open_client bob
say bob "SELECT c1, c2 FROM people"
flush
check "a session whose rates are at hand has its exact score" "$(estimated bob) $(same_score bob)" "f t"
aged
# 105 pairs and 14 single columns.
mapfile -t pairs < <(for a in $(seq 3 16); do for b in $(seq 2 $((a - 1))); do echo "SELECT c$b, c$a FROM people"; done; done)
say alice "${pairs[@]}"
flush
check "all that were computed are stored" "$(q "SELECT count(*) > 105 FROM privacy_score.rate")" t
check "who wants more than a model holds is scored by bounds" "$(estimated alice)" t
check_true "which are no lower" test "$(q "SELECT l.score >= h.score FROM privacy_score.stat_sessions l
  JOIN privacy_score.score_sessions('alice', privacy_score.today(), privacy_score.today()) h USING (session) WHERE l.role = 'alice'")" = t
check_true "that rates found no room is counted" test "$(q "SELECT evictions FROM privacy_score.stat_info")" -gt 0

# Nobody else's are driven out while they are fresh, so the sessions do not take turns for ever.
needed="SELECT max(needed_at) FROM privacy_score.rate"
fresh=$(q "$needed")
for _ in $(seq 5); do
  say alice "SELECT c2, c3 FROM people"
  say bob "SELECT c1, c2 FROM people"
  flush
done
check "and not at one another's cost" "$(q "$needed")" "$fresh"

# Bob's pair is the one that has not been needed for longest when a model with one more rate is made.
pair="FROM privacy_score.rate WHERE attributes = '{public.people.c1,public.people.c2}'"
computed=$(q "SELECT computed_at $pair")
aged
q "UPDATE privacy_score.rate SET needed_at = needed_at - interval '1 hour' WHERE attributes = '{public.people.c1,public.people.c2}'" >/dev/null
exec {client_alice}>&-
say bob "SELECT c1, c2, c3, c4 FROM people"
check_true "what had to make room is asked for by who needs it" wait_for "SELECT needed_at > now() - interval '1 minute' $pair" t
check_true "and is there again" wait_for "SELECT NOT estimated FROM privacy_score.stat_sessions WHERE role = 'bob'" t
check "with the score that it had" "$(same_score bob)" t
check "without being computed anew" "$(q "SELECT computed_at $pair")" "$computed"
exec {client_bob}>&-
wait

# --- memory is bounded ----------------------------------------------------------------------------------------------------
# Sets of all combinations of the columns, as if statements of years had revealed each.
q "DELETE FROM privacy_score.rate WHERE cardinality(attributes) > 2" \
  "INSERT INTO privacy_score.rate (relation_name, attributes, subject, rate, rows, subject_entropy, sources, source_rows, modifications, identities, needed_at)
   SELECT r.relation_name, s.attributes, r.subject, 0.5, r.rows, r.subject_entropy, r.sources, r.source_rows, r.modifications, r.identities, now() - interval '1 hour'
     FROM (SELECT * FROM privacy_score.rate WHERE cardinality(attributes) = 1 LIMIT 1) r, generate_series(0, 65535) n,
          LATERAL (SELECT array_agg('public.people.c' || i + 1 ORDER BY ('public.people.c' || i + 1) COLLATE \"C\") FROM generate_series(0, 15) i WHERE n >> i & 1 = 1) s(attributes)
    WHERE cardinality(s.attributes) > 2" >/dev/null
check "of the sets there are tens of thousands" "$(q "SELECT count(*) > 65000 FROM privacy_score.rate")" t
# private ROLE: kB of the backend of an open client.
private() { awk '/^Private_/ { sum += $2 } END { print sum }' "/proc/$(q "SELECT pid FROM pg_stat_activity WHERE usename = '$1'")/smaps_rollup"; }
# memory_with MAX_RATES: kB of shared memory that are in use, and by which a backend has grown with its model.
memory_with() {
  local before
  conf "privacy_score.max_rates = $1"
  restart_server
  rm -f "$PS_TMP"/alice.*
  open_client alice
  say alice "SELECT 1"
  before=$(private alice)
  say alice "SELECT c5 FROM people"
  flush
  say alice "SELECT c5, c6 FROM people"
  flush
  say alice "SELECT c7 FROM people"
  shared=$(($(q "SELECT memory_used FROM privacy_score.stat_info") / 1024))
  backend=$(($(private alice) - before))
  exec {client_alice}>&-
  wait
}
memory_with 1000000
check_true "all of them take more than 5 MB of shared memory, and of each backend: $shared kB, $backend kB" test "$shared" -gt 5120 -a "$backend" -gt 5120
memory_with 100
check_true "a hundred less than one, and of each backend: $shared kB, $backend kB" test "$shared" -lt 1024 -a "$backend" -lt 1024
done_testing

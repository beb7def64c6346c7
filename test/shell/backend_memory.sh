#!/bin/bash
# backend_memory.sh - the memory of a backend is bounded, whatever it is asked: statements that are ever new, taken in or
# refused, leave no more than some ten megabytes in it, and so does scoring their long history.
. "$(dirname "$0")/../lib.sh"

start_server "jit = off"
columns=$(seq -f 'a_column_with_a_name_%g int' -s ', ' 1 60)
q "CREATE EXTENSION privacy_score" "CREATE TABLE people (id int PRIMARY KEY, $columns)" "SELECT privacy_score.protect('people')" \
  "CREATE ROLE observed LOGIN" "CREATE ROLE limited LOGIN" "CREATE ROLE unwatched LOGIN" "GRANT SELECT ON people TO observed, limited, unwatched" \
  "ALTER ROLE limited SET privacy_score.mode = enforce" "ALTER ROLE limited SET privacy_score.session_limit = 3" \
  "ALTER ROLE unwatched SET privacy_score.mode = off" >/dev/null

# new_statements SEED COUNT: statements with up to 40 columns each, none twice.
new_statements() {
  awk -v seed="$1" -v count="$2" 'BEGIN {
    srand(seed)
    for (i = 0; i < count; ++i) {
      columns = 1 + int(rand() * 40)
      list = "id"
      while (columns-- > 0) list = list ", a_column_with_a_name_" (1 + int(rand() * 60))
      print "SELECT " list " FROM people WHERE a_column_with_a_name_" (1 + int(rand() * 60)) " = " i ";"
    }
  }'
}

# begin_client ROLE: a connection that takes statements at descriptor 3 and answers in $PS_TMP/out; its process is $pid.
begin_client() {
  rm -f "$PS_TMP/in" "$PS_TMP/out"
  mkfifo "$PS_TMP/in"
  as "$1" "$PS_BINDIR/psql" -XAtq <"$PS_TMP/in" >"$PS_TMP/out" 2>"$PS_TMP/errors" &
  client=$!
  exec 3>"$PS_TMP/in"
  echo "SELECT pg_backend_pid();" >&3
  await_answer '^[0-9]+$'
  pid=$(head -n 1 "$PS_TMP/out")
}
# Until the client has answered so, or has ended.
await_answer() {
  until grep -Eqs "$1" "$PS_TMP/out"; do
    kill -0 "$client" 2>/dev/null || { tail -n 3 "$PS_TMP/errors" >&2; bail_out "a client has ended" >&2; }
    sleep 0.1
  done
}
size() { awk '/^Anonymous:/ { print $2 }' "/proc/$pid/smaps_rollup" 2>/dev/null; }

# grown ROLE COUNT...: kB by which the memory of a backend grows with the first COUNT statements, and by which it grows with
# the last COUNT beyond all before, each time at its most: a session that is cut gives back what it took, so that a moment
# tells nothing.
grown() {
  local role=$1 most=() count round sampler last earlier
  shift
  begin_client "$role"
  while size; do sleep 0.05; done >>"$PS_TMP/sizes" 3>&- &
  sampler=$!
  for count in 50 "$@"; do
    round=${#most[@]}
    : >"$PS_TMP/sizes"
    new_statements "$round" "$count" >&3
    echo "SELECT 'round $round';" >&3
    await_answer "round $round"
    size >>"$PS_TMP/sizes"
    most+=("$(sort -n "$PS_TMP/sizes" | tail -n 1)")
  done
  exec 3>&-
  kill $sampler
  wait
  last=${most[-1]}
  unset 'most[-1]'
  earlier=$(printf '%s\n' "${most[@]}" | sort -n | tail -n 1)
  echo "$((most[1] - most[0])) $((last - earlier))"
}

# Statements of a round. Half as many, in the short form, tell a growth of 2 kB a statement rather than of 1 kB.
many=$(by_length 4000 8000)
read -r alone _ <<<"$(grown unwatched "$many" "$many")"
check_growth() {
  local first again
  read -r first again <<<"$(grown "$@")"
  check_true "statements of role $1 leave at most 32 MB: $first kB, without watching $alone kB" test "$first" -le $((alone + 32768))
  check_true "and as many again as all of them no more: $again kB" test "$again" -le 8192
}
# Role limited goes first. It awaits the rates that it asks for, of a worker that has little else to do then; and few models
# come later. While a backend loads one it has two, and when that comes in a session is chance: with role observed first the
# most of 8000 statements was anywhere between 21 and 36 MB.
check_growth limited "$many" "$many"
check_growth observed "$many" "$many" $((2 * many))
q "SELECT privacy_score.flush()" >/dev/null
check "all that was observed is recorded" "$(q "SELECT sum(queries) >= $((4 * many + 50)) FROM privacy_score.session WHERE role = 'observed'")" t
check_true "as several sessions" test "$(q "SELECT count(*) FROM privacy_score.session WHERE role = 'observed'")" -gt 1
check_true "next to nothing of who is limited" test "$(q "SELECT sum(queries) FROM privacy_score.session WHERE role = 'limited'")" -lt 1000

# A backend that scores all of it, as who looks into a day does.
begin_client postgres
echo '\set ON_ERROR_STOP on' >&3
echo "SELECT 'nothing: ' || count(*) FROM privacy_score.score_ngrams('observed', '2000-01-01', '2000-01-01');" >&3
await_answer '^nothing: 0$'
before=$(size)
echo "SELECT 'scored: ' || (count(*) > 10000) FROM privacy_score.score_ngrams('observed', privacy_score.today() - 1, privacy_score.today());" >&3
await_answer '^scored: '
left=$(($(size) - before))
exec 3>&-
wait
check "n-grams of a long history are scored" "$(tail -n 1 "$PS_TMP/out")" "scored: true"
check_true "and leave at most 24 MB: $left kB" test "$left" -le 24576
done_testing

#!/bin/bash
# memory.sh - memory for each session, abstraction and n-gram: in shared memory, and in the backend.
#
#   scripts/sandbox.sh bench/memory.sh
#
# Prints a section in Markdown. Shared memory is what stat_info says is used; nothing is written meanwhile, so what a
# session has gathered is still there. A backend's own memory is what the system says is not shared and not of a file;
# the same statements by a role that is not watched are taken off.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"

prepare_data
used() { q "SELECT memory_used FROM privacy_score.stat_info"; }
per() { awk -v d="$(($1))" -v n="$2" 'BEGIN { printf "%.0f", d / n }'; }

# --- shared -----------------------------------------------------------------------------------------------------------
bench_server watched
conf "privacy_score.flush_interval = '1h'" "privacy_score.max_memory = '512MB'"
restart_server
q "SELECT privacy_score.flush()" >/dev/null
before=$(used)
sessions=60
for _ in $(seq $sessions); do
  (echo "SELECT 1;"; sleep 5) | PGUSER=analyst "$PS_BINDIR/psql" -XAtq >/dev/null 2>&1 &
done
sleep 3
session=$(per "$(used) - before" $sessions)
wait
q "SELECT privacy_score.flush()" >/dev/null

statements=4000
before=$(used)
"$client" run first simple $statements "x=$(conninfo)" >/dev/null
abstraction=$(per "$(used) - before" $statements)
q "SELECT privacy_score.flush()" >/dev/null
"$client" run same simple 802 "x=$(conninfo)" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
before=$(used)
"$client" run same simple 40100 "x=$(conninfo)" >/dev/null
event=$(per "$(used) - before - (abstraction - 24) * 401" 40100)
before=$(used)
"$client" run point simple 40000 "x=$(conninfo)" >/dev/null
repeated=$(per "$(used) - before" 40000)
q "SELECT privacy_score.flush()" >/dev/null
before=$(used)
make_baseline
ngram=$(per "$(used) - before" 10100)

# --- a backend's own --------------------------------------------------------------------------------------------------
# own WORKLOAD COUNT: bytes that a watched backend has more than one that is not, after one statement and after so many.
own() {
  local a b c d
  read -r a b <<<"$("$client" memory "$1" "$2" "x=$(conninfo analyst)")"
  read -r c d <<<"$("$client" memory "$1" "$2" "x=$(conninfo other)")"
  echo "$((a - c)) $((b - a - d + c))"
}
q "GRANT USAGE ON SCHEMA clinic TO other" "GRANT SELECT ON ALL TABLES IN SCHEMA public, clinic TO other" >/dev/null
read -r own_session own_constants <<<"$(own point 30000)"
read -r _ own_first <<<"$(own first 4000)"
read -r _ own_same <<<"$(own same 802)"
read -r _ own_pair <<<"$(own pair 40000)"

echo "## Memory"
echo
echo "Bytes. Shared memory holds what the worker has not written yet, for a \`flush_interval\` as a rule; a backend keeps its own for as long as the"
echo "session lasts. The model of the baseline with 10,100 n-grams stands in shared memory once and in each watched backend."
echo
echo "| for each | shared | backend |"
echo "|---|---|---|"
echo "| n-gram of the baseline, with what the model says of its statements | $ngram | in the next line |"
echo "| session, with its first statement and the model | $session | $own_session |"
echo "| abstraction: its tokens, sent once a session; known to the backend with what is remembered of the query | $abstraction | $(per "$own_first" 4000) |"
echo "| statement that differs from the one before | $event | |"
echo "| statement that repeats the one before | $repeated | |"
echo "| new n-gram, of length 6 as it is kept, with its score | | $(per "$own_pair - own_same" 39600) |"
echo "| new constant of a statement | | $(per "$own_constants" 30000) |"
part_done

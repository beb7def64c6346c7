#!/bin/bash
# memory.sh - what a session costs: memory for it, its abstractions and n-grams, in shared memory and in the backend; and
# the time that its start takes.
#
#   scripts/sandbox.sh bench/memory.sh
#
# Prints a section in Markdown. Shared memory is what stat_info says is used by models and by the lists of rates that
# they lack: what a session gathers lies in its share, which is set aside at start. A backend's own memory is what the
# system says is not shared and not of a file; the same statements by a role that is not watched are taken off.
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
make_baseline
ngram=$(per "$(used) - before" 10100)
# A session that is the first to need a rate is scored by bounds until it is computed: what comes later is measured.
warm_up watched

# --- a backend's own --------------------------------------------------------------------------------------------------
# own WORKLOAD COUNT: bytes that a watched backend has more than one that is not, after one statement and after so many.
own() {
  local a b c d
  read -r a b <<<"$("$client" memory "$1" "$2" "x=$(conninfo analyst)")"
  read -r c d <<<"$("$client" memory "$1" "$2" "x=$(conninfo other)")"
  echo "$((a - c)) $((b - a - d + c))"
}
q "GRANT USAGE ON SCHEMA clinic TO other" "GRANT SELECT ON ALL TABLES IN SCHEMA public, clinic TO other" >/dev/null
read -r _ own_constants <<<"$(own point 30000)"
# Pages come and go by chance: the median of several sessions.
for _ in $(seq "$rounds"); do
  read -r first _ <<<"$(own point 2)"
  sessions+="$first "
done
own_session=$(median <<<"$sessions")
read -r _ own_first <<<"$(own first 4000)"
read -r _ own_same <<<"$(own same 802)"
read -r _ own_pair <<<"$(own pair 40000)"

# --- the start of a session -------------------------------------------------------------------------------------------
# start_of ROLE: microseconds from one connection to the next, each with one statement about a protected table.
echo "SELECT abalance FROM pgbench_accounts WHERE aid = 1;" >"$PS_TMP/start.sql"
start_of() {
  PGUSER=$1 "$PS_BINDIR/pgbench" -n -C -c 1 -t "$starts" -f "$PS_TMP/start.sql" postgres 2>/dev/null |
    awk '/^tps = / { printf "%.0f", 1e6 / $3 }'
}
starts=500
if quick; then starts=50; fi
for round in $(seq "$rounds"); do
  starts_watched+="$(start_of analyst) "
  starts_other+="$(start_of other) "
done
start_watched=$(median <<<"$starts_watched")
start_other=$(median <<<"$starts_other")
echo "starts: watched $starts_watched, not watched $starts_other" >&2

echo "## Memory"
echo
echo "Bytes. A backend keeps its own for as long as the session lasts; in shared memory a session has a share that is set"
echo "aside for it ([how much memory](dba.md#how-much-memory)). The model has one baseline of 10,100 n-grams, which stands in"
echo "shared memory once, and the rates that its statements want."
echo
echo "| for each | shared | backend |"
echo "|---|---|---|"
echo "| n-gram of the baseline, with what the model says of its statements | $ngram | none |"
echo "| session, with its first statement and the model | | $own_session |"
echo "| abstraction: its tokens, sent once a session; known to the backend with what is remembered of the query | | $(per "$own_first" 4000) |"
echo "| new n-gram of the session, with its score | | $(per "$own_pair - own_same" 39600) |"
echo "| new constant of a statement | | $(per "$own_constants" 30000) |"
echo
target_header
status=0
target "n-gram of the baseline, with what the model says of its statements" "$ngram" at-most 120 bytes || status=1
target "session, with its first statement and the model" "$(awk -v b="$own_session" 'BEGIN { print b / 1000 }')" at-most 200 kB || status=1
target "the start of a session and its first statement, watched: time added" "$(awk -v a="$start_watched" -v b="$start_other" 'BEGIN { print (a - b) / 1000 }')" at-most 1 ms || status=1
echo
echo "The start: from one connection to the next, each with one statement about a protected table, $start_watched us watched and $start_other us"
echo "not watched, $starts connections a round, medians of $rounds rounds in turns."
part_done

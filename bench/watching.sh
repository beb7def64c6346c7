#!/bin/bash
# watching.sh - what a statement costs more with this library, and with those that everybody runs, than with none.
#
#   scripts/sandbox.sh bench/watching.sh           25 rounds
#
# Prints a section in Markdown. One server for each library, with the same data; of all servers one at a time is at work.
# The times are CPU times of the backends, read from the clocks of their processes (statements.cpp). In each round every
# server is started anew, in an order that changes: which pages of the machine's memory a server has got moves its times
# by more than a library does, and only other pages average that out. For each workload it then gets new connections,
# statements that warm up, and as many that count. "Added" is the difference to the mean of two servers without a
# library in the same round: median and quartiles of the rounds. Instructions and misses of caches are counted by
# callgrind: those of a backend that runs n statements more, divided by n; they repeat to within a few hundred
# instructions, which is where malloc finds its memory.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"

rounds=$(rounds_of 25)
libraries=(none again pg_stat_statements pgaudit pg_qualstats auto_explain unwatched watched)
declare -A titles=([none]="none" [again]="none, a second server" [unwatched]="privacy_score, role not watched" [watched]="privacy_score, role watched")
declare -A names=([one]="\`SELECT 1\`" [point]="\`pgbench -S\`" [row]="\`pgbench -S\`, one row" [join]="6-table join" [first]="first sight" [pair]="new n-gram" [same]="the same again")
# What is measured: workload, protocol, clients, statements a round, statements below callgrind, libraries (all: -), most
# rounds.
measured=(
  "one prepared 1 2000 800 -"
  "one simple 1 2000 800 -"
  "point prepared 1 2000 800 -"
  "point simple 1 2000 800 -"
  "join prepared 1 300 200 - 11"
  "join simple 1 120 60 - 11"
  "point prepared 8 600 0 - 11"
  "point simple 8 600 0 - 11"
)
seen=(
  "row prepared 1 2000 800 none,again,pg_stat_statements,watched"
  "row simple 1 2000 800 none,again,pg_stat_statements,watched"
  "same simple 1 2005 3208 none,again,pg_stat_statements,watched 11"
  "first simple 1 2000 800 none,again,pg_stat_statements,watched 11"
  "pair simple 1 2000 1600 none,again,pg_stat_statements,watched 11"
)

prepare_data
kinds=()
absent=()
declare -A connections
for kind in "${libraries[@]}"; do
  if ! has_library "$kind"; then
    absent+=("$kind")
    continue
  fi
  kinds+=("$kind")
  bench_server "$kind"
  connections[$kind]=$(conninfo)
  if [ "$kind" = watched ]; then make_baseline; fi
done
stop_all() {
  for kind in "${kinds[@]}"; do
    use_server "$kind"
    stop_server
  done
}

# --- CPU time ---------------------------------------------------------------------------------------------------------

times=$PS_TMP/times
for ((round = 1; round <= rounds; round++)); do
  stop_all
  for kind in $(shuf -e "${kinds[@]}"); do
    use_server "$kind"
    resume_server
    warm_up "$kind"
  done
  for what in "${measured[@]}" "${seen[@]}"; do
    read -r workload protocol clients count _ only most <<<"$what"
    if [ "$round" -gt "${most:-$rounds}" ]; then continue; fi
    servers=()
    for kind in "${kinds[@]}"; do
      if [ "$only" = - ] || [[ ,$only, == *,$kind,* ]]; then servers+=("$kind=${connections[$kind]}"); fi
    done
    "$client" compare "$workload" "$protocol" "$clients" "$round" "$count" "${servers[@]}" |
      sed "s/^/$workload\t$protocol\t$clients\t/" >>"$times" || bail_out "$workload $protocol fails"
  done
  echo "round $round of $rounds" >&2
done
stop_all

# --- instructions -----------------------------------------------------------------------------------------------------

# Counts of the backend that runs so many statements on the current server, its start and end included: instructions,
# misses of the caches next to the processor for code and for data, misses of the one behind them. What callgrind found
# is left in $ps_home/COUNT.counts.
count_events() {
  local pid
  pid=$("$client" run "$1" "$2" "$3" "x=$(conninfo)") || return 1
  until grep -qs '^totals:' "$ps_home/callgrind.$pid"; do sleep 0.1; done
  mv "$ps_home/callgrind.$pid" "$ps_home/$3.counts"
  # Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
  awk '$1 == "totals:" { print $2, $5, $6 + $7, $8 + $9 + $10 }' "$ps_home/$3.counts"
}

# Instructions of this library's functions.
functions_in() {
  callgrind_annotate --threshold=100 --show=Ir "$1" 2>/dev/null | grep -F 'privacy_score.so]' |
    sed -E 's/^ *([0-9,]+) \( *[0-9.]+%\) +[^:]*:(.*) \[.*/\1\t\2/; s/\(anonymous namespace\):://g; s/privacy_score:://g; s/(.)\([^\t]*$/\1/; s/,([0-9]{3})/\1/g'
}

# Those that take most of a statement: of MANY statements less those of FEW, divided.
functions_of() {
  awk -F '\t' -v n=$(($2 - $1)) 'FNR == 1 { file++ } { sum[$2] += file == 1 ? -$1 : $1 }
    END { for (f in sum) if (sum[f] / n >= 10) printf "%.0f\t%s\n", sum[f] / n, f }' \
    <(functions_in "$ps_home/$1.counts") <(functions_in "$ps_home/$2.counts") | sort -rn | head -n 16 |
    awk -F '\t' '{ printf "%s`%s` %d", (NR > 1 ? ", " : ""), $2, $1 }'
}

declare -A events functions
if command -v valgrind >/dev/null; then
  for kind in none pg_stat_statements unwatched watched; do
    if ! has_library "$kind"; then continue; fi
    use_server "$kind"
    resume_below_callgrind
    warm_up "$kind"
    for what in "${measured[@]}" "${seen[@]}"; do
      read -r workload protocol _ _ count only _ <<<"$what"
      if [ "$count" -eq 0 ] || { [ "$only" != - ] && [[ ,$only, != *,$kind,* ]]; }; then continue; fi
      echo "callgrind: $kind, $workload $protocol" >&2
      # What a session does once, such as taking in the model, is in both counts.
      few=$(count_events "$workload" "$protocol" $((count / 4)))
      many=$(count_events "$workload" "$protocol" "$count")
      events[$workload.$protocol.$kind]=$(awk -v n=$((count - count / 4)) '{ for (i = 1; i <= NF / 2; i++) printf "%.1f ", ($(i + NF / 2) - $i) / n }' <<<"$few $many")
      if [ "$workload.$kind" = point.watched ]; then functions[$protocol]=$(functions_of $((count / 4)) "$count"); fi
    done
    stop_server
  done
fi

# event WORKLOAD PROTOCOL KIND N: the Nth of count_events that the library adds; nothing where it was not counted.
event() {
  local of=${events[$1.$2.$3]:-} none=${events[$1.$2.none]:-}
  if [ -n "$of" ]; then awk -v n="$4" '{ printf "%+.0f", $n - $(n + NF / 2) }' <<<"$of $none"; fi
}

# --- the section ------------------------------------------------------------------------------------------------------

# Rows of one table: median CPU a statement, added to none with quartiles, that divided by what pg_stat_statements adds,
# instructions added, and for several clients the time that passes a statement.
table() {
  local what workload protocol clients only kind
  for what in "$@"; do
    read -r workload protocol clients _ _ only _ <<<"$what"
    for kind in "${kinds[@]}"; do
      if [ "$only" != - ] && [[ ,$only, != *,$kind,* ]]; then continue; fi
      awk -F '\t' -v w="$workload" -v p="$protocol" -v c="$clients" -v k="$kind" -v title="${titles[$kind]:-$kind}" -v name="${names[$workload]}" \
        -v own="$(event "$workload" "$protocol" "$kind" 1)" '
        function quantile(list, n, share,  i, j, t, at) {
          for (i = 2; i <= n; i++) { t = list[i]; for (j = i - 1; j > 0 && list[j] > t; j--) list[j + 1] = list[j]; list[j + 1] = t }
          at = 1 + (n - 1) * share
          return list[int(at)] + (at - int(at)) * (list[int(at) < n ? int(at) + 1 : n] - list[int(at)])
        }
        $1 == w && $2 == p && $3 == c { cpu[$4, $5] = $6; behind[$4, $5] = $7; wall[$4, $5] = $8; if ($5 > rounds) rounds = $5 }
        END {
          for (r = 1; r <= rounds; r++) {
            base = (cpu["none", r] + cpu["again", r]) / 2
            all[r] = cpu[k, r]; more[r] = cpu[k, r] - base; peer[r] = cpu["pg_stat_statements", r] - base
            worker[r] = behind[k, r]; passed[r] = wall[k, r]
          }
          median = quantile(more, rounds, .5); other = quantile(peer, rounds, .5)
          printf "| %s | %s | %d | %s | %.2f | ", name, p, c, title, quantile(all, rounds, .5) / 1000
          if (k == "none" || k == "again") printf "%+.2f (%+.2f, %+.2f) | | | ", median / 1000, quantile(more, rounds, .25) / 1000, quantile(more, rounds, .75) / 1000
          else {
            printf "%+.2f (%+.2f, %+.2f) | ", median / 1000, quantile(more, rounds, .25) / 1000, quantile(more, rounds, .75) / 1000
            printf(("pg_stat_statements", 1) in cpu && other > 0 ? sprintf("%.2f | ", median / other) : "| ")
            printf("%s | ", own)
          }
          printf "%.2f | %s |\n", quantile(passed, rounds, .5) / 1000, (worker[1] > 0 ? sprintf("%.2f", quantile(worker, rounds, .5) / 1000) : "")
        }' "$times"
    done
  done
}

header() {
  echo
  echo "| statement | protocol | clients | library | CPU | added (quartiles) | / pg_stat_statements | instructions added | passed | background |"
  echo "|---|---|---|---|---|---|---|---|---|---|"
}

# added WORKLOAD PROTOCOL CLIENTS KIND: nanoseconds added to no library, quartiles and median of the rounds.
added() {
  awk -F '\t' -v w="$1" -v p="$2" -v c="$3" -v k="$4" '
    $1 == w && $2 == p && $3 == c { if ($4 == k) own[$5] = $6; if ($4 == "none" || $4 == "again") none[$5] += $6 / 2; if ($5 > n) n = $5 }
    END { for (r = 1; r <= n; r++) print own[r] - none[r] }' "$times" | sort -g |
    awk '{ v[NR] = $1 } END { print v[int((NR + 3) / 4)], v[int((NR + 1) / 2)], v[int((3 * NR + 3) / 4)] }'
}
# The difference of two servers without a library that a quarter of the rounds exceeds.
noise_of() { added "$@" again | awk '{ a = $1 < 0 ? -$1 : $1; b = $3 < 0 ? -$3 : $3; printf "%.2f", 2 * (a > b ? a : b) / 1000 }'; }
middle() { added "$@" | awk '{ printf "%.3f", $2 / 1000 }'; }

echo "## Watching"
echo
target_header
for protocol in prepared simple; do
  if has_library pg_stat_statements; then
    target "\`pgbench -S\` $protocol, watched: time added / that of pg_stat_statements" \
      "$(ratio "$(middle point $protocol 1 watched)" "$(middle point $protocol 1 pg_stat_statements)")" at-most 1
  fi
  target "\`pgbench -S\` $protocol, not watched: time added, against that of a second server without a library" \
    "$(middle point $protocol 1 unwatched)" at-most "$(noise_of point $protocol 1)" us
done
echo
echo "Microseconds a statement; medians of $rounds interleaved rounds (11 of those that take longest). *CPU*: of the backend, read from the clock of its"
echo "process. *Added*: to the mean of two servers without a library, in the same round; what these two differ by is what differences mean here. In each"
echo "round all servers are started anew in another order, because which pages of memory a server has got moves its times by more than a library does; then"
echo "they take turns in slices of a twentieth of the statements, on connections that are new and warmed up. *Instructions*: counted by callgrind on one"
echo "client. *Passed*: time between statements as the client sees it, all clients together. *Background*: CPU of the library's own processes, which write"
echo "history. One client and its backend share a processor; eight backends are spread over all. pgaudit logs reads, pg_qualstats samples"
echo "every statement, auto_explain waits for statements of a minute; all else is as it comes. Planning the join anew, in the simple protocol, takes so much"
echo "memory that the C library gives some back to the system after each statement and faults its pages in again with the next, or does not, which depends on what"
echo "else a library has put into the heap: differences of a tenth on these lines are that."
if [ ${#absent[@]} -gt 0 ]; then echo "Not installed, so not compared: ${absent[*]}."; fi
if [ ${#events[@]} -eq 0 ]; then echo "There is no valgrind here to count instructions."; fi
header
table "${measured[@]}"
echo
echo "What watching does for \`pgbench -S\` and pg_stat_statements does not: each row asked for is a constant that is hashed under a key, looked up among those that"
echo "the session has had, and added. That table has an entry a subject and lies in no near cache. *One row*, below, is the same statement without new constants."
if [ ${#events[@]} -gt 0 ]; then
  echo
  echo "What bounds it, where times differ more than instructions do, is waiting for memory: the statement's own work has pushed a library's code and data out of"
  echo "the nearest caches by the time that it is needed again, and the library pushes out the server's. Counted by callgrind, which simulates 32 KB of code,"
  echo "48 KB of data and 2 MB behind them; all that a library adds to a statement, the server's own misses included:"
  echo
  echo "| statement | protocol | library | instructions | misses of code | misses of data | not in 2 MB either |"
  echo "|---|---|---|---|---|---|---|"
  for workload in one row point; do
    for protocol in prepared simple; do
      for kind in pg_stat_statements watched; do
        echo "| ${names[$workload]} | $protocol | ${titles[$kind]:-$kind} | $(event $workload $protocol $kind 1) | $(event $workload $protocol $kind 2) | $(event $workload $protocol $kind 3) | $(event $workload $protocol $kind 4) |"
      done
    done
  done
fi
for protocol in prepared simple; do
  if [ -n "${functions[$protocol]:-}" ]; then
    echo
    echo "Instructions of the library's own functions in a statement, $protocol: ${functions[$protocol]}."
  fi
done
echo
echo "Statements of 12 columns in ever new combinations, the role's baseline has 10,100 n-grams. *The same again*: 401 statements in one order that"
echo "repeats. *First sight*: each is one that the session has not had. *New n-gram*: the 401 statements in ever new order, so that each n-gram is"
echo "compared with the baseline."
header
table "${seen[@]}"
part_done

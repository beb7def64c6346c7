#!/bin/bash
# watching.sh - what a statement costs more with this library, and with those that everybody runs, than with none.
#
#   scripts/sandbox.sh bench/watching.sh           11 rounds
#
# Prints a section in Markdown. One server for each library, with the same data; of all servers one at a time is at work.
# The times are CPU times of the backends, read from the clocks of their processes (statements.cpp). In each round every
# server, in an order that changes, gets new connections, so that the places of things in memory average out, statements
# that warm up, and as many that count. "Added" is the difference to the mean of two servers without one in the same round:
# median and quartiles of the rounds. Instructions are counted by callgrind: those of a backend that runs n statements
# more, divided by n; they repeat to within a few hundred, which is where malloc finds its memory.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"

rounds=$(rounds_of 11)
libraries=(none again pg_stat_statements pgaudit pg_qualstats auto_explain unwatched watched)
declare -A titles=([none]="none" [again]="none, a second server" [unwatched]="privacy_score, role not watched" [watched]="privacy_score, role watched")
declare -A names=([one]="\`SELECT 1\`" [point]="\`pgbench -S\`" [row]="\`pgbench -S\`, one row" [join]="6-table join" [first]="first sight" [pair]="new n-gram" [same]="the same again")
# What is measured: workload, protocol, clients, statements a round, statements below callgrind, libraries (all: -).
measured=(
  "one prepared 1 2000 800 -"
  "one simple 1 2000 800 -"
  "point prepared 1 2000 800 -"
  "point simple 1 2000 800 -"
  "join prepared 1 300 200 -"
  "join simple 1 120 60 -"
  "point prepared 8 600 0 -"
  "point simple 8 600 0 -"
)
seen=(
  "row prepared 1 2000 800 none,again,pg_stat_statements,watched"
  "row simple 1 2000 800 none,again,pg_stat_statements,watched"
  "same simple 1 2005 3208 none,again,pg_stat_statements,watched"
  "first simple 1 2000 800 none,again,pg_stat_statements,watched"
  "pair simple 1 2000 1600 none,again,pg_stat_statements,watched"
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

# --- CPU time ---------------------------------------------------------------------------------------------------------

times=$PS_TMP/times
for what in "${measured[@]}" "${seen[@]}"; do
  read -r workload protocol clients count _ only <<<"$what"
  servers=()
  for kind in "${kinds[@]}"; do
    if [ "$only" = - ] || [[ ,$only, == *,$kind,* ]]; then servers+=("$kind=${connections[$kind]}"); fi
  done
  echo "$workload $protocol $clients: $rounds rounds" >&2
  "$client" compare "$workload" "$protocol" "$clients" "$rounds" "$count" "${servers[@]}" |
    sed "s/^/$workload\t$protocol\t$clients\t/" >>"$times" || bail_out "$workload $protocol fails"
done
for kind in "${kinds[@]}"; do
  use_server "$kind"
  stop_server
done

# --- instructions -----------------------------------------------------------------------------------------------------

# Instructions of the backend that runs so many statements on the current server, its start and end included. What
# callgrind found is left in $ps_home/counts.
count_instructions() {
  local pid
  pid=$("$client" run "$1" "$2" "$3" "x=$(conninfo)") || return 1
  until grep -qs '^totals:' "$ps_home/callgrind.$pid"; do sleep 0.1; done
  mv "$ps_home/callgrind.$pid" "$ps_home/counts"
  sed -nE 's/^totals: ([0-9]+).*/\1/p' "$ps_home/counts"
}

# The functions of this library that take most instructions of a statement: those of $ps_home/counts, divided.
functions_of() {
  callgrind_annotate --threshold=100 "$ps_home/counts" 2>/dev/null | grep -F 'privacy_score.so]' |
    sed -E 's/^ *([0-9,]+) \( *[0-9.]+%\) +[^:]*:(.*) \[.*/\1\t\2/; s/\(anonymous namespace\):://; s/privacy_score:://g; s/(.)\([^\t]*$/\1/' |
    awk -F '\t' -v n="$1" '{ gsub(",", "", $1); sum[$2] += $1; if (!($2 in at)) order[at[$2] = ++k] = $2 }
      END { for (i = 1; i <= 12 && i <= k; i++) printf "%s`%s` %.0f", (i > 1 ? ", " : ""), order[i], sum[order[i]] / n }'
}

declare -A instructions functions
if command -v valgrind >/dev/null; then
  for kind in none pg_stat_statements unwatched watched; do
    if ! has_library "$kind"; then continue; fi
    use_server "$kind"
    resume_below_callgrind
    for what in "${measured[@]}" "${seen[@]}"; do
      read -r workload protocol _ _ count only <<<"$what"
      if [ "$count" -eq 0 ] || { [ "$only" != - ] && [[ ,$only, != *,$kind,* ]]; }; then continue; fi
      echo "callgrind: $kind, $workload $protocol" >&2
      few=$(count_instructions "$workload" "$protocol" $((count / 4)))
      many=$(count_instructions "$workload" "$protocol" "$count")
      instructions[$workload.$protocol.$kind]=$(((many - few) / (count - count / 4)))
      if [ "$workload.$kind" = point.watched ]; then functions[$protocol]=$(functions_of "$count"); fi
    done
    stop_server
  done
fi

# --- the section ------------------------------------------------------------------------------------------------------

# Rows of one table: median CPU a statement, added to none with quartiles, that divided by what pg_stat_statements adds,
# instructions added, and for several clients the time that passes a statement.
table() {
  local what workload protocol clients only kind
  for what in "$@"; do
    read -r workload protocol clients _ _ only <<<"$what"
    for kind in "${kinds[@]}"; do
      if [ "$only" != - ] && [[ ,$only, != *,$kind,* ]]; then continue; fi
      awk -F '\t' -v w="$workload" -v p="$protocol" -v c="$clients" -v k="$kind" -v title="${titles[$kind]:-$kind}" -v name="${names[$workload]}" \
        -v own="${instructions[$workload.$protocol.$kind]:-}" -v instructions_of_none="${instructions[$workload.$protocol.none]:-}" '
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
            printf(own != "" ? sprintf("%+d | ", own - instructions_of_none) : "| ")
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
echo "Microseconds a statement; medians of $rounds interleaved rounds, each on new connections. *CPU*: of the backend, read from the clock of its"
echo "process. *Added*: to the mean of two servers without a library, in the same round; what these two differ by is what differences mean here."
echo "*Instructions*: counted by callgrind on one client. *Passed*: time between statements as the client sees it, all clients together. *Background*: CPU"
echo "of the library's own processes, which write history. In a round all servers take turns in slices of a twentieth of the statements, on connections that"
echo "are new and warmed up. One client and its backend share a processor; eight backends are spread over all. pgaudit logs reads, pg_qualstats samples"
echo "every statement, auto_explain waits for statements of a minute; all else is as it comes."
if [ ${#absent[@]} -gt 0 ]; then echo "Not installed, so not compared: ${absent[*]}."; fi
if [ ${#instructions[@]} -eq 0 ]; then echo "There is no valgrind here to count instructions."; fi
header
table "${measured[@]}"
echo
echo "What watching does for \`pgbench -S\` and pg_stat_statements does not: each row asked for is a constant that is hashed under a key, looked up among those that"
echo "the session has had, and added. That table has an entry a subject and lies in no cache. *One row*, below, is the same statement without new constants. Where times differ more than instructions do, the rest is waiting for"
echo "memory: the statement's own work has pushed a library's code and data out of the nearest caches by the time that it is needed again."
for protocol in prepared simple; do
  if [ -n "${functions[$protocol]:-}" ]; then
    echo
    echo "Instructions a statement of the library's own functions, $protocol, the start of the session included: ${functions[$protocol]}."
  fi
done
echo
echo "Statements of 12 columns in ever new combinations, the role's baseline has 10,100 n-grams. *The same again*: 401 statements in one order that"
echo "repeats. *First sight*: each is one that the session has not had. *New n-gram*: the 401 statements in ever new order, so that each n-gram is"
echo "compared with the baseline."
header
table "${seen[@]}"
part_done

#!/bin/bash
# run_server.sh regress|shell|attacks|all [TEST...] - the tests that need a server; runs below scripts/sandbox.sh.
# Its last line is "passed N failed M".
set -u -o pipefail

part=$1
shift
wanted=("$@")
passed=0
failed=0

# Is this test asked for? Without a list, all are.
is_wanted() {
  [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]
}

# Names of the files DIR/*.EXTENSION that are asked for, in name order.
names() {
  local file
  for file in "$1"/*."$2"; do
    [ -e "$file" ] || continue
    file=$(basename "$file" ".$2")
    if is_wanted "$file"; then echo "$file"; fi
  done
}

# run_pg_regress TEST...: one serial run against the current server.
run_pg_regress() {
  local test out=$PS_TMP/pg_regress.log status=0 ok bad
  # pg_regress gives up when an expected file is missing; an empty one shows what the test printed.
  mkdir -p expected
  for test in "$@"; do
    if ! [ -e "expected/$test.out" ]; then : >"expected/$test.out"; fi
  done
  rm -f regression.diffs
  timeout -k 10 1200 "$PS_REGRESS_DIR/regress/pg_regress" --bindir="$PS_BINDIR" --host="$PGHOST" --port="$PGPORT" --user=postgres \
    --inputdir=test --outputdir=. --dbname=contrib_regression --load-extension=privacy_score "$@" 2>&1 |
    tee "$out" || status=$?
  ok=$(grep -cE '^test .*[[:space:]]ok([[:space:]]|$)|^ok [0-9]' "$out")
  bad=$(grep -cE '^test .*[[:space:]]FAILED([[:space:]]|$)|^not ok [0-9]' "$out")
  # A run that breaks off loses tests: each of them counts as failed.
  if [ $((ok + bad)) -lt $# ]; then bad=$(($# - ok)); fi
  if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  if [ -s regression.diffs ]; then cat regression.diffs; fi
  passed=$((passed + ok))
  failed=$((failed + bad))
}

# Regression tests share one server. It runs in a subshell, which lib.sh makes its own.
regress() {
  local tests
  mapfile -t tests < <(names test/sql sql)
  if [ ${#tests[@]} -eq 0 ]; then return; fi
  local log=$PS_TMP/regress.log
  (
    . test/lib.sh
    ps_test=regress
    use_server main
    start_server
    run_pg_regress "${tests[@]}"
    if [ $failed -gt 0 ]; then
      echo "--- the end of the server's log"
      tail -n 40 "$ps_log"
    fi
    ps_passed=$passed
    ps_failed=$failed
    done_testing
  ) | tee "$log"
  tally "$log"
}

# Paths of the scripts of FOLDER... that are asked for, those first that took the longest when test/seconds was written, so
# that no lane is left with one of them at the end. What is not in there comes before all.
scripts() {
  local folder name
  for folder in "$@"; do
    while IFS= read -r name; do
      printf '%s\t%s\n' "$(awk -v name="$name" '$3 == name { seconds = $1 } END { print seconds == "" ? 9999 : seconds }' test/seconds)" "$folder/$name.sh"
    done < <(names "$folder" sh)
  done | sort -s -k 1,1nr | cut -f 2
}

# Takes from the file $queue, which all lanes have open as 9, what no other has taken.
next_script() {
  flock 8
  IFS= read -r script <&9
} 8<"$queue"

# lane FOLDER: makes the folder and runs scripts of the queue there, one after the other, until all are taken; each finds
# nothing there. "regress" stands for the regression tests.
lane() {
  local PS_TMP=$1 script test vain log=$1.script
  mkdir "$PS_TMP"
  while next_script; do
    if [ "$script" = regress ]; then regress 9<&-; continue; fi
    test=$(basename "$script" .sh)
    perl test/measured.pl "$test" timeout -k 10 1800 bash "$script" 2>"$PS_TMP/$test.err" </dev/null 9<&- | tee "$log"
    if ! grep -aqE '^passed [0-9]+ failed 0$' "$log"; then
      echo "--- $test: the end of its error output and of its servers' logs"
      tail -n 30 "$PS_TMP/$test.err" "$PS_TMP/$test".*/log 2>/dev/null
    fi
    # A wait that came to its end without the state that it waited for, though nobody asks how it ended.
    while IFS= read -r vain; do
      echo "FAILED  $test: $vain"
      failed=$((failed + 1))
    done < <(grep -aE '^waited in vain' "$PS_TMP/$test.err")
    tally "$log"
    find "$PS_TMP" -mindepth 1 -maxdepth 1 -exec rm -rf {} +
  done
  echo "passed $passed failed $failed"
}

# in_lanes [regress] FOLDER...: the scripts of the folders, several at a time. Scripts wait a good deal: two more run than
# there are processors. What the first lane runs is shown at once; the rest when all have ended.
in_lanes() {
  local number lanes=${PS_LANES:-$(($(nproc) + 2))} queue=$PS_TMP/queue aside=() first=() shown
  if [ "$1" = regress ]; then first=(regress); shift; fi
  { printf '%s\n' ${first[@]+"${first[@]}"}; scripts "$@"; } | sed '/^$/d' >"$queue"
  exec 9<"$queue"
  export PS_TEMPLATE=$PS_TMP/template
  (. test/lib.sh; ps_finished=yes; make_template) >/dev/null || tail -n 3 "$PS_TEMPLATE.log"
  for ((number = 1; number <= lanes; ++number)); do
    (lane "$PS_TMP/lane$number") >"$PS_TMP/lane$number.log" 2>&1 &
    aside[number]=$!
  done
  tail -n +1 -f --pid="${aside[1]}" "$PS_TMP/lane1.log" &
  shown=$!
  for ((number = 1; number <= lanes; ++number)); do
    # What a lane that broke off says last are the numbers of its last script.
    wait "${aside[number]}" || failed=$((failed + 1))
    if [ $number -gt 1 ]; then cat "$PS_TMP/lane$number.log"; else wait $shown; fi
    tally "$PS_TMP/lane$number.log"
  done
}

# Adds the numbers of a log's last line; a log without them is one failure.
tally() {
  local line
  line=$(grep -aE '^passed [0-9]+ failed [0-9]+$' "$1" | tail -n 1)
  if [ -z "$line" ]; then line="passed 0 failed 1"; fi
  read -r _ p _ f <<<"$line"
  passed=$((passed + p))
  failed=$((failed + f))
}

case $part in
  regress) regress ;;
  shell | attacks) in_lanes "test/$part" ;;
  all) in_lanes regress test/shell test/attacks ;;
esac
if [ $((passed + failed)) -eq 0 ] && [ ${#wanted[@]} -gt 0 ]; then
  echo "FAILED  there is no test called ${wanted[*]}"
  failed=1
fi
echo "passed $passed failed $failed"

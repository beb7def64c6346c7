#!/bin/bash
# run.sh [TARGET...] - libFuzzer on each target (all without arguments) for PS_FUZZ_SECONDS (600), two at a time.
#
# Run by "make fuzz", which builds the fuzzer. Begins with the kept inputs (test/fuzz/seeds) and those that earlier runs
# found (build/fuzz/corpus); what it finds fault with is left in build/fuzz/findings. Of each target it says how many
# inputs were run, how many edges of the code they reached, and the time. Its last line is "passed N failed M".
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 1

seconds=${PS_FUZZ_SECONDS:-}
seconds=${seconds:-600}
passed=0
failed=0
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for folder in test/fuzz/seeds/*/; do targets+=("$(basename "$folder")"); done
fi
mkdir -p build/fuzz/findings

# Runs one target; its log has the times of the process at its end.
fuzz() {
  local dictionary=()
  if [ -e "test/fuzz/$1.dict" ]; then dictionary=("-dict=test/fuzz/$1.dict"); fi
  mkdir -p "build/fuzz/corpus/$1"
  TIMEFORMAT="times %R %U %S"
  time PS_FUZZ_TARGET=$1 UBSAN_OPTIONS=print_stacktrace=1 nice -n 19 build/fuzz/fuzzer -max_total_time="$seconds" -max_len=2048 \
    -timeout=120 -rss_limit_mb=3000 -print_final_stats=1 -artifact_prefix="build/fuzz/findings/$1-" "${dictionary[@]}" \
    "build/fuzz/corpus/$1" "test/fuzz/seeds/$1"
}

# Says what a target's log says.
report() {
  local log=build/fuzz/$1.log runs edges times
  runs=$(sed -nE 's/^stat::number_of_executed_units: *([0-9]+)/\1/p' "$log" | tail -n 1)
  edges=$(sed -nE 's/.* cov: ([0-9]+) .*/\1/p' "$log" | tail -n 1)
  times=$(sed -nE 's/^times ([0-9.]+) ([0-9.]+) ([0-9.]+)$/\1 s, \2 s of CPU/p' "$log" | tail -n 1)
  if [ "$2" -eq 0 ] && [ -n "$runs" ]; then
    passed=$((passed + 1))
    echo "ok      $1: $runs inputs, $edges edges, $times"
  else
    failed=$((failed + 1))
    echo "FAILED  $1: $(grep -aE 'does not hold|ERROR:|runtime error:' "$log" | head -n 3)"
    sed -n 's/^artifact_prefix.*written to /          /p' "$log"
  fi
}

for ((i = 0; i < ${#targets[@]}; i += 2)); do
  pair=("${targets[@]:i:2}")
  jobs=()
  for target in "${pair[@]}"; do
    if ! [ -d "test/fuzz/seeds/$target" ]; then continue; fi
    { fuzz "$target"; } >"build/fuzz/$target.log" 2>&1 &
    jobs+=($!)
  done
  for target in "${pair[@]}"; do
    if ! [ -d "test/fuzz/seeds/$target" ]; then
      failed=$((failed + 1))
      echo "FAILED  there is no target called $target"
      continue
    fi
    status=0
    wait "${jobs[0]}" || status=$?
    jobs=("${jobs[@]:1}")
    report "$target" $status
  done
done
echo "passed $passed failed $failed"

#!/bin/bash
# run.sh all|long SECONDS|beside|unit|regress|shell|attacks|lint|demo|bench|fuzz|sqlsmith|sqlsmith-private|fuzz-jsonb|pg-upgrade|mixed-fleet|build [TEST...] | soak SECONDS | soak-scale STATEMENTS CONNECTIONS | soak-import STATEMENTS - installs what is missing, builds, and runs that part.
#
# Needs nothing but bash on Debian. The tests that need a server run below scripts/sandbox.sh. With tests, the
# last line of the output is "N passed, M failed", and the exit status says whether anything failed.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

part=${1:-all}
shift || true
export PG_CONFIG=${PG_CONFIG:-pg_config} MAKE=${MAKE:-make}
unset MAKEFLAGS MAKELEVEL MFLAGS
passed=0
failed=0
failures=()
skipped=()
mkdir -p build

finish() {
  if [ ${#skipped[@]} -gt 0 ]; then
    echo
    printf 'skipped: %s\n' "${skipped[@]}"
  fi
  if [ ${#failures[@]} -gt 0 ]; then
    echo
    printf 'failed: %s\n' "${failures[@]}"
  fi
  echo
  if [ "$part" != beside ]; then echo "$passed passed, $failed failed" >build/test_summary; fi
  echo "$passed passed, $failed failed"
  [ $failed -eq 0 ]
  exit
}

one_failure() {
  failed=$((failed + 1))
  failures+=("$1")
}

# Line numbers are debug information enough here.
build() {
  echo "== building: $*"
  "$MAKE" -s --no-print-directory -j "$(nproc)" PG_CONFIG="$PG_CONFIG" DEBUG=-g1 "$@"
}

# run_part NAME COMMAND...: the command says "passed N failed M" in its last line. One that breaks off counts as failed.
run_part() {
  local name=$1 log=build/$1.log line p f status=0
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$log" || status=$?
  # What tests and servers say need not be text.
  line=$(grep -aE '^passed [0-9]+ failed [0-9]+$' "$log" | tail -n 1)
  read -r _ p _ f <<<"${line:-passed 0 failed 1}"
  if [ $status -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
  passed=$((passed + p))
  failed=$((failed + f))
  if [ "$f" -gt 0 ]; then
    failures+=("$name: $f")
    # The end of a long run says which, too, and what came instead.
    mapfile -t -O ${#failures[@]} failures < <(awk '/^(FAILED|not ok|\[  FAILED  \]) |^test .* FAILED/ { print; more = /^FAILED/ ? 6 : 0; next }
      /^(ok|seconds|passed|skipped:|==) / { more = 0 } more-- > 0' "$log" | head -n 60)
  fi
  # What was left out, and why.
  mapfile -t -O ${#skipped[@]} skipped < <(grep -aE '^skipped: ' "$log" | sed 's/^skipped: //' | sort -u)
}

# Runs a GoogleTest program, or one shard of it, and turns its summary into "passed N failed M". A program that dies counts
# one failure more.
unit_program() {
  local log=$1${GTEST_SHARD_INDEX:+.$GTEST_SHARD_INDEX}.log ran ok skipped status=0
  "$1" --gtest_brief=1 >"$log" 2>&1 || status=$?
  cat "$log"
  ran=$(sed -nE 's/^\[==========\] ([0-9]+) tests? from .* ran\..*/\1/p' "$log")
  ok=$(sed -nE 's/^\[  PASSED  \] ([0-9]+) tests?\./\1/p' "$log")
  skipped=$(sed -nE 's/^\[  SKIPPED \] ([0-9]+) tests?.*/\1/p' "$log")
  ran=$((${ran:-0} - ${skipped:-0})) ok=${ok:-0}
  if [ $status -ne 0 ] && [ "$ran" -eq "$ok" ]; then ran=$((ran + 1)); fi
  sed -nE 's/^\[  SKIPPED \] ([A-Za-z]+\.[A-Za-z]+).*/skipped: unit test \1/p' "$log"
  echo "passed $ok failed $((ran - ok))"
}

# run_unit [COMMAND]: the sanitizers take a while, so that other work can be done meanwhile; a shard for each
# processor, up to four, since one takes up to a gigabyte of memory.
run_unit() {
  local shards shard
  shards=$(nproc)
  if [ "$shards" -gt 4 ]; then shards=4; fi
  build unit-programs || { one_failure "the unit tests do not build"; "${@:-true}"; return; }
  for ((shard = 0; shard < shards; ++shard)); do
    UBSAN_OPTIONS=print_stacktrace=1 GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard \
      unit_program build/unit_tests_asan >"build/unit_asan.$shard.out" 2>&1 &
  done
  run_part unit unit_program build/unit_tests
  "${@:-true}"
  wait
  for ((shard = 0; shard < shards; ++shard)); do run_part "unit_asan_$shard" cat "build/unit_asan.$shard.out"; done
}

# run_lint [TARGET]: which files clang++ is to look at, when it has not compiled the others anyway.
run_lint() {
  if build -k "${1:-clang-check}"; then passed=$((passed + 1)); else one_failure "clang++ finds fault with the code"; fi
  run_part lint scripts/lint.sh
  run_part lint_rules test/lint_rules.sh
}

# Prints a folder in memory that programs can be run from, where there is one with room to spare. Tests make and remove some
# hundred thousand files, over which the file system of a disk takes a fifth of all their time. PS_TMPDIR says another one.
test_folder() {
  local memory=/dev/shm room=8000000 folder=/tmp trial
  if trial=$(mktemp "$memory/ps.XXXXXX" 2>/dev/null); then
    printf '#!/bin/sh\n' >"$trial"
    chmod 700 "$trial"
    if "$trial" 2>/dev/null && [ "$(df --output=avail -k "$memory" | tail -n 1)" -gt $room ] &&
      [ "$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)" -gt $((room * 3 / 2)) ]; then
      folder=$memory
    fi
    rm -f "$trial"
  fi
  echo "${PS_TMPDIR:-$folder}"
}

# Seconds of each script, and of the processor, remain in build/seconds; test/seconds is one that is kept.
run_server() {
  rm -rf results regression.diffs regression.out
  run_part server env PS_TMPDIR="$(test_folder)" scripts/sandbox.sh test/run_server.sh "$@"
  sed -nE 's/^seconds ([0-9]+ [0-9.]+ [a-z_]+)$/\1/p' build/server.log | sort -rn >build/seconds
  if [ -s build/seconds ]; then echo "the longest: $(head -n 8 build/seconds | awk '{ printf "%s%s %d s", (NR > 1 ? ", " : ""), $3, $1 }')"; fi
}

# Unit tests and lint compile for minutes, and tests with a server wait a good deal: they go on at the same time, the
# compilers behind.
run_all() {
  local beside
  nice -n 5 test/run.sh beside >build/beside.out 2>&1 &
  beside=$!
  run_server all
  wait $beside || true
  # Its last line counts all of its parts; without that line it has broken off.
  run_part beside sed -E '/^passed [0-9]+ failed [0-9]+$/d; s/^([0-9]+) passed, ([0-9]+) failed$/passed \1 failed \2/' \
    build/beside.out
}

# A module that is built already is taken; else one is compiled for the demonstration, which is ready sooner.
run_demo() {
  local make=("$MAKE" -s --no-print-directory PG_CONFIG="$PG_CONFIG") parts
  export PS_MODULE=privacy_score.so
  if ! "${make[@]}" -q $PS_MODULE sql-script 2>/dev/null; then
    PS_MODULE=build/demo/privacy_score.so
    parts=$("${make[@]}" -n demo-module | grep -c 'echo "building ') || true
    if [ "$parts" -gt 0 ]; then echo "== building the module: $parts parts, on $(nproc) processors"; fi
    "${make[@]}" -j "$(nproc)" PARTS="$parts" demo-module || { echo "the module does not build" >&2; exit 1; }
  fi
  echo "== the demonstration, on a server of its own in a temporary folder"
  exec scripts/sandbox.sh demo/run.sh
}

# The measurements; what they say goes into docs/benchmarks.md.
run_bench() {
  local status=0 setting settings=()
  build bench-programs || { one_failure "the programs of the measurements do not build"; finish; }
  for setting in PS_BENCH_PARTS PS_BENCH_ROUNDS PS_BENCH_QUICK; do
    if [ -n "${!setting:-}" ]; then settings+=("$setting=${!setting}"); fi
  done
  scripts/sandbox.sh env ${settings[@]+"${settings[@]}"} bench/run.sh || status=$?
  bench/page.sh || status=$?
  exit $status
}

# All of it with nothing shortened, and what takes a time for so many seconds.
run_long() {
  export PS_LONG=1 PS_TWINS=${PS_TWINS:-2000}
  build -k clang-check || one_failure "clang++ finds fault with the code"
  run_all
  run_part soak scripts/sandbox.sh bash test/soak/soak.sh "$1"
  run_part scale scripts/sandbox.sh bash test/soak/scale.sh
  run_part import scripts/sandbox.sh bash test/soak/import.sh
  run_part sqlsmith scripts/sandbox.sh env PS_FUZZ_SECONDS="$1" test/fuzz/sqlsmith.sh
  run_part fuzz-jsonb scripts/sandbox.sh env PS_FUZZ_ROUNDS="${PS_FUZZ_ROUNDS:-}" test/fuzz/jsonb.sh
  run_fuzz
  # The matrix runs the short forms.
  if PS_LONG='' scripts/test_matrix.sh 2>&1 | tee build/matrix.log; then passed=$((passed + 1)); else one_failure "test-matrix"; fi
  if scripts/test_pg_upgrade.sh 2>&1 | tee build/pg_upgrade_all.log; then passed=$((passed + 1)); else one_failure "pg_upgrade"; fi
  if scripts/test_mixed_fleet.sh 2>&1 | tee build/mixed_fleet_all.log; then passed=$((passed + 1)); else one_failure "mixed_fleet"; fi
  mapfile -t -O ${#skipped[@]} skipped < <(grep -h '^\(the matrix\|pg_upgrade\|the mixed fleet\) is skipped' build/matrix.log build/pg_upgrade_all.log build/mixed_fleet_all.log)
}

# Each target for PS_FUZZ_SECONDS.
run_fuzz() {
  build fuzz-program || { one_failure "the fuzzer does not build"; finish; }
  run_part fuzz test/fuzz/run.sh "$@"
}

# `beside` is what "all" does at the same time: packages and module are there.
if [[ $part =~ ^(demo|all)$ ]]; then echo "== packages"; fi
[ "$part" = beside ] || scripts/install_packages.sh "$(sed 's/^long$\|^sqlsmith-private$/sqlsmith/' <<<"$part")" || { one_failure "the packages could not be installed"; finish; }
modules=(all)
if [[ $part =~ ^(all|long|shell)$ ]]; then modules+=(test-module); fi
[[ $part =~ ^(beside|demo|fuzz)$ ]] || build "${modules[@]}" || { one_failure "the module does not build"; finish; }
case $part in
  all) run_all ;;
  long) run_long "${1:-600}" ;;
  beside) run_unit run_lint clang-check-quick ;;
  unit) run_unit ;;
  lint) run_lint ;;
  regress | shell | attacks) run_server "$part" "$@" ;;
  soak) run_part soak scripts/sandbox.sh bash test/soak/soak.sh "$@" ;;
  soak-scale) run_part scale scripts/sandbox.sh bash test/soak/scale.sh "$@" ;;
  soak-import) run_part import scripts/sandbox.sh bash test/soak/import.sh "$@" ;;
  demo) run_demo ;;
  bench) run_bench ;;
  fuzz) run_fuzz "$@" ;;
  pg-upgrade) run_part pg_upgrade scripts/sandbox.sh env LD_LIBRARY_PATH=/older/lib PS_OLD_BINDIR="${PS_OLD_BINDIR:-}" bash test/upgrade/pg_upgrade.sh ;;
  # The newest of a library is everybody's: an older libpq is not enough for the newest psql.
  mixed-fleet) run_part mixed_fleet scripts/sandbox.sh env LD_LIBRARY_PATH="${PS_OLD_LIBRARIES:+$(gcc -print-multiarch | sed 's|^|/usr/lib/|'):$PS_OLD_LIBRARIES}" PS_OLD_BINDIRS="${PS_OLD_BINDIRS:-}" bash test/upgrade/mixed_fleet.sh ;;
  build) ;;
  sqlsmith) run_part sqlsmith scripts/sandbox.sh env PS_FUZZ_SECONDS="${PS_FUZZ_SECONDS:-}" test/fuzz/sqlsmith.sh ;;
  sqlsmith-private) run_part sqlsmith_private scripts/sandbox.sh env PS_FUZZ_SECONDS="${PS_FUZZ_SECONDS:-}" test/fuzz/private_sqlsmith.sh ;;
  fuzz-jsonb) run_part fuzz-jsonb scripts/sandbox.sh env PS_FUZZ_ROUNDS="${PS_FUZZ_ROUNDS:-}" test/fuzz/jsonb.sh ;;
  *)
    echo "unknown part: $part" >&2
    exit 2
    ;;
esac
finish

#!/bin/bash
# coverage.sh [unit|regress|shell|attacks|report ...] - which lines of src/ the tests run, by layer and by file.
#
# Builds a second time with gcov's counters, in a copy of the checkout below build/coverage, and runs the suites on that:
# all four without arguments, else those that are named; those that ran before on the same build are in the report, too.
# Every process of a server adds its counts to the files of its suite when it exits. What a process has counted that
# ends by a signal is lost: so test servers are stopped in the orderly way at the end (PS_STOP), and what is only run
# by a process that a test kills shows as not run. A test may fail here for want of speed; the report says which.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD/build/coverage
tree=$top/tree
suites=("$@")
if [ ${#suites[@]} -eq 0 ]; then suites=(unit regress shell attacks); fi

mkdir -p "$tree" "$top/data"
git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
  if [ -f "$file" ]; then printf '%s\0' "$file"; fi
done | tar --null -T - -cf - | tar -C "$tree" -xf -

# Other flags bring other warnings, which are for the other build. -O1, as the unit tests have it, keeps the lines apart and the statistics bearable.
build() {
  "${MAKE:-make}" -s --no-print-directory -C "$tree" -j "$(nproc)" CC='gcc --coverage' RELEASE='-O1 -g1 -fPIC --coverage' \
    SOLVER_LIBS='-lClp -lCoinUtils --coverage' "$@"
}

# keep SUITE FOLDER: the counts of a suite, beside links to the notes of the compiler that gcov reads them with.
keep() {
  local counts name
  rm -rf "${top:?}/data/$1"
  mkdir -p "$top/data/$1"
  (cd "$2" && find . -name '*.gcda') | while IFS= read -r counts; do
    name=${counts#./}
    mkdir -p "$top/data/$1/$(dirname "$name")"
    mv "$2/$name" "$top/data/$1/$name"
    ln -s "$tree/build/module/${name%.gcda}.gcno" "$top/data/$1/${name%.gcda}.gcno"
  done
}

# On a server the files lie below GCOV_PREFIX, in the folder of results that the sandbox brings back.
strip=$(tr -cd / <<<"$tree/build/module" | wc -c)
on_server() {
  (cd "$tree" && rm -rf results && scripts/sandbox.sh bash -c '
    mkdir -p results/coverage && chmod 777 results/coverage
    GCOV_PREFIX=$PWD/results/coverage GCOV_PREFIX_STRIP=$0 PS_STOP=fast test/run_server.sh "$@"' "$strip" "$1") | tee "$top/$1.log"
  keep "$1" "$tree/results/coverage"
}

if [ "${suites[*]}" != report ]; then
  build WERROR= all
  for suite in "$top"/data/*; do
    if [ "$suite" -ot "$tree/privacy_score.so" ]; then rm -rf "$suite"; fi
  done
fi
for suite in "${suites[@]}"; do
  case $suite in
    unit)
      build build/unit_tests
      find "$tree/build/module" -name '*.gcda' -delete
      (cd "$tree" && build/unit_tests --gtest_brief=1) | tee "$top/unit.log"
      keep unit "$tree/build/module"
      ;;
    regress | shell | attacks) on_server "$suite" ;;
    report) ;;
    *) echo "unknown suite: $suite" >&2; exit 2 ;;
  esac
done
perl scripts/coverage_table.pl "$tree" "$top/data" | tee "$top/report.txt"

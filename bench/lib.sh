# lib.sh - what every part of the measurements needs. Sourced by bench/*.sh, which run below scripts/sandbox.sh.
#
#   PS_BENCH_ROUNDS   interleaved rounds, at least 9; each part has its own number
#   PS_BENCH_QUICK=1  few rounds and small tables: to see that everything runs, not to measure
#
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

# Programs of bench/*.cpp, which "make bench-programs" builds.
# shellcheck disable=SC2034
programs=$PWD/bench/programs

quick() { [ -n "${PS_BENCH_QUICK:-}" ]; }

# The number of rounds of a part that takes so many unless it is told otherwise.
rounds_of() {
  local rounds=${PS_BENCH_ROUNDS:-$1}
  if quick; then rounds=${PS_BENCH_ROUNDS:-3}; elif [ "$rounds" -lt 9 ]; then rounds=9; fi
  echo "$rounds"
}
rounds=$(rounds_of 9)

# Of numbers on standard input, parted by spaces or lines.
median() { tr ' ' '\n' | grep . | sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# Milliseconds that a statement takes in a session of its own.
time_of() { "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -c '\timing on' -c "$1" 2>&1 >"$PS_TMP/answer" | head -n 3 >&2; sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p' "$PS_TMP/answer"; }

# ratio A B [DIGITS]
ratio() { awk -v a="$1" -v b="$2" -v d="${3:-2}" 'BEGIN { printf "%.*f", d, a / b }'; }

target_header() {
  echo "| target | measured | limit | |"
  echo "|---|---|---|---|"
}

# target WHAT MEASURED at-most|at-least LIMIT [UNIT]: one row, with the verdict; run.sh and page.sh look for it.
target() {
  awk -v what="$1" -v got="$2" -v side="$3" -v limit="$4" -v unit="${5:+ $5}" 'BEGIN {
    well = side == "at-most" ? got <= limit : got >= limit
    by = side == "at-most" ? got - limit : limit - got
    sub("-", " ", side)
    verdict = well ? "reached" : limit != 0 ? sprintf("missed by %.*f %%", by < limit / 100 ? 1 : 0, by / limit * 100) : "missed"
    printf "| %s | %.3g%s | %s %g%s | %s |\n", what, got, unit, side, limit, unit, verdict
    exit !well
  }'
}

# A part that ends without this has failed.
part_done() {
  ps_finished=yes
  exit 0
}

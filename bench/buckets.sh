#!/bin/bash
# buckets.sh - publishing by buckets: what settings cost in loss and time. What bucketize() takes is in publish.sh.
#
#   scripts/sandbox.sh bench/buckets.sh [-r ROUNDS]                           (3)
#
# Prints a section in Markdown and leaves it, with charts of the paper's figures 3 to 7, in bench/results_buckets/. It
# needs a compiler and no server (buckets.cpp). A judge of the optimum is the program cbc (package coinor-cbc), where it is
# installed.
. "$(dirname "$0")/../test/lib.sh"

rounds=3
while getopts r: option; do
  case $option in
    r) rounds=$OPTARG ;;
    *) exit 2 ;;
  esac
done
folder=bench/results_buckets
rm -rf "$folder"
mkdir -p "$folder"

core_part() {
  if ! command -v g++ >/dev/null; then
    echo "Without a compiler what needs no server is left out."
    return
  fi
  mkdir -p "$PS_TMP/buckets"
  local sources=(bench/buckets.cpp src/core/{base/{rational,random_source},buckets/{bucket_*,optimal_buckets,corner_relaxation,dual_simplex,finite_group,hall_cuts,release_utility}}.cpp)
  printf '%s\n' "${sources[@]}" |
    xargs -P 2 -I{} sh -c 'g++ -std=c++17 -O2 -Isrc -Ibench -c "$1" -o "$2/$(basename "$1" .cpp).o"' sh {} "$PS_TMP/buckets" &&
    g++ -o "$PS_TMP/buckets/run" "$PS_TMP"/buckets/*.o && "$PS_TMP/buckets/run" "$folder" "$rounds"
}

{
  echo "## Publishing by buckets"
  echo
  echo "$(grep -m1 'model name' /proc/cpuinfo | sed 's/.*: //'), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg) at the start; $("$PS_BINDIR/postgres" --version), $(g++ --version 2>/dev/null | head -n 1), cbc $(command -v cbc >/dev/null && cbc -stop 2>/dev/null | sed -nE 's/^Version: //p' || echo 'not installed'). $rounds interleaved rounds, medians. Data: stand-ins for CENSUS with the frequencies that the paper tells."
  echo
  core_part
} | tee "$folder/results.md"
ps_finished=yes

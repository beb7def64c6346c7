#!/bin/bash
# run.sh - runs the parts of the measurements, each of which prints a section in Markdown.
#
#   PS_BENCH_PARTS   which ones (all: watching pooled rates history report kept memory noise publish buckets measures private_sql detection)
#
# Runs below scripts/sandbox.sh ("make bench"). The sections are left in bench/results/, one file a part, where page.sh
# takes them from, with the pictures that they have made. A part that fails leaves none, and the others still run.
set -u -o pipefail

results=bench/results
rm -rf $results
mkdir -p $results
status=0
compiler=$(g++ --version 2>/dev/null | head -n 1)
machine="$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $(awk '$1 == "MemTotal:" { printf "%.0f GB", $2 / 1048576 }' /proc/meminfo), $(uname -s) $(uname -r | cut -d- -f1)"
versions="$("$PS_BINDIR/postgres" --version), privacy_score $(sed -n "s/^default_version = '\(.*\)'/\1/p" privacy_score.control)${compiler:+, $compiler}"
load() { cut -d' ' -f1 /proc/loadavg; }

for part in ${PS_BENCH_PARTS:-watching pooled rates history report kept memory noise publish buckets measures private_sql detection}; do
  if ! [ -f "bench/$part.sh" ]; then
    echo "there is no bench/$part.sh" >&2
    status=1
    continue
  fi
  echo "== $part" >&2
  began=$SECONDS
  load_before=$(load)
  arguments=()
  if [ -n "${PS_BENCH_QUICK:-}" ] && [ "$part" = buckets ]; then arguments=(-r 1); fi
  if bash "bench/$part.sh" ${arguments[@]+"${arguments[@]}"} >"$PS_TMP/$part.md"; then
    # Test/lib.sh's last line is no part of it.
    grep -vE '^passed [0-9]+ failed [0-9]+$' "$PS_TMP/$part.md" |
      run="$(fold -s -w 120 <<<"*Run on $(date -u +%Y-%m-%d) in $((SECONDS - began)) s on $machine; $versions; load average $load_before before and $(load) after.*" | sed 's/ *$//')" \
        awk '{ print } !done && /^## / { print ""; print ENVIRON["run"]; done = 1 }' | tee "$results/$part.md"
  else
    cat "$PS_TMP/$part.md" >&2
    echo "part $part failed" >&2
    status=1
  fi
done
exit $status

#!/bin/bash
# page.sh - writes docs/benchmarks.md from the sections that run.sh has left; those of other parts stay as they are.
#
# With PS_BENCH_QUICK the page goes to bench/results/benchmarks.md: what a quick run says is no measurement.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

parts=(watching pooled rates history report kept memory noise publish buckets measures private_sql detection before)
page=docs/benchmarks.md
pictures=docs/benchmarks
old=$(cat $page 2>/dev/null)
if [ -n "${PS_BENCH_QUICK:-}" ]; then
  page=bench/results/benchmarks.md
else
  shopt -s nullglob
  for picture in bench/results*/*.svg; do
    mkdir -p $pictures
    cp "$picture" $pictures/
  done
fi

# section PART: as it was measured now, else as it stands on the page.
section() {
  if [ -s "bench/results/$1.md" ]; then
    sed -E 's#\]\(([a-zA-Z0-9_]+\.svg)\)#](benchmarks/\1)#g' "bench/results/$1.md"
  else
    awk -v from="<!-- $1 -->" -v to="<!-- end of $1 -->" '$0 == to { inside = 0 } inside { print } $0 == from { inside = 1 }' <<<"$old"
  fi
}

# The charts, where there are any.
pictures_of_buckets() {
  local picture
  for picture in "$pictures"/figure_*.svg; do
    if [ -e "$picture" ]; then printf '\n\n![%s](benchmarks/%s)' "$(basename "$picture" .svg | tr _ ' ')" "$(basename "$picture")"; fi
  done
}

sections=
for part in "${parts[@]}"; do
  text=$(section "$part")
  if [ -n "$text" ] && [ "$part" = buckets ] && [[ $text != *.svg* ]]; then text+=$(pictures_of_buckets); fi
  if [ -n "$text" ]; then sections+=$(printf '\n<!-- %s -->\n%s\n<!-- end of %s -->\n.' "$part" "$text" "$part") && sections=${sections%.}; fi
done
verdicts=$(grep -E '^\|.*\| (reached|missed.*) \|$' <<<"$sections")
missed=$(grep -E '\| missed[^|]*\|$' <<<"$verdicts")

{
  cat <<'TEXT'
# Benchmarks

`make bench` measures and writes this page; only the last section, [against the version
before](#against-the-version-before), which needs two versions, is kept by hand. It takes about forty minutes on two
cores and wants a machine that does nothing else.

| | |
|---|---|
| `PS_BENCH_PARTS="rates noise" make bench` | some parts only; the sections of the others stay as they were |
| `PS_BENCH_ROUNDS=21 make bench` | more rounds (at least 9) |
| `PS_BENCH_QUICK=1 make bench` | few rounds and small tables, to see that everything runs; leaves bench/results/benchmarks.md, not this page |

The parts: `watching` (what a statement costs more), `pooled` (people behind a pooler), `rates` (entropies of attribute
sets), `history` (scoring), `report` (the page of many roles), `kept` (views and exporters over ten million statements),
`memory`, `noise` (noisy counts), `publish` (`bucketize()`), `buckets` (the solver behind it), `measures` (measures of
loss, techniques compared), `private_sql` (private aggregates), `detection` (what alarms catch). What is compared takes
turns in interleaved rounds, at least nine unless a section says otherwise, so that whatever else the machine does meets
all alike; the medians of the rounds are compared. Each section says what else belongs to its method, and when and on
what it ran.
TEXT
  echo
  if [ -n "$verdicts" ]; then
    echo "**$(grep -c . <<<"$verdicts") targets, $(grep -c '| reached |$' <<<"$verdicts") reached.**$([ -n "$missed" ] && echo " Those that are not:")"
    if [ -n "$missed" ]; then
      echo
      echo "| target | measured | limit | |"
      echo "|---|---|---|---|"
      echo "$missed"
    fi
  fi
  printf '%s' "$sections"
} >$page.new && mv $page.new $page

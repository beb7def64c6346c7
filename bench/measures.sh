#!/bin/bash
# measures.sh - measures of loss: posteriors under a released sum, equivocation curves, and the published comparison of
# techniques (figures 2 and 4).
#
#   scripts/sandbox.sh bench/measures.sh
#
# Prints a section in Markdown; the charts go into bench/results/. Needs no server.
. "$(dirname "$0")/lib.sh"

folder=bench/results
mkdir -p $folder
large=(all) repetitions=30
if quick; then large=() repetitions=2; fi
tables=$PS_TMP/tables
"$programs/measures" ${large[@]+"${large[@]}"} >"$tables" || bail_out "bench/programs/measures fails"
if grep -q 'is wrong' "$tables"; then bail_out "$(grep 'is wrong' "$tables")"; fi

# cell ROW COLUMN: of the row whose first cell that is.
cell() { awk -F ' *[|] *' -v row="$1" -v column="$2" '$2 == row { print $column }' "$tables"; }

echo "## Measures of loss"
echo
echo "Processor time of one thread, without a server. Posteriors: the least of five releases near the mean. The plain ways run"
echo "beside in the same program: convolution of all the other records, and the published recurrence, at every difference of"
echo "values (100 of them) or at some, from which the whole is estimated. Where both are computed they agree to 1e-9."
echo
target_header
target "posterior, 1,000 records of 20 values, times faster than convolution" "$(cell '1,000 records, 20 values' 5)" at-least 5000
target "posterior, 10,000 records of 100 values in equal steps" "$(cell '10,000 records, 100 values' 3)" at-most 1 ms
target "posterior, 10,000 records of 100 values with 2 decimals" "$(cell '10,000 records, 100 values of 0.00 to 1000.00' 3)" at-most 500 ms
target "posteriors of 10,000 records, each with its prior" "$(cell '10,000 records, 100 values, 10,000 priors' 3)" at-most 500 ms
target "equivocation curve and area of 100 values" "$(cell '100 real values' 4)" at-most 2 ms
target "of 100 values, times faster than the recurrence" "$(cell '100 real values' 7)" at-least 20
target "of 1,000 values" "$(cell '1000 real values' 4)" at-most 300 ms
target "of 1,000 values, times faster than the recurrence" "$(cell '1000 real values' 7)" at-least 1000
target "of 2,000 values" "$(cell '2000 real values' 4)" at-most 1500 ms
if ! quick; then target "of 10,000 values" "$(cell '10000 real values' 4)" at-most 45000 ms; fi
echo
cat "$tables"
echo
echo "### Techniques compared"
echo
echo "The experiment of Alfalayleh and Brankovic (figures 2 and 4) on a table drawn like the one of the paper, which is not ours to"
echo "pass on: same attributes, ranges and numbers of values (bench/experiments.cpp), so levels differ from those printed."
echo
"$programs/experiments" $folder $repetitions || bail_out "bench/programs/experiments fails"
part_done

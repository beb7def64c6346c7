#!/bin/bash
# docs.sh - the SQL of pages whose numbers are exact, run as they stand: what a page shows is what the server answers.
#
# An ```sql block is run in the page's session; a ``` block that follows it is its output, blanks at line ends aside.
. "$(dirname "$0")/../lib.sh"

# blocks PAGE FOLDER: writes the SQL blocks of a page to FOLDER/NN.sql and the output shown after them to FOLDER/NN.out.
blocks() {
  awk -v folder="$2" '
    /^```sql$/ { kind = "sql"; name = sprintf("%s/%02d", folder, ++number); printf "" > (name ".sql"); after = 0; next }
    /^```$/ && kind == "" && after { kind = "out"; printf "" > (name ".out"); after = 0; next }
    /^```/ && kind != "" { after = kind == "sql"; kind = ""; next }
    kind != "" { print > (name "." kind); next }
    /[^ ]/ { after = 0 }' "$1"
}

for page in inference measures; do
  start_server "shared_preload_libraries = ''"
  folder=$ps_home/$page
  mkdir "$folder"
  blocks "docs/$page.md" "$folder"
  # One session, so that a page may set up what it shows: each block ends with a line that parts the outputs.
  for block in "$folder"/*.sql; do
    cat "$block"
    echo "\\echo end of $(basename "$block" .sql)"
  done >"$folder/all"
  "$PS_BINDIR/psql" -Xq -v ON_ERROR_STOP=1 -P footer=off -f "$folder/all" >"$folder/answers" 2>"$folder/errors"
  check "the SQL of $page.md runs" "$(cat "$folder/errors")" ""
  shown=0
  for block in "$folder"/*.out; do
    number=$(basename "$block" .out)
    answer=$(awk -v from="end of $(printf '%02d' $((10#$number - 1)))" -v to="end of $number" \
      -v on="$([ "$number" = 01 ] && echo 1)" '$0 == to { exit } on { print } $0 == from { on = 1 }' "$folder/answers" | sed 's/ *$//; /^$/d')
    check "$page.md, block $number: $(head -n 1 "$folder/$number.sql" | cut -c 1-60)" "$answer" "$(sed 's/ *$//' "$block")"
    shown=$((shown + 1))
  done
  check_true "$page.md shows outputs" [ "$shown" -ge 3 ]
done
done_testing

#!/bin/bash
# reference.sh - docs/reference.md against the catalogs: whatever the extension has is described there, under the names and
# types it has, and nothing is described that it has not.
. "$(dirname "$0")/../lib.sh"

page=docs/reference.md
start_server
q "CREATE EXTENSION privacy_score" >/dev/null

# One line each, the page without line ends between the backquotes of a name.
written=$ps_home/page
sed 's/\\|/|/g' "$page" >"$written"

# missing WHAT QUERY: each line of the query's answer has to be in the page as it is.
missing() {
  q "$2" | while IFS= read -r wanted; do
    grep -qF -- "$wanted" "$written" || printf '%s\n' "$wanted"
  done >"$ps_home/missing"
  check "every $1 is in the reference" "$(cat "$ps_home/missing")" ""
}

functions="pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND n.nspname = 'privacy_score'
  JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'"
relations="pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'privacy_score'"

check_true "the catalog is asked" [ "$(q "SELECT count(*) FROM $functions")" -gt 50 ]
missing "function" "SELECT '\`' || p.proname || '(' FROM $functions GROUP BY 1 ORDER BY 1"
# Functions that are for others than the views are written with their arguments. The page writes types by their short names.
missing "argument" "
  SELECT DISTINCT a.name || ' ' || replace(replace(replace(replace(replace(format_type(a.type, NULL),
           'double precision', 'float8'), 'timestamp with time zone', 'timestamptz'), 'boolean', 'bool'), 'integer', 'int'), 'bigint[]', 'bigint[]')
    FROM $functions, unnest(p.proargnames, COALESCE(p.proallargtypes, p.proargtypes::oid[]), p.proargmodes) a(name, type, mode)
   WHERE obj_description(p.oid, 'pg_proc') NOT LIKE 'Internal%' AND p.prokind <> 'a' AND COALESCE(a.mode, 'i') IN ('i', 'v')
     AND p.prorettype <> 'trigger'::regtype ORDER BY 1"
missing "view" "SELECT '\`' || c.relname || '\`' FROM $relations WHERE c.relkind = 'v' ORDER BY 1"
# missing_from WHAT QUERY EXTRACT: the first column of the query's answer says where, the second what has to be there.
missing_from() {
  q "$2" | while IFS='|' read -r place wanted; do
    grep -qF -- "\`$wanted\`" <<<"$("$3" "$place")" || printf '%s of %s\n' "$wanted" "$place"
  done >"$ps_home/missing"
  check "every $1 is where it belongs" "$(cat "$ps_home/missing")" ""
}
# A row may say that a result is the same as the one above, or has the columns of another function.
row() {
  local text other
  text=$(awk -F ' [|] ' -v name="| \`$1(" '$2 != "the same" { above = $0 } index($0, name) == 1 { print; print above }' "$written")
  echo "$text"
  other=$(sed -nE 's/.*\| the columns of `([a-z_]+)\(\)`.*/\1/p' <<<"$text" | head -n 1)
  if [ -n "$other" ]; then row "$other"; fi
}
section() { awk -v heading="\`$1\`" '/^##/ { wanted = /^### / && index($0, heading) } wanted' "$written"; }
missing_from "column of a function's result" "
  SELECT DISTINCT p.proname, a.name FROM $functions, unnest(p.proargnames, p.proargmodes) a(name, mode)
   WHERE a.mode IN ('o', 't') AND obj_description(p.oid, 'pg_proc') NOT LIKE 'Internal%' ORDER BY 1, 2" row
# The section of stat_days names the function that has most of its columns.
missing_from "column of a view" "
  SELECT c.relname, a.attname FROM $relations JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
   WHERE c.relkind = 'v' AND c.relname <> 'stat_days' AND has_table_privilege('pg_read_all_stats', c.oid, 'SELECT') ORDER BY 1, 2" section
missing "table" "SELECT '\`' || c.relname || '\`' FROM $relations WHERE c.relkind = 'r' ORDER BY 1"
missing "setting" "SELECT '\`' || substr(s.name, 15) || '\`' FROM pg_settings s WHERE s.name LIKE 'privacy\_score.%' ORDER BY 1"

# The other way round: the first cell of each row of a table below Functions names a function.
sed -n '/^## Functions/,/^## Views/p' "$written" | grep -oE '^\| `[a-z_]+\(' | tr -d '|` (' | sort -u >"$ps_home/described"
q "SELECT DISTINCT p.proname FROM $functions ORDER BY 1" | sort -u >"$ps_home/existing"
check_true "functions are described" [ "$(wc -l <"$ps_home/described")" -gt 40 ]
check "no function is described that is not there" "$(comm -23 "$ps_home/described" "$ps_home/existing")" ""
sed -n '/^## Views/,/^## Tokens/p' "$written" | grep -oE '^### `.*' | grep -oE '`[a-z_]+`' | tr -d '`' | sort -u >"$ps_home/described"
q "SELECT c.relname FROM $relations WHERE c.relkind = 'v'" | sort -u >"$ps_home/existing"
check "no view is described that is not there" "$(comm -23 "$ps_home/described" "$ps_home/existing")" ""

# Objects without a comment say nothing in \d+.
check "every function and view has a comment" "$(q "
  SELECT p.oid::regprocedure::text FROM $functions WHERE obj_description(p.oid, 'pg_proc') IS NULL
  UNION ALL SELECT c.oid::regclass::text FROM $relations WHERE c.relkind IN ('r', 'v') AND obj_description(c.oid, 'pg_class') IS NULL")" ""
done_testing

#!/bin/bash
# monitoring.sh - what is in monitoring/ fits the views: every query runs as pg_monitor, every metric is a column of its query,
# every alerting rule is about metrics that there are.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" "CREATE ROLE monitoring LOGIN IN ROLE pg_monitor" "CREATE ROLE worker LOGIN" \
  "CREATE TABLE people (id int PRIMARY KEY, zip text)" "GRANT SELECT ON people TO worker" \
  "INSERT INTO people SELECT i, i % 7 FROM generate_series(1, 50) i" "SELECT privacy_score.protect('people')" \
  "SELECT privacy_score.import_statements(\$\$VALUES ('a', 'worker'::name, now() - interval '1 day', 'SELECT zip FROM people')\$\$)" >/dev/null
PGUSER=worker q "SELECT count(zip) FROM people" "SELECT id, zip FROM people WHERE zip = '3'" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null

# columns QUERY: the names of its columns, by a query that returns no rows, as the exporters' role.
columns() {
  PGUSER=monitoring "$PS_BINDIR/psql" -Xq -v ON_ERROR_STOP=1 -P footer=off -A -c "SELECT * FROM ($1) x LIMIT 0" 2>&1 | head -n 1 | tr '|' '\n'
}

# --- postgres_exporter: "name:", "query: |" and its lines, "- metric:" --------------------------------------------------
file=monitoring/postgres_exporter/queries.yaml
awk -v folder="$ps_home" '
  /^[a-z_]+:$/ { name = substr($1, 1, length($1) - 1); next }
  /^  query: \|$/ { in_query = 1; next }
  in_query && /^    / { print substr($0, 5) > (folder "/exporter." name ".sql"); next }
  { in_query = 0 }
  /^    - [a-z_]+:$/ { metric = substr($2, 1, length($2) - 1); print metric > (folder "/exporter." name ".metrics"); next }
  /usage:/ && $2 != "LABEL" { print name "_" metric > (folder "/metrics") }' "$file"
count=0
for query in "$ps_home"/exporter.*.sql; do
  name=$(basename "$query" .sql)
  columns "$(cat "$query")" | sort >"$ps_home/columns"
  check "postgres_exporter: ${name#exporter.} has the columns of its metrics" "$(sort "$ps_home/$name.metrics" | diff - "$ps_home/columns")" ""
  case $name in
    *_alert | *_session) ;; # none now
    *) check_true "postgres_exporter: ${name#exporter.} has values" [ "$(PGUSER=monitoring q "$(cat "$query")" | wc -l)" -ge 1 ] ;;
  esac
  count=$((count + 1))
done
check_true "postgres_exporter: there are queries" [ "$count" -ge 5 ]

# --- sql_exporter -------------------------------------------------------------------------------------------------------
file=monitoring/sql_exporter/privacy_score.collector.yml
awk -v folder="$ps_home" '
  /metric_name:/ { metric = $3; print metric > (folder "/sql_metrics") }
  /values:/ { value = $2; gsub(/[][]/, "", value) }
  /query_ref:/ { print $2, value, metric > (folder "/sql_refs") }
  /query_name:/ { name = $3; next }
  /^    query: \|$/ { in_query = 1; next }
  in_query && /^      / { print substr($0, 7) > (folder "/sql." name ".sql"); next }
  { in_query = 0 }' "$file"
check "sql_exporter has the metrics of postgres_exporter" "$(diff <(sort "$ps_home/metrics") <(sort "$ps_home/sql_metrics"))" ""
for query in "$ps_home"/sql.*.sql; do
  name=$(basename "$query" .sql)
  check "sql_exporter: ${name#sql.} asks the same" "$(diff "$query" "$ps_home/exporter.${name#sql.}.sql")" ""
done
while read -r name value metric; do
  [ "${name}_$value" = "$metric" ] || echo "$metric"
done <"$ps_home/sql_refs" >"$ps_home/odd"
check "sql_exporter: metrics are named after their query and column" "$(cat "$ps_home/odd")" ""

# --- Prometheus ---------------------------------------------------------------------------------------------------------
check "rules are about metrics that there are" \
  "$(grep -oE 'privacy_score_[a-z_]+' <(grep 'expr:' monitoring/prometheus/privacy_score.rules.yml) | sort -u | comm -23 - <(sort "$ps_home/metrics"))" ""
check_true "there are rules" [ "$(grep -c 'alert:' monitoring/prometheus/privacy_score.rules.yml)" -ge 5 ]

# --- Grafana ------------------------------------------------------------------------------------------------------------
# The dashboard is read by the server: its JSON is valid, or nothing below holds. Macros are replaced as Grafana would.
cp monitoring/grafana/privacy_score.json "$ps_home/dashboard.json"
q "CREATE TABLE dashboard AS SELECT pg_read_file('$ps_home/dashboard.json')::jsonb AS j" \
  "CREATE VIEW panel AS SELECT (p->>'id')::int AS id, p->>'title' AS title, p->>'description' AS description,
     regexp_replace(replace(t->>'rawSql', '\${role:sqlstring}', '''worker'''), '\\\$__timeFilter\\(([^)]*)\\)', '\\1 BETWEEN now() - interval ''30 days'' AND now()', 'g') AS sql,
     t->>'format' AS format FROM dashboard, jsonb_array_elements(j->'panels') p, jsonb_array_elements(p->'targets') t" >/dev/null
check_true "grafana: there are panels" [ "$(q "SELECT count(*) FROM panel")" -ge 10 ]
check "grafana: ids are different, every panel says what it shows" "$(q "SELECT count(*) - count(DISTINCT id) + count(*) FILTER (WHERE COALESCE(description, '') = '') FROM panel")" "0"
check "grafana: no macro is left" "$(q "SELECT title FROM panel WHERE sql ~ '[\$]'")" ""
for id in $(q "SELECT id FROM panel ORDER BY id"); do
  title=$(q "SELECT title FROM panel WHERE id = $id")
  sql=$(q "SELECT sql FROM panel WHERE id = $id")
  check "grafana: $title runs" "$(PGUSER=monitoring "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -o /dev/null -c "$sql" 2>&1)" ""
  if [ "$(q "SELECT format FROM panel WHERE id = $id")" = time_series ]; then
    check "grafana: $title has a time, a role and a value" "$(columns "$sql" | head -n 2 | paste -sd, -)" "time,metric"
  fi
done
list=$(q "SELECT v->>'query' FROM dashboard, jsonb_array_elements(j->'templating'->'list') v WHERE v->>'name' = 'role'")
check "grafana: the list of roles" "$(PGUSER=monitoring q "$list" | grep -x worker)" "worker"
done_testing

#!/bin/bash
# kept.sh - what is over is scored once: views, report and exporters over a long history, and what the worker does then.
#
#   scripts/sandbox.sh bench/kept.sh
#
# Prints a section in Markdown.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/long_history.sh"

roles=200 days=400 each=125
if quick; then roles=10 days=40; fi
rounds=$(rounds_of 9)

start_server "maintenance_work_mem = '256MB'" "shared_buffers = '512MB'" "privacy_score.history_retention = 0" "privacy_score.flush_interval = 1s"
write_history $roles $days $each $((days / 4))
q "CREATE ROLE monitoring LOGIN IN ROLE pg_monitor" >/dev/null
began=$EPOCHREALTIME
unkept="SELECT (SELECT count(*) FROM (SELECT DISTINCT role, day FROM privacy_score.session) s WHERE NOT EXISTS (SELECT FROM privacy_score.kept_day k
    WHERE k.role = s.role AND k.day = s.day AND k.made_under = privacy_score.scored_under()))
  + (SELECT count(*) FROM privacy_score.recorded_role r WHERE NOT EXISTS (SELECT FROM privacy_score.kept_role k
    WHERE k.role = r.role AND k.made_under = privacy_score.scored_under()))"
until left=$(q "$unkept") && [ "$left" = 0 ]; do
  echo "$left days and roles are left to score" >&2
  if awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { exit !(b - a > 1800) }'; then bail_out "the worker does not score what is over"; fi
  sleep 5
done
keeping=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", b - a }')
q "VACUUM ANALYZE" >/dev/null

# The queries of postgres_exporter; those of sql_exporter are the same (test/shell/monitoring.sh).
awk '/^  query: \|$/ { in_query = 1; next } in_query && /^    / { print substr($0, 5); next } in_query { print ";"; in_query = 0 }' \
  monitoring/postgres_exporter/queries.yaml >"$PS_TMP/scrape.sql"
month="current_date - 60, current_date - 30"
# Two scrapes in a session of its own: the exporters keep theirs, so that only the first one after a start of either side
# plans anything and fills caches of catalogs. Prints milliseconds of both.
scrape() {
  local in out at i pid
  coproc SCRAPER { PGUSER=monitoring exec "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 2>&1; }
  in=${SCRAPER[1]} out=${SCRAPER[0]} pid=$SCRAPER_PID
  echo '\echo ready' >&"$in"
  read -r -u "$out"
  for i in 1 2; do
    at=$EPOCHREALTIME
    printf '\\o /dev/null\n\\i %s\n\\o\n\\echo scraped\n' "$PS_TMP/scrape.sql" >&"$in"
    read -r -u "$out"
    if [ "$REPLY" != scraped ]; then bail_out "a scrape fails: $REPLY"; fi
    awk -v a="$at" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f ", (b - a) * 1000 }'
  done
  exec {in}>&-
  wait "$pid" 2>/dev/null || true
}
declare -A times
for round in $(seq "$rounds"); do
  times[roles]+="$(time_of "SELECT count(*) FROM privacy_score.stat_roles") "
  times[month]+="$(time_of "SELECT sum(score) FROM privacy_score.score('role_007', $month)") "
  times[report]+="$(time_of "SELECT length(privacy_score.report())") "
  read -r first later <<<"$(scrape)"
  times[first_scrape]+="$first "
  times[scrape]+="$later "
  echo "round $round of $rounds" >&2
done

# Ticks of processor that the worker of the database takes in a minute in which one watched session is open and nothing
# happens; without any it ends.
exec {session}> >(PGUSER=role_007 exec "$PS_BINDIR/psql" -XAtq >/dev/null 2>&1)
echo "SELECT count(*) FROM wide;" >&"$session"
sleep 1
q "SELECT privacy_score.flush()" >/dev/null
sleep 5
worker=$(q "SELECT pid FROM pg_stat_activity WHERE backend_type = 'privacy_score worker' AND datname = current_database()")
ticks() { awk '{ print $14 + $15 }' "/proc/$worker/stat"; }
idle=60
if quick; then idle=5; fi
ticks_before=$(ticks)
sleep $idle
idle_ms=$((($(ticks) - ticks_before) * 1000 / $(getconf CLK_TCK)))
exec {session}>&-

echo "## What is over"
echo
target_header
target "\`SELECT count(*) FROM stat_roles\`" "$(median <<<"${times[roles]}")" at-most 50 ms
target "a scrape by the shipped exporters' queries, in the session that they keep" "$(median <<<"${times[scrape]}")" at-most 50 ms
target "\`report()\`" "$(median <<<"${times[report]}")" at-most 2000 ms
target "\`score()\` of a role and a month" "$(median <<<"${times[month]}")" at-most 30 ms
target "processor time of the worker in $idle s in which a session is open and does nothing" "$idle_ms" at-most "$((idle / 2))" ms
echo
echo "$statements statements of $roles roles in $days days, one session a role and day; each role has a habit of twelve of 110"
echo "statements, of which now and then one is another. Baselines of the first quarter of the days. The worker scored the"
echo "$((roles * days)) days that are over once, in $keeping s. Medians of $rounds rounds in turns, each in a session of its own, which first"
echo "plans everything and fills its caches of the catalogs. The first scrape of a session takes $(median <<<"${times[first_scrape]}") ms."
part_done

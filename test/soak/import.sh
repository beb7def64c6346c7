#!/bin/bash
# import.sh [STATEMENTS] - twenty million statements, by default, of ever new connections are imported in the order of
# time: all arrive, on little disk, and the memory of the backend that imports them is flat. Runs below
# scripts/sandbox.sh.
. "$(dirname "$0")/../lib.sh"

statements=${1:-20000000}
# From the second quarter of the statements to the last the backend may have so much more.
kGrowthPercent=5
kJudgedFrom=5000000

start_server "max_wal_size = '4GB'" "fsync = off" "privacy_score.history_retention = 0"
q "CREATE EXTENSION privacy_score" "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, ward int, born int)" \
  "SELECT privacy_score.protect('patients')" >/dev/null || bail_out "the tables cannot be made"

# Forty connections at a time, each of a thousand statements: some that come again and again, and one of fifty of six
# hundred others.
columns="(ARRAY['name', 'city', 'ward', 'born', 'id'])"
log="SELECT 'c' || g / 40000 || '-' || g % 40, ('app_' || g % 5)::name, now() - ($statements - g) * interval '10 ms',
  CASE WHEN h % 50 = 0 THEN 'SELECT ' || ${columns}[1 + h / 50 % 5] || ', ' || ${columns}[1 + h / 250 % 5] || ', ' || ${columns}[1 + h / 1250 % 5] || ' FROM patients WHERE ' || ${columns}[1 + h / 6250 % 5] || ' IS NOT NULL'
    ELSE 'SELECT ' || ${columns}[1 + h % 5] || CASE WHEN h % 3 = 0 THEN ', ward' ELSE '' END || ' FROM patients WHERE ' || CASE WHEN h % 2 = 0 THEN 'id = ' ELSE 'born > ' END || h % 3000 END
  FROM (SELECT g, hashint8(g) & 2147483647 AS h FROM (SELECT generate_series(1::bigint, $statements) AS g) s) x"
began=$SECONDS
"$PS_BINDIR/psql" -XAtq -c "SELECT privacy_score.import_statements(\$i\$$log\$i\$)" >"$PS_TMP/imported" 2>"$PS_TMP/errors" &
client=$!
# A line a second: statements read, kB of the backend that are its own.
while kill -0 $client 2>/dev/null; do
  IFS='|' read -r pid done < <(q "SELECT pid, done FROM privacy_score.progress WHERE command = 'import_statements'")
  if [ -n "${pid:-}" ]; then
    echo "$done $(awk '/^Private_/ { sum += $2 } END { print sum + 0 }' "/proc/$pid/smaps_rollup" 2>/dev/null)" >>"$PS_TMP/samples"
  fi
  sleep 1
done
wait $client
seconds=$((SECONDS - began))
check "all are imported" "$(cat "$PS_TMP/imported" "$PS_TMP/errors")" "$statements"
check "and recorded" "$(q "SELECT sum(queries) FROM privacy_score.session")" "$statements"
check "in sessions of a thousand, but where midnight cuts them" "$(q "SELECT count(*) FROM privacy_score.session WHERE queries > 1000")" 0

# of QUARTER: the mean of the samples of a quarter of the statements.
of() { awk -v quarter="$1" -v all="$statements" '$2 > 0 && $1 > all * (quarter - 1) / 4 && $1 <= all * quarter / 4 { n++; sum += $2 } END { printf "%d", n ? sum / n : 0 }' "$PS_TMP/samples"; }
early=$(of 2) late=$(of 4)
echo "$statements statements in $seconds s, $((statements / (seconds > 0 ? seconds : 1))) a second; $early kB in the second quarter, $late kB in the last"
if [ "$statements" -lt $kJudgedFrom ]; then
  echo "note    too few to judge"
else
  check_true "memory is flat: $early kB in the second quarter, $late kB in the last" test "$early" -gt 0 -a $((late - early)) -le $((early * kGrowthPercent / 100))
fi
# Sessions, their parts and indexes; months that are not analyzed yet have their sizes all the same.
bytes=$(q "SELECT round(sum(bytes) / $statements, 2) FROM privacy_score.stat_history")
check_true "a statement takes at most 8 bytes on disk: $bytes" awk -v b="$bytes" 'BEGIN { exit !(b > 0 && b <= 8) }'
check "the server's log has no error" "$(grep -E ' (WARNING|ERROR|FATAL|PANIC):' "$ps_log" | head -n 3)" ""
done_testing

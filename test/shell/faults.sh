#!/bin/bash
# faults.sh - PS_KILLS (40, in the long form 200) kill -9 at random moments under load: of backends, of the worker, of other children, of the
# postmaster, also in the middle of a recovery; and immediate stops. After each the server starts and what is stored
# agrees with itself; in the end each client's history is what the client has sent, up to the worker's last whole flush
# before the crash, and nothing that was committed is missing.
#
# How long a flush takes is the machine's affair, and how busy it is: a client of stat_info asks all the time when the
# last one was. What was sent before two more had come to their end was there when the second began, so it is written.
#
# PS_SEED repeats a run's choices (not its timing). fsync is off: that matters when the machine dies, while a killed
# process leaves what it wrote with the operating system.
. "$(dirname "$0")/../lib.sh"

seed=${PS_SEED:-$((SRANDOM % 32768))}
most_kills=${PS_KILLS:-$(by_length 40 200)}
RANDOM=$seed
echo "# PS_SEED=$seed PS_KILLS=$most_kills"
home=$PS_TMP/faults.load
mkdir -p "$home"

# A worker that has not flushed while the server gave that client as many answers, one each 40 ms at most, is late for
# another reason than a lack of processor.
most_answers=500

# --- load -------------------------------------------------------------------------------------------------------------

# Whether the load goes on: until it is stopped, or the folder is gone because the run was interrupted.
loaded() { [ -d "$home" ] && [ ! -e "$home/stop" ]; }

# client ROLE MODE SCRIPT...: one connection after the other, each a pgbench that runs the script's statements in turn and
# logs when each turn was done. The server's log knows its sessions by the name of the run.
client() {
  local role=$1 mode=$2 run=0
  while loaded; do
    run=$((run + 1))
    (cd "$home" && PGAPPNAME=$role.$run exec "$PS_BINDIR/pgbench" -n -M "$mode" -R 40 -T 3600 -f "$home/$role.sql" -U "$role" -l \
      --log-prefix="$role.$run" postgres >"$home/$role.out" 2>>"$home/$role.err" </dev/null) &
    echo $! | tee "$home/$role.pid" >>"$home/$role.starts"
    wait $!
    rm -f "$home/$role.pid"
    sleep 0.1
  done
}

# How many lines the load has written to a file of that name.
noted() { if [ -e "$home/$1" ]; then wc -l <"$home/$1"; else echo 0; fi; }

# Waits until enough was seen to mean something, which takes a slow machine longer.
enough_seen() {
  local tries=3000
  until [ "$(noted warned)" -gt 10 ] && [ "$(noted refused)" -gt 10 ] && [ "$(noted baselines)" -gt 10 ]; do
    if [ $((tries -= 1)) -le 0 ]; then return; fi
    sleep 0.1
  done
}

# Waits, in one life of the server, until two flushes were seen after a moment when the clients were connected: something
# of their sessions has been written then.
something_written() {
  local tries=600 seen connected
  connected="SELECT count(DISTINCT usename) = 3 FROM pg_stat_activity WHERE usename IN ('c1', 'c2', 'c3') AND backend_start < clock_timestamp() - interval '0.2 s'"
  until [ "$(q "$connected" 2>/dev/null)" = t ]; do
    if [ $((tries -= 1)) -le 0 ]; then return; fi
    sleep 0.1
  done
  seen=$(tail -n 1 "$home/flushes" | cut -f 3)
  until [ "$(tail -n 200 "$home/flushes" | awk -v seen="$seen" '$3 > seen { print $3 }' | sort -u | wc -l)" -ge 3 ]; do
    if [ $((tries -= 1)) -le 0 ]; then return; fi
    sleep 0.1
  done
}

# Makes baselines, and notes those whose making was answered.
clerk() {
  while loaded; do
    "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -c "SELECT privacy_score.set_baseline('c1', privacy_score.today(), privacy_score.today())" \
      -c "SELECT id FROM privacy_score.baseline WHERE role = 'c1' AND active" </dev/null 2>/dev/null | sed -n 2p >>"$home/baselines"
    sleep 0.3
  done
}

# Short sessions, each of one statement that passes a limit, a few a second; notes the process of each that was warned
# or refused.
visitor() {
  local pid said role=c4
  while loaded; do
    as $role "$PS_BINDIR/psql" -XAtq -c "SELECT pg_backend_pid()" -c "SELECT last_name, diagnosis FROM patients WHERE id = 5" \
      </dev/null >"$home/visit" 2>&1
    said=$(<"$home/visit")
    pid=${said%%$'\n'*}
    if [[ $said == *$'\nWARNING:  session privacy score'* ]]; then echo "$pid" >>"$home/warned"; fi
    if [[ $said == *$'\nERROR:  statement refused: its session privacy score'* ]]; then echo "$pid" >>"$home/refused"; fi
    if [ $role = c4 ]; then role=c5; else role=c4; fi
    sleep 0.3
  done
}

# Notes, many times a second, when it asked (milliseconds) and when the worker's last flush was (microseconds), with the
# number of the connection: each sees one life of the server.
observer() {
  local connection=0 at flushed
  while loaded; do
    connection=$((connection + 1))
    PGOPTIONS='-c privacy_score.mode=off' "$PS_BINDIR/psql" -XAtq -F ' ' 2>/dev/null <<'SQL' |
SELECT floor(extract(epoch FROM statement_timestamp()) * 1000), COALESCE(round(extract(epoch FROM last_flush) * 1000000), 0)
  FROM privacy_score.stat_info \watch 0.04
SQL
      while read -r at flushed; do
        if [[ $at:$flushed =~ ^[0-9]+:[0-9]+$ ]]; then printf '%d\t%s\t%s\n' $connection "$at" "$flushed"; fi
        if ! loaded; then break; fi
      done >>"$home/flushes"
    sleep 0.05
  done
}

# How many times a client has been started.
connections() { wc -l <"$home/$1.starts"; }

# --- kills ------------------------------------------------------------------------------------------------------------

# The children of the running postmaster whose title matches: "PID TITLE" lines. It starts no program: what this script
# does itself takes the processor from the server, which has moments to keep.
children() {
  local pid title
  for pid in $(</proc/"$postmaster"/task/"$postmaster"/children); do
    title=
    IFS= read -r -d '' title <"/proc/$pid/cmdline"
    if [[ $title =~ $1 ]]; then echo "$pid $title"; fi
  done 2>/dev/null
}

# Kills one of these children, if there is one and it is still the postmaster's.
kill_child() {
  local pid
  pid=$(children "$1" | shuf -n 1 --random-source=<(yes $RANDOM) | cut -d ' ' -f 1)
  if [ -n "$pid" ] && [ "$(sed -n 's/^PPid:\t//p' "/proc/$pid/status" 2>/dev/null)" = "$postmaster" ] && kill -9 "$pid" 2>/dev/null; then
    kills=$((kills + 1))
    killed[$2]=$((${killed[$2]:-0} + 1))
  fi
}

kill_postmaster() {
  kill9_server 2>/dev/null
  kills=$((kills + 1))
  killed[postmaster]=$((${killed[postmaster]:-0} + 1))
  start_again
}

# Kills what is left of a server whose postmaster is gone: its processes work in its data directory.
kill_leftovers() {
  local process
  for process in /proc/[0-9]*; do
    if [ "$(readlink "$process/cwd" 2>/dev/null)" = "$PGDATA" ]; then
      echo "# left over: $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null)"
      kill -9 "${process#/proc/}" 2>/dev/null
    fi
  done
}

# Starts the server, which may have to wait for the last child of the old one.
start_again() {
  local tries=50
  until "$PS_BINDIR/pg_ctl" start -s -w -t 60 -D "$PGDATA" -l "$ps_log" </dev/null >/dev/null 2>&1; do
    tries=$((tries - 1))
    # A child that was killed with a lock of its own leaves others waiting for it who do not look after the postmaster:
    # what the server's hint asks for is done, as an administrator would.
    if [ $tries -eq 25 ]; then kill_leftovers; fi
    if [ $tries -le 0 ]; then touch "$home/stop"; bail_out "the server starts after kill $kills: $(tail -n 3 "$ps_log")"; fi
    sleep 0.1
  done
  postmaster=$(head -n 1 "$PGDATA/postmaster.pid")
}

pause() { sleep "0.$(printf '%03d' $((RANDOM % $1)))"; }

one_fault() {
  case $((RANDOM % 10)) in
    0 | 1) kill_child 'postgres: c[1-5] ' backend ;;
    2 | 3) kill_child 'privacy_score worker' worker ;;
    4) kill_child 'postgres: (checkpointer|background writer|walwriter|autovacuum)' other ;;
    5) kill_postmaster ;;
    6 | 7 | 8)
      kill_child 'postgres: (c[1-5] |privacy_score)' backend
      pause 150
      kill_child 'postgres: ' recovering
      pause 150
      kill_postmaster
      ;;
    9)
      kill_child 'postgres: c[1-5] ' backend
      pause 200
      stop_server immediate
      killed[stop]=$((${killed[stop]:-0} + 1))
      start_again
      ;;
  esac
}

# Names what does not agree; empty when all does.
invariants="SELECT string_agg(x, '; ') FROM (
  SELECT 'session ' || s.id || ': queries ' || s.queries || ', runs ' || COALESCE(sum(r), 0) AS x
    FROM privacy_score.session s LEFT JOIN privacy_score.session_part p ON p.session_id = s.id LEFT JOIN LATERAL unnest(p.runs) r ON true
   GROUP BY s.id, s.queries HAVING s.queries <> COALESCE(sum(r), 0)
  UNION ALL SELECT 'parts of session ' || session_id FROM privacy_score.session_part
   GROUP BY session_id HAVING min(part) <> 0 OR max(part) + 1 <> count(*)
  UNION ALL SELECT 'abstraction ' || a.id || ': calls ' || a.calls || ', runs ' || COALESCE(u.n, 0) || ', rows ' || a.rows || ', in parts ' || u.rows
    FROM privacy_score.abstraction a
    FULL JOIN (SELECT i.id, sum(i.run) AS n, sum(i.rows) AS rows
                 FROM privacy_score.session_part p, ROWS FROM (unnest(p.ids), unnest(p.runs), unnest(p.rows)) i(id, run, rows) GROUP BY 1) u
      ON u.id = a.id WHERE a.calls IS DISTINCT FROM COALESCE(u.n, 0) OR a.rows IS DISTINCT FROM COALESCE(u.rows, 0)
  UNION ALL SELECT 'baseline ' || b.id FROM privacy_score.baseline b
   WHERE NOT EXISTS (SELECT FROM privacy_score.baseline_ngram n WHERE n.baseline_id = b.id)
      OR b.sessions <> (SELECT sum(s.count) FROM privacy_score.baseline_session s WHERE s.baseline_id = b.id)
  UNION ALL SELECT 'active baselines' FROM privacy_score.baseline WHERE active GROUP BY role HAVING count(*) > 1
  UNION ALL SELECT 'abstraction without tokens' FROM privacy_score.abstraction WHERE tokens = '{}') v"

# --- the server, with history and limits --------------------------------------------------------------------------------
start_server "privacy_score.flush_interval = '100ms'" "privacy_score.alert_window = 0" "autovacuum_naptime = '1s'" \
  "max_worker_processes = 8" "checkpoint_timeout = '30s'" "log_connections = on" "log_line_prefix = '%m [%p] %c '" "log_min_messages = 'warning'" "log_min_error_statement = 'panic'"
postmaster=$(head -n 1 "$PGDATA/postmaster.pid")
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, first_name text, last_name text, city text, diagnosis text)" \
  "INSERT INTO patients SELECT i, 'f' || i % 17, 'l' || i % 97, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i" \
  "SELECT privacy_score.protect('patients')" "CREATE ROLE c1 LOGIN" "CREATE ROLE c2 LOGIN" "CREATE ROLE c3 LOGIN" "CREATE ROLE c4 LOGIN" \
  "CREATE ROLE c5 LOGIN" "GRANT SELECT ON patients TO c1, c2, c3, c4, c5" "SECURITY LABEL FOR privacy_score ON COLUMN patients.diagnosis IS 'sensitive'" \
  "ALTER ROLE c2 SET privacy_score.mode = 'warn'" "ALTER ROLE c2 SET privacy_score.session_limit = 0.2" \
  "ALTER ROLE c2 SET privacy_score.daily_limit = 0.5" "ALTER ROLE c4 SET privacy_score.mode = 'warn'" \
  "ALTER ROLE c4 SET privacy_score.session_limit = 0.2" "ALTER ROLE c5 SET privacy_score.mode = 'enforce'" \
  "ALTER ROLE c5 SET privacy_score.session_limit = 0.2" "SELECT privacy_score.analyze_relation('patients', '{last_name,diagnosis}')" >/dev/null
as c1 q "SELECT city FROM patients" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
first_session=$(q "SELECT max(id) FROM privacy_score.session")
cat >"$home/c1.sql" <<'SQL'
SELECT city FROM patients WHERE id = 1;
SELECT count(*) FROM patients;
SELECT first_name FROM patients WHERE city = 'c2';
SQL
cat >"$home/c2.sql" <<'SQL'
SELECT last_name FROM patients WHERE id = 3;
SELECT diagnosis, city FROM patients WHERE id = 4;
SELECT id FROM patients WHERE last_name = 'l1';
SQL
cp "$home/c1.sql" "$home/c3.sql"
client c1 simple &
client c2 extended &
client c3 prepared &
clerk &
visitor &
observer &

# --- faults -----------------------------------------------------------------------------------------------------------
declare -A killed=()
kills=0 faults=0 broken= alerts_seen=0 lost_alerts=
began=$EPOCHSECONDS
while [ $kills -lt "$most_kills" ] && [ $((EPOCHSECONDS - began)) -lt "${PS_SECONDS:-800}" ]; do
  pause 600
  # Now and then sessions get so old that something of them must have been written.
  if [ $((faults % 6)) -eq 0 ]; then something_written; fi
  one_fault
  faults=$((faults + 1))
  tries=200
  until found=$(q "$invariants" "SELECT count(*) FROM privacy_score.alert" 2>/dev/null); do
    if [ $((tries -= 1)) -le 0 ]; then bail_out "the server answers after kill $kills: $found"; fi
    sleep 0.1
  done
  if [ -n "${found%$'\n'*}" ]; then
    broken+="after kill $kills: ${found%$'\n'*}
"
  fi
  if [ "${found##*$'\n'}" -lt "$alerts_seen" ]; then lost_alerts+="$alerts_seen->${found##*$'\n'} "; fi
  alerts_seen=${found##*$'\n'}
done
for what in "${!killed[@]}"; do echo "# killed $what: ${killed[$what]}"; done
echo "# $kills kills in $faults faults, $((EPOCHSECONDS - began)) seconds"
check_true "$most_kills kills" test $kills -ge "$most_kills"
check "after each the server starts, and what is stored agrees" "$broken" ""
check "no alert that was written is lost" "$lost_alerts" ""

# --- what the clients know ----------------------------------------------------------------------------------------------
enough_seen
touch "$home/stop"
# The alarm that ends pgbench's time: killed otherwise it would lose what of its log is not written yet. More than once: a
# client may have been about to connect.
while [ -n "$(jobs -pr)" ]; do
  for role in c1 c2 c3; do kill -ALRM "$(<"$home/$role.pid")"; done 2>/dev/null
  sleep 0.1
done
check "the server answers in the end" "$(q "SELECT privacy_score.flush()")" ""
check "and what is stored agrees" "$(q "$invariants")" ""

# Of each run its name, and when each turn ended, in milliseconds. A line of its log: client, turn, latency, script,
# seconds, microseconds, lag.
for log in "$home"/c[123].*.[0-9]*; do
  name=${log##*/}
  awk -v name="${name%.*}" '{ printf "%s\t%.0f\n", name, $5 * 1000 + int($6 / 1000) }' "$log"
done >"$home/turns"
# A run's last session; the one before is pgbench's own.
sed -nE 's/.*\] ([0-9a-f]+\.[0-9a-f]+) LOG:  connection authorized: .*application_name=(c[123]\.[0-9]+).*/\2\t\1/p' "$ps_log" |
  awk -F '\t' '{ session[$1] = $2 } END { for (name in session) print name "\t" session[name] }' >"$home/sessions"
# An observation counts for a run while the run was alive: both are of one life of the server then. The last whose two
# flushes were seen is the moment up to which everything is due.
q "CREATE TABLE turn (name text, at bigint)" "\\copy turn FROM '$home/turns'" \
  "CREATE TABLE seen (connection int, at bigint, flushed bigint)" "\\copy seen FROM '$home/flushes'" \
  "CREATE TABLE observation AS SELECT *, max(flush) OVER (PARTITION BY connection) - flush >= 2 AS followed
     FROM (SELECT *, dense_rank() OVER (PARTITION BY connection ORDER BY flushed) AS flush FROM seen) x" \
  "CREATE TABLE run AS SELECT r.*, split_part(name, '.', 1)::name AS role, (SELECT count(*) FROM turn t WHERE t.name = r.name AND t.at < r.until) AS due
     FROM (SELECT name, min(at) AS first, count(*) AS turns,
                  (SELECT max(o.at) FROM observation o WHERE o.followed AND o.at BETWEEN min(t.at) AND max(t.at)) AS until
             FROM turn t GROUP BY name) r" \
  "CREATE TABLE session_of (name text, session text)" "\\copy session_of FROM '$home/sessions'" \
  "CREATE TABLE recorded AS SELECT s.role, s.session, s.queries,
     (SELECT array_agg(i.id ORDER BY p.part, i.n) FROM privacy_score.session_part p,
             ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY i(id, run, n), generate_series(1, i.run) WHERE p.session_id = s.id) AS ids
     FROM privacy_score.session s WHERE s.id > $first_session" \
  "CREATE TABLE matched AS SELECT r.*, m.session, COALESCE(m.queries, 0) AS queries, m.ids
     FROM run r LEFT JOIN session_of o USING (name) LEFT JOIN recorded m ON m.role = r.role AND m.session = o.session" >/dev/null
answers=$(q "SELECT max(n) FROM (SELECT count(*) AS n FROM observation GROUP BY connection, flush) x")
echo "# the most answers between two flushes: $answers"
check_true "the worker flushes while others are answered" test "$answers" -lt $most_answers
echo "# $(q "SELECT count(*) || ' sessions, ' || sum(turns) * 3 || ' statements answered, ' || sum(queries) || ' recorded, the most missing at the end of one: ' || max(turns * 3 - queries) FROM matched")"
check "of each run the session is known" "$(q "SELECT count(*) FROM run WHERE name NOT IN (SELECT name FROM session_of)")" 0
check_true "the clients were at work" test "$(q "SELECT count(*) FROM matched WHERE due > 0")" -gt $((most_kills / 10))
check "what a session did before the last flush is recorded" \
  "$(q "SELECT role, turns, due, queries FROM matched WHERE queries < due * 3 ORDER BY role, first LIMIT 5")" ""
check "nothing is recorded that was not sent, or twice" \
  "$(q "SELECT role, turns, queries FROM matched WHERE queries > turns * 3 + 3 ORDER BY role, first LIMIT 5")" ""
check "no more sessions are recorded than clients had connections" \
  "$(q "SELECT s.role, count(*) FROM recorded s WHERE s.role IN ('c1', 'c2', 'c3') GROUP BY 1
         HAVING count(*) > CASE s.role WHEN 'c1' THEN $(connections c1) WHEN 'c2' THEN $(connections c2) ELSE $(connections c3) END")" ""
check "the recorded sequence is what was sent, in order and without a gap" \
  "$(q "SELECT role, session, i FROM (SELECT role, session, n, id, lag(id, 3) OVER w AS same, lag(id) OVER w AS before, n AS i
          FROM matched, unnest(ids) WITH ORDINALITY u(id, n) WINDOW w AS (PARTITION BY role, session ORDER BY n)) x
         WHERE n > 3 AND id <> same OR id = before LIMIT 5")" ""
check "each begins with its first statement" "$(q "SELECT count(DISTINCT ids[1]) FROM matched WHERE role <> 'c2' AND ids IS NOT NULL")" 1
check "no baseline whose making was answered is lost" \
  "$(q "CREATE TABLE made (id bigint)" "\\copy made FROM '$home/baselines'" "SELECT count(*) FROM made WHERE id NOT IN (SELECT id FROM privacy_score.baseline)")" 0
check_true "baselines were made" test "$(q "SELECT count(*) FROM made")" -gt 10
for what in warned refused; do
  q "CREATE TABLE $what (pid int)" "\\copy $what FROM '$home/$what'" >/dev/null
  echo "# $(q "SELECT count(*) FROM $what") visitors were $what"
  check_true "visitors were $what" test "$(q "SELECT count(*) FROM $what")" -gt 10
  check "no alert that a visitor was $what for is lost" \
    "$(q "SELECT count(*) FROM $what w WHERE NOT EXISTS (SELECT FROM privacy_score.alert a
            WHERE a.role IN ('c4', 'c5') AND a.blocked = ('$what' = 'refused')
              AND split_part(split_part(a.session, '.', 2), '/', 1) = to_hex(w.pid))")" 0
done
check "nothing was dropped at the end" "$(q "SELECT dropped, scoring_errors FROM privacy_score.stat_info")" "0|0"
done_testing

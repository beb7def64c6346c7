#!/bin/bash
# pg_upgrade.sh - pg_upgrade from an older major version (its programs in PS_OLD_BINDIR, with the extension installed) to
# this one: by copying and by linking, with baselines, labels, budgets half spent, alerts and kept days, the worker awake
# until the stop, and the extension in template1 too. scripts/test_pg_upgrade.sh runs it.
. "$(dirname "$0")/../lib.sh"

new_bindir=$PS_BINDIR
old_bindir=${PS_OLD_BINDIR:?the programs of the older version}
old_major=$("$old_bindir/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
settings=("max_prepared_transactions = 4" "privacy_score.worker_stays = '1h'" "privacy_score.end_user_source = 'setting app.user'" "privacy_score.mode = 'enforce'" "jit = off")

# From 18 on a cluster has checksums unless it is told not to; the older one has none.
checksums=()
if [ "$ps_major" -ge 18 ]; then checksums=(--no-data-checksums); fi

# q_each STATEMENT...: goes on after an error.
q_each() { for statement in "$@"; do q "$statement"; done; }

# What must be equal before and after, in words.
durable() {
  q_each "SELECT relation, subject, attributes, labelled FROM privacy_score.protected_relations ORDER BY 1" \
    "SELECT objtype, objname, label FROM pg_seclabels WHERE provider = 'privacy_score' ORDER BY 1, 2" \
    "SELECT * FROM privacy_score.dependency ORDER BY 1, 2" \
    "SELECT relation, attribute, origin, origin_name, origin_attribute FROM privacy_score.copied_column ORDER BY 1, 2" \
    "SELECT * FROM privacy_score.dp_domains ORDER BY 1, 2" \
    "SELECT id, role, active, sessions FROM privacy_score.baselines ORDER BY id" \
    "SELECT r.rolname, s.* FROM pg_roles r, privacy_score.role_status(r.rolname) s WHERE r.rolname IN ('alice', 'bob', 'app') ORDER BY 1, 2" \
    "SELECT s.* FROM privacy_score.score('alice', '-infinity', 'infinity') s ORDER BY day" \
    "SELECT s.* FROM privacy_score.score_anew('alice', '-infinity', 'infinity') s ORDER BY day" \
    "SELECT s.* FROM privacy_score.score_sessions('alice', '-infinity', 'infinity') s ORDER BY s::text" \
    "SELECT * FROM privacy_score.stat_days ORDER BY day, role, end_user" \
    "SELECT * FROM privacy_score.alerts ORDER BY id" \
    "SELECT * FROM privacy_score.accepted ORDER BY id" \
    "SELECT * FROM privacy_score.end_user_limits" "SELECT * FROM privacy_score.end_user_labels" \
    "SELECT role, relation, epsilon, spent FROM privacy_score.dp_budget ORDER BY 1, 2" \
    "SELECT * FROM privacy_score.dp_releases ORDER BY 1, 2, 3" \
    "SELECT tokens FROM privacy_score.abstraction ORDER BY id" \
    "SELECT count(*) FROM privacy_score.subject_key" "SELECT count(*) FROM privacy_score.principal_day"
}

# new_cluster NAME SETTING...: an empty cluster of the newer version as server NAME. run_upgrade OLD_DATA [OPTION]: from there to it.
new_cluster() {
  PS_BINDIR=$new_bindir
  use_server "$1"
  shift
  mkdir -p "$ps_home/work"
  "$PS_BINDIR/initdb" -D "$PGDATA" -U postgres -A trust -N -E UTF8 --locale=C.UTF-8 "${checksums[@]}" >"$ps_home/initdb.log" 2>&1 || bail_out "initdb: $(tail -n 3 "$ps_home/initdb.log")"
  conf "listen_addresses = ''" "unix_socket_directories = '$ps_home'" "fsync = off" "max_connections = 40" "shared_buffers = '32MB'" "timezone = 'UTC'" \
    "lc_messages = 'C'" "log_line_prefix = '%m [%p] %q%u@%d '" "$@"
}
run_upgrade() {
  (cd "$ps_home/work" && env -u PGHOST -u PGDATA -u PGDATABASE "$PS_BINDIR/pg_upgrade" -b "$old_bindir" -B "$new_bindir" -d "$1" -D "$PGDATA" -U postgres -s "$ps_home" "${@:2}") >"$ps_home/upgrade.log" 2>&1
}

# A minor release may write into a dump what an older one of the next major version does not know, whatever is in it.
PS_BINDIR=$old_bindir
ps_template=$PS_TMP/old_template
use_server plain
start_server "shared_preload_libraries = ''"
q "CREATE TABLE t (id int)" >/dev/null
stop_server fast
plain=$PGDATA
new_cluster plain_new
if ! run_upgrade "$plain"; then
  skip "$("$old_bindir/postgres" --version) to $("$new_bindir/postgres" --version): it fails without the extension as well: $(
    grep -rhaoE 'ERROR: .*' "$PGDATA/pg_upgrade_output.d" | tail -n 1)"
  done_testing
  exit
fi

# --- the older server ----------------------------------------------------------------------------------------------------
PS_BINDIR=$old_bindir
use_server old
start_server "${settings[@]}"
PGDATABASE=template1 q "CREATE EXTENSION privacy_score" >/dev/null
q "CREATE DATABASE hospital" >/dev/null
export PGDATABASE=hospital
q "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE ROLE app LOGIN" "ALTER ROLE alice SET privacy_score.session_limit = 0.5" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text, region text, diagnosis text, age int)" \
  "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 13, 'r' || i % 13 % 4, 'd' || i % 7, i % 90 FROM generate_series(1, 2000) i" \
  "GRANT SELECT ON patients TO alice, app" "SELECT privacy_score.protect('patients', 'id')" \
  "SELECT privacy_score.confirm_dependency('patients', 'city', 'region')" "SELECT privacy_score.dp_domain('patients', 'age', 0, 90)" \
  "CREATE TABLE copy AS SELECT id, city, 'made' || id AS made FROM patients" "CREATE MATERIALIZED VIEW regions AS SELECT region, count(*) FROM patients GROUP BY 1" \
  "SECURITY LABEL FOR privacy_score ON COLUMN patients.diagnosis IS 'sensitive'" "SECURITY LABEL FOR privacy_score ON COLUMN regions.region IS 'public'" \
  "SECURITY LABEL FOR privacy_score ON ROLE bob IS 'dp only'" "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" \
  "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'watched'" \
  "SELECT privacy_score.label_end_user('app', 'carl', 'dp only')" "SELECT privacy_score.set_limit('app', 'dora', session_limit => 0.8)" \
  "SELECT privacy_score.dp_grant('bob', 'patients', 1)" "GRANT USAGE ON SCHEMA privacy_score TO alice, bob, app" \
  "SELECT privacy_score.import_statements(\$\$SELECT 's' || d, 'alice'::name, now() - d * interval '1 day', 'SELECT region FROM patients WHERE city = ''c1''' FROM generate_series(2, 20) d\$\$)" \
  "SELECT privacy_score.flush()" "ANALYZE" >/dev/null || bail_out "the state cannot be made"
q "SELECT privacy_score.set_baseline('alice', privacy_score.today() - 20, privacy_score.today() - 5)" "SELECT privacy_score.flush()" >/dev/null
as alice q "SELECT region FROM patients WHERE city = 'c2'" "SELECT count(name) FROM patients WHERE region = 'r1'" >/dev/null
check "above the limit before" "$(as alice q_state "SELECT * FROM patients")" PS001
answer=$(as bob q "SELECT privacy_score.dp_count('patients', 'age > 30', 0.5)")
check "half of the budget is spent" "$(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'bob'")" 0.5
as app q "SET app.\"user\" = 'dora'" "SELECT city FROM patients WHERE id = 8" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.acknowledge_alert(min(id)) FROM privacy_score.alerts" >/dev/null
wait_for "SELECT count(*) > 0 FROM privacy_score.alerts" t
wait_for "SELECT count(DISTINCT day) >= 19 FROM privacy_score.kept_day" t
mkfifo "$PS_TMP/alice"
as alice "$PS_BINDIR/psql" -XAtq <"$PS_TMP/alice" >/dev/null 2>&1 &
alice=$!
exec 3>"$PS_TMP/alice"
echo "SELECT region FROM patients WHERE city = 'c3';" >&3
wait_for "SELECT count(*) > 0 FROM privacy_score.stat_sessions WHERE role = 'alice' AND queries > 0" t
check_true "the worker is awake at the stop" test -n "$(q "SELECT worker_pid FROM privacy_score.stat_info")"
stop_server fast
exec 3>&-
wait $alice
resume_server
durable >"$PS_TMP/before" 2>&1
check "there is something to keep, with what the session did that was open at the stop" \
  "$(wc -l <"$PS_TMP/before" | awk '{ print ($1 > 100) }') $(grep ERROR "$PS_TMP/before") $(q "SELECT queries FROM privacy_score.stat_days WHERE role = 'alice' AND day = privacy_score.today()")" "1  3"
stop_server fast
cp -a "$PGDATA" "$PS_TMP/old_data"

# --- the newer one ---------------------------------------------------------------------------------------------------------
# upgraded MODE [PRELOADED]: the older server's data under the newer one, by copying or linking, as server MODEPRELOADED.
upgraded() {
  local preloaded=${2-privacy_score}
  new_cluster "$1$preloaded" "shared_preload_libraries = '$preloaded'" "privacy_score.flush_interval = '100ms'" "privacy_score.baseline_min_sessions = 0" "${settings[@]}"
  rm -rf "$PS_TMP/old_$1"
  cp -a "$PS_TMP/old_data" "$PS_TMP/old_$1"
  run_upgrade "$PS_TMP/old_$1" "--$1"
}
check "without the library in the newer server pg_upgrade fails" "$(upgraded copy '' && echo succeeds)" ""
use_server copy
check_true "and says that labels need it" grep -rqs 'security label provider "privacy_score" is not loaded' "$PGDATA" "$ps_home"
for mode in copy link; do
  done=no
  upgraded $mode && done=yes
  check "pg_upgrade --$mode from $old_major to $ps_major" "$done" yes
  if [ $done = no ]; then
    tail -n 30 "$ps_home/upgrade.log" >&2
    find "$PGDATA/pg_upgrade_output.d" "$ps_home/work" -name '*.log' -exec tail -n 15 {} + >&2
    continue
  fi
  resume_server
  check "$mode: no error in the log" "$(grep -cE 'ERROR|FATAL|PANIC|WARNING' "$ps_log")" 0
  durable >"$ps_home/after" 2>&1
  check "$mode: all is as it was" "$(diff "$PS_TMP/before" "$ps_home/after" | head -n 5)" ""
  check "$mode: kept scores are those that are made anew" \
    "$(q "SELECT count(*) FROM (SELECT * FROM privacy_score.score('alice', '-infinity', 'infinity') EXCEPT SELECT * FROM privacy_score.score_anew('alice', '-infinity', 'infinity')) d")" 0
  check "$mode: what is usual passes, what is not is refused" "$(as alice q_state "SELECT region FROM patients WHERE city = 'c4'") $(as alice q_state "SELECT * FROM patients")" "00000 PS001"
  check "$mode: a label of a role holds" "$(q "GRANT SELECT ON patients TO bob" >/dev/null; as bob q_state "SELECT name FROM patients")" PS001
  check "$mode: that of an end user, too" "$(as app q_state "SET app.\"user\" = 'carl'" "SELECT name FROM patients WHERE id = 1")" PS001
  check "$mode: the same question has the same answer, for nothing" \
    "$(as bob q "SELECT privacy_score.dp_count('patients', 'age > 30', 0.5)") $(q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'bob'")" "$answer 0.5"
  check "$mode: another one costs, and no more than there is" \
    "$(as bob q_state "SELECT privacy_score.dp_count('patients', 'age > 31', 0.5)") $(as bob q_state "SELECT privacy_score.dp_count('patients', 'age > 32', 0.5)")" "00000 PS002"
  check "$mode: ids go on" "$(q "SELECT nextval('privacy_score.session_id_seq') > max(id & 1099511627775) FROM privacy_score.session")$(q "SELECT nextval('privacy_score.alert_id_seq') > max(id) FROM privacy_score.alert")" tt
  check "$mode: renamed columns are followed" "$(q "ALTER TABLE patients RENAME id TO number" "SELECT subject FROM privacy_score.protected_relations WHERE relation = 'patients'::regclass")" "{number}"
  check_true "$mode: the report is made" test "$(q "SELECT length(privacy_score.report())")" -gt 10000
  check "$mode: the setup is looked at" "$(q_state "SELECT * FROM privacy_score.check_setup()")" 00000
  check "$mode: a database made from template1 has the extension" "$(q "CREATE DATABASE ward" >/dev/null; on ward q "SELECT count(*) FROM privacy_score.stat_roles" "CREATE TABLE t (id int)" "SELECT privacy_score.protect('t')" "DROP TABLE t" "DROP EXTENSION privacy_score" "CREATE EXTENSION privacy_score" "SELECT count(*) FROM privacy_score.session")" "0

0"
  check_true "$mode: it can be dumped" bash -c "'$PS_BINDIR/pg_dump' -Fc -f '$PS_TMP/$mode.dump' hospital"
  check_true "$mode: vacuumed" "$PS_BINDIR/vacuumdb" -q -a -z
  stop_server fast
done
done_testing

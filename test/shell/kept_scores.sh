#!/bin/bash
# kept_scores.sh - scores of days that are over: kept once, with the rates of then; the same as computed anew with these
# after every kind of change, before the worker has taken it in and after; kept by dump and restore.
. "$(dirname "$0")/../lib.sh"

start_server "max_worker_processes = 10"
q "CREATE EXTENSION privacy_score" "CREATE ROLE ann" "CREATE ROLE bob" "CREATE ROLE desk" \
  "SECURITY LABEL FOR privacy_score ON ROLE desk IS 'gateway'" \
  "CREATE TABLE staff (id int PRIMARY KEY, city text, gender text, job text, born int, ward int)" \
  "INSERT INTO staff SELECT i, 'c' || i % 13, i % 2, 'j' || i % 7, i % 50, i % 3 FROM generate_series(1, 300) i" \
  "SELECT privacy_score.protect('staff')" >/dev/null
columns=(city gender job born ward)
# import ROLE DAY: a session of four statements on that day of March 2026; those of desk are an end user's.
import() {
  local statements=() session=s$RANDOM user=NULL n a b c
  if [ "$1" = desk ]; then user="'u$((RANDOM % 2))'"; fi
  for n in 1 2 3 4; do
    a=${columns[RANDOM % 5]} b=${columns[RANDOM % 5]} c=${columns[RANDOM % 5]}
    statements+=("($n, 'SELECT $a, $b AS other FROM staff WHERE $c IS NULL')")
  done
  local IFS=,
  q "SELECT privacy_score.import_statements(\$\$SELECT '$session'::text AS session, '$1'::name AS role,
    timestamptz '2026-03-01 09:00' + ($2 - 1) * interval '1 day' + n * interval '1 minute' AS at, sql::text, $user::text AS end_user
    FROM (VALUES ${statements[*]}) v(n, sql)\$\$)" >/dev/null
}
RANDOM=4711
for role in ann bob desk; do for day in 1 2 3 4 5 6 7 8 9; do import $role $day; done; done
q "SELECT privacy_score.set_baseline('ann', '2026-03-01', '2026-03-03')" "SELECT privacy_score.set_baseline('desk', '2026-03-01', '2026-03-03')" \
  "SELECT privacy_score.flush()" >/dev/null

unkept="SELECT count(*) FROM (SELECT DISTINCT role, day FROM privacy_score.session) s WHERE NOT EXISTS (SELECT FROM privacy_score.kept_day k
  WHERE k.role = s.role AND k.day = s.day AND k.made_under = privacy_score.scored_under())"
roles_left="SELECT count(*) FROM privacy_score.recorded_role r WHERE NOT EXISTS (SELECT FROM privacy_score.kept_role k WHERE k.role = r.role AND k.made_under = privacy_score.scored_under())"
all_of() { echo "SELECT r.role, s.* FROM privacy_score.recorded_role r, LATERAL privacy_score.$1(r.role, '-infinity', 'infinity') s"; }
differ="SELECT count(*) FROM ((($(all_of score)) EXCEPT ALL ($(all_of score_anew))) UNION ALL (($(all_of score_anew)) EXCEPT ALL ($(all_of score)))) d"
# What stat_roles shows, by its definition.
roles_differ="SELECT count(*) FROM privacy_score.stat_roles r LEFT JOIN privacy_score.baseline b ON b.role = r.role AND b.active AND b.end_user IS NULL
  WHERE r.cumulative IS DISTINCT FROM (SELECT sum(c.most ORDER BY c.end_user) FROM (SELECT s.end_user, max(s.cumulative) AS most
    FROM privacy_score.score_anew(r.role, COALESCE(b.to_day + 1, '-infinity'), 'infinity') s GROUP BY s.end_user) c)"
# kept: waits until the worker has scored all days for good.
kept() {
  q "SELECT privacy_score.flush()" >/dev/null
  wait_for "$unkept" 0
  wait_for "$roles_left" 0
}
kept
check "days that are over are kept, of each principal" "$(q "SELECT count(*) FROM privacy_score.kept_day" "SELECT count(DISTINCT day) FROM privacy_score.kept_day")" \
  "$(q "SELECT count(*) FROM (SELECT DISTINCT role, day, end_user FROM privacy_score.session) s")
9"
check "kept scores are those that are computed anew" "$(q "$differ" "$roles_differ")" "0
0"
check "and there is something to compare" "$(q "SELECT count(*) FILTER (WHERE score > 0) > 9, count(*) FILTER (WHERE cumulative > score) > 9 FROM privacy_score.stat_days")" "t|t"

# Autovacuum takes such a lock: the worker neither waits for it nor leaves the rest.
mkfifo "$PS_TMP/vacuuming"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/vacuuming" >/dev/null 2>&1 &
exec 3>"$PS_TMP/vacuuming"
echo "BEGIN; LOCK TABLE privacy_score.kept_day IN SHARE UPDATE EXCLUSIVE MODE;" >&3
wait_for "SELECT count(*) FROM pg_locks WHERE relation = 'privacy_score.kept_day'::regclass AND mode = 'ShareUpdateExclusiveLock'" 1
import cleo 1
flush_answers=$(q "SELECT privacy_score.flush()" "SELECT privacy_score.flush()" "SELECT $(printf '(%s) > 0' "$unkept")" | tail -n 1)
check "while what is kept is vacuumed nothing is kept" "$flush_answers" t
began=$SECONDS
exec 3>&-
wait_for "$unkept" 0
wait_for "$roles_left" 0
check_true "and right afterwards all" test $((SECONDS - began)) -lt 45

# --- later rates ----------------------------------------------------------------------------------------------------------
scores="SELECT md5(string_agg(d::text, '|' ORDER BY role, end_user, day)) FROM privacy_score.stat_days d"
before=$(q "$scores")
q "UPDATE staff SET city = 'c1', job = 'j' || id" "SELECT privacy_score.analyze_relation('staff')" >/dev/null
kept
check "later rates do not change them" "$(q "$scores" "$differ")" "$before
0"
check "rescore() tells the days" "$(q "SELECT privacy_score.rescore('bob', '2026-03-04', '2026-03-05')")" 2
check "scores of these days follow the rates of now" "$(q "$scores" | grep -c "$before")" 0
of_days="SELECT md5(string_agg(ROW(d.day, d.score, d.tight_max)::text, '|' ORDER BY day)) FROM privacy_score.score('bob', '2026-03-04', '2026-03-05') d"
now=$(q "$of_days")
kept
check "they are kept so" "$(q "$of_days" "$differ" "$roles_differ")" "$now
0
0"
check "on other rates than the rest" "$(q "SELECT count(DISTINCT rates) FROM privacy_score.kept_day")" 2

# --- what-if ---------------------------------------------------------------------------------------------------------------
check "a setting of one's own computes anew" "$(q "SET privacy_score.ngram_length = 1" "SELECT sum(max_score) = sum(ngrams) FROM privacy_score.stat_days" | tail -n 1)" t
check "and keeps nothing" "$(q "$unkept")" 0

# --- what is read once a statement is read again by the next -----------------------------------------------------------------
sum_of="SELECT round(sum(s.score)::numeric, 9) FROM privacy_score.recorded_role r, LATERAL privacy_score.score_anew(r.role, '-infinity', 'infinity') s"
with=$(q "$sum_of")
without=$(q "BEGIN" "SELECT privacy_score.drop_baseline('ann')" "$sum_of" "ROLLBACK" | tail -n 1)
check "scores tell a baseline from none" "$([ "$with" != "$without" ] && echo differ)" differ
check "a change of one's own is seen, also within a savepoint, and its end" "$(q "BEGIN" "$sum_of" "SAVEPOINT s" "SELECT privacy_score.drop_baseline('ann')" "$sum_of" \
  "ROLLBACK TO s" "$sum_of" "SELECT privacy_score.drop_baseline('ann')" "$sum_of" "ROLLBACK" "$sum_of" | grep .)" "$with
$without
$with
$without
$with"
drop="SELECT FROM privacy_score.drop_baseline('ann')" make="SELECT FROM privacy_score.set_baseline('ann', '2026-03-01', '2026-03-03')"
changed_within() { # changed_within ISOLATION: what one transaction sees before a change, after it and after its contrary
  printf '%s\n' "BEGIN ISOLATION LEVEL $1;" "$sum_of;" "\\! \"$PS_BINDIR/psql\" -XAtq -c \"$drop\"" "$sum_of;" "\\! \"$PS_BINDIR/psql\" -XAtq -c \"$make\"" \
    "$sum_of;" "COMMIT;" | q_script | grep .
}
check "so is a change of another session" "$(changed_within "READ COMMITTED")" "$with
$without
$with"
check "but not in a transaction that sees none" "$(changed_within "REPEATABLE READ")" "$with
$with
$with"
kept

# --- every kind of change ------------------------------------------------------------------------------------------------
change() {
  local role day
  role=$(shuf -n 1 --random-source=<(yes "$RANDOM") -e ann bob desk)
  day=$((RANDOM % 9 + 1))
  case $1 in
    0) import "$role" $day ;;
    1) q "SELECT privacy_score.set_baseline('$role', '2026-03-0$day', '2026-03-09')" ;;
    2) q "SELECT privacy_score.drop_baseline('$role')" ;;
    3) q "SECURITY LABEL FOR privacy_score ON COLUMN staff.${columns[RANDOM % 5]} IS 'sensitive'" ;;
    4) q "SECURITY LABEL FOR privacy_score ON COLUMN staff.${columns[RANDOM % 5]} IS NULL" ;;
    5) q "SELECT privacy_score.confirm_dependency('staff', '${columns[RANDOM % 2]}', '${columns[RANDOM % 3 + 2]}')" ;;
    6) q "UPDATE staff SET born = born + id % $((RANDOM % 9 + 2))" "SELECT pg_stat_force_next_flush()" "SELECT privacy_score.analyze_relation('staff')" ;;
    7) q "ALTER SYSTEM SET privacy_score.ngram_length = $((RANDOM % 3 + 1))" "SELECT pg_reload_conf()" ;;
    8) q "ALTER SYSTEM SET privacy_score.counting = '$(shuf -n 1 --random-source=<(yes "$RANDOM") -e set multiset)'" "SELECT pg_reload_conf()" ;;
    9) q "SELECT privacy_score.rescore('$role', '2026-03-0$day', '2026-03-09')" ;;
    10) q "SELECT privacy_score.set_baseline('desk', '2026-03-01', '2026-03-0$day', 'u1')" ;;
    11) q "SELECT privacy_score.protect('staff', '{$(shuf -n 1 --random-source=<(yes "$RANDOM") -e id ward)}')" ;;
    12) restart_server ;;
    13) q "SELECT privacy_score.forget_end_user('desk', 'u0')" ;;
  esac >/dev/null 2>&1
}
# What is not alike, for who looks into it.
not_alike() { q "SELECT string_agg(d::text, ' ') FROM ((SELECT 'kept', * FROM ($(all_of score)) x EXCEPT ALL SELECT 'kept', * FROM ($(all_of score_anew)) y) LIMIT 2) d"; }
wrong=
for round in $(seq "$(by_length 1 12)"); do
  for kind in $(seq 0 13 | shuf --random-source=<(yes "$RANDOM")); do
    change "$kind"
    found=$(q "$differ" "$roles_differ" | tr '\n' ' ')
    [ "$found" = "0 0 " ] || wrong+="at once after $kind of round $round: $found $(not_alike); "
    kept
    found=$(q "$differ" "$roles_differ" | tr '\n' ' ')
    [ "$found" = "0 0 " ] || wrong+="after $kind of round $round: $found $(not_alike); "
  done
done
check "after each of $((round * 14)) changes scores are those computed anew, at once and once they are kept" "$wrong" ""

# --- what is not kept ---------------------------------------------------------------------------------------------------------
q "CREATE ROLE eve" "CREATE ROLE zed" "INSERT INTO privacy_score.session (role, session, day, started, last_at, source, queries, refused)
  VALUES ('eve', 'e', '2026-03-05', '2026-03-05 10:00', '2026-03-05 10:01', 'live', 0, 1)" >/dev/null
import zed 5
q "SELECT privacy_score.flush()" >/dev/null
check_true "a day of which all was refused keeps nobody waiting" wait_for "$roles_left" 0
q "DELETE FROM privacy_score.session WHERE role = 'eve'" >/dev/null
in_one="SELECT privacy_score.import_statements(\$\$SELECT 'late'::text AS session, 'zed'::name AS role, timestamptz '2026-04-02 00:05+00' AS at, 'SELECT job FROM staff'::text AS sql\$\$)"
for statement in "$in_one" "SELECT privacy_score.rescore('zed', '2026-03-01', '2026-03-09')"; do
  check "who does not see what was kept since changes nothing: ${statement:0:40}" "$(q_state "BEGIN ISOLATION LEVEL REPEATABLE READ" "$statement")" "25000"
done
q "$in_one" >/dev/null
kept
conf "log_timezone = 'America/New_York'"
reload_server
q "$in_one" >/dev/null
check "what is imported anew for another day leaves the first" "$(q "$differ" "SELECT string_agg(DISTINCT day::text, ' ') FROM privacy_score.score('zed', '2026-04-01', '2026-04-30')")" "0
2026-04-01"
kept

# --- one that fails --------------------------------------------------------------------------------------------------------------
q "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN RAISE 'not of ann'; END\$\$" \
  "CREATE TRIGGER fails BEFORE INSERT ON privacy_score.kept_day FOR EACH ROW WHEN (NEW.role = 'ann') EXECUTE FUNCTION fails()" \
  "SELECT privacy_score.rescore(role, '2026-03-01', '2026-03-09') FROM (VALUES ('ann'::name), ('bob'), ('zed')) r(role)" >/dev/null
check "what cannot be kept of a role keeps nobody waiting who flushes" "$(q_state "SELECT privacy_score.flush()")" 00000
check_true "nor the roles after it" wait_for "SELECT string_agg(DISTINCT role::text, ' ') FROM privacy_score.session s WHERE NOT EXISTS (SELECT FROM privacy_score.kept_day k
  WHERE k.role = s.role AND k.day = s.day AND k.made_under = privacy_score.scored_under())" ann
check "it is computed" "$(q "$differ")" 0
check_true "and counted" wait_for "SELECT flush_errors > 0 FROM privacy_score.stat_info" t
q "DROP TRIGGER fails ON privacy_score.kept_day" >/dev/null
kept

# --- restore -----------------------------------------------------------------------------------------------------------------
before=$(q "$scores")
rates=$(q "SELECT count(DISTINCT rates) FROM privacy_score.kept_day")
"$PS_BINDIR/pg_dump" -Fc -f "$PS_TMP/kept.dump" || bail_out "pg_dump failed"
q "CREATE DATABASE other" >/dev/null
"$PS_BINDIR/pg_restore" -d other "$PS_TMP/kept.dump" || bail_out "pg_restore failed"
check "a restored database has the same scores, of what it keeps" "$(on other q "$scores" "SELECT count(DISTINCT rates) FROM privacy_score.kept_day" "$differ" "$unkept")" "$before
$rates
0
0"

# --- retention ---------------------------------------------------------------------------------------------------------------
q "INSERT INTO privacy_score.session (role, session, day, started, last_at, source, queries, refused)
  VALUES ('zed', 'z', '2026-02-01', '2026-02-01 10:00', '2026-02-01 10:01', 'live', 0, 3)" "DELETE FROM privacy_score.kept_role WHERE role = 'zed'" "SELECT privacy_score.flush()" >/dev/null
wait_for "$roles_left" 0
days=$(q "SELECT count(*) FROM privacy_score.kept_day")
check "what was refused on a day that is over is shown" "$(q "SELECT blocked FROM privacy_score.stat_roles WHERE role = 'zed'")" 3
conf "privacy_score.history_retention = $(q "SELECT privacy_score.today() - date '2026-02-15'")"
restart_server
check_true "and no more once the day is removed" wait_for "SELECT blocked FROM privacy_score.flush(), privacy_score.stat_roles WHERE role = 'zed'" 0
check "and the other days stay" "$(q "$differ" "SELECT count(*) FROM privacy_score.kept_day")" "0
$days"
done_testing

#!/bin/bash
# growing_days.sh - the score of a day that daily limits go by: that of history, however the day has grown, and read once.
. "$(dirname "$0")/../lib.sh"
start_server "jit = off" "autovacuum = off"
q "CREATE EXTENSION privacy_score" "CREATE TABLE patients (id int PRIMARY KEY, city text, diagnosis text, ward int, born int)" \
  "INSERT INTO patients SELECT i, 'c' || i % 5, 'd' || i % 7, i % 11, 1940 + i % 60 FROM generate_series(1, 300) i" "ANALYZE patients" \
  "SELECT privacy_score.protect('patients')" "SELECT privacy_score.analyze_relation('patients')" "GRANT SELECT ON patients TO PUBLIC" >/dev/null ||
  bail_out "the table cannot be made"
flush() { q "SELECT privacy_score.flush()" >/dev/null; }

# open_session NAME ROLE: a connection that goes on. say NAME SQL: one statement of it, which has run when this returns.
open_session() {
  mkfifo "$PS_TMP/$1"
  as "$2" "$PS_BINDIR/psql" -XAtq <"$PS_TMP/$1" >"$PS_TMP/$1.out" 2>&1 &
  eval "exec {fd_$1}>$PS_TMP/$1"
}
said=0
say() {
  local -n fd=fd_$1
  said=$((said + 1))
  printf '%s;\n\\echo said %s\n' "$2" $said >&"$fd"
  wait_for_line "$PS_TMP/$1.out" "^said $said\$"
}

# day_of ROLE LIMIT: two sessions side by side, some of it written in between, and one that is over at once; sets `day` to
# what history says of it, and how many alerts there were.
statements=("SELECT city FROM patients" "SELECT diagnosis FROM patients WHERE ward = 3" "SELECT born, ward FROM patients" "SELECT city, diagnosis FROM patients WHERE born > 1950"
  "SELECT id FROM patients WHERE city = 'c1'")
day_of() {
  q "CREATE ROLE $1 LOGIN" "ALTER ROLE $1 SET privacy_score.daily_limit = $2" >/dev/null
  open_session "$1_a" "$1"
  open_session "$1_b" "$1"
  for n in 0 1 2 3 4 0 2 1; do
    say "$1_a" "${statements[n]}"
    if [ $((n % 2)) -eq 0 ]; then flush; fi
    say "$1_b" "${statements[4 - n]}"
  done
  as "$1" q "${statements[3]}" "${statements[1]}" >/dev/null
  flush
  whole=$(q "SELECT score FROM privacy_score.score('$1', privacy_score.today(), privacy_score.today())")
  day="$whole $(alerts_of "$1")"
}
alerts_of() { q "SELECT count(*) FROM privacy_score.alerts WHERE role = '$1' AND kind = 'daily'"; }
day_of alice 1000
check_match "the day has a score, which is below its limit" "$day" '^[1-9][0-9.]* 0$'
score=$whole
day_of bob "$(awk -v s="$score" 'BEGIN { print s * 1.001 }')"
check "the same day below a limit of a thousandth more" "$day" "$score 0"
day_of carol "$(awk -v s="$score" 'BEGIN { print s * 0.999 }')"
check "above one of a thousandth less" "$day" "$score 1"

# What comes into the day otherwise counts, too, and what is taken out of it does not.
limit=$(awk -v s="$score" 'BEGIN { print s * 1.001 }')
q "SELECT count(*) FROM privacy_score.import_statements(\$\$SELECT 'log', 'bob'::name, now() - interval '1 second', 'SELECT ward, city FROM patients WHERE diagnosis = ''d1'''\$\$)" >/dev/null
say bob_a "SELECT diagnosis, born FROM patients WHERE city = 'c1'"
flush
check "an import" "$(q "SELECT sum(score) > $limit FROM privacy_score.score('bob', privacy_score.today(), privacy_score.today())") $(alerts_of bob)" "t 1"
q "DELETE FROM privacy_score.session WHERE role = 'alice' AND source = 'live' AND id = (SELECT min(id) FROM privacy_score.session WHERE role = 'alice')" >/dev/null
say alice_b "SELECT diagnosis, born FROM patients WHERE city = 'c1'"
flush
check "a session that is gone is no fault" "$(q "SELECT scoring_errors FROM privacy_score.stat_info") $(alerts_of alice)" "0 0"

# However many parts a session has been written in.
parts_read() { q "SELECT pg_stat_clear_snapshot()" "SELECT COALESCE(idx_tup_fetch, 0) + seq_tup_read FROM pg_stat_all_tables WHERE relid = 'privacy_score.session_part'::regclass" | tail -n 1; }
before=$(parts_read)
for _ in {1..40}; do
  say alice_a "SELECT city FROM patients"
  flush
done
# Some five rows a round; all parts each time would be more than a thousand.
read_since=$(($(parts_read) - before))
check_true "a part is read when it is new: $read_since rows in 40 rounds" test "$read_since" -le 400
check_scored
done_testing

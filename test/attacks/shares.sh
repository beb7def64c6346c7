#!/bin/bash
# shares.sh - while the worker is kept from writing, watched roles fill shared memory: with large and many definitions, with
# repeated statements, with rows, with connections, with rates. What they read is history all the same, as what it is or as
# `unparsed`, or it is refused; and sessions beside them never notice.
. "$(dirname "$0")/../attack.sh"
start_hospital "max_connections = 70" "privacy_score.max_memory = '3MB'"
q "CREATE ROLE eve LOGIN" "CREATE ROLE bob LOGIN CONNECTION LIMIT 25" "CREATE ROLE carol LOGIN CONNECTION LIMIT 10" "CREATE ROLE dora LOGIN" "GRANT USAGE ON SCHEMA h TO eve, bob, carol, dora" \
  "GRANT SELECT ON h.patients TO eve, bob, carol, dora" "ALTER ROLE bob SET search_path = h" \
  "ALTER ROLE eve SET privacy_score.mode = 'enforce'" "ALTER ROLE bob SET privacy_score.mode = 'enforce'" "ALTER ROLE bob SET privacy_score.session_limit = 100" \
  "SECURITY LABEL FOR privacy_score ON ROLE eve IS 'watched'" "SECURITY LABEL FOR privacy_score ON ROLE bob IS 'watched'" \
  "SECURITY LABEL FOR privacy_score ON ROLE carol IS 'watched'" "SECURITY LABEL FOR privacy_score ON ROLE dora IS 'watched'" \
  "DO \$\$BEGIN EXECUTE (SELECT 'CREATE TABLE h.wide (' || string_agg(format('%I int', rpad('c' || i || '_', 63, 'x')), ', ') || ')' FROM generate_series(1, 1500) i); END\$\$" \
  "GRANT SELECT ON h.wide TO eve, mallory" "GRANT CREATE ON SCHEMA h TO mallory" >/dev/null
# Statements of nearly 1,500 columns, each of which has more to say than a session has room for; and of 30.
flood() {
  q "SELECT 'SELECT ' || (SELECT string_agg(quote_ident(rpad('c' || i || '_', 63, 'x')), ', ') FROM generate_series(1, 1500) i WHERE i <> n) || ' FROM h.wide LIMIT 0 + 0;' FROM generate_series(1, $1) n" \
    "SELECT 'SELECT ' || (SELECT string_agg(quote_ident(rpad('c' || (1 + (i * n * 7 + i * i) % 1500) || '_', 63, 'x')), ', ') FROM generate_series(1, 30) i) || ' FROM h.wide LIMIT 0 + 0;' FROM generate_series(1, $2) n"
}
flood 20 300 >"$PS_TMP/flood.sql"
flood 0 400 >"$PS_TMP/small.sql"
# Statements over sets of columns of a table of one's own, which each want a rate.
as mallory q "CREATE TABLE h.own ($(for i in $(seq 11); do printf 'c%s int, ' "$i"; done)c12 int)" "INSERT INTO h.own SELECT i, i % 2, i % 3, i % 4, i % 5, i % 6, i % 7, i % 8, i % 9, i % 10, i % 11, i % 12 FROM generate_series(1, 100) i" \
  "SELECT privacy_score.protect('h.own', '{c1}')" >/dev/null
awk 'BEGIN { for (i = 1; i <= 600; i++) { set = ""; x = i; for (c = 2; c <= 12; c++) { if (x % 2) set = set (set == "" ? "" : ", ") "c" c; x = int(x / 2) } print "SELECT " set " FROM h.own LIMIT 0 + 0;" } }' >"$PS_TMP/sets.sql"
steal="SELECT max(diagnosis), min(first_name) FROM h.patients"
# What others do in the normal course of things; the last line of a session says how it fared.
for column in id first_name city diagnosis "city, diagnosis" "first_name, city" "id, city" "id, diagnosis"; do
  echo "SELECT $column FROM h.patients WHERE id = 7 \\g /dev/null"
  echo "SELECT count(*), $column FROM h.patients GROUP BY $column \\g /dev/null"
done >"$PS_TMP/ordinary.sql"
echo "SELECT 'queries ' || queries || CASE WHEN estimated THEN ' estimated' ELSE ' exact' END FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid();" >>"$PS_TMP/ordinary.sql"
# Their rates are known.
for role in alice bob; do
  check_true "$role's rates are known" eval "for _ in \$(seq 50); do [ \"\$(as $role psql -XAtqf '$PS_TMP/ordinary.sql')\" = 'queries 16 exact' ] && break; q 'SELECT privacy_score.flush()' >/dev/null; done; [ \"\$(as $role psql -XAtqf '$PS_TMP/ordinary.sql')\" = 'queries 16 exact' ]"
done
q "SELECT privacy_score.flush()" "TRUNCATE privacy_score.session, privacy_score.session_part" "UPDATE privacy_score.abstraction SET calls = 0, rows = 0" "SELECT privacy_score.reset_stats()" >/dev/null
check "nothing is estimated, dropped or said to begin with" "$(q "SELECT dropped, pool_used < pool_size / 4 FROM privacy_score.stat_info" "SELECT count(*) FROM privacy_score.alerts")" "0|t
0"

# --- the worker stands still ----------------------------------------------------------------------------------------------
rm -f "$PS_TMP/holder"
mkfifo "$PS_TMP/holder"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/holder" >"$PS_TMP/holder.out" 2>&1 &
exec 3>"$PS_TMP/holder"
echo "BEGIN; LOCK TABLE privacy_score.session_part IN SHARE MODE; SELECT pg_advisory_lock(1);" >&3
wait_for "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted" 1
own="FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid()"
wait_here="SELECT pg_advisory_lock_shared(1)"
clients=()
run() {
  local role=$1 out=$2
  shift 2
  as "$role" "$@" </dev/null >"$PS_TMP/$out.out" 2>&1 &
  clients+=($!)
}
# A flooder in mode observe that then reads; one in mode enforce that is stopped.
run mallory observe psql -XAtq -f "$PS_TMP/flood.sql" -c "$steal" -c "SELECT queries, score >= 1 $own" -c "$wait_here"
run eve enforce psql -XAtq -v ON_ERROR_STOP=1 -f "$PS_TMP/small.sql"
# Repeats: no new definition, only events. Rows that come when other events have followed: of two cursors by turns.
printf 'SELECT city FROM h.patients WHERE id = 1;\nSELECT diagnosis FROM h.patients WHERE id = 1;\n' >"$PS_TMP/repeat.sql"
run mallory repeats pgbench -n -c 1 -t 6000 -f "$PS_TMP/repeat.sql"
{
  echo "BEGIN; DECLARE a SCROLL CURSOR FOR SELECT first_name FROM h.patients; DECLARE b SCROLL CURSOR FOR SELECT id, first_name FROM h.patients;"
  for _ in $(seq 3000); do echo "FETCH FIRST FROM a \\g /dev/null"; echo "FETCH FIRST FROM b \\g /dev/null"; done
} >"$PS_TMP/rows.sql"
run mallory rows psql -XAtq -f "$PS_TMP/rows.sql"
# Connections, each for one statement, faster than they can be written.
run carol churn bash -c 'while [ ! -e "$PS_TMP/written" ]; do psql -XAtqc "SELECT count(*) FROM h.patients WHERE city = '"'c1'"'"; done'
check_true "the flooder has used what it gets" wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'mallory' AND query LIKE '%pg_advisory_lock_shared%' AND wait_event = 'advisory'" 1
check "each of its statements is counted, and what has no room scores the most of one, of a table that nobody protects" \
  "$(tail -n 2 "$PS_TMP/observe.out")" "d6|f0
321|t"
check_true "and some that could not be recorded as what they are" test "$(q "SELECT dropped FROM privacy_score.stat_info")" -gt 20
check "the pool is not used up" "$(q "SELECT pool_used < pool_size, memory_used < memory_limit FROM privacy_score.stat_info")" "t|t"

as mallory psql -XAtqf "$PS_TMP/sets.sql" >/dev/null
asked=$(q "SELECT pending_cdr FROM privacy_score.stat_info")
check_true "whoever asks for many rates fills a part of the list: $asked of 600" test "$asked" -gt 50 -a "$asked" -lt 500
as dora q "SELECT first_name, diagnosis FROM h.patients LIMIT 0 + 0" >/dev/null
check_true "and others still ask for theirs" test "$(q "SELECT pending_cdr FROM privacy_score.stat_info")" -gt "$asked"

# --- the others ------------------------------------------------------------------------------------------------------------
ordinary=()
for i in $(seq 50); do
  role=$([ $((i % 2)) = 0 ] && echo alice || echo bob)
  as "$role" psql -XAtq -v ON_ERROR_STOP=1 -f "$PS_TMP/ordinary.sql" </dev/null >"$PS_TMP/ordinary.$i.out" 2>&1 &
  ordinary+=($!)
done
for client in "${ordinary[@]}"; do wait "$client"; done
for client in "${clients[@]:1:3}"; do wait "$client"; done
check "50 sessions beside: none is refused, none estimated" "$(cat "$PS_TMP"/ordinary.*.out | sort | uniq -c | sed 's/^ *//')" "50 queries 16 exact"
check "the worker still stands" "$(q "SELECT count(*) FROM privacy_score.session_part")" 0
echo "COMMIT; SELECT pg_advisory_unlock(1);" >&3
exec 3>&-
touch "$PS_TMP/written"
for client in "${clients[@]}"; do wait "$client"; done
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename IN ('mallory', 'alice', 'bob', 'carol', 'eve')" 0
q "SELECT privacy_score.flush()" >/dev/null

# --- what history has ---------------------------------------------------------------------------------------------------------
calls() { q "SELECT COALESCE(sum(e.run), 0), COALESCE(sum(e.rows), 0) FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id, ROWS FROM (unnest(p.ids), unnest(p.runs), unnest(p.rows)) e(id, run, rows) JOIN privacy_score.abstraction a ON a.id = e.id WHERE s.role = '$1' AND ($2)"; }
unparsed="a.tokens = '{unparsed}'"
check "the others: all of it is recorded as what it is" "$(q "SELECT s.role, count(*), sum(s.queries), sum(s.refused) FROM privacy_score.session s WHERE role IN ('alice', 'bob') GROUP BY role ORDER BY role")|$(calls alice "$unparsed")|$(calls bob "$unparsed")" "alice|25|400|0
bob|25|400|0|0|0|0|0"
answers=$(grep -cx 8 "$PS_TMP/churn.out")
check_true "connections were many" test "$answers" -gt 20
check "each is recorded, as what it read" "$(q "SELECT count(*), sum(queries) FROM privacy_score.session WHERE role = 'carol'")|$(calls carol "$unparsed")" "$answers|$answers|0|0"
check "nobody else was said to have no room" "$(q "SELECT DISTINCT role, blocked FROM privacy_score.alerts WHERE kind = 'memory' ORDER BY role")" "eve|t
mallory|f"
sent=$((321 + 1 + 12000 + 2 + 600))
check "whoever floods: every statement is in history, whatever it is called" "$(calls mallory true | cut -d '|' -f 1)" $sent
check "and all rows" "$(calls mallory true | cut -d '|' -f 2)" $((1 + 1 + 12000 + 6000))
check "what is called \`unparsed\` is what was counted as dropped" "$(($(calls mallory "$unparsed" | cut -d '|' -f 1) - $(q "SELECT dropped FROM privacy_score.stat_info")))" 0
check_match "in mode enforce it is refused" "$(cat "$PS_TMP/enforce.out")" "ERROR:  statement refused: there is no room to record it"
check "which is recorded, and nothing ran that is not" "$(q "SELECT sum(refused) FROM privacy_score.session WHERE role = 'eve'")|$(calls eve "$unparsed")" "1|0|0"
check "nothing is left to be asked for" "$(q "SELECT pending_cdr FROM privacy_score.stat_info")" 0
check "memory is free again" "$(q "SELECT pool_used FROM privacy_score.stat_info")" 0
check "and the next read is recorded" "$(as eve q_state "$steal")" 00000

# --- too little for all -------------------------------------------------------------------------------------------------------
conf "max_connections = 500" "privacy_score.max_memory = '2MB'"
restart_server
check_true "a server whose max_memory has no share for each session says so" log_has 'WARNING:  privacy_score.max_memory of 2048 kB is too small for 5[0-9]{2} sessions'
check_true "and how much it takes" log_has 'HINT:  Set it to [0-9]+ kB or more, or lower max_connections\.'
check "it works all the same" "$(as alice q "SELECT count(*) FROM h.patients" "SELECT queries $own")" "100
1"
done_testing

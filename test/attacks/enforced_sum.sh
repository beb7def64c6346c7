#!/bin/bash
# enforced_sum.sh - what mode enforce refuses by: a sum over statements that the baseline lacks. What the baseline has
# always runs, whatever stood before it; no order, no padding, no retry, no other constants and no other session lower
# the sum. Numbers are exact: of 16 rows four columns tell a quarter of the identity each (alpha = 1).
. "$(dirname "$0")/../attack.sh"
start_server "privacy_score.alpha = 1" "privacy_score.identifiers_count = on" "privacy_score.mode = observe"
q "CREATE EXTENSION privacy_score" "CREATE ROLE usual LOGIN" \
  "CREATE TABLE t (id int PRIMARY KEY, a int, b int, c int, d int)" \
  "INSERT INTO t SELECT i, i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1 FROM generate_series(0, 15) i" \
  "GRANT SELECT ON t TO PUBLIC" "SELECT privacy_score.protect('t')" >/dev/null
usual1="SELECT a FROM t WHERE a = 1" usual2="SELECT b FROM t" usual3="SELECT c FROM t"
half="SELECT a, b, d FROM t"       # .50: beside a or b two new columns
quarter="SELECT d FROM t"          # .25
other="SELECT a, c FROM t"         # .25
rest="SELECT a, b, c, d FROM t"    # .75
as usual q "$usual1" "$usual2" "$usual3" >/dev/null
wait_for "SELECT sum(queries) FROM privacy_score.session" 3 || bail_out "the usual statements are not recorded"
q "SELECT privacy_score.set_baseline('usual', privacy_score.today(), privacy_score.today())" >/dev/null
# role NAME SETTING...: a role with that baseline and these settings, in mode enforce.
role() {
  local name=$1 setting
  q "CREATE ROLE $name LOGIN" "ALTER ROLE $name SET privacy_score.mode = enforce" \
    "SELECT privacy_score.import_baseline(jsonb_set(privacy_score.export_baseline('usual'), '{role}', '\"$name\"'))" >/dev/null
  shift
  for setting in "$@"; do q "ALTER ROLE $name SET privacy_score.$setting"; done
}
pids=()
# Runs statements in one session and prints + or the SQLSTATE for each, then what the session says of itself.
run() {
  local statement
  {
    for statement in "$@"; do
      printf '%s \\g /dev/null\n\\echo :SQLSTATE\n' "$statement"
    done
    echo "SELECT enforced FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid();"
  } | "$PS_BINDIR/psql" -XAtq 2>/dev/null | sed 's/^00000$/+/' | tr '\n' ' ' | sed 's/ $//'
}
role clerk "session_limit = 0.7"
role pool "session_limit = 0.7"
role retry "session_limit = 0.7"
role least "session_limit = 0"
role multi "session_limit = 0.7" "counting = multiset"
role glass "session_limit = 0.7" "break_glass = on"
role shares "session_limit = 0.7" "ngram_length = 6" "normalised_limit = 0.01" "alert_level = 0"
role days "daily_limit = 0.7"
role parts "daily_limit = 0.7" "idle_gap = 1"
role rush "daily_limit = 0.7"
role bits "alpha = 0.3" "session_limit = 6"
q "CREATE ROLE other LOGIN" "GRANT other TO clerk" "GRANT clerk TO other" "SELECT privacy_score.flush()" >/dev/null

# --- no known statement is refused ---------------------------------------------------------------------------------------
check "two usual ones, a new one, then the three usual ones in every order" \
  "$(as clerk run "$usual1" "$usual2" "$half" "$usual1" "$usual2" "$usual3" "$usual2" "$usual1" "$usual3" "$usual1" "$usual3" "$usual2")" \
  "+ + + + + + + + + + + + 0.5"
check "though pairs of these are new, and alert" \
  "$(wait_for "SELECT count(*) FROM privacy_score.alerts WHERE role = 'clerk' AND kind = 'session' AND NOT blocked" 1 &&
    q "SELECT score > 0.7, enforced, statement_score FROM privacy_score.score_sessions('clerk', '-infinity', 'infinity')")" "t|0.5|0.5"
check "nor after one that was refused, of any number" "$(as retry run "$half" "$quarter" "$rest" "$usual1" "$rest" "$rest" "$usual2" "$usual3" "$other" "$usual1")" \
  "+ PS001 PS001 + PS001 PS001 + + PS001 + 0.5"
check "nor with a limit of 0" "$(as least run "$usual3" "$quarter" "$usual1" "$usual3" "$usual2" "SELECT count(*) FROM t" "SELECT 1")" "+ PS001 + + + + + 0"
check "nor with the longest n-grams and by other limits" "$(as shares run "$half" "$usual3" "$usual2" "$usual1" "$usual3" "$usual1" "$half")" "+ + + + + + + 0.5"
# Twenty users behind a pooler share a session: one asks for more than the limit, the others for what they always ask for.
users=()
for user in $(seq 20); do
  if [ "$user" = 7 ]; then users+=("$half" "$rest" "$quarter" "$other"); else users+=("$usual1" "$usual3" "$usual2"); fi
done
check "nineteen innocent users of a pooled session go on" "$(as pool run "${users[@]}" "${users[@]}" | tr ' ' '\n' | sort | uniq -c | tr -s ' \n' ' ')" \
  " 116 + 1 0.5 6 PS001 "

# --- nothing lowers the sum ----------------------------------------------------------------------------------------------
check "three quarters pass the limit in one order" "$(as clerk run "$quarter" "$other" "SELECT b, c FROM t")" "+ + PS001 0.5"
check "in another" "$(as clerk run "SELECT b, c FROM t" "$quarter" "$other")" "+ + PS001 0.5"
check "and with known statements all around" "$(as clerk run "$usual1" "$quarter" "$usual1" "$usual2" "SELECT 1" "$other" "$usual3" "$usual3" "SELECT b, c FROM t" "$usual1")" \
  "+ + + + + + + + PS001 + 0.5"
check "what fits passes after a refusal, which has added nothing" "$(as clerk run "$rest" "$rest" "$half" "$rest" "$quarter" "$usual1")" "PS001 PS001 + PS001 PS001 + 0.5"
check "a new statement counts once, whatever its constants" \
  "$(as clerk run "$half WHERE a = 1" "$half WHERE a = 0" "$half WHERE a = 7" "$half WHERE a IN (1, 2)" "$quarter")" "+ + + + PS001 0.5"
check "under multiset each time, even the same" "$(as multi run "$quarter" "$usual1" "$quarter" "$usual2" "$quarter" "$usual3" "$other" "$usual1")" "+ + + + PS001 + PS001 + 0.5"
check "SET ROLE begins no new sum" "$(as clerk run "$half" "SET ROLE other" "$quarter" "$usual1" "RESET ROLE" "$quarter")" "+ + PS001 + + PS001 0.5"
check "nor does DISCARD ALL, nor a savepoint that is rolled back" \
  "$(as clerk run "BEGIN" "SAVEPOINT s" "$half" "ROLLBACK TO s" "COMMIT" "DISCARD ALL" "$quarter" "$usual2")" "+ + + + + + PS001 + 0.5"
check "an error after reading does not take it back" "$(as clerk run "SELECT a, b, d, 1 / (a - a) FROM t" "$quarter" "$usual1")" "22012 PS001 + 0.5"
check "under broken glass all of it runs, and counts" "$(as glass run "$half" "$rest" "$usual1")" "+ + + 1.25"

# --- the day -------------------------------------------------------------------------------------------------------------
check "the day adds up its sessions: the first" "$(as days run "$quarter" "$usual1")" "+ + 0.25"
check "the second, with the same statement" "$(as days run "$usual2" "$quarter")" "+ + 0.25"
check "the third is refused what is new, and nothing else" "$(as days run "$quarter" "$usual1" "$other" "$usual2" "SELECT 1" "$usual3")" "PS001 + PS001 + + + 0"
for _ in 1 2 3; do as days run "$half" "$usual1"; done >/dev/null
check "reconnecting and retrying changes nothing" "$(as days run "$quarter" "$usual3")" "PS001 + 0"
check "a pause cuts the session, not the day" "$(as parts run "$half" "SELECT pg_sleep(1.5)" "$usual1" "$quarter" "$usual2")" "+ + + PS001 + 0"
# Sessions at the same moment, each with another new statement: none counts on what another is about to add.
for columns in d "a, c" "b, c" "a, b" "a, d" "b, d" "c, d" "a, c" d "b, c"; do as rush q "SELECT $columns FROM t" "SELECT pg_sleep(0.1)" >/dev/null 2>&1 & pids[${#pids[@]}]=$!; done
wait "${pids[@]}"
q "SELECT privacy_score.flush()" >/dev/null
check "sessions that ask at once stay below it together" "$(q "SELECT enforced > 0, enforced <= 0.7 FROM privacy_score.score('rush', '-infinity', 'infinity')")" "t|t"
check "so says history" "$(q "SELECT r, enforced, statement_score FROM unnest('{days,parts}'::name[]) r, privacy_score.score(r, '-infinity', 'infinity') ORDER BY r")" \
  "days|0.5|0.25
parts|0.5|0.5"
check_true "it is of its sessions" \
  wait_for "SELECT string_agg(COALESCE(enforced::text, '?'), ' ' ORDER BY started) FROM privacy_score.session WHERE role = 'days'" "0.25 0.25 0 0 0 0 0"
check "the refusals are alerts" "$(q "SELECT role, kind, bool_and(blocked), max(score), min(alert_limit) FROM privacy_score.alerts WHERE blocked AND role IN ('days', 'retry') GROUP BY 1, 2 ORDER BY 1, 2")" \
  "days|daily|t|1|0.7
retry|session|t|1.25|0.7"

restart_server immediate
check "a crash forgets nothing of it" "$(as days run "$quarter" "$usual3")" "PS001 + 0"
# Another day begins: in a time zone that has another date now.
zone='<+14>-14'
if [ "$(TZ=$zone date +%d)" = "$(TZ=$ps_zone date +%d)" ]; then zone='<-12>12'; fi
conf "log_timezone = '$zone'"
reload_server
check_true "midnight" wait_for "SHOW log_timezone" "$zone"
check "after midnight the sum of the day begins anew" "$(as days run "$half" "$usual1" "$quarter")" "+ + PS001 0.5"
conf "log_timezone = '$ps_zone'"
reload_server
check_true "and back" wait_for "SHOW log_timezone" "$ps_zone"
check "the other day has kept its own" "$(as days run "$quarter" "$usual3")" "PS001 + 0"

# --- the sum goes on -----------------------------------------------------------------------------------------------------
# It is kept in every mode, so that a session meets mode enforce with what it has done before.
q "ALTER ROLE usual SET privacy_score.session_limit = 0.7" >/dev/null
mkfifo "$PS_TMP/usual"
as usual "$PS_BINDIR/psql" -XAtq <"$PS_TMP/usual" >"$PS_TMP/usual.out" 2>&1 &
exec 3>"$PS_TMP/usual"
said() { for _ in $(seq 3000); do grep -q "$1" "$PS_TMP/usual.out" && return; sleep 0.1; done; return 1; }
printf '%s\n' "$half \\g /dev/null" "$rest \\g /dev/null" "$usual1 \\g /dev/null" "\\echo observed :SQLSTATE" >&3
check_true "in mode observe it is kept too" said "observed 00000"
conf "privacy_score.mode = enforce"
reload_server
check_true "enforce takes over" as usual wait_for "SHOW privacy_score.mode" enforce
# The session takes in the new mode between two statements.
for _ in $(seq 3000); do
  echo "SHOW privacy_score.mode;" >&3
  if said '^enforce$' >/dev/null; then break; fi
done
printf '%s\n' "$quarter \\g /dev/null" "\\echo new :SQLSTATE" "$usual2 \\g /dev/null" "\\echo known :SQLSTATE" "$half \\g /dev/null" "\\echo had :SQLSTATE" \
  "SELECT 'sum', enforced FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid();" >&3
check_true "the session answers" said "^sum"
check "a switch to enforce goes on from it; what the session has had adds nothing more" "$(grep -E '^(new|known|had|sum)' "$PS_TMP/usual.out" | tr '\n' ' ')" \
  "new PS001 known 00000 had 00000 sum|1.25 "
exec 3>&-

# --- live equals history ---------------------------------------------------------------------------------------------------
strange=("$half" "$usual1" "$quarter" "$rest" "$usual2" "$other" "SELECT b, c FROM t WHERE d = 0")
as bits run "${strange[@]}" >/dev/null  # asks for the rates
check_true "its session is recorded, and exact" wait_for "SELECT count(*) FROM privacy_score.session WHERE role = 'bits' AND enforced IS NOT NULL" 1
live=$(as bits run "${strange[@]}")
check_match "a sum that is no round number" "$live" '^\+ \+ \+ \+ \+ \+ \+ [0-9]\.[0-9]{6,}$'
check_true "the next, too" wait_for "SELECT count(*) FROM privacy_score.session WHERE role = 'bits' AND enforced IS NOT NULL" 2
check "is in history to the last bit, and computed from it" \
  "$(PGOPTIONS="-c privacy_score.alpha=0.3" q "SELECT DISTINCT s.enforced, c.enforced, d.enforced / 2 FROM privacy_score.session s,
       privacy_score.score_sessions('bits', '-infinity', 'infinity') c, privacy_score.score('bits', '-infinity', 'infinity') d WHERE s.role = 'bits'")" \
  "${live##* }|${live##* }|${live##* }"
check_scored
done_testing

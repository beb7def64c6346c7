#!/bin/bash
# private_sql_broken.sh - plain SQL that is broken off at each of its steps, asked by many at once, or paid by somebody else:
# what was charged is what is in the ledger, nothing before the charge and everything after it; a budget is never overspent;
# what is refused says where and costs nothing.
. "$(dirname "$0")/../lib.sh"
start_server "max_connections = 60" "privacy_score.dp_epsilon = 1"
export PGAPPNAME=
q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
CREATE EXTENSION privacy_score;
CREATE TABLE departments (department_id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE patients (patient_id int PRIMARY KEY, city text NOT NULL, smoker boolean, tags text[]);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients, department_id int NOT NULL, cost numeric(10, 2));
CREATE TABLE many (x int);
INSERT INTO departments SELECT i, 'D' || i FROM generate_series(1, 5) i;
INSERT INTO patients SELECT i, 'City ' || i % 7, i % 3 = 0, ARRAY['t' || i % 3] FROM generate_series(1, 4000) i;
INSERT INTO visits SELECT i, 1 + i % 4000, 1 + i % 5, i % 100 FROM generate_series(1, 8000) i;
INSERT INTO many SELECT i FROM generate_series(1, 100000) i;
SELECT privacy_score.protect('patients'), privacy_score.protect('visits', '{patient_id}');
CREATE ROLE ana LOGIN;
CREATE ROLE ben LOGIN;
CREATE ROLE eve LOGIN;
CREATE ROLE poor LOGIN;
SECURITY LABEL FOR privacy_score ON ROLE ana IS 'dp only';
SECURITY LABEL FOR privacy_score ON ROLE ben IS 'dp only';
SECURITY LABEL FOR privacy_score ON ROLE eve IS 'dp only';
SECURITY LABEL FOR privacy_score ON ROLE poor IS 'dp only';
GRANT SELECT ON departments, many TO ana, ben, poor;
GRANT ben TO ana;
GRANT CREATE ON SCHEMA public TO ben;
SELECT privacy_score.dp_grant_person(r, 'patients', 100000, delta => 0.01) FROM unnest('{ana,ben}'::name[]) r;
SELECT privacy_score.dp_grant_person('poor', 'patients', 3, delta => 0.01);
ANALYZE;
SQL
spent_of() { q "SELECT trim_scale(spent) FROM privacy_score.dp_budget WHERE role = '$1'"; }
consistent() { q "SELECT bool_and(b.spent = (SELECT coalesce(sum(r.epsilon), 0) FROM privacy_score.release r WHERE r.budget_id = b.id AND r.repeat_of IS NULL)) FROM privacy_score.budget b"; }
victim="FROM pg_stat_activity WHERE application_name = 'victim'"
next=0

# --- broken off -----------------------------------------------------------------------------------------------------------------
# What is slow is a public sub-select for each row: it multiplies no rows of persons.
slow() { echo "SELECT count(*) FROM patients p WHERE p.patient_id > -$next AND (SELECT count(*) FROM many m WHERE m.x <> p.patient_id) > 5"; }
quick() { echo "SELECT count(*) FROM patients WHERE patient_id > -$next"; }
mkfifo "$PS_TMP/beside"
beside() { # STATEMENT: runs it in a session that stays until `apart`
  "$PS_BINDIR/psql" -XAtq <"$PS_TMP/beside" >"$PS_TMP/beside.out" 2>&1 &
  beside=$!
  exec 3>"$PS_TMP/beside"
  echo "$1;" >&3
}
apart() {
  if [ -z "${beside:-}" ]; then return; fi
  echo "ROLLBACK;" >&3 2>/dev/null
  exec 3>&-
  wait "$beside"
  beside=
}
reach() { # POINT: begins the question as the victim, and waits until it is there
  local before state
  before=$(spent_of ana)
  state="SELECT count(*) $victim AND"
  case $1 in
    locks)
      beside "BEGIN; LOCK TABLE patients"
      wait_for "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'patients'::regclass AND granted" 1
      question=$(quick) there="$state wait_event_type = 'Lock'" ;;
    accountant)
      beside "BEGIN; LOCK TABLE privacy_score.budget IN EXCLUSIVE MODE"
      wait_for "SELECT count(*) FROM pg_locks WHERE mode = 'ExclusiveLock' AND relation = 'privacy_score.budget'::regclass AND granted" 1
      question=$(quick) there="$state wait_event_type = 'Extension'" ;;
    reading) question=$(slow) there="SELECT trim_scale(spent - $before) FROM privacy_score.dp_budget WHERE role = 'ana'" ;;
    answered) question="BEGIN; $(quick); SELECT pg_sleep(60)" there="$state wait_event = 'PgSleep'" ;;
  esac
  PGAPPNAME=victim as ana "$PS_BINDIR/psql" -XAtq -c "SET statement_timeout = '${timeout:-0}'" -c "$question" >"$PS_TMP/victim.out" 2>&1 &
  asker=$!
  wait_for "$there" 1
}
charged_there() { case $1 in reading | answered) echo 1 ;; *) echo 0 ;; esac; }
broken() { # POINT HOW
  local before
  next=$((next + 1))
  before=$(spent_of ana)
  reach "$1" || fail "$1, $2: the question comes to that" "$(cat "$PS_TMP/victim.out")"
  case $2 in
    cancel) q "SELECT pg_cancel_backend(pid) $victim" >/dev/null ;;
    "end") q "SELECT pg_terminate_backend(pid) $victim" >/dev/null ;;
    # Until all have ended who holds the lock must not go, or the accountant goes on.
    kill) kill9_backend "$(q "SELECT pid $victim")" ;;
    timeout) ;;
  esac
  wait "$asker"
  if [ "$2" = kill ]; then
    if [ -n "${beside:-}" ]; then beside=; exec 3>&-; fi
    wait
    wait_for "SELECT 1" 1
  fi
  apart
  if [ "$1" = reading ]; then check_true "$1, $2: there was no answer" test "$(grep -cE '^-?[0-9]+$' "$PS_TMP/victim.out")" -eq 0; fi
  # An order that the accountant had taken is carried out; nobody else's is in its way then.
  as ana q "SELECT count(*) FROM patients WHERE patient_id < $((next + 1000000))" >/dev/null
  case "$1 $2" in
    accountant\ kill) check "$1, $2: nothing is charged" "$(q "SELECT trim_scale($(spent_of ana) - $before - 1)")" 0 ;;
    accountant*) check_match "$1, $2: it is charged once at most" "$(q "SELECT trim_scale($(spent_of ana) - $before - 1)")" "^[01]$" ;;
    *) check "$1, $2: what is charged" "$(q "SELECT trim_scale($(spent_of ana) - $before - 1)")" "$(charged_there "$1")" ;;
  esac
  check "$1, $2: the budget equals the ledger" "$(consistent)" t
}
for point in locks accountant reading answered; do
  for how in cancel "end"; do broken $point "$how"; done
  if [ $point != accountant ]; then timeout=2s broken $point timeout; fi
done
for point in locks accountant reading answered; do broken $point kill; done
before=$(spent_of ana)
check "who ends the own session beside an answer has paid for what was read, and no more" \
  "$(as ana q "SELECT pg_terminate_backend(pg_backend_pid()), n FROM (SELECT count(*) FROM patients WHERE patient_id > -500) a(n)" >/dev/null 2>&1; q "SELECT trim_scale($(spent_of ana) - $before) IN (0, 1)") $(consistent)" "t t"
before=$(spent_of ana)
check "a question that was broken off is asked anew, and paid for" "$(as ana q "SELECT epsilon, repeated FROM privacy_score.dp_price(\$s\$$(next=1; slow)\$s\$)")" "1|f"
check "ROLLBACK gives nothing back, and the answer stays" \
  "$(as ana q BEGIN "SELECT count(*) FROM patients WHERE patient_id > -600" ROLLBACK "SELECT count(*) FROM patients WHERE patient_id > -600" | sort -u | wc -l) $(q "SELECT trim_scale($(spent_of ana) - $before)")" "1 1"

# --- at once --------------------------------------------------------------------------------------------------------------------
# Eight ask for other answers than each other, from a budget that holds three of them.
for client in 1 2 3 4 5 6 7 8; do
  as poor q_state "SELECT count(*) FROM patients WHERE patient_id < 4000 - $client" >"$PS_TMP/poor.$client" &
  clients[client]=$!
done
wait "${clients[@]}"
check "eight clients have three answers from a budget for three" "$(cat "$PS_TMP"/poor.* | sort | uniq -c | tr -s ' \n' ' ')" " 3 00000 5 PS002 "
check "which is what was spent" "$(spent_of poor) $(consistent)" "3 t"
before=$(spent_of ana)
for client in 1 2 3 4 5 6 7 8; do
  as ana q "SELECT count(*) FROM patients WHERE patient_id < 3900" >"$PS_TMP/same.$client" &
  clients[client]=$!
done
wait "${clients[@]}"
check "eight clients who ask the same have one answer" "$(cat "$PS_TMP"/same.* | sort -u | wc -l)" "1"
check "and pay once" "$(q "SELECT trim_scale($(spent_of ana) - $before)")" "1"

# --- who pays -------------------------------------------------------------------------------------------------------------------
paid_by() { # STATEMENT...: what ana and ben pay when ana runs them
  local ana ben
  ana=$(spent_of ana) ben=$(spent_of ben)
  as ana q "$@" >/dev/null 2>&1
  q "SELECT trim_scale($(spent_of ana) - $ana) || ' ' || trim_scale($(spent_of ben) - $ben)"
}
check "SET ROLE does not change who pays" "$(paid_by "SET ROLE ben" "SELECT count(*) FROM patients WHERE patient_id > 10")" "1 0"
as ben q "CREATE FUNCTION lent() RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER AS 'SELECT count(*) FROM patients WHERE patient_id > 11'" \
  "CREATE FUNCTION lent_too() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN (SELECT count(*) FROM patients WHERE patient_id > 12); END'" >/dev/null
check "nor does a function with others' rights, in SQL" "$(paid_by "SELECT lent()")" "1 0"
check "nor one in PL/pgSQL" "$(paid_by "SELECT lent_too()")" "1 0"
before=$(spent_of ben)
check "what was prepared under another role is paid by who executes" "$(q "SET SESSION AUTHORIZATION ana" \
  "PREPARE p(int) AS SELECT count(*) BETWEEN 3900 AND 4100 FROM patients WHERE patient_id > \$1" "SET SESSION AUTHORIZATION ben" "EXECUTE p(13)") $(q "SELECT trim_scale($(spent_of ben) - $before)")" "t 1"
check "who has no budget has no answer by it" "$(q_state "SET SESSION AUTHORIZATION ana" "PREPARE p(int) AS SELECT count(*) FROM patients WHERE patient_id > \$1" "EXECUTE p(14)" \
  "SET SESSION AUTHORIZATION eve" "EXECUTE p(15)")" "42501"
# A plan that was made for somebody else is not run.
for query in "SELECT count(*) FROM patients" "SELECT * FROM patients"; do
  check "nor by what was prepared by who may read rows: $query" "$(q_state "PREPARE p AS $query" "EXECUTE p" "SET SESSION AUTHORIZATION ana" "EXECUTE p")" "42501"
  q "GRANT SELECT ON patients TO ana"
  check "though the role may read them: $query" "$(q_state "PREPARE p AS $query" "EXECUTE p" "SET SESSION AUTHORIZATION ana" "EXECUTE p")" "PS001"
  q "REVOKE SELECT ON patients FROM ana"
done

# --- refusals -------------------------------------------------------------------------------------------------------------------
before=$(spent_of ana)
# refused AT MESSAGE STATEMENT: PS003 with that message, the cursor at that word (empty: nowhere), and a way out.
refused() {
  local said at
  said=$(as ana q_all "\\set VERBOSITY verbose" "\\set SHOW_CONTEXT never" "$3")
  at=$(awk '/^LINE 1: / { line = $0; getline; print substr(line, index($0, "^")) }' <<<"$said" | cut -c "1-${#1}")
  check "refused: $3" "$(sed -n 's/^ERROR:  //p' <<<"$said") | $at | $(grep -c '^HINT: ' <<<"$said")" "PS003: $2 | $1 | 1"
}
refused "count" "the aggregate count(DISTINCT ...) is not answered privately" "SELECT count(DISTINCT city) FROM patients"
refused "string_agg" "the aggregate string_agg() is not answered privately" "SELECT string_agg(city, ',') FROM patients"
refused "array_agg" "the aggregate array_agg() is not answered privately" "SELECT array_agg(city) FROM patients"
refused "mode" "the aggregate mode() is not answered privately" "SELECT mode() WITHIN GROUP (ORDER BY city) FROM patients"
refused "bit_or" "the aggregate bit_or() is not answered privately" "SELECT bit_or(patient_id) FROM patients"
refused "random" "the function random() is not allowed on rows of persons: it gives another value each time" "SELECT count(*) FROM patients WHERE random() < 1"
refused "city ~" "the function textregexeq() is not allowed on rows of persons: regular expressions may take any time" "SELECT count(*) FROM patients WHERE city ~ 'x'"
refused "repeat" "the function repeat() is not allowed on rows of persons: its result may be of any size" "SELECT count(*) FROM patients WHERE repeat(city, 2) = ''"
refused "tags[1]" "an element of an array is not allowed on rows of persons" "SELECT count(*) FROM patients WHERE tags[1] = 't1'"
refused "ctid" "a system column is not allowed on rows of persons" "SELECT count(ctid) FROM patients"
refused "" "a set-returning function is not allowed on rows of persons" "SELECT unnest(tags), count(*) FROM patients GROUP BY 1"
refused "" "rows of persons are not sampled" "SELECT count(*) FROM patients TABLESAMPLE system (10)"
refused "" "rows of persons cannot be locked" "SELECT * FROM patients FOR UPDATE"
refused "" "the query would return rows of persons" "SELECT * FROM patients"
refused "" "LIMIT chooses among rows of persons" "SELECT count(*) FROM (SELECT * FROM patients LIMIT 10) p"
refused "" "a window function reads rows of several persons" "SELECT row_number() OVER () FROM patients"
check "PS003 leaves the budget as it was" "$(q "SELECT trim_scale($(spent_of ana) - $before)")" "0"
check "nothing went wrong in the server" "$(grep -cE 'PANIC|TRAP|Assert|XX000' "$ps_log")" 0
done_testing

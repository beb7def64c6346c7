#!/bin/bash
# noisy_broken.sh - questions that are broken off at each of their steps, by a cancel, a timeout, the end of the session,
# and a crash: what was charged is what is in the ledger, nothing before the charge and everything after it.
. "$(dirname "$0")/../attack.sh"
start_hospital "max_connections = 60"
export PGAPPNAME=
q "REVOKE ALL ON h.patients FROM mallory" "CREATE VIEW h.slow AS SELECT p.*, pg_sleep(0.05) IS NULL AS never FROM h.patients p" "CREATE VIEW h.wide AS SELECT p.id, repeat('x', 1100000000 + p.id) AS x FROM h.patients p" \
  "SELECT privacy_score.dp_grant('mallory', r, 100000) FROM unnest('{h.patients,h.slow,h.wide}'::regclass[]) r" >/dev/null
spent() { q "SELECT coalesce(sum(spent), 0) FROM privacy_score.dp_budget WHERE role = 'mallory'"; }
consistent() { q "SELECT sum(b.spent) = (SELECT sum(r.epsilon) FROM privacy_score.release r WHERE r.repeat_of IS NULL) FROM privacy_score.budget b"; }
victim="FROM pg_stat_activity WHERE application_name = 'victim'"
next=0

# Points: what the question is, what happens beside it, how to know that it is there, and what is charged then.
slow() { echo "SELECT privacy_score.dp_count('slow', 'id > -$next AND NOT never', 1)"; }
quick() { echo "SELECT privacy_score.dp_count('patients', 'id > -$next', 1)"; }
mkfifo "$PS_TMP/beside"
beside() { # ROLE STATEMENT: runs it in a session that stays until `apart`
  as "$1" "$PS_BINDIR/psql" -XAtq <"$PS_TMP/beside" >"$PS_TMP/beside.out" 2>&1 &
  beside=$!
  exec 3>"$PS_TMP/beside"
  echo "$2;" >&3
}
apart() {
  if [ -z "${beside:-}" ]; then return; fi
  echo "ROLLBACK;" >&3 2>/dev/null
  q "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'mallory' AND wait_event = 'PgSleep'" >/dev/null
  exec 3>&-
  wait "$beside"
  beside=
}
reach() { # POINT: begins the question as the victim, and waits until it is there
  case $1 in
    locks)
      beside postgres "BEGIN; LOCK TABLE h.patients"
      wait_for "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'h.patients'::regclass" 1
      question=$(quick) there="wait_event_type = 'Lock'" ;;
    same)
      beside mallory "$(slow)"
      wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'mallory' AND wait_event = 'PgSleep'" 1
      question=$(slow) there="wait_event = 'advisory'" ;;
    accountant)
      beside postgres "BEGIN; LOCK TABLE privacy_score.budget IN EXCLUSIVE MODE"
      wait_for "SELECT count(*) FROM pg_locks WHERE mode = 'ExclusiveLock' AND relation = 'privacy_score.budget'::regclass AND granted" 1
      question=$(quick) there="wait_event_type = 'Extension'" ;;
    reading) question=$(slow) there="wait_event = 'PgSleep'" ;;
    answered) question="BEGIN; $(quick); SELECT pg_sleep(30)" there="wait_event = 'PgSleep'" ;;
  esac
  PGAPPNAME=victim as mallory "$PS_BINDIR/psql" -XAtq -c "SET statement_timeout = '${timeout:-0}'" -c "$question" >"$PS_TMP/victim.out" 2>&1 &
  asker=$!
  wait_for "SELECT count(*) $victim AND $there" 1
}
charged_there() { case $1 in reading | answered) echo 1 ;; *) echo 0 ;; esac; }
broken() { # POINT HOW
  local before
  next=$((next + 1))
  reach "$1" || fail "$1, $2: the question comes to that" "$(cat "$PS_TMP/victim.out")"
  before=$(q "SELECT $(spent) - $(charged_there "$1")")
  case $2 in
    cancel) q "SELECT pg_cancel_backend(pid) $victim" >/dev/null ;;
    "end") q "SELECT pg_terminate_backend(pid) $victim" >/dev/null ;;
    # Until all have ended who is beside may not end of its own: an accountant that waits for it would go on.
    kill) kill9_backend "$(q "SELECT pid $victim")" ;;
    timeout) ;;
  esac
  wait "$asker"
  if [ "$2" = kill ]; then
    beside=
    exec 3>&-
    wait
    wait_for "SELECT 1" 1
  fi
  apart
  # An order that the accountant had taken is carried out; nobody else's is in its way then.
  as mallory q "SELECT privacy_score.dp_count('patients', 'id > $((next + 1000000))', 1)" >/dev/null
  case "$1 $2" in
    accountant\ kill) check "$1, $2: nothing is charged" "$(q "SELECT trim_scale($(spent) - $before - 1)")" 0 ;;
    accountant*) check_match "$1, $2: it is charged once at most" "$(q "SELECT trim_scale($(spent) - $before - 1)")" "^[01]$" ;;
    *) check "$1, $2: what is charged" "$(q "SELECT trim_scale($(spent) - $before - 1)")" "$(charged_there "$1")" ;;
  esac
  check "$1, $2: the budget equals the ledger" "$(consistent)" t
}
for point in locks same accountant reading answered; do
  for how in cancel "end"; do broken $point "$how"; done
  if [ $point != accountant ]; then timeout=2s broken $point timeout; fi
done
for point in locks same accountant reading answered; do broken $point kill; done

# --- the session's own end, and memory ------------------------------------------------------------------------------------------
before=$(spent)
check "who ends the own session while rows are read has paid" "$(as mallory q "SELECT pg_terminate_backend(pg_backend_pid()), privacy_score.dp_count('slow', 'id > -500', 1)" >/dev/null; q "SELECT trim_scale($(spent) - $before) IN (0, 1)") $(consistent)" "t t"
before=$(spent)
check "values that fit into no memory: one text, charged" "$(for p in "x = 'a'" "id = 5 AND x = 'b'" "id = -5 AND x = 'c'"; do as mallory q_all "SELECT privacy_score.dp_count('wide', \$p\$$p\$p\$, 1)"; done | sort -u; q "SELECT trim_scale($(spent) - $before)")" \
  "DETAIL:  The question is charged: rows may have been read.
ERROR:  could not read relation \"wide\" for a noisy answer
HINT:  The server log says what went wrong.
3"
# Long enough to fall while rows are read: earlier, where it depends on nobody, the context of a statement of ours would tell.
check "a cancel says the same for all" "$(for p in "id = 1" "id > 0"; do as mallory q_all "SET statement_timeout = '2s'" "SELECT privacy_score.dp_count('slow', '$p AND NOT never', 1)"; done | sort -u)" "ERROR:  canceling statement due to statement timeout"
check "a question that failed is asked anew, and paid for" "$(as mallory q "SELECT epsilon_spent, repeated FROM privacy_score.dp_cost('slow', 'id = 1 AND NOT never', 1)")" "1|f"

# --- the stored answer -------------------------------------------------------------------------------------------------------------
check "an answer is repeated at once, in the same session and in others" "$(as mallory q "SELECT n FROM (SELECT i, (SELECT noisy_count FROM privacy_score.dp_count_detail('patients', 'id < ' || (i / 2)::text, 0.01)) AS n FROM generate_series(2, 201) i) x GROUP BY i / 2, n HAVING count(*) <> 2")" ""
check "that is one payment for two" "$(q "SELECT count(*) FILTER (WHERE repeated), count(*) FILTER (WHERE NOT repeated) FROM privacy_score.dp_releases WHERE epsilon = 0.01")" "100|100"
check "also when the budget is used up by it" "$(q "CREATE ROLE poor LOGIN" "GRANT USAGE ON SCHEMA h TO poor" "SELECT privacy_score.dp_grant('poor', 'h.patients', 50)" >/dev/null; as poor q "SELECT privacy_score.dp_count('h.patients', 'id <= 7', 50), privacy_score.dp_count('h.patients', 'id <= 7', 50)")" "7|7"
check "every question that was answered has its answer" "$(q "SELECT count(*) FROM privacy_score.release WHERE epsilon = 0.01 AND repeat_of IS NULL AND answer IS NULL")" 0
check_scored scoring_errors
check "nothing went wrong in the server" "$(grep -cE 'PANIC|TRAP|Assert' "$ps_log")" 0
done_testing

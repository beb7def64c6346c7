#!/bin/bash
# noisy_crowd.sh - many questions at once, and an accountant that is held up, ended or killed while their orders wait:
# nobody is answered without paying, what was charged is what is in the ledger, and no order remains in shared memory.
. "$(dirname "$0")/../attack.sh"
start_hospital "max_connections = 150" "dynamic_shared_memory_type = mmap"
export PGAPPNAME=
sessions=$(by_length 40 120)
q "REVOKE ALL ON h.patients FROM mallory" "SELECT privacy_score.dp_grant('mallory', 'h.patients', 100000)" >/dev/null
spent() { q "SELECT spent FROM privacy_score.dp_budget WHERE role = 'mallory'"; }
consistent() { q "SELECT sum(b.spent) = (SELECT sum(r.epsilon) FROM privacy_score.release r WHERE r.repeat_of IS NULL) FROM privacy_score.budget b"; }
# Orders are segments; mmap keeps them in files. One is the server's own list of them.
segments() { find "$PGDATA/pg_dynshmem" -type f | wc -l; }
no_orders() { [ "$(segments)" -le "$before_segments" ]; }
accountant() { q "SELECT pid FROM pg_stat_activity WHERE backend_type = 'privacy_score accountant'"; }
number=0
ask() { as mallory q "SELECT 'answer ' || privacy_score.dp_count('h.patients', 'id > -$1', 1)"; }
ask 0 >/dev/null
before_segments=$(segments)

# crowd: sessions ask, each something new, while the accountant is stopped; returns when all orders wait.
crowd() {
  local i
  rm -f "$PS_TMP"/crowd.*
  number=$((number + 1000))
  ask $number >/dev/null
  held=$(accountant)
  kill -STOP "$held"
  for ((i = 1; i <= sessions; i++)); do ask $((number + i)) >"$PS_TMP/crowd.$i" 2>&1 & done
  wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'mallory' AND wait_event_type = 'Extension'" "$sessions" || fail "all orders wait"
}
# Whether a process has ended, or, while it is stopped, has been told to quit (SIGQUIT, 3).
told_to_end() {
  local pending
  pending=$(sed -n 's/^ShdPnd:\t//p' "/proc/$1/status" 2>/dev/null)
  [ -z "$pending" ] || [ $((16#$pending & (1 << 2))) -ne 0 ]
}
answered() { cat "$PS_TMP"/crowd.* | grep -c '^answer '; }

# --- given up while they wait -------------------------------------------------------------------------------------------------
crowd
before=$(spent)
third=$((sessions / 4))
q "SELECT pg_cancel_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE usename = 'mallory' ORDER BY pid LIMIT $third) x" >/dev/null
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'mallory'" $((sessions - third))
q "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE usename = 'mallory' ORDER BY pid LIMIT $third) x" >/dev/null
wait_for "SELECT count(*) FROM pg_stat_activity WHERE usename = 'mallory'" $((sessions - 2 * third))
kill -CONT "$held"
wait
check "who stays is answered" "$(answered)" $((sessions - 2 * third))
check "and pays, and nobody else" "$(q "SELECT trim_scale($(spent) - $before)")" $((sessions - 2 * third))
check "the budget equals the ledger" "$(consistent)" t
check_true "no order is left" wait_until no_orders

# --- the accountant ends ------------------------------------------------------------------------------------------------------
crowd
before=$(spent)
kill -TERM "$held"
kill -CONT "$held"
wait
check "an accountant that ends is followed by another: all are answered" "$(answered)" "$sessions"
check "each for one payment" "$(q "SELECT trim_scale($(spent) - $before)")" "$sessions"
check "the budget equals the ledger" "$(consistent)" t
for ((round = 0; round < $(by_length 5 30); round++)); do
  number=$((number + 1000))
  for ((i = 1; i <= 8; i++)); do ask $((number + i)) & done >"$PS_TMP/crowd.1" 2>&1
  until pid=$(accountant) && [ -n "$pid" ]; do :; done
  kill -TERM "$pid"
  wait
  got=$((${got:-0} + $(grep -c '^answer ' "$PS_TMP/crowd.1")))
  # Nobody asks again: whoever left an answer to be stored has gone.
  wait_for "SELECT count(*) FROM privacy_score.release WHERE repeat_of IS NULL AND answer IS NULL" 0 60 || left=$((${left:-0} + 1))
done
check "ended at any moment: all are answered" "$got" $((8 * round))
check "and the budget equals the ledger" "$(consistent)" t
check "every answer is kept, though nobody asks again" "${left:-0}" 0
check_true "no order is left" wait_until no_orders

# --- the accountant, or one that waits, is killed -----------------------------------------------------------------------------
for victim in accountant asker; do
  crowd
  before=$(spent)
  if [ $victim = accountant ]; then pid=$held; else pid=$(q "SELECT min(pid) FROM pg_stat_activity WHERE usename = 'mallory'"); fi
  kill -9 "$pid"
  # One that goes on before the postmaster has told it may answer yet, which is paid for.
  wait_until told_to_end "$held"
  kill -CONT "$held" 2>/dev/null
  wait
  wait_for "SELECT 1" 1
  check "killed with orders waiting, $victim: nobody is answered" "$(answered)" 0
  check "nor pays" "$(q "SELECT trim_scale($(spent) - $before)")" 0
  check "the budget equals the ledger" "$(consistent)" t
  check "and it goes on" "$(ask $((number + 999)) | cut -c1-7)" "answer "
  check_true "no order is left" wait_until no_orders
done
check "nothing went wrong in the server" "$(grep -cE 'PANIC|TRAP|Assert' "$ps_log")" 0
done_testing

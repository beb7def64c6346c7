#!/bin/bash
# jsonb.sh - jsonb arguments, whose forms only the backend reads: nearly right ones for each function that takes them.
#
#   make fuzz-jsonb [ROUNDS=2000]     calls of each function
. "$(dirname "$0")/../lib.sh"

rounds=${PS_FUZZ_ROUNDS:-2000}
start_server "log_error_verbosity = verbose" "log_min_messages = panic"
q "CREATE EXTENSION privacy_score" >/dev/null
"$PS_BINDIR/psql" -XAtq -v seed="${PS_FUZZ_SEED:-0.5}" -v rounds="$rounds" -f test/fuzz/jsonb.sql >/dev/null ||
  fail "the calls come to their end"
q "SELECT function, count(*) || ' calls, ' || count(*) FILTER (WHERE state = '00000') || ' taken' FROM calls GROUP BY 1 ORDER BY 1"
check_true "every function was called, refused and succeeded" \
  test "$(q "SELECT count(*) FROM (SELECT 1 FROM calls GROUP BY function HAVING count(*) > count(*) FILTER (WHERE state = '00000') AND bool_or(state = '00000')) f")" -eq 8
check "refusals say that an argument, or a date in it, is bad, or that a name is not known" \
  "$(q "SELECT function, state, count(*), min(left(message, 200)), min(left(argument::text, 1000)) FROM calls WHERE state NOT IN ('00000', '22023', '22003', '22004', '22008', '42703', '54000') GROUP BY 1, 2 ORDER BY 1, 2")" ""
check "no process ended by a fault" "$(grep -E "terminated by signal|PANIC:" "$ps_log")" ""
done_testing

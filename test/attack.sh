# attack.sh - what the attack suite needs on top of lib.sh. Sourced by test/attacks/*.sh.
#
#   #!/bin/bash
#   . "$(dirname "$0")/../attack.sh"
#   start_hospital
#   path "EXECUTE, three times" "$read x3" "PREPARE p AS SELECT diagnosis FROM patients" "EXECUTE p" "EXECUTE p" "EXECUTE p"
#   verify_paths
#   done_testing
#
# mallory is a watched role without any privilege but SELECT on some tables of schema h, and CREATE. Each path is a
# connection of its own. What it must leave in history is written as "TOKENS; TOKENS xTIMES": every execution in its
# order, equal ones that follow one another added up; "~REGEX" where a number cannot be known. verify_paths compares all
# paths at once: the server's log tells which session of history belongs to which path, so nothing has to be read or
# written in between.

# shellcheck shell=bash disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ps_paths=()     # descriptions
ps_expected=()  # what history must have, by path

# Tokens that many cases share: reading one column of the table of patients, of visits, of nothing at all.
read="cmd:select p:h.patients.diagnosis t:h.patients"
by_id="cmd:select p:h.patients.diagnosis t:h.patients w:h.patients.id"
whole="cmd:select p:h.patients.city p:h.patients.diagnosis p:h.patients.first_name p:h.patients.id t:h.patients"
outer="cmd:select"

# Starts a server with the tables that the cases are about. Arguments: further configuration lines.
start_hospital() {
  # The worker stays: hardly a path is about its being started anew.
  start_server "privacy_score.worker_stays = '1h'" "log_connections = on" "log_line_prefix = '%m [%p] %c %q%u@%d '" "max_prepared_transactions = 5" "$@"
  q "CREATE EXTENSION privacy_score" "CREATE SCHEMA h" \
    "CREATE ROLE mallory LOGIN" "CREATE ROLE alice LOGIN" "CREATE ROLE clerk LOGIN" "GRANT clerk TO mallory" \
    "GRANT USAGE, CREATE ON SCHEMA h TO mallory, alice" "GRANT USAGE ON SCHEMA h TO clerk" \
    "GRANT CREATE, TEMPORARY ON DATABASE postgres TO mallory" \
    "CREATE TABLE h.patients (id int PRIMARY KEY, first_name text, city text, diagnosis text)" \
    "INSERT INTO h.patients SELECT i, 'f' || i % 17, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 100) i" \
    "CREATE TABLE h.visits (id int PRIMARY KEY, patient int REFERENCES h.patients, ward text, cost numeric)" \
    "INSERT INTO h.visits SELECT i, 1 + i % 100, 'w' || i % 5, i % 11 FROM generate_series(1, 200) i" \
    "CREATE TABLE h.secrets (id int PRIMARY KEY, code text)" "INSERT INTO h.secrets VALUES (1, 'x')" \
    "GRANT SELECT ON h.patients TO mallory, alice, clerk" "GRANT SELECT ON h.visits TO mallory" \
    "SELECT privacy_score.protect('h.patients')" "SELECT privacy_score.protect('h.visits')" \
    "SELECT privacy_score.protect('h.secrets')" \
    "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'watched'" \
    "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'watched'" \
    "SECURITY LABEL FOR privacy_score ON ROLE clerk IS 'exempt'" \
    "ALTER ROLE mallory SET search_path = h, public" "ALTER ROLE alice SET search_path = h, public" \
    "ANALYZE" >/dev/null || bail_out "the tables cannot be made"
}

as_mallory() { as mallory q "$@" 2>/dev/null | tr -d '\0'; }

# Begins the next path: what connects from here on, until the next one, belongs to it.
begin_path() {
  ps_paths+=("$1")
  ps_expected+=("$2")
  export PGAPPNAME="path ${#ps_paths[@]}"
}

# path "description" "expected events" STATEMENT...: mallory runs the statements in one session; all must succeed.
path() {
  local description=$1 answer
  begin_path "$1" "$2"
  shift 2
  answer=$(as_mallory "$@") || fail "$description: the statements run" "$(tail -n 3 <<<"$answer")"
}

# failing_path "description" "expected events" "error" STATEMENT...: the same, but the last statement fails as said.
failing_path() {
  local description=$1 error=$3 answer
  begin_path "$1" "$2"
  shift 3
  if answer=$(as_mallory "$@"); then fail "$description: the statements fail" "they do not"; fi
  check_match "$description: fails" "$(tail -n 1 <<<"$answer")" "$error"
}

# path_of "description" "expected events" COMMAND...: mallory runs a client program; it must succeed.
path_of() {
  local description=$1
  begin_path "$1" "$2"
  shift 2
  as mallory "$@" </dev/null >"$PS_TMP/$ps_test.answer" 2>&1 ||
    fail "$description: the program runs" "$(tail -n 3 "$PS_TMP/$ps_test.answer")"
}

# refused "description" SQLSTATE STATEMENT...: the last statement fails with that code.
refused() {
  local description=$1 state=$2
  shift 2
  export PGAPPNAME="a refusal"
  check "refused: $description" "$(as mallory q_state "$@")" "$state"
}

# Prints "path|tokens|times" for every entry of history that belongs to a path, in order.
path_history() {
  sed -nE 's/.* ([0-9a-f]+\.[0-9a-f]+) [a-z_]+@[a-z]+ LOG:  connection authorized: .*application_name=path ([0-9]+)$/\2\t\1/p' \
    "$ps_log" >"$PS_TMP/$ps_test.connections"
  {
    echo "CREATE TEMP TABLE connection (path int, session text);"
    echo "\\copy connection from '$PS_TMP/$ps_test.connections'"
    cat <<'SQL'
SELECT c.path, array_to_string(a.tokens, ' '), e.run
  FROM connection c
  JOIN privacy_score.session s ON split_part(s.session, '/', 1) = c.session
  JOIN privacy_score.session_part p ON p.session_id = s.id,
       ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place)
  JOIN privacy_score.abstraction a ON a.id = e.id
 WHERE e.run > 0
 ORDER BY c.path, s.started, s.id, p.part, e.place;
SQL
  } | PGAPPNAME= "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1
}

# Compares what history has with what each path should have left, and forgets the paths.
verify_paths() {
  local -A found=()
  local path tokens times last_path="" last_tokens="" run=0 i
  export PGAPPNAME=
  wait_for "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name LIKE 'path %'" 0 ||
    fail "the sessions of the paths end"
  q "SELECT privacy_score.flush()" >/dev/null
  path_history >"$PS_TMP/$ps_test.history"
  add() {
    if [ "$run" -eq 0 ]; then return; fi
    if [ "$run" -gt 1 ]; then last_tokens="$last_tokens x$run"; fi
    found[$last_path]="${found[$last_path]:+${found[$last_path]}; }$last_tokens"
  }
  while IFS='|' read -r path tokens times; do
    if [ "$path" = "$last_path" ] && [ "$tokens" = "$last_tokens" ]; then
      run=$((run + times))
      continue
    fi
    add
    last_path=$path last_tokens=$tokens run=$times
  done <"$PS_TMP/$ps_test.history"
  add
  for ((i = 0; i < ${#ps_paths[@]}; i++)); do
    case ${ps_expected[i]} in
      "~"*) check_match "counted: ${ps_paths[i]}" "${found[$((i + 1))]:-}" "${ps_expected[i]#"~"}" ;;
      *) check "counted: ${ps_paths[i]}" "${found[$((i + 1))]:-}" "${ps_expected[i]}" ;;
    esac
  done
  check_scored
}

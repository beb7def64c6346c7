# clients.sh - the clients of the soak. Each counts what it did and what became of it. Sourced by soak.sh.
#
# A client is a subshell with a name. It works in turns, each of them with a shared lock, so that soak.sh can let all of them
# rest between two turns; when the file "stop" is there it writes its counts to counts/NAME and ends. Counts are lines
# "KEY NUMBER".
# shellcheck shell=bash disable=SC2034,SC2154

declare -A count=()

# add KEY [NUMBER]
add() { count[$1]=$((${count[$1]:-0} + ${2:-1})); }

write_counts() {
  local key
  for key in "${!count[@]}"; do echo "$key ${count[$key]}"; done >"$soak/counts/$name"
}

# work SECONDS COMMAND...: calls the command in turns, that long apart, until the soak ends.
work() {
  local pause=$1
  shift
  while ! [ -e "$soak/stop" ]; do
    while [ -e "$soak/rest" ]; do sleep 0.1; done
    exec 9>"$soak/lock"
    flock -s 9
    "$@"
    exec 9>&-
    sleep "$pause"
  done
  write_counts
}

# open_chat ROLE DATABASE: a psql of this client for ask.
open_chat() {
  coproc CHAT { PGUSER=$1 PGDATABASE=$2 PGAPPNAME="soak $name" exec "$PS_BINDIR/psql" -XAtq 2>>"$soak/errors/$name"; }
  chat_in=${CHAT[1]}
  chat_out=${CHAT[0]}
}

# tell STATEMENT; hear: sends a statement, and waits for its end. Sets `state` to its SQLSTATE and `answer` to the last row.
tell() { printf '%s;\n\\echo = :SQLSTATE\n' "$1" >&"$chat_in"; }
hear() {
  local line
  state=lost answer=
  while IFS= read -r -u "$chat_out" line; do
    case $line in
      "= "*) state=${line#= }; break ;;
      *) answer=$line ;;
    esac
  done
}
ask() { tell "$1"; hear; }

# unexpected STATEMENT: an error that the client does not expect.
unexpected() {
  add unexpected
  echo "$name: $state: $1" >>"$soak/unexpected"
}

# --- reading under a limit ----------------------------------------------------------------------------------------------

columns=(name city birth_year ward diagnosis spare)
# A statement that shows some columns and has another in its condition, hardly ever the same one twice.
any_read() {
  local list='' column
  for column in "${columns[@]}"; do
    if [ $((RANDOM % 3)) -eq 0 ]; then list+="${list:+, }$column"; fi
  done
  any_read="SELECT ${list:-id} FROM patients WHERE ${columns[RANDOM % 6]} IS NOT NULL AND id = $((RANDOM % 2000 + 1))"
}

read_under_limit() {
  any_read
  ask "$any_read"
  case $state in
    00000) add events ;;
    PS001) add refused ;;
    *) unexpected "$any_read" ;;
  esac
}

# A connection that is there all the time.
guard() {
  open_chat guard postgres
  work 0.7 read_under_limit
}

# A connection for every few statements.
read_and_leave() {
  local i line
  for i in 1 2 3 4 5 6 7 8; do
    any_read
    printf '%s;\n\\echo = :SQLSTATE\n' "$any_read"
  done >"$soak/$name.sql"
  while IFS= read -r line; do
    case $line in
      "= 00000") add events ;;
      "= PS001") add refused ;;
      "= "*) state=${line#= } unexpected "one of $soak/$name.sql" ;;
    esac
  done < <(PGUSER=visitor PGAPPNAME="soak $name" "$PS_BINDIR/psql" -XAtq -f "$soak/$name.sql" 2>>"$soak/errors/$name")
  add sessions
}
visitor() { work 3 read_and_leave; }

# --- names that come and go -----------------------------------------------------------------------------------------------

follow_names() {
  local table
  for table in records archive; do
    ask "SELECT count(*) FROM $table WHERE city = 'c1'"
    case $state in
      00000) add events ;;
      42P01) add missing ;;
      *) unexpected "reading $table" ;;
    esac
  done
}
traveller() {
  open_chat traveller postgres
  work 1.5 follow_names
}

# must STATEMENT: one that has to succeed.
must() {
  ask "$1"
  if [ "$state" = 00000 ]; then add statements; else unexpected "$1"; fi
}

changes=(
  "CREATE INDEX patients_ward ON patients (ward)"
  "ALTER TABLE patients ALTER COLUMN city SET STATISTICS 50"
  "BEGIN; ALTER TABLE patients RENAME COLUMN city TO town; ALTER TABLE patients RENAME COLUMN town TO city; COMMIT"
  "BEGIN; CREATE TABLE records AS SELECT id, city, ward, 0 AS extra FROM patients WHERE id <= 500; GRANT SELECT ON records TO traveller; COMMIT"
  "ALTER TABLE records ADD PRIMARY KEY (id)"
  "SELECT privacy_score.protect('records')"
  "SECURITY LABEL FOR privacy_score ON COLUMN records.city IS 'quasi-identifier'"
  "ALTER TABLE records RENAME COLUMN extra TO more"
  "ALTER TABLE records RENAME TO archive"
  "SELECT privacy_score.analyze_relation('archive')"
  "ALTER TABLE archive DROP COLUMN more"
  "ALTER TABLE archive ADD COLUMN extra int DEFAULT 1"
  "ALTER TABLE archive RENAME TO records"
  "SELECT privacy_score.unprotect('records')"
  "SELECT privacy_score.protect('records', '{ward}')"
  "DROP TABLE records"
  "SELECT privacy_score.unprotect('visits')"
  "SELECT privacy_score.protect('visits', '{patient_id}')"
  "DROP INDEX patients_ward"
  "CREATE TABLE scratch (id int PRIMARY KEY, line text)"
  "INSERT INTO scratch SELECT i, 'x' FROM generate_series(1, 1000) i"
  "ALTER TABLE scratch ALTER COLUMN id TYPE bigint"
  "DROP TABLE scratch"
  "UPDATE patients SET spare = spare + 1 WHERE id % 3 = 0"
  "VACUUM ANALYZE patients"
  "SECURITY LABEL FOR privacy_score ON COLUMN patients.birth_year IS 'quasi-identifier'"
  "SECURITY LABEL FOR privacy_score ON COLUMN patients.birth_year IS NULL"
  "SELECT privacy_score.confirm_dependency('patients', 'ward', 'city')"
  "SELECT privacy_score.withdraw_dependency('patients', 'ward', 'city')"
  "SELECT privacy_score.dp_grant('guard', 'visits', 1)"
  "SELECT privacy_score.dp_revoke('guard', 'visits')"
  "SELECT privacy_score.set_baseline('alumna', privacy_score.today(), privacy_score.today())"
  "SELECT privacy_score.drop_baseline('alumna')"
)
# What the server's cache of catalogs takes of a client's backend, in kilobytes, for soak.sh: it grows with each relation
# that comes and goes, also without the library (test/shell/catalog_cache.sh).
tell_catalog_cache() {
  must "SELECT total_bytes / 1024 FROM pg_backend_memory_contexts WHERE name = 'CacheMemoryContext'"
  echo "$answer" >"$soak/catalog_cache/$name.new"
  mv "$soak/catalog_cache/$name.new" "$soak/catalog_cache/$name"
}

change_something() {
  must "${changes[turn % ${#changes[@]}]}"
  turn=$((turn + 1))
  if [ $((turn % 11)) -eq 0 ]; then tell_catalog_cache; fi
}
changer() {
  turn=0
  open_chat postgres postgres
  work 3 change_something
}

# A role is made, reads, and is dropped as soon as it has left.
use_role_once() {
  local role=temporary_$turn
  turn=$((turn + 1))
  must "CREATE ROLE $role LOGIN"
  if PGUSER=$role PGAPPNAME="soak $name" "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 \
    -c "SELECT city FROM patients WHERE id = 1" -c "SELECT name FROM patients WHERE id = 1" >/dev/null 2>>"$soak/errors/$name"; then
    add events 2
  else
    state=psql unexpected "reading as $role"
  fi
  must "DROP ROLE $role"
}
personnel() {
  turn=0
  open_chat postgres postgres
  work 10 use_role_once
}

# --- publishing, watching, cancelling -----------------------------------------------------------------------------------

publish() {
  ask "SELECT rows FROM privacy_score.bucketize('patients', '{city,birth_year}', 'diagnosis', 'pub.qit', 'pub.st', l => 3)"
  if [ "$state $answer" = "00000 2000" ]; then add releases; else unexpected "bucketize: $answer"; fi
  ask "SELECT count(*) FROM privacy_score.verify_release('pub.qit', 'pub.st', l => 3) WHERE NOT holds"
  if [ "$state $answer" = "00000 0" ]; then add verified; else unexpected "verify_release: $answer"; fi
  ask "DROP TABLE pub.qit, pub.st"
  if [ "$state" != 00000 ]; then unexpected "dropping the release"; fi
  tell_catalog_cache
}
publisher() {
  open_chat publisher postgres
  work 20 publish
}

# What a monitoring system reads, and pages about a role whose history stays as it is. The auditor is watched as well, but
# for what the functions do within; views that read no table but the extension's own and catalogs are empty abstractions.
look() {
  local question
  for question in "SELECT count(*) FROM privacy_score."{stat_sessions,alerts,stat_cdr,dp_budget}; do must "$question"; done
  must "SELECT events > 0, memory_used < memory_limit FROM privacy_score.stat_info"
  must "SELECT count(*) FROM privacy_score.progress"
  add events 2
  if [ $((turn % 6)) -eq 0 ]; then
    must "SELECT length(privacy_score.report('alumna'))"
    must "SELECT count(*) FROM privacy_score.score('alumna', '-infinity', 'infinity')"
    must "SELECT count(*) FROM privacy_score.role_status('alumna')"
    add events 3
  fi
  turn=$((turn + 1))
}
auditor() {
  turn=0
  open_chat auditor postgres
  work 5 look
}

# What takes the more memory the longer the history: on a connection for each time.
read_all() {
  local answers
  answers=$(PGAPPNAME="soak $name" "$PS_BINDIR/psql" -XAtq -v ON_ERROR_STOP=1 -c "SELECT length(privacy_score.report()) > 1000" \
    -c "SELECT count(*) > 0 FROM privacy_score.stat_roles" -c "SELECT count(*) > 0 FROM privacy_score.stat_days" \
    -c "SELECT count(*) > 0 FROM privacy_score.stat_abstractions" -c "SELECT count(*) > 0 FROM privacy_score.stat_mismatches" 2>>"$soak/errors/$name")
  if [ "${answers//$'\n'/}" = ttttt ]; then add pages; else state=psql unexpected "reading all: $answers"; fi
}
reporter() { work 60 read_all; }

# A statement is cancelled once it runs: then it has been counted. On a busy machine it may wait for minutes behind somebody
# who changes the table; one that nobody cancels would hold the table, and all others, for its whole hour.
cancel_running() {
  local tries=6000 cancelled=
  tell "SELECT count(*), pg_sleep(3600) FROM (SELECT city FROM patients LIMIT 1) x"
  until [ "$cancelled" = t ]; do
    cancelled=$("$PS_BINDIR/psql" -XAtq -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'soak $name' AND wait_event = 'PgSleep'")
    if [ $((tries -= 1)) -le 0 ]; then break; fi
    sleep 0.1
  done
  hear
  if [ "$state" = 57014 ]; then add events; add cancelled; else unexpected "a statement that is cancelled"; fi
}
sleeper() {
  open_chat sleeper postgres
  work 8 cancel_running
}

# --- noisy counts ---------------------------------------------------------------------------------------------------------

# A budget of five questions every ten seconds.
ask_beyond_budget() {
  ask "SELECT privacy_score.dp_count('patients', 'ward = 1', 0.01, true)"
  add events
  case $state in
    00000) add charges ;;
    PS002) add exhausted ;;
    *) unexpected "dp_count" ;;
  esac
}
spender() {
  open_chat spender postgres
  work 1.3 ask_beyond_budget
}

# Questions that are often broken off, before or after they are paid for.
ask_in_a_hurry() {
  ask "SET statement_timeout = '$((RANDOM % 8 + 1))ms'"
  ask "SELECT privacy_score.dp_count('patients', 'ward = 2', 0.001, true)"
  add asked
  case $state in
    00000) add charges ;;
    57014) add cancelled ;;
    *) unexpected "dp_count in a hurry" ;;
  esac
  ask "SET statement_timeout = 0"
}
hurrier() {
  open_chat hurrier postgres
  work 2 ask_in_a_hurry
}

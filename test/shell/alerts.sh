#!/bin/bash
# alerts.sh - alerts for people: one a cause and window, however many sessions; severity; the LOG line, parsed; the
# notification; acknowledging.
. "$(dirname "$0")/../lib.sh"

start_server "privacy_score.alert_window = '1h'" "privacy_score.baseline_min_sessions = 10"
odd=$'od"d\nkind=x role="y"\\'  # a role name that tries to write a LOG line of its own
q "CREATE EXTENSION privacy_score" \
  "CREATE TABLE patients (id int PRIMARY KEY, first_name text, last_name text, city text, diagnosis text, c1 text, c2 text, c3 text, c4 text, c5 text)" \
  "INSERT INTO patients SELECT i, 'f' || i % 17, 'l' || i % 97, 'c' || i % 13, 'd' || i % 7 FROM generate_series(1, 300) i" \
  "SELECT privacy_score.protect('patients')" >/dev/null
for role in learner many acked loud mild wild every forms "$odd"; do
  printf 'SELECT format(%s, :%s) \\gexec\n' "'CREATE ROLE %I LOGIN'" "'role'" >"$PS_TMP/role.sql"
  printf 'SELECT format(%s, :%s) \\gexec\n' "'GRANT SELECT ON patients TO %I'" "'role'" >>"$PS_TMP/role.sql"
  printf 'SELECT format(%s, :%s) \\gexec\n' "'ALTER ROLE %I SET privacy_score.session_limit = 0.01'" "'role'" >>"$PS_TMP/role.sql"
  "$PS_BINDIR/psql" -XAtq -v role="$role" -f "$PS_TMP/role.sql" >/dev/null
done
q "ALTER ROLE mild SET privacy_score.session_limit = 1.5" "ALTER ROLE learner RESET privacy_score.session_limit" >/dev/null
usual="SELECT city FROM patients LIMIT 0 + 0"
unusual="SELECT first_name, last_name FROM patients LIMIT 0 + 0"
alert() { echo "SELECT $2 FROM privacy_score.alerts WHERE role = '$1'"; }

# Rates are known beforehand, so that every session's score is exact at once.
q "SELECT privacy_score.analyze_relation('patients', '{city,first_name,last_name}')" \
  "SELECT privacy_score.analyze_relation('patients', '{first_name,last_name}')" \
  "SELECT privacy_score.analyze_relation('patients', '{city,diagnosis}')" \
  "SELECT privacy_score.analyze_relation('patients', '{diagnosis}')" \
  "SELECT privacy_score.analyze_relation('patients', '{city}')" "SELECT privacy_score.flush()" >/dev/null

# --- who may listen -----------------------------------------------------------------------------------------------------
check "a watched role cannot listen: alerts are about all roles" "$(as many q "LISTEN privacy_score_alert")" \
  'ERROR: permission denied to listen on channel "privacy_score_alert"'
check "neither by a function" "$(as many q_state "DO \$\$ BEGIN EXECUTE 'LISTEN privacy_score_alert'; END \$\$")" 42501
check "nor by a name of its own" "$(as many q_state "LISTEN \"privacy_score_alert\"")" 42501
check "other channels are free" "$(as many q_state "LISTEN other" "UNLISTEN privacy_score_alert")" 00000
q "CREATE ROLE officer LOGIN" "GRANT pg_read_all_stats TO officer" >/dev/null
check "who reads all alerts may listen" "$(as officer q_state "LISTEN privacy_score_alert")" 00000

# --- a flood of short sessions ----------------------------------------------------------------------------------------
mkfifo "$PS_TMP/listener"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/listener" >"$PS_TMP/heard" 2>&1 &
exec 3>"$PS_TMP/listener"
echo "LISTEN privacy_score_alert; SELECT 'listening';" >&3
check_true "somebody listens" wait_for_line "$PS_TMP/heard" 'listening'
heard() { # ROLE: the payloads about it so far, one a line
  sed -nE 's/^Asynchronous notification "privacy_score_alert" with payload "(.*)" received from.*/\1/p' "$PS_TMP/heard" |
    grep -F "\"role\": \"$1\""
}
# listened ROLE NUMBER: has psql, which looks for notifications after each statement, that many payloads about the role?
listened() {
  for _ in $(seq 50); do
    echo "SELECT 1;" >&3
    sleep 0.1
    if [ "$(heard "$1" | wc -l)" -ge "$2" ]; then break; fi
  done
  [ "$(heard "$1" | wc -l)" -eq "$2" ]
}
for _ in $(seq 50); do as many q "$unusual"; done >/dev/null
check_true "fifty sessions make one alert that counts fifty" wait_for "$(alert many "count(*), sum(occurrences)")" "1|50"
check "the last one is later than the first" "$(q "$(alert many "last_at > at")")" t
check "session, score and detail are of one session" \
  "$(q "SELECT bool_and(abs(a.score - s.score) < 1e-9) FROM privacy_score.alert a
         JOIN privacy_score.score_sessions('many', '-infinity', 'infinity') s USING (session) WHERE a.role = 'many'")" t
check_true "and one notification" listened many 1
check "each session has its line in the log" "$(grep -c 'privacy_score alert: .*role="many"' "$ps_log")" 50

# --- many causes ------------------------------------------------------------------------------------------------------
# 31 subsets of five columns are 31 n-grams.
for mask in $(seq 31); do
  columns=
  for bit in 0 1 2 3 4; do
    if [ $((mask >> bit & 1)) = 1 ]; then columns+="${columns:+, }c$((bit + 1))"; fi
  done
  as wild q "SELECT $columns FROM patients LIMIT 0 + 0"
done >/dev/null
check_true "very many causes share one alert from a number on" \
  wait_for "$(alert wild "count(*), sum(occurrences), count(*) FILTER (WHERE detail->>'cause' = 'others'), max(occurrences)")" "21|31|1|11"
check_true "and notify no more often" listened wild 21

# --- severity -----------------------------------------------------------------------------------------------------------
as mild q "$unusual" >/dev/null
as mild q "$usual" "$unusual" "SELECT diagnosis FROM patients LIMIT 0 + 0" "SELECT pg_sleep(0.5)" >/dev/null
check "more than twice the limit is critical" "$(q "$(alert many "DISTINCT severity")")" critical
check_true "more than the limit is a warning" wait_for "$(alert mild "DISTINCT severity")" warning

# --- what it says -------------------------------------------------------------------------------------------------------
check "the detail names n-gram, nearest, columns, rates" \
  "$(q "$(alert many "detail ?& '{ngram,nearest,attributes,deltas,rates}', detail->'attributes', jsonb_typeof(detail->'rates')")")" \
  't|["public.patients.first_name", "public.patients.last_name"]|object'
check "the role that caused it does not see the rates" \
  "$(as many q "SELECT detail ? 'ngram', detail ? 'rates', detail ? 'combined_rate' FROM privacy_score.alerts")" "t|f|f"
check "no value of a column stands in it" "$(q "SELECT count(*) FROM privacy_score.alerts WHERE detail::text ~ '[\"'']([flcd][0-9]+)[\"'']'")" 0
payload=$(heard many)
check "the payload is JSON with severity and occurrences" \
  "$(q "SELECT j->>'severity', j->>'occurrences', j->>'blocked', j->'detail' ? 'rates' FROM (SELECT '${payload//\'/\'\'}'::jsonb) x(j)")" \
  "critical|1|false|t"

# --- who sent it ----------------------------------------------------------------------------------------------------------
verified() { q "SELECT privacy_score.verify_alert('${1//\'/\'\'}')"; }  # PAYLOAD
check "the payload carries its HMAC" "$(q "SELECT j->>'hmac' ~ '^[0-9a-f]{64}$' FROM (SELECT '${payload//\'/\'\'}'::jsonb) x(j)")" t
check "it verifies" "$(verified "$payload")" t
check "for a role without rights, too" "$(as many verified "$payload")" t
check "who cannot read the key" "$(as many q "SELECT * FROM privacy_score.alert_key")" "ERROR: permission denied for table alert_key"
check "neither in statistics" "$(q "ANALYZE privacy_score.alert_key"; as many q "SELECT count(*) FROM pg_stats WHERE tablename = 'alert_key'")" 0
check "anybody may send one" \
  "$(as many q "NOTIFY privacy_score_alert, '{\"id\": 1, \"kind\": \"session\", \"role\": \"forged\", \"version\": 1}'")" ""
check_true "which is heard" listened forged 1
check "and does not verify" "$(verified "$(heard forged)")" f
check "a changed role does not" "$(verified "${payload/many/mild}")" f
check "nor a changed number" "$(verified "${payload/\"occurrences\": 1/\"occurrences\": 2}")" f
check "nor a changed digit of the HMAC" "$(verified "$(sed -E 's/(.)"\}$/\1/; h; s/.*(.)$/\1/; y/0123456789abcdef/123456789abcdef0/; x; s/.$//; G; s/\n//; s/$/"}/' <<<"$payload")")" f
check "nor the HMAC in capitals" "$(verified "$(sed -E 's/[0-9a-f]{64}"\}$/\U&/' <<<"$payload")")" f
check "nor a blank more" "$(verified "$payload "),$(verified " $payload"),$(verified "${payload/, /,  }")" f,f,f
check "nor one that hides another" "$(verified "{\"role\": \"mild\", ${payload#\{}")" f
check "nor without HMAC, nor what is no JSON at all" "$(verified "${payload%, \"hmac\"*}}"),$(verified ""),$(verified "{"),$(verified ", \"hmac\": \"${payload:(-66)}")" f,f,f,f
check "nor a text that no notification can have" "$(q "SELECT privacy_score.verify_alert(repeat('x', 20000000) || '${payload//\'/\'\'}')")" f
check "NULL stays NULL" "$(q "SELECT privacy_score.verify_alert(NULL) IS NULL")" t
q "CREATE DATABASE other" >/dev/null
key=$(q "SELECT key FROM privacy_score.alert_key")
elsewhere="SELECT privacy_score.verify_alert('${payload//\'/\'\'}')"
check "in another database it does not verify, even with the same key" \
  "$(PGDATABASE=other q "CREATE EXTENSION privacy_score" "$elsewhere" "INSERT INTO privacy_score.alert_key VALUES (true, '$key')" "$elsewhere")" "f
f"
check "a dump does not have the key" "$("$PS_BINDIR/pg_dump" -t privacy_score.alert_key postgres | grep -c '^COPY\|x[0-9a-f]\{64\}'; "$PS_BINDIR/pg_dump" postgres | grep -c "${key#??}")" "0
0"

# --- the log line -------------------------------------------------------------------------------------------------------
as "$odd" q "$unusual" >/dev/null
check_true "a role with an odd name has its alert" wait_for "SELECT count(*) FROM privacy_score.alert WHERE role ~ 'od\"d'" 1
# Splits a line into key and value, undoing the escapes, as a reader of logs would.
parse() {
  perl -ne 'next unless s/^.*LOG:  privacy_score alert: //;
    while (s/^(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))(?:\s|$)//) {
      my ($key, $value) = ($1, defined $2 ? $2 : $3);
      $value =~ s/\\(?:x(..)|(n)|(.))/defined $1 ? chr hex $1 : defined $2 ? "\n" : $3/ge if defined $2;
      push @{$seen{$key}}, $value; $keys .= "$key ";
    }
    print "rest: $_" if /\S/; $role = $seen{role}[-1]; $last = $keys; $keys = "";
    if ($role =~ /^od/) { print "$last\n"; print "$_=$seen{$_}[-1]\n" for qw(kind severity role limit blocked database) }' "$1"
}
check "the line can be parsed, whatever the role is called" "$(parse "$ps_log")" \
  "kind severity role session score limit blocked database application_name 
kind=session
severity=critical
role=$odd
limit=0.01
blocked=false
database=postgres"

# The same in the forms of others, as alert_event() writes the row, but for what only the row has.
json_of_log() { sed -n 's/^.*LOG:  privacy_score alert: \({.*}\)$/\1/p' "$ps_log" | tail -n 1; }
occurrences=0
for form in ocsf ecs cef; do
  q "ALTER SYSTEM SET privacy_score.alert_format = '$form'" "SELECT pg_reload_conf()" >/dev/null
  wait_for "SHOW privacy_score.alert_format" "$form"
  PGAPPNAME="by | $form=\\" as forms q "$unusual" >/dev/null
  check_true "an alert for $form" wait_for "SELECT max(occurrences) FROM privacy_score.alert WHERE role = 'forms'" "$((++occurrences))"
  case $form in
    ocsf) check "the line is a finding like the row's, but for its number and times" "$(q "SELECT r.e - omitted = l.e - omitted FROM (SELECT privacy_score.alert_event(max(id))::jsonb AS e FROM privacy_score.alert WHERE role = 'forms') r,
      (SELECT \$j\$$(json_of_log)\$j\$::jsonb AS e) l, (SELECT '{metadata,finding_info,time,start_time,end_time}'::text[] AS omitted) o")" t ;;
    ecs) check "the line is a document with program and person" "$(q "SELECT e #>> '{user,name}', e #>> '{event,kind}', e #>> '{privacy_score,application_name}', e #>> '{privacy_score,auth_method}' FROM (SELECT \$j\$$(json_of_log)\$j\$::jsonb AS e) l")" 'forms|alert|by | ecs=\|trust' ;;
    cef) check_true "the line is one of CEF, its values escaped" log_has 'privacy_score alert: CEF:0\|privacy_score\|privacy_score\|[0-9.]+\|session\|A session passed its privacy limit\|9\|rt=.* suser=forms act=reported .* cs5Label=application cs5=by \| cef\\=\\\\$' ;;
  esac
done
q "ALTER SYSTEM RESET privacy_score.alert_format" "SELECT pg_reload_conf()" >/dev/null
wait_for "SHOW privacy_score.alert_format" privacy_score

# --- acknowledging ------------------------------------------------------------------------------------------------------
as acked q "$unusual" >/dev/null
check_true "there is an alert to acknowledge" wait_for "$(alert acked "count(*)")" 1
id=$(q "$(alert acked id)")
check "a watched role cannot acknowledge" "$(as acked q_state "SELECT privacy_score.acknowledge_alert($id)")" 42501
check "an alert that does not exist cannot be" "$(q "SELECT privacy_score.acknowledge_alert(-1)")" "ERROR: alert -1 does not exist"
q "SELECT privacy_score.acknowledge_alert($id)" >/dev/null
first=$(q "$(alert acked acknowledged_at)")
check "acknowledging twice is no error and changes nothing" \
  "$(q "SELECT privacy_score.acknowledge_alert($id)"; q "$(alert acked "acknowledged_at = '$first', acknowledged_by")")" "
t|postgres"
as acked q "$unusual" >/dev/null
check_true "an acknowledged alert takes in no new one" \
  wait_for "$(alert acked "string_agg(occurrences || ' ' || (acknowledged_at IS NULL), ',' ORDER BY id)")" "1 false,1 true"
check_true "people are told again" listened acked 2

# Somebody who leaves a transaction open after acknowledging does not keep the worker from writing.
mkfifo "$PS_TMP/officer"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/officer" >"$PS_TMP/officer.out" 2>&1 &
exec 4>"$PS_TMP/officer"
echo "BEGIN; SELECT privacy_score.acknowledge_alert(max(id)) FROM privacy_score.alerts WHERE role = 'acked'; SELECT 'held';" >&4
check_true "an alert is held locked" wait_for_line "$PS_TMP/officer.out" 'held'
as acked q "$unusual" >/dev/null
check_true "the worker goes round it" wait_for "$(alert acked "count(*)")" 3
exec 4>&-

# --- the window -----------------------------------------------------------------------------------------------------------
q "UPDATE privacy_score.alert SET at = at - interval '61 minutes' WHERE role = 'many'" >/dev/null
as many q "$unusual" >/dev/null
check_true "after the window there is a new alert" wait_for "$(alert many "count(*), sum(occurrences)")" "2|51"
conf "privacy_score.alert_window = 0"
reload_server
for _ in 1 2 3; do as every q "$unusual"; done >/dev/null
check_true "a window of 0 makes one of each" wait_for "$(alert every "count(*), max(occurrences)")" "3|1"
check_true "all of them notify" listened every 3
check_true "the flood has notified once more, after its window" listened many 2

# --- baselines ------------------------------------------------------------------------------------------------------------
days="privacy_score.today(), privacy_score.today()"
as learner q "$usual" >/dev/null
check_true "the learner is recorded" wait_for "SELECT sum(queries) FROM privacy_score.session WHERE role = 'learner'" 1
check_match "a baseline of one session is made, with a warning" "$(q_all "SELECT privacy_score.set_baseline('learner', $days)")" \
  'WARNING:  baseline of role "learner" has 1 session, fewer than 10.*HINT: .*1$'
check_true "people are notified" listened learner 1
check_match "as information" "$(heard learner)" '"kind": "baseline_small".*"severity": "info"'
check_true "the log has it" log_has 'privacy_score alert: kind=baseline_small severity=info role="learner" session="" score=1 limit=10 blocked=false database="postgres"$'
q "BEGIN" "SELECT privacy_score.set_baseline('many', $days)" "ROLLBACK" >/dev/null
check "rolled back, neither baseline nor alert is there" \
  "$(q "SELECT (SELECT count(*) FROM privacy_score.baseline WHERE role = 'many'), (SELECT count(*) FROM privacy_score.alert WHERE role = 'many' AND kind ~ '^baseline')")" "0|0"
# A table that somebody holds locked does not keep a baseline from being made.
q "DELETE FROM privacy_score.rate" >/dev/null
mkfifo "$PS_TMP/locker"
"$PS_BINDIR/psql" -XAtq <"$PS_TMP/locker" >"$PS_TMP/locker.out" 2>&1 &
exec 5>"$PS_TMP/locker"
echo "BEGIN; LOCK TABLE patients; SELECT 'locked';" >&5
check_true "the table is locked" wait_for_line "$PS_TMP/locker.out" 'locked'
q "SELECT privacy_score.set_baseline('many', $days)" >/dev/null 2>&1
check "a rate that cannot be computed now is a bound" "$(q "SELECT combined_rate, checked->'combined_rate_exact' FROM privacy_score.baselines v
  JOIN privacy_score.baseline USING (id) WHERE v.role = 'many' AND v.active")" "1|false"
exec 5>&-
check "the baseline is in force" "$(q "SELECT count(*) FROM privacy_score.baselines WHERE role = 'many' AND active")" 1
exec 3>&-
check "the server is well" "$(grep -cE 'PANIC|terminated by signal' "$ps_log")" 0

done_testing

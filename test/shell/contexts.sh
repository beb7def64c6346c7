#!/bin/bash
# contexts.sh - from where, with which program and how a connection came in: kept with sessions and alerts, and told where the
# baseline has never had the like.
. "$(dirname "$0")/../lib.sh"

export PGPORT=$((20000 + $$ % 20000))
start_server "port = $PGPORT" "listen_addresses = '127.0.0.1'" "privacy_score.worker_stays = '1h'" "privacy_score.baseline_min_sessions = 0" \
  "TimeZone = 'Asia/Tokyo'" "privacy_score.end_user_source = 'setting app.login'"
tls=no
if command -v openssl >/dev/null && openssl req -new -x509 -days 2 -nodes -subj /CN=localhost -keyout "$PGDATA/server.key" -out "$PGDATA/server.crt" 2>/dev/null; then
  chmod 600 "$PGDATA/server.key"
  conf "ssl = on"
  tls=yes
fi
{
  echo "host all sid 127.0.0.1/32 scram-sha-256"
  cat "$PGDATA/pg_hba.conf"
} >"$PS_TMP/hba" && cp "$PS_TMP/hba" "$PGDATA/pg_hba.conf"
restart_server
q "CREATE EXTENSION privacy_score" "CREATE ROLE ann LOGIN" "SET password_encryption = 'scram-sha-256'" "CREATE ROLE sid LOGIN PASSWORD 'x'" "CREATE ROLE app LOGIN" \
  "CREATE TABLE patients (id int PRIMARY KEY, name text, city text)" "INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 5 FROM generate_series(1, 100) i" \
  "GRANT SELECT ON patients TO ann, sid, app" "SELECT privacy_score.protect('patients', 'id')" "SECURITY LABEL FOR privacy_score ON ROLE app IS 'gateway'" >/dev/null ||
  bail_out "the tables cannot be made"
shown="COALESCE(host(client_addr), 'local') || ' ' || application_name || ' ' || CASE WHEN tls THEN 'tls' ELSE 'plain' END || ' ' || auth_method"
contexts() { q "SELECT privacy_score.flush()" "SELECT $shown FROM privacy_score.stat_contexts WHERE role = '$1' ORDER BY started" | sed '/^$/d' | paste -sd ';'; }
over_tcp() { local -x PGHOST=127.0.0.1 PGPASSWORD=x PGSSLMODE=${1}; shift; "$@"; }

# --- what is kept ---------------------------------------------------------------------------------------------------------
PGAPPNAME=ward as ann q "SELECT city FROM patients WHERE id = 1" >/dev/null
over_tcp disable env PGAPPNAME=report PGUSER=sid "$PS_BINDIR/psql" -XAtqc "SELECT city FROM patients WHERE id = 1" >/dev/null
check "of a session over a unix socket" "$(contexts ann)" "local ward plain trust"
check "of one over the network" "$(contexts sid)" "127.0.0.1 report plain scram-sha-256"
if [ "$tls" = yes ]; then
  over_tcp require env PGAPPNAME=report PGUSER=ann "$PS_BINDIR/psql" -XAtqc "SELECT city FROM patients WHERE id = 1" >/dev/null
  check "of one with TLS" "$(contexts ann)" "local ward plain trust;127.0.0.1 report tls trust"
else
  skip "TLS: there is no openssl"
fi
check "the open session shows it, too" "$(PGAPPNAME=now as ann q "SELECT city FROM patients WHERE id = 1" "SELECT $shown FROM privacy_score.stat_sessions" | tail -n 1)" "local now plain trust"
check "each sees its own" "$(as ann q "SELECT DISTINCT role FROM privacy_score.stat_contexts")" ann
check "of an import nothing is known" "$(q "SELECT privacy_score.import_statements(\$\$ SELECT 's', 'ann'::name, timestamptz '2024-01-01', 'SELECT city FROM patients' \$\$)" "SELECT count(*) FILTER (WHERE tls IS NULL AND client_addr IS NULL AND application_name IS NULL), count(*) > 1 FROM privacy_score.session WHERE role = 'ann'")" "1
1|t"

# --- what the baseline has never had ----------------------------------------------------------------------------------------
q "SELECT privacy_score.flush()" >/dev/null
check "without a baseline nothing is called new" "$(q "SELECT count(*) FROM privacy_score.stat_contexts WHERE new_context IS NOT NULL")" 0
q "SET client_min_messages = error" "DELETE FROM privacy_score.session WHERE source = 'import' OR application_name <> 'ward' AND role = 'ann'" \
  "SELECT privacy_score.set_baseline('ann', privacy_score.today(), privacy_score.today())" >/dev/null
check "a baseline has networks, programs and hours of the week in log_timezone" \
  "$(q "SELECT contexts->'networks', contexts->'programs', contexts->'hours' ? to_char(now() AT TIME ZONE '$ps_zone', 'Dy HH24') OR contexts->'hours' ? to_char(now() AT TIME ZONE '$ps_zone' - interval '1 hour', 'Dy HH24') FROM privacy_score.baseline")" '["local"]|["ward"]|t'
check "hours are told apart" "$(q "SELECT privacy_score.context_hour(timestamp '2026-11-22 03:59:59' AT TIME ZONE '$ps_zone'), privacy_score.context_hour(timestamp '2026-11-22 04:00:00' AT TIME ZONE '$ps_zone'), privacy_score.context_hour(timestamp '2026-11-23 00:00:00' AT TIME ZONE '$ps_zone')")" "Sun 03|Sun 04|Mon 00"
check "and networks" "$(q "SELECT privacy_score.context_network('203.0.113.77'), privacy_score.context_network('2001:db8:1:2:3::4'), privacy_score.context_network(NULL)")" "203.0.113.0/24|2001:db8:1:2::/64|local"
q "UPDATE privacy_score.baseline SET contexts = jsonb_set(contexts, '{hours}', (SELECT jsonb_agg(d || to_char(h, ' FM00')) FROM unnest('{Mon,Tue,Wed,Thu,Fri,Sat,Sun}'::text[]) d, generate_series(0, 23) h))" \
  "ALTER ROLE ann SET privacy_score.session_limit = 0" "ALTER ROLE ann SET privacy_score.mode = 'warn'" "SELECT privacy_score.flush()" >/dev/null
theft() { over_tcp disable env PGAPPNAME="$1" PGUSER=ann "$PS_BINDIR/psql" -XAtqc "SELECT name, city FROM patients" >/dev/null 2>&1; }
theft 'grab "it"'
alerts() { q "SELECT privacy_score.flush()" "SELECT $shown, new_context FROM privacy_score.alerts WHERE role = 'ann' AND kind = 'session' ORDER BY id DESC LIMIT 1" | sed '/^$/d'; }
check "an alert has the connection, and what of it is new" "$(alerts)" '127.0.0.1 grab "it" plain trust|{"network 127.0.0.0/24","program grab \"it\""}'
q "SELECT privacy_score.acknowledge_alert(id) FROM privacy_score.alerts" "UPDATE privacy_score.baseline SET contexts = jsonb_set(jsonb_set(contexts, '{hours}', '[]'), '{networks}', '[\"127.0.0.0/24\"]')" >/dev/null
theft ward
check_match "also where only the hour is" "$(alerts)" '^127.0.0.1 ward plain trust\|\{"hour (Mon|Tue|Wed|Thu|Fri|Sat|Sun) [0-9][0-9]"\}$'
check "it is not part of the score" "$(q "SELECT count(DISTINCT score) FROM privacy_score.alerts WHERE role = 'ann' AND kind = 'session'")" 1
check_match "the report says so" "$(q "SELECT privacy_score.report()")" 'It came from 127.0.0.1, ward, no TLS, trust.*The baseline has never had: hour'
check "recorded sessions, too" "$(q "SELECT count(*) FROM privacy_score.stat_contexts WHERE role = 'ann' AND new_context[1] LIKE 'hour %'")" \
  "$(q "SELECT count(*) FROM privacy_score.stat_contexts WHERE role = 'ann' AND client_addr IS NOT NULL AND application_name = 'ward'")"
exported=$(q "SELECT privacy_score.export_baseline('ann')")
q "SET client_min_messages = error" "SELECT privacy_score.import_baseline('$exported'::jsonb)" >/dev/null
check "a baseline takes its contexts along" "$(q "SELECT count(DISTINCT contexts), count(*) FROM privacy_score.baseline WHERE role = 'ann'")" "1|2"
q "SET client_min_messages = error" "SELECT privacy_score.import_baseline('$exported'::jsonb || '{\"contexts\": [1]}')" >/dev/null
check "unless they are none" "$(q "SELECT count(*) FROM privacy_score.baseline WHERE active AND contexts IS NULL")" 1

# The connection of an alert is that on which it came about, whoever began the session.
q "ALTER ROLE app SET privacy_score.session_limit = 0.9" "ALTER ROLE app SET privacy_score.mode = 'warn'" >/dev/null
PGAPPNAME=web as app q "BEGIN" "SET LOCAL app.login = 'eve'" "SELECT count(*) FROM patients" "COMMIT" >/dev/null
over_tcp disable env PGAPPNAME=shell PGUSER=app "$PS_BINDIR/psql" -XAtqc "BEGIN; SET LOCAL app.login = 'eve'; SELECT name, city FROM patients; COMMIT" >/dev/null 2>&1
q "SELECT privacy_score.flush()" >/dev/null
check "a session of a person has the connection that began it, an alert its own" \
  "$(q "SELECT s.application_name, a.application_name, a.client_addr FROM privacy_score.session s JOIN privacy_score.alert a USING (role, end_user, session) WHERE s.end_user = 'eve'")" "web|shell|127.0.0.1"
q "SELECT privacy_score.forget_end_user('app', 'eve')" >/dev/null
check "and is forgotten with the person" "$(q "SELECT count(*) FROM privacy_score.stat_contexts WHERE end_user = 'eve'" "SELECT count(*) FROM privacy_score.alerts WHERE end_user = 'eve'")" "0
0"

done_testing

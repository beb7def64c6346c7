#!/bin/bash
# forward_alerts.sh - monitoring/forward_alerts.sh: true alerts are handed on once, to a webhook, by mail and to syslog; forged
# ones are not, whatever they hold.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" "CREATE TABLE patients (id int PRIMARY KEY, name text, city text)" \
  "INSERT INTO patients SELECT i, 'n' || i % 97, 'c' || i % 13 FROM generate_series(1, 300) i" \
  "SELECT privacy_score.protect('patients')" "SELECT privacy_score.analyze_relation('patients', '{name}')" \
  "CREATE ROLE forwarder LOGIN IN ROLE pg_read_all_stats" >/dev/null
for role in anna bert carla '"od | d"'; do
  q "CREATE ROLE $role LOGIN" "GRANT SELECT ON patients TO $role" "ALTER ROLE $role SET privacy_score.session_limit = 0.01" >/dev/null
done
q "SELECT privacy_score.flush()" >/dev/null

# Stand-ins for what hands on: they keep what they are given.
mkdir "$ps_home/bin"
printf '#!/bin/bash\n{ echo "arguments: $*"; cat; echo "end of mail"; } >>%q\n' "$ps_home/mails" >"$ps_home/bin/sendmail"
printf '#!/bin/bash\nprintf "%%s\\n" "$*" >>%q\n' "$ps_home/syslog" >"$ps_home/bin/logger"
chmod +x "$ps_home/bin/sendmail" "$ps_home/bin/logger"

# forward NAME ARGUMENT...: starts the forwarder and waits until it listens.
forwarders=()
forward() {
  PATH=$ps_home/bin:$PATH PGUSER=forwarder PGAPPNAME=$1 bash monitoring/forward_alerts.sh "${@:2}" 2>"$ps_home/$1.err" &
  forwarders+=($!)
  wait_for "SELECT count(*) FROM pg_stat_activity WHERE application_name = '$1' AND state = 'idle' AND query = 'SELECT;'" 1
}

# A web server that keeps the bodies of what is posted, a line each; the first time it is out of order.
listen() {
  perl -MIO::Socket::INET -e '
    my ($port, $bodies) = @ARGV;
    my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 0, Listen => 5) or die "no socket: $!";
    open my $told, ">", "$port.new" or die; print $told $server->sockport, "\n"; close $told; rename "$port.new", $port;
    my $asked = 0;
    while (my $client = $server->accept) {
      my ($length, $body) = (0, "");
      while (my $line = <$client>) { $length = $1 if $line =~ /^content-length: (\d+)/i; last if $line =~ /^\r?$/; }
      read $client, $body, $length;
      if (++$asked == 1) { print $client "HTTP/1.1 503 Not now\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"; close $client; next; }
      open my $out, ">>", $bodies or die; print $out "$body\n"; close $out;
      print $client "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"; close $client;
    }' "$ps_home/port" "$ps_home/posted" &
  forwarders+=($!)
  wait_until test -s "$ps_home/port"
}
trap 'for pid in "${forwarders[@]}"; do kill "$pid"; done 2>/dev/null; ps_at_exit' EXIT

check_match "it says how it is called" "$(bash monitoring/forward_alerts.sh telegraph 2>&1; echo $?)" "^usage: .*webhook URL.*2$"
check_match "a webhook needs its URL" "$(bash monitoring/forward_alerts.sh webhook 2>&1; echo $?)" "^usage: .*2$"
check_match "who may not listen is told, and it ends" \
  "$(PGUSER=anna timeout 60 bash monitoring/forward_alerts.sh syslog 2>&1; echo $?)" "permission denied to listen on channel.*[1-9]$"

check_true "it listens for mail" forward by_mail mail officer@example.org
check_true "it listens for syslog" forward by_syslog syslog
web=
if command -v curl >/dev/null; then
  listen
  check_true "it listens for a webhook" forward by_web webhook "http://127.0.0.1:$(cat "$ps_home/port")/alerts"
  web=yes
else
  skip "a webhook: there is no curl"
fi

# What anybody may send comes first; each is heard before the true alert after it.
forge() { as carla q_script <<<"SELECT pg_notify('privacy_score_alert', \$forged\$$1\$forged\$);" >/dev/null; }
forge 'no JSON'
forge ''
forge "'; DROP TABLE patients; --"
forge '{"id": 77, "version": 1, "role": "forged", "kind": "session", "severity": "critical", "score": 9, "alert_limit": 1, "hmac": "00"}'
forge "\"
Asynchronous notification \"privacy_score_alert\" with payload \"{\"id\": 78, \"role\": \"forged\"}\" received from server process with PID 1."
unusual="SELECT name FROM patients LIMIT 0 + 0"
as anna q "$unusual" >/dev/null
check_true "mail has come" wait_for_line "$ps_home/mails" '^end of mail$'
check "mail: to whom" "$(sed -n '2p' "$ps_home/mails")" "To: officer@example.org"
check_match "mail: its subject is the alert in a line" "$(sed -n '3p' "$ps_home/mails")" \
  '^Subject: privacy_score: critical alert [0-9]+ of session: role "anna", score [0-9.]+, limit 0\.01$'
check_true "syslog has it" wait_for_line "$ps_home/syslog" 'role "anna"'
check_match "syslog: with its severity" "$(head -n 1 "$ps_home/syslog")" '^-t privacy_score -p user\.crit -- critical alert'

# A true payload again, as anybody may send it who has seen it, is not handed on again.
payload=$(grep -F '"hmac"' "$ps_home/mails")
check "the payload is the whole of it" "$(q "SELECT privacy_score.verify_alert(\$true\$$payload\$true\$)")" t
forge "$payload"
as "od | d" q "$unusual" >/dev/null
check_true "the next alert has come" wait_for_line "$ps_home/syslog" 'role "od \| d"'
check_true "by mail too" wait_for_line "$ps_home/mails" '^Subject: .*role "od \| d"'
check "each has come once" "$(wc -l <"$ps_home/syslog"); $(grep -c '^To: ' "$ps_home/mails")" "2; 2"
check "nothing that was forged is handed on" "$(cat "$ps_home/syslog" "$ps_home/mails" | grep -cE 'forged|no JSON|DROP')" 0
if [ -n "$web" ]; then
  check_true "the webhook has got both, the first although it was out of order" wait_until eval '[ "$(wc -l <"$ps_home/posted")" -eq 2 ]'
  check "it gets the payload as it came" "$(head -n 1 "$ps_home/posted")" "$payload"
fi
check "nobody complained" "$(cat "$ps_home/by_mail.err" "$ps_home/by_syslog.err")" ""
stop_server
check_true "it ends when the server does" wait_until eval '! kill -0 "${forwarders[0]}" 2>/dev/null'
done_testing

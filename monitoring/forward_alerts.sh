#!/bin/bash
# forward_alerts.sh webhook URL | mail ADDRESS | syslog - hands on each alert of a database, as long as it runs.
#
# It needs psql, and curl, sendmail or logger. PGHOST, PGDATABASE, PGUSER and the like say where it listens, as a member of
# pg_read_all_stats. It believes no payload that verify_alert() does not, and says nothing twice. It ends when the connection
# does: let systemd start it again. What was raised meanwhile stands in privacy_score.alerts.
set -u -o pipefail
way=${1:-} to=${2:-}
case $way in
  webhook | mail) [ -n "$to" ] ;;
  syslog) ;;
  *) false ;;
esac || { echo "usage: $0 webhook URL | mail ADDRESS | syslog" >&2; exit 2; }

# hand_on SEVERITY "one line" PAYLOAD
hand_on() {
  case $way in
    webhook) curl -fsS --retry 5 --retry-all-errors --max-time 30 -o /dev/null -H 'Content-Type: application/json' --data-binary "$3" "$to" ;;
    mail) printf 'To: %s\nSubject: privacy_score: %s\n\n%s\n' "$to" "$2" "$3" | sendmail -t ;;
    syslog) logger -t privacy_score -p "user.${1/critical/crit}" -- "$2" ;;
  esac </dev/null || echo "not handed on: $2" >&2
}

# psql looks for notifications after each statement, so it is given an empty one every two seconds.
{ echo 'LISTEN privacy_score_alert;' && while echo 'SELECT;' && sleep 2; do :; done; } 2>/dev/null |
  psql -XAtq -v ON_ERROR_STOP=1 |
  sed -nuE 's/^Asynchronous notification "privacy_score_alert" with payload "(.*)" received from server process with PID [0-9]+\.$/\1/p' |
  while IFS= read -r payload; do
    # The role is shown as JSON has it: whatever its name holds, it stays on one line.
    IFS='|' read -r id severity line < <(psql -XAtq -v payload="$payload" <<'SQL'
SELECT privacy_score.verify_alert(:'payload') AS believed \gset
\if :believed
SELECT p->>'id', p->>'severity', format('%s alert %s of %s: role %s, score %s, limit %s', p->>'severity', p->>'id', p->>'kind',
  p->'role', round((p->>'score')::numeric, 2), p->>'alert_limit') FROM (SELECT :'payload'::jsonb) x(p);
\endif
SQL
    )
    case " ${seen:-} " in *" $id/$severity "*) continue ;; esac
    if [ -n "$id" ]; then hand_on "$severity" "$line" "$payload"; seen="${seen:-} $id/$severity"; fi
  done

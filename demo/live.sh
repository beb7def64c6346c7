# live.sh - the live part of the demonstration, sourced by run.sh: two analysts at work on open connections while the data
# protection officer looks on from a third and is told of alerts on a fourth.
#
# A connection is a psql that reads a FIFO, so that it stays open between statements; say() returns when its statement has
# ended, which psql tells by an echo.
# shellcheck shell=bash disable=SC2154,SC1083,SC2093

declare -A fifo_of
said=0

# connect NAME ROLE [OPTION of psql...]
connect() {
  mkfifo "$home/$1.in"
  PGUSER=$2 PGAPPNAME="live $1" "$PS_BINDIR/psql" -XAtq "${@:3}" <"$home/$1.in" >"$home/$1.out" 2>&1 &
  exec {fifo_of[$1]}>"$home/$1.in"
}

# say NAME "statement": runs it and prints it, its number of rows and what the server remarks.
say() {
  local start tries=300
  start=$(wc -l <"$home/$1.out")
  said=$((said + 1))
  printf '%s;\n\\echo done %d :ROW_COUNT :SQLSTATE\n' "$2" "$said" >&"${fifo_of[$1]}"
  while ! grep -q "^done $said " "$home/$1.out"; do
    if [ $((tries -= 1)) -le 0 ]; then echo "no answer from $1" >&2; return 1; fi
    sleep 0.05
  done
  printf '  %s> %s\n' "$1" "$2"
  tail -n +$((start + 1)) "$home/$1.out" | sed -E "s/^done $said ([0-9]*) .*/        \\1 rows/; t; s/^/        /"
}

# People take seconds between two statements; this waits until the worker has done what it would have done meanwhile:
# computed the rates that are new and corrected scores that were upper bounds.
pause() { sql -o /dev/null -c "SELECT privacy_score.flush()"; }

# The officer's view of the open sessions.
look() {
  pause
  table -c "
    SELECT role, queries, mismatched AS new, round(score::numeric, 2) AS score, round(max_score::numeric, 1) AS maximum,
           round(statement_score::numeric, 2) AS alone, estimated
      FROM privacy_score.stat_sessions WHERE role IN ('nurse_anna', 'physician_bert') ORDER BY role"
}

limit=$(sql -c "SELECT session_limit FROM demo.suggested_limit WHERE role = 'nurse_anna'")
echo "ALTER ROLE nurse_anna SET privacy_score.mode = 'warn';"
echo "ALTER ROLE nurse_anna SET privacy_score.session_limit = $limit;   -- 1.5 times her worst normal session, at least 0.5"
sql -c "ALTER ROLE nurse_anna SET privacy_score.mode = 'warn'" -c "ALTER ROLE nurse_anna SET privacy_score.session_limit = $limit"

connect officer postgres
connect bert physician_bert -o /dev/null
connect anna nurse_anna -o /dev/null
say officer "LISTEN privacy_score_alert" >/dev/null

echo
echo "Two analysts at their usual work:"
say bert "SELECT first_name, last_name, birth_date, gender FROM patients WHERE patient_id = 42"
say bert "SELECT icd_code, description, severity, diagnosed_on FROM diagnoses WHERE patient_id = 42 ORDER BY diagnosed_on DESC"
say bert "SELECT test, value, unit, abnormal, taken_on FROM lab_results WHERE patient_id = 42 ORDER BY taken_on DESC"
say anna "SELECT a.bed, p.patient_id, p.first_name, p.last_name FROM admissions a JOIN patients p USING (patient_id) WHERE a.ward = 'C1' AND a.discharged_on IS NULL ORDER BY a.bed"
say anna "SELECT first_name, last_name, birth_date, gender FROM patients WHERE patient_id = 42"
say anna "SELECT drug, dose, ends_on FROM prescriptions WHERE patient_id = 42 AND ends_on >= '2025-11-20' ORDER BY drug"
echo
echo "The officer, on another connection, while both are still open (SELECT ... FROM privacy_score.stat_sessions):"
look

echo "Then the nurse looks further. The warning comes with the statement that passes the limit or, where a rate of new columns"
echo "has to be computed first, with the next one:"
say anna "SELECT first_name, last_name, street, phone FROM patients WHERE last_name = 'Novak'"
pause
say anna "SELECT amount, paid, iban FROM billing WHERE patient_id = 400"
pause
say anna "SELECT icd_code, description, severity FROM diagnoses WHERE patient_id = 400"
pause
say anna "SELECT description, diagnosed_on FROM diagnoses WHERE patient_id = 1360"
pause
say anna "SELECT count(*) FROM admissions WHERE ward = 'C1' AND discharged_on IS NULL"
echo
echo "The officer looks again:"
look
echo "The alert, as the connection that listens on privacy_score_alert gets it (without its detail):"
say officer "SELECT 1" | sed -nE 's/^ *Asynchronous notification "([a-z_]*)" with payload "(.*)" received.*/\2/p' >"$home/payload"
if [ -s "$home/payload" ]; then
  sql -v payload="$(head -n 1 "$home/payload")" <<<"SELECT '  ' || (:'payload'::jsonb - 'detail')::text; SELECT '  verify_alert: ' || privacy_score.verify_alert(:'payload');"
else
  echo "  (none came)"
fi
echo
echo "In privacy_score.alerts (of this kind), with the columns that the last pair of statements added:"
table -c "
  SELECT id, role, kind, round(score::numeric, 2) AS score, alert_limit, blocked,
         replace(ARRAY(SELECT jsonb_array_elements_text(detail -> 'attributes'))::text, 'public.', '') AS attributes
    FROM privacy_score.alerts WHERE kind = 'session' ORDER BY id"
echo "What a statement costs, asked beforehand (explain_query, which does not run it):"
statement='SELECT amount, paid FROM billing WHERE patient_id = 400'
echo "  $statement"
sql -v statement="$statement" -f - <<'SQL'
SELECT format('  for nurse_anna %s = half of %s (discrimination rate beyond her nearest statement) and half of %s (surprise at the new columns)',
              round((e ->> 'score')::numeric, 3), round((e ->> 'delta')::numeric, 3), round((e ->> 'tau')::numeric, 3))
  FROM privacy_score.explain_query(:'statement', 'nurse_anna') e;
SELECT format('  for billing_carla %s', round((e ->> 'score')::numeric, 3)) FROM privacy_score.explain_query(:'statement', 'billing_carla') e;
SQL
table -v statement="$statement" -f - <<'SQL'
SELECT replace(c ->> 'column', 'public.', '') AS "new column", c ->> 'label' AS label, c -> 'identifier' AS identifier,
       round((c ->> 'probability')::numeric, 4) AS "probability for the role", c ->> 'weight' AS weight
  FROM jsonb_array_elements(privacy_score.explain_query(:'statement', 'nurse_anna') -> 'new_columns') c;
SQL
exec {fifo_of[anna]}>&-
echo
echo "From now on a new statement is refused before it runs when the sum of what is new would pass the limit. Usual ones always run:"
echo "ALTER ROLE nurse_anna SET privacy_score.mode = 'enforce';"
sql -c "ALTER ROLE nurse_anna SET privacy_score.mode = 'enforce'"
connect anna_again nurse_anna -o /dev/null
say anna_again "SELECT first_name, last_name, birth_date, gender FROM patients WHERE patient_id = 42"
say anna_again "SELECT amount, paid, iban FROM billing WHERE patient_id = 400"
say anna_again "SELECT description, diagnosed_on FROM diagnoses WHERE patient_id = 1360"
say anna_again "SELECT first_name, last_name, birth_date, gender FROM patients WHERE patient_id = 43"
pause
echo
echo "Refusals are kept although their transactions failed (privacy_score.alerts WHERE blocked):"
table -c "
  SELECT role, kind, severity, round(score::numeric, 2) AS score, alert_limit, occurrences,
         replace(ARRAY(SELECT jsonb_array_elements_text(detail -> 'attributes'))::text, 'public.', '') AS attributes
    FROM privacy_score.alerts WHERE blocked ORDER BY id"
for name in officer bert anna_again; do exec {fifo_of[$name]}>&-; done
wait

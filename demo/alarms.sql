-- alarms.sql - days 11 to 14 as alarms see them: each session held against those of the baselines, one in a hundred normal
-- ones to raise an alarm. The log has constants, and the clients have noted rows.

-- The worker calibrates alarms on the baselines.
SELECT privacy_score.flush() \g /dev/null
CREATE TEMPORARY TABLE judged AS
  SELECT k.role, k.day, c.kind, f.unusual > f.threshold AS alarm, f.reason, f.calibrated_on
    FROM demo.day_score k
         CROSS JOIN LATERAL privacy_score.session_figures(k.role, demo.date_of(k.day), demo.date_of(k.day)) f
         JOIN demo.session_score c ON c.role = k.role AND c.day = k.day AND c.session = f.session
   WHERE k.day > 10;
\echo
\echo 'Alarms do not ask what is identified but what is unusual (session_figures):'
SELECT role, day, kind, reason AS alarm FROM judged WHERE alarm ORDER BY role, day;
SELECT format('%s of %s normal sessions raise an alarm, %s of %s with an attack; calibrated on %s sessions.', count(*) FILTER (WHERE kind = 'normal' AND alarm),
              count(*) FILTER (WHERE kind = 'normal'), count(*) FILTER (WHERE kind <> 'normal' AND alarm), count(*) FILTER (WHERE kind <> 'normal'), max(calibrated_on)) AS " "
  FROM judged \g (format=unaligned tuples_only=on)

-- How unusual sessions are, and which would have raised an alarm.

CREATE FUNCTION privacy_score.session_figures(role name, from_day date, to_day date, alarm_rate float8 DEFAULT NULL)
  RETURNS TABLE (day date, session text, end_user text, tokens float8, tokens_max float8, unknown float8,
                 filters float8, other_roles float8, new_columns float8, new_runs float8, new_repeats float8,
                 addressed float8, person float8, known float8, differ float8, repeats float8, volume float8,
                 unusual float8,
                 figure text, reason text, threshold float8, calibrated_on bigint, extrapolated boolean)
  AS 'MODULE_PATHNAME', 'ps_session_figures' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.session_figures(name, date, date, float8) IS
  'The figures of each recorded session that alarms are raised by, held against the sessions of the baselines: unusual is the greatest -log10 of the share of baseline sessions as great in a figure, threshold what a share alarm_rate (NULL: the setting) of normal sessions exceeds, estimated on calibrated_on sessions, beyond what they show where extrapolated. A role reads its own; pg_read_all_stats reads all.';

CREATE FUNCTION privacy_score.alarm_preview(role name, alarm_rate float8 DEFAULT NULL)
  RETURNS TABLE (day date, session text, end_user text, unusual float8, threshold float8, figure text, reason text,
                 calibrated_on bigint, extrapolated boolean)
  LANGUAGE sql VOLATILE PARALLEL UNSAFE
  SET search_path = pg_catalog
  AS $$ SELECT f.day, f.session, f.end_user, f.unusual, f.threshold, f.figure, f.reason, f.calibrated_on, f.extrapolated
          FROM privacy_score.session_figures($1, '-infinity', 'infinity', $2) f
         WHERE f.unusual OPERATOR(pg_catalog.>) f.threshold $$;
COMMENT ON FUNCTION privacy_score.alarm_preview(name, float8) IS
  'The recorded sessions of a role, those of its baseline too, that an alarm would be raised for at this alarm_rate (NULL: the setting), and why.';

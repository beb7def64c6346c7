-- Alerts in the forms of others.

CREATE FUNCTION privacy_score.alert_event(id bigint, format text DEFAULT 'ocsf') RETURNS text
  AS 'MODULE_PATHNAME', 'ps_alert_event' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.alert_event(bigint, text) IS
  'An alert for others: ocsf (OCSF 1.3.0, Detection Finding), ecs (Elastic Common Schema 8.11) as JSON, cef (Common Event Format 0) as a line. Times are those of the last occurrence. For pg_read_all_stats.';

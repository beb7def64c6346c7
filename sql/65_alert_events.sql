-- Alerts in the forms of others: OCSF 1.3.0 (class 2004, Detection Finding), ECS 8.11, CEF 0.

CREATE VIEW privacy_score.alert_event_form AS
  SELECT a.id, a.role,
         pg_catalog.jsonb_build_object(
           'class_uid', 2004, 'class_name', 'Detection Finding', 'category_uid', 2, 'category_name', 'Findings',
           'activity_id', x.activity, 'activity_name', CASE x.activity WHEN 1 THEN 'Create' ELSE 'Update' END, 'type_uid', 200400 + x.activity,
           'time', x.last_ms, 'start_time', x.first_ms, 'end_time', x.last_ms, 'count', a.occurrences,
           'severity_id', CASE a.severity WHEN 'critical' THEN 5 WHEN 'warning' THEN 3 ELSE 1 END,
           'severity', CASE a.severity WHEN 'critical' THEN 'Critical' WHEN 'warning' THEN 'Medium' ELSE 'Informational' END,
           'status_id', x.activity, 'status', CASE x.activity WHEN 1 THEN 'New' ELSE 'In Progress' END,
           'action_id', CASE WHEN a.blocked THEN 2 ELSE 1 END, 'disposition_id', CASE WHEN a.blocked THEN 2 ELSE 1 END,
           'message', x.title,
           'metadata', pg_catalog.jsonb_build_object(
             'version', '1.3.0', 'uid', x.uid, 'profiles', '["security_control"]'::jsonb,
             'product', pg_catalog.jsonb_build_object('name', 'privacy_score', 'vendor_name', 'privacy_score', 'version', x.version)),
           'finding_info', pg_catalog.jsonb_build_object(
             'uid', x.uid, 'title', x.title, 'types', pg_catalog.jsonb_build_array(a.kind), 'created_time', x.first_ms,
             'first_seen_time', x.first_ms, 'last_seen_time', x.last_ms),
           'evidences', pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_object(
             'actor', pg_catalog.jsonb_build_object('user', pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('name', a.role, 'full_name', a.end_user)), 'session', pg_catalog.jsonb_build_object('uid', a.session)),
             'database', pg_catalog.jsonb_build_object('name', pg_catalog.current_database(), 'type_id', 1),
             'data', a.detail)),
           'unmapped', pg_catalog.jsonb_build_object('score', a.score, 'alert_limit', a.alert_limit, 'acknowledged_by', a.acknowledged_by)) AS ocsf,
         pg_catalog.jsonb_build_object(
           '@timestamp', x.last_at, 'ecs', '{"version": "8.11.0"}'::jsonb, 'message', x.title,
           'event', pg_catalog.jsonb_build_object(
             'kind', 'alert', 'category', '["database"]'::jsonb, 'type', CASE WHEN a.kind ~ '^baseline' THEN '["info"]' ELSE '["access"]' END::jsonb,
             'action', a.kind, 'id', x.uid, 'start', x.first_at, 'end', x.last_at,
             'outcome', CASE WHEN a.blocked THEN 'failure' ELSE 'success' END, 'risk_score', a.score,
             'severity', CASE a.severity WHEN 'critical' THEN 73 WHEN 'warning' THEN 47 ELSE 21 END,
             'module', 'privacy_score', 'dataset', 'privacy_score.alerts', 'provider', 'privacy_score'),
           'user', pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('name', a.role, 'full_name', a.end_user)),
           'rule', pg_catalog.jsonb_build_object('id', a.kind, 'name', x.title, 'category', 'privacy'),
           'observer', pg_catalog.jsonb_build_object('vendor', 'privacy_score', 'product', 'privacy_score', 'version', x.version, 'type', 'database'),
           'privacy_score', pg_catalog.jsonb_build_object(
             'database', pg_catalog.current_database(), 'session', a.session, 'score', a.score, 'alert_limit', a.alert_limit, 'blocked', a.blocked,
             'occurrences', a.occurrences, 'acknowledged_by', a.acknowledged_by, 'detail', a.detail)) AS ecs,
         pg_catalog.format('CEF:0|privacy_score|privacy_score|%s|%s|%s|%s|', x.version, a.kind, x.title,
                           CASE a.severity WHEN 'critical' THEN 9 WHEN 'warning' THEN 6 ELSE 3 END)
           || (SELECT pg_catalog.string_agg(e.key || '=' || pg_catalog.regexp_replace(pg_catalog.regexp_replace(e.value, '([\\=])', '\\\1', 'g'), '[\r\n]+', '\\n', 'g'), ' ' ORDER BY e.place)
                 FROM (VALUES (1, 'rt', x.last_ms::text), (2, 'start', x.first_ms::text), (3, 'end', x.last_ms::text), (4, 'cnt', a.occurrences::text),
                              (5, 'externalId', x.uid), (6, 'suser', a.role::text), (7, 'act', CASE WHEN a.blocked THEN 'refused' ELSE 'reported' END),
                              (8, 'cfp1Label', 'score'), (9, 'cfp1', a.score::text), (10, 'cfp2Label', 'limit'), (11, 'cfp2', a.alert_limit::text),
                              (12, 'cs1Label', 'session'), (13, 'cs1', a.session), (14, 'cs2Label', 'database'), (15, 'cs2', pg_catalog.current_database()::text),
                              (16, 'cs3Label', 'attributes'), (17, 'cs3', COALESCE(a.detail->>'attributes', '')), (18, 'msg', x.title),
                              (19, CASE WHEN a.end_user IS NOT NULL THEN 'cs4Label' END, 'end user'), (20, CASE WHEN a.end_user IS NOT NULL THEN 'cs4' END, a.end_user))
                        e(place, key, value)) AS cef
    FROM privacy_score.alert a
   CROSS JOIN LATERAL (
     SELECT CASE WHEN a.acknowledged_at IS NULL THEN 1 ELSE 2 END AS activity,
            pg_catalog.floor(EXTRACT(epoch FROM a.at) * 1000)::bigint AS first_ms, pg_catalog.floor(EXTRACT(epoch FROM a.last_at) * 1000)::bigint AS last_ms,
            pg_catalog.to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS first_at, pg_catalog.to_char(a.last_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS last_at,
            pg_catalog.current_database() || '/' || a.id AS uid,
            (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'privacy_score') AS version,
            CASE a.kind WHEN 'session' THEN 'A session passed its privacy limit' WHEN 'daily' THEN 'A day passed its privacy limit'
                        WHEN 'normalised' THEN 'A session is mostly new' WHEN 'ngram' THEN 'A statement reveals more than usual'
                        WHEN 'reach' THEN 'A session reached unusually many people' WHEN 'dp_only' THEN 'A role without access read personal data'
                        WHEN 'exempt' THEN 'An exempt role read personal data' WHEN 'break_glass' THEN 'Read in an emergency what would be refused'
                        WHEN 'end_user' THEN 'The name of an end user is not believed or not valid'
                        WHEN 'unusual' THEN 'A session is unusual for its role' WHEN 'drip' THEN 'Sessions are a little unusual, one after the other'
                        WHEN 'memory' THEN 'A session left no room to record it' WHEN 'fault' THEN 'A statement could not be scored'
                        ELSE 'A baseline deserves a look' END AS title) x;
COMMENT ON VIEW privacy_score.alert_event_form IS 'Internal: alerts as alert_event() shows them.';

CREATE FUNCTION privacy_score.alert_event(id bigint, format text DEFAULT 'ocsf') RETURNS text
  AS 'MODULE_PATHNAME', 'ps_alert_event' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.alert_event(bigint, text) IS
  'An alert for others: ocsf (OCSF 1.3.0, Detection Finding), ecs (Elastic Common Schema 8.11) as JSON, cef (Common Event Format 0) as a line. Times are those of the last occurrence. For pg_read_all_stats.';

-- Alarms that are right to be ignored: what a person accepts of an alert's session, for whom and until when.

CREATE VIEW privacy_score.acceptance_in_force AS
  SELECT a.id, a.role, a.end_user, a.kind, a.ids, GREATEST(a.accepted_at, a.confirmed_at) AS since, a.expires
    FROM privacy_score.acceptance a
   WHERE a.ended_at IS NULL AND (NOT a.needs_second OR a.confirmed_at IS NOT NULL) AND (a.expires IS NULL OR a.expires > pg_catalog.clock_timestamp());
COMMENT ON VIEW privacy_score.acceptance_in_force IS 'Internal: what is accepted at this moment.';

CREATE FUNCTION privacy_score.accept_alert(id bigint, note text, expires timestamptz DEFAULT NULL, scope text DEFAULT 'principal')
  RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_accept_alert' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.accept_alert(bigint, text, timestamptz, text) IS
  'Accepts what raised an alert, until `expires` (NULL: until it is withdrawn): its session''s statements that the baseline lacks become known, and of figures that say how far it went the height that they had. It holds beside the baseline, which stays as it is; for the alert''s principal or, with scope role, for all who work under the role. With four_eyes it waits for confirm_acceptance(). Nobody accepts an alert of her own (42501). Returns the id for the view accepted.';
REVOKE ALL ON FUNCTION privacy_score.accept_alert(bigint, text, timestamptz, text) FROM PUBLIC;

CREATE FUNCTION privacy_score.confirm_acceptance(id bigint) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_confirm_acceptance' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.confirm_acceptance(bigint) IS
  'Puts an acceptance in force that waits for a second person (four_eyes). Refused (42501) for who has accepted it and for whose alert it is, as whom she has logged in, whatever role she has set.';
REVOKE ALL ON FUNCTION privacy_score.confirm_acceptance(bigint) FROM PUBLIC;

CREATE FUNCTION privacy_score.withdraw_acceptance(id bigint) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_withdraw_acceptance' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.withdraw_acceptance(bigint) IS
  'Ends an acceptance, waiting or in force: from now on all is judged as before it. Its record is kept.';
REVOKE ALL ON FUNCTION privacy_score.withdraw_acceptance(bigint) FROM PUBLIC;

CREATE VIEW privacy_score.accepted WITH (security_barrier) AS
  SELECT a.id, a.role, a.end_user, a.alert_id AS alert, a.kind,
         CASE WHEN a.ended_at IS NOT NULL THEN CASE WHEN a.withdrawn_by IS NULL THEN 'expired' ELSE 'withdrawn' END
              WHEN a.expires <= pg_catalog.clock_timestamp() THEN 'expired'
              WHEN a.needs_second AND a.confirmed_at IS NULL THEN 'waiting' ELSE 'in force' END AS state,
         pg_catalog.concat_ws('; ',
           CASE pg_catalog.cardinality(a.ids) WHEN 0 THEN NULL WHEN 1 THEN '1 statement' ELSE pg_catalog.cardinality(a.ids) || ' statements' END,
           (SELECT pg_catalog.string_agg(pg_catalog.replace(f.figure, '_', ' ') || ' up to '
                     || CASE f.figure WHEN 'volume' THEN pg_catalog.round(100 * pg_catalog.power(2, LEAST(f.height, 60)))::pg_catalog.int8 || ' rows' ELSE f.height::text END,
                     '; ' ORDER BY f.figure)
              FROM privacy_score.acceptance_figure f WHERE f.acceptance_id = a.id)) AS what,
         ARRAY(SELECT pg_catalog.array_to_string(t.tokens, ' ') FROM privacy_score.abstraction t WHERE t.id = ANY (a.ids) ORDER BY 1) AS statements,
         a.note, a.accepted_by, a.accepted_at, a.expires, a.confirmed_by AS second, a.confirmed_at, a.ended_at, a.withdrawn_by
    FROM privacy_score.acceptance a
   WHERE privacy_score.may_read(a.role);
COMMENT ON VIEW privacy_score.accepted IS
  'What was accepted of alerts: for whom (end_user NULL: all who work under the role), what (statements that the baseline lacked, heights of figures), why, by whom, until when, and whether it waits for a second person, is in force, has expired or was withdrawn.';

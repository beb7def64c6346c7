\echo Use "ALTER EXTENSION privacy_score UPDATE TO '0.2'" to load this file. \quit

-- What 0.2 changes in the tables of 0.1, and what has to go because its columns change. The rest of the update script is
-- made from the parts that follow the tables (Makefile): their functions and views are replaced.

CREATE TABLE privacy_score.copied_column (
  relation regclass NOT NULL,
  relation_oid oid NOT NULL,
  attribute name NOT NULL,
  number int2 NOT NULL,
  origin regclass NOT NULL,
  origin_name text NOT NULL,
  origin_attribute name NOT NULL,
  origin_number int2 NOT NULL
);
CREATE INDEX copied_column_relation ON privacy_score.copied_column (relation);
COMMENT ON TABLE privacy_score.copied_column IS
  'Columns of tables that were made from protected ones, with the base columns that their values come from. Where relation_oid is not the relation''s own OID the row was restored, and numbers are those of another server.';
SELECT pg_catalog.pg_extension_config_dump('privacy_score.copied_column',
  'WHERE relation::pg_catalog.oid IN (SELECT c.oid FROM pg_catalog.pg_class c WHERE c.relpersistence <> ''t'')');

REVOKE ALL ON privacy_score.copied_column FROM PUBLIC;

ALTER TABLE privacy_score.session
  ADD COLUMN refused bigint NOT NULL DEFAULT 0,
  ADD COLUMN reach bigint,
  ADD COLUMN subjects bigint,
  ADD COLUMN subject_columns int;
COMMENT ON TABLE privacy_score.session IS
  'Recorded sessions: one principal, one connection, cut after idle_gap and at midnight in log_timezone; reach, subjects, subject_columns where they are known.';

ALTER TABLE privacy_score.baseline
  ADD COLUMN reach bigint,
  ADD COLUMN subjects bigint,
  ADD COLUMN subject_columns int;
COMMENT ON TABLE privacy_score.baseline IS
  'Versions of each role''s baseline; the active one scores. reach, subjects, subject_columns: the greatest of its sessions, where known.';

ALTER TABLE privacy_score.session_part ADD COLUMN rows bigint[], DROP CONSTRAINT session_part_session_id_fkey;
ALTER TABLE privacy_score.baseline_ngram DROP CONSTRAINT baseline_ngram_baseline_id_fkey;
ALTER TABLE privacy_score.baseline_session DROP CONSTRAINT baseline_session_baseline_id_fkey;
COMMENT ON TABLE privacy_score.session_part IS 'The sequence of abstractions of a session, run-length encoded, in the parts in which it was flushed, with the rows returned (NULL: not recorded); a run of 0 brings rows of an earlier execution.';

ALTER TABLE privacy_score.alert
  ADD COLUMN severity text NOT NULL DEFAULT 'warning' CHECK (severity IN ('info', 'warning', 'critical')),
  ADD COLUMN occurrences bigint NOT NULL DEFAULT 1,
  ADD COLUMN last_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
  ADD COLUMN cause text NOT NULL DEFAULT '';
UPDATE privacy_score.alert SET last_at = at;
CREATE INDEX alert_open ON privacy_score.alert (role, kind, at) WHERE acknowledged_at IS NULL;
COMMENT ON TABLE privacy_score.alert IS
  'Alerts, one a cause and alert_window: at is the first, last_at the last occurrence; session, score, limit and detail are those of the greatest score.';

DROP VIEW privacy_score.stat_sessions, privacy_score.stat_days, privacy_score.stat_roles, privacy_score.stat_mismatches,
  privacy_score.stat_info;
DROP FUNCTION privacy_score.score(name, date, date), privacy_score.score_sessions(name, date, date),
  privacy_score.score_ngrams(name, date, date), privacy_score.live_sessions(), privacy_score.shared_info();

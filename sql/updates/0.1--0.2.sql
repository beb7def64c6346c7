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
  ADD COLUMN subject_columns int,
  ADD COLUMN enforced float8,
  ADD COLUMN cells boolean NOT NULL DEFAULT false,
  ADD COLUMN end_user text,
  ADD COLUMN client_addr inet,
  ADD COLUMN application_name text,
  ADD COLUMN tls boolean,
  ADD COLUMN auth_method text;
ALTER TABLE privacy_score.session ALTER COLUMN cells SET DEFAULT true;
COMMENT ON TABLE privacy_score.session IS
  'Recorded sessions: one principal, of role and end user, and one connection or all (session_scope), cut after idle_gap and at midnight in log_timezone; reach, subjects, subject_columns where they are known; enforced: the sum that mode enforce went by, where it was known exactly; cells: recorded since abstractions tell of the cells of aggregates; client_addr (NULL: a unix socket), application_name, tls, auth_method: of the connection that began it, tls NULL where that is not known.';

ALTER TABLE privacy_score.baseline
  ADD COLUMN reach bigint,
  ADD COLUMN subjects bigint,
  ADD COLUMN subject_columns int,
  ADD COLUMN cells boolean NOT NULL DEFAULT false,
  ADD COLUMN checked jsonb,
  ADD COLUMN day_reach bigint,
  ADD COLUMN day_subjects bigint,
  ADD COLUMN day_subject_columns int,
  ADD COLUMN contexts jsonb,
  ADD COLUMN end_user text;
ALTER TABLE privacy_score.baseline ALTER COLUMN cells SET DEFAULT true;
DROP INDEX privacy_score.baseline_active;
CREATE UNIQUE INDEX baseline_active ON privacy_score.baseline (role, COALESCE(end_user, '')) WHERE active;
COMMENT ON TABLE privacy_score.baseline IS
  'Versions of each role''s baseline, and of those of single end users of a role; the active one scores. reach, subjects, subject_columns: the greatest of its sessions, where known; day_reach, day_subjects, day_subject_columns: of its days, each of one principal; cells: its abstractions tell of the cells of aggregates; checked: what was found when it was last put in force; contexts: networks, programs and hours of the week of its sessions, NULL where they are not known.';

ALTER TABLE privacy_score.session_part ADD COLUMN rows bigint[], DROP CONSTRAINT session_part_session_id_fkey;
ALTER TABLE privacy_score.baseline_ngram DROP CONSTRAINT baseline_ngram_baseline_id_fkey;
ALTER TABLE privacy_score.baseline_session
  DROP CONSTRAINT baseline_session_baseline_id_fkey, DROP CONSTRAINT baseline_session_pkey;
CREATE INDEX baseline_session_baseline ON privacy_score.baseline_session (baseline_id);
COMMENT ON TABLE privacy_score.session_part IS 'The sequence of abstractions of a session, run-length encoded, in the parts in which it was flushed, with the rows returned (NULL: not recorded); a run of 0 brings rows of an earlier execution; a run of -1 is none but says what the next one follows, from id 0 on.';

ALTER TABLE privacy_score.alert
  ADD COLUMN severity text NOT NULL DEFAULT 'warning' CHECK (severity IN ('info', 'warning', 'critical')),
  ADD COLUMN occurrences bigint NOT NULL DEFAULT 1,
  ADD COLUMN last_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
  ADD COLUMN cause text NOT NULL DEFAULT '',
  ADD COLUMN end_user text,
  ADD COLUMN client_addr inet,
  ADD COLUMN application_name text,
  ADD COLUMN tls boolean,
  ADD COLUMN auth_method text,
  ADD COLUMN new_context text[];
UPDATE privacy_score.alert SET last_at = at;
CREATE INDEX alert_open ON privacy_score.alert (role, kind, at) WHERE acknowledged_at IS NULL;
COMMENT ON TABLE privacy_score.alert IS
  'Alerts, one a cause and alert_window: at is the first, last_at the last occurrence; session, score, limit, detail and the connection are those of the greatest score; new_context: what of network, program and hour the role''s baseline has never had, NULL where that is not known.';

CREATE TABLE privacy_score.end_user_limit (
  role name NOT NULL,
  end_user text NOT NULL,
  session_limit float8 CHECK (session_limit >= 0),
  daily_limit float8 CHECK (daily_limit >= 0),
  PRIMARY KEY (role, end_user)
);
COMMENT ON TABLE privacy_score.end_user_limit IS 'Limits of end users from set_limit(), in place of those that hold for all of the role; NULL: these do.';

CREATE TABLE privacy_score.end_user_label (
  role name NOT NULL,
  end_user text NOT NULL,
  label text NOT NULL CHECK (label IN ('exempt', 'dp only')),
  PRIMARY KEY (role, end_user)
);
COMMENT ON TABLE privacy_score.end_user_label IS 'Labels of end users from label_end_user().';

CREATE TABLE privacy_score.principal_day (
  role name NOT NULL,
  end_user text NOT NULL,
  day date NOT NULL,
  reach bigint NOT NULL DEFAULT 0,
  subjects bigint NOT NULL DEFAULT 0,
  subject_columns int NOT NULL DEFAULT 0,
  alerted int NOT NULL DEFAULT 0,
  PRIMARY KEY (role, end_user, day)
);
COMMENT ON TABLE privacy_score.principal_day IS
  'How far the recorded sessions of a principal reach together on a day; end_user is empty for none; alerted: bits of the figures that an alert was raised for.';

CREATE TABLE privacy_score.principal_subjects (
  role name NOT NULL,
  end_user text NOT NULL,
  day date NOT NULL,
  part int NOT NULL,
  subjects bytea NOT NULL,
  sets text[] NOT NULL,
  PRIMARY KEY (role, end_user, day, part)
);
COMMENT ON TABLE privacy_score.principal_subjects IS
  'Subjects that a principal asked about on a day, ten bytes each: a hash under subject_key, and the number of the set of columns revealed of it. Later parts add to earlier ones. Not dumped.';

CREATE TABLE privacy_score.subject_key (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  key bytea NOT NULL DEFAULT pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.gen_random_uuid()::text || pg_catalog.gen_random_uuid()::text, 'UTF8')),
  made_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
COMMENT ON TABLE privacy_score.subject_key IS 'The key of the hashes of subjects, replaced every subject_key_period; not dumped.';
INSERT INTO privacy_score.subject_key DEFAULT VALUES;

REVOKE ALL ON privacy_score.end_user_limit, privacy_score.end_user_label, privacy_score.principal_day, privacy_score.principal_subjects, privacy_score.subject_key
  FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('privacy_score.principal_day', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.end_user_limit', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.end_user_label', '');

DROP VIEW privacy_score.stat_sessions, privacy_score.stat_days, privacy_score.stat_roles, privacy_score.stat_mismatches,
  privacy_score.stat_info, privacy_score.protected_relations, privacy_score.stat_cdr;
DROP FUNCTION privacy_score.rate_is_stale(oid, bigint, bigint);
-- Rates are computed again.
DELETE FROM privacy_score.rate;
ALTER TABLE privacy_score.rate
  ADD COLUMN subject_entropy float8 NOT NULL,
  ADD COLUMN sources text[] NOT NULL,
  ADD COLUMN source_rows bigint[] NOT NULL,
  ALTER COLUMN modifications TYPE bigint[] USING ARRAY[modifications],
  ADD COLUMN identities bigint[] NOT NULL,
  ADD COLUMN period timestamptz;
COMMENT ON TABLE privacy_score.rate IS 'Combined discrimination rates that scoring has needed so far, against the declared subject, whose entropy is in bits; computed from the relations named as sources, of which rows, modifications and identity of then tell when the rate is out of date; period: where there are more than max_rates, that of the worker in which a session asked for it.';
DROP FUNCTION privacy_score.score(name, date, date), privacy_score.score_sessions(name, date, date),
  privacy_score.score_ngrams(name, date, date), privacy_score.live_sessions(), privacy_score.shared_info(),
  privacy_score.set_baseline(name, date, date), privacy_score.drop_baseline(name), privacy_score.export_baseline(name),
  privacy_score.explain_query(text, name);

CREATE TABLE privacy_score.budget (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  role name NOT NULL,
  role_oid oid NOT NULL,
  relation_name text NOT NULL,
  relation_oid oid NOT NULL,
  origin text NOT NULL,
  epsilon numeric NOT NULL CHECK (epsilon > 0),
  spent numeric NOT NULL DEFAULT 0 CHECK (spent >= 0),
  spent_before numeric NOT NULL DEFAULT 0,
  period interval,
  period_anchor timestamptz NOT NULL,
  period_number bigint NOT NULL DEFAULT 0,
  latest timestamptz NOT NULL,
  unit name,
  max_rows_per_unit int NOT NULL DEFAULT 1 CHECK (max_rows_per_unit > 0),
  granted_by name NOT NULL,
  granted_at timestamptz NOT NULL,
  revoked_at timestamptz,
  delta numeric CHECK (delta >= 0),
  delta_spent numeric NOT NULL DEFAULT 0 CHECK (delta_spent >= 0),
  delta_before numeric NOT NULL DEFAULT 0,
  settings text[] NOT NULL,
  constant_work boolean NOT NULL DEFAULT true
);
CREATE UNIQUE INDEX budget_holder ON privacy_score.budget (relation_oid, role_oid, origin) WHERE relation_oid <> 0 AND role_oid <> 0;
CREATE INDEX budget_relation_name ON privacy_score.budget (relation_name);
COMMENT ON TABLE privacy_score.budget IS
  'Budgets given by dp_grant(), which nothing refunds: spent is all ever, spent_before what was spent before the current period; likewise for delta, whose limit may be NULL for none. OIDs hold in the database that origin names, 0 is a role or relation that is gone; names find them elsewhere.';

CREATE TABLE privacy_score.release (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  budget_id bigint NOT NULL,
  at timestamptz NOT NULL,
  role name NOT NULL,
  kind text NOT NULL,
  epsilon numeric NOT NULL,
  delta numeric,
  question bytea NOT NULL,
  shape text,
  answer text,
  repeat_of bigint,
  times bigint NOT NULL DEFAULT 1
);
ALTER TABLE privacy_score.release ALTER answer SET STORAGE EXTERNAL;
CREATE INDEX release_question ON privacy_score.release (budget_id, question);
CREATE UNIQUE INDEX release_repeat ON privacy_score.release (repeat_of, role) WHERE repeat_of IS NOT NULL;
COMMENT ON TABLE privacy_score.release IS
  'The ledger: every question that was charged, and by role how often its answer was given again and when last. A question is a keyed hash, shape has no constants, answer is the noisy one, NULL while there is none.';

CREATE TABLE privacy_score.ledger_key (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  key bytea NOT NULL
);
COMMENT ON TABLE privacy_score.ledger_key IS 'The key of the hashes of questions, made with the first grant.';

CREATE TABLE privacy_score.alert_key (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  key bytea NOT NULL
);
COMMENT ON TABLE privacy_score.alert_key IS 'The key that notifications of alerts are signed with, made with the first one; not dumped.';

REVOKE ALL ON privacy_score.budget, privacy_score.release, privacy_score.ledger_key, privacy_score.alert_key FROM PUBLIC;

SELECT pg_catalog.pg_extension_config_dump('privacy_score.budget', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.release', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.ledger_key', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.budget_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.release_id_seq', '');

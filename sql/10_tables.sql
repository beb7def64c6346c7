-- What is durable. Nobody but the owner of the extension reads or writes these tables; everything else goes through
-- the functions and views. Statements are kept as abstractions: no literal and no query text is ever stored.
-- There are no foreign keys: a parallel restore loads the tables of an extension in any order.

CREATE TABLE privacy_score.protected_relation (
  relation regclass PRIMARY KEY,
  name text NOT NULL UNIQUE,
  subject name[],
  declared_by name NOT NULL,
  declared_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
COMMENT ON TABLE privacy_score.protected_relation IS
  'Relations declared by protect(); subject NULL is the primary key, else the row. The name finds a relation that was dropped and created again.';

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

CREATE TABLE privacy_score.dependency (
  relation_name text NOT NULL,
  determinant name NOT NULL,
  dependent name NOT NULL,
  confirmed_by name NOT NULL,
  confirmed_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
  PRIMARY KEY (relation_name, determinant, dependent)
);
COMMENT ON TABLE privacy_score.dependency IS 'Functional dependencies that the owner has confirmed; the surprise part of the score follows them.';

CREATE TABLE privacy_score.column_domain (
  relation regclass NOT NULL,
  attribute name NOT NULL,
  number int2 NOT NULL,
  origin text NOT NULL,
  type text NOT NULL,
  low text,
  high text,
  vals text[],
  declared_by name NOT NULL,
  declared_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
  PRIMARY KEY (relation, attribute)
);
COMMENT ON TABLE privacy_score.column_domain IS
  'Values that columns have by dp_domain(), as text that depends on no setting: between low and high, or one of vals. The number holds in the database that origin names, so that a column of the same name that is made later is another one; in others the name finds it. type: of the column when that was declared.';

CREATE TABLE privacy_score.abstraction (
  id bigint PRIMARY KEY,
  tokens text[] NOT NULL,
  calls bigint NOT NULL DEFAULT 0,
  rows bigint NOT NULL DEFAULT 0,
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL
);
COMMENT ON TABLE privacy_score.abstraction IS 'Every abstraction met so far; the id is the fingerprint of its tokens, the same on every server.';

-- Sessions and their parts are kept by months (52_months.sql): the month stands in the id, above 40 bits that count up.
-- The parents have no indexes: pg_restore would make those of each month twice. What has no month is in *_before.
-- Ids begin anywhere: while a dump is restored people may be at work, and what they get must not be in it.
CREATE SEQUENCE privacy_score.session_id_seq;
SELECT pg_catalog.setval('privacy_score.session_id_seq', (pg_catalog.random() * 274877906944)::bigint + 1);
COMMENT ON SEQUENCE privacy_score.session_id_seq IS 'What counts up in the ids of sessions.';
CREATE TABLE privacy_score.session (
  id bigint NOT NULL DEFAULT pg_catalog.nextval('privacy_score.session_id_seq'::pg_catalog.regclass),
  role name NOT NULL,
  session text NOT NULL,
  day date NOT NULL,
  started timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  source text NOT NULL CHECK (source IN ('live', 'import')),
  queries bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  reach bigint,
  subjects bigint,
  subject_columns int,
  enforced float8,
  cells boolean NOT NULL DEFAULT true,
  end_user text,
  client_addr inet,
  application_name text,
  tls boolean,
  auth_method text,
  addressed bigint,
  person bigint,
  most_rows bigint,
  known bigint,
  differ bigint,
  unusual float8,
  unusual_figure text,
  drip float8,
  new_drip float8
) PARTITION BY RANGE (id);
CREATE TABLE privacy_score.session_before PARTITION OF privacy_score.session FOR VALUES FROM (MINVALUE) TO (1099511627776);
ALTER TABLE privacy_score.session_before ADD PRIMARY KEY (id), ADD UNIQUE (role, session, started);
CREATE INDEX session_before_role_day_idx ON privacy_score.session_before (role, day);
CREATE INDEX session_before_role_end_user_day_idx ON privacy_score.session_before (role, end_user, day) WHERE end_user IS NOT NULL;
COMMENT ON TABLE privacy_score.session_before IS 'Recorded sessions that were written when there was no table of their month.';
COMMENT ON TABLE privacy_score.session IS
  'Recorded sessions: one principal, of role and end user, and one connection or all (session_scope), cut after idle_gap and at midnight in log_timezone; reach, subjects, subject_columns where they are known; enforced: the sum that mode enforce went by, where it was known exactly; cells: recorded since abstractions tell of the cells of aggregates; client_addr (NULL: a unix socket), application_name, tls, auth_method: of the connection that began it, tls NULL where that is not known; addressed: most subjects of one statement; person: most columns asked about one subject, added up over statements; most_rows: of one execution; known: most columns that the principal had come to know of one subject within five days; differ: aggregates that differ from an earlier one by one record; unusual: the combined number of its figures, which the figure unusual_figure has; drip: what these add up to over the principal''s sessions, new_drip: what of them tells how often new statements are run; NULL where they are not known.';

CREATE TABLE privacy_score.calibration (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  made_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
  made_for text NOT NULL,
  expected_novelty float8 NOT NULL,
  sessions bigint NOT NULL,
  bytes bytea NOT NULL
);
COMMENT ON TABLE privacy_score.calibration IS
  'What alarms are raised by: how unusual the sessions of the baselines in force are, held against each other with a share expected_novelty withheld. The worker makes it anew when baselines change.';

CREATE TABLE privacy_score.session_part (
  session_id bigint NOT NULL,
  part integer NOT NULL,
  ids bigint[] NOT NULL,
  runs bigint[] NOT NULL,
  rows bigint[]
) PARTITION BY RANGE (session_id);
CREATE TABLE privacy_score.session_part_before PARTITION OF privacy_score.session_part FOR VALUES FROM (MINVALUE) TO (1099511627776);
ALTER TABLE privacy_score.session_part_before ADD PRIMARY KEY (session_id, part);
COMMENT ON TABLE privacy_score.session_part_before IS 'Parts of the sessions in session_before.';
COMMENT ON TABLE privacy_score.session_part IS 'The sequence of abstractions of a session, run-length encoded, in the parts in which it was flushed, with the rows returned (NULL: not recorded); a run of 0 brings rows of an earlier execution; a run of -1 is none but says what the next one follows, from id 0 on.';

CREATE TABLE privacy_score.baseline (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  role name NOT NULL,
  from_day date NOT NULL,
  to_day date NOT NULL,
  sessions bigint NOT NULL,
  made_by name NOT NULL,
  made_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
  active boolean NOT NULL DEFAULT true,
  reach bigint,
  subjects bigint,
  subject_columns int,
  cells boolean NOT NULL DEFAULT true,
  checked jsonb,
  day_reach bigint,
  day_subjects bigint,
  day_subject_columns int,
  contexts jsonb,
  end_user text
);
CREATE UNIQUE INDEX baseline_active ON privacy_score.baseline (role, COALESCE(end_user, '')) WHERE active;
COMMENT ON TABLE privacy_score.baseline IS
  'Versions of each role''s baseline, and of those of single end users of a role; the active one scores. reach, subjects, subject_columns: the greatest of its sessions, where known; day_reach, day_subjects, day_subject_columns: of its days, each of one principal; cells: its abstractions tell of the cells of aggregates; checked: what was found when it was last put in force; contexts: networks, programs and hours of the week of its sessions, NULL where they are not known.';

CREATE TABLE privacy_score.baseline_ngram (
  baseline_id bigint NOT NULL,
  ngram bigint[] NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (baseline_id, ngram)
);
COMMENT ON TABLE privacy_score.baseline_ngram IS 'n-grams of a baseline at the recorded length 6, padded in front with 0; a shorter n-gram is a suffix.';

CREATE TABLE privacy_score.baseline_session (
  baseline_id bigint NOT NULL,
  count bigint NOT NULL,
  ids bigint[] NOT NULL
);
-- No index has ids: an entry may be as long as a session has different statements.
CREATE INDEX baseline_session_baseline ON privacy_score.baseline_session (baseline_id);
COMMENT ON TABLE privacy_score.baseline_session IS 'Distinct sets of abstractions of a baseline''s sessions, with the number of sessions that have each.';

CREATE TABLE privacy_score.rate (
  relation_name text NOT NULL,
  attributes text[] NOT NULL,
  subject text NOT NULL,
  rate float8 NOT NULL,
  rows bigint NOT NULL,
  subject_entropy float8 NOT NULL,
  sources text[] NOT NULL,
  source_rows bigint[] NOT NULL,
  modifications bigint[] NOT NULL,
  identities bigint[] NOT NULL,
  computed_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
  period timestamptz,
  PRIMARY KEY (relation_name, attributes)
);
COMMENT ON TABLE privacy_score.rate IS 'Combined discrimination rates that scoring has needed so far, against the declared subject, whose entropy is in bits; computed from the relations named as sources, of which rows, modifications and identity of then tell when the rate is out of date; period: where there are more than max_rates, that of the worker in which a session asked for it.';

CREATE TABLE privacy_score.shard_counter (
  relation oid PRIMARY KEY,
  rows bigint NOT NULL,
  modifications bigint NOT NULL
);
COMMENT ON TABLE privacy_score.shard_counter IS
  'Rows and modifications of the shards of relations that Citus distributes, as the worker has counted them on the nodes last; not dumped.';

CREATE TABLE privacy_score.alert (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  role name NOT NULL,
  session text NOT NULL,
  kind text NOT NULL,
  score float8 NOT NULL,
  alert_limit float8 NOT NULL,
  blocked boolean NOT NULL DEFAULT false,
  detail jsonb NOT NULL,
  acknowledged_at timestamptz,
  acknowledged_by name,
  severity text NOT NULL DEFAULT 'warning' CHECK (severity IN ('info', 'warning', 'critical')),
  occurrences bigint NOT NULL DEFAULT 1,
  last_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
  cause text NOT NULL DEFAULT '',
  end_user text,
  client_addr inet,
  application_name text,
  tls boolean,
  auth_method text,
  new_context text[]
);
CREATE INDEX alert_open ON privacy_score.alert (role, kind, at) WHERE acknowledged_at IS NULL;
COMMENT ON TABLE privacy_score.alert IS
  'Alerts, one a cause and alert_window: at is the first, last_at the last occurrence; session, score, limit, detail and the connection are those of the greatest score; new_context: what of network, program and hour the role''s baseline has never had, NULL where that is not known.';

CREATE TABLE privacy_score.acceptance (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  role name NOT NULL,
  end_user text,
  alert_id bigint NOT NULL,
  kind text NOT NULL,
  ids bigint[] NOT NULL,
  note text NOT NULL,
  accepted_by name NOT NULL,
  accepted_at timestamptz NOT NULL,
  expires timestamptz,
  needs_second boolean NOT NULL,
  confirmed_by name,
  confirmed_at timestamptz,
  ended_at timestamptz,
  withdrawn_by name
);
COMMENT ON TABLE privacy_score.acceptance IS
  'What was accepted by accept_alert() of an alert''s session: end_user NULL: for all who work under the role; ids: abstractions that the baseline lacked; accepted_by, confirmed_by, withdrawn_by: who had logged in; needs_second: it takes effect once somebody else has confirmed it; ended_at: when it expired or was withdrawn.';

CREATE TABLE privacy_score.acceptance_ngram (
  acceptance_id bigint NOT NULL,
  ngram bigint[] NOT NULL,
  PRIMARY KEY (acceptance_id, ngram)
);
COMMENT ON TABLE privacy_score.acceptance_ngram IS 'n-grams that are known beside a baseline since they were accepted, at the recorded length 6.';

CREATE TABLE privacy_score.acceptance_figure (
  acceptance_id bigint NOT NULL,
  figure text NOT NULL,
  height float8 NOT NULL CHECK (height >= 0 AND height < 'infinity'),
  PRIMARY KEY (acceptance_id, figure)
);
COMMENT ON TABLE privacy_score.acceptance_figure IS 'How high a figure of sessions, or of days where its name begins with day_, may be since that was accepted.';

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
  'Subjects that a principal asked about on a day, ten bytes each: a hash under subject_key, and the number of a set: the columns revealed of it and, after =, the statements whose only constant it was. Later parts add to earlier ones; part -1 is a sketch of all, where they are more than 4,096. Not dumped.';

CREATE TABLE privacy_score.kept_rates (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  digest text NOT NULL UNIQUE,
  declared text NOT NULL,
  relation_names text[] NOT NULL,
  attributes text[] NOT NULL,
  rates float8[] NOT NULL,
  rows bigint[] NOT NULL,
  subject_entropies float8[] NOT NULL
);
COMMENT ON TABLE privacy_score.kept_rates IS
  'The rates in force when days were scored for good, each set of rates once; attributes: of each rate, parted by the character 1; declared: a hash of the declarations of subjects, under which alone they hold.';

CREATE TABLE privacy_score.kept_day (
  role name NOT NULL,
  end_user text NOT NULL,
  day date NOT NULL,
  made_under text,
  rates bigint NOT NULL,
  queries bigint NOT NULL,
  ngrams bigint NOT NULL,
  mismatched bigint NOT NULL,
  score float8 NOT NULL,
  max_score float8 NOT NULL,
  tight_max float8 NOT NULL,
  normalised float8 NOT NULL,
  statement_score float8 NOT NULL,
  rows bigint NOT NULL,
  enforced float8 NOT NULL,
  peer_score float8,
  ids bigint[] NOT NULL,
  counts bigint[] NOT NULL,
  scores float8[] NOT NULL,
  PRIMARY KEY (role, day, end_user)
);
COMMENT ON TABLE privacy_score.kept_day IS
  'Scores of days that are over, of a principal each (end_user is empty for none), as the worker keeps them; made_under: a hash of the scoring settings, declarations, baselines and acceptances that they hold under, NULL once the history of the day has changed; rates: the kept_rates that they rest on; ids, counts, scores: the n-grams that add to the score, the abstractions of one after those of the other.';

CREATE TABLE privacy_score.kept_role (
  role name PRIMARY KEY,
  made_under text NOT NULL,
  through date NOT NULL,
  baseline_ngrams bigint NOT NULL,
  cumulative float8,
  blocked bigint NOT NULL
);
COMMENT ON TABLE privacy_score.kept_role IS 'What stat_roles shows of days that are over, through a day: added up from kept_day by the worker, and made anew by it; not dumped.';

CREATE TABLE privacy_score.principal_session (
  role name NOT NULL,
  end_user text COLLATE "C" NOT NULL,
  session_id bigint NOT NULL,
  follows bigint[] NOT NULL,
  alerted int NOT NULL,
  asked bytea,
  PRIMARY KEY (role, end_user)
);
COMMENT ON TABLE privacy_score.principal_session IS
  'Sessions over all connections that go on, so that one which is put out of memory, or was lost in a crash, goes on as it was: follows: the n-gram that the next transaction follows; alerted: bits of the alerts that it has had; asked: what it has asked with constants, encrypted under a key that is in the memory of the server only. Not dumped.';

CREATE TABLE privacy_score.subject_key (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  key bytea NOT NULL DEFAULT pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.gen_random_uuid()::text || pg_catalog.gen_random_uuid()::text, 'UTF8')),
  made_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
COMMENT ON TABLE privacy_score.subject_key IS 'The key of the hashes of subjects, replaced every subject_key_period; not dumped.';
INSERT INTO privacy_score.subject_key DEFAULT VALUES;

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
  constant_work boolean NOT NULL DEFAULT true,
  scope text NOT NULL DEFAULT 'relation' CHECK (scope IN ('relation', 'person'))
);
CREATE UNIQUE INDEX budget_holder ON privacy_score.budget (relation_oid, role_oid, origin, scope) WHERE relation_oid <> 0 AND role_oid <> 0;
CREATE INDEX budget_relation_name ON privacy_score.budget (relation_name);
COMMENT ON TABLE privacy_score.budget IS
  'Budgets given by dp_grant() and, of scope person, by dp_grant_person(), which nothing refunds: spent is all ever, spent_before what was spent before the current period; likewise for delta, whose limit may be NULL for none. OIDs hold in the database that origin names, 0 is a role or relation that is gone; names find them elsewhere.';

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

CREATE TABLE privacy_score.prepared_change (
  gid text NOT NULL,
  model boolean NOT NULL,
  labels boolean NOT NULL,
  concerns bytea
);
COMMENT ON TABLE privacy_score.prepared_change IS 'What prepared transactions announce when they are committed: rows that they insert and delete at once, so that the table is always seen empty; not dumped.';

SELECT pg_catalog.pg_extension_config_dump('privacy_score.protected_relation',
  'WHERE relation::pg_catalog.oid IN (SELECT c.oid FROM pg_catalog.pg_class c)');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.copied_column',
  'WHERE relation::pg_catalog.oid IN (SELECT c.oid FROM pg_catalog.pg_class c WHERE c.relpersistence <> ''t'')');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.dependency', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.column_domain',
  'WHERE relation::pg_catalog.oid IN (SELECT c.oid FROM pg_catalog.pg_class c WHERE c.relpersistence <> ''t'')');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.abstraction', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.session_before', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.session_part_before', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.baseline', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.baseline_ngram', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.baseline_session', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.rate', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.alert', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.acceptance', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.acceptance_ngram', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.acceptance_figure', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.end_user_limit', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.end_user_label', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.principal_day', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.kept_rates', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.kept_day', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.session_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.kept_rates_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.baseline_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.alert_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.acceptance_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.budget', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.release', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.ledger_key', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.budget_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('privacy_score.release_id_seq', '');

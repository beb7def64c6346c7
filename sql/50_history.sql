-- Baselines, scores of recorded history, history from elsewhere.

CREATE FUNCTION privacy_score.import_statements(query text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_import_statements' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.import_statements(text) IS
  'Turns logged statements into history. The query runs with the caller''s rights and yields (session text, role name, at timestamptz, sql text), and after these by name end_user text, parameters text[], rows bigint; sessions are cut at idle_gap and midnight. Returns the statements that have an abstraction. Superusers, and whoever is granted EXECUTE.';
REVOKE ALL ON FUNCTION privacy_score.import_statements(text) FROM PUBLIC;

CREATE FUNCTION privacy_score.import_log(path text, format text DEFAULT NULL, line_prefix text DEFAULT NULL)
  RETURNS TABLE (file text, records bigint, statements bigint, imported bigint, elsewhere bigint, unwatched bigint,
                 not_understood bigint, first_not_understood bigint)
  AS 'MODULE_PATHNAME', 'ps_import_log' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.import_log(text, text, text) IS
  'Turns files of the server''s log into history: path is a file or a pattern, from log_directory where it is not absolute; format is csvlog, jsonlog or stderr, by default by the name; line_prefix is log_line_prefix of stderr. Reads log_statement, log_min_duration_statement and pgaudit. Counts what was logged for other databases, of roles that are not watched, and what was not understood. Superusers, and members of pg_read_server_files who are granted EXECUTE.';
REVOKE ALL ON FUNCTION privacy_score.import_log(text, text, text) FROM PUBLIC;

CREATE FUNCTION privacy_score.context_network(client_addr inet) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT CASE WHEN $1 IS NULL THEN 'local'
                ELSE pg_catalog.network(pg_catalog.set_masklen($1, CASE pg_catalog.family($1) WHEN 4 THEN 24 ELSE 64 END))::text END;
  END;
COMMENT ON FUNCTION privacy_score.context_network(inet) IS 'The network of an address: /24, of IPv6 /64; local for a unix socket.';

CREATE FUNCTION privacy_score.context_hour(at timestamptz) RETURNS text
  LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT (ARRAY['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'])[EXTRACT(isodow FROM t.at)::int] || pg_catalog.to_char(t.at, ' HH24')
      FROM (SELECT pg_catalog.timezone(pg_catalog.current_setting('log_timezone'), $1)) t(at);
  END;
COMMENT ON FUNCTION privacy_score.context_hour(timestamptz) IS 'The hour of the week in log_timezone, such as Mon 09.';

CREATE FUNCTION privacy_score.new_context(contexts jsonb, at timestamptz, client_addr inet, application_name text) RETURNS text[]
  LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT CASE WHEN $1 IS NOT NULL THEN
      pg_catalog.array_remove(ARRAY[
        CASE WHEN NOT $1->'networks' ? privacy_score.context_network($3) THEN 'network ' || privacy_score.context_network($3) END,
        CASE WHEN NOT $1->'programs' ? COALESCE($4, '') THEN 'program ' || COALESCE($4, '') END,
        CASE WHEN NOT $1->'hours' ? privacy_score.context_hour($2) THEN 'hour ' || privacy_score.context_hour($2) END], NULL) END;
  END;
COMMENT ON FUNCTION privacy_score.new_context(jsonb, timestamptz, inet, text) IS
  'What of a connection the contexts of a baseline have never had: network, program, hour of the week; NULL where they are not known.';

CREATE FUNCTION privacy_score.set_baseline(role name, from_day date DEFAULT NULL, to_day date DEFAULT NULL, end_user text DEFAULT NULL)
  RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_set_baseline' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.set_baseline(name, date, date, text) IS
  'Makes the recorded sessions of these days (both included) the role''s baseline, or those of one end user her own, which the role''s is then shown beside; earlier versions are kept. By default the thirty days that end yesterday. Returns the number of distinct n-grams at ngram_length. Days that stand out and few sessions raise a warning and an alert.';
REVOKE ALL ON FUNCTION privacy_score.set_baseline(name, date, date, text) FROM PUBLIC;

CREATE FUNCTION privacy_score.activate_baseline(id bigint) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_activate_baseline' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.activate_baseline(bigint) IS
  'Puts a version of the view baselines in force for its role and end user, in place of the one that is.';
REVOKE ALL ON FUNCTION privacy_score.activate_baseline(bigint) FROM PUBLIC;

CREATE FUNCTION privacy_score.drop_baseline(role name, end_user text DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_drop_baseline' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.drop_baseline(name, text) IS
  'Takes the baseline of a role, or of one end user of it, out of force; its record is kept.';
REVOKE ALL ON FUNCTION privacy_score.drop_baseline(name, text) FROM PUBLIC;

-- That of an end user is of version 2, so that no older version takes it for the role's.
CREATE FUNCTION privacy_score.export_baseline(role name, end_user text DEFAULT NULL) RETURNS jsonb
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT pg_catalog.jsonb_build_object(
      'version', CASE WHEN b.end_user IS NULL THEN 1 ELSE 2 END, 'role', b.role, 'from_day', b.from_day, 'to_day', b.to_day, 'sessions', b.sessions,
      'reach', b.reach, 'subjects', b.subjects, 'subject_columns', b.subject_columns, 'cells', b.cells, 'contexts', b.contexts,
      'day_reach', b.day_reach, 'day_subjects', b.day_subjects, 'day_subject_columns', b.day_subject_columns,
      'ngrams', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('ngram', n.ngram, 'count', n.count) ORDER BY n.ngram)
                   FROM privacy_score.baseline_ngram n WHERE n.baseline_id = b.id),
      'session_sets', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('ids', s.ids, 'count', s.count) ORDER BY s.ids)
                         FROM privacy_score.baseline_session s WHERE s.baseline_id = b.id),
      'abstractions', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('id', a.id, 'tokens', a.tokens) ORDER BY a.id)
                         FROM privacy_score.abstraction a
                        WHERE a.id IN (SELECT pg_catalog.unnest(s.ids) FROM privacy_score.baseline_session s WHERE s.baseline_id = b.id)))
      || CASE WHEN b.end_user IS NULL THEN '{}' ELSE pg_catalog.jsonb_build_object('end_user', b.end_user) END
      FROM privacy_score.baseline b
     WHERE b.role = export_baseline.role AND b.end_user IS NOT DISTINCT FROM export_baseline.end_user AND b.active;
  END;
COMMENT ON FUNCTION privacy_score.export_baseline(name, text) IS
  'The active baseline of a role, or of one end user of it, as JSON, for import_baseline() on another server; NULL when there is none.';
REVOKE ALL ON FUNCTION privacy_score.export_baseline(name, text) FROM PUBLIC;

CREATE FUNCTION privacy_score.import_baseline(baseline jsonb) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_import_baseline' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.import_baseline(jsonb) IS
  'Puts a baseline from export_baseline() in force for the role, and the end user, that it names. Returns the number of its recorded n-grams.';
REVOKE ALL ON FUNCTION privacy_score.import_baseline(jsonb) FROM PUBLIC;

CREATE FUNCTION privacy_score.choose_ngram_length(role name, from_day date, to_day date, longest int DEFAULT 6)
  RETURNS TABLE (ngram_length int, mismatch_rate float8, chosen boolean)
  AS 'MODULE_PATHNAME', 'ps_choose_ngram_length' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.choose_ngram_length(name, date, date, int) IS
  'Share of n-grams of a day that no other day of the range has, averaged over the days, for each length up to `longest` (1 to 6), and the longest length that still generalises.';

CREATE FUNCTION privacy_score.score(role name, from_day date, to_day date)
  RETURNS TABLE (day date, queries bigint, ngrams bigint, mismatched bigint, score float8, max_score float8,
                 tight_max float8, normalised float8, cumulative float8, statement_score float8, rows bigint,
                 enforced float8, end_user text, peer_score float8)
  AS 'MODULE_PATHNAME', 'ps_score' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.score(name, date, date) IS
  'Privacy score of each recorded day against the role''s baseline, for each of its end users: P<b0,bi>, the maxima M and M'', P/M, and the cumulative Delta since from_day [Khan, figure 6]. enforced: the sum of the day''s sessions that mode enforce compares with daily_limit. An end user with a baseline of her own is scored against that; peer_score is then the score against the role''s, else NULL. A role reads its own; pg_read_all_stats reads all.';

CREATE FUNCTION privacy_score.score_anew(role name, from_day date, to_day date)
  RETURNS TABLE (day date, queries bigint, ngrams bigint, mismatched bigint, score float8, max_score float8,
                 tight_max float8, normalised float8, cumulative float8, statement_score float8, rows bigint,
                 enforced float8, end_user text, peer_score float8)
  AS 'MODULE_PATHNAME', 'ps_score_anew' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.score_anew(name, date, date) IS
  'score() with nothing taken from what is kept but the rates: each day is computed from its recorded statements, so that kept scores can be held against them. The same rights as score().';

CREATE FUNCTION privacy_score.rescore(role name, from_day date, to_day date) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_rescore' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.rescore(name, date, date) IS
  'Throws away what is kept of a role''s days (both included), so that they are scored anew with the rates of now. Returns the number of days.';
REVOKE ALL ON FUNCTION privacy_score.rescore(name, date, date) FROM PUBLIC;

CREATE FUNCTION privacy_score.scored_under() RETURNS text
  AS 'MODULE_PATHNAME', 'ps_scored_under' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.scored_under() IS
  'Internal: a hash of what a score rests on beside history and rates: the settings in force, declarations, baselines, acceptances.';

CREATE FUNCTION privacy_score.score_sessions(role name, from_day date, to_day date)
  RETURNS TABLE (day date, session text, queries bigint, ngrams bigint, mismatched bigint, score float8,
                 max_score float8, tight_max float8, normalised float8, statement_score float8, rows bigint,
                 reach bigint, subjects bigint, subject_columns int, enforced float8, end_user text,
                 peer_score float8)
  AS 'MODULE_PATHNAME', 'ps_score_sessions' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.score_sessions(name, date, date) IS 'The same as score() for each recorded session; enforced is what mode enforce compares with session_limit.';

CREATE FUNCTION privacy_score.score_ngrams(role name, from_day date, to_day date)
  RETURNS TABLE (day date, ngram text[], count bigint, nearest text[], score float8, deltas float8[], attributes text[],
                 rows bigint, end_user text, peer_score float8)
  AS 'MODULE_PATHNAME', 'ps_score_ngrams' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.score_ngrams(name, date, date) IS
  'The mismatched n-grams of each day: the nearest one of the baseline, what each position adds to it, and the columns that cause it. peer_score: of an end user with a baseline of her own, what the n-gram would add to the role''s.';

CREATE FUNCTION privacy_score.explain_query(sql text, role name DEFAULT session_user, end_user text DEFAULT NULL) RETURNS jsonb
  AS 'MODULE_PATHNAME', 'ps_explain_query' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.explain_query(text, name, text) IS
  'What a statement would reveal and what it would add to the role''s baseline, or to that which an end user of it is scored against, without executing it.';

CREATE FUNCTION privacy_score.analyze_relation(relation regclass, attributes name[] DEFAULT NULL) RETURNS int
  AS 'MODULE_PATHNAME', 'ps_analyze_relation' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.analyze_relation(regclass, name[]) IS
  'Computes the rates of a protected relation now: of one attribute set, or of all sets known so far and of each column. Returns how many. Owner only.';

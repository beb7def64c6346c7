-- Names in recorded abstractions, where they were written by an older version.

CREATE FUNCTION privacy_score.requoted(tokens text[]) RETURNS text[]
  AS 'MODULE_PATHNAME', 'ps_requoted' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.requoted(text[]) IS
  'Internal: tokens with names as this version writes them: bare when they are [a-z_][a-z0-9_$]*, be they keywords or not.';

CREATE FUNCTION privacy_score.abstraction_id(tokens text[]) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_abstraction_id' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.abstraction_id(text[]) IS
  'Internal: the fingerprint of canonical tokens, by which history and baselines know an abstraction; 0 for none.';

CREATE VIEW privacy_score.requoted_abstraction AS
  SELECT a.id AS old_id, privacy_score.abstraction_id(r.tokens) AS id, r.tokens, a.calls, a.rows, a.first_seen, a.last_seen
    FROM privacy_score.abstraction a, LATERAL privacy_score.requoted(a.tokens) AS r(tokens)
   WHERE a.tokens <> r.tokens;
COMMENT ON VIEW privacy_score.requoted_abstraction IS 'Internal: abstractions that this version writes otherwise, and how.';

CREATE FUNCTION privacy_score.requote_history() RETURNS void
  LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    UPDATE privacy_score.kept_day SET made_under = NULL WHERE EXISTS (SELECT FROM privacy_score.requoted_abstraction);
    DELETE FROM privacy_score.kept_role WHERE EXISTS (SELECT FROM privacy_score.requoted_abstraction);
    INSERT INTO privacy_score.abstraction AS a (id, tokens, calls, rows, first_seen, last_seen)
      SELECT r.id, r.tokens, pg_catalog.sum(r.calls), pg_catalog.sum(r.rows), pg_catalog.min(r.first_seen), pg_catalog.max(r.last_seen)
        FROM privacy_score.requoted_abstraction r GROUP BY r.id, r.tokens
      ON CONFLICT (id) DO UPDATE SET calls = a.calls + EXCLUDED.calls, rows = a.rows + EXCLUDED.rows,
        first_seen = LEAST(a.first_seen, EXCLUDED.first_seen), last_seen = GREATEST(a.last_seen, EXCLUDED.last_seen);
    UPDATE privacy_score.session_part p
       SET ids = (SELECT pg_catalog.array_agg(COALESCE(r.id, u.id) ORDER BY u.place)
                    FROM ROWS FROM (pg_catalog.unnest(p.ids)) WITH ORDINALITY AS u(id, place)
                    LEFT JOIN privacy_score.requoted_abstraction r ON r.old_id = u.id)
     WHERE p.ids && ARRAY(SELECT r.old_id FROM privacy_score.requoted_abstraction r);
    -- Two n-grams, or two sets, may have become one.
    WITH old AS (
      DELETE FROM privacy_score.baseline_ngram n
       WHERE n.ngram && ARRAY(SELECT r.old_id FROM privacy_score.requoted_abstraction r)
      RETURNING n.baseline_id, n.count,
        (SELECT pg_catalog.array_agg(COALESCE(r.id, u.id) ORDER BY u.place)
           FROM ROWS FROM (pg_catalog.unnest(n.ngram)) WITH ORDINALITY AS u(id, place)
           LEFT JOIN privacy_score.requoted_abstraction r ON r.old_id = u.id) AS ngram)
    INSERT INTO privacy_score.baseline_ngram AS n (baseline_id, ngram, count)
      SELECT o.baseline_id, o.ngram, pg_catalog.sum(o.count) FROM old o GROUP BY o.baseline_id, o.ngram
      ON CONFLICT (baseline_id, ngram) DO UPDATE SET count = n.count + EXCLUDED.count;
    UPDATE privacy_score.baseline_session s
       SET ids = (SELECT pg_catalog.array_agg(DISTINCT COALESCE(r.id, u.id) ORDER BY COALESCE(r.id, u.id))
                    FROM pg_catalog.unnest(s.ids) AS u(id)
                    LEFT JOIN privacy_score.requoted_abstraction r ON r.old_id = u.id)
     WHERE s.ids && ARRAY(SELECT r.old_id FROM privacy_score.requoted_abstraction r);
    UPDATE privacy_score.dependency d SET relation_name = (privacy_score.requoted(ARRAY[d.relation_name]))[1]
     WHERE ARRAY[d.relation_name] <> privacy_score.requoted(ARRAY[d.relation_name]);
    UPDATE privacy_score.protected_relation p SET name = (privacy_score.requoted(ARRAY[p.name]))[1]
     WHERE ARRAY[p.name] <> privacy_score.requoted(ARRAY[p.name]);
    DELETE FROM privacy_score.abstraction a USING privacy_score.requoted_abstraction r WHERE a.id = r.old_id;
  END;
COMMENT ON FUNCTION privacy_score.requote_history() IS
  'Internal: brings recorded abstractions, with their ids in history and baselines, and names of relations to the form of this version. ALTER EXTENSION UPDATE and import_baseline() call it.';
REVOKE ALL ON FUNCTION privacy_score.requoted(text[]), privacy_score.abstraction_id(text[]), privacy_score.requote_history() FROM PUBLIC;

-- A fresh installation has nothing to bring.
SELECT privacy_score.requote_history();

-- Techniques of disclosure control, to use what the measures judge.

CREATE FUNCTION privacy_score.restricted_count(relation regclass, predicate text, min_set_size bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_restricted_count' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.restricted_count(regclass, text, bigint) IS
  'The number of records that satisfy a condition, or NULL where these or all others are fewer than min_set_size. With the rights of the caller; for others, within a function of the owner''s. Set-size control alone does not stop differences of overlapping counts (trackers [Denning]). The predicate is parsed and may contain what that of dp_count() may, else PS003. 22023 for min_set_size below 1, 42501, 42703.';

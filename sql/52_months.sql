-- Recorded sessions by months. The worker makes the tables of this month and the next as soon as something is protected and
-- recorded, an import those of the months that it brings; retention drops them. They are no members of the extension:
-- pg_dump has them made again with what is in them.

CREATE FUNCTION privacy_score.first_session_id(day date) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_first_session_id' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.first_session_id(date) IS
  'Internal: the least id of the sessions of that day''s month, whose table has those up to the next month''s: months since January 2000 times 2^40; 0 before February 2000.';

CREATE FUNCTION privacy_score.new_session_id(day date) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_new_session_id' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.new_session_id(date) IS
  'Internal: the id of the next session of that day, of its month if there is a table of it.';

CREATE FUNCTION privacy_score.make_months(from_day date, to_day date) RETURNS boolean
  AS 'MODULE_PATHNAME', 'ps_make_months' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.make_months(date, date) IS
  'Internal: makes the tables of the months from one day to another that are missing, as the worker and imports do, of at most ten years; false when some could not be made at once.';
REVOKE EXECUTE ON FUNCTION privacy_score.new_session_id(date), privacy_score.make_months(date, date) FROM PUBLIC;

-- Sizes may be kept from everybody, and these are not.
CREATE FUNCTION privacy_score.history_bytes(relation oid) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_history_bytes' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.history_bytes(oid) IS
  'Internal: what a table of recorded sessions takes on disk, with its indexes; NULL for any other relation, and for whoever may not know of all roles.';

CREATE VIEW privacy_score.stat_history WITH (security_barrier) AS
  SELECT m.month,
         CASE WHEN c.reltuples >= 0 THEN c.reltuples::bigint END AS sessions,
         privacy_score.history_bytes(c.oid) + COALESCE(privacy_score.history_bytes(p.oid), 0) AS bytes,
         CASE WHEN s.days > 0 THEN (m.month + interval '1 month')::date + s.days END AS removed_on
    FROM (SELECT COALESCE(pg_catalog.current_setting('privacy_score.history_retention', true), '0')::int AS days) s
   CROSS JOIN pg_catalog.pg_inherits i
    JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
   CROSS JOIN LATERAL (SELECT pg_catalog.substr(c.relname, 9) AS name) n
   CROSS JOIN LATERAL (SELECT CASE WHEN n.name ~ '^[0-9]{4}_[0-9]{2}$' THEN pg_catalog.to_date(n.name, 'YYYY_MM') END AS month) m
    LEFT JOIN pg_catalog.pg_class p ON p.relnamespace = c.relnamespace AND p.relname = 'session_part_' || n.name
   WHERE i.inhparent = 'privacy_score.session'::regclass AND pg_catalog.pg_has_role(CURRENT_USER, 'pg_read_all_stats', 'USAGE');
COMMENT ON VIEW privacy_score.stat_history IS
  'Recorded history by months, for pg_read_all_stats: sessions as last counted by vacuum or analyze, NULL before; bytes on disk with indexes; removed_on: the day on which history_retention removes the month as a whole, NULL while that is 0. month NULL: what was recorded before there was a table of its month, which is removed row by row.';

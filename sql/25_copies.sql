-- Keeping the record of copies in order (src/backend/watch/copy_recording.hpp).

CREATE TRIGGER protection_changed AFTER INSERT OR UPDATE OR DELETE ON privacy_score.copied_column
  FOR EACH ROW EXECUTE FUNCTION privacy_score.protection_changed();
COMMENT ON TRIGGER protection_changed ON privacy_score.copied_column IS 'A copy counts as such at once in every session.';

CREATE FUNCTION privacy_score.copy_restored() RETURNS trigger
  AS 'MODULE_PATHNAME', 'ps_copy_restored' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.copy_restored() IS 'Internal: gives the record of a copy that comes out of a dump the numbers of this server.';
CREATE TRIGGER copy_restored BEFORE INSERT ON privacy_score.copied_column
  FOR EACH ROW EXECUTE FUNCTION privacy_score.copy_restored();
COMMENT ON TRIGGER copy_restored ON privacy_score.copied_column IS 'Columns of a restored copy may be renamed right away.';

CREATE FUNCTION privacy_score.mix_copies(relation oid, attribute name) RETURNS void
  LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    WITH RECURSIVE below(relation) AS (
      SELECT mix_copies.relation
      UNION
      SELECT i.inhrelid FROM below b JOIN pg_catalog.pg_inherits i ON i.inhparent = b.relation)
    INSERT INTO privacy_score.copied_column
      SELECT DISTINCT c.relation, c.relation_oid, a.attname, a.attnum, c.origin, c.origin_name, c.origin_attribute, c.origin_number
        FROM below b
        JOIN privacy_score.copied_column c ON c.relation = b.relation
        JOIN pg_catalog.pg_attribute a ON a.attrelid = b.relation AND a.attname = mix_copies.attribute AND NOT a.attisdropped
       WHERE NOT EXISTS (SELECT FROM privacy_score.copied_column x
                          WHERE x.relation = c.relation AND x.number = a.attnum AND x.origin_name = c.origin_name
                            AND x.origin_attribute = c.origin_attribute);
  END;
COMMENT ON FUNCTION privacy_score.mix_copies(oid, name) IS
  'Internal: a column of a copy that is computed from others (generated, or by ALTER COLUMN TYPE ... USING) may hold the values of any.';

CREATE FUNCTION privacy_score.rename_copies() RETURNS void
  LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    UPDATE privacy_score.copied_column c SET attribute = a.attname
      FROM pg_catalog.pg_attribute a
     WHERE c.relation_oid = c.relation AND a.attrelid = c.relation AND a.attnum = c.number AND NOT a.attisdropped
       AND a.attname <> c.attribute;
    UPDATE privacy_score.copied_column c SET origin_attribute = a.attname, origin_name = r.name
      FROM pg_catalog.pg_attribute a, privacy_score.canonical_relation r
     WHERE c.relation_oid = c.relation AND a.attrelid = c.origin AND a.attnum = c.origin_number AND NOT a.attisdropped
       AND r.relation = c.origin AND (a.attname, r.name) IS DISTINCT FROM (c.origin_attribute, c.origin_name);
  END;
COMMENT ON FUNCTION privacy_score.rename_copies() IS
  'Internal: keeps the names in copied_column those of today, so that a dump finds its columns again.';

CREATE FUNCTION privacy_score.spread_copies() RETURNS void
  LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    WITH RECURSIVE above(relation, ancestor) AS (
      SELECT i.inhrelid, i.inhparent FROM pg_catalog.pg_inherits i
       WHERE EXISTS (SELECT FROM privacy_score.copied_column c WHERE c.relation = i.inhrelid)
      UNION
      SELECT u.relation, i.inhparent FROM above u JOIN pg_catalog.pg_inherits i ON i.inhrelid = u.ancestor)
    INSERT INTO privacy_score.copied_column
      SELECT DISTINCT u.ancestor, u.ancestor, a.attname, a.attnum, c.origin, c.origin_name, c.origin_attribute, c.origin_number
        FROM above u
        JOIN privacy_score.copied_column c ON c.relation = u.relation
        JOIN pg_catalog.pg_attribute k ON k.attrelid = u.relation AND NOT k.attisdropped
             AND CASE WHEN c.relation_oid = c.relation THEN k.attnum = c.number ELSE k.attname = c.attribute END
        JOIN pg_catalog.pg_attribute a ON a.attrelid = u.ancestor AND a.attname = k.attname AND a.attnum > 0 AND NOT a.attisdropped
       WHERE NOT EXISTS (SELECT FROM privacy_score.copied_column x
                          WHERE x.relation = u.ancestor AND x.attribute = a.attname AND x.origin_name = c.origin_name
                            AND x.origin_attribute = c.origin_attribute)
         AND NOT EXISTS (SELECT FROM pg_catalog.pg_seclabel l
                          WHERE l.provider = 'privacy_score' AND l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
                            AND l.objoid = u.relation AND l.objsubid = k.attnum AND l.label = 'public');
  END;
COMMENT ON FUNCTION privacy_score.spread_copies() IS
  'Internal: a table that contains a copy as partition or inheritance child is read as that copy, too.';

CREATE FUNCTION privacy_score.tidy_copies() RETURNS void
  LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    DELETE FROM privacy_score.copied_column c
     WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class x WHERE x.oid = c.relation);
    -- An OID that is free again may become another relation's, here or where a dump is restored.
    UPDATE privacy_score.copied_column c SET origin = 0
     WHERE c.origin <> 0 AND NOT EXISTS (SELECT FROM pg_catalog.pg_class x WHERE x.oid = c.origin);
    UPDATE privacy_score.copied_column c SET relation_oid = c.relation, number = a.attnum,
           origin = CASE WHEN o.attnum IS NULL THEN 0::pg_catalog.regclass ELSE c.origin END, origin_number = COALESCE(o.attnum, 0)
      FROM pg_catalog.pg_attribute a, privacy_score.copied_column x
      LEFT JOIN pg_catalog.pg_attribute o ON o.attrelid = x.origin AND o.attname = x.origin_attribute AND NOT o.attisdropped
     WHERE x.ctid = c.ctid AND c.relation_oid <> c.relation AND a.attrelid = c.relation AND a.attname = c.attribute
       AND NOT a.attisdropped;
    SELECT privacy_score.rename_copies();
  END;
COMMENT ON FUNCTION privacy_score.tidy_copies() IS
  'Internal: forgets copies that were dropped and takes restored records over; the worker calls it every hour.';

REVOKE EXECUTE ON FUNCTION privacy_score.copy_restored(), privacy_score.mix_copies(oid, name), privacy_score.rename_copies(), privacy_score.spread_copies(), privacy_score.tidy_copies() FROM PUBLIC;

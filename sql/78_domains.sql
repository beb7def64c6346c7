-- What values columns of persons' rows have, as their owner declares it (src/backend/private_sql/private_domains.hpp).

CREATE VIEW privacy_score.domain_current AS
  SELECT d.relation::pg_catalog.oid AS relation, a.attnum AS number, a.attname AS attribute,
         p.relation IS NOT NULL
           AND (n.nspname || '.' || t.typname = d.type
                OR a.atttypid IN (20, 21, 23) AND d.type IN ('pg_catalog.int8', 'pg_catalog.int2', 'pg_catalog.int4')) AS in_force,
         d.low, d.high, d.vals, d.declared_by, d.declared_at
    FROM privacy_score.column_domain d
    JOIN pg_catalog.pg_attribute a ON a.attrelid = d.relation AND a.attname = d.attribute AND NOT a.attisdropped
         AND (d.origin <> privacy_score.database_identity() OR a.attnum = d.number)
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    LEFT JOIN privacy_score.protected_current p ON p.relation = d.relation;
COMMENT ON VIEW privacy_score.domain_current IS
  'Internal: declared domains of columns that exist; in_force: the relation is protected, and the column has the type that it had then.';

CREATE FUNCTION privacy_score.dp_domain(relation regclass, attribute name, low "any" DEFAULT NULL, high "any" DEFAULT NULL, vals "any" DEFAULT NULL)
  RETURNS void
  AS 'MODULE_PATHNAME', 'ps_dp_domain' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_domain(regclass, name, "any", "any", "any") IS
  'Declares which values a column of a protected relation has, for private queries in plain SQL: numbers, dates or times between low and high (either may be left out), or one of the array vals. A value beyond a bound then counts as that bound, one that is not in vals as NULL, where it is grouped by or aggregated; groups by the column are public where both bounds or all values are known. Whoever may ask learns the declaration: never take it from the rows. Replaces an earlier one. Owner only. Errors: 42501, 42703, 22023, 22004, and what reading a value raises.';

CREATE FUNCTION privacy_score.dp_withdraw_domain(relation regclass, attribute name) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_dp_withdraw_domain' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_withdraw_domain(regclass, name) IS 'Takes back dp_domain(). Owner only. Errors: 42501, 42703, 22023.';

CREATE VIEW privacy_score.dp_domains WITH (security_barrier) AS
  SELECT d.relation::pg_catalog.regclass AS relation, d.attribute, d.low, d.high, d.vals, d.in_force, d.declared_by, d.declared_at
    FROM privacy_score.domain_current d;
COMMENT ON VIEW privacy_score.dp_domains IS
  'Values that columns have by dp_domain(), for everybody: who asks in plain SQL learns them anyway.';
COMMENT ON COLUMN privacy_score.dp_domains.low IS 'the least value, as text; NULL: no bound';
COMMENT ON COLUMN privacy_score.dp_domains.high IS 'the greatest value, as text; NULL: no bound';
COMMENT ON COLUMN privacy_score.dp_domains.vals IS 'all values, as text; NULL where bounds are declared';
COMMENT ON COLUMN privacy_score.dp_domains.in_force IS 'false where the relation is not protected any more, or the column has another type than when this was declared';

CREATE FUNCTION privacy_score.tidy_domains() RETURNS void
  LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    DELETE FROM privacy_score.column_domain d
     WHERE NOT EXISTS (SELECT FROM privacy_score.domain_current c WHERE c.relation = d.relation AND c.attribute = d.attribute);
    UPDATE privacy_score.column_domain d SET number = c.number, origin = privacy_score.database_identity()
      FROM privacy_score.domain_current c
     WHERE d.origin <> privacy_score.database_identity() AND c.relation = d.relation AND c.attribute = d.attribute;
  END;
COMMENT ON FUNCTION privacy_score.tidy_domains() IS
  'Internal: forgets domains of columns that were dropped and takes restored ones over; the worker calls it every hour.';
REVOKE EXECUTE ON FUNCTION privacy_score.tidy_domains() FROM PUBLIC;

-- What was decided, as a file: declarations, labels, dependencies, limits and labels of end users, budgets and baselines. Not history.

CREATE FUNCTION privacy_score.export_policy() RETURNS jsonb
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT pg_catalog.jsonb_build_object(
      'version', 1,
      'relations', (
        SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
                 'relation', p.relation::pg_catalog.regclass::text,
                 'subject', p.subject,
                 'labels', (SELECT COALESCE(pg_catalog.jsonb_object_agg(a.attname, l.label), '{}')
                              FROM pg_catalog.pg_seclabel l
                              JOIN pg_catalog.pg_attribute a ON a.attrelid = l.objoid AND a.attnum = l.objsubid
                             WHERE l.provider = 'privacy_score' AND l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND l.objoid = p.relation),
                 'dependencies', (SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(d.determinant, d.dependent) ORDER BY d.determinant, d.dependent), '[]')
                                    FROM privacy_score.dependency d WHERE d.relation_name = p.name)) ORDER BY p.name), '[]')
          FROM privacy_score.protected_current p),
      'roles', (
        SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('role', x.rolname, 'label', x.label, 'settings', x.settings) ORDER BY x.rolname), '[]')
          FROM (SELECT r.rolname, l.label,
                       (SELECT COALESCE(pg_catalog.jsonb_object_agg(pg_catalog.split_part(c, '=', 1), pg_catalog.substr(c, pg_catalog.strpos(c, '=') + 1)), '{}')
                          FROM pg_catalog.pg_db_role_setting d, pg_catalog.unnest(d.setconfig) c
                         WHERE d.setrole = r.oid AND d.setdatabase = 0 AND c LIKE 'privacy\_score.%') AS settings
                  FROM pg_catalog.pg_roles r
                  LEFT JOIN pg_catalog.pg_shseclabel l ON l.provider = 'privacy_score'
                       AND l.classoid = 'pg_catalog.pg_authid'::pg_catalog.regclass AND l.objoid = r.oid) x
         WHERE x.label IS NOT NULL OR x.settings <> '{}'),
      'end_user_limits', (
        SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('role', u.role, 'end_user', u.end_user, 'session_limit', u.session_limit,
                                                                           'daily_limit', u.daily_limit) ORDER BY u.role, u.end_user), '[]')
          FROM privacy_score.end_user_limit u),
      'end_user_labels', (
        SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('role', u.role, 'end_user', u.end_user, 'label', u.label) ORDER BY u.role, u.end_user), '[]')
          FROM privacy_score.end_user_label u),
      'budgets', (
        SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
                 'role', b.role, 'relation', b.relation::text, 'epsilon', b.epsilon::text, 'period', b.period::text, 'unit', b.unit,
                 'max_rows_per_unit', b.max_rows_per_unit, 'delta', b.delta::text, 'constant_work', b.constant_work) ORDER BY b.role, b.relation::text), '[]')
          FROM privacy_score.dp_budget b),
      'baselines', (
        SELECT COALESCE(pg_catalog.jsonb_agg(privacy_score.export_baseline(b.role, b.end_user) ORDER BY b.role, b.end_user NULLS FIRST), '[]')
          FROM privacy_score.baseline b WHERE b.active));
  END;
COMMENT ON FUNCTION privacy_score.export_policy() IS
  'What was decided in this database, as JSON for import_policy() elsewhere: protected relations with subjects, labels and dependencies, labels and settings of roles, limits and labels of end users, budgets as granted, baselines in force. Superusers, and whoever is granted EXECUTE.';
REVOKE ALL ON FUNCTION privacy_score.export_policy() FROM PUBLIC;

-- Every name and value goes through format(), so that no file can bring a statement of its own.
CREATE FUNCTION privacy_score.policy_statements(policy jsonb)
  RETURNS TABLE (place int, statement text, problem text)
  LANGUAGE sql STABLE STRICT
  BEGIN ATOMIC
    WITH relation AS MATERIALIZED (
      SELECT e.value AS e, e.value->>'relation' AS name,
             CASE WHEN e.value->>'relation' ~ '^("([^"]|"")+"|[A-Za-z_][A-Za-z0-9_$]*)([.]("([^"]|"")+"|[A-Za-z_][A-Za-z0-9_$]*))?$'
                  THEN pg_catalog.to_regclass(e.value->>'relation') END AS oid
        FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(policy_statements.policy->'relations') = 'array' THEN policy_statements.policy->'relations' ELSE '[]' END) e),
    role AS MATERIALIZED (
      SELECT e.value AS e, e.value->>'role' AS name, EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = e.value->>'role') AS exists
        FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(policy_statements.policy->'roles') = 'array' THEN policy_statements.policy->'roles' ELSE '[]' END) e),
    budget AS MATERIALIZED (
      SELECT e.value AS e, e.value->>'role' AS role, pg_catalog.to_regclass(e.value->>'relation') AS oid
        FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(policy_statements.policy->'budgets') = 'array' THEN policy_statements.policy->'budgets' ELSE '[]' END) e),
    column_use AS (
      SELECT r.name, r.oid, 10 AS place, pg_catalog.format('SELECT privacy_score.protect(%L, %s);', COALESCE(r.oid::text, r.name),
                                CASE WHEN pg_catalog.jsonb_typeof(r.e->'subject') = 'array'
                                     THEN pg_catalog.quote_literal(ARRAY(SELECT s.value FROM pg_catalog.jsonb_array_elements_text(r.e->'subject') s)::text) || '::name[]'
                                     ELSE 'NULL::name[]' END) AS statement,
             CASE WHEN pg_catalog.jsonb_typeof(r.e->'subject') = 'array' THEN ARRAY(SELECT s.value FROM pg_catalog.jsonb_array_elements_text(r.e->'subject') s) ELSE '{}' END AS columns
        FROM relation r
      UNION ALL
      SELECT r.name, r.oid, 20, pg_catalog.format('SECURITY LABEL FOR privacy_score ON COLUMN %s.%I IS %L;', r.oid, l.key, l.value), ARRAY[l.key]
        FROM relation r, pg_catalog.jsonb_each_text(CASE WHEN pg_catalog.jsonb_typeof(r.e->'labels') = 'object' THEN r.e->'labels' ELSE '{}' END) l
      UNION ALL
      SELECT r.name, r.oid, 30, pg_catalog.format('SELECT privacy_score.confirm_dependency(%L, %L, %L);', COALESCE(r.oid::text, r.name), d.value->>0, d.value->>1), ARRAY[d.value->>0, d.value->>1]
        FROM relation r, pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(r.e->'dependencies') = 'array' THEN r.e->'dependencies' ELSE '[]' END) d)
    SELECT c.place, c.statement,
           CASE WHEN c.oid IS NULL THEN pg_catalog.format('relation %s does not exist', c.name)
                ELSE (SELECT pg_catalog.format('column %s of relation %s does not exist', pg_catalog.string_agg(pg_catalog.quote_ident(n.name), ', '), c.oid)
                        FROM pg_catalog.unnest(c.columns) n(name)
                       WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname = n.name AND NOT a.attisdropped)
                      HAVING pg_catalog.count(*) > 0) END
      FROM column_use c
    UNION ALL
    SELECT 40, pg_catalog.format('SECURITY LABEL FOR privacy_score ON ROLE %I IS %L;', r.name, r.e->>'label'),
           CASE WHEN NOT r.exists THEN pg_catalog.format('role %I does not exist', r.name) END
      FROM role r WHERE r.e->>'label' IS NOT NULL
    UNION ALL
    SELECT 50, pg_catalog.format('ALTER ROLE %I SET %s = %L;', r.name, s.key, s.value),
           CASE WHEN NOT r.exists THEN pg_catalog.format('role %I does not exist', r.name)
                WHEN s.key !~ '^privacy_score[.][a-z_]+$' OR NOT EXISTS (SELECT FROM pg_catalog.pg_settings g WHERE g.name = s.key)
                THEN pg_catalog.format('there is no setting %s of privacy_score', pg_catalog.quote_literal(s.key)) END
      FROM role r, pg_catalog.jsonb_each_text(CASE WHEN pg_catalog.jsonb_typeof(r.e->'settings') = 'object' THEN r.e->'settings' ELSE '{}' END) s
    UNION ALL
    SELECT 55, pg_catalog.format('SELECT privacy_score.set_limit(%L, %L, %L, %L);', u.value->>'role', u.value->>'end_user', u.value->>'session_limit', u.value->>'daily_limit'),
           CASE WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = u.value->>'role') THEN pg_catalog.format('role %I does not exist', u.value->>'role') END
      FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(policy_statements.policy->'end_user_limits') = 'array' THEN policy_statements.policy->'end_user_limits' ELSE '[]' END) u
    UNION ALL
    SELECT 56, pg_catalog.format('SELECT privacy_score.label_end_user(%L, %L, %L);', u.value->>'role', u.value->>'end_user', u.value->>'label'),
           CASE WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = u.value->>'role') THEN pg_catalog.format('role %I does not exist', u.value->>'role') END
      FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(policy_statements.policy->'end_user_labels') = 'array' THEN policy_statements.policy->'end_user_labels' ELSE '[]' END) u
     WHERE u.value->>'label' IS NOT NULL
    UNION ALL
    SELECT 60, pg_catalog.format('SELECT privacy_score.dp_grant(%L, %L, %L, %L, %L, %L, %L, %L);', b.role, COALESCE(b.oid::text, b.e->>'relation'), b.e->>'epsilon', b.e->>'period',
                                 b.e->>'unit', COALESCE(b.e->>'max_rows_per_unit', '1'), b.e->>'delta', COALESCE(b.e->>'constant_work', 'true')),
           CASE WHEN b.oid IS NULL THEN pg_catalog.format('relation %s does not exist', b.e->>'relation')
                WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = b.role) THEN pg_catalog.format('role %I does not exist', b.role) END
      FROM budget b
    UNION ALL
    SELECT 70, pg_catalog.format('SELECT privacy_score.import_baseline(%L);', b.value), NULL
      FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(policy_statements.policy->'baselines') = 'array' THEN policy_statements.policy->'baselines' ELSE '[]' END) b;
  END;
COMMENT ON FUNCTION privacy_score.policy_statements(jsonb) IS 'Internal: what import_policy() runs, in its order, and why it cannot.';
REVOKE ALL ON FUNCTION privacy_score.policy_statements(jsonb) FROM PUBLIC;

CREATE FUNCTION privacy_score.import_policy(policy jsonb, dry_run boolean DEFAULT true)
  RETURNS TABLE (statement text, state text, problem text)
  AS 'MODULE_PATHNAME', 'ps_import_policy' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.import_policy(jsonb, boolean) IS
  'Brings about what export_policy() has written. A dry run only says what it would do: each statement with its state: wanted, already so, or not possible, with the problem. Else all that is wanted is done, in this transaction, with the caller''s rights. Nothing is taken away. Superusers, and whoever is granted EXECUTE.';
REVOKE ALL ON FUNCTION privacy_score.import_policy(jsonb, boolean) FROM PUBLIC;

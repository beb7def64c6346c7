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
                 'max_rows_per_unit', b.max_rows_per_unit, 'delta', b.delta::text, 'constant_work', b.constant_work,
                 'scope', b.scope) ORDER BY b.role, b.relation::text), '[]')
          FROM privacy_score.dp_budget b),
      'baselines', (
        SELECT COALESCE(pg_catalog.jsonb_agg(privacy_score.export_baseline(b.role, b.end_user) ORDER BY b.role, b.end_user NULLS FIRST), '[]')
          FROM privacy_score.baseline b WHERE b.active));
  END;
COMMENT ON FUNCTION privacy_score.export_policy() IS
  'What was decided in this database, as JSON for import_policy() elsewhere: protected relations with subjects, labels and dependencies, labels and settings of roles, limits and labels of end users, budgets as granted, baselines in force. Superusers, and whoever is granted EXECUTE.';
REVOKE ALL ON FUNCTION privacy_score.export_policy() FROM PUBLIC;

-- A relation of a policy: by its name as export_policy() writes it, which has a schema.
CREATE FUNCTION privacy_score.policy_relation(name text) RETURNS regclass
  LANGUAGE sql STABLE
  RETURN CASE WHEN policy_relation.name ~ '^("([^"]|"")+"|[A-Za-z_][A-Za-z0-9_$]*)([.]("([^"]|"")+"|[A-Za-z_][A-Za-z0-9_$]*))?$'
              THEN pg_catalog.to_regclass(policy_relation.name) END;
COMMENT ON FUNCTION privacy_score.policy_relation(text) IS 'Internal: the relation that a policy names, NULL where there is none.';
REVOKE ALL ON FUNCTION privacy_score.policy_relation(text) FROM PUBLIC;

-- Why a policy cannot be about that relation or that role; NULL where it can.
CREATE FUNCTION privacy_score.policy_problem(relation text, role text, has_relation boolean, has_role boolean) RETURNS text
  LANGUAGE sql STABLE
  RETURN CASE
    WHEN policy_problem.has_relation AND policy_problem.relation IS NULL THEN 'it names no relation'
    WHEN policy_problem.has_relation AND privacy_score.policy_relation(policy_problem.relation) IS NULL
      THEN pg_catalog.format('relation %s does not exist', policy_problem.relation)
           || CASE WHEN pg_catalog.strpos(policy_problem.relation, '.') = 0 THEN '; a policy names relations with their schema' ELSE '' END
    WHEN policy_problem.has_role AND policy_problem.role IS NULL THEN 'it names no role'
    WHEN policy_problem.has_role AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = policy_problem.role)
      THEN pg_catalog.format('role %I does not exist', policy_problem.role) END;
COMMENT ON FUNCTION privacy_score.policy_problem(text, text, boolean, boolean) IS 'Internal: why a policy cannot be about a relation or a role.';
REVOKE ALL ON FUNCTION privacy_score.policy_problem(text, text, boolean, boolean) FROM PUBLIC;

-- The entries of one part of a policy.
CREATE FUNCTION privacy_score.policy_part(policy jsonb, part text) RETURNS SETOF jsonb
  LANGUAGE sql IMMUTABLE
  BEGIN ATOMIC
    SELECT e.value
      FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(policy_part.policy->policy_part.part) = 'array'
                                                THEN policy_part.policy->policy_part.part ELSE '[]' END) e;
  END;
COMMENT ON FUNCTION privacy_score.policy_part(jsonb, text) IS 'Internal: the entries of one part of a policy, none where it is no array.';
REVOKE ALL ON FUNCTION privacy_score.policy_part(jsonb, text) FROM PUBLIC;

-- Every name and value goes through format(), so that no file can bring a statement of its own. What is shown is the
-- statement itself, but of a baseline, which is long: of that, whose it is.
CREATE FUNCTION privacy_score.policy_statements(policy jsonb)
  RETURNS TABLE (place int, statement text, problem text, shown text)
  LANGUAGE sql STABLE STRICT
  BEGIN ATOMIC
    WITH relation AS MATERIALIZED (
      SELECT e AS e, e->>'relation' AS name, privacy_score.policy_relation(e->>'relation') AS oid
        FROM privacy_score.policy_part(policy_statements.policy, 'relations') e),
    role AS MATERIALIZED (SELECT e AS e, e->>'role' AS name FROM privacy_score.policy_part(policy_statements.policy, 'roles') e),
    column_use AS (
      SELECT r.name, r.oid, 10 AS place, pg_catalog.format('SELECT privacy_score.protect(%L, %s);', COALESCE(r.oid::text, r.name),
                                CASE WHEN pg_catalog.jsonb_typeof(r.e->'subject') = 'array'
                                     THEN pg_catalog.quote_literal(ARRAY(SELECT s.value FROM pg_catalog.jsonb_array_elements_text(r.e->'subject') s)::text)
                                     ELSE 'NULL' END || '::pg_catalog.name[]') AS statement,
             CASE WHEN pg_catalog.jsonb_typeof(r.e->'subject') = 'array' THEN ARRAY(SELECT s.value FROM pg_catalog.jsonb_array_elements_text(r.e->'subject') s) ELSE '{}' END AS columns
        FROM relation r
      UNION ALL
      SELECT r.name, r.oid, 20, pg_catalog.format('SECURITY LABEL FOR privacy_score ON COLUMN %s.%I IS %L;', COALESCE(r.oid::text, r.name), l.key, l.value), ARRAY[l.key]
        FROM relation r, pg_catalog.jsonb_each_text(CASE WHEN pg_catalog.jsonb_typeof(r.e->'labels') = 'object' THEN r.e->'labels' ELSE '{}' END) l
       WHERE l.value IS NOT NULL
      UNION ALL
      SELECT r.name, r.oid, 30, pg_catalog.format('SELECT privacy_score.confirm_dependency(%L, %L, %L);', COALESCE(r.oid::text, r.name), d.value->>0, d.value->>1), ARRAY[d.value->>0, d.value->>1]
        FROM relation r, pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(r.e->'dependencies') = 'array' THEN r.e->'dependencies' ELSE '[]' END) d),
    step AS (
      SELECT 0 AS place, '-- ' || pg_catalog.to_jsonb(p.key)::text AS statement,
             CASE WHEN p.key <> ALL (o.parts) THEN 'a policy has no such part; it has ' || pg_catalog.array_to_string(o.parts, ', ')
                  ELSE 'this part must be an array, not ' || pg_catalog.jsonb_typeof(p.value) END AS problem
        FROM pg_catalog.jsonb_each(CASE WHEN pg_catalog.jsonb_typeof(policy_statements.policy) = 'object' THEN policy_statements.policy ELSE '{}' END) p,
             (SELECT '{relations,roles,end_user_limits,end_user_labels,budgets,baselines}'::text[] AS parts) o
       WHERE p.key <> 'version' AND (p.key <> ALL (o.parts) OR pg_catalog.jsonb_typeof(p.value) NOT IN ('array', 'null'))
      UNION ALL
      SELECT c.place, c.statement,
             COALESCE(privacy_score.policy_problem(c.name, NULL, true, false),
                      (SELECT pg_catalog.format('column %s of relation %s does not exist', pg_catalog.string_agg(COALESCE(pg_catalog.quote_ident(n.name), 'NULL'), ', '), c.oid)
                         FROM pg_catalog.unnest(c.columns) n(name)
                        WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attname = n.name AND NOT a.attisdropped)
                       HAVING pg_catalog.count(*) > 0))
        FROM column_use c
      UNION ALL
      SELECT 40, pg_catalog.format('SECURITY LABEL FOR privacy_score ON ROLE %s IS %L;', COALESCE(pg_catalog.quote_ident(r.name), 'NULL'), r.e->>'label'),
             privacy_score.policy_problem(NULL, r.name, false, true)
        FROM role r WHERE r.e->>'label' IS NOT NULL
      UNION ALL
      SELECT 50, pg_catalog.format('ALTER ROLE %s SET %s = %L;', COALESCE(pg_catalog.quote_ident(r.name), 'NULL'), s.key, s.value),
             COALESCE(privacy_score.policy_problem(NULL, r.name, false, true),
                      CASE WHEN s.key !~ '^privacy_score[.][a-z_]+$' OR NOT EXISTS (SELECT FROM pg_catalog.pg_settings g WHERE g.name = s.key)
                           THEN pg_catalog.format('there is no setting %s of privacy_score', pg_catalog.quote_literal(s.key)) END)
        FROM role r, pg_catalog.jsonb_each_text(CASE WHEN pg_catalog.jsonb_typeof(r.e->'settings') = 'object' THEN r.e->'settings' ELSE '{}' END) s
       WHERE s.value IS NOT NULL
      UNION ALL
      SELECT 55, pg_catalog.format('SELECT privacy_score.set_limit(%L, %L, %L, %L);', u->>'role', u->>'end_user', u->>'session_limit', u->>'daily_limit'),
             COALESCE(privacy_score.policy_problem(NULL, u->>'role', false, true), CASE WHEN u->>'end_user' IS NULL THEN 'it names no end user' END)
        FROM privacy_score.policy_part(policy_statements.policy, 'end_user_limits') u
      UNION ALL
      SELECT 56, pg_catalog.format('SELECT privacy_score.label_end_user(%L, %L, %L);', u->>'role', u->>'end_user', u->>'label'),
             COALESCE(privacy_score.policy_problem(NULL, u->>'role', false, true), CASE WHEN u->>'end_user' IS NULL THEN 'it names no end user' END)
        FROM privacy_score.policy_part(policy_statements.policy, 'end_user_labels') u
       WHERE u->>'label' IS NOT NULL
      UNION ALL
      SELECT 60, CASE WHEN b->>'scope' = 'person'
                      THEN pg_catalog.format('SELECT privacy_score.dp_grant_person(%L, %L, %L, %L, %L);', b->>'role',
                                             COALESCE(privacy_score.policy_relation(b->>'relation')::text, b->>'relation'), b->>'epsilon', b->>'period',
                                             b->>'delta')
                      ELSE pg_catalog.format('SELECT privacy_score.dp_grant(%L, %L, %L, %L, %L, %L, %L, %L);', b->>'role',
                                             COALESCE(privacy_score.policy_relation(b->>'relation')::text, b->>'relation'), b->>'epsilon', b->>'period',
                                             b->>'unit', COALESCE(b->>'max_rows_per_unit', '1'), b->>'delta', COALESCE(b->>'constant_work', 'true')) END,
             COALESCE(privacy_score.policy_problem(b->>'relation', b->>'role', true, true), CASE WHEN b->>'epsilon' IS NULL THEN 'it has no epsilon' END)
        FROM privacy_score.policy_part(policy_statements.policy, 'budgets') b)
    SELECT s.place, s.statement, s.problem, s.statement FROM step s
    UNION ALL
    SELECT 70, pg_catalog.format('SELECT privacy_score.import_baseline(%L);', b), NULL::text,
           pg_catalog.format('SELECT privacy_score.import_baseline(...);  -- of role %L, end user %L, from %L to %L, %L sessions', b->>'role', b->>'end_user',
                             b->>'from_day', b->>'to_day', b->>'sessions')
      FROM privacy_score.policy_part(policy_statements.policy, 'baselines') b;
  END;
COMMENT ON FUNCTION privacy_score.policy_statements(jsonb) IS 'Internal: what import_policy() runs, in its order, and why it cannot.';
REVOKE ALL ON FUNCTION privacy_score.policy_statements(jsonb) FROM PUBLIC;

CREATE FUNCTION privacy_score.import_policy(policy jsonb, dry_run boolean DEFAULT true)
  RETURNS TABLE (statement text, state text, problem text)
  AS 'MODULE_PATHNAME', 'ps_import_policy' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.import_policy(jsonb, boolean) IS
  'Brings about what export_policy() has written. A dry run only says what it would do: each statement with its state: wanted, already so, or not possible, with the problem. Else all that is wanted is done, in this transaction, with the caller''s rights. Nothing is taken away. Superusers, and whoever is granted EXECUTE.';
REVOKE ALL ON FUNCTION privacy_score.import_policy(jsonb, boolean) FROM PUBLIC;

-- Leaving: what the extension has put outside its own schema, and how to take it out.

CREATE VIEW privacy_score.uninstall_step AS
  WITH
  -- What is left of shared_preload_libraries.
  others AS (
    SELECT pg_catalog.string_agg(pg_catalog.quote_literal(pg_catalog.btrim(l.name, ' "')), ', ' ORDER BY l.n) AS list
      FROM pg_catalog.unnest(pg_catalog.string_to_array(pg_catalog.current_setting('shared_preload_libraries'), ',')) WITH ORDINALITY l(name, n)
     WHERE pg_catalog.btrim(l.name, ' "') NOT IN ('privacy_score', '$libdir/privacy_score')),
  line AS (
    SELECT x.name, x.sourcefile, x.sourceline, x.sourcefile ~ '/postgresql[.]auto[.]conf$' AS is_auto
      FROM (SELECT g.name, g.sourcefile, g.sourceline FROM privacy_score.given_setting g WHERE g.sourcefile IS NOT NULL
            UNION ALL
            SELECT p.name, p.sourcefile, p.sourceline FROM pg_catalog.pg_file_settings p
             WHERE p.name = 'shared_preload_libraries' AND p.setting ~ 'privacy_score') x)
  SELECT 10 AS place, pg_catalog.format('ALTER %s RESET %s;', g.holder, g.name) AS statement,
         'without the library the setting is a name that nobody knows' AS reason
    FROM privacy_score.given_setting g WHERE g.holder IS NOT NULL
  UNION ALL
  SELECT 20, pg_catalog.format('SECURITY LABEL FOR privacy_score ON ROLE %I IS NULL;', r.rolname),
         'holds in all databases of the server, and pg_dumpall writes it down'
    FROM pg_catalog.pg_shseclabel l JOIN pg_catalog.pg_roles r ON r.oid = l.objoid
   WHERE l.provider = 'privacy_score' AND l.classoid = 'pg_catalog.pg_authid'::pg_catalog.regclass
  UNION ALL
  SELECT 30, pg_catalog.format('REVOKE ALL ON PARAMETER %s FROM %s%s;', p.parname, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END,
                               -- It may have granted it further.
                               CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_parameter_acl q CROSS JOIN LATERAL pg_catalog.aclexplode(q.paracl) x
                                                  WHERE q.parname = p.parname AND x.grantor = a.grantee) THEN ' CASCADE' END),
         'grants on settings outlive the extension'
    FROM pg_catalog.pg_parameter_acl p CROSS JOIN LATERAL pg_catalog.aclexplode(p.paracl) a LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
   WHERE p.parname LIKE 'privacy\_score.%' AND a.grantee <> 10
   GROUP BY p.parname, a.grantee, r.rolname
  UNION ALL
  SELECT 40, CASE WHEN NOT x.is_auto THEN pg_catalog.format('-- take %s out of %s, line %s', CASE WHEN x.name = 'shared_preload_libraries' THEN 'privacy_score' ELSE x.name END, x.sourcefile, x.sourceline)
                  WHEN x.name <> 'shared_preload_libraries' THEN pg_catalog.format('ALTER SYSTEM RESET %s;', x.name)
                  WHEN o.list IS NULL THEN 'ALTER SYSTEM RESET shared_preload_libraries;'
                  ELSE pg_catalog.format('ALTER SYSTEM SET shared_preload_libraries = %s;', o.list) END,
         CASE WHEN x.name = 'shared_preload_libraries' THEN 'with the entry and without the library the server does not start' ELSE 'a setting of the library' END
    FROM line x, others o
  UNION ALL
  SELECT 50, 'DROP EXTENSION privacy_score;  -- in each database that has it',
         'with it go history, baselines, alerts and budgets; export_policy() keeps what was decided'
  UNION ALL
  SELECT 60, '-- restart the server', 'until then the library is loaded; nothing is watched any more'
  UNION ALL
  SELECT 70, '-- make uninstall, or apt-get remove', 'last, for a server that preloads a library that is gone does not start';
COMMENT ON VIEW privacy_score.uninstall_step IS 'Internal: what is to be done to leave, in its order.';

CREATE FUNCTION privacy_score.prepare_uninstall() RETURNS TABLE (step int, statement text, reason text)
  AS 'MODULE_PATHNAME', 'ps_prepare_uninstall' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.prepare_uninstall() IS
  'Takes the labels off the columns of this database, so that a dump restores where the library never was, and lists what else is to be done before make uninstall: settings and labels of roles, grants, lines of configuration files. Superusers, and whoever is granted EXECUTE.';
REVOKE ALL ON FUNCTION privacy_score.prepare_uninstall() FROM PUBLIC;

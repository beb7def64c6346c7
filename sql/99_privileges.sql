-- Who may read what, whatever the default privileges of the installing role say: those would give tables of the history
-- away, and functions that only the owner may call. Only what this script has made is looked at: its membership is as new
-- as the row of the extension. What an administrator has granted before an update stays, on the functions that take the
-- place of others too: of those only what the defaults give is taken.
DO $$
DECLARE
  given record;
BEGIN
  FOR given IN
    SELECT DISTINCT a.object, a.grantee
      FROM (SELECT d.classid, d.objid
              FROM pg_catalog.pg_extension x
              JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
                   AND d.refobjid OPERATOR(pg_catalog.=) x.oid AND d.deptype OPERATOR(pg_catalog.=) 'e' AND d.xmin OPERATOR(pg_catalog.=) x.xmin
             WHERE x.extname OPERATOR(pg_catalog.=) 'privacy_score') m
      CROSS JOIN LATERAL (
        SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END OPERATOR(pg_catalog.||) c.oid::pg_catalog.regclass::pg_catalog.text, g.grantee
          FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) g
         WHERE m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND c.oid OPERATOR(pg_catalog.=) m.objid
           AND g.grantee OPERATOR(pg_catalog.<>) c.relowner
        UNION ALL
        SELECT 'ROUTINE ' OPERATOR(pg_catalog.||) p.oid::pg_catalog.regprocedure::pg_catalog.text, g.grantee
          FROM pg_catalog.pg_proc p CROSS JOIN LATERAL pg_catalog.aclexplode(p.proacl) g
         WHERE m.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass AND p.oid OPERATOR(pg_catalog.=) m.objid
           AND g.grantee OPERATOR(pg_catalog.<>) p.proowner AND g.grantee OPERATOR(pg_catalog.<>) 0
           AND EXISTS (SELECT FROM pg_catalog.pg_default_acl f CROSS JOIN LATERAL pg_catalog.aclexplode(f.defaclacl) w
                        WHERE f.defaclrole OPERATOR(pg_catalog.=) p.proowner AND f.defaclobjtype OPERATOR(pg_catalog.=) 'f'
                          AND w.grantee OPERATOR(pg_catalog.=) g.grantee)) a(object, grantee)
     ORDER BY a.object, a.grantee
  LOOP
    EXECUTE pg_catalog.format('REVOKE ALL ON %s FROM %s', given.object,
                              CASE given.grantee WHEN 0 THEN 'PUBLIC' ELSE given.grantee::pg_catalog.regrole::pg_catalog.text END);
  END LOOP;
END $$;

GRANT SELECT ON
  -- what is declared
  privacy_score.protected_relations, privacy_score.trigger_grants,
  -- what is watched
  privacy_score.baselines, privacy_score.stat_sessions, privacy_score.stat_contexts, privacy_score.stat_days, privacy_score.stat_roles,
  privacy_score.stat_end_users, privacy_score.stat_abstractions, privacy_score.stat_mismatches, privacy_score.alerts, privacy_score.accepted,
  privacy_score.stat_cdr, privacy_score.stat_info, privacy_score.stat_history, privacy_score.progress, privacy_score.end_user_limits, privacy_score.end_user_labels,
  -- what is answered privately
  privacy_score.dp_last_answer, privacy_score.dp_budget, privacy_score.dp_releases, privacy_score.dp_domains, privacy_score.dp_expressions,
  -- several servers
  privacy_score.export_sessions, privacy_score.export_roles, privacy_score.export_days, privacy_score.export_ngrams, privacy_score.export_alerts,
  privacy_score.export_info, privacy_score.export_parts, privacy_score.fleet_sessions, privacy_score.fleet_roles, privacy_score.fleet_days,
  privacy_score.fleet_mismatches, privacy_score.fleet_alerts, privacy_score.fleet_orders, privacy_score.fleet_info
  TO PUBLIC;

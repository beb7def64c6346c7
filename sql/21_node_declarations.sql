-- Declarations of distributed relations, the same on all nodes of Citus. Labels Citus takes along itself.

CREATE VIEW privacy_score.declarations AS
  SELECT pg_catalog.jsonb_build_object(
           'protected', COALESCE((SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('name', c.name, 'subject', c.subject))
                                    FROM privacy_score.protected_current c), '[]'),
           'dependencies', COALESCE((SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
                                              'name', d.relation_name, 'determinant', d.determinant, 'dependent', d.dependent))
                                       FROM privacy_score.dependency d), '[]')) AS declarations;
COMMENT ON VIEW privacy_score.declarations IS 'Internal: what protect() and confirm_dependency() have declared here, for other nodes.';

-- What is declared of relations that are not distributed is each node's own.
CREATE FUNCTION privacy_score.take_declarations(declarations jsonb, distributed text[]) RETURNS text
  LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT privacy_score.unprotect(c.relation)
      FROM privacy_score.protected_current c
     WHERE c.name = ANY (take_declarations.distributed)
       AND NOT EXISTS (SELECT FROM pg_catalog.jsonb_to_recordset(take_declarations.declarations -> 'protected') w(name text) WHERE w.name = c.name);
    SELECT privacy_score.protect(pg_catalog.to_regclass(w.name), w.subject)
      FROM pg_catalog.jsonb_to_recordset(take_declarations.declarations -> 'protected') w(name text, subject name[])
      LEFT JOIN privacy_score.protected_current c ON c.name = w.name
     WHERE w.name = ANY (take_declarations.distributed) AND pg_catalog.to_regclass(w.name) IS NOT NULL
       AND (c.name IS NULL OR c.subject IS DISTINCT FROM w.subject);
    SELECT privacy_score.withdraw_dependency(pg_catalog.to_regclass(d.relation_name), d.determinant, d.dependent)
      FROM privacy_score.dependency d
     WHERE d.relation_name = ANY (take_declarations.distributed) AND pg_catalog.to_regclass(d.relation_name) IS NOT NULL
       AND NOT EXISTS (SELECT FROM pg_catalog.jsonb_to_recordset(take_declarations.declarations -> 'dependencies')
                                     w(name text, determinant name, dependent name)
                        WHERE (w.name, w.determinant, w.dependent) = (d.relation_name, d.determinant, d.dependent));
    SELECT privacy_score.confirm_dependency(pg_catalog.to_regclass(w.name), w.determinant, w.dependent)
      FROM pg_catalog.jsonb_to_recordset(take_declarations.declarations -> 'dependencies') w(name text, determinant name, dependent name)
     WHERE w.name = ANY (take_declarations.distributed) AND pg_catalog.to_regclass(w.name) IS NOT NULL
       AND NOT EXISTS (SELECT FROM privacy_score.dependency d
                        WHERE (w.name, w.determinant, w.dependent) = (d.relation_name, d.determinant, d.dependent));
    SELECT pg_catalog.string_agg(w.name, ', ' ORDER BY w.name)
      FROM pg_catalog.jsonb_to_recordset(take_declarations.declarations -> 'protected') w(name text)
     WHERE w.name = ANY (take_declarations.distributed) AND pg_catalog.to_regclass(w.name) IS NULL;
  END;
COMMENT ON FUNCTION privacy_score.take_declarations(jsonb, text[]) IS
  'Internal: makes the declarations of distributed relations those of another node; returns the relations that are not here.';
REVOKE EXECUTE ON FUNCTION privacy_score.take_declarations(jsonb, text[]) FROM PUBLIC;

CREATE FUNCTION privacy_score.propagate_declarations() RETURNS TABLE (node text, done boolean, problem text)
  AS 'MODULE_PATHNAME', 'ps_propagate_declarations' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.propagate_declarations() IS
  'Makes what protect() and confirm_dependency() have declared of relations that Citus distributes the same on all other nodes, at once and outside of the transaction. A row for each node; problem: the error, or the relations that it does not have. 55000 where Citus is not in this database, or no distributed relation is protected here. Superusers, and who is granted it.';
REVOKE EXECUTE ON FUNCTION privacy_score.propagate_declarations() FROM PUBLIC;

-- --- what a node asks another one ------------------------------------------------------------------------------------
CREATE FUNCTION privacy_score.confirm_sender(pid int, since timestamptz, address text, port int, to_address text, to_port int) RETURNS boolean
  AS 'MODULE_PATHNAME', 'ps_confirm_sender' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.confirm_sender(int, timestamptz, text, int, text, int) IS
  'Internal: whether that process of this node has a session in this database whose statements count, and the connection from address and port to to_address and to_port is its own. Without an address it is a unix socket that a process of this number has opened before that moment. False also where the operating system does not tell.';
REVOKE EXECUTE ON FUNCTION privacy_score.confirm_sender(int, timestamptz, text, int, text, int) FROM PUBLIC;

-- Declaring what is protected, and the model views from which scoring reads it. Model views are internal: each is one
-- section of what core is given (src/core/scoring/model.hpp), in names that survive DROP and CREATE.

CREATE FUNCTION privacy_score.protect(relation regclass, subject name[] DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_protect' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.protect(regclass, name[]) IS
  'Declares a relation as holding personal data; subject: the columns that identify a person, by default the primary key, else the row. Owner only.';

CREATE FUNCTION privacy_score.protect(relation regclass, subject text) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_protect_literal' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.protect(regclass, text) IS
  'The same for a literal: protect(relation, ''{a,b}'') names columns as an array does, protect(relation, ''a'') one column.';

CREATE FUNCTION privacy_score.unprotect(relation regclass) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_unprotect' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.unprotect(regclass) IS 'Takes back protect(); history is kept. Owner only.';

CREATE FUNCTION privacy_score.confirm_dependency(relation regclass, determinant name, dependent name) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_confirm_dependency' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.confirm_dependency(regclass, name, name) IS
  'States that the one column determines the other by its meaning, not by accident of the rows: knowing the first, the second is no surprise. Owner only.';

CREATE FUNCTION privacy_score.withdraw_dependency(relation regclass, determinant name, dependent name) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_withdraw_dependency' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.withdraw_dependency(regclass, name, name) IS 'Takes back confirm_dependency(). Owner only.';

CREATE FUNCTION privacy_score.protection_changed() RETURNS trigger
  AS 'MODULE_PATHNAME', 'ps_protection_changed' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.protection_changed() IS
  'Internal: tells every backend that what it remembers of a relation, and every plan that reads it, is out of date.';
REVOKE EXECUTE ON FUNCTION privacy_score.protection_changed() FROM PUBLIC;

CREATE TRIGGER protection_changed AFTER INSERT OR UPDATE OR DELETE ON privacy_score.protected_relation
  FOR EACH ROW EXECUTE FUNCTION privacy_score.protection_changed();
COMMENT ON TRIGGER protection_changed ON privacy_score.protected_relation IS 'Declarations take effect at once in every session.';

-- Not quote_ident(), which quotes all names where the session or the server says so: the worker and core must find what
-- abstractions have written.
CREATE FUNCTION privacy_score.canonical_name(identifier name) RETURNS text
  AS 'MODULE_PATHNAME', 'ps_canonical_name' LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.canonical_name(name) IS
  'Internal: an identifier as abstractions write it, bare when it is [a-z_][a-z0-9_$]*, be it a keyword of SQL or not.';

CREATE VIEW privacy_score.canonical_relation AS
  SELECT c.oid AS relation, privacy_score.canonical_name(n.nspname) || '.' || privacy_score.canonical_name(c.relname) AS name
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace;
COMMENT ON VIEW privacy_score.canonical_relation IS 'Internal: relations under the name they bear now, as abstractions write it.';

CREATE VIEW privacy_score.protected_current AS
  SELECT DISTINCT ON (c.relation) c.relation, c.name, p.subject
    FROM privacy_score.protected_relation p
    JOIN privacy_score.canonical_relation c
      ON c.relation = COALESCE((SELECT x.oid FROM pg_catalog.pg_class x WHERE x.oid = p.relation), pg_catalog.to_regclass(p.name))
   ORDER BY c.relation, p.relation = c.relation DESC;
COMMENT ON VIEW privacy_score.protected_current IS
  'Internal: protected relations that exist, under the name they bear now; one dropped and created again is found by its name.';

-- The columns of a relation's subject as attribute numbers: declared, else primary key, else empty for the row.
CREATE FUNCTION privacy_score.subject_attributes(relation oid) RETURNS int2[]
  AS 'MODULE_PATHNAME', 'ps_subject_attributes' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.subject_attributes(oid) IS 'Internal: attribute numbers of a relation''s subject, empty for the row.';

-- Follows foreign keys from a relation's subject to the relation where that subject is at home; each column there is the
-- one that the subject's column in the same place refers to.
CREATE FUNCTION privacy_score.subject_path(relation oid, OUT home oid, OUT columns int2[]) RETURNS record
  AS 'MODULE_PATHNAME', 'ps_subject_path' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.subject_path(oid) IS 'Internal: where a relation''s subject is at home through declared foreign keys, and its columns there.';

CREATE FUNCTION privacy_score.subject_home(relation oid) RETURNS text
  AS 'MODULE_PATHNAME', 'ps_subject_home' LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.subject_home(oid) IS 'Internal: relations with equal results share a subject through declared foreign keys.';

-- Rows are read as the owner of a relation, so all have to have the same.
CREATE FUNCTION privacy_score.joint_home(relation oid) RETURNS oid
  AS 'MODULE_PATHNAME', 'ps_joint_home' LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.joint_home(oid) IS
  'Internal: the relation where a relation''s subject is at home, when rows of relations with the same home can be joined there: a table without children, or a partitioned one, with one row a subject, of the same owner and with keys that can be compared; else NULL.';

-- By scans of the catalogs: views of views take longer to plan than to read. In the order of bytes, as names are.
CREATE FUNCTION privacy_score.model_relations()
  RETURNS TABLE (relation oid, name text, subject_home text, is_row_subject boolean, joint_home text)
  AS 'MODULE_PATHNAME', 'ps_model_relations' LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.model_relations() IS 'Internal: what model_relation shows, with where subjects are at home.';

CREATE FUNCTION privacy_score.model_attributes()
  RETURNS TABLE (relation oid, relation_name text, attnum int2, attname name, label text, identifier boolean, subject_position int)
  AS 'MODULE_PATHNAME', 'ps_model_attributes' LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.model_attributes() IS 'Internal: what model_attribute shows.';

CREATE VIEW privacy_score.model_relation AS
  SELECT m.name COLLATE "C" AS name, pg_catalog.dense_rank() OVER (ORDER BY m.subject_home) AS subject_group, m.is_row_subject,
         m.relation, m.joint_home COLLATE "C" AS joint_home
    FROM privacy_score.model_relations() m;
COMMENT ON VIEW privacy_score.model_relation IS 'Internal: protected relations that exist, with their subject group; is_row_subject: each row is a subject of its own; joint_home: where rows of relations of the group can be joined.';

CREATE VIEW privacy_score.model_attribute AS
  SELECT m.relation_name COLLATE "C" || '.' || privacy_score.canonical_name(m.attname) AS name,
         m.relation_name COLLATE "C" AS relation_name, m.label COLLATE "C" AS label, m.identifier, m.relation, m.attname, m.attnum, m.subject_position
    FROM privacy_score.model_attributes() m;
COMMENT ON VIEW privacy_score.model_attribute IS
  'Internal: columns of protected relations; identifier: subject columns, columns so labelled, and columns of key constraints without another label; subject_position: the place among the columns of the subject where that is at home, from 0.';

CREATE VIEW privacy_score.model_dependency AS
  SELECT a.name AS determinant, b.name AS dependent
    FROM privacy_score.dependency d
    JOIN privacy_score.model_attribute a ON a.relation_name = d.relation_name AND a.attname = d.determinant
    JOIN privacy_score.model_attribute b ON b.relation_name = d.relation_name AND b.attname = d.dependent;
COMMENT ON VIEW privacy_score.model_dependency IS 'Internal: confirmed dependencies between columns that exist.';

-- identity changes when a relation is dropped and created again, truncated, rewritten, or gets a column or a partition.
CREATE FUNCTION privacy_score.source_state(name text, OUT identity bigint, OUT rows bigint, OUT modifications bigint) RETURNS record
  AS 'MODULE_PATHNAME', 'ps_source_state' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.source_state(text) IS
  'Internal: what tells that the rows of a relation are others than at another time, from the server''s statistics, partitions, children and, as the worker has counted them, shards included; NULL when there is none of that name.';

-- Rates of a table that was nearly empty say nothing of its first rows, however few these are: rows that are there, not
-- modifications, which a transaction that fails has too. Of a table with few rows the server's count is exact.
CREATE VIEW privacy_score.rate_state AS
  WITH source AS MATERIALIZED (
    SELECT n.name, s.identity, s.modifications, s.rows
      FROM (SELECT DISTINCT u.name FROM privacy_score.rate r, pg_catalog.unnest(r.sources) u(name)) n,
           LATERAL privacy_score.source_state(n.name) s)
  SELECT r.relation_name, r.attributes, r.rate, r.rows, r.subject_entropy, r.sources, r.computed_at,
         x.gone, x.changed OR x.modified_much AS stale, CASE WHEN NOT x.changed THEN x.modified END AS modified, r.period
    FROM privacy_score.rate r
   CROSS JOIN (SELECT COALESCE(pg_catalog.current_setting('privacy_score.rate_refresh_threshold', true), '50')::float8 AS threshold,
                      COALESCE(pg_catalog.current_setting('privacy_score.rate_refresh_scale_factor', true), '0.1')::float8 AS scale_factor,
                      NOT pg_catalog.pg_is_in_recovery() AS counted) c
   CROSS JOIN LATERAL (
         SELECT pg_catalog.bool_or(s.identity IS NULL) AS gone,
                pg_catalog.bool_or(s.identity IS DISTINCT FROM u.identity) AS changed,
                pg_catalog.bool_or(c.counted AND (pg_catalog.abs(s.modifications - u.modifications) > c.threshold + c.scale_factor * u.rows
                                                  OR u.rows <= c.threshold AND s.rows > 2 * u.rows)) AS modified_much,
                pg_catalog.sum(pg_catalog.abs(s.modifications - u.modifications))::bigint AS modified
           FROM ROWS FROM (pg_catalog.unnest(r.sources), pg_catalog.unnest(r.source_rows), pg_catalog.unnest(r.modifications),
                           pg_catalog.unnest(r.identities)) u(name, rows, modifications, identity)
           LEFT JOIN source s ON s.name = u.name) x;
COMMENT ON VIEW privacy_score.rate_state IS
  'Internal: stored rates; gone: of a relation that no longer exists; stale: of one that was replaced or has had more rows modified than rate_refresh_threshold + rate_refresh_scale_factor * rows, or had at most rate_refresh_threshold rows and has more than twice as many; modified: rows modified since, NULL when that is not known. A standby does not count modifications.';

CREATE VIEW privacy_score.protected_relations WITH (security_barrier) AS
  WITH state AS MATERIALIZED (
    SELECT r.relation_name, pg_catalog.max(r.computed_at) AS computed_at, pg_catalog.bool_or(r.stale) AS stale
      FROM privacy_score.rate_state r WHERE r.sources = ARRAY[r.relation_name] GROUP BY r.relation_name)
  SELECT p.relation::pg_catalog.regclass AS relation,
         ARRAY(SELECT a.attname FROM pg_catalog.pg_attribute a
                WHERE a.attrelid = p.relation AND a.attnum = ANY (privacy_score.subject_attributes(p.relation)) ORDER BY a.attnum) AS subject,
         c.attributes, c.labelled,
         s.computed_at AS statistics_at,
         COALESCE(s.stale, true) AS stale
    FROM privacy_score.protected_current p
   CROSS JOIN LATERAL (
     SELECT pg_catalog.count(*)::int AS attributes, pg_catalog.count(l.label)::int AS labelled
       FROM pg_catalog.pg_attribute a
       LEFT JOIN pg_catalog.pg_seclabel l ON l.provider = 'privacy_score' AND l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
            AND l.objoid = p.relation AND l.objsubid = a.attnum
      WHERE a.attrelid = p.relation AND a.attnum > 0 AND NOT a.attisdropped) c
    LEFT JOIN state s ON s.relation_name = p.name;
COMMENT ON VIEW privacy_score.protected_relations IS
  'Protected relations: subject columns (empty: the row), number of columns and of labelled ones, age of the rates; stale: none yet, or many rows changed since.';

CREATE FUNCTION privacy_score.role_watching(role name) RETURNS TABLE (watched boolean, reason text)
  AS 'MODULE_PATHNAME', 'ps_role_watching' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.role_watching(name) IS 'Whether statements of a role count, and why. Of other roles only for pg_read_all_stats.';

CREATE VIEW privacy_score.trigger_grants AS
  WITH RECURSIVE tree(protected, relation) AS (
    SELECT p.relation::oid, p.relation::oid FROM privacy_score.protected_current p
    UNION
    SELECT t.protected, i.inhrelid FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.relation)
  SELECT t.protected::pg_catalog.regclass AS protected, t.relation::pg_catalog.regclass AS relation, r.rolname AS grantee
    FROM tree t
    JOIN pg_catalog.pg_class c ON c.oid = t.relation
   CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) g
    LEFT JOIN pg_catalog.pg_roles r ON r.oid = g.grantee
   WHERE g.privilege_type = 'TRIGGER' AND g.grantee <> c.relowner;
COMMENT ON VIEW privacy_score.trigger_grants IS
  'Who may put triggers on protected relations, their partitions and children without owning them: a row trigger is handed whole rows. protected: the relation that was declared; grantee: a role; NULL: everybody.';

CREATE FUNCTION privacy_score.role_status(role name) RETURNS TABLE (setting text, value text, reason text)
  LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT 'watched', CASE WHEN w.watched THEN 'yes' ELSE 'no' END, w.reason
      FROM privacy_score.role_watching(role_status.role) w
    UNION ALL
    (SELECT s.name, COALESCE(o.value, s.reset_val), COALESCE(o.level, CASE WHEN s.reset_val = s.boot_val THEN 'default' ELSE 'server configuration' END)
       FROM privacy_score.role_watching(role_status.role) w, pg_catalog.pg_settings s
       LEFT JOIN LATERAL (
         SELECT pg_catalog.substr(c, pg_catalog.length(s.name) + 2) AS value,
                CASE WHEN d.setrole <> 0 AND d.setdatabase <> 0 THEN 'ALTER ROLE ... IN DATABASE ... SET'
                     WHEN d.setrole <> 0 THEN 'ALTER ROLE ... SET'
                     ELSE 'ALTER DATABASE ... SET' END
                || CASE WHEN d.setrole = 0 THEN ''
                        WHEN EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = d.setrole AND r.rolcanlogin) THEN ', not by SET ROLE'
                        ELSE ', without effect: it cannot log in' END AS level
           FROM pg_catalog.pg_db_role_setting d, pg_catalog.unnest(d.setconfig) c
          WHERE d.setrole IN (0, (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = role_status.role))
            AND d.setdatabase IN (0, (SELECT b.oid FROM pg_catalog.pg_database b WHERE b.datname = pg_catalog.current_database()))
            AND pg_catalog.starts_with(c, s.name || '=')
          ORDER BY d.setrole <> 0 DESC, d.setdatabase <> 0 DESC LIMIT 1) o ON true
      WHERE s.name LIKE 'privacy\_score.%'
      ORDER BY s.name)
    UNION ALL
    (SELECT DISTINCT 'TRIGGER', g.relation::text, 'granted to ' || COALESCE(g.grantee, 'public')
       FROM privacy_score.role_watching(role_status.role) w, pg_catalog.pg_roles r, privacy_score.trigger_grants g
      WHERE r.rolname = role_status.role AND (g.grantee IS NULL OR pg_catalog.pg_has_role(r.oid, g.grantee, 'MEMBER'))
      ORDER BY 2, 3);
  END;
COMMENT ON FUNCTION privacy_score.role_status(name) IS
  'Whether a role is watched, and each setting as a new session of the role in this database has it, with the place where it was set, and whether SET ROLE leaves it out; then the protected relations on which it has TRIGGER. Of other roles only for pg_read_all_stats.';

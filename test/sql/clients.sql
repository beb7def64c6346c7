-- What clients send besides statements about data: asking for columns, keepalives, introspection, DISCARD ALL, SET ROLE.
SET client_min_messages = warning;
SET privacy_score.baseline_min_sessions = 0;
DO $$ BEGIN PERFORM privacy_score.drop_baseline(role, end_user) FROM privacy_score.baseline WHERE active; END $$;
CREATE ROLE regress_clients LOGIN;
CREATE ROLE regress_clients_pool LOGIN;
CREATE ROLE regress_clients_noisy;
GRANT regress_clients, regress_clients_noisy TO regress_clients_pool;
CREATE SCHEMA clients;
GRANT USAGE, CREATE ON SCHEMA clients TO regress_clients;
GRANT USAGE ON SCHEMA clients TO regress_clients_pool, regress_clients_noisy;
CREATE TABLE clients.patients (id int PRIMARY KEY, name text, city text);
INSERT INTO clients.patients VALUES (1, 'Ann', 'Cork'), (2, 'Bob', 'Bray');
GRANT SELECT ON clients.patients TO regress_clients, regress_clients_noisy;
SELECT privacy_score.protect('clients.patients');
SECURITY LABEL FOR privacy_score ON ROLE regress_clients IS 'watched';
SECURITY LABEL FOR privacy_score ON ROLE regress_clients_noisy IS 'dp only';
ALTER ROLE regress_clients SET search_path = clients, public;
ALTER ROLE regress_clients SET client_min_messages = warning;

-- In SQL text and in the server's analysed query alike: what is under LIMIT 0, written as a number, is empty.
CREATE TABLE clients.texts (n int, q text);
INSERT INTO clients.texts VALUES
  (1, 'SELECT * FROM patients LIMIT 0'), (2, 'SELECT name FROM patients ORDER BY city LIMIT 0 OFFSET 5'), (3, 'TABLE patients FETCH FIRST 0 ROWS ONLY'),
  (4, 'WITH p AS (SELECT * FROM patients) SELECT * FROM p LIMIT 0'), (5, 'SELECT name FROM patients UNION SELECT city FROM patients LIMIT 0'),
  (6, 'CREATE TABLE x AS SELECT * FROM patients LIMIT 0'), (7, 'DECLARE c CURSOR FOR SELECT * FROM patients LIMIT 0'), (8, 'COPY (SELECT * FROM patients LIMIT 0) TO STDOUT'),
  (9, 'SELECT name FROM patients LIMIT 0; SELECT city FROM patients LIMIT 1'),
  (20, 'SELECT name FROM patients LIMIT 0 FOR UPDATE'), (21, 'SELECT name FROM patients LIMIT (SELECT 0)'), (22, 'SELECT name FROM patients LIMIT 0 + 0'),
  (23, 'SELECT name FROM patients LIMIT 0 OFFSET (SELECT 1)'), (24, '(SELECT name FROM patients LIMIT 0) UNION ALL SELECT name FROM patients'),
  (25, 'SELECT name FROM (SELECT name FROM patients LIMIT 0) p'), (26, 'WITH d AS (DELETE FROM patients RETURNING name) SELECT * FROM d LIMIT 0'),
  (27, 'INSERT INTO texts SELECT id, name FROM patients LIMIT 0'), (28, 'EXPLAIN SELECT name FROM patients LIMIT 0'), (29, 'SELECT name FROM patients LIMIT NULL'),
  (30, 'SELECT name FROM patients WHERE false'), (31, 'SELECT name FROM patients WHERE 1 <> 1'),
-- What touches no relation and runs no code but the server's is empty, too.
  (40, 'SELECT 1'), (41, 'SELECT'), (42, 'VALUES (1), (2)'), (43, 'SELECT now(), upper(''x''), coalesce(version(), current_user), extract(year FROM now())'),
  (44, 'SELECT count(*), max(g) OVER () FROM generate_series(1, 3) g GROUP BY g'), (45, 'SELECT age(now()), obj_description(1, ''pg_class'')'),
  (46, 'SELECT (SELECT pg_catalog.lower(''X'')) WHERE EXISTS (SELECT 1)'), (47, 'SELECT information_schema._pg_char_octet_length(25, -1)'),
  (48, 'SELECT * FROM pg_tables'), (49, 'SELECT * FROM information_schema.columns'), (50, 'SELECT current_setting(''work_mem''), has_table_privilege(''clients.patients'', ''SELECT'')'),
  (60, 'SELECT own(1)'), (61, 'SELECT * FROM own_set()'), (62, 'SELECT own_max(x) FROM generate_series(1, 3) x'), (63, 'SELECT set_config(''a.b'', ''c'', false)'),
  (64, 'SELECT random()'), (65, 'SELECT upper(own(1)::text)'), (66, 'SELECT to_regtype(''int'')'), (67, 'SELECT x FROM (SELECT own(1) AS x) q'), (68, 'SELECT 1 WHERE EXISTS (SELECT own(1))');
CREATE FUNCTION clients.own(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION clients.own_set() RETURNS SETOF int STABLE LANGUAGE sql AS 'SELECT 1';
CREATE AGGREGATE clients.own_max(int) (SFUNC = int4larger, STYPE = int);
SET search_path = clients, public;
SELECT n, q, privacy_score.abstract_query(q) AS of_text, privacy_score.abstract_query_analyzed(q) = privacy_score.abstract_query(q) AS same FROM texts ORDER BY n;
RESET search_path;

-- Live, and imported: neither takes a place between others. A false condition is known to the live path alone.
SELECT privacy_score.flush() \g /dev/null
SELECT coalesce(max(id), 0) AS last FROM privacy_score.session \gset
\c - regress_clients
SELECT city FROM patients WHERE id = 1;
SELECT 1 AS keepalive;
SELECT * FROM patients LIMIT 0;
SELECT * FROM patients WHERE 1 <> 1;
SELECT count(*) > 0 AS catalogs FROM (SELECT * FROM information_schema.columns OFFSET 0) c WHERE character_octet_length IS NOT NULL;
SELECT own(1);
SELECT city FROM patients WHERE id = 2;
-- DISCARD ALL begins another session; what fails does not.
BEGIN;
DISCARD ALL;
ROLLBACK;
DISCARD PLANS;
SELECT name FROM clients.patients WHERE id = 1;
DISCARD ALL;
DISCARD ALL;
SELECT name FROM clients.patients WHERE id = 2;
\c - postgres
SELECT privacy_score.flush() \g /dev/null
SELECT s.n AS session, s.piece, array_to_string(a.tokens, ' ') AS abstraction, e.run
  FROM (SELECT id, row_number() OVER (ORDER BY started) AS n, substr(session, strpos(session || '/', '/')) AS piece FROM privacy_score.session WHERE role = 'regress_clients' AND id > :last) s
  JOIN privacy_score.session_part p ON p.session_id = s.id,
       ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place)
  JOIN privacy_score.abstraction a ON a.id = e.id
 WHERE e.run > 0 ORDER BY s.n, p.part, e.place;
SELECT privacy_score.import_statements($$VALUES
  ('clients', 'regress_clients'::name, '2026-01-01 12:00+00'::timestamptz, 'SELECT city FROM clients.patients'), ('clients', 'regress_clients', '2026-01-01 12:01+00', 'SELECT 1'),
  ('clients', 'regress_clients', '2026-01-01 12:02+00', 'SELECT * FROM clients.patients LIMIT 0'), ('clients', 'regress_clients', '2026-01-01 12:03+00', 'EXPLAIN SELECT * FROM clients.patients LIMIT 0'),
  ('clients', 'regress_clients', '2026-01-01 12:04+00', 'SELECT * FROM clients.patients WHERE false')$$);
SELECT array_to_string(a.tokens, ' ') AS imported
  FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
       ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place)
  JOIN privacy_score.abstraction a ON a.id = e.id
 WHERE s.role = 'regress_clients' AND s.started < '2026-01-02' AND e.run > 0 ORDER BY p.part, e.place;

-- A role that SET ROLE reaches brings its label along; the session stays that of who has logged in.
SELECT coalesce(max(id), 0) AS last FROM privacy_score.session \gset
\set VERBOSITY sqlstate
\c - regress_clients_pool
SET ROLE regress_clients_noisy;
SELECT name FROM clients.patients;
SELECT * FROM clients.patients LIMIT 0;
SELECT * FROM clients.patients WHERE false;
EXPLAIN SELECT * FROM clients.patients LIMIT 0;
SELECT privacy_score.reads_protected('SELECT name FROM clients.patients');
SET ROLE regress_clients;
SELECT name FROM clients.patients WHERE id = 1;
BEGIN;
SET LOCAL ROLE regress_clients_noisy;
SELECT name FROM clients.patients;
ROLLBACK;
SELECT name FROM clients.patients WHERE id = 2;
RESET ROLE;
\c - postgres
-- With the current user as the principal each role is judged by its own label.
ALTER ROLE regress_clients_pool SET privacy_score.principal = 'current_user';
\c - regress_clients_pool
SET ROLE regress_clients_noisy;
SELECT name FROM clients.patients;
SET ROLE regress_clients;
SELECT name FROM clients.patients WHERE id = 1;
\c - postgres
SELECT privacy_score.flush() \g /dev/null
SELECT s.role, array_to_string(a.tokens, ' ') AS abstraction, e.run
  FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
       ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place)
  JOIN privacy_score.abstraction a ON a.id = e.id
 WHERE s.id > :last AND e.run > 0 ORDER BY s.id, p.part, e.place;
\set VERBOSITY default

-- Who may not read a protected relation and is labelled for it is told of the noisy answers; others, and of other relations, are not.
CREATE ROLE regress_clients_denied LOGIN;
GRANT USAGE ON SCHEMA clients TO regress_clients_denied;
GRANT SELECT (id) ON clients.patients TO regress_clients_denied;
CREATE VIEW clients.names AS SELECT name FROM clients.patients;
SECURITY LABEL FOR privacy_score ON ROLE regress_clients_denied IS 'dp only';
SET SESSION AUTHORIZATION regress_clients_denied;
SELECT name FROM clients.patients;
SELECT (SELECT count(name) FROM clients.patients) FROM clients.patients;
EXPLAIN SELECT name FROM clients.patients;
PREPARE p AS SELECT name FROM clients.patients WHERE id = $1;
EXECUTE p(1);
UPDATE clients.patients SET name = name;
COPY clients.patients TO STDOUT;
COPY (SELECT * FROM clients.patients) TO STDOUT;
SELECT * FROM clients.names;
SELECT * FROM clients.texts;
COPY clients.texts TO STDOUT;
DO $$ BEGIN PERFORM name FROM clients.patients; EXCEPTION WHEN insufficient_privilege THEN RAISE NOTICE 'caught: %', SQLERRM; END $$;
RESET SESSION AUTHORIZATION;
SECURITY LABEL FOR privacy_score ON ROLE regress_clients_denied IS 'watched';
SET SESSION AUTHORIZATION regress_clients_denied;
SELECT name FROM clients.patients;
RESET SESSION AUTHORIZATION;
-- A role that is set and may not read, too.
GRANT regress_clients_denied TO regress_clients_pool;
SECURITY LABEL FOR privacy_score ON ROLE regress_clients_denied IS 'dp only';
\c - regress_clients_pool
BEGIN;
SET LOCAL ROLE regress_clients_denied;
SELECT name FROM clients.patients;
ROLLBACK;
\c - postgres
SECURITY LABEL FOR privacy_score ON ROLE regress_clients_denied IS NULL;
DROP OWNED BY regress_clients_denied;
DROP ROLE regress_clients_denied;

SET client_min_messages = warning;
SELECT privacy_score.unprotect('clients.patients');
SECURITY LABEL FOR privacy_score ON ROLE regress_clients IS NULL;
SECURITY LABEL FOR privacy_score ON ROLE regress_clients_noisy IS NULL;
DROP SCHEMA clients CASCADE;
DELETE FROM privacy_score.session WHERE role LIKE 'regress_clients%';
DELETE FROM privacy_score.alert WHERE role LIKE 'regress_clients%';
DROP ROLE regress_clients, regress_clients_pool, regress_clients_noisy;

-- Abstractions of SQL text: the published example, text of every kind, names that do not resolve, rights.
SET client_min_messages = warning;

-- the published example; no relation needs to exist
SELECT privacy_score.abstract_query_poster(q) FROM unnest(ARRAY[
  $$SELECT lastName, gender, city FROM hospitaldb WHERE firstName = 'Bob'$$,
  $$SELECT lastName, gender FROM hospitaldb WHERE firstName = 'Bob'$$,
  $$SELECT lastName, gender, department FROM hospitaldb$$,
  $$SELECT lastName, department FROM hospitaldb WHERE firstName = 'Alice'$$]) WITH ORDINALITY AS u (q, n) ORDER BY n;
SELECT privacy_score.abstract_query($$SELECT lastName, gender, city FROM hospitaldb WHERE firstName = 'Bob'$$);

CREATE SCHEMA abstraction;
SET search_path = abstraction;
CREATE TABLE patients (id int PRIMARY KEY, "last name" text, city text);
CREATE VIEW patient_cities AS SELECT id AS pid, city FROM patients WHERE city <> '';

-- no text raises an error, and a session lives on after it
SELECT n, privacy_score.abstract_query(q), privacy_score.abstract_query_poster(q) FROM unnest(ARRAY[
  '', ';', '-- nothing', 'SELECT', 'SELECT 1', 'SELEC city FROM patients', 'SELECT city FROM patients WHERE', 'SELECT ''open', E'SELECT \x01',
  'SELECT ' || repeat('(', 50000) || '1' || repeat(')', 50000),
  'VACUUM', 'EXPLAIN SELECT city FROM patients', 'SELECT city FROM patients; DELETE FROM patients WHERE id = 3',
  'SELECT "last name", p.id FROM patients AS p ORDER BY city LIMIT 1', 'SELECT pid FROM patient_cities',
  'SELECT x.nosuch, city FROM patients x, nowhere y', 'SELECT * FROM nodatabase.noschema.norelation',
  'SELECT nofunction(city) FROM patients', 'SELECT relname FROM pg_class',
  'COPY patients TO STDOUT', 'UPDATE patients SET city = upper(city) WHERE id = $1 RETURNING id']) WITH ORDINALITY AS u (q, n) ORDER BY n;
SELECT privacy_score.abstract_query(NULL) IS NULL AS strict;
SELECT privacy_score.abstract_query('SELECT city FROM patients');

-- every prefix of a statement has an abstraction
SELECT count(DISTINCT privacy_score.abstract_query(left(q, n))) > 5 AS several
  FROM (VALUES ($$WITH c AS (SELECT p.*, (SELECT max(id) FROM patients) FROM patients p JOIN patient_cities USING (city)) INSERT INTO patients (id) SELECT c.id FROM c, LATERAL unnest(ARRAY[c.id]) WITH ORDINALITY u (x, y) WHERE u.x = c.id ON CONFLICT DO NOTHING RETURNING *$$)) AS s (q),
       generate_series(0, length(q)) AS n;

-- the server's own analysis raises its own errors
SELECT privacy_score.abstract_query_analyzed('SELECT city FROM patients WHERE id = $1');
SELECT privacy_score.abstract_query_analyzed('SELEC');
SELECT privacy_score.abstract_query_analyzed('SELECT nosuch FROM patients');
SELECT privacy_score.abstract_query_analyzed('SELECT * FROM nowhere');
SELECT privacy_score.abstract_query_analyzed('');
SELECT privacy_score.abstract_query_analyzed('COPY nowhere TO STDOUT');

-- whoever may call a function sees names as the catalogs show them to everybody, no more
CREATE ROLE regress_abstraction;
GRANT USAGE ON SCHEMA privacy_score TO regress_abstraction;
SET ROLE regress_abstraction;
SELECT privacy_score.abstract_query('SELECT * FROM abstraction.patients');
SELECT privacy_score.abstract_query_analyzed('SELECT * FROM abstraction.patients');
RESET ROLE;
GRANT USAGE ON SCHEMA abstraction TO regress_abstraction;
SET ROLE regress_abstraction;
SELECT privacy_score.abstract_query('SELECT * FROM abstraction.patients');
RESET ROLE;

-- quoting does not follow quote_all_identifiers
SET quote_all_identifiers = on;
SELECT privacy_score.abstract_query_analyzed('SELECT *, count(*) OVER () FROM patients');
ALTER TABLE patients ADD COLUMN "user" text;
SELECT privacy_score.abstract_query_analyzed('SELECT *, count(*) OVER () FROM patients');
SELECT privacy_score.abstract_query('SELECT pid FROM patient_cities');
SHOW quote_all_identifiers;
RESET quote_all_identifiers;

DROP SCHEMA abstraction CASCADE;
DROP OWNED BY regress_abstraction;
DROP ROLE regress_abstraction;

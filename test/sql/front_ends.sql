-- Both front ends, SQL text and the server's analysed query, give the same abstraction.
SET client_min_messages = warning;
CREATE ROLE regress_front_ends;
CREATE SCHEMA front;
CREATE SCHEMA "Other Schema";
SET search_path = front, public;

CREATE TABLE departments (id int PRIMARY KEY, name text NOT NULL, building text);
CREATE TABLE staff (
  id int PRIMARY KEY, department_id int REFERENCES departments, manager_id int, first_name text, last_name text,
  job text, salary numeric, hired date, tags text[], doubled numeric GENERATED ALWAYS AS (salary * 2) STORED);
CREATE TABLE patients (
  id int PRIMARY KEY, mrn text UNIQUE, first_name text, gone text, last_name text, gender text, birth_date date,
  city text DEFAULT 'Cork', zip varchar(10), details jsonb);
ALTER TABLE patients DROP COLUMN gone;
CREATE TABLE admissions (
  id int, patient_id int, department_id int, admitted date, discharged date, ward text,
  PRIMARY KEY (id, admitted, ward)) PARTITION BY RANGE (admitted);
CREATE TABLE admissions_2023 PARTITION OF admissions FOR VALUES FROM ('2023-01-01') TO ('2024-01-01');
CREATE TABLE admissions_2024 (ward text NOT NULL, extra int, discharged date, patient_id int, admitted date NOT NULL, department_id int, id int NOT NULL);
ALTER TABLE admissions_2024 DROP COLUMN extra;
ALTER TABLE admissions ATTACH PARTITION admissions_2024 FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE admissions_2025 PARTITION OF admissions FOR VALUES FROM ('2025-01-01') TO ('2026-01-01') PARTITION BY LIST (ward);
CREATE TABLE admissions_2025_icu PARTITION OF admissions_2025 FOR VALUES IN ('ICU');
CREATE TABLE diagnoses (
  id int PRIMARY KEY, admission_id int, patient_id int, code text, description text, severity int, noted date);
CREATE TABLE billing (
  id bigint PRIMARY KEY, patient_id int, amount numeric, paid boolean DEFAULT false, issued date, insurer text);
CREATE TABLE notes (id int PRIMARY KEY, patient_id int, author name, body text);
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_notes ON notes USING (author = current_user AND EXISTS (SELECT FROM staff WHERE salary > 0));
CREATE TABLE "Lab Results" ("Sample ID" int PRIMARY KEY, "patientId" int, "Value" numeric, "order" int);
CREATE TABLE messwerte (id int PRIMARY KEY, patient_id int, größe numeric, "体重" numeric);
CREATE TABLE "Other Schema"."contract list" (id int PRIMARY KEY, staff_id int, "monthly pay" numeric);
CREATE TABLE tally (patient_id int PRIMARY KEY, n bigint, last date);
CREATE TABLE sink (a text, b text, c numeric);
CREATE TABLE people (id int, name text, UNIQUE (id));
CREATE TABLE employees (wage numeric) INHERITS (people);
CREATE TYPE pair AS (x int, y text);
CREATE TABLE pairs (id int PRIMARY KEY, p pair, many pair[]);
CREATE SEQUENCE numbers;
CREATE MATERIALIZED VIEW city_counts AS SELECT city, count(*) AS heads FROM patients GROUP BY city;
CREATE TABLE role_owned (id int PRIMARY KEY, city text);
ALTER TABLE role_owned OWNER TO regress_front_ends;

CREATE VIEW patient_public AS
  SELECT id AS pid, gender, city, extract(year FROM birth_date)::int AS birth_year FROM patients;
CREATE VIEW inpatients AS
  SELECT a.id AS admission_id, a.ward, p.pid, p.city, a.admitted
    FROM admissions a JOIN patient_public p ON p.pid = a.patient_id WHERE a.discharged IS NULL;
CREATE VIEW department_pay (dep, heads, pay, top) AS
  SELECT department_id, count(*), avg(salary), max(salary) FROM staff GROUP BY department_id;
CREATE VIEW open_bills AS SELECT id, patient_id, amount, insurer FROM billing WHERE NOT paid;
CREATE VIEW cheap_bills AS SELECT id AS bill, amount AS sum_due, insurer FROM open_bills WHERE amount < 10;
CREATE VIEW barrier_bills WITH (security_barrier) AS SELECT id, amount FROM billing WHERE insurer = 'x';
CREATE VIEW everybody AS SELECT last_name, 'p' AS kind FROM patients UNION ALL SELECT last_name, 's' FROM staff;
CREATE VIEW chain AS WITH RECURSIVE up AS (
  SELECT id, manager_id FROM staff WHERE job = 'nurse' UNION SELECT s.id, s.manager_id FROM staff s JOIN up ON s.id = up.manager_id)
  SELECT * FROM up;
CREATE VIEW wrapped AS SELECT p AS person, p.id FROM patients p;
CREATE VIEW "Odd View" AS SELECT "Sample ID" AS "Key", "Value" * 2 AS "Twice" FROM "Lab Results";
CREATE VIEW joined AS SELECT * FROM patients p JOIN billing b USING (id) NATURAL LEFT JOIN tally;

CREATE FUNCTION keep_last(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce($2, $1) $$;

-- a schema that the reader may not look into, under views that it may read
CREATE SCHEMA private;
CREATE TABLE private.ledger (id int PRIMARY KEY, patient_id int, amount numeric, memo text);
CREATE AGGREGATE private.last_memo(text) (SFUNC = keep_last, STYPE = text);
CREATE VIEW private.big AS SELECT * FROM private.ledger WHERE amount > 1000;
CREATE VIEW ledger_public AS SELECT b.id, b.amount, b.memo, p.city FROM private.big b JOIN patients p ON p.id = b.patient_id;
CREATE VIEW ledger_memos AS SELECT private.last_memo(memo) AS memo FROM private.ledger GROUP BY id;

CREATE FUNCTION full_name(p patients) RETURNS text LANGUAGE sql STABLE AS $$ SELECT p.first_name || ' ' || p.last_name $$;
CREATE FUNCTION names_in(c text) RETURNS TABLE (first_name text, last_name text) LANGUAGE plpgsql STABLE AS $$ BEGIN END $$;
CREATE FUNCTION add_up(a numeric, b numeric DEFAULT 1) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT a + b $$;
CREATE AGGREGATE last_text(text) (SFUNC = keep_last, STYPE = text);
CREATE AGGREGATE "Last Text"(text) (SFUNC = keep_last, STYPE = text);

GRANT USAGE ON SCHEMA front, "Other Schema" TO regress_front_ends;
GRANT ALL ON ALL TABLES IN SCHEMA front, "Other Schema" TO regress_front_ends;
GRANT USAGE ON SCHEMA privacy_score TO regress_front_ends;

SET ROLE regress_front_ends;
CREATE TEMP TABLE scratch (id int PRIMARY KEY, note text);
CREATE TEMP TABLE other_scratch (gone int, remark text, place int);
ALTER TABLE other_scratch DROP COLUMN gone;
CREATE TEMP TABLE staff_copy AS SELECT * FROM staff;
CREATE TEMP VIEW scratch_view AS SELECT s.id, p.zip FROM scratch s JOIN patients p ON p.id = s.id;
CREATE TEMP TABLE statements (id int GENERATED ALWAYS AS IDENTITY, sql text);

-- the statements are in test/corpus/front_ends.txt, one a line, with headings
\getenv test PG_ABS_SRCDIR
\set corpus :test '/corpus/front_ends.txt'
\set lines `cat :'corpus'`
INSERT INTO statements (sql) SELECT line FROM regexp_split_to_table(:'lines', '\n') AS line WHERE line !~ '^(-- |$)';

CREATE FUNCTION pg_temp.analyzed(sql text) RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN privacy_score.abstract_query_analyzed(sql);
EXCEPTION WHEN OTHERS THEN
  RETURN ARRAY['error: ' || SQLERRM];
END $$;

CREATE TEMP TABLE answers AS
  SELECT id, sql, privacy_score.abstract_query(sql) AS from_text, pg_temp.analyzed(sql) AS from_query FROM statements ORDER BY id;

SELECT count(*) AS statements, count(*) FILTER (WHERE from_query = '{}') AS empty FROM answers;
-- nothing is left to compare where the server refuses a statement
SELECT sql, from_query FROM answers WHERE from_query[1] LIKE 'error: %' ORDER BY id;
SELECT sql, from_text, from_query FROM answers WHERE from_text <> from_query ORDER BY id;

-- search_path decides what a name means, for both alike
CREATE TEMP TABLE patients (id int, secret text);
SELECT privacy_score.abstract_query('SELECT * FROM patients'), privacy_score.abstract_query_analyzed('SELECT * FROM patients');
SET search_path = front, pg_temp;
SELECT privacy_score.abstract_query('SELECT city FROM patients'), privacy_score.abstract_query_analyzed('SELECT city FROM patients');
SET search_path = "Other Schema";
SELECT privacy_score.abstract_query('SELECT id FROM "contract list"'), privacy_score.abstract_query_analyzed('SELECT id FROM "contract list"');
SELECT privacy_score.abstract_query('SELECT city FROM patients WHERE id = 3');
SELECT privacy_score.abstract_query('SELECT city FROM departments WHERE id = 3');

-- without USAGE a schema is as if it did not exist
SELECT privacy_score.abstract_query('SELECT memo FROM private.ledger WHERE id = 3');

-- the abstraction follows the catalogs: renamed and added columns, partitions, views, owners, schemas
RESET ROLE;
SET search_path = front, pg_temp;
CREATE TEMP TABLE changes (step int GENERATED ALWAYS AS IDENTITY, sql text, from_text text[], from_query text[]);
CREATE PROCEDURE pg_temp.look(VARIADIC queries text[]) LANGUAGE sql AS $$
  INSERT INTO changes (sql, from_text, from_query)
  SELECT q, privacy_score.abstract_query(q), privacy_score.abstract_query_analyzed(q) FROM unnest(queries) WITH ORDINALITY AS u (q, n) ORDER BY n $$;
ALTER TABLE departments RENAME building TO house;
CALL pg_temp.look('SELECT * FROM departments');
ALTER TABLE departments DROP COLUMN house, ADD COLUMN floor int;
CALL pg_temp.look('SELECT * FROM departments', 'SELECT floor FROM departments');
ALTER TABLE admissions DETACH PARTITION admissions_2025;
CALL pg_temp.look('SELECT ward FROM admissions_2025_icu', 'SELECT ward FROM admissions_2024');
ALTER TABLE admissions RENAME TO stays;
CALL pg_temp.look('SELECT ward FROM admissions_2024');
CREATE OR REPLACE VIEW patient_public AS
  SELECT id AS pid, last_name AS gender, city, extract(year FROM birth_date)::int AS birth_year FROM patients WHERE zip > 'a';
CALL pg_temp.look('SELECT gender FROM patient_public');
ALTER TABLE tally OWNER TO regress_front_ends;
CALL pg_temp.look('SELECT b.amount FROM billing b JOIN diagnoses d ON b.patient_id = d.patient_id');
ALTER SCHEMA front RENAME TO back;
SET search_path = back, pg_temp;
CALL pg_temp.look('SELECT floor FROM departments', 'SELECT ward FROM admissions_2024');
ALTER SCHEMA back RENAME TO front;
SET search_path = front, pg_temp;
SELECT sql, from_text, from_text = from_query AS same FROM changes ORDER BY step;

DROP TABLE pg_temp.patients;
SET client_min_messages = error;
DROP SCHEMA front CASCADE;
DROP SCHEMA private CASCADE;
DROP SCHEMA "Other Schema" CASCADE;
DROP OWNED BY regress_front_ends;
DROP ROLE regress_front_ends;

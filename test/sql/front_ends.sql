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

CREATE FUNCTION full_name(p patients) RETURNS text LANGUAGE sql STABLE AS $$ SELECT p.first_name || ' ' || p.last_name $$;
CREATE FUNCTION names_in(c text) RETURNS TABLE (first_name text, last_name text) LANGUAGE plpgsql STABLE AS $$ BEGIN END $$;
CREATE FUNCTION add_up(a numeric, b numeric DEFAULT 1) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT a + b $$;
CREATE FUNCTION keep_last(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce($2, $1) $$;
CREATE AGGREGATE last_text(text) (SFUNC = keep_last, STYPE = text);
CREATE AGGREGATE "Last Text"(text) (SFUNC = keep_last, STYPE = text);

GRANT USAGE ON SCHEMA front, "Other Schema" TO regress_front_ends;
GRANT ALL ON ALL TABLES IN SCHEMA front, "Other Schema" TO regress_front_ends;
GRANT USAGE ON SCHEMA privacy_score TO regress_front_ends;

SET ROLE regress_front_ends;
CREATE TEMP TABLE scratch (id int PRIMARY KEY, note text);
CREATE TEMP TABLE staff_copy AS SELECT * FROM staff;
CREATE TEMP VIEW scratch_view AS SELECT s.id, p.zip FROM scratch s JOIN patients p ON p.id = s.id;
CREATE TEMP TABLE statements (id int GENERATED ALWAYS AS IDENTITY, sql text);


-- One statement a line.
INSERT INTO statements (sql) SELECT line FROM regexp_split_to_table($all$
SELECT last_name, gender, city FROM patients WHERE first_name = 'Bob'
SELECT * FROM patients
SELECT p.* FROM front.patients p
SELECT patients.* FROM patients
SELECT front.patients.last_name FROM front.patients
SELECT front.patients.* FROM front.patients WHERE front.patients.id = 2
SELECT p.zip z, p.m AS "the number" FROM patients AS p (pk, m) WHERE p.gender <> 'f'
SELECT 1
SELECT 'a' AS a, NULL, now(), current_user
TABLE departments
SELECT FROM patients
SELECT ALL last_name FROM patients
SELECT LAST_NAME, Gender FROM PATIENTS
SELECT p.id, p.ctid FROM patients p
SELECT tableoid, xmin, last_name FROM patients
SELECT ctid FROM patients WHERE ctid = '(0,1)'
SELECT tableoid::regclass, count(*) FROM admissions GROUP BY 1
SELECT p FROM patients p
SELECT patients FROM patients
SELECT row_to_json(d) FROM departments d WHERE d.building = 'A'
SELECT to_jsonb(p) - 'mrn' FROM patients p
SELECT count(p) FROM patients p
SELECT p IS NULL, p = p FROM patients p
SELECT (p).last_name FROM patients p
SELECT (p).* FROM patients p
SELECT (q.person).city FROM wrapped q
SELECT person FROM wrapped
SELECT id FROM wrapped
SELECT full_name(p) FROM patients p
SELECT p.full_name FROM patients p
SELECT full_name(patients) FROM patients WHERE full_name(patients.*) = 'x'
SELECT row(p.*, 1) FROM patients p
SELECT array_agg(p) FROM patients p
SELECT CASE WHEN gender = 'f' THEN 1 ELSE 0 END FROM patients
SELECT CASE gender WHEN 'f' THEN first_name ELSE last_name END FROM patients
SELECT coalesce(insurer, 'none'), amount::int FROM billing
SELECT nullif(insurer, 'x'), greatest(amount, 3), least(id, patient_id) FROM billing
SELECT details->>'blood', details #> '{a,b}' FROM patients WHERE details @> '{"a": 1}'
SELECT tags[1], tags[1:2] FROM staff WHERE tags[id] = 'x'
SELECT ARRAY[id, department_id], ARRAY[[1, 2], [3, id]] FROM staff
SELECT ARRAY(SELECT code FROM diagnoses d WHERE d.patient_id = p.id) FROM patients p
SELECT extract(year FROM birth_date), birth_date AT TIME ZONE 'UTC' FROM patients
SELECT substring(last_name FROM 1 FOR 2), trim(both 'x' from first_name), position('a' in city) FROM patients
SELECT overlay(last_name placing first_name from 1) FROM patients
SELECT last_name || ', ' || first_name AS n FROM patients ORDER BY n
SELECT xmlelement(name a, last_name), xmlforest(first_name, city AS c) FROM patients
SELECT id BETWEEN 1 AND department_id, id IS DISTINCT FROM manager_id, job LIKE 'n%', job SIMILAR TO last_name FROM staff
SELECT job ~ 'x', job COLLATE "C", -salary, NOT (id > 1), salary IS NOT NULL FROM staff
SELECT add_up(salary), add_up(a => salary, b => id), front.add_up(b => 2, a => 1) FROM staff
SELECT add_up(salary, 2) FROM staff WHERE add_up(salary) = id
SELECT (ROW(id, last_name)).f2 FROM staff
SELECT (p).x, (p).y, many[1].x FROM pairs
SELECT (many[1]).y, p FROM pairs WHERE (p).x = 1
SELECT last_value FROM numbers
SELECT nextval('numbers'), currval('numbers')
SELECT * FROM city_counts WHERE heads > 3
SELECT größe, "体重" FROM messwerte WHERE größe = 3
SELECT "Value" FROM "Lab Results" WHERE "Sample ID" = 3 ORDER BY "order"
SELECT l."Value" + 1 "Val ue" FROM front."Lab Results" l WHERE l."patientId" IN (SELECT id FROM patients)
SELECT "monthly pay" FROM "Other Schema"."contract list"
SELECT "Twice" FROM "Odd View" WHERE "Key" = 2
SELECT U&"gr\00F6\00DFe" FROM messwerte
SELECT name, wage FROM employees
SELECT name FROM people
SELECT name FROM ONLY people
SELECT * FROM people*
-- conditions
SELECT last_name FROM patients WHERE 'Ann' = first_name AND id > 0
SELECT last_name FROM patients WHERE first_name = last_name
SELECT last_name FROM patients WHERE id = 1 OR city = 'x'
SELECT last_name FROM patients WHERE (id, city) = (1, 'x')
SELECT last_name FROM patients WHERE (id, city) < (1, gender)
SELECT last_name FROM patients WHERE ROW(id) = ROW(2)
SELECT last_name FROM patients WHERE id IN (1, 2, 3)
SELECT last_name FROM patients WHERE id IN (1)
SELECT last_name FROM patients WHERE id NOT IN (1, 2)
SELECT last_name FROM patients WHERE id = ANY ('{1,2}') AND city <> ALL (ARRAY['a', gender])
SELECT p.last_name FROM patients p, billing b WHERE b.patient_id IN (p.id)
SELECT p.last_name FROM patients p, billing b WHERE b.patient_id IN (p.id, 3)
SELECT p.last_name FROM patients p, billing b WHERE b.patient_id NOT IN (p.id)
SELECT p.last_name FROM patients p, billing b WHERE b.patient_id = ANY (ARRAY[p.id])
SELECT last_name FROM patients WHERE birth_date BETWEEN '1990-01-01' AND '1991-01-01' AND city ILIKE '%a'
SELECT last_name FROM patients WHERE birth_date BETWEEN SYMMETRIC '1990-01-01' AND '1991-01-01'
SELECT last_name FROM patients WHERE true
SELECT last_name FROM patients WHERE NOT EXISTS (SELECT)
SELECT mrn FROM patients WHERE zip = 'Z1' AND zip::text = 'Z1' AND zip::varchar(3) = 'x'
SELECT mrn FROM patients WHERE id = $1 AND city = $2
SELECT mrn FROM patients LIMIT $1
SELECT mrn FROM patients WHERE id = 1 AND (city = 'x' AND (gender = 'f' AND zip > 'a'))
SELECT mrn FROM patients WHERE (id = 1) IS TRUE AND (city = 'c') IS NOT FALSE
SELECT mrn FROM patients WHERE id OPERATOR(pg_catalog.=) 1
SELECT p.mrn FROM patients p, billing b WHERE p.id OPERATOR(pg_catalog.=) b.patient_id
-- joins
SELECT p.last_name, d.code FROM patients p JOIN diagnoses d ON d.patient_id = p.id WHERE d.severity > 2
SELECT p.last_name FROM patients p, diagnoses d WHERE d.patient_id = p.id AND d.code = 'C3'
SELECT p.last_name FROM patients p JOIN diagnoses d ON d.patient_id = p.id AND d.code = p.city AND d.severity > p.id
SELECT p.last_name FROM patients p JOIN diagnoses d ON d.patient_id = p.id OR d.code = p.city
SELECT p.last_name FROM patients p JOIN diagnoses d ON d.patient_id = p.id + 1
SELECT p.last_name FROM patients p JOIN diagnoses d ON d.patient_id <> p.id
SELECT p.last_name FROM patients p JOIN diagnoses d ON NOT d.patient_id = p.id
SELECT p.last_name FROM patients p JOIN diagnoses d ON (d.patient_id, d.code) = (p.id, p.city)
SELECT p.last_name FROM patients p JOIN diagnoses d ON (d.patient_id, d.code) IN ((p.id, p.city))
SELECT p.last_name FROM patients p LEFT JOIN diagnoses d ON d.patient_id = p.id LEFT JOIN billing b ON b.patient_id = d.patient_id
SELECT p.last_name FROM patients p RIGHT JOIN (diagnoses d FULL JOIN billing b ON b.patient_id = d.patient_id) ON p.id = b.patient_id
SELECT p.last_name FROM patients p CROSS JOIN departments
SELECT p.last_name FROM patients p CROSS JOIN departments d WHERE d.name = p.city
SELECT a.ward, b.amount FROM admissions a JOIN billing b USING (patient_id)
SELECT patient_id FROM admissions a JOIN billing b USING (patient_id)
SELECT patient_id FROM admissions a LEFT JOIN billing b USING (patient_id)
SELECT patient_id FROM admissions a RIGHT JOIN billing b USING (patient_id)
SELECT patient_id FROM admissions a FULL JOIN billing b USING (patient_id)
SELECT a.patient_id, b.patient_id FROM admissions a FULL JOIN billing b USING (patient_id)
SELECT * FROM departments JOIN staff USING (id)
SELECT s.*, d.* FROM departments d JOIN staff s USING (id)
SELECT * FROM diagnoses NATURAL JOIN tally
SELECT * FROM departments NATURAL JOIN patients
SELECT * FROM tally NATURAL LEFT JOIN notes NATURAL RIGHT JOIN diagnoses
SELECT patient_id FROM tally NATURAL LEFT JOIN notes NATURAL RIGHT JOIN diagnoses
SELECT patient_id FROM tally NATURAL FULL JOIN notes NATURAL FULL JOIN diagnoses
SELECT u.patient_id FROM tally JOIN diagnoses USING (patient_id) AS u
SELECT j.code FROM (tally JOIN diagnoses USING (patient_id)) AS j
SELECT j FROM (tally JOIN diagnoses USING (patient_id)) AS j
SELECT j.* FROM (tally t JOIN diagnoses d ON t.patient_id = d.patient_id) AS j (a, b, c)
SELECT j.a, j.code FROM (tally t JOIN diagnoses d ON t.patient_id = d.patient_id) AS j (a, b, c)
SELECT * FROM tally a JOIN tally b USING (patient_id) JOIN tally c USING (patient_id)
SELECT s.last_name, m.last_name AS boss FROM staff s LEFT JOIN staff m ON m.id = s.manager_id
SELECT patient_id FROM joined WHERE amount > 3
SELECT * FROM joined
SELECT b.amount FROM billing b JOIN patients p ON b.id = p.id
SELECT b.amount FROM billing b JOIN patients p ON b.id = p.id::bigint
SELECT b.amount FROM patients p JOIN billing b USING (id) WHERE b.id > 1
SELECT p.mrn FROM patients p JOIN staff s ON p.zip = s.job
SELECT p.mrn FROM patients p JOIN staff s ON p.zip::text = s.job
SELECT p.mrn FROM patients p JOIN staff s ON p.city COLLATE "C" = s.job
SELECT p.mrn FROM patients p JOIN staff s ON lower(p.city) = lower(s.job)
SELECT p.mrn FROM patients p JOIN role_owned o ON o.id = p.id
SELECT p.mrn FROM patients p JOIN role_owned o ON o.city = p.city WHERE o.id = 3
SELECT p.mrn FROM patients p JOIN scratch s USING (id)
SELECT p.mrn FROM patients p JOIN (VALUES (1, 'x'), (2, 'y')) AS v (id, t) ON v.id = p.id
SELECT p.mrn, v.t FROM patients p JOIN (VALUES (1, 'x'), (2, 'y')) AS v (id, t) USING (id)
SELECT p.mrn FROM patients p JOIN (SELECT 1 AS id UNION SELECT 2) v ON v.id = p.id
WITH v AS (SELECT 3 AS id) SELECT p.mrn FROM patients p JOIN v ON v.id = p.id
WITH v (id) AS (VALUES (1), (2)) SELECT p.mrn FROM patients p JOIN v USING (id)
SELECT p.mrn FROM patients p JOIN generate_series(1, 3) g ON g = p.id
SELECT p.mrn FROM patients p JOIN unnest('{1,2}'::int[]) WITH ORDINALITY AS u (id, n) ON u.id = p.id
-- subqueries
SELECT q.gender FROM (SELECT last_name, gender, city FROM patients) AS q WHERE q.city = 'Cork'
SELECT q.g FROM (SELECT last_name, gender, city FROM patients) AS q (l, g)
SELECT q FROM (SELECT last_name, gender FROM patients) AS q
SELECT q.* FROM (SELECT last_name, gender FROM patients ORDER BY city LIMIT 3) AS q
SELECT count(*) FROM (SELECT DISTINCT city FROM patients) q
SELECT p.mrn FROM patients p WHERE EXISTS (SELECT 1 FROM billing b WHERE b.patient_id = p.id AND b.paid)
SELECT p.mrn FROM patients p WHERE EXISTS (SELECT b.amount FROM billing b WHERE b.patient_id = p.id + 1 GROUP BY b.amount)
SELECT EXISTS (SELECT FROM billing WHERE amount > 3)
SELECT mrn FROM patients WHERE id IN (SELECT patient_id FROM billing WHERE amount > 5)
SELECT mrn FROM patients WHERE id NOT IN (SELECT patient_id FROM billing)
SELECT mrn FROM patients WHERE id = ANY (SELECT patient_id FROM billing)
SELECT mrn FROM patients WHERE id > ALL (SELECT patient_id FROM billing)
SELECT mrn FROM patients WHERE id = SOME (SELECT patient_id FROM billing) OR city = 'x'
SELECT mrn FROM patients WHERE (id, city) IN (SELECT patient_id, insurer FROM billing)
SELECT mrn FROM patients WHERE (id, city) NOT IN (SELECT patient_id, insurer FROM billing)
SELECT mrn FROM patients WHERE (id, city) = (SELECT patient_id, insurer FROM billing LIMIT 1)
SELECT mrn FROM patients WHERE (id, city) < (SELECT patient_id, insurer FROM billing LIMIT 1)
SELECT mrn FROM patients WHERE id = (SELECT max(patient_id) FROM billing)
SELECT mrn FROM patients WHERE (SELECT max(patient_id) FROM billing) = id
SELECT mrn FROM patients WHERE id + 1 IN (SELECT patient_id + 2 FROM billing)
SELECT id IN (SELECT patient_id FROM billing) FROM patients
SELECT (id, city) = (SELECT patient_id, insurer FROM billing LIMIT 1) FROM patients
SELECT CASE WHEN id IN (SELECT patient_id FROM billing) THEN last_name END FROM patients
SELECT mrn, (SELECT sum(amount) FROM billing b WHERE b.patient_id = p.id) FROM patients p
SELECT mrn, (SELECT b FROM billing b WHERE b.patient_id = p.id LIMIT 1) FROM patients p
SELECT mrn FROM patients p WHERE 3 < (SELECT count(*) FROM billing b WHERE b.patient_id = p.id)
SELECT (SELECT (SELECT p.city FROM billing b WHERE b.id = d.id LIMIT 1) FROM departments d WHERE d.name = p.zip) FROM patients p
SELECT mrn FROM patients p WHERE EXISTS (SELECT FROM billing b WHERE EXISTS (SELECT FROM diagnoses d WHERE d.patient_id = p.id AND d.id = b.id))
SELECT mrn FROM patients ORDER BY (SELECT max(amount) FROM billing WHERE patient_id = patients.id)
SELECT mrn FROM patients ORDER BY id IN (SELECT patient_id FROM billing)
SELECT mrn FROM patients LIMIT (SELECT count(*) FROM billing WHERE paid)
SELECT mrn FROM patients OFFSET (SELECT max(amount) FROM billing)
SELECT last_name FROM patients UNION SELECT job FROM staff LIMIT (SELECT max(n) FROM tally)
SELECT max((SELECT avg(amount) FROM billing b WHERE b.patient_id = p.id)) FROM patients p
SELECT (SELECT count(p.id)) FROM patients p
SELECT (SELECT max(p.id + d.id) FROM departments d) FROM patients p
SELECT p.mrn, x.amount FROM patients p, LATERAL (SELECT amount FROM billing b WHERE b.patient_id = p.id ORDER BY issued LIMIT 1) x
SELECT p.mrn, x.m FROM patients p LEFT JOIN LATERAL (SELECT max(amount) AS m FROM billing b WHERE b.patient_id = p.id) x ON true
SELECT p.mrn, x.c FROM patients p CROSS JOIN LATERAL (SELECT p.city AS c) x
SELECT x.c FROM patients p JOIN diagnoses d ON p.id = d.patient_id, LATERAL (SELECT p.city || d.code AS c) x
SELECT x.a FROM patients p, LATERAL (VALUES (p.city, p.zip)) AS x (a, b)
SELECT x.b FROM patients p, LATERAL (SELECT p.city, p.zip UNION ALL SELECT p.gender, p.mrn) AS x (a, b)
-- functions in FROM
SELECT * FROM generate_series(1, 3)
SELECT g FROM patients p, generate_series(1, p.id) g
SELECT g.g FROM patients p, generate_series(1, p.id) AS g (g) WHERE g.g > 2
SELECT p.mrn FROM patients p, unnest(string_to_array(p.city, ',')) AS u
SELECT u.v FROM staff s CROSS JOIN LATERAL unnest(s.tags) WITH ORDINALITY AS u (v, n) WHERE u.n = 2
SELECT * FROM names_in('x')
SELECT first_name FROM names_in((SELECT city FROM patients LIMIT 1))
SELECT n.last_name FROM patients p, names_in(p.city) n
SELECT e.key, e.value FROM patients, jsonb_each(details) e
SELECT t.a FROM patients p, jsonb_to_record(p.details) AS t (a int, b text)
SELECT t.a FROM patients p, ROWS FROM (jsonb_to_record(p.details) AS (a int, b text), generate_series(1, p.id)) AS t
SELECT x.* FROM patients p, XMLTABLE('/a' PASSING (xmlelement(name a, p.zip)) COLUMNS b int PATH 'b', c text DEFAULT p.city) x
SELECT x.b FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS b int PATH 'b', n FOR ORDINALITY) x
SELECT unnest(tags), generate_series(1, id) FROM staff
SELECT * FROM current_date
SELECT mrn FROM patients TABLESAMPLE bernoulli (10) REPEATABLE (3) WHERE id > 2
-- aggregates
SELECT count(*) FROM patients WHERE city = 'Graz'
SELECT count(1), count(id), count(DISTINCT city) FROM patients
SELECT sum(amount * 2), avg(amount), min(issued), max(issued) FROM billing
SELECT stddev(salary), var_pop(salary), corr(salary, id), regr_slope(salary, department_id), covar_pop(id, salary) FROM staff
SELECT bool_and(paid), every(paid), bit_or(patient_id), string_agg(insurer, ',') FROM billing
SELECT array_agg(last_name ORDER BY hired) FROM staff
SELECT array_agg(DISTINCT last_name ORDER BY last_name) FROM staff
SELECT string_agg(last_name, ',' ORDER BY hired DESC, id) FROM staff
SELECT jsonb_object_agg(last_name, salary) FROM staff
SELECT count(*) FILTER (WHERE paid) FROM billing
SELECT sum(amount) FILTER (WHERE insurer = 'x' AND patient_id IN (SELECT id FROM patients)) FROM billing
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) FROM staff
SELECT percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY salary DESC) FILTER (WHERE job = 'x') FROM staff
SELECT mode() WITHIN GROUP (ORDER BY job) FROM staff
SELECT rank(3) WITHIN GROUP (ORDER BY id) FROM staff
SELECT percentile_cont(department_id / 10.0) WITHIN GROUP (ORDER BY salary) FROM staff GROUP BY department_id
SELECT last_text(job), front."Last Text"(last_name) FROM staff
SELECT last_text(job ORDER BY hired) FROM staff WHERE false
SELECT ward, count(*) FROM admissions GROUP BY ward HAVING count(*) > 3
SELECT ward FROM admissions GROUP BY ward HAVING max(discharged) > '2023-01-01' AND min(department_id) = 1
SELECT gender, city, count(*) FROM patients GROUP BY 1, 2
SELECT gender AS g, count(*) FROM patients GROUP BY g
SELECT gender AS city, count(*) FROM patients GROUP BY city, gender
SELECT lower(city), count(*) FROM patients GROUP BY lower(city) ORDER BY count(*) DESC
SELECT extract(year FROM birth_date) AS y, count(*) FROM patients GROUP BY y ORDER BY y
SELECT city, gender, count(*) FROM patients GROUP BY ROLLUP (city, gender)
SELECT city, gender, grouping(city, gender) FROM patients GROUP BY CUBE (city, gender)
SELECT city, gender FROM patients GROUP BY GROUPING SETS ((city), (gender, city), ())
SELECT city FROM patients GROUP BY DISTINCT city, ROLLUP (city, zip)
SELECT grouping(city) FROM patients GROUP BY ROLLUP (city)
SELECT count(*) FROM patients GROUP BY ()
SELECT id, last_name, avg(salary) FROM staff GROUP BY id
SELECT p.id, count(*) FROM patients p JOIN billing b ON b.patient_id = p.id GROUP BY p.id
SELECT id, sum(salary) FROM staff GROUP BY id
SELECT mrn, count(first_name), avg(id) FROM patients GROUP BY mrn
SELECT patient_id, id, admitted, ward, sum(department_id) FROM admissions_2024 GROUP BY patient_id, id, admitted, ward
SELECT department_id, sum(salary) FROM staff GROUP BY department_id ORDER BY max(salary) LIMIT 3
SELECT job FROM staff GROUP BY job ORDER BY avg(salary)
SELECT avg(s) FROM (SELECT sum(salary) AS s FROM staff GROUP BY department_id) x
SELECT sum(n) FROM (SELECT count(*) AS n, city FROM patients GROUP BY city) x WHERE city > 'a'
SELECT DISTINCT city, gender FROM patients
SELECT DISTINCT ON (city) city, last_name FROM patients ORDER BY city, birth_date
SELECT DISTINCT ON (1) gender, last_name FROM patients
SELECT DISTINCT ON (lower(city), gender) last_name FROM patients ORDER BY lower(city), gender DESC, id
SELECT DISTINCT city FROM patients ORDER BY city LIMIT 4
SELECT DISTINCT count(*) FROM patients GROUP BY city
-- windows
SELECT rank() OVER (PARTITION BY department_id ORDER BY salary DESC) FROM staff
SELECT row_number() OVER () FROM patients
SELECT sum(salary) OVER (ORDER BY hired ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM staff
SELECT lag(salary, 1) OVER w, lead(hired) OVER w FROM staff WINDOW w AS (PARTITION BY job ORDER BY id)
SELECT avg(salary) OVER (w ORDER BY hired), first_value(last_name) OVER w FROM staff WINDOW w AS (PARTITION BY job)
SELECT count(*) FILTER (WHERE salary > 3) OVER (PARTITION BY job) FROM staff
SELECT last_name FROM staff WINDOW w AS (PARTITION BY job ORDER BY salary)
SELECT sum(count(*)) OVER (ORDER BY city) FROM patients GROUP BY city
SELECT sum(sum(amount)) OVER (PARTITION BY insurer) FROM billing GROUP BY insurer
SELECT q.r FROM (SELECT last_name, row_number() OVER (PARTITION BY job ORDER BY salary) r FROM staff) q WHERE q.r = 1
SELECT q.last_name FROM (SELECT last_name, row_number() OVER (PARTITION BY job ORDER BY salary) r FROM staff) q WHERE q.r = 1
SELECT ntile(4) OVER (ORDER BY salary), cume_dist() OVER (ORDER BY salary) FROM staff ORDER BY rank() OVER (ORDER BY id)
SELECT last_text(job) OVER (PARTITION BY department_id) FROM staff
SELECT sum(salary) OVER (ORDER BY id RANGE BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES) FROM staff
-- ordering
SELECT last_name FROM staff ORDER BY hired
SELECT last_name FROM staff ORDER BY hired DESC NULLS LAST LIMIT 1
SELECT last_name FROM staff ORDER BY 1 FETCH FIRST 3 ROWS ONLY
SELECT last_name FROM staff ORDER BY salary FETCH FIRST 3 ROWS WITH TIES
SELECT last_name FROM staff ORDER BY salary OFFSET 3
SELECT last_name AS salary FROM staff ORDER BY salary LIMIT 2
SELECT last_name AS salary FROM staff ORDER BY salary + 1 LIMIT 2
SELECT last_name, first_name FROM staff ORDER BY 2, lower(last_name) LIMIT ALL
SELECT last_name FROM staff ORDER BY salary USING < LIMIT NULL
SELECT last_name FROM staff ORDER BY job = 'nurse', id LIMIT 5
SELECT last_name FROM staff FOR UPDATE
SELECT last_name FROM staff ORDER BY id FOR SHARE OF staff SKIP LOCKED LIMIT 1
-- set operations
SELECT last_name FROM patients UNION SELECT last_name FROM staff WHERE job = 'clerk'
SELECT last_name FROM patients EXCEPT ALL SELECT last_name FROM staff
SELECT id FROM patients INTERSECT SELECT patient_id FROM billing ORDER BY 1 LIMIT 2
SELECT last_name AS n FROM patients UNION ALL SELECT job FROM staff ORDER BY n
(SELECT last_name FROM patients ORDER BY city LIMIT 1) UNION ALL (SELECT job FROM staff ORDER BY hired LIMIT 2)
SELECT id, city FROM patients UNION (SELECT id, name FROM departments EXCEPT SELECT id, job FROM staff) ORDER BY 2
(SELECT id FROM patients UNION SELECT id FROM staff LIMIT 3) INTERSECT SELECT id FROM departments
SELECT q.a FROM (SELECT last_name AS a, city AS b FROM patients UNION SELECT job, first_name FROM staff) q
SELECT q.b FROM (SELECT last_name AS a, city AS b FROM patients UNION SELECT job, first_name FROM staff) q WHERE q.a = 'x'
SELECT mrn FROM patients WHERE id IN (SELECT patient_id FROM billing UNION SELECT patient_id FROM diagnoses)
SELECT mrn FROM patients p WHERE EXISTS (SELECT patient_id FROM billing WHERE id = p.id UNION SELECT id FROM departments WHERE name = p.city)
WITH c AS (SELECT id FROM staff) SELECT id FROM c UNION SELECT id FROM patients
VALUES (1, 'a'), (2, 'b')
VALUES ((SELECT max(id) FROM patients), 2), (3, 4) ORDER BY 1 LIMIT 1
VALUES (1) UNION SELECT id FROM patients
SELECT column1 FROM (VALUES (1, 2), (3, 4)) v
SELECT column1, column2 FROM (VALUES ((SELECT max(id) FROM patients), (SELECT count(*) FROM staff WHERE job = 'x'))) v
TABLE staff UNION TABLE staff
SELECT 1 UNION SELECT 2
SELECT NULL UNION SELECT city FROM patients
-- WITH
WITH c AS (SELECT id, zip, city FROM patients WHERE gender = 'm') SELECT zip FROM c
WITH c (a, b) AS (SELECT id, zip, city FROM patients) SELECT b, city FROM c
WITH c AS (SELECT * FROM patients) SELECT c FROM c
WITH c AS (SELECT * FROM patients), d AS (SELECT city FROM c WHERE zip = 'x') SELECT * FROM d
WITH c AS (SELECT * FROM patients) SELECT 1
WITH c AS (SELECT * FROM patients) SELECT a.city, b.zip FROM c a JOIN c b ON a.id = b.id
WITH c AS MATERIALIZED (SELECT * FROM patients) SELECT (SELECT max(city) FROM c) FROM staff
WITH patients AS (SELECT id, job AS city FROM staff) SELECT city FROM patients
WITH patients AS (SELECT * FROM patients WHERE id = 3) SELECT city FROM patients
WITH patients AS (SELECT id, job AS city FROM staff) SELECT city, zip FROM front.patients
WITH a AS (WITH b AS (SELECT id, city FROM patients) SELECT city FROM b) SELECT * FROM a
WITH a AS (SELECT id FROM staff) SELECT mrn FROM patients p WHERE EXISTS (WITH b AS (SELECT * FROM a) SELECT FROM b WHERE b.id = p.id)
WITH RECURSIVE up AS (SELECT id, manager_id FROM staff WHERE id = 9 UNION ALL SELECT s.id, s.manager_id FROM staff s JOIN up ON s.id = up.manager_id) SELECT id FROM up
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i, city FROM n JOIN patients ON id = i
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT sum(i) FROM n
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT city FROM patients) SELECT * FROM a
WITH RECURSIVE t (id, path) AS (SELECT id, ARRAY[id] FROM staff UNION ALL SELECT s.id, path || s.id FROM t JOIN staff s ON s.manager_id = t.id WHERE s.id <> ALL (path)) SELECT path FROM t
WITH RECURSIVE t (id, m) AS (SELECT id, manager_id FROM staff UNION ALL SELECT s.id, s.manager_id FROM t JOIN staff s ON s.manager_id = t.id) SEARCH DEPTH FIRST BY id SET o SELECT id FROM t ORDER BY o
WITH RECURSIVE t (id, m) AS (SELECT id, manager_id FROM staff UNION ALL SELECT s.id, s.manager_id FROM t JOIN staff s ON s.manager_id = t.id) CYCLE id SET c USING p SELECT m FROM t WHERE NOT c
WITH d AS (DELETE FROM billing WHERE paid RETURNING id, amount) SELECT amount FROM d
WITH d AS (DELETE FROM billing WHERE paid RETURNING id, amount) SELECT 1
WITH i AS (INSERT INTO tally (patient_id) SELECT id FROM patients RETURNING n) SELECT n FROM i
WITH u AS (UPDATE staff SET job = 'x' WHERE id = 3) SELECT city FROM patients
WITH c AS (SELECT id, city FROM patients) INSERT INTO sink (a) SELECT city FROM c
WITH c AS (SELECT id, city FROM patients) UPDATE staff SET job = c.city FROM c WHERE c.id = staff.id
WITH c AS (SELECT id FROM patients WHERE city = 'x') DELETE FROM billing USING c WHERE patient_id = c.id
WITH m AS (DELETE FROM sink RETURNING *) INSERT INTO sink SELECT * FROM m
-- views
SELECT gender, birth_year FROM patient_public WHERE pid = 7
SELECT * FROM patient_public
SELECT v FROM patient_public v
SELECT ward, pid FROM inpatients
SELECT i.city FROM inpatients i JOIN billing b ON b.patient_id = i.pid
SELECT count(*) FROM inpatients
SELECT * FROM department_pay
SELECT pay FROM department_pay WHERE dep = 3
SELECT top FROM department_pay ORDER BY heads LIMIT 1
SELECT amount FROM open_bills
SELECT sum_due FROM cheap_bills WHERE bill = 2
SELECT amount FROM barrier_bills WHERE id = 3
SELECT last_name FROM everybody WHERE kind = 's'
SELECT kind FROM everybody
SELECT id FROM chain
SELECT pp.b FROM patient_public AS pp (a, b) JOIN patients p ON pp.a = p.id
SELECT * FROM scratch_view
SELECT zip FROM pg_temp.scratch_view
SELECT body FROM notes
SELECT count(*) FROM notes WHERE patient_id = 3
-- partitions
SELECT discharged FROM admissions_2024 WHERE ward = 'A1'
SELECT * FROM admissions_2024
SELECT a FROM admissions_2024 a
SELECT ward FROM admissions_2025_icu UNION SELECT ward FROM admissions_2025
SELECT x.ward FROM admissions_2023 x JOIN admissions y ON x.id = y.id
SELECT ward FROM ONLY admissions
SELECT * FROM admissions_2024 NATURAL JOIN diagnoses
INSERT INTO admissions_2024 VALUES ('A1', NULL, 3, '2024-02-02', 2, 4)
INSERT INTO admissions_2024 (ward, admitted, id) VALUES ('A1', '2024-02-02', 4)
UPDATE admissions_2024 SET ward = 'x' WHERE patient_id = 3
-- insert
INSERT INTO diagnoses (id, patient_id, code) VALUES (5001, 3, 'Q1')
INSERT INTO diagnoses VALUES (5001, 3)
INSERT INTO diagnoses (id, code) VALUES (1, 'a'), (2, DEFAULT), (3, (SELECT max(city) FROM patients))
INSERT INTO diagnoses DEFAULT VALUES
INSERT INTO patients (id, city) VALUES (1, DEFAULT)
INSERT INTO patients (id) VALUES (1) RETURNING *
INSERT INTO patients (id) VALUES (1) RETURNING id, lower(city) AS c
INSERT INTO staff (id, doubled) VALUES (1, DEFAULT)
INSERT INTO staff (id, salary) VALUES (1, 3) RETURNING doubled
INSERT INTO sink SELECT last_name, first_name FROM patients WHERE city = 'x'
INSERT INTO sink (b, a) SELECT last_name, first_name FROM patients ORDER BY zip LIMIT 3
INSERT INTO sink (a) SELECT job FROM staff UNION SELECT city FROM patients
INSERT INTO sink (c) SELECT avg(salary) FROM staff GROUP BY department_id
INSERT INTO sink (a) SELECT DISTINCT city FROM patients
INSERT INTO sink (a) (WITH c AS (SELECT city FROM patients) SELECT city FROM c)
INSERT INTO sink (a, c) VALUES ((SELECT city FROM patients WHERE id = 3), (SELECT count(*) FROM staff))
INSERT INTO sink (a) SELECT p.city FROM patients p JOIN sink s ON s.a = p.city
INSERT INTO tally VALUES (1, 2) ON CONFLICT DO NOTHING
INSERT INTO tally VALUES (1, 2) ON CONFLICT (patient_id) DO UPDATE SET n = EXCLUDED.n
INSERT INTO tally AS t VALUES (1, 2) ON CONFLICT (patient_id) DO UPDATE SET n = t.n + EXCLUDED.n, last = DEFAULT WHERE t.last < EXCLUDED.last
INSERT INTO tally (patient_id, n) SELECT patient_id, count(*) FROM billing GROUP BY patient_id ON CONFLICT ON CONSTRAINT tally_pkey DO UPDATE SET (n, last) = (EXCLUDED.n, EXCLUDED.last) RETURNING tally.n
INSERT INTO tally VALUES (1, 2) ON CONFLICT (patient_id) DO UPDATE SET n = (SELECT max(amount) FROM billing WHERE patient_id = EXCLUDED.patient_id)
INSERT INTO tally VALUES (1, 2) ON CONFLICT (patient_id) WHERE n > 3 DO NOTHING
INSERT INTO tally VALUES (1, 2) ON CONFLICT (patient_id) DO UPDATE SET (n, last) = (SELECT b.id, b.issued FROM billing b WHERE b.patient_id = tally.patient_id)
INSERT INTO open_bills (id, amount) VALUES (1, 2)
INSERT INTO open_bills (id, amount) VALUES (1, 2) RETURNING insurer
INSERT INTO cheap_bills (bill, sum_due) SELECT id, salary FROM staff
INSERT INTO pairs (id, p.x, p.y, many[1]) VALUES (1, 2, 'x', NULL)
INSERT INTO scratch (id, note) SELECT id, last_name FROM patients
INSERT INTO role_owned SELECT id, city FROM patients
-- update
UPDATE billing SET amount = 0 WHERE insurer = 'nobody' RETURNING issued
UPDATE billing SET amount = amount * 2
UPDATE staff SET salary = salary * 1.02, job = first_name WHERE id = 3
UPDATE staff SET doubled = DEFAULT
UPDATE staff SET salary = s.salary FROM staff s WHERE s.id = staff.manager_id
UPDATE staff SET job = d.name FROM departments d WHERE d.id = staff.department_id AND d.building = 'A'
UPDATE staff AS s SET job = d.name FROM departments d JOIN patients p ON p.city = d.name WHERE d.id = s.department_id RETURNING s.*, d.building
UPDATE staff SET (job, last_name) = ('x', first_name)
UPDATE staff SET (job, last_name) = ROW(DEFAULT, first_name || last_name)
UPDATE staff SET (job, last_name) = (SELECT name, building FROM departments d WHERE d.id = staff.department_id)
UPDATE staff SET job = (SELECT name FROM departments d WHERE d.id = department_id), salary = DEFAULT
UPDATE staff SET tags[1] = 'x', tags[2] = last_name
UPDATE pairs SET p.x = 3, p.y = (p).y || 'x' WHERE (p).x = 2
UPDATE staff SET salary = salary WHERE department_id IN (SELECT id FROM departments WHERE name = 'x')
UPDATE staff SET salary = CASE WHEN job = 'x' THEN salary ELSE 3 END
UPDATE open_bills SET amount = 3 WHERE insurer = 'x'
UPDATE cheap_bills SET sum_due = sum_due + bill RETURNING insurer
UPDATE barrier_bills SET amount = 3 WHERE id = 2
UPDATE notes SET body = 'x' WHERE patient_id = 3
UPDATE ONLY people SET name = 'x'
UPDATE people SET name = e.name FROM employees e WHERE e.id = people.id
UPDATE billing SET paid = true FROM (VALUES (1, 2), (3, 4)) v (a, b) WHERE billing.id = v.a
UPDATE billing SET paid = v.ok FROM (SELECT id, city = 'x' AS ok FROM patients) v WHERE billing.patient_id = v.id
UPDATE role_owned SET city = p.city FROM patients p WHERE p.id = role_owned.id
UPDATE "Lab Results" SET "Value" = "order" WHERE "Sample ID" = 3
-- delete
DELETE FROM billing WHERE amount < 0
DELETE FROM billing
DELETE FROM billing b USING patients p WHERE p.id = b.patient_id AND p.city = 'x' RETURNING p.mrn, b.amount
DELETE FROM billing WHERE patient_id IN (SELECT id FROM patients WHERE city = 'x')
DELETE FROM billing RETURNING *
DELETE FROM billing b RETURNING b
DELETE FROM cheap_bills WHERE bill = 3
DELETE FROM barrier_bills RETURNING amount
DELETE FROM admissions_2024 WHERE ward = 'x'
DELETE FROM billing USING open_bills o WHERE o.id = billing.id
DELETE FROM billing WHERE CURRENT OF cursor
-- merge
MERGE INTO tally t USING billing b ON t.patient_id = b.patient_id WHEN MATCHED THEN UPDATE SET n = t.n + 1 WHEN NOT MATCHED THEN INSERT (patient_id, n) VALUES (b.patient_id, 1)
MERGE INTO tally t USING billing b ON t.patient_id = b.patient_id AND b.paid WHEN MATCHED AND b.amount > 3 THEN UPDATE SET n = b.id, last = b.issued WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN DO NOTHING
MERGE INTO tally USING (SELECT patient_id AS pid, count(*) AS c FROM billing GROUP BY patient_id) s ON s.pid = patient_id WHEN MATCHED THEN UPDATE SET (n, last) = (s.c, DEFAULT) WHEN NOT MATCHED AND s.c > 3 THEN INSERT VALUES (s.pid, s.c)
MERGE INTO tally t USING billing b ON t.patient_id = b.patient_id WHEN MATCHED THEN UPDATE SET (n, last) = (SELECT d.severity, d.noted FROM diagnoses d WHERE d.patient_id = b.patient_id)
WITH s AS (SELECT id FROM patients WHERE city = 'x') MERGE INTO tally t USING s ON s.id = t.patient_id WHEN NOT MATCHED THEN INSERT DEFAULT VALUES
MERGE INTO staff s USING departments d ON s.department_id = d.id WHEN MATCHED AND s.job = 'x' THEN UPDATE SET job = d.name || s.job
MERGE INTO tally t USING (VALUES (1, 2)) v (a, b) ON t.patient_id = v.a WHEN MATCHED THEN UPDATE SET n = v.b
MERGE INTO admissions_2024 a USING diagnoses d ON d.admission_id = a.id WHEN MATCHED THEN UPDATE SET ward = d.code WHEN NOT MATCHED THEN INSERT (id, ward) VALUES (d.admission_id, d.code)
MERGE INTO tally t USING patient_public p ON t.patient_id = p.pid WHEN MATCHED AND p.city = 'x' AND EXISTS (SELECT FROM billing WHERE patient_id = p.pid) THEN DELETE
-- queries within utility statements
EXPLAIN SELECT city FROM patients
EXPLAIN (ANALYZE, COSTS off) UPDATE staff SET job = last_name
EXPLAIN ANALYZE CREATE TABLE x AS SELECT city FROM patients
DECLARE c CURSOR FOR SELECT city FROM patients WHERE id = 3
PREPARE p (int) AS SELECT city FROM patients WHERE id = $1
PREPARE p AS DELETE FROM billing WHERE id = $1 RETURNING amount
COPY departments TO STDOUT
COPY departments (name) TO STDOUT
COPY front.admissions_2024 (ward, id) TO '/dev/null'
COPY (SELECT city FROM patients WHERE id = 3) TO STDOUT
COPY (DELETE FROM billing RETURNING amount) TO STDOUT
COPY (TABLE staff) TO STDOUT (FORMAT csv)
CREATE TABLE x AS SELECT city, count(*) FROM patients GROUP BY city
CREATE TEMP TABLE x AS TABLE staff WITH NO DATA
CREATE MATERIALIZED VIEW x AS SELECT city FROM patients
SELECT city, zip INTO x FROM patients WHERE id = 3
SELECT city INTO TEMP x FROM patients UNION SELECT job FROM staff
EXPLAIN SELECT city INTO x FROM patients
CREATE TABLE x AS WITH c AS (SELECT city FROM patients) SELECT * FROM c
CREATE TABLE x AS VALUES (1)
CREATE VIEW x AS SELECT city FROM patients
CREATE TABLE x (a int)
TRUNCATE billing
LOCK TABLE billing
VACUUM
SET work_mem = '1MB'
BEGIN; SELECT city FROM patients; UPDATE staff SET job = 'x'; COMMIT
SELECT city FROM patients; SELECT zip FROM patients WHERE id = 3;
;
/* SELECT salary FROM staff; */ SELECT zip FROM patients WHERE last_name = 'a;b''c' -- AND city = 'x'
-- catalogs and temporary schemas
SELECT relname FROM pg_catalog.pg_class WHERE relkind = 'r'
SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
SELECT table_name FROM information_schema.tables
SELECT p.mrn FROM patients p JOIN pg_class c ON c.relname = p.city
SELECT c.relname, p.city FROM pg_class c, patients p WHERE c.oid = p.id
SELECT count(*) FROM pg_stat_activity
INSERT INTO sink (a) SELECT relname FROM pg_class
SELECT note FROM scratch
SELECT note FROM pg_temp.scratch
SELECT last_name FROM staff_copy c JOIN patients p USING (last_name)
SELECT s.note, p.city FROM scratch s JOIN patients p ON p.id = s.id
UPDATE scratch SET note = 'x' WHERE id = 3
DELETE FROM scratch
COPY scratch TO STDOUT
-- more of all, mixed
SELECT id FROM billing b JOIN patients p USING (id)
SELECT (d).name FROM (SELECT d FROM departments d) q
SELECT (q.d).name FROM (SELECT d FROM departments d) q
SELECT (q).id FROM (SELECT id, name FROM departments) q
SELECT mrn FROM patients p WHERE (p.*) IS NOT NULL
SELECT mrn FROM patients p WHERE p.* = p.*
SELECT count(DISTINCT (city, zip)) FROM patients
SELECT count(p.*) FROM patients p LEFT JOIN billing b ON b.patient_id = p.id
SELECT sum(b.amount) FROM patients p LEFT JOIN billing b ON b.patient_id = p.id GROUP BY p.id HAVING sum(b.amount) > avg(p.id)
SELECT * FROM (patients p JOIN billing b ON p.id = b.patient_id) JOIN departments d ON d.id = p.id
SELECT x.* FROM (SELECT * FROM patients NATURAL JOIN tally) x
SELECT id FROM (SELECT id, id AS id2, city FROM patients) x WHERE id2 = 2
SELECT city FROM patients GROUP BY patients.city HAVING city > 'x'
SELECT city AS c FROM patients GROUP BY c HAVING count(*) > (SELECT avg(amount) FROM billing)
SELECT p.city, count(*) FROM patients p GROUP BY p.city, p.zip ORDER BY p.zip
SELECT max(last_name) FROM patients ORDER BY max(zip)
SELECT city FROM patients ORDER BY city COLLATE "C" LIMIT 3
SELECT upper(city) AS city FROM patients ORDER BY city LIMIT 3
SELECT upper(city) AS city FROM patients GROUP BY city
SELECT city, row_number() OVER (ORDER BY zip) AS rn FROM patients ORDER BY rn LIMIT 3
SELECT DISTINCT ON (p.city) p.* FROM patients p ORDER BY p.city, p.birth_date DESC
SELECT * FROM patients p WHERE p.id = (SELECT min(x.id) FROM patients x WHERE x.city = p.city)
SELECT * FROM patients p WHERE p.id IN (SELECT x.id FROM patients x WHERE x.city = p.city AND x.id <> p.id)
SELECT p.id, ARRAY(SELECT b.amount FROM billing b WHERE b.patient_id = p.id ORDER BY b.issued LIMIT 2) FROM patients p
SELECT p.mrn FROM patients p WHERE p.id = ANY (ARRAY(SELECT patient_id FROM billing))
SELECT p.mrn FROM patients p WHERE p.id = ANY ((SELECT array_agg(patient_id) FROM billing)::int[])
SELECT mrn FROM patients WHERE (SELECT true FROM billing LIMIT 1)
SELECT mrn FROM patients WHERE id = (WITH x AS (SELECT max(patient_id) m FROM billing) SELECT m FROM x)
SELECT (SELECT city FROM patients WHERE id = s.id) = job FROM staff s
SELECT s.id FROM staff s JOIN patients p ON p.id = (SELECT max(patient_id) FROM billing WHERE amount = s.salary)
SELECT s.id FROM staff s JOIN patients p ON EXISTS (SELECT FROM billing b WHERE b.patient_id = p.id AND b.id = s.id)
SELECT a.last_name FROM staff a, staff b WHERE a.salary = b.salary AND a.id <> b.id
SELECT a.last_name FROM staff a, staff b WHERE (a.salary = b.salary) = true
SELECT a.last_name FROM staff a WHERE a.first_name = a.last_name
SELECT a.last_name FROM staff a, LATERAL (SELECT count(*) AS c FROM staff b WHERE b.department_id = a.department_id) x WHERE x.c = a.id
SELECT a.last_name FROM staff a JOIN (SELECT department_id, max(salary) AS m FROM staff GROUP BY department_id) x ON x.department_id = a.department_id AND x.m = a.salary
SELECT a.last_name FROM staff a JOIN department_pay d ON d.dep = a.department_id AND a.salary = d.top
SELECT dp.top FROM department_pay dp, patient_public pp WHERE dp.dep = pp.pid
WITH a AS (SELECT pid, ward FROM inpatients) SELECT ward FROM a JOIN patient_public USING (pid)
WITH x AS (INSERT INTO sink (a) SELECT city FROM patients RETURNING a), y AS (UPDATE staff SET job = x.a FROM x RETURNING staff.id) SELECT * FROM y
WITH x AS (SELECT 1), y AS (DELETE FROM billing RETURNING *) INSERT INTO sink (c) SELECT amount FROM y
WITH RECURSIVE r AS (SELECT id, manager_id, 1 AS depth FROM staff WHERE manager_id IS NULL UNION ALL SELECT s.id, s.manager_id, r.depth + 1 FROM staff s, r WHERE s.manager_id = r.id) SELECT depth, count(*) FROM r GROUP BY depth ORDER BY depth
WITH RECURSIVE r (n) AS (SELECT id FROM staff UNION (SELECT p.id FROM patients p JOIN r ON r.n = p.id)) SELECT * FROM r
WITH RECURSIVE r (n) AS (SELECT id FROM staff UNION SELECT x.n FROM (SELECT r.n FROM r JOIN patients p ON p.id = r.n) x) SELECT * FROM r LIMIT 3
SELECT last_name FROM patients UNION ALL SELECT city FROM patients UNION ALL SELECT zip FROM patients ORDER BY last_name LIMIT 3
SELECT * FROM (SELECT id FROM patients UNION SELECT id FROM staff) a JOIN departments USING (id)
SELECT * FROM (VALUES ((SELECT max(city) FROM patients))) AS v (c) WHERE c = 'x'
SELECT (VALUES (1))
SELECT * FROM departments d, LATERAL (SELECT d.*) x
SELECT x.building FROM departments d, LATERAL (SELECT d.*) x
SELECT d.* FROM departments d LEFT JOIN staff s ON (d.*) IS NULL
INSERT INTO staff (id, salary) SELECT id, salary FROM staff WHERE job = 'x' RETURNING salary
INSERT INTO staff AS s (id) SELECT id FROM patients ON CONFLICT (id) DO UPDATE SET job = s.job || EXCLUDED.job WHERE EXISTS (SELECT FROM departments d WHERE d.id = s.department_id)
INSERT INTO patient_public (pid, city) VALUES (1, 'x')
INSERT INTO patient_public AS v (pid, city) VALUES (1, 'x') ON CONFLICT (pid) DO UPDATE SET city = v.gender || excluded.city WHERE v.city = 'x' RETURNING birth_year
UPDATE patient_public SET city = gender WHERE birth_year = 1990 RETURNING pid
UPDATE patient_public v SET city = s.job FROM staff s WHERE s.id = v.pid RETURNING v.*
DELETE FROM patient_public v USING inpatients i WHERE i.pid = v.pid AND v.birth_year > 2000
UPDATE admissions a SET ward = p.city FROM patients p WHERE p.id = a.patient_id
UPDATE ONLY admissions SET ward = 'x'
UPDATE staff s SET (salary, job) = (SELECT max(c."monthly pay"), min(d.name) FROM "Other Schema"."contract list" c, departments d WHERE c.staff_id = s.id)
UPDATE staff s SET salary = x.salary FROM (SELECT id, salary FROM staff) x WHERE x.id = s.id
UPDATE staff SET salary = (SELECT avg(salary) FROM staff)
UPDATE staff SET salary = (SELECT avg(s2.salary) FROM staff s2 WHERE s2.department_id = staff.department_id) + salary
MERGE INTO staff s USING staff t ON s.id = t.manager_id WHEN MATCHED THEN UPDATE SET salary = t.salary, job = s.last_name
MERGE INTO ONLY tally t USING (SELECT 1 AS a) x ON x.a = t.n WHEN NOT MATCHED THEN INSERT (n) OVERRIDING SYSTEM VALUE VALUES (x.a)
SELECT lower(name) FROM people WHERE id = 3 GROUP BY name
SELECT name, count(*) FROM people GROUP BY id, name
SELECT id, sum(amount) FROM billing GROUP BY id, insurer
SELECT p.id, p.mrn, sum(b.amount), avg(p.id) FROM patients p JOIN billing b ON b.patient_id = p.id GROUP BY p.id, p.mrn
SELECT "order", count("Value") FROM "Lab Results" GROUP BY "Sample ID", "order"
SELECT sum(amount) FILTER (WHERE EXISTS (SELECT FROM patients p WHERE p.id = billing.patient_id)) FROM billing
SELECT count(*) FROM generate_series(1, (SELECT max(id) FROM patients)) g
SELECT * FROM unnest(ARRAY(SELECT city FROM patients)) AS c
SELECT f.first_name FROM ROWS FROM (names_in('x'), generate_series(1, 2)) AS f
SELECT (names_in('x')).last_name
SELECT (names_in(city)).* FROM patients
SELECT f.* FROM full_name((SELECT p FROM patients p LIMIT 1)) f
SELECT * FROM jsonb_to_recordset((SELECT jsonb_agg(details) FROM patients)) AS x (a int, b text)
SELECT x.b FROM patients p CROSS JOIN LATERAL jsonb_to_record(p.details) AS x (a int, b text) WHERE x.a = p.id
SELECT jsonb_path_query(details, '$.a') FROM patients
SELECT pg_catalog.count(*), pg_catalog.max(city) FROM patients
SELECT front.last_text(city) FROM patients
SELECT count(*), sum(DISTINCT amount) FROM billing WHERE issued > now() - interval '1 day'
SELECT "patients".city FROM "patients"
SELECT p."city" FROM "front"."patients" AS "p"
SELECT regr_count(id, department_id), xmlagg(xmlelement(name a, job)) FROM staff
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) FILTER (WHERE id > 2), count(*) FROM staff GROUP BY job
SELECT last_name FROM patients ORDER BY random() LIMIT 1
SELECT last_name FROM patients OFFSET 3
SELECT array_position(tags, job), cardinality(tags) FROM staff WHERE tags && ARRAY[job]
SELECT a.* FROM admissions_2023 a NATURAL JOIN admissions_2024 b
SELECT ctid, * FROM departments
SELECT d.tableoid FROM departments d WHERE d.xmin = d.xmax
SELECT EXISTS (SELECT FROM patients WHERE city = 'x') AND EXISTS (SELECT FROM staff)
SELECT * FROM pairs p, unnest(p.many) u
SELECT (p.p).* FROM pairs p
SELECT (front.pairs.p).x FROM pairs
UPDATE pairs SET p = ROW(1, 'x'), many[2].y = (p).y
SELECT coalesce((SELECT city FROM patients WHERE id = 1), (SELECT job FROM staff WHERE id = 2))
SELECT p.id FROM patients p JOIN LATERAL (SELECT b.id FROM billing b WHERE b.patient_id = p.id UNION ALL SELECT d.id FROM diagnoses d WHERE d.patient_id = p.id) u ON u.id = 3
SELECT last_name FROM staff s1 WHERE salary > (SELECT avg(salary) FROM staff s2 WHERE s2.department_id = s1.department_id)
SELECT d.name, (SELECT string_agg(s.last_name, ',' ORDER BY s.salary) FROM staff s WHERE s.department_id = d.id) FROM departments d
SELECT sum(CASE WHEN paid THEN amount ELSE 0 END) FROM billing
SELECT date_trunc('month', issued) m, sum(amount) FROM billing GROUP BY m ORDER BY m DESC LIMIT 12
SELECT date_trunc('month', issued), sum(amount) FROM billing GROUP BY date_trunc('month', issued)
SELECT CURRENT_DATE - birth_date AS age FROM patients ORDER BY age LIMIT 1
SELECT city, gender, count(*) FROM patients GROUP BY GROUPING SETS (1, 2)
SELECT city || 'x' FROM patients GROUP BY ROLLUP (city || 'x')
COPY (SELECT * FROM patients ORDER BY id LIMIT 1) TO '/tmp/x'
COPY pg_class TO STDOUT
CREATE TABLE IF NOT EXISTS x AS SELECT * FROM open_bills
CREATE TEMP TABLE x ON COMMIT DROP AS SELECT p.city FROM patients p, role_owned o WHERE o.id = p.id
EXPLAIN (VERBOSE) DECLARE c CURSOR FOR SELECT city FROM patients
EXPLAIN EXECUTE p
EXECUTE p(1)
CREATE RULE r AS ON INSERT TO sink DO ALSO SELECT city FROM patients
DO $x$ BEGIN PERFORM city FROM patients; END $x$
REFRESH MATERIALIZED VIEW city_counts
DECLARE c CURSOR WITH HOLD FOR TABLE staff
SELECT table_schema, count(*) FROM information_schema.columns GROUP BY 1
SELECT n.nspname, p.city FROM pg_namespace n LEFT JOIN patients p ON p.city = n.nspname
SELECT (SELECT count(*) FROM pg_class), city FROM patients
SELECT attname FROM pg_attribute WHERE attrelid = 'patients'::regclass
$all$, '\n') AS line WHERE line <> '' AND line !~ '^-- ' AND line !~ 'Other Schema"."empty';

CREATE FUNCTION pg_temp.analyzed(sql text) RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN privacy_score.abstract_query_analyzed(sql);
EXCEPTION WHEN OTHERS THEN
  RETURN ARRAY['error: ' || SQLERRM];
END $$;

CREATE TEMP TABLE answers AS
  SELECT id, sql, privacy_score.abstract_query(sql) AS from_text, pg_temp.analyzed(sql) AS from_query FROM statements ORDER BY id;

SELECT count(*) >= 300 AS many, count(*) FILTER (WHERE from_text = '{}') AS empty FROM answers;
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

-- the abstraction follows the catalogs: renamed and added columns, partitions, views, owners, schemas
RESET ROLE;
SET search_path = front, pg_temp;
CREATE TEMP TABLE changes (step int GENERATED ALWAYS AS IDENTITY, sql text, from_text text[], from_query text[]);
CREATE PROCEDURE pg_temp.look(VARIADIC queries text[]) LANGUAGE sql AS $$
  INSERT INTO changes (sql, from_text, from_query)
  SELECT q, privacy_score.abstract_query(q), privacy_score.abstract_query_analyzed(q) FROM unnest(queries) WITH ORDINALITY AS u (q, n) ORDER BY n $$;
SET ROLE regress_front_ends;
RESET ROLE;
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
DROP SCHEMA "Other Schema" CASCADE;
DROP OWNED BY regress_front_ends;
DROP ROLE regress_front_ends;

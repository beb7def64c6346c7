-- Aggregates: over few subjects they reveal their columns; those of ordinary dashboards, with time ranges, do not.
SET client_min_messages = warning;
CREATE ROLE regress_dashboard;
CREATE SCHEMA clinic;
SET search_path = clinic, public;
CREATE TABLE department (id int PRIMARY KEY, name text);
CREATE TABLE patient (id int PRIMARY KEY, mrn text UNIQUE, gender text, city text, birth_date date, iban numeric);
CREATE TABLE visit (
  id bigint PRIMARY KEY, patient_id int NOT NULL REFERENCES patient, department_id int REFERENCES department, ward text,
  status text, admitted timestamptz, discharged timestamptz, day date, cost numeric, quantity int, paid boolean);
CREATE FUNCTION pick(i int, what text, n int) RETURNS int LANGUAGE sql IMMUTABLE
  RETURN ('x' || substr(md5(what || i), 1, 7))::bit(28)::int % n;
INSERT INTO department SELECT i, 'd' || i FROM generate_series(1, 10) i;
INSERT INTO patient SELECT i, 'm' || i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 'c' || pick(i, 'city', 13),
  date '1940-01-01' + pick(i, 'birth', 29000), i * 1000003::numeric FROM generate_series(1, 2000) i;
INSERT INTO visit SELECT i, 1 + pick(i, 'patient', 2000), 1 + pick(i, 'department', 10), 'w' || pick(i, 'ward', 5),
  CASE WHEN pick(i, 'status', 3) = 0 THEN 'open' ELSE 'done' END, timestamptz '2023-01-01 00:00+00' + i * interval '154 minutes',
  timestamptz '2023-01-01 09:00+00' + i * interval '155 minutes', date '2023-01-01' + pick(i, 'day', 400),
  pick(i, 'cost', 9973), pick(i, 'quantity', 7), pick(i, 'paid', 4) = 0 FROM generate_series(1, 10000) i;
ANALYZE;
SELECT privacy_score.protect('department'), privacy_score.protect('patient'), privacy_score.protect('visit', '{patient_id}');
GRANT USAGE ON SCHEMA clinic TO regress_dashboard;
GRANT SELECT ON ALL TABLES IN SCHEMA clinic TO regress_dashboard;

CREATE TEMP TABLE dashboard (n int GENERATED ALWAYS AS IDENTITY, sql text);
INSERT INTO dashboard (sql) VALUES
  ($$SELECT sum(cost) FROM visit$$),
  ($$SELECT count(*), avg(cost) FROM visit WHERE admitted >= '2024-01-01' AND admitted < '2024-02-01'$$),
  ($$SELECT sum(cost) FROM visit WHERE admitted BETWEEN '2024-01-01' AND '2024-01-31'$$),
  ($$SELECT sum(cost) FROM visit WHERE admitted >= now() - interval '30 days'$$),
  ($$SELECT sum(cost) FROM visit WHERE admitted BETWEEN $1 AND $2$$),
  ($$SELECT date_trunc('month', admitted), sum(cost) FROM visit GROUP BY 1 ORDER BY 1$$),
  ($$SELECT date_trunc('month', admitted) AS m, avg(cost), stddev(cost) FROM visit WHERE admitted >= '2024-01-01' GROUP BY m$$),
  ($$SELECT date_trunc('quarter', admitted), sum(cost) FROM visit WHERE status = 'done' GROUP BY 1$$),
  ($$SELECT extract(year FROM admitted), extract(month FROM admitted), sum(cost) FROM visit GROUP BY 1, 2$$),
  ($$SELECT to_char(date_trunc('month', admitted), 'YYYY-MM'), count(*), sum(cost) FROM visit GROUP BY 1$$),
  ($$SELECT date_trunc('month', admitted), department_id, sum(cost) FROM visit GROUP BY 1, 2$$),
  ($$SELECT date_trunc('year', admitted), ward, avg(cost) FROM visit GROUP BY 1, 2$$),
  ($$SELECT day, sum(cost) FROM visit WHERE day >= '2023-06-01' GROUP BY day ORDER BY day DESC LIMIT 30$$),
  ($$SELECT sum(cost) FROM visit WHERE day = '2023-06-02'$$),
  ($$SELECT sum(cost) FROM visit WHERE date_trunc('month', admitted) = '2024-01-01'$$),
  ($$SELECT avg(cost) FROM visit WHERE extract(year FROM admitted) = 2024$$),
  ($$SELECT avg(cost) FROM visit WHERE admitted::date = '2024-01-02'$$),
  ($$SELECT department_id, sum(cost) FROM visit GROUP BY department_id$$),
  ($$SELECT d.name, sum(v.cost) FROM visit v JOIN department d ON d.id = v.department_id GROUP BY d.name$$),
  ($$SELECT d.name, avg(v.cost) FROM visit v JOIN department d ON d.id = v.department_id WHERE v.admitted >= '2024-01-01' GROUP BY d.name$$),
  ($$SELECT ward, count(*), sum(cost), avg(cost) FROM visit WHERE status = 'open' GROUP BY ward$$),
  ($$SELECT sum(cost) FROM visit WHERE department_id = 3 AND admitted >= '2024-01-01'$$),
  ($$SELECT sum(cost) FROM visit WHERE department_id IN (3, 4) AND ward = 'w1'$$),
  ($$SELECT sum(cost) FROM visit WHERE department_id = $1$$),
  ($$SELECT sum(cost) FILTER (WHERE status = 'open'), sum(cost) FILTER (WHERE status = 'done') FROM visit$$),
  ($$SELECT sum(CASE WHEN paid THEN cost ELSE 0 END) / sum(cost) FROM visit$$),
  ($$SELECT department_id, sum(CASE status WHEN 'open' THEN cost ELSE 0 END) FROM visit GROUP BY 1$$),
  ($$SELECT sum(cost * quantity) FROM visit WHERE admitted >= '2024-01-01'$$),
  ($$SELECT ward, sum(cost * quantity) / nullif(sum(quantity), 0) FROM visit GROUP BY ward$$),
  ($$SELECT avg(cost / nullif(quantity, 0)) FROM visit$$),
  ($$SELECT avg(discharged - admitted) FROM visit WHERE discharged IS NOT NULL$$),
  ($$SELECT ward, avg(extract(epoch FROM discharged - admitted)) FROM visit WHERE admitted >= '2024-01-01' GROUP BY ward$$),
  ($$SELECT corr(cost, quantity), regr_slope(cost, quantity) FROM visit$$),
  ($$SELECT count(DISTINCT patient_id) FROM visit WHERE admitted >= '2024-01-01'$$),
  ($$SELECT gender, city, count(*), avg(iban) FROM patient GROUP BY gender, city$$),
  ($$SELECT p.city, sum(v.cost) FROM visit v JOIN patient p ON p.id = v.patient_id GROUP BY p.city$$),
  ($$SELECT p.gender, avg(v.cost) FROM visit v JOIN patient p ON p.id = v.patient_id WHERE v.ward = 'w1' GROUP BY p.gender$$),
  ($$SELECT department_id, avg(s) FROM (SELECT department_id, patient_id, sum(cost) AS s FROM visit GROUP BY 1, 2) x GROUP BY 1$$),
  ($$SELECT department_id, sum(cost) FROM visit GROUP BY 1 HAVING sum(cost) > 1000 ORDER BY 2 DESC LIMIT 5$$),
  ($$WITH recent AS (SELECT * FROM visit WHERE admitted >= '2024-01-01') SELECT ward, sum(cost) FROM recent GROUP BY ward$$),
  ($$SELECT d.name, (SELECT avg(v.cost) FROM visit v WHERE v.department_id = d.id) FROM department d$$),
  ($$SELECT m, sum(v.cost) FROM generate_series('2024-01-01'::timestamptz, '2024-12-01', '1 month') m LEFT JOIN visit v ON v.admitted >= m AND v.admitted < m + interval '1 month' GROUP BY m$$),
  ($$SELECT ward, status, sum(cost) FROM visit GROUP BY ROLLUP (ward, status)$$),
  ($$SELECT ward, sum(cost), sum(sum(cost)) OVER () FROM visit GROUP BY ward$$);

CREATE TEMP TABLE scored AS
  SELECT n, sql, privacy_score.explain_query(sql, 'regress_dashboard') AS now FROM dashboard;
ALTER TABLE scored ADD COLUMN before jsonb;
SET privacy_score.aggregate_least = 0;
UPDATE scored SET before = privacy_score.explain_query(sql, 'regress_dashboard');
RESET privacy_score.aggregate_least;
SELECT count(*) >= 40 AS enough, count(*) FILTER (WHERE (now->>'estimated')::boolean) AS estimated FROM scored;
-- none scores more than before; no column is both hidden and projected but those that are grouped by
SELECT sql, now->'singled_out' AS singled_out FROM scored WHERE (now->>'score')::float8 > (before->>'score')::float8 OR now->'singled_out' <> '[]' ORDER BY n;
SELECT sql, t FROM scored, jsonb_array_elements_text(now->'abstraction') t
 WHERE t LIKE 'p:%' AND NOT now->'abstraction' ? ('g:' || substr(t, 3)) AND t <> 'p:clinic.department.name' ORDER BY n, t;

-- over few they are revealed, and the reason is told
CREATE TEMP TABLE few (n int GENERATED ALWAYS AS IDENTITY, sql text);
INSERT INTO few (sql) VALUES
  ($$SELECT sum(iban) FROM patient WHERE id = 7$$),
  ($$SELECT sum(iban) FROM patient WHERE mrn = 'm7'$$),
  ($$SELECT sum(iban) FROM patient WHERE id BETWEEN 7 AND 7$$),
  ($$SELECT sum(iban) FROM patient GROUP BY birth_date$$),
  ($$SELECT sum(cost) FROM visit WHERE patient_id = 7$$),
  ($$SELECT sum(v.cost) FROM visit v JOIN patient p ON p.id = v.patient_id WHERE p.mrn = 'm7'$$),
  ($$SELECT sum(cost) FROM visit GROUP BY admitted, ward$$),
  ($$SELECT sum(iban * id) FROM patient$$),
  ($$SELECT (SELECT sum(v.cost) FROM visit v WHERE v.patient_id = p.id) FROM patient p$$),
  ($$SELECT sum(iban) FROM patient WHERE gender = 'f' AND city = 'c1' AND birth_date = '1950-01-01'$$);
SELECT sql, j->'singled_out' AS singled_out, j->'cells' AS cells, round((j->>'identification')::numeric, 2) AS identification
  FROM (SELECT n, sql, privacy_score.explain_query(sql, 'regress_dashboard') AS j FROM few) x ORDER BY n;
SELECT sql, round(privacy_score.query_identification(sql)::numeric, 2) AS identification FROM few ORDER BY n;
SELECT sql FROM dashboard WHERE n <= 3 AND privacy_score.query_identification(sql) <> (SELECT (before->>'identification')::float8 FROM scored s WHERE s.n = dashboard.n);
SELECT relation FROM privacy_score.compare_queries('SELECT iban FROM patient WHERE id = 7', 'SELECT sum(iban) FROM patient WHERE id = 7');
SET privacy_score.aggregate_least = 0;
SELECT sql, privacy_score.explain_query(sql, 'regress_dashboard')->'singled_out' AS singled_out FROM few WHERE n = 1;
RESET privacy_score.aggregate_least;
SET privacy_score.aggregate_least = -1;

-- a baseline from before knows a statement by its other tokens, until it is made anew
CREATE TEMP TABLE log AS SELECT 's' AS session, 'regress_dashboard'::name AS role, timestamptz '2025-03-03 09:00' AS at,
  'SELECT sum(iban) FROM clinic.patient WHERE id > 7' AS sql;
SELECT privacy_score.import_statements('SELECT session, role, at, sql FROM pg_temp.log');
SELECT privacy_score.set_baseline('regress_dashboard', '2025-03-03', '2025-03-03');
CREATE FUNCTION pg_temp.known(sql text) RETURNS text LANGUAGE sql AS $$
  SELECT format('known %s, score above 0 %s', j->>'known', (j->>'score')::float8 > 0) FROM privacy_score.explain_query(sql, 'regress_dashboard') j $$;
SELECT pg_temp.known('SELECT sum(iban) FROM patient WHERE id > 8'), pg_temp.known('SELECT sum(iban) FROM patient WHERE id = 7');
SELECT privacy_score.export_baseline('regress_dashboard')->'cells' AS cells;
SELECT privacy_score.import_baseline(privacy_score.export_baseline('regress_dashboard') - 'cells');
SELECT pg_temp.known('SELECT sum(iban) FROM patient WHERE id > 8'), pg_temp.known('SELECT sum(iban) FROM patient WHERE id = 7'), pg_temp.known('SELECT sum(iban), gender FROM patient WHERE id = 7 GROUP BY gender');
SELECT privacy_score.export_baseline('regress_dashboard')->'cells' AS cells;
SELECT privacy_score.import_baseline(privacy_score.export_baseline('regress_dashboard') || '{"cells": 1}');
SELECT privacy_score.set_baseline('regress_dashboard', '2025-03-03', '2025-03-03');
SELECT pg_temp.known('SELECT sum(iban) FROM patient WHERE id > 8'), pg_temp.known('SELECT sum(iban) FROM patient WHERE id = 7');
UPDATE privacy_score.session SET cells = false WHERE role = 'regress_dashboard';  -- recorded before
SELECT privacy_score.set_baseline('regress_dashboard', '2025-03-03', '2025-03-03');
SELECT pg_temp.known('SELECT sum(iban) FROM patient WHERE id > 8'), pg_temp.known('SELECT sum(iban) FROM patient WHERE id = 7');
SELECT privacy_score.drop_baseline('regress_dashboard');
DELETE FROM privacy_score.session WHERE role = 'regress_dashboard';

-- a role may not lower it for itself
SET ROLE regress_dashboard;
SET privacy_score.aggregate_least = 0;
RESET ROLE;

DROP SCHEMA clinic CASCADE;
DROP ROLE regress_dashboard;

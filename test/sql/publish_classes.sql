-- k-anonymity, l-diversity and t-closeness: the tables of the papers, an independent computation, boundaries, refusals.
CREATE SCHEMA classes;
SET search_path = classes, public;
\set SHOW_CONTEXT never

-- [Li and others, table 3]: salaries 3k to 11k and diseases in three classes.
CREATE TABLE staff (zip text, age text, salary int, disease text);
INSERT INTO staff VALUES ('476**', '2*', 3, 'gastric ulcer'), ('476**', '2*', 4, 'gastritis'), ('476**', '2*', 5, 'stomach cancer'),
  ('4790*', '>=40', 6, 'gastritis'), ('4790*', '>=40', 11, 'flu'), ('4790*', '>=40', 8, 'bronchitis'),
  ('476**', '3*', 7, 'bronchitis'), ('476**', '3*', 9, 'pneumonia'), ('476**', '3*', 10, 'stomach cancer');
SELECT privacy_score.k_anonymity('staff', '{zip,age}') AS k, privacy_score.k_anonymity('staff', '{zip}') AS k_zip,
       privacy_score.l_diversity('staff', '{zip,age}', 'salary') AS l, round(privacy_score.l_diversity('staff', '{zip,age}', 'salary', 'entropy')::numeric, 6) AS l_entropy,
       round(privacy_score.t_closeness('staff', '{zip,age}', 'salary')::numeric, 6) AS t_salary;
-- Categories: half the sum of the differences.
SELECT abs(privacy_score.t_closeness('staff', '{zip,age}', 'disease') -
           (SELECT max(d) FROM (SELECT c.zip, c.age, sum(abs(coalesce(x.n, 0) / 3.0 - t.n / 9.0)) / 2 AS d
                                  FROM (SELECT DISTINCT zip, age FROM staff) c CROSS JOIN (SELECT disease, count(*) AS n FROM staff GROUP BY 1) t
                                  LEFT JOIN (SELECT zip, age, disease, count(*) AS n FROM staff GROUP BY 1, 2, 3) x USING (zip, age, disease) GROUP BY 1, 2) s)) < 1e-12 AS same;

-- A larger table against plain SQL; NULL is a value, the last in order.
CREATE TABLE people AS SELECT i % 7 AS a, nullif(i % 5, 3)::text AS b, nullif(i * i % 23, 4) AS n, 'd' || i * i % 11 AS d FROM generate_series(1, 5000) i;
WITH c AS (SELECT a, b, n, count(*) AS c FROM people GROUP BY 1, 2, 3), q AS (SELECT a, b, sum(c) AS s FROM c GROUP BY 1, 2),
     p AS (SELECT c.a, c.b, c.c / q.s AS p FROM c JOIN q ON c.a = q.a AND c.b IS NOT DISTINCT FROM q.b),
     t AS (SELECT n, count(*) / 5000.0 AS q, row_number() OVER (ORDER BY n) AS r FROM people GROUP BY 1),
     e AS (SELECT q.a, q.b, t.r, sum(coalesce(c.c / q.s, 0) - t.q) OVER (PARTITION BY q.a, q.b ORDER BY t.r) AS difference
             FROM q CROSS JOIN t LEFT JOIN c ON c.a = q.a AND c.b IS NOT DISTINCT FROM q.b AND c.n IS NOT DISTINCT FROM t.n)
SELECT privacy_score.k_anonymity('people', '{a,b}') = (SELECT min(s) FROM q) AS k,
       privacy_score.l_diversity('people', '{a,b}', 'n') = (SELECT min(x) FROM (SELECT count(*) AS x FROM c GROUP BY a, b) s) AS l,
       abs(privacy_score.l_diversity('people', '{a,b}', 'n', 'entropy') - (SELECT min(exp(h)) FROM (SELECT -sum(p * ln(p)) AS h FROM p GROUP BY a, b) s)) < 1e-9 AS entropy,
       abs(privacy_score.t_closeness('people', '{a,b}', 'n') - (SELECT max(m) FROM (SELECT sum(abs(difference)) / (count(*) - 1) AS m FROM e GROUP BY a, b) s)) < 1e-9 AS t;

-- Boundaries: no records, one record, one value, types that cannot be compared, a domain of numbers.
CREATE TABLE none (a int, s int);
SELECT privacy_score.k_anonymity('none', '{a}'), privacy_score.l_diversity('none', '{a}', 's'), privacy_score.l_diversity('none', '{a}', 's', 'entropy'), privacy_score.t_closeness('none', '{a}', 's');
INSERT INTO none VALUES (1, 1);
SELECT privacy_score.k_anonymity('none', '{a}'), privacy_score.l_diversity('none', '{a}', 's'), privacy_score.l_diversity('none', '{a}', 's', 'entropy'), privacy_score.t_closeness('none', '{a}', 's');
INSERT INTO none VALUES (2, 1), (NULL, 1), (NULL, 1);
SELECT privacy_score.k_anonymity('none', '{a}'), privacy_score.l_diversity('none', '{a}', 's'), privacy_score.t_closeness('none', '{a}', 's'), privacy_score.t_closeness('none', '{a}', 'a');
CREATE DOMAIN score AS numeric;
CREATE TABLE odd AS SELECT json_build_object('k', i % 2) AS j, point(i % 3, 0) AS p, (i % 4)::score AS s, (i % 4)::bit(3) AS b FROM generate_series(0, 23) i;
SELECT privacy_score.k_anonymity('odd', '{j,p}') AS k, privacy_score.l_diversity('odd', '{j}', 'p') AS l, privacy_score.t_closeness('odd', '{p}', 'j') AS t,
       round(privacy_score.t_closeness('odd', '{j}', 's')::numeric, 6) AS numbers, privacy_score.t_closeness('odd', '{j}', 'b') AS categories;
-- A release by buckets is as diverse as its thresholds say.
SELECT buckets FROM privacy_score.bucketize('people', '{a,b}', 'd', 'q', 's', 'two-size', l => 4);
SELECT privacy_score.l_diversity('s', '{bid}', 'd') >= 4 AS l, privacy_score.k_anonymity('q', '{bid}') >= 4 AS k;

SELECT privacy_score.k_anonymity(NULL, '{a}');
SELECT privacy_score.k_anonymity('people', '{}');
SELECT privacy_score.k_anonymity('people', '{a,x}');
SELECT privacy_score.l_diversity('people', '{a}', 'x');
SELECT privacy_score.l_diversity('people', '{a}', 'd', 'recursive');
SELECT privacy_score.t_closeness('people', '{a}', NULL);
CREATE ROLE classes_reader;
GRANT USAGE ON SCHEMA classes TO classes_reader;
GRANT SELECT (a) ON people TO classes_reader;
SET ROLE classes_reader;
SELECT privacy_score.k_anonymity('people', '{a}');
SELECT privacy_score.k_anonymity('people', '{a,b}');
SELECT privacy_score.t_closeness('people', '{a}', 'd');
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA classes CASCADE;
DROP ROLE classes_reader;

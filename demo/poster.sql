-- poster.sql - the example of the published work: five rows, their discrimination rates, four abstractions.

CREATE SCHEMA poster;
SET search_path = poster, pg_catalog;
CREATE TABLE hospitaldb (firstName text, lastName text, gender text, department text, city text, departmentHead text);
INSERT INTO hospitaldb VALUES
  ('John', 'Smith', 'Male', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Bob', 'Lopez', 'Male', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Alice', 'Miller', 'Female', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Bob', 'Smith', 'Male', 'Cardiology', 'Vancouver', 'Dr.Albert'),
  ('John', 'Wilson', 'Male', 'Cardiology', 'Vancouver', 'Dr.Albert');

\echo
\echo '1. The published example'
\echo '========================'
SELECT * FROM hospitaldb;
\echo 'Discrimination rate: which share of the uncertainty about who somebody is do the columns take away?'
SELECT array_to_string(y.columns, ', ') AS columns,
       round(privacy_score.combined_discrimination_rate('hospitaldb', y.columns)::numeric, 4) AS "of the row",
       round(privacy_score.combined_discrimination_rate('hospitaldb', y.columns, '{lastname}')::numeric, 4) AS "of lastName"
  FROM (VALUES (1, '{firstname}'::name[]), (2, '{lastname}'), (3, '{gender}'), (4, '{department}'), (5, '{city}'),
               (6, '{departmenthead}'), (7, '{gender,department}'), (8, '{firstname,department}')) y(place, columns)
 ORDER BY y.place;
\echo 'Abstractions: what a statement reveals, without its constants; and how far that identifies a row.'
\pset format unaligned
\pset tuples_only on
SELECT format(E'%s. %s\n   %s  identifies %s', q.place, q.sql, privacy_score.abstract_query_poster(q.sql),
              round(privacy_score.query_identification(q.sql)::numeric, 4))
  FROM (VALUES (1, $$SELECT lastName, gender, city FROM hospitaldb WHERE firstName = 'Bob'$$),
               (2, $$SELECT lastName, gender FROM hospitaldb WHERE firstName = 'Bob'$$),
               (3, $$SELECT lastName, gender, department FROM hospitaldb$$),
               (4, $$SELECT lastName, department FROM hospitaldb WHERE firstName = 'Alice'$$)) q(place, sql)
 ORDER BY q.place;
SELECT format('1 against %s: %s (%s and %s, together %s)', q.place, c.relation, round(c.rate1::numeric, 4), round(c.rate2::numeric, 4),
              round(c.combined_rate::numeric, 4))
  FROM (VALUES (2, $$SELECT lastName, gender FROM hospitaldb WHERE firstName = 'Bob'$$),
               (3, $$SELECT lastName, gender, department FROM hospitaldb$$)) q(place, sql),
       LATERAL privacy_score.compare_queries($$SELECT lastName, gender, city FROM hospitaldb WHERE firstName = 'Bob'$$, q.sql) c
 ORDER BY q.place;
\pset tuples_only off
\pset format aligned
RESET search_path;

-- events 1: more columns than the baseline knows of
\set city random(0, 12)
SELECT name, birth_year, diagnosis FROM patients WHERE city = 'c' || :city LIMIT 5;

-- events 1: one patient, by key
\set id random(1, 2000)
SELECT city FROM patients WHERE id = :id;

-- events 1: one patient, by key
\set id random(1, 500)
SELECT city FROM patients WHERE id = :id;

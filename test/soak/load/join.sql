-- events 1: two protected relations
\set id random(1, 500)
SELECT p.city, v.cost FROM visits v JOIN patients p ON p.id = v.patient_id WHERE v.id = :id;

-- events 6: what a ward round asks for, in one order
\set id random(1, 500)
\set visit random(1, 500)
\set ward random(1, 9)
SELECT city FROM patients WHERE id = :id;
SELECT p.city, v.cost FROM visits v JOIN patients p ON p.id = v.patient_id WHERE v.id = :visit;
SELECT city FROM patients WHERE id = :id;
SELECT diagnosis, count(*) FROM patients WHERE ward = :ward GROUP BY diagnosis;
SELECT people_of(:ward);

-- events 4: more columns than the baseline knows of, and a transaction of which one statement is rolled back
\set id random(1, 20)
\set city random(0, 12)
SELECT name, birth_year, diagnosis FROM patients WHERE city = 'c' || :city LIMIT 5;
BEGIN;
UPDATE notes SET line = 'seen ' || :id WHERE id = :id;
SAVEPOINT here;
SELECT diagnosis FROM patients WHERE id = :id;
ROLLBACK TO SAVEPOINT here;
SELECT line FROM notes WHERE id = :id;
COMMIT;

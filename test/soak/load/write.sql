-- events 3: a transaction that writes, and one statement of it is rolled back to a savepoint
\set id random(1, 20)
BEGIN;
UPDATE notes SET line = 'seen ' || :id WHERE id = :id;
SAVEPOINT here;
SELECT diagnosis FROM patients WHERE id = :id;
ROLLBACK TO SAVEPOINT here;
SELECT line FROM notes WHERE id = :id;
COMMIT;

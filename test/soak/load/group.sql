-- events 1: counts by group
\set ward random(1, 9)
SELECT diagnosis, count(*) FROM patients WHERE ward = :ward GROUP BY diagnosis;

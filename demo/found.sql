-- found.sql - what the demonstration found, in a line: the days with an attack, and the dearest of them.

SELECT format('%s of %s days with an attack score above every normal day of the same role; the highest is day %s of %s, with %s.',
              count(*) FILTER (WHERE a.score > a.normal), count(*), max(a.day) FILTER (WHERE a.place = 1), max(a.role) FILTER (WHERE a.place = 1),
              round(max(a.score)::numeric, 2))
  FROM (SELECT d.role, d.day, d.score, row_number() OVER (ORDER BY d.score DESC, d.role, d.day) AS place,
               (SELECT max(n.score) FROM demo.day_score n WHERE n.role = d.role AND n.kind = 'normal') AS normal
          FROM demo.day_score d WHERE d.kind IN ('insider', 'exfiltration', 'drip')) a;

-- culprits.sql - what the scores of the days 11 to 14 come from, and the limit that follows from normal days.

CREATE TABLE demo.culprit AS
  SELECT r.role, d.day, n.count, n.score, n.ngram, n.nearest, n.deltas, n.attributes
    FROM (SELECT DISTINCT role FROM demo.habit) r, generate_series(11, 14) d(day),
         LATERAL privacy_score.score_ngrams(r.role, demo.date_of(d.day), demo.date_of(d.day)) n;

-- A limit for a role's sessions that no normal session so far would have passed, with half as much again for safety.
CREATE VIEW demo.suggested_limit AS
  SELECT role, GREATEST(round(1.5 * max(score)::numeric, 2), 0.5) AS session_limit
    FROM demo.session_score WHERE kind = 'normal' GROUP BY role;

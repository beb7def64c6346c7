-- What the answer of a query lets one tell apart, as a partition of the subjects: those in the result by their projected
-- values, all others in one cell. Each answer is a column of a view, so that the rates are the ordinary ones.
CREATE TABLE answered (first_name text, last_name text, gender text, department text, city text);
INSERT INTO answered VALUES
  ('John', 'Smith', 'Male', 'Oncology', 'Vancouver'),
  ('Bob', 'Lopez', 'Male', 'Oncology', 'Vancouver'),
  ('Alice', 'Miller', 'Female', 'Oncology', 'Vancouver'),
  ('Bob', 'Smith', 'Male', 'Cardiology', 'Vancouver'),
  ('John', 'Wilson', 'Male', 'Cardiology', 'Vancouver');
CREATE VIEW answers AS
  SELECT CASE WHEN first_name = 'Bob' THEN ROW(last_name, gender, city)::text END AS first,
         ROW(last_name, gender, department)::text AS third,
         CASE WHEN first_name = 'Alice' THEN ROW(last_name, department)::text END AS fourth,
         CASE WHEN first_name = 'John' THEN ROW(last_name, department)::text END AS fourth_for_john
    FROM answered;

-- The rate, rounded, and whether it is the formula 1 - (sum of c lg c) / (5 lg 5) with the sizes c of the cells.
SELECT what, round(rate::numeric, 4) AS rate, abs(rate - (1 - unknown / (5 * log(2::numeric, 5)::float8))) < 1e-12 AS exact
  FROM (VALUES
    (1, 'first', privacy_score.combined_discrimination_rate('answers', '{first}'), 3 * log(2::numeric, 3)::float8),
    (2, 'fourth', privacy_score.combined_discrimination_rate('answers', '{fourth}'), 4 * 2),
    (3, 'third', privacy_score.combined_discrimination_rate('answers', '{third}'), 0),
    (4, 'first, then fourth', privacy_score.combined_discrimination_rate('answers', '{first,fourth}'), 2 * 1),
    (5, 'and then for John', privacy_score.combined_discrimination_rate('answers', '{first,fourth,fourth_for_john}'), 0)
  ) v(place, what, rate, unknown)
 ORDER BY place;

DROP VIEW answers;
DROP TABLE answered;

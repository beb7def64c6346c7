-- release.sql - a table that may leave the house: patients with their newest diagnosis, published in buckets.

-- What a release tells of one question: the estimate from it, and the truth.
CREATE FUNCTION pg_temp.asked(question text) RETURNS TABLE(estimate numeric, truth bigint) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT count(*) FROM newest_diagnosis WHERE %s', question) INTO truth;
  estimate := round(privacy_score.estimate_count('released_patients', 'released_diagnoses', question)::numeric, 1);
  RETURN NEXT;
END
$$;

\echo
\echo '11. A release'
\echo '============='
\echo 'One record a patient, with the newest diagnosis. How far gender, year of birth and zip code tell patients apart:'
CREATE VIEW newest_diagnosis AS
  SELECT DISTINCT ON (d.patient_id) p.gender, EXTRACT(year FROM p.birth_date)::int AS birth_year, p.zip, d.description AS diagnosis
    FROM diagnoses d JOIN patients p USING (patient_id) ORDER BY d.patient_id, d.diagnosed_on DESC, d.diagnosis_id;
SELECT count(*) AS records, count(DISTINCT diagnosis) AS diagnoses,
       round(privacy_score.combined_discrimination_rate('newest_diagnosis', '{gender,birth_year,zip}')::numeric, 3) AS discrimination_rate,
       privacy_score.k_anonymity('newest_diagnosis', '{gender,birth_year,zip}') AS k
  FROM newest_diagnosis;

\echo 'A rare diagnosis may be told with little certainty, a frequent one with more: its threshold is theta times its share, and'
\echo 'at least 0.02. What each theta costs (mse: loss a record, which grows with the buckets; l_needed: the l of l-diversity that'
\echo 'would promise as much to the rarest, l_possible: whether there is such a release):'
SELECT theta, feasible, smallest_bucket AS smallest, largest_bucket AS largest, round(mse, 2) AS mse, l_needed, l_possible
  FROM privacy_score.suggest_thresholds('newest_diagnosis', 'diagnosis', '{2,4,6,8}');

\echo 'bucketize(..., theta => 2) makes two tables, one with the buckets'' people and one with their diagnoses, unlinked:'
SELECT buckets, rows, sizes, round(mse, 2) AS mse, gap
  FROM privacy_score.bucketize('newest_diagnosis', '{gender,birth_year,zip}', 'diagnosis', 'released_patients', 'released_diagnoses', theta => 2);
SELECT b.bid AS bucket,
       (SELECT string_agg(concat_ws(' ', q.gender, q.birth_year, q.zip), ', ') FROM released_patients q WHERE q.bid = b.bid) AS people,
       (SELECT string_agg(s.diagnosis, ', ') FROM released_diagnoses s WHERE s.bid = b.bid) AS diagnoses
  FROM (SELECT bid FROM released_patients GROUP BY bid ORDER BY count(*), bid LIMIT 3) b;

\echo 'Whether the promise holds, judged from the two tables and the source alone (verify_release):'
SELECT check_name, holds FROM privacy_score.verify_release('released_patients', 'released_diagnoses', theta => 2, source => 'newest_diagnosis');

\echo 'What it is still good for: counts from the release (estimate_count) beside the true ones.'
SELECT q.question, a.estimate, a.truth
  FROM (VALUES (1, $$gender = 'female'$$), (2, $$diagnosis = 'diabetes'$$), (3, $$gender = 'female' AND birth_year < 1950$$),
               (4, $$gender = 'female' AND diagnosis = 'diabetes'$$), (5, $$birth_year BETWEEN 1950 AND 1979 AND diagnosis = 'diabetes'$$)) q(place, question),
       LATERAL pg_temp.asked(q.question) a
 ORDER BY q.place;

-- installed.sql - one thing of each kind that the extension does.
CREATE EXTENSION privacy_score;
CREATE TABLE people (id int PRIMARY KEY, zip text, disease text);
INSERT INTO people SELECT i, i % 20, i % 3 FROM generate_series(1, 300) i;
CREATE ROLE reader;
GRANT SELECT ON people TO reader;
SELECT privacy_score.protect('people');
SELECT privacy_score.dp_grant('reader', 'people', 1);
SET SESSION AUTHORIZATION reader;
SELECT count(zip) FROM people;
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM privacy_score.stat_sessions WHERE pid = pg_backend_pid() AND queries > 0) THEN
    RAISE EXCEPTION 'nothing is watched';
  END IF;
  IF privacy_score.dp_count('people', 'zip = ''3''') IS NULL THEN
    RAISE EXCEPTION 'no answer';
  END IF;
END
$$;
RESET SESSION AUTHORIZATION;
DO $$
BEGIN
  IF (SELECT discrimination_rate FROM privacy_score.attribute_risk('people') WHERE attribute = 'id') <> 1 THEN
    RAISE EXCEPTION 'a key does not identify';
  END IF;
  PERFORM privacy_score.bucketize('people', '{zip}', 'disease', 'qit', 'st', l => 3);
  IF EXISTS (SELECT FROM privacy_score.verify_release('qit', 'st', l => 3, source => 'people') WHERE NOT holds) THEN
    RAISE EXCEPTION 'a release breaks its promise';
  END IF;
  IF privacy_score.report() NOT LIKE '%</html>%' THEN
    RAISE EXCEPTION 'no report';
  END IF;
END
$$;

-- jsonb.sql - jsonb that is nearly right, for the functions that take it; run by jsonb.sh, which says how often (:rounds).
--
-- A good argument is changed at random places. A call may succeed or be refused with a code that jsonb.sh knows; what it did is
-- rolled back. An imported baseline must export as something that can be imported again and exports the same.
\set ON_ERROR_STOP 1
SELECT setseed(:seed) \gset

CREATE FUNCTION any_of(VARIADIC choices anyarray) RETURNS anyelement LANGUAGE sql VOLATILE AS
  'SELECT choices[1 + floor(random() * array_length(choices, 1))::int]';

CREATE FUNCTION any_json(depth int) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF depth <= 0 OR random() < 0.6 THEN
    RETURN any_of(VARIADIC ARRAY['null', 'true', 'false', '0', '1', '2', '3', '-1', '0.5', '1.0', '1e3', '1e-3', '1e400', '2147483647', '2147483648',
      '9223372036854775807', '9223372036854775808', '99999999999999999999', '""', '"a"', '"b"', '"city"', '"1/3"', '"1/0"', '"-1/2"', '"NaN"',
      '"null"', '"1e-1000"', '"2026-02-30"', '"2026-01-01"', '"\u00e4\u00f6"', '"it''s \"{}\\ %s"', '"p:public.patients.city"', '[]', '{}', '[[]]']::jsonb[]);
  ELSIF random() < 0.5 THEN
    RETURN (SELECT coalesce(jsonb_agg(any_json(depth - 1)), '[]') FROM generate_series(1, floor(random() * 4)::int));
  END IF;
  RETURN (SELECT coalesce(jsonb_object_agg(any_of(VARIADIC ARRAY['a', 'b', 'null', 'city', 'id', 'ids', 'count', 'ngram', 'tokens', 'role']) || CASE WHEN random() < 0.1 THEN g::text ELSE '' END, any_json(depth - 1)), '{}')
          FROM generate_series(1, floor(random() * 4)::int) g);
END $$;

-- A part of the document, at any depth, is replaced, taken out, or put in a second time.
CREATE FUNCTION changed(document jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  key text;
  place int;
  length int;
BEGIN
  IF random() < 0.15 THEN RETURN any_json(3); END IF;
  IF jsonb_typeof(document) = 'object' AND document <> '{}' THEN
    SELECT k INTO key FROM jsonb_object_keys(document) k ORDER BY random() LIMIT 1;
    IF random() < 0.1 THEN RETURN document - key; END IF;
    IF random() < 0.1 THEN RETURN document || jsonb_build_object(key || 'x', any_json(2)); END IF;
    RETURN document || jsonb_build_object(key, changed(document->key));
  ELSIF jsonb_typeof(document) = 'array' AND document <> '[]' THEN
    length := jsonb_array_length(document);
    place := floor(random() * length);
    IF random() < 0.1 THEN RETURN document - place; END IF;
    IF random() < 0.15 THEN RETURN document || jsonb_build_array(document->place); END IF;
    -- An element in two, each with a part of its list.
    IF random() < 0.15 AND jsonb_typeof(document->place->'tokens') = 'array' THEN
      RETURN (document - place) || (SELECT jsonb_agg((document->place) || jsonb_build_object('tokens', jsonb_build_array(t))) FROM jsonb_array_elements(document->place->'tokens') t);
    END IF;
    RETURN jsonb_set(document, ARRAY[place::text], changed(document->place));
  END IF;
  RETURN any_json(2);
END $$;

CREATE TABLE calls (function text, state text, message text, argument jsonb);
CREATE TABLE patients (id int PRIMARY KEY, city text, zip text, disease text);
INSERT INTO patients SELECT i, 'city ' || i % 4, 'z' || i % 6, CASE WHEN i % 3 > 0 THEN any_of('flu'::text, 'cough', 'ache') END FROM generate_series(1, 60) i;
SELECT privacy_score.protect('patients');
SELECT * FROM privacy_score.bucketize('patients', '{city,zip}', 'disease', 'q', 's', l => 2);
CREATE ROLE jsonb_reader;
SELECT privacy_score.import_statements($$SELECT 's' || i % 3, 'jsonb_reader'::name, timestamptz '2026-01-01 10:00+00' + i * interval '1 hour',
  any_of('SELECT city FROM patients'::text, 'SELECT zip, count(*) FROM patients GROUP BY zip', 'SELECT disease FROM patients WHERE id = 1') FROM generate_series(1, 40) i$$) > 0;
SELECT privacy_score.set_baseline('jsonb_reader', '2026-01-01', '2026-01-03') > 0;

CREATE PROCEDURE try(function text, call text, good jsonb, rounds int, width int DEFAULT 1) LANGUAGE plpgsql AS $$
DECLARE
  argument jsonb;
  document jsonb;
  again jsonb;
BEGIN
  FOR round IN 1 .. rounds LOOP
    argument := good;
    FOR step IN 0 .. floor(random() * 2)::int LOOP argument := changed(argument); END LOOP;
    BEGIN
      EXECUTE call USING argument;
      IF function = 'import_baseline' THEN
        document := privacy_score.export_baseline((argument->>'role')::name);
        PERFORM privacy_score.import_baseline(document);
        again := privacy_score.export_baseline((argument->>'role')::name);
        IF again IS DISTINCT FROM document THEN RAISE EXCEPTION 'the baseline exports otherwise' USING errcode = 'PF002'; END IF;
      END IF;
      RAISE EXCEPTION 'taken back' USING errcode = 'PF001';
    EXCEPTION WHEN OTHERS THEN
      INSERT INTO calls VALUES (function, CASE SQLSTATE WHEN 'PF001' THEN '00000' ELSE SQLSTATE END, SQLERRM, argument);
    END;
    IF round % 100 = 0 THEN COMMIT; END IF;
  END LOOP;
END $$;

SET client_min_messages = error;
CALL try('attribute_set_risk', $$SELECT count(*) FROM privacy_score.attribute_set_risk('patients', $1)$$, '[["city"],["city","zip"],["disease","id"]]', :rounds);
CALL try('query_bounds', $$SELECT count(*) FROM privacy_score.query_bounds($1, '{3,5,4}', 0, 10, 5)$$, '[[1,2],[2,3,4],[4,5]]', :rounds);
CALL try('disclosed_records', $$SELECT count(*) FROM privacy_score.disclosed_records($1, '{3,5,4}', 0, 10, 5, 1)$$, '[[1,2],[2,3,4],[4,5]]', :rounds);
CALL try('further_queries answered', $$SELECT count(*) FROM privacy_score.further_queries($1, '[[1],[2,3]]', 5)$$, '[[1,2],[2,3,4],[4,5]]', :rounds);
CALL try('further_queries allowed', $$SELECT count(*) FROM privacy_score.further_queries('[[1,2],[3,4,5]]', $1, 5)$$, '[[1,2],[2,3,4],[4,5]]', :rounds);
CALL try('verify_release', $$SELECT count(*) FROM privacy_score.verify_release('q', 's', thresholds => $1)$$, '{"flu": 0.5, "cough": "1/2", "null": 0.75, "ache": 1}', :rounds);
CALL try('bucketize', $$SELECT count(*) FROM privacy_score.bucketize('patients', '{city,zip}', 'disease', 'q2', 's2', thresholds => $1, values_without_threshold => 'allow')$$, '{"flu": 0.5, "cough": "1/2", "null": 0.75, "ache": 1}', :rounds / 4);
CALL try('import_baseline', $$SELECT privacy_score.import_baseline($1)$$, privacy_score.export_baseline('jsonb_reader'), :rounds * 2);

-- Random small tables from end to end: every release passes verify_release(), the methods' losses are in order, and what cannot be published is refused.
-- The checks of order are statistical: one run in ten thousand may fail.
CREATE SCHEMA random_releases;
SET search_path = random_releases, public;
SET client_min_messages = error;
CREATE TABLE outcome (n int, method text, kind text, published boolean, problem text);
CREATE PROCEDURE one(n int) LANGUAGE plpgsql AS $$
DECLARE
  kind text := (ARRAY['l', 'theta', 'listed', 'fakes'])[1 + n % 4];
  method text := (ARRAY['optimal', 'multi-size', 'two-size', 'anatomy'])[1 + n / 4 % 4];
  form text := (ARRAY['rows', 'counts'])[1 + n / 16 % 2];
  domain int := 1 + floor(random() * 8);
  l int := 1 + floor(random() * 4);
  thresholds text;
  asked text;
  judged text;
  failed text;
  losses numeric[];
BEGIN
  DROP TABLE IF EXISTS source, q, s;
  CREATE TABLE source AS SELECT floor(random() * 5)::int AS age, CASE WHEN random() < 0.8 THEN 'z' || floor(random() * 4) END AS zip, date '2020-01-01' + floor(random() * 3)::int AS day,
      CASE floor(random() * random() * domain)::int WHEN 3 THEN NULL WHEN 0 THEN 'a' ELSE 'v' || floor(random() * random() * domain) END AS "Value"
    FROM generate_series(1, floor(random() * 80)::int);
  judged := CASE kind WHEN 'theta' THEN format('theta => %s, floor => %s', round((1 + 6 * random())::numeric, 2), round((0.3 * random())::numeric, 2))
    WHEN 'listed' THEN format('thresholds => %L', jsonb_build_object('a', round((0.2 + 0.8 * random())::numeric, 2), 'v1', '1/' || l, 'v9', 0.5)) ELSE format('l => %s', l) END;
  asked := judged || CASE kind WHEN 'fakes' THEN format(', fake_values => %s', 1 + floor(random() * 2))
    WHEN 'listed' THEN ', values_without_threshold => ''allow''' ELSE '' END;
  BEGIN
    EXECUTE format('SELECT loss FROM privacy_score.bucketize(''source'', ''{age,zip,day}'', ''Value'', ''q'', ''s'', %L, %s, st_form => %L)', method, asked, form);
  EXCEPTION WHEN invalid_parameter_value THEN
    INSERT INTO outcome VALUES (n, method, kind, false, CASE WHEN to_regclass('q') IS NOT NULL THEN 'left behind' END);
    RETURN;
  END;
  EXECUTE format('SELECT string_agg(check_name || '': '' || detail, ''; '') FROM privacy_score.verify_release(''q'', ''s'', source => ''source'', %s) WHERE NOT holds', judged) INTO failed;
  IF kind = 'l' AND failed IS NULL THEN
    SELECT array_agg(loss ORDER BY place) INTO losses FROM (SELECT place, coalesce(sum(s.loss), 0) AS loss FROM unnest('{optimal,multi-size,two-size}'::text[]) WITH ORDINALITY m(method, place),
        (SELECT array_agg(c) AS counts FROM (SELECT count(*) AS c FROM source GROUP BY "Value") c) c,
        LATERAL privacy_score.bucket_setting(coalesce(counts, '{}'), array_fill('1/' || l, ARRAY[coalesce(cardinality(counts), 0)]), m.method) s GROUP BY 1) x;
    IF losses[1] > losses[2] OR losses[2] > losses[3] THEN failed := 'losses ' || losses::text; END IF;
  END IF;
  INSERT INTO outcome VALUES (n, method, kind, true, failed);
END $$;
DO $$BEGIN FOR n IN 1..480 LOOP CALL one(n); COMMIT; END LOOP; END$$;
SELECT * FROM outcome WHERE problem IS NOT NULL;
SELECT method, kind, count(*), count(*) FILTER (WHERE published) > 3 AS published FROM outcome GROUP BY GROUPING SETS ((method), (kind)) ORDER BY 1, 2;
SELECT count(*) FILTER (WHERE NOT published) > 20 AS some_refused FROM outcome;

-- Records that go to disk and those that fit into memory.
CREATE TABLE large AS SELECT i AS id, i % 97 AS age, CASE WHEN i % 11 <> 3 THEN repeat('x', i % 40) END AS note, 'd' || i % 7 AS disease FROM generate_series(1, 40000) i;
SET maintenance_work_mem = '1MB';
SELECT rows, gap, sizes FROM privacy_score.bucketize('large', '{id,age,note}', 'disease', 'disk_q', 'disk_s', l => 3);
RESET maintenance_work_mem;
SELECT rows, gap, sizes FROM privacy_score.bucketize('large', '{id,age,note}', 'disease', 'memory_q', 'memory_s', l => 3);
SELECT check_name, bool_and(holds) FROM (SELECT * FROM privacy_score.verify_release('disk_q', 'disk_s', l => 3, source => 'large') UNION ALL
  SELECT * FROM privacy_score.verify_release('memory_q', 'memory_s', l => 3, source => 'large')) v GROUP BY 1 ORDER BY 1;
-- Who follows whom in the source does not show in the buckets: the numbers of two buckets drawn by themselves differ by a third of their number on average,
-- with a standard deviation of 0.236 of it for one pair and 0.0015 for the mean of 40,000, of which neighbours share one (hence 8 of them); and they are as good as never the same.
SELECT name, count(*) > 39990 AS all_there, abs(avg(abs(bid - before)) / max(bid) - 1.0 / 3) < 0.012 AS apart, count(*) FILTER (WHERE bid = before) < 40 AS seldom_together
  FROM (SELECT name, bid, lag(bid) OVER (PARTITION BY name ORDER BY id) AS before FROM (SELECT 'disk' AS name, id, bid FROM disk_q UNION ALL SELECT 'memory', id, bid FROM memory_q) t) t
 GROUP BY 1 ORDER BY 1;
-- So many and such wide records that temporary files are distributed twice; none is lost, and buckets come in order.
CREATE TABLE wide AS SELECT i AS id, repeat(chr(97 + i % 26), 200 + i % 100) AS note, 'd' || i % 9 AS disease FROM generate_series(1, 60000) i;
SET maintenance_work_mem = '1MB';
SELECT rows, gap, sizes FROM privacy_score.bucketize('wide', '{id,note}', 'disease', 'wide_q', 'wide_s', l => 4);
RESET maintenance_work_mem;
SELECT check_name, holds FROM privacy_score.verify_release('wide_q', 'wide_s', l => 4, source => 'wide') ORDER BY 1;
SELECT bool_and(before <= bid) AS in_order FROM (SELECT bid, lag(bid) OVER (ORDER BY ctid) AS before FROM wide_q UNION ALL SELECT bid, lag(bid) OVER (ORDER BY ctid) FROM wide_s) t;
-- The order in which values first occur does not show in which of them share a bucket: of nine in three buckets two are together every fourth time.
CREATE TABLE nine AS SELECT i AS id, 'v' || i AS v FROM generate_series(1, 9) i;
CREATE TABLE together (first_and_second boolean, first_and_fourth boolean);
DO $$BEGIN FOR n IN 1..120 LOOP
  PERFORM privacy_score.bucketize('nine', '{id}', 'v', 'nine_q', 'nine_s', l => 3, replace => n > 1);
  INSERT INTO together SELECT (SELECT bid FROM nine_s WHERE v = 'v1') = (SELECT bid FROM nine_s WHERE v = 'v2'), (SELECT bid FROM nine_s WHERE v = 'v1') = (SELECT bid FROM nine_s WHERE v = 'v4');
END LOOP; END$$;
SELECT count(*) FILTER (WHERE first_and_second) BETWEEN 4 AND 62 AS first_and_second, count(*) FILTER (WHERE first_and_fourth) BETWEEN 4 AND 62 AS first_and_fourth FROM together;
-- Where in its bucket a record stands: of buckets of three, 6 standard deviations around a third of the first, second and third records in the source come first.
SELECT t.name, count(*) FILTER (WHERE first_id = least_id) BETWEEN 4000 AND 4890 AS low_first, count(*) FILTER (WHERE first_id = most_id) BETWEEN 4000 AND 4890 AS high_first
  FROM (SELECT 'disk' AS name, bid, (array_agg(id ORDER BY ctid))[1] AS first_id, min(id) AS least_id, max(id) AS most_id, count(*) FROM disk_q GROUP BY bid UNION ALL
        SELECT 'memory', bid, (array_agg(id ORDER BY ctid))[1], min(id), max(id), count(*) FROM memory_q GROUP BY bid) t WHERE count = 3 GROUP BY 1 ORDER BY 1;
DROP SCHEMA random_releases CASCADE;

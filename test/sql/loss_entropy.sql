-- Entropy that records lose by a release: the worked numbers, columns of tables, every error.
CREATE SCHEMA loss_entropy;
SET search_path = loss_entropy, public;
SET client_min_messages = warning;
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
CREATE FUNCTION r(x float8) RETURNS numeric LANGUAGE sql RETURN round(x::numeric, 11);

-- worked numbers
SELECT r(privacy_score.privacy_loss('{100,200,300}', 3, 'average', 200)) AS average_200,
       r(privacy_score.privacy_loss('{100,200,300}', 3, 'average', 100)) AS average_100,
       r(privacy_score.privacy_loss('{100,200,300}', 3, 'sum', 700)) AS sum_700,
       privacy_score.privacy_loss('{0.5,-1,2}', 2, 'average', 0.75, '{0.2,0.3,0.5}') AS impossible,
       r(privacy_score.privacy_loss('{0,1}', 2, 'sum', 1, '{0.9,0.1}')) AS negative,
       r(privacy_score.expected_privacy_loss('{100,200,300}', 3, 'average')) AS expected;
SELECT record, r(entropy_before) AS before, r(entropy_after) AS after, r(loss) AS loss, r(loss_percent) AS percent
  FROM privacy_score.privacy_loss_detail('{100,200,300}', 3, 'average', 200) ORDER BY record;
SELECT r(privacy_score.binary_privacy_loss(4, 2)) AS n4k2, r(privacy_score.binary_privacy_loss(10, 3)) AS n10k3, r(privacy_score.binary_privacy_loss(5, 0)) AS n5k0,
       r(privacy_score.expected_binary_privacy_loss(1)) AS n1, r(privacy_score.expected_binary_privacy_loss(2)) AS n2, r(privacy_score.expected_binary_privacy_loss(5)) AS n5,
       r(privacy_score.expected_binary_privacy_loss(1000000) * 1000000) AS million, privacy_score.binary_privacy_loss(NULL, 1) AS none;
-- the average as the server prints it is the sum
SELECT privacy_score.privacy_loss('{100,200,300}', 3, 'average', avg(v)) = privacy_score.privacy_loss('{100,200,300}', 3, 'sum', sum(v)) AS same
  FROM unnest('{100,100,200}'::int[]) v;
-- one prior a record: the record whose value is known loses nothing
SELECT record, r(entropy_before) AS before, r(loss) AS loss, r(loss_percent) AS percent
  FROM privacy_score.privacy_loss_detail('{0,1}', 3, 'sum', 2, '{{0.5,0.5},{0,1},{0.9,0.1}}') ORDER BY record;
-- the other statistics, two records of 1, 2, 3: by counting the databases
SELECT s, released, r(privacy_score.privacy_loss('{1,2,3}', 2, s, released)) AS loss
  FROM (VALUES ('minimum', 1), ('minimum', 3), ('maximum', 1), ('maximum', 2), ('median', 2), ('median', 1.5), ('count', 2), ('count', 1)) v(s, released) ORDER BY 1, 2;
-- Noise takes from what a release tells; beyond measure it leaves nothing.
SELECT r(privacy_score.privacy_loss('{0,1,2}', 2, 'sum', 4, NULL, 0.05)) AS little, r(privacy_score.privacy_loss('{0,1,2}', 2, 'sum', 4, NULL, 2)) AS some,
       abs(privacy_score.privacy_loss('{0,1,2}', 2, 'sum', 4, NULL, 1e9)) < 1e-12 AS much,
       privacy_score.privacy_loss('{0,1,2}', 2, 'sum', 4.5, NULL, 2) AS impossible;
-- many records
SELECT r(privacy_score.privacy_loss('{0,1}', 1000000, 'sum', 400000)) = r(privacy_score.binary_privacy_loss(1000000, 400000)) AS million,
       r(privacy_score.privacy_loss(array(SELECT i FROM generate_series(0, 99) i), 10000, 'average', 60)) AS ten_thousand,
       r(privacy_score.privacy_loss('{3,1,2,1}', 100001, 'median', 1)) AS median,
       privacy_score.privacy_loss('{7}', 5, 'sum', 35) AS certain, r(privacy_score.privacy_loss('{7,8}', 1, 'minimum', 8)) AS one_record;

-- columns of tables
CREATE TABLE pay (id int PRIMARY KEY, amount numeric(10,2), grade smallint, half real, name text);
INSERT INTO pay SELECT i, (i % 5) * 0.25, CASE WHEN i % 10 <> 0 THEN i % 3 END, (i % 2) / 2.0, 'n' || i FROM generate_series(1, 200) i;
SELECT s, record, r(entropy_before) AS before, r(loss) AS loss, r(loss_percent) AS percent
  FROM unnest('{sum,average,count,minimum,maximum,median}'::text[]) s, privacy_score.release_privacy_loss('pay', 'amount', s) ORDER BY s;
-- the same by hand, and NULL is left out
SELECT r(l.loss) = r(privacy_score.privacy_loss('{0,1,2}', 180, 'sum', c.total, ARRAY[c.c0 / 180.0, c.c1 / 180.0, c.c2 / 180.0])) AS same, c.n
  FROM (SELECT sum(grade) AS total, count(grade) AS n, count(*) FILTER (WHERE grade = 0) AS c0, count(*) FILTER (WHERE grade = 1) AS c1,
               count(*) FILTER (WHERE grade = 2) AS c2 FROM pay) c,
       privacy_score.release_privacy_loss('pay', 'grade', 'sum') l;
SELECT r(d.loss) AS domain, r(p.loss) AS prior, r(n.loss) AS noisy
  FROM privacy_score.release_privacy_loss('pay', 'half', 'average', domain => '{0,0.5,1}') d,
       privacy_score.release_privacy_loss('pay', 'half', 'average', domain => '{0,0.5,1}', prior => '{0.8,0.1,0.1}') p,
       privacy_score.release_privacy_loss('pay', 'half', 'sum', noise_scale => 20, domain => '{0,0.5,1}') n;
SELECT count(*) AS rows FROM privacy_score.release_privacy_loss('pay', 'amount', 'sum') WHERE record = 1;
CREATE TABLE empty (v int);
SELECT count(*) AS rows FROM privacy_score.release_privacy_loss('empty', 'v', 'sum');
-- with the caller's rights, and no more
CREATE ROLE loss_reader;
CREATE ROLE loss_stranger;
GRANT USAGE ON SCHEMA loss_entropy TO loss_reader, loss_stranger;
GRANT SELECT (grade) ON pay TO loss_reader;
SET ROLE loss_reader;
SELECT record FROM privacy_score.release_privacy_loss('pay', 'grade', 'sum');
SELECT attempt($$SELECT loss FROM privacy_score.release_privacy_loss('pay', 'amount', 'sum')$$);
SET ROLE loss_stranger;
SELECT attempt($$SELECT loss FROM privacy_score.release_privacy_loss('pay', 'grade', 'sum')$$);
RESET ROLE;

-- errors
CREATE TABLE attempts (n int GENERATED ALWAYS AS IDENTITY, call text);
INSERT INTO attempts (call) VALUES
  ('privacy_loss(NULL, 3, ''sum'', 1)'),
  ('privacy_loss(''{}'', 3, ''sum'', 1)'),
  ('privacy_loss(''{1,NULL}'', 3, ''sum'', 1)'),
  ('privacy_loss(''{{1,2},{3,4}}'', 3, ''sum'', 1)'),
  ('privacy_loss(''{1,NaN}'', 3, ''sum'', 1)'),
  ('privacy_loss(''{1,Infinity}'', 3, ''sum'', 1)'),
  ('privacy_loss(''{1,2}'', NULL, ''sum'', 1)'),
  ('privacy_loss(''{1,2}'', 0, ''sum'', 1)'),
  ('privacy_loss(''{1,2}'', -3, ''sum'', 1)'),
  ('privacy_loss(''{1,2}'', 3, NULL, 1)'),
  ('privacy_loss(''{1,2}'', 3, ''mode'', 1)'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', NULL)'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', ''NaN'')'),
  ('privacy_loss(''{1,2}'', 999, ''average'', 1.3)'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, ''{0.5,0.4}'')'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, ''{1.1,-0.1}'')'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, ''{NaN,1}'')'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, ''{0.5,NULL}'')'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, ''{0.5,0.3,0.2}'')'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, ''{{0.5,0.5},{0.5,0.5}}'')'),
  ('privacy_loss(''{1,2}'', 2, ''sum'', 4, ''{{0.5,0.5},{0.5,0.6}}'')'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, ''{{{0.5,0.5}}}'')'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, ''{}'')'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, NULL, 0)'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, NULL, ''NaN'')'),
  ('privacy_loss(''{1,2}'', 3, ''sum'', 4, NULL, ''Infinity'')'),
  ('privacy_loss(''{0,1e30,1e-30}'', 3, ''sum'', 4)'),
  ('privacy_loss(''{0,1,12345678901234567}'', 1000, ''sum'', 12345678901234567000)'),
  ('privacy_loss(array(SELECT i::numeric * i * 1000003 + i FROM generate_series(1, 1000) i), 1000, ''sum'', 300000000000000)'),
  ('expected_privacy_loss(''{0,1,12345678901}'', 3, ''sum'')'),
  ('binary_privacy_loss(0, 0)'),
  ('binary_privacy_loss(3, 4)'),
  ('expected_binary_privacy_loss(0)'),
  ('release_privacy_loss(NULL, ''grade'', ''sum'')'),
  ('release_privacy_loss(''pay'', ''nosuch'', ''sum'')'),
  ('release_privacy_loss(''pay'', ''name'', ''sum'')'),
  ('release_privacy_loss(''pay'', ''grade'', ''mode'')'),
  ('release_privacy_loss(''pay'', ''grade'', ''sum'', -1)'),
  ('release_privacy_loss(''pay'', ''grade'', ''sum'', NULL, ''{0,1}'')'),
  ('release_privacy_loss(''pay'', ''grade'', ''sum'', NULL, NULL, ''{0.5,0.5}'')');
SELECT n, call, attempt('SELECT privacy_score.' || call) FROM attempts ORDER BY n;
-- A long computation ends when it is told to, and the session goes on.
SET statement_timeout = '300ms';
SELECT privacy_score.expected_privacy_loss(array(SELECT i * i FROM generate_series(1, 1000) i), 100000, 'sum');
RESET statement_timeout;
SELECT privacy_score.privacy_loss('{0,1}', 1, 'sum', 1);
DROP SCHEMA loss_entropy CASCADE;
DROP ROLE loss_reader, loss_stranger;

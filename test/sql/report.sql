-- The report and its charts: well-formed, escaped, and for each role what it may see.
SET client_min_messages = warning;
CREATE ROLE regress_reporter;
CREATE ROLE regress_worker;
CREATE SCHEMA reported;
CREATE TABLE reported."pa<tients>" (id int PRIMARY KEY, "<script>alert(1)</script>" text, zip text, city text);
INSERT INTO reported."pa<tients>" SELECT i, 'secret' || i, i % 20, i % 20 / 5 FROM generate_series(1, 100) i;
SELECT privacy_score.protect('reported."pa<tients>"');
SELECT privacy_score.import_statements($$
  VALUES ('a', 'regress_worker'::name, timestamptz '2025-03-03 09:00+00', 'SELECT zip FROM reported."pa<tients>"'),
         ('b', 'regress_worker', '2025-03-04 09:00+00', 'SELECT zip FROM reported."pa<tients>"'),
         ('b', 'regress_worker', '2025-03-04 09:01+00', 'SELECT id, "<script>alert(1)</script>" FROM reported."pa<tients>" WHERE zip = ''secret literal'''),
         ('c', 'regress_reporter', '2025-03-04 10:00+00', 'SELECT city FROM reported."pa<tients>"')$$);
SELECT privacy_score.set_baseline('regress_worker', '2025-03-03', '2025-03-03');

-- Charts are XML, and say what they show.
SELECT (xpath('/*/@aria-label', privacy_score.score_chart('regress_worker', '2025-03-03', '2025-03-04')::xml))[1] AS label;
SELECT (xpath('/*/@aria-label', privacy_score.score_chart('regress_worker', '2024-01-01', '2024-01-02')::xml))[1] AS label;
SELECT (xpath('/*/@aria-label', privacy_score.relationship_chart('reported."pa<tients>"')::xml))[1] AS label;
SELECT (xpath('/*/@aria-label', privacy_score.equivocation_chart('{1,2,3,10}', '{0.25,0.25,0.25,0.25}')::xml))[1] AS label;
SET extra_float_digits = -15;
SELECT privacy_score.equivocation_chart('{1,2,3}', '{0.123456789,0.376543211,0.5}') ~ '</svg>' AS all_digits;
RESET extra_float_digits;
SELECT privacy_score.equivocation_chart(NULL);
SELECT privacy_score.equivocation_chart('{1,2}', '{0.1,0.2}');
SELECT privacy_score.relationship_chart('reported."pa<tients>"') ~ '<script' AS has_script;

CREATE FUNCTION says(page text) RETURNS TABLE (what text, said boolean) LANGUAGE sql AS $$
  SELECT t.what, page LIKE '%' || t.part || '%'
    FROM (VALUES (1, 'whole page', '</html>'), (2, 'a script of a name', '<script>alert'), (3, 'a literal', 'secret'), (4, 'the worker', 'regress_worker'),
                 (5, 'the reporter', 'regress_reporter'), (6, 'why', 'where</b>'), (7, 'the column', '&#60;script&#62;alert(1)'),
                 (8, 'its rate', '1.0000'), (9, 'that it may not be read', 'you may not read it')) t(place, what, part) ORDER BY t.place
$$;
SELECT * FROM says(privacy_score.report(from_day => '2025-03-01', to_day => '2025-03-31'));
SELECT * FROM says(privacy_score.report('regress_reporter', '2025-03-01', '2025-03-31')) WHERE what ~ 'the (worker|reporter)';
-- A page needs no function that tells sizes: check_setup() suggests that everybody be kept from them.
REVOKE EXECUTE ON FUNCTION pg_relation_size(regclass, text), pg_table_size(regclass), pg_total_relation_size(regclass) FROM PUBLIC;
SET ROLE regress_reporter;
SELECT privacy_score.report(from_day => '2025-03-01', to_day => '2025-03-31') ~ '</html>' AS whole_page;
RESET ROLE;
GRANT EXECUTE ON FUNCTION pg_relation_size(regclass, text), pg_table_size(regclass), pg_total_relation_size(regclass) TO PUBLIC;
-- A role without rights sees itself, and no table.
SET ROLE regress_reporter;
SELECT * FROM says(privacy_score.report(from_day => '2025-03-01', to_day => '2025-03-31'));
SELECT privacy_score.report('regress_worker');
SELECT privacy_score.score_chart('regress_worker', '2025-03-03', '2025-03-04');
SELECT privacy_score.relationship_chart('reported."pa<tients>"');
RESET ROLE;

-- The modes and limits that the roles have, whatever this session has; an alert leads to its statement.
ALTER ROLE regress_worker SET privacy_score.mode = 'warn';
ALTER ROLE regress_worker SET privacy_score.daily_limit = 1.25;
ALTER ROLE regress_reporter SET privacy_score.mode = 'off';
SET privacy_score.mode = 'enforce';
INSERT INTO privacy_score.alert (at, role, session, kind, score, alert_limit, detail)
  VALUES ('2025-03-04 12:00', 'regress_worker', 'b', 'daily', 2, 1.25, '{"ngram": [null, "cmd:select p:reported.t.zip t:reported.t"], "nearest": "?", "attributes": ["reported.t.zip"]}'),
         ('2025-02-04 12:00', 'regress_worker', 'a', 'session', 1, 1, '{}');
SELECT page LIKE '%Modes of the roles: 1 off, 1 warn.%' AS modes, page LIKE '%1.25 a day%' AS limits, page LIKE '%select</b> <mark>zip</mark>%' AS statement,
       page LIKE '%the session begins%' AS start, page LIKE '%1 alert of before this time is open, too%' AS older
  FROM privacy_score.report(from_day => '2025-03-01', to_day => '2025-03-31') page;
DELETE FROM privacy_score.alert WHERE role = 'regress_worker';
RESET privacy_score.mode;
-- A role without a setting of its own has the server's, not that of who asks.
ALTER ROLE regress_reporter RESET privacy_score.mode;
ALTER ROLE CURRENT_USER SET privacy_score.mode = 'off';
\c -
SET client_min_messages = warning;
SELECT page LIKE '%Modes of the roles: 1 observe, 1 warn.%' AS modes FROM privacy_score.report(from_day => '2025-03-01', to_day => '2025-03-31') page;
ALTER ROLE CURRENT_USER RESET privacy_score.mode;
\c -
SET client_min_messages = warning;

-- What else may be in the way.
SELECT length(privacy_score.report()) > 1000 AS last_thirty_days;
BEGIN READ ONLY;
SELECT length(privacy_score.report(NULL, '-infinity', 'infinity')) > 1000 AS all_days;
COMMIT;
SELECT length(privacy_score.report('nobody')) > 1000 AS a_role_that_is_gone;
SELECT privacy_score.report(NULL, '2025-03-04', '2025-03-03');
SELECT privacy_score.score_chart('regress_worker', '2025-03-04', '2025-03-03');
SET search_path = reported;
SET datestyle = 'German';
CREATE FUNCTION reported.count(anyelement) RETURNS int LANGUAGE sql AS 'SELECT 1/0';
SELECT length(privacy_score.report(from_day => '01.03.2025', to_day => '31.03.2025')) > 1000 AS whatever_the_settings;
SHOW datestyle;
RESET search_path;
RESET datestyle;

-- Each end user of a role is a line of her own, with her limits and alerts; a role's chart adds them up.
CREATE ROLE regress_gateway;
SELECT privacy_score.import_statements($$
  VALUES ('e', 'regress_gateway'::name, timestamptz '2025-03-04 09:00+00', 'SELECT id, zip FROM reported."pa<tients>"', 'e<ve>'),
         ('z', 'regress_gateway', '2025-03-04 10:00+00', 'SELECT city FROM reported."pa<tients>"', 'zoe'),
         ('g', 'regress_gateway', '2025-03-04 11:00+00', 'SELECT 1 FROM reported."pa<tients>"', NULL)$$);
SELECT privacy_score.set_limit('regress_gateway', 'e<ve>', daily_limit => 0.125), privacy_score.label_end_user('regress_gateway', 'zoe', 'dp only');
INSERT INTO privacy_score.alert (at, role, end_user, session, kind, score, alert_limit, detail) VALUES ('2025-03-04 12:00', 'regress_gateway', 'e<ve>', 'e', 'daily', 0.5, 0.125, '{}');
SELECT m.t[1] AS line, m.t[2] AS flags, page LIKE '%0.125 a day%' AS limits, page LIKE '%Modes of the roles: 1 observe.%' AS modes, page LIKE '%<span class="chip off">dp only</span>%' AS label
  FROM privacy_score.report('regress_gateway', '2025-03-01', '2025-03-31') page, regexp_matches(page, '<tr id="p\d" data-role="([^"]*)" data-flags="([^"]*)">', 'g') m(t);
-- An alert leads to the person's line, a reason bears her name.
SELECT page LIKE '%<a href="#p0">the days of this role</a>%' AS to_the_line, page ~ '<details class="reason" data-find data-role="regress_gateway / e&#60;ve&#62;">' AS reason
  FROM privacy_score.report('regress_gateway', '2025-03-01', '2025-03-31') page;
SELECT (xpath('/*/@aria-label', privacy_score.score_chart('regress_gateway', '2025-03-03', '2025-03-04')::xml))[1]::text ~ ': 1 day with work' AS one_day;

-- Releases: sizes and the likeliest value, no value.
CREATE TABLE reported.source AS SELECT i AS age, CASE WHEN i % 4 = 0 THEN 'hidden value' ELSE 'v' || i % 4 END AS disease FROM generate_series(1, 40) i;
SELECT buckets, rows FROM privacy_score.bucketize('reported.source', '{age}', 'disease', 'reported.qit', 'reported.st', l => 4);
SELECT page LIKE '%reported.st%' AS listed, page LIKE '%0.2500%' AS likeliest, page LIKE '%hidden value%' AS shows_values
  FROM privacy_score.report(from_day => '2025-03-01', to_day => '2025-03-31') page;

-- The worst sessions: those that all sessions in order of their scores begin with, though only the worst days are looked
-- through. Forty days of two roles, up to six sessions a day; few days have a high score by one session, many by several.
CREATE ROLE regress_many;
CREATE ROLE regress_more;
CREATE TABLE reported.wide (id int PRIMARY KEY, a int, b int, c int, d int, e int);
INSERT INTO reported.wide SELECT i, i % 2, i % 3, i % 7, i % 19, i FROM generate_series(1, 500) i;
SELECT privacy_score.protect('reported.wide');
SELECT privacy_score.import_statements($$
  SELECT d || '/' || n || '/' || r, r::name, timestamptz '2025-06-01 09:00+00' + d * interval '1 day' + n * interval '1 hour' + k * interval '1 minute',
         'SELECT ' || CASE WHEN k = 0 THEN 'a' ELSE substr('abcde', 1 + (d * 7 + n * 3 + k * 5) % 5, 1) || ', ' || substr('abcde', 1 + (d + n + k) % 5, 1) END
         || ' FROM reported.wide WHERE ' || substr('abcde', 1 + (d * n + k) % 5, 1) || ' = 1'
    FROM generate_series(0, 39) d, generate_series(0, 5) n, unnest('{regress_many,regress_more}'::text[]) r, generate_series(0, 3) k
   WHERE n <= d % 6 AND k <= (d * 5 + n) % 4 $$) > 300 AS imported;
SELECT privacy_score.set_baseline(r, '2025-06-01', '2025-06-02') > 0 AS made FROM unnest('{regress_many,regress_more}'::name[]) r;
CREATE VIEW worst AS
  SELECT r.role, s.* FROM unnest('{regress_many,regress_more}'::name[]) r(role), privacy_score.score_sessions(r.role, '2025-06-01', '2025-07-31') s
   WHERE s.score > 0 ORDER BY s.score DESC, s.day, r.role, s.session LIMIT 20;
WITH shown AS (SELECT privacy_score.report(from_day => '2025-06-01', to_day => '2025-07-31') AS page)
SELECT count(*) AS sessions, count(*) FILTER (WHERE shown.page LIKE '%>' || w.session || '<%') AS shown,
       (SELECT count(DISTINCT m[1]) FROM shown, regexp_matches(shown.page, '>([0-9]+/[0-9]/regress_m[a-z]+)<', 'g') m) AS named
  FROM worst w, shown;
SELECT count(DISTINCT day) < 20 AS several_a_day, (SELECT count(*) FROM (SELECT role, day FROM unnest('{regress_many,regress_more}'::name[]) r(role), privacy_score.score(r.role, '2025-06-01', '2025-07-31') d
  WHERE d.score > (SELECT min(score) FROM worst)) x) > 20 AS more_than_twenty_days FROM worst;

DROP VIEW worst;
DROP SCHEMA reported CASCADE;
DROP FUNCTION says(text);
SELECT privacy_score.drop_baseline('regress_worker'), privacy_score.drop_baseline('regress_many'), privacy_score.drop_baseline('regress_more');
SELECT privacy_score.forget_end_user('regress_gateway', 'e<ve>'), privacy_score.forget_end_user('regress_gateway', 'zoe');
DROP ROLE regress_reporter, regress_worker, regress_gateway, regress_many, regress_more;

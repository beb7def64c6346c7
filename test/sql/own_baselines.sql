-- A baseline of one person behind a shared login: scored against it first, the role's beside it; versions, moving, explaining.
SET client_min_messages = warning;
SET privacy_score.baseline_min_sessions = 0;
-- The surprise of a column depends on the baselines of all roles: none of another test may be in force.
DO $$ BEGIN PERFORM privacy_score.drop_baseline(role, end_user) FROM privacy_score.baseline WHERE active; END $$;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA own_baselines;
SET search_path = own_baselines, public;
CREATE ROLE regress_desk LOGIN;

CREATE TABLE patients (id int PRIMARY KEY, first_name text, last_name text, gender text, city text, diagnosis text);
INSERT INTO patients SELECT i, 'f' || i % 5, 'l' || i % 11, CASE WHEN i % 2 = 0 THEN 'm' ELSE 'f' END, 'c' || i % 3, 'd' || i % 7
  FROM generate_series(1, 60) i;
SELECT privacy_score.protect('patients');
CREATE TABLE statement (name text PRIMARY KEY, sql text);
INSERT INTO statement VALUES
  ('g', 'SELECT gender FROM patients'),
  ('gc', 'SELECT gender, city FROM patients'),
  ('cd', 'SELECT city, diagnosis FROM patients'),
  ('names', 'SELECT first_name, last_name FROM patients');
CREATE TABLE log (role name, end_user text, day date, statements text);
CREATE VIEW statements AS
  SELECT 's ' || l.role || COALESCE(l.end_user, '') || l.day AS session, l.role, (l.day + time '12:00' + w.n * interval '1 minute')::timestamptz AS at, s.sql, l.end_user
    FROM log l, LATERAL regexp_split_to_table(l.statements, ' ') WITH ORDINALITY w(word, n), statement s WHERE s.name = w.word;
-- A name as it may be. Ann works with names, the others with cities; some sessions have no name; a role of its own works as ann does.
\set ann 'ann "o''x'
INSERT INTO log SELECT 'regress_desk', :'ann', date '2026-01-01' + d, 'names g names' FROM generate_series(0, 3) d;
INSERT INTO log SELECT 'regress_desk', 'bo', date '2026-01-01' + d, 'g gc g' FROM generate_series(0, 3) d;
INSERT INTO log SELECT 'regress_desk', NULL, date '2026-01-01' + d, 'g' FROM generate_series(0, 3) d;
INSERT INTO log SELECT 'regress_alone', NULL, date '2026-01-01' + d, 'names g names' FROM generate_series(0, 3) d;
INSERT INTO log SELECT r, e, '2026-02-01', 'g gc g names cd' FROM (VALUES ('regress_desk', :'ann'), ('regress_desk', 'bo'), ('regress_desk', NULL), ('regress_alone', NULL)) v(r, e);
SELECT privacy_score.import_statements('SELECT session, role, at, sql, end_user FROM own_baselines.statements');
SELECT privacy_score.set_baseline(r, '2026-01-01', '2026-01-04') FROM (VALUES ('regress_desk'::name), ('regress_alone')) v(r);

-- Every score of everybody.
CREATE FUNCTION all_scores() RETURNS TABLE (kind text, role name, end_user text, day date, rest jsonb, peer_score float8) LANGUAGE sql AS $$
  SELECT 'day', r.role, s.end_user, s.day, to_jsonb(s) - '{day,end_user,peer_score}'::text[], s.peer_score
    FROM (VALUES ('regress_desk'::name), ('regress_alone')) r(role), privacy_score.score(r.role, '-infinity', 'infinity') s
  UNION ALL
  SELECT 'session', r.role, s.end_user, s.day, to_jsonb(s) - '{day,end_user,peer_score}'::text[], s.peer_score
    FROM (VALUES ('regress_desk'::name), ('regress_alone')) r(role), privacy_score.score_sessions(r.role, '-infinity', 'infinity') s
  UNION ALL
  SELECT 'ngram', r.role, s.end_user, s.day, to_jsonb(s) - '{day,end_user,peer_score}'::text[], s.peer_score
    FROM (VALUES ('regress_desk'::name), ('regress_alone')) r(role), privacy_score.score_ngrams(r.role, '-infinity', 'infinity') s $$;
CREATE TABLE before AS SELECT * FROM all_scores();
SELECT count(*) > 0 AS scored, count(peer_score) AS with_peers FROM before;

SELECT privacy_score.set_baseline('regress_desk', '2026-01-01', '2026-01-04', end_user => :'ann') AS ngrams;
SELECT role, end_user, from_day, to_day, sessions, ngrams, active FROM privacy_score.baselines WHERE role = 'regress_desk' ORDER BY id;
-- What others score stays as it was, to the last bit.
CREATE TABLE after AS SELECT * FROM all_scores();
SELECT count(*) FROM ((SELECT * FROM before EXCEPT ALL SELECT * FROM after) UNION ALL (SELECT * FROM after EXCEPT ALL SELECT * FROM before)) x
 WHERE end_user IS DISTINCT FROM :'ann';
-- Of her the peers' score is what hers was; hers is greater where she does for the first time what they do all the time.
SELECT a.kind, a.peer_score = (b.rest->>'score')::float8 AS peers_as_before, (a.rest->>'score')::float8 > a.peer_score AS more_against_her_own
  FROM after a JOIN before b USING (kind, role, end_user, day) WHERE a.end_user = :'ann' AND a.kind <> 'ngram' AND a.day = '2026-02-01' ORDER BY 1;
SELECT day, (rest->>'score')::float8 AS score, peer_score > 0 AS peers FROM after WHERE end_user = :'ann' AND kind = 'day' AND day < '2026-02-01' ORDER BY 1;
SELECT rest->'ngram' AS ngram, round((rest->>'score')::numeric, 4) AS score, round(peer_score::numeric, 4) AS peer_score
  FROM after WHERE kind = 'ngram' AND end_user = :'ann' ORDER BY 2, 1::text;
-- In the published form, which rests on one baseline alone, she scores as the role that works as she does.
BEGIN;
SET LOCAL privacy_score.alpha = 1;
SET LOCAL privacy_score.identifiers_count = on;
SELECT kind, count(*) FROM ((SELECT kind, day, rest - 'session' FROM all_scores() WHERE end_user = :'ann' EXCEPT ALL SELECT kind, day, rest - 'session' FROM all_scores() WHERE role = 'regress_alone')
  UNION ALL (SELECT kind, day, rest - 'session' FROM all_scores() WHERE role = 'regress_alone' EXCEPT ALL SELECT kind, day, rest - 'session' FROM all_scores() WHERE end_user = :'ann')) x GROUP BY kind;
COMMIT;

-- Views: a role is one row, and each end user one.
SELECT role, baseline_from, baseline_to, cumulative > 0 AS scored FROM privacy_score.stat_roles WHERE role LIKE 'regress_desk' ORDER BY 1;
SELECT end_user, own_baseline, peer_today IS NULL AS nothing_today, cumulative > 0 AS scored FROM privacy_score.stat_end_users WHERE role = 'regress_desk' ORDER BY 1;
SELECT end_user, count(*), count(peer_score) AS with_peers FROM privacy_score.stat_days WHERE role = 'regress_desk' GROUP BY 1 ORDER BY 1;
SELECT end_user, count(*) > 0 AS any, count(*) = count(peer_score) AS with_peers FROM privacy_score.stat_mismatches WHERE role = 'regress_desk' GROUP BY 1 ORDER BY 1;

-- A statement is explained against what her sessions are scored against.
SELECT e.name, x->'end_user' AS end_user, x->'own_baseline' AS own, x->'known' AS known, round((x->'score')::numeric, 4) AS score, x->'peer_known' AS peer_known, x->'peer_score' AS peer_score
  FROM (VALUES (:'ann'), ('bo'), ('new one'), (NULL)) e(name), privacy_score.explain_query('SELECT gender, city FROM own_baselines.patients', 'regress_desk', e.name) x;
SELECT privacy_score.explain_query('SELECT 1', NULL, 'bo') IS NULL AS nothing;
SELECT privacy_score.explain_query('SELECT gender FROM own_baselines.patients', 'regress_desk') = privacy_score.explain_query('SELECT gender FROM own_baselines.patients', 'regress_desk', NULL) AS same;

-- Out of the server and in again.
CREATE TABLE moved AS SELECT privacy_score.export_baseline('regress_desk', :'ann') AS hers, privacy_score.export_baseline('regress_desk') AS roles;
SELECT hers->'version' AS version, hers->'end_user' AS end_user, roles->'version' AS roles_version, roles ? 'end_user' AS names_one FROM moved;
SELECT privacy_score.export_baseline('regress_desk', 'bo') IS NULL AS none, privacy_score.export_baseline('regress_alone', :'ann') IS NULL AS none_elsewhere;
SELECT privacy_score.drop_baseline('regress_desk', :'ann');
SELECT count(*) FROM ((SELECT * FROM before EXCEPT ALL SELECT * FROM all_scores()) UNION ALL (SELECT * FROM all_scores() EXCEPT ALL SELECT * FROM before)) x;
SELECT privacy_score.import_baseline(hers) FROM moved;
SELECT count(*) FROM ((SELECT * FROM after EXCEPT ALL SELECT * FROM all_scores()) UNION ALL (SELECT * FROM all_scores() EXCEPT ALL SELECT * FROM after)) x;
SELECT privacy_score.export_baseline('regress_desk', :'ann') = hers AS the_same FROM moved;
SELECT p->>'end_user' AS end_user FROM jsonb_array_elements(privacy_score.export_policy()->'baselines') p WHERE p->>'role' = 'regress_desk';
SELECT state FROM privacy_score.import_policy(privacy_score.export_policy()) WHERE statement LIKE '%import_baseline%' AND statement LIKE '%regress_desk%';

-- Versions: another one of hers, and the first in force again; those of the role and of others stay as they are.
SELECT privacy_score.set_baseline('regress_desk', '2026-02-01', '2026-02-01', :'ann') AS ngrams;
SELECT privacy_score.set_baseline('regress_desk', '2026-01-01', '2026-01-04', 'bo') AS ngrams;
SELECT privacy_score.activate_baseline(min(id)) FROM privacy_score.baselines WHERE role = 'regress_desk' AND end_user = :'ann';
SELECT end_user, from_day, active FROM privacy_score.baselines WHERE role = 'regress_desk' ORDER BY id;
SELECT privacy_score.activate_baseline(id) FROM privacy_score.baselines WHERE role = 'regress_desk' AND end_user = :'ann' AND active;
SELECT count(*) FILTER (WHERE active) AS active, count(*) AS versions FROM privacy_score.baselines WHERE role = 'regress_desk' AND end_user = :'ann';

-- Days that stand out and few sessions are told of the person.
SET privacy_score.baseline_min_sessions = 6;
SET client_min_messages = notice;
SELECT privacy_score.set_baseline('regress_desk', '2026-01-01', '2026-02-01', :'ann') AS ngrams;
SELECT role, end_user, kind, detail->'days'->0->'day' AS day, acknowledged_at IS NULL AS open FROM privacy_score.alerts WHERE role = 'regress_desk' ORDER BY id;
SET client_min_messages = warning;
SELECT end_user, outlier_days, combined_rate IS NOT NULL AS rated FROM privacy_score.baselines WHERE role = 'regress_desk' AND active ORDER BY id;
-- check_setup() says so, of her, too; suggest_limits() has limits for her when enough has happened since.
SELECT severity, subject, regexp_replace(finding, '\d{4}-\d\d-\d\d', 'D') AS finding, suggestion FROM privacy_score.check_setup() WHERE subject LIKE '%regress_desk, end user%' AND finding NOT LIKE '%days ago%' AND finding NOT LIKE '%tell nearly all%' ORDER BY 2, 3;
INSERT INTO privacy_score.session (role, end_user, session, day, started, last_at, source, queries) SELECT 'regress_desk', :'ann', 'later ' || i, '2026-03-01'::date + i, '2026-03-01'::date + i, '2026-03-01'::date + i, 'import', 1 FROM generate_series(1, 10) i;
INSERT INTO privacy_score.session_part (session_id, part, ids, runs) SELECT s.id, 0, (SELECT p.ids[1:1] FROM privacy_score.session_part p JOIN privacy_score.session o ON o.id = p.session_id WHERE o.role = 'regress_desk' AND o.end_user = :'ann' AND o.session NOT LIKE 'later%' ORDER BY o.id LIMIT 1), '{1}' FROM privacy_score.session s WHERE s.session LIKE 'later%' AND s.role = 'regress_desk';
SELECT setting, value, reason, suggestion FROM privacy_score.suggest_limits('regress_desk') WHERE setting = 'set_limit';
DELETE FROM privacy_score.session_part p USING privacy_score.session s WHERE s.id = p.session_id AND s.role = 'regress_desk' AND s.session LIKE 'later%';
DELETE FROM privacy_score.session s WHERE s.role = 'regress_desk' AND s.session LIKE 'later%';
-- Another version of the role's closes no alert of hers; another one of hers does.
SELECT privacy_score.set_baseline('regress_desk', '2026-01-01', '2026-01-03') AS ngrams;
SELECT count(*) FILTER (WHERE acknowledged_at IS NULL) AS open FROM privacy_score.alerts WHERE role = 'regress_desk' AND end_user = :'ann' AND kind = 'baseline_outlier';
SET privacy_score.baseline_min_sessions = 0;
SELECT privacy_score.set_baseline('regress_desk', '2026-01-01', '2026-01-04', :'ann') AS ngrams;
SELECT count(*) FILTER (WHERE acknowledged_at IS NULL) AS open FROM privacy_score.alerts WHERE role = 'regress_desk' AND end_user = :'ann' AND kind = 'baseline_outlier';

-- The role sees those of its people, as it sees what they have done, and makes none.
SET ROLE regress_desk;
SELECT count(DISTINCT end_user) FROM privacy_score.baselines;
SELECT privacy_score.set_baseline('regress_desk', '2026-01-01', '2026-01-04', 'bo');
SELECT privacy_score.drop_baseline('regress_desk', 'bo');
SELECT privacy_score.export_baseline('regress_desk', 'bo');
SELECT privacy_score.explain_query('SELECT gender FROM own_baselines.patients', 'regress_alone', 'bo');
RESET ROLE;

-- Who is forgotten has no baseline, of any version, nor anything of one; the others have.
SELECT array_agg(id) AS hers FROM privacy_score.baseline WHERE role = 'regress_desk' AND end_user = :'ann' \gset
SELECT privacy_score.forget_end_user('regress_desk', :'ann') AS sessions;
SELECT (SELECT count(*) FROM privacy_score.baseline WHERE id = ANY (:'hers')) AS versions, (SELECT count(*) FROM privacy_score.baseline_ngram WHERE baseline_id = ANY (:'hers')) AS ngrams,
       (SELECT count(*) FROM privacy_score.baseline_session WHERE baseline_id = ANY (:'hers')) AS sessions, (SELECT count(*) FROM privacy_score.alert WHERE end_user = :'ann') AS alerts;
SELECT end_user, active FROM privacy_score.baselines WHERE role = 'regress_desk' AND active ORDER BY id;
SELECT count(*) > 0 AS kept FROM privacy_score.baseline_ngram n JOIN privacy_score.baseline b ON b.id = n.baseline_id WHERE b.end_user = 'bo';

SELECT privacy_score.drop_baseline(role, end_user) FROM privacy_score.baseline WHERE active ORDER BY id;
DROP SCHEMA own_baselines CASCADE;
DROP ROLE regress_desk;

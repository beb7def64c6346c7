-- What check_setup() finds and suggests, labels and limits that are suggested, a policy as a file, leaving.
CREATE SCHEMA setup;
SET search_path = setup;
SET client_min_messages = warning;
CREATE ROLE regress_setup LOGIN;
CREATE ROLE regress_setup_officer LOGIN;
CREATE ROLE regress_setup_monitor LOGIN;
GRANT pg_read_all_stats TO regress_setup_officer, regress_setup_monitor;
GRANT USAGE ON SCHEMA setup TO regress_setup_officer, regress_setup;
SECURITY LABEL FOR privacy_score ON ROLE regress_setup_officer IS 'exempt';

-- Values that are on nobody's list but the samples of ANALYZE; what is found is never shown.
CREATE TABLE people (
  id int PRIMARY KEY, last_name text, born_on date, contact text, konto text, call_back varchar(30), gender text, note text,
  opened_on date, has_email boolean, "E-Mail" text, zip int, amount numeric);
INSERT INTO people
SELECT i, 'l' || i % 200, date '1930-01-01' + i * 20, 'u' || i || '@mail.example', 'DE' || lpad((i % 97)::text, 2, '0') || lpad((i * 7919)::text, 18, '0'),
       '+49 30 ' || 100000 + i * 37, CASE i % 2 WHEN 0 THEN 'm' ELSE 'f' END, md5(i::text), date '2020-01-01' + i % 300, i % 2 = 0, 'x', 10000 + i % 30, i % 40
  FROM generate_series(1, 1000) i;
CREATE TABLE visits (id int PRIMARY KEY, person int REFERENCES people, icd_code text);
CREATE TABLE unrelated (id int PRIMARY KEY, colour text);
ANALYZE people;
CREATE VIEW found AS SELECT severity, subject, finding, suggestion FROM privacy_score.check_setup() WHERE subject ~ 'setup|^privacy_score[.]|log_min';
SELECT severity, subject, left(finding, 60) AS finding, suggestion FROM found WHERE subject !~ '^role';
SELECT * FROM privacy_score.suggest_labels('people');
SELECT * FROM privacy_score.suggest_labels('unrelated');
SELECT * FROM privacy_score.suggest_labels('found');

-- Once it is protected each column is a finding of its own, and so are the tables that refer to it.
SELECT privacy_score.protect('people', 'id');
SELECT severity, subject, finding FROM found WHERE subject !~ '^role';
\set QUIET on
SELECT suggestion FROM privacy_score.suggest_labels('people') \gexec
SELECT suggestion FROM found WHERE finding LIKE '%foreign key%' \gexec
\set QUIET off
SELECT severity, subject, finding FROM found WHERE subject !~ '^role';
SELECT suggestion FROM privacy_score.suggest_labels('visits') \gexec
ANALYZE visits;
SELECT severity, subject, finding FROM found WHERE subject !~ '^role';

-- Roles.
SELECT privacy_score.import_statements($$SELECT 's' || d, 'regress_setup'::name, now() - d * interval '1 day', 'SELECT zip FROM setup.people' FROM generate_series(1, 12) d$$);
ALTER ROLE regress_setup SET privacy_score.mode = 'enforce';
ALTER ROLE regress_setup_officer SET privacy_score.session_limit = 1;
GRANT pg_read_server_files TO regress_setup_monitor;
SELECT severity, subject, finding, suggestion FROM found WHERE subject ~ '^role';
SELECT * FROM privacy_score.suggest_limits('regress_setup');
SET privacy_score.baseline_min_sessions = 11;
SELECT privacy_score.set_baseline('regress_setup', NULL, privacy_score.today() - 3);
SELECT to_day = privacy_score.today() - 3 AND from_day = to_day - 29 AS thirty_days, sessions, outlier_days, usual_day, combined_rate IS NOT NULL AS rate
  FROM privacy_score.baselines WHERE role = 'regress_setup';
ALTER ROLE regress_setup SET privacy_score.session_limit = 2;
SELECT severity, subject, finding, suggestion FROM found WHERE subject ~ '^role regress_setup$';
RESET privacy_score.baseline_min_sessions;
SELECT * FROM privacy_score.suggest_limits('regress_setup');
SELECT privacy_score.import_statements($$SELECT 'new' || n.session, 'regress_setup'::name, (privacy_score.today() + interval '1 minute' * i)::timestamptz,
  CASE i WHEN 11 THEN 'SELECT contact, konto, note FROM setup.people' WHEN 12 THEN 'SELECT last_name, born_on FROM setup.people' ELSE 'SELECT zip FROM setup.people' END
  FROM generate_series(1, 12) i, LATERAL (SELECT LEAST(i, 11) AS session) n$$);
SELECT setting, value, replace(reason, '3 day(s)', 'so many day(s)') AS reason FROM privacy_score.suggest_limits('regress_setup') WHERE setting = 'session_limit';
SELECT * FROM privacy_score.suggest_limits('nobody_of_this_name');

-- Settings that are none, in the catalog as a server without the library lets them in.
INSERT INTO pg_db_role_setting SELECT 0, oid, '{privacy_score.sesion_limit=1}' FROM pg_roles WHERE rolname = 'regress_setup_monitor';
SELECT severity, subject, finding, suggestion FROM found WHERE subject ~ '^privacy_score';
DELETE FROM pg_db_role_setting WHERE setconfig = '{privacy_score.sesion_limit=1}';

INSERT INTO pg_db_role_setting VALUES (0, 0, '{privacy_score.sesion_limit=1}');
SELECT severity, subject, finding, suggestion FROM found WHERE subject ~ '^privacy_score';
SELECT statement FROM privacy_score.uninstall_step WHERE statement ~ 'sesion';
DELETE FROM pg_db_role_setting WHERE setconfig = '{privacy_score.sesion_limit=1}';
-- Values that are none, and one in capitals, which the server takes.
INSERT INTO pg_db_role_setting SELECT d.oid, r.oid, '{privacy_score.daily_limit=two,privacy_score.alert_level=7,privacy_score.normalised_limit=1e-1}'
  FROM pg_roles r, pg_database d WHERE r.rolname = 'regress_setup_monitor' AND d.datname = current_database();
CREATE ROLE "regress_setup O'Brien ""x""" LOGIN;
ALTER ROLE "regress_setup O'Brien ""x""" SET privacy_score.mode = 'Enforce';
SELECT severity, subject, replace(finding, current_database(), '...') AS finding, replace(suggestion, current_database(), '...') AS suggestion
  FROM found WHERE subject ~ '^privacy_score|Brien' OR finding ~ 'alert_level|normalised';
DELETE FROM pg_db_role_setting WHERE setconfig[1] = 'privacy_score.daily_limit=two';
-- What is suggested outdoes what stands in its way: a setting of the role in this database, a grant that was passed on,
-- a membership through another role.
DO $$ BEGIN
  EXECUTE format('ALTER ROLE "regress_setup O''Brien ""x""" IN DATABASE %I SET privacy_score.mode = off', current_database());
  EXECUTE format('ALTER ROLE "regress_setup O''Brien ""x""" IN DATABASE %I SET privacy_score.session_limit = 7', current_database());
END $$;
SELECT replace(suggestion, quote_ident(current_database()), '...') AS suggestion FROM found WHERE subject ~ 'Brien';
SELECT privacy_score.import_statements($$SELECT 'o' || d, $r$regress_setup O'Brien "x"$r$::name, '2020-01-01'::timestamptz + d * interval '1 day', 'SELECT zip FROM setup.people' FROM generate_series(1, 6) d$$);
CREATE ROLE regress_setup_group;
GRANT pg_execute_server_program TO regress_setup_group;
GRANT regress_setup_group TO "regress_setup O'Brien ""x""";
GRANT TRIGGER ON people TO regress_setup WITH GRANT OPTION;
SET ROLE regress_setup;
GRANT TRIGGER ON setup.people TO "regress_setup O'Brien ""x""";
RESET ROLE;
CREATE TABLE "Kein Schlüssel" ("{zu}" int REFERENCES people, n int);
CREATE TABLE "kein ""Schlüssel""" (n int);
SELECT privacy_score.protect('"Kein Schlüssel"'), privacy_score.protect('"kein ""Schlüssel"""');
CREATE TABLE labelled (id int PRIMARY KEY, "Konto Nummer" text);
SECURITY LABEL FOR privacy_score ON COLUMN labelled."Konto Nummer" IS 'identifier';
ANALYZE "Kein Schlüssel", "kein ""Schlüssel""";
CREATE VIEW odd AS SELECT subject, regexp_replace(finding, '[0-9]+ days ago', 'N days ago') AS finding, suggestion FROM found
  WHERE subject ~ 'Brien|Schlüssel|labelled' OR finding ~ 'triggers';
SELECT subject, finding, replace(suggestion, quote_ident(current_database()), '...') AS suggestion FROM odd;
\set QUIET on
SELECT suggestion FROM odd WHERE subject !~ 'labelled' AND suggestion !~ 'IN DATABASE' \gexec
SELECT suggestion FROM odd WHERE suggestion ~ 'IN DATABASE' \gset
\set ECHO none
:suggestion
\set ECHO all
\set QUIET off
SELECT subject, finding, suggestion FROM odd;
SELECT setting, replace(suggestion, quote_ident(current_database()), '...') AS suggestion FROM privacy_score.suggest_limits($$regress_setup O'Brien "x"$$);
SELECT privacy_score.unprotect('"Kein Schlüssel"'), privacy_score.unprotect('"kein ""Schlüssel"""'), privacy_score.drop_baseline($$regress_setup O'Brien "x"$$);
DROP TABLE "Kein Schlüssel", "kein ""Schlüssel""", labelled CASCADE;
DROP VIEW odd;
DELETE FROM privacy_score.session WHERE role ~ 'regress_setup O';
DROP ROLE regress_setup_group, "regress_setup O'Brien ""x""";

-- Who may set what watches it.
GRANT SET ON PARAMETER privacy_score.mode TO PUBLIC;
GRANT SET ON PARAMETER privacy_score.session_limit TO regress_setup_officer WITH GRANT OPTION;
SET ROLE regress_setup_officer;
GRANT SET ON PARAMETER privacy_score.session_limit TO regress_setup;
RESET ROLE;
CREATE VIEW settable AS SELECT subject, finding, suggestion FROM found WHERE finding ~ 'may set it';
SELECT * FROM settable;
SELECT suggestion FROM settable \gexec
SELECT * FROM settable;
DROP VIEW settable;

-- Alerts in the forms of others.
INSERT INTO privacy_score.alert (id, at, last_at, role, session, kind, score, alert_limit, blocked, detail, severity, occurrences)
VALUES (-1, '2026-01-02 03:04:05.678901Z', '2026-01-02 04:00:00Z', 'regress=setup|x', 's1', 'session', 2.5, 1, true, '{"version": 1, "attributes": ["setup.people.note"]}', 'critical', 3);
SELECT jsonb_pretty(privacy_score.alert_event(-1)::jsonb #- '{metadata,product,version}' #- '{finding_info,uid}' #- '{metadata,uid}' #- '{evidences,0,database,name}');
SELECT jsonb_pretty(privacy_score.alert_event(-1, 'ecs')::jsonb #- '{observer,version}' #- '{event,id}' #- '{privacy_score,database}');
SELECT replace(privacy_score.alert_event(-1, 'cef'), current_database(), 'DATABASE');
SELECT privacy_score.alert_event(-1, 'xml');
SELECT privacy_score.alert_event(-2);
DELETE FROM privacy_score.alert WHERE id = -1;

-- Who may ask.
SET ROLE regress_setup_officer;
SELECT count(*) > 2 AS officer FROM privacy_score.check_setup();
SELECT count(*) AS officer FROM privacy_score.suggest_labels('people');
SET ROLE regress_setup;
SELECT * FROM privacy_score.check_setup();
SELECT * FROM privacy_score.suggest_labels('people');
SELECT count(*) AS own FROM privacy_score.suggest_limits('regress_setup');
SELECT * FROM privacy_score.suggest_limits('regress_setup_officer');
SELECT * FROM privacy_score.export_policy();
SELECT * FROM privacy_score.import_policy('{}');
SELECT * FROM privacy_score.prepare_uninstall();
SELECT * FROM privacy_score.setup_finding;
SELECT privacy_score.alert_event(-1);
RESET ROLE;

-- A policy comes back as it went.
SELECT privacy_score.confirm_dependency('people', 'zip', 'gender');
SELECT privacy_score.dp_grant('regress_setup', 'visits', 1.5, '1 month', 'person', 3, 0.001, false);
CREATE TABLE policy AS SELECT privacy_score.export_policy() AS file;
SELECT state, problem, count(*) FROM policy, privacy_score.import_policy(file) GROUP BY 1, 2;
SELECT privacy_score.unprotect('people'), privacy_score.unprotect('visits'), privacy_score.dp_revoke('regress_setup', 'visits'), privacy_score.drop_baseline('regress_setup');
SECURITY LABEL FOR privacy_score ON COLUMN people.contact IS NULL;
ALTER ROLE regress_setup RESET ALL;
CREATE VIEW ours AS SELECT statement, state, problem FROM policy, privacy_score.import_policy(file) WHERE statement ~ 'setup';
SELECT regexp_replace(statement, '2[0-9-]{9}', 'DAY', 'g') AS statement, state, problem FROM ours WHERE state <> 'already so';
SELECT count(*) AS done FROM policy, privacy_score.import_policy(file, false) WHERE state = 'done';
SELECT privacy_score.export_policy() = file AS same FROM policy;
SELECT state, count(*) FROM ours GROUP BY 1;
-- What cannot be is said, and what can be is done; no file brings a statement of its own.
SELECT * FROM privacy_score.import_policy($${"version": 1,
  "relations": [{"relation": "setup.gone"}, {"relation": "setup.unrelated; DROP TABLE setup.unrelated"},
                {"relation": "setup.unrelated", "subject": ["id'); DROP TABLE setup.unrelated; --"], "labels": {"colour": "public", "color": "public"},
                 "dependencies": [["id", "colour"], ["colour"]]}],
  "roles": [{"role": "regress_setup", "settings": {"privacy_score.daily_limit": "3'; DROP ROLE regress_setup; --", "work_mem": "1MB", "privacy_score.no": "1"}}, {"role": "regress_gone", "label": "exempt"}],
  "budgets": [{"role": "regress_gone", "relation": "setup.visits", "epsilon": "1"}, {"role": "regress_setup", "relation": "x", "epsilon": "1"}], "baselines": {}}$$);
SELECT * FROM privacy_score.import_policy('{"version": 1, "roles": [{"role": "regress_setup", "settings": {"privacy_score.daily_limit": "three"}}]}', false);
SELECT * FROM privacy_score.import_policy('{"version": 1, "relations": 7, "roles": {"a": 1}, "budgets": null}');
-- What is not said in full is said to be missing, and null takes nothing away.
SELECT * FROM privacy_score.import_policy($${"version": 1, "relation": [],
  "relations": [7, {"relation": "unrelated"}, {"labels": {"a": "public"}}, {"relation": "setup.people", "labels": {"contact": null}, "dependencies": [[]]}],
  "roles": [{"label": "exempt"}, {"settings": {"privacy_score.mode": "off"}}, {"role": "regress_setup", "label": null, "settings": {"privacy_score.mode": null}}],
  "end_user_limits": [{"role": "regress_setup"}, {"end_user": "a"}], "end_user_labels": [{"label": "exempt"}, {"role": "regress_setup", "label": "exempt"}],
  "budgets": [7, {"role": "regress_setup", "relation": "; x", "epsilon": "1"}, {"role": "regress_setup", "relation": "a.b.c.d", "epsilon": "1"},
              {"role": "regress_setup", "relation": "setup.visits"}, {"relation": "setup.visits", "epsilon": "1"}]}$$) WHERE state <> 'already so';
-- A dry run shows all that is run, however long, and whose a baseline is.
SELECT replace(statement, repeat(' ', 500), '<blanks>') AS statement, state
  FROM privacy_score.import_policy(format('{"version": 1, "budgets": [{"role": "regress_setup", "relation": "setup.people", "epsilon": "%s1000"}],
    "baselines": [{"a": "%s", "role": "regress_setup", "from_day": "2026-01-01", "to_day": "2026-01-02", "sessions": 7}]}', repeat(' ', 500), repeat('x', 500))::jsonb);
SELECT * FROM privacy_score.import_policy('{"version": 2}');
SELECT * FROM privacy_score.import_policy('[]');

-- Leaving: what is left to do, and no label on a column.
SELECT statement FROM privacy_score.prepare_uninstall() WHERE statement ~ 'setup|DROP EXTENSION|uninstall';
SELECT count(*) AS labels FROM pg_seclabel WHERE provider = 'privacy_score';
SET client_min_messages = error;
SELECT privacy_score.unprotect('people'), privacy_score.unprotect('visits'), privacy_score.dp_revoke('regress_setup', 'visits'), privacy_score.drop_baseline('regress_setup');
DROP SCHEMA setup CASCADE;
DROP ROLE regress_setup, regress_setup_officer, regress_setup_monitor;

-- Every error that SQL can provoke: its code, text and hint; the session goes on after each.
SET client_min_messages = warning;
SET privacy_score.baseline_min_sessions = 0;
CREATE SCHEMA errors;
SET search_path = errors, public;
CREATE TABLE person (id int PRIMARY KEY, name text, city text);
INSERT INTO person VALUES (1, 'Ann', 'Cork'), (2, 'Bob', 'Bray');
CREATE TABLE unprotected (id int PRIMARY KEY, name text);
CREATE SEQUENCE numbers;
CREATE TABLE places (id int PRIMARY KEY, spot point);
CREATE TABLE many AS SELECT i % 5 AS value, i % 7 AS known FROM generate_series(1, 200000) i;
CREATE TYPE composite AS (a int);
CREATE VIEW seen AS SELECT name FROM person;
CREATE TABLE parted (id int, email text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (9);
CREATE VIEW failing AS SELECT name, 1 / (id - 1) AS inverse FROM person;
SELECT privacy_score.protect('person');
CREATE TABLE born (id int PRIMARY KEY, day date, smoker boolean, spot point);
SELECT privacy_score.protect('born');
SELECT privacy_score.import_statements($$VALUES ('s', 'regress_errors'::name, '2026-01-01 12:00+00'::timestamptz, 'SELECT name FROM errors.person')$$);
\getenv inputs PG_ABS_SRCDIR
\set attempt :inputs '/support/attempt.sql'
\i :attempt
SET maintenance_work_mem = '1MB';
CREATE TABLE attempts (n int GENERATED ALWAYS AS IDENTITY, sql text);
INSERT INTO attempts (sql) VALUES
  -- declaring
  ('privacy_score.protect(NULL)'),
  ('privacy_score.protect(4000000000::oid)'),
  ('privacy_score.protect(''person'', ''{}'')'),
  ('privacy_score.protect(''person'', ''{NULL}'')'),
  ('privacy_score.protect(''person'', ''{nosuch}'')'),
  ('privacy_score.protect(''person'', ''{id,id}'')'),
  ('privacy_score.protect(''seen'')'),
  ('privacy_score.protect(''pg_class'')'),
  ('privacy_score.unprotect(''unprotected'')'),
  ('privacy_score.unprotect(4000000000::oid)'),
  ('privacy_score.unprotect(NULL) IS NULL'),
  ('privacy_score.confirm_dependency(''person'', ''name'', ''name'')'),
  ('privacy_score.confirm_dependency(''person'', ''nosuch'', ''name'')'),
  ('privacy_score.confirm_dependency(4000000000::oid, ''a'', ''b'')'),
  ('privacy_score.confirm_dependency(''person'', NULL, ''name'') IS NULL'),
  ('privacy_score.withdraw_dependency(''person'', ''name'', ''nosuch'')'),
  ('(SELECT count(*) FROM privacy_score.role_status(''nosuch''))'),
  -- budgets, and conditions
  ('privacy_score.dp_grant(session_user, ''pg_class'', 1)'),
  ('privacy_score.dp_grant_person(session_user, ''person'', NULL)'),
  ('privacy_score.dp_grant_person(session_user, ''person'', 0)'),
  ('privacy_score.dp_grant_person(''nosuch'', ''person'', 1)'),
  ('privacy_score.dp_grant_person(session_user, ''pg_class'', 1)'),
  ('privacy_score.dp_grant_person(session_user, ''places'', 1)'),
  ('privacy_score.dp_grant_person(session_user, ''person'', 1, ''-1 day'')'),
  ('privacy_score.dp_grant_person(session_user, ''person'', 1, NULL, 2)'),
  ('privacy_score.dp_revoke_person(session_user, ''person'')'),
  ('(SELECT count(*) FROM privacy_score.dp_price(NULL))'),
  ('(SELECT count(*) FROM privacy_score.dp_price(''SELECT 1; SELECT 2''))'),
  ('(SELECT count(*) FROM privacy_score.dp_price(''DROP TABLE person''))'),
  ('(SELECT count(*) FROM privacy_score.dp_price(''SELECT name FROM person''))'),
  ('(SELECT count(*) FROM privacy_score.dp_price(''SELECT count(*) FROM person''))'),
  ('privacy_score.dp_domain(NULL, ''city'', 1)'),
  ('privacy_score.dp_domain(''person'', NULL, 1)'),
  ('privacy_score.dp_domain(''pg_class'', ''relname'', vals => ''{a}'')'),
  ('privacy_score.dp_domain(''unprotected'', ''name'', vals => ''{a}'')'),
  ('privacy_score.dp_domain(''person'', ''nosuch'', 1, 2)'),
  ('privacy_score.dp_domain(''person'', ''ctid'', 1, 2)'),
  ('privacy_score.dp_domain(''person'', ''id'')'),
  ('privacy_score.dp_domain(''person'', ''id'', 1, 2, ''{1}'')'),
  ('privacy_score.dp_domain(''person'', ''id'', 2, 1)'),
  ('privacy_score.dp_domain(''person'', ''id'', ''one'')'),
  ('privacy_score.dp_domain(''person'', ''id'', 3000000000)'),
  ('privacy_score.dp_domain(''person'', ''name'', ''a'', ''b'')'),
  ('privacy_score.dp_domain(''person'', ''name'', vals => ''a''::text)'),
  ('privacy_score.dp_domain(''person'', ''name'', vals => ''a'')'),
  ('privacy_score.dp_domain(''person'', ''name'', vals => ''{}'')'),
  ('privacy_score.dp_domain(''person'', ''name'', vals => ''{a,NULL}'')'),
  ('privacy_score.dp_domain(''person'', ''name'', vals => ARRAY[repeat(''a'', 10001)])'),
  ('privacy_score.dp_domain(''born'', ''day'', ''-infinity'', ''2024-01-01'')'),
  ('privacy_score.dp_domain(''born'', ''smoker'', vals => ''{t}'')'),
  ('privacy_score.dp_domain(''born'', ''spot'', vals => ''{"(1,1)"}'')'),
  ('privacy_score.dp_withdraw_domain(''person'', ''id'')'),
  ('privacy_score.dp_withdraw_domain(''person'', ''nosuch'')'),
  ('(SELECT count(*) FROM privacy_score.noisy_rows(0) AS r(x int))'),
  ('privacy_score.dp_error(''x'')'),
  ('privacy_score.guarded(''pg_catalog.int4pl(int4,int4)''::regprocedure::oid, 1, 2)'),
  ('privacy_score.dp_grant(session_user, ''numbers'', 1)'),
  ('privacy_score.dp_grant(session_user, ''places'', 1, unit => ''spot'')'),
  ($$privacy_score.restricted_count('person', 'name = ''Ann''::nosuch', 1)$$),
  ($$privacy_score.restricted_count('places', 'spot = ''(1,2)''', 1)$$),
  ($$privacy_score.restricted_count('person', 'id LIKE ''1%''', 1)$$),
  ($$privacy_score.restricted_count('person', 'id = name', 1)$$),
  ($$privacy_score.restricted_count('person', 'ctid IS NULL', 1)$$),
  -- what does not fit, what may not be replaced
  ($$(SELECT count(*) FROM privacy_score.evaluate_sampling('many', 'value', '{known}', '{0.5}', 1))$$),
  ($$(SELECT buckets FROM privacy_score.bucketize('person', '{city}', 'name', 'errors.seen', 'errors.st', l => 1, replace => true))$$),
  -- rates
  ('privacy_score.discrimination_rate(NULL, ''name'')'),
  ('privacy_score.discrimination_rate(''person'', NULL)'),
  ('privacy_score.discrimination_rate(''person'', ''nosuch'')'),
  ('privacy_score.discrimination_rate(''person'', ''Name'')'),
  ('privacy_score.discrimination_rate(''person'', ''ctid'')'),
  ('privacy_score.discrimination_rate(''person'', ''name'', ''{}'')'),
  ('privacy_score.discrimination_rate(''person'', ''name'', ''{NULL}'')'),
  ('privacy_score.discrimination_rate(''person'', ''name'', ''{nosuch}'')'),
  ('privacy_score.discrimination_rate(4000000000::oid, ''name'')'),
  ('privacy_score.discrimination_rate(''numbers'', ''last_value'')'),
  ('privacy_score.discrimination_rate(''composite'', ''a'')'),
  ('privacy_score.discrimination_rate(''failing'', ''inverse'')'),
  ('privacy_score.combined_discrimination_rate(NULL, ''{name}'')'),
  ('privacy_score.combined_discrimination_rate(''person'', NULL)'),
  ('privacy_score.combined_discrimination_rate(''person'', ''{name,NULL}'')'),
  ('privacy_score.combined_discrimination_rate(''person'', ''{name,nosuch}'')'),
  ('(SELECT count(*) FROM privacy_score.attribute_risk(''numbers''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_risk(4000000000::oid))'),
  ('(SELECT count(*) FROM privacy_score.attribute_risk(NULL))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(''numbers'', ''[]''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(NULL, ''[]''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(''person'', NULL))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(''person'', ''"name"''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(''person'', ''["name"]''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(''person'', ''{"name": 1}''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(''person'', ''[[["name"]]]''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(''person'', ''[["name", null]]''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(''person'', ''[["name", 1]]''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(''person'', ''[["nosuch"]]''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_set_risk(''person'', ''[["name"]]'', ''{}''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_relationships(''person'', -0.1))'),
  ('(SELECT count(*) FROM privacy_score.attribute_relationships(''person'', ''NaN''))'),
  ('(SELECT count(*) FROM privacy_score.attribute_relationships(''numbers''))'),
  ('privacy_score.attribute_relationships_dot(''numbers'')'),
  ('privacy_score.query_identification(''SELECT name FROM'')'),
  ('privacy_score.query_identification(''SELECT inverse FROM errors.failing'')'),
  ('(SELECT relation FROM privacy_score.compare_queries(''SELECT 1'', ''SELECT FROM WHERE''))'),
  -- baselines and history
  ('privacy_score.set_baseline(''regress_errors'', ''2026-01-02'', ''2026-01-01'')'),
  ('privacy_score.set_baseline(''regress_errors'', ''2020-01-01'', ''2020-12-31'')'),
  ('privacy_score.set_baseline(''nosuch'', ''2026-01-01'', ''2026-01-01'')'),
  ('privacy_score.set_baseline(NULL, ''2026-01-01'', NULL)'),
  ('privacy_score.set_baseline(''nosuch'', NULL, ''2026-01-01'')'),
  ('privacy_score.drop_baseline(''regress_errors'')'),
  ('privacy_score.drop_baseline(''nosuch'')'),
  ('privacy_score.export_baseline(''nosuch'') IS NULL'),
  ('(SELECT count(*) FROM privacy_score.score(''regress_errors'', ''2026-01-02'', ''2026-01-01''))'),
  ('(SELECT count(*) FROM privacy_score.score_anew(''regress_errors'', ''2026-01-02'', ''2026-01-01''))'),
  ('(SELECT count(*) FROM privacy_score.score_anew(''nosuch'', ''-infinity'', ''infinity''))'),
  ('privacy_score.rescore(''regress_errors'', ''2026-01-02'', ''2026-01-01'')'),
  ('privacy_score.rescore(NULL, ''2026-01-02'', ''2026-01-01'') IS NULL'),
  ('privacy_score.rescore(''nosuch'', ''2026-01-01'', ''2026-01-02'') = 0'),
  ('(SELECT count(*) FROM privacy_score.score_sessions(''regress_errors'', ''infinity'', ''2026-01-01''))'),
  ('(SELECT count(*) FROM privacy_score.score_ngrams(''regress_errors'', ''2026-01-01'', ''-infinity''))'),
  ('(SELECT count(*) FROM privacy_score.score(''regress_errors'', NULL, ''2026-01-01''))'),
  ('(SELECT count(*) FROM privacy_score.score(''nosuch'', ''-infinity'', ''infinity''))'),
  ('(SELECT count(*) FROM privacy_score.choose_ngram_length(''regress_errors'', ''2026-01-02'', ''2026-01-01''))'),
  ('(SELECT count(*) FROM privacy_score.choose_ngram_length(''regress_errors'', ''2026-01-01'', ''2026-01-01'', 0))'),
  ('(SELECT count(*) FROM privacy_score.choose_ngram_length(''regress_errors'', ''2026-01-01'', ''2026-01-01'', 7))'),
  ('(SELECT count(*) FROM privacy_score.choose_ngram_length(''regress_errors'', ''2026-01-01'', ''2026-01-01'', NULL))'),
  ('privacy_score.analyze_relation(NULL)'),
  ('privacy_score.analyze_relation(''unprotected'')'),
  ('privacy_score.analyze_relation(''person'', ''{nosuch}'')'),
  ('privacy_score.analyze_relation(4000000000::oid)'),
  ('privacy_score.acknowledge_alert(-1)'),
  ('privacy_score.accept_alert(-1, ''why'')'),
  ('privacy_score.accept_alert(NULL, ''why'')'),
  ('privacy_score.accept_alert(1, NULL)'),
  ('privacy_score.accept_alert(1, '' '')'),
  ('privacy_score.accept_alert(1, ''why'', ''2020-01-01'')'),
  ('privacy_score.accept_alert(1, ''why'', ''-infinity'')'),
  ('privacy_score.accept_alert(1, ''why'', NULL, ''everybody'')'),
  ('privacy_score.accept_alert(1, ''why'', NULL, NULL)'),
  ('privacy_score.confirm_acceptance(-1)'),
  ('privacy_score.withdraw_acceptance(-1)'),
  -- end users
  ('privacy_score.set_limit(''nosuch'', ''alice'', 1)'),
  ('privacy_score.set_limit(''postgres'', '''', 1)'),
  ('privacy_score.set_limit(''postgres'', ''alice'', -1)'),
  ('privacy_score.label_end_user(NULL, ''alice'', ''exempt'')'),
  ('privacy_score.label_end_user(''postgres'', NULL, ''exempt'')'),
  ('privacy_score.label_end_user(''nosuch'', ''alice'', ''exempt'')'),
  ('privacy_score.label_end_user(''postgres'', '' alice'', ''exempt'')'),
  ('privacy_score.label_end_user(''postgres'', repeat(''x'', 257), NULL)'),
  ('privacy_score.label_end_user(''postgres'', ''alice'', ''watched'')'),
  ('privacy_score.label_end_user(''postgres'', ''(overflow)'', ''dp only'')'),
  ('privacy_score.label_end_user(''postgres'', ''(invalid)'', ''exempt'')'),
  ('privacy_score.set_baseline(''regress_errors'', ''2026-01-01'', ''2026-01-01'', end_user => ''nobody'')'),
  ('privacy_score.set_baseline(''nosuch'', ''2026-01-01'', ''2026-01-01'', end_user => ''nobody'')'),
  ('privacy_score.set_baseline(NULL, end_user => ''nobody'')'),
  ('privacy_score.set_baseline(''regress_errors'', ''2026-01-02'', ''2026-01-01'', ''nobody'')'),
  ('privacy_score.set_baseline(''regress_errors'', ''2026-01-01'', ''2026-01-01'', '''')'),
  ('privacy_score.set_baseline(''regress_errors'', ''2026-01-01'', ''2026-01-01'', '' alice'')'),
  ('privacy_score.set_baseline(''regress_errors'', ''2026-01-01'', ''2026-01-01'', ''(invalid)'')'),
  ('privacy_score.set_baseline(''regress_errors'', ''2026-01-01'', ''2026-01-01'', ''(overflow)'')'),
  ('privacy_score.drop_baseline(''regress_errors'', ''nobody'')'),
  ('privacy_score.drop_baseline(''regress_errors'', repeat(''x'', 257))'),
  ('privacy_score.drop_baseline(NULL, ''alice'')'),
  ('privacy_score.export_baseline(''regress_errors'', ''nobody'') IS NULL'),
  ('privacy_score.explain_query(''SELECT 1'', ''nosuch'', ''alice'')'),
  ('privacy_score.explain_query(''SELECT 1'', ''regress_errors'', ''alice '')'),
  -- import_statements
  ('privacy_score.import_statements(''SELECT 1'')'),
  ('privacy_score.import_statements(''SELECT ''''s'''', ''''r''''::name, now(), ''''x'''', 5'')'),
  ('privacy_score.import_statements(''VALUES (''''s'''', ''''r'''', now(), ''''SELECT 1'''')'')'),
  ('privacy_score.import_statements(''SELECT ''''s'''', ''''r''''::name, now()::timestamp, ''''x'''''')'),
  ('privacy_score.import_statements(''SELECT ''''s'''', ''''r''''::name, now(), NULL::text'')'),
  ('privacy_score.import_statements(''SELECT NULL::text, ''''r''''::name, now(), ''''SELECT 1'''''')'),
  ('privacy_score.import_statements(''SELECT ''''s'''', NULL::name, now(), ''''SELECT 1'''''')'),
  ('privacy_score.import_statements(''SELECT ''''s'''', ''''r''''::name, NULL::timestamptz, ''''SELECT 1'''''')'),
  ('privacy_score.import_statements(''SELECT ''''s'''', ''''r''''::name, timestamptz ''''infinity'''', ''''SELECT 1'''''')'),
  ('privacy_score.import_statements(''SELECT ''''s'''', ''''r''''::name, timestamptz ''''-infinity'''', ''''SELECT 1'''''')'),
  ('privacy_score.import_statements(''SELECT'')'),
  ('privacy_score.import_statements(''nonsense'')'),
  ('privacy_score.import_statements('''')'),
  ('privacy_score.import_statements(''DELETE FROM errors.person'')'),
  ('privacy_score.import_statements(''DELETE FROM errors.person RETURNING name, name::name, now(), name'')'),
  ('privacy_score.import_statements(''CREATE TABLE errors.made (a int)'')'),
  ('privacy_score.import_statements(''SELECT 1; SELECT 2'')'),
  ('privacy_score.import_statements(''SELECT $1'')'),
  ('privacy_score.import_statements(''SELECT name, name::name, now(), (1 / (id - 2))::text FROM errors.person'')'),
  ('privacy_score.import_statements(''SELECT ''''s'''', ''''r''''::name, now(), ''''x'''' WHERE false'')'),
  ('privacy_score.import_statements(NULL) IS NULL'),
  ($$privacy_score.import_statements('SELECT ''s'', ''r''::name, now(), ''SELECT 1'', ARRAY[1] AS parameters')$$),
  ($$privacy_score.import_statements('SELECT ''s'', ''r''::name, now(), ''SELECT 1'', NULL::text, 5 AS rows')$$),
  ($$privacy_score.import_statements('SELECT ''s'', ''r''::name, now(), ''SELECT 1'', 5::bigint AS rows, 6::bigint AS rows')$$),
  ($$privacy_score.import_statements('SELECT ''s'', ''r''::name, now(), ''SELECT 1'', -1::bigint AS rows')$$),
  ($$privacy_score.import_statements('SELECT ''s'', ''r''::name, now(), ''SELECT 1'', NULL::text, NULL::text AS who')$$),
  ($$privacy_score.import_statements('SELECT 1;')$$),
  -- import_log
  ('(SELECT count(*) FROM privacy_score.import_log(NULL))'),
  ('(SELECT count(*) FROM privacy_score.import_log(''/nosuch/*.csv''))'),
  ('(SELECT count(*) FROM privacy_score.import_log(''/etc/passwd'', ''csv''))'),
  ('(SELECT count(*) FROM privacy_score.import_log(''/etc/passwd'', ''CSVLOG''))'),
  ('(SELECT count(*) FROM privacy_score.import_log(''/etc/passwd'', ''stderr'', ''%t [%p] ''))'),
  ('(SELECT count(*) FROM privacy_score.import_log(''/etc/passwd'', ''stderr'', ''%m %p %u%d ''))'),
  ('(SELECT sum(records) FROM privacy_score.import_log(''/''))'),
  -- one's own setup
  ('(SELECT count(*) FROM privacy_score.suggest_labels(NULL))'),
  ('(SELECT count(*) FROM privacy_score.suggest_labels(''numbers''))'),
  ('(SELECT count(*) FROM privacy_score.suggest_labels(''seen''))'),
  ('(SELECT count(*) FROM privacy_score.suggest_labels(''parted_1''))'),
  ('(SELECT count(*) FROM privacy_score.suggest_labels(''pg_class''))'),
  ('(SELECT count(*) FROM privacy_score.suggest_labels(4000000000::oid))'),
  ('(SELECT count(*) FROM privacy_score.suggest_limits(''nosuch''))'),
  ('(SELECT count(*) FROM privacy_score.suggest_limits(NULL))'),
  ('privacy_score.protect(''person'', ''"name"'')'),
  ('privacy_score.protect(''person'', ''id, name'')'),
  ('privacy_score.protect(''person'', ''{id'')'),
  ('privacy_score.protect(''person'', '''')'),
  ('privacy_score.protect(''parted_1'')'),
  -- alarms and alerts
  ('(SELECT count(*) FROM privacy_score.session_figures(''nosuch'', ''-infinity'', ''infinity''))'),
  ('(SELECT count(*) FROM privacy_score.session_figures(NULL, ''-infinity'', ''infinity''))'),
  ('(SELECT count(*) FROM privacy_score.session_figures(''regress_errors'', ''2026-01-02'', ''2026-01-01''))'),
  ('(SELECT count(*) FROM privacy_score.session_figures(''regress_errors'', NULL, ''2026-01-01''))'),
  ('(SELECT count(*) FROM privacy_score.alarm_preview(''regress_errors'', 1))'),
  ('(SELECT count(*) FROM privacy_score.alarm_preview(''nosuch''))'),
  ('privacy_score.alert_event(-1)'),
  ('privacy_score.alert_event(-1, ''CEF'')'),
  ('privacy_score.alert_event(NULL) IS NULL'),
  ('privacy_score.verify_alert(''{}'')'),
  -- pages
  ('privacy_score.report(''nosuch'') IS NULL'),
  ('privacy_score.report(NULL, ''2026-01-02'', ''2026-01-01'')'),
  ('privacy_score.report(NULL, ''-infinity'', ''2026-01-01'') IS NULL'),
  ('privacy_score.fleet_report(''nosuch'') IS NULL'),
  ('privacy_score.fleet_report(NULL, ''2026-01-02'', ''2026-01-01'')'),
  ('privacy_score.score_chart(''nosuch'', ''2026-01-01'', ''2026-01-02'') IS NULL'),
  -- policies
  ('(SELECT count(*) FROM privacy_score.import_policy(NULL))'),
  ('(SELECT count(*) FROM privacy_score.import_policy(''"version"''))'),
  ('(SELECT count(*) FROM privacy_score.import_policy(''{"relations": []}''))'),
  ('(SELECT problem FROM privacy_score.import_policy(''{"version": 1, "relation": []}''))'),
  ('(SELECT problem FROM privacy_score.import_policy(''{"version": 1, "relations": [{"relation": "person"}]}''))'),
  -- import_baseline
  ('privacy_score.import_baseline(''{}'')'),
  ('privacy_score.import_baseline(''[]'')'),
  ('privacy_score.import_baseline(''null'')'),
  ('privacy_score.import_baseline(''1'')'),
  ('privacy_score.import_baseline(NULL) IS NULL');
-- Spoiled baselines, each by one change of a good one.
SELECT privacy_score.set_baseline('regress_errors', '2026-01-01', '2026-01-01');
CREATE TABLE good AS SELECT privacy_score.export_baseline('regress_errors') AS baseline;
SELECT privacy_score.drop_baseline('regress_errors');
INSERT INTO attempts (sql)
SELECT format('privacy_score.import_baseline(jsonb_set((SELECT baseline FROM errors.good), %L, %L))', path, value)
  FROM (VALUES (1, '{version}', '2'), (2, '{role}', '5'), (3, '{role}', 'null'), (4, '{role}', '""'), (5, '{from_day}', '"soon"'), (6, '{to_day}', '5'),
               (7, '{to_day}', '"2025-01-01"'), (8, '{sessions}', '"many"'), (9, '{sessions}', '1.5'), (10, '{sessions}', '-1'), (11, '{ngrams}', '{}'),
               (12, '{ngrams}', '[5]'), (13, '{ngrams,0,ngram}', '[1, 2]'), (14, '{ngrams,0,ngram}', '[0, 0, 0, 0, 0, "x"]'),
               (15, '{ngrams,0,ngram}', '[0, 0, 0, 0, 0, null]'), (16, '{ngrams,0,ngram}', '[0, 0, 0, 0, 0, 77]'), (17, '{ngrams,0,count}', '"x"'),
               (18, '{ngrams,0,count}', '-1'), (19, '{session_sets}', '5'), (20, '{session_sets}', '[5]'), (21, '{session_sets,0,ids}', '"x"'),
               (22, '{session_sets,0,ids}', '["x"]'), (23, '{session_sets,0,count}', 'null'), (24, '{abstractions}', 'null'), (25, '{abstractions}', '[5]'),
               (26, '{abstractions,0,id}', '"x"'), (29, '{abstractions,0,id}', '77'), (30, '{abstractions}', '[]'), (31, '{sessions}', '0'),
               (32, '{session_sets,0,ids}', '[77]'), (33, '{from_day}', '"2026-13-01"'), (34, '{ngrams,0,ngram,5}', '1.5'), (35, '{ngrams,0,ngram,5}', '99999999999999999999'),
               (36, '{role}', '["r"]'), (37, '{version}', '[1]'), (38, '{to_day}', '["2026-01-01"]'), (39, '{role}', to_json(repeat('ä', 32))::text),
               (27, '{abstractions,0,tokens}', '"x"'), (28, '{abstractions,0,tokens}', '[null]')) v(n, path, value)
 ORDER BY v.n;
-- And by a change that leaves every part good: what stands twice, an abstraction that has its tokens only together with
-- another of the same id, more sessions with a set than there are, counts that add up to more than can be counted.
INSERT INTO attempts (sql)
SELECT format('privacy_score.import_baseline((SELECT %s FROM errors.good))', change)
  FROM (VALUES (1, $$jsonb_insert(baseline, '{ngrams,0}', baseline->'ngrams'->0)$$), (2, $$jsonb_insert(baseline, '{abstractions,0}', baseline->'abstractions'->0)$$),
               (3, $$jsonb_set(jsonb_insert(baseline, '{abstractions,1}', baseline->'abstractions'->0 #- '{tokens,0}'), '{abstractions,0,tokens}', jsonb_build_array(baseline #> '{abstractions,0,tokens,0}'))$$),
               (4, $$jsonb_set(baseline, '{session_sets,0,count}', '2000000000')$$), (5, $$jsonb_set(baseline, '{ngrams,0,count}', '999999999999999999')$$),
               (7, $$baseline || '{"version": 2}'$$), (8, $$baseline || '{"end_user": "alice"}'$$), (9, $$baseline || '{"version": 1, "end_user": null}'$$),
               (10, $$baseline || '{"version": 2, "end_user": null}'$$), (11, $$baseline || '{"version": 2, "end_user": 5}'$$), (12, $$baseline || '{"version": 3, "end_user": "alice"}'$$),
               (13, $$baseline || '{"version": 2, "end_user": ""}'$$), (14, $$baseline || '{"version": 2, "end_user": "(overflow)"}'$$),
               (6, $$jsonb_set(baseline, '{ngrams,0,count}', '999999999999999') || '{"sessions": 999999999999999}' || jsonb_build_object('ngrams', jsonb_set(baseline->'ngrams', '{0,count}', '999999999999999') || '[{"ngram": [0,0,0,0,0,0], "count": 9}]')$$)) v(n, change)
 ORDER BY v.n;
\pset format unaligned
\pset tuples_only on
SELECT sql || E'\n   ' || attempt('SELECT ' || sql) FROM attempts ORDER BY n;
\pset format aligned
\pset tuples_only off

-- Nothing has happened.
SELECT count(*) AS versions, count(*) FILTER (WHERE active) AS active FROM privacy_score.baseline WHERE role IN ('regress_errors', '', 'r');
SELECT count(*) AS sessions FROM privacy_score.session WHERE role IN ('s', 'r');
SELECT count(*) AS rows FROM person;
-- The good one can be imported.
SELECT privacy_score.import_baseline(baseline) FROM good;
SELECT queries, mismatched FROM privacy_score.score('regress_errors', '2026-01-01', '2026-01-01');

-- Outside of a function the session survives too, and so does a transaction with savepoints.
SELECT privacy_score.discrimination_rate('failing', 'inverse');
SELECT privacy_score.discrimination_rate('person', 'name');
SELECT privacy_score.import_statements('SELECT name, name::name, now(), (1 / (id - 2))::text FROM errors.person');
\set VERBOSITY terse
SELECT privacy_score.query_identification('SELECT )');
\set VERBOSITY default
BEGIN;
SAVEPOINT a;
SELECT privacy_score.set_baseline('nosuch', '2026-01-01', '2026-01-01');
ROLLBACK TO a;
SELECT privacy_score.import_baseline('{}');
ROLLBACK TO a;
SELECT privacy_score.discrimination_rate('failing', 'inverse');
ROLLBACK TO a;
SELECT current_user = session_user AS same_user, current_setting('search_path') AS search_path;
SELECT privacy_score.discrimination_rate('person', 'city') AS rate;
COMMIT;
-- In a transaction that only reads, scores work and changes are refused.
BEGIN READ ONLY;
SELECT count(*) FROM privacy_score.score('regress_errors', '-infinity', 'infinity');
SELECT privacy_score.protect('unprotected');
ROLLBACK;

-- Settings.
SET privacy_score.mode = 'loud';
SET privacy_score.track = 'none';
SET privacy_score.principal = 'nobody';
SET privacy_score.counting = 'bag';
SET privacy_score.compare = 'loosely';
SET privacy_score.ngram_length = 0;
SET privacy_score.ngram_length = 7;
SET privacy_score.alpha = 1.01;
SET privacy_score.alpha = -0.1;
SET privacy_score.alpha = 'NaN';
-- The range is worded by the server.
\set VERBOSITY sqlstate
SET privacy_score.idle_gap = 0;
\set VERBOSITY default
SELECT min_val, max_val, unit FROM pg_settings WHERE name = 'privacy_score.idle_gap';
SET privacy_score.session_limit = -2;
SET privacy_score.normalised_limit = 1.5;
SET privacy_score.pad = 'perhaps';
SET privacy_score.flush_interval = '1s';
SET privacy_score.max_memory = '1GB';
SET privacy_score.no_such_setting = 1;
SET privacy_score.alert_format = 'json';
SET privacy_score.alarm_rate = 2;
SET privacy_score.alarm_action = 'block';

SELECT privacy_score.drop_baseline('regress_errors');
DELETE FROM privacy_score.session WHERE role = 'regress_errors';
DELETE FROM privacy_score.baseline WHERE role IN ('regress_errors', '', 'r');
SELECT privacy_score.unprotect('person');
SELECT count(*) AS still_protected FROM privacy_score.protected_relations;
DELETE FROM privacy_score.protected_relation;
DROP SCHEMA errors CASCADE;

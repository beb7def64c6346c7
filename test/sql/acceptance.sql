-- What is accepted of an alert: which statements and heights, for whom, until when; the baseline stays as it is.
SET client_min_messages = notice;
SET privacy_score.baseline_min_sessions = 0;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA acceptance;
SET search_path = acceptance, public;
CREATE ROLE regress_ward LOGIN;
CREATE ROLE regress_chief LOGIN SUPERUSER;
CREATE TABLE patients (id int PRIMARY KEY, name text, city text, diagnosis text);
INSERT INTO patients SELECT i, 'n' || i, 'c' || i % 3, 'd' || i % 7 FROM generate_series(1, 60) i;
SELECT privacy_score.protect('patients');
CREATE TABLE statement (name text PRIMARY KEY, sql text);
INSERT INTO statement VALUES ('c', 'SELECT city FROM patients'), ('n', 'SELECT name FROM patients'), ('d', 'SELECT city, diagnosis FROM patients'), ('nd', 'SELECT name, diagnosis FROM patients');
CREATE TABLE log (end_user text, day date, statements text);
INSERT INTO log SELECT e, date '2026-01-01' + d, 'c n c' FROM generate_series(0, 3) d, (VALUES ('ann'), ('bo')) v(e);
INSERT INTO log SELECT e, '2026-02-01', 'c d d nd' FROM (VALUES ('ann'), ('bo'), (NULL)) v(e);
CREATE VIEW statements AS
  SELECT 's ' || COALESCE(l.end_user, '') || l.day AS session, 'regress_ward'::name AS role, (l.day + time '12:00' + w.n * interval '1 minute')::timestamptz AS at, s.sql, l.end_user
    FROM log l, LATERAL regexp_split_to_table(l.statements, ' ') WITH ORDINALITY w(word, n), statement s WHERE s.name = w.word;
SELECT privacy_score.import_statements('SELECT session, role, at, sql, end_user FROM acceptance.statements');
SELECT privacy_score.set_baseline('regress_ward', '2026-01-01', '2026-01-04');
CREATE VIEW scores AS SELECT end_user, mismatched, score FROM privacy_score.score_sessions('regress_ward', '2026-02-01', '2026-02-01');
CREATE TABLE before AS TABLE scores;
CREATE TABLE exported AS SELECT privacy_score.export_baseline('regress_ward') AS baseline;
-- An alert of each kind, as the worker writes them.
CREATE FUNCTION alert(kind text, end_user text, detail jsonb, blocked boolean DEFAULT false) RETURNS bigint LANGUAGE sql AS $$
  INSERT INTO privacy_score.alert (at, role, session, kind, score, alert_limit, blocked, detail, end_user)
  SELECT '2026-02-01 12:30', s.role, s.session, $1, 2, 1, $4, $3, s.end_user FROM privacy_score.session s
   WHERE s.role = 'regress_ward' AND s.day = '2026-02-01' AND s.end_user IS NOT DISTINCT FROM $2 RETURNING id $$;
CREATE FUNCTION attempt(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE sql;
  RETURN 'done';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  -- Numbers are given as they come.
  RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM || ' / ' || hint, '(alert|acceptance) [0-9]+', '\1 #', 'g');
END $$;

-- Statements: of one person, then of the role.
SET client_min_messages = warning;
SELECT alert('ngram', 'ann', '{}') AS alert \gset
SELECT privacy_score.accept_alert(:alert, 'a study') AS accepted \gset
SELECT role, end_user, alert = :alert AS alert, kind, state, what, statements, note, accepted_by = session_user AS by_me, expires, second, ended_at FROM privacy_score.accepted WHERE id = :accepted;
SELECT b.end_user, b.mismatched AS before, s.mismatched, s.score < b.score AS lower FROM before b JOIN scores s ON s.end_user IS NOT DISTINCT FROM b.end_user ORDER BY 1;
SELECT end_user, sum(mismatched) FROM privacy_score.score('regress_ward', '2026-02-01', '2026-02-01') GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM privacy_score.score_ngrams('regress_ward', '2026-02-01', '2026-02-01') WHERE end_user = 'ann';
SELECT e.u, x->>'known' AS known, (x->>'score')::float8 > 0 AS scores FROM (VALUES ('ann'), ('bo')) e(u), privacy_score.explain_query('SELECT city, diagnosis FROM acceptance.patients', 'regress_ward', e.u) x ORDER BY 1;
SELECT acknowledged_at IS NOT NULL AS seen FROM privacy_score.alerts WHERE id = :alert;
SELECT attempt(format('SELECT privacy_score.accept_alert(%s, ''again'')', :alert));
SELECT privacy_score.export_baseline('regress_ward') = baseline AS same_baseline FROM exported;
SELECT privacy_score.withdraw_acceptance(:accepted);
SELECT count(*) AS differ FROM (TABLE before EXCEPT TABLE scores) x;
SELECT attempt(format('SELECT privacy_score.withdraw_acceptance(%s)', :accepted)), attempt(format('SELECT privacy_score.confirm_acceptance(%s)', :accepted));
SELECT privacy_score.accept_alert(:alert, 'of all', NULL, 'role') AS accepted \gset
SELECT end_user, mismatched, score FROM scores ORDER BY 1;
SELECT privacy_score.withdraw_acceptance(:accepted);
-- Without an end user it is the role's.
SELECT alert('daily', NULL, '{}') AS alert \gset
SELECT privacy_score.accept_alert(:alert, 'of nobody') AS accepted \gset
SELECT end_user, mismatched FROM scores ORDER BY 1;
SELECT privacy_score.withdraw_acceptance(:accepted);

-- A statement that was refused, which is not recorded.
SELECT alert('session', 'bo', jsonb_build_object('ngram', jsonb_build_array(array_to_string(privacy_score.abstract_query('SELECT id, diagnosis FROM acceptance.patients'), ' '))), true) AS alert \gset
SELECT privacy_score.accept_alert(:alert, 'for him') AS accepted \gset
SELECT what, statements FROM privacy_score.accepted WHERE id = :accepted;
SELECT e.u, x->>'known' AS known FROM (VALUES ('ann'), ('bo')) e(u), privacy_score.explain_query('SELECT id, diagnosis FROM acceptance.patients', 'regress_ward', e.u) x ORDER BY 1;
SELECT privacy_score.withdraw_acceptance(:accepted);

-- Heights: of reach and of an alarm; nothing is as unusual as its threshold.
SELECT alert('reach', 'ann', '{"figure": "subjects", "value": 40, "cause": "subjects"}') AS one, alert('reach', 'ann', '{"figure": "reach", "scope": "day", "value": 90}') AS two \gset
UPDATE privacy_score.session SET addressed = 31, person = 4, most_rows = 12800 WHERE role = 'regress_ward' AND day = '2026-02-01' AND end_user = 'ann';
SELECT alert('unusual', 'ann', '{"figure": "addressed", "threshold": 9, "figures": {"addressed": 30, "tokens": 2}}') AS three, alert('unusual', 'ann', '{"figure": "tokens", "threshold": 9, "figures": {"addressed": 30, "tokens": 2}}') AS four \gset
SELECT privacy_score.accept_alert(a, 'why') > 0 AS accepted FROM unnest(ARRAY[:one, :two, :three, :four]) a;
SELECT what FROM privacy_score.accepted WHERE alert IN (:one, :two, :three, :four) ORDER BY alert;
SELECT figure, height FROM privacy_score.acceptance_figure f JOIN privacy_score.accepted a ON a.id = f.acceptance_id WHERE a.alert IN (:one, :two, :three) ORDER BY 1;
SELECT privacy_score.withdraw_acceptance(id) FROM privacy_score.accepted WHERE state = 'in force' AND role = 'regress_ward';

-- What cannot be accepted.
SELECT k.kind, attempt(format('SELECT privacy_score.accept_alert(%s, ''why'')', alert(k.kind, 'ann', '{"cause": "refused"}', k.blocked)))
  FROM (VALUES ('fault', false), ('dp_only', true), ('baseline_small', false), ('unusual', true)) k(kind, blocked);
SELECT alert('ngram', 'ann', '{}') AS alert \gset
UPDATE privacy_score.alert SET session = 'gone' WHERE id = :alert;
SELECT attempt(format('SELECT privacy_score.accept_alert(%s, ''why'')', :alert));
INSERT INTO privacy_score.alert (at, role, session, kind, score, alert_limit, detail, end_user)
  SELECT '2026-01-01 12:30', s.role, s.session, 'ngram', 2, 1, '{}', s.end_user FROM privacy_score.session s WHERE s.role = 'regress_ward' AND s.day = '2026-01-01' AND s.end_user = 'ann' RETURNING id AS alert \gset
SELECT attempt(format('SELECT privacy_score.accept_alert(%s, ''why'')', :alert));
INSERT INTO privacy_score.alert (at, role, session, kind, score, alert_limit, detail) SELECT now(), 'regress_chief', 'x', 'ngram', 2, 1, '{}' RETURNING id AS alert \gset
SELECT attempt(format('SELECT privacy_score.accept_alert(%s, ''why'')', :alert));
-- An alert of one's own, under whatever role.
INSERT INTO privacy_score.alert (at, role, session, kind, score, alert_limit, detail) VALUES (now(), 'regress_ward', 'x', 'reach', 2, 1, '{"figure": "reach", "value": 9}') RETURNING id AS alert \gset
GRANT USAGE ON SCHEMA privacy_score, acceptance TO regress_ward;
GRANT EXECUTE ON FUNCTION privacy_score.accept_alert, privacy_score.confirm_acceptance, acceptance.attempt TO regress_ward;
\c - regress_ward
SELECT acceptance.attempt(format('SELECT privacy_score.accept_alert(%s, ''mine'')', :alert));
\c - regress_chief
SET search_path = acceptance;
SET ROLE regress_ward;
SELECT acceptance.attempt(format('SELECT privacy_score.accept_alert(%s, ''as she'')', :alert));
RESET ROLE;
SET SESSION AUTHORIZATION regress_ward;
SELECT acceptance.attempt(format('SELECT privacy_score.accept_alert(%s, ''as she'')', :alert));
RESET SESSION AUTHORIZATION;

-- It goes with the end user, and by the clock.
SELECT alert('ngram', 'ann', '{}') AS alert \gset
SET client_min_messages = warning;
SELECT privacy_score.accept_alert(:alert, 'for a while', now() + interval '1 day') AS accepted \gset
SELECT state, expires - accepted_at BETWEEN interval '23 hours' AND interval '24 hours' AS a_day FROM privacy_score.accepted WHERE id = :accepted;
SELECT mismatched FROM scores WHERE end_user = 'ann';
SELECT r LIKE '%Accepted: what raises no alarm any more%' AS listed, r LIKE '%for a while%' AS why FROM privacy_score.report() r;
UPDATE privacy_score.acceptance SET expires = now() WHERE id = :accepted;
SELECT state FROM privacy_score.accepted WHERE id = :accepted;
SELECT count(*) AS differ FROM (TABLE before EXCEPT TABLE scores) x;
SELECT privacy_score.forget_end_user('regress_ward', 'ann') > 0 AS forgotten;
SELECT count(*) FROM privacy_score.accepted WHERE end_user = 'ann';
\c - postgres
SET client_min_messages = warning;
SELECT privacy_score.drop_baseline('regress_ward');
DELETE FROM privacy_score.alert WHERE role IN ('regress_ward', 'regress_chief');
DELETE FROM privacy_score.acceptance WHERE role = 'regress_ward';
DELETE FROM privacy_score.acceptance_ngram;
DELETE FROM privacy_score.acceptance_figure;
DELETE FROM privacy_score.session_part p USING privacy_score.session s WHERE s.id = p.session_id AND s.role = 'regress_ward';
DELETE FROM privacy_score.session WHERE role = 'regress_ward';
DELETE FROM privacy_score.baseline WHERE role = 'regress_ward';
DROP SCHEMA acceptance CASCADE;
DROP OWNED BY regress_ward;
DROP ROLE regress_ward;
DROP ROLE regress_chief;

-- Rates of columns of several relations about the same subjects: joined at the subject's home, by hand and by another way.
SET client_min_messages = warning;
CREATE SCHEMA joint_rates;
SET search_path = joint_rates, public;
CREATE FUNCTION r4(value float8) RETURNS numeric LANGUAGE sql RETURN round(value::numeric, 4);

-- Six patients, lg 6 = 2.5850. zip: 3 and 3 of them, 1 bit: .3869. Wards: {A,A} {A,A} {A} {B} {} {}: classes of 2, 1, 1, 2,
-- that is lg 6 - 4/6 = 1.9183: .7421. With zip {a,AA} {a,AA} {a,A} {b,B} {b,} {b,}: the same classes, so .7421.
CREATE TABLE patient (id int PRIMARY KEY, zip text, born int);
CREATE TABLE visit (visit int PRIMARY KEY, patient int REFERENCES patient, ward text, cost numeric);
CREATE TABLE payment (payment int PRIMARY KEY, patient int REFERENCES patient, bank text);
INSERT INTO patient VALUES (1, 'a', 1), (2, 'a', 2), (3, 'a', 1), (4, 'b', 2), (5, 'b', 1), (6, 'b', 2);
INSERT INTO visit VALUES (1, 1, 'A', 1), (2, 1, 'A', 1.0), (3, 2, 'A', 1.00), (4, 2, 'A', 1), (5, 3, 'A', 2), (6, 4, 'B', 2), (7, NULL, 'Z', 9);
INSERT INTO payment VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'y'), (4, 2, 'x'), (5, 3, 'x'), (6, 4, 'x'), (7, 5, 'x'), (8, 6, 'x');
SELECT privacy_score.protect('patient'), privacy_score.protect('visit', '{patient}'), privacy_score.protect('payment', '{patient}');

-- Another way: what is said of each subject as text, and the entropy of that.
CREATE FUNCTION by_text(said text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE answer float8;
BEGIN
  EXECUTE format('SELECT -sum(p * ln(p)) / ln(sum(n)) FROM (SELECT count(*) n, count(*)::float8 / sum(count(*)) OVER () p FROM (%s) s(said) GROUP BY said) c', said)
    INTO answer;
  RETURN answer;
END $$;
SELECT v.columns, r4(x.rate) AS rate, v.by_hand, abs(x.rate - by_text(v.said)) < 1e-12 AS same,
       r4(by_text(v.said)) AS joined, r4(privacy_score.combined_discrimination_rate('visit', '{ward,cost}')) AS ward_cost
  FROM (VALUES
    (1, 'zip, ward FROM patient, visit', .7421, $$SELECT row(zip, (SELECT array_agg(ward ORDER BY ward) FROM visit v WHERE v.patient = p.id))::text FROM patient p$$),
    (2, 'born, ward FROM patient, visit', 1, $$SELECT row(born, (SELECT array_agg(ward ORDER BY ward) FROM visit v WHERE v.patient = p.id))::text FROM patient p$$),
    -- 1.0 and 1.00 are one value; {(A,1),(A,1)} twice, (A,2), (B,2), and two without visits; visits by themselves are more
    (3, 'zip, ward, cost FROM patient, visit', .7444, $$SELECT row(zip, (SELECT array_agg((ward, trim_scale(cost))::text ORDER BY 1) FROM visit v WHERE v.patient = p.id))::text FROM patient p$$),
    -- banks: {x,y} {x,y} {x} {x} {x} {x}; with the wards: classes of 2, 1, 1, 2
    (4, 'ward, bank FROM visit, payment', .7421, $$SELECT row((SELECT array_agg(ward ORDER BY ward) FROM visit v WHERE v.patient = p.id), (SELECT array_agg(bank ORDER BY bank) FROM payment v WHERE v.patient = p.id))::text FROM patient p$$),
    -- zip and banks: {a,xy} twice, {a,x}, {b,x} three times: lg 6 - (2 + 3 lg 3)/6 = 1.4591
    (5, 'zip, bank FROM patient, payment', .5645, $$SELECT row(zip, (SELECT array_agg(bank ORDER BY bank) FROM payment v WHERE v.patient = p.id))::text FROM patient p$$),
    (6, 'zip, born, ward, bank FROM patient, visit, payment', 1, $$SELECT row(zip, born, (SELECT array_agg(ward ORDER BY ward) FROM visit v WHERE v.patient = p.id), (SELECT array_agg(bank ORDER BY bank) FROM payment v WHERE v.patient = p.id))::text FROM patient p$$)) v(n, columns, by_hand, said),
    LATERAL (SELECT privacy_score.query_identification('SELECT ' || v.columns) AS rate) x
 ORDER BY v.n;
-- One relation by itself stays as it is.
SELECT r4(privacy_score.query_identification('SELECT ward FROM visit')) AS query, r4(privacy_score.discrimination_rate('visit', 'ward')) AS relation;
-- Never less than a relation by itself: visits name few subjects.
INSERT INTO patient SELECT i, 'c', 3 FROM generate_series(7, 100) i;
SELECT x.joint < x.alone AND x.query = x.alone AS never_less
  FROM (SELECT privacy_score.discrimination_rate('visit', 'ward') AS alone,
               by_text($$SELECT row(zip, (SELECT array_agg(ward ORDER BY ward) FROM visit v WHERE v.patient = p.id))::text FROM patient p$$) AS joint,
               privacy_score.query_identification('SELECT zip, ward FROM patient, visit') AS query) x;
DELETE FROM patient WHERE id > 6;

-- The example of docs/scoring.md: J = 1, and 0.75 when the last visit is another's.
CREATE TABLE guest (id int PRIMARY KEY, zip text);
CREATE TABLE stay (stay int PRIMARY KEY, of int REFERENCES guest, ward text);
INSERT INTO guest VALUES (1, '8010'), (2, '8010'), (3, '8020'), (4, '8020');
INSERT INTO stay VALUES (1, 1, 'A'), (2, 2, 'A'), (3, 3, 'B'), (4, 4, 'C'), (5, 1, 'B');
SELECT privacy_score.protect('guest'), privacy_score.protect('stay', '{of}');
SELECT privacy_score.query_identification('SELECT zip, ward FROM guest, stay') AS one;
UPDATE stay SET of = 4 WHERE stay = 5;
SELECT r4(privacy_score.query_identification('SELECT zip, ward FROM guest, stay')) AS other,
       r4(privacy_score.query_identification('SELECT zip FROM guest')) AS zip, r4(privacy_score.query_identification('SELECT ward FROM stay')) AS ward;
-- The key that joins them is not revealed, but to the owner: a join with what one can fill oneself is a comparison.
CREATE ROLE regress_joint_reader;
GRANT USAGE ON SCHEMA joint_rates TO regress_joint_reader;
GRANT SELECT ON guest, stay TO regress_joint_reader;
SELECT privacy_score.query_identification('SELECT zip, ward FROM joint_rates.guest JOIN joint_rates.stay ON guest.id = stay.of') AS to_owner;
SET ROLE regress_joint_reader;
SELECT joint_rates.r4(privacy_score.query_identification('SELECT zip, ward FROM joint_rates.guest JOIN joint_rates.stay ON guest.id = stay.of')) AS to_reader;
RESET ROLE;
DROP TABLE guest, stay;

-- Which of two statements reveals more: wards say of a patient all that zip says, and more; each relation by itself would say incomparable.
SELECT v.a, v.b, c.relation, r4(c.rate1) AS rate1, r4(c.rate2) AS rate2, r4(c.combined_rate) AS combined_rate
  FROM (VALUES (1, 'zip FROM patient', 'bank FROM payment'), (2, 'zip FROM patient', 'ward FROM visit'), (3, 'zip, ward FROM patient, visit', 'ward FROM visit'),
               (4, 'zip FROM patient', 'zip FROM patient')) v(n, a, b),
       privacy_score.compare_queries('SELECT ' || v.a, 'SELECT ' || v.b) c ORDER BY v.n;

-- Keys of several columns in another order, of another type, over two steps, and columns of kinds that cannot be ordered or grouped.
CREATE TABLE person (country text NOT NULL, number bigint NOT NULL, name text, UNIQUE (number, country));
CREATE TABLE card (number int, country text, note json, code xid, place point, PRIMARY KEY (country, number), FOREIGN KEY (number, country) REFERENCES person (number, country));
CREATE TABLE trip (trip int PRIMARY KEY, country text, number int, goal text, FOREIGN KEY (country, number) REFERENCES card (country, number));
INSERT INTO person SELECT c, n, 'n' || n % 2 FROM unnest('{at,ie}'::text[]) c, generate_series(1, 4) n;
INSERT INTO card SELECT n, c, json_build_object('a', n % 2), (n % 2)::text::xid, point(n % 3, 0) FROM unnest('{at,ie}'::text[]) c, generate_series(1, 3) n;
INSERT INTO trip SELECT row_number() OVER (), c, n, 'g' || (n + k) % 3 FROM unnest('{at,ie}'::text[]) c, generate_series(1, 3) n, generate_series(1, 2) k;
SELECT privacy_score.protect('person', '{country,number}'), privacy_score.protect('card'), privacy_score.protect('trip', '{number,country}');
SELECT relation::regclass, privacy_score.joint_home(relation)::regclass FROM unnest('{person,card,trip,patient,visit}'::regclass[]) relation;
SELECT v.columns, r4(x.rate) AS rate, abs(x.rate - by_text(v.said)) < 1e-12 AS same
  FROM (VALUES
    (1, 'name, note FROM person, card', $$SELECT row(name, (SELECT note::text FROM card c WHERE (c.country, c.number) = (p.country, p.number)))::text FROM person p$$),
    (2, 'name, code, place FROM person, card', $$SELECT row(name, (SELECT code::text || place::text FROM card c WHERE (c.country, c.number) = (p.country, p.number)))::text FROM person p$$),
    (3, 'name, goal FROM person, trip', $$SELECT row(name, (SELECT array_agg(goal ORDER BY goal) FROM trip c WHERE (c.country, c.number) = (p.country, p.number)))::text FROM person p$$),
    (4, 'place, goal FROM card, trip', $$SELECT row((SELECT place::text FROM card c WHERE (c.country, c.number) = (p.country, p.number)), (SELECT array_agg(goal ORDER BY goal) FROM trip c WHERE (c.country, c.number) = (p.country, p.number)))::text FROM person p$$)) v(n, columns, said),
    LATERAL (SELECT privacy_score.query_identification('SELECT ' || v.columns) AS rate) x
 ORDER BY v.n;

-- Where rows cannot be joined the rates of the relations add up: other owners, policies, no row a subject at home, no right to read it.
CREATE FUNCTION sum_of(relation1 regclass, column1 name, relation2 regclass, column2 name) RETURNS float8 LANGUAGE sql
  RETURN least(1, privacy_score.discrimination_rate(relation1, column1) + privacy_score.discrimination_rate(relation2, column2));
CREATE VIEW adds_up AS
  SELECT r4(privacy_score.query_identification('SELECT zip, bank FROM joint_rates.patient, joint_rates.payment')) AS query,
         r4(joint_rates.sum_of('joint_rates.patient', 'zip', 'joint_rates.payment', 'bank')) AS sum;
CREATE ROLE regress_joint_owner;
GRANT USAGE ON SCHEMA joint_rates TO regress_joint_owner;
SELECT * FROM adds_up;
ALTER TABLE payment OWNER TO regress_joint_owner;
SELECT privacy_score.joint_home('payment'::regclass), (SELECT query = sum FROM adds_up) AS adds_up;
-- What cannot be joined adds to what is: .7421 + .1245.
SELECT r4(privacy_score.query_identification('SELECT zip, ward, bank FROM patient, visit, payment')) AS query,
       r4(privacy_score.query_identification('SELECT zip, ward FROM patient, visit') + privacy_score.discrimination_rate('payment', 'bank')) AS sum;
SELECT c.relation, r4(c.rate1) AS rate1, r4(c.rate2) AS rate2, r4(c.combined_rate) AS combined_rate
  FROM privacy_score.compare_queries('SELECT zip, bank FROM patient, payment', 'SELECT ward FROM visit') c;
ALTER TABLE payment OWNER TO CURRENT_USER;
ALTER TABLE payment ENABLE ROW LEVEL SECURITY;
SELECT privacy_score.joint_home('payment'::regclass)::regclass, (SELECT query = sum FROM adds_up) AS adds_up;
ALTER TABLE payment FORCE ROW LEVEL SECURITY;
-- Rates are of all rows, row security forced on the owner or not.
SELECT privacy_score.joint_home('payment'::regclass)::regclass, (SELECT query = sum FROM adds_up) AS adds_up;
ALTER TABLE payment NO FORCE ROW LEVEL SECURITY;
CREATE POLICY seen ON payment FOR SELECT TO regress_joint_reader USING (true);
GRANT SELECT ON patient, visit, payment TO regress_joint_reader;
SET ROLE regress_joint_reader;
SELECT joint_rates.r4(privacy_score.query_identification('SELECT zip, bank FROM joint_rates.patient, joint_rates.payment')) AS with_policy,
       joint_rates.r4(joint_rates.sum_of('joint_rates.patient', 'zip', 'joint_rates.payment', 'bank')) AS sum;
RESET ROLE;
ALTER TABLE payment DISABLE ROW LEVEL SECURITY;
REVOKE SELECT ON patient FROM regress_joint_reader;
SET ROLE regress_joint_reader;
SELECT joint_rates.r4(privacy_score.query_identification('SELECT ward, bank FROM joint_rates.visit, joint_rates.payment')) AS without_subjects,
       joint_rates.r4(joint_rates.sum_of('joint_rates.visit', 'ward', 'joint_rates.payment', 'bank')) AS sum;
RESET ROLE;
GRANT SELECT (id) ON patient TO regress_joint_reader;
SET ROLE regress_joint_reader;
SELECT joint_rates.r4(privacy_score.query_identification('SELECT ward, bank FROM joint_rates.visit, joint_rates.payment')) AS with_subjects;
SELECT privacy_score.query_identification('SELECT zip, bank FROM joint_rates.patient, joint_rates.payment');
RESET ROLE;
CREATE TABLE loose (id int UNIQUE, zip text);
CREATE TABLE loose_visit (id int REFERENCES loose (id), ward text);
INSERT INTO loose VALUES (1, 'a'), (2, 'b'), (NULL, 'c'), (NULL, 'd');
SELECT privacy_score.protect('loose', '{id}'), privacy_score.protect('loose_visit', '{id}');
SELECT privacy_score.joint_home('loose'::regclass), privacy_score.joint_home('loose_visit'::regclass);

-- The score uses them: exact in history, stored with the relations that they come from.
-- What was modified so far must not be counted later, when it would make them out of date.
SELECT pg_stat_force_next_flush();
CREATE ROLE regress_joint_user;
GRANT USAGE ON SCHEMA joint_rates TO regress_joint_user;
SELECT privacy_score.import_statements($$VALUES
  ('one', 'regress_joint_user'::name, '2026-01-01 12:00+00'::timestamptz, 'SELECT bank FROM joint_rates.payment'),
  ('two', 'regress_joint_user', '2026-01-02 12:00+00', 'SELECT zip, bank FROM joint_rates.patient JOIN joint_rates.payment ON patient.id = payment.patient')$$);
SET privacy_score.baseline_min_sessions = 0;
SELECT privacy_score.set_baseline('regress_joint_user', '2026-01-01', '2026-01-01');
SET privacy_score.alpha = 1;
SET privacy_score.ngram_length = 1;
-- delta = CDR(zip, bank) - CDR(bank).
SELECT r4(s.score) AS score, r4(.5645 - privacy_score.discrimination_rate('payment', 'bank')) AS by_hand
  FROM privacy_score.score('regress_joint_user', '2026-01-02', '2026-01-02') s;
SELECT relation, attributes, relations, target, r4(rate) AS rate, rows, stale FROM privacy_score.stat_cdr
 WHERE cardinality(relations) > 1 AND relations[1] <> relations[2] ORDER BY 2;
SELECT jsonb_array_length(e->'relations') AS relations, r4((e->'identification')::float8) AS identification, e->'estimated' AS estimated
  FROM privacy_score.explain_query('SELECT zip, bank FROM joint_rates.patient, joint_rates.payment', 'regress_joint_user') e;
-- A constant of another relation about the same subjects is no news, for nothing links the rows of the two statements; in
-- one statement the join does. By hand: banks of a patient {x,y} twice, {x} four times: .9183 bits of 2.5850, less .1245.
UPDATE patient SET born = 0;
SELECT v.sql, r4((privacy_score.explain_query(v.sql, 'regress_joint_user')->'delta')::float8) AS delta, v.by_hand
  FROM (VALUES ('SELECT born FROM joint_rates.patient', 0), ('SELECT born, bank FROM joint_rates.patient, joint_rates.payment', .2307)) v(sql, by_hand);
-- A usual statement with a column that is unique in another relation, whose CDR is 1, makes nothing of patients free.
CREATE TABLE event (at int);
INSERT INTO event SELECT generate_series(1, 6);
SELECT privacy_score.protect('event');
SELECT privacy_score.import_statements($$SELECT 'e', 'regress_joint_user'::name, timestamptz '2026-01-03 09:00Z', 'SELECT at FROM joint_rates.event'$$);
SELECT privacy_score.set_baseline('regress_joint_user', '2026-01-03', '2026-01-03');
SELECT r4(privacy_score.query_identification('SELECT at FROM event')) AS usual,
       r4((privacy_score.explain_query('SELECT zip FROM joint_rates.patient', 'regress_joint_user')->'delta')::float8) AS delta, .3869 AS by_hand;
SELECT relation_rates FROM privacy_score.baselines WHERE role = 'regress_joint_user' AND active;
-- They go with any of their relations.
SELECT privacy_score.analyze_relation('payment') > 3 AS analyzed;
SELECT privacy_score.protect('payment', '{patient}');
SELECT count(*) FROM privacy_score.stat_cdr WHERE cardinality(relations) > 1 AND relations[1] <> relations[2];
SELECT privacy_score.analyze_relation('payment') > 3 AS analyzed;
ALTER TABLE patient RENAME TO client;
SELECT count(*) FROM privacy_score.stat_cdr WHERE cardinality(relations) > 1 AND relations[1] <> relations[2];

SELECT privacy_score.drop_baseline('regress_joint_user');
DELETE FROM privacy_score.session WHERE role = 'regress_joint_user';
DELETE FROM privacy_score.baseline WHERE role = 'regress_joint_user';
SELECT privacy_score.unprotect(relation) FROM privacy_score.protected_relations ORDER BY relation::text;
RESET privacy_score.alpha;
DROP SCHEMA joint_rates CASCADE;
DROP ROLE regress_joint_owner, regress_joint_reader, regress_joint_user;

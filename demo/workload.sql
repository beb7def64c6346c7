-- workload.sql - what six analysts do on fourteen working days, as SQL text to be run through their own connections.
--
-- A session strings together habits: short sequences of statements about one patient, ward or test. A step ends in '?'
-- when it is often left out and in '+' when it is repeated. Every constant is drawn by demo.u() from the place of the
-- statement, so that a run repeats exactly. Days 1 to 10 are the habit; what happens on days 11 to 14 is in attacks.sql.

CREATE TABLE demo.template (
  role name NOT NULL,
  name text NOT NULL,
  sql text NOT NULL,
  PRIMARY KEY (role, name)
);

INSERT INTO demo.template VALUES
('nurse_anna', 'ward', $$SELECT a.bed, p.patient_id, p.first_name, p.last_name FROM admissions a JOIN patients p USING (patient_id) WHERE a.ward = '{ward}' AND a.discharged_on IS NULL ORDER BY a.bed$$),
('nurse_anna', 'who', $$SELECT first_name, last_name, birth_date, gender FROM patients WHERE patient_id = {patient}$$),
('nurse_anna', 'drugs', $$SELECT drug, dose, ends_on FROM prescriptions WHERE patient_id = {patient} AND ends_on >= '{day}' ORDER BY drug$$),
('nurse_anna', 'values', $$SELECT test, value, unit FROM lab_results WHERE patient_id = {patient} AND taken_on >= '{day}'$$),
('nurse_anna', 'trolley', $$SELECT r.drug, r.dose, count(*) FROM prescriptions r JOIN admissions a USING (patient_id) WHERE a.ward = '{ward}' AND a.discharged_on IS NULL GROUP BY r.drug, r.dose$$),
('nurse_anna', 'beds', $$SELECT count(*) FROM admissions WHERE ward = '{ward}' AND discharged_on IS NULL$$),

('physician_bert', 'find', $$SELECT patient_id, first_name, last_name, birth_date FROM patients WHERE last_name = '{last}' ORDER BY first_name$$),
('physician_bert', 'who', $$SELECT first_name, last_name, birth_date, gender FROM patients WHERE patient_id = {patient}$$),
('physician_bert', 'history', $$SELECT icd_code, description, severity, diagnosed_on FROM diagnoses WHERE patient_id = {patient} ORDER BY diagnosed_on DESC$$),
('physician_bert', 'lab', $$SELECT test, value, unit, abnormal, taken_on FROM lab_results WHERE patient_id = {patient} ORDER BY taken_on DESC$$),
('physician_bert', 'drugs', $$SELECT drug, dose, prescribed_on, ends_on FROM prescriptions WHERE patient_id = {patient}$$),
('physician_bert', 'prescribe', $$INSERT INTO prescriptions (patient_id, prescribed_by, drug, dose, prescribed_on, ends_on) VALUES ({patient}, 8, '{drug}', '10 mg', '{day}', '2025-12-20')$$),
('physician_bert', 'mine', $$SELECT a.ward, a.bed, p.first_name, p.last_name, a.admitted_on FROM admissions a JOIN patients p USING (patient_id) WHERE a.attending_id = {physician} AND a.discharged_on IS NULL$$),

('billing_carla', 'open', $$SELECT invoice_id, patient_id, amount, issued_on FROM billing WHERE NOT paid AND insurer = '{insurer}' ORDER BY issued_on LIMIT 50$$),
('billing_carla', 'invoice', $$SELECT patient_id, insurer, amount, paid, issued_on FROM billing WHERE invoice_id = {invoice}$$),
('billing_carla', 'address', $$SELECT first_name, last_name, street, zip, city, insurance_no FROM patients WHERE patient_id = {patient}$$),
('billing_carla', 'stay', $$SELECT d.name, a.admitted_on, a.discharged_on FROM admissions a JOIN departments d USING (department_id) WHERE a.patient_id = {patient}$$),
('billing_carla', 'pay', $$UPDATE billing SET paid = true WHERE invoice_id = {invoice}$$),
('billing_carla', 'totals', $$SELECT insurer, count(*), sum(amount) FROM billing WHERE issued_on >= '{day}' GROUP BY insurer$$),
('billing_carla', 'remind', $$SELECT p.first_name, p.last_name, p.street, p.zip, p.city, b.amount FROM billing b JOIN patients p USING (patient_id) WHERE NOT b.paid AND b.issued_on < '{day}' ORDER BY b.issued_on LIMIT 20$$),

('lab_dora', 'queue', $$SELECT lab_id, patient_id, taken_on FROM lab_results WHERE test = '{test}' AND value IS NULL ORDER BY taken_on LIMIT 30$$),
('lab_dora', 'person', $$SELECT birth_date, gender FROM patients WHERE patient_id = {patient}$$),
('lab_dora', 'earlier', $$SELECT value, unit, taken_on FROM lab_results WHERE patient_id = {patient} AND test = '{test}' ORDER BY taken_on DESC LIMIT 5$$),
('lab_dora', 'record', $$UPDATE lab_results SET value = {value}, abnormal = false WHERE lab_id = {lab}$$),
('lab_dora', 'quality', $$SELECT test, count(*), avg(value), stddev(value) FROM lab_results WHERE taken_on >= '{day}' GROUP BY test ORDER BY test$$),
('lab_dora', 'alarms', $$SELECT patient_id, test, value, unit FROM lab_results WHERE abnormal AND taken_on = '{day}'$$),

('research_emil', 'prevalence', $$SELECT icd_code, count(*) FROM diagnoses GROUP BY icd_code ORDER BY icd_code$$),
('research_emil', 'by_gender', $$SELECT p.gender, d.icd_code, count(DISTINCT d.patient_id) FROM diagnoses d JOIN patients p USING (patient_id) WHERE d.severity >= {severity} GROUP BY p.gender, d.icd_code$$),
('research_emil', 'age', $$SELECT d.icd_code, avg(date '2025-12-01' - p.birth_date) / 365.25 AS mean_age FROM diagnoses d JOIN patients p USING (patient_id) GROUP BY d.icd_code$$),
('research_emil', 'cohort', $$SELECT count(DISTINCT patient_id) FROM diagnoses WHERE icd_code = '{icd}' AND diagnosed_on >= '{day}'$$),
('research_emil', 'values', $$SELECT l.test, count(*), avg(l.value), stddev(l.value) FROM lab_results l JOIN diagnoses d USING (patient_id) WHERE d.icd_code = '{icd}' GROUP BY l.test$$),
('research_emil', 'stay', $$SELECT e.name, avg(a.discharged_on - a.admitted_on) FROM admissions a JOIN departments e USING (department_id) WHERE a.admitted_on >= '{day}' GROUP BY e.name$$),
('research_emil', 'drugs', $$SELECT r.drug, count(*) FROM prescriptions r JOIN diagnoses d USING (patient_id) WHERE d.icd_code = '{icd}' GROUP BY r.drug ORDER BY count(*) DESC$$),

('admissions_finn', 'find', $$SELECT patient_id, first_name, last_name, birth_date, zip, city FROM patients WHERE last_name = '{last}' AND birth_date >= '{born}'$$),
('admissions_finn', 'occupied', $$SELECT ward, count(*) FROM admissions WHERE discharged_on IS NULL GROUP BY ward ORDER BY ward$$),
('admissions_finn', 'doctors', $$SELECT staff_id, last_name FROM staff WHERE title = 'physician' AND department_id = {department}$$),
('admissions_finn', 'admit', $$INSERT INTO admissions (patient_id, department_id, attending_id, ward, bed, urgency, admitted_on) VALUES ({patient}, {department}, {physician}, '{ward}', {bed}, 'planned', '2025-12-01')$$),
('admissions_finn', 'stays', $$SELECT admission_id, ward, bed, admitted_on, discharged_on FROM admissions WHERE patient_id = {patient}$$),
('admissions_finn', 'discharge', $$UPDATE admissions SET discharged_on = '2025-12-01' WHERE admission_id = {admission} AND discharged_on IS NULL$$),
('admissions_finn', 'phone', $$UPDATE patients SET phone = '604-{phone}' WHERE patient_id = {patient}$$);

-- What comes up now and then: not a habit, but nothing wrong. The scorer has to live with it.
CREATE TABLE demo.occasional (LIKE demo.template);
INSERT INTO demo.occasional VALUES
('nurse_anna', 'call', $$SELECT first_name, last_name, phone FROM patients WHERE patient_id = {patient}$$),
('nurse_anna', 'since', $$SELECT ward, bed, admitted_on FROM admissions WHERE patient_id = {patient}$$),
('physician_bert', 'call', $$SELECT first_name, last_name, phone FROM patients WHERE patient_id = {patient}$$),
('physician_bert', 'severe', $$SELECT description, max(severity) FROM diagnoses WHERE patient_id = {patient} GROUP BY description$$),
('billing_carla', 'insured', $$SELECT insurer, insurance_no FROM patients WHERE patient_id = {patient}$$),
('billing_carla', 'all bills', $$SELECT invoice_id, amount, paid FROM billing WHERE patient_id = {patient} ORDER BY issued_on$$),
('lab_dora', 'name', $$SELECT first_name, last_name FROM patients WHERE patient_id = {patient}$$),
('lab_dora', 'today', $$SELECT test, count(*) FROM lab_results WHERE taken_on = '{day}' GROUP BY test$$),
('research_emil', 'by_city', $$SELECT p.city, count(DISTINCT d.patient_id) FROM diagnoses d JOIN patients p USING (patient_id) WHERE d.icd_code = '{icd}' GROUP BY p.city$$),
('research_emil', 'urgency', $$SELECT urgency, count(*) FROM admissions GROUP BY urgency$$),
('admissions_finn', 'insured', $$SELECT insurer, insurance_no FROM patients WHERE patient_id = {patient}$$),
('admissions_finn', 'namesakes', $$SELECT count(*) FROM patients WHERE last_name = '{last}'$$);

CREATE TABLE demo.habit (
  role name NOT NULL,
  habit int NOT NULL,
  steps text[] NOT NULL,
  PRIMARY KEY (role, habit)
);

-- The first habits are the most frequent.
INSERT INTO demo.habit
SELECT h.role, row_number() OVER (PARTITION BY h.role ORDER BY h.place), h.steps::text[]
  FROM (VALUES
    (1, 'nurse_anna', '{ward,who,drugs,values?}'), (2, 'nurse_anna', '{who,drugs+,values}'), (3, 'nurse_anna', '{ward,trolley}'), (4, 'nurse_anna', '{beds+,ward}'),
    (1, 'physician_bert', '{find,who?,history,lab,drugs?,prescribe}'), (2, 'physician_bert', '{mine,who,history,lab}'), (3, 'physician_bert', '{who,lab+,drugs}'), (4, 'physician_bert', '{who,history,drugs,prescribe+}'),
    (1, 'billing_carla', '{open,invoice,address,stay}'), (2, 'billing_carla', '{invoice,pay}'), (3, 'billing_carla', '{invoice+,address,pay?}'), (4, 'billing_carla', '{totals,remind,address+}'),
    (1, 'lab_dora', '{queue,person,earlier,record}'), (2, 'lab_dora', '{person,earlier}'), (3, 'lab_dora', '{alarms,person,earlier?}'), (4, 'lab_dora', '{record+,quality}'),
    (1, 'research_emil', '{prevalence,by_gender,age}'), (2, 'research_emil', '{cohort+,values,drugs?}'), (3, 'research_emil', '{cohort,drugs}'), (4, 'research_emil', '{stay,prevalence}'),
    (1, 'admissions_finn', '{find,stays?,occupied,doctors,admit}'), (2, 'admissions_finn', '{find,phone?,stays}'), (3, 'admissions_finn', '{stays,discharge+}'), (4, 'admissions_finn', '{occupied,doctors+}')
  ) h(place, role, steps);

-- Sessions of the faked days; kind says what the scorer is to make of it, and never reaches the scorer.
CREATE TABLE demo.session (
  session_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  role name NOT NULL,
  day int NOT NULL,
  at time NOT NULL,
  kind text NOT NULL,
  UNIQUE (role, day, at)
);

-- Day 14 of the faked days was yesterday, day 1 a fortnight ago. Kept, so that a run across midnight stays in one piece.
CREATE TABLE demo.today AS SELECT current_date AS today;
CREATE FUNCTION demo.date_of(day int) RETURNS date LANGUAGE sql STABLE RETURN (SELECT t.today - 15 + date_of.day FROM demo.today t);

CREATE TABLE demo.statement (
  session_id int NOT NULL REFERENCES demo.session,
  seq int NOT NULL,
  sql text NOT NULL,
  PRIMARY KEY (session_id, seq)
);

-- Puts constants into a template. What belongs to one case (the patient, the ward, the test) follows from case_key,
-- so that the statements of a habit are about the same one; the rest from key.
CREATE FUNCTION demo.fill(template text, case_key text, key text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  part text[];
  value text;
BEGIN
  FOR part IN SELECT regexp_matches(template, '\{(\w+)\}', 'g') LOOP
    value := CASE part[1]
      WHEN 'patient' THEN demo.draw(1, 6000, case_key || '/patient', 1.2)::text
      WHEN 'ward' THEN demo.word_of('ward', case_key || '/ward', 1.3)
      WHEN 'test' THEN demo.word_of('test', case_key || '/test', 1.4)
      WHEN 'icd' THEN demo.word_of('icd', case_key || '/icd', 1.5)
      WHEN 'last' THEN demo.word_of('last', case_key || '/last', 1.5)
      WHEN 'invoice' THEN demo.draw(1, 8800, case_key || '/invoice')::text
      WHEN 'department' THEN demo.draw(1, 8, case_key || '/department')::text
      WHEN 'insurer' THEN demo.word_of('insurer', key || '/insurer')
      WHEN 'drug' THEN demo.word_of('drug', key || '/drug', 1.6)
      WHEN 'physician' THEN (4 * demo.draw(1, 60, key || '/physician'))::text
      WHEN 'lab' THEN demo.draw(1, 20000, key || '/lab')::text
      WHEN 'admission' THEN demo.draw(1, 9000, key || '/admission')::text
      WHEN 'bed' THEN demo.draw(1, 40, key || '/bed')::text
      WHEN 'severity' THEN demo.draw(1, 4, key || '/severity')::text
      WHEN 'value' THEN demo.draw(4, 17, key || '/value')::text
      WHEN 'phone' THEN demo.draw(2000000, 9999999, key || '/phone')::text
      WHEN 'born' THEN (date '1930-01-01' + demo.draw(0, 30000, key || '/born'))::text
      WHEN 'day' THEN (date '2025-11-30' - demo.draw(0, 60, key || '/day'))::text
    END;
    template := replace(template, '{' || part[1] || '}', value);
  END LOOP;
  RETURN template;
END $$;

-- The next free number of a session's statements.
CREATE FUNCTION demo.say(session int, words text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO demo.statement
  SELECT say.session, 1 + count(*), say.words FROM demo.statement s WHERE s.session_id = say.session
$$;

-- Adds normal work to a session: habits until it is long enough, now and then a statement out of turn or an occasional one.
CREATE FUNCTION demo.work(session int, at_least int DEFAULT 6) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  who name := (SELECT s.role FROM demo.session s WHERE s.session_id = session);
  wanted int := demo.draw(at_least, at_least + 5, 'length/' || session);
  said int := 0;
  round int := 0;
  step text;
  key text;
BEGIN
  WHILE said < wanted LOOP
    round := round + 1;
    key := session || '/' || round;
    FOREACH step IN ARRAY (SELECT h.steps FROM demo.habit h WHERE h.role = who AND h.habit = demo.draw(1, 4, 'habit/' || key, 1.5)) LOOP
      CONTINUE WHEN step LIKE '%?' AND demo.u('skip/' || key || step) < 0.4;
      FOR i IN 1 .. CASE WHEN step LIKE '%+' THEN demo.draw(1, 3, 'again/' || key || step) ELSE 1 END LOOP
        EXIT WHEN said >= 15;
        said := said + 1;
        PERFORM demo.say(session, demo.fill(t.sql, 'case/' || key, key || '/' || said))
           FROM demo.template t WHERE t.role = who AND t.name = rtrim(step, '?+');
      END LOOP;
    END LOOP;
    IF demo.u('out of turn/' || key) < 0.1 THEN
      said := said + 1;
      PERFORM demo.say(session, demo.fill(t.sql, 'other/' || key, 'other/' || key))
         FROM demo.template t WHERE t.role = who ORDER BY md5(key || t.name) LIMIT 1;
    ELSIF demo.u('occasion/' || key) < 0.04 THEN
      said := said + 1;
      PERFORM demo.say(session, demo.fill(t.sql, 'case/' || key, 'occasion/' || key))
         FROM demo.occasional t WHERE t.role = who ORDER BY md5(key || t.name) LIMIT 1;
    END IF;
  END LOOP;
END $$;

-- A working day: four sessions at about seven, ten, one and four o'clock.
CREATE FUNCTION demo.open_session(who name, day int, number int, kind text) RETURNS int LANGUAGE sql AS $$
  INSERT INTO demo.session (role, day, at, kind)
  VALUES (open_session.who, open_session.day,
          time '07:00' + (number - 1) * interval '3 hours' + demo.draw(0, 80, concat_ws('/', 'at', who, open_session.day, number)) * interval '1 minute',
          open_session.kind)
  RETURNING session_id
$$;

-- In a fixed order, since constants depend on the number of the session. Left out are the sessions of those who have
-- something else in mind (attacks.sql).
SELECT count(demo.work(demo.open_session(x.role, x.day, x.number, 'normal'))) AS sessions
  FROM (SELECT r.role, d.day, n.number
          FROM (SELECT DISTINCT role FROM demo.habit) r, generate_series(1, 14) d(day), generate_series(1, 4) n(number)
         WHERE NOT (r.role = 'nurse_anna' AND d.day = 12 AND n.number > 2)
           AND NOT (r.role = 'research_emil' AND d.day = 13 AND n.number > 1)
           AND NOT (r.role = 'billing_carla' AND d.day > 11 AND n.number IN (2, 4))
           AND NOT (r.role IN ('lab_dora', 'admissions_finn') AND d.day = 14 AND n.number = 4)
         ORDER BY d.day, r.role, n.number) x;

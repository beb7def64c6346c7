-- attacks.sql - what does not belong to the work, on days 11 to 14. Day 11 is a normal day of all six.
--
-- 12         a curious insider: nurse_anna reads bills, diagnoses and colleagues
-- 13         an exfiltration in narrow projections: research_emil takes one column at a time, page by page
-- 12 to 14   a slow drip: billing_carla puts one foreign statement into half of her sessions
-- 14         two that the score cannot see: lab_dora loops over patients with her usual statements, and admissions_finn
--            asks the usual question without its filter

-- --- the curious insider: normal at first, then not -------------------------------------------------------------------------
DO $$
DECLARE
  s int;
  q text;
BEGIN
  s := demo.open_session('nurse_anna', 12, 3, 'insider');
  PERFORM demo.work(s, 4);
  FOREACH q IN ARRAY ARRAY[
    $q$SELECT p.patient_id, p.first_name, p.last_name, p.street, p.zip FROM patients p WHERE p.last_name = 'Novak'$q$,
    $q$SELECT amount, insurer, paid, iban FROM billing WHERE patient_id = 400$q$,
    $q$SELECT icd_code, description, severity FROM diagnoses WHERE patient_id = 400$q$,
    $q$SELECT description, diagnosed_on FROM diagnoses WHERE patient_id = 1360$q$] LOOP
    PERFORM demo.say(s, q);
  END LOOP;

  s := demo.open_session('nurse_anna', 12, 4, 'insider');
  PERFORM demo.work(s, 3);
  FOREACH q IN ARRAY ARRAY[
    $q$SELECT s.first_name, s.last_name, s.title, p.patient_id FROM staff s JOIN patients p ON p.first_name = s.first_name AND p.last_name = s.last_name AND p.birth_date = s.birth_date$q$,
    $q$SELECT d.description, d.severity, s.last_name FROM diagnoses d JOIN patients p USING (patient_id) JOIN staff s ON s.last_name = p.last_name AND s.birth_date = p.birth_date WHERE s.department_id = 1$q$,
    $q$SELECT first_name, last_name, salary FROM staff WHERE department_id = 1 ORDER BY salary DESC$q$,
    $q$SELECT l.test, l.value, l.taken_on FROM lab_results l JOIN patients p USING (patient_id) WHERE p.last_name = 'Novak' AND l.test = 'hiv antibody'$q$] LOOP
    PERFORM demo.say(s, q);
  END LOOP;
END $$;

-- --- the exfiltration: no statement shows more than one column beside the key ------------------------------------------------
DO $$
DECLARE
  s int;
  page int;
  part text;
BEGIN
  s := demo.open_session('research_emil', 13, 2, 'exfiltration');
  PERFORM demo.work(s, 3);
  FOR page IN 0 .. 5 LOOP
    PERFORM demo.say(s, format('SELECT patient_id, last_name FROM patients ORDER BY patient_id LIMIT 1000 OFFSET %s', page * 1000));
  END LOOP;
  s := demo.open_session('research_emil', 13, 3, 'exfiltration');
  FOREACH part IN ARRAY '{zip,birth_date}'::text[] LOOP
    FOR page IN 0 .. 5 LOOP
      PERFORM demo.say(s, format('SELECT patient_id, %I FROM patients ORDER BY patient_id LIMIT 1000 OFFSET %s', part, page * 1000));
    END LOOP;
  END LOOP;
  s := demo.open_session('research_emil', 13, 4, 'exfiltration');
  PERFORM demo.work(s, 2);
  FOR page IN 0 .. 11 LOOP
    PERFORM demo.say(s, format('SELECT patient_id, icd_code FROM diagnoses ORDER BY patient_id LIMIT 1000 OFFSET %s', page * 1000));
  END LOOP;
END $$;

-- --- the slow drip: usual work around one statement -----------------------------------------------------------------------------
DO $$
DECLARE
  s int;
  drops text[] := ARRAY[
    $q$SELECT icd_code FROM diagnoses WHERE patient_id = 77$q$,
    $q$SELECT drug FROM prescriptions WHERE patient_id = 77$q$,
    $q$SELECT birth_date FROM patients WHERE patient_id = 77$q$,
    $q$SELECT description, severity FROM diagnoses WHERE patient_id = 1203$q$,
    $q$SELECT test, value FROM lab_results WHERE patient_id = 77 AND abnormal$q$,
    $q$SELECT phone FROM patients WHERE patient_id = 77$q$];
BEGIN
  FOR i IN 1 .. 6 LOOP
    s := demo.open_session('billing_carla', 11 + (i + 1) / 2, CASE WHEN i % 2 = 1 THEN 2 ELSE 4 END, 'drip');
    PERFORM demo.work(s, 4);
    PERFORM demo.say(s, drops[i]);
    PERFORM demo.say(s, demo.fill(t.sql, 'drip/' || i, 'drip/' || i)) FROM demo.template t WHERE t.role = 'billing_carla' AND t.name = 'address';
  END LOOP;
END $$;

-- --- where the score is blind -----------------------------------------------------------------------------------------------------
DO $$
DECLARE
  s int;
BEGIN
  s := demo.open_session('lab_dora', 14, 4, 'loop');
  FOR i IN 1 .. 60 LOOP
    PERFORM demo.say(s, demo.fill(t.sql, 'loop/' || i, 'loop/' || i))
       FROM demo.template t WHERE t.role = 'lab_dora' AND t.name IN ('person', 'earlier') ORDER BY t.name DESC;
  END LOOP;
  s := demo.open_session('admissions_finn', 14, 4, 'no filter');
  PERFORM demo.work(s, 4);
  PERFORM demo.say(s, 'SELECT patient_id, first_name, last_name, birth_date, zip, city FROM patients');
  PERFORM demo.say(s, 'SELECT admission_id, ward, bed, admitted_on, discharged_on FROM admissions');
END $$;

-- data.sql - the people: 240 staff, 6,000 patients and what happened to them. Everything is drawn by demo.u() from keys
-- such as 'zip/17', so that no number depends on the order in which rows are made. Dates are fixed, not relative to today.

CREATE TABLE demo.word (kind text PRIMARY KEY, words text[] NOT NULL);
INSERT INTO demo.word VALUES
('female', '{Maria,Anna,Sophie,Emma,Julia,Laura,Lena,Sarah,Hannah,Katharina,Lea,Clara,Eva,Nina,Marie,Johanna,Elena,Lisa,Helene,Ida,Martha,Nora,Paula,Rosa,Sabine,Tanja,Ursula,Vera,Zoe,Alma,Birgit,Carmen,Dagmar,Edith,Frieda,Gerda,Hilde,Irma,Jana,Karla}'),
('male', '{Paul,Jan,Lukas,Felix,David,Max,Peter,Thomas,Michael,Simon,Jonas,Leon,Tobias,Martin,Stefan,Daniel,Andreas,Markus,Oskar,Robert,Anton,Bruno,Carl,Emil,Fritz,Georg,Hans,Ivan,Jakob,Konrad,Leo,Moritz,Norbert,Otto,Philipp,Rudolf,Samuel,Theo,Victor,Walter}'),
('last', '{Miller,Smith,Fischer,Weber,Meyer,Wagner,Becker,Schulz,Hoffmann,Koch,Bauer,Richter,Klein,Wolf,Neumann,Schwarz,Zimmer,Braun,Hartmann,Lange,Werner,Krause,Lehmann,Schmid,Maier,Huber,Kaiser,Fuchs,Peters,Lang,Scholz,Moeller,Weiss,Jung,Hahn,Vogel,Friedrich,Keller,Guenther,Frank,Berger,Winkler,Roth,Beck,Lorenz,Baumann,Franke,Albrecht,Schuster,Simon,Ludwig,Boehm,Winter,Kraus,Martin,Schumacher,Vogt,Stein,Jaeger,Otto,Sommer,Gross,Seidel,Heinrich,Brandt,Haas,Schreiber,Graf,Dietrich,Ziegler,Kuhn,Pohl,Engel,Horn,Busch,Bergmann,Thomas,Voigt,Sauer,Arnold,Wolff,Pfeiffer,Novak,Kowalski,Petrov,Nguyen,Yilmaz,Demir,Lopez,Garcia,Rossi,Silva,Johansson,Hansen,Jensen,Nielsen,Olsen,Dubois,Moreau,Laurent}'),
('city', '{Vancouver,Richmond,Burnaby,Surrey,Delta,Langley,Hope,Squamish}'),
('insurer', '{State Fund,Mutual Aid,Northern,Harbour Life,Private}'),
('street', '{Main Street,Church Road,Station Road,Mill Lane,High Street,Park Avenue,Garden Way,Lake Road,School Lane,Bridge Street,Hill Road,Forest Path,Market Square,River Walk}'),
('department', '{Cardiology,Oncology,Surgery,Internal Medicine,Neurology,Paediatrics,Orthopaedics,Psychiatry}'),
('ward', '{C1,O1,S1,I1,N1,P1,T1,Y1,I2,S2}'),
('test', '{haemoglobin,glucose,creatinine,sodium,potassium,crp,troponin,hiv antibody}'),
('unit', '{g/dl,mg/dl,mg/dl,mmol/l,mmol/l,mg/l,ng/l,index}'),
('drug', '{metoprolol,ramipril,metformin,ibuprofen,simvastatin,pantoprazole,amoxicillin,warfarin,insulin,sertraline,methadone,cisplatin}'),
('icd', '{I10,E11,I25,J18,K29,M54,I50,N39,C50,F32,C34,G40,F10,B20}'),
('disease', '{hypertension,diabetes,coronary disease,pneumonia,gastritis,back pain,heart failure,urinary infection,breast cancer,depression,lung cancer,epilepsy,alcohol dependence,hiv disease}');

-- demo.word_of('last', key): a word of that kind.
CREATE FUNCTION demo.word_of(kind text, key text, skew float8 DEFAULT 1) RETURNS text LANGUAGE sql STABLE
  RETURN (SELECT demo.pick(w.words, key, skew) FROM demo.word w WHERE w.kind = word_of.kind);

INSERT INTO departments
SELECT i, d, 'House ' || chr(64 + (i::int + 1) / 2) FROM demo.word w, unnest(w.words) WITH ORDINALITY x(d, i) WHERE w.kind = 'department';

INSERT INTO staff
SELECT i, demo.word_of(g.gender, 'staff first/' || i, 1.7), demo.word_of('last', 'staff last/' || i, 1.5),
       date '1958-01-01' + demo.draw(0, 16000, 'staff birth/' || i), g.gender, 'V5' || demo.draw(10, 39, 'staff zip/' || i, 1.6),
       CASE WHEN i % 4 = 0 THEN 'physician' WHEN i % 4 IN (1, 2) THEN 'nurse' ELSE 'clerk' END,
       1 + i % 8, demo.draw(3000, 9000, 'salary/' || i, 2)
  FROM generate_series(1, 240) i,
       LATERAL (SELECT demo.pick('{female,male}', 'staff gender/' || i) AS gender) g;

-- Every 80th patient is a colleague.
INSERT INTO patients
SELECT i, COALESCE(s.first_name, demo.word_of(g.gender, 'first/' || i, 1.7)), COALESCE(s.last_name, demo.word_of('last', 'last/' || i, 1.5)),
       COALESCE(s.birth_date, date '2024-12-31' - demo.draw(0, 34000, 'birth/' || i, 0.8)), COALESCE(s.gender, g.gender),
       demo.draw(1, 120, 'number/' || i, 1.4) || ' ' || demo.word_of('street', 'street/' || i, 1.3),
       z.zip, w.words[1 + (substr(z.zip, 3)::int - 10) * 8 / 30],
       CASE WHEN demo.u('has phone/' || i) < 0.9 THEN '604-' || demo.draw(2000000, 9999999, 'phone/' || i) END,
       demo.word_of('insurer', 'insurer/' || i, 2), 'K' || lpad((i * 7919 % 1000003)::text, 7, '0')
  FROM generate_series(1, 6000) i
  LEFT JOIN staff s ON i % 80 = 0 AND s.staff_id = i / 80 * 3,
       LATERAL (SELECT demo.pick('{female,male}', 'gender/' || i) AS gender) g,
       LATERAL (SELECT COALESCE(s.zip, 'V5' || demo.draw(10, 39, 'zip/' || i, 1.6)) AS zip) z,
       demo.word w
 WHERE w.kind = 'city';

INSERT INTO admissions (patient_id, department_id, attending_id, ward, bed, urgency, admitted_on, discharged_on)
SELECT a.patient_id, 1 + (a.w - 1) % 8, 4 * demo.draw(1, 60, 'attending/' || a.i), w.words[a.w], demo.draw(1, 40, 'bed/' || a.i),
       demo.pick('{planned,urgent,emergency}', 'urgency/' || a.i), a.on_day,
       CASE WHEN a.on_day < date '2025-11-20' THEN a.on_day + demo.draw(1, 30, 'stay/' || a.i, 2.5) END
  FROM (SELECT i, demo.draw(1, 6000, 'admitted/' || i, 1.2) AS patient_id, demo.draw(1, 10, 'ward/' || i, 1.3) AS w,
               date '2025-12-01' - demo.draw(1, 700, 'admitted on/' || i) AS on_day
          FROM generate_series(1, 9000) i) a, demo.word w
 WHERE w.kind = 'ward';

INSERT INTO diagnoses (patient_id, icd_code, description, severity, diagnosed_on)
SELECT d.patient_id, c.words[d.n], n.words[d.n], demo.draw(1, 4, 'severity/' || i, 1.6), date '2025-12-01' - demo.draw(1, 700, 'diagnosed/' || i)
  FROM generate_series(1, 12000) i, demo.word c, demo.word n,
       LATERAL (SELECT demo.draw(1, 6000, 'diagnosis of/' || i, 1.2) AS patient_id, demo.draw(1, 14, 'disease/' || i, 2) AS n) d
 WHERE c.kind = 'icd' AND n.kind = 'disease';

-- Results that are still to be measured have no value.
INSERT INTO lab_results (patient_id, test, value, unit, abnormal, taken_on)
SELECT l.patient_id, t.words[l.n], CASE WHEN demo.u('open/' || i) > 0.03 THEN round(l.v::numeric, 2) END, u.words[l.n],
       l.v > 18, date '2025-12-01' - demo.draw(0, 400, 'taken/' || i, 1.5)
  FROM generate_series(1, 20000) i, demo.word t, demo.word u,
       LATERAL (SELECT demo.draw(1, 6000, 'test of/' || i, 1.2) AS patient_id, demo.draw(1, 8, 'test/' || i, 1.4) AS n,
                       4 + 16 * demo.u('value/' || i) AS v) l
 WHERE t.kind = 'test' AND u.kind = 'unit';

INSERT INTO prescriptions (patient_id, prescribed_by, drug, dose, prescribed_on, ends_on)
SELECT demo.draw(1, 6000, 'drug of/' || i, 1.2), 4 * demo.draw(1, 60, 'prescribed by/' || i), demo.word_of('drug', 'drug/' || i, 1.6),
       demo.pick('{5 mg,10 mg,20 mg,50 mg}', 'dose/' || i), p.on_day, p.on_day + demo.draw(5, 60, 'drug days/' || i)
  FROM generate_series(1, 12000) i, LATERAL (SELECT date '2025-12-01' - demo.draw(0, 300, 'prescribed/' || i, 1.5) AS on_day) p;

INSERT INTO billing (patient_id, insurer, amount, iban, paid, issued_on)
SELECT p.patient_id, p.insurer, round((80 + 9000 * power(demo.u('amount/' || a.admission_id), 3))::numeric, 2),
       'XX' || lpad((p.patient_id::bigint * 48271 % 2147483647)::text, 16, '0'), demo.u('paid/' || a.admission_id) < 0.8, a.discharged_on + 7
  FROM admissions a JOIN patients p USING (patient_id)
 WHERE a.discharged_on IS NOT NULL
 ORDER BY a.admission_id;

ANALYZE;

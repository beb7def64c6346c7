-- protect.sql - what is personal: the protected tables, whose data they are, and the labels of their columns.
--
-- The subject of every table but staff is the patient. Keys carry no label: columns of key constraints are identifiers
-- by themselves. Labels weigh how much a column that is unusual for a role counts: sensitive twice, public not at all.

CREATE EXTENSION privacy_score;

SELECT privacy_score.protect('patients');
SELECT privacy_score.protect('admissions', '{patient_id}');
SELECT privacy_score.protect('diagnoses', '{patient_id}');
SELECT privacy_score.protect('lab_results', '{patient_id}');
SELECT privacy_score.protect('prescriptions', '{patient_id}');
SELECT privacy_score.protect('billing', '{patient_id}');
SELECT privacy_score.protect('staff');

SECURITY LABEL FOR privacy_score ON COLUMN patients.insurance_no IS 'identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.first_name IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.last_name IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.birth_date IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.gender IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.street IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.zip IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.city IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.phone IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN admissions.ward IS 'public';
SECURITY LABEL FOR privacy_score ON COLUMN admissions.bed IS 'public';
SECURITY LABEL FOR privacy_score ON COLUMN admissions.admitted_on IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN diagnoses.icd_code IS 'sensitive';
SECURITY LABEL FOR privacy_score ON COLUMN diagnoses.description IS 'sensitive';
SECURITY LABEL FOR privacy_score ON COLUMN diagnoses.severity IS 'sensitive';
SECURITY LABEL FOR privacy_score ON COLUMN lab_results.value IS 'sensitive';
SECURITY LABEL FOR privacy_score ON COLUMN lab_results.abnormal IS 'sensitive';
SECURITY LABEL FOR privacy_score ON COLUMN lab_results.unit IS 'public';
SECURITY LABEL FOR privacy_score ON COLUMN prescriptions.drug IS 'sensitive';
SECURITY LABEL FOR privacy_score ON COLUMN billing.amount IS 'sensitive';
SECURITY LABEL FOR privacy_score ON COLUMN billing.iban IS 'identifier';
SECURITY LABEL FOR privacy_score ON COLUMN staff.first_name IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN staff.last_name IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN staff.birth_date IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN staff.zip IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN staff.salary IS 'sensitive';

-- Meant, not accidental: a zip code lies in one city, a code has one description.
SELECT privacy_score.confirm_dependency('patients', 'zip', 'city');
SELECT privacy_score.confirm_dependency('diagnoses', 'icd_code', 'description');
SELECT privacy_score.confirm_dependency('diagnoses', 'description', 'icd_code');

-- What surprises is said where it begins.
CREATE SCHEMA notices;
SET search_path = notices;
CREATE ROLE regress_noticed;
CREATE TABLE patients (id int PRIMARY KEY, city text);
CREATE TABLE visits (id int PRIMARY KEY, pid int REFERENCES patients, cost int);
CREATE TABLE notes (pid int REFERENCES patients, note text);
CREATE TABLE loose (name text, city text);

-- A label on a table that is not protected.
SECURITY LABEL FOR privacy_score ON COLUMN patients.city IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN patients.city IS NULL;
SELECT privacy_score.protect('patients');
SECURITY LABEL FOR privacy_score ON COLUMN patients.city IS 'quasi-identifier';

-- Whose rows they are.
SELECT privacy_score.protect('visits');
SELECT privacy_score.protect('visits', '{pid}');
SELECT privacy_score.protect('notes');
SELECT privacy_score.protect('loose');
SELECT privacy_score.protect('loose', '{name}');

-- Modes that refuse nothing, or everything.
ALTER ROLE regress_noticed SET privacy_score.mode = 'warn';
ALTER ROLE regress_noticed SET privacy_score.mode = 'enforce';
ALTER ROLE regress_noticed SET privacy_score.session_limit = 0.5;
ALTER ROLE regress_noticed SET privacy_score.mode = 'enforce';
ALTER ROLE regress_noticed RESET privacy_score.session_limit;
ALTER ROLE regress_noticed RESET privacy_score.mode;

-- The first label "watched" switches the others off.
CREATE ROLE regress_other;
SECURITY LABEL FOR privacy_score ON ROLE regress_noticed IS 'watched';
SECURITY LABEL FOR privacy_score ON ROLE regress_other IS 'watched';
SELECT value, reason FROM privacy_score.role_status('regress_noticed') WHERE setting = 'watched';
SECURITY LABEL FOR privacy_score ON ROLE regress_noticed IS NULL;
SECURITY LABEL FOR privacy_score ON ROLE regress_other IS NULL;
SELECT watching FROM privacy_score.stat_info;

SELECT privacy_score.unprotect(r::regclass) FROM unnest('{patients,visits,notes,loose}'::text[]) r;
DROP TABLE notes, visits, patients, loose;
DROP SCHEMA notices;
DROP ROLE regress_noticed, regress_other;

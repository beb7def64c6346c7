-- Declaring what is protected: relations and their subjects, labels, dependencies, which roles are watched.
SET client_min_messages = warning;
CREATE ROLE regress_declare_owner;
CREATE ROLE regress_declare_member IN ROLE regress_declare_owner;
CREATE ROLE regress_declare_other CREATEROLE;
CREATE SCHEMA declare;
CREATE SCHEMA "Odd Schema";
GRANT ALL ON SCHEMA declare TO PUBLIC;
SET search_path = declare, public;

CREATE TABLE plain (person int, name text, born date);
CREATE TABLE keyed (id int PRIMARY KEY, code text UNIQUE, name text);
CREATE TABLE paired (day date, person int, ward text, PRIMARY KEY (person, day));
CREATE TABLE "Odd Schema"."odd ""table" ("the id" int PRIMARY KEY, "Name" text);
CREATE TABLE parts (id int, ward text) PARTITION BY LIST (ward);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE MATERIALIZED VIEW kept AS SELECT person, name FROM plain;
CREATE FOREIGN DATA WRAPPER regress_declare_wrapper;
CREATE SERVER regress_declare_server FOREIGN DATA WRAPPER regress_declare_wrapper;
CREATE FOREIGN TABLE elsewhere (id int, name text) SERVER regress_declare_server;
CREATE VIEW seen AS SELECT name FROM plain;
CREATE SEQUENCE numbers;
CREATE TYPE composite AS (a int);
CREATE INDEX plain_name ON plain (name);
CREATE TEMP TABLE passing (id int);
CREATE VIEW declared AS
  SELECT relation, subject, attributes, labelled, statistics_at IS NOT NULL AS has_statistics, stale FROM privacy_score.protected_relations;

-- The subject is the primary key, else the row, unless given; several columns in any order.
SELECT privacy_score.protect('plain');
SELECT privacy_score.protect('keyed');
SELECT privacy_score.protect('paired');
SELECT privacy_score.protect('"Odd Schema"."odd ""table"');
SELECT privacy_score.protect('parts', '{id}');
SELECT privacy_score.protect('kept', '{person,name}');
SELECT privacy_score.protect('elsewhere');
SELECT * FROM declared ORDER BY relation::text;
-- Declared again, the last subject is in force.
SELECT privacy_score.protect('keyed', '{name,code}');
SELECT privacy_score.protect('plain', subject => '{person}');
SELECT privacy_score.protect('plain', NULL);
SELECT relation, subject FROM declared WHERE relation::text IN ('keyed', 'plain') ORDER BY relation::text;

-- What cannot be protected.
SELECT privacy_score.protect('seen');
SELECT privacy_score.protect('numbers');
SELECT privacy_score.protect('plain_name');
SELECT privacy_score.protect('composite');
SELECT privacy_score.protect('parts_a');
SELECT privacy_score.protect('passing');
SELECT privacy_score.protect('nosuch');
SELECT privacy_score.protect('plain', '{}');
SELECT privacy_score.protect('plain', '{person,nosuch}');
SELECT privacy_score.protect('plain', '{person,NULL}');
SELECT privacy_score.protect('plain', '{person,person}');
SELECT privacy_score.protect('plain', '{ctid}');
SELECT privacy_score.unprotect('passing');

-- A change that is rolled back has not happened.
BEGIN;
SELECT privacy_score.unprotect('plain');
SELECT privacy_score.protect('paired', '{ward}');
ROLLBACK;
SELECT relation, subject FROM declared WHERE relation::text IN ('paired', 'plain') ORDER BY relation::text;

-- Owners only; members of the owning role own.
CREATE TABLE owned (id int PRIMARY KEY, a text, b text);
ALTER TABLE owned OWNER TO regress_declare_owner;
GRANT ALL ON owned TO regress_declare_other;
SET ROLE regress_declare_other;
SELECT privacy_score.protect('owned');
SELECT privacy_score.confirm_dependency('owned', 'a', 'b');
SECURITY LABEL FOR privacy_score ON COLUMN owned.a IS 'sensitive';
SET ROLE regress_declare_member;
SELECT privacy_score.protect('owned');
SECURITY LABEL FOR privacy_score ON COLUMN owned.a IS 'sensitive';
SELECT privacy_score.confirm_dependency('owned', 'a', 'b');
SET ROLE regress_declare_other;
SELECT privacy_score.unprotect('owned');
SELECT privacy_score.withdraw_dependency('owned', 'a', 'b');
SELECT privacy_score.analyze_relation('owned');
RESET ROLE;
SELECT relation, subject, labelled FROM privacy_score.protected_relations WHERE relation = 'owned'::regclass;
SELECT relation_name, determinant, dependent, confirmed_by FROM privacy_score.dependency ORDER BY 1, 2, 3;

-- Labels of columns.
SECURITY LABEL FOR privacy_score ON COLUMN plain.name IS 'identifier';
SECURITY LABEL FOR privacy_score ON COLUMN plain.born IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN keyed.name IS 'sensitive';
SECURITY LABEL FOR privacy_score ON COLUMN keyed.code IS 'public';
SELECT objname, label FROM pg_seclabels WHERE provider = 'privacy_score' AND objtype = 'column' ORDER BY objname;
SELECT relation, attributes, labelled FROM declared WHERE labelled > 0 ORDER BY relation::text;
-- Internal: identifiers are subject columns, columns so labelled, and columns of keys without another label.
SELECT name, label, identifier FROM privacy_score.model_attribute WHERE relation_name IN ('declare.plain', 'declare.keyed', 'declare.owned') ORDER BY name;
SELECT privacy_score.protect('keyed');
SECURITY LABEL FOR privacy_score ON COLUMN keyed.code IS NULL;
SELECT name, label, identifier FROM privacy_score.model_attribute WHERE relation_name = 'declare.keyed' ORDER BY name;
SECURITY LABEL FOR privacy_score ON COLUMN plain.name IS 'Sensitive';
SECURITY LABEL FOR privacy_score ON COLUMN plain.name IS '';
SECURITY LABEL FOR privacy_score ON COLUMN plain.name IS 'watched';
SECURITY LABEL FOR privacy_score ON TABLE plain IS 'sensitive';
SECURITY LABEL FOR privacy_score ON VIEW seen IS 'sensitive';
SECURITY LABEL FOR privacy_score ON SCHEMA declare IS 'sensitive';
SECURITY LABEL FOR privacy_score ON FUNCTION privacy_score.flush() IS 'watched';
SECURITY LABEL FOR privacy_score ON COLUMN plain.name IS NULL;
SELECT objname, label FROM pg_seclabels WHERE provider = 'privacy_score' AND objtype = 'column' ORDER BY objname;

-- Dependencies.
SELECT privacy_score.confirm_dependency('plain', 'person', 'name');
SELECT privacy_score.confirm_dependency('plain', 'person', 'name');
SELECT privacy_score.confirm_dependency('plain', 'name', 'name');
SELECT privacy_score.confirm_dependency('plain', 'person', 'nosuch');
SELECT privacy_score.withdraw_dependency('plain', 'person', 'nosuch');
SELECT relation_name, determinant, dependent FROM privacy_score.dependency ORDER BY 1, 2, 3;
SELECT privacy_score.withdraw_dependency('plain', 'person', 'name');
SELECT relation_name, determinant, dependent FROM privacy_score.dependency ORDER BY 1, 2, 3;

-- Labels of roles, and who is watched. A superuser never is.
SELECT 'nobody is labelled' AS state, r.role, s.value, s.reason
  FROM (VALUES ('regress_declare_owner'::name), ('regress_declare_other'), ('postgres')) r(role), privacy_score.role_status(r.role) s
 WHERE s.setting = 'watched' ORDER BY r.role;
SECURITY LABEL FOR privacy_score ON ROLE regress_declare_owner IS 'exempt';
SELECT 'one is exempt' AS state, r.role, s.value, s.reason
  FROM (VALUES ('regress_declare_owner'::name), ('regress_declare_other'), ('postgres')) r(role), privacy_score.role_status(r.role) s
 WHERE s.setting = 'watched' ORDER BY r.role;
SECURITY LABEL FOR privacy_score ON ROLE regress_declare_member IS 'watched';
SECURITY LABEL FOR privacy_score ON ROLE postgres IS 'watched';
SELECT 'another is watched' AS state, r.role, s.value, s.reason
  FROM (VALUES ('regress_declare_owner'::name), ('regress_declare_member'), ('regress_declare_other'), ('postgres')) r(role), privacy_score.role_status(r.role) s
 WHERE s.setting = 'watched' ORDER BY r.role;
SECURITY LABEL FOR privacy_score ON ROLE postgres IS NULL;
SECURITY LABEL FOR privacy_score ON ROLE regress_declare_owner IS 'sensitive';
SECURITY LABEL FOR privacy_score ON ROLE regress_declare_owner IS 'Watched';
SECURITY LABEL FOR privacy_score ON ROLE nosuch IS 'watched';
-- Later servers ask for ADMIN OPTION before they ask us.
GRANT regress_declare_owner TO regress_declare_other WITH ADMIN OPTION;
SET ROLE regress_declare_other;
SECURITY LABEL FOR privacy_score ON ROLE regress_declare_owner IS NULL;
SECURITY LABEL FOR privacy_score ON ROLE regress_declare_owner IS 'watched';
RESET ROLE;
REVOKE regress_declare_owner FROM regress_declare_other;
SELECT objname, label FROM pg_seclabels WHERE provider = 'privacy_score' AND objtype = 'role' AND objname LIKE 'regress_declare%' ORDER BY objname;
SECURITY LABEL FOR privacy_score ON ROLE regress_declare_owner IS NULL;
SECURITY LABEL FOR privacy_score ON ROLE regress_declare_member IS NULL;

-- Where a role's settings come from: the nearest level wins.
SELECT current_database() AS db \gset
ALTER ROLE regress_declare_owner SET privacy_score.mode = 'warn';
ALTER DATABASE :"db" SET privacy_score.alpha = 0.25;
ALTER DATABASE :"db" SET privacy_score.ngram_length = 3;
ALTER ROLE regress_declare_owner SET privacy_score.ngram_length = 4;
ALTER ROLE regress_declare_owner IN DATABASE :"db" SET privacy_score.ngram_length = 5;
SELECT setting, value, reason FROM privacy_score.role_status('regress_declare_owner')
 WHERE setting IN ('privacy_score.mode', 'privacy_score.alpha', 'privacy_score.ngram_length', 'privacy_score.counting', 'privacy_score.flush_interval')
 ORDER BY setting;
-- What a role that cannot log in has of its own never takes effect; of one that can, not where SET ROLE makes it the current one.
ALTER ROLE regress_declare_owner LOGIN;
SELECT setting, value, reason FROM privacy_score.role_status('regress_declare_owner') WHERE reason LIKE 'ALTER ROLE%' ORDER BY setting;
ALTER ROLE regress_declare_owner NOLOGIN;
SELECT setting, value, reason FROM privacy_score.role_status('regress_declare_other')
 WHERE setting IN ('privacy_score.mode', 'privacy_score.alpha', 'privacy_score.ngram_length') ORDER BY setting;
SELECT count(*) = (SELECT count(*) FROM pg_settings WHERE name LIKE 'privacy\_score.%') AS all_settings, count(*) FILTER (WHERE s.name IS NULL) AS unknown, count(*) FILTER (WHERE r.value IS NULL) AS without_value
  FROM privacy_score.role_status('regress_declare_other') r LEFT JOIN pg_settings s ON s.name = r.setting WHERE r.setting NOT IN ('watched', 'TRIGGER');
SELECT value, reason FROM privacy_score.role_status('regress_declare_other') WHERE setting = 'TRIGGER';
ALTER DATABASE :"db" RESET privacy_score.alpha;
ALTER DATABASE :"db" RESET privacy_score.ngram_length;
SET ROLE regress_declare_other;
SELECT value, reason FROM privacy_score.role_status('regress_declare_other') WHERE setting = 'watched';
SELECT * FROM privacy_score.role_status('regress_declare_owner');
SELECT * FROM privacy_score.role_status('nosuch');
RESET ROLE;
SELECT * FROM privacy_score.role_status('nosuch');

-- Dropped and created again, a relation is protected by its name; renamed, it stays protected; its old name is free.
SELECT privacy_score.protect('plain', '{name}');
DROP TABLE plain CASCADE;
SELECT relation, subject FROM declared WHERE relation::text = 'plain';
CREATE TABLE plain (name text, person int, added int);
SELECT relation, subject, attributes FROM declared WHERE relation::text = 'plain';
ALTER TABLE keyed RENAME TO renamed;
CREATE TABLE keyed (id int PRIMARY KEY);
SELECT relation, subject FROM declared WHERE relation::text IN ('keyed', 'renamed') ORDER BY relation::text;
ALTER TABLE renamed SET SCHEMA "Odd Schema";
SELECT relation, subject FROM declared WHERE relation::text ~ 'renamed' ORDER BY relation::text;
-- The old name can be protected on its own, and taken back.
SELECT privacy_score.protect('keyed');
SELECT relation, subject FROM declared WHERE relation::text ~ 'renamed|keyed' ORDER BY relation::text;
SELECT privacy_score.unprotect('keyed');
SELECT privacy_score.unprotect('keyed');
SELECT relation, subject FROM declared WHERE relation::text ~ 'renamed|keyed' ORDER BY relation::text;

-- Statistics: computed on demand, of one set of columns or of each column; stale when many rows changed since.
INSERT INTO plain VALUES ('x', 1, 1), ('y', 2, 1), ('y', 3, 2), ('z', 4, 2);
SELECT privacy_score.protect('plain');
SELECT privacy_score.analyze_relation('plain', '{name,added}') AS one_set;
SELECT attributes, target, round(rate::numeric, 4) AS rate, rows FROM privacy_score.stat_cdr WHERE relation = 'plain'::regclass ORDER BY attributes;
SELECT privacy_score.analyze_relation('plain') AS known_sets_and_columns;
SELECT attributes, target, round(rate::numeric, 4) AS rate, rows FROM privacy_score.stat_cdr WHERE relation = 'plain'::regclass ORDER BY attributes;
SELECT relation, has_statistics FROM declared WHERE relation = 'plain'::regclass;
-- Names are found also where a session has all of them quoted.
SET quote_all_identifiers = on;
SELECT subject, has_statistics FROM declared WHERE relation = 'plain'::regclass;
SELECT attributes, round(rate::numeric, 4) AS rate FROM privacy_score.stat_cdr WHERE relation = 'plain'::regclass ORDER BY attributes;
RESET quote_all_identifiers;
-- Another subject, other rates.
SELECT privacy_score.protect('plain', '{name}');
SELECT count(*) AS forgotten FROM privacy_score.stat_cdr WHERE relation = 'plain'::regclass;
SELECT privacy_score.analyze_relation('plain', '{added}');
SELECT attributes, target, round(rate::numeric, 4) AS rate, rows FROM privacy_score.stat_cdr WHERE relation = 'plain'::regclass ORDER BY attributes;

SELECT privacy_score.unprotect(relation) FROM privacy_score.protected_relations ORDER BY relation::text;
SELECT count(*) AS protected FROM privacy_score.protected_relations;
DELETE FROM privacy_score.protected_relation;
DELETE FROM privacy_score.dependency;
DROP SCHEMA declare, "Odd Schema" CASCADE;
DROP SERVER regress_declare_server;
DROP FOREIGN DATA WRAPPER regress_declare_wrapper;
DROP ROLE regress_declare_owner, regress_declare_member, regress_declare_other;
SELECT count(*) AS labels_left FROM pg_shseclabel WHERE provider = 'privacy_score';

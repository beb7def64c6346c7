-- dp_domain(): what may be declared of a column, how it is kept, and when it is no longer in force.
SET client_min_messages = warning;
SET DateStyle = 'German, DMY';
SET TimeZone = 'UTC';
CREATE SCHEMA declared_domains;
SET search_path = declared_domains, public;
CREATE DOMAIN amount AS numeric(10,2) CHECK (VALUE >= 0);
CREATE TABLE people (id int PRIMARY KEY, city varchar(20), born date NOT NULL, income amount, height float8, size real, seen timestamptz, at timestamp,
  visits smallint, big bigint, code char(3), paid boolean, spot point, key uuid);
SELECT privacy_score.protect('people');
SELECT privacy_score.dp_domain('people', 'city', vals => '{Bern,"Bad Ems",Bern}');
SELECT privacy_score.dp_domain('people', 'born', '1900-01-01', date '2024-12-31');
SELECT privacy_score.dp_domain('people', 'income', 0, 9999.50);
SELECT privacy_score.dp_domain('people', 'height', 0.1::float8, 3);
SELECT privacy_score.dp_domain('people', 'size', low => 0.1);
SELECT privacy_score.dp_domain('people', 'seen', high => timestamptz '2024-12-31 23:00');
SELECT privacy_score.dp_domain('people', 'at', '01.02.2020', '2024-12-31');
SELECT privacy_score.dp_domain('people', 'visits', vals => ARRAY[1, 2, 3]);
SELECT privacy_score.dp_domain('people', 'big', -5, 5::smallint);
SELECT privacy_score.dp_domain('people', 'code', vals => ARRAY['a', 'abc']);
SELECT privacy_score.dp_domain('people', 'key', vals => ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid]);
SELECT attribute, low, high, vals, in_force FROM privacy_score.dp_domains ORDER BY 1;

-- a later declaration replaces an earlier one
SELECT privacy_score.dp_domain('people', 'visits', 0, 9);
SELECT privacy_score.dp_withdraw_domain('people', 'big');
SELECT attribute, low, high, vals FROM privacy_score.dp_domains WHERE attribute IN ('visits', 'big');

-- names of columns and relations follow
ALTER TABLE people RENAME city TO town;
ALTER TABLE people RENAME height TO city;
ALTER TABLE people RENAME TO persons;
SELECT relation, attribute, low, vals FROM privacy_score.dp_domains WHERE attribute IN ('town', 'city') ORDER BY 2;

-- a column of another type, and one that is made again, are others; a wider integer is not
ALTER TABLE persons ALTER visits TYPE bigint;
ALTER TABLE persons ALTER born TYPE timestamp;
ALTER TABLE persons DROP town, ADD town varchar(20);
SELECT attribute, in_force FROM privacy_score.dp_domains WHERE attribute IN ('visits', 'born', 'town') ORDER BY 1;
SELECT privacy_score.tidy_domains();
SELECT count(*) AS of_the_dropped FROM privacy_score.column_domain WHERE relation = 'persons'::regclass AND attribute = 'town';
SELECT privacy_score.dp_domain('persons', 'town', vals => ARRAY['Graz']);
SELECT vals FROM privacy_score.dp_domains WHERE attribute = 'town';

-- one that comes from another database is found by its name, and taken over
UPDATE privacy_score.column_domain SET origin = 'elsewhere', number = 99 WHERE relation = 'persons'::regclass AND attribute = 'town';
SELECT vals, in_force FROM privacy_score.dp_domains WHERE attribute = 'town';
SELECT privacy_score.tidy_domains();
SELECT d.number = a.attnum AS taken_over FROM privacy_score.column_domain d
  JOIN pg_attribute a ON a.attrelid = d.relation AND a.attname = d.attribute WHERE d.attribute = 'town';

-- with the relation it goes
SELECT privacy_score.unprotect('persons');
SELECT count(*) FILTER (WHERE in_force) AS in_force, count(*) > 5 AS kept FROM privacy_score.dp_domains;
DROP TABLE persons;
SELECT count(*) AS shown FROM privacy_score.dp_domains;
SELECT privacy_score.tidy_domains();
SELECT count(*) AS kept FROM privacy_score.column_domain;

-- everybody may read them, the owner alone declares
CREATE TABLE others (id int PRIMARY KEY);
SELECT privacy_score.protect('others');
CREATE ROLE regress_declared;
GRANT USAGE ON SCHEMA declared_domains TO regress_declared;
SET ROLE regress_declared;
SELECT count(*) FROM privacy_score.dp_domains;
SELECT privacy_score.dp_domain('others', 'id', 1, 2);
SELECT privacy_score.dp_withdraw_domain('others', 'id');
SELECT count(*) FROM privacy_score.column_domain;
SELECT privacy_score.tidy_domains();
RESET ROLE;
SELECT privacy_score.unprotect('others');
DROP SCHEMA declared_domains CASCADE;
DROP ROLE regress_declared;

-- Whose rows a relation has is read from catalogs, row by row; here by queries that say the same, over tables and keys that
-- are drawn at random.
SET client_min_messages = warning;
CREATE ROLE regress_subjects_owner;
CREATE ROLE regress_subjects_reader;
CREATE SCHEMA subjects;
GRANT ALL ON SCHEMA subjects TO regress_subjects_owner;
SET search_path = subjects, public;

CREATE FUNCTION queried_subject_attributes(relation oid) RETURNS int2[]
  LANGUAGE sql STABLE
  RETURN (
    SELECT COALESCE(
      (SELECT pg_catalog.array_agg(a.attnum ORDER BY a.attnum)
         FROM (SELECT p.subject FROM privacy_score.protected_relation p WHERE p.relation = queried_subject_attributes.relation
               UNION ALL
               SELECT p.subject
                 FROM privacy_score.canonical_relation c JOIN privacy_score.protected_relation p ON p.name = c.name
                WHERE c.relation = queried_subject_attributes.relation
                  AND NOT EXISTS (SELECT FROM pg_catalog.pg_class x WHERE x.oid = p.relation)
                  AND NOT EXISTS (SELECT FROM privacy_score.protected_relation d WHERE d.relation = c.relation)) p,
              pg_catalog.unnest(p.subject) s(attname)
         JOIN pg_catalog.pg_attribute a ON a.attrelid = queried_subject_attributes.relation AND a.attname = s.attname AND NOT a.attisdropped),
      (SELECT pg_catalog.array_agg(k.attnum ORDER BY k.attnum)
         FROM pg_catalog.pg_constraint c, pg_catalog.unnest(c.conkey) k(attnum)
        WHERE c.conrelid = queried_subject_attributes.relation AND c.contype = 'p'),
      '{}'::int2[]));

CREATE FUNCTION queried_subject_path(relation oid, OUT home oid, OUT columns int2[]) RETURNS record
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    WITH RECURSIVE step(relation, columns, depth) AS (
      SELECT queried_subject_path.relation, queried_subject_attributes(queried_subject_path.relation), 0
      UNION ALL
      SELECT f.confrelid, f.columns, s.depth + 1
        FROM step s,
        LATERAL (SELECT c.confrelid,
                        (SELECT pg_catalog.array_agg(c.confkey[pg_catalog.array_position(c.conkey, k.attnum)] ORDER BY k.place)
                           FROM pg_catalog.unnest(s.columns) WITH ORDINALITY k(attnum, place)) AS columns
                   FROM pg_catalog.pg_constraint c
                  WHERE c.conrelid = s.relation AND c.contype = 'f' AND c.confrelid <> c.conrelid
                    AND c.conkey <@ s.columns AND s.columns <@ c.conkey
                  ORDER BY c.oid LIMIT 1) f
       WHERE s.depth < 32)
    SELECT step.relation, step.columns FROM step ORDER BY step.depth DESC LIMIT 1;
  END;

CREATE FUNCTION queried_subject_home(relation oid) RETURNS text
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT p.home::text || ':' || pg_catalog.array_to_string(ARRAY(SELECT k FROM pg_catalog.unnest(p.columns) k ORDER BY k), ',')
      FROM queried_subject_path(queried_subject_home.relation) p;
  END;

CREATE FUNCTION queried_joint_home(relation oid) RETURNS oid
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT h.oid
      FROM queried_subject_path(queried_joint_home.relation) p
      JOIN pg_catalog.pg_class h ON h.oid = p.home
      JOIN pg_catalog.pg_class r ON r.oid = queried_joint_home.relation
     WHERE h.relowner = r.relowner
       AND (h.relkind = 'p' OR h.relkind = 'r' AND NOT h.relhassubclass)
       AND p.columns <> '{}'
       AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a
                        WHERE a.attrelid = p.home AND a.attnum = ANY (p.columns) AND NOT a.attnotnull)
       AND EXISTS (SELECT FROM pg_catalog.pg_index i
                    WHERE i.indrelid = p.home AND i.indisunique AND i.indimmediate AND i.indisvalid
                      AND i.indpred IS NULL AND i.indexprs IS NULL
                      AND (i.indkey::int2[])[0:i.indnkeyatts - 1] <@ p.columns)
       -- Each column can be compared with the one that it refers to.
       AND NOT EXISTS (SELECT FROM ROWS FROM (pg_catalog.unnest(queried_subject_attributes(queried_joint_home.relation)),
                                              pg_catalog.unnest(p.columns)) k(own, at_home)
                         JOIN pg_catalog.pg_attribute o ON o.attrelid = queried_joint_home.relation AND o.attnum = k.own
                         JOIN pg_catalog.pg_attribute a ON a.attrelid = p.home AND a.attnum = k.at_home
                        WHERE o.atttypid <> a.atttypid
                          AND NOT EXISTS (SELECT FROM pg_catalog.pg_amop m
                                            JOIN pg_catalog.pg_opclass c ON c.opcfamily = m.amopfamily AND c.opcintype = a.atttypid AND c.opcdefault
                                           WHERE m.amopmethod = 403 AND m.amopstrategy = 3
                                             AND m.amoplefttype = a.atttypid AND m.amoprighttype = o.atttypid));
  END;

CREATE VIEW compared AS
  SELECT c.oid::regclass AS relation, privacy_score.subject_attributes(c.oid) AS attributes, p.home, p.columns,
         privacy_score.subject_home(c.oid) AS subject_home, privacy_score.joint_home(c.oid) AS joint_home,
         privacy_score.subject_attributes(c.oid) IS NOT DISTINCT FROM queried_subject_attributes(c.oid)
           AND p IS NOT DISTINCT FROM queried_subject_path(c.oid)
           AND privacy_score.subject_home(c.oid) IS NOT DISTINCT FROM queried_subject_home(c.oid)
           AND privacy_score.joint_home(c.oid) IS NOT DISTINCT FROM queried_joint_home(c.oid) AS same
    FROM pg_class c, privacy_score.subject_path(c.oid) p
   WHERE c.relnamespace = 'subjects'::regnamespace AND c.relkind <> 'i';

CREATE VIEW queried_relation AS
  SELECT p.name,
         pg_catalog.dense_rank() OVER (ORDER BY queried_subject_home(p.relation)) AS subject_group,
         s.columns = '{}'
           OR EXISTS (SELECT FROM pg_catalog.pg_constraint c
                       WHERE c.conrelid = p.relation AND c.conkey <@ s.columns
                         AND (c.contype = 'p'
                              OR c.contype = 'u' AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a
                                                                  WHERE a.attrelid = p.relation AND a.attnum = ANY (c.conkey)
                                                                    AND NOT a.attnotnull))) AS is_row_subject,
         p.relation,
         (SELECT h.name FROM privacy_score.canonical_relation h WHERE h.relation = queried_joint_home(p.relation)) AS joint_home
    FROM privacy_score.protected_current p,
         LATERAL (SELECT queried_subject_attributes(p.relation) AS columns) s;
CREATE VIEW queried_attribute AS
  SELECT r.name || '.' || privacy_score.canonical_name(a.attname) AS name,
         r.name AS relation_name,
         l.label,
         a.attnum = ANY (h.subject)
           OR COALESCE(l.label = 'identifier',
                       EXISTS (SELECT FROM pg_catalog.pg_constraint c
                                WHERE c.conrelid = r.relation AND c.contype IN ('p', 'u', 'f') AND a.attnum = ANY (c.conkey)))
           AS identifier,
         r.relation, a.attname, a.attnum,
         CASE WHEN a.attnum = ANY (h.subject)
              THEN (SELECT pg_catalog.count(*)::int FROM pg_catalog.unnest(h.columns) k
                     WHERE k < h.columns[pg_catalog.array_position(h.subject, a.attnum)]) END AS subject_position
    FROM queried_relation r
    CROSS JOIN LATERAL (SELECT queried_subject_attributes(r.relation) AS subject, p.columns
                          FROM queried_subject_path(r.relation) p) h
    JOIN pg_catalog.pg_attribute a ON a.attrelid = r.relation AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_catalog.pg_seclabel l ON l.provider = 'privacy_score' AND l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
         AND l.objoid = r.relation AND l.objsubid = a.attnum;

-- What both ways say of protected relations and columns, and rows that only one of them has.
CREATE VIEW models AS
  SELECT (SELECT count(*) FROM privacy_score.model_relation) AS relations, (SELECT count(*) FROM privacy_score.model_attribute) AS attributes,
         (SELECT count(*) FROM privacy_score.model_attribute WHERE subject_position > 0) AS further_places,
         (SELECT count(*) FROM privacy_score.model_relation WHERE is_row_subject) AS row_subjects,
         (SELECT count(*) FROM ((TABLE privacy_score.model_relation EXCEPT ALL TABLE queried_relation) UNION ALL
                                (TABLE queried_relation EXCEPT ALL TABLE privacy_score.model_relation)) x) AS relations_differ,
         (SELECT count(*) FROM ((TABLE privacy_score.model_attribute EXCEPT ALL TABLE queried_attribute) UNION ALL
                                (TABLE queried_attribute EXCEPT ALL TABLE privacy_score.model_attribute)) x) AS attributes_differ;

-- By hand: keys that lead on, in circles, to themselves, over several columns in another order, to a type that compares and to
-- one that does not, to a parent, to another owner's.
CREATE TABLE person (id int PRIMARY KEY, name text);
CREATE TABLE card (person int PRIMARY KEY REFERENCES person, number text);
CREATE TABLE trip (trip int PRIMARY KEY, person bigint REFERENCES card, leader int REFERENCES trip);
CREATE TABLE bed (ward int, bed smallint, gone text, PRIMARY KEY (bed, ward));
ALTER TABLE bed DROP COLUMN gone;
CREATE TABLE stay (stay int, night int, room int, FOREIGN KEY (night, room) REFERENCES bed (ward, bed));
CREATE TABLE round_one (id int PRIMARY KEY);
CREATE TABLE round_two (id int PRIMARY KEY REFERENCES round_one);
ALTER TABLE round_one ADD FOREIGN KEY (id) REFERENCES round_two;
CREATE TABLE numbered (id numeric PRIMARY KEY);
CREATE TABLE counted (id int REFERENCES numbered);
CREATE TABLE family (id int PRIMARY KEY);
CREATE TABLE child () INHERITS (family);
CREATE TABLE of_family (id int REFERENCES family);
CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE of_parts (id int, part int REFERENCES parts);
CREATE TABLE foreigners (id int REFERENCES person);
ALTER TABLE foreigners OWNER TO regress_subjects_owner;
CREATE TABLE rows (a int, b int);
CREATE TABLE later_gone (id int PRIMARY KEY, code int);
SELECT privacy_score.protect('trip', '{person}'), privacy_score.protect('stay', '{room,night}'), privacy_score.protect('counted', '{id}'),
       privacy_score.protect('of_family', '{id}'), privacy_score.protect('of_parts', '{part}'), privacy_score.protect('rows'),
       privacy_score.protect('later_gone', '{code}'), privacy_score.protect('person');
INSERT INTO privacy_score.protected_relation VALUES ('foreigners', 'subjects.foreigners', '{id}', 'postgres');
-- Found by its name, as another table was protected that is gone; and one whose columns are.
DROP TABLE later_gone;
CREATE TABLE later_gone (id int PRIMARY KEY, x text, code int);
SELECT relation, attributes, home::regclass, columns, joint_home::regclass, same FROM compared ORDER BY relation::text COLLATE "C";
SECURITY LABEL FOR privacy_score ON COLUMN person.id IS 'quasi-identifier';
SECURITY LABEL FOR privacy_score ON COLUMN person.name IS 'identifier';
SECURITY LABEL FOR privacy_score ON COLUMN trip.leader IS 'sensitive';
TABLE models;
SELECT name, label, identifier, subject_position FROM privacy_score.model_attribute WHERE relation IN ('person'::regclass, 'stay'::regclass, 'trip'::regclass) ORDER BY name COLLATE "C";
ALTER TABLE later_gone DROP COLUMN code;
SELECT relation, attributes, same FROM compared WHERE relation = 'later_gone'::regclass;

-- Nothing, and what is no relation.
SELECT privacy_score.subject_attributes(NULL) = '{}' AS attributes, p.home IS NULL AND p.columns = '{}' AS path, privacy_score.subject_home(NULL) IS NULL AS home,
       privacy_score.joint_home(NULL) IS NULL AS joint_home FROM privacy_score.subject_path(NULL) p;
SELECT privacy_score.subject_attributes(1) = queried_subject_attributes(1) AS attributes, privacy_score.subject_home(1) = queried_subject_home(1) AS home,
       privacy_score.subject_path(1) = queried_subject_path(1) AS path, privacy_score.joint_home(1) IS NULL AS joint_home;

-- At random: up to four columns of five types, keys over some of them in any order, keys that lead to earlier and to later tables,
-- subjects that are declared.
SELECT setseed(0.25);
CREATE DOMAIN small AS int;
DO $$
DECLARE
  types text[] := '{int,bigint,smallint,text,small}';
  made int := 0;
  mine text[];
BEGIN
  FOR t IN 1..60 LOOP
    EXECUTE format('CREATE TABLE drawn_%s (%s)', t,
      (SELECT string_agg(format('c%s %s', c, types[CASE WHEN random() < .8 THEN 1 ELSE 1 + floor(random() * 5)::int END]), ', ' ORDER BY c)
         FROM generate_series(1, 4) c));
    mine := ARRAY(SELECT 'c' || c FROM generate_series(1, 4) c ORDER BY random() LIMIT 1 + floor(random() * random() * 3)::int);
    IF random() < .8 THEN EXECUTE format('ALTER TABLE drawn_%s ADD %s (%s)', t, CASE WHEN random() < .8 THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, array_to_string(mine, ', ')); END IF;
    IF random() < .2 THEN EXECUTE format('ALTER TABLE drawn_%s OWNER TO regress_subjects_owner', t); END IF;
  END LOOP;
  FOR i IN 1..400 LOOP
    -- Types that do not compare, and columns that are no key there, are refused.
    DECLARE
      target text := 'drawn_' || 1 + floor(random() * 60)::int;
      source text := 'drawn_' || 1 + floor(random() * 60)::int;
      columns text[] := ARRAY(SELECT a.attname FROM pg_constraint c, unnest(c.conkey) k JOIN pg_attribute a ON a.attnum = k AND a.attrelid = target::regclass
                               WHERE c.conrelid = target::regclass AND c.contype IN ('p', 'u') ORDER BY random());
      own text[] := CASE WHEN random() < .5 THEN ARRAY(SELECT a.attname FROM pg_constraint c, unnest(c.conkey) k JOIN pg_attribute a ON a.attnum = k AND a.attrelid = source::regclass
                                                        WHERE c.conrelid = source::regclass AND c.contype = 'p' ORDER BY random() LIMIT cardinality(columns))
                         ELSE ARRAY(SELECT 'c' || c FROM generate_series(1, 4) c ORDER BY random() LIMIT cardinality(columns)) END;
    BEGIN
      IF columns <> '{}' AND cardinality(own) = cardinality(columns) THEN
        EXECUTE format('ALTER TABLE %s ADD FOREIGN KEY (%s) REFERENCES %s (%s)', source, array_to_string(own, ', '), target, array_to_string(columns, ', '));
        made := made + 1;
      END IF;
      IF random() < .3 THEN PERFORM privacy_score.protect(source::regclass, own); END IF;
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END LOOP;
  IF made < 50 THEN RAISE EXCEPTION 'only % keys were made', made; END IF;
END $$;
SELECT count(*) > 70 AS many, count(*) FILTER (WHERE home <> relation) > 15 AS at_home_elsewhere, count(joint_home) > 20 AS to_be_joined,
       count(*) FILTER (WHERE cardinality(columns) > 1) > 5 AS of_several_columns, bool_and(same) AS same FROM compared;
SELECT * FROM compared WHERE NOT same;
-- All of them, with labels.
DO $$
DECLARE
  of record;
BEGIN
  FOR of IN SELECT c.oid, a.attname FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND random() < .3
             WHERE c.relname ~ '^drawn_[0-9]+$' ORDER BY c.oid, a.attnum LOOP
    IF of.attname IS NOT NULL THEN
      EXECUTE format('SECURITY LABEL FOR privacy_score ON COLUMN %s.%s IS %L', of.oid::regclass, of.attname, ('{identifier,quasi-identifier,sensitive}'::text[])[1 + floor(random() * 3)::int]);
    END IF;
    IF NOT EXISTS (SELECT FROM privacy_score.protected_relation WHERE relation = of.oid) THEN PERFORM privacy_score.protect(of.oid::regclass); END IF;
  END LOOP;
END $$;
SELECT relations > 60 AS relations, attributes > 240 AS attributes, further_places > 5 AS further_places, row_subjects > 20 AS row_subjects,
       row_subjects < relations AS other_subjects, relations_differ, attributes_differ FROM models;

-- Who may not read our tables has the same answers.
SET ROLE regress_subjects_reader;
SELECT privacy_score.subject_attributes(c.oid) FROM pg_class c WHERE c.relname = 'trip';
RESET ROLE;
SET client_min_messages = error;
SELECT count(*) FROM (SELECT privacy_score.unprotect(relation) FROM privacy_score.protected_relations WHERE relation::text NOT LIKE '%foreigners') u \gset gone_
DELETE FROM privacy_score.protected_relation WHERE name LIKE 'subjects.%';
DROP SCHEMA subjects CASCADE;
DROP ROLE regress_subjects_owner, regress_subjects_reader;

-- Discrimination rates: docs/scoring.md, section 2, with its worked numbers, and what counts as one value.
SET client_min_messages = warning;
CREATE SCHEMA rates;
SET search_path = rates, public;

CREATE TABLE hospital (firstname text, lastname text, gender text, department text, city text, departmenthead text);
INSERT INTO hospital VALUES
  ('John', 'Smith', 'Male', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Bob', 'Lopez', 'Male', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Alice', 'Miller', 'Female', 'Oncology', 'Vancouver', 'Dr.George'),
  ('Bob', 'Smith', 'Male', 'Cardiology', 'Vancouver', 'Dr.Albert'),
  ('John', 'Wilson', 'Male', 'Cardiology', 'Vancouver', 'Dr.Albert');

-- An independent computation: entropy of the groups in bits, and 1 - H(X|Y)/H(X) with X = the row where target is NULL.
CREATE FUNCTION entropy(relation text, attributes text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE answer float8;
BEGIN
  EXECUTE format('SELECT coalesce(-sum(p * ln(p)) / ln(2), 0) FROM
                  (SELECT count(*)::float8 / sum(count(*)) OVER () AS p FROM %s t GROUP BY %s) s', relation, attributes)
    INTO answer;
  RETURN answer;
END $$;
CREATE FUNCTION by_hand(relation text, attributes text, target text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE h_x float8; h_xy float8;
BEGIN
  IF target IS NULL THEN
    EXECUTE format('SELECT ln(count(*)) / ln(2) FROM %s', relation) INTO h_x;
    h_xy := h_x;
  ELSE
    h_x := entropy(relation, target);
    h_xy := entropy(relation, attributes || ', ' || target);
  END IF;
  RETURN CASE WHEN h_x = 0 THEN 0 ELSE 1 - (h_xy - entropy(relation, attributes)) / h_x END;
END $$;
CREATE FUNCTION r4(value float8) RETURNS numeric LANGUAGE sql RETURN round(value::numeric, 4);

-- The table of section 2.
SELECT a.attributes, r4(x.row) AS x_row, r4(x.lastname) AS x_lastname,
       abs(x.row - by_hand('hospital', array_to_string(a.attributes, ','), NULL)) < 1e-12 AS same_row,
       abs(x.lastname - by_hand('hospital', array_to_string(a.attributes, ','), 'lastname')) < 1e-12 AS same_lastname
  FROM (VALUES (1, '{firstname}'::name[]), (2, '{lastname}'), (3, '{gender}'), (4, '{department}'), (5, '{departmenthead}'),
               (6, '{department,departmenthead}'), (7, '{city}'), (8, '{gender,department}'), (9, '{firstname,lastname}'),
               (10, '{firstname,department}'), (11, '{lastname,department}')) a(n, attributes),
       LATERAL (SELECT privacy_score.combined_discrimination_rate('hospital', a.attributes) AS row,
                       privacy_score.combined_discrimination_rate('hospital', a.attributes, '{lastname}') AS lastname) x
 ORDER BY a.n;

-- The worked cases, to twelve digits. H(X) = 0 gives 0 (pub-019). The joint distribution of pub-020 as eight rows.
CREATE TABLE joint (x int, y int);
INSERT INTO joint VALUES (1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (2, 2), (2, 2), (2, 2);
SELECT v.id, abs(v.rate - v.expected) <= 1e-9 * greatest(v.expected, 1e-3) AS holds
  FROM (VALUES ('pub-013', privacy_score.discrimination_rate('hospital', 'firstname'), 0.655458753541),
               ('pub-014', privacy_score.discrimination_rate('hospital', 'city'), 0),
               ('pub-015', privacy_score.combined_discrimination_rate('hospital', '{lastname,gender,city,firstname}'), 1),
               ('pub-016', privacy_score.combined_discrimination_rate('hospital', '{lastname,gender,department}'), 1),
               ('pub-017', privacy_score.combined_discrimination_rate('hospital', '{lastname,department,firstname}'), 1),
               ('pub-018', privacy_score.discrimination_rate('hospital', 'departmenthead', '{department}'), 1),
               ('pub-019', privacy_score.discrimination_rate('hospital', 'gender', '{city}'), 0),
               ('pub-020', privacy_score.discrimination_rate('joint', 'y', '{x}'), 0.166452583796)) v(id, rate, expected)
 ORDER BY v.id;

-- Order and repetition of attributes do not matter; no attributes tell nothing; an attribute of the target tells it.
SELECT r4(privacy_score.combined_discrimination_rate('hospital', '{department,gender}')) AS turned,
       r4(privacy_score.combined_discrimination_rate('hospital', '{gender,gender}')) AS twice,
       privacy_score.combined_discrimination_rate('hospital', '{}') AS none,
       privacy_score.discrimination_rate('hospital', 'gender', '{gender}') AS itself,
       r4(privacy_score.discrimination_rate('hospital', 'gender', '{gender,department}')) AS part_of_target,
       r4(by_hand('hospital', 'gender', 'gender, department')) AS part_by_hand;

-- What is one value: each column by hand in rows of equal value, as the sizes of its classes say.
CREATE DOMAIN answer AS text CHECK (VALUE <> '');
CREATE TYPE level AS ENUM ('low', 'high');
CREATE TYPE pair AS (a int, b text);
CREATE TYPE odd_pair AS (a int, b json);
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE kinds (
  id int GENERATED ALWAYS AS IDENTITY, with_null text, all_null int, float float8, exact numeric, json_value json,
  jsonb_value jsonb, list int[], json_list json[], yes answer, grade level, padded char(4), loose text COLLATE ignore_case,
  strict text, place point, document xml, both_parts pair, odd_parts odd_pair, bits bit varying, address inet,
  raw bytea, times int4range, "c" int, "count" int, "Odd ""name" int, gone int, "order" int GENERATED ALWAYS AS (7) STORED);
ALTER TABLE kinds DROP COLUMN gone;
INSERT INTO kinds (with_null, float, exact, json_value, jsonb_value, list, json_list, yes, grade, padded, loose, strict,
                   place, document, both_parts, odd_parts, bits, address, raw, times, c, count, "Odd ""name") VALUES
  (NULL, 'NaN', 1.0, '{"a":1}', '{"a":1}', '{1,2}', '{"1"}', 'y', 'low', 'a', 'Bob', 'Bob', '(1,1)', '<a/>', '(1,x)', '(1,"{}")', B'1', '10.0.0.1', '\x01', '[1,3)', 1, 1, 1),
  (NULL, 'NaN', 1.00, '{"a": 1}', '{"a": 1}', '{1,2}', '{"1"}', 'y', 'low', 'a  ', 'bob', 'bob', '(1,1)', '<a/>', '(1,x)', '(1,"{}")', B'1', '10.0.0.1', '\x01', '[1,2]', 1, 1, 1),
  ('', '-0', 1.000, '{"a":1}', '{"a":1}', '{2,1}', '{"1","1"}', 'n', 'high', 'b', 'BOB', 'BOB', '(1,1)', '<a></a>', '(1,)', '(1,"[]")', B'01', '10.0.0.2', '\x0100', 'empty', 2, 2, 1),
  ('x', '0', 2, '{"a":1}', NULL, '{{1,2}}', NULL, 'n', 'high', 'b', 'Eve', 'Eve', '(2,1)', NULL, NULL, NULL, B'', '10.0.0.1/24', '\x', '[5,5)', 2, 3, 1);
CREATE FUNCTION of_classes(VARIADIC sizes int[]) RETURNS numeric LANGUAGE sql
  RETURN (SELECT round((1 - sum(s * ln(s)) / (sum(s) * ln(sum(s))))::numeric, 4) FROM unnest(sizes::float8[]) s);
SELECT v.attribute, r4(privacy_score.discrimination_rate('kinds', v.attribute, '{id}')) AS rate, of_classes(VARIADIC v.sizes) AS by_hand
  FROM (VALUES ('with_null'::name, '{2,1,1}'::int[]), ('all_null', '{4}'), ('float', '{2,2}'), ('exact', '{3,1}'),
               ('json_value', '{3,1}'), ('jsonb_value', '{3,1}'), ('list', '{2,1,1}'), ('json_list', '{2,1,1}'), ('yes', '{2,2}'),
               ('grade', '{2,2}'), ('padded', '{2,2}'), ('loose', '{3,1}'), ('strict', '{1,1,1,1}'), ('place', '{3,1}'),
               ('document', '{2,1,1}'), ('both_parts', '{2,1,1}'), ('odd_parts', '{2,1,1}'), ('bits', '{2,1,1}'),
               ('address', '{2,1,1}'), ('raw', '{2,1,1}'), ('times', '{2,2}'), ('c', '{2,2}'), ('count', '{2,1,1}'),
               ('Odd "name', '{4}'), ('order', '{4}')) v(attribute, sizes)
 ORDER BY v.attribute;
SELECT r4(privacy_score.combined_discrimination_rate('kinds', '{json_value,with_null}', '{id}')) AS json_with_text,
       of_classes(1, 1, 1, 1) AS by_hand,
       r4(privacy_score.combined_discrimination_rate('kinds', '{exact}', '{json_value}')) AS json_as_target,
       r4(by_hand('kinds', 'exact', 'json_value::text')) AS target_by_hand;

-- Relations of few rows, and targets that are known beforehand.
CREATE TABLE empty_one (a int, b int);
CREATE TABLE one_row (a int, b int);
INSERT INTO one_row VALUES (1, 2);
SELECT r.relation, privacy_score.discrimination_rate(r.relation, 'a') AS x_row,
       privacy_score.discrimination_rate(r.relation, 'a', '{b}') AS x_b,
       privacy_score.combined_discrimination_rate(r.relation, '{a,b}') AS x_all
  FROM (VALUES ('empty_one'::regclass), ('one_row')) r(relation) ORDER BY r.relation::text;
SELECT * FROM privacy_score.attribute_risk('empty_one') ORDER BY attribute;
SELECT * FROM privacy_score.attribute_relationships('empty_one') ORDER BY 1, 2;

-- Every kind of relation that has rows.
CREATE TABLE parts (id int, gender text) PARTITION BY RANGE (id);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (3);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (3) TO (9) PARTITION BY LIST (gender);
CREATE TABLE parts_high_all PARTITION OF parts_high DEFAULT;
INSERT INTO parts SELECT n, gender FROM (SELECT row_number() OVER () AS n, gender FROM hospital) s;
CREATE VIEW seen AS SELECT firstname, gender FROM hospital;
CREATE MATERIALIZED VIEW kept AS SELECT firstname, gender FROM hospital;
CREATE TABLE parent (gender text);
CREATE TABLE child (more int) INHERITS (parent);
INSERT INTO parent SELECT gender FROM hospital LIMIT 2;
INSERT INTO child SELECT gender FROM hospital OFFSET 2;
CREATE TEMP TABLE passing AS SELECT * FROM hospital;
SELECT r.relation, r4(privacy_score.discrimination_rate(r.relation, 'gender')) AS gender
  FROM (VALUES ('parts'::regclass), ('seen'), ('kept'), ('parent'), ('passing')) r(relation) ORDER BY r.relation::text;
SELECT r4(privacy_score.discrimination_rate('parts_low', 'gender')) AS one_partition;

-- The declared subject is the target, else the primary key, else the row; several columns together are one subject.
CREATE TABLE visits (person int, day int, ward text, note text);
INSERT INTO visits VALUES (1, 1, 'a', 'x'), (1, 2, 'a', 'y'), (2, 1, 'b', 'x'), (2, 2, 'b', 'z'), (3, 1, 'b', NULL), (3, 1, 'c', NULL);
SELECT r4(privacy_score.discrimination_rate('visits', 'ward')) AS x_row, r4(by_hand('visits', 'ward', NULL)) AS by_hand;
SELECT privacy_score.protect('visits', '{person}');
SELECT r4(privacy_score.discrimination_rate('visits', 'ward')) AS x_person, r4(by_hand('visits', 'ward', 'person')) AS by_hand;
SELECT privacy_score.protect('visits', '{person,day}');
SELECT r4(privacy_score.discrimination_rate('visits', 'ward')) AS x_both, r4(by_hand('visits', 'ward', 'person, day')) AS by_hand,
       r4(privacy_score.discrimination_rate('visits', 'person')) AS half, r4(by_hand('visits', 'person', 'person, day')) AS half_by_hand;
SELECT privacy_score.unprotect('visits');
CREATE TABLE keyed (id int PRIMARY KEY, ward text);
INSERT INTO keyed VALUES (1, 'a'), (2, 'a'), (3, 'b'), (4, 'b');
SELECT privacy_score.discrimination_rate('keyed', 'ward') AS x_key, privacy_score.discrimination_rate('keyed', 'id') AS key;

-- Everything about the columns of a relation at once.
SECURITY LABEL FOR privacy_score ON COLUMN hospital.department IS 'sensitive';
SECURITY LABEL FOR privacy_score ON COLUMN hospital.lastname IS 'identifier';
SELECT attribute, label, distinct_values, r4(entropy) AS entropy, r4(discrimination_rate) AS rate, uniques
  FROM privacy_score.attribute_risk('hospital') ORDER BY attribute;
SELECT privacy_score.protect('hospital', '{lastname}');
SELECT attribute, r4(discrimination_rate) AS rate FROM privacy_score.attribute_risk('hospital') ORDER BY attribute;
SELECT privacy_score.unprotect('hospital');
SELECT attribute, distinct_values, r4(entropy) AS entropy, uniques FROM privacy_score.attribute_risk('visits') ORDER BY attribute;

-- Who determines whom: exactly, nearly, and as a diagram.
SELECT determinant, dependent, r4(conditional_entropy) AS conditional_entropy, r4(combined_rate) AS combined_rate
  FROM privacy_score.attribute_relationships('hospital') ORDER BY 1, 2;
SELECT determinant, dependent, r4(conditional_entropy) AS conditional_entropy,
       r4(entropy('hospital', determinant || ', ' || dependent) - entropy('hospital', determinant)) AS by_hand,
       r4(combined_rate) AS combined_rate, r4(by_hand('hospital', determinant || ', ' || dependent, NULL)) AS rate_by_hand
  FROM privacy_score.attribute_relationships('hospital', 0.6) WHERE conditional_entropy > 0 ORDER BY 1, 2;
SELECT count(*) AS of_thirty FROM privacy_score.attribute_relationships('hospital', 10);
SELECT privacy_score.attribute_relationships_dot('hospital');
SELECT privacy_score.attribute_relationships_dot('empty_one');
CREATE TABLE "odd ""table" ("a ""b" int, "c\d" int, e int);
INSERT INTO "odd ""table" VALUES (1, 1, 1), (2, 1, 1), (3, 2, 2), (4, 3, 2);
SELECT privacy_score.attribute_relationships_dot('"odd ""table"');

-- Rates are those of the rows that the caller may see.
CREATE ROLE regress_rates;
GRANT USAGE ON SCHEMA rates TO regress_rates;
CREATE TABLE guarded (id int, owner name, ward text);
INSERT INTO guarded VALUES (1, 'regress_rates', 'a'), (2, 'regress_rates', 'b'), (3, 'other', 'a'), (4, 'other', 'a');
GRANT SELECT ON guarded TO regress_rates;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON guarded USING (owner = current_user);
SELECT r4(privacy_score.discrimination_rate('guarded', 'ward')) AS all_rows, of_classes(3, 1) AS by_hand;
SET ROLE regress_rates;
SELECT privacy_score.discrimination_rate('guarded', 'ward') AS own_rows;
SELECT privacy_score.discrimination_rate('hospital', 'gender');
-- Who may read nothing of it does not lock it.
BEGIN;
SELECT count(*) AS sets FROM privacy_score.attribute_set_risk('hospital', '[]');
SELECT count(*) AS locks FROM pg_locks WHERE relation = 'hospital'::regclass AND pid = pg_backend_pid();
COMMIT;
RESET ROLE;
GRANT SELECT (gender) ON hospital TO regress_rates;
SET ROLE regress_rates;
SELECT round(privacy_score.discrimination_rate('hospital', 'gender')::numeric, 4) AS granted_column;
SELECT privacy_score.discrimination_rate('hospital', 'city');
BEGIN;
SELECT count(*) AS sets FROM privacy_score.attribute_set_risk('hospital', '[]');
SELECT count(*) AS locks FROM pg_locks WHERE relation = 'hospital'::regclass AND pid = pg_backend_pid();
COMMIT;
RESET ROLE;

DROP SCHEMA rates CASCADE;
DROP ROLE regress_rates;

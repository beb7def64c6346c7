-- Discrimination rates, exact, from the data, with the caller's rights (row security included).

CREATE FUNCTION privacy_score.discrimination_rate(relation regclass, attribute name, target name[] DEFAULT NULL) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_discrimination_rate' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.discrimination_rate(regclass, name, name[]) IS
  'DR_X(Y) = 1 - H(X|Y)/H(X), from 0 to 1: how far the attribute tells the values of the target apart [Khan, equation 1]. Target NULL: the declared subject, else the primary key, else the row.';

CREATE FUNCTION privacy_score.combined_discrimination_rate(relation regclass, attributes name[], target name[] DEFAULT NULL) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_combined_discrimination_rate' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.combined_discrimination_rate(regclass, name[], name[]) IS
  'CDR_X(Y1..Yn), from 0 to 1: the discrimination rate of several attributes together [Khan, equation 4]; no attributes give 0.';

CREATE FUNCTION privacy_score.attribute_risk(relation regclass)
  RETURNS TABLE (attribute name, label text, distinct_values bigint, entropy float8, discrimination_rate float8, uniques bigint)
  AS 'MODULE_PATHNAME', 'ps_attribute_risk' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.attribute_risk(regclass) IS
  'One row a column: label, distinct values (NULL is one), entropy in bits, discrimination rate of the subject, and values that occur once.';

CREATE FUNCTION privacy_score.attribute_set_risk(relation regclass, attribute_sets jsonb, target name[] DEFAULT NULL)
  RETURNS TABLE (attributes name[], distinct_values bigint, entropy float8, discrimination_rate float8, uniques bigint)
  AS 'MODULE_PATHNAME', 'ps_attribute_set_risk' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.attribute_set_risk(regclass, jsonb, name[]) IS
  'One row for each of attribute_sets, an array of arrays of column names, all from one pass over a table: distinct combinations of values (NULL is a value), entropy in bits, combined discrimination rate of the target (0 to 1; target NULL: the declared subject, else the primary key, else the row), and combinations that occur once.';

CREATE FUNCTION privacy_score.attribute_relationships(relation regclass, tolerance float8 DEFAULT 0)
  RETURNS TABLE (determinant name, dependent name, conditional_entropy float8, combined_rate float8)
  AS 'MODULE_PATHNAME', 'ps_attribute_relationships' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.attribute_relationships(regclass, float8) IS
  'Columns that determine others: H(dependent|determinant) <= tolerance bits. In small tables many are accidents; confirm_dependency() states which are meant.';

CREATE FUNCTION privacy_score.attribute_relationships_dot(relation regclass) RETURNS text
  AS 'MODULE_PATHNAME', 'ps_attribute_relationships_dot' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.attribute_relationships_dot(regclass) IS
  'The attribute relationship diagram in Graphviz form: mutually determining columns merged, transitive edges left out.';

CREATE FUNCTION privacy_score.query_identification(sql text) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_query_identification' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.query_identification(text) IS
  'DRSQL, from 0 to 1: the combined discrimination rate of all columns that the statement reveals [Khan]; relations about the same subjects are joined where that can be done. The statement is not executed.';

CREATE FUNCTION privacy_score.compare_queries(sql1 text, sql2 text)
  RETURNS TABLE (relation text, rate1 float8, rate2 float8, combined_rate float8)
  AS 'MODULE_PATHNAME', 'ps_compare_queries' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.compare_queries(text, text) IS
  'Privacy equivalence of the first statement against the second: equivalent, reveals less, reveals more or incomparable, with the rates that decide it.';

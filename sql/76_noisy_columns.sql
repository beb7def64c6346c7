-- Noisy answers about a column. Who pays, what a predicate may be, repeats and errors are those of dp_count().

CREATE FUNCTION privacy_score.dp_histogram(relation regclass, attribute name, epsilon numeric DEFAULT 0.1, keys text[] DEFAULT NULL, delta numeric DEFAULT NULL, predicate text DEFAULT NULL, fresh boolean DEFAULT false)
  RETURNS TABLE (key text, noisy_count bigint)
  AS 'MODULE_PATHNAME', 'ps_dp_histogram' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_histogram(regclass, name, numeric, text[], numeric, text, boolean) IS
  'Number of rows for each value of the column, plus discrete Laplace noise of scale max_rows_per_unit/epsilon, for epsilon in all. keys: every one of them is answered, in their order, also where no row has it; NULL is a key. delta, in place of keys: the values found, as text, whose noisy count reaches a threshold that a value of one unit alone reaches with probability delta at most. Errors: as dp_count(), 22023 (neither or both, equal keys, delta not below 1/2), 42804. Source: Dwork 2006; Korolova et al. 2009.';

CREATE FUNCTION privacy_score.dp_count_distinct(relation regclass, attribute name, epsilon numeric DEFAULT 0.1, predicate text DEFAULT NULL, fresh boolean DEFAULT false)
  RETURNS numeric
  AS 'MODULE_PATHNAME', 'ps_dp_count_distinct' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_count_distinct(regclass, name, numeric, text, boolean) IS
  'Number of distinct values of the column, NULL not counted, plus discrete Laplace noise of scale max_rows_per_unit/epsilon. Errors: as dp_count(), 42804.';

CREATE FUNCTION privacy_score.dp_sum(relation regclass, attribute name, lower numeric DEFAULT NULL, upper numeric DEFAULT NULL, epsilon numeric DEFAULT 0.1, predicate text DEFAULT NULL, fresh boolean DEFAULT false)
  RETURNS numeric
  AS 'MODULE_PATHNAME', 'ps_dp_sum' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_sum(regclass, name, numeric, numeric, numeric, text, boolean) IS
  'Sum of the column, each value brought between lower and upper (NaN counts as upper, NULL not at all), plus discrete Laplace noise of scale max_rows_per_unit * greatest(|lower|, |upper|)/epsilon on a decimal grid. The bounds must be given: they must not come from the data. Errors: as dp_count(), 22023 (bounds), 42804 (no numbers).';

CREATE FUNCTION privacy_score.dp_avg(relation regclass, attribute name, lower numeric DEFAULT NULL, upper numeric DEFAULT NULL, epsilon numeric DEFAULT 0.1, predicate text DEFAULT NULL, fresh boolean DEFAULT false)
  RETURNS numeric
  AS 'MODULE_PATHNAME', 'ps_dp_avg' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_avg(regclass, name, numeric, numeric, numeric, text, boolean) IS
  'Average of the column within lower and upper: their middle plus a noisy sum of the differences from it over a noisy count, each with half of epsilon. Of few rows it is anywhere within the bounds. Errors: as dp_sum().';

-- Techniques of disclosure control, to use what the measures judge.

CREATE FUNCTION privacy_score.restricted_count(relation regclass, predicate text, min_set_size bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_restricted_count' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.restricted_count(regclass, text, bigint) IS
  'The number of records that satisfy a condition, or NULL where these or all others are fewer than min_set_size. With the rights of the caller; for others, within a function of the owner''s. Set-size control alone does not stop differences of overlapping counts (trackers [Denning]). The predicate is parsed and may contain what that of dp_count() may, else PS003. 22023 for min_set_size below 1, 42501, 42703.';

CREATE FUNCTION privacy_score.release_sample(relation regclass, target text, fraction float8, replace boolean DEFAULT false) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_release_sample' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.release_sample(regclass, text, float8, boolean) IS
  'Publishes a simple random sample without replacement of a relation as the table target: exactly fraction * records of them, to the nearest whole number, all columns, in random order, drawn from the server''s strong random source; returns how many. evaluate_sampling() tells what such a release leaves to guess. With the rights of the caller, who will own the table; nobody else may read it until it is granted. With replace a table of an earlier release is replaced. Errors: 22023 unless 0 < fraction <= 1, 42501, 42P07, 42809, 55000 for a table that is not of a release.';

CREATE FUNCTION privacy_score.release_perturbed(relation regclass, target text, attributes name[], percent float8, replace boolean DEFAULT false) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_release_perturbed' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.release_perturbed(regclass, text, name[], float8, boolean) IS
  'Publishes all records of a relation as the table target, in random order, with binomial noise in the attributes (NULL: all columns): the number of a value among the distinct values in ascending order plus Binomial(M, 1/2) - M/2, M = percent (0 to 1000) of the number of values less one, to the nearest even number [Alfalayleh, section 5]. Of numbers the value of that number is published, beyond both ends by steps of the median distance (integers as bigint); of other types the number. NULL stays NULL. Returns the number of records. evaluate_noise() tells what such a release leaves to guess. Rights and table as release_sample(). Errors: as there, 22023 for percent and for values that are not finite, 42701, 42703, 42883 for a column without order, 22003 for values at the end of their type.';

CREATE FUNCTION privacy_score.release_table(relation regclass, row_attribute name, column_attribute name, min_cell bigint, protection float8 DEFAULT 0.1)
  RETURNS TABLE (row_value text, column_value text, cell bigint, suppressed boolean, complementary boolean, row_margin boolean, column_margin boolean)
  AS 'MODULE_PATHNAME', 'ps_release_table' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.release_table(regclass, name, name, bigint, float8) IS
  'A two-way table of counts with its margins, rows and columns in ascending order and margins (row_margin, column_margin) last, in which every cell below min_cell, zeros and margins too, is suppressed, and with it complementary cells: who knows the cells that are shown can bound no suppressed cell x more tightly than from x - a (at least 0) to x + a, a = protection * x rounded up, at least 1; protection is a share from 0 to 1. Exact, by flows in the network of rows and columns. Suppressed cells are NULL. Keep the column complementary to yourself: it tells which cells are below min_cell. NULL is a value; no row for no records. With the rights of the caller. Errors: 22023, 42501, 42703, 42883 for columns that cannot be ordered, 54000 beyond 10^6 cells.';

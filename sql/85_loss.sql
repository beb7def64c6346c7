-- Measures of loss: how much a released statistic tells of a record.

CREATE FUNCTION privacy_score.privacy_loss(domain numeric[], records int, statistic text, released numeric, prior float8[] DEFAULT NULL, noise_scale float8 DEFAULT NULL) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_privacy_loss' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.privacy_loss(numeric[], int, text, numeric, float8[], float8) IS
  'Bits of entropy that the record that loses most loses when a sum, average, count (of records that are not zero), minimum, maximum or median of independent records is released; may be negative [Chirayath, definition 2]. prior: probabilities of the values of the domain, one row for all records or one a record; NULL: all equal. noise_scale: the released value is the statistic plus discrete Laplace noise of that scale. NULL when the release is impossible. Errors: 22023, 22004 and 2202E for bad arguments, 22003 and 54000 for values that span too many digits or too fine a grid.';

CREATE FUNCTION privacy_score.privacy_loss_detail(domain numeric[], records int, statistic text, released numeric, prior float8[] DEFAULT NULL, noise_scale float8 DEFAULT NULL)
  RETURNS TABLE (record int, entropy_before float8, entropy_after float8, loss float8, loss_percent float8)
  AS 'MODULE_PATHNAME', 'ps_privacy_loss_detail' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.privacy_loss_detail(numeric[], int, text, numeric, float8[], float8) IS
  'As privacy_loss(), a row for each record: entropies before and after the release in bits, their difference, and that in percent of the entropy before (0 where that is 0). No row when the release is impossible.';

CREATE FUNCTION privacy_score.expected_privacy_loss(domain numeric[], records int, statistic text, prior float8[] DEFAULT NULL) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_expected_privacy_loss' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.expected_privacy_loss(numeric[], int, text, float8[]) IS
  'The expectation of privacy_loss(), in bits, over what may be released, before it is known and without noise [Chirayath]. Arguments and errors as there.';

CREATE FUNCTION privacy_score.release_privacy_loss(relation regclass, attribute name, statistic text, noise_scale float8 DEFAULT NULL, domain numeric[] DEFAULT NULL, prior float8[] DEFAULT NULL)
  RETURNS TABLE (record int, entropy_before float8, entropy_after float8, loss float8, loss_percent float8)
  AS 'MODULE_PATHNAME', 'ps_release_privacy_loss' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.release_privacy_loss(regclass, name, text, float8, numeric[], float8[]) IS
  'What releasing a statistic of a column takes from the record that loses most, in bits. All records have one prior: the shares of the values in the column, or with a domain equal shares of its values, or the prior given for them; so the record named is the first. With noise, of the release in which the noise came out as 0. NULL is left out, as aggregates do; no row for no values. With the rights of the caller. Errors: as privacy_loss(), 42501, 42703, 42804 for a column that holds no numbers.';

CREATE FUNCTION privacy_score.binary_privacy_loss(n bigint, k bigint) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_binary_privacy_loss' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.binary_privacy_loss(bigint, bigint) IS
  'Bits that each of n records, 0 or 1 with equal probability, loses when their sum k or its average is released: 1 - [k/n lg(n/k) + (n-k)/n lg(n/(n-k))] [Chirayath, theorem 1]. 22023 unless n >= 1 and 0 <= k <= n.';

CREATE FUNCTION privacy_score.expected_binary_privacy_loss(n bigint) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_expected_binary_privacy_loss' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.expected_binary_privacy_loss(bigint) IS
  'The expectation of binary_privacy_loss(n, k) over k: the sum of C(n,k) 2^-n binary_privacy_loss(n, k) [Chirayath, theorem 2, with the sign in formula 5 mended]. 22023 unless n >= 1.';

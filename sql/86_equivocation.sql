-- Equivocation: what is left to guess of a number when being right within epsilon is enough; measures beside it.

CREATE FUNCTION privacy_score.equivocation(vals numeric[], probabilities float8[], epsilon numeric) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_equivocation' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.equivocation(numeric[], float8[], numeric) IS
  'H(epsilon) in bits: the least entropy over cuts of the sorted values into windows of spread at most epsilon, at least 0 [Alfalayleh, section 3]. Probabilities in the order of vals, NULL: all equal; equal values are merged. Errors: 22023 for what is no law and for epsilon below 0, 22004, 2202E, 22003 for values of too many digits.';

CREATE FUNCTION privacy_score.equivocation_curve(vals numeric[], probabilities float8[] DEFAULT NULL, step numeric DEFAULT NULL)
  RETURNS TABLE (epsilon numeric, entropy float8)
  AS 'MODULE_PATHNAME', 'ps_equivocation_curve' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.equivocation_curve(numeric[], float8[], numeric) IS
  'H(epsilon) in bits, ascending: a row for every epsilon at which it changes, from 0 to where it reaches 0, each good up to the next, exact for decimals and negative values; or with a step, at its multiples. Arguments and errors as equivocation(); 22023 unless step is greater than 0, 54000 for more than 10^7 rows.';

CREATE FUNCTION privacy_score.equivocation_area(vals numeric[], probabilities float8[] DEFAULT NULL) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_equivocation_area' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.equivocation_area(numeric[], float8[]) IS
  'The integral of equivocation(vals, probabilities, epsilon) over epsilon, in bits times units of the values: resistance to approximate compromise [Alfalayleh, section 3]. Exact widths. Arguments and errors as equivocation().';

CREATE FUNCTION privacy_score.disclosure_risk(probabilities float8[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_disclosure_risk' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.disclosure_risk(float8[]) IS
  'Reciprocal risk 1/H of a law, H its entropy in bits; Infinity for a value that is certain [Alfalayleh, formula 1]. 22023 unless the probabilities sum to one.';

CREATE FUNCTION privacy_score.information_loss(original float8[], estimated float8[], width float8 DEFAULT 1) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_information_loss' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.information_loss(float8[], float8[], float8) IS
  'Half the integral of |f - f^|, from 0 (recovered) to 1 (nothing in common), of a density and what was reconstructed of it, both constant on cells of a width [Agrawal, Aggarwal]. 22023 unless both integrate to one over as many cells.';

CREATE FUNCTION privacy_score.interval_privacy(vals numeric[], probabilities float8[], confidence float8) RETURNS numeric
  AS 'MODULE_PATHNAME', 'ps_interval_privacy' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.interval_privacy(numeric[], float8[], float8) IS
  'The least width, in units of the values, of an interval that holds the value with a probability of at least confidence, which lies in (0, 1] [Agrawal, Srikant]. Probabilities NULL: all equal. Errors as equivocation().';

CREATE FUNCTION privacy_score.sampling_probabilities(domain numeric[], matching_in_sample numeric[], matching_in_population bigint) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'ps_sampling_probabilities' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.sampling_probabilities(numeric[], numeric[], bigint) IS
  'What an intruder who sees a random sample believes of each value of the domain, in its order: f/|Mo| + (|Mo|-|Ms|)/(|Mo| |D|), f the number of matching records of the sample with it [Alfalayleh, appendix, with the product mended into a quotient]. matching_in_sample has the values of the matching records of the sample, Ms; Mo are the matching records of the population. 22023 for a value that the domain lacks or has twice, or fewer in the population than in the sample.';

CREATE FUNCTION privacy_score.noise_posterior(domain_size int, released int[], max_noise int) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'ps_noise_posterior' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.noise_posterior(int, int[], int) IS
  'What an intruder who sees values with noise believes of each of the values 1 to domain_size: the mean over the released numbers y of P(noise = y-d) by its sum over d, with noise Binomial(max_noise, 1/2) - max_noise/2 [Alfalayleh, appendix]. 22023 unless max_noise is even and from 0 to 10^8, and for a number that no value gives, 54000 for a domain of more than 10^7 values.';

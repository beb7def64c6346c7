-- Noise, exact, from the server's strong random source; outside every budget.

CREATE FUNCTION privacy_score.discrete_laplace(scale numeric) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_discrete_laplace' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.discrete_laplace(numeric) IS
  'One draw of discrete Laplace noise, P(k) = (1-a)/(1+a) a^|k| with a = exp(-1/scale), by integer arithmetic only [Canonne, Kamath, Steinke 2020]. scale = sensitivity/epsilon, from 0.001 to 1e12, at most 40 digits; else 22023.';

CREATE FUNCTION privacy_score.laplace_noise(scale float8) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_laplace_noise' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.laplace_noise(float8) IS
  'One draw of Laplace noise with variance 2 scale^2, as a multiple of laplace_step(scale). Round what it is added to to a multiple of that step, else the low bits of the sum tell the value. scale from 1e-290 to 1e290; else 22023.';

CREATE FUNCTION privacy_score.laplace_step(scale float8) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_laplace_step' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.laplace_step(float8) IS
  'The step of the grid of laplace_noise(scale): a power of two, from scale/2^39 to scale/2^38.';

CREATE FUNCTION privacy_score.dp_choose(options text[], utilities float8[], epsilon numeric, sensitivity numeric DEFAULT 1) RETURNS text
  AS 'MODULE_PATHNAME', 'ps_dp_choose' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.dp_choose(text[], float8[], numeric, numeric) IS
  'One of the options, by the exponential mechanism [McSherry, Talwar 2007]: P(r) ~ exp(epsilon u(r)/(2 sensitivity)), exactly. The utilities are taken as given and no budget is charged. Epsilon from 1e-12 to 1000, sensitivity greater than 0, utilities finite; else 22023.';

CREATE FUNCTION privacy_score.dp_kl_divergence(epsilon float8, mechanism text DEFAULT 'discrete') RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_dp_kl_divergence' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.dp_kl_divergence(float8, text) IS
  'Kullback-Leibler divergence, in nats, between noisy counts of two tables that differ in one row: discrete, epsilon (1-a)/(1+a), or laplace, epsilon + exp(-epsilon) - 1; at most epsilon [Dwork]. Raises 22023 unless epsilon is finite and greater than 0.';

CREATE FUNCTION privacy_score.dp_inference_ratio(x float8, y float8, epsilon float8)
  RETURNS TABLE (true_ratio float8, expected_ratio float8, variance float8)
  AS 'MODULE_PATHNAME', 'ps_dp_inference_ratio' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.dp_inference_ratio(float8, float8, float8) IS
  'What the ratio y/x of two noisy counts tells: its mean (y/x)(1 + 2(b/x)^2) and variance 2(b/x)^2 (1 + (y/x)^2), with b = 1/epsilon [Wang, theorem 2; delta method, good for b well below x]. Raises 22023 for x = 0, values that are not finite, epsilon not greater than 0.';

CREATE FUNCTION privacy_score.noisy_count_transition(state bytea, epsilon numeric) RETURNS bytea
  AS 'MODULE_PATHNAME', 'ps_noisy_count_transition' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.noisy_count_transition(bytea, numeric) IS 'Internal: transition of noisy_count(epsilon).';
CREATE FUNCTION privacy_score.noisy_count_transition(state bytea, value "any", epsilon numeric) RETURNS bytea
  AS 'MODULE_PATHNAME', 'ps_noisy_count_transition' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.noisy_count_transition(bytea, "any", numeric) IS 'Internal: transition of noisy_count(value, epsilon).';
CREATE FUNCTION privacy_score.noisy_count_final(state bytea) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_noisy_count_final' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.noisy_count_final(bytea) IS 'Internal: draws the noise of a group, once.';
REVOKE ALL ON FUNCTION privacy_score.noisy_count_transition(bytea, numeric),
  privacy_score.noisy_count_transition(bytea, "any", numeric), privacy_score.noisy_count_final(bytea) FROM PUBLIC;

-- The final function writes the state, so these are no window functions: each row would have a noise of its own, and
-- their average none.
CREATE AGGREGATE privacy_score.noisy_count(epsilon numeric) (
  SFUNC = privacy_score.noisy_count_transition, STYPE = bytea, SSPACE = 88,
  INITCOND = '\x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',
  FINALFUNC = privacy_score.noisy_count_final, FINALFUNC_MODIFY = SHAREABLE, PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE privacy_score.noisy_count(numeric) IS
  'The number of rows plus discrete Laplace noise of scale 1/epsilon, one draw for each group. For those who may read the table: no budget is charged. Epsilon from 1e-12 to 1000 and the same for all rows; else 22023.';
CREATE AGGREGATE privacy_score.noisy_count(value "any", epsilon numeric) (
  SFUNC = privacy_score.noisy_count_transition, STYPE = bytea, SSPACE = 88,
  INITCOND = '\x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',
  FINALFUNC = privacy_score.noisy_count_final, FINALFUNC_MODIFY = SHAREABLE, PARALLEL = RESTRICTED
);
COMMENT ON AGGREGATE privacy_score.noisy_count("any", numeric) IS
  'The number of rows whose value is not NULL plus discrete Laplace noise of scale 1/epsilon, one draw for each group; as noisy_count(epsilon).';

-- CREATE AGGREGATE knows no volatility. Without it the planner may evaluate a query with noise twice and mix the answers.
UPDATE pg_catalog.pg_proc SET provolatile = 'v'
 WHERE oid IN ('privacy_score.noisy_count(numeric)'::pg_catalog.regprocedure,
               'privacy_score.noisy_count("any", numeric)'::pg_catalog.regprocedure);

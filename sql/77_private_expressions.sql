-- What may be computed on persons' rows within a private query.

CREATE FUNCTION privacy_score.dp_expression(function regprocedure, OUT use text, OUT constant_arguments int[], OUT reason text)
  RETURNS record
  AS 'MODULE_PATHNAME', 'ps_dp_expression' LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.dp_expression(regprocedure) IS
  'Whether a function may be computed on persons'' rows within a private query. use: safe (fails on no row), guarded (NULL where it would fail) or refused, for the reason given. constant_arguments: numbers, from 1, of arguments that must not depend on a row, NULL for none. An operator or a cast is the function behind it. Errors: 42883.';

CREATE VIEW privacy_score.dp_expressions AS
  SELECT p.oid::pg_catalog.regprocedure AS function, e.use, e.constant_arguments
    FROM pg_catalog.pg_proc p, privacy_score.dp_expression(p.oid) e
   WHERE e.use <> 'refused';
COMMENT ON VIEW privacy_score.dp_expressions IS
  'The functions of the server that may be computed on persons'' rows within a private query.';
COMMENT ON COLUMN privacy_score.dp_expressions.function IS 'the function, also of operators and casts';
COMMENT ON COLUMN privacy_score.dp_expressions.use IS 'safe: fails on no row; guarded: NULL where it would fail';
COMMENT ON COLUMN privacy_score.dp_expressions.constant_arguments IS 'numbers, from 1, of arguments that must not depend on a row; NULL for none';

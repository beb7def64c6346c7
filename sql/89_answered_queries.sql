-- What answered queries tell of single records: bounds, and the audit of what has been answered.

CREATE FUNCTION privacy_score.query_bounds(queries jsonb, answers numeric[], low numeric, high numeric, records int, asked int[] DEFAULT NULL)
  RETURNS TABLE (record int, lower numeric, upper numeric)
  AS 'MODULE_PATHNAME', 'ps_query_bounds' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.query_bounds(jsonb, numeric[], numeric, numeric, int, int[]) IS
  'Between which values each record lies, in its units, for an observer who knows that all lie from low to high and the exact answers to sums over sets of records [Alfalayleh, query restriction, for any sets]. queries: array of arrays of record numbers from 1; a count is a sum of records that are 0 or 1. low or high NULL (or infinite): open; -Infinity and Infinity where nothing bounds a record. asked: only these records, NULL: all. By linear programs; bounds are proved in exact arithmetic and no further than 1e-7 (high-low) from the tightest, nearly always exactly these. Errors: 22023 for answers that contradict each other or the limits (the hint names the queries) and for what is no set of records, 22004, 2202E, 22003 for more than 36 digits, 58P01 when the solver is not installed.';

CREATE FUNCTION privacy_score.disclosed_records(queries jsonb, answers numeric[], low numeric, high numeric, records int, width numeric DEFAULT 0)
  RETURNS TABLE (record int, lower numeric, upper numeric, determined boolean)
  AS 'MODULE_PATHNAME', 'ps_disclosed_records' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.disclosed_records(jsonb, numeric[], numeric, numeric, int, numeric) IS
  'The records that the answers disclose: those of query_bounds() with upper - lower <= width, in their units; width 0: exactly. determined: the answers alone give the value, by exact elimination, whatever the limits. Errors as query_bounds(), and 22023 for width below 0.';

CREATE FUNCTION privacy_score.further_queries(queries jsonb, allowed jsonb, records int)
  RETURNS TABLE (record int, number int, query int[])
  AS 'MODULE_PATHNAME', 'ps_further_queries' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.further_queries(jsonb, jsonb, int) IS
  'The fewest further queries among the allowed ones that, with those that are answered, would give a record away exactly, whatever the answers: a row for each, its number in allowed (from 1), its records, and the record given away. One row with number and query NULL when the answered ones do already; no row when even all allowed ones give none away. Exact; time grows exponentially with how many are needed. Errors: 22023 for what is no set of records from 1 to records.';

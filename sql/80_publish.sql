-- Publishing a relation as two tables that are joined by bucket.

CREATE FUNCTION privacy_score.bucketize(relation regclass, quasi_identifiers name[], sensitive name, qit text, st text,
    method text DEFAULT 'multi-size', thresholds jsonb DEFAULT NULL, theta numeric DEFAULT NULL, floor numeric DEFAULT NULL, l int DEFAULT NULL,
    min_bucket int DEFAULT NULL, max_bucket int DEFAULT 50, fake_values int DEFAULT 0, st_form text DEFAULT 'rows', replace boolean DEFAULT false)
  RETURNS TABLE (buckets bigint, rows bigint, fake bigint, sizes jsonb, loss numeric, mse numeric, gap float8, max_probability jsonb, seconds float8)
  AS 'MODULE_PATHNAME', 'ps_bucketize' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.bucketize(regclass, name[], name, text, text, text, jsonb, numeric, numeric, int, int, int, int, text, boolean) IS
  'Publishes a relation as a table of quasi-identifiers (qit: they and bid) and one of sensitive values (st: bid and the value), so that a value has at most its threshold as a share of any bucket [Wang]. Exactly one of thresholds (by value, others 1), theta with floor (theta * frequency + floor, floor 0.02) and l (1/l for all) is given. With the rights of the caller, who will own the tables; nobody else may read them until he grants it. NULL is a value. Errors: 22023 for bad arguments and for thresholds that cannot be kept, 42501, 42P07, 42701, 42703, 42883 for a sensitive column without equality.';

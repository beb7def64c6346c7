-- Publishing a relation as two tables that are joined by bucket.

CREATE FUNCTION privacy_score.bucketize(relation regclass, quasi_identifiers name[], sensitive name, qit text, st text,
    method text DEFAULT 'optimal', thresholds jsonb DEFAULT NULL, theta numeric DEFAULT NULL, floor numeric DEFAULT NULL, l int DEFAULT NULL,
    min_bucket int DEFAULT NULL, max_bucket int DEFAULT 50, fake_values int DEFAULT 0, st_form text DEFAULT 'rows', replace boolean DEFAULT false,
    values_without_threshold text DEFAULT 'refuse')
  RETURNS TABLE (buckets bigint, rows bigint, fake bigint, sizes jsonb, loss numeric, mse numeric, gap float8, max_probability jsonb, seconds float8)
  AS 'MODULE_PATHNAME', 'ps_bucketize' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.bucketize(regclass, name[], name, text, text, text, jsonb, numeric, numeric, int, int, int, int, text, boolean, text) IS
  'Publishes a relation as a table of quasi-identifiers (qit: they and bid) and one of sensitive values (st: bid and the value), so that a value has at most its threshold as a share of any bucket [Wang], with the least loss (method optimal, within privacy_score.bucket_search_time; gap says how far from the least it can be). Exactly one of thresholds (by value, others 1; a key that no record has is an error unless values_without_threshold is allow), theta with floor (theta * frequency + floor, floor 0.02) and l (1/l for all) is given. With the rights of the caller, who will own the tables; nobody else may read them until it is granted. NULL is a value. Errors: 22023 for bad arguments and for thresholds that cannot be kept, 42501, 42P07, 42701, 42703, 42883 for a sensitive column without equality, 54000 when the search ends undecided.';

CREATE FUNCTION privacy_score.bucket_setting(counts bigint[], thresholds text[], method text DEFAULT 'optimal', min_bucket int DEFAULT NULL, max_bucket int DEFAULT 50)
  RETURNS TABLE (bucket_size int, buckets bigint, loss numeric, gap float8)
  AS 'MODULE_PATHNAME', 'ps_bucket_setting' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.bucket_setting(bigint[], text[], text, int, int) IS
  'How many buckets of which size keep the thresholds of values with these counts: one row a size with its loss, buckets * (size - 1)^2, and of the whole setting the proved relative distance from the least loss (NULL where none is). Methods optimal (within privacy_score.bucket_search_time, never worse than multi-size), multi-size, two-size, anatomy. No row: no setting is valid. Thresholds are rationals in (0, 1] as text, one a count [Wang, section 5]. 22023 for what is no such thing, 54000 when the search ends undecided.';

CREATE FUNCTION privacy_score.bucket_setting_valid(counts bigint[], thresholds text[], sizes int[], buckets bigint[]) RETURNS boolean
  AS 'MODULE_PATHNAME', 'ps_bucket_setting_valid' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.bucket_setting_valid(bigint[], text[], int[], bigint[]) IS
  'Whether all records fit into so many buckets of these sizes, filling them, without a value exceeding its threshold in any: any number of sizes, exact [Wang, theorem 4.17, and beyond two sizes a maximum flow].';

CREATE FUNCTION privacy_score.mse(sizes int[], buckets bigint[]) RETURNS numeric
  AS 'MODULE_PATHNAME', 'ps_mse' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.mse(int[], bigint[]) IS
  'Mean squared error of a bucket setting: the sum of buckets * (size - 1)^2 over the number of records less one, 0 for at most one record [Wang, definition 3.9].';

CREATE FUNCTION privacy_score.suggest_thresholds(relation regclass, sensitive name, thetas numeric[] DEFAULT '{2,4,8,16,32}', floor numeric DEFAULT 0.02, max_bucket int DEFAULT 50)
  RETURNS TABLE (theta numeric, feasible boolean, smallest_bucket int, largest_bucket int, loss numeric, mse numeric, l_needed int, l_possible boolean)
  AS 'MODULE_PATHNAME', 'ps_suggest_thresholds' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.suggest_thresholds(regclass, name, numeric[], numeric, int) IS
  'For each theta what thresholds min(1, theta f + floor) would cost: whether buckets of up to max_bucket records keep them, sizes, loss and mean squared error of the method optimal (at most privacy_score.bucket_search_time for each theta; NULL where that was not enough to tell), the l that l-diversity would need for the same promise, and whether any l-diverse release exists [Wang, remark 3.8]. With the rights of the caller; nothing is published.';

CREATE FUNCTION privacy_score.verify_release(qit regclass, st regclass, thresholds jsonb DEFAULT NULL, theta numeric DEFAULT NULL, floor numeric DEFAULT NULL, l int DEFAULT NULL, source regclass DEFAULT NULL)
  RETURNS TABLE (check_name text, holds boolean, detail text)
  AS 'MODULE_PATHNAME', 'ps_verify_release' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.verify_release(regclass, regclass, jsonb, numeric, numeric, int, regclass) IS
  'Judges a pair of published tables, whoever made it, one row a check: buckets in both, sizes, thresholds as in bucketize(), and against the source records, duplicates, values, fakes and the order of rows. holds is NULL for what cannot be told from what is given. The checks of order are statistical; each calls a good release bad with probability 1e-7 at most. 42703 and 42P16 for tables of another form, 42501.';

CREATE FUNCTION privacy_score.release_utility(qit regclass, st regclass, source regclass, queries int DEFAULT 1000, selectivity float8 DEFAULT 0.01)
  RETURNS TABLE (dimensions int, queries int, mean_relative_error float8, median_relative_error float8)
  AS 'MODULE_PATHNAME', 'ps_release_utility' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.release_utility(regclass, regclass, regclass, int, float8) IS
  'How far estimate_count() is from the counts of the source, as |actual - estimate|/actual over random queries: as many of each number of quasi-identifiers, each attribute and the sensitive one compared with random values of its domain so that the expected share of records is the selectivity [Wang, section 7.2; Anatomy]. queries counts those that select any record; errors are NULL where none does. With the rights of the caller, for whoever may read the source. 22023, 42501, 42703, 42P16.';

CREATE FUNCTION privacy_score.k_anonymity(relation regclass, quasi_identifiers name[]) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_k_anonymity' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.k_anonymity(regclass, name[]) IS
  'The number of records in the smallest equivalence class, those with equal quasi-identifiers; NULL for no records. With the rights of the caller.';

CREATE FUNCTION privacy_score.l_diversity(relation regclass, quasi_identifiers name[], sensitive name, form text DEFAULT 'distinct') RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_l_diversity' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.l_diversity(regclass, name[], name, text) IS
  'The least diversity of an equivalence class in the sensitive column: distinct, how many values it has; entropy, 2^H of them, H in bits. NULL for no records.';

CREATE FUNCTION privacy_score.t_closeness(relation regclass, quasi_identifiers name[], sensitive name) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_t_closeness' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.t_closeness(regclass, name[], name) IS
  'The greatest distance, from 0 to 1, of the distribution of the sensitive column in an equivalence class from that in the table: ordered earth mover''s distance for numbers, by rank, else half the sum of the differences. NULL for no records.';

CREATE FUNCTION privacy_score.estimate_count(qit regclass, st regclass, predicate text) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_estimate_count' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.estimate_count(regclass, regclass, text) IS
  'How many records of the source are expected to satisfy a condition on quasi-identifiers and the sensitive value, from the published tables alone: over the buckets, (matching records) (matching values)/(values) [Anatomy]. The predicate is parsed and may contain what that of dp_count() may, else PS003. With the rights of the caller.';

-- Techniques of disclosure control compared on one's own table.

CREATE FUNCTION privacy_score.evaluate_sampling(relation regclass, sensitive name, known name[], fractions float8[] DEFAULT '{0.05,0.1,0.2,0.5}', repetitions int DEFAULT 30, seed bigint DEFAULT 0)
  RETURNS TABLE (strength float8, known_attributes int, initial_entropy float8, area float8, samples bigint)
  AS 'MODULE_PATHNAME', 'ps_evaluate_sampling' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.evaluate_sampling(regclass, name, name[], float8[], int, bigint) IS
  'What a released random sample leaves to guess of a sensitive number: entropy H(0) in bits and equivocation area in bits times units, averaged over all subsets of so many known attributes, their values and the repetitions (samples in all) [Alfalayleh, section 5]. A fraction is the share of records that is released, in (0, 1]. Simulated, repeatable by seed; nothing is released. With the rights of the caller. Errors: 22023, 22004, 42501, 42703, 42701, 42804, 42883, 54000 for more records than fit into maintenance_work_mem.';

CREATE FUNCTION privacy_score.evaluate_query_restriction(relation regclass, sensitive name, known name[], query_sizes int[] DEFAULT '{2,4,8,16,32}', repetitions int DEFAULT 30, seed bigint DEFAULT 0)
  RETURNS TABLE (strength float8, known_attributes int, initial_entropy float8, area float8, samples bigint)
  AS 'MODULE_PATHNAME', 'ps_evaluate_query_restriction' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.evaluate_query_restriction(regclass, name, name[], int[], int, bigint) IS
  'As evaluate_sampling(), of answers to sums over query_size records each (even, at least 2), each beginning half of that behind the one before in a random order: floor(2n/query_size) - 1 sums, which bound each record.';

CREATE FUNCTION privacy_score.evaluate_noise(relation regclass, sensitive name, known name[], percents float8[] DEFAULT '{5,10,20,50}', repetitions int DEFAULT 30, seed bigint DEFAULT 0)
  RETURNS TABLE (strength float8, known_attributes int, initial_entropy float8, area float8, samples bigint)
  AS 'MODULE_PATHNAME', 'ps_evaluate_noise' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.evaluate_noise(regclass, name, name[], float8[], int, bigint) IS
  'As evaluate_sampling(), of values released with binomial noise: their numbers in ascending order plus Binomial(M, 1/2) - M/2, M = percent of the number of values less one, to the nearest even number.';

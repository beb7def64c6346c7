\echo Use "CREATE EXTENSION privacy_score" to load this file. \quit

-- Made here and not by the control file, so that DROP EXTENSION removes it and a schema that somebody else made
-- beforehand is an error rather than a trap.
CREATE SCHEMA privacy_score;
GRANT USAGE ON SCHEMA privacy_score TO PUBLIC;
COMMENT ON SCHEMA privacy_score IS 'Measures and limits how much privacy SQL queries cost.';

\set ECHO none
-- attempt.sql - for tests to include: runs a statement and tells its answer, or how it failed.
CREATE FUNCTION attempt(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text; hint text;
BEGIN
  EXECUTE sql INTO answer;
  RETURN 'no error: ' || coalesce(answer, 'NULL');
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  -- What differs between servers.
  hint := replace(regexp_replace(hint, 'PostgreSQL \d+', 'PostgreSQL VERSION'), 'DateStyle', 'datestyle');
  RETURN SQLSTATE || ' ' || SQLERRM || CASE WHEN hint <> '' THEN E'\n      ' || hint ELSE '' END;
END $$;
\set ECHO all

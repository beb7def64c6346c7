-- measure.sql - what scores roles and keeps the results in tables; run.sh calls it, and report.sql prints them.
--
-- A day that is part of the baseline scores 0 by definition, so normal days are scored from outside: each of the days 6
-- to 10 against the days before it, the days 11 to 14 against the baseline of the days 1 to 10.

CREATE TABLE demo.day_score (
  role name, day int, held_out boolean, kind text, queries bigint, ngrams bigint, mismatched bigint, score float8,
  max_score float8, tight_max float8, normalised float8, cumulative float8, statement_score float8, PRIMARY KEY (role, day));
CREATE TABLE demo.session_score (
  role name, day int, held_out boolean, session text, kind text, queries bigint, score float8, max_score float8,
  statement_score float8, PRIMARY KEY (role, day, session));

CREATE TABLE demo.baseline_size (role name PRIMARY KEY, ngrams bigint);

-- Scores the days against the baseline in force.
CREATE FUNCTION demo.measure(who name, from_day int, to_day int, held_out boolean) RETURNS void LANGUAGE sql AS $$
  INSERT INTO demo.day_score
  SELECT who, d.day, measure.held_out,
         (SELECT COALESCE(max(s.kind) FILTER (WHERE s.kind <> 'normal'), 'normal') FROM demo.session s WHERE s.role = who AND s.day = d.day),
         x.queries, x.ngrams, x.mismatched, x.score, x.max_score, x.tight_max, x.normalised, x.cumulative, x.statement_score
    FROM generate_series(from_day, to_day) d(day)
    JOIN privacy_score.score(who, demo.date_of(from_day), demo.date_of(to_day)) x ON x.day = demo.date_of(d.day);
  INSERT INTO demo.session_score
  SELECT who, d.day, measure.held_out, x.session, s.kind, x.queries, x.score, x.max_score, x.statement_score
    FROM generate_series(from_day, to_day) d(day)
    JOIN privacy_score.score_sessions(who, demo.date_of(from_day), demo.date_of(to_day)) x ON x.day = demo.date_of(d.day)
    JOIN demo.session s ON s.role = who AND s.day = d.day AND to_char(s.at, 'HH24:MI') = split_part(x.session, '/', 2);
$$;

-- The baselines of all come first: how usual a column is, is asked of a role and of its peers.
SELECT count(privacy_score.set_baseline(r.role, demo.date_of(1), demo.date_of(5))) AS baselines
  FROM (SELECT DISTINCT role FROM demo.habit) r;

-- Every other role is measured on a connection of its own.
CREATE FUNCTION demo.measure_half(half int, from_day int, to_day int, held_out boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  who name;
BEGIN
  FOR who IN SELECT r.role FROM (SELECT DISTINCT role, dense_rank() OVER (ORDER BY role) AS place FROM demo.habit) r WHERE r.place % 2 = half ORDER BY 1 LOOP
    PERFORM demo.measure(who, from_day, to_day, held_out);
  END LOOP;
END $$;

CREATE FUNCTION demo.set_baselines(to_day int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  who name;
BEGIN
  FOR who IN SELECT DISTINCT role FROM demo.habit ORDER BY role LOOP
    INSERT INTO demo.baseline_size VALUES (who, privacy_score.set_baseline(who, demo.date_of(1), demo.date_of(to_day)))
      ON CONFLICT (role) DO UPDATE SET ngrams = excluded.ngrams;
  END LOOP;
END $$;

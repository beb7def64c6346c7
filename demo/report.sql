-- report.sql - prints what measure.sql found. Every judgement in the text is computed from the scores beside it.

-- A bar of up to 30 characters.
CREATE FUNCTION pg_temp.bar(value float8, largest float8) RETURNS text LANGUAGE sql
  RETURN repeat('#', GREATEST(CASE WHEN value > 0 THEN 1 ELSE 0 END, round(30 * value / NULLIF(largest, 0))::int));
-- Column and table names without the schema that all share.
CREATE FUNCTION pg_temp.short(names text[]) RETURNS text LANGUAGE sql
  RETURN replace(array_to_string(names, ', '), 'public.', '');
-- An n-gram, position by position, in the order of SQL: select zip from patients where patient_id.
CREATE FUNCTION pg_temp.readable(ngram text[]) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(COALESCE(p.line, '(start of session)'), E'\n           then   ' ORDER BY g.place)
    FROM unnest(ngram) WITH ORDINALITY g(tokens, place),
         LATERAL (SELECT string_agg(concat_ws(' ', w.word, w.names), ' ' ORDER BY w.place) AS line
                    FROM (SELECT k.place, k.word,
                                 string_agg(DISTINCT CASE WHEN k.kind = 't' THEN split_part(t.token, '.', 2)
                                                          ELSE regexp_replace(regexp_replace(t.token, '^[a-z]+:', ''), 'public\.\w+\.', '', 'g') END, ', ') AS names
                            FROM (VALUES (1, 'cmd', NULL), (2, 'p', NULL), (2, 'f', NULL), (3, 't', 'from'), (4, 's', 'set'), (5, 'w', 'where'),
                                         (6, 'g', 'group by')) k(place, kind, word)
                            JOIN regexp_split_to_table(g.tokens, ' (?=[a-z]+:)') t(token) ON t.token LIKE k.kind || ':%'
                           GROUP BY k.place, k.word) w) p
$$;
CREATE FUNCTION pg_temp.r(value float8, digits int DEFAULT 3) RETURNS numeric LANGUAGE sql RETURN round(value::numeric, digits);

\echo
\echo '2. What identifies a patient of the hospital'
\echo '============================================'
\echo 'uniques: values that only one patient has. discrimination_rate 1 identifies fully.'
SELECT attribute, label, distinct_values, pg_temp.r(entropy, 2) AS entropy_bits, pg_temp.r(discrimination_rate) AS discrimination_rate, uniques
  FROM privacy_score.attribute_risk('patients') ORDER BY discrimination_rate DESC, attribute;
SELECT array_to_string(y.columns, ' + ') AS together,
       pg_temp.r(privacy_score.combined_discrimination_rate('patients', y.columns)) AS discrimination_rate
  FROM (VALUES (1, '{gender,zip}'::name[]), (2, '{zip,birth_date}'), (3, '{gender,zip,birth_date}')) y(place, columns) ORDER BY y.place;

\echo
\echo '3. Ten days of habit'
\echo '===================='
\echo 'ngrams: distinct pairs of consecutive statements. unseen 1..3: share of a normal day''s n-grams that no other normal day'
\echo 'has, for n = 1, 2, 3; length: what choose_ngram_length() makes of it. The demonstration scores with n = 2.'
SELECT h.role, h.sessions, h.queries, b.ngrams, l.rates AS "unseen 1..3", l.length
  FROM (SELECT role, count(*) AS sessions, sum(queries) AS queries FROM privacy_score.session
         WHERE day BETWEEN demo.date_of(1) AND demo.date_of(10) GROUP BY role) h
  JOIN demo.baseline_size b USING (role),
       LATERAL (SELECT max(c.ngram_length) FILTER (WHERE c.chosen) AS length,
                       string_agg(pg_temp.r(c.mismatch_rate)::text, '  ' ORDER BY c.ngram_length) AS rates
                  FROM privacy_score.choose_ngram_length(h.role, demo.date_of(1), demo.date_of(10), 3) c) l
 ORDER BY h.role;

\echo
\echo '4. The score of each day'
\echo '========================'
\echo 'Days 6 to 10 are scored against the days before each, days 11 to 14 against the baseline of the days 1 to 10.'
\echo 'kind: what the generator did, which the scorer does not know. new: pairs of statements that the baseline does not have.'
\echo 'maximum: what the day could score at most. cumulative: since day 11, each new pair paid once. alone: the score of the'
\echo 'statements without their order (n = 1). The bar shows the score; all roles have the same scale.'
SELECT format($f$
  SELECT %L AS role, day, kind, queries, mismatched AS new, pg_temp.r(score, 2) AS score, pg_temp.r(max_score, 0) AS maximum,
         CASE WHEN NOT held_out THEN pg_temp.r(cumulative, 2) END AS cumulative, pg_temp.r(statement_score, 2) AS alone,
         pg_temp.bar(score, (SELECT max(score) FROM demo.day_score)) AS bar
    FROM demo.day_score WHERE role = %L ORDER BY day
$f$, r.role, r.role) FROM (SELECT DISTINCT role FROM demo.habit) r ORDER BY r.role \gexec

\echo
\echo '5. The worst sessions'
\echo '====================='
\echo 'All sessions that were scored from outside, the fifteen highest.'
SELECT day, role, session, kind, queries, pg_temp.r(score, 2) AS score, pg_temp.r(statement_score, 2) AS alone,
       pg_temp.bar(score, (SELECT max(score) FROM demo.session_score)) AS bar
  FROM demo.session_score ORDER BY score DESC, role, day, session LIMIT 15;

\echo
\echo '6. Why'
\echo '======'
\echo 'For each attack the two dearest pairs of a day: what was asked after what, the nearest pair of the baseline,'
\echo 'and the columns that the role did not use to read.'
\pset format unaligned
\pset tuples_only on
SELECT format(E'%s, day %s (%s), %s:\n    did         %s\n    nearest     %s\n    new columns %s', c.role, c.day, d.kind, pg_temp.r(c.score, 2),
              pg_temp.readable(c.ngram), pg_temp.readable(c.nearest), pg_temp.short(c.attributes))
  FROM (SELECT *, row_number() OVER (PARTITION BY role, day ORDER BY score DESC, ngram) AS place FROM demo.culprit) c
  JOIN demo.day_score d USING (role, day)
 WHERE c.place <= 2 AND d.kind IN ('insider', 'exfiltration', 'drip') AND c.score > 0
 ORDER BY c.day, c.role, c.place;
\pset tuples_only off
\pset format aligned

\echo
\echo '7. What was caught'
\echo '=================='
\echo 'Each day with an attack against the highest normal day of the same role. caught: higher than all of them.'
SELECT a.role, a.day, a.kind, pg_temp.r(a.score, 2) AS score, pg_temp.r(n.score, 2) AS "highest normal day",
       CASE WHEN n.score > 0 THEN pg_temp.r(a.score / n.score, 1)::text || ' times' ELSE CASE WHEN a.score > 0 THEN 'infinite' ELSE '-' END END AS ratio,
       pg_temp.r(a.statement_score, 2) AS alone, pg_temp.r(n.statement_score, 2) AS "normal alone",
       CASE WHEN a.score > n.score THEN 'caught' WHEN a.statement_score > n.statement_score THEN 'caught by statements alone' ELSE 'NOT caught' END AS verdict
  FROM demo.day_score a,
       LATERAL (SELECT max(score) AS score, max(statement_score) AS statement_score FROM demo.day_score x WHERE x.role = a.role AND x.kind = 'normal') n
 WHERE a.kind IN ('insider', 'exfiltration', 'drip')
 ORDER BY a.day, a.role;

\echo 'Session by session. auc: the chance that a session of this kind scores higher than a normal session of any role (1 = always,'
\echo '0.5 = no better than chance). above limit: sessions above the limit of their role, which is 1.5 times its worst'
\echo 'normal session and at least 0.5; so no normal session can be above it.'
SELECT a.kind, count(DISTINCT (a.role, a.day, a.session)) AS sessions,
       pg_temp.r(avg(CASE WHEN a.score > n.score THEN 1 WHEN a.score = n.score THEN 0.5 ELSE 0 END)::float8) AS auc,
       pg_temp.r(avg(CASE WHEN a.statement_score > n.statement_score THEN 1 WHEN a.statement_score = n.statement_score THEN 0.5 ELSE 0 END)::float8) AS "auc alone",
       count(DISTINCT (a.role, a.day, a.session)) FILTER (WHERE a.score > l.session_limit) AS "above limit"
  FROM demo.session_score a
  JOIN demo.suggested_limit l USING (role), demo.session_score n
 WHERE a.kind <> 'normal' AND n.kind = 'normal'
 GROUP BY a.kind ORDER BY auc DESC, a.kind;

SET privacy_score.alpha = 1;
SET privacy_score.identifiers_count = on;
CREATE TEMP TABLE published AS
  SELECT a.role, a.day, x.score FROM demo.day_score a,
         LATERAL privacy_score.score(a.role, demo.date_of(a.day), demo.date_of(a.day)) x
   WHERE a.kind IN ('insider', 'exfiltration', 'drip');
RESET privacy_score.alpha;
RESET privacy_score.identifiers_count;
\pset format unaligned
\pset tuples_only on
SELECT format('%s of %s days with an attack score above every normal day of the same role; %s of %s normal days score below %s.',
              count(*) FILTER (WHERE a.attack AND a.score > a.normal), count(*) FILTER (WHERE a.attack),
              count(*) FILTER (WHERE a.kind = 'normal' AND a.score < 0.5), count(*) FILTER (WHERE a.kind = 'normal'), 0.5)
  FROM (SELECT kind, score, kind IN ('insider', 'exfiltration', 'drip') AS attack,
               max(score) FILTER (WHERE kind = 'normal') OVER (PARTITION BY role) AS normal
          FROM demo.day_score) a;
SELECT format('The published form (alpha = 1, identifiers_count = on: a SET away) sees %s of these %s days at all: %s.', count(*) FILTER (WHERE score > 0.005), count(*),
              string_agg(format('%s day %s %s', role, day, pg_temp.r(score, 2)), ', ' ORDER BY day, role))
  FROM published;
SELECT format('The drip a day: %s; added up (cumulative): %s.', string_agg(pg_temp.r(score, 2)::text, ', ' ORDER BY day),
              string_agg(pg_temp.r(cumulative, 2)::text, ', ' ORDER BY day))
  FROM demo.day_score WHERE kind = 'drip';

\echo
\echo '8. Where the scorer is blind'
\echo '============================'
SELECT format('%s, day %s, session %s, %s: %s statements, score %s, by statements alone %s. %s', role, day, session, kind, queries,
              pg_temp.r(score, 3), pg_temp.r(statement_score, 3),
              CASE WHEN score <= (SELECT max(x.score) FROM demo.session_score x WHERE x.role = s.role AND x.kind = 'normal')
                   THEN CASE kind
                     WHEN 'loop' THEN E'\n  The usual statements for patient after patient: an abstraction holds no constants, so the loop looks like work.\n  What will see it is reach, the number of distinct constants and patients of a session.'
                     ELSE E'\n  The usual columns of everybody instead of one: the columns are known, and the missing filter reveals no new one.\n  What will see it is the number of rows that a session reads.' END
                   ELSE E'\n  This stands above every normal session of the role: the score does see it here.' END)
  FROM demo.session_score s WHERE kind IN ('loop', 'no filter') ORDER BY role;
\pset tuples_only off
\pset format aligned

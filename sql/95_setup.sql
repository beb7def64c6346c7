-- Looking at one's own setup: what is missing or does nothing, each with the statement that mends it. These functions
-- read catalogs, the planner's statistics and what the extension has recorded, never a table, and show no value.

CREATE VIEW privacy_score.named_sign AS
  SELECT v.place, v.sign, v.label, v.types, v.pattern
    FROM (VALUES
      (1, 'an e-mail address', 'identifier', 'S', '(^|_)e?_?mail(_|$)|email'),
      (2, 'an account or card number', 'identifier', 'SN', 'iban|(^|_)(account|acct)_?(no|nr|num|number)|credit_?card|card_?(no|nr|num|number)'),
      (3, 'a number that an authority gave', 'identifier', 'SN', '(^|_)(ssn|nin|nhs|nif|passport|steuer_?id)(_|$)|tax_?(id|no|number)|national_?id|social_?sec|(insurance|licen[cs]e|passport)_?(id|no|nr|num|number)'),
      (4, 'a telephone number', 'identifier', 'SN', 'phone|(^|_)(tel|fax|mobile|handy)(_|$)|telefon'),
      (5, 'a login or device', 'identifier', 'SIU', '(^|_)(user_?name|login|device_?id|ip|ip_?addr(ess)?|mac_?addr(ess)?)(_|$)'),
      (6, 'a date of birth', 'quasi-identifier', 'DS', 'birth|(^|_)dob(_|$)|geburt|naissance|nacimiento'),
      (7, 'a person''s name', 'quasi-identifier', 'S', '(^|_)(first|last|middle|given|family|full|maiden|nick)_?name|sur_?name|(vor|nach)name|nachname'),
      (8, 'an address', 'quasi-identifier', 'SN', 'address|(^|_)(street|strasse|zip|zip_?code|post_?code|postal_?code|plz)(_|$)'),
      (9, 'health, belief or money', 'sensitive', 'SN', 'diagnos|(^|_)icd|disease|illness|religio|ethnic|sexual|disab|allerg|medication|(^|_)(salary|income|wage|hiv)(_|$)'))
    v(place, sign, label, types, pattern);
COMMENT ON VIEW privacy_score.named_sign IS
  'Internal: names of columns that tell what is in them, as regular expressions, with the categories of types (pg_type.typcategory) that can hold it.';

CREATE VIEW privacy_score.sampled_sign AS
  SELECT v.place, v.sign, v.label, v.pattern
    FROM (VALUES
      (1, 'e-mail addresses', 'identifier', '^[^@[:space:]]+@[^@[:space:]]+[.][[:alpha:]]{2,}$'),
      (2, 'account numbers (IBAN)', 'identifier', '^[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,4})?$'),
      (4, 'telephone numbers', 'identifier', '^([+]|00|[(]?0)[1-9][0-9 ()/.-]{5,18}$'))
    v(place, sign, label, pattern);
COMMENT ON VIEW privacy_score.sampled_sign IS
  'Internal: values that tell what they are, as regular expressions that nine in ten of the planner''s statistics match.';

CREATE VIEW privacy_score.user_column AS
  SELECT c.oid AS relation, n.nspname, c.relname, c.reltuples, a.attname, a.attnum, t.typcategory,
         d.relation IS NOT NULL AS protected, l.label,
         a.attnum = ANY (privacy_score.subject_attributes(c.oid))
           OR EXISTS (SELECT FROM pg_catalog.pg_constraint k
                       WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u', 'f') AND a.attnum = ANY (k.conkey)) AS is_key
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    LEFT JOIN privacy_score.protected_current d ON d.relation = c.oid
    LEFT JOIN pg_catalog.pg_seclabel l ON l.provider = 'privacy_score' AND l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
         AND l.objoid = c.oid AND l.objsubid = a.attnum
   WHERE c.relkind IN ('r', 'p', 'm', 'f') AND NOT c.relispartition AND c.relpersistence <> 't'
     AND n.nspname <> ALL ('{pg_catalog,information_schema,pg_toast,privacy_score}')
     AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend e
                      WHERE e.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND e.objid = c.oid AND e.deptype = 'e');
COMMENT ON VIEW privacy_score.user_column IS 'Internal: columns of tables that are nobody''s but the users'', partitions as their root.';

-- What a column is by its name; else by the values among the planner's statistics; else by how many different ones it has.
CREATE VIEW privacy_score.column_sign AS
  WITH by_name AS MATERIALIZED (
    SELECT DISTINCT ON (u.relation, u.attnum) u.relation, u.attname, u.attnum, s.label, 'by its name ' || s.sign AS reason
      FROM privacy_score.user_column u
      JOIN privacy_score.named_sign s
        ON pg_catalog.strpos(s.types, u.typcategory::text) > 0 AND pg_catalog.translate(u.attname::text, ' -.', '___') ~* s.pattern
     ORDER BY u.relation, u.attnum, s.place),
  statistic AS MATERIALIZED (
    SELECT DISTINCT ON (u.relation, u.attnum) u.relation, u.attname, u.attnum, u.typcategory, u.is_key, u.reltuples, p.n_distinct,
           CASE WHEN u.typcategory = 'S' THEN p.most_common_vals::text::text[] END AS common,
           CASE WHEN u.typcategory IN ('S', 'D') THEN p.histogram_bounds::text::text[] END AS bounds
      FROM privacy_score.user_column u
      JOIN pg_catalog.pg_stats p ON p.schemaname = u.nspname AND p.tablename = u.relname AND p.attname = u.attname
     WHERE NOT EXISTS (SELECT FROM by_name b WHERE b.relation = u.relation AND b.attnum = u.attnum)
     ORDER BY u.relation, u.attnum, p.inherited DESC),
  by_value AS (
    SELECT DISTINCT ON (t.relation, t.attnum) t.relation, t.attname, t.attnum, s.label, 'by its values ' || s.sign AS reason
      FROM statistic t, privacy_score.sampled_sign s,
           LATERAL (SELECT pg_catalog.count(*) AS values, pg_catalog.count(*) FILTER (WHERE v.value ~ s.pattern) AS matching
                      FROM pg_catalog.unnest(t.common || t.bounds) v(value)) v
     WHERE t.typcategory = 'S' AND v.values >= 5 AND v.matching >= 0.9 * v.values
     ORDER BY t.relation, t.attnum, s.place),
  by_age AS (
    SELECT t.relation, t.attname, t.attnum, 'quasi-identifier' AS label, 'its dates go back more than sixty years' AS reason
      FROM statistic t
     WHERE t.typcategory = 'D' AND pg_catalog.cardinality(t.bounds) >= 5 AND t.bounds[1] ~ '^[12][0-9]{3}-'
       AND pg_catalog.substr(t.bounds[1], 1, 4)::int BETWEEN 1900 AND EXTRACT(year FROM pg_catalog.now()) - 60),
  by_distinct AS (
    SELECT t.relation, t.attname, t.attnum, 'quasi-identifier' AS label, 'nearly every row has a value of its own' AS reason
      FROM statistic t
     WHERE NOT t.is_key AND t.reltuples >= 100
       AND CASE WHEN t.n_distinct < 0 THEN -t.n_distinct ELSE t.n_distinct / t.reltuples END >= 0.9)
  SELECT DISTINCT ON (a.relation, a.attnum) a.relation, a.attname, a.attnum, a.label, a.reason
    FROM (SELECT 1 AS place, b.* FROM by_name b UNION ALL SELECT 2, b.* FROM by_value b
          UNION ALL SELECT 3, b.* FROM by_age b UNION ALL SELECT 4, b.* FROM by_distinct b) a
   ORDER BY a.relation, a.attnum, a.place;
COMMENT ON VIEW privacy_score.column_sign IS 'Internal: columns that seem to identify people, with the label that fits and why.';

CREATE VIEW privacy_score.label_suggestion AS
  SELECT s.relation, s.attname, s.attnum, s.label, s.reason,
         pg_catalog.format('SECURITY LABEL FOR privacy_score ON COLUMN %s.%I IS %L;', s.relation::pg_catalog.regclass, s.attname, s.label) AS suggestion
    FROM privacy_score.column_sign s
    JOIN privacy_score.user_column u ON u.relation = s.relation AND u.attnum = s.attnum AND u.label IS NULL
   WHERE s.attnum <> ALL (privacy_score.subject_attributes(s.relation));
COMMENT ON VIEW privacy_score.label_suggestion IS 'Internal: what suggest_labels() shows, of all relations.';

CREATE FUNCTION privacy_score.suggest_labels(relation regclass)
  RETURNS TABLE (attribute name, label text, reason text, suggestion text)
  AS 'MODULE_PATHNAME', 'ps_suggest_labels' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.suggest_labels(regclass) IS
  'Labels for columns without one that seem to identify people, with the reason and the statement: by their names, and by the planner''s statistics, so after ANALYZE. No table is read and no value shown. Owner of the relation, or pg_read_all_stats.';

-- The fence of baselines (docs/scoring.md, section 7), of sessions and days since the baseline ended.
CREATE FUNCTION privacy_score.suggest_limits(role name)
  RETURNS TABLE (setting text, value float8, reason text, suggestion text)
  LANGUAGE sql STRICT VOLATILE SET jit = off
  BEGIN ATOMIC
    WITH here AS MATERIALIZED (
      -- What stands for the role in this database is stronger than what ALTER ROLE alone would set.
      SELECT pg_catalog.split_part(c, '=', 1) AS name, ' IN DATABASE ' || pg_catalog.quote_ident(b.datname) AS place
        FROM pg_catalog.pg_db_role_setting d
        JOIN pg_catalog.pg_roles r ON r.oid = d.setrole AND r.rolname = suggest_limits.role
        JOIN pg_catalog.pg_database b ON b.oid = d.setdatabase AND b.datname = pg_catalog.current_database()
       CROSS JOIN LATERAL pg_catalog.unnest(d.setconfig) c),
    base AS MATERIALIZED (
      SELECT b.id, b.to_day + 1 AS first_day
        FROM privacy_score.role_watching(suggest_limits.role) w
        LEFT JOIN privacy_score.baselines b ON b.role = suggest_limits.role AND b.end_user IS NULL AND b.active),
    -- End users whose baseline is of later days than the role's: until it ends, what they did is what it says.
    own AS MATERIALIZED (
      SELECT o.end_user, o.to_day FROM privacy_score.baselines o
       WHERE o.role = suggest_limits.role AND o.end_user IS NOT NULL AND o.active),
    seen AS MATERIALIZED (
      SELECT 1 AS place, s.enforced, s.end_user
        FROM base b, LATERAL privacy_score.score_sessions(suggest_limits.role, b.first_day, 'infinity') s
       WHERE NOT EXISTS (SELECT FROM own o WHERE o.end_user = s.end_user AND s.day <= o.to_day)
      UNION ALL
      SELECT 2, d.enforced, d.end_user
        FROM base b, LATERAL privacy_score.score(suggest_limits.role, b.first_day, 'infinity') d
       WHERE NOT EXISTS (SELECT FROM own o WHERE o.end_user = d.end_user AND d.day <= o.to_day)),
    -- Of ten sessions of one person with a baseline of her own on, limits for her are more than a guess.
    person_fence AS MATERIALIZED (
      SELECT m.end_user, m.place, m.number, m.median,
             GREATEST(1, pg_catalog.ceil(100 * (m.median + 3.5 * 1.4826 * (
               SELECT pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY pg_catalog.abs(s.enforced - m.median))
                 FROM seen s WHERE s.place = m.place AND s.end_user = m.end_user))) / 100) AS value
        FROM (SELECT s.end_user, s.place, pg_catalog.count(*) AS number,
                     pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY s.enforced) AS median
                FROM seen s JOIN own o ON o.end_user = s.end_user GROUP BY s.end_user, s.place) m),
    personal AS (
      SELECT s.end_user, s.number, s.median, s.value AS session_value, GREATEST(s.value, d.value) AS day_value
        FROM person_fence s LEFT JOIN person_fence d ON d.end_user = s.end_user AND d.place = 2
       WHERE s.place = 1 AND s.number >= 10),
    middle AS (SELECT s.place, pg_catalog.count(*) AS number, pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY s.enforced) AS median
                 FROM seen s GROUP BY s.place),
    fence AS MATERIALIZED (
      SELECT m.place, m.number, m.median,
             GREATEST(1, pg_catalog.ceil(100 * (m.median + 3.5 * 1.4826 * (
               SELECT pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY pg_catalog.abs(s.enforced - m.median))
                 FROM seen s WHERE s.place = m.place))) / 100) AS value
        FROM middle m),
    wanted AS (
      SELECT p.place, p.setting, p.what, COALESCE(f.number, 0) AS number, f.median,
             GREATEST(COALESCE(f.value, 1), (SELECT o.value FROM fence o WHERE o.place < p.place)) AS value
        FROM (VALUES (1, 'session_limit', 'session'), (2, 'daily_limit', 'day')) p(place, setting, what)
        LEFT JOIN fence f ON f.place = p.place)
    SELECT x.setting, x.value, x.reason, x.suggestion
      FROM (SELECT 0 AS place, 'baseline' AS setting, NULL::float8 AS value, 'limits compare with a baseline, and the role has none' AS reason,
                   pg_catalog.format('SELECT privacy_score.set_baseline(%L);', suggest_limits.role) AS suggestion
              FROM base b WHERE b.id IS NULL
            UNION ALL
            SELECT w.place, w.setting, w.value,
                   CASE WHEN w.number = 0 THEN 'nothing recorded since the baseline ended; 1 is what one statement adds that tells everything'
                        ELSE pg_catalog.format('%s %s(s) since the baseline ended, median %s; above this one stands out from the others, as %s did',
                                               w.number, w.what, pg_catalog.round(w.median::numeric, 2),
                                               (SELECT pg_catalog.count(*) FROM seen s WHERE s.place = w.place AND s.enforced > w.value)) END
                     || CASE WHEN w.number BETWEEN 1 AND 9 THEN '; fewer than ten make it a guess' ELSE '' END,
                   pg_catalog.format('ALTER ROLE %I%s SET privacy_score.%s = %s;', suggest_limits.role,
                                     (SELECT h.place FROM here h WHERE h.name = 'privacy_score.' || w.setting), w.setting, w.value)
              FROM wanted w, base b WHERE b.id IS NOT NULL
            UNION ALL
            SELECT 3, 'set_limit', p.session_value,
                   pg_catalog.format('end user %L has a baseline of her own, and %s session(s) since it ended, median %s: these limits are hers', p.end_user, p.number, pg_catalog.round(p.median::numeric, 2)),
                   pg_catalog.format('SELECT privacy_score.set_limit(%L, %L, session_limit => %s, daily_limit => %s);', suggest_limits.role, p.end_user, p.session_value, p.day_value)
              FROM personal p, base b WHERE b.id IS NOT NULL
            UNION ALL
            SELECT 5, 'mode', NULL, 'tells the client when a limit is passed, and refuses nothing; enforce refuses',
                   pg_catalog.format('ALTER ROLE %I%s SET privacy_score.mode = ''warn'';', suggest_limits.role,
                                     (SELECT h.place FROM here h WHERE h.name = 'privacy_score.mode'))
              FROM base b WHERE b.id IS NOT NULL) x
     ORDER BY x.place, x.suggestion;
  END;
COMMENT ON FUNCTION privacy_score.suggest_limits(name) IS
  'Limits for a role from what its sessions and days since the baseline added (the column enforced): the modified z-score of 3.5 [Iglewicz, Hoaglin], at least 1, rounded up to hundredths; with the reason and the statement. A role asks about itself, pg_read_all_stats about all.';

-- A server without the library lets any value in.
CREATE FUNCTION privacy_score.setting_fits(value text, vartype text, enumvals text[], min_val text, max_val text) RETURNS boolean
  LANGUAGE sql IMMUTABLE
  RETURN CASE setting_fits.vartype
           WHEN 'enum' THEN pg_catalog.lower(setting_fits.value) = ANY (setting_fits.enumvals)
           WHEN 'real' THEN CASE WHEN setting_fits.value ~* '^ *[-+]?([0-9]{1,50}[.]?[0-9]{0,50}|[.][0-9]{1,50})(e[-+]?[0-9]{1,2})? *$'
                                 THEN setting_fits.value::float8 BETWEEN setting_fits.min_val::float8 AND setting_fits.max_val::float8
                                 ELSE false END
           ELSE true END;
COMMENT ON FUNCTION privacy_score.setting_fits(text, text, text[], text, text) IS
  'Internal: whether a setting, of which pg_settings says the others, can have a value; of enumerations and numbers without a unit.';

-- Settings as a new session of each role in this database has them; level: 2 and more where they are the role's own, 3 in
-- this database only.
CREATE VIEW privacy_score.role_setting AS
  SELECT r.oid, r.rolname, pg_catalog.substr(s.name, 15) AS name,
         CASE WHEN s.vartype = 'enum' THEN pg_catalog.lower(COALESCE(o.value, s.reset_val)) ELSE COALESCE(o.value, s.reset_val) END AS value,
         COALESCE(o.level, 0) AS level
    FROM pg_catalog.pg_roles r
   CROSS JOIN pg_catalog.pg_settings s
    LEFT JOIN LATERAL (
      SELECT pg_catalog.substr(c, pg_catalog.length(s.name) + 2) AS value, (d.setrole <> 0)::int * 2 + (d.setdatabase <> 0)::int AS level
        FROM pg_catalog.pg_db_role_setting d, pg_catalog.unnest(d.setconfig) c
       WHERE d.setrole IN (0, r.oid) AND pg_catalog.starts_with(c, s.name || '=')
         AND d.setdatabase IN (0, (SELECT b.oid FROM pg_catalog.pg_database b WHERE b.datname = pg_catalog.current_database()))
         AND privacy_score.setting_fits(pg_catalog.substr(c, pg_catalog.length(s.name) + 2), s.vartype, s.enumvals, s.min_val, s.max_val)
       ORDER BY level DESC LIMIT 1) o ON true
   WHERE s.name IN ('privacy_score.mode', 'privacy_score.session_limit', 'privacy_score.daily_limit', 'privacy_score.normalised_limit', 'privacy_score.alert_level')
     AND r.rolcanlogin AND NOT r.rolsuper;
COMMENT ON VIEW privacy_score.role_setting IS 'Internal: mode and limits of roles that log in.';

CREATE VIEW privacy_score.given_setting AS
  SELECT pg_catalog.split_part(c, '=', 1) AS name,
         CASE WHEN d.setrole = 0 AND d.setdatabase = 0 THEN 'ROLE ALL'
              ELSE pg_catalog.concat_ws(' IN ', 'ROLE ' || pg_catalog.quote_ident(r.rolname), 'DATABASE ' || pg_catalog.quote_ident(b.datname)) END AS holder,
         pg_catalog.substr(c, pg_catalog.strpos(c, '=') + 1) AS value, NULL::text AS sourcefile, NULL::int AS sourceline
    FROM pg_catalog.pg_db_role_setting d
   CROSS JOIN LATERAL pg_catalog.unnest(d.setconfig) c
    LEFT JOIN pg_catalog.pg_roles r ON r.oid = d.setrole
    LEFT JOIN pg_catalog.pg_database b ON b.oid = d.setdatabase
   WHERE c LIKE 'privacy\_score.%'
  UNION ALL
  SELECT p.name, NULL, p.setting, p.sourcefile, p.sourceline FROM pg_catalog.pg_file_settings p WHERE p.name LIKE 'privacy\_score.%';
COMMENT ON VIEW privacy_score.given_setting IS
  'Internal: where settings under the prefix of this extension have been given: to whom, or in which file.';

CREATE VIEW privacy_score.setup_finding AS
  WITH info AS MATERIALIZED (SELECT i.*, i.memory_limit IS NOT NULL AS preloaded FROM privacy_score.shared_info() i),
  role_setting AS MATERIALIZED (SELECT * FROM privacy_score.role_setting),
  role_label AS MATERIALIZED (
    SELECT l.objoid AS role, l.label FROM pg_catalog.pg_shseclabel l
     WHERE l.provider = 'privacy_score' AND l.classoid = 'pg_catalog.pg_authid'::pg_catalog.regclass),
  -- What was recorded of roles that are still there.
  recorded AS MATERIALIZED (
    SELECT r.rolname, s.days, s.sessions
      FROM (SELECT x.role, pg_catalog.count(DISTINCT x.day) AS days, pg_catalog.count(*) AS sessions
              FROM privacy_score.session x GROUP BY x.role) s
      JOIN pg_catalog.pg_roles r ON r.rolname = s.role
     WHERE NOT r.rolsuper AND NOT EXISTS (SELECT FROM role_label l WHERE l.role = r.oid AND l.label = 'exempt')),
  baseline AS MATERIALIZED (
    SELECT b.*, 'role ' || pg_catalog.quote_ident(b.role) || COALESCE(', end user ' || pg_catalog.quote_literal(b.end_user), '') AS whose
      FROM privacy_score.baseline b WHERE b.active AND EXISTS (SELECT FROM recorded r WHERE r.rolname = b.role)),
  -- How a role, or an end user with a baseline of her own, gets one of what is recorded: of the last thirty days, or of the
  -- days that there are.
  remedy AS MATERIALIZED (
    SELECT x.role, NULL::text AS end_user,
           CASE WHEN pg_catalog.bool_or(x.day BETWEEN privacy_score.today() - 30 AND privacy_score.today() - 1)
                THEN pg_catalog.format('SELECT privacy_score.set_baseline(%L);', x.role)
                ELSE pg_catalog.format('SELECT privacy_score.set_baseline(%L, %L, %L);', x.role, pg_catalog.min(x.day), pg_catalog.max(x.day)) END AS suggestion
      FROM privacy_score.session x GROUP BY x.role
    UNION ALL
    SELECT x.role, x.end_user,
           CASE WHEN pg_catalog.bool_or(x.day BETWEEN privacy_score.today() - 30 AND privacy_score.today() - 1)
                THEN pg_catalog.format('SELECT privacy_score.set_baseline(%L, end_user => %L);', x.role, x.end_user)
                ELSE pg_catalog.format('SELECT privacy_score.set_baseline(%L, %L, %L, %L);', x.role, pg_catalog.min(x.day), pg_catalog.max(x.day), x.end_user) END
      FROM privacy_score.session x JOIN baseline b ON b.role = x.role AND b.end_user = x.end_user GROUP BY x.role, x.end_user),
  sign AS MATERIALIZED (SELECT * FROM privacy_score.label_suggestion),
  protected AS MATERIALIZED (SELECT DISTINCT u.relation FROM privacy_score.user_column u WHERE u.protected),
  -- Tables with a foreign key that leads to a protected one.
  referring AS MATERIALIZED (
    SELECT DISTINCT ON (f.conrelid) f.conrelid AS relation, f.confrelid AS leads_to,
           (SELECT pg_catalog.array_agg(a.attname ORDER BY k.n) FROM pg_catalog.unnest(f.conkey) WITH ORDINALITY k(number, n)
              JOIN pg_catalog.pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number) AS columns
      FROM pg_catalog.pg_constraint f
      JOIN protected p ON p.relation = f.confrelid
      JOIN pg_catalog.pg_class c ON c.oid = f.conrelid AND NOT c.relispartition
     WHERE f.contype = 'f' AND f.confrelid <> f.conrelid
     ORDER BY f.conrelid, f.conname),
  beside AS MATERIALIZED (SELECT l.* FROM referring l WHERE NOT EXISTS (SELECT FROM protected d WHERE d.relation = l.relation))

  -- The server.
  SELECT 'critical' AS severity, 10 AS place, 'shared_preload_libraries' AS subject,
         'the library is not preloaded: nothing is watched' AS finding,
         'ALTER SYSTEM SET shared_preload_libraries = '
           || COALESCE((SELECT pg_catalog.string_agg(pg_catalog.quote_literal(pg_catalog.btrim(l.name, ' "')), ', ' ORDER BY l.n) || ', '
                          FROM pg_catalog.unnest(pg_catalog.string_to_array(NULLIF(pg_catalog.current_setting('shared_preload_libraries'), ''), ',')) WITH ORDINALITY l(name, n)), '')
           || '''privacy_score'';  -- then restart the server' AS suggestion
    FROM info i WHERE NOT i.preloaded
  UNION ALL
  SELECT 'critical', 11, 'privacy_score.mode', 'mode is off: nothing is watched',
         'ALTER SYSTEM SET privacy_score.mode = ''observe'';  -- then SELECT pg_reload_conf();'
    FROM info i, pg_catalog.pg_settings s WHERE i.preloaded AND s.name = 'privacy_score.mode' AND s.reset_val = 'off'
  UNION ALL
  SELECT 'critical', 12, 'privacy_score.max_memory', pg_catalog.format('%s statements were counted of which nothing else is known: the memory was full', i.dropped),
         pg_catalog.format('ALTER SYSTEM SET privacy_score.max_memory = ''%sMB'';  -- then restart the server', 2 * (i.memory_limit + 1048575) / 1048576)
    FROM info i WHERE i.dropped > 0
  UNION ALL
  SELECT 'warning', 13, 'stat_info', pg_catalog.format('%s faults of scoring and %s of writing history since %s', i.scoring_errors, i.flush_errors, i.stats_reset::timestamptz(0)),
         'SELECT privacy_score.reset_stats();  -- when what the server''s log says of them is mended'
    FROM info i WHERE i.scoring_errors > 0 OR i.flush_errors > 0
  UNION ALL
  SELECT 'warning', 14, 'privacy_score.max_memory', pg_catalog.format('the share of a session is %s bytes; 8192 are the least that it should be', i.session_share),
         pg_catalog.format('ALTER SYSTEM SET privacy_score.max_memory = ''%sMB'';  -- then restart the server',
                           i.memory_limit * 8192 / GREATEST(i.session_share, 1) / 1048576 + 1)
    FROM info i WHERE i.session_share < 8192
  UNION ALL
  SELECT 'warning', 15, 'max_worker_processes',
         pg_catalog.format('%s of %s are taken; the worker of a database, the one for rates of large tables and the accountant of noisy answers need one each', w.taken, w.most),
         pg_catalog.format('ALTER SYSTEM SET max_worker_processes = %s;  -- then restart the server', w.taken + 8)
    FROM info i,
         (SELECT pg_catalog.current_setting('max_worker_processes')::int AS most,
                 (SELECT pg_catalog.count(*)::int FROM pg_catalog.pg_stat_activity a
                   WHERE a.backend_type !~ '^(client backend|autovacuum .*|background writer|checkpointer|wal.*|startup|archiver|logger|slotsync worker|io worker|standalone backend|privacy_score.*)$') AS taken) w
   WHERE i.preloaded AND w.most - w.taken < 3
  UNION ALL
  SELECT 'warning', 16, 'log_min_messages', 'above error: what constraints say that are checked at the end of a transaction is neither counted nor withheld',
         'ALTER SYSTEM SET log_min_messages = ''warning'';  -- then SELECT pg_reload_conf();'
   WHERE pg_catalog.current_setting('log_min_messages') IN ('log', 'fatal', 'panic')
  UNION ALL
  SELECT 'warning', 17, g.name, pg_catalog.format('there is no such setting (%s)', COALESCE('set for ' || g.holder, g.sourcefile || ', line ' || g.sourceline)),
         CASE WHEN g.holder IS NOT NULL THEN pg_catalog.format('ALTER %s RESET %s;', g.holder, g.name) ELSE '-- take the line out of the file' END
    FROM privacy_score.given_setting g WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_settings s WHERE s.name = g.name)
  UNION ALL
  SELECT 'warning', 18, g.name, pg_catalog.format('cannot be %L, which is set for %s: it does nothing', g.value, g.holder),
         pg_catalog.format('ALTER %s RESET %s;', g.holder, g.name)
    FROM privacy_score.given_setting g JOIN pg_catalog.pg_settings s ON s.name = g.name
   WHERE g.holder IS NOT NULL AND NOT privacy_score.setting_fits(g.value, s.vartype, s.enumvals, s.min_val, s.max_val)

  -- What is protected.
  UNION ALL
  SELECT 'critical', 20, 'protected_relations', 'no table is protected: nothing has a score',
         '-- SELECT privacy_score.protect(''...'');  each table with rows about persons'
   WHERE NOT EXISTS (SELECT FROM protected)
  UNION ALL
  SELECT 'warning', 21, s.relation::pg_catalog.regclass::text,
         pg_catalog.format('not protected, and seems to identify people: %s', s.columns),
         pg_catalog.format('SELECT privacy_score.protect(%L);', s.relation::pg_catalog.regclass)
    FROM (SELECT g.relation, pg_catalog.string_agg(pg_catalog.format('%I (%s)', g.attname, g.reason), ', ' ORDER BY g.attnum) AS columns
            FROM sign g WHERE g.reason !~ '^nearly' GROUP BY g.relation) s
   WHERE NOT EXISTS (SELECT FROM protected p WHERE p.relation = s.relation) AND NOT EXISTS (SELECT FROM beside b WHERE b.relation = s.relation)
  UNION ALL
  SELECT 'warning', 22, b.relation::pg_catalog.regclass::text,
         pg_catalog.format('not protected, and its foreign key (%s) leads to %s, which is', pg_catalog.array_to_string(b.columns, ', '), b.leads_to::pg_catalog.regclass),
         pg_catalog.format('SELECT privacy_score.protect(%L, %L);', b.relation::pg_catalog.regclass, b.columns)
    FROM beside b
  UNION ALL
  SELECT 'warning', 23, s.relation::pg_catalog.regclass::text || '.' || pg_catalog.quote_ident(s.attname),
         pg_catalog.format('no label, and %s', s.reason), s.suggestion
    FROM sign s JOIN protected p ON p.relation = s.relation
  UNION ALL
  SELECT 'info', 24, p.relation::pg_catalog.regclass::text, 'never analysed: its columns are judged by their names only',
         pg_catalog.format('ANALYZE %s;', p.relation::pg_catalog.regclass)
    FROM protected p JOIN pg_catalog.pg_class c ON c.oid = p.relation
   WHERE c.relkind <> 'f' AND c.reltuples < 0
  UNION ALL
  SELECT 'warning', 25, p.relation::pg_catalog.regclass::text, 'each row counts as a person of its own: it has no primary key, and no subject was declared',
         CASE WHEN l.columns IS NOT NULL THEN pg_catalog.format('SELECT privacy_score.protect(%L, %L);', p.relation::pg_catalog.regclass, l.columns)
              ELSE pg_catalog.format('-- SELECT privacy_score.protect(%L, ''{...}'');  the columns that say whose a row is',
                                     pg_catalog.translate(p.relation::pg_catalog.regclass::text, E'\n\r', '  ')) END
    FROM protected p LEFT JOIN referring l ON l.relation = p.relation
   WHERE privacy_score.subject_attributes(p.relation) = '{}'
  UNION ALL
  SELECT 'warning', 26, g.relation::text, pg_catalog.format('%s may put triggers on it, which are handed whole rows', COALESCE('role ' || pg_catalog.quote_ident(g.grantee), 'everybody')),
         pg_catalog.format('REVOKE TRIGGER ON %s FROM %s%s;', g.relation, COALESCE(pg_catalog.quote_ident(g.grantee), 'PUBLIC'),
                           -- It may have granted it further.
                           CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) x
                                               JOIN pg_catalog.pg_roles r ON r.oid = x.grantor AND r.rolname = g.grantee
                                              WHERE c.oid = g.relation AND x.privilege_type = 'TRIGGER') THEN ' CASCADE' END)
    FROM privacy_score.trigger_grants g

  UNION ALL
  SELECT 'warning', 27, u.relation::pg_catalog.regclass::text, 'not protected, so the labels of its columns do nothing',
         pg_catalog.format('SELECT privacy_score.protect(%L);', u.relation::pg_catalog.regclass)
    FROM (SELECT DISTINCT c.relation FROM privacy_score.user_column c WHERE c.label IS NOT NULL AND NOT c.protected) u
   WHERE NOT EXISTS (SELECT FROM beside b WHERE b.relation = u.relation)
     AND NOT EXISTS (SELECT FROM sign g WHERE g.relation = u.relation AND g.reason !~ '^nearly')

  -- Who reads.
  UNION ALL
  SELECT CASE WHEN r.days < 5 THEN 'info' ELSE 'warning' END, 30, 'role ' || pg_catalog.quote_ident(r.rolname),
         pg_catalog.format('no baseline, with %s session(s) on %s day(s) recorded: all that it does is new', r.sessions, r.days)
           || CASE WHEN r.days < 5 THEN '; first let normal work happen for some days' ELSE '' END,
         y.suggestion
    FROM recorded r JOIN remedy y ON y.role = r.rolname AND y.end_user IS NULL
   WHERE NOT EXISTS (SELECT FROM baseline b WHERE b.role = r.rolname AND b.end_user IS NULL)
  UNION ALL
  SELECT 'warning', 31, b.whose, pg_catalog.format('its baseline has %s session(s), fewer than %s: normal work counts as new', b.sessions, l.least),
         y.suggestion
    FROM baseline b LEFT JOIN remedy y ON y.role = b.role AND y.end_user IS NOT DISTINCT FROM b.end_user, (SELECT pg_catalog.current_setting('privacy_score.baseline_min_sessions')::int AS least) l
   WHERE b.sessions < l.least
  UNION ALL
  SELECT 'info', 32, b.whose, pg_catalog.format('its baseline ends %s days ago: new habits count as new', privacy_score.today() - b.to_day),
         y.suggestion
    FROM baseline b LEFT JOIN remedy y ON y.role = b.role AND y.end_user IS NOT DISTINCT FROM b.end_user WHERE pg_catalog.isfinite(b.to_day) AND b.to_day < privacy_score.today() - 180
  UNION ALL
  SELECT 'warning', 33, b.whose,
         pg_catalog.format('%s day(s) of its baseline stand out: %s', pg_catalog.jsonb_array_length(b.checked->'days'),
                           (SELECT pg_catalog.string_agg(d->>'day', ', ' ORDER BY d->>'day') FROM pg_catalog.jsonb_array_elements(b.checked->'days') d)),
         pg_catalog.format('SELECT * FROM privacy_score.alerts WHERE kind = ''baseline_outlier'' AND role = %L%s;  -- then a baseline of other days', b.role,
                           CASE WHEN b.end_user IS NOT NULL THEN pg_catalog.format(' AND end_user = %L', b.end_user) END)
    FROM baseline b WHERE pg_catalog.jsonb_array_length(b.checked->'days') > 0
  UNION ALL
  SELECT 'info', 34, b.whose,
         pg_catalog.format('the columns of %s in its baseline together tell nearly all people apart (%s): its others add by their surprise only', x.relation, pg_catalog.round(x.rate::numeric, 4)),
         pg_catalog.format('SELECT * FROM privacy_score.suggest_labels(%L);  -- identifiers do not count in rates', x.relation)
    FROM baseline b, pg_catalog.jsonb_each_text(b.checked->'relation_rates') x(relation, rate) WHERE x.rate::float8 > 0.95
  UNION ALL
  SELECT 'info', 35, 'role ' || pg_catalog.quote_ident(r.rolname), 'reads the statistics of all, and is watched: what it reads becomes history',
         pg_catalog.format('SECURITY LABEL FOR privacy_score ON ROLE %I IS ''exempt'';  -- if it is a program, or an officer', r.rolname)
    FROM pg_catalog.pg_roles r
   WHERE r.rolcanlogin AND NOT r.rolsuper AND pg_catalog.pg_has_role(r.oid, 'pg_read_all_stats', 'MEMBER')
     AND NOT EXISTS (SELECT FROM role_label l WHERE l.role = r.oid)
  UNION ALL
  SELECT 'warning', 36, 'role ' || pg_catalog.quote_ident(r.rolname),
         pg_catalog.format('is a member of %s, and so reads files or acts as the server does: that is not scored', g.rolname),
         -- From whoever was granted it and passes it on, under the name of who granted it.
         (SELECT pg_catalog.string_agg(pg_catalog.format('REVOKE %I FROM %I%s%s;', g.rolname, d.rolname,
                                                         CASE WHEN m.grantor <> 10 THEN ' GRANTED BY ' || pg_catalog.quote_ident(o.rolname) END,
                                                         CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_auth_members x WHERE x.roleid = g.oid AND x.grantor = d.oid)
                                                              THEN ' CASCADE' END), ' ' ORDER BY d.rolname, o.rolname)
            FROM pg_catalog.pg_auth_members m
            JOIN pg_catalog.pg_roles d ON d.oid = m.member
            LEFT JOIN pg_catalog.pg_roles o ON o.oid = m.grantor
           WHERE m.roleid = g.oid AND NOT d.rolsuper AND pg_catalog.pg_has_role(r.oid, d.oid, 'MEMBER'))
    FROM pg_catalog.pg_roles r, pg_catalog.pg_roles g
   WHERE g.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
     AND r.rolcanlogin AND NOT r.rolsuper AND pg_catalog.pg_has_role(r.oid, g.oid, 'MEMBER')

  UNION ALL
  SELECT 'warning', 37, x.name, pg_catalog.format('%s may set it, and so say how it is watched or limited itself', COALESCE('role ' || x.grantee, 'everybody')),
         pg_catalog.format('REVOKE ALL ON PARAMETER %s FROM %s%s;', x.name, COALESCE(x.grantee, 'PUBLIC'), CASE WHEN x.passed_on THEN ' CASCADE' END)
    FROM (SELECT s.name, pg_catalog.quote_ident(r.rolname) AS grantee,
                 EXISTS (SELECT FROM pg_catalog.pg_parameter_acl q CROSS JOIN LATERAL pg_catalog.aclexplode(q.paracl) o
                          WHERE q.parname = p.parname AND o.grantor = a.grantee) AS passed_on
            FROM pg_catalog.pg_parameter_acl p
            JOIN pg_catalog.pg_settings s ON pg_catalog.lower(s.name) = p.parname AND s.context IN ('superuser', 'superuser-backend')
           CROSS JOIN LATERAL pg_catalog.aclexplode(p.paracl) a
            LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
           WHERE p.parname LIKE 'privacy\_score.%' AND r.rolsuper IS NOT TRUE
           GROUP BY s.name, p.parname, a.grantee, r.rolname) x

  -- Limits.
  UNION ALL
  SELECT 'warning', 40, 'role ' || pg_catalog.quote_ident(s.rolname),
         CASE WHEN NOT l.limited THEN 'mode enforce refuses nothing of it: it has neither session_limit nor daily_limit'
              ELSE 'mode enforce with a limit and no baseline: each of its statements is new and counts against the limit' END,
         CASE WHEN NOT l.limited THEN pg_catalog.format('SELECT * FROM privacy_score.suggest_limits(%L);', s.rolname)
              ELSE COALESCE((SELECT y.suggestion FROM remedy y WHERE y.role = s.rolname),
                            pg_catalog.format('-- SELECT privacy_score.set_baseline(%L);  when something of it is recorded',
                                              pg_catalog.translate(s.rolname::text, E'\n\r', '  '))) END
    FROM role_setting s,
         LATERAL (SELECT pg_catalog.bool_or(o.value::float8 >= 0) AS limited FROM role_setting o
                   WHERE o.oid = s.oid AND o.name IN ('session_limit', 'daily_limit')) l
   WHERE s.name = 'mode' AND s.value = 'enforce'
     AND (NOT l.limited OR NOT EXISTS (SELECT FROM privacy_score.baseline b WHERE b.role = s.rolname AND b.end_user IS NULL AND b.active))
  UNION ALL
  SELECT 'warning', 41, 'role ' || pg_catalog.quote_ident(s.rolname), pg_catalog.format('its %s does nothing: %s', s.names, w.why), w.suggestion
    FROM (SELECT o.oid, o.rolname, pg_catalog.string_agg(o.name, ', ' ORDER BY o.name) AS names
            FROM role_setting o WHERE o.name <> 'mode' AND o.level >= 2 AND o.value::float8 >= 0 GROUP BY o.oid, o.rolname) s
    JOIN role_setting m ON m.oid = s.oid AND m.name = 'mode'
   CROSS JOIN LATERAL (
     SELECT 'its mode is off' AS why,
            pg_catalog.format('ALTER ROLE %I%s SET privacy_score.mode = ''warn'';', s.rolname,
                              CASE WHEN m.level = 3 THEN ' IN DATABASE ' || pg_catalog.quote_ident(pg_catalog.current_database()) END) AS suggestion
      WHERE m.value = 'off'
     UNION ALL
     SELECT 'the role is not watched', pg_catalog.format('SECURITY LABEL FOR privacy_score ON ROLE %I IS ''watched'';', s.rolname)
      WHERE m.value <> 'off'
        AND CASE WHEN EXISTS (SELECT FROM role_label l WHERE l.role = s.oid) THEN EXISTS (SELECT FROM role_label l WHERE l.role = s.oid AND l.label = 'exempt')
                 ELSE EXISTS (SELECT FROM role_label l WHERE l.label = 'watched') END) w
  UNION ALL
  SELECT 'info', 42, 'alerts', pg_catalog.format('%s wait for somebody to look at them, the oldest since %s', x.number, x.oldest::date),
         'SELECT * FROM privacy_score.alerts WHERE acknowledged_at IS NULL ORDER BY at;'
    FROM (SELECT pg_catalog.count(*) AS number, pg_catalog.min(a.at) AS oldest FROM privacy_score.alert a WHERE a.acknowledged_at IS NULL) x
   WHERE x.number > 0

  -- Budgets.
  UNION ALL
  SELECT CASE WHEN b."left" = 0 THEN 'warning' ELSE 'info' END, 50, pg_catalog.format('budget of %I for %s', b.role, b.relation),
         CASE WHEN b."left" = 0 THEN 'spent: there are no further answers' ELSE pg_catalog.format('more than half spent: %s of %s', b.spent, b.epsilon) END
           || COALESCE(', until ' || b.period_ends::timestamptz(0)::text, ''),
         pg_catalog.format('SELECT * FROM privacy_score.dp_releases WHERE role = %L;  -- what it was spent for', b.role)
    FROM privacy_score.dp_budget b WHERE b.spent * 2 > b.epsilon
  UNION ALL
  SELECT 'warning', 51, 'sizes of tables', 'open to everybody, where there are budgets: how many rows a table has, and when that changes, is told exactly',
         'REVOKE EXECUTE ON FUNCTION pg_relation_size(regclass, text), pg_table_size(regclass), pg_total_relation_size(regclass) FROM PUBLIC;  -- docs/threat_model.md has the others'
    FROM pg_catalog.pg_proc p
   WHERE p.oid = 'pg_catalog.pg_relation_size(pg_catalog.regclass, text)'::pg_catalog.regprocedure
     AND (p.proacl IS NULL OR EXISTS (SELECT FROM pg_catalog.aclexplode(p.proacl) a WHERE a.grantee = 0 AND a.privilege_type = 'EXECUTE'))
     AND EXISTS (SELECT FROM privacy_score.dp_budget);
COMMENT ON VIEW privacy_score.setup_finding IS 'Internal: what check_setup() shows, with the place in its order.';

CREATE FUNCTION privacy_score.check_setup()
  RETURNS TABLE (severity text, subject text, finding text, suggestion text)
  AS 'MODULE_PATHNAME', 'ps_check_setup' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.check_setup() IS
  'What is missing, or does nothing, in the server, the declarations, roles, limits and budgets of this database, each with the statement that mends it; severity: critical, warning, info. No table is read and no value shown. For pg_read_all_stats.';

-- Noisy counts: budgets, what they pay for, and the views of both. What is charged is decided by the accountant
-- (src/backend/dp/dp_accountant.hpp); the functions and views here that are called internal are its arithmetic.

CREATE FUNCTION privacy_score.database_identity() RETURNS text
  AS 'MODULE_PATHNAME', 'ps_database_identity' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.database_identity() IS 'Internal: names the database in which OIDs hold; a restored or copied one is another.';

CREATE FUNCTION privacy_score.period_start(anchor timestamptz, period interval, number bigint) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN ((anchor AT TIME ZONE 'UTC') + period * number::float8) AT TIME ZONE 'UTC';
COMMENT ON FUNCTION privacy_score.period_start(timestamptz, interval, bigint) IS
  'Internal: when period `number` of a budget begins, the first being 0. In UTC, so that no time zone setting moves it.';

-- The guess takes a month as 30.436875 days and is off by one period at most: a period with months has 28 days or more.
CREATE FUNCTION privacy_score.period_number(anchor timestamptz, period interval, at timestamptz) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (
    SELECT COALESCE(pg_catalog.max(k), 0)
      FROM (SELECT pg_catalog.floor(EXTRACT(epoch FROM at - anchor) /
                     ((EXTRACT(year FROM period) * 12 + EXTRACT(month FROM period)) * 2629746 + EXTRACT(day FROM period) * 86400
                      + EXTRACT(hour FROM period) * 3600 + EXTRACT(minute FROM period) * 60 + EXTRACT(second FROM period)))::bigint) g(guess),
           pg_catalog.generate_series(g.guess - 2, g.guess + 2) k
     WHERE k > 0 AND privacy_score.period_start(anchor, period, k) <= at);
COMMENT ON FUNCTION privacy_score.period_number(timestamptz, interval, timestamptz) IS
  'Internal: the number of the period that holds a time; 0 before the first ends.';

CREATE VIEW privacy_score.budget_now AS
  SELECT b.id, b.origin = i.here AS at_home,
         CASE WHEN b.origin = i.here THEN b.role_oid
              ELSE COALESCE((SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = b.role AND b.role_oid <> 0), 0) END AS role_oid,
         CASE WHEN b.origin = i.here THEN b.relation_oid
              WHEN b.relation_oid <> 0 THEN COALESCE(pg_catalog.to_regclass(b.relation_name)::oid, 0) ELSE 0 END AS relation_oid,
         b.relation_name, b.epsilon, b.spent, n.number,
         b.spent - CASE WHEN n.number > b.period_number THEN b.spent ELSE b.spent_before END AS spent_now,
         b.period, CASE WHEN b.period IS NOT NULL THEN privacy_score.period_start(b.period_anchor, b.period, n.number + 1) END AS period_ends,
         b.unit, b.max_rows_per_unit, b.granted_by, b.granted_at, b.revoked_at, b.delta, b.delta_spent,
         b.delta_spent - CASE WHEN n.number > b.period_number THEN b.delta_spent ELSE b.delta_before END AS delta_now,
         b.settings, b.constant_work, b.scope
    FROM privacy_score.budget b
    CROSS JOIN (SELECT privacy_score.database_identity() AS here) i
    CROSS JOIN LATERAL (
      SELECT CASE WHEN b.period IS NULL THEN b.period_number
                  ELSE GREATEST(b.period_number,
                                privacy_score.period_number(b.period_anchor, b.period, GREATEST(pg_catalog.clock_timestamp(), b.latest)))
             END AS number) n;
COMMENT ON VIEW privacy_score.budget_now IS
  'Internal: budgets at this moment. A period that the clock has reached once stays reached, so setting the clock back gives nothing.';

CREATE FUNCTION privacy_score.tidy_budgets() RETURNS void
  LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    UPDATE privacy_score.budget b SET role_oid = n.role_oid, relation_oid = n.relation_oid, origin = privacy_score.database_identity()
      FROM privacy_score.budget_now n
     WHERE n.id = b.id AND NOT n.at_home;
    UPDATE privacy_score.budget b SET role_oid = 0
     WHERE b.role_oid <> 0 AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = b.role_oid);
    UPDATE privacy_score.budget b SET relation_oid = 0
     WHERE b.relation_oid <> 0 AND NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = b.relation_oid);
    UPDATE privacy_score.budget b SET role = r.rolname
      FROM pg_catalog.pg_roles r WHERE r.oid = b.role_oid AND r.rolname <> b.role;
    UPDATE privacy_score.budget b SET relation_name = c.name
      FROM privacy_score.canonical_relation c
     WHERE c.relation = b.relation_oid AND c.name <> b.relation_name;
  END;
COMMENT ON FUNCTION privacy_score.tidy_budgets() IS
  'Internal: takes over budgets that come from another database by their names, forgets OIDs that are gone, and keeps names those of today, for a dump. The accountant calls it when it starts.';

CREATE FUNCTION privacy_score.budget_restored() RETURNS trigger
  AS 'MODULE_PATHNAME', 'ps_budget_restored' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.budget_restored() IS 'Internal: gives a budget that comes out of a dump the OIDs of this database.';
CREATE TRIGGER budget_restored BEFORE INSERT ON privacy_score.budget
  FOR EACH ROW EXECUTE FUNCTION privacy_score.budget_restored();
COMMENT ON TRIGGER budget_restored ON privacy_score.budget IS 'Relations and roles of a restored budget may be renamed right away.';

REVOKE EXECUTE ON FUNCTION privacy_score.tidy_budgets(), privacy_score.budget_restored() FROM PUBLIC;

CREATE FUNCTION privacy_score.dp_grant(role name, relation regclass, epsilon numeric DEFAULT NULL, period interval DEFAULT NULL, unit name DEFAULT NULL, max_rows_per_unit int DEFAULT 1, delta numeric DEFAULT NULL, constant_work boolean DEFAULT true)
  RETURNS void
  AS 'MODULE_PATHNAME', 'ps_dp_grant' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_grant(name, regclass, numeric, interval, name, int, numeric, boolean) IS
  'Lets a role (a group: its members together) ask noisy questions about a relation for epsilon in all, or a period. unit: the column that names whom to protect, with at most max_rows_per_unit rows counted of each; without it a row is protected. delta: what histograms of unknown keys may spend of it in all, or a period; NULL for no limit. constant_work: what is read, sorted and stored does not depend on predicates; false lets indexes be used, and everybody who watches the server learn of rows. Given again it changes all of these, never what is spent. Owner only. Errors: 42501, 42704, 42P01, 42809, 42703, 22023.';

CREATE FUNCTION privacy_score.dp_revoke(role name, relation regclass) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_dp_revoke' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_revoke(name, regclass) IS
  'Takes back dp_grant(); the ledger is kept, and a new grant goes on with what was spent. Owner only.';

CREATE FUNCTION privacy_score.dp_grant_person(role name, home regclass, epsilon numeric, period interval DEFAULT NULL, delta numeric DEFAULT NULL, absorb boolean DEFAULT false)
  RETURNS void
  AS 'MODULE_PATHNAME', 'ps_dp_grant_person' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_grant_person(name, regclass, numeric, interval, numeric, boolean) IS
  'Lets a role (a group: its members together) ask, in plain SQL and by the dp functions, about all protected relations whose persons are at home in one relation, for epsilon in all, or a period; each person is protected, however many rows she has. delta: what groups that nobody has declared may spend of it in all, or a period; NULL for no limit. absorb: budgets of that role for single relations are taken back, and what they have spent is spent; without it such budgets are an error. Given again it changes all of these, never what is spent. Owner only. Errors: 42501, 42704, 42P01, 42809, 55000, 22023.';

CREATE FUNCTION privacy_score.dp_revoke_person(role name, home regclass) RETURNS void
  AS 'MODULE_PATHNAME', 'ps_dp_revoke_person' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_revoke_person(name, regclass) IS
  'Takes back dp_grant_person(); the ledger is kept, and a new grant goes on with what was spent. Owner only.';

CREATE FUNCTION privacy_score.noisy_rows(level int) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'ps_noisy_rows' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.noisy_rows(int) IS
  'Internal: stands, while a query of a dp only role is planned, for the answer of one of its levels. Cannot be called.';
REVOKE EXECUTE ON FUNCTION privacy_score.noisy_rows(int) FROM PUBLIC;

CREATE FUNCTION privacy_score.dp_price(sql text)
  RETURNS TABLE (level int, relations text, epsilon numeric, epsilon_once numeric, delta numeric, repeated boolean, epsilon_left numeric)
  AS 'MODULE_PATHNAME', 'ps_dp_price' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 5;
COMMENT ON FUNCTION privacy_score.dp_price(text) IS
  'What a SELECT in plain SQL would cost the caller, one row for each level that is answered: epsilon, epsilon_once for the first query of its shape, delta, and what would be left after that level alone (below zero: it would be refused). Nothing is spent and no row of persons is read. Errors: PS001 no budget for persons, PS003 a query that is not answered, 22023 not one SELECT.';

CREATE FUNCTION privacy_score.dp_error(value anyelement) RETURNS float8
  AS 'MODULE_PATHNAME', 'ps_dp_error' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.dp_error(anyelement) IS
  'Beside an aggregate of a query level that is answered privately, such as dp_error(count(*)): how far it may be off because of noise, with 95 % confidence, in its units; infinity for an average whose count may be zero. Costs nothing. 0 where nothing is answered privately. PS003 for anything but such an aggregate in a query that is answered.';

CREATE FUNCTION privacy_score.last_answer()
  RETURNS TABLE (level int, "column" name, epsilon numeric, repeated boolean, answered_at timestamptz, t float8, left_out float8, half_width float8)
  AS 'MODULE_PATHNAME', 'ps_last_answer' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 5;
COMMENT ON FUNCTION privacy_score.last_answer() IS 'Internal: what dp_last_answer shows.';

CREATE VIEW privacy_score.dp_last_answer AS SELECT * FROM privacy_score.last_answer();
COMMENT ON VIEW privacy_score.dp_last_answer IS
  'How the last statement of this session that was answered privately was measured, a row for each aggregate of its levels: the part of epsilon that its noise has, whether the answer is repeated, when it was charged; t: how much of what one person adds counts; left_out: the share of everything that this is estimated to leave out, NULL where dp_max_rows has said it; half_width: how far the noise may move the number with 95 % confidence. For an average t and left_out are those of its sum, half_width the greatest of its rows.';
COMMENT ON COLUMN privacy_score.dp_last_answer.level IS 'number of the query level in its statement';
COMMENT ON COLUMN privacy_score.dp_last_answer."column" IS 'what the aggregate is called in the answer, else its function';
COMMENT ON COLUMN privacy_score.dp_last_answer.epsilon IS 'of the epsilon of the level, what the noise of this aggregate was drawn with';
COMMENT ON COLUMN privacy_score.dp_last_answer.repeated IS 'nothing was spent';
COMMENT ON COLUMN privacy_score.dp_last_answer.answered_at IS 'when it was charged';
COMMENT ON COLUMN privacy_score.dp_last_answer.t IS 'how much of what one person adds counts';
COMMENT ON COLUMN privacy_score.dp_last_answer.left_out IS 'estimated share of everything that is beyond t, 0 to 1; NULL where dp_max_rows has said t';
COMMENT ON COLUMN privacy_score.dp_last_answer.half_width IS 'of the noise, with 95 % confidence; infinity for an average whose count may be zero';

CREATE FUNCTION privacy_score.guarded(function oid, VARIADIC arguments "any") RETURNS void
  AS 'MODULE_PATHNAME', 'ps_guarded' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.guarded(oid, "any") IS
  'Internal: in a plan that answers privately, what a function of the server makes of values of a row, NULL where it fails. Cannot be called.';

CREATE FUNCTION privacy_score.whole(value anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME', 'ps_whole' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION privacy_score.whole(anyelement) IS
  'Internal: the value as it is, with what is stored out of line read. VOLATILE, so that it is computed for every row before a condition on it.';

CREATE FUNCTION privacy_score.dp_count(relation regclass, predicate text DEFAULT NULL, epsilon numeric DEFAULT 0.1, fresh boolean DEFAULT false)
  RETURNS bigint
  AS 'MODULE_PATHNAME', 'ps_dp_count' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.dp_count(regclass, text, numeric, boolean) IS
  'Number of rows that satisfy the predicate, plus discrete Laplace noise of scale max_rows_per_unit/epsilon; may be negative. Costs epsilon of the caller''s budget, nothing when the same question was answered before, unless fresh. Errors: 42501 no budget, PS002 budget exhausted, PS003 refused predicate. Source: Dwork 2006; Canonne, Kamath, Steinke 2020.';

CREATE FUNCTION privacy_score.dp_count_detail(relation regclass, predicate text DEFAULT NULL, epsilon numeric DEFAULT 0.1, fresh boolean DEFAULT false)
  RETURNS TABLE (noisy_count bigint, lower bigint, upper bigint, confidence float8, noise_scale float8, epsilon_spent numeric, epsilon_left numeric, repeated boolean)
  AS 'MODULE_PATHNAME', 'ps_dp_count_detail' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION privacy_score.dp_count_detail(regclass, text, numeric, boolean) IS
  'As dp_count(), with the interval that holds the true count with the given confidence, the scale of the noise, what the call has spent, and what is left.';

CREATE FUNCTION privacy_score.dp_cost(relation regclass, predicate text DEFAULT NULL, epsilon numeric DEFAULT 0.1)
  RETURNS TABLE (epsilon_spent numeric, epsilon_left numeric, repeated boolean)
  AS 'MODULE_PATHNAME', 'ps_dp_cost' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION privacy_score.dp_cost(regclass, text, numeric) IS
  'What dp_count() would spend and what would be left (below zero: it would be refused); nothing is spent and no data is read.';

CREATE VIEW privacy_score.dp_budget WITH (security_barrier) AS
  SELECT r.rolname AS role, b.relation_oid::pg_catalog.regclass AS relation, b.epsilon,
         pg_catalog.trim_scale(b.spent_now) AS spent, pg_catalog.trim_scale(GREATEST(b.epsilon - b.spent_now, 0)) AS "left",
         b.period, b.period_ends, b.unit, b.max_rows_per_unit, pg_catalog.trim_scale(b.spent) AS spent_ever, b.granted_by, b.granted_at,
         b.delta, pg_catalog.trim_scale(b.delta_now) AS delta_spent, pg_catalog.trim_scale(GREATEST(b.delta - b.delta_now, CASE WHEN b.delta IS NOT NULL THEN 0 END)) AS delta_left,
         b.constant_work, b.scope
    FROM privacy_score.budget_now b
    JOIN pg_catalog.pg_class c ON c.oid = b.relation_oid
    JOIN pg_catalog.pg_roles r ON r.oid = b.role_oid
   WHERE b.revoked_at IS NULL
     AND (pg_catalog.pg_has_role(SESSION_USER, b.role_oid, 'MEMBER') OR pg_catalog.pg_has_role(c.relowner, 'USAGE')
          OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE'));
COMMENT ON VIEW privacy_score.dp_budget IS
  'Budgets in force: epsilon, of it spent and left in the current period, when that ends; unit of protection; spent_ever in all periods; likewise for delta, whose limit is NULL when there is none; whether work is constant; scope: relation, or person for all relations whose persons are at home in this one. A role sees its own and its groups'', the owner of a relation those for it, pg_read_all_stats all.';

CREATE VIEW privacy_score.dp_releases WITH (security_barrier) AS
  SELECT l.at, l.role, c.oid::pg_catalog.regclass AS relation, l.kind, l.epsilon, l.repeat_of IS NOT NULL AS repeated,
         l.shape AS predicate_shape, l.delta, l.times, b.relation_name
    FROM privacy_score.release l
    JOIN privacy_score.budget_now b ON b.id = l.budget_id
    LEFT JOIN pg_catalog.pg_class c ON c.oid = b.relation_oid
   WHERE b.role_oid <> 0 AND b.role_oid = (SELECT s.oid FROM pg_catalog.pg_roles s WHERE s.rolname = SESSION_USER)
      OR l.role = SESSION_USER AND b.role_oid <> 0 AND pg_catalog.pg_has_role(SESSION_USER, b.role_oid, 'MEMBER')
      OR pg_catalog.pg_has_role(c.relowner, 'USAGE') OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE');
COMMENT ON VIEW privacy_score.dp_releases IS
  'The ledger: answers that were paid for, and repeated ones (times: how often, at: when last), which cost nothing; epsilon is that of the question, predicate_shape has no constants. A role sees what it has asked and what was paid from its budget, the owner of a relation what was asked about it, pg_read_all_stats all.';

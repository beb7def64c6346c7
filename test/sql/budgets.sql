-- Budgets: granting, charging, what nothing refunds, repeats, who sees what. Noise of epsilon 50 differs from 0 with
-- probability 4e-22, so counts at that price are printed.
CREATE ROLE regress_owner;
CREATE ROLE regress_alice;
CREATE ROLE regress_bob;
CREATE ROLE regress_group;
CREATE ROLE regress_other_group;
GRANT regress_group TO regress_alice, regress_bob;
GRANT regress_other_group TO regress_bob;
CREATE SCHEMA regress_dp AUTHORIZATION regress_owner;
GRANT USAGE ON SCHEMA regress_dp TO regress_alice, regress_bob, regress_group;
SET SESSION AUTHORIZATION regress_owner;
CREATE TABLE regress_dp.patients (id int, city text, age int);
INSERT INTO regress_dp.patients SELECT i, 'c' || i % 5, i % 90 FROM generate_series(1, 1000) i;
CREATE TABLE regress_dp.visits (patient int, ward text);
CREATE SEQUENCE regress_dp.numbers;

-- bad grants
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 0);
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', -1);
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 'NaN');
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 'Infinity');
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 1e50);
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', NULL);
SELECT privacy_score.dp_grant(NULL, 'regress_dp.patients', 1);
SELECT privacy_score.dp_grant('regress_alice', NULL, 1);
SELECT privacy_score.dp_grant('regress_nobody', 'regress_dp.patients', 1);
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.nothing', 1);
SELECT privacy_score.dp_grant('regress_alice', 0, 1);
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 1, '0');
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 1, '1 month -1 day');
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 1, '101 years');
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 1, unit => 'nothing');
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 1, unit => 'id', max_rows_per_unit => 0);
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 1, max_rows_per_unit => 2);
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.numbers', 1);
SELECT privacy_score.dp_grant('regress_alice', 'pg_catalog.pg_class', 1);
CREATE TEMP TABLE regress_temporary (a int);
SELECT privacy_score.dp_grant('regress_alice', 'regress_temporary', 1);
DROP TABLE regress_temporary;
SELECT privacy_score.dp_revoke('regress_alice', 'regress_dp.patients');
SET SESSION AUTHORIZATION regress_alice;
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 1);
SELECT privacy_score.dp_revoke('regress_alice', 'regress_dp.patients');

-- without a budget
SELECT privacy_score.dp_count('regress_dp.patients');
SELECT privacy_score.dp_count(1);
SELECT privacy_score.dp_count(NULL);
SELECT * FROM privacy_score.dp_cost('regress_dp.patients', NULL, 1);
SELECT count(*) FROM regress_dp.patients;

-- with one
SET SESSION AUTHORIZATION regress_owner;
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 150.5);
SET SESSION AUTHORIZATION regress_alice;
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 50);
SELECT role, relation, epsilon, spent, "left", period, period_ends FROM privacy_score.dp_budget;
SELECT * FROM privacy_score.dp_cost('regress_dp.patients', 'age < 30', 50);
SELECT * FROM privacy_score.dp_cost('regress_dp.patients', 'true', 50.00);
SELECT * FROM privacy_score.dp_count_detail('regress_dp.patients', 'age < 30 AND city = ''c1''', 50);
SELECT * FROM privacy_score.dp_count_detail('regress_dp.patients', '''c1'' = city AND NOT age >= 30', 50.0);
SELECT * FROM privacy_score.dp_cost('regress_dp.patients', 'age < 30', 50.6);
SELECT abs(noisy_count - 1000) < 20000 AS is_near, upper - lower AS width, noise_scale, epsilon_left FROM privacy_score.dp_count_detail('regress_dp.patients', NULL, 0.01);
-- a fresh answer costs, and is the one that is repeated from then on
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 50, fresh => true);
SELECT spent, "left" FROM privacy_score.dp_budget;
-- nothing more for another question, repeats as before
SELECT privacy_score.dp_count('regress_dp.patients', 'age = 1', 0.5);
\set VERBOSITY sqlstate
SELECT privacy_score.dp_count('regress_dp.patients', 'age = 1', 0.5);
\set VERBOSITY default
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 50);
SELECT privacy_score.dp_count('regress_dp.patients', 'age = 1', 0.49) IS NOT NULL AS answered;
SELECT spent, "left" FROM privacy_score.dp_budget;
SELECT role, relation, kind, epsilon, repeated, predicate_shape, times FROM privacy_score.dp_releases ORDER BY at;

-- bad questions
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 0);
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => -0.1);
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 'NaN');
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => '-Infinity');
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 1001);
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 1e-13);
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 0.12345678901234567890123456789012345678901);
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => NULL);
SELECT privacy_score.dp_count('regress_dp.patients', fresh => NULL);

-- nothing refunds
SET SESSION AUTHORIZATION regress_owner;
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 1000);
SET SESSION AUTHORIZATION regress_alice;
BEGIN;
SELECT privacy_score.dp_count('regress_dp.patients', 'age = 2', 50);
ROLLBACK;
BEGIN READ ONLY;
SAVEPOINT a;
SELECT privacy_score.dp_count('regress_dp.patients', 'age = 3', 50);
ROLLBACK TO a;
SELECT spent FROM privacy_score.dp_budget;
COMMIT;
DO $$
BEGIN
  PERFORM privacy_score.dp_count('regress_dp.patients', 'age = 4', 50);
  RAISE EXCEPTION 'x';
EXCEPTION WHEN raise_exception THEN NULL;
END $$;
SELECT spent FROM privacy_score.dp_budget;
BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY;
SELECT spent FROM privacy_score.dp_budget;
SELECT privacy_score.dp_count('regress_dp.patients', 'age = 5', 50);
SELECT * FROM privacy_score.dp_cost('regress_dp.patients', 'age = 5', 50);
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT privacy_score.dp_count('regress_dp.patients', 'age = ' || i, 50) FROM generate_series(6, 7) i;
SELECT privacy_score.dp_count('regress_dp.patients', 'age = 6', 50);
ROLLBACK;
SELECT spent FROM privacy_score.dp_budget;
EXPLAIN (COSTS OFF) SELECT privacy_score.dp_count('regress_dp.patients', 'age = 8', 50);
SELECT spent FROM privacy_score.dp_budget;

-- granting again changes the limit, never what is spent; so do revoking and granting
SET SESSION AUTHORIZATION regress_owner;
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 400);
SELECT epsilon, spent, "left" FROM privacy_score.dp_budget;
SELECT privacy_score.dp_revoke('regress_alice', 'regress_dp.patients');
SELECT privacy_score.dp_revoke('regress_alice', 'regress_dp.patients');
SELECT count(*) FROM privacy_score.dp_budget;
SELECT count(*) FROM privacy_score.dp_releases;
SET SESSION AUTHORIZATION regress_alice;
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 50);
SET SESSION AUTHORIZATION regress_owner;
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 500, period => '1 day');
SELECT epsilon, spent, "left", period, period_ends > now() AS period_runs FROM privacy_score.dp_budget;
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 500);
SELECT epsilon, spent, "left", period FROM privacy_score.dp_budget;

-- dropped and made again under its name: a new grant is needed, and goes on with what was spent
DROP TABLE regress_dp.patients;
CREATE TABLE regress_dp.patients (id int, city text, age int);
SET SESSION AUTHORIZATION regress_alice;
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 50);
SET SESSION AUTHORIZATION regress_owner;
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.patients', 600);
SELECT epsilon, spent, "left" FROM privacy_score.dp_budget;
SET SESSION AUTHORIZATION regress_alice;
SELECT * FROM privacy_score.dp_count_detail('regress_dp.patients', epsilon => 50);
SELECT privacy_score.dp_count('regress_dp.patients', epsilon => 100);
-- so does a role
SET SESSION AUTHORIZATION DEFAULT;
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.visits', 60);
SET SESSION AUTHORIZATION regress_bob;
SELECT privacy_score.dp_count('regress_dp.visits', epsilon => 50);
SET SESSION AUTHORIZATION DEFAULT;
REVOKE ALL ON SCHEMA regress_dp FROM regress_bob;
DROP ROLE regress_bob;
CREATE ROLE regress_bob;
GRANT USAGE ON SCHEMA regress_dp TO regress_bob;
GRANT regress_group, regress_other_group TO regress_bob;
SELECT count(*) FROM privacy_score.dp_budget WHERE relation = 'regress_dp.visits'::regclass;
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.visits', 60);
SELECT role, spent, "left" FROM privacy_score.dp_budget WHERE relation = 'regress_dp.visits'::regclass;
-- the answers of a role's predecessor are not the role's
SET SESSION AUTHORIZATION regress_bob;
SELECT * FROM privacy_score.dp_cost('regress_dp.visits', NULL, 50);
-- renamed, both go on
SET SESSION AUTHORIZATION DEFAULT;
ALTER TABLE regress_dp.visits RENAME TO stays;
ALTER ROLE regress_bob RENAME TO regress_robert;
SELECT role, relation, spent FROM privacy_score.dp_budget WHERE relation = 'regress_dp.stays'::regclass;
SET SESSION AUTHORIZATION regress_robert;
SELECT epsilon_spent, epsilon_left, repeated FROM privacy_score.dp_count_detail('regress_dp.stays', epsilon => 5);
RESET SESSION AUTHORIZATION;
ALTER ROLE regress_robert RENAME TO regress_bob;
SELECT privacy_score.dp_revoke('regress_bob', 'regress_dp.stays');

-- groups: one budget for all members; the own one goes first and alone, then the group's that was granted first
SET SESSION AUTHORIZATION regress_owner;
SELECT privacy_score.dp_grant('regress_group', 'regress_dp.patients', 100);
SELECT privacy_score.dp_grant('regress_other_group', 'regress_dp.patients', 1000);
SET SESSION AUTHORIZATION regress_bob;
SELECT epsilon_spent, epsilon_left FROM privacy_score.dp_count_detail('regress_dp.patients', 'id = 1', 50);
SELECT privacy_score.dp_count('regress_dp.patients', 'id = 2', 51);
SELECT role, "left" FROM privacy_score.dp_budget ORDER BY role;
SET SESSION AUTHORIZATION regress_alice;
SELECT epsilon_spent, repeated FROM privacy_score.dp_cost('regress_dp.patients', 'id = 1', 50);
SET ROLE regress_group;
SELECT epsilon_spent, repeated FROM privacy_score.dp_cost('regress_dp.patients', 'id = 1', 50);
SELECT privacy_score.dp_count('regress_dp.patients', 'id = 2', 50);
RESET ROLE;
SELECT role, "left" FROM privacy_score.dp_budget ORDER BY role;
RESET SESSION AUTHORIZATION;
SELECT privacy_score.dp_revoke('regress_alice', 'regress_dp.patients');
SET SESSION AUTHORIZATION regress_alice;
-- now the group's pays, and what bob has asked is repeated
SELECT noisy_count, epsilon_left, repeated FROM privacy_score.dp_count_detail('regress_dp.patients', 'id = 1', 50);
SELECT role, kind, repeated, predicate_shape FROM privacy_score.dp_releases WHERE predicate_shape LIKE 'id%' ORDER BY at;
SET SESSION AUTHORIZATION regress_bob;
SELECT role, kind, repeated, predicate_shape FROM privacy_score.dp_releases ORDER BY at;
-- a superuser has no budget which could be a member of everything
RESET SESSION AUTHORIZATION;
SELECT privacy_score.dp_count('regress_dp.patients');

-- nothing pays for code that others run
SET SESSION AUTHORIZATION regress_owner;
CREATE FUNCTION regress_dp.asks(int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT privacy_score.dp_count('regress_dp.patients') $$;
CREATE MATERIALIZED VIEW regress_dp.trap AS SELECT regress_dp.asks(1);
-- but a function may ask
GRANT CREATE ON SCHEMA regress_dp TO regress_alice;
SET SESSION AUTHORIZATION regress_alice;
CREATE FUNCTION regress_dp.asks_too() RETURNS bigint LANGUAGE sql AS $$ SELECT privacy_score.dp_count('regress_dp.patients', 'id = 1', 50) $$;
SELECT regress_dp.asks_too();

-- nobody reads the ledger itself
SELECT * FROM privacy_score.release;
SELECT * FROM privacy_score.budget;
SELECT * FROM privacy_score.ledger_key;
SELECT * FROM privacy_score.budget_now;
SELECT privacy_score.tidy_budgets();

-- periods
SELECT k, privacy_score.period_start('2024-01-31 12:00+00', '1 month', k) FROM generate_series(0, 3) k;
SELECT privacy_score.period_number('2024-01-31 12:00+00', '1 month', t::timestamptz)
  FROM unnest(ARRAY['2023-12-01 00:00+00', '2024-01-31 12:00+00', '2024-02-29 11:59+00', '2024-02-29 12:00+00', '2024-03-31 12:00+00', '2124-01-31 12:00+00']) WITH ORDINALITY u(t, n) ORDER BY n;
SELECT period, bool_and(privacy_score.period_number(a, period, privacy_score.period_start(a, period, k)) = k
                        AND privacy_score.period_number(a, period, privacy_score.period_start(a, period, k + 1) - interval '1 microsecond') = k) AS holds
  FROM unnest('{1 second, 1 hour, 1 day, 1 week, 28 days 1 microsecond, 1 month, 1 month 3 days, 1 year, 7 months 01:00:00.000001, 100 years}'::interval[]) period,
       unnest('{2000-01-01 00:00+00, 2023-10-29 00:30+00, 2024-02-29 23:59:59.999999+00, 2024-12-31 23:59+00}'::timestamptz[]) a,
       generate_series(0, 500, 7) k GROUP BY period ORDER BY period;

-- delta: a limit of its own, for histograms of unknown keys
SET SESSION AUTHORIZATION regress_owner;
CREATE TABLE regress_dp.wards (ward text);
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.wards', 500, delta => -0.1);
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.wards', 500, delta => 1);
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.wards', 500, delta => 'NaN');
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.wards', 500, delta => 1e-50);
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.wards', 500);
SET SESSION AUTHORIZATION regress_bob;
SELECT * FROM privacy_score.dp_histogram('regress_dp.wards', 'ward', 1, delta => 0.010);
SELECT spent, delta, delta_spent, delta_left FROM privacy_score.dp_budget WHERE relation = 'regress_dp.wards'::regclass;
SET SESSION AUTHORIZATION regress_owner;
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.wards', 500, delta => 0.025);
SET SESSION AUTHORIZATION regress_bob;
SELECT * FROM privacy_score.dp_histogram('regress_dp.wards', 'ward', 1, delta => 0.015);
SELECT * FROM privacy_score.dp_histogram('regress_dp.wards', 'ward', 1, delta => 0.0001);
SELECT * FROM privacy_score.dp_histogram('regress_dp.wards', 'ward', 1, delta => 0.01);
SELECT privacy_score.dp_count('regress_dp.wards', epsilon => 50), count(*) FROM privacy_score.dp_histogram('regress_dp.wards', 'ward', 1, '{a}');
SELECT spent, delta, delta_spent, delta_left FROM privacy_score.dp_budget WHERE relation = 'regress_dp.wards'::regclass;
SET SESSION AUTHORIZATION regress_owner;
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.wards', 500, '1 day', delta => 0);
SELECT spent, delta, delta_spent, delta_left FROM privacy_score.dp_budget WHERE relation = 'regress_dp.wards'::regclass;
-- the same day later: a new period has all of both again
RESET SESSION AUTHORIZATION;
UPDATE privacy_score.budget SET period_anchor = period_anchor - interval '1 day', latest = latest - interval '1 day', delta = 0.01 WHERE relation_oid = 'regress_dp.wards'::regclass;
SELECT spent, delta, delta_spent, delta_left, spent_ever FROM privacy_score.dp_budget WHERE relation = 'regress_dp.wards'::regclass;
SET SESSION AUTHORIZATION regress_bob;
SELECT * FROM privacy_score.dp_histogram('regress_dp.wards', 'ward', 1, delta => 0.002);
SELECT spent, delta, delta_spent, delta_left, spent_ever FROM privacy_score.dp_budget WHERE relation = 'regress_dp.wards'::regclass;
SET SESSION AUTHORIZATION regress_owner;
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.wards', 500, delta => 0.01);
SELECT spent, delta, delta_spent, delta_left FROM privacy_score.dp_budget WHERE relation = 'regress_dp.wards'::regclass;
-- thirty digits are not bad, and are spent to the last
SET SESSION AUTHORIZATION regress_bob;
SELECT privacy_score.dp_count('regress_dp.wards', epsilon => 0.100000000000000000000000000001) IS NOT NULL AS answered, privacy_score.dp_count('regress_dp.wards', epsilon => 0.100000000000000000000000000002) IS NOT NULL AS another;
SELECT spent FROM privacy_score.dp_budget WHERE relation = 'regress_dp.wards'::regclass;

-- where statements are those of the current user, the role that is set pays, not whichever of those that could be set was granted first
RESET SESSION AUTHORIZATION;
CREATE ROLE regress_gate LOGIN;
GRANT regress_alice, regress_bob TO regress_gate;
GRANT USAGE ON SCHEMA regress_dp TO regress_gate;
CREATE TABLE regress_dp.beds (id int PRIMARY KEY);
ALTER TABLE regress_dp.beds OWNER TO regress_owner;
SET SESSION AUTHORIZATION regress_owner;
SELECT privacy_score.dp_grant('regress_bob', 'regress_dp.beds', 10);
SELECT privacy_score.dp_grant('regress_alice', 'regress_dp.beds', 20);
CREATE FUNCTION regress_dp.asks_for_bob() RETURNS numeric LANGUAGE sql SECURITY DEFINER AS $$ SELECT epsilon_left FROM privacy_score.dp_count_detail('regress_dp.beds', 'id = 3', 1) $$;
RESET SESSION AUTHORIZATION;
ALTER FUNCTION regress_dp.asks_for_bob() OWNER TO regress_bob;
SET SESSION AUTHORIZATION regress_gate;
BEGIN;
SET LOCAL ROLE regress_alice;
SELECT epsilon_left FROM privacy_score.dp_count_detail('regress_dp.beds', 'id = 1', 1);
COMMIT;
RESET SESSION AUTHORIZATION;
SET privacy_score.principal = 'current_user';
SET SESSION AUTHORIZATION regress_gate;
BEGIN;
SET LOCAL ROLE regress_alice;
SELECT epsilon_left FROM privacy_score.dp_count_detail('regress_dp.beds', 'id = 1', 1);
SELECT regress_dp.asks_for_bob();
COMMIT;
BEGIN;
SET LOCAL ROLE regress_bob;
SELECT epsilon_left, repeated FROM privacy_score.dp_count_detail('regress_dp.beds', 'id = 1', 1);
COMMIT;
RESET SESSION AUTHORIZATION;
CREATE ROLE regress_none;
GRANT regress_none TO regress_gate;
GRANT USAGE ON SCHEMA regress_dp TO regress_none;
SET SESSION AUTHORIZATION regress_gate;
SET ROLE regress_none;
SELECT privacy_score.dp_count('regress_dp.beds', 'id = 1', 1);
RESET SESSION AUTHORIZATION;
RESET ROLE;
RESET privacy_score.principal;
SELECT b.role, b.spent, (SELECT string_agg(r.role || ' ' || r.kind, ', ' ORDER BY r.id) FROM privacy_score.release r WHERE r.budget_id = b.id) AS asked
  FROM privacy_score.budget b WHERE b.relation_oid = 'regress_dp.beds'::regclass ORDER BY b.role;

RESET SESSION AUTHORIZATION;
DROP SCHEMA regress_dp CASCADE;
DROP OWNED BY regress_alice, regress_owner, regress_bob, regress_gate, regress_none;
DROP ROLE regress_gate, regress_none;
DROP ROLE regress_alice, regress_bob, regress_group, regress_other_group, regress_owner;

-- The worked cases of the measures of loss by name, each number to 1e-9; and the formulas that are printed wrong, which are not what is computed.
-- pub-030 to pub-034, sums over overlapping ranges, are in test/unit/technique_posteriors_test.cpp.
CREATE SCHEMA loss_worked_cases;
SET search_path = loss_worked_cases, public;
CREATE TABLE worked (id text, got float8[], expected float8[]);
INSERT INTO worked VALUES
  ('pub-001', ARRAY[privacy_score.privacy_loss('{100,200,300}', 3, 'average', 200)] || (SELECT array_agg(entropy_before) || array_agg(entropy_after) FROM privacy_score.privacy_loss_detail('{100,200,300}', 3, 'average', 200)),
    '{0.0283057932583,1.58496250072,1.58496250072,1.58496250072,1.55665670746,1.55665670746,1.55665670746}'),
  ('pub-002', ARRAY[privacy_score.privacy_loss('{100,200,300}', 3, 'average', 100)] || (SELECT array_agg(entropy_before) || array_agg(entropy_after) FROM privacy_score.privacy_loss_detail('{100,200,300}', 3, 'average', 100)),
    '{1.58496250072,1.58496250072,1.58496250072,1.58496250072,0,0,0}'),
  ('pub-003', ARRAY[privacy_score.privacy_loss('{100,200,300}', 3, 'sum', 700)] || (SELECT array_agg(entropy_before) || array_agg(entropy_after) FROM privacy_score.privacy_loss_detail('{100,200,300}', 3, 'sum', 700)),
    '{0.125814583694,1.58496250072,1.58496250072,1.58496250072,1.45914791703,1.45914791703,1.45914791703}'),
  ('pub-004', ARRAY[privacy_score.privacy_loss('{0.5,-1,2}', 2, 'average', 0.75, '{0.2,0.3,0.5}'), (SELECT count(*) FROM privacy_score.privacy_loss_detail('{0.5,-1,2}', 2, 'average', 0.75, '{0.2,0.3,0.5}'))], '{NULL,0}'),
  ('pub-005', ARRAY[privacy_score.privacy_loss('{0,1}', 2, 'sum', 1, '{0.9,0.1}')] || (SELECT array_agg(entropy_before) || array_agg(entropy_after) FROM privacy_score.privacy_loss_detail('{0,1}', 2, 'sum', 1, '{0.9,0.1}')),
    '{-0.531004406411,0.468995593589,0.468995593589,1,1}'),
  ('pub-006', ARRAY[privacy_score.expected_privacy_loss('{100,200,300}', 3, 'average')], '{0.328808909577}'),
  ('pub-007', ARRAY[privacy_score.binary_privacy_loss(4, 2)], '{0}'),
  ('pub-008', ARRAY[privacy_score.binary_privacy_loss(10, 3)], '{0.118709100769}'),
  ('pub-009', ARRAY[privacy_score.binary_privacy_loss(5, 0)], '{1}'),
  ('pub-010', ARRAY[privacy_score.expected_binary_privacy_loss(1)], '{1}'),
  ('pub-011', ARRAY[privacy_score.expected_binary_privacy_loss(5)], '{0.167553348814}'),
  ('pub-021', (SELECT array_agg(privacy_score.equivocation('{1,3,8,9}', '{0.15,0.1,0.7,0.05}', e) ORDER BY e) FROM generate_series(0, 8) e),
    '{1.31903527434,1.05401577307,0.811278124459,0.811278124459,0.811278124459,0.811278124459,0.609840304716,0.286396957116,0}'),
  ('pub-022', (SELECT ARRAY[max(entropy), max(epsilon)] FROM privacy_score.equivocation_curve('{1,3,8,9}', '{0.15,0.1,0.7,0.05}')) || privacy_score.equivocation_area('{1,3,8,9}', '{0.15,0.1,0.7,0.05}'), '{1.31903527434,8,6.51440080708}'),
  ('pub-023', (SELECT ARRAY[max(entropy), max(epsilon)] FROM privacy_score.equivocation_curve('{50,107}', '{0.5,0.5}')) || privacy_score.equivocation_area('{50,107}', '{0.5,0.5}'), '{1,57,57}'),
  ('pub-024', (SELECT ARRAY[max(entropy), max(epsilon)] FROM privacy_score.equivocation_curve('{77,80}', '{0.5,0.5}')) || privacy_score.equivocation_area('{77,80}', '{0.5,0.5}'), '{1,3,3}'),
  ('pub-025', (SELECT ARRAY[max(entropy), max(epsilon)] FROM privacy_score.equivocation_curve('{0,0.5,2.25}', '{0.25,0.25,0.5}')) || privacy_score.equivocation_area('{0,0.5,2.25}', '{0.25,0.25,0.5}'), '{1.5,2.25,2.40563906223}'),
  ('pub-026', ARRAY[privacy_score.disclosure_risk('{0.5,0.5}')], '{1}'),
  ('pub-027', privacy_score.sampling_probabilities('{10,20,30,40,50}', '{10,10,10,30,30}', 20), '{0.3,0.15,0.25,0.15,0.15}'),
  ('pub-028', privacy_score.sampling_probabilities('{1,2,3,4}', '{}', 7), '{0.25,0.25,0.25,0.25}'),
  ('pub-035', privacy_score.noise_posterior(5, '{3}', 4), '{0.0625,0.25,0.375,0.25,0.0625}'),
  ('pub-036', privacy_score.noise_posterior(10, '{4,9}', 4), '{0,0.03125,0.125,0.1875,0.125,0.03125,0.0333333333333,0.133333333333,0.2,0.133333333333}');
SELECT id, array_length(got, 1) AS numbers, array_length(got, 1) = array_length(expected, 1) AND NOT EXISTS (
    SELECT FROM unnest(got, expected) u(g, e) WHERE CASE WHEN e IS NULL OR g IS NULL THEN g IS DISTINCT FROM e ELSE abs(g - e) > 1e-9 * greatest(abs(e), 1e-3) END) AS right FROM worked ORDER BY id;
-- As printed: formula 5 is 1 for every n (pub-012), the probabilities of sampling sum to 19 (pub-029), 1.439 bits are left of an average of 200.
SELECT round(sum(c * 2.0 ^ -5 * (1 - (h1 - h2)))::numeric, 9) AS formula_5, round(sum(c * 2.0 ^ -5 * (1 - (h1 + h2)))::numeric, 9) AS mended
  FROM (SELECT k, factorial(5) / factorial(k) / factorial(5 - k) AS c, CASE WHEN k > 0 THEN k / 5.0 * log(2.0, 5.0 / k) ELSE 0 END AS h1, CASE WHEN k < 5 THEN (5 - k) / 5.0 * log(2.0, 5.0 / (5 - k)) ELSE 0 END AS h2 FROM generate_series(0, 5) k) t;
SELECT sum(f / 20.0 + 15 / 20.0 * 5) AS as_printed, (SELECT sum(p) FROM unnest(privacy_score.sampling_probabilities('{10,20,30,40,50}', '{10,10,10,30,30}', 20)) p) AS mended FROM unnest('{3,0,2,0,0}'::int[]) f;
SELECT count(*) AS databases, count(*) FILTER (WHERE a = 100) AS a100, count(*) FILTER (WHERE a = 200) AS a200, count(*) FILTER (WHERE a = 300) AS a300 FROM unnest('{100,200,300}'::int[]) a, unnest('{100,200,300}'::int[]) b, unnest('{100,200,300}'::int[]) c WHERE a + b + c = 600;
SET client_min_messages = warning;
DROP SCHEMA loss_worked_cases CASCADE;

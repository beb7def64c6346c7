-- events 3: two answers that are paid for, and one that is repeated
\set ward random(1, 9)
SELECT privacy_score.dp_count('patients', 'ward = ' || :ward, 0.001, true);
SELECT privacy_score.dp_sum('visits', 'cost', 0, 1000, 0.001, NULL, true);
SELECT privacy_score.dp_count('patients', 'ward = 10', 0.001);

#!/bin/bash
# aggregates.sh - aggregates over one row: sub-selects for each row, whole columns in one number, groups by chance, and
# every way to say which row. In mode enforce with a limit of 0 all are refused, and what sums over many passes.
. "$(dirname "$0")/../attack.sh"

start_hospital
q "CREATE TABLE h.people (id int PRIMARY KEY, name text UNIQUE, age int, iban bigint, dept int, born date, seen timestamptz)" \
  "INSERT INTO h.people SELECT i, 'n' || i, 20 + i % 60, 1000000007 * i::bigint, i % 5, date '1940-01-01' + i * 11, timestamptz '2024-01-01 00:00+00' + i * interval '5 hours' FROM generate_series(1, 2000) i" \
  "CREATE TABLE h.bills (id int PRIMARY KEY, person int REFERENCES h.people, amount int)" \
  "INSERT INTO h.bills SELECT i, 1 + i % 2000, i % 97 FROM generate_series(1, 6000) i" \
  "CREATE FUNCTION h.seven() RETURNS int LANGUAGE sql IMMUTABLE RETURN 7" \
  "CREATE TABLE h.numbers (n int, m int)" "INSERT INTO h.numbers SELECT i, i FROM generate_series(1, 2000) i" \
  "CREATE TABLE h.one (n int)" "INSERT INTO h.one VALUES (7)" \
  "CREATE TABLE h.labels (n int UNIQUE, label text UNIQUE)" "INSERT INTO h.labels SELECT i, 'l' || i FROM generate_series(1, 2000) i" \
  "CREATE TABLE h.depts (dept int PRIMARY KEY, name text UNIQUE)" "INSERT INTO h.depts SELECT i, 'd' || i FROM generate_series(0, 4) i" \
  "CREATE TABLE h.state (job text PRIMARY KEY, last int)" "INSERT INTO h.state VALUES ('sums', 100)" \
  "CREATE TABLE h.days (day date, next date)" "INSERT INTO h.days SELECT d, d::date + 365 FROM generate_series('1940-01-01'::date, '2000-01-01', '365 days') d" \
  "GRANT SELECT ON h.people, h.bills, h.numbers, h.one, h.labels, h.depts, h.state, h.days TO mallory" "ANALYZE" \
  "SELECT privacy_score.protect('h.people')" "SELECT privacy_score.protect('h.bills', '{person}')" >/dev/null

# What mallory usually does filters by everything, and never shows an IBAN, an age or an amount.
as mallory q "CREATE TABLE h.mine (id int, grp int)" "INSERT INTO h.mine VALUES (7, 1)" \
  "SELECT count(*) FROM people p, bills b WHERE b.person = p.id AND p.id > 0 AND b.id > 0 AND b.person > 0 AND p.name <> '' AND p.dept > 0 AND p.born > '1900-01-01' AND p.seen > '1900-01-01'" \
  "SELECT count(*) FROM people p WHERE p.id > 0 AND p.name <> '' AND p.dept > 0 AND p.born > '1900-01-01' AND p.seen > '1900-01-01'" \
  "SELECT dept, count(*) FROM people GROUP BY dept" "SELECT count(*) FROM people, mine WHERE people.id = mine.id AND mine.grp > 0" >/dev/null
q "SELECT privacy_score.flush()" "SELECT privacy_score.set_baseline('mallory', privacy_score.today(), privacy_score.today())" \
  "SELECT privacy_score.analyze_relation('h.people')" "SELECT privacy_score.analyze_relation('h.bills')" \
  "ALTER ROLE mallory SET privacy_score.mode = enforce" "ALTER ROLE mallory SET privacy_score.session_limit = 0" \
  "SELECT privacy_score.flush()" >/dev/null 2>&1

# all_refused "kind" STATEMENT...: each is refused in a session of its own.
all_refused() {
  local kind=$1 statement passed=""
  shift
  for statement in "$@"; do
    export PGAPPNAME="a refusal"
    if [ "$(as mallory q_state "$statement")" != PS001 ]; then passed="$passed$statement
"; fi
  done
  check "refused: $kind ($#)" "$passed" ""
}
all_pass() {
  local kind=$1 statement state refused=""
  shift
  for statement in "$@"; do
    state=$(as mallory q_state "$statement")
    if [ "$state" != 00000 ]; then refused="$refused$state $statement
"; fi
  done
  check "passes: $kind ($#)" "$refused" ""
}

# --- what sums over many passes, and what is known -----------------------------------------------------------------------
all_pass "sums over many" "SELECT sum(iban) FROM people" "SELECT avg(age), stddev(iban) FROM people WHERE seen >= '2024-03-01' AND seen < '2024-04-01'" \
  "SELECT dept, sum(iban) FROM people GROUP BY dept" "SELECT sum(iban) FROM people WHERE dept = 3" \
  "SELECT sum(age) FROM people WHERE dept IN (1, 2) AND born BETWEEN '1950-01-01' AND '1960-01-01'" \
  "SELECT date_trunc('month', seen), avg(age) FROM people WHERE true GROUP BY 1" \
  "SELECT sum(iban) FROM people WHERE id BETWEEN 100 AND 900" "SELECT sum(age * iban) FROM people" \
  "SELECT avg(s) FROM (SELECT person, sum(amount) AS s FROM bills GROUP BY person) x" \
  "SELECT dept, sum(amount) FROM people p JOIN bills b ON b.person = p.id GROUP BY dept"

# --- a sub-select for each row --------------------------------------------------------------------------------------------
all_refused "aggregates of an outer row" \
  "SELECT (SELECT sum(v.iban + g) FROM generate_series(0, 0) g) FROM people v" \
  "SELECT v.id_, n FROM (SELECT (SELECT sum(v.id + g) FROM generate_series(0, 0) g) id_, (SELECT sum(v.iban + g) FROM generate_series(0, 0) g) n FROM people v OFFSET 0) v" \
  "SELECT (SELECT avg(x.a) FROM (SELECT v.iban AS a) x) FROM people v" \
  "SELECT q.s FROM people v, LATERAL (SELECT sum(v.iban * g) AS s FROM generate_series(1, 1) g) q" \
  "SELECT (SELECT sum(v.iban)) FROM people v GROUP BY v.id" \
  "SELECT (SELECT sum(p.iban) FROM people p WHERE p.id = v.id) FROM people v" \
  "SELECT (SELECT sum(p.iban) FROM people p WHERE p.id BETWEEN v.id AND v.id) FROM people v" \
  "SELECT (SELECT sum(b.amount) FROM bills b WHERE b.person = v.id) FROM people v" \
  "SELECT q.s FROM people v CROSS JOIN LATERAL (SELECT stddev(p.age) AS s FROM people p WHERE abs(p.id - v.id) < 2) q"

all_refused "a sum for each row that is made" \
  "SELECT g, (SELECT sum(iban) FROM people WHERE id <= g) FROM generate_series(1, 20) g" \
  "SELECT g, sum(iban) FROM people JOIN generate_series(1, 20) g ON id < g GROUP BY g" \
  "SELECT v.x, sum(iban) FROM people JOIN (VALUES (6), (7)) v (x) ON id <= v.x GROUP BY v.x" \
  "SELECT s.x, sum(iban) FROM people, (SELECT 6 AS x UNION ALL SELECT 7) s WHERE id <= s.x GROUP BY 1" \
  "SELECT s.x, sum(iban) FROM people, (SELECT generate_series(6, 7) AS x) s WHERE id <= s.x GROUP BY 1" \
  "SELECT s.x, sum(iban) FILTER (WHERE id <= x) FROM people, generate_series(6, 7) s (x) GROUP BY 1" \
  "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r WHERE x < 20) SELECT x, sum(iban) FROM people, r WHERE id <= x GROUP BY x" \
  "SELECT a.attnum, sum(iban) FROM people, pg_attribute a WHERE id <= a.attnum GROUP BY 1" \
  "SELECT sum(iban) FROM people p WHERE EXISTS (SELECT FROM generate_series(7, 7) g WHERE g >= p.id AND g <= p.id)" \
  "SELECT sum(iban) FROM people p WHERE NOT EXISTS (SELECT FROM generate_series(7, 7) g WHERE g > p.id OR g < p.id)"

# Whose table it is that says for which values makes no difference.
all_refused "a sum for each row of somebody else's table" \
  "SELECT n, sum(iban) FROM people JOIN numbers ON id = n GROUP BY n" "SELECT n + 0, sum(iban) FROM people JOIN numbers ON id = n GROUP BY 1" \
  "SELECT n::text, sum(iban) FROM people, numbers WHERE id + 1 = n + 1 GROUP BY 1" "SELECT m, sum(iban) FROM people JOIN (SELECT n AS m FROM numbers OFFSET 0) x ON id = m GROUP BY m" \
  "WITH x AS (SELECT n, iban FROM people JOIN numbers ON id = n) SELECT n, sum(iban) FROM x GROUP BY n" \
  "SELECT x.n, sum(iban) FROM people p JOIN numbers x ON p.id = x.n JOIN numbers y ON y.n = x.n GROUP BY x.n" \
  "SELECT n, sum(iban) FROM people JOIN numbers ON id <= n GROUP BY n" "SELECT n, sum(iban) FROM people JOIN numbers ON id BETWEEN n AND n GROUP BY n" \
  "SELECT n, sum(iban) FROM people JOIN numbers ON id <> n GROUP BY n" "SELECT n, sum(iban) FROM people JOIN numbers ON NOT id > n GROUP BY n" \
  "SELECT x.n, sum(iban) FROM people p JOIN numbers y ON y.n = p.id JOIN numbers x ON y.n <= x.n GROUP BY x.n" \
  "SELECT x.n, sum(iban) FROM people p JOIN numbers y ON p.id <= y.n JOIN numbers x ON y.n <= x.n GROUP BY x.n" \
  "SELECT n, sum(iban) FILTER (WHERE id <= n) FROM people, numbers GROUP BY n" \
  "SELECT x.n, (SELECT sum(iban) FROM people WHERE id = x.n) FROM numbers x" "SELECT x.n, (SELECT sum(iban) FROM people WHERE id <= x.n) FROM numbers x" \
  "SELECT label, sum(iban) FROM people JOIN labels ON id = n GROUP BY label" "SELECT upper(label), sum(iban) FROM people JOIN labels ON id = n GROUP BY 1" \
  "SELECT sum(iban) FROM people JOIN labels ON id = n WHERE label = 'l7'" "SELECT sum(iban) FROM people WHERE id = (SELECT n FROM one)" \
  "SELECT sum(iban) FROM people WHERE id IN (SELECT n FROM labels WHERE label = 'l7')" \
  "SELECT sum(iban) FROM people WHERE id = (SELECT n FROM one WHERE dept >= 0)" "SELECT sum(iban) FROM people WHERE (SELECT n FROM one) = id" \
  "SELECT sum(iban) FROM people WHERE (SELECT label FROM labels WHERE n = id) = 'l7'" "SELECT sum(iban) FROM people WHERE (SELECT label FROM labels WHERE n = id) IN ('l7', 'l8')" \
  "SELECT sum(iban) FROM people GROUP BY (SELECT label FROM labels WHERE n = id)" "SELECT sum(iban) FROM people WHERE id >= (SELECT min(n) FROM one) AND id <= (SELECT max(n) FROM one)" \
  "SELECT sum(iban) FROM people WHERE id BETWEEN (SELECT n FROM one) AND (SELECT n FROM one)" \
  "SELECT b.amount, sum(iban) FROM people p JOIN numbers ON p.id = n JOIN (SELECT n AS amount, m FROM numbers) b ON b.m = n GROUP BY b.m, b.amount"
all_pass "sums by a table of somebody else's that says less" \
  "SELECT name, sum(iban) FROM (SELECT dept, iban FROM people) p JOIN depts USING (dept) GROUP BY name" \
  "SELECT d.dept, d.name, avg(age) FROM people p JOIN depts d ON p.dept = d.dept GROUP BY d.dept" \
  "SELECT day, sum(iban) FROM people, days WHERE born >= day AND born < next GROUP BY day" \
  "SELECT sum(iban) FROM people, state WHERE job = 'sums' AND id > last" \
  "SELECT sum(iban) FROM people p WHERE dept = (SELECT max(dept) FROM depts)" \
  "SELECT dept, sum(amount) FROM people p JOIN bills b ON b.person = p.id WHERE b.id >= (SELECT min(n) FROM numbers) GROUP BY dept"

# --- a whole column in one number -------------------------------------------------------------------------------------------
all_refused "columns that are packed" \
  "SELECT sum(age::numeric * 1000::numeric ^ (id - 1)::numeric) FROM people WHERE true" \
  "SELECT sum(age * power(1000::numeric, id)) FROM people" "SELECT sum(age * exp(id)) FROM people WHERE id > 0" \
  "SELECT sum(p) FROM (SELECT age * 1000::numeric ^ id AS p FROM people) q" \
  "SELECT sum((age || repeat('0', id % 100))::numeric) FROM people" "SELECT sum(age::bigint << (8 * (id % 7))) FROM people" \
  "SELECT sum(rpad(age::text, 5 + id % 50, '0')::numeric) FROM people" "SELECT sum(CASE WHEN id % 2 = 0 THEN age ELSE iban END) FROM people" \
  "SELECT covar_samp(iban, abs(sign(id - 7))) FROM people" "SELECT covar_samp(iban, 1 / (1 + abs(id - 7))) FROM people" \
  "SELECT sum(iban * id) FROM people" "SELECT avg(hashint8(iban)) FROM people"

# --- groups and levels of one row --------------------------------------------------------------------------------------------
all_refused "groups of one row" \
  "SELECT sum(id), sum(iban) FROM people GROUP BY random()" "SELECT sum(iban) FROM people GROUP BY floor(random() * 1e9)" \
  "SELECT sum(iban) FROM people GROUP BY gen_random_uuid()" "SELECT sum(x.iban) FROM (SELECT iban, random() AS r FROM people) x GROUP BY r" \
  "SELECT sum(iban) FROM people GROUP BY id + 0" "SELECT sum(iban) FROM people GROUP BY name || ''" \
  "SELECT sum(iban) FROM people GROUP BY seen" "SELECT sum(iban) FROM people GROUP BY id = 7" \
  "SELECT sum(iban) FROM people GROUP BY GROUPING SETS ((born), (dept))" "SELECT sum(iban) FROM people GROUP BY ctid" \
  "SELECT sum(iban) FROM people GROUP BY date_trunc('day', seen)" "SELECT sum(amount) FROM bills GROUP BY person" \
  "SELECT sum(p.iban) FROM people p JOIN generate_series(1, 2000) g ON p.id BETWEEN g AND g GROUP BY g"
all_refused "levels over LIMIT, OFFSET, TABLESAMPLE and positions" \
  "SELECT sum(iban) FROM (SELECT iban FROM people LIMIT 1) q" "SELECT sum(iban) FROM (SELECT iban FROM people OFFSET 1999) q" \
  "SELECT avg(iban) FROM (SELECT iban FROM people FETCH FIRST ROW ONLY) q" \
  "WITH q AS MATERIALIZED (SELECT * FROM people LIMIT 1) SELECT sum(iban) FROM q" \
  "SELECT sum(iban) FROM people TABLESAMPLE system (1)" "SELECT sum(iban) FROM (SELECT * FROM people TABLESAMPLE bernoulli (0.1)) q" \
  "SELECT sum(iban) FROM (SELECT DISTINCT ON (1) iban FROM people) q" \
  "SELECT sum(iban) FROM (SELECT iban, row_number() OVER () AS n FROM people) q WHERE n = 7" \
  "SELECT sum(iban) FROM (SELECT iban, ntile(2000) OVER () AS n FROM people) q GROUP BY n" \
  "SELECT sum(sum(iban)) OVER () FROM (SELECT iban FROM people LIMIT 1) q"

# --- one row by its key ----------------------------------------------------------------------------------------------------
all_refused "one row by a constant" \
  "SELECT sum(iban) FROM people WHERE id = 7" "SELECT sum(iban) FROM people WHERE 7 = id AND dept > 0" \
  "SELECT avg(iban) FROM people WHERE id IN (7)" "SELECT avg(iban) FROM people WHERE id IN (7, 8, 9)" \
  "SELECT sum(iban) FROM people WHERE id = ANY ('{7}')" "SELECT sum(iban) FROM people WHERE id = ANY (ARRAY[7])" \
  "SELECT sum(iban) FROM people WHERE 7 = ALL (ARRAY[id])" "SELECT sum(iban) FROM people WHERE (id, dept) = (7, 2)" \
  "SELECT sum(iban) FROM people WHERE id IN (SELECT 7)" "SELECT sum(iban) FROM people WHERE id = (SELECT 7)" \
  "SELECT sum(iban) FROM people WHERE id = seven()" "SELECT sum(iban) FROM people WHERE name = 'n7'" \
  "SELECT sum(iban) FROM people WHERE ctid = '(0,1)'" "SELECT sum(iban) FROM people WHERE id IS NOT DISTINCT FROM 7" \
  "SELECT sum(iban) FROM people WHERE NOT (id <> 7)" "SELECT sum(iban) FROM people WHERE NOT (id <> ALL ('{7}'))" \
  "SELECT sum(iban) FROM people WHERE id + 0 = 7" "SELECT sum(iban) FROM people WHERE id::text = '7'" \
  "SELECT sum(iban) FROM people WHERE id + dept = dept + 7" "SELECT sum(iban) FROM people WHERE id = 7 OR false" \
  "SELECT sum(iban) FROM people WHERE md5(name) = md5('n7')" "SELECT sum(iban) FROM people WHERE abs(id - 7) < 1" \
  "SELECT sum(iban) FROM people WHERE id::text LIKE '7'" "SELECT sum(iban) FROM people WHERE name LIKE 'n7'" \
  "SELECT sum(iban) FROM people WHERE id::text ~ '^[7]\$'" "SELECT sum(iban) FROM people WHERE name SIMILAR TO 'n7'" \
  "SELECT sum(iban) FROM people WHERE nullif(id, 7) IS NULL" "SELECT sum(iban) FROM people WHERE NOT (id - 7)::boolean" \
  "SELECT sum(iban) FROM people WHERE NOT (id <= 6 OR id >= 8)" "SELECT sum(iban) FROM people WHERE NOT (id < 7) AND NOT (id > 7)" \
  "SELECT sum(iban) FROM people WHERE born = '1940-03-18'" "SELECT sum(amount) FROM bills WHERE person = 7" \
  "SELECT sum(b.amount) FROM bills b JOIN people p ON p.id = b.person WHERE p.name = 'n7'"
all_refused "one row by a range of one value" \
  "SELECT sum(iban) FROM people WHERE id BETWEEN 7 AND 7" "SELECT sum(iban) FROM people WHERE id >= 7 AND id <= 7" \
  "SELECT sum(iban) FROM people WHERE id > 6 AND 8 > id" "SELECT sum(iban) FROM people WHERE id BETWEEN SYMMETRIC 7 AND 7" \
  "SELECT sum(iban) FROM people WHERE name BETWEEN 'n7' AND 'n7'" \
  "SELECT sum(iban) FROM (SELECT * FROM people WHERE id >= 7) p WHERE id <= 7" \
  "SELECT sum(iban) FROM people WHERE id <@ int4range(7, 7, '[]')" \
  "SELECT sum(iban) FROM people WHERE id < ALL ('{8}') AND id > ALL ('{6}')" "SELECT sum(iban) FROM people WHERE id < 8 AND id > ANY ('{6}')" \
  "SELECT sum(iban) FROM people WHERE born < ALL ('{1940-03-19}') AND born > ALL ('{1940-03-17}')" \
  "SELECT sum(iban) FROM people WHERE born > '1940-03-17' AND born < '1940-03-19'" \
  "SELECT sum(iban) FROM people WHERE born >= '1940-03-18' AND born < '1940-03-19'" \
  "SELECT sum(iban) FROM people WHERE born BETWEEN timestamp '1940-03-17 12:00' AND timestamp '1940-03-18 12:00'"
all_refused "one row by a time in other words" \
  "SELECT sum(iban) FROM people WHERE extract(epoch FROM seen) = 1704193200" "SELECT sum(iban) FROM people WHERE date_part('epoch', seen) BETWEEN 1704193200 AND 1704193200" \
  "SELECT sum(iban) FROM people WHERE date_trunc('second', seen) = '2024-01-02 11:00+00'" "SELECT sum(iban) FROM people WHERE extract(julian FROM born) = 2429707" \
  "SELECT sum(iban) FROM people WHERE date_trunc('day', born) = '1940-03-18'"
all_refused "one row by a condition elsewhere" \
  "SELECT sum(CASE WHEN id = 7 THEN iban END) FROM people" "SELECT sum(CASE id WHEN 7 THEN iban END) FROM people" \
  "SELECT avg(iban) FILTER (WHERE id = 7) FROM people" "SELECT sum(iban * (id = 7)::int) FROM people" \
  "SELECT sum(CASE WHEN id <> 7 THEN 0 ELSE iban END) FROM people" \
  "SELECT sum(x) FROM (SELECT iban AS x FROM people WHERE id = 7) q" "SELECT sum(x) FROM (SELECT iban AS x, id = 7 AS hit FROM people) q WHERE hit" \
  "WITH q AS (SELECT * FROM people WHERE id = 7) SELECT sum(iban) FROM q" \
  "SELECT sum(p.iban) FROM people p, (VALUES (7)) v (i) WHERE p.id = v.i" "SELECT sum(p.iban) FROM people p JOIN mine ON mine.id = p.id" \
  "SELECT sum(p.iban) FROM people p JOIN mine m ON p.id BETWEEN m.id AND m.id GROUP BY m.grp" \
  "SELECT sum(iban) FROM people p WHERE EXISTS (SELECT FROM (VALUES (7)) v (i) WHERE v.i = p.id)" \
  "SELECT sum(iban) FROM people p WHERE EXISTS (SELECT FROM mine m WHERE m.id = p.id)" \
  "SELECT sum(iban) FROM people WHERE id IN (SELECT id FROM people WHERE name = 'n7')" \
  "SELECT sum(iban) FROM people WHERE id IN (SELECT id FROM people ORDER BY born LIMIT 1)" \
  "SELECT dept, sum(iban) FROM people GROUP BY dept, born HAVING bool_or(id = 7)" \
  "SELECT corr(iban, age), regr_avgx(age, iban) FROM people WHERE id = 7" "SELECT covar_pop(iban, age) FROM people WHERE id IN (7, 8)" \
  "SELECT sum(DISTINCT iban) FROM people WHERE id = 7" "SELECT sum(age * 1000 + dept) FROM people WHERE id = 7" \
  "INSERT INTO mine SELECT sum(age) FROM people WHERE id = 7" "CREATE TABLE h.taken AS SELECT sum(iban) AS s FROM people WHERE id = 7"
all_refused "one row by a parameter" \
  "SELECT sum(iban) FROM people WHERE id = (SELECT id FROM mine)" \
  "DO \$\$ DECLARE i int := 7; s numeric; BEGIN SELECT sum(iban) INTO s FROM h.people WHERE id = i; END \$\$" \
  "DO \$\$ DECLARE i int := 7; s numeric; BEGIN SELECT sum(iban) INTO s FROM h.people WHERE id BETWEEN i AND i; END \$\$"
export PGAPPNAME="a refusal"
check "refused: prepared" "$(as mallory q_state "PREPARE s AS SELECT sum(iban) FROM people WHERE id = \$1" "EXECUTE s(7)")" PS001
check "refused: prepared, from and to" "$(as mallory q_state "PREPARE s AS SELECT sum(iban) FROM people WHERE id BETWEEN \$1 AND \$2" "EXECUTE s(7, 7)")" PS001
check "refused: prepared, of whom it is" "$(as mallory q_state "PREPARE s AS SELECT sum(amount) FROM bills WHERE person BETWEEN \$1 AND \$2" "EXECUTE s(7, 7)")" PS001
# A shape that was met with a harmless range is not taken for the same.
check "refused: a range that is harmless at first" \
  "$(as mallory q_state "SELECT sum(iban) FROM people WHERE id BETWEEN 1 AND 900" "SELECT sum(iban) FROM people WHERE id BETWEEN 1 AND 901" "SELECT sum(iban) FROM people WHERE id BETWEEN 7 AND 7")" PS001
check "what is asked again stays refused" "$(as mallory q_state "SELECT sum(iban) FROM people WHERE id = 8")" PS001
all_pass "sums over many, still" "SELECT sum(iban) FROM people" "SELECT dept, sum(iban) FROM people GROUP BY dept"
q "ALTER ROLE mallory SET privacy_score.aggregate_least = 0" >/dev/null
all_pass "over one, where the owner lets it" "SELECT sum(iban) FROM people WHERE id = 7" "SELECT sum(iban) FROM people GROUP BY seen"
q "ALTER ROLE mallory RESET privacy_score.aggregate_least" >/dev/null

# --- the number of rows and their order ----------------------------------------------------------------------------------------
all_refused "what is tested for membership" \
  "SELECT count(*) FROM (SELECT iban FROM people WHERE id = 7 INTERSECT SELECT 7000000049::bigint) x" \
  "SELECT count(*) FROM (SELECT iban FROM people WHERE id = 7 UNION SELECT 7000000049::bigint) x" \
  "SELECT 1 WHERE EXISTS (SELECT iban FROM people WHERE id = 7 EXCEPT SELECT g FROM generate_series(1, 10) g)" \
  "SELECT count(*) FROM (SELECT DISTINCT iban FROM (SELECT iban FROM people WHERE id = 7 UNION ALL SELECT 7000000049) x) y" \
  "WITH RECURSIVE r AS (SELECT iban FROM people WHERE id = 7 UNION SELECT 7000000049 FROM r) SELECT count(*) FROM r"
all_refused "as many rows as a value says" \
  "SELECT count(*) FROM (SELECT generate_series(1, age) FROM people WHERE id = 7) x" "SELECT 1 FROM (SELECT generate_series(1, age) FROM people WHERE id = 7) x" \
  "SELECT count(*) FROM (SELECT 1 FROM people WHERE id = 7 ORDER BY generate_series(1, age)) x" \
  "SELECT count(*) FROM (SELECT unnest(array_fill(1, ARRAY[age])) + 1 FROM people WHERE id = 7) x"
all_refused "rows in the order of a comparison" \
  "SELECT id FROM (SELECT id, iban FROM people WHERE id = 7 UNION ALL SELECT -1, 7000000000) x ORDER BY iban" \
  "SELECT id FROM people ORDER BY iban > 7000000049" "SELECT id FROM people ORDER BY CASE WHEN iban > 7000000049 THEN 1 END, id" \
  "SELECT id FROM people ORDER BY abs(iban - 7000000049)" "SELECT array_agg(id ORDER BY iban > 7000000049) FROM people" \
  "SELECT row_number() OVER (ORDER BY iban > 7000000049, id) FROM people" \
  "SELECT count(*) OVER (ORDER BY iban RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM people" \
  "SELECT id FROM (SELECT id, rank() OVER (ORDER BY iban) AS r FROM people) x WHERE r = 1"
all_pass "order and distinct values, still" "SELECT count(*) FROM (SELECT DISTINCT dept FROM people) x" "SELECT dept, sum(iban) FROM people GROUP BY dept ORDER BY sum(iban) DESC" \
  "SELECT dept, count(*) FROM people GROUP BY dept ORDER BY -dept"

# --- all of it is counted as what it is ---------------------------------------------------------------------------------------
q "ALTER ROLE mallory RESET privacy_score.mode" >/dev/null
sum="cmd:select e:h.people.id f:sum(h.people.iban) t:h.people w:h.people.id"
path "one row by its key" "$sum x2" "SELECT sum(iban) FROM people WHERE id = 7" "SELECT sum(iban) FROM people WHERE id BETWEEN 8 AND 8"
path "the same, prepared" "$sum x6" "PREPARE s AS SELECT sum(iban) FROM people WHERE id = \$1" "EXECUTE s(1)" "EXECUTE s(2)" "EXECUTE s(3)" "EXECUTE s(4)" "EXECUTE s(5)" "EXECUTE s(6)"
path "a sub-select for each row" "cmd:select f:sum(h.people.iban) p:h.people.iban t:h.people" "SELECT (SELECT sum(v.iban + g) FROM generate_series(0, 0) g) FROM people v"
path "a whole column in one number" "cmd:select f:sum(h.people.age,h.people.id) p:h.people.age p:h.people.id t:h.people" "SELECT sum(age::numeric * 1000::numeric ^ (id - 1)::numeric) FROM people"
path "groups by chance" "cmd:select f:sum(h.people.iban) p:h.people.iban t:h.people" "SELECT sum(iban) FROM people GROUP BY random()"
verify_paths
check "a dossier through sums is one" \
  "$(q "SELECT max(subject_columns) FROM privacy_score.session WHERE role = 'mallory'")" 1
done_testing

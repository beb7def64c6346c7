#!/bin/bash
# inheritance.sh - protected tables below parents that nobody protected: reading the parent reads their rows, and counts
# as reading their columns, whichever came first, the declaration or the parent.
. "$(dirname "$0")/../attack.sh"
start_hospital

q_script >/dev/null <<'SQL' || bail_out "the trees cannot be made"
CREATE TABLE h.mother (id int, word text);
CREATE TABLE h.kid (age int) INHERITS (h.mother);
INSERT INTO h.kid SELECT i, 'word' || i, i FROM generate_series(1, 300) i;
SELECT privacy_score.protect('h.kid', '{id}');
-- The parent of a parent, attached after protect(); beside it a sibling that is not protected.
CREATE TABLE h.grand (word text);
ALTER TABLE h.mother INHERIT h.grand;
CREATE TABLE h.sibling () INHERITS (h.mother);
-- A partition that was protected as a table; a partition of a partition.
CREATE TABLE h.visits_old (id int, ward text);
INSERT INTO h.visits_old SELECT i, 'ward' || i FROM generate_series(1, 100) i;
SELECT privacy_score.protect('h.visits_old', '{id}');
CREATE TABLE h.all_visits (id int, ward text) PARTITION BY RANGE (id);
CREATE TABLE h.some_visits PARTITION OF h.all_visits FOR VALUES FROM (0) TO (1000) PARTITION BY RANGE (id);
CREATE TABLE h.other_visits PARTITION OF h.all_visits FOR VALUES FROM (1000) TO (2000);
ALTER TABLE h.some_visits ATTACH PARTITION h.visits_old FOR VALUES FROM (0) TO (500);
CREATE UNIQUE INDEX ON h.all_visits (id);
-- Two parents, one of them with a column of its own; a child protected after all of that.
CREATE TABLE h.left_parent (id int, word text);
CREATE TABLE h.right_parent (word text, extra text);
CREATE TABLE h.heir (code text) INHERITS (h.left_parent, h.right_parent);
INSERT INTO h.heir SELECT i, 'w' || i, 'e', 'c' FROM generate_series(1, 10) i;
-- A parent that is protected itself counts as itself.
CREATE TABLE h.known (word text);
CREATE TABLE h.known_kid () INHERITS (h.known);
SELECT privacy_score.protect('h.known');
SELECT privacy_score.protect('h.known_kid');
CREATE VIEW h.seen AS SELECT word FROM h.mother;
CREATE MATERIALIZED VIEW h.kept AS SELECT id, word FROM h.mother;
CREATE FUNCTION h.words() RETURNS SETOF text STABLE LANGUAGE sql AS 'SELECT word FROM h.mother';
-- A parent of mallory's own, to which a superuser attaches.
CREATE TABLE h.trap (word text);
ALTER TABLE h.trap OWNER TO mallory;
CREATE TABLE h.caught () INHERITS (h.trap);
INSERT INTO h.caught VALUES ('x');
SELECT privacy_score.protect('h.caught');
ANALYZE h.mother, h.grand, h.all_visits;
GRANT SELECT, UPDATE, DELETE ON h.mother, h.grand, h.all_visits, h.some_visits, h.other_visits, h.left_parent, h.right_parent, h.known, h.seen, h.kept, h.sibling, h.visits_old TO mallory;
GRANT INSERT ON h.all_visits TO mallory;
SQL
mother="t:h.kid t:h.mother"
visits="t:h.all_visits t:h.visits_old"

# --- reading the parent -------------------------------------------------------------------------------------------------------
path "a column" "cmd:select p:h.kid.word p:h.mother.word $mother" "SELECT word FROM mother"
path "all columns" "cmd:select p:h.kid.id p:h.kid.word p:h.mother.id p:h.mother.word $mother x2" "TABLE mother" "SELECT mother FROM mother"
path "filtered, grouped, ordered" "cmd:select f:count(*) g:h.kid.word g:h.mother.word o:h.kid.word o:h.mother.word p:h.kid.word p:h.mother.word $mother w:h.kid.id w:h.mother.id" \
  "SELECT word, count(*) FROM mother WHERE id > 3 GROUP BY word ORDER BY word"
path "nothing but rows" "cmd:select f:count(*) $mother; cmd:select $mother" "SELECT count(*) FROM mother" "SELECT tableoid FROM mother"
path "the parent's parent" "cmd:select p:h.grand.word p:h.kid.word t:h.grand t:h.kid" "SELECT word FROM grand"
path "ONLY the parent" "cmd:select p:h.mother.word t:h.mother; cmd:copy p:h.mother.id p:h.mother.word t:h.mother" "SELECT word FROM ONLY mother" "COPY mother TO STDOUT"
path "a sibling" "cmd:select p:h.sibling.word t:h.sibling" "SELECT word FROM sibling"
path "a view, a materialized view, a function that is folded in" "cmd:select p:h.kid.word p:h.mother.word $mother; cmd:select p:h.kid.word p:h.mother.word t:h.kept $mother; cmd:select p:h.kid.word p:h.mother.word $mother" \
  "TABLE seen" "SELECT word FROM kept" "SELECT * FROM words()"
path "a copy" "cmd:select p:h.kid.word p:h.mother.word $mother; cmd:select p:h.kid.word t:h.kid t:pg_temp.*" "CREATE TEMP TABLE c AS SELECT word FROM mother" "TABLE c"
path "RETURNING" "cmd:delete p:h.kid.word p:h.mother.word $mother w:h.kid.id w:h.mother.id; cmd:update p:h.kid.word p:h.mother.word s:h.mother.word $mother" "BEGIN" \
  "DELETE FROM mother WHERE id = 1 RETURNING word" "UPDATE mother SET word = 'x' RETURNING word" "ROLLBACK"
path "plans that are older than the tree and the declaration" "cmd:select p:h.a.word t:h.a x2; cmd:select; cmd:select p:h.a.word p:h.b.word t:h.a t:h.b; cmd:select p:h.a.word t:h.a; cmd:select p:h.a.word p:h.b.word t:h.a t:h.b" \
  "CREATE TABLE a (word text)" "CREATE TABLE b (word text)" "SET plan_cache_mode = force_generic_plan" "PREPARE p AS SELECT word FROM a" "EXECUTE p" "ALTER TABLE b INHERIT a" "EXECUTE p" \
  "SELECT privacy_score.protect('b')" "EXECUTE p" "ALTER TABLE b NO INHERIT a" "EXECUTE p" "ALTER TABLE b INHERIT a" "EXECUTE p"
path "two parents" "cmd:select p:h.left_parent.word t:h.left_parent" "SELECT word FROM left_parent"
q "SELECT privacy_score.protect('h.heir')" >/dev/null
path "and after protect()" "cmd:select p:h.heir.word p:h.left_parent.word t:h.heir t:h.left_parent; cmd:select p:h.heir.extra p:h.heir.word p:h.right_parent.extra p:h.right_parent.word t:h.heir t:h.right_parent" \
  "SELECT word FROM left_parent" "TABLE right_parent"
path "a parent that is protected" "cmd:select p:h.known.word t:h.known" "SELECT word FROM known"
path "a parent of one's own" "cmd:select p:h.caught.word p:h.trap.word t:h.caught t:h.trap" "TABLE trap"

# --- partitions ---------------------------------------------------------------------------------------------------------------
path "the root" "cmd:select p:h.all_visits.ward p:h.visits_old.ward $visits x2" "SELECT ward FROM all_visits" "SELECT ward FROM some_visits"
path "the protected partition counts as itself" "cmd:select p:h.visits_old.ward t:h.visits_old; cmd:copy p:h.visits_old.id p:h.visits_old.ward t:h.visits_old" "SELECT ward FROM visits_old" "COPY visits_old TO STDOUT"
path "another partition" "cmd:select p:h.all_visits.ward t:h.all_visits" "SELECT ward FROM other_visits"
path "ON CONFLICT" "cmd:insert $visits w:h.all_visits.id w:h.visits_old.id; cmd:insert p:h.all_visits.ward p:h.visits_old.ward s:h.all_visits.id s:h.all_visits.ward $visits" "BEGIN" \
  "INSERT INTO all_visits VALUES (7, 'x') ON CONFLICT (id) DO UPDATE SET id = EXCLUDED.id RETURNING ward" "ROLLBACK"

# --- statistics of the parent ---------------------------------------------------------------------------------------------------
path "pg_stats" "cmd:select p:h.kid.word p:h.mother.word $mother" "SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE schemaname = 'h' AND tablename = 'mother' AND attname = 'word'"
path "pg_stats of the root" "cmd:select p:h.all_visits.ward p:h.visits_old.ward $visits" "SELECT histogram_bounds FROM pg_stats WHERE schemaname = 'h' AND tablename = 'all_visits' AND attname = 'ward'"

# --- later --------------------------------------------------------------------------------------------------------------------
q "ALTER TABLE h.kid NO INHERIT h.mother" >/dev/null
path "no child any more" "cmd:select p:h.mother.word t:h.mother; cmd:select p:h.grand.word t:h.grand" "SELECT word FROM mother" "SELECT word FROM grand"
q "ALTER TABLE h.kid INHERIT h.mother" "SELECT privacy_score.unprotect('h.kid')" >/dev/null
path "not protected any more" "cmd:select p:h.grand.word t:h.grand" "SELECT word FROM grand"
q "SELECT privacy_score.protect('h.kid', '{id}')" >/dev/null
# As text it is the same.
tokens() { q "SELECT array_to_string(privacy_score.abstract_query('$1'), ' ')"; }
check "as text" "$(tokens "SELECT word FROM h.grand")" "cmd:select p:h.grand.word p:h.kid.word t:h.grand t:h.kid"
check "as text: ONLY" "$(tokens "SELECT word FROM ONLY h.mother")" "cmd:select p:h.mother.word t:h.mother"
check "as text: COPY" "$(tokens "COPY h.mother TO STDOUT")" "cmd:copy p:h.mother.id p:h.mother.word t:h.mother"
verify_paths

# --- "dp only" ----------------------------------------------------------------------------------------------
q "SECURITY LABEL FOR privacy_score ON ROLE mallory IS 'dp only'" >/dev/null
for statement in "SELECT word FROM mother" "SELECT count(*) FROM mother" "SELECT tableoid FROM grand" "TABLE seen" "SELECT word FROM kept" "SELECT * FROM h.words()" "EXPLAIN SELECT word FROM mother" \
  "DELETE FROM mother WHERE id = 1" "UPDATE mother SET word = 'x' WHERE word = 'word7'" "SELECT ward FROM all_visits WHERE id = 7" "SELECT ward FROM some_visits" "TABLE visits_old" "TABLE right_parent" \
  "SELECT histogram_bounds FROM pg_stats WHERE tablename = 'mother'" "SELECT * FROM privacy_score.attribute_risk('h.mother')" "SELECT privacy_score.combined_discrimination_rate('h.grand', '{word}')"; do
  refused "$statement" PS001 "$statement"
done
check "what reads no row of a child runs" "$(as mallory q_state "SELECT word FROM ONLY h.mother" "COPY h.mother TO STDOUT" "TABLE h.sibling" "TABLE h.other_visits")" 00000
done_testing

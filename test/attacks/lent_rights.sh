#!/bin/bash
# lent_rights.sh - code that is made of the server's own functions, such as a view, runs with the rights of who reads:
# of the owner of a relation for a noisy answer, of a superuser for a report. The attacker's must not run there.
. "$(dirname "$0")/../lib.sh"

# The server's own ANALYZE of the owner's tables would call what types of the attacker's bring.
start_server "autovacuum = off"
q "CREATE EXTENSION privacy_score" "CREATE ROLE owner LOGIN" "CREATE ROLE mallory LOGIN" "CREATE ROLE partner" "GRANT partner TO owner" \
  "CREATE SCHEMA o AUTHORIZATION owner" "CREATE SCHEMA m AUTHORIZATION mallory" "CREATE SCHEMA p AUTHORIZATION partner" >/dev/null
as owner q "GRANT USAGE ON SCHEMA o TO PUBLIC" "CREATE TABLE o.secret (v text)" "INSERT INTO o.secret VALUES ('TOPSECRET')" \
  "CREATE TABLE o.t (id int, city text)" "INSERT INTO o.t SELECT i, 'c' FROM generate_series(1, 100) i" >/dev/null
as mallory q "GRANT USAGE ON SCHEMA m TO PUBLIC" >/dev/null

# No function but the server's own: it sends what o.secret holds, and whose rights it had, to who listens.
leak="pg_notify('leak', current_user || ' says ' || query_to_xml('SELECT v FROM o.secret', true, false, '')::text)"
cities="SELECT 'c'::text AS city, 'x'::text AS region"
leaking="$cities FROM (SELECT $leak AS n OFFSET 0) s WHERE s.n::text = ''"

# asks "what" "answer" statement...: mallory's statements in one session print the answer at last, and nothing leaks.
asks() {
  local what=$1 answer=$2 said
  shift 2
  said=$(printf '%s;\n' "LISTEN leak" "$@" "SELECT 'end'" | as mallory "$PS_BINDIR/psql" -XAtq 2>&1)
  check "nothing comes out: $what" "$(grep -ciE 'TOPSECRET|(owner|postgres) says' <<<"$said")" 0
  check_match "$what" "$(grep -vE '^(DETAIL|HINT|end)' <<<"$said" | tail -n 1)" "$answer"
}

# The leak works where mallory's code runs with the owner's rights by the owner's own doing: the checks could fail.
as mallory q "CREATE VIEW m.proof AS $leaking" "GRANT SELECT ON m.proof TO PUBLIC" >/dev/null
check_match "an owner who reads such a view tells" "$(as owner q "LISTEN leak" "SELECT count(*) FROM m.proof")" "owner says .*TOPSECRET"

# --- views below a view -----------------------------------------------------------------------------------------------------------
as mallory q "CREATE VIEW m.cities AS $cities" "GRANT SELECT ON m.cities TO PUBLIC" >/dev/null
q "CREATE VIEW p.cities AS $cities" "ALTER VIEW p.cities OWNER TO partner" "GRANT SELECT ON p.cities TO PUBLIC" >/dev/null
q "CREATE VIEW public.cities AS $cities" "GRANT SELECT ON public.cities TO PUBLIC" >/dev/null
for from in m p public; do
  as owner q "CREATE VIEW o.v_$from AS SELECT t.id, t.city, c.region FROM o.t JOIN $from.cities c USING (city)" "SELECT privacy_score.dp_grant('mallory', 'o.v_$from', 1000)" >/dev/null
done
stops="^ERROR:  view cities, which belongs to role \"mallory\", cannot run here"
question="region = ''x''', 10)"
asks "a view over one of a role whose rights the owner has" "^100$" "SELECT privacy_score.dp_count('o.v_public', '$question"
as owner q "GRANT SELECT ON o.t TO partner" >/dev/null
q "ALTER VIEW o.v_p OWNER TO partner" "GRANT USAGE, CREATE ON SCHEMA o TO partner" >/dev/null
asks "a view over one of the same owner's" "^100$" "SELECT privacy_score.dp_count('o.v_p', '$question"
asks "a view over one of the asker's" "$stops" "SELECT privacy_score.dp_count('o.v_m', '$question"
as mallory q "CREATE OR REPLACE VIEW m.cities AS $leaking" >/dev/null
asks "once it does something" "$stops" "SELECT privacy_score.dp_count('o.v_m', '$question"
if [ "$ps_major" -lt 16 ]; then
  as mallory q "CREATE TABLE m.places (city text, region text)" "GRANT SELECT ON m.places TO PUBLIC" >/dev/null
  q "CREATE VIEW o.placed AS SELECT t.id, c.region FROM o.t JOIN m.places c USING (city)" "SELECT privacy_score.dp_grant('mallory', 'o.placed', 1000)" >/dev/null
  asks "a view over a table of the asker's" "^0$" "SELECT privacy_score.dp_count('o.placed', '$question"
  asks "which becomes a view" "^ERROR:  view places, which belongs to role \"mallory\"" "CREATE RULE \"_RETURN\" AS ON SELECT TO m.places DO INSTEAD $leaking" \
    "SELECT privacy_score.dp_count('o.placed', 'region = ''x''', 11)"
fi

# --- functions: what they find, and where they were before ------------------------------------------------------------------------
# of LANGUAGE "body" [option]: a function of the owner's, and a view that calls it.
number=0
of() {
  number=$((number + 1))
  as owner q "SET search_path = o" "CREATE FUNCTION o.f$number(int) RETURNS text LANGUAGE $1 ${3:-STABLE} $2" "CREATE VIEW o.by_$number AS SELECT id, o.f$number(id) AS region FROM o.t" \
    "SELECT privacy_score.dp_grant('mallory', 'o.by_$number', 1000)" >/dev/null
  question="SELECT privacy_score.dp_count('o.by_$number', 'region = ''x''', 10)"
  stops="^ERROR:  function o.f$number\\(integer\\), which belongs to role \"owner\", cannot run here"
}
for_owner="CASE WHEN current_user = 'owner' THEN $leak IS NOT NULL ELSE true END"
as owner q "CREATE TABLE o.labels (id int, label text)" "INSERT INTO o.labels SELECT i, 'x' FROM generate_series(1, 100) i" "CREATE TABLE o.audit (id int)" "CREATE DOMAIN o.status AS text" >/dev/null
of sql "RETURN CASE WHEN \$1 > 10 THEN 'x'::status::text END"
asks "an expression of the owner's, whose names were read when it was made" "^90$" "CREATE DOMAIN pg_temp.status AS text CHECK ($leak IS NOT NULL)" "$question"
of sql "AS 'SELECT CAST(''x'' AS status)::text'" "SET search_path = o"
asks "a temporary domain" "$stops" "CREATE DOMAIN pg_temp.status AS text CHECK ($leak IS NOT NULL)" "$question"
of plpgsql "AS 'BEGIN RETURN (SELECT label FROM labels l WHERE l.id = \$1); END'" "SET search_path = o"
asks "a temporary view" "$stops" "CREATE TEMP VIEW labels AS SELECT 1 AS id, region AS label FROM ($leaking) z" "GRANT SELECT ON labels TO PUBLIC" "$question"
of plpgsql "AS 'DECLARE s text := ''x''; BEGIN RETURN s; END'"
asks "compiled where a name meant something else" "$stops" "CREATE DOMAIN m.text AS pg_catalog.text CHECK ($for_owner)" "SET search_path = m, pg_catalog" "SELECT o.f$number(1)" "RESET search_path" "$question"
q "ALTER FUNCTION o.f$number(int) OWNER TO postgres" >/dev/null
asks "a superuser's too" "${stops/owner/postgres}" "SET search_path = m, pg_catalog" "SELECT o.f$number(1)" "RESET search_path" "$question"
of plpgsql "AS 'BEGIN INSERT INTO audit VALUES (\$1); RETURN ''x''; END'" "SET search_path = o"
asks "a temporary table with a rule" "$stops" "CREATE TEMP TABLE audit (id int)" "GRANT INSERT ON audit TO PUBLIC" "CREATE RULE r AS ON INSERT TO audit DO ALSO SELECT $leak" "$question"
of sql "RETURN (SELECT label FROM o.labels l WHERE l.id = \$1)"
asks "an expression that reads a table" "$stops" "$question"

# --- types: their checks, and what the planner asks of them -------------------------------------------------------------------------
as mallory q "CREATE DOMAIN m.dom AS text CHECK ($for_owner)" "CREATE TYPE m.comp AS (a m.dom)" >/dev/null
as owner q "CREATE DOMAIN o.over AS m.dom" "CREATE FUNCTION o.fine(text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END'" "CREATE DOMAIN o.checked AS text CHECK (o.fine(VALUE))" >/dev/null
number=0
for expression in "city::m.dom" "('{x}' || left(city, 0))::m.dom[]" "('(x)' || left(city, 0))::m.comp" "jsonb_populate_record(NULL::m.comp, jsonb_build_object('a', city))" \
  "(SELECT r.a FROM jsonb_to_recordset(jsonb_build_array(jsonb_build_object('a', city))) AS r(a m.dom))" "(SELECT r.a FROM XMLTABLE('/r' PASSING xmlelement(name r, xmlelement(name a, city)) COLUMNS a m.dom) r)" "city::o.over"; do
  number=$((number + 1))
  as owner q "CREATE VIEW o.cast_$number AS SELECT id, $expression AS x FROM o.t" "SELECT privacy_score.dp_grant('mallory', 'o.cast_$number', 1000)" >/dev/null
  asks "a domain of the asker's: $expression" "^ERROR:  domain m.dom, which belongs to role \"mallory\", cannot run here" "SELECT privacy_score.dp_count('o.cast_$number', 'id > 0', 10)"
done
as owner q "CREATE VIEW o.checking AS SELECT id, city::o.checked AS x FROM o.t" "SELECT privacy_score.dp_grant('mallory', 'o.checking', 1000)" >/dev/null
asks "a check of the owner's that calls a function" "^ERROR:  function o.fine\\(text\\), which belongs to role \"owner\", cannot run here" "SELECT privacy_score.dp_count('o.checking', 'id > 0', 10)"
as mallory q "CREATE FUNCTION m.diff(int, int) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN \$1 - \$2; END'" "CREATE TYPE m.rng AS RANGE (subtype = int4, subtype_diff = m.diff)" >/dev/null
as owner q "CREATE TABLE o.ranges (id int, r m.rng)" "INSERT INTO o.ranges SELECT i, m.rng(i, i + 10) FROM generate_series(1, 1000) i" "ANALYZE o.ranges" \
  "CREATE VIEW o.ranged AS SELECT id FROM o.ranges WHERE r && '[1,50)'::m.rng" "SELECT privacy_score.dp_grant('mallory', 'o.ranged', 1000)" \
  "CREATE VIEW o.many_ranged AS SELECT id FROM o.ranges WHERE m.rng_multirange(r) && '{[1,50)}'::m.rng_multirange" "SELECT privacy_score.dp_grant('mallory', 'o.many_ranged', 1000)" >/dev/null
as mallory q "CREATE OR REPLACE FUNCTION m.diff(int, int) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN PERFORM $(sed "s/'/''/g" <<<"$leak") WHERE current_user = ''owner''; RETURN \$1 - \$2; END'" >/dev/null
stops="^ERROR:  function m.diff\\(integer,integer\\), which belongs to role \"mallory\", cannot run here"
asks "what the planner asks of a type of the asker's" "$stops" "SELECT privacy_score.dp_count('o.ranged', 'id > 0', 10)"
asks "also when the type is known already" "$stops" "SELECT m.rng(1, 2)" "SELECT privacy_score.dp_count('o.ranged', 'id > 0', 10)"
asks "in ranges of ranges too" "$stops" "SELECT privacy_score.dp_count('o.many_ranged', 'id > 0', 10)"
as owner q "CREATE TABLE o.noted (id int, d m.dom)" "INSERT INTO o.noted SELECT i, 'x' FROM generate_series(1, 100) i" "SELECT privacy_score.dp_grant('mallory', 'o.noted', 1000)" >/dev/null
asks "a column that has such a domain is only read" "^100$" "SELECT privacy_score.dp_count('o.noted', 'id > 0', 10)"
as owner q "CREATE AGGREGATE o.total(int) (SFUNC = int4pl, STYPE = int, INITCOND = 0)" "CREATE FUNCTION o.plus(int, int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN \$1 + \$2; END'" "CREATE AGGREGATE o.summed(int) (SFUNC = o.plus, STYPE = int, INITCOND = 0)" >/dev/null
for aggregate in total summed; do
  as owner q "CREATE VIEW o.by_$aggregate AS SELECT id, (SELECT o.$aggregate(x) FROM generate_series(1, id) x) AS n FROM o.t" "SELECT privacy_score.dp_grant('mallory', 'o.by_$aggregate', 1000)" >/dev/null
done
asks "an aggregate of the server's functions" "^100$" "SELECT privacy_score.dp_count('o.by_total', 'n > 0', 10)"
asks "an aggregate of others" "^ERROR:  function o.summed\\(integer\\), which belongs to role \"owner\", cannot run here" "SELECT privacy_score.dp_count('o.by_summed', 'n > 0', 10)"

# --- what compares values: operator classes of a superuser's, of functions of the asker's ---------------------------------------------
for name in before same; do as mallory q "CREATE FUNCTION m.$name(json, json) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN false; END'" >/dev/null; done
comparing() { as mallory q "CREATE OR REPLACE FUNCTION m.compare(json, json) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN $1 RETURN bttextcmp(\$1::text, \$2::text); END'" >/dev/null; }
comparing ""
q "CREATE OPERATOR m.<< (LEFTARG = json, RIGHTARG = json, FUNCTION = m.before)" "CREATE OPERATOR m.=== (LEFTARG = json, RIGHTARG = json, FUNCTION = m.same)" "CREATE OPERATOR m.>> (LEFTARG = json, RIGHTARG = json, FUNCTION = m.before)" \
  "CREATE OPERATOR CLASS m.json_ops DEFAULT FOR TYPE json USING btree AS OPERATOR 1 m.<<, OPERATOR 3 m.===, OPERATOR 5 m.>>, FUNCTION 1 m.compare(json, json)" >/dev/null
as owner q "CREATE TABLE o.docs (id int, j json, a json[])" "INSERT INTO o.docs SELECT i, '1', '{2}' FROM generate_series(1, 100) i" \
  "CREATE VIEW o.sorted AS SELECT id FROM o.docs ORDER BY j" "CREATE VIEW o.compared AS SELECT id FROM o.docs WHERE a > '{1}'::json[]" "CREATE TYPE o.holder AS (j json)" \
  "CREATE VIEW o.rows AS SELECT id FROM o.docs WHERE ROW(j)::o.holder > ROW('0')::o.holder" \
  "CREATE VIEW o.distinct_docs AS SELECT DISTINCT a, id FROM o.docs" "CREATE VIEW o.joined AS SELECT d.id FROM o.docs d JOIN o.docs e USING (id, a)" "CREATE VIEW o.united AS SELECT id, a FROM o.docs UNION SELECT id, a FROM o.docs" \
  "CREATE VIEW o.counted AS SELECT t.id, (SELECT count(DISTINCT d.a) FROM o.docs d WHERE d.id = t.id) AS n FROM o.t" "CREATE VIEW o.plain_docs AS SELECT id FROM o.docs" \
  "CREATE TABLE o.indexed (id int, a json[])" "INSERT INTO o.indexed SELECT i, '{2}' FROM generate_series(1, 100) i" "CREATE INDEX ON o.indexed (a)" \
  "SELECT privacy_score.dp_grant('mallory', r, 1000) FROM unnest('{o.sorted,o.compared,o.rows,o.distinct_docs,o.joined,o.united,o.counted,o.plain_docs,o.indexed}'::regclass[]) r" >/dev/null
comparing "PERFORM $(sed "s/'/''/g" <<<"$leak") WHERE current_user = ''owner'';"
stops="^ERROR:  function m.compare\\(json,json\\), which belongs to role \"mallory\", cannot run here"
# The server keeps what it has found to compare values of a type with.
warm="SELECT ARRAY['1'::json] < ARRAY['2'::json], ARRAY['1'::json] = ARRAY['2'::json]"
check_match "the owner's own reading calls it" "$(as owner q "LISTEN leak" "SELECT count(*) FROM o.compared")" "owner says .*TOPSECRET"
for view in sorted compared rows distinct_docs joined united counted indexed; do
  asks "comparing: $view" "^ERROR:  function m.[a-z]+\\(json,json\\), which belongs to role \"mallory\", cannot run here" "$warm" "SELECT privacy_score.dp_count('o.$view', 'id > 0', 10)"
done
asks "what compares nothing such" "^100$" "$warm" "SELECT privacy_score.dp_count('o.plain_docs', 'id > 0', 10)"
q "DROP OPERATOR CLASS m.json_ops USING btree" >/dev/null

# --- types where they hide: in casts that are looked up, defaults, results, columns, and one in another ------------------------------
# over "view" "query": a view of the owner's with a budget.
over() { as owner q "SET min_parallel_table_scan_size = 0" "SET parallel_leader_participation = off" "CREATE VIEW o.$1 AS $2" "SELECT privacy_score.dp_grant('mallory', 'o.$1', 1000)" 2>&1 >/dev/null | grep -v NOTIFY; }
stops="^ERROR:  domain m.dom, which belongs to role \"mallory\", cannot run here"
as mallory q "CREATE TYPE m.color AS ENUM ('red', 'blue')" >/dev/null
as owner q "CREATE TABLE o.cars (id int, c m.color)" "INSERT INTO o.cars SELECT i, 'red' FROM generate_series(1, 20000) i" "ANALYZE o.cars" >/dev/null
over painted "SELECT id, to_jsonb(c)::text AS j FROM o.cars"
workers="SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off"
asks "a value of the asker's type as json" "^20000$" "$workers" "SELECT privacy_score.dp_count('o.painted', 'j = ''\"red\"''', 10)"
as mallory q "CREATE FUNCTION m.tj(m.color) RETURNS json LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''42501'', MESSAGE = current_user || '' says '' || (SELECT v FROM o.secret); END'" \
  "CREATE CAST (m.color AS json) WITH FUNCTION m.tj(m.color)" >/dev/null
for setting in "$workers" "RESET min_parallel_table_scan_size"; do
  asks "and once it has a cast: $setting" "^ERROR:  could not read relation \"painted\" for a noisy answer" "$setting" "SELECT privacy_score.dp_count('o.painted', 'j = ''1''', 10)"
done
as owner q "CREATE FUNCTION o.defaulting(int, text DEFAULT (current_user::text)::m.dom) RETURNS text LANGUAGE sql STABLE RETURN 'x' || \$2" >/dev/null
over defaulted "SELECT id, o.defaulting(id) AS x FROM o.t"
asks "a default of an argument" "$stops" "SELECT privacy_score.dp_count('o.defaulted', 'x = ''x''', 10)"
as owner q "CREATE FUNCTION o.becomes(text, int) RETURNS m.dom LANGUAGE sql STABLE RETURN \$1" "CREATE OPERATOR o.## (FUNCTION = o.becomes, LEFTARG = text, RIGHTARG = int)" >/dev/null
over operated "SELECT id, city OPERATOR(o.##) id AS x FROM o.t"
asks "an operator's result" "$stops" "SELECT privacy_score.dp_count('o.operated', 'x = ''x''', 10)"
as owner q "CREATE FUNCTION o.outs(text, OUT a m.dom, OUT b m.dom) LANGUAGE sql STABLE BEGIN ATOMIC SELECT \$1, \$1; END" >/dev/null
over out_of "SELECT t.id, f.a::text AS x FROM o.t, o.outs(t.city) f"
asks "what a function puts out" "$stops" "SELECT privacy_score.dp_count('o.out_of', 'x = ''x''', 10)"
as owner q "CREATE AGGREGATE o.gathered(m.dom) (SFUNC = array_append, STYPE = m.dom[], INITCOND = '{x}')" >/dev/null 2>&1
over gathering "SELECT id, o.gathered(d)::text AS x FROM o.noted GROUP BY id"
asks "what an aggregate begins with" "$stops" "SELECT privacy_score.dp_count('o.gathering', 'x = ''x''', 10)"
if q "CREATE EXTENSION hstore SCHEMA pg_catalog" >/dev/null; then
  as owner q "CREATE TABLE o.composites (id int, c m.comp)" "INSERT INTO o.composites VALUES (1, ROW(NULL))" >/dev/null
  over populated "SELECT id, (c #= hstore('a', 'x'::text))::text AS x FROM o.composites"
  asks "what an operator of a library fills" "$stops" "SELECT privacy_score.dp_count('o.populated', 'x = ''x''', 10)"
fi
printf '1,c\n2,c\n' >"$PS_TMP/places.csv"
if q "CREATE EXTENSION file_fdw" "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw" >/dev/null; then
  for type in text m.dom; do
    q "CREATE FOREIGN TABLE o.${type/m./} (id int, city $type) SERVER files OPTIONS (filename '$PS_TMP/places.csv', format 'csv')" "ALTER FOREIGN TABLE o.${type/m./} OWNER TO owner" \
      "SELECT privacy_score.dp_grant('mallory', 'o.${type/m./}', 1000)" >/dev/null
  done
  asks "a foreign table of the owner's" "^2$" "SELECT privacy_score.dp_count('o.text', 'city = ''c''', 10)"
  asks "one with a column that becomes the asker's domain" "$stops" "SELECT privacy_score.dp_count('o.dom', 'city = ''c''', 10)"
  q "ALTER SERVER files OWNER TO mallory" >/dev/null
  asks "one on the asker's server" "^ERROR:  foreign server files, which belongs to role \"mallory\", cannot run here" "SELECT privacy_score.dp_count('o.text', 'city = ''c''', 9)"
fi
as mallory q "CREATE OR REPLACE FUNCTION m.diff(int, int) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN \$1 - \$2; END'" "CREATE TYPE m.spanning AS (r m.rng)" >/dev/null
as owner q "CREATE TABLE o.spans (id int, c m.spanning)" "INSERT INTO o.spans SELECT i, ROW(m.rng(i, i + 10))::m.spanning FROM generate_series(1, 1000) i" "CREATE STATISTICS o.of_spans ON ((c).r) FROM o.spans" "ANALYZE o.spans" >/dev/null
over spanned "SELECT id FROM o.spans WHERE (c).r @> 50"
asks "a range within a composite, known already" "^ERROR:  function m.diff\\(integer,integer\\), which belongs to role \"mallory\", cannot run here" "SELECT m.rng(1, 2)" "SELECT privacy_score.dp_count('o.spanned', 'id > 0', 10)"

as owner q "CREATE TABLE o.kept (id int, d m.dom, j jsonb)" "INSERT INTO o.kept SELECT i, NULL, '{\"d\": \"x\"}' FROM generate_series(1, 10) i" >/dev/null
over filled "SELECT n.id, jsonb_populate_record(s, n.j)::text AS x FROM o.kept n, LATERAL (SELECT n.d, n.id) s"
asks "a record of no type of its own" "$stops" "SELECT privacy_score.dp_count('o.filled', 'x = ''x''', 10)"
over anonymous "SELECT n.id, jsonb_populate_record(s, n.j)::text AS x FROM o.kept n, LATERAL (SELECT n.id) s"
asks "one of the server's types" "^0$" "SELECT privacy_score.dp_count('o.anonymous', 'x = ''x''', 10)"
# The planner estimates what an index of the asker's says, where a condition implies its predicate.
as mallory q "CREATE TABLE m.spots (id int, x int)" "GRANT SELECT ON m.spots TO PUBLIC" "INSERT INTO m.spots SELECT i, i % 1000 FROM generate_series(1, 20000) i" \
  "CREATE OR REPLACE FUNCTION m.diff(int, int) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN \$1 - \$2; END'" >/dev/null
over spotted "SELECT s.x, s.id FROM o.t JOIN m.spots s USING (id)"
question="SELECT privacy_score.dp_count('o.spotted', 'id > 5 AND x < 1000', 10)"
asks "a table of the asker's" "^95$" "$question"
as mallory q "ALTER TABLE m.spots ADD r m.rng" "UPDATE m.spots SET r = m.rng(id, id + 10)" "CREATE INDEX ON m.spots (x) WHERE id > 0 OR r @> 50" "ANALYZE m.spots" \
  "CREATE OR REPLACE FUNCTION m.diff(int, int) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN PERFORM $(sed "s/'/''/g" <<<"$leak") WHERE current_user = ''owner''; RETURN \$1 - \$2; END'" >/dev/null
asks "with an index that says more" "^ERROR:  function m.diff\\(integer,integer\\), which belongs to role \"mallory\", cannot run here" \
  "SELECT m.rng(1, 2) && m.rng(3, 4)" "SELECT count(*) FROM m.spots WHERE r && '[1,5)'::m.rng" "${question/10)/9)}"

# --- settings of who asks, under which a view would fail on some rows ----------------------------------------------------------------
as owner q "CREATE TABLE o.letters (name text, born text, body text)" "INSERT INTO o.letters VALUES ('Ann', '2000-02-01', 'the flu'), ('Bob', '12/25/2000', 'flu bob@example.com')" >/dev/null
over dated "SELECT name, born::date AS born FROM o.letters"
over searched "SELECT name, to_tsvector(body) @@ to_tsquery('flu') AS ill FROM o.letters"
as mallory q "CREATE TEXT SEARCH CONFIGURATION m.cfg (COPY = pg_catalog.english)" "CREATE TEXT SEARCH DICTIONARY m.stem (TEMPLATE = simple)" \
  "ALTER TEXT SEARCH CONFIGURATION m.cfg ALTER MAPPING FOR email WITH m.stem" >/dev/null
asks "a date as the owner reads it" "^2$" "SET DateStyle = 'ISO, DMY'" "SELECT privacy_score.dp_count('o.dated', 'born > ''2000-01-01''', 10)"
asks "texts as the owner's configuration divides them" "^1$" "ALTER TEXT SEARCH CONFIGURATION m.cfg DROP MAPPING FOR asciiword" "SET default_text_search_config = 'm.cfg'" \
  "SELECT privacy_score.dp_count('o.searched', 'ill AND name = ''Bob''', 10)"

# --- what stays in a session that has asked ---------------------------------------------------------------------------------------------
as owner q "CREATE FUNCTION o.folded(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT lower(\$1)'" "CREATE TABLE o.unlike (city text)" "CREATE UNIQUE INDEX ON o.unlike (o.folded(city))" \
  "SELECT privacy_score.dp_grant('mallory', 'o.unlike', 1000)" "GRANT SELECT, INSERT ON o.unlike TO mallory" >/dev/null
asks "an index is found as before" "^inserted$" "SELECT privacy_score.dp_count('o.unlike', 'city = ''x''', 10)" \
  "INSERT INTO o.unlike VALUES ('a') ON CONFLICT (o.folded(city)) DO NOTHING RETURNING 'inserted'"

# --- functions of the server that run a text, and what functions say of rows --------------------------------------------------------
as owner q "SET search_path = o" "CREATE VIEW o.texts AS SELECT id, query_to_xml('SELECT ''x''::status', true, false, '')::text AS x FROM o.t" "SELECT privacy_score.dp_grant('mallory', 'o.texts', 1000)" >/dev/null
asks "a text in which a name means something else" "^ERROR:  text-running function query_to_xml\\(text,boolean,boolean,text\\), which belongs to role \"postgres\", cannot run here" \
  "CREATE DOMAIN pg_temp.status AS text CHECK ($leak IS NOT NULL)" "SELECT privacy_score.dp_count('o.texts', 'x = ''x''', 10)"
over named "SELECT id, v::regclass::text AS x FROM o.secret, o.t"
asks "a value where a name is wanted" "^ERROR:  could not read relation \"named\"" "SELECT privacy_score.dp_count('o.named', 'x = ''x''', 10)"

# --- expressions of indexes: what is constant in them is evaluated ------------------------------------------------------------------
as owner q "CREATE FUNCTION o.fold(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN lower(\$1); END'" "CREATE TABLE o.folded (id int, city text)" "INSERT INTO o.folded SELECT * FROM o.t" \
  "CREATE INDEX ON o.folded (o.fold(city))" "SELECT privacy_score.dp_grant('mallory', 'o.folded', 1000)" >/dev/null
asks "an index over a function of a column stops nothing" "^100$" "SELECT privacy_score.dp_count('o.folded', 'city = ''c''', 10)"
as owner q "CREATE INDEX ON o.folded ((city || o.fold('A')))" >/dev/null
asks "one of a constant does" "^ERROR:  function o.fold\\(text\\), which belongs to role \"owner\", cannot run here" "SELECT privacy_score.dp_count('o.folded', 'city = ''c''', 9)"

# --- a superuser's report -------------------------------------------------------------------------------------------------------------
# Each type holds the one before twice: all together the last two to the power of 24.
{
  echo "CREATE TYPE m.nest0 AS (a int);"
  for i in $(seq 24); do echo "CREATE TYPE m.nest$i AS (a m.nest$((i - 1)), b m.nest$((i - 1)));"; done
  echo "CREATE TABLE m.nested (id int, CHECK (NULL::m.nest24 IS NULL)); SELECT privacy_score.protect('m.nested', '{id}');"
} | as mallory "$PS_BINDIR/psql" -XAtq >/dev/null
check "types within types do not hold up a report" "$(q "SET statement_timeout = '60s'" "SELECT length(privacy_score.report()) > 1000" | tail -n 1)" t
session() { # NAME DESCRIPTOR
  mkfifo "$PS_TMP/$1"
  as mallory "$PS_BINDIR/psql" -XAtq <"$PS_TMP/$1" >"$PS_TMP/$1.out" 2>&1 &
  eval "exec $2>$PS_TMP/$1"
}
session listener 5
echo "LISTEN leak;" >&5
# swapped "what" "change": while a report waits for m.r2, m.r1, which comes before, is changed.
swapped() {
  session "holder$3" 3
  session "changer$3" 4
  echo "BEGIN; LOCK m.r2 IN ACCESS EXCLUSIVE MODE;" >&3
  wait_for "SELECT count(*) FROM pg_locks WHERE relation = 'm.r2'::regclass AND mode = 'AccessExclusiveLock' AND granted" 1
  q_all "SELECT length(privacy_score.report()) > 1000" >"$PS_TMP/report" 2>&1 &
  local report=$!
  wait_for "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'm.r2'::regclass AND NOT granted" t
  echo "BEGIN; $2; SELECT 'changed';" >&4
  # It has been changed, or the change waits for the report.
  wait_for "SELECT count(*) > 0 FROM pg_stat_activity WHERE query ~ 'changed' AND pid <> pg_backend_pid() AND state = 'idle in transaction'
      OR EXISTS (SELECT FROM pg_locks WHERE relation = 'm.r1'::regclass AND NOT granted)" t
  echo "COMMIT;" >&3
  exec 3>&-
  sleep 1
  echo "COMMIT;" >&4
  exec 4>&-
  wait "$report"
  check "a report goes on: $1" "$(cat "$PS_TMP/report")" t
}
as mallory q "CREATE TABLE m.ranging (id int, r m.rng)" "INSERT INTO m.ranging SELECT i, m.rng(i, i + 5) FROM generate_series(1, 50) i" "SELECT privacy_score.protect('m.ranging', '{id}')" >/dev/null
check "a column of a type that is not trusted does not stop a report" "$(q "SELECT length(privacy_score.report()) > 1000")" t
for r in r1 r2; do
  as mallory q "CREATE TABLE m.$r (bid int, v text)" "INSERT INTO m.$r VALUES (1, 'a')" "COMMENT ON TABLE m.$r IS 'privacy_score release: sensitive values of x'" >/dev/null
done
released="SELECT 1 AS bid, n::text AS v FROM (SELECT $leak AS n OFFSET 0) s"
swapped "a release that becomes a view" "DROP TABLE m.r1; CREATE VIEW m.r1 AS $released; GRANT SELECT ON m.r1 TO PUBLIC" 1
as mallory q "DROP VIEW m.r1" "CREATE TABLE m.r1 (bid int, v text)" "COMMENT ON TABLE m.r2 IS NULL" "SELECT privacy_score.protect('m.r1', '{bid}')" "SELECT privacy_score.protect('m.r2', '{bid}')" >/dev/null
[ "$ps_major" -ge 16 ] || swapped "a protected table that becomes a view" "CREATE RULE \"_RETURN\" AS ON SELECT TO m.r1 DO INSTEAD $released" 2
# A foreign table on a server of mallory's that reads back from this one, with a mapping for the superuser.
if q "CREATE EXTENSION postgres_fdw" "GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO mallory" >/dev/null; then
  as mallory q "CREATE VIEW m.remote AS $released" "GRANT SELECT ON m.remote TO PUBLIC" "CREATE TABLE m.r3 (bid int, v text)" "INSERT INTO m.r3 VALUES (1, 'a')" \
    "COMMENT ON TABLE m.r3 IS 'privacy_score release: sensitive values of x'" "CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', dbname 'postgres')" \
    "CREATE USER MAPPING FOR postgres SERVER back" "CREATE FOREIGN TABLE m.f3 (bid int, v text) INHERITS (m.r3) SERVER back OPTIONS (schema_name 'm', table_name 'remote')" \
    "GRANT SELECT ON m.r3 TO owner" >/dev/null
  check "a report goes on: a release with a foreign table below it" "$(q "SELECT length(privacy_score.report()) > 1000")" t
  as owner q "CREATE VIEW o.afar AS SELECT bid, v FROM m.r3" "SELECT privacy_score.dp_grant('mallory', 'o.afar', 1000)" >/dev/null
  asks "a foreign table of the asker's" "^ERROR:  foreign table f3, which belongs to role \"mallory\", cannot run here" "SELECT privacy_score.dp_count('o.afar', 'bid = 1', 10)"
else
  skip "postgres_fdw is not installed"
fi
echo "SELECT 1;" >&5
sleep 0.5
echo "SELECT 'heard';" >&5
exec 5>&-
wait
check "nothing comes out of a report" "$(grep -cE 'TOPSECRET|says' "$PS_TMP/listener.out") $(tail -n 1 "$PS_TMP/listener.out")" "0 heard"
check "the server has not crashed" "$(grep -c "was terminated by signal" "$ps_log")" 0
done_testing

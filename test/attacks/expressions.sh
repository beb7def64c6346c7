#!/bin/bash
# expressions.sh - columns that leave a query in disguise: inside other values, through functions that run queries,
# through channels other than rows, through answers to yes-or-no questions.
. "$(dirname "$0")/../attack.sh"
start_hospital
q "CREATE EXTENSION dblink" "CREATE EXTENSION xml2" >/dev/null 2>&1
as_mallory "CREATE TABLE loot (d text)" "CREATE TYPE pair AS (a text, b text)" "CREATE DOMAIN word AS text CHECK (VALUE <> '')" >/dev/null

# --- inside other values --------------------------------------------------------------------------------------------------
path "TABLE" "$whole" "TABLE patients"
path "*" "$whole" "SELECT * FROM patients"
path "a whole row" "$whole x3" "SELECT patients FROM patients" "SELECT patients.*::text FROM patients" "SELECT p::patients FROM patients p"
path "row_to_json, to_jsonb, hstore of a row" "$whole x2" "SELECT row_to_json(p) FROM patients p" "SELECT to_jsonb(p) - 'id' FROM patients p"
path "a row of a row's field" "$read x2" "SELECT (p).diagnosis FROM patients p" "SELECT (ROW(p.diagnosis, 1)::pair).a FROM patients p"
path "ROW, ARRAY, composite, domain" "$read x4" "SELECT ROW(diagnosis, 1) FROM patients" "SELECT ARRAY[diagnosis] FROM patients" "SELECT ROW(diagnosis, '')::pair FROM patients" "SELECT diagnosis::word FROM patients"
path "casts, concatenation, md5, convert_to, length" "$read x5" "SELECT diagnosis::varchar(10) FROM patients" "SELECT 'x' || diagnosis FROM patients" "SELECT md5(diagnosis) FROM patients" \
  "SELECT convert_to(diagnosis, 'utf8') FROM patients" "SELECT length(diagnosis) FROM patients"
path "CASE, COALESCE, NULLIF, GREATEST" "$read x4" "SELECT CASE WHEN diagnosis = 'd1' THEN 1 ELSE 0 END FROM patients" "SELECT COALESCE(NULL, diagnosis) FROM patients" \
  "SELECT NULLIF(diagnosis, 'x') FROM patients" "SELECT GREATEST('a', diagnosis) FROM patients"
path "ctid" "$whole" "SELECT ctid FROM patients"
path "xmin, tableoid" "cmd:select t:h.patients x2" "SELECT xmin FROM patients" "SELECT tableoid FROM patients"
path "a scalar subquery" "cmd:select p:h.patients.diagnosis t:h.patients w:h.patients.id" "SELECT (SELECT diagnosis FROM patients WHERE id = 1)"
path "an ARRAY subquery" "$read" "SELECT ARRAY(SELECT diagnosis FROM patients)"
path "VALUES with a subquery" "cmd:select f:array_agg(h.patients.diagnosis) p:h.patients.diagnosis t:h.patients" "VALUES ((SELECT array_agg(diagnosis) FROM (SELECT diagnosis FROM patients OFFSET 0) x))" 
# Functions of the server that are not VOLATILE and say what they are given.
counted="cmd:select f:count(h.patients.city) p:h.patients.city t:h.patients"
path "a name that is cut, with a notice" "$counted" "SELECT count(to_regtype('\"' || rpad(city, 70, '_') || '\"')) FROM patients"
path "a cast to a name" "$counted" "SELECT count(('\"' || rpad(city, 70, '_') || '\"')::regtype) FROM patients WHERE false"
path "a search query without a lexeme" "$counted" "SELECT count(repeat(' ', length(city))::tsquery) FROM patients"
path "words that are too long" "$counted" "SELECT count(to_tsvector('simple', repeat('x', 3000 * length(city)))) FROM patients"
path "XML, with a warning" "$counted" "SELECT count(xpath('/a', ('<a xmlns=\"' || city || '\"/>')::xml)) FROM patients"
path "XMLPARSE" "$counted" "SELECT count(XMLPARSE(CONTENT city)) FROM patients"
path "locks on what is named" "$counted" "SELECT count(pg_get_viewdef(city)) FROM patients WHERE false"
path "what tells nothing" "cmd:select f:count(h.patients.city) t:h.patients" "SELECT count(upper(city)) FROM patients"
# How many rows a function gives.
rows="cmd:select f:count(*) p:h.patients.id t:h.patients"
path "rows of an output that nobody uses" "$rows" "SELECT count(*) FROM (SELECT generate_series(1, id) FROM patients) s"
path "of its order" "cmd:select f:count(*) o:h.patients.id p:h.patients.id t:h.patients" "SELECT count(*) FROM (SELECT 1 FROM patients ORDER BY generate_series(1, id)) s"
path "within an expression" "$rows" "SELECT count(*) FROM (SELECT 1 + generate_series(1, id) FROM patients OFFSET 0) s"
path "of a function in FROM that is compared" "cmd:select p:h.patients.id t:h.patients w:h.patients.city" "SELECT id FROM patients p, unnest(string_to_array(city, 'c')) g WHERE g = '3'"
check "in SQL text" "$(q "SELECT privacy_score.abstract_query('SELECT count(*) FROM (SELECT ' || s || 'generate_series(1, id) FROM h.patients) s') FROM (VALUES (''), ('pg_catalog.')) v(s)")" \
  "{cmd:select,f:count(*),p:h.patients.id,t:h.patients}
{cmd:select,f:count(*),p:h.patients.id,t:h.patients}"
path "generate_series up to what was read" "cmd:select f:max(h.patients.id) p:h.patients.id t:h.patients" "SELECT * FROM generate_series(1, (SELECT max(id) FROM (SELECT id FROM patients OFFSET 0) x))"
path "LATERAL" "cmd:select j:h.patients.id j:h.visits.patient p:h.patients.diagnosis p:h.visits.ward t:h.patients t:h.visits" "SELECT ward, d FROM visits v, LATERAL (SELECT diagnosis d FROM patients p WHERE p.id = v.patient) x"
path "TABLESAMPLE" "$read" "SELECT diagnosis FROM patients TABLESAMPLE BERNOULLI (100)"
path "a column as the number of rows of LIMIT, OFFSET, TABLESAMPLE, of a window's frame" \
  "cmd:select f:count(*) p:h.visits.id t:h.patients t:h.visits w:h.visits.cost x3; cmd:select f:count(*) f:max() p:h.visits.id t:h.patients t:h.visits w:h.visits.cost" \
  "SELECT v.id, n FROM visits v, LATERAL (SELECT count(*) n FROM (SELECT 1 FROM patients LIMIT v.cost::int) x) y" \
  "SELECT v.id, (SELECT count(*) FROM (SELECT 1 FROM patients OFFSET v.cost::int) x) FROM visits v" \
  "SELECT v.id, n FROM visits v, LATERAL (SELECT count(*) n FROM patients TABLESAMPLE system (v.cost)) y" \
  "SELECT v.id, (SELECT max(n) FROM (SELECT count(*) OVER (ROWS v.cost::int PRECEDING) n FROM patients) x) FROM visits v"
path "UNION, EXCEPT, INTERSECT" "cmd:select p:h.patients.city p:h.patients.diagnosis t:h.patients x3" "SELECT diagnosis FROM patients UNION SELECT city FROM patients" \
  "SELECT diagnosis FROM patients EXCEPT SELECT city FROM patients" "SELECT diagnosis FROM patients INTERSECT ALL SELECT city FROM patients"
path "WITH, used and not used" "$read x2" "WITH x AS (SELECT * FROM patients) SELECT diagnosis FROM x" "WITH RECURSIVE x AS (SELECT diagnosis, 1 n FROM patients UNION ALL SELECT diagnosis, n + 1 FROM x WHERE n < 3) SELECT diagnosis FROM x" \
  "WITH x AS (SELECT diagnosis FROM patients) SELECT 1"
path "ten levels of subqueries" "$read" "SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT diagnosis FROM patients) a) b) c) d) e) f) g) h) i"

# --- aggregates and windows -----------------------------------------------------------------------------------------------
path "array_agg, string_agg, json_agg" "cmd:select f:array_agg(h.patients.diagnosis) p:h.patients.diagnosis t:h.patients; cmd:select f:string_agg(h.patients.diagnosis) p:h.patients.diagnosis t:h.patients; cmd:select f:json_agg(h.patients.diagnosis) p:h.patients.diagnosis t:h.patients" \
  "SELECT array_agg(diagnosis) FROM patients" "SELECT string_agg(diagnosis, ',') FROM patients" "SELECT json_agg(diagnosis) FROM patients"
path "min and max of a group of one" "cmd:select f:max(h.patients.diagnosis) f:min(h.patients.diagnosis) g:h.patients.id p:h.patients.diagnosis p:h.patients.id t:h.patients" "SELECT id, min(diagnosis), max(diagnosis) FROM patients GROUP BY id"
path "count per value" "cmd:select f:count(*) g:h.patients.diagnosis p:h.patients.diagnosis t:h.patients" "SELECT diagnosis, count(*) FROM patients GROUP BY diagnosis"
path "sum grouped by a key is the value" "cmd:select f:sum(h.visits.cost) g:h.visits.id p:h.visits.cost t:h.visits" "SELECT sum(cost) FROM visits GROUP BY id"
path "sum of all is not" "cmd:select f:sum(h.visits.cost) t:h.visits" "SELECT sum(cost) FROM visits"
path "sum over a window is" "cmd:select f:sum(h.visits.cost) g:h.visits.id p:h.visits.cost t:h.visits" "SELECT sum(cost) OVER (PARTITION BY id) FROM visits"
path "lag, first_value, row_number" "cmd:select f:lag(h.patients.diagnosis) o:h.patients.id p:h.patients.diagnosis t:h.patients; cmd:select f:first_value(h.patients.diagnosis) p:h.patients.diagnosis t:h.patients" \
  "SELECT lag(diagnosis) OVER (ORDER BY id) FROM patients" "SELECT first_value(diagnosis) OVER () FROM patients"
path "DISTINCT, DISTINCT ON" "$read; cmd:select g:h.patients.diagnosis l:h.patients.diagnosis o:h.patients.diagnosis p:h.patients.city t:h.patients" "SELECT DISTINCT diagnosis FROM patients" "SELECT DISTINCT ON (diagnosis) city FROM patients ORDER BY diagnosis"
path "GROUPING SETS" "cmd:select f:count(*) g:h.patients.city g:h.patients.diagnosis p:h.patients.city p:h.patients.diagnosis t:h.patients" "SELECT city, diagnosis, count(*) FROM patients GROUP BY CUBE (city, diagnosis)"
path "mode, percentile" "cmd:select f:mode(h.patients.diagnosis) o:h.patients.diagnosis p:h.patients.diagnosis t:h.patients" "SELECT mode() WITHIN GROUP (ORDER BY diagnosis) FROM patients"
path "regr, corr of two values" "cmd:select f:regr_slope(h.visits.cost,h.visits.id) t:h.visits" "SELECT regr_slope(cost::float8, id) FROM visits"

# --- yes or no ------------------------------------------------------------------------------------------------------------
guess="cmd:select t:h.patients w:h.patients.diagnosis"
path "EXISTS" "$guess" "SELECT 1 WHERE EXISTS (SELECT FROM patients WHERE diagnosis LIKE 'd%')"
path "count with a condition" "cmd:select f:count(*) t:h.patients w:h.patients.diagnosis x2; cmd:select f:bool_or(h.patients.diagnosis) f:count(*) t:h.patients w:h.patients.diagnosis" "SELECT count(*) FROM patients WHERE diagnosis = 'd1'" "SELECT count(*) FILTER (WHERE diagnosis = 'd1') FROM patients" \
  "SELECT count(*) FROM patients HAVING bool_or(diagnosis = 'd1') IS NOT NULL AND count(*) FILTER (WHERE diagnosis = 'd2') > 0"
path "row comparison, IN, ANY, BETWEEN, IS" "cmd:select t:h.patients w:h.patients.diagnosis w:h.patients.id; $guess x4" "SELECT 1 FROM patients WHERE (id, diagnosis) > (5, 'd')" "SELECT 1 FROM patients WHERE diagnosis IN ('a', 'b')" \
  "SELECT 1 FROM patients WHERE diagnosis = ANY ('{a,b}')" "SELECT 1 FROM patients WHERE diagnosis BETWEEN 'a' AND 'b'" "SELECT 1 FROM patients WHERE diagnosis IS NULL"
ids=$(seq -s , 1 5000)
path "a list of 5000" "$by_id" "SELECT diagnosis FROM patients WHERE id IN ($ids)"
path "a join with constants" "cmd:select p:h.patients.diagnosis t:h.patients w:h.patients.id" "SELECT diagnosis FROM patients JOIN (VALUES (1), (2)) v(i) ON id = i"
path "a join with a table of one's own" "cmd:select t:h.loot t:h.patients w:h.loot.d w:h.patients.diagnosis" "SELECT 1 FROM patients JOIN loot ON d = diagnosis"
path "ORDER BY with LIMIT" "cmd:select l:h.patients.diagnosis o:h.patients.diagnosis p:h.patients.id t:h.patients" "SELECT id FROM patients ORDER BY diagnosis LIMIT 1"
path "LIMIT and OFFSET of a subquery" "cmd:select t:h.patients w:h.patients.id" "SELECT 1 LIMIT (SELECT id FROM patients LIMIT 1)"
path "an array as a parameter" "cmd:select p:h.patients.diagnosis t:h.patients w:h.patients.id" "PREPARE p(int[]) AS SELECT diagnosis FROM patients WHERE id = ANY (\$1)" "EXECUTE p('{1,2,3}')"

# --- functions that run queries -------------------------------------------------------------------------------------------
path "query_to_xml" "$outer; $read" "SELECT query_to_xml('SELECT diagnosis FROM patients', true, false, '')"
path "query_to_xml_and_xmlschema runs it for each" "$outer; $read x2" "SELECT query_to_xml_and_xmlschema('SELECT diagnosis FROM patients', true, false, '')"
path "table_to_xml" "$outer; $whole" "SELECT table_to_xml('patients', true, false, '')"
path "cursor_to_xml" "$read; $outer" "BEGIN" "DECLARE c CURSOR FOR SELECT diagnosis FROM patients" "SELECT cursor_to_xml('c', 10, true, false, '')" "COMMIT"
path "schema_to_xml" "~; $whole" "SELECT schema_to_xml('h', true, false, '')"
path "database_to_xml" "~; $whole" "SELECT database_to_xml(true, false, '')"
path "ts_stat" "$outer; $read" "SELECT * FROM ts_stat('SELECT to_tsvector(diagnosis) FROM patients')"
path "ts_rewrite" "$outer; cmd:select p:h.patients.diagnosis t:h.patients" "SELECT ts_rewrite('a & b'::tsquery, 'SELECT plainto_tsquery(diagnosis), plainto_tsquery(diagnosis) FROM patients')"
path "XMLTABLE, json functions of a column" "$read x2" "SELECT x.* FROM patients, XMLTABLE('/a' PASSING xmlelement(name a, diagnosis) COLUMNS b text PATH '.') x" \
  "SELECT j.* FROM patients, jsonb_array_elements_text(jsonb_build_array(diagnosis)) j"
path "unnest, regexp_matches, string_to_table" "$read x2" "SELECT string_to_table(diagnosis, 'd') FROM patients" "SELECT u.x FROM patients p, unnest(ARRAY[p.diagnosis]) u(x)"
verify_paths
done_testing

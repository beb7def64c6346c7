#!/bin/bash
# told_indirectly.sh - a function of one's own that tells what it is given need not stand in the query: types bring it, in
# their checks, as a cast to json, as what compares their values. And one that is given nothing tells by when it runs, of
# what decides that. What is told so counts as projected.
. "$(dirname "$0")/../attack.sh"
start_hospital
as mallory q_script >/dev/null <<'SQL' || bail_out "the functions cannot be made"
CREATE FUNCTION h.told(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN $1; END';
CREATE DOMAIN h.telling AS text CHECK (h.told(VALUE) IS NOT NULL);
CREATE DOMAIN h.quiet AS text CHECK (VALUE <> '');
CREATE DOMAIN h.over AS h.telling;
CREATE TYPE h.row AS (a int, t h.over);
CREATE TYPE h.deep AS (a h.row[]);
CREATE TYPE h.plain AS (a int, t h.quiet);
CREATE TYPE h.spans AS RANGE (subtype = h.telling);
CREATE TYPE h.words AS RANGE (subtype = text);
CREATE TYPE h.told_words AS RANGE (subtype = text);
CREATE FUNCTION h.as_json(h.told_words) RETURNS json IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN ''1''; END';
CREATE CAST (h.told_words AS json) WITH FUNCTION h.as_json(h.told_words);
CREATE CAST (text AS h.row) WITH INOUT AS IMPLICIT;
CREATE FUNCTION h.takes(h.row) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION h.hit() RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''hit''; RETURN ''''; END';
CREATE VIEW h.noting AS SELECT id, diagnosis, h.told('x') AS x FROM h.patients;
CREATE FUNCTION h.before(json, json) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN $1::text < $2::text; END';
CREATE FUNCTION h.same(json, json) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN $1::text = $2::text; END';
CREATE FUNCTION h.compare(json, json) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN bttextcmp($1::text, $2::text); END';
CREATE OPERATOR h.<< (LEFTARG = json, RIGHTARG = json, FUNCTION = h.before);
CREATE OPERATOR h.=== (LEFTARG = json, RIGHTARG = json, FUNCTION = h.same);
CREATE OPERATOR h.>> (LEFTARG = json, RIGHTARG = json, FUNCTION = h.before);
SQL
all="p:h.patients.diagnosis t:h.patients"
counted="cmd:select f:count(h.patients.diagnosis) $all"
hidden="cmd:select f:count(h.patients.diagnosis) t:h.patients"

# counts "what" EXPRESSION [FROM]: a count of it tells all that it counts. silent: it tells nothing but the count.
counts() { path "$1" "$counted" "SELECT pg_catalog.count($2) FROM ${3:-patients}"; }
silent() { path "$1" "$hidden" "SELECT pg_catalog.count($2) FROM ${3:-patients}"; }

# --- what makes values of a type ----------------------------------------------------------------------------------------------
# The leak is one: the checks could fail.
check_match "a check in a composite type prints what a count hides" "$(as mallory q_all "SELECT count(('(1,' || diagnosis || ')')::h.row) FROM h.patients")" "NOTICE:  d1"
check_match "so does a cast to json" "$(as mallory q_all "SELECT count(to_jsonb(h.told_words(diagnosis, diagnosis, '[]'))) FROM h.patients")" "NOTICE:  \[d1,d1\]"
check_match "and a function that is given nothing" "$(as mallory q_all "SELECT count(CASE WHEN diagnosis = 'd1' THEN h.hit() END) FROM h.patients")" "NOTICE:  hit"
counts "a composite type, out of a text" "('(1,' || diagnosis || ')')::h.row"
counts "an array of a domain" "('{' || diagnosis || '}')::h.telling[]"
counts "a composite type in an array in another" "('(\"{\"\"(1,' || diagnosis || ')\"\"}\")')::h.deep"
counts "a range of a domain" "('[' || diagnosis || ',]')::h.spans"
counts "many ranges" "('{[' || diagnosis || ',]}')::h.spans_multirange"
counts "a range's constructor" "h.spans(diagnosis, diagnosis, '[]')"
counts "a record that is filled" "jsonb_populate_record(NULL::h.row, jsonb_build_object('t', diagnosis))"
counts "rows that are filled" "x.t" "patients p, jsonb_populate_recordset(NULL::h.row, jsonb_build_array(jsonb_build_object('t', p.diagnosis))) x"
counts "columns that are listed" "x.t" "patients p, jsonb_to_recordset(jsonb_build_array(jsonb_build_object('t', p.diagnosis))) AS x(t h.telling)"
counts "XMLTABLE" "x.t" "patients p, XMLTABLE('/r' PASSING xmlelement(name r, p.diagnosis) COLUMNS t h.telling PATH '.') x"
path "an implicit cast by the types' functions" "$counted" "SELECT pg_catalog.count(h.takes(('(1,' || diagnosis || ')')::text)) FROM patients"
silent "a check that tells nothing" "('(1,' || diagnosis || ')')::h.plain"
silent "a range of text" "h.words(diagnosis, NULL)"

# --- what makes JSON ----------------------------------------------------------------------------------------------------------
told="h.told_words(diagnosis, diagnosis, '[]')"
counts "to_jsonb" "to_jsonb($told)"
counts "jsonb_build_array" "jsonb_build_array(1, $told)"
counts "within an array" "to_json(ARRAY[$told])"
counts "within a row" "row_to_json(ROW(1, $told))"
counts "within a row of a subquery" "row_to_json(x)" "(SELECT $told FROM patients) x"
path "in a condition" "cmd:select f:count(*) $all w:h.patients.diagnosis" "SELECT count(*) FROM patients WHERE to_jsonb($told) IS NULL"
path "in an output that nobody uses" "cmd:select f:count(*) $all" "SELECT count(*) FROM (SELECT to_jsonb($told) FROM patients OFFSET 0) x"
silent "a type without such a cast" "to_jsonb(h.words(diagnosis, NULL))"
cast="CREATE CAST (h.words AS json) WITH FUNCTION h.as_json(h.words)"
path "a cast that came after the statement was met" "$hidden; $counted" "SELECT pg_catalog.count(to_jsonb(h.words(diagnosis, NULL))) FROM patients" \
  "CREATE FUNCTION h.as_json(h.words) RETURNS json IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''%'', \$1; RETURN ''1''; END'" "$cast" \
  "SELECT pg_catalog.count(to_jsonb(h.words(diagnosis, NULL))) FROM patients" "DROP CAST (h.words AS json)"

# --- when a function runs -----------------------------------------------------------------------------------------------------
chosen="cmd:select e:h.patients.diagnosis f:count(h.patients.diagnosis) $all"
path "CASE" "$chosen" "SELECT pg_catalog.count(CASE WHEN diagnosis = 'd1' THEN h.hit() END) FROM patients"
counts "CASE, by an order" "CASE WHEN diagnosis > 'd1' THEN h.hit() END"
counts "CASE, in a subquery" "CASE WHEN diagnosis > 'd1' THEN (SELECT h.hit()) END"
counts "COALESCE" "COALESCE(left(diagnosis, -1), h.hit())"
counts "OR" "diagnosis > 'd1' OR h.hit() = ''"
counts "AND" "diagnosis > 'd1' AND h.hit() = ''"
counts "NOT" "NOT (diagnosis > 'd1' AND h.hit() = '')"
counts "a comparison of rows" "(diagnosis, h.hit()) < ('d1', '')"
counts "a subscript" "(CASE WHEN diagnosis > 'd1' THEN ARRAY[1] END)[length(h.hit())]"
counts "a function of the server that can be seen to run" "CASE WHEN diagnosis > 'd1' THEN set_config('a.b', current_setting('a.b', true) || '1', false) END"
path "in an output that nobody uses" "cmd:select f:count(*) $all" "SELECT count(*) FROM (SELECT diagnosis > 'd1' AND h.hit() = '' FROM patients OFFSET 0) x"
path "in ORDER BY" "cmd:select o:h.patients.diagnosis p:h.patients.diagnosis p:h.patients.id t:h.patients" "SELECT id FROM patients ORDER BY diagnosis > 'd1' AND h.hit() = ''"
path "an aggregate in HAVING" "$counted" "SELECT 1 FROM patients HAVING pg_catalog.count(diagnosis > 'd1' AND h.hit() = '') > 0"
path "the column of a view, in whose place the function comes" "$counted" "SELECT pg_catalog.count(CASE WHEN diagnosis > 'd1' THEN x END) FROM noting"
path "in a condition it counts anyway" "cmd:select f:count(*) t:h.patients w:h.patients.diagnosis x2" "SELECT count(*) FROM patients WHERE diagnosis > 'd1' OR h.hit() = ''" "SELECT count(*) FILTER (WHERE diagnosis > 'd1' AND h.hit() = '') FROM patients"
silent "what chooses among values" "CASE WHEN diagnosis > 'd1' THEN 1 END"
silent "what chooses chance, or the time" "CASE WHEN diagnosis > 'd1' THEN random() WHEN diagnosis > 'd0' THEN extract(epoch FROM clock_timestamp()) END"

# --- what compares ------------------------------------------------------------------------------------------------------------
q "CREATE OPERATOR CLASS h.json_ops DEFAULT FOR TYPE json USING btree AS OPERATOR 1 h.<<, OPERATOR 3 h.===, OPERATOR 5 h.>>, FUNCTION 1 h.compare(json, json)" >/dev/null
json="to_json(diagnosis)"
path "ORDER BY" "cmd:select o:h.patients.diagnosis p:h.patients.diagnosis p:h.patients.id t:h.patients" "SELECT id FROM patients ORDER BY $json"
path "ORDER BY ... USING" "cmd:select o:h.patients.diagnosis p:h.patients.diagnosis p:h.patients.id t:h.patients" "SELECT id FROM patients ORDER BY $json USING OPERATOR(h.<<)"
path "of an array" "cmd:select o:h.patients.diagnosis p:h.patients.diagnosis p:h.patients.id t:h.patients" "SELECT id FROM patients ORDER BY ARRAY[$json]"
path "DISTINCT" "cmd:select f:count(*) f:count(h.patients.diagnosis) $all" "SELECT count(*) FROM (SELECT DISTINCT $json FROM patients) x"
counts "within an aggregate" "DISTINCT $json"
path "a window" "cmd:select f:rank() o:h.patients.diagnosis $all" "SELECT rank() OVER (ORDER BY $json) FROM patients"
path "the server's own do not tell" "cmd:select o:h.patients.diagnosis p:h.patients.id t:h.patients w:h.patients.diagnosis" "SELECT id FROM patients ORDER BY ARRAY[diagnosis]"

verify_paths

# --- SQL text, which does not say what types bring ----------------------------------------------------------------------------
abstracts() { check "as a text: $1" "$(as mallory q "SELECT array_to_string(privacy_score.abstract_query(\$x\$$3\$x\$), ' ')")" "$2"; }
abstracts "CASE" "$chosen" "SELECT pg_catalog.count(CASE WHEN diagnosis = 'd1' THEN h.hit() END) FROM patients"
abstracts "COALESCE" "$counted" "SELECT count(COALESCE(left(diagnosis, -1), h.hit())) FROM patients"
abstracts "OR" "$counted" "SELECT count(diagnosis > 'd1' OR h.hit() = '') FROM patients"
abstracts "a comparison of rows" "$counted" "SELECT count((diagnosis, h.hit()) < ('d1', '')) FROM patients"
abstracts "a view" "$counted" "SELECT count(CASE WHEN diagnosis > 'd1' THEN x END) FROM noting"
abstracts "chance" "$hidden" "SELECT count(CASE WHEN diagnosis > 'd1' THEN random() END) FROM patients"
abstracts "a condition" "cmd:select f:count(*) t:h.patients w:h.patients.diagnosis" "SELECT count(*) FROM patients WHERE diagnosis > 'd1' OR h.hit() = ''"
done_testing

#!/bin/bash
# encodings.sh - databases that are not in UTF-8: text goes to the parser and back, names and constants of predicates
# stay what they are, and what the database cannot write is an error of its own.
. "$(dirname "$0")/../lib.sh"

export PGCLIENTENCODING=UTF8
start_server
q "CREATE ROLE alice LOGIN" >/dev/null
for encoding in LATIN1 SQL_ASCII; do
  q "CREATE DATABASE $encoding TEMPLATE template0 ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C'" >/dev/null
done
statement="SELECT straße FROM krankenblätter WHERE größe > 170"
tokens='cmd:select p:public."krankenblätter"."straße" t:public."krankenblätter" w:public."krankenblätter"."größe"'
both="SELECT array_to_string(privacy_score.abstract_query(s), ' '), privacy_score.abstract_query(s) = privacy_score.abstract_query_analyzed(s)
        FROM (SELECT \$\$$statement\$\$) v(s)"
count() { printf "SELECT privacy_score.restricted_count('krankenblätter', \$\$%s\$\$, 1)" "$1"; }

# --- LATIN1 -------------------------------------------------------------------------------------------------------------
in_latin() { on latin1 "$@"; }
in_latin q "CREATE EXTENSION privacy_score" "CREATE TABLE krankenblätter (id int PRIMARY KEY, größe int, straße text)" \
  "INSERT INTO krankenblätter SELECT i, 150 + i % 50, CASE WHEN i % 4 = 0 THEN 'Königsweg' ELSE 'Gasse' END FROM generate_series(1, 400) i" \
  "GRANT SELECT ON krankenblätter TO alice" "SELECT privacy_score.protect('krankenblätter')" \
  "SELECT privacy_score.dp_grant('alice', 'krankenblätter', 1000)" >/dev/null
check "LATIN1: SQL text and the server's query are the same" "$(in_latin q "$both")" "$tokens|t"
in_latin as alice q "$statement" >/dev/null
in_latin q "SELECT privacy_score.flush()" >/dev/null
check "LATIN1: what is watched is stored under the same name" \
  "$(in_latin q "SELECT array_to_string(tokens, ' '), calls, rows FROM privacy_score.stat_abstractions")" \
  "$tokens|1|$(in_latin q "SELECT count(*) FROM krankenblätter WHERE größe > 170")"
check "LATIN1: imported text is the same statement" \
  "$(in_latin q "SELECT privacy_score.import_statements(\$i\$SELECT 's', 'alice'::name, '2026-01-01'::timestamptz, \$\$$statement\$\$\$i\$)" \
    "SELECT count(*), sum(calls) FROM privacy_score.stat_abstractions")" "1
1|2"
check "LATIN1: a noisy count by names and constants beyond ASCII" \
  "$(in_latin as alice q "SELECT abs(privacy_score.dp_count('krankenblätter', \$\$straße = 'Königsweg' AND größe IS NOT NULL\$\$, 100) - 100) < 5")" t
check "LATIN1: an escape for a character that it has is that character" "$(in_latin q "$(count "straße = U&'K\\00F6nigsweg'")")" 100
check "LATIN1: a constant that it cannot write is refused" "$(in_latin q "$(count "straße = U&'\\20AC'")")" \
  'ERROR: a constant of the predicate cannot be written in encoding "LATIN1"'
check "LATIN1: with a code of its own" "$(in_latin q_state "$(count "straße = U&'\\20AC'")")" 22P05
check "LATIN1: no column has a name that it cannot write" "$(in_latin q "$(count "U&\"\\20AC\" = 1")")" \
  'ERROR: column "?" of relation "krankenblätter" does not exist'
check "LATIN1: the report has the names, in ASCII" \
  "$(in_latin q "SELECT r ~ '^[[:ascii:]]*\$', r LIKE '%krankenbl&#228;tter%' FROM privacy_score.report() r")" "t|t"
check "LATIN1: so has a chart" \
  "$(in_latin q "SELECT c LIKE '%krankenbl&#228;tter%', c LIKE '%gr&#246;&#223;e%', c LIKE '%&#65533;%' FROM privacy_score.relationship_chart('krankenblätter') c")" "t|t|f"
check "LATIN1: a diagram for another program has them as they are" \
  "$(in_latin q "SELECT d LIKE '%größe%' FROM privacy_score.attribute_relationships_dot('krankenblätter') d")" t

# --- SQL_ASCII: bytes are taken as they come ------------------------------------------------------------------------------
in_ascii() { on sql_ascii "$@"; }
in_ascii q "CREATE EXTENSION privacy_score" "CREATE TABLE krankenblätter (id int PRIMARY KEY, größe int, straße text)" \
  "INSERT INTO krankenblätter SELECT i, i, 'Königsweg' FROM generate_series(1, 10) i" "SELECT privacy_score.protect('krankenblätter')" >/dev/null
check "SQL_ASCII: SQL text and the server's query are the same" "$(in_ascii q "$both")" "$tokens|t"
check "SQL_ASCII: bytes that are no UTF-8 are no statement, and no error" \
  "$(in_ascii q "SELECT array_to_string(privacy_score.abstract_query(convert_from('\\x53454c45435420ff'::bytea, 'SQL_ASCII')), ' ')")" unparsed
check "SQL_ASCII: nor are they a condition" "$(in_ascii q_state "SELECT privacy_score.restricted_count('krankenblätter', convert_from('\\xff203d2031'::bytea, 'SQL_ASCII'), 1)")" PS003
check "SQL_ASCII: a condition with names and constants beyond ASCII" "$(in_ascii q "$(count "straße = 'Königsweg' AND größe > 4")")" 6
for database in latin1 sql_ascii; do on $database check_scored; done
done_testing

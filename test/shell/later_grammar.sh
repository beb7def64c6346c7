#!/bin/bash
# later_grammar.sh - statements that the grammars of PostgreSQL 16 to 18 brought: both front ends make the same abstraction of
# them, as in test/sql/front_ends.sql. Where the server does not know them yet, they do not parse.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" "CREATE TABLE people (id int PRIMARY KEY, zip text, sex text, doc jsonb)" "CREATE TABLE news (id int, zip text)" >/dev/null

# same SINCE STATEMENT TOKENS: TOKENS without the schema, which is the same everywhere.
same() {
  local text analysed
  text=$(q "SELECT privacy_score.abstract_query(\$q\$$2\$q\$)")
  if [ "$ps_major" -lt "$1" ]; then
    check "not before $1: $2" "$text $(q_state "SELECT privacy_score.abstract_query_analyzed(\$q\$$2\$q\$)")" "{unparsed} 42601"
    return
  fi
  analysed=$(q "SELECT privacy_score.abstract_query_analyzed(\$q\$$2\$q\$)")
  check "$2" "${text//public./} ${analysed//public./}" "{$3} {$3}"
}

# Before 18 these are names of tables that are not there.
old="UPDATE people SET zip = 'x' WHERE id = 1 RETURNING old.zip, new.sex"
if [ "$ps_major" -ge 18 ]; then
  same 18 "$old" "cmd:update,p:people.sex,p:people.zip,s:people.zip,t:people,w:people.id"
else
  check "not before 18: $old" "$(q_state "SELECT privacy_score.abstract_query_analyzed(\$q\$$old\$q\$)")" 42P01
fi
same 18 "UPDATE people SET zip = 'x' RETURNING WITH (OLD AS o, NEW AS n) o.zip, n.sex" "cmd:update,p:people.sex,p:people.zip,s:people.zip,t:people"
same 18 "MERGE INTO people p USING news n ON p.id = n.id WHEN MATCHED AND p.sex = 'f' THEN UPDATE SET zip = n.zip RETURNING WITH (OLD AS o) o.sex, p.zip" \
  "cmd:merge,p:news.zip,p:people.sex,p:people.zip,s:people.zip,t:news,t:people,w:news.id,w:people.id,w:people.sex"
same 17 "MERGE INTO people p USING news n ON p.id = n.id WHEN MATCHED THEN UPDATE SET zip = n.zip WHEN NOT MATCHED BY SOURCE THEN DELETE RETURNING merge_action(), p.zip" \
  "cmd:merge,p:news.zip,p:people.zip,s:people.zip,t:news,t:people,w:news.id,w:people.id"
same 17 "WITH m AS (MERGE INTO people p USING news n ON p.id = n.id WHEN MATCHED THEN DELETE RETURNING p.zip) SELECT * FROM m" \
  "cmd:select,p:people.zip,t:news,t:people,w:news.id,w:people.id"
same 17 "SELECT j.* FROM people p, JSON_TABLE(p.doc, '\$[*]' COLUMNS (a int PATH '\$.a')) j" "cmd:select,p:people.doc,t:people"
same 17 "SELECT 1 FROM people WHERE JSON_VALUE(doc, '\$.a' RETURNING int ERROR ON ERROR) = 2 AND JSON_EXISTS(doc, '\$.c')" "cmd:select,t:people,w:people.doc"
same 17 "SELECT JSON_QUERY(doc, '\$.b' WITH WRAPPER) FROM people" "cmd:select,p:people.doc,t:people"
same 16 "SELECT JSON_OBJECT('z': zip), JSON_ARRAY(sex NULL ON NULL) FROM people WHERE zip IS JSON" "cmd:select,p:people.sex,p:people.zip,t:people,w:people.zip"
same 16 "SELECT zip FROM (SELECT zip FROM people)" "cmd:select,p:people.zip,t:people"

# Of who is watched they are taken in, without an error that is swallowed.
if [ "$ps_major" -ge 16 ]; then
  q "CREATE ROLE alice LOGIN" "GRANT SELECT ON people TO alice" "SELECT privacy_score.protect('people')" "SELECT privacy_score.flush()" >/dev/null
  as alice q "SELECT JSON_OBJECT('z': zip, 's': sex), JSON_ARRAY(sex, id NULL ON NULL) FROM people WHERE zip IS JSON" >/dev/null
  check "a session with them is recorded" "$(q "SELECT privacy_score.flush()" >/dev/null; q "SELECT s.queries, i.scoring_errors FROM privacy_score.stat_info i, privacy_score.session s WHERE s.role = 'alice'")" "1|0"
fi
done_testing

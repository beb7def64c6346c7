-- Names in abstractions do not depend on which words the server's version has for keywords, nor on quote_all_identifiers:
-- the ids below are the same on each.
CREATE SCHEMA "user";
CREATE TABLE "user"."order" (id int PRIMARY KEY, "select" text, "json_array" text, "system_user" text,
  "json_scalar" text, "merge_action" text, "xmltable" text, a$b text, "größe" int, "Upper" text, "a.b" text);
INSERT INTO "user"."order" SELECT i, 's' || i FROM generate_series(1, 20) i;
SELECT privacy_score.protect('"user"."order"');
SELECT relation FROM privacy_score.protected_relations;

CREATE TEMP VIEW asked AS SELECT * FROM (VALUES
  ('SELECT "select", "json_array" FROM "user"."order" WHERE "system_user" = ''x'''),
  ('SELECT sum("größe"), "json_scalar" FROM "user"."order" GROUP BY "json_scalar"'),
  ('SELECT "merge_action", "xmltable", a$b, "Upper", "a.b" FROM "user"."order" o ORDER BY o.id LIMIT 1'),
  ('UPDATE "user"."order" SET "select" = ''x'' WHERE "xmltable" = ''y''')) q(sql);
SELECT privacy_score.abstraction_id(t), t FROM asked, privacy_score.abstract_query(sql) t;
SELECT count(*) AS differ FROM asked WHERE privacy_score.abstract_query(sql) <> privacy_score.abstract_query_analyzed(sql);
SET quote_all_identifiers = on;
SELECT count(*) AS differ FROM asked, LATERAL (SELECT privacy_score.abstract_query(sql), privacy_score.abstract_query_analyzed(sql)) t(a, b) WHERE a <> b OR a::text LIKE '%"order%';
RESET quote_all_identifiers;

-- What the extension asks the server of such a relation is quoted as SQL wants it.
SELECT privacy_score.analyze_relation('"user"."order"');
SELECT round(privacy_score.combined_discrimination_rate('"user"."order"', '{select}')::numeric, 4) AS rate;
SELECT count(*) FROM privacy_score.attribute_risk('"user"."order"');
SELECT round((privacy_score.explain_query('SELECT "select" FROM "user"."order"')->>'score')::numeric, 4) AS score;
SELECT privacy_score.dp_grant(current_user, '"user"."order"', 10, unit => 'select', max_rows_per_unit => 2);
SELECT pg_typeof(privacy_score.dp_count('"user"."order"', '"select" = ''s1'' ')), pg_typeof(privacy_score.dp_sum('"user"."order"', 'größe', 0, 5));
SELECT count(*) FROM privacy_score.dp_histogram('"user"."order"', 'json_scalar', keys => '{a,b}');
SELECT privacy_score.dp_revoke(current_user, '"user"."order"');
SELECT privacy_score.k_anonymity('"user"."order"', '{xmltable}'), privacy_score.l_diversity('"user"."order"', '{select}', 'id');
SELECT privacy_score.restricted_count('"user"."order"', '"select" <> ''x'' ', 2);
SELECT privacy_score.release_sample('"user"."order"', '"user"."table"', 0.5) IS NOT NULL AS released;
SELECT count(*) >= 0 AS released FROM privacy_score.release_table('"user"."order"', 'select', 'xmltable', 2);
SELECT count(*) > 0 AS measured FROM privacy_score.release_privacy_loss('"user"."order"', 'id', 'count');
DROP TABLE "user"."table";

-- Abstractions that an older version wrote.
SELECT privacy_score.requoted('{"t:\"user\".\"order\"","p:\"user\".\"order\".\"Upper\"","f:\"user\".\"any_value\"(\"user\".\"order\".\"a$b\")"}');
SELECT privacy_score.abstraction_id('{}');
SELECT privacy_score.unprotect('"user"."order"');
DROP TABLE "user"."order";
DROP SCHEMA "user";

-- What tells that rows are others, read in C, against a query of the catalogs that says the same.
CREATE FUNCTION pg_temp.by_query(name text, OUT identity bigint, OUT rows bigint, OUT modifications bigint) RETURNS record LANGUAGE sql AS $$
  WITH RECURSIVE member(relation) AS (
    SELECT to_regclass(by_query.name)::oid
    UNION
    SELECT i.inhrelid FROM pg_inherits i JOIN member m ON i.inhparent = m.relation)
  SELECT hashtextextended(string_agg(c.oid::text || ':' || c.relfilenode::text || ':' || c.relnatts::text, ' ' ORDER BY c.oid), 0),
         sum(pg_stat_get_live_tuples(c.oid))::bigint,
         sum(pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid))::bigint
    FROM member m JOIN pg_class c ON c.oid = m.relation $$;
CREATE SCHEMA "Of state";
CREATE TABLE "Of state"."a.b" (id int);
CREATE TABLE "Of state".parted (id int, part int) PARTITION BY RANGE (part);
CREATE TABLE "Of state".low PARTITION OF "Of state".parted FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (part);
CREATE TABLE "Of state".lower PARTITION OF "Of state".low FOR VALUES FROM (0) TO (5);
CREATE TABLE "Of state".high PARTITION OF "Of state".parted FOR VALUES FROM (10) TO (20);
CREATE TABLE "Of state".mother (id int);
CREATE TABLE "Of state".father (id int);
CREATE TABLE "Of state".child (other int) INHERITS ("Of state".mother, "Of state".father);
CREATE TABLE "Of state".grandchild () INHERITS ("Of state".child, "Of state".mother);
INSERT INTO "Of state"."a.b" SELECT generate_series(1, 70);
UPDATE "Of state"."a.b" SET id = id + 1 WHERE id <= 10;
DELETE FROM "Of state"."a.b" WHERE id > 60;
INSERT INTO "Of state".parted SELECT i, i % 20 FROM generate_series(1, 100) i WHERE i % 20 NOT BETWEEN 5 AND 9;
INSERT INTO "Of state".grandchild SELECT i, i FROM generate_series(1, 30) i;
INSERT INTO "Of state".mother SELECT i FROM generate_series(1, 5) i;
CREATE VIEW compared AS
  SELECT n.name, (c.identity, c.rows, c.modifications) IS NOT DISTINCT FROM (q.identity, q.rows, q.modifications) AS same, c.identity IS NOT NULL AS is_there, c.rows, c.modifications
    FROM (VALUES ('"Of state"."a.b"'), ('"Of state".parted'), ('"Of state".low'), ('"Of state".mother'), ('"Of state".father'),
                 ('"Of state".nothing'), ('nowhere.nothing')) n(name),
         LATERAL privacy_score.source_state(n.name) c, LATERAL pg_temp.by_query(n.name) q;
SELECT pg_stat_force_next_flush();
SELECT * FROM compared;
CREATE TEMP TABLE identity_before (n text, identity bigint);
INSERT INTO identity_before SELECT name, (privacy_score.source_state(name)).identity FROM compared WHERE is_there;
ALTER TABLE "Of state".child ADD more int;
TRUNCATE "Of state".lower;
SELECT b.n AS changed FROM identity_before b WHERE b.identity <> (privacy_score.source_state(b.n)).identity ORDER BY 1;
SELECT bool_and(same) FROM compared;
SELECT privacy_score.source_state(NULL) IS NULL AS nothing;
DROP VIEW compared;
SET client_min_messages = warning;
DROP SCHEMA "Of state" CASCADE;

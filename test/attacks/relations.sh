#!/bin/bash
# relations.sh - what stands for a table: views, materialized views, rules, policies, partitions, children, foreign
# tables; and statements that write, with what they take from tables.
. "$(dirname "$0")/../attack.sh"
start_hospital

as mallory q_script >/dev/null <<'SQL' || bail_out "the objects cannot be made"
CREATE TABLE h.loot (i int, d text);
INSERT INTO h.loot VALUES (1, 'x'), (2, 'y');
CREATE VIEW h.one AS SELECT id, diagnosis, city FROM h.patients;
CREATE VIEW h.two AS SELECT diagnosis AS d FROM h.one WHERE id > 3;
CREATE VIEW h.barrier WITH (security_barrier) AS SELECT diagnosis FROM h.patients WHERE city = 'c1';
CREATE VIEW h.invoker WITH (security_invoker) AS SELECT diagnosis FROM h.patients;
CREATE MATERIALIZED VIEW h.kept AS SELECT id, diagnosis FROM h.patients;
CREATE UNIQUE INDEX ON h.kept (id);
CREATE VIEW h.counts AS SELECT city, count(*) AS n FROM h.patients GROUP BY city;
CREATE VIEW h.joined AS SELECT p.diagnosis, v.ward FROM h.patients p LEFT JOIN h.visits v ON v.patient = p.id;
CREATE TABLE h.ruled (i int, d text);
CREATE RULE also AS ON INSERT TO h.ruled DO ALSO INSERT INTO h.loot SELECT id, diagnosis FROM h.patients WHERE id = NEW.i;
CREATE RULE instead AS ON DELETE TO h.ruled DO INSTEAD SELECT diagnosis FROM h.patients;
CREATE RULE conditional AS ON UPDATE TO h.ruled WHERE NEW.i > 0 DO INSTEAD INSERT INTO h.loot (d) SELECT city FROM h.patients;
-- Until version 15 a rule makes a table a view.
SELECT current_setting('server_version_num')::int < 160000 AS converts \gset
\if :converts
CREATE TABLE h.became_view (diagnosis text);
CREATE RULE "_RETURN" AS ON SELECT TO h.became_view DO INSTEAD SELECT diagnosis FROM h.patients;
\else
CREATE VIEW h.became_view AS SELECT diagnosis FROM h.patients;
\endif
CREATE TABLE h.guarded (id int);
INSERT INTO h.guarded VALUES (1), (2);
SQL
as alice q_script >/dev/null <<'SQL' || bail_out "the objects of alice cannot be made"
CREATE TABLE h.lent (id int);
INSERT INTO h.lent VALUES (1), (2);
ALTER TABLE h.lent ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON h.lent USING (EXISTS (SELECT FROM h.patients WHERE diagnosis LIKE 'd%' AND patients.id = lent.id));
GRANT SELECT ON h.lent TO mallory;
SQL
q_script >/dev/null <<'SQL' || bail_out "the objects of others cannot be made"
CREATE TABLE h.policed (id int PRIMARY KEY, word text);
INSERT INTO h.policed SELECT i, 'w' || i FROM generate_series(1, 10) i;
ALTER TABLE h.policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON h.policed USING (EXISTS (SELECT FROM h.patients x WHERE x.id = policed.id AND x.diagnosis <> ''));
CREATE TABLE h.parts (id int, kind text, word text, PRIMARY KEY (id, kind)) PARTITION BY LIST (kind);
CREATE TABLE h.part_a PARTITION OF h.parts FOR VALUES IN ('a');
CREATE TABLE h.part_b (word text, id int NOT NULL, gone int, kind text NOT NULL);
ALTER TABLE h.part_b DROP COLUMN gone;
ALTER TABLE h.parts ATTACH PARTITION h.part_b FOR VALUES IN ('b');
CREATE TABLE h.part_c PARTITION OF h.parts FOR VALUES IN ('c') PARTITION BY RANGE (id);
CREATE TABLE h.part_c1 PARTITION OF h.part_c FOR VALUES FROM (0) TO (100);
INSERT INTO h.parts SELECT i, chr(97 + i % 3), 'w' || i FROM generate_series(1, 30) i;
CREATE TABLE h.mother (id int, word text);
CREATE TABLE h.child (extra text) INHERITS (h.mother);
INSERT INTO h.child VALUES (1, 'x', 'y');
CREATE VIEW h.of_owner AS SELECT code FROM h.secrets;
CREATE TABLE h.writable (i int PRIMARY KEY, d text);
INSERT INTO h.writable VALUES (1, 'one'), (2, 'two');
SELECT privacy_score.protect(r) FROM unnest('{h.policed,h.parts,h.writable}'::regclass[]) r;
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION file_fdw;
CREATE ROLE far LOGIN;
GRANT USAGE ON SCHEMA h TO far;
GRANT SELECT ON h.patients TO far;
SECURITY LABEL FOR privacy_score ON ROLE far IS 'watched';
SELECT format('CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
              split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database()) \gexec
CREATE USER MAPPING FOR mallory SERVER loop OPTIONS (user 'far', password_required 'false');
CREATE FOREIGN TABLE h.far_patients (id int, diagnosis text) SERVER loop OPTIONS (schema_name 'h', table_name 'patients');
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE h.text_file (line text) SERVER files OPTIONS (program 'echo one; echo two');
GRANT SELECT ON h.policed, h.parts, h.part_a, h.part_b, h.part_c, h.part_c1, h.mother, h.child, h.of_owner, h.far_patients, h.text_file TO mallory;
GRANT SELECT, INSERT, UPDATE, DELETE ON h.writable TO mallory;
SQL

# --- views ----------------------------------------------------------------------------------------------------------------
path "a view: what is used of it" "$read" "SELECT diagnosis FROM one"
path "a view of a view" "cmd:select p:h.patients.diagnosis t:h.patients w:h.patients.id" "SELECT * FROM two"
path "a security barrier view" "cmd:select p:h.patients.diagnosis t:h.patients w:h.patients.city" "SELECT * FROM barrier"
path "a security invoker view" "$read" "SELECT * FROM invoker"
path "a view of a relation that mallory may not read" "cmd:select p:h.secrets.code t:h.secrets" "SELECT * FROM of_owner"
path "a temporary view" "$read" "CREATE TEMP VIEW v AS SELECT diagnosis AS harmless FROM patients" "SELECT harmless FROM v"
path "a temporary view that bears the table's name" "cmd:select p:h.patients.diagnosis t:h.patients" "CREATE TEMP VIEW patients AS SELECT diagnosis AS city FROM h.patients" "SELECT city FROM patients"
path "a view that is replaced while a plan is kept" "cmd:select p:h.patients.city t:h.patients; $read" "CREATE TEMP VIEW v AS SELECT city AS c FROM patients" \
  "PREPARE p AS SELECT c FROM v" "EXECUTE p" "CREATE OR REPLACE TEMP VIEW v AS SELECT diagnosis AS c FROM patients" "EXECUTE p"
path "a view with groups" "cmd:select f:count(*) g:h.patients.city p:h.patients.city t:h.patients" "SELECT * FROM counts"
path "a view with a join of which one side is used" "cmd:select j:h.patients.id j:h.visits.patient p:h.patients.diagnosis t:h.patients t:h.visits" "SELECT diagnosis FROM joined"
path "a table that became a view" "$read" "SELECT * FROM became_view"
path "a recursive view" "cmd:select p:h.patients.diagnosis p:h.patients.id t:h.patients w:h.patients.id" \
  "CREATE TEMP RECURSIVE VIEW r (i, d) AS SELECT id, diagnosis FROM h.patients WHERE id = 1 UNION ALL SELECT p.id, p.diagnosis FROM h.patients p, r WHERE p.id = r.i + 1" "SELECT * FROM r"

# --- materialized views -----------------------------------------------------------------------------------------------------
path "REFRESH" "cmd:select p:h.patients.diagnosis p:h.patients.id t:h.patients" "REFRESH MATERIALIZED VIEW kept"
path "REFRESH CONCURRENTLY" "cmd:select p:h.patients.diagnosis p:h.patients.id t:h.patients" "REFRESH MATERIALIZED VIEW CONCURRENTLY kept"
path "CREATE MATERIALIZED VIEW ... WITH NO DATA, REFRESH" "$read" "BEGIN" "CREATE MATERIALIZED VIEW m AS SELECT diagnosis FROM patients WITH NO DATA" "REFRESH MATERIALIZED VIEW m" "ROLLBACK"

# --- rules ------------------------------------------------------------------------------------------------------------------
path "ALSO" "cmd:insert s:h.ruled.i t:h.ruled; cmd:insert p:h.patients.diagnosis p:h.patients.id s:h.loot.d s:h.loot.i t:h.loot t:h.patients w:h.patients.id" "INSERT INTO ruled (i) VALUES (1)"
path "INSTEAD SELECT" "$read" "DELETE FROM ruled"
path "a rule with a condition" "~cmd:insert p:h.patients.city s:h.loot.d t:h.loot t:h.patients t:h.ruled" "UPDATE ruled SET i = 5"

# --- policies ---------------------------------------------------------------------------------------------------------------
path "a policy's columns are not the reader's" "cmd:select p:h.policed.word t:h.policed" "SELECT word FROM policed"
path "COPY of a table with policies" "cmd:select p:h.policed.id p:h.policed.word t:h.policed" "COPY policed TO STDOUT"
path "a policy of one's own that reads" "cmd:select p:h.guarded.id t:h.guarded t:h.patients w:h.guarded.id w:h.patients.diagnosis w:h.patients.id" "BEGIN" \
  "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY" "ALTER TABLE guarded FORCE ROW LEVEL SECURITY" \
  "CREATE POLICY p ON guarded USING (EXISTS (SELECT FROM patients WHERE diagnosis LIKE 'd%' AND patients.id = guarded.id))" "SELECT id FROM guarded" "ROLLBACK"
path "a policy of one's own that checks what is written" "cmd:insert s:h.guarded.id t:h.guarded t:h.patients w:h.guarded.id w:h.patients.diagnosis w:h.patients.id" "BEGIN" \
  "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY" "ALTER TABLE guarded FORCE ROW LEVEL SECURITY" \
  "CREATE POLICY p ON guarded WITH CHECK (EXISTS (SELECT FROM patients WHERE diagnosis LIKE 'd%' AND patients.id = guarded.id))" "INSERT INTO guarded VALUES (1)" "ROLLBACK"
path "a policy of another analyst's table" "cmd:select j:h.lent.id j:h.patients.id p:h.lent.id t:h.lent t:h.patients w:h.patients.diagnosis" "SELECT id FROM lent"
path "WITH CHECK OPTION" "cmd:insert s:h.guarded.id t:h.guarded t:h.patients w:h.guarded.id w:h.patients.diagnosis w:h.patients.id" "BEGIN" \
  "CREATE TEMP VIEW v AS SELECT id FROM guarded WHERE EXISTS (SELECT FROM patients WHERE diagnosis LIKE 'd%' AND patients.id = guarded.id) WITH CHECK OPTION" "INSERT INTO v VALUES (1)" "ROLLBACK"

# --- partitions, children, foreign tables -----------------------------------------------------------------------------------
path "a partitioned table" "cmd:select p:h.parts.word t:h.parts" "SELECT word FROM parts"
path "a partition counts as its root" "cmd:select p:h.parts.word t:h.parts x4" "SELECT word FROM part_a" "SELECT word FROM part_b" "SELECT word FROM part_c" "SELECT word FROM part_c1"
path "COPY of a partition" "cmd:copy p:h.parts.id p:h.parts.kind p:h.parts.word t:h.parts" "COPY part_b TO STDOUT"
path "partitions that are pruned away, joined, appended" "cmd:select p:h.parts.word t:h.parts w:h.parts.kind" "SET enable_partitionwise_join = on" "SELECT word FROM parts WHERE kind = 'a'"
path "ONLY" "cmd:select p:h.mother.word t:h.mother" "SELECT word FROM ONLY mother"
path "a parent" "cmd:select p:h.mother.word t:h.mother" "SELECT word FROM mother"
path "an inheriting child is a relation of its own" "cmd:select p:h.child.word t:h.child" "SELECT word FROM child"
path "postgres_fdw" "cmd:select p:h.far_patients.diagnosis t:h.far_patients" "SELECT diagnosis FROM far_patients"
path "postgres_fdw, an aggregate that is pushed down" "cmd:select f:count(*) t:h.far_patients" "SELECT count(*) FROM far_patients"
path "file_fdw" "cmd:select p:h.text_file.line t:h.text_file" "SELECT * FROM text_file"
wait_for "SELECT count(*) FROM privacy_score.session WHERE role = 'far'" 2
check "counted: what postgres_fdw reads, once, in the name of the far role" "$(q \
  "SELECT string_agg(array_to_string(a.tokens, ' ') || ' x' || e.run, '; ' ORDER BY s.started, p.part, e.place)
     FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id,
          ROWS FROM (unnest(p.ids), unnest(p.runs)) WITH ORDINALITY e(id, run, place), privacy_score.abstraction a
    WHERE s.role = 'far' AND a.id = e.id AND e.run > 0")" "$read x1; cmd:select f:count(*) t:h.patients x1"

# --- writing ----------------------------------------------------------------------------------------------------------------
path "INSERT ... SELECT" "cmd:insert p:h.patients.diagnosis s:h.loot.d t:h.loot t:h.patients" "INSERT INTO loot (d) SELECT diagnosis FROM patients"
path "INSERT ... VALUES with a subquery" "cmd:insert p:h.patients.diagnosis s:h.loot.d t:h.loot t:h.patients w:h.patients.id" \
  "INSERT INTO loot (d) VALUES ((SELECT diagnosis FROM patients WHERE id = 1))"
path "INSERT ... RETURNING" "cmd:insert p:h.patients.diagnosis s:h.loot.d t:h.loot t:h.patients w:h.patients.id" "INSERT INTO loot (d) VALUES ('a') RETURNING (SELECT diagnosis FROM patients WHERE id = 2)"
path "ON CONFLICT DO UPDATE" "cmd:insert t:h.writable w:h.writable.i; cmd:insert p:h.patients.diagnosis p:h.patients.id p:h.writable.d s:h.writable.d s:h.writable.i t:h.patients t:h.writable w:h.patients.id w:h.writable.d" \
  "BEGIN" "INSERT INTO writable SELECT id, diagnosis FROM patients WHERE id < 5 ON CONFLICT (i) DO UPDATE SET d = EXCLUDED.d || writable.d WHERE writable.d <> '' RETURNING d" "ROLLBACK"
path "UPDATE ... FROM" "~cmd:update p:h.patients.diagnosis s:h.loot.d t:h.loot t:h.patients w:h.loot.i w:h.patients.id" "BEGIN" "UPDATE loot SET d = diagnosis FROM patients WHERE id = i" "ROLLBACK"
path "UPDATE with a subquery" "~p:h.patients.city p:h.patients.diagnosis" "BEGIN" "UPDATE loot SET (d, i) = (SELECT diagnosis || city, 1 FROM patients WHERE id = i)" "ROLLBACK"
path "DELETE ... USING ... RETURNING" "cmd:delete p:h.patients.diagnosis t:h.loot t:h.patients w:h.loot.i w:h.patients.id" "BEGIN" "DELETE FROM loot USING patients WHERE id = i RETURNING diagnosis" "ROLLBACK"
path "DELETE ... WHERE" "cmd:delete t:h.writable w:h.writable.d" "BEGIN" "DELETE FROM writable WHERE d = 'one'" "ROLLBACK"
path "MERGE" "cmd:merge p:h.patients.diagnosis s:h.loot.d s:h.loot.i t:h.loot t:h.patients w:h.loot.i w:h.patients.city w:h.patients.id" "BEGIN" \
  "MERGE INTO loot USING patients ON id = i WHEN MATCHED AND city = 'c1' THEN UPDATE SET d = diagnosis WHEN NOT MATCHED THEN INSERT (i, d) VALUES (0, diagnosis)" "ROLLBACK"
path "WITH ... INSERT ... RETURNING" "cmd:select f:count(*) p:h.patients.diagnosis s:h.loot.d t:h.loot t:h.patients" "BEGIN" \
  "WITH x AS (INSERT INTO loot (d) SELECT diagnosis FROM patients RETURNING d) SELECT count(*) FROM x" "ROLLBACK"
path "a WITH query that writes and nobody uses" "cmd:select p:h.patients.diagnosis s:h.loot.d t:h.loot t:h.patients" "BEGIN" \
  "WITH x AS (INSERT INTO loot (d) SELECT diagnosis FROM patients) SELECT 1" "ROLLBACK"
path "a transaction block of writes that is rolled back" "cmd:insert p:h.patients.diagnosis s:h.loot.d t:h.loot t:h.patients x2" "BEGIN" \
  "INSERT INTO loot (d) SELECT diagnosis FROM patients" "SAVEPOINT s" "INSERT INTO loot (d) SELECT diagnosis FROM patients" "ROLLBACK TO s" "ROLLBACK"

# --- what the server reads for itself -----------------------------------------------------------------------------------------
q "CREATE TABLE h.owned (id int PRIMARY KEY, d text)" "INSERT INTO h.owned SELECT id, diagnosis FROM h.patients" \
  "ALTER TABLE h.owned OWNER TO mallory" "CREATE TABLE h.referring (o int REFERENCES h.owned ON UPDATE CASCADE ON DELETE CASCADE)" "ALTER TABLE h.referring OWNER TO mallory" >/dev/null
path "ANALYZE, VACUUM, CREATE INDEX, CLUSTER, REINDEX" "" "ANALYZE owned" "VACUUM owned" "VACUUM (FULL, ANALYZE) owned" "CREATE INDEX x ON owned (d)" "CREATE INDEX ON owned (lower(d)) WHERE d <> ''" \
  "CLUSTER owned USING x" "REINDEX TABLE owned" "CREATE INDEX CONCURRENTLY ON owned (d)" "ALTER TABLE owned ADD CHECK (d <> '')" "ALTER TABLE owned ALTER d SET NOT NULL"
path "referential integrity" "cmd:insert s:h.referring.o t:h.referring; cmd:update s:h.owned.id t:h.owned w:h.owned.id; cmd:delete t:h.owned w:h.owned.id" \
  "INSERT INTO referring VALUES (1), (2), (3)" "UPDATE owned SET id = 1001 WHERE id = 1" "DELETE FROM owned WHERE id = 2"
# Whoever validates a foreign key by hand runs a query for it, for which it must have SELECT on both relations.
path "a foreign key that is validated" "cmd:select p:h.referring.o t:h.owned t:h.referring w:h.owned.id w:h.referring.o" "BEGIN" "ALTER TABLE referring ADD FOREIGN KEY (o) REFERENCES owned" "ROLLBACK"
path "DDL, SHOW, LISTEN, LOCK" "" "BEGIN" "LOCK TABLE patients IN ACCESS SHARE MODE" "SHOW ALL" "LISTEN x" "NOTIFY x, 'y'" "COMMENT ON TABLE owned IS 'x'" "COMMIT"
verify_paths
done_testing

#!/bin/bash
# error_messages.sh - what errors tell: rows that fail a constraint, keys that are there or not, values that cannot be
# cast. Roles that limits refuse are told that it failed and not on what; the server's log is.
. "$(dirname "$0")/../attack.sh"
start_hospital "log_error_verbosity = default"
q "CREATE EXTENSION btree_gist" "CREATE ROLE eve LOGIN" "CREATE ROLE dora LOGIN" \
  "SECURITY LABEL FOR privacy_score ON ROLE eve IS 'watched'" "SECURITY LABEL FOR privacy_score ON ROLE dora IS 'dp only'" \
  "ALTER ROLE eve SET privacy_score.mode = enforce" "GRANT USAGE, CREATE ON SCHEMA h TO eve, dora" "GRANT CREATE ON DATABASE postgres TO eve" \
  "ALTER ROLE eve SET search_path = h, public" "ALTER ROLE dora SET search_path = h, public" >/dev/null
q_script >/dev/null <<'SQL' || bail_out "the tables cannot be made"
SET search_path = h, public;
CREATE DOMAIN h.grown AS int CHECK (VALUE >= 18);
CREATE TABLE h.people (id int PRIMARY KEY, name text NOT NULL UNIQUE, age int CHECK (age < 150), gender text CHECK (gender IN ('m', 'f')),
  number text DEFAULT 'secret-12', loud text GENERATED ALWAYS AS (upper(name)) STORED);
INSERT INTO h.people SELECT i, 'secret-' || i, 40 + i, 'f' FROM generate_series(1, 20) i;
CREATE TABLE h.stays (room int, during int4range, name text UNIQUE, EXCLUDE USING gist (room WITH =, during WITH &&));
INSERT INTO h.stays SELECT i, int4range(i, 2000), 'secret-' || i FROM generate_series(1, 50) i;
CREATE TABLE h.bills (id int PRIMARY KEY, person int REFERENCES h.people DEFERRABLE, amount int, CHECK (amount < 100)) PARTITION BY RANGE (id);
CREATE TABLE h.bills_low PARTITION OF h.bills FOR VALUES FROM (0) TO (1000);
INSERT INTO h.bills SELECT i, i, 80 + i % 10 FROM generate_series(1, 10) i;
CREATE TABLE h.slots (id int PRIMARY KEY, person int UNIQUE DEFERRABLE, later int UNIQUE DEFERRABLE INITIALLY DEFERRED);
INSERT INTO h.slots SELECT i, i, i FROM generate_series(1, 10) i;
CREATE TABLE h.wards (ward text PRIMARY KEY);
INSERT INTO h.wards VALUES ('secret-w1'), ('secret-w2');
CREATE TABLE h.beds (id int PRIMARY KEY, ward text REFERENCES h.wards ON UPDATE CASCADE CHECK (ward LIKE 'secret%'), patient text);
INSERT INTO h.beds VALUES (1, 'secret-w1', 'secret-p1');
CREATE VIEW h.old AS SELECT * FROM h.people WHERE age > 30 WITH CHECK OPTION;
CREATE TABLE h.policed (id int, name text);
ALTER TABLE h.policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON h.policed USING (true) WITH CHECK (id < 10);
INSERT INTO h.policed VALUES (1, 'secret-1');
SELECT privacy_score.protect(r) FROM unnest('{h.people,h.stays,h.bills,h.slots,h.beds,h.policed}'::text[]) r;
GRANT SELECT, INSERT, UPDATE, DELETE, REFERENCES ON h.people, h.stays, h.bills, h.bills_low, h.slots, h.wards, h.beds, h.old, h.policed TO mallory, eve, dora;
SET ROLE eve;
CREATE TABLE h.eves AS SELECT * FROM h.people;
GRANT INSERT ON h.eves TO dora;
CREATE MATERIALIZED VIEW h.twice AS SELECT 1 AS one, p.name FROM h.people p;
CREATE UNIQUE INDEX ON h.twice (one, name);
CREATE TABLE h.plain (id int PRIMARY KEY, note text);
CREATE TABLE h.visitors (person int REFERENCES h.people);
CREATE FUNCTION h.diagnose(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; context text; hint text; state text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT, hint = PG_EXCEPTION_HINT,
    state = RETURNED_SQLSTATE;
  RETURN concat_ws('|', state, message, detail, context, hint);
END$$;
CREATE FUNCTION h.nested(statement text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RETURN h.diagnose(format('SELECT h.diagnose2(%L)', statement)); END$$;
CREATE FUNCTION h.diagnose2(statement text) RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE statement; END$$;
SQL

hint="The server's log has the rest, which may show values of protected relations."
withheld="error message withheld, as it may show values of protected relations"
# withheld_from ROLE "description" SQLSTATE "message" STATEMENT...: the last statement fails; of the error that message,
# the code and the hint are told, and nothing else; the server's log has a value.
withheld_from() {
  local role=$1 description=$2 state=$3 message=$4 statement arguments=(-v VERBOSITY=verbose) lines
  shift 4
  for statement in "$@"; do arguments+=(-c "$statement"); done
  lines=$(wc -l <"$ps_log")
  check "$role: $description" "$(as "$role" "$PS_BINDIR/psql" -XAtq "${arguments[@]}" </dev/null 2>&1 | grep -vE '^(LOCATION|[A-Z]+ NAME):|^$' | sed -E 's/^(ERROR|HINT):  +/\1: /')" \
    "ERROR: $state: $message
HINT: $hint"
  check_true "the log knows: $description" bash -c "tail -n +$((lines + 1)) '$ps_log' | grep -qE 'DETAIL:.*|secret|Context:'"
}

# --- rows that break a constraint ---------------------------------------------------------------------------------------
check_row='new row for relation "people" violates check constraint "people_gender_check"'
withheld_from eve "a CHECK" 23514 "$check_row" "UPDATE h.people SET gender = 'zz' WHERE id = 7"
withheld_from eve "NOT NULL" 23502 'null value in column "id" of relation "people" violates not-null constraint' "UPDATE h.people SET id = NULL"
withheld_from eve "WITH CHECK OPTION" 44000 'new row violates check option for view "old"' "UPDATE h.old SET age = 20 WHERE id = 7"
withheld_from eve "a partition's constraint" 23514 'new row for relation "bills_low" violates partition constraint' "UPDATE h.bills_low SET id = 5000 WHERE id = 7"
withheld_from eve "no partition for a row" 23514 'no partition of relation "bills" found for row' "UPDATE h.bills SET id = 5000 WHERE id = 7"
withheld_from eve "a row of a copy" 23502 'null value in column "name" of relation "eves" violates not-null constraint' \
  "ALTER TABLE h.eves ALTER name SET NOT NULL" "UPDATE h.eves SET name = NULL"
withheld_from eve "MERGE" 23514 "$check_row" "MERGE INTO h.people p USING (VALUES (7)) v(i) ON p.id = v.i WHEN MATCHED THEN UPDATE SET gender = 'zz'"
withheld_from eve "a CTE that writes" 23514 "$check_row" "WITH u AS (UPDATE h.people SET gender = 'zz' WHERE id = 7) SELECT 1"
withheld_from eve "ON CONFLICT DO UPDATE" 23514 "$check_row" "INSERT INTO h.people (id, name) VALUES (7, 'x') ON CONFLICT (id) DO UPDATE SET gender = 'zz'"
withheld_from eve "a cascade to a table that the statement does not name" 23514 'new row for relation "beds" violates check constraint "beds_ward_check"' \
  "UPDATE h.wards SET ward = 'x' WHERE ward = 'secret-w1'"
withheld_from eve "EXECUTE" 23514 "$check_row" "PREPARE p AS UPDATE h.people SET gender = \$1 WHERE id = 7; EXECUTE p('zz')"
withheld_from eve "EXPLAIN ANALYZE" 23514 "$check_row" "EXPLAIN ANALYZE UPDATE h.people SET gender = 'zz' WHERE id = 7"
withheld_from eve "a line of COPY" 23514 "$check_row" "\\copy h.people (id, name, gender) from program 'printf \"70\\tsecret-70\\tzz\"'"
withheld_from eve "a value in a line of COPY" 22P02 "$withheld" "\\copy h.people (id, name, gender) from program 'printf \"secret-x\\tsecret-70\\tm\"'"

# --- keys ---------------------------------------------------------------------------------------------------------------
withheld_from eve "a unique key" 23505 'duplicate key value violates unique constraint "people_name_key"' "INSERT INTO h.people (id, name) VALUES (1000, 'secret-7')"
withheld_from eve "a unique key that changes" 23505 'duplicate key value violates unique constraint "people_name_key"' "UPDATE h.people SET name = 'secret-7' WHERE id = 8"
withheld_from eve "another row's key of an exclusion" 23P01 'conflicting key value violates exclusion constraint "stays_room_during_excl"' "INSERT INTO h.stays VALUES (7, '(,)', 'zzz')"
withheld_from eve "an exclusion of a CTE" 23P01 'conflicting key value violates exclusion constraint "stays_room_during_excl"' \
  "WITH i AS (INSERT INTO h.stays VALUES (7, '(,)', 'zzz')) SELECT 1"
foreign_key='insert or update on table "visitors" violates foreign key constraint "visitors_person_fkey"'
withheld_from eve "a key that is absent, from a table of one's own" 23503 "$foreign_key" "INSERT INTO h.visitors VALUES (1005)"
withheld_from eve "a key that is referred to" 23503 'update or delete on table "wards" violates foreign key constraint "beds_ward_fkey" on table "beds"' "DELETE FROM h.wards"
withheld_from eve "a foreign key that is added" 23503 'insert or update on table "plain" violates foreign key constraint "plain_id_fkey"' \
  "INSERT INTO h.plain VALUES (7), (1005)" "ALTER TABLE h.plain ADD FOREIGN KEY (id) REFERENCES h.people"
withheld_from eve "a unique index on a copy" 23505 'could not create unique index "eves_gender_idx"' "CREATE UNIQUE INDEX ON h.eves (gender)"
withheld_from eve "a unique constraint on a copy" 23505 'could not create unique index "eves_gender_key"' "ALTER TABLE h.eves ADD UNIQUE (gender)"

# --- when constraints are checked later ---------------------------------------------------------------------------------
later='duplicate key value violates unique constraint "slots_person_key"'
deferred=("BEGIN" "SET CONSTRAINTS ALL DEFERRED" "UPDATE h.slots SET person = 7 WHERE id = 8")
withheld_from eve "SET CONSTRAINTS" 23505 "$later" "${deferred[@]}" "SET CONSTRAINTS ALL IMMEDIATE"
withheld_from eve "COMMIT" 23505 "$later" "${deferred[@]}" "COMMIT"
withheld_from eve "COMMIT AND CHAIN" 23505 "$later" "${deferred[@]}" "COMMIT AND CHAIN"
withheld_from eve "PREPARE TRANSACTION" 23505 "$later" "${deferred[@]}" "PREPARE TRANSACTION 'x'"
withheld_from eve "COMMIT after a savepoint" 23505 "$later" "BEGIN" "SAVEPOINT a" "${deferred[@]:1}" "COMMIT"
withheld_from eve "a transaction of one statement" 23505 'duplicate key value violates unique constraint "slots_later_key"' "INSERT INTO h.slots VALUES (70, 70, 7)"
withheld_from eve "COMMIT in a procedure" 23505 'duplicate key value violates unique constraint "slots_later_key"' \
  "DO \$\$BEGIN INSERT INTO h.slots VALUES (70, 70, 7); COMMIT; END\$\$"
check "after a COMMIT that failed the session goes on" "$(printf '%s;\n' "${deferred[@]}" "COMMIT" "SELECT 'goes on'" | as eve "$PS_BINDIR/psql" -XAtq 2>/dev/null)" "goes on"

# --- values in messages -------------------------------------------------------------------------------------------------
withheld_from eve "a cast of a column" 22P02 "$withheld" "SELECT id FROM h.people WHERE name::int = 1"
withheld_from eve "a cast in a function of the server" 22007 "$withheld" "SELECT to_date(name, 'YYYY') FROM h.people"
withheld_from eve "a name that is none" 42P01 "$withheld" "SELECT name::regclass FROM h.people WHERE id = 7"
withheld_from eve "a cast of what statistics show" 22P02 "$withheld" "ANALYZE h.eves" "SELECT (most_common_vals::text::text[])[1]::int FROM pg_stats WHERE tablename = 'eves' AND attname = 'gender'" 
withheld_from eve "a value that cannot be encoded" 22P05 "$withheld" "SET client_encoding = 'latin1'" "SELECT name || U&'\\20AC' FROM h.people"
withheld_from eve "ALTER TYPE USING" 22P02 "$withheld" "ALTER TABLE h.eves ALTER name TYPE int USING name::int"
withheld_from eve "an index on an expression" 22P02 "$withheld" "CREATE INDEX ON h.eves ((name::int))"
check "a division by zero says what it says" "$(as eve q "SELECT 1 / (age - 50) FROM h.people")" "ERROR: division by zero"

# --- "dp only" in every mode ----------------------------------------------------------------------------------------------
withheld_from dora "NOT NULL" 23502 'null value in column "name" of relation "eves" violates not-null constraint' "INSERT INTO h.eves (id, number) VALUES (70, 'secret-x')"
withheld_from dora "a line of COPY" 23502 'null value in column "name" of relation "eves" violates not-null constraint' "\\copy h.eves (id, number) from program 'printf \"70\\tsecret-x\"'"
withheld_from dora "a value in a line of COPY" 22P02 "$withheld" "\\copy h.eves (id) from program 'echo secret-x'"

# --- exception blocks ---------------------------------------------------------------------------------------------------
seen() { as eve q "SELECT h.$1(\$q\$$2\$q\$)"; }
check "GET STACKED DIAGNOSTICS: a CHECK" "$(seen diagnose "UPDATE h.people SET gender = 'zz' WHERE id = 7")" "23514|$check_row|||$hint"
check "a key" "$(seen diagnose "INSERT INTO h.people (id, name) VALUES (1000, 'secret-7')")" '23505|duplicate key value violates unique constraint "people_name_key"|||'"$hint"
check "another row's key" "$(seen diagnose "INSERT INTO h.stays VALUES (7, '(,)', 'zzz')")" '23P01|conflicting key value violates exclusion constraint "stays_room_during_excl"|||'"$hint"
check "a foreign key" "$(seen diagnose "INSERT INTO h.visitors VALUES (1005)")" "23503|$foreign_key|||$hint"
check "in a function within a function" "$(seen nested "UPDATE h.people SET gender = 'zz' WHERE id = 7")" "23514|$check_row|||$hint"
check "a cast by ALTER TABLE" "$(seen diagnose "ALTER TABLE h.eves ALTER name TYPE int USING name::int")" "22P02|$withheld|||$hint"
check "a constraint that is checked at once" "$(seen diagnose "DO \$d\$BEGIN SET CONSTRAINTS ALL DEFERRED; UPDATE h.slots SET person = 7 WHERE id = 8; SET CONSTRAINTS ALL IMMEDIATE; END\$d\$")" "23505|$later|||$hint"
check "what concerns nothing protected is told in full" "$(as eve q_all "INSERT INTO h.plain VALUES (1, 'a'), (1, 'b')")" 'ERROR:  duplicate key value violates unique constraint "plain_pkey"
DETAIL:  Key (id)=(1) already exists.'
check "what somebody raises says what it says" "$(as eve q_all "DO \$\$BEGIN RAISE EXCEPTION 'no' USING DETAIL = 'not so', ERRCODE = '23505'; END\$\$" | head -n 2)" "ERROR:  no
DETAIL:  not so"
check_scored
done_testing

#!/bin/bash
# explain_option.sh - EXPLAIN (PRIVACY): what it shows of a statement, to whom; from PostgreSQL 18 on. Before, EXPLAIN does
# not know the option. What explain_query() has in common with it, who may know rates, is here too.
. "$(dirname "$0")/../lib.sh"

start_server
q "CREATE EXTENSION privacy_score" "CREATE ROLE alice LOGIN" "CREATE ROLE bob LOGIN" "CREATE ROLE eve LOGIN IN ROLE pg_read_all_stats" \
  "CREATE TABLE people (id int PRIMARY KEY, zip text, sex text)" "CREATE TABLE plain (id int)" \
  "INSERT INTO people SELECT i, i / 4, i % 2 FROM generate_series(0, 15) i" \
  "GRANT SELECT ON people, plain TO alice, eve" "GRANT SELECT (sex) ON people TO bob" \
  "CREATE VIEW zips AS SELECT zip FROM people" "GRANT SELECT ON zips TO bob" \
  "CREATE SCHEMA hidden" "CREATE TABLE hidden.people (id int PRIMARY KEY, zip text)" \
  "CREATE VIEW hidden_zips AS SELECT zip FROM hidden.people" "GRANT SELECT ON hidden_zips TO bob" \
  "SELECT privacy_score.protect('people')" "SELECT privacy_score.protect('hidden.people')" \
  "SELECT privacy_score.analyze_relation('people')" "SELECT privacy_score.analyze_relation('people', '{zip,sex}')" >/dev/null

# Row security that hides rows hides rates, here as in explain_query().
limited() {
  q "ALTER TABLE people ENABLE ROW LEVEL SECURITY" "DROP POLICY IF EXISTS first_rows ON people" "CREATE POLICY first_rows ON people USING (id < 3)" >/dev/null
  "$@"
  q "ALTER TABLE people DISABLE ROW LEVEL SECURITY" >/dev/null
}
ask="SELECT (privacy_score.explain_query('SELECT zip FROM people')->>'identification')::float8"
check "explain_query() tells the rate to who reads all rows" "$(as alice q "$ask")" 0.5
check "not to who sees some" "$(limited as alice q "$ask")" "ERROR: permission denied for table people"
check "the owner and pg_read_all_stats know it" "$(limited q "$ask")" 0.5

if [ "$ps_major" -lt 18 ]; then
  check "before 18 EXPLAIN does not know the option" "$(q "EXPLAIN (PRIVACY) SELECT 1")" "ERROR: unrecognized EXPLAIN option \"privacy\""
  check "and says so as of any other" "$(q_state "EXPLAIN (PRIVACY off) SELECT 1")" 42601
  done_testing
fi

# explained [OPTIONS] STATEMENT: the lines of what is shown of privacy, without indentation.
explained() {
  local options=PRIVACY
  if [ $# -eq 2 ]; then options="$options, $1"; shift; fi
  q "EXPLAIN ($options, COSTS off, TIMING off, SUMMARY off, BUFFERS off) $1" | sed -n '/^ *Privacy:/,$p; /^ERROR/p' | sed 's/^ *//' | paste -sd ' '
}
# json STATEMENT [PATH]: what JSON has of it.
json() {
  q "CREATE OR REPLACE FUNCTION pg_temp.explained() RETURNS jsonb LANGUAGE plpgsql AS \$f\$DECLARE r jsonb; BEGIN EXECUTE \$e\$EXPLAIN (PRIVACY, FORMAT json) $1\$e\$ INTO r; RETURN r; END\$f\$" \
    "SELECT jsonb_path_query(pg_temp.explained(), '${2:-\$[*].Privacy}')"
}

# --- what is shown ------------------------------------------------------------------------------------------------------
check "nothing is shown without the option" "$(q "EXPLAIN (COSTS off) SELECT zip FROM people" | grep -c Privacy)" 0
check "nor when it is off" "$(explained "PRIVACY off" "SELECT zip FROM people")" ""
check "a value that is none is refused" "$(q "EXPLAIN (PRIVACY 7) SELECT 1")" "ERROR: privacy requires a Boolean value"
zip="Privacy: Abstraction: cmd:select, p:public.people.zip, t:public.people Revealed Columns: public.people.zip Identification: 0.500000 Estimated: false"
check "abstraction, columns and identification, which is that of 4 groups of 4 among 16" "$(explained "SELECT zip FROM people")" "$zip"
check "the same with the statement run" "$(explained "ANALYZE" "SELECT zip FROM people")" "$zip"
check "it is the identification of explain_query()" "$(json "SELECT zip, sex FROM people" '$[*].Privacy.Identification')" \
  "$(q "SELECT (privacy_score.explain_query('SELECT zip, sex FROM people')->>'identification')::numeric(7, 6)")"
check "and the abstraction of the live path" "$(json "SELECT zip FROM people WHERE sex = '1' ORDER BY id" '$[*].Privacy.Abstraction')" \
  "$(q "SELECT to_jsonb(privacy_score.abstract_query_analyzed('SELECT zip FROM people WHERE sex = ''1'' ORDER BY id'))")"
check "JSON has a group" "$(json "SELECT zip FROM people")" \
  '{"Estimated": false, "Abstraction": ["cmd:select", "p:public.people.zip", "t:public.people"], "Identification": 0.500000, "Revealed Columns": ["public.people.zip"]}'
check "XML too" "$(q "EXPLAIN (PRIVACY, FORMAT xml) SELECT zip FROM people" | grep -cE '<(/?Privacy|Estimated>false</Estimated|Identification>0.500000</Identification)>')" 4
check "YAML too" "$(q "EXPLAIN (PRIVACY, FORMAT yaml) SELECT zip FROM people" | grep -A 9 'Privacy:' | sed -n '1s/ *//p; /Identification/s/ *//p')" \
  "Privacy: 
Identification: 0.500000"
check "unprotected columns identify nobody" "$(explained "SELECT id FROM plain" | sed 's/.*Identification/Identification/')" "Identification: 0.000000 Estimated: false"
check "nor does a statement without tables" "$(explained "SELECT 1")" "Privacy: Identification: 0.000000 Estimated: false"
check "a rate that nobody has computed is bounded" "$(explained "SELECT zip FROM hidden.people" | sed 's/.*Identification:/Identification:/; s/: 1.*Estimated/: 1 Estimated/')" \
  "Identification: 1 Estimated: true Identification At Least: 0.000000"
check "what a statement writes counts as the live path does" "$(json "UPDATE people SET sex = '0' WHERE zip = '1'" '$[*].Privacy."Revealed Columns"[*]')" '"public.people.zip"'
check "CREATE TABLE AS" "$(explained "CREATE TABLE copy AS SELECT zip FROM people")" "$zip"
check "DECLARE" "$(explained "DECLARE c CURSOR FOR SELECT zip FROM people")" "$zip"
check "a generic plan" "$(explained "GENERIC_PLAN" "SELECT zip FROM people WHERE zip = \$1" | grep -o "w:public.people.zip")" "w:public.people.zip"
q "CREATE TABLE two (id int)" "CREATE RULE twice AS ON INSERT TO two DO ALSO SELECT zip FROM people" >/dev/null
check "each query that a rule makes of one" "$(json "INSERT INTO two VALUES (1)" '$[*].Privacy.Abstraction[0]' | paste -sd ' ')" '"cmd:insert" "cmd:select"'

# --- plans that were there ----------------------------------------------------------------------------------------------
execute() {
  "$PS_BINDIR/psql" -XAtq -c "PREPARE p AS SELECT sex FROM people WHERE zip = \$1" -c "EXPLAIN (PRIVACY, COSTS off) EXECUTE p('2')" |
    sed -n '/Privacy/,$p' | sed 's/^ *//' | paste -sd ' '
}
check "EXECUTE of a role that is not watched has an upper bound, and says so" "$(execute)" \
  "Privacy: Abstraction: cmd:select, p:public.people.sex, p:public.people.zip, t:public.people Revealed Columns: public.people.sex, public.people.zip Identification: 0.750000 Estimated: true Identification At Least: 0.000000"
check "that of a watched role its abstraction" "$(PGUSER=alice execute)" \
  "Privacy: Abstraction: cmd:select, p:public.people.sex, t:public.people, w:public.people.zip Revealed Columns: public.people.sex, public.people.zip Identification: 0.750000 Estimated: false"

# --- who may know -------------------------------------------------------------------------------------------------------
withheld="Identification Withheld: no right to read all rows of every revealed column"
numbers() { explained "$@" | sed -E 's/.*(Identification|ERROR)/\1/'; }
check "who may not read is told as ever" "$(as bob numbers "SELECT id FROM people")" "ERROR: permission denied for table people"
check "who reads a column knows its rate" "$(as bob numbers "SELECT sex FROM people")" "$(numbers "SELECT sex FROM people")"
check "who reads through a view does not" "$(as bob explained "SELECT zip FROM zips")" "${zip%Identification*}$withheld"
check "JSON has no number then" "$(as bob json "SELECT zip FROM zips" '$[*].Privacy.keyvalue().key ? (@ like_regex "Ident|Estim")')" '"Identification Withheld"'
check "nor through a view of a schema that is closed to the role" "$(as bob numbers "SELECT zip FROM hidden_zips")" "$withheld"
check "pg_read_all_stats does" "$(as eve numbers "SELECT zip FROM people")" "Identification: 0.500000 Estimated: false"
check "who sees some rows does not know the rate of all" "$(limited as alice numbers "SELECT zip FROM people")" "${withheld}"
check "the owner does" "$(limited numbers "SELECT zip FROM people")" "Identification: 0.500000 Estimated: false"
check "a role that may read by noise only is refused" "$(q "SECURITY LABEL FOR privacy_score ON ROLE alice IS 'dp only'" >/dev/null; as alice q_state "EXPLAIN (PRIVACY) SELECT zip FROM people")" PS001
q "SECURITY LABEL FOR privacy_score ON ROLE alice IS NULL" >/dev/null

# --- what it does not do ------------------------------------------------------------------------------------------------
q "SELECT privacy_score.flush()" >/dev/null
before=$(q "SELECT events FROM privacy_score.stat_info")
as alice explained "SELECT zip FROM people" >/dev/null
q "SELECT privacy_score.flush()" >/dev/null
check "EXPLAIN counts as no read, but as EXPLAIN" "$(q "SELECT events FROM privacy_score.stat_info" "SELECT tokens FROM privacy_score.stat_abstractions ORDER BY last_seen DESC LIMIT 1")" "$((before + 1))
{cmd:explain,t:public.people}"
as alice explained "ANALYZE" "SELECT zip FROM people" >/dev/null
check "with ANALYZE as one" "$(q "SELECT events FROM privacy_score.stat_info")" "$((before + 2))"
check_scored
q "CREATE DATABASE other" >/dev/null
check "without the extension it says so" "$(on other q "EXPLAIN (PRIVACY) SELECT 1")" "ERROR: extension privacy_score is not in this database"

sent=$(q "SELECT pg_current_wal_lsn()")
start_standby second
wait_for "SELECT pg_last_wal_replay_lsn() >= '$sent'" t
check "a standby shows it" "$(explained "SELECT zip FROM people")" "$zip"
stop_server
use_server main

conf "shared_preload_libraries = ''"
restart_server
check "without preload a session does not know it" "$(q "EXPLAIN (PRIVACY) SELECT 1")" "ERROR: unrecognized EXPLAIN option \"privacy\""
check "until the library is loaded" "$(q "LOAD 'privacy_score'" "EXPLAIN (PRIVACY, COSTS off) SELECT zip FROM people" | sed -n '/Privacy:/,$s/^ *//p' | paste -sd ' ')" "$zip"

done_testing

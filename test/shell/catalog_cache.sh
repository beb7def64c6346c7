#!/bin/bash
# catalog_cache.sh - relations that come and go leave no more in a backend's cache of catalogs than without the library.
#
# The server never forgets that it has looked for something in vain, say for statistics of a table, and an OID does not come
# again: each relation that a long session makes and drops leaves something there. That is the server's; here it is told
# apart from what would be ours.
. "$(dirname "$0")/../lib.sh"

rounds=$(by_length 50 100)
changes=("CREATE TABLE records AS SELECT id, city FROM people WHERE id <= 50" "ALTER TABLE records ADD PRIMARY KEY (id)"
  "SELECT count(*) FROM records WHERE city = 'c1'" "ALTER TABLE records ADD COLUMN extra int DEFAULT 1" "ALTER TABLE records RENAME COLUMN city TO town"
  "SELECT id, town FROM records r JOIN people p USING (id) WHERE p.city = 'c2' ORDER BY 1 LIMIT 1" "ANALYZE records")
declarations=("SELECT privacy_score.protect('records')" "SECURITY LABEL FOR privacy_score ON COLUMN records.town IS 'quasi-identifier'"
  "SELECT town FROM records WHERE id = 1" "SELECT count(*) FROM privacy_score.analyze_relation('records')")
memory="SELECT sum(used_bytes) FROM pg_backend_memory_contexts WHERE name = 'CacheMemoryContext'"

# grown STATEMENT...: by how many bytes that context of a session grows with each round, once it has had the statements often.
grown() {
  local round statement
  for ((round = 1; round <= rounds + 20; ++round)); do
    if [ $round = 21 ]; then echo "$memory \\gset before_"; fi
    for statement in "$@" "DROP TABLE records"; do echo "$statement \\g /dev/null"; done
  done >"$PS_TMP/changes.sql"
  echo "SELECT ((($memory) - :before_sum) / $rounds)::int;" >>"$PS_TMP/changes.sql"
  as maker q_script <"$PS_TMP/changes.sql"
}
people=("CREATE TABLE people (id int PRIMARY KEY, name text, city text)" "INSERT INTO people SELECT i, 'n' || i, 'c' || i % 13 FROM generate_series(1, 200) i"
  "ANALYZE people" "CREATE ROLE maker LOGIN" "GRANT SELECT ON people TO maker" "GRANT CREATE ON SCHEMA public TO maker"
  "GRANT pg_read_all_stats TO maker" "GRANT EXECUTE ON FUNCTION pg_get_backend_memory_contexts() TO maker" "GRANT SELECT ON pg_backend_memory_contexts TO maker")

start_server "shared_preload_libraries = ''"
q "${people[@]}" >/dev/null
alone=$(grown "${changes[@]}")
stop_server
check_true "a server without the library keeps something of each: $alone bytes a round" test "$alone" -gt 0

start_server
q "CREATE EXTENSION privacy_score" "${people[@]}" "SELECT privacy_score.protect('people')" >/dev/null
watched=$(grown "${changes[@]}")
check_true "with the library it keeps no more: $watched bytes a round" test "$watched" -le $((alone + alone / 10))
declared=$(grown "${changes[@]}" "${declarations[@]}")
# Two more functions and a label look for things, too.
check_true "and little more with declarations: $declared bytes a round" test "$declared" -le $((alone + alone / 2))
q "SELECT privacy_score.flush()" >/dev/null
check_true "the session was watched" test "$(q "SELECT sum(queries) FROM privacy_score.session WHERE role = 'maker'")" -gt $((2 * rounds))
done_testing

# long_history.sh - a long history of many roles, written into its tables as the worker writes it: importing one is measured
# by bench/history.sh. Sourced by bench/*.sh.
#
# Statements are pairs of columns and a filter of one table: 110 of them, of which each role has the habit of twelve.
# shellcheck shell=bash

# write_history ROLES DAYS EACH USUAL: on a new server with the extension, one session of EACH statements a role and day, the
# last one yesterday. New work comes more often after the first USUAL days, of which each role's baseline is made.
# Leaves the number of statements in `statements`, the time that all baselines took in `baselines_ms`.
write_history() {
  local roles=$1 days=$2 each=$3 usual="current_date - $(($2 - $4))"
  q "CREATE EXTENSION privacy_score" "CREATE TABLE wide ($(for i in $(seq 11); do printf 'c%s int, ' "$i"; done)id int PRIMARY KEY)" \
    "INSERT INTO wide SELECT $(for i in $(seq 11); do printf 'i %% %s, ' $((i + 3)); done)i FROM generate_series(1, 5000) i" "ANALYZE wide" \
    "GRANT SELECT ON wide TO PUBLIC" "SELECT privacy_score.protect('wide')" >/dev/null
  q_script >&2 <<SQL || bail_out "the history cannot be made"
SELECT format('CREATE ROLE role_%s LOGIN', to_char(r, 'FM000')) FROM generate_series(1, $roles) r \gexec
SELECT privacy_score.import_statements(\$\$ SELECT 'seed', 'seed'::name, timestamptz '2024-01-01' + x * interval '1 second',
  format('SELECT c%s FROM wide WHERE c%s = 1', x / 10 + 1, (x / 10 + x % 10 + 1) % 11 + 1) FROM generate_series(0, 109) x \$\$);
CREATE TEMP TABLE statement AS SELECT row_number() OVER (ORDER BY id) - 1 AS n, id FROM privacy_score.abstraction;
DELETE FROM privacy_score.session;
DELETE FROM privacy_score.session_part;
SELECT privacy_score.make_months((current_date - $days)::date, current_date);
INSERT INTO privacy_score.session (id, role, session, day, started, last_at, source, queries)
  SELECT privacy_score.new_session_id(d::date), 'role_' || to_char(r, 'FM000'), 'day ' || d, d, d + time '09:00', d + time '16:00', 'import', $each
    FROM generate_series(1, $roles) r, (SELECT current_date - n AS d FROM generate_series(1, $days) n) x;
INSERT INTO privacy_score.session_part (session_id, part, ids, runs, rows)
  SELECT s.id, 1, array_agg(t.id ORDER BY i), array_agg(1::bigint), array_agg(3::bigint)
    FROM privacy_score.session s CROSS JOIN generate_series(1, $each) i CROSS JOIN LATERAL (SELECT hashint8extended(i, s.id) & 2147483647 AS x) h
    JOIN statement t ON t.n = (CASE WHEN h.x % 1000 < CASE WHEN s.day > $usual THEN 4 ELSE 1 END THEN h.x / 1000
                                    ELSE right(s.role, 3)::int * 7 + (h.x / 1000) % 12 END) % 110
   GROUP BY s.id;
VACUUM ANALYZE;
SQL
  # shellcheck disable=SC2034
  statements=$(q "SELECT sum(queries) FROM privacy_score.session")
  # shellcheck disable=SC2034
  baselines_ms=$(PGOPTIONS="-c client_min_messages=error" time_of "SELECT sum(privacy_score.set_baseline(role, current_date - $days, $usual)) FROM (SELECT DISTINCT role FROM privacy_score.session) r")
  if [ "$(q "SELECT count(*) FROM privacy_score.baselines WHERE active")" != "$roles" ]; then bail_out "not every role has a baseline"; fi
  q "SELECT privacy_score.flush()" >/dev/null
}

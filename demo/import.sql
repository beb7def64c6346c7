-- import.sql - the server's own CSV log (psql variable log) as the rows that privacy_score.import_statements() takes.
--
-- Each connection of the replay carries its faked day and time in application_name: replay, day, date, time. A statement is dated by its place in
-- the session, twenty seconds after the one before it.

CREATE EXTENSION IF NOT EXISTS file_fdw;
CREATE SERVER server_log FOREIGN DATA WRAPPER file_fdw;

CREATE FOREIGN TABLE demo.server_log (
  log_time timestamptz,
  user_name text,
  database_name text,
  process_id int,
  connection_from text,
  session_id text,
  session_line_num bigint,
  command_tag text,
  session_start_time timestamptz,
  virtual_transaction_id text,
  transaction_id bigint,
  error_severity text,
  sql_state_code text,
  message text,
  detail text,
  hint text,
  internal_query text,
  internal_query_pos int,
  context text,
  query text,
  query_pos int,
  location text,
  application_name text,
  backend_type text,
  leader_pid int,
  query_id bigint
) SERVER server_log OPTIONS (filename :'log', format 'csv');

-- A logged statement is "statement: SELECT ..." or, sent with parameters, "execute <name>: SELECT ...". What a client
-- sends unasked comes first in its session; how many rows the others returned the client has noted in demo.returned.
CREATE VIEW demo.logged_statement AS
  WITH logged AS (
    SELECT s.words[2] || '/' || left(s.words[4], 5) AS session, l.user_name::name AS role, l.session_id, l.session_line_num,
           (s.words[3] || ' ' || s.words[4])::timestamptz + interval '20 seconds' * row_number() OVER (PARTITION BY l.session_id ORDER BY l.session_line_num) AS at,
           regexp_replace(l.message, '^(statement|execute [^:]*): ', '') AS sql,
           row_number() OVER (PARTITION BY l.session_id ORDER BY l.session_line_num DESC) AS from_end, d.session_id AS made
      FROM demo.server_log l
           CROSS JOIN LATERAL (SELECT string_to_array(l.application_name, ' ') AS words) s
           LEFT JOIN demo.session d ON d.role = l.user_name AND d.day = s.words[2]::int AND d.at = s.words[4]::time
     WHERE l.application_name LIKE 'replay %' AND l.message ~ '^(statement|execute [^:]*): ')
  SELECT l.session, l.role, l.at, l.sql, r.rows
    FROM logged l LEFT JOIN (SELECT session_id, rows, row_number() OVER (PARTITION BY session_id ORDER BY seq DESC) AS from_end FROM demo.returned) r
         ON r.session_id = l.made AND r.from_end = l.from_end;

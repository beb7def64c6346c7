-- The abstraction A(Q) of SQL text.
CREATE FUNCTION privacy_score.abstract_query(sql text) RETURNS text[]
  AS 'MODULE_PATHNAME', 'ps_abstract_query' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.abstract_query(text) IS
  'What SQL text reveals, as canonical tokens: command, projected, joined, filtered, grouped, ordering and written columns, relations, aggregates. The text is not executed, names follow search_path, and no text raises an error: {unparsed} stands for what does not parse.';

CREATE FUNCTION privacy_score.abstract_query_poster(sql text) RETURNS text
  AS 'MODULE_PATHNAME', 'ps_abstract_query_poster' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.abstract_query_poster(text) IS
  'The abstraction of SQL text in its published form and in query order, such as {SELECT, last_name, city, patients, first_name_w}.';

CREATE FUNCTION privacy_score.abstract_query_analyzed(sql text) RETURNS text[]
  AS 'MODULE_PATHNAME', 'ps_abstract_query_analyzed' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.abstract_query_analyzed(text) IS
  'The same tokens by the server''s own analysis, as live statements are abstracted; raises the errors of that analysis.';

CREATE FUNCTION privacy_score.reads_protected(sql text) RETURNS boolean
  AS 'MODULE_PATHNAME', 'ps_reads_protected' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.reads_protected(text) IS
  'Whether the statements would read a protected relation, as the server plans them: what a role labelled dp only is refused for. They are not executed; errors of their analysis are raised.';

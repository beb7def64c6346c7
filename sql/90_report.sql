-- The report, and charts alone.

CREATE FUNCTION privacy_score.report(role name DEFAULT NULL, from_day date DEFAULT NULL, to_day date DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME', 'ps_report' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.report(name, date, date) IS
  'A self-contained HTML page (ASCII, one script, no request) of what the caller may see: open alerts, roles on one scale, the worst sessions and why, protected tables, budgets, releases, state, a glossary. role NULL: all; days NULL: the last thirty. Reads protected tables of up to 256 MB that the caller may read. 42501 for a role whose rows the caller may not see, 22023 when from_day is after to_day.';

CREATE FUNCTION privacy_score.score_chart(role name, from_day date, to_day date) RETURNS text
  AS 'MODULE_PATHNAME', 'ps_score_chart' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privacy_score.score_chart(name, date, date) IS
  'Score, cumulative score and maximum of a role day by day as SVG [Khan, figure 7]. 42501 for a role whose rows the caller may not see, 22023 when from_day is after to_day.';

CREATE FUNCTION privacy_score.relationship_chart(relation regclass) RETURNS text
  AS 'MODULE_PATHNAME', 'ps_relationship_chart' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.relationship_chart(regclass) IS
  'The attribute relationship diagram of a relation [Khan] as SVG: what determines what, mutually determining columns in one box. One pass over the relation.';

CREATE FUNCTION privacy_score.equivocation_chart(vals numeric[], probabilities float8[] DEFAULT NULL) RETURNS text
  AS 'MODULE_PATHNAME', 'ps_equivocation_chart' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privacy_score.equivocation_chart(numeric[], float8[]) IS
  'equivocation_curve() as SVG: bits left to guess of a value over the width within which it counts as known, with the area below. Arguments and errors as equivocation_curve().';

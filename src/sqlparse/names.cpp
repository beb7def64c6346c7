/*
 * names.cpp - identifiers as PostgreSQL writes them. The word lists are those of PostgreSQL 15: libpg_query's header
 * exports neither, and both must be known where no server is.
 */
#include "sqlparse/names.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace privacy_score {

namespace {

// Every keyword that quote_identifier quotes.
const std::unordered_set<std::string_view>& QuotedKeywords() {
  static const std::unordered_set<std::string_view> kWords = {"all",
                                                              "analyse",
                                                              "analyze",
                                                              "and",
                                                              "any",
                                                              "array",
                                                              "as",
                                                              "asc",
                                                              "asymmetric",
                                                              "authorization",
                                                              "between",
                                                              "bigint",
                                                              "binary",
                                                              "bit",
                                                              "boolean",
                                                              "both",
                                                              "case",
                                                              "cast",
                                                              "char",
                                                              "character",
                                                              "check",
                                                              "coalesce",
                                                              "collate",
                                                              "collation",
                                                              "column",
                                                              "concurrently",
                                                              "constraint",
                                                              "create",
                                                              "cross",
                                                              "current_catalog",
                                                              "current_date",
                                                              "current_role",
                                                              "current_schema",
                                                              "current_time",
                                                              "current_timestamp",
                                                              "current_user",
                                                              "dec",
                                                              "decimal",
                                                              "default",
                                                              "deferrable",
                                                              "desc",
                                                              "distinct",
                                                              "do",
                                                              "else",
                                                              "end",
                                                              "except",
                                                              "exists",
                                                              "extract",
                                                              "false",
                                                              "fetch",
                                                              "float",
                                                              "for",
                                                              "foreign",
                                                              "freeze",
                                                              "from",
                                                              "full",
                                                              "grant",
                                                              "greatest",
                                                              "group",
                                                              "grouping",
                                                              "having",
                                                              "ilike",
                                                              "in",
                                                              "initially",
                                                              "inner",
                                                              "inout",
                                                              "int",
                                                              "integer",
                                                              "intersect",
                                                              "interval",
                                                              "into",
                                                              "is",
                                                              "isnull",
                                                              "join",
                                                              "lateral",
                                                              "leading",
                                                              "least",
                                                              "left",
                                                              "like",
                                                              "limit",
                                                              "localtime",
                                                              "localtimestamp",
                                                              "national",
                                                              "natural",
                                                              "nchar",
                                                              "none",
                                                              "normalize",
                                                              "not",
                                                              "notnull",
                                                              "null",
                                                              "nullif",
                                                              "numeric",
                                                              "offset",
                                                              "on",
                                                              "only",
                                                              "or",
                                                              "order",
                                                              "out",
                                                              "outer",
                                                              "overlaps",
                                                              "overlay",
                                                              "placing",
                                                              "position",
                                                              "precision",
                                                              "primary",
                                                              "real",
                                                              "references",
                                                              "returning",
                                                              "right",
                                                              "row",
                                                              "select",
                                                              "session_user",
                                                              "setof",
                                                              "similar",
                                                              "smallint",
                                                              "some",
                                                              "substring",
                                                              "symmetric",
                                                              "table",
                                                              "tablesample",
                                                              "then",
                                                              "time",
                                                              "timestamp",
                                                              "to",
                                                              "trailing",
                                                              "treat",
                                                              "trim",
                                                              "true",
                                                              "union",
                                                              "unique",
                                                              "user",
                                                              "using",
                                                              "values",
                                                              "varchar",
                                                              "variadic",
                                                              "verbose",
                                                              "when",
                                                              "where",
                                                              "window",
                                                              "with",
                                                              "xmlattributes",
                                                              "xmlconcat",
                                                              "xmlelement",
                                                              "xmlexists",
                                                              "xmlforest",
                                                              "xmlnamespaces",
                                                              "xmlparse",
                                                              "xmlpi",
                                                              "xmlroot",
                                                              "xmlserialize",
                                                              "xmltable"};
  return kWords;
}

}  // namespace

std::string QuoteName(std::string_view name) {
  bool safe = !name.empty() && !(name.front() >= '0' && name.front() <= '9');
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) safe = false;
  if (safe && QuotedKeywords().count(name) == 0) return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + '"';
}

std::string UnquoteName(std::string_view identifier) {
  if (identifier.size() < 2 || identifier.front() != '"') return std::string(identifier);
  std::string name;
  for (std::size_t i = 1; i + 1 < identifier.size(); ++i) {
    name += identifier[i];
    if (identifier[i] == '"') ++i;  // a doubled quote
  }
  return name;
}

QualifiedName SplitName(std::string_view qualified) {
  bool quoted = false;
  for (std::size_t i = 0; i < qualified.size(); ++i) {
    if (qualified[i] == '"') quoted = !quoted;
    if (qualified[i] == '.' && !quoted) return {qualified.substr(0, i), qualified.substr(i + 1)};
  }
  return {{}, qualified};
}

bool IsBuiltinAggregate(std::string_view name) {
  static const std::unordered_set<std::string_view> kNames = {"array_agg",
                                                              "avg",
                                                              "bit_and",
                                                              "bit_or",
                                                              "bit_xor",
                                                              "bool_and",
                                                              "bool_or",
                                                              "corr",
                                                              "count",
                                                              "covar_pop",
                                                              "covar_samp",
                                                              "cume_dist",
                                                              "dense_rank",
                                                              "every",
                                                              "json_agg",
                                                              "json_object_agg",
                                                              "jsonb_agg",
                                                              "jsonb_object_agg",
                                                              "max",
                                                              "min",
                                                              "mode",
                                                              "percent_rank",
                                                              "percentile_cont",
                                                              "percentile_disc",
                                                              "range_agg",
                                                              "range_intersect_agg",
                                                              "rank",
                                                              "regr_avgx",
                                                              "regr_avgy",
                                                              "regr_count",
                                                              "regr_intercept",
                                                              "regr_r2",
                                                              "regr_slope",
                                                              "regr_sxx",
                                                              "regr_sxy",
                                                              "regr_syy",
                                                              "stddev",
                                                              "stddev_pop",
                                                              "stddev_samp",
                                                              "string_agg",
                                                              "sum",
                                                              "var_pop",
                                                              "var_samp",
                                                              "variance",
                                                              "xmlagg",
                                                              "first_value",
                                                              "lag",
                                                              "last_value",
                                                              "lead",
                                                              "nth_value",
                                                              "ntile",
                                                              "row_number"};
  return kNames.count(name) > 0;
}

bool IsVolatileBuiltin(std::string_view name) {
  return name == "random" || name == "gen_random_uuid" || name == "clock_timestamp" || name == "timeofday" ||
         name == "nextval" || name == "random_normal" || name == "uuidv7";
}

}  // namespace privacy_score

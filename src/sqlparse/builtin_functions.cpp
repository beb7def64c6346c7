/*
 * builtin_functions.cpp - see builtin_functions.hpp. The lists must be known where no server is.
 */
#include "sqlparse/builtin_functions.hpp"

#include <unordered_set>

namespace privacy_score {

bool IsBuiltinAggregate(std::string_view name) {
  static const std::unordered_set<std::string_view> kNames = {"any_value",
                                                              "json_agg_strict",
                                                              "json_object_agg_strict",
                                                              "json_object_agg_unique",
                                                              "json_object_agg_unique_strict",
                                                              "jsonb_agg_strict",
                                                              "jsonb_object_agg_strict",
                                                              "jsonb_object_agg_unique",
                                                              "jsonb_object_agg_unique_strict",
                                                              "array_agg",
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

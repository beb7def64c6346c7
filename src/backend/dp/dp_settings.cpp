/*
 * dp_settings.cpp - see dp_settings.hpp.
 */
#include "backend/dp/dp_settings.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/guc.h"
}

#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

namespace {

struct SettingValue {
  const char* name;
  const char* value;
};

// What who asks may have set otherwise, or must not notice. A server that does not know one passes it over. Planning
// for the machine at hand (just in time compilation, prices) would depend on how many rows the planner expects to
// match.
constexpr SettingValue kFixed[] = {
    {"row_security", "off"},
    {"track_counts", "off"},
    {"track_functions", "none"},
    {"track_io_timing", "off"},
    {"compute_query_id", "off"},
    {"client_min_messages", "error"},
    {"jit", "off"},
    {"plan_cache_mode", "auto"},
    {"hash_mem_multiplier", "1"},
    {"enable_async_append", "on"},
    {"enable_distinct_reordering", "on"},
    {"enable_gathermerge", "on"},
    {"enable_group_by_reordering", "on"},
    {"enable_hashjoin", "on"},
    {"enable_incremental_sort", "off"},
    {"enable_material", "on"},
    {"enable_memoize", "on"},
    {"enable_mergejoin", "on"},
    {"enable_nestloop", "on"},
    {"enable_parallel_append", "on"},
    {"enable_parallel_hash", "on"},
    {"enable_partitionwise_aggregate", "off"},
    {"enable_partitionwise_join", "off"},
    {"enable_presorted_aggregate", "on"},
    {"enable_self_join_elimination", "on"},
    {"enable_seqscan", "on"},
    {"seq_page_cost", "1"},
    {"random_page_cost", "4"},
    {"cpu_tuple_cost", "0.01"},
    {"cpu_index_tuple_cost", "0.005"},
    {"cpu_operator_cost", "0.0025"},
    {"parallel_setup_cost", "0"},
    {"parallel_tuple_cost", "0"},
    {"effective_cache_size", "524288"},
    {"from_collapse_limit", "8"},
    {"join_collapse_limit", "8"},
    {"geqo", "on"},
    {"geqo_threshold", "12"},
    {"geqo_effort", "5"},
    {"geqo_pool_size", "0"},
    {"geqo_generations", "0"},
    {"geqo_selection_bias", "2"},
    {"geqo_seed", "0"},
    {"cursor_tuple_fraction", "0.1"},
    {"recursive_worktable_factor", "10"},
};

// Which rows are read is not to depend on the question.
constexpr const char* kWaysRound[] = {
    "enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan", "enable_tidscan", "enable_partition_pruning",
};

// What a budget keeps, with the values of budgets that have none. How texts are read could else make an expression of a
// view fail on a row, or mean something else.
constexpr SettingValue kKept[] = {
    {"array_nulls", nullptr},
    {"bytea_output", nullptr},
    {"DateStyle", nullptr},
    {"default_text_search_config", nullptr},
    {"extra_float_digits", nullptr},
    {"IntervalStyle", nullptr},
    {"lc_monetary", nullptr},
    {"lc_numeric", nullptr},
    {"lc_time", nullptr},
    {"TimeZone", nullptr},
    {"timezone_abbreviations", nullptr},
    {"xmlbinary", nullptr},
    {"xmloption", nullptr},
    {"debug_parallel_query", "off"},
    {"force_parallel_mode", "off"},
    {"max_parallel_workers", "8"},
    {"max_parallel_workers_per_gather", "2"},
    {"min_parallel_index_scan_size", "64"},
    {"min_parallel_table_scan_size", "1024"},
    {"parallel_leader_participation", "on"},
    {"temp_file_limit", "-1"},
    {"temp_tablespaces", ""},
};

// Kept too, and not set while rows are read.
constexpr const char* kLeastEpsilon = "privacy_score.dp_least_epsilon";
constexpr const char* kMemory = "privacy_score.dp_work_mem";
constexpr int kDefaultMemory = 64 * 1024;

void AppendSetting(StringInfo settings, const char* name) {
  const char* value = GetConfigOption(name, true, false);
  if (value != nullptr) AppendArrayElement(settings, psprintf("%s=%s", name, value));
}

}  // namespace

void SetUnlessSo(const char* name, const char* value) {
  const char* now = GetConfigOption(name, true, false);
  if (now != nullptr && strcmp(now, value) != 0) SetWithin(name, value);
}

const char* SettingsOfReading() {
  StringInfoData settings;
  initStringInfo(&settings);
  appendStringInfoChar(&settings, '{');
  for (const SettingValue& kept : kKept) AppendSetting(&settings, kept.name);
  AppendArrayElement(&settings, psprintf("%s=%.15g", kLeastEpsilon, ps_settings.dp_least_epsilon));
  AppendArrayElement(&settings, psprintf("%s=%d", kMemory, ps_settings.dp_work_mem));
  appendStringInfoChar(&settings, '}');
  return settings.data;
}

const char* GrantedSetting(const Budget* budget, const char* name, const char* otherwise) {
  const Size length = strlen(name);
  for (const char* at = budget->settings; at != nullptr && *at != '\0';) {
    const char* end = strchrnul(at, '\1');
    if (static_cast<Size>(end - at) > length && strncmp(at, name, length) == 0 && at[length] == '=')
      return pnstrdup(at + length + 1, static_cast<Size>(end - at) - length - 1);
    at = *end == '\0' ? end : end + 1;
  }
  return otherwise;
}

void SetForReading(const Budget* budget, GroupingSteps steps) {
  for (const SettingValue& fixed : kFixed) SetUnlessSo(fixed.name, fixed.value);
  const char* ways_round = budget->constant_work ? "off" : "on";
  for (const char* name : kWaysRound) SetUnlessSo(name, ways_round);
  SetUnlessSo("constraint_exclusion", budget->constant_work ? "off" : "partition");
  SetUnlessSo("enable_hashagg", steps.by_hash || !budget->constant_work ? "on" : "off");
  SetUnlessSo("enable_sort", steps.by_hash && budget->constant_work ? "off" : "on");
  for (const SettingValue& kept : kKept) {
    const char* value = GrantedSetting(budget, kept.name, kept.value);
    if (value != nullptr) SetUnlessSo(kept.name, value);
  }
  const int64 memory = pg_strtoint64(GrantedSetting(budget, kMemory, psprintf("%d", kDefaultMemory)));
  SetUnlessSo("work_mem", psprintf("%d", static_cast<int>(Min(memory + steps.kilobytes, MAX_KILOBYTES))));
}

}  // namespace privacy_score

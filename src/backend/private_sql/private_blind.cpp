/*
 * private_blind.cpp - see private_blind.hpp.
 */
#include "backend/private_sql/private_blind.hpp"

extern "C" {
#include "postgres.h"

#include "optimizer/plancat.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace privacy_score {

namespace {

get_relation_info_hook_type prev_relation_info = nullptr;
get_relation_stats_hook_type prev_relation_stats = nullptr;
get_index_stats_hook_type prev_index_stats = nullptr;
get_attavgwidth_hook_type prev_width = nullptr;

bool is_blind = false;

constexpr int32 kAnyWidth = 32;

void HideExtendedStatistics(PlannerInfo* root, Oid relation, bool inherits, RelOptInfo* info) {
  if (prev_relation_info != nullptr) prev_relation_info(root, relation, inherits, info);
  if (is_blind) info->statlist = NIL;
}

// What has no statistics has no histogram either, whose ends the planner would look up in indexes.
bool HideStatistics(PlannerInfo* root, RangeTblEntry* rte, AttrNumber column, VariableStatData* data) {
  if (!is_blind) return prev_relation_stats != nullptr && prev_relation_stats(root, rte, column, data);
  data->statsTuple = nullptr;
  return true;
}

bool HideIndexStatistics(PlannerInfo* root, Oid index, AttrNumber column, VariableStatData* data) {
  if (!is_blind) return prev_index_stats != nullptr && prev_index_stats(root, index, column, data);
  data->statsTuple = nullptr;
  return true;
}

int32 HideWidth(Oid relation, AttrNumber column) {
  if (is_blind) return kAnyWidth;
  return prev_width != nullptr ? prev_width(relation, column) : 0;
}

}  // namespace

bool PlanBlindly(bool blind) {
  const bool before = is_blind;
  is_blind = blind;
  return before;
}

void InstallBlindness() {
  prev_relation_info = get_relation_info_hook;
  get_relation_info_hook = HideExtendedStatistics;
  prev_relation_stats = get_relation_stats_hook;
  get_relation_stats_hook = HideStatistics;
  prev_index_stats = get_index_stats_hook;
  get_index_stats_hook = HideIndexStatistics;
  prev_width = get_attavgwidth_hook;
  get_attavgwidth_hook = HideWidth;
}

}  // namespace privacy_score

/*
 * code_trust.cpp - see code_trust.hpp.
 */
#include "backend/catalog/code_trust.hpp"

extern "C" {
#include "catalog/objectaccess.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "utils/inval.h"
#include "utils/plancache.h"
}

#include "backend/catalog/code_search.hpp"

namespace privacy_score {

namespace {

object_access_hook_type prev_object_access = nullptr;
needs_fmgr_hook_type prev_needs_fmgr = nullptr;
fmgr_hook_type prev_fmgr = nullptr;
get_relation_info_hook_type prev_relation_info = nullptr;
planner_hook_type prev_planner = nullptr;
ExecutorStart_hook_type prev_executor_start = nullptr;

// Whether a function must not run. Those that may are remembered, for they come once for each row.
bool IsStopped(Oid function, CodeSearch* search) {
  CodeRule& rule = ps_code_rule;
  for (const Oid trusted : rule.trusted)
    if (trusted == function) return false;
  *search = SearchFor(rule.owner);
  if (FindInFunction(function, search)) return true;
  rule.trusted[rule.next_trusted++ % lengthof(rule.trusted)] = function;
  return false;
}

void RequireTrusted(Oid function) {
  CodeSearch search;
  if (ps_code_rule.holds && IsStopped(function, &search)) RaiseFound(&search);
}

void ps_object_access(ObjectAccessType access, Oid class_id, Oid object, int sub_id, void* argument) {
  if (prev_object_access != nullptr) prev_object_access(access, class_id, object, sub_id, argument);
  if (access == OAT_FUNCTION_EXECUTE) RequireTrusted(object);
}

// A function has kept its name: the relation cache may have kept it, too, in expressions of indexes and partition keys,
// which then match no statement any more.
bool has_kept_names = false;

// A function that would be stopped must not be replaced by what it says before it comes to that.
bool ps_needs_fmgr(Oid function) {
  if (prev_needs_fmgr != nullptr && prev_needs_fmgr(function)) return true;
  CodeSearch search;
  const bool keeps = ps_code_rule.holds && IsStopped(function, &search);
  has_kept_names = has_kept_names || keeps;
  return keeps;
}

// What types bring is called without the object access hook. Whatever keeps its name comes here.
void ps_fmgr(FmgrHookEventType event, FmgrInfo* function, Datum* private_data) {
  if (event == FHET_START) RequireTrusted(function->fn_oid);
  if (prev_fmgr != nullptr) prev_fmgr(event, function, private_data);
}

// Indexes and statistics may have come since the statement was looked at. These are those that it is planned with.
void ps_relation_info(PlannerInfo* root, Oid relation, bool inherits, RelOptInfo* info) {
  CodeSearch search = SearchFor(ps_code_rule.owner);
  search.within_relation = true;
  const auto require = [&search](List* expressions) {
    if (FindInNode(reinterpret_cast<Node*>(expressions), &search)) RaiseFound(&search);
  };
  const ListCell* cell;
  foreach (cell, ps_code_rule.holds ? info->indexlist : NIL) {
    const auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
    require(index->indexprs);
    require(index->indpred);
  }
  foreach (cell, ps_code_rule.holds ? info->statlist : NIL)
    require(static_cast<StatisticExtInfo*>(lfirst(cell))->exprs);
  if (prev_relation_info != nullptr) prev_relation_info(root, relation, inherits, info);
}

// What is planned is what runs, with locks on all that it names; so is a statement that a function runs. Parallel
// workers have no hooks of ours.
PlannedStmt* ps_planner(::Query* query, const char* text, int options, ParamListInfo params) {
  if (has_kept_names && !ps_code_rule.holds) {
    has_kept_names = false;
    InvalidateSystemCaches();
  }
  if (ps_code_rule.holds) {
    CodeSearch search = SearchFor(ps_code_rule.owner);
    if (FindInQuery(reinterpret_cast<Node*>(query), &search)) RaiseFound(&search);
    if (search.finds_later) options &= ~CURSOR_OPT_PARALLEL_OK;
  }
  return prev_planner != nullptr ? prev_planner(query, text, options, params)
                                 : standard_planner(query, text, options, params);
}

// A table may have got foreign members since they were looked at.
void ps_executor_start(QueryDesc* query, int flags) {
  if (ps_code_rule.holds) {
    CodeSearch search = SearchFor(ps_code_rule.owner);
    const ListCell* cell;
    foreach (cell, query->plannedstmt->rtable) {
      const auto* rte = static_cast<RangeTblEntry*>(lfirst(cell));
      if (OidIsValid(rte->relid) && FindInKind(rte->relid, rte->relkind, &search)) RaiseFound(&search);
    }
  }
  if (prev_executor_start != nullptr)
    prev_executor_start(query, flags);
  else
    standard_ExecutorStart(query, flags);
  ps_code_rule.runs = ps_code_rule.holds;
}

}  // namespace

CodeRule ps_code_rule = {false, false, InvalidOid, {}, 0};

void WatchCode() {
  static bool watches = false;
  if (watches) return;
  prev_object_access = object_access_hook;
  object_access_hook = ps_object_access;
  prev_needs_fmgr = needs_fmgr_hook;
  needs_fmgr_hook = ps_needs_fmgr;
  prev_fmgr = fmgr_hook;
  fmgr_hook = ps_fmgr;
  prev_planner = planner_hook;
  planner_hook = ps_planner;
  prev_relation_info = get_relation_info_hook;
  get_relation_info_hook = ps_relation_info;
  prev_executor_start = ExecutorStart_hook;
  ExecutorStart_hook = ps_executor_start;
  watches = true;
}

namespace {

bool FindInPlan(SPIPlanPtr plan, CodeSearch* search) {
  const ListCell* source;
  foreach (source, SPI_plan_get_plan_sources(plan))
    if (FindInQuery(reinterpret_cast<Node*>(static_cast<CachedPlanSource*>(lfirst(source))->query_list), search))
      return true;
  return false;
}

}  // namespace

bool NeedsOnlyTrustedCode(SPIPlanPtr plan, Oid owner) {
  CodeSearch search = SearchFor(owner);
  return !FindInPlan(plan, &search);
}

void RequireTrustedCode(SPIPlanPtr plan, Oid owner) {
  CodeSearch search = SearchFor(owner);
  if (FindInPlan(plan, &search)) RaiseFound(&search);
}

void RequireTrustedCode(::Query* query, Oid owner) {
  CodeSearch search = SearchFor(owner);
  if (FindInQuery(reinterpret_cast<Node*>(query), &search)) RaiseFound(&search);
}

bool NeedsOnlyTrustedCode(Oid relation, Oid owner) {
  CodeSearch search = SearchFor(owner);
  return !FindInRelation(relation, true, &search) && !FindInColumns(relation, false, &search);
}

}  // namespace privacy_score

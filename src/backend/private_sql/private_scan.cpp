/*
 * private_scan.cpp - see private_scan.hpp.
 */
#include "backend/private_sql/private_scan.hpp"

extern "C" {
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

#include "backend/private_sql/private_answer.hpp"
#include "backend/private_sql/private_feedback.hpp"
#include "backend/private_sql/private_level.hpp"
#include "backend/private_sql/private_split.hpp"
#include "backend/server/compat.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_noisy_rows);
}

namespace {

set_rel_pathlist_hook_type prev_pathlist = nullptr;
List* levels_in_use = NIL;

// What the planner takes the number of groups for: estimates must not depend on rows.
constexpr double kExpectedGroups = 100;

struct Statement;

struct NoisyScan {
  CustomScanState css;
  PrivateLevel* level;
  Statement* statement;
  PrivateAnswer* answer;  // null: not asked yet
  int next;
};

// What is executed together: the levels of one plan, which are asked at once.
struct Statement {
  const EState* estate;
  List* scans;
  Statement* next;  // of those that began before
  MemoryContextCallback ends;
};

Statement* statements = nullptr;

Plan* PlanNoisyPath(PlannerInfo* root, RelOptInfo* rel, CustomPath* path, List* targets, List* clauses, List* plans);
Node* CreateNoisyScan(CustomScan* scan);
void BeginNoisyScan(CustomScanState* node, EState* estate, int flags);
TupleTableSlot* ExecNoisyScan(CustomScanState* node);
void EndNoisyScan(CustomScanState* node);
void ReScanNoisyScan(CustomScanState* node);
void ExplainNoisyScan(CustomScanState* node, List* ancestors, ExplainState* explain);

const CustomPathMethods path_methods = {"Noisy Rows", PlanNoisyPath, nullptr};
const CustomScanMethods scan_methods = {"Noisy Rows", CreateNoisyScan};
const CustomExecMethods exec_methods = {"Noisy Rows", BeginNoisyScan, ExecNoisyScan,   EndNoisyScan, ReScanNoisyScan,
                                        nullptr,      nullptr,        nullptr,         nullptr,      nullptr,
                                        nullptr,      nullptr,        ExplainNoisyScan};

// Whether the item has the columns of that level: a function that the planner puts in place may name the placeholder,
// with columns of its own choice.
bool HasColumnsOf(const RangeTblEntry* rte, const PrivateLevel* level) {
  const List* types = linitial_node(RangeTblFunction, rte->functions)->funccoltypes;
  if (list_length(types) != CountColumns(level)) return false;
  for (int i = 0; i < list_length(types); ++i)
    if (list_nth_oid(types, i) != TypeOfColumn(level, i)) return false;
  return true;
}

void AddNoisyPath(PlannerInfo* root, RelOptInfo* rel, Index index, RangeTblEntry* rte) {
  if (prev_pathlist != nullptr) prev_pathlist(root, rel, index, rte);
  if (levels_in_use == NIL) return;
  const int number = LevelOfPlaceholder(rte);
  if (number < 0 || number >= list_length(levels_in_use)) return;
  const auto* level = static_cast<PrivateLevel*>(list_nth(levels_in_use, number));
  if (!HasColumnsOf(rte, level)) return;
  auto* path = makeNode(CustomPath);
  path->path.pathtype = T_CustomScan;
  path->path.parent = rel;
  path->path.pathtarget = rel->reltarget;
  path->path.rows = rel->rows = level->key_count == 0 ? 1 : kExpectedGroups;
  path->path.startup_cost = path->path.total_cost = 1000;
  path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
  path->custom_private = LevelAsNodes(level);
  path->methods = &path_methods;
  rel->pathlist = NIL;
  rel->partial_pathlist = NIL;
  add_path(rel, &path->path);
}

Plan* PlanNoisyPath(PlannerInfo* root, RelOptInfo* rel, CustomPath* path, List* targets, List* clauses, List* plans) {
  (void)plans;
  auto* scan = makeNode(CustomScan);
  scan->scan.plan.targetlist = targets;
  scan->scan.plan.qual = extract_actual_clauses(clauses, false);
  scan->scan.scanrelid = 0;
  scan->flags = path->flags;
  scan->custom_private = path->custom_private;
  scan->custom_relids = bms_copy(rel->relids);
  scan->methods = &scan_methods;
  const auto* function = linitial_node(RangeTblFunction, planner_rt_fetch(rel->relid, root)->functions);
  for (int i = 0; i < function->funccolcount; ++i) {
    Var* column =
        makeVar(static_cast<int>(rel->relid), static_cast<AttrNumber>(i + 1), list_nth_oid(function->funccoltypes, i),
                list_nth_int(function->funccoltypmods, i), list_nth_oid(function->funccolcollations, i), 0);
    scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
                                      makeTargetEntry(reinterpret_cast<::Expr*>(column), static_cast<AttrNumber>(i + 1),
                                                      pstrdup(strVal(list_nth(function->funccolnames, i))), false));
  }
  return &scan->scan.plan;
}

Node* CreateNoisyScan(CustomScan* scan) {
  auto* state = static_cast<NoisyScan*>(palloc0(sizeof(NoisyScan)));
  NodeSetTag(state, T_CustomScanState);
  state->css.methods = &exec_methods;
  state->level = LevelOfNodes(scan->custom_private);
  return reinterpret_cast<Node*>(state);
}

void ForgetStatement(void* ended) {
  for (Statement** place = &statements; *place != nullptr; place = &(*place)->next) {
    if (*place != ended) continue;
    *place = (*place)->next;
    return;
  }
}

Statement* StatementOf(EState* estate) {
  for (Statement* known = statements; known != nullptr; known = known->next)
    if (known->estate == estate) return known;
  auto* statement = static_cast<Statement*>(MemoryContextAllocZero(estate->es_query_cxt, sizeof(Statement)));
  *statement = {estate, NIL, statements, {ForgetStatement, statement, nullptr}};
  MemoryContextRegisterResetCallback(estate->es_query_cxt, &statement->ends);
  statements = statement;
  return statement;
}

void BeginNoisyScan(CustomScanState* node, EState* estate, int flags) {
  (void)flags;
  auto* state = reinterpret_cast<NoisyScan*>(node);
  MemoryContext before = MemoryContextSwitchTo(estate->es_query_cxt);
  state->statement = StatementOf(estate);
  state->statement->scans = lappend(state->statement->scans, state);
  MemoryContextSwitchTo(before);
}

// Asks all levels of the statement.
void AskStatement(const NoisyScan* scan) {
  EState* estate = scan->css.ss.ps.state;
  MemoryContext before = MemoryContextSwitchTo(estate->es_query_cxt);
  List* levels = NIL;
  const ListCell* cell;
  foreach (cell, scan->statement->scans) levels = lappend(levels, static_cast<NoisyScan*>(lfirst(cell))->level);
  List* answers = AskPrivately(levels, estate->es_param_list_info);
  foreach (cell, scan->statement->scans)
    static_cast<NoisyScan*>(lfirst(cell))->answer =
        static_cast<PrivateAnswer*>(list_nth(answers, foreach_current_index(cell)));
  TellOfAnswers(answers);
  MemoryContextSwitchTo(before);
}

TupleTableSlot* NextNoisyRow(ScanState* node) {
  auto* state = reinterpret_cast<NoisyScan*>(node);
  TupleTableSlot* slot = node->ss_ScanTupleSlot;
  (void)ExecClearTuple(slot);
  if (state->answer == nullptr) AskStatement(state);
  const NoisyRows* rows = state->answer->rows;
  if (state->next >= rows->count) return slot;
  const int first = state->next++ * rows->columns;
  for (int i = 0; i < rows->columns; ++i) {
    slot->tts_values[i] = rows->values[first + i];
    slot->tts_isnull[i] = rows->nulls[first + i];
  }
  return ExecStoreVirtualTuple(slot);
}

bool RecheckNoisyRow(ScanState*, TupleTableSlot*) { return true; }

TupleTableSlot* ExecNoisyScan(CustomScanState* node) { return ExecScan(&node->ss, NextNoisyRow, RecheckNoisyRow); }

void EndNoisyScan(CustomScanState*) {}

void ReScanNoisyScan(CustomScanState* node) {
  reinterpret_cast<NoisyScan*>(node)->next = 0;
  ExecScanReScan(&node->ss);
}

// The part of epsilon that each aggregate gets; the rest goes to bounds, and to groups that nobody has declared.
List* TextsOfShares(const PrivateLevel* level, const double* shares) {
  List* texts = NIL;
  for (int i = 0; i < level->measure_count; ++i)
    texts = lappend(texts, psprintf("%s: %.6g", NameOfMeasure(level, i), shares[i]));
  return texts;
}

const char* KeysText(int groups) {
  if (groups == 0) return "none";
  return groups == kUnknownGroups ? "unknown" : psprintf("public, %d groups", groups);
}

void ExplainNoisyScan(CustomScanState* node, List* ancestors, ExplainState* explain) {
  (void)ancestors;
  const auto* state = reinterpret_cast<NoisyScan*>(node);
  PrivateCost cost = CostOfLevel(state->level, node->ss.ps.state->es_param_list_info);
  if (state->answer != nullptr) {
    // ANALYZE has paid: what it was, not what it would be now.
    const PrivateAnswer* answer = state->answer;
    cost.repeated = answer->repeated;
    cost.held_since = answer->answered_at;
    cost.once = answer->once;
    cost.epsilon_left = answer->epsilon_left;
  }
  ExplainPropertyText("Persons", get_rel_name(state->level->home), explain);
  ExplainPropertyText("Keys", KeysText(cost.groups), explain);
  ExplainPropertyText("Epsilon", cost.repeated ? "0" : cost.epsilon, explain);
  if (cost.delta != nullptr) ExplainPropertyText("Delta", cost.repeated ? "0" : cost.delta, explain);
  if (cost.once != nullptr) ExplainPropertyText("Epsilon Once", cost.once, explain);
  ExplainPropertyText("Epsilon Left", cost.epsilon_left, explain);
  if (state->level->measure_count > 0) ExplainPropertyList("Shares", TextsOfShares(state->level, cost.shares), explain);
  if (cost.repeated) ExplainPropertyText("Held Since", timestamptz_to_str(cost.held_since), explain);
}

}  // namespace

List* UseLevels(List* levels) {
  List* before = levels_in_use;
  levels_in_use = levels;
  return before;
}

bool LevelsInUse() { return levels_in_use != NIL; }

void InstallNoisyScan() {
  prev_pathlist = set_rel_pathlist_hook;
  set_rel_pathlist_hook = AddNoisyPath;
  RegisterCustomScanMethods(&scan_methods);
}

// noisy_rows(level): is a scan in every plan that is ours.
Datum ps_noisy_rows(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("noisy_rows() is no function to be called"),
                  errhint("Ask in plain SQL, as a role labelled dp only with a budget for persons.")));
}

}  // namespace privacy_score

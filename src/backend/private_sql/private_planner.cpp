/*
 * private_planner.cpp - see private_planner.hpp.
 */
#include "backend/private_sql/private_planner.hpp"

extern "C" {
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

#include "backend/dp/dp_budget.hpp"
#include "backend/private_sql/private_answer.hpp"
#include "backend/private_sql/private_blind.hpp"
#include "backend/private_sql/private_classes.hpp"
#include "backend/private_sql/private_errors.hpp"
#include "backend/private_sql/private_joins.hpp"
#include "backend/private_sql/private_refusals.hpp"
#include "backend/private_sql/private_scan.hpp"
#include "backend/private_sql/private_split.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/server/compat_query.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

namespace {

planner_hook_type prev_planner = nullptr;

PlannedStmt* PassOn(::Query* query, const char* text, int options, ParamListInfo parameters) {
  return prev_planner != nullptr ? prev_planner(query, text, options, parameters)
                                 : standard_planner(query, text, options, parameters);
}

// Plans with these levels behind the query's placeholders.
PlannedStmt* PlanWith(List* levels, ::Query* query, const char* text, int options, ParamListInfo parameters) {
  List* before = UseLevels(levels);
  PlannedStmt* plan = nullptr;
  PG_TRY();
  { plan = PassOn(query, text, options, parameters); }
  PG_FINALLY();
  { (void)UseLevels(before); }
  PG_END_TRY();
  return plan;
}

bool NamesPlaceholder(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) return WalkQuery(AsQuery(node), NamesPlaceholder, context);
  if (IsA(node, RangeTblEntry)) return false;
  if (IsA(node, FuncExpr) && castNode(FuncExpr, node)->funcid == PlaceholderFunction()) return true;
  return WalkChildren(node, NamesPlaceholder, context);
}

bool IsNeverTrue(Node* condition) {
  if (condition == nullptr) return false;
  Node* value = eval_const_expressions(nullptr, CopyNode(condition));
  return IsA(value, Const) &&
         (castNode(Const, value)->constisnull || !DatumGetBool(castNode(Const, value)->constvalue));
}

// Whether a client asks for the columns of rows only: LIMIT 0, or a condition that is false.
bool AsksForColumns(const ::Query* query) {
  if (query->commandType != CMD_SELECT || query->hasModifyingCTE || query->rowMarks != NIL ||
      query->setOperations != nullptr || query->hasTargetSRFs || Aggregates(query))
    return false;
  if (IsNeverTrue(query->jointree->quals)) return true;
  if (query->limitCount == nullptr) return false;
  Node* limit = eval_const_expressions(nullptr, CopyNode(query->limitCount));
  return IsA(limit, Const) && !castNode(Const, limit)->constisnull &&
         DatumGetInt64(castNode(Const, limit)->constvalue) == 0;
}

// A query with the same columns that reads nothing.
::Query* WithoutRows(const ::Query* query) {
  auto* probe = CopyTree(query);
  ListCell* cell;
  foreach (cell, probe->targetList) {
    auto* target = lfirst_node(TargetEntry, cell);
    auto* node = reinterpret_cast<Node*>(target->expr);
    target->expr = reinterpret_cast<::Expr*>(makeNullConst(exprType(node), exprTypmod(node), exprCollation(node)));
  }
  probe->rtable = NIL;
  ForgetRightsOfQuery(probe);
  probe->jointree = makeFromExpr(NIL, makeBoolConst(false, false));
  probe->cteList = probe->sortClause = probe->windowClause = NIL;
  probe->limitCount = probe->limitOffset = nullptr;
  probe->hasWindowFuncs = probe->hasSubLinks = probe->hasRowSecurity = false;
  return probe;
}

// Answers a query; null when it reads no persons but as it did.
PlannedStmt* PlanPrivately(::Query* query, const char* text, int options, ParamListInfo parameters) {
  if (NamesPlaceholder(reinterpret_cast<Node*>(query), nullptr))
    RefusePrivately(nullptr, "noisy_rows() is no function to be called", "It stands for the answer of a query.");
  if (AsksForColumns(query)) return PassOn(WithoutRows(query), text, options, parameters);
  auto* rewritten = CopyTree(query);
  List* levels = AnswerLevels(rewritten);
  if (levels != NIL) RequireKnownErrors(rewritten);
  return levels == NIL ? nullptr : PlanWith(levels, rewritten, text, options, parameters);
}

bool MayBeAnswered(const ::Query* query) {
  return ps_settings.dp_sql && ps_settings.answering == 0 && !ps_settings.break_glass &&
         (query->commandType == CMD_SELECT || query->commandType == CMD_INSERT);
}

PlannedStmt* ps_private_planner(::Query* query, const char* text, int options, ParamListInfo parameters) {
  const Watch watch = WatchInForce();
  const bool looks = !watch.passes && watch.role == RoleClass::kDpOnly && !watch.uncounted &&
                     !watch.in_integrity_check && MayBeAnswered(query);
  if (!looks || !QueryReadsProtected(query) || !HasAnyPersonBudget())
    return LevelsInUse() ? PlanWith(NIL, query, text, options, parameters) : PassOn(query, text, options, parameters);
  const char* before = LookAtText(text);
  PlannedStmt* plan = nullptr;
  PG_TRY();
  { plan = PlanPrivately(query, text, options, parameters); }
  PG_FINALLY();
  { (void)LookAtText(before); }
  PG_END_TRY();
  return plan != nullptr ? plan : PlanWith(NIL, query, text, options, parameters);
}

}  // namespace

void InstallPrivatePlanner() {
  prev_planner = planner_hook;
  planner_hook = ps_private_planner;
  InstallNoisyScan();
  InstallBlindness();
  InstallJoinOrder();
}

}  // namespace privacy_score

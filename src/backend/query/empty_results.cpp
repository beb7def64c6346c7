/*
 * empty_results.cpp - see empty_results.hpp.
 *
 * Under LIMIT 0 the executor returns from the Limit at the top before it asks for a row of what is below, and subplans
 * run only when somebody wants their value; test/attacks/clients.sh holds the server to that. Above a false condition
 * nodes of one input may stand that give nothing when they get nothing; an aggregate without groups gives a row.
 */
#include "backend/query/empty_results.hpp"

extern "C" {
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "utils/fmgroids.h"
}

#include "backend/query/plan_mark.hpp"
#include "backend/query/remembered_abstractions.hpp"
#include "backend/state/live_room.hpp"

namespace privacy_score {

namespace {

// A constant of bigint, or what the parser makes of an integer where it wants one. Null for anything else.
const Const* WholeNumber(const Node* node) {
  if (IsA(node, FuncExpr)) {
    const auto* cast = reinterpret_cast<const FuncExpr*>(node);
    if (cast->funcid != F_INT8_INT4 || cast->funcformat != COERCE_IMPLICIT_CAST) return nullptr;
    node = static_cast<const Node*>(linitial(cast->args));
  }
  if (!IsA(node, Const) || reinterpret_cast<const Const*>(node)->constisnull) return nullptr;
  return reinterpret_cast<const Const*>(node);
}

bool IsZero(const Node* node) {
  const Const* constant = WholeNumber(node);
  if (constant == nullptr) return false;
  return constant->constlen == static_cast<int>(sizeof(int64)) ? DatumGetInt64(constant->constvalue) == 0
                                                               : DatumGetInt32(constant->constvalue) == 0;
}

bool IsFalse(const Node* condition) {
  if (condition == nullptr || !IsA(condition, List)) return false;
  const auto* conditions = reinterpret_cast<const List*>(condition);
  if (list_length(conditions) != 1 || !IsA(linitial(conditions), Const)) return false;
  const auto* constant = linitial_node(Const, conditions);
  return constant->constisnull || !DatumGetBool(constant->constvalue);
}

// Whether the plan stands on a Result whose condition is false for ever.
bool StandsOnFalse(const Plan* plan) {
  for (; plan != nullptr; plan = plan->lefttree) {
    switch (nodeTag(plan)) {
      case T_Result:
        if (IsFalse(reinterpret_cast<const Result*>(plan)->resconstantqual)) return true;
        break;
      case T_Agg: {
        const auto* aggregate = reinterpret_cast<const Agg*>(plan);
        if (aggregate->numCols == 0 || aggregate->groupingSets != NIL || aggregate->chain != NIL) return false;
        break;
      }
      case T_Limit:
      case T_Sort:
      case T_IncrementalSort:
      case T_Unique:
      case T_Group:
      case T_Material:
      case T_WindowAgg:
      case T_ProjectSet:
        break;
      default:
        return false;
    }
  }
  return false;
}

// Whether the plan begins with a Limit of no row; DECLARE SCROLL keeps its rows in a Material above.
bool BeginsWithLimitZero(const Plan* plan) {
  if (IsA(plan, Material)) plan = plan->lefttree;
  if (plan == nullptr || !IsA(plan, Limit)) return false;
  const auto* limit = reinterpret_cast<const ::Limit*>(plan);
  return limit->limitCount != nullptr && IsZero(limit->limitCount) &&
         (limit->limitOffset == nullptr || IsA(limit->limitOffset, Const));
}

}  // namespace

bool IsLimitedToNothing(const ::Query* query) {
  return query->limitCount != nullptr && query->commandType == CMD_SELECT && query->limitOption == LIMIT_OPTION_COUNT &&
         IsZero(query->limitCount) && (query->limitOffset == nullptr || WholeNumber(query->limitOffset) != nullptr) &&
         query->rowMarks == NIL && !query->hasModifyingCTE;
}

bool PlanReturnsNothing(const PlannedStmt* plan, bool limited) {
  if (plan->commandType != CMD_SELECT || plan->hasModifyingCTE || plan->rowMarks != NIL || plan->planTree == nullptr)
    return false;
  return limited ? BeginsWithLimitZero(plan->planTree) : plan->subplans == NIL && StandsOnFalse(plan->planTree);
}

void ExcuseExecutions(PlanMark* mark) {
  if (!IsRemembered(mark->id) || !IsRemembered(mark->estimates) || IsUnparsed(mark->id)) return;
  if (mark->estimates == 0) mark->estimates = DefineEstimates(mark->id);
  mark->id = 0;
  mark->excuse = Excuse::kReturnsNothing;
}

bool IsExcused(const PlannedStmt* plan) {
  const PlanMark* mark = MarkOfPlan(plan);
  if (mark != nullptr) return mark->excuse == Excuse::kReturnsNothing;
  return PlanReturnsNothing(plan, false) || PlanReturnsNothing(plan, true);
}

}  // namespace privacy_score

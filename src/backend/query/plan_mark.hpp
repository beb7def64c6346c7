/*
 * plan_mark.hpp - what ties a plan to its abstraction and its constants.
 *
 * The tie must survive the plan cache, which keeps a copy of the plan and never calls the planner again, and must not
 * depend on queryId (rules give several queries the same one). It is one entry at the end of PlannedStmt.invalItems: a
 * Const whose value are the bytes of a PlanMark. The plan cache copies it with the plan; where it looks for items that
 * a catalog change concerns it compares the second field, which here is a type that no syscache id equals. It is never
 * sent to parallel workers, is invisible to EXPLAIN, and is read without a search.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
#include "nodes/plannodes.h"
#include "nodes/primnodes.h"
}

namespace privacy_score {

// Why executions of a plan are no events; the id is 0 then.
enum class Excuse : int32 {
  kNone,
  kReturnsNothing,  // the plan reads and returns nothing (empty_results.hpp)
  kPiece,           // it is a piece of another plan, which counts
  kSent,            // it is a piece of what another node counts, which has sent it
};

// Plain data in one piece of memory, a varlena for the server. The words are those of core/statement/comparisons.hpp;
// none when the constants are not known.
struct PlanMark {
  int32 varlena_header;
  int32 word_count;
  int64 id;         // of the abstraction
  int64 estimates;  // of that of explaining the query, where this does not follow from the former; else 0
  Excuse excuse;
  int32 answer_column;  // of an aggregate, from 1 (answers.hpp), whose constants follow the words; else 0
  int32 has_pieces;     // whether the plan may have (pieces.hpp)
  uint32 words[FLEXIBLE_ARRAY_MEMBER];
};

inline bool IsPiece(const PlanMark* mark) { return mark->excuse == Excuse::kPiece || mark->excuse == Excuse::kSent; }

// A mark in the current memory context, its words not yet filled.
PlanMark* NewPlanMark(int64 id, int64 estimates, int word_count);

// Ties the mark, allocated where the plan is, to the plan.
void MarkPlan(PlannedStmt* plan, PlanMark* mark);

// The mark of a plan that is a piece of something else, and which of the two, in the current memory context.
PlanMark* NewPieceMark(Excuse excuse);

// No syscache has this id, and no type this OID but one made when the OIDs are about to wrap around.
constexpr int kMarkType = -0x5053;

// The mark that a plan bears; null when it was made unwatched.
inline const PlanMark* BareMark(const PlannedStmt* plan) {
  if (plan->invalItems == NIL) return nullptr;
  const auto* item = static_cast<const Const*>(llast(plan->invalItems));
  if (!IsA(item, Const) || item->consttype != static_cast<Oid>(kMarkType)) return nullptr;
  return reinterpret_cast<const PlanMark*>(DatumGetPointer(item->constvalue));
}

// The mark of a plan that is a statement; null when it was made unwatched, or as a piece: whoever runs it otherwise
// than as one is counted by the plan.
inline const PlanMark* MarkOfPlan(const PlannedStmt* plan) {
  const PlanMark* mark = BareMark(plan);
  return mark == nullptr || IsPiece(mark) ? nullptr : mark;
}

}  // namespace privacy_score

/*
 * plan_mark.cpp - see plan_mark.hpp.
 */
#include "backend/query/plan_mark.hpp"

extern "C" {
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
}

#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

// The plan cache reads an item's cacheId where the mark has its type.
static_assert(offsetof(Const, consttype) == offsetof(PlanInvalItem, cacheId), "a mark must pass for a PlanInvalItem");
static_assert(offsetof(PlanMark, words) == offsetof(PlanMark, has_pieces) + sizeof(int32), "no gap before the words");

}  // namespace

[[gnu::hot]] PlanMark* NewPlanMark(int64 id, int64 estimates, int word_count) {
  const Size size = offsetof(PlanMark, words) + sizeof(uint32) * static_cast<Size>(word_count);
  auto* mark = static_cast<PlanMark*>(palloc(size));
  SET_VARSIZE(mark, size);
  mark->word_count = word_count;
  mark->id = id;
  mark->estimates = estimates;
  mark->excuse = Excuse::kNone;
  mark->answer_column = mark->has_pieces = 0;
  return mark;
}

PlanMark* NewPieceMark(Excuse excuse) {
  PlanMark* mark = NewPlanMark(0, 0, 0);
  mark->excuse = excuse;
  return mark;
}

[[gnu::hot]] void MarkPlan(PlannedStmt* plan, PlanMark* mark) {
  Const* item = makeNode(Const);
  item->consttype = static_cast<Oid>(kMarkType);
  item->constlen = -1;
  item->constvalue = PointerGetDatum(mark);
  item->location = -1;
  plan->invalItems = lappend(plan->invalItems, item);
}

}  // namespace privacy_score

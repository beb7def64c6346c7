/*
 * cursor_reads.cpp - see cursor_reads.hpp.
 *
 * Who declared a cursor is kept by the portal's name and the moment of its making, for a later one may have its name.
 * Those of portals that are gone are dropped when another one is noted.
 */
#include "backend/watch/cursor_reads.hpp"

extern "C" {
#include "miscadmin.h"
#include "utils/portal.h"
}

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/query/abstracting.hpp"
#include "backend/query/empty_results.hpp"
#include "backend/query/plan_mark.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/query/remembered_abstractions.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/end_user.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/watch/live.hpp"
#include "backend/watch/noisy_answer_reads.hpp"
#include "backend/watch/statement_place.hpp"

namespace {

// Role and end user; empty: none.
using Asker = std::pair<Oid, std::string>;

struct Cursor {
  std::string name;
  TimestampTz made;
  Asker declarer;
  std::set<Asker> counted;  // others for whom its statement has counted
};

std::vector<Cursor>* cursors = nullptr;

// The plan of a cursor; null when it has none.
const PlannedStmt* PlanOf(Portal portal) {
  return portal->stmts == NIL ? nullptr : linitial_node(PlannedStmt, portal->stmts);
}

bool IsGone(const Cursor& cursor) {
  const Portal portal = GetPortalByName(cursor.name.c_str());
  return portal == nullptr || portal->creation_time != cursor.made;
}

Cursor* FindCursor(Portal portal) {
  if (cursors == nullptr) return nullptr;
  for (Cursor& cursor : *cursors)
    if (cursor.made == portal->creation_time && cursor.name == portal->name) return &cursor;
  return nullptr;
}

}  // namespace

void JudgeRows(const PlannedStmt* plan, const Watch& watch) {
  if (plan->commandType == CMD_UTILITY || !ReadIsJudged(watch) || PlanAnswers(plan) || IsExcused(plan)) return;
  if (PlanReadsProtected(plan)) RecordProtectedRead(watch.role);
}

void NoteCursor(const DeclareCursorStmt* declare) {
  const bool may_change = SpeaksForOthers() || ps_settings.principal == static_cast<int>(Principal::kCurrentUser);
  if (!may_change) return;
  // What somebody exempt has declared counts for who else fetches from it.
  const Watch watch = LookAtPrincipal();
  if (watch.role != RoleClass::kExempt && !CountsHere(watch)) return;
  const Portal portal = GetPortalByName(declare->portalname);
  if (portal == nullptr) return;
  const Oid role = PrincipalOf();
  const char* end_user = EndUserNow().name;
  CoreError error;
  if (!CallCore(&error, [&] {
        if (cursors == nullptr) cursors = new std::vector<Cursor>();
        cursors->erase(std::remove_if(cursors->begin(), cursors->end(), IsGone), cursors->end());
        cursors->push_back({portal->name, portal->creation_time, {role, end_user}, {}});
      }))
    CountScoringError(error.message);
}

int64 CountFetch(const FetchStmt* fetch) {
  if (fetch->ismove) return 0;
  const Watch watch = LookAtPrincipal();
  if (cursors == nullptr && watch.role != RoleClass::kDpOnly) return 0;
  const Portal portal = GetPortalByName(fetch->portalname);
  const PlannedStmt* plan = portal == nullptr ? nullptr : PlanOf(portal);
  if (plan == nullptr) return 0;
  // Rows of a cursor WITH HOLD are kept: nothing runs when they are fetched, whoever has declared it.
  if (watch.role == RoleClass::kDpOnly) JudgeRows(plan, watch);
  Cursor* cursor = FindCursor(portal);
  if (cursor == nullptr || !CountsHere(watch)) return 0;
  const Oid role = PrincipalOf();
  const char* end_user = pstrdup(EndUserNow().name);
  const bool same_role = role == cursor->declarer.first;
  if (same_role && (end_user[0] == '\0' || cursor->declarer.second == end_user)) {
    if (end_user[0] != '\0') OpenPrincipal();  // others may have fetched in between
    return 0;
  }
  const PlanMark* mark = MarkOfPlan(plan);
  const int64 id = mark != nullptr && IsRemembered(mark->id) ? mark->id : AbstractPlan(plan);
  bool is_new = true;
  CoreError error;
  if (!CallCore(&error, [&] { is_new = cursor->counted.count({role, end_user}) == 0; }))
    CountScoringError(error.message);
  if (is_new)
    RecordEvent(id);  // raises where the fetch is refused, which then is asked about again
  else
    OpenPrincipal();
  cursor = FindCursor(portal);
  if (cursor != nullptr && !CallCore(&error, [&] { cursor->counted.insert({role, end_user}); }))
    CountScoringError(error.message);
  return portal->holdStore == nullptr || portal->createSubid != InvalidSubTransactionId ? 0 : id;
}

/*
 * cursor_reads.cpp - see cursor_reads.hpp.
 *
 * Who declared a cursor is kept by the portal's name and the moment of its making, for a later one may have its name.
 * Those of portals that are gone are dropped when another one is noted.
 */
#include "backend/watch/cursor_reads.hpp"

extern "C" {
#include "access/xact.h"
#include "miscadmin.h"
#include "tcop/pquery.h"
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

namespace privacy_score {

bool ps_has_cursors = false;

namespace {

// Role and end user; empty: none.
using Asker = std::pair<Oid, std::string>;

struct Cursor {
  std::string name;
  TimestampTz made;
  Asker declarer;
  std::set<Asker> counted;                       // others for whom its statement has counted
  uint64 seen;                                   // the position that was accounted for
  std::vector<std::pair<Asker, uint64>> unseen;  // rows that others have fetched and that are to be counted
};

constexpr std::size_t kMostUnseen = 64;  // of a cursor

std::vector<Cursor>* cursors = nullptr;

// The plan of a cursor; null when it has none.
const PlannedStmt* PlanOf(Portal portal) {
  return portal->stmts == NIL ? nullptr : linitial_node(PlannedStmt, portal->stmts);
}

bool IsGone(const Cursor& cursor) {
  const Portal portal = GetPortalByName(cursor.name.c_str());
  return portal == nullptr || portal->creation_time != cursor.made;
}

// Whether the server keeps the rows, outside of the transaction that declared it.
bool RowsAreHeld(Portal portal) {
  return portal->holdStore != nullptr && portal->createSubid == InvalidSubTransactionId;
}

// Whether somebody fetches for who declared a cursor.
bool FetchesForDeclarer(const Cursor& cursor, Oid role, const char* end_user) {
  return role == cursor.declarer.first && (end_user[0] == '\0' || cursor.declarer.second == end_user);
}

Cursor* FindCursor(Portal portal) {
  if (cursors == nullptr) return nullptr;
  for (Cursor& cursor : *cursors)
    if (cursor.made == portal->creation_time && cursor.name == portal->name) return &cursor;
  return nullptr;
}

}  // namespace

namespace {

// Notes for who speaks now what has been fetched since. Looks at no catalog.
void NoteUnseen() {
  const Oid role = PrincipalOf();
  const char* end_user = nullptr;
  for (Cursor& cursor : *cursors) {
    const Portal portal = GetPortalByName(cursor.name.c_str());
    if (portal == nullptr || portal->creation_time != cursor.made) continue;
    const uint64 fetched = portal->portalPos > cursor.seen ? portal->portalPos - cursor.seen : 0;
    cursor.seen = portal->portalPos;
    if (fetched == 0 || !RowsAreHeld(portal)) continue;
    if (end_user == nullptr) end_user = EndUserNow().name;
    CoreError error;
    if (!CallCore(&error, [&] {
          const Asker asker = {role, end_user};
          const auto same = [&](const std::pair<Asker, uint64>& each) { return each.first == asker; };
          const auto known = std::find_if(cursor.unseen.begin(), cursor.unseen.end(), same);
          if (known != cursor.unseen.end())
            known->second += fetched;
          else if (cursor.unseen.size() < kMostUnseen)
            cursor.unseen.emplace_back(asker, fetched);
        }))
      CountScoringError(error.message);
  }
}

// Takes out how many rows somebody has fetched unseen.
uint64 TakeUnseen(Cursor* cursor, Oid role, const char* end_user) {
  uint64 rows = 0;
  CoreError error;
  if (!CallCore(&error, [&] {
        const Asker asker = {role, end_user};
        for (auto at = cursor->unseen.begin(); at != cursor->unseen.end(); ++at) {
          if (at->first != asker) continue;
          rows = at->second;
          cursor->unseen.erase(at);
          break;
        }
      }))
    CountScoringError(error.message);
  return rows;
}

// What who speaks then has fetched is counted before the transaction ends; of one that fails, when the same one speaks
// again.
void OnEndWithCursors(XactEvent event, void* /*argument*/) {
  if (!ps_has_cursors) return;
  if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE) CountUnseenFetches();
  if (event == XACT_EVENT_ABORT) NoteUnseen();
}

// The abstraction of a cursor's statement.
int64 AbstractionOfCursor(const PlannedStmt* plan) {
  const PlanMark* mark = MarkOfPlan(plan);
  return mark != nullptr && IsRemembered(mark->id) ? mark->id : AbstractPlan(plan);
}

// Whether the statement of a cursor counts for somebody else for the first time, which is noted.
bool CountsAnew(Cursor* cursor, Oid role, const char* end_user) {
  bool is_new = true;
  CoreError error;
  if (!CallCore(&error, [&] { is_new = cursor->counted.insert({role, end_user}).second; }))
    CountScoringError(error.message);
  return is_new;
}

}  // namespace

void CountUnseenFetches() {
  if (cursors == nullptr || ps_place.depth != 0 || IsParallelWorker()) return;
  NoteUnseen();
  const Watch watch = WatchInForce();
  const Oid role = PrincipalOf();
  for (std::size_t i = 0; i < cursors->size(); ++i) {
    Cursor* cursor = &(*cursors)[i];
    if (cursor->unseen.empty()) continue;
    const char* end_user = pstrdup(EndUserNow().name);
    const uint64 rows = TakeUnseen(cursor, role, end_user);
    const Portal portal = GetPortalByName(cursor->name.c_str());
    const PlannedStmt* plan = rows == 0 || portal == nullptr ? nullptr : PlanOf(portal);
    if (plan == nullptr) continue;
    if (CountsHere(watch) && !FetchesForDeclarer(*cursor, role, end_user)) {
      const int64 id = AbstractionOfCursor(plan);
      if (CountsAnew(cursor, role, end_user))
        RecordUnrefusable(id, {});
      else
        OpenPrincipal();
      RecordRows(id, static_cast<int64>(rows));
    }
    if (watch.role == RoleClass::kDpOnly) JudgeRows(plan, watch);
  }
}

void NoteFetched(const FetchStmt* fetch) {
  const Portal portal = cursors == nullptr ? nullptr : GetPortalByName(fetch->portalname);
  Cursor* cursor = portal == nullptr ? nullptr : FindCursor(portal);
  if (cursor != nullptr) cursor->seen = portal->portalPos;
}

void JudgeRows(const PlannedStmt* plan, const Watch& watch) {
  if (plan->commandType == CMD_UTILITY || !ReadIsJudged(watch) || PlanAnswers(plan) || IsExcused(plan)) return;
  if (PlanReadsProtected(plan)) RecordProtectedRead(watch.role);
}

void NoteCursor(const DeclareCursorStmt* declare) {
  const bool may_change = SpeaksForOthers() || ps_settings.principal == static_cast<int>(Principal::kCurrentUser);
  // Whoever's role is set while a cursor is held may be judged by a label.
  if (!may_change && (declare->options & CURSOR_OPT_HOLD) == 0) return;
  // What somebody exempt has declared counts for who else fetches from it.
  const Watch watch = WatchInForce();
  if (watch.role != RoleClass::kExempt && !CountsHere(watch)) return;
  const Portal portal = GetPortalByName(declare->portalname);
  if (portal == nullptr) return;
  const Oid role = PrincipalOf();
  const char* end_user = EndUserNow().name;
  CoreError error;
  if (!CallCore(&error, [&] {
        if (cursors == nullptr) cursors = new std::vector<Cursor>();
        cursors->erase(std::remove_if(cursors->begin(), cursors->end(), IsGone), cursors->end());
        cursors->push_back({portal->name, portal->creation_time, {role, end_user}, {}, portal->portalPos, {}});
      }))
    CountScoringError(error.message);
  if (!ps_has_cursors) RegisterXactCallback(OnEndWithCursors, nullptr);
  ps_has_cursors = true;
}

// Counts the statement of a portal for who fetches from it, when that is not who declared it.
static int64 CountFetchFrom(Portal portal, const PlannedStmt* plan, const Watch& watch) {
  Cursor* cursor = FindCursor(portal);
  if (cursor == nullptr || !CountsHere(watch)) return 0;
  const Oid role = PrincipalOf();
  const char* end_user = pstrdup(EndUserNow().name);
  if (FetchesForDeclarer(*cursor, role, end_user)) {
    if (end_user[0] != '\0') OpenPrincipal();  // others may have fetched in between
    return 0;
  }
  const int64 id = AbstractionOfCursor(plan);
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
  return RowsAreHeld(portal) ? id : 0;
}

int64 CountFetch(const FetchStmt* fetch) {
  if (fetch->ismove) return 0;
  const Watch watch = WatchInForce();
  if (cursors == nullptr && watch.role != RoleClass::kDpOnly) return 0;
  const Portal portal = GetPortalByName(fetch->portalname);
  const PlannedStmt* plan = portal == nullptr ? nullptr : PlanOf(portal);
  if (plan == nullptr) return 0;
  // Rows of a cursor WITH HOLD are kept: nothing runs when they are fetched, whoever has declared it.
  if (watch.role == RoleClass::kDpOnly) JudgeRows(plan, watch);
  return CountFetchFrom(portal, plan, watch);
}

void CountFetchFromRunning() {
  if (ps_place.depth != 0 || ActivePortal == nullptr) return;
  const PlannedStmt* plan = PlanOf(ActivePortal);
  if (plan != nullptr) CountFetchFrom(ActivePortal, plan, WatchInForce());
}

}  // namespace privacy_score

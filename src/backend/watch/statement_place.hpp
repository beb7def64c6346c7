/*
 * statement_place.hpp - where in what the client has sent this process is: how deep, and in whose code.
 *
 * The hooks keep it, restore it on errors, and ask it whether what runs here counts.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/parallel.h"
#include "nodes/params.h"
#include "nodes/plannodes.h"
#include "tcop/pquery.h"
}

#include "backend/server/settings.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/live.hpp"

namespace privacy_score {

struct StatementPlace {
  int depth;  // how many statements, plans or functions we are inside of
  // A query of a referential-integrity trigger is running: what triggers start within it is somebody's own.
  bool inside_integrity_check;
  // REFRESH ... CONCURRENTLY at that depth, -1 for none: once the view's query has run, the statements that merge its
  // rows into the view are the server's own (of relations whose names hold an OID, at that); what functions start
  // within them is not.
  int refresh_depth;
  bool merging;
  // Whether a plan is being made or run here that may have pieces (pieces.hpp), with no utility statement in between;
  // where the server began with it: its stack of error contexts, and the portal that was running.
  bool in_plan;
  const void* contexts;
  const void* portal;
};
extern StatementPlace ps_place;

// Whether a query that is planned at this place is a piece of the plan that is being planned or run, as libraries make
// that distribute a statement over servers: its rows are the plan's own, whose statement counts. Whatever runs a
// statement within another, such as a function in any language, tells the server so, to be named with errors, or
// fetches from another portal, as cursor_to_xml() does.
inline bool IsPieceOfPlan() {
  return ps_place.in_plan && ps_place.contexts == error_context_stack && ps_place.portal == ActivePortal;
}

// Whether statements count at this place. A parallel worker runs a piece of the leader's plan; only what functions
// start within that is new.
inline bool CountsHere(const Watch& watch) {
  if (!Counts(watch.role)) return false;
  if (ps_place.depth == 0 && IsParallelWorker()) return false;
  if (ps_place.depth > 0 && ps_settings.track != static_cast<int>(TrackLevel::kAll)) return false;
  if (ps_place.merging && ps_place.depth == ps_place.refresh_depth) return false;
  return !watch.in_integrity_check || ps_place.inside_integrity_check;
}

// Labels of roles decide on reading protected relations whatever counts: also on EXPLAIN.
inline bool ReadIsJudged(const Watch& watch) {
  if (!LabelJudges(watch.role)) return false;
  if (ps_place.depth == 0 && IsParallelWorker()) return false;
  return !watch.in_integrity_check || ps_place.inside_integrity_check;
}

// What a place within changes; a refresh goes on.
inline void LeavePlace(const StatementPlace& before) {
  ps_place.inside_integrity_check = before.inside_integrity_check;
  ps_place.in_plan = before.in_plan;
  ps_place.contexts = before.contexts;
  ps_place.portal = before.portal;
  ps_place.depth = before.depth;
}

// What runs at a place within the statement.
struct WithinStatement {
  bool integrity_check;
  bool has_pieces;  // it may have
};

// Runs `body`, which plans or runs a plan, as a place within the statement. What it does is undone before `failing` is
// called on an error, which goes on unless this raises another one.
template <typename Body, typename Failing>
inline void RunWithin(WithinStatement what, Body body, Failing failing) {
  const StatementPlace before = ps_place;
  ps_place.inside_integrity_check = before.inside_integrity_check || what.integrity_check;
  ps_place.in_plan = what.has_pieces;
  ps_place.contexts = error_context_stack;
  ps_place.portal = ActivePortal;
  ++ps_place.depth;
  PG_TRY();
  { body(); }
  PG_CATCH();
  {
    LeavePlace(before);
    failing();
    PG_RE_THROW();
  }
  PG_END_TRY();
  LeavePlace(before);
}

template <typename Body>
void RunWithin(WithinStatement what, Body body) {
  RunWithin(what, body, [] {});
}

// What a failing statement shows, in PG_CATCH; of a utility statement with its HandledRelation(). The error that a
// parallel worker meets in its leader's plan is the leader's.
void JudgeFailure(const PlannedStmt* plan, ParamListInfo parameters, const Node* utility, Oid handled,
                  const Watch& watch);

}  // namespace privacy_score

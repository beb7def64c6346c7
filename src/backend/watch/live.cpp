/*
 * live.cpp - one execution after the other: whether it may run, what it scores, who hears of it (see live.hpp).
 */
#include "backend/watch/live.hpp"

extern "C" {
#include "access/xact.h"
}

#include "backend/query/protected_reads.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/end_user.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/shared_state.hpp"
#include "backend/state/told_days.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/enforce.hpp"
#include "backend/watch/session_alerts.hpp"
#include "backend/watch/session_scorer.hpp"
#include "backend/watch/statement_admission.hpp"

namespace privacy_score {

namespace {

// The moment of an event: for the first of what the client has sent, that in which this arrived; for those that follow,
// in a function or a list of statements, what the clock says.
TimestampTz MomentOfEvent() {
  const TimestampTz start = GetCurrentStatementStartTimestamp();
  if (start == ps_local.last_start) return GetCurrentTimestamp();
  ps_local.last_start = start;
  return start;
}

// One execution on its way: from the session that it belongs to, over whether it may run, to what it scores.
struct Recording {
  int64 id;
  TimestampTz now;
  bool may_refuse;  // it can be refused, by an alarm or, where that is `enforcing`, by limits
  bool enforcing;
  DatabaseSlot* slot;
  LiveSession* session;
  EndUserFault fault;
  uint64 changes;  // of what the model is made of: the number of the last one that is announced
  uint64 change;   // the last of them that concerns it
  bool defined;    // the scorer has its tokens
  bool fits;       // there is room for it
  bool appended;   // to the session's history, before it is scored
  int64 counted;   // what it counts as: where it does not fit, a statement that could not be abstracted
};

// What the scorer made of it.
struct Outcome {
  bool scored;
  bool current;  // the model reflects all changes that concern it
  Rise rise;
};

// Finds the session, and has its model at hand; false when there is no room for one.
bool FindSession(Recording* event) {
  event->slot = SlotOfDatabase(true);
  event->session = event->slot == nullptr ? nullptr : CurrentSession(event->now, &event->fault);
  if (event->session == nullptr) {
    pg_atomic_fetch_add_u64(&ps_shared->dropped, 1);
    if (event->enforcing) RefuseFault(nullptr, "There is no room in shared memory to record it.");
    return false;
  }
  event->changes = pg_atomic_read_u64(&event->slot->model_wanted);
  RefreshModel(event->slot, event->session);
  event->change = ChangeToWaitFor(event->slot, event->session, event->id, event->changes);
  TakeEndUserLimits(event->session);
  return true;
}

// Raises where the statement must not run, else appends it to the session's history. Within the session.
void RefuseOrAppend(Recording* event) {
  LiveSession* session = event->session;
  event->defined = ps_local.scorer->scorer.Repeats(event->id) || DefineInScorer(event->id);
  event->appended = true;
  if (event->may_refuse && AddsToAlarm(session, event->id, event->defined))
    OutsideSession(session, [session] { RefuseUnusual(session); });
  if (event->enforcing) {
    if (AddsToOverflow(session, event->id, event->defined))
      OutsideSession(session, [session] { RefuseForRoom(session); });
    event->fits = AppendAdmitted(event->slot, session, event->id, event->defined, event->change);
    if (!event->fits) {
      ReserveRise(session, 0);
      OutsideSession(session, [session] { RefuseForRoom(session); });
    }
  } else {
    event->fits = SendTokens(session, event->id);
    // Without a chunk at hand it shows before the event is scored whether there is room for it.
    event->appended = event->fits && !HasSpare(session);
    if (event->appended) event->fits = AppendEvent(session, event->id, nullptr);
  }
  event->counted = event->fits ? event->id : AppendUnparsed(session);
  if (event->fits) return;
  event->appended = true;
  event->defined = DefineInScorer(event->counted);
}

// Scores the statement.
Outcome ScoreEvent(const Recording& event, const BoundConstants& constants) {
  LiveScorer& scorer = ps_local.scorer->scorer;
  const Rise before = {scorer.summary().score, scorer.summary().statement_score};
  CoreError error;
  const bool scored = event.defined && CallCore(&error, [&] {
                        scorer.Observe(event.counted, event.fits ? constants : BoundConstants{});
                      });
  if (event.defined && !scored) CountScoringError(error.message);
  const SessionSummary& summary = scorer.summary();
  return {scored,
          ModelReflects(event.change) && KnowsSession(event.session),
          {summary.score - before.score, summary.statement_score - before.enforced}};
}

// Shows the session's new figures to others, with the statement where that is not appended yet. Within the session.
void PublishEvent(const Recording& event, const Outcome& outcome) {
  const LiveScorer& scorer = ps_local.scorer->scorer;
  const EventFigures figures = {event.counted,
                                event.now,
                                &scorer.summary(),
                                &scorer.reach(),
                                outcome.rise,
                                outcome.current,
                                ps_local.scorer->model_version,
                                event.changes};
  const bool appended = event.appended || AppendEvent(event.session, event.id, outcome.scored ? &figures : nullptr);
  // What has taken the spare chunk meanwhile has left no room.
  if (!appended) CountUncounted(event.session, 1, 0);
  if (!outcome.scored)
    OutdateFigures(event.session);
  else if (event.appended || !appended)
    PublishFigures(event.session, figures);
}

// Says what is to be said of it, to the worker, to who is alerted, and to the client.
void AnnounceEvent(const Recording& event, const Outcome& outcome) {
  LiveSession* session = event.session;
  LiveScorer& scorer = ps_local.scorer->scorer;
  TellOfEndUser(session, event.fault);
  if (!event.fits) AnnounceNoRoom(session);
  if (!event.enforcing && IsUnparsed(event.id)) AnnounceFault(session);
  if (!outcome.scored) return;
  if (scorer.IsMissingRates()) SendMissingRates(event.slot);
  EnsureWorker(event.slot);
  if (session->unwarned_count > 0) DeliverWarnings(session);
  if (!scorer.summary().estimated && outcome.current && session->limits.Any())
    AlertOnLimits(session, outcome.rise.score);
  if (outcome.current) JudgeReach(session);
  // Afterwards: what the session is told of itself, the worker need not say of its day.
  SendTold(session);
}

// Counts a statement of a session over all connections that leads where this backend has been led by it before; false,
// and nothing is counted, where it is more than that. The session's lock is taken only where its constants are new.
bool RecordAmongAll(Recording event, const BoundConstants& constants) {
  LiveSession* session = event.session;
  LiveScorer& scorer = ps_local.scorer->scorer;
  const uint64 model = ps_local.scorer->model_version;
  if (scorer.settings().counting != ScoreSettings::kSet || IsUnparsed(event.id)) return false;
  if (session->alarmed_by_novelty || session->alarmed_by_extent) return false;
  if (!ModelReflects(event.change) || session->model_version != model) return false;
  if (!StandInSession(session) || !scorer.Repeats(event.id) || !DefinitionSent(event.id)) return false;
  const int64 reach = scorer.reach().Sum();
  CoreError error;
  // An error is met, and counted, once more on the long way.
  if (!CallCore(&error, [&] { scorer.Observe(event.id, constants); })) return false;
  EventFigures figures = {event.id, event.now, nullptr, nullptr, {0, 0}, true, model, event.changes};
  if (scorer.reach().Sum() == reach && ps_local.scorer->journal.words().empty()) {
    event.fits = AppendEvent(session, event.id, &figures);
  } else {
    EnterSession(session);
    figures.summary = &scorer.summary();
    figures.reach = &scorer.reach();
    event.fits = AppendEvent(session, event.id, &figures);
    LeaveSession(session);
  }
  if (event.fits) AnnounceEvent(event, {true, true, {0, 0}});
  return event.fits;
}

// Most of this is nothing for a statement that repeats: no clock is read, no memory allocated, and the only lock is the
// session's own, for the stores of AppendEvent. live_repeat.cpp has what is left of it.
void RecordStatement(int64 id, const BoundConstants& constants, bool may_refuse) {
  if (id == 0) return;
  Recording event = {};
  event.id = id;
  event.may_refuse = may_refuse;
  event.enforcing = may_refuse && Enforcing();
  event.now = MomentOfEvent();
  CountEvent();
  if (!FindSession(&event)) return;
  if (RecordAmongAll(event, constants)) return;
  EnterSession(event.session);
  RefuseOrAppend(&event);
  const Outcome outcome = ScoreEvent(event, constants);
  PublishEvent(event, outcome);
  LeaveSession(event.session);
  AnnounceEvent(event, outcome);
}

}  // namespace

void RecordEvent(int64 id, const privacy_score::BoundConstants& constants) { RecordStatement(id, constants, true); }

void TellClient() {
  LiveSession* session = OwnSession();
  if (session != nullptr && session->unwarned_count > 0) DeliverWarnings(session);
}

void RecordUnrefusable(int64 id, const privacy_score::BoundConstants& constants) {
  RecordStatement(id, constants, false);
}

bool LabelJudges(RoleClass role) {
  if (role == RoleClass::kDpOnly) return true;
  if (role != RoleClass::kExempt) return false;
  const LiveSession* session = OwnSession();
  if (session == nullptr || (session->alerted & kAlertExempt) == 0 || session->role != PrincipalOf()) return true;
  return SpeaksForOthers() && strcmp(EndUserOf(session), EndUserNow().name) != 0;
}

// The session of the principal for what its label asks for; null when there is no room.
static LiveSession* SessionToJudge() {
  DatabaseSlot* slot = SlotOfDatabase(true);
  EndUserFault fault;
  LiveSession* session = slot == nullptr ? nullptr : CurrentSession(GetCurrentTimestamp(), &fault);
  if (slot != nullptr) EnsureWorker(slot);
  return session;
}

void OpenPrincipal() { (void)SessionToJudge(); }

void RecordProtectedRead(RoleClass role) {
  LiveSession* session = SessionToJudge();
  if (role == RoleClass::kDpOnly)
    RefuseDpOnly(session, DpOnlyRefusal::kReads);
  else if (session != nullptr)
    AnnounceExempt(session);
}

void RefuseTellingWrite() { RefuseDpOnly(SessionToJudge(), DpOnlyRefusal::kTellsByWriting); }

void JudgeRead(Oid relation) {
  const RoleClass role = PrincipalClass();
  if (LabelJudges(role) && TreeIsProtected(relation)) RecordProtectedRead(role);
}

}  // namespace privacy_score

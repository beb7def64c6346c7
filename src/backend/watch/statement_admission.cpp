/*
 * statement_admission.cpp - see statement_admission.hpp.
 */
#include "backend/watch/statement_admission.hpp"

extern "C" {
#include "miscadmin.h"
}

#include "backend/server/core_call.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/watch/enforce.hpp"
#include "backend/watch/session_scorer.hpp"

namespace privacy_score {

namespace {

// How long a statement may wait for its exact score before it is judged by what is known.
constexpr int64 kPatience = 3 * USECS_PER_SEC;

// What is known of the role's sum of the day that mode enforce goes by, without the next statement: an upper bound,
// exact when it awaits no rate and no session of the role holds anything that the worker has not counted; below zero
// when nothing is known yet.
double DayBound(DatabaseSlot* slot, LiveSession* session, bool* exact) {
  SpinLockAcquire(&session->mutex);
  const double known = session->day_enforced >= 0 ? session->day_enforced : session->day_bound;
  *exact = session->day_enforced >= 0;
  SpinLockRelease(&session->mutex);
  if (known < 0) return known;
  double bound = known;
  LWLockAcquire(slot->lock, LW_SHARED);
  for (LiveSession* other = slot->sessions; other != nullptr; other = other->next) {
    SpinLockAcquire(&other->mutex);
    if (other->role == session->role && other->day == session->day &&
        strcmp(EndUserOf(other), EndUserOf(session)) == 0) {
      bound += other->risen.enforced - (*exact ? other->counted_rise.enforced : other->bounded_rise);
      if (other != session) bound += other->reserved;
    }
    SpinLockRelease(&other->mutex);
  }
  LWLockRelease(slot->lock);
  *exact = *exact && bound <= known;
  return bound;
}

// Waits a moment for the worker to compute rates or a model. Raises when the statement is cancelled.
void WaitForWorker(DatabaseSlot* slot, const LiveSession* session) {
  SendMissingRates(slot);
  EnsureWorker(slot);
  WakeWorker(slot);
  ConditionVariablePrepareToSleep(&slot->flushed);
  ConditionVariableTimedSleep(&slot->flushed, 20, WaitEventOf(OwnWait::kScore));
  ConditionVariableCancelSleep();
  RefreshModel(slot, session);
}

// In enforce mode: raises unless the statement keeps the limits, by a model that reflects a change. Nothing has been
// counted yet.
void Admit(DatabaseSlot* slot, LiveSession* session, int64 id, bool defined, uint64 change) {
  const auto refuse_fault = [session](const char* why) {
    OutsideSession(session, [session, why] { RefuseFault(session, why); });
  };
  if (!defined || IsUnparsed(id)) refuse_fault("It could not be abstracted.");
  TimestampTz deadline = 0;
  for (;;) {
    const SessionLimits limits = LimitsInForce(session);
    if (!AnyLimitSet(limits)) return;
    if (deadline == 0) deadline = GetCurrentTimestamp() + kPatience;
    LiveScorer::Weighed weighed;
    CoreError error;
    if (!CallCore(&error, [&] { weighed = ps_local.scorer->scorer.Weigh(id); })) {
      CountScoringError(error.message);
      refuse_fault("It could not be scored.");
      return;
    }
    bool day_exact = true;
    double day = 0;
    if (limits.daily >= 0 && weighed.adds) {
      ReserveRise(session, weighed.rise);
      day = DayBound(slot, session, &day_exact);
    }
    PassedLimit passed;
    const bool passes = WouldPassLimit(weighed, day, limits, &passed);
    const bool known = ModelReflects(change) && day >= 0;
    if (known && !passes) return;
    ReserveRise(session, 0);
    const bool exact = known && day_exact && !weighed.estimated;
    if (exact || GetCurrentTimestamp() > deadline) {
      if (!known) {
        refuse_fault("The background worker has not answered in time.");
        return;
      }
      if (!CallCore(&error, [&] { ps_local.scorer->explanation = ps_local.scorer->scorer.ExplainStatement(id); }))
        CountScoringError(error.message);
      OutsideSession(session, [&] { RefuseAboveLimit(session, passed, id, !exact, ps_local.scorer->explanation); });
      return;
    }
    OutsideSession(session, [slot, session] { WaitForWorker(slot, session); });
    TakeEndUserLimits(session);
    // A new model need not have the abstractions of the one before: they were those of its baselines.
    if (!DefineInScorer(id)) refuse_fault("It could not be abstracted.");
  }
}

}  // namespace

void ReserveRise(LiveSession* session, double rise) {
  SpinLockAcquire(&session->mutex);
  session->reserved = rise;
  SpinLockRelease(&session->mutex);
}

bool AppendAdmitted(DatabaseSlot* slot, LiveSession* session, int64 id, bool defined, uint64 change) {
  constexpr int kMostMilliseconds = 3000;
  TimestampTz deadline = 0;
  for (;;) {
    Admit(slot, session, id, defined, change);
    if (SendTokens(session, id) && AppendEvent(session, id, nullptr)) return true;
    const TimestampTz now = GetCurrentTimestamp();
    if (deadline == 0) deadline = TimestampTzPlusMilliseconds(now, kMostMilliseconds);
    if (now > deadline) return false;
    OutsideSession(session, [slot] { WaitForRoom(slot); });
  }
}

}  // namespace privacy_score

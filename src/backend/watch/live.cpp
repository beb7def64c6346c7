/*
 * live.cpp - the watched session of this backend (see live.hpp).
 *
 * The scorer is a C++ object that lives as long as the process; it is touched only inside CallCore. The session lives
 * in shared memory (shared_state.hpp) and belongs to this backend until it is closed.
 */
#include "backend/watch/live.hpp"

extern "C" {
#include "access/xact.h"
#include "miscadmin.h"
}

#include <algorithm>

#include "backend/catalog/subject_key.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/query/remembered_abstractions.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/state/end_user.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/rate_requests.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/shared_state.hpp"
#include "backend/state/told_days.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/enforce.hpp"

using privacy_score::LiveScorer;
using privacy_score::SessionSummary;

Local ps_local;

namespace {

// Makes the scorer of this connection's sessions that of the role, or gives it the settings in force; starts a new
// session in it.
bool RestartScorer(const LiveSession* session) {
  const Oid role = session->role;
  const char* name = NameStr(session->role_name);
  const char* end_user = EndUserOf(session);
  const privacy_score::ScoreSettings settings = session->settings;
  CoreError error;
  const bool done = CallCore(&error, [&] {
    if (ps_local.own == nullptr || ps_local.own_role != role) {
      delete ps_local.own;
      ps_local.own = nullptr;
      ps_local.own = new LocalScorer(settings, name, end_user);
    }
    ps_local.own->scorer.Restart();  // first: what the session has had need not be scored once more
    ps_local.own->scorer.Configure(settings, end_user);
  });
  ps_local.own_role = role;
  ps_local.scorer = ps_local.own;
  if (!done) CountScoringError(error.message);
  return done;
}

// A new model comes with what may be a new key of subjects; where the database has none nobody adds up its days.
void FollowSubjectKey(LocalScorer* local, bool changed) {
  if (changed) ForgetSubjectKey();
  local->scorer.TellDay(SubjectKeyInForce().kept ? &local->told : nullptr);
}

// Loads the model in force into the scorer when there is a newer one.
void RefreshModel(DatabaseSlot* slot, const LiveSession* session) {
  LocalScorer* local = ps_local.scorer;
  // What a model of this version, or of one before, reflects.
  const uint64 reflected = slot->model_built_for;
  pg_read_barrier();
  const uint64 version = pg_atomic_read_u64(&slot->model_version);
  if (version == local->model_version) local->model_built_for = reflected;
  if (version == local->model_version || version == 0) return;
  if (ShareModel(local, session->role, version)) {
    FollowSubjectKey(local, false);
    return;
  }
  LWLockAcquire(slot->lock, LW_SHARED);
  const uint64 held = pg_atomic_read_u64(&slot->model_version);
  const uint64 built_for = slot->model_built_for;
  const Size length = static_cast<Size>(slot->model_length);
  char* copy = static_cast<char*>(
      MemoryContextAllocExtended(CurrentMemoryContext, length + 1, MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE));
  if (copy != nullptr && length > 0) memcpy(copy, dsa_get_address(SharedArea(), slot->model), length);
  LWLockRelease(slot->lock);
  CoreError error;
  if (copy == nullptr || !CallCore(&error, [&] { local->scorer.Load({copy, length}); }))
    CountScoringError(copy == nullptr ? "out of memory" : error.message);
  else {
    local->model_version = held;
    local->model_built_for = built_for;
    FollowSubjectKey(local, true);
  }
  if (copy != nullptr) pfree(copy);
  GiveBackMemory();
}

// Hands the rates that the scorer missed to the worker. What has no room is asked for again when the next model has
// been loaded.
void SendMissingRates(DatabaseSlot* slot) {
  static AskedShare asked;
  CoreError error;
  std::size_t count = 0;
  if (!CallCore(&error, [&] {
        ps_local.scorer->missing = ps_local.scorer->scorer.TakeMissing();
        count = ps_local.scorer->missing.size();
      }))
    return;
  if (count == 0) return;
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  for (std::size_t i = 0; i < count; ++i) {
    const privacy_score::MissingRate& rate = ps_local.scorer->missing[i];
    if (!AskForRate(slot, rate.relation, rate.attributes, &asked)) break;
    ++slot->missing_count;
  }
  LWLockRelease(slot->lock);
  WakeWorker(slot);
}

// Announces once a session what has become of the name of an end user.
void TellOfEndUser(LiveSession* session, EndUserFault fault) {
  const char* cause = "";
  if (fault == EndUserFault::kIgnored)
    cause = "ignored";
  else if (strcmp(EndUserOf(session), kOverflowEndUser) == 0)
    cause = "overflow";
  else if (fault == EndUserFault::kInvalid)
    cause = "invalid";
  else
    return;
  if (!AnnounceEndUser(session, cause) || fault != EndUserFault::kIgnored) return;
  ereport(WARNING, (errmsg("the name of an end user is ignored: role \"%s\" does not speak for others",
                           GetUserNameFromId(GetSessionUserId(), true)),
                    errhint("Only a superuser labels a role \"gateway\". What this session does counts for its role."),
                    errhidestmt(true), errhidecontext(true)));
}

// The session of the principal at this moment, opened when there is none; null when there is no room.
LiveSession* CurrentSession(TimestampTz now, EndUserFault* fault) {
  const Oid role = PrincipalOf();
  const EndUser end_user = EndUserNow();
  *fault = end_user.fault;
  ps_own.asks_for_nobody = !SpeaksForOthers();
  CutSession(role, end_user.name, now);
  if (OwnSession() != nullptr) return OwnSession();
  if (IsOverAll(end_user.name)) {
    LiveSession* session = AttachToPrincipal(role, end_user.name, now);
    if (session != nullptr || end_user.name[0] != '\0') return session;
  }
  LiveSession* session = OpenSession(role, end_user.name, now);
  if (session == nullptr || RestartScorer(session)) return session;
  CloseSession();
  return nullptr;
}

// The newest of the changes up to a number, the last one that is announced, that concerns a statement of the session;
// 0 when the scorer's model reflects all of them.
uint64 ChangeToWaitFor(DatabaseSlot* slot, const LiveSession* session, int64 id, uint64 changes) {
  if (ps_local.scorer->model_built_for >= changes) return 0;
  uint64 newest = changes;
  CoreError error;
  if (!CallCore(&error, [&] {
        newest = std::min(newest, NewestChange(slot, NameStr(session->role_name), ps_local.tokens->at(id)));
      }))
    CountScoringError(error.message);
  return newest;
}

// Whether the scorer has a model that reflects a change.
bool ModelReflects(uint64 change) {
  return ps_local.scorer->model_version != 0 && ps_local.scorer->model_built_for >= change;
}

// Raises the alerts that are due, with the explanation of the last n-gram.
void AlertOnLimits(LiveSession* session, double rise) {
  PassedLimit passed[kAlertKinds];
  const int count = TakePassedLimits(session, ps_local.scorer->scorer.summary(), rise, passed);
  if (count == 0) return;
  CoreError error;
  if (!CallCore(&error, [&] { ps_local.scorer->explanation = ps_local.scorer->scorer.LastExplanation(); }))
    CountScoringError(error.message);
  for (int i = 0; i < count; ++i)
    RaiseAlert(session, passed[i], false, ps_local.scorer->explanation.data(), ps_local.scorer->explanation.size());
  AwaitAlerts(session);
  for (int i = 0; i < count && session->warn; ++i) WarnClient(passed[i]);
}

// From where on figures of the session's reach are too great, of those of which nobody was told. Other processes set no
// such alert.
privacy_score::ReachLimits UntoldLimits(const LiveSession* session) {
  privacy_score::ReachLimits limits = ps_local.scorer->scorer.LeastOutOfReach(ps_settings.reach_factor);
  for (std::size_t figure = 0; figure < limits.size(); ++figure)
    if ((session->alerted & ReachAlertOf(static_cast<int>(figure))) != 0)
      limits[figure] = privacy_score::kNeverOutOfReach;
  return limits;
}

// Raises an alert for each figure of the session's reach that is too great for the first time.
void AlertOnReach(LiveSession* session) {
  const double factor = ps_settings.reach_factor;
  CoreError error;
  if (!CallCore(&error, [&] { ps_local.scorer->excesses = ps_local.scorer->scorer.OutOfReach(factor); }))
    CountScoringError(error.message);
  PassedLimit raised[privacy_score::kReachFigureCount];
  std::size_t raised_count = 0;
  const std::size_t count = ps_local.scorer->excesses.size();
  for (std::size_t i = 0; i < count; ++i) {
    const privacy_score::ReachExcess excess = ps_local.scorer->excesses[i];
    const PassedLimit passed = {ReachAlertOf(excess.figure), static_cast<double>(excess.value), excess.limit};
    if (!TakeReachAlert(session, passed.kind)) continue;
    if (!CallCore(&error, [&] { ps_local.scorer->explanation = ReachExcessJson(excess, factor); }))
      CountScoringError(error.message);
    RaiseAlert(session, passed, false, ps_local.scorer->explanation.data(), ps_local.scorer->explanation.size());
    raised[raised_count++] = passed;
  }
  if (raised_count == 0) return;
  AwaitAlerts(session);
  for (std::size_t i = 0; i < raised_count && session->warn; ++i) WarnClient(raised[i]);
}

// Tells the client what the worker found when it corrected a score.
void DeliverWarnings(LiveSession* session) {
  PassedLimit passed[kMostUnwarned];
  SpinLockAcquire(&session->mutex);
  const int count = session->unwarned_count;
  memcpy(passed, session->unwarned, sizeof passed);
  session->unwarned_count = 0;
  SpinLockRelease(&session->mutex);
  if (count > 0) AwaitAlerts(session);
  for (int i = 0; i < count; ++i) WarnClient(passed[i]);
}

// The moment of an event: for the first of what the client has sent, that in which this arrived; for those that follow,
// in a function or a list of statements, what the clock says.
TimestampTz MomentOfEvent() {
  const TimestampTz start = GetCurrentStatementStartTimestamp();
  if (start == ps_local.last_start) return GetCurrentTimestamp();
  ps_local.last_start = start;
  return start;
}

// Gives the scorer the tokens of an abstraction that it does not know yet.
bool DefineInScorer(int64 id) {
  CoreError error;
  if (CallCore(&error, [&] {
        LiveScorer& scorer = ps_local.scorer->scorer;
        if (scorer.Knows(id)) return;
        scorer.Define(id, SplitTokens(ps_local.tokens->at(id)));
      }))
    return true;
  CountScoringError(error.message);
  return false;
}

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

// How long a statement may wait for its exact score before it is judged by what is known.
constexpr int64 kPatience = 3 * USECS_PER_SEC;

// Lets the other sessions of the role know what is about to be let pass, so that no two of them pass a limit of the day
// at once; 0: nothing.
void Reserve(LiveSession* session, double rise) {
  SpinLockAcquire(&session->mutex);
  session->reserved = rise;
  SpinLockRelease(&session->mutex);
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
      Reserve(session, weighed.rise);
      day = DayBound(slot, session, &day_exact);
    }
    PassedLimit passed;
    const bool passes = WouldPassLimit(weighed, day, limits, &passed);
    const bool known = ModelReflects(change) && day >= 0;
    if (known && !passes) return;
    Reserve(session, 0);
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

// Counts a statement that mode enforce lets pass; false when there is no room, however long it waits for the worker to
// make some. What others do meanwhile may change whether it passes.
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

}  // namespace

// Most of what follows is nothing for a statement that repeats: no clock is read, no memory allocated, and the only
// lock is the session's own, for the stores of AppendEvent. live_repeat.cpp has what is left of it.
// `may_refuse`: the statement can be refused, by an alarm or, where that is `enforcing`, by limits.
static void Record(int64 id, const privacy_score::BoundConstants& constants, bool may_refuse) {
  if (id == 0) return;
  const bool enforcing = may_refuse && Enforcing();
  const TimestampTz now = MomentOfEvent();
  CountEvent();
  DatabaseSlot* slot = SlotOfDatabase(true);
  EndUserFault fault = EndUserFault::kNone;
  LiveSession* session = slot == nullptr ? nullptr : CurrentSession(now, &fault);
  if (session == nullptr) {
    pg_atomic_fetch_add_u64(&ps_shared->dropped, 1);
    if (enforcing) RefuseFault(nullptr, "There is no room in shared memory to record it.");
    return;
  }
  const uint64 changes = pg_atomic_read_u64(&slot->model_wanted);
  RefreshModel(slot, session);
  const uint64 change = ChangeToWaitFor(slot, session, id, changes);
  LiveScorer& scorer = ps_local.scorer->scorer;
  TakeEndUserLimits(session);
  EnterSession(session);
  bool defined = scorer.Repeats(id) || DefineInScorer(id);
  bool fits = true;
  bool appended = true;
  if (may_refuse && AddsToAlarm(session, id, defined)) OutsideSession(session, [session] { RefuseUnusual(session); });
  if (enforcing) {
    fits = AppendAdmitted(slot, session, id, defined, change);
    if (!fits) {
      Reserve(session, 0);
      OutsideSession(session, [session] { RefuseForRoom(session); });
    }
  } else {
    fits = SendTokens(session, id);
    // Without a chunk at hand it shows before the event is scored whether there is room for it.
    appended = fits && !HasSpare(session);
    if (appended) fits = AppendEvent(session, id, nullptr);
  }
  const int64 counted = fits ? id : AppendUnparsed(session);
  if (!fits) {
    appended = true;
    defined = DefineInScorer(counted);
  }
  const Rise before = {scorer.summary().score, scorer.summary().statement_score};
  CoreError error;
  const bool scored =
      defined && CallCore(&error, [&] { scorer.Observe(counted, fits ? constants : privacy_score::BoundConstants{}); });
  if (defined && !scored) CountScoringError(error.message);
  const bool current = ModelReflects(change);
  const SessionSummary& summary = scorer.summary();
  const Rise rise = {summary.score - before.score, summary.statement_score - before.enforced};
  const EventFigures figures = {counted, now, &summary, &scorer.reach(), rise, current, ps_local.scorer->model_version,
                                changes};
  if (!appended)
    AppendEvent(session, id, scored ? &figures : nullptr);
  else if (scored)
    PublishFigures(session, figures);
  LeaveSession(session);
  TellOfEndUser(session, fault);
  if (!fits) AnnounceNoRoom(session);
  if (!enforcing && IsUnparsed(id)) AnnounceFault(session);
  if (!scored) return;
  if (scorer.IsMissingRates()) SendMissingRates(slot);
  EnsureWorker(slot);
  if (session->unwarned_count > 0) DeliverWarnings(session);
  if (!summary.estimated && current && session->limits.Any()) AlertOnLimits(session, rise.score);
  if (current) JudgeReach(session);
  // Afterwards: what the session is told of itself, the worker need not say of its day.
  SendTold(session);
}

void RecordEvent(int64 id, const privacy_score::BoundConstants& constants) { Record(id, constants, true); }

void TellClient() {
  LiveSession* session = OwnSession();
  if (session != nullptr && session->unwarned_count > 0) DeliverWarnings(session);
}

void RecordShown(int64 id, const privacy_score::BoundConstants& constants) { Record(id, constants, false); }

void JudgeReach(LiveSession* session) {
  ps_own.reach_judged_below = UntoldLimits(session);
  if (!MayBeOutOfReach(ps_local.scorer->scorer.reach())) return;
  AlertOnReach(session);
  ps_own.reach_judged_below = UntoldLimits(session);
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

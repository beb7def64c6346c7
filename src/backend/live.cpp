/*
 * live.cpp - the watched session of this backend (see live.hpp).
 *
 * The scorer is a C++ object that lives as long as the process; it is touched only inside CallCore. The session lives
 * in shared memory (shared_state.hpp) and belongs to this backend until it is closed.
 */
#include "live.hpp"

extern "C" {
#include "utils/memutils.h"
#include "utils/wait_event.h"
}

#include <string>
#include <unordered_map>

#include "core/abstraction.hpp"
#include "core/live_scorer.hpp"
#include "core_call.hpp"
#include "enforce.hpp"
#include "limits.hpp"
#include "live_session.hpp"
#include "protected_reads.hpp"
#include "settings.hpp"
#include "shared_state.hpp"
#include "watching.hpp"

using privacy_score::LiveScorer;
using privacy_score::SessionSummary;

namespace {

// Whether this is the abstraction of what could not be abstracted.
bool IsUnparsed(int64 id) {
  static int64 unparsed = 0;
  CoreError error;
  if (unparsed == 0) CallCore(&error, [] { unparsed = privacy_score::Fingerprint({"unparsed"}); });
  return id == unparsed;
}

// What this backend knows about one principal, on the C++ heap.
struct LocalScorer {
  explicit LocalScorer(const privacy_score::ScoreSettings& settings, const char* role) : scorer(role, settings) {}
  LiveScorer scorer;
  std::vector<std::string> missing;
  std::string explanation = "{}";
  std::vector<privacy_score::ReachExcess> excesses;
};

struct Local {
  bool error_logged;
  uint64 model_version;  // that the scorer has loaded
  Oid scorer_role;
  LocalScorer* scorer;
  std::unordered_map<int64, std::string>* tokens;  // joined by kTokenEnd, of all met in this process
};

Local local;

// Makes the scorer of the session's role, or gives it the settings in force; starts a new session in it.
bool RestartScorer(const LiveSession* session) {
  const Oid role = session->role;
  const char* name = NameStr(session->role_name);
  const privacy_score::ScoreSettings settings = session->settings;
  CoreError error;
  const bool done = CallCore(&error, [&] {
    if (local.scorer == nullptr || local.scorer_role != role) {
      delete local.scorer;
      local.scorer = nullptr;
      local.scorer = new LocalScorer(settings, name);
      local.model_version = 0;
    }
    local.scorer->scorer.Configure(settings);
    local.scorer->scorer.Restart();
  });
  local.scorer_role = role;
  if (!done) CountScoringError(error.message);
  return done;
}

// Loads the model in force into the scorer when there is a newer one.
void RefreshModel(DatabaseSlot* slot) {
  const uint64 version = pg_atomic_read_u64(&slot->model_version);
  if (version == local.model_version || version == 0) return;
  LWLockAcquire(slot->lock, LW_SHARED);
  const uint64 held = pg_atomic_read_u64(&slot->model_version);
  const Size length = static_cast<Size>(slot->model_length);
  char* copy = static_cast<char*>(
      MemoryContextAllocExtended(CurrentMemoryContext, length + 1, MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE));
  if (copy != nullptr && length > 0) memcpy(copy, dsa_get_address(SharedArea(), slot->model), length);
  LWLockRelease(slot->lock);
  CoreError error;
  if (copy == nullptr || !CallCore(&error, [&] { local.scorer->scorer.Load({copy, length}); }))
    CountScoringError(copy == nullptr ? "out of memory" : error.message);
  else
    local.model_version = held;
  if (copy != nullptr) pfree(copy);
}

// Hands the rates that the scorer missed to the worker. The list is bounded: what does not fit is asked for again when
// the next model has been loaded.
void SendMissingRates(DatabaseSlot* slot) {
  constexpr int kMostMissing = 20000;
  CoreError error;
  std::size_t count = 0;
  if (!CallCore(&error, [&] {
        local.scorer->missing.clear();
        for (const auto& rate : local.scorer->scorer.TakeMissing())
          local.scorer->missing.push_back(rate.relation + '\0' + rate.attributes);
        count = local.scorer->missing.size();
      }))
    return;
  if (count == 0) return;
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  for (std::size_t i = 0; i < count && slot->missing_count < kMostMissing; ++i) {
    const std::string& text = local.scorer->missing[i];
    const dsa_pointer pointer = AllocateShared(offsetof(MissingRateNode, text) + text.size());
    if (!DsaPointerIsValid(pointer)) break;
    auto* node = SharedAt<MissingRateNode>(pointer);
    node->length = static_cast<int32>(text.size());
    memcpy(node->text, text.data(), text.size());
    node->next = slot->missing_rates;
    slot->missing_rates = pointer;
    ++slot->missing_count;
  }
  LWLockRelease(slot->lock);
  WakeWorker(slot);
}

// The session of the principal at this moment, opened when there is none; null when there is no room.
LiveSession* CurrentSession(TimestampTz now) {
  const Oid role = PrincipalOf();
  CutSession(role, now);
  if (OwnSession() != nullptr) return OwnSession();
  LiveSession* session = OpenSession(role, now);
  if (session == nullptr || RestartScorer(session)) return session;
  CloseSession();
  return nullptr;
}

// Sends the tokens of an abstraction with the first event of the session that has it.
bool SendTokens(LiveSession* session, int64 id) {
  if (DefinitionSent(id)) return true;
  const std::string* text = nullptr;
  CoreError error;
  return CallCore(&error, [&] { text = &local.tokens->at(id); }) && SendDefinition(session, id, *text);
}

// Whether the scorer has the model that declarations and baselines ask for now.
bool ModelIsCurrent(DatabaseSlot* slot) {
  return local.model_version != 0 && local.model_version == pg_atomic_read_u64(&slot->model_version) &&
         pg_atomic_read_u64(&slot->model_wanted) == slot->model_built_for;
}

// The constants of an execution for core. What is damaged or too much is not counted.
void ReadConstants(const EventConstants& event, privacy_score::ExecutionConstants* constants) {
  if (event.plan.count == 0) return;
  *constants = privacy_score::Resolve(event.plan.words, static_cast<std::size_t>(event.plan.count), event.parameters,
                                      static_cast<std::size_t>(event.parameter_count));
}

// `current`: with the model in force; else the worker scores the session again when it has built that.
void PublishSummary(LiveSession* session, const SessionSummary& summary, double rise, bool current, int64 id,
                    TimestampTz now) {
  const privacy_score::ReachFigures reach = local.scorer->scorer.reach();
  SpinLockAcquire(&session->mutex);
  session->risen += Max(rise, 0);
  session->reach = reach;
  session->reach_known = local.model_version != 0;
  session->summary = summary;
  session->summary.estimated |= !current;
  session->model_version = current ? local.model_version : 0;
  session->last_id = id;
  session->last_at = now;
  session->limits = LimitsInForce();
  session->warn = ModeInForce() != WatchMode::kObserve;
  SpinLockRelease(&session->mutex);
}

// Raises the alerts that are due, with the explanation of the last n-gram.
void AlertOnLimits(LiveSession* session, double rise) {
  PassedLimit passed[kAlertKinds];
  const int count = TakePassedLimits(session, rise, passed);
  if (count == 0) return;
  CoreError error;
  if (!CallCore(&error, [&] { local.scorer->explanation = local.scorer->scorer.LastExplanation(); }))
    CountScoringError(error.message);
  for (int i = 0; i < count; ++i)
    RaiseAlert(session, passed[i], false, local.scorer->explanation.data(), local.scorer->explanation.size());
  AwaitAlerts(session);
  for (int i = 0; i < count && session->warn; ++i) WarnClient(passed[i]);
}

// Raises an alert for each figure of the session's reach that is too great for the first time.
void AlertOnReach(LiveSession* session) {
  constexpr AlertKind kKinds[privacy_score::kReachFigureCount] = {kAlertReach, kAlertSubjects, kAlertSubjectColumns};
  const double factor = ps_settings.reach_factor;
  CoreError error;
  if (!CallCore(&error, [&] { local.scorer->excesses = local.scorer->scorer.OutOfReach(factor); }))
    CountScoringError(error.message);
  const std::size_t count = local.scorer->excesses.size();
  for (std::size_t i = 0; i < count; ++i) {
    const privacy_score::ReachExcess excess = local.scorer->excesses[i];
    const PassedLimit passed = {kKinds[excess.figure], static_cast<double>(excess.value), excess.limit};
    if (!TakeReachAlert(session, passed.kind)) continue;
    if (!CallCore(&error, [&] { local.scorer->explanation = ReachExcessJson(excess, factor); }))
      CountScoringError(error.message);
    RaiseAlert(session, passed, false, local.scorer->explanation.data(), local.scorer->explanation.size());
    if (session->warn) WarnClient(passed);
  }
}

// Tells the client what the worker found when it corrected a score.
void DeliverWarnings(LiveSession* session) {
  PassedLimit passed[kAlertKinds];
  SpinLockAcquire(&session->mutex);
  const int count = session->unwarned_count;
  memcpy(passed, session->unwarned, sizeof passed);
  session->unwarned_count = 0;
  SpinLockRelease(&session->mutex);
  if (count > 0) AwaitAlerts(session);
  for (int i = 0; i < count; ++i) WarnClient(passed[i]);
}

// Gives the scorer the tokens of an abstraction that it does not know yet.
bool DefineInScorer(int64 id) {
  CoreError error;
  if (CallCore(&error, [&] {
        LiveScorer& scorer = local.scorer->scorer;
        if (scorer.Knows(id)) return;
        scorer.Define(id, SplitTokens(local.tokens->at(id)));
      }))
    return true;
  CountScoringError(error.message);
  return false;
}

// What is known of the role's score of the day without the next statement: an upper bound, exact when no session of the
// role holds anything that the worker has not counted; below zero when nothing is known yet.
double DayBound(DatabaseSlot* slot, const LiveSession* session, bool* exact) {
  double bound = session->day_score;
  *exact = bound >= 0;
  LWLockAcquire(slot->lock, LW_SHARED);
  for (dsa_pointer at = slot->sessions; *exact && DsaPointerIsValid(at);) {
    auto* other = SharedAt<LiveSession>(at);
    SpinLockAcquire(&other->mutex);
    if (other->role == session->role && other->day == session->day) bound += other->risen - other->counted_rise;
    SpinLockRelease(&other->mutex);
    at = other->next;
  }
  LWLockRelease(slot->lock);
  *exact = *exact && bound <= session->day_score;
  return bound;
}

// Waits a moment for the worker to compute rates or a model. Raises when the statement is cancelled.
void WaitForWorker(DatabaseSlot* slot) {
  SendMissingRates(slot);
  EnsureWorker(slot);
  WakeWorker(slot);
  ConditionVariablePrepareToSleep(&slot->flushed);
  ConditionVariableTimedSleep(&slot->flushed, 20, PG_WAIT_EXTENSION);
  ConditionVariableCancelSleep();
  RefreshModel(slot);
}

// How long a statement may wait for its exact score before it is judged by what is known.
constexpr int64 kPatience = 3 * USECS_PER_SEC;

// In enforce mode: raises unless the statement keeps the limits. Nothing has been counted yet.
void Admit(DatabaseSlot* slot, LiveSession* session, int64 id, bool defined) {
  if (!defined || IsUnparsed(id)) RefuseFault(session, "It could not be abstracted.");
  if (!AnyLimitSet()) return;
  const TimestampTz deadline = GetCurrentTimestamp() + kPatience;
  for (;;) {
    SessionSummary would_be;
    double rise = 0;
    CoreError error;
    if (!CallCore(&error, [&] {
          would_be = local.scorer->scorer.WouldBe(id);
          rise = would_be.score - local.scorer->scorer.summary().score;
        })) {
      CountScoringError(error.message);
      RefuseFault(session, "It could not be scored.");
      return;
    }
    bool day_exact = true;
    const double day = ps_settings.daily_limit < 0 ? 0 : DayBound(slot, session, &day_exact);
    PassedLimit passed;
    const bool passes = WouldPassLimit(would_be, rise, day, &passed);
    const bool known = ModelIsCurrent(slot) && day >= 0;
    if (known && !passes) return;
    const bool exact = known && day_exact && !would_be.estimated;
    if (exact || GetCurrentTimestamp() > deadline) {
      if (!known) {
        RefuseFault(session, "The background worker has not answered in time.");
        return;
      }
      if (!CallCore(&error, [&] { local.scorer->explanation = local.scorer->scorer.WouldBeExplained(id); }))
        CountScoringError(error.message);
      RefuseAboveLimit(session, passed, id, !exact, local.scorer->explanation);
      return;
    }
    WaitForWorker(slot);
  }
}

}  // namespace

int64 DefineAbstraction(const privacy_score::Statement& statement) {
  int64 id = 0;
  const auto define = [&](const privacy_score::Tokens& tokens) {
    id = privacy_score::Fingerprint(tokens);
    if (local.tokens == nullptr) local.tokens = new std::unordered_map<int64, std::string>();
    if (id == 0 || local.tokens->count(id) != 0) return;
    std::string text;
    for (const auto& token : tokens) {
      if (!text.empty()) text += kTokenEnd;
      text += token;
    }
    local.tokens->emplace(id, std::move(text));
  };
  CoreError error;
  if (CallCore(&error, [&] { define(privacy_score::Abstract(statement)); })) return id;
  CountScoringError(error.message);
  CallCore(&error, [&] { define({"unparsed"}); });
  return id;
}

void RecordEvent(int64 id, const EventConstants& constants) {
  if (id == 0) return;
  const TimestampTz now = GetCurrentTimestamp();
  pg_atomic_fetch_add_u64(&ps_shared->events, 1);
  DatabaseSlot* slot = SlotOfDatabase(true);
  LiveSession* session = slot == nullptr ? nullptr : CurrentSession(now);
  if (session == nullptr) {
    pg_atomic_fetch_add_u64(&ps_shared->dropped, 1);
    if (Enforcing()) RefuseFault(nullptr, "There is no room in shared memory to record it.");
    return;
  }
  RefreshModel(slot);
  const bool defined = DefineInScorer(id);
  if (Enforcing()) Admit(slot, session, id, defined);
  if (!SendTokens(session, id) || !AppendEvent(session, id)) {
    pg_atomic_fetch_add_u64(&ps_shared->dropped, 1);
    if (Enforcing()) RefuseFault(session, "There is no room in shared memory to record it.");
  }
  SessionSummary summary = {};
  double before = 0;
  CoreError error;
  const bool scored = defined && CallCore(&error, [&] {
                        LiveScorer& scorer = local.scorer->scorer;
                        before = scorer.summary().score;
                        privacy_score::ExecutionConstants resolved;
                        ReadConstants(constants, &resolved);
                        scorer.Observe(id, resolved);
                        summary = scorer.summary();
                      });
  if (!scored) {
    if (defined) CountScoringError(error.message);
    return;
  }
  const bool current = ModelIsCurrent(slot);
  PublishSummary(session, summary, summary.score - before, current, id, now);
  SendMissingRates(slot);
  EnsureWorker(slot);
  DeliverWarnings(session);
  if (!summary.estimated && current) AlertOnLimits(session, summary.score - before);
  if (current) AlertOnReach(session);
}

bool LabelJudges(RoleClass role) {
  if (role == RoleClass::kDpOnly) return true;
  return role == RoleClass::kExempt && (OwnSession() == nullptr || (OwnSession()->alerted & kAlertExempt) == 0);
}

void RecordProtectedRead(RoleClass role) {
  DatabaseSlot* slot = SlotOfDatabase(true);
  LiveSession* session = slot == nullptr ? nullptr : CurrentSession(GetCurrentTimestamp());
  if (slot != nullptr) EnsureWorker(slot);
  if (role == RoleClass::kDpOnly)
    RefuseDpOnly(session);
  else if (session != nullptr)
    AnnounceExempt(session);
}

void JudgeRead(Oid relation) {
  const RoleClass role = PrincipalClass();
  if (LabelJudges(role) && RelationIsProtected(relation)) RecordProtectedRead(role);
}

void RecordRows(int64 id, int64 rows) {
  LiveSession* session = OwnSession();
  if (id == 0 || rows == 0 || session == nullptr) return;
  if (!AppendRows(session, id, rows)) pg_atomic_fetch_add_u64(&ps_shared->dropped, 1);
}

void CountScoringError(const char* what) {
  if (ps_shared != nullptr) pg_atomic_fetch_add_u64(&ps_shared->scoring_errors, 1);
  if (local.error_logged) return;
  local.error_logged = true;
  ereport(LOG, (errmsg("could not score a statement: %s", what), errhidestmt(true), errhidecontext(true)));
}

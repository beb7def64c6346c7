/*
 * worker.cpp - life of the background worker (see worker.hpp).
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "access/xact.h"
#include "access/xlog.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/memutils.h"
}

#include "backend/rates/rate_admission.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/state/alerts.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/rate_requests.hpp"
#include "backend/state/shared_baselines.hpp"
#include "backend/worker/worker_alarms.hpp"
#include "backend/worker/worker_baselines.hpp"
#include "backend/worker/worker_standby_file.hpp"

namespace privacy_score {

extern "C" {
PGDLLEXPORT void ps_worker_main(Datum database);
}

volatile sig_atomic_t ps_computing_rates = 0;

namespace {

bool catalogs_changed = true;
bool republish = false;  // the model, even if it is the same
Oid extension_found = InvalidOid;

// What failed since the worker last got through a cycle.
struct Failures {
  int count;
  TimestampTz last_at, logged_at;
};
Failures failures;

// The worker writes what it has before it ends; a query that computes rates is cancelled for that.
void OnTerminate(int signal) {
  const int before = errno;
  SignalHandlerForShutdownRequest(signal);
  if (ps_computing_rates) {
    QueryCancelPending = true;
    InterruptPending = true;
  }
  errno = before;
}

void OnWorkerRelationChange(Datum, Oid) { catalogs_changed = true; }

// Names of relations go with their schema's.
void OnNamespaceChange(Datum, int, uint32) { catalogs_changed = true; }

// Counts the rates that are asked for. What an earlier worker or cycle had taken when it ended is asked for again by
// whoever still needs it, after a new version of the model.
void CountMissing(DatabaseSlot* slot) {
  int32 count = 0;
  ForEachAskedRate(slot, [&count](const AskedRate&) { ++count; });
  if (count < slot->missing_count) republish = true;
  slot->missing_count = count;
}

// Takes the slot for this process; false when another worker has it.
bool ClaimSlot(DatabaseSlot* slot) {
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  const bool taken = slot->worker_pid != 0;
  if (!taken) {
    CountMissing(slot);  // first: it may fail for want of memory, and then nobody would give the slot up
    slot->worker_pid = MyProcPid;
    slot->worker_procno = ProcessNumber(MyProc);
  }
  LWLockRelease(slot->lock);
  return !taken;
}

void ReleaseSlot(int code, Datum argument) {
  auto* slot = reinterpret_cast<DatabaseSlot*>(DatumGetPointer(argument));
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  if (slot->worker_pid == MyProcPid) slot->worker_pid = 0;
  // It left by itself, as when its extension was dropped: who needs the next one need not wait.
  if (code == 0) slot->worker_asked_at = 0;
  LWLockRelease(slot->lock);
  ConditionVariableBroadcast(&slot->flushed);
}

// When the worker leaves unless there is something to do again; 0: there is.
TimestampTz leaves_at = 0;

// Gives the slot up when there has been nothing to do for worker_stays. A backend that opens a session afterwards sees
// that no worker runs.
bool LeaveWhenIdle(DatabaseSlot* slot) {
  if (OnlyPrincipalsRest(slot)) {
    SaveDays(slot);
    FreeBaselines(slot, false);
  }
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  // A standby keeps the day's score in this process; a database that is dropped there does not wait for anybody.
  bool idle = OnlyPrincipalsRest(slot) && !(RecoveryInProgress() && RemembersToday()) &&
              pg_atomic_read_u64(&slot->flush_wanted) == slot->flush_done && !CalibrationGoesOn() && !KeepingIsDue();
  const TimestampTz now = GetCurrentTimestamp();
  const int64 stays = int64{ps_settings.worker_stays} * 1000;
  if (!idle) leaves_at = 0;
  // Not later because the clock was set back, or the setting has changed.
  else if (leaves_at == 0 || leaves_at > now + stays)
    leaves_at = now + stays;
  idle &= now >= leaves_at;
  if (idle) slot->worker_asked_at = slot->worker_pid = 0;
  LWLockRelease(slot->lock);
  return idle;
}

// What the catalogs say of the extension in this database.
enum class Extension { kAbsent, kOutdated, kCurrent };

Extension LookForExtension() {
  static bool told = false;
  MemoryContext outer = CurrentMemoryContext;
  auto found = Extension::kAbsent;
  StartTransactionCommand();
  extension_found = get_extension_oid("privacy_score", true);
  if (OidIsValid(extension_found)) found = ExtensionIsCurrent() ? Extension::kCurrent : Extension::kOutdated;
  CommitTransactionCommand();
  MemoryContextSwitchTo(outer);
  if (found == Extension::kOutdated && !told) ereport(LOG, (NotCurrentMessage()));
  told = found == Extension::kOutdated;
  return found;
}

// Rounds of computing rates in one cycle, each of about a second.
constexpr int kMostRounds = 3600;

// Writes what sessions have gathered; of those that began in recovery it is only remembered.
void WriteOrRemember(DatabaseSlot* slot) {
  static bool in_recovery = RecoveryInProgress();
  TakeInSessions(slot);
  if (RecoveryInProgress()) return;
  // Promoted: rates that could not be stored are computed again and stay.
  catalogs_changed |= in_recovery;
  if (in_recovery) ReadDaysAgain(slot);
  in_recovery = false;
  FlushSessions(slot);
  // Whoever waits for an alert to be written need not wait for the rest of the cycle.
  ConditionVariableBroadcast(&slot->flushed);
}

// When changes were last taken in, and when that failed.
TimestampTz followed_at = 0;
TimestampTz not_followed_at = 0;

// When something that is accepted expires next; 0: not known.
TimestampTz next_expiry = 0;

// Ends what has expired; true when the model is another one by that.
bool EndExpired() {
  if (GetCurrentTimestamp() < next_expiry || RecoveryInProgress()) return false;
  const uint64 ended = EndExpiredAcceptances(&next_expiry);
  if (ended > 0)
    ereport(LOG,
            (errmsg("privacy_score: " UINT64_FORMAT " of the accepted alerts have expired", ended), errhidestmt(true)));
  return ended > 0;
}

// Publishes a model with all that is announced, and says so.
void TakeInChanges(DatabaseSlot* slot) {
  const uint64 wanted = pg_atomic_read_u64(&slot->model_wanted);
  catalogs_changed = false;
  next_expiry = 0;
  if (!PublishModel(slot, republish)) {
    catalogs_changed = true;
    not_followed_at = GetCurrentTimestamp();
    return;
  }
  republish = false;
  FollowModelInDays(slot);
  // Rates that others have stored make a change, too.
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  if (wanted != slot->model_built_for) ++slot->rounds;
  slot->model_built_for = wanted;
  LWLockRelease(slot->lock);
}

// In microseconds, how soon changes may be taken in again, below zero when they may now: all that have come since at
// once, and not more often than history is written, or once a second. Nor is a model that does not fit built for each
// statement that waits for it. flush() does not wait.
int64 UntilFollowing(DatabaseSlot* slot) {
  const TimestampTz now = GetCurrentTimestamp();
  const int64 pause = Min(int64{ps_settings.flush_interval} * 1000, USECS_PER_SEC);
  if (now < followed_at || now < not_followed_at) return -1;  // the clock was set back
  const int64 after_failure = not_followed_at + USECS_PER_SEC - now;
  const bool asked = pg_atomic_read_u64(&slot->flush_wanted) != slot->flush_done;
  return asked ? after_failure : Max(after_failure, followed_at + pause - now);
}

// What sessions tell says something only where a model knows what is protected: the first one is made before anything
// is written.
void MakeFirstModel(DatabaseSlot* slot) {
  if (pg_atomic_read_u64(&slot->model_version) != 0 || UntilFollowing(slot) > 0) return;
  followed_at = GetCurrentTimestamp();
  TakeInChanges(slot);
}

bool ChangesWait(DatabaseSlot* slot) {
  return catalogs_changed || pg_atomic_read_u64(&slot->model_wanted) != slot->model_built_for;
}

// Takes in what has changed in declarations, baselines and rates.
void FollowModel(DatabaseSlot* slot) {
  // Who waits for this process to end, as DROP DATABASE does, waits five seconds.
  if (ShutdownRequestPending) return;
  // A rate that is out of date is a bound until it has been computed again.
  static int32 stale = -1;
  const int32 counted = CountStaleRates(slot);
  if (counted >= 0) stale = counted;
  if (stale > slot->stale_count || BaselinesAreDue()) catalogs_changed = true;
  if (EndExpired()) catalogs_changed = true;
  if (UntilFollowing(slot) <= 0 && (ChangesWait(slot) || PeriodIsOver(slot) || ReplicatedModelIsDue())) {
    followed_at = GetCurrentTimestamp();
    TakeInChanges(slot);
  }
  // Not before: rates that count as pending are bounds for everybody.
  if (stale >= 0 && !catalogs_changed) {
    LWLockAcquire(slot->lock, LW_EXCLUSIVE);
    slot->stale_count = stale;
    LWLockRelease(slot->lock);
    stale = -1;
  }
  AskForUnrevealed(slot);
  CorrectScores(slot);
}

// Runs a step in a memory context of its own: a cycle may go on for hours, and steps read much. After an error that
// goes with the context of the cycle.
template <typename Step>
void InOwnContext(Step step) {
  MemoryContext outer = CurrentMemoryContext;
  MemoryContext own = AllocSetContextCreate(outer, "privacy_score step", ALLOCSET_DEFAULT_SIZES);
  MemoryContextSwitchTo(own);
  step();
  MemoryContextSwitchTo(outer);
  MemoryContextDelete(own);
  GiveBackMemory();
}

// Tells those who have asked for it, up to this request, that all is written.
void AnswerFlush(DatabaseSlot* slot, uint64 wanted, bool written) {
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  slot->flush_done = Max(slot->flush_done, wanted);
  if (written) slot->last_flush = GetCurrentTimestamp();
  LWLockRelease(slot->lock);
  ConditionVariableBroadcast(&slot->flushed);
}

// Since when this cycle computes rates, and how long flush() waits for them: they are of whoever asks for any.
TimestampTz computing_since = 0;
constexpr int64 kFlushWaits = 5 * USECS_PER_SEC;

void AnswerFlushOfLongRound(DatabaseSlot* slot, uint64 wanted) {
  if (GetCurrentTimestamp() - computing_since > kFlushWaits) AnswerFlush(slot, wanted, !RecoveryInProgress());
}

// What goes on while another process computes.
void WriteAndFollow(DatabaseSlot* slot) {
  const uint64 wanted_flush = pg_atomic_read_u64(&slot->flush_wanted);
  InOwnContext([slot] {
    AnswerSenders(slot);
    WriteOrRemember(slot);
    FollowModel(slot);
  });
  AnswerFlushOfLongRound(slot, wanted_flush);
}

// A corrected score may need further rates, so this goes on until none is missing.
void CompleteRates(DatabaseSlot* slot) {
  bool more = true;
  computing_since = GetCurrentTimestamp();
  for (int round = 0; round < kMostRounds && more && !ShutdownRequestPending; ++round)
    InOwnContext([slot, &more] {
      const uint64 wanted_flush = pg_atomic_read_u64(&slot->flush_wanted);
      more = ComputeRound(slot, WriteAndFollow);
      if (!more) return;
      TakeInChanges(slot);
      CorrectScores(slot);
      WriteOrRemember(slot);
      AnswerFlushOfLongRound(slot, wanted_flush);
    });
  WriteOrRemember(slot);
  if (RecoveryInProgress()) return;
  ApplyRetention();
  if (KeepSubjectKey(slot)) republish = catalogs_changed = true;
}

// Whether a session of this database goes on.
bool AnyIsOpen(DatabaseSlot* slot) {
  LWLockAcquire(slot->lock, LW_SHARED);
  const LiveSession* session = slot->sessions;
  while (session != nullptr && session->closed) session = session->next;
  LWLockRelease(slot->lock);
  return session != nullptr;
}

// The last writing before the process ends: at a shutdown the sessions are ending too, so they get a moment to close.
// Those that are closed and wait for better figures would wait in vain: they are left to the next worker.
void FlushAndLeave(DatabaseSlot* slot) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    if (RecoveryInProgress() || LookForExtension() != Extension::kCurrent) break;
    const bool any_is_open = AnyIsOpen(slot);
    FlushSessions(slot);
    if (!any_is_open) break;
    Pause(OwnWait::kShutdown, 50);
  }
  SaveDays(slot);
  proc_exit(0);
}

// Longest pause after a failure, and how often a failure that stays is logged.
constexpr int kLongestPause = 30 * 1000;
constexpr int kLogAgainSeconds = 60;
// Takes in an error of a cycle: what could not be written stays sealed for the next try, delayed by what holds up.
void RecoverFromError(DatabaseSlot* slot, bool holds_up) {
  HOLD_INTERRUPTS();
  const TimestampTz now = GetCurrentTimestamp();
  ps_computing_rates = 0;
  QueryCancelPending = false;
  ConditionVariableCancelSleep();
  if (!ShutdownRequestPending) {
    if (holds_up) ++failures.count;
    failures.last_at = now;
    pg_atomic_fetch_add_u64(&ps_shared->flush_errors, 1);
    if (now - failures.logged_at > kLogAgainSeconds * USECS_PER_SEC) {
      EmitErrorReport();
      failures.logged_at = now;
    }
  }
  LWLockReleaseAll();
  // Of subtransactions too.
  AbortOutOfAnyTransaction();
  FlushErrorState();
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  CountMissing(slot);
  LWLockRelease(slot->lock);
  catalogs_changed = true;
  RESUME_INTERRUPTS();
}

// Runs one step; an error does not end the process. False after an error.
template <typename Step>
bool RunGuardedStep(Step step, DatabaseSlot* slot, bool holds_up = true) {
  MemoryContext cycle = CurrentMemoryContext;
  volatile bool done = false;
  PG_TRY();
  {
    InOwnContext([step, slot] { step(slot); });
    done = true;
  }
  PG_CATCH();
  {
    RecoverFromError(slot, holds_up);
    // The abort of the transaction leaves the context that nothing is ever freed from.
    MemoryContextSwitchTo(cycle);
  }
  PG_END_TRY();
  return done;
}

// One round: write, publish, correct, compute. What cannot be written does not keep the model from being followed.
void RunCycle(DatabaseSlot* slot) {
  const uint64 wanted_flush = pg_atomic_read_u64(&slot->flush_wanted);
  auto extension = Extension::kOutdated;
  bool done = RunGuardedStep([&extension](DatabaseSlot*) { extension = LookForExtension(); }, slot);
  if (extension == Extension::kAbsent) DiscardSessions(slot);
  ClosePrincipals(slot, extension_found);
  if (extension == Extension::kCurrent) {
    RunGuardedStep(AnswerSenders, slot, false);
    done &= RunGuardedStep(MakeFirstModel, slot);
    done &= RunGuardedStep(WriteOrRemember, slot);
    done &= RunGuardedStep([](DatabaseSlot*) { RecordStandbyFiles(); }, slot);
    done &= RunGuardedStep(FollowModel, slot);
    done = done && RunGuardedStep(CompleteRates, slot);
    done = done && RunGuardedStep(CalibrateWhenDue, slot);
    if (done) RunGuardedStep(KeepScores, slot, false);  // what is not kept is computed
  }
  if (!done) return;
  if (failures.count > 0)
    ereport(LOG, (errmsg("privacy_score worker goes on after %d failed tries", failures.count), errhidestmt(true)));
  failures = {};
  AnswerFlush(slot, wanted_flush, extension == Extension::kCurrent && !RecoveryInProgress());
}

// How long to wait for the next cycle, in milliseconds: after failures longer each time.
long PauseAfterCycle(DatabaseSlot* slot) {
  if (failures.count == 0 && (CalibrationGoesOn() || KeepingGoesOn())) return 1;
  if (failures.count == 0 && ChangesWait(slot))
    return Max(1, Min(ps_settings.flush_interval, UntilFollowing(slot) / 1000 + 1));
  if (failures.count == 0) return ps_settings.flush_interval;
  constexpr int kFirst = 1000;
  return Max(ps_settings.flush_interval, Min(kLongestPause, kFirst << Min(failures.count - 1, 10)));
}

// Not beyond the time when the worker leaves.
long AtMostUntilLeaving(long pause) {
  return leaves_at == 0 ? pause : Max(1, Min(pause, (leaves_at - GetCurrentTimestamp()) / 1000 + 1));
}

// Whether this cycle can be left out: nobody has woken the process, nothing waits for it, and it has looked a while ago
// at what nobody tells it of, such as rates that are out of date.
bool MayRest(DatabaseSlot* slot, TimestampTz cycled_at) {
  const int64 pause = Min(5 * int64{ps_settings.flush_interval}, int64{ps_settings.rate_check_interval}) * 1000;
  const TimestampTz now = GetCurrentTimestamp();
  return failures.count == 0 && !catalogs_changed && now >= cycled_at && now - cycled_at < pause &&
         !RecoveryInProgress() && !CalibrationGoesOn() && !KeepingIsDue() && !AnythingWaits(slot);
}

}  // namespace

void ps_worker_main(Datum database) {
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, OnTerminate);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  SettleWorkerSettings();
  pgstat_report_appname("privacy_score worker");
  if (ps_shared == nullptr) proc_exit(0);
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr || !ClaimSlot(slot)) proc_exit(0);
  before_shmem_exit(ReleaseSlot, PointerGetDatum(slot));
  ReclaimSlots();
  CacheRegisterRelcacheCallback(OnWorkerRelationChange, Datum(0));
  CacheRegisterSyscacheCallback(NAMESPACEOID, OnNamespaceChange, Datum(0));
  MemoryContext cycle = AllocSetContextCreate(TopMemoryContext, "privacy_score cycle", ALLOCSET_DEFAULT_SIZES);
  bool woken = true;
  TimestampTz cycled_at = 0;
  for (;;) {
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
    if (ShutdownRequestPending) FlushAndLeave(slot);
    if (ConfigReloadPending) {
      ConfigReloadPending = false;
      ProcessConfigFile(PGC_SIGHUP);
      catalogs_changed = true;  // max_rates
    }
    // Who waits for the worker wakes it, but not more than once a second after failures.
    const bool due = failures.count == 0 || GetCurrentTimestamp() - failures.last_at > USECS_PER_SEC;
    const bool cycles = due && (woken || !MayRest(slot, cycled_at));
    if (cycles) {
      cycled_at = GetCurrentTimestamp();
      MemoryContextSwitchTo(cycle);
      RunCycle(slot);
      MemoryContextSwitchTo(TopMemoryContext);
      MemoryContextReset(cycle);
      GiveBackMemory();
      pgstat_report_activity(STATE_IDLE, nullptr);
    }
    if ((cycles || leaves_at != 0) && LeaveWhenIdle(slot)) proc_exit(0);
    const long pause = AtMostUntilLeaving(due ? PauseAfterCycle(slot) : 100);
    // A request that came during the cycle has set the latch and is served at once.
    const int events =
        WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, pause, WaitEventOf(OwnWait::kWorkerMain));
    woken = (events & WL_LATCH_SET) != 0;
  }
}

}  // namespace privacy_score

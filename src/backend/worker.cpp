/*
 * worker.cpp - life of the background worker (see worker.hpp).
 */
#include "worker.hpp"

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
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

PGDLLEXPORT void ps_worker_main(Datum database);
}

#include "settings.hpp"

namespace {

bool catalogs_changed = true;

void OnRelationChange(Datum, Oid) { catalogs_changed = true; }

// Takes the slot for this process; false when another worker has it.
bool ClaimSlot(DatabaseSlot* slot) {
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  const bool taken = slot->worker_pid != 0;
  if (!taken) {
    slot->worker_pid = MyProcPid;
    slot->worker_procno = MyProc->pgprocno;
  }
  LWLockRelease(slot->lock);
  return !taken;
}

void ReleaseSlot(int, Datum argument) {
  auto* slot = reinterpret_cast<DatabaseSlot*>(DatumGetPointer(argument));
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  if (slot->worker_pid == MyProcPid) slot->worker_pid = 0;
  LWLockRelease(slot->lock);
  ConditionVariableBroadcast(&slot->flushed);
}

// Gives the slot up when there is nothing to do. A backend that opens a session afterwards sees that no worker runs.
bool LeaveWhenIdle(DatabaseSlot* slot) {
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  const bool idle = !DsaPointerIsValid(slot->sessions) && pg_atomic_read_u64(&slot->flush_wanted) == slot->flush_done;
  if (idle) {
    slot->worker_pid = 0;
    slot->worker_asked_at = 0;
  }
  LWLockRelease(slot->lock);
  return idle;
}

bool ExtensionIsHere() {
  MemoryContext outer = CurrentMemoryContext;
  StartTransactionCommand();
  const bool here = OidIsValid(get_extension_oid("privacy_score", true));
  CommitTransactionCommand();
  MemoryContextSwitchTo(outer);
  return here;
}

// One round: write, publish, compute, correct.
void RunCycle(DatabaseSlot* slot) {
  const uint64 wanted_flush = pg_atomic_read_u64(&slot->flush_wanted);
  if (!ExtensionIsHere()) {
    DiscardSessions(slot);
  } else {
    if (RecoveryInProgress())
      DiscardSessions(slot);
    else
      FlushSessions(slot);
    const uint64 wanted = pg_atomic_read_u64(&slot->model_wanted);
    if (wanted != slot->model_built_for || catalogs_changed) {
      catalogs_changed = false;
      PublishModel(slot);
      slot->model_built_for = wanted;
    }
    // A corrected score may need further rates; the rounds are bounded, the next cycle goes on.
    CorrectScores(slot);
    for (int round = 0; round < 8 && ComputeMissingRates(slot); ++round) {
      PublishModel(slot);
      CorrectScores(slot);
    }
    if (!RecoveryInProgress()) {
      FlushSessions(slot);
      ApplyRetention();
    }
  }
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  slot->flush_done = Max(slot->flush_done, wanted_flush);
  slot->last_flush = GetCurrentTimestamp();
  LWLockRelease(slot->lock);
  ConditionVariableBroadcast(&slot->flushed);
}

}  // namespace

void BeginWork(WorkTransaction* work) {
  work->outer = CurrentMemoryContext;
  StartTransactionCommand();
  PushActiveSnapshot(GetTransactionSnapshot());
  pgstat_report_activity(STATE_RUNNING, "privacy_score worker");
  EnterInternal(&work->scope);
}

void EndWork(const WorkTransaction* work) {
  LeaveInternal(&work->scope);
  PopActiveSnapshot();
  CommitTransactionCommand();
  pgstat_report_stat(false);
  MemoryContextSwitchTo(work->outer);
}

void ps_worker_main(Datum database) {
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, 0);
  pgstat_report_appname("privacy_score worker");
  if (ps_shared == nullptr) proc_exit(0);
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr || !ClaimSlot(slot)) proc_exit(0);
  before_shmem_exit(ReleaseSlot, PointerGetDatum(slot));
  CacheRegisterRelcacheCallback(OnRelationChange, Datum(0));
  MemoryContext cycle = AllocSetContextCreate(TopMemoryContext, "privacy_score cycle", ALLOCSET_DEFAULT_SIZES);
  for (;;) {
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
    if (ConfigReloadPending) {
      ConfigReloadPending = false;
      ProcessConfigFile(PGC_SIGHUP);
    }
    MemoryContextSwitchTo(cycle);
    RunCycle(slot);
    MemoryContextSwitchTo(TopMemoryContext);
    MemoryContextReset(cycle);
    pgstat_report_activity(STATE_IDLE, nullptr);
    if (LeaveWhenIdle(slot)) proc_exit(0);
    // A request that came during the cycle has set the latch and is served at once.
    WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ps_settings.flush_interval, PG_WAIT_EXTENSION);
  }
}

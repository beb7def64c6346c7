/*
 * flush_request.cpp - see flush_request.hpp.
 */
#include "backend/state/flush_request.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/namespace.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

#include "backend/server/wait_events.hpp"
#include "backend/state/installed_extension.hpp"

namespace privacy_score {

namespace {

// The worker would wait for this transaction's rows, and this transaction for the worker.
void RefuseAfterWriting() {
  const Oid schema = get_namespace_oid("privacy_score", true);
  const Oid abstractions = OidIsValid(schema) ? get_relname_relid("abstraction", schema) : InvalidOid;
  ::Relation relation = OidIsValid(abstractions) ? try_table_open(abstractions, AccessShareLock) : nullptr;
  if (relation == nullptr) return;
  const bool written = CheckRelationLockedByMe(relation, RowExclusiveLock, true);
  table_close(relation, AccessShareLock);
  if (written)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("cannot flush in a transaction that has itself written history"),
                    errhint("Commit it, then call flush().")));
}

}  // namespace

void AwaitFlush(DatabaseSlot* slot) {
  constexpr int kGiveUpSeconds = 60;
  RefuseAfterWriting();
  RequireCurrentExtension();
  const uint64 mine = pg_atomic_add_fetch_u64(&slot->flush_wanted, 1);
  const TimestampTz deadline = GetCurrentTimestamp() + kGiveUpSeconds * USECS_PER_SEC;
  ConditionVariablePrepareToSleep(&slot->flushed);
  for (;;) {
    LWLockAcquire(slot->lock, LW_SHARED);
    const bool done = slot->flush_done >= mine;
    LWLockRelease(slot->lock);
    if (done) break;
    if (GetCurrentTimestamp() > deadline) {
      ConditionVariableCancelSleep();
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("the privacy_score worker did not answer within %d seconds", kGiveUpSeconds),
                      errhint("Look into the server log, and check max_worker_processes.")));
    }
    EnsureWorker(slot);
    WakeWorker(slot);
    ConditionVariableTimedSleep(&slot->flushed, 100, WaitEventOf(OwnWait::kFlush));
  }
  ConditionVariableCancelSleep();
}

}  // namespace privacy_score

/*
 * worker_transaction.cpp - transactions of the worker and of the accountant, and the settings that these need.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
}

#include "backend/server/compat.hpp"

namespace privacy_score {

void SettleWorkerSettings() {
  SetConfigOption("default_transaction_read_only", "off", PGC_SUSET, PGC_S_OVERRIDE);
  SetConfigOption("default_transaction_isolation", "read committed", PGC_SUSET, PGC_S_OVERRIDE);
  SetConfigOption("statement_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
  SetConfigOption("idle_in_transaction_session_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
  // Times that pass through texts are read as they are written.
  SetConfigOption("datestyle", "ISO, YMD", PGC_SUSET, PGC_S_OVERRIDE);
  SetConfigOption("intervalstyle", "postgres", PGC_SUSET, PGC_S_OVERRIDE);
  if (kHasTransactionTimeout) SetConfigOption("transaction_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
  SetConfigOption("lock_timeout", "5s", PGC_SUSET, PGC_S_OVERRIDE);
  // What is committed survives a crash of this server; no standby can stop it.
  SetConfigOption("synchronous_commit", "local", PGC_SUSET, PGC_S_OVERRIDE);
}

void BeginWork(WorkTransaction* work) {
  if (!BeginWorkUnlessGone(work)) proc_exit(0);
}

bool BeginWorkUnlessGone(WorkTransaction* work) {
  work->outer = CurrentMemoryContext;
  // No client's statement sets it here: now() would stay what it was when the process began.
  SetCurrentStatementStartTimestamp();
  StartTransactionCommand();
  // DROP EXTENSION locks the extension before its tables; whoever comes first has all of it. Gone, it leaves no work.
  const Oid extension = get_extension_oid("privacy_score", true);
  if (OidIsValid(extension)) LockDatabaseObject(ExtensionRelationId, extension, 0, AccessShareLock);
  if (!OidIsValid(extension) || get_extension_oid("privacy_score", true) != extension) {
    AbortCurrentTransaction();
    MemoryContextSwitchTo(work->outer);
    return false;
  }
  PushActiveSnapshot(GetTransactionSnapshot());
  pgstat_report_activity(STATE_RUNNING, "privacy_score worker");
  EnterInternal(&work->scope);
  return true;
}

void EndWork(const WorkTransaction* work) {
  LeaveInternal(&work->scope);
  PopActiveSnapshot();
  CommitTransactionCommand();
  pgstat_report_stat(false);
  MemoryContextSwitchTo(work->outer);
}

}  // namespace privacy_score

/*
 * worker_rates.cpp - rates of large relations, computed by a process of their own so that history goes on being
 * written.
 *
 * The worker of a database starts it for one round, writes and follows the model while it runs, and then goes on as if
 * it had computed the round itself. Where no process can be started, or nothing is large, it does compute it itself.
 */
#include "worker.hpp"

extern "C" {
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/wait_event.h"

PGDLLEXPORT void ps_rates_main(Datum database);
}

#include "settings.hpp"

namespace {

// Of at most so many rows a rate takes well below a second.
constexpr const char* kLargeRows = "100000";

// Whether a rate that is asked for is one of a large relation, by the server's statistics, or of one whose rows are
// elsewhere.
bool AnyIsLarge(DatabaseSlot* slot) {
  StringInfoData names;
  initStringInfo(&names);
  LWLockAcquire(slot->lock, LW_SHARED);
  for (dsa_pointer at = slot->missing_rates; DsaPointerIsValid(at);) {
    const auto* node = SharedAt<MissingRateNode>(at);
    // The relation ends with NUL; its name is the same in most of them.
    if (names.len == 0 || strcmp(names.data + names.cursor, node->text) != 0) {
      names.cursor = names.len;
      appendBinaryStringInfo(&names, node->text, static_cast<int>(strlen(node->text)) + 1);
    }
    at = node->next;
  }
  LWLockRelease(slot->lock);
  if (names.len == 0) return false;
  bool large = false;
  WorkTransaction work;
  BeginWork(&work);
  for (const char* at = names.data; !large && at < names.data + names.len; at += strlen(at) + 1) {
    const char* args[] = {at, kLargeRows};
    large = InternalValue(
                "SELECT 1 FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass($1) AND (c.relkind NOT IN "
                "('r', 'm') OR c.relhassubclass OR GREATEST(c.reltuples, pg_catalog.pg_stat_get_live_tuples(c.oid)) > "
                "$2::pg_catalog.int8)",
                2, args) != nullptr;
  }
  EndWork(&work);
  return large;
}

}  // namespace

bool ComputeRound(DatabaseSlot* slot, void (*meanwhile)(DatabaseSlot*)) {
  if (RecoveryInProgress() || !AnyIsLarge(slot)) return ComputeMissingRates(slot);
  slot->round_settled = -1;
  BackgroundWorkerHandle* handle = StartProcess("rates", "ps_rates_main");
  if (handle == nullptr) return ComputeMissingRates(slot);
  for (;;) {
    pid_t pid;
    const BgwHandleStatus status = GetBackgroundWorkerPid(handle, &pid);
    if (status == BGWH_STOPPED || status == BGWH_POSTMASTER_DIED) break;
    if (ShutdownRequestPending) {
      TerminateBackgroundWorker(handle);
      return false;
    }
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
    meanwhile(slot);
    WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ps_settings.flush_interval, PG_WAIT_EXTENSION);
  }
  // What it had taken is asked for again.
  if (slot->round_settled < 0) ereport(ERROR, (errmsg("the process that computes rates has ended early")));
  return slot->round_settled > 0;
}

void ps_rates_main(Datum database) {
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  SettleWorkerSettings();
  DatabaseSlot* slot = SlotOfDatabase(false);
  if (slot == nullptr) proc_exit(0);
  MemoryContext round = AllocSetContextCreate(TopMemoryContext, "privacy_score round", ALLOCSET_DEFAULT_SIZES);
  MemoryContextSwitchTo(round);
  slot->round_settled = ComputeMissingRates(slot) ? 1 : 0;
  proc_exit(0);
}

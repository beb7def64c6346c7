/*
 * worker_slots.cpp - whether anything in the slot of a database waits for its worker; slots of databases that were
 * dropped, which the worker of another one frees.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "access/xact.h"
#include "utils/syscache.h"
}

#include "backend/state/live_session.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/rate_requests.hpp"
#include "backend/state/shared_model.hpp"

namespace privacy_score {

namespace {

// Rates that were asked for: of another database they would be asked of the next one that gets the slot.
void FreeMissingRates(DatabaseSlot* slot) {
  TakenRates taken;
  TakeAskedRates(slot, &taken);
  UseTaken(taken, [](const AskedRate&) {});
  slot->missing_count = 0;
}

// What could not be written before the database was dropped.
void FreeSessions(DatabaseSlot* slot) {
  while (slot->sessions != nullptr) {
    LiveSession* session = slot->sessions;
    slot->sessions = session->next;
    FreeHistory(session, &session->open);
    FreeHistory(session, &session->sealed);
    FreePart(session);
    CloseHolding(session->holding, reinterpret_cast<SharedBlock*>(session));
  }
  slot->session_count = 0;
}

// Whether a session has anything for the worker: to be written, freed, or scored with better rates.
bool HasWork(const LiveSession* session) {
  return session->closed || !session->open.IsEmpty() || !session->sealed.IsEmpty() || session->summary.estimated ||
         session->summary.peer_estimated || session->refused != session->flushed_refused ||
         session->differ != session->flushed_differ || session->summary.queries != session->flushed_queries;
}

}  // namespace

// What changes while this looks is seen a flush_interval later.
bool AnythingWaits(DatabaseSlot* slot) {
  LWLockAcquire(slot->lock, LW_SHARED);
  bool any = slot->missing_count > 0 || slot->stale_count > 0 || slot->rates_wait ||
             pg_atomic_read_u64(&slot->flush_wanted) != slot->flush_done ||
             pg_atomic_read_u64(&slot->model_wanted) != slot->model_built_for;
  for (const LiveSession* session = slot->sessions; session != nullptr && !any; session = session->next)
    any = HasWork(session);
  LWLockRelease(slot->lock);
  return any;
}

void ReclaimSlots() {
  StartTransactionCommand();
  NoteDatabaseName();
  for (DatabaseSlot& slot : ps_shared->databases) {
    const Oid database = slot.database;
    if (!OidIsValid(database) || slot.worker_pid != 0 || SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database)))
      continue;
    LWLockAcquire(ps_shared->lock, LW_EXCLUSIVE);
    LWLockAcquire(slot.lock, LW_EXCLUSIVE);
    if (slot.database == database) {
      LeaveModel(slot.model);
      slot.model = InvalidDsaPointer;
      FreeBaselines(&slot, true);
      DropSavedDays(&slot);
      slot.model_built_for = slot.definitions_hash = slot.definitions_version = 0;
      slot.worker_asked_at = slot.last_flush = 0;
      FreeShared(slot.faults, sizeof(RateFaults));
      slot.faults = InvalidDsaPointer;
      FreeMissingRates(&slot);
      FreeSessions(&slot);
      FreeChangeMarks(&slot);
      slot.rates_period = slot.stale_count = 0;
      slot.rates_wait = false;
      pg_atomic_write_u64(&slot.model_version, 0);
      slot.database = InvalidOid;
    }
    LWLockRelease(slot.lock);
    LWLockRelease(ps_shared->lock);
  }
  CommitTransactionCommand();
}

}  // namespace privacy_score

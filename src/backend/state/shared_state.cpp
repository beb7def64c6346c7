/*
 * shared_state.cpp - see shared_state.hpp.
 */
#include "backend/state/shared_state.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/varlena.h"
}

#include <algorithm>

#include "backend/server/settings.hpp"
#include "core/base/joined.hpp"

namespace privacy_score {

SharedHeader* ps_shared = nullptr;
DatabaseSlot* ps_own_slot = nullptr;
char* ps_plain_area = nullptr;

namespace {

constexpr const char* kTranche = "privacy_score";
dsa_area* area = nullptr;

Size TotalSize() { return static_cast<Size>(ps_settings.max_memory) * 1024; }
Size BlocksOffset() { return MAXALIGN(sizeof(SharedHeader)); }
Size BlocksSize() { return TYPEALIGN_DOWN(kBlockSize, (TotalSize() - BlocksOffset()) / 2); }
char* BlocksPlace() { return reinterpret_cast<char*>(ps_shared) + BlocksOffset(); }
Size WordsSize() { return MAXALIGN(BlocksSize() / kBlockSize * sizeof(pg_atomic_uint64)); }
pg_atomic_uint64* WordsPlace() { return reinterpret_cast<pg_atomic_uint64*>(BlocksPlace() + BlocksSize()); }
void* AreaPlace() { return BlocksPlace() + BlocksSize() + WordsSize(); }
Size AreaSize() { return TotalSize() - BlocksOffset() - BlocksSize() - WordsSize(); }

void InitSlot(DatabaseSlot* slot, LWLock* lock) {
  slot->lock = lock;
  pg_atomic_init_u64(&slot->model_version, 0);
  pg_atomic_init_u64(&slot->model_wanted, 1);
  pg_atomic_init_u64(&slot->all_changed, 0);
  pg_atomic_init_u64(&slot->flush_wanted, 0);
  pg_atomic_init_u64(&slot->kept_changed, 0);
  ConditionVariableInit(&slot->flushed);
}

void InitHeader() {
  LWLockPadded* locks = GetNamedLWLockTranche(kTranche);
  memset(ps_shared, 0, sizeof(SharedHeader));
  ps_shared->lock = &locks[0].lock;
  ps_shared->size = TotalSize() - BlocksOffset();
  ps_shared->stats_reset = GetCurrentTimestamp();
  if (!pg_strong_random(&ps_shared->hash_key, sizeof ps_shared->hash_key) ||
      !pg_strong_random(ps_shared->seal_key, sizeof ps_shared->seal_key))
    ereport(FATAL, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate the keys of privacy_score's hashes")));
  pg_atomic_init_u64(&ps_shared->memory_used, 0);
  pg_atomic_init_u64(&ps_shared->asked_bytes, 0);
  ps_shared->asked_most = static_cast<int64>(AreaSize() / 4);
  for (EventStripe& stripe : ps_shared->stripes) pg_atomic_init_u64(&stripe.events, 0);
  pg_atomic_init_u64(&ps_shared->principals, 0);
  pg_atomic_init_u64(&ps_shared->dropped, 0);
  pg_atomic_init_u64(&ps_shared->evictions, 0);
  pg_atomic_init_u64(&ps_shared->scoring_errors, 0);
  pg_atomic_init_u64(&ps_shared->role_labels_version, 1);
  pg_atomic_init_u64(&ps_shared->flush_errors, 0);
  InitProgressSlots(ps_shared->progress);
  for (int i = 0; i < kMaxDatabases; ++i) InitSlot(&ps_shared->databases[i], &locks[2 + i].lock);
}

// Deals the blocks out to all processes that may have a session, of whatever kind.
void InitBlocks() {
  LWLock* lock = &GetNamedLWLockTranche(kTranche)[1].lock;
  for (Size i = 0; i < BlocksSize() / kBlockSize; ++i) pg_atomic_init_u64(WordsPlace() + i, 0);
  if (InitBlockPool(&ps_shared->blocks, lock, BlocksPlace(), BlocksSize(), MaxBackends)) return;
  constexpr Size kKilobyte = 1024;
  const Size blocks = (static_cast<Size>(MaxBackends) * kLeastShare + 3) / 3 * 4;
  const Size least = (BlocksOffset() + 2 * (blocks + 1) * kBlockSize) / kKilobyte + 1;
  ereport(WARNING, (errmsg("privacy_score.max_memory of %d kB is too small for %d sessions", ps_settings.max_memory,
                           MaxBackends),
                    errdetail("Each session that may be open should have %d kB of its own; %d can.",
                              static_cast<int>(kLeastShare * kBlockSize / kKilobyte), ps_shared->blocks.shares),
                    errhint("Set it to %zu kB or more, or lower max_connections.", least)));
}

// The way out, for superusers ready to run.
int PreloadHint() {
  const char* others = superuser() ? GetConfigOption("shared_preload_libraries", true, false) : nullptr;
  if (others == nullptr) return errhint("Add privacy_score to shared_preload_libraries and restart the server.");
  List* names = NIL;
  StringInfoData list;
  initStringInfo(&list);
  if (SplitDirectoriesString(pstrdup(others), ',', &names)) {
    ListCell* cell;
    foreach (cell, names) appendStringInfo(&list, "%s, ", quote_literal_cstr(static_cast<char*>(lfirst(cell))));
  }
  return errhint(
      "Add privacy_score to shared_preload_libraries and restart the server: "
      "ALTER SYSTEM SET shared_preload_libraries = %s'privacy_score';",
      list.data);
}

}  // namespace

void RequestSharedMemory() {
  RequestAddinShmemSpace(TotalSize());
  RequestNamedLWLockTranche(kTranche, 2 + kMaxDatabases);
}

void StartSharedMemory() {
  bool found;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  ps_shared = static_cast<SharedHeader*>(ShmemInitStruct("privacy_score", TotalSize(), &found));
  if (!found) {
    InitHeader();
    InitBlocks();
    dsa_area* fresh = dsa_create_in_place(AreaPlace(), AreaSize(), ps_shared->lock->tranche, nullptr);
    dsa_pin(fresh);
    dsa_set_size_limit(fresh, AreaSize());
    ps_plain_area = nullptr;
    const dsa_pointer tried = dsa_allocate_extended(fresh, 1, DSA_ALLOC_NO_OOM);
    char* plain = static_cast<char*>(AreaPlace());
    if (DsaPointerIsValid(tried)) {
      if (dsa_get_address(fresh, tried) == plain + tried) ps_plain_area = plain;
      dsa_free(fresh, tried);
    }
    dsa_detach(fresh);
  }
  LWLockRelease(AddinShmemInitLock);
}

pg_atomic_uint64* WordOfBlock(const void* block) {
  return WordsPlace() + static_cast<Size>(static_cast<const char*>(block) - BlocksPlace()) / kBlockSize;
}

uint64 EventsCounted() {
  uint64 events = 0;
  for (EventStripe& stripe : ps_shared->stripes) events += pg_atomic_read_u64(&stripe.events);
  return events;
}

void ResetEventsCounted() {
  for (EventStripe& stripe : ps_shared->stripes) pg_atomic_write_u64(&stripe.events, 0);
}

void RequirePreload() {
  if (ps_shared == nullptr)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("privacy_score must be loaded via \"shared_preload_libraries\""), PreloadHint()));
}

void WarnUnlessPreloaded() {
  if (ps_shared == nullptr)
    ereport(WARNING, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("nothing is watched: the library privacy_score is not preloaded"), PreloadHint()));
}

dsa_area* SharedArea() {
  if (area == nullptr && ps_shared != nullptr) {
    MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
    area = dsa_attach_in_place(AreaPlace(), nullptr);
    dsa_pin_mapping(area);
    on_shmem_exit(dsa_on_shmem_exit_release_in_place, PointerGetDatum(AreaPlace()));
    MemoryContextSwitchTo(old);
  }
  return area;
}

Size SharedAreaSize() { return AreaSize(); }

DatabaseSlot* SlotOfDatabase(bool create) {
  if (ps_own_slot != nullptr || ps_shared == nullptr) return ps_own_slot;
  LWLockAcquire(ps_shared->lock, create ? LW_EXCLUSIVE : LW_SHARED);
  DatabaseSlot* free_slot = nullptr;
  for (int i = 0; i < kMaxDatabases && ps_own_slot == nullptr; ++i) {
    DatabaseSlot* slot = &ps_shared->databases[i];
    if (slot->database == MyDatabaseId)
      ps_own_slot = slot;
    else if (free_slot == nullptr && !OidIsValid(slot->database))
      free_slot = slot;
  }
  if (ps_own_slot == nullptr && create && free_slot != nullptr) {
    free_slot->database = MyDatabaseId;
    ps_own_slot = free_slot;
  }
  LWLockRelease(ps_shared->lock);
  return ps_own_slot;
}

DatabaseSlot* RequireSlotOfDatabase() {
  RequirePreload();
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr)
    ereport(
        ERROR,
        (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
         errmsg("privacy_score watches at most %d databases", kMaxDatabases),
         errhint("Dropped databases give their places back when a worker of privacy_score starts in another one.")));
  return slot;
}

dsa_pointer AllocateShared(Size size) {
  const dsa_pointer pointer = dsa_allocate_extended(SharedArea(), size, DSA_ALLOC_NO_OOM | DSA_ALLOC_ZERO);
  if (DsaPointerIsValid(pointer)) pg_atomic_fetch_add_u64(&ps_shared->memory_used, static_cast<int64>(size));
  return pointer;
}

void FreeShared(dsa_pointer pointer, Size size) {
  if (!DsaPointerIsValid(pointer)) return;
  dsa_free(SharedArea(), pointer);
  pg_atomic_fetch_sub_u64(&ps_shared->memory_used, static_cast<int64>(size));
}

privacy_score::Tokens SplitTokens(std::string_view joined) { return privacy_score::Parted(joined, kTokenEnd); }

Datum TokenArrayOf(std::string_view joined) {
  ArrayBuildState* tokens = nullptr;
  for (std::size_t from = 0; from <= joined.size();) {
    const std::size_t to = std::min(joined.find(kTokenEnd, from), joined.size());
    tokens = accumArrayResult(
        tokens, PointerGetDatum(cstring_to_text_with_len(joined.data() + from, static_cast<int>(to - from))), false,
        TEXTOID, CurrentMemoryContext);
    from = to + 1;
  }
  return makeArrayResult(tokens, CurrentMemoryContext);
}

void WakeWorker(DatabaseSlot* slot) {
  // A stale number wakes another process for nothing, which is harmless.
  if (slot->worker_pid != 0) SetLatch(&ProcGlobal->allProcs[slot->worker_procno].procLatch);
}

// Asks for a background process of ours for this database; false when there is no room for one. Without a handle
// nothing is allocated.
static bool AskForProcess(const char* what, const char* function, BackgroundWorkerHandle** handle) {
  BackgroundWorker worker;
  memset(&worker, 0, sizeof worker);
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  worker.bgw_start_time = BgWorkerStart_ConsistentState;
  worker.bgw_restart_time = BGW_NEVER_RESTART;
  worker.bgw_main_arg = ObjectIdGetDatum(MyDatabaseId);
  worker.bgw_notify_pid = MyProcPid;
  strlcpy(worker.bgw_library_name, "privacy_score", BGW_MAXLEN);
  strlcpy(worker.bgw_function_name, function, BGW_MAXLEN);
  snprintf(worker.bgw_name, BGW_MAXLEN, "privacy_score %s for database %u", what, MyDatabaseId);
  snprintf(worker.bgw_type, BGW_MAXLEN, "privacy_score %s", what);
  return RegisterDynamicBackgroundWorker(&worker, handle);
}

BackgroundWorkerHandle* StartProcess(const char* what, const char* function) {
  BackgroundWorkerHandle* handle = nullptr;
  return AskForProcess(what, function, &handle) ? handle : nullptr;
}

void EnsureWorker(DatabaseSlot* slot) {
  if (slot->worker_pid != 0) return;
  const TimestampTz now = GetCurrentTimestamp();
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  const bool ask = slot->worker_pid == 0 && now - slot->worker_asked_at > USECS_PER_SEC;
  if (ask) slot->worker_asked_at = now;
  LWLockRelease(slot->lock);
  if (ask) AskForProcess("worker", "ps_worker_main", nullptr);
}

}  // namespace privacy_score

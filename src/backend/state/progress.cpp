/*
 * progress.cpp - see progress.hpp.
 */
#include "backend/state/progress.hpp"

extern "C" {
#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
}

#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/role_access.hpp"
#include "backend/state/shared_state.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_long_work);
}

namespace {

struct Announcement {
  Oid relation;
  const char* phase;
  uint64 done, total;
  int nest_level;  // of the transaction in which it began
};

// The announcements of this backend, the outermost first.
Announcement* nested = nullptr;
int depth = 0;
int room = 0;
ProgressSlot* own = nullptr;

// Gives the own slot to `write`; readers see all of it or nothing. A process that died within leaves `changes` odd.
template <typename Write>
void Change(Write write) {
  const uint32 odd = pg_atomic_read_u32(&own->changes) | 1;
  pg_atomic_write_u32(&own->changes, odd);
  pg_write_barrier();
  write(own);
  pg_write_barrier();
  pg_atomic_write_u32(&own->changes, odd + 1);
}

bool IsAlive(int pid) { return pid != 0 && BackendPidGetProc(pid) != nullptr; }

// The slots, kProgressSlots of them; null when there are none.
ProgressSlot* Slots() {
  static ProgressSlot* slots = nullptr;
  if (slots != nullptr) return slots;
  if (ps_shared != nullptr)
    slots = ps_shared->progress;
  else if (kFirstUseHasRoom)
    slots = static_cast<ProgressSlot*>(
        SharedOnFirstUse("privacy_score progress", sizeof(ProgressSlot) * kProgressSlots, InitProgressSlots));
  return slots;
}

// Takes a slot that is free, or whose process has gone without giving it back.
ProgressSlot* TakeSlot() {
  ProgressSlot* slots = Slots();
  for (int i = 0; slots != nullptr && i < kProgressSlots; ++i) {
    ProgressSlot* slot = &slots[i];
    uint32 owner = pg_atomic_read_u32(&slot->owner);
    if (static_cast<int>(owner) != MyProcPid && IsAlive(static_cast<int>(owner))) continue;
    if (pg_atomic_compare_exchange_u32(&slot->owner, &owner, static_cast<uint32>(MyProcPid))) return slot;
  }
  return nullptr;
}

// Writes the innermost announcement into a slot.
void PutProgress(ProgressSlot* slot) {
  const Announcement& at = nested[depth - 1];
  slot->relation = at.relation;
  namestrcpy(&slot->phase, at.phase);
  pg_atomic_write_u64(&slot->done, at.done);
  pg_atomic_write_u64(&slot->total, at.total);
}

// Goes back to the announcement that is `to` deep; 0: to none.
void Unwind(int to) {
  if (to >= depth) return;
  depth = to;
  if (own == nullptr) return;
  if (depth > 0) {
    Change(PutProgress);
    return;
  }
  Change([](ProgressSlot* slot) { slot->pid = 0; });
  pg_atomic_write_u32(&own->owner, 0);
  own = nullptr;
}

void OnTransactionOfWorkEnd(XactEvent event, void*) {
  if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE && event != XACT_EVENT_PARALLEL_PRE_COMMIT)
    Unwind(0);
}

void OnSubtransactionOfWorkEnd(SubXactEvent event, SubTransactionId, SubTransactionId, void*) {
  if (event != SUBXACT_EVENT_ABORT_SUB) return;
  int to = depth;
  while (to > 0 && nested[to - 1].nest_level >= GetCurrentTransactionNestLevel()) --to;
  Unwind(to);
}

// From the first long work on: a backend that only runs statements has no use for it.
void FollowAnnouncedWork() {
  static bool follows = false;
  if (follows) return;
  RegisterXactCallback(OnTransactionOfWorkEnd, nullptr);
  RegisterSubXactCallback(OnSubtransactionOfWorkEnd, nullptr);
  follows = true;
}

// Copies what a slot shows; false when it is free or its owner is gone.
bool CopySlot(ProgressSlot* slot, ProgressSlot* copy) {
  for (;;) {
    if (!IsAlive(static_cast<int>(pg_atomic_read_u32(&slot->owner)))) return false;
    const uint32 before = pg_atomic_read_u32(&slot->changes);
    pg_read_barrier();
    memcpy(copy, slot, sizeof *copy);
    pg_read_barrier();
    if (before % 2 == 0 && before == pg_atomic_read_u32(&slot->changes)) return IsAlive(copy->pid);
    CHECK_FOR_INTERRUPTS();
  }
}

}  // namespace

void InitProgressSlots(void* place) {
  memset(place, 0, sizeof(ProgressSlot) * kProgressSlots);
  auto* slots = static_cast<ProgressSlot*>(place);
  for (int i = 0; i < kProgressSlots; ++i) {
    pg_atomic_init_u32(&slots[i].owner, 0);
    pg_atomic_init_u32(&slots[i].changes, 0);
    pg_atomic_init_u64(&slots[i].done, 0);
    pg_atomic_init_u64(&slots[i].total, 0);
  }
}

void BeginProgress(const char* command, Oid relation, const char* phase) {
  FollowAnnouncedWork();
  if (depth == room) {
    const int more = Max(8, 2 * room);
    const Size size = sizeof(Announcement) * static_cast<Size>(more);
    nested = static_cast<Announcement*>(nested == nullptr ? MemoryContextAlloc(TopMemoryContext, size)
                                                          : repalloc(nested, size));
    room = more;
  }
  nested[depth++] = {relation, phase, 0, 0, GetCurrentTransactionNestLevel()};
  if (depth == 1) own = TakeSlot();
  if (own == nullptr) return;
  Change([=](ProgressSlot* slot) {
    PutProgress(slot);
    if (depth > 1) return;
    slot->pid = MyProcPid;
    slot->database = MyDatabaseId;
    slot->role = GetSessionUserId();
    slot->started = GetCurrentTimestamp();
    namestrcpy(&slot->command, command);
  });
}

void SetProgressPhase(const char* phase) {
  if (depth == 0) return;
  Announcement& at = nested[depth - 1];
  at.phase = phase;
  at.done = at.total = 0;
  if (own != nullptr) Change(PutProgress);
}

void SetProgress(uint64 done, uint64 total) noexcept {
  if (depth == 0) return;
  nested[depth - 1].done = done;
  nested[depth - 1].total = total;
  if (own == nullptr) return;
  pg_atomic_write_u64(&own->done, done);
  pg_atomic_write_u64(&own->total, total);
}

void EndProgress() {
  if (depth > 0) Unwind(depth - 1);
}

// long_work(): what the backends of this database are at, as far as the caller may see it.
Datum ps_long_work(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  ProgressSlot* slots = Slots();
  for (int i = 0; slots != nullptr && i < kProgressSlots; ++i) {
    ProgressSlot copy;
    if (!CopySlot(&slots[i], &copy) || copy.database != MyDatabaseId || !MayReadRole(copy.role)) continue;
    const uint64 total = pg_atomic_read_u64(&copy.total);
    Datum values[7] = {Int32GetDatum(copy.pid),
                       CStringGetTextDatum(NameStr(copy.command)),
                       ObjectIdGetDatum(copy.relation),
                       CStringGetTextDatum(NameStr(copy.phase)),
                       Int64GetDatum(static_cast<int64>(pg_atomic_read_u64(&copy.done))),
                       Int64GetDatum(static_cast<int64>(total)),
                       TimestampTzGetDatum(copy.started)};
    bool nulls[7] = {};
    nulls[2] = !OidIsValid(copy.relation);
    nulls[5] = total == 0;
    PutResultRow(fcinfo, values, nulls);
  }
  return Datum(0);
}

}  // namespace privacy_score

/*
 * dp_accountant.cpp - the side of the backend that has a budget charged (see dp_accountant.hpp).
 */
#include "backend/dp/dp_accountant.hpp"

extern "C" {
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
}

#include "backend/server/compat.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/state/shared_state.hpp"

namespace privacy_score {

namespace {

// How long a backend waits for a process that cannot be started: others may end meanwhile.
constexpr int64 kPatience = 10 * USECS_PER_SEC;
constexpr long kPollMilliseconds = 100;
constexpr int64 kAskAgainAfter = USECS_PER_SEC;

AccountantArea* shared_area = nullptr;

void InitArea(void* place) {
  auto* area = static_cast<AccountantArea*>(place);
  memset(area, 0, sizeof *area);
  area->tranche = LWLockNewTrancheId();
  LWLockInitialize(&area->lock, area->tranche);
}

bool Runs() {
  AccountantArea* area = SharedAccountants();
  bool runs = false;
  LWLockAcquire(&area->lock, LW_SHARED);
  for (const AccountantSlot& slot : area->slots) runs |= slot.database == MyDatabaseId && slot.latch != nullptr;
  LWLockRelease(&area->lock);
  return runs;
}

// Puts an order at the end of the queue and wakes the accountant; false when the queue is full.
bool Enqueue(dsm_handle handle) {
  AccountantArea* area = SharedAccountants();
  LWLockAcquire(&area->lock, LW_EXCLUSIVE);
  const bool fits = area->queued < kQueueLength;
  if (fits) area->queue[area->queued++] = {MyDatabaseId, handle};
  for (AccountantSlot& slot : area->slots)
    if (slot.database == MyDatabaseId && slot.latch != nullptr) SetLatch(slot.latch);
  LWLockRelease(&area->lock);
  return fits;
}

// Takes the orders of databases that are gone out of a full queue: nobody will carry them out. Whoever waited for one
// has left with the database; what remains are answers to be stored, pinned.
void ForgetDropped() {
  AccountantArea* area = SharedAccountants();
  dsm_handle gone[kQueueRoom];
  int gone_count = 0;
  Oid databases[kQueueRoom];
  int database_count = 0;
  LWLockAcquire(&area->lock, LW_SHARED);
  for (int32 i = 0; i < area->queued; ++i)
    if (i == 0 || area->queue[i].database != databases[database_count - 1])
      databases[database_count++] = area->queue[i].database;
  LWLockRelease(&area->lock);
  for (int i = 0; i < database_count; ++i) {
    if (SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(databases[i]))) continue;
    LWLockAcquire(&area->lock, LW_EXCLUSIVE);
    int32 kept = 0;
    for (int32 k = 0; k < area->queued; ++k) {
      if (area->queue[k].database == databases[i])
        gone[gone_count++] = area->queue[k].handle;
      else
        area->queue[kept++] = area->queue[k];
    }
    area->queued = kept;
    LWLockRelease(&area->lock);
  }
  for (int i = 0; i < gone_count; ++i) {
    dsm_segment* segment = dsm_attach(gone[i]);
    if (segment == nullptr) continue;
    const auto* order = static_cast<const ChargeOrder*>(dsm_segment_address(segment));
    if (order->customer == nullptr) dsm_unpin_segment(gone[i]);
    dsm_detach(segment);
  }
}

// Takes an order out of the queue when its backend gives up.
void Withdraw(dsm_segment*, Datum handle) {
  AccountantArea* area = SharedAccountants();
  LWLockAcquire(&area->lock, LW_EXCLUSIVE);
  int32 kept = 0;
  for (int32 i = 0; i < area->queued; ++i)
    if (area->queue[i].handle != DatumGetUInt32(handle)) area->queue[kept++] = area->queue[i];
  area->queued = kept;
  LWLockRelease(&area->lock);
}

Size SizeOfPart(const Charge* charge) {
  Size size = sizeof(ChargeOrder);
  for (const char* text : charge->texts) size += text == nullptr ? 0 : strlen(text) + 1;
  return MAXALIGN(size);
}

void FillPart(ChargeOrder* order, const Charge* charge) {
  memset(order, 0, sizeof *order);
  order->magic = kOrderMagic;
  pg_atomic_init_u32(&order->state, kOrderWaiting);
  order->database = MyDatabaseId;
  order->kind = charge->kind;
  order->release = charge->release;
  order->budget = charge->budget;
  order->role = charge->role;
  order->relation = charge->relation;
  order->fresh = charge->fresh;
  uint32 at = sizeof(ChargeOrder);
  for (int i = 0; i < kOrderTexts; ++i) {
    if (charge->texts[i] == nullptr) continue;
    const auto length = static_cast<uint32>(strlen(charge->texts[i])) + 1;
    memcpy(reinterpret_cast<char*>(order) + at, charge->texts[i], length);
    order->texts[i] = at;
    at += length;
  }
}

// Makes the segment of an order.
dsm_segment* MakeOrder(const Charge* charges, int count, Latch* customer) {
  Size size = 0;
  for (int i = 0; i < count; ++i) size += SizeOfPart(&charges[i]);
  dsm_segment* segment = dsm_create(size, 0);
  auto* place = static_cast<char*>(dsm_segment_address(segment));
  for (int i = 0; i < count; ++i) {
    auto* order = reinterpret_cast<ChargeOrder*>(place);
    FillPart(order, &charges[i]);
    if (i == 0) order->customer = customer;
    place += SizeOfPart(&charges[i]);
    if (i + 1 < count) order->next = static_cast<uint32>(SizeOfPart(&charges[i]));
  }
  return segment;
}

[[noreturn]] void RaiseNoAccountant() {
  ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                  errmsg("could not start the background process that charges privacy budgets"),
                  errdetail("Without it no answer can be given."),
                  errhint("Try again; when it goes on, raise max_worker_processes, or look into the server log.")));
}

}  // namespace

AccountantArea* SharedAccountants() {
  if (shared_area != nullptr) return shared_area;
  auto* area =
      static_cast<AccountantArea*>(SharedOnFirstUse("privacy_score accountants", sizeof(AccountantArea), InitArea));
  LWLockRegisterTranche(area->tranche, "privacy_score_accountants");
  shared_area = area;
  return area;
}

void CallAccountant() {
  AccountantArea* area = SharedAccountants();
  const TimestampTz now = GetCurrentTimestamp();
  AccountantSlot* own = nullptr;
  LWLockAcquire(&area->lock, LW_EXCLUSIVE);
  for (AccountantSlot& slot : area->slots) {
    if (slot.database == MyDatabaseId) {
      own = &slot;
      break;
    }
    const bool given_up = slot.latch == nullptr && now - slot.asked_at > kPatience;
    if (own == nullptr && (slot.database == InvalidOid || given_up)) own = &slot;
  }
  const bool ask = own != nullptr &&
                   (own->database != MyDatabaseId || (own->latch == nullptr && now - own->asked_at > kAskAgainAfter));
  if (ask) *own = {MyDatabaseId, nullptr, now};
  LWLockRelease(&area->lock);
  if (!ask) return;
  BackgroundWorkerHandle* handle = StartProcess("accountant", "ps_accountant_main");
  if (handle != nullptr) {
    pfree(handle);
    return;
  }
  // No room for a process: whoever waits may try again soon.
  LWLockAcquire(&area->lock, LW_EXCLUSIVE);
  if (own->database == MyDatabaseId && own->latch == nullptr) own->asked_at = 0;
  LWLockRelease(&area->lock);
}

void CarryOut(const Charge* charges, int count, ChargeReply* replies) {
  SharedAccountants();  // outlives the order, which Withdraw takes out of it
  dsm_segment* segment = MakeOrder(charges, count, MyLatch);
  auto* order = static_cast<ChargeOrder*>(dsm_segment_address(segment));
  const dsm_handle handle = dsm_segment_handle(segment);
  on_dsm_detach(segment, Withdraw, UInt32GetDatum(handle));
  TimestampTz deadline = GetCurrentTimestamp() + kPatience;
  bool queued = false;
  for (;;) {
    ResetLatch(MyLatch);
    const uint32 state = pg_atomic_read_u32(&order->state);
    if (state == kOrderAnswered) break;
    if (state == kOrderAbandoned) {
      // It was taken by a process that ended before it did anything.
      pg_atomic_write_u32(&order->state, kOrderWaiting);
      queued = false;
    }
    if (!queued) queued = Enqueue(handle);
    if (!queued) ForgetDropped();
    if (Runs())
      deadline = GetCurrentTimestamp() + kPatience;
    else
      CallAccountant();
    if (GetCurrentTimestamp() > deadline) RaiseNoAccountant();
    CHECK_FOR_INTERRUPTS();
    WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, kPollMilliseconds,
              WaitEventOf(OwnWait::kCharge));
  }
  pg_read_barrier();
  for (const ChargeOrder* part = order; part != nullptr; part = NextPart(part)) *replies++ = part->reply;
  dsm_detach(segment);
}

void LeaveOrder(const Charge* charge) {
  SharedAccountants();
  dsm_segment* segment = MakeOrder(charge, 1, nullptr);
  const dsm_handle handle = dsm_segment_handle(segment);
  for (;;) {
    // Pinned, it is the accountant's as soon as it is in the queue.
    dsm_pin_segment(segment);
    if (Enqueue(handle)) break;
    dsm_unpin_segment(handle);
    ForgetDropped();
    CHECK_FOR_INTERRUPTS();
    Pause(OwnWait::kCharge, kPollMilliseconds);
  }
  dsm_detach(segment);
  if (!Runs()) CallAccountant();
}

}  // namespace privacy_score

/*
 * read_once.cpp - see read_once.hpp.
 */
#include "backend/rates/read_once.hpp"

extern "C" {
#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
}

namespace privacy_score {

namespace {

// A snapshot by what it shows. Two of one transaction that are alike show the same. The statement's time is for what
// ends at a time (acceptance_in_force).
struct Shown {
  TimestampTz statement;
  TransactionId xmin;
  TransactionId xmax;
  CommandId command;
  uint32 count;
  int32 sub_count;
  uint64 running;
  uint64 sub_running;
};

struct Entry {
  Entry* next;
  const char* text;
  StringInfoData read;
};

struct Store {
  MemoryContext context;  // below that of the transaction; null: nothing is remembered
  Shown shown;
  Entry* entries;
};
Store store;

uint64 HashOf(const TransactionId* ids, int64 count) {
  if (count <= 0) return 0;
  return hash_bytes_extended(reinterpret_cast<const unsigned char*>(ids), static_cast<int>(count * sizeof *ids), 0);
}

Shown ShownNow() {
  const SnapshotData* snapshot = GetActiveSnapshot();
  Shown shown;
  memset(&shown, 0, sizeof shown);
  shown.statement = GetCurrentStatementStartTimestamp();
  shown.xmin = snapshot->xmin;
  shown.xmax = snapshot->xmax;
  shown.command = snapshot->curcid;
  shown.count = snapshot->xcnt;
  shown.sub_count = snapshot->subxcnt;
  shown.running = HashOf(snapshot->xip, snapshot->xcnt);
  shown.sub_running = HashOf(snapshot->subxip, snapshot->subxcnt);
  return shown;
}

void Forget(void*) { store = {}; }

// Whether what is read now may be taken for what is read later in the same snapshot.
bool MayRemember() { return ActiveSnapshotSet() && !TransactionIdIsValid(GetTopTransactionIdIfAny()); }

}  // namespace

const StringInfoData* ReadBefore(const char* text) {
  if (store.context == nullptr || !MayRemember()) return nullptr;
  const Shown now = ShownNow();
  if (memcmp(&now, &store.shown, sizeof now) != 0) return nullptr;
  for (const Entry* entry = store.entries; entry != nullptr; entry = entry->next)
    if (strcmp(entry->text, text) == 0) return &entry->read;
  return nullptr;
}

void RememberRead(const char* text, const char* bytes, int length) {
  if (!MayRemember()) return;
  const Shown now = ShownNow();
  if (store.context != nullptr && memcmp(&now, &store.shown, sizeof now) != 0) MemoryContextDelete(store.context);
  if (store.context == nullptr) {
    MemoryContext context =
        AllocSetContextCreate(TopTransactionContext, "privacy_score read once", ALLOCSET_DEFAULT_SIZES);
    auto* callback = static_cast<MemoryContextCallback*>(MemoryContextAlloc(context, sizeof(MemoryContextCallback)));
    callback->func = Forget;
    callback->arg = nullptr;
    MemoryContextRegisterResetCallback(context, callback);
    store = {context, now, nullptr};
  }
  const Size most = static_cast<Size>(work_mem) * 1024;
  if (MemoryContextMemAllocated(store.context, false) + static_cast<Size>(length) > most) return;
  auto* entry = static_cast<Entry*>(MemoryContextAlloc(store.context, sizeof(Entry)));
  char* copy = static_cast<char*>(MemoryContextAlloc(store.context, static_cast<Size>(length) + 1));
  memcpy(copy, bytes, length);
  copy[length] = '\0';
  *entry = {store.entries, MemoryContextStrdup(store.context, text), {copy, length, length + 1, 0}};
  store.entries = entry;
}

}  // namespace privacy_score

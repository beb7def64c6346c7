/*
 * record_store.cpp - see record_store.hpp.
 */
#include "record_store.hpp"

extern "C" {
#include "executor/tuptable.h"
#include "utils/memutils.h"
}

namespace {

constexpr Size kBlockBytes = Size{1} << 20;
constexpr uint64 kFirstRoom = 1024;

// Moves all records to a tuplestore, which belongs to whoever made the store and not to the query that fills it.
void Spill(RecordStore* store) {
  MemoryContext context = MemoryContextSwitchTo(MemoryContextGetParent(store->memory));
  ResourceOwner owner = CurrentResourceOwner;
  CurrentResourceOwner = store->owner;
  store->spilled = tuplestore_begin_heap(false, false, store->memory_kb);
  CurrentResourceOwner = owner;
  TupleTableSlot* slot = MakeSingleTupleTableSlot(store->columns, &TTSOpsMinimalTuple);
  for (uint64 i = 0; i < store->count; ++i) {
    ExecStoreMinimalTuple(store->records[i], slot, false);
    tuplestore_puttupleslot(store->spilled, slot);
  }
  ExecDropSingleTupleTableSlot(slot);
  MemoryContextSwitchTo(context);
  MemoryContextReset(store->memory);
  store->records = nullptr;
}

void GrowList(RecordStore* store) {
  store->bytes += sizeof(MinimalTuple) * store->room;
  store->room *= 2;
  store->records = static_cast<MinimalTuple*>(repalloc_huge(store->records, sizeof(MinimalTuple) * store->room));
}

char* Reserve(RecordStore* store, Size length) {
  length = MAXALIGN(length);
  if (length > store->block_left) {
    store->block_left = Max(length, kBlockBytes);
    store->block = static_cast<char*>(MemoryContextAllocHuge(store->memory, store->block_left));
    store->bytes += store->block_left;
  }
  char* place = store->block;
  store->block += length;
  store->block_left -= length;
  return place;
}

}  // namespace

RecordStore* NewRecordStore(TupleDesc columns, int memory_kb) {
  auto* store = static_cast<RecordStore*>(palloc0(sizeof(RecordStore)));
  store->columns = columns;
  store->memory_kb = memory_kb;
  store->owner = CurrentResourceOwner;
  store->memory = AllocSetContextCreate(CurrentMemoryContext, "privacy_score records", ALLOCSET_DEFAULT_SIZES);
  store->room = kFirstRoom;
  store->records = static_cast<MinimalTuple*>(MemoryContextAlloc(store->memory, sizeof(MinimalTuple) * kFirstRoom));
  store->bytes = sizeof(MinimalTuple) * kFirstRoom;
  return store;
}

void PutRecord(RecordStore* store, const Datum* values, const bool* nulls) {
  auto* all_values = const_cast<Datum*>(values);
  auto* all_nulls = const_cast<bool*>(nulls);
  // Arranging takes another list of the records.
  if (store->spilled == nullptr &&
      (store->bytes + sizeof(MinimalTuple) * store->count) / 1024 >= static_cast<Size>(store->memory_kb))
    Spill(store);
  if (store->spilled != nullptr) {
    tuplestore_putvalues(store->spilled, store->columns, all_values, all_nulls);
    ++store->count;
    return;
  }
  MinimalTuple formed = heap_form_minimal_tuple(store->columns, all_values, all_nulls);
  char* record = Reserve(store, formed->t_len);
  memcpy(record, formed, formed->t_len);
  pfree(formed);
  if (store->count == store->room) GrowList(store);
  store->records[store->count++] = reinterpret_cast<MinimalTuple>(record);
}

void DropRecordStore(RecordStore* store) {
  if (store->spilled != nullptr) tuplestore_end(store->spilled);
  MemoryContextDelete(store->memory);
}

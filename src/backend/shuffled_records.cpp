/*
 * shuffled_records.cpp - see shuffled_records.hpp.
 *
 * In memory the list of records is shuffled as far as it is wanted. From disk each record is taken with the probability
 * (still wanted)/(still to come), which makes all sets of that size equally likely [Knuth, selection sampling], and
 * those that are taken are sorted by random numbers.
 */
#include "shuffled_records.hpp"

extern "C" {
#include "catalog/pg_operator_d.h"
#include "miscadmin.h"
}

#include <utility>

#include "core_call.hpp"
#include "progress.hpp"
#include "strong_random.hpp"

namespace {

constexpr uint64 kAtATime = 1024;

void ShuffleList(RecordStore* store, uint64 wanted) {
  for (uint64 done = 0; done < wanted;) {
    CHECK_FOR_INTERRUPTS();
    CallCoreOrRaise([&] {
      for (const uint64 end = Min(done + kAtATime, wanted); done < end; ++done)
        std::swap(store->records[done], store->records[done + StrongRandom().Below(store->count - done)]);
    });
    SetProgress(done, wanted);
  }
}

// Whether the next record is taken, and its place in the order.
bool Take(uint64 wanted, uint64 left, int64* key) {
  bool taken = false;
  CallCoreOrRaise([&] {
    taken = StrongRandom().Below(left) < wanted;
    if (taken) *key = static_cast<int64>(StrongRandom().Word());
  });
  return taken;
}

void SortChosen(ShuffledRecords* shuffled) {
  RecordStore* store = shuffled->store;
  AttrNumber key_column = static_cast<AttrNumber>(store->columns->natts);
  Oid less = Int8LessOperator;
  Oid collation = InvalidOid;
  bool nulls_first = false;
  shuffled->sort = tuplesort_begin_heap(store->columns, 1, &key_column, &less, &collation, &nulls_first,
                                        maintenance_work_mem / 2, nullptr, 0);
  TupleTableSlot* stored = MakeSingleTupleTableSlot(store->columns, &TTSOpsMinimalTuple);
  uint64 wanted = shuffled->wanted;
  for (uint64 done = 0; tuplestore_gettupleslot(store->spilled, true, false, stored); ++done) {
    CHECK_FOR_INTERRUPTS();
    int64 key;
    if (Take(wanted, store->count - done, &key)) {
      bool copied;
      SetLastColumn(ExecFetchSlotMinimalTuple(stored, &copied), key);
      tuplesort_puttupleslot(shuffled->sort, stored);
      --wanted;
    }
    if (done % kAtATime == 0) SetProgress(done, store->count);
  }
  ExecDropSingleTupleTableSlot(stored);
  tuplesort_performsort(shuffled->sort);
}

}  // namespace

void ShuffleRecords(ShuffledRecords* shuffled, RecordStore* store, uint64 wanted) {
  *shuffled = {};
  shuffled->store = store;
  shuffled->wanted = wanted;
  if (store->spilled == nullptr)
    ShuffleList(store, wanted);
  else
    SortChosen(shuffled);
}

bool NextShuffled(ShuffledRecords* shuffled, TupleTableSlot* slot) {
  if (shuffled->sort != nullptr) return tuplesort_gettupleslot(shuffled->sort, true, true, slot, nullptr);
  if (shuffled->next == shuffled->wanted) return false;
  ExecStoreMinimalTuple(shuffled->store->records[shuffled->next++], slot, false);
  return true;
}

void DropShuffled(ShuffledRecords* shuffled) {
  if (shuffled->sort != nullptr) tuplesort_end(shuffled->sort);
  DropRecordStore(shuffled->store);
}

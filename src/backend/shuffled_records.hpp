/*
 * shuffled_records.hpp - some or all records of a store, chosen and ordered at random.
 *
 * Every set of as many records is equally likely, and so is every order of them: places in the table that is written
 * tell nothing of places in the source.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "executor/tuptable.h"
#include "utils/tuplesort.h"
}

#include "record_store.hpp"

struct ShuffledRecords {
  RecordStore* store;
  uint64 wanted;
  uint64 next;           // in the list of the store, whose first `wanted` records are chosen
  Tuplesortstate* sort;  // null: the records are in memory
};

// Chooses `wanted` of the records, all when it is their number. The last column of the store is overwritten. Uses
// maintenance_work_mem / 2 beside the store when that is on disk.
void ShuffleRecords(ShuffledRecords* shuffled, RecordStore* store, uint64 wanted);

// Stores the next record in a slot for minimal tuples; false when there is none. It is needed until the next call only
// when it comes from disk, else until the store is dropped.
bool NextShuffled(ShuffledRecords* shuffled, TupleTableSlot* slot);

// Drops the store, too.
void DropShuffled(ShuffledRecords* shuffled);

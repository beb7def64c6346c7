/*
 * shuffled_records.hpp - some or all records of a store, chosen and ordered at random.
 *
 * Every set of as many records is equally likely, and so is every order of them: places in the table that is written
 * tell nothing of places in the source.
 */
#pragma once

#include "backend/rows/record_store.hpp"

namespace privacy_score {

struct ShuffledReceiver {
  void* context;
  // All are chosen, and come back.
  void (*chosen)(void* context);
  // The next record, its last column undefined. It stays where it is until forget() is called.
  void (*receive)(void* context, MinimalTuple record);
  void (*forget)(void* context);
};

// Chooses `wanted` of the records, all when it is their number, hands them out and drops the store. Uses
// maintenance_work_mem / 2 beside a store that is on disk. Takes interrupts.
void ShuffleRecords(RecordStore* store, uint64 wanted, const ShuffledReceiver* receiver);

}  // namespace privacy_score

/*
 * release_arranging.hpp - brings records into the order of their buckets, at random within each.
 *
 * Records that fit into memory go to the places of their bucket, which are then shuffled. More of them are first
 * distributed over temporary files by ranges of buckets, of which each fits, or is distributed again: everything is
 * read and written from beginning to end, and the time a record takes does not depend on how many there are. Neither
 * where a record was nor which others were there shows in its place.
 */
#pragma once

#include "backend/rows/record_store.hpp"

namespace privacy_score {

// A record's last column while it is arranged: its bucket, from 1 on, and the number of its value.
inline int64 PlaceKey(int64 bucket, uint32 value) {
  return static_cast<int64>(static_cast<uint64>(bucket) << 32U | value);
}
inline int64 BucketOfKey(int64 key) { return key >> 32; }
inline uint32 ValueOfKey(int64 key) { return static_cast<uint32>(key); }

constexpr int64 kLeftOut = 0;  // the key of a record that goes into no bucket

constexpr int64 kMaxArrangedBuckets = PG_INT32_MAX;

// Records that wait in a store and records that are arranged take one half of the memory each.
Size ArrangingMemory();

// An empty store for the records that wait.
RecordStore* NewWaitingStore();

struct Arrangement {
  int64 buckets;
  Size memory;  // for the records and what goes with each, in bytes
  void* context;
  // Changes the record's last column into its key.
  void (*deal)(void* context, MinimalTuple record);
  // All records have been dealt, and come back.
  void (*dealt)(void* context);
  // The records of the next bucket, perhaps none. They may be changed, and stay where they are until forget() is
  // called.
  void (*receive)(void* context, int64 bucket, MinimalTuple* records, Size count);
  void (*forget)(void* context);
};

// Arranges the records of a store, which is dropped. Takes interrupts.
void ArrangeRecords(const Arrangement* arrangement, RecordStore* store);

}  // namespace privacy_score

/*
 * record_store.hpp - the records of a release between reading and writing.
 *
 * While they fit into the memory that is given they lie there one after the other and can be arranged in any order;
 * beyond it they go to a tuplestore, which goes to disk, and must be sorted to get another order. Of each record the
 * last column is a bigint that is never null, so it is the last 8 bytes of the tuple and can be changed in place.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"
}

struct RecordStore {
  TupleDesc columns;
  int memory_kb;
  MemoryContext memory;  // of the records and the list of them
  ResourceOwner owner;   // of the temporary file
  char* block;           // where the next record goes
  Size block_left;
  MinimalTuple* records;  // in the order in which they came; null once they are in the tuplestore
  uint64 count;
  uint64 room;               // of `records`
  Size bytes;                // that records and list take
  Tuplestorestate* spilled;  // null while all are in memory
};

// An empty store below the current memory context. `columns` must outlive it.
RecordStore* NewRecordStore(TupleDesc columns, int memory_kb);

void PutRecord(RecordStore* store, const Datum* values, const bool* nulls);

void DropRecordStore(RecordStore* store);

inline int64 LastColumn(MinimalTuple record) {
  int64 number;
  memcpy(&number, reinterpret_cast<char*>(record) + record->t_len - sizeof number, sizeof number);
  return number;
}

inline void SetLastColumn(MinimalTuple record, int64 number) {
  memcpy(reinterpret_cast<char*>(record) + record->t_len - sizeof number, &number, sizeof number);
}

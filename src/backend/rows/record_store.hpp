/*
 * record_store.hpp - the records of a release between reading and writing.
 *
 * Records are minimal tuples, one behind the other in blocks, in the order in which they come. Blocks stay in memory up
 * to a limit; beyond it all go to a temporary file, which is written and read from its beginning to its end. Of each
 * record the last column is a bigint that is never null, so it is the last 8 bytes of the tuple and can be changed in
 * place.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "storage/buffile.h"
#include "utils/resowner.h"
}

namespace privacy_score {

struct RecordBlock {
  char* begin;
  Size used;
  Size room;
};

struct RecordStore {
  MemoryContext memory;  // of all that follows
  ResourceOwner owner;   // of the temporary file
  Size limit;            // of bytes in memory
  Size block_bytes;
  RecordBlock* blocks;  // with a file only what is not in it yet
  int block_count;
  int block_room;
  BufFile* file;  // null while all records are in memory
  uint64 count;
  Size bytes;
};

// An empty store below the current memory context, its file to belong to the current resource owner. It keeps `limit`
// bytes in memory, and takes memory by `block_bytes`.
RecordStore* NewRecordStore(Size limit, Size block_bytes);

// Adds a row, or a record as it is.
void PutRow(RecordStore* store, TupleDesc columns, const Datum* values, const bool* nulls);
void PutRecord(RecordStore* store, MinimalTuple record);

void DropRecordStore(RecordStore* store);

// Goes through the blocks of a store to which nothing is added any more. Records of a block that was in the file may be
// changed, and are gone when the next one is read.
struct BlockReader {
  RecordStore* store;
  int next;      // of the blocks in memory
  bool rewound;  // the file
  Size used;     // of what was read from it last
};
bool ReadBlock(BlockReader* reader, RecordBlock* block);

// Brings all records back into memory.
void LoadRecords(RecordStore* store);

inline MinimalTuple RecordAt(const RecordBlock* block, Size at) {
  return reinterpret_cast<MinimalTuple>(block->begin + at);
}

// Where the record behind the one at `at` is; `used` of the block behind the last.
inline Size NextRecord(const RecordBlock* block, Size at) { return at + MAXALIGN(RecordAt(block, at)->t_len); }

inline int64 LastColumn(MinimalTuple record) {
  int64 number;
  memcpy(&number, reinterpret_cast<char*>(record) + record->t_len - sizeof number, sizeof number);
  return number;
}

inline void SetLastColumn(MinimalTuple record, int64 number) {
  memcpy(reinterpret_cast<char*>(record) + record->t_len - sizeof number, &number, sizeof number);
}

}  // namespace privacy_score

/*
 * record_store.cpp - see record_store.hpp.
 */
#include "backend/rows/record_store.hpp"

extern "C" {
#include "commands/tablespace.h"
#include "utils/memutils.h"
}

namespace privacy_score {

namespace {

constexpr int kFirstBlocks = 16;

// A temporary file that belongs to whoever made the store, not to the query that fills it.
BufFile* NewFile(const RecordStore* store) {
  PrepareTempTablespaces();
  ResourceOwner owner = CurrentResourceOwner;
  CurrentResourceOwner = store->owner;
  BufFile* file = BufFileCreateTemp(false);
  CurrentResourceOwner = owner;
  return file;
}

// Writes all blocks to the file, each behind its length, and keeps one to go on with.
void WriteBlocks(RecordStore* store) {
  MemoryContext before = MemoryContextSwitchTo(store->memory);
  if (store->file == nullptr) store->file = NewFile(store);
  for (int i = 0; i < store->block_count; ++i) {
    RecordBlock* block = &store->blocks[i];
    if (block->used > 0) {
      BufFileWrite(store->file, &block->used, sizeof block->used);
      BufFileWrite(store->file, block->begin, block->used);
      block->used = 0;
    }
    if (i > 0) pfree(block->begin);
  }
  store->block_count = 1;
  MemoryContextSwitchTo(before);
}

void AddBlock(RecordStore* store, Size length) {
  if (store->block_count == store->block_room) {
    store->block_room *= 2;
    store->blocks = static_cast<RecordBlock*>(
        repalloc_huge(store->blocks, sizeof(RecordBlock) * static_cast<Size>(store->block_room)));
  }
  const Size room = Max(length, store->block_bytes);
  store->blocks[store->block_count++] = {static_cast<char*>(MemoryContextAlloc(store->memory, room)), 0, room};
}

// Room for one more record. The limit counts what is in blocks, and a pointer a record, which arranging takes.
MinimalTuple Reserve(RecordStore* store, Size length) {
  length = MAXALIGN(length);
  RecordBlock* last = store->block_count == 0 ? nullptr : &store->blocks[store->block_count - 1];
  if (last == nullptr || last->room - last->used < length) {
    if (last != nullptr && (store->file != nullptr ||
                            store->bytes + sizeof(MinimalTuple) * store->count + store->block_bytes > store->limit))
      WriteBlocks(store);
    if (store->block_count == 0 || store->blocks[0].used > 0) {
      AddBlock(store, length);
    } else if (store->blocks[0].room < length) {
      pfree(store->blocks[0].begin);
      store->block_count = 0;
      AddBlock(store, length);
    }
    last = &store->blocks[store->block_count - 1];
  }
  char* place = last->begin + last->used;
  last->used += length;
  store->bytes += length;
  ++store->count;
  return reinterpret_cast<MinimalTuple>(place);
}

// Reads as many bytes; false at the end of the file.
bool ReadBytes(BufFile* file, void* bytes, Size count) {
  const Size got = BufFileRead(file, bytes, count);
  if (got != 0 && got != count) elog(ERROR, "a temporary file ends within a record");
  return got == count;
}

// Reads the next block of the file, whose room grows with the largest.
bool ReadFromFile(BlockReader* reader) {
  RecordStore* store = reader->store;
  RecordBlock* buffer = &store->blocks[0];
  if (!reader->rewound) {
    WriteBlocks(store);
    if (BufFileSeek(store->file, 0, 0, SEEK_SET) != 0) elog(ERROR, "could not rewind a temporary file");
    reader->rewound = true;
  }
  Size used;
  if (!ReadBytes(store->file, &used, sizeof used)) return false;
  if (used > buffer->room) {
    pfree(buffer->begin);
    *buffer = {static_cast<char*>(MemoryContextAlloc(store->memory, used)), 0, used};
  }
  if (!ReadBytes(store->file, buffer->begin, used)) elog(ERROR, "a temporary file ends before a record");
  reader->used = used;
  return true;
}

}  // namespace

RecordStore* NewRecordStore(Size limit, Size block_bytes) {
  MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "privacy_score records", ALLOCSET_SMALL_SIZES);
  auto* store = static_cast<RecordStore*>(MemoryContextAllocZero(memory, sizeof(RecordStore)));
  store->memory = memory;
  store->owner = CurrentResourceOwner;
  store->limit = limit;
  store->block_bytes = block_bytes;
  store->block_room = kFirstBlocks;
  store->blocks = static_cast<RecordBlock*>(MemoryContextAlloc(memory, sizeof(RecordBlock) * kFirstBlocks));
  return store;
}

// As heap_form_minimal_tuple() does it, but in its place.
void PutRow(RecordStore* store, TupleDesc columns, const Datum* values, const bool* nulls) {
  auto* all_values = const_cast<Datum*>(values);
  auto* all_nulls = const_cast<bool*>(nulls);
  bool any_null = false;
  for (int i = 0; i < columns->natts; ++i) any_null = any_null || nulls[i];
  Size header = SizeofMinimalTupleHeader;
  if (any_null) header += static_cast<Size>(BITMAPLEN(columns->natts));
  header = MAXALIGN(header);
  const Size data = heap_compute_data_size(columns, all_values, all_nulls);
  const Size length = header + data;
  MinimalTuple record = Reserve(store, length);
  memset(record, 0, length);
  record->t_len = static_cast<uint32>(length);
  HeapTupleHeaderSetNatts(record, columns->natts);
  record->t_hoff = static_cast<uint8>(header + MINIMAL_TUPLE_OFFSET);
  heap_fill_tuple(columns, all_values, all_nulls, reinterpret_cast<char*>(record) + header, data, &record->t_infomask,
                  any_null ? record->t_bits : nullptr);
}

void PutRecord(RecordStore* store, MinimalTuple record) {
  memcpy(Reserve(store, record->t_len), record, record->t_len);
}

void DropRecordStore(RecordStore* store) {
  if (store->file != nullptr) BufFileClose(store->file);
  MemoryContextDelete(store->memory);
}

bool ReadBlock(BlockReader* reader, RecordBlock* block) {
  RecordStore* store = reader->store;
  if (store->file != nullptr) {
    if (!ReadFromFile(reader)) return false;
    *block = {store->blocks[0].begin, reader->used, store->blocks[0].room};
    return true;
  }
  if (reader->next == store->block_count) return false;
  *block = store->blocks[reader->next++];
  return true;
}

void LoadRecords(RecordStore* store) {
  if (store->file == nullptr) return;
  RecordBlock all = {static_cast<char*>(MemoryContextAllocHuge(store->memory, store->bytes)), 0, store->bytes};
  BlockReader reader = {};
  reader.store = store;
  RecordBlock block;
  while (ReadBlock(&reader, &block)) {
    memcpy(all.begin + all.used, block.begin, block.used);
    all.used += block.used;
  }
  pfree(store->blocks[0].begin);
  store->blocks[0] = all;
  BufFileClose(store->file);
  store->file = nullptr;
}

}  // namespace privacy_score

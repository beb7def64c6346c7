/*
 * release_arranging.cpp - see release_arranging.hpp.
 */
#include "backend/release/release_arranging.hpp"

extern "C" {
#include "miscadmin.h"
#include "utils/memutils.h"
}

#include <algorithm>
#include <utility>

#include "backend/rows/coded_pass.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/strong_random.hpp"

namespace privacy_score {

namespace {

constexpr Size kPartBlock = BLCKSZ;
constexpr Size kBytesOfPart = 4 * kPartBlock;  // block, file buffer, what goes with both
constexpr Size kHandyBytes = Size{4} << 20U;   // of records that are arranged at once: near to the processor
constexpr int64 kMostParts = 512;              // that are written to in turns
constexpr Size kAhead = 16;                    // records lie anywhere in memory

// The buckets first..last, whose records are in a store.
struct BucketRange {
  int64 first;
  int64 last;
  bool dealt;  // the records have keys
};

uint64 BucketIndex(const BucketRange& range, MinimalTuple record) {
  const int64 bucket = BucketOfKey(LastColumn(record));
  if (bucket < range.first || bucket > range.last) elog(ERROR, "a record is in the wrong part of a release");
  return static_cast<uint64>(bucket - range.first);
}

bool FitsIntoMemory(const Arrangement* arrangement, const RecordStore* store, const BucketRange& range) {
  if (store->count > PG_UINT32_MAX) return false;
  if (!range.dealt) return store->file == nullptr;
  const Size bytes =
      store->bytes + sizeof(MinimalTuple) * store->count + sizeof(uint32) * static_cast<Size>(range.last - range.first);
  return bytes <= arrangement->memory || range.first == range.last;
}

// Hands out the records of a store by bucket. A bucket's records are listed together, by a counting sort: ends[b] is
// the number of records up to those of the b-th bucket that are listed already.
void ArrangeInMemory(const Arrangement* arrangement, RecordStore* store, const BucketRange& range) {
  LoadRecords(store);
  const auto buckets = static_cast<uint64>(range.last - range.first + 1);
  MemoryContext before = MemoryContextSwitchTo(store->memory);
  auto* list = static_cast<MinimalTuple*>(palloc_extended(sizeof(MinimalTuple) * (store->count + 1), MCXT_ALLOC_HUGE));
  auto* ends = static_cast<uint32*>(palloc_extended(sizeof(uint32) * (buckets + 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  MemoryContextSwitchTo(before);
  RecordBlock block;
  BlockReader counting = {store, 0, false, 0};
  while (ReadBlock(&counting, &block)) {
    CHECK_FOR_INTERRUPTS();
    for (Size at = 0; at < block.used; at = NextRecord(&block, at)) {
      MinimalTuple record = RecordAt(&block, at);
      if (!range.dealt) arrangement->deal(arrangement->context, record);
      if (LastColumn(record) != kLeftOut) ++ends[BucketIndex(range, record) + 1];
    }
  }
  if (!range.dealt) arrangement->dealt(arrangement->context);
  for (uint64 bucket = 0; bucket < buckets; ++bucket) ends[bucket + 1] += ends[bucket];
  const Size listed = ends[buckets];
  BlockReader listing = {store, 0, false, 0};
  while (ReadBlock(&listing, &block)) {
    CHECK_FOR_INTERRUPTS();
    for (Size at = 0; at < block.used; at = NextRecord(&block, at)) {
      MinimalTuple record = RecordAt(&block, at);
      if (LastColumn(record) != kLeftOut) list[ends[BucketIndex(range, record)]++] = record;
    }
  }
  for (uint64 bucket = 0, begin = 0; bucket < buckets; begin = ends[bucket++]) {
    CHECK_FOR_INTERRUPTS();
    const Size end = ends[bucket];
    CallCoreOrRaise([&] {
      for (Size left = end - begin; left > 1; --left)
        std::swap(list[begin + left - 1], list[begin + StrongRandom().Below(left)]);
    });
    for (Size i = begin + kAhead; i < std::min<Size>(end + kAhead, listed); ++i) __builtin_prefetch(list[i]);
    arrangement->receive(arrangement->context, range.first + static_cast<int64>(bucket), list + begin, end - begin);
  }
  arrangement->forget(arrangement->context);
}

// Into how many parts a store is distributed: so that each fits, and no more than there is memory for.
int64 PartsOfStore(const Arrangement* arrangement, const RecordStore* store, const BucketRange& range) {
  const Size bytes = store->bytes + sizeof(MinimalTuple) * store->count;
  // Parts of random buckets differ a little.
  const Size part = std::max<Size>(1, std::min(arrangement->memory, kHandyBytes) / 5 * 4);
  const auto wanted = static_cast<int64>(bytes / part + 1);
  const auto most = std::min(kMostParts, static_cast<int64>(arrangement->memory / kBytesOfPart));
  return std::min(std::max<int64>(2, std::min(wanted, most)), range.last - range.first + 1);
}

void ArrangeRange(const Arrangement* arrangement, RecordStore* store, const BucketRange& range);

void Distribute(const Arrangement* arrangement, RecordStore* store, const BucketRange& range) {
  int64 parts = PartsOfStore(arrangement, store, range);
  const auto width = static_cast<uint32>((range.last - range.first + parts) / parts);
  parts = (range.last - range.first) / width + 1;
  auto** stores = static_cast<RecordStore**>(palloc(sizeof(RecordStore*) * static_cast<Size>(parts)));
  for (int64 i = 0; i < parts; ++i) stores[i] = NewRecordStore(0, kPartBlock);
  RecordBlock block;
  BlockReader reader = {store, 0, false, 0};
  while (ReadBlock(&reader, &block)) {
    CHECK_FOR_INTERRUPTS();
    for (Size at = 0; at < block.used; at = NextRecord(&block, at)) {
      MinimalTuple record = RecordAt(&block, at);
      if (!range.dealt) arrangement->deal(arrangement->context, record);
      if (LastColumn(record) != kLeftOut)
        PutRecord(stores[static_cast<uint32>(BucketIndex(range, record)) / width], record);
    }
  }
  DropRecordStore(store);
  if (!range.dealt) arrangement->dealt(arrangement->context);
  for (int64 i = 0; i < parts; ++i) {
    const int64 first = range.first + i * width;
    ArrangeRange(arrangement, stores[i], {first, std::min<int64>(range.last, first + width - 1), true});
  }
  pfree(stores);
}

// Drops the store.
void ArrangeRange(const Arrangement* arrangement, RecordStore* store, const BucketRange& range) {
  if (FitsIntoMemory(arrangement, store, range)) {
    ArrangeInMemory(arrangement, store, range);
    DropRecordStore(store);
  } else {
    Distribute(arrangement, store, range);
  }
}

}  // namespace

Size ArrangingMemory() { return PassMemory() / 2; }

RecordStore* NewWaitingStore() {
  constexpr Size kBlockBytes = Size{256} << 10U;
  return NewRecordStore(ArrangingMemory(), kBlockBytes);
}

void ArrangeRecords(const Arrangement* arrangement, RecordStore* store) {
  if (arrangement->buckets > kMaxArrangedBuckets) elog(ERROR, "there are too many buckets");
  ArrangeRange(arrangement, store, {1, arrangement->buckets, false});
}

}  // namespace privacy_score

/*
 * release_rows.cpp - see release_rows.hpp.
 */
#include "backend/release/release_rows.hpp"

extern "C" {
#include "common/hashfn.h"
#include "utils/memutils.h"
}

#include "backend/release/release_arranging.hpp"
#include "backend/rows/row_reading.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/internal.hpp"
#include "core/buckets/order_check.hpp"
#include "core/buckets/release_check.hpp"

namespace privacy_score {

namespace {

// A step of the hash of a row.
uint64 Mix(uint64 hash, uint64 word) {
  hash = (hash ^ word) * UINT64CONST(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

// A hash of the bits of the first columns of a row. The sum over all rows does not depend on their order.
uint64 HashRow(TupleDesc columns, int count, const Datum* values, const bool* nulls) {
  uint64 hash = 0;
  for (int i = 0; i < count; ++i) {
    const FormData_pg_attribute* column = TupleDescAttr(columns, i);
    if (nulls[i]) {
      hash = Mix(hash, 1);
    } else if (column->attbyval) {
      const int unused = 64 - 8 * column->attlen;
      hash = Mix(hash, (values[i] << unused) >> unused);
    } else if (column->attlen == -1) {
      const struct varlena* bytes =
          pg_detoast_datum_packed(reinterpret_cast<struct varlena*>(DatumGetPointer(values[i])));
      hash = Mix(hash, hash_bytes_extended(reinterpret_cast<const unsigned char*>(VARDATA_ANY(bytes)),
                                           static_cast<int>(VARSIZE_ANY_EXHDR(bytes)), 0));
    } else {
      hash = Mix(hash, hash_bytes_extended(reinterpret_cast<const unsigned char*>(DatumGetPointer(values[i])),
                                           column->attlen, 0));
    }
  }
  return Mix(hash, 0);
}

struct SourceTaker {
  SourceRows* source;
  int64 room;  // of source->counts
  Datum* row_values;
  bool* row_nulls;
};

void MakeRoomForValue(SourceTaker* taker, uint32 number) {
  if (number < taker->room) return;
  int64* counts = taker->source->counts;
  counts = static_cast<int64*>(repalloc_huge(counts, sizeof(int64) * 2 * static_cast<Size>(taker->room)));
  memset(counts + taker->room, 0, sizeof(int64) * static_cast<Size>(taker->room));
  taker->source->counts = counts;
  taker->room *= 2;
}

void TakeSourceRow(void* context, TupleTableSlot* row) {
  auto* taker = static_cast<SourceTaker*>(context);
  SourceRows* source = taker->source;
  const int quasi = source->columns->natts - 1;
  const uint32 number = NumberOf(source->values, row->tts_values[quasi], row->tts_isnull[quasi]);
  source->fingerprint += HashRow(source->columns, quasi, row->tts_values, row->tts_isnull);
  MakeRoomForValue(taker, number);
  ++source->counts[number];
  memcpy(taker->row_values, row->tts_values, sizeof(Datum) * static_cast<Size>(quasi));
  memcpy(taker->row_nulls, row->tts_isnull, sizeof(bool) * static_cast<Size>(quasi));
  taker->row_values[quasi] = Int64GetDatum(number);
  taker->row_nulls[quasi] = false;
  PutRow(source->store, source->columns, taker->row_values, taker->row_nulls);
}

struct ReleaseTaker {
  const ReleaseReading* reading;
  uint64 fingerprint;
};

uint32 BucketNumber(const ReleaseReading* reading, Datum bucket, bool null) {
  if (reading->buckets != nullptr) return NumberOf(reading->buckets, bucket, null);
  const int64 number = null ? 0 : DatumGetInt64(bucket);
  if (number < 1 || number > reading->last_bucket) elog(ERROR, "a row of a release has no bucket");
  return static_cast<uint32>(number - 1);
}

void TakeReleasedRecord(void* context, TupleTableSlot* row) {
  auto* taker = static_cast<ReleaseTaker*>(context);
  const ReleaseReading* reading = taker->reading;
  const int quasi = row->tts_tupleDescriptor->natts - 1;
  const uint32 bucket = BucketNumber(reading, row->tts_values[quasi], row->tts_isnull[quasi]);
  const uint64 hash = HashRow(row->tts_tupleDescriptor, quasi, row->tts_values, row->tts_isnull);
  taker->fingerprint += hash;
  CallCoreOrRaise([&] {
    reading->check->AddRecord(bucket);
    if (reading->order != nullptr) reading->order->AddRecord(hash, bucket);
  });
}

void TakeReleasedValue(void* context, TupleTableSlot* row) {
  const ReleaseReading* reading = static_cast<ReleaseTaker*>(context)->reading;
  const uint32 bucket = BucketNumber(reading, row->tts_values[0], row->tts_isnull[0]);
  const uint32 value = NumberOf(reading->values, row->tts_values[1], row->tts_isnull[1]);
  int64 count = 1;
  if (reading->counted) count = row->tts_isnull[2] ? 0 : DatumGetInt64(row->tts_values[2]);
  if (count < 1)
    ++*reading->senseless;
  else
    CallCoreOrRaise([&] { reading->check->AddValue(bucket, value, count); });
}

void TakeHashedRow(void* context, TupleTableSlot* row) {
  const auto* reading = static_cast<const SourceReading*>(context);
  const int quasi = row->tts_tupleDescriptor->natts - 1;
  const uint32 value = NumberOf(reading->values, row->tts_values[quasi], row->tts_isnull[quasi]);
  reading->receive(reading->context, row, HashRow(row->tts_tupleDescriptor, quasi, row->tts_values, row->tts_isnull),
                   value);
}

}  // namespace

void ReadSource(SourceRows* source, const char* sql, TupleDesc columns, ValueList* values) {
  constexpr int64 kFirstRoom = 64;
  SourceTaker taker = {};
  taker.source = source;
  taker.room = kFirstRoom;
  taker.row_values = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<Size>(columns->natts)));
  taker.row_nulls = static_cast<bool*>(palloc(sizeof(bool) * static_cast<Size>(columns->natts)));
  *source = {};
  source->values = values;
  source->columns = columns;
  source->counts = static_cast<int64*>(palloc0(sizeof(int64) * kFirstRoom));
  source->store = NewWaitingStore();
  source->rows = ReadRows(sql, TakeSourceRow, &taker);
  source->values_count = source->values->count;
}

void ReadInPhysicalOrder() {
  SetWithin("synchronize_seqscans", "off");
  SetWithin("max_parallel_workers_per_gather", "0");
}

uint64 ReadRelease(const ReleaseReading* reading) {
  ReleaseTaker taker = {reading, 0};
  ReadRows(reading->records_sql, TakeReleasedRecord, &taker, reading->fresh);
  ReadRows(reading->values_sql, TakeReleasedValue, &taker, reading->fresh);
  return taker.fingerprint;
}

void ReadSourceRows(const SourceReading* reading) {
  ReadRows(reading->sql, TakeHashedRow, const_cast<SourceReading*>(reading));
}

}  // namespace privacy_score

/*
 * release_rows.cpp - see release_rows.hpp.
 */
#include "release_rows.hpp"

extern "C" {
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "utils/guc.h"
#include "utils/memutils.h"
}

#include "core/order_check.hpp"
#include "core/release_check.hpp"
#include "core_call.hpp"
#include "progress.hpp"

namespace {

constexpr uint64 kRowsBetweenReports = 1024;

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

// Where the executor sends rows.
struct Receiver {
  DestReceiver receiver;
  MemoryContext row;  // what one row leaves behind
  uint64 rows;
};

void Report(Receiver* receiver) {
  if (++receiver->rows % kRowsBetweenReports == 0) SetProgress(receiver->rows, 0);
}

void Execute(Receiver* receiver, const char* sql, bool (*receive)(TupleTableSlot*, DestReceiver*), bool read_only) {
  receiver->receiver = {receive, [](DestReceiver*, int, TupleDesc) {}, [](DestReceiver*) {}, [](DestReceiver*) {},
                        DestTuplestore};
  receiver->row = AllocSetContextCreate(CurrentMemoryContext, "privacy_score row", ALLOCSET_DEFAULT_SIZES);
  receiver->rows = 0;
  SPIExecuteOptions options = {};
  options.read_only = read_only;
  options.dest = &receiver->receiver;
  if (SPI_execute_extended(sql, &options) != SPI_OK_SELECT) elog(ERROR, "could not read the rows of a release");
  MemoryContextDelete(receiver->row);
}

struct SourceReceiver {
  Receiver base;
  SourceRows* source;
  TupleDesc columns;
  int64 room;  // of source->counts
  Datum* row_values;
  bool* row_nulls;
};

bool ReceiveSource(TupleTableSlot* slot, DestReceiver* self) {
  auto* receiver = reinterpret_cast<SourceReceiver*>(self);
  SourceRows* source = receiver->source;
  const int quasi = receiver->columns->natts - 1;
  slot_getallattrs(slot);
  MemoryContext before = MemoryContextSwitchTo(receiver->base.row);
  const uint32 number = NumberOf(source->values, slot->tts_values[quasi], slot->tts_isnull[quasi]);
  source->fingerprint += HashRow(receiver->columns, quasi, slot->tts_values, slot->tts_isnull);
  MemoryContextSwitchTo(before);
  MemoryContextReset(receiver->base.row);
  if (number >= receiver->room) {
    source->counts =
        static_cast<int64*>(repalloc_huge(source->counts, sizeof(int64) * 2 * static_cast<Size>(receiver->room)));
    memset(source->counts + receiver->room, 0, sizeof(int64) * static_cast<Size>(receiver->room));
    receiver->room *= 2;
  }
  ++source->counts[number];
  memcpy(receiver->row_values, slot->tts_values, sizeof(Datum) * static_cast<Size>(quasi));
  memcpy(receiver->row_nulls, slot->tts_isnull, sizeof(bool) * static_cast<Size>(quasi));
  receiver->row_values[quasi] = Int64GetDatum(number);
  receiver->row_nulls[quasi] = false;
  PutRow(source->store, receiver->columns, receiver->row_values, receiver->row_nulls);
  Report(&receiver->base);
  return true;
}

struct CheckReceiver {
  Receiver base;
  const ReleaseReading* reading;
  uint64 fingerprint;
};

uint32 BucketNumber(const ReleaseReading* reading, Datum bucket, bool null) {
  if (reading->buckets != nullptr) return NumberOf(reading->buckets, bucket, null);
  const int64 number = null ? 0 : DatumGetInt64(bucket);
  if (number < 1 || number > reading->last_bucket) elog(ERROR, "a row of a release has no bucket");
  return static_cast<uint32>(number - 1);
}

bool ReceiveRecord(TupleTableSlot* slot, DestReceiver* self) {
  auto* receiver = reinterpret_cast<CheckReceiver*>(self);
  const ReleaseReading* reading = receiver->reading;
  const int quasi = slot->tts_tupleDescriptor->natts - 1;
  slot_getallattrs(slot);
  MemoryContext before = MemoryContextSwitchTo(receiver->base.row);
  const uint32 bucket = BucketNumber(reading, slot->tts_values[quasi], slot->tts_isnull[quasi]);
  const uint64 hash = HashRow(slot->tts_tupleDescriptor, quasi, slot->tts_values, slot->tts_isnull);
  MemoryContextSwitchTo(before);
  MemoryContextReset(receiver->base.row);
  receiver->fingerprint += hash;
  CallCoreOrRaise([&] {
    reading->check->AddRecord(bucket);
    if (reading->order != nullptr) reading->order->AddRecord(hash, bucket);
  });
  Report(&receiver->base);
  return true;
}

bool ReceiveValue(TupleTableSlot* slot, DestReceiver* self) {
  auto* receiver = reinterpret_cast<CheckReceiver*>(self);
  const ReleaseReading* reading = receiver->reading;
  slot_getallattrs(slot);
  MemoryContext before = MemoryContextSwitchTo(receiver->base.row);
  const uint32 bucket = BucketNumber(reading, slot->tts_values[0], slot->tts_isnull[0]);
  const uint32 value = NumberOf(reading->values, slot->tts_values[1], slot->tts_isnull[1]);
  MemoryContextSwitchTo(before);
  MemoryContextReset(receiver->base.row);
  int64 count = 1;
  if (reading->counted) count = slot->tts_isnull[2] ? 0 : DatumGetInt64(slot->tts_values[2]);
  if (count < 1)
    ++*reading->senseless;
  else
    CallCoreOrRaise([&] { reading->check->AddValue(bucket, value, count); });
  Report(&receiver->base);
  return true;
}

struct RowReceiver {
  Receiver base;
  const SourceReading* reading;
};

bool ReceiveRow(TupleTableSlot* slot, DestReceiver* self) {
  auto* receiver = reinterpret_cast<RowReceiver*>(self);
  const int quasi = slot->tts_tupleDescriptor->natts - 1;
  slot_getallattrs(slot);
  MemoryContext before = MemoryContextSwitchTo(receiver->base.row);
  const uint32 value = NumberOf(receiver->reading->values, slot->tts_values[quasi], slot->tts_isnull[quasi]);
  const uint64 hash = HashRow(slot->tts_tupleDescriptor, quasi, slot->tts_values, slot->tts_isnull);
  receiver->reading->receive(receiver->reading->context, slot, hash, value);
  MemoryContextSwitchTo(before);
  MemoryContextReset(receiver->base.row);
  Report(&receiver->base);
  return true;
}

struct PlainReceiver {
  Receiver base;
  void (*receive)(void* context, TupleTableSlot* row);
  void* context;
};

bool ReceivePlain(TupleTableSlot* slot, DestReceiver* self) {
  auto* receiver = reinterpret_cast<PlainReceiver*>(self);
  slot_getallattrs(slot);
  MemoryContext before = MemoryContextSwitchTo(receiver->base.row);
  receiver->receive(receiver->context, slot);
  MemoryContextSwitchTo(before);
  MemoryContextReset(receiver->base.row);
  Report(&receiver->base);
  return true;
}

}  // namespace

void ReadSource(SourceRows* source, const char* sql, TupleDesc columns, ValueList* values, Size memory) {
  constexpr Size kBlockBytes = Size{256} << 10U;
  constexpr int64 kFirstRoom = 64;
  SourceReceiver receiver = {};
  receiver.source = source;
  receiver.columns = columns;
  receiver.room = kFirstRoom;
  receiver.row_values = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<Size>(columns->natts)));
  receiver.row_nulls = static_cast<bool*>(palloc(sizeof(bool) * static_cast<Size>(columns->natts)));
  *source = {};
  source->values = values;
  source->columns = columns;
  source->counts = static_cast<int64*>(palloc0(sizeof(int64) * kFirstRoom));
  source->store = NewRecordStore(memory, kBlockBytes);
  Execute(&receiver.base, sql, ReceiveSource, true);
  source->rows = receiver.base.rows;
  source->values_count = source->values->count;
}

void ReadInPhysicalOrder() {
  const auto set = [](const char* name, const char* value) {
    set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  };
  set("synchronize_seqscans", "off");
  set("max_parallel_workers_per_gather", "0");
}

uint64 ReadRelease(const ReleaseReading* reading) {
  CheckReceiver receiver = {};
  receiver.reading = reading;
  Execute(&receiver.base, reading->records_sql, ReceiveRecord, !reading->fresh);
  Execute(&receiver.base, reading->values_sql, ReceiveValue, !reading->fresh);
  return receiver.fingerprint;
}

void ReadSourceRows(const SourceReading* reading) {
  RowReceiver receiver = {};
  receiver.reading = reading;
  Execute(&receiver.base, reading->sql, ReceiveRow, true);
}

uint64 ReadRows(const char* sql, void (*receive)(void* context, TupleTableSlot* row), void* context) {
  PlainReceiver receiver = {};
  receiver.receive = receive;
  receiver.context = context;
  Execute(&receiver.base, sql, ReceivePlain, true);
  return receiver.base.rows;
}

/*
 * utility_functions.cpp - release_utility(): how far counts from a release are from those of its source.
 *
 * All three relations are read once, by statements of the caller, into codes, 4 bytes a column, which go to temporary
 * files beyond a part of maintenance_work_mem. The rows of the release are arranged by bucket. Then core gets them part
 * by part, as often as it takes to ask all queries, of which as many are asked at a time as fit into memory. Values are
 * equal when the column's type says so.
 */
extern "C" {
#include "postgres.h"

#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include <memory>
#include <vector>

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/release/bucket_methods.hpp"
#include "backend/release/release_arranging.hpp"
#include "backend/release/release_rows.hpp"
#include "backend/release/release_shape.hpp"
#include "backend/rows/coded_pass.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/strong_random.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/progress.hpp"
#include "core/buckets/release_utility.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_release_utility);
}

namespace {

// All core objects of one call.
struct UtilityWork {
  std::unique_ptr<privacy_score::ReleaseUtility> utility;
  std::vector<privacy_score::DimensionUtility> result;
};

// A record of a store: the length, which is where a minimal tuple has it, codes, and at the end what it belongs to: of
// the source its value, of the release its bucket, and whether it is a row of the first table or of the second.
struct CodeRecord {
  uint32 length;
  uint32 codes[FLEXIBLE_ARRAY_MEMBER];
};
constexpr uint32 kRecordRow = 0;
constexpr uint32 kValueRow = 1;

struct UtilityReading {
  const ReleaseShape* shape;
  ValueList** columns;  // one a quasi-identifier
  ValueList* values;
  ValueList* buckets;
  CodeRecord* row;  // at hand
  RecordStore* source;
  RecordStore* release;
  RecordStore* arranged;  // rows of the release by bucket
  UtilityWork* work;
};

constexpr Size kBlockBytes = Size{64} << 10U;

// What each of four takes: the codes of the source, of the release twice while they are arranged, queries.
Size QuarterOfMemory() { return PassMemory() / 4; }

void CodeColumns(const UtilityReading* reading, const TupleTableSlot* row) {
  for (int i = 0; i < reading->shape->quasi.count; ++i)
    reading->row->codes[i] = NumberOf(reading->columns[i], row->tts_values[i], row->tts_isnull[i]);
}

// Adds the row at hand, which has so many codes.
void PutCodes(const UtilityReading* reading, RecordStore* store, int codes, int64 key) {
  reading->row->length =
      static_cast<uint32>(offsetof(CodeRecord, codes) + sizeof(uint32) * static_cast<Size>(codes) + sizeof key);
  auto* record = reinterpret_cast<MinimalTuple>(reading->row);
  SetLastColumn(record, key);
  PutRecord(store, record);
}

// Quasi-identifiers and the sensitive value.
void TakeSource(void* context, TupleTableSlot* row, uint64, uint32 value) {
  const auto* reading = static_cast<const UtilityReading*>(context);
  CodeColumns(reading, row);
  PutCodes(reading, reading->source, reading->shape->quasi.count, value);
}

// Quasi-identifiers and the bucket; a record without one is in none.
void TakeUtilityRecord(void* context, TupleTableSlot* row, uint64, uint32 bucket) {
  const auto* reading = static_cast<const UtilityReading*>(context);
  if (row->tts_isnull[reading->shape->quasi.count]) return;
  CodeColumns(reading, row);
  PutCodes(reading, reading->release, reading->shape->quasi.count, PlaceKey(int64{bucket} + 1, kRecordRow));
}

// The sensitive value, how often it is there, and the bucket.
void TakeValue(void* context, TupleTableSlot* row, uint64, uint32 bucket) {
  const auto* reading = static_cast<const UtilityReading*>(context);
  if (row->tts_isnull[1] || row->tts_isnull[2]) return;
  const int64 count = DatumGetInt64(row->tts_values[1]);
  reading->row->codes[0] = NumberOf(reading->values, row->tts_values[0], row->tts_isnull[0]);
  memcpy(&reading->row->codes[1], &count, sizeof count);
  PutCodes(reading, reading->release, 3, PlaceKey(int64{bucket} + 1, kValueRow));
}

void ReadUtilityRows(UtilityReading* reading, const char* phase, const char* sql, ValueList* last,
                     void (*receive)(void*, TupleTableSlot*, uint64, uint32)) {
  SetProgressPhase(phase);
  const SourceReading rows = {sql, last, receive, reading};
  ReadSourceRows(&rows);
}

// The number of values of each column, the sensitive one last.
void TellDomains(const UtilityReading* reading) {
  CallCoreOrRaise([&] {
    std::vector<std::size_t> sizes;
    for (int i = 0; i < reading->shape->quasi.count; ++i)
      sizes.push_back(static_cast<std::size_t>(reading->columns[i]->count));
    sizes.push_back(static_cast<std::size_t>(reading->values->count));
    reading->work->utility->SetDomains(sizes);
  });
}

void ReadAll(UtilityReading* reading, Oid source, const ColumnList* source_columns) {
  const ReleaseShape* shape = reading->shape;
  const char* count = shape->count == InvalidAttrNumber ? "1" : psprintf("r.%s", QuotedColumn(shape->st, shape->count));
  const char* values_sql =
      psprintf("SELECT r.%s, %s::pg_catalog.int8, %s FROM %s r", QuotedColumn(shape->st, shape->value), count,
               ColumnAs(shape->st, shape->st_bid, shape->qit, shape->qit_bid, "r"), shape->st_name);
  ReadUtilityRows(reading, "reading the source", ReleaseSourceSql(shape, source, source_columns), reading->values,
                  TakeSource);
  TellDomains(reading);
  ReadUtilityRows(reading, "reading the release", ReleaseRecordsSql(shape), reading->buckets, TakeUtilityRecord);
  ReadUtilityRows(reading, "reading the release", values_sql, reading->buckets, TakeValue);
}

void ArrangeRelease(UtilityReading* reading) {
  SetProgressPhase("arranging the release");
  Arrangement arrangement = {};
  arrangement.buckets = reading->buckets->count;
  arrangement.memory = QuarterOfMemory();
  arrangement.context = reading;
  arrangement.deal = [](void*, MinimalTuple) {};
  arrangement.dealt = [](void*) {};
  arrangement.receive = [](void* context, int64, MinimalTuple* records, Size rows) {
    for (Size i = 0; i < rows; ++i) PutRecord(static_cast<UtilityReading*>(context)->arranged, records[i]);
  };
  arrangement.forget = [](void*) {};
  ArrangeRecords(&arrangement, reading->release);
}

// Asks the rows that core has the queries at hand.
void AskPart(const UtilityReading* reading) {
  RunPausing([&](auto interrupted) { return reading->work->utility->Ask({interrupted}); });
}

// Hands the rows of a store to core with hand(row, key, first of a part, first of a bucket), and asks it whenever it
// has a part, between buckets.
template <typename Hand>
void AskStore(const UtilityReading* reading, RecordStore* store, Hand hand) {
  constexpr Size kRowsOfPart = Size{1} << 16U;
  const Size row_bytes = sizeof(uint32) * static_cast<Size>(reading->shape->quasi.count + 4);
  const Size part = Max(Size{1024}, Min(kRowsOfPart, QuarterOfMemory() / 4 / row_bytes));
  BlockReader reader = {store, 0, false, 0};
  RecordBlock block;
  Size rows = 0;
  int64 bucket = 0;  // of the row before
  while (ReadBlock(&reader, &block)) {
    for (Size at = 0; at < block.used; at = NextRecord(&block, at), ++rows) {
      MinimalTuple record = RecordAt(&block, at);
      const int64 key = LastColumn(record);
      if (rows >= part && (BucketOfKey(key) == 0 || BucketOfKey(key) != bucket)) {
        AskPart(reading);
        rows = 0;
      }
      const bool begins = rows == 0 || BucketOfKey(key) != bucket;
      bucket = BucketOfKey(key);
      CallCoreOrRaise([&] { hand(reinterpret_cast<const CodeRecord*>(record), key, rows == 0, begins); });
    }
  }
  AskPart(reading);
}

// Asks all rows the queries at hand.
void AskAll(const UtilityReading* reading) {
  privacy_score::ReleaseUtility* utility = reading->work->utility.get();
  AskStore(reading, reading->source, [=](const CodeRecord* row, int64 key, bool, bool) {
    utility->AddSource(row->codes, static_cast<uint32>(key));
  });
  uint32 bucket = 0;  // of the part
  AskStore(reading, reading->arranged, [=, &bucket](const CodeRecord* row, int64 key, bool first, bool begins) {
    if (first)
      bucket = 0;
    else if (begins)
      ++bucket;
    if (ValueOfKey(key) == kRecordRow) {
      utility->AddRecord(row->codes, bucket);
    } else {
      int64 count;
      memcpy(&count, &row->codes[1], sizeof count);
      utility->AddValue(bucket, row->codes[0], count);
    }
  });
  CallCoreOrRaise([&] { utility->Judge(); });
}

}  // namespace

// release_utility(qit, st, source, queries, selectivity)
Datum ps_release_utility(PG_FUNCTION_ARGS) {
  const Oid qit = RelationArgument(fcinfo, 0, "qit");
  const ReleaseShape shape = ShapeOfRelease(qit, RelationArgument(fcinfo, 1, "st"));
  const Oid source = RelationArgument(fcinfo, 2, "source");
  const ColumnList source_columns = ColumnsOfSource(&shape, source);
  RequireArgument(fcinfo, 3, "queries");
  RequireArgument(fcinfo, 4, "selectivity");
  if (shape.quasi.count == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
                    errmsg("relation \"%s\" has no quasi-identifiers", get_rel_name(qit)),
                    errhint("Queries need columns beside bid.")));
  const auto columns = static_cast<Size>(shape.quasi.count);
  auto* work = NewCoreObject<UtilityWork>();
  CallCoreOrRaise([&] {
    work->utility = std::make_unique<privacy_score::ReleaseUtility>(columns, PG_GETARG_INT32(3), PG_GETARG_FLOAT8(4));
  });
  InitMaterializedSRF(fcinfo, 0);
  BeginProgress("release_utility", qit, "reading the source");
  ConnectSpi();
  UtilityReading reading = {};
  reading.shape = &shape;
  reading.columns = static_cast<ValueList**>(palloc(sizeof(ValueList*) * columns));
  reading.values = NewColumnValues(shape.st, shape.value);
  reading.buckets = NewColumnValues(qit, shape.qit_bid);
  reading.row = static_cast<CodeRecord*>(palloc0(offsetof(CodeRecord, codes) + sizeof(uint32) * (columns + 8)));
  reading.source = NewRecordStore(QuarterOfMemory(), kBlockBytes);
  reading.release = NewRecordStore(QuarterOfMemory(), kBlockBytes);
  reading.arranged = NewRecordStore(QuarterOfMemory(), kBlockBytes);
  reading.work = work;
  for (int i = 0; i < shape.quasi.count; ++i) reading.columns[i] = NewColumnValues(qit, shape.quasi.numbers[i]);
  ReadAll(&reading, source, &source_columns);
  ArrangeRelease(&reading);
  SetProgressPhase("asking queries");
  for (bool any = true; any;) {
    CallCoreOrRaise([&] { any = work->utility->DrawQueries(StrongRandom(), QuarterOfMemory()); });
    if (any) AskAll(&reading);
  }
  DropRecordStore(reading.source);
  DropRecordStore(reading.arranged);
  SPI_finish();
  CallCoreOrRaise([&] { work->result = work->utility->Result(); });
  for (Size i = 0; i < columns; ++i) {
    const privacy_score::DimensionUtility& each = work->result[i];
    const bool none = each.queries == 0;
    Datum values[4] = {Int32GetDatum(static_cast<int32>(i) + 1), Int32GetDatum(static_cast<int32>(each.queries)),
                       Float8GetDatum(each.mean_relative_error), Float8GetDatum(each.median_relative_error)};
    bool nulls[4] = {false, false, none, none};
    PutResultRow(fcinfo, values, nulls);
  }
  EndProgress();
  return Datum(0);
}

}  // namespace privacy_score

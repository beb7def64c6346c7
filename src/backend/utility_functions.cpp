/*
 * utility_functions.cpp - release_utility(): how far counts from a release are from those of its source.
 *
 * All three relations are read once, by statements of the caller, into codes that core keeps; the queries are asked
 * there. Values are equal when the column's type says so.
 */
extern "C" {
#include "postgres.h"

#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(ps_release_utility);
}

#include <memory>
#include <vector>

#include "bucket_methods.hpp"
#include "core/release_utility.hpp"
#include "internal.hpp"
#include "progress.hpp"
#include "publish_arguments.hpp"
#include "release_rows.hpp"
#include "release_shape.hpp"
#include "strong_random.hpp"

namespace {

// All core objects of one call.
struct UtilityWork {
  std::unique_ptr<privacy_score::ReleaseUtility> utility;
  std::vector<privacy_score::DimensionUtility> result;
};

struct UtilityReading {
  const ReleaseShape* shape;
  ValueList** columns;  // one a quasi-identifier
  ValueList* values;
  ValueList* buckets;
  uint32* codes;  // of the row at hand
  UtilityWork* work;
};

ValueList* ListOf(Oid relation, AttrNumber column) {
  Oid type, collation;
  int32 modifier;
  get_atttypetypmodcoll(relation, column, &type, &modifier, &collation);
  return NewValueList(type, collation, get_attname(relation, column, false));
}

void CodeColumns(const UtilityReading* reading, const TupleTableSlot* row) {
  for (int i = 0; i < reading->shape->quasi.count; ++i)
    reading->codes[i] = NumberOf(reading->columns[i], row->tts_values[i], row->tts_isnull[i]);
}

// Quasi-identifiers and the sensitive value.
void TakeSource(void* context, TupleTableSlot* row, uint64, uint32 value) {
  const auto* reading = static_cast<const UtilityReading*>(context);
  CodeColumns(reading, row);
  CallCoreOrRaise([&] { reading->work->utility->AddSource(reading->codes, value); });
}

// Quasi-identifiers and the bucket; a record without one is in none.
void TakeRecord(void* context, TupleTableSlot* row, uint64, uint32 bucket) {
  const auto* reading = static_cast<const UtilityReading*>(context);
  if (row->tts_isnull[reading->shape->quasi.count]) return;
  CodeColumns(reading, row);
  CallCoreOrRaise([&] { reading->work->utility->AddRecord(reading->codes, bucket); });
}

// The sensitive value, how often it is there, and the bucket.
void TakeValue(void* context, TupleTableSlot* row, uint64, uint32 bucket) {
  const auto* reading = static_cast<const UtilityReading*>(context);
  if (row->tts_isnull[1] || row->tts_isnull[2]) return;
  const uint32 value = NumberOf(reading->values, row->tts_values[0], row->tts_isnull[0]);
  const int64 count = DatumGetInt64(row->tts_values[1]);
  CallCoreOrRaise([&] { reading->work->utility->AddValue(bucket, value, count); });
}

void Read(UtilityReading* reading, const char* phase, const char* sql, ValueList* last,
          void (*receive)(void*, TupleTableSlot*, uint64, uint32)) {
  SetProgressPhase(phase);
  const SourceReading rows = {sql, last, receive, reading};
  ReadSourceRows(&rows);
}

void ReadAll(UtilityReading* reading, Oid source, const ColumnList* source_columns) {
  const ReleaseShape* shape = reading->shape;
  const char* count = shape->count == InvalidAttrNumber ? "1" : psprintf("r.%s", QuotedColumn(shape->st, shape->count));
  const char* values_sql =
      psprintf("SELECT r.%s, %s::pg_catalog.int8, %s FROM %s r", QuotedColumn(shape->st, shape->value), count,
               ColumnAs(shape->st, shape->st_bid, shape->qit, shape->qit_bid, "r"), shape->st_name);
  Read(reading, "reading the source", ReleaseSourceSql(shape, source, source_columns), reading->values, TakeSource);
  Read(reading, "reading the release", ReleaseRecordsSql(shape), reading->buckets, TakeRecord);
  Read(reading, "reading the release", values_sql, reading->buckets, TakeValue);
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
  auto* holder = NewCoreHolder<UtilityWork>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    holder->Reset(new UtilityWork());
    holder->object->utility =
        std::make_unique<privacy_score::ReleaseUtility>(columns, PG_GETARG_INT32(3), PG_GETARG_FLOAT8(4));
  });
  UtilityWork* work = holder->object;
  InitMaterializedSRF(fcinfo, 0);
  BeginProgress("release_utility", qit, "reading the source");
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "could not connect to SPI");
  UtilityReading reading = {&shape,
                            static_cast<ValueList**>(palloc(sizeof(ValueList*) * columns)),
                            ListOf(shape.st, shape.value),
                            ListOf(qit, shape.qit_bid),
                            static_cast<uint32*>(palloc(sizeof(uint32) * columns)),
                            work};
  for (int i = 0; i < shape.quasi.count; ++i) reading.columns[i] = ListOf(qit, shape.quasi.numbers[i]);
  ReadAll(&reading, source, &source_columns);
  SPI_finish();
  SetProgressPhase("asking queries");
  CallCoreOrRaise([&] { work->utility->Prepare(); });
  volatile std::int64_t done = 0, total = PG_GETARG_INT32(3);
  RunPausing([&](auto interrupted) {
    SetProgress(static_cast<uint64>(done), static_cast<uint64>(total));
    return work->utility->Run(StrongRandom(), {interrupted, &done, &total});
  });
  CallCoreOrRaise([&] { work->result = work->utility->Result(); });
  auto* info = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  for (Size i = 0; i < columns; ++i) {
    const privacy_score::DimensionUtility& each = work->result[i];
    const bool none = each.queries == 0;
    Datum values[4] = {Int32GetDatum(static_cast<int32>(i) + 1), Int32GetDatum(static_cast<int32>(each.queries)),
                       Float8GetDatum(each.mean_relative_error), Float8GetDatum(each.median_relative_error)};
    bool nulls[4] = {false, false, none, none};
    tuplestore_putvalues(info->setResult, info->setDesc, values, nulls);
  }
  EndProgress();
  return Datum(0);
}

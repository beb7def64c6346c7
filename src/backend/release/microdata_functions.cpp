/*
 * microdata_functions.cpp - release_sample() and release_perturbed(): records published as a table, some of them as
 * they are, or all of them with noise in their values.
 *
 * With the rights and in the transaction of the caller, as bucketize(): an error or a cancel leaves nothing. The
 * relation is read once, into a store that goes to disk beyond half of maintenance_work_mem; records leave it in random
 * order.
 */
extern "C" {
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/release/perturbed_values.hpp"
#include "backend/release/release_arranging.hpp"
#include "backend/release/release_tables.hpp"
#include "backend/release/shuffled_records.hpp"
#include "backend/rows/record_store.hpp"
#include "backend/rows/row_reading.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/progress.hpp"
#include "core/loss/technique_posteriors.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_release_sample);
PG_FUNCTION_INFO_V1(ps_release_perturbed);
}

namespace {

struct MicrodataRequest {
  const char* command;
  Oid relation;
  ColumnList columns;           // all of the relation
  PerturbedColumn** perturbed;  // by column: null when it is published as it is
  ReleaseTable target;
};

// All columns of the relation; raises 42501 unless the caller may read each.
void FindColumns(MicrodataRequest* request) {
  ::Relation relation = table_open(request->relation, AccessShareLock);
  const TupleDesc columns = RelationGetDescr(relation);
  const auto count = static_cast<Size>(columns->natts);
  request->columns.numbers = static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * (count + 1)));
  request->perturbed = static_cast<PerturbedColumn**>(palloc0(sizeof(PerturbedColumn*) * (count + 1)));
  for (int i = 0; i < columns->natts; ++i)
    if (!TupleDescAttr(columns, i)->attisdropped)
      request->columns.numbers[request->columns.count++] = static_cast<AttrNumber>(i + 1);
  table_close(relation, NoLock);
  for (int i = 0; i < request->columns.count; ++i) RequireSelect(request->relation, request->columns.numbers[i]);
}

void NameTarget(FunctionCallInfo fcinfo, int replace_argument, MicrodataRequest* request) {
  RequireArgument(fcinfo, 1, "target");
  RequireArgument(fcinfo, replace_argument, "replace");
  NameReleaseTable(&request->target, "target", PG_GETARG_TEXT_PP(1), PG_GETARG_BOOL(replace_argument));
  RequireAnotherTable(&request->target, request->relation);
}

// Columns of the table that is published, and of the store: numbers of values where noise will come, and at the end the
// place for a random number.
TupleDesc ShapeTarget(MicrodataRequest* request) {
  ::Relation relation = table_open(request->relation, NoLock);
  const TupleDesc columns = RelationGetDescr(relation);
  const auto count = static_cast<AttrNumber>(request->columns.count);
  TupleDesc stored = CreateTemplateTupleDesc(count + 1);
  for (AttrNumber i = 0; i < count; ++i) {
    FormData_pg_attribute column = *TupleDescAttr(columns, request->columns.numbers[i] - 1);
    const PerturbedColumn* perturbed = request->perturbed[i];
    if (perturbed != nullptr) {
      column.atttypid = perturbed->shown_type;
      column.atttypmod = -1;
      column.attcollation = InvalidOid;
    }
    AddColumnLike(&request->target, &column);
    TupleDescInitEntry(stored, static_cast<AttrNumber>(i + 1), NameStr(column.attname),
                       perturbed != nullptr ? INT8OID : column.atttypid, column.atttypmod, 0);
  }
  TupleDescInitEntry(stored, static_cast<AttrNumber>(count + 1), "place", INT8OID, -1, 0);
  table_close(relation, NoLock);
  return stored;
}

// SELECT all columns FROM relation.
char* AllColumnsSql(const MicrodataRequest* request) {
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfoString(&sql, "SELECT ");
  for (int i = 0; i < request->columns.count; ++i)
    appendStringInfo(&sql, "%s%s", i > 0 ? ", " : "", QuotedColumn(request->relation, request->columns.numbers[i]));
  appendStringInfo(&sql, " FROM %s", QuotedRelation(request->relation));
  return sql.data;
}

struct Reading {
  const MicrodataRequest* request;
  TupleDesc columns;
  RecordStore* store;
  Datum* values;
  bool* nulls;
};

void StoreRow(void* context, TupleTableSlot* row) {
  auto* reading = static_cast<Reading*>(context);
  const MicrodataRequest* request = reading->request;
  const int count = request->columns.count;
  for (int i = 0; i < count; ++i) {
    reading->values[i] = row->tts_values[i];
    reading->nulls[i] = row->tts_isnull[i];
    if (request->perturbed[i] != nullptr && !row->tts_isnull[i])
      reading->values[i] = Int64GetDatum(NumberOf(request->perturbed[i]->values, row->tts_values[i], false));
  }
  PutRow(reading->store, reading->columns, reading->values, reading->nulls);
}

RecordStore* ReadRecords(const MicrodataRequest* request, TupleDesc columns) {
  SetProgressPhase("reading rows");
  const auto count = static_cast<Size>(columns->natts);
  RecordStore* store = NewWaitingStore();
  Reading reading = {request, columns, store, static_cast<Datum*>(palloc0(sizeof(Datum) * count)),
                     static_cast<bool*>(palloc0(sizeof(bool) * count))};
  ReadRows(AllColumnsSql(request), StoreRow, &reading);
  return reading.store;
}

struct Writing {
  const MicrodataRequest* request;
  TableWriter writer;
  TupleTableSlot* record;
  uint64 done;
  uint64 wanted;
};

void BeginWriting(void* context) {
  auto* writing = static_cast<Writing*>(context);
  SetProgressPhase("writing rows");
  const ReleaseTable* tables[] = {&writing->request->target};
  RequireUnchanged(tables, 1);
  OpenWriter(&writing->writer, writing->request->target.relation, &TTSOpsVirtual);
}

// Writes a record with its noise.
void WriteRecord(void* context, MinimalTuple tuple) {
  auto* writing = static_cast<Writing*>(context);
  const MicrodataRequest* request = writing->request;
  TupleTableSlot* record = ExecStoreMinimalTuple(tuple, writing->record, false);
  slot_getallattrs(record);
  TupleTableSlot* row = NextRow(&writing->writer);
  for (int i = 0; i < request->columns.count; ++i) {
    row->tts_isnull[i] = record->tts_isnull[i];
    row->tts_values[i] = record->tts_values[i];
    if (request->perturbed[i] != nullptr && !record->tts_isnull[i])
      row->tts_values[i] = Perturb(request->perturbed[i], DatumGetInt64(record->tts_values[i]));
  }
  ExecStoreVirtualTuple(row);
  AddRow(&writing->writer, tuple->t_len);
  if (++writing->done % 1024 == 0) SetProgress(writing->done, writing->wanted);
}

// Chooses so many of the records and writes them.
void WriteChosenRecords(const MicrodataRequest* request, TupleDesc columns, RecordStore* store, uint64 wanted) {
  Writing writing = {};
  writing.request = request;
  writing.record = MakeSingleTupleTableSlot(columns, &TTSOpsMinimalTuple);
  writing.wanted = wanted;
  const ShuffledReceiver receiver = {&writing, BeginWriting, WriteRecord,
                                     [](void* context) { FlushWriter(&static_cast<Writing*>(context)->writer); }};
  ShuffleRecords(store, wanted, &receiver);
  CloseWriter(&writing.writer);
  ExecDropSingleTupleTableSlot(writing.record);
}

void CreateTarget(MicrodataRequest* request) {
  BeginProgress(request->command, request->relation, "creating tables");
  ConnectSpi();
  ReleaseTable* tables[] = {&request->target};
  CreateReleaseTables(tables, 1);
}

void RequireWritable(const char* function) {
  PreventCommandIfReadOnly(function);
  PreventCommandIfParallelMode(function);
}

// What became of a column that got noise, for its comment.
const char* AboutPerturbed(const PerturbedColumn* column) {
  const char* noise =
      psprintf("noise Binomial(" INT64_FORMAT ", 1/2) - " INT64_FORMAT, column->max_noise, column->max_noise / 2);
  return psprintf("%s of the " INT64_FORMAT " values in ascending order, with %s%s",
                  column->of_numbers ? "The value of the number" : "The number from 1", column->domain_size, noise,
                  column->of_numbers ? " on that number; beyond the least and greatest value by equal steps" : "");
}

}  // namespace

// release_sample(relation, target, fraction, replace)
Datum ps_release_sample(PG_FUNCTION_ARGS) {
  RequireWritable("release_sample()");
  MicrodataRequest request = {};
  request.command = "release_sample";
  request.relation = RelationArgument(fcinfo, 0, "relation");
  RequireArgument(fcinfo, 2, "fraction");
  const double fraction = PG_GETARG_FLOAT8(2);
  int64 wanted = 0;
  CallCoreOrRaise([&] { wanted = privacy_score::SampleSize(fraction, 0); });
  FindColumns(&request);
  NameTarget(fcinfo, 3, &request);
  TupleDesc stored = ShapeTarget(&request);
  CreateTarget(&request);
  RecordStore* store = ReadRecords(&request, stored);
  const auto all = static_cast<int64>(store->count);
  CallCoreOrRaise([&] { wanted = privacy_score::SampleSize(fraction, all); });
  SetProgressPhase("choosing rows");
  WriteChosenRecords(&request, stored, store, static_cast<uint64>(wanted));
  DescribeReleaseTable(&request.target, psprintf("simple random sample without replacement, " INT64_FORMAT
                                                 " of " INT64_FORMAT " records (fraction %.15g)",
                                                 wanted, all, fraction));
  SPI_finish();
  EndProgress();
  PG_RETURN_INT64(wanted);
}

// release_perturbed(relation, target, attributes, percent, replace)
Datum ps_release_perturbed(PG_FUNCTION_ARGS) {
  RequireWritable("release_perturbed()");
  MicrodataRequest request = {};
  request.command = "release_perturbed";
  request.relation = RelationArgument(fcinfo, 0, "relation");
  RequireArgument(fcinfo, 3, "percent");
  const double percent = PG_GETARG_FLOAT8(3);
  CallCoreOrRaise([&] { privacy_score::MaxNoise(percent, 1); });
  FindColumns(&request);
  const ColumnList attributes = PG_ARGISNULL(2)
                                    ? request.columns
                                    : ColumnsArgument(fcinfo, 2, "attributes", request.relation,
                                                      "Name the columns that may tell who a record is about.");
  ::Relation relation = table_open(request.relation, NoLock);
  for (int i = 0; i < request.columns.count; ++i)
    if (HasColumn(&attributes, request.columns.numbers[i]))
      request.perturbed[i] =
          NewPerturbedColumn(TupleDescAttr(RelationGetDescr(relation), request.columns.numbers[i] - 1));
  table_close(relation, NoLock);
  NameTarget(fcinfo, 4, &request);
  TupleDesc stored = ShapeTarget(&request);
  CreateTarget(&request);
  RecordStore* store = ReadRecords(&request, stored);
  SetProgressPhase("ordering values");
  for (int i = 0; i < request.columns.count; ++i)
    if (request.perturbed[i] != nullptr) OrderPerturbed(request.perturbed[i], percent);
  SetProgressPhase("arranging rows");
  const uint64 all = store->count;
  WriteChosenRecords(&request, stored, store, all);
  DescribeReleaseTable(&request.target,
                       psprintf(UINT64_FORMAT " records with binomial noise of %.15g percent in %d of %d columns", all,
                                percent, attributes.count, request.columns.count));
  for (int i = 0; i < request.columns.count; ++i)
    if (request.perturbed[i] != nullptr)
      DescribeReleaseColumn(&request.target, request.perturbed[i]->name, AboutPerturbed(request.perturbed[i]));
  SPI_finish();
  EndProgress();
  PG_RETURN_INT64(static_cast<int64>(all));
}

}  // namespace privacy_score

/*
 * bucketize.cpp - bucketize(): publishes a relation as a table of quasi-identifiers and one of sensitive values.
 *
 * The relation is read once, into a store that goes to disk beyond half of maintenance_work_mem; the second pass is
 * over the store. A record's bucket is drawn when it comes out of the store, then records are arranged by their buckets
 * and at random within (release_arranging.hpp), and both tables are written bucket by bucket. That tells nothing of
 * where a record was. Beside the records there are in memory of each record 4 bytes for the places of its value, of
 * each bucket 4 bytes while these are drawn and 8 for the check; of each value the value itself.
 *
 * Everything is done with the rights and in the transaction of the caller: an error or a cancel leaves nothing.
 */
extern "C" {
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/rel.h"
}

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/release/bucket_methods.hpp"
#include "backend/release/release_arranging.hpp"
#include "backend/release/release_fakes.hpp"
#include "backend/release/release_report.hpp"
#include "backend/release/release_rows.hpp"
#include "backend/release/release_tables.hpp"
#include "backend/release/threshold_request.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/strong_random.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/progress.hpp"
#include "backend/state/watching.hpp"
#include "core/buckets/bucket_contents.hpp"
#include "core/buckets/bucket_dealer.hpp"
#include "core/buckets/release_check.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_bucketize);
}

namespace {

struct BucketizeRequest {
  Oid relation;
  ColumnList quasi;
  AttrNumber sensitive;
  PlanRequest plan;
  const char* method;
  ThresholdRequest thresholds;
  bool allow;  // keys of thresholds that no record has
  int fakes;   // in each bucket
  bool counted;
  ReleaseTable qit;
  ReleaseTable st;
};

// All core objects of one call.
struct ReleaseWork : BucketWork {
  std::vector<std::size_t> order;  // of the values when the plan is made
  std::unique_ptr<privacy_score::BucketDealer> dealer;
  privacy_score::BucketContents contents;
  FakeWork fakes;
  privacy_score::ReleaseCheck check{privacy_score::ReleaseCheck::Keeps::kNone};
};

bool StFormArgument(FunctionCallInfo fcinfo, int argument) {
  RequireArgument(fcinfo, argument, "st_form");
  const char* form = text_to_cstring(PG_GETARG_TEXT_PP(argument));
  if (strcmp(form, "rows") != 0 && strcmp(form, "counts") != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown st_form \"%s\"", form),
                    errhint("rows has a row for each record, counts one for each value of a bucket.")));
  return strcmp(form, "counts") == 0;
}

bool AllowsArgument(FunctionCallInfo fcinfo, int argument) {
  RequireArgument(fcinfo, argument, "values_without_threshold");
  const char* what = text_to_cstring(PG_GETARG_TEXT_PP(argument));
  if (strcmp(what, "refuse") != 0 && strcmp(what, "allow") != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown values_without_threshold \"%s\"", what),
                    errhint("refuse raises an error for a key of thresholds that no record has, allow a warning.")));
  return strcmp(what, "allow") == 0;
}

// The columns of the published tables.
void ShapeTables(BucketizeRequest* request) {
  ::Relation relation = table_open(request->relation, AccessShareLock);
  const TupleDesc columns = RelationGetDescr(relation);
  for (int i = 0; i < request->quasi.count; ++i)
    AddColumnLike(&request->qit, TupleDescAttr(columns, request->quasi.numbers[i] - 1));
  AddNumberColumn(&request->qit, "bid");
  AddNumberColumn(&request->st, "bid");
  AddColumnLike(&request->st, TupleDescAttr(columns, request->sensitive - 1));
  if (request->counted) AddNumberColumn(&request->st, "count");
  table_close(relation, NoLock);
}

void ReadBucketizeRequest(FunctionCallInfo fcinfo, BucketizeRequest* request) {
  request->relation = RelationArgument(fcinfo, 0, "relation");
  request->quasi = ColumnsArgument(fcinfo, 1, "quasi_identifiers", request->relation,
                                   "Name the columns that may tell who a record is about.");
  request->sensitive = ColumnArgument(fcinfo, 2, "sensitive", request->relation);
  if (HasColumn(&request->quasi, request->sensitive))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("column \"%s\" is among the quasi-identifiers and sensitive", NameStr(*PG_GETARG_NAME(2))),
                    errhint("A sensitive column is published apart from the quasi-identifiers.")));
  for (int i = 0; i < request->quasi.count; ++i) RequireSelect(request->relation, request->quasi.numbers[i]);
  RequireSelect(request->relation, request->sensitive);
  RequireArgument(fcinfo, 3, "qit");
  RequireArgument(fcinfo, 4, "st");
  RequireArgument(fcinfo, 5, "method");
  request->method = text_to_cstring(PG_GETARG_TEXT_PP(5));
  request->plan.method = MethodOfName(request->method);
  request->thresholds = ThresholdArguments(fcinfo, 6, false);
  SizesArguments(fcinfo, 10, 11, &request->plan);
  RequireArgument(fcinfo, 12, "fake_values");
  request->fakes = PG_GETARG_INT32(12);
  if (request->fakes < 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("fake_values must not be negative, as %d is", request->fakes),
                    errhint("It is the number of fake values that each bucket gets.")));
  request->counted = StFormArgument(fcinfo, 13);
  RequireArgument(fcinfo, 14, "replace");
  const bool replace = PG_GETARG_BOOL(14);
  request->allow = AllowsArgument(fcinfo, 15);
  NameReleaseTable(&request->qit, "qit", PG_GETARG_TEXT_PP(3), replace);
  NameReleaseTable(&request->st, "st", PG_GETARG_TEXT_PP(4), replace);
  if (strcmp(request->qit.quoted, request->st.quoted) == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("qit and st name the same table"),
                    errhint("Quasi-identifiers and sensitive values are published in two tables.")));
  RequireAnotherTable(&request->qit, request->relation);
  RequireAnotherTable(&request->st, request->relation);
  ShapeTables(request);
}

// SELECT quasi-identifiers, sensitive column FROM relation.
char* SourceColumnsSql(const BucketizeRequest* request) {
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfoString(&sql, "SELECT ");
  for (int i = 0; i < request->quasi.count; ++i)
    appendStringInfo(&sql, "%s, ", QuotedColumn(request->relation, request->quasi.numbers[i]));
  appendStringInfo(&sql, "%s FROM %s", QuotedColumn(request->relation, request->sensitive),
                   QuotedRelation(request->relation));
  return sql.data;
}

void ReadSourceRecords(const BucketizeRequest* request, SourceRows* source) {
  const FormData_pg_attribute* column = request->st.types[1];
  ValueList* values = NewValueList(column->atttypid, column->attcollation, NameStr(column->attname));
  ::Relation qit = table_open(request->qit.relation, NoLock);
  ReadSource(source, SourceColumnsSql(request), CreateTupleDescCopy(RelationGetDescr(qit)), values);
  table_close(qit, NoLock);
}

// Makes the plan for the values by their counts and thresholds, equals in random order, so that it tells nothing of the
// order in which they first occur.
void PlanInRandomOrder(ReleaseWork* work, const PlanRequest& request) {
  const auto reorder = [&](bool back) {
    const std::vector<std::int64_t> counts = work->counts;
    const std::vector<privacy_score::Rational> thresholds = work->thresholds;
    for (std::size_t i = 0; i < work->order.size(); ++i) {
      const std::size_t from = back ? i : work->order[i];
      const std::size_t to = back ? work->order[i] : i;
      work->counts[to] = counts[from];
      work->thresholds[to] = thresholds[from];
    }
  };
  CallCoreOrRaise([&] {
    work->order = privacy_score::RandomOrder(work->counts.size(), StrongRandom());
    std::vector<std::pair<std::int64_t, double>> keys;
    for (std::size_t i = 0; i < work->counts.size(); ++i)
      keys.emplace_back(-work->counts[i], -ToDouble(work->thresholds[i]));
    std::stable_sort(work->order.begin(), work->order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    reorder(false);
  });
  MakePlan(work, request);
  CallCoreOrRaise([&] {
    reorder(true);
    if (work->plan) work->plan = privacy_score::WithoutOrder(std::move(*work->plan), work->order);
    for (privacy_score::BrokenThreshold& broken : work->broken) broken.value = work->order[broken.value];
    std::sort(work->broken.begin(), work->broken.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  });
}

void PlanBuckets(BucketizeRequest* request, const SourceRows* source, ReleaseWork* work) {
  FindListedValues(&request->thresholds, source->values, source->values_count, request->allow);
  CallCoreOrRaise([&] {
    work->counts.assign(source->counts, source->counts + source->values_count);
    work->thresholds = ThresholdsOf(request->thresholds, work->counts);
    if (request->fakes > 0 && !work->counts.empty())
      request->plan.max_bucket =
          std::min(request->plan.max_bucket, privacy_score::LargestBucketForFakes(work->thresholds, request->fakes));
  });
  PlanInRandomOrder(work, request->plan);
  if (!work->plan) RaiseNoPlan(work, source->values, static_cast<int64>(source->rows), request->plan);
}

// Which buckets the records of a value get.
void DrawBuckets(ReleaseWork* work) {
  CallCoreOrRaise([&] { work->dealer = std::make_unique<privacy_score::BucketDealer>(*work->plan, StrongRandom()); });
  if (work->dealer->buckets() > kMaxArrangedBuckets)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a release can have at most %lld buckets", static_cast<long long>(kMaxArrangedBuckets)),
                    errhint("Publish fewer records at a time, or raise min_bucket.")));
  RunPausing([&](auto interrupted) { return work->dealer->Prepare(interrupted); });
}

// The bucket of the next record of a value.
int64 DrawBucket(ReleaseWork* work, std::size_t value) {
  int64 bucket = 0;
  CallCoreOrRaise([&] {
    if (work->dealer->Left(value) == 0)
      throw privacy_score::Error("XX000", "a value has more records than were counted");
    bucket = work->dealer->Deal(value);
  });
  return bucket;
}

// What records go through on their way into the tables.
struct ReleaseWriting {
  const BucketizeRequest* request;
  SourceRows* source;
  ReleaseWork* work;
  FakeMaker fakes;
  TupleTableSlot* slot;  // for what is learned of records
  TableWriter qit;
  TableWriter st;
  uint64 done;
  uint64 count;
};

void ShowProgress(ReleaseWriting* writing) {
  if (++writing->done % 1024 == 0) SetProgress(writing->done, writing->count);
}

void DealRecord(void* context, MinimalTuple record) {
  auto* writing = static_cast<ReleaseWriting*>(context);
  const auto value = static_cast<uint32>(LastColumn(record));
  if (writing->request->fakes > 0)
    LearnRecord(&writing->fakes, ExecStoreMinimalTuple(record, writing->slot, false), value);
  SetLastColumn(record, PlaceKey(DrawBucket(writing->work, value), value));
  ShowProgress(writing);
}

void BeginWritingBuckets(void* context) {
  auto* writing = static_cast<ReleaseWriting*>(context);
  SetProgressPhase("writing tables");
  writing->done = 0;
  const ReleaseTable* tables[] = {&writing->request->qit, &writing->request->st};
  RequireUnchanged(tables, 2);
  OpenWriter(&writing->qit, writing->request->qit.relation, &TTSOpsMinimalTuple);
  OpenWriter(&writing->st, writing->request->st.relation, &TTSOpsVirtual);
}

void WriteBucket(ReleaseWriting* writing, int64 bucket, MinimalTuple* records, Size count) {
  CallCoreOrRaise([&] {
    writing->work->contents.Begin();
    for (Size i = 0; i < count; ++i) writing->work->contents.Add(ValueOfKey(LastColumn(records[i])));
  });
  for (Size i = 0; i < count; ++i) {
    SetLastColumn(records[i], bucket);
    TupleTableSlot* row = ExecStoreMinimalTuple(records[i], NextRow(&writing->qit), false);
    if (writing->request->fakes > 0) TakeRecord(&writing->fakes, row);
    AddRow(&writing->qit, records[i]->t_len);
    ShowProgress(writing);
  }
}

void WriteValues(ReleaseWriting* writing, int64 bucket) {
  const BucketizeRequest* request = writing->request;
  const ValueList* values = writing->source->values;
  privacy_score::BucketContents* contents = &writing->work->contents;
  const privacy_score::ShownValue* shown = nullptr;
  Size count = 0;
  CallCoreOrRaise([&] {
    const std::vector<std::uint32_t> none;
    const auto& fakes = request->fakes > 0 ? DrawFakes(&writing->fakes, contents->values()) : none;
    const auto& rows = contents->Show(fakes, request->counted, StrongRandom());
    shown = rows.data();
    count = rows.size();
  });
  for (Size i = 0; i < count; ++i) {
    const Datum value = values->values[shown[i].value];
    TupleTableSlot* row = NextRow(&writing->st);
    row->tts_values[0] = Int64GetDatum(bucket);
    row->tts_values[1] = value;
    row->tts_isnull[0] = false;
    row->tts_isnull[1] = shown[i].value == values->null_number;
    if (request->counted) {
      row->tts_values[2] = Int64GetDatum(shown[i].count);
      row->tts_isnull[2] = false;
    }
    ExecStoreVirtualTuple(row);
    const bool varies = values->dictionary->length == -1 && !row->tts_isnull[1];
    AddRow(&writing->st, varies ? VARSIZE_ANY(DatumGetPointer(value)) : sizeof(Datum));
  }
}

void WriteTables(const BucketizeRequest* request, SourceRows* source, ReleaseWork* work) {
  ReleaseWriting writing = {};
  writing.request = request;
  writing.source = source;
  writing.work = work;
  writing.count = source->rows;
  writing.slot = MakeSingleTupleTableSlot(source->columns, &TTSOpsMinimalTuple);
  SetProgressPhase("drawing buckets");
  if (request->fakes > 0) StartFakes(&writing.fakes, &work->fakes, request->fakes, source->columns, &work->counts);
  Arrangement arrangement = {};
  arrangement.buckets = work->dealer->buckets();
  arrangement.memory = ArrangingMemory();
  arrangement.context = &writing;
  arrangement.deal = DealRecord;
  arrangement.dealt = BeginWritingBuckets;
  arrangement.receive = [](void* context, int64 bucket, MinimalTuple* records, Size count) {
    auto* to = static_cast<ReleaseWriting*>(context);
    WriteBucket(to, bucket, records, count);
    WriteValues(to, bucket);
  };
  arrangement.forget = [](void* context) { FlushWriter(&static_cast<ReleaseWriting*>(context)->qit); };
  ArrangeRecords(&arrangement, source->store);
  CloseWriter(&writing.qit);
  CloseWriter(&writing.st);
  ExecDropSingleTupleTableSlot(writing.slot);
}

// Reads what was written, and raises an internal error unless it is what was promised.
void Verify(const BucketizeRequest* request, const SourceRows* source, ReleaseWork* work) {
  SetProgressPhase("verifying");
  CommandCounterIncrement();
  const UncountedState uncounted =
      BeginUncounted(Uncounted::kReading, list_make2_oid(request->qit.relation, request->st.relation));
  const int nest_level = NewGUCNestLevel();
  ReadInPhysicalOrder();
  const int64 buckets = work->dealer->buckets();
  CallCoreOrRaise([&] { work->dealer.reset(); });
  int64 senseless = 0;
  const ReleaseReading reading = {psprintf("SELECT * FROM %s", request->qit.quoted),
                                  psprintf("SELECT * FROM %s", request->st.quoted),
                                  request->counted,
                                  true,
                                  nullptr,
                                  buckets,
                                  source->values,
                                  &work->check,
                                  nullptr,
                                  &senseless};
  const uint64 fingerprint = ReadRelease(&reading);
  AtEOXact_GUC(false, nest_level);
  EndUncounted(uncounted);
  RunPausing([&](auto interrupted) { return work->check.Judge(interrupted); });
  const char* fault = nullptr;
  if (fingerprint != source->fingerprint) fault = "records are missing or changed";
  CallCoreOrRaise([&] {
    const privacy_score::ReleaseFacts& facts = work->check.facts();
    if (senseless > 0) fault = "a value is counted less than once";
    if (facts.scattered > 0) fault = "rows of a bucket do not stand together";
    if (facts.without_values > 0 || facts.without_records > 0) fault = "buckets are not in both tables";
    if (facts.buckets > 0 && (facts.least_extra != request->fakes || facts.most_extra != request->fakes))
      fault = "sizes of buckets differ";
    if (request->fakes > 0 && facts.repeating > 0) fault = "a bucket shows a value twice";
    if (request->fakes == 0 && facts.counts != work->counts) fault = "values are missing or added";
    for (std::size_t value = 0; value < facts.counts.size(); ++value)
      if (facts.counts[value] < work->counts[value]) fault = "values are missing";
    if (facts.records != static_cast<std::int64_t>(source->rows)) fault = "records are missing or added";
    if (!BrokenPromises(facts, work->thresholds).empty()) fault = "a value is likelier than its threshold";
  });
  if (fault != nullptr) elog(ERROR, "the release is not as it should be: %s", fault);
}

void DescribeRelease(const BucketizeRequest* request, const ReleaseWork* work, uint64 rows) {
  const privacy_score::ReleaseFacts& facts = work->check.facts();
  const char* summary =
      psprintf(UINT64_FORMAT " records in " INT64_FORMAT " buckets of " INT64_FORMAT " to " INT64_FORMAT " records",
               rows, facts.buckets, facts.smallest, facts.largest);
  DescribeReleaseTable(&request->qit, psprintf("quasi-identifiers of %s (method %s)", summary, request->method));
  DescribeReleaseColumn(&request->qit, "bid",
                        "The bucket of the record: its sensitive value is one of those of the bucket.");
  DescribeReleaseTable(&request->st, psprintf(SENSITIVE_VALUES_OF "%s (method %s)", summary, request->method));
  DescribeReleaseColumn(&request->st, "bid",
                        request->fakes == 0 ? "The bucket that the value is in, as often as its records have it."
                                            : psprintf("The bucket that the value is in. Each bucket has %d values "
                                                       "that no record of it has.",
                                                       request->fakes));
}

// The row that the caller gets.
void PutReport(FunctionCallInfo fcinfo, const SourceRows* source, ReleaseWork* work, double seconds) {
  const privacy_score::ReleaseFacts& facts = work->check.facts();
  Datum values[9];
  bool nulls[9] = {};
  double gap = 0;
  nulls[6] = !GapOf(work, &gap);
  values[0] = Int64GetDatum(facts.buckets);
  values[1] = Int64GetDatum(static_cast<int64>(source->rows));
  values[2] = Int64GetDatum(facts.values - facts.records);
  values[3] = DirectFunctionCall1(jsonb_in, CStringGetDatum(SizesJson(work)));
  values[4] = NumericGetDatum(int64_to_numeric(work->plan->loss));
  values[5] = MeanSquaredErrorOf(work);
  values[6] = Float8GetDatum(gap);
  values[7] = DirectFunctionCall1(jsonb_in, CStringGetDatum(ProbabilitiesJson(work, facts, source->values)));
  values[8] = Float8GetDatum(seconds);
  PutResultRow(fcinfo, values, nulls);
}

}  // namespace

// bucketize(relation, quasi_identifiers, sensitive, qit, st, method, thresholds, theta, floor, l, min_bucket,
// max_bucket, fake_values, st_form, replace)
Datum ps_bucketize(PG_FUNCTION_ARGS) {
  instr_time started, ended;
  INSTR_TIME_SET_CURRENT(started);
  PreventCommandIfReadOnly("bucketize()");
  PreventCommandIfParallelMode("bucketize()");
  InitMaterializedSRF(fcinfo, 0);
  auto* request = static_cast<BucketizeRequest*>(palloc0(sizeof(BucketizeRequest)));
  ReadBucketizeRequest(fcinfo, request);
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "privacy_score release", ALLOCSET_DEFAULT_SIZES);
  auto* work = NewCoreObject<ReleaseWork>(context);
  BeginProgress("bucketize", request->relation, "creating tables");
  // What is allocated from here on goes away with SPI_finish.
  ConnectSpi();
  ReleaseTable* tables[] = {&request->qit, &request->st};
  CreateReleaseTables(tables, 2);
  SetProgressPhase("reading rows");
  SourceRows source;
  ReadSourceRecords(request, &source);
  SetProgressPhase("choosing bucket sizes");
  PlanBuckets(request, &source, work);
  DrawBuckets(work);
  WriteTables(request, &source, work);
  Verify(request, &source, work);
  DescribeRelease(request, work, source.rows);
  INSTR_TIME_SET_CURRENT(ended);
  INSTR_TIME_SUBTRACT(ended, started);
  PutReport(fcinfo, &source, work, INSTR_TIME_GET_DOUBLE(ended));
  SPI_finish();
  EndProgress();
  MemoryContextDelete(context);
  return Datum(0);
}

}  // namespace privacy_score

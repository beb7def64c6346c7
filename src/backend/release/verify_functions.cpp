/*
 * verify_functions.cpp - verify_release(): whether a pair of published tables keeps what a release promises.
 *
 * Judges any pair, whoever made it; what has to do with the source is judged when that is given. Tables are read by
 * statements of the caller, in their physical order, since that is what may tell something.
 */
extern "C" {
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
}

#include <algorithm>
#include <memory>
#include <vector>

#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/catalog/value_types.hpp"
#include "backend/release/bucket_methods.hpp"
#include "backend/release/release_fakes.hpp"
#include "backend/release/release_rows.hpp"
#include "backend/release/release_shape.hpp"
#include "backend/release/threshold_request.hpp"
#include "backend/rows/grouping_sql.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/progress.hpp"
#include "core/buckets/order_check.hpp"
#include "core/buckets/release_check.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_verify_release);
}

namespace {

// All core objects of one call.
struct VerifyWork {
  privacy_score::ReleaseCheck check;
  std::unique_ptr<privacy_score::OrderCheck> order;
  int64 senseless = 0;                      // rows of values with a count of less than 1
  std::vector<std::int64_t> source_counts;  // by value
  std::vector<privacy_score::Rational> thresholds;
  std::vector<std::uint32_t> broken;
  FakeWork fakes;
  std::vector<std::uint32_t> bucket_values;
};

struct Verification {
  ReleaseShape shape;
  Oid source;  // InvalidOid: none
  ColumnList source_columns;
  ThresholdRequest thresholds;
  ValueList* buckets;
  ValueList* values;
  VerifyWork* work;
  FunctionCallInfo fcinfo;
};

enum class Verdict { kHolds, kFails, kNotJudged };

void PutVerdict(const Verification* verification, const char* name, Verdict verdict, const char* detail) {
  Datum values[3] = {CStringGetTextDatum(name), BoolGetDatum(verdict == Verdict::kHolds), CStringGetTextDatum(detail)};
  bool nulls[3] = {false, verdict == Verdict::kNotJudged, false};
  PutResultRow(verification->fcinfo, values, nulls);
}

Verdict VerdictOf(bool holds) { return holds ? Verdict::kHolds : Verdict::kFails; }

const privacy_score::ReleaseFacts& FactsOf(const Verification* verification) {
  return verification->work->check.facts();
}

// SELECT bucket, value, count FROM st.
char* ValuesSql(const ReleaseShape* shape) {
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfo(&sql, "SELECT %s, r.%s", ColumnAs(shape->st, shape->st_bid, shape->qit, shape->qit_bid, "r"),
                   QuotedColumn(shape->st, shape->value));
  if (shape->count != InvalidAttrNumber)
    appendStringInfo(&sql, ", r.%s::pg_catalog.int8", QuotedColumn(shape->st, shape->count));
  appendStringInfo(&sql, " FROM %s r", shape->st_name);
  return sql.data;
}

void ReadTables(const Verification* verification) {
  VerifyWork* work = verification->work;
  SetProgressPhase("reading the release");
  const ReleaseReading reading = {ReleaseRecordsSql(&verification->shape),
                                  ValuesSql(&verification->shape),
                                  verification->shape.count != InvalidAttrNumber,
                                  false,
                                  verification->buckets,
                                  0,
                                  verification->values,
                                  &work->check,
                                  work->order.get(),
                                  &work->senseless};
  (void)ReadRelease(&reading);
  RunPausing([&](auto interrupted) { return work->check.Judge(interrupted); });
}

void CheckSourceRow(void* context, TupleTableSlot*, uint64 hash, uint32 value) {
  auto* work = static_cast<VerifyWork*>(context);
  CallCoreOrRaise([&] {
    if (value >= work->source_counts.size()) work->source_counts.resize(std::size_t{value} + 1);
    ++work->source_counts[value];
    if (work->order != nullptr) work->order->AddSource(hash, value);
  });
}

void ReadSourceOf(const Verification* verification) {
  SetProgressPhase("reading the source");
  const SourceReading reading = {
      ReleaseSourceSql(&verification->shape, verification->source, &verification->source_columns), verification->values,
      CheckSourceRow, verification->work};
  ReadSourceRows(&reading);
}

// --- what the tables say of themselves ---

const char* BucketText(const Verification* verification, uint32 bucket) {
  return TextOfNumber(verification->buckets, bucket);
}

void JudgeBuckets(const Verification* verification) {
  const privacy_score::ReleaseFacts& facts = FactsOf(verification);
  if (verification->buckets->null_number >= 0) {
    PutVerdict(verification, "buckets", Verdict::kFails, "a row has no bucket");
  } else if (facts.without_values > 0 || facts.without_records > 0) {
    PutVerdict(verification, "buckets", Verdict::kFails,
               psprintf(INT64_FORMAT " buckets have records only, " INT64_FORMAT " values only, such as bucket %s",
                        facts.without_values, facts.without_records, BucketText(verification, facts.orphan)));
  } else {
    PutVerdict(verification, "buckets", Verdict::kHolds,
               psprintf(INT64_FORMAT " buckets are in both tables", facts.buckets));
  }
}

void JudgeSizes(const Verification* verification) {
  const privacy_score::ReleaseFacts& facts = FactsOf(verification);
  if (verification->work->senseless > 0) {
    PutVerdict(verification, "sizes", Verdict::kFails,
               psprintf(INT64_FORMAT " rows have a count of less than 1, or none", verification->work->senseless));
  } else if (facts.least_extra != facts.most_extra || facts.least_extra < 0) {
    PutVerdict(verification, "sizes", Verdict::kFails,
               psprintf("bucket %s has " INT64_FORMAT " more values than records, bucket %s " INT64_FORMAT,
                        BucketText(verification, facts.most_extra_bucket), facts.most_extra,
                        BucketText(verification, facts.least_extra_bucket), facts.least_extra));
  } else {
    PutVerdict(verification, "sizes", Verdict::kHolds,
               psprintf("buckets have " INT64_FORMAT " to " INT64_FORMAT " records, and " INT64_FORMAT " more values",
                        facts.smallest, facts.largest, facts.least_extra));
  }
}

// "value: 3 of 6 records of bucket 17".
const char* ShareText(const Verification* verification, uint32 value) {
  const privacy_score::ValueShare worst = FactsOf(verification).worst[value];
  return psprintf("value \"%s\" is " INT64_FORMAT " of " INT64_FORMAT " records of bucket %s",
                  TextOfNumber(verification->values, value), worst.occurrences, worst.records,
                  BucketText(verification, worst.bucket));
}

void JudgeThresholds(Verification* verification) {
  VerifyWork* work = verification->work;
  const privacy_score::ReleaseFacts& facts = FactsOf(verification);
  if (verification->thresholds.kind == ThresholdRequest::kNone) {
    PutVerdict(verification, "thresholds", Verdict::kNotJudged, "no thresholds are given");
    return;
  }
  const bool by_source = OidIsValid(verification->source);
  FindListedValues(&verification->thresholds, verification->values, verification->values->count, true);
  CallCoreOrRaise([&] {
    std::vector<std::int64_t> counts = by_source ? work->source_counts : facts.counts;
    counts.resize(std::max(counts.size(), facts.counts.size()));
    work->thresholds = ThresholdsOf(verification->thresholds, counts);
    work->broken = BrokenPromises(facts, work->thresholds);
  });
  if (work->broken.empty()) {
    PutVerdict(verification, "thresholds", Verdict::kHolds,
               psprintf("%zu values are in no bucket likelier than their thresholds", facts.worst.size()));
    return;
  }
  const uint32 first = work->broken.front();
  char threshold[64];
  CallCoreOrRaise([&] { strlcpy(threshold, TextOf(work->thresholds[first]).c_str(), sizeof threshold); });
  PutVerdict(verification, "thresholds", Verdict::kFails,
             psprintf("%s, threshold %s; values that exceed theirs: %zu", ShareText(verification, first), threshold,
                      work->broken.size()));
}

// --- what the source says ---

// Rows of one table grouped with those of another: how many groups have how many rows of each.
struct GroupedRows {
  int64 missing, added, fewer, more;  // groups
};

void CompareRecords(const Verification* verification, GroupedRows* rows) {
  const ReleaseShape* shape = &verification->shape;
  StringInfoData sql, keys, from_source, from_qit;
  initStringInfo(&sql);
  initStringInfo(&keys);
  initStringInfo(&from_source);
  initStringInfo(&from_qit);
  for (int i = 0; i < shape->quasi.count; ++i) {
    const AttrNumber number = shape->quasi.numbers[i];
    const Oid type = get_atttype(shape->qit, number);
    const char* ours = ColumnAs(shape->qit, number, shape->qit, number, "r");
    const char* theirs =
        ColumnAs(verification->source, verification->source_columns.numbers[i], shape->qit, number, "r");
    appendStringInfo(&from_qit, ", %s AS k%d", GroupingExpression(type, ours), i);
    appendStringInfo(&from_source, ", %s AS k%d", GroupingExpression(type, theirs), i);
    appendStringInfo(&keys, "%sk%d", i == 0 ? " GROUP BY " : ", ", i);
  }
  appendStringInfo(&sql,
                   "SELECT s, q, pg_catalog.count(*) FROM (SELECT pg_catalog.sum(s)::pg_catalog.int8 AS s, "
                   "pg_catalog.sum(q)::pg_catalog.int8 AS q FROM (SELECT 1 AS s, 0 AS q%s FROM %s r UNION ALL "
                   "SELECT 0, 1%s FROM %s r) u%s) g GROUP BY s, q",
                   from_source.data, QuotedRelation(verification->source), from_qit.data, shape->qit_name, keys.data);
  if (SPI_execute(sql.data, true, 0) != SPI_OK_SELECT) elog(ERROR, "could not compare a release with its source");
  *rows = {};
  for (uint64 row = 0; row < SPI_tuptable->numvals; ++row) {
    const int64 source = FieldNumber(row, 0);
    const int64 published = FieldNumber(row, 1);
    const int64 groups = FieldNumber(row, 2);
    if (published == 0)
      rows->missing += groups;
    else if (source == 0)
      rows->added += groups;
    else if (published < source)
      rows->fewer += groups;
    else if (published > source)
      rows->more += groups;
  }
  SPI_freetuptable(SPI_tuptable);
}

void JudgeRecords(const Verification* verification) {
  GroupedRows rows;
  SetProgressPhase("comparing records");
  CompareRecords(verification, &rows);
  PutVerdict(verification, "records", VerdictOf(rows.missing == 0 && rows.added == 0),
             psprintf(INT64_FORMAT " distinct records of the source are missing, " INT64_FORMAT " are not from it",
                      rows.missing, rows.added));
  PutVerdict(
      verification, "duplicates", VerdictOf(rows.fewer == 0 && rows.more == 0),
      psprintf(INT64_FORMAT " distinct records are there less often than in the source, " INT64_FORMAT " more often",
               rows.fewer, rows.more));
}

void JudgeValues(const Verification* verification) {
  const VerifyWork* work = verification->work;
  const privacy_score::ReleaseFacts& facts = FactsOf(verification);
  const std::size_t shown = facts.counts.size();
  const std::size_t known = work->source_counts.size();
  const bool fakes = facts.most_extra > 0;
  int64 fewer = 0, more = 0;
  for (std::size_t value = 0; value < Max(shown, known); ++value) {
    const int64 published = value < shown ? facts.counts[value] : 0;
    const int64 source = value < known ? work->source_counts[value] : 0;
    if (published < source) ++fewer;
    // A fake is from the domain of the source, so its value is there, too.
    if (published > source && (!fakes || source == 0)) ++more;
  }
  PutVerdict(verification, "values", VerdictOf(fewer == 0 && more == 0),
             psprintf(INT64_FORMAT " values are there less often than in the source, " INT64_FORMAT " %s", fewer, more,
                      fakes ? "are not from it" : "more often"));
}

// --- fakes ---

struct FakeJudge {
  const Verification* verification;
  FakeMaker* maker;
  bool learning;
  int64 bucket;  // at hand, -1 before the first
  int64 given_away;
};

// Counts the values of the bucket at hand that none of its records could have.
void JudgeBucketFakes(FakeJudge* judge) {
  VerifyWork* work = judge->verification->work;
  if (judge->bucket < 0) return;
  CallCoreOrRaise([&] {
    work->bucket_values = work->check.Values(static_cast<std::uint32_t>(judge->bucket));
    const std::size_t attributes = work->fakes.associations->attributes();
    const std::size_t records = attributes == 0 ? 0 : work->fakes.bucket_codes.size() / attributes;
    for (const std::uint32_t value : work->bucket_values)
      if (records > 0 && value < work->source_counts.size() &&
          GivenAway(*work->fakes.associations, work->fakes.bucket_codes, records, value))
        ++judge->given_away;
    work->fakes.bucket_codes.clear();
  });
}

void TakeForFakes(void* context, TupleTableSlot* row, uint64, uint32 number) {
  auto* judge = static_cast<FakeJudge*>(context);
  if (judge->learning) {
    LearnRecord(judge->maker, row, number);
    return;
  }
  if (static_cast<int64>(number) != judge->bucket) JudgeBucketFakes(judge);
  judge->bucket = number;
  TakeRecord(judge->maker, row);
}

// Values of buckets that none of their records could have, as the source has it.
int64 CountGivenAway(const Verification* verification) {
  VerifyWork* work = verification->work;
  const ReleaseShape* shape = &verification->shape;
  FakeMaker maker;
  TupleDesc columns = CreateTemplateTupleDesc(shape->quasi.count + 1);
  for (int i = 0; i < shape->quasi.count; ++i) {
    Oid type, collation;
    int32 modifier;
    get_atttypetypmodcoll(shape->qit, shape->quasi.numbers[i], &type, &modifier, &collation);
    TupleDescInitEntry(columns, static_cast<AttrNumber>(i + 1), nullptr, type, modifier, 0);
    TupleDescInitEntryCollation(columns, static_cast<AttrNumber>(i + 1), collation);
  }
  TupleDescInitEntry(columns, static_cast<AttrNumber>(columns->natts), nullptr, INT8OID, -1, 0);
  StartFakes(&maker, &work->fakes, 1, columns, &work->source_counts);
  FakeJudge judge = {verification, &maker, true, -1, 0};
  SetProgressPhase("learning what goes with what");
  const SourceReading learning = {
      ReleaseSourceSql(&verification->shape, verification->source, &verification->source_columns), verification->values,
      TakeForFakes, &judge};
  ReadSourceRows(&learning);
  judge.learning = false;
  SetProgressPhase("judging fakes");
  const char* sql =
      psprintf("%s ORDER BY r.%s", ReleaseRecordsSql(&verification->shape), QuotedColumn(shape->qit, shape->qit_bid));
  const SourceReading reading = {sql, verification->buckets, TakeForFakes, &judge};
  ReadSourceRows(&reading);
  JudgeBucketFakes(&judge);
  return judge.given_away;
}

void JudgeFakes(const Verification* verification) {
  const privacy_score::ReleaseFacts& facts = FactsOf(verification);
  if (facts.most_extra <= 0) {
    PutVerdict(verification, "fakes", Verdict::kHolds, "there are none");
  } else if (facts.repeating > 0) {
    PutVerdict(verification, "fakes", Verdict::kFails,
               psprintf(INT64_FORMAT " buckets have a value more than once", facts.repeating));
  } else if (!OidIsValid(verification->source)) {
    PutVerdict(verification, "fakes", Verdict::kNotJudged,
               "whether they could be true can be told with the source only");
  } else {
    const int64 given_away = CountGivenAway(verification);
    PutVerdict(verification, "fakes", VerdictOf(given_away == 0),
               psprintf(INT64_FORMAT " values could be of none of the records of their bucket", given_away));
  }
}

// --- order ---

bool HasIntegers(const ValueList* buckets) {
  const Oid type = getBaseType(buckets->type);
  return buckets->null_number < 0 && IsIntegerType(type);
}

// The numbers of the buckets, if they are integers. Called within CallCore.
std::vector<std::int64_t> BucketNumbers(const ValueList* buckets) {
  std::vector<std::int64_t> numbers;
  for (int64 i = 0; i < buckets->count; ++i) numbers.push_back(IntegerOf(buckets->dictionary, buckets->values[i]));
  return numbers;
}

void JudgeOrder(const Verification* verification) {
  const VerifyWork* work = verification->work;
  if (!OidIsValid(verification->source)) {
    for (const char* name : {"order of values", "order of records", "order of buckets"})
      PutVerdict(verification, name, Verdict::kNotJudged, "can be told with the source only");
    return;
  }
  const bool integers = HasIntegers(verification->buckets);
  privacy_score::OrderFindings findings;
  CallCoreOrRaise([&] {
    findings =
        work->order->Judge(work->check, integers ? BucketNumbers(verification->buckets) : std::vector<std::int64_t>());
  });
  if (verification->shape.count != InvalidAttrNumber) {
    PutVerdict(verification, "order of values", Verdict::kNotJudged,
               "values are counted, so their order tells nothing");
  } else {
    PutVerdict(verification, "order of values", VerdictOf(findings.pairing_holds),
               psprintf("of " INT64_FORMAT " records of known value " INT64_FORMAT
                        " stand in their bucket where it stands, %.1f by chance",
                        findings.known, findings.matches, findings.expected));
  }
  PutVerdict(verification, "order of records", VerdictOf(findings.places_hold),
             psprintf("rank correlation of places with those in the source: %.4f", findings.place_correlation));
  PutVerdict(verification, "order of buckets", integers ? VerdictOf(findings.buckets_hold) : Verdict::kNotJudged,
             integers ? psprintf("rank correlation of bid with places in the source: %.4f", findings.bucket_correlation)
                      : "bid is no integer");
}

}  // namespace

// verify_release(qit, st, thresholds, theta, floor, l, source)
Datum ps_verify_release(PG_FUNCTION_ARGS) {
  Verification verification = {};
  const Oid qit = RelationArgument(fcinfo, 0, "qit");
  verification.shape = ShapeOfRelease(qit, RelationArgument(fcinfo, 1, "st"));
  verification.thresholds = ThresholdArguments(fcinfo, 2, true);
  const ReleaseShape* shape = &verification.shape;
  if (!PG_ARGISNULL(6)) {
    verification.source = RelationArgument(fcinfo, 6, "source");
    verification.source_columns = ColumnsOfSource(shape, verification.source);
  }
  InitMaterializedSRF(fcinfo, 0);
  verification.fcinfo = fcinfo;
  auto* holder = NewCoreHolder<VerifyWork>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    holder->Reset(new VerifyWork());
    if (OidIsValid(verification.source)) holder->object->order = std::make_unique<privacy_score::OrderCheck>();
  });
  verification.work = holder->object;
  BeginProgress("verify_release", qit, "reading the release");
  ConnectSpi();
  const int nest_level = NewGUCNestLevel();
  ReadInPhysicalOrder();
  verification.buckets = NewColumnValues(qit, shape->qit_bid);
  verification.values = NewColumnValues(shape->st, shape->value);
  ReadTables(&verification);
  if (OidIsValid(verification.source)) ReadSourceOf(&verification);
  JudgeBuckets(&verification);
  JudgeSizes(&verification);
  JudgeThresholds(&verification);
  if (OidIsValid(verification.source)) {
    JudgeRecords(&verification);
    JudgeValues(&verification);
  } else {
    for (const char* name : {"records", "duplicates", "values"})
      PutVerdict(&verification, name, Verdict::kNotJudged, "can be told with the source only");
  }
  JudgeFakes(&verification);
  JudgeOrder(&verification);
  AtEOXact_GUC(false, nest_level);
  SPI_finish();
  EndProgress();
  holder->Reset(nullptr);
  return Datum(0);
}

}  // namespace privacy_score

/*
 * class_functions.cpp - k-anonymity, l-diversity and t-closeness of a relation, with the caller's rights.
 *
 * The server groups: equivalence classes come out one a row, so what is held here is one class, and for t-closeness one
 * number for each value of the table. NULL is a value like any other, the last one in order. Columns whose type cannot
 * be grouped count by their text.
 */
extern "C" {
#include "postgres.h"

#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

#include <algorithm>
#include <memory>
#include <vector>

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/rows/grouping_sql.hpp"
#include "backend/rows/row_reading.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/wire.hpp"
#include "core/entropy/class_measures.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_k_anonymity);
PG_FUNCTION_INFO_V1(ps_l_diversity);
PG_FUNCTION_INFO_V1(ps_t_closeness);
}

namespace {

struct ClassRequest {
  Oid relation;
  ColumnList quasi;
  AttrNumber sensitive;  // InvalidAttrNumber: none
};

ClassRequest ReadClassRequest(FunctionCallInfo fcinfo, bool with_sensitive) {
  ClassRequest request = {};
  request.relation = RelationArgument(fcinfo, 0, "relation");
  request.quasi = ColumnsArgument(fcinfo, 1, "quasi_identifiers", request.relation,
                                  "Name the columns that may tell who a record is about.");
  if (!with_sensitive) return request;
  request.sensitive = ColumnArgument(fcinfo, 2, "sensitive", request.relation);
  return request;
}

const char* Grouped(Oid relation, AttrNumber column) {
  return GroupingExpression(get_atttype(relation, column), QuotedColumn(relation, column));
}

// "k0, k1": the keys of a class, each preceded by `lead`.
void AppendClassKeys(StringInfo sql, const ClassRequest* request, const char* lead) {
  for (int i = 0; i < request->quasi.count; ++i) appendStringInfo(sql, "%sk%d", i == 0 ? lead : ", ", i);
}

// "SELECT quasi-identifiers AS k0, ..., value AS v FROM relation", a row a record.
void AppendRecords(StringInfo sql, const ClassRequest* request, const char* value) {
  appendStringInfoString(sql, "SELECT ");
  for (int i = 0; i < request->quasi.count; ++i)
    appendStringInfo(sql, "%s AS k%d, ", Grouped(request->relation, request->quasi.numbers[i]), i);
  appendStringInfo(sql, "%s AS v FROM %s", value, QuotedRelation(request->relation));
}

// One row a class: the ranks of its values, and how often each is there.
char* ClassesSql(const ClassRequest* request) {
  const char* value = GroupingExpression(get_atttype(request->relation, request->sensitive),
                                         QuotedColumn(request->relation, request->sensitive), true);
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfoString(&sql, "SELECT pg_catalog.array_agg(v), pg_catalog.array_agg(n) FROM (SELECT ");
  AppendClassKeys(&sql, request, "");
  appendStringInfoString(&sql, ", v, pg_catalog.count(*) AS n FROM (");
  AppendRecords(&sql, request, psprintf("pg_catalog.dense_rank() OVER (ORDER BY %s)", value));
  appendStringInfoString(&sql, ") r");
  AppendClassKeys(&sql, request, " GROUP BY ");
  appendStringInfoString(&sql, ", v) c");
  AppendClassKeys(&sql, request, " GROUP BY ");
  return sql.data;
}

// The only value of a query, a count; false for NULL, which there is without rows. SPI must be connected.
bool SingleNumber(const char* sql, int64* number) {
  if (SPI_execute(sql, true, 0) != SPI_OK_SELECT || SPI_processed != 1) elog(ERROR, "could not group a relation");
  *number = FieldNumber(0, 0);
  return *number > 0;
}

// What is found out of the classes.
struct ClassWork {
  std::vector<privacy_score::ClassValue> values;  // of the class at hand
  std::vector<std::int64_t> table;                // by rank
  std::unique_ptr<privacy_score::Closeness> closeness;
  bool ordered = false;  // earth mover's distance
  bool any = false;
  double least_values = 0;
  double greatest_distance = 0;
};

// A way to take a class, within CallCore.
struct ClassTaker {
  ClassWork* work;
  void (*take)(ClassWork* work);
};

// Both arrays are bigint[] without NULL.
void ReceiveClass(void* context, TupleTableSlot* row) {
  const auto* taker = static_cast<const ClassTaker*>(context);
  ArrayType* ranks = DatumGetArrayTypeP(row->tts_values[0]);
  ArrayType* counts = DatumGetArrayTypeP(row->tts_values[1]);
  const int values = ArrayGetNItems(ARR_NDIM(ranks), ARR_DIMS(ranks));
  const auto* rank = reinterpret_cast<const int64*>(ARR_DATA_PTR(ranks));
  const auto* count = reinterpret_cast<const int64*>(ARR_DATA_PTR(counts));
  CallCoreOrRaise([&] {
    ClassWork* work = taker->work;
    work->values.clear();
    for (int i = 0; i < values; ++i) work->values.push_back({static_cast<std::size_t>(rank[i] - 1), count[i]});
    std::sort(work->values.begin(), work->values.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    taker->take(work);
    work->any = true;
  });
}

void ForEachClass(const char* sql, ClassWork* work, void (*take)(ClassWork* work)) {
  ClassTaker taker = {work, take};
  ReadRows(sql, ReceiveClass, &taker);
}

void TakeDiversity(ClassWork* work) {
  const double values = privacy_score::EffectiveValues(work->values);
  if (!work->any || values < work->least_values) work->least_values = values;
}

void TakeClassCounts(ClassWork* work) {
  for (const privacy_score::ClassValue& value : work->values) {
    if (value.rank >= work->table.size()) work->table.resize(value.rank + 1);
    work->table[value.rank] += value.count;
  }
}

void TakeDistance(ClassWork* work) {
  const double distance =
      work->ordered ? work->closeness->OrderedEarthMovers(work->values) : work->closeness->Variational(work->values);
  work->greatest_distance = std::max(work->greatest_distance, distance);
}

// The least number of distinct values of a class; false when there is no class.
bool LeastDistinct(const ClassRequest* request, int64* least) {
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfoString(&sql, "SELECT pg_catalog.min(n) FROM (SELECT pg_catalog.count(*) AS n FROM (SELECT ");
  AppendClassKeys(&sql, request, "");
  appendStringInfoString(&sql, " FROM (");
  AppendRecords(&sql, request, Grouped(request->relation, request->sensitive));
  appendStringInfoString(&sql, ") r");
  AppendClassKeys(&sql, request, " GROUP BY ");
  appendStringInfoString(&sql, ", v) d");
  AppendClassKeys(&sql, request, " GROUP BY ");
  appendStringInfoString(&sql, ") c");
  return SingleNumber(sql.data, least);
}

}  // namespace

// k_anonymity(relation, quasi_identifiers)
Datum ps_k_anonymity(PG_FUNCTION_ARGS) {
  const ClassRequest request = ReadClassRequest(fcinfo, false);
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfoString(&sql, "SELECT pg_catalog.min(n) FROM (SELECT pg_catalog.count(*) AS n FROM (");
  AppendRecords(&sql, &request, "1");
  appendStringInfoString(&sql, ") r");
  AppendClassKeys(&sql, &request, " GROUP BY ");
  appendStringInfoString(&sql, ") c");
  ConnectSpi();
  int64 least;
  const bool known = SingleNumber(sql.data, &least);
  SPI_finish();
  if (!known) PG_RETURN_NULL();
  PG_RETURN_INT64(least);
}

// l_diversity(relation, quasi_identifiers, sensitive, form)
Datum ps_l_diversity(PG_FUNCTION_ARGS) {
  const ClassRequest request = ReadClassRequest(fcinfo, true);
  RequireArgument(fcinfo, 3, "form");
  const char* form = text_to_cstring(PG_GETARG_TEXT_PP(3));
  const bool distinct = strcmp(form, "distinct") == 0;
  if (!distinct && strcmp(form, "entropy") != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown form \"%s\"", form),
                    errhint("Forms of l-diversity are distinct and entropy.")));
  bool known;
  double least;
  ConnectSpi();
  if (distinct) {
    int64 values;
    known = LeastDistinct(&request, &values);
    least = static_cast<double>(values);
  } else {
    auto* work = NewCoreObject<ClassWork>();
    ForEachClass(ClassesSql(&request), work, TakeDiversity);
    known = work->any;
    least = work->least_values;
  }
  SPI_finish();
  if (!known) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(least);
}

// t_closeness(relation, quasi_identifiers, sensitive)
Datum ps_t_closeness(PG_FUNCTION_ARGS) {
  const ClassRequest request = ReadClassRequest(fcinfo, true);
  char category;
  bool preferred;
  get_type_category_preferred(getBaseType(get_atttype(request.relation, request.sensitive)), &category, &preferred);
  ConnectSpi();
  auto* work = NewCoreObject<ClassWork>();
  work->ordered = category == TYPCATEGORY_NUMERIC;
  const char* sql = ClassesSql(&request);
  ForEachClass(sql, work, TakeClassCounts);
  CallCoreOrRaise([&] { work->closeness = std::make_unique<privacy_score::Closeness>(work->table); });
  const bool known = work->any;
  ForEachClass(sql, work, TakeDistance);
  const double greatest = work->greatest_distance;
  SPI_finish();
  if (!known) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(greatest);
}

}  // namespace privacy_score

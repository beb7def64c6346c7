/*
 * evaluate_functions.cpp - SQL functions that compare techniques of disclosure control on a table, with the caller's
 * rights.
 *
 * One pass reads the records, as codes of their values (4 bytes a value); then the server is not asked again.
 */
extern "C" {
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
}

#include <optional>

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/measure_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/rows/coded_pass.hpp"
#include "backend/rows/row_reading.hpp"
#include "backend/rows/value_list.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/progress.hpp"
#include "backend/state/run_with_progress.hpp"
#include "core/loss/technique_evaluation.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_evaluate_sampling);
PG_FUNCTION_INFO_V1(ps_evaluate_query_restriction);
PG_FUNCTION_INFO_V1(ps_evaluate_noise);
}

namespace ps = privacy_score;

namespace {

// Memory for one call.
struct EvaluationWork {
  ps::EvaluatedTable table;
  std::vector<double> strengths;
  std::optional<ps::TechniqueEvaluation> evaluation;
  std::vector<ps::EvaluationResult> results;
};

struct EvaluationRequest {
  const char* command;
  Oid relation;
  AttrNumber sensitive;
  ColumnList known;
};

// "SELECT sensitive, known ... FROM relation", sensitive first and as numeric.
const char* RecordsSql(const EvaluationRequest* request) {
  StringInfoData sql;
  initStringInfo(&sql);
  const char* sensitive = QuotedColumn(request->relation, request->sensitive);
  appendStringInfo(&sql, "SELECT %s::pg_catalog.numeric", sensitive);
  for (int i = 0; i < request->known.count; ++i)
    appendStringInfo(&sql, ", %s", QuotedColumn(request->relation, request->known.numbers[i]));
  appendStringInfo(&sql, " FROM %s WHERE %s IS NOT NULL", QuotedRelation(request->relation), sensitive);
  return sql.data;
}

// What the codes of records are made by, the sensitive value first.
struct RecordReading {
  ValueList** lists;
  uint32* codes;  // of one record
  int columns;
  EvaluationWork* work;
};

void TakeEvaluatedRecord(void* context, TupleTableSlot* row) {
  auto* reading = static_cast<RecordReading*>(context);
  for (int c = 0; c < reading->columns; ++c)
    reading->codes[c] = NumberOf(reading->lists[c], row->tts_values[c], row->tts_isnull[c]);
  ps::EvaluatedTable* table = &reading->work->table;
  CallCoreOrRaise([&] {
    table->sensitive.push_back(reading->codes[0]);
    for (int c = 1; c < reading->columns; ++c)
      table->known[static_cast<std::size_t>(c - 1)].push_back(reading->codes[c]);
  });
  if (table->sensitive.size() * static_cast<Size>(reading->columns) * sizeof(uint32) > PassMemory())
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the records do not fit into maintenance_work_mem"),
                    errhint("Raise it, or evaluate a part of the table through a view.")));
}

// Reads the records into `work`; SPI must be connected. Raises 54000 when they do not fit into maintenance_work_mem.
void ReadEvaluatedRecords(const EvaluationRequest* request, EvaluationWork* work) {
  const int columns = request->known.count + 1;
  RecordReading reading = {static_cast<ValueList**>(palloc(sizeof(ValueList*) * static_cast<Size>(columns))),
                           static_cast<uint32*>(palloc(sizeof(uint32) * static_cast<Size>(columns))), columns, work};
  reading.lists[0] = NewValueList(NUMERICOID, InvalidOid, get_attname(request->relation, request->sensitive, false));
  for (int c = 1; c < columns; ++c)
    reading.lists[c] = NewColumnValues(request->relation, request->known.numbers[c - 1]);
  CallCoreOrRaise([&] { work->table.known.resize(static_cast<std::size_t>(columns - 1)); });
  ReadRows(RecordsSql(request), TakeEvaluatedRecord, &reading);
  for (int64 number = 0; number < reading.lists[0]->count; ++number) {
    const char* text = TextOfNumber(reading.lists[0], number);
    CallCoreOrRaise([&] { work->table.domain.push_back(ps::ParseDecimal("a sensitive value", text)); });
  }
}

// The functions differ in the type of their strengths only, the fourth argument.
Datum Evaluate(FunctionCallInfo fcinfo, ps::Technique technique, const char* command, const char* strengths_name) {
  EvaluationRequest request = {};
  request.command = command;
  request.relation = RelationArgument(fcinfo, 0, "relation");
  request.sensitive = ColumnArgument(fcinfo, 1, "sensitive", request.relation);
  RequireNumericColumn(request.relation, request.sensitive);
  request.known =
      ColumnsArgument(fcinfo, 2, "known", request.relation, "Name the columns that may tell who a record is about.");
  for (int i = 0; i < request.known.count; ++i) RequireSelect(request.relation, request.known.numbers[i]);
  if (HasColumn(&request.known, request.sensitive))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("known must not name the sensitive column"),
                    errhint("Who knows it has nothing left to guess.")));
  const bool whole = technique == ps::Technique::kQueryRestriction;
  const ElementList strengths = ElementsArgument(fcinfo, 3, strengths_name);
  RequireArgument(fcinfo, 4, "repetitions");
  const int32 repetitions = PG_GETARG_INT32(4);
  RequireArgument(fcinfo, 5, "seed");
  const int64 seed = PG_GETARG_INT64(5);
  InitMaterializedSRF(fcinfo, 0);
  auto* work = NewCoreObject<EvaluationWork>();
  CallCoreOrRaise([&] {
    for (int i = 0; i < strengths.count; ++i)
      work->strengths.push_back(whole ? DatumGetInt32(strengths.values[i]) : DatumGetFloat8(strengths.values[i]));
  });
  BeginProgress(request.command, request.relation, "reading records");
  ConnectSpi();
  ReadEvaluatedRecords(&request, work);
  SPI_finish();
  CallCoreOrRaise([&] {
    work->evaluation.emplace(std::move(work->table), technique, work->strengths, repetitions,
                             static_cast<std::uint64_t>(seed));
  });
  SetProgressPhase("simulating releases");
  RunWithProgress(&*work->evaluation);
  CallCoreOrRaise([&] { work->results = work->evaluation->Results(); });
  EndProgress();
  for (const ps::EvaluationResult& result : work->results) {
    Datum values[5] = {Float8GetDatum(result.strength), Int32GetDatum(result.known_attributes),
                       Float8GetDatum(result.initial_entropy), Float8GetDatum(result.area),
                       Int64GetDatum(result.samples)};
    bool nulls[5] = {};
    PutResultRow(fcinfo, values, nulls);
  }
  return Datum(0);
}

}  // namespace

// evaluate_sampling(relation, sensitive, known, fractions, repetitions, seed)
Datum ps_evaluate_sampling(PG_FUNCTION_ARGS) {
  return Evaluate(fcinfo, ps::Technique::kSampling, "evaluate_sampling", "fractions");
}

// evaluate_query_restriction(relation, sensitive, known, query_sizes, repetitions, seed)
Datum ps_evaluate_query_restriction(PG_FUNCTION_ARGS) {
  return Evaluate(fcinfo, ps::Technique::kQueryRestriction, "evaluate_query_restriction", "query_sizes");
}

// evaluate_noise(relation, sensitive, known, percents, repetitions, seed)
Datum ps_evaluate_noise(PG_FUNCTION_ARGS) {
  return Evaluate(fcinfo, ps::Technique::kNoise, "evaluate_noise", "percents");
}

}  // namespace privacy_score

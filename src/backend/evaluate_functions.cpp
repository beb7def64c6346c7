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

PG_FUNCTION_INFO_V1(ps_evaluate_sampling);
PG_FUNCTION_INFO_V1(ps_evaluate_query_restriction);
PG_FUNCTION_INFO_V1(ps_evaluate_noise);
}

#include <optional>

#include "coded_pass.hpp"
#include "compat.hpp"
#include "core/technique_evaluation.hpp"
#include "function_arguments.hpp"
#include "measure_arguments.hpp"
#include "progress.hpp"
#include "relation_access.hpp"
#include "shown_work.hpp"
#include "value_list.hpp"
#include "wire.hpp"

namespace ps = privacy_score;

namespace {

constexpr long kRowsAtATime = 1000;

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
  appendStringInfo(&sql, " FROM %s WHERE %s IS NOT NULL", CanonicalRelationName(request->relation), sensitive);
  return sql.data;
}

// Reads the records into `work`; SPI must be connected. Raises 54000 when they do not fit into maintenance_work_mem.
void ReadRecords(const EvaluationRequest* request, EvaluationWork* work) {
  const int columns = request->known.count + 1;
  auto** lists = static_cast<ValueList**>(palloc(sizeof(ValueList*) * static_cast<Size>(columns)));
  auto* codes = static_cast<uint32*>(palloc(sizeof(uint32) * static_cast<Size>(columns * kRowsAtATime)));
  Portal portal = SPI_cursor_open_with_args(nullptr, RecordsSql(request), 0, nullptr, nullptr, nullptr, true, 0);
  for (int c = 0; c < columns; ++c) {
    const FormData_pg_attribute* column = TupleDescAttr(portal->tupDesc, c);
    lists[c] = NewValueList(column->atttypid, column->attcollation, NameStr(column->attname));
  }
  MemoryContext rows = AllocSetContextCreate(CurrentMemoryContext, "privacy_score records", ALLOCSET_DEFAULT_SIZES);
  CallCoreOrRaise([&] { work->table.known.resize(static_cast<std::size_t>(columns - 1)); });
  for (Size read = 0;;) {
    CHECK_FOR_INTERRUPTS();
    SPI_cursor_fetch(portal, true, kRowsAtATime);
    const auto count = static_cast<int>(SPI_processed);
    if (count == 0) break;
    MemoryContext before = MemoryContextSwitchTo(rows);
    for (int row = 0; row < count; ++row) {
      for (int c = 0; c < columns; ++c) {
        bool null;
        const Datum value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, c + 1, &null);
        codes[row * columns + c] = NumberOf(lists[c], value, null);
      }
    }
    MemoryContextSwitchTo(before);
    MemoryContextReset(rows);
    SPI_freetuptable(SPI_tuptable);
    CallCoreOrRaise([&] {
      for (int row = 0; row < count; ++row) {
        work->table.sensitive.push_back(codes[row * columns]);
        for (int c = 1; c < columns; ++c)
          work->table.known[static_cast<std::size_t>(c - 1)].push_back(codes[row * columns + c]);
      }
    });
    read += static_cast<Size>(count);
    SetProgress(read, 0);
    if (read * static_cast<Size>(columns) * sizeof(uint32) > PassMemory())
      ereport(ERROR,
              (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the records do not fit into maintenance_work_mem"),
               errhint("Raise it, or evaluate a part of the table through a view.")));
  }
  SPI_cursor_close(portal);
  for (int64 number = 0; number < lists[0]->count; ++number) {
    const char* text = TextOfNumber(lists[0], number);
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
  const ElementList strengths = ElementsArgument(fcinfo, 3, strengths_name, whole ? INT4OID : FLOAT8OID);
  RequireArgument(fcinfo, 4, "repetitions");
  const int32 repetitions = PG_GETARG_INT32(4);
  RequireArgument(fcinfo, 5, "seed");
  const int64 seed = PG_GETARG_INT64(5);
  InitMaterializedSRF(fcinfo, 0);
  auto* holder = NewCoreHolder<EvaluationWork>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    holder->Reset(new EvaluationWork());
    for (int i = 0; i < strengths.count; ++i)
      holder->object->strengths.push_back(whole ? DatumGetInt32(strengths.values[i])
                                                : DatumGetFloat8(strengths.values[i]));
  });
  EvaluationWork* work = holder->object;
  BeginProgress(request.command, request.relation, "reading records");
  ConnectSpi();
  ReadRecords(&request, work);
  SPI_finish();
  CallCoreOrRaise([&] {
    work->evaluation.emplace(std::move(work->table), technique, work->strengths, repetitions,
                             static_cast<std::uint64_t>(seed));
  });
  SetProgressPhase("simulating releases");
  RunShown(&*work->evaluation);
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

/*
 * import_functions.cpp - import_statements(): the caller's query is read through a cursor with the caller's rights.
 */
#include "backend/history/import_sessions.hpp"
#include "backend/history/import_writing.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/progress.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
}

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_import_statements);
}

namespace {

const Oid kLogColumns[] = {TEXTOID, NAMEOID, TIMESTAMPTZOID, TEXTOID};
constexpr int kFewest = 4;

// Where the columns stand that may follow, by their names; -1: they are not there.
struct FurtherColumns {
  int end_user = -1;
  int parameters = -1;
  int rows = -1;
};

void RefuseColumns() {
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the query must yield (text, name, timestamptz, text)"),
                  errhint("Cast the columns: session::text, role::name, at::timestamptz, sql::text. Behind these may "
                          "follow, by name, end_user::text, parameters::text[] and rows::bigint.")));
}

FurtherColumns CheckColumns(TupleDesc row) {
  FurtherColumns further;
  bool fits = row->natts >= kFewest;
  for (int i = 0; fits && i < kFewest; ++i) fits = TupleDescAttr(row, i)->atttypid == kLogColumns[i];
  for (int i = kFewest; fits && i < row->natts; ++i) {
    const Form_pg_attribute column = TupleDescAttr(row, i);
    const char* name = NameStr(column->attname);
    int* place = nullptr;
    if (strcmp(name, "parameters") == 0 && column->atttypid == TEXTARRAYOID)
      place = &further.parameters;
    else if (strcmp(name, "rows") == 0 && column->atttypid == INT8OID)
      place = &further.rows;
    else if (column->atttypid == TEXTOID && (i == kFewest || strcmp(name, "end_user") == 0))
      place = &further.end_user;  // the fifth has always been that, whatever its name
    fits = place != nullptr && *place < 0;
    if (fits) *place = i;
  }
  if (!fits) RefuseColumns();
  return further;
}

// The elements of a text[].
const privacy_score::LoggedParameters* ParametersIn(Datum array) {
  auto* parameters = NewCoreObject<privacy_score::LoggedParameters>();
  Datum* values;
  bool* nulls;
  int count;
  deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &count);
  for (int i = 0; i < count; ++i) {
    const char* value = nulls[i] ? nullptr : TextDatumGetCString(values[i]);
    CallCoreOrRaise([&] {
      if (value == nullptr)
        parameters->emplace_back(std::nullopt);
      else
        parameters->emplace_back(value);
    });
  }
  return parameters;
}

void AddImportedRow(Import* import, HeapTuple tuple, TupleDesc row, const FurtherColumns& further) {
  Datum values[kFewest];
  bool null;
  for (int i = 0; i < kFewest; ++i) {
    values[i] = SPI_getbinval(tuple, row, i + 1, &null);
    if (null)
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("column %d of the query must not be NULL", i + 1),
                      errhint("Leave such rows out: WHERE ... IS NOT NULL.")));
  }
  ImportedStatement statement;
  statement.session = TextDatumGetCString(values[0]);
  statement.role = NameStr(*DatumGetName(values[1]));
  statement.at = DatumGetTimestampTz(values[2]);
  statement.sql = DatumGetTextPP(values[3]);
  if (TIMESTAMP_NOT_FINITE(statement.at))
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("the time of a statement must be finite"),
                    errhint("Leave such rows out: WHERE isfinite(at).")));
  const auto field = [&](int place, Datum* value) {
    if (place < 0) return false;
    *value = SPI_getbinval(tuple, row, place + 1, &null);
    return !null;
  };
  Datum value;
  if (field(further.end_user, &value)) statement.end_user = TextDatumGetCString(value);
  if (field(further.parameters, &value)) statement.parameters = ParametersIn(value);
  if (field(further.rows, &value)) {
    statement.rows = DatumGetInt64(value);
    if (statement.rows < 0 || statement.rows > privacy_score::kMostCounted)
      ereport(ERROR,
              (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
               errmsg("rows of a statement must be 0 to %lld, not %lld",
                      static_cast<long long>(privacy_score::kMostCounted), static_cast<long long>(statement.rows)),
               errhint("NULL says that they are not known.")));
  }
  (void)AddStatement(import, statement);
}

void ReadQuery(Import* import, const char* query) {
  constexpr int kRowsAtATime = 1000;
  ConnectSpi();
  Portal portal = SPI_cursor_open_with_args(nullptr, query, 0, nullptr, nullptr, nullptr, true, 0);
  MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "privacy_score import", ALLOCSET_DEFAULT_SIZES);
  for (uint64 done = 0;; SetProgress(done, 0)) {
    SPI_cursor_fetch(portal, true, kRowsAtATime);
    const uint64 count = SPI_processed;
    SPITupleTable* table = SPI_tuptable;
    const FurtherColumns further = CheckColumns(table->tupdesc);
    for (uint64 i = 0; i < count; ++i) {
      CHECK_FOR_INTERRUPTS();
      MemoryContext old = MemoryContextSwitchTo(scratch);
      AddImportedRow(import, table->vals[i], table->tupdesc, further);
      MemoryContextSwitchTo(old);
      MemoryContextReset(scratch);
    }
    SPI_freetuptable(table);
    done += count;
    if (count == 0) break;
  }
  SPI_cursor_close(portal);
  SPI_finish();
}

}  // namespace

// import_statements(query)
Datum ps_import_statements(PG_FUNCTION_ARGS) {
  RequirePrimary("import_statements");
  RequireReadCommitted("import_statements");
  auto* import = NewCoreObject<Import>();
  const char* query = text_to_cstring(PG_GETARG_TEXT_PP(0));
  BeginProgress("import_statements", InvalidOid, "reading rows");
  RunImport(import, [&] { ReadQuery(import, query); });
  EndProgress();
  PG_RETURN_INT64(import->counted);
}

}  // namespace privacy_score

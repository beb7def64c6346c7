/*
 * import_functions.cpp - import_statements(): the caller's query is read through a cursor with the caller's rights.
 */
#include "backend/history/import_sessions.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/internal.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(ps_import_statements);
}

namespace {

// The last is the end user, and may be left out.
const Oid kColumns[5] = {TEXTOID, NAMEOID, TIMESTAMPTZOID, TEXTOID, TEXTOID};
constexpr int kFewest = 4;

void CheckColumns(TupleDesc row) {
  bool fits = row->natts == kFewest || row->natts == kFewest + 1;
  for (int i = 0; fits && i < row->natts; ++i) fits = TupleDescAttr(row, i)->atttypid == kColumns[i];
  if (!fits)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the query must yield (text, name, timestamptz, text)"),
                    errhint("Cast the columns: session::text, role::name, at::timestamptz, sql::text; a fifth one, "
                            "end_user::text, may follow.")));
}

void AddRow(Import* import, HeapTuple tuple, TupleDesc row) {
  Datum values[kFewest];
  bool null;
  for (int i = 0; i < kFewest; ++i) {
    values[i] = SPI_getbinval(tuple, row, i + 1, &null);
    if (null)
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("column %d of the query must not be NULL", i + 1),
                      errhint("Leave such rows out: WHERE ... IS NOT NULL.")));
  }
  const char* session = TextDatumGetCString(values[0]);
  const char* role = NameStr(*DatumGetName(values[1]));
  const TimestampTz at = DatumGetTimestampTz(values[2]);
  if (TIMESTAMP_NOT_FINITE(at))
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("the time of a statement must be finite"),
                    errhint("Leave such rows out: WHERE isfinite(at).")));
  const char* end_user = "";
  if (row->natts > kFewest) {
    const Datum named = SPI_getbinval(tuple, row, kFewest + 1, &null);
    if (!null) end_user = TextDatumGetCString(named);
  }
  (void)AddStatement(import, session, role, at, DatumGetTextPP(values[3]), end_user);
}

void ReadQuery(Import* import, const char* query) {
  constexpr int kRowsAtATime = 1000;
  ConnectSpi();
  Portal portal = SPI_cursor_open_with_args(nullptr, query, 0, nullptr, nullptr, nullptr, true, 0);
  MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "privacy_score import", ALLOCSET_DEFAULT_SIZES);
  for (;;) {
    SPI_cursor_fetch(portal, true, kRowsAtATime);
    const uint64 count = SPI_processed;
    SPITupleTable* table = SPI_tuptable;
    CheckColumns(table->tupdesc);
    for (uint64 i = 0; i < count; ++i) {
      CHECK_FOR_INTERRUPTS();
      MemoryContext old = MemoryContextSwitchTo(scratch);
      AddRow(import, table->vals[i], table->tupdesc);
      MemoryContextSwitchTo(old);
      MemoryContextReset(scratch);
    }
    SPI_freetuptable(table);
    if (count == 0) break;
  }
  SPI_cursor_close(portal);
  SPI_finish();
}

}  // namespace

// import_statements(query)
Datum ps_import_statements(PG_FUNCTION_ARGS) {
  RequirePrimary("import_statements");
  auto* import = NewCoreObject<Import>();
  ReadQuery(import, text_to_cstring(PG_GETARG_TEXT_PP(0)));
  const int64 counted = import->counted;
  WriteImport(import);
  PG_RETURN_INT64(counted);
}

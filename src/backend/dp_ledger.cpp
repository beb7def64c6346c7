/*
 * dp_ledger.cpp - see dp_ledger.hpp.
 */
#include "dp_ledger.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
}

void RunLedger(LedgerStatement* statement, const char* const* args, bool writes) {
  Oid types[kMostLedgerArguments];
  Datum values[kMostLedgerArguments];
  char nulls[kMostLedgerArguments];
  Assert(statement->nargs <= kMostLedgerArguments);
  for (int i = 0; i < statement->nargs; ++i) {
    types[i] = TEXTOID;
    nulls[i] = args[i] == nullptr ? 'n' : ' ';
    values[i] = args[i] == nullptr ? Datum(0) : CStringGetTextDatum(args[i]);
  }
  if (statement->plan == nullptr) {
    SPIPlanPtr plan = SPI_prepare(statement->sql, statement->nargs, types);
    if (plan == nullptr || SPI_keepplan(plan) != 0) elog(ERROR, "could not prepare a statement on the ledger");
    statement->plan = plan;
  }
  if (!writes) PushActiveSnapshot(GetLatestSnapshot());
  if (SPI_execute_plan(statement->plan, values, nulls, !writes, 0) < 0)
    elog(ERROR, "could not run a statement on the ledger");
  if (!writes) PopActiveSnapshot();
}

char* LedgerField(uint64 row, int column) {
  char* value = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column + 1);
  if (value == nullptr) return nullptr;
  const Size size = strlen(value) + 1;
  return static_cast<char*>(memcpy(SPI_palloc(size), value, size));
}

int64 LedgerNumber(uint64 row, int column) {
  return pg_strtoint64(SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column + 1));
}

bool LedgerFlag(uint64 row, int column) {
  return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column + 1)[0] == 't';
}

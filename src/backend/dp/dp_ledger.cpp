/*
 * dp_ledger.cpp - see dp_ledger.hpp.
 */
#include "backend/dp/dp_ledger.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/snapmgr.h"
}

#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"

namespace privacy_score {

void RunLedger(LedgerStatement* statement, const char* const* args, bool writes) {
  TextArguments arguments;
  FillTextArguments(&arguments, statement->nargs, args);
  if (statement->plan == nullptr) {
    SPIPlanPtr plan = SPI_prepare(statement->sql, statement->nargs, arguments.types);
    if (plan == nullptr || SPI_keepplan(plan) != 0) elog(ERROR, "could not prepare a statement on the ledger");
    statement->plan = plan;
  }
  if (!writes) PushActiveSnapshot(GetLatestSnapshot());
  if (SPI_execute_plan(statement->plan, arguments.values, arguments.nulls, !writes, 0) < 0)
    elog(ERROR, "could not run a statement on the ledger");
  if (!writes) PopActiveSnapshot();
}

int64 LedgerNumber(uint64 row, int column) { return pg_strtoint64(FieldText(row, column)); }

bool LedgerFlag(uint64 row, int column) { return FieldText(row, column)[0] == 't'; }

TimestampTz LedgerTime(uint64 row, int column) {
  bool is_null;
  return DatumGetTimestampTz(SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column + 1, &is_null));
}

}  // namespace privacy_score

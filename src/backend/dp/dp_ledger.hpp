/*
 * dp_ledger.hpp - running prepared statements on the tables of budgets and releases.
 *
 * For the accountant, which writes, and for backends, which read as the extension's owner and with a snapshot of this
 * moment: a transaction whose snapshot is old must not take an exhausted budget for a full one.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "executor/spi.h"
#include "utils/timestamp.h"
}

namespace privacy_score {

// A statement with text arguments, prepared on first use in this process.
struct LedgerStatement {
  const char* sql;
  int nargs;
  SPIPlanPtr plan;
};

// What is left of a budget, n of budget_now, for a question that costs so much: epsilon left, whether the question
// fits, left after it; whether its delta fits, delta left.
#define SQL_EPSILON_LEFT(epsilon)                                                       \
  "pg_catalog.trim_scale(n.epsilon - n.spent_now), n.epsilon - n.spent_now >= " epsilon \
  "::pg_catalog.numeric, "                                                              \
  "pg_catalog.trim_scale(n.epsilon - n.spent_now - " epsilon "::pg_catalog.numeric)"
#define SQL_DELTA_LEFT(delta)                \
  "COALESCE(n.delta - n.delta_now >= " delta \
  "::pg_catalog.numeric, true), "            \
  "pg_catalog.trim_scale(n.delta - n.delta_now)"

// Runs the statement inside an internal scope (internal.hpp); the result is in SPI_processed and SPI_tuptable, which
// stay until the scope is left. `writes` is for the accountant: it runs with the snapshot of its transaction.
void RunLedger(LedgerStatement* statement, const char* const* args, bool writes = false);

// Fields of the result, row and column counted from 0, where NULL cannot be; texts are FieldText() (wire.hpp).
int64 LedgerNumber(uint64 row, int column);
bool LedgerFlag(uint64 row, int column);
TimestampTz LedgerTime(uint64 row, int column);

}  // namespace privacy_score

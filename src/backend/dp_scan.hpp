/*
 * dp_scan.hpp - reading the rows that a noisy answer is about.
 *
 * The query runs as the owner of the relation, in a security-restricted operation, sees all rows (row security is off:
 * where the owner himself is subject to a policy, that is an error), and can run in parallel. What it does must show
 * nowhere but in the noisy answer:
 *
 * - It reads tables from end to end. With an index the blocks read, which EXPLAIN (BUFFERS) shows, and the time would
 * be those of the rows that match.
 * - Parallel workers, which everybody sees, are started for large tables and not for many rows: with a price on tuples
 *   that he sets himself, the caller would see how many the planner expects from the column's statistics.
 * - It is not in the statistics of tables and functions, which everybody may read, nor in pg_stat_statements; the
 * blocks that it reads are not added to those of the caller's statement.
 * - It is no read by the caller, unless he or somebody without the rights of its owner has given the budget
 *   (answering.hpp).
 * - Messages below an error do not reach the client. Errors after the charge are replaced by one (dp_budget.hpp).
 *
 * Its time is not hidden (docs/threat_model.md).
 */
#pragma once

#include "dp_budget.hpp"

extern "C" {
#include "executor/spi.h"
}

// A SELECT with typed parameters. All names in it are qualified, all operators those of pg_catalog.
struct ScanQuery {
  const char* sql;
  int nargs;
  Oid* types;
  Datum* values;
  const char* nulls;  // as SPI has it; null when there is no NULL
};

// How texts are read and written at this moment, as the literal of a text[] of NAME=VALUE: for a budget that is
// granted.
const char* SettingsOfReading();

// Locks what the query reads, sees that it needs no code that is not trusted (42501), charges, and only then runs it;
// `take` is called with its result in SPI_tuptable and copies what is needed (with SPI_palloc). False when there is an
// answer meanwhile: nothing was read then.
bool ReadRelation(Debit* debit, const ScanQuery* query, void (*take)(void*), void* argument);

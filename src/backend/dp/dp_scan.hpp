/*
 * dp_scan.hpp - reading the rows that a noisy answer is about.
 *
 * The query runs as the owner of the relation, in a security-restricted operation, sees all rows (row security is off:
 * where the owner, too, is subject to a policy, that is an error), and can run in parallel. What it does must show
 * nowhere but in the noisy answer:
 *
 * - It reads tables from end to end, and what it stores does not depend on the predicate (dp_rows.hpp).
 * - Settings are not those of who asks (dp_settings.hpp). Parallel workers, which everybody sees, are started for large
 *   tables and not for many rows: with a price on tuples of one's own one would see how many the planner expects.
 * - It is not in the statistics of tables and functions, which everybody may read, nor in pg_stat_statements; the
 * blocks that it reads are not added to those of the caller's statement.
 * - It is no read by the caller, unless the caller, or somebody without the rights of its owner, has given the budget
 *   (noisy_answer_reads.hpp).
 * - Messages below an error do not reach the client. Errors after the charge are replaced by one (dp_budget.hpp).
 *
 * Its time is not hidden (docs/threat_model.md).
 */
#pragma once

#include "backend/dp/dp_budget.hpp"
#include "backend/dp/dp_settings.hpp"

extern "C" {
#include "executor/spi.h"
}

namespace privacy_score {

// A SELECT with typed parameters. All names in it are qualified, all operators those of pg_catalog.
struct ScanQuery {
  const char* sql;
  int nargs;
  Oid* types;
  Datum* values;
  GroupingSteps steps;
};

// Reading in steps, which run as the owner of the budget's relation. What fails before the debit costs nothing and must
// not depend on rows.
struct OwnerReading {
  GroupingSteps steps;
  void (*prepare)(void* argument);  // before the debit: locks, rights, code
  void (*run)(void* argument);      // after it, where only trusted code runs
  void (*take)(void* argument);     // copies what is needed of the result
  void* argument;
};

// The steps before the debit alone, where several questions are charged together; they come again when it is read.
void PrepareAsOwner(const Question* question, const OwnerReading* reading);

// False when there is an answer meanwhile: nothing was read then.
bool ReadAsOwner(Debit* debit, const OwnerReading* reading);

// Locks what the query reads, sees that it needs no code that is not trusted (42501), charges, and only then runs it;
// `take` is called with its result in SPI_tuptable and copies what is needed (with SPI_palloc). False when there is an
// answer meanwhile: nothing was read then.
bool ReadRelation(Debit* debit, const ScanQuery* query, void (*take)(void*), void* argument);

}  // namespace privacy_score

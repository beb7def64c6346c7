/*
 * dp_scan.cpp - see dp_scan.hpp.
 */
#include "backend/dp/dp_scan.hpp"

extern "C" {
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/plancache.h"
}

#include "backend/catalog/code_trust.hpp"
#include "backend/catalog/relation_lock.hpp"
#include "backend/server/compat.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/noisy_answer_reads.hpp"

namespace privacy_score {

namespace {

// A tree walker: raises unless all that a query names may be read, as the executor will do again.
bool RequireRights(Node* node, void* context) {
  if (node == nullptr || IsA(node, RangeTblEntry)) return false;
  if (!IsA(node, Query)) return WalkChildren(node, RequireRights, context);
  RequireRightsOfQuery(AsQuery(node));
  return WalkQuery(AsQuery(node), RequireRights, context);
}

// Prepares the query, locks what it reads, and looks for rights that are missing and code that must not run. Nothing
// here depends on rows.
SPIPlanPtr PrepareScan(Oid owner, const ScanQuery* query) {
  SPIPlanPtr plan = SPI_prepare_cursor(query->sql, query->nargs, query->types, CURSOR_OPT_PARALLEL_OK);
  if (plan == nullptr) elog(ERROR, "could not prepare the query of a noisy answer");
  const ListCell* relation;
  foreach (relation, RelationsOf(plan)) (void)LockForReading(lfirst_oid(relation));
  const ListCell* source;
  foreach (source, SPI_plan_get_plan_sources(plan))
    (void)RequireRights(reinterpret_cast<Node*>(static_cast<CachedPlanSource*>(lfirst(source))->query_list), nullptr);
  RequireTrustedCode(plan, owner);
  return plan;
}

// A query in SQL that is read in steps.
struct SqlReading {
  Oid owner;
  const ScanQuery* query;
  SPIPlanPtr plan;
  void (*take)(void*);
  void* argument;
};

void PrepareSql(void* argument) {
  auto* reading = static_cast<SqlReading*>(argument);
  reading->plan = PrepareScan(reading->owner, reading->query);
}

void RunSql(void* argument) {
  const auto* reading = static_cast<SqlReading*>(argument);
  if (SPI_execute_plan(reading->plan, reading->query->values, nullptr, true, 0) != SPI_OK_SELECT)
    elog(ERROR, "could not run the query of a noisy answer");
}

void TakeSql(void* argument) {
  const auto* reading = static_cast<SqlReading*>(argument);
  reading->take(reading->argument);
}

// Runs what was prepared; says in `reads` whether rows may have been seen.
void RunTrusted(Oid owner, const OwnerReading* reading, bool* reads) {
  WithTrustedCode(owner, [&] {
    PG_TRY();
    { reading->run(reading->argument); }
    PG_FINALLY();
    { *reads = ps_code_rule.runs; }
    PG_END_TRY();
  });
}

// Until the scope is left.
void EnterReading(InternalScope* scope, const Budget* budget, const OwnerReading* reading) {
  EnterInternal(scope, budget->owner);
  SetForReading(budget, reading->steps);
  EndUncounted(scope->uncounted);
  BeginAnswering(budget->owner);
  reading->prepare(reading->argument);
}

// Planning reads the statistics of rows, and the ends of indexes: it comes after the charge.
bool RunCharged(Debit* debit, const OwnerReading* reading) {
  const Budget* budget = debit->question->budget;
  InternalScope scope;
  EnterReading(&scope, budget, reading);
  const bool charged = ChargeNow(debit);
  if (charged) {
    RunTrusted(budget->owner, reading, &debit->reads);
    reading->take(reading->argument);
  }
  LeaveInternal(&scope);
  return charged;
}

}  // namespace

void PrepareAsOwner(const Question* question, const OwnerReading* reading) {
  InternalScope scope;
  EnterReading(&scope, question->budget, reading);
  LeaveInternal(&scope);
}

bool ReadAsOwner(Debit* debit, const OwnerReading* reading) {
  const BufferUsage buffers = pgBufferUsage;
  const WalUsage wal = pgWalUsage;
  volatile bool charged = false;
  PG_TRY();
  { charged = RunCharged(debit, reading); }
  PG_CATCH();
  {
    pgBufferUsage = buffers;
    pgWalUsage = wal;
    PG_RE_THROW();
  }
  PG_END_TRY();
  pgBufferUsage = buffers;
  pgWalUsage = wal;
  return charged;
}

bool ReadRelation(Debit* debit, const ScanQuery* query, void (*take)(void*), void* argument) {
  SqlReading sql = {debit->question->budget->owner, query, nullptr, take, argument};
  const OwnerReading reading = {query->steps, PrepareSql, RunSql, TakeSql, &sql};
  return ReadAsOwner(debit, &reading);
}

}  // namespace privacy_score

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

namespace {

// A tree walker: raises unless all that a query names may be read, as the executor will do again.
bool RequireRights(Node* node, void* context) {
  if (node == nullptr || IsA(node, RangeTblEntry)) return false;
  if (!IsA(node, Query)) return WalkChildren(node, RequireRights, context);
  RequireRightsOfQuery(castNode(Query, node));
  return WalkQuery(castNode(Query, node), RequireRights, context);
}

// Prepares the query, locks what it reads, and looks for rights that are missing and code that must not run. Nothing
// here depends on rows.
SPIPlanPtr Prepare(Oid owner, const ScanQuery* query) {
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

// Runs a prepared query; says in `reads` whether rows may have been seen.
void RunPrepared(SPIPlanPtr plan, Oid owner, const ScanQuery* query, bool* reads) {
  int done = 0;
  WithTrustedCode(owner, [&] {
    PG_TRY()
      ;
      { done = SPI_execute_plan(plan, query->values, nullptr, true, 0); }
      PG_FINALLY();
      { *reads = ps_code_rule.runs; }
    PG_END_TRY();
  });
  if (done != SPI_OK_SELECT) elog(ERROR, "could not run the query of a noisy answer");
}

// Planning reads the statistics of rows, and the ends of indexes: it comes after the charge.
bool Run(Debit* debit, const ScanQuery* query, void (*take)(void*), void* argument) {
  const Budget* budget = debit->question->budget;
  InternalScope scope;
  EnterInternal(&scope, budget->owner);
  SetForReading(budget, query->steps);
  EndUncounted(scope.uncounted);
  BeginAnswering(budget->owner);
  SPIPlanPtr plan = Prepare(budget->owner, query);
  const bool charged = ChargeNow(debit);
  if (charged) {
    RunPrepared(plan, budget->owner, query, &debit->reads);
    take(argument);
  }
  LeaveInternal(&scope);
  return charged;
}

}  // namespace

bool ReadRelation(Debit* debit, const ScanQuery* query, void (*take)(void*), void* argument) {
  const BufferUsage buffers = pgBufferUsage;
  const WalUsage wal = pgWalUsage;
  volatile bool charged = false;
  PG_TRY()
    ;
    { charged = Run(debit, query, take, argument); }
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

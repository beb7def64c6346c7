/*
 * dp_scan.cpp - see dp_scan.hpp.
 */
#include "dp_scan.hpp"

extern "C" {
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
}

#include "answering.hpp"
#include "internal.hpp"
#include "relation_lock.hpp"
#include "trusted_code.hpp"
#include "watching.hpp"

namespace {

// What the caller of the function may have set otherwise, or must not notice.
constexpr const char* kSettings[][2] = {
    {"row_security", "off"},      {"track_counts", "off"},     {"track_functions", "none"},
    {"track_io_timing", "off"},   {"compute_query_id", "off"}, {"client_min_messages", "error"},
    {"enable_seqscan", "on"},     {"enable_indexscan", "off"}, {"enable_indexonlyscan", "off"},
    {"enable_bitmapscan", "off"}, {"enable_tidscan", "off"},   {"parallel_setup_cost", "0"},
    {"parallel_tuple_cost", "0"},
};

// Prepares the query and locks what it reads.
SPIPlanPtr Prepare(const Budget* budget, const ScanQuery* query) {
  SPIPlanPtr plan = SPI_prepare_cursor(query->sql, query->nargs, query->types, CURSOR_OPT_PARALLEL_OK);
  if (plan == nullptr) elog(ERROR, "could not prepare the query of a noisy answer");
  RequireTrustedCode(plan, budget->owner);
  const ListCell* relation;
  foreach (relation, RelationsOf(plan)) (void)LockForReading(lfirst_oid(relation));
  return plan;
}

void Run(const Budget* budget, const ScanQuery* query, void (*take)(void*), void* argument) {
  InternalScope scope;
  EnterInternal(&scope, budget->owner);
  for (const auto& setting : kSettings) SetWithin(setting[0], setting[1]);
  EndUncounted(scope.uncounted);
  BeginAnswering(budget->owner);
  SPIPlanPtr plan = Prepare(budget, query);
  int done = 0;
  WithTrustedCode(budget->owner, [&] { done = SPI_execute_plan(plan, query->values, query->nulls, true, 0); });
  if (done != SPI_OK_SELECT) elog(ERROR, "could not run the query of a noisy answer");
  take(argument);
  LeaveInternal(&scope);
}

// Whether the message of an error of this class depends on names, rights, resources and the server, but not on rows.
// The last class is that of refused statements.
bool TellsNothing(int sqlstate) {
  for (const char* text : {"40", "42", "53", "54", "55", "57", "PS"})
    if (ERRCODE_TO_CATEGORY(sqlstate) == MAKE_SQLSTATE(text[0], text[1], '0', '0', '0')) return true;
  return false;
}

}  // namespace

void ReadRelation(const Budget* budget, const ScanQuery* query, void (*take)(void*), void* argument) {
  const BufferUsage buffers = pgBufferUsage;
  const WalUsage wal = pgWalUsage;
  MemoryContext context = CurrentMemoryContext;
  const char* name = get_rel_name(budget->relation);
  PG_TRY()
    ;
    { Run(budget, query, take, argument); }
    PG_CATCH();
    {
      pgBufferUsage = buffers;
      pgWalUsage = wal;
      MemoryContextSwitchTo(context);
      ErrorData* error = CopyErrorData();
      FlushErrorState();
      if (TellsNothing(error->sqlerrcode)) {
        // The query is nobody's but ours. Who cancels may want to know where his function stood.
        if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION)) {
          error->context = nullptr;
          error->internalquery = nullptr;
          error->internalpos = 0;
        }
        ReThrowError(error);
      }
      ereport(LOG_SERVER_ONLY, (errmsg("could not read relation \"%s\" for a noisy answer: %s", name, error->message),
                                errhidestmt(true), errhidecontext(true)));
      ereport(ERROR, (errcode(error->sqlerrcode), errmsg("could not read relation \"%s\"", name),
                      errdetail("The server log says why. Nothing was spent."), errhidecontext(true)));
    }
  PG_END_TRY();
  pgBufferUsage = buffers;
  pgWalUsage = wal;
}

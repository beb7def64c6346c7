/*
 * hinting.c - a library that looks each statement up in a table of its own before it is planned, as those do that take
 * hints for the planner from one.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "parser/analyze.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

static post_parse_analyze_hook_type next_hook;
static bool looking;

static void LookUp(ParseState* state, Query* query, JumbleState* jumbled) {
  bool pushed = !ActiveSnapshotSet();
  if (next_hook) next_hook(state, query, jumbled);
  if (looking || query->commandType == CMD_UTILITY || !OidIsValid(get_namespace_oid("hints", true))) return;
  looking = true;
  PG_TRY();
  {
    if (pushed) PushActiveSnapshot(GetTransactionSnapshot());
    SPI_connect();
    SPI_execute("SELECT hint FROM hints.hint WHERE statement = 'none'", true, 1);
    SPI_finish();
    if (pushed) PopActiveSnapshot();
  }
  PG_FINALLY();
  { looking = false; }
  PG_END_TRY();
}

void _PG_init(void);

void _PG_init(void) {
  next_hook = post_parse_analyze_hook;
  post_parse_analyze_hook = LookUp;
}

/*
 * module.cpp - what happens when the library is loaded. Start reading here.
 *
 * Preloaded by the postmaster it watches: shared memory, hooks, callbacks. Loaded later, by the first call of one of
 * its functions, it only computes.
 */
extern "C" {
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
}

#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/security_labels.hpp"
#include "backend/fleet/fleet_worker.hpp"
#include "backend/history/explain_option.hpp"
#include "backend/private_sql/private_planner.hpp"
#include "backend/query/pieces.hpp"
#include "backend/query/query_statement.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/connection_context.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/hooks.hpp"
#include "sqlparse/parser_island.hpp"

namespace privacy_score {

extern "C" {
PS_MODULE_MAGIC("privacy_score");
PGDLLEXPORT void _PG_init(void);
}

namespace {

// What C++ and the parser keep for a thread is made when it is first used, and where there is no memory then, the C
// library ends the process. An exception is first thrown when memory is short.
void MakeThreadStorage() {
  CoreError error;
  (void)CallCore(&error, [] { throw std::bad_alloc(); });
  if (!privacy_score_parser_start()) ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
}

}  // namespace

void _PG_init(void) {
  MakeThreadStorage();
  DefineSettings();
  ps_translate_definition = TranslateDefinition;
  RegisterLabels();
  InstallWatchingCallbacks();
  InstallExplainOption();
  if (process_shared_preload_libraries_in_progress) {
    InstallContextHook();
    NoteOthersPlanners();
    InstallHooks();
    InstallPrivatePlanner();
    NoteOwnPlanners();
    RegisterHub();
  }
}

}  // namespace privacy_score

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

#include "compat.hpp"
#include "explain_option.hpp"
#include "hooks.hpp"
#include "security_labels.hpp"
#include "settings.hpp"
#include "watching.hpp"

extern "C" {
PS_MODULE_MAGIC("privacy_score");
PGDLLEXPORT void _PG_init(void);
}

void _PG_init(void) {
  DefineSettings();
  RegisterLabels();
  InstallWatchingCallbacks();
  InstallExplainOption();
  if (process_shared_preload_libraries_in_progress) InstallHooks();
}

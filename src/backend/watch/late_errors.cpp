/*
 * late_errors.cpp - see late_errors.hpp.
 */
#include "backend/watch/late_errors.hpp"

extern "C" {
#include "access/xact.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
}

#include "backend/state/scoring_errors.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/broken_waits.hpp"
#include "backend/watch/shown_by_errors.hpp"

namespace privacy_score {

bool ps_has_late_error = false;

namespace {

MemoryContext kept_context = nullptr;
ErrorData kept;

// A text in the context of what is kept; null without memory.
char* KeepText(const char* text) {
  if (text == nullptr) return nullptr;
  const Size size = strlen(text) + 1;
  void* copy = MemoryContextAllocExtended(kept_context, size, MCXT_ALLOC_NO_OOM);
  if (copy == nullptr) {
    CountScoringError("what a transaction has shown at its end could not be kept");
    return nullptr;
  }
  return static_cast<char*>(memcpy(copy, text, size));
}

// The session has no statement any more, but shared memory.
void OnExit(int /*code*/, Datum /*argument*/) {
  if (!ps_has_late_error) return;
  AbortOutOfAnyTransaction();
  StartTransactionCommand();
  RecordKeptError();
  CommitTransactionCommand();
}

}  // namespace

void PrepareLateErrors() {
  kept_context = AllocSetContextCreate(TopMemoryContext, "privacy_score late error", ALLOCSET_SMALL_SIZES);
}

void KeepLateError(const ErrorData* error) {
  static bool registered = false;
  // Later than the session, so it runs before that ends.
  if (!registered) before_shmem_exit(OnExit, Datum(0));
  registered = true;
  MemoryContextReset(kept_context);
  kept = {};
  kept.elevel = error->elevel;
  kept.sqlerrcode = error->sqlerrcode;
  kept.message = KeepText(error->message);
  kept.detail = KeepText(error->detail);
  kept.context = KeepText(error->context);
  kept.schema_name = KeepText(error->schema_name);
  kept.table_name = KeepText(error->table_name);
  kept.constraint_name = KeepText(error->constraint_name);
  ps_has_late_error = true;
}

void RecordKeptError() {
  if (!IsTransactionState()) return;
  ps_has_late_error = false;
  if (kept.message == nullptr || !Counts(WatchInForce().role)) return;
  if (BrokeWaitUnseen(&kept, true))
    RecordWaitByContext(&kept);
  else
    RecordShownByError({&kept, NamedRelation(&kept), nullptr, nullptr, InvalidOid, false});
}

}  // namespace privacy_score

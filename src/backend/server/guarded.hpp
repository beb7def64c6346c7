/*
 * guarded.hpp - work of ours within somebody's transaction, whose fault leaves that transaction alone.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
}

namespace privacy_score {

// Whether there can be a subtransaction: the server has none while a plan runs in parallel.
inline bool CanContainFaults() { return !IsInParallelMode(); }

// What stays of a subtransaction that succeeded.
enum class Keeps { kAll, kNothing };

// Runs `work` in a subtransaction. Null when it succeeded, else a copy of its error in the current memory context; a
// cancelled query and the end of the process are raised, after the subtransaction is gone.
template <typename Work>
ErrorData* InSubtransaction(Work work, Keeps keeps = Keeps::kAll) {
  MemoryContext context = CurrentMemoryContext;
  ResourceOwner owner = CurrentResourceOwner;
  ErrorData* volatile error = nullptr;
  BeginInternalSubTransaction(nullptr);
  MemoryContextSwitchTo(context);
  PG_TRY();
  {
    work();
    if (keeps == Keeps::kAll)
      ReleaseCurrentSubTransaction();
    else
      RollbackAndReleaseCurrentSubTransaction();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    error = CopyErrorData();
    FlushErrorState();
    RollbackAndReleaseCurrentSubTransaction();
  }
  PG_END_TRY();
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = owner;
  if (error != nullptr && (error->sqlerrcode == ERRCODE_QUERY_CANCELED || error->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN))
    ReThrowError(error);
  return error;
}

}  // namespace privacy_score

/*
 * in_time.hpp - work of the worker that may take longer than it can wait.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "utils/memutils.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
}

#include "backend/server/guarded.hpp"

namespace privacy_score {

// Runs `work` in a subtransaction; false when it took longer than so many milliseconds (0: as long as it takes), and is
// undone.
template <typename Work>
bool InTime(int milliseconds, Work work) {
  MemoryContext context = CurrentMemoryContext;
  const TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);
  volatile bool in_time = true;
  if (milliseconds == 0) {
    work();
    return true;
  }
  enable_timeout_after(STATEMENT_TIMEOUT, milliseconds);
  PG_TRY();
  {
    ErrorData* error = InSubtransaction(work);
    if (error != nullptr) ReThrowError(error);
  }
  PG_CATCH();
  {
    disable_timeout(STATEMENT_TIMEOUT, false);
    MemoryContextSwitchTo(context);
    if (geterrcode() != ERRCODE_QUERY_CANCELED || ShutdownRequestPending || GetCurrentTimestamp() < until)
      PG_RE_THROW();
    FlushErrorState();
    in_time = false;
  }
  PG_END_TRY();
  disable_timeout(STATEMENT_TIMEOUT, false);
  // It may have come too late to be noticed.
  if (!ShutdownRequestPending) QueryCancelPending = false;
  return in_time;
}

}  // namespace privacy_score

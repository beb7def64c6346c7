/*
 * shared_state_functions.cpp - counters of the shared state, resetting them, and having the worker write.
 */
#include "backend/state/flush_request.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/shared_baselines.hpp"
#include "backend/state/shared_state.hpp"

extern "C" {
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
}

#include <algorithm>

#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_shared_info);
PG_FUNCTION_INFO_V1(ps_flush);
PG_FUNCTION_INFO_V1(ps_reset_stats);
PG_FUNCTION_INFO_V1(ps_warn_unless_preloaded);
}

// shared_info()
Datum ps_shared_info(PG_FUNCTION_ARGS) {
  constexpr int kColumns = 15;
  InitMaterializedSRF(fcinfo, 0);
  if (ps_shared == nullptr) {
    Datum values[kColumns] = {};
    bool nulls[kColumns];
    std::fill_n(nulls, kColumns, true);
    PutResultRow(fcinfo, values, nulls);
    return Datum(0);
  }
  const DatabaseSlot* slot = RequireSlotOfDatabase();
  LWLockAcquire(slot->lock, LW_SHARED);
  const int32 left_out = BaselinesLeftOut(slot);
  LWLockRelease(slot->lock);
  const BlockPool& blocks = ps_shared->blocks;
  const auto bytes = [](int32 count) { return Int64GetDatum(static_cast<int64>(count) * kBlockSize); };
  LWLockAcquire(blocks.lock, LW_SHARED);
  const int32 pool_used = blocks.size - blocks.left;
  LWLockRelease(blocks.lock);
  Datum values[kColumns] = {Int64GetDatum(pg_atomic_read_u64(&ps_shared->memory_used)),
                            Int64GetDatum(ps_shared->size),
                            Int64GetDatum(pg_atomic_read_u64(&ps_shared->evictions)),
                            Int64GetDatum(EventsCounted()),
                            Int64GetDatum(pg_atomic_read_u64(&ps_shared->dropped)),
                            Int64GetDatum(pg_atomic_read_u64(&ps_shared->scoring_errors)),
                            Int64GetDatum(slot->missing_count + slot->stale_count),
                            Int32GetDatum(slot->worker_pid),
                            TimestampTzGetDatum(slot->last_flush),
                            TimestampTzGetDatum(ps_shared->stats_reset),
                            Int64GetDatum(pg_atomic_read_u64(&ps_shared->flush_errors)),
                            bytes(blocks.share),
                            bytes(pool_used),
                            bytes(blocks.size),
                            Int64GetDatum(left_out)};
  bool nulls[kColumns] = {};
  nulls[7] = slot->worker_pid == 0;
  nulls[8] = slot->last_flush == 0;
  PutResultRow(fcinfo, values, nulls);
  return Datum(0);
}

// flush(): asks the worker, starting one if need be, and waits for it.
Datum ps_flush(PG_FUNCTION_ARGS) {
  RequirePrimary("flush");
  AwaitFlush(RequireSlotOfDatabase());
  PG_RETURN_VOID();
}

// reset_stats()
Datum ps_reset_stats(PG_FUNCTION_ARGS) {
  RequirePrimary("reset_stats");
  RequirePreload();
  pg_atomic_write_u64(&ps_shared->evictions, 0);
  ResetEventsCounted();
  pg_atomic_write_u64(&ps_shared->dropped, 0);
  pg_atomic_write_u64(&ps_shared->scoring_errors, 0);
  pg_atomic_write_u64(&ps_shared->flush_errors, 0);
  ps_shared->stats_reset = GetCurrentTimestamp();
  InternalScope scope;
  EnterInternal(&scope);
  LockAbstractions();
  RunInternal("UPDATE privacy_score.abstraction SET calls = 0, rows = 0");
  LeaveInternal(&scope);
  PG_RETURN_TIMESTAMPTZ(ps_shared->stats_reset);
}

// warn_unless_preloaded()
Datum ps_warn_unless_preloaded(PG_FUNCTION_ARGS) {
  WarnUnlessPreloaded();
  PG_RETURN_VOID();
}

}  // namespace privacy_score

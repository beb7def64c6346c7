/*
 * stored_principal.hpp - a principal's session that is not in memory but goes on: as it stands in our tables.
 *
 * The worker writes a row of principal_session for each session over all connections, with each part of its history,
 * and takes it away when the session ends. What it puts out of memory, to make room for others, it writes there before;
 * and what a crash has taken is there as far as it was written. Whoever opens the session again reads it from there
 * (by scans of its own: what was committed a moment ago counts, whatever snapshot the statement has), and goes on.
 */
#pragma once

#include <vector>

#include "backend/server/core_call.hpp"
#include "backend/state/shared_state.hpp"
#include "core/scoring/ngram.hpp"

namespace privacy_score {

// Bits beside those of AlertKind in principal_session.alerted: what alarms the session is held by.
constexpr uint32 kHeldByNovelty = uint32{1} << 28U;
constexpr uint32 kHeldByExtent = uint32{1} << 29U;

// What is read of a session, in a memory context of its own.
struct StoredPrincipal {
  MemoryContext context;
  int64 row_id;
  char session[kSessionTextLength];
  TimestampTz started, last_at;
  int32 day;
  int64 queries, refused, rows, most_rows;
  int32 differ;
  int32 next_part;
  uint32 alerted;
  bool reach_known;
  ReachFigures reach;
  NGram follows;
  const CoreHolder<std::vector<std::uint64_t>>* journal;
};

// The session of a principal that goes on at this moment; null when there is none, or it cannot be read, which is
// counted as a fault of scoring. In recovery, and outside of a transaction, nothing is read.
StoredPrincipal* ReadStoredPrincipal(const char* role, const char* end_user, TimestampTz now);
void ForgetStored(StoredPrincipal* stored);

// Makes a session that nobody else knows yet the one that was stored, but for its journal.
void BecomeStored(LiveSession* session, const StoredPrincipal* stored);

// Whether the end user has a baseline of her own or has had a session in the last thirty days, as far as the history is
// kept; who is none has.
bool IsKnownEndUser(const char* role, const char* end_user, TimestampTz now);

}  // namespace privacy_score

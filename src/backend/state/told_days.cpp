/*
 * told_days.cpp - see told_days.hpp.
 */
#include "backend/state/told_days.hpp"

#include "backend/state/live_local.hpp"

namespace {

constexpr Size kMostWaiting = 1024 * 1024;  // in this process
constexpr Size kMostPending = 32 * 1024;    // in shared memory, of one session
constexpr Size kMostPendingAtLast = 256 * 1024;

// Counts the bytes among those that the worker has not taken yet; false when they are too many.
bool Reserve(LiveSession* session, Size bytes, Size most) {
  SpinLockAcquire(&session->mutex);
  const bool fits = static_cast<Size>(session->open.told_bytes) + bytes <= most;
  if (fits) session->open.told_bytes += static_cast<int32>(bytes);
  SpinLockRelease(&session->mutex);
  return fits;
}

}  // namespace

void SendTold(LiveSession* session, bool last) {
  if (ps_local.scorer == nullptr) return;
  privacy_score::SessionJournal& told = ps_local.scorer->told;
  const auto& words = told.words();
  if (words.empty()) return;
  const ToldHead head = {static_cast<int64>(words.size())};
  const Size bytes = words.size() * sizeof words[0];
  const bool sent = Reserve(session, bytes, last ? kMostPendingAtLast : kMostPending) &&
                    AppendNote(session, &PendingHistory::told, &head, sizeof head, words.data(), bytes);
  if (sent || last || bytes > kMostWaiting) told.Clear();
}

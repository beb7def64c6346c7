/*
 * told_days.cpp - see told_days.hpp.
 */
#include "backend/state/told_days.hpp"

#include <algorithm>

#include "backend/server/core_call.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/scoring_errors.hpp"

namespace privacy_score {

namespace {

constexpr Size kMostWaiting = 1024 * 1024;  // in this process
constexpr Size kMostPending = 32 * 1024;    // in shared memory, of one session
// When nothing else is pending, or nothing follows: what one execution tells fits (kMostToldWords).
constexpr Size kMostAtOnce = 256 * 1024;

// How many bytes more may be told now, of those that the worker has not taken yet.
Size RoomForDays(LiveSession* session, bool last) {
  SpinLockAcquire(&session->mutex);
  const auto pending = static_cast<Size>(session->open.told_bytes);
  SpinLockRelease(&session->mutex);
  const Size most = last || pending == 0 ? kMostAtOnce : kMostPending;
  return most - Min(most, pending);
}

// Appends words of whole entries; false when there is no room.
bool Send(LiveSession* session, const std::uint64_t* words, Size count) {
  const ToldHead head = {static_cast<int64>(count)};
  const Size bytes = count * sizeof words[0];
  if (!AppendNote(session, &PendingHistory::told, &head, sizeof head, words, bytes)) return false;
  SpinLockAcquire(&session->mutex);
  session->open.told_bytes += static_cast<int32>(bytes);
  SpinLockRelease(&session->mutex);
  return true;
}

// How many words of whole entries fit into so many bytes.
Size Fitting(const privacy_score::SessionJournal& told, Size bytes) {
  CoreError error;
  Size count = 0;
  if (CallCore(&error, [&] { count = told.Fitting(bytes / sizeof(std::uint64_t)); })) return count;
  CountScoringError(error.message);
  return 0;
}

}  // namespace

void SendTold(LiveSession* session, bool last) {
  if (ps_local.scorer == nullptr) return;
  privacy_score::SessionJournal& told = ps_local.scorer->told;
  if (told.words().empty()) return;
  // Where shared memory is short, less may have room.
  for (Size room = RoomForDays(session, last); room > 0; room /= 4) {
    const Size count = Fitting(told, room);
    if (count == 0) break;
    if (!Send(session, told.words().data(), count)) continue;
    told.Drop(count);
    break;
  }
  if (last || told.words().size() * sizeof(std::uint64_t) > kMostWaiting) told.Clear();
}

}  // namespace privacy_score

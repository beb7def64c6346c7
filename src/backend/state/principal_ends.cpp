/*
 * principal_ends.cpp - how sessions of principals end, or leave memory for a while (principal_session.hpp). By the
 * worker, but for FreePart() and DiscardEndUser().
 */
#include "backend/state/principal_session.hpp"

#include <algorithm>
#include <vector>

#include "backend/server/settings.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/principal_attachment.hpp"
#include "backend/state/scoring_errors.hpp"
#include "core/scoring/returning_session.hpp"

namespace privacy_score {

void ClosePrincipals(DatabaseSlot* slot, Oid extension) {
  const int64 gap = static_cast<int64>(ps_settings.idle_gap) * USECS_PER_SEC;
  const TimestampTz now = GetCurrentTimestamp();
  const int32 day = DayOf(now);
  LWLockAcquire(slot->lock, LW_SHARED);
  for (LiveSession* session = slot->sessions; session != nullptr; session = session->next) {
    if (!IsShared(session)) continue;
    const bool attached_to = IsAttachedTo(session);
    SpinLockAcquire(&session->mutex);
    if (session->extension != extension) session->discarded = session->closed = true;
    if (!attached_to && (now - session->last_at > gap || day != session->day)) session->closed = true;
    SpinLockRelease(&session->mutex);
  }
  LWLockRelease(slot->lock);
}

bool OnlyPrincipalsRest(const DatabaseSlot* slot) {
  constexpr int kSeconds = 2;
  const TimestampTz now = GetCurrentTimestamp();
  for (const LiveSession* session = slot->sessions; session != nullptr; session = session->next)
    if (!IsShared(session) || session->closed || IsAttachedTo(session) || !session->open.IsEmpty() ||
        !session->sealed.IsEmpty() || now - session->last_at < kSeconds * USECS_PER_SEC)
      return false;
  return true;
}

void DiscardEndUser(DatabaseSlot* slot, const char* role, const char* end_user) {
  LWLockAcquire(slot->lock, LW_SHARED);
  for (LiveSession* session = slot->sessions; session != nullptr; session = session->next) {
    if (strcmp(NameStr(session->role_name), role) != 0 || strcmp(EndUserOf(session), end_user) != 0) continue;
    SpinLockAcquire(&session->mutex);
    session->discarded = true;
    if (IsShared(session)) session->closed = true;
    SpinLockRelease(&session->mutex);
  }
  LWLockRelease(slot->lock);
}

namespace {

// Whether all that the session has gathered is written, and nobody waits for anything of it.
bool IsSettled(LiveSession* session) {
  SpinLockAcquire(&session->mutex);
  const bool counted = session->limits.daily < 0 || (session->counted_rise.score >= session->risen.score &&
                                                     session->counted_rise.enforced >= session->risen.enforced);
  const bool settled = session->row_id != 0 && session->open.IsEmpty() && session->sealed.IsEmpty() &&
                       session->refused == session->flushed_refused && session->differ == session->flushed_differ &&
                       !session->reach_grew && session->unwarned_count == 0 && counted && !session->closed &&
                       !session->discarded && !session->unrecorded &&
                       !(session->limits.Any() && session->summary.estimated);
  SpinLockRelease(&session->mutex);
  return settled;
}

bool MayBePutOut(LiveSession* session) {
  return IsShared(session) && strcmp(EndUserOf(session), kOverflowEndUser) != 0 && !IsAttachedTo(session) &&
         IsSettled(session);
}

}  // namespace

int32 LongestAway(DatabaseSlot* slot, LiveSession** found, int32 most) {
  int32 count = 0;
  LWLockAcquire(slot->lock, LW_SHARED);
  Counted([&] {
    std::vector<LiveSession*> all;
    all.reserve(static_cast<std::size_t>(std::max(slot->session_count, 0)));
    for (LiveSession* session = slot->sessions; session != nullptr; session = session->next)
      if (MayBePutOut(session)) all.push_back(session);
    const auto end = all.begin() + std::min<std::ptrdiff_t>(most, static_cast<std::ptrdiff_t>(all.size()));
    std::partial_sort(all.begin(), end, all.end(),
                      [](const LiveSession* a, const LiveSession* b) { return a->last_at < b->last_at; });
    std::copy(all.begin(), end, found);
    count = static_cast<int32>(end - all.begin());
  });
  LWLockRelease(slot->lock);
  return count;
}

bytea* SealAsked(LiveSession* session) {
  const PrincipalPart* part = session->part;
  auto* words = NewCoreHolder<std::vector<std::uint64_t>>(CurrentMemoryContext);
  LWLockAcquire(&session->part->lock, LW_SHARED);
  const bool read = Counted([&] {
    words->Reset(new std::vector<std::uint64_t>());
    for (const SharedBlock* block = part->journal.first; block != nullptr; block = block->next) {
      const std::size_t before = words->object->size();
      words->object->resize(before + static_cast<std::size_t>(block->used) / sizeof(std::uint64_t));
      memcpy(words->object->data() + before, block->bytes, static_cast<Size>(block->used));
    }
  });
  LWLockRelease(&session->part->lock);
  if (!read || !Counted([&] { *words->object = AskedIn(*words->object); })) return nullptr;
  return SealWords(ps_shared->seal_key, words->object->data(), words->object->size());
}

bool PutOut(DatabaseSlot* slot, LiveSession* session, uint64 turn) {
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  bool done = MayBePutOut(session) && RefuseAttaching(session);
  // Nobody comes from here on, so what was done there until now is seen.
  if (done && session->part->turn != turn) {
    AllowAttaching(session);
    done = false;
  }
  if (done) {
    ++slot->put_out;
    UnlinkSession(slot, session);
    FreePart(session);
  }
  LWLockRelease(slot->lock);
  if (done) CloseHolding(session->holding, reinterpret_cast<SharedBlock*>(session));
  return done;
}

void FreePart(LiveSession* session) {
  if (session->part == nullptr) return;
  EndAttaching(session);
  if (session->part->shared) GiveBlocks(&session->holding, reinterpret_cast<SharedBlock*>(session->spare));
  GiveBlocks(&session->holding, session->part->journal.first);
  GiveBlocks(&session->holding, session->part->answers);
  auto* block = reinterpret_cast<SharedBlock*>(session->part);
  block->next = nullptr;  // its bytes were the part's
  GiveBlocks(&session->holding, block);
  session->part = nullptr;
  session->serial = 0;
}

}  // namespace privacy_score

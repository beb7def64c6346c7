/*
 * principal_made.cpp - see principal_made.hpp.
 */
#include "backend/state/principal_made.hpp"

extern "C" {
#include "utils/float.h"
}

#include "backend/state/live_session.hpp"
#include "backend/state/principal_attachment.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

namespace {

// A number that nothing else in shared memory is, and no part of which is 0.
uint64 NewSerial() {
  const uint64 number = pg_atomic_add_fetch_u64(&ps_shared->principals, 1);
  return privacy_score::KeyedHash(ps_shared->hash_key, {reinterpret_cast<const char*>(&number), sizeof number}) |
         uint64{1} << 63 | 1;
}

void InitPart(PrincipalPart* part, const char* end_user) {
  memset(part, 0, sizeof *part);
  strlcpy(part->end_user, end_user, sizeof part->end_user);
  part->session_limit = part->daily_limit = get_float8_nan();
}

}  // namespace

bool AppendToJournal(LiveSession* session, const std::vector<std::uint64_t>& words) {
  PrincipalPart* part = session->part;
  // Words are not parted: a block takes a whole number of them.
  constexpr Size kRoom = kBlockRoom / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  const auto* from = reinterpret_cast<const char*>(words.data());
  Size left = words.size() * sizeof(std::uint64_t);
  const Size fits = part->journal.last == nullptr ? 0 : kRoom - static_cast<Size>(part->journal.last->used);
  if (left > fits) {
    SharedBlock* more = TakeBlocks(&session->holding, static_cast<int32>((left - fits + kRoom - 1) / kRoom));
    if (more == nullptr) return false;
    (part->journal.last == nullptr ? part->journal.first : part->journal.last->next) = more;
    if (part->journal.last == nullptr) part->journal.last = more;
  }
  for (SharedBlock* block = part->journal.last; left > 0;) {
    const Size here = Min(left, kRoom - static_cast<Size>(block->used));
    memcpy(block->bytes + block->used, from, here);
    block->used += static_cast<int32>(here);
    from += here;
    left -= here;
    part->journal.last = block;
    block = block->next;
  }
  return true;
}

LiveSession* MakePrincipal(Oid role, const char* end_user, TimestampTz now, const StoredPrincipal* stored, bool known) {
  Holding holding;
  const bool overflow = strcmp(end_user, kOverflowEndUser) == 0;
  SharedBlock* block = overflow ? OpenHolding(&holding) : OpenSharelessHolding(&holding, known);
  if (block == nullptr) return nullptr;
  SharedBlock* part_block = TakeBlocks(&holding, 1);
  if (part_block == nullptr) {
    CloseHolding(holding, block);
    return nullptr;
  }
  auto* part = reinterpret_cast<PrincipalPart*>(part_block);
  InitPart(part, end_user);
  part->shared = true;
  part->tail_known = true;
  LWLockInitialize(&part->lock, ps_shared->lock->tranche);
  LiveSession* session = MakeSession(block, holding, role, now);
  session->part = part;
  session->serial = NewSerial();
  OpenForAttaching(session);
  if (stored == nullptr) return session;
  BecomeStored(session, stored);
  if (AppendToJournal(session, *stored->journal->object)) return session;
  UnmakePrincipal(session);
  return nullptr;
}

void UnmakePrincipal(LiveSession* session) {
  FreePart(session);
  CloseHolding(session->holding, reinterpret_cast<SharedBlock*>(session));
}

bool AddEndUser(LiveSession* session, const char* end_user) {
  if (end_user[0] == '\0') return true;
  auto* part = reinterpret_cast<PrincipalPart*>(TakeBlocks(&session->holding, 1));
  if (part == nullptr) return false;
  InitPart(part, end_user);
  session->part = part;
  return true;
}

}  // namespace privacy_score

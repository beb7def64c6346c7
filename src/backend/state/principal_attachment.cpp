/*
 * principal_attachment.cpp - see principal_attachment.hpp.
 */
#include "backend/state/principal_attachment.hpp"

namespace privacy_score {

namespace {

// More than there can be backends.
constexpr int kCountBits = 20;
constexpr uint64 kCount = (uint64{1} << kCountBits) - 1;

uint64 NobodyAt(uint64 serial) { return serial & ~kCount; }

}  // namespace

void OpenForAttaching(const LiveSession* session) {
  pg_atomic_write_u64(WordOfBlock(session), NobodyAt(session->serial) + 1);
}

bool AttachTo(const LiveSession* session, uint64 serial) {
  pg_atomic_uint64* word = WordOfBlock(session);
  uint64 now = pg_atomic_read_u64(word);
  do {
    if (now == 0 || NobodyAt(now) != NobodyAt(serial)) return false;
  } while (!pg_atomic_compare_exchange_u64(word, &now, now + 1));
  if (session->serial == serial) return true;
  Detach(session);
  return false;
}

void Detach(const LiveSession* session) { pg_atomic_fetch_sub_u64(WordOfBlock(session), 1); }

bool IsAttachedTo(const LiveSession* session) { return (pg_atomic_read_u64(WordOfBlock(session)) & kCount) != 0; }

bool RefuseAttaching(const LiveSession* session) {
  uint64 now = NobodyAt(session->serial);
  return pg_atomic_compare_exchange_u64(WordOfBlock(session), &now, 0) || now == 0;
}

void AllowAttaching(const LiveSession* session) {
  pg_atomic_write_u64(WordOfBlock(session), NobodyAt(session->serial));
}

void EndAttaching(const LiveSession* session) { pg_atomic_write_u64(WordOfBlock(session), 0); }

}  // namespace privacy_score

/*
 * shared_blocks.cpp - see shared_blocks.hpp.
 */
#include "backend/state/shared_blocks.hpp"

#include "backend/state/shared_state.hpp"

namespace privacy_score {

namespace {

BlockPool* Pool() { return &ps_shared->blocks; }

void CountBlocks(int32 count) {
  pg_atomic_fetch_add_u64(&ps_shared->memory_used, static_cast<int64>(count) * static_cast<int64>(kBlockSize));
}

// Takes blocks out of the list of free ones, which has them. Under the lock.
SharedBlock* Unlink(BlockPool* pool, int32 count) {
  SharedBlock* first = pool->free;
  SharedBlock* last = first;
  last->used = 0;
  for (int32 i = 1; i < count; ++i) {
    last = last->next;
    last->used = 0;
  }
  pool->free = last->next;
  last->next = nullptr;
  return first;
}

// Puts `count` blocks back. Under the lock.
void Link(BlockPool* pool, Holding* holding, SharedBlock* first, SharedBlock* last, int32 count) {
  last->next = pool->free;
  pool->free = first;
  const int32 from_pool = holding->FromPool();
  holding->blocks -= count;
  pool->left += from_pool - holding->FromPool();
}

// Whether more than so many eighths of the pool are left.
bool MoreIsLeft(int64 eighths) {
  BlockPool* pool = Pool();
  LWLockAcquire(pool->lock, LW_SHARED);
  const bool more = pool->left > pool->size * eighths / 8;
  LWLockRelease(pool->lock);
  return more;
}

}  // namespace

bool InitBlockPool(BlockPool* pool, LWLock* lock, char* place, Size size, int sessions) {
  pool->lock = lock;
  const auto blocks = static_cast<int32>(size / kBlockSize);
  for (int32 i = blocks - 1; i >= 0; --i) {
    auto* block = reinterpret_cast<SharedBlock*>(place + static_cast<Size>(i) * kBlockSize);
    block->next = pool->free;
    pool->free = block;
  }
  // Half of the blocks for the shares; three quarters where they would be smaller than they may be.
  pool->share = Max(kLeastShare, blocks / 2 / sessions);
  pool->shares = pool->shares_free = Min(sessions, blocks / 4 * 3 / pool->share);
  pool->size = pool->left = blocks - pool->shares * pool->share;
  return pool->shares == sessions;
}

SharedBlock* OpenHolding(Holding* holding) {
  BlockPool* pool = Pool();
  *holding = {0, 0};
  LWLockAcquire(pool->lock, LW_EXCLUSIVE);
  if (pool->shares_free > 0) {
    --pool->shares_free;
    holding->share = pool->share;
  }
  LWLockRelease(pool->lock);
  return TakeBlocks(holding, 1);
}

SharedBlock* OpenSharelessHolding(Holding* holding, bool known) {
  *holding = {0, 0};
  return MoreIsLeft(known ? 2 : 4) ? TakeBlocks(holding, 1) : nullptr;
}

SharedBlock* TakeBlocks(Holding* holding, int32 count) {
  BlockPool* pool = Pool();
  SharedBlock* first = nullptr;
  LWLockAcquire(pool->lock, LW_EXCLUSIVE);
  const int32 before = holding->FromPool();
  const int32 more = holding->FromPool(count) - before;
  if (more == 0 || MayHave(before, more, pool->left)) {
    first = Unlink(pool, count);
    holding->blocks += count;
    pool->left -= more;
  }
  LWLockRelease(pool->lock);
  if (first != nullptr) CountBlocks(count);
  return first;
}

void GiveBlocks(Holding* holding, SharedBlock* first) {
  if (first == nullptr) return;
  int32 count = 1;
  SharedBlock* last = first;
  for (; last->next != nullptr; last = last->next) ++count;
  BlockPool* pool = Pool();
  LWLockAcquire(pool->lock, LW_EXCLUSIVE);
  Link(pool, holding, first, last, count);
  LWLockRelease(pool->lock);
  CountBlocks(-count);
}

bool ShareIsLeft(Holding* holding, int32 of_role) {
  BlockPool* pool = Pool();
  LWLockAcquire(pool->lock, LW_EXCLUSIVE);
  const int32 before = holding->FromPool();
  const int32 more = holding->blocks - before;
  const bool leaves = holding->share == 0 || MayHave(before + of_role, more, pool->left);
  if (leaves && holding->share > 0) {
    pool->left -= more;
    holding->share = 0;
    ++pool->shares_free;
  }
  LWLockRelease(pool->lock);
  return leaves;
}

bool PoolIsPlenty() { return MoreIsLeft(4); }

bool PoolIsScarce() { return !MoreIsLeft(5); }

bool PoolIsRelieved() { return MoreIsLeft(6); }

void CloseHolding(const Holding& holding, SharedBlock* last) {
  BlockPool* pool = Pool();
  Holding left = holding;
  LWLockAcquire(pool->lock, LW_EXCLUSIVE);
  Link(pool, &left, last, last, 1);
  if (left.share > 0) ++pool->shares_free;
  LWLockRelease(pool->lock);
  CountBlocks(-1);
}

}  // namespace privacy_score

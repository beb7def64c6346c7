/*
 * shared_blocks.hpp - the part of shared memory that sessions live in: blocks of one size, of which each session has a
 * share of its own, and takes more from a pool.
 *
 * Why blocks. A share must hold what it promises: with blocks of one size nothing is lost to fragments, so counting is
 * enough, and whoever has blocks left in a share gets one.
 *
 * Who gets how much. At start the blocks are dealt out: a share for each session that may be open at a time, the rest
 * is the pool. A session uses its share first. From the pool it has at most a third of what it leaves there, that is a
 * quarter of what there would be without it: however many sessions take all they can get, some is left for the next.
 * When a session is closed, what it holds is counted to the pool, as far as its role does not hold more of it than one
 * session might, and its share is free for the next session. Otherwise it keeps the share until the worker has freed it
 * (live_session.cpp waits for that a while).
 *
 * Locks. `BlockPool::lock` guards the pool, the free blocks, and the Holding of each session. It is the last in the
 * order, and nothing is done under it but to count and to relink.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "storage/lwlock.h"
}

namespace privacy_score {

constexpr Size kBlockSize = 1024;
constexpr int32 kLeastShare = 8;  // blocks

constexpr Size kBlockRoom = kBlockSize - 16;

struct SharedBlock {
  SharedBlock* next;
  int32 used;  // of bytes
  alignas(8) char bytes[kBlockRoom];
};
static_assert(sizeof(SharedBlock) == kBlockSize);

// What a session has of the blocks.
struct Holding {
  int32 blocks;  // in all
  int32 share;   // how many of them do not count to the pool; 0: it has no share
  int32 FromPool(int32 more = 0) const { return blocks + more > share ? blocks + more - share : 0; }
};

struct BlockPool {
  LWLock* lock;
  SharedBlock* free;
  int32 share;        // of a session, in blocks
  int32 shares;       // how many there are
  int32 shares_free;  // and nobody's
  int32 size, left;   // of the pool
};

// Whether somebody who has `own` of something may have `more`, where `left` is nobody's: the rule of the pool.
inline bool MayHave(int64 own, int64 more, int64 left) { return own + more <= (left + own) / 4; }

// Makes the pool of `size` bytes at `place` for so many sessions. False when each cannot have a share of kLeastShare.
bool InitBlockPool(BlockPool* pool, LWLock* lock, char* place, Size size, int sessions);

// The first block of a new session; null when there is none. A session of a connection gets a share if there is one.
// That of a principal has none: there may be as many principals as people; and it takes only what leaves half of the
// pool, or a quarter where the principal is `known`.
SharedBlock* OpenHolding(Holding* holding);
SharedBlock* OpenSharelessHolding(Holding* holding, bool known);

// So many empty blocks in a list, all or none: null when neither the share nor the pool gives them.
SharedBlock* TakeBlocks(Holding* holding, int32 count);

// Gives a list of them back.
void GiveBlocks(Holding* holding, SharedBlock* first);

// Of a session that is closed: counts what it holds to the pool and frees its share; false, and nothing is done, when
// its role holds too much of the pool: `of_role`, what other closed sessions of it hold.
bool ShareIsLeft(Holding* holding, int32 of_role);

// Whether so little of the pool is taken that nobody needs to look who has it.
bool PoolIsPlenty();
// Whether so much of it is taken that sessions of principals are put out of memory; whether that is enough.
bool PoolIsScarce();
bool PoolIsRelieved();

// The end of a session: gives its last block back, in which the holding may stand itself, and the share if it still has
// it.
void CloseHolding(const Holding& holding, SharedBlock* last);

}  // namespace privacy_score

/*
 * progress.hpp - telling other sessions how far a long work of this backend is (view privacy_score.progress).
 *
 * The server's own progress reports are not open to extensions. A backend takes one of a fixed number of slots in
 * shared memory when its outermost announcement begins, and gives it back when that ends: by EndProgress, or when the
 * (sub)transaction in which it began aborts (error, cancel, end of the process). The slots are part of what is made
 * when the server starts with the library preloaded; else they are made on first use where the server has room for
 * that. When there are none, and when all are taken, nothing is shown and nothing else changes. A kill -9 makes the
 * server start its shared memory anew.
 *
 * Announcements nest: a function announces itself, and the pass over a table that it runs announces what it is at. The
 * view shows the command of the outermost and the rest of the innermost.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "port/atomics.h"
#include "utils/timestamp.h"
}

namespace privacy_score {

// Enough for every long command of a busy server; more work at the same time is not shown.
constexpr int kProgressSlots = 128;

// What one backend is at. The backend whose pid is `owner` (0: free) writes the rest; a reader copies it between two
// equal, even values of `changes`, and believes it while `pid` is that of a living process.
struct ProgressSlot {
  pg_atomic_uint32 owner;
  pg_atomic_uint32 changes;
  int pid;
  Oid database;
  Oid role;
  Oid relation;
  NameData command;
  NameData phase;
  TimestampTz started;
  pg_atomic_uint64 done;
  pg_atomic_uint64 total;
};

// Makes kProgressSlots free slots of the memory at `place`.
void InitProgressSlots(void* place);

// Begins an announcement inside a transaction. `command` is what a user calls it, `phase` what is done first, both
// constant texts; `relation` is InvalidOid where there is none.
void BeginProgress(const char* command, Oid relation, const char* phase);

// Goes on to another phase, with nothing done of it.
void SetProgressPhase(const char* phase);

// How far the phase is; a total of 0 is not known. Two stores: may be called from anywhere, core's callbacks included.
void SetProgress(uint64 done, uint64 total) noexcept;

void EndProgress();

}  // namespace privacy_score

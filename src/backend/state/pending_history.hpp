/*
 * pending_history.hpp - what a session has gathered and the worker has not written yet: lists in blocks of shared
 * memory (shared_blocks.hpp).
 *
 * Events are entries of chunks. Definitions and alerts are notes of any length, one after another in lists of blocks: a
 * note that does not fit into the rest of the last block begins in a new one, and goes on in as many as it takes.
 *
 * Locks. Lists grow under the session's mutex. What stands in a list does not change, so that readers who hold the
 * slot's lock, which keeps it from being freed, read it without the mutex.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "utils/timestamp.h"
}

#include "backend/state/connection_context.hpp"
#include "backend/state/shared_blocks.hpp"

namespace privacy_score {

struct LiveSession;

constexpr int kChunkEntries = 42;

// Events in order: `run` consecutive executions of abstraction `id`, which returned `rows` in all. A run of 0 brings
// rows of an execution that other events have followed.
struct EventRun {
  int64 id;
  int64 run;
  int64 rows;
};

// A block of events.
struct EventChunk {
  EventChunk* next;
  int32 used;
  EventRun entries[kChunkEntries];
};
static_assert(sizeof(EventChunk) <= kBlockSize);

struct NoteList {
  SharedBlock *first, *last;
};

// What stands before the tokens of an abstraction, which are sent once a session, joined by kTokenEnd.
struct DefinitionHead {
  int64 id;
  int64 length;
};

// What stands before words of a journal for the day of the principal (core/scoring/day_reach.hpp).
struct ToldHead {
  int64 words;
};

// Ends each token but the last in a definition; no identifier holds it.
constexpr char kTokenEnd = '\0';

// What stands before the detail, JSON text, of a limit that was passed, on its way to the table of alerts.
struct AlertHead {
  TimestampTz at;
  char kind[24];
  double score;
  double limit;
  int64 length;
  bool blocked;
  ConnectionContext context;
};

// What the worker is to tell of a session that has no room left: that needs none itself.
enum class RoomAlert : uint8 { kNone, kRaised, kRefused };

// Lists that the worker takes over as a whole.
struct PendingHistory {
  EventChunk *chunks_first, *chunks_last;
  NoteList definitions, alerts, told;
  int64 uncounted;  // executions for which there was no room in a chunk, the last; they are written as `unparsed`
  int64 uncounted_rows;
  int32 told_bytes;
  RoomAlert room;
  bool HasAlerts() const { return alerts.first != nullptr || room != RoomAlert::kNone; }
  bool IsEmpty() const {
    return chunks_first == nullptr && definitions.first == nullptr && told.first == nullptr && !HasAlerts() &&
           uncounted == 0 && uncounted_rows == 0;
  }
};

// Appends a note to a list of the open history, head and body; false when there is no room.
bool AppendNote(LiveSession* session, NoteList PendingHistory::*list, const void* head, Size head_size,
                const void* body, Size body_size);

// Reads a list from the beginning.
struct NoteReader {
  const SharedBlock* block;
  Size at;
  explicit NoteReader(const NoteList& list) : block(list.first), at(0) {}
  // Reads the head of the next note; false at the end.
  template <typename Head>
  bool Next(Head* head) {
    if (!HasMore()) return false;
    Read(head, sizeof *head);
    return true;
  }
  bool HasMore();
  // Reads or, where `to` is null, passes over the next bytes, which are there.
  void Read(void* to, Size size);
};

// The text of so many bytes that comes next, palloc'd, with a NUL after it.
char* ReadNoteText(NoteReader* reader, int64 length);

// Frees the lists of a history of the session and empties it.
void FreeHistory(LiveSession* session, PendingHistory* history);

}  // namespace privacy_score

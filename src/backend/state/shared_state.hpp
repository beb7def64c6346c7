/*
 * shared_state.hpp - what backends and workers share: live sessions, history not yet written, models.
 *
 * Layout. One fixed area of max_memory holds a header with the table of databases; blocks, half of the rest, in which
 * sessions live (shared_blocks.hpp says who gets how many); and a DSA area that never grows for models, the rates that
 * are asked for and their faults. So neither stands in the way of the other. A database slot has a list of sessions; a
 * session has the events that its backend appended and the definitions of abstractions that it met
 * (pending_history.hpp). The worker of the database writes them to tables and frees them.
 *
 * Locks. `header->lock` guards the table of databases (taken exclusively to find a place in it or
 * to give one back). `DatabaseSlot::lock` guards
 * the slot's fields, its list of sessions and the lists of missing rates; a session is freed only under it,
 * exclusively, and that of a principal only where nobody is attached to it, which takes no lock
 * (principal_attachment.hpp). The lists of a session are freed under it, exclusively, too. `LiveSession::mutex` guards
 * the fields of one session; its own backend, the worker, readers of views and who adds up a role's day (live.cpp) take
 * it, for a few stores or a copy of less than a block, and nothing is allocated or raised under it. `BlockPool::lock`
 * guards the blocks and who has how many. `PrincipalPart::lock` keeps the connections of one principal apart; whoever
 * has it may take any of the others. Order: principal, header, slot, session or blocks.
 *
 * Lifetime. A backend owns its session until it marks it closed; then the worker owns it. A session of a principal is
 * anybody's that is attached to it, until one of them or the worker closes it and all have left. An open list of chunks
 * is sealed by the worker (moved to `sealed` under the mutex), is immutable from then on, is written in a transaction,
 * and freed after the commit; a failed transaction leaves it sealed for the next try. All is plain data.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "postmaster/bgworker.h"
#include "storage/condition_variable.h"
#include "storage/lwlock.h"
#include "storage/spin.h"
#include "utils/dsa.h"
#include "utils/timestamp.h"
}

#include <string_view>

#include "backend/server/sealed_words.hpp"
#include "backend/state/connection_context.hpp"
#include "backend/state/pending_history.hpp"
#include "backend/state/progress.hpp"
#include "core/base/keyed_hash.hpp"
#include "core/scoring/profile.hpp"

namespace privacy_score {

constexpr int kMaxDatabases = 256;
constexpr int kSessionTextLength = 64;

// Bits of LiveSession::alerted: each cause raises one alert a session. Those of kind `reach` have a bit a figure.
enum AlertKind : uint32 {
  kAlertSession = 1,
  kAlertDaily = 2,
  kAlertNormalised = 4,
  kAlertNgram = 8,
  kAlertReach = 16,
  kAlertDpOnly = 32,
  kAlertExempt = 64,
  kAlertBreakGlass = 128,
  kAlertFault = 256,
  kAlertSubjects = 512,
  kAlertSubjectColumns = 1024,
  kAlertMemory = 2048,
  kAlertEndUser = 4096,
  kAlertUnusual = 8192,
  kAlertDrip = 16384
};

constexpr int kAlertKinds = 15;
// Alerts that the worker raises and the client has not heard of: of the limits.
constexpr int kMostUnwarned = 4;

// A limit that was passed: its kind, and the two numbers.
struct PassedLimit {
  PassedLimit() = default;
  PassedLimit(AlertKind passed, double reached, double set, bool whole_day = false)
      : kind(passed), of_day(whole_day), score(reached), limit(set) {}
  AlertKind kind;
  bool of_day;  // the score is of the principal's day
  double score;
  double limit;
};

struct SessionLimits {
  double session, daily, normalised, ngram;  // below zero: not set
  bool Any() const { return session >= 0 || daily >= 0 || normalised >= 0 || ngram >= 0; }
};

// What statements have added to the score, and to the sum that mode enforce goes by. Sums of rises, never less than
// what these have grown by.
struct Rise {
  double score, enforced;
};

struct PrincipalPart;

// What every statement looks at or stores stands first.
struct LiveSession {
  slock_t mutex;
  bool closed;
  bool warn;
  bool warn_of_alarms;
  // By the worker, since an alarm was raised: by what is new to the role, or by how far it goes with what is known.
  bool alarmed_by_novelty;
  bool alarmed_by_extent;
  bool discarded;    // its definitions were thrown away with the rest: it must be cut
  bool unrecorded;   // began in recovery: nothing of it is ever written (worker_standby.cpp)
  bool reach_known;  // a model told what is protected
  bool reach_grew;   // after the event that it was last written with
  bool unverified;   // it says that a node of Citus has sent it, and nobody has confirmed it
  Oid role;
  Oid extension;  // for whose tables it is: one that was dropped and made anew has others
  int32 day;      // days since 2000-01-01 in log_timezone
  TimestampTz last_at;
  int64 last_id;
  int64 rows;
  int64 most_rows;  // that one execution, or one fetch, has returned
  uint32 alerted;   // AlertKind bits
  int32 unwarned_count;
  EventChunk* spare;  // a chunk that is not begun, so that the next event has room; or null
  PendingHistory open;
  privacy_score::ReachFigures reach;
  privacy_score::SessionSummary summary;
  LiveSession *next, *previous;  // list of the database slot
  Holding holding;
  uint64 serial;        // of a principal's: tells it from whatever else has stood in its place
  PrincipalPart* part;  // of a session with an end user, else null (principal_session.hpp)
  int pid;              // 0: no connection is at it now
  int32 differ;         // aggregates that differ from an earlier one by one record (core/scoring/differences.hpp)
  SessionLimits limits;
  double reach_factor;
  uint64 model_version;  // the model that the summary was computed with
  double day_score;      // of the role and day, as of the last flush; -1 unknown
  double day_enforced;   // the sum that mode enforce goes by, of the role and day, likewise
  double day_bound;      // the latter with bounds for the rates that are awaited, at least as up to date
  // What this session's statements have added: in all; of that in sealed events; in stored ones; in day_score and
  // day_enforced.
  Rise risen, sealed_rise, stored_rise, counted_rise;
  double bounded_rise;  // in day_bound
  double reserved;      // enforced, by a statement that was let pass and is not in risen yet
  int64 refused;        // statements
  PendingHistory sealed;
  PassedLimit unwarned[kMostUnwarned];  // raised by the worker; the client hears of them with its next event
  // As it was begun.
  NameData role_name;
  char session[kSessionTextLength];
  TimestampTz started;
  privacy_score::ScoreSettings settings;
  ConnectionContext context;  // of the connection that began it
  // Owned by the worker.
  int64 row_id;  // of privacy_score.session, 0 before the first flush
  int64 flushed_queries;
  int64 flushed_refused;
  double flushed_enforced;  // as the history has it; -1 where it is not exact
  int64 weighed_queries;    // how many of them it was last scored again with, and
  int32 weighed_rounds;     // after how many rounds of computing rates
  int32 next_part;
  TimestampTz waits_until;  // for the figures that its limits are checked against, how long it waits at least once
  int32 waits;              // it was closed, and how many flushes it has waited
  int32 flushed_differ;
};
static_assert(sizeof(LiveSession) <= kBlockSize);

// Copies what others change of a session, under its lock, and so is kept short.
constexpr Size kCopiedUnderLock = offsetof(LiveSession, unwarned);
static_assert(kCopiedUnderLock <= 640);
inline void CopyChanging(const LiveSession* session, LiveSession* copy) {
  memcpy(static_cast<void*>(copy), session, kCopiedUnderLock);
}

// Copies the rest, but for the warnings. What the worker owns is right in the worker only.
inline void CopyStanding(const LiveSession* session, LiveSession* copy) {
  constexpr Size kFrom = offsetof(LiveSession, role_name);
  memcpy(static_cast<void*>(&copy->role_name), &session->role_name, sizeof(LiveSession) - kFrom);
  memset(copy->unwarned, 0, sizeof copy->unwarned);
}

// Copies a session as it is now.
inline void CopySession(LiveSession* session, LiveSession* copy) {
  CopyStanding(session, copy);
  SpinLockAcquire(&session->mutex);
  CopyChanging(session, copy);
  SpinLockRelease(&session->mutex);
}

// A rate that scoring wants, as text: relation, NUL, attributes joined by \x01.
struct MissingRateNode {
  dsa_pointer next;
  int32 length;
  char text[FLEXIBLE_ARRAY_MEMBER];
};

// Rates that could not be computed, so that they are not tried all the time; the newest take the place of the oldest.
struct RateFaults {
  static constexpr int kMost = 1024;
  int32 next;
  struct {
    uint64 hash;
    TimestampTz at;
  } faults[kMost];
};

constexpr Size kAskedInbox = 384;  // bytes, in each of the slots

struct DatabaseSlot {
  Oid database;                    // InvalidOid: free
  int worker_pid;                  // 0: none
  pg_atomic_uint64 model_version;  // 0: none yet
  pg_atomic_uint64 model_wanted;   // raised at the commit of each change
  uint64 model_built_for;          // value of model_wanted that the model in force reflects
  pg_atomic_uint64 all_changed;    // value at the last change that may concern every statement
  dsa_pointer change_marks;        // the same for each relation and role (model_changes.hpp), made on first use
  LWLock* lock;
  int worker_procno;
  TimestampTz worker_asked_at;
  LiveSession* sessions;
  int32 session_count;
  uint64 put_out;  // sessions of principals that were put out of memory so far (principal_ends.cpp)
  dsa_pointer missing_rates;
  // Where rates that are asked for come in (rate_requests.hpp): the list lies in the area, and to map that takes 40 kB
  // of a process.
  char asked_inbox[kAskedInbox];
  int32 asked_inbox_used;
  int32 missing_count;
  uint64 asked_taken;        // how often their list was taken out (rate_requests.hpp)
  dsa_pointer faults;        // RateFaults, made with the first; of whoever computes rates
  int32 stale_count;         // stored rates that are out of date, when the worker looked
  TimestampTz rates_period;  // its beginning (rate_admission.hpp); 0: the model has room for all
  bool rates_wait;           // for room in the model
  int32 rounds;              // of computing rates that have stored any, and changes of the model
  int32 round_settled;       // by the process that computes a round of rates; -1 until it has ended well
  dsa_pointer days;          // saved by a worker that has ended for the next one (worker_days.cpp)
  int64 days_length;
  dsa_pointer model;          // shared_model.hpp
  dsa_pointer baselines;      // of it: shared_baselines.hpp
  dsa_pointer old_baselines;  // that were replaced
  dsa_pointer loose_baselines;
  uint64 definitions_hash;     // of all of the model but the rates
  uint64 definitions_version;  // the model version that last changed these
  pg_atomic_uint64 flush_wanted;
  pg_atomic_uint64 kept_changed;  // how often somebody began to change the history of days that may be kept
  uint64 flush_done;
  ConditionVariable flushed;
  TimestampTz last_flush;
};

// A counter that every statement raises is kept in parts, so that backends do not wait for each other's cache lines.
constexpr int kEventStripes = 64;
struct EventStripe {
  pg_atomic_uint64 events;
  char padding[PG_CACHE_LINE_SIZE - sizeof(pg_atomic_uint64)];
};

struct SharedHeader {
  // What every statement reads does not share a cache line with what others write.
  LWLock* lock;
  Size size;
  pg_atomic_uint64 role_labels_version;
  privacy_score::HashKey hash_key;  // made at start, never stored or shown
  uint8 seal_key[kSealKeyBytes];    // likewise
  alignas(PG_CACHE_LINE_SIZE) BlockPool blocks;
  alignas(PG_CACHE_LINE_SIZE) pg_atomic_uint64 memory_used;
  pg_atomic_uint64 asked_bytes;  // of the rates that are asked for in all databases, about
  int64 asked_most;              // and how many there may be
  pg_atomic_uint64 principals;   // sessions of principals so far
  pg_atomic_uint64 dropped;
  pg_atomic_uint64 evictions;
  pg_atomic_uint64 scoring_errors;
  pg_atomic_uint64 flush_errors;
  TimestampTz stats_reset;
  ProgressSlot progress[kProgressSlots];
  alignas(PG_CACHE_LINE_SIZE) EventStripe stripes[kEventStripes];
  alignas(PG_CACHE_LINE_SIZE) DatabaseSlot databases[kMaxDatabases];
  // The blocks follow, a word for each of them, and the DSA area.
};

// Null without shared_preload_libraries.
extern SharedHeader* ps_shared;

// Hooks for _PG_init.
void RequestSharedMemory();
void StartSharedMemory();

// The word that belongs to a block (principal_attachment.hpp).
pg_atomic_uint64* WordOfBlock(const void* block);

// Counts one event; how many there were; begins anew.
inline void CountEvent() { pg_atomic_fetch_add_u64(&ps_shared->stripes[MyProcPid % kEventStripes].events, 1); }
uint64 EventsCounted();
void ResetEventsCounted();

// Raises 55000 unless the library was preloaded; a WARNING instead.
void RequirePreload();
void WarnUnlessPreloaded();

// The DSA area, attached on first use in this process; null without preload. Its size in bytes.
dsa_area* SharedArea();
Size SharedAreaSize();

// The slot of this database, made on first use; null when the table of databases is full.
DatabaseSlot* SlotOfDatabase(bool create);

// The same for functions of ours; raises without preload or when the table of databases is full.
DatabaseSlot* RequireSlotOfDatabase();
// The same once it is known to this process, else null.
extern DatabaseSlot* ps_own_slot;

// Allocates zeroed shared memory; InvalidDsaPointer when max_memory is reached: the caller counts what is lost by it.
dsa_pointer AllocateShared(Size size);
void FreeShared(dsa_pointer pointer, Size size);

// Where it lies. The area is one piece that never grows, so that this is its beginning and so many bytes, which is
// tried at start: then a process that only reads attaches to nothing, which would take 40 kB of each.
extern char* ps_plain_area;  // null: it is not so
template <typename T>
T* SharedAt(dsa_pointer pointer) {
  if (ps_plain_area != nullptr) return reinterpret_cast<T*>(ps_plain_area + pointer);
  return static_cast<T*>(dsa_get_address(SharedArea(), pointer));
}

// The tokens that were joined by kTokenEnd. Throws on lack of memory: within CallCore only.
privacy_score::Tokens SplitTokens(std::string_view joined);

// The same as text[].
Datum TokenArrayOf(std::string_view joined);

// Wakes the worker of a slot, if there is one.
void WakeWorker(DatabaseSlot* slot);

// Starts a background process of ours for this database, which tells the caller by its latch when it starts or ends;
// `what` names it. Null when there is no room for one.
BackgroundWorkerHandle* StartProcess(const char* what, const char* function);

// Starts a worker for this database unless one runs or was asked for within a second.
void EnsureWorker(DatabaseSlot* slot);

}  // namespace privacy_score

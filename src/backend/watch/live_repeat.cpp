/*
 * live_repeat.cpp - the shortest way to count an execution: that of a statement which follows where it has followed
 * before, whatever its constants, in a session that stands as it stood when the last event was recorded.
 *
 * That is nearly all of what applications send, and watching must cost next to nothing for it. What RecordEvent()
 * (live.cpp) would find out again is compared with what it found; where anything is not as it was, nothing is done here
 * and it does its work. Instructions are the smaller part of the cost: the server's own work has pushed code and data
 * out of the nearest caches each time, so the path is one piece of code and touches few cache lines.
 */
#include "backend/watch/live.hpp"

extern "C" {
#include "access/xact.h"
}

#include "backend/query/remembered_abstractions.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/told_days.hpp"
#include "backend/watch/session_alerts.hpp"

namespace privacy_score {

namespace {

// Whether the last event was recorded under the same circumstances, and nothing has come up that must be done.
inline bool StandsAsItDid(const LiveSession* session, Oid principal, TimestampTz now) {
  const OwnSessionState& own = ps_own;
  if (session == nullptr || own.plain_settings != ps_settings_changes || session->spare == nullptr) return false;
  if (session->role != principal || session->discarded || session->unrecorded || session->unwarned_count > 0)
    return false;
  if (session->alarmed_by_novelty || session->alarmed_by_extent) return false;
  if (now == ps_local.last_start || now - session->last_at > static_cast<int64>(ps_settings.idle_gap) * USECS_PER_SEC)
    return false;
  if (now < own.day_from || now >= own.day_until || log_timezone != own.zone || own.day != session->day) return false;
  DatabaseSlot* slot = ps_own_slot;
  return slot->worker_pid != 0 && own.plain_model == ps_local.scorer->model_version &&
         pg_atomic_read_u64(&slot->model_version) == ps_local.scorer->model_version &&
         pg_atomic_read_u64(&slot->model_wanted) == own.plain_changes;
}

// The last entry of the chunk that is open; null when none is. Under the session's lock.
inline EventRun* LastEntry(const LiveSession* session) {
  EventChunk* chunk = session->open.chunks_last;
  return chunk == nullptr ? nullptr : &chunk->entries[chunk->used - 1];
}

// AppendEvent() where it takes no new chunk and of the summary only the number of queries has changed; false where not.
inline bool AppendRepeat(LiveSession* session, int64 id, TimestampTz now, const LiveScorer& scorer) {
  OwnSessionState& own = ps_own;
  const int64 repeated = id == own.last_event ? own.repeated + 1 : 1;
  SpinLockAcquire(&session->mutex);
  EventChunk* chunk = session->open.chunks_last;
  EventRun* last = LastEntry(session);
  const bool shares = last != nullptr && repeated > privacy_score::kRecordedLength && last->id == id && last->run > 0;
  const bool fits = last != nullptr && (shares || chunk->used < kChunkEntries);
  if (shares)
    ++last->run;
  else if (fits)
    chunk->entries[chunk->used++] = {id, 1, 0};
  if (fits) {
    session->summary.queries = scorer.summary().queries;
    session->reach = scorer.reach();
    session->last_id = id;
    session->last_at = now;
  }
  SpinLockRelease(&session->mutex);
  if (!fits) return false;
  own.repeated = repeated;
  own.last_event = id;
  return true;
}

// The same where it takes a new chunk, the spare one.
[[gnu::cold]] [[gnu::noinline]] void AppendToNewChunk(LiveSession* session, int64 id, TimestampTz now,
                                                      const LiveScorer& scorer) {
  const EventFigures figures = {
      id, now, &scorer.summary(), &scorer.reach(), {0, 0}, true, ps_local.scorer->model_version, ps_own.plain_changes};
  AppendEvent(session, id, &figures);
}

}  // namespace

[[gnu::hot]] ExpectedEvent ExpectEvent(int64 id, const OneConstant& constant) {
  if (ps_local.scorer == nullptr) return {};
  return {id, ps_local.scorer->scorer.Expect(id, constant.column, constant.hash)};
}

[[gnu::hot]] bool RecordRepeat(const ExpectedEvent& event, const privacy_score::BoundConstants* constants,
                               Oid principal) {
  const int64 id = event.id;
  LiveSession* session = ps_own.session;
  const TimestampTz now = GetCurrentStatementStartTimestamp();
  if (!StandsAsItDid(session, principal, now) || *RecentlySent(id) != id || !IsRemembered(id)) return false;
  LiveScorer& scorer = ps_local.scorer->scorer;
  if (scorer.IsMissingRates()) return false;
  bool observed = false;
  CoreError error;
  if (!CallCore(&error, [&] {
        if (constants == nullptr) {
          observed = scorer.ObserveExpected(event.expected);
        } else if (scorer.Repeats(id)) {
          scorer.Observe(id, *constants);
          observed = true;
        }
      })) {
    CountScoringError(error.message);
    AppendEvent(session, id, nullptr);
    return true;
  }
  if (!observed) return false;
  ps_local.last_start = now;
  CountEvent();
  if (!AppendRepeat(session, id, now, scorer)) AppendToNewChunk(session, id, now, scorer);
  if (MayBeOutOfReach(scorer.reach())) JudgeReach(session);
  if (!ps_local.scorer->told.words().empty()) SendTold(session);
  return true;
}

[[gnu::hot]] void RecordRows(int64 id, int64 rows) {
  LiveSession* session = ps_own.session;
  if (id == 0 || rows == 0 || session == nullptr) return;
  SpinLockAcquire(&session->mutex);
  EventRun* last = LastEntry(session);
  const bool shares = last != nullptr && last->id == id && last->run > 0;
  if (shares) {
    last->rows += rows;
    session->rows += rows;
    session->most_rows = Max(session->most_rows, rows);
  }
  SpinLockRelease(&session->mutex);
  if (!shares) RecordLateRows(session, id, rows);
}

}  // namespace privacy_score

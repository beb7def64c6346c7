/*
 * worker_standby.cpp - the worker of a hot standby, where nothing can be written.
 *
 * Sessions that begin in recovery are marked `unrecorded`, and stay so: what they gather goes into a MemoryHistory of
 * this process instead of tables, from which their scores are corrected and the score of the day is made, together with
 * the replicated history. It is gone with the process; the sessions' own scores are not. It goes into files, too
 * (worker_standby_file.hpp), with the alerts that are in the server's log: a hub collects from these, and after a
 * promotion they are written to the tables. Rates that nobody has stored are computed and kept here too. After a
 * promotion the backends cut their sessions and the new ones are recorded as anywhere.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/memutils.h"
}

#include "backend/rates/model_wire.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/principal_attachment.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/shared_model.hpp"
#include "backend/worker/worker_standby_file.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

using privacy_score::MemoryHistory;
using privacy_score::MemoryScore;

namespace {

// About 20 MB of n-grams.
constexpr std::size_t kMostNGrams = 200000;
constexpr int kMostUnstoredRates = 20000;

MemoryHistory* memory = nullptr;
int32 memory_day = 0;
MemoryContext rates_context = nullptr;  // of UnstoredRates
int32 limited_day = 0;                  // the last day of which a session had a daily limit

// Counts what no longer fits: it has an upper bound or the last known figure from then on.
void CountEviction() { pg_atomic_fetch_add_u64(&ps_shared->evictions, 1); }

// What the memory knows a session by.
std::uint64_t MemoryKey(const LiveSession* session) { return reinterpret_cast<std::uintptr_t>(session); }

std::string KeyOfPrincipal(const LiveSession* session) {
  return privacy_score::PrincipalKey(NameStr(session->role_name), EndUserOf(session));
}

// Adds the tokens that a session has sent. Within CallCore.
void Learn(const NoteList& definitions) {
  NoteReader reader(definitions);
  for (DefinitionHead head; reader.Next(&head);) {
    std::string text(static_cast<std::size_t>(head.length), '\0');
    reader.Read(text.data(), text.size());
    if (!memory->Knows(head.id)) memory->Define(head.id, SplitTokens(text));
  }
}

// Adds sealed events to the memory; returns their number. Within CallCore.
int64 RememberEvents(const LiveSession* place, const LiveSession* session, const PendingHistory* sealed, bool* fits) {
  Learn(session->open.definitions);
  Learn(sealed->definitions);
  int64 events = 0;
  const auto append = [&](int64 id, int64 run) {
    *fits &= memory->Append(MemoryKey(place), KeyOfPrincipal(session), session->day, session->settings.ngram_length, id,
                            run);
    events += Max(run, 0);
  };
  for (const EventChunk* chunk = sealed->chunks_first; chunk != nullptr; chunk = chunk->next)
    for (int i = 0; i < chunk->used; ++i) append(chunk->entries[i].id, chunk->entries[i].run);
  if (sealed->uncounted > 0) {
    if (!memory->Knows(UnparsedId())) memory->Define(UnparsedId(), {kUnparsed});
    append(UnparsedId(), sealed->uncounted);
  }
  return events;
}

// Adds what a session has told to its principal's day. It stays with the session until then: replay may cancel a
// transaction at any time.
void TakeInTold(DatabaseSlot* slot, LiveSession* session) {
  if (session->sealed.told.first == nullptr) return;
  LiveSession copy;
  CopySession(session, &copy);
  WorkTransaction work;
  BeginDays();
  BeginWork(&work);
  ToldBySession told;
  const DueAlert* alerts = TakeTold(slot, &copy, &copy.sealed, work.outer, &told);
  EndWork(&work);
  SettleDays();
  RaiseDueAlerts(session, alerts);
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  SpinLockAcquire(&session->mutex);
  PendingHistory done = session->sealed;
  session->sealed = {};
  SpinLockRelease(&session->mutex);
  FreeHistory(session, &done);
  LWLockRelease(slot->lock);
}

// Takes what one session has gathered; definitions stay with it, for the views, while they take little of its share.
void TakeIn(DatabaseSlot* slot, LiveSession* session) {
  LiveSession copy;
  CopyStanding(session, &copy);
  SpinLockAcquire(&session->mutex);
  PendingHistory sealed = session->open;
  session->open = {};
  if (session->holding.blocks <= Max(session->holding.share / 2, kLeastShare)) {
    session->open.definitions = sealed.definitions;
    sealed.definitions = {};
  }
  if (session->sealed.told.first != nullptr) {
    session->open.told = sealed.told;
    session->open.told_bytes = sealed.told_bytes;
    sealed.told = {};
  }
  CopyChanging(session, &copy);
  SpinLockRelease(&session->mutex);
  CoreError error;
  int64 events = 0;
  bool fits = true;
  const bool done = CallCore(&error, [&] { events = RememberEvents(session, &copy, &sealed, &fits); });
  const bool filed = FileSession(session, &copy, &sealed);
  if (!done || !fits || !filed) CountEviction();
  if (copy.limits.daily >= 0) limited_day = Max(limited_day, copy.day);
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  if (sealed.told.first != nullptr) {
    SpinLockAcquire(&session->mutex);
    session->sealed.told = sealed.told;
    session->sealed.definitions = sealed.definitions;
    SpinLockRelease(&session->mutex);
    sealed.told = sealed.definitions = {};
  }
  FreeHistory(session, &sealed);
  session->flushed_queries += events;
  session->stored_rise = copy.risen;
  // Who was still at a session that is closed may have added something since.
  const bool left = copy.closed && (!IsShared(session) || RefuseAttaching(session));
  const bool done_with = left && session->open.chunks_first == nullptr && session->open.told.first == nullptr &&
                         session->open.uncounted == 0;
  LWLockRelease(slot->lock);
  TakeInTold(slot, session);
  if (!done_with || AwaitsCorrection(session)) return;
  CallCore(&error, [&] { memory->Close(MemoryKey(session)); });
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  FreeHistory(session, &session->open);
  LWLockRelease(slot->lock);
  FreeSession(slot, session);
}

// Runs `score` and returns what it gives in a holder; null when it gives nothing.
template <typename Score>
CoreHolder<MemoryScore>* Held(Score&& score) {
  CoreHolder<MemoryScore>* holder = NewCoreHolder<MemoryScore>(CurrentMemoryContext);
  CoreError error;
  const bool done = memory != nullptr && CallCore(&error, [&] {
                      auto found = score();
                      if (found) holder->Reset(new MemoryScore(std::move(*found)));
                    });
  if (!done && memory != nullptr) pg_atomic_fetch_add_u64(&ps_shared->scoring_errors, 1);
  return holder->object != nullptr ? holder : nullptr;
}

}  // namespace

void TakeInSessions(DatabaseSlot* slot) {
  for (LiveSession *next, *session = FirstSession(slot); session != nullptr; session = next) {
    next = session->next;
    if (!session->unrecorded) continue;
    CoreError error;
    CallCore(&error, [] {
      if (memory == nullptr) memory = new MemoryHistory(kMostNGrams);
    });
    if (memory != nullptr) TakeIn(slot, session);
  }
  const int32 today = DayOf(GetCurrentTimestamp());
  if (memory == nullptr || today == memory_day) return;
  CoreError error;
  CallCore(&error, [&] { memory->ForgetBefore(today); });
  RemoveOldStandbyFiles(today);
  memory_day = today;
}

CoreHolder<MemoryScore>* ScoreFromMemory(const LiveSession* place, const LiveSession* session,
                                         const ModelBytes& model) {
  return Held([&] {
    return memory->ScoreSession(MemoryKey(place), model.Source(), NameStr(session->role_name), EndUserOf(session),
                                session->settings);
  });
}

CoreHolder<MemoryScore>* ScoreDayFromMemory(const LiveSession* session, const ModelBytes& model) {
  StringInfoData stored;
  initStringInfo(&stored);
  const char* args[] = {NameStr(session->role_name), TextOfInteger(session->day), EndUserOf(session)};
  WorkTransaction work;
  BeginWork(&work);
  AppendLongSection<TokenSection>(
      &stored,
      SQL_TOKENS("WHERE a.id IN (SELECT pg_catalog.unnest(p.ids) FROM privacy_score.session s "
                 "JOIN privacy_score.session_part p ON p.session_id = s.id "
                 "WHERE s.role = $1::pg_catalog.name AND COALESCE(s.end_user, '') = $3 "
                 "AND s.day = " SQL_DAY("$2") ")"),
      3, args);
  AppendSection<RunSection>(
      &stored,
      "SELECT i.ids, i.runs FROM privacy_score.session s, LATERAL (SELECT pg_catalog.array_agg(u.id ORDER BY "
      "p.part, u.n) AS ids, pg_catalog.array_agg(u.run ORDER BY p.part, u.n) AS runs "
      "FROM privacy_score.session_part p, ROWS FROM (pg_catalog.unnest(p.ids), pg_catalog.unnest(p.runs)) "
      "WITH ORDINALITY u(id, run, n) WHERE p.session_id = s.id) i WHERE s.role = $1::pg_catalog.name "
      "AND COALESCE(s.end_user, '') = $3 AND s.day = " SQL_DAY("$2") " AND i.ids IS NOT NULL",
      3, args);
  EndWork(&work);
  return Held([&] {
    return memory->ScoreDay(NameStr(session->role_name), EndUserOf(session), session->day, model.Source(),
                            WireBytes(&stored), session->settings);
  });
}

bool RemembersToday() { return limited_day != 0 && limited_day == DayOf(GetCurrentTimestamp()); }

void ForgetUnstoredRates() {
  if (rates_context != nullptr) MemoryContextDelete(rates_context);
  rates_context = nullptr;
}

ComputedRates* UnstoredRates() {
  static ComputedRates rates;
  static TimestampTz since = 0;
  const TimestampTz now = GetCurrentTimestamp();
  // Rows change on the primary without being counted here, so these rates do not live long.
  if (!RecoveryInProgress() || now - since > USECS_PER_HOUR || rates.count > kMostUnstoredRates) ForgetUnstoredRates();
  if (!RecoveryInProgress()) return nullptr;
  if (rates_context == nullptr) {
    rates_context = AllocSetContextCreate(TopMemoryContext, "privacy_score unstored rates", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(rates_context);
    InitComputedRates(&rates);
    MemoryContextSwitchTo(old);
    since = now;
  }
  return &rates;
}

bool ReplicatedModelIsDue() {
  constexpr int kSeconds = 2;
  static TimestampTz looked_at = 0;
  const TimestampTz now = GetCurrentTimestamp();
  if (!RecoveryInProgress() || now - looked_at < kSeconds * USECS_PER_SEC) return false;
  looked_at = now;
  return true;
}

}  // namespace privacy_score

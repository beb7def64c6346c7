/*
 * live_session.cpp - see live_session.hpp.
 */
#include "backend/state/live_session.hpp"

extern "C" {
#include "access/xlog.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
}

#include <unordered_set>

#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/node_sender.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/told_days.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

OwnSessionState ps_own;
int64 ps_recently_sent[kRecentlySent];

namespace {

// What aggregates have answered in the open session of this connection.
AskedAggregate own_answers[kMostAnswers];
uint32 own_answers_given = 0;
int pieces = 0;  // sessions so far that this connection has opened
bool exit_registered = false;
std::unordered_set<int64>* sent = nullptr;      // definitions that were handed to the worker in the open session
std::unordered_set<int64>* own_sent = nullptr;  // in that of this connection

// The name of a role; of one that was dropped while its session runs, its OID.
const char* RoleName(Oid role) {
  const char* name = GetUserNameFromId(role, true);
  return name != nullptr ? name : psprintf("%u", role);
}

// Compares with what a list holds, and puts it there, in the place of the oldest where there is no other; `given`: how
// many were put there so far.
AskedBefore TakeInto(const AskedAggregate& asked, AskedAggregate* list, uint32* given, uint32 room) {
  const AskedBefore verdict = CompareWithAsked(asked, list, Min(*given, room));
  if (verdict != AskedBefore::kSame && room > 0) list[(*given)++ % room] = asked;
  return verdict;
}

// The same of a session over all connections, whose list is in blocks: as many as there is room for.
AskedBefore TakeAmongAll(LiveSession* session, const AskedAggregate& asked) {
  static AskedAggregate list[kMostAnswers];
  PrincipalPart* part = session->part;
  uint32 room = 0;
  SharedBlock** end = &part->answers;
  for (; *end != nullptr; end = &(*end)->next, room += kAskedOfBlock)
    memcpy(static_cast<void*>(&list[room]), (*end)->bytes, sizeof(AskedAggregate) * kAskedOfBlock);
  if (part->answers_given == room && room < kMostAnswers && (*end = TakeBlocks(&session->holding, 1)) != nullptr)
    room += kAskedOfBlock;
  const uint32 place = room == 0 ? 0 : part->answers_given % room;
  const AskedBefore verdict = TakeInto(asked, list, &part->answers_given, room);
  if (verdict == AskedBefore::kSame || room == 0) return verdict;
  SharedBlock* block = part->answers;
  for (uint32 i = place; i >= kAskedOfBlock; i -= kAskedOfBlock) block = block->next;
  memcpy(block->bytes + place % kAskedOfBlock * sizeof(AskedAggregate), static_cast<const void*>(&asked), sizeof asked);
  return verdict;
}

void OnBackendExit(int, Datum) { CloseSession(); }

// Fills a fresh session; everything else is zero.
void FillSession(LiveSession* session, Oid role, TimestampTz now) {
  SpinLockInit(&session->mutex);
  session->pid = MyProcPid;
  session->role = role;
  session->extension = WatchedExtension();
  namestrcpy(&session->role_name, RoleName(role));
  ++pieces;
  if (pieces == 1)
    snprintf(session->session, kSessionTextLength, "%lx.%x", static_cast<unsigned long>(MyStartTime), MyProcPid);
  else
    snprintf(session->session, kSessionTextLength, "%lx.%x/%d", static_cast<unsigned long>(MyStartTime), MyProcPid,
             pieces);
  session->started = session->last_at = now;
  session->day = DayOf(now);
  session->day_score = session->day_enforced = session->day_bound = session->flushed_enforced = -1;
  session->settings = ScoreSettingsInForce();
  session->unrecorded = RecoveryInProgress();
  session->unverified = SenderIsUnverified();
  session->limits = LimitsInForce(session);
  session->context = OwnContext();
  session->reach_factor = ps_settings.reach_factor;
}

// Whether figures of a statement that repeats stay as they are, and are compared with no limit.
bool FiguresStay(const LiveSession* session) {
  return session->settings.counting == privacy_score::ScoreSettings::kSet && ModeInForce() != WatchMode::kEnforce &&
         !session->limits.Any() && ps_own.asks_for_nobody && !IsShared(session);
}

// Stores what goes with an event. Under the session's lock.
void StoreFigures(LiveSession* session, const EventFigures& figures, const SessionLimits& limits) {
  if (figures.summary != nullptr) {
    session->risen.score += Max(figures.rise.score, 0);
    session->risen.enforced += Max(figures.rise.enforced, 0);
    session->reserved = 0;
    session->reach_grew |= session->reach.Sum() != figures.reach->Sum();
    session->reach = *figures.reach;
    session->reach_known = figures.model_version != 0;
    session->summary = *figures.summary;
    session->summary.estimated |= !figures.current;
    session->model_version = figures.current ? figures.model_version : 0;
  }
  if (IsShared(session)) session->summary.queries = session->part->queries;
  session->last_id = figures.id;
  session->last_at = figures.at;
  session->limits = limits;
  session->reach_factor = ps_settings.reach_factor;
  session->warn = ModeInForce() != WatchMode::kObserve;
  session->warn_of_alarms = AlarmActionInForce() != AlarmAction::kAlert;
  ps_own.plain_settings = figures.current && FiguresStay(session) ? ps_settings_changes : 0;
  ps_own.plain_model = figures.model_version;
  ps_own.plain_changes = figures.changes;
  ps_own.reach_judged_below = {};
}

// Takes a chunk ahead unless there is one, so that the next event has room whatever the worker does meanwhile.
// Of a principal's session several may do so at once, for rows are added to it without its lock.
void TakeSpare(LiveSession* session) {
  if (session->spare != nullptr) return;
  SharedBlock* more = TakeBlocks(&session->holding, 1);
  if (more == nullptr) return;
  SpinLockAcquire(&session->mutex);
  if (session->spare == nullptr) {
    session->spare = reinterpret_cast<EventChunk*>(more);
    more = nullptr;
  }
  SpinLockRelease(&session->mutex);
  GiveBlocks(&session->holding, more);
}

// What an event of a session over all connections follows, and what is followed after it.
struct Following {
  NGram before, after;
  EventRun context[privacy_score::kRecordedLength + 1];
  int32 count;
};
static_assert(lengthof(Following::context) < kChunkEntries);

// Of the statement that comes next in this backend's transaction.
Following FollowingOf(int64 id) {
  Following following = {};
  following.before = PlaceInSession();
  privacy_score::ForEachContext(following.before, [&](int64 context) {
    following.context[following.count++] = {context, privacy_score::kContext, 0};
  });
  privacy_score::NGramWindow window(following.before);
  window.Push(id);
  following.after = window.recorded();
  return following;
}

// Adds to the last entry of the open chunks when that is of the same abstraction and may be shared, else appends an
// entry, in the spare chunk when need be, behind what it follows where that does not stand there. `figures` may be
// null; they are stored together with the event or not at all. `following` is null where order tells what is followed.
bool TryAppendRun(LiveSession* session, const EventRun& event, bool may_share, const EventFigures* figures,
                  const Following* following) {
  const SessionLimits limits = LimitsInForce(session);
  SpinLockAcquire(&session->mutex);
  PrincipalPart* part = session->part;
  const bool stands = following == nullptr || (part->tail_known && part->tail == following->before);
  const int32 contexts = stands ? 0 : following->count;
  EventChunk* chunk = session->open.chunks_last;
  EventRun* last = chunk == nullptr ? nullptr : &chunk->entries[chunk->used - 1];
  const bool shares = stands && last != nullptr && may_share && last->id == event.id && last->run > 0;
  const bool needs_spare = !shares && (chunk == nullptr || chunk->used + contexts >= kChunkEntries);
  const bool done = !needs_spare || session->spare != nullptr;
  if (done && needs_spare) {
    (chunk == nullptr ? session->open.chunks_first : chunk->next) = session->spare;
    session->open.chunks_last = chunk = session->spare;
    session->spare = nullptr;
  }
  if (shares) {
    last->run += event.run;
    last->rows += event.rows;
  } else if (done) {
    for (int32 i = 0; i < contexts; ++i) chunk->entries[chunk->used++] = following->context[i];
    chunk->entries[chunk->used++] = event;
  }
  if (done) session->rows += event.rows;
  if (done) session->most_rows = Max(session->most_rows, event.rows);
  if (done && following != nullptr) {
    part->tail = following->after;
    part->tail_known = true;
    ++part->queries;
  }
  if (done && figures != nullptr) StoreFigures(session, *figures, limits);
  SpinLockRelease(&session->mutex);
  if (needs_spare) TakeSpare(session);
  return done;
}

// The same; false when there is no room. The spare chunk of a session over all connections may be another's by the time
// that it is needed.
bool AppendRun(LiveSession* session, const EventRun& event, bool may_share, const EventFigures* figures,
               const Following* following = nullptr) {
  while (!TryAppendRun(session, event, may_share, figures, following))
    if (session->spare == nullptr) return false;
  return true;
}

// What closed sessions of a role hold of the pool.
int32 HeldByClosed(DatabaseSlot* slot, Oid role) {
  int32 held = 0;
  LWLockAcquire(slot->lock, LW_SHARED);
  for (const LiveSession* other = slot->sessions; other != nullptr; other = other->next)
    if (other->closed && other->role == role) held += other->holding.FromPool();
  LWLockRelease(slot->lock);
  return held;
}

// Leaves the share of a session that is about to be closed to the next one. Who opens and closes sessions faster than
// they are written waits here, for the worker, and no longer holds others up than that; a worker that cannot write
// keeps nobody for ever.
void LeaveShare(DatabaseSlot* slot, LiveSession* session) {
  constexpr int kMostMilliseconds = 5000;
  const TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kMostMilliseconds);
  while (!ShareIsLeft(&session->holding, PoolIsPlenty() ? 0 : HeldByClosed(slot, session->role)) &&
         GetCurrentTimestamp() < deadline) {
    EnsureWorker(slot);
    WakeWorker(slot);
    Pause(OwnWait::kRoom, 10);
  }
}

}  // namespace

LiveSession* OwnSession() { return ps_own.session; }

void CloseSession() {
  if (ps_own.session == nullptr) return;
  LiveSession* session = ps_own.session;
  if (IsShared(session)) {
    LeavePrincipal();
    return;
  }
  DatabaseSlot* slot = SlotOfDatabase(false);
  SendTold(session, true);
  UseSession(nullptr, nullptr);
  GiveBlocks(&session->holding, reinterpret_cast<SharedBlock*>(session->spare));
  session->spare = nullptr;
  LeaveShare(slot, session);
  SpinLockAcquire(&session->mutex);
  session->closed = true;
  SpinLockRelease(&session->mutex);
  // The last one to leave wakes the worker, so that it leaves too and the database can be dropped; else its interval is
  // soon enough.
  EnsureWorker(slot);
  if (slot->session_count <= 1) WakeWorker(slot);
}

void CutLiveSession(Oid role, const char* end_user, TimestampTz now) {
  const int64 gap = static_cast<int64>(ps_settings.idle_gap) * USECS_PER_SEC;
  LiveSession* own = ps_own.session;
  if (own == nullptr) return;
  const bool over_all = IsOverAll(end_user);
  // Where a role that speaks for nobody finds no room for a session over all connections it has one of this connection.
  const bool scope_changed = IsShared(own) != over_all && !(over_all && end_user[0] == '\0');
  if (own->role != role || scope_changed || !IsEndUserOf(own, end_user)) {
    CloseSession();
    return;
  }
  // What began on a standby cannot be recorded; after the promotion the session goes on as another one, that is.
  const bool promoted = own->unrecorded && !RecoveryInProgress();
  const bool full = ps_local.scorer != nullptr && ps_local.scorer->scorer.IsFull();
  if (full)
    ereport(LOG, (errmsg("session %s has so many different statements that it goes on as another one", own->session),
                  errhidestmt(true), errhidecontext(true)));
  const bool over =
      promoted || full || own->discarded || own->closed || now - own->last_at > gap ||
      (IsShared(own) ? DayOf(now) > own->day : DayOf(now) != own->day);  // others may have begun the next day
  if (!over) return;
  if (IsShared(own)) ClosePrincipal(own);
  CloseSession();
}

LiveSession* MakeSession(SharedBlock* block, const Holding& holding, Oid role, TimestampTz now) {
  auto* session = reinterpret_cast<LiveSession*>(block);
  *session = {};
  session->holding = holding;
  FillSession(session, role, now);
  return session;
}

void LinkSession(DatabaseSlot* slot, LiveSession* session) {
  session->next = slot->sessions;
  if (slot->sessions != nullptr) slot->sessions->previous = session;
  slot->sessions = session;
  ++slot->session_count;
}

void UnlinkSession(DatabaseSlot* slot, LiveSession* session) {
  if (session->previous != nullptr)
    session->previous->next = session->next;
  else
    slot->sessions = session->next;
  if (session->next != nullptr) session->next->previous = session->previous;
  --slot->session_count;
}

void UseSession(LiveSession* session, std::unordered_set<int64>* sent_in_it) {
  if (session != nullptr && !exit_registered) {
    before_shmem_exit(OnBackendExit, Datum(0));
    exit_registered = true;
  }
  ps_own.session = session;
  ps_own.last_event = ps_own.repeated = 0;
  ps_own.plain_settings = 0;
  sent = sent_in_it;
  memset(ps_recently_sent, 0, sizeof ps_recently_sent);
}

LiveSession* OpenSession(Oid role, const char* end_user, TimestampTz now) {
  CoreError error;
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr || !CallCore(&error, [] {
        if (own_sent == nullptr) own_sent = new std::unordered_set<int64>();
        own_sent->clear();
      }))
    return nullptr;
  Holding holding;
  SharedBlock* block = OpenHolding(&holding);
  if (block == nullptr) return nullptr;
  LiveSession* session = MakeSession(block, holding, role, now);
  if (!AddEndUser(session, end_user)) {
    CloseHolding(session->holding, block);
    return nullptr;
  }
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  LinkSession(slot, session);
  LWLockRelease(slot->lock);
  own_answers_given = 0;
  UseSession(session, own_sent);
  return session;
}

bool DefinitionSent(int64 id) {
  int64* recent = RecentlySent(id);
  if (*recent == id) return true;
  if (sent->count(id) == 0) return false;
  *recent = id;
  return true;
}

bool SendDefinition(LiveSession* session, int64 id, std::string_view tokens) {
  const DefinitionHead head = {id, static_cast<int64>(tokens.size())};
  if (!AppendNote(session, &PendingHistory::definitions, &head, sizeof head, tokens.data(), tokens.size()))
    return false;
  CoreError error;
  return CallCore(&error, [&] { sent->insert(id); });
}

bool AppendEvent(LiveSession* session, int64 id, const EventFigures* figures) {
  if (IsShared(session)) {
    const Following following = FollowingOf(id);
    if (!AppendRun(session, {id, 1, 0}, following.before == following.after, figures, &following)) return false;
    MoveInSession(following.after);
    return true;
  }
  const int64 repeated = id == ps_own.last_event ? ps_own.repeated + 1 : 1;
  // Only where each n-gram equals the one before do executions share an entry, so that rows keep to their n-grams.
  if (!AppendRun(session, {id, 1, 0}, repeated > privacy_score::kRecordedLength, figures)) return false;
  ps_own.repeated = repeated;
  ps_own.last_event = id;
  return true;
}

void PublishFigures(LiveSession* session, const EventFigures& figures) {
  const SessionLimits limits = LimitsInForce(session);
  SpinLockAcquire(&session->mutex);
  StoreFigures(session, figures, limits);
  SpinLockRelease(&session->mutex);
}

void OutdateFigures(LiveSession* session) {
  SpinLockAcquire(&session->mutex);
  session->model_version = 0;
  SpinLockRelease(&session->mutex);
}

bool HasSpare(LiveSession* session) {
  TakeSpare(session);
  return session->spare != nullptr;
}

void CountUncounted(LiveSession* session, int64 executions, int64 rows) {
  SpinLockAcquire(&session->mutex);
  session->open.uncounted += executions;
  session->open.uncounted_rows += rows;
  session->rows += rows;
  session->most_rows = Max(session->most_rows, rows);
  if (IsShared(session)) {
    session->part->queries += executions;
    session->part->tail_known = false;
  }
  SpinLockRelease(&session->mutex);
}

AskedBefore TakeAnswer(LiveSession* session, const AskedAggregate& asked) {
  const AskedBefore verdict = IsShared(session)
                                  ? TakeAmongAll(session, asked)
                                  : TakeInto(asked, own_answers, &own_answers_given, lengthof(own_answers));
  if (verdict != AskedBefore::kDiffers) return verdict;
  SpinLockAcquire(&session->mutex);
  ++session->differ;
  SpinLockRelease(&session->mutex);
  return verdict;
}

bool AppendRows(LiveSession* session, int64 id, int64 rows) { return AppendRun(session, {id, 0, rows}, true, nullptr); }

// A day begins with a whole second in every time zone.
int32 DayOf(TimestampTz at) {
  OwnSessionState& own = ps_own;
  if (at >= own.day_from && at < own.day_until && log_timezone == own.zone) return own.day;
  struct pg_tm tm;
  fsec_t fraction;
  int zone;
  if (timestamp2tm(at, &zone, &tm, &fraction, nullptr, log_timezone) != 0) return 0;
  own.day_from = at - fraction;
  own.day_until = own.day_from + USECS_PER_SEC;
  own.zone = log_timezone;
  own.day = date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - POSTGRES_EPOCH_JDATE;
  return own.day;
}

}  // namespace privacy_score

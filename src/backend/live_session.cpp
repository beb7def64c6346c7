/*
 * live_session.cpp - see live_session.hpp.
 */
#include "live_session.hpp"

extern "C" {
#include "access/xlog.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
}

#include <unordered_set>

#include "core_call.hpp"
#include "limits.hpp"
#include "live_local.hpp"
#include "settings.hpp"

OwnSessionState ps_own;
int64 ps_recently_sent[kRecentlySent];

namespace {

int pieces = 0;  // sessions so far of this connection
bool exit_registered = false;
std::unordered_set<int64>* sent = nullptr;  // definitions that the session has handed to the worker

// The name of a role; of one that was dropped while its session runs, its OID.
const char* RoleName(Oid role) {
  const char* name = GetUserNameFromId(role, true);
  return name != nullptr ? name : psprintf("%u", role);
}

void OnBackendExit(int, Datum) { CloseSession(); }

// Fills a fresh session; everything else is zero.
void FillSession(LiveSession* session, Oid role, TimestampTz now) {
  SpinLockInit(&session->mutex);
  session->pid = MyProcPid;
  session->role = role;
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
  session->limits = LimitsInForce();
}

// The chunk behind a pointer; that of the last call is remembered.
EventChunk* ChunkAt(dsa_pointer pointer) {
  if (pointer != ps_own.chunk_at) {
    ps_own.chunk = SharedAt<EventChunk>(pointer);
    ps_own.chunk_at = pointer;
  }
  return ps_own.chunk;
}

// Whether figures of a statement that repeats stay as they are, and are compared with no limit.
bool IsPlain(const LiveSession* session) {
  return session->settings.counting == privacy_score::ScoreSettings::kSet && ModeInForce() != WatchMode::kEnforce &&
         !session->limits.Any();
}

// Stores what goes with an event. Under the session's lock.
void Store(LiveSession* session, const EventFigures& figures) {
  session->risen.score += Max(figures.rise.score, 0);
  session->risen.enforced += Max(figures.rise.enforced, 0);
  session->reserved = 0;
  session->reach = *figures.reach;
  session->reach_known = figures.model_version != 0;
  session->summary = *figures.summary;
  session->summary.estimated |= !figures.current;
  session->model_version = figures.current ? figures.model_version : 0;
  session->last_id = figures.id;
  session->last_at = figures.at;
  session->limits = LimitsInForce();
  session->warn = ModeInForce() != WatchMode::kObserve;
  ps_own.plain_settings = figures.current && IsPlain(session) ? ps_settings_changes : 0;
  ps_own.plain_model = figures.model_version;
  ps_own.plain_changes = figures.changes;
  ps_own.reach_judged_below = {};
}

// Adds to the last entry of the open chunks when that is of the same abstraction and may be shared, else appends an
// entry, in a new chunk when need be. `figures` may be null; they are stored together with the event or not at all.
bool AppendRun(LiveSession* session, const EventRun& event, bool may_share, const EventFigures* figures) {
  SpinLockAcquire(&session->mutex);
  const dsa_pointer open = session->open.chunks_last;
  EventChunk* chunk = DsaPointerIsValid(open) ? ChunkAt(open) : nullptr;
  EventRun* last = chunk == nullptr ? nullptr : &chunk->entries[chunk->used - 1];
  bool done = false;
  if (last != nullptr && may_share && last->id == event.id && last->run > 0) {
    last->run += event.run;
    last->rows += event.rows;
    done = true;
  } else if (chunk != nullptr && chunk->used < kChunkEntries) {
    chunk->entries[chunk->used++] = event;
    done = true;
  }
  session->rows += event.rows;
  if (done && figures != nullptr) Store(session, *figures);
  SpinLockRelease(&session->mutex);
  if (done) return true;
  const dsa_pointer pointer = AllocateShared(sizeof(EventChunk));
  if (!DsaPointerIsValid(pointer)) return false;
  auto* fresh = SharedAt<EventChunk>(pointer);
  fresh->used = 1;
  fresh->entries[0] = event;
  SpinLockAcquire(&session->mutex);
  if (DsaPointerIsValid(session->open.chunks_last))
    SharedAt<EventChunk>(session->open.chunks_last)->next = pointer;
  else
    session->open.chunks_first = pointer;
  session->open.chunks_last = pointer;
  if (figures != nullptr) Store(session, *figures);
  SpinLockRelease(&session->mutex);
  return true;
}

}  // namespace

LiveSession* OwnSession() { return ps_own.session; }

void CloseSession() {
  if (ps_own.session == nullptr) return;
  LiveSession* session = ps_own.session;
  ps_own.session = nullptr;
  SpinLockAcquire(&session->mutex);
  session->closed = true;
  SpinLockRelease(&session->mutex);
  // The last one to leave wakes the worker, so that it leaves too and the database can be dropped; else its interval is
  // soon enough.
  DatabaseSlot* slot = SlotOfDatabase(false);
  EnsureWorker(slot);
  if (slot->session_count <= 1) WakeWorker(slot);
}

void CutSession(Oid role, TimestampTz now) {
  const int64 gap = static_cast<int64>(ps_settings.idle_gap) * USECS_PER_SEC;
  const LiveSession* own = ps_own.session;
  if (own == nullptr) return;
  // What began on a standby cannot be recorded; after the promotion the session goes on as another one, that is.
  const bool promoted = own->unrecorded && !RecoveryInProgress();
  const bool full = ps_local.scorer != nullptr && ps_local.scorer->scorer.IsFull();
  if (full)
    ereport(LOG, (errmsg("session %s has so many different statements that it goes on as another one", own->session),
                  errhidestmt(true), errhidecontext(true)));
  if (promoted || full || own->discarded || own->role != role || now - own->last_at > gap || DayOf(now) != own->day)
    CloseSession();
}

LiveSession* OpenSession(Oid role, TimestampTz now) {
  CoreError error;
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr || !CallCore(&error, [] {
        if (sent == nullptr) sent = new std::unordered_set<int64>();
        sent->clear();
      }))
    return nullptr;
  const dsa_pointer pointer = AllocateShared(sizeof(LiveSession));
  if (!DsaPointerIsValid(pointer)) return nullptr;
  auto* session = SharedAt<LiveSession>(pointer);
  FillSession(session, role, now);
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  session->next = slot->sessions;
  if (DsaPointerIsValid(slot->sessions)) SharedAt<LiveSession>(slot->sessions)->previous = pointer;
  slot->sessions = pointer;
  ++slot->session_count;
  LWLockRelease(slot->lock);
  if (!exit_registered) before_shmem_exit(OnBackendExit, Datum(0));
  exit_registered = true;
  ps_own.session = session;
  ps_own.last_event = ps_own.repeated = 0;
  ps_own.plain_settings = 0;
  memset(ps_recently_sent, 0, sizeof ps_recently_sent);
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
  const dsa_pointer pointer = AllocateShared(offsetof(Definition, tokens) + tokens.size());
  if (!DsaPointerIsValid(pointer)) return false;
  auto* node = SharedAt<Definition>(pointer);
  node->id = id;
  node->length = static_cast<int32>(tokens.size());
  memcpy(node->tokens, tokens.data(), tokens.size());
  SpinLockAcquire(&session->mutex);
  node->next = session->open.definitions;
  session->open.definitions = pointer;
  SpinLockRelease(&session->mutex);
  CoreError error;
  return CallCore(&error, [&] { sent->insert(id); });
}

bool AppendEvent(LiveSession* session, int64 id, const EventFigures* figures) {
  ps_own.repeated = id == ps_own.last_event ? ps_own.repeated + 1 : 1;
  ps_own.last_event = id;
  // Only where each n-gram equals the one before do executions share an entry, so that rows keep to their n-grams.
  return AppendRun(session, {id, 1, 0}, ps_own.repeated > privacy_score::kRecordedLength, figures);
}

void PublishFigures(LiveSession* session, const EventFigures& figures) {
  SpinLockAcquire(&session->mutex);
  Store(session, figures);
  SpinLockRelease(&session->mutex);
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

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
#include "settings.hpp"

namespace {

LiveSession* own = nullptr;
int pieces = 0;  // sessions so far of this connection
bool exit_registered = false;
int64 last_event = 0;  // of the session, and how often in a row it came
int64 repeated = 0;
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
  session->day_score = -1;
  session->settings = ScoreSettingsInForce();
  session->unrecorded = RecoveryInProgress();
  session->limits = LimitsInForce();
}

// Adds to the last entry of the open chunks when that is of the same abstraction and may be shared, else appends an
// entry, in a new chunk when need be.
bool Append(LiveSession* session, const EventRun& event, bool may_share) {
  SpinLockAcquire(&session->mutex);
  EventChunk* chunk =
      DsaPointerIsValid(session->open.chunks_last) ? SharedAt<EventChunk>(session->open.chunks_last) : nullptr;
  bool done = false;
  EventRun* last = chunk == nullptr ? nullptr : &chunk->entries[chunk->used - 1];
  if (last != nullptr && may_share && last->id == event.id && last->run > 0) {
    last->run += event.run;
    last->rows += event.rows;
    done = true;
  } else if (chunk != nullptr && chunk->used < kChunkEntries) {
    chunk->entries[chunk->used++] = event;
    done = true;
  }
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
  SpinLockRelease(&session->mutex);
  return true;
}

}  // namespace

LiveSession* OwnSession() { return own; }

void CloseSession() {
  if (own == nullptr) return;
  LiveSession* session = own;
  own = nullptr;
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
  if (own == nullptr) return;
  // What began on a standby cannot be recorded; after the promotion the session goes on as another one, that is.
  const bool promoted = own->unrecorded && !RecoveryInProgress();
  if (promoted || own->discarded || own->role != role || now - own->last_at > gap || DayOf(now) != own->day)
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
  own = session;
  last_event = repeated = 0;
  return session;
}

bool DefinitionSent(int64 id) { return sent->count(id) != 0; }

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

bool AppendEvent(LiveSession* session, int64 id) {
  repeated = id == last_event ? repeated + 1 : 1;
  last_event = id;
  // Only where each n-gram equals the one before do executions share an entry, so that rows keep to their n-grams.
  return Append(session, {id, 1, 0}, repeated > privacy_score::kRecordedLength);
}

bool AppendRows(LiveSession* session, int64 id, int64 rows) {
  SpinLockAcquire(&session->mutex);
  session->rows += rows;
  SpinLockRelease(&session->mutex);
  return Append(session, {id, 0, rows}, true);
}

int32 DayOf(TimestampTz at) {
  struct pg_tm tm;
  fsec_t fraction;
  int zone;
  if (timestamp2tm(at, &zone, &tm, &fraction, nullptr, log_timezone) != 0) return 0;
  return date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - POSTGRES_EPOCH_JDATE;
}

/*
 * principal_session.cpp - see principal_session.hpp.
 */
#include "backend/state/principal_session.hpp"

extern "C" {
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
}

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/principal_attachment.hpp"
#include "backend/state/principal_made.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/stored_principal.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

using privacy_score::NGram;

namespace {

// How many milliseconds a name waits for the worker to make room for it.
int RoomPatience(bool is_known) { return is_known ? ps_settings.room_patience / 2 * 5 : ps_settings.room_patience; }

// Scorers that a backend keeps for principals whose statements have come its way.
constexpr std::size_t kMostKnown = 256;

// What this backend has of a principal's session.
struct Known {
  LiveSession* session = nullptr;
  uint64 serial = 0;
  Oid role = InvalidOid;
  std::unique_ptr<LocalScorer> local;
  std::unordered_set<int64> sent;  // definitions that this backend has handed to the worker
  // How far it has read the journal.
  const SharedBlock* block = nullptr;
  int32 at = 0;
  uint64 used = 0;      // when
  bool broken = false;  // an error kept it from reading on
};
using KnownSessions = std::unordered_map<std::string, Known>;

KnownSessions* known_sessions = nullptr;
uint64 uses = 0;

// The session that this backend is attached to, and its transaction there.
struct Attached {
  Known* known;
  bool begun;
  uint64 began;
  NGram at;  // after its last statement
};
Attached attached;

std::string PrincipalIndexKey(Oid role, const char* end_user) { return std::to_string(role) + ' ' + end_user; }

// Another scorer of the role with the same settings, and a model of this version (0: of any); if possible one that is
// scored against the same baseline. Null when there is none. Within CallCore.
const LocalScorer* FindOther(const LocalScorer* local, Oid role, uint64 version) {
  const LocalScorer* found = nullptr;
  if (known_sessions == nullptr) return found;
  for (const auto& [key, known] : *known_sessions) {
    const LocalScorer* other = known.local.get();
    if (other == nullptr || other == local || known.role != role || (version != 0 && other->model_version != version) ||
        !(other->scorer.settings() == local->scorer.settings()))
      continue;
    found = other;
    if (local->scorer.IsAgainstBaselineOf(other->scorer)) break;
  }
  return found;
}

void ShareWith(LocalScorer* local, const LocalScorer* other) {
  local->scorer.Share(other->scorer);
  local->model_version = other->model_version;
  local->model_built_for = other->model_built_for;
}

// A scorer for a session of which nothing is known; what does not depend on it is another's, if there is one.
std::unique_ptr<LocalScorer> NewScorer(const LiveSession* session) {
  auto local = std::make_unique<LocalScorer>(session->settings, NameStr(session->role_name), EndUserOf(session));
  if (const LocalScorer* other = FindOther(local.get(), session->role, 0)) ShareWith(local.get(), other);
  local->scorer.WriteTo(&local->journal);
  return local;
}

// Makes room for one more. Within CallCore.
void ForgetLeastUsed() {
  if (known_sessions->size() < kMostKnown) return;
  auto least = known_sessions->end();
  for (auto at = known_sessions->begin(); at != known_sessions->end(); ++at)
    if (&at->second != attached.known && (least == known_sessions->end() || at->second.used < least->second.used))
      least = at;
  if (least != known_sessions->end()) known_sessions->erase(least);
}

// What this backend has of a session, made when there is nothing, or only of one that has ended. Null on an error.
Known* KnowSession(const std::string& key, LiveSession* session) {
  Known* found = nullptr;
  CoreError error;
  if (CallCore(&error, [&] {
        ForgetLeastUsed();
        Known& known = (*known_sessions)[key];
        if (known.session != session || known.serial != session->serial || known.broken) {
          // Without memory for a scorer nothing is known of it.
          std::unique_ptr<LocalScorer> local = NewScorer(session);
          if (known.local != nullptr) local->told = std::move(known.local->told);
          known = Known();
          known.session = session;
          known.serial = session->serial;
          known.role = session->role;
          known.local = std::move(local);
        }
        known.used = ++uses;
        found = &known;
      }))
    return found;
  CountScoringError(error.message);
  return nullptr;
}

bool IsSessionOf(const LiveSession* session, Oid role, const char* end_user) {
  return session->role == role && IsShared(session) && !session->closed && !session->discarded &&
         strcmp(session->part->end_user, end_user) == 0;
}

// The open session that this backend knows of a principal, which it then is attached to; null when it is no more. No
// lock is taken.
LiveSession* AttachToKnown(Oid role, const char* end_user, const Known* known) {
  if (known == nullptr || known->session == nullptr || !AttachTo(known->session, known->serial)) return nullptr;
  if (IsSessionOf(known->session, role, end_user)) return known->session;
  Detach(known->session);
  return nullptr;
}

// The open session of a principal, which the caller then is attached to. Under the slot's lock.
LiveSession* FindAndAttach(DatabaseSlot* slot, Oid role, const char* end_user) {
  for (LiveSession* session = slot->sessions; session != nullptr; session = session->next)
    if (IsSessionOf(session, role, end_user) && AttachTo(session, session->serial)) return session;
  return nullptr;
}

// Whether the session goes on at this moment; else it is closed.
bool GoesOn(LiveSession* session, TimestampTz now) {
  const int64 gap = static_cast<int64>(ps_settings.idle_gap) * USECS_PER_SEC;
  const bool promoted = session->unrecorded && !RecoveryInProgress();
  const Oid extension = WatchedExtension();
  const int32 day = DayOf(now);
  SpinLockAcquire(&session->mutex);
  const bool over = promoted || session->extension != extension || now - session->last_at > gap ||
                    day > session->day;  // not so for a statement that began before midnight
  if (over) session->closed = true;
  const bool goes_on = !session->closed;
  SpinLockRelease(&session->mutex);
  return goes_on;
}

// Lets others find a session; false when another one has been opened meanwhile, when any was put out, so that what was
// read of it may be out of date, or when what it goes on with is closed and waits for the worker (`ended`).
bool LinkPrincipal(DatabaseSlot* slot, LiveSession* session, const StoredPrincipal* stored, uint64 put_out,
                   bool* ended) {
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  bool alone = slot->put_out == put_out;
  for (const LiveSession* other = slot->sessions; other != nullptr && alone; other = other->next) {
    if (stored != nullptr && other->closed && other->started == session->started &&
        strcmp(other->session, session->session) == 0)
      *ended = true;
    alone = !*ended && !IsSessionOf(other, session->role, EndUserOf(session));
  }
  if (alone) LinkSession(slot, session);
  LWLockRelease(slot->lock);
  return alone;
}

// Makes the session of an end user, or of none, who may have been here before and waits for the worker to put others
// out where there is no room; null when there is none all the same.
LiveSession* MakeWaiting(DatabaseSlot* slot, Oid role, const char* role_name, const char* end_user, TimestampTz now,
                         const StoredPrincipal* stored) {
  // Who comes while the worker makes room waits a moment, so that most need not wait for it.
  if (PoolIsScarce()) WaitForRoom(slot);
  LiveSession* session = MakePrincipal(role, end_user, now, stored, false);
  if (session != nullptr) return session;
  const bool known = stored != nullptr || IsKnownEndUser(role_name, end_user, now);
  const TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), RoomPatience(known));
  do {
    WaitForRoom(slot);
    session = MakePrincipal(role, end_user, now, stored, known);
  } while (session == nullptr && GetCurrentTimestamp() < deadline);
  return session;
}

// Opens a session for a principal and attaches to it; null when there is no room, or it is to be looked for `again`.
LiveSession* Open(DatabaseSlot* slot, Oid role, const char* end_user, uint64 put_out, TimestampTz now, bool* again) {
  const char* role_name = GetUserNameFromId(role, true);
  const bool overflow = role_name == nullptr || strcmp(end_user, kOverflowEndUser) == 0;
  StoredPrincipal* stored = overflow ? nullptr : ReadStoredPrincipal(role_name, end_user, now);
  LiveSession* session = overflow ? MakePrincipal(role, end_user, now, nullptr, false)
                                  : MakeWaiting(slot, role, role_name, end_user, now, stored);
  bool ended = false;
  bool linked = session != nullptr && LinkPrincipal(slot, session, stored, put_out, &ended);
  if (ended) {
    // It goes on as another one.
    UnmakePrincipal(session);
    ended = false;
    session = MakePrincipal(role, end_user, now, nullptr, true);
    linked = session != nullptr && LinkPrincipal(slot, session, nullptr, put_out, &ended);
  }
  ForgetStored(stored);
  *again = session != nullptr && !linked;
  if (linked || session == nullptr) return session;
  UnmakePrincipal(session);
  return nullptr;
}

// Attaches to the session of a principal; null when there is no room for it.
LiveSession* FindOrOpen(DatabaseSlot* slot, Oid role, const char* end_user, const Known* known, TimestampTz now) {
  for (;;) {
    LiveSession* session = AttachToKnown(role, end_user, known);
    bool again = false;
    if (session == nullptr) {
      LWLockAcquire(slot->lock, LW_SHARED);
      session = FindAndAttach(slot, role, end_user);
      const uint64 put_out = slot->put_out;
      LWLockRelease(slot->lock);
      if (session == nullptr) session = Open(slot, role, end_user, put_out, now, &again);
    }
    if (again) continue;
    if (session == nullptr || GoesOn(session, now)) return session;
    Detach(session);
  }
}

// Takes in a transaction that ends: what had ended before it began is followed by it, and what has a greater n-gram and
// ended before it will never be the least.
void AddEnded(EndedTransactions* all, uint64 began, const EndedTransaction& ended) {
  all->latest_began = Max(all->latest_began, began);
  EndedTransaction* list = all->list;
  EndedTransaction* end = std::remove_if(list, list + all->count, [&](const EndedTransaction& other) {
    return other.ended < all->latest_began || other.last >= ended.last;
  });
  all->count = Min(static_cast<int32>(end - list), kEndedTransactions - 1);
  list[all->count++] = ended;
}

// Notes that the transaction of this backend begins, unless it has, or ends.
void BeginTransaction() {
  if (attached.begun) return;
  LiveSession* session = attached.known->session;
  PrincipalPart* part = session->part;
  attached.begun = true;
  SpinLockAcquire(&session->mutex);
  attached.began = ++part->turn;
  attached.at = FollowedNext(part);
  SpinLockRelease(&session->mutex);
}
void EndTransaction() {
  if (!attached.begun) return;
  LiveSession* session = attached.known->session;
  PrincipalPart* part = session->part;
  SpinLockAcquire(&session->mutex);
  AddEnded(&part->ended, attached.began, {++part->turn, attached.at});
  SpinLockRelease(&session->mutex);
  attached.begun = false;
}

void OnPrincipalTransactionEnd(XactEvent event, void*) {
  if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) LeavePrincipal();
}

// Whether all of the journal has been read. What others write meanwhile it may miss, as if it had been asked before.
bool KnowsAll(const Known* known) {
  if (known->block == nullptr) return known->session->part->journal.first == nullptr;
  return known->block->next == nullptr && known->at == known->block->used;
}

// Goes to where the transaction is.
void ResumeThere(Known* known) {
  CoreError error;
  if (!CallCore(&error, [known] { known->local->scorer.Resume(attached.at); })) CountScoringError(error.message);
}

// Reads what others have written since; true unless an error keeps the scorer from knowing it.
bool CatchUp(Known* known) {
  if (KnowsAll(known)) return true;
  if (known->block == nullptr) known->block = known->session->part->journal.first;
  CoreError error;
  const bool done = CallCore(&error, [&] {
    std::vector<std::uint64_t> words;
    for (;;) {
      const auto size = static_cast<std::size_t>(known->block->used - known->at);
      const std::size_t before = words.size();
      words.resize(before + size / sizeof(std::uint64_t));
      if (size > 0) memcpy(words.data() + before, known->block->bytes + known->at, size);
      known->at = known->block->used;
      if (known->block->next == nullptr) break;
      known->block = known->block->next;
      known->at = 0;
    }
    known->local->scorer.CatchUp(words.data(), words.size());
  });
  if (!done) CountScoringError(error.message);
  return done;
}

// Appends what this backend's scorer has written; false when there is no room.
bool AppendJournal(Known* known) {
  if (!AppendToJournal(known->session, known->local->journal.words())) return false;
  known->block = known->session->part->journal.last;
  known->at = known->block->used;
  return true;
}

// The name that this backend has asked for and that has no session of its own.
char overflowed[privacy_score::kMostEndUserBytes + 1];

}  // namespace

bool IsOverAll(const char* end_user) {
  const auto scope = static_cast<SessionScope>(ps_settings.session_scope);
  return scope == SessionScope::kPrincipal || (scope == SessionScope::kAuto && end_user[0] != '\0');
}

bool IsEndUserOf(const LiveSession* session, const char* end_user) {
  const char* name = EndUserOf(session);
  if (strcmp(name, kOverflowEndUser) == 0 && IsShared(session)) return strcmp(overflowed, end_user) == 0;
  return strcmp(name, end_user) == 0;
}

void ClosePrincipal(LiveSession* session) {
  SpinLockAcquire(&session->mutex);
  session->closed = true;
  SpinLockRelease(&session->mutex);
}

LiveSession* AttachToPrincipal(Oid role, const char* end_user, TimestampTz now) {
  static bool follows = false;
  if (!follows) RegisterXactCallback(OnPrincipalTransactionEnd, nullptr);
  follows = true;
  DatabaseSlot* slot = SlotOfDatabase(true);
  std::string* key = nullptr;
  Known* known = nullptr;
  CoreError error;
  if (slot == nullptr || !CallCore(&error, [&] {
        static std::string own_key;
        own_key = PrincipalIndexKey(role, end_user);
        key = &own_key;
        if (known_sessions == nullptr) known_sessions = new KnownSessions();
        const auto found = known_sessions->find(own_key);
        if (found != known_sessions->end()) known = &found->second;
      }))
    return nullptr;
  LiveSession* session = FindOrOpen(slot, role, end_user, known, now);
  if (session == nullptr && end_user[0] != '\0' && strcmp(end_user, kOverflowEndUser) != 0) {
    strlcpy(overflowed, end_user, sizeof overflowed);
    return AttachToPrincipal(role, kOverflowEndUser, now);
  }
  if (session == nullptr) return nullptr;
  known = KnowSession(*key, session);
  if (known == nullptr) {
    Detach(session);
    return nullptr;
  }
  attached = {known, false, 0, {}};
  session->pid = MyProcPid;
  UseSession(session, &known->sent);
  ps_local.scorer = known->local.get();
  return session;
}

void LeavePrincipal() {
  if (attached.known == nullptr) return;
  LiveSession* session = attached.known->session;
  EndTransaction();
  if (session->pid == MyProcPid) session->pid = 0;
  UseSession(nullptr, nullptr);
  ps_local.scorer = nullptr;
  attached.known = nullptr;
  Detach(session);
}

void EnterSession(LiveSession* session) {
  if (!IsShared(session)) return;
  Known* known = attached.known;
  LWLockAcquire(&session->part->lock, LW_EXCLUSIVE);
  BeginTransaction();
  known->broken = known->broken || !CatchUp(known);
  ResumeThere(known);
}

bool StandInSession(LiveSession* session) {
  if (!IsShared(session) || attached.known->broken) return false;
  // First: what the transaction follows was in the journal before it ended.
  BeginTransaction();
  if (!KnowsAll(attached.known)) return false;
  ResumeThere(attached.known);
  return attached.known->local->scorer.LastNGram() == attached.at;
}

bool KnowsSession(const LiveSession* session) { return !IsShared(session) || !attached.known->broken; }

void LeaveSession(LiveSession* session) {
  if (!IsShared(session)) return;
  Known* known = attached.known;
  const bool told = known->local->journal.words().empty() || AppendJournal(known);
  if (!told) ClosePrincipal(session);
  known->local->journal.Clear();
  LWLockRelease(&session->part->lock);
  if (!told)
    ereport(LOG,
            (errmsg("session %s goes on as another one: shared memory has no room for more of it", session->session),
             errhint("Raise privacy_score.max_memory."), errhidestmt(true), errhidecontext(true)));
}

NGram PlaceInSession() { return attached.at; }

void MoveInSession(const NGram& ngram) { attached.at = ngram; }

bool ShareModel(LocalScorer* local, Oid role, uint64 version) {
  bool shared = false;
  CoreError error;
  if (!CallCore(&error, [&] {
        const LocalScorer* other = FindOther(local, role, version);
        if (other != nullptr) ShareWith(local, other);
        shared = other != nullptr;
      }))
    CountScoringError(error.message);
  return shared;
}

void ForgetPrincipals() {
  if (known_sessions == nullptr) return;
  for (auto at = known_sessions->begin(); at != known_sessions->end();)
    at = &at->second == attached.known ? std::next(at) : known_sessions->erase(at);
}

}  // namespace privacy_score

/*
 * principal_session.hpp - sessions of principals: of one role and end user, over all connections of a database.
 *
 * Behind a pooler each transaction of a person may come over another connection. Unless `session_scope` says otherwise
 * they are one session in shared memory, which a backend attaches to for the length of a transaction. Each backend
 * scores it with a scorer of its own, and they keep each other up to date through the session's journal
 * (core/scoring/session_journal.hpp), under the lock of the session: nobody else's is taken for it. A statement that
 * repeats what this backend has had there before adds nothing that the others had to know, and takes none: its place in
 * the history, and the beginnings and ends of transactions, are under the spinlock, as those of any session.
 *
 * Order. A statement follows the one before it in its transaction. The first of a transaction follows the last
 * statement of an earlier one: of those that had ended when it began, the latest and those that ran beside it; of
 * several the one whose n-gram is the least, so that requests that run side by side lead on to the same n-grams in
 * whatever order they end. What a statement follows is stored with it (kContext), so history is scored without clocks.
 *
 * Memory. Such a session has no share of the blocks (shared_blocks.hpp). Where not much more than half of the pool is
 * left, the worker puts those out of memory that have not gone on for the longest time, and who opens one again goes on
 * with what is stored of it (stored_principal.hpp). Names that are new may take half of the pool together, those that
 * have been here before three quarters; who finds no room all the same is the end user that is called kOverflowEndUser.
 */
#pragma once

#include <string>

#include "backend/state/shared_state.hpp"
#include "core/principal/end_user.hpp"
#include "core/scoring/ngram.hpp"

namespace privacy_score {

constexpr const char* kOverflowEndUser = "(overflow)";

// A transaction that has ended: when, by the session's count of beginnings and ends, and after which n-gram.
struct EndedTransaction {
  uint64 ended;
  privacy_score::NGram last;
};
constexpr int kEndedTransactions = 8;

// Transactions that the next one may follow: of those that ended last, and side by side, the one with the least n-gram
// stands first, and behind it those that take its place when a transaction ends that began after it had. Where these
// are too many the last two are as one.
struct EndedTransactions {
  uint64 latest_began;  // of all that have ended
  int32 count;
  EndedTransaction list[kEndedTransactions];
};

// What a session with an end user has beside the others, in a block of its own.
struct PrincipalPart {
  char end_user[privacy_score::kMostEndUserBytes + 1];
  double session_limit, daily_limit;  // of this end user; NaN: those of the role hold
  // The rest is of a session that runs over any connection.
  bool shared;
  bool kept;  // it has a row in principal_session; the worker's
  // Under the session's spinlock: beginnings and ends of transactions so far, what the next one follows, and what
  // stands last in the history, where that is known.
  uint64 turn;
  EndedTransactions ended;
  bool tail_known;
  privacy_score::NGram tail;
  int64 queries;
  // Guards the rest.
  LWLock lock;
  NoteList journal;
  // What aggregates have answered (TakeAnswer), kAskedOfBlock a block: never written, gone with the session's memory.
  SharedBlock* answers;
  uint32 answers_given;
};
static_assert(sizeof(PrincipalPart) <= kBlockSize);

inline bool IsShared(const LiveSession* session) { return session->part != nullptr && session->part->shared; }
inline const char* EndUserOf(const LiveSession* session) {
  return session->part == nullptr ? "" : session->part->end_user;
}

// Whether statements of this end user, or of none, make a session over all connections.
bool IsOverAll(const char* end_user);

// Whether the session is this end user's; none: an empty name. What has no session of its own is in kOverflowEndUser.
bool IsEndUserOf(const LiveSession* session, const char* end_user);
// Gives a new session of a connection its end user, if any; false when there is no room.
bool AddEndUser(LiveSession* session, const char* end_user);
// Closes the session of a principal for all.
void ClosePrincipal(LiveSession* session);

// Attaches this backend to the open session of a principal, opening one when there is none; until the end of the
// transaction. Null when there is no room.
LiveSession* AttachToPrincipal(Oid role, const char* end_user, TimestampTz now);

// Leaves it: what this backend's transaction has done there is over.
void LeavePrincipal();

// Between these two the session, if it is a principal's, is nobody else's, and the scorer of this backend knows all of
// it and stands where the next statement follows. Nothing that may wait or raise is done in between.
void EnterSession(LiveSession* session);
void LeaveSession(LiveSession* session);

// Has the scorer of this backend stand where the next statement of a principal's session follows, without the lock of
// the session; false when others have done there what it does not know yet.
bool StandInSession(LiveSession* session);

// Whether no error has kept the scorer of this backend from knowing all of the session.
bool KnowsSession(const LiveSession* session);

// Runs `body`, which may wait or raise, outside of a session that this backend is in.
template <typename Body>
void OutsideSession(LiveSession* session, Body body) {
  LeaveSession(session);
  body();
  EnterSession(session);
}

// The n-gram after which this backend's transaction is in the session, and which it is after from now on.
NGram PlaceInSession();
void MoveInSession(const NGram& ngram);

// Gives a scorer the model of this version that another one of the role has loaded; false when there is none.
struct LocalScorer;
bool ShareModel(LocalScorer* local, Oid role, uint64 version);

// Forgets the scorers of principals that this backend is not attached to.
void ForgetPrincipals();

// In the worker: closes the sessions of principals that have ended; what those have gathered that began with another
// extension than this one, which was dropped since, is to be thrown away.
void ClosePrincipals(DatabaseSlot* slot, Oid extension);
// Whether no session of the slot is open but those of principals at which nobody is.
bool OnlyPrincipalsRest(const DatabaseSlot* slot);
// Has what the sessions of an end user have gathered thrown away, and the sessions ended; they go on as others.
void DiscardEndUser(DatabaseSlot* slot, const char* role, const char* end_user);
// Frees what the session has beside its history.
void FreePart(LiveSession* session);

// The sessions at which nobody is and of which all is written, those first that have gone on least; at most so many.
int32 LongestAway(DatabaseSlot* slot, LiveSession** found, int32 most);
// The n-gram that a transaction follows which begins now. Under the session's spinlock.
inline NGram FollowedNext(const PrincipalPart* part) {
  return part->ended.count == 0 ? NGram{} : part->ended.list[0].last;
}
// What the session has asked with constants, so that only this run of the server can read it, palloc'd; null when that
// cannot be had.
bytea* SealAsked(LiveSession* session);
// Frees a session that is stored as it was when its transactions had begun and ended so often; false when somebody has
// gone on with it since.
bool PutOut(DatabaseSlot* slot, LiveSession* session, uint64 turn);

}  // namespace privacy_score

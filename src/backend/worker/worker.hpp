/*
 * worker.hpp - the background worker of one database.
 *
 * It writes history, alerts and definitions to tables (worker_flush.cpp), builds the model that backends score with and
 * corrects estimated scores (worker_model.cpp), and computes the rates that are missing (worker_rates.cpp); on a
 * standby, where nothing can be written, it keeps what it needs itself (worker_standby.cpp). It runs while the database
 * has sessions or a flush is asked for, and leaves when there is nothing to do, so that it does not keep the database
 * from being dropped. Whoever records an event starts it again.
 */
#pragma once

#include <csignal>
#include <string_view>

#include "backend/rates/stored_rates.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/shared_baselines.hpp"
#include "backend/state/shared_state.hpp"
#include "core/scoring/memory_history.hpp"

namespace privacy_score {

// A transaction of the worker in an internal scope; ending it commits and returns to the memory context of before.
struct WorkTransaction {
  MemoryContext outer;
  InternalScope scope;
};
void BeginWork(WorkTransaction* work);
// The same; false, and there is no transaction, where the extension is gone: BeginWork() ends the process then.
bool BeginWorkUnlessGone(WorkTransaction* work);
void EndWork(const WorkTransaction* work);

// Set while ComputeRound runs queries on protected relations, which may take long.
extern volatile sig_atomic_t ps_computing_rates;

// Writes what sessions have gathered and frees closed ones. Each call is one transaction; an error leaves everything
// for the next try.
void FlushSessions(DatabaseSlot* slot);

// Throws away what sessions have gathered: the extension is gone.
void DiscardSessions(DatabaseSlot* slot);

// The first session of the list.
LiveSession* FirstSession(DatabaseSlot* slot);

// Frees a closed session that has nothing left, under the lock of the slot.
void FreeSession(DatabaseSlot* slot, LiveSession* session);

// Whether a closed session waits for what its limits are checked against: its exact score, and the day's score with
// what it has added. Each call counts a flush.
bool AwaitsCorrection(LiveSession* session);

// Raises an alert that the session's own process could not; a client that is warned hears of it with its next event.
void RaiseForWorker(LiveSession* session, const PassedLimit& passed, std::string_view detail);

// An alert that is due once what it rests on is committed.
struct DueAlert {
  DueAlert* next;
  PassedLimit passed;
  const char* detail;
  bool LiveSession::*alarmed;  // what an alarm sets; null: nothing
};

// Adds what a session has told to the day of its principal, and stores that where anything can be stored, in the
// transaction of the caller (worker_days.cpp). Returns the alerts that the day is due, in a memory context.
struct ToldBySession {
  // The most columns that the principal has come to know of a subject of which that tells more than before; 0 when of
  // none.
  int64 known;
  // How far the session reaches by it, where no model has told it what is protected.
  bool has_reach;
  ReachFigures reach;
};
DueAlert* TakeTold(DatabaseSlot* slot, const LiveSession* session, const PendingHistory* sealed, MemoryContext context,
                   ToldBySession* told);
// Before a transaction that takes days in, and when it has committed: without that they are read again from what is
// stored.
void BeginDays();
void SettleDays();
// Raises them unless the session has had an alert of the kind.
void RaiseDueAlerts(LiveSession* session, const DueAlert* alerts);
// Saves them in shared memory for the next worker; frees what was saved.
void SaveDays(DatabaseSlot* slot);
void DropSavedDays(DatabaseSlot* slot);
// Within a transaction: removes days that are older than so many days; hashes of subjects of earlier days of a
// principal of whom there are too many.
void RemoveDays(const char* retention);
void TidyDays();
// Reads what is remembered of days with the model in force, so that baselines of one before can be freed.
void FollowModelInDays(DatabaseSlot* slot);
// Forgets the days in memory; begins them again with what is stored by now, as when another server has gone on storing.
void ForgetDays();
void ReadDaysAgain(DatabaseSlot* slot);
// Makes, replaces or takes away the key of subjects as subject_key_period asks; true when it is another one now. Looks
// once an hour, and when the setting has changed.
bool KeepSubjectKey(DatabaseSlot* slot);

// Makes the tables of history of this month and the next, once something is protected and has been recorded: tries at
// most once a minute what could not be made.
void KeepMonths();

// Deletes history older than history_retention, at most once an hour and when the setting has changed: months as a
// whole.
void ApplyRetention();

// The sum that mode enforce goes by, as far as the session shows it; -1 while it rests on bounds or on no model in
// force.
inline double EnforcedOf(const LiveSession* session) {
  return session->model_version == 0 || session->summary.statement_estimated ? -1 : session->summary.statement_score;
}

// Takes what unrecorded sessions have gathered into the memory and the files of this process, and frees closed ones
// (worker_standby.cpp).
void TakeInSessions(DatabaseSlot* slot);

// A score from that memory, palloc'd as a holder; null when it is not known there. The day includes what is stored.
// `place` tells the session from others, of which `session` is a copy.
CoreHolder<privacy_score::MemoryScore>* ScoreFromMemory(const LiveSession* place, const LiveSession* session,
                                                        const ModelBytes& model);
CoreHolder<privacy_score::MemoryScore>* ScoreDayFromMemory(const LiveSession* session, const ModelBytes& model);

// Whether a role's day is remembered that a daily limit rests on.
bool RemembersToday();

// The rates that were computed here and cannot be stored; null on a primary.
ComputedRates* UnstoredRates();
void ForgetUnstoredRates();

// Whether it is time to look for replicated changes of the model: they are not announced on a standby.
bool ReplicatedModelIsDue();

// Builds the model and publishes it when it differs from the one in force, or even if not: then all read it again, and
// ask again for the rates that they miss. False when there is no room for it: the one in force is not what it should
// be.
bool PublishModel(DatabaseSlot* slot, bool even_if_same);

// Asks again, once a minute, for the rates that the counts of the published model lack.
void AskForUnrevealed(DatabaseSlot* slot);

// Puts a rate into the list of those that are asked for, without counting it.
void PutBackRate(DatabaseSlot* slot, std::string_view relation, std::string_view attributes);

// Whether the rate could not be computed, as far as is remembered, after that moment. Whoever needs it asks again with
// every new model.
bool HasFailed(DatabaseSlot* slot, const WantedRate* wanted, TimestampTz since);

// Counts the stored rates that are out of date, at most every five seconds, and forgets those of relations that no
// longer exist; in the same transaction looks at baselines (worker_baselines.hpp). -1 when it has not looked.
int32 CountStaleRates(DatabaseSlot* slot);

// Computes the rates that scoring misses, and those that are out of date, relation by relation for about a second; true
// when it settled any. The rest stays to be done, as do rates of relations that somebody holds locked.
// A large relation's are computed by a process of its own (worker_rates.cpp); `meanwhile` is called once a
// flush_interval until it has ended.
bool ComputeRound(DatabaseSlot* slot, void (*meanwhile)(DatabaseSlot*));

// What the administrator sets for users must not keep a worker from writing, nor make it wait for ever.
void SettleWorkerSettings();

// Asks for rates that were found missing.
void AddMissing(DatabaseSlot* slot, const std::vector<privacy_score::MissingRate>* rates);

// Answers connections that ask whether another node of Citus sends what they send (worker_senders.cpp).
void AnswerSenders(DatabaseSlot* slot);

// Scores days that are over for good, for about a fifth of a second (worker_keep.cpp); whether there is more to do.
void KeepScores(DatabaseSlot* slot);
bool KeepingGoesOn();
// Whether it goes on, or is tried again soon, because rates are missing.
bool KeepingIsDue();
// Has them looked over soon, because the history of a day that is over has grown.
void KeepAgain();
// Within a transaction: whether scores of that day may be kept, since the clock may have been put back.
bool MayBeKept(int32 day);
// Within a transaction: removes kept scores of days that are older than so many days; kept rates that no day rests on.
void RemoveKept(const char* retention);
void TidyKeptRates();

// Whether a session, or whoever has asked for something, waits for the worker. Cheap.
bool AnythingWaits(DatabaseSlot* slot);

// The first transaction of the worker. Frees the slots of databases that were dropped: nobody can be in them any more.
void ReclaimSlots();

// Scores again the sessions whose score rests on bounds, and publishes daily scores where a limit asks for them.
void CorrectScores(DatabaseSlot* slot);

}  // namespace privacy_score

/*
 * live_session.hpp - the session of this backend in shared memory: opening, closing, adding to its history.
 *
 * One session is one principal and one connection, cut when the role or the end user changes, after idle_gap, at
 * midnight, when the server is promoted, and when it has as many different n-grams, or as large abstractions, as a
 * backend should keep. It belongs to this backend until it is closed (shared_state.hpp has the rules). Sessions of
 * principals, over all connections, are in principal_session.hpp.
 */
#pragma once

#include <string_view>
#include <unordered_set>

#include "backend/state/shared_state.hpp"
#include "core/scoring/differences.hpp"

namespace privacy_score {

// The open session of this backend; null when there is none.
LiveSession* OwnSession();

// Closes the open session, or leaves that of a principal, when it is another role's or end user's, when the pause, the
// day or its size asks for a cut, or the server was promoted.
void CutLiveSession(Oid role, const char* end_user, TimestampTz now);

// Opens a session of this connection; null when there is no room.
LiveSession* OpenSession(Oid role, const char* end_user, TimestampTz now);

// Marks the open session closed; the worker writes the rest and frees it. Leaves that of a principal.
void CloseSession();

// A session in its first block, with all that is known of it when it begins; and into the list of its database, and out
// of it.
LiveSession* MakeSession(SharedBlock* block, const Holding& holding, Oid role, TimestampTz now);
void LinkSession(DatabaseSlot* slot, LiveSession* session);
void UnlinkSession(DatabaseSlot* slot, LiveSession* session);

// Makes a session the open one of this backend, with the definitions that it has sent in it; null: none.
void UseSession(LiveSession* session, std::unordered_set<int64>* sent);

// Whether the tokens of an abstraction were sent in this session.
bool DefinitionSent(int64 id);

// Sends the tokens of an abstraction, joined by kTokenEnd; false when there is no room.
bool SendDefinition(LiveSession* session, int64 id, std::string_view tokens);

// What the session shows of itself after an event.
struct EventFigures {
  int64 id;
  TimestampTz at;
  const privacy_score::SessionSummary* summary;  // null: what it has shown stands, but for the number of queries
  const privacy_score::ReachFigures* reach;
  Rise rise;             // by this event
  bool current;          // scored with the model in force; else the worker scores again when it has built that
  uint64 model_version;  // 0: scored without a model
  uint64 changes;        // how many changes of the model had been announced
};

// Appends one execution of an abstraction to the history of the session and publishes its figures, unless they are
// null; false when there is no room for the former. Takes the session's lock once, as a rule.
bool AppendEvent(LiveSession* session, int64 id, const EventFigures* figures);

// Whether the next AppendEvent() has room for certain: a chunk is kept ready, which this takes if need be and if there
// is one.
bool HasSpare(LiveSession* session);

// Counts executions and rows for which AppendEvent() and AppendRows() have no room; the worker writes them as
// `unparsed`.
void CountUncounted(LiveSession* session, int64 executions, int64 rows);

// Publishes the figures alone.
void PublishFigures(LiveSession* session, const EventFigures& figures);
// The figures lack an event: who records the next one, or the worker, has to publish all of them.
void OutdateFigures(LiveSession* session);

// Adds rows that an execution has returned; false when there is no room.
bool AppendRows(LiveSession* session, int64 id, int64 rows);

// Answers of a session that are remembered, and how many of them a block of shared memory has.
constexpr uint32 kAskedOfBlock = kBlockRoom / sizeof(AskedAggregate);
constexpr uint32 kMostAnswers = 3 * kAskedOfBlock;
// Compares the answer of an aggregate with those of the session that are remembered, the oldest of which it takes the
// place of when they are many or there is no room; counts it in `differ` where it differs by one record. Within the
// session (EnterSession). Nothing is allocated but shared memory, nothing raised.
AskedBefore TakeAnswer(LiveSession* session, const AskedAggregate& asked);

// Days since 2000-01-01 of a moment in log_timezone, the time zone in which days are counted. Cheap within one second.
int32 DayOf(TimestampTz at);

}  // namespace privacy_score

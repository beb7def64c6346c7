/*
 * node_sender.hpp - whether a connection is one on which another node of Citus sends pieces of statements that it has
 * counted itself.
 *
 * Citus writes a mark into application_name, which anybody can write. So more must hold: the address is that of an
 * active node, the process that the mark names runs there in a session whose statements count, the connection is that
 * process's own, and what is protected here of distributed tables is protected there. The worker asks the node once a
 * connection (worker_senders.cpp); who sends waits for that. What is not confirmed counts: counted twice is the safe
 * fault.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "datatype/timestamp.h"
#include "port/atomics.h"
}

#include "backend/server/socket_owner.hpp"

namespace privacy_score {

// What a connection with the mark asks the worker. It stands in shared memory by the number of its process.
struct AskedSender {
  pg_atomic_uint64 ticket;  // raised with each question, its low bits an AskedState
  // The process here, once its own statements have counted, and when it began.
  pg_atomic_uint32 counting;
  TimestampTz began;
  Oid database;
  int64 global_pid;     // which Citus says has sent
  TimestampTz started;  // the connection
  SocketEnd peer, own;  // without addresses: a unix socket
};
enum AskedState : uint64 { kNotAsked, kAsked, kConfirmed, kDenied };
constexpr uint64 kAskedStates = 4;

// Citus puts the number of the node before that of the process.
constexpr int64 kProcessesOfNode = 10000000000;
inline int64 NodeOf(const AskedSender& asked) { return asked.global_pid / kProcessesOfNode; }
inline int ProcessOf(const AskedSender& asked) { return static_cast<int>(asked.global_pid % kProcessesOfNode); }

void RequestSenders();
void StartSenders();

// Whether the client may be another node: it bears the mark, and nobody has denied it. Cheap.
bool MayBeNode();
// Whether another node sends what the client of this connection sends. Asks the first time, and may wait for the answer
// for node_timeout and a second; without one it asks again after some. In a transaction; may read catalogs and raise.
bool SentByNode();
// Whether the connection bears the mark and nobody has confirmed it so far.
bool SenderIsUnverified();
// Another name ends it: Citus takes one for what users have it send word by word.
void NoteApplicationName();
// Says that statements of this process count.
void NoteCounting();

// For the worker: the first question from this database from `number` on, copied, with its ticket; false for none.
bool NextAskedSender(int* number, AskedSender* asked, uint64* ticket);
// Answers it, unless another one has come meanwhile.
void AnswerAskedSender(int number, uint64 ticket, bool confirmed);

}  // namespace privacy_score

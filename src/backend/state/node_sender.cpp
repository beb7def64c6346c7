/*
 * node_sender.cpp - see node_sender.hpp.
 */
#include "backend/state/node_sender.hpp"

extern "C" {
#include "catalog/pg_namespace.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

#include "backend/server/compat.hpp"
#include "backend/server/socket_owner.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/state/shared_state.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_confirm_sender);
}

namespace {

constexpr char kMark[] = "citus_internal gpid=";
constexpr Size kMarkLength = sizeof kMark - 1;
constexpr int kPatience = 2000;  // milliseconds

AskedSender* senders = nullptr;  // MaxBackends of them

enum class Sender : uint8 { kUnknown, kClient, kNode, kUnverified };
Sender sender = Sender::kUnknown;

Size SendersSize() { return mul_size(static_cast<Size>(MaxBackends), sizeof(AskedSender)); }

AskedSender* Own() {
  const int number = ProcessNumber(MyProc);
  return senders != nullptr && number < MaxBackends ? &senders[number] : nullptr;
}

// The name that the client has begun with, which no statement has changed; null when it has none.
const char* NameAtStart() { return MyProcPort == nullptr ? nullptr : MyProcPort->application_name; }

bool BearsMark() { return NameAtStart() != nullptr && strncmp(NameAtStart(), kMark, kMarkLength) == 0; }

bool NameIsAsAtStart() {
  return NameAtStart() != nullptr && application_name != nullptr && strcmp(NameAtStart(), application_name) == 0;
}

// Asks the worker, and waits for its answer.
bool IsConfirmed(AskedSender* asked) {
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr) return false;
  const uint64 ticket = (pg_atomic_read_u64(&asked->ticket) / kAskedStates + 1) * kAskedStates + kAsked;
  pg_write_barrier();
  pg_atomic_write_u64(&asked->ticket, ticket);
  EnsureWorker(slot);
  WakeWorker(slot);
  const TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kPatience);
  ConditionVariablePrepareToSleep(&slot->flushed);
  while (pg_atomic_read_u64(&asked->ticket) == ticket) {
    const TimestampTz now = GetCurrentTimestamp();
    if (now >= until) break;
    EnsureWorker(slot);
    ConditionVariableTimedSleep(&slot->flushed, TimestampDifferenceMilliseconds(now, until) + 1,
                                WaitEventOf(OwnWait::kSender));
  }
  ConditionVariableCancelSleep();
  const bool confirmed = pg_atomic_read_u64(&asked->ticket) == ticket - kAsked + kConfirmed;
  pg_atomic_write_u64(&asked->ticket, ticket - kAsked + kNotAsked);
  return confirmed;
}

Sender FindSender() {
  if (!OidIsValid(get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE))) return Sender::kClient;
  AskedSender* asked = Own();
  if (asked == nullptr || !NameIsAsAtStart()) return Sender::kUnverified;
  pg_atomic_write_u64(&asked->ticket, pg_atomic_read_u64(&asked->ticket) / kAskedStates * kAskedStates);
  asked->database = MyDatabaseId;
  asked->global_pid = strtoll(NameAtStart() + kMarkLength, nullptr, 10);
  asked->peer = asked->port = 0;
  asked->address[0] = '\0';
  // A process of this machine must be the one that is named.
  if (!PeerAddress(MyProcPort, asked->address, sizeof asked->address, &asked->port)) {
    asked->peer = PeerProcess(MyProcPort);
    if (asked->peer == 0 || asked->peer != ProcessOf(*asked)) return Sender::kUnverified;
  }
  return asked->global_pid > 0 && IsConfirmed(asked) ? Sender::kNode : Sender::kUnverified;
}

}  // namespace

void RequestSenders() { RequestAddinShmemSpace(SendersSize()); }

void StartSenders() {
  bool found;
  senders = static_cast<AskedSender*>(ShmemInitStruct("privacy_score senders", SendersSize(), &found));
  if (found) return;
  memset(static_cast<void*>(senders), 0, SendersSize());
  for (int i = 0; i < MaxBackends; ++i) {
    pg_atomic_init_u64(&senders[i].ticket, 0);
    pg_atomic_init_u32(&senders[i].counting, 0);
  }
}

bool MayBeNode() {
  if (sender == Sender::kUnknown && !BearsMark()) sender = Sender::kClient;
  return sender == Sender::kUnknown || sender == Sender::kNode;
}

bool SentByNode() {
  if (!MayBeNode()) return false;
  if (sender == Sender::kUnknown) sender = FindSender();
  if (sender != Sender::kNode) ps_last_watch.stands = false;
  return sender == Sender::kNode;
}

bool SenderIsUnverified() { return sender == Sender::kUnverified; }

void NoteApplicationName() {
  if (!MayBeNode() || NameIsAsAtStart()) return;
  sender = Sender::kUnverified;
  ps_last_watch.stands = false;
}

void NoteCounting() {
  AskedSender* own = Own();
  if (own != nullptr) pg_atomic_write_u32(&own->counting, static_cast<uint32>(MyProcPid));
}

bool NextAskedSender(int* number, AskedSender* asked, uint64* ticket) {
  for (; senders != nullptr && *number < MaxBackends; ++*number) {
    AskedSender* one = &senders[*number];
    *ticket = pg_atomic_read_u64(&one->ticket);
    if (*ticket % kAskedStates != kAsked) continue;
    pg_read_barrier();
    memcpy(static_cast<void*>(asked), one, sizeof *asked);
    pg_read_barrier();
    if (pg_atomic_read_u64(&one->ticket) == *ticket && asked->database == MyDatabaseId) return true;
  }
  return false;
}

void AnswerAskedSender(int number, uint64 ticket, bool confirmed) {
  uint64 expected = ticket;
  pg_atomic_compare_exchange_u64(&senders[number].ticket, &expected,
                                 ticket - kAsked + (confirmed ? kConfirmed : kDenied));
}

// confirm_sender(pid, address, port): whether the connection from there is of that process, and its statements count.
Datum ps_confirm_sender(PG_FUNCTION_ARGS) {
  const int pid = PG_GETARG_INT32(0);
  const PGPROC* process = senders == nullptr ? nullptr : BackendPidGetProc(pid);
  if (process == nullptr || process->databaseId != MyDatabaseId) PG_RETURN_BOOL(false);
  const int number = ProcessNumber(process);
  if (number >= MaxBackends || pg_atomic_read_u32(&senders[number].counting) != static_cast<uint32>(pid))
    PG_RETURN_BOOL(false);
  const char* address = text_to_cstring(PG_GETARG_TEXT_PP(1));
  PG_RETURN_BOOL(address[0] == '\0' || HasSocket(pid, address, PG_GETARG_INT32(2)));
}

}  // namespace privacy_score

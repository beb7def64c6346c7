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
#include "backend/server/settings.hpp"
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
constexpr int kAskAgain = 10000;  // milliseconds

AskedSender* senders = nullptr;  // MaxBackends of them

enum class Sender : uint8 { kUnknown, kClient, kNode, kUnverified };
Sender sender = Sender::kUnknown;
TimestampTz ask_again_at = 0;  // unknown: nobody has answered, and nobody is asked before

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
Sender Ask(AskedSender* asked) {
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr) return Sender::kUnverified;
  const uint64 ticket = (pg_atomic_read_u64(&asked->ticket) / kAskedStates + 1) * kAskedStates + kAsked;
  pg_write_barrier();
  pg_atomic_write_u64(&asked->ticket, ticket);
  EnsureWorker(slot);
  WakeWorker(slot);
  const TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ps_settings.node_timeout + 1000);
  ConditionVariablePrepareToSleep(&slot->flushed);
  while (pg_atomic_read_u64(&asked->ticket) == ticket) {
    const TimestampTz now = GetCurrentTimestamp();
    if (now >= until) break;
    EnsureWorker(slot);
    ConditionVariableTimedSleep(&slot->flushed, TimestampDifferenceMilliseconds(now, until) + 1,
                                WaitEventOf(OwnWait::kSender));
  }
  ConditionVariableCancelSleep();
  const uint64 answer = pg_atomic_exchange_u64(&asked->ticket, ticket - kAsked + kNotAsked);
  if (answer == ticket) ask_again_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kAskAgain);
  return answer == ticket                         ? Sender::kUnknown
         : answer == ticket - kAsked + kConfirmed ? Sender::kNode
                                                  : Sender::kUnverified;
}

Sender FindSender() {
  if (!OidIsValid(get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE))) return Sender::kClient;
  AskedSender* asked = Own();
  if (asked == nullptr || !NameIsAsAtStart()) return Sender::kUnverified;
  pg_atomic_write_u64(&asked->ticket, pg_atomic_read_u64(&asked->ticket) / kAskedStates * kAskedStates);
  asked->database = MyDatabaseId;
  asked->global_pid = strtoll(NameAtStart() + kMarkLength, nullptr, 10);
  asked->started = MyStartTimestamp;
  asked->peer = asked->own = {};
  // A process of this machine must be the one that is named.
  if (!EndsOf(MyProcPort, &asked->peer, &asked->own)) {
    asked->peer = asked->own = {};
    const int peer = PeerProcess(MyProcPort);
    if (peer == 0 || peer != ProcessOf(*asked)) return Sender::kUnverified;
  }
  return asked->global_pid > 0 ? Ask(asked) : Sender::kUnverified;
}

// The next process with this number has not counted anything.
void OnSenderExit(int, Datum) { pg_atomic_write_u32(&Own()->counting, 0); }

}  // namespace

void RequestSenders() { RequestAddinShmemSpace(SendersSize()); }

void StartSenders() {
  bool found;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  senders = static_cast<AskedSender*>(ShmemInitStruct("privacy_score senders", SendersSize(), &found));
  if (!found) {
    memset(static_cast<void*>(senders), 0, SendersSize());
    for (int i = 0; i < MaxBackends; ++i) {
      pg_atomic_init_u64(&senders[i].ticket, 0);
      pg_atomic_init_u32(&senders[i].counting, 0);
    }
  }
  LWLockRelease(AddinShmemInitLock);
}

bool MayBeNode() {
  if (sender == Sender::kUnknown && !BearsMark()) sender = Sender::kClient;
  return sender == Sender::kUnknown || sender == Sender::kNode;
}

bool SentByNode() {
  NoteApplicationName();
  if (!MayBeNode()) return false;
  if (sender == Sender::kUnknown && GetCurrentTimestamp() >= ask_again_at) sender = FindSender();
  if (!MayBeNode()) ps_last_watch.stands = false;
  return sender == Sender::kNode;
}

bool SenderIsUnverified() { return sender == Sender::kUnverified || (sender == Sender::kUnknown && ask_again_at != 0); }

void NoteApplicationName() {
  if (!MayBeNode() || NameIsAsAtStart()) return;
  sender = Sender::kUnverified;
  ps_last_watch.stands = false;
}

void NoteCounting() {
  static bool noted = false;
  AskedSender* own = noted ? nullptr : Own();
  if (own == nullptr) return;
  own->began = MyStartTimestamp;
  pg_write_barrier();
  pg_atomic_write_u32(&own->counting, static_cast<uint32>(MyProcPid));
  before_shmem_exit(OnSenderExit, Datum(0));
  noted = true;
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

// confirm_sender(pid, since, address, port, to_address, to_port): whether the connection with these ends is of that
// process, and its statements count. Of a unix socket it is known that a process of this number has opened it before
// that moment.
Datum ps_confirm_sender(PG_FUNCTION_ARGS) {
  const int pid = PG_GETARG_INT32(0);
  const PGPROC* process = senders == nullptr ? nullptr : BackendPidGetProc(pid);
  if (process == nullptr || process->databaseId != MyDatabaseId) PG_RETURN_BOOL(false);
  const int number = ProcessNumber(process);
  if (number >= MaxBackends || pg_atomic_read_u32(&senders[number].counting) != static_cast<uint32>(pid))
    PG_RETURN_BOOL(false);
  pg_read_barrier();
  SocketEnd ends[2] = {};
  for (int end = 0; end < 2; ++end) {
    strlcpy(ends[end].address, text_to_cstring(PG_GETARG_TEXT_PP(2 + 2 * end)), sizeof ends[end].address);
    ends[end].port = PG_GETARG_INT32(3 + 2 * end);
  }
  if (ends[0].address[0] == '\0') PG_RETURN_BOOL(senders[number].began < PG_GETARG_TIMESTAMPTZ(1));
  PG_RETURN_BOOL(HasSocket(pid, ends[0], ends[1]));
}

}  // namespace privacy_score

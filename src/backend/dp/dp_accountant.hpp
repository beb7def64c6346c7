/*
 * dp_accountant.hpp - the process that charges budgets and stores answers, and asking it to.
 *
 * A charge must be durable whatever becomes of the transaction that asked for it, so another process commits it: the
 * accountant, a background worker of the database, started when it is needed and gone a second after it was needed last
 * (a database with a process in it cannot be dropped). It needs no preloading: what it shares with backends is a small
 * area that is made on first use (SharedOnFirstUse in compat.hpp).
 *
 * An order is a DSM segment of its own, made by the backend. Its handle goes into a queue in the shared area. The
 * accountant takes all orders of its database at once, carries them out in one transaction, in their order, commits,
 * which flushes the WAL, and answers in the segments. An order that is taken and not answered was not carried out.
 *
 * An order may have several parts, charges that stand or fall together: all of them are carried out, or none.
 *
 * Nobody waits for an order to store an answer: its segment is pinned until it is carried out, and a transaction of
 * such orders alone does not wait for the WAL. Since orders keep their order, who asks the same question later finds
 * it.
 *
 * Locks: the area's LWLock guards queue and slots. Order: none other is taken under it.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "port/atomics.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"
}

namespace privacy_score {

constexpr int kLeftLength = 160;

enum class ChargeOutcome : int32 {
  kCharged,    // or stored, or waited for
  kRepeated,   // there is an answer already; `release` holds it
  kExhausted,  // it costs more epsilon than is left
  kNoDelta,    // it costs more delta than is left
  kNoBudget,   // revoked, or not committed yet
  kBusy,       // somebody is changing the budget
  kFailed      // see the message
};

enum class OrderKind : int32 {
  kCharge,  // unless there is an answer already
  kRepeat,  // the answer that there is
  kStore,   // an answer, to a question that was charged
  kWait     // for the orders before
};

// What the accountant answers.
struct ChargeReply {
  ChargeOutcome outcome;
  int32 sqlstate;
  int64 release;           // id in the ledger: of the answer that holds, or of the charge
  TimestampTz at;          // of the charge
  char left[kLeftLength];  // of the budget, after the charge; with kNoDelta, of delta
  char message[256];
};

enum OrderText {
  kOrderEpsilon,
  kOrderDelta,
  kOrderKind,
  kOrderRole,
  kOrderQuestion,
  kOrderShape,
  kOrderAnswer,
  kOrderNewerThan,  // an answer from before is none
  kOrderTexts
};

// An order, at the beginning of its segment; the texts follow, and further parts, each with its texts. Plain data.
struct ChargeOrder {
  uint32 magic;
  pg_atomic_uint32 state;  // OrderState
  Latch* customer;         // null: nobody waits
  Oid database;
  OrderKind kind;
  int64 release;  // of kStore: what was charged
  int64 budget;
  Oid role;
  Oid relation;
  bool fresh;
  uint32 texts[kOrderTexts];  // offsets from here; 0: NULL
  uint32 next;                // offset of the next part from here; 0: none
  ChargeReply reply;
};

// The part after one; null: none.
inline ChargeOrder* NextPart(ChargeOrder* part) {
  return part->next == 0 ? nullptr : reinterpret_cast<ChargeOrder*>(reinterpret_cast<char*>(part) + part->next);
}
inline const ChargeOrder* NextPart(const ChargeOrder* part) { return NextPart(const_cast<ChargeOrder*>(part)); }

enum OrderState : uint32 { kOrderWaiting, kOrderAnswered, kOrderAbandoned };

constexpr uint32 kOrderMagic = 0x50534C31;
constexpr int kAccountantSlots = 64;
constexpr int kQueueLength = 512;
// Above that an accountant that ends puts back what it had taken.
constexpr int kOrderBatch = 64;
constexpr int kQueueRoom = kQueueLength + 2 * kOrderBatch;

// The accountant of one database.
struct AccountantSlot {
  Oid database;  // InvalidOid: free
  Latch* latch;  // of the process; null: none runs
  TimestampTz asked_at;
};

// The shared area.
struct AccountantArea {
  LWLock lock;
  int32 tranche;
  AccountantSlot slots[kAccountantSlots];
  int32 queued;
  struct {
    Oid database;
    dsm_handle handle;
  } queue[kQueueRoom];
};

// The area, made on first use in this server.
AccountantArea* SharedAccountants();

// What to do, and for whom.
struct Charge {
  OrderKind kind;
  int64 release;  // of kStore
  int64 budget;
  Oid role, relation;  // of the budget
  bool fresh;
  const char* texts[kOrderTexts];  // null: NULL
};

// Starts the accountant of this database unless it runs, without waiting for it.
void CallAccountant();

// Has charges carried out, all or none, and tells what became of each; none was carried out when one of them, the first
// that is neither charged nor repeated, could not be. Can be cancelled; what has been charged by then stays charged. An
// accountant that ends meanwhile is followed by another; raises 53400 when none can be started.
void CarryOut(const Charge* charges, int count, ChargeReply* replies);

// Leaves an order to store an answer, without waiting for what becomes of it.
void LeaveOrder(const Charge* charge);

}  // namespace privacy_score

/*
 * dp_accountant_worker.cpp - the accountant: a process that carries out orders to charge budgets.
 *
 * All orders that wait are carried out in one transaction, so that many callers share one flush of the WAL; when that
 * fails, each is tried alone, so that one of them does not fail the others. Nobody but this process charges, and it
 * locks the row of the budget, so a budget is never overspent. It waits for nobody who holds such a row: a caller could
 * keep all others waiting that way. An answer that cannot be stored is given up: it was given, and asking again is paid
 * again.
 */
#include "backend/dp/dp_accountant.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
}

#include "backend/dp/dp_ledger.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/worker/worker.hpp"

namespace privacy_score {

extern "C" {
PGDLLEXPORT void ps_accountant_main(Datum database);
}

namespace {

constexpr long kIdleMilliseconds = 1000;

struct TakenOrder {
  dsm_segment* segment;  // null: answered
  ChargeOrder* order;
  ChargeReply reply;
};

TakenOrder taken[kOrderBatch];
int taken_count = 0;
// Taken off the queue and not yet opened.
dsm_handle unopened[kOrderBatch];
int unopened_count = 0;

LedgerStatement lock_budget = {
    "SELECT FROM privacy_score.budget WHERE id = $1::pg_catalog.int8 FOR NO KEY UPDATE SKIP LOCKED", 1, nullptr};
LedgerStatement budget_exists = {"SELECT FROM privacy_score.budget WHERE id = $1::pg_catalog.int8", 1, nullptr};
LedgerStatement find_state = {
    "SELECT n.number, " SQL_EPSILON_LEFT("$2") ", " SQL_DELTA_LEFT("$5")
    " FROM privacy_score.budget_now n "
    "WHERE n.id = $1::pg_catalog.int8 AND n.revoked_at IS NULL AND n.role_oid = $3::pg_catalog.oid "
    "AND n.relation_oid = $4::pg_catalog.oid",
    5, nullptr};
LedgerStatement find_answer = {
    "SELECT r.id FROM privacy_score.release r WHERE r.budget_id = $1::pg_catalog.int8 "
    "AND r.question = pg_catalog.decode($2, 'hex') AND r.answer IS NOT NULL "
    "AND ($3 IS NULL OR r.at >= pg_catalog.to_timestamp($3::pg_catalog.float8)) ORDER BY r.id DESC LIMIT 1",
    3, nullptr};
LedgerStatement note_repeat = {
    "INSERT INTO privacy_score.release AS r (budget_id, at, role, kind, epsilon, delta, question, shape, repeat_of) "
    "SELECT o.budget_id, pg_catalog.clock_timestamp(), $2, o.kind, o.epsilon, o.delta, o.question, o.shape, o.id "
    "FROM privacy_score.release o WHERE o.id = $1::pg_catalog.int8 "
    "ON CONFLICT (repeat_of, role) WHERE repeat_of IS NOT NULL DO UPDATE SET times = r.times + 1, at = EXCLUDED.at",
    2, nullptr};
LedgerStatement charge_budget = {
    "UPDATE privacy_score.budget b SET spent = b.spent + $2::pg_catalog.numeric, "
    "spent_before = CASE WHEN $3::pg_catalog.int8 > b.period_number THEN b.spent ELSE b.spent_before END, "
    "delta_spent = b.delta_spent + COALESCE($4::pg_catalog.numeric, 0), "
    "delta_before = CASE WHEN $3::pg_catalog.int8 > b.period_number THEN b.delta_spent ELSE b.delta_before END, "
    "period_number = $3::pg_catalog.int8, latest = GREATEST(b.latest, pg_catalog.clock_timestamp()) "
    "WHERE b.id = $1::pg_catalog.int8",
    4, nullptr};
LedgerStatement enter_release = {
    "INSERT INTO privacy_score.release (budget_id, at, role, kind, epsilon, delta, question, shape) "
    "VALUES ($1::pg_catalog.int8, pg_catalog.clock_timestamp(), $2, $3, $4::pg_catalog.numeric, "
    "$5::pg_catalog.numeric, "
    "pg_catalog.decode($6, 'hex'), $7) RETURNING id, at",
    7, nullptr};
// A budget that has passed to another role or relation since has forgotten what was answered.
LedgerStatement store_answer = {
    "UPDATE privacy_score.release r SET answer = $2 FROM privacy_score.budget_now n "
    "WHERE r.id = $1::pg_catalog.int8 AND n.id = r.budget_id AND n.role_oid = $3::pg_catalog.oid "
    "AND n.relation_oid = $4::pg_catalog.oid",
    4, nullptr};

const char* TextAt(const ChargeOrder* order, OrderText text) {
  return order->texts[text] == 0 ? nullptr : reinterpret_cast<const char*>(order) + order->texts[text];
}

// Gives an answer to the backend that waits for it, and lets go of its order.
void Answer(TakenOrder* one, OrderState state) {
  if (one->order->customer == nullptr) {
    dsm_unpin_segment(dsm_segment_handle(one->segment));
  } else {
    one->order->reply = one->reply;
    pg_write_barrier();
    pg_atomic_write_u32(&one->order->state, state);
    SetLatch(one->order->customer);
  }
  dsm_detach(one->segment);
  one->segment = nullptr;
}

// Puts orders before those in the queue, as far as there is room: other accountants may end at the same time. Under the
// area's lock. Returns how many.
int PutInFront(AccountantArea* area, const dsm_handle* handles, int count) {
  count = Min(count, kQueueRoom - area->queued);
  memmove(&area->queue[count], area->queue, sizeof area->queue[0] * static_cast<Size>(area->queued));
  for (int i = 0; i < count; ++i) area->queue[i] = {MyDatabaseId, handles[i]};
  area->queued += count;
  return count;
}

// At the end of the process, however it comes: what is not answered was not carried out. What nobody waits for, and
// what could not be opened (memory, files), waits for the next one.
void LeaveSlot(int, Datum) {
  AccountantArea* area = SharedAccountants();
  dsm_handle left[kOrderBatch];
  int left_count = 0;
  for (int i = 0; i < taken_count; ++i) {
    TakenOrder* one = &taken[i];
    if (one->segment == nullptr) continue;
    if (one->order->customer != nullptr) {
      Answer(one, kOrderAbandoned);
      continue;
    }
    left[left_count++] = dsm_segment_handle(one->segment);
    dsm_detach(one->segment);
  }
  taken_count = 0;
  LWLockAcquire(&area->lock, LW_EXCLUSIVE);
  PutInFront(area, unopened, unopened_count);
  const int kept = PutInFront(area, left, left_count);
  unopened_count = 0;
  bool waits = false;
  for (int32 i = 0; i < area->queued; ++i) waits |= area->queue[i].database == MyDatabaseId;
  for (AccountantSlot& slot : area->slots)
    if (slot.latch == MyLatch) slot = {InvalidOid, nullptr, 0};
  LWLockRelease(&area->lock);
  // Who has left an answer to be stored does not look after it any more.
  if (waits) CallAccountant();
  // What does not fit is no order any more.
  for (int i = kept; i < left_count; ++i) dsm_unpin_segment(left[i]);
}

// Takes the slot of this database; false when another accountant has it, or all are taken.
bool ClaimAccountantSlot() {
  AccountantArea* area = SharedAccountants();
  AccountantSlot* own = nullptr;
  LWLockAcquire(&area->lock, LW_EXCLUSIVE);
  for (AccountantSlot& slot : area->slots) {
    if (slot.database == MyDatabaseId) {
      own = &slot;
      break;
    }
    if (own == nullptr && slot.database == InvalidOid) own = &slot;
  }
  const bool free = own != nullptr && own->latch == nullptr;
  if (free) *own = {MyDatabaseId, MyLatch, GetCurrentTimestamp()};
  LWLockRelease(&area->lock);
  return free;
}

// Gives the slot up unless an order has come; true when the process may end.
bool LeaveWithoutOrders() {
  AccountantArea* area = SharedAccountants();
  bool idle = true;
  LWLockAcquire(&area->lock, LW_EXCLUSIVE);
  for (int32 i = 0; i < area->queued; ++i) idle &= area->queue[i].database != MyDatabaseId;
  for (AccountantSlot& slot : area->slots)
    if (idle && slot.latch == MyLatch) slot = {InvalidOid, nullptr, 0};
  LWLockRelease(&area->lock);
  return idle;
}

// Takes the orders of this database from the queue, up to a batch.
void TakeOrders() {
  AccountantArea* area = SharedAccountants();
  int32 kept = 0;
  LWLockAcquire(&area->lock, LW_EXCLUSIVE);
  for (int32 i = 0; i < area->queued; ++i) {
    if (area->queue[i].database == MyDatabaseId && unopened_count < kOrderBatch)
      unopened[unopened_count++] = area->queue[i].handle;
    else
      area->queue[kept++] = area->queue[i];
  }
  area->queued = kept;
  LWLockRelease(&area->lock);
  while (unopened_count > 0) {
    dsm_segment* segment = dsm_attach(unopened[0]);
    memmove(unopened, unopened + 1, sizeof unopened[0] * static_cast<Size>(--unopened_count));
    if (segment == nullptr) continue;  // its backend has given up
    auto* order = static_cast<ChargeOrder*>(dsm_segment_address(segment));
    if (dsm_segment_map_length(segment) < sizeof(ChargeOrder) || order->magic != kOrderMagic)
      dsm_detach(segment);
    else
      taken[taken_count++] = {segment, order, {}};
  }
}

void Fail(ChargeReply* reply, int sqlstate, const char* message) {
  reply->outcome = ChargeOutcome::kFailed;
  reply->sqlstate = sqlstate;
  strlcpy(reply->message, message, sizeof reply->message);
}

// Gives the answer that is stored already, and counts that.
void Repeat(const ChargeOrder* order, const char* release, ChargeReply* reply) {
  const char* args[] = {release, TextAt(order, kOrderRole)};
  reply->outcome = ChargeOutcome::kRepeated;
  reply->release = pg_strtoint64(release);
  RunLedger(&note_repeat, args, true);
}

void StoreCharge(const ChargeOrder* order) {
  const char* args[] = {TextOfInteger(order->release), TextAt(order, kOrderAnswer), TextOfOid(order->role),
                        TextOfOid(order->relation)};
  RunLedger(&store_answer, args, true);
}

// Charges, or gives the answer that there is.
void SettleOrder(const ChargeOrder* order, ChargeReply* reply) {
  const char* budget = TextOfInteger(order->budget);
  const char* epsilon = TextAt(order, kOrderEpsilon);
  const char* delta = TextAt(order, kOrderDelta);
  const char* state_args[] = {budget, epsilon, TextOfOid(order->role), TextOfOid(order->relation), delta};
  const char* answer_args[] = {budget, TextAt(order, kOrderQuestion), TextAt(order, kOrderNewerThan)};
  RunLedger(&lock_budget, &budget, true);
  if (SPI_processed == 0) {
    RunLedger(&budget_exists, &budget, true);
    reply->outcome = SPI_processed == 0 ? ChargeOutcome::kNoBudget : ChargeOutcome::kBusy;
    return;
  }
  RunLedger(&find_state, state_args, true);
  reply->outcome = ChargeOutcome::kNoBudget;
  if (SPI_processed == 0) return;
  const char* number = FieldText(0, 0);
  const bool fits = LedgerFlag(0, 2);
  const char* left = FieldText(0, 1);
  const char* left_after = FieldText(0, 3);
  const bool delta_fits = LedgerFlag(0, 4);
  const char* delta_left = FieldText(0, 5);
  strlcpy(reply->left, left, sizeof reply->left);
  if (!order->fresh) {
    RunLedger(&find_answer, answer_args, true);
    if (SPI_processed > 0) return Repeat(order, FieldText(0, 0), reply);
  }
  if (order->kind == OrderKind::kRepeat)
    return Fail(reply, ERRCODE_T_R_SERIALIZATION_FAILURE, "the stored answer is gone");
  reply->outcome = ChargeOutcome::kExhausted;
  if (!fits) return;
  reply->outcome = ChargeOutcome::kNoDelta;
  if (!delta_fits) {
    strlcpy(reply->left, delta_left, sizeof reply->left);
    return;
  }
  const char* charge_args[] = {budget, epsilon, number, delta};
  RunLedger(&charge_budget, charge_args, true);
  const char* release_args[] = {budget, TextAt(order, kOrderRole),     TextAt(order, kOrderKind), epsilon,
                                delta,  TextAt(order, kOrderQuestion), TextAt(order, kOrderShape)};
  RunLedger(&enter_release, release_args, true);
  reply->outcome = ChargeOutcome::kCharged;
  reply->release = LedgerNumber(0, 0);
  reply->at = LedgerTime(0, 1);
  strlcpy(reply->left, left_after, sizeof reply->left);
}

// Charges for all parts of an order, or for none. Each part sees what those before it have spent.
void SettleTogether(ChargeOrder* order, ChargeReply* reply) {
  MemoryContext context = CurrentMemoryContext;
  ResourceOwner owner = CurrentResourceOwner;
  bool all = true;
  BeginInternalSubTransaction(nullptr);
  MemoryContextSwitchTo(context);
  for (ChargeOrder* part = order; part != nullptr && all; part = NextPart(part)) {
    ChargeReply* own = part == order ? reply : &part->reply;
    memset(own, 0, sizeof *own);
    SettleOrder(part, own);
    all = own->outcome == ChargeOutcome::kCharged || own->outcome == ChargeOutcome::kRepeated;
  }
  all ? ReleaseCurrentSubTransaction() : RollbackAndReleaseCurrentSubTransaction();
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = owner;
}

// Carries out one order within the transaction.
void CarryOutOrder(ChargeOrder* order, ChargeReply* reply) {
  switch (order->kind) {
    case OrderKind::kCharge:
      if (order->next != 0) return SettleTogether(order, reply);
      return SettleOrder(order, reply);
    case OrderKind::kRepeat:
      return SettleOrder(order, reply);
    case OrderKind::kStore:
      return StoreCharge(order);
    case OrderKind::kWait:
      return;
  }
}

// Begins a transaction in which the extension cannot be dropped; raises when it is not there. `flushes`: its commit is
// to be durable.
void BeginEntry(InternalScope* scope, bool flushes) {
  SetCurrentStatementStartTimestamp();  // for now()
  StartTransactionCommand();
  if (!flushes)
    (void)set_config_option("synchronous_commit", "off", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
  const Oid extension = get_extension_oid("privacy_score", false);
  LockDatabaseObject(ExtensionRelationId, extension, 0, AccessShareLock);
  PushActiveSnapshot(GetTransactionSnapshot());
  EnterInternal(scope);
}

void CommitEntry(const InternalScope* scope) {
  LeaveInternal(scope);
  PopActiveSnapshot();
  CommitTransactionCommand();
}

// Whether a standby was to confirm the commit and may not have: the process is ending, so it did not wait.
bool ConfirmationIsMissing() { return ProcDiePending && SyncRepRequested() && SyncRepStandbyNames[0] != '\0'; }

// Whether what the orders write is told to somebody. An answer that is lost to a crash was given, and that is all.
bool NeedFlush(const TakenOrder* first, int count) {
  bool need = false;
  for (int i = 0; i < count; ++i)
    need |= first[i].order->kind == OrderKind::kCharge || first[i].order->kind == OrderKind::kRepeat;
  return need;
}

// Carries out `count` orders in one transaction; false when it failed, with the error in each reply.
bool CarryOutTogether(TakenOrder* first, int count) {
  volatile bool done = false;
  PG_TRY();
  {
    InternalScope scope;
    BeginEntry(&scope, NeedFlush(first, count));
    for (int i = 0; i < count; ++i) {
      memset(&first[i].reply, 0, sizeof(ChargeReply));
      CarryOutOrder(first[i].order, &first[i].reply);
    }
    // From the commit to the answers nothing may come between: what is not answered counts as not carried out.
    HOLD_INTERRUPTS();
    CommitEntry(&scope);
    done = true;
  }
  PG_CATCH();
  {
    HOLD_INTERRUPTS();
    MemoryContextSwitchTo(TopMemoryContext);
    ErrorData* error = CopyErrorData();
    EmitErrorReport();
    FlushErrorState();
    QueryCancelPending = false;
    AbortOutOfAnyTransaction();
    for (int i = 0; i < count; ++i) Fail(&first[i].reply, error->sqlerrcode, error->message);
    FreeErrorData(error);
    RESUME_INTERRUPTS();
  }
  PG_END_TRY();
  if (!done) return false;
  for (int i = 0; i < count && NeedFlush(first, count) && ConfirmationIsMissing(); ++i)
    Fail(&first[i].reply, ERRCODE_ADMIN_SHUTDOWN, "the charge was committed here, but maybe not on the standby");
  RESUME_INTERRUPTS();
  return true;
}

// Carries out and answers all orders that were taken.
void CarryOutTaken() {
  const bool together = CarryOutTogether(taken, taken_count);
  // Somebody who holds a whole table locked would have to be waited for again and again.
  const bool alone = !together && taken_count > 1 && taken[0].reply.sqlstate != ERRCODE_LOCK_NOT_AVAILABLE;
  for (int i = 0; i < taken_count; ++i) {
    if (alone) CarryOutTogether(&taken[i], 1);
    Answer(&taken[i], kOrderAnswered);
  }
  taken_count = 0;
}

// Names and OIDs are brought up to date once in the life of the process, as far as nobody keeps a row locked.
void Tidy() {
  PG_TRY();
  {
    InternalScope scope;
    BeginEntry(&scope, true);
    SetWithin("lock_timeout", "50ms");
    (void)InternalValue("SELECT privacy_score.tidy_budgets()");
    CommitEntry(&scope);
  }
  PG_CATCH();
  {
    HOLD_INTERRUPTS();
    FlushErrorState();
    QueryCancelPending = false;
    AbortOutOfAnyTransaction();
    RESUME_INTERRUPTS();
  }
  PG_END_TRY();
}

// As the worker's (worker.hpp), but a standby that the administrator has commits wait for is waited for.
void SettleSettings() {
  const char* configured = pstrdup(GetConfigOption("synchronous_commit", false, false));
  const bool waits_for_standby = synchronous_commit > SYNCHRONOUS_COMMIT_LOCAL_FLUSH;
  SettleWorkerSettings();
  if (waits_for_standby) SetConfigOption("synchronous_commit", configured, PGC_SUSET, PGC_S_OVERRIDE);
}

}  // namespace

void ps_accountant_main(Datum database) {
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  SettleSettings();
  pgstat_report_appname("privacy_score accountant");
  if (!ClaimAccountantSlot()) proc_exit(0);
  before_shmem_exit(LeaveSlot, Datum(0));
  MemoryContext cycle = AllocSetContextCreate(TopMemoryContext, "privacy_score accountant", ALLOCSET_DEFAULT_SIZES);
  bool tidied = false;
  for (;;) {
    ResetLatch(MyLatch);
    // A cancel fails the charge that it finds under way, if any; lock_timeout comes the same way.
    QueryCancelPending = false;
    CHECK_FOR_INTERRUPTS();
    if (ConfigReloadPending) {
      ConfigReloadPending = false;
      ProcessConfigFile(PGC_SIGHUP);
    }
    MemoryContextSwitchTo(cycle);
    TakeOrders();
    if (taken_count > 0) {
      pgstat_report_activity(STATE_RUNNING, "privacy_score accountant");
      CarryOutTaken();
      pgstat_report_stat(false);
      pgstat_report_activity(STATE_IDLE, nullptr);
    } else if (!tidied) {
      tidied = true;
      Tidy();
    } else if ((WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, kIdleMilliseconds,
                          WaitEventOf(OwnWait::kAccountantMain)) &
                WL_LATCH_SET) == 0 &&
               LeaveWithoutOrders()) {
      proc_exit(0);
    }
    MemoryContextSwitchTo(TopMemoryContext);
    MemoryContextReset(cycle);
  }
}

}  // namespace privacy_score
